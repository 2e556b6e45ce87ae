# SPDX-License-Identifier: BSD-3-Clause
"""What a user's function of places asks for: quantities by end, parameters and the time.

The name of a positional argument is a quantity with the end as suffix, ``r_a`` or ``e1_b``;
keyword-only arguments are parameters. Each quantity is a *jet* of the end, a vector linear in
the coordinates: its present value, its change, its reference value, or its rate.
"""

from __future__ import annotations

import inspect
import re
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar, cast

import numpy as np
import sympy as sp

from symancf_codegen import declare

from ..arrays import Array
from ..errors import ConstraintError, ParameterError, SymancfError, in_words
from ..places.ends import End, Ground, Nodes, PointsOnBody, require_place
from ..places.facets import FacetPoints
from ..places.lines import Line
from ..runtime.collective import together
from ..values.parameter import label

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

    import numpy.typing as npt

    from ..assembly.configuration import Configuration
    from ..assembly.piece import Jets
    from ..values.parameter import Scalar
    from .entities import Entities

# what laws at places are written in: vectors of quantities, symbols, and expressions of them
V: TypeAlias = sp.MatrixBase
S: TypeAlias = sp.Symbol
E: TypeAlias = sp.Expr
Law: TypeAlias = "Callable[..., E | Sequence[E] | Mapping[E, E]]"
Given: TypeAlias = "Scalar | Array | Sequence[float]"  # of a parameter: one, or one for each place
At: TypeAlias = "dict[str, Array | float]"  # values at places by the names of symbols
Asking = TypeVar("Asking", bound="Law")
JetOfEnd = tuple[int, str]
Of = Literal["present", "change", "reference", "rate"]


@dataclass(frozen=True)
class Quantity:
    """A vector that a function may ask for: what it is of which jet."""

    jet: str
    of: Of
    meaning: str


QUANTITIES = {
    "r": Quantity("value", "present", "position"),
    "u": Quantity("value", "change", "displacement"),
    "X": Quantity("value", "reference", "reference position"),
    "d": Quantity("director", "present", "director of a full-gradient plate"),
    "e1": Quantity("axis0", "present", "first axis"),
    "e2": Quantity("axis1", "present", "second axis"),
    "e3": Quantity("axis2", "present", "third axis"),
    "E1": Quantity("axis0", "reference", "first axis of the reference"),
    "E2": Quantity("axis1", "reference", "second axis of the reference"),
    "E3": Quantity("axis2", "reference", "third axis of the reference"),
    "rs": Quantity("line", "present", "derivative of r by the reference's length along a line"),
    "theta": Quantity("angle", "present", "angle of a planar body"),
    "phi": Quantity("angle", "change", "angle by which a planar body has turned"),
    "factor": Quantity("factor", "change", "load factor"),
}
SCALARS = ("angle", "factor")  # jets of one component
# for ties: derivatives of u along the slope directions of the nodes a, at a and at b
DERIVATIVES = {f"g{k + 1}": Quantity(f"along{k}", "change", "derivative of u") for k in range(3)}
DERIVATIVES |= {  # for clamps
    f"s{k + 1}": Quantity(f"along{k}", "present", "slope") for k in range(2)
}
RATES = {
    "v": Quantity("value", "rate", "velocity"),
    "wd": Quantity("director", "rate", "rate of the director"),
    "w1": Quantity("axis0", "rate", "rate of the first axis"),
    "w2": Quantity("axis1", "rate", "rate of the second axis"),
    "w3": Quantity("axis2", "rate", "rate of the third axis"),
    "omega": Quantity("angle", "rate", "angular velocity of a planar body"),
    "dfactor": Quantity("factor", "rate", "rate of a load factor"),
}
_PARTS = {"value": "", "director": "_d", "angle": "_t", "planar": "_q", "arm": "_s", "line": "_l"}
_PARTS["factor"] = "_f"
_PARTS |= {f"along{k}": f"_g{k + 1}" for k in range(3)} | {
    f"axis{k}": f"_e{k + 1}" for k in range(3)
}
RESERVED = re.compile(
    r"scale|weight|t|(lam|phi|force)\d+|(u|X|v)(_[dtqslf]|_[eg]\d)?_[abc][123]|(state|rate)_.*"
)
TIME = sp.Symbol("t", real=True)
WEIGHT = sp.Symbol("weight", positive=True)


def symbols_of(jet: JetOfEnd, of: Literal["change", "reference", "rate"]) -> list[sp.Symbol]:
    """Return the three symbols of a jet's change, its reference value or its rate."""
    return list(_symbols(jet, of))


