# SPDX-License-Identifier: BSD-3-Clause
"""``-pc_type fixed``: factors on a fixed pattern for a KSP, and another solver where they fail."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import numpy as np

from ..errors import SymancfError
from ..runtime.collective import together
from ..runtime.log import EVENTS
from ..runtime.petsc import Callbacks, PETSc, functions, has, loosely
from .fixed_factor import FixedFactor

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..arrays import Mask
    from ..assembly.matrix import Matrix

#: PETSc's name of the preconditioner.
FIXED = "fixed"

functions.PCRegister(FIXED.encode(), functions.PCCreate_Shell)

_SetUp = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
_Apply = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


class FixedSolver:
    """The preconditioner of a KSP: `FixedFactor`, or PETSc's factors with pivoting, on rank 0.

    The order of elimination is found once for each pattern, and anew where more tensions of cords
    are elastic, or one was not after all. Where the pattern does not suit, a
    pivot is zero or solutions are none, PETSc's factors of the same matrix take over until the next
    matrix.

    Parameters
    ----------
    symmetric : whether the matrix is.
    other : the package of SuiteSparse that takes over, where PETSc has it; else MUMPS does.
    counts : whether pivots are counted, which one rank alone knows.

    Attributes
    ----------
    factored : whether the factors of the present matrix are those on the fixed pattern.
    factor : these.
    refusals : number of matrices for which PETSc's had to take over.

    Raises
    ------
    SymancfError : several ranks have rows, or there are several and pivots are counted.
    """

    def __init__(
        self,
        matrix: Matrix,
        ksp: PETSc.KSP,
        symmetric: bool,
        other: str = "klu",
        counts: bool = False,
    ) -> None:
        if matrix.comm.size > 1 and (counts or not matrix.numbering.topology.on_one_rank):
            raise SymancfError(
                f"-pc_type {FIXED} is for one rank; on {matrix.comm.size} take -pc_type lu",
                asked="-pc_type",
                given=FIXED,
                possible=("lu", "cholesky"),
            )
        self._matrix, self._symmetric, self._package = matrix, symmetric, other
        self.factor: FixedFactor | None = None
        self.factored, self.refusals = False, 0
        self._of = -1, -1  # pattern and values that are factored
        self._other: tuple[PETSc.PC, tuple[PETSc.Vec, PETSc.Vec]] | None = None
        self._other_of = -1  # values that it has factored
        self._some: Mask | None = None  # entries of the pattern that were not zero at an analysis
        self.callbacks = Callbacks()
        guard = self.callbacks.guard
        calls = _SetUp(guard(loosely(self._set_up))), _Apply(guard(loosely(self._apply)))
        handle = ctypes.c_void_p(ksp.getPC().handle)
        functions.PCShellSetSetUp(handle, calls[0])
        functions.PCShellSetApply(handle, calls[1])
        functions.PCShellSetName(handle, b"L D L^T or L U on a fixed sparsity pattern")
        ksp.setAttr(FIXED, calls)  # as long as PETSc may call

    def renew(self) -> bool:
        """Take the present entries; tell whether they have factors on the fixed pattern.

        (Collective.)
        """
        comm = self._matrix.comm
        if comm.size == 1:
            return self._renew()
        with together(comm):
            if comm.rank == 0:
                self._renew()
        self.factored = comm.bcast(self.factored)
        return self.factored

    def _renew(self) -> bool:
        matrix = self._matrix
        now = matrix.revision, matrix.mat.stateGet()
        if now == self._of:
            return self.factored
        with EVENTS["factor"]:
            if self.factor is None or self._of[0] != now[0] or self.factor.gains:
                self.factor, self._other = self._analysed(), None
            self.factored, self._of = self.factor.renew(), now
            if not self.factored and self.factor.parts:
                self.factor = self._analysed()
                self.factored = self.factor.renew()
            if not self.factored and self.factor.elastic:
                self.factor = self._analysed(hastens=False)
                self.factored = self.factor.renew()
        self.refusals += not self.factored
        return self.factored

    @property
    def present(self) -> FixedFactor | None:
        """The factors for the present pattern, which others may renew; None: there are none."""
        known = self.factor is not None and self._of[0] == self._matrix.revision
        return self.factor if known and self.factor is not None and self.factor.suits else None

    def changed(self, factored: bool) -> None:
        """Note that others have written entries, and perhaps have factored them."""
        self._matrix.mat.stateIncrease()
        if factored:
            self.factored = True
            self._of = self._matrix.revision, self._matrix.mat.stateGet()

    def _analysed(self, hastens: bool = True) -> FixedFactor:
        matrix, numbering = self._matrix, self._matrix.numbering
        waits, follows = (
            numbering.those(*kinds)[numbering.coordinate_of_row]
            for kinds in (("multiplier", "algebraic", "tie"), ("sliding",))
        )
        start, column = matrix.diagonal_start, matrix.columns[0][: matrix.nonzeros]
        if self._some is None or self._of[0] != matrix.revision:
            self._some = np.zeros(matrix.nonzeros, dtype=bool)
        self._some |= matrix.diagonal[: matrix.nonzeros] != 0.0
        kinds = waits, self._symmetric, follows
        return FixedFactor(start, column, matrix.diagonal, *kinds, hastens, self._some)

    def _fall_back(self) -> tuple[PETSc.PC, tuple[PETSc.Vec, PETSc.Vec]]:
        """Return PETSc's factors of the present entries, and vectors for both sides."""
        mat, now = self._matrix.mat, self._matrix.mat.stateGet()
        if self._matrix.comm.size > 1:
            mat = mat.getDiagonalBlock()
        if self._other is None:
            pc = PETSc.PC().create(mat.comm)
            pc.setType(PETSc.PC.Type.LU)
            pc.setFactorSolverType(self._package if has("suitesparse") else "mumps")
            self._other, self._other_of = (pc, mat.createVecs()), now
        if self._other_of != now and self._matrix.comm.size > 1:
            mat.stateIncrease()  # C writes entries of which PETSc does not know
        self._other_of = now
        self._other[0].setOperators(mat, mat)
        self._other[0].setUp()  # where entries have changed
        return self._other

    # ---- callbacks: never let an exception cross PETSc ------------------------------------------
    def _set_up(self, pc: int) -> None:
        """Follow the entries, when PETSc finds that they have changed (collective)."""
        if not self.renew():
            self._on_rank_0(self._fall_back)

    def _apply(self, pc: int, r: int, z: int) -> None:
        self._on_rank_0(lambda: self._solve(r, z))

    def _on_rank_0(self, work: Callable[[], object]) -> None:
        """Work where the rows are; raise PETSc's error on every rank (collective)."""
        comm, code = self._matrix.comm, 0
        if comm.rank == 0:
            code = self.callbacks.guard(work)()
        if comm.size > 1:
            code = int(comm.bcast(code))
        if code:
            raise PETSc.Error(code)

    def _solve(self, r: int, z: int) -> None:
        """Write the solution z for a right side r, on the rank that has both."""
        given, to, size = ctypes.c_void_p(), ctypes.c_void_p(), self._matrix.numbering.rows
        functions.VecGetArrayRead(ctypes.c_void_p(r), ctypes.byref(given))
        functions.VecGetArray(ctypes.c_void_p(z), ctypes.byref(to))
        try:
            factor = self.factor if self.factored else None
            if factor is None or not factor.solve_at(given, to):
                other, (x, b) = self._fall_back()
                rows = (ctypes.c_double * size).from_address
                b.setArray(np.ctypeslib.as_array(rows(given.value or 0)))
                other.apply(b, x)
                np.ctypeslib.as_array(rows(to.value or 0))[:] = x.getArray(readonly=True)
        finally:
            functions.VecRestoreArrayRead(ctypes.c_void_p(r), ctypes.byref(given))
            functions.VecRestoreArray(ctypes.c_void_p(z), ctypes.byref(to))
