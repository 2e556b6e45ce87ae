# SPDX-License-Identifier: BSD-3-Clause
"""Messages between ranks: rows sent to their ranks, errors shared by all ranks."""

from __future__ import annotations

import pickle
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from ..arrays import Integers, Ints, Ints32
from ..errors import SymancfError
from . import launch  # noqa: F401 - an error on one rank ends all from now on

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

AnyArray = NDArray[Any]


def together(comm: MPI.Comm) -> AbstractContextManager[None]:
    """Run a block without messages on every rank; if it fails on one rank, all ranks raise.

    The error of the lowest failing rank is raised on every rank, so that no rank waits in a
    collective call that another rank never reaches: also ``SystemExit``, after which all ranks
    end with the same status, and ``KeyboardInterrupt``. The block itself must not communicate
    within `comm`.
    """
    return _ALONE if comm.size == 1 else _Together(comm)


_ALONE = nullcontext()  # one rank has nobody to tell


class _Together:
    def __init__(self, comm: MPI.Comm) -> None:
        self.comm = comm

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        share_error(self.comm, error)


def share_error(comm: MPI.Comm, error: BaseException | None) -> None:
    """Raise on every rank the error of the lowest rank that has one (collective).

    The class is the same on every rank, so that a program which catches it does so everywhere:
    were ``SystemExit`` of one rank something else on the others, they might catch that, go on and
    wait for the rank that has left. A note says where it arose.

    An error that cannot travel between processes becomes a `SymancfError` with its class and
    text, on every rank.
    """
    if comm.size == 1:
        if error is not None:
            raise error
        return
    first = comm.allreduce(comm.size if error is None else comm.rank, MPI.MIN)
    if first == comm.size:
        return
    portable, text = comm.bcast(_portable(error) if comm.rank == first else None, first)
    if comm.rank == first and error is not None and portable:
        raise error
    shared: BaseException = pickle.loads(text)
    if comm.rank != first:
        shared.add_note(f"(raised on rank {first} of {comm.size})")
    raise shared from error


def _portable(error: BaseException | None) -> tuple[bool, bytes]:
    """Pickle an error, or one that says the same if it does not survive that."""
    try:
        text = pickle.dumps(error)
        again = pickle.loads(text)
        if type(again) is type(error) and str(again) == str(error):
            return True, text
    except Exception:
        pass
    return False, pickle.dumps(SymancfError(f"{type(error).__name__}: {error}"))


def block_starts(size: int, ranks: int) -> Ints:
    """First item of every rank's block when `size` items are cut evenly, (ranks + 1,)."""
    return np.arange(ranks + 1, dtype=np.int64) * size // ranks


def owners_of(starts: Ints, items: Ints) -> Ints32:
    """Rank whose block `[starts[r], starts[r+1])` holds each item."""
    return (np.searchsorted(starts, items, side="right") - 1).astype(np.int32)


def exchange(
    comm: MPI.Comm, destinations: AnyArray, *arrays: AnyArray
) -> tuple[Ints, list[AnyArray]]:
    """Send row i of every array to rank `destinations[i]` (collective).

    Parameters
    ----------
    destinations : (n,) ranks.
    arrays : each (n, ...): equal dtype and trailing shape on all ranks, also where n = 0.

    Returns
    -------
    counts, received : (ranks,) rows that came from each rank, and the arrays with the rows
        received: by source rank, within one source in the order in which they were given there.
    """
    destinations = np.asarray(destinations)
    if comm.size == 1:
        return np.array([len(destinations)], np.int64), [np.asarray(a) for a in arrays]
    sent = np.bincount(destinations, minlength=comm.size).astype(np.int64)
    order: AnyArray | None = None
    if len(destinations) > 1 and np.any(destinations[1:] < destinations[:-1]):
        order = np.argsort(destinations, kind="stable")
    return exchange_blocks(comm, sent, *(a if order is None else a[order] for a in arrays))


def sorted_blocks(
    comm: MPI.Comm, starts: Ints, ids: Ints, *arrays: AnyArray
) -> tuple[Ints, list[AnyArray]]:
    """Send rows to the ranks whose blocks `[starts[r], starts[r+1])` have their ids (collective).

    Returns the ids that came here, ascending, and the rows of each array in their order.
    """
    came, sort = block_sorter(comm, starts, ids)
    return came, [sort(rows) for rows in arrays]


