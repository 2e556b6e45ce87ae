# SPDX-License-Identifier: BSD-3-Clause
"""Deflection of a beam of solids, compressible or not: known limits of each element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI

from .. import energies
from ..arrays import Array
from ..bodies.body import Body
from ..catalogue.boundary import fix
from ..catalogue.loads import force
from ..elements import (
    Element,
    hex8,
    hex8_fbar,
    hex8_plain,
    hex20,
    hex27,
    tet4,
    tet10,
    wedge6,
    wedge15,
    wedge18,
)
from ..mesh import Mesh
from ..solve.statics.problem import StaticProblem
from ..system import System
from .case import TIGHT, Number, case

if TYPE_CHECKING:
    from collections.abc import Iterator

LENGTH, FORCE = 10.0, 1e-5

# deflection of 40 x 4 x 4 hex27, `volumetric="reduced"`; their halves differ by 1e-3
FINE = {0.3: 0.015392631, 0.4999: 0.013158572}

# of 10 x 1 x 1 cubes: nu = 0.3; on trapezoids of 15 degrees; nu = 0.4999; and what cures that
Cure = tuple[str, str]
SHARES: dict[Element, tuple[float, float, float, Cure, float]] = {
    hex8: (0.995, 0.870, 0.996, ("volumetric", "full"), 0.996),
    hex8_plain: (0.647, 0.597, 0.082, ("volumetric", "reduced"), 1.411),
    tet10: (0.983, 0.984, 0.880, ("pressure", "continuous"), 0.965),
    tet4: (0.221, 0.247, 0.010, ("volumetric", "reduced"), 0.010),
    wedge6: (0.657, 0.615, 0.343, ("volumetric", "reduced"), 1.606),
    wedge15: (0.986, 0.985, 0.941, ("volumetric", "reduced"), 0.941),
    wedge18: (0.992, 0.992, 0.941, ("volumetric", "reduced"), 0.977),
    hex8_fbar: (1.206, 1.022, 1.411, ("volumetric", "full"), 1.411),
    hex20: (0.987, 0.986, 0.926, ("volumetric", "reduced"), 0.957),
    hex27: (0.993, 0.993, 0.927, ("pressure", "discontinuous"), 1.015),
}


# of wedges in the plane of their triangles: nu = 0.3, nu = 0.4999, the same "reduced"
ACROSS: dict[Element, tuple[float, float, float]] = {
    wedge6: (0.205, 0.010, 0.091),
    wedge15: (0.986, 0.834, 0.927),
    wedge18: (0.986, 0.835, 0.930),
}


def straight(element: Element, layers: int, angle: float = 0.0) -> Mesh:
    """Return the beam, 10 x 1 x 1, of cubes whose cross faces lean to and fro by an angle [deg]."""
    divisions, lengths = (10 * layers, layers, layers), (LENGTH, 1.0, 1.0)
    box = Mesh.box(lengths, divisions, cell=element.cell, comm=MPI.COMM_SELF)
    cell, cells = element.topology, box.cells[element.cell].connectivity
    between, _ = cell.straight.evaluate(cell.unit)

    def move(X: Array) -> Array:
        X = X.copy()
        at = np.rint(X[:, 0] * layers)
        inner = (at > 0) & (at < divisions[0]) & (np.abs(X[:, 0] * layers - at) < 1e-9)
        X[:, 0] += np.tan(np.radians(angle)) * (X[:, 2] - 0.5) * (-1.0) ** at * inner
        X[cells] = np.einsum("nv,kva->kna", between, X[cells[:, : cell.corners]])
        return X

    return Mesh.box(lengths, divisions, cell=element.cell, warp=move, comm=MPI.COMM_SELF)


def deflection(element: Element, mesh: Mesh, nu: float, axis: int = 2, **options: Any) -> float:
    """Return the mean deflection along an axis of the end of a clamped beam with mu = 1."""
    values: dict[str, Any] = {
        "C10": 0.5,
        "C20": 0.0,
        "C30": 0.0,
        "k": 2.0 * (1.0 + nu) / (3.0 * (1.0 - 2.0 * nu)),
    }
    body = Body(mesh["body"], element, energies.yeoh(), **values, **options)
    vector = (0.0, *(FORCE * (a == axis) for a in (1, 2)))
    terms: list[Any] = [fix(body["x0"]), force(body["x1"], vector)]
    system = System(body, terms=terms)
    StaticProblem(system, options=TIGHT).solve()
    return float(system.displacement(body["x1"])[:, axis].mean())


@case("E06_locking_of_solids", "a fine mesh of hex27; the shares are known limits", 12)
def locking() -> Iterator[Number]:
    """One layer of cubes in a cantilever, ten long: shares of the deflection of a fine mesh."""
    for element, (plain, leaning, stiff, (option, how), cured) in SHARES.items():
        regular, trapezoids = straight(element, 1), straight(element, 1, 15.0)
        full: dict[str, Any] = {"volumetric": "full"}
        for name, mesh, nu, options, expected in (
            ("nu = 0.3", regular, 0.3, full, plain),
            ("nu = 0.3, trapezoids of 15 degrees", trapezoids, 0.3, full, leaning),
            ("nu = 0.4999", regular, 0.4999, full, stiff),
            (f'nu = 0.4999, {option}="{how}"', regular, 0.4999, {option: how}, cured),
        ):
            share = deflection(element, mesh, nu, **options) / FINE[nu]
            yield Number(
                f"share of the deflection: {element.name}, {name}", share, expected, 2e-3, 1
            )
    for element, shares in ACROSS.items():
        cases = ((0.3, "full"), (0.4999, "full"), (0.4999, "reduced"))
        for (nu, how), expected in zip(cases, shares, strict=True):
            ratio = deflection(element, straight(element, 1), nu, 1, volumetric=how) / FINE[nu]
            quantity = f'{element.name} in the plane of triangles, nu = {nu}, volumetric="{how}"'
            yield Number(f"share of the deflection: {quantity}", ratio, expected, 2e-3, 1)
