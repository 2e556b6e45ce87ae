# SPDX-License-Identifier: BSD-3-Clause
"""A line on the terminal while a problem is solved: how far it is and how long it has taken."""

from __future__ import annotations

import math
import time as clock
from typing import TYPE_CHECKING

from symancf_codegen.progress import DELAY, clear, show, wanted

from .petsc import PETSc

if TYPE_CHECKING:
    from mpi4py import MPI

#: Seconds between two lines.
PAUSE = 0.2


class Progress:
    """Tells on the terminal of rank 0, as a context, what takes longer than `DELAY`.

    One line of standard error, each in the place of the last one, none in files, notebooks and
    logs, beside PETSc's monitors or with ``SYMANCF_PROGRESS=0``. It goes with the context, and
    before functions of the user, which may print. A problem solved within another one is silent.

    Parameters
    ----------
    comm : ranks of the solution.
    """

    _silent = False  # some problem has the line

    def __init__(self, comm: MPI.Comm) -> None:
        self.comm = comm
        self._start = 0.0
        self._next = math.inf  # when the next line is due
        self._outermost = self._shown = False
        self._steps = 0

    def __enter__(self) -> None:
        self._outermost, self._steps = not Progress._silent, 0
        if self._outermost:
            Progress._silent = True
            if self.comm.rank == 0 and wanted():
                self._start = clock.monotonic()
                self._next = self._start + DELAY

    def __exit__(self, *error: object) -> None:
        if self._outermost:
            self.clear()
            self._next, Progress._silent = math.inf, False

    def iteration(self, time: float, number: int) -> None:
        """Tell of an iteration of Newton's method towards `time`."""
        if self._next != math.inf:
            self._tell(f"time {time:g}, step {self._steps + 1}, iteration {number}")

    def step(self, time: float, iterations: int) -> None:
        """Tell of a step that ended at `time`."""
        if self._next != math.inf:
            self._steps += 1
            self._tell(f"time {time:g}, step {self._steps}, {iterations} iterations")

    def clear(self) -> None:
        """Remove the line, if there is one."""
        if self._shown:
            self._shown = False
            self._write(None)

    def _tell(self, text: str) -> None:
        now = clock.monotonic()
        if now < self._next:
            return
        if any("monitor" in name for name in PETSc.Options().getAll()):
            self._next = math.inf
            return
        self._shown, self._next = True, now + PAUSE
        self._write(f"symancf: {text}, {now - self._start:.0f} s")

    def _write(self, text: str | None) -> None:
        """Show a line or none; a terminal that is gone must not end one rank alone."""
        try:
            if text is None:
                clear()
            else:
                show(text)
        except (OSError, ValueError):
            self._next = math.inf
