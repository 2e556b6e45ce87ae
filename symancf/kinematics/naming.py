# SPDX-License-Identifier: BSD-3-Clause
"""Laws called with symbols: what they ask for, what they return, and the names in their bodies."""

from __future__ import annotations

import inspect
import keyword
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import sympy as sp

from symancf_codegen.functions import symbolic

from ..values.domain import MAKERS
from ..values.reader import Signature, call_symbolic, read
from ..values.spellings import advise
from .memory import Called, call_own, own_arguments

if TYPE_CHECKING:
    from types import CodeType, FrameType

    from ..values.parameter import Value

Energy = Callable[..., sp.Expr]


def law_of(law: Any) -> Any:
    """Return a law; of a function of the catalogue, with a warning, the law that it returns."""
    if not inspect.isfunction(law) or law not in MAKERS:
        return law
    name = f"energies.{law.__name__}"
    advise(f"{name} as a law", f"{name}()")
    return law()


def signature(function: Energy) -> Signature:
    """Return what `function` asks for, without what it remembers or solves for; see `read`."""
    return read(function, own=own_arguments(function))


def call_law(
    function: Energy, quantities: Mapping[str, Value], parameters: Mapping[str, sp.Expr]
) -> tuple[Called, dict[str, sp.Expr]]:
    """Call an energy by symbols, those of its memory, too; return the named scalars as well."""
    scalars: dict[str, sp.Expr] = {}

    def call(own: Mapping[str, Value]) -> object:
        nonlocal scalars
        result, scalars = call_by_names(what, function, quantities.values(), {**parameters, **own})
        return result

    what = f"{getattr(function, '__name__', type(function).__name__)}()"
    called = call_own(what, function, {**quantities, **parameters}, call)
    return called, scalars


def call_by_names(
    what: str,
    function: Energy,
    arguments: Iterable[sp.Basic],
    parameters: Mapping[str, sp.Expr],
) -> tuple[sp.Expr, dict[str, sp.Expr]]:
    """Call `function` and return its result with the named scalars of its body.

    The local variables that hold scalar expressions, such as ``y = J**Rational(-2, 3)*I1 - 3``,
    become the named stages of the generated code. They are read when the function returns.
    """
    code: CodeType | None = getattr(inspect.unwrap(function), "__code__", None)
    local_values: dict[str, object] = {}

    def observe(frame: FrameType, event: str, result: object) -> None:
        if event == "return" and frame.f_code is code:
            local_values.clear()
            local_values.update(frame.f_locals)

    arguments, parameters = tuple(arguments), dict(parameters)
    previous = sys.getprofile()
    built_in: Any = previous if hasattr(previous, "disable") else None  # cProfile: no function
    if built_in is not None:
        built_in.disable()
    sys.setprofile(observe)
    try:
        result = call_symbolic(what, function, arguments, parameters)
    finally:
        sys.setprofile(None if built_in is not None else previous)
        if built_in is not None:
            built_in.enable()
    reserved = {
        *parameters,
        *(s.name for a in arguments for s in symbolic(a).free_symbols),
    }
    scalars = {
        name: value
        for name, value in local_values.items()
        if isinstance(value, sp.Expr)
        and not value.is_Atom
        and name not in reserved
        and not name.startswith("_")
        and not keyword.iskeyword(name)
    }
    return result, scalars
