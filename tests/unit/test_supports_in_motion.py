# SPDX-License-Identifier: BSD-3-Clause
"""Supports whose motion has a kink: at the start, between two calls of solve, within steps."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symancf as sa
from tests.refusals import refused
from tests.told import told

METHODS = ("generalized-alpha", "rk")

pytestmark = pytest.mark.collective


def pushed(
    motion: Callable[[float], float], method: str
) -> tuple[sa.DynamicProblem, sa.Support, sa.RigidBody]:
    """A mass of 2 kg on a hinge along z to a held cart of 1 kg, which `motion` moves along z."""
    cart = sa.RigidBody.box((0.1, 0.1, 0.1), rho=1000.0, name="cart")
    rod = sa.RigidBody(position=(0.0, 0.0, 0.5), mass=2.0, inertia=(0.1, 0.1, 0.1), name="rod")
    hold = sa.fix(cart, displacement=lambda t: (0.0, 0.0, motion(t)))
    hinge = sa.joints.revolute(rod.at((0, 0, -0.5)), cart.at((0, 0, 0)), axis=(0, 1, 0))
    problem = sa.DynamicProblem(sa.System(cart, rod, terms=[hold, hinge]), method=method)
    problem.record("force", lambda: hinge.reaction(problem.system).force[2])
    problem.record("z", lambda: problem.system.position(rod.at((0, 0, 0)))[0, 2] - 0.5)
    return problem, hold, rod


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("method", METHODS)
def test_a_kink_where_a_call_begins_and_ends_is_none(method: str) -> None:
    """A push for 0.1 s, then none: forces of each call are those of its own acceleration."""

    def motion(t: float) -> float:
        t = max(t, 0.0)
        return 1.5 * t * t if t < 0.1 else 0.015 + 0.3 * (t - 0.1)

    problem, _, _ = pushed(motion, method)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        problem.solve(to=0.1, step=1e-2, adaptive=False)
        first = len(problem.history.time)
        history = problem.solve(to=0.2, step=1e-2, adaptive=False)
    force = np.abs(history["force"])
    assert force[: first - 1] == pytest.approx(2.0 * 3.0, rel=1e-6)
    assert force[first:] == pytest.approx(0.0, abs=1e-5)
    assert history["z"] == pytest.approx([motion(t) for t in history.time], abs=1e-10)


@pytest.mark.parametrize("method", METHODS)
def test_round_off_where_a_motion_will_begin_is_no_kink(method: str) -> None:
    """The value at the end of a call is that of the next branch, sin(2 pi) = -2e-16 here."""
    problem, _, _ = pushed(lambda t: math.sin(20 * math.pi * t) if t >= 0.1 else 0.0, method)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        problem.solve(to=0.1, step=1e-2, adaptive=False)


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("between", [False, True])
def test_a_velocity_that_jumps_is_an_impact(method: str, between: bool) -> None:
    begin, speed = 0.1 * between, [0.0 if between else 1.0]
    problem, _, _ = pushed(lambda t: speed[0] * max(0.0, t - begin), method)
    if between:
        problem.solve(to=begin, step=1e-2, adaptive=False)
        speed[0] = 1.0
    with told(match="velocities violate constraints"):
        history = problem.solve(to=begin + 0.1, step=1e-2, adaptive=False)
    assert np.abs(history["force"]).max() < 1e-8
    assert history["z"][-1] == pytest.approx(0.1, abs=1e-12)


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("power", [0, 1, 2])
def test_a_motion_jumps_by_more_than_the_next_derivative_explains(power: int) -> None:
    """1e-9 of positions, 1e-3 of rates, 1e-2 of accelerations."""
    for part, jump in ((3.0, True), (0.3, False)):
        course = [0.0, 0.0 if power == 2 else 2.0, 3.0]  # and its derivatives at t = 0.1
        start = -0.1 * course[1] + 0.015

        def motion(t: float, course: Any = course, start: float = start) -> float:
            u, v, a = course
            return float(u + v * (t - 0.1) + a * (t - 0.1) ** 2 / 2 - start)

        problem, _, _ = pushed(motion, "generalized-alpha")
        with told(match="velocities violate constraints"):
            problem.solve(to=0.1, step=1e-2)
        before = problem._integrator.snapshot()
        size = abs(start), course[1], course[2]
        course[power] += part * (1e-9, 1e-3, 1e-2)[power] * size[power]
        assert problem._supports is not None
        found = problem._supports.jumps(before, 1e-2)
        assert found == tuple(jump and k == power for k in range(3))


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("method", METHODS)
def test_a_support_that_jumps_off_its_joint_is_an_error(method: str) -> None:
    place = sa.Parameter("place", 0.0)
    problem, _, _ = pushed(lambda t: place.value, method)
    problem.solve(to=0.1, step=1e-2)
    place.value = 0.05
    off = pytest.approx(0.02 * 5.0**0.5)
    with refused(sa.ConstraintError, asked="residual", given=off, names=("revolute",)):
        problem.solve(to=0.2, step=1e-2)
    assert problem.system.time == pytest.approx(0.1)


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("at", [0.05, 0.052, 0.055])
@pytest.mark.parametrize("power", [0, 1, 2])
def test_kinks_within_a_call_are_told(method: str, at: float, power: int) -> None:
    problem, _, _ = pushed(lambda t: 0.01 * (t > at) * (10.0 * (t - at)) ** power, method)
    with told(match=r"'fix:cart' prescribes jumps .* between t = 0\.0[45]"):
        problem.solve(to=0.07, step=1e-2, adaptive=False)


def turned(course: Callable[[float], float], kind: str, method: str) -> sa.DynamicProblem:
    """A body that a joint turns, moves at a distance or along a slanting rail."""
    rod = sa.RigidBody(position=(1.0, 0.0, 0.0), mass=2.0, inertia=(0.1, 0.1, 0.1), name="rod")
    end, centre = rod.at((0.0, 0.0, 0.0)), sa.ground.at((0.0, 0.0, 0.0))
    if kind == "angle":
        hinge = sa.joints.revolute(rod.at((-1.0, 0.0, 0.0)), centre, axis=(0, 0, 1))
        drive = sa.joints.rotation(
            rod.at((-1.0, 0.0, 0.0)), centre, axis=(0, 0, 1), angle=course, name="drive"
        )
        terms = [hinge, drive]
    else:
        terms = [sa.joints.distance(end, centre, length=lambda t: 1.0 + course(t), name="drive")]
    return sa.DynamicProblem(sa.System(rod, terms=terms), method=method)


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize("kind", ["angle", "distance"])
@pytest.mark.parametrize(
    ("method", "at", "power"),
    [
        ("generalized-alpha", 0.052, 0),
        *itertools.product(METHODS, (0.05, 0.055), (1,)),
        *itertools.product(METHODS, (0.052,), (2,)),
    ],
)
def test_kinks_of_joints_within_a_call_are_told(
    kind: str, method: str, at: float, power: int
) -> None:
    problem = turned(lambda t: 0.01 * (t > at) * (10.0 * (t - at)) ** power, kind, method)
    with told(match=r"'drive' prescribes jumps .* between t = 0\.0[45]"):
        problem.solve(to=0.07, step=1e-2, adaptive=False)


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("kind", ["angle", "distance"])
@pytest.mark.parametrize("method", METHODS)
def test_kinks_of_joints_between_calls_are_none(kind: str, method: str) -> None:
    problem = turned(lambda t: 3.0 * max(0.0, t - 0.03) ** 2, kind, method)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        for to in (0.03, 0.07):
            problem.solve(to=to, step=1e-2, adaptive=False)


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("kind", ["angle", "distance"])
def test_joints_that_steps_resolve_are_not_told_of(kind: str) -> None:
    def smooth(t: float) -> float:
        return 0.02 * (1 - math.cos(20.0 * t))

    problem = turned(smooth, kind, "generalized-alpha")
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        for k in range(4):
            problem.solve(to=0.1 * (k + 1), step=4e-3)


@pytest.mark.collective(rows=0)
def test_motions_that_steps_resolve_are_not_told_of() -> None:
    def smooth(t: float) -> float:
        return 0.1 * math.sin(20.0 * t) + 0.02 * (1 - math.cos(50.0 * t))

    problem, hold, rod = pushed(smooth, "generalized-alpha")
    rod.velocity = (0.0, 0.0, 2.0)
    problem = sa.DynamicProblem(problem.system)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        for k in range(4):
            problem.solve(to=0.1 * (k + 1), step=4e-3)
    bend = -40.0 * math.sin(8.0) + 50.0 * math.cos(20.0)
    assert hold.reaction(problem.system).force[2] == pytest.approx(3.0 * bend, rel=5e-2)


def test_a_support_function_of_places_moves_them() -> None:
    mesh = sa.Mesh.box((0.4, 0.2), (2, 1))
    sheet = sa.Body(
        mesh["body"], sa.elements.ancf_thin_plate, sa.energies.kirchhoff(),
        E=1e6, nu=0.3, thickness=0.01, rho=1000.0,
    )  # fmt: skip

    def lift(X: Any, t: float) -> Any:
        u = np.zeros_like(X)
        u[:, 2] = 0.1 * t * t * (1.0 + X[:, 1])
        return u

    hold = sa.fix(sheet["x0"], dofs="position", displacement=lift)
    system = sa.System(sheet, terms=[hold])
    sa.DynamicProblem(system, spectral_radius=0.5).solve(to=0.05, step=5e-3)
    corner = sheet.at((0.0, 0.2, 0.0))
    assert system.displacement(corner)[0, 2] == pytest.approx(0.1 * 0.05**2 * 1.2, rel=1e-12)
    assert system.velocity(corner)[0, 2] == pytest.approx(0.2 * 0.05 * 1.2, rel=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_a_clamp_keeps_its_place_whatever_the_initial_velocity(method: str) -> None:
    """Velocities given to the body do not move it; the clamp does no work."""
    mesh = sa.Mesh.box((1.0, 0.2, 0.2), (4, 1, 1))
    law, given = sa.energies.neo_hooke(), {"mu": 1e3, "lam": 2e3, "rho": 1.0}
    body = sa.Body(mesh["body"], sa.elements.hex8_plain, law, velocity=(0.0, 0.0, 1.0), **given)
    system = sa.System(body, terms=[sa.fix(body["x0"])])
    problem = sa.DynamicProblem(system, method=method)
    with told("became 0"):
        problem.solve(to=3e-3, step=1e-3)
    assert np.abs(system.displacement(body["x0"])).max() == 0.0
    assert np.abs(system.velocity(body["x0"])).max() == 0.0
    assert system.velocity(body["x1"])[0, 2] == pytest.approx(1.0, rel=1e-2)
    assert abs(problem.energies.drift) < 1e-4 * problem.energies.kinetic
    assert abs(problem.energies.work) < 1e-12


@pytest.mark.collective(rows=0)
def test_a_clamped_rod_that_turns_against_its_clamp_keeps_its_energy() -> None:
    """Directors at the clamp had the rates of the spin: 2000 J where there were 0.06."""
    given = sa.Section.circle(6e-3).rod(E=1e6, nu=0.49, rho=1070.0)
    mesh, law = sa.Mesh.box((0.2,), (4,), cell="line3"), sa.energies.rod()
    rod = sa.Body(mesh["body"], sa.elements.ancf_rod, law, spin=(0.0, 0.0, 20.0), **given)
    problem = sa.DynamicProblem(sa.System(rod, terms=[sa.fix(rod["x0"])]), spectral_radius=0.8)
    with told("became 0"):
        problem.solve(to=0.02, step=1e-3)
    assert problem.energies.total == pytest.approx(0.0646, rel=1e-2)
    assert abs(problem.energies.drift) < 1e-3 * problem.energies.total