@cache
def _symbols(jet: JetOfEnd, of: Literal["change", "reference", "rate"]) -> tuple[sp.Symbol, ...]:
    letter = {"change": "u", "reference": "X", "rate": "v"}[of]
    name = f"{letter}{_PARTS[jet[1]]}_{'abc'[jet[0]]}"
    return tuple(sp.Symbol(f"{name}{a}", real=True) for a in (1, 2, 3))


@cache
def _components(jet: JetOfEnd, of: Of) -> sp.ImmutableMatrix:
    """Return what a quantity is of a jet, in symbols."""
    if of == "present":
        return _components(jet, "reference") + _components(jet, "change")
    return sp.ImmutableMatrix(_symbols(jet, of))


@cache
def _references(ends: int) -> tuple[sp.Symbol, ...]:
    jets = [(k, jet) for k in range(ends) for jet in _PARTS]
    return tuple(s for jet in jets for s in symbols_of(jet, "reference"))


def whole_numbers(frame: Array) -> tuple[tuple[int, int, int], ...]:
    """Return axis, component and value where a frame has -1, 0 or 1, but for round-off."""
    rounded = np.round(frame)
    rows, columns = np.nonzero((np.abs(frame - rounded) < 1e-14).T)
    return tuple((int(k), int(a), int(rounded[a, k])) for k, a in zip(rows, columns, strict=True))


def kind_of_end(end: End) -> Hashable:
    """Return what a law knows of an end: ends of one kind have the same law."""
    if end.curved or isinstance(end, Ground):
        return type(end), whole_numbers(np.asarray(end.reference_frame))
    return type(end)


def check_ends(what: str, ends: Sequence[End]) -> list[End]:
    """Return one to three ends.

    Raises
    ------
    ConstraintError : there are others, or one of them is no end.
    """
    if not 1 <= len(ends) <= 3:
        raise ConstraintError(f"{what} has {len(ends)} ends: give 1 to 3")
    for end in ends:
        require_place(what, end)
    return list(ends)


def asking(
    function: Asking, names: Iterable[str], keywords: Iterable[inspect.Parameter] | None = None
) -> Asking:
    """Let a function of any number of arguments ask for quantities of these names, and return it.

    `keywords` are its parameters; default: those that it names.
    """
    if keywords is None:
        own = inspect.signature(function).parameters.values()
        keywords = [p for p in own if p.kind is inspect.Parameter.KEYWORD_ONLY]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    asked = [inspect.Parameter(name, kind) for name in names]
    function.__signature__ = inspect.Signature([*asked, *keywords])  # type: ignore[attr-defined]
    return function


def _on_all_ranks(ends: Sequence[End]) -> AbstractContextManager[None]:
    """Return `together` of the ranks that hold the ends, as far as one of them has a mesh."""
    bodies = (getattr(end, "body", None) for end in ends)
    regions = (getattr(body, "region", None) for body in bodies)
    comm = next((region.mesh.comm for region in regions if region is not None), None)
    return nullcontext() if comm is None else together(comm)


