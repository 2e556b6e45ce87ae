# SPDX-License-Identifier: BSD-3-Clause
"""Paths of equilibria with contact: an arch that snaps through onto a floor."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import symancf as sa
from symancf.bench.robust import CASES
from symancf.elements import hex8, hex8_plain
from symancf.energies import neo_hooke
from symancf.verify.contact_rigid import G, slab, spring, tilted
from symancf.verify.contact_theory import Belt, coulomb_oscillator
from tests.refusals import refused

if TYPE_CHECKING:
    import sympy as sp

    from symancf.values.parameter import Scalar

LATE = 5e-4  # s
CELLS, RISE, THICK, FLOOR = 24, 0.05, 0.02, -0.003


def arch(mu: float) -> tuple[sa.System, sa.Contact, sa.Parameter, sa.Body]:
    """A shallow arch, clamped, with a load P on its top, above a floor."""
    x, s = np.linspace(0.0, 1.0, CELLS + 1), np.linspace(0.0, 1.0, 3)
    at = np.stack(np.meshgrid(x, [0.0, 0.02], s, indexing="ij"), axis=-1).reshape(-1, 3)
    points = at.copy()
    points[:, 2] = RISE * np.sin(np.pi * at[:, 0]) + THICK * (at[:, 2] - 0.5)
    number = np.arange(len(points)).reshape(CELLS + 1, 2, 3)
    near = [(0, 0), (1, 0), (1, 1), (0, 1)]
    cells = [
        [number[i + a, b, k + c] for c in (0, 1) for a, b in near]
        for i in range(CELLS)
        for k in (0, 1)
    ]
    below = [[number[i + a, b, 0] for b, a in near] for i in range(2, CELLS - 2)]
    ends = np.concatenate([number[0].ravel(), number[-1].ravel()])
    regions = {"ends": ("vertex", ends[:, None]), "below": ("quad", np.array(below))}
    mesh = sa.Mesh.from_arrays(points, {"hexahedron": cells}, regions)
    body = sa.Body(mesh["all"], hex8_plain, neo_hooke(), mu=0.385, lam=0.577, name="arch")
    P, top = sa.Parameter("P", 0.0), body.at((0.5, 0.01, RISE))
    contact = sa.Contact(body["below"], sa.Plane((0.0, 0.0, FLOOR)), mu=mu, name="floor")
    push = sa.Potential(lambda r_a, *, P: P * r_a[2], top, P=P)
    held = [sa.fix(body["ends"]), sa.fix(body["all"], "y")]
    return sa.System(body, terms=[*held, push, contact]), contact, P, body


@pytest.mark.parametrize("mu", [0.0, pytest.param(0.3, marks=pytest.mark.collective)])
def test_a_path_turns_where_it_meets_a_floor(mu: float) -> None:
    system, contact, P, body = arch(mu)
    problem = sa.StaticProblem(system)
    history = problem.follow(P, to=1e-6, step=1e-8, steps=100)
    highest, lowest = history.limit_points
    assert (highest.kind, lowest.kind) == ("maximum", "minimum")
    assert not history.bifurcations
    assert P.value == 1e-6
    # the path falls until the floor is reached, where it turns at once
    assert lowest.parameter < 0.995 * highest.parameter
    assert contact.force(system)[2] > 0.5 * (P.value - lowest.parameter)
    system.state[:] = lowest.state
    low = (system.position(body["below"])[:, 2]).min()
    assert low == pytest.approx(FLOOR, abs=0.05 * THICK)
    assert abs(contact.force(system)[2]) < 1e-3 * lowest.parameter


def test_contact_begins_and_ends_in_events_of_a_motion() -> None:
    """A ball falls on a stiff floor and is thrown back."""
    g, drop, k = 9.81, 0.1, 1e5
    ball = sa.RigidBody.sphere(0.1, position=(0.0, 0.0, 0.1 + drop), rho=1000.0)
    contact = sa.Contact(ball, sa.Plane(), stiffness=k, damping=0.0)
    system = sa.System(ball, terms=[contact, sa.gravity((0.0, 0.0, -g))])
    assert contact.clearance(system) == pytest.approx(drop)
    problem = sa.DynamicProblem(system, spectral_radius=1.0)
    begins = problem.event(lambda: contact.clearance(system), direction=-1)
    ends = problem.event(lambda: contact.clearance(system), direction=1)
    problem.solve(0.2, step=5e-4)
    fall, w = np.sqrt(2.0 * drop / g), np.sqrt(k / (4.0 / 3.0 * np.pi * 0.1**3 * 1000.0))
    lasts = (np.pi + 2.0 * np.arctan(np.sqrt(g / (2.0 * drop)) / w)) / w
    assert begins == [pytest.approx(fall, rel=1e-10)]
    assert ends == [pytest.approx(fall + lasts, rel=1e-4)]
    assert contact.clearance(system) > 0.0


@pytest.mark.parametrize("speed", [0.0, 1.0])
def test_a_first_touch_is_an_event_of_the_contact(speed: float) -> None:
    """A ball falls on a floor with friction, and is thrown back: it touches once, and parts.

    Thrown aslant it slips where it touches, which is one event, until it rolls.
    """
    drop, k, radius = 0.1, 1e5, 0.1
    way = (speed, 0.0, 0.0)
    ball = sa.RigidBody.sphere(radius, (0.0, 0.0, radius + drop), rho=1000.0, velocity=way)
    floor = sa.Contact(ball, sa.Plane(), mu=0.3, stiffness=k, damping=0.0)
    system = sa.System(ball, terms=[floor, sa.gravity((0.0, 0.0, -G))])
    problem = sa.DynamicProblem(system, spectral_radius=1.0)
    called: list[float] = []
    times = problem.event(floor, lambda: called.append(system.time))
    problem.solve(0.2, step=5e-4)
    assert times == called
    fall, w = np.sqrt(2.0 * drop / G), np.sqrt(k / (4.0 / 3.0 * np.pi * radius**3 * 1000.0))
    lasts = (np.pi + 2.0 * np.arctan(np.sqrt(G / (2.0 * drop)) / w)) / w
    assert times[0] == pytest.approx(fall, rel=1e-9)
    assert times[-1] == pytest.approx(fall + lasts, rel=1e-4)
    assert len(times) == (3 if speed else 2)
    rubbed, energy = problem.energies.friction, problem.energies.kinetic
    assert rubbed > 1e-3 * energy if speed else rubbed == pytest.approx(0.0, abs=1e-12 * energy)


def test_a_last_touch_is_an_event_of_the_contact() -> None:
    """A ball that rests on a floor with friction is lifted by a force that grows in time."""
    mass, k, radius, growth = 2.0, 1e5, 0.1, 200.0
    at_rest = radius - mass * G / k
    ball = sa.RigidBody.sphere(radius, (0.0, 0.0, at_rest), mass=mass)
    floor = sa.Contact(ball, sa.Plane(), mu=0.3, stiffness=k, damping=0.0, initial="press")
    lift = sa.force(ball.centre, (0.0, 0.0, lambda t: growth * t))
    problem = sa.DynamicProblem(
        sa.System(ball, terms=[floor, lift, sa.gravity((0.0, 0.0, -G))]), spectral_radius=1.0
    )
    times = problem.event(floor)
    step = 5e-4
    problem.solve(0.12, step=step)
    w, weight = np.sqrt(k / mass), mass * G / growth  # k z = growth (t - sin(w t) / w) - m g
    parts = brentq(lambda t: t - np.sin(w * t) / w - weight, 0.5 * weight, 2.0 * weight)
    assert times == [pytest.approx(parts, rel=(w * step) ** 2 / 12.0)]  # its period is that off


@pytest.mark.collective
def test_sliding_begins_in_an_event_with_its_own_coefficient() -> None:
    """A block on a belt that a spring holds: from the event on it slides with mu = 0.3, not 0.4."""
    exact = Belt(1.0, 400.0, 0.2, (0.4, 0.3), G)

    def speed_off(located: bool) -> tuple[float, list[float]]:
        belt = sa.Plane(displacement=lambda t: (exact.v * t, 0.0, 0.0))
        block, floor = slab(exact.mu, floor=belt, velocity=(exact.v, 0.0, 0.0))
        pull = sa.Potential(spring, block.at((0.0, 0.0, -1e-3)), k=exact.k)
        system = sa.System(block, terms=[floor, pull, tilted(0.0)])
        problem = sa.DynamicProblem(system, spectral_radius=0.8)
        begins = problem.event(floor) if located else []
        problem.solve(to=exact.start / exact.v + 0.05, step=2e-3)
        w = np.sqrt(exact.k / exact.m)
        phase = w * 0.05 + np.arctan2(w * (exact.start - exact.centre), exact.v)
        speed = block.coordinates(system, system.rate)[0, 0]
        return abs(speed - exact.amplitude * w * np.cos(phase)), begins

    (late, _), (off, begins) = speed_off(located=False), speed_off(located=True)
    assert begins == [pytest.approx(exact.start / exact.v, abs=5e-4)]  # all corners at once
    assert late > 5e-4
    assert off < 2e-4


def test_slip_that_ends_is_located_as_well() -> None:
    """A block on a belt slips, sticks, and slips again."""
    exact = Belt(1.0, 400.0, 0.2, (0.4, 0.3), G)
    belt = sa.Plane(displacement=lambda t: (exact.v * t, 0.0, 0.0))
    block, floor = slab(exact.mu, floor=belt, velocity=(exact.v, 0.0, 0.0))
    pull = sa.Potential(spring, block.at((0.0, 0.0, -1e-3)), k=exact.k)
    system = sa.System(block, terms=[floor, pull, tilted(0.0)])
    problem = sa.DynamicProblem(system, spectral_radius=0.3)
    times, begins = problem.event(floor), exact.start / exact.v
    problem.solve(to=begins + exact.slip + exact.stuck + 0.01, step=2e-3)
    for time in (begins, begins + exact.slip, begins + exact.slip + exact.stuck):
        assert np.abs(np.array(times) - time).min() < LATE


def test_slip_that_turns_is_located() -> None:
    """A mass on a spring with friction turns, and stays where the spring is too weak."""
    turns, time = coulomb_oscillator(1.0, 400.0, 0.3 * G, 0.05)
    block, floor = slab(0.3, at=turns[0])
    pull = sa.Potential(spring, block.at((0.0, 0.0, -1e-3)), k=400.0)
    system = sa.System(block, terms=[floor, pull, tilted(0.0)])
    problem = sa.DynamicProblem(system, spectral_radius=0.8)
    places: list[float] = []
    problem.event(floor, lambda: places.append(block.position(system)[0]))
    problem.solve(to=time + 0.05, step=2e-3)
    for turn in turns[1:]:
        assert np.abs(np.array(places) - turn).min() < 1e-3 * turns[0]
    assert block.position(system)[0] == pytest.approx(turns[-1], abs=1e-3 * turns[0])


def tall(mu: tuple[float, float], **options: Any) -> tuple[sa.RigidBody, sa.Contact]:
    """A block whose height is a fifth of its length, on a floor."""
    size = (0.2, 0.2, 0.04)
    block = sa.RigidBody.box(size, position=(0.0, 0.0, 0.02 - 1e-6), mass=1.0, **options)
    return block, sa.Contact(block, sa.Plane(), mu=mu, stiffness=G / 1e-6)


@pytest.mark.parametrize("angle", [0.0, 0.3, np.pi / 4.0])
@pytest.mark.collective
def test_a_tall_block_slips_where_no_corner_sticks_any_more(angle: float) -> None:
    """The pull loads its corners unequally: those at the back bear less, and slide a bit first."""
    block, floor = tall((0.4, 0.3))
    c, s = np.cos(angle), np.sin(angle)
    pull = sa.gravity((lambda t: 20.0 * c * t, lambda t: 20.0 * s * t, -G))
    problem = sa.DynamicProblem(sa.System(block, terms=[floor, pull]), spectral_radius=0.8)
    begins = problem.event(floor, terminate=True)
    problem.solve(to=0.25, step=2e-3)
    assert begins == [pytest.approx(0.4 * G / 20.0, rel=3e-3)]


def test_corners_slide_with_their_own_coefficient_about_one_that_sticks() -> None:
    """A load on a corner holds it, a push at the opposite one turns the block about it."""
    block, floor = tall((0.4, 0.3))
    heel, toe = block.at((-0.1, -0.1, -0.02)), block.at((0.1, 0.1, -0.02))
    load = sa.Potential(lambda r_a: 40.0 * r_a[2], heel)
    push = sa.Potential(lambda r_a: 3.0 * (r_a[0] - r_a[1]) / 2**0.5, toe)
    system = sa.System(block, terms=[floor, load, push, tilted(0.0)])
    problem = sa.DynamicProblem(system, spectral_radius=0.8)
    problem.solve(to=0.03, step=5e-4)
    before = block.angular_velocity(system)[2]
    problem.solve(to=0.06, step=5e-4)
    turning = 3.0 * 0.2 * 2**0.5 - 0.3 * G * 0.2  # the toe is lifted: two corners bear the weight
    assert abs(block.angular_velocity(system)[2] - before) == pytest.approx(
        turning / (2.0 / 3.0 * 0.2**2) * 0.03, rel=5e-3
    )


def test_friction_that_depends_on_the_speed_is_of_second_order() -> None:
    """A block slides with mu = a + b v: v' = -g (a + b v) in closed form."""
    a, b, T = 0.2, 0.3, 0.4

    def mu(v: sp.Expr, *, a: sp.Expr, b: sp.Expr) -> sp.Expr:
        return a + b * v

    def off(steps: int) -> np.ndarray:
        block, _ = slab(0.0, velocity=(2.0, 0.0, 0.0))
        floor = sa.Contact(block, sa.Plane(), mu=mu, a=a, b=b, stiffness=G / 1e-6)
        system = sa.System(block, terms=[floor, tilted(0.0)])
        problem = sa.DynamicProblem(system, spectral_radius=0.8)
        problem.solve(to=0.01, step=5e-4)
        x, v = block.position(system)[0], block.coordinates(system, system.rate)[0, 0]
        problem.solve(to=0.01 + T, step=T / steps)
        fall = np.exp(-b * G * T)
        speed = (v + a / b) * fall - a / b
        way = (v + a / b) * (1.0 - fall) / (b * G) - a / b * T
        after = block.position(system)[0], block.coordinates(system, system.rate)[0, 0]
        return np.abs([after[0] - x - way, after[1] - speed])

    coarse, fine = off(25), off(50)
    assert (coarse > 3.5 * fine).all()  # with the coefficient of the last step 2
    assert (fine < (4e-4, 1.2e-3)).all()  # 1e-2, 3.4e-2 with it


