# SPDX-License-Identifier: BSD-3-Clause
"""Derivatives of goals at an equilibrium by parameters: adjoint and direct."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ...assembly.cell_fields import CellFields
from ...errors import ParameterError
from ...runtime.collective import together
from ...values.parameter import Field, Parameter, label
from ..gradients.goal import Goal, GoalSlopes
from ..rates import DIFFERENCE_STEP, Quotients, Rates, rates
from .transposed import Transposed

if TYPE_CHECKING:
    from ...arrays import Array
    from ...assembly.assembler import Derivatives
    from ...assembly.discrete import DiscreteSystem
    from .equilibrium import EquilibriumSolver

#: By what goals are differentiated.
Variable: TypeAlias = "Parameter | Field"


class Gradient(Mapping[Any, Any]):
    """Derivatives of a goal by parameters.

    ``gradient[p]`` is a number for a `Parameter`, an array (cells,) for a `Field`.

    Attributes
    ----------
    value : of the goal.
    """

    def __init__(self, value: float, pairs: Sequence[tuple[Variable, float | Array]]) -> None:
        self.value = value
        self._pairs = list(pairs)

    def __getitem__(self, of: Variable) -> Any:
        for variable, value in self._pairs:
            if variable is of:
                return value
        raise KeyError(f"the gradient has nothing by {label(of)}: it was not asked for")

    def __iter__(self) -> Iterator[Variable]:
        return iter(variable for variable, _ in self._pairs)

    def __len__(self) -> int:
        return len(self._pairs)

    def __repr__(self) -> str:
        parts = ", ".join(f"by {label(v)}: {label(x)}" for v, x in self._pairs)
        return f"Gradient of a goal of value {self.value:g}, {parts}"


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

    def gradient(self, goal: Goal, variables: Sequence[Variable]) -> Gradient:
        """Return the derivatives by variables (collective)."""
        system = self.system
        slopes = goal.slopes(system)
        w, by = self.pulled(slopes)
        found: list[tuple[Variable, float | Array]] = []
        for variable in variables:
            if isinstance(variable, Field):
                value: float | Array = by_field(system, variable, by)
                changes = bool(columns_of(system, variable))
            else:
                change = self.change(variable, goal)
                explicit = (change.ends[0] - change.ends[1]) / change.span
                value = self.along(slopes, w, by, change.rates) + goal.explicit(system, explicit)
                changes = self.changes(change)
            self.require_change(variable, changes)
            found.append((variable, value))
        return Gradient(slopes.value, found)

    def pulled(self, slopes: GoalSlopes) -> tuple[Array, Derivatives]:
        """Return the weights w of the residual for a goal, and the derivatives of w . R."""
        system = self.system
        free, all_terms = to_owners(system, slopes.coordinates), True
        if system.sum(np.array([np.abs(slopes.forces).sum()]))[0]:
            pulled = self._pull(slopes.forces)
            all_terms = pulled.all_terms
            free = free + pulled.coordinates
        if not all_terms:
            raise ParameterError(
                "forces of supports as goals are not known where bodies touch one another: "
                "give a goal of places",
                asked="goal",
            )
        w = self.linear.solve(np.where(self.fixed, 0.0, -free), transpose=True) + slopes.forces
        by = self._pull(w)
        require_no_memory(system, by)
        return w, by

    def along(self, slopes: GoalSlopes, w: Array, by: Derivatives, rate: Rates) -> float:
        """Return the derivative of a goal by what a parameter changes (collective)."""
        system = self.system
        own = rate.along(system, by) + slopes.coordinates @ rate.prescribed
        total = float(system.sum(np.array([own]))[0])
        return total + self._by_supports(w, by, rate.prescribed)

    def sensitivity(self, variables: Sequence[Variable], goals: Sequence[Goal]) -> list[Gradient]:
        """Return the derivatives of goals by variables, one linear system each (collective)."""
        system = self.system
        self.require_tangent()
        slopes = [goal.slopes(system) for goal in goals]
        found: list[list[tuple[Variable, float | Array]]] = [[] for _ in goals]
        for variable in variables:
            if isinstance(variable, Field):
                columns = np.array(
                    [
                        self._moved(slopes, *self._of_cell(variable, k))
                        for k in range(len(variable.values))
                    ]
                )
                changes = bool(columns_of(system, variable))
                for own, column in zip(found, columns.T, strict=True):
                    own.append((variable, column))
            else:
                change = self.change(variable)
                rate, changes = change.rates, self.changes(change)
                moved = self._moved(slopes, rate.values, rate.rows, rate.prescribed)
                for goal, own, value in zip(goals, found, moved, strict=True):
                    of_goal = self.change(variable, goal)
                    explicit = (of_goal.ends[0] - of_goal.ends[1]) / of_goal.span
                    changes |= bool(explicit.any())
                    own.append((variable, value + goal.explicit(system, explicit)))
            self.require_change(variable, changes)
        return [Gradient(s.value, own) for s, own in zip(slopes, found, strict=True)]

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
        system = self.system
        numbering = system.numbering
        v, w = numbering.random(1), numbering.random(2)
        f, pulled = np.zeros_like(v), self._pull(v)
        require_no_memory(system, pulled)
        if not pulled.all_terms:
            return
        system.assembler.product(system.state, w, f)
        own = slice(0, numbering.start[numbering.owned_vertices])
        one, other, size = system.sum(
            np.array(
                [v[own] @ f[own], w[own] @ pulled.coordinates[own], np.abs(v[own] * f[own]).sum()]
            )
        )
        if abs(one - other) > 1e-9 * size:  # no round-off
            raise ParameterError(
                "a law of this system leaves something out of its tangent, so that sensitivities "
                "would be wrong: problem.gradient(goal, parameters) takes the exact transpose",
                asked="sensitivity",
                given=abs(one - other) / size,
            )

    @staticmethod
    def require_change(variable: Variable, changes: bool) -> None:
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

    def _pull(self, w: Array) -> Derivatives:
        """Return the derivatives of w . R (collective)."""
        system, found = self.system, None
        with together(system.comm):
            found = system.assembler.pull(system.state, w)
        if system.comm.allreduce(found.bad):
            raise ParameterError("a law has no derivatives at the present state", asked="gradient")
        return found

    def _by_supports(self, w: Array, by: Derivatives, prescribed: Array) -> float:
        """Return w . K dg/dp (collective)."""
        system = self.system
        numbering = system.numbering
        own = slice(0, numbering.start[numbering.owned_vertices])
        if not system.sum(np.array([np.abs(prescribed).sum()]))[0]:
            return 0.0
        if by.all_terms:
            part = by.coordinates[own] @ prescribed[own]
        else:
            f = np.zeros_like(w)
            system.assembler.product(system.state, prescribed, f)
            part = f[own] @ w[own]
        return float(system.sum(np.array([part]))[0])

    def change(self, parameter: Parameter, goal: Goal | None = None) -> Quotients[Array]:
        """Return how what the system is made of follows a parameter (collective)."""
        system = self.system

        def prescribe(value: float, state: Array) -> None:
            parameter.value = value
            system.prescribe(system.time, state)

        h = DIFFERENCE_STEP * (abs(parameter.value) or 1.0)
        more = (lambda: np.zeros(0)) if goal is None else (lambda: goal.beside(system))
        name = f"gradient by {parameter.name!r}"
        return rates(system, prescribe, parameter.value, h, name, more)


def to_owners(system: DiscreteSystem, shares: Array) -> Array:
    """Return a local vector whose owned rows have the shares of all ranks (collective)."""
    numbering = system.numbering
    if system.comm.size == 1:
        return shares
    full = np.zeros(numbering.size)
    free = numbering.free
    np.add.at(full, numbering.columns_of_free, shares[free])
    full = np.asarray(system.sum(full))
    total = np.zeros_like(shares)
    total[free] = full[numbering.columns_of_free]
    return total


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


def require_no_memory(system: DiscreteSystem, by: Derivatives) -> None:
    """Raise where the residual depends on what laws remember (collective).

    Raises
    ------
    ParameterError
    """
    names: list[str] = []
    for number, form in enumerate(system.forms):
        count = len(form.kernel.memory)
        rows = by.rows.get(number)
        part, whole = 0.0, 0.0
        if count and rows is not None and rows.size:
            part, whole = float(np.abs(rows[:, -count:]).max()), float(np.abs(rows).max())
        found = np.array(system.comm.allgather([part, whole])) if count else np.zeros((1, 2))
        if found[:, 0].max() > 1e-12 * found[:, 1].max():  # no round-off
            names.append(form.name)
    if names:
        raise ParameterError(
            f"{', '.join(map(repr, names))}: the law remembers earlier steps, and the present "
            "equilibrium depends on them; gradients are known of laws without memory, and of "
            "contact without friction",
            asked="gradient",
            given=names,
        )


def require_variables(system: DiscreteSystem, parameters: Any) -> list[Variable]:
    """Return parameters and fields that the user gave (collective).

    Raises
    ------
    ParameterError : it is no list of them, or one is given twice.
    """
    if not isinstance(parameters, list | tuple) or not parameters:
        raise ParameterError(
            f"parameters= takes a list of sa.Parameter and sa.Field, not {label(parameters)}",
            asked="parameters",
            given=label(parameters),
        )
    for variable in parameters:
        if isinstance(variable, Field) and not variable.of_cells:
            raise ParameterError(
                "gradients by a Field are those by its values: give numbers, one for each cell, "
                "sa.Field(np.full(cells, 1e6))",
                asked="parameters",
                given=label(variable),
            )
        if not isinstance(variable, Parameter | Field):
            raise ParameterError(
                f"{label(variable)} is no sa.Parameter and no sa.Field",
                asked="parameters",
                given=label(variable),
                possible=[p.name for p in system.parameters],
            )
    if len({id(v) for v in parameters}) < len(parameters):
        raise ParameterError("a parameter is given twice", asked="parameters")
    return list(parameters)


def require_goal(goal: Any) -> Goal:
    """Return a goal that the user gave.

    Raises
    ------
    ParameterError : it is none.
    """
    if not isinstance(goal, Goal):
        raise ParameterError(
            f"{label(goal)} is no goal: give sa.Goal(lambda u_a: -u_a[2], place)",
            asked="goal",
            given=label(goal),
        )
    return goal
