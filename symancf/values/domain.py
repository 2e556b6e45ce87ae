# SPDX-License-Identifier: BSD-3-Clause
"""Declarations beside an energy: values that a parameter may have, moduli, stress at rest."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from ..arrays import Ints, Mask
from ..errors import ParameterError
from .arguments import among
from .arguments import function as require_function
from .functions import arguments_of
from .parameter import Checked, Field, Parameter, depends_on_time, evaluate, label
from .spellings import advise

Function = TypeVar("Function", bound=Callable[..., Any])


def marked(function: Function, **marks: object) -> Function:
    """Return a function that does the same, with what is declared of it as attributes.

    The function itself stays as it is: it may be declared otherwise elsewhere.
    """

    @functools.wraps(function)
    def law(*arguments: Any, **parameters: Any) -> Any:
        return function(*arguments, **parameters)

    law.__name__ = getattr(function, "__name__", type(function).__name__)
    law.__dict__.update(marks)
    return cast("Function", law)


class Returned:
    """A function that another one has returned; it is pickled as that call.

    Functions within functions cannot be found by their names, as pickle does.
    """

    def __init__(self, function: Callable[..., Any], *call: Any) -> None:
        functools.update_wrapper(self, function)
        self._call = call

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Call the function."""
        return self.__wrapped__(*arguments, **keywords)  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        return f"<function {self.__name__}>"  # type: ignore[attr-defined]

    def __reduce__(self) -> tuple[Any, ...]:
        return functools.partial(self._call[0], **self._call[2]), self._call[1]


def by_call(make: Function) -> Function:
    """Let what a function returns be pickled; the function is found by its name. A decorator."""

    @functools.wraps(make)
    def called(*arguments: Any, **keywords: Any) -> Returned:
        return Returned(make(*arguments, **keywords), called, arguments, keywords)

    if not cast(
        "FunctionType", make
    ).__code__.co_argcount:  # its arguments are choices, with defaults
        MAKERS.add(called)
    return cast("Function", called)


#: Functions of the catalogue, which return a law when they are called.
MAKERS: set[Callable[..., Any]] = set()


def catalogue(
    law: Callable[..., Any], choices: Callable[..., Callable[..., Any]] | None = None
) -> Callable[..., Callable[..., Any]]:
    """Make of a law the function of the catalogue that returns it when called; a decorator.

    Up to 0.2 the law itself had that name: called with its arguments the function warns, and
    returns what the law returns.

    Parameters
    ----------
    choices : keyword-only arguments, None by default, to another law: it is returned where one of
        them is given.
    """
    names = {} if choices is None else inspect.signature(choices).parameters

    @functools.wraps(law)
    def make(*arguments: Any, **keywords: Any) -> Any:
        chosen = {name: x for name, x in keywords.items() if name in names and x is not None}
        if choices is not None and chosen:
            return Returned(choices(*arguments, **keywords), make, (), keywords)
        if arguments or keywords.keys() - names.keys():
            name = f"energies.{law.__name__}"
            advise(f"{name} called with quantities", f"{name}() for the law, {name}()(...)")
            return law(*arguments, **keywords)
        return returned

    returned = Returned(law, make, (), {})
    make.__signature__ = inspect.Signature([*names.values()])  # type: ignore[attr-defined]
    MAKERS.add(make)
    return make


