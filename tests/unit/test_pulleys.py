# SPDX-License-Identifier: BSD-3-Clause
"""Tendons over pulleys and on drums: closed forms, full turns, and what they refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest

import symancf as sa

pytestmark = pytest.mark.collective
G, R = 9.81, 0.1
M1, M2, J = 1.0, 1.2, 2e-3


def atwood(wheel, bodies=(), terms=(), tension=2 * M1 * M2 / (M1 + M2) * G, EA=1e5):
    """Return the motion of two masses on a cord over a wheel at the origin, and the lighter."""
    light, heavy = sa.PointMass(M1, (-R, 0.0, -1.0)), sa.PointMass(M2, (R, 0.0, -1.0))
    cord = sa.Tendon([light.centre, wheel, heavy.centre], EA=EA, tension=tension)
    weight = sa.gravity((0.0, 0.0, -G))
    system = sa.System(light, heavy, *bodies, terms=[cord, weight, *terms])
    return sa.DynamicProblem(system), system, cord, light


def risen(system, mass):
    return system.position(mass.centre)[0, 2] + 1.0


def test_runs_freely_over_a_pulley():
    """Atwood's machine without inertia of the wheel."""
    free = sa.pulley(sa.ground.at((0, 0, 0)), radius=R, axis=(0, 1, 0), bearing=(0, 0))
    problem, system, cord, light = atwood(free)
    problem.solve(to=0.5, step=1e-2)
    expected = (M2 - M1) / (M1 + M2) * G * 0.5**2 / 2
    assert risen(system, light) == pytest.approx(expected, rel=1e-10)
    assert cord.angles(system)[1] == pytest.approx(math.pi, rel=1e-12)


def test_turns_a_wheel_that_it_grips():
    """Atwood's machine with the inertia J of a wheel on a hinge."""
    wheel = sa.RigidBody((0, 0, 0), mass=1.0, inertia=(J, J, J), name="wheel")
    hinge = sa.joints.revolute(wheel.at((0, 0, 0)), axis=(0, 1, 0))
    grips = sa.pulley(wheel, radius=R, axis=(0, 1, 0), grips=True)
    acceleration = (M2 - M1) / (M1 + M2 + J / R**2) * G
    problem, system, cord, light = atwood(grips, [wheel], [hinge], M1 * (G + acceleration), 1e7)
    problem.solve(to=0.5, step=2e-3)
    assert risen(system, light) == pytest.approx(acceleration / 8, rel=1e-5)
    rim = system.position(wheel.at((0, 0, R)))[0]
    assert rim[0] == pytest.approx(R * math.sin(acceleration / 8 / R), rel=1e-4)
    forces = cord.forces(system).sum(axis=0)
    np.testing.assert_allclose(forces, 0.0, atol=1e-9)


@pytest.mark.parametrize("mu", [0.3, 0.9])
def test_rubs_in_its_bearing(mu):
    """T2 - T1 = mu r_b/R (T1 + T2) where the wheel turns; with 0.9 it does not."""
    p = mu * 0.02 / R
    k = (1 + p) / (1 - p)
    acceleration = G * (M2 - k * M1) / (M2 + k * M1)
    wheel = sa.pulley(sa.ground.at((0, 0, 0)), radius=R, axis=(0, 1, 0), bearing=(mu, 0.02))
    tension = (M2 * (G - max(acceleration, 0.0)), "end")
    problem, system, cord, light = atwood(wheel, tension=tension)
    problem.solve(to=0.2, step=1e-2)
    T = cord.tensions(system)
    if acceleration < 0.0:
        assert T[1] < k * T[0]
        assert abs(risen(system, light)) < 1e-4
        assert cord.dissipated(system) == pytest.approx(0.0, abs=1e-9)
        return
    assert T[1] == pytest.approx(k * T[0], rel=1e-10)
    moved = acceleration * 0.2**2 / 2
    assert risen(system, light) == pytest.approx(moved, rel=1e-4)
    assert cord.dissipated(system) == pytest.approx((T[1] - T[0]) * moved, rel=1e-3)


@pytest.mark.collective(rows=0)
def test_tensions_are_those_of_the_strains():
    """One call, or one for each step: strains of 1e-4 are not left to 1e-9 of the lengths."""
    tensions = []
    for at in (np.array([0.2]), np.linspace(0.0, 0.2, 21)[1:]):
        wheel = sa.pulley(sa.ground.at((0, 0, 0)), radius=R, axis=(0, 1, 0), bearing=(0.1, 0.02))
        problem, system, cord, _ = atwood(wheel, tension=(M2 * G, "end"))
        for time in at:
            problem.solve(to=time, step=1e-2)
            binding = system._discrete.binding(cord)
            strains = binding.shape(system._discrete).L / cord.lengths(system) - 1.0
            np.testing.assert_allclose(1e5 * strains, cord.tensions(system), rtol=1e-8)
        tensions.append(cord.tensions(system))
    np.testing.assert_allclose(*tensions, rtol=1e-8)


