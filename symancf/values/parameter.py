# SPDX-License-Identifier: BSD-3-Clause
"""Named values that may change without recompiling: scalars, functions of time, fields."""

from __future__ import annotations

import functools
import inspect
import math
import re
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar, cast
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
import sympy as sp

from symancf_codegen.functions import short

from ..arrays import Array
from ..errors import OwnAttributes, ParameterError, SymancfError, argument
from .functions import arguments_of
from .spellings import former_arguments, present_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


class Parameter(OwnAttributes):
    """A named scalar: ramp it, share it between bodies and loads, follow it.

    Parameters
    ----------
    name : shown in messages.
    value : its present value; assign to `value` at any time, nothing is recompiled.

    Examples
    --------
    >>> import symancf as sa
    >>> load = sa.Parameter("load", 1.0)
    >>> load.value = 2.0                             # the next solution has it
    """

    def __init__(self, name: str, value: float = 0.0) -> None:
        if not isinstance(name, str):
            raise ParameterError(
                f"Parameter({label(name)}): its name is a text, Parameter('p')",
                asked="name",
                given=name,
            )
        self.name = name
        self.value = value

    @property
    def value(self) -> float:
        """The present value.

        Raises
        ------
        ParameterError : it is set to something else than a number.
        """
        return self._value

    @value.setter
    def value(self, value: Any) -> None:
        try:
            if isinstance(value, str | bytes):
                raise TypeError
            self._value = float(value)
        except (TypeError, ValueError, OverflowError):
            raise ParameterError(
                f"the value of the parameter {self.name!r} is {label(value)}: give a number; what "
                "varies in time or space is given where the parameter is used, as a function of "
                "time or an sa.Field",
                asked=self.name,
                given=value,
            ) from None

    def __repr__(self) -> str:
        return f"Parameter({self.name!r}, {self.value:g})"

    def _refuse(self, *_: object) -> Any:
        raise ParameterError(
            f"the parameter {self.name!r} is no number to calculate with: in functions of time "
            "write its value, lambda t: p.value * t; elsewhere give the parameter itself",
            asked=self.name,
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse
    __truediv__ = __rtruediv__ = __pow__ = __rpow__ = __neg__ = _refuse


class OfStep:
    """A parameter that is no function of time: it belongs to the step or to the problem.

    `is_length`: it is the length of the step while steps of a motion are made.
    """

    changes = False

    def __init__(self, value: Callable[[float], float], *, is_length: bool = False) -> None:
        self.value, self.is_length = value, is_length

    def __call__(self, time: float) -> float:
        """Return the present value."""
        return self.value(time)


class Fixed(dict[str, Any]):
    """What a body was made with: systems that have it would not see another value."""

    def _refuse(self, *_: object, **__: object) -> Any:
        raise ParameterError(
            "the parameters of a body stay what it was made with: give an sa.Parameter, as in "
            "E=sa.Parameter('E', 1e6), and change its value, or make another body",
            asked="parameters",
            given=tuple(self),
        )

    __setitem__ = __delitem__ = __ior__ = _refuse
    update = pop = popitem = setdefault = clear = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


class Field(OwnAttributes):
    """A parameter that varies over a body, as a function of the reference or by values of cells.

    Parameters
    ----------
    function : maps places X (n, 3) to n values; or the values themselves, one for each cell of the
        body in the order of the mesh's cells, to which others may be assigned.
    per : ``"cell"``: one value per cell, that of its centroid; ``"point"``: one per quadrature
        point (of the axis or mid-surface), so that a section that changes within an element
        has its own stiffness and mass there.

    Raises
    ------
    ParameterError : values are no finite numbers, or given for points.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    >>> softer = sa.Field(lambda X: 2.0 - X[:, 0])       # one value per cell, at its middle
    >>> block = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.neo_hooke(), mu=softer, lam=2.0)
    >>> stiffness = sa.Field([1.0])
    >>> stiffness.values = [2.0]                         # the next solution has it
    """

    @former_arguments("Field")
    def __init__(
        self,
        function: Callable[[Array], npt.ArrayLike] | npt.ArrayLike,
        per: Literal["cell", "point"] = "cell",
    ) -> None:
        given: object = present_value("Field", "per", per)
        if not isinstance(given, str) or given not in ("cell", "point"):
            raise ParameterError(
                f"Field(per={given!r}): choose 'cell' or 'point'",
                asked="per",
                given=given,
                possible=("cell", "point"),
            )
        self.per: Literal["cell", "point"] = given  # type: ignore[assignment]
        self.function: Callable[[Array], npt.ArrayLike] = self._nowhere
        self._values: Array | None = None
        if callable(function):
            self.function = function
        elif given == "point":
            raise ParameterError(
                "Field(values, per='point'): values are those of cells; give a function of places",
                asked="per",
                given=given,
                possible=("cell",),
            )
        else:
            self.values = function

    @property
    def values(self) -> Array:
        """The present values (cells,), read-only; assign others of the same number.

        Raises
        ------
        ParameterError : the field is a function; other values are no finite numbers, or more.
        """
        if self._values is None:
            raise ParameterError(
                "a Field of a function of places has no values of its own: give numbers, one for "
                "each cell, Field(np.full(cells, 1e6))",
                asked="values",
                given=self,
            )
        return self._values

    @values.setter
    def values(self, given: npt.ArrayLike) -> None:
        if self._values is None and self.function != self._nowhere:
            raise ParameterError(
                "a Field of a function of places takes no values: make one of numbers, one for "
                "each cell, Field(np.full(cells, 1e6))",
                asked="values",
                given=label(given),
            )
        values = reals(given)
        any_size = reals(given, finite=False)
        if not values.size and any_size.size:
            at = int(np.argmin(np.isfinite(any_size).ravel()))
            raise ParameterError(
                "the values of a Field are finite numbers, one for each cell; number "
                f"{at} is {any_size.ravel()[at]}",
                asked="values",
                given=float(any_size.ravel()[at]),
            )
        known = values.shape if self._values is None else self._values.shape
        if values.ndim != 1 or not len(values) or values.shape != known:
            size = "cells" if self._values is None else f"{len(self._values)}"
            raise ParameterError(
                f"the values of a Field have the shape ({size},), one for each cell; given "
                f"{label(given)} of the shape {values.shape}",
                asked="values",
                given=values.shape,
            )
        values = values.copy()
        values.flags.writeable = False
        self._values = values

    @property
    def of_cells(self) -> bool:
        """Whether it has values of its own."""
        return self._values is not None

    def _nowhere(self, X: Array) -> npt.ArrayLike:
        """Refuse places: cells alone have values."""
        raise ParameterError(
            "a Field of values is known in the cells of its body, not at places beside: give it as "
            "a function of places, or what is asked for (of a contact: stiffness=)",
            asked="Field",
        )

    def __repr__(self) -> str:
        if self._values is not None:
            return f"Field of {len(self._values)} cells"
        return f"Field({label(self.function)}, per={self.per!r})"


class UnitQuantity(Protocol):
    """A number with its unit, such as pint's."""

    @property
    def magnitude(self) -> float:
        """The number."""

    def to_base_units(self) -> UnitQuantity:
        """Return it in base units."""


ALIKE = 1e-8  # relative difference of two quotients that are the rate

Scalar: TypeAlias = "float | Parameter | UnitQuantity | Callable[..., float]"  # of time
Value: TypeAlias = "Scalar | Field"
Vector: TypeAlias = "Sequence[Scalar] | Array | Callable[..., npt.ArrayLike]"
Numbers: TypeAlias = (
    "npt.ArrayLike | Sequence[float | Parameter] | Sequence[Sequence[float | Parameter]]"
)
Result = TypeVar("Result")


def label(value: Any, most: int = 60) -> str:
    """Return a value for messages; functions by their name, without their address."""
    if callable(value) and not isinstance(value, Parameter):
        name = getattr(value, "__name__", type(value).__name__)
        return "a function" if name == "<lambda>" else f"{name}()"
    words = short(value) if isinstance(value, sp.Basic) else repr(value)
    if words == object.__repr__(value):
        words = str(value)
    text = re.sub(r" at 0x[0-9a-f]+", "", " ".join(words.split()))  # as on other ranks
    return text if len(text) <= most else text[: most - 3] + "..."


def call(what: str, function: Callable[..., Result], *arguments: float | Array) -> Result:
    """Call a user's function; say which one it was if it fails.

    Raises
    ------
    ParameterError : the function raised something; `what` tells what it was given for.
    """
    try:
        return function(*arguments)
    except SymancfError:
        raise
    except Exception as error:
        when = f" at time {arguments[-1]:g}" if isinstance(arguments[-1], float) else ""
        raise ParameterError(
            f"{what}: {label(function)} failed{when}: {type(error).__name__}: {error}",
            asked=argument(what),
            given=error,
        ) from error


_ANSWERS: ContextVar[dict[tuple[int, float], Array] | None] = ContextVar("asked", default=None)


@contextmanager
def answers_cached() -> Iterator[None]:
    """Ask functions of time that return several numbers once for each time, not for each number.

    Only inside: what a function depends on may change between two updates at the same time.
    """
    known = _ANSWERS.get()
    before = _ANSWERS.set({} if known is None else known)
    try:
        yield
    finally:
        _ANSWERS.reset(before)


def cached_answer(function: object, time: float, answer: Callable[[], Array]) -> Array:
    """Return `answer()`, what a function gives at a time; made once within `answers_cached`."""
    answers = _ANSWERS.get()
    if answers is None:
        return answer()
    key = id(function), time
    if key not in answers:
        answers[key] = answer()
    return answers[key]


def difference(what: str, value: Scalar) -> Scalar:
    """Return the rate of a function of time by a difference quotient of fourth order.

    That of numbers and Parameters is 0. The quotient is taken over ever shorter times, until two
    agree; where none do to `ALIKE`, those that do best count. So the function may change in a
    millisecond or in a year.
    """
    if isinstance(value, Parameter) or not callable(value):
        return 0.0

    def quotient(time: float, h: float) -> tuple[float, bool]:
        """Return the quotient, and whether it is more than round-off."""
        ahead = 0.0 <= time < 2 * h  # a motion starts at 0: ask for nothing before
        places = (0, 1, 2, 3, 4) if ahead else (-2, -1, 1, 2)
        weights = (-25.0, 48.0, -36.0, 16.0, -3.0) if ahead else (1.0, -8.0, 8.0, -1.0)
        f = [_finite(what, value, time + k * h, time) for k in places]
        derivative = sum(w * y for w, y in zip(weights, f, strict=True)) / (12.0 * h)
        return derivative, max(f) - min(f) > 1e-14 * max(map(abs, f))

    def rate(time: float) -> float:
        h = 1e-4 * max(1.0, abs(time))
        before, resolved = quotient(time, h)
        best, apart = before, math.inf
        while resolved and h > 1e-11 * max(1e-6, abs(time)):
            h /= 10.0
            now, resolved = quotient(time, h)
            off = abs(now - before)
            if off <= ALIKE * abs(now):
                return before
            if off < apart:
                best, apart = before, off
            before = now
        return best

    return rate


def _finite(what: str, function: Callable[[float], Any], at: float, time: float) -> float:
    """Return what a function of time gives at a time; messages say it is for another one.

    A finite float, as nearly all are, is looked at no further.
    """
    given = call(what, function, at)
    if type(given) is float and math.isfinite(given):
        return given
    return evaluate(what, given, time)


def call_array(
    what: str, function: Callable[..., npt.ArrayLike], shape: tuple[int, ...], *of: Array | float
) -> Array:
    """Return what a user's function makes of places, as finite numbers of a given shape.

    `of` are the arguments, places X (n, 3) first; `shape` is that of the result, where a scalar
    or a result for one place stands for all. The function is not called for n = 0.

    Raises
    ------
    ParameterError : the function fails, or its result has another shape or is not finite.
    """
    X = np.asarray(of[0])
    if len(X) == 0:
        return np.zeros(shape)
    own = [a.copy() if isinstance(a, np.ndarray) else a for a in of]  # it may change them
    given = call(what, function, *own)
    try:
        if np.asarray(given).dtype.kind in "USc":
            raise TypeError("texts and complex numbers")
        result = np.array(given, dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise ParameterError(
            f"{what}: {label(function)} must return numbers, not {label(given)}",
            asked=argument(what),
            given=given,
        ) from error
    n = ("n", *map(str, shape[1:]))
    if result.shape not in (shape, shape[1:]):
        per = f"({', '.join(n)}{',' if len(n) == 1 else ''})"
        got = ", ".join("n" if k == len(X) else str(k) for k in result.shape)
        raise ParameterError(
            f"{what}: {label(function)} must map points of shape (n, 3) to numbers of shape "
            f"{per}; it returned shape ({got}{',' if result.ndim == 1 else ''})",
            asked=argument(what),
            given=["n" if k == len(X) else k for k in result.shape],
            possible=(("n", *shape[1:]),),
        )
    result = np.broadcast_to(result, shape)
    bad = ~np.isfinite(result).all(axis=tuple(range(1, result.ndim)))
    if bad.any():
        x = X[int(np.argmax(bad))]
        raise ParameterError(
            f"{what}: {label(function)} is not finite at ({x[0]:g}, {x[1]:g}, {x[2]:g})",
            asked=argument(what),
            given=x,
        )
    return result


def depends_on_time(value: Value | Sequence[Value] | None) -> bool:
    """Tell whether a value, or one of a sequence of values, may change while time goes on."""
    if isinstance(value, list | tuple):
        return any(depends_on_time(part) for part in value)
    changes = getattr(value, "changes", True)  # False: of a number, see `components`
    return bool(changes) and (callable(value) or isinstance(value, Parameter))


def changes_by_itself(value: Value | Sequence[Value] | None) -> bool:
    """Tell whether a value is a function of time, not a number or a `Parameter`."""
    while isinstance(value, OWN):
        value = value.value
    if isinstance(value, list | tuple):
        return any(changes_by_itself(part) for part in value)
    return depends_on_time(value) and not isinstance(value, Parameter)


def parameters_in(value: Any) -> Iterator[Parameter]:
    """Return the `Parameter` objects of what users gave: of each component, in their order.

    Those that a function of the user reads are not known.
    """
    if isinstance(value, Parameter):
        yield value
    elif isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.dtype == "O"):
        for part in value:
            yield from parameters_in(part)
    elif hasattr(value, "value"):  # of what makes a function of time of it
        yield from parameters_in(value.value)


def numbers_now(value: Any) -> Any:
    """Return what users gave with the present value in the place of each `Parameter`."""
    if isinstance(value, Parameter):
        return value.value
    if isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.dtype == "O"):
        return [numbers_now(part) for part in value]
    return value


