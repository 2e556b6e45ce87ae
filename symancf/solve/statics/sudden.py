# SPDX-License-Identifier: BSD-3-Clause
"""Loads that turn with the body and are there at once: let in by their values.

What is out of balance at the start of a step fades away as forces of fixed direction. That suits
dead loads; the forces of a moment turn with the place where it acts, so it grows instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array

if TYPE_CHECKING:
    from ...assembly.plan import Plan


class Sudden:
    """Jumps of the values that pieces declare in `Piece.growing`, since the last equilibrium."""

    def __init__(self, plan: Plan) -> None:
        self._plan, self._places = plan, plan.growing()
        self._settled: Array = np.zeros(len(self._places))
        self._jump: Array = np.zeros(len(self._places))

    def forget(self) -> None:
        """Begin a step: nothing is known to have jumped."""
        self._jump[:] = 0.0

    def measure(self) -> bool:
        """Take the present values, of the start of a step, back to those of its equilibrium.

        Returns whether they differ.
        """
        self._jump[:] = self._plan.values[self._places] - self._settled
        self.leave_out(1.0)
        return bool(self._jump.any())

    def leave_out(self, part: float) -> None:
        """Take a part of the jumps from the values that `Plan.update` has just written."""
        if part and self._jump.any():
            self._plan.values[self._places] -= part * self._jump
            self._plan.write()

    def settle(self) -> None:
        """Note the present values: this is an equilibrium."""
        self._settled = self._plan.values[self._places]
