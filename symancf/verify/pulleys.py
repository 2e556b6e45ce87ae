# SPDX-License-Identifier: BSD-3-Clause
"""Tendons over pulleys and on drums, and knots of tendons: closed forms of statics and motion."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..bodies.natural import RigidBody
from ..bodies.plane import PlanarBody
from ..bodies.point import PointMass
from ..catalogue import joints
from ..catalogue.boundary import fix
from ..catalogue.loads import gravity
from ..catalogue.moments import moment
from ..catalogue.pulleys import Pulley, drum, pulley
from ..catalogue.tendon import Tendon
from ..catalogue.winches import winch
from ..places.ends import Ground
from ..solve.dynamics.problem import DynamicProblem
from ..solve.statics.problem import StaticProblem
from ..system import System
from ..values.parameter import Parameter
from .case import TIGHT, Number, case

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..arrays import Array

G, M1, M2, J = 9.81, 1.0, 1.2, 2e-3  # m/s^2, kg, kg, kg m^2
RADIUS, PIN, MU = 0.1, 0.02, 0.3  # m, m


def atwood(
    wheel: Pulley, tension: float, unit: float, EA: float, also: Sequence[RigidBody] = ()
) -> tuple[System, Tendon, PointMass]:
    """Return two masses on a cord over a wheel, pulled from the heavier one, lengths by unit."""
    R, H = RADIUS * unit, unit
    light, heavy = PointMass(M1, (-R, 0, -H)), PointMass(M2, (R, 0, -H))
    places: list[Any] = [light.centre, wheel, heavy.centre]
    cord = Tendon(places, EA=EA * unit, tension=(tension * unit, "end"))
    turns = [joints.revolute(body.at((0, 0, 0)), axis=(0, 1, 0)) for body in also]
    terms = [cord, gravity((0, 0, -G * unit)), *turns]
    return System(light, heavy, *also, terms=terms), cord, light


@case("T25_atwood", "free fall of two masses over a wheel: without friction, with a pin, with J")
def machine() -> Iterator[Number]:
    """Atwood's machine from rest, 0.5 s; lengths in m and in mm."""
    p = MU * PIN / RADIUS
    k = (1 + p) / (1 - p)  # T2 - T1 = p (T1 + T2)
    for unit in (1.0, 1e3):
        R, text = RADIUS * unit, f"unit {1 / unit:g} m"
        at = Ground((0, 0, 0))
        for mu, ratio, exact in ((0.0, 1.0, 1e-9), (MU, k, 2e-5)):
            acceleration = G * (M2 - ratio * M1) / (M2 + ratio * M1)
            wheel = pulley(at, bearing=(mu, PIN * unit), radius=R, axis=(0, 1, 0))
            tension = M2 * (G - acceleration)
            system, cord, light = atwood(wheel, tension, unit, 1e5)
            DynamicProblem(system).solve(to=0.5, step=1e-2)
            moved = system.displacement(light.centre)[0, 2] / unit
            name = f"mu_b = {mu:g}, {text}"
            yield Number(f"way [m], {name}", moved, acceleration / 8, exact)
            T = cord.tensions(system)
            yield Number(f"T2/T1, {name}", T[1] / T[0], ratio, 1e-9)
            lost = (1 - 1 / ratio) * tension * acceleration / 8
            heat = cord.dissipated(system) / unit**2
            yield Number(f"dissipated [J], {name}", heat, lost, 1e-4 if mu else 0.0)
        acceleration = G * (M2 - M1) / (M2 + M1 + J / RADIUS**2)
        spin = np.full(3, J * unit**2)
        wheel_body = RigidBody((0, 0, 0), mass=1.0, inertia=spin, name="wheel")
        wheel = pulley(wheel_body, grips=True, radius=R, axis=(0, 1, 0))
        tension = M1 * (G + acceleration)
        system, _, light = atwood(wheel, tension, unit, 1e6, [wheel_body])
        DynamicProblem(system).solve(to=0.5, step=2e-3)
        moved = system.displacement(light.centre)[0, 2] / unit
        yield Number(f"way [m], J = {J:g}, {text}", moved, acceleration / 8, 2e-5)


