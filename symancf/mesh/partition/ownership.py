# SPDX-License-Identifier: BSD-3-Clause
"""Who owns which vertex: found through a directory of vertices that is cut into blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ...arrays import Array, Ints, Ints32
from ...errors import MeshError
from ...runtime.collective import (
    block_starts,
    exchange,
    exchange_blocks,
    lookup,
    owners_of,
    reduced,
    share_error,
    shares,
    together,
)
from ...runtime.options import whole_number
from ..edges import adjacency
from .graph import gather_rows, partition

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .topology import Family

#: vertices, points of meshes with them: with fewer rank 0 alone is faster than several
PARTITION_FROM = 400


#: Vertices of a rank up to which PT-Scotch cuts the graph: with more its memory counts.
VERTICES_OF_GRAPH = 1_000_000
SPREAD = (
    (32, 0x1F00000000FFFF),
    (16, 0x1F0000FF0000FF),
    (8, 0x100F00F00F00F00F),
    (4, 0x10C30C30C30C30C3),
    (2, 0x1249249249249249),
)


@dataclass
class Owners:
    """Owner of every vertex, in blocks of ids, and of the vertices that this rank asked for."""

    starts: Ints
    table: Ints32
    of_local: Ints32


def find_owners(
    comm: MPI.Comm,
    families: Sequence[Family],
    local_ids: Ints,
    local: Sequence[Ints32],
    n_points: int | None,
    points: Callable[[Ints], Array] | None,
) -> Owners:
    """Cut the graph of vertices into one part for each rank; a small one is rank 0's. Collective.

    Parameters
    ----------
    local_ids : sorted distinct vertex ids of this rank's slices.
    local : vertices of each family as places in `local_ids`.
    n_points, points : see `distribute`.
    """
    last = int(reduced(comm, np.array([local_ids.max(initial=-1)]), MPI.MAX)[0])
    if last < 0:
        raise MeshError("nothing to distribute: the families hold no entities", asked="entities")
    starts = block_starts(last + 1, comm.size)
    if comm.size == 1 or last + 1 < _partition_from(comm):
        mine = int(starts[comm.rank + 1] - starts[comm.rank])
        _refuse_unused(comm, families, local_ids, local, in_graph(comm, families), n_points)
        return Owners(starts, np.zeros(mine, np.int32), np.zeros(len(local_ids), np.int32))
    return _cut(comm, families, local_ids, local, n_points, points, starts)


def _partition_from(comm: MPI.Comm) -> int:
    """Return from how many vertices on ranks share a system, as rank 0 was told (collective).

    Raises
    ------
    ParameterError : the option ``-partition_from`` is no number.
    """
    with together(comm):
        given = whole_number("partition_from", PARTITION_FROM)
    return int(comm.bcast(given))


def in_graph(comm: MPI.Comm, families: Sequence[Family]) -> list[bool]:
    """Families that make the graph: the partitioned ones, or all where there are none."""
    counts = np.array([len(f.ids) if f.partitioned else 0 for f in families], np.int64)
    if reduced(comm, counts).any():
        return [f.partitioned for f in families]
    return [True] * len(families)


def _cut(
    comm: MPI.Comm,
    families: Sequence[Family],
    local_ids: Ints,
    local: Sequence[Ints32],
    n_points: int | None,
    points: Callable[[Ints], Array] | None,
    starts: Ints,
) -> Owners:
    chosen = in_graph(comm, families)
    _refuse_unused(comm, families, local_ids, local, chosen, n_points)
    base, mine = int(starts[comm.rank]), int(starts[comm.rank + 1] - starts[comm.rank])

    # Every rank tells the directory which vertices its cells use, and at which cost.
    cost, used = np.zeros(len(local_ids)), np.zeros(len(local_ids), bool)
    for family, vertices, inside in zip(families, local, chosen, strict=True):
        if inside:
            times = np.bincount(vertices.ravel(), minlength=len(local_ids))
            cost += times * (family.weight / max(vertices.shape[1], 1))
            used |= times > 0
    counts = np.diff(np.searchsorted(local_ids, starts))
    queries, (ids, costs, uses) = exchange_blocks(comm, counts, local_ids, cost, used)
    ids -= base
    weights = np.bincount(ids, costs, minlength=mine).astype(float)
    used_here = np.bincount(ids, uses, minlength=mine) > 0

    table = np.full(mine, -1, np.int32)
    if points is not None and n_points is not None:
        placed = np.flatnonzero(used_here[: max(0, n_points - base)])
        if comm.allreduce(len(placed)) > VERTICES_OF_GRAPH * comm.size:
            table[placed] = along_curve(comm, points(base + placed), weights[placed])
            owners = Owners(starts, table, lookup(comm, starts, local_ids, table))
            _follow(comm, owners, local_ids, local)
            return owners

    # Vertices of the graph are numbered without gaps; the numbers go back.
    nodes = shares(comm, int(used_here.sum()))
    number = np.where(used_here, np.cumsum(used_here) - 1 + nodes[comm.rank], -1)
    _, (numbers,) = exchange_blocks(comm, queries, number[ids])
    rows = zip(families, local, chosen, strict=True)
    cells = [(vertices, family.links) for family, vertices, inside in rows if inside]
    graph = adjacency(comm, len(local_ids), cells)
    if (numbers < 0).any():
        rows_kept = np.flatnonzero(numbers >= 0)
        graph, numbers = graph.only(rows_kept), numbers[rows_kept]
    pointers, columns = gather_rows(comm, graph, numbers, nodes)
    del graph, numbers, number
    table[used_here] = partition(comm, nodes, pointers, columns, weights[used_here])
    owners = Owners(starts, table, lookup(comm, starts, local_ids, table))
    _follow(comm, owners, local_ids, local)
    return owners


def along_curve(comm: MPI.Comm, X: Array, weights: Array) -> Ints32:
    """Return the part (n,) of each place: as many along Morton's curve as there are ranks.

    All parts weigh the same, but for one place. Nothing travels but sums: where the curve is cut is
    found by bisection of its 63 bits (G. M. Morton, A computer oriented geodetic data base, 1966).
    Collective.

    Parameters
    ----------
    X : (n, 3) places of this rank.
    weights : (n,) of them.
    """
    low = reduced(comm, X.min(axis=0, initial=np.inf), MPI.MIN)
    high = reduced(comm, X.max(axis=0, initial=-np.inf), MPI.MAX)
    extent = float((high - low).max())
    scale = (2**21 - 1) / extent if 0.0 < extent < np.inf else 0.0
    key = np.zeros(len(X), np.int64)
    for axis in range(3):
        bits = np.rint((X[:, axis] - low[axis]) * scale).astype(np.int64)
        for shift, mask in SPREAD:  # two bits of the others between two of this axis
            bits = (bits | (bits << shift)) & mask
        key |= bits << axis
    order = np.argsort(key, kind="stable")
    along, before = key[order], np.concatenate([[0.0], np.cumsum(weights[order])])
    wanted = comm.allreduce(float(before[-1])) * np.arange(1, comm.size) / comm.size
    least, most = np.zeros(comm.size - 1, np.int64), np.full(comm.size - 1, 2**63 - 1)
    for _ in range(63):
        middle = least + (most - least) // 2
        enough = reduced(comm, before[np.searchsorted(along, middle)]) >= wanted
        most, least = np.where(enough, middle, most), np.where(enough, least, middle + 1)
        least = np.minimum(least, most)
    return np.searchsorted(most, key, side="right").astype(np.int32)


def _follow(comm: MPI.Comm, owners: Owners, local_ids: Ints, local: Sequence[Ints32]) -> None:
    """Give the vertices outside the graph the owner of a vertex they share an entity with."""
    base = owners.starts[comm.rank]
    while True:
        vertex, rank = [np.empty(0, np.int64)], [np.empty(0, np.int32)]
        for vertices in local:
            if not vertices.size:
                continue
            have_owner = owners.of_local[vertices] >= 0
            entity = np.flatnonzero(have_owner.any(axis=1) & ~have_owner.all(axis=1))
            first = vertices[entity, have_owner[entity].argmax(axis=1)]
            row, column = np.nonzero(~have_owner[entity])
            vertex.append(local_ids[vertices[entity[row], column]])
            rank.append(owners.of_local[first][row])
        queries, proposed = np.concatenate(vertex), np.concatenate(rank)
        to = owners_of(owners.starts, queries)
        _, (queries, proposed) = exchange(comm, to, queries, proposed)
        # Several neighbours: which rank wins changes with the vertex, to spread the load.
        order = np.lexsort(((proposed + queries) % comm.size, queries))[::-1]
        owners.table[queries[order] - base] = proposed[order]
        if not comm.allreduce(len(queries)):
            break
        owners.of_local = lookup(comm, owners.starts, local_ids, owners.table)
    # What touches no cell, not even through others, stays where the directory has it.
    owners.table[owners.table < 0] = comm.rank
    owners.of_local = lookup(comm, owners.starts, local_ids, owners.table)


def _refuse_unused(
    comm: MPI.Comm,
    families: Sequence[Family],
    local_ids: Ints,
    local: Sequence[Ints32],
    chosen: Sequence[bool],
    n_points: int | None,
) -> None:
    """Points of the mesh that only followers use: an error that names one. Collective."""
    if n_points is None or all(chosen):
        return
    starts = block_starts(n_points, comm.size)
    points = local_ids[: np.searchsorted(local_ids, n_points)]
    used = np.zeros(len(local_ids), bool)
    for vertices, inside in zip(local, chosen, strict=True):
        if inside:
            used[vertices] = True
    counts = np.diff(np.searchsorted(points, starts))
    queries, (ids, uses) = exchange_blocks(comm, counts, points, used[: len(points)])
    ids -= starts[comm.rank]
    total = np.bincount(ids, uses, minlength=starts[comm.rank + 1] - starts[comm.rank])
    _, (somewhere,) = exchange_blocks(comm, queries, total[ids])
    lonely = np.flatnonzero(somewhere == 0)
    error = None
    if len(lonely):
        vertex = lonely[0]
        name = next(f.name for f, v in zip(families, local, strict=True) if (v == vertex).any())
        error = MeshError(
            f"{name!r} names point {local_ids[vertex]} of the mesh, which no element uses",
            asked=name,
            given=int(local_ids[vertex]),
        )
    share_error(comm, error)
