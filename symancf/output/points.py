# SPDX-License-Identifier: BSD-3-Clause
"""Points of cells at which fields are evaluated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

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
    section : name -> what else they know of the thickness, (m,) or a number.
    """

    cells: Ints
    xi: Array
    zeta: Array
    numbers: Ints | None = None
    section: Mapping[str, Array | float] = field(default_factory=dict)

    def through(self, zeta: Array, section: Mapping[str, Array] | None = None) -> Points:
        """Return, for each of these points, points at the heights `zeta` (k,), one by one."""
        k, m = len(zeta), self.xi.shape[-2]
        numbers = self.numbers
        if numbers is not None:
            numbers = np.add.outer(k * numbers, np.arange(k)).ravel()
        xi = np.repeat(self.xi, k, axis=-2)
        more = {name: np.tile(values, m) for name, values in (section or {}).items()}
        return Points(self.cells, xi, np.tile(zeta, m), numbers, {**self.section, **more})

    def of(self, chosen: Mask) -> Points:
        """Return the points of some of the cells (n,)."""
        xi = self.xi[chosen] if self.xi.ndim == 3 else self.xi
        return replace(self, cells=self.cells[chosen], xi=xi)
