# SPDX-License-Identifier: BSD-3-Clause
"""Terms at tuples of places, made of a function of the user."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import sympy as sp

from symancf_codegen.functions import kinked, symbolic

from ..arrays import Array, Ints, Ints32
from ..assembly import numbering
from ..assembly.state import join_rows, rows_of_one
from ..errors import ConstraintError
from ..kinematics.memory import STEP
from ..places.opposite import in_pairs
from ..runtime import jit
from ..runtime.collective import together
from ..runtime.copies import OneProcess
from ..runtime.display import Displayable
from ..runtime.shared import Shared
from ..values import arguments
from ..values.arguments import name_or
from ..values.parameter import evaluate, label
from .entities import Entities
from .quantities import QUANTITIES, RATES, TIME, check_ends, symbols_of
from .reading import Reading
from .substitution import Substitution

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from symancf_codegen import declare

    from ..assembly.configuration import Configuration, Layout
    from ..assembly.form import Form, Jets, Listed, Role
    from ..assembly.numbering import Block
    from ..assembly.revisions import Change
    from ..assembly.state import ActiveSet
    from ..places.ends import End
    from ..values.parameter import Scalar
    from .quantities import At, JetOfEnd, Law, PlaceValues, V


class PlaceTerm(OneProcess, Displayable):
    """A law at tuples of places, made of a user's function.

    Such are `Constraint`, `VirtualWork` and `Potential`. A parameter given as an array has one
    value per place. It may serve in several
    systems, see `PlaceBinding`.

    Attributes
    ----------
    substitution : of the jets that the law depends on.
    growing : parameters that are sizes of loads which turn with the body; see `Form`.
    """

    role: Role
    kind: str
    _vector: ClassVar[type[V]] = sp.ImmutableMatrix
    _growing: ClassVar[tuple[str, ...]] = ()
    _substitution: Substitution

    def __init__(
        self,
        function: Law,
        ends: Sequence[End],
        name: str | None,
        parameters: Mapping[str, PlaceValues],
        *,
        rates: bool = False,
        states: Sequence[str] = (),
    ) -> None:
        function = arguments.function(f"the function of a {self.kind}", function)
        given_name = str(getattr(function, "__name__", self.kind))
        self.name: str = name_or(name, given_name)
        self._law_name = jit.identifier(given_name)  # terms of one function share their kernel
        self.what = f"{self.kind} {self.name!r}"
        self.ends = in_pairs(self.what, check_ends(self.what, ends))
        self._require_ends()
        self.states = state_names(self.what, states)
        self._reading = Reading(
            self.what,
            function,
            self.ends,
            parameters,
            rates=rates,
            states=self.states,
            vector=self._vector,
        )
        self.parameters = dict(self._reading.parameters)
        self._functions: dict[tuple[sp.Expr, ...], jit.Values] = {}

    def _headline(self) -> str:
        """Return kind and name."""
        return self.what

    def _facts(self) -> list[tuple[str, str]]:
        """Return the places and parameters."""
        places = [("on", str(end)) for end in self.ends]
        parameters = [(name, label(value)) for name, value in self.parameters.items()]
        return [("", "value"), *places, *parameters] if places or parameters else []

    def _require_ends(self) -> None:
        """Raise where ends do not fit the term."""

    # ---- the law ------------------------------------------------------------------------------
    results: Sequence[sp.Expr]  # of the function, in the symbols of its arguments

    @cached_property
    def law(self) -> declare.PointLaw:
        """The point law; terms that are alike have it in common."""
        own: tuple[Hashable, ...] = (type(self)._law, self._law_name, self._domain())
        return _LAWS.get(own + self._reading.structure(self.results), self._law)

    def _law(self) -> declare.PointLaw:
        raise NotImplementedError

    def _history(self) -> tuple[declare.HistoryVariable, ...]:
        """Return what a place remembers, in the symbols of the law."""
        insert, over = self._substitution.insert_constants, self._reading.integrand
        return tuple(
            replace(
                m,
                update=over(insert(m.update)) if m.total else insert(m.update),
                initial=insert(m.initial),
            )
            for m in self._reading.history
        )

    def _stored(self) -> sp.Expr | None:
        """Return the energy that a place with memory stores."""
        stored = self._reading.stored
        insert = self._substitution.insert_constants
        return None if stored is None else self._reading.integrand(insert(stored))

    def _domain(self) -> tuple[sp.Expr, ...]:
        """Return expressions of the jets that must be positive."""
        return ()

    def _parameters(self, *expressions: sp.Expr) -> tuple[declare.KernelParameter, ...]:
        lets = [e for _, e in self._substitution.lets]
        lets += [e for m in self._history() for e in (m.update, m.initial)]
        lets += (
            [self._substitution.insert_constants(self._reading.stored)]
            if self._reading.history
            else []
        )
        return tuple(self._reading.law_parameters(*expressions, *lets))

    def _unknowns(self) -> tuple[sp.Symbol, ...]:
        """Symbols of all jets in their order: changes, rates, own states and their rates."""
        own = [*self._reading.states.values(), *(sp.Symbol(f"rate_{s}") for s in self.states)]
        return (*self._substitution.unknowns, *own)

    @property
    def _rate_of(self) -> dict[sp.Symbol, sp.Expr]:
        """The rates of what the law depends on, by its symbols; see `PointLaw.rate_of`."""
        return {}

    # ---- as a term ----------------------------------------------------------------------------
    @property
    def _multipliers_of_place(self) -> int:
        """Number of multipliers that each tuple of places has."""
        return 0

    @property
    def _block(self) -> Block | None:
        """The block of the unknowns that each tuple of places has of its own."""
        return numbering.states(len(self.states)) if self.states else None

    def bind(self, layout: Layout) -> PlaceBinding:
        """Announce entities and vertices before distribution (collective)."""
        return PlaceBinding(self, layout)

    # ---- results --------------------------------------------------------------------------------
    def _compiled(self, expressions: tuple[sp.Expr, ...]) -> jit.Values:
        """Return expressions as a function of values by name."""
        if expressions not in self._functions:
            inserted = [self._substitution.insert_constants(e) for e in expressions]
            lets = tuple(self._substitution.lets)
            self._functions[expressions] = jit.Values(inserted, lets, self._rate_of)
        return self._functions[expressions]

    def _values(self, system: Configuration, expressions: Sequence[sp.Expr]) -> Array:
        """Return expressions at the present state, (places, expressions), on every rank."""
        own = system.binding(self)
        values = np.zeros((own.entities.size, len(expressions)))
        with together(system.comm):
            at, n = own.at_places(system), len(own.entities.ids)
            if n:
                compiled, mine = self._compiled(tuple(expressions))(at), own.entities.owned
                columns = [np.broadcast_to(column, (n,))[mine] for column in compiled]
                values[own.entities.ids[mine]] = np.stack(columns, axis=1)
        return system.sum(values)


class PlaceBinding:
    """A term at tuples of places in one system.

    Attributes
    ----------
    name : in the system.
    entities : the tuples of places.
    jets : what the law depends on at this rank's places, after `forms`.
    cell : (n,) reference values, arms and parameters given per place, by symbol; after `forms`.
    uniform : parameters that are the same at all places, after `forms`.
    parts : further terms that belong to it, e.g. on slopes.
    form : the kernel and the present entities on this rank, after `forms`.
    """

    jets: Jets
    cell: dict[str, Array]
    uniform: dict[str, Scalar]
    parts: Sequence[PlaceBinding] = ()
    form: Form

    def __init__(self, term: PlaceTerm, layout: Layout) -> None:
        self.term, self.name = term, layout.name(term)
        self.entities = Entities(layout, self.name, term.ends, term._block)
        term._reading.require_places(self.entities.size)
        # what positions of ends follow from, by their numbers, found when asked for
        self._positions: dict[int, tuple[Substitution, Jets, dict[str, Array]]] = {}

    def carriers(self, configuration: Configuration) -> list[tuple[str, Ints32]]:
        """Take this rank's entities; return the blocks that the term puts on vertices."""
        self.entities.bind(configuration)
        of_parts = [block for part in self.parts for block in part.carriers(configuration)]
        return self.entities.carriers() + of_parts

    def forms(self, configuration: Configuration) -> list[Form]:
        """Return the kernel and entities on this rank, and those of parts."""
        self.form = self.own_form(configuration)
        of_parts = [more for part in self.parts for more in part.forms(configuration)]
        return [self.form, *of_parts]

    def own_form(self, configuration: Configuration) -> Form:
        """Return the kernel and the present entities on this rank."""
        term, entities = self.term, self.entities
        with together(configuration.comm):
            own = term._multipliers_of_place or len(term.states)
            law, moving = term._substitution, bool(term.states)
            self.jets = entities.jets(configuration, law.jets, law.rates, own, moving)
            self.cell = self.cell_values(configuration)
        self.uniform, self._positions = self.uniform_values(configuration), {}
        form = entities.form(
            self.name,
            jit.points(term.law, configuration.comm),
            term.role,
            self.uniform,
            self.cell,
            self.jets,
        )
        return replace(
            form,
            growing=term._growing,
            kinked=_kinked(term.law),
            law=term.law if term._multipliers_of_place else None,
            multipliers=term._multipliers_of_place,
        )

    def cell_values(self, configuration: Configuration) -> dict[str, Array]:
        """Return what the law takes at each of this rank's places, (n,) by symbol."""
        values = self.term._reading.cell_values(configuration, self.entities)
        return values | self.term._substitution.cell_values(self.entities)

    def uniform_values(self, configuration: Configuration) -> dict[str, Scalar]:
        """Return the values of parameters that are the same at all places (collective)."""
        return dict(self.term.parameters)

    def size(self, configuration: Configuration) -> float:
        """Return the number of places, or the length of the edges that they are on (collective)."""
        entities, reading = self.entities, self.term._reading
        if reading.edges is None:
            return entities.size
        with together(configuration.comm):
            own = reading.lengths(configuration, entities)[entities.owned]
        return float(configuration.sum(np.array([own.sum()]))[0])

    # ---- lists that change, see `Revises` -------------------------------------------------------
    def changes(self, configuration: Configuration) -> bool:
        """Tell whether an end travels."""
        return self.entities.changing

    def search(self, configuration: Configuration, time: float) -> Change:
        """Find the places of ends that travel (collective)."""
        return self.entities.search(configuration, time)

    def active(self, configuration: Configuration) -> ActiveSet:
        """Return where the ends that travel are."""
        return self.entities.active()

    def activate(self, configuration: Configuration, active: ActiveSet) -> bool:
        """Take places of `active`; tell whether they are others."""
        return self.entities.activate(configuration, active)

    def own_rows(self, configuration: Configuration, active: ActiveSet) -> ActiveSet:
        """Return all rows on the first rank."""
        return rows_of_one(configuration.comm, active)

    def join(self, configuration: Configuration, rows: ActiveSet) -> ActiveSet:
        """Return all rows on every rank (collective)."""
        return join_rows(configuration.comm, rows)

    def entities_of(self, active: ActiveSet) -> ActiveSet:
        """Return the vertices of places."""
        return {name: vertices for name, vertices in active.items() if name.endswith("vertices")}

    def needed(self, configuration: Configuration, entities: ActiveSet) -> Ints:
        """Return the numbers of the vertices that this rank's share of entities needs."""
        return self.entities.needed(configuration, entities)

    def listed(self, configuration: Configuration, entities: ActiveSet) -> list[Listed]:
        """Return this rank's share of entities by their vertices."""
        return [self.entities.listed(configuration, entities)]

    def renew(self, configuration: Configuration) -> dict[Form, Form]:
        """Return the form of the entities that were found by the one before (collective)."""
        term = self.term
        law, read = term._substitution, term._reading.placed
        jets = [*law.jets, *law.rates, *read, *((k, "value") for k in range(len(term.ends)))]
        every = [(k, name) for k, jet in jets for name in term.ends[k].curved or (jet,)]
        self.entities.renew(configuration, list(dict.fromkeys(every)))
        before = self.form
        self.form = replace(self.own_form(configuration), uniform=before.uniform)
        return {before: self.form}

    # ---- results --------------------------------------------------------------------------------
    def at_places(self, configuration: Configuration) -> At:
        """Return what the law depends on at this rank's places, (n,) or a number, by symbol."""
        values: At = {**self.cell}
        values |= self.entities.values(configuration, self.jets, self.term.law.unknowns)
        for name, value in self.uniform.items():
            what = f"{name} of {self.name!r}"
            values[name] = _at_times(partial(evaluate, what, value), configuration.time)
        if self.term._reading.history:
            values |= configuration.memory.at(self.name)
            values[STEP] = configuration.memory.length(configuration.time)
        return values | {str(TIME): _at_times(float, configuration.time)}

    def positions(self, configuration: Configuration, number: int) -> Array:
        """Return the present positions (n, 3) of this rank's places of an end."""
        entities, jet = self.entities, (number, "value")
        if number not in self._positions:
            substitution = Substitution.of(self.term.ends, [jet])
            jets, cell = (
                entities.jets(configuration, substitution.jets),
                substitution.cell_values(entities),
            )
            X = entities.constant(jet)
            X = entities.reference(configuration, jets, 3) if X is None else X
            names = map(str, symbols_of(jet, "reference"))
            self._positions[number] = substitution, jets, cell | dict(zip(names, X.T, strict=True))
        substitution, jets, cell = self._positions[number]
        moved: At = {**cell, **entities.values(configuration, jets, substitution.unknowns)}
        return vector_of(substitution.resolve(moved), jet, len(entities.ids))


