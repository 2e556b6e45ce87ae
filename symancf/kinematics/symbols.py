# SPDX-License-Identifier: BSD-3-Clause
"""Symbols of what a law has beside quantities and parameters: memory, unknowns of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import sympy as sp

from ..errors import KinematicsError
from ..values.arguments import function as require_function
from ..values.functions import arguments_of
from ..values.reader import as_expression, call_symbolic, read, unknown_quantity
from .quantity import Value, real


def declaring(function: Callable[..., object], names: Iterable[str], does: str) -> None:
    """Check that a function that `does` something with names asks for them.

    Raises
    ------
    ParameterError : it is no function.
    KinematicsError : a name is no keyword-only argument.
    """
    require_function(f"what {does} {', '.join(names)}", function)
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


def symbol_value(name: str, key: str, value: object, arguments: Mapping[str, Value]) -> Value:
    """Return the first value of a quantity of a law as a SymPy expression or matrix."""
    what = f"{name}: the first value of {key!r}"
    if callable(value) and not isinstance(value, sp.Basic | sp.MatrixBase):
        wanted = read(value, what)
        for a in (*wanted.quantities, *wanted.parameters):
            if a not in arguments:
                raise unknown_quantity(what, a, arguments, "the law")
        plain = [arguments[a] for a in wanted.quantities]
        value = call_symbolic(what, value, plain, {a: arguments[a] for a in wanted.parameters})
    must = "give a number, a matrix or a function of arguments of the law"
    return as_expression(what, key, value, must)


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
