# SPDX-License-Identifier: BSD-3-Clause
"""A user's function of places called with symbols, and the values of its parameters."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from types import FunctionType
from typing import TYPE_CHECKING, TypeGuard, cast
from weakref import WeakKeyDictionary

import numpy as np
import sympy as sp

from symancf_codegen import declare

from ..arrays import Array
from ..errors import ConstraintError, KinematicsError, ParameterError, argument
from ..kinematics.memory import STEP, Called, call_own, own_arguments, require_plain
from ..kinematics.quantity import real
from ..places.ends import End, Ground
from ..places.on_body import Nodes, PointsOnBody
from ..places.passing import Eyelets
from ..runtime.collective import together
from ..values.domain import within_domains
from ..values.parameter import label, reals
from ..values.reader import (
    call_symbolic,
    name_of,
    read,
    require_free,
    require_parameters,
    scalar,
    unknown_quantity,
)
from .quantities import (
    DERIVATIVES,
    QUANTITIES,
    RATES,
    RESERVED,
    SCALARS,
    TIME,
    WEIGHT,
    E,
    JetOfEnd,
    Law,
    S,
    V,
    components_of,
    kind_of_end,
    references_of,
    symbols_of,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    import numpy.typing as npt

    from ..assembly.configuration import Configuration
    from ..assembly.form import Jets
    from ..kinematics.quantity import Value
    from ..values.parameter import Scalar
    from .entities import Entities
    from .quantities import PlaceValues
    from .substitution import Let


def _on_all_ranks(ends: Sequence[End]) -> AbstractContextManager[None]:
    """Return `together` of the ranks that hold the ends, as far as one of them has a mesh."""
    bodies = (getattr(end, "body", None) for end in ends)
    regions = (getattr(body, "region", None) for body in bodies)
    comm = next((region.mesh.comm for region in regions if region is not None), None)
    return nullcontext() if comm is None else together(comm)


@dataclass
class FunctionResult:
    """What a function asks for by the names of its arguments, and what it returned.

    Attributes
    ----------
    jets, rates, fixed : (end, jet) of changes, of rates, and of values of the reference.
    keywords, defaults : symbols and values of its parameters.
    names, arguments : of the others, and the symbols that it is called with.
    written : the argument that asks for a jet, the first where several do.
    called : what it returned, and what a place remembers.
    """

    jets: list[JetOfEnd] = field(default_factory=list)
    rates: list[JetOfEnd] = field(default_factory=list)
    fixed: list[JetOfEnd] = field(default_factory=list)
    keywords: dict[str, sp.Symbol] = field(default_factory=dict)
    defaults: dict[str, PlaceValues] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)
    written: dict[JetOfEnd, str] = field(default_factory=dict)
    arguments: list[V | S] = field(default_factory=list)
    uses_time: bool = False
    called: Called | None = None


# of functions of the package itself, which return the same whenever they are called
_OWN: WeakKeyDictionary[Law, dict[Hashable, FunctionResult]] = WeakKeyDictionary()


CORD = "slide", "pull"  # jets of ends that slide, or that a cord passes


def _is_own(function: Law) -> bool:
    """Tell whether a function is one of this package, and no closure or method."""
    module = isinstance(function, FunctionType) and "<locals>" not in function.__qualname__
    return module and str(function.__module__).startswith("symancf.")


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
    jets, rates, fixed : (end, jet) of the jets and of the rates that are asked for, and of jets
        of which the reference value is.
    states : symbols of the term's own scalars, by name.
    keywords : symbols of the parameters.
    parameters : their values, defaults filled in, but those of
    per_place : arrays of one value for each place.
    result : what the function returned.
    history, stored : what a place remembers, and the energy stored there; see `PointLaw`.
    lets : names of quantities in the result, one after the other, and their expressions: the
        attribute ``lets`` of the function after it was called. They are stages of the derivatives.

    Raises
    ------
    KinematicsError : an unknown quantity, the function fails on the symbols, or it has unknowns of
        its own.
    ParameterError : an unknown, missing or reserved parameter.
    """

    def __init__(
        self,
        what: str,
        function: Law,
        ends: Sequence[End],
        parameters: Mapping[str, PlaceValues],
        *,
        rates: bool = False,
        states: Sequence[str] = (),
        vector: type[V] = sp.Matrix,
    ) -> None:
        self.what, self.function, self.ends, self.vector = what, function, ends, vector
        edges = (k for k, end in enumerate(ends) if end.weighs)
        self.edges = next(edges, None)
        self.states = {s: sp.Symbol(f"state_{s}", real=True) for s in states}
        self.offered = QUANTITIES | DERIVATIVES | (RATES if rates else {})
        cache = _OWN.setdefault(function, {}) if _is_own(function) else {}
        key = vector, rates, len(ends), *states
        result = cache.get(key) or self._ask()
        self.jets, self.rates = list(result.jets), list(result.rates)
        self.keywords, self.fixed, self.uses_time = result.keywords, result.fixed, result.uses_time
        for number, jet in [*self.jets, *self.rates]:
            written = "" if _is_own(function) else result.written[number, jet]
            require_offered(what, ends[number], jet, "abc"[number], written)
        values = self._values(parameters, result.defaults)
        arrays = {k: v for k, v in values.items() if _is_array(v)}
        self.per_place = {k: _numbers(f"{what}, {k}", v) for k, v in arrays.items()}
        values = within_domains(function, what, {**values, **self.per_place})
        self.parameters = {k: cast("Scalar", v) for k, v in values.items() if k not in arrays}
        why = "only energies of bodies solve for unknowns; a VirtualWork may have states="
        require_plain(self.what, function, why, memory=True)
        result.called = result.called or self._call(result)
        cache[key] = result
        self._take_result(result.called)

    def _call(self, result: FunctionResult) -> Called:
        """Call the function with the symbols of its arguments, and of what it remembers."""
        arguments = dict(zip(result.names, result.arguments, strict=True)) | result.keywords

        def call(own: Mapping[str, Value]) -> object:
            symbols = {**result.keywords, **own}
            return call_symbolic(self.what, self.function, result.arguments, symbols)

        with nullcontext() if _is_own(self.function) else _on_all_ranks(self.ends):
            return call_own(self.what, self.function, arguments, call)

    def _take_result(self, called: Called) -> None:
        """Take what the function returned, and what a place remembers."""
        self.lets: tuple[Let, ...] = tuple(getattr(self.function, "lets", ()))
        self.result, self._remembered = called.result, called.symbols if called.history else set()
        must = "what is remembered must be an expression of its arguments"
        self.history = tuple(
            replace(m, update=self.scalar(m.update, must), initial=self.scalar(m.initial, must))
            for m in called.history
        )
        self.stored = None if called.stored is None else self.scalar(called.stored, must)

    def _ask(self) -> FunctionResult:
        """Return what the arguments of the function ask for."""
        signature = read(self.function, self.what, own_arguments(self.function))
        result = FunctionResult(names=list(signature.quantities), defaults=dict(signature.defaults))
        result.keywords = {name: sp.Symbol(name, real=True) for name in signature.parameters}
        for name in result.names:
            if name == "t":
                result.uses_time = True
                result.arguments.append(TIME)
            elif name in self.states:
                result.arguments.append(self.states[name])
            else:
                result.arguments.append(self._argument(name, result))
        return result

    def _argument(self, name: str, result: FunctionResult) -> V | S:
        base, _, suffix = name.rpartition("_")
        ends = dict(zip("abc", self.ends, strict=False))
        end, quantity = ends.get(suffix), self.offered.get(base)
        if end is None or quantity is None or (quantity.jet in CORD and not _slides(end)):
            possible = [
                f"{q}_{s}"
                for s, end in ends.items()
                for q, quantity in self.offered.items()
                if q not in DERIVATIVES and _offers(end, quantity.jet)
            ]
            raise unknown_quantity(self.what, name, (*possible, "t", *self.states), "this term")
        jet = ("abc".index(suffix), quantity.jet)
        into = {"rate": result.rates, "reference": result.fixed}.get(quantity.of, result.jets)
        if jet not in into:
            into.append(jet)
        result.written.setdefault(jet, name)
        components = components_of(jet, quantity.of)
        return components[0] if jet[1] in SCALARS else self.vector(components)

    def _values(
        self, parameters: Mapping[str, PlaceValues], defaults: Mapping[str, PlaceValues]
    ) -> dict[str, PlaceValues]:
        """Return the values of all parameters."""
        reserved = {k for k in self.keywords if RESERVED.fullmatch(k) or k in self.states}
        require_free(self.what, self.keywords, reserved, "the term")
        needed = [k for k in self.keywords if k not in defaults]
        require_parameters(self.what, needed, parameters, optional=defaults, exact=True)
        return {k: parameters[k] if k in parameters else defaults[k] for k in self.keywords}

    def scalar(self, expression: E, must: str) -> E:
        """Return an expression of symbols of this reading; `must` tells what it must be.

        Raises
        ------
        KinematicsError, CompileError : see `values.reader.scalar`.
        """
        what = f"the result of {self.what}"
        return scalar(what, name_of(self.function), expression, self.symbols, must=must)

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
            self.history,
            self.stored,
            self.lets,
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
        return list(references_of(len(self.ends)))

    @property
    def symbols(self) -> set[sp.Symbol]:
        """All symbols that the function's result may contain."""
        own = [*self.states.values(), *self.keywords.values(), TIME, *self._remembered]
        own += [symbol for symbol, _ in self.lets]
        return {*self.unknowns, *self.velocities, *self.references, *own}

    def law_parameters(self, *expressions: sp.Expr) -> list[declare.KernelParameter]:
        """Return the parameters that a law of these expressions needs."""
        used = set().union(*(e.free_symbols for e in expressions))
        parameters = [declare.KernelParameter(x, "cell") for x in self.references if x in used]
        parameters += [declare.KernelParameter(symbol, "cell") for symbol in self.keywords.values()]
        parameters += [] if self.edges is None else [declare.KernelParameter(WEIGHT, "cell")]
        uniform = [TIME] if self.uses_time else []
        uniform += [real(STEP)] if self._remembered and real(STEP) in used else []
        return parameters + [declare.KernelParameter(symbol) for symbol in uniform]

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
                    "number, or one for each",
                    asked=k,
                    given=values.shape,
                    possible=((), (count,)),
                )

    def cell_values(self, configuration: Configuration, entities: Entities) -> dict[str, Array]:
        """Return reference values of the jets, and what is given per place, at this rank's.

        By the names of their symbols.
        """
        values = {k: values_there[entities.ids] for k, values_there in self.per_place.items()}
        if self.edges is not None:
            values[str(WEIGHT)] = self.lengths(configuration, entities)
        moving = []
        for jet in self.placed:
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

    @property
    def placed(self) -> list[JetOfEnd]:
        """The jets whose reference values are asked for, some of them those alone."""
        return list(dict.fromkeys([*self.jets, *self.fixed]))

    def lengths(self, configuration: Configuration, entities: Entities) -> Array:
        """Return the length of the reference that each of this rank's places of edges is for."""
        assert self.edges is not None
        vertices = entities.end_vertices(self.edges)
        return self.ends[self.edges].measure(configuration, entities.here[self.edges], vertices)


