# SPDX-License-Identifier: BSD-3-Clause
"""Derivatives of goals at an equilibrium by parameters: adjoint and direct."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ...assembly.cell_fields import CellFields
from ...errors import ParameterError
from ...runtime.collective import together
from ...values.parameter import Field, Parameter, label
from ...values.series import Shifted, TimeSeries
from ..gradients.by_shape import ShapeDerivative
from ..gradients.gradient import AnyVariable, Gradient, require_tangent, to_owners
from ..gradients.shape import Shape
from ..gradients.switch import distance_to_switch, warn_at_switch
from ..rates import DIFFERENCE_STEP, Quotients, Rates, rates
from .transposed import Transposed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...arrays import Array
    from ...assembly.assembler import Derivatives
    from ...assembly.discrete import DiscreteSystem
    from ..gradients.goal import Goal, GoalSlopes
    from .equilibrium import EquilibriumSolver


#: Part of reactions and elastic forces that a state of a trace may leave on free coordinates
EQUILIBRIUM = 1e-3
#: Part of a derivative below which an equilibrium depends on nothing that is remembered
ROUND_OFF = 1e-12
#: of the largest stiffness times the size of the system: a force that is none
NO_FORCE = 1e-9


@dataclass(frozen=True)
class Weights:
    """How a goal weighs the residual.

    Attributes
    ----------
    w : weights of the residual, of forces of supports, too (local vector).
    by : derivatives of w . residual + seeds . update, by all there is.
    seeds : weights of what laws remember next, see `Assembler.pull`.
    """

    w: Array
    by: Derivatives
    seeds: dict[int, Array] | None = None


class Adjoint:
    r"""Derivatives at the equilibrium R(u, g, p) = 0 of a system, g prescribed.

    With the tangent K, free coordinates f and weights r of reactions at fixed ones,

    .. math::
        K_{ff}^T w_f = -(J_u + K^T r)_f, \quad w = w_f + r, \quad
        \frac{dJ}{dp} = J_p + w \cdot R_p + (J_u + K^T w)_c \cdot \frac{dg}{dp}.

    One linear system, and one call of the kernels, for all parameters together.
    """

    def __init__(self, solver: EquilibriumSolver) -> None:
        self.solver, self.system = solver, solver.system
        self.fixed = solver.numbering.fixed_by >= 0
        self.linear = Transposed(solver)

    def gradient(self, goal: Goal, variables: Sequence[AnyVariable]) -> Gradient:
        """Return the derivatives by variables (collective).

        Raises
        ------
        ParameterError : see `StaticProblem.gradient`.
        """
        slopes = goal.slopes(self.system)
        weights = self.pulled(slopes)
        require_no_memory(self.system, weights.by)
        found: list[tuple[AnyVariable, float | Array]] = []
        for variable in variables:
            value, changes = self.derivative(variable, slopes, weights, [(1.0, goal)])
            self.require_change(variable, changes)
            found.append((variable, value))
        gradient = Gradient(slopes.value, found)
        gradient.switch = distance_to_switch(self.system)
        warn_at_switch(self.system, gradient.switch)
        return gradient

    def pulled(self, slopes: GoalSlopes, seeds: dict[int, Array] | None = None) -> Weights:
        """Return the weights of the residual for a goal, and the derivatives by all parameters.

        `seeds` : weights of what laws remember next, see `Assembler.pull`.
        """
        system = self.system
        free, first = to_owners(system, slopes.coordinates), np.zeros_like(slopes.coordinates)
        forces = bool(system.sum(np.array([np.abs(slopes.forces).sum()]))[0])
        if forces or seeds:
            pulled = self._pull(slopes.forces, seeds)
            first = pulled.coordinates
            free = free + first
        w = self.linear.solve(np.where(self.fixed, 0.0, -free), transpose=True)
        last = self.linear.last  # of this state
        same = last is not None and not seeds and np.array_equal(last[0], w + slopes.forces)
        if last is not None and system.comm.allreduce(same and not last[1].bad, op=MPI.LAND):
            by = last[1]
        else:
            by = self._pull(w + slopes.forces, seeds)
        some = system.sum(np.array([np.abs(slopes.coordinates).sum()]))[0] or forces
        if some:  # else all of it may be round-off
            self._require_solved(w, free, first, by.coordinates)
        return Weights(w + slopes.forces, by, seeds)

    def resting(self, slopes: GoalSlopes) -> Weights:
        """Return the same at a state that follows nothing, such as the first one."""
        return Weights(slopes.forces, self._pull(slopes.forces))

    def _require_solved(self, w: Array, free: Array, first: Array, last: Array) -> None:
        """Raise where the transposed tangent is not the one that was solved with (collective).

        What is left may be round-off of the product, which a change of each w by some fifty
        times its own exceeds.
        """
        system, numbering = self.system, self.system.numbering
        b, rest = (numbering.to_rows(x) for x in (free, free + last - first))
        size, left = system.sum(np.array([b @ b, rest @ rest]))
        if left <= 1e-12 * size:
            return
        change = np.zeros_like(w)
        system.assembler.product(system.state, 1e-14 * numbering.random(3) * w, change)
        noise = numbering.to_rows(change)
        if not left <= 1e-12 * size + system.sum(np.array([noise @ noise]))[0]:
            raise ParameterError(
                "a law of this system leaves something out of its tangent, which is symmetric: the "
                "transposed system is not solved exactly, and gradients would be wrong by "
                f"{np.sqrt(left / size):.1e}",
                asked="gradient",
                given=float(np.sqrt(left / size)),
            )

    def derivative(
        self,
        variable: AnyVariable,
        slopes: GoalSlopes,
        weights: Weights,
        goals: Sequence[tuple[float, Goal]],
        *,
        supports: bool = True,
    ) -> tuple[float | Array, bool]:
        """Return the derivative by a variable, and whether anything changes with it (collective).

        Parameters
        ----------
        slopes : of the sum of factors times `goals`.
        supports : whether prescribed coordinates follow the variable.
        """
        system = self.system
        if isinstance(variable, Field):
            of_cells = by_field(system, variable, weights.by)
            of_cells += self._explicit_by_field(variable, goals)
            return of_cells, bool(columns_of(system, variable))
        if isinstance(variable, Shape):
            found = ShapeDerivative(system, variable)
            return found.of(weights.w, weights.seeds, weights.by, goals), True
        total: float | Array = 0.0
        changes = False
        own = [factor * goal.by_beside(system) for factor, goal in goals]
        for change, part in self.changes_of(variable, [goal for _, goal in goals]):
            explicit = (change.ends[0] - change.ends[1]) / change.span
            value = self.along(slopes, weights, change.rates, supports=supports)
            shares = np.array([np.concatenate([np.zeros(0), *own]) @ explicit])
            value += float(system.sum(shares)[0])
            total = total + value * part
            changes |= self.changes(change)
        return total, changes

    def along(
        self, slopes: GoalSlopes, weights: Weights, rate: Rates, *, supports: bool = True
    ) -> float:
        """Return the derivative of a goal by what a parameter changes (collective)."""
        system = self.system
        own = rate.along(system, weights.by)
        if not supports:
            return float(system.sum(np.array([own]))[0])
        own += float(slopes.coordinates @ rate.prescribed)
        total = float(system.sum(np.array([own]))[0])
        return total + self._by_supports(weights, rate.prescribed)

    def _explicit_by_field(self, field: Field, goals: Sequence[tuple[float, Goal]]) -> Array:
        """Return the derivatives (cells,) of factors times goals at a held state (collective)."""
        own = (factor * goal.by_field(self.system, field) for factor, goal in goals)
        return self.system.sum(sum(own, np.zeros(len(field.values))))

    def sensitivity(
        self, variables: Sequence[AnyVariable], goals: Sequence[Goal]
    ) -> list[Gradient]:
        """Return the derivatives of goals by variables, one linear system each (collective).

        By a shape one for each goal instead: a node has three values.
        """
        system = self.system
        self.require_tangent()
        slopes = [goal.slopes(system) for goal in goals]
        by_beside = [goal.by_beside(system) for goal in goals]
        found: list[list[tuple[AnyVariable, float | Array]]] = [[] for _ in goals]
        values: list[Array]
        for variable in variables:
            if isinstance(variable, Shape):
                values = self._by_shape(variable, slopes, goals)
                changes = True
            elif isinstance(variable, Field):
                cells = range(len(variable.values))
                columns = [self._moved(slopes, *self._of_cell(variable, k)) for k in cells]
                values = [
                    of_cells + self._explicit_by_field(variable, [(1.0, goal)])
                    for of_cells, goal in zip(np.array(columns).T, goals, strict=True)
                ]
                changes = bool(columns_of(system, variable))
            else:
                values, changes = [np.zeros(()) for _ in goals], False
                for change, part in self.changes_of(variable, goals):
                    rate = change.rates
                    moved = self._moved(slopes, rate.values, rate.rows, rate.prescribed)
                    own = self._explicit(change, by_beside)
                    values = [v + m * part for v, m in zip(values, moved + own, strict=True)]
                    changes |= self.changes(change)
            self.require_change(variable, changes)
            for own_pairs, value in zip(found, values, strict=True):
                own_pairs.append((variable, value if np.ndim(value) else float(value)))
        return [Gradient(s.value, own) for s, own in zip(slopes, found, strict=True)]

    def _by_shape(
        self, shape: Shape, slopes: Sequence[GoalSlopes], goals: Sequence[Goal]
    ) -> list[Array]:
        """Return the derivatives (nodes, 3) of goals by positions, each by its adjoint."""
        return [
            np.asarray(self.derivative(shape, own, self.pulled(own), [(1.0, goal)])[0])
            for own, goal in zip(slopes, goals, strict=True)
        ]

    def _explicit(self, change: Quotients[Array], by_beside: Sequence[Array]) -> Array:
        """Return the derivatives of goals by what of them changes beside the state (collective)."""
        rates = (change.ends[0] - change.ends[1]) / change.span
        parts = np.split(rates, np.cumsum([len(own) for own in by_beside])[:-1])
        return self.system.sum(np.array([a @ b for a, b in zip(by_beside, parts, strict=True)]))

    def _moved(
        self, slopes: Sequence[GoalSlopes], values: Array, rows: dict[int, Array], prescribed: Array
    ) -> list[float]:
        """Return how goals change with state and forces, along a direction (collective)."""
        answer, forces = self.response(values, rows, prescribed)
        numbering = self.system.numbering
        own = slice(0, numbering.start[numbering.owned_vertices])
        parts = [s.coordinates @ answer + s.forces[own] @ forces[own] for s in slopes]
        return [float(x) for x in self.system.sum(np.array(parts))]

    def response(
        self, values: Array, rows: dict[int, Array], prescribed: Array
    ) -> tuple[Array, Array]:
        """Return the rates of coordinates and residual along a direction (collective).

        Parameters
        ----------
        values, rows, prescribed : see `Rates`.
        """
        system = self.system
        f, answer = np.zeros_like(prescribed), prescribed.copy()
        direct = np.zeros_like(f)
        system.assembler.turn(values, rows)
        self.solver.guarded(lambda: system.assembler.parameter(system.state, direct))
        system.assembler.product(system.state, prescribed, f)
        right = np.where(self.fixed, 0.0, -(direct + f))
        answer += self.linear.solve(right, transpose=False)
        system.assembler.product(system.state, answer, f)
        return answer, direct + f

    def _of_cell(self, field: Field, cell: int) -> tuple[Array, dict[int, Array], Array]:
        """Return the direction of what one value of a field drives."""
        system = self.system
        rows: dict[int, Array] = {}
        for number, column in columns_of(system, field):
            form = system.forms[number]
            change = rows.setdefault(number, np.zeros_like(form.cell))
            if form.ids is not None:
                change[form.ids == cell, column] = 1.0
        return np.zeros_like(system.assembler.values), rows, np.zeros_like(system.state)

    def require_tangent(self) -> None:
        """Raise where tangents are not the derivatives of the residual (collective)."""
        v = self.system.numbering.random(1)
        pulled = self._pull(v)
        require_no_memory(self.system, pulled)
        require_tangent(self.system, v, pulled)

    @staticmethod
    def require_change(variable: AnyVariable, changes: bool) -> None:
        """Raise where nothing depends on a variable."""
        if not changes:
            raise ParameterError(
                f"nothing depends on {label(variable)}: no law, load, support or goal of the "
                "system has it",
                asked="parameters",
                given=label(variable),
            )

    def changes(self, change: Quotients[Array]) -> bool:
        """Tell whether anything changes with a parameter (collective)."""
        rate = change.rates
        size = np.abs(rate.values).sum() + np.abs(rate.prescribed).sum()
        size += sum(np.abs(rows).sum() for rows in rate.rows.values())
        size += np.abs(change.ends[0] - change.ends[1]).sum()
        return bool(self.system.sum(np.array([size]))[0] > 0.0)

    def _pull(self, w: Array, seeds: dict[int, Array] | None = None) -> Derivatives:
        """Return the derivatives of w . R + seeds . update (collective)."""
        system, found = self.system, None
        with together(system.comm):
            found = system.assembler.pull(system.state, w, seeds)
        if system.comm.allreduce(found.bad):
            raise ParameterError("a law has no derivatives at the present state", asked="gradient")
        return found

    def _by_supports(self, weights: Weights, prescribed: Array) -> float:
        """Return (w . K + seeds . update_u) dg/dp (collective)."""
        system, by = self.system, weights.by
        numbering = system.numbering
        own = slice(0, numbering.start[numbering.owned_vertices])
        if not system.sum(np.array([np.abs(prescribed).sum()]))[0]:
            return 0.0
        return float(system.sum(np.array([by.coordinates[own] @ prescribed[own]]))[0])

    def changes_of(
        self, variable: Parameter | TimeSeries, goals: Sequence[Goal] = ()
    ) -> list[tuple[Quotients[Array], float | Array]]:
        """Return how what the system is made of follows a parameter or a series (collective).

        Derivatives along a number, and those of that number by the variable's values. A series that
        is asked for at the present time alone is one number there.
        """
        if isinstance(variable, Parameter):
            return [(self.change(variable, goals), 1.0)]
        system, values = self.system, variable.values
        name = f"gradient by {variable}"
        size = float(np.abs(values).max()) or 1.0
        with Shifted(variable) as shifted:
            set_shift = partial(setattr, shifted, "shift")
            change = self._quotients(set_shift, 0.0, size, name, goals)
            times = set().union(*system.comm.allgather(shifted.times))
        if times <= {system.time}:
            return [(change, variable.weights(system.time))]
        moving = sum((np.abs(variable.weights(t)) for t in times), np.zeros(len(values)))
        found: list[tuple[Quotients[Array], float | Array]] = []
        for k in np.flatnonzero(moving):
            one = np.zeros(len(values))
            one[k] = 1.0

            def put(value: float, one: Array = one) -> None:
                variable.values = values + (value - values @ one) * one

            found.append((self._quotients(put, float(values[k]), size, name, goals), one))
            variable.values = values
        return found

    def change(self, parameter: Parameter, goals: Sequence[Goal] = ()) -> Quotients[Array]:
        """Return how what the system is made of follows a parameter (collective)."""
        put, value = partial(setattr, parameter, "value"), parameter.value
        name = f"gradient by {parameter.name!r}"
        return self._quotients(put, value, abs(value) or 1.0, name, goals)

    def _quotients(
        self,
        put: Callable[[float], None],
        value: float,
        size: float,
        name: str,
        goals: Sequence[Goal],
    ) -> Quotients[Array]:
        system = self.system

        def prescribe(there: float, state: Array) -> None:
            put(there)
            system.prescribe(system.time, state)

        def beside() -> Array:
            return np.concatenate([np.zeros(0), *(goal.beside(system) for goal in goals)])

        return rates(system, prescribe, value, DIFFERENCE_STEP * size, name, beside)


def in_equilibrium(system: DiscreteSystem) -> bool:
    """Tell whether the present state is an equilibrium with the present parameters (collective)."""
    f, elastic = system.residual_at(system.state), np.zeros_like(system.state)
    system.assembler.product(system.state, system.state, elastic)
    fixed = system.numbering.fixed_by >= 0
    own = np.arange(len(f)) < system.numbering.start[system.numbering.owned_vertices]
    free, *sizes = system.sum(
        np.array(
            [
                (x[where] ** 2).sum()
                for x, where in ((f, own & ~fixed), (f, own & fixed), (elastic, own))
            ]
        )
    )
    least = NO_FORCE * system.stiffness * system.extent
    return bool(free <= EQUILIBRIUM**2 * sum(sizes) + least**2)


def columns_of(system: DiscreteSystem, field: Field) -> list[tuple[int, int]]:
    """Return forms and columns of their parameters that a field of values gives."""
    return [
        (number, column)
        for number, form in enumerate(system.forms)
        if isinstance(form.cell_at, CellFields)
        for column, given in form.cell_at.fields.items()
        if given is field
    ]


def by_field(system: DiscreteSystem, field: Field, by: Derivatives) -> Array:
    """Return the derivatives (cells,) by the values of a field, on every rank (collective)."""
    total = np.zeros(len(field.values))
    for number, column in columns_of(system, field):
        form = system.forms[number]
        if number in by.rows and form.ids is not None:
            own = form.owned.astype(bool)
            np.add.at(total, form.ids[own], by.rows[number][own, column])
    return np.asarray(system.sum(total))


def depends_on_memory(system: DiscreteSystem, number: int, by: Derivatives) -> bool:
    """Tell whether derivatives by what the law of a form remembers are more than round-off.

    Each is compared with those by parameters as a multiple of the value itself, so that units do
    not count; where all values are 0 those of the other internal variables stand for them, or 1
    (collective).
    """
    form, rows = system.forms[number], by.rows.get(number)
    count, columns = len(form.kernel.memory), form.cell.shape[1]
    if not count:
        return False
    values = system.memory.rows(form, system.time)
    sizes = np.zeros((2, columns))
    if values is not None and values.size:
        sizes[0] = np.abs(values).max(axis=0)
    if rows is not None and rows.size:
        sizes[1] = np.abs(rows).max(axis=0)
    scale, slopes = np.max(system.comm.allgather(sizes), axis=0)
    own = scale[-count:]
    scale[-count:] = np.where(own > 0.0, own, own.max() or 1.0)
    found = slopes * scale
    return bool(found[-count:].max() > ROUND_OFF * found.max())


def require_no_memory(system: DiscreteSystem, by: Derivatives) -> None:
    """Raise where the residual depends on what laws remember (collective).

    Raises
    ------
    ParameterError
    """
    depends = [depends_on_memory(system, k, by) for k in range(len(system.forms))]
    names = [form.name for form, some in zip(system.forms, depends, strict=True) if some]
    if names:
        raise ParameterError(
            f"{', '.join(map(repr, names))}: the law remembers earlier steps, and the present "
            "equilibrium depends on them: give the solution a trace from its start, "
            "problem.solve(..., trace=sa.Trace()), and call problem.gradient",
            asked="trace",
            given=names,
        )
