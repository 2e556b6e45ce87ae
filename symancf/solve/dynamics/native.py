# SPDX-License-Identifier: BSD-3-Clause
"""Steps in C: the numbers that it works on, Newton's method of small motions, many steps."""

from __future__ import annotations

import ctypes
from contextlib import nullcontext
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI

from ...assembly.plan import CODE
from ...newton import CORRECTION_TOLERANCE, FACTORS, SMALLEST_DISPLACEMENT
from ...newton.stopping import STRUCTURE
from ...output.steps import Step
from ...runtime import jit
from ...runtime.collective import reduced, share_error
from ...runtime.interruption import pending
from ...runtime.log import EVENTS
from ...runtime.petsc import NOT_FINITE, PETSc, functions, loosely
from ...runtime.structures import declared

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .newton import Newton

    Take = Callable[[float], None]

#: A question of C: what, and the number of the iteration. See `StepRequest`.
Ask = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int)

#: Sums or largest values of all ranks: place and number of values, whether the largest are wanted.
Reduce = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int32, ctypes.c_int)


class StepRequest(IntEnum):
    """What C asks of Python; answers are numbers.

    RENEW: make the tangent; 0: done. JUDGE: the reason to stop, 0 to go on. SETTLED: whether
    nothing soft is hidden. PARTS: take the forces in parts; 0: done. PRESENT: take what is a
    function of time, DRIVE: likewise of what does work; 0: done.
    """

    RENEW, JUDGE, SETTLED, PARTS, PRESENT, DRIVE = range(6)


_HERE = Path(__file__)
_STRUCTURES = declared(
    _HERE.with_name("steps.h"),
    symancf_stopping=STRUCTURE,
    symancf_ask=Ask,
    symancf_reduce=Reduce,
)

#: Functions of PETSc that C calls.
_CALLED = {
    "ksp_solve": functions.KSPSolve,
    "ksp_iterations": functions.KSPGetIterationNumber,
    "ksp_reason": functions.KSPGetConvergedReason,
    "vector_get": functions.VecGetArray,
    "vector_restore": functions.VecRestoreArray,
}

UNLIMITED = int(np.iinfo(np.int32).max)


