# SPDX-License-Identifier: BSD-3-Clause
r"""Derivatives of motions by the direct way: linear steps forwards over a trace.

A step of `backward` has the derivative, along a parameter p,

.. math::
    S\, dx = -\left(C\, dy + M (dz + \alpha\, dy) + G_p\right), \quad
    dy = dr - R_h\, dx^*, \quad dz = db - B\, dx^*,

with the derivatives of its affine map. Starts and jerks solve linear systems of their own, which
are differentiated by central differences of order 8.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...errors import ParameterError
from ...values.parameter import Parameter, label
from ..gradients.goal import goals_at
from ..gradients.gradient import Gradient, require_tangent
from ..rates import DIFFERENCE_STEP, fourth_order
from .backward_directors import settled
from .backward_start import MotionVectors
from .derivatives import FIRST
from .event_share import weights_to_end

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ...arrays import Array
    from ...assembly.state import State
    from ..gradients.goal import Goal
    from ..gradients.gradient import Variable
    from .motion_trace import MotionTrace


class _AlongValue(NamedTuple):
    """One value to differentiate by: how it is moved by s times its size, and this size."""

    move: Callable[[float], None]
    size: float


class _KernelRates(NamedTuple):
    """Derivatives of what a value drives at a time.

    Attributes
    ----------
    kernels : by assemblers of forces and of inertia, values and rows of entities.
    prescribed : of the motion, at fixed coordinates.
    goals : of the parts of a goal that have parameters.
    size : of all of it.
    """

    kernels: list[tuple[Array, dict[int, Array]]]
    prescribed: MotionVectors
    goals: Array
    size: float


class Forward:
    """Derivatives of goals of a motion along each value, by linear steps over its trace."""

    def __init__(self, trace: MotionTrace) -> None:
        self._trace, self._states, self._solver = trace, trace.states, trace.solver
        self._accelerations, self._integrator = trace.accelerations, trace.integrator
        self._motion, self._system = trace.motion, trace.system
        self._free, self._second, self._first = trace.free, trace.second, trace.first
        self._starts = False  # whether the motion begins with rates given to bodies that follow p
        self._goals: list[Goal] = []  # at the present time, of which parameters occur in them

    def sensitivity(self, goals: Sequence[Goal], variables: Sequence[Variable]) -> list[Gradient]:
        """Return the derivatives of goals by variables (collective).

        Raises
        ------
        ParameterError : see `MotionTrace`; laws with memory, steps after which rates were changed,
            laws that leave something out of their tangent.
        """
        self._trace.require_sections(variables)
        self._require_direct()
        self._starts = self._trace.begins_with_rates()
        pairs = [weights_to_end(self._trace, goal) for goal in goals]
        directions = [d for variable in variables for d in self._directions(variable)]
        totals = np.zeros((len(directions), len(goals)))
        self._reached = np.zeros(len(directions))
        self._solver.stale = True
        tangents = self._begin(directions)
        for n, state in enumerate(self._states):
            if n:
                tangents = self._advance(n, directions, tangents)
            self._trace.go_to(state)
            self._require_tangent()
            for k, (_, weights) in enumerate(pairs):
                for weight, goal in goals_at(n, weights):
                    h = self._trace.length(state)
                    totals[:, k] += weight * self._moved(goal, state.time, h, directions, tangents)
        return self._gathered(variables, [value for value, _ in pairs], totals)

    def _gathered(
        self, variables: Sequence[Variable], values: Sequence[float], totals: Array
    ) -> list[Gradient]:
        """Return the derivatives of goals from those along all values."""
        found: list[list[tuple[Variable, float | Array]]] = [[] for _ in values]
        begin = 0
        for variable in variables:
            scalar = isinstance(variable, Parameter)
            end = begin + (1 if scalar else len(variable.values))  # type: ignore[union-attr]
            if not self._reached[begin:end].any():
                raise ParameterError(
                    f"nothing depends on {label(variable)}: no law, load, support or goal of the "
                    "system has it",
                    asked="parameters",
                    given=label(variable),
                )
            for own, column in zip(found, totals.T, strict=True):
                part = column[begin:end]
                own.append((variable, float(part[0]) if scalar else part.copy()))
            begin = end
        return [Gradient(value, own) for value, own in zip(values, found, strict=True)]

    def _require_direct(self) -> None:
        """Refuse what linear steps do not know (collective)."""
        names = []
        if self._system.comm.allreduce(bool(self._trace.remembers)):
            names.append("laws with memory")
        if self._motion.damping.stiffness:
            names.append("Rayleigh(stiffness=...)")
        if any(state.terms for state in self._states):
            names.append("controllers with a state")
        if names:
            raise ParameterError(
                f"sensitivities of motions are not known of: {'; '.join(names)}; "
                "problem.gradient(goal, parameters) is",
                asked="sensitivity",
                given=names,
            )

    def _require_tangent(self) -> None:
        """Refuse a tangent that is not the derivative of the forces here (collective)."""
        system, v = self._system, self._system.numbering.random(1)
        with system.assembler.following(system.rate, self._motion.rate_factor):
            require_tangent(system, v, self._solver.pull(v, {}))

    # ---- values to differentiate by -------------------------------------------------------------
    @staticmethod
    def _directions(variable: Variable) -> Iterator[_AlongValue]:
        if isinstance(variable, Parameter):
            value = variable.value
            size = abs(value) or 1.0

            def move(s: float) -> None:
                variable.value = value + s * size

            yield _AlongValue(move, size)
            return
        values = variable.values
        largest = float(np.abs(values).max()) or 1.0

        def move_one(k: int, s: float) -> None:
            changed = values.copy()
            changed[k] += s * largest
            variable.values = changed if s else values

        for k in range(len(values)):
            yield _AlongValue(partial(move_one, k), largest)

    def _change(self, n: int, of: _AlongValue, time: float, h: float) -> _KernelRates:
        """Return the derivatives, by the size, of what a value drives (collective)."""
        m, system = self._motion, self._system
        shapes: list[tuple[int, ...]] = []

        def over(part: float) -> Array | None:
            try:
                found = self._difference(of, time, h, part)
            except ParameterError:
                return None
            shapes[:] = [x.shape for x in found]
            return np.asarray(np.concatenate([x.ravel() for x in found]))

        best = fourth_order(over, lambda x: system.sum(x.sum(axis=1))) if m.moving else None
        if best is None:
            found = self._difference(of, time, h, DIFFERENCE_STEP)
        else:
            ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
            split = zip(np.split(best, ends[:-1]), shapes, strict=True)
            found = [x.reshape(shape) for x, shape in split]
        size = float(system.sum(np.array([sum(np.abs(x).sum() for x in found)]))[0])
        self._reached[n] += size
        parts, kernels = iter(found), []
        for assembler in (system.assembler, m.mass):
            values = next(parts)
            kernels.append((values, {k: next(parts) for k in assembler.rows}))
        prescribed = MotionVectors(next(parts), next(parts), next(parts), np.zeros_like(m.state))
        return _KernelRates(kernels, prescribed, next(parts), size)

    def _difference(self, of: _AlongValue, time: float, h: float, part: float) -> list[Array]:
        """Return central differences over a part of the size, in the order of `_KernelRates`."""
        m, here, ends = self._motion, self._trace.present(), []
        goals: list[Array]
        try:
            for s in (part, -part):
                of.move(s)
                self._trace.show(time, h)
                kernels = [x for a in (self._system.assembler, m.mass) for x in (a.values, a.rows)]
                motion = [np.where(self._free, 0.0, x) for x in (m.state, m.rate, m.acceleration)]
                goals = [goal.beside(self._system) for goal in self._goals[:1]] or [np.zeros(0)]
                flat = [list(x.values()) if isinstance(x, dict) else [x.copy()] for x in kernels]
                ends.append([*(x for own in flat for x in own), *motion, *goals])
        finally:
            of.move(0.0)
            self._trace.show(time, h)
            m.state[:], m.rate[:], m.acceleration[:] = here.u, here.v, here.a
        return [(x - y) / (2.0 * part) for x, y in zip(*ends, strict=True)]

    # ---- linear maps at the present motion ------------------------------------------------------
    def _forces(self, change: _KernelRates, moved: MotionVectors) -> Array:
        """Return the derivative of M (a + alpha v) + R, with those of the motion (collective)."""
        m, system = self._motion, self._system
        assembler, f, total = system.assembler, np.zeros_like(m.state), np.zeros_like(m.state)
        (values, rows), (of_mass, mass_rows) = change.kernels
        assembler.turn(values, rows)
        assembler.parameter(m.state, f)
        total += f
        with assembler.following(system.rate, None):
            assembler.product(m.state, moved.u, f)
            total += f
            assembler.product(m.state, moved.v, f)
        if self._trace.by_rate:
            total -= f
            with assembler.following(system.rate, np.ones_like(f)):
                assembler.product(m.state, moved.v, f)
            total += f
        alpha = m.damping.mass
        total += self._solver.mass(moved.a + alpha * moved.v)
        m.mass.turn(of_mass, mass_rows)
        m.mass.parameter(np.where(m.second, m.acceleration + alpha * m.rate, 0.0), f)
        return np.asarray(total + np.where(m.second, f, 0.0))

    def _complete(self, x: Array) -> Array:
        """Return a local vector with the values of owners at ghosts (collective)."""
        numbering = self._system.numbering
        numbering.update_ghosts(x, np.arange(numbering.coordinates))
        return x

    # ---- the start ------------------------------------------------------------------------------
    def _begin(self, directions: Sequence[_AlongValue]) -> list[MotionVectors]:
        """Return the derivatives of the consistent motion at the start (collective)."""
        state, step = self._states[0], self._trace.request.step
        m, accelerations = self._motion, self._accelerations
        self._integrator.factors(step)
        self._trace.go_to(state)
        if max(self._trace.imbalance(), self._trace.lag()) > self._trace.same:
            raise ParameterError(
                "accelerations at the start are not those of the forces there (loads that jump, "
                "moments on sections of rods without inertia): take problem.gradient",
                asked="sensitivity",
                given=state.time,
            )
        given = self._system.numbering.local(self._trace.start_rates)
        kinematics = accelerations.kinematics
        kinematics.window = step

        def consistent(of: _AlongValue, s: float) -> list[Array]:
            of.move(s)
            self._trace.show(state.time, step)
            rate = self._system.initial_rate() if self._starts else given
            m.rate[:] = np.where(self._free, rate, m.rate)
            accelerations.forget()
            if kinematics.any:
                accelerations.project_rates()
            accelerations.find()
            return [m.state.copy(), m.rate.copy(), m.acceleration.copy()]

        tangents = []
        for n, of in enumerate(directions):
            self._change(n, of, state.time, step)
            u, v, a = self._differences(partial(consistent, of), state, of, 1e-2)
            self._reached[n] += float(self._system.sum(np.array([np.abs(v).sum()]))[0])
            A = np.where(self._second, a, np.where(self._first, v, 0.0))
            tangents.append(MotionVectors(u, v, a, A))
        return tangents

    def _differences(
        self, function: Callable[[float], list[Array]], state: State, of: _AlongValue, step: float
    ) -> list[Array]:
        """Return the derivatives of vectors by s at s = 0, to order 8 (collective)."""
        try:
            totals: list[Array] = []
            for k, weight in enumerate(FIRST[1:], 1):
                pairs = []
                for s in (k * step, -k * step):
                    self._integrator.restore(state)
                    pairs.append(function(s))
                parts = [weight * (x - y) / step for x, y in zip(*pairs, strict=True)]
                totals = parts if k == 1 else [x + y for x, y in zip(totals, parts, strict=True)]
            return totals
        finally:
            of.move(0.0)
            self._accelerations.forget()
            self._trace.go_to(state)
            self._accelerations.kinematics.refresh()

    # ---- a step ---------------------------------------------------------------------------------
    def _advance(
        self, n: int, directions: Sequence[_AlongValue], tangents: Sequence[MotionVectors]
    ) -> list[MotionVectors]:
        """Return the derivatives of the motion at the end of a step (collective)."""
        before, after = self._states[n - 1], self._states[n]
        h, last = after.time - before.time, float(before.method["last_step"])
        usual = float(after.method["last_step"])
        h = usual if abs(h - usual) <= 1e-9 * h else h
        self._integrator.factors(h)
        shares = self._trace.shares(before, h)
        self._trace.go_to(before)
        start = self._trace.biased(self._trace.present(), h, last, shares)
        begins = [
            self._biased_tangent(*x, before, h, last, shares)
            for x in zip(directions, tangents, strict=True)
        ]
        self._trace.go_to(after)
        now = self._trace.present()
        self._require_affine(self._trace.affine_end(start, now.u, h), now, h, after)
        solver = self._solver
        solver.begin()
        made = []
        for k, (of, begin) in enumerate(zip(directions, begins, strict=True)):
            change = self._change(k, of, after.time, h)
            fixed = change.prescribed
            ended = self._end(begin, fixed.u, fixed, h)
            rest = np.where(self._free, -self._forces(change, ended), 0.0)
            x = self._complete(solver.solve(rest))
            made.append(self._end(begin, fixed.u + x, fixed, h))
        return made

    def _end(self, begin: MotionVectors, x: Array, fixed: MotionVectors, h: float) -> MotionVectors:
        """Return the derivatives by the affine map of a step, with those of coordinates x."""
        end, moves = self._trace.affine_end(begin, x, h), self._second | self._first
        end.v = np.where(moves, end.v, fixed.v)
        end.a = np.where(self._second, end.a, fixed.a)
        end.A = np.where(moves, end.A, 0.0)
        return end

    def _require_affine(
        self, end: MotionVectors, now: MotionVectors, h: float, after: State
    ) -> None:
        """Refuse steps after which rates were changed (collective)."""
        directors, spin = self._trace.turning(after)
        self._motion.rate[:], self._motion.acceleration[:] = end.v, end.a
        turned = directors is not None and not self._trace.alike(
            settled(directors, end), end, 1e-12
        )
        turned |= spin is not None and spin.straightens(h, self._integrator.rho)
        if turned or not self._trace.alike(end, now, self._trace.same):
            raise ParameterError(
                f"the step to t = {after.time:g} ends with other rates than generalized-alpha gives"
                " them (bodies or directors that turn far in a step, a short step, what a monitor "
                "has changed): there are no sensitivities of that; problem.gradient has them, or "
                "take shorter steps",
                asked="sensitivity",
                given=after.time,
            )

    def _biased_tangent(
        self,
        of: _AlongValue,
        tangent: MotionVectors,
        before: State,
        h: float,
        last: float,
        shares: tuple[float, float],
    ) -> MotionVectors:
        """Return the derivatives of what a step begins from, see `_biased` (collective)."""
        start = tangent.copy()
        if last and abs(h - last) > 1e-12 * h:
            old = np.where(self._motion.second, start.a, start.v)
            moves = self._second | self._first
            start.A = np.where(moves, old + (h / last) * (start.A - old), start.A)
        if not any(shares):
            return start
        m = self._motion
        here = self._trace.present()

        def jerk(s: float) -> list[Array]:
            of.move(s)
            self._trace.show(before.time, h)
            for own, value, change in (
                (m.state, here.u, tangent.u),
                (m.rate, here.v, tangent.v),
                (m.acceleration, here.a, tangent.a),
            ):
                own[self._free] = (value + s * change)[self._free]
            self._accelerations.forget()
            found = self._accelerations.jerk(h)
            return [np.zeros_like(m.state) if found is None else found]

        sizes = [
            float(np.abs(change).max(initial=0.0))
            / (float(np.abs(value).max(initial=0.0)) or np.inf)
            for value, change in ((here.v, tangent.v), (here.a, tangent.a))
        ]
        sizes.append(float(np.abs(tangent.u).max(initial=0.0)) / self._accelerations.newton.size)
        step = 1e-2 / max(1.0, self._accelerations.newton.largest(max(sizes)))
        (w,) = self._differences(jerk, before, of, step)
        start.v += shares[0] * w
        start.A += 0.0 if last else shares[1] * w
        return start

    # ---- goals ----------------------------------------------------------------------------------
    def _moved(
        self,
        goal: Goal,
        time: float,
        h: float,
        directions: Sequence[_AlongValue],
        tangents: Sequence[MotionVectors],
    ) -> Array:
        """Return the derivatives of a goal of one state along all values (collective)."""
        system, owned = self._system, self._trace.owned
        slopes = goal.slopes(system)
        forces = bool(system.sum(np.array([np.abs(slopes.forces).sum()]))[0])
        by_beside = goal.by_beside(system)
        self._goals = [goal] if goal.parametric else []
        totals = []
        for k, (of, tangent) in enumerate(zip(directions, tangents, strict=True)):
            share = float(slopes.coordinates @ tangent.u) + float(slopes.rates @ tangent.v)
            if forces or goal.parametric:
                change = self._change(k, of, time, h)
                if forces:
                    share += float((slopes.forces * self._forces(change, tangent))[owned].sum())
                if goal.parametric:
                    share += float(by_beside @ change.goals)
            totals.append(float(system.sum(np.array([share]))[0]) / of.size)
        self._goals = []
        return np.array(totals)
