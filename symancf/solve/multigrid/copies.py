# SPDX-License-Identifier: BSD-3-Clause
"""Copies of grid nodes: one for each side of a slit, so that coarse spaces do not join both."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ...arrays import Ints, Ints32, pointer
from ...runtime.collective import AnyArray, exchange, exchange_blocks, reduced
from .grids import GridInterpolation

if TYPE_CHECKING:
    from . import structures
    from .grids import Grids
    from .pattern import Pattern

MAX_LEVEL_RATIO = 0.6  # of the nodes of a level at most in the next, if some are copies
MAX_COPIED_UNKNOWNS = 1500  # unknowns of a connected part in the last level


def with_copies(
    library: ctypes.CDLL,
    comm: MPI.Comm,
    level: Pattern,
    data: structures.Level,
    ids: Ints,
    interpolation: GridInterpolation,
    grids: Grids,
    last: bool,
) -> tuple[GridInterpolation, Grids]:
    """Return interpolation with a copy of a grid node for each set of nodes that it joins.

    Collective; grids come with the bits of the copies. The nodes at which a trilinear function has
    weights are connected among themselves in the graph of the matrix: if not, as on both sides of
    a slit or in two coils of a spring, each connected set has a function of its own. There are no
    copies where the next level would be hardly smaller than this one, or the last one too large.

    Parameters
    ----------
    data : the level with this interpolation, as C takes it.
    ids : (nodes and ghosts,) of the nodes of the level, the same on any number of ranks.
    last : whether the next level will be inverted.
    """
    comm = MPI.COMM_SELF if level.shared else comm
    total, start = len(interpolation.keys), interpolation.start
    begin, of = np.zeros(total + 1, np.int32), np.empty(max(1, len(interpolation.column)), np.int32)
    count = library.symancf_components(ctypes.byref(data), total, pointer(begin), pointer(of))
    if count < 0:
        raise MemoryError("levels of multigrid: not enough memory")
    if comm.size == 1 and count == total:
        return interpolation, grids
    of, keys = of[: len(interpolation.column)], np.repeat(interpolation.keys, np.diff(begin))
    label = np.full(count, np.iinfo(np.int64).max)
    np.minimum.at(label, of, np.repeat(ids, np.diff(start)))
    if comm.size > 1:
        _agree(comm, level, start, of, label)
    copy = _numbered(comm, level, keys, label, grids, last)
    bits = int(reduced(comm, copy.max(initial=0, keepdims=True), MPI.MAX)[0]).bit_length()
    if not bits or not grids.fit(bits):
        return interpolation, grids
    keys, place = np.unique(keys << bits | copy, return_inverse=True)
    column = place.astype(np.int32)[of]
    return GridInterpolation(start, column, interpolation.weight, keys), replace(grids, copies=bits)


def _agree(comm: MPI.Comm, level: Pattern, start: Ints32, of: Ints32, label: Ints) -> None:
    """Give the parts of a component on all ranks the least label of them (collective)."""
    assert level.messages is not None
    entries, rank = np.diff(start), np.arange(comm.size)
    here, there = level.messages.list, level.nodes
    sent = np.bincount(np.repeat(rank, level.messages.sent), entries[here], comm.size)
    theirs = np.bincount(np.repeat(rank, level.messages.counts), entries[there:], comm.size)
    counts = sent.astype(np.int64), theirs.astype(np.int64)
    behind = np.cumsum(entries[here]) - entries[here]
    out = np.repeat(start[here] - behind, entries[here]) + np.arange(int(entries[here].sum()))
    of_sent, of_ghosts = of[out], of[start[there] :]
    changed = True
    while changed:
        before = label.copy()
        for mine, yours, number in (
            (of_sent, of_ghosts, counts[0]),
            (of_ghosts, of_sent, counts[1]),
        ):
            _, (got,) = exchange_blocks(comm, number, label[mine])
            np.minimum.at(label, yours, got)
        changed = comm.allreduce(bool((label != before).any()), MPI.LOR)


def _numbered(
    comm: MPI.Comm, level: Pattern, keys: Ints, label: Ints, grids: Grids, last: bool
) -> Ints:
    """Number components of each key from 0 by their labels; all are 0 if too many (collective)."""
    counts, (queries, of) = exchange(comm, home(comm, keys), keys, label)
    order = np.lexsort((of, queries))
    key, least = queries[order], of[order]
    other = np.append(True, key[1:] != key[:-1])[: len(key)]
    new = other | np.append(True, least[1:] != least[:-1])[: len(key)]
    number = np.cumsum(new)
    number -= np.maximum.accumulate(np.where(other, number, 0))
    nodes, split, plain = reduced(comm, np.array([level.nodes, new.sum(), other.sum()]))
    parts = grids.part[grids.numbers(key[new])]
    largest = reduced(comm, np.bincount(parts, minlength=int(grids.part.max(initial=0)) + 1)).max()
    few = (
        3 * largest <= MAX_COPIED_UNKNOWNS if last else split <= max(MAX_LEVEL_RATIO * nodes, plain)
    )
    answer = np.zeros(len(key), dtype=np.int64)
    if few:
        answer[order] = number
    return returned(comm, keys, counts, answer)


def home(comm: MPI.Comm, keys: Ints) -> Ints:
    """Return the rank that every rank asks about a key."""
    mixed = keys.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return ((mixed >> np.uint64(33)) % np.uint64(comm.size)).astype(np.int64)


def returned(comm: MPI.Comm, keys: Ints, counts: Ints, answer: AnyArray) -> AnyArray:
    """Return what ranks answer to keys that were sent to their `home` (collective).

    `counts`, `answer` : keys that came from each rank, and the answers in their order.
    """
    _, (answers,) = exchange_blocks(comm, counts, answer)
    if comm.size > 1:
        answers[np.argsort(home(comm, keys), kind="stable")] = answers.copy()
    return np.asarray(answers)