def has_parameters(value: Any) -> bool:
    """Tell whether there is a `Parameter` in what users gave."""
    return next(parameters_in(value), None) is not None


class Derived:
    """A function of time that follows from a `value` which users gave."""

    def __init__(self, value: Any, function: Callable[[float], float]) -> None:
        self.value, self.function = value, function

    def __call__(self, time: float) -> float:
        """Return what follows at a time."""
        return self.function(time)


class Checked:
    """A value as a function of time that is looked at before it is used.

    `check` maps a time to the number, or raises; `changes` tells whether it is one that changes.
    """

    def __init__(self, value: Value | Sequence[Value], check: Callable[[float], float]) -> None:
        self.value, self.check, self.changes = value, check, depends_on_time(value)

    def __call__(self, time: float) -> float:
        """Return the present value."""
        return self.check(time)


_TIMES = ("t", "time")


def _is_place(function: object, argument: str) -> bool:
    """Tell whether a function's only argument is a place, by its name.

    That of splines and other objects of SciPy is ``x``, too, where they are functions of time.
    """
    while isinstance(function, functools.partial):
        function = function.func
    return argument == "X" or (
        argument == "x" and (inspect.isfunction(function) or inspect.ismethod(function))
    )


def of_place(function: object) -> Callable[..., npt.ArrayLike] | None:
    """Return a user's function of (X, time), or of X alone, as one of both; None if it is neither.

    One argument is the place where its name is ``X``, or ``x`` of a function written in Python;
    else the time.

    Raises
    ------
    ParameterError : the time has a default, or comes first.
    """
    if not callable(function):
        return None
    try:
        arguments = arguments_of(function)
    except (TypeError, ValueError, OverflowError):  # a ufunc, for example
        return None
    required = [a for a in arguments.positional if a not in arguments.defaults]
    if len(required) == 1 and _is_place(function, required[0]):
        times = [name for name in arguments.defaults if name in _TIMES]
        if times and not isinstance(function, functools.partial):
            raise ParameterError(
                f"{label(function)} has a default for {times[0]}: for a function of the place and "
                f"the time leave it out, (X, {times[0]}); of the place alone, take another name",
                asked=times[0],
                given=function,
            )
        return functools.wraps(function)(lambda X, time: function(X))
    if len(required) == 2 and required[0] in _TIMES and required[1] in ("X", "x"):
        raise ParameterError(
            f"{label(function)} takes the time first: write (X, {required[0]})",
            asked=required[0],
            given=tuple(required),
            possible=(("X", required[0]),),
        )
    return function if len(required) == 2 else None


