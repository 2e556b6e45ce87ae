# SPDX-License-Identifier: BSD-3-Clause
"""The entries of the tangent in single precision, and products with them."""

from __future__ import annotations

import ctypes
import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array, Integers, Ints32, address, pointer
from ..runtime import jit
from ..runtime.petsc import PETSc, functions

if TYPE_CHECKING:
    from mpi4py import MPI

    from .matrix import Matrix
    from .numbering import Numbering

_INSERT, _FORWARD = 1, 0


class _Columns(ctypes.Structure):
    """The columns of this rank's rows, or all others: ``Part`` of rounded.c.

    Parameters
    ----------
    first, start : first row of each vertex, and where the entries of each row begin.
    columns : of the entries, as they are numbered in the vector of a product.
    values : the entries.
    """

    _fields_ = [
        *((name, ctypes.c_int32) for name in ("width", "vertices")),
        *((name, ctypes.c_void_p) for name in ("first", "start", "column")),
    ]

    def __init__(
        self, width: int, first: Ints32, start: Ints32, columns: Integers, values: Array
    ) -> None:
        row = first[:-1]
        runs = (start[row + 1] - start[row]) // width
        before = np.cumsum(runs, dtype=np.int64) - runs
        place = np.repeat(start[row] - width * before, runs)
        place += width * np.arange(len(place), dtype=np.int64)
        self.longest, self.values = width * int(runs.max(initial=0)), values
        self.arrays = first, start, columns[place].astype(np.int32)
        super().__init__(width, len(row), *map(address, self.arrays))
        self.rounded = np.zeros(0, dtype=np.float32)


class GhostColumns:
    """The values of a vector of PETSc at the columns that other ranks own (collective).

    Parameters
    ----------
    columns : global numbers of some, which may be there again.

    Attributes
    ----------
    local : the numbers of the columns among the values.
    """

    def __init__(self, comm: MPI.Comm, numbering: Numbering, columns: Integers) -> None:
        ghosts, self.local = np.unique(columns, return_inverse=True)
        rows = PETSc.Vec().createMPI((numbering.rows, numbering.size), comm=comm)
        self._ghosted = PETSc.Vec().createSeq(len(ghosts), comm=PETSc.COMM_SELF)
        needed = PETSc.IS().createGeneral(ghosts.astype(PETSc.IntType), comm=PETSc.COMM_SELF)
        self._scatter = PETSc.Scatter().create(rows, needed, self._ghosted, None)

    def _through(self, x: ctypes.c_void_p) -> tuple[ctypes.c_void_p | int, ...]:
        scatter, ghosted = self._scatter.handle, self._ghosted.handle
        return ctypes.c_void_p(scatter), x, ctypes.c_void_p(ghosted), _INSERT, _FORWARD

    def begin(self, x: ctypes.c_void_p) -> None:
        """Send for the values of a vector (collective)."""
        functions.VecScatterBegin(*self._through(x))

    def end(self, x: ctypes.c_void_p) -> ctypes.c_void_p:
        """Return the address of the values (collective)."""
        functions.VecScatterEnd(*self._through(x))
        return pointer(self._ghosted.getArray(readonly=True))

    def destroy(self) -> None:
        """Give up what PETSc holds (collective)."""
        self._scatter.destroy()
        self._ghosted.destroy()


class Rounded:
    r"""The entries of a matrix, rounded when `renew` was called, and products with them.

    For what smooths with a tangent while the matrix may hold another one. Sums are in double
    precision, so :math:`y = (A + E) x` with :math:`|E_{ij}| \le 6 \times 10^{-8} |A_{ij}|`, as
    symmetric as A (and entries below 1e-38 of the largest may be lost). It takes a third of the
    time of PETSc's own product, which reads 12 bytes with each entry: here it is 4, since the rows
    of a vertex share their columns.

    Parameters
    ----------
    matrix : whose entries these are (collective).
    """

    def __init__(self, matrix: Matrix) -> None:
        self._library = jit.load_runtime(Path(__file__).with_name("rounded.c"), comm=matrix.comm)
        self._library.symancf_round.restype = ctypes.c_int64
        self._matrix, self._revision = matrix, -1
        self._others: GhostColumns | None = None

    def _attach(self) -> None:
        """Take the pattern that the matrix has now (collective)."""
        matrix, numbering = self._matrix, self._matrix.numbering
        self._revision = matrix.revision
        counts = numbering.row_count[: numbering.owned_vertices]
        first = np.concatenate([[0], np.cumsum(counts[counts > 0])]).astype(np.int32)
        width, (own, _) = numbering.block_size, matrix.columns
        self._parts = [_Columns(width, first, matrix.diagonal_start, own, matrix.diagonal)]
        if matrix.comm.size > 1:
            if self._others is not None:
                self._others.destroy()
            self._others = GhostColumns(matrix.comm, numbering, matrix.columns[1])
            local = self._others.local
            self._parts.append(_Columns(width, first, matrix.off_start, local, matrix.off))
        self._gathered = np.zeros(max(part.longest for part in self._parts) + 8)

    def renew(self) -> None:
        """Round the present entries (collective)."""
        if self._revision != self._matrix.revision:
            self._attach()
        library = self._library
        largest = max(max(part.values.max(), -part.values.min()) for part in self._parts)
        usable = 0.0 < largest < math.inf  # entries may be beyond what single precision holds
        self._scale = ctypes.c_double(2.0 ** (math.frexp(largest)[1] - 1) if usable else 1.0)
        for part in self._parts:
            arguments = ctypes.byref(part), pointer(part.values), self._scale
            if not len(part.rounded):
                part.rounded = np.empty(library.symancf_round(*arguments, None), dtype=np.float32)
            library.symancf_round(*arguments, pointer(part.rounded))

    def multiply(self, x: int, y: int) -> None:
        """Write the product with a vector x of PETSc to y, both by their handles (collective)."""
        source, result = ctypes.c_void_p(x), ctypes.c_void_p(y)
        of, to = ctypes.c_void_p(), ctypes.c_void_p()
        if self._others is not None:
            self._others.begin(source)
        functions.VecGetArrayRead(source, ctypes.byref(of))
        functions.VecGetArray(result, ctypes.byref(to))
        self._add(self._parts[0], of, 0, to)
        functions.VecRestoreArrayRead(source, ctypes.byref(of))
        if self._others is not None:
            self._add(self._parts[1], self._others.end(source), 1, to)
        functions.VecRestoreArray(result, ctypes.byref(to))

    def _add(self, part: _Columns, x: ctypes.c_void_p, add: int, y: ctypes.c_void_p) -> None:
        self._library.symancf_multiply(
            ctypes.byref(part),
            pointer(part.rounded),
            x,
            self._scale,
            add,
            pointer(self._gathered),
            y,
        )
