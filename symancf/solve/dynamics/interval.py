# SPDX-License-Identifier: BSD-3-Clause
"""The motion within a step, between the states at its two ends."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array

if TYPE_CHECKING:
    from ...assembly.state import State
    from .motion import EquationsOfMotion


class Interval:
    r"""A step and the motion within it, with s = (t - t_0) / h.

    Positions are the polynomial that has the positions and velocities of both ends (cubic, error
    h^4), with `smooth` their accelerations, too (quintic, error h^6); velocities are its
    derivative. States of first order are cubics; accelerations, multipliers and pressures of gas
    are linear. Prescribed coordinates are exact.

    Parameters
    ----------
    smooth : accelerations of the ends are those of the motion, also of modes that the step does
        not resolve: explicit methods.
    """

    def __init__(self, motion: EquationsOfMotion, begin: State, end: State, smooth: bool) -> None:
        self.motion, self.begin, self.end, self.smooth = motion, begin, end, smooth
        n = motion.system.numbering.owned
        self._first, self._second = motion.first[:n], motion.second[:n]
        self._linear = (motion.algebraic | motion.settled)[:n]

    @property
    def length(self) -> float:
        """Return h."""
        return self.end.time - self.begin.time

    def time(self, s: float) -> float:
        """Return the time of a fraction of the step; the ends' are exact."""
        return self.end.time if s >= 1.0 else self.begin.time + s * self.length

    def show(self, t: float) -> None:
        """Make the motion that of a time within the step (collective)."""
        h, a, b = self.length, self.begin, self.end
        s = (t - a.time) / h
        u, v = self._smooth(s) if self.smooth else self._cubic(s)
        linear = self._linear
        if linear.any():
            u[linear] = (1.0 - s) * a.displacement[linear] + s * b.displacement[linear]
        (va, aa), (vb, ab) = a.rates, b.rates
        rate = np.where(self._second, v, (1.0 - s) * va + s * vb)
        acceleration = (1.0 - s) * aa + s * ab
        self.motion.restore(replace(b, displacement=u, rate=rate, acceleration=acceleration))
        self.motion.move_to(t)

    def _cubic(self, s: float) -> tuple[Array, Array]:
        """Return positions and their derivative, from positions and rates."""
        h, u0, u1 = self.length, self.begin.displacement, self.end.displacement
        (v0, _), (v1, _) = self.begin.rates, self.end.rates
        rise = u1 - u0
        first = h * v0 - rise
        last = rise - h * v1
        u = u0 + s * rise + s * (1.0 - s) * ((1.0 - s) * first + s * last)
        v = (rise + (1.0 - s) * (1.0 - 3.0 * s) * first + s * (2.0 - 3.0 * s) * last) / h
        return u, v

    def _smooth(self, s: float) -> tuple[Array, Array]:
        """Return positions and rates, from positions, rates and accelerations."""
        h, u0, u1 = self.length, self.begin.displacement, self.end.displacement
        (v0, a0), (v1, a1) = self.begin.rates, self.end.rates
        u = self._cubic(s)[0] if self._first.any() else u0.copy()
        second, bend = self._second, 0.5 * h * h * a0
        rise = u1 - u0 - h * v0 - bend
        turn = h * (v1 - v0) - 2.0 * bend
        jerk = 0.5 * h * h * (a1 - a0)
        c3 = 10.0 * rise - 4.0 * turn + jerk
        c4 = -15.0 * rise + 7.0 * turn - 2.0 * jerk
        c5 = 6.0 * rise - 3.0 * turn + jerk
        position = u0 + s * (h * v0 + s * (bend + s * (c3 + s * (c4 + s * c5))))
        u[second] = position[second]
        v = v0 + s / h * (2.0 * bend + s * (3.0 * c3 + s * (4.0 * c4 + s * 5.0 * c5)))
        return u, v