def test_slip_located_with_a_function_of_the_speed_begins_at_rest() -> None:
    """A block that a growing force drags: mu falls with the speed from that at rest."""

    def mu(v: sp.Expr, *, s: sp.Expr) -> sp.Expr:
        return s / (1 + v)

    def speed(located: bool) -> tuple[float, list[float]]:
        block, _ = slab(0.0)
        floor = sa.Contact(block, sa.Plane(), mu=mu, s=0.4, stiffness=G / 1e-6, name="floor")
        pull = sa.gravity((lambda t: 20.0 * t, 0.0, -G))
        system = sa.System(block, terms=[floor, pull])
        problem = sa.DynamicProblem(system, spectral_radius=0.8)
        begins = problem.event(floor) if located else []
        problem.solve(to=0.28, step=2e-3)
        return float(block.coordinates(system, system.rate)[0, 0]), begins

    begin = 0.02 * G  # where 20 t = 0.4 g

    def rate(t: float, v: np.ndarray) -> np.ndarray:
        return 20.0 * t - 0.4 * G / (1.0 + v)

    exact = solve_ivp(rate, (begin, 0.28), [0.0], rtol=1e-10, atol=1e-12).y[0, -1]
    (late, _), (now, begins) = speed(located=False), speed(located=True)
    # the couple of friction and weight takes 0.4 % from two corners
    assert begins[0] == pytest.approx(begin, rel=6e-3)
    assert now == pytest.approx(exact, rel=2e-3)
    assert late == pytest.approx(exact, rel=1e-2)


