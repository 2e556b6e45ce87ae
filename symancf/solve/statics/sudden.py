# SPDX-License-Identifier: BSD-3-Clause
"""Loads that turn with the body and are there at once: let in by their values.

What is out of balance at the start of a step fades away as forces of fixed direction. That suits
dead loads; the forces of a moment turn with the place where it acts, so it grows instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...values.arrays import Array

if TYPE_CHECKING:
    from ...assembly.plan import Plan


class Sudden:
    """Jumps of the values that pieces declare in `Piece.growing`, since the last equilibrium."""

    def __init__(self, plan: Plan) -> None:
        self._slots = [
            (slots, k)
            for piece, slots in zip(plan.pieces, plan.slots, strict=True)
            for k, name in enumerate(piece.kernel.uniform)
            if name in piece.growing
        ]
        self._settled: Array = np.zeros(len(self._slots))
        self._jump: Array = np.zeros(len(self._slots))

    def _values(self) -> Array:
        return np.array([slots[k] for slots, k in self._slots])

    def forget(self) -> None:
        """Begin a step: nothing is known to have jumped."""
        self._jump[:] = 0.0

    def measure(self) -> bool:
        """Take the present values, of the start of a step, back to those of its equilibrium.

        Returns whether they differ.
        """
        self._jump[:] = self._values() - self._settled
        self.leave_out(1.0)
        return bool(self._jump.any())

    def leave_out(self, part: float) -> None:
        """Take a part of the jumps from the values that `Plan.update` has just written."""
        if part and self._jump.any():
            for (slots, k), jump in zip(self._slots, self._jump, strict=True):
                slots[k] -= part * jump

    def settle(self) -> None:
        """Note the present values: this is an equilibrium."""
        self._settled = self._values()
