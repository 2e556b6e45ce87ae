# SPDX-License-Identifier: BSD-3-Clause
"""Derivatives of goals of a path of equilibria, back over its steps."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from mpi4py import MPI

from ...errors import ParameterError
from ...runtime.collective import reduced, together
from ...values.parameter import Field, Parameter, label
from ..gradients.anchors import by_new_anchors, take_new_anchors
from ..gradients.goal import GoalSlopes, goals_at, scaled
from ..gradients.gradient import Gradient
from ..gradients.shape import Shape
from ..gradients.switch import distance_to_switch, warn_at_switch
from .adjoint import Adjoint, columns_of, depends_on_memory, in_equilibrium

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...arrays import Array
    from ...assembly.assembler import Derivatives
    from ...assembly.state import State
    from ..gradients.goal import Goal, GoalAtSteps
    from ..gradients.gradient import AnyVariable
    from ..gradients.trace import Trace
    from .adjoint import Weights
    from .equilibrium import EquilibriumSolver


class EarlierWeights(NamedTuple):
    """How a goal weighs what a step depends on of the state before.

    Attributes
    ----------
    memory : weights of what laws remember, of each form with memory; None: all are 0.
    coordinates : derivatives by coordinates, see `by_new_anchors`; None: all are 0.
    """

    memory: list[Array] | None = None
    coordinates: Array | None = None

    @property
    def some(self) -> bool:
        """Whether there are any."""
        return self.memory is not None or self.coordinates is not None


class PathAdjoint:
    r"""Derivatives over a path of equilibria, also where laws remember (collective).

    With :math:`R(u_n, h_{n-1}, p, t_n) = 0` and :math:`h_n = U(u_n, h_{n-1}, p)`, from the last
    state back, :math:`m_N = 0`,

    .. math::
        K_n^T w_n = -(J_{u_n} + U_u^T m_n), \quad
        \frac{dJ}{dp} \mathrel{+}= w_n \cdot R_p + m_n \cdot U_p, \quad
        m_{n-1} = R_h^T w_n + U_h^T m_n ,

    and :math:`m_0 \cdot dh_0/dp` at the beginning. Steps are what they were: their lengths, and
    numbers such as a contact's stiffness, follow no parameter.
    """

    def __init__(self, solver: EquilibriumSolver, trace: Trace) -> None:
        self.solver, self.system, self.trace = solver, solver.system, trace

    def gradient(self, goal: Goal, variables: Sequence[AnyVariable]) -> Gradient:
        """Return the derivatives by variables, at the state in which the system is afterwards.

        Raises
        ------
        ParameterError : see `StaticProblem.gradient`.
        """
        present = self.system.snapshot()
        try:
            return self._gradient(goal, variables)
        finally:
            self._go(present)
            self.solver.linear.forget()

    def value(self, goal: Goal) -> float:
        """Return a goal of the path, at the state in which the system is afterwards."""
        present = self.system.snapshot()
        try:
            return goal.combined(self._values(goal.instants(self.trace.times)))[0]
        finally:
            self._go(present)

    def _gradient(self, goal: Goal, variables: Sequence[AnyVariable]) -> Gradient:
        instants = goal.instants(self.trace.times)
        value, *outer = goal.combined(self._values(instants))
        counts = scaled(instants, outer)
        totals: list[float | Array] = [0.0] * len(variables)
        changes = [False] * len(variables)
        earlier = EarlierWeights()
        switch = np.inf
        for n in reversed(range(len(self.trace))):
            goals = goals_at(n, counts)
            if not (goals or earlier.some) and n < len(self.trace) - 1:
                continue
            starts = n == 0 and self.trace.origin == "start"
            self._take(n)
            if starts and earlier.memory is not None:
                self._add_initial(variables, earlier.memory, totals, changes)
            if starts and not goals:
                continue
            switch = min(switch, np.inf if starts else distance_to_switch(self.system))
            found, weights = self._here(variables, goals, earlier, starts)
            for k, (own, changed) in enumerate(found):
                totals[k] = totals[k] + own
                changes[k] |= changed
            earlier = EarlierWeights() if starts else self._before(n, weights.by)
            if earlier.some:
                self._require_history(n)
        for variable, changed in zip(variables, changes, strict=True):
            Adjoint.require_change(variable, changed)
        warn_at_switch(self.system, switch)
        gradient = Gradient(value, list(zip(variables, totals, strict=True)))
        gradient.switch = switch
        return gradient

    def _here(
        self,
        variables: Sequence[AnyVariable],
        goals: Sequence[tuple[float, Goal]],
        earlier: EarlierWeights,
        starts: bool,
    ) -> tuple[list[tuple[float | Array, bool]], Weights]:
        """Return the derivatives by variables at the present state, and the weights there.

        Parameters
        ----------
        earlier : of the step after.
        starts : the state follows nothing, neither supports nor a state before.
        """
        adjoint, slopes = Adjoint(self.solver), self._slopes(goals)
        if earlier.coordinates is not None:
            slopes.coordinates[:] += earlier.coordinates
        if starts:
            weights = adjoint.resting(slopes)
        else:
            seeds = None if earlier.memory is None else self._seeds(earlier.memory)
            weights = adjoint.pulled(slopes, seeds)
        found = [
            adjoint.derivative(variable, slopes, weights, goals, supports=not starts)
            for variable in variables
        ]
        return found, weights

    # ---- states ---------------------------------------------------------------------------------
    def _values(self, instants: Sequence[GoalAtSteps]) -> list[float]:
        """Return the sums of weights times goals, of each part."""
        values = [0.0] * len(instants)
        for n in sorted({n for each in instants for n in each.numbers.tolist()}):
            self._take(n)
            for k, each in enumerate(instants):
                for weight in each.between(n, n + 1).weights.tolist():
                    values[k] += weight * each.goal.at_state(self.system)
        return values

    def _slopes(self, goals: Sequence[tuple[float, Goal]]) -> GoalSlopes:
        """Return the derivatives of a sum of factors times goals at the present state."""
        total = GoalSlopes(0.0, *(np.zeros_like(self.system.state) for _ in range(3)))
        for factor, goal in goals:
            own = goal.slopes(self.system)
            total.coordinates[:] += factor * own.coordinates
            total.forces[:] += factor * own.forces
        return total

    def _go(self, state: State) -> None:
        """Go to a state, with parameters as they are now."""
        system = self.system
        system.restore(replace(state, parameters=()))
        before = system.state.copy()
        system.prescribe(state.time)
        system.state[:] = before

    def _take(self, number: int) -> None:
        """Go to a state of the trace, if it is one of the present problem.

        Raises
        ------
        ParameterError : parameters are others than when it was solved for.
        """
        system, state = self.system, self.trace[number]
        other = [
            p.name
            for p, then in zip(system.parameters, state.parameters, strict=False)
            if p.value != then
        ]
        self._go(state)
        if number == 0 and self.trace.origin == "start":
            return
        there, fixed = system.state.copy(), system.numbering.fixed_by >= 0
        system.prescribe(state.time, there)
        moved = np.abs(there - system.state)[fixed].max(initial=0.0)
        differs = bool(system.comm.allreduce(moved > 0.0, op=MPI.LOR))
        if differs or other or not in_equilibrium(system):
            names = f" ({', '.join(map(repr, other))})" if other else ""
            raise ParameterError(
                f"the state of the trace at time {state.time:g} is no equilibrium with the present "
                f"parameters: one has another value than then{names}. Derivatives are known of "
                "paths along which parameters stay; let them change as functions of time",
                asked="trace",
                given=state.time,
            )

    # ---- what laws remember ---------------------------------------------------------------------
    def _seeds(self, remembered: Sequence[Array]) -> dict[int, Array]:
        """Return weights of what the present entities remember next."""
        memory = self.system.memory
        seeds: dict[int, Array] = {}
        for number, form, own in zip(
            memory.numbers, memory.forms, memory.own(remembered), strict=True
        ):
            own = own.copy()
            if form.summed:  # each entity has the sum of all
                row = form.kernel.memory.index(form.summed)
                own[:, row] = reduced(self.system.comm, own[form.owned, row].sum(keepdims=True))
            rows = np.zeros((form.size, form.cell.shape[1]))
            rows[:, rows.shape[1] - own.shape[1] :] = own
            seeds[number] = rows
        return seeds

    def _before(self, number: int, by: Derivatives) -> EarlierWeights:
        """Return the weights of what the step to a state depends on of the one before."""
        system = self.system
        anchors = take_new_anchors(system, by.rows)
        coordinates = by_new_anchors(system, self.trace[max(number, 1) - 1], anchors)
        memory, some = system.memory, False
        found: list[Array] = []
        numbered = zip(memory.numbers, memory.forms, memory.values.old, strict=True)
        for number, form, old in numbered:
            rows, count = by.rows.get(number), old.shape[1]
            own = np.zeros((form.size, count)) if rows is None else rows[:, -count:]
            some |= depends_on_memory(system, number, by)
            if form.changing and form.ids is not None:
                every: Array = np.zeros(old.shape)
                every[form.ids[form.owned]] = own[form.owned]
                own = reduced(system.comm, every)
            found.append(own)
        return EarlierWeights(found if some else None, coordinates)

    def _require_history(self, number: int) -> None:
        """Raise where what laws remember is not that of the steps of the trace."""
        why = self.trace.why
        if not why and self.trace.origin != "start":
            why = "it does not begin where the solution did, before all steps"
        if why:
            names = ", ".join(repr(form.name) for form in self.system.memory.forms)
            raise ParameterError(
                f"laws remember earlier steps ({names}), and the trace has not all that they "
                f"depend on: {why}",
                asked="trace",
                given=self.trace[number].time,
            )

    def _add_initial(
        self,
        variables: Sequence[AnyVariable],
        remembered: Sequence[Array],
        totals: list[float | Array],
        changes: list[bool],
    ) -> None:
        """Add derivatives by what laws remember at first."""
        memory, system = self.system.memory, self.system
        weights = memory.own(remembered)
        at_rest = memory.initial(system.assembler, np.zeros_like(system.state))
        sets = memory.own(at_rest), memory.own(memory.values.next), weights
        same = all(np.array_equal(a, b) or not w.any() for a, b, w in zip(*sets, strict=True))
        if not system.comm.allreduce(same, op=MPI.LAND):
            raise ParameterError(
                "laws remember something from before the trace begins: begin it with the system, "
                "before all steps",
                asked="trace",
                given=system.time,
            )
        owned = [form.owned.astype(bool) for form in memory.forms]

        def total() -> float:
            with together(system.comm):
                system.update(system.time)
                first = memory.initial(system.assembler, np.zeros_like(system.state))
            rows = zip(weights, memory.own(first), owned, strict=True)
            return float(system.sum(np.array([sum((w * h)[o].sum() for w, h, o in rows)]))[0])

        for k, variable in enumerate(variables):
            if isinstance(variable, Shape):
                self._require_initial(variable, total)
            if isinstance(variable, Parameter):
                h = 1e-5 * (abs(variable.value) or 1.0)
                now, ends = variable.value, []
                for side in (h, -h):
                    variable.value = now + side
                    ends.append(total())
                variable.value = now
                totals[k] = totals[k] + (ends[0] - ends[1]) / (2.0 * h)
                changes[k] |= ends[0] != ends[1]
                total()
            elif isinstance(variable, Field) and columns_of(system, variable):
                values, before = variable.values, total()
                variable.values = values * 1.01
                after = total()
                variable.values = values
                total()
                _require_same(before, after, label(variable))

    def _require_initial(self, shape: Shape, total: Callable[[], float]) -> None:
        """Raise where what laws remember at first follows reference positions (collective)."""
        reference, before = self.system.reference, total()
        own = reference.copy()
        at = self.system.numbering.those("position")
        reference[at] += 0.01 * self.system.extent * self.system.numbering.random(5)[at]
        try:
            after = total()
        finally:
            reference[:] = own
        total()
        _require_same(before, after, shape.name)


def _require_same(before: float, after: float, name: str) -> None:
    if after != before:
        raise ParameterError(
            f"what laws remember at first follows {name}; derivatives by that are not known",
            asked="parameters",
            given=name,
        )