@case("T26_tackle_drum_post", "half the weight and twice the way; R phi; exp(mu phi) with turns")
def lifting() -> Iterator[Number]:
    """A block in two strands, a mass on a drum in statics and in motion, a cord around a post."""
    weight, EA, R = 5.0 * G, 1e6, RADIUS
    feed, free = Parameter("feed"), (0.0, 0.0)
    block = PlanarBody((0, -1), mass=5.0, inertia=0.01, name="block")
    above = pulley(Ground((2 * R, 0, 0)), radius=R, axis=(0, 0, -1), bearing=free)
    below = pulley(block, radius=R, bearing=free)
    places: list[Any] = [Ground((-R, 0, 0)), below, above, Ground((3 * R, -0.5, 0))]
    cord = Tendon(places, EA=EA, tension=weight / 2, end=winch(feed=feed))
    down = gravity((0, -G, 0))
    system = System(block, terms=[cord, down, fix(block, ["theta"])])
    feed.value = -0.4
    StaticProblem(system, options=TIGHT).solve()
    for k, T in enumerate(cord.tensions(system)):
        yield Number(f"T{k} / weight of the block", T / weight, 0.5, 1e-9)
    risen = float(block.displacement(system)[1])
    yield Number("way of the block [m], 0.4 m pulled in", risen, 0.2 * (1 + weight / 2 / EA), 1e-9)
    for steps in (1, 20):
        roll = PlanarBody((0, 0), mass=1.0, inertia=J, name="roll")
        load = PointMass(3.0, (R, -5, 0))
        cord = Tendon([load.centre, drum(roll, radius=R, turns=0.5)], EA=EA, tension=3 * G)
        turn = fix(roll, displacement=(0, 0, lambda t: 6 * math.pi * t))
        system = System(roll, load, terms=[cord, turn, down, fix(load, ["z"])])
        StaticProblem(system, options=TIGHT).solve(step=1 / steps)
        risen = float(system.displacement(load.centre)[0, 1])
        yield Number(f"way [m], three turns, {steps} steps", risen, 6 * math.pi * R, 1e-9)
    roll, torque = PlanarBody((0, 0), mass=1.0, inertia=J, name="roll"), 4.0
    load = PointMass(3.0, (R, -5, 0))
    acceleration = (torque / R - 3 * G) / (3 + J / R**2)
    end = drum(roll, radius=R, turns=0.5)
    cord = Tendon([load.centre, end], EA=EA, tension=3 * (G + acceleration))
    hinge = fix(roll, ["x", "y"])
    terms = [cord, hinge, down, fix(load, ["z"]), moment(roll.at((0, 0)), torque)]
    system = System(roll, load, terms=terms)
    DynamicProblem(system).solve(to=0.5, step=2e-3)
    risen = float(system.displacement(load.centre)[0, 1])
    yield Number("way [m], drum under a torque, 0.5 s", risen, acceleration / 8, 1e-5)
    for turns in (0, 1):
        mass, F = PointMass(1.0, (-R, -1, 0)), Parameter("F", 1.0)
        post = pulley(Ground((0, 0, 0)), radius=R, axis=(0, 0, -1), turns=turns)
        ends: list[Any] = [mass.centre, post, Ground((R, -1, 0))]
        cord = Tendon(ends, EA=1e4, mu=0.2, start=winch(force=F))
        system = System(mass, terms=[cord, fix(mass)])
        StaticProblem(system, options=TIGHT).solve()
        T, wrap = cord.tensions(system), math.pi * (1 + 2 * turns)
        yield Number(f"T1/T0, {turns} turns", T[1] / T[0], math.exp(-0.2 * wrap), 1e-9)


def knot(angle: float, fixed: float, loads: tuple[float, float, float]) -> tuple[Array, Array]:
    """Return where a knot of three cords over posts comes to rest, and their directions.

    Each runs from the knot over a post to a weight, here a winch.
    """
    posts = [
        np.array([math.cos(a), math.sin(a), 0.0])
        for a in (angle, angle + 2 * math.pi / 3, angle + 4 * math.pi / 3)
    ]
    centre = PointMass(0.1, (fixed, fixed / 2, 0.0))
    cords = [
        Tendon([centre.centre, Ground(x), Ground(x - [0, 0, 1])], EA=1e4, tension=F,
               end=winch(force=F), name=f"cord {k}")
        for k, (x, F) in enumerate(zip(posts, loads, strict=True))
    ]  # fmt: skip
    system = System(centre, terms=[*cords, fix(centre, ["z"])])
    StaticProblem(system, options=TIGHT).solve()
    place = system.position(centre.centre)[0]
    u = np.array([(x - place) / np.linalg.norm(x - place) for x in posts])
    return place, u


@case("T27_knot_of_tendons", "balance of three tensions: 120 degrees; the law of cosines")
def branches() -> Iterator[Number]:
    """Three tendons end at a mass, each pulled by a force over a post."""
    for angle in (0.0, 0.4):
        place, u = knot(angle, 0.1, (2.0, 2.0, 2.0))
        yield Number(f"way to the middle [m], turned {angle:g}", np.abs(place).max(), 0.0, 1e-9)
        for k in range(3):
            between = math.degrees(math.acos(float(u[k] @ u[k - 1])))
            yield Number(f"angle {k} [degrees], turned {angle:g}", between, 120.0, 1e-9)
    a, b, c = loads = 2.0, 2.5, 3.0
    _, u = knot(0.0, 0.05, loads)
    for i, j, x, y, z in ((0, 1, a, b, c), (1, 2, b, c, a), (2, 0, c, a, b)):
        expected = math.degrees(math.acos((z**2 - x**2 - y**2) / (2 * x * y)))
        between = math.degrees(math.acos(float(u[i] @ u[j])))
        yield Number(f"angle of {x:g} N and {y:g} N [degrees]", between, expected, 1e-8)
