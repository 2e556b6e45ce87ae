# SPDX-License-Identifier: BSD-3-Clause
"""Messages of multigrid's levels, which C starts: no Python within a cycle."""

from __future__ import annotations

import ctypes
import weakref
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from ...arrays import pointer
from ...runtime.collective import exchange_blocks
from ...runtime.petsc import functions
from . import structures

if TYPE_CHECKING:
    from ...arrays import Data, Ints, Ints32

_TAG = 73

Singles = npt.NDArray[np.float32]


def handles(comm: MPI.Comm) -> structures.Messages:
    """Return the functions of MPI that a cycle calls, and what they are called with."""

    def handle(thing: object) -> int:
        kind = ctypes.c_int if MPI._sizeof(thing) == 4 else ctypes.c_void_p
        return int(kind.from_address(MPI._addressof(thing)).value or 0)

    calls = (functions.MPI_Startall, functions.MPI_Waitall, functions.MPI_Allreduce)
    with_ = (MPI.DOUBLE, MPI.FLOAT, MPI.SUM, MPI.MAX, comm)
    return structures.Messages(
        *(ctypes.cast(call, ctypes.c_void_p) for call in calls),
        *map(handle, with_),
        ctypes.pointer(structures.Counts()),
    )


def _requests(requests: list[MPI.Prequest]) -> Data:
    """Return the handles of requests as an array of them."""
    size = MPI._sizeof(MPI.Prequest)
    raw = [ctypes.string_at(MPI._addressof(r), size) for r in requests]
    return np.frombuffer(b"".join(raw) or bytes(size), dtype=np.uint8).copy()


def _release(requests: list[MPI.Prequest]) -> None:
    if not MPI.Is_finalized():
        for request in requests:
            request.Free()


class Ghosts:
    """Messages that bring the owners' values to ghosts, and sums of ghosts back.

    Parameters
    ----------
    counts : (ranks,) ghosts of each owner; they follow the own nodes, by owner.
    rows : (ghosts,) the owners' numbers of them.
    """

    def __init__(self, comm: MPI.Comm, counts: Ints, rows: Ints32) -> None:
        self.sent, (self.list,) = exchange_blocks(comm, counts, rows)
        self.comm, self.counts = comm, counts
        self.list = np.ascontiguousarray(self.list, dtype=np.int32)
        self.buffer = np.zeros((max(1, len(self.list)), 3), dtype=np.float32)

    def connect(self, x: Singles, b: Singles, nodes: int) -> structures.Exchange:
        """Prepare messages that write to ghosts in x and read those in b."""
        ways: list[list[MPI.Prequest]] = [[], []]
        leaving = self._blocks(self.sent), self._blocks(self.counts)
        for there, begin, count in leaving[1]:
            span = slice(3 * (nodes + begin), 3 * (nodes + begin + count))
            ways[0].append(self.comm.Recv_init([x[span], MPI.FLOAT], there, _TAG))
            ways[1].append(self.comm.Send_init([b[span], MPI.FLOAT], there, _TAG))
        for there, begin, count in leaving[0]:
            packed = self.buffer[begin : begin + count]
            ways[0].append(self.comm.Send_init([packed, MPI.FLOAT], there, _TAG))
            ways[1].append(self.comm.Recv_init([packed, MPI.FLOAT], there, _TAG))
        weakref.finalize(self, _release, ways[0] + ways[1])
        status = np.zeros(64 * max(1, len(ways[0])), dtype=np.uint8)
        self._requests = (*map(_requests, ways), status)
        arrays = (*self._requests, self.list, self.buffer)
        counts = (len(ways[0]), len(ways[1]), len(self.list))
        sizes = [[len(blocks) for blocks in leaving]]
        sizes.append([12 * sum(count for *_, count in blocks) for blocks in leaving])
        pairs = ((2 * ctypes.c_int32)(*pair) for pair in sizes)
        return structures.Exchange(*counts, *pairs, *map(pointer, arrays))

    @staticmethod
    def _blocks(counts: Ints) -> list[tuple[int, int, int]]:
        begin = np.cumsum(counts) - counts
        return [(int(r), int(begin[r]), int(counts[r])) for r in np.flatnonzero(counts)]
