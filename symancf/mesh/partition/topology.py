# SPDX-License-Identifier: BSD-3-Clause
"""Entities before distribution, and what a rank holds after it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Ints, Ints32, Mask
from ...errors import SymancfError
from ...runtime.collective import exchange_blocks, owners_of, together
from .ghosts import GhostExchange, by_rank

if TYPE_CHECKING:
    from mpi4py import MPI

    from ...cells.table import Links


@dataclass(frozen=True)
class Family:
    """Entities of one kind on this rank before distribution: any slice, no entity twice.

    Attributes
    ----------
    name : unique among the families; the same families in the same order on every rank.
    ids : (k,) numbers by which the entities are known.
    vertices : (k, nv) global vertex ids: points of the mesh, or beyond them virtual vertices
        (multipliers, rigid bodies, controller states). nv is the same on every rank.
    weight : cost of one entity, in any unit common to the families.
    partitioned : whether the entities take part in the graph (cells). Others (joints, loads,
        boundary facets) follow: vertices that only they touch join the rank of a neighbour.
    links : pairs of vertices of an entity that are neighbours in the graph, `Cell.graph`. None:
        two, four and eight vertices are lines, quadrilaterals and hexahedra, others a star.
    """

    name: str
    ids: Ints
    vertices: Ints
    weight: float = 1.0
    partitioned: bool = True
    links: Links | None = None


@dataclass(frozen=True)
class LocalFamily:
    """Entities of one kind that touch an owned vertex of this rank, sorted for locality.

    Attributes
    ----------
    name : as given.
    ids : (k,) numbers as given.
    vertices : (k, nv) local vertex numbers.
    owned : (k,) True on exactly one of the ranks that hold the entity.
    """

    name: str
    ids: Ints
    vertices: Ints32
    owned: Mask


@dataclass
class Topology:
    """Vertices and entities of this rank after distribution.

    Lists of entities that change need vertices of ranks that shared none before: behind the ghosts
    there may be room for some, see `hold`. Local numbers never change.

    Attributes
    ----------
    comm : the ranks.
    vertex_ids : (n,) ids as given in the families: owned vertices first, ordered for locality, then
        ghosts by owner, then the room, -1 where that is empty.
    n_owned : number of owned vertices.
    owners : (n,) rank that owns each local vertex.
    starts : (ranks + 1,) first new global number of each rank: the ownership ranges.
    numbers : (n,) new global number of each local vertex, contiguous within each rank; -1: none.
    families : name -> `LocalFamily`.
    halo : messages between owners and ghosts; `lasting`: without those of the room.
    room : number of vertices at the end that are ghosts in turn.
    lent, borrowed : rank -> vertices (k,) that it has in its room, and those of it in this one.
    """

    comm: MPI.Comm
    vertex_ids: Ints
    n_owned: int
    owners: Ints32
    starts: Ints
    numbers: Ints
    families: dict[str, LocalFamily]
    halo: GhostExchange
    room: int = 0
    lent: dict[int, Ints32] = field(default_factory=dict)
    borrowed: dict[int, Ints32] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.lasting = self.halo

    # ---- ghosts that change ---------------------------------------------------------------------
    def make_room(self, count: int) -> None:
        """Add an empty room behind the ghosts, once."""
        self.room = count
        none = np.full(count, -1, dtype=np.int64)
        self.vertex_ids = np.concatenate([self.vertex_ids, none])
        self.numbers = np.concatenate([self.numbers, none])
        rank = np.full(count, self.comm.rank, dtype=self.owners.dtype)
        self.owners = np.concatenate([self.owners, rank])

    def hold(self, numbers: Ints) -> bool:
        """Let the room hold those of some vertices (global numbers) that are not here (collective).

        What it holds beside stays while there is place. Returns whether any rank's has changed.

        Raises
        ------
        SymancfError : there are more than it has places for, on every rank.
        """
        first = self.n_local - self.room
        present = self.numbers[first:]
        own = (numbers >= self.starts[self.comm.rank]) & (numbers < self.starts[self.comm.rank + 1])
        wanted = np.setdiff1d(numbers[~own], self.numbers[self.n_owned : first])
        new = np.setdiff1d(wanted, present)
        if not self.comm.allreduce(len(new)):
            return False
        with together(self.comm):
            if len(wanted) > self.room:
                raise SymancfError(
                    f"lists of entities need {len(wanted)} vertices of other ranks at once; there "
                    f"is room for {self.room}"
                )
        spare = np.flatnonzero(~np.isin(present, wanted))
        # the empty ones first
        at = spare[np.argsort(present[spare] >= 0, kind="stable")][: len(new)]
        present[at] = new
        self.owners[first + at] = owners_of(self.starts, new)
        there = np.flatnonzero(present >= 0)
        there = there[np.argsort(present[there])]  # ascending, hence by owner
        rank = owners_of(self.starts, present[there])
        counts = np.bincount(rank, minlength=self.comm.size).astype(np.int64)
        queries, (rows,) = exchange_blocks(self.comm, counts, present[there] - self.starts[rank])
        self.lent = by_rank(queries, rows)
        self.borrowed = by_rank(counts, first + there)
        self.halo = self.lasting.extended(self.lent, self.borrowed)
        self.halo.update(self.vertex_ids)
        self.__dict__.pop("order", None)
        return True

    def local(self, numbers: Ints) -> Ints32:
        """Return the local numbers of vertices of this rank by their global numbers."""
        own = numbers - self.starts[self.comm.rank]
        others = self.numbers[self.n_owned :]
        order = np.argsort(others)
        at = np.minimum(np.searchsorted(others, numbers, sorter=order), max(0, len(order) - 1))
        ghosts = self.n_owned + order[at] if len(order) else np.zeros_like(numbers)
        return np.where((own >= 0) & (own < self.n_owned), own, ghosts).astype(np.int32)

    @cached_property
    def order(self) -> Ints:
        """The local vertices in the order of their ids."""
        return np.argsort(self.vertex_ids, kind="stable")

    def find(self, ids: Ints | int) -> Ints32:
        """Return the local numbers of those of some ids that are on this rank, in their order."""
        wanted, order = np.atleast_1d(np.asarray(ids, dtype=np.int64)), self.order
        if not len(order):
            return np.zeros(0, np.int32)
        near = np.searchsorted(self.vertex_ids, wanted, sorter=order)
        local = order[np.minimum(near, len(order) - 1)]
        numbers: Ints32 = local[self.vertex_ids[local] == wanted].astype(np.int32)
        return numbers

    @property
    def n_local(self) -> int:
        """Number of owned and ghost vertices, and of the places of the room."""
        return len(self.vertex_ids)

    @property
    def n_global(self) -> int:
        """Number of vertices on all ranks."""
        return int(self.starts[-1])

    @property
    def on_one_rank(self) -> bool:
        """Whether rank 0 has all of them."""
        return bool(self.starts[1] == self.starts[-1])

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
