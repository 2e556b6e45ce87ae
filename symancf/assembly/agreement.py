# SPDX-License-Identifier: BSD-3-Clause
"""Values that hold for a whole model must be the same on every rank."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI

from ..arrays import Array
from ..errors import ParameterError, argument
from ..runtime.collective import reduced, together
from ..values import arguments
from ..values.parameter import label

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: relative: machines of a cluster may round a user's function differently
ROUND_OFF_TOLERANCE = 1e-9


@dataclass
class PlaceFunction:
    """What a user gives at places, and changes in time.

    Attributes
    ----------
    name : shown in messages.
    at : function of (X (n, 3), time) -> (n, ...).
    places : (n, 3), those of this rank.
    axes : names of the components.
    """

    name: str
    at: Callable[[Array, float], Array]
    places: Array
    axes: Sequence[str] = "xyz"

    def values(self, X: Array, time: float) -> list[tuple[str, float]]:
        """Return names and values of the components at one place (1, 3)."""
        components = np.ndenumerate(self.at(X, time)[0])
        return [
            (f"{self.name} along {''.join(self.axes[k] for k in index)}", float(value))
            for index, value in components
        ]


class Common:
    """One place for each function, the first that any rank has: all ranks evaluate it there."""

    def __init__(self, comm: MPI.Comm, functions: Iterable[PlaceFunction]) -> None:
        self.comm, self.functions = comm, list(functions)
        self._places: list[Array] | None = None

    def values(self, time: float) -> list[tuple[str, float]]:
        """Return names and values at a time, as many on every rank (collective)."""
        if self._places is None:
            mine = [function.places[:1] for function in self.functions]
            everyone = self.comm.allgather(mine)
            self._places = [max(those, key=len) for those in zip(*everyone, strict=True)]
        values: list[tuple[str, float]] = []
        with together(self.comm):
            for function, X in zip(self.functions, self._places, strict=True):
                values += function.values(X, time) if len(X) else []
        return values


def require_agreement(
    comm: MPI.Comm,
    numbers: Array,
    names: Callable[[], list[str]],
    time: float,
    others: Sequence[tuple[str, float]] = (),
) -> None:
    """Raise on every rank where a uniform value differs from rank to rank (collective).

    Otherwise each rank would assemble its part with its own value, and the result would depend
    on the partition. One reduction.

    Parameters
    ----------
    numbers, names : values of the kernels' uniform parameters; what they are called.
    others : name and value of what is no parameter of a kernel; as many on every rank.

    Raises
    ------
    ParameterError : names the value, and the smallest and the largest one.
    """
    if comm.size == 1:
        return
    values = np.concatenate([numbers, np.array([value for _, value in others])])
    bounds = reduced(comm, np.concatenate([values, -values]), MPI.MAX)
    high, low = bounds[: len(values)], -bounds[len(values) :]
    apart = high - low > ROUND_OFF_TOLERANCE * np.maximum(np.abs(high), np.abs(low))
    if not apart.any():
        return
    at = int(np.argmax(apart))
    name = [*names(), *(name for name, _ in others)][at]
    raise ParameterError(
        f"{name} is {low[at]:g} on one rank and {high[at]:g} on another at time {time:g}: it must "
        "be the same on every rank; read files and draw random numbers on one rank and send "
        "them, comm.bcast(value)",
        asked=argument(name),
        given=(low[at], high[at]),
    )


def agreed(comm: MPI.Comm, what: str, value: float) -> float:
    """Return a number as rank 0 has it (collective).

    The last bits decide, as whether a time is reached: with its own each rank would go its own way.

    Raises
    ------
    ParameterError : on every rank; it differs from rank to rank by more than round-off.
    """
    if comm.size == 1:
        return value
    every = comm.allgather(float(value))
    if max(every) - min(every) > ROUND_OFF_TOLERANCE * max(map(abs, every)):
        raise ParameterError(
            f"{what} is {min(every):g} on one rank and {max(every):g} on another: it must be the "
            "same on every rank",
            asked=what,
            given=(min(every), max(every)),
        )
    return float(every[0])


def times_between(
    comm: MPI.Comm, call: str, times: Any, now: float, to: float
) -> tuple[float, ...]:
    """Return the times between two others at which steps end, in their order, the last one `to`.

    Raises
    ------
    ParameterError : they are no finite numbers.
    """
    if isinstance(times, str | bytes) or not isinstance(times, Iterable):
        raise ParameterError(
            f"{call}(stops={label(times)}): give times, stops=[0.1, 0.5]",
            asked="stops",
            given=times,
        )
    stops = [arguments.number(call, "stops", stop) for stop in times]
    low, high = min(now, to), max(now, to)
    chosen = sorted({agreed(comm, "stops", stop) for stop in stops if low < stop < high})
    return (*(chosen if to >= now else chosen[::-1]), to)
