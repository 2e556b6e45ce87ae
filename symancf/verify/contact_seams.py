# SPDX-License-Identifier: BSD-3-Clause
"""Sides of triangles and quadrilaterals: bodies of hexahedra and wedges press on each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ..bodies.body import Body
from ..catalogue.boundary import fix
from ..catalogue.loads import traction
from ..contact.contact import Contact
from ..elements import hex8_plain, wedge6
from ..energies import neo_hooke
from ..mesh import Mesh
from ..output.sampling import sample
from ..solve.statics.problem import StaticProblem
from ..system import System
from .case import TIGHT, Number, case
from .contact_bodies import LAM, MU, uniaxial

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..places.on_body import Nodes

SIZE = 1.0, 1.0, 0.5


def chequered(name: str, cells: Sequence[int], height: float) -> list[Body]:
    """Return a block at a height whose columns are hexahedra and pairs of wedges in turn."""
    box = Mesh.box(SIZE, cells, comm=MPI.COMM_SELF, warp=lambda X: X + np.array([0.0, 0.0, height]))
    hexahedra = box.cells["hexahedron"].connectivity
    column = box.points[hexahedra].mean(axis=1)[:, :2] * cells[:2]
    cut = np.floor(column).sum(axis=1) % 2 == 0
    halves = [hexahedra[cut][:, half] for half in ([0, 1, 3, 4, 5, 7], [2, 3, 1, 6, 7, 5])]
    every = {"hexahedron": hexahedra[~cut], "wedge": np.concatenate(halves)}
    regions = {kind: {kind: np.arange(len(cells_of_kind))} for kind, cells_of_kind in every.items()}
    mesh = Mesh.from_arrays(box.points, every, regions, name=f"mesh of {name}")
    bodies = [
        Body(
            mesh[element.cell], element, neo_hooke(), name=f"{name} {element.cell}", mu=MU, lam=LAM
        )
        for element in (hex8_plain, wedge6)
    ]
    for body in bodies:
        for axis, size in enumerate(SIZE):
            low = height if axis == 2 else 0.0
            for end, at in ((0, low), (1, low + size)):
                mesh.select(
                    f"{'xyz'[axis]}{end} of {body.name}",
                    lambda X, a=axis, at=at: np.abs(X[:, a] - at) < 1e-9,  # type: ignore[misc]
                    within=body.region,
                )
    return bodies


def end(bodies: Sequence[Body], name: str) -> list[Nodes]:
    """Return an end of a block, of both of its bodies."""
    return [body[f"{name} of {body.name}"] for body in bodies]


@case("F16_seams", "homogeneous state: sigma = P/l^2 everywhere, one scalar equation")
def seams() -> Iterator[Number]:
    """Two chequered blocks press on each other, meshes that match and that do not."""
    P = -0.05
    exact = P / uniaxial(P)[1] ** 2
    low = chequered("low", (4, 4, 2), 0.0)
    for cells, limits in (((4, 4), (1e-10, 1e-10)), ((3, 5), (0.01, 0.004))):
        high = chequered("high", (*cells, 2), 0.5)
        between = Contact(end(low, "z1"), end(high, "z0"))
        supports = [fix(p, a) for both in (low, high) for a in "xy" for p in end(both, f"{a}0")]
        supports += [fix(place, "z") for place in end(low, "z0")]
        load = [traction(place, (0.0, 0.0, P)) for place in end(high, "z1")]
        system = System(*low, *high, terms=[*supports, *load, between])
        StaticProblem(system, options=TIGHT).solve()
        error = []
        for body in (*low, *high):
            means = sample(system, body, fields={"stress": "cauchy"}, at="cell")
            stress = np.asarray(means.cell_data["stress"], dtype=float).reshape(-1, 9)[:, 8]
            error.append(stress / exact - 1.0)
        off = np.concatenate(system.comm.allgather(np.concatenate(error)))
        name = f"4x4 on {cells[0]}x{cells[1]} columns"
        yield Number(f"largest error of the stress: {name}", np.abs(off).max(), 0.0, limits[0])
        rms = float(np.sqrt((off**2).mean()))
        yield Number(f"mean error of the stress: {name}", rms, 0.0, limits[1])
        pressed = float(between.force(system)[2])
        yield Number(f"force on the lower block: {name}", pressed, P, 1e-9)
