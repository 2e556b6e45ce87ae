# SPDX-License-Identifier: BSD-3-Clause
"""Equilibria on planes across a path, and the tangents of the path there."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from ...arrays import Array
from ...assembly.numbering import MOVING
from ...assembly.revisions import REVISIONS, Verdict
from ...errors import ParameterError, SymancfError
from ...newton import newton
from ...runtime.options import complaint
from ...runtime.petsc import PETSc
from ..rates import DIFFERENCE_STEP, rates

if TYPE_CHECKING:
    from ...assembly.state import State
    from ...values.parameter import Parameter
    from .equilibrium import EquilibriumSolver


BORDER_FACTOR = 2.0  # |g|: so large that no turn within a step makes the operator singular
#: Newton iterations; a shorter step costs less than more, which may lead elsewhere
MAX_ITERATIONS = 12
MOTION_ROUND_OFF = 1e-12  # displacement in a step, in parts of the system, that is round-off
TANGENT_TOLERANCE = 1e-6  # relative tolerance of a Krylov solver, of tangents of the path
#: of the forces: what is out of balance at an equilibrium that is only looked at
BALANCE_TOLERANCE = 1e-8
REASONS = PETSc.SNES.ConvergedReason
MAX_HALVINGS = 6  # of a correction that leaves the domain of a law


@dataclass
class Direction:
    """A direction along the path: change of the unknowns (rows of this rank), of the parameter."""

    rows: Array
    rate: float


@dataclass
class Equilibrium:
    """An equilibrium with the work that it took.

    Attributes
    ----------
    state : local vector.
    rows : the same as rows of this rank.
    value : of the parameter.
    terms : with the numbers and the active sets of terms there.
    """

    state: Array
    rows: Array
    value: float
    iterations: int = 0
    linear: int = 0
    norms: dict[str, float] | None = None
    terms: State | None = None


@dataclass
class PathPlane:
    """Where to look for an equilibrium: <normal, (u, p) - (u0, p0)> = distance."""

    rows: Array
    value: float
    normal: Direction
    distance: float


class Arc:
    r"""Newton's method for unknowns u and a parameter p, bordered by a linear equation.

    In each iteration, with the tangent K and residual R of the system at (u, p),

    .. math::
        K a = -R, \quad K b = -\frac{dR}{dp}, \quad
        \Delta p = -\frac{N + \langle n, a\rangle}{\langle n, (b, 1)\rangle}, \quad
        \Delta u = a + \Delta p\, b,

    where N is what the plane with normal n lacks (E. Riks, Journal of Applied Mechanics 39 (1972)
    1060-1065: unlike on a sphere there are no two roots to choose between). Krylov's methods
    suffer near limit points, where K is singular; they solve with K + g dR/dp <n, .> instead, and
    the right-hand sides have -g N dR/dp and a factor 1 + g <n, (0, 1)> in addition, which makes
    the same step. Changes are measured by

    .. math:: \langle (u,p), (u',p') \rangle = c \Bigl(p p' + \sum_k u_k w_k u'_k / s^2\Bigr),

    where w is 1 for slopes, directors and angles, 1/L^2 for positions with the size L of the
    largest body, and 0 for multipliers and states. At the start of the path s makes displacements
    count as much as the parameter, and c makes the arc length the change of the parameter.

    Attributes
    ----------
    size, share : s and c.
    step : what the parameter changes by in a step, about; differences are a part of it.
    stability : counts the eigenvalues of K.
    kinked : whether forces may have kinks.
    scale : what the residual of the last step was measured by, by class of rows.
    floor : what that of the next one is measured by at least.
    """

    def __init__(self, solver: EquilibriumSolver, parameter: Parameter | Literal["time"]) -> None:
        self.solver, self.system, self.parameter = solver, solver.system, parameter
        numbering = self.system.numbering
        length = self.system.extent
        moves = numbering.those(*MOVING)
        weight = np.where(moves, 1.0 / numbering.natural(length) ** 2, 0.0)
        self._weight = weight[numbering.coordinate_of_row]
        self._length = length
        rows = solver.convergence.rows
        sizes = [k.block.natural(length) if k.block.moves else 0.0 for k in rows.kinds]
        self._arm = np.array(sizes)[rows.kind]  # 0: no forces
        self._others = rows.classes(lambda block: block.kind in ("state", "algebraic", "dependent"))
        bound = numbering.those("multiplier", "tie")[numbering.coordinate_of_row]
        self._constraint = np.flatnonzero(bound)
        self.x = solver.vectors.new()
        self._rhs, self._du = self.x.duplicate(), self.x.duplicate()
        self._f = np.zeros(numbering.coordinates)
        self._force: Array | None = None
        self.size, self.share, self.step = 1.0, 1.0, 1.0
        self.trouble = ""
        self.stability = solver.stability
        self.kinked = any(form.kinked for form in self.system.forms)
        self.scale, self.floor = np.zeros(rows.count), np.zeros(rows.count)

    # ---- places on the path ---------------------------------------------------------------------
    @property
    def name(self) -> str:
        """The parameter's, for messages."""
        return "pseudo-time" if isinstance(self.parameter, str) else self.parameter.name

    @property
    def value(self) -> float:
        """Present value of the parameter."""
        return self.system.time if isinstance(self.parameter, str) else self.parameter.value

    def prescribe(self, value: float, state: Array | None = None) -> None:
        """Write what the parameter drives for a value of it (collective)."""
        at = self.system.time
        if isinstance(self.parameter, str):
            at = value
        else:
            self.parameter.value = value
        self.system.prescribe(at, state)

    def put(self, point: Equilibrium) -> None:
        """Bring the system to an equilibrium."""
        if point.terms is not None:
            own = replace(point.terms, internal=self.system.memory.values, parameters=())
            self.system.restore(own)
        self.system.state[:] = point.state
        self.prescribe(point.value)

    def here(self, iterations: int = 0, linear: int = 0) -> Equilibrium:
        """Return the present state of the system."""
        state = self.system.state.copy()
        norms = self.solver.convergence.norms
        rows = self.system.numbering.to_rows(state)
        terms = self.system.snapshot()
        return Equilibrium(state, rows, self.value, iterations, linear, norms, terms)

    # ---- measures -------------------------------------------------------------------------------
    def product(self, a: Direction, b: Direction) -> float:
        """Return <a, b> (collective)."""
        total = float(self.system.sum(np.array([a.rows @ (self._weight * b.rows)]))[0])
        return self.share * (a.rate * b.rate + total / self.size**2)

    def norm(self, a: Direction) -> float:
        """Return the length of a change."""
        return float(np.sqrt(self.product(a, a)))

    def measure(self, flexibility: Array, point: Equilibrium) -> None:
        """Choose s and c at the start of a path, `flexibility` = du/dp (collective).

        Where the structure is softer than on average so far, as near a limit point, the average
        counts. Where the path goes along the parameter alone, a displacement by the size of the
        system counts as much as the parameter, or a step: no other branch goes unseen.
        """
        self.size = self.share = 1.0
        size, scale = self.norm(Direction(flexibility, 0.0)), max(abs(point.value), self.step)
        average = self.norm(Direction(point.rows, 0.0)) / abs(point.value or 1.0)
        if size * scale <= MOTION_ROUND_OFF:
            size = 1.0 / scale
        elif point.value and average > 0.0:
            size = min(size, average)
        self.size = size
        self.share = 1.0 / self.norm(Direction(flexibility, 1.0)) ** 2

    # ---- derivatives ----------------------------------------------------------------------------
    def derivative(self) -> tuple[Array, bool]:
        """Return dR/dp at the present place (rows), and whether anything changes (collective).

        The kernels' own derivatives by their parameters c, and the tangent by coordinates g that
        supports prescribe: dR/dp = R_c dc/dp + K_fc dg/dp. The rates dc/dp and dg/dp are
        central differences, since the user's functions of time and place are Python's; of a
        `Parameter`, and what is linear in it, they have no error but round-off. One-sided where
        a value beside the present one is impossible. What it makes of the present loads is a
        reference of the convergence test.
        """
        system, assembler, value = self.system, self.system.assembler, self.value
        h = DIFFERENCE_STEP * max(abs(value), self.step)
        name = f"follow({self.name})"
        change = rates(system, self.prescribe, value, h, name, lambda: None).rates
        answer, direct = np.zeros_like(system.state), np.zeros_like(system.state)
        assembler.turn(change.values, change.rows)
        self.solver.guarded(lambda: assembler.parameter(system.state, direct))
        assembler.product(system.state, change.prescribed, answer)
        loads = system.numbering.to_rows(direct)
        rows = self.solver.convergence.rows
        (driven,) = rows.of(loads * max(abs(value), self.step))
        self.solver.convergence.driven = np.maximum(driven, self.floor)
        d = loads + system.numbering.to_rows(answer)
        everywhere = np.abs(d).sum() + np.abs(direct).sum() + np.abs(change.prescribed).sum()
        return d, bool(system.sum(np.array([everywhere]))[0] > 0.0)

    def depends_on_parameter(self) -> bool:
        """Tell whether anything depends on the parameter beside the present place (collective).

        Where displacements stay zero along a path nothing need change at its start: loads that
        cancel, or a stiffness where nothing is loaded.
        """
        system, free = self.system, self.system.numbering.free
        state = system.state.copy()
        try:
            aside = (
                DIFFERENCE_STEP
                * system.numbering.natural(self._length)
                * system.numbering.random(7)
            )
            system.state[free] += aside[free]
            return self.derivative()[1]
        finally:
            system.state[:] = state

    def solve(self, rows: Array) -> Array | None:
        """Return K^-1 times a vector of rows, or None (collective)."""
        solver, ksp = self.solver, self.solver.snes.getKSP()
        self._rhs.setArray(rows)
        start = time.process_time()
        try:
            ksp.solve(self._rhs, self._du)
        except PETSc.Error as error:
            solver.ready = False
            failure = SymancfError(f"PETSc failed on the path of {self.name}: {complaint(error)}")
            raise solver.linear.error or failure from error
        solver.history.seconds["solve"] += time.process_time() - start
        self._linear += ksp.getIterationNumber()
        if ksp.getConvergedReason() < 0 or not np.isfinite(self._du.norm()):
            solver.linear.forget()
            return None
        return np.array(self._du.getArray(readonly=True))

    def linearize(self, needed: Array | None = None, rtol: float | None = None) -> bool:
        """Prepare for the tangent at the present place; tell whether it is finite (collective).

        See `LinearSolver.linearize`.
        """
        state, linear = self.system.state, self.solver.linear
        return not self.solver.guarded(lambda: linear.linearize(state, needed, rtol))

    def border(self, rate: Array, normal: Direction | None) -> float:
        """Let Krylov's methods solve with K + g rate <normal, .>; return g (collective)."""
        krylov = self.solver.krylov
        if krylov is None or krylov.direct or normal is None:
            return 0.0
        g = -math.copysign(BORDER_FACTOR, normal.rate)
        krylov.border(g * rate, self.share / self.size**2 * self._weight * normal.rows)
        return g

    def tangent(self, along: Direction | None = None) -> Direction | None:
        """Return the tangent of the path at the present place (collective).

        It has length 1 and goes on `along`; without that it is (du/dp, 1). None where the linear
        solver fails, because K is singular.
        """
        self._linear = 0
        rate, _ = self.derivative()
        if not self.linearize(rtol=TANGENT_TOLERANCE):
            return None
        g = self.border(rate, along)
        w = self.solve(-rate)
        if w is None:
            return None
        if along is None:
            return Direction(w, 1.0)
        return self.unit(Direction(w, 1.0 + g * self.product(along, Direction(w, 0.0))), along)

    def beyond(
        self, at: Equilibrium, way: Direction, length: float
    ) -> tuple[Direction, int] | None:
        """Return (du/dp, 1) and the negative eigenvalues beside the path (collective).

        At a distance from an equilibrium along a direction; None where they are not known.
        """
        if not self.attempt(at.rows + length * way.rows, at.value + length * way.rate):
            return None
        on = self.tangent()
        number = None if on is None else self.negative()
        return None if on is None or number is None else (on, number)

    def negative(self, shift: float = 0.0) -> int | None:
        """Return how many eigenvalues of K are negative at the present place (collective).

        `tangent` or `linearize` went before; see `Stability.negative`.
        """
        solver, stability = self.solver, self.stability
        if stability.how == "none":
            return None
        start = time.process_time()
        if not solver.linear.direct:
            solver.guarded(lambda: solver.linear.assemble(self.system.state))
        number = None
        if not shift and stability.counts_with_solver:
            solver.snes.getKSP().setUp()
            number = stability.counted()
        number = stability.negative(shift) if number is None else number
        solver.history.seconds["solve"] += time.process_time() - start
        return number

    def softest(self) -> Array | None:
        """Return the vector in which the tangent here is nearly singular, None: none (collective).

        Of rows, of length 1, by inverse iteration.
        """
        numbering = self.system.numbering
        if not self.linearize():
            return None
        x = numbering.to_rows(np.where(numbering.fixed_by >= 0, 0.0, numbering.random(5)))
        for _ in range(4):
            found = self.solve(x)
            if found is None:
                return None
            size = float(np.sqrt(self.system.sum(np.array([found @ found]))[0]))
            if not np.isfinite(size) or size == 0.0:
                return None
            x = found / size
        return x

    def stiffness(self, x: Array) -> float:
        """Return x . K x at the present place, of rows (collective)."""
        system = self.system
        v, f = np.zeros_like(system.state), np.zeros_like(system.state)
        self._du.setArray(x)
        self.solver.vectors.to_local(self._du, v)
        system.assembler.product(system.state, v, f)
        return float(system.sum(np.array([x @ system.numbering.to_rows(f)]))[0])

    def unit(self, way: Direction, along: Direction) -> Direction:
        """Return a direction with length 1 that goes on `along` (collective)."""
        length = math.copysign(self.norm(way), self.product(way, along))
        return Direction(way.rows / length, way.rate / length)

    def flexibility(self, on: Direction) -> float:
        r"""Return how far a force moves the system beside the path (collective).

        `on` is the tangent of the path at the present place, which `tangent` has just found. With
        the same random force f at every place this is the length of z in

        .. math:: K z + \frac{dR}{dp} q = f, \quad \langle \mathrm{on}, (z, q) \rangle = 0,

        infinite at bifurcations, but not at limit points, where K alone is singular.
        """
        if self._force is None:
            numbering = self.system.numbering
            self._force = numbering.to_rows(numbering.random(11)) * np.sqrt(self._weight)
        z = self.solve(self._force)
        if z is None:
            return math.inf
        back = self.product(on, Direction(z, 0.0))
        return self.norm(Direction(z - back * on.rows, -back * on.rate))

    # ---- Newton's method ------------------------------------------------------------------------
    @property
    def residual(self) -> Array:
        """The last residual (rows)."""
        return self.system.numbering.to_rows(self._f)

    def _evaluate(self) -> bool:
        """Evaluate the residual at the present place; tell whether all of it is finite."""
        start = time.process_time()
        bad = self.solver.guarded(
            lambda: self.system.assembler.residual(self.system.state, self._f)
        )
        self.solver.history.seconds["assembly"] += time.process_time() - start
        self._rhs.setArray(self.residual)
        self._fnorm = self._rhs.norm()
        return not bad and bool(np.isfinite(self._fnorm))

    def attempt(self, rows: Array, value: float) -> bool:
        """Bring the system to a place; tell whether there is a residual there (collective)."""
        self.x.setArray(rows)
        self.solver.vectors.to_local(self.x, self.system.state)
        try:
            self.prescribe(value)
        except ParameterError as error:
            self.trouble = str(error)
            return False
        if self._evaluate():
            return True
        self.trouble = "quadrature points left the domain of their law (J <= 0 or not finite)"
        return False

    def displacement(self, rows: Array) -> float:
        """Return the length of displacements, by the size of the largest body (collective)."""
        return math.sqrt(float(self.system.sum(np.array([rows @ (self._weight * rows)]))[0]))

    def balanced(self, rows: Array, value: float, displacement: float) -> Equilibrium | None:
        """Bring the system to a place; return it if it is an equilibrium, nearly (collective).

        As compared with the forces of the last step, or with round-off. Gaps of constraints are
        compared with `displacement`, the largest near by: here it may be zero to round-off.
        """
        if not self.attempt(rows, value):
            return None
        system, f = self.system, self.residual
        measure = self.solver.convergence.rows
        (norms,) = measure.of(f)
        (gaps,) = system.sum(np.array([f[self._constraint] @ f[self._constraint]]))
        gap = (
            (BALANCE_TOLERANCE * displacement + MOTION_ROUND_OFF) * self._length * system.stiffness
        )
        forces, largest = (measure.total(self._arm * by) for by in (norms, self.scale))
        others = norms[self._others] <= BALANCE_TOLERANCE * self.scale[self._others]
        if not (
            (forces <= BALANCE_TOLERANCE * largest).all() and np.sqrt(gaps) <= gap and others.all()
        ):
            return None
        return replace(self.here(), norms=measure.by_kind(norms))

    def correct(
        self, rows: Array, value: float, plane: PathPlane, radius: float = np.inf
    ) -> Equilibrium | None:
        """Find the equilibrium on a plane, None if there is none near by (collective).

        `rows` and `value` are where to start from; `radius` is how far Newton's method may go.
        After a failure `trouble` says why; the state of the system is then of no use. Where the
        equilibrium has other lists of entities it is found again with these.
        """
        for _ in range(REVISIONS):
            point = self._equilibrium(rows, value, plane, radius)
            if point is None:
                return None
            review = self.system.review(self.system.time)
            if review.verdict <= Verdict.LONG:
                return point
            if review.verdict is Verdict.CUT:
                break
            rows, value = point.rows, point.value
        self.trouble = str(review)
        return None

    def _equilibrium(
        self, rows: Array, value: float, plane: PathPlane, radius: float
    ) -> Equilibrium | None:
        snes = self.solver.snes
        self._linear = 0
        convergence = self.solver.convergence
        convergence.accepted = np.zeros(0)
        convergence.begin()
        most = min(MAX_ITERATIONS, int(snes.getTolerances()[3]))
        solution = newton(BorderedEquations(self, rows, value, plane, radius), most)
        if solution.reason <= 0:
            return None
        convergence.tell(f"at {self.name} = {self.value:.7g}")
        return self.here(solution.iterations, self._linear)

    def tested(self, iteration: int) -> int:
        """Ask the test of statics; show monitors the present place (collective)."""
        solver = self.solver
        solver.interruption.check()
        x = self.x.getArray(readonly=True)
        reason = solver.convergence.test(solver.snes, iteration, self.residual, x, self._f)
        solver.snes.monitor(iteration, self._fnorm)
        return reason