class Reading:
    """A user's function called with symbols.

    Parameters
    ----------
    what : what the function is for, as messages begin: ``"constraint 'spherical'"``.
    function : asks for quantities of the ends, ``t``, states and (keyword-only) parameters.
    ends : one to three.
    parameters : values given for the keyword-only arguments.
    rates : whether velocities may be asked for.
    states : names of scalars of the term's own that it may ask for.
    vector : makes the argument of three components.

    Attributes
    ----------
    edges : number of the end whose places are points of edges; each stands for a length of the
        reference, and the term is the integral over it. None: places count one each.
    jets, rates : (end, jet) of the jets and of the rates that are asked for.
    states : symbols of the term's own scalars, by name.
    keywords : symbols of the parameters.
    parameters : their values, defaults filled in, but those of
    per_place : arrays of one value for each place.
    result : what the function returned.

    Raises
    ------
    ConstraintError : an unknown quantity, an unknown, missing or reserved parameter, or the
        function fails on the symbols.
    """

    def __init__(
        self,
        what: str,
        function: Law,
        ends: Sequence[End],
        parameters: Mapping[str, Given],
        *,
        rates: bool = False,
        states: Sequence[str] = (),
        vector: type[V] = sp.Matrix,
    ) -> None:
        self.what, self.function, self.ends = what, function, ends
        edges = (k for k, end in enumerate(ends) if isinstance(end, FacetPoints))
        self.edges = next(edges, None)
        self.vector = vector
        self.jets: list[JetOfEnd] = []
        self.rates: list[JetOfEnd] = []
        self.states = {s: sp.Symbol(f"state_{s}", real=True) for s in states}
        self.uses_time = False
        self.offered = QUANTITIES | DERIVATIVES | (RATES if rates else {})
        self.keywords: dict[str, sp.Symbol] = {}
        arguments: list[V | S] = []
        signature = inspect.signature(function).parameters
        self._arguments = list(signature)
        for argument in signature.values():
            if argument.kind is inspect.Parameter.KEYWORD_ONLY:
                self.keywords[argument.name] = sp.Symbol(argument.name, real=True)
            elif argument.name == "t":
                self.uses_time = True
                arguments.append(TIME)
            elif argument.name in self.states:
                arguments.append(self.states[argument.name])
            else:
                arguments.append(self._argument(argument.name))
        for number, jet in [*self.jets, *self.rates]:
            require_offered(what, ends[number], jet)
        values = self._values(parameters, signature)
        self.per_place = {
            k: _numbers(f"{what}, {k}", v)
            for k, v in values.items()
            if isinstance(v, list | tuple) or (isinstance(v, np.ndarray) and v.ndim)
        }
        self.parameters = {
            k: cast("Scalar", v) for k, v in values.items() if k not in self.per_place
        }
        with _on_all_ranks(ends):
            try:
                self.result = function(*arguments, **self.keywords)
            except SymancfError:
                raise
            except Exception as error:
                raise ConstraintError(
                    f"{what} failed on the symbols of its arguments: {in_words(error)}"
                ) from error

    def _argument(self, name: str) -> V | S:
        base, _, suffix = name.rpartition("_")
        suffixes = "abc"[: len(self.ends)]
        if base not in self.offered or suffix not in suffixes or not suffix:
            possible = [
                f"{q}_{s}"
                for s, end in zip(suffixes, self.ends, strict=True)
                for q, quantity in self.offered.items()
                if q not in DERIVATIVES
                and (quantity.jet != "angle" or end.curved)
                and (quantity.jet != "line" or isinstance(end, Line))
                and (quantity.jet == end.only if end.only else quantity.jet != "factor")
            ]
            raise ConstraintError(
                f"{self.what} asks for {name!r}; its ends offer {', '.join(possible)} and "
                + ", ".join(["t", *self.states])
            )
        quantity = self.offered[base]
        jet = ("abc".index(suffix), quantity.jet)
        if quantity.of == "rate":
            if jet not in self.rates:
                self.rates.append(jet)
        elif quantity.of != "reference" and jet not in self.jets:
            self.jets.append(jet)
        components = _components(jet, quantity.of)
        return components[0] if jet[1] in SCALARS else self.vector(components)

    def _values(
        self, given: Mapping[str, Given], signature: Mapping[str, inspect.Parameter]
    ) -> dict[str, Given]:
        """Return the values of all parameters."""
        keywords = self.keywords
        reserved = [k for k in keywords if RESERVED.fullmatch(k) or k in self.states]
        if reserved:
            raise ConstraintError(
                f"{self.what} calls a parameter {reserved[0]!r}, which is the name of a symbol of "
                "its own: choose another name"
            )
        unknown = sorted(set(given) - set(keywords))
        if unknown:
            close = get_close_matches(unknown[0], list(keywords), 1)
            raise ConstraintError(
                f"{self.what} has no parameter {unknown[0]!r}; it has "
                f"{', '.join(keywords) or 'none'}"
                + (f"; did you mean {close[0]!r}?" if close else "")
            )
        values = {}
        for k in keywords:
            values[k] = given.get(k, signature[k].default)
            if values[k] is inspect.Parameter.empty:
                raise ConstraintError(
                    f"{self.what} needs the parameter {k!r}; given {', '.join(given) or 'none'}"
                )
        return values

    def scalar(self, expression: E, must: str) -> E:
        """Return an expression of symbols of this reading.

        Raises
        ------
        ConstraintError : it is none (`must` tells what it must be), or has other symbols.
        """
        try:
            scalar = sp.sympify(expression, strict=True)
        except (sp.SympifyError, TypeError):
            scalar = None
        if not isinstance(scalar, sp.Expr) or scalar.has(sp.nan, sp.zoo, sp.oo, sp.I):
            raise ConstraintError(f"{self.what} returned {label(expression)}: {must}")
        foreign = sorted(map(str, scalar.free_symbols - self.known))
        if foreign:
            raise ConstraintError(
                f"{self.what} contains the symbol {foreign[0]!r}, which is none of its arguments: "
                "add it as a keyword-only argument"
            )
        return scalar

    def integrand(self, expression: E) -> E:
        """Return what a place contributes of a density, or of the value at the place."""
        return expression if self.edges is None else WEIGHT * expression

    def structure(self, results: Sequence[E]) -> tuple[Hashable, ...]:
        """Return what laws made of results of the function depend on."""
        return (
            tuple((type(e), e) for e in results),
            tuple(map(kind_of_end, self.ends)),
            *map(tuple, (self.jets, self.rates, self.states, self.keywords)),
            self.uses_time,
        )

    @property
    def unknowns(self) -> list[sp.Symbol]:
        """Symbols of the changes of the jets."""
        return [s for jet in self.jets for s in symbols_of(jet, "change")]

    @property
    def velocities(self) -> list[sp.Symbol]:
        """Symbols of the rates of the jets."""
        return [s for jet in self.rates for s in symbols_of(jet, "rate")]

    @property
    def references(self) -> list[sp.Symbol]:
        """Symbols of the reference values of all jets of the ends."""
        return list(_references(len(self.ends)))

    @property
    def known(self) -> set[sp.Symbol]:
        """All symbols that the function's result may contain."""
        own = [*self.states.values(), *self.keywords.values(), TIME]
        return {*self.unknowns, *self.velocities, *self.references, *own}

    def law_parameters(self, *expressions: sp.Expr) -> list[declare.Parameter]:
        """Return the parameters that a law of these expressions needs."""
        used = set().union(*(e.free_symbols for e in expressions))
        parameters = [declare.Parameter(x, "cell") for x in self.references if x in used]
        parameters += [declare.Parameter(symbol, "cell") for symbol in self.keywords.values()]
        parameters += [] if self.edges is None else [declare.Parameter(WEIGHT, "cell")]
        return parameters + ([declare.Parameter(TIME)] if self.uses_time else [])

    def require_places(self, count: int) -> None:
        """Raise where an array has not one value for each place.

        Raises
        ------
        ParameterError
        """
        for k, values in self.per_place.items():
            if values.shape != (count,):
                raise ParameterError(
                    f"{self.what}: {k} has shape {values.shape}; it has {count} place(s): give one "
                    "number, or one for each"
                )

    def cell_values(self, configuration: Configuration, entities: Entities) -> dict[str, Array]:
        """Return reference values of the jets, and what is given per place, at this rank's.

        By the names of their symbols.
        """
        values = {k: given[entities.ids] for k, given in self.per_place.items()}
        if self.edges is not None:
            values[str(WEIGHT)] = self.lengths(configuration, entities)
        moving = []
        for jet in dict.fromkeys([*self.jets, *self._fixed()]):
            constant = entities.constant(jet)
            if constant is None:
                moving.append(jet)
                continue
            for a, symbol in enumerate(symbols_of(jet, "reference")):
                values[str(symbol)] = constant[:, a]
        if moving:
            jets: Jets = entities.jets(configuration, moving)
            reference = entities.reference(configuration, jets, 3 * len(moving))
            for number, jet in enumerate(moving):
                for a, symbol in enumerate(symbols_of(jet, "reference")):
                    values[str(symbol)] = reference[:, 3 * number + a]
        return values

    def lengths(self, configuration: Configuration, entities: Entities) -> Array:
        """Return the length of the reference that each of this rank's places of edges is for."""
        assert self.edges is not None
        edges = cast("FacetPoints", self.ends[self.edges])
        vertices = entities.end_vertices(self.edges)
        return edges.measure(configuration, entities.here[self.edges], vertices)

    def _fixed(self) -> list[JetOfEnd]:
        """Jets of which only the reference value is asked for."""
        found = []
        for name in self._arguments:
            base, _, suffix = name.rpartition("_")
            if base in self.offered and self.offered[base].of == "reference":
                found.append(("abc".index(suffix), self.offered[base].jet))
        return found