def test_there_is_no_slip_to_be_located_without_friction() -> None:
    ball = sa.RigidBody.sphere(0.1, position=(0.0, 0.0, 0.2), rho=1000.0)
    contact = sa.Contact(ball, sa.Plane(), stiffness=1e5, name="smooth")
    problem = sa.DynamicProblem(sa.System(ball, terms=[contact]))
    with refused(sa.ParameterError, asked="function", given="smooth"):
        problem.event(contact)


def test_flat_faces_that_begin_to_press_are_on_the_path() -> None:
    """A strip bent to a U between plates: its flat arms touch them without pressure at first."""
    arm, r, h = 1.0, 0.25, 0.1

    def bend(X: np.ndarray) -> np.ndarray:
        s, out = X[:, 0], r - h / 2 + X[:, 2]
        angle = np.clip((s - arm) / r, 0.0, np.pi)
        along = np.minimum(s, arm) - np.maximum(s - arm - np.pi * r, 0.0)
        return np.stack([along + out * np.sin(angle), X[:, 1], out * np.cos(angle)], axis=1)

    mesh = sa.Mesh.box((2 * arm + np.pi * r, 0.1, h), (24, 1, 2), warp=bend)
    strip = sa.Body(mesh["body"], hex8_plain, neo_hooke(), mu=0.357, lam=1.429, name="strip")
    top = sa.Plane((0.0, 0.0, r + h / 2), (0, 0, -1), displacement=lambda t: (0.0, 0.0, -t))
    below = sa.Plane((0.0, 0.0, -r - h / 2), (0, 0, 1))
    press = sa.Contact(strip["z1"], top, name="top"), sa.Contact(strip["z1"], below, name="below")
    held = [sa.fix(strip["body"], "y"), sa.fix(strip["x1"])]
    system = sa.System(strip, terms=[*press, *held])
    problem = sa.StaticProblem(system)
    problem.solve(to=0.05, step=0.05)
    force = press[0].force(system)[2]
    assert force < 0.0
    again = sa.StaticProblem(sa.System(strip, terms=[*press, *held]))
    again.solve(to=0.05, step=0.0125)
    assert press[0].force(again.system)[2] == pytest.approx(force, rel=1e-6)


