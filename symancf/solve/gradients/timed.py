# SPDX-License-Identifier: BSD-3-Clause
"""Parts of goals that belong to the way of a solution: values at a time, and integrals."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ...errors import ParameterError
from .parts import GoalPart

if TYPE_CHECKING:
    from ...arrays import Array
    from ...assembly.discrete import DiscreteSystem
    from .parts import Found


class TimedPart(GoalPart):
    """The values of a goal at the states of a trace, summed with weights.

    Attributes
    ----------
    goal : the `Goal` whose values these are.
    """

    def __init__(self, goal: Any) -> None:
        self.goal, self.place = goal, "a trace"
        self.what = f"goal {goal.name!r}"

    @abstractmethod
    def weights(self, times: Array) -> Array:
        """Return the weights of the states, whose times grow.

        Raises
        ------
        ParameterError : the times do not suit.
        """

    def _refuse(self) -> NoReturn:
        raise ParameterError(
            f"{self.what} has values at other times than the present one: its value is that of "
            "problem.gradient(goal, parameters) after solve(..., trace=sa.Trace())",
            asked="goal",
            given=self.goal.name,
        )

    def value(self, system: DiscreteSystem) -> float:
        """Refuse: there is one state alone."""
        self._refuse()

    def slopes(self, system: DiscreteSystem) -> Found:
        """Refuse: there is one state alone."""
        self._refuse()

    def curvature(
        self, system: DiscreteSystem, coordinates: Array, forces: Array
    ) -> tuple[Array, Array]:
        """Refuse: there is one state alone."""
        self._refuse()

    def _require_growing(self, times: Array) -> None:
        if np.any(np.diff(times) <= 0.0):
            raise ParameterError(
                f"{self.what}: the times of the trace do not grow, so that a time or an integral "
                "means nothing there; let loads fall as functions of a growing time",
                asked="trace",
                given=times,
            )


class InstantPart(TimedPart):
    """The value at a time, linear between two steps."""

    def __init__(self, goal: Any, time: float) -> None:
        super().__init__(goal)
        self.time = time

    def weights(self, times: Array) -> Array:
        """Return the weights of the states next to the time."""
        self._require_growing(times)
        near = 1e-9 * (times[-1] - times[0])
        if not times[0] - near <= self.time <= times[-1] + near:
            raise ParameterError(
                f"{self.what}: .at({self.time:g}) is none of the times of the trace, from "
                f"{times[0]:g} to {times[-1]:g}",
                asked="at",
                given=self.time,
                possible=(float(times[0]), float(times[-1])),
            )
        weights: Array = np.zeros(len(times))
        k = int(np.clip(np.searchsorted(times, self.time - near), 1, len(times) - 1))
        part = float(np.clip((self.time - times[k - 1]) / (times[k] - times[k - 1]), 0.0, 1.0))
        weights[k - 1], weights[k] = 1.0 - part, part
        return weights


class IntegralPart(TimedPart):
    """The integral over time by the rule of trapezoids."""

    def weights(self, times: Array) -> Array:
        """Return the weights of trapezoids."""
        self._require_growing(times)
        weights: Array = np.zeros(len(times))
        lengths = np.diff(times)
        weights[:-1] += lengths / 2.0
        weights[1:] += lengths / 2.0
        return weights
