# SPDX-License-Identifier: BSD-3-Clause
"""One equilibrium by Newton's method."""

from __future__ import annotations

import math
import time as clock
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...arrays import Array
from ...assembly.protocol import Chooses, having
from ...assembly.revisions import REVISIONS, Review, Verdict
from ...assembly.vectors import Vectors
from ...errors import ConvergenceError, SymancfError
from ...newton import (
    AIDS,
    Aid,
    AidRow,
    Leftover,
    LineSearch,
    MendedSteps,
    PartBacktracking,
    PredictedStresses,
    wanted,
)
from ...output.steps import Step, by_name
from ...runtime.collective import share_error, together
from ...runtime.interruption import Interruption
from ...runtime.options import SolverOptions, complaint
from ...runtime.petsc import PETSc, collect, loosely
from ...runtime.progress import Progress
from ..contradiction import require_redundant
from ..preconditioner import bordered
from ..rigid import attach_rigid_modes
from ..solver import SMALL_SYSTEM, configure, reason_name
from .branch import JUMPED, Branch
from .convergence import Convergence
from .diagnosis import warn_unproved
from .equations import StaticEquations
from .krylov import KrylovSolver
from .linear import LinearSolver
from .load_jumps import LoadJumps
from .native import NativeIterations
from .normals import MAX_ROUGH_SOLUTIONS, Normals
from .rigid_motions import require_pressed, require_supported, supported
from .stability import Stability
from .starts import LoadChange, Path, parabola, starts

if TYPE_CHECKING:
    from ...assembly.discrete import DiscreteSystem
    from ...assembly.form import Form
    from ...assembly.half import Half
    from ...assembly.matrix import Matrix
    from ...output.history import History

Monitor = Callable[[Step], None]
REASONS = PETSc.SNES.ConvergedReason


class Accuracy(NamedTuple):
    """What a solution may leave: of the forces, and of the displacements, see `Leftover`."""

    residual: float
    correction: float


FULL_ACCURACY = Accuracy(0.0, 0.0)
LOOSE_ACCURACY = Accuracy(1e-4, 1e-4)  # what such a solution changes, a better one changes as well
ROUGH_ACCURACY = Accuracy(0.5, math.inf)  # while normals are held


@dataclass
class Attempt:
    """A step that was tried: how it ended, and what that says of the next one.

    Attributes
    ----------
    reason : PETSc's, of the last solution.
    guessed : it began on the parabola through the last equilibria.
    iterations, linear : of Newton's method and of the linear solver, in all solutions.
    hardest : most iterations of one solution.
    review : what terms say of the last solution.
    """

    reason: int = 0
    guessed: bool = False
    iterations: int = 0
    linear: int = 0
    hardest: int = 0
    review: Review = Review(Verdict.STANDS)  # noqa: RUF009

    @property
    def refused_by(self) -> Sequence[str]:
        """Terms to which the last solution is not good enough."""
        return self.review.names if self.review.verdict > Verdict.LONG else ()

    @property
    def singular(self) -> bool:
        """Whether the linear solver failed at the start, as it would in any smaller step."""
        failed = self.reason == REASONS.DIVERGED_LINEAR_SOLVE
        return failed and not self.iterations and not self.guessed


