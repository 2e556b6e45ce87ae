# SPDX-License-Identifier: BSD-3-Clause
"""Rules of steps: their lengths and beginnings, how long a tangent lasts, what has jumped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf.newton.stopping import CALLBACK_NEEDED
from tests.motion import rope

ORIGIN = (0.0, 0.0, 0.0)


def ball(*terms: Any, **given: Any) -> sa.DynamicProblem:
    """A rigid body; `terms` of it."""
    body = sa.RigidBody(mass=1.0, inertia=np.eye(3), length=1.0, **given)
    return sa.DynamicProblem(sa.System(body, terms=[term(body) for term in terms]))


# ---- lengths ------------------------------------------------------------------------------------
@pytest.mark.parametrize(("iterations", "growth"), [(5, 2.0), (8, 1.3)])
def test_a_step_doubles_after_one_that_took_few_iterations(iterations: int, growth: float) -> None:
    problem = ball()
    problem.solve(to=1.0, step=0.5)
    made = problem._integrator
    made.iterations = iterations
    assert made._next(0.1) == pytest.approx(0.1 * growth)


@pytest.mark.parametrize(("part", "length"), [(3e-3, 3e-3), (3e-4, 1.0)])
def test_a_very_short_first_step_is_cut_from_a_whole_one(part: float, length: float) -> None:
    problem = ball(lambda body: sa.gravity((0.0, 0.0, -9.81)))
    problem.solve(to=part * 0.01, step=0.01)
    assert problem._integrator.last_step == pytest.approx(length * 0.01)


def test_coordinates_that_hardly_move_do_not_loosen_the_tolerance_of_others() -> None:
    """The mean square of errors is over those with a thousandth of the largest error."""

    def error(across: float) -> float:
        def energy(u_a: Any) -> Any:
            return 50 * (u_a[0] ** 2 + u_a[1] ** 2)

        springs = lambda body: sa.Potential(energy, body.at(ORIGIN))  # noqa: E731
        problem = ball(springs, velocity=(1.0, across, 0.0))
        problem.solve(to=1e-2, step=1e-3, adaptive=True)
        return float(problem._integrator._local_error())

    one = error(0.0)
    assert error(5e-4) == pytest.approx(one, rel=1e-3)
    assert error(5e-3) == pytest.approx(np.sqrt(0.5) * one, rel=1e-3)


def test_rates_at_rest_are_measured_by_a_size_in_a_thousand_steps() -> None:
    slow = sa.DynamicProblem(ball().system, method="rk")
    slow.solve(to=1e-3, step=1e-3, rtol=1e-6)
    place, rate = np.split(slow._integrator.limits(), 2)
    assert rate == pytest.approx(place / (1000 * 1e-3))


# ---- beginnings ---------------------------------------------------------------------------------
def test_accelerations_are_not_extrapolated_for_some_time_after_trouble() -> None:
    problem = ball(lambda body: sa.gravity((0.0, 0.0, -9.81)))
    problem.solve(to=0.1, step=0.1)
    assert problem._integrator._begins_otherwise()
    problem.solve(to=3.1, step=0.1)
    assert problem._integrator.calm > 0
    problem.solve(to=10.1, step=0.1)
    assert problem._integrator.calm == 0


@pytest.mark.parametrize(("part", "balanced"), [(3e-6, False), (3e-7, True)])
def test_a_load_has_jumped_where_newtons_method_would_see_it(part: float, balanced: bool) -> None:
    push = sa.Parameter("push", 1.0)
    problem = ball(lambda body: sa.force(body.at(ORIGIN), (push, 0.0, 0.0)))
    problem.solve(to=0.1, step=0.01)
    push.value += part
    assert problem._integrator.balanced(0.01) == balanced


@pytest.mark.parametrize(("part", "balanced"), [(1e-8, False), (1e-9, True)])
def test_small_moments_beside_forces_have_not_jumped(part: float, balanced: bool) -> None:
    """Beside a force by whose work they are less than a thousandth they are measured by that."""
    turn = sa.Parameter("turn", 0.0)
    problem = ball(
        lambda body: sa.force(body.at(ORIGIN), (1.0, 0.0, 0.0)),
        lambda body: sa.moment(body, (0.0, 0.0, turn)),
    )
    problem.solve(to=0.1, step=0.01)
    turn.value = part
    assert problem._integrator.balanced(0.01) == balanced


# ---- how long a tangent lasts -------------------------------------------------------------------
class Tangent:
    """The tangent of a motion, that would converge as it is told."""

    def __init__(self, cells: int = 1) -> None:
        body = rope(cells)
        self.problem = sa.DynamicProblem(sa.System(body, terms=[sa.gravity((0.0, 0.0, -9.81))]))
        self.problem.solve(to=1e-3, step=1e-3)
        self.native, self.is_ = self.problem._newton.native, self.problem._newton.tangent
        self.is_.stale = self.is_.eager = self.is_.needy = 0

    def step(self, iterations: int, renews: bool = False) -> None:
        """Make a step that takes some iterations, with a new tangent in the third of them."""
        self.native.call("tangent_begin")
        if renews or self.is_.stale:
            self.native.call("tangent_made")
        self.native.call("accept", iterations)

    def serves(self, ratio: float) -> bool:
        """Whether it does where the second residual is such a part of the first."""
        self.is_.share_before, self.is_.share = 1.0, ratio
        return not self.native.call("tangent_wanted", 2)


@pytest.mark.parametrize(("cells", "ratio", "serves"), [(1, 0.2, True), (1, 0.4, False)])
def test_a_tangent_serves_while_residuals_fall(cells: int, ratio: float, serves: bool) -> None:
    assert Tangent(cells).serves(ratio) == serves


def test_a_tangent_serves_longer_where_factors_cost_many_iterations() -> None:
    """Beyond 5000 unknowns."""
    for cells, serves in ((150, False), (900, True)):
        tangent = Tangent(cells)
        assert tangent.serves(0.4) == serves
        assert not tangent.serves(0.6)


def test_a_tangent_is_made_anew_when_iterations_have_cost_as_much() -> None:
    tangent = Tangent()
    tangent.step(1, renews=True)
    steps = 0
    while not tangent.is_.stale:
        tangent.step(3)  # two more than with a new tangent
        steps += 1
    assert steps == 6


def test_steps_make_a_tangent_at_once_where_several_could_not_do_without() -> None:
    tangent = Tangent()
    tangent.step(2)
    for _ in range(2):
        tangent.step(3, renews=True)
    assert not tangent.is_.eager
    tangent.step(3, renews=True)
    steps = 0
    while tangent.is_.eager:
        tangent.step(2, renews=True)
        steps += 1
    assert steps == 20


# ---- when iterations end ------------------------------------------------------------------------
class Iterations:
    """The test that ends iterations of a step, with residuals that it is told of."""

    def __init__(self, noise: float = 0.0) -> None:
        problem = ball(lambda body: sa.force(body.at(ORIGIN), (1.0, 0.0, 0.0)))
        problem.solve(to=0.1, step=0.1)
        self.test, self.native = problem._newton.balance, problem._newton.native
        self.test.start(np.zeros(self.test.rows.parts, dtype=bool))
        self.test.noise[:], self.test._forces[:] = noise, 0.0

    def called(self, name: str, *given: int) -> int:
        """Return the answer of a function of stopping.h."""
        answer = getattr(self.test._library, f"symancf_stop_{name}")(self.test._place, *given)
        return int(answer)

    def falls(self, share: float) -> int:
        """Return the reason to stop after an iteration with a new tangent, 0 to go on."""
        self.test._shares[:] = share
        return self.called("by_shares", 1)

    def within(self, residual: float) -> bool:
        """Whether a residual is small."""
        self.test._norms[:] = residual
        self.native.call("weigh")
        return bool(self.called("within"))


def test_residuals_need_not_fall_below_twice_their_round_off() -> None:
    assert Iterations(noise=1e-3).within(1.5e-3)
    assert not Iterations(noise=1e-3).within(2.5e-3)


def test_iterations_go_on_unasked_while_residuals_fall_to_a_tenth() -> None:
    iterations = Iterations()
    answers = [iterations.falls(share) for share in (1.0, 0.08, 0.02, 1e-3)]
    assert answers == [0, 0, CALLBACK_NEEDED, 0]


@pytest.mark.parametrize(("share", "grown"), [(3e4, True), (3e3, False)])
def test_residuals_that_grow_ten_thousand_times_are_given_up(share: float, grown: bool) -> None:
    iterations = Iterations()
    iterations.falls(1.0)
    iterations.test.first[:] = 1.0
    assert iterations.falls(share) == CALLBACK_NEEDED
    iterations.called("far", 1)
    assert iterations.called("at_round_off") == (-9 if grown else 0)


@pytest.mark.parametrize(("residual", "reused"), [(5e5, False), (2e6, True)])
def test_an_estimate_of_round_off_serves_again_far_above_it(residual: float, reused: bool) -> None:
    """Up to a million times the last one there is to be a new one."""
    iterations = Iterations(noise=1.0)
    iterations.test._norms[:], iterations.test._shares[:] = residual, 1.0
    assert iterations.called("reuses_noise") == reused
    iterations.test._shares[:] = 0.0  # where nothing is lacking, none is needed
    assert iterations.called("reuses_noise")


@pytest.mark.parametrize(("moment", "iterations"), [(1.5e-17, 1), (1.5e-18, 0)])
def test_moments_that_do_hardly_any_work_are_none(moment: float, iterations: int) -> None:
    """Beside the work of a force of 1 N that of 1e-10 of it, to the tolerance of 1e-8."""
    problem = ball(
        lambda body: sa.force(body.at(ORIGIN), (1.0, 0.0, 0.0)),
        lambda body: sa.moment(body, (0.0, 0.0, lambda t: moment * (t > 0.055))),
    )
    history = problem.solve(to=0.06, step=0.01)
    assert [step.iterations for step in history.steps] == [*5 * [0], iterations]


# ---- after a sudden change ----------------------------------------------------------------------
@pytest.mark.parametrize(("part", "sudden"), [(0.3, True), (0.5, False)])
def test_rates_fulfil_constraints_after_a_much_shorter_step(part: float, sudden: bool) -> None:
    """Else they are off by h^2 times the jerk, as in steps of one length."""
    problem = ball(
        lambda body: sa.joints.revolute(body.at((-0.5, 0.0, 0.0)), axis=(0, 1, 0)),
        lambda body: sa.gravity((0.0, 0.0, -9.81)),
    )
    h = 0.01
    problem.solve(to=0.1, step=h)
    problem.solve(to=0.1 + part * h, step=part * h)
    off = (
        np.abs(problem._accelerations.violation(speed=True)).max()
        / problem.system._discrete.stiffness
    )
    assert (off < 1e-13) == sudden
    assert off < 1e-3
