# SPDX-License-Identifier: BSD-3-Clause
"""Rods that taper, are twisted or coiled before they are loaded, or have sections of their own."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from symancf_codegen.legendre import gauss_legendre

from ..arrays import Array, Mask
from ..bodies.body import Body
from ..catalogue.boundary import fix
from ..catalogue.loads import force, traction
from ..catalogue.moments import moment
from ..elements import ancf_rod, hex27
from ..energies import rod, saint_venant_kirchhoff
from ..extensions.section import Section
from ..mesh import Mesh
from ..solve.statics.problem import StaticProblem
from ..system import System
from .case import TIGHT, Number, case, order
from .rods import along, axes, growing, line, straight

if TYPE_CHECKING:
    from collections.abc import Iterator

E, NU = 70e9, 0.3
G = E / (2.0 * (1.0 + NU))


def loaded(body: Body, push: Array, couple: Array | None = None) -> System:
    """Return a system at rest whose rod is clamped at its start and loaded at its end."""
    terms: list[Any] = [fix(body["start"])]
    if push.any():
        terms.append(force(body["end"], growing(push)))
    if couple is not None:
        terms.append(moment(body["end"], growing(couple)))
    system = System(body, terms=terms)
    StaticProblem(system, options=TIGHT).solve()
    return system


def angle_of(system: System, body: Body, axis: Array) -> float:
    """Return the small angle by which the end of a rod has turned about an axis."""
    F = axes(system, body["end"])
    turned = np.array([F[2, 1] - F[1, 2], F[0, 2] - F[2, 0], F[1, 0] - F[0, 1]]) / 2.0
    return float(turned @ axis)


@case("A07_tapered_rod", "closed form: P/EI and T/GJ of a cone, integrated")
def tapered() -> Iterator[Number]:
    """Cone clamped at its thick end: force across, torque and force along at its tip."""
    a, b, L, P, T = 0.02, 0.01, 0.5, 1e-2, 1e-3
    k = Section.circle(1.0).shear_factor(NU)
    bend = 4.0 * P * L**3 / (3.0 * math.pi * E * a**3 * b) + P * L / (k * G * math.pi * a * b)
    twist = 2.0 * T * L * (a * a + a * b + b * b) / (3.0 * math.pi * G * a**3 * b**3)
    stretch = P * L / (math.pi * E * a * b)
    errors = []
    for cells in (2, 4, 8):
        parameters = Section.varying(lambda X: Section.circle(a - (a - b) * X[0] / L), E=E, nu=NU)
        body = Body(straight(cells, L)["rod"], ancf_rod, rod(), **parameters)
        across = loaded(body, np.array([0.0, 0.0, P]))
        u = across.displacement(body["end"])[0]
        errors.append(abs(u[2] - bend) / bend)
    yield Number("deflection", u[2], bend, 5e-5)
    yield Number("order", order(errors), 4.0, 0.4, 1.0)
    system = loaded(body, np.array([P, 0.0, 0.0]), np.array([T, 0.0, 0.0]))
    yield Number("twist", angle_of(system, body, np.eye(3)[0]), twist, 2e-4)
    yield Number("stretch", system.displacement(body["end"])[0][0], stretch, 1e-5)


@case("A08_pretwisted_rod", "bending about turning axes, integrated over the length")
def twisted() -> Iterator[Number]:
    """Strip twisted by a right angle before: a force at its tip also moves it aside."""
    L, P, turn = 0.5, 1e-4, math.pi / 2.0
    flat = Section.rectangle(0.02, 0.002)
    parameters = flat.rod(E=E, nu=NU)
    x, w = gauss_legendre(40)
    s, w = L * (x + 1.0) / 2.0, L * w / 2.0
    arm2, c, n = w * (L - s) ** 2, np.cos(turn * s / L), np.sin(turn * s / L)
    # axis 2 is y at the clamp, the strip flat
    soft, hard = P / parameters["EI2"], P / parameters["EI3"]
    shear = P * L / 2.0 * (1.0 / parameters["GA2"] + 1.0 / parameters["GA3"])
    down = float((arm2 * (soft * c**2 + hard * n**2)).sum()) + shear
    aside = -float((arm2 * (soft - hard) * c * n).sum())

    def second(X: Array) -> Array:
        a = turn * X[:, 0] / L
        return np.stack([0.0 * a, np.cos(a), np.sin(a)], axis=1)

    errors = []
    for cells in (4, 8, 16):
        body = Body(straight(cells, L)["rod"], ancf_rod, rod(), direction=second, **parameters)
        system = loaded(body, np.array([0.0, 0.0, P]))
        u = system.displacement(body["end"])[0]
        errors.append(abs(u[2] - down) / down)
    yield Number("deflection", u[2], down, 2e-5)
    yield Number("aside", u[1], aside, 2e-5, abs(down))
    yield Number("order", order(errors), 4.0, 0.4, 1.0)


@case("A09_springs", "Castigliano: a wrench along the axis of a coil; a ring pulled apart")
def springs() -> Iterator[Number]:
    """Coil of three turns, steep and flat, under a force along its axis and a torque about it."""
    R, r, turns, P = 0.02, 0.001, 3.0, 1e-3
    parameters = Section.circle(r).rod(E=E, nu=NU)
    EA, GA, GJ, EI = (parameters[k] for k in ("EA", "GA2", "GJ", "EI2"))
    for pitch in (0.1, 0.8):
        sine, cosine = math.sin(pitch), math.cos(pitch)
        L = 2.0 * math.pi * turns * R / cosine
        errors = []
        pull = L * (R**2 * (cosine**2 / GJ + sine**2 / EI) + sine**2 / EA + cosine**2 / GA) * P
        wind = L * (sine**2 / GJ + cosine**2 / EI) * P * R
        both = L * R * sine * cosine * (1.0 / GJ - 1.0 / EI) * P
        for cells in (24, 48):
            a = np.linspace(0.0, 2.0 * math.pi * turns, 2 * cells + 1)
            X = R * np.stack([np.cos(a), np.sin(a), math.tan(pitch) * a], axis=1)
            up = along(np.array([0.0, 0.0, 1.0]))
            body = Body(line(X)["rod"], ancf_rod, rod(), direction=up, **parameters)
            # the force acts along the axis of the coil: at the end of an arm R across it
            system = loaded(body, np.array([0.0, 0.0, P]), np.cross(-X[-1], [0.0, 0.0, P]))
            turned = angle_of(system, body, np.eye(3)[2])
            u = system.displacement(body["end"])[0]
            F = axes(system, body["end"]) - np.eye(3)
            lift = float(u[2] - (F @ [R, 0.0, 0.0])[2])  # of the end of the arm, on the axis
            errors.append(abs(lift - pull) / pull)
        yield Number(f"pitch {pitch:g}: stretch", lift, pull, 2e-4)
        yield Number(f"pitch {pitch:g}: turn by the force", turned, both, 2e-4, pull / R)
        yield Number(f"pitch {pitch:g}: order", order(errors), 4.0, 1.0, 1.0)
        system = loaded(body, np.zeros(3), np.array([0.0, 0.0, P * R]))
        turned = angle_of(system, body, np.eye(3)[2])
        yield Number(f"pitch {pitch:g}: turn by a torque", turned, wind, 1e-3)
    a = np.linspace(0.0, math.pi / 2.0, 17)  # a quarter, from the force to the free end
    X = R * np.stack([np.sin(a), np.cos(a), 0.0 * a], axis=1)
    body = Body(line(X)["rod"], ancf_rod, rod(), direction=up, **parameters)
    supports = [
        fix(body["start"], dofs=["x", "z", "slopes"]),
        fix(body["end"], dofs=["y", "slopes"]),
    ]
    push = force(body["start"], growing(np.array([0.0, P / 2.0, 0.0])))
    system = System(body, terms=[*supports, push])
    StaticProblem(system, options=TIGHT).solve()
    apart = 2.0 * float(system.displacement(body["start"])[0][1])
    exact = P * R**3 / EI * (math.pi / 4.0 - 2.0 / math.pi)
    exact += math.pi * P * R / 4.0 * (1.0 / EA + 1.0 / GA)
    yield Number("ring", apart, exact, 2e-4)


@case("A12_rod_of_an_angle", "the same beam of 3d cells, and the theory of Saint-Venant")
def angle() -> Iterator[Number]:
    """Unequal angle under a force at its centroid: it bends aside and twists.

    Without a Poisson ratio: legs of bent cells turn by what sections change their shape.
    """
    t, b, h, L = 0.01, 0.03, 0.05, 1.0
    own = Section.polygon([(0, 0), (b, 0), (b, t), (t, t), (t, h), (0, h)])
    body = Body(
        straight(8, L)["rod"],
        ancf_rod,
        rod(),
        direction=along(np.array([0.0, 1.0, 0.0])),
        **own.rod(E=E, nu=0.0),
    )
    P = np.array([0.0, 0.0, 1e-2])
    system = loaded(body, P)
    F = [system.gradient(body.at((x, 0.0, 0.0)))[0] for x in (L / 2.0, 3.0 * L / 4.0)]
    turned = [float((f[2, 1] - f[1, 2]) / 2.0) for f in F]
    places = [(0.45 * L, 0.0, 0.0), (L / 2.0, 0.0, 0.0), (0.55 * L, 0.0, 0.0), (L, 0.0, 0.0)]
    values = (*_bent(system.displacement(body.at(places)), L), turned[1] - turned[0])
    cells = _of_cells(own, (L, b, h, t), P)
    names = ("aside: end against the middle", "down", "twist: three quarters against the middle")
    for what, value, exact in zip(names, values, cells, strict=True):
        yield Number(what, value, exact, 1e-3 if "twist" not in what else 1.5e-2)


def _bent(u: Array, L: float) -> tuple[float, float]:
    """Return how the end moves against the tangent in the middle, from four displacements."""
    slope = (u[2] - u[0]) / (0.1 * L)
    y, z = (u[3] - u[1] - slope * L / 2.0)[1:].tolist()
    return y, z


def _of_cells(own: Section, sizes: tuple[float, ...], P: Array) -> tuple[float, float, float]:
    """Return the same of solid cells."""
    L, b, h, t = sizes
    half = [0.0, t / 6, t / 2, 5 * t / 6, t]
    grid = np.array([*half, 2 * t, b - t / 5, b]), np.array([*half, 2 * t, 3.5 * t, h - t / 3, h])

    def graded(X: Array) -> Array:
        y, z = (
            np.interp(X[:, k + 1], np.linspace(0.0, 1.0, len(g)), g) for k, g in enumerate(grid)
        )
        return np.stack([X[:, 0], y, z], axis=1)

    mesh = Mesh.box((L, 1.0, 1.0), (8, 7, 8), cell="hexahedron27", warp=graded)
    edge = 1.001 * t

    def inside(X: Array) -> Mask:
        return np.asarray((X[:, 1] < edge) | (X[:, 2] < edge))

    mesh.select("angle", inside, dimension=3)
    mesh.select("start", inside, within="x0")
    mesh.select("tip", inside, within="x1")
    body = Body(mesh["angle"], hex27, saint_venant_kirchhoff(), E=E, nu=0.0)
    system = System(body, terms=[fix(body["start"]), traction(body["tip"], growing(P / own.A))])
    StaticProblem(system, options=TIGHT).solve()
    y, z = own.centroid
    axis = [(x * L, y, z) for x in (0.45, 0.5, 0.55, 1.0)]
    legs = [(x, t / 2.0, height) for x in (L / 2.0, 3.0 * L / 4.0) for height in (t / 2.0, h)]
    u = system.displacement(body.at(axis + legs))
    turned = -(u[5::2, 1] - u[4::2, 1]) / (h - t / 2.0)
    return (*_bent(u[:4], L), float(turned[1] - turned[0]))
