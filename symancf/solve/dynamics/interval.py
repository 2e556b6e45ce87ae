# SPDX-License-Identifier: BSD-3-Clause
"""The motion within a step: what lies between its two ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array

if TYPE_CHECKING:
    from ...assembly.memory import Held
    from .motion import Motion


@dataclass(frozen=True)
class End:
    """The motion at one end of a step: copies of its local vectors.

    Attributes
    ----------
    held : what laws remember.
    auxiliary, last_step, biased : of generalized-alpha, else empty and zero.
    """

    time: float
    state: Array
    rate: Array
    acceleration: Array
    held: Held
    auxiliary: Array
    last_step: float = 0.0
    biased: float = 0.0

    @classmethod
    def of(
        cls,
        motion: Motion,
        auxiliary: Array | None = None,
        last_step: float = 0.0,
        biased: float = 0.0,
    ) -> End:
        """Copy the present motion."""
        m = motion
        kept: Array = np.zeros(0) if auxiliary is None else auxiliary.copy()
        now = m.state.copy(), m.rate.copy(), m.acceleration.copy(), m.system.memory.hold()
        return cls(m.system.time, *now, kept, last_step, biased)

    def put(self, motion: Motion) -> None:
        """Make the motion what it was (collective)."""
        motion.system.memory.put(self.held)
        motion.move_to(self.time)
        motion.state[:], motion.rate[:] = self.state, self.rate
        motion.acceleration[:] = self.acceleration
        motion.system.refresh()


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

    def __init__(self, motion: Motion, begin: End, end: End, smooth: bool) -> None:
        self.motion, self.begin, self.end, self.smooth = motion, begin, end, smooth

    @property
    def length(self) -> float:
        """Return h."""
        return self.end.time - self.begin.time

    def time(self, s: float) -> float:
        """Return the time of a fraction of the step; the ends' are exact."""
        return self.end.time if s >= 1.0 else self.begin.time + s * self.length

    def show(self, t: float) -> None:
        """Make the motion that of a time within the step (collective)."""
        m, h, a, b = self.motion, self.length, self.begin, self.end
        s = (t - a.time) / h
        u, v = self._smooth(s) if self.smooth else self._cubic(s)
        linear = m.algebraic | m.settled
        if linear.any():
            u[linear] = (1.0 - s) * a.state[linear] + s * b.state[linear]
        m.state[:] = u
        m.rate[:] = np.where(m.second, v, (1.0 - s) * a.rate + s * b.rate)
        m.acceleration[:] = (1.0 - s) * a.acceleration + s * b.acceleration
        m.system.memory.put(b.held)
        m.system.refresh()
        m.move_to(t)

    def _cubic(self, s: float) -> tuple[Array, Array]:
        """Return positions and their derivative, from positions and rates."""
        h, a, b = self.length, self.begin, self.end
        rise = b.state - a.state
        first = h * a.rate - rise
        last = rise - h * b.rate
        u = a.state + s * rise + s * (1.0 - s) * ((1.0 - s) * first + s * last)
        v = (rise + (1.0 - s) * (1.0 - 3.0 * s) * first + s * (2.0 - 3.0 * s) * last) / h
        return u, v

    def _smooth(self, s: float) -> tuple[Array, Array]:
        """Return positions and rates, from positions, rates and accelerations."""
        h, a, b, m = self.length, self.begin, self.end, self.motion
        u = self._hermite(s, a.state, b.state, a.rate, b.rate) if m.first.any() else a.state.copy()
        second, bend = m.second, 0.5 * h * h * a.acceleration
        rise = b.state - a.state - h * a.rate - bend
        turn = h * (b.rate - a.rate) - 2.0 * bend
        jerk = 0.5 * h * h * (b.acceleration - a.acceleration)
        c3 = 10.0 * rise - 4.0 * turn + jerk
        c4 = -15.0 * rise + 7.0 * turn - 2.0 * jerk
        c5 = 6.0 * rise - 3.0 * turn + jerk
        position = a.state + s * (h * a.rate + s * (bend + s * (c3 + s * (c4 + s * c5))))
        u[second] = position[second]
        v = a.rate + s / h * (2.0 * bend + s * (3.0 * c3 + s * (4.0 * c4 + s * 5.0 * c5)))
        return u, v

    def _hermite(self, s: float, u0: Array, u1: Array, v0: Array, v1: Array) -> Array:
        h, rise = self.length, u1 - u0
        u: Array = u0 + s * rise
        u += s * (1.0 - s) * ((1.0 - s) * (h * v0 - rise) + s * (rise - h * v1))
        return u
