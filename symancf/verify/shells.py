# SPDX-License-Identifier: BSD-3-Clause
"""Shells under small loads: a roof, a pinched cylinder, a hemisphere with a hole."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..bodies.body import Body
from ..catalogue.boundary import fix, symmetry
from ..catalogue.loads import force, gravity
from ..elements import ancf_thin_plate, ancf_thin_quad
from ..energies import kirchhoff
from ..mesh import Mesh
from ..solve.statics.problem import StaticProblem
from ..system import System
from .case import Curve, Number, case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..arrays import Array
    from ..elements import Element

CELLS = (8, 16, 24, 32)


def outwards(axis: int | None = None) -> Callable[[Array], Array]:
    """Return the function of places that is the normal of a cylinder about an axis or a sphere."""

    def normal(X: Array) -> Array:
        r = X.copy()
        if axis is not None:
            r[:, axis] = 0.0
        return np.asarray(r / np.linalg.norm(r, axis=1, keepdims=True))

    return normal


def cylinder(length: float, radius: float, angle: float, cells: Any) -> Mesh:
    """Return a part of a cylinder about x, from z by `angle`: edges x0, x1 across it, y0, y1."""

    def bent(X: Array) -> Array:
        a = X[:, 1] * angle
        return np.stack([length * X[:, 0], radius * np.sin(a), radius * np.cos(a)], axis=1)

    nx, ny = np.broadcast_to(cells, 2).tolist()
    return Mesh.box((1.0, 1.0), (nx, ny), warp=bent)


def hemisphere(radius: float, cells: int) -> Mesh:
    """Return a quarter of a hemisphere about z with a hole of 18 degrees: x0 in y = 0, x1, y0."""

    def bent(X: Array) -> Array:
        a, b = X[:, 0] * math.pi / 2.0, X[:, 1] * math.radians(72.0)
        place = [np.cos(b) * np.cos(a), np.cos(b) * np.sin(a), np.sin(b)]
        return np.asarray(radius * np.stack(place, axis=1))

    return Mesh.box((1.0, 1.0), (cells, cells), warp=bent)


def shell(
    mesh: Mesh,
    axis: int | None,
    E: float,
    nu: float,
    h: float,
    element: Element = ancf_thin_plate,
    **more: Any,
) -> Body:
    """Return a thin shell on the exact normals of its cylinder or sphere."""
    values: dict[str, Any] = {"E": E, "nu": nu, "thickness": h, "direction": outwards(axis)} | more
    return Body(mesh["body"], element, kirchhoff(), **values)


def roof(cells: int, unit: float, element: Element) -> Array:
    """Return how far the middle of the free edge sinks and the crown rises under weight 90."""
    small, R, a = 1e-4, 25.0 * unit, math.radians(40.0)
    mesh = cylinder(25.0 * unit, R, a, cells)
    body = shell(mesh, 0, 4.32e8 / unit**2, 0.0, 0.25 * unit, element, rho=360.0 / unit**3)
    supports = [fix(body["x0"], ["y", "z"]), symmetry(body["x1"], "x"), symmetry(body["y0"], "y")]
    system = System(body, terms=[*supports, gravity((0.0, 0.0, -small))])
    StaticProblem(system).solve()
    edge = body.at((25.0 * unit, R * math.sin(a), R * math.cos(a)))
    crown = body.at((25.0 * unit, 0.0, R))
    sinks, rises = (float(system.displacement(place)[0, 2]) for place in (edge, crown))
    return np.array([-sinks, rises]) / (small * unit)


def pinched(cells: int, unit: float, element: Element) -> Array:
    """Return the displacement under two opposite forces of 1 in the middle of a cylinder."""
    small, R = 1e-2, 300.0 * unit
    mesh = cylinder(R, R, math.pi / 2.0, cells)
    body = shell(mesh, 0, 3e6 / unit**2, 0.3, 3.0 * unit, element)
    planes = (("x1", "x"), ("y0", "y"), ("y1", "z"))
    supports = [fix(body["x0"], ["y", "z"]), *(symmetry(body[e], n) for e, n in planes)]
    loaded = body.at((R, 0.0, R))
    push = force(loaded, (0.0, 0.0, -small / 4.0))
    system = System(body, terms=[*supports, push])
    StaticProblem(system).solve()
    return -system.displacement(loaded)[0, 2:] / (small * unit)


def pulled(cells: int, unit: float, element: Element) -> Array:
    """Return the displacements under four forces of 2, out and in, at the rim of a hemisphere."""
    small, R = 1e-3, 10.0 * unit
    body = shell(hemisphere(R, cells), None, 6.825e7 / unit**2, 0.3, 0.04 * unit, element)
    a, b = body.at((R, 0.0, 0.0)), body.at((0.0, R, 0.0))
    supports = [symmetry(body["x0"], "y"), symmetry(body["x1"], "x"), fix(a, ["z"])]
    pull = [force(a, (small, 0.0, 0.0)), force(b, (0.0, -small, 0.0))]
    system = System(body, terms=[*supports, *pull])
    StaticProblem(system).solve()
    out, inwards = system.displacement(a)[0, 0], -system.displacement(b)[0, 1]
    return np.array([out, inwards]) / (small * unit)


def converged(
    solve: Callable[[int, float, Element], Array],
    names: tuple[str, ...],
    right: tuple[float, ...],
    tolerances: dict[Element, tuple[float, float]],
) -> Iterator[Number | Curve]:
    """Compare a coarse mesh of each element, the same in mm, and the finest; draw them all."""
    curves = []
    for element, (coarse, fine) in tolerances.items():
        rows = []
        for cells in CELLS:
            rows.append(solve(cells, 1.0, element))
            for k, name in enumerate(names):
                label, value = f"{name}: {element.name}, {cells} x {cells}", float(rows[-1][k])
                if cells in (16, 32):
                    tolerance = coarse if cells == 16 else fine
                    yield Number(label, value, right[k], tolerance)
            if cells == 16:
                for name, value, other in zip(
                    names, rows[-1], solve(cells, 1e3, element), strict=True
                ):
                    yield Number(f"{name}: {element.name}, mm", float(other), float(value), 1e-6)
        for k, name in enumerate(names):
            share = np.array(rows)[:, k] / right[k]
            curves.append((f"{name}, {element.name}", share))
    for k, (label, share) in enumerate(curves):
        exact = (list(CELLS), [1.0] * len(CELLS)) if k == 0 else None
        yield Curve(("cells a side", "share of the reference"), label, CELLS, share, exact)


# what 16 and 32 cells a side may be off
ROOF = {ancf_thin_plate: (2e-3, 5e-4), ancf_thin_quad: (1e-4, 1e-4)}
PINCHED = {ancf_thin_plate: (1e-2, 8e-3), ancf_thin_quad: (1.5e-2, 5e-3)}
PULLED = {ancf_thin_plate: (3e-3, 5e-4), ancf_thin_quad: (1e-3, 2e-4)}
KOITER = "Ritz and Fourier series on Koiter's equations"


@case("B10_scordelis_lo", f"A. C. Scordelis, K. S. Lo (1964); values: {KOITER}", short=2)
def scordelis_lo() -> Iterator[Number | Curve]:
    """Roof on rigid diaphragms under its weight."""
    names = ("edge sinks", "crown rises")
    yield from converged(roof, names, (0.3006008609, 0.0450748882), ROOF)


@case("B11_pinched_cylinder", f"G. M. Lindberg et al. (1969); values: {KOITER}", short=2)
def pinched_cylinder() -> Iterator[Number | Curve]:
    """Cylinder on rigid diaphragms, pinched by two forces."""
    yield from converged(pinched, ("under the force",), (1.82767e-5,), PINCHED)


@case("B12_hemisphere", f"R. H. MacNeal, R. L. Harder (1985); values: {KOITER}", short=2)
def open_hemisphere() -> Iterator[Number | Curve]:
    """Hemisphere with a hole of 18 degrees under four forces, out and in."""
    yield from converged(pulled, ("out", "in"), (0.0935211, 0.0935211), PULLED)