#: Whether functions, those of methods, and other callables are of a place, by themselves.
_OF_PLACE: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()


def _takes_place(value: Callable[..., Any]) -> bool:
    """Tell whether a function is one of a place; those of one definition are looked at once."""
    if isinstance(value, np.ufunc):
        return False
    function = getattr(value, "__func__", value)
    own = inspect.isfunction(function) or hasattr(value, "__signature__")
    if not (own or hasattr(value, "__wrapped__")):
        function = type(value).__call__
    known = function if inspect.isfunction(function) else value
    try:
        answer = _OF_PLACE.get(known)
        if answer is None:
            answer = _OF_PLACE[known] = of_place(value) is not None
    except TypeError:  # it has no hash, or nothing refers to it weakly
        return of_place(value) is not None
    return answer


def evaluate(name: str, value: Value | None, time: float) -> float:
    """Return the number that `value` stands for at `time`.

    `value` is a number, a `Parameter`, a function of time, or a quantity with units
    (anything with ``to_base_units().magnitude``, such as pint's).

    Raises
    ------
    ParameterError : when the result is not a finite number, or the function fails; begins with
        `name`.
    """
    given: object = value
    if isinstance(value, Parameter):
        given = value.value
    elif value is not None and hasattr(value, "to_base_units"):
        given = value.to_base_units().magnitude
    elif callable(value):
        code = getattr(value, "__code__", None)  # looked at first: this is called often
        is_code = code is None or code.co_varnames[:1] in (("X",), ("x",), ("self",))
        if is_code and not isinstance(value, KNOWN) and _takes_place(value):
            raise ParameterError(
                f"{name} is {label(value)} of a place: functions of time are taken here. Where a "
                "whole vector may vary in space, give one function of (X, time), X of shape (n, 3)",
                asked=argument(name),
                given=value,
            )
        given = call(name, value, float(time))
        if type(given) is float and math.isfinite(given):
            return given
    try:
        if isinstance(given, str | bytes | bool | np.bool_):
            raise TypeError("no number")
        number = float(cast("float", given))
    except (TypeError, ValueError, OverflowError) as error:
        origin = "" if given is value else f", which gave {label(given)}"
        raise ParameterError(
            f"{name} is {label(value)}{origin}: give a number, a Parameter, or a function of time "
            "that returns a number",
            asked=argument(name),
            given=given,
        ) from error
    if not math.isfinite(number):
        raise ParameterError(
            f"{name} is {number} at time {time:g}: it must be finite",
            asked=argument(name),
            given=number,
        )
    return number


