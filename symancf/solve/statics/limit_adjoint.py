# SPDX-License-Identifier: BSD-3-Clause
"""Derivatives of limit loads, which a followed path has found, by parameters."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...errors import ParameterError
from ...values.parameter import label
from ..gradients.bend import bend, total
from ..gradients.goal import GoalSlopes
from ..gradients.gradient import Gradient, require_variables
from ..solver import is_symmetric
from .adjoint import Adjoint, in_equilibrium, require_no_memory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...arrays import Array
    from ...output.steps import LimitPoint
    from ...values.parameter import Parameter
    from ..gradients.gradient import AnyVariable
    from .adjoint import Weights
    from .equilibrium import EquilibriumSolver

#: Steps of inverse iteration for the vector in which the tangent is singular
INVERSE_ITERATIONS = 6
#: Part of the tangent's largest entry that this vector may leave
SINGULAR = 1e-5
#: Part of forces of a parameter, or of a slope, along a shape: none where branches are alike
ASYMMETRY = 1e-5


class LimitAdjoint:
    r"""Derivatives of the load :math:`\lambda^*` at a limit point of R(u, lambda, p) = 0.

    The tangent is singular there, :math:`K^T \psi = 0`, and

    .. math:: \frac{d\lambda^*}{dp} = -\frac{\psi \cdot R_p}{\psi \cdot R_\lambda} .

    How the point moves does not matter, nor how exactly it was found, to first order.
    """

    what, points = "limit_gradient", "limit points"

    def __init__(self, solver: EquilibriumSolver, parameter: Parameter) -> None:
        self.solver, self.system, self.parameter = solver, solver.system, parameter

    def gradient(self, point: LimitPoint, variables: Sequence[AnyVariable]) -> Gradient:
        """Return the derivatives of the parameter's value there (collective).

        Raises
        ------
        ParameterError : see `StaticProblem.limit_gradient`.
        """
        system, present, now = self.system, self.system.state.copy(), self.parameter.value
        if not self.solver.linear.direct:
            raise ParameterError(
                f"{self.what}: the tangent is singular there, which a direct solver alone bears: "
                "options={'pc_type': 'lu'}",
                asked="pc_type",
                possible=("lu", "cholesky"),
            )
        if system.changing:
            raise ParameterError(
                f"{self.what}: limit loads of bodies that touch one another have no gradients",
                asked="gradient",
            )
        try:
            self._put(point.state, point.parameter)
            if not in_equilibrium(system):
                raise ParameterError(
                    f"{self.what}: the limit point is no equilibrium with the present "
                    "parameters: follow the path again",
                    asked="limit point",
                    given=point.parameter,
                )
            return self._gradient(point, variables)
        finally:
            self._put(present, now)
            self.solver.linear.forget()

    def _gradient(self, point: LimitPoint, variables: Sequence[AnyVariable]) -> Gradient:
        adjoint = Adjoint(self.solver)
        none = GoalSlopes(0.0, *(np.zeros_like(self.system.state) for _ in range(3)))
        weights = self._null_vector(adjoint)
        require_no_memory(self.system, weights.by)
        by_load, _ = adjoint.derivative(self.parameter, none, weights, [])
        found: list[tuple[AnyVariable, float | Array]] = []
        for variable in variables:
            self._require_other(variable)
            value, changes = adjoint.derivative(variable, none, weights, [])
            Adjoint.require_change(variable, changes)
            found.append((variable, -value / by_load))
        return Gradient(point.parameter, found)

    def _require_other(self, variable: AnyVariable) -> None:
        """Raise where a variable is the load itself."""
        if variable is self.parameter:
            raise ParameterError(
                f"{self.what}: the load is a value of {variable} itself",
                asked="parameters",
                given=self.parameter.name,
            )

    def _put(self, state: Array, value: float) -> None:
        system = self.system
        self.parameter.value = value
        system.prescribe(system.time)
        system.state[:] = state

    def _null_vector(self, adjoint: Adjoint) -> Weights:
        """Return the vector in which the transposed tangent is singular, as weights."""
        system = self.system
        free = ~adjoint.fixed
        psi = np.where(free, system.numbering.random(1), 0.0)
        for _ in range(INVERSE_ITERATIONS):
            psi = adjoint.linear.inverse(psi, transpose=True)
            psi /= np.sqrt(system.sum(np.array([(system.numbering.to_rows(psi) ** 2).sum()]))[0])
        weights = adjoint.resting(GoalSlopes(0.0, 0.0 * psi, psi, 0.0 * psi))
        rest = system.numbering.to_rows(weights.by.coordinates)
        left = float(np.sqrt(system.sum(np.array([rest @ rest]))[0]))
        if not left <= SINGULAR * system.stiffness:
            raise ParameterError(
                f"{self.what}: the tangent is not singular at the limit point "
                f"({left / system.stiffness:.1e} of its largest entry); follow the path again with "
                "a smaller tolerance, snes_rtol",
                asked="limit point",
                given=left / system.stiffness,
            )
        return weights


class BucklingAdjoint(LimitAdjoint):
    r"""Derivatives of the load at which a path branches, where the branches are alike.

    With the shape x in which the tangent is singular, along the path :math:`x \cdot K x = 0`:

    .. math::
        \frac{d\lambda}{dp} = -\frac{\partial_p (x \cdot K x) + y \cdot R_p}
        {\partial_\lambda (x \cdot K x) + y \cdot R_\lambda}, \qquad
        K y = -\partial_u (x \cdot K x), \quad x \cdot y = 0 .
    """

    what, points = "buckling_gradient", "bifurcations"

    def _gradient(self, point: LimitPoint, variables: Sequence[AnyVariable]) -> Gradient:
        system, adjoint = self.system, Adjoint(self.solver)
        require_variables(system, variables)
        if not is_symmetric(system) or point.eigenvalues != 1:
            raise ParameterError(
                f"{self.what}: known of simple bifurcations and symmetric tangents; here "
                f"{point.eigenvalues} eigenvalues change their sign",
                asked="bifurcation",
                given=point.eigenvalues,
            )
        x = self._null_vector(adjoint).w
        by = bend(system, x, x, self.what)
        owned = np.arange(len(x)) < system.numbering.start[system.numbering.owned_vertices]
        slope = np.where(owned, by.coordinates, 0.0)
        y, asymmetric = self._beside(adjoint, np.where(adjoint.fixed, 0.0, -slope), x)
        if asymmetric > ASYMMETRY:
            raise ParameterError(
                f"{self.what}: the branches are not alike, or the path breaks the symmetry: loads "
                "have no derivatives there",
                asked="bifurcation",
                given=asymmetric,
            )
        pulled = adjoint.resting(GoalSlopes(0.0, 0.0 * x, y, 0.0 * x))
        require_no_memory(system, pulled.by)
        weights = replace(
            pulled, by=replace(total([by, pulled.by]), coordinates=pulled.by.coordinates)
        )
        slopes = GoalSlopes(0.0, slope, 0.0 * x, 0.0 * x)
        shape = adjoint.resting(GoalSlopes(0.0, 0.0 * x, x, 0.0 * x))
        by_load, _ = adjoint.derivative(self.parameter, slopes, weights, [])
        found: list[tuple[AnyVariable, float | Array]] = []
        for variable in variables:
            self._require_other(variable)
            value, changes = adjoint.derivative(variable, slopes, weights, [])
            Adjoint.require_change(variable, changes)
            self._require_perfect(adjoint, variable, shape)
            found.append((variable, -value / by_load))
        return Gradient(point.parameter, found)

    def _beside(self, adjoint: Adjoint, b: Array, x: Array) -> tuple[Array, float]:
        """Return the solution without the shape, and what part of b is along that (collective)."""
        system, rows = self.system, self.system.numbering.to_rows
        along, size = system.sum(np.array([rows(x) @ rows(b), rows(b) @ rows(b)]))
        y = adjoint.linear.solve(b - along * x, transpose=True)
        (part,) = system.sum(np.array([rows(x) @ rows(y)]))
        return y - part * x, abs(along) / np.sqrt(size) if size else 0.0

    def _require_perfect(self, adjoint: Adjoint, variable: AnyVariable, shape: Weights) -> None:
        """Raise where a parameter is an imperfection: it presses along the shape (collective)."""
        none = GoalSlopes(0.0, *(np.zeros_like(shape.w) for _ in range(3)))
        along, _ = adjoint.derivative(variable, none, shape, [])
        sizes = []
        for seed in (11, 12, 13):
            v = np.where(adjoint.fixed, 0.0, self.system.numbering.random(seed))
            rows = self.system.numbering.to_rows(v)
            v /= np.sqrt(self.system.sum(np.array([rows @ rows]))[0])
            weights = adjoint.resting(GoalSlopes(0.0, 0.0 * v, v, 0.0 * v))
            sizes.append(np.abs(adjoint.derivative(variable, none, weights, [])[0]).max())
        if np.abs(along).max() > ASYMMETRY * max(sizes):
            raise ParameterError(
                f"{self.what}: {label(variable)} breaks the symmetry at the bifurcation, as an "
                "imperfection does: the load goes with a root of it and has no derivative",
                asked="parameters",
                given=label(variable),
            )
