# SPDX-License-Identifier: BSD-3-Clause
"""Prony series on a rubber: closed forms, and an independent integration at finite strain."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI

from .. import energies
from ..bodies.body import Body
from ..catalogue.boundary import fix
from ..catalogue.loads import traction
from ..elements import hex8_plain
from ..mesh import Mesh
from ..solve.statics.problem import StaticProblem
from ..system import System
from ..values.parameter import Parameter
from .case import TIGHT, Number, case, order
from .states import moment, residual, rotation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..arrays import Array

G, TAU = np.array([0.25, 0.15]), np.array([0.5, 3.0])
SERIES: dict[str, Any] = {"g1": G[0], "g2": G[1], "tau1": TAU[0], "tau2": TAU[1]}
YEOH: dict[str, Any] = {"C10": 0.5, "C20": 0.05, "C30": 0.0, "k": 50.0}
RUBBER = energies.prony(energies.yeoh(), g=G.tolist(), tau=TAU.tolist())
SHEAR = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])


class Cube:
    """A cube of side 1 in a homogeneous motion F = I + H(t) that is prescribed."""

    def __init__(self, H: Callable[[float], Array], law: Any, **parameters: Any) -> None:
        mesh = Mesh.box((1.0, 1.0, 1.0), (1, 1, 1), comm=MPI.COMM_SELF)
        self.body = Body(mesh["body"], hex8_plain, law, name="cube", **parameters)
        held = fix(self.body["all"], displacement=lambda X, t: X @ np.asarray(H(t)).T)
        self.system = System(self.body, terms=[held])
        self.problem = StaticProblem(self.system, options=TIGHT, check_stable=False)

    def stress(self) -> Array:
        """Return the first Piola-Kirchhoff stress (3, 3)."""
        return moment(self.system, residual(self.system, self.system.state))

    def path(self, times: Array, step: float) -> Array:
        """Return its values at some times, the last of which may be the end of many steps."""
        found = []
        for t in times:
            self.problem.solve(to=float(t), step=step)
            found.append(self.stress())
        return np.array(found)

    def dissipated(self) -> float:
        """Return the energy dissipated so far."""
        return float(self.system.remembered(self.body)["dissipated"].sum())


def sized(size: Parameter) -> Callable[[float], Array]:
    """Return H of a shear whose size is a parameter."""
    return lambda _: float(size.value) * SHEAR


@case("C40_prony_relaxation", "closed form: the series itself")
def relaxation() -> Iterator[Number]:
    """A sheared cube is held: its stress relaxes by the series at any strain; dissipation."""
    for gamma in (1e-6, 1.0):
        size = Parameter("size", 0.0)
        cube = Cube(sized(size), RUBBER, **YEOH, **SERIES)
        cube.problem.solve(to=0.0)
        size.value = gamma
        cube.problem.solve(to=0.0)
        at_once = (2 * YEOH["C10"] + 4 * YEOH["C20"] * gamma**2) * gamma
        W = YEOH["C10"] * gamma**2 + YEOH["C20"] * gamma**4
        yield Number(f"P12 at once, shear {gamma:g}", cube.stress()[0, 1], at_once, 1e-11)
        for t in (0.01, 0.1, 1.0, 100.0):
            cube.problem.solve(to=t)
            exact = at_once * float(1 - (G * (1 - np.exp(-t / TAU))).sum())
            P = cube.stress()[0, 1]
            yield Number(f"P12 at t = {t:g} s, shear {gamma:g}", P, exact, 1e-10)
        lost = W * float(G.sum())
        yield Number(f"energy dissipated in all, shear {gamma:g}", cube.dissipated(), lost, 1e-10)


def sine(omega: float) -> Callable[[float], Array]:
    """Return H of a small sine of shear."""
    return lambda t: 1e-6 * np.sin(omega * t) * SHEAR


@case("C41_prony_moduli", "closed form: storage and loss moduli of the series")
def moduli() -> Iterator[Number]:
    """Small sines of shear over four decades, extrapolated from 30 and 60 steps a period.

    The slow ones have steps longer than tau, whose errors fall with the first power of the step.
    """
    for omega in np.geomspace(0.01, 100.0, 5):
        end = 2 * np.pi / omega
        found = []
        for n in (30, 60):
            times = end * np.arange(1, n + 1) / n
            cube = Cube(sine(omega), RUBBER, **YEOH, **SERIES)
            P = cube.path(times, end / n)[:, 0, 1] / 1e-6
            forms = [np.sin(omega * times), np.cos(omega * times)]
            forms += [np.exp(-times / tau) for tau in TAU]  # what the beginning leaves
            found.append(np.linalg.lstsq(np.array(forms).T, P, rcond=1e-15)[0][:2])
        storage, loss = (4 * found[1] - found[0]) / 3
        x = omega * TAU
        exact = 1 - float((G / (1 + x**2)).sum()), float((G * x / (1 + x**2)).sum())
        yield Number(f"storage modulus, {omega:g} rad/s", storage, exact[0], 2e-4)
        yield Number(f"loss modulus, {omega:g} rad/s", loss, exact[1], 2e-4, 1.0)


def turning(t: float) -> Array:
    """Return H of a path without symmetry: shears and a stretch, and a turn with them."""
    F = np.eye(3) + t * np.array([[0.3, 0.5, 0.0], [0.1, -0.1, 0.2 * t], [0.0, -0.3, 0.05]])
    return np.asarray(rotation([1.0, 2.0, -0.5], np.degrees(0.4 * t)) @ F - np.eye(3))


def integrated(end: float) -> Array:
    """Return P of `turning` from dh/dt = g dS/dt - h/tau by SciPy's method of order 8."""
    from scipy.integrate import solve_ivp

    def isochoric(F: Array) -> Array:
        C, J = F.T @ F, np.linalg.det(F)
        slope = YEOH["C10"] + 2 * YEOH["C20"] * (J ** (-2 / 3) * np.trace(C) - 3)
        direction = np.eye(3) - np.trace(C) / 3 * np.linalg.inv(C)
        return np.asarray(2 * slope * J ** (-2 / 3) * direction)

    def rate(t: float, h: Array) -> Array:
        d = 1e-3
        S = [isochoric(np.eye(3) + turning(t + k * d)) for k in (-2, -1, 1, 2)]
        slope = (S[0] - 8 * S[1] + 8 * S[2] - S[3]) / (12 * d)
        parts = zip(G, TAU, h.reshape(2, 3, 3), strict=True)
        return np.array([g * slope - x / tau for g, tau, x in parts]).ravel()

    options = {"rtol": 1e-12, "atol": 1e-14, "method": "DOP853"}
    h = solve_ivp(rate, (0.0, end), np.zeros(18), **options).y[:, -1].reshape(2, 3, 3)
    F = np.eye(3) + turning(end)
    J = np.linalg.det(F)
    S = (1 - float(G.sum())) * isochoric(F) + h.sum(axis=0)
    return np.asarray(F @ S + YEOH["k"] * (J - 1) * J * np.linalg.inv(F).T)