@dataclass(frozen=True)
class Domain:
    """An interval of numbers.

    Attributes
    ----------
    low, high : its ends; infinite where there is none.
    closed : whether they belong to it.
    why : what happens at an end or beyond, for messages.
    """

    low: float = -np.inf
    high: float = np.inf
    closed: tuple[bool, bool] = (False, False)
    why: str = ""

    @property
    def must(self) -> str:
        """What a value must be, in words."""
        if self.low == -np.inf and self.high == np.inf:
            return "be finite"
        if self.high == np.inf and self.low == 0.0:
            return "not be negative" if self.closed[0] else "be positive"
        if self.high == np.inf:
            return f"be {'at least' if self.closed[0] else 'more than'} {self.low:g}"
        if self.low == -np.inf:
            return f"be {'at most' if self.closed[1] else 'less than'} {self.high:g}"
        low, high = (" included" if closed else "" for closed in self.closed)
        return f"be between {self.low:g}{low} and {self.high:g}{high}"

    def inside(self, values: npt.ArrayLike) -> Mask:
        """Return which values lie in it."""
        x = np.asarray(values, dtype=float)
        above = x >= self.low if self.closed[0] else x > self.low
        below = x <= self.high if self.closed[1] else x < self.high
        return np.asarray(above & below)

    def holds(self, values: npt.ArrayLike) -> bool:
        """Whether all values lie in it."""
        return bool(self.inside(values).all())

    def require(
        self,
        name: str,
        what: str,
        values: npt.ArrayLike,
        when: str = "",
        cells: Sequence[int] | Ints | None = None,
    ) -> None:
        """Raise where a value lies outside.

        Parameters
        ----------
        cells : (n,) numbers of the cells that have the values; None: they are not of cells.

        Raises
        ------
        ParameterError : says what it is, in which cell, what it must be and why.
        """
        if self.holds(values):
            return
        at = int(np.ravel(self.inside(values)).argmin())
        wrong = float(np.ravel(np.asarray(values, dtype=float))[at])
        place = f" at place {at}" if np.ndim(values) else when
        when = place if cells is None else f" in cell {cells[at]}"
        why = f" ({self.why})" if self.why else ""
        raise ParameterError(
            f"{what} is {wrong:.12g}{when}: it must {self.must}{why}", asked=name, given=wrong
        )


class NotZero(Domain):
    """All numbers but 0."""

    must = "not be 0"

    def inside(self, values: npt.ArrayLike) -> Mask:
        """Return which values are not 0."""
        return np.asarray(np.asarray(values, dtype=float) != 0.0)


def positive(why: str = "") -> Domain:
    """Return the numbers > 0.

    Examples
    --------
    >>> import symancf as sa
    >>> @sa.energies.domains(k=sa.energies.positive("a modulus"))
    ... def law(J, *, k):
    ...     return k / 2 * (J - 1) ** 2
    """
    return Domain(0.0, why=why)


def not_negative(why: str = "") -> Domain:
    """Return the numbers >= 0.

    Examples
    --------
    >>> import symancf as sa
    >>> @sa.energies.domains(k=sa.energies.not_negative())
    ... def law(J, *, k):
    ...     return k / 2 * (J - 1) ** 2
    """
    return Domain(0.0, closed=(True, False), why=why)


def between(low: float, high: float, why: str = "") -> Domain:
    """Return the numbers between two others, which do not belong to it.

    Examples
    --------
    >>> import symancf as sa
    >>> @sa.energies.domains(nu=sa.energies.between(-1.0, 0.5))
    ... def law(J, *, nu):
    ...     return (J - 1) ** 2 / (1 - 2 * nu)
    """
    return Domain(low, high, why=why)


def domains(**values: Domain) -> Callable[[Function], Function]:
    """Declare the values that the parameters of an energy may have; a decorator.

    Examples
    --------
    >>> @domains(E=positive(), nu=between(-1, 0.5))
    ... def energy(E_gl, *, E, nu): ...
    """

    def declare(energy: Function) -> Function:
        return marked(energy, domains={**domains_of(energy), **values})

    return declare


def domains_of(energy: Function) -> Mapping[str, Domain]:
    """Return the domains that an energy declares."""
    declared_domains: Mapping[str, Domain] = getattr(energy, "domains", {})
    return declared_domains


def combinations_of(energy: object) -> Mapping[str, tuple[Callable[..., Any], Domain]]:
    """Return what an energy declares of several parameters: a function of them, its domain."""
    declared: Mapping[str, tuple[Callable[..., Any], Domain]] = getattr(energy, "combinations", {})
    return declared