def evaluate_at(name: str, value: Value | None, times: Sequence[float]) -> Array:
    """Return the numbers that `value` stands for at several times; see `evaluate`."""
    function, plain = value, {float, np.float64, int}
    while isinstance(function, _Component):
        function = function.value
    found = [evaluate(name, value, time) for time in times[:1]]
    if callable(function) and not isinstance(function, Parameter):
        try:
            found += map(function, times[1:])
        except Exception:  # `evaluate` tells of it
            found.clear()
    if len(found) == len(times) and plain.issuperset(map(type, found)):
        numbers = np.array(found, dtype=float)
        if np.isfinite(numbers).all():
            return numbers
    return np.array([evaluate(name, value, time) for time in times])


def components(
    name: str, vector: Any, axes: Sequence[str] = "xyz"
) -> list[Callable[[float], float]]:
    """Return three functions of time, the components of a vector; they name themselves.

    `vector` is a sequence of three numbers, `Parameter` or functions of time, or a function of
    time that returns three numbers; `axes` are the names of the components.
    """
    if callable(vector):

        def component(a: int, axis: str) -> Callable[[float], float]:
            what = f"{name}, {axis}"

            def value(t: float) -> float:
                three = cached_answer(vector, t, lambda: _three(name, vector, t))
                return evaluate(what, float(three[a]), t)

            return value

        return [component(a, axis) for a, axis in enumerate(axes)]
    try:
        parts = list(vector)
    except TypeError as error:
        raise ParameterError(
            f"{name} is {label(vector)}: give three components", asked=argument(name), given=vector
        ) from error
    if len(parts) != 3:
        raise ParameterError(
            f"{name} has {len(parts)} components: give three", asked=argument(name), given=parts
        )
    for part, axis in zip(parts, axes, strict=True):
        if not callable(part) and not isinstance(part, Parameter):
            evaluate(f"{name}, {axis}", part, 0.0)
    return [_Component(f"{name}, {axis}", part) for part, axis in zip(parts, axes, strict=True)]


