# SPDX-License-Identifier: BSD-3-Clause
"""Distribution of vertices and entities: every rank gets all entities that touch its vertices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from symancf.collective import (
    block_starts,
    exchange,
    exchange_blocks,
    lookup,
    reduced,
    share_error,
    together,
)
from symancf.errors import MeshError
from symancf.graph import adjacency, gather_rows, partition, reverse_cuthill_mckee_order
from symancf.halo import Halo

Ints = NDArray[np.int64]
Ints32 = NDArray[np.int32]


@dataclass(frozen=True)
class Family:
    """Entities of one kind on this rank before distribution: any slice, no entity twice.

    Attributes
    ----------
    name
        Unique among the families; the same families in the same order on every rank.
    ids
        (k,) numbers by which the entities are known.
    vertices
        (k, nv) global vertex ids: points of the mesh, or beyond them virtual vertices
        (multipliers, rigid bodies, controller states). nv is the same on every rank.
    weight
        Cost of one entity, in any unit common to the families.
    partitioned
        Whether the entities take part in the graph (cells). Others (joints, loads, boundary
        facets) follow: vertices that only they touch join the rank of a neighbour.
    """

    name: str
    ids: Ints
    vertices: Ints
    weight: float = 1.0
    partitioned: bool = True


@dataclass(frozen=True)
class LocalFamily:
    """Entities of one kind that touch an owned vertex of this rank, sorted for locality.

    Attributes
    ----------
    name
        As given.
    ids
        (k,) numbers as given.
    vertices
        (k, nv) local vertex numbers.
    owned
        (k,) True on exactly one of the ranks that hold the entity.
    """

    name: str
    ids: Ints
    vertices: Ints32
    owned: NDArray[np.bool_]


@dataclass(frozen=True)
class Topology:
    """Vertices and entities of this rank after distribution.

    Attributes
    ----------
    comm
        The ranks.
    vertex_ids
        (n,) ids as given in the families: owned vertices first, ordered for locality, then
        ghosts by owner.
    n_owned
        Number of owned vertices.
    owners
        (n,) rank that owns each local vertex.
    starts
        (ranks + 1,) first new global number of each rank: the ownership ranges.
    numbers
        (n,) new global number of each local vertex, contiguous within each rank.
    families
        Name -> `LocalFamily`.
    halo
        Messages between owners and ghosts.
    """

    comm: MPI.Comm
    vertex_ids: Ints
    n_owned: int
    owners: Ints32
    starts: Ints
    numbers: Ints
    families: dict[str, LocalFamily]
    halo: Halo

    @property
    def n_local(self) -> int:
        """Number of owned and ghost vertices."""
        return len(self.vertex_ids)

    @property
    def n_global(self) -> int:
        """Number of vertices on all ranks."""
        return int(self.starts[-1])

    def __str__(self) -> str:
        """Return one line per family, for this rank."""
        lines = [
            f"rank {self.comm.rank} of {self.comm.size}: {self.n_owned} of {self.n_global} "
            f"vertices, {self.n_local - self.n_owned} ghosts"
        ]
        lines += [
            f"  {f.name}: {len(f.ids)} entities, {int(f.owned.sum())} owned"
            for f in self.families.values()
        ]
        return "\n".join(lines)


def distribute(
    comm: MPI.Comm, families: Sequence[Family], *, n_points: int | None = None
) -> Topology:
    """Give every vertex an owner and every rank the entities that touch its vertices.

    The graph has the vertices as nodes and the edges of the partitioned entities as edges; a
    vertex weighs its share of the cost of its entities. PT-Scotch cuts it into as many parts
    as there are ranks. (Cutting the graph of cells instead would balance cells but not
    unknowns, and would leave open who owns the vertices between two parts.) All is done by
    messages between the ranks concerned, through a directory of vertices cut into blocks.
    Collective.

    Parameters
    ----------
    families
        Entities, each given on exactly one rank.
    n_points
        Number of points of the mesh: ids below it must be used by a partitioned family.

    Raises
    ------
    MeshError
        On every rank: arrays that do not fit together, no vertices at all, a point of the
        mesh that only followers use.
    """
    _validate(comm, families)
    local_ids, local = _compress([f.vertices for f in families])
    owners = _own(comm, families, local_ids, local, n_points)
    held: list[tuple[Ints, Ints]] = []
    for family, vertices in zip(families, local, strict=True):
        row, rank = _destinations(owners.of_local[vertices])
        _, (ids, given) = exchange(comm, rank, family.ids[row], family.vertices[row])
        held.append((ids, given))
    del local, local_ids
    return _localize(comm, families, held, owners)


def _validate(comm: MPI.Comm, families: Sequence[Family]) -> None:
    with together(comm):
        for f in families:
            if f.vertices.ndim != 2 or f.ids.shape != f.vertices.shape[:1]:
                raise MeshError(
                    f"family {f.name!r}: ids must have shape (k,) and vertices (k, nv); "
                    f"given {f.ids.shape} and {f.vertices.shape}"
                )
            if f.vertices.size and f.vertices.min() < 0:
                raise MeshError(f"family {f.name!r}: negative vertex id {f.vertices.min()}")
        names = [f.name for f in families]
        if len(set(names)) != len(names):
            raise MeshError(f"families must have distinct names; given {names}")
    shape = [(f.name, f.vertices.shape[1], f.weight, f.partitioned) for f in families]
    first = comm.bcast(shape)
    with together(comm):
        if shape != first:
            raise MeshError(
                f"the families differ between ranks (name, vertices, weight, partitioned): "
                f"{first} on rank 0, {shape} on rank {comm.rank}"
            )


def _compress(arrays: Sequence[Ints]) -> tuple[Ints, list[Ints32]]:
    """Sorted distinct ids of all arrays, and the arrays in terms of places among them."""
    used = [a for a in arrays if a.size]
    if not used:
        return np.empty(0, np.int64), [a.astype(np.int32) for a in arrays]
    low, high = min(int(a.min()) for a in used), max(int(a.max()) for a in used) + 1
    if high - low <= 8 * sum(a.size for a in used):  # dense: a table is faster than sorting
        mark = np.zeros(high - low, bool)
        for a in used:
            mark[a - low] = True
        ids = np.flatnonzero(mark) + low
        place = np.cumsum(mark, dtype=np.int32) - np.int32(1)
        return ids, [place[a - low] if a.size else a.astype(np.int32) for a in arrays]
    ids = np.unique(np.concatenate([np.unique(a) for a in used]))
    return ids, [np.searchsorted(ids, a).astype(np.int32) for a in arrays]


@dataclass
class _Owners:
    """Owner of every vertex, in blocks of ids, and of the vertices that this rank asked for."""

    starts: Ints
    table: Ints32
    of_local: Ints32


def _own(
    comm: MPI.Comm,
    families: Sequence[Family],
    local_ids: Ints,
    local: Sequence[Ints32],
    n_points: int | None,
) -> _Owners:
    last = int(reduced(comm, np.array([local_ids.max(initial=-1)]), MPI.MAX)[0])
    if last < 0:
        raise MeshError("nothing to distribute: the families hold no entities")
    starts = block_starts(last + 1, comm.size)
    if comm.size == 1:
        none = np.zeros(last + 1, np.int32)
        _refuse_unused(comm, families, local_ids, local, _in_graph(comm, families), n_points)
        return _Owners(starts, none, none[local_ids])
    return _cut(comm, families, local_ids, local, n_points, starts)


def _in_graph(comm: MPI.Comm, families: Sequence[Family]) -> list[bool]:
    """Families that make the graph: the partitioned ones, or all where there are none."""
    given = np.array([len(f.ids) if f.partitioned else 0 for f in families], np.int64)
    if reduced(comm, given).any():
        return [f.partitioned for f in families]
    return [True] * len(families)


def _cut(
    comm: MPI.Comm,
    families: Sequence[Family],
    local_ids: Ints,
    local: Sequence[Ints32],
    n_points: int | None,
    starts: Ints,
) -> _Owners:
    chosen = _in_graph(comm, families)
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
    asked, (ids, costs, uses) = exchange_blocks(comm, counts, local_ids, cost, used)
    ids -= base
    cost = np.bincount(ids, costs, minlength=mine)
    used_here = np.bincount(ids, uses, minlength=mine) > 0

    # Vertices of the graph are numbered without gaps; the numbers go back.
    nodes = np.zeros(comm.size + 1, np.int64)
    np.cumsum(comm.allgather(int(used_here.sum())), out=nodes[1:])
    number = np.where(used_here, np.cumsum(used_here) - 1 + nodes[comm.rank], -1)
    _, (numbers,) = exchange_blocks(comm, asked, number[ids])
    graph = adjacency(
        len(local_ids), [v for v, inside in zip(local, chosen, strict=True) if inside]
    )
    if (numbers < 0).any():
        kept = np.flatnonzero(numbers >= 0)
        graph, numbers = graph[kept][:, kept], numbers[kept]
    pointers, columns = gather_rows(comm, graph, numbers, nodes)
    del graph, numbers, number
    table = np.full(mine, -1, np.int32)
    table[used_here] = partition(comm, nodes, pointers, columns, cost[used_here])
    owners = _Owners(starts, table, lookup(comm, starts, local_ids, table))
    _follow(comm, owners, local_ids, local)
    return owners


def _follow(
    comm: MPI.Comm, owners: _Owners, local_ids: Ints, local: Sequence[Ints32]
) -> None:
    """Give the vertices outside the graph the owner of a vertex they share an entity with."""
    base = owners.starts[comm.rank]
    while True:
        vertex, rank = [np.empty(0, np.int64)], [np.empty(0, np.int32)]
        for vertices in local:
            if not vertices.size:
                continue
            known = owners.of_local[vertices] >= 0
            entity = np.flatnonzero(known.any(axis=1) & ~known.all(axis=1))
            first = vertices[entity, known[entity].argmax(axis=1)]
            row, column = np.nonzero(~known[entity])
            vertex.append(local_ids[vertices[entity[row], column]])
            rank.append(owners.of_local[first][row])
        asked, proposed = np.concatenate(vertex), np.concatenate(rank)
        to = np.searchsorted(owners.starts, asked, side="right") - 1
        _, (asked, proposed) = exchange(comm, to, asked, proposed)
        # Several neighbours: which rank wins changes with the vertex, to spread the load.
        order = np.lexsort(((proposed + asked) % comm.size, asked))[::-1]
        owners.table[asked[order] - base] = proposed[order]
        if not comm.allreduce(len(asked)):
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
    asked, (ids, uses) = exchange_blocks(comm, counts, points, used[: len(points)])
    ids -= starts[comm.rank]
    total = np.bincount(ids, uses, minlength=starts[comm.rank + 1] - starts[comm.rank])
    _, (somewhere,) = exchange_blocks(comm, asked, total[ids])
    lonely = np.flatnonzero(somewhere == 0)
    error = None
    if len(lonely):
        vertex = lonely[0]
        name = next(f.name for f, v in zip(families, local, strict=True) if (v == vertex).any())
        error = MeshError(
            f"{name!r} names point {local_ids[vertex]} of the mesh, which no element uses"
        )
    share_error(comm, error)


def _destinations(owner: Ints32) -> tuple[Ints, Ints32]:
    """Entities and ranks that shall have them, from the owners of their vertices (k, nv)."""
    ranks = np.sort(owner, axis=1)
    fresh = np.ones(ranks.shape, bool)
    fresh[:, 1:] = ranks[:, 1:] != ranks[:, :-1]
    row, column = np.nonzero(fresh)
    return row, ranks[row, column]


def _localize(
    comm: MPI.Comm,
    families: Sequence[Family],
    held: list[tuple[Ints, Ints]],
    owners: _Owners,
) -> Topology:
    """Number the vertices of this rank and sort its entities. Collective."""
    ids, entities = _compress([vertices for _, vertices in held])
    owner = lookup(comm, owners.starts, ids, owners.table)
    owned = np.flatnonzero(owner == comm.rank)
    n_owned = len(owned)

    # Owned vertices along the reverse Cuthill-McKee order of the cells' edges.
    place = np.full(len(ids), n_owned, np.int32)
    place[owned] = np.arange(n_owned, dtype=np.int32)
    chosen = _in_graph(comm, families)
    cells = [place[v] for v, inside in zip(entities, chosen, strict=True) if inside]
    order = reverse_cuthill_mckee_order(adjacency(n_owned, cells))
    del cells
    place[owned[order]] = np.arange(n_owned, dtype=np.int32)

    # Ghosts by owner, in the order that they have there.
    ghosts = np.flatnonzero(owner != comm.rank)
    ghosts = ghosts[np.argsort(owner[ghosts], kind="stable")]
    counts = np.bincount(owner[ghosts], minlength=comm.size).astype(np.int64)
    asked, (wanted,) = exchange_blocks(comm, counts, ids[ghosts])
    _, (there,) = exchange_blocks(comm, asked, place[np.searchsorted(ids, wanted)])
    by_place = np.lexsort((there, owner[ghosts]))
    ghosts, there = ghosts[by_place], there[by_place]
    place[ghosts] = np.arange(n_owned, len(ids), dtype=np.int32)
    halo = Halo.build(comm, n_owned, counts, there)

    back = np.concatenate([owned[order], ghosts])
    starts = np.zeros(comm.size + 1, np.int64)
    np.cumsum(comm.allgather(n_owned), out=starts[1:])
    numbers = np.concatenate([np.arange(n_owned), there]) + starts[owner[back]]
    out = {}
    for family, (entity_ids, _), places in zip(families, held, entities, strict=True):
        # The vertex that decides who owns an entity changes with its id, to spread the load.
        column = entity_ids % max(places.shape[1], 1)
        first = owner[np.take_along_axis(places, column[:, None], 1)[:, 0]]
        vertices = place[places]
        along = np.lexsort((entity_ids, vertices.sum(axis=1), vertices.min(axis=1, initial=2**31 - 1)))
        out[family.name] = LocalFamily(
            family.name, entity_ids[along], vertices[along], (first == comm.rank)[along]
        )
    return Topology(comm, ids[back], n_owned, owner[back], starts, numbers, out, halo)
