# SPDX-License-Identifier: BSD-3-Clause
"""The levels of multigrid on all ranks: patterns, interpolation, messages."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ...arrays import Array, Ints, Ints32, pointer
from ...assembly.half_blocks import HalfBlocks
from ...assembly.node_entries import merged
from ...runtime.collective import exchange, exchange_blocks, owners_of, shares
from . import structures
from .copies import home, returned, with_copies
from .grids import Grids, interpolation
from .messages import Ghosts, Singles
from .pattern import Pattern
from .structures import part

if TYPE_CHECKING:
    from mpi4py import MPI

    from ...assembly.node_entries import NodeEntries
    from .grids import GridNodes

SHARED = 5_000  # unknowns of a level that all ranks hold: what it takes twice, messages take else


@dataclass
class LevelTransfer:
    """What leads from a level to the next.

    Attributes
    ----------
    start, column, weight : interpolation to own nodes and ghosts.
    pattern : of the next level.
    ghost_start, ghost_columns : of the rows that others own.
    sent : (ranks,) blocks of these that go to each rank.
    rows, starts, places : of the blocks that come from others, see ``symancf_add_rows``.
    ids : of the nodes of the next level, ghosts too, the same on every rank.
    grids : their grids.
    """

    start: Ints32
    column: Ints32
    weight: Singles
    pattern: Pattern
    ids: Ints
    grids: Grids
    ghost_start: Ints32 = field(default_factory=lambda: np.zeros(1, np.int32))
    ghost_columns: Ints32 = field(default_factory=lambda: np.zeros(0, np.int32))
    sent: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    rows: Ints32 = field(default_factory=lambda: np.zeros(0, np.int32))
    starts: Ints32 = field(default_factory=lambda: np.zeros(1, np.int32))
    places: Ints32 = field(default_factory=lambda: np.zeros(0, np.int32))

    def halve(self) -> Pattern:
        """Take the pattern of the next level from the diagonal on, and return it."""
        self.pattern, places = self.pattern.half()
        own = self.places >= 0
        self.places[own] = places[self.places[own]]
        return self.pattern


class Entries(Protocol):
    """A matrix as PETSc's AIJ stores it, three rows of each node: `symancf.assembly.matrix.Matrix`.

    Attributes
    ----------
    diagonal_start, off_start : (rows + 1,) row pointers of the two parts.
    columns : of their entries: numbers of this rank's rows, and numbers of all rows.
    values : of the two parts, with room for 8 more behind each.
    revision : another one where the pattern is another one.
    """

    comm: MPI.Comm
    diagonal_start: Ints32
    off_start: Ints32
    columns: tuple[Ints32, Ints32]
    revision: int

    @property
    def values(self) -> tuple[Array, Array]:
        """The values of the two parts."""


def finest(
    matrix: Entries | HalfBlocks, nodes: GridNodes, rest: NodeEntries | None = None
) -> tuple[Pattern, Array, Ints, Ints, Ints]:
    """Return the pattern by blocks; X, grid and ids of nodes and ghosts; ghosts (collective).

    Parameters
    ----------
    rest : entries that are beside those of the matrix.
    """
    comm, n = matrix.comm, len(nodes.start)
    if isinstance(matrix, HalfBlocks):
        ghosts, upper = matrix.ghosts, rest is None
        parts = matrix.start, matrix.column, matrix.off_start, matrix.off
        if rest is not None:
            ghosts = np.union1d(ghosts, rest.off)
            off, others = (np.searchsorted(ghosts, g) for g in (matrix.ghosts, rest.off))
            parts = (
                *merged(*matrix.both(), rest.own_start, rest.own),
                *merged(matrix.off_start, off[matrix.off], rest.off_start, others),
            )
    else:
        rows = matrix.diagonal_start, matrix.off_start
        starts = [np.ascontiguousarray(start[::3] // 9) for start in rows]
        columns = list(map(_of_blocks, rows, starts, matrix.columns))
        ghosts, off = np.unique(columns[1].astype(np.int64), return_inverse=True)
        parts, upper = (starts[0], columns[0], starts[1], off.astype(np.int32)), False
    if comm.size == 1:
        return Pattern(n, 0, *parts, None, False, upper), nodes.X, nodes.grid, nodes.ids, ghosts
    firsts = shares(comm, n)
    owner = owners_of(firsts, ghosts)
    counts = np.bincount(owner, minlength=comm.size).astype(np.int64)
    messages = Ghosts(comm, counts, (ghosts - firsts[owner]).astype(np.int32))
    ours = nodes.X, nodes.grid, nodes.ids
    _, theirs = exchange_blocks(comm, messages.sent, *(each[messages.list] for each in ours))
    X, grid, ids = (np.concatenate(pair) for pair in zip(ours, theirs, strict=True))
    return Pattern(n, len(ghosts), *parts, messages, False, upper), X, grid, ids, ghosts


def _of_blocks(start: Ints32, blocks: Ints32, column: Ints32) -> Ints32:
    """Return the numbers of the blocks of rows: every third column of every third row."""
    row, count = start[:-1:3].astype(np.int64), np.diff(blocks)
    place = np.repeat(row - 3 * blocks[:-1].astype(np.int64), count)
    place += 3 * np.arange(len(place))
    return np.asarray(column[place] // 3, dtype=np.int32)


def structure(
    level: Pattern, start: Ints32, column: Ints32, weight: Singles, degree: int, symmetric: bool
) -> structures.Level:
    """Return the places of a level, and its interpolation, as C takes them."""
    level_of_c = structures.Level(level.nodes, level.ghosts, int(symmetric), degree)
    level_of_c.own, level_of_c.off = (
        part(level.own_start, level.own),
        part(level.off_start, level.off),
    )
    level_of_c.coarse, level_of_c.weight = part(start, column), pointer(weight)
    level_of_c.shared = int(level.shared)
    return level_of_c


def coarsen(
    library: ctypes.CDLL,
    comm: MPI.Comm,
    level: Pattern,
    X: Array,
    grid: Ints,
    ids: Ints,
    grids: Grids,
    last: bool,
) -> LevelTransfer:
    """Return the next level: the nodes of grids around those of a level (collective).

    Parameters
    ----------
    last : whether it will be inverted, by every rank.
    """
    interpolated = interpolation(library, grids, X, grid)
    level_of_c = structure(
        level, interpolated.start, interpolated.column, interpolated.weight, 0, False
    )
    interpolated, grids = with_copies(
        library, comm, level, level_of_c, ids, interpolated, grids, last
    )
    level_of_c.coarse = part(interpolated.start, interpolated.column)
    total = len(interpolated.keys)
    start = np.zeros(total + 1, dtype=np.int64)
    arguments = ctypes.byref(level_of_c), int(level.upper), total, pointer(start)
    blocks = library.symancf_coarse_pattern(*arguments, None)
    columns = np.empty(max(1, blocks), dtype=np.int32)
    if blocks < 0 or library.symancf_coarse_pattern(*arguments, pointer(columns)) < 0:
        raise MemoryError("levels of multigrid: not enough memory")
    if comm.size == 1 or level.shared:
        pattern = _alone(start, columns[:blocks], total, level.shared)
        P = interpolated.start, interpolated.column, interpolated.weight
        return LevelTransfer(*P, pattern, interpolated.keys, grids)
    row = np.repeat(np.arange(total, dtype=np.int32), np.diff(start))
    pairs = row, columns[:blocks]
    own_weight: Array = np.bincount(
        interpolated.column[: interpolated.start[level.nodes]],
        interpolated.weight[: interpolated.start[level.nodes]],
        minlength=total,
    ).astype(float)
    owner = _owners(comm, interpolated.keys, own_weight)
    mine = int((owner == comm.rank).sum())
    if last or 3 * comm.allreduce(mine) <= SHARED:
        return _shared(
            comm,
            grids,
            interpolated.keys,
            owner,
            pairs,
            (interpolated.start, interpolated.column, interpolated.weight),
        )
    return _apart(
        comm,
        grids,
        interpolated.keys,
        owner,
        pairs,
        (interpolated.start, interpolated.column, interpolated.weight),
    )


def _alone(start: Ints, columns: Ints32, nodes: int, shared: bool) -> Pattern:
    """Return the pattern of a level without ghosts."""
    none = np.zeros(nodes + 1, np.int32), np.zeros(0, np.int32)
    return Pattern(nodes, 0, start.astype(np.int32), columns, *none, None, shared)


def _owners(comm: MPI.Comm, keys: Ints, weight: Array) -> Ints32:
    """Return the rank of each key: the one with the largest weight (collective).

    Ranks ask another one, which follows from the key.
    """
    counts, (queries, weights) = exchange(comm, home(comm, keys), keys, weight)
    rank = np.repeat(np.arange(comm.size), counts)
    order = np.lexsort((rank, -weights, queries))
    _, first, back = np.unique(queries[order], return_index=True, return_inverse=True)
    answer = np.empty(len(queries), dtype=np.int32)
    answer[order] = rank[order][first][back]
    return returned(comm, keys, counts, answer)


Pairs = tuple[Ints32, Ints32]
Rows = tuple[Ints32, Ints32, Singles]


def _shared(
    comm: MPI.Comm, grids: Grids, keys: Ints, owner: Ints32, pairs: Pairs, entries: Rows
) -> LevelTransfer:
    """Return a level that all ranks hold (collective)."""
    every = np.sort(np.concatenate(comm.allgather(keys[owner == comm.rank])))
    place = np.searchsorted(every, keys)
    coded = place[pairs[0]] * np.int64(len(every)) + place[pairs[1]]
    _, (own,) = exchange(comm, owner[pairs[0]], coded)  # each of them from one rank only
    coded = np.sort(np.concatenate(comm.allgather(np.unique(own))))
    row, column = np.divmod(coded, len(every))
    start = np.searchsorted(row, np.arange(len(every) + 1))
    pattern = _alone(start, column.astype(np.int32), len(every), shared=True)
    P = entries[0], place[entries[1]].astype(np.int32), entries[2]
    return LevelTransfer(*P, pattern, every, grids)


def _apart(
    comm: MPI.Comm, grids: Grids, keys: Ints, owner: Ints32, pairs: Pairs, entries: Rows
) -> LevelTransfer:
    """Return a level of which each rank holds its rows (collective)."""
    mine = owner == comm.rank
    away = ~mine[pairs[0]]
    to = owner[pairs[0][away]]
    entries_away = keys[pairs[0][away]], keys[pairs[1][away]], owner[pairs[1][away]]
    came, (key_row, key_column, of_column) = exchange(comm, to, *entries_away)
    own = keys[mine]
    outside = of_column != comm.rank
    others = np.concatenate([keys[~mine], key_column[outside]])
    of = np.concatenate([owner[~mine], of_column[outside]])
    others, first = np.unique(others, return_index=True)
    of = of[first]
    order = np.lexsort((others, of))
    others, of = others[order], of[order]
    total = len(own) + len(others)
    every = np.concatenate([own, others])
    by_key = np.argsort(every)

    def local(wanted: Ints) -> Ints:
        return np.asarray(by_key[np.searchsorted(every, wanted, sorter=by_key)])

    place = local(keys)
    row, column = place[pairs[0]], place[pairs[1]]
    here = row < len(own)
    got = local(key_row) * np.int64(total) + local(key_column)
    coded = np.unique(np.concatenate([row[here] * np.int64(total) + column[here], got]))
    at = _BlockPattern(coded, total, len(own))
    # the rows of ghosts follow each other by owner, as they are sent
    order = np.lexsort((column[~here], row[~here]))
    ghost_row, ghost_columns = row[~here][order] - len(own), column[~here][order]
    ghost_start = np.searchsorted(ghost_row, np.arange(len(others) + 1)).astype(np.int32)
    sent = np.bincount(of[ghost_row], minlength=comm.size).astype(np.int64)
    _, (key_row, key_column) = exchange_blocks(comm, sent, others[ghost_row], every[ghost_columns])
    got = local(key_row) * np.int64(total) + local(key_column)
    source = np.repeat(np.arange(comm.size), came)
    change = np.ones(len(key_row), dtype=bool)
    change[1:] = (key_row[1:] != key_row[:-1]) | (source[1:] != source[:-1])
    begin = np.flatnonzero(change)
    counts = np.bincount(of, minlength=comm.size).astype(np.int64)
    messages = Ghosts(comm, counts, _numbers_there(comm, counts, others, own))
    pattern = Pattern(len(own), len(others), *at.starts_and_columns(), messages, False)
    P = entries[0], place[entries[1]].astype(np.int32), entries[2]
    return LevelTransfer(
        *P,
        pattern,
        every,
        grids,
        ghost_start,
        ghost_columns.astype(np.int32),
        sent,
        local(key_row[begin]).astype(np.int32),
        np.append(begin, len(key_row)).astype(np.int32),
        at.places(got),
    )


def _numbers_there(comm: MPI.Comm, counts: Ints, keys: Ints, own: Ints) -> Ints32:
    """Return the owners' numbers of keys that are grouped by owner (collective)."""
    queries, (wanted,) = exchange_blocks(comm, counts, keys)
    _, (numbers,) = exchange_blocks(comm, queries, np.searchsorted(own, wanted).astype(np.int32))
    return np.asarray(numbers, dtype=np.int32)


@dataclass(frozen=True)
class _BlockPattern:
    """Blocks of rows, coded by row times `total` plus column, ascending, in two parts."""

    coded: Ints
    total: int
    own: int

    def starts_and_columns(self) -> tuple[Ints32, Ints32, Ints32, Ints32]:
        """Return where rows begin, and columns, of each part."""
        row, column = np.divmod(self.coded, self.total)
        arrays: list[Ints32] = []
        for chosen, behind in ((column < self.own, 0), (column >= self.own, self.own)):
            start = np.searchsorted(row[chosen], np.arange(self.own + 1)).astype(np.int32)
            arrays += [start, (column[chosen] - behind).astype(np.int32)]
        return arrays[0], arrays[1], arrays[2], arrays[3]

    def places(self, wanted: Ints) -> Ints32:
        """Return the places of blocks: in the first part, or ~place in the second."""
        inside = self.coded % self.total < self.own
        number = np.where(inside, np.cumsum(inside) - 1, -np.cumsum(~inside))
        return np.asarray(number[np.searchsorted(self.coded, wanted)], dtype=np.int32)
