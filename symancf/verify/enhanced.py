# SPDX-License-Identifier: BSD-3-Clause
"""The hexahedron with enhanced strain: bending, incompressible, at large strain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI

from .. import energies
from ..bodies.body import Body
from ..catalogue import loads
from ..catalogue.boundary import fix
from ..elements import Element, hex8, hex8_fbar
from ..mesh import Mesh
from ..solve.statics.problem import StaticProblem
from ..system import System
from .case import TIGHT, Number, case
from .inflation import SPHERE_LIMITS, sphere_path, sphere_reference

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..arrays import Array


def cantilever(cells: tuple[int, int, int], nu: float, taper: float = 0.0) -> float:
    """Return the share of Timoshenko's deflection of a bar 20 x 1 x 1 that bends under its end.

    `taper` : angle [deg] by which the sides between cells lean, to and fro.
    """
    length, force, E = 20.0, 1e-3, 1e6

    def lean(X: Array) -> Array:
        k = np.rint(X[:, 0] * cells[0] / length)
        side = np.where(k % 2 == 1, 1.0, -1.0) * ((k > 0) & (k < cells[0]))
        moved = X.copy()
        moved[:, 0] += side * np.tan(np.radians(taper)) * (X[:, 2] - 0.5)
        return moved

    mesh = Mesh.box((length, 1.0, 1.0), cells, warp=lean, comm=MPI.COMM_SELF)
    mu, lam = E / 2 / (1 + nu), E * nu / (1 + nu) / (1 - 2 * nu)
    body = Body(mesh["body"], hex8, energies.neo_hooke(), mu=mu, lam=lam)
    supports = [  # the clamped end may become narrower
        fix(body["x0"], "x"),
        fix(body.at((0.0, 0.0, 0.0)), ["y", "z"]),
        fix(body.at((0.0, 1.0, 0.0)), "z"),
    ]
    system = System(body, terms=[*supports, loads.force(body["x1"], (0.0, 0.0, force))])
    StaticProblem(system, options=TIGHT).solve()
    tip = float(system.displacement(body["x1"])[:, 2].mean())
    beam = force * length**3 / (3.0 * E / 12.0) + 1.2 * force * length * 2.0 * (1.0 + nu) / E
    return tip / beam


@case("E07_enhanced_bending", "Timoshenko's beam, shear factor 5/6")
def bending() -> Iterator[Number]:
    """One layer of `hex8` in bending, also incompressible, and trapezoids."""
    for cells in (20, 10):
        for nu in (0.3, 0.4999):
            name = f"share of the deflection: {cells}x1x1, nu = {nu}"
            yield Number(name, cantilever((cells, 1, 1), nu), 1.0, 0.02)
    name = "share of the deflection: 25x1x1, nu = 0.3, sides lean by 15 deg"
    yield Number(name, cantilever((25, 1, 1), 0.3, 15.0), 1.0, 0.1)


@case("C11_sphere_enhanced", "universal solution, quadrature; k/mu = 1e4")
def sphere() -> Iterator[Number]:
    """Spherical shell of Yeoh rubber, 3 x 5 x 5 x 3 enhanced hexahedra, past both limit points."""
    path, limits = sphere_path(5, 3, to=1.7, element=hex8)
    for stretch, p in path[2::6]:
        exact = sphere_reference(stretch)
        yield Number(f"p [MPa] at inner stretch {stretch:.4f}", p, exact, 5e-3)
    yield Number("number of limit points", float(len(limits)), 2.0, 0.0)
    for (stretch, p), (at, exact) in zip(limits, SPHERE_LIMITS, strict=False):
        yield Number(f"limit point: stretch (p = {exact:.4f})", stretch, at, 2e-3)
        yield Number(f"limit point: p [MPa] (stretch {at:.4f})", p, exact, 2e-3)
    path, limits = sphere_path(5, 3, to=1.7, element=hex8_fbar)
    for (stretch, p), (at, exact) in zip(limits, SPHERE_LIMITS, strict=True):
        yield Number(f"hex8_fbar: limit point: stretch (p = {exact:.4f})", stretch, at, 1e-3)
        yield Number(f"hex8_fbar: limit point: p [MPa] (stretch {at:.4f})", p, exact, 3e-3)


def cook(cells: int, mu: float, lam: float, traction: float, element: Element = hex8) -> float:
    """Return u_y at (48, 52) of Cook's membrane in plane strain, cells x cells x 1."""

    def trapezoid(X: Array) -> Array:
        s, t = X[:, 0], X[:, 1]
        return np.stack([48 * s, 44 * s + t * (44.0 - 28.0 * s), X[:, 2]], axis=1)

    mesh = Mesh.box((1.0, 1.0, 1.0), (cells, cells, 1), warp=trapezoid, comm=MPI.COMM_SELF)
    body = Body(mesh["body"], element, energies.neo_hooke(), mu=mu, lam=lam)
    plane = [fix(body[side], "z") for side in ("z0", "z1")]
    load = loads.traction(body["x1"], lambda X, t: np.array([0.0, t * traction, 0.0]) + 0.0 * X)
    system = System(body, terms=[fix(body["x0"], "all"), *plane, load])
    StaticProblem(system, options=TIGHT).solve(step=0.5)
    middle = body.at((48.0, 52.0, 0.5))
    return float(system.displacement(middle)[0, 1])


@case("C31_cook_enhanced", "Taylor-Hood elements, graded meshes, extrapolated", 2)
def membrane() -> Iterator[Number]:
    """Cook's membrane of neo-Hookean material, 16 x 16 x 1 enhanced hexahedra."""
    mu, lam = 200.0 / 2.7, 200.0 * 0.35 / (1.35 * 0.3)
    yield Number("u_y at (48, 52): nu = 0.35", cook(16, mu, lam, 4.0), 6.1439, 0.01)
    name, rubber = "u_y at (48, 52): nu = 0.4999", (80.1938, 400889.806, 6.25)
    yield Number(name, cook(16, *rubber), 6.961994697, 0.02)
    yield Number(f"{name}, hex8_fbar", cook(16, *rubber, hex8_fbar), 6.961994697, 0.02)


@case("E08_twisted_beam", "R. H. MacNeal, R. L. Harder, Finite Elem. Anal. Des. 1 (1985) 3-20")
def twisted_beam() -> Iterator[Number]:
    """Beam twisted by 90 degrees, loaded in the plane of its end and across it."""
    length, width, depth = 12.0, 1.1, 0.32

    def twist(X: Array) -> Array:
        angle = np.pi / 2 * X[:, 0] / length
        y, z = X[:, 1] - width / 2, X[:, 2] - depth / 2
        c, s = np.cos(angle), np.sin(angle)
        return np.stack([X[:, 0], c * y - s * z, s * y + c * z], axis=1)

    for direction, exact in ((2, 5.424e-3), (1, 1.754e-3)):
        mesh = Mesh.box((length, width, depth), (12, 2, 1), warp=twist, comm=MPI.COMM_SELF)
        energy = energies.saint_venant_kirchhoff()
        body = Body(mesh["body"], hex8, energy, E=29e6, nu=0.22)
        force = 1e-4 * np.eye(3)[direction]
        terms: list[Any] = [fix(body["x0"], "all"), loads.force(body["x1"], tuple(force))]
        system = System(body, terms=terms)
        StaticProblem(system, options=TIGHT).solve()
        tip = 1e4 * float(system.displacement(body["x1"])[:, direction].mean())
        yield Number(f"deflection under a force along {'xyz'[direction]}: 12x2x1", tip, exact, 0.02)
