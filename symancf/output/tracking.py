# SPDX-License-Identifier: BSD-3-Clause
"""Places followed from step to step: found once, evaluated in microseconds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import sympy as sp

from ..arrays import Array
from ..assembly.configuration import InstantResult
from ..bodies.plane import PlanarPoint
from ..errors import ParameterError
from ..places.ends import End, require_moving
from ..system import System
from ..values import arguments
from ..values.arguments import instance
from ..values.parameter import label
from .history import History

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..assembly.configuration import Discretised
    from ..assembly.discrete import DiscreteSystem


class Recordable(Protocol):
    """What knows its series itself: supports, constraints, contacts, cavities."""

    def series(self, system: Any, /) -> Mapping[str, Callable[[], npt.ArrayLike]]:
        """Return functions by what is added to the name, "" where that is all."""


# what problems record
Watched: TypeAlias = "End | Recordable | Callable[..., npt.ArrayLike]"


def parents_of(what: str, system: Discretised[DiscreteSystem]) -> tuple[System, DiscreteSystem]:
    """Return the system that a problem is given, as the user's and as the discrete one.

    Raises
    ------
    ParameterError : it is none.
    """
    remedy = f"give a system, {what}(sa.System(body, terms=[...]))"
    checked = instance(f"{what}(system)", system, System, remedy)
    return checked, checked._discrete


def owner_of(what: str, history: History | None) -> History:
    """Return the history that a problem is given, or a new one."""
    if history is None:
        return History()
    remedy = 'give an sa.History, sa.History(csv="run.csv")'
    return instance(f"{what}(history=...)", history, History, remedy)


def monitored(
    function: Callable[[Any], object], every: int, number: Callable[[], int]
) -> Callable[[Any], None]:
    """Return what calls a monitor after each `every`-th step by their `number`.

    Raises
    ------
    ParameterError : it is no function, or `every` no number of steps.
    """
    own = arguments.function("monitor(...)", function)
    value: object = every
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ParameterError(
            f"monitor(every={label(every)}): give a number of steps, 1 or more", asked="every"
        )

    def monitor(step: Any) -> None:
        if number() % every == 0:
            own(step)

    return monitor


class Tracked:
    """Position of a place X + sum c u [m]: (3,), or (K, 3) of several.

    The coefficients c of the coordinates u are found when it is made (collective); each call
    returns the position at the system's present state on every rank (collective).
    """

    def __init__(self, system: DiscreteSystem, place: End) -> None:
        rows = system.rows_of(place, ["value"])
        nothing = np.zeros(0, dtype=np.int64)
        entity, component, coordinate, _, value = rows[0] if rows else (nothing,) * 5
        self._slot, self._coordinate = 3 * entity + component, coordinate
        self._value: Array = value.astype(np.float64)
        self._X = place.resolve(system.layout).everywhere(system.comm).X
        self._system = system

    def along(self, instants: DiscreteSystem) -> Array:
        """Return the positions at what `DiscreteSystem.at_instants` returns (collective)."""
        moved = self._value * instants.state[:, self._coordinate]
        u = np.zeros((len(moved), self._X.size))
        for k, slot in enumerate(self._slot):  # in the order of `__call__`
            u[:, slot] += moved[:, k]
        if self._system.comm.size > 1:
            u = self._system.sum(u)
        x = self._X + u.reshape(len(moved), *self._X.shape)
        return x[:, 0] if len(self._X) == 1 else x

    def __call__(self) -> Array:
        """Return the present position."""
        moved = self._value * self._system.state[self._coordinate]
        u: Array = np.bincount(self._slot, moved, minlength=self._X.size).astype(np.float64)
        if self._system.comm.size > 1:
            u = self._system.sum(u)
        x: Array = self._X + u.reshape(self._X.shape)
        return x[0] if len(x) == 1 else x


def record(history: History, system: System, name: str, what: Watched, every: int) -> None:
    """Let a history keep a place, a function, or the series of a term, ``name force`` ..."""
    value: Any = what
    make_series = None if isinstance(what, sp.Basic) else getattr(type(what), "series", None)
    series = value.series(system) if callable(make_series) else {"": watched(system, value)}
    for part, function in series.items():
        history.record(f"{name} {part}" if part else name, function, every)


def watched(
    system: System, what: End | Callable[..., npt.ArrayLike]
) -> Callable[[], npt.ArrayLike]:
    """Return the function to be recorded: `what` itself, or the position of that place.

    Raises
    ------
    ParameterError : neither a place nor a function.
    """
    if isinstance(what, End):
        require_moving("record", what)
    if isinstance(what, PlanarPoint):
        planar = what
        return InstantResult(system._discrete, lambda at: planar.position(at)[..., 0, :])
    if isinstance(what, End) and what.travels:
        point = what

        def position() -> Array:
            x = system.position(point)
            return x[0] if len(x) == 1 else x

        return position
    if isinstance(what, End):
        return Tracked(system._discrete, what)
    if not callable(what):
        raise ParameterError(
            "record() takes a place, such as body.at(point), a support, constraint, contact or "
            "cavity, or a function without arguments; given "
            f"{type(what).__name__}",
            asked="record",
            given=what,
        )
    function: Callable[[], npt.ArrayLike] = what
    return function
