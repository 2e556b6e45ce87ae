# SPDX-License-Identifier: BSD-3-Clause
"""Parts of goals that belong to the way of a solution: values at a time, and integrals."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, NoReturn, Protocol

import numpy as np

from ...errors import ParameterError
from .parts import Found, GoalPart

if TYPE_CHECKING:
    from ...arrays import Array, Ints
    from ...assembly.discrete import DiscreteSystem
    from ...bodies.body import Body


class OfState(Protocol):
    """A goal of one state."""

    name: str

    @property
    def parametric(self) -> bool:
        """Whether parameters occur in it beside the state."""

    @property
    def rates(self) -> bool:
        """Whether it asks for velocities."""


class TimedPart(GoalPart):
    """A number that follows from the states of a trace.

    Parameters
    ----------
    goal : of one state.
    """

    def __init__(self, goal: OfState) -> None:
        self.goal = goal
        self.what, self.place = f"goal {goal.name!r}", "a trace"
        self.parametric, self.rates = goal.parametric, goal.rates

    def by_reference(self, system: DiscreteSystem, body: Body) -> Array:
        """Refuse: a state has none."""
        self.refuse()

    def curvature(
        self, system: DiscreteSystem, coordinates: Array, forces: Array
    ) -> tuple[Array, Array]:
        """Refuse: a state has none."""
        self.refuse()

    @abstractmethod
    def instants(self, times: Array) -> tuple[Ints, Array]:
        """Return which of the times at the ends of steps count, ascending, and their weights."""

    @abstractmethod
    def by_end(self, times: Array) -> list[tuple[int, float, float, OfState]]:
        """Return what follows the last time, see `Goal.by_end`."""

    def _require_growing(self, times: Array) -> None:
        if np.any(np.diff(times) <= 0.0):
            raise ParameterError(
                f"{self.what}: the times of the trace do not grow, so that a time or an integral "
                "means nothing there; let loads fall as functions of a growing time",
                asked="trace",
                given=times,
            )

    def refuse(self) -> NoReturn:
        """Refuse the value at one state."""
        raise ParameterError(
            f"{self.what}: .at(...) and .integral() are those of all steps: "
            "solve(..., trace=sa.Trace()), then gradient(goal, parameters).value; of one state "
            "give the goal itself",
            asked="goal",
            given=self.what,
        )

    def value(self, system: DiscreteSystem) -> float:
        """Refuse: a state has none."""
        self.refuse()

    def slopes(self, system: DiscreteSystem) -> Found:
        """Refuse: a state has none."""
        self.refuse()


class InstantPart(TimedPart):
    """A goal at a time, where a step ends."""

    #: of the time between steps: by which times that are the same may differ
    same = 1e-9

    def __init__(self, goal: OfState, time: float) -> None:
        super().__init__(goal)
        self._time = time

    def instants(self, times: Array) -> tuple[Ints, Array]:
        """Return the step that ends there."""
        self._require_growing(times)
        k = int(np.argmin(np.abs(times - self._time)))
        step = float(np.diff(times).min(initial=np.inf))
        if abs(times[k] - self._time) > self.same * min(step, abs(self._time) or step):
            raise ParameterError(
                f"{self.what}.at({self._time:g}): no step ends there; the nearest one ends at "
                f"{times[k]:g}: give solve(stops=[{self._time:g}])",
                asked="at",
                given=self._time,
                possible=(float(times[k]),),
            )
        return np.array([k]), np.ones(1)

    def by_end(self, times: Array) -> list[tuple[int, float, float, OfState]]:
        """Return nothing: the time is fixed."""
        return []


class IntegralPart(TimedPart):
    """The integral of a goal over all steps, by the trapezoidal rule."""

    def instants(self, times: Array) -> tuple[Ints, Array]:
        """Return all steps."""
        self._require_growing(times)
        half = 0.5 * np.diff(times)
        weights = np.append(half, 0.0) + np.append(0.0, half)
        return np.arange(len(weights)), weights

    def by_end(self, times: Array) -> list[tuple[int, float, float, OfState]]:
        """Return that the last step counts with half its length at both of its ends."""
        last = len(times) - 1
        half = 0.5 * float(times[last] - times[last - 1])
        return [(last - 1, 0.5, 0.0, self.goal), (last, 0.5, half, self.goal)]