def block_sorter(
    comm: MPI.Comm, starts: Ints, ids: Ints
) -> tuple[Ints, Callable[[AnyArray], AnyArray]]:
    """Return the ids that `sorted_blocks` does, and what sorts rows like them (collective).

    It is for many arrays one after the other: each takes as much memory as it has rows.
    """
    owner = owners_of(starts, ids)
    sent = np.bincount(owner, minlength=comm.size).astype(np.int64)
    order: Ints32 | slice = slice(None)
    if (owner[1:] < owner[:-1]).any():
        order = np.argsort(owner, kind="stable").astype(np.int32)
    del owner
    _, (came,) = exchange_blocks(comm, sent, ids[order])
    ascending = np.argsort(came, kind="stable").astype(np.int32)

    def sort(rows: AnyArray) -> AnyArray:
        _, (received,) = exchange_blocks(comm, sent, rows[order])
        return received[ascending]

    return came[ascending], sort


def exchange_blocks(comm: MPI.Comm, sent: Ints, *arrays: AnyArray) -> tuple[Ints, list[AnyArray]]:
    """`exchange` for rows already grouped by destination: `sent[r]` rows go to rank r."""
    if comm.size == 1:
        return np.asarray(sent, np.int64), [np.asarray(a) for a in arrays]
    sent = np.ascontiguousarray(sent, np.int64)
    counts = np.empty(comm.size, np.int64)
    comm.Alltoall(sent, counts)
    received = []
    for array in arrays:
        rows = np.ascontiguousarray(array)
        out = np.empty((int(counts.sum()), *rows.shape[1:]), rows.dtype)
        width = rows.dtype.itemsize * int(np.prod(rows.shape[1:], dtype=np.int64))
        row = MPI.BYTE.Create_contiguous(width).Commit()
        comm.Alltoallv([rows, (sent, _offsets(sent)), row], [out, (counts, _offsets(counts)), row])
        row.Free()
        received.append(out)
    return counts, received


def _offsets(counts: Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)


def reduced(comm: MPI.Comm, array: AnyArray, op: MPI.Op = MPI.SUM) -> AnyArray:
    """Reduce an array over all ranks, entry by entry (collective)."""
    out = np.empty_like(array)
    comm.Allreduce(np.ascontiguousarray(array), out, op)
    return out


def scatter_blocks(
    comm: MPI.Comm, array: AnyArray | None, cuts: AnyArray | None, root: int = 0
) -> AnyArray:
    """Rows `cuts[r]:cuts[r+1]` of the root's array, given to rank r (collective)."""
    if comm.size == 1:
        assert array is not None
        assert cuts is not None
        return array[cuts[0] : cuts[1]]
    head = None
    if comm.rank == root:
        assert array is not None
        assert cuts is not None
        array = np.ascontiguousarray(array)
        head = (array.dtype.str, array.shape[1:], np.asarray(cuts, np.int64))
    kind, shape, cuts = comm.bcast(head, root)
    assert cuts is not None
    counts = np.diff(cuts)
    out = np.empty((int(counts[comm.rank]), *shape), np.dtype(kind))
    row = MPI.BYTE.Create_contiguous(
        out.dtype.itemsize * int(np.prod(shape, dtype=np.int64))
    ).Commit()
    send = [array, (counts, np.asarray(cuts[:-1])), row] if comm.rank == root else None
    comm.Scatterv(send, [out, len(out), row], root)
    row.Free()
    return out


def lookup(comm: MPI.Comm, starts: Ints, items: Integers, table: AnyArray) -> AnyArray:
    """Rows of a block-distributed table for any items (collective).

    Rank r holds the rows `starts[r]:starts[r+1]` in `table`. Each distinct item is asked for
    once.

    Returns
    -------
    (*items.shape, *table.shape[1:])
    """
    items = np.asarray(items, np.int64)
    if comm.size == 1:
        return np.asarray(table[items - starts[0]])
    wanted, back = np.unique(items, return_inverse=True)
    counts = np.diff(np.searchsorted(wanted, starts))
    queries, (questions,) = exchange_blocks(comm, counts, wanted)
    _, (answers,) = exchange_blocks(comm, queries, table[questions - starts[comm.rank]])
    return np.asarray(answers[back.reshape(items.shape)])


def combine(
    comm: MPI.Comm, starts: Ints, items: Ints, rows: AnyArray, by: np.ufunc = np.add
) -> AnyArray:
    """Rows of any rank at items, summed: this rank's block of the table (collective).

    The reverse of `lookup`: rank r gets the rows `starts[r]:starts[r+1]`, zero where none is given.
    """
    _, (at, received) = exchange(comm, owners_of(starts, items), items, rows)
    mine = int(starts[comm.rank])
    table = np.zeros((int(starts[comm.rank + 1]) - mine, *rows.shape[1:]), rows.dtype)
    by.at(table, at - mine, received)
    return table


def shares(comm: MPI.Comm, count: int) -> Ints:
    """First item of every rank's share where each has `count` of its own, (ranks + 1,)."""
    return np.append(0, np.cumsum(comm.allgather(count))).astype(np.int64)
