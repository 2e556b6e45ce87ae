# SPDX-License-Identifier: BSD-3-Clause
"""Products with the entries of a tangent that has three rows of each node."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import pointer
from ...assembly.rounded import GhostColumns
from ...runtime.petsc import Callbacks, functions
from . import structures

if TYPE_CHECKING:
    from ...arrays import Array
    from ...assembly.matrix import Matrix
    from .pattern import Pattern

_MULT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_MATOP_MULT = 3


class Products:
    """Products of a tangent on the arrays of PETSc's AIJ, in the place of PETSc's own.

    The three rows of a node share their columns, so one number per block of nine entries is read
    instead of one per entry, and entries are fetched ahead: half of the time of PETSc's product.

    Parameters
    ----------
    matrix : its ``mat`` multiplies with this from now on (collective).
    pattern : of its blocks.

    Attributes
    ----------
    callbacks : have the error of a product, if any.
    """

    def __init__(self, matrix: Matrix, pattern: Pattern) -> None:
        self._library = structures.library(matrix.comm)
        self._pattern, self._values = pattern, matrix.values
        self._others: GhostColumns | None = None
        if matrix.comm.size > 1:
            self._others = GhostColumns(matrix.comm, matrix.numbering, matrix.columns[1])
        self._own = structures.part(pattern.own_start, pattern.own)
        self._off = structures.part(pattern.off_start, pattern.off)
        starts = pattern.own_start, pattern.off_start
        longest = 3 * int(max(np.diff(start).max(initial=0) for start in starts))
        self._row = np.zeros(longest + 16)
        self.callbacks = Callbacks()
        matrix.multiplies(_MATOP_MULT, _MULT(self.callbacks.guard(self._multiply)))

    def _multiply(self, mat: int, x_handle: int, y_handle: int) -> None:
        x, y = ctypes.c_void_p(x_handle), ctypes.c_void_p(y_handle)
        source, to = ctypes.c_void_p(), ctypes.c_void_p()
        if self._others is not None:
            self._others.begin(x)
        functions.VecGetArrayRead(x, ctypes.byref(source))
        functions.VecGetArray(y, ctypes.byref(to))
        self._add(self._own, self._values[0], source, 0, to)
        functions.VecRestoreArrayRead(x, ctypes.byref(source))
        if self._others is not None:
            self._add(self._off, self._values[1], self._others.end(x), 1, to)
        functions.VecRestoreArray(y, ctypes.byref(to))

    def _add(
        self,
        part: structures.Part,
        values: Array,
        x: ctypes.c_void_p,
        add: int,
        y: ctypes.c_void_p,
    ) -> None:
        nodes, data = self._pattern.nodes, ctypes.byref(part)
        self._library.symancf_multiply_blocks(
            nodes, data, pointer(values), x, add, pointer(self._row), y
        )
