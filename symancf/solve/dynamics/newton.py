# SPDX-License-Identifier: BSD-3-Clause
"""Newton's method within a time step, with a tangent that lasts for many steps."""

from __future__ import annotations

import ctypes
import math
from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI

from ...arrays import Array
from ...assembly.half import write_tangent
from ...assembly.vectors import Vectors
from ...bodies.natural.body import RigidBody
from ...errors import ConvergenceError
from ...newton import SLOW_RATIO as NO_GAIN
from ...newton import (
    Leftover,
    PartBacktracking,
    PredictedStresses,
    StressPrediction,
    VectorEquations,
    holds_by_penalties,
)
from ...runtime.collective import share_error, together
from ...runtime.petsc import PETSc, loosely
from ..folds import Folds
from ..preconditioner import Preconditioner
from ..residual import LinearResidual
from ..solver import is_symmetric, solver_name
from ..takeover import Takeover
from .balance import Balance
from .explanation import explained
from .native import Native
from .undetermined import undetermined

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ...assembly.discrete import DiscreteSystem
    from ...assembly.form import Form
    from ...assembly.half import Half
    from ...newton import Aid, AidRow
    from ...runtime.options import SolverOptions
    from .motion import EquationsOfMotion


SLOW_RATIO = 0.3  # ratio of two residuals above which the tangent is renewed
LARGE = 5000  # unknowns beyond which a factorisation costs many iterations
#: steps that renew the tangent at once after `PROOF_STEPS` ones that could not do without
EAGER_STEPS = 20
PROOF_STEPS = 3
#: iterations beyond the fewest seen with a tangent that cost as much as a new one
EXTRA_ITERATIONS = 12


