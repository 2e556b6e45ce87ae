# SPDX-License-Identifier: BSD-3-Clause
"""The states of many steps that C has made in one call, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    from ...arrays import Array
    from ...assembly.state import State


class StatesOfSteps(Sequence["State"]):
    """States that differ in time and motion alone: those at the ends of steps of one length.

    Parameters
    ----------
    last : the last one, as a value.
    times : of the states (n,).
    motions : (n, 4, coordinates) coordinates, rates, accelerations and A of generalized-alpha.
    functions : (n, columns) functions of time alone, see `Timetable`; None: not known.
    """

    def __init__(
        self, last: State, times: Array, motions: Array, functions: Array | None = None
    ) -> None:
        self.last, self.times, self.motions, self.functions = last, times, motions, functions

    def __len__(self) -> int:
        return len(self.times)

    @overload
    def __getitem__(self, number: int) -> State: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[State]: ...
    def __getitem__(self, number: int | slice) -> State | Sequence[State]:
        """Return a state by its number."""
        if isinstance(number, slice):
            return [self[k] for k in range(len(self))[number]]
        own = self.motions[number, :, : len(self.last.displacement)]
        return replace(
            self.last,
            time=float(self.times[number]),
            displacement=own[0],
            rate=own[1],
            acceleration=own[2],
            method={**self.last.method, "auxiliary": own[3]},
        )
