# SPDX-License-Identifier: BSD-3-Clause
"""Static equilibrium by Newton's method (PETSc SNES) along a pseudo-time of loads."""

from __future__ import annotations

import math
import time as clock
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from .. import arguments, checkpoint
from ..assembly.vectors import Vectors
from ..collective import share_error, together
from ..errors import ConvergenceError, SymancfError
from ..history import History, Step
from ..interruption import Interruption
from ..newton import Leftover, PartBacktracking
from ..options import Options, complaint
from ..petsc import PETSc, collect, loosely
from ..progress import Progress
from ..redundancy.contradiction import require_consistent, require_redundant
from ..solver import configure, reason_name
from ..tracking import kept_by, made_of, watched
from .branch import HARD, JUMPED, Branch
from .continuation import Continuation, follow
from .convergence import Convergence
from .diagnosis import explained, outside, warn_unproved
from .held import require_held
from .linear import LinearSolver
from .stability import Stability
from .sudden import Sudden

if TYPE_CHECKING:
    from ..parameter import Parameter
    from ..system import System

Array = npt.NDArray[np.float64]
Monitor = Callable[[Step], None]

EASY = 8  # Newton iterations of a part that leave its size as it is


class StaticProblem:
    """Find the equilibrium of a system: residual(q, t) = 0 at increasing pseudo-time t.

    Parameters
    ----------
    system : its `state` is the starting point and holds the solution afterwards.
    prefix : of all PETSc options of this problem, e.g. ``"plate_"`` (then
        ``-plate_snes_rtol 1e-8`` on the command line).
    options : of PETSc without prefix, ``{"pc_type": "lu"}``; the command line goes before them.
    check_held : look for rigid motions left free before the first step.
    check_stable : warn where `solve` ends in an unstable equilibrium; see `Stability.tell`.
    history : takes the steps, e.g. ``History(csv="run.csv", hdf5="run.h5")``.

    Attributes
    ----------
    snes, J, F, x : petsc4py objects of the free unknowns, from the first solution on.
    convergence : `Convergence`, the test that ends Newton's method.
    history : `History` of all solves so far.
    """

    def __init__(
        self,
        system: System,
        prefix: str = "",
        options: dict[str, Any] | None = None,
        check_held: bool = True,
        history: History | None = None,
        check_stable: bool = True,
    ) -> None:
        self.system = made_of("StaticProblem", system)
        self.prefix = arguments.text("StaticProblem(prefix=...)", prefix)
        self.numbering = system.numbering
        self.check_held, self.check_stable = check_held, check_stable
        self.history = kept_by("StaticProblem", history)
        self.history.comm = system.comm
        self._error: BaseException | None = None
        self._interruption, self._progress = Interruption(system.comm), Progress(system.comm)
        self._left_domain, self._extra_linear, self._part = 0, 0, 1.0
        self._path: list[tuple[float, Array]] = []  # equilibria of the present solve
        self._ready = False
        self._options = Options(
            self.prefix, arguments.options("StaticProblem(options=...)", options)
        )
        self._monitors: list[Monitor] = []
        self._continuation: Continuation | None = None
        self._restored = False  # the scale of the multipliers is that of a checkpoint

    # ---- set-up -------------------------------------------------------------------------------
    def _prepare(self) -> None:
        system, numbering = self.system, self.numbering
        collect(system.comm)  # what is left of earlier problems
        system.prescribe(system.time)
        self.matrix = system.matrix
        self.J = self.matrix.mat
        self.vectors: Vectors = Vectors(numbering)
        self.x = self.vectors.new()
        self.F, self._imbalance = self.x.duplicate(), self.x.duplicate()
        self._rhs = self.x.duplicate()
        self._fade, self._sudden = 0.0, Sudden(system.plan)
        self._local_f = np.zeros(numbering.coordinates)
        self.convergence: Convergence = Convergence(system)
        self._scale_multipliers()
        if not self._restored:
            system.settle()
        for term in system.terms:
            if hasattr(term, "choose"):
                term.choose(system, self._options.choice)
        self.snes = PETSc.SNES().create(system.comm)
        self.snes.setFunction(loosely(self._function), self.F)
        self.snes.setConvergenceTest(loosely(self._test))
        configure(self.snes, system, self._options)
        self.linear: LinearSolver = LinearSolver(
            self.snes.getKSP(), self.convergence.rows, self.vectors, self.history.seconds
        )
        self.convergence.leftover = Leftover(
            system, self.convergence.rows, self.snes.getKSP(), self.x
        )
        self.snes.setJacobian(loosely(self._jacobian), self.linear.operator, self.J)
        self._cuts = PartBacktracking(self.snes, self.convergence, loosely(self._evaluate), self.x)
        self.branch = Branch(system, self.vectors, self.linear, self.snes.getKSP())
        self.stability: Stability = Stability(system, self.linear)
        if self.check_held:
            require_held(system)
        self._continuation, self._ready = None, True

    def _scale_multipliers(self) -> None:
        """Set the multipliers' scale to the largest diagonal stiffness of a position."""
        system = self.system
        if self._restored:
            return
        system.stiffness = 1.0
        self._guarded(lambda: system.plan.tangent(system.state, self._local_f, self.matrix))
        largest = self.convergence.stiffest(self.J.getDiagonal(self._rhs).getArray())
        system.stiffness = largest if math.isfinite(largest) and largest > 0 else 1.0
        system.prescribe(system.time)

    def _guarded(self, call: Callable[[], int]) -> int:
        """Call on every rank; raise the first error on all of them."""
        bad = 0
        with together(self.system.comm):
            bad = call()
        return int(self.system.comm.allreduce(bad))

    # ---- callbacks: never let an exception cross PETSc -----------------------------------------
    def _function(self, snes: PETSc.SNES, x: PETSc.Vec, F: PETSc.Vec) -> None:
        if bad := self._evaluate(x, F):
            F.set(np.nan)
            self._left_domain = max(self._left_domain, bad)

    def _evaluate(self, x: PETSc.Vec, F: PETSc.Vec) -> int:
        """Write the residual at unknowns `x`; return the number of bad points of all ranks."""
        start, bad = clock.process_time(), 0
        try:
            self.vectors.to_local(x, self.system.state)
            bad = self.system.plan.residual(self.system.state, self._local_f)
            self.vectors.to_global(self._local_f, F)
            if self._fade:
                F.axpy(-self._fade, self._imbalance)
        except BaseException as error:
            self._error, bad = self._error or error, 1
        bad = self.system.comm.allreduce(bad)  # a rank without rows must be heard, too
        self.history.seconds["assembly"] += clock.process_time() - start
        return int(bad)

    def _jacobian(self, snes: PETSc.SNES, x: PETSc.Vec, J: PETSc.Mat, P: PETSc.Mat) -> None:
        try:
            self.vectors.to_local(x, self.system.state)
            needed = self.convergence.needed(snes.getTolerances()[0])
            self.linear.linearize(self.system.state, needed)
        except BaseException as error:
            self._error = self._error or error

    def _test(self, snes: PETSc.SNES, iteration: int, norms: tuple[float, float, float]) -> int:
        try:
            self._interruption.check()
            self._progress.iteration(self.system.time, iteration)
            rows = self.F.getArray(readonly=True)
            x = snes.getSolution().getArray(readonly=True)
            return self.convergence.test(snes, iteration, rows, x, self._local_f)
        except BaseException as error:
            self._error = self._error or error
            return int(PETSc.SNES.ConvergedReason.DIVERGED_FNORM_NAN)

    # ---- one Newton solution --------------------------------------------------------------------
    def _advance(self, time: float, before: Array, fade: float) -> ConvergenceError | Step:
        """Try one step; on failure return the error with the state put back."""
        system = self.system
        self._error, self._left_domain, self._extra_linear = None, 0, 0
        self._fade, self._hopeless, self._cuts.error = fade, False, None
        start = clock.process_time()
        assembly = self.history.seconds["assembly"]
        self.convergence.begin()
        self._leave_out(time)
        if not self.numbering.size:  # nothing is free
            return self._without_unknowns(time)
        try:
            guessed = self.branch.guess(self._path, time, self.convergence)
            if not guessed:
                self._extra_linear = self.branch.follow_supports(before)
            self.vectors.to_global(system.state, self.x)
            self.snes.solve(None, self.x)
        except PETSc.Error as error:
            self._ready = False  # what PETSc leaves behind is not to be trusted
            for thrown in (self._error, self.linear.error):
                share_error(system.comm, thrown)
            said = complaint(error)
            raise SymancfError(f"PETSc failed at pseudo-time {time:g}: {said}") from error
        finally:
            spent = clock.process_time() - start - (self.history.seconds["assembly"] - assembly)
            self.history.seconds["solve"] += spent
        share_error(system.comm, self._error)
        share_error(system.comm, self._cuts.error)
        iteration = self.snes.getIterationNumber()
        if self.snes.getConvergedReason() > 0:
            self.vectors.to_local(self.x, self.system.state)
            linear = self.snes.getLinearSolveIterations() + self._extra_linear
            warn_unproved(self, time, before)
            self.convergence.tell(f"at pseudo-time {time:g}", 5)
            return Step(time, iteration, linear, self.convergence.norms)
        name, text = reason_name(self.snes)
        self.history.wasted += iteration
        linear_failed = PETSc.SNES.ConvergedReason.DIVERGED_LINEAR_SOLVE
        failed = self.snes.getConvergedReason() == linear_failed
        self._hopeless = failed and self.linear.direct and iteration == 0 and not guessed
        self.linear.forget()
        system.state[:] = before
        return self._failure(time, name, text, iteration)

    def _leave_out(self, time: float) -> None:
        """Take the loads of a time, without what has yet to fade in (collective)."""
        self.system.prescribe(time)
        self._sudden.leave_out(self._fade)
        self.branch.fading = self._fade * self._imbalance.getArray(readonly=True)

    def _without_unknowns(self, time: float) -> ConvergenceError | Step:
        """Step of a system all of whose coordinates are prescribed."""
        plan, state = self.system.plan, self.system.state
        self._left_domain = self._guarded(lambda: plan.residual(state, self._local_f))
        if not self._left_domain:
            return Step(time, 0, 0, {})
        return self._failure(time, "DIVERGED_FUNCTION_DOMAIN", "all coordinates are prescribed", 0)

    def _refused(self, step: Step, before: Array, accepted: Array) -> ConvergenceError | None:
        """Return the error, with the state put back, if a step left the path of the last one."""
        state = self.system.state
        why = self.branch.break_between(before, state.copy())
        if not why:
            return None
        self.history.wasted += step.iterations
        self.linear.forget()
        self.convergence.accepted = accepted
        state[:] = before
        return self._failure(step.time, "JUMP", f"{JUMPED}: {why};", step.iterations)

    def _failure(self, time: float, reason: str, text: str, iteration: int) -> ConvergenceError:
        if self._left_domain:
            text += outside(self.system)
        text = f"no equilibrium at pseudo-time {time:g}: {text} after {iteration} iterations"
        return ConvergenceError(text, reason=reason, iteration=iteration, time=time)

    # ---- stepping -------------------------------------------------------------------------------
    def _measure_imbalance(self, time: float, state: Array) -> bool:
        """Keep the residual at the start of a step; tell whether it was no equilibrium."""
        self.system.prescribe(time)
        jumped = self._sudden.measure()
        f = np.zeros_like(state)
        self._guarded(lambda: self.system.plan.residual(state, f))
        self.vectors.to_global(f, self._imbalance)
        (norms,) = self.convergence.rows.of(self._imbalance.getArray(readonly=True))
        small = bool(len(norms)) and bool(self.convergence.settled(norms).all())
        if small or not np.isfinite(norms).all():
            self._imbalance.set(0.0)
        return jumped or not small

    def _reach(self, start: float, goal: float, smallest: float) -> None:
        """Go from the state at `start` to the equilibrium at `goal`, in parts where need be.

        Where one step fails it is cut: prescribed values and loads follow the pseudo-time, and
        what was out of balance at the start (dead loads that are there at once) fades away with
        it. Equilibria on the way are steps of their own; whatever happens, the state is left at
        the last one.
        """
        system = self.system
        last, last_time = system.state.copy(), start
        first = before = last
        cuts = self.history.cut_backs
        fraction, iterations, linear = 0.0, 0, 0
        if not self._path or self._path[-1][0] != start:
            self._path = self.branch.beginning(start, self.convergence) if start != goal else []
        self._sudden.forget()
        faded = self._part < 1.0 and self._measure_imbalance(start, last)
        try:
            while fraction < 1.0:
                whole = fraction + self._part > 1.0 - 1e-9
                trial = 1.0 if whole else fraction + self._part
                time = goal if whole else start + trial * (goal - start)
                accepted = self.convergence.accepted
                result = self._advance(time, before, 1.0 - trial)
                if smallest < 1.0 and isinstance(result, Step) and not self._jump:
                    hard = result.iterations > HARD or self.history.cut_backs > cuts
                    result = (hard and self._refused(result, before, accepted)) or result
                if isinstance(result, ConvergenceError):
                    self.history.cut_backs += 1
                    self._part = (trial - fraction) / 2.0
                    if self._part < smallest or self._hopeless:
                        raise explained(self, result, (start, first), before, fraction)
                    if fraction == 0.0:
                        faded = self._measure_imbalance(start, last)
                    continue
                fraction, before = trial, system.state.copy()
                if start != goal:
                    self._path = [*self._path[-2:], (time, before)]
                iterations += result.iterations
                linear += result.linear_iterations
                ease = math.sqrt(EASY / max(1, result.iterations))
                self._part = min(1.0, self._part * min(2.0, max(0.5, ease)))
                if whole or not faded:
                    last, last_time = before, time
                    self._sudden.settle()
                    self._record(Step(time, iterations, linear, result.norms))
                    iterations = linear = 0
            if faded:
                self._path = []
        finally:
            system.state[:] = last
            system.time = last_time

    def _record(self, step: Step) -> None:
        require_redundant(self.system)
        self.history.steps.append(step)
        self._progress.clear()
        with together(self.system.comm):
            for monitor in self._monitors:
                monitor(step)
        self.history.sample(step.time)
        self._progress.step(step.time, step.iterations)
        self._interruption.check()

    def _begin(self) -> None:
        """Make ready for steps at rest (collective)."""
        if self.system.motion is not None:
            self._ready = False  # a motion has scaled the multipliers its way
        self.system.rest()
        if not self._ready:
            self._prepare()
        self._part, self._path, self._jump = 1.0, [], False

    def solve(
        self,
        to: float = 1.0,
        step: float | None = None,
        smallest: float = 1.0 / 1024.0,
        jump: bool = False,
    ) -> History:
        """Change the pseudo-time to `to` and find the equilibrium after each step.

        Parameters
        ----------
        to : pseudo-time to reach from `system.time`; it may be smaller (unloading) or the same
            (after a change of a `Parameter`).
        step : largest step; default: all at once. A step that fails is halved, and grows again
            after success.
        smallest : fraction of a step below which the attempt is given up.
        jump : accept whatever equilibrium Newton's method finds, also one that no path of
            equilibria under growing loads leads to (a snap-through). Otherwise one that took
            many iterations or cut steps is compared with what the tangents predict (`Branch`).

        Raises
        ------
        ConvergenceError : on every rank, with PETSc's reason (that of the linear solver, if it
            was the cause).
        ConstraintError : a rigid motion is free.
        ParameterError : a step that is not positive, or a parameter or prescribed displacement
            that is not finite.
        SymancfError : PETSc refused, e.g. an option.
        KeyboardInterrupt : on every rank, after the iteration in which Ctrl-C was pressed; a
            second one before that ends the process.

        Whatever is raised, the state is that of the last converged step and one may go on.
        """
        to, now = arguments.number("solve", "to", to, "be a finite pseudo-time"), self.system.time
        if step is not None:
            step = arguments.step("solve", step, now, to)
        smallest = arguments.number(
            "solve", "smallest", smallest, "be a fraction of a step", lambda x: 0.0 < x <= 1.0
        )
        with self._interruption, self._options, self._progress:
            self._begin()
            require_consistent(self.system, to)
            largest = abs(to - now) if step is None else float(step)
            self._jump = jump
            while True:
                whole = abs(to - now) <= largest * (1.0 + 1e-9)
                goal = to if whole else now + math.copysign(largest, to - now)
                self._reach(now, goal, smallest)
                now = goal
                if whole:
                    break
            if self.check_stable:
                self.stability.tell(self.history)
            self._options.warn_unused(self.system.comm)
        return self.history

    def follow(
        self,
        parameter: Parameter | Literal["time"],
        to: float | None = None,
        *,
        step: float | None = None,
        steps: int | None = None,
        until: Callable[[Step], Any] | None = None,
        direction: int | None = None,
        largest: float | None = None,
        smallest: float = 1e-6,
    ) -> History:
        """Follow the path of equilibria along a parameter by arc length, past limit points.

        The parameter drives loads, pressures, prescribed displacements or whatever it was given
        for, and is an unknown here: it falls beyond a limit point. Each limit point is found to
        about ten digits, is a step of its own, and listed in ``history.limit_points``. The time
        of steps is the arc length (see `symancf.statics.arc`), at the start of a path the change
        of the parameter; the pseudo-time stays. ``history[parameter.name]`` are its values. With
        a direct solver bifurcations are noted, too (a warning, ``history.bifurcations``), of an
        unsymmetric tangent those of odd numbers of eigenvalues, with Krylov's methods none
        (``history.search`` says which); the path goes on as it was.

        Parameters
        ----------
        parameter : an `sa.Parameter`; ``"time"``: the pseudo-time of all functions of it.
        to : end where the parameter has this value for the first time, exactly.
        step : change of the parameter in the first step, as the tangent predicts it; then the
            arc length follows the turn of the path and the iterations. Default: 1/20 of the way
            to `to`. A path that goes on keeps its step.
        steps : number of steps (limit points apart), at most with `to` or `until`.
        until : called with each `Step`; end when it returns something true.
        direction : 1: the parameter grows at first, -1: it falls. Default: a path goes on as it
            ended if nothing has changed since; a new one goes towards `to`, or grows.
        largest : longest arc of a step; features of a path within one step are not seen.
        smallest : shortest arc tried, as a part of `step`.

        Raises
        ------
        ConvergenceError : no equilibrium at the start or further on the path; or `to`, or what
            `until` waits for, was not reached in `steps` (2000) steps. The state is that of the
            last step, and one may go on.
        ParameterError : impossible arguments; nothing depends on the parameter.
        """
        with self._interruption, self._options, self._progress:
            self._begin()
            follow(self, parameter, to, step, steps, until, direction, largest, smallest)
            self._options.warn_unused(self.system.comm)
        return self.history

    def monitor(self, function: Monitor) -> None:
        """Call `function` with each converged `Step`."""
        self._monitors.append(arguments.function("monitor(...)", function))

    def record(self, name: str, what: Any, every: int = 1) -> None:
        """Keep a quantity after each step, or each `every`-th, as ``history[name]``.

        `what` is a place, whose position is kept [m], or a function without arguments that
        returns a number or an array, such as ``system.strain_energy``.
        """
        self.history.record(name, watched(self.system, what), every)

    def save(self, path: str | Path, attributes: Mapping[str, Any] | None = None) -> Path:
        """Write state, pseudo-time and `attributes` to a file; see `symancf.checkpoint.save`."""
        return checkpoint.save(path, self.system, attributes=attributes)

    def restore(self, path: str | Path) -> dict[str, Any]:
        """Take up the state and pseudo-time of `save`; return the attributes (collective).

        The system must be built like the saved one, on any number of ranks; values of
        parameters that the program changed on the way are the program's to set. With a direct
        solver what follows is, on the same number of ranks, the run that was saved, bit for bit.

        Raises
        ------
        CheckpointError : see `symancf.checkpoint.load`.
        """
        vectors, attributes = checkpoint.load(path, self.system)
        self.system.stiffness = attributes["stiffness"]
        self._restored, self._ready = True, False
        self.system.prescribe(attributes["time"])
        self.system.state[:] = vectors["state"]
        return attributes
