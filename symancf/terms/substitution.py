# SPDX-License-Identifier: BSD-3-Clause
"""Quantities of places on planar bodies: functions of (ux, uy, phi), put into users' laws.

A place on a mesh or on a rigid body in space has jets that are linear in the coordinates. Those
of a place on a planar body are not: r = X + u + (R(phi) - 1) s. Laws are derived from what the
user's function returns in the symbols of the jets; here these become names (lets) of
expressions of the coordinates, which the compiler differentiates through.
"""

from __future__ import annotations

from copy import copy
from functools import cached_property, partial
from typing import TYPE_CHECKING

import sympy as sp

from symancf_codegen.functions import rate, symbolic

from ..arrays import Array
from ..places.ends import Ground
from ..runtime import jit
from ..runtime.shared import Shared
from .quantities import JetOfEnd, integer_exponents, kind_of_end, symbols_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..places.ends import End
    from .entities import Entities
    from .quantities import At, E

Let = tuple[sp.Symbol, sp.Expr]


class Substitution:
    """The jets that are gathered for those that a law asks for, and the lets between them.

    It follows from the kinds of the ends and from the jets: `of` returns one for all alike.

    Attributes
    ----------
    jets, rates : (end, jet) to gather: those asked for, or the ``planar`` one of their end; of
        rates only those of which `gathered` are functions.
    lets : definitions of the changes and rates of jets of planar ends.
    arms : symbols of references that they use beside those that a law asks for, as arms of planar
        ends, and the end, jet and component that each is of.
    constants : components that are known beforehand, because everything stays in the plane.
    """

    def __init__(
        self,
        ends: Sequence[End],
        jets: Sequence[JetOfEnd],
        rates: Sequence[JetOfEnd] = (),
        gathered: Sequence[JetOfEnd] = (),
    ) -> None:
        self.jets: list[JetOfEnd] = []
        self.rates: list[JetOfEnd] = []
        self.lets: list[Let] = []
        self.constants: dict[sp.Symbol, sp.Expr] = {}
        self.arms: dict[sp.Symbol, tuple[int, str, int]] = {}
        plane = any(end.plane for end in ends)
        if plane:
            for number, end in enumerate(ends):
                self._know(number, end)
        for jet in jets:
            self._gather(ends, jet, self.jets)
        for jet in rates:
            self._gather(ends, jet, self.jets)
            if jet in gathered:
                self._gather(ends, jet, self.rates)
        for jet in jets:
            self._define(ends, jet)
            if plane and isinstance(ends[jet[0]], Ground):
                for of in ("change", "rate"):
                    self.constants |= dict.fromkeys(symbols_of(jet, of), sp.S.Zero)
        for jet in rates:
            self._define_rate(ends, jet)

    @classmethod
    def of(
        cls,
        ends: Sequence[End],
        jets: Sequence[JetOfEnd],
        rates: Sequence[JetOfEnd] = (),
        gathered: Sequence[JetOfEnd] = (),
    ) -> Substitution:
        """Return the one of these kinds of ends and these jets."""
        key = (*map(kind_of_end, ends), *map(tuple, (jets, rates, gathered)))
        return _SUBSTITUTIONS.get(key, lambda: cls(ends, jets, rates, gathered))

    def with_lets(self, lets: Sequence[Let]) -> Substitution:
        """Return the same with more lets, those of a law, behind its own."""
        if not lets:
            return self
        more = copy(self)
        more.__dict__.pop("_values", None)
        more.lets = [*self.lets, *((s, self.insert_constants(e)) for s, e in lets)]
        return more

    @staticmethod
    def _gather(ends: Sequence[End], jet: JetOfEnd, into: list[JetOfEnd]) -> None:
        for name in ends[jet[0]].curved or (jet[1],):
            if (jet[0], name) not in into:
                into.append((jet[0], name))

    def _know(self, number: int, end: End) -> None:
        """Note components of axes that are 0 or 1, at planar ends and on the ground."""
        if not (end.plane or isinstance(end, Ground)):
            return
        if end.plane:
            self.constants[symbols_of((number, "value"), "reference")[2]] = sp.S.Zero
        for k, a, value in integer_exponents(end.reference_frame):
            self.constants[symbols_of((number, f"axis{k}"), "reference")[a]] = sp.Integer(value)

    def _expressions(self, ends: Sequence[End], jet: JetOfEnd) -> list[sp.Expr]:
        """Return the change of a jet of a curved end in the symbols of what is gathered."""
        number, name = jet
        used: dict[sp.Symbol, tuple[int, str, int]] = {}

        def reference(of: str) -> list[sp.Symbol]:
            symbols_there = symbols_of((number, of), "reference")
            used.update({s: (number, of, a) for a, s in enumerate(symbols_there)})
            return symbols_there

        change = partial(self._change, number)
        change_of = ends[number].expressed(name, change, reference)
        own = {s for e in change_of for s in symbolic(e).free_symbols}
        symbols = {s: of for s, of in used.items() if s in own and of[1] != name}
        self.arms |= {s: of for s, of in symbols.items() if s not in self.constants}
        return [symbolic(e).xreplace(self.constants) for e in change_of]

    @staticmethod
    def _change(number: int, jet: str) -> list[sp.Symbol]:
        return symbols_of((number, jet), "change")

    def _define(self, ends: Sequence[End], jet: JetOfEnd) -> None:
        if not ends[jet[0]].curved or jet[1] in ends[jet[0]].curved:
            return
        for u, e in zip(symbols_of(jet, "change"), self._expressions(ends, jet), strict=True):
            if e == 0:
                self.constants[u] = sp.S.Zero
            else:
                self.lets.append((u, e))

    def _define_rate(self, ends: Sequence[End], jet: JetOfEnd) -> None:
        if not ends[jet[0]].curved or jet[1] in ends[jet[0]].curved:
            return
        for u, v in zip(symbols_of(jet, "change"), symbols_of(jet, "rate"), strict=True):
            if u in self.constants:
                self.constants[v] = sp.S.Zero
            else:
                self.lets.append((v, rate(u)))

    # ---- laws -----------------------------------------------------------------------------------
    @property
    def unknowns(self) -> list[sp.Symbol]:
        """Symbols of the changes of the gathered jets, then of the gathered rates."""
        changes = [s for jet in self.jets for s in symbols_of(jet, "change")]
        return changes + [s for jet in self.rates for s in symbols_of(jet, "rate")]

    @property
    def rate_of(self) -> dict[sp.Symbol, sp.Expr]:
        """The symbols of the rates of the gathered jets by those of their changes."""
        pairs = (
            zip(symbols_of(jet, "change"), symbols_of(jet, "rate"), strict=True)
            for jet in self.jets
        )
        return {u: v for pair in pairs for u, v in pair if u not in self.constants}

    def insert_constants(self, expression: E) -> E:
        """Put in the components that are known beforehand."""
        return expression.xreplace(self.constants)

    def depend(self, expression: sp.Expr) -> set[sp.Symbol]:
        """Return the unknowns on which an expression depends, through lets as well."""
        symbols = set(expression.free_symbols)
        for symbol, definition in reversed(self.lets):
            if symbol in symbols:
                symbols |= definition.free_symbols
        return symbols & set(self.unknowns)

    # ---- numbers --------------------------------------------------------------------------------
    def cell_values(self, entities: Entities) -> dict[str, Array]:
        """Return the arms, and the like, at this rank's entities, by symbol."""
        values = {}
        for symbol, (number, jet, a) in self.arms.items():
            arm = entities.constant((number, jet))
            assert arm is not None
            values[str(symbol)] = arm[:, a]
        return values

    def resolve(self, values: At) -> At:
        """Add to values, by symbol, those of the lets and of what is constant."""
        by_name = {s.name: float(v) for s, v in self.constants.items()} | dict(values)
        computed = self._values(by_name)
        return by_name | {s.name: x for (s, _), x in zip(self.lets, computed, strict=True)}

    @cached_property
    def _values(self) -> jit.Values:
        return jit.Values([s for s, _ in self.lets], tuple(self.lets), self.rate_of)


_SUBSTITUTIONS: Shared[Substitution] = Shared()
