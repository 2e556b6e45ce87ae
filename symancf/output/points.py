# SPDX-License-Identifier: BSD-3-Clause
"""Points of cells at which fields are evaluated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array, Ints, Mask


@dataclass(frozen=True)
class Points:
    """Points of cells of a body.

    Attributes
    ----------
    cells : (n,) numbers among the cells that this rank owns.
    xi : (m, d) parameter values, those of all cells, or (n, m, d).
    zeta : (m,) through the thickness, -1 to 1; 0 where there is none.
    numbers : (m,) of points of a rule, their numbers there.
    """

    cells: Ints
    xi: Array
    zeta: Array
    numbers: Ints | None = None

    def through(self, zeta: Array) -> Points:
        """Return, for each of these points, points at the heights `zeta` (k,), one by one."""
        k, m = len(zeta), self.xi.shape[-2]
        numbers = self.numbers
        if numbers is not None:
            numbers = np.add.outer(k * numbers, np.arange(k)).ravel()
        return Points(self.cells, np.repeat(self.xi, k, axis=-2), np.tile(zeta, m), numbers)

    def of(self, chosen: Mask) -> Points:
        """Return the points of some of the cells (n,)."""
        xi = self.xi[chosen] if self.xi.ndim == 3 else self.xi
        return Points(self.cells[chosen], xi, self.zeta, self.numbers)
