# SPDX-License-Identifier: BSD-3-Clause
"""Steps of the generalized-alpha method that are made anew, so that they end at an event."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .initial import InitialValues
from .interval import End, Interval

if TYPE_CHECKING:
    from ...arrays import Array
    from .accelerations import Accelerations
    from .coefficients import Coefficients
    from .motion import Motion

SHORT = 1e-2  # of the last step: a shorter one is cut from a step of full length
CALM = 50  # steps after trouble


class Lands:
    """What is told of a method that lands on events; see `GeneralizedAlpha`."""

    accelerations: Accelerations
    motion: Motion
    coefficients: Coefficients
    auxiliary: Array
    last_step: float
    biased: float
    calm: int
    _usual: float
    _before: End | None

    def started(self) -> None:
        """Take what follows a start."""
        raise NotImplementedError

    def _restore(self) -> None:
        raise NotImplementedError

    def _try(self, t: float, h: float, again: bool = False) -> bool:
        raise NotImplementedError

    def _end(self) -> End:
        """Copy the present motion."""
        return End.of(self.motion, self.auxiliary, self.last_step, self.biased)

    def interval(self) -> Interval:
        """Return the last step."""
        assert self._before is not None
        return Interval(self.motion, self._before, self._end(), False)

    def land(self, t: float, whole: Interval) -> None:
        """Make a step anew so that it ends at t (collective).

        Rates fulfil constraints to the order of the method only, and a short step carries that,
        divided by its length, into accelerations and multipliers: with constraints its rates are
        taken to these, and accelerations and multipliers follow from the equations with index 1.
        Round-off of positions is divided by the square of the length: where t is very near the
        beginning the motion is that within the whole step, its positions taken to the constraints.
        """
        m, begin, end, h = self.motion, whole.begin, whole.end, t - whole.begin.time
        self._before = begin
        self._restore()
        if t >= end.time:
            end.put(m)
            self.auxiliary[:] = end.auxiliary
            self.last_step, self.biased = end.last_step, end.biased
            return
        constrained = self.accelerations.kinematics.any
        if h >= SHORT * self._usual and self._lands(begin.time, h):
            self.last_step = self.biased = h
            m.system.time = t
        else:
            self.last_step, share = self._usual, h / whole.length
            whole.show(t)
            self.auxiliary[:] = (1.0 - share) * begin.auxiliary + share * end.auxiliary
            if constrained:
                self.accelerations.kinematics.refresh()
                self.accelerations.project_positions()
        if constrained:
            self._settle(whole)

    def _settle(self, whole: Interval) -> None:
        """Free rates, accelerations and multipliers of what a short step makes of them.

        A is the acceleration at another time than a, so that multipliers do not swing.
        """
        m, begin, end = self.motion, whole.begin, whole.end
        change = (end.acceleration - begin.acceleration) * (self._usual / whole.length)
        InitialValues(self.accelerations, self._usual).settle()
        self.started()
        self.auxiliary += np.where(m.second, self.coefficients.shift * change, 0.0)
        self.last_step = self._usual

    def _lands(self, t: float, h: float) -> bool:
        """Try a step of a length, from both beginnings."""
        for again in (False, True):
            if self._try(t, h, again):
                return True
            self._restore()
            self.calm = 0 if self.calm else CALM
        return False
