# SPDX-License-Identifier: BSD-3-Clause
"""Newton's method within a time step, with a tangent that lasts for many steps."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ...arrays import Array
from ...assembly.vectors import Vectors
from ...errors import ConvergenceError
from ...newton import Leftover, PartBacktracking
from ...runtime.collective import share_error, together
from ...runtime.petsc import PETSc, loosely
from ..preconditioner import Preconditioner
from ..solver import is_symmetric
from .balance import Balance
from .idle import idle_bodies, undetermined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...assembly.piece import Piece
    from .motion import Motion


SLOW = 0.3  # ratio of two residuals above which the tangent is renewed
LARGE, SLOW_LARGE = 5000, 0.5  # unknowns beyond which a factorisation costs many iterations
EAGER = 20  # steps that renew the tangent at once after `PROOF` ones that could not do without
PROOF = 3
PATIENCE = 12  # iterations beyond the fewest seen with a tangent that cost as much as a new one


class Newton:
    r"""Find u such that M a(u) + C rate(u) + R(u, rate(u), t) = 0, Phi(u, t) = 0.

    Rates and accelerations follow the coordinates by the affine map of the time integrator:
    rate = base_rate + rate_factor (u - base), likewise the acceleration.

    `Balance` tells when Newton's method ends.

    The tangent is that of an earlier step while it serves: it is renewed where two residuals
    fall by less than `SLOW`, where the step's length has changed, and when the iterations that
    a fresh one would have saved add up to `PATIENCE`. Where steps one after the other need a new
    tangent, the next `EAGER` ones make it after their first iteration, near the solution, and
    converge quadratically. None of this depends on times, so that runs can be repeated bit for
    bit.

    Attributes
    ----------
    snes, J, F, x : petsc4py objects of the free unknowns.
    base, base_rate, base_acceleration : local vectors of the affine map.
    balance : `Balance`.
    renewals : number of tangents made.
    stale : set it to have the next tangent made anew.
    kinked : whether forces may have kinks: with a fresh tangent `PartBacktracking` looks where a
        step leads, and steps begin where a step of it leads nearest.
    """

    def __init__(self, motion: Motion, snes: PETSc.SNES) -> None:
        self.motion, self.system = motion, motion.system
        numbering = self.numbering = self.system.numbering
        self.comm: MPI.Comm = self.system.comm
        self.vectors = Vectors(numbering)
        self.x: PETSc.Vec = self.vectors.new()
        self.F = self.x.duplicate()
        self.J = motion.matrix.mat
        n = numbering.coordinates
        self.base, self.base_rate, self.base_acceleration = np.zeros(n), np.zeros(n), np.zeros(n)
        self._fixed = np.flatnonzero(numbering.fixed_by >= 0)
        self._f, self._scratch, self._change = np.zeros(n), np.zeros(n), np.zeros(n)
        self.snes = snes
        snes.setFunction(loosely(self._function), self.F)
        snes.setJacobian(loosely(self._jacobian), self.J, self.J)
        snes.setConvergenceTest(loosely(self._test))
        self.balance = Balance(motion, self._f)
        self.leftover = Leftover(self.system, self.balance.rows, snes.getKSP(), self.x)
        self.preconditioner = Preconditioner(
            self.system, motion.matrix, snes.getKSP(), is_symmetric(self.system, dynamic=True)
        )
        self._cuts: PartBacktracking | None = None
        self.kinked = any(piece.kinked for piece in self.system.pieces)
        if self.kinked:
            evaluate = loosely(self._evaluate)
            self._cuts = PartBacktracking(
                snes, self.balance, evaluate, self.x, self.leftover, lambda: self._made_now
            )
        self.size = 1.0
        self.error: BaseException | None = None
        self.renewals, self.stale = 0, True
        self._slow = SLOW_LARGE if numbering.size > LARGE else SLOW
        self._step_of_tangent = 0.0
        self._fewest, self._beyond = 0.0, 0.0
        self._eager = self._needy = 0
        self._fresh = self._made_now = self._determined = False
        self._shares: list[float] = []
        self._before: Array = np.zeros(0)
        self.system.register(self)

    # ---- lists that change, see `HoldsVectors` --------------------------------------------------
    def local_vectors(self) -> list[Array]:
        """Return those of the affine map."""
        return [self.base, self.base_rate, self.base_acceleration]

    def relisted(self, changed: Sequence[Piece], rebuilt: bool) -> None:
        """Take up other entities, and a tangent of another pattern (collective)."""
        self._fixed = np.flatnonzero(self.numbering.fixed_by >= 0)
        self.stale = self.stale or any(piece.kernel.has_tangent for piece in changed)
        if rebuilt:
            self.J = self.motion.matrix.mat
            self.snes.getKSP().reset()
            self.snes.setJacobian(loosely(self._jacobian), self.J, self.J)
            constraints = self.balance.constraints
            constraints.relisted()
            constraints.measure(self.balance.rows.sizes())

    # ---- the affine map -------------------------------------------------------------------------
    def follow(self) -> None:
        """Let rates and accelerations follow the state."""
        m, change = self.motion, self._change
        np.subtract(m.state, self.base, out=change)
        np.multiply(m.rate_factor, change, out=m.rate)
        m.rate += self.base_rate
        np.multiply(m.acceleration_factor, change, out=m.acceleration)
        m.acceleration += self.base_acceleration

    def _hold(self) -> None:
        """Let the affine map give prescribed coordinates the rates that they have."""
        m, fixed = self.motion, self._fixed
        self.base[fixed] = m.state[fixed]
        self.base_rate[fixed] = m.rate[fixed]
        self.base_acceleration[fixed] = m.acceleration[fixed]

    # ---- callbacks: never let an exception cross PETSc ------------------------------------------
    def _function(self, snes: PETSc.SNES, x: PETSc.Vec, F: PETSc.Vec) -> None:
        if self._evaluate(x, F):
            F.set(np.nan)

    def _evaluate(self, x: PETSc.Vec, F: PETSc.Vec) -> int:
        """Write the residual at unknowns `x`; return the number of bad points of all ranks."""
        bad = 0
        try:
            self.vectors.to_local(x, self.motion.state)
            self.follow()
            bad = self.motion.residual(self._f)
            self.vectors.to_global(self._f, F)
        except BaseException as error:
            self.error, bad = self.error or error, 1
        return bad if self.comm.size == 1 else int(self.comm.allreduce(bad))

    def _jacobian(self, snes: PETSc.SNES, x: PETSc.Vec, J: PETSc.Mat, P: PETSc.Mat) -> None:
        iteration = len(self._shares) - 1
        slow = iteration > 0 and self._shares[-1] > self._slow * self._shares[-2]
        at_once = iteration == 1 and self._eager > 0 and not self._fresh
        self._made_now = self.stale or slow or at_once
        if not self._made_now:
            return
        try:
            self._renew(snes.getKSP())
        except BaseException as error:
            self.error = self.error or error
        self._fresh = True

    def _renew(self, ksp: PETSc.KSP) -> None:
        """Make the tangent at the present state (collective)."""
        bad = 0
        self.renewals += 1
        self.stale = False
        self._fewest, self._beyond = 0.0, 0.0
        with together(self.comm):
            bad = self.motion.tangent(self._scratch)
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
            raise ConvergenceError(
                f"the equations of a step are singular: {_may_turn(names)}",
                reason="DIVERGED_LINEAR_SOLVE",
                iteration=0,
            )
        self._determined = True

    def _test(self, snes: PETSc.SNES, iteration: int, norms: tuple[float, float, float]) -> int:
        try:
            rows, x = self.F.getArray(readonly=True), snes.getSolution().getArray(readonly=True)
            old, self._before = self._before, x.copy()
            reason = self.balance.test(
                snes, iteration, rows, lambda: self.balance.length(x - old, x), self._made_now
            )
            if reason > 0 and not self._settled(rows, x, x - old if iteration else None):
                reason = int(PETSc.SNES.ConvergedReason.ITERATING)
            share = float(self.balance.last.max(initial=0.0))
        except BaseException as error:
            self.error = self.error or error
            return int(PETSc.SNES.ConvergedReason.DIVERGED_FNORM_NAN)
        self._shares = [share] if iteration == 0 else [*self._shares, share]
        return reason

    def _settled(self, rows: Array, x: Array, step: Array | None) -> bool:
        """Tell whether nothing soft is hidden; see `Leftover` (collective)."""
        if step is None and self.stale:
            return True  # no tangent is at hand
        settled = self.leftover.settled(rows, x, step, self.balance.noise)
        self.stale = self.stale or (not settled and self.leftover.extra % 2 == 0)
        return settled

    def largest(self, value: float) -> float:
        """Return the largest value of all ranks (collective)."""
        if self.comm.size == 1:
            return value
        return float(self.comm.allreduce(value, op=MPI.MAX))

    def nearest(self, starts: Sequence[Array], h: float) -> list[int]:
        """Return the order of starts of a step by how far they lead Newton's method (collective).

        Each takes one step with one tangent; what counts is how small the next one would be. A
        start that presses where the other ones have opened may be far away, and is the right one.

        Parameters
        ----------
        starts : local vectors; where the tangent is to be made anew, it is that of the last one.
        """
        self._take(h)
        self._hold()
        free, found = self.numbering.free, []
        try:
            for start in reversed(starts):
                self.motion.state[free] = start[free]
                self.vectors.to_global(self.motion.state, self.x)
                found.append(self._after_a_step())
        except PETSc.Error:  # no factors: as they are given
            self.stale = True
            return list(range(len(starts)))
        order: list[int] = np.argsort(found[::-1], kind="stable").tolist()
        return order

    def _after_a_step(self) -> float:
        """Make a step of Newton's method from `x`; return the length of the next (collective)."""
        ksp, size = self.snes.getKSP(), math.inf
        for last in (False, True):
            self.error, bad = None, self._evaluate(self.x, self.F)
            share_error(self.comm, self.error)
            if bad:
                return math.inf
            if self.stale:
                self._renew(ksp)
                ksp.setOperators(self.J, self.J)
            step = self.leftover.correction(self.F.getArray(readonly=True))
            if step is None:
                return math.inf
            size = float(np.linalg.norm(self.leftover.lengths(step)))
            if not last:
                self.x.getArray()[:] -= step
        return size

    # ---- one solution ---------------------------------------------------------------------------
    def begin(self) -> None:
        """Take the size of the system; forget earlier steps (collective)."""
        sizes = self.balance.begin()
        self.leftover.measure(sizes)
        self.size = float(sizes.max(initial=0.0))
        self.forget()

    def forget(self) -> None:
        """Forget all that earlier steps left, so that what follows depends on the state alone."""
        self.balance.forget()
        self._eager = self._needy = 0
        self.stale = True

    def _take(self, h: float) -> None:
        """Take the length of a step."""
        if abs(h - self._step_of_tangent) > 1e-6 * h:
            self.stale = True
        self._step_of_tangent = h

    def solve(self, h: float) -> bool:
        """Solve from the present state; return success (collective).

        Raises
        ------
        Exception : what a callback raised, on every rank.
        """
        self._take(h)
        self.error = None
        self._hold()
        if not self.numbering.size:  # all is prescribed
            return self._without_unknowns()
        self.vectors.to_global(self.motion.state, self.x)
        self.leftover.begin()
        made, self._fresh = self.renewals, False
        worn = not self.stale and not self._eager
        try:
            self.snes.solve(None, self.x)
        except PETSc.Error as error:
            for thrown in (self.error, self.preconditioner.error):
                share_error(self.comm, thrown)
            raise self._unsolved(error) from error
        share_error(self.comm, self.error)
        if self._cuts is not None:
            share_error(self.comm, self._cuts.error)
        if self.snes.getConvergedReason() <= 0:
            self.stale = True
            return False
        self.vectors.to_local(self.x, self.motion.state)
        self.follow()
        self.balance.accept()
        self.leftover.warn(f"at time {self.system.time:g}", 8)
        used = float(max(1, self.snes.getIterationNumber()))
        needy = worn and self.renewals > made
        if self._eager:
            self._eager -= 1
        else:
            self._needy = min(self._needy + 1, PROOF) if needy else 0
            self._eager = EAGER if self._needy == PROOF else 0
        if self.renewals > made:
            self._fewest = used
        else:
            self._fewest = min(self._fewest, used)
            self._beyond += used - self._fewest
            self.stale = self.stale or self._beyond >= PATIENCE
        return True

    def _unsolved(self, error: PETSc.Error) -> ConvergenceError:
        """Return what to tell where PETSc could not factorise the tangent of a step."""
        idle = [*map(self.system.name, idle_bodies(self.system))]
        said = str(error).splitlines()[-1].split("] ")[-1]
        text = f"the equations of a step cannot be solved: {said}"
        if idle:
            text += f"; {_may_turn(idle)}"
        return ConvergenceError(
            text, reason="DIVERGED_LINEAR_SOLVE", iteration=self.snes.getIterationNumber()
        )

    def _without_unknowns(self) -> bool:
        bad = 0
        with together(self.comm):
            self.follow()
            bad = self.motion.residual(self._f)
        return not self.comm.allreduce(bad)


def _may_turn(names: list[str]) -> str:
    """Return what to do about bodies without inertia."""
    return (
        f"{', '.join(map(repr, names))} may turn without inertia: give inertia=..., hold the "
        'rotation, or take an explicit method="rk"'
    )