class Newton(VectorEquations):
    r"""Find u such that M a(u) + C rate(u) + R(u, rate(u), t) = 0, Phi(u, t) = 0.

    Rates and accelerations follow the coordinates by the affine map of the time integrator:
    rate = base_rate + rate_factor (u - base), likewise the acceleration.

    `Balance` tells when Newton's method ends.

    The tangent is that of an earlier step while it serves: it is renewed where two residuals
    fall by less than `SLOW_RATIO`, where the step's length has changed, and when the iterations
    that a fresh one would have saved add up to `EXTRA_ITERATIONS`. Where steps one after the other
    need a new tangent, the next `EAGER_STEPS` ones make it after their first iteration, near the
    solution, and converge quadratically. None of this depends on times, so that runs can be
    repeated bit for bit.

    Attributes
    ----------
    J : the tangent of the free unknowns, as `x` and `F` have them.
    base, base_rate, base_acceleration : local vectors of the affine map.
    native : `Native`, with the numbers of these for C, which makes iterations where it can.
    uses : rows of the aids that this problem uses.
    tangent : how long the tangent lasts, ``symancf_tangent``; `stale`: the next one is made anew.
    takeover : `Takeover` of a Krylov solver, if PETSc's options have chosen one, else None.
    ended, iterations : PETSc's reason and the number of the last solution.
    balance : `Balance`.
    outside : a state of the last solution at which laws have no value, or None.
    step_of_tangent : length of the step to which it belongs.
    linear : `LinearResidual`, from `attach` on.
    kinked : whether forces may have kinks: with a fresh tangent `PartBacktracking` looks where a
        step leads.
    chooses : whether steps begin with the start that leads nearest, see `nearest`.
    """

    def __init__(
        self, motion: EquationsOfMotion, snes: PETSc.SNES, uses: Mapping[str, AidRow]
    ) -> None:
        self.motion, self.system, self.uses = motion, motion.system, uses
        numbering = self.numbering = self.system.numbering
        self.vectors = Vectors(numbering)
        super().__init__(self.system.comm, snes, self.vectors.new())
        self.J = motion.storage.mat
        n = numbering.coordinates
        self.base, self.base_rate, self.base_acceleration = np.zeros(n), np.zeros(n), np.zeros(n)
        self.f, self._scratch = np.zeros(n), np.zeros(n)
        self.native: Native = Native(self)
        slow = NO_GAIN if numbering.size > LARGE else SLOW_RATIO
        self.native.problem.give(
            proof=PROOF_STEPS, steps=EAGER_STEPS, patience=EXTRA_ITERATIONS, slow=slow
        )
        self.tangent: Any = self.native.state.tangent
        self.tangent.stale = True
        snes.setJacobian(loosely(self._linearized), self.J, self.J)
        self.balance = Balance(motion, self.f, self.native)
        self.leftover = Leftover(self.system, self.balance.rows, snes.getKSP(), self.x)
        self._half = motion.half
        symmetric = is_symmetric(self.system, dynamic=True) or self._half is not None
        self.preconditioner = Preconditioner(self.system, motion.storage, snes.getKSP(), symmetric)
        self.takeover: Takeover | None = None
        self.kinked = any(form.kinked for form in self.system.forms)
        self.chooses = bool(self.kinked and numbering.size and "nearest" in uses)
        self.predicted: StressPrediction | None = None
        self.size = 1.0
        self.outside: Array | None = None
        self.ended = self.iterations = 0
        self.step_of_tangent = 0.0
        self._determined = False
        self._folds = Folds(self.system) if holds_by_penalties(self.system) else None
        self.system.register(self)

    def attach(self, options: SolverOptions, note: Callable[[str], None]) -> None:
        """Take up the linear solver and the aids that options have chosen (collective).

        `note` is told which solver is at work.
        """
        self._note = note
        ksp = self.snes.getKSP()
        self.linear = LinearResidual(self.system, ksp, self.x.duplicate(), options, dynamic=True)
        self.preconditioner.attach()
        if ksp.getType() != PETSc.KSP.Type.PREONLY:
            self.takeover = Takeover(self.system, ksp, self.preconditioner, options, dynamic=True)
        self.configured(options)
        self._make_aids()

    def _make_aids(self) -> None:
        """Make the aids that apply, of those that are wanted (collective)."""
        aids: list[Aid] = []
        self.predicted, self.native.work.prediction = None, None
        if self._folds is not None and "predicted" in self.uses:
            predicted = PredictedStresses(self.system, penalties=True)
            if predicted.some:
                self.predicted = StressPrediction(predicted)
        if self.predicted is not None:
            self.native.work.prediction = ctypes.pointer(self.predicted.data)
            aids.append(self.predicted)
        if self.kinked and "backtracking" in self.uses:
            evaluate, fresh = loosely(self.evaluate), loosely(self._is_fresh)
            aids.append(PartBacktracking(self, self.balance, evaluate, self.leftover, fresh))
        aids += [row.make(self) for row in self.uses.values() if row.make is not None]
        self.aids = aids

    def tell_solver(self) -> None:
        """Say which linear solver is at work, and where one rank has all unknowns (collective)."""
        ranks, size = self.comm.size, self.numbering.size
        if ranks > 1 and self.numbering.topology.on_one_rank:
            self._note(f"{size} unknowns: integrated on rank 0 of {ranks}")
        self._note(f"linear solver: {solver_name(self.snes.getKSP())}")

    def _is_fresh(self) -> bool:
        """Whether the tangent is that of the present iteration."""
        return bool(self.tangent.made_now)

    # ---- lists that change, see `HoldsVectors` --------------------------------------------------
    def local_vectors(self) -> list[Array]:
        """Return those of the affine map."""
        return [self.base, self.base_rate, self.base_acceleration]

    def relisted(self, changed: Sequence[Form], rebuilt: bool) -> None:
        """Take up other entities, and a tangent of another pattern (collective)."""
        self.native.describe()
        self.tangent.stale |= rebuilt or any(form.kernel.has_tangent for form in changed)
        if rebuilt:
            self.J = self.motion.matrix.mat
            self.snes.getKSP().reset()
            self._show()
            constraints = self.balance.constraints
            constraints.relisted()
            constraints.measure(self.balance.rows.sizes())

    def _show(self) -> None:
        """Let PETSc have the tangent that is solved with, which is another one."""
        self.snes.setJacobian(loosely(self._linearized), self.J, self.J)

    def _store_in(self, half: Half | None) -> None:
        """Write tangents to a half from now on, or to PETSc's AIJ (collective)."""
        if self._half is not None:
            self.motion.half = half
            self.preconditioner.use(self.motion.storage)
            self.J = self.motion.storage.mat
            self.tangent.stale = True
            self._show()

    # ---- the equations --------------------------------------------------------------------------
    def evaluate(self, x: PETSc.Vec, F: PETSc.Vec) -> int:
        """Write the residual at unknowns `x`; return the number of bad points of all ranks."""
        bad = 0
        try:
            self.vectors.to_local(x, self.motion.state)
            self.native.call("follow")
            bad = self.motion.residual(self.f)
            self.vectors.to_global(self.f, F)
        except BaseException as error:
            self.error, bad = self.error or error, 1
        bad = bad if self.comm.size == 1 else int(self.comm.allreduce(bad))
        if bad:
            self.outside = self.motion.state.copy()
        return bad

    def linearize(self) -> None:
        """Make the tangent anew where the old one does not serve; give it to the KSP."""
        ksp = self.snes.getKSP()
        serves = not self.native.call("tangent_wanted", self.snes.getIterationNumber())
        if not serves or self.predicted is not None:
            self.renew(ksp)
        ksp.setOperators(self.J, self.J)

    def renew(self, ksp: PETSc.KSP, *, rubs: bool = True) -> None:
        """Make the tangent at the present state (collective).

        Rows of friction in tendons alone, where that may suffice, and the last solution has not
        failed: it is no fresh one then. `rubs`: there is such friction at present.
        """
        bad, rows = 0, self.preconditioner.rows
        lasts = rubs and self.ended >= 0 and not self.tangent.stale
        if rows is not None and lasts and rows.update(self.motion.state):
            self.tangent.made_now = False
            return
        self.native.call("tangent_made")
        bad = write_tangent(self.motion.storage, lambda: self.motion.tangent(self._scratch))
        if rows is not None:
            with together(self.comm):
                rows.take(self.motion.state if rubs else None)
        if not self._determined:
            self._require_determined()
        self.balance.constraints.refresh()
        if not self.comm.allreduce(bad):
            self.preconditioner.renew(self.J)

    def _require_determined(self) -> None:
        """Require once that bodies without inertia do not turn as they like (collective)."""
        idle = idle_bodies(self.system)
        names = undetermined(self.system, self.J, idle) if idle else []
        if names:
            text = "the equations of a step are singular"
            raise self._explained(ConvergenceError(text, reason="DIVERGED_LINEAR_SOLVE"), names)
        self._determined = True

    def weigh(self) -> None:
        """Let terms see how stiff the system is without their friction (collective)."""
        system, ksp, friction = self.system, self.snes.getKSP(), self.system.friction
        if not friction or not self.numbering.size:  # all is prescribed
            return
        chosen = np.array([form not in friction for form in system.assembler.forms])
        with system.assembler.only(chosen):
            self.renew(ksp, rubs=False)
        ksp.setOperators(self.J, self.J)
        for term in system.rubbing:
            term.weigh(system, self._response)
        self.tangent.stale = True
        with together(self.comm):
            system.update(system.time)

    def _response(self, forces: Array) -> Array | None:
        """Return the change of the state (local) under forces (local), with the KSP's tangent."""
        try:
            rows = self.leftover.correction(self.numbering.to_rows(forces))
        except PETSc.Error:  # a pivot is zero: friction alone holds something
            rows = None
        if rows is None:
            return None
        change = np.zeros_like(forces)
        self.numbering.from_rows(rows, change)
        return change

    def test(self, iteration: int) -> int:
        """Return PETSc's reason to stop, or 0 (collective)."""
        reason, atol = self.native.call("test", iteration), self.snes.getTolerances()[1]
        share_error(self.comm, self.error)
        if not reason and atol > 0.0 and self.F.norm() <= atol:
            reason = int(PETSc.SNES.ConvergedReason.CONVERGED_FNORM_ABS)
        return reason

    def judge(self, rows: Array, x: Array, old: Array) -> int:
        """Return PETSc's reason to stop, 0 to go on, where C is undecided (collective).

        Parameters
        ----------
        rows, x, old : residual, unknowns, and those before the last step.
        """
        reason = self.balance.decide(x - old, x, self._is_fresh())
        if reason > 0 and not self.settled(rows, x, x - old):
            return int(PETSc.SNES.ConvergedReason.ITERATING)
        return reason

    def settled(self, rows: Array, x: Array, step: Array | None) -> bool:
        """Tell whether nothing soft is hidden; see `Leftover` (collective)."""
        if "leftover" not in self.uses or (step is None and self.tangent.stale):
            return True  # nobody wants it, or no tangent is at hand
        settled = self.leftover.settled(rows, x, step, self.balance.rounded_rows)
        self.tangent.stale |= not settled and self.leftover.extra % 2 == 0
        return settled

    def largest(self, value: float) -> float:
        """Return the largest value of all ranks (collective)."""
        if self.comm.size == 1:
            return value
        return float(self.comm.allreduce(value, op=MPI.MAX))

    def nearest(self, starts: Sequence[Array], h: float, again: bool) -> Array:
        """Return the start of a step that leads Newton's method nearest (collective).

        Each takes one step with one tangent; what counts is how small the next one would be. A
        start that presses where the other ones have opened may be far away, and is the right one.
        From the first one it begins at once where steps fall as with a tangent that serves.

        Parameters
        ----------
        starts : local vectors; where the tangent is to be made anew, it is that of the last one.
        again : return the second nearest.
        """
        self.take(h)
        self.native.call("prescribe")
        sizes: dict[int, float] = {}
        try:
            if not (again or self.tangent.stale):
                length, sizes[0] = self._steps_from(starts[0])
                if sizes[0] <= self.native.problem.slow * length:
                    return starts[0]
            for k in range(len(starts) - 1, len(sizes) - 1, -1):
                _, sizes[k] = self._steps_from(starts[k])
        except PETSc.Error:  # no factors: as they are given
            self.tangent.stale = True
            return starts[int(again)]
        return starts[sorted(range(len(starts)), key=sizes.__getitem__)[int(again)]]

    def _steps_from(self, start: Array) -> tuple[float, float]:
        """Return the lengths of two steps of Newton's method; of none, inf (collective)."""
        free, ksp, lengths = self.numbering.free, self.snes.getKSP(), [0.0, math.inf]
        self.motion.state[free] = start[free]
        self.vectors.to_global(self.motion.state, self.x)
        for last in (False, True):
            self.error, bad = None, self.evaluate(self.x, self.F)
            share_error(self.comm, self.error)
            if bad:
                return lengths[0], math.inf
            if self.tangent.stale:
                self.renew(ksp)
                ksp.setOperators(self.J, self.J)
            step = self.leftover.correction(self.F.getArray(readonly=True))
            if step is None:
                return lengths[0], math.inf
            lengths[last] = float(np.linalg.norm(self.leftover.lengths(step)))
            if not last:
                self.x.getArray()[:] -= step
        return lengths[0], lengths[1]

    # ---- one solution ---------------------------------------------------------------------------
    def begin(self) -> None:
        """Take the size of the system; forget earlier steps (collective)."""
        sizes = self.balance.begin()
        self.leftover.measure(sizes)
        self.size = float(sizes.max(initial=0.0))
        self.forget()
        if self.takeover is not None and self.takeover.call():
            self._store_in(self._half)
        self.native.begin()
        self.tell_solver()

    def forget(self) -> None:
        """Forget all that earlier steps left, so that what follows depends on the state alone."""
        self.balance.forget()
        if self.predicted is not None:
            self.predicted.forget()
        self.tangent.eager = self.tangent.needy = self.ended = 0
        self.tangent.stale = True

    def take(self, h: float) -> None:
        """Take the length of a step."""
        if abs(h - self.step_of_tangent) > 1e-6 * h:
            self.tangent.stale = True
        self.step_of_tangent = h

    def solve_step(self, h: float) -> bool:
        """Solve from the present state; return success (collective).

        Raises
        ------
        Exception : what a callback raised, on every rank.
        """
        self.take(h)
        self.error = self.outside = None
        self.native.call("prescribe")
        if not self.numbering.size:  # all is prescribed
            return self._without_unknowns()
        estimates = self.balance.estimates()
        self.ended = self.native.solve() if self.native.able else self._solved()
        if self.ended <= 0:
            self.tangent.stale = True
            self.balance.recall(estimates)  # what iterations that led astray seemed to say
            return False
        self.leftover.warn(f"at time {self.system.time:g}")
        self.look_at_folds()
        return True

    def look_at_folds(self) -> None:
        """Warn where sections of rods stand at a large angle (collective)."""
        if self._folds is not None:
            self._folds.look(f"at time {self.system.time:g}")

    def lend_folds(self) -> None:
        """Let C look at sections of rods while it makes many steps."""
        if self._folds is not None:
            self._folds.lend(self.native.sections)

    def _solved(self) -> int:
        """Iterate, and again where factors have to take over (collective)."""
        if self.takeover is None:
            return self._iterated()
        start = self.motion.state.copy()
        self.takeover.begin()
        reason = self._iterated()
        if reason <= 0 and self._takes_over(self.takeover, reason):
            self.tangent.stale, self.motion.state[:] = True, start
            reason = self._iterated()
        return reason

    def _takes_over(self, takeover: Takeover, reason: int) -> bool:
        """Let factors take over where Krylov's method has failed; tell whether (collective)."""
        if takeover.wanted(self.snes.getKSP().getConvergedReason()):
            takeover.take()
            self._store_in(None)
            self.tell_solver()
            return True
        failed = reason == PETSc.SNES.ConvergedReason.DIVERGED_LINEAR_SOLVE
        return failed and self.preconditioner.take_over()

    def _iterated(self) -> int:
        """Make iterations from the present state; return PETSc's reason (collective)."""
        self.vectors.to_global(self.motion.state, self.x)
        self.native.prepare()
        self.native.call("tangent_begin")
        if self.predicted is not None:
            self.predicted.begin()
        try:
            solution = self.find()
        except PETSc.Error as error:
            self.iterations = self.snes.getIterationNumber()
            for thrown in (self.error, self.preconditioner.error, self.linear.callbacks.error):
                share_error(self.comm, thrown)
            raise self.unsolved(error) from error
        self.iterations, reason = solution.iterations, solution.reason
        if reason > 0:
            self.vectors.to_local(self.x, self.motion.state)
            self.native.call("follow")
            self.native.call("accept", self.iterations)
            share_error(self.comm, self.error)
            if self.predicted is not None:
                self.predicted.accept(self.motion.state)
        return reason

    def unsolved(self, error: PETSc.Error) -> ConvergenceError:
        """Return what to tell where PETSc could not factorise the tangent of a step."""
        idle = [*map(self.system.name, idle_bodies(self.system))]
        reason = str(error).splitlines()[-1].split("] ")[-1]
        text = f"the equations of a step cannot be solved: {reason}"
        failure = ConvergenceError(text, reason="DIVERGED_LINEAR_SOLVE", iteration=self.iterations)
        return self._explained(failure, idle)

    def _explained(self, error: ConvergenceError, idle: list[str]) -> ConvergenceError:
        h = self.step_of_tangent or 1.0
        return explained(self.motion, error, to=self.motion.span[1], step=h, idle=idle)

    def _without_unknowns(self) -> bool:
        bad = 0
        with together(self.comm):
            self.native.call("follow")
            bad = self.motion.residual(self.f)
        self.iterations = self.linear_iterations = 0
        return not self.comm.allreduce(bad)


def idle_bodies(system: DiscreteSystem) -> list[RigidBody]:
    """Return the rigid bodies whose own inertia does not resist every rotation."""
    return [b for b in system.bodies if isinstance(b, RigidBody) and not b._has_inertia]
