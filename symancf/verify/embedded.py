# SPDX-License-Identifier: BSD-3-Clause
"""Rods in soft blocks: the composite beam in bending and torsion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..bodies.body import Body
from ..catalogue.boundary import fix
from ..catalogue.embed import embed
from ..elements import ancf_cable, ancf_rod, hex8, hex20
from ..energies import cable, rod, saint_venant_kirchhoff
from ..mesh import Mesh
from ..solve.statics.problem import StaticProblem
from ..system import System
from ..terms.work import Potential
from .case import TIGHT, Number, case

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..terms.quantities import E, S, V

LONG, MODULUS = 10.0, 1e3  # m, Pa; the section is 1 m x 1 m
EA, EI, GJ = 1200.0, 100.0, 100.0  # N, N m^2, N m^2
SQUARE = 0.140577  # J of a square over the fourth power of its side (Timoshenko and Goodier)
SMALL = 1e-3  # N m
PARTS = {"ancf_cable": ("line", ancf_cable, cable), "ancf_rod": ("line3", ancf_rod, rod)}


def _bends(r_a: V, X_a: V, *, m: S) -> E:
    return -m * X_a[2] * (r_a[0] - X_a[0])


def _twists(r_a: V, X_a: V, *, m: S) -> E:
    return -m * (X_a[1] * (r_a[2] - X_a[2]) - X_a[2] * (r_a[1] - X_a[1]))


def composite(
    load: str,
    beside: float = 0.0,
    *,
    wire: str = "ancf_cable",
    cells: tuple[int, int, int] = (20, 2, 2),
    parts: int = 20,
    element: str = "hex20",
    bare: bool = False,
    **options: Any,
) -> float:
    """Return the curvature or twist by length under a small moment, in the middle of a cantilever.

    `beside` : height of the rod above the axis of the block [m]; `bare` : without it; `options` to
    `embed`.
    """
    kind, solid = {"hex20": ("hexahedron20", hex20), "hex8": ("hexahedron", hex8)}[element]
    mesh = Mesh.box(
        (LONG, 1.0, 1.0), cells, cell=kind, warp=lambda X: X - np.array((0.0, 0.5, 0.5))
    )
    law = saint_venant_kirchhoff()
    block = Body(mesh["body"], solid, law, name="block", E=MODULUS, nu=0.0)
    kind, form, energy = PARTS[wire]
    line = Mesh.box((LONG,), (parts,), cell=kind, warp=lambda X: X + np.array((0.0, 0.0, beside)))
    own: dict[str, Any] = {"EA": EA, "EI": EI}
    if wire == "ancf_rod":
        own = {"EA": EA, "GA2": 1e4, "GA3": 1e4, "GJ": GJ, "EI2": EI, "EI3": EI}
    inside = Body(line["body"], form, energy(), name="wire", **own)
    y, z = block["x1"].X[:, 1:].T
    bending = load == "bending"
    size = float((z**2).sum() if bending else (y**2 + z**2).sum())
    moment = Potential(_bends if bending else _twists, block["x1"], m=SMALL / size)
    terms = [fix(block["x0"]), moment]
    bodies = [block] if bare else [block, inside]
    system = System(*bodies, terms=terms if bare else [*terms, embed(inside, block, **options)])
    StaticProblem(system, options=TIGHT).solve()
    y0 = 0.0 if bending else 0.25
    X = np.array([(x, y0, 0.0) for x in (4.0, 5.0, 6.0)])
    w = (system.position(block.at(X)) - X)[:, 2]
    return float(2 * w[1] - w[0] - w[2]) if bending else float(w[2] - w[0]) / 2.0 / y0


def stiffness(beside: float) -> float:
    """Return the bending stiffness of the transformed section of modulus `MODULUS` [N m^2]."""
    neutral = EA * beside / (MODULUS + EA)
    return MODULUS * (1 / 12 + neutral**2) + EI + EA * (beside - neutral) ** 2


@case("T35_embedded_rod_bends", "transformed section: EI of block, rod and their distance")
def bends() -> Iterator[Number]:
    """A soft cantilever with a stiff rod in its middle or beside it, under a moment."""
    for text, beside, given in (
        ("in the middle", 0.0, {}),
        ("beside", 0.3, {}),
        ("beside, at nodes", 0.3, {"per": "point"}),
        ("beside, springs", 0.3, {"stiffness": 10 * MODULUS}),
        ("beside, hex8", 0.3, {"element": "hex8", "cells": (20, 4, 4)}),
        ("beside, rod with directors", 0.3, {"wire": "ancf_rod", "radius": 0.1}),
    ):
        found = composite("bending", beside, **given)
        yield Number(f"EI [N m^2], {text}", SMALL / found, stiffness(beside), 2e-3)


@case("T36_embedded_rod_twists", "GJ of the block, as computed without, and of the rod")
def twists() -> Iterator[Number]:
    """A soft cantilever with a stiff rod in its middle, twisted."""
    alone = SMALL / composite("torsion", bare=True, cells=(20, 4, 4))
    yield Number("GJ [N m^2], block alone", alone, MODULUS / 2 * SQUARE, 2e-2)
    given: dict[str, Any] = {"wire": "ancf_rod", "radius": 0.25, "parts": 10, "cells": (20, 4, 4)}
    for text, more in (
        ("", {}),
        (", at nodes", {"per": "point"}),
        (", springs", {"stiffness": 1e5}),
    ):
        found = composite("torsion", **given, **more)
        yield Number(f"GJ [N m^2], with the rod{text}", SMALL / found, alone + GJ, 5e-3)
