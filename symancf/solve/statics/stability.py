# SPDX-License-Identifier: BSD-3-Clause
"""Number of negative eigenvalues of the tangent: bifurcations, unstable equilibria."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from ...runtime.collective import together
from ...runtime.petsc import PETSc, has
from ..factors import Factors, Signs
from ..solver import is_symmetric

if TYPE_CHECKING:
    from ...assembly.discrete import DiscreteSystem
    from ...output.history import History
    from .linear import LinearSolver
    from .native import NativeIterations

MAX_SUPERLU_ROWS = 5000  # rows that are factored by SuperLU where there is no MUMPS
#: unknowns up to which the end of a solution takes one factorisation more
MAX_CHECKED_UNKNOWNS = 20_000
NEGATIVE_PIVOT_RATIO = 1e-12  # of the diagonal: eigenvalues that are less negative are no alarm
FACTORS = (PETSc.PC.Type.LU, PETSc.PC.Type.CHOLESKY)


class Stability:
    r"""Negative eigenvalues of the tangent along the directions that constraints leave free.

    By Sylvester's law the factors of :math:`K = L D L^T` have as many negative pivots as K has
    negative eigenvalues; without those that constraints add (`Signs`) they count the directions in
    which an equilibrium is unstable. An unsymmetric tangent (follower forces, virtual work) has no
    such number; the sign of its determinant tells whether it is odd or even.

    Factors on a fixed pattern count, where their solutions need no correction. Else MUMPS does, on
    any number of ranks. Where it solves by L D L^T itself on one rank the number is there already;
    else the tangent is factored once more, which takes the time and the memory of one
    factorisation (half of them where the solver's is L U). These factors stay for the next
    solution, whose pattern is the same.

    Attributes
    ----------
    how : "pivots"; "determinant", 0 and 1 are even and odd then; or "none", with Krylov's methods
        and without MUMPS.
    """

    def __init__(
        self, system: DiscreteSystem, linear: LinearSolver, native: NativeIterations | None
    ) -> None:
        self.system, self.linear = system, linear
        self._native = native
        numbering, rows = system.numbering, system.numbering.coordinate_of_row
        free = np.ones(len(rows), dtype=bool)
        free[numbering.prescribed_rows] = False
        self._signs = Signs(system, rows, free)
        self.how: Literal["pivots", "determinant", "none"] = "none"
        if linear.direct or linear.ksp.getPC().getType() in FACTORS:
            if has("mumps"):
                self.how = "pivots" if is_symmetric(system) else "determinant"
            elif system.comm.size == 1 and numbering.size <= MAX_SUPERLU_ROWS:
                self.how = "determinant"
        self._factors = Factors(system.comm, self.how == "pivots")
        self._copy: PETSc.Mat | None = None

    @property
    def counts_with_solver(self) -> bool:
        """Whether the linear solver counts; on several ranks MUMPS leaves out its last block."""
        pc = self.linear.ksp.getPC()
        if self.how == "pivots" and self.linear.fixed is not None:
            return True
        return bool(
            self.how == "pivots"
            and self.linear.direct
            and self.system.comm.size == 1
            and pc.getType() == PETSc.PC.Type.CHOLESKY
            and pc.getFactorSolverType() == "mumps"
        )

    def counted(self) -> int | None:
        """Return the number of the tangent with which the linear solver, which counts, solved last.

        With factors on a fixed pattern that of the tangent just assembled, None where they do not
        know it. (Collective.)
        """
        if (solver := self.linear.fixed) is not None:
            known = solver.renew() and solver.factor is not None
            number = solver.factor.negative if known and solver.factor is not None else None
            return None if number is None else self._signs.free(number, self.system.matrix.mat)
        pivots = self.linear.ksp.getPC().getFactorMatrix().getMumpsInfog(12)
        return self._signs.free(pivots, self.system.matrix.mat)

    def negative(self, shift: float = 0.0) -> int | None:
        """Return the number of the tangent just assembled, None where it fails (collective).

        Parameters
        ----------
        shift : part of its diagonal by which the stiffness is raised first; of the eigenvalues
            that are zero to round-off, none (all) are counted with a small positive (negative)
            one.
        """
        if self.how == "none":
            return None
        if self.how == "determinant" and (sign := self._sign_with_solver()):
            return int(sign < 0)
        tangent = self.system.matrix.mat
        if self._copy is None:
            self._copy = tangent.duplicate(copy=True)
        else:
            tangent.copy(self._copy, structure=PETSc.Mat.Structure.SAME_NONZERO_PATTERN)
        if shift and self.how == "pivots":
            diagonal = tangent.getDiagonal()
            size = np.abs(diagonal.getArray(readonly=True))
            diagonal.setArray(shift * np.where(self._signs.moves, size, 0.0))
            self._copy.setDiagonal(diagonal, addv=PETSc.InsertMode.ADD_VALUES)
        if not self._factors.make(self._copy):
            return None
        if self.how == "determinant":
            sign = self._factors.sign
            return int(sign < 0) if sign else None
        pivots = self._factors.negative
        return None if pivots is None else self._signs.free(pivots, tangent)

    def tell(self, history: History) -> None:
        """Note in how many directions the present equilibrium is unstable; warn (collective).

        Where MUMPS is the linear solver, counts and has counted none, that is believed although its
        tangent is that of the last iteration. Otherwise the tangent is factored once more, up to
        `MAX_CHECKED_UNKNOWNS` unknowns; eigenvalues within `NEGATIVE_PIVOT_RATIO` of the diagonal,
        as at a limit point, are no alarm. Where a law has lost its ellipticity that is told, too.
        """
        system = self.system
        if self.how != "pivots" or not history.steps or not system.numbering.size:
            return
        large = system.numbering.size > MAX_CHECKED_UNKNOWNS
        if large and not self.counts_with_solver:
            return
        number = self._known()
        if number != 0:
            if self.linear.fixed is None:
                self._assemble()
            number = self.negative(NEGATIVE_PIVOT_RATIO)
            if large:
                self.release()
        history.steps[-1].unstable = number
        if number and not system.once.has_told(("unstable", number)):
            from ..ellipticity import lost_ellipticity

            material = lost_ellipticity(system, system.state)
            cause = f". The material may be the cause: {material}" if material else ""
            ways = "one direction" if number == 1 else f"{number} independent directions"
            system.once.warn(
                ("unstable", number),
                f"the equilibrium at pseudo-time {system.time:g} is unstable in {ways}: the least "
                "disturbance leads away from it. A small imperfection or disturbing load shows "
                "where to; follow() finds where it became so; check_stable=False does not look"
                f"{cause}",
            )

    def _known(self) -> int | None:
        """Return the number at the present equilibrium, None where the linear solver has none."""
        if self.linear.fixed is not None:
            if self._native is None or not self._native.linearize():
                self._assemble()
            return self.counted()
        counts = self.counts_with_solver and self.linear.ksp.getIterationNumber()
        return self.counted() if counts else None

    def _assemble(self) -> None:
        """Assemble the tangent of the present state (collective)."""
        with together(self.system.comm):
            self.linear.assemble(self.system.state)

    def release(self) -> None:
        """Give back the memory of the factors (collective)."""
        self._factors.release()
        if self._copy is not None:
            self._copy.destroy()
            self._copy = None

    def _sign_with_solver(self) -> int:
        """Return the sign of the determinant that the linear solver's factors have, if they have.

        0: not known. (Collective.)
        """
        pc = self.linear.ksp.getPC()
        if not (
            self.linear.direct and pc.getType() == "lu" and pc.getFactorSolverType() == "mumps"
        ):
            return 0
        self.linear.ksp.setUp()  # its factors may be those of the tangent before
        return int(np.sign(pc.getFactorMatrix().getMumpsRinfog(12)))  # if it was asked for
