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
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import sympy as sp

from symancf_codegen.declare import Local, Memory

from ..errors import KinematicsError
from ..values.domain import marked
from .local import declared_local, equations_of, first_values, given_equations
from .quantity import Value, real
from .symbols import as_expression, declaring, entries, given_value, is_symmetric, symbols_of

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
                given=initial[name],
            )

    def declare(function: Function) -> Function:
        declaring(function, initial, "remembers")
        return marked(function, memory={**declared(function), **initial})

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

    Examples
    --------
    >>> import symancf as sa
    >>> @sa.memory(largest=0)
    ... def fading(epsilon_green, *, largest, EA):
    ...     from sympy import Max
    ...     # what it remembers changes no force here: the largest strain so far
    ...     W = EA / 2 * epsilon_green**2
    ...     return sa.remember(W, largest=Max(largest, epsilon_green), stored=W)
    """
    return Remembered(result, values, stored, dissipated)


def declared(function: Callable[..., object]) -> Mapping[str, Initial]:
    """Return the initial values of what a function remembers."""
    found: object = getattr(function, "memory", None)
    return found if isinstance(found, Mapping) else {}


def own_arguments(function: Callable[..., object]) -> frozenset[str]:
    """Return the keyword-only arguments that are no parameters.

    Memory and the step's length, and unknowns of its own.
    """
    names, local = declared(function), declared_local(function)
    own = () if local is None else tuple(local.start)
    return frozenset((*names, STEP, *own)) if names else frozenset(own)


class Called(NamedTuple):
    """A function called with symbols.

    Attributes
    ----------
    result : of the law without its memory.
    history : what a point remembers, not yet looked at.
    stored : energy in the state; None: the function has no memory.
    local : unknowns of its own, not yet looked at.
    shared : whether they are those of a cell.
    values : what is remembered at the end of a step, and unknowns, in the function's shapes.
    """

    result: Result
    history: tuple[Memory, ...] = ()
    stored: object = None
    local: tuple[Local, ...] = ()
    shared: bool = False
    values: Mapping[str, Value] = MappingProxyType({})

    @property
    def symbols(self) -> set[sp.Symbol]:
        """The symbols of memory, of the step's length and of unknowns of its own."""
        remembered = {*(m.symbol for m in self.history if not m.total), real(STEP)}
        return (remembered if self.history else set()) | {x.symbol for x in self.local}


def call_own(
    name: str,
    function: Callable[..., object],
    arguments: Mapping[str, Value],
    call: Callable[[Mapping[str, Value]], Result],
) -> Called:
    """Call a function with the symbols of its memory and of its own unknowns.

    Parameters
    ----------
    name : of the function, for messages.
    arguments : symbols of its other arguments by name; first values may ask for them.
    call : calls it with the arguments for memory, step and unknowns.

    Raises
    ------
    KinematicsError : it does not return what it declares.
    """
    declared_unknowns = declared_local(function)
    shared = declared_unknowns is not None and declared_unknowns.at == "cell"
    start = first_values(name, function, {**arguments, **_remembered(name, function, arguments)})
    for key in start.keys() & declared(function).keys():
        raise KinematicsError(
            f"{name} has the unknown {key!r}, which it remembers, too: give them two names, "
            f"local(x=lambda {key}: {key}) and remember(..., {key}=x)",
            asked="memory",
            given=key,
        )
    symmetric = {key for key, value in start.items() if is_symmetric(value)}
    while True:
        own = {key: symbols_of(key, value, key in symmetric) for key, value in start.items()}
        called = _call(name, function, arguments, call, own)
        given = given_equations(called.result)
        turned = {key for key in symmetric & given.keys() if not is_symmetric(given[key])}
        if not turned:
            break
        symmetric -= turned
    result, local = equations_of(name, called.result, own, start, shared)
    values = {**called.values, **own}
    return called._replace(result=result, local=local, shared=shared, values=values)


def _remembered(
    name: str, function: Callable[..., object], arguments: Mapping[str, Value]
) -> dict[str, Value]:
    """Return symbols of the scalars that a function remembers: unknowns may begin there."""
    found = {key: given_value(name, key, x, arguments) for key, x in declared(function).items()}
    return {key: real(key) for key, value in found.items() if not isinstance(value, sp.MatrixBase)}


def _call(
    name: str,
    function: Callable[..., object],
    arguments: Mapping[str, Value],
    call: Callable[[Mapping[str, Value]], Result],
    own: Mapping[str, Value],
) -> Called:
    """Call a function with the symbols of its memory, and those of its own unknowns."""
    names = declared(function)
    if not names:
        result = call(own)
        if isinstance(result, Remembered):
            raise KinematicsError(
                f"{name} returns remember({', '.join(result.values)}) but declares no memory: "
                "write @sa.memory(name=initial value) above it"
            )
        return Called(result)
    initial = {key: given_value(name, key, given, arguments) for key, given in names.items()}
    symmetric = {key for key, value in initial.items() if is_symmetric(value)}
    step = {STEP: real(STEP)} if STEP in inspect.signature(function).parameters else {}
    while True:
        symbols = {key: symbols_of(key, value, key in symmetric) for key, value in initial.items()}
        found, after = _values(name, call({**symbols, **step, **own}), initial)
        turned = {key for key in symmetric if not is_symmetric(after[key])}
        if not turned:
            break
        symmetric -= turned
    history: list[Memory] = []
    for key, symbol in symbols.items():
        kept: dict[sp.Symbol, Memory] = {}
        for row in zip(*map(entries, (symbol, after[key], initial[key])), strict=True):
            kept.setdefault(row[0], Memory(*row))
        history += kept.values()
    if found.dissipated != 0:
        history.append(Memory(real(DISSIPATED), found.dissipated, total=True))
    return Called(found.result, tuple(history), found.stored, values=after)


def _values(
    name: str, found: Result, initial: Mapping[str, Value]
) -> tuple[Remembered, dict[str, Value]]:
    """Return what was returned, and the values at the end of a step in the initial shapes."""
    listed = ", ".join(initial)
    if not isinstance(found, Remembered):
        raise KinematicsError(
            f"{name} remembers {listed}, so it must return remember(..., "
            f"{', '.join(f'{key}=...' for key in initial)}, stored=...)",
            asked="remember",
            given=type(found).__name__,
            possible=initial,
        )
    if found.stored is None:
        raise KinematicsError(
            f"{name}: remember(..., stored=None): give the energy in the state at the end of a "
            "step",
            asked="stored",
        )
    if set(found.values) != set(initial):
        raise KinematicsError(
            f"{name} remembers {listed}; it returned values of {', '.join(found.values) or 'none'}",
            asked="remember",
            given=tuple(found.values),
            possible=initial,
        )
    after: dict[str, Value] = {}
    for key, value in initial.items():
        given = found.values[key]
        after[key] = as_expression(f"{name}: {key!r} at the end of a step", key, given)
        shapes = [v.shape if isinstance(v, sp.MatrixBase) else () for v in (value, after[key])]
        if shapes[0] != shapes[1]:
            raise KinematicsError(
                f"{name}: {key!r} has the shape {shapes[1]} at the end of a step and {shapes[0]} "
                "at first",
                asked=key,
                given=shapes[1],
                possible=(shapes[0],),
            )
    return found, after
