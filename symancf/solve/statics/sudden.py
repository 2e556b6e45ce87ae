# SPDX-License-Identifier: BSD-3-Clause
"""Loads that turn with the body, and displacements, that are there at once: let in by their values.

What is out of balance at the start of a step fades away as forces of fixed direction. That suits
dead loads; the forces of a moment turn with the place where it acts, so it grows instead.
Prescribed coordinates go from where they are: they alone would crush the first row of cells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ...arrays import Array

if TYPE_CHECKING:
    from ...system import System


class Sudden:
    """Jumps, since the last equilibrium, of prescribed coordinates and of `Piece.growing`."""

    def __init__(self, system: System) -> None:
        self._system, self._plan = system, system.plan
        self._places = system.plan.growing()
        self._settled: Array = np.zeros(len(self._places))
        self._jump: Array = np.zeros(len(self._places))
        self._moved: Array = np.zeros(0)

    def forget(self) -> None:
        """Begin a step: nothing is known to have jumped."""
        self._jump[:] = 0.0
        self._moved = np.zeros(0)

    def measure(self, state: Array) -> bool:
        """Take the present values, of the start of a step, back to those of its equilibrium.

        `state` is that of the equilibrium. Returns whether they differ. (Collective.)
        """
        system = self._system
        held = system.numbering.fixed_by >= 0
        self._jump[:] = self._plan.values[self._places] - self._settled
        moved = np.where(held, system.state - state, 0.0)
        if system.comm.allreduce(bool(moved.any()), MPI.LOR):
            self._moved = moved
        self.leave_out(1.0)
        return bool(self._jump.any()) or len(self._moved) > 0

    def leave_out(self, part: float) -> None:
        """Take a part of the jumps from what `System.prescribe` has just written."""
        if part and self._jump.any():
            self._plan.values[self._places] -= part * self._jump
            self._plan.write()
        if part and len(self._moved):
            self._system.state -= part * self._moved

    def settle(self) -> None:
        """Note the present values: this is an equilibrium."""
        self._settled = self._plan.values[self._places]
