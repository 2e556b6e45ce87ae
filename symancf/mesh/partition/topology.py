# SPDX-License-Identifier: BSD-3-Clause
"""Entities before distribution, and what a rank holds after it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Ints, Ints32, Mask

if TYPE_CHECKING:
    from mpi4py import MPI

    from .halo import Halo


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
    name : as given.
    ids : (k,) numbers as given.
    vertices : (k, nv) local vertex numbers.
    owned : (k,) True on exactly one of the ranks that hold the entity.
    """

    name: str
    ids: Ints
    vertices: Ints32
    owned: Mask


@dataclass(frozen=True)
class Topology:
    """Vertices and entities of this rank after distribution.

    Attributes
    ----------
    comm : the ranks.
    vertex_ids : (n,) ids as given in the families: owned vertices first, ordered for locality, then
        ghosts by owner.
    n_owned : number of owned vertices.
    owners : (n,) rank that owns each local vertex.
    starts : (ranks + 1,) first new global number of each rank: the ownership ranges.
    numbers : (n,) new global number of each local vertex, contiguous within each rank.
    families : name -> `LocalFamily`.
    halo : messages between owners and ghosts.
    """

    comm: MPI.Comm
    vertex_ids: Ints
    n_owned: int
    owners: Ints32
    starts: Ints
    numbers: Ints
    families: dict[str, LocalFamily]
    halo: Halo

    @cached_property
    def _order(self) -> Ints:
        return np.argsort(self.vertex_ids, kind="stable")

    def find(self, ids: Ints | int) -> Ints32:
        """Return the local numbers of those of some ids that are on this rank, in their order."""
        wanted, order = np.atleast_1d(np.asarray(ids, dtype=np.int64)), self._order
        if not len(order):
            return np.zeros(0, np.int32)
        near = np.searchsorted(self.vertex_ids, wanted, sorter=order)
        local = order[np.minimum(near, len(order) - 1)]
        found: Ints32 = local[self.vertex_ids[local] == wanted].astype(np.int32)
        return found

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
