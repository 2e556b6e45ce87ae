# SPDX-License-Identifier: BSD-3-Clause
"""Supports and joints whose motion jumps: consistent between calls of `solve`, told of within."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array
from ...errors import owner
from ...runtime.collective import together
from ...values.parameter import Value, evaluate

if TYPE_CHECKING:
    from ...assembly.protocol import SupportBinding
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
        name = self._kinked(step)
        if name:
            self.watches = False
            self.system.once.warn(
                ("jump", name),
                f"the motion that {owner(name)!r} prescribes jumps in position, velocity or "
                f"acceleration between t = {step.begin.time:g} and {step.end.time:g}, or steps are "
                "too long for it: forces from there on are wrong; give stops=[...] where it jumps, "
                "or smooth it",
            )

    def _kinked(self, step: Interval) -> str:
        """Return the name of the worst support or joint, or "" (collective)."""
        worst, name = KINK_TOLERANCE, ""
        courses: list[_Course] = []
        with together(self.system.comm):
            courses += [self._of_support(support, step) for support in self.motion.moving]
            courses += [self._of_joint(*driven, step) for driven in self.motion.driven]
        for course in courses:
            defect = course.defect(step.length)
            if defect > worst:
                worst, name = defect, course.name
        return str(max(self.system.comm.allgather((worst, name)))[1])

    def _of_support(self, support: SupportBinding, step: Interval) -> _Course:
        system = self.system
        at, middle = support.prescribed(system, step.time(0.5))
        own = at < system.numbering.owned
        at, ends = at[own], (step.begin, step.end)
        (v0, a0), (v1, a1) = (end.rates for end in ends)
        u0, u1 = (end.displacement[at] for end in ends)
        return _Course(
            system.name(support),
            (u0, u1),
            (v0[at], v1[at]),
            (a0[at], a1[at]),
            middle[own],
            MOVED * float(system.numbering.natural(system.extent, at).max(initial=0.0)),
        )

    def _of_joint(self, name: str, what: str, value: Value, step: Interval) -> _Course:
        def along(t: float) -> tuple[Array, Array, Array]:
            shifts, first, second = self.motion.differences(t, step.length)
            u = np.array([evaluate(what, value, t)])
            change = np.array([[evaluate(what, value, t + shift)] for shift in shifts]) - u
            return u, first @ change, second @ change

        (u0, v0, a0), (u1, v1, a1) = along(step.begin.time), along(step.end.time)
        middle = np.array([evaluate(what, value, step.time(0.5))])
        still = MOVED * max(1.0, self.system.extent)  # an angle or a length
        return _Course(name, (u0, u1), (v0, v1), (a0, a1), middle, still)


@dataclass
class _Course:
    """What is prescribed in a step: values, rates and accelerations of both ends; the middle.

    A way of `still` is none.
    """

    name: str
    values: tuple[Array, Array]
    rates: tuple[Array, Array]
    accelerations: tuple[Array, Array]
    middle: Array
    still: float

    def defect(self, h: float) -> float:
        """Return by what part of its way in the step it is no smooth motion.

        In a step of length h a smooth motion fulfils u1 - u0 = h (v0 + v1)/2 - h^2 (a1 - a0)/12
        to h^5/720 of its fifth derivative, and in its middle u = (u0 + u1)/2 + h (v0 - v1)/8 to
        h^4/384 of its fourth.
        """
        (u0, u1), (v0, v1) = self.values, (h * v for v in self.rates)
        rise, bend = u1 - u0, h * h * (self.accelerations[1] - self.accelerations[0]) / 12.0
        trapezoid = rise - 0.5 * (v0 + v1) + bend
        cubic = self.middle - u0 - 0.5 * rise - 0.125 * (v0 - v1)
        defect = np.abs([trapezoid, cubic]).max(initial=0.0)
        size = np.abs([rise, v0, v1]).max(initial=0.0)
        size += MOVED * np.abs(u1).max(initial=0.0) / KINK_TOLERANCE + self.still
        return float(defect / size) if size else 0.0
