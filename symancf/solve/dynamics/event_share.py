# SPDX-License-Identifier: BSD-3-Clause
r"""Derivatives of a motion that ends where a function g of it is zero.

With the length of the last step free, J(p, t) and g(p, t) are those of its end. From g = 0,

.. math::
    \frac{dt}{dp} = -\frac{g_p}{g_t}, \qquad \frac{dJ}{dp} = J_p - \frac{J_t}{g_t}\, g_p :

the derivatives at a held time of J and of g, with a share of g. Those by t are central differences
of order 4 of the step made anew, so that they are those of the motion as it was computed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...errors import ParameterError
from ..gradients.goal import GoalAtSteps
from .interval import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...arrays import Array
    from ..gradients.goal import Goal
    from .motion_trace import MotionTrace


def weights_to_end(trace: MotionTrace, goal: Goal) -> tuple[float, list[GoalAtSteps]]:
    """Return a goal, and those at steps whose derivatives at held times are its own (collective).

    Raises
    ------
    ParameterError : the event turns at its zero, so that its time has no derivative.
    """
    value, slopes, weights = trace.weights(goal)
    if trace.event is not None:
        share = _event_share(trace, trace.event, goal.by_end(trace.times), slopes)
        last = np.array([len(trace.times) - 1])
        weights.append(GoalAtSteps(last, np.array([share]), trace.event))
    return value, weights


def distance_to_step_end(trace: MotionTrace) -> float:
    """Return how near an event is to the end of a step, in parts of its length; inf: none is.

    An event that goes over to the next step, or the one before, ends a step of another length: the
    motion depends continuously on parameters there, its derivatives jump by the error of the steps.
    """
    if trace.event is None:
        return np.inf
    begin, end = (float(t) for t in trace.times[-2:])
    usual = trace.length(trace.states[-1])
    ends = begin, begin + usual, trace.request.next(begin)
    return min(abs(end - time) for time in ends) / usual


def _event_share(
    trace: MotionTrace,
    event: Goal,
    parts: Sequence[Sequence[tuple[int, float, float, Goal]]],
    slopes: Sequence[float],
) -> float:
    """Return -J_t / g_t; parts of the goal are those of `Goal.by_end` (collective)."""
    last, total = len(trace.times) - 1, 0.0
    for part, slope in zip(parts, slopes, strict=True):
        for n, rate, _, goal in part:
            if rate:
                trace.go_to(trace.states[n])
                total += slope * rate * goal.at_state(trace.system)
    moved = [(slope * w, g) for part, slope in zip(parts, slopes, strict=True) for *_, w, g in part]
    by_time = _by_time(trace, [event, *(goal for _, goal in moved)])
    total += float(np.dot([weight for weight, _ in moved], by_time[1:]))
    trace.go_to(trace.states[last])
    return -total / float(by_time[0])


def _by_time(trace: MotionTrace, goals: Sequence[Goal]) -> Array:
    """Return the derivatives of goals of the last state by its time (collective).

    The first one is that of the event.
    """
    integrator, begin, end = trace.integrator, trace.states[-2], trace.states[-1]
    interval = Interval(trace.motion, begin, end, integrator.smooth)
    values, little = [], 1e-3 * interval.length
    trace.accelerations.newton.tangent.stale = True
    for k in (-2, -1, 1, 2):
        trace.go_to(begin)
        trace.motion.span = trace.request.span(float(trace.times[0]), begin.time)
        integrator.go_back(begin)
        if not integrator.ends_at(end.time + k * little, interval):
            raise integrator.failure(interval.length)
        values.append([goal.at_state(trace.system) for goal in goals])
    steps = np.diff([value[0] for value in values])
    if not (np.all(steps > 0.0) or np.all(steps < 0.0)):
        raise ParameterError(
            f"the event of {goals[0].name!r} at t = {end.time:g} is where its goal turns: its time "
            "has no derivative",
            asked="event",
            given=goals[0].name,
        )
    derivatives: Array = np.array([1.0, -8.0, 8.0, -1.0]) @ np.array(values) / (12.0 * little)
    return derivatives
