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
class GhostExchange:
    """Plan of the messages between owners and ghosts.

    Local rows are the owned vertices, then the ghosts grouped by owner.

    Attributes
    ----------
    comm : the ranks.
    n_owned : number of owned vertices.
    sent : rank -> local numbers of the owned vertices that it holds as ghosts, (k,) int32.
    received : rank -> local numbers of the ghosts that it owns, a slice or (k,) int32.
    """

    comm: MPI.Comm
    n_owned: int
    sent: dict[int, Ints32]
    received: dict[int, slice | Ints32]

    @classmethod
    def build(cls, comm: MPI.Comm, n_owned: int, counts: Ints, rows: Ints32) -> GhostExchange:
        """Tell the owners which of their rows this rank holds. Collective.

        Parameters
        ----------
        counts : (ranks,) number of ghosts from each owner.
        rows : (ghosts,) the owner's local numbers, grouped by owner.
        """
        queries, (wanted,) = exchange_blocks(comm, counts, rows)
        last = n_owned + np.cumsum(counts)
        received: dict[int, slice | Ints32] = {
            rank: slice(int(last[rank] - counts[rank]), int(last[rank]))
            for rank in np.flatnonzero(counts).tolist()
        }
        return cls(comm, n_owned, by_rank(queries, wanted), received)

    def extended(self, sent: dict[int, Ints32], received: dict[int, Ints32]) -> GhostExchange:
        """Return the halo with further rows, which an owner and its ghosts give in one order."""
        none = np.zeros(0, dtype=np.int32)
        out = {
            rank: np.concatenate([self.sent.get(rank, none), sent.get(rank, none)])
            for rank in sorted({*self.sent, *sent})
        }
        back = dict(self.received)
        for rank, rows in received.items():
            own_rows = back.get(rank, slice(0, 0))
            back[rank] = np.concatenate([_numbers(own_rows), rows])
        return GhostExchange(self.comm, self.n_owned, out, back)

    def restricted(self, members: Integers) -> GhostExchange:
        """Return the halo of some rows, ascending, numbered as they are in `members`.

        They are the same vertices on every rank: a ghost is a member where its owner's row is.
        """
        sent = {}
        for rank, rows in self.sent.items():
            own = _among(members, rows)
            if len(own):
                sent[rank] = own
        received: dict[int, slice | Ints32] = {}
        for rank, ghosts in self.received.items():
            if isinstance(ghosts, slice):
                low, high = np.searchsorted(members, (ghosts.start, ghosts.stop)).tolist()
                if high > low:
                    received[rank] = slice(low, high)
            elif len(own := _among(members, ghosts)):
                received[rank] = own
        owned = int(np.searchsorted(members, self.n_owned))
        return GhostExchange(self.comm, owned, sent, received)

    def spread(self, start: Integers) -> GhostExchange:
        """Return the halo of lists, one for each row: that of row r begins at start[r]."""
        sent = {rank: _listed(start, rows) for rank, rows in self.sent.items()}
        received: dict[int, slice | Ints32] = {
            rank: slice(int(start[rows.start]), int(start[rows.stop]))
            if isinstance(rows, slice)
            else _listed(start, rows)
            for rank, rows in self.received.items()
        }
        return GhostExchange(self.comm, int(start[self.n_owned]), sent, received)

    def update(self, array: Data) -> None:
        """Overwrite the ghost rows of a local array (n_local, ...) by the owners'. Collective."""
        incoming = {
            rank: np.empty((_count(rows), *array.shape[1:]), array.dtype)
            for rank, rows in self.received.items()
        }
        requests = [
            self.comm.Irecv([_bytes(data), MPI.BYTE], rank, 71) for rank, data in incoming.items()
        ]
        own = {rank: np.ascontiguousarray(array[rows]) for rank, rows in self.sent.items()}
        requests += [
            self.comm.Isend([_bytes(data), MPI.BYTE], rank, 71) for rank, data in own.items()
        ]
        MPI.Request.Waitall(requests)
        for rank, rows in self.received.items():
            array[rows] = incoming[rank]

    def updated(self, array: Rows) -> Rows:
        """Return a copy of a local array with its ghost rows brought up to date. Collective."""
        copy = array.copy(order="C")
        self.update(copy)
        return copy


def by_rank(counts: Ints, rows: Ints) -> dict[int, Ints32]:
    """Cut rows that are grouped by rank."""
    ends = np.cumsum(counts)
    return {
        rank: rows[ends[rank] - counts[rank] : ends[rank]].astype(np.int32)
        for rank in np.flatnonzero(counts).tolist()
    }


def _bytes(rows: Data) -> NDArray[np.uint8]:
    return rows.reshape(-1).view(np.uint8)


def _count(rows: slice | Ints32) -> int:
    return rows.stop - rows.start if isinstance(rows, slice) else len(rows)


def _numbers(rows: slice | Ints32) -> Ints32:
    return np.arange(rows.start, rows.stop, dtype=np.int32) if isinstance(rows, slice) else rows


def _among(members: Integers, rows: Ints32) -> Ints32:
    """Return the numbers among ascending `members` of those rows that are some."""
    return np.asarray(np.searchsorted(members, rows[np.isin(rows, members)]), dtype=np.int32)


def _listed(start: Integers, rows: Ints32) -> Ints32:
    """Return the items of the lists of some rows, one list after the other."""
    count = start[rows + 1] - start[rows]
    end = np.cumsum(count)
    within = np.arange(count.sum()) - np.repeat(end - count, count)
    return np.asarray(np.repeat(start[rows], count) + within, dtype=np.int32)