def _numbers(what: str, given: npt.ArrayLike) -> Array:
    """Return one number for each place, of our own: users change theirs.

    Raises
    ------
    ParameterError : they are none.
    """
    try:
        return np.array(given, dtype=float)
    except (TypeError, ValueError):
        raise ParameterError(
            f"{what} is {label(given)}: give a number, an sa.Parameter, a function of time, or one "
            "number for each place"
        ) from None


def require_offered(what: str, end: End, jet: str) -> None:
    """Raise where an end has no jet of this name.

    Raises
    ------
    ConstraintError : says which ends have one.
    """
    if jet != end.only and (end.only or jet == "factor"):
        asked = "the load factor" if jet == "factor" else "a place"
        raise ConstraintError(f"{what} asks {end} for {asked}; only sa.Factor has a load factor")
    if jet == "angle" and not (end.curved or isinstance(end, Ground)):
        raise ConstraintError(f"{what} asks for the angle of {end}; only planar bodies have one")
    if jet == "line" and not isinstance(end, Line):
        raise ConstraintError(f"{what} asks for rs of {end}; only lines have a direction")
    if jet != "director":
        return
    element = end.body.element if isinstance(end, Nodes | PointsOnBody) else None
    if element is None or "zeta" not in element.space.point_jets:
        raise ConstraintError(
            f"{what} asks for the director of {end}; only full-gradient plates (ancf_plate) "
            "have one"
        )
