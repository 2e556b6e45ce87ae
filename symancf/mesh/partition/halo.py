# SPDX-License-Identifier: BSD-3-Clause
"""Copies of other ranks' vertices: which rows to send where, for any data kept per vertex."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from ...runtime.collective import exchange_blocks
from ...values.arrays import Ints, Ints32

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Halo:
    """Plan of the messages between owners and ghosts.

    Local rows are the owned vertices, then the ghosts grouped by owner.

    Attributes
    ----------
    comm
        The ranks.
    n_owned
        Number of owned vertices.
    sent
        Rank -> local numbers of the owned vertices that it holds as ghosts, (k,) int32.
    received
        Rank -> first and last + 1 local number of the ghosts that it owns.
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
        counts
            (ranks,) number of ghosts from each owner.
        rows
            (ghosts,) the owner's local numbers, grouped by owner.
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

    def restricted(self, members: NDArray[Any]) -> Halo:
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

    def update(self, array: NDArray[Any]) -> None:
        """Overwrite the ghost rows of a local array (n_local, ...) by the owners'. Collective."""
        buffers = {rank: array[rows] for rank, rows in self.sent.items()}
        for (low, high), rows in self._messages(array, buffers, self.received):
            array[low:high] = rows

    def updated(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return a copy of a local array with its ghost rows brought up to date. Collective."""
        copy = np.array(array, order="C")
        self.update(copy)
        return copy

    def accumulate(self, array: NDArray[Any]) -> None:
        """Add the ghost rows of a local array to the owners' rows. Collective.

        The ghost rows themselves are left as they are. The sum is made in the order of ranks,
        so it does not depend on which message comes first.
        """
        buffers = {rank: array[low:high] for rank, (low, high) in self.received.items()}
        for to, rows in self._messages(array, buffers, self.sent):
            array[to] += rows

    def _messages(
        self, array: NDArray[Any], out: dict[int, NDArray[Any]], targets: dict[int, Any]
    ) -> Iterator[tuple[Any, NDArray[Any]]]:
        """Send `out`; give each target with the rows that came for it, by rank."""
        incoming = {}
        for rank, target in targets.items():
            n = target[1] - target[0] if isinstance(target, tuple) else len(target)
            incoming[rank] = np.empty((n, *array.shape[1:]), array.dtype)
        requests = [
            self.comm.Irecv([_bytes(rows), MPI.BYTE], rank, 71) for rank, rows in incoming.items()
        ]
        kept = {rank: np.ascontiguousarray(rows) for rank, rows in out.items()}
        requests += [
            self.comm.Isend([_bytes(rows), MPI.BYTE], rank, 71) for rank, rows in kept.items()
        ]
        MPI.Request.Waitall(requests)
        for rank in sorted(incoming):
            yield targets[rank], incoming[rank]


def _bytes(rows: NDArray[Any]) -> NDArray[np.uint8]:
    return rows.reshape(-1).view(np.uint8)
