# SPDX-License-Identifier: BSD-3-Clause
"""Supports whose motion jumps: made consistent between calls of `solve`, told of within."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..assembly.protocol import Offsets
from ..collective import together

if TYPE_CHECKING:
    from .interval import Interval
    from .motion import Motion

Array = npt.NDArray[np.float64]

UNRESOLVED = 0.01  # of the way of a support in a step: a kink, or a step that is too long
MOVED, TURNED, PUSHED = 1e-9, 1e-3, 1e-2  # of positions, rates, accelerations: jumps
ROUND_OFF = 1e-9  # of positions: what differences see of it


class MovingSupports:
    """The supports of a motion whose prescribed values may change in time."""

    def __init__(self, motion: Motion) -> None:
        self.motion, self.system = motion, motion.system
        self._told = False

    def jumps(self, state: Array, rate: Array, h: float) -> tuple[bool, bool, bool]:
        """Tell whether they jump now in position, rate or acceleration (collective).

        Where they do, the motion has what comes right after.

        Parameters
        ----------
        state, rate : local vectors that were before.
        h : length of a step.
        """
        m, numbering = self.motion, self.system.numbering
        if not m.moving:
            return False, False, False
        fixed = numbering.fixed_by >= 0
        before = state, rate, m.acceleration.copy()
        m.prescribe(self.system.time, h)
        sizes = np.zeros((3, 2))
        for k, (a, b) in enumerate(zip(before, (m.state, m.rate, m.acceleration), strict=True)):
            now = b[fixed]
            sizes[k] = np.abs(now - a[fixed]).max(initial=0.0), np.abs(now).max(initial=0.0)
        (far, x), (fast, v), (hard, a) = np.max(self.system.comm.allgather(sizes), axis=0)
        moved = bool(far > MOVED * max(x, h * v))
        turned = bool(fast > TURNED * v + ROUND_OFF * x / h)
        pushed = bool(hard > PUSHED * a + TURNED * v / h + ROUND_OFF * x / h**2)
        if not (moved or turned or pushed):  # runs go on bit for bit
            m.rate[fixed], m.acceleration[fixed] = rate[fixed], before[2][fixed]
        return moved, turned, pushed

    def watch(self, step: Interval) -> None:
        """Tell once of a support whose motion a step does not resolve (collective)."""
        if not self.motion.moving or self._told:
            return
        name = self._kinked(step)
        self._told = bool(name)
        if name and self.system.comm.rank == 0:
            warnings.warn(
                f"the motion that {name!r} prescribes jumps in position, velocity or acceleration "
                f"between t = {step.begin.time:g} and {step.end.time:g}, or steps are too long "
                "for it: forces from there on are wrong; end a call of solve where it jumps, or "
                "smooth it",
                stacklevel=6,
            )

    def _kinked(self, step: Interval) -> str:
        """Return the name of the worst support, or "" (collective).

        In a step of length h a smooth motion fulfils u1 - u0 = h (v0 + v1)/2 - h^2 (a1 - a0)/12
        to h^5/720 of its fifth derivative, and in its middle u = (u0 + u1)/2 + h (v0 - v1)/8 to
        h^4/384 of its fourth.
        """
        m, h, begin, end = self.motion, step.length, step.begin, step.end
        worst, name, middle = UNRESOLVED, "", list[tuple[Offsets, Array]]()
        with together(self.system.comm):
            t = step.time(0.5)
            middle = [support.prescribed(self.system, t) for support in m.moving]
        for support, (at, half) in zip(m.moving, middle, strict=True):
            rise = end.state[at] - begin.state[at]
            v0, v1 = h * begin.rate[at], h * end.rate[at]
            bend = h * h * (end.acceleration[at] - begin.acceleration[at]) / 12.0
            trapezoid = rise - 0.5 * (v0 + v1) + bend
            cubic = half - begin.state[at] - 0.5 * rise - 0.125 * (v0 - v1)
            defect = np.abs([trapezoid, cubic]).max(initial=0.0)
            size = np.abs([rise, v0, v1]).max(initial=0.0)
            size += ROUND_OFF * np.abs(end.state[at]).max(initial=0.0) / UNRESOLVED
            if defect > worst * size:
                worst, name = float(defect / size), support.name
        return str(max(self.system.comm.allgather((worst, name)))[1])
