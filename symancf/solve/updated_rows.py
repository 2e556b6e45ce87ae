# SPDX-License-Identifier: BSD-3-Clause
"""``-pc_type updated``: factors of a tangent without friction of tendons, whose rows are added."""

from __future__ import annotations

import ctypes
import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ..assembly.matrix import Matrix
from ..runtime.log import EVENTS
from ..runtime.petsc import Callbacks, PETSc, functions, loosely

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..arrays import Array
    from ..assembly.discrete import DiscreteSystem
    from ..assembly.form import Form

#: PETSc's name of the preconditioner.
UPDATED = "updated"

functions.PCRegister(UPDATED.encode(), functions.PCCreate_Shell)

_SetUp = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
_Apply = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


class UpdatedRows:
    r"""The preconditioner of a KSP of one rank: factors of a matrix of which few rows change.

    Friction of tendons is in the rows of what slides through eyelets, and changes them as a whole
    where one sticks or slips. With these rows D, E the unit vectors of their numbers, and A the
    matrix without friction, factored as L D L^T where it is symmetric,

    .. math:: (A + E D)^{-1} = A^{-1} - Z (1 + D Z)^{-1} D A^{-1}, \quad Z = A^{-1} E

    (M. A. Woodbury, Inverting modified matrices, 1950). So other rows need no other factors. A
    stiff D is added, not taken away, which would cancel.

    Where A has no factors (a cord that friction alone holds), those of A + E D take their place.

    Parameters
    ----------
    forms : of friction; they write into those rows alone.

    Attributes
    ----------
    rows : their numbers.
    factorisations, updates : numbers of those so far, of updates without a factorisation.
    """

    def __init__(
        self, system: DiscreteSystem, matrix: Matrix, ksp: PETSc.KSP, forms: Sequence[Form]
    ) -> None:
        self._system, self._matrix, numbering = system, matrix, system.numbering
        self._own = Matrix(system.comm, numbering, forms)
        self._own.prescribed = self._own.prescribed[:0]  # rows of others
        self._part = system.assembler.part(forms)
        self._part.attach(self._own)
        self._scratch = np.zeros(numbering.coordinates)
        starts = self._own.diagonal_start
        slides = numbering.those("sliding")[numbering.coordinate_of_row]
        self.rows = np.flatnonzero(slides & (np.diff(starts) > 1))
        own = [np.arange(starts[r], starts[r + 1]) for r in self.rows]
        self._entries = np.concatenate(own)  # of these rows in the own matrix
        self._first = np.cumsum([0, *map(len, own)])
        self._columns = self._own.columns[0][self._entries]
        self._values = np.zeros(len(self._entries))  # D
        others = (form for form in system.assembler.forms if form not in forms)
        self._symmetric = all(form.kernel.symmetric for form in others)
        self._factors: PETSc.PC | None = None
        self._with_friction = False  # whether the factors are those of A + E D
        self._of = -1, -1  # pattern and values that are factored
        self.factorisations = self.updates = 0
        self.callbacks = Callbacks()
        guard = self.callbacks.guard
        calls = _SetUp(guard(loosely(self._set_up))), _Apply(guard(loosely(self._apply)))
        handle = ctypes.c_void_p(ksp.getPC().handle)
        functions.PCShellSetSetUp(handle, calls[0])
        functions.PCShellSetApply(handle, calls[1])
        functions.PCShellSetName(handle, b"factors without friction, with rows of it added")
        ksp.setAttr(UPDATED, calls)  # as long as PETSc may call

    def take(self, state: Array | None) -> None:
        """Take the rows of a tangent that was made at a state; None: without friction."""
        self._values = np.zeros(len(self._entries)) if state is None else self._at(state)[0]

    def update(self, state: Array) -> bool:
        """Let the rows be those of a state; tell whether an eyelet sticks or slips otherwise.

        Where none does, all stays as it was.
        """
        if self._factors is None or self._with_friction:
            return False
        before, (now, bad) = self._values, self._at(state)
        change, size = abs(now - before), np.maximum(abs(now), abs(before))
        most, of = (np.maximum.reduceat(x, self._first[:-1]) for x in (change, size))
        if bad or not (most > 0.5 * of).any():  # states differ by about 1 and 2
            return False
        self._matrix.diagonal[self._places] += now - before
        self._matrix.finish()
        self._values, self._of = now, self._now
        self._combine()
        self.updates += 1
        return True

    def _at(self, state: Array) -> tuple[Array, int]:
        """Return the entries of the rows of friction at a state, and the number of bad points."""
        self._part.update(self._system.time)
        bad = self._part.tangent(state, self._scratch, self._own)
        return self._own.diagonal[self._entries], bad

    @property
    def _now(self) -> tuple[int, int]:
        return self._matrix.revision, self._matrix.mat.stateGet()

    # ---- factors --------------------------------------------------------------------------------
    def _factor(self) -> None:
        """Factor the present matrix."""
        self._find_places()
        values = self._matrix.diagonal
        if not self._with_friction:
            whole = values[self._places]
            values[self._places] -= self._values
            self._with_friction = not self._responds()
            values[self._places] = whole
            self._matrix.finish()
        if self._with_friction:
            self._factors = self._factored(False)
        self._of = self._now
        self.factorisations += 1

    def _find_places(self) -> None:
        """Find the places of the rows' entries in the matrix, if its pattern is another one."""
        if self._of[0] == self._matrix.revision:
            return
        start, column = self._matrix.diagonal_start, self._matrix.columns[0]
        parts = zip(self.rows, pairwise(self._first), strict=True)
        found = [
            start[r] + np.searchsorted(column[start[r] : start[r + 1]], self._columns[a:b])
            for r, (a, b) in parts
        ]
        self._places, self._factors = np.concatenate(found), None

    def _factored(self, symmetric: bool) -> PETSc.PC:
        """Return the factors of the present values."""
        mat, kinds = self._matrix.mat, PETSc.PC.Type
        pc = self._factors
        if pc is None or (pc.getType() == kinds.CHOLESKY) != symmetric:
            pc = PETSc.PC().create(mat.comm)
            pc.setType(kinds.CHOLESKY if symmetric else kinds.LU)
            pc.setFactorSolverType("mumps")
        self._matrix.finish()
        pc.setOperators(mat, mat)
        pc.setUp()
        return pc

    def _responds(self) -> bool:
        """Factor A, find Z; tell whether the factors serve."""
        rows, mat = self.rows, self._matrix.mat
        self._factors = self._factored(self._symmetric)
        unit = PETSc.Mat().createDense((mat.getSize()[0], len(rows)), comm=mat.comm)
        unit.setUp()
        unit.getDenseArray()[rows, np.arange(len(rows))] = 1.0
        unit.assemble()
        found = unit.duplicate()
        try:
            self._factors.getFactorMatrix().matSolve(unit, found)
        except PETSc.Error:  # a pivot is zero
            return False
        self._Z = found.getDenseArray().copy()
        total, rest = mat.createVecs()
        total.setArray(self._Z.sum(axis=1))
        mat.mult(total, rest)
        left = rest.getArray()
        left[rows] -= 1.0
        if not np.abs(left).max() <= math.sqrt(np.finfo(float).eps):  # perhaps no number
            return False
        self._combine()
        return True

    def _combine(self) -> None:
        """Find (1 + D Z)^-1."""
        self._inverse = np.linalg.inv(np.eye(len(self.rows)) + self._times(self._Z))

    def _times(self, x: Array) -> Array:
        """Return D x."""
        parts = [slice(*ends) for ends in pairwise(self._first)]
        return np.array([self._values[part] @ x[self._columns[part]] for part in parts])

    # ---- callbacks: never let an exception cross PETSc ------------------------------------------
    def _set_up(self, pc: int) -> None:
        """Follow the entries, when PETSc finds that others than `update` have changed them."""
        if self._now != self._of:
            with EVENTS["factor"]:
                self._factor()

    def _apply(self, pc: int, r: int, z: int) -> None:
        assert self._factors is not None
        factors = self._factors.getFactorMatrix()  # a PC would factor what it sees changed
        code = int(functions.MatSolve(*map(ctypes.c_void_p, (factors.handle, r, z))))
        if code:
            raise PETSc.Error(code)
        if self._with_friction:
            return
        place = ctypes.c_void_p()
        functions.VecGetArray(ctypes.c_void_p(z), ctypes.byref(place))
        room: Any = (ctypes.c_double * len(self._Z)).from_address(place.value or 0)
        y = np.frombuffer(room)
        y -= self._Z @ (self._inverse @ self._times(y))
        functions.VecRestoreArray(ctypes.c_void_p(z), ctypes.byref(place))
