# SPDX-License-Identifier: BSD-3-Clause
"""Internal variables of history-dependent materials, at each point.

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

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import sympy as sp

from symancf_codegen.declare import HistoryVariable, Local

from ..errors import KinematicsError
from ..values.domain import marked
from ..values.functions import arguments_of
from ..values.reader import as_expression, require_shape
from .local import LocalEquations, declared_local, equations_of, residuals_of
from .quantity import Value, real
from .symbols import declaring, entries, is_symmetric, symbol_value, symbols_of

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
    jumps). It returns `remember`. On cells each quadrature point has its memory, at
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
        the audit and `System.energies` count it. Of a law with named parts that not all remember,
        a dict of those that do, ``{"strain": W}``: the others may be at other points.
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
    declaration: object = getattr(function, "memory", None)
    return declaration if isinstance(declaration, Mapping) else {}


def own_arguments(function: Callable[..., object]) -> frozenset[str]:
    """Return the keyword-only arguments that are no parameters.

    Memory and the step's length, and unknowns of its own.
    """
    names, local = declared(function), declared_local(function)
    own = () if local is None else tuple(local.start)
    return frozenset((*names, STEP, *own)) if names else frozenset(own)


def require_plain(what: str, function: Callable[..., object], why: str, memory: bool) -> None:
    """Check that a function has no unknowns of its own, and unless it may, no `memory`.

    Parameters
    ----------
    why : what is possible instead, in words.

    Raises
    ------
    KinematicsError
    """
    local = declared_local(function)
    own = (*(() if memory else declared(function)), *(local.start if local else ()))
    if own:
        raise KinematicsError(
            f"{what} remembers or solves for {', '.join(own)}: {why}", asked=own[0], given=own
        )


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
    history: tuple[HistoryVariable, ...] = ()
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
    if not own_arguments(function):
        result = call({})
        if not isinstance(result, Remembered | LocalEquations):
            return Called(result)
    initial, start = _first_values(name, function, arguments)
    step = {STEP: real(STEP)} if initial and STEP in arguments_of(function).names else {}
    first = {**initial, **start}
    symmetric = {key for key, value in first.items() if is_symmetric(value)}
    while True:
        symbols = {key: symbols_of(key, value, key in symmetric) for key, value in first.items()}
        returned, after = _values(name, call({**step, **symbols}), initial)
        results = {**after, **residuals_of(returned.result)}
        turned = {key for key in symmetric & results.keys() if not is_symmetric(results[key])}
        if not turned:
            break
        symmetric -= turned
    own, unknowns = {key: symbols[key] for key in start}, declared_local(function)
    shared = unknowns is not None and unknowns.per == "cell"
    result, local = equations_of(name, returned.result, own, start, shared)
    history = _history(symbols, after, initial, returned.dissipated)
    return Called(result, history, returned.stored, local, shared, {**after, **own})


def _first_values(
    name: str, function: Callable[..., object], arguments: Mapping[str, Value]
) -> tuple[dict[str, Value], dict[str, Value]]:
    """Return what memory holds before the first step, and where unknowns begin, maybe there."""
    names, unknowns = declared(function), declared_local(function)
    own = {} if unknowns is None else unknowns.start
    for key in (STEP, DISSIPATED):
        if names and (key in own or (key == DISSIPATED and key in arguments)):
            raise KinematicsError(
                f"{name}: {key!r} has another meaning in laws with memory: choose another name",
                asked=key,
                given=[*arguments, *own],
            )
    initial = {key: symbol_value(name, key, x, arguments) for key, x in names.items()}
    if unknowns is None:
        return initial, {}
    scalars = {key: real(key) for key, x in initial.items() if not isinstance(x, sp.MatrixBase)}
    symbols_by_name = {**arguments, **scalars}
    start = {key: symbol_value(name, key, x, symbols_by_name) for key, x in unknowns.start.items()}
    for key in start.keys() & initial.keys():
        raise KinematicsError(
            f"{name} has the unknown {key!r}, which it remembers, too: give them two names, "
            f"local(x=lambda {key}: {key}) and remember(..., {key}=x)",
            asked="memory",
            given=key,
        )
    return initial, start


def _history(
    symbols: Mapping[str, Value],
    after: Mapping[str, Value],
    initial: Mapping[str, Value],
    dissipated: object,
) -> tuple[HistoryVariable, ...]:
    """Return what a point remembers: entries of matrices, each once, and what it dissipates."""
    variables: dict[sp.Symbol, HistoryVariable] = {}
    for key, value in after.items():
        for row in zip(*map(entries, (symbols[key], value, initial[key])), strict=True):
            variables.setdefault(row[0], HistoryVariable(*row))
    total = () if dissipated == 0 else (HistoryVariable(real(DISSIPATED), dissipated, total=True),)
    return (*variables.values(), *total)


def _values(
    name: str, result: Result, initial: Mapping[str, Value]
) -> tuple[Remembered, dict[str, Value]]:
    """Return what was returned, and the values at the end of a step in the initial shapes."""
    listed = ", ".join(initial)
    if not initial:
        if isinstance(result, Remembered):
            raise KinematicsError(
                f"{name} returns remember({', '.join(result.values)}) but declares no memory: "
                "write @sa.memory(name=initial value) above it"
            )
        return Remembered(result, {}, None, 0), {}
    if not isinstance(result, Remembered):
        raise KinematicsError(
            f"{name} remembers {listed}, so it must return remember(..., "
            f"{', '.join(f'{key}=...' for key in initial)}, stored=...)",
            asked="remember",
            given=type(result).__name__,
            possible=initial,
        )
    if result.stored is None:
        raise KinematicsError(
            f"{name}: remember(..., stored=None): give the energy in the state at the end of a "
            "step",
            asked="stored",
        )
    if set(result.values) != set(initial):
        raise KinematicsError(
            f"{name} remembers {listed}; it returned values of "
            f"{', '.join(result.values) or 'none'}",
            asked="remember",
            given=tuple(result.values),
            possible=initial,
        )
    after: dict[str, Value] = {}
    for key, value in initial.items():
        what = f"{name}: {key!r} at the end of a step"
        after[key] = as_expression(what, key, result.values[key])
        require_shape(what, key, after[key], value)
    return result, after
