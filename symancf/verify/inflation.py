# SPDX-License-Identifier: BSD-3-Clause
"""Rubber under the pressure of gas: tube, spherical shell, membrane balloon; a plate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI

from symancf_codegen.legendre import gauss_legendre

from .. import energies
from ..arrays import Array
from ..bodies.body import Body
from ..catalogue.boundary import fix, symmetry
from ..catalogue.gas import pressure
from ..elements import Element, ancf_plate, ancf_thin_plate, hex8_plain
from ..mesh import Mesh
from ..solve.statics.problem import StaticProblem
from ..system import System
from ..values.parameter import Parameter
from .case import TIGHT, Number, case

if TYPE_CHECKING:
    from collections.abc import Iterator

RUBBER: dict[str, Any] = {"C10": 0.5, "C20": -0.05, "C30": 0.01}  # MPa
BULK = 1e4  # MPa: 1e4 times the shear modulus


PRESSED = 40  # Gauss points of the closed forms


def _yeoh(I1: Array) -> Array:
    """Return dW/dI1."""
    x = I1 - 3.0
    return np.asarray(RUBBER["C10"] + 2.0 * RUBBER["C20"] * x + 3.0 * RUBBER["C30"] * x**2)


def _through(outer: float) -> tuple[Array, Array]:
    """Return Gauss points and weights of 1 <= R <= outer."""
    x, w = gauss_legendre(PRESSED)
    return 1.0 + (outer - 1.0) * (x + 1.0) / 2.0, w * (outer - 1.0) / 2.0


def tube_reference(stretch: float) -> tuple[float, float]:
    """Return p and N - pi a^2 p of the incompressible tube 1 <= R <= 2 of unit axial stretch.

    p = int 2 W' (m^2 - m^-2) R/r^2 dR, N - pi a^2 p = pi int 2 W' (2 - m^2 - m^-2) R dR with
    m = r/R, r^2 = R^2 + a^2 - 1.
    """
    R, w = _through(2.0)
    r = np.sqrt(R**2 + stretch**2 - 1.0)
    m2 = (r / R) ** 2
    slope = 2.0 * _yeoh(m2 + 1.0 / m2 + 1.0)
    p = w @ (slope * (m2 - 1.0 / m2) * R / r**2)
    return float(p), float(np.pi * (w @ (slope * (2.0 - m2 - 1.0 / m2) * R)))


def sphere_reference(stretch: float, outer: float = 1.1) -> float:
    """Return p of the incompressible sphere 1 <= R <= outer.

    p = int 4 W' (m^2 - m^-4) R^2/r^3 dR, m = r/R, r^3 = R^3 + a^3 - 1.
    """
    R, w = _through(outer)
    r = np.cbrt(R**3 + stretch**3 - 1.0)
    m = r / R
    slope = 4.0 * _yeoh(2.0 * m**2 + m**-4.0)
    return float(w @ (slope * (m**2 - m**-4.0) * R**2 / r**3))


def balloon_reference(stretch: float) -> float:
    """Return p R_0/h_0 of the incompressible spherical membrane, 4 W' (m^-1 - m^-7)."""
    m = np.asarray(stretch)
    return float(4.0 * _yeoh(2.0 * m**2 + m**-4.0) * (1.0 / m - m**-7.0))


# independent quadrature: inner stretch -> p, reduced axial force (tube), p (sphere) [MPa]
TUBE = {
    1.05: (0.0700733313511624, -0.011627473066023417),
    1.5: (0.404397129618391, -0.9977220238497065),
    2.0: (0.5009399454941687, -3.3909014468747682),
    3.0: (0.8027247140874818, -17.074465760784147),
}
SPHERE = {1.1: 0.06833675304499662, 1.3: 0.10274382651173668, 2.0: 0.126794700241146}
SPHERE_LIMITS = (
    (1.3224649179715369, 0.10291631879608286),
    (1.6253435447144136, 0.09587113352846097),
)
BALLOON = {1.1: 0.7760552055886857, 1.5: 1.0136345228246304, 2.0: 1.501402587890625}


