# SPDX-License-Identifier: BSD-3-Clause
"""Violations of constraints, measured one by one by their gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array, Mask
from ..assembly.numbering import MOVING
from .norms import ROUND_OFF, TINY

if TYPE_CHECKING:
    from ..assembly.matrix import Matrix
    from .norms import RowNorms


VOLUME_FACTOR = 1e4  # times `ROUND_OFF`: the volume of a gas, a sum over many facets; 1e-9 of it
VIOLATION_SHARE = 1e-2  # of the tolerance of forces: what may be left of the violations of a step


class Constraints:
    r"""The rows of constraints, each with the violation that counts as none.

    What a large motion would make of a constraint is

    .. math:: |\nabla \Phi_i|_L = \sqrt{\sum_j (\Phi_{i,j} L_j)^2},

    over the coordinates of the configuration, with L_j the size of the part for positions and 1
    for slopes, axes and angles: so it has the unit of the constraint, whatever that is, and
    follows the units of the model. (A constraint of states alone counts these.) No violation is
    :math:`|\Phi_i| \le 10^{-13} |\nabla \Phi_i|_L`.

    Parameters
    ----------
    matrix : the tangent; None where no rows are constraints.
    classes : of rows, those of constraints.

    Attributes
    ----------
    rows : of this rank that are constraints.
    limits : of them, the violations that count as none; 0 before `refresh`.
    round_off : of them, parts of the gradients' lengths that count as none.
    places, row, weight : of both parts of the tangent, where the entries of constraints are, of
        which one, and L_j squared.
    size : of the system, by which gradients are none.
    """

    def __init__(self, matrix: Matrix | None, norms: RowNorms, classes: Mask) -> None:
        self.matrix, self.norms, self.classes = matrix, norms, classes
        self.any = bool(classes.any())  # on some rank
        rows = self.rows = np.flatnonzero(classes[norms.of_row])
        self._class = norms.of_row[rows]
        sums = norms.classes(lambda block: block.sums)
        self.round_off = ROUND_OFF * np.where(sums, VOLUME_FACTOR, 1.0)[self._class]
        self.limits: Array = np.zeros(len(rows))
        self._largest: Array = np.zeros(len(rows))
        self.size = 1.0
        self.relisted()

    def relisted(self) -> None:
        """Find the entries of the rows in a pattern that was made anew; call `measure` then."""
        matrix, rows = self.matrix, self.rows
        none = np.zeros(1, dtype=np.int32)
        starts = (none, none) if matrix is None else (matrix.diagonal_start, matrix.off_start)
        counts = [s[rows + 1] - s[rows] for s in starts]
        self.places = [
            np.repeat(s[rows] - np.cumsum(n) + n, n) + np.arange(n.sum())
            for s, n in zip(starts, counts, strict=True)
        ]
        self.row = [np.repeat(np.arange(len(rows)), n) for n in counts]
        self.weight = [np.ones(len(places)) for places in self.places]

    def measure(self, sizes: Array) -> None:
        """Set L_j of each entry, given the sizes of the parts."""
        norms, numbering = self.norms, self.norms.numbering
        self.size = float(sizes.max(initial=0.0))
        if self.matrix is None:
            return
        size = np.ones(numbering.coordinates)
        part = norms.of_vertex[numbering.vertex_of]
        size[part >= 0] = sizes[part[part >= 0]]
        length = np.where(numbering.those("position", "sliding"), size, 1.0)
        moves = numbering.those(*MOVING)
        order = np.argsort(numbering.columns_of_free)
        column_numbers, free = numbering.columns_of_free[order], numbering.free[order]
        for k, (columns, first) in enumerate(
            zip(self.matrix.columns, (numbering.first_row, 0), strict=True)
        ):
            column = columns[self.places[k]].astype(np.int64) + first
            at = np.minimum(
                np.searchsorted(column_numbers, column), max(0, len(column_numbers) - 1)
            )
            there = (
                column_numbers[at] == column
                if len(column_numbers)
                else np.zeros(len(column), dtype=bool)
            )
            self.weight[k] = np.where(there & moves[free[at]], length[free[at]] ** 2, 0.0)

    def lengths(self) -> Array:
        """Return what a large motion makes of each constraint, at the tangent's last values."""
        squares, others = np.zeros(len(self.rows)), np.zeros(len(self.rows))
        if self.matrix is None:
            return squares
        values = self.matrix.diagonal, self.matrix.off
        for own, places, row, weight in zip(
            values, self.places, self.row, self.weight, strict=True
        ):
            entries = own[places] ** 2
            squares += np.bincount(row, weight * entries, minlength=len(squares))
            others += np.bincount(row, entries, minlength=len(squares))
        return np.asarray(np.sqrt(np.where(squares > 0.0, squares, others)))

    def refresh(self, lengths: Array | None = None) -> None:
        """Set the limits by `lengths`, default: those at the tangent's last values."""
        if len(self.rows):
            lengths = self.lengths() if lengths is None else lengths
            vanished = lengths < ROUND_OFF * self.norms.system.stiffness * self.size
            self.limits[:] = np.maximum(np.where(vanished, 0.0, self.round_off * lengths), TINY)

    def begin(self) -> None:
        """Begin a solution: no violation has been seen."""
        self._largest[:] = 0.0

    def shares(self, f: Array, rtol: float) -> Array:
        """Return by class the largest violation in `f` (rows), 1 for what counts as none.

        1e-2 rtol of the largest violation since `begin` in the same connected part, each measured
        by its gradient, counts as none, too. (Collective.)
        """
        norms, values = self.norms, np.abs(f[self.rows])
        np.maximum(self._largest, values, out=self._largest)
        seen = np.zeros(norms.parts)
        length, part = self.limits / self.round_off, norms.row_part[self.rows]
        there = self.limits > TINY
        np.maximum.at(seen, part[there], self._largest[there] / length[there])
        seen = np.minimum(norms.largest(seen), 1.0)  # more is no motion
        arisen = np.where(there, seen[part] * length, self._largest)
        allowed = np.maximum(self.limits, VIOLATION_SHARE * rtol * arisen)
        share = np.zeros(norms.count)
        np.maximum.at(share, self._class, values / np.maximum(allowed, TINY))
        return norms.largest(share)
