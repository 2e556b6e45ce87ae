# SPDX-License-Identifier: BSD-3-Clause
"""Tendons: friction in eyelets, an arm on a hinge, a cantilever of chords."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from ..bodies.body import Body
from ..bodies.natural import RigidBody
from ..bodies.point import PointMass
from ..catalogue import joints
from ..catalogue.boundary import fix
from ..catalogue.tendon import Tendon
from ..catalogue.winches import eyelet, winch
from ..elements import ancf_rod, ancf_thick_plate, ancf_thin_plate
from ..energies import kirchhoff, rod, saint_venant_kirchhoff
from ..mesh import Mesh
from ..places.ends import Ground
from ..solve.statics.problem import StaticProblem
from ..system import System
from ..terms.work import Potential
from ..values.parameter import Parameter
from .case import TIGHT, Number, case

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..arrays import Array
    from ..terms.quantities import E, S, V

TURNS, MU = np.radians([30.0, 90.0, 60.0, 45.0]), 0.25
ARM, BESIDE, COIL, EA = 0.03, 0.01, 0.05, 500.0  # m, m, N m/rad, N
AXIS = np.array([1.0, -2.0, 0.5]) / math.sqrt(5.25)


def turned(points: Array, angle: float) -> Array:
    """Return points (n, 3) turned about `AXIS` (Rodrigues)."""
    across = np.cross(AXIS, points)
    twice = np.cross(AXIS, across)
    return np.asarray(points + math.sin(angle) * across + (1 - math.cos(angle)) * twice)


def polygon(unit: float, angle: float) -> Array:
    """Return the corners of a line that turns by `TURNS`, lengths in `unit` a metre."""
    points = [np.zeros(3)]
    headings = np.append(0.0, np.cumsum(TURNS))
    for a, length in zip(headings, (1.0, 0.5, 0.7, 0.4, 0.9), strict=True):
        points.append(points[-1] + length * np.array([math.cos(a), math.sin(a), 0.0]))
    return turned(unit * np.array(points), angle)


@case("T20_capstan_eyelets", "T = F exp(-mu sum theta), and the reverse wave")
def capstan() -> Iterator[Number]:
    """A cord through four eyelets: pulled to 100 N in one or ten steps, then let go."""
    rest = np.append(np.cumsum(TURNS[::-1])[::-1], 0.0)
    loaded = 100.0 * np.exp(-MU * rest)
    for text, steps, unit, angle in (
        ("1 step", 1, 1.0, 0.0),
        ("10 steps", 10, 1.0, 0.0),
        ("1 step, mm, turned", 1, 1e3, 0.7),
    ):
        X, F = polygon(unit, angle), Parameter("F")
        mass = PointMass(1.0, X[0])
        cord = Tendon([mass.centre, Ground(X[1:])], EA=1e5, mu=MU, end=winch(force=F))
        system = System(mass, terms=[cord, fix(mass)])
        problem = StaticProblem(system, options=TIGHT)
        for F.value in np.linspace(0.0, 100.0, steps + 1)[1:]:
            problem.solve()
        for k, T in enumerate(cord.tensions(system)[:-1]):
            yield Number(f"T{k} [N], pulled by 100 N, {text}", T, loaded[k], 1e-10)
        for F.value in (60.0, 20.0, 1.0):
            problem.solve()
            back = np.minimum(loaded, F.value * np.exp(MU * rest))
            for k in (0, 3):
                T = cord.tensions(system)[k]
                yield Number(f"T{k} [N], let go to {F.value:g} N, {text}", T, back[k], 1e-9)


@case("T23_pretension_by_friction", "T = T0 exp(-mu sum theta), pulled from either end; at rest")
def pretension() -> Iterator[Number]:
    """A cord through four fixed eyelets, pulled before and then held, stiff and soft."""
    total = float(TURNS.sum())
    for stiffness, strain in ((1e5, 1e-3), (1e7, 1e-7), (1.0, 0.5)):
        for pulled in ("start", "end"):
            X, T0 = polygon(1.0, 0.7), strain * stiffness
            mass = PointMass(1.0, X[0])
            places = [mass.centre, Ground(X[1:])]
            cord = Tendon(places, EA=stiffness, mu=MU, tension=(T0, pulled))
            system = System(mass, terms=[cord, fix(mass)])
            StaticProblem(system, options=TIGHT).solve()
            T = cord.tensions(system)[:: 1 if pulled == "start" else -1]
            text = f"strain {strain:g}, pulled at its {pulled}"
            yield Number(f"T0/EA, {text}", T[0] / stiffness, strain, 1e-7)
            yield Number(f"T4/T0, {text}", T[-1] / T[0], math.exp(-MU * total), 1e-7)
            yield Number(f"slip [m], {text}", np.abs(cord.slips(system)).max(), 0.0, 1e-14)


def distance(theta: float) -> float:
    """Return the distance of the eyelets of an arm that has turned by theta."""
    x = ARM * math.cos(theta) - BESIDE * math.sin(theta) + ARM
    return math.hypot(x, ARM * math.sin(theta) + BESIDE * math.cos(theta) - BESIDE)


@case("T21_tendon_on_hinge", "root of the balance of moments about the hinge")
def hinge() -> Iterator[Number]:
    """An arm with a spring in its hinge is drawn by 2, 5 and 10 mm, each in one step."""

    def coil(e1_a: V, e1_b: V, e3_b: V, *, k: S) -> E:
        return k / 2 * sp.atan2(e1_a.dot(e3_b), e1_a.dot(e1_b)) ** 2

    for text, stiffness in (("", EA), (", inextensible", math.inf)):
        feed = Parameter("feed")
        arm = RigidBody.box((0.1, 0.01, 0.02), position=(0.05, 0.0, 0.0), rho=1e3, name="arm")
        root = arm.at((-0.05, 0.0, 0.0))
        places = [Ground((-ARM, 0.0, BESIDE)), arm.at((ARM - 0.05, 0.0, BESIDE))]
        cord = Tendon(places, EA=stiffness, start=winch(feed=feed))
        terms = [joints.revolute(root, axis=(0, 1, 0)), Potential(coil, root, Ground(), k=COIL)]
        system = System(arm, terms=[*terms, cord])
        problem = StaticProblem(system, options=TIGHT)
        for drawn in (0.002, 0.005, 0.01):
            feed.value = -drawn
            problem.solve()
            expected = hinged(drawn, stiffness)
            e = np.subtract(*(system.position(arm.at((x, 0, 0)))[0] for x in (0.05, -0.05)))
            theta = math.atan2(e[2], e[0])
            yield Number(f"angle [rad], {1e3 * drawn:g} mm{text}", theta, expected, 1e-9)
        feed.value = 0.002
        problem.solve()
        yield Number(f"tension [N], let go{text}", cord.tensions(system)[0], 0.0, 0.0)


def hinged(drawn: float, stiffness: float) -> float:
    """Return the angle of the arm."""
    length = 2 * ARM - drawn

    def balance(theta: float) -> float:
        if math.isinf(stiffness):
            return distance(theta) - length
        sine, cosine = math.sin(theta), math.cos(theta)
        x, y = ARM * cosine - BESIDE * sine, ARM * sine + BESIDE * cosine
        slope = ((x + ARM) * -y + (y - BESIDE) * x) / distance(theta)
        return COIL * theta + stiffness * (distance(theta) / length - 1.0) * slope

    return float(brentq(balance, 1e-9, 1.5, xtol=1e-15, rtol=1e-14))


@case("T22_tendon_cantilever", "elastica of a chord; exp(-mu sum theta)")
def cantilever() -> Iterator[Number]:
    """A soft rod with a tendon through eyelets beside it; m and mm."""
    length, parts, beside, pulled = 0.2, 4, 5e-3, 1.0
    area, inertia = math.pi * 6e-3**2, math.pi * 6e-3**4 / 4
    for unit in (1.0, 1e3):
        E, G = 1e6 / unit**2, 1e6 / unit**2 / 2.98
        given: dict[str, Any] = {
            "EA": E * area * unit**2, "GA2": 0.9 * G * area * unit**2,
            "GA3": 0.9 * G * area * unit**2, "GJ": 2 * G * inertia * unit**4,
            "EI2": E * inertia * unit**4, "EI3": E * inertia * unit**4,
        }  # fmt: skip
        mesh = Mesh.box((length * unit,), (4 * parts,), cell="line3")
        body = Body(mesh["body"], ancf_rod, rod(), name="rod", **given)
        x = np.linspace(0.0, length * unit, parts + 1)
        eyelets = eyelet(body.at(np.stack([x, 0 * x, 0 * x], axis=1)), (0.0, beside * unit))
        for mu in (0.0, 0.3):
            cord = Tendon([eyelets], EA=2e3, mu=mu, start=winch(force=pulled))
            system = System(body, terms=[fix(body["x0"]), cord])
            StaticProblem(system, options=TIGHT).solve()
            if mu:
                T, theta = cord.tensions(system), cord.angles(system).sum()
                ratio = math.exp(-mu * theta)
                yield Number(f"T3/T0, mu = 0.3, unit {1 / unit:g} m", T[-1] / T[0], ratio, 1e-9)
                continue
            axis = system.gradient(body["x1"])[0][:, 0]
            turn = math.atan2(axis[2], axis[0])
            expected = 2 * parts * arch(given, length * unit / parts / 2, beside * unit, pulled)
            yield Number(f"angle of the tip [rad], unit {1 / unit:g} m", turn, expected, 1e-3)


@case("T24_eyelets_on_plates", "F L^3/(3 EI); elastica of a chord; exp(-mu sum theta)")
def plates() -> Iterator[Number]:
    """A strip: drawn up at both corners of its end, and bent by a cord beside its middle."""
    length, width, thick, E = 0.2, 0.02, 2e-3, 1e8
    section = {"EA": E * width * thick, "EI2": E * width * thick**3 / 12}
    section["GA2"] = 5 / 12 * section["EA"]
    far, pulled, parts, beside = 50.0, 1e-3, 4, 5e-3
    corners = [(length, 0.0, 0.0), (length, width, 0.0)]
    mesh = Mesh.box((length, width), (4 * parts, 2))
    given: dict[str, Any] = {"E": E, "nu": 0.0, "thickness": thick}
    for element, law, exact in (
        (ancf_thin_plate, kirchhoff(), 5e-4),
        (ancf_thick_plate, saint_venant_kirchhoff(), 6e-3),
    ):
        for mu in (0.0, 0.2):
            strip = Body(mesh["body"], element, law, name="strip", **given)
            above = [Ground((x, y, far)) for x, y, _ in corners]
            places = [above[0], strip.at(corners), above[1]]
            cord = Tendon(places, EA=10.0, mu=mu, start=winch(force=pulled))
            system = System(strip, terms=[fix(strip["x0"]), cord])
            StaticProblem(system, options=TIGHT).solve()
            up = cord.tensions(system)[[0, 2]]
            deflection = system.displacement(strip.at(corners))[:, 2].mean()
            expected = up.sum() * length**3 / 3 / section["EI2"]
            text = f"{element.name}, mu = {mu:g}"
            yield Number(f"deflection [m], {text}", deflection, expected, exact)
            ratio = math.exp(-mu * cord.angles(system).sum())
            yield Number(f"T2/T0, {text}", up[1] / up[0], ratio, 1e-9)
    strip = Body(mesh["body"], ancf_thick_plate, saint_venant_kirchhoff(), name="strip", **given)
    x = np.linspace(0.0, length, parts + 1)
    line = np.stack([x, 0 * x + width / 2, 0 * x], axis=1)
    cord = Tendon([eyelet(strip.at(line), (0.0, beside))], EA=2e3, start=winch(force=0.5))
    system = System(strip, terms=[fix(strip["x0"]), cord])
    StaticProblem(system, options=TIGHT).solve()
    along = system.gradient(strip.at(line[-1]))[0][:, 0]
    turn = math.atan2(along[2], along[0])
    expected = 2 * parts * arch(section, length / parts / 2, beside, 0.5)
    yield Number("angle of the end [rad], ancf_thick_plate", turn, expected, 6e-3)


def arch(section: dict[str, float], half: float, beside: float, T: float) -> float:
    """Return the angle of half of the rod between two eyelets, with stretch and shear."""
    shear = 1 / section["GA2"] - 1 / section["EA"]

    def slope(s: float, y: Array) -> list[float]:
        turn = 1 + T * math.cos(y[0]) * shear
        return [T * y[1] / section["EI2"], -math.sin(y[0]) * turn]

    def end(d: float) -> Array:
        solution = solve_ivp(slope, (0.0, half), [0.0, d], rtol=1e-10, atol=1e-14)
        return np.asarray(solution.y[:, -1])

    def miss(d: float) -> float:
        theta, at = end(d)
        return float(at - beside * math.cos(theta))

    return float(end(brentq(miss, beside, 2 * beside))[0])
