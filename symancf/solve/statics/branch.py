# SPDX-License-Identifier: BSD-3-Clause
"""Whether an equilibrium continues the path of loads on which the last one lies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ...arrays import Array, Ints32
from ...assembly.numbering import MOVING
from ...newton import ROUND_OFF, ROUND_OFF_FACTOR, largest_at
from ...runtime.collective import together
from ..causes import EndOfPath

if TYPE_CHECKING:
    from ...assembly.discrete import DiscreteSystem
    from ...assembly.vectors import Vectors
    from ...runtime.petsc import PETSc
    from .convergence import Convergence
    from .linear import LinearSolver
    from .load_jumps import LoadJumps


#: Newton iterations beyond which an equilibrium may be one of another branch
DOUBTFUL_ITERATIONS = 10
MAX_ITERATIONS = 20  # likewise, whatever the predictions are
#: of a doubtful change: that of a step half as long, unless there is a jump in it
HALF_STEP_RATIO = 0.6
#: times the prediction at the start: what a path that ends in a limit point reaches
LIMIT_POINT_RATIO = 2.0
STIFFENING_RATIO = 10.0  # times the prediction at the end: that of stiffening structures is 1 to 5
#: cosine of the angle between the predictions at both ends: less is a jump, or a guess
MIN_TURN_COSINE = 0.3
SLOW = 0.1  # of the fastest place: floor of speeds at first
#: times faster than at the start, and as much softer: near a limit point, as tried
LIMIT_POINT_SPEED = 5.0
CONTACT_CHANGE_RATIO = 0.05  # of the displacements: a small change where something touches
#: relative tolerance of predictions that the path is judged by, or led along kinks
PREDICTION_TOLERANCE = 1e-4

JUMPED = "what Newton's method found is not on the path of the last equilibrium"


class Branch:
    r"""Predictions of the change of state along the path of equilibria.

    Where loads change by :math:`\Delta R` (residual at the old state under the new loads) and
    prescribed coordinates by :math:`\Delta g`, the tangent at either end predicts the change

    .. math:: K v = -(\Delta R + K_{fc} \Delta g) .

    Loads that turn with the body change by another :math:`\Delta R` at the new state than at the
    old one, and the tangent of the old one has their old sizes.

    Before a simple limit point q goes with the square root of the distance to the last load
    that can be carried, so no reachable change is longer than 2 v of its start; and v of its
    end points forward. What Newton's method finds beyond, on another branch, is several times
    further away, lies on the branch that comes back, or has another v. So may an equilibrium
    have that is on the path but far away: then a shorter step will show it. It is tried as well
    where Newton's method took very many iterations, whatever the predictions are.

    Where forces with kinks act, as where something touches, neither tangent tells the way: points
    come and go, and a body that rolls on points of quadrature snaps from one to the next. Small
    changes are taken as they are. A large one is refused where it is longer than the softer tangent
    predicts, or took many iterations: along a path it becomes smaller with the step. Where that
    has been seen it is taken, however many iterations there were: from flat faces that touch
    without pressure the points that remain are as hard to find for any step.

    Changes are measured in all displacements, without multipliers.

    Attributes
    ----------
    fading : what is out of balance at the start of a step and not yet let in (rows).
    """

    def __init__(
        self,
        system: DiscreteSystem,
        vectors: Vectors,
        linear: LinearSolver,
        ksp: PETSc.KSP,
    ) -> None:
        self.system, self.vectors, self.linear, self.ksp = system, vectors, linear, ksp
        numbering = system.numbering
        moves = numbering.those(*MOVING)
        self._counts = moves[numbering.coordinate_of_row]
        self.fading: Array = np.broadcast_to(0.0, numbering.rows)
        self.kinked = np.array([form.kinked for form in system.forms], dtype=bool)
        self._rubs = np.array([form.rubs for form in system.forms], dtype=bool)
        self._doubted: tuple[Array | None, float] = None, 0.0  # from where, and how far

    def touches(self, *states: Array) -> bool:
        """Whether forces with kinks or friction act at one of some states (collective)."""
        acting = self.kinked | self._rubs
        if not acting.any():
            return False
        system, change = self.system, self.system.numbering.random(5)
        answer, acts = np.zeros_like(change), False
        with system.assembler.only(acting):
            for state in states:
                system.assembler.product(state, change, answer)
                acts |= bool(system.numbering.to_rows(answer).any())
        return bool(system.comm.allreduce(acts))

    def answer(
        self,
        state: Array,
        unbalanced: Array,
        change: Array,
        rtol: float | None = None,
        pair: tuple[PETSc.Vec, PETSc.Vec] | None = None,
    ) -> tuple[PETSc.Vec, PETSc.Vec] | None:
        """Return b and v with K v = b at a state; None where that fails (collective).

        b = -(unbalanced + K_fc change).

        `unbalanced` is the change of the residual (rows of this rank), `change` that of the
        fixed coordinates (local vector, zero elsewhere), `rtol` what a Krylov solver is to reach,
        `pair` vectors for b and v, else new ones.
        """
        f = np.zeros_like(state)
        self.system.assembler.product(state, change, f)
        del change  # whoever makes matrices and solves needs room
        rows = self.system.numbering.to_rows(f)
        del f
        rows += unbalanced
        del unbalanced
        np.negative(rows, out=rows)
        with together(self.system.comm):
            self.linear.linearize(state, rtol=rtol)
        b, v = pair or (self.vectors.new(), self.vectors.new())
        b.setArray(rows)
        del rows
        if not np.isfinite(b.norm()):
            return None
        self.ksp.solve(b, v)
        if self.ksp.getConvergedReason() < 0 or not np.isfinite(v.norm()):
            self.linear.forget()
            return None
        return b, v

    def prediction(self, state: Array, unbalanced: Array, change: Array) -> tuple[Array, Array]:
        """Return b and v of the displacements, NaN where there are none; see `answer`."""
        pair = self.answer(state, unbalanced, change, PREDICTION_TOLERANCE)
        if pair is None:
            none = np.full(int(self._counts.sum()), np.nan)
            return none, none
        b, v = (vector.getArray(readonly=True)[self._counts] for vector in pair)
        return b, v

    def beginning(
        self, time: float, convergence: Convergence, state: Array
    ) -> list[tuple[float, Array]]:
        """Return the path that begins at the present state, which `state` copies (collective).

        It is empty where that is no equilibrium at this time: loads that are there at once.
        """
        system = self.system
        system.prescribe(time)
        (norms,) = convergence.rows.of(self.unbalanced(system.state) + self.fading)
        at_rest = convergence.settled(norms).all()
        at_rest = at_rest or (norms <= ROUND_OFF_FACTOR * convergence.round_off()).all()
        system.state[:] = state
        return [(time, state)] if at_rest else []

    def outside(self) -> bool:
        """Whether points of the present state are outside the domain of their law (collective)."""
        bad, f = 0, np.zeros_like(self.system.state)
        with together(self.system.comm):
            bad = self.system.assembler.residual(self.system.state, f)
        return bool(self.system.comm.allreduce(bad))

    # ---- whether Newton's method stayed on the path ---------------------------------------------
    def unbalanced(self, state: Array) -> Array:
        """Return the residual (rows of this rank) at a state, under present parameters."""
        f = np.zeros_like(state)
        with together(self.system.comm):
            self.system.assembler.residual(state, f)
        return np.asarray(self.system.numbering.to_rows(f) - self.fading)

    def break_between(self, before: Array, after: Array, iterations: int, sudden: LoadJumps) -> str:
        """Tell why two equilibria are not on one path, or "" (collective).

        `before` and `after` are local vectors; parameters are those of `after`, which Newton's
        method found in `iterations`. `sudden` knows the sizes that loads which turn with the body
        had at `before`.
        """
        system, fixed = self.system, self.system.numbering.fixed_by >= 0
        change, unbalanced = np.where(fixed, after - before, 0.0), self.unbalanced(before)
        moved = system.numbering.to_rows(after - before)[self._counts]
        natural = system.numbering.to_rows(system.numbering.natural(system.extent))[self._counts]
        moves = bool((np.abs(moved) > ROUND_OFF * natural).any())
        if not system.comm.allreduce(int(moves)):
            return ""  # nothing moved
        later = self.unbalanced(after)
        with sudden.before(smaller=False):
            later += self.unbalanced(before) - self.unbalanced(after)
            _, start = self.prediction(before, unbalanced, change)
        _, end = self.prediction(after, later, change)
        sums = system.sum(
            np.array([moved @ moved, start @ start, end @ end, end @ moved, start @ end])
        )
        size, ahead, behind = np.sqrt(sums[:3])
        if not np.isfinite(sums).all() or size == 0.0:
            return ""  # a singular tangent tells nothing
        touches = self.touches(before, after)
        if touches:
            rows = system.numbering.to_rows(after)[self._counts]
            (length,) = np.sqrt(system.sum(np.array([rows @ rows])))
            if size <= CONTACT_CHANGE_RATIO * length:
                return ""
        # what remembers yields at once: stiff at the start of a step, soft at its end
        if size > LIMIT_POINT_RATIO * (max(ahead, behind) if system.memory or touches else ahead):
            return (
                f"it is {size / ahead:.2g} times as far from the last one as its tangent predicts"
            )
        if iterations > MAX_ITERATIONS:
            doubted, refused = self._doubted
            if doubted is not before or (touches and size > HALF_STEP_RATIO * refused):
                self._doubted = before, float(size)
                return "Newton's method came from far away"
        return "" if touches else _turn(sums)

    def end(self, start: tuple[float, Array], last: Array, part: float, trial: float) -> EndOfPath:
        r"""Return where the last equilibrium is, and whether it is near a limit point (collective).

        The attempt at the system's present time, at the fraction `trial` of a step, failed. A limit
        point is where the stiffness along the path vanishes, that of the prediction v,

        .. math:: s = \frac{v \cdot K v}{v \cdot v}

        (P. G. Bergan, G. Horrigmoe, B. Krakeland, T. H. Soreide, International Journal for
        Numerical Methods in Engineering 12 (1978) 1677-1696); faster displacements alone may be
        those of loads that grow faster.

        Parameters
        ----------
        start : time and state at the beginning of the step.
        last : state after the fraction `part` of it.
        """
        system = self.system
        time, goal = system.time, system.state.copy()
        rows = system.numbering.coordinate_of_row
        positions = system.numbering.those("position")[rows]
        own = system.numbering.vertex_of[rows[positions]]
        vertices, vertex = np.unique(own, return_inverse=True)
        speeds, stiffnesses, places = [], [], []
        for state, rest in ((start[1], trial), (last, trial - part)):
            change = np.where(system.numbering.fixed_by >= 0, goal - state, 0.0)
            force, v = self.prediction(state, self.unbalanced(state), change)
            square, work = system.sum(np.array([v @ v, v @ force]))
            is_near = bool(np.isfinite(square)) and square > 0.0
            speeds.append(float(np.sqrt(square)) / rest if np.isfinite(square) else np.inf)
            stiffnesses.append(float(work / square) if is_near else 0.0)
            squares = np.square(v[positions[self._counts]])
            places.append(np.sqrt(np.bincount(vertex, squares)) / rest)
        if time == start[0]:
            where = f"{100 * part:.4g} % of the change since the last equilibrium can be made"
        else:
            where = f"the last one was at {start[0] + part / trial * (time - start[0]):.7g}"
        ratio = speeds[1] / speeds[0] if 0.0 < speeds[0] < np.inf else 0.0
        place, growth = self._faster_at(vertices, places[0], places[1], ratio)
        is_near = ratio > LIMIT_POINT_SPEED
        most = system.comm.allreduce(float(places[0].max(initial=0.0)), op=MPI.MAX)
        return EndOfPath(
            where,
            ratio if is_near else 0.0,
            is_near and abs(stiffnesses[1]) < abs(stiffnesses[0]) / LIMIT_POINT_SPEED,
            bool(system.comm.allreduce(bool(self.fading.any()), MPI.LOR)),
            place,
            growth,
            most / system.extent if np.isfinite(most) else 0.0,
        )

    def _faster_at(
        self, vertices: Ints32, first: Array, now: Array, usual: float
    ) -> tuple[str, float]:
        """Return where displacements grow faster than elsewhere, or "" (collective).

        As at a limit point of a part alone: a wrinkle, an edge, a cell.

        Parameters
        ----------
        vertices : of this rank.
        first, now : their speeds at the start of the step and at its last state.
        usual : ratio of those of the whole.
        """
        comm, ends = self.system.comm, np.zeros(2)
        mine = np.array([first.max(initial=0.0), now.max(initial=0.0)])
        comm.Allreduce(mine, ends, MPI.MAX)
        if not (np.isfinite(ends).all() and ends[0] > 0.0):
            return "", 0.0
        growth = now / np.maximum(first, SLOW * ends[0])
        most, _, where = largest_at(self.system, growth, vertices, growth)
        if not most > max(LIMIT_POINT_SPEED, 2.0 * usual):
            return "", 0.0
        return where, most


def _turn(products: Array) -> str:
    """Tell how tangents contradict the change between two equilibria, or "".

    `products`: those of the change v and of the predictions a, b at its ends v.v, a.a, b.b, b.v
    and a.b.
    """
    size, ahead, behind = np.sqrt(products[:3])
    if products[3] < 0.0:
        return "the path through it goes backward there"
    if products[4] < MIN_TURN_COSINE * ahead * behind:
        angle = np.degrees(np.arccos(products[4] / (ahead * behind)))
        return f"the path turns by {angle:.0f} degrees on the way"
    if size > STIFFENING_RATIO * behind:
        return f"it is {size / behind:.2g} times as far from the last one as its own tangent says"
    return ""