class _Component:
    """A component of a vector as a function of time; `changes` tells whether it is none."""

    def __init__(self, name: str, value: Scalar) -> None:
        self.name, self.value, self.changes = name, value, depends_on_time(value)

    def __call__(self, time: float) -> float:
        return evaluate(self.name, self.value, time)


OWN = Checked, _Component  # functions of time that look at what they hold themselves
KNOWN = *OWN, OfStep  # that are of no place


def is_number(value: object) -> bool:
    """Tell whether a value is a number, or one that is looked at or a component."""
    while isinstance(value, OWN):
        value = value.value
    return isinstance(value, int | float)


def _three(name: str, function: Callable[[float], npt.ArrayLike], time: float) -> Array:
    given = call(name, function, float(time))
    try:
        result = np.array(given, dtype=float)  # a copy: the function may write into it again
    except (TypeError, ValueError, OverflowError):
        result = np.zeros(0)
    if result.shape != (3,):
        raise ParameterError(
            f"{name}: {label(function)} must return three numbers; it returned {label(given)}",
            asked=argument(name),
            given=given,
        )
    return result


def reals(values: Any, finite: bool = True) -> Array:
    """Return real numbers, finite ones, in an array of its own; (0,) where there is anything else.

    Texts, truth values and complex numbers are none, masked entries neither.
    """
    none = np.zeros(0)
    try:
        array = np.array(values)
        masked = isinstance(values, np.ma.MaskedArray) and bool(np.any(values.mask))
        if array.dtype.kind not in "iufO" or masked:
            return none
        if any(isinstance(x, str | bytes | bool) for x in array.flat if array.dtype.kind == "O"):
            return none
        numbers = array.astype(float)
    except (TypeError, ValueError, OverflowError):
        return none
    return numbers if not finite or np.isfinite(numbers).all() else none


