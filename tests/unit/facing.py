# SPDX-License-Identifier: BSD-3-Clause
"""Two bodies, one upon the other, and a term of passes between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import symancf as sa
from symancf import elements
from symancf.assembly.revisions import Verdict
from symancf.energies import neo_hooke

Array = Any
MATERIAL = {"mu": 1.0 / 2.6, "lam": 0.3 / (1.3 * 0.4)}  # E = 1, nu = 0.3
SOLIDS = {
    element.cell: element
    for element in (
        *(elements.hex8_plain, elements.hex20, elements.hex27, elements.tet4, elements.tet10),
        *(elements.wedge6, elements.wedge15),
    )
}


def touching(a: Any, b: Any = None, mu: Any = 0.0, stiffness: float | None = None) -> sa.Contact:
    """Return the contact of two places, or of one with itself."""
    return sa.Contact(a, b, mu=mu, stiffness=stiffness, name="contact")


def bowl(z: float, k: float) -> Callable[[Array], Array]:
    """Return a map that lifts points by a paraboloid."""

    def warp(x: Array) -> Array:
        up = z + k * ((x[:, 0] - 0.5) ** 2 + 0.5 * (x[:, 1] - 0.4) ** 2)
        height = x[:, 2] if x.shape[1] > 2 else 0.0
        return np.stack([x[:, 0], x[:, 1], up + height], axis=1)

    return warp


def stacked(
    cell: str, mu: Any = 0.0, n: Any = ((3, 3, 1), (2, 4, 1)), bend: float = 0.0, **more: Any
) -> tuple[sa.Body, sa.Body, sa.Contact]:
    """Return two bodies of height 0.5 (plates: 0.1) that touch at z = 0.5 (0.05)."""
    if cell == "plate":
        low = sa.Mesh.box((1.0, 1.0), n[0][:2], warp=bowl(0.0, bend))
        high = sa.Mesh.box((1.0, 1.0), n[1][:2], warp=bowl(0.1, bend))
        given = {"thickness": 0.1, **MATERIAL, **more}
        A = sa.Body(low["body"], elements.ancf_plate, neo_hooke(), name="lower", **given)
        B = sa.Body(high["body"], elements.ancf_plate, neo_hooke(), name="upper", **given)
        return A, B, touching(A["body"].face(+1), B["body"].face(-1), mu)
    low = sa.Mesh.box((1.0, 1.0, 0.5), n[0], cell=cell, warp=bowl(0.0, bend))
    high = sa.Mesh.box((1.0, 1.0, 0.5), n[1], cell=cell, warp=bowl(0.5, bend))
    A = sa.Body(low["body"], SOLIDS[cell], neo_hooke(), name="lower", **MATERIAL, **more)
    B = sa.Body(high["body"], SOLIDS[cell], neo_hooke(), name="upper", **MATERIAL, **more)
    return A, B, touching(A["z1"], B["z0"], mu)


def shifted(system: sa.System, body: sa.Body, by: Array) -> Array:
    """Return the state with the nodes of a body moved."""
    on = system._discrete.binding(body).interpolation
    u = system.state.copy()
    u[on.offset(np.unique(on.cells), "value")[:, None] + np.arange(3)] += by
    return u


def thin_wall() -> tuple[sa.System, sa.Body]:
    """Return a curved wall of one layer and a cube that touches it from above and from below."""
    sheet = sa.Mesh.box((1.0, 1.0, 0.03), (8, 8, 1), warp=bowl(0.0, 0.2))
    small = sa.Mesh.box((0.06, 0.06, 0.06), (1, 1, 1), warp=bowl(0.3, 0.0))
    wall = sa.Body(sheet["body"], elements.hex8_plain, neo_hooke(), name="wall", **MATERIAL)
    cube = sa.Body(small["body"], elements.hex8_plain, neo_hooke(), name="cube", **MATERIAL)
    down = sa.Contact(cube["z0"], wall["z1"], name="down")
    up = sa.Contact(cube["z1"], wall["z0"], name="up")
    return sa.System(wall, cube, terms=[down, up]), cube


def throws(system: sa.System, cube: sa.Body, rng: Any, count: int) -> tuple[list[str], int]:
    """Throw the cube of `thin_wall` on straight ways past, at and through the wall.

    Returns
    -------
    what was judged wrongly: ways through it that are not cut, ways far from it that are; and how
    many ways went through it.
    """
    wrong, sunk = [], 0

    def above(place: Array) -> Array:
        return place[:, 2] - bowl(0.015, 0.2)(place * [1.0, 1.0, 0.0])[:, 2]

    for throw in range(count):
        start, end = rng.uniform((0.1, 0.1, 0.1), (0.9, 0.9, 0.4), (2, 3))
        start[2] = (-1) ** throw * start[2] + 0.05
        end[2] = rng.choice([-1.0, 1.0]) * end[2] + 0.05
        end[:2] = 2.0 * end[:2] - 0.5
        system.state[:], system.time = 0.0, 0.0
        system.state[:] = shifted(system, cube, start - [0.03, 0.03, 0.33])
        system._discrete.revise(1.0)
        system.state[:] = shifted(system, cube, end - start)
        judged = [system._discrete.review(1.0).verdict for _ in range(2)]
        way = start + np.linspace(0.0, 1.0, 400)[:, None] * (end - start)
        side, inner = np.sign(above(way)), np.abs(way[:, :2] - 0.5).max(axis=1) < 0.45
        through = bool(((side[1:] != side[:-1]) & inner[1:]).any())
        near = (np.abs(above(way)) < 0.1) & (np.abs(way[:, :2] - 0.5).max(axis=1) < 0.6)
        if (through or not near.any()) and (Verdict.CUT in judged) != through:
            wrong.append(f"throw {throw} from {start.tolist()} to {end.tolist()}")
        sunk += through
    return wrong, sunk
