# SPDX-License-Identifier: BSD-3-Clause
"""Derivatives of limit loads, which a followed path has found, by parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...errors import ParameterError
from ..gradients.goal import GoalSlopes
from ..gradients.gradient import Gradient
from .adjoint import Adjoint, in_equilibrium, require_no_memory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...arrays import Array
    from ...output.steps import LimitPoint
    from ...values.parameter import Parameter
    from ..gradients.gradient import Variable
    from .adjoint import Weights
    from .equilibrium import EquilibriumSolver

#: Steps of inverse iteration for the vector in which the tangent is singular
INVERSE_ITERATIONS = 6
#: Part of the tangent's largest entry that this vector may leave
SINGULAR = 1e-5


class LimitAdjoint:
    r"""Derivatives of the load :math:`\lambda^*` at a limit point of R(u, lambda, p) = 0.

    The tangent is singular there, :math:`K^T \psi = 0`, and

    .. math:: \frac{d\lambda^*}{dp} = -\frac{\psi \cdot R_p}{\psi \cdot R_\lambda} .

    How the point moves does not matter, nor how exactly it was found, to first order.
    """

    def __init__(self, solver: EquilibriumSolver, parameter: Parameter) -> None:
        self.solver, self.system, self.parameter = solver, solver.system, parameter

    def gradient(self, point: LimitPoint, variables: Sequence[Variable]) -> Gradient:
        """Return the derivatives of the parameter's value there (collective).

        Raises
        ------
        ParameterError : see `StaticProblem.limit_gradient`.
        """
        system, present, now = self.system, self.system.state.copy(), self.parameter.value
        if not self.solver.linear.direct:
            raise ParameterError(
                "limit_gradient: the tangent is singular there, which a direct solver alone bears: "
                "options={'pc_type': 'lu'}",
                asked="pc_type",
                possible=("lu", "cholesky"),
            )
        if system.changing:
            raise ParameterError(
                "limit_gradient: limit loads of bodies that touch one another have no gradients",
                asked="gradient",
            )
        try:
            self._put(point.state, point.parameter)
            if not in_equilibrium(system):
                raise ParameterError(
                    "limit_gradient: the limit point is no equilibrium with the present "
                    "parameters: follow the path again",
                    asked="limit point",
                    given=point.parameter,
                )
            return self._gradient(point, variables)
        finally:
            self._put(present, now)
            self.solver.linear.forget()

    def _gradient(self, point: LimitPoint, variables: Sequence[Variable]) -> Gradient:
        adjoint = Adjoint(self.solver)
        none = GoalSlopes(0.0, *(np.zeros_like(self.system.state) for _ in range(3)))
        weights = self._null_vector(adjoint)
        require_no_memory(self.system, weights.by)
        by_load, _ = adjoint.derivative(self.parameter, none, weights, [])
        found: list[tuple[Variable, float | Array]] = []
        for variable in variables:
            if variable is self.parameter:
                raise ParameterError(
                    f"limit_gradient: the limit load is a value of {variable} itself",
                    asked="parameters",
                    given=self.parameter.name,
                )
            value, changes = adjoint.derivative(variable, none, weights, [])
            Adjoint.require_change(variable, changes)
            found.append((variable, -value / by_load))
        return Gradient(point.parameter, found)

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
                "limit_gradient: the tangent is not singular at the limit point "
                f"({left / system.stiffness:.1e} of its largest entry); follow the path again with "
                "a smaller tolerance, snes_rtol",
                asked="limit point",
                given=left / system.stiffness,
            )
        return weights