@pytest.mark.parametrize("rigid", [True, pytest.param(False, marks=pytest.mark.collective)])
def test_friction_is_that_of_the_way_after_the_touch(rigid: bool) -> None:
    """A block swings to one side, and back when it touches: friction holds it there."""

    def swing(t: float) -> float:
        return 0.8 * t if t < 0.5 else 0.4 - 0.6 * (t - 0.5)

    given = {"mu": 0.385, "lam": 0.577}
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (2, 2, 2), warp=lambda x: x + np.array([1.0, 1.0, 0.5]))
    block = sa.Body(mesh["body"], hex8_plain, neo_hooke(), name="block", **given)
    lead = sa.fix(block["z1"], displacement=(swing, 0.0, lambda t: -0.65 * t))
    bodies, terms = [block], [lead]
    if rigid:
        floor = sa.Plane()
    else:
        low = sa.Mesh.box((3.0, 3.0, 1.0), (3, 3, 1), warp=lambda x: x - np.array([0.0, 0.0, 1.0]))
        slab = sa.Body(low["body"], hex8_plain, neo_hooke(), name="slab", mu=8.0, lam=12.0)
        bodies, terms = [block, slab], [lead, sa.fix(slab["z0"])]
        floor = slab["z1"]
    contact = sa.Contact(block["z0"], floor, mu=0.5)
    system = sa.System(*bodies, terms=[*terms, contact])
    found = []
    for step, smallest in ((1.0, 1e-3), (0.25, 1e-3), (1.0, 1.0)):
        system.state[:], system.time = 0.0, 0.0
        system.forget()
        problem = sa.StaticProblem(system, check_held=False)
        history = problem.solve(step=step, smallest=smallest)
        assert history.cut_backs == 0
        found.append(contact.force(system, on=block))
    at_once, in_steps, unparted = found
    assert in_steps[0] > 0.15 * in_steps[2] > 0.0
    assert at_once == pytest.approx(in_steps, rel=1e-3, abs=1e-9)
    assert unparted[0] < 0.0  # where parts are forbidden the whole way counts


