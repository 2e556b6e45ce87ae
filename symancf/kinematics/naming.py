# SPDX-License-Identifier: BSD-3-Clause
"""The naming rule: positional arguments ask for quantities, keyword-only ones are parameters."""

from __future__ import annotations

import inspect
import keyword
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sympy as sp

from symancf_codegen.functions import symbolic

from ..errors import AFTER_STAR, KinematicsError, ParameterError, closest
from ..values.functions import arguments_of
from .memory import Called, call_own, own_arguments

if TYPE_CHECKING:
    from types import CodeType, FrameType

    from ..values.parameter import Value

Energy = Callable[..., sp.Expr]


@dataclass(frozen=True)
class Signature:
    """What a user's function asks for.

    Attributes
    ----------
    name : of the function.
    quantities : names of the positional arguments.
    parameters : names of the keyword-only arguments, without what it remembers.
    defaults : values of those keyword-only arguments that have one.
    """

    name: str
    quantities: tuple[str, ...]
    parameters: tuple[str, ...]
    defaults: Mapping[str, Value]

    @property
    def required(self) -> tuple[str, ...]:
        """Parameters without a default."""
        return tuple(p for p in self.parameters if p not in self.defaults)


def law_of(given: Any) -> Any:
    """Return a law; of a function that makes laws the one that it makes by default.

    Such a function asks for no quantity, and all its arguments have defaults.
    """
    if inspect.isfunction(given):
        asked = arguments_of(given)
        if asked.defaults.keys() >= {*asked.names}:
            made = given()
            return made if callable(made) else given
    return given


def signature(function: Energy) -> Signature:
    """Return what `function` asks for by the names of its arguments.

    Raises
    ------
    KinematicsError : for ``*args`` or ``**kwargs``, which name nothing, and for positional
        arguments with a default value, which would be parameters: those come after a ``*``.
    """
    if not callable(function):
        raise KinematicsError(f"a law is a function; given {function!r}", given=function)
    name = getattr(function, "__name__", type(function).__name__)
    asked, own = arguments_of(function), own_arguments(function)
    for argument, written in asked.open.items():
        raise KinematicsError(
            f"{name}() has the argument '{written}', which names neither a quantity nor a "
            f"parameter. Write the quantities by name, then '*', then the parameters.",
            asked=argument,
            given=written,
        )
    for p in asked.positional:
        if p in asked.defaults:
            raise KinematicsError(
                f"{name}() gives the positional argument {p!r} a default value. Positional "
                f"arguments ask for quantities; if {p!r} is a parameter write it after "
                f"'*': def {name}(..., *, {p}={asked.defaults[p]!r}).",
                asked=p,
                given=asked.defaults[p],
            )
    parameters = tuple(p for p in asked.keywords if p not in own)
    defaults = {p: asked.defaults[p] for p in parameters if p in asked.defaults}
    return Signature(name, asked.positional, parameters, defaults)


def require_quantities(asked: Signature, offered: Iterable[str], where: str) -> None:
    """Check that every quantity that a function asks for is offered.

    Parameters
    ----------
    asked : what the function asks for.
    offered : what it may ask for.
    where : who offers it, e.g. ``"ancf_plate"``.

    Raises
    ------
    KinematicsError : if a quantity is not offered.
    """
    offered = tuple(offered)
    for name in asked.quantities:
        if name not in offered:
            raise KinematicsError(
                f"{asked.name}() asks for the quantity {name!r}; {where} offers "
                f"{', '.join(offered)}.{closest(name, offered)} {AFTER_STAR}",
                asked=name,
                possible=offered,
            )


MODULI = {
    "mu": "E/(2 (1 + nu))",
    "lam": "E nu/((1 + nu) (1 - 2 nu))",
    "k": "E/(3 (1 - 2 nu))",
}


