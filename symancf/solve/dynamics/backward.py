# SPDX-License-Identifier: BSD-3-Clause
r"""The discrete adjoint of generalized-alpha: a sweep backwards over the steps of a motion.

A step of length h from (u, v, a, A) solves, with the coefficients of `generalized_alpha`,

.. math::
    G = M a' + \alpha M v' + R(x, v', t') = 0, \quad v' = r + R_h (x - x^*), \quad
    a' = b + B (x - x^*), \quad A' = k (x - x^*), \quad u' = x .

With the derivatives :math:`\bar u', \bar v', \bar a', \bar A'` of J by its end,

.. math::
    S^T w = -(\bar u' + R_h \bar v' + B \bar a' + k \bar A'), \qquad
    \frac{dJ}{dp} \mathrel{+}= w \cdot G_p, \qquad S = K + R_h C + (B + \alpha R_h) M,

and those by its beginning follow from the affine map. What laws remember, and prescribed
coordinates, follow the same way.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI

from ...errors import ParameterError
from ...runtime.collective import reduced
from ..gradients.anchors import by_new_anchors, take_new_anchors
from ..gradients.chain import ChainRule
from ..gradients.fgmres import fgmres
from ..gradients.goal import goals_at
from ..gradients.gradient import Gradient, to_owners
from ..gradients.switch import distance_to_switch, touches, warn_at_switch
from .backward_directors import settled, unsettled
from .backward_start import FORCES, INERTIA, ConstraintsBackward, MotionVectors
from .event_share import distance_to_step_end, weights_to_end
from .generalized_alpha import SHORT_STEP_RATIO
from .initial import after as shortly_after
from .sweep import NativeSweep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...arrays import Array, Mask
    from ...assembly.assembler import Derivatives
    from ...assembly.state import State
    from ..gradients.goal import Goal
    from ..gradients.gradient import Variable
    from .motion_trace import MotionTrace


class Backward:
    """Derivatives of goals of a motion, by a sweep backwards over its trace.

    Attributes
    ----------
    growth : by which derivatives grow over each third of a motion that is worth a warning.
    """

    growth = 100.0

    def __init__(self, trace: MotionTrace) -> None:
        self._trace, self._states, self._solver = trace, trace.states, trace.solver
        self._accelerations, self._integrator = trace.accelerations, trace.integrator
        self._motion, self._system, self._request = trace.motion, trace.system, trace.request
        self._free, self._owned = trace.free, trace.owned
        self._second, self._first = trace.second, trace.first
        self._fixed = np.flatnonzero(~trace.free & trace.owned)
        self._by_rate, self._remembers = trace.by_rate, trace.remembers
        self._earlier: dict[int, Array] = {}  # by what laws remember, of forces at the present time
        self._starts = False  # whether the motion begins with rates given to bodies that follow p
        self._goals: list[Goal] = []  # at the present time, of which parameters occur in them

    def _driven(self) -> list[Array]:
        """Return what follows parameters beside kernels, at the present time (collective)."""
        m, fixed = self._motion, self._fixed
        explicit = [goal.beside(self._system) for goal in self._goals]
        first = self._initial()
        return [m.state[fixed], m.rate[fixed], m.acceleration[fixed], *first, *explicit]

    def _initial(self) -> list[Array]:
        """Return what laws remember at first, and the rates given to bodies (collective)."""
        system = self._system
        rates = [system.initial_rate()[: system.numbering.owned]] if self._starts else []
        return [*self._first_memory(), *rates]

    def _first_memory(self) -> list[Array]:
        """Return what laws remember at first, but lists that change: these follow no parameter."""
        system = self._system
        forms = [k for k in self._remembers if not system.forms[k].changing]
        if not forms:
            return []
        found, _ = system.assembler.tabulate("initial", forms, np.zeros_like(system.state))
        return [
            found[k][system.forms[k].owned.astype(bool)].ravel() if k in found else np.zeros(0)
            for k in forms
        ]

    # ---- the sweep ------------------------------------------------------------------------------
    def gradient(self, goal: Goal, variables: Sequence[Variable]) -> Gradient:
        """Return the derivatives by variables (collective)."""
        m, system, kinematics = self._motion, self._system, self._accelerations.kinematics
        self._trace.require_sections(variables)
        value, weights = weights_to_end(self._trace, goal)
        assemblers = [system.assembler, m.mass]
        if kinematics.any:
            assemblers += [kinematics.gradients, kinematics.course]
        follows = any(part.goal.parametric for part in weights)
        at_each_step = bool(m.moving) or follows or any(a.timed_cells for a in assemblers)
        at_each_step |= bool(system.changing)  # other entities have other rows
        chain = ChainRule(
            system, assemblers, variables, self._trace.show, self._driven, at_each_step
        )
        self._chain, self._starts = chain, self._trace.begins_with_rates()
        self._constraints = ConstraintsBackward(self._accelerations, chain, self._fixed)
        self._constraints.others = self._initial()
        self._solver.stale = True
        self._squares: list[float] = []  # of steps, the last first: w . M w / h^4
        bars = MotionVectors.zeros(len(m.state))
        seeds: dict[int, Array] = {}
        self._remember(seeds, {k: np.zeros_like(system.forms[k].cell) for k in self._remembers})
        switch, by_event = self._distance_to_switch(), distance_to_step_end(self._trace)
        self._trace.go_to(self._states[-1])
        here, n = self._trace.present(), len(self._states) - 1
        self._solver.require_strains()
        native = NativeSweep(self._trace, chain, weights, self._constraints.others)
        self._add_goals(goals_at(n, weights), self._states[n], bars)
        while n:
            if self._trace.bring(n):
                here = self._trace.present()
            done = native.back(n, bars, self._squares) if native.able else 0
            n -= done or 1
            if done:
                self._trace.go_to(self._states[n])
                here = self._trace.present()
            else:
                here = self._step(n + 1, here, bars, seeds)
            if not (done and native.added):
                self._add_goals(goals_at(n, weights), self._states[n], bars)
        self._start(bars, seeds)
        self._warn_of_growth()
        owned = slice(0, system.numbering.owned)
        found = Gradient(value, chain.finish())
        found.switch = min(switch, by_event)
        warn_at_switch(system, switch)
        warn_at_switch(system, by_event, "the event is at the end of a step (to {:.1e} of it)")
        found.displacement, found.rate = bars.u[owned].copy(), bars.v[owned].copy()
        return found

    def _distance_to_switch(self) -> float:
        """Return how near contact came to a switch at the ends of steps (collective)."""
        least = np.inf
        for n in range(1, len(self._states) if touches(self._system) else 1):
            self._trace.go_to(self._states[n])
            least = min(least, distance_to_switch(self._system))
        return least

    def _warn_of_growth(self) -> None:
        """Warn where derivatives by the state grow on and on towards the start (collective).

        Where each third of the motion multiplies them by `growth`, which oscillations and sums over
        time do not, two motions that begin next to one another part at this rate.
        """
        squares, count = self._system.sum(np.array(self._squares)), len(self._squares)
        if count < 9:
            return
        late, middle, early = (
            math.sqrt(part.max(initial=0.0)) for part in np.array_split(squares, 3)
        )
        if not (late > 0.0 and middle > self.growth * late and early > self.growth * middle):
            return
        share = math.log(early / late) / (2.0 / 3.0 * count)
        rate = share * count / float(self._trace.times[-1] - self._trace.times[0])
        self._system.once.warn(
            "growth of a gradient",
            f"the derivatives by the state grow by e^({rate:.3g} t) towards the start of the "
            f"motion, {math.exp(share):.3g} times each step: motions that begin next to one "
            "another part at this rate, and the gradient is right for small changes alone; take "
            "goals of a shorter time",
        )

    def _add_goals(
        self, goals: Sequence[tuple[float, Goal]], state: State, bars: MotionVectors
    ) -> None:
        """Add derivatives by the motion at the end of a step, where it is (collective)."""
        system, constraints = self._system, self._constraints
        h = self._trace.length(state)
        for weight, goal in goals:
            slopes = goal.slopes(system)
            bars.u += weight * to_owners(system, slopes.coordinates)
            if goal.rates:
                bars.v += weight * to_owners(system, slopes.rates)
            if goal.parametric:
                self._goals = [goal]
                explicit = weight * goal.by_beside(system)
                self._chain.add_of_cells(partial(goal.by_field, system), weight)
                none = [np.zeros_like(x) for x in constraints.others]
                constraints.add(state.time, h, {}, None, [*none, explicit])
                self._goals = []
            if system.sum(np.array([np.abs(slopes.forces).sum()]))[0]:
                self._add_forces(weight * slopes.forces, state.time, h, bars)

    def _add_forces(self, r: Array, time: float, h: float, bars: MotionVectors) -> None:
        """Add derivatives of r . (M a + C v + R), r at fixed coordinates (collective)."""
        m = self._motion
        forces, by_rate = self._pull(r, {})
        moved = np.where(m.second, m.acceleration + m.damping.mass * m.rate, 0.0)
        inertia = self._inertia(moved, r)
        mass = np.where(m.second, inertia.coordinates, 0.0)
        own = MotionVectors.zeros(len(r))
        own.u, own.v, own.a = forces.coordinates, by_rate + m.damping.mass * mass, mass
        self._constraints.add(time, h, {FORCES: forces, INERTIA: inertia}, own)
        bars += own
        for k in self._remembers:
            self._earlier[k] = self._earlier.get(k, 0.0) + forces.rows[k]

    def _remember(self, seeds: dict[int, Array], rows: dict[int, Array]) -> None:
        """Take derivatives by what laws remembered at the beginning of a step (collective).

        Of lists that change those of all entities, by their numbers.
        """
        for k, count in self._remembers.items():
            form, total = self._system.forms[k], rows[k]
            total[:, :-count] = 0.0
            if form.changing and form.ids is not None:
                every = np.zeros((len(self._memory_of(k)), total.shape[1]))
                every[form.ids[form.owned]] = total[form.owned]
                total = reduced(self._system.comm, every)
            seeds[k] = total

    def _memory_of(self, k: int) -> Array:
        """Return what all entities of a form with memory remember, by their numbers."""
        memory = self._system.memory
        return memory.values.next[memory.numbers.index(k)]

    def _seeds_here(self, seeds: dict[int, Array]) -> dict[int, Array]:
        """Return weights of what the present entities remember, those of lists that change, too."""
        forms = {k: self._system.forms[k] for k in seeds}
        return {k: x[forms[k].ids] if forms[k].changing else x for k, x in seeds.items()}

    def _inertia(self, a: Array, w: Array) -> Derivatives:
        """Return derivatives of w . M a, of what moves (collective)."""
        m = self._motion
        w = np.where(m.second, w, 0.0)
        return m.mass.pull(a, w, parameters=m.mass.changes)

    def _pull(self, w: Array, seeds: dict[int, Array]) -> tuple[Any, Array]:
        """Return derivatives of w . R + seeds . update at held rates, and by rates (collective)."""
        m, solver, assembler = self._motion, self._solver, self._system.assembler
        with assembler.following(self._system.rate, None):
            found = solver.pull(w, seeds)
        if not self._by_rate:
            return found, np.zeros_like(w)
        factor = np.where(m.rate_factor == 0.0, 1.0, m.rate_factor)
        with assembler.following(self._system.rate, factor):
            both = solver.pull(w, seeds).coordinates
        return found, (both - found.coordinates) / factor

    # ---- a step ---------------------------------------------------------------------------------
    def _step(
        self, n: int, now: MotionVectors, bars: MotionVectors, seeds: dict[int, Array]
    ) -> MotionVectors:
        """Turn derivatives by the end of a step into those by its beginning (collective).

        Returns the motion at the beginning, where the system is.
        """
        before, after = self._states[n - 1], self._states[n]
        h, last = after.time - before.time, float(before.method["last_step"])
        usual, settles = float(after.method["last_step"]), not after.method["biased"]
        if abs(h - usual) <= 1e-9 * h:
            h = usual
        elif not settles or h < SHORT_STEP_RATIO * (usual or h):
            raise ParameterError(
                f"the step from t = {before.time:g} to {after.time:g} is cut from one of {usual:g}:"
                " there are no gradients of that; let steps of about the same length end at all "
                "stops and at the end, or take a slightly other length",
                asked="gradient",
                given=h,
            )
        m = self._motion
        self._integrator.factors(h)
        shares = self._trace.shares(before, h)
        # loads are those of after, but other entities have to be told
        again = any(shares) or self._system.changing
        go_to = self._trace.go_to if again else self._integrator.restore
        go_to(before)
        begin = self._trace.present()
        start = self._trace.biased(begin, h, last, shares)
        go_to(after)
        old = np.zeros_like(bars.a)  # derivative by accelerations at the beginning, of its own
        if settles:
            old = self._unsettle(start, now, h, after, bars)
        else:
            self._unstraighten(start, now, h, after, bars)
        self._through_step(h, before, after, bars, seeds)
        bars.a += old
        by_jerk = shares[0] * bars.v + (0.0 if last else shares[1]) * bars.A
        if last and abs(h - last) > 1e-12 * h:  # A* = a + (h/last) (A - a), of states v + ...
            share = h / last
            bars.a += (1.0 - share) * np.where(self._second, bars.A, 0.0)
            bars.v += (1.0 - share) * np.where(self._first, bars.A, 0.0)
            bars.A *= share
        self._trace.go_to(before)
        if shares[0] or shares[1]:
            self._constraints.jerk(h, np.where(m.second, by_jerk, 0.0), bars)
            self._integrator.restore(before)
        return begin

    def _unstraighten(
        self, start: MotionVectors, now: MotionVectors, h: float, after: State, bars: MotionVectors
    ) -> None:
        """Turn derivatives by the motion after a step into those by what Newton's method left.

        The system is there afterwards. Where rates or A are not those of the step's affine map,
        constraints or directors have straightened them; what else may have changed them is refused
        (collective).
        """
        m, end = self._motion, self._trace.affine_end(start, now.u, h)
        directors, spin = self._trace.turning(after)
        turned = end if directors is None else settled(directors, end)
        m.rate[:], m.acceleration[:] = turned.v, turned.a
        if spin is not None and spin.straightens(h, self._integrator.rho):
            stands = self._straight(turned, now, h, bars)
        else:
            stands = self._trace.alike(turned, now, self._trace.same)
        m.rate[:] = end.v
        if stands:
            if directors is not None:
                self._unturn(end, after.time, h, bars)
            return
        raise ParameterError(
            f"the step to t = {after.time:g} ends with other rates than generalized-alpha gives "
            "them (what an event or a monitor has changed): there are no gradients of that",
            asked="gradient",
            given=after.time,
        )

    def _straight(
        self, end: MotionVectors, now: MotionVectors, h: float, bars: MotionVectors
    ) -> bool:
        """Go back through `Spin`, where that has made a motion of another one (collective)."""
        c = self._integrator.coefficients
        bias, shift = c.bias * h * h, c.shift * h
        found, solved = self._constraints.straightened(h, bias, shift, end.A)
        if not self._trace.alike(found, now, self._trace.same):
            return False
        self._constraints.straighten(h, bias, shift, solved, bars)
        return True

    def _unturn(self, end: MotionVectors, time: float, h: float, bars: MotionVectors) -> None:
        """Go back through `Directors` (collective)."""
        directors = self._integrator.directors
        assert directors is not None
        own = unsettled(directors, end, bars)
        self._constraints.add(time, h, {}, own)
        bars += own

    def _unsettle(
        self, start: MotionVectors, now: MotionVectors, h: float, after: State, bars: MotionVectors
    ) -> Array:
        """Go back through consistent values at the end of a step, to what its equations left.

        After a short step, and where loads jump at a stop. The system is at the end of the step
        afterwards; returns derivatives by the accelerations at its beginning (collective).
        """
        m, end = self._motion, self._trace.affine_end(start, now.u, h)
        usual, c = float(after.method["last_step"]), self._integrator.coefficients
        share = c.shift * usual / h
        change = np.where(self._second, share * (end.a - start.a), 0.0)
        expected = np.where(m.second, m.acceleration + change, m.rate)
        by_change = share * np.where(self._second, bars.A, 0.0)
        known = not self._system.comm.allreduce(bool(by_change.any()), op=MPI.LOR) or (
            self._trace.differ(MotionVectors(now.u, now.v, now.a, expected), now, "A")
            <= self._trace.same
        )
        step = usual or self._request.step
        found = self._project_again(end, now, step) if known else None
        if found is None:
            raise ParameterError(
                f"at t = {after.time:g} the motion was changed, by an event or a monitor: there "
                "are no gradients of that",
                asked="gradient",
                given=after.time,
            )
        self._jump(after, step)
        self._through_start(step, end.v, bars)
        bars.a, bars.A = by_change.copy(), np.zeros_like(by_change)
        self._trace.go_to(after)
        self._system.settle()
        m.rate[:], m.acceleration[:] = end.v, end.a
        self._find_multipliers()
        return -by_change

    def _project_again(self, end: MotionVectors, now: MotionVectors, step: float) -> Array | None:
        """Return rates taken to the constraints, where these are those of `now` (collective)."""
        m, kinematics = self._motion, self._accelerations.kinematics
        kinematics.window = step
        rate = np.where(self._free, end.v, m.rate)
        if kinematics.any:
            drift = kinematics.along(m.state, rate, speed=1.0)
            x = self._constraints.solve(np.where(m.algebraic, -drift, 0.0))
            rate = rate + np.where(m.second, x, 0.0)
        rate = np.where(m.first, m.rate, rate)
        end = MotionVectors(now.u, rate, now.a, now.A)
        return rate if self._trace.differ(end, now, "v") <= self._trace.same else None

    def _jump(self, after: State, step: float) -> None:
        """Let loads be those right after a state, if they made accelerations (collective)."""
        if max(self._trace.imbalance(), self._trace.lag()) > self._trace.same:
            self._trace.show(shortly_after(after.time, step), step)

    def _find_multipliers(self) -> None:
        """Let multipliers be those of the present rates and accelerations (collective)."""
        m, constrained = self._motion, self._accelerations.kinematics.any
        if not constrained:
            return
        free = m.algebraic & self._free
        m.state[free] = 0.0
        f = np.zeros_like(m.state)
        m.residual(f)
        found = self._constraints.solve(np.where(m.second, -f, 0.0))
        m.state[free] = found[free]
        if self._trace.imbalance() > self._trace.same:
            raise ParameterError(
                f"the step to t = {self._system.time:g} is not one of generalized-alpha: there are "
                "no gradients of that",
                asked="gradient",
                given=self._system.time,
            )

    def _through_step(
        self,
        h: float,
        before: State,
        after: State,
        bars: MotionVectors,
        seeds: dict[int, Array],
    ) -> None:
        """Turn derivatives by the end of the equations of a step into those by its start.

        The system is at the end (collective).
        """
        m, c, solver, integrator = (
            self._motion,
            self._integrator.coefficients,
            self._solver,
            self._integrator,
        )
        k = integrator.auxiliary_factor
        direct = bars.u + m.rate_factor * bars.v + m.acceleration_factor * bars.a + k * bars.A
        b = direct
        here = self._seeds_here(seeds)
        if here and (self._system.comm.size > 1 or any(part.any() for part in here.values())):
            b = direct + solver.pull(np.zeros_like(b), here).coordinates
        b = np.where(self._free, -b, 0.0)
        forces, inertia, w = self._solve(b, direct, here)
        held, by_rate = forces, np.zeros_like(w)
        if self._by_rate:
            with self._system.assembler.following(self._system.rate, None):
                held = solver.pull(w, here)
            factor = np.where(m.rate_factor == 0.0, 1.0, m.rate_factor)
            by_rate = (forces.coordinates - held.coordinates) / factor
            by_rate[m.rate_factor == 0.0] = 0.0
        rows = {k: forces.rows[k] + self._earlier.pop(k, 0.0) for k in self._remembers}
        anchors = take_new_anchors(self._system, rows)
        carried = by_new_anchors(self._system, before, anchors)
        self._remember(seeds, rows)
        mass = np.where(m.second, inertia.coordinates, 0.0)
        self._squares.append(float((w * mass)[self._owned].sum()) / h**4)
        ended = MotionVectors(
            bars.u + held.coordinates,
            bars.v + by_rate + m.damping.mass * mass,
            bars.a + mass,
            bars.A,
        )
        self._constraints.add(after.time, h, {FORCES: forces, INERTIA: inertia}, ended)
        base = -(m.rate_factor * ended.v + m.acceleration_factor * ended.a + k * ended.A)
        rest_of = 1.0 - c.alpha_f
        second, first = self._second, self._first
        r, b = ended.v, ended.a
        bars.u = np.where(second | first, base, 0.0) + (0.0 if carried is None else carried)
        bars.v = np.where(second, h * base + r, np.where(first, -c.alpha_f / rest_of * r, 0.0))
        bars.a = np.where(second, -c.alpha_f / rest_of * b, 0.0)
        of_second = h * h * (0.5 - c.beta) * base + h * (1.0 - c.gamma) * r
        of_second += c.alpha_m / rest_of * b
        of_first = h * (1.0 - c.theta) * base + c.delta / rest_of * r
        bars.A = np.where(second, of_second, np.where(first, of_first, 0.0))

    def _solve(self, b: Array, direct: Array, seeds: dict[int, Array]) -> tuple[Any, Any, Array]:
        """Solve S^T w = b; return derivatives of w . G + seeds . update, and w (collective).

        What is left is measured by what it would change: penalties are large beside the rest.
        """
        m, solver = self._motion, self._solver
        moved = np.where(m.second, m.acceleration + m.damping.mass * m.rate, 0.0)
        solver.begin()
        w, last = solver.guess(b), np.inf
        for _ in range(solver.corrections):
            forces = solver.pull(w, seeds)
            inertia = self._inertia(moved, w)
            rest = direct + forces.coordinates + solver.inertia(inertia.coordinates)
            rest = np.where(self._free, -rest, 0.0)
            change = solver.guess(rest)
            size, left = self._system.sum(np.array([self._square(w), self._square(change)]))
            share = math.sqrt(left / size) if size else 0.0
            if share <= solver.accuracy or (share < solver.least and share > 0.3 * last):
                return forces, inertia, w
            if share < min(0.1 * last, solver.near):
                w = w + change
            else:
                wanted = max(0.1 * solver.accuracy / share, solver.residual)
                w = w + solver.correct(rest, wanted)
            last = share
        raise ParameterError(
            f"the tangent of the step to t = {self._system.time:g} is singular, or nearly so: "
            f"gradients do not exist (a linear system is solved to {last:.1e} alone)",
            asked="gradient",
            given=last,
        )

    def _square(self, x: Array) -> float:
        """Return this rank's part of the square of what moves."""
        return float(np.square(x[(self._second | self._first) & self._owned]).sum())

    # ---- the start ------------------------------------------------------------------------------
    def _start(self, bars: MotionVectors, seeds: dict[int, Array]) -> None:
        """Turn derivatives by the start into those by the state and rates given (collective)."""
        state, step = self._states[0], self._request.step
        self._jump(state, step)
        start_rates = self._system.numbering.local(self._trace.start_rates)
        self._through_start(step, start_rates, bars)
        forms = self._system.forms
        first = [
            (seeds[k] + self._earlier.pop(k, 0.0))[forms[k].owned.astype(bool), -rows:].ravel()
            for k, rows in self._remembers.items()
            if not forms[k].changing
        ]
        self._earlier.clear()  # lists that change remember nothing at first
        if self._starts:
            first.append(np.where(self._free, bars.v, 0.0)[: self._system.numbering.owned])
        if first:
            self._constraints.add(state.time, step, {}, None, first)

    def _through_start(self, step: float, start_rates: Array, bars: MotionVectors) -> None:
        """Turn derivatives by consistent values into those by the state and rates given.

        The system has the consistent values, and the loads that they belong to (collective).
        """
        m, constraints = self._motion, self._constraints
        self._accelerations.kinematics.window = step
        self._accelerations.forget()
        if (size := max(self._trace.imbalance(), self._trace.lag())) > self._trace.same:
            raise ParameterError(
                f"accelerations at t = {self._system.time:g} are not those of the forces there "
                "(moments on sections of rods without inertia, cords that a force pulls): there "
                "are no gradients of that",
                asked="gradient",
                given=size,
            )
        bars.v += np.where(self._first, bars.A, 0.0)
        by = np.where(self._second, bars.a + bars.A, 0.0)
        by += np.where(m.algebraic & self._free, bars.u, 0.0)
        y = constraints.solve(-by)
        lag = np.where(self._second, y, np.where(self._first, -bars.v, 0.0))
        follows = self._trace.following()
        forces, by_rate = self._pull(self._with_following(lag, bars.u, follows), {})
        bars.v = np.where(self._first, 0.0, bars.v)
        bars.u = np.where(m.algebraic | follows, 0.0, bars.u)
        forces.coordinates[follows] = 0.0
        constraints.begin(step, bars, (forces, np.where(m.first, 0.0, by_rate)), y)
        constraints.project(step, np.where(self._free, start_rates, m.rate), bars)
        bars.a, bars.A = np.zeros_like(bars.a), np.zeros_like(bars.A)

    def _with_following(self, lag: Array, bar: Array, follows: Mask) -> Array:
        """Return weights of the equations, with those of coordinates that follow from others.

        These are x(q) of R_x(x, q) = 0, so with the derivatives `bar` of J by them, and z at their
        rows, (dR_x/dx)^T z = -bar - (dR/dx)^T lag (collective).
        """
        system, numbering = self._system, self._system.numbering
        if not system.comm.allreduce(bool(follows.any()), op=MPI.LOR):
            return lag

        def pull(v: Array) -> Array:
            return np.where(follows, self._pull(v, {})[0].coordinates, 0.0)

        found, left, _ = fgmres(
            lambda rows: numbering.to_rows(pull(self._solver.local(rows))),
            lambda rows: rows,
            numbering.to_rows(np.where(follows, -bar, 0.0) - pull(lag)),
            system.sum,
            1e-13,
            self._solver.least,
            self._solver.vectors,
        )
        if left > self._solver.least:
            raise ParameterError(
                f"at t = {system.time:g} pressures or tensions do not follow from the motion: "
                f"there are no gradients of that (a system is solved to {left:.1e} alone)",
                asked="gradient",
                given=left,
            )
        return lag + self._solver.local(found)
