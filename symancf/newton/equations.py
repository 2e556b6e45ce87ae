# SPDX-License-Identifier: BSD-3-Clause
"""Equations in vectors of PETSc's, for `newton` or, with the same callbacks, for SNES."""

from __future__ import annotations

import ctypes
import math
from abc import ABC, abstractmethod
from contextlib import ExitStack
from typing import TYPE_CHECKING

from mpi4py import MPI

from ..runtime.collective import share_error
from ..runtime.petsc import NOT_FINITE, PETSc, functions, loosely, printing
from .newton import REASONS, Solution, newton

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..runtime.options import SolverOptions
    from .aids import Aid

#: Options of SNES that `newton` follows; with others SNES itself makes the iterations.
FOLLOWED = ("type", "rtol", "atol", "stol", "max_it", "linesearch_", "monitor")
PLAIN = {f"snes_{name}" for name in (*FOLLOWED[:5], "linesearch_type")}  # whose values tell all
SEARCHES = 2**31 - 1  # evaluations in all solutions, which PETSc's line search counts


class VectorEquations(ABC):
    """Equations R(x) = 0 in vectors of PETSc's.

    A subclass evaluates, linearizes and tests; the linear solver, the line search and all
    tolerances are those of a SNES. `find` is `newton`, or SNES itself where an option, another
    test of convergence or an update asks for what `newton` does not do.

    Parameters
    ----------
    snes : before it takes options, which `configured` is told of then.
    x : unknowns.

    Attributes
    ----------
    F, step : R at x, and the step d with K d = R.
    aids : in the order of their table.
    linear_iterations : of the linear solver, since `find` began.
    """

    def __init__(self, comm: MPI.Comm, snes: PETSc.SNES, x: PETSc.Vec) -> None:
        self.comm, self.snes, self.x = comm, snes, x
        self.F, self.step = x.duplicate(), x.duplicate()
        self.aids: Sequence[Aid] = ()
        self.linear_iterations = 0
        self.error: BaseException | None = None
        self._norm = 0.0
        self._test = loosely(self._tested)
        snes.setFunction(loosely(self._evaluated), self.F)
        snes.setConvergenceTest(self._test)
        self._by_newton = self._plain = False

    def configured(self, options: SolverOptions) -> None:
        """See whether `newton` does what the options ask for that the SNES has taken."""
        usual = tuple(f"snes_{name}" for name in FOLLOWED)
        options_chosen = options.chosen("snes_", "npc_")
        self._by_newton = all(name.startswith(usual) for name in options_chosen)
        self._plain = options_chosen.keys() <= PLAIN
        if self._by_newton:
            self.snes.setMaxFunctionEvaluations(SEARCHES)

    @abstractmethod
    def evaluate(self, x: PETSc.Vec, F: PETSc.Vec) -> int:
        """Write the residual at x; return the number of bad points of all ranks (collective)."""

    @abstractmethod
    def linearize(self) -> None:
        """Prepare the tangent at `x`, and give it to the KSP (collective)."""

    @abstractmethod
    def test(self, iteration: int) -> int:
        """Return PETSc's reason to stop at `x`, `F`, or 0 (collective)."""

    def find(self) -> Solution:
        """Solve from the present `x` (collective).

        Raises
        ------
        PETSc.Error : of the linear solver.
        Exception : what a callback raised, on every rank.
        """
        snes = self.snes
        self.linear_iterations, self.error = 0, None
        if self._by_newton and self._usual():
            snes.setSolution(self.x)
            solution = newton(self, snes.getTolerances()[3], self.aids)
            snes.setConvergedReason(solution.reason)
            return solution
        snes.setLineSearchPreCheck(loosely(self._changed))
        try:
            snes.solve(None, self.x)
        finally:
            snes.setLineSearchPreCheck(None)
            share_error(self.comm, self.error)
        self.linear_iterations = snes.getLinearSolveIterations()
        return Solution(snes.getConvergedReason(), snes.getIterationNumber())

    def _usual(self) -> bool:
        """Tell whether a program has left SNES's method, test, update and history alone."""
        snes, history = self.snes, ctypes.c_void_p()
        test = snes.getConvergenceTest()
        functions.SNESGetConvergenceHistory(
            ctypes.c_void_p(snes.handle), ctypes.byref(history), None, None
        )
        own = test is not None and test[0] is self._test and snes.getUpdate() is None
        return own and history.value is None and snes.getType() == PETSc.SNES.Type.NEWTONLS

    def is_plain(self, *searches: str) -> bool:
        """Tell whether `newton` makes whole steps, without absolute tolerance, unseen.

        `searches`: types of line searches that do, default: ``"basic"``.
        """
        snes = self.snes
        watched = snes.getMonitor() or snes.getTolerances()[1] > 0.0
        whole = self._plain and not watched and line_search(snes) in (searches or ("basic",))
        return whole and self._usual()

    # ---- for `newton` ---------------------------------------------------------------------------
    def residual(self) -> bool:
        """Evaluate R; tell whether it is finite (collective)."""
        bad = self.evaluate(self.x, self.F)
        if bad:
            share_error(self.comm, self.error)
            return False
        self._norm = self.F.norm()
        return math.isfinite(self._norm)

    def reason(self, iteration: int) -> int:
        """Show monitors the present place; ask the test (collective)."""
        snes = self.snes
        snes.setIterationNumber(iteration)
        snes.setFunctionNorm(self._norm)
        snes.monitor(iteration, self._norm)
        return self.test(iteration)

    def solve(self) -> bool:
        """Find the step by the KSP; tell whether there is one, or will be (collective)."""
        ksp, failed = self.snes.getKSP(), PETSc.KSP.ConvergedReason.DIVERGED_NANORINF
        ksp.solve(self.F, self.step)
        self.linear_iterations += ksp.getIterationNumber()
        reason = int(ksp.getConvergedReason())
        if self.comm.size > 1:  # factors may fail on one rank
            reason = self.comm.allreduce(reason, MPI.MIN)
            ksp.setConvergedReason(reason)
        return bool(reason >= 0 or (reason != failed and self.snes.getMaxKSPFailures() > 1))

    def move(self) -> int:
        """Go along the step as PETSc's line search does; return a reason to stop, or 0."""
        snes, search, reason = self.snes, ctypes.c_void_p(), ctypes.c_int()
        sizes = [ctypes.c_double(self._norm) for _ in range(3)]  # of x, R and the step
        snes.setConvergedReason(REASONS.ITERATING)
        functions.SNESGetLineSearch(ctypes.c_void_p(snes.handle), ctypes.byref(search))
        x, F, step = (ctypes.c_void_p(v.handle) for v in (self.x, self.F, self.step))
        failed = printing.SNESLineSearchApply(search, x, F, ctypes.byref(sizes[1]), step)
        share_error(self.comm, self.error)
        if failed:
            raise PETSc.Error(failed)
        functions.SNESLineSearchGetReason(search, ctypes.byref(reason))
        functions.SNESLineSearchGetNorms(search, *map(ctypes.byref, sizes))
        functions.SNESLineSearchReset(search)  # its vectors serve nobody while K is prepared
        of_x, self._norm, length = (size.value for size in sizes)
        if stopped := int(snes.getConvergedReason()):
            return stopped
        if not math.isfinite(self._norm):
            return NOT_FINITE
        if not reason.value:
            return int(REASONS.ITERATING)
        still = snes.getTolerances()[2] * of_x > length
        return int(REASONS.CONVERGED_SNORM_RELATIVE if still else REASONS.DIVERGED_LINE_SEARCH)

    # ---- for SNES: no exception may cross PETSc -------------------------------------------------
    def _evaluated(self, snes: PETSc.SNES, x: PETSc.Vec, F: PETSc.Vec) -> None:
        if self.evaluate(x, F):
            F.set(math.nan)

    def _linearized(self, snes: PETSc.SNES, x: PETSc.Vec, J: PETSc.Mat, P: PETSc.Mat) -> None:
        try:
            with ExitStack() as changes:
                for aid in self.aids:
                    changes.enter_context(aid.tangent())
                self.linearize()
        except BaseException as error:
            self.error = self.error or error

    def _changed(self, x: PETSc.Vec, step: PETSc.Vec) -> bool:
        try:
            step.copy(self.step)
            if all(aid.step() for aid in self.aids):
                self.step.copy(step)
                return True
            step.set(0.0)
        except BaseException as error:
            self.error = self.error or error
        self.snes.setConvergedReason(REASONS.DIVERGED_LINEAR_SOLVE)
        return True

    def _tested(self, snes: PETSc.SNES, iteration: int, norms: tuple[float, float, float]) -> int:
        try:
            reason = self.test(iteration)
            return 0 if reason > 0 and not all(aid.settled() for aid in self.aids) else reason
        except BaseException as error:
            self.error = self.error or error
            return NOT_FINITE


def line_search(snes: PETSc.SNES) -> str:
    """Return the type of a line search."""
    search, name = ctypes.c_void_p(), ctypes.c_char_p()
    functions.SNESGetLineSearch(ctypes.c_void_p(snes.handle), ctypes.byref(search))
    functions.SNESLineSearchGetType(search, ctypes.byref(name))
    return (name.value or b"").decode()