def require_parameters(
    name: str,
    required: Iterable[str],
    given: Iterable[str],
    *,
    optional: Iterable[str] = (),
    exact: bool = False,
    before: Collection[str] = (),
) -> None:
    """Check the names of given parameters.

    Parameters
    ----------
    name : the function that takes them.
    required, optional : the names it takes.
    given : the names that the user gave.
    exact : whether names that it does not take are errors too.
    before : what stands before the '*' in its arguments.

    Raises
    ------
    ParameterError : if one is missing, or with `exact` if one is not taken; both name the closest
        match.
    """
    required, given, optional = tuple(required), tuple(given), tuple(optional)
    possible = tuple(dict.fromkeys((*required, *optional)))
    listed = ", ".join(possible) if possible else "no parameters"
    called = "()" if name.isidentifier() else ""
    spare = [g for g in given if g not in possible]
    for p in required:
        if p not in given:
            hint = closest(p, spare).replace("Did you mean", "Is it what you gave as")
            if {"E", "nu"} <= {*spare}:
                known = [f"{q} = {MODULI[q]}" for q in required if q in MODULI]
                hint = f" Of E and nu these are {', '.join(known)}." if p in MODULI else hint
            raise ParameterError(
                f"{name}{called} needs the parameter {p!r}, which is not given. It takes: {listed}."
                f"{hint}",
                asked=p,
                given=given,
                possible=possible,
            )
    for g in spare if exact else ():
        if g in before:
            raise ParameterError(
                f"{name}() has {g!r} before the '*' in its arguments, where quantities stand; a "
                f"parameter is written after it: def {name}(..., *, {g})",
                asked=g,
                possible=possible,
                given=tuple(before),
            )
        raise ParameterError(
            f"{name}() does not take the parameter {g!r}. It takes: {listed}."
            f"{closest(g, possible)}",
            asked=g,
            possible=possible,
        )


def call_law(
    function: Energy, quantities: Mapping[str, Value], parameters: Mapping[str, sp.Expr]
) -> tuple[Called, dict[str, sp.Expr]]:
    """Call an energy by symbols, those of its memory, too; return the named scalars as well."""
    named: dict[str, sp.Expr] = {}

    def call(own: Mapping[str, Value]) -> object:
        nonlocal named
        result, named = call_named(function, quantities.values(), {**parameters, **own})
        return result

    name = getattr(function, "__name__", type(function).__name__)
    called = call_own(f"{name}()", function, {**quantities, **parameters}, call)
    return called, named


def call_named(
    function: Energy, arguments: Iterable[sp.Basic], parameters: Mapping[str, sp.Expr]
) -> tuple[sp.Expr, dict[str, sp.Expr]]:
    """Call `function` and return its result with the named scalars of its body.

    The local variables that hold scalar expressions, such as ``y = J**Rational(-2, 3)*I1 - 3``,
    become the named stages of the generated code. They are read when the function returns.
    """
    code: CodeType | None = getattr(inspect.unwrap(function), "__code__", None)
    found: dict[str, object] = {}

    def observe(frame: FrameType, event: str, result: object) -> None:
        if event == "return" and frame.f_code is code:
            found.clear()
            found.update(frame.f_locals)

    arguments, parameters = tuple(arguments), dict(parameters)
    previous = sys.getprofile()
    built_in: Any = previous if hasattr(previous, "disable") else None  # cProfile: no function
    if built_in is not None:
        built_in.disable()
    sys.setprofile(observe)
    try:
        result = function(*arguments, **parameters)
    finally:
        sys.setprofile(None if built_in is not None else previous)
        if built_in is not None:
            built_in.enable()
    taken = {
        *parameters,
        *(s.name for a in arguments for s in symbolic(a).free_symbols),
    }
    named = {
        name: value
        for name, value in found.items()
        if isinstance(value, sp.Expr)
        and not value.is_Atom
        and name not in taken
        and not name.startswith("_")
        and not keyword.iskeyword(name)
    }
    return result, named
