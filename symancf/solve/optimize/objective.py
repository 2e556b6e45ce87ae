# SPDX-License-Identifier: BSD-3-Clause
"""Goals as a function of the values of parameters, with derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ...assembly.configuration import discrete_system
from ...errors import ConvergenceError, ParameterError, SymancfError
from ...runtime.collective import together
from ...values.parameter import Parameter, label
from ..gradients.gradient import require_variables
from ..statics.problem import StaticProblem

if TYPE_CHECKING:
    from ...arrays import Array
    from ..gradients.goal import Goal
    from ..gradients.gradient import Gradient, Variable
    from ..statics.hessian import Hessian
    from ..statics.taylor import Differentiable

#: Maps all values x to value, gradient (n,) and, for methods with a Hessian, that (n, n).
Penalty: TypeAlias = Callable[[Any], Sequence[Any]]


class Objective:
    """Goals y(x) of the solution for values x of parameters, one after the other.

    Values are written to the parameters, and the solution is found anew, where they differ: the
    equilibrium from the one of the values before, all steps of a trace, the motion from its start.
    Rank 0 says what the values are.

    Parameters
    ----------
    call : begins messages.
    problem : solved once; its present time is that of all solutions.
    goals : y.
    parameters : whose values are x, one after the other.

    Attributes
    ----------
    size : of x.
    solutions : how many equilibria or motions were found.

    Raises
    ------
    ParameterError : see `StaticProblem.gradient`.
    """

    def __init__(
        self, call: str, problem: Differentiable, goals: Sequence[Goal], parameters: Sequence[Any]
    ) -> None:
        self.call, self.problem = call, problem
        self.goals = list(goals)
        if not self.goals:
            raise ParameterError(f"{call}: give goals, there are none", asked="goals")
        self.parameters: list[Variable] = require_variables(
            discrete_system(call, problem.system), parameters
        )
        self.counts = [1 if isinstance(p, Parameter) else len(p.values) for p in self.parameters]
        self.size, self.solutions = sum(self.counts), 0
        self.present()  # solved, all goals have values and derivatives
        self.gradient(np.ones(len(self.goals)))

    @property
    def values(self) -> Array:
        """The present values x (n,)."""
        parts = [[p.value] if isinstance(p, Parameter) else p.values for p in self.parameters]
        return np.concatenate(parts).astype(float)

    def split(self, x: Array) -> list[Array]:
        """Return the values of each parameter."""
        return np.split(x, np.cumsum(self.counts)[:-1])

    def __call__(self, x: Any) -> Array:
        """Return the goals (m,) for values x (collective).

        Raises
        ------
        ConvergenceError : there is no solution for x; parameters and state are those before.
        """
        comm = self.problem.system.comm
        with together(comm):
            given = np.array(x, dtype=float).ravel()
            if given.shape != (self.size,) or not np.isfinite(given).all():
                raise ParameterError(
                    f"{self.call}: it takes {self.size} finite numbers, not {label(x)}",
                    asked="values",
                    given=x,
                )
        given = comm.bcast(given)
        if not np.array_equal(given, self.values):
            self.solve(given)
        return self.present()

    def solve(self, x: Array) -> None:
        """Find the solution for values x (collective).

        Raises
        ------
        ConvergenceError : there is none; parameters and state are those before.
        """
        before, state = self.values, self.problem.state
        try:
            self.problem._solve_with(partial(self.assign, x))
        except ConvergenceError as error:
            self.assign(before)
            self.problem.restore(state)
            self.problem._solve_with(partial(self.assign, before))
            error.add_note(
                f"{self.call}: there was no solution for the values {label(x)}, after "
                f"{self.solutions} others; narrower bounds, or a start nearer to the end, help"
            )
            raise
        self.solutions += 1

    def present(self) -> Array:
        """Return the goals (m,) of the last solution (collective)."""
        values = [self.problem.value(goal) for goal in self.goals]
        return np.array(self.problem.system.comm.bcast(values))

    def assign(self, x: Array) -> None:
        """Write values x to the parameters."""
        for parameter, own in zip(self.parameters, self.split(x), strict=True):
            if isinstance(parameter, Parameter):
                parameter.value = float(own[0])
            else:
                parameter.values = own

    def gradient(self, weights: Any) -> Array:
        """Return the derivatives (n,) of weights . y at the present values (collective)."""
        goal = self.goals[0] * float(weights[0])
        for weight, other in zip(weights[1:], self.goals[1:], strict=True):
            goal = goal + other * float(weight)
        found = self.problem.gradient(goal, self.parameters)
        own = np.concatenate([np.atleast_1d(found[p]) for p in self.parameters])
        return np.asarray(self.problem.system.comm.bcast(own))

    def jacobian(self) -> Array:
        """Return the derivatives (m, n) of all goals at the present values (collective).

        Of fewer values than goals the direct way, where it is known: a linear system for each
        value, or linear steps of the motion along it; else by a sweep for each goal.
        """
        rows = [np.concatenate([np.atleast_1d(g[p]) for p in self.parameters]) for g in self._all()]
        return np.asarray(self.problem.system.comm.bcast(np.array(rows, dtype=float)))

    def _all(self) -> list[Gradient]:
        problem = self.problem
        path = isinstance(problem, StaticProblem) and problem.trace is not None
        if self.size < len(self.goals) and not path:
            with suppress(ParameterError):  # of a controller with a state, say
                return problem.sensitivity(self.parameters, of=self.goals)
        return [problem.gradient(goal, self.parameters) for goal in self.goals]

    def hessian(self) -> Hessian:
        """Return products with the Hessian of the first goal at the present values (collective).

        Raises
        ------
        ParameterError : of a motion.
        """
        if not isinstance(self.problem, StaticProblem):
            raise ParameterError(
                f"{self.call}: products with the Hessian are known of statics alone; take a method "
                "that uses gradients, L-BFGS-B or bqnls",
                asked="method",
            )
        return self.problem.hessian(self.goals[0], self.parameters, gauss_newton=True)

    def bounds(self, given: Any) -> tuple[Array, Array]:
        """Return lower and upper bounds (n,) of a pair for each parameter.

        Raises
        ------
        ParameterError : they are no pairs of one lower and one upper bound each.
        """
        low, high = np.full(self.size, -np.inf), np.full(self.size, np.inf)
        start = np.concatenate([[0], np.cumsum(self.counts)])
        try:
            pairs = [(None, None)] * len(self.parameters) if given is None else list(given)
            if len(pairs) != len(self.parameters):
                raise ValueError
            for k, _ in enumerate(self.parameters):
                own = slice(start[k], start[k + 1])
                lower, upper = pairs[k]
                low[own] = -np.inf if lower is None else lower
                high[own] = np.inf if upper is None else upper
        except (TypeError, ValueError):
            raise ParameterError(
                f"{self.call}: bounds= takes a pair (lower, upper) for each of the "
                f"{len(self.parameters)} parameters, numbers, arrays or None, not {label(given)}",
                asked="bounds",
                given=given,
            ) from None
        if not (low < high).all():
            raise ParameterError(
                f"{self.call}: each lower bound must be less than the upper one",
                asked="bounds",
                given=given,
            )
        return low, high

    def penalised(self, penalty: Penalty | None, x: Array) -> tuple[float, Array, Any]:
        """Return value, gradient and Hessian (or None) that the user adds (collective).

        Raises
        ------
        ParameterError : the function returns something else; what it raises itself passes.
        """
        if penalty is None:
            return 0.0, np.zeros_like(x), None
        with together(self.problem.system.comm):
            result: Any = penalty
            if callable(result):
                result = result(x.copy())
            try:
                value, gradient, *more = result
                slope = np.asarray(gradient, dtype=float)
                fine = np.isfinite(float(value)) and slope.shape == x.shape
                fine = fine and bool(np.isfinite(slope).all())
            except (TypeError, ValueError):
                fine = False
            if not fine or len(more) > 1:
                raise ParameterError(
                    f"{self.call}: penalty(x) must return a number, its gradient ({len(x)},) and, "
                    "for methods with a Hessian, that",
                    asked="penalty",
                )
        return float(value), slope, more[0] if more else None

    def unit(self, penalty: Penalty | None) -> float:
        """Return the size of the first goal with its penalty, or of its changes (collective)."""
        x = self.values
        value, slope = float(self(x)[0]), self.gradient([1.0])
        more, by, _ = self.penalised(penalty, x)
        return max(abs(value + more), float(np.abs(self.scales() * (slope + by)).max())) or 1.0

    def scales(self) -> Array:
        """Return the size of each value (n,): the largest of its parameter, 1 where that is 0."""
        largest = [float(np.abs(own).max()) or 1.0 for own in self.split(self.values)]
        return np.repeat(largest, self.counts)


def missing(library: str, call: str) -> SymancfError:
    """Return the error where a library is not installed."""
    return SymancfError(
        f"{call} needs {library}: pip install {library}", asked=library, given="not installed"
    )
