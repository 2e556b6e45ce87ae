# SPDX-License-Identifier: BSD-3-Clause
"""Rigid bodies that stick, slide, roll, tip and bounce: Coulomb's law in closed forms."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Array
from ..bodies.natural import RigidBody, RigidPoint
from ..catalogue.loads import gravity
from ..contact.contact import Contact
from ..contact.shapes import Plane
from ..solve.dynamics import DynamicProblem
from ..system import System
from ..terms.work import Potential
from .case import Number, case
from .contact_theory import Belt, coulomb_oscillator, roll, slide, thrown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..contact.laws import Coefficient

G = 9.81


def tilted(degrees: float) -> Any:
    """Return gravity beside a plane z = 0 that falls along x."""
    angle = math.radians(degrees)
    return gravity((G * math.sin(angle), 0.0, -G * math.cos(angle)))


def slab(
    mu: Coefficient,
    degrees: float = 0.0,
    at: float = 0.0,
    floor: Plane | None = None,
    **options: Any,
) -> tuple[RigidBody, Contact]:
    """Return a block of 1 kg, flat so that it does not rock, and its contact with the ground.

    Its weight presses its four corners in by 1e-6 m, where it begins.
    """
    size, deep = (0.2, 0.2, 2e-3), 1e-6
    down = G * math.cos(math.radians(degrees))
    place = (at, 0.0, size[2] / 2 - deep)
    block = RigidBody.box(size, position=place, name="block", mass=1.0, **options)
    return block, Contact(block, floor or Plane(), mu=mu, stiffness=down / deep)


def sphere(mu: float, degrees: float, speed: float = 0.0) -> tuple[System, RigidBody]:
    """Return a ball of 1 kg with R = 0.1 m on an inclined plane."""
    deep = 1e-6
    down = G * math.cos(math.radians(degrees))
    ball = RigidBody.sphere(
        0.1, position=(0.0, 0.0, 0.1 - deep), name="ball", mass=1.0, velocity=(speed, 0.0, 0.0)
    )
    floor = Contact(ball, Plane(), mu=mu, stiffness=down / deep)
    return System(ball, terms=[floor, tilted(degrees)]), ball


def after(system: System, body: RigidBody, *times: float, parts: int = 100) -> list[Array]:
    """Return place and velocity along x, and the spin about y, at times of a motion.

    `parts` : steps to each of them. Friction is there from the second step on: the first ones
    are short.
    """
    problem, rows = DynamicProblem(system, spectral_radius=0.8), []
    step = times[0] / parts
    problem.solve(to=0.1 * step, step=0.02 * step)
    for time in times:
        problem.solve(to=time, step=step)
        v = system.velocity(body.at((0.0, 0.0, 0.0)))[0, 0]
        rows.append(np.array([body.position(system)[0], v, body.angular_velocity(system)[1]]))
    return rows


def slid(mu: Coefficient, degrees: float, *times: float, speed: float = 0.0) -> list[Array]:
    """Return place and velocity down the slope of a block on an incline at times."""
    block, floor = slab(mu, degrees, velocity=(speed, 0.0, 0.0))
    system = System(block, terms=[floor, tilted(degrees)])
    return [values[:2] for values in after(system, block, *times)]


def _beyond(system: System, place: RigidPoint) -> float:
    """Return by how much a place has moved by more than 1e-5 m."""
    return float(np.abs(system.displacement(place)).max()) - 1e-5


@case("F01_incline", "Coulomb: sticks to atan(mu_s), tips where b/h < tan(angle)")
def incline() -> Iterator[Number]:
    """A plane is tilted slowly under a block: the angles at which it slides, or tips."""
    for mu, size, name in (
        ((0.4, 0.3), (0.2, 0.2, 2e-3), "slides"),
        (0.9, (0.1, 0.2, 0.3), "tips"),
    ):
        limit = math.atan(0.4) if name == "slides" else math.atan(size[0] / size[2])
        deep, rate = 1e-6 * size[2], 0.02 if name == "tips" else 0.04  # rad/s

        def weight(t: float, rate: float = rate) -> tuple[float, float, float]:
            return G * math.sin(rate * t), 0.0, -G * math.cos(rate * t)

        block = RigidBody.box(size, position=(0.0, 0.0, size[2] / 2 - deep), name="block", mass=1.0)
        floor = Contact(block, Plane(), mu=mu, stiffness=G / deep)
        system = System(block, terms=[floor, gravity(weight)])
        problem = DynamicProblem(system, spectral_radius=0.6)
        foot = block.at((0.0, 0.0, -size[2] / 2))
        problem.event(partial(_beyond, system, foot), terminate=True)
        problem.solve(to=1.2 * limit / rate, step=0.04)
        yield Number(
            f"angle at which it {name} [degrees]",
            math.degrees(rate * system.time),
            math.degrees(limit),
            1e-2,
        )


@case("D20_block_on_incline", "Coulomb; closed forms of each part of the motion")
def up_and_down() -> Iterator[Number]:
    """A block thrown up an incline comes to rest, and slides back or sticks."""
    angle = math.radians(30.0)
    up = G * (math.sin(angle) + 0.3 * math.cos(angle))
    down = slide(angle, 0.3, G)
    stop = 2.0 / up
    (x, _), (_, v) = slid(0.3, 30.0, stop, stop + 0.5, speed=-2.0)
    yield Number("30 degrees, mu = 0.3, 2 m/s up: way [m]", -x, 2.0**2 / (2.0 * up), 1e-3)
    yield Number("speed 0.5 s later [m/s]", v, 0.5 * down, 1e-2)
    angle = math.radians(15.0)
    up = G * (math.sin(angle) + 0.35 * math.cos(angle))
    stop = 1.5 / up
    (x, _), (y, v) = slid(0.35, 15.0, stop, 1.0, speed=-1.5)
    yield Number("15 degrees, mu = 0.35, 1.5 m/s up: way [m]", -x, 1.5**2 / (2.0 * up), 1e-3)
    yield Number("and it stays: way at 1 s [m]", -y, 1.5**2 / (2.0 * up), 1e-3)
    yield Number("its speed [m/s]", v, 0.0, 1e-9, 1.0)
    ((_, v),) = slid(0.3, 20.0, 1.0, speed=1.0)
    a = slide(math.radians(20.0), 0.3, G)
    yield Number("20 degrees, mu = 0.3, 1 m/s down: speed at 1 s [m/s]", v, 1.0 + a, 1e-3)


def spring(r_a: Any, *, k: Any) -> Any:
    """Return the energy of a spring along x that is relaxed at x = 0."""
    return k / 2 * r_a[0] ** 2


@case("D21_coulomb_oscillator", "each half period moves it by 2 mu m g/k less; then it sticks")
def oscillator() -> Iterator[Number]:
    """A mass on a spring with friction: turning points, and that it stays at the last."""
    turns, time = coulomb_oscillator(1.0, 100.0, 0.2 * G, 0.2)
    block, floor = slab(0.2, at=0.2)
    pull = Potential(spring, block.at((0.0, 0.0, -1e-3)), k=100.0)
    system = System(block, terms=[floor, pull, tilted(0.0)])
    problem = DynamicProblem(system, spectral_radius=0.8)
    half = time / (len(turns) - 1)
    for k, turn in enumerate(turns[1:], 1):
        problem.solve(to=k * half, step=half / 100)
        x = block.position(system)[0]
        yield Number(f"turning point {k} [m]", x, turn, 1e-4, 1.0)
    problem.solve(to=time + 0.5, step=half / 100)
    yield Number("place 0.5 s later [m]", block.position(system)[0], turns[-1], 1e-4, 1.0)
    speed = system.velocity(block.at((0.0, 0.0, 0.0)))[0, 0]
    yield Number("speed 0.5 s later [m/s]", speed, 0.0, 1e-9, 1.0)


@case("D22_belt", "closed form of the steady cycle of stick and slip", short=0)
def belt() -> Iterator[Number]:
    """A mass on a belt of 0.1 m/s, mu = 0.4 at rest and 0.3 sliding, held by a spring."""
    exact = Belt(1.0, 100.0, 0.1, (0.4, 0.3), G)
    moving = Plane(displacement=lambda t: (exact.v * t, 0.0, 0.0))
    block, floor = slab(exact.mu, floor=moving, velocity=(exact.v, 0.0, 0.0))
    pull = Potential(spring, block.at((0.0, 0.0, -1e-3)), k=exact.k)
    system = System(block, terms=[floor, pull, tilted(0.0)])
    problem, places = DynamicProblem(system, spectral_radius=0.3), list[float]()

    def x() -> float:
        return float(block.position(system)[0])

    problem.record("x", x)
    times = problem.event(floor, lambda: places.append(x()))
    begin = exact.start / exact.v
    run = problem.solve(to=begin + exact.slip + exact.stuck + 0.01, step=2e-3)
    (first, again, second), (place, there, _) = times, places
    yield Number("where it begins to slip [m]", place, exact.start, 1e-3)
    yield Number("duration of slip [s]", again - first, exact.slip, 1e-3)
    yield Number("duration of stick [s]", second - again, exact.stuck, 1e-3)
    yield Number("largest stretch [m]", run["x"].max(), exact.centre + exact.amplitude, 1e-3)
    end = 2.0 * exact.centre - exact.start
    yield Number("stretch where it sticks again [m]", there, end, 1e-3)


@case("D24_sphere_on_incline", "full sphere: rolls where tan(angle) <= 7/2 mu")
def on_incline() -> Iterator[Number]:
    """Spheres released on inclines and thrown on a plane: they roll, or slide and turn."""
    for degrees, mu in ((20.0, 0.3), (50.0, 0.2), (30.0, 0.1), (30.0, 0.17)):
        system, ball = sphere(mu, degrees)
        ((_, v, spin),) = after(system, ball, 0.3)
        a, turned = roll(math.radians(degrees), mu, G)
        label = f"{degrees:g} degrees, mu = {mu:g}"
        yield Number(f"acceleration: {label} [m/s^2]", v / 0.3, a, 1e-3)
        yield Number(f"R times the angular one: {label} [m/s^2]", 0.1 * spin / 0.3, turned, 3e-3)
    for speed in (3.0, 1.0):
        time, way, end = thrown(speed, 0.2, G)
        system, ball = sphere(0.2, 0.0, speed)
        (x, _, _), (_, v, spin) = after(system, ball, time, 1.5 * time, parts=200)
        yield Number(f"thrown at {speed:g} m/s: way to rolling [m]", x, way, 1e-3)
        yield Number(f"thrown at {speed:g} m/s: speed [m/s]", v, end, 1e-3)
        yield Number(f"thrown at {speed:g} m/s: it rolls [m/s]", 0.1 * spin, v, 1e-3, speed)


@case("F02_ball_on_spring", "m x'' = -k x while x < 0")
def bounce() -> Iterator[Number]:
    """A rigid ball on a stiff floor: it bounces as on a spring, and no energy is lost or won."""
    m, k, v = 0.0368614, 1e3, 0.2
    w = math.sqrt(k / m)
    ball = RigidBody.sphere(
        0.02, position=(0.0, 0.0, 0.02), mass=m, velocity=(0.0, 0.0, -v), name="ball"
    )
    system = System(ball, terms=[Contact(ball, Plane(), stiffness=k, damping=0.0, penetration=1.0)])
    problem = DynamicProblem(system, spectral_radius=1.0)
    problem.record("z", lambda: ball.position(system)[2])
    back = problem.event(lambda: ball.position(system)[2] - 0.02, direction=1)
    run = problem.solve(to=1.2 * math.pi / w, step=2e-5)
    yield Number("duration [s]", back[0], math.pi / w, 1e-5)
    yield Number("depth [m]", 0.02 - run["z"].min(), v / w, 1e-5)
    speed = system.velocity(ball.at((0.0, 0.0, 0.0)))[0, 2]
    yield Number("energy afterwards over that before", (speed / v) ** 2, 1.0, 1e-6)


@case("F03_ball_between_pads", "equilibrium; Coulomb: slips where N < W/(3 mu)")
def pads() -> Iterator[Number]:
    """A ball held by three pads that are pressed against it: forces, and when it slips."""
    R, m, k = 0.02, 0.0368614, 1e5
    weight = m * G

    def grip(N: float, mu: float) -> tuple[System, RigidBody, list[Contact]]:
        ball = RigidBody.sphere(R, mass=m, name="ball")
        touching = []
        for turn in (0.0, 2.0 * math.pi / 3.0, 4.0 * math.pi / 3.0):
            out = np.array([math.cos(turn), math.sin(turn), 0.0])
            pad = Plane(out * (R - N / k), normal=-out)
            pressed = Contact(ball, pad, mu=mu, stiffness=k, initial="press", name=f"pad {turn:g}")
            touching.append(pressed)
        system = System(
            ball, terms=[*touching, gravity((0.0, 0.0, lambda t: -G * min(20.0 * t, 1.0)))]
        )
        return system, ball, touching

    need = weight / (3.0 * 0.4)
    for share in (0.98, 1.02):
        system, ball, touching = grip(share * need, 0.4)
        problem = DynamicProblem(system, spectral_radius=0.6)
        problem.solve(to=0.05, step=1e-3)
        before = system.velocity(ball.at((0.0, 0.0, 0.0)))[0, 2]
        problem.solve(to=0.15, step=1e-3)
        fallen = -ball.position(system)[2]
        a = (before - system.velocity(ball.at((0.0, 0.0, 0.0)))[0, 2]) / 0.1
        if share > 1.0:
            up = [float(pad.force(system)[2]) for pad in touching]
            yield Number("vertical force of all pads [N]", sum(up), weight, 1e-3)
            yield Number("of one [N]", up[0], weight / 3.0, 1e-3)
            yield Number("sinks at 1.02 of the least force, in R", fallen / R, 0.0, 1e-3, 1.0)
        else:
            rest = G - 3.0 * 0.4 * share * need / m
            yield Number("acceleration at 0.98 of the least force [m/s^2]", a, rest, 1e-3)
