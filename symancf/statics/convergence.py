# SPDX-License-Identifier: BSD-3-Clause
"""When Newton's method may stop: every kind of row of every part small, or at round-off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from ..assembly.plan import Cells, Jets
from ..newton import RowNorms
from ..petsc import PETSc

if TYPE_CHECKING:
    from ..system import System

Array = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

EPS = float(np.finfo(float).eps)
NEAR = 8.0  # times the estimate of round-off; residuals that fell no more were 0.1 to 1.3 of it
UNLOADED = 1e-8  # of the reference: a state that is smaller is measured by it, not by itself
AGAIN = 10.0  # times the share with which a part has converged: more opens it again


class Convergence:
    r"""Test of one problem's residual, kind of row by kind of row, in each connected part.

    Forces, slope forces and constraints have different units, and what nothing connects has
    nothing to do with each other (see `symancf.newton`). So each kind k (positions, the slopes
    of each body, multipliers) of each part has its own norm n_k and reference r_k: the largest
    n_k of the step, or the support forces if they are larger, scaled by one common factor of the
    part such that an imbalance that only arose on the way (Newton's method stretches what turns)
    does not count for all kinds. A part has converged when

    .. math:: n_k \le \mathrm{rtol}\; r_k \quad\text{or}\quad n_k \le \|K\,\delta u\|_k

    for each of its k, where du changes each displacement by one unit in its last place: no
    smaller residual can be told from zero. Stiff directions may hide in it what soft ones still
    lack, so round-off is believed only after a step of less than 1e-8 |u|, or in two iterations
    running. A part has also converged after a step shorter than stol |u|, or when iterations
    bring nothing any more, if all n_k are below sqrt(rtol) r_k; and before the first one if its
    residual is that with which the last step ended. Newton's method ends when all parts have
    converged.

    Attributes
    ----------
    rows : `RowNorms`.
    norms : of the last iteration, by kind.
    accepted : by class, those with which the last step ended; empty: there is none.
    driven : of loads known otherwise, by class; they are references, too.
    closed : which parts have converged.
    tested : whether this test has been asked since `begin`.
    by_tolerance : the largest share of its reference that a residual had when the user's absolute
        tolerance ended the last step; 0 where it did not.
    """

    def __init__(self, system: System) -> None:
        self.system = system
        self.rows = RowNorms(system)
        numbering = system.numbering
        # kinds whose rows are functions of positions, not of displacements
        self._of_place = self.rows.classes(lambda b: b.is_equation or b.in_plane)
        self._sums = self.rows.classes(lambda b: b.kind == "algebraic")
        self._cells = [p.name for p in system.pieces if isinstance(p.entities, Cells)]
        placed = any(isinstance(p.entities, Jets) and p.size for p in system.pieces)
        self._placed = bool(system.comm.allreduce(placed)) or bool(self._of_place.any())
        reference = numbering.to_rows(system.reference)
        self._size = self.rows.total(self.rows.of(reference)[0])
        self._zero = np.zeros(self.rows.count)
        self._norms, self.driven = self._zero, self._zero
        self.accepted = np.zeros(0)
        self._first, self._largest, self._support = self._zero, self._zero, self._zero
        self.closed = np.zeros(self.rows.parts, dtype=bool)
        self._shut = np.zeros(self.rows.parts)
        self._trail: list[Array] = []
        self._near = self.closed
        self._before = np.zeros(numbering.rows)
        self.tested = False
        self.by_tolerance = 0.0

    @property
    def norms(self) -> dict[str, float]:
        """The norms of the last iteration by kind, all parts together."""
        return self.rows.by_kind(self._norms)

    def stiffest(self, diagonal: Array) -> float:
        """Return the largest entry of the tangent's diagonal (rows) at positions (collective)."""
        at = self.rows.classes(lambda b: b.kind == "position")[self.rows.of_row]
        largest = float(np.abs(diagonal[at]).max(initial=0.0))
        return float(self.system.comm.allreduce(largest, op=MPI.MAX))

    def settled(self, norms: Array) -> Flags:
        """Tell of which parts a residual is that with which the last step ended."""
        last = self.accepted
        if not len(last):
            return np.zeros(self.rows.parts, dtype=bool)
        same = np.abs(norms - last) <= 1e-9 * last
        return np.asarray(self.rows.least(same.astype(float)) > 0.0)

    def round_off(self) -> Array:
        """Return the norms of the residual of one unit in the last place (collective)."""
        system = self.system

        def product(change: Array, answer: Array) -> None:
            system.plan.product(system.state, change, answer)

        size = np.abs(system.state)
        noise = self.rows.response(size, product)
        if self._placed:  # what users write of places r, and constraints: r = X + u is rounded
            seen = self.rows.response(size + _place_size(system), product)
            for name in self._cells:
                system.plan.switch(name, active=False)
            of_terms = self.rows.response(_place_size(system), product)
            for name in self._cells:
                system.plan.switch(name, active=True)
            noise = np.where(self._of_place, seen, np.maximum(noise, of_terms))
        if self._sums.any():  # random signs would cancel there: a dilation changes all of them
            answer = np.zeros_like(system.state)
            product(EPS * system.reference, answer)
            grown = self.rows.of(system.numbering.to_rows(answer))[0]
            noise = np.where(self._sums, np.maximum(noise, grown), noise)
        return noise

    def begin(self) -> None:
        """Begin a solution: nothing has been tested."""
        self.tested, self.by_tolerance = False, 0.0

    def test(self, snes: PETSc.SNES, iteration: int, f: Array, x: Array, local: Array) -> int:
        """Return PETSc's reason to stop, or that to go on (collective).

        Parameters
        ----------
        f, x : residual and unknowns of this rank's rows.
        local : the residual as a local vector, with the support forces at fixed coordinates.
        """
        reasons = PETSc.SNES.ConvergedReason
        self.tested = True
        step = x - self._before if iteration else np.zeros_like(x)
        n, moved, size, self._support = self.rows.of(f, step, x, held=local)
        self._norms, self._before = n, x.copy()
        if not np.isfinite(n).all():
            return int(reasons.DIVERGED_FNORM_NAN)
        rtol, atol, stol, _ = snes.getTolerances()
        if iteration == 0:
            self._first, self._largest = n, self._zero
            self._trail, self._near = [], np.zeros(self.rows.parts, dtype=bool)
            self.closed = self.settled(n)
            self._shut = np.where(self.closed, 1.0, 0.0)
        self._largest = np.maximum(self._largest, n)
        if iteration:
            size = np.maximum(self.rows.total(size), UNLOADED * self._size)
            moved = self.rows.total(moved)
            part = np.divide(moved, size, out=np.full(len(size), np.inf), where=size > 0.0)
            reason = self._reason(rtol, stol, part)
        else:
            reason = int(reasons.CONVERGED_FNORM_RELATIVE) if self.closed.all() else 0
        if not reason and _norm(n) <= atol:
            reason = int(reasons.CONVERGED_FNORM_ABS)
            self.by_tolerance = float(self.shares().max(initial=0.0)) if atol > 0.0 else 0.0
        if reason > 0:
            self.accepted = n
        return reason

    def references(self) -> Array:
        """Return what the norms of the last solution are measured by, by class."""
        others = np.maximum(self._support, self.driven)
        least, most = np.maximum(self._first, others), np.maximum(self._largest, others)
        grown = np.divide(least, most, out=np.zeros_like(most), where=most > 0.0)
        factor = self.rows.worst(grown)
        return np.asarray(np.where(factor > 0.0, factor, 1.0)[self.rows.part] * most)

    def share_without_test(self, f: Array, local: Array, first: Array) -> float:
        """Return the largest share of a residual that this test was not asked about (collective).

        `f`, `local` as in `test`; `first`: residual (rows) at the beginning of the step.
        """
        n, begun, self._support = self.rows.of(f, first, held=local)
        self._norms, self._first, self._largest = n, begun, begun
        return float(self.shares().max(initial=0.0))

    def shares(self) -> Array:
        """Return the norms relative to their references."""
        reference = self.references()
        there = reference > 0.0
        return np.divide(self._norms, reference, out=np.zeros_like(reference), where=there)

    def needed(self, rtol: float) -> Array:
        """Return the factor by which the residual of each part must still fall."""
        worst = self.rows.worst(self.shares())
        open_ = (worst > 0.0) & ~self.closed
        return np.divide(rtol, worst, out=np.ones_like(worst), where=open_)

    def _reason(self, rtol: float, stol: float, step: Array) -> int:
        """Return the reason after an iteration; `step` of each part relative to its size."""
        reasons = PETSc.SNES.ConvergedReason
        rows, n, share = self.rows, self._norms, self.shares()
        worst = rows.worst(share)
        kept = self.closed & (worst <= AGAIN * self._shut)
        self.closed = (worst <= rtol) | kept
        self._shut = np.where(kept, self._shut, rtol)
        if self.closed.all():
            return int(reasons.CONVERGED_FNORM_RELATIVE)
        last = self._trail[-1] if self._trail else np.zeros_like(worst)
        far = (step > 1e-6) & ((rows.least(share) > 1e-3) | (worst < 0.1 * last))
        if (far | self.closed).all():  # far from round-off: spare its estimate
            self._trail.append(worst)
            return int(reasons.ITERATING)
        noise = self.round_off()
        above = np.divide(n, noise, out=np.full(rows.count, np.inf), where=noise > 0.0)
        open_ = share > rtol
        highest = rows.worst(np.where(open_, above, 0.0))
        lowest, near = highest <= 1.0, highest <= NEAR
        before, self._near = self._near, np.where(far, self._near, near)
        believed = (step <= 1e-8) | before
        at_noise = ~far & ((lowest & believed) | (near & before))
        rest = rows.worst(np.where(open_ & (above > 1e3), share, 0.0))
        self._trail.append(np.where(far, worst, rest))
        trail = np.array(self._trail)
        stalled = np.zeros(rows.parts, dtype=bool)
        if len(trail) > 2:
            stalled = trail[-2:].min(axis=0) > 0.9 * trail[:-2].min(axis=0)
        no_gain = ~far & (rest <= np.sqrt(rtol)) & ((step <= stol) | stalled)
        fresh = (at_noise | no_gain) & ~self.closed
        self._shut = np.where(fresh, worst, self._shut)
        only = bool((no_gain & ~at_noise & ~self.closed).any())
        self.closed |= fresh
        if not self.closed.all():
            return int(reasons.ITERATING)
        return int(reasons.CONVERGED_SNORM_RELATIVE if only else reasons.CONVERGED_FNORM_RELATIVE)


def _norm(norms: Array) -> float:
    """Return the norm of all classes, whose squares may be beyond the range of numbers."""
    largest = float(norms.max(initial=0.0))
    return largest * float(np.linalg.norm(norms / largest)) if largest else 0.0


def _place_size(system: System) -> Array:
    """Sizes of the reference values that positions are the sum of."""
    angle = system.numbering.those("angle")
    return np.where(angle, np.pi, np.abs(system.reference))
