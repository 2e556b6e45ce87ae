# SPDX-License-Identifier: BSD-3-Clause
"""Krylov's methods for systems of several connected parts: each to its own tolerance."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array
from ..runtime.petsc import Callbacks, PETSc, functions

if TYPE_CHECKING:
    from collections.abc import Callable

    from .norms import RowNorms


_Hook = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
)
_NORM = PETSc.KSP.NormType


class PartScaling:
    r"""Weighs right-hand sides so that the residual of each part counts by its own size.

    The tangent K is block-diagonal in the parts, so a factor s_p for each part commutes with it:
    with S = diag(s_p) the solution of :math:`K y = S b` is y = S x. A Krylov solver of y stops at

    .. math:: \sum_p \Bigl(\frac{\|r_p\|}{\eta_p \|b_p\|}\Bigr)^2 \le 1,
        \qquad s_p = \frac{1}{\eta_p \|b_p\|},

    so that every part has the accuracy eta_p that it needs; a test of the whole would stop before
    it looks at parts with small loads. The norms are those that the solver tests (CG: the natural
    one, which it minimises), and the factors powers of two, so that nothing is rounded. Matrix
    and preconditioner stay as they are.

    Attributes
    ----------
    wanted : eta by part.
    active : false where the operator joins the parts (a bordered tangent).
    error : what a callback raised.

    Parameters
    ----------
    begin : called before each solution.
    look : called with the handles of a right-hand side and of its solution, as the KSP has them;
        returns PETSc's error.
    """

    def __init__(
        self,
        ksp: PETSc.KSP,
        rows: RowNorms,
        vector: PETSc.Vec,
        begin: Callable[[], None],
        look: Callable[[int, int], int],
    ) -> None:
        self.ksp, self.rows, self._begin, self._look = ksp, rows, begin, look
        self.wanted = np.full(rows.parts, 1e-5)
        self.active = True
        self.callbacks = Callbacks()
        self._b, self._z = vector.duplicate(), vector.duplicate()
        self._up, self._down = vector.duplicate(), vector.duplicate()
        has_norm = PETSc.Options(ksp.getOptionsPrefix()).hasName("ksp_norm_type")
        if ksp.getType() == PETSc.KSP.Type.CG and not has_norm:
            ksp.setNormType(_NORM.NATURAL)
        self._hooks = _Hook(self.callbacks.guard(self._before)), _Hook(self._after)
        handle = ctypes.c_void_p(ksp.handle)
        functions.KSPSetPreSolve(handle, self._hooks[0], None)
        functions.KSPSetPostSolve(handle, self._hooks[1], None)

    def _sizes(self) -> Array:
        """Return the norm of the right-hand side of each part (collective)."""
        kind, b = self.ksp.getNormType(), self._b.getArray(readonly=True)
        if kind == _NORM.UNPRECONDITIONED:
            return self._norm(b, b)
        self.ksp.setUp()
        self.ksp.getPC().apply(self._b, self._z)
        z = self._z.getArray(readonly=True)
        return self._norm(b if kind == _NORM.NATURAL else z, z)

    def _norm(self, a: Array, b: Array) -> Array:
        unit = np.array([np.abs(a).max(initial=0.0), np.abs(b).max(initial=0.0)])
        unit = self.rows.largest(unit)
        unit[~((unit > 0.0) & np.isfinite(unit))] = 1.0
        products = np.bincount(
            self.rows.row_part, (a / unit[0]) * (b / unit[1]), minlength=self.rows.parts
        )
        norms: Array = np.sqrt(np.abs(self.rows.system.sum(products.astype(float)))) * np.sqrt(
            unit.prod()
        )
        return norms

    def _before(self, ksp: int, b: int, x: int, context: object) -> None:
        self._begin()
        self.scaled = self.active
        if not self.active:
            return
        functions.VecCopy(ctypes.c_void_p(b), ctypes.c_void_p(self._b.handle))
        sizes = self._sizes()
        goal = self.wanted * sizes
        there = (goal > 0.0) & np.isfinite(goal)
        power = np.zeros(len(goal), dtype=int)
        power[there] = -np.round(np.log2(goal[there])).astype(int)
        total = np.linalg.norm(np.ldexp(sizes, power)[there])
        self.ksp.setTolerances(rtol=1.0 / max(float(total), 1.0))
        of_row = power[self.rows.row_part]
        self._up.setArray(np.ldexp(1.0, of_row))
        self._down.setArray(np.ldexp(1.0, -of_row))
        self._scale(self._up, b, x)

    def _after(self, ksp: int, b: int, x: int, context: object) -> int:
        error = self._look(b, x)
        if self.scaled:
            self._scale(self._down, b, x)
        return error

    @staticmethod
    def _scale(by: PETSc.Vec, *vectors: int) -> None:
        for vector in vectors:
            v = ctypes.c_void_p(vector)
            functions.VecPointwiseMult(v, v, ctypes.c_void_p(by.handle))
