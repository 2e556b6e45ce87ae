# SPDX-License-Identifier: BSD-3-Clause
"""Static equilibrium by Newton's method (PETSc SNES) along a pseudo-time of loads."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from .collective import share_error
from .errors import ConvergenceError
from .numbering import POSITION
from .petsc import PETSc
from .rigid import require_held
from .solver import configure, reason_name

if TYPE_CHECKING:
    from .system import System

Array = npt.NDArray[np.float64]
Monitor = Callable[["Step"], None]


@dataclass
class Step:
    """One converged step of the pseudo-time.

    Attributes
    ----------
    time : pseudo-time reached.
    iterations, linear_iterations : of Newton's method, and of the Krylov solver in all.
    norms : residual norm of each kind of row at the end.
    """

    time: float
    iterations: int
    linear_iterations: int
    norms: dict[str, float]


@dataclass
class History:
    """The converged steps of a solution, with the work that they took."""

    steps: list[Step] = field(default_factory=list)
    cut_backs: int = 0
    seconds: dict[str, float] = field(default_factory=lambda: {"assembly": 0.0, "solve": 0.0})

    @property
    def iterations(self) -> int:
        """Newton iterations in all."""
        return sum(step.iterations for step in self.steps)

    @property
    def linear_iterations(self) -> int:
        """Krylov iterations in all."""
        return sum(step.linear_iterations for step in self.steps)

    def __str__(self) -> str:
        rows = [f"{'time':>10} {'Newton':>7} {'linear':>7}  residual norms"]
        for step in self.steps:
            norms = ", ".join(f"{k} {v:.1e}" for k, v in step.norms.items())
            rows.append(
                f"{step.time:10.4g} {step.iterations:7d} {step.linear_iterations:7d}  {norms}"
            )
        rows.append(
            f"{len(self.steps)} steps, {self.cut_backs} cut back; CPU s: "
            + ", ".join(f"{k} {v:.2f}" for k, v in self.seconds.items())
        )
        return "\n".join(rows)


class StaticProblem:
    """Find the equilibrium of a system: residual(q, t) = 0 at increasing pseudo-time t.

    Parameters
    ----------
    system : its `state` is the starting point and holds the solution afterwards.
    prefix : of all PETSc options of this problem, e.g. ``"plate_"`` (then
        ``-plate_snes_rtol 1e-8`` on the command line).
    options : defaults of PETSc options without prefix, ``{"pc_type": "lu"}``; the command line
        wins.
    check_held : look for rigid motions left free before the first step.

    Attributes
    ----------
    snes, J, F, x : petsc4py objects of the free unknowns.
    history : `History` of all solves so far.
    """

    def __init__(
        self,
        system: System,
        prefix: str = "",
        options: dict[str, Any] | None = None,
        check_held: bool = True,
    ) -> None:
        self.system, self.prefix = system, prefix
        self.numbering = system.numbering
        self.check_held = check_held
        self.history = History()
        self._error: Exception | None = None
        self._ready = False
        self._options = dict(options or {})
        self._monitors: list[Monitor] = []

    # ---- set-up -------------------------------------------------------------------------------
    def _prepare(self) -> None:
        system, numbering = self.system, self.numbering
        comm = system.comm
        self.matrix = system.matrix
        self.J = self.matrix.mat
        self.x = PETSc.Vec().createMPI((numbering.rows, numbering.size), comm=comm)
        self.F = self.x.duplicate()
        self._imbalance = self.x.duplicate()
        self._fade = 0.0
        self._largest: dict[str, float] = {}
        self._local_f = np.zeros(numbering.coordinates)
        self._scatter = None
        if comm.size > 1:
            self._ghosted = PETSc.Vec().createSeq(len(numbering.free), comm=PETSc.COMM_SELF)
            columns = PETSc.IS().createGeneral(
                numbering.columns_of_free.astype(PETSc.IntType), comm=PETSc.COMM_SELF
            )
            self._scatter = PETSc.Scatter().create(self.x, columns, self._ghosted, None)
        names, kind = numbering.kind_of_rows()
        self._kinds = [
            (name, np.flatnonzero(kind == k).astype(np.int64)) for k, name in enumerate(names)
        ]
        system.prescribe(system.time)
        self._scale_multipliers()
        self.snes = PETSc.SNES().create(comm)
        self.snes.setFunction(self._function, self.F)
        self.snes.setJacobian(self._jacobian, self.J)
        self.snes.setConvergenceTest(self._converged)
        configure(self.snes, system, self.prefix, self._options)
        if self.check_held:
            require_held(system)
        self._ready = True

    def _scale_multipliers(self) -> None:
        """Set the multipliers' scale to the largest diagonal stiffness of a position."""
        system, numbering = self.system, self.numbering
        system.stiffness = 1.0
        self._guarded(lambda: system.plan.tangent(system.state, self._local_f, self.matrix))
        diagonal = self.J.getDiagonal().getArray()
        largest = 0.0
        for name, rows in self._kinds:
            if name in ("position", POSITION) and len(rows):
                largest = max(largest, float(np.abs(diagonal[rows]).max()))
        largest = system.comm.allreduce(largest, op=MPI.MAX)
        system.stiffness = largest if np.isfinite(largest) and largest > 0 else 1.0
        system.plan.update(system.time)

    def _guarded(self, call: Callable[[], int]) -> int:
        """Call on every rank; raise the first error on all of them."""
        error: Exception | None = None
        bad = 0
        try:
            bad = call()
        except Exception as caught:
            error = caught
        share_error(self.system.comm, error)
        return int(self.system.comm.allreduce(bad))

    # ---- local and global vectors ---------------------------------------------------------------
    def _to_local(self, x: PETSc.Vec) -> None:
        if self._scatter is None:
            self.system.state[self.numbering.free] = x.getArray(readonly=True)
        else:
            self._scatter.scatter(x, self._ghosted)
            self.system.state[self.numbering.free] = self._ghosted.getArray(readonly=True)

    def _to_global(self, local: Array, x: PETSc.Vec) -> None:
        x.setArray(local[self.numbering.free_owned])

    # ---- callbacks: never let an exception cross PETSc -----------------------------------------
    def _function(self, snes: PETSc.SNES, x: PETSc.Vec, F: PETSc.Vec) -> None:
        start = clock.process_time()
        try:
            self._to_local(x)
            bad = self.system.plan.residual(self.system.state, self._local_f)
            self._to_global(self._local_f, F)
            if self._fade:
                F.axpy(-self._fade, self._imbalance)
        except Exception as error:
            self._error, bad = self._error or error, 1
        bad = self.system.comm.allreduce(bad)  # a rank without rows must be heard, too
        if bad:
            F.set(np.nan)
            self._left_domain = max(self._left_domain, bad)
        self.history.seconds["assembly"] += clock.process_time() - start

    def _jacobian(self, snes: PETSc.SNES, x: PETSc.Vec, J: PETSc.Mat, P: PETSc.Mat) -> None:
        start = clock.process_time()
        try:
            self._to_local(x)
            self.system.plan.tangent(self.system.state, self._local_f, self.matrix)
        except Exception as error:
            self._error = self._error or error
        self.history.seconds["assembly"] += clock.process_time() - start

    def _norms(self) -> dict[str, float]:
        f = self.F.getArray(readonly=True)
        squares = np.array([float(f[rows] @ f[rows]) for _, rows in self._kinds])
        norms = np.sqrt(self.system.sum(squares))
        return {name: float(n) for (name, _), n in zip(self._kinds, norms, strict=True)}

    def _converged(
        self, snes: PETSc.SNES, iteration: int, norms: tuple[float, float, float]
    ) -> int:
        """Every kind of row must have fallen by rtol from its largest norm in this step."""
        xnorm, step, fnorm = norms
        reasons = PETSc.SNES.ConvergedReason
        if not np.isfinite(fnorm):
            return int(reasons.DIVERGED_FNORM_NAN)
        kinds = self._norms()
        if iteration == 0:
            self._largest = dict.fromkeys(kinds, 0.0)
        for name, norm in kinds.items():
            self._largest[name] = max(self._largest[name], norm)
        self._last_norms = kinds
        rtol, atol, stol, _ = snes.getTolerances()
        if fnorm <= atol:
            return int(reasons.CONVERGED_FNORM_ABS)
        if iteration and all(n <= rtol * self._largest[k] for k, n in kinds.items()):
            return int(reasons.CONVERGED_FNORM_RELATIVE)
        if iteration and step <= stol * xnorm:
            return int(reasons.CONVERGED_SNORM_RELATIVE)
        return int(reasons.ITERATING)

    # ---- stepping -------------------------------------------------------------------------------
    def _predict(self, before: Array) -> None:
        """Follow a change of prescribed coordinates: K_ff du = -(F + K_fc dg), once."""
        system = self.system
        change = np.where(self.numbering.fixed_by >= 0, system.state - before, 0.0)
        moved = system.comm.allreduce(float(np.abs(change).max(initial=0.0)), op=MPI.MAX)
        if moved == 0.0:
            return
        base = np.where(self.numbering.fixed_by >= 0, before, system.state)
        residual = np.zeros_like(base)
        self._guarded(lambda: system.plan.tangent(base, residual, self.matrix))
        answer = np.zeros_like(base)
        self._guarded(lambda: system.plan.product(base, change, answer))
        rhs, du = self.F.duplicate(), self.x.duplicate()
        self._to_global(-(residual + answer), rhs)
        if self._fade:
            rhs.axpy(self._fade, self._imbalance)
        if not np.isfinite(rhs.norm()):
            return
        ksp = self.snes.getKSP()
        ksp.setOperators(self.J, self.J)
        ksp.solve(rhs, du)
        self._extra_linear += ksp.getIterationNumber()
        if ksp.getConvergedReason() < 0 or not np.isfinite(du.norm()):
            return
        self._to_global(system.state, self.x)
        self.x.axpy(1.0, du)
        self._to_local(self.x)
        bad = self._guarded(lambda: system.plan.residual(system.state, self._local_f))
        if bad:  # too far: start from the old state of the free coordinates
            self.x.axpy(-1.0, du)
            self._to_local(self.x)

    def _advance(self, time: float, before: Array, fade: float) -> ConvergenceError | Step:
        """Try one step; on failure return the error with the state put back."""
        system = self.system
        self._error, self._left_domain, self._extra_linear = None, 0, 0
        self._last_norms: dict[str, float] = {}
        self._fade = fade
        start = clock.process_time()
        assembly = self.history.seconds["assembly"]
        system.prescribe(time)
        self._predict(before)
        self._to_global(system.state, self.x)
        self.snes.solve(None, self.x)
        share_error(system.comm, self._error)
        spent = clock.process_time() - start - (self.history.seconds["assembly"] - assembly)
        self.history.seconds["solve"] += spent
        iteration = self.snes.getIterationNumber()
        if self.snes.getConvergedReason() > 0:
            self._to_local(self.x)
            linear = self.snes.getLinearSolveIterations() + self._extra_linear
            return Step(time, iteration, linear, self._last_norms)
        name, text = reason_name(self.snes)
        if self._left_domain:
            text += (
                f"; {self._left_domain} quadrature points left the domain of their law "
                "(J <= 0 or not finite)"
            )
        system.state[:] = before
        return ConvergenceError(
            f"no equilibrium at pseudo-time {time:g}: {text} after {iteration} iterations",
            reason=name,
            iteration=iteration,
            time=time,
        )

    def _measure_imbalance(self, time: float, state: Array) -> bool:
        """Keep the residual at the start of a step; tell whether it was no equilibrium."""
        self.system.prescribe(time)
        f = np.zeros_like(state)
        self._guarded(lambda: self.system.plan.residual(state, f))
        self._to_global(f, self._imbalance)
        size = self._imbalance.norm()
        small = self.history.steps and size <= 1e-6 * max(self._largest.values(), default=0.0)
        if small or not np.isfinite(size):
            self._imbalance.set(0.0)
        return not small

    def _reach(self, start: float, goal: float, smallest: float) -> None:
        """Go from the state at `start` to the equilibrium at `goal`, in parts where need be.

        Where one step fails it is cut: prescribed values and loads follow the pseudo-time, and
        what was out of balance at the start (dead loads that are there at once) fades away with
        it.
        """
        system = self.system
        origin = before = system.state.copy()
        fraction, iterations, linear = 0.0, 0, 0
        part, faded = self._part, False
        if part < 1.0:
            faded = self._measure_imbalance(start, origin)
        while fraction < 1.0:
            trial = 1.0 if fraction + part > 1.0 - 1e-9 else fraction + part
            result = self._advance(start + trial * (goal - start), before, 1.0 - trial)
            if isinstance(result, Step):
                fraction, before = trial, system.state.copy()
                iterations, linear = (
                    iterations + result.iterations,
                    linear + result.linear_iterations,
                )
                if trial == 1.0 or not faded:
                    step = Step(result.time, iterations, linear, result.norms)
                    self.history.steps.append(step)
                    iterations = linear = 0
                    for monitor in self._monitors:
                        monitor(step)
                self._part = min(1.0, 1.5 * part)
                part = self._part
                continue
            self.history.cut_backs += 1
            part = (trial - fraction) / 2.0
            if part < smallest:
                system.prescribe(start)
                system.state[:] = origin
                raise result
            if fraction == 0.0:
                faded = self._measure_imbalance(start, origin)

    def solve(
        self, to: float = 1.0, step: float | None = None, smallest: float = 1.0 / 1024.0
    ) -> History:
        """Increase the pseudo-time to `to` and find the equilibrium after each step.

        Parameters
        ----------
        to : pseudo-time to reach from `system.time`.
        step : largest step; default: all at once. A step that fails is halved, and grows again
            after success.
        smallest : fraction of a step below which the attempt is given up.

        Raises
        ------
        ConvergenceError : on every rank, with PETSc's reason (that of the linear solver, if it
            was the cause); the state is that of the last converged step.
        ConstraintError : a rigid motion is free.
        """
        if not self._ready:
            self._prepare()
        now = self.system.time
        largest = step if step is not None else max(to - now, 0.0)
        self._part = 1.0
        while True:
            goal = to if now + largest >= to - 1e-12 * max(1.0, abs(to)) else now + largest
            self._reach(now, goal, smallest)
            now = goal
            if now >= to:
                return self.history

    def monitor(self, function: Monitor) -> None:
        """Call `function` with each converged `Step`."""
        self._monitors.append(function)
