# SPDX-License-Identifier: BSD-3-Clause
"""Newton's method: the one loop of equilibria, paths, time steps and constraints."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ..runtime.petsc import NOT_FINITE, PETSc

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .aids import Aid

REASONS = PETSc.SNES.ConvergedReason


class Equations(Protocol):
    """Equations R(x) = 0, with their present unknowns x (all methods are collective).

    Who has unknowns and residual in vectors of PETSc's derives from `VectorEquations`.
    """

    def residual(self) -> bool:
        """Evaluate R at the first unknowns; tell whether it is finite."""

    def reason(self, iteration: int) -> int:
        """Return PETSc's reason to stop, as norms of R and of the last step say; 0: go on."""

    def linearize(self) -> None:
        """Prepare the tangent K = dR/dx at x."""

    def solve(self) -> bool:
        """Find the step d with K d = R; tell whether there is one."""

    def move(self) -> int:
        """Go to x - a d with a <= 1 and evaluate R; return a reason to stop there, 0: go on."""


@dataclass(frozen=True)
class Solution:
    """How Newton's method ended: PETSc's reason, positive after success, and its iterations."""

    reason: int
    iterations: int


def newton(equations: Equations, most: int, aids: Sequence[Aid] = ()) -> Solution:
    r"""Solve equations from their present unknowns (collective).

    .. math:: K(x_k)\, d_k = R(x_k), \qquad x_{k+1} = x_k - a_k\, d_k,

    until `Equations.reason` ends it. Aids change tangents and steps, in the order of their table,
    and may ask for another iteration.

    Parameters
    ----------
    most : iterations at most.
    """
    if not equations.residual():
        return Solution(NOT_FINITE, 0)
    for iteration in range(most + 1):
        reason = equations.reason(iteration)
        if reason > 0 and not all(aid.settled() for aid in aids):
            reason = 0
        if reason or iteration == most:
            return Solution(reason or REASONS.DIVERGED_MAX_IT, iteration)
        with ExitStack() as changes:
            for aid in aids:
                changes.enter_context(aid.tangent())
            equations.linearize()
        if not equations.solve() or not all(aid.step() for aid in aids):
            return Solution(REASONS.DIVERGED_LINEAR_SOLVE, iteration)
        if reason := equations.move():
            return Solution(reason, iteration)
    raise AssertionError("unreachable")
