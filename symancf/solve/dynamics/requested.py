# SPDX-License-Identifier: BSD-3-Clause
"""What may be asked of a motion."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from ...assembly.agreement import agreed, times_between
from ...errors import ParameterError
from ...values import arguments
from ...values.parameter import label

if TYPE_CHECKING:
    from ...runtime.options import Options
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


def _over(options: Options, name: str, given: Any) -> Any:
    """Return the number of an option, which goes before what is given."""
    text = options.choice(name)
    if text is None:
        return given
    try:
        return float(text)
    except ValueError as error:
        raise ParameterError(f"-{name} {text}: give a number", asked=name, given=text) from error


def requested(
    system: System,
    options: Options,
    to: Any,
    step: Any,
    adaptive: Any,
    rtol: Any,
    atol: Any,
    longest: Any,
    stops: Any,
) -> Requested:
    """Return arguments of `DynamicProblem.solve` (collective).

    ``-ts_rtol`` and ``-ts_atol`` go before those tolerances, of the problem's `options`.

    Raises
    ------
    ParameterError : one of them is not possible.
    """
    to = agreed(system.comm, "to", arguments.number("solve", "to", to, "be a finite time"))
    if to < system.time:
        raise ParameterError(
            f"solve(to={to:g}): the time is {system.time:g} already", asked="to", given=to
        )
    step = agreed(system.comm, "step", arguments.step("solve", step, system.time, to))
    rtol, atol = _over(options, "ts_rtol", rtol), _over(options, "ts_atol", atol)
    rtol = arguments.positive("solve", "rtol", rtol)
    if atol is not None:
        atol = arguments.number("solve", "atol", atol, "be 0 or more", lambda x: x >= 0.0)
    if adaptive is not None and not isinstance(adaptive, bool):
        raise ParameterError(f"solve(adaptive=...) is {label(adaptive)}: give True or False")
    most = math.inf
    if longest is not None:
        most = agreed(system.comm, "longest", arguments.positive("solve", "longest", longest))
    ends = times_between(system.comm, "solve", stops, system.time, to)
    return Requested(to, min(step, most), adaptive, rtol, atol, most, ends)
