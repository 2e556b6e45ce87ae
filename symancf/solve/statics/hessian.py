# SPDX-License-Identifier: BSD-3-Clause
"""The Hessian of a goal at an equilibrium, exact and by the Gauss-Newton method."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI
from scipy.sparse.linalg import LinearOperator

from ...errors import ParameterError
from ...values.parameter import Field, Parameter, label
from ..gradients.bend import STEP, along, step_of
from ..gradients.goal import GoalSlopes
from ..gradients.gradient import assign, to_owners, value_of
from ..gradients.shape import Shape
from .adjoint import by_field, columns_of, require_no_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ...arrays import Array
    from ..gradients.goal import Goal
    from ..gradients.gradient import Variable
    from ..rates import Rates
    from .adjoint import Adjoint, Weights


def size_of(variable: Variable) -> int:
    """Return the number of values of a variable."""
    return 1 if isinstance(variable, Parameter) else len(variable.values)


class Hessian(LinearOperator):  # type: ignore[misc]
    r"""Products of the second derivatives of a goal with vectors.

    With the adjoint w of the gradient, :math:`K^T w = -J_u`, and :math:`L = J + w \cdot R`,

    .. math::
        K \dot u = -R_p d, \qquad K^T \dot w = -(L_{uu} \dot u + L_{up} d), \qquad
        H d = L_{pu} \dot u + L_{pp} d + R_p^T \dot w ,

    where derivatives of the first ones of L, which are exact, are central differences of order 6:
    symmetric to some 1e-11. A product costs two linear systems with the tangent that is at hand and
    six calls of the kernels.

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
                found = adjoint.system.sum(np.abs(goal.by_field(adjoint.system, variable)))
                self._require_plain(variable, bool(found.any()))
            else:
                assert not isinstance(variable, Shape)  # refused before
                pairs = adjoint.changes_of(variable, [goal])
                changed = any((change.ends[0] != change.ends[1]).any() for change, _ in pairs)
                self._require_plain(variable, adjoint.system.comm.allreduce(changed, op=MPI.LOR))
                changes = any([adjoint.changes(change) for change, _ in pairs])
                self._rates[id(variable)] = [
                    (change.rates, np.atleast_1d(part)) for change, part in pairs
                ]
            adjoint.require_change(variable, changes)
        n = sum(map(size_of, variables))
        super().__init__(np.dtype(float), (n, n))

        self._prepare()

    def _prepare(self) -> None:
        """Find the weights of the residual, and see that values are linear in parameters."""
        system, adjoint = self._adjoint.system, self._adjoint
        slopes = self._goal.slopes(system)
        weights = adjoint.pulled(slopes)
        require_no_memory(system, weights.by)
        self._w = weights.w - slopes.forces
        self._before = [value_of(v) for v in self._variables]
        random = np.random.default_rng(0)
        sizes = [np.where(p == 0.0, 1.0, p) for p in self._before]
        direction = [1e-3 * s * random.uniform(0.5, 1.0, np.shape(s)) for s in sizes]
        middle, *ends = (self._driven(h, direction) for h in (0.0, 1.0, -1.0))
        curved = any(
            bool((np.abs(a + b - 2.0 * c) > 1e-12 * (np.abs(a) + np.abs(b))).any())
            for a, b, c in zip(*ends, middle, strict=True)
        )
        if system.comm.allreduce(curved, op=MPI.LOR):
            names = ", ".join(label(v) for v in self._variables)
            raise ParameterError(
                f"hessian: what kernels read, or supports prescribe, is no linear function of "
                f"{names}, and its second derivatives are not known: gauss_newton=True",
                asked="gauss_newton",
                given=names,
                possible=(True,),
            )

    def _require_plain(self, variable: Variable, occurs: bool) -> None:
        """Raise where a variable occurs in the goal itself."""
        if occurs:
            raise ParameterError(
                f"hessian: the goal itself has {label(variable)}; products are known by "
                "parameters that act through the equilibrium alone",
                asked="hessian",
                given=label(variable),
            )

    def _driven(self, h: float, direction: Sequence[Array]) -> list[Array]:
        """Return what parameters drive, with these beside their values; put them back."""
        system = self._adjoint.system
        with self._beside(h, direction):
            rows = [x.copy() for _, x in sorted(system.assembler.rows.items())]
            return [system.assembler.values.copy(), system.state.copy(), *rows]

    @contextmanager
    def _beside(self, h: float, direction: Sequence[Array]) -> Iterator[None]:
        """Let parameters be beside their values."""
        system = self._adjoint.system
        state, time = system.state.copy(), system.time
        try:
            for variable, value, d in zip(self._variables, self._before, direction, strict=True):
                assign(variable, value + h * d)
            system.prescribe(time)
            yield
        finally:
            for variable, value in zip(self._variables, self._before, strict=True):
                assign(variable, value)
            system.prescribe(time)
            system.state[:] = state

    def _moved(self, d: Array) -> tuple[GoalSlopes, Weights]:
        """Return the derivatives along a direction of those of a gradient (collective)."""
        adjoint, system = self._adjoint, self._adjoint.system
        parts = np.split(d, np.cumsum([size_of(v) for v in self._variables])[:-1])
        direction = [x.reshape(np.shape(p)) for x, p in zip(parts, self._before, strict=True)]
        change, _ = adjoint.response(*self._direction(d))
        own = np.arange(len(change)) < system.numbering.start[system.numbering.owned_vertices]
        state = system.state.copy()
        first = system.assembler.pull(state, self._w)
        numbers = sorted(first.rows)

        def slopes(h: float) -> list[Array]:
            with self._beside(h, direction):
                system.state[:] = state + h * change
                goal = self._goal.slopes(system)
                by = system.assembler.pull(system.state, self._w + goal.forces)
                if system.comm.allreduce(by.bad):
                    raise ParameterError(
                        "hessian: a law has no derivatives beside the present state",
                        asked="hessian",
                    )
                whole = to_owners(system, goal.coordinates) + by.coordinates
                at = np.where(own, whole, 0.0)  # shares, of which owners have all
                return [at, by.values, *(by.rows[k] for k in numbers)]

        sizes = [np.abs(p).max() or 1.0 for p in self._before]
        part = max(np.abs(x).max() / s for x, s in zip(direction, sizes, strict=True))
        step = min(step_of(system, change), STEP / part if part else 1.0)
        at, values, *rows = along(system, slopes, step, "hessian")
        second = GoalSlopes(0.0, at, np.zeros_like(at), np.zeros_like(at))
        weights = adjoint.pulled(second)
        more = dict(zip(numbers, rows, strict=True))
        by = replace(
            weights.by,
            values=weights.by.values + values,
            rows={k: x + more[k] for k, x in weights.by.rows.items()},
        )
        return second, replace(weights, by=by)

    def _matvec(self, d: Any) -> Array:
        self._require_present()
        adjoint, system = self._adjoint, self._adjoint.system
        slopes, weights = self._moved(np.ravel(d))
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


class GaussNewton(Hessian):
    r"""Products of :math:`H = S^T J_{yy} S` with vectors, :math:`S = dy/dp`.

    y are the quantities that a goal is a function of: those of places, forces and moments of
    supports. Where J is a sum of squares that are small at the solution, H is nearly the Hessian;
    where it is convex in y, H has no negative eigenvalue. A product costs two linear systems with
    the tangent that is at hand.
    """

    def _prepare(self) -> None:
        """Second derivatives of the residual are not asked for."""

    def _moved(self, d: Array) -> tuple[GoalSlopes, Weights]:
        adjoint, system = self._adjoint, self._adjoint.system
        coordinates, forces = adjoint.response(*self._direction(d))
        slopes = self._goal.curvature(system, coordinates, forces)
        weights = adjoint.pulled(slopes)
        require_no_memory(system, weights.by)
        return slopes, weights
