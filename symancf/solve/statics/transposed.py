# SPDX-License-Identifier: BSD-3-Clause
"""Linear systems with the tangent at an equilibrium, and with its transpose."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...assembly.half import Half
from ...assembly.matrix import Matrix
from ...errors import ParameterError, SymancfError
from ...runtime.options import complaint
from ...runtime.petsc import PETSc, has
from ..gradients.fgmres import fgmres
from ..solver import is_symmetric

if TYPE_CHECKING:
    from ...arrays import Array
    from ...assembly.assembler import Derivatives
    from ..gradients.fgmres import Rows
    from .equilibrium import EquilibriumSolver


class Transposed:
    r"""Solves K x = b and :math:`K^T x = b` with the tangent K of an equilibrium.

    FGMRES with products by the kernels, which for the transpose are exact also where tangents leave
    something out. What precedes it is the solver of Newton's method where K is symmetric; factors
    L U of K of its own where K is not, and that is a direct one; and its preconditioner of K else,
    as it is.

    Parameters
    ----------
    solver : of an equilibrium, with the tangent of it made anew.

    Raises
    ------
    SymancfError : the tangent is not finite, or PETSc fails.

    Attributes
    ----------
    accuracy, least : residual of a solution by the right-hand side, wanted, and enough.
    by_iteration : what is wanted of solvers that iterate.
    by_entries, rounds : what is wanted of products with entries, which may be in single precision,
        and how often.
    vectors : of a Krylov space.
    iterations : of the last solution.
    last : the last vector that a product by kernels was made with the transpose of, and all that
        these have found; None: there was none.
    """

    accuracy, least, vectors = 1e-12, 1e-8, 60
    by_iteration, by_entries, rounds = 1e-10, 1e-5, 3

    def __init__(self, solver: EquilibriumSolver) -> None:
        self._solver, self._system = solver, solver.system
        self._symmetric, self._direct = is_symmetric(self._system), solver.linear.direct
        self.accuracy = self.accuracy if self._direct else self.by_iteration
        self._ksp: PETSc.KSP = solver.snes.getKSP()
        state = self._system.state
        if solver.guarded(lambda: solver.linear.linearize(state, rtol=self.accuracy / 3.0)):
            raise SymancfError("the tangent is not finite at the present state")
        self._b, self._x = solver.vectors.new(), solver.vectors.new()
        self._own: PETSc.KSP | None = None
        if not self._symmetric and self._direct:
            self._own = self._factors()
        self.iterations = 0
        self.last: tuple[Array, Derivatives] | None = None

    def _factors(self) -> PETSc.KSP:
        """Return factors L U of the tangent: those of a solver for symmetric ones do not do."""
        system = self._system
        ksp = PETSc.KSP().create(system.comm)
        ksp.setOperators(system.matrix.mat)
        ksp.setType(PETSc.KSP.Type.PREONLY)
        pc = ksp.getPC()
        pc.setType(PETSc.PC.Type.LU)
        if system.comm.size == 1 and has("suitesparse"):
            pc.setFactorSolverType("umfpack")
        elif has("mumps"):
            pc.setFactorSolverType("mumps")
        return ksp

    def solve(self, b: Array, *, transpose: bool) -> Array:
        """Return the local vector x with K x = b or K^T x = b, 0 at fixed coordinates (collective).

        Raises
        ------
        ParameterError : K is singular, or so nearly that no solution is right to 8 digits.
        """
        system, numbering = self._system, self._system.numbering
        vectors, x = self._solver.vectors, np.zeros_like(system.state)
        corrects = transpose and not self._direct

        def product(rows: Array) -> Array:
            v = np.zeros_like(x)
            self._b.setArray(rows)
            vectors.to_local(self._b, v)
            if corrects or (transpose and not self._symmetric):
                self.last = v, system.assembler.pull(system.state, v)
                return numbering.to_rows(self.last[1].coordinates)
            f = np.zeros_like(x)
            system.assembler.product(system.state, v, f)
            return numbering.to_rows(f)

        def precede(rows: Array) -> Array:
            return self._precede(rows, transpose)

        right = numbering.to_rows(b)
        found, rest, left = np.zeros_like(right), right, 1.0
        if corrects:
            found, rest, left = self._by_entries(right, product, precede)
        residual = left
        if left > self.accuracy:
            accuracy, least = self.accuracy / left, self.least / left
            change, residual, self.iterations = fgmres(
                product, precede, rest, system.sum, accuracy, least, self.vectors
            )
            found, residual = found + change, left * residual
        if not residual <= self.least:
            raise ParameterError(
                "the tangent at this equilibrium is singular, or nearly so: gradients do not exist "
                f"there (a linear system is solved to {residual:.1e} alone); go away from the "
                "limit point or bifurcation, or give options={'pc_type': 'lu'}",
                asked="gradient",
                given=residual,
            )
        self._b.setArray(found)
        vectors.to_local(self._b, x)
        return x

    def _by_entries(self, b: Array, product: Rows, precede: Rows) -> tuple[Array, Array, float]:
        """Return about K^-T b, what is left of b, and its size by that of b (collective).

        Products with the entries that the tangent is stored by, in single precision for halves,
        are many times faster than those by kernels, which correct what these have found.
        """
        storage, system = self._solver.linear.storage, self._system
        x, rest, left = np.zeros_like(b), b, 1.0
        if not (self._symmetric or isinstance(storage, Half | Matrix)):
            return x, rest, left

        def by_entries(rows: Array) -> Array:
            self._b.setArray(rows)
            if isinstance(storage, Half):
                with storage.transposing():
                    storage.mat.mult(self._b, self._x)
            else:
                storage.mat.multTranspose(self._b, self._x)
            return np.array(self._x.getArray(readonly=True))

        def roughly(rows: Array) -> Array:
            enough = self.by_entries
            if not self._symmetric:
                found = fgmres(by_entries, precede, rows, system.sum, enough, enough, self.vectors)
                self.iterations = found[2]
                return found[0]
            rtol = self._ksp.getTolerances()[0]
            self._ksp.setTolerances(rtol=enough)
            try:
                return precede(rows)
            finally:
                self._ksp.setTolerances(rtol=rtol)

        size = float(np.sqrt(system.sum(np.array([b @ b]))[0])) or 1.0
        for _ in range(self.rounds):
            change = roughly(rest)
            other = b - product(x + change)
            last, now = left, float(np.sqrt(system.sum(np.array([other @ other]))[0])) / size
            if not now < last:
                break
            x, rest, left = x + change, other, now
            if left <= self.accuracy or left > 0.1 * last:
                break
        return x, rest, left

    def inverse(self, b: Array, *, transpose: bool) -> Array:
        """Return about K^-1 or K^-T times a local vector, by what precedes alone (collective)."""
        x = np.zeros_like(b)
        self._b.setArray(self._precede(self._system.numbering.to_rows(b), transpose))
        self._solver.vectors.to_local(self._b, x)
        return x

    def _precede(self, rows: Array, transpose: bool) -> Array:
        """Return about K^-1 or K^-T times a vector of rows (collective)."""
        self._b.setArray(rows)
        try:
            if self._own is not None:
                (self._own.solveTranspose if transpose else self._own.solve)(self._b, self._x)
            elif self._symmetric:
                self._ksp.solve(self._b, self._x)
            else:
                self._ksp.setUp()
                self._ksp.getPC().apply(self._b, self._x)
        except PETSc.Error as error:
            self._solver.ready = False
            raise self._solver.linear.error or SymancfError(
                f"PETSc failed on a linear system of a gradient: {complaint(error)}"
            ) from error
        return np.array(self._x.getArray(readonly=True))
