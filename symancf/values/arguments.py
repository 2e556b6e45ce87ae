# SPDX-License-Identifier: BSD-3-Clause
"""What users give to public functions, checked where it comes in.

Every function returns the argument in the type that the code behind it relies on, or raises a
`ParameterError` that says what was given and what is possible.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from ..errors import ParameterError, argument, closest
from .parameter import label

T = TypeVar("T")


def number(
    call: str,
    name: str,
    given: Any,
    must: str = "be a finite number",
    accepts: Callable[[float], bool] = math.isfinite,
) -> float:
    """Return a number that a call was given; `must` says in words what `accepts` tells.

    Truth values, text and arrays of several numbers are none.

    Raises
    ------
    ParameterError
    """
    value = math.nan
    if not isinstance(given, bool | str | bytes):
        try:
            value = float(given)
        except (TypeError, ValueError, OverflowError):
            value = math.nan
    if math.isnan(value) or not accepts(value):
        raise ParameterError(
            f"{call}({name}={label(given)}): it must {must}", asked=argument(name), given=given
        )
    return value


def named(given: Any, default: str) -> str:
    """Return the name that the user gives to a body or term, or the default where there is none.

    Raises
    ------
    ParameterError : it is no text.
    """
    if given is None:
        return default
    if not isinstance(given, str):
        raise ParameterError(
            f"name={label(given)}: give a text, or none for {default!r}", asked="name", given=given
        )
    return given or default


def positive(call: str, name: str, given: Any) -> float:
    """Return a finite positive number."""
    value = number(call, name, given)
    return number(call, name, value, "be positive", lambda x: x >= 1e-300)


MANY = 1e9  # steps: more is a slip of the keyboard


def step(call: str, given: Any, now: float, to: float) -> float:
    """Return the length of steps from the time `now` to `to`.

    Raises
    ------
    ParameterError : it is no positive number, or leads nowhere.
    """
    length = positive(call, "step", given)
    if now + length == now or abs(to - now) > MANY * length:
        raise ParameterError(
            f"{call}(step={length:g}): from {now:g} to {to:g} that is more than {MANY:g} steps",
            asked="step",
            given=length,
        )
    return length


def text(what: str, given: Any) -> str:
    """Return a text.

    Raises
    ------
    ParameterError
    """
    if not isinstance(given, str):
        raise ParameterError(
            f"{what} is {label(given)}: give a text", asked=argument(what), given=given
        )
    return given


def path(call: str, given: Any) -> Path:
    """Return the path of a file.

    Raises
    ------
    ParameterError
    """
    if not isinstance(given, str | PathLike) or not str(given):
        raise ParameterError(
            f'{call}({label(given)}): give the path of a file, "results/run.h5"',
            asked="path",
            given=given,
        )
    return Path(given)


def among(given: Any, words: Iterable[str]) -> bool:
    """Tell whether something, of whatever type, is one of some words."""
    return isinstance(given, str) and given in words


def one_of(what: str, given: Any, possible: Iterable[str]) -> str:
    """Return one of some words.

    Raises
    ------
    ParameterError
    """
    words = list(possible)
    if among(given, words):
        return str(given)
    hint = closest(given, words) if isinstance(given, str) else ""
    listed = " or ".join(", ".join(map(repr, w)) for w in (words[:-1], words[-1:]) if w)
    raise ParameterError(
        f"{what} is {label(given)}: give {listed}.{hint}",
        asked=argument(what),
        given=given,
        possible=words,
    )


def instance(what: str, given: Any, kind: type[T], remedy: str) -> T:
    """Return an object of a class of the package; `remedy` says what to write.

    Raises
    ------
    ParameterError
    """
    if not isinstance(given, kind):
        raise ParameterError(
            f"{what} is {label(given)}: {remedy}",
            asked=argument(what),
            given=given,
            possible=(kind.__name__,),
        )
    return given


def function(what: str, given: Any) -> Callable[..., Any]:
    """Return a function.

    Raises
    ------
    ParameterError
    """
    if not callable(given) or isinstance(given, type):
        raise ParameterError(
            f"{what} is {label(given)}: give a function", asked=argument(what), given=given
        )
    made: Callable[..., Any] = given
    return made


def options(what: str, given: Any) -> dict[str, str | float | bool | None]:
    """Return PETSc options by name.

    Raises
    ------
    ParameterError
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise ParameterError(
            f'{what} is {label(given)}: give names with values, {{"pc_type": "lu"}}',
            asked=argument(what),
            given=given,
        )
    return dict(given)


def chosen_dofs(name: str, dofs: str | Sequence[str], possible: Sequence[str]) -> list[str]:
    """Return the names of coordinates that a support was asked to hold.

    Raises
    ------
    ParameterError : one is not possible.
    """
    asked = [dofs] if isinstance(dofs, str) else dofs
    if not isinstance(asked, list | tuple) or not all(isinstance(dof, str) for dof in asked):
        raise ParameterError(
            f"{name}: dofs is {label(dofs)}: give one of {', '.join(possible)}, or a list of these",
            asked="dofs",
            given=dofs,
            possible=possible,
        )
    asked = list(asked)
    for dof in asked:
        if dof not in possible:
            raise ParameterError(
                f"{name}: dofs {dof!r} is not one of {', '.join(possible)}."
                + closest(dof, possible),
                asked="dofs",
                given=dof,
                possible=possible,
            )
    return asked
