# SPDX-License-Identifier: BSD-3-Clause
"""The symmetric tangent of nodes, each block of 3 x 3 once and in single precision."""

from __future__ import annotations

import ctypes
import weakref
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import pointer
from ..runtime.petsc import PETSc, functions, own
from .half_blocks import HalfBlocks, NodeRows, fixed_bits
from .rounded import GhostColumns
from .shell import Shell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpi4py import MPI

    from .form import Form
    from .numbering import Numbering


class Half(HalfBlocks):
    """Storage of a symmetric tangent whose rows are displacements of nodes (collective).

    Products, in double precision, are PETSc's of `mat`. `symancf.solve.multigrid` smooths with the
    same array.

    Parameters
    ----------
    forms : with tangents that `keeps_nodes` accepts.

    Attributes
    ----------
    mat : PETSc's matrix, of type shell, with products and a diagonal.
    """

    def __init__(self, comm: MPI.Comm, numbering: Numbering, forms: Sequence[Form]) -> None:
        rows = NodeRows.of(numbering, numbering.row_count > 0, fixed_bits(numbering))
        cells = {
            form: form.vertices.reshape(form.size, form.vertices.size // max(1, form.size))
            for form in forms
            if form.kernel.has_tangent
        }
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
        functions.VecRestoreArrayRead(x, ctypes.byref(source))
        if self._others is not None:
            library.symancf_half_add(data, pointer(self.off), self._others.end(x), to)
        functions.VecRestoreArray(y, ctypes.byref(to))
