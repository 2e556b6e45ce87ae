# SPDX-License-Identifier: BSD-3-Clause
"""Coordinates that follow others by constraints, which can be eliminated with these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array, Ints, Mask
from ..runtime.collective import combine, lookup
from .norms import ROUND_OFF

if TYPE_CHECKING:
    from ..assembly.matrix import Matrix

MAX_GROUP_SIZE = 256  # coordinates of a group of equations beyond which none follows the others
MIN_PIVOT = 1e-2  # of the largest entry of an equation: the least that determines a coordinate
MAX_FACTOR_SUM = 8.0  # sum of the factors with which a coordinate follows the others


@dataclass(frozen=True)
class Followers:
    r"""Coordinates x_s that follow others, :math:`x_s = T x_m + Q \Phi`, one of each equation.

    From the gradients B of equations, :math:`T = -B_s^{-1} B_m` and :math:`Q = B_s^{-1}`. No
    equation has two of them that another one has, too, so the equations of one vertex are a
    block of B_s.

    Attributes
    ----------
    equations : rows of this rank whose equations are eliminated.
    of, column, factor : entries of T: the coordinate that follows, those that it follows, both
        by their numbers on all ranks.
    by, equation, inverse : entries of Q likewise; each coordinate that follows has some.
    """

    equations: Ints
    of: Ints
    column: Ints
    factor: Array
    by: Ints
    equation: Ints
    inverse: Array

    def alike(self, other: Followers) -> bool:
        """Tell whether the same coordinates follow the same others."""
        names = ("equations", "of", "column", "by", "equation")
        return all(np.array_equal(getattr(self, n), getattr(other, n)) for n in names)


@dataclass(frozen=True)
class _Groups:
    """Equations of as many vertices, k of each, with their columns: (groups, k, columns)."""

    rows: Ints  # (groups, k)
    columns: Ints  # (groups, columns)
    B: Array
    own: Mask  # (groups, columns): of these equations alone, and may follow


def followers(matrix: Matrix, starts: Ints, rows: Ints, vertex: Ints, may: Mask) -> Followers:
    """Find a coordinate for each equation that follows the others of it (collective).

    Equations are left out that have no such coordinate, of theirs alone, by which they are
    fulfilled well, and those of a vertex with more than `MAX_GROUP_SIZE` coordinates.

    Parameters
    ----------
    starts : (ranks + 1,) first rows of ranks.
    rows, vertex : this rank's equations, those of a vertex one after the other.
    may : (rows of this rank,) which coordinates may follow.
    """
    row, column, value = _entries(matrix, int(starts[matrix.comm.rank]), rows)
    group = np.cumsum(np.diff(vertex, prepend=vertex[:1]) != 0)
    size = int(starts[-1])
    pairs, place = np.unique(group[row] * np.int64(size) + column, return_inverse=True)
    of_pair, column = np.divmod(pairs, max(1, size))
    users = combine(matrix.comm, starts, column, np.ones(len(column), dtype=np.int64))
    alone = lookup(matrix.comm, starts, column, may & (users == 1))
    width = np.bincount(of_pair, minlength=int(group[-1]) + 1 if len(group) else 0)
    first = np.cumsum(width) - width
    chosen = []
    count = np.bincount(group, minlength=len(width))
    begin = np.cumsum(count) - count
    for k in np.unique(count).tolist():
        some = np.flatnonzero((count == k) & (width <= MAX_GROUP_SIZE))
        if not len(some):
            continue
        widest = int(width[some].max())
        number = np.full(len(width), -1)
        number[some] = np.arange(len(some))
        mine = number[of_pair] >= 0
        at = number[of_pair[mine]], (np.arange(len(pairs)) - first[of_pair])[mine]
        columns, own = np.full((len(some), widest), -1), np.zeros((len(some), widest), dtype=bool)
        columns[at], own[at] = column[mine], alone[mine]
        B = np.zeros((len(some), k, widest))
        entry = number[group[row]] >= 0
        r, p = row[entry], place.ravel()[entry]
        B[number[group[r]], r - begin[group[r]], p - first[of_pair[p]]] = value[entry]
        index = begin[some][:, None] + np.arange(k)
        chosen.append(_solved(_Groups(index, columns, B, own)))
    none = np.zeros(0, np.int64)
    empty = none, none, none, np.zeros(0), none, none, np.zeros(0)
    parts = [np.concatenate(part) for part in zip(empty, *chosen, strict=True)]
    listed, of, column, factor, by, equation, inverse = parts
    number = int(starts[matrix.comm.rank]) + rows
    return Followers(np.sort(rows[listed]), of, column, factor, by, number[equation], inverse)


def _entries(matrix: Matrix, first: int, rows: Ints) -> tuple[Ints, Ints, Array]:
    """Return the entries of some rows: number in the list, column on all ranks, value."""
    entries = []
    starts = matrix.diagonal_start, matrix.off_start
    parts = zip(starts, matrix.columns, (first, 0), matrix.values, strict=True)
    for start, columns, shift, values in parts:
        count = (start[rows + 1] - start[rows]).astype(np.int64)
        place = np.repeat(start[rows] - np.cumsum(count) + count, count) + np.arange(count.sum())
        row = np.repeat(np.arange(len(rows)), count)
        entries.append((row, columns[place].astype(np.int64) + shift, values[place]))
    row, column, value = (np.concatenate(part) for part in zip(*entries, strict=True))
    largest = np.zeros(len(rows))
    np.maximum.at(largest, row, np.abs(value))
    strong = np.abs(value) > ROUND_OFF * largest[row]
    return row[strong], column[strong], value[strong]


def _solved(groups: _Groups) -> tuple[Ints, ...]:
    """Eliminate in all groups at once, with the largest pivots; return the arrays of `Followers`.

    Rows and equations by their places in the list.
    """
    n, k, width = groups.B.shape
    every = np.arange(n)
    A = np.concatenate([groups.B, np.broadcast_to(np.eye(k), (n, k, k))], axis=2)
    largest = np.abs(groups.B).max(axis=2)
    A /= np.where(largest > 0.0, largest, 1.0)[:, :, None]
    chosen, own = np.full((n, k), -1), groups.own.copy()
    for _ in range(k):
        size = np.abs(A[:, :, :width]) * ((chosen < 0)[:, :, None] & own[:, None, :])
        r, c = np.divmod(size.reshape(n, -1).argmax(axis=1), width)
        some = np.flatnonzero(size[every, r, c] > MIN_PIVOT)
        r, c = r[some], c[some]
        A[some, r] /= A[some, r, c][:, None]
        factor = A[some, :, c].copy()
        factor[np.arange(len(some)), r] = 0.0
        A[some] -= factor[:, :, None] * A[some, r][:, None, :]
        own[some, c], chosen[some, r] = False, c
    there = chosen >= 0
    g, r = np.nonzero(there)
    A[g, :, chosen[g, r]] = 0.0
    followed = np.where(there, np.abs(A[:, :, :width]).sum(axis=2), 0.0)
    there &= (followed <= MAX_FACTOR_SUM).all(axis=1)[:, None]
    leader = np.take_along_axis(groups.columns, np.maximum(chosen, 0), axis=1)
    g, r, c = np.nonzero(there[:, :, None] & (np.abs(A[:, :, :width]) > ROUND_OFF))
    h, i, j = np.nonzero(there[:, :, None] & (A[:, :, width:] != 0.0))
    return (
        groups.rows[there],
        leader[g, r],
        groups.columns[g, c],
        -A[g, r, c],
        leader[h, i],
        groups.rows[h, j],
        A[h, i, width + j],
    )
