# SPDX-License-Identifier: BSD-3-Clause
"""The entries between displacements of nodes in a matrix that has other rows, too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array, Integers, Ints, Ints32
from ..runtime.collective import owners_of, shares

if TYPE_CHECKING:
    from collections.abc import Callable

    from .matrix import Matrix


class NodeEntries:
    """Blocks of 3 x 3 between nodes among the entries of a matrix (collective).

    Parameters
    ----------
    matrix : the first rows of each rank are of nodes, three of each.
    nodes : of this rank.

    Attributes
    ----------
    own_start, own : (nodes + 1,) where blocks of rows begin, and columns among this rank's nodes.
    off_start, off : the same of other ranks' nodes, by their numbers on all ranks.
    """

    def __init__(self, matrix: Matrix, nodes: int) -> None:
        self._matrix, comm = matrix, matrix.comm
        rows, of_nodes = shares(comm, matrix.numbering.rows), shares(comm, nodes)

        def own(column: Integers) -> Ints:
            return np.where(column < 3 * nodes, column // 3, -1)

        def off(column: Integers) -> Ints:
            owner = owners_of(rows, column.astype(np.int64))
            within, many = column - rows[owner], 3 * np.diff(of_nodes)[owner]
            return np.where(within < many, of_nodes[owner] + within // 3, -1)

        parts = [
            _blocks(start, column, number, nodes)
            for start, column, number in zip(self._starts, matrix.columns, (own, off), strict=True)
        ]
        (self.own_start, self.own), (self.off_start, self.off) = parts
        self._places: list[Ints] | None = None
        if rows[-1] > 3 * of_nodes[-1]:
            self._places = [
                np.flatnonzero(number(column[: int(start[3 * nodes])]) >= 0)
                for start, column, number in zip(
                    self._starts, matrix.columns, (own, off), strict=True
                )
            ]

    @property
    def _starts(self) -> tuple[Ints32, Ints32]:
        return self._matrix.diagonal_start, self._matrix.off_start

    @property
    def values(self) -> tuple[Array, Array]:
        """The present entries (9 blocks,) of both parts: three rows of each node."""
        own, off = self._matrix.values
        if self._places is None:
            return own, off
        return own[self._places[0]], off[self._places[1]]

    def on_diagonal(self, own: Array) -> tuple[Ints, Array]:
        """Return which nodes have blocks on the diagonal, and these (n, 3, 3), of the own part."""
        row = np.repeat(np.arange(len(self.own_start) - 1), np.diff(self.own_start))
        at = np.flatnonzero(self.own == row)
        node = row[at]
        first, width = self.own_start[node].astype(np.int64), np.diff(self.own_start)[node]
        corner = 9 * first + 3 * (at - first)
        places = corner[:, None, None] + 3 * width[:, None, None] * np.arange(3)[:, None]
        return node, own[places + np.arange(3)]


def _blocks(
    start: Ints32, column: Ints32, number: Callable[[Integers], Ints], nodes: int
) -> tuple[Ints32, Ints32]:
    """Return where rows of blocks begin, and their columns.

    `start` : of rows; `number` : nodes of columns, -1: of none.
    """
    first, end = (start[k : 3 * nodes + k : 3].astype(np.int64) for k in (0, 1))
    count = end - first  # of the first row of each node
    places = np.repeat(first - np.cumsum(count) + count, count) + np.arange(int(count.sum()))
    node = number(column[places])
    there = node >= 0
    row = np.repeat(np.arange(nodes), count)[there][::3]
    begin = np.searchsorted(row, np.arange(nodes + 1)).astype(np.int32)
    return begin, node[there][::3].astype(np.int32)


def merged(start: Ints32, column: Ints32, more: Ints32, others: Integers) -> tuple[Ints32, Ints32]:
    """Return where rows begin, and columns, of two patterns; columns of each row ascend.

    `more`, `others` : the second pattern, of few rows.
    """
    row = np.repeat(np.arange(len(start) - 1), np.diff(more))
    touched = np.flatnonzero(np.diff(more))
    count = np.diff(start)[touched]
    begin = np.cumsum(count) - count
    places = np.repeat(start[touched] - begin, count) + np.arange(int(count.sum()))
    wide = 1 + max(int(column.max(initial=0)), int(others.max(initial=0)))
    known = np.repeat(touched, count) * wide + column[places]
    wanted = row * wide + others
    at = np.searchsorted(known, wanted)
    new = np.append(known, -1)[at] != wanted
    shift = np.zeros(len(start), dtype=np.int64)
    shift[touched] = start[touched] - begin
    to = at[new] + shift[row[new]]
    columns = np.insert(column, to, others[new]).astype(np.int32)
    added = np.bincount(row[new], minlength=len(start) - 1)
    starts = start + np.concatenate([[0], np.cumsum(added)])
    return starts.astype(np.int32), columns