def is_empty(value: Any) -> bool:
    """Tell whether something is a list or an array of nothing."""
    if isinstance(value, np.ndarray):
        return value.size == 0
    return isinstance(value, list | tuple) and not value


def direction(values: Any) -> Array:
    """Return a unit vector along three numbers; (0,) where they are none or all zero."""
    numbers = reals(values)
    if numbers.shape != (3,) or not numbers.any():
        return np.zeros(0)
    numbers = np.ldexp(numbers, -int(np.frexp(np.abs(numbers).max())[1]))  # squares are numbers
    return np.asarray(numbers / np.linalg.norm(numbers))


def unit_vector(what: str, given: Any, kind: type[SymancfError] = ParameterError) -> Array:
    """Return a unit vector along three numbers; `what` begins the message where they are none.

    Raises
    ------
    ParameterError : or an error of another `kind`.
    """
    vector = direction(given)
    if not len(vector):
        raise kind(
            f"{what} is {label(given)}: give a direction, three numbers",
            asked=argument(what),
            given=given,
        )
    return vector


def vector3(what: str, given: npt.ArrayLike) -> Array:
    """Return three finite numbers; `what` begins the message where they are none.

    Raises
    ------
    ParameterError
    """
    values = reals(given)
    if values.shape != (3,):
        raise ParameterError(
            f"{what} is {label(given)}: give three finite numbers",
            asked=argument(what),
            given=given,
        )
    return values


def vector_in_motion(what: str, vector: Numbers) -> Array | tuple[Any, ...]:
    """Return three finite numbers, or a tuple with `Parameter` among these.

    Raises
    ------
    ParameterError : see `vector3`, also of present values.
    """
    values = vector3(what, numbers_now(vector))
    return tuple(cast("Any", vector)) if has_parameters(vector) else values


def matrix3(what: str, given: npt.ArrayLike) -> Array:
    """Return a finite (3, 3) matrix; `what` begins the message where it is none.

    Raises
    ------
    ParameterError
    """
    matrix = reals(given)
    if matrix.shape != (3, 3):
        raise ParameterError(f"{what}; it is {label(given)}", asked="gradient", given=given)
    return matrix
