# SPDX-License-Identifier: BSD-3-Clause
"""Motions of planar mechanisms: pendulums, four-bars in a row, Andrews' squeezer, Duffing."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Array
from ..bodies.plane import PlanarBody
from ..catalogue.boundary import fix
from ..catalogue.joints import distance, revolute
from ..catalogue.loads import gravity
from ..catalogue.moments import moment
from ..places.ends import Ground
from ..solve.dynamics import DynamicProblem
from ..system import System
from ..terms.work import Potential
from .case import Number, case

if TYPE_CHECKING:
    import sympy as sp

Motion = tuple[System, Callable[[], Array]]  # a system and what is measured

WEIGHT = (0.0, -9.81, 0.0)


def measured(build: Callable[[], Motion], times: list[float], steps: list[float]) -> list[Array]:
    """Return the measured values at the times, (times, values), for each length of the steps."""
    tables = []
    for step in steps:
        system, values = build()
        problem = DynamicProblem(system)
        rows = []
        for time in times:
            problem.solve(to=time, step=step)
            rows.append(values())
        tables.append(np.array(rows))
    return tables


def extrapolated(coarse: Array, fine: Array) -> Array:
    """Return values without the error of second order, from steps of which one is half."""
    return np.asarray((4.0 * fine - coarse) / 3.0)


def numbers(
    names: list[str],
    runs: list[Array],
    reference: Array,
    tolerances: tuple[float, float],
    scale: float = 1.0,
) -> Iterator[Number]:
    """Compare the finest of two runs, the extrapolated values, and the order of convergence."""
    coarse, fine, exact = (np.asarray(a).ravel() for a in (*runs, reference))
    best = extrapolated(coarse, fine)
    for k, name in enumerate(names):
        yield Number(name, float(fine[k]), float(exact[k]), tolerances[0], scale)
    for k, name in enumerate(names):
        what = f"{name}, extrapolated to h = 0"
        yield Number(what, float(best[k]), float(exact[k]), tolerances[1], scale)
    errors = [float(np.linalg.norm(run - exact)) for run in (coarse, fine)]
    yield Number("order of convergence", math.log2(errors[0] / errors[1]), 2.0, 0.05, 1.0)


# ---- one and two pendulums ---------------------------------------------------------------------
PENDULUM = {
    1.0: (0.9862917511318753, -0.16501085312554117),
    2.0: (-0.7935661953433217, -0.6084839304437916),
    5.0: (-0.9423054350437573, -0.3347543384140006),
    10.0: (-0.2750874625761169, -0.961419205099125),
}


@case("D01_pendulum", "Jacobi's elliptic functions; IFToMM benchmark A01 (Gonzalez et al., 2006)")
def pendulum() -> Iterator[Number]:
    """A point mass on a massless rod swings from the horizontal: position up to 10 s."""
    drift = []

    def build() -> Motion:
        bob = PlanarBody(position=(-1.0, 0.0), mass=1.0, name="bob")
        rod = distance(bob.at((0, 0)), Ground((0.0, 0.0)), 1.0)
        system = System(bob, terms=[fix(bob, "theta"), rod, gravity(WEIGHT)])

        def values() -> Array:
            x = bob.position(system)[:2]
            drift.append(abs(float(np.hypot(*x)) - 1.0))
            return x

        return system, values

    runs = measured(build, list(PENDULUM), [4e-3, 2e-3])
    names = [f"{axis} at {t:g} s [m]" for t in PENDULUM for axis in "xy"]
    yield from numbers(names, runs, np.array(list(PENDULUM.values())), (1e-3, 3e-6))
    yield Number("|r| - 1, largest [m]", max(drift), 0.0, 1e-13, 1.0)


PERIODS = {
    10: 2.009892627298601,
    60: 2.152874666880516,
    90: 2.3678419475762373,
    150: 3.5350981863815236,
    179: 7.825796837537682,
}


@case("D01b_pendulum_period", "4 sqrt(L/g) K(sin^2(theta0/2))")
def periods() -> Iterator[Number]:
    """Periods of a pendulum of length 1 m, amplitudes 10 to 179 degrees."""
    for degrees, period in PERIODS.items():
        angle = math.radians(degrees)

        def build(angle: float = angle, period: float = period) -> Motion:
            rod = PlanarBody(position=(0.0, 0.0, angle - math.pi / 2), mass=1.0, centre=(1.0, 0.0))
            hinge = revolute(rod.at((0, 0)), Ground((0.0, 0.0)))
            system = System(rod, terms=[hinge, gravity(WEIGHT)])

            def values() -> Array:  # at a turning point the rate tells how late it comes
                late = rod.rate(system)[2] / (9.81 * math.sin(angle))
                return np.array([period + late])

            return system, values

        n, tolerance = (500, 1e-6) if degrees < 170 else (2000, 1e-5)  # long near the top
        runs = measured(build, [period], [period / n, period / (2 * n)])
        best = float(extrapolated(*runs)[0, 0])
        yield Number(f"period at {degrees} degrees [s]", best, period, tolerance)


DOUBLE = {
    0.5: (0.5704720512329766, 1.2038751111582564, -2.7896457661674026, -3.1880627466512155),
    1.0: (-0.6250876998063419, -1.0345850856801297, -3.9222795728880437, -1.3030992486963395),
    2.0: (-0.4829715342518503, -1.3240487123022402, 3.0652881920736355, 2.9492715475710374),
    3.0: (1.7857955220773258, 1.1181074612054225, 0.32798061951435786, -0.5044551039447945),
}


@case("D13_double_pendulum", "minimal coordinates, DOP853 to 1e-13")
def double_pendulum() -> Iterator[Number]:
    """Two point masses on massless rods, released from the horizontal: angles and rates."""

    def build() -> Motion:
        a, b = (
            PlanarBody(position=(x, 0.0), mass=1.0, name=n) for x, n in ((1.0, "a"), (2.0, "b"))
        )
        rods = [
            distance(a.at((0, 0)), Ground((0.0, 0.0)), 1.0, name="first"),
            distance(b.at((0, 0)), a.at((0, 0)), 1.0, name="second"),
        ]
        supports = [fix(a, "theta"), fix(b, "theta")]
        system = System(a, b, terms=[*supports, *rods, gravity(WEIGHT)])

        def values() -> Array:
            x, v = a.position(system)[:2], a.rate(system)[:2]
            d, w = b.position(system)[:2] - x, b.rate(system)[:2] - v
            angles = [math.atan2(r[0], -r[1]) for r in (x, d)]
            return np.array([*angles, *(float(np.cross(r, u)) for r, u in ((x, v), (d, w)))])

        return system, values

    runs = measured(build, list(DOUBLE), [2e-3, 1e-3])
    names = [f"{q} at {t:g} s" for t in DOUBLE for q in ("theta1", "theta2", "omega1", "omega2")]
    yield from numbers(names, runs, np.array(list(DOUBLE.values())), (5e-4, 1e-6))


# ---- four-bars in a row ------------------------------------------------------------------------
ROW = {
    1.0: (-0.19502030194959835, -0.9807992056621414),
    2.0: (0.05781579576788101, 0.998327267863463),
    3.0: (-0.5493397393004984, -0.8355990969509604),
    5.0: (-0.8113104610020032, -0.5846155453532834),
    10.0: (0.3284581115346749, 0.9445185381807363),
}


@case("D02_four_bars_in_a_row", "one degree of freedom, 1e-13; IFToMM benchmark A02")
def row() -> Iterator[Number]:
    """Two four-bar linkages side by side, through positions where they could fold."""
    energy = []

    def build(n: int = 2) -> Motion:
        bar: dict[str, Any] = {"mass": 1.0, "centre": (0.5, 0.0), "inertia": 1.0 / 12.0}
        cranks = [
            PlanarBody(position=(k, 0.0, math.pi / 2), spin=-1.0, name=f"crank {k}", **bar)
            for k in range(n + 1)
        ]
        rods = [PlanarBody(position=(k, 1.0), velocity=(1.0, 0.0), **bar) for k in range(n)]
        tips = [crank.at((1.0, 0.0)) for crank in cranks]
        joints = [revolute(crank.at((0, 0)), Ground((k, 0.0))) for k, crank in enumerate(cranks)]
        for k, rod in enumerate(rods):
            joints.append(revolute(tips[k], rod.at((0, 0))))
            joints.append(revolute(tips[k + 1], rod.at((1.0, 0.0))))
        system = System(*cranks, *rods, terms=[*joints, gravity(WEIGHT)])

        def values() -> Array:
            kinetic, _ = system._discrete.inertia.energies(system.rate)
            energy.append(
                float(system._discrete.sum(kinetic).sum()) + sum(system.energies().values())
            )
            return np.asarray(system.position(tips[0])[0, :2])

        return system, values

    runs = measured(build, list(ROW), [4e-3, 2e-3])
    names = [f"{axis} of the first tip at {t:g} s [m]" for t in ROW for axis in "xy"]
    yield from numbers(names, runs, np.array(list(ROW.values())), (1e-3, 3e-6))
    # three cranks m L^2/6 each, two rods m v^2/2
    yield Number("energy at 10 s [J]", energy[-1], 1.5, 1e-4, 35.835)


# ---- Andrews' squeezer -------------------------------------------------------------------------
ANDREWS = (
    15.810771195154366,
    -15.756371058412675,
    0.040822240119618075,
    -0.5347301163421313,
    0.5244099658799434,
    0.5347301163421257,
    1.048080741041941,
)
START = (
    -0.06171389001427645,
    0.0,
    0.45527981916307037,
    0.22266839016588588,
    0.48736497954384256,
    -0.22266839016588588,
    1.2305474445498212,
)


def _spring(r_a: Any, r_b: Any, *, stiffness: Any, length: Any) -> sp.Expr:
    return stiffness / 2 * ((r_a - r_b).norm() - length) ** 2


def squeezer() -> Motion:
    """Return the mechanism of seven bodies; values are beta, Theta, gamma, Phi, delta, ..."""
    beta, theta, gamma, phi, delta, omega, epsilon = START

    def along(angle: float, length: float) -> Array:
        return length * np.array([math.cos(angle), math.sin(angle)])

    A, B, C = np.array([-0.06934, -0.00227]), np.array([-0.03635, 0.03273]), (0.014, 0.072)
    rr, d, e, ss, zt, zf, u = 0.007, 0.028, 0.02, 0.035, 0.04, 0.02, 0.04
    angles = (beta, beta + theta, gamma, phi + delta, delta, omega + epsilon, epsilon)
    origins = (
        np.zeros(2),
        along(beta, rr),
        B,
        A + along(delta, zt),
        A,
        A + along(epsilon - math.pi / 2, u),
        A,
    )
    masses = (0.04325, 0.00365, 0.02373, 0.00706, 0.0705, 0.00706, 0.05498)
    inertias = (2.194e-6, 4.41e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
    centres = (
        (0.00092, 0.0),
        (-0.0115, 0.0),
        (0.01043, -0.01874),
        (0.0, 0.01421 - e),
        (0.02308, 0.00916),
        (zf - 0.01421, 0.0),
        (0.01228, 0.00449),
    )
    bodies = [
        PlanarBody(position=(*X, angle), mass=m, inertia=J, centre=c, name=f"K{k + 1}")
        for k, (X, angle, m, J, c) in enumerate(
            zip(origins, angles, masses, inertias, centres, strict=True)
        )
    ]
    k1, k2, k3, k4, k5, k6, k7 = bodies
    E = k2.at((-d, 0.0))
    terms = [
        revolute(k1.at((0, 0)), Ground((0.0, 0.0))),
        revolute(k1.at((rr, 0.0)), k2.at((0, 0))),
        *(revolute(body.at((0, 0)), Ground(X)) for body, X in ((k3, B), (k5, A), (k7, A))),
        revolute(k5.at((zt, 0.0)), k4.at((0, 0))),
        revolute(k7.at((0.0, -u)), k6.at((0, 0))),
        *(revolute(E, p) for p in (k3.at((0.0, -ss)), k4.at((0.0, -e)), k6.at((zf, 0.0)))),
        moment(k1, 0.033),
        Potential(_spring, k3.at((0.02, -0.018)), Ground(C), stiffness=4530.0, length=0.07785),
    ]
    system = System(*bodies, terms=terms)

    def values() -> Array:
        a = [float(body.position(system)[2]) for body in bodies]
        return np.array([a[0], a[1] - a[0], a[2], a[3] - a[4], a[4], a[5] - a[6], a[6]])

    return system, values


@case(
    "D03_andrews_squeezer",
    "Andrews' squeezing mechanism (IVP test set; IFToMM A03), accelerations by DOP853 to 1e-13",
)
def andrews() -> Iterator[Number]:
    """Seven bodies driven by a motor against a spring: angles after 0.03 s."""
    runs = measured(squeezer, [0.03], [4e-5, 2e-5])
    names = [f"{q} [rad]" for q in ("beta", "Theta", "gamma", "Phi", "delta", "Omega", "epsilon")]
    yield from numbers(names, runs, np.array(ANDREWS), (1e-3, 1e-6))


# ---- Duffing's oscillator ----------------------------------------------------------------------
@case("D30_duffing", "Jacobi's cn: x'' + x + x^3 = 0 from x = 1 at rest")
def duffing() -> Iterator[Number]:
    """A mass on a spring that stiffens: positions and period."""
    period = 4.76802202910246

    def build() -> Motion:
        mass = PlanarBody(position=(1.0, 0.0), mass=1.0, name="mass")
        spring = Potential(lambda r_a: r_a[0] ** 2 / 2 + r_a[0] ** 4 / 4, mass.at((0, 0)))
        system = System(mass, terms=[fix(mass, ["y", "theta"]), spring])

        def values() -> Array:
            return np.array([mass.position(system)[0], mass.rate(system)[0]])

        return system, values

    coarse, fine = measured(build, [1.0, period, 10.0], [4e-3, 2e-3])
    # at the turning point the acceleration is -2
    runs = [np.array([x[0, 0], x[2, 0], period + x[1, 1] / 2.0]) for x in (coarse, fine)]
    reference = np.array([0.23369179114314118, 0.798874768997414, period])
    yield from numbers(["x(1)", "x(10)", "period"], runs, reference, (1e-5, 1e-7))
