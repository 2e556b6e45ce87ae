# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of public functions, checked where they come in.

Every function returns the argument in the type that the code behind it relies on, or raises a
`ParameterError` that says what was given and what is possible.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike, fsencode
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ..errors import ParameterError, argument, closest
from .parameter import label, reals

T = TypeVar("T")

LONGEST = 200  # bytes of the name of a file: file systems take 255, those in work are longer


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
    numbers = reals(given, finite=False)
    value = float(numbers) if numbers.shape == () else math.nan
    if math.isnan(value) or not accepts(value):
        raise ParameterError(
            f"{call}({name}={label(given)}): it must {must}", asked=argument(name), given=given
        )
    return value


def integer(call: str, name: str, value: Any, least: int = 1) -> int:
    """Return a whole number.

    Raises
    ------
    ParameterError
    """
    must = f"be a whole number, at least {least}"
    return int(
        number(call, name, value, must, lambda n: math.isfinite(n) and n == int(n) and n >= least)
    )


def flag(call: str, name: str, given: Any) -> bool:
    """Return a truth value.

    Raises
    ------
    ParameterError
    """
    if not isinstance(given, bool | np.bool_):
        raise ParameterError(
            f"{call}({name}={label(given)}): give True or False",
            asked=name,
            given=given,
            possible=(True, False),
        )
    return bool(given)


def name_or(name: Any, default: str) -> str:
    """Return the name that the user gives to a body or term, or the default where there is none.

    Raises
    ------
    ParameterError : it is no text.
    """
    if name is None:
        return default
    return printable("the name of a body or term", name) or default


def positive(call: str, name: str, argument: Any) -> float:
    """Return a finite positive number."""
    value = number(call, name, argument)
    return number(call, name, value, "be positive", lambda x: x >= 1e-300)


LENGTHS = 1e-50, 1e50  # of models, as of the edges of meshes: their fourth powers are numbers


def length(what: str, given: Any) -> float:
    """Return a positive length.

    Raises
    ------
    ParameterError
    """
    low, high = LENGTHS
    value = reals(given)
    if value.shape != () or not low <= value <= high:
        raise ParameterError(
            f"{what} is {label(given)}: give a positive number between {low:g} and {high:g}",
            asked=argument(what),
            given=given,
        )
    return float(value)


MAX_STEPS = 1e9  # steps: more is a slip of the keyboard


def step(call: str, value: Any, now: float, to: float) -> float:
    """Return the length of steps from the time `now` to `to`.

    Raises
    ------
    ParameterError : it is no positive number, or leads nowhere.
    """
    length = positive(call, "step", value)
    if now + length == now or abs(to - now) > MAX_STEPS * length:
        raise ParameterError(
            f"{call}(step={length:g}): from {now:g} to {to:g} that is more than {MAX_STEPS:g} "
            "steps",
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


def printable(what: str, given: Any) -> str:
    """Return a text that tables and files can hold: one line, in characters that UTF-8 has.

    Raises
    ------
    ParameterError
    """
    odd = re.search("[\x00-\x1f\x7f\ud800-\udfff]", text(what, given))
    if odd:
        raise ParameterError(
            f"{what} is {label(given)}: it has the character {odd[0]!r}; give a text of one line "
            "without control characters",
            asked=argument(what),
            given=given,
        )
    return str(given)


def path(call: str, value: Any) -> Path:
    """Return the path of a file.

    Raises
    ------
    ParameterError
    """
    if not isinstance(value, str | PathLike) or isinstance(value, bytes) or not str(value):
        raise ParameterError(
            f'{call}({label(value)}): give the path of a file, "results/run.h5"',
            asked="path",
            given=value,
        )
    file = Path(value)
    if "\0" in str(file):
        raise ParameterError(
            f"{call}({label(str(file))}): a path cannot have the character NUL",
            asked="path",
            given=str(file),
        )
    if long := [part for part in file.parts if len(fsencode(part)) > LONGEST]:
        raise ParameterError(
            f"{call}({label(str(file))}): the name {label(long[0], 24)} has "
            f"{len(fsencode(long[0]))} bytes; give names of at most {LONGEST}",
            asked="path",
            given=str(file),
        )
    return file


def among(value: Any, words: Iterable[str]) -> bool:
    """Tell whether something, of whatever type, is one of some words."""
    return isinstance(value, str) and value in words


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


def function(what: str, value: Any) -> Callable[..., Any]:
    """Return a function.

    Raises
    ------
    ParameterError
    """
    if not callable(value) or isinstance(value, type):
        raise ParameterError(
            f"{what} is {label(value)}: give a function", asked=argument(what), given=value
        )
    checked: Callable[..., Any] = value
    return checked


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
    names = [dofs] if isinstance(dofs, str) else dofs
    if not isinstance(names, list | tuple) or not all(isinstance(dof, str) for dof in names):
        raise ParameterError(
            f"{name}: dofs is {label(dofs)}: give one of {', '.join(possible)}, or a list of these",
            asked="dofs",
            given=dofs,
            possible=possible,
        )
    names = list(names)
    for dof in names:
        if dof not in possible:
            raise ParameterError(
                f"{name}: dofs {dof!r} is not one of {', '.join(possible)}."
                + closest(dof, possible),
                asked="dofs",
                given=dof,
                possible=possible,
            )
    return names
