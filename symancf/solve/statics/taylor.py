# SPDX-License-Identifier: BSD-3-Clause
"""Is a gradient that of the goal? Taylor's remainders: `sa.check_gradient`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ...output.tracking import parents_of
from ...values import arguments
from ..gradients.gradient import assign, value_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...assembly.state import State
    from ...system import System
    from ..gradients.goal import Goal
    from ..gradients.gradient import Gradient, Variable


class Differentiable(Protocol):
    """A problem with gradients: a `StaticProblem`, or a `DynamicProblem` with a trace."""

    system: System

    def gradient(self, goal: Goal, parameters: Sequence[Variable]) -> Gradient:
        """Return derivatives."""

    def sensitivity(self, parameters: Sequence[Variable], *, of: Sequence[Goal]) -> list[Gradient]:
        """Return derivatives of several goals."""

    def value(self, goal: Goal) -> float:
        """Return a goal of the last solution."""

    def _solve_with(self, assign: Callable[[], None]) -> None:
        """Find the last solution anew, with parameters that are assigned before."""

    @property
    def state(self) -> State:
        """The present state."""

    def restore(self, state: State) -> object:
        """Put a state back."""


@dataclass(frozen=True)
class GradientCheck:
    """Result of `check_gradient`.

    Attributes
    ----------
    steps : h, by which the parameters go along a random direction.
    remainders : |J(p + h d) - J(p) - h dJ/dp . d|.
    orders : in h, from each step to the next; 2 where the gradient is right, 1 where it is not.
    slope : dJ/dp . d.
    switch : `Gradient.switch`; solutions beyond it do not tell.
    """

    steps: tuple[float, ...]
    remainders: tuple[float, ...]
    orders: tuple[float, ...]
    slope: float
    switch: float = np.inf

    @property
    def passed(self) -> bool:
        """Whether remainders fall as h^2, or are round-off."""
        floor = [1e-8 * abs(self.slope * h) for h in self.steps]  # round-off
        pairs = zip(self.orders, self.remainders[1:], floor[1:], strict=True)
        return all(order >= 1.9 or rest <= least for order, rest, least in pairs)

    def __str__(self) -> str:
        lines = ["       h   remainder   order"]
        orders = ["", *(f"{order:.2f}" for order in self.orders)]
        for h, rest, order in zip(self.steps, self.remainders, orders, strict=True):
            lines.append(f"{h:8.1e}   {rest:9.2e}   {order:>5}")
        near = [f"a switch is as near as {self.switch:.1e}"] if np.isfinite(self.switch) else []
        return "\n".join([*lines, *near, "ok" if self.passed else "WRONG"])


def check_gradient(
    problem: Differentiable,
    goal: Goal,
    parameters: Sequence[Variable],
    *,
    size: float = 0.02,
    seed: int = 0,
) -> GradientCheck:
    r"""Compare a gradient with solutions beside, along a random direction (collective).

    The gradient is that of `StaticProblem.gradient` or `DynamicProblem.gradient`, whose motion is
    repeated from its start; lengths of steps have to be fixed there. Four solutions, at
    :math:`p + h d` with h halved from one to the next: the remainders
    :math:`|J(p + h d) - J(p) - h\, dJ/dp \cdot d|` fall as :math:`h^2`. Afterwards parameters and
    the solution are those of before. After a static solution with a trace its steps are repeated
    from the start, `StaticProblem.reset`.

    Parameters
    ----------
    size : the first h; d changes each value by at most itself (by 1 where it is 0).
    seed : of the direction, which does not depend on the number of ranks.

    Returns
    -------
    GradientCheck : printable; `GradientCheck.passed` says whether orders are 2.

    Raises
    ------
    ParameterError, ConvergenceError : as those of `StaticProblem.gradient` and `solve`.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((1.0,), (2,))
    >>> EI = sa.Parameter("EI", 1.0)
    >>> cable = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), EA=1e3, EI=EI)
    >>> tip = cable.at((1.0, 0.0, 0.0))
    >>> terms = [sa.fix(cable["x0"]), sa.force(tip, (0.0, 0.5, 0.0))]
    >>> problem = sa.StaticProblem(sa.System(cable, terms=terms), options={"snes_rtol": 1e-12})
    >>> _ = problem.solve()
    >>> sa.check_gradient(problem, sa.Goal(lambda u_a: u_a[1], tip), [EI]).passed
    True
    """
    parents_of("check_gradient", problem.system)
    size = arguments.positive("check_gradient", "size", size)
    random = np.random.default_rng(arguments.integer("check_gradient", "seed", seed, least=0))
    found = problem.gradient(goal, parameters)
    before = [value_of(p) for p in parameters]
    directions = [
        np.where(value == 0.0, 1.0, value) * random.uniform(-1.0, 1.0, np.shape(value))
        for value in before
    ]
    slope = sum(
        float(np.sum(np.asarray(found[p]) * d)) for p, d in zip(parameters, directions, strict=True)
    )

    def beside(h: float) -> float:
        def change() -> None:
            for p, value, d in zip(parameters, before, directions, strict=True):
                assign(p, value + h * d)

        problem._solve_with(change)
        return problem.value(goal)

    steps = tuple(size / 2**k for k in range(4))
    remainders = []
    try:
        for h in steps:
            remainders.append(abs(beside(h) - found.value - h * slope))
    finally:
        beside(0.0)
    tiny = np.maximum(remainders, np.finfo(float).tiny)
    orders = tuple(float(x) for x in np.log2(tiny[:-1] / tiny[1:]))
    return GradientCheck(steps, tuple(remainders), orders, slope, found.switch)
