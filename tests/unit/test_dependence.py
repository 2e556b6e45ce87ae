# SPDX-License-Identifier: BSD-3-Clause
"""Functions of time that read nothing else can be asked before a step; others cannot."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import symancf as sa
from symancf.values.dependence import depends_on_time_alone, share_objects
from symancf.values.parameter import components, difference

SYSTEM = sa.System(sa.RigidBody.box((0.1, 0.1, 0.1), rho=1.0, name="box"), terms=[])
STATE = SYSTEM.state
PART = STATE[3:6]
TIMES, VALUES = np.linspace(0.0, 1.0, 5), [0.0, 1.0, 2.0, 1.0, 0.0]
FACTOR = sa.Parameter("factor", 2.0)


class Course:
    """A function of time with something of its own."""

    def __init__(self, own: Any) -> None:
        self.own = own

    def __call__(self, t: float) -> float:
        return self.at(t)

    def at(self, t: float) -> float:
        """Return the value."""
        return float(np.ravel(self.own)[0]) * t


class OfSystem:
    """A function that names a system."""

    def __call__(self, t: float) -> float:
        return float(SYSTEM.state[0])


def closed(own: Any) -> Callable[[float], float]:
    return lambda t: sum(float(own[0]) for _ in range(2))


@pytest.mark.parametrize(
    "function",
    [
        lambda t: math.sin(t) * FACTOR.value,
        lambda t: np.interp(t, TIMES, VALUES),
        CubicSpline(TIMES, VALUES),
        Course(2.0),
        Course(np.ones(3)).at,
        functools.partial(lambda a, t: a * t, 2.0),
        np.sin,
        components("load", lambda t: (t, t, 0.0))[1],
        difference("target", lambda t: t * t),
        closed(VALUES),
    ],
)
def test_functions_of_time_alone(function: Any) -> None:
    assert depends_on_time_alone([function], [STATE])


@pytest.mark.parametrize(
    "function",
    [
        lambda t: float(SYSTEM.state[0]),
        lambda t: PART[0],
        lambda t, q=PART: q[0],
        Course(SYSTEM),
        Course(STATE).at,
        OfSystem(),
        functools.partial(lambda a, t: a[0] * t, STATE),
        components("load", lambda t: STATE[:3])[1],
        difference("target", lambda t: PART[0]),
        closed({"deep": [(PART,)]}),
        closed([object() for _ in range(10_000)]),
    ],
)
def test_functions_that_may_read_a_motion(function: Any) -> None:
    assert not depends_on_time_alone([lambda t: t, function], [STATE])


def test_functions_that_share_what_others_change() -> None:
    log: list[float] = []

    def noted() -> None:
        log.append(float(SYSTEM.state[0]))

    assert share_objects([lambda t: log[-1]], [noted])
    assert share_objects([closed(log)], [noted])
    assert not share_objects([closed(VALUES)], [noted])
    assert not share_objects([lambda t: t], [noted])
