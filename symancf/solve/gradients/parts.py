# SPDX-License-Identifier: BSD-3-Clause
"""Parts of goals: functions of places, and of the forces of supports."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import sympy as sp

from symancf_codegen.functions import numerical

from ...errors import KinematicsError, ParameterError
from ...places.ends import Ground
from ...runtime import jit
from ...runtime.collective import together
from ...terms.quantities import TIME, check_ends, symbols_of
from ...terms.reading import Reading
from ...terms.substitution import Substitution
from ...values.parameter import Field, evaluate, parameters_in
from ...values.reader import read, scalar
from ..rigid import rigid_modes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ...arrays import Array, Ints32, Mask
    from ...assembly.discrete import DiscreteSystem
    from ...assembly.resolved import JetRows
    from ...bodies.body import Body
    from ...catalogue.boundary.support import Support
    from ...terms.quantities import JetOfEnd
    from ...terms.substitution import Let

#: What is asked of a jet.
Of: TypeAlias = Literal["change", "reference", "rate"]
#: Value, derivatives by coordinates, by the forces at fixed ones and by rates, see `GoalSlopes`.
Found = tuple[float, "Array", "Array", "Array"]


class GoalPart(ABC):
    """A number that follows from the state.

    Attributes
    ----------
    what, place : for messages.
    parametric : whether parameters occur in it beside the state.
    rates : whether it asks for velocities.
    """

    what: str
    place: str
    parametric = rates = False

    @abstractmethod
    def value(self, system: DiscreteSystem) -> float:
        """Return the value at the present state (collective)."""

    @abstractmethod
    def slopes(self, system: DiscreteSystem) -> Found:
        """Return value and derivatives at the present state (collective)."""

    def beside(self, system: DiscreteSystem) -> Array:
        """Return what of it changes with parameters alone, (n,) of this rank (collective)."""
        return np.array([self.value(system)]) if self.parametric else np.zeros(0)

    def by_beside(self, system: DiscreteSystem) -> Array:
        """Return this rank's share of derivatives by what `beside` returns (collective)."""
        return np.full(1 if self.parametric else 0, 1.0 / system.comm.size)

    def by_field(self, system: DiscreteSystem, field: Field) -> Array:
        """Return this rank's share of derivatives by a field at the present state (collective)."""
        return np.zeros(len(field.values))

    @abstractmethod
    def by_reference(self, system: DiscreteSystem, body: Body) -> Array:
        """Return derivatives by reference positions at a held state, see `Goal` (collective)."""

    @abstractmethod
    def curvature(
        self, system: DiscreteSystem, coordinates: Array, forces: Array
    ) -> tuple[Array, Array]:
        """Return the rates of both `slopes` along rates of coordinates and residual (collective).

        Of quantities of places that are linear in coordinates, and forces linear in the residual.
        """


