# SPDX-License-Identifier: BSD-3-Clause
"""Supports and joints whose motion jumps: consistent between calls of `solve`, told of within."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array
from ...errors import owner
from ...runtime.collective import together
from ...values.parameter import Value, evaluate
from .motion import Course

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...assembly.state import State
    from .interval import Interval
    from .motion import EquationsOfMotion


KINK_TOLERANCE = 0.01  # of the way of a support in a step: a kink, or a step that is too long
MOVED = 1e-9  # of positions, of the size of a body, rad: what changes by less stays
TURNED, PUSHED = 1e-3, 1e-2  # of rates, accelerations: jumps


class MovingSupports:
    """The supports and joints of a motion whose prescribed values may change in time.

    Attributes
    ----------
    watches : whether `watch` may still warn.
    """

    def __init__(self, motion: EquationsOfMotion) -> None:
        self.motion, self.system = motion, motion.system
        self.watches = True

    def jumps(self, before: State, h: float) -> tuple[bool, bool, bool]:
        """Tell whether they jump now in position, rate or acceleration (collective).

        Where they do, the motion has what comes right after.

        Parameters
        ----------
        before : the state, of which displacements and rates count.
        h : length of a step.
        """
        m, numbering = self.motion, self.system.numbering
        if not m.moving:
            return False, False, False
        n = numbering.owned
        fixed = numbering.fixed_by[:n] >= 0
        rate, acceleration = before.rates[0], m.acceleration[:n].copy()
        m.prescribe(self.system.time, h)
        sizes = np.zeros((3, 2))
        old, new = (before.displacement, rate, acceleration), (m.state, m.rate, m.acceleration)
        for k, (a, b) in enumerate(zip(old, new, strict=True)):
            now = b[:n][fixed]
            sizes[k] = np.abs(now - a[fixed]).max(initial=0.0), np.abs(now).max(initial=0.0)
        (far, x), (fast, v), (hard, a) = np.max(self.system.comm.allgather(sizes), axis=0)
        moved = bool(far > MOVED * max(x, h * v))
        turned = bool(fast > TURNED * v + MOVED * x / h)
        pushed = bool(hard > PUSHED * a + TURNED * v / h + MOVED * x / h**2)
        if not (moved or turned or pushed):  # runs go on bit for bit
            m.rate[:n][fixed], m.acceleration[:n][fixed] = rate[fixed], acceleration[fixed]
            self.system.update_prescribed(m.rate)
            self.system.update_prescribed(m.acceleration)
        return moved, turned, pushed

    def watch(self, step: Interval) -> None:
        """Tell once of a support or joint whose motion a step does not resolve (collective)."""
        ends, courses = (step.begin, step.end), []
        owned = self.system.numbering.owned
        with together(self.system.comm):
            for support in self.motion.moving:
                own = support.offsets < owned
                at = support.offsets[own]
                u = np.array([end.displacement[at] for end in ends])
                v, a = np.array([[rate[at] for rate in end.rates] for end in ends]).swapaxes(0, 1)
                courses.append(Course(u, v, a, support.course([step.time(0.5)])[:, own]))
        self.watch_steps([end.time for end in ends], courses)

    def watch_steps(self, times: Sequence[float], courses: Sequence[Course]) -> None:
        """Tell once of a support or joint whose motion steps do not resolve (collective).

        Parameters
        ----------
        times : where the steps end, first where they begin; on several ranks there is one step.
        courses : of the supports at these times, and in the middles between them.
        """
        motion, system, found = self.motion, self.system, []
        with together(system.comm):
            for support, course in zip(motion.moving, courses, strict=True):
                at = support.offsets[support.offsets < system.numbering.owned]
                still = MOVED * float(system.numbering.natural(system.extent, at).max(initial=0.0))
                found.append((_defects(course, times, still), system.name(support)))
            for name, what, value in motion.driven:
                given = partial(_parameter, what, value)
                course = motion.course(given, times, times[1] - times[0], middles(times))
                still = MOVED * max(1.0, system.extent)  # an angle or a length
                found.append((_defects(course, times, still), name))
        for k, (begin, end) in enumerate(pairwise(times)):
            worst = max(((float(d[k]), name) for d, name in found), default=(0.0, ""))
            defect, name = max(system.comm.allgather(worst))
            if defect > KINK_TOLERANCE:
                self.watches = False
                system.once.warn(
                    ("jump", name),
                    f"the motion that {owner(name)!r} prescribes jumps in position, velocity or "
                    f"acceleration between t = {begin:g} and {end:g}, or steps are too long for "
                    "it: forces from there on are wrong; give stops=[...] where it jumps, or "
                    "smooth it",
                )
                return


def _parameter(what: str, value: Value, times: Sequence[float]) -> Array:
    """Return the values (times, 1) of a parameter, which messages call `what`."""
    return np.array([[evaluate(what, value, time)] for time in times])


def middles(times: Sequence[float]) -> list[float]:
    """Return the times in the middle of each two that follow each other."""
    return [begin + 0.5 * (end - begin) for begin, end in pairwise(times)]


def _defects(course: Course, times: Sequence[float], still: float) -> Array:
    """Return by what part of its way in each step a course is no smooth motion (times - 1,).

    In a step of length h a smooth motion fulfils u1 - u0 = h (v0 + v1)/2 - h^2 (a1 - a0)/12
    to h^5/720 of its fifth derivative, and in its middle u = (u0 + u1)/2 + h (v0 - v1)/8 to
    h^4/384 of its fourth. A way of `still` is none.
    """
    h, u0, u1 = np.diff(times)[:, None], course.values[:-1], course.values[1:]
    v0, v1 = h * course.rates[:-1], h * course.rates[1:]
    rise, bend = u1 - u0, h * h * np.diff(course.accelerations, axis=0) / 12.0
    trapezoid = rise - 0.5 * (v0 + v1) + bend
    cubic = course.between - u0 - 0.5 * rise - 0.125 * (v0 - v1)
    defect = np.abs([trapezoid, cubic]).max(axis=(0, 2), initial=0.0)
    size = np.abs([rise, v0, v1]).max(axis=(0, 2), initial=0.0)
    size += MOVED * np.abs(u1).max(axis=1, initial=0.0) / KINK_TOLERANCE + still
    return np.asarray(defect / np.where(size > 0.0, size, np.inf))