def test_friction_acts_in_the_first_step_as_in_the_next() -> None:
    """A block that lies on another one, or on a plane, is pressed and drawn in 1 and 4 steps."""
    given, found = {"mu": 0.385, "lam": 0.577}, []
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (2, 2, 2))
    below = sa.Mesh.box((1.0, 1.0, 1.0), (2, 2, 2), warp=lambda x: x - np.array([0.0, 0.0, 1.0]))
    block = sa.Body(mesh["body"], hex8_plain, neo_hooke(), name="block", **given)
    base = sa.Body(below["body"], hex8_plain, neo_hooke(), name="base", **given)
    draw = sa.fix(block["z1"], displacement=lambda t: (0.002 * t, 0.0, -0.01 * t))
    for target, steps in ((sa.Plane(), 1), (base["z1"], 1), (base["z1"], 4)):
        bodies, held = ([block], [draw]) if isinstance(target, sa.Plane) else ([block, base], [])
        held = held or [draw, sa.fix(base["body"])]
        contact = sa.Contact(block["z0"], target, mu=0.3, initial="press")
        system = sa.System(*bodies, terms=[contact, *held])
        sa.StaticProblem(system).solve(step=1.0 / steps)
        found.append(contact.force(system, on=block))
    plane, once, steps4 = found
    assert plane[0] < -0.03 * plane[2] < 0.0
    np.testing.assert_allclose(once, steps4, atol=1e-3 * plane[2])
    np.testing.assert_allclose(once, plane, atol=1e-3 * plane[2])


