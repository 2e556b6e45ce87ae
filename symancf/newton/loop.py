# SPDX-License-Identifier: BSD-3-Clause
"""The iterations of Newton's methods that PETSc's SNES does not make."""

from __future__ import annotations

from typing import Protocol


class Iteration(Protocol):
    """What differs from method to method; collective."""

    def converged(self, iteration: int) -> bool:
        """Tell whether the present place is where the method ends."""

    def solve(self) -> bool:
        """Find the step at the present place; tell whether there is one."""

    def move(self, part: float) -> bool:
        """Go to a part of the step; tell whether the residual is finite there."""


def iterate(method: Iteration, most: int, halvings: int = 1) -> int | None:
    """Make iterations until the method ends; return their number (collective).

    None where there is no step, or none of its parts 1, 1/2, ... (`halvings`) can be made, or
    the method has not ended after `most` iterations.
    """
    for iteration in range(most):
        if method.converged(iteration):
            return iteration
        if not method.solve():
            return None
        if not any(method.move(0.5**k) for k in range(halvings)):
            return None
    return most if method.converged(most) else None
