# SPDX-License-Identifier: BSD-3-Clause
"""Measures of the residuals of an equilibrium: the forces that arise on the way to it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ...arrays import Array, Mask
from ...assembly.form import CellEntities, Jets
from ...newton import (
    ROUND_OFF_FACTOR,
    Constraints,
    Leftover,
    RowNorms,
    Stopping,
    holds_by_penalties,
)
from ...runtime.petsc import NOT_FINITE, PETSc
from ..folds import Folds

if TYPE_CHECKING:
    from ...assembly.discrete import DiscreteSystem


EPS = float(np.finfo(float).eps)
NEWTON = ("newtonls", "newtontr")  # methods of PETSc whose last tangent is at hand
REST_RATIO = 1e-10  # of the forces of a strain of one: residuals that may be round-off of the laws
UNLOADED_RATIO = 1e-8  # of the reference: a state that is smaller is measured by it, not by itself


class Convergence(Stopping):
    r"""`Stopping` of an equilibrium.

    The reference r_k of a kind of row is the largest n_k of the step, or the support forces if
    they are larger, scaled by one common factor of the part such that an imbalance that only
    arose on the way (Newton's method stretches what turns) does not count for all kinds.
    Constraints are measured by the largest violation in their part, each by its gradient, and
    need not hold better than to round-off. Before the first iteration a part has converged if
    its residual is that with which the last step ended, or round-off of the laws of its bodies,
    see `RowNorms.rounding`.

    Attributes
    ----------
    rows : `RowNorms`.
    norms : of the last iteration, by kind.
    accepted : by class, those with which the last step ended; empty: there is none.
    driven : of loads known otherwise, by class; they are references, too.
    leftover : `Leftover`, once there is a linear solver.
    going_on : whether the next solution goes on with the last one, and is measured like that.
    loose : correction, as a part of the displacements, that the next solution may leave over
        where others go on with it, see `Leftover`.
    tested : whether this test has been asked since `begin`.
    by_tolerance : the largest share of its reference that a residual had when the user's absolute
        tolerance ended the last step; 0 where it did not.
    """

    def __init__(self, system: DiscreteSystem) -> None:
        self.system = system
        rows = RowNorms(system, system.forms)
        bound = rows.classes(lambda b: b.kind in ("multiplier", "tie"))
        super().__init__(rows)
        self.constraints = Constraints(system.matrix, rows, bound) if bound.any() else None
        if self.constraints is not None:
            self.constraints.measure(rows.sizes())
        numbering = system.numbering
        # kinds whose rows are functions of positions, not of displacements
        self._of_place = self.rows.classes(lambda b: b.is_equation or b.in_plane)
        self._sums = self.rows.classes(lambda b: b.kind == "algebraic")
        self._slides = self.rows.classes(lambda b: b.kind == "sliding")
        forms = system.forms
        self._energies = np.array([p.kernel.symmetric for p in forms], dtype=bool)
        self._strain = np.array([p.role == "strain" for p in forms], dtype=bool)
        self._of_terms = np.array(
            [not isinstance(p.entities, CellEntities) for p in forms], dtype=bool
        )
        placed = any(isinstance(p.entities, Jets) and p.size for p in system.forms)
        self._placed = bool(system.comm.allreduce(placed)) or bool(self._of_place.any())
        reference = numbering.to_rows(system.reference)
        self.smallest = UNLOADED_RATIO * self.rows.total(self.rows.of(reference)[0])
        self._zero = np.zeros(self.rows.count)
        self.driven = self._zero
        self.accepted = np.zeros(0)
        self._first, self._largest, self._support = self._zero, self._zero, self._zero
        self._violations: Array | None = None
        self._before = np.zeros(numbering.rows)
        self.leftover: Leftover | None = None
        self._stiffness: Array | None = None  # forces of a strain of one, by parts
        self._rounded: Array | None = None
        self._folds = Folds(system) if holds_by_penalties(system) else None
        self.tested = self.going_on = False
        self.loose = self.by_tolerance = 0.0

    @property
    def norms(self) -> dict[str, float]:
        """The norms of the last iteration by kind, all parts together."""
        return self.rows.by_kind(self._norms)

    def stiffest(self, diagonal: Array) -> float:
        """Return the largest entry of the tangent's diagonal (rows) at positions (collective)."""
        at = self.rows.classes(lambda b: b.kind == "position")[self.rows.of_row]
        largest = float(np.abs(diagonal[at]).max(initial=0.0))
        return float(self.system.comm.allreduce(largest, op=MPI.MAX))

    def settled(self, norms: Array) -> Mask:
        """Tell of which parts a residual is that with which the last step ended."""
        last = self.accepted
        if not len(last):
            return np.zeros(self.rows.parts, dtype=bool)
        return self.rows.every(np.abs(norms - last) <= 1e-9 * last)

    def round_off(self) -> Array:
        """Return the norms of the residual of one unit in the last place (collective)."""
        system, product = self.system, self._product
        (of_laws,) = self.rows.of(self._rounding())  # first: it needs most room
        size = np.abs(system.state)
        noise = self.rows.response(size, product)
        if self._placed:  # what users write of places r, and constraints: r = X + u is rounded
            seen = self.rows.response(size + _place_size(system), product)
            with system.assembler.only(self._of_terms):
                of_terms = self.rows.response(_place_size(system), product)
            noise = np.where(self._of_place, seen, np.maximum(noise, of_terms))
        if self._slides.any():  # friction that holds takes away what energies have in these rows
            with system.assembler.only(self._energies):
                of_energies = self.rows.response(size, product)
            noise = np.where(self._slides, np.maximum(noise, of_energies), noise)
        if self._sums.any():  # random signs would cancel there: a dilation changes all of them
            answer = np.zeros_like(system.state)
            product(EPS * system.reference, answer)
            grown = self.rows.of(system.numbering.to_rows(answer))[0]
            noise = np.where(self._sums, np.maximum(noise, grown), noise)
        return np.maximum(noise, of_laws)

    def _product(self, change: Array, answer: Array) -> None:
        self.system.assembler.product(self.system.state, change, answer)

    def _rounding(self) -> Array:
        """Return the round-off (rows) of the laws of bodies, once in a solution (collective)."""
        if self._rounded is None:
            system, assembler = self.system, self.system.assembler
            with assembler.only(self._strain):
                self._rounded = self.rows.rounding(system.state, assembler.residual, self._product)
        return self._rounded

    def _resting(self, norms: Array) -> tuple[Array, Mask]:
        """Return the round-off of laws by class, and which parts have nothing but it (collective).

        It is not asked for where residuals are far larger.
        """
        rows, none = self.rows, np.zeros(self.rows.count)
        size = rows.total(norms)
        if not ((size > 0.0) & (size <= REST_RATIO * self.stiffness())).any():
            return none, np.zeros(rows.parts, dtype=bool)
        noise = ROUND_OFF_FACTOR * rows.of(self._rounding())[0]
        return noise, (size > 0.0) & rows.every(norms <= noise)

    def stiffness(self) -> Array:
        """Return the forces of a strain of one by parts, as they were first (collective)."""
        if self._stiffness is None:
            rows, answer = self.rows, np.zeros_like(self.system.state)
            with self.system.assembler.only(self._strain):
                self._product(self.system.reference, answer)
            own, prescribed = rows.of(self.system.numbering.to_rows(answer), prescribed=answer)
            self._stiffness = rows.total(np.maximum(own, prescribed))
        return self._stiffness

    def take(self, first: Array, largest: Array, support: Array) -> None:
        """Take what was measured in a solution that C has made, which `data` has told of."""
        self._first, self._largest, self._support = first.copy(), largest.copy(), support.copy()
        self.tested, self.accepted = True, self._norms.copy()

    def begin(self) -> None:
        """Begin a solution: nothing has been tested."""
        self.tested, self.by_tolerance, self._rounded = False, 0.0, None
        if self.leftover is not None:
            self.leftover.begin()

    def test(self, snes: PETSc.SNES, iteration: int, f: Array, x: Array, local: Array) -> int:
        """Return PETSc's reason to stop, or that to go on (collective).

        Parameters
        ----------
        f, x : residual and unknowns of this rank's rows.
        local : the residual as a local vector, with the support forces at fixed coordinates.
        """
        step = np.subtract(x, self._before, out=self._before)
        reason = self._reason(snes, iteration, f, x, local, step)
        self._before[:] = x
        return reason

    def _reason(
        self, snes: PETSc.SNES, iteration: int, f: Array, x: Array, local: Array, step: Array
    ) -> int:
        """Return `test`'s of a `step` from the unknowns before."""
        reasons = PETSc.SNES.ConvergedReason
        self.tested = True
        n, self._support = self.rows.of(f, prescribed=local)
        self._norms[:] = n
        if not np.isfinite(n).all():
            return NOT_FINITE
        rtol, atol, stol, _ = snes.getTolerances()
        if iteration:
            self._largest = np.maximum(self._largest, n)
            if self.constraints is not None:
                self._violations = self._violated(self.constraints, f, rtol)
            self.data.rtol, self.data.stol = rtol, stol
            reason = self.reason(step, x)
        else:
            solved = self._begin(n, f, local, rtol)
            reason = int(reasons.CONVERGED_FNORM_RELATIVE) if solved else 0
        if not reason and math.hypot(*n.tolist()) <= atol:
            reason = int(reasons.CONVERGED_FNORM_ABS)
            self.by_tolerance = float(self.shares().max(initial=0.0)) if atol > 0.0 else 0.0
        elif (
            reason > 0
            and iteration
            and self.leftover is not None
            and snes.getType() in NEWTON
            and not self.leftover.settled(f, x, step, self._noise, self.loose)
        ):
            return int(reasons.ITERATING)
        if reason > 0:
            self.accepted = n
        return reason

    def _begin(self, n: Array, f: Array, local: Array, rtol: float) -> bool:
        """Take up the first state of a solution; tell whether it is one (collective)."""
        if not self.going_on:
            self._first, self._largest = n, self._zero
        if self.constraints is not None:
            self.constraints.begin()
        closed, noise = self.settled(n), self._zero
        if not closed.all():
            noise, rests = self._resting(n)
            closed = closed | rests
        self.start(closed)
        self._largest = np.maximum(self._largest, n)
        if self.constraints is not None:
            self.constraints.shares(f, rtol)  # which takes the largest violations
        self._violations = None
        closed = closed | self.rows.every(n == 0.0)
        if closed.all() or self.constraints is None:
            return bool(closed.all())
        return self._at_rest(self.constraints, f, local, rtol, noise)

    def _violated(self, constraints: Constraints, f: Array, rtol: float) -> Array:
        """Return the violations of constraints, by the present tangent (collective)."""
        constraints.refresh()
        return rtol * constraints.shares(f, rtol)

    def _at_rest(
        self, constraints: Constraints, f: Array, local: Array, rtol: float, noise: Array
    ) -> bool:
        """Tell whether nothing is loaded and violations of constraints are none (collective).

        A step would start from round-off and make forces of the size of its own round-off.
        """
        if (self._norms > noise)[~constraints.classes].any():
            return False
        self.system.assembler.tangent(self.system.state, np.zeros_like(local), self.system.matrix)
        self._violations = self._violated(constraints, f, rtol)
        return bool((self._violations <= rtol).all())

    def tell(self, when: str) -> None:
        """Warn where the last solution is not settled, or rods fold."""
        if self.leftover is not None and self.leftover.warning:
            self.leftover.warn(when)
        if self._folds is not None:
            self._folds.look(when)

    def _noise(self) -> Array:
        """Return the residual (rows) as round-off makes it."""
        system, product = self.system, self._product
        of_laws = self._rounding()  # first: it needs most room
        noise = self.rows.noise(np.abs(system.state), product)
        if self._placed:
            with system.assembler.only(self._of_terms):
                noise += self.rows.noise(_place_size(system), product)
        noise += of_laws
        return noise

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
        n, begun, self._support = self.rows.of(f, first, prescribed=local)
        self._norms[:], self._first, self._largest = n, begun, begun
        self._violations = None
        return float(self.shares().max(initial=0.0))

    def shares(self) -> Array:
        """Return the norms, or the largest violations, relative to their references."""
        reference = self.references()
        there = reference > 0.0
        share = np.divide(self._norms, reference, out=np.zeros_like(reference), where=there)
        if self._violations is None or self.constraints is None:
            return share
        return np.where(self.constraints.classes, self._violations, share)

    def needed(self, rtol: float) -> Array:
        """Return the factor by which the residual of each part must still fall."""
        worst = self.rows.worst(self.shares())
        open_ = (worst > 0.0) & ~self.closed
        return np.divide(rtol, worst, out=np.ones_like(worst), where=open_)


def _place_size(system: DiscreteSystem) -> Array:
    """Sizes of the reference values that positions are the sum of."""
    angle = system.numbering.those("angle")
    return np.where(angle, np.pi, np.abs(system.reference))
