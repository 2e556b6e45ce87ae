# SPDX-License-Identifier: BSD-3-Clause
"""The equations of an equilibrium, as Newton's method sees them."""

from __future__ import annotations

import time as clock
from typing import TYPE_CHECKING

import numpy as np

from ...newton import VectorEquations
from ...runtime.petsc import PETSc, loosely

if TYPE_CHECKING:
    from ...arrays import Array
    from ...assembly.discrete import DiscreteSystem
    from ...assembly.vectors import Vectors
    from ...output.history import History
    from ...runtime.interruption import Interruption
    from ...runtime.progress import Progress
    from .convergence import Convergence
    from .linear import LinearSolver


class StaticEquations(VectorEquations):
    r"""Forces without those that are left out for the present, R(q) - f R_0 = 0.

    Parameters
    ----------
    history : its `seconds` grow by the time of assembling.
    interruption, progress : asked, and told, in each iteration.

    Attributes
    ----------
    linear : `LinearSolver`, to be set before the first solution.
    local_f : R of the last evaluation as a local vector, with support forces.
    fade, imbalance : f and R_0, see `EquilibriumSolver.measure_imbalance`.
    outside : the last state at which a law had no value, or None.
    """

    linear: LinearSolver

    def __init__(
        self,
        system: DiscreteSystem,
        vectors: Vectors,
        convergence: Convergence,
        history: History,
        interruption: Interruption,
        progress: Progress,
    ) -> None:
        super().__init__(system.comm, PETSc.SNES().create(system.comm), vectors.new())
        self.system, self.vectors, self.convergence = system, vectors, convergence
        self._seconds, self._interruption, self._progress = history.seconds, interruption, progress
        self.local_f = np.zeros(system.numbering.coordinates)
        self.imbalance, self.fade = self.no_rows, 0.0
        self.outside: Array | None = None
        # unknowns, residual, local residual
        self._evaluation: tuple[Array, Array, Array] | None = None

    @property
    def no_rows(self) -> Array:
        """Zeros for each row of this rank, without memory."""
        return np.broadcast_to(0.0, self.vectors.numbering.rows)

    def operate(self) -> None:
        """Give SNES the tangent that the linear solver at work solves with."""
        linear = self.linear
        self.snes.setJacobian(loosely(self._linearized), linear.operator, linear.pattern)

    def evaluate(self, x: PETSc.Vec, F: PETSc.Vec) -> int:
        """Write the residual at x, which `attempt` may know; return the bad points (collective)."""
        cached, self._evaluation = self._evaluation, None
        if cached is not None:
            same = np.array_equal(cached[0], x.getArray(readonly=True))
            if all(self.comm.allgather(same)):
                self.vectors.to_local(x, self.system.state)
                F.setArray(cached[1])
                self.local_f[:] = cached[2]
                return 0
        start, bad = clock.process_time(), 0
        try:
            self.vectors.to_local(x, self.system.state)
            bad = self.system.assembler.residual(self.system.state, self.local_f)
            self.vectors.to_global(self.local_f, F)
            if self.fade:
                F.setArray(F.getArray(readonly=True) - self.fade * self.imbalance)
        except BaseException as error:
            self.error, bad = self.error or error, 1
        bad = int(self.comm.allreduce(bad))  # a rank without rows must be heard, too
        if bad:
            self.outside = self.system.state.copy()
        self._seconds["assembly"] += clock.process_time() - start
        return bad

    def attempt(self, x: PETSc.Vec, F: PETSc.Vec) -> int:
        """Evaluate where a step may end; the line search asks for that place once more."""
        self._evaluation = None
        bad = self.evaluate(x, F)
        if not bad:
            at, f = (v.getArray(readonly=True).copy() for v in (x, F))
            self._evaluation = at, f, self.local_f.copy()
        return bad

    def begin(self) -> None:
        """Begin a step: nothing has failed."""
        self.error = self.outside = self._evaluation = None

    def linearize(self) -> None:
        """Prepare the tangent at `x`, for a residual that has to fall so far (collective)."""
        needed = self.convergence.needed(self.snes.getTolerances()[0])
        self.linear.linearize(self.system.state, needed)

    def test(self, iteration: int) -> int:
        """Ask `Convergence`, with the state at `x` (collective)."""
        self._interruption.check()
        self.vectors.to_local(self.x, self.system.state)
        self._progress.iteration(self.system.time, iteration)
        f, x = self.F.getArray(readonly=True), self.x.getArray(readonly=True)
        return self.convergence.test(self.snes, iteration, f, x, self.local_f)
