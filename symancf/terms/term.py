# SPDX-License-Identifier: BSD-3-Clause
"""Terms at tuples of places, made of a function of the user."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import sympy as sp

from symancf_codegen.functions import kinked, symbolic

from ..arrays import Array, Ints, Ints32
from ..assembly import numbering
from ..assembly.configuration import require_system
from ..assembly.piece import Piece
from ..errors import ConstraintError
from ..kinematics.memory import STEP
from ..places.opposite import in_pairs
from ..runtime import jit
from ..runtime.collective import together
from ..runtime.copies import OneProcess
from ..runtime.shared import Shared
from ..runtime.shown import Shown
from ..values import arguments
from ..values.arguments import named
from ..values.parameter import evaluate, label
from .entities import Entities
from .quantities import QUANTITIES, RATES, TIME, check_ends, symbols_of
from .reading import Reading
from .substitution import Substitution

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from symancf_codegen import declare

    from ..assembly.configuration import Configuration, Layout
    from ..assembly.numbering import Block
    from ..assembly.piece import Jets, Listed, Role
    from ..assembly.revisions import Change
    from ..assembly.state import ActiveSet
    from ..places.ends import End
    from ..values.parameter import Scalar
    from .quantities import At, Given, JetOfEnd, Law, V


@dataclass
class AtPlaces:
    """What a term has gathered at this rank's places of a system.

    Attributes
    ----------
    jets : what its law depends on.
    cell : (n,) reference values, arms and parameters given per place, by symbol.
    uniform : parameters that are the same at all places.
    positions : of ends, by number: what their positions follow from, found when asked for.
    """

    jets: Jets
    cell: dict[str, Array]
    uniform: dict[str, Scalar]
    positions: dict[int, tuple[Substitution, Jets, dict[str, Array]]] = field(default_factory=dict)


class PlaceTerm(OneProcess, Shown):
    """A law at tuples of places, made of a user's function.

    Such are `Constraint`, `VirtualWork` and `Potential`. A parameter given as an array has one
    value per place. What a term finds in a system it keeps there; it may serve in several.

    Attributes
    ----------
    substitution : of the jets that the law depends on.
    growing : parameters that are sizes of loads which turn with the body; see `Piece`.
    """

    role: Role
    kind: str
    vector: ClassVar[type[V]] = sp.ImmutableMatrix
    growing: ClassVar[tuple[str, ...]] = ()
    substitution: Substitution

    def __init__(
        self,
        function: Law,
        ends: Sequence[End],
        name: str | None,
        parameters: Mapping[str, Given],
        *,
        rates: bool = False,
        states: Sequence[str] = (),
    ) -> None:
        function = arguments.function(f"the function of a {self.kind}", function)
        given_name = str(getattr(function, "__name__", self.kind))
        self.name: str = named(name, given_name)
        self.law_name = jit.identifier(given_name)  # terms of one function share their kernel
        self.what = f"{self.kind} {self.name!r}"
        self.ends = in_pairs(self.what, check_ends(self.what, ends))
        self._require_ends()
        self.states = state_names(self.what, states)
        self.reading = Reading(
            self.what,
            function,
            self.ends,
            parameters,
            rates=rates,
            states=self.states,
            vector=self.vector,
        )
        self.parameters = dict(self.reading.parameters)
        self._functions: dict[tuple[sp.Expr, ...], jit.Values] = {}

    def headline(self) -> str:
        """Return kind and name."""
        return self.what

    def facts(self) -> list[tuple[str, str]]:
        """Return the places and parameters."""
        places = [("on", str(end)) for end in self.ends]
        given = [(name, label(value)) for name, value in self.parameters.items()]
        return [("", "value"), *places, *given] if places or given else []

    def _require_ends(self) -> None:
        """Raise where ends do not fit the term."""

    # ---- the law ------------------------------------------------------------------------------
    results: Sequence[sp.Expr]  # of the function, in the symbols of its arguments

    @cached_property
    def law(self) -> declare.PointLaw:
        """The point law; terms that are alike have it in common."""
        own: tuple[Hashable, ...] = (type(self)._law, self.law_name, self.domain())
        return _LAWS.get(own + self.reading.structure(self.results), self._law)

    def _law(self) -> declare.PointLaw:
        raise NotImplementedError

    def _history(self) -> tuple[declare.Memory, ...]:
        """Return what a place remembers, in the symbols of the law."""
        known, over = self.substitution.known, self.reading.integrand
        return tuple(
            replace(
                m,
                update=over(known(m.update)) if m.total else known(m.update),
                initial=known(m.initial),
            )
            for m in self.reading.history
        )

    def _stored(self) -> sp.Expr | None:
        """Return the energy that a place with memory stores."""
        stored = self.reading.stored
        known = self.substitution.known
        return None if stored is None else self.reading.integrand(known(stored))

    def domain(self) -> tuple[sp.Expr, ...]:
        """Return expressions of the jets that must be positive."""
        return ()

    def _parameters(self, *expressions: sp.Expr) -> tuple[declare.Parameter, ...]:
        lets = [e for _, e in self.substitution.lets]
        lets += [e for m in self._history() for e in (m.update, m.initial)]
        lets += [self.substitution.known(self.reading.stored)] if self.reading.history else []
        return tuple(self.reading.law_parameters(*expressions, *lets))

    def _unknowns(self) -> tuple[sp.Symbol, ...]:
        """Symbols of all jets in their order: changes, rates, own states and their rates."""
        own = [*self.reading.states.values(), *(sp.Symbol(f"rate_{s}") for s in self.states)]
        return (*self.substitution.unknowns, *own)

    @property
    def rate_of(self) -> dict[sp.Symbol, sp.Expr]:
        """The rates of what the law depends on, by its symbols; see `PointLaw.rate_of`."""
        return {}

    # ---- as a term ----------------------------------------------------------------------------
    @property
    def multipliers_of_place(self) -> int:
        """Number of multipliers that each tuple of places has."""
        return 0

    @property
    def block(self) -> Block | None:
        """The block of the unknowns that each tuple of places has of its own."""
        return numbering.states(len(self.states)) if self.states else None

    def bind(self, layout: Layout) -> Self:
        """Announce entities and vertices before distribution (collective)."""
        entities = Entities(layout, layout.name(self), self.ends, self.block)
        self.reading.require_places(entities.size)
        layout.keep(self, entities)
        return self

    def entities(self, configuration: Configuration) -> Entities:
        """Return the tuples of places in a system."""
        require_system(self.what, configuration)
        return configuration.of(self, Entities)

    def carriers(self, configuration: Configuration) -> list[tuple[str, Ints32]]:
        """Take this rank's entities; return the blocks that the term puts on vertices."""
        entities = self.entities(configuration)
        entities.bind(configuration)
        return entities.carriers()

    def pieces(self, configuration: Configuration) -> list[Piece]:
        """Return the kernel and entities on this rank."""
        entities = self.entities(configuration)
        with together(configuration.comm):
            own = self.multipliers_of_place or len(self.states)
            law, moving = self.substitution, bool(self.states)
            jets = entities.jets(configuration, law.jets, law.rates, own, moving)
            cell = self.cell_values(configuration)
        gathered = configuration.keep(self, AtPlaces(jets, cell, self.uniform(configuration)))
        piece = entities.piece(
            configuration.name(self),
            jit.points(self.law, configuration.comm),
            self.role,
            gathered.uniform,
            cell,
            jets,
            self.law if self.multipliers_of_place else None,
            self.multipliers_of_place,
        )
        piece.growing, piece.kinked = self.growing, _kinked(self.law)
        if entities.changing and configuration.layout.find(self, Piece) is None:
            configuration.keep(self, piece)
        return [piece]

    # ---- lists that change, see `Revises` -------------------------------------------------------
    def changes(self, configuration: Configuration) -> bool:
        """Tell whether an end travels."""
        return self.entities(configuration).changing

    def search(self, configuration: Configuration, time: float) -> Change:
        """Find the places of ends that travel (collective)."""
        return self.entities(configuration).search(configuration, time)

    def active(self, configuration: Configuration) -> ActiveSet:
        """Return where the ends that travel are."""
        return self.entities(configuration).active()

    def activate(self, configuration: Configuration, active: ActiveSet) -> bool:
        """Take places of `active`; tell whether they are others."""
        return self.entities(configuration).activate(configuration, active)

    def entities_of(self, active: ActiveSet) -> ActiveSet:
        """Return the vertices of places."""
        return {name: vertices for name, vertices in active.items() if name.endswith("vertices")}

    def needed(self, configuration: Configuration, entities: ActiveSet) -> Ints:
        """Return the numbers of the vertices that this rank's share of entities needs."""
        return self.entities(configuration).needed(configuration, entities)

    def listed(self, configuration: Configuration, entities: ActiveSet) -> list[Listed]:
        """Return this rank's share of entities by their vertices."""
        return [self.entities(configuration).listed(configuration, entities)]

    def renew(self, configuration: Configuration) -> list[Piece]:
        """Replace the entities by those that were found (collective)."""
        law, read = self.substitution, self.reading.placed
        asked = [*law.jets, *law.rates, *read, *((k, "value") for k in range(len(self.ends)))]
        every = [(k, name) for k, jet in asked for name in self.ends[k].curved or (jet,)]
        self.entities(configuration).renew(configuration, list(dict.fromkeys(every)))
        piece = configuration.of(self, Piece)
        piece.replace(*self.pieces(configuration))
        return [piece]

    def cell_values(self, configuration: Configuration) -> dict[str, Array]:
        """Return what the law takes at each of this rank's places, (n,) by symbol."""
        entities = self.entities(configuration)
        found = self.reading.cell_values(configuration, entities)
        return found | self.substitution.cell_values(entities)

    def size(self, configuration: Configuration) -> float:
        """Return the number of places, or the length of the edges that they are on (collective)."""
        entities = self.entities(configuration)
        if self.reading.edges is None:
            return entities.size
        with together(configuration.comm):
            own = self.reading.lengths(configuration, entities)[entities.owned]
        return float(configuration.sum(np.array([own.sum()]))[0])

    def uniform(self, configuration: Configuration) -> dict[str, Scalar]:
        """Return the values of parameters that are the same at all places (collective)."""
        return dict(self.parameters)

    # ---- results --------------------------------------------------------------------------------
    def at_places(self, configuration: Configuration) -> At:
        """Return what the law depends on at this rank's places, (n,) or a number, by symbol."""
        entities, gathered = self.entities(configuration), configuration.of(self, AtPlaces)
        found: At = {**gathered.cell}
        found |= entities.values(configuration, gathered.jets, self.law.unknowns)
        for name, value in gathered.uniform.items():
            what = f"{name} of {configuration.name(self)!r}"
            found[name] = evaluate(what, value, configuration.time)
        if self.reading.history:
            found |= configuration.memory.at(configuration.name(self))
            found[STEP] = configuration.memory.length(configuration.time)
        return found | {str(TIME): configuration.time}

    def _compiled(self, expressions: tuple[sp.Expr, ...]) -> jit.Values:
        """Return expressions as a function of values by name."""
        if expressions not in self._functions:
            known = [self.substitution.known(e) for e in expressions]
            lets = tuple(self.substitution.lets)
            self._functions[expressions] = jit.Values(known, lets, self.rate_of)
        return self._functions[expressions]

    def _values(self, configuration: Configuration, expressions: Sequence[sp.Expr]) -> Array:
        """Return expressions at the present state, (places, expressions), on every rank."""
        entities = self.entities(configuration)
        found = np.zeros((entities.size, len(expressions)))
        with together(configuration.comm):
            at, n = self.at_places(configuration), len(entities.ids)
            if n:
                made, mine = self._compiled(tuple(expressions))(at), entities.owned
                columns = [np.broadcast_to(column, (n,))[mine] for column in made]
                found[entities.ids[mine]] = np.stack(columns, axis=1)
        return configuration.sum(found)

    def positions(self, configuration: Configuration, number: int) -> Array:
        """Return the present positions (n, 3) of this rank's places of an end."""
        entities, known = self.entities(configuration), configuration.of(self, AtPlaces).positions
        jet = (number, "value")
        if number not in known:
            found = Substitution.of(self.ends, [jet])
            jets, cell = entities.jets(configuration, found.jets), found.cell_values(entities)
            X = entities.constant(jet)
            X = entities.reference(configuration, jets, 3) if X is None else X
            names = map(str, symbols_of(jet, "reference"))
            known[number] = found, jets, cell | dict(zip(names, X.T, strict=True))
        found, jets, cell = known[number]
        moved: At = {**cell, **entities.values(configuration, jets, found.unknowns)}
        return vector_of(found.resolve(moved), jet, len(entities.ids))


def vector_of(values: At, jet: JetOfEnd, n: int) -> Array:
    """Return the present vectors (n, 3) of a jet from the values of its symbols."""
    pairs = zip(symbols_of(jet, "reference"), symbols_of(jet, "change"), strict=True)
    parts = [np.broadcast_to(values[str(X)] + values[str(u)], (n,)) for X, u in pairs]
    return np.stack(parts, axis=1)


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
        taken = name == "t" or name in names[:k]
        quantity = isinstance(name, str) and name.rpartition("_")[0] in QUANTITIES | RATES
        if not isinstance(name, str) or not name.isidentifier() or taken or quantity:
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