class PlacePart(GoalPart):
    """The sum of a user's function over tuples of places."""

    def __init__(
        self,
        what: str,
        function: Callable[..., Any],
        ends: Sequence[Any],
        parameters: Mapping[str, Any],
    ) -> None:
        self.what = what
        self.ends = check_ends(what, ends)
        self.place = ", ".join(map(str, self.ends))
        for end in self.ends:
            if end.travels or end.weighs or end.slides:
                raise ParameterError(
                    f"{what}: {end} moves along its body or stands for a length: give points or "
                    "nodes",
                    asked="ends",
                    given=str(end),
                )
        reading = Reading(
            what, function, self.ends, parameters, rates=True, vector=sp.ImmutableMatrix
        )
        if reading.history:
            raise KinematicsError(f"{what}: a goal remembers nothing", asked="function")
        expression = reading.scalar(reading.result, "it must return one expression")
        if any(self.ends[number].curved for number, _ in reading.rates):
            raise ParameterError(
                f"{what}: velocities are goals of bodies in space alone; at planar ends give "
                "functions of positions",
                asked="velocity",
                given=self.place,
            )
        self._take(reading, expression, reading.lets)

    def _take(
        self,
        reading: Reading,
        expression: sp.Expr,
        lets: Sequence[Let] = (),
        joint: Reading | None = None,
        more: Sequence[sp.Symbol] = (),
    ) -> None:
        """Take an expression of quantities, of those of a joint, too, and of `more` unknowns."""
        readings = [reading] if joint is None else [reading, joint]
        jets = list(dict.fromkeys(jet for own in readings for jet in own.jets))
        substitution = Substitution.of(self.ends, jets).with_lets(lets)
        expression = substitution.insert_constants(expression)
        for symbol, definition in reversed(substitution.lets):
            expression = expression.xreplace({symbol: definition})
        self._readings, self._substitution = readings, substitution
        self.rates = bool(reading.rates)
        self._jets: list[tuple[JetOfEnd, Of]] = [
            *((jet, "change") for jet in substitution.jets),
            *((jet, "rate") for jet in reading.rates),
        ]
        symbols = [*(s for jet, of in self._jets for s in symbols_of(jet, of)), *more]
        slopes = [sp.diff(expression, s) for s in symbols]
        self._values = jit.Values([expression, *slopes])
        self._slopes, self._symbols, self._expression = slopes, symbols, expression
        own = [value for each in readings for value in each.parameters.values()]
        self.parametric = bool(list(parameters_in(own))) or any(map(callable, own))

    def _own_unknowns(self, system: DiscreteSystem) -> tuple[Array, JetRows | None]:
        """Return the values (places, k) of other unknowns, and their rows (collective)."""
        return np.zeros((1, 0)), None

    def value(self, system: DiscreteSystem) -> float:
        """Return the value at the present state (collective)."""
        return float(self._evaluated(system, self._values)[0][0].sum())

    def slopes(self, system: DiscreteSystem) -> Found:
        """Return value and derivatives at the present state (collective)."""
        (value, *slopes), every = self._evaluated(system, self._values)
        by = self._by_jets(system, slopes, every)
        return float(value.sum()), by["change"], np.zeros_like(by["rate"]), by["rate"]

    @cached_property
    def _by_references(self) -> tuple[list[JetOfEnd], jit.Values]:
        """Places of which the reference is asked for, and derivatives by that."""
        jets = [(number, "value") for number in range(len(self.ends))]
        jets = [jet for jet in jets if self._expression.free_symbols & {*_reference(jet)}]
        return jets, jit.Values([sp.diff(self._expression, s) for j in jets for s in _reference(j)])

    def by_reference(self, system: DiscreteSystem, body: Body) -> Array:
        """Return derivatives by reference positions at a held state (collective)."""
        self._require_plain(body)
        jets, values = self._by_references
        slopes, every = self._evaluated(system, values) if jets else ([], {})
        total = np.zeros_like(system.state)
        for k, jet in enumerate(jets):
            number = jet[0]
            if isinstance(self.ends[number], Ground):
                if not self.ends[number].anywhere:
                    continue
                number = next(n for n, end in enumerate(self.ends) if not end.anywhere)
            there = number, "value"
            rows = every[there] if there in every else self._jet(system, *there)[0]
            if rows is not None:
                slope = np.stack(slopes[3 * k : 3 * k + 3], axis=1)
                if self._count(system, number) == 1:
                    slope = slope.sum(axis=0, keepdims=True)
                of_place = slope[rows.place, rows.component]
                np.add.at(total, rows.coordinate, rows.value * of_place)
        return total

    def _require_plain(self, body: Body) -> None:
        """Raise where axes of a body are asked for, or its points nearest to others."""
        placed = (jet for reading in self._readings for jet in reading.placed)
        for number, name in [*(jet for jet, _ in self._jets), *placed]:
            end: Any = self.ends[number]
            region = getattr(getattr(end, "body", None), "region", None)
            on = region is not None and region.mesh is body.region.mesh
            if on and (name != "value" or getattr(end, "source", None) is not None):
                raise ParameterError(
                    f"{self.what}: it asks for axes of {end}, or for points nearest to others, of "
                    "which derivatives by positions are not known",
                    asked="Shape",
                    given=str(end),
                )

    @cached_property
    def _second(self) -> jit.Values:
        return jit.Values([sp.diff(a, b) for a in self._slopes for b in self._symbols])

    def curvature(
        self, system: DiscreteSystem, coordinates: Array, forces: Array
    ) -> tuple[Array, Array]:
        """Return the rates of both `slopes` (collective)."""
        values, every = self._evaluated(system, self._second)
        n = len(self._symbols)
        second = np.array(values).reshape(n, n, -1)
        moved = np.zeros((n, second.shape[2]))
        for k, of, rows in self._rows(system, every):
            size = 3 if k < 3 * len(self._jets) else n - k
            there = np.zeros((self._places_of(system, k), size))
            if rows is not None and of == "change":
                own = rows.value * coordinates[rows.coordinate]
                np.add.at(there, (rows.place, rows.component), own)
            moved[k : k + there.shape[1]] = np.asarray(system.sum(there)).T
        rates = np.einsum("abk,bk->ak", second, moved)
        by = self._by_jets(system, [*rates], every)
        return by["change"], np.zeros_like(coordinates)

    def _rows(
        self, system: DiscreteSystem, every: dict[JetOfEnd, JetRows | None]
    ) -> Iterator[tuple[int, Of, JetRows | None]]:
        """Yield the first of the symbols of each jet, and of other unknowns, and their rows."""
        for k, (jet, of) in enumerate(self._jets):
            yield 3 * k, of, every[jet]
        if len(self._symbols) > 3 * len(self._jets):
            yield 3 * len(self._jets), "change", self._own_unknowns(system)[1]

    def _places_of(self, system: DiscreteSystem, symbol: int) -> int:
        """Return the number of places of what a symbol belongs to, by its number."""
        jet = symbol // 3
        ends = [self._jets[jet][0][0]] if jet < len(self._jets) else range(len(self.ends))
        return max(self._count(system, end) for end in ends)

    def _by_jets(
        self,
        system: DiscreteSystem,
        slopes: Sequence[Array],
        every: dict[JetOfEnd, JetRows | None],
    ) -> dict[str, Array]:
        """Return derivatives by coordinates and rates, of those by the jets of all places."""
        by = {of: np.zeros_like(system.state) for of in ("change", "rate")}
        for k, of, rows in self._rows(system, every):
            if rows is None:
                continue
            own = slopes[k : k + 3] if k < 3 * len(self._jets) else slopes[k:]
            slope = np.stack(own, axis=1)
            if self._places_of(system, k) == 1:
                slope = slope.sum(axis=0, keepdims=True)
            np.add.at(by[of], rows.coordinate, rows.value * slope[rows.place, rows.component])
        return by

    def _count(self, system: DiscreteSystem, end: int) -> int:
        return int(self.ends[end].resolve(system.layout).total)

    def _evaluated(
        self, system: DiscreteSystem, values: jit.Values
    ) -> tuple[list[Array], dict[JetOfEnd, JetRows | None]]:
        """Return values (K,) of all places, and the jets as rows (collective)."""
        counts = [self._count(system, k) for k in range(len(self.ends))]
        size = max(counts)
        if any(count not in (0, 1, size) for count in counts):
            raise ParameterError(
                f"{self.what}: its ends have different numbers of places {counts}; give one place, "
                "or as many as the other end has",
                asked="number of places",
                given=counts,
            )
        at: dict[str, Any] = {TIME.name: system.time}
        for reading in self._readings:
            reading.require_places(size)
            with together(system.comm):
                for name, value in reading.parameters.items():
                    at[name] = evaluate(f"{name} of {self.what}", value, system.time)
            at |= reading.per_place
        own, more = self._own_unknowns(system)[0], self._symbols[3 * len(self._jets) :]
        at |= {str(symbol): x for symbol, x in zip(more, own.T, strict=True)}
        every: dict[JetOfEnd, JetRows | None] = {}
        arms = [(end, jet) for end, jet, _ in self._substitution.arms.values()]
        placed = [jet for reading in self._readings for jet in reading.placed]
        for jet in dict.fromkeys([*(jet for jet, _ in self._jets), *placed, *arms]):
            every[jet], found = self._jet(system, *jet)
            for of, vectors in found.items():
                for a, symbol in enumerate(symbols_of(jet, of)):
                    at[symbol.name] = vectors[:, a]
        columns = [np.broadcast_to(x, (size,)) for x in values(at)]
        return columns, every

    def _jet(
        self, system: DiscreteSystem, number: int, name: str
    ) -> tuple[JetRows | None, dict[Of, Array]]:
        """Return a jet as rows, and its change, rate and reference value (K, 3) (collective)."""
        end = self.ends[number]
        places = end.resolve(system.layout).everywhere(system.comm)
        constant = end.constant(places, name)
        if isinstance(end, Ground):
            if end.anywhere:  # the places of the other end
                other = next(e for e in self.ends if not e.anywhere)
                there = other.resolve(system.layout).everywhere(system.comm).X
                constant = (
                    there
                    if name == "value"
                    else np.tile(end.reference_frame[:, int(name[-1])], (len(there), 1))
                )
            assert constant is not None
            none = np.zeros_like(constant)
            return None, {"change": none, "rate": none, "reference": constant}
        found = system.known_rows(end, (name,))
        rows = found[0] if found else None
        vectors = [system.state, system.reference, *([system.rate] if self.rates else [])]
        values = np.zeros((len(vectors), places.X.shape[0], 3))
        if rows is not None:
            for own, vector in zip(values, vectors, strict=True):
                np.add.at(own, (rows.place, rows.component), rows.value * vector[rows.coordinate])
        change, reference, *rates = system.sum(values)
        known: dict[Of, Array] = {
            "change": change,
            "reference": reference if constant is None else constant,
        }
        return rows, known | ({"rate": rates[0]} if rates else {})