def _at_times(function: Callable[[float], float], time: float | Array) -> float | Array:
    """Return what a function is at a time, or (n, 1) at n times."""
    if isinstance(time, np.ndarray):
        return np.array([[function(t)] for t in time.tolist()])
    return function(time)


def vector_of(values: At, jet: JetOfEnd, n: int) -> Array:
    """Return the present vectors (..., n, 3) of a jet from the values of its symbols."""
    pairs = zip(symbols_of(jet, "reference"), symbols_of(jet, "change"), strict=True)
    parts = np.broadcast_arrays(*(values[str(X)] + values[str(u)] for X, u in pairs), np.zeros(n))
    return np.stack(parts[:3], axis=-1)


_LAWS: Shared[declare.PointLaw] = Shared()


def state_names(what: str, given: Any) -> list[str]:
    """Return the names of own states; one name may stand alone.

    Raises
    ------
    ConstraintError : a name that is none, comes twice or is that of something else.
    """
    if not isinstance(given, str | list | tuple):
        raise ConstraintError(
            f'{what}: states is {label(given)}: give names, states=("integral",)',
            asked="states",
            given=given,
        )
    names = [given] if isinstance(given, str) else list(given)
    for k, name in enumerate(names):
        in_use = name == "t" or name in names[:k]
        quantity = isinstance(name, str) and name.rpartition("_")[0] in QUANTITIES | RATES
        if not isinstance(name, str) or not name.isidentifier() or in_use or quantity:
            raise ConstraintError(
                f"{what}: {label(name)} cannot be the name of a state: give names of their own, "
                'states=("integral",)',
                asked="states",
                given=name,
            )
    return names


def _kinked(law: declare.PointLaw) -> bool:
    """Whether the forces of a law may have kinks in what moves; one in time is none."""
    powers = [part for pair in law.powers for part in pair]
    work = [*law.work.values()] if law.work is not None else [law.energy]
    still = {p.symbol for p in law.parameters}
    for symbol, value in (*law.geometry, *law.lets):
        if symbolic(value).free_symbols <= still:
            still.add(symbol)
    return any(kinked(symbolic(e), still) for e in [*work, *powers, *(v for _, v in law.lets)])