def combinations(
    values: Mapping[str, tuple[Callable[..., Any], Domain]],
) -> Callable[[Function], Function]:
    """Declare the values that functions of several parameters may have; a decorator.

    Examples
    --------
    >>> @combinations({"C10 + C01": (lambda C10, C01: C10 + C01, positive())})
    ... def energy(J, I1, I2, *, C10, C01): ...
    """

    def declare(energy: Function) -> Function:
        return marked(energy, combinations={**combinations_of(energy), **values})

    return declare


def domains_as(law: Callable[..., Any]) -> Callable[[Function], Function]:
    """Declare the domains of a law, and those of several parameters, of another; a decorator."""

    def declare(energy: Function) -> Function:
        return combinations(combinations_of(law))(domains(**domains_of(law))(energy))

    return declare


def require_domains(
    law: Callable[..., Any],
    of: str,
    values: Mapping[str, Any],
    when: str = "",
    cells: Sequence[int] | Ints | None = None,
) -> None:
    """Raise where parameters of a law leave their domain, by themselves or several together.

    Parameters
    ----------
    of : whose parameters they are, for messages.
    values : numbers, or arrays (n,) of the cells; names that are not among them are left out.

    Raises
    ------
    ParameterError : names parameter, value and cell, what it must be and why.
    """
    for key, domain in domains_of(law).items():
        if key in values:
            of_cells = cells if np.ndim(values[key]) else None
            domain.require(key, f"{key} of {of}", values[key], when, of_cells)
    require_combinations(law, of, values, when, cells)


def require_combinations(
    law: Callable[..., Any],
    of: str,
    values: Mapping[str, Any],
    when: str = "",
    cells: Sequence[int] | Ints | None = None,
) -> None:
    """Raise where what several parameters of a law make leaves its domain; see `require_domains`.

    Raises
    ------
    ParameterError : names it, the parameters and the cell, what it must be and why.
    """
    for what, (function, domain) in combinations_of(law).items():
        names = arguments_of(function).positional
        if {*names} <= {*values}:
            x = np.broadcast_arrays(*(np.asarray(values[n], dtype=float) for n in names))
            with np.errstate(all="ignore"):
                value = np.asarray(function(*(column[()] for column in x)))
            if domain.holds(value):
                continue
            at = int(np.ravel(domain.inside(value)).argmin())
            numbers = zip(names, (float(np.ravel(column)[at]) for column in x), strict=True)
            given = ", ".join(f"{n} = {number:g}" for n, number in numbers)
            of_cells = cells if value.ndim else None
            domain.require(what, f"{what} of {of}, of {given},", value, when, of_cells)


def checked(what: str, key: str, value: Any, domain: Domain | None) -> Any:
    """Return a number, `Parameter` or function of time that watches its domain, at once if it can.

    Raises
    ------
    ParameterError : it is outside; of one that changes, when it is used.
    """
    if domain is None:
        return value

    def at(time: float) -> float:
        number = evaluate(what, value, time)
        domain.require(key, what, number, f" at time {time:g}")
        return number

    if not depends_on_time(value) and not isinstance(value, Parameter):
        at(0.0)
        return value
    return Checked(value, at)


