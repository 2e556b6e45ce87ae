# SPDX-License-Identifier: BSD-3-Clause
"""Newton's method within a time step, with a tangent that lasts for many steps."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from ..assembly.vectors import Vectors
from ..collective import share_error, together
from ..errors import ConvergenceError
from ..newton import RowNorms
from ..newton.constraints import Entries
from ..petsc import PETSc, loosely
from .idle import idle_bodies, undetermined

if TYPE_CHECKING:
    from .motion import Motion

Array = npt.NDArray[np.float64]

EPS = float(np.finfo(float).eps)
TINY = float(np.finfo(float).tiny)
NEAR = 2.0  # times the estimate of round-off
SLOW = 0.3  # ratio of two residuals above which the tangent is renewed
LARGE, SLOW_LARGE = 5000, 0.5  # unknowns beyond which a factorisation costs many iterations
EAGER = 20  # steps that renew the tangent at once after `PROOF` ones that could not do without
PROOF = 3
PATIENCE = 12  # iterations beyond the fewest seen with a tangent that cost as much as a new one
BESIDE = 1e-3  # of the largest work in a part: forces that are less count for nothing in jumps
CONSTRAINT = 1e-13  # of the size of the part: violation that round-off leaves
GONE = 1e-13  # of the multipliers' scale: a gradient that is round-off
UNLOADED = 1e-10  # of the largest forces of a part, by their work: a kind of row without any
LOOSE = 1e4  # times that: the volume of a gas, a sum over many facets; 1e-9 of it


class Newton:
    r"""Find u such that M a(u) + C rate(u) + R(u, rate(u), t) = 0, Phi(u, t) = 0.

    Rates and accelerations follow the coordinates by the affine map of the time integrator:
    rate = base_rate + rate_factor (u - base), likewise the acceleration.

    Newton's method ends when every kind of row (forces on positions, on slopes, ...) has

    .. math:: \|r\|_k \le \mathrm{rtol} \max(\|M a\|_k, \|R\|_k),

    the larger of the values at the beginning of this step and at the end of the last one, or no
    more than round-off of u makes of it (estimated where the residual stalls), and every
    constraint has :math:`|\Phi_i| \le 10^{-13} |\Phi_{i,u}| L`, L the size of the system;
    or when it no longer changes what is within a thousand times of that.

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
    renewals : number of tangents made.
    stale : set it to have the next tangent made anew.
    """

    def __init__(self, motion: Motion, snes: PETSc.SNES) -> None:
        self.motion, self.system = motion, motion.system
        numbering = self.numbering = self.system.numbering
        self.comm: Any = self.system.comm
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
        rows = self.rows = RowNorms(self.system, [*self.system.pieces, *motion.mass.pieces])
        self._is_constraint = rows.classes(lambda block: block.is_equation)
        self._moves = rows.classes(lambda block: block.moves)
        algebraic = rows.classes(lambda block: block.kind == "algebraic")
        self._constrained = bool(self._is_constraint.any())  # on some rank
        self._phi = np.flatnonzero(self._is_constraint[rows.of_row])
        self._loose = np.where(algebraic, LOOSE, 1.0)[rows.of_row][self._phi]
        self._entries = Entries(motion.matrix, self._phi)
        self._reference = np.zeros(rows.count)
        self._first, self._share = np.zeros(rows.count), 0.0
        self._natural = np.ones(rows.count)
        self._limit = np.ones(len(self._phi))
        self._noise = np.zeros(rows.count)
        self._last = np.zeros(rows.count)
        self.size = 1.0
        self.error: BaseException | None = None
        self.renewals, self.stale = 0, True
        self._slow = SLOW_LARGE if numbering.size > LARGE else SLOW
        self._step_of_tangent = 0.0
        self._fewest, self._beyond = 0.0, 0.0
        self._eager = self._needy = 0
        self._fresh = self._determined = False
        self._ratios: list[float] = []
        self._rtol = 1e-8

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
        bad = 0
        try:
            self.vectors.to_local(x, self.motion.state)
            self.follow()
            bad = self.motion.residual(self._f)
            self.vectors.to_global(self._f, F)
        except BaseException as error:
            self.error, bad = self.error or error, 1
        if self.comm.size > 1:
            bad = self.comm.allreduce(bad)
        if bad:
            F.set(np.nan)

    def _jacobian(self, snes: PETSc.SNES, x: PETSc.Vec, J: PETSc.Mat, P: PETSc.Mat) -> None:
        iteration = len(self._ratios) - 1
        slow = iteration > 0 and self._ratios[-1] > self._slow * self._ratios[-2]
        at_once = iteration == 1 and self._eager > 0 and not self._fresh
        if not (self.stale or slow or at_once):
            return
        try:
            with together(self.comm):
                self.motion.tangent(self._scratch)
            if not self._determined:
                self._require_determined()
            self.measure_constraints()
        except BaseException as error:
            self.error = self.error or error
        self.renewals += 1
        self.stale, self._fresh = False, True
        self._fewest, self._beyond = 0.0, 0.0

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

    def measure_constraints(self) -> None:
        """Set the violation of each constraint that counts as none."""
        if len(self._phi):
            lengths = self._entries.lengths()
            vanished = lengths < GONE * self.system.stiffness * self.size
            limit = CONSTRAINT * np.where(vanished, 0.0, lengths)
            self._limit = np.maximum(self._loose * limit, TINY)

    def _test(self, snes: PETSc.SNES, iteration: int, norms: tuple[float, float, float]) -> int:
        reasons = PETSc.SNES.ConvergedReason
        try:
            if not math.isfinite(norms[2]):
                return int(reasons.DIVERGED_FNORM_NAN)
            ratio = self._ratio(iteration, self._rtol)
        except BaseException as error:
            self.error = self.error or error
            return int(reasons.DIVERGED_FNORM_NAN)
        self._ratios = [ratio] if iteration == 0 else [*self._ratios, ratio]
        if ratio <= 1.0:
            return int(reasons.CONVERGED_FNORM_RELATIVE)
        if iteration > 0 and ratio > 0.5 * self._ratios[-2]:
            return self._stalled(snes, ratio)
        return int(reasons.ITERATING)

    def _stalled(self, snes: PETSc.SNES, ratio: float) -> int:
        """Return PETSc's reason after an iteration that changed little."""
        reasons = PETSc.SNES.ConvergedReason
        try:
            self._measure_noise()
            self._reference = np.maximum(self._reference, self._noise)
            arisen = np.where(self._is_constraint, 0.0, self._rtol * self._sizes())
            self._reference = np.maximum(self._reference, arisen)
            now = self._ratios[-1] = self._ratio(-1, self._rtol)
        except BaseException as error:
            self.error = self.error or error
            return int(reasons.DIVERGED_FNORM_NAN)
        if now <= 1.0:
            return int(reasons.CONVERGED_FNORM_RELATIVE)
        if len(self._ratios) > 2 and now <= 1e3 and min(self._ratios[-2:]) > 0.5 * self._ratios[-3]:
            return int(reasons.CONVERGED_SNORM_RELATIVE)
        at_first = max(float((self._first / self._reference).max(initial=0.0)), self._share)
        if now > 1e4 * at_first:
            return int(reasons.DIVERGED_DTOL)
        return int(reasons.ITERATING)

    def _ratio(self, iteration: int, rtol: float) -> float:
        """Return the largest share of its limit that a residual has (collective)."""
        rows = self.F.getArray(readonly=True)
        norms = self.rows.norm(rows)
        if iteration == 0:
            forces = np.where(self._is_constraint, 0.0, np.maximum(self._last, self._sizes()))
            work = np.where(self._moves, forces * self._natural, 0.0)
            least = np.where(self._moves, UNLOADED * self.rows.worst(work)[self.rows.part], 0.0)
            least_of_all = np.maximum(self._noise, TINY)
            forces = np.maximum(forces, least / self._natural)
            self._reference = np.maximum(rtol * forces, least_of_all)
            self._reference[self._is_constraint] = np.inf
            self._first = norms
        worst = float((norms / self._reference).max(initial=0.0))
        if self._constrained:
            share = 0.0
            if len(self._phi):
                share = float((np.abs(rows[self._phi]) / self._limit).max())
            share = self.largest(share)
            self._share = share if iteration == 0 else self._share
            worst = max(worst, share)
        return worst

    def _measure_noise(self) -> None:
        """Estimate the residual that round-off of the coordinates leaves (collective)."""
        m, system = self.motion, self.system
        second = np.flatnonzero(m.second)
        B = float(m.acceleration_factor[second[0]]) if len(second) else 0.0
        size = np.where(m.settled, 0.0, np.abs(m.state))
        inertial = np.zeros_like(size)

        def product(change: Array, answer: Array) -> None:
            system.plan.product(m.state, change, answer)
            m.mass.residual(change, inertial)
            answer += B * inertial

        self._noise = NEAR * self.rows.response(size, product)

    def worst_constraint(self, local: Array) -> tuple[float, str]:
        """Return the largest share of its limit in a local vector, and the constraint's name."""
        rows = self.numbering.to_rows(local)[self._phi]
        share = np.abs(rows) / self._limit
        at = int(np.argmax(share)) if len(share) else -1
        mine = (0.0, "")
        if at >= 0:
            numbering = self.numbering
            vertex = numbering.vertex_of[numbering.coordinate_of_row[self._phi[at]]]
            mine = float(share[at]), numbering.owners.names[numbering.owner[vertex]]
        every: list[tuple[float, str]] = self.comm.allgather(mine)
        return max(every)

    def largest(self, value: float) -> float:
        """Return the largest value of all ranks (collective)."""
        if self.comm.size == 1:
            return value
        return float(self.comm.allreduce(value, op=MPI.MAX))

    def _sizes(self) -> Array:
        """Return the larger of |M a| and |R| of each class."""
        to_rows = self.numbering.to_rows
        inertia, f = to_rows(self.motion.inertia), to_rows(self._f)
        return np.maximum(self.rows.norm(inertia), self.rows.norm(f - inertia))

    def imbalance(self) -> float:
        """Return the largest share of its forces that a kind of row leaves unbalanced (collective).

        At the present state, rates and accelerations; what round-off makes does not count.
        """
        bad = self.motion.residual(self._f)
        if self.comm.size > 1:
            bad = self.comm.allreduce(bad)
        if bad:
            return math.inf
        rows = self.rows.norm(self.numbering.to_rows(self._f))
        rows = np.where(self._is_constraint, 0.0, rows)
        forces = np.where(self._is_constraint, 0.0, self._sizes())
        # a kind of row without forces of its own is measured by the work of the others
        work = self.rows.worst(forces * self._natural)[self.rows.part]
        forces = np.maximum(forces, np.maximum(BESIDE * work / self._natural, TINY))
        share = rows / forces
        if share.max(initial=0.0) < 1e-7:
            return float(share.max(initial=0.0))
        noise = self._noise
        self._measure_noise()
        share[rows <= 1e3 * self._noise] = 0.0
        self._noise = noise
        return float(share.max(initial=0.0))

    def tolerances(self, rtol: float, atol: float | None) -> Array:
        """Return the absolute tolerances of this rank's rows; see `DynamicProblem.solve`."""
        natural = self._natural[self.rows.of_row]
        if atol is None:
            return rtol * natural
        long = self.rows.classes(lambda block: block.kind == "position")[self.rows.of_row]
        return np.where(long, atol, atol / (self.size or 1.0))

    # ---- one solution ---------------------------------------------------------------------------
    def begin(self) -> None:
        """Take the size of the system; forget earlier steps (collective)."""
        sizes = self.rows.sizes()
        self.size = float(sizes.max(initial=0.0))
        lengths = self.rows.natural(sizes)
        self._natural = lengths
        self._entries.measure(self.numbering, self.rows, sizes)
        self.forget()

    def forget(self) -> None:
        """Forget all that earlier steps left, so that what follows depends on the state alone."""
        self._last[:] = self._noise[:] = 0.0
        self._eager = self._needy = 0
        self.stale = True

    def solve(self, h: float) -> bool:
        """Solve from the present state; return success (collective).

        Raises
        ------
        Exception : what a callback raised, on every rank.
        """
        if abs(h - self._step_of_tangent) > 1e-6 * h:
            self.stale = True
        self._step_of_tangent = h
        self.error = None
        self._hold()
        if not self.numbering.size:  # all is prescribed
            return self._without_unknowns()
        self.vectors.to_global(self.motion.state, self.x)
        made, self._fresh = self.renewals, False
        worn = not self.stale and not self._eager
        try:
            self.snes.solve(None, self.x)
        except PETSc.Error as error:
            share_error(self.comm, self.error)
            raise self._unsolved(error) from error
        share_error(self.comm, self.error)
        if self.snes.getConvergedReason() <= 0:
            self.stale = True
            return False
        self.vectors.to_local(self.x, self.motion.state)
        self.follow()
        self._last = self._sizes()
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
            self.stale = self._beyond >= PATIENCE
        return True

    def _unsolved(self, error: PETSc.Error) -> ConvergenceError:
        """Return what to tell where PETSc could not factorise the tangent of a step."""
        idle = [body.name for body in idle_bodies(self.system)]
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
