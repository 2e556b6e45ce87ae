# SPDX-License-Identifier: BSD-3-Clause
"""Quantities of places on planar bodies: functions of (ux, uy, phi), put into users' laws.

A place on a mesh or on a rigid body in space has jets that are linear in the coordinates. Those
of a place on a planar body are not: r = X + u + (R(phi) - 1) s. Laws are derived from what the
user's function returns in the symbols of the jets; here these become names (lets) of
expressions of the coordinates, which the compiler differentiates through.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import sympy as sp

from .places.ends import Ground
from .quantities import JetOfEnd, symbols_of

if TYPE_CHECKING:
    from .assembly.plan import Jets
    from .places.ends import End
    from .system import System
    from .terms import Entities

Array = npt.NDArray[np.float64]
Let = tuple[sp.Symbol, sp.Expr]


class Substitution:
    """The jets that are gathered for those that a law asks for, and the lets between them.

    Attributes
    ----------
    jets, rates : (end, jet) to gather: those asked for, or the ``planar`` one of their end.
    lets : definitions of the changes and rates of jets of planar ends.
    arms : the symbols of the arms that they use, and the end that each is of.
    constants : components that are known beforehand, because everything stays in the plane.
    """

    def __init__(
        self, ends: Sequence[End], jets: Sequence[JetOfEnd], rates: Sequence[JetOfEnd] = ()
    ) -> None:
        self.jets: list[JetOfEnd] = []
        self.rates: list[JetOfEnd] = []
        self.lets: list[Let] = []
        self.constants: dict[sp.Symbol, sp.Expr] = {}
        self.arms: dict[sp.Symbol, tuple[int, int]] = {}
        self._changes: dict[sp.Symbol, sp.Expr] = {}
        plane = any(end.curved for end in ends)
        if plane:
            for number, end in enumerate(ends):
                self._know(number, end)
        for jet in jets:
            self._gather(ends, jet, self.jets)
        for jet in rates:
            if ends[jet[0]].curved:
                self._gather(ends, jet, self.jets)
            self._gather(ends, jet, self.rates)
        for jet in jets:
            self._define(ends, jet)
            if plane and isinstance(ends[jet[0]], Ground):
                self.constants |= dict.fromkeys(symbols_of(jet, "change"), sp.S.Zero)
        for jet in rates:
            self._define_rate(ends, jet)

    @staticmethod
    def _gather(ends: Sequence[End], jet: JetOfEnd, into: list[JetOfEnd]) -> None:
        wanted = (jet[0], ends[jet[0]].curved or jet[1])
        if wanted not in into:
            into.append(wanted)

    def _know(self, number: int, end: End) -> None:
        """Note components of axes that are 0 or 1, at planar ends and on the ground."""
        if not (end.curved or isinstance(end, Ground)):
            return
        if end.curved:
            self.constants[symbols_of((number, "value"), "reference")[2]] = sp.S.Zero
        for k in range(3):
            for a, symbol in enumerate(symbols_of((number, f"axis{k}"), "reference")):
                value = float(end.reference_frame[a, k])
                if abs(value - round(value)) < 1e-14:  # round-off of a frame
                    self.constants[symbol] = sp.Integer(round(value))

    def _expressions(self, ends: Sequence[End], jet: JetOfEnd) -> list[sp.Expr]:
        """Return the change of a jet of a planar end in the symbols of its coordinates."""
        number, name = jet
        end = ends[number]
        assert end.curved is not None
        q = symbols_of((number, end.curved), "change")
        arm = symbols_of((number, "arm"), "reference")
        if name == "value":
            self.arms |= {arm[a]: (number, a) for a in (0, 1)}
        X = arm if name == "value" else symbols_of(jet, "reference")
        found = end.expressed(name, q, X)
        return [sp.sympify(e).xreplace(self.constants) for e in found]

    def _define(self, ends: Sequence[End], jet: JetOfEnd) -> None:
        if not ends[jet[0]].curved:
            return
        for u, e in zip(symbols_of(jet, "change"), self._expressions(ends, jet), strict=True):
            if e == 0:
                self.constants[u] = sp.S.Zero
            else:
                self._changes[u] = e
                self.lets.append((u, e))

    def _define_rate(self, ends: Sequence[End], jet: JetOfEnd) -> None:
        end = ends[jet[0]]
        if not end.curved:
            return
        coordinates = (jet[0], end.curved)
        q, rate = symbols_of(coordinates, "change"), symbols_of(coordinates, "rate")
        changes = symbols_of(jet, "change")
        for u, v, e in zip(
            changes, symbols_of(jet, "rate"), self._expressions(ends, jet), strict=True
        ):
            self._changes.setdefault(u, e)
            flow = sp.Add(*[sp.diff(e, x) * y for x, y in zip(q, rate, strict=True)])
            if flow == 0:
                self.constants[v] = sp.S.Zero
            else:
                self.lets.append((v, flow))

    # ---- laws -----------------------------------------------------------------------------------
    @property
    def unknowns(self) -> list[sp.Symbol]:
        """Symbols of the changes of the gathered jets, then of the gathered rates."""
        changes = [s for jet in self.jets for s in symbols_of(jet, "change")]
        return changes + [s for jet in self.rates for s in symbols_of(jet, "rate")]

    def known(self, expression: Any) -> Any:
        """Put in the components that are known beforehand."""
        return expression.xreplace(self.constants)

    def pulled_back(self, work: dict[sp.Symbol, sp.Expr]) -> dict[sp.Symbol, sp.Expr]:
        """Return forces on coordinates for forces on changes of jets: (d change / d q)^T f."""
        found: dict[sp.Symbol, sp.Expr] = {}
        for symbol, force in work.items():
            if symbol not in self._changes:
                if symbol not in self.constants:
                    found[symbol] = found.get(symbol, sp.S.Zero) + force
                continue
            expression = self._changes[symbol]
            for q in sorted(expression.free_symbols & set(self.unknowns), key=str):
                found[q] = found.get(q, sp.S.Zero) + sp.diff(expression, q) * force
        return found

    def depend(self, expression: sp.Expr) -> set[sp.Symbol]:
        """Return the unknowns on which an expression depends, through lets as well."""
        found = set(expression.free_symbols)
        for symbol, definition in reversed(self.lets):
            if symbol in found:
                found |= definition.free_symbols
        return found & set(self.unknowns)

    # ---- numbers --------------------------------------------------------------------------------
    def cell_values(self, entities: Entities) -> dict[str, Array]:
        """Return the arms at this rank's entities, by symbol."""
        found = {}
        for symbol, (number, a) in self.arms.items():
            arm = entities.ends[number].constant("arm")
            assert arm is not None
            found[str(symbol)] = np.broadcast_to(arm[:, a], (entities.size,))[entities.ids]
        return found

    def gather(self, system: System, entities: Entities, jets: Jets) -> dict[str, Array]:
        """Return the present values (n,) of the gathered jets and rates, by symbol."""
        symbols = self.unknowns
        values = np.zeros((len(entities.ids), len(symbols)))
        chosen = jets.jet < len(symbols)
        c = jets.coordinate[chosen]
        given = np.where(c >= 0, system.state[np.maximum(c, 0)], system.rate[np.maximum(~c, 0)])
        np.add.at(values, (jets.entity[chosen], jets.jet[chosen]), jets.value[chosen] * given)
        return {s.name: values[:, k] for k, s in enumerate(symbols)}

    def resolve(self, values: dict[str, Any]) -> dict[str, Any]:
        """Add to values, by symbol, those of the lets and of what is constant."""
        found = {s.name: float(v) for s, v in self.constants.items()} | dict(values)
        for name, names, function in self._functions:
            found[name] = function(*(found[n] for n in names))
        return found

    @cached_property
    def _functions(self) -> list[tuple[str, list[str], Callable[..., Any]]]:
        """The lets as NumPy functions of the values of names."""
        made = []
        for symbol, definition in self.lets:
            names = sorted({s.name for s in definition.free_symbols})
            plain = {s: sp.Symbol(s.name) for s in definition.free_symbols}
            made.append(
                (symbol.name, names, sp.lambdify(names, definition.xreplace(plain), "numpy"))
            )
        return made