def within_domains(law: Callable[..., Any], of: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values of parameters of a law that watch its domains, numbers at once.

    Parameters
    ----------
    of : whose parameters they are, for messages.
    values : numbers, `Parameter` and functions of time, which are looked at whenever they are used;
        arrays of one number for each place; a `Field` stays as it is.

    Raises
    ------
    ParameterError : see `require_domains`; of values that change, when they are used.
    """
    functions = (f for f, _ in combinations_of(law).values())
    names = {*domains_of(law)}.union(*(arguments_of(f).positional for f in functions))
    own = {k: v for k, v in values.items() if k in names and not isinstance(v, Field)}
    arrays = {k: v for k, v in own.items() if isinstance(v, np.ndarray)}
    changing = {k for k, v in own.items() if isinstance(v, Parameter) or depends_on_time(v)}

    def at(time: float, name: str = "") -> float:
        asked = {*own} - {*arrays} if name else {*own} - {*arrays} - changing
        numbers = {k: evaluate(f"{k} of {of}", own[k], time) for k in sorted(asked)}
        require_domains(law, of, {**arrays, **numbers}, f" at time {time:g}" if name else "")
        return numbers.get(name, 0.0)

    at(0.0)
    watching = {k: Checked(own[k], functools.partial(at, name=k)) for k in changing}
    return {**values, **watching}


def stressed_at_rest(energy: Function) -> Function:
    """Declare that an energy is intended to have a stress in the reference; a decorator.

    Without it a body with such an energy is warned of; see `rest`.

    Examples
    --------
    >>> import symancf as sa
    >>> @sa.energies.stressed_at_rest
    ... def law(epsilon_green, *, EA, T):
    ...     return EA / 2 * epsilon_green**2 + T * epsilon_green
    """
    return marked(energy, stressed_at_rest=True)


@dataclass(frozen=True)
class Declaration:
    """What a law declares of its moduli at small strain.

    Attributes
    ----------
    symmetry : ``"isotropic"``, ``"orthotropic"`` (about its axes 1, 2, 3), or None.
    moduli : name of a modulus -> function of parameters, as `moduli` has them.
    """

    symmetry: str | None = None
    moduli: Mapping[str, Callable[..., Any]] = field(default_factory=dict)

    def of(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the moduli for values of parameters, numbers or symbols."""
        return {
            name: f(*(values[p] for p in arguments_of(f).positional))
            for name, f in self.moduli.items()
        }


#: Symmetries that a law may declare.
SYMMETRIES = ("isotropic", "orthotropic")


def moduli(
    symmetry: str | None = None, /, **values: Callable[..., Any]
) -> Callable[[Function], Function]:
    """Declare the moduli of a solid law at small strain, which `symancf.check` compares.

    Parameters
    ----------
    symmetry : ``"isotropic"``, or ``"orthotropic"`` about the axes 1, 2, 3; None: nothing is
        declared.
    values : name of a modulus -> function of parameters of the law: ``mu``, ``k`` (shear and bulk
        modulus), ``lam``, ``E``, ``nu``; ``E1`` ... ``nu12`` ... ``G12`` ... of an orthotropic law;
        ``C11`` ... ``C66`` of its stiffness in Voigt's order 11, 22, 33, 23, 13, 12 [Pa].

    Raises
    ------
    ParameterError : an unknown symmetry, or what is no function.

    Examples
    --------
    >>> import symancf as sa
    >>> @sa.energies.moduli("isotropic", mu=lambda mu: mu, k=lambda k: k)
    ... def law(J, I1, *, mu, k):
    ...     return mu / 2 * (J ** (-2 / 3) * I1 - 3) + k / 2 * (J - 1) ** 2
    >>> sa.check(law)["moduli at small strain"].holds
    True
    """
    if symmetry is not None and not among(symmetry, SYMMETRIES):
        raise ParameterError(
            f"moduli({label(symmetry)}): the symmetry is one of {', '.join(SYMMETRIES)}",
            asked="symmetry",
            given=symmetry,
            possible=SYMMETRIES,
        )
    for name, value in values.items():
        require_function(f"moduli({name}=)", value)

    def declare(energy: Function) -> Function:
        return marked(energy, moduli=Declaration(symmetry, values))

    return declare


def declared_moduli(energy: Any) -> Declaration:
    """Return what a law declares of its moduli; of constants that follow from moduli their law."""
    declaration = getattr(energy, "moduli", None)
    return declaration if isinstance(declaration, Declaration) else Declaration()
