# SPDX-License-Identifier: BSD-3-Clause
"""The tangent of nodes, each block of its symmetric part once and in single precision."""

from __future__ import annotations

import ctypes
import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ..arrays import pointer
from ..runtime.collective import owners_of, shares, together
from ..runtime.petsc import PETSc, functions, own
from .form import keeps_nodes
from .half_blocks import HalfBlocks, NodeRows, fixed_bits, nodes_of_cells, positioned
from .matrix import Matrix
from .rounded import GhostColumns
from .shell import Shell
from .structures import HalfRows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mpi4py import MPI

    from ..arrays import Array, Ints
    from .form import Form
    from .numbering import Numbering


class WritesHalf(Protocol):
    """What writes to the rows of a half: an assembler."""

    def write_half(self, x: Array, f: Array, rows: HalfRows, /) -> int:
        """Write the residual, and the tangent to rows of a half that was attached."""


class Half(HalfBlocks):
    """Storage of a tangent whose rows are displacements of nodes, and few others (collective).

    Products, in double precision, are PETSc's of `mat`. `symancf.solve.multigrid` smooths with the
    same array, and with the skew parts of cells on the finest level.

    What terms other than cells of nodes add, such as contact between facets and gas, is in rows of
    PETSc's AIJ beside it: `rest`, which has entries for their vertices alone.

    Parameters
    ----------
    forms : of all terms; of cells of nodes `keeps_nodes` accepts the tangents. On each rank the
        rows of nodes come first, see `nodes_first`.

    Attributes
    ----------
    mat : PETSc's matrix, of type shell, with products and a diagonal.
    rest : entries of other terms, None where there are no such terms.
    symmetric : whether these are.
    numbers : of each form there, -1 where it is not.
    """

    def __init__(self, comm: MPI.Comm, numbering: Numbering, forms: Sequence[Form]) -> None:
        chosen = positioned(numbering) & (numbering.row_count > 0)
        rows = NodeRows.of(numbering, chosen, fixed_bits(numbering))
        others = [form for form in forms if not keeps_nodes(form)]
        self.numbers = [others.index(form) if form in others else -1 for form in forms]
        of_nodes = [form for form in forms if form.kernel.has_tangent and keeps_nodes(form)]
        cells = {form: nodes_of_cells(form) for form in of_nodes}
        super().__init__(comm, numbering, rows, cells)
        self.numbering = numbering
        self.rest = Matrix(comm, numbering, others, every=False) if others else None
        self.symmetric = all(form.kernel.symmetric for form in others)
        self.longest = (3 * int(np.diff(self.start).max(initial=1)) + 31) // 16 * 16
        self._row = np.zeros(2 * self.longest)
        nodes, first = shares(comm, self.nodes), shares(comm, numbering.rows)
        owner = owners_of(nodes, self.ghosts)
        columns = first[owner] + 3 * (self.ghosts - nodes[owner])
        columns = columns[:, None] + np.arange(3)
        self._transposes = False
        self._others = None if comm.size == 1 else GhostColumns(comm, numbering, columns.ravel())
        reference = weakref.ref(self)

        def multiply(x: int, y: int) -> None:
            half = reference()
            assert half is not None
            half._multiply(ctypes.c_void_p(x), ctypes.c_void_p(y))

        def take_diagonal(d: int) -> None:
            half, to = reference(), ctypes.c_void_p()
            assert half is not None
            entries = np.zeros(numbering.rows)
            if half.rest is not None:
                entries[:] = half.rest.mat.getDiagonal().getArray(readonly=True)
            nodes = half.diagonal.diagonal(axis1=1, axis2=2).ravel()
            entries[: 3 * half.nodes] += half.scale * nodes
            functions.VecGetArray(ctypes.c_void_p(d), ctypes.byref(to))
            ctypes.memmove(to, pointer(entries), entries.nbytes)
            functions.VecRestoreArray(ctypes.c_void_p(d), ctypes.byref(to))

        self._shell = Shell(numbering, multiply, take_diagonal)
        self.mat: PETSc.Mat = self._shell.mat
        own(comm, self.mat, self)

    def begin(self) -> None:
        """See `HalfBlocks.begin`; other terms, too, write to zeros."""
        super().begin()
        if self.rest is not None:
            for values in self.rest.values:
                values.fill(0.0)

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
        if self.rest is not None:
            self.rest.finish()
        self.mat.stateIncrease()

    @contextmanager
    def transposing(self) -> Iterator[None]:
        """Let products be those with the transpose."""
        self._transposes = True
        try:
            yield
        finally:
            self._transposes = False

    @property
    def error(self) -> BaseException | None:
        """What a product raised, if any."""
        return self._shell.callbacks.error

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
            values = -values if self._transposes else values
            sizes, arrays = rows.shape, (pointer(rows), pointer(values))
            row = np.empty(max(1, rows.shape[1]))
            library.symancf_half_skew(data, *sizes, *arrays, source, ghosts, pointer(row), to)
        others = 8 * (self.numbering.rows - 3 * self.nodes)
        if others:  # a rank without rows may have no array
            ctypes.memset((to.value or 0) + 24 * self.nodes, 0, others)
        functions.VecRestoreArrayRead(x, ctypes.byref(source))
        functions.VecRestoreArray(y, ctypes.byref(to))
        if self.rest is not None:
            add = functions.MatMultTransposeAdd if self._transposes else functions.MatMultAdd
            add(ctypes.c_void_p(self.rest.mat.handle), x, y, y)


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
