# SPDX-License-Identifier: BSD-3-Clause
"""A direct solver of Newton's method."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from ...assembly.half import write_tangent
from ...assembly.matrix_free import MatrixFree
from ...assembly.subdomains import Subdomains
from ..fixed_solver import FIXED, FixedSolver
from ..residual import LinearResidual
from ..solver import is_symmetric, solver_name

if TYPE_CHECKING:
    from ...arrays import Array
    from ...assembly.discrete import DiscreteSystem
    from ...assembly.half import Half
    from ...assembly.matrix import Matrix
    from ...assembly.vectors import Vectors
    from ...runtime.options import SolverOptions
    from ...runtime.petsc import PETSc


class LinearSolver:
    """Gives a KSP with a direct solver the assembled tangent of each state; see `KrylovSolver`.

    Attributes
    ----------
    direct : whether a direct solver is at work.
    residual : `LinearResidual`.
    fixed : the solver on a fixed pattern, where there is one.
    seconds : its entry "assembly" grows by the CPU time of assembling.
    """

    def __init__(
        self,
        system: DiscreteSystem,
        ksp: PETSc.KSP,
        vectors: Vectors,
        seconds: dict[str, float],
        options: SolverOptions,
    ) -> None:
        self.ksp, self.system, self.seconds = ksp, system, seconds
        self.direct = True
        self._rows = vectors.new()
        self.residual = LinearResidual(system, ksp, self._rows, options)
        self.fixed: FixedSolver | None = None
        if ksp.getPC().getType() == FIXED:
            self.fixed = FixedSolver(system.matrix, ksp, is_symmetric(system), "umfpack", True)

    @property
    def name(self) -> str:
        """PETSc's names of the solver at work, for people."""
        return solver_name(self.ksp)

    @property
    def operator(self) -> PETSc.Mat:
        """The tangent that is solved with; preconditioners are made of that of `storage`."""
        return self.storage.mat

    @property
    def storage(self) -> Matrix | Half | MatrixFree | Subdomains:
        """Where `assemble` writes the tangent."""
        return self.system.matrix

    @property
    def error(self) -> BaseException | None:
        """What was raised while PETSc solved, if anything."""
        return self.residual.callbacks.error

    def relisted(self) -> None:
        """Take up a tangent of another pattern: what was made of the last one serves no more."""
        self.ksp.reset()

    def assemble(self, state: Array) -> int:
        """Write the tangent at `state` to `storage`; return the number of bad points."""
        start = time.process_time()
        storage, f = self.storage, np.empty_like(state)
        assert not isinstance(storage, MatrixFree | Subdomains)  # see `KrylovSolver.assemble`
        bad = write_tangent(storage, lambda: self.system.assembler.tangent(state, f, storage))
        self.seconds["assembly"] += time.process_time() - start
        return bad

    def linearize(
        self, state: Array, needed: Array | None = None, rtol: float | None = None
    ) -> int:
        """Prepare for the tangent at `state`; return the number of bad points (collective).

        Parameters
        ----------
        needed : factors by which the residuals of the connected parts must fall to end Newton's
            method, of which a Krylov solver makes tolerances, see `Forcing`.
        rtol : tolerance of a Krylov solver, in place of these. Without both: it has its own.
        """
        bad = self.assemble(state)
        self.ksp.setOperators(self.operator, self.storage.mat)
        return bad

    def forget(self) -> None:
        """Drop a factorisation that failed: it would be used again."""
        self.ksp.reset()
