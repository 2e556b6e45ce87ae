# SPDX-License-Identifier: BSD-3-Clause
"""Laws that remember: what a point keeps from one step to the next.

A function with memory declares names and initial values, asks for them by keyword-only arguments,
and returns what they are at the end of the step beside its energy or forces::

    @memory(e=0)
    def maxwell(epsilon, *, e, dt, E, tau):
        e_next = (e + dt / tau * epsilon) / (1 + dt / tau)
        ...
        return remember(W, e=e_next, stored=..., dissipated=...)

In a step the residual is a function of the coordinates and of the values at its beginning.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import sympy as sp

from symancf_codegen.declare import Memory

from ..errors import KinematicsError
from .quantity import Value, real

if TYPE_CHECKING:
    Result = object  # of a user's function
    Initial = object

Law = Callable[..., object]
Function = TypeVar("Function", bound=Callable[..., object])

#: Length of the step: a parameter of laws with memory that the step gives.
STEP = "dt"

#: The row of the energy that a point has dissipated since the beginning.
DISSIPATED = "dissipated"

RESERVED = (STEP, DISSIPATED, "stored", "t")


@dataclass(frozen=True)
class Remembered:
    """What a function with memory returns; see `remember`."""

    result: Result
    values: Mapping[str, object]
    stored: object
    dissipated: object


def memory(**initial: Initial) -> Callable[[Function], Function]:
    r"""Let a function of energy or force remember quantities from one step to the next.

    Parameters
    ----------
    initial : name -> value before the first step: a number, a matrix of numbers
        (``sp.zeros(3, 3)``) or a function of some arguments of the law, parameters and quantities
        of the reference, ``lambda X_a, *, k: ...``. Of a matrix that stays symmetric one triangle
        is kept.

    The function has these names as keyword-only arguments: they are the values at the beginning
    of the step; and ``dt``, the length of the step [s], if it asks for it (0 where a `Parameter`
    is changed at once). It returns `remember`. On cells each quadrature point has its memory, at
    places each tuple of places.

    Examples
    --------
    A spring with friction, stiffness k, that slides at the force f:

    >>> import symancf as sa
    >>> from sympy import Abs, Max, sign
    >>> @sa.memory(slip=0)
    ... def friction(u_a, *, slip, k, f):
    ...     trial = k * (u_a[0] - slip)
    ...     over = Max(Abs(trial) - f, 0)
    ...     slid = over * sign(trial) / k
    ...     force = trial - k * slid
    ...     return sa.remember(trial**2 / (2 * k) - over**2 / (2 * k), slip=slip + slid,
    ...                        stored=force**2 / (2 * k), dissipated=force * slid)

    Raises
    ------
    KinematicsError : a name is that of something else.
    """
    for name in initial:
        if name in RESERVED:
            raise KinematicsError(
                f"memory({name}=...): {name!r} has another meaning in laws with memory: choose "
                "another name",
                asked=name,
            )

    def declare(function: Function) -> Function:
        wanted = inspect.signature(function).parameters
        for name in initial:
            if name not in wanted or wanted[name].kind is not inspect.Parameter.KEYWORD_ONLY:
                raise KinematicsError(
                    f"{getattr(function, '__name__', 'the function')}() remembers {name!r} but has "
                    f"no such argument: write it after '*': def ...(..., *, {name}, ...)",
                    asked=name,
                )
        function.memory = dict(initial)  # type: ignore[attr-defined]
        return function

    return declare


def remember(
    result: Result, *, stored: object, dissipated: object = 0, **values: object
) -> Remembered:
    r"""Return the result of a law with memory and what it remembers.

    Parameters
    ----------
    result : what a function without memory returns: an energy, named parts of it, or forces. The
        force is the derivative of the energy at constant memory of the beginning; so the energy
        of an inelastic law is an incremental potential.
    stored : energy in the state at the end of the step, per the same measure as the energy [J];
        the audit and `System.energies` count it.
    dissipated : energy that the step dissipates [J].
    values : what was declared by `memory`, at the end of the step.
    """
    return Remembered(result, values, stored, dissipated)


def declared(function: Callable[..., object]) -> Mapping[str, Initial]:
    """Return the initial values of what a function remembers."""
    found: object = getattr(function, "memory", None)
    return found if isinstance(found, Mapping) else {}


def own_arguments(function: Callable[..., object]) -> frozenset[str]:
    """Return the keyword-only arguments that are no parameters: memory and the step's length."""
    names = declared(function)
    return frozenset((*names, STEP)) if names else frozenset()


class Called(NamedTuple):
    """A function called with symbols.

    Attributes
    ----------
    result : of the law without its memory.
    history : what a point remembers, not yet looked at.
    stored : energy in the state; None: the function has no memory.
    """

    result: Result
    history: tuple[Memory, ...] = ()
    stored: object = None

    @property
    def symbols(self) -> set[sp.Symbol]:
        """The symbols of the memory and of the step's length."""
        return {*(m.symbol for m in self.history if not m.total), real(STEP)}