def test_lifts_a_block():
    """Block and tackle: half the weight, and twice the way; axes of its pulleys are opposite."""
    feed, free, weight = sa.Parameter("feed"), (0.0, 0.0), 5.0 * G
    block = sa.PlanarBody((0, -1), mass=5.0, inertia=0.01, name="block")
    ground = sa.ground
    places = [
        ground.at((-R, 0)),
        sa.pulley(block, radius=R, bearing=free),
        sa.pulley(ground.at((2 * R, 0)), radius=R, axis=(0, 0, -1), bearing=free),
        ground.at((3 * R, -0.5)),
    ]
    cord = sa.Tendon(places, EA=1e6, tension=weight / 2, end=sa.winch(feed=feed))
    gravity, upright = sa.gravity((0, -G, 0)), sa.fix(block, ["theta"])
    system = sa.System(block, terms=[cord, gravity, upright])
    problem = sa.StaticProblem(system)
    for feed.value in (0.0, -0.4):
        problem.solve()
        np.testing.assert_allclose(cord.tensions(system), weight / 2, rtol=1e-9)
    way = 0.2 * (1 + weight / 2 / 1e6)
    np.testing.assert_allclose(block.displacement(system), [0.0, way, 0.0], atol=1e-9)


@pytest.mark.parametrize("steps", [1, 20])
def test_is_wound_on_a_drum(steps):
    """Three turns lift a mass by 6 pi R, also in one step; unwound it has an end."""
    angle = sa.Parameter("angle")
    roll = sa.PlanarBody((0, 0), mass=1.0, inertia=0.01, name="roll")
    load = sa.PointMass(3.0, (R, -5.0, 0.0))
    cord = sa.Tendon([load.centre, sa.drum(roll, radius=R, turns=0.5)], EA=1e5, tension=3 * G)
    turn = sa.fix(roll, displacement=(0, 0, lambda t: angle.value * t))
    terms = [cord, turn, sa.gravity((0, -G, 0)), sa.fix(load, ["z"])]
    system = sa.System(roll, load, terms=terms)
    problem = sa.StaticProblem(system)
    angle.value = 6 * math.pi
    problem.solve(step=1.0 / steps)
    place = system.position(load.centre)[0]
    np.testing.assert_allclose(place, [R, -5.0 + 6 * math.pi * R, 0.0], atol=1e-10)
    assert cord.angles(system)[1] == pytest.approx(7 * math.pi, rel=1e-12)
    assert cord.tensions(system)[0] == pytest.approx(3 * G, rel=1e-9)


def lifting(turned):
    """Return statics of a mass on a drum in space that something turns about z, and the mass."""
    roll = sa.RigidBody((0, 0, 0), mass=1.0, inertia=(0.01,) * 3, name="roll")
    load, hub = sa.PointMass(3.0, (R, -5.0, 0.0)), roll.at((0, 0, 0))
    drum = sa.drum(hub, radius=R, axis=(0, 0, 1), turns=0.5)
    cord = sa.Tendon([load.centre, drum], EA=1e5, tension=3 * G)
    terms = [cord, sa.gravity((0, -G, 0)), sa.fix(load, ["z"]), *turned(roll, hub)]
    system = sa.System(roll, load, terms=terms)
    return sa.StaticProblem(system), lambda: system.position(load.centre)[0, 1] + 5.0


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("total", [5.0, 2 * math.pi, 6 * math.pi])
@pytest.mark.parametrize("how", ["support", "joint"])
def test_turns_of_a_rigid_body_in_space_are_all_counted(how, total):
    """Also by more than half a turn in one step, and by full turns, which axes do not show."""

    def turn(roll, hub):
        def gradient(t):
            c, s = math.cos(total * t), math.sin(total * t)
            return np.array([[c - 1, -s, 0], [s, c - 1, 0], [0, 0, 0]])

        if how == "support":
            return [sa.fix(roll, gradient=gradient)]
        angle = sa.joints.rotation(hub, axis=(0, 0, 1), angle=lambda t: total * t)
        return [sa.joints.revolute(hub, axis=(0, 0, 1)), angle]

    problem, way = lifting(turn)
    problem.solve()
    assert way() == pytest.approx(R * total, rel=1e-9)
    assert len(problem.history.steps) == 1


