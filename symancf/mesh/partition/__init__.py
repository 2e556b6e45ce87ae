# SPDX-License-Identifier: BSD-3-Clause
"""Distribution of vertices and entities: every rank gets all entities that touch its vertices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array, Ints, Ints32
from ...errors import MeshError
from ...runtime.collective import exchange, exchange_blocks, lookup, shares, together
from ...runtime.log import EVENTS, logged
from ...runtime.petsc import keep
from ..edges import adjacency, compress, reverse_cuthill_mckee_order
from .ghosts import GhostExchange
from .ownership import Owners, find_owners, in_graph
from .topology import Family, LocalFamily, Topology

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mpi4py import MPI


@logged(EVENTS, "partition")
def distribute(
    comm: MPI.Comm,
    families: Sequence[Family],
    *,
    n_points: int | None = None,
    points: Callable[[Ints], Array] | None = None,
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
    families : Entities, each given on exactly one rank.
    n_points : number of points of the mesh: ids below it must be used by a partitioned family.
    points : gives the places (n, 3) of such points (collective): with more than a million vertices
        on a rank they are cut along Morton's curve instead of by PT-Scotch.

    Raises
    ------
    MeshError : on every rank: arrays that do not fit together, no vertices at all, a point of the
        mesh that only followers use.
    """
    keep(comm)
    _validate(comm, families)
    local_ids, local = compress([f.vertices for f in families])
    owners = find_owners(comm, families, local_ids, local, n_points, points)
    entities: list[tuple[Ints, Ints]] = []
    for family, vertices in zip(families, local, strict=True):
        row, rank = _destinations(owners.of_local[vertices])
        _, (ids, of_entities) = exchange(comm, rank, family.ids[row], family.vertices[row])
        entities.append((ids, of_entities))
    del local, local_ids
    return _localize(comm, families, entities, owners)


def _validate(comm: MPI.Comm, families: Sequence[Family]) -> None:
    with together(comm):
        for f in families:
            if f.vertices.ndim != 2 or f.ids.shape != f.vertices.shape[:1]:
                raise MeshError(
                    f"family {f.name!r}: ids must have shape (k,) and vertices (k, nv); "
                    f"given {f.ids.shape} and {f.vertices.shape}",
                    asked="shape",
                    given=(f.ids.shape, f.vertices.shape),
                )
            if f.vertices.size and f.vertices.min() < 0:
                raise MeshError(
                    f"family {f.name!r}: negative vertex id {f.vertices.min()}",
                    asked="vertices",
                    given=f.vertices.min(),
                )
        names = [f.name for f in families]
        if len(set(names)) != len(names):
            raise MeshError(
                f"families must have distinct names; given {names}", asked="name", given=names
            )
    shape = [(f.name, f.vertices.shape[1], f.weight, f.partitioned) for f in families]
    first = comm.bcast(shape)
    with together(comm):
        if shape != first:
            raise MeshError(
                f"the families differ between ranks (name, vertices, weight, partitioned): "
                f"{first} on rank 0, {shape} on rank {comm.rank}",
                asked="families",
                given=shape,
                possible=(first,),
            )


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
    families_here: list[tuple[Ints, Ints]],
    owners: Owners,
) -> Topology:
    """Number the vertices of this rank and sort its entities. Collective."""
    ids, entities = compress([vertices for _, vertices in families_here])
    owner = lookup(comm, owners.starts, ids, owners.table)
    owned = np.flatnonzero(owner == comm.rank)
    n_owned = len(owned)

    # Owned vertices along the reverse Cuthill-McKee order of the cells' edges.
    place = np.full(len(ids), n_owned, np.int32)
    place[owned] = np.arange(n_owned, dtype=np.int32)
    chosen = in_graph(comm, families)
    rows = zip(families, entities, chosen, strict=True)
    cells = [(place[v], family.links) for family, v, inside in rows if inside]
    order = reverse_cuthill_mckee_order(comm, adjacency(comm, n_owned, cells))
    del cells
    place[owned[order]] = np.arange(n_owned, dtype=np.int32)

    # Ghosts by owner, in the order that they have there.
    ghosts = np.flatnonzero(owner != comm.rank)
    ghosts = ghosts[np.argsort(owner[ghosts], kind="stable")]
    counts = np.bincount(owner[ghosts], minlength=comm.size).astype(np.int64)
    queries, (wanted,) = exchange_blocks(comm, counts, ids[ghosts])
    _, (there,) = exchange_blocks(comm, queries, place[np.searchsorted(ids, wanted)])
    by_place = np.lexsort((there, owner[ghosts]))
    ghosts, there = ghosts[by_place], there[by_place]
    place[ghosts] = np.arange(n_owned, len(ids), dtype=np.int32)
    halo = GhostExchange.build(comm, n_owned, counts, there)

    back = np.concatenate([owned[order], ghosts])
    starts = shares(comm, n_owned)
    numbers = np.concatenate([np.arange(n_owned), there]) + starts[owner[back]]
    out = {}
    for family, (entity_ids, _), places in zip(families, families_here, entities, strict=True):
        # The vertex that decides who owns an entity changes with its id, to spread the load.
        column = entity_ids % max(places.shape[1], 1)
        first = owner[np.take_along_axis(places, column[:, None], 1)[:, 0]]
        vertices = place[places]
        along = np.lexsort(
            (entity_ids, vertices.sum(axis=1), vertices.min(axis=1, initial=2**31 - 1))
        )
        out[family.name] = LocalFamily(
            family.name, entity_ids[along], vertices[along], (first == comm.rank)[along]
        )
    return Topology(comm, ids[back], n_owned, owner[back], starts, numbers, out, halo)


__all__ = ["Family", "GhostExchange", "LocalFamily", "Topology", "distribute"]
