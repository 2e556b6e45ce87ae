# SPDX-License-Identifier: BSD-3-Clause
"""The rows of nodes in a matrix of PETSc, with all nine entries of each pair of nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..arrays import Array, Integers, Ints, Ints32, Mask
from ..runtime.collective import owners_of, shares

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpi4py import MPI

    from ..runtime.petsc import PETSc

NODES_AT_ONCE = 4096  # nodes at a time


class NodalBlocks:
    """What `Multigrid` takes of a matrix whose first rows of each rank are of nodes.

    Attributes
    ----------
    diagonal_start, off_start, columns, values, revision : see
        `symancf.solve.multigrid.levels.Entries`.

    Parameters
    ----------
    starts : (ranks + 1,) first rows of ranks.
    prescribed : (nodes,) bits of the rows that are none, of this rank's nodes; they get entries on
        the diagonal.
    """

    revision = 0

    def __init__(
        self, comm: MPI.Comm, mat: PETSc.Mat, starts: Ints, prescribed: npt.NDArray[np.uint8]
    ) -> None:
        self.comm, nodes = comm, len(prescribed)
        self._starts, self._nodes = starts, shares(comm, nodes)
        self._first, self._total = int(self._nodes[comm.rank]), max(1, int(self._nodes[-1]))
        start, column, _ = mat.getValuesCSR()
        self._count = int(start[3 * nodes])
        blocks = [b for b, *_ in self._chunks(start, column, nodes)]
        row, to = np.divmod(np.concatenate([np.zeros(0, np.int64), *blocks]), self._total)
        sizes = [len(b) for b in blocks]
        own = (to >= self._first) & (to < self._first + nodes)
        place, begins = np.empty(len(to), dtype=np.int64), []
        columns: list[Ints32] = []
        for some, shift in ((own, self._first), (~own, 0)):
            begin = np.searchsorted(row[some], np.arange(nodes + 1))
            place[some] = np.arange(int(some.sum())) - begin[row[some]]
            columns.append(_columns(begin, to[some] - shift))
            begins.append(begin)
        self.diagonal_start, self.off_start = map(_by_rows, begins)
        self.columns = columns[0], columns[1]
        room = [9 * int(begin[-1]) for begin in begins]
        self._values = [np.zeros(max(1, n) + 8)[: max(1, n)] for n in room]
        width = [np.diff(begin) for begin in begins]
        bases = [9 * begin[row] + 3 * place for begin in begins]  # of the first row of each block
        base = np.where(own, bases[0], bases[1])
        self._places = np.empty(self._count, dtype=np.int64)  # ~: of other ranks' nodes, -n: none
        end = first = 0
        for (_, entry, axis, block), size in zip(
            self._chunks(start, column, nodes), sizes, strict=True
        ):
            k = first + block
            a = entry % 3
            wide = np.where(own[k], width[0][row[k]], width[1][row[k]])
            at = base[k] + 3 * a * wide + axis
            self._places[end : end + len(at)] = np.where(own[k], at, ~at)
            end, first = end + len(at), first + size
        self._places = self._places[:end]
        mine = np.flatnonzero(own & (to - self._first == row))
        corner = bases[0][mine][:, None] + np.arange(3) * (3 * width[0][:, None] + 1)
        bits = np.unpackbits(prescribed[:, None], axis=1, count=3, bitorder="little")
        self._diagonal, self._prescribed = corner.ravel(), np.flatnonzero(bits)
        self._used = self._among(column[: self._count])

    def _among(self, column: Integers) -> Mask:
        """Return which columns are of nodes."""
        if self.comm.size == 1:
            return np.asarray(column < 3 * self._nodes[1])
        owner = owners_of(self._starts, np.asarray(column, np.int64))
        return np.asarray(column - self._starts[owner] < 3 * np.diff(self._nodes)[owner])

    def _numbers(self, column: Integers) -> tuple[Ints, Ints]:
        """Return nodes and components of columns of nodes."""
        if self.comm.size == 1:
            node, axis = np.divmod(column, 3)
            return node, axis
        owner = owners_of(self._starts, np.asarray(column, np.int64))
        node, axis = np.divmod(column - self._starts[owner], 3)
        return self._nodes[owner] + node, axis

    def _chunks(
        self, start: Ints32, column: Ints32, nodes: int
    ) -> Iterator[tuple[Ints, Ints, Ints, Ints]]:
        """Yield codes of blocks; row, component and block of each entry; for some nodes a time."""
        every = np.arange(nodes, dtype=np.int64)
        for k in range(0, nodes, NODES_AT_ONCE):
            end = min(nodes, k + NODES_AT_ONCE)
            begin = start[3 * k : 3 * end + 1]
            row = np.repeat(np.arange(3 * k, 3 * end), np.diff(begin))
            some = column[begin[0] : begin[-1]].astype(np.int64)
            used = self._among(some)
            row, some = row[used], some[used]
            node, axis = self._numbers(some)
            code = (row // 3) * self._total + node
            change = np.ones(len(code), dtype=bool)
            change[1:] = code[1:] != code[:-1]
            diagonal = every[k:end] * (self._total + 1) + self._first
            blocks, place = np.unique(np.concatenate([code[change], diagonal]), return_inverse=True)
            yield blocks, row, axis, place.ravel()[np.cumsum(change) - 1]

    def renew(self, mat: PETSc.Mat) -> None:
        """Take the present entries (collective)."""
        values = mat.getValuesCSR()[2][: self._count][self._used]
        for part, places, own in zip(
            self._values, (self._places, ~self._places), (True, False), strict=True
        ):
            some = (self._places >= 0) == own
            part[:] = 0.0
            part[places[some]] = values[some]
        if len(self._prescribed):
            size = float(np.abs(self._values[0][self._diagonal]).max())
            self._values[0][self._diagonal[self._prescribed]] = size if size > 0.0 else 1.0

    @property
    def values(self) -> tuple[Array, Array]:
        """The values of the two parts."""
        return self._values[0], self._values[1]


def _by_rows(begin: Ints) -> Ints32:
    """Return where the rows begin, three of each row of blocks."""
    width = np.repeat(3 * np.diff(begin), 3)
    return np.concatenate([[0], np.cumsum(width)]).astype(np.int32)


def _columns(begin: Ints, block: Ints) -> Ints32:
    """Return the columns of rows, each three of every block."""
    columns = np.empty(9 * len(block), dtype=np.int32)
    width = np.diff(begin)
    for k in range(0, len(width), NODES_AT_ONCE):
        some = slice(begin[k], begin[min(len(width), k + NODES_AT_ONCE)])
        count = np.repeat(width[k : k + NODES_AT_ONCE], 3)
        node = np.repeat(np.arange(k, min(len(width), k + NODES_AT_ONCE)), 3)
        place = np.repeat(begin[node] - np.cumsum(count) + count, count) + np.arange(count.sum())
        entries = 3 * block[place][:, None] + np.arange(3)
        columns[9 * some.start : 9 * some.stop] = entries.ravel()
    return columns