def _reference(jet: JetOfEnd) -> list[sp.Symbol]:
    return list(symbols_of(jet, "reference"))


class FunctionPart(GoalPart):
    """A function of few quantities, numbers or vectors, that a term of the system has.

    Parameters
    ----------
    quantities : by their names, symbols or vectors of symbols.
    of : in words, what has them.
    """

    def __init__(
        self,
        what: str,
        function: Callable[..., Any],
        quantities: Mapping[str, sp.Symbol | sp.ImmutableMatrix],
        of: str,
    ) -> None:
        self.what = what
        self.names = list(read(function, what).quantities)
        possible = tuple(quantities)
        if not self.names or not {*self.names} <= {*possible}:
            raise KinematicsError(
                f"{what}: of {of} there are {' and '.join(possible)}; the function asks for "
                f"{', '.join(self.names) or 'nothing'}",
                asked=", ".join(self.names),
                possible=possible,
            )
        each = [[q] if isinstance(q, sp.Symbol) else [*q] for q in quantities.values()]
        symbols = [x for own in each for x in own]
        given = function(*(quantities[name] for name in self.names))
        must = f"a goal of {of} is one expression of {' and '.join(possible)}"
        expression = scalar(what, "function", given, {*symbols}, must=must)
        slopes = [expression, *(sp.diff(expression, s) for s in symbols)]
        self._function = numerical(symbols, slopes, "math")
        self._slopes, self._symbols, self._expression = slopes[1:], symbols, expression

    @cached_property
    def _second(self) -> Callable[..., Sequence[float]]:
        second = [sp.diff(a, b) for a in self._slopes for b in self._symbols]
        function: Callable[..., Sequence[float]] = numerical(self._symbols, second, "math")
        return function

    def _second_along(self, at: Array, moved: Array) -> Array:
        """Return the rates of the derivatives where quantities have the rates `moved`."""
        second = np.array(self._second(*at), dtype=float)
        return np.asarray(second.reshape(len(moved), len(moved)) @ moved)