def test_an_open_contact_costs_no_iterations() -> None:
    """A cantilever over a floor that it does not reach, and the same without the floor."""
    mesh, found = sa.Mesh.box((8.0, 1.0, 0.5), (8, 1, 1)), []
    beam = sa.Body(mesh["body"], hex8_plain, neo_hooke(), mu=1.0, lam=20.0)
    held = [sa.fix(beam["x0"]), sa.traction(beam["x1"], (0.0, 0.0, -1e-3))]
    for floor in ([], [sa.Contact(beam["z0"], sa.Plane((0.0, 0.0, -20.0)), mu=0.3)]):
        system = sa.System(beam, terms=[*held, *floor])
        history = sa.StaticProblem(system).solve()
        found.append((history.steps[0].iterations, system.state.copy()))
    (alone, state), (above, there) = found
    assert abs(above - alone) <= 1  # the last digits of a residual may ask for one more
    np.testing.assert_allclose(there, state, atol=1e-9)


def test_a_contact_that_stays_open_costs_no_iterations() -> None:
    """Inflated chambers side by side, solved by multigrid: GMRES with contact, CG without."""
    found = []
    for case in ("chambers", "open_contact"):
        system, _ = CASES[case]()
        problem = sa.StaticProblem(system, prefix="open_", options={"pc_type": "grids"})
        problem.solve()
        (step,) = problem.history.steps
        assert problem.history.cut_backs == 0
        found.append((step.iterations, system.state.copy()))
    (few, alone), (number, state) = found
    assert number <= 2 * few  # GMRES ends by another norm than CG
    assert state == pytest.approx(alone, abs=1e-6 * np.abs(alone).max())


