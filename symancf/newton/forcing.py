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
    and half of what is needed to end when that is within reach, at most `ROUGH_FORCING`: where it
    is not ten times less, or where quadratic convergence gets there,
    :math:`(\|R_k\| / \|R_{k-1}\|)^2`. Then the residual itself has to fall by what is needed, too:
    Newton's method ends by its norm, conjugate gradients by another one. Not so where the
    residual is that small and a correction is left over, see `Leftover`. After an iteration with
    an indefinite tangent at least `MAX_FORCING`, and then up to `ROUGH_FORCING`.

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

    def wanted(self, needed: Array) -> tuple[Array, float]:
        """Return the tolerances of the next system, (parts,), and that of the residual itself.

        That of the residual is for a system of one part; 0: there is none.

        Parameters
        ----------
        needed : (parts,) factors by which residuals must fall to end Newton's method.
        """
        before, self._before = self._before, needed
        fallen = np.ones(self._parts)
        if self._tolerance is not None:
            eta = np.full(self._parts, min(self._tolerance, ROUGH_FORCING))
        elif before is None:
            eta = np.full(self._parts, FIRST)
        else:
            fallen, most = before / needed, ROUGH_FORCING if self._strayed else MOST
            eta = np.clip(0.5 * fallen**1.5, LEAST, most)
        goal, share = needed / 2.0, 0.0
        if (needed < 1.0).any():
            near = (goal > eta / 10.0) | (needed > fallen**2)
            eta = np.where(near, np.minimum(goal, ROUGH_FORCING), eta)
            if self._parts == 1 and self._tolerance is None and near[0]:
                share = float(needed[0])
        if self._astray:
            eta, share = np.maximum(eta, MAX_FORCING), 0.0
        self._astray = False
        return eta, share