def call_remembering(
    name: str,
    function: Callable[..., object],
    arguments: Mapping[str, Value],
    call: Callable[[Mapping[str, Value]], Result],
) -> Called:
    """Call a function with the symbols of its memory.

    Parameters
    ----------
    name : of the function, for messages.
    arguments : symbols of its other arguments by name; initial values may ask for them.
    call : calls it with the arguments for memory and step.

    Raises
    ------
    KinematicsError : it does not return what it declares.
    """
    names = declared(function)
    if not names:
        result = call({})
        if isinstance(result, Remembered):
            raise KinematicsError(
                f"{name} returns remember({', '.join(result.values)}) but declares no memory: "
                "write @sa.memory(name=initial value) above it"
            )
        return Called(result)
    initial = {key: _initial(name, key, given, arguments) for key, given in names.items()}
    symmetric = {key for key, value in initial.items() if _is_symmetric(value)}
    step = {STEP: real(STEP)} if STEP in inspect.signature(function).parameters else {}
    while True:
        symbols = {key: _symbols(key, value, key in symmetric) for key, value in initial.items()}
        found = call({**symbols, **step})
        after = _values(name, found, initial)
        turned = {key for key in symmetric if not _is_symmetric(after[key])}
        if not turned:
            break
        symmetric -= turned
    assert isinstance(found, Remembered)
    history: list[Memory] = []
    for key, symbol in symbols.items():
        rows = zip(*map(_entries, (symbol, after[key], initial[key])), strict=True)
        kept: dict[sp.Symbol, Memory] = {}
        for s, end, start in rows:
            kept.setdefault(s, Memory(s, end, start))
        history += kept.values()
    if found.dissipated != 0:
        history.append(Memory(real(DISSIPATED), found.dissipated, total=True))
    return Called(found.result, tuple(history), found.stored)


def _initial(name: str, key: str, given: Initial, arguments: Mapping[str, Value]) -> Value:
    """Return an initial value as a SymPy expression or matrix."""
    if callable(given) and not isinstance(given, sp.Basic | sp.MatrixBase):
        wanted = inspect.signature(given).parameters.values()
        absent = [w.name for w in wanted if w.name not in arguments]
        if absent:
            raise KinematicsError(
                f"{name}: the initial value of {key!r} asks for {absent[0]!r}, which is no "
                f"argument of the law; these are {', '.join(arguments)}",
                asked=absent[0],
                offered=tuple(arguments),
            )
        plain = [arguments[w.name] for w in wanted if w.kind is not w.KEYWORD_ONLY]
        keywords = {w.name: arguments[w.name] for w in wanted if w.kind is w.KEYWORD_ONLY}
        given = given(*plain, **keywords)
    try:
        value = sp.ImmutableMatrix(given) if hasattr(given, "__len__") else sp.sympify(given)
    except (sp.SympifyError, TypeError, ValueError) as error:
        raise KinematicsError(
            f"{name}: the initial value of {key!r} is {given!r}: give a number, a matrix or a "
            "function of arguments of the law",
            asked=key,
        ) from error
    return value


def _symbols(key: str, value: Value, symmetric: bool) -> Value:
    """Return the symbols of a quantity of the shape of a value."""
    if not isinstance(value, sp.MatrixBase):
        return real(key)
    rows, columns = value.shape

    def symbol(i: int, k: int) -> sp.Symbol:
        i, k = (min(i, k), max(i, k)) if symmetric else (i, k)
        return real(f"{key}{i + 1}" if columns == 1 else f"{key}{i + 1}{k + 1}")

    return sp.Matrix(rows, columns, symbol)


def _is_symmetric(value: Value) -> bool:
    """Whether a value is a square matrix of which one triangle tells all."""
    square = isinstance(value, sp.MatrixBase) and value.shape[0] == value.shape[1] > 1
    if not square:
        return False
    n = value.shape[0]
    pairs = ((value[i, k], value[k, i]) for i in range(n) for k in range(i))
    return all(a == b or sp.expand(a - b) == 0 for a, b in pairs)


def _entries(value: Value) -> list[sp.Expr]:
    return list(value) if isinstance(value, sp.MatrixBase) else [value]


def _values(name: str, found: Result, initial: Mapping[str, Value]) -> dict[str, Value]:
    """Return the values at the end of a step, which have the shapes of the initial ones."""
    listed = ", ".join(initial)
    if not isinstance(found, Remembered):
        raise KinematicsError(
            f"{name} remembers {listed}, so it must return remember(..., "
            f"{', '.join(f'{key}=...' for key in initial)}, stored=...)"
        )
    if set(found.values) != set(initial):
        raise KinematicsError(
            f"{name} remembers {listed}; it returned values of {', '.join(found.values) or 'none'}"
        )
    after: dict[str, Value] = {}
    for key, value in initial.items():
        given = found.values[key]
        after[key] = sp.ImmutableMatrix(given) if hasattr(given, "__len__") else sp.sympify(given)
        shapes = [v.shape if isinstance(v, sp.MatrixBase) else () for v in (value, after[key])]
        if shapes[0] != shapes[1]:
            raise KinematicsError(
                f"{name}: {key!r} has the shape {shapes[1]} at the end of a step and {shapes[0]} "
                "at first",
                asked=key,
            )
    return after
