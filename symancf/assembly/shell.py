# SPDX-License-Identifier: BSD-3-Clause
"""Matrices of PETSc that only multiply."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

from ..runtime.petsc import Callbacks, PETSc, functions

if TYPE_CHECKING:
    from collections.abc import Callable

    from .numbering import Numbering

_Mult = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_GetDiagonal = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_MATOP_MULT, _MATOP_GET_DIAGONAL = 3, 17


class Shell:
    """A matrix of PETSc that only multiplies: ``multiply(x, y)`` of the handles of two vectors.

    Parameters
    ----------
    diagonal : writes the diagonal to a vector, given its handle; None: it is not known.

    Attributes
    ----------
    mat : of PETSc's type shell. (Its type python cannot be used: PETSc destroys its last objects
        after Python is gone.)
    callbacks : have the error of a product, if any.
    """

    def __init__(
        self,
        numbering: Numbering,
        multiply: Callable[[int, int], None],
        diagonal: Callable[[int], None] | None = None,
    ) -> None:
        self.callbacks = Callbacks()

        def mult(mat: int, x: int, y: int) -> None:
            multiply(x, y)

        self._mult = _Mult(self.callbacks.guard(mult))
        self.mat = PETSc.Mat().create(numbering.comm)
        size = (numbering.rows, numbering.size)
        self.mat.setSizes((size, size))
        self.mat.setType(PETSc.Mat.Type.SHELL)
        self.mat.setUp()
        mat = ctypes.c_void_p(self.mat.handle)
        functions.MatShellSetOperation(mat, _MATOP_MULT, self._mult)
        if diagonal is not None:

            def get_diagonal(mat: int, d: int) -> None:
                diagonal(d)

            self._get_diagonal = _GetDiagonal(self.callbacks.guard(get_diagonal))
            functions.MatShellSetOperation(mat, _MATOP_GET_DIAGONAL, self._get_diagonal)
