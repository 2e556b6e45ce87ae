# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of edges by the points at their ends, in a mesh whose points are in slices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..cells import CELLS
from ..runtime.collective import exchange, exchange_blocks, owners_of, shares

if TYPE_CHECKING:
    from mpi4py import MPI

    from ..arrays import Ints
    from . import Mesh


class NumberedEdges:
    """The edges of all ranks, each once, in the order of their ends (collective).

    Parameters
    ----------
    starts : (ranks + 1,) where the points of each rank begin.
    pairs : (k, 2) ends of edges on this rank, in any order and number.

    Attributes
    ----------
    edges : (m, 2) ends of those whose lower end is in this rank's slice.
    first : (ranks + 1,) where the numbers of each rank begin.
    """

    def __init__(self, comm: MPI.Comm, starts: Ints, pairs: Ints) -> None:
        self.comm, self.starts = comm, starts
        pairs = np.sort(pairs, axis=1)
        _, (received,) = exchange(comm, owners_of(starts, pairs[:, 0]), pairs)
        self.edges: Ints = np.unique(received, axis=0)
        self.first = shares(comm, len(self.edges))

    @classmethod
    def of_surfaces(cls, mesh: Mesh) -> NumberedEdges:
        """Return the edges of a mesh's triangles and quadrangles (collective)."""
        pairs = [np.zeros((0, 2), dtype=np.int64)]
        for kind in ("triangle", "quad"):
            if kind in mesh.cells:
                ends = np.array(CELLS[kind].edges)
                pairs.append(mesh.cells[kind].connectivity[:, ends].reshape(-1, 2))
        return cls(mesh.comm, mesh.point_starts, np.concatenate(pairs))

    def __len__(self) -> int:
        return int(self.first[-1])

    def number(self, pairs: Ints) -> Ints:
        """Return the numbers (k,) of edges by their ends (k, 2), -1 of others (collective)."""
        pairs = np.sort(pairs, axis=1)
        to = owners_of(self.starts, pairs[:, 0])
        counts, (queries,) = exchange(self.comm, to, pairs)
        every, place = np.unique(np.concatenate([self.edges, queries]), axis=0, return_inverse=True)
        table = np.full(len(every), -1, dtype=np.int64)
        place = place.ravel()
        table[place[: len(self.edges)]] = self.first[self.comm.rank] + np.arange(len(self.edges))
        _, (numbers,) = exchange_blocks(self.comm, counts, table[place[len(self.edges) :]])
        result = np.empty(len(pairs), np.int64)
        result[np.argsort(to, kind="stable")] = numbers
        return result
