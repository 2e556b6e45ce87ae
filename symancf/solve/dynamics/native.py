# SPDX-License-Identifier: BSD-3-Clause
"""Steps in C: the numbers that it works on, Newton's method of small motions, many steps."""

from __future__ import annotations

import ctypes
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from mpi4py import MPI

from ...arrays import address, pointer
from ...assembly.assembler import CODE
from ...assembly.matrix import Matrix
from ...assembly.revisions import REVISIONS, Verdict
from ...newton import (
    CORRECTION_TOLERANCE,
    FACTORS,
    PREDICTION,
    SMALLEST_DISPLACEMENT,
    PartBacktracking,
)
from ...newton.backtracking import (
    CORRECTION_RATIO,
    KINK_HALVINGS,
    RECENT_ITERATIONS,
    STANDSTILL_TOLERANCE,
)
from ...newton.norms import ROUND_OFF
from ...newton.stopping import STRUCTURE
from ...output.steps import Step
from ...runtime import jit
from ...runtime.collective import reduced, share_error
from ...runtime.interruption import pending
from ...runtime.log import EVENTS
from ...runtime.petsc import NOT_FINITE, PETSc, functions, loosely
from ...runtime.structures import declared, numbers_of
from .remembering import Remembering

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from ...arrays import Array
    from ...assembly.assembler import Assembler
    from ...assembly.discrete import DiscreteSystem
    from ...assembly.revisions import Standing
    from ...assembly.structures import Terms
    from ...errors import ConvergenceError
    from ...newton import Aid, AidRow, Constraints, Leftover, RowNorms, StressPrediction
    from ..preconditioner import Preconditioner
    from ..residual import LinearResidual
    from .motion import EquationsOfMotion

    Take = Callable[[float, int], None]

#: A question of C: what, and the number of the iteration or of steps. See `StepRequest`.
Ask = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int)

#: Sums or largest values of all ranks: place and number of values, whether the largest are wanted.
Reduce = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int32, ctypes.c_int)


class StepRequest(IntEnum):
    """What C asks of Python; answers are numbers.

    RENEW: make the tangent; 0: done. JUDGE: the reason to stop, 0 to go on. SETTLED: whether
    nothing soft is hidden. PARTS: take the forces in parts; 0: done. PRESENT: sample functions of
    time for the next steps, of which there are so many at most; DRIVE: take those of what does
    work; 0: done. REVIEW: what terms think of the solution of a step, a `Verdict`; where that is
    neither STANDS nor AGAIN Python makes the step. SOLVE: call the linear solver; PETSc's error.
    RETURNED: no question, C has returned.
    """

    RENEW, JUDGE, SETTLED, PARTS, PRESENT, DRIVE, REVIEW, SOLVE = range(8)
    RETURNED = -1