def _is_array(value: PlaceValues) -> TypeGuard[Sequence[float] | Array]:
    """Tell whether a value is given for each place."""
    return isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)


def _numbers(what: str, given: npt.ArrayLike) -> Array:
    """Return one number for each place, of our own: users change theirs.

    Raises
    ------
    ParameterError : they are none.
    """
    numbers = reals(given, finite=False)
    if not numbers.size:
        raise ParameterError(
            f"{what} is {label(given)}: give a number, an sa.Parameter, a function of time, or one "
            "number for each place",
            asked=argument(what),
            given=given,
        )
    return numbers


def _slides(end: End) -> bool:
    """Tell whether the places of an end slide along their body."""
    return end.slides


def _offers(end: End, jet: str) -> bool:
    """Tell whether messages name the quantities of a jet among those of an end."""
    if end.only:
        return jet == end.only
    slides = _slides(end)
    line = end.line or slides
    return {
        "factor": False,
        "angle": end.plane and end.oriented,
        "line": line,
        "slide": slides,
        "pull": False,
    }.get(jet, True)


def require_offered(what: str, end: End, jet: str, suffix: str, written: str) -> None:
    """Raise where an end has no jet of this name.

    Parameters
    ----------
    suffix : of the end, ``"a"`` for the first.
    written : the argument of the user's function that asks for it, "" where it is none of a user.

    Raises
    ------
    KinematicsError, or ConstraintError of a term of the package : says which ends have one.
    """
    why, possible = _lacking(end, jet), []
    turns = jet.startswith("axis") and isinstance(end, Eyelets)
    if not why and _slides(end) and not turns and jet not in ("value", "line", *CORD):
        possible = [f"{q}_{suffix}" for q in ("r", "u", "v", "rs", "s", "ds")]
        why = f"it offers {', '.join(possible)}"
    if why:
        asks = f"asks for {written!r} of {end}" if written else f"cannot be at {end}"
        raise (KinematicsError if written else ConstraintError)(
            f"{what} {asks}: {why}", asked=written or "place", given=str(end), possible=possible
        )


def _lacking(end: End, jet: str) -> str:
    """Return why an end has no jet of a name that other ends have, or ""."""
    if jet != end.only and (end.only or jet == "factor"):
        return "only sa.Factor has a load factor, and it has nothing else"
    if not end.oriented and (jet.startswith("axis") or jet == "angle"):
        return "it has no axes and no angle; give a point of a body that turns, body.at(point)"
    if jet == "angle" and not (end.plane or isinstance(end, Ground)):
        return "only planar bodies have an angle"
    if _slides(end):
        return ""
    if jet == "line" and not end.line:
        return "only lines have a direction"
    if jet == "director" and not _has_director(end):
        return "only full-gradient plates (ancf_plate) have a director"
    return ""


def _has_director(end: End) -> bool:
    element = end.body.element if isinstance(end, Nodes | PointsOnBody) else None
    return element is not None and "zeta" in element.space.point_jets
