# SPDX-License-Identifier: BSD-3-Clause
"""Events of motions: zeros in time, what their actions change, slivers of steps, jumps of loads."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf.runtime.petsc import has
from symancf.solve.dynamics.events import Event, Events
from tests.refusals import refused

G = 10.0
METHODS = ("generalized-alpha", "rk", "adams")


def ball(
    method: str, speed: float = 3.0, **options: Any
) -> tuple[sa.DynamicProblem, Any, sa.RigidBody]:
    """A ball thrown upwards from z = 0; the function returns its height."""
    body = sa.RigidBody.sphere(0.1, rho=1000.0, name="ball", velocity=(0.0, 0.0, speed))
    system = sa.System(body, terms=[sa.gravity((0.0, 0.0, -G))])
    centre = body.at((0.0, 0.0, 0.0))
    problem = sa.DynamicProblem(system, method=method, **options)
    return problem, lambda: float(system.position(centre)[0, 2]), body


def passages(height: float, speed: float = 3.0) -> tuple[float, float]:
    root = math.sqrt(speed**2 - 2.0 * G * height)
    return (speed - root) / G, (speed + root) / G


def pendulum(**options: Any) -> tuple[sa.DynamicProblem, Any, Any]:
    """A rod of 1 m on a hinge, released from the horizontal."""
    rod = sa.RigidBody(position=(0.5, 0.0, 0.0), mass=1.0, inertia=np.diag([0.01, 1 / 12, 1 / 12]))
    hinge = sa.joints.revolute(rod.at((-0.5, 0.0, 0.0)), axis=(0, 1, 0))
    push = sa.Parameter("push", 0.0)
    force = sa.force(rod.at((0.5, 0.0, 0.0)), (0.0, 0.0, push))
    system = sa.System(rod, terms=[hinge, force, sa.gravity((0.0, 0.0, -G))])
    return sa.DynamicProblem(system, **{"spectral_radius": 0.8} | options), hinge, push


# ---- where the zeros are ------------------------------------------------------------------------
@pytest.mark.parametrize("method", METHODS)
def test_zeros_have_their_direction_and_time(method: str) -> None:
    problem, z, _ = ball(method)
    up = problem.event(lambda: z() - 0.3, direction=1)
    down = problem.event(lambda: z() - 0.3, direction=-1)
    both = problem.event(lambda: z() - 0.3)
    # two zeros, 0.02 s apart, in one step of 0.05 s
    top = 0.45 - 0.5 * G * 0.01**2
    twice = problem.event(lambda: z() - top)
    above = problem.event(lambda: z() - 0.4501)
    begins = problem.event(lambda: z())  # at z = 0: no zero at the start, one at the end
    heights = []
    problem.monitor(lambda step: heights.append(z()) if step.time in both else None)
    history = problem.solve(to=0.65, step=0.05, rtol=1e-10, atol=1e-12)
    exact = passages(0.3)
    assert np.abs(np.array(up) - exact[:1]).max() < 1e-9
    assert np.abs(np.array(down) - exact[1:]).max() < 1e-9
    assert np.abs(np.array(both) - exact).max() < 1e-9
    assert np.abs(np.array(twice) - (0.29, 0.31)).max() < 1e-8
    assert not above
    assert np.abs(np.array(begins) - (0.6,)).max() < 1e-9
    assert np.abs(np.array(heights) - 0.3).max() < 1e-10  # a step ends there
    assert (np.diff(history.time) > 0.0).all()
    assert history.time[-1] == 0.65
    assert len(history.time) == problem.steps + 1


@pytest.mark.parametrize("method", METHODS)
def test_events_in_one_step_happen_in_their_order(method: str) -> None:
    problem, z, _ = ball(method)
    order: list[str] = []
    names = {"late": 0.25, "early": 0.1, "same": 0.25, "middle": 0.2}
    for name, height in names.items():
        problem.event(lambda h=height: z() - h, lambda n=name: order.append(n), direction=1)
    ends = problem.event(lambda: z() - 0.4, direction=1, terminate=True)
    steps = {"step": 0.01 if method == "adams" else 0.5, "rtol": 1e-10, "atol": 1e-12}
    problem.solve(to=0.6, **steps)
    assert order == ["early", "middle", "late", "same"]
    assert problem.system.time == ends[0] == pytest.approx(passages(0.4)[0], abs=1e-9)
    problem.solve(
        to=0.6, step=0.5, rtol=1e-10, atol=1e-12
    )  # the zero where it begins is no second one
    assert len(ends) == 1
    assert problem.system.time == 0.6


@pytest.mark.parametrize("method", METHODS)
def test_a_ball_that_bounces_loses_what_its_impacts_take(method: str) -> None:
    problem, z, body = ball(method, speed=0.0)
    system = problem.system

    def bounce() -> None:
        system.rate[:] *= -0.8

    times = problem.event(lambda: z() + 0.2, bounce, direction=-1)
    problem.record("v", lambda: system.velocity(body.at((0, 0, 0)))[0, 2])
    history = problem.solve(to=1.0, step=2e-2, rtol=1e-10, atol=1e-12)
    fall = math.sqrt(0.4 / G)
    exact = fall + 2.0 * fall * np.cumsum([0.0, 0.8, 0.64, 0.512])
    assert np.abs(np.array(times) - exact[exact < 1.0]).max() < 1e-8
    at = int(np.flatnonzero(history.time == times[0])[0])
    assert history["v"][at] == pytest.approx(0.8 * G * fall, rel=1e-8)  # after the action
    mass = 4.0 / 3.0 * math.pi * 1e-3 * 1000.0
    lost = 0.5 * mass * (G * fall) ** 2 * (1.0 - 0.64 ** len(times))
    assert problem.energies.work == pytest.approx(-lost, rel=1e-7)
    assert abs(problem.energies.drift) < 1e-7 * lost


def test_impacts_that_crowd_are_an_error_and_no_endless_loop() -> None:
    problem, z, _ = ball("generalized-alpha", speed=0.0)
    system = problem.system

    def bounce() -> None:
        system.rate[:] *= -0.3

    problem.event(lambda: z() + 0.2, bounce, direction=-1)
    with refused(sa.ConvergenceError, asked="event", given=1, reason="EVENTS"):
        problem.solve(to=1.0, step=2e-2)
    assert system.time == pytest.approx(0.2 * (1 + 2 * 0.3 / 0.7), rel=1e-3)


def test_an_event_happens_again_in_each_motion_from_the_start() -> None:
    problem, z, _ = ball("generalized-alpha")
    times = problem.event(lambda: z() - 0.3, direction=1, terminate=True)
    for _ in range(6):
        problem.solve(to=0.6, step=0.02)
        problem.reset()
    assert times == [pytest.approx(passages(0.3)[0], abs=1e-9)] * 6


def test_a_touch_is_no_zero_and_a_jump_is_one() -> None:
    problem, z, _ = ball("generalized-alpha")
    touch = problem.event(lambda: z() - 0.45 - 1e-12)
    switch = problem.event(lambda: 1.0 if z() > 0.3 else -1.0)
    problem.solve(to=0.6, step=0.02)
    assert not touch
    assert np.abs(np.array(switch) - passages(0.3)).max() < 1e-9


def test_a_function_that_stays_at_zero_has_it_where_it_begins_to() -> None:
    """Also where that is the last 1.5 % of a step; to 1e-12 of the step."""
    problem, z, _ = ball("generalized-alpha")
    (up, _), share = passages(0.3), 9.985
    times = problem.event(lambda: max(0.0, 0.3 - z()))
    problem.solve(to=1.2 * up, step=up / share)
    assert times == [pytest.approx(up, abs=1e-11 * up / share)]
    event = Event(lambda: 0.0, None, 0, terminate=False, number=1, user_times=[])
    begins = 0.5 + 1e-13
    found = Events._arrival(event, lambda s: max(0.0, begins - s), 0.0, 1.0)
    assert found == pytest.approx(begins, abs=1e-12)


def test_a_function_that_comes_back_to_zero_at_once_is_seen() -> None:
    """It begins at zero, and is there again after 5e-8 of the step."""
    problem, _, _ = ball("generalized-alpha")
    system, step = problem.system, 0.05
    back = 5e-8 * step
    times = problem.event(lambda: max(-1.0, system.time / back * (1.0 - system.time / back)))
    problem.solve(to=step, step=step)
    assert times == [pytest.approx(back, rel=1e-5)]


def test_extrema_near_zero_are_looked_at() -> None:
    """A parabola whose least value is 3 % of its spread; one of 10 % is left."""
    s, looked = np.linspace(0.0, 1.0, 5), []
    for least in (0.03, 0.1):
        event = Event(lambda: 0.0, None, 0, terminate=False, number=1, user_times=[])
        fit = np.array([1.0 + least, -4.0, 4.0])
        looked.append(Events._extrema(event, fit, np.polynomial.polynomial.polyval(s, fit)))
    assert looked == [[pytest.approx(0.5)], []]


def test_small_values_that_do_not_fall_are_round_off_and_large_ones_are_not() -> None:
    """A solution of a step is no sharper than a millionth of what the function was."""
    event = Event(lambda: 0.0, None, 0, terminate=False, number=1, user_times=[])
    event.largest = 1.0
    for value, later in ((3e-7, 0.0), (3e-6, math.inf)):
        assert event.secant((0.0, value), (1e-9, value), near=1e-8) == later


@pytest.mark.parametrize("method", ["generalized-alpha", "rk"])
def test_what_functions_and_actions_raise_ends_the_run(method: str) -> None:
    problem, z, _ = ball(method)

    def fail() -> None:
        raise ZeroDivisionError("boom")

    problem.event(lambda: z() - 0.2, fail)
    with pytest.raises(ZeroDivisionError, match="boom"):
        problem.solve(to=1.0, step=0.02)
    assert problem.system.time == pytest.approx(passages(0.2)[0], abs=1e-9)
    assert z() == pytest.approx(0.2, abs=1e-9)
    problem, z, _ = ball(method)
    problem.event(lambda: math.nan if z() > 0.2 else 1.0)
    with refused(sa.ParameterError, asked="event", given=np.isnan):
        problem.solve(to=1.0, step=0.02)
    with refused(sa.ParameterError, asked="direction", given=2, possible=(-1, 0, 1)):
        problem.event(z, direction=2)


def test_a_force_may_be_watched() -> None:
    """The hinge of a rod that swings down from the horizontal carries m g / 4, later 5 m g / 2."""
    problem, hinge, _ = pendulum()
    system = problem.system

    def force() -> float:
        return float(np.linalg.norm(hinge.reaction(system).force))

    angle: list[float] = []
    tip = system.bodies[0].at((0.5, 0.0, 0.0))
    times = problem.event(
        lambda: force() - 15.0, lambda: angle.append(float(system.position(tip)[0, 2]))
    )
    problem.solve(to=0.6, step=2e-3)
    assert len(times) == 1
    s = -angle[0]  # sine of the angle: F^2 = (m g)^2 [(5/2 s)^2 + (1 - s^2)/16]
    assert G * math.hypot(2.5 * s, 0.25 * math.sqrt(1 - s**2)) == pytest.approx(15.0, rel=1e-4)


# ---- slivers ------------------------------------------------------------------------------------
@pytest.mark.parametrize("rho", [0.9, 0.5])
def test_a_motion_does_not_feel_slivers_of_steps(rho: float) -> None:
    h = 2e-3
    whole, hinge, _ = pendulum(spectral_radius=rho)
    whole.record("force", lambda: hinge.multipliers(whole.system)[0])
    reference = whole.solve(to=0.2, step=h)
    cut, pin, _ = pendulum(spectral_radius=rho)
    cut.record("force", lambda: pin.multipliers(cut.system)[0])
    for k, share in enumerate((5e-3, 1e-3, 1e-5, 1e-6, 1e-7, 1e-9)):
        cut.solve(to=(10 * k + 10) * h, step=h)
        cut.solve(to=(10 * k + 10 + share) * h, step=h)
    run = cut.solve(to=0.2, step=h)
    assert cut.history.cut_backs == 0
    position = [p.system.position(p.system.bodies[0].at((0.5, 0, 0)))[0] for p in (whole, cut)]
    assert np.abs(position[0] - position[1]).max() < 1e-6
    scale = np.abs(reference["force"]).max()
    forces = np.stack(
        [np.interp(run.time, reference.time, f) for f in reference["force"].T], axis=1
    )
    assert np.abs(run["force"] - forces).max() < 0.01 * scale


def test_events_close_to_steps_and_to_the_end_leave_no_trace() -> None:
    problem, z, _ = ball("generalized-alpha")
    h = 0.02
    shares = (1e-3, 1e-6, 1e-9, 1.0 - 1e-6, 1.0 - 1e-9)
    wanted = np.array([(2 * k + 1 + share) * h for k, share in enumerate(shares)])
    found = [
        problem.event(lambda a=3.0 * t - 0.5 * G * t * t: z() - a, direction=1) for t in wanted
    ]
    problem.solve(to=wanted[-1], step=h)
    problem.solve(to=0.3, step=h)
    assert [len(times) for times in found] == [1] * 5
    assert np.abs(np.concatenate(found) - wanted).max() < 1e-10
    assert problem.history.cut_backs == 0
    assert z() == pytest.approx(0.45, abs=1e-12)


# ---- jumps --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("method", "how", "tolerance"),
    [
        ("generalized-alpha", "parameter", 1e-12),
        ("generalized-alpha", "function", 1e-12),
        ("rk", "parameter", 1e-13),
        ("rk", "function", 1e-7),  # its first stage is before the jump
        ("adams", "parameter", 1e-8),
    ],
)
def test_a_force_that_jumps_between_two_calls_gives_a_parabola(
    method: str, how: str, tolerance: float
) -> None:
    body = sa.RigidBody(mass=2.0, inertia=np.eye(3), name="mass")
    pull: Any = sa.Parameter("pull", 0.0) if how == "parameter" else lambda t: 4.0 * (t > 0.1)
    system = sa.System(body, terms=[sa.force(body.at((0, 0, 0)), (pull, 0.0, 0.0))])
    problem = sa.DynamicProblem(system, method=method)
    problem.record("x", lambda: system.displacement(body.at((0, 0, 0)))[0, 0])
    problem.solve(to=0.1, step=1e-2)
    if how == "parameter":
        pull.value = 4.0
    history = problem.solve(to=0.2, step=1e-2, rtol=1e-10)
    exact = np.square(np.maximum(history.time - 0.1, 0.0))
    assert np.abs(history["x"] - exact).max() < tolerance


@pytest.mark.parametrize("method", ["generalized-alpha", "rk"])
def test_reactions_follow_a_jump_and_the_first_time_has_them(method: str) -> None:
    """A force F up at the end of a horizontal rod at rest: the hinge carries m g / 4 + F / 2."""
    problem, hinge, push = pendulum(
        **({} if method == "rk" else {"spectral_radius": 0.8}), method=method
    )
    system = problem.system
    problem.record("force", lambda: hinge.reaction(system).force)
    forces = []
    problem.monitor(lambda p: forces.append(hinge.reaction(system).force[2]))
    problem.solve(to=1e-6, step=1e-6)
    assert problem.history["force"][0, 2] == pytest.approx(G / 4, rel=1e-9)
    push.value = 3.0
    problem.solve(to=2e-6, step=1e-6)
    assert forces[0] == pytest.approx(G / 4, rel=1e-9)
    assert forces[2] == pytest.approx(G / 4 + 1.5, rel=1e-6)  # the monitor at the second start
    assert forces[3] == pytest.approx(G / 4 + 1.5, rel=1e-3)


def test_an_action_that_switches_a_load_keeps_the_order() -> None:
    def run(h: float) -> np.ndarray:
        problem, _, push = pendulum()
        tip = problem.system.bodies[0].at((0.5, 0.0, 0.0))
        low = problem.event(
            lambda: problem.system.position(tip)[0, 2] + 0.3,
            lambda: setattr(push, "value", 20.0),
            direction=-1,
        )
        problem.solve(to=0.4, step=h)
        assert len(low) == 1
        return np.append(problem.system.position(tip)[0], low)

    exact = run(2.5e-4)
    coarse, fine = (np.abs(run(h) - exact).max() for h in (8e-3, 4e-3))
    assert math.log2(coarse / fine) > 1.7


def test_a_restart_at_an_event_repeats_the_run_bit_for_bit(tmp_path: Path) -> None:
    def made() -> tuple[sa.DynamicProblem, list[float], sa.Parameter]:
        problem, _, push = pendulum()
        rod = problem.system.bodies[0].at((0.5, 0.0, 0.0))

        def switch() -> None:
            push.value = 20.0 - push.value

        def height() -> float:
            return float(problem.system.position(rod)[0, 2])

        return problem, problem.event(lambda: height() + 0.3, switch), push

    first, times, _ = made()
    first.monitor(lambda step: first.save(tmp_path / "run.h5") if step.time in times[:1] else None)
    first.solve(to=0.8, step=4e-3)
    assert len(times) > 1
    again, later, push = made()
    again.restore(tmp_path / "run.h5")
    push.value = 20.0  # parameters are the model's, not the checkpoint's
    again.solve(to=0.8, step=4e-3)
    rel = 0.0 if has("suitesparse") else 1e-9  # MUMPS goes by the matrix that it saw first
    assert later == pytest.approx(times[1:], rel=rel, abs=0.0)
    for name in ("state", "rate"):
        values = getattr(again.system, name), getattr(first.system, name)
        np.testing.assert_allclose(*values, rtol=rel, atol=rel)
    if not rel:
        assert first.energies == again.energies


def test_landings_take_no_energy_of_a_body_that_turns_far_in_a_step() -> None:
    """A free asymmetric top, 0.15 rad a step: rates of another method cost it 0.25 % each time."""
    top = sa.RigidBody((0, 0, 0), mass=1.0, inertia=(1.0, 2.0, 2.5), spin=(0.02, 0.01, 0.15))
    system = sa.System(top)
    problem = sa.DynamicProblem(system, spectral_radius=0.9)
    passed = problem.event(lambda: system.position(top.at((1.0, 0, 0)))[0, 1], direction=1)
    began = problem.energies.kinetic
    problem.solve(to=100.0, step=1.0)
    assert len(passed) == 2
    assert problem.energies.kinetic == pytest.approx(began, rel=1e-4)
