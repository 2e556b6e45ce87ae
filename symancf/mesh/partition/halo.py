# SPDX-License-Identifier: BSD-3-Clause
"""Copies of other ranks' vertices: which rows to send where, for any data kept per vertex."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from ...arrays import Data, Integers, Ints, Ints32
from ...runtime.collective import exchange_blocks

Rows = TypeVar("Rows", bound=Data)


@dataclass(frozen=True)
class Halo:
    """Plan of the messages between owners and ghosts.

    Local rows are the owned vertices, then the ghosts grouped by owner.

    Attributes
    ----------
    comm : the ranks.
    n_owned : number of owned vertices.
    sent : rank -> local numbers of the owned vertices that it holds as ghosts, (k,) int32.
    received : rank -> first and last + 1 local number of the ghosts that it owns.
    """

    comm: MPI.Comm
    n_owned: int
    sent: dict[int, Ints32]
    received: dict[int, tuple[int, int]]

    @classmethod
    def build(cls, comm: MPI.Comm, n_owned: int, counts: Ints, rows: Ints32) -> Halo:
        """Tell the owners which of their rows this rank holds. Collective.

        Parameters
        ----------
        counts : (ranks,) number of ghosts from each owner.
        rows : (ghosts,) the owner's local numbers, grouped by owner.
        """
        asked, (wanted,) = exchange_blocks(comm, counts, rows)
        ends = np.cumsum(asked)
        sent = {
            rank: wanted[ends[rank] - asked[rank] : ends[rank]]
            for rank in np.flatnonzero(asked).tolist()
        }
        last = n_owned + np.cumsum(counts)
        received = {
            rank: (int(last[rank] - counts[rank]), int(last[rank]))
            for rank in np.flatnonzero(counts).tolist()
        }
        return cls(comm, n_owned, sent, received)

    def restricted(self, members: Integers) -> Halo:
        """Return the halo of some rows, ascending, numbered as they are in `members`.

        They are the same vertices on every rank: a ghost is a member where its owner's row is.
        """
        sent = {}
        for rank, rows in self.sent.items():
            kept = rows[np.isin(rows, members)]
            if len(kept):
                sent[rank] = np.searchsorted(members, kept).astype(np.int32)
        received = {}
        for rank, ends in self.received.items():
            low, high = np.searchsorted(members, ends).tolist()
            if high > low:
                received[rank] = (low, high)
        owned = int(np.searchsorted(members, self.n_owned))
        return Halo(self.comm, owned, sent, received)

    def spread(self, start: Integers) -> Halo:
        """Return the halo of lists, one for each row: that of row r begins at start[r]."""
        size = np.diff(start)
        sent = {}
        for rank, rows in self.sent.items():
            count, end = size[rows], np.cumsum(size[rows])
            within = np.arange(count.sum()) - np.repeat(end - count, count)
            sent[rank] = (np.repeat(start[rows], count) + within).astype(np.int32)
        ends = {rank: (int(start[a]), int(start[b])) for rank, (a, b) in self.received.items()}
        return Halo(self.comm, int(start[self.n_owned]), sent, ends)

    def update(self, array: Data) -> None:
        """Overwrite the ghost rows of a local array (n_local, ...) by the owners'. Collective."""
        incoming = {
            rank: np.empty((high - low, *array.shape[1:]), array.dtype)
            for rank, (low, high) in self.received.items()
        }
        requests = [
            self.comm.Irecv([_bytes(rows), MPI.BYTE], rank, 71) for rank, rows in incoming.items()
        ]
        kept = {rank: np.ascontiguousarray(array[rows]) for rank, rows in self.sent.items()}
        requests += [
            self.comm.Isend([_bytes(rows), MPI.BYTE], rank, 71) for rank, rows in kept.items()
        ]
        MPI.Request.Waitall(requests)
        for rank, (low, high) in self.received.items():
            array[low:high] = incoming[rank]

    def updated(self, array: Rows) -> Rows:
        """Return a copy of a local array with its ghost rows brought up to date. Collective."""
        copy = array.copy(order="C")
        self.update(copy)
        return copy


def _bytes(rows: Data) -> NDArray[np.uint8]:
    return rows.reshape(-1).view(np.uint8)
