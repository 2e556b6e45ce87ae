# SPDX-License-Identifier: BSD-3-Clause
"""Steps do not pass over what functions of time do, end at stops and are not too long."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import sympy as sp
from mpi4py import MPI

import symancf as sa
from symancf.energies import saint_venant_kirchhoff
from symancf.solve.dynamics.ahead import Ahead
from tests.refusals import refused
from tests.told import told

OMEGA, IMPULSE, AT, TO = 10.0, 1.0, 1.0, 1.3
METHODS: dict[str, dict[str, Any]] = {
    "generalized-alpha": {},
    "rk": {"method": "rk"},
    "adams": {"method": "adams"},
}


def spring(r_a: Any, r_b: Any, *, k: Any) -> Any:
    return k / 2 * (r_a - r_b).dot(r_a - r_b)


def oscillator(
    how: str, *terms: Any, velocity: float = 0.0, displacement: Any = 0.0
) -> tuple[sa.DynamicProblem, Any]:
    """A mass of 1 kg on a spring of 100 N/m along x to a support; `terms` of its middle."""
    if how == "adams" and MPI.COMM_WORLD.size > 1:
        pytest.skip("VODE works on one rank")
    ball = sa.RigidBody(mass=1.0, inertia=(1.0, 1.0, 1.0), name="ball", velocity=(velocity, 0, 0))
    base = sa.RigidBody(mass=1.0, inertia=(1.0, 1.0, 1.0), name="base")
    middle = ball.at((0.0, 0.0, 0.0))
    own = [
        sa.Potential(spring, middle, base.at((0.0, 0.0, 0.0)), k=OMEGA**2),
        sa.joints.prismatic(middle, axis=(1, 0, 0)),
        sa.fix(base, displacement=(displacement, 0.0, 0.0)),
    ]
    system = sa.System(ball, base, terms=[*own, *(term(middle) for term in terms)])
    return sa.DynamicProblem(system, **METHODS[how]), lambda: system.position(middle)[0, 0]


def pulse(width: float) -> Any:
    """A force that is sin^2 from t = 1 on, and its term as a law with t."""

    def force(t: float) -> float:
        within = AT < t < AT + width
        return 2 * IMPULSE / width * np.sin(np.pi * (t - AT) / width) ** 2 if within else 0.0

    return force


def as_law(width: float) -> Any:
    def law(r_a: Any, t: Any) -> Any:
        force = 2 * IMPULSE / width * sp.sin(sp.pi * (t - AT) / width) ** 2
        return -r_a[0] * sp.Piecewise((force, (t > AT) & (t < AT + width)), (0, True))

    return lambda middle: sa.Potential(law, middle)


LOADS = {
    "force": lambda width: lambda middle: sa.force(middle, (pulse(width), 0.0, 0.0)),
    "gravity": lambda width: lambda _: sa.gravity((pulse(width), 0.0, 0.0)),
    "law": as_law,
}


@pytest.mark.parametrize("how", METHODS)
@pytest.mark.parametrize(("load", "width"), [("force", 1e-2), ("gravity", 2e-3), ("law", 5e-3)])
def test_a_short_pulse_after_rest_is_not_stepped_over(how: str, load: str, width: float) -> None:
    """No step had seen it, x = 0; steps of some 0.5 s come before."""
    problem, x = oscillator(how, LOADS[load](width))
    history = problem.solve(to=TO, step=1e-3, adaptive=True)
    assert np.diff(history.time).max() > 0.1
    # of an impulse in the middle of the pulse, but for (omega width)^2
    wanted = IMPULSE / OMEGA * np.sin(OMEGA * (TO - AT - width / 2))
    assert x() == pytest.approx(wanted, abs=2e-3 * IMPULSE / OMEGA)


@pytest.mark.collective
@pytest.mark.parametrize("how", METHODS)
@pytest.mark.filterwarnings("ignore:the motion")
def test_a_pulse_in_a_prescribed_motion_is_seen(how: str) -> None:
    """sin^4 of 50 mm in 20 ms; an impulse of 3/8 of the width at its middle moves the mass."""
    width, high = 0.02, 0.05

    def moved(t: float) -> float:
        return high * np.sin(np.pi * (t - AT) / width) ** 4 if AT < t < AT + width else 0.0

    problem, x = oscillator(how, displacement=moved)
    problem.solve(to=TO, step=1e-3, adaptive=True)
    amplitude = OMEGA * high * 0.375 * width
    assert x() == pytest.approx(
        amplitude * np.sin(OMEGA * (TO - AT - width / 2)), abs=0.05 * amplitude
    )


def test_a_first_step_does_not_pass_over_a_pulse_either() -> None:
    problem, x = oscillator("rk", LOADS["force"](0.1))
    problem.solve(to=TO, step=TO)
    slowly, y = oscillator("rk", LOADS["force"](0.1))
    slowly.solve(to=TO, step=1e-3, longest=1e-2)
    assert x() == pytest.approx(y(), abs=1e-4)


@pytest.mark.collective
@pytest.mark.parametrize("how", METHODS)
def test_steps_end_at_stops_and_are_no_longer_than_the_longest(how: str) -> None:
    stops = [0.2, 0.1234, 7.0, 0.2000001, -1.0]
    for adaptive in (True, None):
        problem, x = oscillator(how, velocity=1.0)
        history = problem.solve(to=0.3, step=5e-3, adaptive=adaptive, longest=4e-3, stops=stops)
        times = history.time
        assert set(times) >= {0.2, 0.1234, 0.2000001, 0.3}
        assert times[-1] == 0.3
        assert np.diff(times).max() <= 4e-3 * (1 + 1e-12)
        assert np.diff(times).max() > 3e-3  # goes on after a stop as before
        assert x() == pytest.approx(np.sin(3.0) / OMEGA, abs=1e-4)


@pytest.mark.parametrize("how", METHODS)
def test_a_stop_is_as_good_as_the_end_of_a_call(how: str) -> None:
    """Where the velocity of a support jumps and a force begins."""

    def moved(t: float) -> float:
        return 0.0 if t <= 0.1234 else 2.0 * (t - 0.1234)

    def step(t: float) -> float:
        return 0.0 if t <= 0.2 else 50.0

    problem, x = oscillator(
        how, lambda middle: sa.force(middle, (step, 0.0, 0.0)), displacement=moved
    )
    problem.solve(to=0.3, step=1e-3, stops=[0.1234, 0.2])
    gone = 0.3 - 0.1234
    wanted = 2.0 * gone - 2.0 / OMEGA * np.sin(OMEGA * gone) + 0.5 * (1 - np.cos(OMEGA * 0.1))
    assert x() == pytest.approx(wanted, abs=3e-5)


def test_statics_end_steps_at_stops_up_and_down() -> None:
    mesh = sa.Mesh.box((1.0,), (1,))
    given = {"EA": 10.0, "EI": 1.0}
    bar = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), **given)
    pull = sa.force(bar["x1"], (lambda t: t, 0.0, 0.0))
    problem = sa.StaticProblem(sa.System(bar, terms=[sa.fix(bar["x0"]), pull]))
    history = problem.solve(to=1.0, step=0.25, stops=[0.4, 0.1, 0.4, 1.0, 3.0])
    assert history.time == pytest.approx([0.1, 0.35, 0.4, 0.65, 0.9, 1.0])
    assert {0.1, 0.4, 1.0} <= set(history.time)
    problem.solve(to=0.0, stops=[0.3, 0.7])
    assert list(history.time[6:]) == [0.7, 0.3, 0.0]


def test_stops_and_longest_steps_are_checked() -> None:
    problem, _ = oscillator("rk")
    with refused(sa.ParameterError, asked="stops", given=0.5):
        problem.solve(to=1.0, step=0.1, stops=0.5)  # type: ignore[arg-type]
    with refused(sa.ParameterError, asked="stops", given=np.isnan):
        problem.solve(to=1.0, step=0.1, stops=[float("nan")])
    with refused(sa.ParameterError, asked="longest", given=-1.0):
        problem.solve(to=1.0, step=0.1, longest=-1.0)


# ---- the rule that shortens steps ----------------------------------------------------------------
def ahead(asked: float, *terms: Any) -> Ahead:
    """Return what looks ahead in a motion of a mass, with `terms` of its middle."""
    problem, _ = oscillator("rk", *terms)
    problem.solve(to=1e-3, step=1e-3)
    return Ahead(problem._motion, asked)


def forced(force: Any) -> Any:
    return lambda middle: sa.force(middle, (force, 0.0, 0.0))


@pytest.mark.parametrize(("part", "seen"), [(3e-3, True), (3e-4, False)])
def test_a_ripple_of_a_thousandth_shortens_a_step(part: float, seen: bool) -> None:
    ripple = ahead(0.1, forced(lambda t: 1.0 + t + part * np.sin(20.0 * t)))
    assert (ripple.limit(0.0, 1.0) < 1.0) == seen


def test_a_jump_leaves_the_shortest_step_and_is_told_if_it_goes_on() -> None:
    """Few samples tell nothing: a cubic goes through four of them."""
    jump = ahead(0.1, forced(lambda t: float(t > 0.501)))
    assert 0.4 < jump.limit(0.0, 1.0) < 0.501
    assert jump.limit(0.5, 1.0) == 0.1 / 32
    noise = ahead(0.1, forced(lambda t: np.sin(1e7 * t)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(40):
            assert noise.limit(1.0, 0.1) == 0.1 / 32
    with told("vary faster than steps"):
        for _ in range(40):
            noise.limit(1.0, 0.1)


def test_laws_with_time_at_some_places_are_seen_at_all_samples() -> None:
    def law(r_a: Any, t: Any) -> Any:
        return -r_a[0] * sp.Piecewise((1, (t > 0.5) & (t < 0.503)), (0, True))

    corners = np.random.default_rng(0).uniform(-1.0, 1.0, (60, 3))
    body = sa.RigidBody(mass=1.0, inertia=(1.0, 1.0, 1.0))
    problem = sa.DynamicProblem(sa.System(body, terms=[sa.Potential(law, body.at(corners))]))
    problem.solve(to=1e-3, step=1e-3)
    assert Ahead(problem._motion, 2e-3).limit(0.0, 1.0) < 0.6


@pytest.mark.parametrize("corner", range(4))
def test_a_function_of_the_place_is_seen_at_all_corners(corner: int) -> None:
    plate = sa.Mesh.box((1.0, 1.0, 0.1), (2, 2, 1))
    body = sa.Body(
        plate["body"], sa.elements.hex8_plain, saint_venant_kirchhoff(), E=1e6, nu=0.3, rho=1e3
    )
    at = np.array([corner % 2, corner // 2])

    def moved(X: Any, t: float) -> Any:
        there = np.abs(np.asarray(X)[:, :2] - at).max(axis=1) < 0.1
        return 1e-3 * (0.5 < t < 0.6) * there[:, None] * np.eye(3)[2]

    system = sa.System(body, terms=[sa.fix(body["z0"], displacement=moved)])
    problem = sa.DynamicProblem(system)
    problem.solve(to=1e-3, step=1e-3)
    assert Ahead(problem._motion, 0.1).limit(1e-3, 1.0) < 0.6
