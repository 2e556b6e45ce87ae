# SPDX-License-Identifier: BSD-3-Clause
"""The Hessian of a goal at an equilibrium by the Gauss-Newton method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from ...errors import ParameterError
from ...values.parameter import Field, Parameter, label
from .adjoint import by_field, columns_of, require_no_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...arrays import Array
    from ..gradients.goal import Goal
    from ..gradients.gradient import Variable
    from ..rates import Rates
    from .adjoint import Adjoint


def size_of(variable: Variable) -> int:
    """Return the number of values of a variable."""
    return 1 if isinstance(variable, Parameter) else len(variable.values)


class GaussNewton(LinearOperator):  # type: ignore[misc]
    r"""Products of :math:`H = S^T J_{yy} S` with vectors, :math:`S = dy/dp`.

    y are the quantities that a goal is a function of: those of places, forces and moments of
    supports. Where J is a sum of squares that are small at the solution, H is nearly the Hessian;
    where it is convex in y, H has no negative eigenvalue. A product costs two linear systems with
    the tangent that is at hand.

    Attributes
    ----------
    shape : (n, n) of all values, in the order of the variables.
    """

    def __init__(
        self,
        adjoint: Adjoint,
        goal: Goal,
        variables: Sequence[Variable],
        require_present: Callable[[], None],
    ) -> None:
        adjoint.require_tangent()
        self._require_present = require_present
        self._adjoint, self._goal, self._variables = adjoint, goal, variables
        self._rates: dict[int, list[tuple[Rates, Array]]] = {}
        for variable in variables:
            if isinstance(variable, Field):
                changes = bool(columns_of(adjoint.system, variable))
            else:
                pairs = adjoint.changes_of(variable, [goal])
                if any((change.ends[0] != change.ends[1]).any() for change, _ in pairs):
                    raise ParameterError(
                        f"hessian: the goal itself has {label(variable)}; products are known by "
                        "parameters that act through the equilibrium alone",
                        asked="hessian",
                        given=label(variable),
                    )
                changes = any([adjoint.changes(change) for change, _ in pairs])
                self._rates[id(variable)] = [
                    (change.rates, np.atleast_1d(part)) for change, part in pairs
                ]
            adjoint.require_change(variable, changes)
        n = sum(map(size_of, variables))
        super().__init__(np.dtype(float), (n, n))

    def _matvec(self, d: Any) -> Array:
        self._require_present()
        adjoint, system = self._adjoint, self._adjoint.system
        coordinates, forces = adjoint.response(*self._direction(np.ravel(d)))
        slopes = self._goal.curvature(system, coordinates, forces)
        weights = adjoint.pulled(slopes)
        require_no_memory(system, weights.by)
        products: list[Array] = []
        for variable in self._variables:
            if isinstance(variable, Field):
                products.append(by_field(system, variable, weights.by))
                continue
            own = np.zeros(size_of(variable))
            for rate, part in self._rates[id(variable)]:
                own += adjoint.along(slopes, weights, rate) * part
            products.append(own)
        return np.concatenate(products)

    def _rmatvec(self, d: Any) -> Array:
        return self._matvec(d)

    def _direction(self, d: Array) -> tuple[Array, dict[int, Array], Array]:
        """Return the rates of values, rows and prescribed coordinates along a direction."""
        system, at = self._adjoint.system, 0
        values = np.zeros_like(system.assembler.values)
        prescribed = np.zeros_like(system.state)
        rows: dict[int, Array] = {}
        for variable in self._variables:
            own = d[at : at + size_of(variable)]
            at += len(own)
            if isinstance(variable, Field):
                for number, column in columns_of(system, variable):
                    form = system.forms[number]
                    change = rows.setdefault(number, np.zeros_like(form.cell))
                    if form.ids is not None:
                        change[:, column] += own[form.ids]
                continue
            for rate, part in self._rates[id(variable)]:
                values += (own @ part) * rate.values
                prescribed += (own @ part) * rate.prescribed
                for number, change in rate.rows.items():
                    rows[number] = rows.get(number, 0.0) + (own @ part) * change
        return values, rows, prescribed