class BorderedEquations:
    """The equations of `Arc` for unknowns and a parameter, as `newton` sees them."""

    def __init__(
        self, arc: Arc, rows: Array, value: float, plane: PathPlane, radius: float
    ) -> None:
        self.arc, self.rows, self.value = arc, rows, value
        self.plane, self.radius = plane, radius
        self._first = Direction(rows, value)
        self._step = Direction(np.zeros_like(rows), 0.0)
        self._rate: Array = np.zeros_like(rows)
        self._finite = True

    def residual(self) -> bool:
        """Evaluate the residual at the first place."""
        return bool(np.isfinite(self.value)) and self.arc.attempt(self.rows, self.value)

    def reason(self, iteration: int) -> int:
        """Ask the test of statics, unless the place is too far from the first one."""
        arc = self.arc
        change = Direction(self.rows - self._first.rows, self.value - self._first.rate)
        if arc.norm(change) > self.radius:
            arc.trouble = "Newton's method leaves the neighbourhood of the path"
            return int(REASONS.DIVERGED_DTOL)
        arc.trouble = f"Newton's method did not converge in {iteration} iterations"
        done = arc.tested(iteration) > 0
        return int(REASONS.CONVERGED_FNORM_RELATIVE if done else REASONS.ITERATING)

    def linearize(self) -> None:
        """Prepare dR/dp and the tangent."""
        arc, solver = self.arc, self.arc.solver
        self._rate, _ = arc.derivative()
        self._finite = arc.linearize(solver.convergence.needed(solver.snes.getTolerances()[0]))

    def solve(self) -> bool:
        """Solve the bordered equations."""
        arc, plane, normal, rate = self.arc, self.plane, self.plane.normal, self._rate
        if not self._finite:
            arc.trouble = "the tangent is not finite"
            return False
        off = Direction(self.rows - plane.rows, self.value - plane.value)
        lacks = arc.product(normal, off) - plane.distance
        g, c = arc.border(rate, normal), arc.share * normal.rate
        a = arc.solve(-arc.residual - g * lacks * rate)
        b = None if a is None else arc.solve(-(1.0 + g * c) * rate)
        if a is None or b is None:
            reason = arc.solver.linear.residual.reason or "; the tangent is singular, or nearly so"
            arc.trouble = f"the linear solver failed{reason}"
            return False
        lacks += arc.product(normal, Direction(a, 0.0))
        dp = -lacks / arc.product(normal, Direction(b, 1.0))
        self._step = Direction(a + dp * b, dp)
        return True

    def move(self) -> int:
        """Go along the step, or 1/2, 1/4, ... of it, to where there is a residual."""
        arc, step = self.arc, self._step
        for k in range(MAX_HALVINGS):
            rows, value = self.rows + 0.5**k * step.rows, self.value + 0.5**k * step.rate
            if arc.attempt(rows, value):
                self.rows, self.value = rows, value
                return int(REASONS.ITERATING)
        return int(REASONS.DIVERGED_LINE_SEARCH)
