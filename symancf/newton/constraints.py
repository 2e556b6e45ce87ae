# SPDX-License-Identifier: BSD-3-Clause
"""The gradients of constraints, by which their violations are measured one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from ..assembly.matrix import Matrix
    from ..assembly.numbering import Numbering
    from .norms import RowNorms

Array = npt.NDArray[np.float64]


class Entries:
    r"""The entries of some rows of the tangent, those of constraints.

    What a large motion would make of a constraint is

    .. math:: |\nabla \Phi_i|_L = \sqrt{\sum_j (\Phi_{i,j} L_j)^2},

    over the coordinates of the configuration, with L_j the size of the part for positions and 1
    for slopes, axes and angles: so it has the unit of the constraint, whatever that is, and
    follows the units of the model. (A constraint of states alone counts these.)
    """

    def __init__(self, matrix: Matrix, rows: npt.NDArray[np.int64]) -> None:
        self.matrix, self.rows = matrix, rows
        starts = matrix.diagonal_start, matrix.off_start
        self._places = [
            np.concatenate(
                [np.zeros(0, np.int64), *(np.arange(s[r], s[r + 1]) for r in rows.tolist())]
            )
            for s in starts
        ]
        self._row = [np.repeat(np.arange(len(rows)), s[rows + 1] - s[rows]) for s in starts]
        self._weight = [np.ones(len(places)) for places in self._places]

    def measure(self, numbering: Numbering, norms: RowNorms, sizes: Array) -> None:
        """Set L_j of each entry, given the sizes of the parts."""
        size = np.ones(numbering.coordinates)
        part = norms.of_vertex[numbering.vertex_of]
        size[part >= 0] = sizes[part[part >= 0]]
        length = np.where(numbering.those("position"), size, 1.0)
        moves = numbering.those("position", "direction", "angle")
        order = np.argsort(numbering.columns_of_free)
        known, free = numbering.columns_of_free[order], numbering.free[order]
        for k, (columns, first) in enumerate(
            zip(self.matrix.columns, (numbering.first_row, 0), strict=True)
        ):
            column = columns[self._places[k]].astype(np.int64) + first
            at = np.minimum(np.searchsorted(known, column), max(0, len(known) - 1))
            there = known[at] == column if len(known) else np.zeros(len(column), dtype=bool)
            self._weight[k] = np.where(there & moves[free[at]], length[free[at]] ** 2, 0.0)

    def lengths(self) -> Array:
        """Return what a large motion makes of each constraint, at the tangent's last values."""
        squares, others = np.zeros(len(self.rows)), np.zeros(len(self.rows))
        values = self.matrix.diagonal, self.matrix.off
        for own, places, row, weight in zip(
            values, self._places, self._row, self._weight, strict=True
        ):
            entries = own[places] ** 2
            squares += np.bincount(row, weight * entries, minlength=len(squares))
            others += np.bincount(row, entries, minlength=len(squares))
        return np.asarray(np.sqrt(np.where(squares > 0.0, squares, others)))
