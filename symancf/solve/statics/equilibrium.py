# SPDX-License-Identifier: BSD-3-Clause
"""One equilibrium by Newton's method (PETSc SNES)."""

from __future__ import annotations

import math
import time as clock
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import Array
from ...assembly.protocol import Chooses, having
from ...assembly.revisions import REVISIONS, Review, Verdict
from ...assembly.vectors import Vectors
from ...errors import ConvergenceError, SymancfError
from ...newton import Leftover, PartBacktracking, PredictedStresses
from ...output.steps import Step, by_name
from ...runtime.collective import share_error, together
from ...runtime.interruption import Interruption
from ...runtime.options import Options, complaint
from ...runtime.petsc import NOT_FINITE, PETSc, collect, loosely
from ...runtime.progress import Progress
from ..contradiction import require_redundant
from ..solver import attach_rigid_modes, configure, reason_name
from .branch import JUMPED, Branch
from .convergence import Convergence
from .diagnosis import warn_unproved
from .held import require_held, require_pressed, supported
from .linear import LinearSolver
from .stability import Stability
from .sudden import Sudden

if TYPE_CHECKING:
    from ...assembly.piece import Piece
    from ...output.history import History
    from ...system import System

Monitor = Callable[[Step], None]
LOOSE, ROUGH = 1e-4, 0.5  # of the forces: residuals with which solutions may be reviewed, or held
ROUGHLY, TURN = 3, 0.02  # rough solutions at most; [rad] by which they turn what is held
REASONS = PETSc.SNES.ConvergedReason
Path = Sequence[tuple[float, Array]]  # pseudo-times (parts of a change at one) and equilibria


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
    snes, J, F, x, vectors : petsc4py objects of the free unknowns, from `prepare` on.
    convergence, linear, branch, stability, sudden : see their classes.
    ready : `prepare` has been called, and nothing since has spoilt it.
    restored : the scale of the multipliers is that of a checkpoint.
    fade : part of the imbalance at the start of a step that is still left out.
    hardest : most iterations of a solution in the last step, which may take several.
    hopeless : the last failure would be that of any smaller step.
    outside : a state on the way, since the step began, at which a law has no value, or None.
    refused_by : terms to which the last solution was not good enough.
    long : a term would have had the last step rather in parts, see `Verdict`.
    """

    def __init__(
        self, system: System, history: History, options: Options, check_held: bool
    ) -> None:
        self.system, self.numbering = system, system.numbering
        self.history: History = history
        self.options, self.check_held = options, check_held
        self.interruption = Interruption(system.comm, history.reached)
        self.progress = Progress(system.comm, options)
        self.monitors: list[Monitor] = []
        self.ready = self.restored = self._held = self.long = False
        self.fade, self.hardest = 0.0, 0
        self._error: BaseException | None = None
        self.outside: Array | None = None
        self.refused_by: Sequence[str] = ()
        self._tried: tuple[Array, Array, Array] | None = None  # unknowns, residual, local residual
        self._extra_linear = 0
        self._predicts = True

    def prepare(self) -> None:
        """Make the solver of PETSc and the measures of the system as it is (collective).

        They are those of the present prescribed values; the state stays.
        """
        system, numbering = self.system, self.numbering
        before, held = system.state.copy(), numbering.fixed_by >= 0
        collect(system.comm)  # what is left of earlier problems
        system.prescribe(system.time)
        self.matrix = system.matrix
        self.J = self.matrix.mat
        system.register(self)
        self.vectors: Vectors = Vectors(numbering)
        self.x = self.vectors.new()
        self.F, self._imbalance = self.x.duplicate(), self.x.duplicate()
        scratch = self.x.duplicate(), self.x.duplicate()
        self.fade, self.sudden = 0.0, Sudden(system)
        self.local_f = np.zeros(numbering.coordinates)
        self.convergence: Convergence = Convergence(system)
        new = self.check_held and not self._held
        unsure = new and not supported(system)
        bound = any(block.is_equation for block in numbering.blocks)
        if unsure or (bound and not self.restored):
            self._scale_multipliers()
        if not self.restored:
            system.settle()
        for term in having(map(system.binding, system.terms), Chooses):
            system.replace(term.choose(system, self.options.choice))
        self._make_solver(scratch)
        self.branch = Branch(system, self.vectors, self.linear, self.snes.getKSP(), scratch)
        self.stability: Stability = Stability(system, self.linear)
        if unsure:
            require_held(system)
        if new:
            require_pressed(system)
            self._held = True
        system.state[held] = before[held]
        self.ready = True

    def _make_solver(self, scratch: tuple[PETSc.Vec, PETSc.Vec]) -> None:
        """Make Newton's method and its linear solver (collective)."""
        system, monitors = self.system, self._watching
        self.snes: PETSc.SNES = PETSc.SNES().create(system.comm)
        for function, arguments, named in monitors:
            self.snes.setMonitor(function, arguments, named)
        self.snes.setFunction(loosely(self._function), self.F)
        self.snes.setConvergenceTest(loosely(self._test))
        configure(self.snes, system, self.options)
        self.linear: LinearSolver = LinearSolver(
            system,
            self.snes.getKSP(),
            self.convergence.rows,
            self.vectors,
            self.history.seconds,
            self.options,
        )
        self.convergence.leftover = Leftover(
            system, self.convergence.rows, self.snes.getKSP(), scratch
        )
        self._operate()
        self.linear.switched = self._switched
        self.predicted: PredictedStresses = PredictedStresses(system)
        self._kinked = any(piece.kinked for piece in system.pieces)
        self._cuts = PartBacktracking(
            self.snes,
            self.convergence,
            loosely(self._try),
            self.x,
            self.convergence.leftover if self._kinked else None,
            mend=None if self.linear.direct else self.linear.mend,
            acts=lambda: self.branch.touches(system.state),
        )
        if not self.linear.direct and self.snes.getType() == PETSc.SNES.Type.NEWTONLS:
            self.snes.setMaxKSPFailures(int(self.snes.getTolerances()[3]) + 1)  # mended

    def _operate(self) -> None:
        """Give SNES the tangent that the linear solver at work solves with."""
        self.snes.setJacobian(loosely(self._jacobian), self.linear.operator, self.J)

    def _switched(self) -> None:
        self._operate()
        self.tell_solver()

    def tell_solver(self) -> None:
        """Say with ``-step_monitor`` which linear solver is at work."""
        self.progress.note(f"linear solver: {self.linear.name}")

    @property
    def _watching(self) -> list[Any]:
        """The monitors that a program has given to the last `snes`, which a new one keeps."""
        return (self.snes.getMonitor() or []) if "snes" in self.__dict__ else []

    # ---- restart points -------------------------------------------------------------------------
    @property
    def memory(self) -> dict[str, Any]:
        """The few numbers of earlier steps that the next one depends on, as JSON has them."""
        accepted = self.convergence.accepted.tolist()
        return {
            "accepted": accepted,
            "predicts": self._predicts,
            "hardest": self.hardest,
            "settled": self.sudden.settled.tolist(),
        }

    def recall(self, memory: Mapping[str, Any]) -> None:
        """After `prepare`, at an equilibrium: go on with what `memory` was."""
        accepted = np.array(memory["accepted"], dtype=np.float64)
        if len(accepted) == self.convergence.rows.count:
            self.convergence.accepted = accepted
        self._predicts, self.hardest = bool(memory["predicts"]), int(memory["hardest"])
        self.sudden.recall(memory["settled"])

    # ---- lists that change, see `HoldsVectors` --------------------------------------------------
    def local_vectors(self) -> list[Array]:
        """Return none: a step begins with the state alone."""
        return []

    def relisted(self, changed: Sequence[Piece], rebuilt: bool) -> None:
        """Take up a tangent of another pattern (collective)."""
        if not (rebuilt and self.ready):
            return
        self.J = self.matrix.mat
        self.linear.relisted()
        self.stability.release()
        self._operate()
        self.convergence.constraints.relisted()
        self.convergence.constraints.measure(self.convergence.rows.sizes())
        if self.snes.getKSP().getPC().getType() == PETSc.PC.Type.GAMG:
            attach_rigid_modes(self.system)

    def _scale_multipliers(self) -> None:
        """Make the tangent; set the multipliers' scale to its largest diagonal entry of a position.

        Their forces stay, as those that modes about a state at rest have found.
        """
        system, old = self.system, self.system.stiffness
        if not self.restored:
            system.stiffness = 1.0
        self.guarded(lambda: system.plan.tangent(system.state, self.local_f, self.matrix))
        if self.restored:
            return
        largest = self.convergence.stiffest(self.J.getDiagonal(self.F).getArray())
        system.stiffness = largest if math.isfinite(largest) and largest > 0 else 1.0
        system.state[self.numbering.those("multiplier", "algebraic", "tie")] *= (
            old / system.stiffness
        )
        system.prescribe(system.time)

    def guarded(self, call: Callable[[], int]) -> int:
        """Call on every rank; raise the first error on all of them."""
        bad = 0
        with together(self.system.comm):
            bad = call()
        return int(self.system.comm.allreduce(bad))

    # ---- callbacks: never let an exception cross PETSc -----------------------------------------
    def _function(self, snes: PETSc.SNES, x: PETSc.Vec, F: PETSc.Vec) -> None:
        tried, self._tried = self._tried, None
        same = tried is not None and np.array_equal(tried[0], x.getArray(readonly=True))
        if tried is not None and all(self.system.comm.allgather(same)):
            self.vectors.to_local(x, self.system.state)
            F.setArray(tried[1])
            self.local_f[:] = tried[2]
        elif self._evaluate(x, F):
            F.set(np.nan)

    def _try(self, x: PETSc.Vec, F: PETSc.Vec) -> int:
        """Evaluate where a step may end; the line search asks for that place once more."""
        bad, self._tried = self._evaluate(x, F), None
        if not bad:
            at, f = (v.getArray(readonly=True).copy() for v in (x, F))
            self._tried = at, f, self.local_f.copy()
        return bad

    def _evaluate(self, x: PETSc.Vec, F: PETSc.Vec) -> int:
        """Write the residual at unknowns `x`; return the number of bad points of all ranks."""
        start, bad = clock.process_time(), 0
        try:
            self.vectors.to_local(x, self.system.state)
            bad = self.system.plan.residual(self.system.state, self.local_f)
            self.vectors.to_global(self.local_f, F)
            if self.fade:
                F.axpy(-self.fade, self._imbalance)
        except BaseException as error:
            self._error, bad = self._error or error, 1
        bad = self.system.comm.allreduce(bad)  # a rank without rows must be heard, too
        if bad:
            self.outside = self.system.state.copy()
        self.history.seconds["assembly"] += clock.process_time() - start
        return int(bad)

    def _jacobian(self, snes: PETSc.SNES, x: PETSc.Vec, J: PETSc.Mat, P: PETSc.Mat) -> None:
        try:
            self.vectors.to_local(x, self.system.state)
            needed = self.convergence.needed(snes.getTolerances()[0])
            if not self.linear.assembles:
                self.linear.linearize(self.system.state, needed)
                return
            self.predicted.move(self.system.state)
            with self.predicted.corrected():
                self.linear.linearize(self.system.state, needed)
        except BaseException as error:
            self._error = self._error or error

    def _test(self, snes: PETSc.SNES, iteration: int, norms: tuple[float, float, float]) -> int:
        try:
            self.interruption.check()
            self.progress.iteration(self.system.time, iteration)
            rows = self.F.getArray(readonly=True)
            x = snes.getSolution().getArray(readonly=True)
            reason = self.convergence.test(snes, iteration, rows, x, self.local_f)
            return 0 if reason > 0 and self.linear.mended else reason
        except BaseException as error:
            self._error = self._error or error
            return NOT_FINITE

    def advance(
        self, start: float, time: float, before: Array, fade: float, path: Path = ()
    ) -> ConvergenceError | Step:
        """Try a step from one time to another; on failure return the error, the state put back."""
        system = self.system
        self._error = self.outside = self._tried = None
        self._extra_linear, self.long = 0, False
        self.fade, self.hopeless, self._cuts.error = fade, False, None
        begun = clock.process_time()
        assembly = self.history.seconds["assembly"]
        self.convergence.begin()
        system.revise(time)
        self.leave_out(time)
        if not self.numbering.size:  # nothing is free
            return self._without_unknowns(time)
        try:
            at = 1.0 - fade if start == time else time
            guessed = self.branch.guess(path, at, self.convergence)
            if not guessed:
                self._extra_linear = self._predict(start, time, before)
            iteration, linear, review = self._solve(time, before)
        except PETSc.Error as error:
            self.ready = False  # what PETSc leaves behind is not to be trusted
            self.linear.forget()
            for thrown in (self._error, self.linear.error):
                share_error(system.comm, thrown)
            said = complaint(error)
            raise SymancfError(f"PETSc failed at pseudo-time {time:g}: {said}") from error
        finally:
            spent = clock.process_time() - begun - (self.history.seconds["assembly"] - assembly)
            self.history.seconds["solve"] += spent
        stands, self.long = review.verdict <= Verdict.LONG, review.verdict is Verdict.LONG
        if self.snes.getConvergedReason() > 0 and stands:
            linear += self._extra_linear
            self._predicts = True
            warn_unproved(system, self.convergence, self.snes, time, before)
            self.convergence.tell(f"at pseudo-time {time:g}")
            return Step(time, iteration, linear, self.convergence.norms)
        name, text = reason_name(self.snes) if stands else ("REVIEW", str(review))
        self.refused_by = () if stands else review.names
        self.history.wasted += iteration
        self._predicts = not self._predicts  # both ways to begin, one after the other
        failed = self.snes.getConvergedReason() == REASONS.DIVERGED_LINEAR_SOLVE
        self.hopeless = failed and self.linear.direct and iteration == 0 and not guessed
        self.linear.forget()
        system.state[:] = before
        return self._failure(time, name, text, iteration, [] if stands else review.names)

    def _predict(self, start: float, time: float, before: Array) -> int:
        """Begin where the tangent leads; return the iterations of the linear solver."""
        if self.sudden.grown:
            return self.branch.follow_loads(before, self.sudden.before())
        if self._kinked and self._predicts and start != time:
            return self.branch.follow_tangent(before, start, time, self.leave_out)
        return self.branch.follow_supports(before)

    def _solve(self, time: float, before: Array) -> tuple[int, int, Review]:
        """Solve, and go on where the solution changes lists of entities or numbers (collective).

        What a solution changes, one that is good to `LOOSE` changes as well. What follows the state
        in a way that may lead Newton's method astray is held in up to `ROUGHLY` solutions before,
        good to `ROUGH`, until they turn it by less than `TURN`.

        Returns the numbers of iterations, of Newton's method and of the linear solver, and what
        the system thinks of the last solution.
        """
        iterations = linear = self.hardest = 0
        rtol, test = self.snes.getTolerances()[0], self.convergence
        tight, accepted = not self.system.reviews, test.accepted
        rough = 0 if tight or not self.system.renews() else ROUGHLY
        try:
            for k in range(rough + REVISIONS):
                if rough and k <= rough:
                    rough = self._hold_normals(k, rough)
                test.going_on = k > 0
                if not tight:
                    self._loosen(rtol, k < rough)
                made, of_these = self._iterate(before if k == 0 else None)
                iterations, linear = iterations + made, linear + of_these
                self.hardest = max(self.hardest, self.snes.getIterationNumber())
                if self.snes.getConvergedReason() <= 0:
                    return iterations, linear, Review(Verdict.STANDS)
                self.vectors.to_local(self.x, self.system.state)
                review = self.system.review(time, rough=k < rough)
                if review.verdict is Verdict.AGAIN:
                    self.leave_out(time)
                elif tight or review.verdict is Verdict.CUT:
                    break
                elif k >= rough:
                    tight, test.accepted, test.loose = True, accepted, 0.0
                    self.snes.setTolerances(rtol=rtol)
        finally:
            self.snes.setTolerances(rtol=rtol)
            test.loose = 0.0
            if rough:
                self.system.hold_normals(False, False)
        return iterations, linear, review

    def _loosen(self, rtol: float, rough: bool) -> None:
        """Ask less of solutions that may change what they were made with."""
        self.convergence.loose = np.inf if rough else LOOSE
        self.snes.setTolerances(rtol=max(rtol, ROUGH if rough else LOOSE))

    def _hold_normals(self, k: int, rough: int) -> int:
        """Hold normals in the k-th of `rough` solutions; return how many are to be rough then."""
        turned = self.system.hold_normals(k < rough, k == 0)
        if 0 < k < rough and turned < TURN:
            self.system.hold_normals(False, False)
            return k
        return rough

    def _iterate(self, before: Array | None) -> tuple[int, int]:
        """Make iterations from the present state, which may change; return how many (collective).

        They begin again where a direct solver has taken over after steps that led astray.

        `before`: the equilibrium from which a step leads to the present state, if one does.
        """
        iterations = linear = 0
        self.vectors.to_global(self.system.state, self.x)
        start = None if self.linear.direct else self.x.copy()
        while True:
            self.linear.begin()
            self.predicted.begin(before)
            self.snes.solve(None, self.x)
            for thrown in (self._error, self._cuts.error):  # of one rank, perhaps
                share_error(self.system.comm, thrown)
            if self.linear.mended and self.snes.getConvergedReason() > 0:  # by a search of PETSc's
                self.snes.setConvergedReason(REASONS.DIVERGED_LINEAR_SOLVE)
            iterations += self.snes.getIterationNumber()
            linear += self.snes.getLinearSolveIterations() + self.linear.again
            if start is None or not self.linear.afresh:
                return iterations, linear
            start.copy(self.x)

    def leave_out(self, time: float) -> None:
        """Take the loads of a time, without what has yet to fade in (collective)."""
        self.system.prescribe(time)
        self.sudden.leave_out(self.fade)
        self.branch.fading = self.fade * self._imbalance.getArray(readonly=True)

    def _without_unknowns(self, time: float) -> ConvergenceError | Step:
        """Step of a system all of whose coordinates are prescribed."""
        plan, state = self.system.plan, self.system.state
        if not self.guarded(lambda: plan.residual(state, self.local_f)):
            return Step(time, 0, 0, {})
        self.outside = state.copy()
        return self._failure(time, "DIVERGED_FUNCTION_DOMAIN", "all coordinates are prescribed", 0)

    def refused(
        self, step: Step, before: Array, accepted: Array, hard: bool, parts: bool
    ) -> ConvergenceError | None:
        """Return the error, with the state put back, of a step off the path or one for `parts`."""
        state, why = self.system.state, ""
        if hard:
            why = self.branch.break_between(before, state.copy(), self.hardest, self.sudden)
        if not why and not (parts and self.long):
            return None
        self.history.wasted += step.iterations
        self.linear.forget()
        self.convergence.accepted = accepted
        state[:] = before
        return self._failure(step.time, "JUMP", f"{JUMPED}: {why};", step.iterations)

    def _failure(
        self, time: float, reason: str, text: str, iteration: int, terms: Sequence[str] = ()
    ) -> ConvergenceError:
        text = f"no equilibrium at pseudo-time {time:g}: {text} after {iteration} iterations"
        text += self.linear.residual.told
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
        jumped = self.sudden.measure(state)
        f = np.zeros_like(state)
        self.guarded(lambda: self.system.plan.residual(state, f))
        self.vectors.to_global(f, self._imbalance)
        (norms,) = self.convergence.rows.of(self._imbalance.getArray(readonly=True))
        small = bool(len(norms)) and bool(self.convergence.settled(norms).all())
        if small or not np.isfinite(norms).all():
            self._imbalance.set(0.0)
        return jumped or not small

    def record(self, step: Step) -> None:
        """Keep a step in the history and hand it to those who watch (collective)."""
        require_redundant(self.system)
        self.system.renew_rate()
        step.parameters = by_name(self.system.parameters)
        self.history.steps.append(step)
        self.history.sample(step.time)
        self.progress.clear()
        with together(self.system.comm):
            for monitor in self.monitors:
                monitor(step)
        self.progress.step(step.time, step.iterations, step.linear_iterations)
