# SPDX-License-Identifier: BSD-3-Clause
"""Derivatives of a goal by parameters, and what is asked of goals and parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ...errors import ParameterError
from ...values.parameter import Field, Parameter, label
from ...values.series import TimeSeries
from .goal import Goal
from .shape import Shape

if TYPE_CHECKING:
    from ...arrays import Array
    from ...assembly.assembler import Derivatives
    from ...assembly.discrete import DiscreteSystem

#: By what goals are differentiated.
Variable: TypeAlias = "Parameter | Field | TimeSeries"
AnyVariable: TypeAlias = "Variable | Shape"


class Gradient(Mapping[Any, Any]):
    """Derivatives of a goal by parameters.

    ``gradient[p]`` is a number for a `Parameter`, an array (cells,) for a `Field`,
    (n,) for a `Series`, (nodes, 3) for a `Shape`.

    Attributes
    ----------
    value : of the goal.
    displacement, rate : of motions, derivatives by the displacements and rates with which they
        begin: (owned,) as `State` has them; rates are those before constraints have changed them.
    switch : how near contact came to a switch, the least |gap| in parts of the local size, or
        distance of the trial force of friction from its limit, in parts of that; or an event to the
        end of a step, in parts of its length; inf without one.
    """

    switch: float = np.inf
    displacement: Array | None = None
    rate: Array | None = None

    def __init__(self, value: float, pairs: Sequence[tuple[AnyVariable, float | Array]]) -> None:
        self.value = value
        self._pairs = list(pairs)

    def __getitem__(self, of: AnyVariable) -> Any:
        for variable, value in self._pairs:
            if variable is of:
                return value
        raise KeyError(f"the gradient has nothing by {label(of)}: it was not asked for")

    def __iter__(self) -> Iterator[AnyVariable]:
        return iter(variable for variable, _ in self._pairs)

    def __len__(self) -> int:
        return len(self._pairs)

    def __repr__(self) -> str:
        parts = ", ".join(f"by {label(v)}: {label(x)}" for v, x in self._pairs)
        return f"Gradient of a goal of value {self.value:g}, {parts}"


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


def require_tangent(
    system: DiscreteSystem,
    v: Array,
    pulled: Derivatives,
    what: str = "sensitivity",
) -> None:
    """Raise where products with the tangent are not the derivatives of the residual (collective).

    Then v . K w = w . K^T v of any w.

    Parameters
    ----------
    v : local vector.
    pulled : derivatives of v . R, see `Assembler.pull`; rates follow as in products.
    what : in the message.

    Raises
    ------
    ParameterError
    """
    own, w, product = slice(0, system.numbering.owned), system.numbering.random(2), np.zeros_like(v)
    system.assembler.product(system.state, w, product)
    parts = [
        v[own] @ product[own],
        w[own] @ pulled.coordinates[own],
        np.abs(v[own] * product[own]).sum(),
    ]
    one, other, size = system.sum(np.array(parts))
    if abs(one - other) > 1e-9 * size:  # no round-off
        raise ParameterError(
            f"a law of this system leaves something out of its tangent, so that the {what} would "
            "be wrong: problem.gradient(goal, parameters) takes the exact transpose, of motions "
            "with other damping",
            asked=what,
            given=abs(one - other) / size,
        )


def require_variables(system: DiscreteSystem, parameters: Any) -> list[Variable]:
    """Return parameters, fields and series that the user gave (collective).

    Raises
    ------
    ParameterError : it is no list of them, or one is given twice.
    """
    variables: list[Variable] = []
    for variable in require_any_variables(system, parameters):
        if isinstance(variable, Shape):
            raise ParameterError(
                f"derivatives by the {variable.name} are known of equilibria, their histories and "
                "limit loads: StaticProblem.gradient, sensitivity, limit_gradient. Of others take "
                "differences of models with moved nodes; optimisers take a function that makes "
                "the model of a design anew (guide, Gradients, Shapes)",
                asked="Shape",
                given=variable.name,
            )
        variables.append(variable)
    return variables


def require_any_variables(system: DiscreteSystem, parameters: Any) -> list[AnyVariable]:
    """Return parameters, fields, series and shapes that the user gave (collective).

    Raises
    ------
    ParameterError : see `require_variables`.
    """
    if not isinstance(parameters, list | tuple) or not parameters:
        raise ParameterError(
            "parameters= takes a list of sa.Parameter, sa.Field and sa.Series, not "
            f"{label(parameters)}",
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
        if not isinstance(variable, Parameter | Field | TimeSeries | Shape):
            raise ParameterError(
                f"{label(variable)} is no sa.Parameter, sa.Field, sa.Series or sa.Shape",
                asked="parameters",
                given=label(variable),
                possible=[p.name for p in system.parameters],
            )
    if len({id(v) for v in parameters}) < len(parameters):
        raise ParameterError("a parameter is given twice", asked="parameters")
    return list(parameters)


def require_goal(goal: Any, *, moves: bool = False) -> Goal:
    """Return a goal that the user gave; `moves`: of a motion.

    Raises
    ------
    ParameterError : it is none, or asks for velocities that an equilibrium does not have.
    """
    if not isinstance(goal, Goal):
        raise ParameterError(
            f"{label(goal)} is no goal: give sa.Goal(lambda u_a: -u_a[2], place)",
            asked="goal",
            given=label(goal),
        )
    if goal.rates and not moves:
        raise ParameterError(
            f"goal {goal.name!r} asks for velocities, and an equilibrium has none: give it to a "
            "DynamicProblem",
            asked="goal",
            given=goal.name,
        )
    return goal


def value_of(variable: Variable) -> Array:
    """Return the number or the values of a variable, a copy."""
    if isinstance(variable, Parameter):
        return np.array(variable.value)
    return np.array(variable.values)


def assign(variable: Variable, value: Array) -> None:
    """Give a variable another number or other values.

    Raises
    ------
    ParameterError : it is a `Shape`, whose positions are those of a mesh.
    """
    if isinstance(variable, Shape):
        raise ParameterError(
            f"positions of the {variable.name} cannot be changed: make another mesh",
            asked="Shape",
            given=variable.name,
        )
    if isinstance(variable, Parameter):
        variable.value = float(value)
    else:
        variable.values = value
