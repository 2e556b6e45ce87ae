# SPDX-License-Identifier: BSD-3-Clause
"""Forcing terms: tolerances of the linear solutions in inexact Newton's methods."""

from __future__ import annotations

import numpy as np

from ..arrays import Array

FIRST, LEAST, MOST = 0.03, 1e-4, 3e-3
ROUGH_FORCING = 0.1  # the largest where the end is near, or the tangent has been indefinite
MAX_FORCING = (
    0.5  # where the tangent is indefinite: stiff directions first, as those of a change of volume
)


class Forcing:
    r"""Relative tolerances :math:`\eta_k` of Krylov's methods along Newton's iterations, by part.

    .. math:: \eta_0 = 0.03, \qquad
        \eta_k = \tfrac12 \Bigl(\frac{\|R_k\|}{\|R_{k-1}\|}\Bigr)^{3/2}
        \in [10^{-4}, 3 \cdot 10^{-3}],

    (S. C. Eisenstat, H. F. Walker, SIAM Journal on Scientific Computing 17 (1996) 16-32, choice 2),
    and half of what is needed to end when that is within reach, at most `ROUGH_FORCING`; not where
    the residual is that small and a correction is left over, see `Leftover`. After an iteration
    with an indefinite tangent at least `MAX_FORCING`, and then up to `ROUGH_FORCING`.

    Parameters
    ----------
    parts : number of connected parts.
    tolerance : a tolerance of the user's, which takes the place of the formula.
    """

    def __init__(self, parts: int, tolerance: float | None) -> None:
        self._parts, self._tolerance = parts, tolerance
        self.begin()

    def begin(self) -> None:
        """Begin a solution."""
        self._before: Array | None = None
        self._astray = self._strayed = False

    def astray(self) -> None:
        """Note that the tangent is indefinite."""
        self._astray = self._strayed = True

    def wanted(self, needed: Array) -> Array:
        """Return the tolerances of the next system, (parts,).

        Parameters
        ----------
        needed : (parts,) factors by which residuals must fall to end Newton's method.
        """
        before, self._before = self._before, needed
        if self._tolerance is not None:
            eta = np.full(self._parts, min(self._tolerance, ROUGH_FORCING))
        elif before is None:
            eta = np.full(self._parts, FIRST)
        else:
            most = ROUGH_FORCING if self._strayed else MOST
            eta = np.clip(0.5 * (before / needed) ** 1.5, LEAST, most)
        goal = needed / 2.0
        if (needed < 1.0).any():
            eta = np.where(goal > eta / 10.0, np.minimum(goal, ROUGH_FORCING), eta)
        if self._astray:
            eta = np.maximum(eta, MAX_FORCING)
        self._astray = False
        return eta
