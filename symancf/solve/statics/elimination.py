# SPDX-License-Identifier: BSD-3-Clause
"""Null vectors of sparse rows whose columns come in small groups, one group after the other."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array, Ints

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass
class Rows:
    """Rows that are zero but in the columns of some groups.

    Attributes
    ----------
    groups : numbers of the groups, ascending.
    values : (rows, columns of the groups in their order).
    """

    groups: tuple[int, ...]
    values: Array


@dataclass
class _Done:
    """What elimination left of a group: its columns as functions of those of later groups."""

    group: int
    later: tuple[int, ...]
    live: Array  # (columns, k) directions that rows determine ...
    by: Array  # (k, columns of later groups) ... as - by @ later


def null_vectors(
    widths: Ints, parts: Iterable[Rows], zero: float, most: int
) -> tuple[list[dict[int, Array]], int]:
    """Return combinations of columns that all rows map to zero, and their number.

    A QR decomposition group by group, that with the fewest neighbours next, so that a chain of n
    groups takes n steps with matrices of two groups. Directions of a group that the rows left
    at its turn do not determine (singular values up to `zero`) each give one null vector.

    Parameters
    ----------
    widths : (groups,) number of columns of each.
    parts : the rows; columns should have lengths of about 1.
    most : how many vectors are worked out; the others are only counted.

    Returns
    -------
    vectors : group -> (columns,), where it is not zero.
    count : of all.
    """
    store: dict[int, Rows] = dict(enumerate(parts))
    at: list[set[int]] = [set() for _ in widths]
    for key, rows in store.items():
        for g in rows.groups:
            at[g].add(key)
    done: list[_Done] = []
    dead: list[tuple[int, int, Array]] = []  # step, group, direction
    count, fresh = 0, len(store)
    heap = [(len(at[g]), g) for g in range(len(widths))]
    heapq.heapify(heap)
    left = [True] * len(widths)
    while heap:
        degree, group = heapq.heappop(heap)
        if not left[group]:
            continue
        if len(at[group]) > degree:
            heapq.heappush(heap, (len(at[group]), group))
            continue
        left[group] = False
        keys = sorted(at[group])
        mine = [store.pop(key) for key in keys]
        for key, rows in zip(keys, mine, strict=True):
            for g in rows.groups:
                at[g].discard(key)
        later = tuple(sorted({g for rows in mine for g in rows.groups} - {group}))
        front = _stacked(widths, (group, *later), mine)
        width = int(widths[group])
        U, size, W = _decomposed(front[:, :width])
        k = int((size > zero).sum())
        turned = U.T @ front[:, width:]
        done.append(_Done(group, later, W[:k].T, turned[:k] / size[:k, None]))
        for direction in W[k:]:
            if count < most:
                dead.append((len(done) - 1, group, direction))
            count += 1
        rest = turned[k:]
        if later and len(rest):
            if len(rest) > rest.shape[1]:
                rest = np.asarray(np.linalg.qr(rest, mode="r"))
            store[fresh] = Rows(later, rest)
            for g in later:
                at[g].add(fresh)
                heapq.heappush(heap, (len(at[g]), g))
            fresh += 1
    found = [_back(widths, done[:step], group, direction) for step, group, direction in dead]
    return found, count


def _decomposed(columns: Array) -> tuple[Array, Array, Array]:
    """Return U, the singular values and W^T; also of no rows or columns."""
    if not columns.size:
        rows, width = columns.shape
        return np.eye(rows), np.zeros(0), np.eye(width)
    U, size, W = np.linalg.svd(columns, full_matrices=True)
    return U, size, W


def _stacked(widths: Ints, groups: tuple[int, ...], parts: list[Rows]) -> Array:
    """Return rows on the columns of `groups`, in that order."""
    first = dict(zip(groups, np.cumsum([0, *widths[list(groups)][:-1]]).tolist(), strict=True))
    total = int(widths[list(groups)].sum())
    made = np.zeros((sum(len(rows.values) for rows in parts), total))
    row = 0
    for rows in parts:
        column, n = 0, len(rows.values)
        for g in rows.groups:
            w = int(widths[g])
            made[row : row + n, first[g] : first[g] + w] = rows.values[:, column : column + w]
            column += w
        row += n
    return made


def _back(widths: Ints, done: list[_Done], group: int, direction: Array) -> dict[int, Array]:
    """Return the null vector that has a direction of a group and nothing of later ones."""
    found = {group: direction}
    for step in reversed(done):
        if any(g in found for g in step.later):
            part, column = np.zeros(len(step.by)), 0
            for g in step.later:
                width = int(widths[g])
                if g in found:
                    part -= step.by[:, column : column + width] @ found[g]
                column += width
            found[step.group] = step.live @ part
    return found
