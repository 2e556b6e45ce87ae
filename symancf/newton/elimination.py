# SPDX-License-Identifier: BSD-3-Clause
"""QR of sparse rows whose columns come in small groups, one group after the other."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array, Ints
from .norms import ROUND_OFF

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scipy.sparse import csr_array


@dataclass
class GroupRows:
    """Rows that are zero but in the columns of some groups.

    Attributes
    ----------
    groups : numbers of the groups, ascending.
    values : (rows, columns of the groups in their order).
    """

    groups: tuple[int, ...]
    values: Array


def rows_by_groups(A: csr_array, owner: Ints) -> list[GroupRows]:
    """Return the rows of an array by the groups that they touch, each set as one QR.

    Parameters
    ----------
    owner : (columns,) number of the group of each, ascending.
    """
    widths = np.bincount(owner)
    count, first = len(widths), np.cumsum(widths) - widths
    strong = np.abs(A.data) > ROUND_OFF * np.abs(A.data).max(initial=0.0)
    row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))[strong]
    column, value = A.indices[strong], A.data[strong]
    codes = np.unique(row * count + owner[column])
    used, start = np.unique(codes // max(1, count), return_index=True)
    touched, ends = (codes % max(1, count)).tolist(), [*start.tolist(), len(codes)]
    sets: dict[tuple[int, ...], list[int]] = {}
    for k, r in enumerate(used.tolist()):
        sets.setdefault(tuple(touched[ends[k] : ends[k + 1]]), []).append(r)
    part, place = np.zeros((2, A.shape[0]), dtype=np.int64)
    shapes, keys, lefts = [], [], []
    for p, (groups, members) in enumerate(sets.items()):
        part[members], place[members] = p, np.arange(len(members))
        right = np.cumsum(widths[list(groups)])
        lefts.append(right - widths[list(groups)])
        keys.append(p * count + np.array(groups))
        shapes.append((len(members), int(right[-1])))
    if not shapes:
        return []
    size = np.prod(np.array(shapes), axis=1)
    offset, width = np.cumsum(size) - size, np.array(shapes)[:, 1]
    p, group = part[row], owner[column]
    widths_left = np.concatenate(lefts)[np.searchsorted(np.concatenate(keys), p * count + group)]
    values = np.zeros(int(size.sum()))
    values[offset[p] + place[row] * width[p] + widths_left + column - first[group]] = value
    blocks = []
    for groups, shape, at in zip(sets, shapes, offset.tolist(), strict=True):
        block = values[at : at + shape[0] * shape[1]].reshape(shape)
        if shape[0] > shape[1]:
            block = np.asarray(np.linalg.qr(block, mode="r"))
        blocks.append(GroupRows(groups, block))
    return blocks


class _Store:
    """Blocks of rows by the groups of columns that they have."""

    def __init__(self, groups: int, blocks: Iterable[GroupRows]) -> None:
        self._blocks: dict[int, GroupRows] = {}
        self._of = [set[int]() for _ in range(groups)]
        self._added = 0
        for rows in blocks:
            self.add(rows)

    def add(self, rows: GroupRows) -> None:
        self._blocks[self._added] = rows
        for g in rows.groups:
            self._of[g].add(self._added)
        self._added += 1

    def neighbours(self, group: int) -> tuple[int, ...]:
        """Return the other groups of the blocks that have a group."""
        near = {g for number in self._of[group] for g in self._blocks[number].groups}
        return tuple(sorted(near - {group}))

    def take(self, group: int) -> list[GroupRows]:
        """Return the blocks that have a group, which are no longer in store."""
        numbers = sorted(self._of[group])
        blocks = [self._blocks.pop(number) for number in numbers]
        for number, rows in zip(numbers, blocks, strict=True):
            for g in rows.groups:
                self._of[g].discard(number)
        return blocks


@dataclass
class _GroupElimination:
    """What elimination left of a group: its columns as functions of those of later groups."""

    group: int
    later: tuple[int, ...]
    live: Array  # (columns, k) directions that rows determine ...
    size: Array  # (k,) by these singular values ...
    by: Array  # (k, columns of later groups) ... as - by @ later
    dead: Array  # (columns, rest) directions that they do not


class Elimination:
    r"""A QR decomposition of sparse rows A, group by group of columns.

    The group with the fewest neighbours comes next, so that a chain or tree of n takes n steps
    with matrices of two or three groups. Directions of a group that the rows left at its turn do
    not determine (singular values up to `zero`) each give one null vector of A.

    Parameters
    ----------
    widths : (groups,) number of columns of each.
    parts : the rows A; columns should have lengths of about 1.
    zero : singular value that counts as none.
    most : operations beyond which elimination ends without a result.

    Attributes
    ----------
    count : number of independent null vectors.
    operations : rows times squared columns, summed over all steps.
    complete : whether `most` was enough.
    """

    def __init__(
        self, widths: Ints, parts: Iterable[GroupRows], zero: float, most: float = np.inf
    ) -> None:
        self._widths = widths
        self._first = np.cumsum(widths) - widths
        self._groups_done: list[_GroupElimination] = []
        self.count, self.operations, self.complete = 0, 0.0, True
        store = _Store(len(widths), parts)
        heap = [(0, g) for g in range(len(widths))]
        heapq.heapify(heap)
        remaining = set(range(len(widths)))
        while heap:
            degree, group = heapq.heappop(heap)
            if group not in remaining:
                continue
            later = store.neighbours(group)
            if len(later) > degree:
                heapq.heappush(heap, (len(later), group))
                continue
            remaining.remove(group)
            mine = store.take(group)
            shape = sum(len(rows.values) for rows in mine), int(widths[[group, *later]].sum())
            self.operations += float(shape[0] * shape[1] ** 2)
            if self.operations > most:
                self.complete = False
                return
            rest = self._eliminate(group, later, _stacked(widths, (group, *later), mine), zero)
            if later and len(rest):
                store.add(GroupRows(later, rest))
                for g in later:
                    heapq.heappush(heap, (len(later) - 1, g))  # or more

    def _eliminate(self, group: int, later: tuple[int, ...], front: Array, zero: float) -> Array:
        """Take a group out of rows on its columns and those of later ones; return what is left."""
        width = int(self._widths[group])
        R = np.asarray(np.linalg.qr(front, mode="r")) if front.size else front
        own, others = R[:width, :width], R[:width, width:]
        if own.size:
            U, size, W = np.linalg.svd(own, full_matrices=True)
        else:
            U, size, W = np.eye(len(own)), np.zeros(0), np.eye(width)
        k = int((size > zero).sum())
        turned = U.T @ others
        size = size[:k]
        self._groups_done.append(
            _GroupElimination(group, later, W[:k].T, size, turned[:k] / size[:, None], W[k:].T)
        )
        self.count += width - k
        return np.concatenate([turned[k:], R[width:, width:]])

    def null_vectors(self, most: int | None = None, together: int = 64) -> list[tuple[Ints, Array]]:
        """Return null vectors, all or some: each its columns, ascending, and values there.

        They are worked out `together` at a time.
        """
        users: list[list[int]] = [[] for _ in self._widths]  # steps
        for step, done in enumerate(self._groups_done):
            for g in done.later:
                users[g].append(step)
        dead = [(step, v) for step, done in enumerate(self._groups_done) for v in done.dead.T][
            :most
        ]
        vectors = []
        for k in range(0, len(dead), together):
            vectors += self._back(users, dead[k : k + together])
        return vectors

    def _back(
        self, users: list[list[int]], dead: list[tuple[int, Array]]
    ) -> list[tuple[Ints, Array]]:
        """Return the null vectors that have a direction of a step's group and none of later ones.

        Only steps are taken whose groups they have.
        """
        count = len(dead)
        parts: dict[int, Array] = {}
        own: dict[int, Array] = {}
        for k, (step, direction) in enumerate(dead):
            own.setdefault(step, np.zeros((len(direction), count)))[:, k] = direction
        waiting, last = [-step for step in own], -1
        heapq.heapify(waiting)
        while waiting:
            step = -heapq.heappop(waiting)
            if step == last:
                continue
            last, done = step, self._groups_done[step]
            part, column = np.zeros((len(done.by), count)), 0
            for g in done.later:
                width = int(self._widths[g])
                if g in parts:
                    part -= done.by[:, column : column + width] @ parts[g]
                column += width
            part[:, np.abs(part).max(axis=0, initial=0.0) <= ROUND_OFF] = 0.0
            if step in own or part.any():
                parts[done.group] = done.live @ part + own.get(step, 0.0)
                for earlier in users[done.group]:
                    heapq.heappush(waiting, -earlier)
        groups = sorted(parts)
        columns = np.concatenate([self._first[g] + np.arange(self._widths[g]) for g in groups])
        values = np.concatenate([parts[g] for g in groups])
        return [(columns[v != 0.0], v[v != 0.0]) for v in values.T]

    def solve(self, b: Array) -> Array:
        r"""Return a solution y of :math:`A^T A y = b`, nothing along the directions left open.

        What b has along these is left aside.
        """
        b, y, solved = b.copy(), np.zeros(len(b)), []
        for done in self._groups_done:
            x = done.live.T @ b[self._columns(done.group)]
            column = 0
            for g in done.later:
                width = int(self._widths[g])
                b[self._columns(g)] -= x @ done.by[:, column : column + width]
                column += width
            solved.append(x / done.size**2)
        for done, x in zip(reversed(self._groups_done), reversed(solved), strict=True):
            there = [y[self._columns(g)] for g in done.later]
            x = x - done.by @ np.concatenate([np.zeros(0), *there])
            y[self._columns(done.group)] = done.live @ x
        return y

    def _columns(self, group: int) -> slice:
        first = int(self._first[group])
        return slice(first, first + int(self._widths[group]))


def _stacked(widths: Ints, groups: tuple[int, ...], parts: list[GroupRows]) -> Array:
    """Return rows on the columns of `groups`, in that order."""
    first = dict(zip(groups, np.cumsum([0, *widths[list(groups)][:-1]]).tolist(), strict=True))
    total = int(widths[list(groups)].sum())
    rows_of_groups = np.zeros((sum(len(rows.values) for rows in parts), total))
    row = 0
    for rows in parts:
        column, n = 0, len(rows.values)
        for g in rows.groups:
            w = int(widths[g])
            rows_of_groups[row : row + n, first[g] : first[g] + w] = rows.values[
                :, column : column + w
            ]
            column += w
        row += n
    return rows_of_groups
