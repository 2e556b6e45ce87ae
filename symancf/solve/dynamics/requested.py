# SPDX-License-Identifier: BSD-3-Clause
"""What may be asked of a motion."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from ...assembly.agreement import agreed
from ...errors import ParameterError
from ...values import arguments
from ...values.parameter import label

if TYPE_CHECKING:
    from mpi4py import MPI

    from ...system import System


class Requested(NamedTuple):
    """Arguments of `DynamicProblem.solve`, looked at; `stops` ascending, `to` the last one."""

    to: float
    step: float
    adaptive: bool | None
    rtol: float
    atol: float | None
    longest: float
    stops: tuple[float, ...]

    @property
    def given(self) -> dict[str, Any]:
        """Return them as JSON has them: those of a run that goes on have to be the same."""
        own = {"longest": None if math.isinf(self.longest) else self.longest}
        return {**self._asdict(), **own, "stops": list(self.stops)}

    def next(self, time: float) -> float:
        """Return the first time after another one at which a step has to end."""
        return next((stop for stop in self.stops if stop > time), self.to)

    def span(self, start: float, time: float) -> tuple[float, float]:
        """Return the stops around a time, between which functions of time have no kinks."""
        begin = max([start, *(stop for stop in self.stops if stop <= time)])
        return begin, max(self.next(time), begin + self.step)


def times(comm: MPI.Comm, call: str, given: Any, now: float, to: float) -> tuple[float, ...]:
    """Return the times between two others at which steps end, in their order, the last one `to`.

    Raises
    ------
    ParameterError : they are no finite numbers.
    """
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise ParameterError(f"{call}(stops={label(given)}): give times, stops=[0.1, 0.5]")
    stops = [arguments.number(call, "stops", stop) for stop in given]
    low, high = min(now, to), max(now, to)
    chosen = sorted({agreed(comm, "stops", stop) for stop in stops if low < stop < high})
    return (*(chosen if to >= now else chosen[::-1]), to)


def requested(
    system: System,
    to: Any,
    step: Any,
    adaptive: Any,
    rtol: Any,
    atol: Any,
    longest: Any,
    stops: Any,
) -> Requested:
    """Return arguments of `DynamicProblem.solve` (collective).

    Raises
    ------
    ParameterError : one of them is not possible.
    """
    to = agreed(system.comm, "to", arguments.number("solve", "to", to, "be a finite time"))
    if to < system.time:
        raise ParameterError(f"solve(to={to:g}): the time is {system.time:g} already")
    step = agreed(system.comm, "step", arguments.step("solve", step, system.time, to))
    rtol = arguments.positive("solve", "rtol", rtol)
    if atol is not None:
        atol = arguments.number("solve", "atol", atol, "be 0 or more", lambda x: x >= 0.0)
    if adaptive is not None and not isinstance(adaptive, bool):
        raise ParameterError(f"solve(adaptive=...) is {label(adaptive)}: give True or False")
    most = math.inf
    if longest is not None:
        most = agreed(system.comm, "longest", arguments.positive("solve", "longest", longest))
    ends = times(system.comm, "solve", stops, system.time, to)
    return Requested(to, min(step, most), adaptive, rtol, atol, most, ends)
