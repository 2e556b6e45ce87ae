# SPDX-License-Identifier: BSD-3-Clause
"""The tangent of nodes, each block of its symmetric part once and in single precision."""

from __future__ import annotations

import ctypes
import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ..arrays import pointer
from ..runtime.collective import together
from ..runtime.petsc import PETSc, functions, own
from .half_blocks import HalfBlocks, NodeRows, fixed_bits, nodes_of_cells
from .rounded import GhostColumns
from .shell import Shell
from .structures import HalfRows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mpi4py import MPI

    from ..arrays import Array, Ints
    from .form import Form
    from .matrix import Matrix
    from .numbering import Numbering


class WritesHalf(Protocol):
    """What writes to the rows of a half: an assembler."""

    def write_half(self, x: Array, f: Array, rows: HalfRows, /) -> int:
        """Write the residual, and the tangent to rows of a half that was attached."""


class Half(HalfBlocks):
    """Storage of a tangent whose rows are displacements of nodes (collective).

    Products, in double precision, are PETSc's of `mat`. `symancf.solve.multigrid` smooths with the
    same array, and with the skew parts of cells on the finest level.

    Parameters
    ----------
    forms : with tangents that `keeps_nodes` accepts.

    Attributes
    ----------
    mat : PETSc's matrix, of type shell, with products and a diagonal.
    """

    def __init__(self, comm: MPI.Comm, numbering: Numbering, forms: Sequence[Form]) -> None:
        rows = NodeRows.of(numbering, numbering.row_count > 0, fixed_bits(numbering))
        cells = {form: nodes_of_cells(form) for form in forms if form.kernel.has_tangent}
        super().__init__(comm, numbering, rows, cells)
        self.numbering = numbering
        self.longest = (3 * int(np.diff(self.start).max(initial=1)) + 31) // 16 * 16
        self._row = np.zeros(2 * self.longest)
        columns = 3 * self.ghosts[:, None] + np.arange(3)
        self._others = None if comm.size == 1 else GhostColumns(comm, numbering, columns.ravel())
        reference = weakref.ref(self)

        def multiply(x: int, y: int) -> None:
            half = reference()
            assert half is not None
            half._multiply(ctypes.c_void_p(x), ctypes.c_void_p(y))

        def take_diagonal(d: int) -> None:
            half, to = reference(), ctypes.c_void_p()
            assert half is not None
            functions.VecGetArray(ctypes.c_void_p(d), ctypes.byref(to))
            entries = half.scale * half.diagonal.diagonal(axis1=1, axis2=2)
            ctypes.memmove(to, pointer(np.ascontiguousarray(entries)), entries.nbytes)
            functions.VecRestoreArray(ctypes.c_void_p(d), ctypes.byref(to))

        self._shell = Shell(numbering, multiply, take_diagonal)
        self.mat: PETSc.Mat = self._shell.mat
        own(comm, self.mat, self)

    @contextmanager
    def rewritten(self) -> Iterator[None]:
        """Forget the entries; take those that are added meanwhile (collective)."""
        self.begin()
        self.structure.adds = 0
        try:
            yield
        finally:
            self.finish()  # collective, so also where this rank failed

    def add(self, assembler: WritesHalf, x: Array, f: Array, factor: float = 1.0) -> int:
        """Add the tangent of forms at `x`, times a factor; return the number of bad points.

        Of forms whose tangent is not symmetric the factor is 1.

        Parameters
        ----------
        assembler : of the forms, which this was attached to.
        f : local vector that their residual is written to.
        """
        rows = HalfRows.from_buffer_copy(self.structure)
        rows.scale /= factor
        bad = assembler.write_half(x, f, rows)
        self.structure.adds = 1
        return bad

    def fill(self) -> Ints:
        """Give components without entries 1 on the diagonal; return their rows on this rank."""
        node, axis = np.nonzero(self.diagonal.diagonal(axis1=1, axis2=2) == 0.0)
        first, width = self.start[node].astype(np.int64), np.diff(self.start)[node]
        self.diagonal[node, axis, axis] = 1.0
        self.values[9 * first + (3 * width + 1) * axis] = 1.0
        return np.asarray(3 * node + axis, dtype=np.int64)

    def finish(self) -> None:
        """See `HalfBlocks.finish`; tell PETSc that the values are new."""
        super().finish()
        self.mat.stateIncrease()

    @property
    def error(self) -> BaseException | None:
        """What a product raised, if any."""
        return self._shell.error

    def _multiply(self, x: ctypes.c_void_p, y: ctypes.c_void_p) -> None:
        source, to = ctypes.c_void_p(), ctypes.c_void_p()
        data, library = ctypes.byref(self.structure), self._library
        if self._others is not None:
            self._others.begin(x)
        functions.VecGetArrayRead(x, ctypes.byref(source))
        functions.VecGetArray(y, ctypes.byref(to))
        room = pointer(self._row), self.longest
        library.symancf_half_multiply(data, pointer(self.column), source, *room, to)
        ghosts = None
        if self._others is not None:
            ghosts = self._others.end(x)
            library.symancf_half_add(data, pointer(self.off), ghosts, to)
        for rows, values in self.skew_parts:
            sizes, arrays = rows.shape, (pointer(rows), pointer(values))
            row = np.empty(max(1, rows.shape[1]))
            library.symancf_half_skew(data, *sizes, *arrays, source, ghosts, pointer(row), to)
        functions.VecRestoreArrayRead(x, ctypes.byref(source))
        functions.VecRestoreArray(y, ctypes.byref(to))


def write_tangent(storage: Matrix | Half, write: Callable[[], int]) -> int:
    """Let a tangent be written to its storage, once more where a half takes another scale.

    Returns the number of bad points that `write` returns (collective).
    """
    with together(storage.comm):
        bad = write()
    if isinstance(storage, Half) and storage.rescaled():
        with together(storage.comm):
            bad = write()
    return bad