@pytest.mark.collective(rows=0)
def test_refuses_a_parameter_that_turns_a_rigid_body_by_more_than_it_can_tell():
    angle = sa.Parameter("angle")

    def turn(roll, hub):
        given = sa.joints.rotation(hub, axis=(0, 0, 1), angle=angle)
        return [sa.joints.revolute(hub, axis=(0, 0, 1)), given]

    problem, way = lifting(turn)
    problem.solve()
    for angle.value in (1.5, 3.0):
        problem.solve()
    angle.value = 3.0 + 2 * math.pi
    with pytest.raises(sa.ConvergenceError, match=r"prescribes a turn of 6.28 rad") as caught:
        problem.solve()
    assert caught.value.asked == "cord"
    assert way() == pytest.approx(3.0 * R, rel=1e-9)
    angle.value = 4.5
    problem.solve()
    assert way() == pytest.approx(4.5 * R, rel=1e-9)


@pytest.mark.collective(rows=0)
def test_says_when_a_drum_is_empty():
    roll = sa.PlanarBody((0, 0), mass=1.0, inertia=0.01, name="roll")
    load = sa.PointMass(3.0, (R, -5.0, 0.0))
    cord = sa.Tendon([load.centre, sa.drum(roll, radius=R, turns=0.5)], EA=1e5, tension=3 * G)
    turn = sa.fix(roll, displacement=(0, 0, lambda t: -6 * t))
    terms = [cord, turn, sa.gravity((0, -G, 0)), sa.fix(load, ["z"])]
    problem = sa.StaticProblem(sa.System(roll, load, terms=terms))
    with pytest.raises(sa.ConvergenceError, match="place 1 no cord is left on it") as caught:
        problem.solve(step=0.1)
    assert caught.value.asked == "cord"
    assert caught.value.time == pytest.approx(math.pi / 6, rel=1e-2)


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("turns", [0, 1])
def test_slides_around_a_bollard(turns):
    """exp(mu phi) with full turns."""
    F, mass = sa.Parameter("F", 1.0), sa.PointMass(1.0, (-R, -1.0, 0.0))
    post = sa.pulley(sa.ground.at((0, 0, 0)), radius=R, axis=(0, 0, -1), turns=turns)
    places = [mass.centre, post, sa.ground.at((R, -1, 0))]
    cord = sa.Tendon(places, EA=1e4, mu=0.2, start=sa.winch(force=F))
    system = sa.System(mass, terms=[cord, sa.fix(mass)])
    problem = sa.StaticProblem(system)
    problem.solve()
    wrap = math.pi * (1 + 2 * turns)
    np.testing.assert_allclose(cord.tensions(system), [1.0, math.exp(-0.2 * wrap)], rtol=1e-9)
    F.value = 1e-3
    problem.solve()
    expected = min(math.exp(-0.2 * wrap), 1e-3 * math.exp(0.2 * wrap))
    assert cord.tensions(system)[1] == pytest.approx(expected, rel=1e-8)


@pytest.mark.collective(rows=0)
def test_refuses_what_cannot_be():
    """One error each, on every rank."""
    mass, at = sa.PointMass(1.0, (-R, -1.0, 0.0)), sa.ground.at((0.0, 0.0, 0.0))
    away = sa.ground.at((R, -1.0, 0.0))
    given = {
        "radius": lambda: sa.pulley(at, radius=0.0),
        "bearing": lambda: sa.pulley(at, radius=R, bearing=0.1),
        "grips": lambda: sa.pulley(at, radius=R, bearing=(0, 0), grips=True),
        "turns": lambda: sa.pulley(at, radius=R, turns=0.5),
        "place": lambda: sa.drum(mass.centre, radius=R),
        "places": lambda: sa.Tendon([sa.pulley(at, radius=R), away], EA=1.0),
    }
    for asked, call in given.items():
        with pytest.raises(sa.SymancfError) as error:
            call()
        assert error.value.asked == asked
    for axis, radius, words in (
        ((0, 0.2, -1), R, "place 1 is out of plane: segment 0 leaves its plane by 11.3 degrees"),
        ((0, 0, -1), 1.1, "place 1 overlaps"),
    ):
        post = sa.pulley(at, radius=radius, axis=axis)
        cord = sa.Tendon([mass.centre, post, away], EA=1.0)
        with pytest.raises(sa.ConstraintError, match=words):
            sa.System(mass, terms=[cord])
