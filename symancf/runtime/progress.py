# SPDX-License-Identifier: BSD-3-Clause
"""Progress of a solution: a line on the terminal, or one for each step."""

from __future__ import annotations

import math
import sys
import time as clock
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
from mpi4py import MPI

from symancf_codegen.progress import DELAY, allowed, clear, show, wanted

from .collective import reduced, together
from .petsc import PETSc

if TYPE_CHECKING:
    from .options import SolverOptions

#: Seconds between two lines on a terminal.
PAUSE = 0.2
#: Seconds between two lines elsewhere, and later this part of the time since the start.
APART, PART = 30.0, 0.1


def peak_memory() -> float:
    """Return the most memory that this process has had [MB], 0.0 where the system tells nothing.

    (What getrusage tells starts with the peak of the process that started this one.)
    """
    return _of_process("VmHWM") / 1024.0


def present_memory() -> float:
    """Return the memory that this process has now [bytes], 0.0 where the system tells nothing."""
    return 1024.0 * _of_process("VmRSS")


def _of_process(name: str) -> float:
    """Return what Linux tells of this process [kB]."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return 0.0
    return float(status.split(f"{name}:")[1].split()[0])


def duration_text(seconds: float) -> str:
    """Return a time for people: 12 s, 3 min, 1.5 h."""
    for unit, size in (("h", 3600.0), ("min", 60.0)):
        if seconds >= 2.0 * size:
            return f"{seconds / size:.2g} {unit}"
    return f"{seconds:.0f} s"


class Progress:
    """Show on standard error of rank 0, as a context, how far a solution is, and the time left.

    On a terminal one line after `DELAY`, each in the place of the last one; it goes with the
    context, and before functions of the user, which may print. In files, notebooks and logs a line
    after `APART` seconds and then at growing intervals, some seven to ten in each tenfold time.
    None beside PETSc's monitors or with ``SYMANCF_PROGRESS=0``. A problem solved within another
    one is silent.

    With the option ``step_monitor`` of the problem rank 0 prints which linear solver is at work,
    and a line for each step instead, also into files: number, time, iterations of Newton's method
    and of the linear solver, CPU time since the last one and peak of memory, both of the rank with
    most, and the time on the clock.

    Parameters
    ----------
    comm : ranks of the solution.
    options : of the problem; none where something else is made, such as a film.

    Attributes
    ----------
    way : where a solution begins and ends, for the time that is left; None: not known.
    tells_each : whether each step gets a line.
    """

    _silent = False  # some problem has the line

    def __init__(self, comm: MPI.Comm, options: SolverOptions | None = None) -> None:
        self.comm, self._options = comm, options
        self.tells_each = False
        self._since = 0.0, 0.0  # CPU time and that on the clock of the last line of a step
        self._start = 0.0
        self._next = math.inf  # when the next line is due
        self._outermost = self._visible = self._replaces = False
        self._steps = 0
        self.way: tuple[float, float] | None = None

    def __enter__(self) -> Self:
        self._outermost, self._steps, self.way = not Progress._silent, 0, None
        monitor = self._options.choice("step_monitor") if self._options else None
        self.tells_each = monitor is not None and monitor.lower() not in ("0", "no", "off", "false")
        self._since = clock.process_time(), clock.monotonic()
        if self._outermost:
            Progress._silent = True
            if self.comm.rank == 0 and allowed() and not self.tells_each:
                self._start, self._replaces = clock.monotonic(), wanted()
                self._next = self._start + (DELAY if self._replaces else APART)
        return self

    def __exit__(self, *error: object) -> None:
        if self._outermost:
            if self._visible:
                self.clear()
            self._next, Progress._silent = math.inf, False

    def iteration(self, time: float, number: int) -> None:
        """Tell of an iteration of Newton's method towards `time`."""
        if self._next != math.inf:
            self._tell(f"time {time:g}, step {self._steps + 1}, iteration {number}")

    def part(self, text: str, reached: float) -> None:
        """Tell of a part of what is made."""
        if self._next != math.inf:
            self._tell(text, reached)

    def step(self, time: float, iterations: int, linear: int, count: int = 1) -> None:
        """Tell of a step that ended at `time`, the last one of `count` (collective)."""
        self._steps += count
        if self._next != math.inf:
            self._tell(f"time {time:g}, step {self._steps}, {iterations} iterations", time)
        if self.tells_each:
            now = clock.process_time(), clock.monotonic()
            mine = np.array([now[0] - self._since[0], peak_memory()])
            (spent, most), passed = reduced(self.comm, mine, MPI.MAX), now[1] - self._since[1]
            self._since = now
            text = (
                f"step {self._steps:5d}  time {time:<12.6g} Newton {iterations:3d}  linear "
                f"{linear:5d}  CPU {spent:8.2f} s  clock {passed:8.2f} s  memory {most:7.0f} MB"
            )
            self.note(text)

    def note(self, text: str) -> None:
        """Print a line on rank 0 where each step gets one (collective)."""
        if self.tells_each:
            with together(self.comm):
                if self.comm.rank == 0:
                    print(text, flush=True)

    def clear(self) -> None:
        """Remove the line, if there is one."""
        if self._visible:
            self._visible = False
            self._write(None)

    def _tell(self, text: str, reached: float | None = None) -> None:
        now = clock.monotonic()
        if now < self._next:
            return
        if any("monitor" in name for name in PETSc.Options().getAll()):
            self._next = math.inf
            return
        passed = now - self._start
        if reached is not None and self.way is not None:
            start, goal = self.way
            part = (reached - start) / (goal - start) if goal != start else 1.0
            if 0.0 < part < 1.0:
                rest = duration_text(passed * (1.0 - part) / part)
                text += f", {100.0 * part:.0f} %, about {rest} left"
        self._visible = self._replaces
        self._next = now + (PAUSE if self._replaces else max(APART, PART * passed))
        self._write(f"symancf: {text}, {duration_text(passed)}")

    def _write(self, text: str | None) -> None:
        """Show a line or none; a terminal that is gone must not end one rank alone."""
        try:
            if text is None:
                clear()
            elif self._replaces:
                show(text)
            else:
                print(text, file=sys.stderr, flush=True)
        except (OSError, ValueError):
            self._next = math.inf
