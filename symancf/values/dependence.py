# SPDX-License-Identifier: BSD-3-Clause
"""Dependence of users' functions of time on more than the time, as far as Python can tell."""

from __future__ import annotations

import gc
import sys
import weakref
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from .parameter import OWN, Parameter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..arrays import Array

MOST = 5000  # objects that are looked at
#: Packages whose functions and classes read nothing of a motion that they are not given.
_LIBRARIES = {"symancf", "numpy", "scipy", "sympy", "mpmath", *sys.stdlib_module_names}
_PLAIN: tuple[type, ...] = (int, float, complex, str, bytes, type(None), np.generic, np.dtype)
_PLAIN += (Parameter, np.ufunc, BuiltinFunctionType, CodeType, ModuleType)


def depends_on_time_alone(functions: Iterable[Any], vectors: Iterable[Array]) -> bool:
    """Tell whether functions of time read nothing that a motion changes.

    What they were given, close over and name is followed, and what that refers to. The `vectors`
    are of the motion, and so may be objects of this package but a `Parameter` or a `Series`. Where
    there is too much to look at the answer is no.
    """
    changing = {id(vector) for vector in vectors}
    reached = _reached(functions)
    return reached is not None and not any(
        key in changing or _may_read(found) for key, found in reached.items()
    )


def share_objects(functions: Iterable[Any], others: Iterable[Any]) -> bool:
    """Tell whether some functions may read what others change: lists, arrays, objects."""
    reached = _reached(functions)
    if reached is not None:
        fixed = (FunctionType, MethodType, type, tuple, CellType)
        reached = {key: found for key, found in reached.items() if not isinstance(found, fixed)}
    if not reached and reached is not None:
        return False
    also = _reached(others)
    return reached is None or also is None or not reached.keys().isdisjoint(also)


def may_follow(function: Any, value: Any) -> bool:
    """Tell whether a function of time may read a `Parameter` or a `Series`."""
    reached = _reached([function], value)
    return reached is None or id(value) in reached or any(map(_may_read, reached.values()))


def _reached(functions: Iterable[Any], plain: Any = None) -> dict[int, Any] | None:
    """Return what functions refer to, by its identity; None: there is too much.

    `plain`: a thing that counts in spite of its type.
    """
    known: dict[int, Any] = {}
    waiting = [*functions]
    while waiting:
        found = waiting.pop()
        if id(found) in known or found is None:
            continue
        if isinstance(found, _PLAIN) and found is not plain:
            continue
        if len(known) >= MOST:
            return None
        known[id(found)] = found
        waiting += () if _may_read(found) else _referents(found)
    return known


def _may_read(thing: Any) -> bool:
    """Tell whether an object is one of this package, or refers to something unseen."""
    own = _package(type(thing)) == "symancf" and not isinstance(thing, OWN)
    own = own and not getattr(type(thing), "of_time_alone", False)
    return own or isinstance(thing, weakref.ref)


def _package(thing: Any) -> str:
    """Return the package of a function or class."""
    return str(getattr(thing, "__module__", None)).partition(".")[0]


def _referents(thing: Any) -> list[Any]:
    """Return what an object refers to; what libraries refer to is left out."""
    if isinstance(thing, OWN):
        return [thing.value]
    if isinstance(thing, np.ndarray):
        return [thing.base, *(thing.flat if thing.dtype.hasobject else ())]
    if isinstance(thing, FunctionType):
        cells = [cell for cell in thing.__closure__ or ()]
        own = [*cells, thing.__defaults__, thing.__kwdefaults__, vars(thing)]
        return own if _package(thing) in _LIBRARIES else own + _named(thing)
    if isinstance(thing, type) and _package(thing) in _LIBRARIES:
        return []
    return gc.get_referents(thing)


def _named(function: FunctionType) -> list[Any]:
    """Return what the names in the code of a function mean, also in modules among these."""
    codes = [function.__code__]
    for code in codes:  # grows
        codes += [part for part in code.co_consts if isinstance(part, CodeType)]
    names = {name for code in codes for name in code.co_names}
    found = [function.__globals__[name] for name in names & function.__globals__.keys()]
    for module in found:
        if isinstance(module, ModuleType) and module.__name__.partition(".")[0] not in _LIBRARIES:
            found += [vars(module)[name] for name in names & vars(module).keys()]
    return found