_HERE = Path(__file__)
_PARTS = "contact", "estimates", "sections", "sweep", "tangent", "steps"
STRUCTURES = declared(
    *(_HERE.with_name(f"{name}.h") for name in _PARTS),
    symancf_prediction=PREDICTION,
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

_OF_MATRIX = {
    "begin": functions.MatAssemblyBegin,
    "end": functions.MatAssemblyEnd,
    "state_get": functions.PetscObjectStateGet,
    "state_set": functions.PetscObjectStateSet,
}

#: Preconditioners that see by PETSc's number of a matrix's state that it is another.
PETSC_FACTORS = "lu", "cholesky"
UNLIMITED = int(np.iinfo(np.int32).max)


class Measures(Protocol):
    """What `Native` takes of `Balance`, see there."""

    rows: RowNorms
    constraints: Constraints
    data: Any

    def split(self) -> None:
        """Take the forces at the end of a step in parts."""


class Iterations(Protocol):
    """What `Native` takes of `Newton`: vectors that both work on, and answers to C's questions."""

    comm: MPI.Comm
    snes: PETSc.SNES
    J: PETSc.Mat
    x: PETSc.Vec
    F: PETSc.Vec
    step: PETSc.Vec
    f: Array
    base: Array
    base_rate: Array
    base_acceleration: Array
    motion: EquationsOfMotion
    system: DiscreteSystem
    leftover: Leftover
    linear: LinearResidual
    preconditioner: Preconditioner
    aids: Sequence[Aid]
    uses: Mapping[str, AidRow]
    chooses: bool
    iterations: int
    linear_iterations: int
    step_of_tangent: float
    predicted: StressPrediction | None
    error: BaseException | None

    @property
    def balance(self) -> Measures:
        """Measures of residuals."""

    def is_plain(self) -> bool:
        """Tell whether steps are whole and unseen."""

    def renew(self, ksp: PETSc.KSP) -> None:
        """Make the tangent at the present state."""

    def judge(self, rows: Array, x: Array, old: Array) -> int:
        """Return PETSc's reason to stop, 0 to go on."""

    def settled(self, rows: Array, x: Array, step: Array | None) -> bool:
        """Tell whether nothing soft is hidden."""

    def unsolved(self, error: PETSc.Error) -> ConvergenceError:
        """Return what to tell where the tangent has no factors."""


class Native:
    """Steps of one motion in C, on one rank: `Newton` without the time that Python takes.

    Its iterations are those of `newton` with whole steps, with the same tangents, factors and test
    of the end; C asks for the tangent, and where residuals may be round-off. It makes them where
    rank 0 has all unknowns: others, which have none, answer the same questions of C and take the
    numbers that are not of unknowns from rank 0. So it is
    with a direct solver, where no aid but `PartBacktracking` helps, lists of entities stay
    (contact with rigid shapes, not of deformable facets), Rayleigh's damping has no part of the
    stiffness, and nobody has changed SNES by options, monitors or tests of his own. The norms and
    the life of a tangent are those of Python's iterations, too.

    Attributes
    ----------
    problem, state, work : of steps.h: what stays while steps are made, what one leaves to the
        next, workspace.
    kinks, estimates, sections : of Newton steps which are cut, of round-off, of rods.
    able : whether iterations are made in C.
    times : of the steps of the last call of `several`, and more.
    work_plans : of drives and of dampers, whose work C adds up; None: there are none.
    """

    def __init__(self, newton: Iterations) -> None:
        self.newton, self.able = newton, False
        self._library = jit.load_runtime(_HERE.with_name("steps.c"), comm=newton.comm)
        self.problem, self.state, self.work, self.kinks = (
            STRUCTURES[f"symancf_{name}"]() for name in ("problem", "state", "work", "kinks")
        )
        self.tangent, self.sections, self.estimates = (
            STRUCTURES[f"symancf_{name}"]() for name in ("tangent_values", "sections", "estimates")
        )
        self._places = ctypes.byref(self.problem), ctypes.byref(self.state)
        self._takes: Mapping[StepRequest, Take] = {}
        self._rushes = self._led = False  # within many steps; within `_run` on several ranks
        self._remembering: Remembering | None = None
        self._reviewed: tuple[float, Sequence[Array]] = (np.inf, ())  # step's begin, variables
        self.work_plans: Sequence[Assembler | None] = ()
        self.times, self._counts = np.zeros(0), np.zeros((2, 0), np.int32)
        m, assembler, n = newton.motion, newton.system.assembler, len(newton.f)
        self.problem.give(
            work=ctypes.pointer(self.work),
            coordinates=n,
            order=np.where(m.second, 2, np.where(m.first, 1, 0)),
            rate_factor=m.rate_factor,
            acceleration_factor=m.acceleration_factor,
            damping=m.damping.mass,
            small=CORRECTION_TOLERANCE,
            least_motion=SMALLEST_DISPLACEMENT,
            evaluate=assembler.evaluate,
            residual=CODE["residual"],
            tangent=CODE["tangent"],
            update=CODE["update"],
            pull=CODE["pull"],
            reviews=REVISIONS,
            ask=Ask(loosely(self._answers)),
            wide=np.dtype(PETSc.IntType).itemsize == 8,
            **{name: ctypes.cast(f, ctypes.c_void_p).value for name, f in _CALLED.items()},
        )
        if newton.comm.size > 1:
            self._reduce = Reduce(loosely(self._reduced))
            self.problem.give(reduce=self._reduce, ksp_solve=None)
        self.state.give(state=m.state, rate=m.rate, acceleration=m.acceleration)
        base = {"base": newton.base, "base_rate": newton.base_rate}
        self.work.give(**base, base_acceleration=newton.base_acceleration)
        parts = {"kinks": self.kinks, "tangent": self.tangent, "sections": self.sections}
        parts["estimates"] = self.estimates
        self.estimates.product = CODE["product"]
        self._arrangement: tuple[object, ...] = ()
        self._roles: list[Terms] | None = None
        self.work.give(**{name: ctypes.pointer(part) for name, part in parts.items()})
        self.tangent.give(
            **{name: ctypes.cast(f, ctypes.c_void_p).value for name, f in _OF_MATRIX.items()}
        )
        if newton.comm.size > 1:  # an assembly asks all ranks
            self.tangent.give(begin=None, end=None)
        self._inertia_of = 0.0
        self.kinks.give(
            halvings=KINK_HALVINGS,
            recent=RECENT_ITERATIONS,
            smaller=CORRECTION_RATIO,
            standstill=STANDSTILL_TOLERANCE,
        )

    def call(self, name: str, *arguments: Any) -> int:
        """Return what a function of steps.c returns."""
        return int(getattr(self._library, f"symancf_{name}")(*self._places, *arguments))

    # ---- rank 0 of several, and the others ------------------------------------------------------
    def _run(self, name: str, *arguments: Any) -> int:
        """Return what a function of steps.c returns on rank 0, which has all unknowns (collective).

        Other ranks answer its questions, too.
        """
        comm = self.newton.comm
        if comm.size == 1:
            return self.call(name, *arguments)
        self._led, self._numbers = True, self._alike()
        if comm.rank == 0:
            self.problem.reduce = Reduce()
            answer = self.call(name, *arguments)
            self.problem.reduce = self._reduce
            self._tell(StepRequest.RETURNED, answer)
        else:
            what, answer = self._tell()
            while what != StepRequest.RETURNED:
                self._answered(what, answer)
                what, answer = self._tell()
        self._led = False
        return answer

    def _alike(self) -> list[NDArray[np.uint8]]:
        """Return the numbers that belong to no unknowns, as bytes in place."""
        data = self.newton.balance.data
        kept = numbers_of(self.state) + numbers_of(data) + numbers_of(self.sections, "turn")
        for structure, names in (
            (self.state, ("ended", "in_parts")),
            (data, data.kinds),
            (self.work, ("violations", "sizes", "forces", "weight", "lengths")),
        ):
            arrays = vars(structure)["_arrays"]
            kept += [arrays[name].reshape(-1).view(np.uint8) for name in names]
        return kept

    def _tell(self, what: int = 0, number: int = 0) -> tuple[int, int]:
        """Return on every rank what rank 0 asks; take the numbers that it has now (collective)."""
        comm, J = self.newton.comm, self.newton.J
        head = np.array([what, number, J.stateGet()])
        every = np.concatenate([head.view(np.uint8), *self._numbers])
        comm.Bcast(every)
        if comm.rank:
            ends = np.cumsum([head.nbytes, *map(len, self._numbers)])
            for place, part in zip(self._numbers, np.split(every, ends)[1:], strict=False):
                place[:] = part
            what, number, state = every[: head.nbytes].view(np.int64).tolist()
            J.stateSet(state)
        return what, number

    # ---- whether, and with what -----------------------------------------------------------------
    def begin(self) -> None:
        """See whether C can make the iterations, and tell it what to work on."""
        self.describe()
        newton = self.newton
        ksp, motion = newton.snes.getKSP(), newton.motion
        numbering = newton.system.numbering
        here = numbering.topology.on_one_rank and numbering.size and not newton.system.changing
        direct = ksp.getType() == "preonly" and ksp.getPC().getType() in FACTORS
        cuts = any(isinstance(aid, PartBacktracking) for aid in newton.aids)
        predicts = newton.predicted is not None
        self.kinks.give(cuts=cuts)
        others = [
            aid
            for aid in newton.aids
            if not isinstance(aid, PartBacktracking) and aid is not newton.predicted
        ]
        plain = direct and not (others or (cuts and predicts)) and not motion.damping.stiffness
        self.able = bool(here and plain and newton.is_plain())
        if newton.comm.size > 1:
            self.able = bool(newton.comm.allreduce(self.able, MPI.LAND))

    def describe(self) -> None:
        """Tell C of rows and unknowns, which may be others now, whoever makes the iterations."""
        newton, numbering = self.newton, self.newton.system.numbering
        rows, constraints = newton.balance.rows, newton.balance.constraints
        fixed, leftover = np.flatnonzero(numbering.fixed_by >= 0), newton.leftover
        self.state.factored = False
        self.problem.give(
            fixed_count=len(fixed),
            fixed=fixed,
            rows=numbering.rows,
            coordinate=numbering.coordinate_of_row,
            prescribed_count=len(numbering.prescribed_rows),
            prescribed=numbering.prescribed_rows,
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
        self._inertia_of = 0.0
        if isinstance(matrix := newton.motion.storage, Matrix):  # else C makes no tangents
            self.tangent.give(
                entries=matrix.nonzeros,
                value=matrix.diagonal,
                prescribed=len(matrix.prescribed),
                place=matrix.prescribed,
                partner=matrix.partner,
                matrix=matrix.mat.handle,
            )
        self.tangent.give(
            gradients=len(constraints.places[0]),
            gradient=constraints.places[0],
            of=constraints.row[0],
            length_squared=constraints.weight[0],
            round_off=constraints.round_off,
            others=np.zeros(len(constraints.rows)),
            limits=constraints.limits,
        )
        n, self._old = len(newton.f), np.zeros(numbering.rows)
        self.work.give(
            f=newton.f,
            inertia=newton.motion.inertia,
            moved=np.zeros(n),
            begin_state=np.zeros((4, n)),
            x=newton.x.getArray(readonly=True),
            F=newton.F.getArray(readonly=True),
            step=newton.step.getArray(readonly=True),
            old=self._old,
            scratch=np.zeros(2 * max(rows.count, rows.parts, 1)),
        )
        vectors = dict(zip(("change", "answer", "inertial"), np.zeros((3, n)), strict=True))
        self.estimates.give(rows=np.zeros(numbering.rows), **vectors)
        of_rows = ("start", "before", "direction", "relative")
        of_parts = ("share", "best", "least", "length", "left")
        self.kinks.give(
            **{name: np.zeros(numbering.rows) for name in of_rows},
            **{name: np.zeros(max(rows.parts, 1)) for name in of_parts},
            **{name: np.zeros(max(rows.parts, 1), np.uint8) for name in ("moving", "wrong")},
            trail=np.zeros((RECENT_ITERATIONS, max(rows.parts, 1))),
            norms=np.zeros(max(rows.count, 1)),
            seen=np.zeros((6, 3 * numbering.rows + 2 * n)) if newton.chooses else np.zeros(0),
            chosen=-1,
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
        if newton.step_of_tangent != self._inertia_of:
            self.tangent.ready = False
        if self.newton.predicted is not None:
            self.newton.predicted.prepare()
        self._choose_assemblers()

    def _choose_assemblers(self) -> None:
        newton, assembler = self.newton, self.newton.system.assembler
        self.problem.assembler = assembler.structure
        self.problem.mass = newton.motion.mass.structure
        if self._arrangement != assembler.arrangement:
            self._arrangement, self._roles = assembler.arrangement, assembler.by_role()
            roles = [ctypes.addressof(terms) for terms in self._roles or ()]
            self._role_addresses = np.array(roles, np.int64)
            self.estimates.give(roles=len(roles), role=address(self._role_addresses))
        able = self.able and "leftover" in newton.uses
        self.estimates.ready = able and self._roles is not None

    def estimates_too(self) -> bool:
        """Tell whether C can take forces in parts and estimate round-off at the present state."""
        if self.able:
            self._choose_assemblers()
        return bool(self.able and self.estimates.ready)

    # ---- solutions ------------------------------------------------------------------------------
    def choose_start(self, before: Array, again: bool) -> None:
        """Begin a step from the start that leads nearest, or, `again`, second nearest.

        As `Newton.nearest` does. `before` : local vector of where the step begins.

        Raises
        ------
        Exception : what was raised on the way.
        """
        self.prepare()
        self.call("prescribe")
        self._run("choose_start", pointer(before), again)
        self.require()

    def solve(self) -> int:
        """Solve the equations of a step from the present state; return PETSc's reason.

        Raises
        ------
        ConvergenceError : the linear solver has failed with an error.
        Exception : what was raised on the way.
        """
        self.prepare()
        with EVENTS["steps"]:
            reason = self._run("newton")
        self.require()
        return reason

    def require(self) -> None:
        """Raise what went wrong in C; note what the last solution took."""
        newton, state = self.newton, self.state
        newton.iterations, newton.linear_iterations = state.iterations, state.linear_iterations
        for thrown in (newton.error, newton.linear.callbacks.error):
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
        starts: bool = False,
        seconds: float = 0.25,
    ) -> tuple[int, list[Step]]:
        """Make at most `wanted` steps of length h, none that ends within h/5 of `end`.

        Returns PETSc's reason, not above 0 where the motion stands before a step that could not
        be made, and the steps. What was raised is kept: see `require`.

        Parameters
        ----------
        calm : steps yet for which accelerations are not extrapolated; see `GeneralizedAlpha`.
        takes : by `PRESENT` and `DRIVE`, what takes functions of time from the end of a step on;
            none where nothing is one.
        starts : the motion starts with them.
        seconds : that it takes, and little more: somebody may want to interrupt.
        """
        problem, state, newton = self.problem, self.state, self.newton
        system = newton.system
        if len(self.times) < wanted:
            self.times, self._counts = np.zeros(wanted), np.zeros((2, wanted), np.int32)
            of_steps = dict(zip(("step_iterations", "step_linear"), self._counts, strict=True))
            problem.give(times=self.times, **of_steps)
        self.prepare()
        problem.give(h=h, end=end, seconds=seconds, chooses=newton.chooses)
        self._remembering, self._reviewed = None, (np.inf, ())
        problem.give(memories=0, lengths=0)
        if system.reviews:  # which may have changed something
            system.update(system.time)
        problem.starts = system.reviews and starts
        standing = self._take_standing()
        if system.memory:
            self._remembering = Remembering(system, STRUCTURES["symancf_memory"], standing)
            problem.give(**self._remembering.lend([system.assembler, *self.work_plans]))
        problem.give(timed=StepRequest.PRESENT in takes, driven=StepRequest.DRIVE in takes)
        problem.give(timetable_rows=0)
        state.give(time=system.time, calm=calm, timetable_row=0, kept_now=0)
        self._takes, self._rushes = takes, True
        with EVENTS["steps"]:
            reason = self._run("advance", wanted)
        self._rushes, system.time = False, state.time
        if reason <= 0 or state.declined:
            self._forget_step()
        if self._remembering is not None:
            self._remembering.end(state.begun if state.steps_done else None, state.time)
        parts = [part[: state.steps_done] for part in (self.times, *self._counts)]
        if newton.comm.size > 1:
            for part in parts:
                newton.comm.Bcast(part)
        columns = (part.tolist() for part in parts)
        return reason, [Step(t, k, linear, {}) for t, k, linear in zip(*columns, strict=True)]

    def _take_standing(self) -> Mapping[str, Standing]:
        """Tell C when solutions stand without a review; return that of forms that remember."""
        system = self.newton.system
        found = system.standing()
        forms, bounds = found or ({}, [])
        coordinates = [bound.coordinate for bound in bounds]
        least = [np.full(len(bound.coordinate), bound.least) for bound in bounds]
        self.problem.give(
            reviewed=found is None or bool(forms and not system.memory),
            bounded=sum(map(len, coordinates)),
            bounded_coordinate=np.concatenate([np.zeros(0, np.int32), *coordinates]),
            bound=np.concatenate([np.zeros(0), *least]),
        )
        return forms

    def _forget_step(self) -> None:
        """Take back what the last step, which was not made, has told."""
        newton, (begun, variables) = self.newton, self._reviewed
        if begun == self.state.time:
            pairs = zip(newton.system.state_variables, variables, strict=True)
            for variable, value in pairs:
                variable.value = value

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
        if self._led:
            self._tell(what, iteration)
        return self._answered(what, iteration)

    def _answered(self, what: int, iteration: int) -> int:
        """Answer a question of C on this rank, or on all ranks one of rank 0's."""
        newton, answer, thrown = self.newton, 0, None
        if self._rushes and what != StepRequest.PRESENT:
            newton.system.time = self.state.time
        try:
            answer = self._answer_of(what, iteration)
            self._choose_assemblers()
            self.state.pause = bool(newton.leftover.warning) or pending()
        except BaseException as error:
            thrown = error
        try:
            if self._led:
                share_error(newton.comm, thrown)
        except BaseException as error:
            thrown = error
        if thrown is not None:
            newton.error = newton.error or thrown
            answer = NOT_FINITE if what == StepRequest.JUDGE else 1
        return answer

    def _answer_of(self, what: int, iteration: int) -> int:
        newton = self.newton
        if what == StepRequest.RENEW:
            self._renew()
        elif what == StepRequest.PARTS:
            newton.balance.split()
        elif what == StepRequest.SOLVE:
            return self._solve_linear()
        elif what in self._takes:
            self._takes[StepRequest(what)](self.state.time, iteration)
        elif what == StepRequest.REVIEW:
            return self._review()
        else:
            return self._judged(what, iteration)
        return 0

    def _solve_linear(self) -> int:
        """Call the linear solver on all ranks; return PETSc's error."""
        vectors = self.newton.F, self.newton.step
        for vector in vectors:  # C has written what PETSc may know norms of
            vector.stateIncrease()
        handles = (ctypes.c_void_p(vector.handle) for vector in vectors)
        return int(functions.KSPSolve(ctypes.c_void_p(self.newton.snes.getKSP().handle), *handles))

    def _review(self) -> Verdict:
        """Let all terms judge the present solution; see `StepRequest`."""
        system, state = self.newton.system, self.state
        variables = system.variables
        if self._reviewed[0] != state.begun:
            self._reviewed = state.begun, variables
        if self._remembering is not None:
            self._remembering.take(state.begun, system.time, stepping=True)
        verdict = system.review(system.time).verdict
        if not all(map(np.array_equal, variables, system.variables)):
            if verdict is Verdict.AGAIN:
                self.state.tangent.stale = True  # it is that of other laws
            for assembler in (system.assembler, *self.work_plans):
                if assembler is not None:
                    assembler.update(system.time)
            if self.problem.bounded:
                self._take_standing()
        return verdict

    def _renew(self) -> None:
        """Make the tangent; C makes the next ones while steps have this length.

        Kernels see what C predicts of stresses.
        """
        self.state.factored, newton = False, self.newton
        ksp, motion = newton.snes.getKSP(), newton.motion
        if self._remembering is not None and newton.preconditioner.rows is not None:
            self._remembering.take(self.state.begun, newton.system.time, stepping=True)
        newton.renew(ksp)
        ksp.setOperators(newton.J, newton.J)
        fixed = newton.preconditioner.fixed
        if fixed is not None and fixed.factored and fixed.factor is not None:
            renew, solve = fixed.factor.functions
            data = ctypes.addressof(fixed.factor.data)
            self.problem.give(factor=data, factor_renew=renew, factor_solve=solve)
            self.state.factored = True
        seen = self.state.factored or ksp.getPC().getType() in PETSC_FACTORS
        ready = seen and not motion.mass.changes
        vanishing = ROUND_OFF * newton.system.stiffness * newton.balance.constraints.size
        self.tangent.give(ready=ready, vanishing=vanishing, inertia=motion.mass_part)
        self._inertia_of = newton.step_of_tangent

    def _judged(self, what: int, iteration: int) -> int:
        """Return the reason to stop, or whether nothing soft is hidden."""
        newton = self.newton
        if not self.state.looked:
            self.state.looked = 1
            newton.leftover.begin()
        rows, x = newton.F.getArray(readonly=True), newton.x.getArray(readonly=True)
        if what == StepRequest.JUDGE:
            return newton.judge(rows, x, self._old)
        return int(newton.settled(rows, x, x - self._old if iteration else None))