class SupportPart(FunctionPart):
    """A function of the force and moment of a support, as `Support.reaction` gives them."""

    def __init__(self, what: str, function: Callable[..., Any], support: Support) -> None:
        vectors = {a: sp.ImmutableMatrix(sp.symbols(f"{a}1:4", real=True)) for a in ("F", "M")}
        super().__init__(what, function, vectors, "a support")
        self.place, self._support = support.name, support
        self._turns = bool(self._expression.free_symbols & {*vectors["M"]})

    def _acting(self, system: DiscreteSystem) -> tuple[Mask, Array, Array]:
        """Return the mask of what it holds here, the point of moments, F and M (collective)."""
        if getattr(system.binding(self._support), "present", None):
            raise ParameterError(
                f"{self.what}: {self._support.name!r} holds directions that are no axes; goals are "
                "known of supports along axes",
                asked="support",
                given=self._support.name,
            )
        mine = system.numbering.fixed_by == system.layout.number(self._support)
        reaction = self._support.reaction(system)
        acting = np.concatenate([reaction.force, reaction.moment])
        return mine, reaction.points[0], acting

    def value(self, system: DiscreteSystem) -> float:
        """Return the value at the present state (collective)."""
        return float(self._function(*self._acting(system)[2])[0])

    def slopes(self, system: DiscreteSystem) -> Found:
        """Return value and derivatives at the present state (collective)."""
        there = self._acting(system)
        value, *weights = map(float, self._function(*there[2]))
        by, forces = self._by(system, np.array(weights), there)
        return value, by, forces, np.zeros_like(by)

    def curvature(
        self, system: DiscreteSystem, coordinates: Array, forces: Array
    ) -> tuple[Array, Array]:
        """Return the rates of both `slopes` (collective)."""
        there = self._acting(system)
        own = slice(0, system.numbering.start[system.numbering.owned_vertices])
        count = 6 if self._turns else 3
        each = (self._by(system, weights, there) for weights in np.eye(6)[:count])
        shares = [x @ coordinates + f[own] @ forces[own] for x, f in each]
        moved = np.zeros(6)
        moved[: len(shares)] = system.sum(np.array(shares))
        return self._by(system, self._second_along(there[2], moved), there)

    def by_reference(self, system: DiscreteSystem, body: Body) -> Array:
        """Return derivatives by reference positions: arms of moments follow these as the state."""
        return self.slopes(system)[1]

    def _by(
        self, system: DiscreteSystem, weights: Array, there: tuple[Mask, Array, Array]
    ) -> tuple[Array, Array]:
        """Return derivatives of `weights` . (F, M) by coordinates and residual (collective)."""
        mine, point, acting = there
        numbering = system.numbering
        owned = numbering.vertex_of < numbering.owned_vertices
        motion = weights @ rigid_modes(system, system.state, about=point)
        forces = np.where(mine, motion, 0.0)
        by = np.zeros_like(forces)
        turns = weights[3:]
        if turns.any():  # arms of moments follow the state
            f = np.where(mine & owned, system.residual_at_solution(), 0.0)
            by += self._by_arms(system, f, turns, mine, acting[:3])
        return by, forces

    def _by_arms(
        self, system: DiscreteSystem, f: Array, turns: Array, mine: Mask, force: Array
    ) -> Array:
        """Return the derivative of `turns` . M by the coordinates, at held forces (collective).

        The moment of a force f on a vector q is q x f, about the mean of the nodes that are held.
        """
        numbering, by = system.numbering, np.zeros_like(f)
        held = np.zeros(numbering.vertices, dtype=bool)
        held[numbering.vertex_of[mine]] = True
        held[numbering.owned_vertices :] = False
        nodes: list[Ints32] = []
        for number, block in enumerate(numbering.blocks):
            if not block.moves:
                continue
            at = numbering.coordinates_of(number)
            if at.shape[1] != 3:
                if f[at].any():
                    raise ParameterError(
                        f"{self.what}: moments are goals of supports in space alone; give F",
                        asked="M",
                        given=self._support.name,
                    )
                continue
            by[at] += np.cross(f[at], turns)
            if block.kind == "position":
                carriers = numbering.carriers(number)
                nodes.append(numbering.coordinates_of(number, carriers[held[carriers]]))
        count = float(system.sum(np.array([sum(map(len, nodes))], dtype=float))[0])
        for places in nodes:
            by[places] -= np.cross(force, turns) / max(count, 1.0)
        return by