def test_multigrid_follows_bodies_that_come_to_touch_in_a_motion() -> None:
    """Grids over nodes were those of bodies apart, and the tangent joined them."""
    found = []
    for kind in ("lu", "grids"):
        bodies = []
        for name, low in (("low", -0.3), ("high", 0.001)):
            mesh = sa.Mesh.box((1.0, 1.0, 0.3), (6, 6, 3), warp=partial(np.add, (0, 0, low)))
            given = {"mu": 4e5, "lam": 6e5, "rho": 1000.0, "name": name}
            bodies.append(sa.Body(mesh["body"], hex8_plain, neo_hooke(), **given))
        low_one, high = bodies
        touch = sa.Contact(high["z0"], low_one["z1"], mu=0.3)
        press = sa.pressure(high["z1"], 2e4)
        system = sa.System(*bodies, terms=[sa.fix(low_one["z0"]), press, touch])
        problem = sa.DynamicProblem(
            system, spectral_radius=0.6, prefix="meet_", options={"pc_type": kind}
        )
        problem.solve(to=0.01, step=1e-3)
        assert touch.status(system).stick + touch.status(system).slip > 0
        found.append(system.state.copy())
    assert found[1] == pytest.approx(found[0], abs=1e-5 * np.abs(found[0]).max())


def pressed(angle: float, down: Scalar) -> tuple[sa.StaticProblem, np.ndarray]:
    """A block comes to touch another one, with friction, in a frame turned about z.

    Returns the problem, and the force in the frame with the dissipation.
    """
    c, s = np.cos(angle), np.sin(angle)
    R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    bodies = []
    for name, size, cells, at in (
        ("low", (0.1, 0.04, 0.02), (5, 2, 1), (0.0, 0.0, 0.0)),
        ("high", (0.05, 0.02, 0.02), (2, 2, 1), (0.02, 0.01, 0.0205)),
    ):
        mesh = sa.Mesh.box(size, cells, name=name, warp=lambda X, at=at, R=R: (X + at) @ R.T)
        bodies.append(sa.Body(mesh["body"], hex8, neo_hooke(), name=name, mu=3e5, lam=6e5))
    low, high = bodies
    touch = sa.Contact(low["z1"], high["z0"], mu=0.3)
    lead = sa.fix(high["z1"], displacement=(0.0, 0.0, down))
    system = sa.System(low, high, terms=[lead, sa.fix(low["z0"]), touch])
    problem = sa.StaticProblem(system, options={"snes_rtol": 1e-12})
    problem.solve()
    return problem, np.array([*(R.T @ touch.force(system)), touch.dissipated(system)])


def test_the_first_touch_with_friction_does_not_depend_on_the_frame() -> None:
    results = [pressed(angle, -0.0015)[1] for angle in (0.0, 0.6457718, 1.9, 2.625)]
    for other in results[1:]:
        assert other[:3] == pytest.approx(results[0][:3], abs=1e-6 * 30.0)
        assert other[3] == pytest.approx(results[0][3], rel=1e-6)


@pytest.mark.parametrize("at_once", [1.0, 0.5])
def test_a_displacement_at_once_is_predicted_as_one_that_grows(at_once: float) -> None:
    """The free coordinates go with it: otherwise it would crush the first row of cells."""
    whole = -0.0015
    growing, there = pressed(0.0, lambda t: whole * t)
    problem, result = pressed(0.0, lambda t: whole * (at_once + (1.0 - at_once) * t))
    assert problem.history.cut_backs == growing.history.cut_backs == 0
    few, many = sorted(p.history.steps[0].iterations for p in (problem, growing))
    assert many <= few + 1
    assert result == pytest.approx(there, rel=1e-9, abs=1e-9)