class Native:
    """Steps of one motion in C, on this rank: `Newton` without the time that Python takes.

    Its iterations are those of `newton` with whole steps, with the same tangents, factors and test
    of the end; C asks for the tangent, and where residuals may be round-off. It makes them on one
    rank with a direct solver, where forces have no kinks (contact), Rayleigh's damping has no part
    of the stiffness, and nobody has changed SNES by options, monitors or tests of his own. The
    norms and the life of a tangent are those of Python's iterations, too.

    Attributes
    ----------
    problem, state, work : of steps.h: what stays while steps are made, what one leaves to the
        next, workspace.
    able : whether iterations are made in C.
    """

    def __init__(self, newton: Newton) -> None:
        self.newton, self.able = newton, False
        self._library = jit.load_runtime(_HERE.with_name("steps.c"), comm=newton.comm)
        self.problem, self.state, self.work = (
            _STRUCTURES[f"symancf_{name}"]() for name in ("problem", "state", "work")
        )
        self._places = ctypes.byref(self.problem), ctypes.byref(self.state)
        self._takes: Mapping[StepRequest, Take] = {}
        self._rushes = False
        self._times, self._counts = np.zeros(0), np.zeros((2, 0), np.int32)
        m, plan, n = newton.motion, newton.system.plan, len(newton.f)
        self.problem.give(
            work=ctypes.pointer(self.work),
            coordinates=n,
            order=np.where(m.second, 2, np.where(m.first, 1, 0)),
            rate_factor=m.rate_factor,
            acceleration_factor=m.acceleration_factor,
            damping=m.damping.mass,
            small=CORRECTION_TOLERANCE,
            least_motion=SMALLEST_DISPLACEMENT,
            evaluate=plan.evaluate,
            residual=CODE["residual"],
            ask=Ask(loosely(self._answers)),
            wide=np.dtype(PETSc.IntType).itemsize == 8,
            **{name: ctypes.cast(f, ctypes.c_void_p).value for name, f in _CALLED.items()},
        )
        if newton.comm.size > 1:
            self.problem.reduce = Reduce(loosely(self._reduced))
        self.state.give(state=m.state, rate=m.rate, acceleration=m.acceleration)
        base = {"base": newton.base, "base_rate": newton.base_rate}
        self.work.give(**base, base_acceleration=newton.base_acceleration)

    def call(self, name: str, *given: Any) -> int:
        """Return what a function of steps.c returns."""
        return int(getattr(self._library, f"symancf_{name}")(*self._places, *given))

    # ---- whether, and with what -----------------------------------------------------------------
    def begin(self) -> None:
        """See whether C can make the iterations, and tell it what to work on."""
        self.describe()
        newton = self.newton
        ksp, motion = newton.snes.getKSP(), newton.motion
        here = newton.comm.size == 1 and newton.numbering.size and not newton.system.changing
        direct = ksp.getType() == "preonly" and ksp.getPC().getType() in FACTORS
        helped = newton.kinked or any(aid is not newton.predicted for aid in newton.aids)
        self.problem.predicts = newton.predicted is not None
        plain = direct and not helped and not motion.damping.stiffness
        self.able = bool(here and plain and newton.is_plain())

    def describe(self) -> None:
        """Tell C of rows and unknowns, which may be others now, whoever makes the iterations."""
        newton, numbering = self.newton, self.newton.numbering
        rows, constraints = newton.balance.rows, newton.balance.constraints
        fixed, leftover = np.flatnonzero(numbering.fixed_by >= 0), newton.leftover
        self.state.factored = False
        self.problem.give(
            fixed_count=len(fixed),
            fixed=fixed,
            rows=numbering.rows,
            coordinate=numbering.coordinate_of_row,
            held_count=len(numbering.prescribed_rows),
            held=numbering.prescribed_rows,
            row_class=rows.of_row,
            row_part=rows.row_part,
            row_moves=leftover.moves,
            unit=leftover.unit,
            constrained=constraints.any,
            constraints=len(constraints.rows),
            constraint=constraints.rows,
            limits=constraints.limits,
            ksp=newton.snes.getKSP().handle,
            vector_F=newton.F.handle,
            vector_step=newton.step.handle,
        )
        n, self._old = len(newton.f), np.zeros(numbering.rows)
        self.work.give(
            f=newton.f,
            inertia=newton.motion.inertia,
            moved=np.zeros(n),
            kept=np.zeros((4, n)),
            x=newton.x.getArray(readonly=True),
            F=newton.F.getArray(readonly=True),
            step=newton.step.getArray(readonly=True),
            old=self._old,
            scratch=np.zeros(2 * max(rows.count, rows.parts, 1)),
        )

    def prepare(self) -> None:
        """Take what may have changed since the last call."""
        newton, test = self.newton, self.newton.balance.data
        test.rtol, _, test.stol, most = newton.snes.getTolerances()
        exact = newton.snes.getKSP().getPC().getType() in FACTORS
        self.problem.give(most=min(most, UNLIMITED), exact=exact)
        self.state.give(pause=False, looked=False)
        newton.error = None
        newton.leftover.begin()
        self._choose_plans()

    def _choose_plans(self) -> None:
        self.problem.plan = self.newton.system.plan.structure
        self.problem.mass = self.newton.motion.mass.structure

    # ---- solutions ------------------------------------------------------------------------------
    def solve(self) -> int:
        """Solve the equations of a step from the present state; return PETSc's reason.

        Raises
        ------
        ConvergenceError : the linear solver has failed with an error.
        Exception : what was raised on the way.
        """
        self.prepare()
        self.newton.begin_prediction()
        with EVENTS["steps"]:
            reason = self.call("newton")
        self.require()
        if reason > 0:
            self.newton.end_prediction()
        return reason

    def require(self) -> None:
        """Raise what went wrong in C; note what the last solution took."""
        newton, state = self.newton, self.state
        newton.iterations, newton.linear_iterations = state.iterations, state.linear_iterations
        for thrown in (newton.error, newton.linear.error):
            share_error(newton.comm, thrown)
        if state.error < 0:
            raise MemoryError("assembly: no memory for the scratch of one batch")
        if state.error:
            error = PETSc.Error(state.error)
            raise newton.unsolved(error) from error

    def several(
        self,
        end: float,
        h: float,
        wanted: int,
        calm: int,
        takes: Mapping[StepRequest, Take],
        seconds: float = 0.1,
    ) -> tuple[int, list[Step]]:
        """Make at most `wanted` steps of length h, none that ends within h/5 of `end`.

        Returns PETSc's reason, not above 0 where the motion stands before a step that could not
        be made, and the steps. What was raised is kept: see `require`.

        Parameters
        ----------
        calm : steps yet for which accelerations are not extrapolated; see `GeneralizedAlpha`.
        takes : by `PRESENT` and `DRIVE`, what takes functions of time at the end of a step; none
            where nothing is one.
        seconds : that it takes, and little more: somebody may want to interrupt.
        """
        problem, state, system = self.problem, self.state, self.newton.system
        if len(self._times) < wanted:
            self._times, self._counts = np.zeros(wanted), np.zeros((2, wanted), np.int32)
            of_steps = dict(zip(("step_iterations", "step_linear"), self._counts, strict=True))
            problem.give(times=self._times, **of_steps)
        self.prepare()
        problem.give(h=h, end=end, seconds=seconds)
        problem.give(timed=StepRequest.PRESENT in takes, driven=StepRequest.DRIVE in takes)
        state.give(time=system.time, calm=calm)
        self._takes, self._rushes = takes, True
        with EVENTS["steps"]:
            reason = self.call("advance", wanted)
        self._rushes, system.time = False, state.time
        if reason <= 0 and state.looked:
            self.newton.balance.recall(self._balance_state)
        columns = (part[: state.made].tolist() for part in (self._times, *self._counts))
        return reason, [Step(t, k, linear, {}) for t, k, linear in zip(*columns, strict=True)]

    # ---- what C asks ----------------------------------------------------------------------------
    def _reduced(self, place: int, count: int, largest: int) -> None:
        """Write sums or largest values of all ranks in the place of this rank's (collective)."""
        room: Any = (ctypes.c_double * count).from_address(place)
        values = np.frombuffer(room)
        try:
            values[:] = reduced(self.newton.comm, values, MPI.MAX if largest else MPI.SUM)
        except BaseException as error:
            self.newton.error = self.newton.error or error
            values[:] = np.nan

    def _answers(self, what: int, iteration: int) -> int:
        """Answer a question of C, see `StepRequest`; errors are kept, and end the solution."""
        newton, answer = self.newton, 0
        if self._rushes and what != StepRequest.PRESENT:
            newton.system.time = self.state.time
        try:
            if what == StepRequest.RENEW:
                self._renew()
            elif what == StepRequest.PARTS:
                newton.balance.split()
            elif what in self._takes:
                self._takes[StepRequest(what)](self.state.time)
            else:
                answer = self._judged(what, iteration)
            self._choose_plans()
            self.state.pause = bool(newton.leftover.warning) or pending()
        except BaseException as error:
            newton.error = newton.error or error
            answer = NOT_FINITE if what == StepRequest.JUDGE else 1
        return answer

    def _renew(self) -> None:
        """Make the tangent; let C solve with its factors, where they are on a fixed pattern."""
        newton, ksp = self.newton, self.newton.snes.getKSP()
        self.state.factored = False
        with nullcontext() if newton.predicted is None else newton.predicted.tangent():
            newton.renew(ksp)
        ksp.setOperators(newton.J, newton.J)
        fixed = newton.preconditioner.fixed
        if fixed is not None and fixed.factored:
            solve, factor = fixed.solution
            self.problem.give(factor_solve=solve, factor=factor)
            self.state.factored = True

    def _judged(self, what: int, iteration: int) -> int:
        """Return the reason to stop, or whether nothing soft is hidden."""
        newton = self.newton
        if not self.state.looked:
            self.state.looked, self._balance_state = 1, newton.balance.known()
            newton.leftover.begin()
        rows, x = newton.F.getArray(readonly=True), newton.x.getArray(readonly=True)
        if what == StepRequest.JUDGE:
            return newton.judge(rows, x, self._old)
        return int(newton.settled(rows, x, x - self._old if iteration else None))