# ---- thick tube ---------------------------------------------------------------------------------
def tube_path(radial: int, around: int) -> list[tuple[float, float, float]]:
    """Return inner stretch, p and reduced axial force along the inflation to a stretch of 3."""
    divisions = radial, around, 1
    mesh = Mesh.tube(1.0, 2.0, 0.1, divisions, symmetric="xy", comm=MPI.COMM_SELF)
    body = Body(
        mesh["body"],
        hex8_plain,
        energies.yeoh(),
        name="tube",
        volumetric="reduced",
        k=BULK,
        **RUBBER,
    )
    p = Parameter("p")
    supports = [
        fix(body["z0"], "z"),
        fix(body["z1"], "z"),
        fix(body["y0"], "y"),
        fix(body["x0"], "x"),
    ]
    system = System(body, terms=[*supports, pressure(body["inner"], p)])
    problem = StaticProblem(system, options=TIGHT)
    inner, path = body.at((1.0, 0.0, 0.0)), []

    def reached(step: Any) -> bool:
        stretch = 1.0 + float(system.displacement(inner)[0, 0])
        axial = 4.0 * float(supports[1].reaction(system).force[2])
        path.append((stretch, p.value, axial - np.pi * stretch**2 * p.value))
        return stretch >= 3.0

    problem.follow(p, step=0.02, until=reached)
    return path


# ---- spherical shells ---------------------------------------------------------------------------
Path = list[tuple[float, float]]


def sphere_path(
    cells: int, layers: int, to: float = 2.1, element: Element = hex8_plain
) -> tuple[Path, Path]:
    """Return inner stretch and p of an octant of the shell, 1 <= R <= 1.1, and limit points."""
    divisions = layers, 2 * cells
    mesh = Mesh.sphere(1.1, divisions, inner=1.0, symmetric="xyz", comm=MPI.COMM_SELF)
    rule: dict[str, Any] = {"volumetric": "reduced"} if element is hex8_plain else {}
    body = Body(mesh["body"], element, energies.yeoh(), k=BULK, **rule, **RUBBER)
    p = Parameter("p")
    supports = [fix(body[f"{axis}0"], axis) for axis in "xyz"]
    system = System(body, terms=[*supports, pressure(body["inner"], p)])
    return _followed(system, p, body.at((1.0, 0.0, 0.0)), 0.01, to)


def _followed(
    system: System, p: Parameter, place: Any, step: float, to: float
) -> tuple[Path, Path]:
    """Follow p until the stretch at a place of unit radius is `to`; return path, limit points."""
    problem, path = StaticProblem(system, options=TIGHT), []

    def stretch() -> float:
        return float(np.linalg.norm(system.position(place)[0]))

    def reached(stretch_now: Any) -> bool:
        path.append((stretch(), p.value))
        return stretch() >= to

    problem.record("stretch", stretch)
    history = problem.follow(p, step=step, until=reached)
    limits = [(float(point.values["stretch"]), point.parameter) for point in history.limit_points]
    return path, limits


def balloon_path(cells: int, thickness: float, to: float = 2.1) -> tuple[Path, Path]:
    """Return stretch and p R_0/h_0 of an octant of a membrane, and limit points."""
    mesh = Mesh.sphere(1.0, 2 * cells, symmetric="xyz", cell="quad", comm=MPI.COMM_SELF)
    body = Body(
        mesh["body"],
        ancf_plate,
        energies.yeoh(),
        thickness=thickness,
        direction=lambda X: X,
        k=BULK,
        **RUBBER,
    )
    p = Parameter("p")
    supports = [symmetry(body[f"{axis}0"], axis) for axis in "xyz"]
    system = System(body, terms=[*supports, pressure(body["body"].face(-1, middle=True), p)])
    path, limits = _followed(system, p, body.at((1.0, 0.0, 0.0)), 0.1 * thickness, to)
    return [(s, v / thickness) for s, v in path], [(s, v / thickness) for s, v in limits]


# ---- cases --------------------------------------------------------------------------------------
def _spread(path: list[Any], count: int) -> list[Any]:
    """Return some points of a path, evenly, without its start."""
    return [path[k] for k in np.linspace(1, len(path) - 1, count).round().astype(int)]


