# SPDX-License-Identifier: BSD-3-Clause
"""An integrator of a program's own is one class: backward differences of second order."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import symancf as sa
from symancf.output.steps import Step
from symancf.solve.dynamics.integrator import Integrator
from symancf.solve.dynamics.methods import METHODS
from tests.refusals import refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from symancf.solve.dynamics.accelerations import Accelerations

G = 9.81


class BackwardDifferences(Integrator):
    r"""Of second order, with steps of any length h = r h_old; the first one is Euler's.

    .. math:: h\, \dot x_{n+1} = \frac{1 + 2 r}{1 + r} x_{n+1} - (1 + r)\, x_n
        + \frac{r^2}{1 + r} x_{n-1}

    of positions, and of rates for accelerations.
    """

    def __init__(self, accelerations: Accelerations) -> None:
        super().__init__(accelerations)
        n = len(self.motion.state)
        self.vectors = {"last": np.zeros(n), "last rate": np.zeros(n)}

    def factors(self, h: float) -> None:
        m, r = self.motion, self.ratio(h)
        m.rate_factor[m.second | m.first] = (1.0 + 2.0 * r) / (1.0 + r) / h
        m.acceleration_factor[m.second] = ((1.0 + 2.0 * r) / (1.0 + r) / h) ** 2

    def ratio(self, h: float) -> float:
        return h / self.last_step if self.last_step else 0.0

    def predict(self, h: float) -> None:
        m, newton, r = self.motion, self.newton, self.ratio(h)
        self.factors(h)
        moved = [
            m.rate_factor * now - ((1.0 + r) * now - r * r / (1.0 + r) * old) / h
            for now, old in ((m.state, self.vectors["last"]), (m.rate, self.vectors["last rate"]))
        ]
        newton.base[:] = m.state
        newton.base_rate[:] = np.where(m.second | m.first, moved[0], 0.0)
        second = moved[1] + m.rate_factor * (newton.base_rate - m.rate)
        newton.base_acceleration[:] = np.where(m.second, second, 0.0)
        m.state += h * m.rate

    def step(self, h: float) -> Step | sa.ConvergenceError:
        h, last = self.fitted(h)
        self.attempt, before, system = h, self.before, self.motion.system
        if before is None or not self.solve(h):
            return self.failure(h)
        system.time = self.end if last else before.time + h
        system._discrete.numbering.spread(before.displacement, self.vectors["last"])
        system._discrete.numbering.spread(before.rates[0], self.vectors["last rate"])
        self.last_step, self.next_step = h, min(self.step_length, 2.0 * h)
        return Step(system.time, self.iterations, self.linear_iterations, {})


def spring_mass(method: Any = BackwardDifferences) -> tuple[sa.DynamicProblem, Callable[[], float]]:
    """Return 2 kg on a spring of 50 N/m that begin at 0.3 m, and their position."""
    mass = sa.PlanarBody((0.0, 0.0), mass=2.0, inertia=0.1)

    def stored(r_a: Any, *, k: Any) -> Any:
        return k / 2 * ((r_a[0] - 0.3) ** 2 + r_a[1] ** 2)

    place = mass.at((0.0, 0.0))
    system = sa.System(mass, terms=[sa.Potential(stored, place, k=50.0)])
    return sa.DynamicProblem(system, method=method), lambda: float(system.position(place)[0, 0])


def pendulum(method: Any = BackwardDifferences) -> tuple[sa.DynamicProblem, Callable[[], float]]:
    """Return a bar of 1 m on a pin that begins level, and the height of its end."""
    bar = sa.PlanarBody((0.5, 0.0), mass=1.0, inertia=1.0 / 12.0)
    pin = sa.joints.revolute(bar.at((-0.5, 0.0)), sa.ground.at((0.0, 0.0)))
    system = sa.System(bar, terms=[pin, sa.gravity((0.0, -G, 0.0))])
    end = bar.at((0.5, 0.0))
    return sa.DynamicProblem(system, method=method), lambda: float(system.position(end)[0, 1])


def height(t: float) -> float:
    """Return the height of the end of the bar: 1/3 a'' = g/2 cos a."""
    options = {"rtol": 1e-12, "atol": 1e-12}
    found = solve_ivp(lambda _, y: (y[1], 1.5 * G * math.cos(y[0])), (0, t), (0, 0), **options)
    return -math.sin(found.y[0, -1])


@pytest.mark.parametrize(
    ("make", "exact"),
    [(spring_mass, 0.3 - 0.3 * math.cos(5.0 * 0.8)), (pendulum, height(0.8))],
)
@pytest.mark.parametrize("stops", [(), (0.1234, 0.41)])
def test_backward_differences_have_order_two(make: Any, exact: float, stops: Any) -> None:
    errors = []
    for step in (8e-3, 4e-3, 2e-3):
        problem, value = make()
        problem.solve(to=0.8, step=step, stops=stops)
        errors.append(abs(value() - exact))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.15)
    assert np.log2(errors[1] / errors[2]) == pytest.approx(2.0, abs=0.15)
    assert errors[2] < 4e-3 * abs(exact)


def test_an_own_method_has_events_states_and_restarts(shared_tmp_path: Any) -> None:
    problem, value = pendulum()
    times = problem.event(lambda: value() + 0.5)
    problem.solve(to=0.5, step=2e-3)
    assert height(times[0]) == pytest.approx(-0.5, abs=1e-4)
    assert problem.history.time == pytest.approx(np.unique([*problem.history.time, *times]))
    there = problem.state
    ends = []
    for _ in range(2):
        problem.restore(there)
        problem.solve(to=0.7, step=2e-3)
        ends.append(value())
    assert ends[0] == ends[1] == pytest.approx(height(0.7), abs=5e-4)
    problem.restore(there)
    problem.save(shared_tmp_path / "own.h5")
    again, same = pendulum()
    again.event(lambda: same() + 0.5)
    again.restore(shared_tmp_path / "own.h5")
    again.solve(to=0.7, step=2e-3)
    assert same() == ends[0]
    with refused(sa.ParameterError, asked="state"):
        sa.DynamicProblem(again.system).restore(again.state)


def test_an_own_method_refuses_what_it_cannot_do() -> None:
    problem, _ = spring_mass()
    assert "BackwardDifferences" in problem._headline()
    with refused(sa.ParameterError, asked="adaptive", given=True, possible=(None, False)):
        problem.solve(to=0.1, step=1e-3, adaptive=True)
    with refused(sa.ParameterError, asked="stabilisation", possible=(None,)):
        sa.DynamicProblem(problem.system, method=BackwardDifferences, stabilisation=sa.Projection())
    with refused(sa.ParameterError, asked="method", possible=METHODS):
        sa.DynamicProblem(problem.system, method=Step)  # type: ignore[arg-type]


def test_a_step_without_a_solution_is_shortened() -> None:
    problem, _ = pendulum()
    problem.solve(to=0.9, step=0.3)
    assert problem.history.cut_backs > 0
    hard = sa.DynamicProblem(
        pendulum()[0].system, method=BackwardDifferences, options={"snes_max_it": 1}
    )
    with refused(sa.ConvergenceError, reason="DIVERGED_MAX_IT", time=0.0):
        hard.solve(to=0.9, step=0.3)
    assert hard.system.time == 0.0