@case("C42_prony_path", "independent integration in NumPy and SciPy")
def path() -> Iterator[Number]:
    """A hexahedron that is stretched, sheared and turned; second order in time."""
    exact = integrated(1.0)
    largest = float(np.abs(exact).max())
    found = [
        Cube(turning, RUBBER, **YEOH, **SERIES).path(np.array([1.0]), 1.0 / n)[0]
        for n in (10, 20, 40)
    ]
    errors = [float(np.abs(P - exact).max()) for P in found]
    yield Number("order in time", order(errors[1:]), 2.0, 0.15, 1.0)
    once = [(4 * b - a) / 3 for a, b in pairwise(found)]
    best = (16 * once[1] - once[0]) / 15
    for i, k in ((0, 0), (0, 1), (1, 0), (1, 2), (2, 1), (2, 2)):
        name = f"P{i + 1}{k + 1}, extrapolated to no step"
        yield Number(name, best[i, k], exact[i, k], 1e-8, largest)


@case("C43_prony_creep", "closed form: retardation of one term")
def creep() -> Iterator[Number]:
    """A small shear stress at once: the shear goes on by the retardation of a series."""
    load, g, tau = Parameter("load", 0.0), G[0], TAU[0]
    mesh = Mesh.box((1.0, 1.0, 1.0), (1, 1, 1), comm=MPI.COMM_SELF)
    given = YEOH | SERIES | {"g2": 1e-12}
    body = Body(mesh["body"], hex8_plain, RUBBER, name="cube", **given)
    held = [fix(body["y0"]), fix(body["all"], ["y", "z"])]
    terms, tip = [*held, traction(body["y1"], (load, 0.0, 0.0))], body.at((0.0, 1.0, 0.0))
    times, found = np.array([0.0, 0.5, 1.0]), []
    for steps in (8, 16):
        system = System(body, terms=terms)
        problem = StaticProblem(system, options=TIGHT)
        load.value = 0.0
        problem.solve(to=0.0)
        load.value = 1e-6
        shear = []
        for t in times:
            problem.solve(to=float(t), step=1.0 / steps)
            shear.append(float(system.displacement(tip)[0, 0]))
        found.append(np.array(shear) / 1e-6)
    exact = (1 - g * np.exp(-(1 - g) * times / tau)) / (1 - g)
    errors = [float(abs(shear[-1] - exact[-1])) for shear in found]
    yield Number("order in time", order(errors), 2.0, 0.15, 1.0)
    best = (4 * found[1] - found[0]) / 3
    for t, value, right in zip(times, best, exact, strict=True):
        yield Number(f"shear G0/stress at t = {t:g} s", value, float(right), 1e-5)
