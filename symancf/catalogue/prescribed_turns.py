# SPDX-License-Identifier: BSD-3-Clause
"""Turns that supports and joints prescribe, full turns included, which directors do not show."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array
from ..runtime.collective import together
from ..values.parameter import answers_cached, evaluate
from .boundary.support import FrameSupport
from .joints import angle_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..assembly.configuration import Configuration

TURN_SAMPLES = 64  # instants of a step at which what is prescribed is looked at


class PrescribedTurns:
    """The turns that a step of a system prescribes, of bodies and of angles of joints.

    Rotation matrices tell angles between -pi and pi alone, functions and Parameters all of them.

    Parameters
    ----------
    terms : of the system.
    """

    def __init__(self, terms: Sequence[object]) -> None:
        self._motions = [t.motion for t in terms if isinstance(t, FrameSupport) and t.motion.turns]
        given = [(str(getattr(t, "name", "")), angle_of(t)) for t in terms]
        self._angles = [(f"angle of {name!r}", angle) for name, angle in given if angle is not None]

    def now(self, configuration: Configuration) -> Array:
        """Return the time and the angles of joints, to be given to `most` later."""
        time = configuration.time
        with together(configuration.comm):
            angles = [evaluate(what, angle, time) for what, angle in self._angles]
        return np.array([time, *angles])

    def most(self, configuration: Configuration, before: Array) -> float:
        """Return the largest angle by which anything has been turned since then [rad].

        Back and forth counts twice.
        """
        times = np.linspace(before[0], configuration.time, TURN_SAMPLES + 1).tolist()
        ways = [0.0]
        with together(configuration.comm), answers_cached():
            for (what, angle), last in zip(self._angles, before[1:], strict=True):
                course = [last, *(evaluate(what, angle, t) for t in times)]
                ways.append(float(np.abs(np.diff(course)).sum()))
            for motion in self._motions:
                turns = np.eye(3) + np.array([motion.G(np.zeros((1, 3)), t)[0] for t in times])
                change = np.einsum("tij,tij->t", turns[1:], turns[:-1])  # 1 + 2 cos
                ways.append(sum(math.acos(max(-1.0, min(1.0, (c - 1) / 2))) for c in change))
        return max(ways)
