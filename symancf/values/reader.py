# SPDX-License-Identifier: BSD-3-Clause
"""The reader of users' functions of symbols: what they ask for, what they return.

Energies, forces, constraints, laws of contact, signed distances, controllers, viscous stresses
and fields of results follow one rule: positional arguments ask for quantities, keyword-only ones
are parameters. Each mistake in one has one message, which is made here: `what` names the function
in it, ``"neo_hooke()"``. What a function asks for or returns is a `KinematicsError`, what is given
for its parameters a `ParameterError`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from symancf_codegen.functions import (
    MAX_DEPTH,
    expression,
    extent,
    short,
    symbols_of,
    uncompilable,
    undefined,
)

from ..errors import (
    AFTER_STAR,
    CompileError,
    KinematicsError,
    ParameterError,
    SymancfError,
    closest,
    in_words,
)
from .arguments import function as require_function
from .functions import arguments_of
from .parameter import label

MODULI = {
    "mu": "E/(2 (1 + nu))",
    "lam": "E nu/((1 + nu) (1 - 2 nu))",
    "k": "E/(3 (1 - 2 nu))",
}


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
    defaults: Mapping[str, Any]

    @property
    def required(self) -> tuple[str, ...]:
        """Parameters without a default."""
        return tuple(p for p in self.parameters if p not in self.defaults)


def name_of(function: object) -> str:
    """Return the name of a function, as errors have it."""
    return str(getattr(function, "__name__", type(function).__name__))


def read(function: Callable[..., object], what: str = "", own: Collection[str] = ()) -> Signature:
    """Return what a user's function asks for by the names of its arguments.

    Parameters
    ----------
    what : names the function in messages, by default its own name.
    own : names of keyword-only arguments that are no parameters.

    Raises
    ------
    ParameterError : it is no function.
    KinematicsError : Python does not know its arguments; ``*args`` or ``**kwargs``, which name
        nothing; positional arguments with a default value, which would be parameters: those come
        after a ``*``.
    """
    require_function(what or "a law", function)
    name = name_of(function)
    what = what or f"{name}()"
    try:
        asked = arguments_of(function)
    except (TypeError, ValueError) as error:
        raise KinematicsError(
            f"the arguments of {what} are not known to Python: write a function that calls it",
            asked=name,
            given=function,
        ) from error
    for argument, written in asked.open.items():
        raise KinematicsError(
            f"{what} has the argument '{written}', which names neither a quantity nor a "
            f"parameter. Write the quantities by name, then '*', then the parameters.",
            asked=argument,
            given=written,
        )
    for p in asked.positional:
        if p in asked.defaults:
            raise KinematicsError(
                f"{what} gives the positional argument {p!r} a default value. Positional "
                f"arguments ask for quantities; if {p!r} is a parameter write it after "
                f"'*': def {name}(..., *, {p}={label(asked.defaults[p])}).",
                asked=p,
                given=asked.defaults[p],
            )
    parameters = tuple(p for p in asked.keywords if p not in own)
    defaults = {p: asked.defaults[p] for p in parameters if p in asked.defaults}
    return Signature(name, asked.positional, parameters, defaults)


# ---- quantities ----------------------------------------------------------------------------------
def unknown_quantity(what: str, name: str, offered: Iterable[str], where: str) -> KinematicsError:
    """Return the error of a function that asks for a quantity that is not offered.

    Parameters
    ----------
    where : who offers the others, e.g. ``"ancf_plate"``.
    """
    possible = tuple(offered)
    return KinematicsError(
        f"{what} asks for the quantity {name!r}; {where} offers "
        f"{', '.join(possible)}.{closest(name, possible)} {AFTER_STAR}",
        asked=name,
        possible=possible,
    )


def require_quantities(what: str, asked: Signature, offered: Iterable[str], where: str) -> None:
    """Check that a function asks for quantities, and only for such as are offered.

    Raises
    ------
    KinematicsError
    """
    offered = tuple(offered)
    for name in asked.quantities:
        if name not in offered:
            raise unknown_quantity(what, name, offered, where)
    if not asked.quantities:
        raise KinematicsError(
            f"{what} asks for no quantity; {where} offers {', '.join(offered)}. If it makes "
            f"functions call it first: give {asked.name}().",
            asked=asked.name,
            possible=offered,
        )


def require_places(what: str, asked: Signature, wanted: Sequence[str], where: str) -> None:
    """Check that a function has as many positional arguments as it is called with, of any names.

    Raises
    ------
    KinematicsError
    """
    by_name = dict(zip(asked.quantities, wanted, strict=False))
    called = Signature(asked.name, tuple(by_name.get(q, q) for q in asked.quantities), (), {})
    require_quantities(what, called, wanted, where)
    for name in wanted[len(asked.quantities) :]:
        raise KinematicsError(
            f"{what} is called with {', '.join(wanted)} of {where} and takes "
            f"{', '.join(asked.quantities)} alone",
            asked=name,
            given=asked.quantities,
            possible=wanted,
        )


# ---- parameters ----------------------------------------------------------------------------------
def require_free(what: str, names: Iterable[str], reserved: Collection[str], where: str) -> None:
    """Check that no argument of a function has a name that means something else.

    Raises
    ------
    ParameterError
    """
    for name in names:
        if name in reserved:
            raise ParameterError(
                f"{what} calls an argument {name!r}, which is the name of a quantity, symbol or "
                f"argument of {where}: choose another name",
                asked=name,
                given=where,
            )


def require_parameters(
    what: str,
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
    what : the function that takes them.
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
    spare = [g for g in given if g not in possible]
    for p in required:
        if p not in given:
            hint = closest(p, spare).replace("Did you mean", "Is it what you gave as")
            if {"E", "nu"} <= {*spare}:
                moduli = [f"{q} = {MODULI[q]}" for q in required if q in MODULI]
                hint = f" Of E and nu these are {', '.join(moduli)}." if p in MODULI else hint
            raise ParameterError(
                f"{what} needs the parameter {p!r}, which is not given. It takes: {listed}.{hint}",
                asked=p,
                given=given,
                possible=possible,
            )
    for g in spare if exact else ():
        why, stands = f"It takes: {listed}.{closest(g, possible)}", None
        if g in before:
            stands = tuple(before)
            why = (
                f"It has {g!r} before the '*' in its arguments, where quantities stand; a "
                f"parameter is written after it: def ...(..., *, {g})"
            )
        raise ParameterError(
            f"{what} does not take the parameter {g!r}. {why}",
            asked=g,
            given=stands,
            possible=possible,
        )


# ---- results -------------------------------------------------------------------------------------
def failed(what: str, name: str, error: Exception) -> KinematicsError:
    """Return the error of a function that raised something where it was called with symbols."""
    return KinematicsError(
        f"{what} failed on the symbols of its arguments: {in_words(error)}", asked=name, given=error
    )


def call_symbolic(
    what: str,
    function: Callable[..., Any],
    quantities: Iterable[object],
    parameters: Mapping[str, object],
    argument: str = "",
) -> Any:
    """Call a user's function with symbols; say which one it was if it fails.

    `argument` : the user's name for it, by default its own.

    Raises
    ------
    KinematicsError : the function raised something.
    """
    try:
        return function(*quantities, **parameters)
    except SymancfError:
        raise
    except Exception as error:
        raise failed(what, argument or name_of(function), error) from error


def as_expression(what: str, asked: str, given: object, must: str = "") -> sp.Basic:
    """Return what a function returned as a SymPy expression or matrix; `what` begins the message.

    Raises
    ------
    KinematicsError : it is neither; `must` says what it has to be.
    """
    must = must or "give an expression of SymPy (text is not evaluated)"
    if given is None:
        raise KinematicsError(
            f"{what} is None: the function returns nothing (no return statement?); {must}",
            asked=asked,
        )
    try:
        return expression(given)
    except (sp.SympifyError, TypeError, ValueError) as error:
        raise KinematicsError(
            f"{what} is {label(given)}: {must}", asked=asked, given=given
        ) from error


def require_shape(what: str, asked: str, value: object, like: object) -> None:
    """Check that an expression has the shape of another one, () that of a scalar.

    Raises
    ------
    KinematicsError
    """
    shape, wanted = (getattr(x, "shape", ()) for x in (value, like))
    if shape != wanted:
        raise KinematicsError(
            f"{what} has the shape {shape}: it must have the shape {wanted}",
            asked=asked,
            given=shape,
            possible=(wanted,),
        )


def scalar(
    what: str,
    asked: str,
    given: object,
    symbols: Collection[sp.Symbol],
    *,
    also: tuple[type, ...] = (),
    must: str = "",
) -> sp.Expr:
    """Return what a function returned as a SymPy scalar of known symbols.

    Parameters
    ----------
    what, asked : the part of the result, in words and by name.
    also : classes of functions that the compiler need not know.
    must : what it has to be, in words.

    Raises
    ------
    KinematicsError : it is no scalar expression, is infinite, undefined or complex, is nested too
        deep, or has symbols that are none of the function's arguments.
    CompileError : there is no C for it.
    """
    w = as_expression(what, asked, given, must)
    if not isinstance(w, sp.Expr) or isinstance(w, sp.MatrixExpr):
        shape = getattr(w, "shape", None)
        text = label(given) if shape is None else f"a matrix of shape {shape}"
        raise KinematicsError(
            f"{what} is {text}: {must or 'give a scalar'}",
            asked=asked,
            given=label(given) if shape is None else shape,
        )
    if undefined(w) is not None:
        raise KinematicsError(
            f"{what} is {short(w)}: infinite, undefined, complex or beyond the range of numbers; "
            f"{must or 'give a finite number'}",
            asked=asked,
            given=short(w),
        )
    if extent(w)[1] > MAX_DEPTH:
        error = RecursionError(f"more than {MAX_DEPTH} operations are nested in one another")
        raise failed(what, asked, error) from error
    if stands := uncompilable(w, also):
        raise CompileError(f"{what} cannot be compiled: {stands[1]}", asked=asked, given=stands[0])
    foreign = sorted(s.name for s in symbols_of(w) - {*symbols})
    if foreign:
        raise KinematicsError(
            f"{what} contains the symbol {foreign[0]!r}, which is neither a quantity nor a "
            "parameter of the function: add it to the arguments.",
            asked=foreign[0],
            given=short(w),
            possible=sorted({s.name for s in symbols}),
        )
    return w


def require_dependence(
    what: str, asked: str, given: sp.Expr, on: Collection[sp.Symbol], of: str, names: Iterable[str]
) -> None:
    """Check that what a function returned depends on one of some symbols.

    Parameters
    ----------
    of : what the symbols are, in words.
    names : of the symbols, as the user calls them.

    Raises
    ------
    KinematicsError : it does not.
    """
    if not given.free_symbols & {*on}:
        raise KinematicsError(
            f"{what} is {short(given)}, which does not depend on {of}",
            asked=asked,
            given=short(given),
            possible=names,
        )
