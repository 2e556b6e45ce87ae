# SPDX-License-Identifier: BSD-3-Clause
"""Checks of the arguments of a path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...errors import ParameterError
from ...values import arguments
from ...values.parameter import Parameter, label

if TYPE_CHECKING:
    from ...assembly.discrete import DiscreteSystem
    from .equilibrium import EquilibriumSolver


def require_possible(
    solver: EquilibriumSolver,
    parameter: Any,
    to: float | None,
    step: float | None,
    steps: Any,
    until: Any,
    direction: int | None,
    largest: float | None,
    smallest: float,
) -> None:
    """Raise where a path cannot be what was asked for; see `StaticProblem.follow`."""
    if not isinstance(parameter, Parameter) and not arguments.among(parameter, ("time",)):
        raise ParameterError(
            f"follow({label(parameter)}): give the sa.Parameter that a load, a support or a body "
            "of the system has as its value, or 'time'",
            asked="parameter",
            given=parameter,
            possible=("Parameter", "time"),
        )
    name = "time" if isinstance(parameter, str) else parameter.name
    arguments_given = {"to": to, "step": step, "largest": largest, "smallest": smallest}
    for key, value in arguments_given.items():
        if value is not None:
            check = arguments.number if key == "to" else arguments.positive
            check("follow", f"{name}, {key}", value)
    count = isinstance(steps, int) and not isinstance(steps, bool) and steps >= 1
    sign = type(direction) is int and direction in (1, -1)
    ends = any(end is not None for end in (to, until, steps))
    checks: tuple[tuple[str, Any, bool, str, tuple[Any, ...]], ...] = (
        ("steps", steps, count, "give a number of steps", ()),
        ("direction", direction, sign, "1, the parameter grows at first, or -1", (1, -1)),
        ("until", until, callable(until), "give a function of the Step", ()),
    )
    for asked, given, fits, remedy, possible in checks:
        if not (fits or given is None):
            raise ParameterError(
                f"follow({name}, {asked}={given!r}): {remedy}",
                asked=asked,
                given=given,
                possible=possible,
            )
    if not ends:
        raise ParameterError(
            f"follow({name}): say where to end: to=, until= or steps=",
            asked="to",
            possible=("to", "until", "steps"),
        )
    _require_path(solver.system, name)


def _require_path(system: DiscreteSystem, name: str) -> None:
    """Raise where a system has no path."""
    if timed := system.memory.timed:
        raise ParameterError(
            f"follow({name}): the steps of a path have no length in time, for which {timed[0]!r} "
            "asks as dt; give a law that asks for none, or solve() steps of pseudo-time",
            asked="dt",
            given=timed[0],
        )
    if rubbing := [term.name for term in system.terms if getattr(term, "rubs", False)]:
        raise ParameterError(
            f"follow({name}): the friction of {rubbing[0]!r} depends on the way to an equilibrium, "
            "and a path may turn back; solve() steps of the parameter, or leave out mu",
            asked="mu",
            given=rubbing[0],
        )
    if not system.numbering.size:
        raise ParameterError(
            f"follow({name}): all coordinates are prescribed, so solve() does it",
            asked="degrees of freedom",
            given=0,
        )
