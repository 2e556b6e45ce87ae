# SPDX-License-Identifier: BSD-3-Clause
"""Parameters, turning loads and displacements that have changed at once: let in by their values.

What is out of balance at the start of a step fades away as forces of fixed direction. That suits
dead loads that are there from the start; the forces of moments and pressures turn with the place
where they act, so they grow instead, and Newton's first step has the tangent of the equilibrium
before, with its loads: a pressure without the tension that it makes lets a slender chamber buckle
as a column would. A `Parameter` of whatever else goes from its value at the last equilibrium: the
tension of a tendon in the place where the tendon is; forces of fixed direction would lead through
other states, with limit points of their own. Prescribed coordinates go from where they are: they
alone would crush the first row of cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ...arrays import Array
from ...runtime.collective import reduced

if TYPE_CHECKING:
    from ...assembly.discrete import DiscreteSystem


class LoadJumps:
    """Jumps, since the last equilibrium, of prescribed coordinates, parameters, `Form.growing`.

    Attributes
    ----------
    turning : whether there are loads that turn.
    some : whether there are such loads, or parameters.
    jumped : whether `measure` has found a jump, until a step begins that has not.
    settled : values at the last equilibrium that was recorded, nan: not known.
    """

    def __init__(self, system: DiscreteSystem) -> None:
        self._system, self._assembler = system, system.assembler
        turning = system.assembler.growing()
        self._places = np.union1d(turning, system.assembler.of_parameters())
        self.turning, self.some = len(turning) > 0, len(self._places) > 0
        self._turns = np.isin(self._places, turning)  # from zero; others: see `settle`
        self.settled: Array = np.where(self._turns, 0.0, np.nan)
        self._reached: Array = np.zeros(len(self._places))  # of the last equilibrium on the way
        self._jump: Array = np.zeros(len(self._places))
        self._moved: Array = np.zeros(0)
        self.jumped = False

    def measure(self, state: Array) -> bool:
        """Take the present values, of the start of a step, back to those of its equilibrium.

        `state` is that of the equilibrium. Returns whether they differ. (Collective.)
        """
        system = self._system
        fixed = system.numbering.fixed_by >= 0
        change = self._assembler.values[self._places] - self.settled
        self._jump[:] = np.where(np.isnan(change), 0.0, change)
        moved = np.where(fixed, system.state - state, 0.0)
        # also a function of time may be rounded differently from rank to rank
        jumps = reduced(system.comm, np.array([moved.any(), self._jump.any()]), MPI.LOR)
        self._moved = moved if jumps[0] else np.zeros(0)
        self.jumped = bool(jumps.any())
        self.leave_out(1.0)
        return self.jumped

    def leave_out(self, part: float) -> None:
        """Take a part of the jumps from what `DiscreteSystem.prescribe` has just written."""
        if self._jump.any():
            self._assembler.values[self._places] -= part * self._jump
            self._assembler.write()
        if len(self._moved):
            self._system.state -= part * self._moved

    def settle(self) -> None:
        """Note the present values: this is the equilibrium at the end of a step."""
        self.settled = self._assembler.values[self._places]
        self.reach()

    def recall(self, settled: Sequence[float]) -> None:
        """Take the values of another time at the equilibrium where the system is."""
        self.settled = np.array(settled, dtype=float)
        self.reach()

    def reach(self) -> None:
        """Note the present values: this is an equilibrium on the way."""
        self._reached = self._assembler.values[self._places]

    @property
    def grown(self) -> bool:
        """Whether turning loads are larger than at the last equilibrium (collective)."""
        present = self._assembler.values[self._places]
        larger = bool((self._turns & (np.abs(present) > np.abs(self._reached))).any())
        return len(present) > 0 and bool(self._system.comm.allreduce(larger, MPI.LOR))

    @contextmanager
    def before(self, smaller: bool = True) -> Iterator[None]:
        """Let turning loads be those of the last equilibrium for a while.

        `smaller`: only where they were smaller.
        """
        present = self._assembler.values[self._places]
        chosen = self._turns & ((np.abs(self._reached) < np.abs(present)) | (not smaller))
        self._assembler.values[self._places] = np.where(chosen, self._reached, present)
        self._assembler.write()
        try:
            yield
        finally:
            self._assembler.values[self._places] = present
            self._assembler.write()