class EquilibriumSolver:
    """Solve residual(q, t) = 0 at one pseudo-time t, from a state near by.

    What steps of load (`StaticProblem.solve`) and paths (`StaticProblem.follow`) are made of.

    Parameters
    ----------
    system : its `state` is the starting point and holds the solution afterwards.
    history : takes what `record` is given.
    options : of PETSc, in force while the solver works.
    check_held : look for rigid motions left free before the first solution.

    Attributes
    ----------
    equations, vectors : `StaticEquations`, from `prepare` on.
    snes : PETSc's solver, likewise.
    convergence, linear, branch, stability, sudden : see their classes.
    krylov : the linear solver, where it is not a direct one.
    native : makes iterations in C, where it can.
    check_held : whether that has yet to be looked for.
    uses : rows of the aids that this problem uses, likewise.
    ready : `prepare` has been called, and nothing since has spoilt it.
    restored : the scale of the multipliers is that of a checkpoint.
    """

    def __init__(
        self, system: DiscreteSystem, history: History, options: SolverOptions, check_held: bool
    ) -> None:
        self.system, self.numbering = system, system.numbering
        self.history: History = history
        self.options, self.check_held = options, check_held
        self.interruption = Interruption(system.comm, history.reached)
        self.progress = Progress(system.comm, options)
        self.monitors: list[Monitor] = []
        self.ready = self.restored = False
        self.krylov: KrylovSolver | None = None
        self.native: NativeIterations | None = None

    def prepare(self) -> None:
        """Make the solver of PETSc and the measures of the system as it is (collective).

        They are those of the present prescribed values; the state stays.
        """
        system, numbering = self.system, self.numbering
        before, fixed = system.state.copy(), numbering.fixed_by >= 0
        collect(system.comm)  # what is left of earlier problems
        system.prescribe(system.time)
        system.register(self)
        self.vectors: Vectors = Vectors(numbering)
        self.convergence: Convergence = Convergence(system)
        self.sudden = LoadJumps(system)
        unsure = self.check_held and not supported(system)
        bound = any(block.is_equation for block in numbering.blocks)
        if unsure or (bound and not self.restored):
            by_halves = not unsure and system.numbering.size > SMALL_SYSTEM and bordered(system)
            self._scale_multipliers((system.half if by_halves else None) or system.matrix)
        if not self.restored:
            system.settle()
        self.choosing = having(map(system.binding, system.terms), Chooses)
        for term in self.choosing:
            system.replace(term.choose(system, self.options.choice))
        self._make_solver()
        self.stability: Stability = Stability(system, self.linear, self.native)
        if unsure:
            if bound:  # the tangent has them with the scale of before
                self._assemble(system.matrix)
            require_supported(system)
        if self.check_held:
            require_pressed(system)
            self.check_held = False
        system.state[fixed] = before[fixed]
        self.ready = True

    def _make_solver(self) -> None:
        """Make the equations, the linear solver and the aids of Newton's method (collective).

        SNES has the monitors that a program has given to the last one.
        """
        system, watching = self.system, None
        if "equations" in vars(self):
            watching = self.snes.getMonitor()
        self.equations = equations = StaticEquations(
            system,
            self.vectors,
            self.convergence,
            self.history,
            self.interruption,
            self.progress,
        )
        self.snes: PETSc.SNES = equations.snes
        for function, arguments, keywords in watching or ():
            self.snes.setMonitor(function, arguments, keywords)
        configure(self.snes, system, self.options)
        equations.configured(self.options)
        ksp = self.snes.getKSP()
        arguments_of_solver = system, ksp, self.vectors, self.history.seconds, self.options
        self.krylov = None
        if ksp.getType() != PETSc.KSP.Type.PREONLY:
            self.krylov = KrylovSolver(*arguments_of_solver, self.convergence.rows, self._switched)
        self.linear: LinearSolver = self.krylov or LinearSolver(*arguments_of_solver)
        equations.linear = self.linear
        self.branch = Branch(system, self.vectors, self.linear, ksp)
        self.uses = wanted(self.options) if self.options.choice("aids") else AIDS
        self._make_aids(self.uses)
        aids = [row.make(equations) for row in self.uses.values() if row.make is not None]
        equations.aids = [*equations.aids, *aids]
        fixed, self.native = self.linear.fixed, None
        if fixed is not None and NativeIterations.suit(equations, self.predicted):
            self.native = NativeIterations(equations, fixed, self.predicted)
        self._operate()

    def _make_aids(self, uses: Mapping[str, AidRow]) -> None:
        """Make the aids that apply, of those that are wanted (collective)."""
        system, equations, test = self.system, self.equations, self.convergence
        kinked = bool(self.branch.kinked.any())
        leftover = Leftover(system, test.rows, self.snes.getKSP(), equations.x)
        test.leftover = leftover if "leftover" in uses else None
        self.starts = starts(self, uses)
        aids: list[Aid] = []
        predicted = PredictedStresses(system)
        self.predicted = predicted if "predicted" in uses and predicted.some else None
        if self.predicted is not None:
            aids.append(self.predicted)
        attempt = loosely(equations.attempt)
        if "mended" in uses and self.krylov is not None:
            aids.append(MendedSteps(equations, self.krylov, attempt))
            if self.snes.getType() == PETSc.SNES.Type.NEWTONLS:
                self.snes.setMaxKSPFailures(int(self.snes.getTolerances()[3]) + 1)  # mended
        aids += self._searches(attempt) if "search" in uses else []
        if "backtracking" in uses and (kinked or test.rows.parts > 1):
            acts = partial(self.branch.touches, system.state)
            own = leftover if kinked else None
            aids.append(PartBacktracking(equations, test, attempt, own, acts=acts))
        equations.aids = aids
        reviewed = "normals" in uses and system.reviews
        self.normals = Normals(system) if reviewed else None

    def _searches(self, attempt: Callable[[PETSc.Vec, PETSc.Vec], int]) -> list[Aid]:
        """Return a line search where cells remember, and all forces of a step have a potential.

        Not where their stresses are predicted: a slender body that turns needs full steps.
        """
        system, predicts = self.system, self.predicted.predicts if self.predicted else set()
        forms = (f for f in system.memory.forms if system.assembler.number(f) not in predicts)
        remember = any(form.kernel.tabulated for form in forms)
        if remember and all(form.kernel.symmetric for form in system.forms):
            return [LineSearch(self.equations, attempt)]
        return []

    def _operate(self) -> None:
        """Give SNES the tangent that the linear solver at work solves with."""
        if self.predicted is not None:
            self.predicted.active = self.krylov is None or self.krylov.assembles
        self.equations.operate()

    def _switched(self) -> None:
        self._operate()
        self.tell_solver()

    def tell_solver(self) -> None:
        """Say with ``-step_monitor`` which linear solver is at work."""
        self.progress.note(f"linear solver: {self.linear.name}")

    # ---- restart points -------------------------------------------------------------------------
    @property
    def memory(self) -> dict[str, Any]:
        """The few numbers of earlier steps that the next one depends on, as JSON has them."""
        accepted, settled = self.convergence.accepted, self.sudden.settled
        return {"accepted": accepted.tolist(), "settled": settled.tolist()}

    def recall(self, memory: Mapping[str, Any]) -> None:
        """After `prepare`, at an equilibrium: go on with what `memory` was."""
        accepted = np.array(memory["accepted"], dtype=np.float64)
        if len(accepted) == self.convergence.rows.count:
            self.convergence.accepted = accepted
        self.sudden.recall(memory["settled"])

    # ---- lists that change, see `HoldsVectors` --------------------------------------------------
    def local_vectors(self) -> list[Array]:
        """Return none: a step begins with the state alone."""
        return []

    def relisted(self, changed: Sequence[Form], rebuilt: bool) -> None:
        """Take up a tangent of another pattern (collective)."""
        if not (rebuilt and self.ready):
            return
        self.linear.relisted()
        self.stability.release()
        self._operate()
        if (constraints := self.convergence.constraints) is not None:
            constraints.relisted()
            constraints.measure(self.convergence.rows.sizes())
        if self.snes.getKSP().getPC().getType() == PETSc.PC.Type.GAMG:
            attach_rigid_modes(self.system, self.system.matrix.mat)

    def _scale_multipliers(self, storage: Matrix | Half) -> None:
        """Write the tangent to a storage; scale multipliers by its largest entry of a position.

        Their forces stay, as those that modes about a state at rest have found.
        """
        system, old = self.system, self.system.stiffness
        if not self.restored:
            system.stiffness = 1.0
        self._assemble(storage)
        if self.restored:
            return
        largest = self.convergence.stiffest(storage.mat.getDiagonal().getArray())
        system.stiffness = largest if math.isfinite(largest) and largest > 0 else 1.0
        system.state[self.numbering.those("multiplier", "algebraic", "tie")] *= (
            old / system.stiffness
        )
        system.prescribe(system.time)

    def _assemble(self, storage: Matrix | Half) -> None:
        """Assemble the tangent of the present state (collective)."""
        system, f = self.system, np.zeros_like(self.system.state)
        self.guarded(lambda: system.assembler.tangent(system.state, f, storage))

    def guarded(self, call: Callable[[], int]) -> int:
        """Call on every rank; raise the first error on all of them."""
        bad = 0
        with together(self.system.comm):
            bad = call()
        return int(self.system.comm.allreduce(bad))

    # ---- one step -------------------------------------------------------------------------------
    def advance(
        self,
        start: float,
        time: float,
        before: Array,
        fade: float,
        path: Path = (),
        *,
        tangents: bool = False,
    ) -> tuple[ConvergenceError | Step, Attempt]:
        """Try a step from one time to another; on failure return the error, the state put back.

        Parameters
        ----------
        before : the state that it begins with.
        fade : the part of the imbalance there that is left out at the end.
        path, tangents : see `LoadChange`.
        """
        system, equations, attempt = self.system, self.equations, Attempt()
        equations.begin()
        equations.fade = fade
        begun = clock.process_time()
        assembly = self.history.seconds["assembly"]
        self.convergence.begin()
        if system.changing:
            system.revise(time)
        self.leave_out(time)
        if not self.numbering.size:  # nothing is free
            return self._without_unknowns(time), attempt
        at = 1.0 - fade if start == time else time
        change = LoadChange(start, time, before, path, at, tangents)
        try:
            for predictor in self.starts:
                iterations = predictor(self, change)
                if iterations is not None:
                    attempt.linear, attempt.guessed = iterations, predictor is parabola
                    break
            if system.changing or system.reviews:
                self._solve_reviewed(attempt, time, before)
            else:
                self._solve(attempt, before)
        except PETSc.Error as error:
            self.ready = False  # what PETSc leaves behind is not to be trusted
            self.linear.forget()
            for thrown in (equations.error, self.linear.error):
                share_error(system.comm, thrown)
            text = complaint(error)
            raise SymancfError(f"PETSc failed at pseudo-time {time:g}: {text}") from error
        finally:
            spent = clock.process_time() - begun - (self.history.seconds["assembly"] - assembly)
            self.history.seconds["solve"] += spent
        if attempt.reason <= 0 or attempt.review.verdict > Verdict.LONG:
            system.state[:] = before
            return self._unsolved(attempt, time), attempt
        if not self.convergence.tested or self.convergence.by_tolerance:
            warn_unproved(system, self.convergence, self.snes, time, before)
        self.convergence.tell(f"at pseudo-time {time:g}")
        return Step(time, attempt.iterations, attempt.linear, self.convergence.norms), attempt

    def _unsolved(self, attempt: Attempt, time: float) -> ConvergenceError:
        """Return the error of a step that was not solved, or whose solution a term refuses."""
        refused = attempt.refused_by
        name, text = ("REVIEW", str(attempt.review)) if refused else reason_name(self.snes)
        self.history.wasted += attempt.iterations
        self.linear.forget()
        return self._failure(time, name, text, attempt.iterations, refused)

    def _solve_reviewed(self, attempt: Attempt, time: float, before: Array) -> None:
        """Solve, and go on where the solution changes lists of entities or numbers (collective).

        Where terms judge solutions the first ones are `LOOSE_ACCURACY`, those before them, in which
        normals are held, `ROUGH_ACCURACY`; the last one is `FULL_ACCURACY`, and changes nothing.
        """
        system, test = self.system, self.convergence
        rtol, accepted = self.snes.getTolerances()[0], test.accepted
        normals = self.normals if self.normals is not None and system.renews() else None
        accuracy = LOOSE_ACCURACY if system.reviews else FULL_ACCURACY
        try:
            for k in range(REVISIONS + (MAX_ROUGH_SOLUTIONS if normals else 0)):
                rough = normals is not None and normals.hold(k)
                present = ROUGH_ACCURACY if rough else accuracy
                test.going_on, test.loose = k > 0, present.correction
                self.snes.setTolerances(rtol=max(rtol, present.residual))
                self._solve(attempt, before if k == 0 else None)
                if attempt.reason <= 0:
                    attempt.review = Review(Verdict.STANDS)
                    break
                attempt.review = system.review(time, rough=rough)
                if attempt.review.verdict is Verdict.AGAIN:
                    self.leave_out(time)
                elif accuracy is FULL_ACCURACY or attempt.review.verdict is Verdict.CUT:
                    break
                elif not rough:
                    accuracy, test.accepted = FULL_ACCURACY, accepted
        finally:
            self.snes.setTolerances(rtol=rtol)
            test.loose = 0.0
            if normals is not None:
                normals.release()

    def _solve(self, attempt: Attempt, before: Array | None) -> None:
        """Make iterations from the present state, which may change (collective).

        They begin again where a direct solver has taken over after steps that led astray.

        `before`: the equilibrium from which a step leads to the present state, if one does.
        """
        equations, krylov = self.equations, self.krylov
        self.vectors.to_global(self.system.state, equations.x)
        may_restart = krylov is not None and krylov.takeover.possible and not krylov.direct
        start = equations.x.copy() if may_restart else None
        while True:
            if krylov is not None:
                krylov.begin()
            native = None if self.native is None else self.native.find(before)
            if native is None and self.predicted is not None:
                self.predicted.begin(before)
            solution = native or equations.find()
            attempt.reason = solution.reason
            attempt.iterations += solution.iterations
            attempt.linear += equations.linear_iterations
            if krylov is None:
                break
            attempt.linear += krylov.again
            if krylov.mended and attempt.reason > 0:  # by a search of PETSc's
                attempt.reason = REASONS.DIVERGED_LINEAR_SOLVE
                self.snes.setConvergedReason(attempt.reason)
            if start is None or not krylov.afresh:
                break
            start.copy(equations.x)
        attempt.hardest = max(attempt.hardest, solution.iterations)
        self.vectors.to_local(equations.x, self.system.state)

    def leave_out(self, time: float) -> None:
        """Take the loads of a time, without what has yet to fade in (collective)."""
        equations = self.equations
        self.system.prescribe(time)
        if self.sudden.jumped and equations.fade:
            self.sudden.leave_out(equations.fade)
        fading = equations.fade * equations.imbalance if equations.fade else equations.no_rows
        self.branch.fading = fading

    def _without_unknowns(self, time: float) -> ConvergenceError | Step:
        """Step of a system all of whose coordinates are prescribed."""
        assembler, state, equations = self.system.assembler, self.system.state, self.equations
        if not self.guarded(lambda: assembler.residual(state, equations.local_f)):
            return Step(time, 0, 0, {})
        equations.outside = state.copy()
        return self._failure(time, "DIVERGED_FUNCTION_DOMAIN", "all coordinates are prescribed", 0)

    def refused(self, step: Step, before: Array, accepted: Array, why: str) -> ConvergenceError:
        """Return the error, with the state put back, of a step off the path or one for parts."""
        self.history.wasted += step.iterations
        self.linear.forget()
        self.convergence.accepted = accepted
        self.system.state[:] = before
        return self._failure(step.time, "JUMP", f"{JUMPED}: {why};", step.iterations)

    def _failure(
        self, time: float, reason: str, text: str, iteration: int, terms: Sequence[str] = ()
    ) -> ConvergenceError:
        text = f"no equilibrium at pseudo-time {time:g}: {text} after {iteration} iterations"
        text += self.linear.residual.reason
        return ConvergenceError(
            text,
            reason=reason,
            iteration=iteration,
            time=time,
            asked="step" if terms else "equilibrium",
            given=[*terms] or None,
        )

    # ---- what is kept of it --------------------------------------------------------------------
    def measure_imbalance(self, time: float, state: Array) -> bool:
        """Keep the residual at the start of a step; tell whether it was no equilibrium."""
        self.system.revise(time)
        self.system.prescribe(time)
        jumped = "jumps" in self.uses and self.sudden.measure(state)
        f, equations = np.zeros_like(state), self.equations
        self.guarded(lambda: self.system.assembler.residual(state, f))
        imbalance = self.numbering.to_rows(f)
        (norms,) = self.convergence.rows.of(imbalance)
        small = bool(len(norms)) and bool(self.convergence.settled(norms).all())
        none = small or not np.isfinite(norms).all() or "fading" not in self.uses
        equations.imbalance = equations.no_rows if none else imbalance
        return jumped or not small

    def record(self, step: Step) -> None:
        """Keep a step in the history and hand it to those who watch (collective)."""
        if self.system.redundant.some:
            require_redundant(self.system)
        self.system.renew_rate()
        if self.system.parameters:
            step.parameters = by_name(self.system.parameters)
        self.history.steps.append(step)
        self.history.sample(step.time)
        if self.monitors:
            self.progress.clear()
        with together(self.system.comm):
            for monitor in self.monitors:
                monitor(step)
        self.progress.step(step.time, step.iterations, step.linear_iterations)
