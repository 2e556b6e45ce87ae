# SPDX-License-Identifier: BSD-3-Clause
"""Rods under loads that follow, as catenaries, free in space, and where they buckle."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.optimize as so

from ..bodies.body import Body
from ..catalogue.boundary import fix, planar
from ..catalogue.loads import force, gravity
from ..elements import ancf_cable, ancf_rod
from ..energies import cable, rod
from ..extensions.section import Section
from ..mesh import Mesh
from ..solve.modes import EigenProblem
from ..solve.statics.problem import StaticProblem
from ..system import System
from ..terms.work import VirtualWork
from ..values.parameter import Parameter
from .bifurcations import ELASTICA, followed, unstable
from .case import TIGHT, Curve, Number, case, order
from .rods import axes, straight

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..arrays import Array


# ---- a force that stays square to the end ------------------------------------------------------
#: P L^2/EI -> place of the tip over L and its angle, without shear and stretch.
FOLLOWER = {
    1.0: (0.9356456694806927, 0.3206419946750134, 0.495884642422655),
    5.0: (0.1722778753991226, 0.7806901427780991, 2.0981572399409636),
    13.5: (-0.008965204544971775, 0.4611678540773212, 3.141017548786965),
}


def square(v_a: Any, e2_a: Any, *, P: Any) -> Any:
    """Return a force along axis 2 of the section."""
    return {v_a: P * e2_a}


@case("A04_rod_follower", "Argyris and Symeonidis (1981); values: integrated from the tip", short=9)
def follower() -> Iterator[Number | Curve]:
    """Cantilever whose tip force follows its section, up to half a turn; m and mm."""
    errors = []
    for cells, unit in ((8, 1.0), (16, 1.0), (32, 1.0), (32, 1e3)):
        P, EI = Parameter("P"), 1.0 * unit**2  # N: stiffness in N mm^2
        parameters: dict[str, Any] = {
            "EA": 1e8,
            "GA2": 1e8,
            "GA3": 1e8,
            "GJ": EI,
            "EI2": EI,
            "EI3": EI,
        }
        body = Body(straight(cells, unit)["rod"], ancf_rod, rod(), **parameters)
        push = VirtualWork(square, body["end"], P=P)
        system = System(body, terms=[fix(body["start"]), push])
        problem = StaticProblem(system, options=TIGHT)
        path = [(0.0, unit, 0.0)]
        for load in sorted({*np.linspace(0.5, 13.5, 27), *FOLLOWER}):
            P.value = load
            problem.solve()
            place, F = system.position(body["end"])[0], axes(system, body["end"])
            path.append((load, *place[:2]))
            if load not in FOLLOWER or cells < 32:
                continue
            angle = math.atan2(F[1, 0], F[0, 0]) % (2.0 * math.pi)
            computed = (*place[:2] / unit, angle)
            label = f"P L^2/EI = {load:g}" + ("" if unit == 1.0 else ", mm")
            for what, value, right in zip(
                ("x/L", "y/L", "angle"), computed, FOLLOWER[load], strict=True
            ):
                yield Number(f"{what}: {label}", value, right, 2e-5, 1.0)
        errors.append(float(np.linalg.norm(place[:2] / unit - FOLLOWER[13.5][:2])))
    yield Number("order", order(errors[:3]), 4.0, 0.3, 1.0)
    line = np.array(path)
    for k, name in ((1, "x/L"), (2, "y/L")):
        reference = list(FOLLOWER), [values[k - 1] for values in FOLLOWER.values()]
        where = ("force $P L^2/EI$", "place of the tip")
        yield Curve(where, name, line[:, 0], line[:, k] / unit, reference, "integrated")


# ---- catenaries --------------------------------------------------------------------------------
def irvine(EA: float, s: Array) -> tuple[float, Array, Array]:
    """Return pull and places of a line of length 12 and weight 1, 12 s from an end, ends 10 apart.

    x = H s/EA + H (asinh(6/H) - asinh((6 - s)/H)), and downwards y = (H^2 + 36)^(1/2)
    - (H^2 + (6 - s)^2)^(1/2) + s (12 - s)/(2 EA).
    """

    def x(H: float, s: Any) -> Any:
        return H * s / EA + H * (math.asinh(6.0 / H) - np.arcsinh((6.0 - s) / H))

    H = float(so.brentq(lambda H: x(H, 12.0) - 10.0, 1.0, 10.0, xtol=1e-14))
    s = 12.0 * s
    y = math.hypot(H, 6.0) - np.hypot(H, 6.0 - s) + s * (12.0 - s) / (2.0 * EA)
    return H, x(H, s), y


def hung(line: str, EA: float, EI: float) -> tuple[System, Body, float]:
    """Let a straight line sag, then bring its ends together; return the pull, too."""
    parameters: dict[str, Any] = {"EA": EA, "rho": 1.0, "A": 1.0}
    if line == "rod":
        mesh = Mesh.box((12.0,), (32,), cell="line3")
        parameters |= {"GA2": EA, "GA3": EA, "GJ": EI, "EI2": EI, "EI3": EI, "I2": 1e-4, "I3": 1e-4}
        body = Body(mesh["body"], ancf_rod, rod(), **parameters)
        support = fix(body["x0"], "slope_y.z")  # a rod may turn about its axis
    else:
        mesh = Mesh.box((12.0,), (32,))
        body = Body(mesh["body"], ancf_cable, cable(), EI=EI, **parameters)
        support = planar(body)
    support_of_end = fix(body["x0"], "position")
    right = fix(
        body["x1"], "position", displacement=(lambda t: -2.0 * max(t - 1.0, 0.0) ** 2, 0.0, 0.0)
    )
    system = System(
        body, terms=[support_of_end, right, support, gravity((0.0, lambda t: -min(t, 1.0), 0.0))]
    )
    problem = StaticProblem(system)
    problem.solve(to=1.0, step=1.0 / 16.0)
    problem.solve(to=2.0, step=1.0 / 32.0)
    return system, body, -float(support_of_end.reaction(system).force[0])


@case("A30_A31_catenary", "closed form; H. M. Irvine, Cable Structures (1981)", short=10)
def catenary() -> Iterator[Number | Curve]:
    """Cables and rods as catenaries, inextensible and elastic, extrapolated to no bending."""
    part = np.linspace(0.0, 1.0, 49)
    X = np.stack([12.0 * part, 0.0 * part, 0.0 * part], axis=1)
    for line, EA, EI in (
        ("cable", math.inf, 1e-3),
        ("cable", 100.0, 1e-3),
        ("rod", 1e4, 2e-2),
        ("rod", 100.0, 2e-2),
    ):
        rows = []
        for k in (1.0, 0.5):
            system, body, H = hung(line, min(EA, 1e7), k * EI)
            places = system.position(body.at(X))
            rows.append(np.append(H, places[[24, 12], :2].ravel()))
        best = 2.0 * rows[1] - rows[0]  # bending at the ends reaches as far as sqrt(EI)
        pull, x, y = irvine(EA, part)
        what = f"{line}, " + (f"EA = {EA:g}" if math.inf > EA else "inextensible")
        for name, value, right in zip(
            ("pull", "x of the middle", "sag", "x of the quarter", "y of the quarter"),
            best,
            (pull, x[24], -y[24], x[12], -y[12]),
            strict=True,
        ):
            yield Number(f"{name}: {what}", value, right, 2e-5)
        reference = x[::3], -y[::3]
        yield Curve(("x", "y"), what, places[:, 0], places[:, 1], reference, "closed form")


# ---- frequencies -------------------------------------------------------------------------------
#: Bending of a free beam with shear and rotary inertia [rad/s], by a Ritz method of degree 30.
FREE = (3203.19994511543, 8332.138736566343, 15198.19374586788)


@case("A41_rod_free", "Timoshenko's beam: Ritz method with Legendre's polynomials of degree 30")
def free() -> Iterator[Number]:
    """Rod free in space: rigid motions, and pairs of bending with shear and rotary inertia."""
    E, k = 2.07e11, 5.0 / 6.0
    parameters = Section.rectangle(0.1, 0.1).rod(E=E, nu=0.3, rho=7850.0)
    parameters |= {"GA2": k * E / 2.6 * 0.01, "GA3": k * E / 2.6 * 0.01}
    errors = []
    for cells in (8, 16):
        body = Body(straight(cells)["rod"], ancf_rod, rod(), **parameters)
        modes = EigenProblem(System(body)).solve(10)
        yield Number(f"rigid motions, {cells} cells", float(modes.rigid), 6.0, 0.0)
        for n, value in enumerate(FREE):
            near = np.sort(modes.omega[np.abs(modes.omega / value - 1.0).argsort()[:2]])
            for one in near:
                label = f"bending {n + 1}, {cells} cells"
                yield Number(label, float(one), value, 0.4 * ((n + 1.5) / cells) ** 4)
        errors.append(abs(float(near[0]) - value) / value)
    yield Number("order of the third", order(errors), 4.0, 0.5, 1.0)


# ---- buckling ----------------------------------------------------------------------------------
#: P L^2/sqrt(EI GJ) at which a narrow cantilever buckles sideways: zero of a Bessel function.
SIDEWAYS = 4.012599343578901
#: Stiffness the other way over EI -> that load over `SIDEWAYS`, about the bow before: shot.
BOWED = {1e2: 1.010373134921397, 1e4: 1.0001014121562948}


def narrow(stiff: float) -> tuple[StaticProblem, Body, Parameter, Parameter]:
    """Return a cantilever of length 1 and EI = 1, GJ = 0.8 under loads down and aside."""
    parameters: dict[str, Any] = {"EA": 1e7, "GA2": 1e7, "GA3": 1e7, "GJ": 0.8}
    body = Body(straight(16)["rod"], ancf_rod, rod(), EI2=stiff, EI3=1.0, **parameters)
    P, aside = Parameter("P"), Parameter("aside")
    load = force(body["end"], (0.0, lambda t: aside.value, lambda t: -P.value))
    system = System(body, terms=[fix(body["start"]), load])
    return StaticProblem(system, options=TIGHT), body, P, aside


@case("A51_lateral_buckling", "A. G. M. Michell, L. Prandtl (1899); values: shot", short=2)
def sideways() -> Iterator[Number | Curve]:
    """Narrow cantilever that buckles sideways, and its path with a small push aside."""
    critical = SIDEWAYS * math.sqrt(0.8)
    for stiff, right in BOWED.items():
        problem, body, P, aside = narrow(stiff)
        history = followed(problem, P, to=1.1 * critical, step=0.3 * critical)
        yield Number(f"loads found, stiffness {stiff:g}", float(len(history.bifurcations)), 1, 0)
        ratio = history.bifurcations[0].parameter / critical
        yield Number(f"P/P_cr, stiffness {stiff:g}", ratio, right, 1e-5)
    problem, body, P, aside = narrow(1e2)
    system, aside.value = problem.system, 1e-3 * critical
    problem.record("u", lambda: system.displacement(body["end"])[0])
    history = problem.follow(P, to=1.3 * critical, step=0.1 * critical)
    load, u = history["P"] / critical, history["u"].reshape(-1, 3)
    where = "displacement of the tip/L", "P/P_cr"
    yield Curve(where, "sideways", u[:, 1], load, ([0.0], [1.0]), "Prandtl")
    yield Curve(where, "down", -u[:, 2], load)


@case("A52_rod_buckled_column", "closed form by elliptic integrals; L. Euler (1744)", short=3)
def buckled() -> Iterator[Number | Curve]:
    """Pinned rod whose ends are brought together: thrust and deflection of the elastica."""
    parameters: dict[str, Any] = {
        "EA": 1e7,
        "GA2": 1e7,
        "GA3": 1e7,
        "GJ": 1.0,
        "EI2": 2.0,
        "EI3": 1.0,
    }
    body = Body(straight(32)["rod"], ancf_rod, rod(), **parameters)
    shorter, push = Parameter("shorter"), Parameter("push", 0.1)
    moved = fix(body["end"], ["x", "y", "z"], displacement=(lambda t: -shorter.value, 0.0, 0.0))
    middle = body.at((0.5, 0.0, 0.0))
    aside = force(middle, (0.0, lambda t: push.value, 0.0))
    supports = [fix(body["start"], ["x", "y", "z", "slope_y.z"]), moved]
    system = System(body, terms=[*supports, aside])
    problem = StaticProblem(system, options=TIGHT)
    problem.record("thrust", lambda: -moved.reaction(system).force[0] / math.pi**2)
    problem.record("v", lambda: system.displacement(middle)[0, 1])
    problem.solve()
    problem.follow(shorter, to=0.05, step=0.01)
    push.value = 0.0
    for part, (deflection, chord) in ELASTICA.items():
        problem.follow(shorter, to=chord, step=0.05)
        thrust = -float(moved.reaction(system).force[0]) / math.pi**2
        yield Number(f"P L^2/(pi^2 EI), shorter by {chord:.6f}", thrust, part, 1e-4)
        v = float(system.displacement(middle)[0, 1])
        yield Number(f"deflection, P = {part:g} P_cr", v, deflection, 1e-4)
        yield Number(f"unstable, P = {part:g} P_cr", unstable(problem), 0.0, 0.0)
    reference = [v for v, _ in ELASTICA.values()], list(ELASTICA)
    where = "deflection of the middle/L", "$P L^2/(\\pi^2 EI)$"
    path = problem.history
    bent = path["v"] > 0.15  # before that it is pushed aside
    yield Curve(
        where, "rod", path["v"][bent], path["thrust"][bent], reference, "elliptic integrals"
    )
