# SPDX-License-Identifier: BSD-3-Clause
"""The rows of nodes in a matrix of PETSc, with all nine entries of each pair of nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..arrays import Array, Ints, Ints32
from ..runtime.collective import owners_of, shares

if TYPE_CHECKING:
    from mpi4py import MPI

    from ..runtime.petsc import PETSc


class Blocks:
    """What `Multigrid` takes of a matrix whose first rows of each rank are of nodes.

    Attributes
    ----------
    diagonal_start, off_start, columns, values, revision : see `symancf.multigrid.levels.Entries`.

    Parameters
    ----------
    starts : (ranks + 1,) first rows of ranks.
    held : (nodes,) bits of the rows that are none, of this rank's nodes; they get entries on the
        diagonal.
    """

    revision = 0

    def __init__(
        self, comm: MPI.Comm, mat: PETSc.Mat, starts: Ints, held: npt.NDArray[np.uint8]
    ) -> None:
        self.comm, nodes = comm, len(held)
        firsts = shares(comm, nodes)
        first, total = int(firsts[comm.rank]), int(firsts[-1])
        start, column, _ = mat.getValuesCSR()
        count = int(start[3 * nodes])
        row = np.repeat(np.arange(3 * nodes), np.diff(start[: 3 * nodes + 1]))
        column = column[:count].astype(np.int64)
        owner = owners_of(starts, column)
        within = column - starts[owner]
        self._used = within < 3 * np.diff(firsts)[owner]
        row, owner, within = row[self._used], owner[self._used], within[self._used]
        node, axis = np.divmod(within, 3)
        code = (row // 3) * np.int64(max(1, total)) + firsts[owner] + node
        change = np.ones(len(code), dtype=bool)
        change[1:] = code[1:] != code[:-1]
        every = np.arange(nodes, dtype=np.int64)
        blocks = np.unique(np.concatenate([code[change], every * (total + 1) + first]))
        r, c = np.divmod(blocks, max(1, total))
        own = (c >= first) & (c < first + nodes)
        place = np.empty(len(blocks), dtype=np.int64)
        starts_of = []
        columns: list[Ints32] = []
        for some, shift in ((own, 3 * first), (~own, 0)):
            begin = np.searchsorted(r[some], np.arange(nodes + 1))
            starts_of.append(begin)
            place[some] = np.arange(int(some.sum())) - begin[r[some]]
            columns.append(_columns(begin, c[some], shift))
        self.diagonal_start, self.off_start = (_by_rows(begin) for begin in starts_of)
        self.columns = columns[0], columns[1]
        sizes = [9 * int(begin[-1]) for begin in starts_of]
        self._values = tuple(np.zeros(max(1, n) + 8)[: max(1, n)] for n in sizes)
        at = np.searchsorted(blocks, code[change])[np.cumsum(change) - 1]
        self._own = own[at]
        self._places = np.empty(len(at), dtype=np.int64)
        for k, some in enumerate((self._own, ~self._own)):
            begin = starts_of[k]
            node_row, a = np.divmod(row[some], 3)
            width = np.diff(begin)[node_row]
            self._places[some] = (
                9 * begin[node_row] + a * 3 * width + 3 * place[at[some]] + axis[some]
            )
        diagonal = np.searchsorted(blocks, every * (total + 1) + first)
        width = np.diff(starts_of[0])
        base = 9 * starts_of[0][:-1] + 3 * place[diagonal]
        self._diagonal = (base[:, None] + np.arange(3) * (3 * width[:, None] + 1)).ravel()
        bits = np.unpackbits(held[:, None], axis=1, count=3, bitorder="little")
        self._count, self._held = count, np.flatnonzero(bits)

    def renew(self, mat: PETSc.Mat) -> None:
        """Take the present entries (collective)."""
        _, _, values = mat.getValuesCSR()
        values = values[: self._count][self._used]
        for k, some in enumerate((self._own, ~self._own)):
            self._values[k][:] = 0.0
            self._values[k][self._places[some]] = values[some]
        if len(self._held):
            size = float(np.abs(self._values[0][self._diagonal]).max())
            self._values[0][self._diagonal[self._held]] = size if size > 0.0 else 1.0

    @property
    def values(self) -> tuple[Array, Array]:
        """The values of the two parts."""
        return self._values[0], self._values[1]


def _by_rows(begin: Ints) -> Ints32:
    """Return where the rows begin, three of each row of blocks."""
    width = np.repeat(3 * np.diff(begin), 3)
    return np.concatenate([[0], np.cumsum(width)]).astype(np.int32)


def _columns(begin: Ints, block: Ints, shift: int) -> Ints32:
    """Return the columns of rows, each three of every block."""
    width = np.diff(begin)
    node = np.repeat(np.arange(len(width)), 3)
    count = width[node]
    place = np.repeat(begin[:-1][node] - np.cumsum(count) + count, count) + np.arange(count.sum())
    columns = 3 * block[place][:, None] + np.arange(3) - shift
    return np.ascontiguousarray(columns.ravel(), dtype=np.int32)