@case("C10_tube_inflation", "universal solution, quadrature; k/mu = 1e4")
def tube() -> Iterator[Number]:
    """Thick tube of Yeoh rubber under internal pressure, past its softening."""
    for stretch, (p, force) in TUBE.items():
        reference = tube_reference(stretch)
        yield Number(f"closed form: p [MPa] at stretch {stretch:g}", reference[0], p, 1e-8)
        yield Number(f"closed form: axial force at stretch {stretch:g}", reference[1], force, 1e-8)
    for stretch, p, force in _spread(tube_path(16, 32), 6):
        exact = tube_reference(stretch)
        yield Number(f"p [MPa] at inner stretch {stretch:.4f}", p, exact[0], 3e-3)
        # N - pi a^2 p is a small difference of large numbers
        name = f"N - pi a^2 p at inner stretch {stretch:.4f}"
        yield Number(name, force, exact[1], 3e-3, np.pi * stretch**2 * exact[0])


@case("C11_sphere_inflation", "universal solution, quadrature; k/mu = 1e4")
def sphere() -> Iterator[Number]:
    """Spherical shell of Yeoh rubber, hexahedra, followed past both limit points."""
    for stretch, p in SPHERE.items():
        yield Number(f"closed form: p [MPa] at {stretch:g}", sphere_reference(stretch), p, 1e-8)
    path, limits = sphere_path(12, 2, to=1.7)
    for stretch, p in _spread(path, 6):
        exact = sphere_reference(stretch)
        yield Number(f"p [MPa] at inner stretch {stretch:.4f}", p, exact, 2e-3)
    yield Number("number of limit points", float(len(limits)), 2.0, 0.0)
    for (stretch, p), (at, exact) in zip(limits, SPHERE_LIMITS, strict=False):
        yield Number(f"limit point: stretch (p = {exact:.4f})", stretch, at, 2e-3)
        yield Number(f"limit point: p [MPa] (stretch {at:.4f})", p, exact, 2e-3)


@case("C12_membrane_balloon", "closed form; k/mu = 1e4")
def balloon() -> Iterator[Number]:
    """Spherical membrane of Yeoh rubber, plates, followed past both limit points."""
    for stretch, p in BALLOON.items():
        name = f"closed form: p R_0/h_0 [MPa] at {stretch:g}"
        yield Number(name, balloon_reference(stretch), p, 1e-8)
    errors = []
    for cells in (4, 8):
        path, limits = balloon_path(cells, 1e-3)
        off = [abs(p / balloon_reference(s) - 1.0) for s, p in path if s < 1.7]
        errors.append(max(off))
    yield Number("order of convergence of p", float(np.log2(errors[0] / errors[1])), 2.0, 0.2, 1.0)
    for stretch, p in _spread(path, 6):
        exact = balloon_reference(stretch)
        yield Number(f"p R_0/h_0 [MPa] at stretch {stretch:.4f}", p, exact, 3e-3)
    stretches = np.linspace(1.2, 1.7, 5001)
    exact_path = np.array([balloon_reference(s) for s in stretches])
    turn = np.flatnonzero(np.diff(np.sign(np.diff(exact_path)))) + 1
    for (_, p), at in zip(limits, turn, strict=True):
        exact = float(exact_path[at])
        yield Number(f"limit point: p R_0/h_0 [MPa] (stretch {stretches[at]:.3f})", p, exact, 3e-3)


@case("B04_circular_clamped", "closed form, q R^4/(64 D)")
def plate() -> Iterator[Number]:
    """Clamped circular plate under pressure: deflection of its centre, small."""
    E, nu, h = 1e6, 0.3, 0.01
    D = E * h**3 / (12.0 * (1.0 - nu**2))
    q = 64.0 * D * 1e-4 * h
    for side in (1, -1):
        mesh = Mesh.disc(1.0, (16, 16), symmetric="xy", comm=MPI.COMM_SELF)
        body = Body(mesh["body"], ancf_thin_plate, energies.kirchhoff(), thickness=h, E=E, nu=nu)
        supports = [fix(body["outer"]), symmetry(body["x0"], "x"), symmetry(body["y0"], "y")]
        system = System(body, terms=[*supports, pressure(body["body"].face(side), q)])
        StaticProblem(system, options=TIGHT).solve(to=1.0)
        w = -side * float(system.displacement(body.at((0.0, 0.0, 0.0)))[0, 2])
        yield Number(f"w D/(q R^4), pressed on face({side:+d})", w * D / q, 1.0 / 64.0, 3e-3)
