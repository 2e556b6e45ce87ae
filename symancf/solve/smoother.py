# SPDX-License-Identifier: BSD-3-Clause
"""What multigrid multiplies with on its finest level."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

from ..assembly.rounded import Rounded
from ..runtime.collective import together
from ..runtime.petsc import PETSc, functions

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..assembly.matrix import Matrix
    from ..assembly.numbering import Numbering

_Mult = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_MATOP_MULT = 3
_PETSC_ERR_USER = 83


class Shell:
    """A matrix of PETSc that only multiplies: ``multiply(x, y)`` of the handles of two vectors.

    Attributes
    ----------
    mat : of PETSc's type shell. (Its type python cannot be used: PETSc destroys its last objects
        after Python is gone.)
    error : what a product raised, if any.
    """

    def __init__(self, numbering: Numbering, multiply: Callable[[int, int], None]) -> None:
        self.error: BaseException | None = None

        def mult(mat: int, x: int, y: int) -> int:
            try:
                multiply(x, y)
            except BaseException as error:
                self.error = self.error or error
                return _PETSC_ERR_USER
            return 0

        self._mult = _Mult(mult)
        self.mat = PETSc.Mat().create(numbering.comm)
        size = (numbering.rows, numbering.size)
        self.mat.setSizes((size, size))
        self.mat.setType(PETSc.Mat.Type.SHELL)
        self.mat.setUp()
        functions.MatShellSetOperation(ctypes.c_void_p(self.mat.handle), _MATOP_MULT, self._mult)


class Smoother:
    """The tangent for which a preconditioner is built, by its entries in single precision.

    PETSc's option ``pc_use_amat`` 0 has multigrid smooth with the matrix that it is made of.
    """

    def __init__(self, matrix: Matrix, ksp: PETSc.KSP) -> None:
        self._matrix, self._ksp = matrix, ksp
        self._made: tuple[Rounded, Shell] | None = None

    def renewed(self) -> PETSc.Mat | None:
        """Take the present entries; return what the preconditioner multiplies with (collective).

        None where that is the matrix that it is made of, or where it multiplies with none.
        """
        multiplies = ctypes.c_int(0)
        functions.PCGetUseAmat(ctypes.c_void_p(self._ksp.getPC().handle), ctypes.byref(multiplies))
        if not multiplies.value:
            return None
        with together(self._matrix.comm):
            if self._made is None:
                rounded = Rounded(self._matrix)
                self._made = rounded, Shell(self._matrix.numbering, rounded.multiply)
            self._made[0].renew()
        mat = self._made[1].mat
        mat.stateIncrease()
        return mat

    @property
    def error(self) -> BaseException | None:
        """What a product raised, if any."""
        return None if self._made is None else self._made[1].error
