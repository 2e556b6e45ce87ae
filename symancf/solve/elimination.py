# SPDX-License-Identifier: BSD-3-Clause
"""The order in which blocks of unknowns are eliminated, and what that fills in.

A set of blocks is an integer, bit k of which stands for block k.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..arrays import Ints, Ints32, Mask


def as_set(blocks: Iterable[int]) -> int:
    """Return numbers of blocks as a set."""
    found = 0
    for k in blocks:
        found |= 1 << k
    return found


def members(blocks: int) -> Iterator[int]:
    """Yield the numbers in a set."""
    while blocks:
        lowest = blocks & -blocks
        yield lowest.bit_length() - 1
        blocks ^= lowest


class Blocks:
    """The unknowns of a matrix in blocks: rows with the same columns.

    Parameters
    ----------
    start, column : the pattern, row by row, columns ascending.
    constrains : rows that are constraints, which have blocks of their own.
    follows : rows that come after the constraints, likewise; None: there are none.
    some : entries that are not zero, or may become so: where all between two blocks without
        followers are, the blocks are not adjacent. None: all.

    Attributes
    ----------
    rows : of each block.
    adjacent : set of the other blocks in the equations of each, and in whose equations it is.
    constraints, followers : sets of those blocks.
    empty : pairs of blocks that the pattern couples, and `some` does not.
    """

    def __init__(
        self,
        start: Ints32,
        column: Ints32,
        constrains: Mask,
        follows: Mask | None = None,
        some: Mask | None = None,
    ) -> None:
        self._start, self._column = start, column
        found: dict[tuple[bytes, int], list[int]] = {}
        ends, kinds = start.tolist(), constrains.astype(int)
        if follows is not None:
            kinds[follows] = 2
        for row, kind in enumerate(kinds.tolist()):
            found.setdefault((column[ends[row] : ends[row + 1]].tobytes(), kind), []).append(row)
        self.rows: list[Ints] = [np.array(rows) for rows in found.values()]
        self.constraints = as_set(k for k, (_, kind) in enumerate(found) if kind == 1)
        self.followers = as_set(k for k, (_, kind) in enumerate(found) if kind == 2)
        self.adjacent = self._find_adjacent()
        self.empty: list[tuple[int, int]] = []
        if some is not None and self.followers:
            self._part(some)

    def _find_adjacent(self) -> list[int]:
        block = np.empty(len(self._start) - 1, np.int64)
        for k, rows in enumerate(self.rows):
            block[rows] = k
        adjacent = [0] * len(self.rows)
        for k in range(len(self.rows)):
            others = as_set(np.unique(block[self.columns(k)]).tolist()) & ~(1 << k)
            adjacent[k] |= others
            for j in members(others):
                adjacent[j] |= 1 << k
        return adjacent

    def _part(self, some: Mask) -> None:
        """Part the blocks between which no entry is one of `some`."""
        for k in range(len(self.rows)):
            if self.followers >> k & 1:
                continue
            for j in members(self.adjacent[k] & ~self.followers & -(2 << k)):
                if not any(self._has(some, *pair) for pair in ((k, j), (j, k))):
                    self.adjacent[k] &= ~(1 << j)
                    self.adjacent[j] &= ~(1 << k)
                    self.empty.append((k, j))

    def _has(self, some: Mask, k: int, j: int) -> bool:
        places = self.places(k, j)
        return bool(some[places[places >= 0]].any())

    def columns(self, k: int) -> Ints32:
        """Return the columns of the rows of a block."""
        row = self.rows[k][0]
        return self._column[self._start[row] : self._start[row + 1]]

    def places(self, k: int, j: int) -> Ints32:
        """Return the places of the entries (rows of k, columns of j), -1 where there is none."""
        columns, wanted = self.columns(k), self.rows[j]
        at = np.searchsorted(columns, wanted)
        there = np.append(columns, -1)[at] == wanted
        return np.where(there, self._start[self.rows[k]][:, None] + at, -1).astype(np.int32)


class Front(NamedTuple):
    """Blocks that are eliminated together.

    Attributes
    ----------
    pivots : these, in order.
    later : the others in their equations, in order: all are eliminated later.
    parent : number of the front to which what is left is added, or -1.
    """

    pivots: list[int]
    later: list[int]
    parent: int


def elimination_order(
    adjacent: Sequence[int], waits: int, follow: int = 0, leads: int = 0
) -> list[Front]:
    """Return fronts in an order of minimum degree, children before parents.

    (A. George, J. W. H. Liu, SIAM Review 31 (1989) 1-19.)

    Parameters
    ----------
    adjacent : set of the others in the equations of each block.
    waits : those that come after all others in their equations: multipliers.
    follow : those that come after these instead, as their own diagonal is zero.
    leads : others that these come after.
    """
    later = list(adjacent)

    def before(k: int) -> int:
        if follow >> k & 1:
            return waits | leads
        return ~(waits | follow) if waits >> k & 1 else 0

    missing = [(a & before(k)).bit_count() for k, a in enumerate(adjacent)]
    heap = [(a.bit_count(), k) for k, a in enumerate(later) if not missing[k]]
    heapify(heap)
    number: dict[int, int] = {}  # by block: when it is eliminated
    while heap:
        degree, k = heappop(heap)
        if k in number or degree != later[k].bit_count():
            continue
        number[k] = len(number)
        this = 1 << k
        for j in members(adjacent[k] & (waits | follow)):
            missing[j] -= before(j) >> k & 1
        for j in members(later[k]):
            later[j] = (later[j] | later[k]) & ~this & ~(1 << j)
            if not missing[j]:
                heappush(heap, (later[j].bit_count(), j))
    return _fronts(number, later)


def _fronts(number: dict[int, int], later: list[int]) -> list[Front]:
    """Return the fronts of blocks by when each is eliminated, and of what is in its equations then.

    A block joins the next one in its equations where that fills nothing in.
    """
    following = {k: min(members(later[k]), key=number.__getitem__, default=-1) for k in number}
    pivots: dict[int, list[int]] = {k: [k] for k in number}  # by the last block of a front
    for k, up in following.items():
        if up >= 0 and len(pivots[up]) == 1 and later[k] == later[up] | 1 << up:
            pivots[up] = pivots.pop(k) + pivots[up]
    last_of = {k: last for last, joined in pivots.items() for k in joined}
    parent = {last: last_of.get(following[last], -1) for last in pivots}
    place = {last: i for i, last in enumerate(_children_first(parent))}
    return [
        Front(
            pivots[last],
            sorted(members(later[last]), key=number.__getitem__),
            place.get(parent[last], -1),
        )
        for last in place
    ]


def _children_first(parent: dict[int, int]) -> list[int]:
    """Return the keys of a forest, each right after all of its descendants."""
    children: dict[int, list[int]] = {-1: []}
    for k, up in parent.items():
        children.setdefault(up, []).append(k)
    found, stack = [], list(children[-1])
    while stack:
        found.append(stack.pop())
        stack += children.get(found[-1], ())
    return found[::-1]
