# SPDX-License-Identifier: BSD-3-Clause
"""Backwards through `Directors`: rates and A of sections of rods as those of a rotation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .backward_start import MotionVectors

if TYPE_CHECKING:
    from ...arrays import Array
    from .directors import Directors


class _Sections:
    """Sections with the gradient F, its rate V and the auxiliary acceleration A (n, 3, 3)."""

    def __init__(self, directors: Directors, motion: MotionVectors) -> None:
        self.rows, self.free, self.axes, self.part = directors.sections()
        self.V, self.A = self._matrices(motion.v), self._matrices(motion.A)
        self.F = self._matrices(motion.u) + np.eye(3)
        self.inverse = np.linalg.inv(self.F)
        X, Y = self.inverse @ self.V, self.inverse @ self.A
        self.W = X - self.wrong(0.5 * (X + X.transpose(0, 2, 1)))
        self.Z = Y - self.wrong(0.5 * (Y + Y.transpose(0, 2, 1)) - self.W @ self.W)

    def _matrices(self, vector: Array) -> Array:
        return vector[self.rows].transpose(0, 2, 1)

    def wrong(self, S: Array) -> Array:
        """Return what of S is taken away, as the inertia measures it; its own transpose."""
        turned = self.axes.transpose(0, 2, 1) @ S @ self.axes
        return self.axes @ (turned * self.part) @ self.axes.transpose(0, 2, 1)

    def put(self, value: Array, vector: Array, *, fixed: bool = False) -> None:
        """Write (n, 3, 3) to what is free of a local vector, or to all."""
        chosen = np.ones_like(self.free) if fixed else self.free
        vector[self.rows[chosen]] = value.transpose(0, 2, 1)[chosen]

    def free_part(self, vector: Array) -> Array:
        """Return what is free of a local vector (n, 3, 3), else 0."""
        return np.where(self.free, vector[self.rows], 0.0).transpose(0, 2, 1)


def settled(directors: Directors, motion: MotionVectors) -> MotionVectors:
    """Return the motion with the rates and A that `Directors` makes of them."""
    made, sections = motion.copy(), _Sections(directors, motion)
    sections.put(sections.F @ sections.W, made.v)
    sections.put(sections.F @ sections.Z, made.A)
    return made


def unsettled(directors: Directors, motion: MotionVectors, bars: MotionVectors) -> MotionVectors:
    """Return what turns derivatives by the motion made into those by the motion given, added.

    Those by prescribed coordinates and rates, too.
    """
    s = _Sections(directors, motion)
    by_rate, by_auxiliary = s.free_part(bars.v), s.free_part(bars.A)
    back = s.inverse.transpose(0, 2, 1)
    by_F = by_auxiliary @ s.Z.transpose(0, 2, 1) + by_rate @ s.W.transpose(0, 2, 1)
    by_Z = s.F.transpose(0, 2, 1) @ by_auxiliary
    wrong = s.wrong(by_Z)
    by_Y = by_Z - 0.5 * (wrong + wrong.transpose(0, 2, 1))
    by_W = s.F.transpose(0, 2, 1) @ by_rate
    by_W = by_W + wrong @ s.W.transpose(0, 2, 1) + s.W.transpose(0, 2, 1) @ wrong
    wrong = s.wrong(by_W)
    by_X = by_W - 0.5 * (wrong + wrong.transpose(0, 2, 1))
    by_inverse = by_Y @ s.A.transpose(0, 2, 1) + by_X @ s.V.transpose(0, 2, 1)
    by_F = by_F - back @ by_inverse @ back
    own = MotionVectors.zeros(len(bars.u))
    s.put(by_F, own.u, fixed=True)
    s.put(back @ by_X - by_rate, own.v, fixed=True)
    s.put(back @ by_Y - by_auxiliary, own.A, fixed=True)
    return own
