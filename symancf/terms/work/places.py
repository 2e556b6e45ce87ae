# SPDX-License-Identifier: BSD-3-Clause
"""Terms at tuples of places, made of a function of the user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from ...assembly import numbering
from ...errors import ConstraintError
from ...runtime import jit
from ...runtime.collective import together
from ...runtime.shared import Shared
from ...values import arguments
from ...values.arguments import named
from ...values.arrays import Array, Ints32
from ...values.parameter import evaluate, label
from ..entities import Entities
from ..quantities import QUANTITIES, RATES, JetOfEnd, Reading, check_ends

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from symancf_codegen import declare

    from ...assembly.configuration import Configuration, Layout
    from ...assembly.piece import Jets, Piece, Role
    from ...places.ends import End
    from ..substitution import Substitution


class PlaceTerm:
    """A law at tuples of places, made of a user's function; see `VirtualWork`, `Potential`.

    A parameter given as an array has one value per place.
    """

    role: Role
    kind: str

    def __init__(
        self,
        function: Callable[..., Any],
        ends: Sequence[End],
        name: str | None,
        parameters: Mapping[str, Any],
        *,
        rates: bool,
        states: Sequence[str] = (),
    ) -> None:
        function = arguments.function(f"the function of a {self.kind}", function)
        given_name = str(getattr(function, "__name__", self.kind))
        self.name: str = named(name, given_name)
        self.law_name = jit.identifier(given_name)  # terms of one function share their kernel
        self.what = f"{self.kind} {self.name!r}"
        self.ends = check_ends(self.what, ends)
        self.states = state_names(self.what, states)
        self.reading = Reading(
            self.what,
            function,
            self.ends,
            parameters,
            rates=rates,
            states=self.states,
            vector=sp.ImmutableMatrix,
        )
        self._functions: dict[tuple[sp.Expr, ...], jit.Values] = {}
        self.parameters = dict(self.reading.parameters)

    @property
    def place(self) -> End:
        """The first end."""
        return self.ends[0]

    # ---- the law ------------------------------------------------------------------------------
    substitution: Substitution

    @property
    def jets(self) -> list[JetOfEnd]:
        """The jets that are gathered."""
        return self.substitution.jets

    @property
    def rates(self) -> list[JetOfEnd]:
        """The jets whose rates are gathered."""
        return self.substitution.rates

    results: list[sp.Expr]  # of the function, in the symbols of its arguments

    def law(self) -> Any:
        """Return the point law."""
        raise NotImplementedError

    def domain(self) -> tuple[sp.Expr, ...]:
        """Return expressions of the jets that must be positive."""
        return ()

    def _structure(self) -> tuple[Any, ...]:
        """Return what the law follows from."""
        own = type(self), self.law_name, self.domain()
        return (*own, *self.reading.structure(self.results))

    def _parameters(self, *expressions: sp.Expr) -> tuple[declare.Parameter, ...]:
        lets = (e for _, e in self.substitution.lets)
        return tuple(self.reading.law_parameters(*expressions, *lets))

    # ---- as a term ----------------------------------------------------------------------------
    def declare(self, layout: Layout) -> None:
        """Announce entities and vertices before distribution."""
        own = numbering.states(len(self.states)) if self.states else None
        self.entities = Entities(layout, self.name, self.ends, own)
        self.reading.require_places(self.entities.size)

    def carriers(self, system: Configuration) -> list[tuple[str, Ints32]]:
        """Take this rank's entities; return the blocks that the term puts on vertices."""
        self.entities.bind(system)
        return self.entities.carriers()

    def pieces(self, system: Configuration) -> list[Piece]:
        """Return the kernel and entities on this rank."""
        with together(system.comm):
            self._jets = self._all_jets(system)
            self._cell = self.reading.cell_values(system, self.entities)
            self._cell |= self.substitution.cell_values(self.entities)
        self._law = _LAWS.get(self._structure(), self.law)
        kernel = jit.points(self._law, system.comm)
        piece = self.entities.piece(
            self.name, kernel, self.role, self.parameters, self._cell, self._jets
        )
        return [piece]

    def _all_jets(self, system: Configuration) -> Jets:
        rates = ((end, jet, "rate") for end, jet in self.substitution.rates)
        wanted: list[Any] = [*self.substitution.jets, *rates]
        return self.entities.jets(
            system,
            wanted,
            scalars=len(self.states),
            rates=bool(self.states),
        )

    def _unknowns(self) -> tuple[sp.Symbol, ...]:
        """Symbols of all jets in their order: states, rates, own states and their rates."""
        own = [*self.reading.states.values(), *(sp.Symbol(f"rate_{s}") for s in self.states)]
        return (*self.substitution.unknowns, *own)

    @property
    def rate_of(self) -> dict[sp.Symbol, sp.Expr]:
        """The rates of what the law depends on, by its symbols; see `PointLaw.rate_of`."""
        return {}

    def _compiled(self, expressions: tuple[sp.Expr, ...]) -> jit.Values:
        """Return expressions as a function of values by name."""
        if expressions not in self._functions:
            known = [self.substitution.known(e) for e in expressions]
            lets = tuple(self.substitution.lets)
            self._functions[expressions] = jit.Values(known, lets, self.rate_of)
        return self._functions[expressions]

    def _values(self, system: Configuration, expressions: Sequence[sp.Expr]) -> Array:
        """Return expressions at the present state, (places, expressions), on every rank."""
        jets, n = self._jets, len(self.entities.ids)
        symbols = self._unknowns()
        values = np.zeros((n, len(symbols)))
        c = jets.coordinate
        given = np.where(c >= 0, system.state[np.maximum(c, 0)], system.rate[np.maximum(~c, 0)])
        np.add.at(values, (jets.entity, jets.jet), jets.value * given)
        gathered = {s.name: values[:, k] for k, s in enumerate(symbols)}
        at: dict[str, Any] = gathered | self._cell
        at |= {
            k: evaluate(f"{k} of {self.name!r}", v, system.time) for k, v in self.parameters.items()
        }
        at["t"] = system.time
        found = np.zeros((self.entities.size, len(expressions)))
        if n:
            made = self._compiled(tuple(expressions))(at)
            mine = self.entities.owned
            columns = [np.broadcast_to(column, (n,))[mine] for column in made]
            found[self.entities.ids[mine]] = np.stack(columns, axis=1)
        return np.asarray(system.sum(found))


_LAWS: Shared[Any] = Shared()


def state_names(what: str, given: Any) -> list[str]:
    """Return the names of own states; one name may stand alone.

    Raises
    ------
    ConstraintError : a name that is none, comes twice or is that of something else.
    """
    names = [given] if isinstance(given, str) else list(given)
    for k, name in enumerate(names):
        taken = name == "t" or name in names[:k]
        quantity = isinstance(name, str) and name.rpartition("_")[0] in QUANTITIES | RATES
        if not isinstance(name, str) or not name.isidentifier() or taken or quantity:
            raise ConstraintError(
                f"{what}: {label(name)} cannot be the name of a state: give names of their own, "
                'states=("integral",)'
            )
    return names
