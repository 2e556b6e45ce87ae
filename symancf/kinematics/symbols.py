# SPDX-License-Identifier: BSD-3-Clause
"""Symbols of what a law has beside quantities and parameters: memory, unknowns of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import sympy as sp

from symancf_codegen.functions import expression

from ..errors import KinematicsError
from ..values.functions import arguments_of
from ..values.parameter import label
from .quantity import Value, real


def declaring(function: Callable[..., object], names: Iterable[str], does: str) -> None:
    """Check that a function that `does` something with names asks for them.

    Raises
    ------
    KinematicsError : a name is no keyword-only argument.
    """
    given: object = function
    if not callable(given) or isinstance(given, type):
        raise KinematicsError(
            f"what {does} {', '.join(names)} is {function!r}: give a function", given=function
        )
    keywords = arguments_of(function).keywords
    who = getattr(function, "__name__", "the function")
    for name in names:
        if name not in keywords:
            raise KinematicsError(
                f"{who}() {does} {name!r} but has no such argument: write it "
                f"after '*': def ...(..., *, {name}, ...)",
                asked=name,
                possible=keywords,
            )


def as_expression(
    what: str, asked: str, given: object, must: str = "give an expression or matrix"
) -> Value:
    """Return what a user gave as a SymPy expression or matrix; `what` begins the message.

    Raises
    ------
    KinematicsError : it is neither.
    """
    try:
        return expression(given)
    except (sp.SympifyError, TypeError, ValueError) as error:
        raise KinematicsError(
            f"{what} is {label(given)}: {must}", asked=asked, given=given
        ) from error


def given_value(name: str, key: str, given: object, arguments: Mapping[str, Value]) -> Value:
    """Return the first value of a quantity of a law as a SymPy expression or matrix."""
    if callable(given) and not isinstance(given, sp.Basic | sp.MatrixBase):
        wanted = arguments_of(given)
        absent = [a for a in wanted.names if a not in arguments]
        if absent:
            raise KinematicsError(
                f"{name}: the first value of {key!r} asks for {absent[0]!r}, which is no "
                f"argument of the law; these are {', '.join(arguments)}",
                asked=absent[0],
                possible=tuple(arguments),
            )
        plain = [arguments[a] for a in wanted.positional]
        given = given(*plain, **{a: arguments[a] for a in wanted.keywords})
    must = "give a number, a matrix or a function of arguments of the law"
    return as_expression(f"{name}: the first value of {key!r}", key, given, must)


def symbols_of(key: str, value: Value, symmetric: bool) -> Value:
    """Return the symbols of a quantity of the shape of a value."""
    if not isinstance(value, sp.MatrixBase):
        return real(key)
    rows, columns = value.shape

    def symbol(i: int, k: int) -> sp.Symbol:
        i, k = (min(i, k), max(i, k)) if symmetric else (i, k)
        return real(f"{key}{i + 1}" if columns == 1 else f"{key}{i + 1}{k + 1}")

    return sp.Matrix(rows, columns, symbol)


def is_symmetric(value: Value) -> bool:
    """Whether a value is a square matrix of which one triangle tells all."""
    square = isinstance(value, sp.MatrixBase) and value.shape[0] == value.shape[1] > 1
    if not square:
        return False
    n = value.shape[0]
    pairs = ((value[i, k], value[k, i]) for i in range(n) for k in range(i))
    return all(a == b or sp.expand(a - b) == 0 for a, b in pairs)


def entries(value: Value) -> list[sp.Expr]:
    """Return the entries of a matrix by rows, or the scalar."""
    return list(value) if isinstance(value, sp.MatrixBase) else [value]
