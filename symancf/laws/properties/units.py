# SPDX-License-Identifier: BSD-3-Clause
"""Units of the terms of a law, which are one, and of its parameters, which follow.

Exponents of length, mass and time of each parameter are unknowns of linear equations: terms of a
sum are alike, arguments of functions have no unit. Numbers with a decimal point may have one:
``20.0*(J - 1)**2`` writes a modulus as a number.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import sympy as sp

from .property import Property

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

NAME = "units"

#: Exponents of metre, kilogram and second.
Exponents = tuple[sp.Expr, sp.Expr, sp.Expr]
NO_UNIT: Exponents = (sp.S.Zero, sp.S.Zero, sp.S.Zero)
NAMED = {
    (-1, 1, -2): "Pa",
    (1, 1, -2): "N",
    (2, 1, -2): "J",
    (0, 1, -2): "N/m",
    (3, 1, -2): "N m^2",
    (0, 0, 1): "s",
    (0, 0, -1): "1/s",
    (1, 0, 0): "m",
    (-1, 0, 0): "1/m",
    (0, 0, 0): "-",
}


def unit_of(text: str) -> Exponents:
    """Return the exponents of a unit, ``"J/m^3"``."""
    named = {
        "J/m^3": (-1, 1, -2),
        "J/m^2": (0, 1, -2),
        "J/m": (1, 1, -2),
        "J": (2, 1, -2),
        "N": (1, 1, -2),
        "m": (1, 0, 0),
        "1/m": (-1, 0, 0),
        "s": (0, 0, 1),
        "m/s": (1, 0, -1),
        "-": (0, 0, 0),
        "Pa": (-1, 1, -2),
    }[text]
    return sp.Integer(named[0]), sp.Integer(named[1]), sp.Integer(named[2])


class Contradiction(Exception):
    """Two units that cannot be one, of what."""


@dataclass
class _Units:
    """Exponents of symbols, found from expressions one after the other."""

    quantities: dict[sp.Symbol, Exponents]
    unknown: dict[sp.Symbol, Exponents] = field(default_factory=dict)
    solved: dict[sp.Symbol, sp.Expr] = field(default_factory=dict)
    table: dict[sp.Expr, Exponents | None] = field(default_factory=dict)

    def of(self, e: sp.Expr) -> Exponents | None:
        """Return the unit of an expression; None: it may have any, as 0 and decimal numbers.

        Parts that occur in many places are looked at once.
        """
        if e not in self.table:
            self.table[e] = self._of(e)
        return self.table[e]

    def _of(self, e: sp.Expr) -> Exponents | None:
        if isinstance(e, sp.Symbol):
            return self._of_symbol(e)
        if e.is_number:
            return None if e == 0 or e.has(sp.Float) or e.has(sp.nan, sp.oo, sp.zoo) else NO_UNIT
        if isinstance(e, sp.Add | sp.Max | sp.Min):
            return self.alike(e.args, e)
        if isinstance(e, sp.Mul):
            return self._of_product(e)
        if isinstance(e, sp.Pow):
            return self._of_power(e)
        if isinstance(e, sp.Piecewise):
            return self._of_cases(e)
        if isinstance(e, sp.Abs):
            return self.of(e.args[0])
        if type(e).__name__ == "atan2":
            self.alike(e.args, e)
            return NO_UNIT
        for argument in e.args:
            self._require_none(self.of(argument), e)
        return NO_UNIT

    def alike(self, terms: Iterable[sp.Expr], of: sp.Basic) -> Exponents | None:
        """Return the unit that all terms have; None: any."""
        first: Exponents | None = None
        for term in terms:
            unit = self.of(term)
            if unit is None:
                continue
            if first is None:
                first = unit
            else:
                self.equate(first, unit, of)
        return first

    def equate(self, a: Exponents, b: Exponents, of: sp.Basic) -> None:
        """Let two units be one."""
        for x, y in zip(a, b, strict=True):
            rest = sp.expand((x - y).xreplace(self.solved))
            while rest.free_symbols & self.solved.keys():
                rest = sp.expand(rest.xreplace(self.solved))
            if not rest.free_symbols:
                if rest != 0:
                    raise Contradiction(of)
                continue
            s = min(rest.free_symbols, key=str)
            value = sp.expand(-(rest - rest.coeff(s) * s) / rest.coeff(s))
            self.solved = {k: sp.expand(v.xreplace({s: value})) for k, v in self.solved.items()}
            self.solved[s] = value

    def exponents(self, s: sp.Symbol) -> Exponents:
        """Return the exponents of a symbol, as far as they were found."""
        a, b, c = (sp.expand(x.xreplace(self.solved)) for x in self._of_symbol(s))
        return a, b, c

    def _of_symbol(self, s: sp.Symbol) -> Exponents:
        if s in self.quantities:
            return self.quantities[s]
        if s not in self.unknown:
            length, mass, time = (sp.Symbol(f"{x}_{s.name}") for x in ("length", "mass", "time"))
            self.unknown[s] = (length, mass, time)
        return self.unknown[s]

    def _of_product(self, e: sp.Mul) -> Exponents | None:
        total, free = NO_UNIT, False
        for factor in e.args:
            unit = self.of(factor)
            # beside parameters, which have the unit, if any, a number has none
            free |= unit is None and not (
                isinstance(factor, sp.Float) and e.free_symbols - self.quantities.keys()
            )
            if unit is not None:
                total = (total[0] + unit[0], total[1] + unit[1], total[2] + unit[2])
        return None if free else total

    def _of_power(self, e: sp.Pow) -> Exponents | None:
        base, exponent = e.args
        unit = self.of(base)
        if exponent.is_number:
            if unit is None:
                return None
            return unit[0] * exponent, unit[1] * exponent, unit[2] * exponent
        self._require_none(self.of(exponent), e)
        self._require_none(unit, e)
        return NO_UNIT

    def _of_cases(self, e: sp.Piecewise) -> Exponents | None:
        for _, condition in e.args:
            for relation in condition.atoms(sp.core.relational.Relational):
                self.alike(relation.args, relation)
        return self.alike([value for value, _ in e.args], e)

    def _require_none(self, unit: Exponents | None, of: sp.Basic) -> None:
        if unit is not None:
            self.equate(unit, NO_UNIT, of)


def units(
    equal: Iterable[tuple[sp.Expr, Exponents | sp.Symbol]],
    quantities: Mapping[sp.Symbol, Exponents],
    parameters: Iterable[sp.Symbol],
) -> Property:
    """Find the units of parameters, or an expression in which two units are added.

    Parameters
    ----------
    equal : pairs of an expression and the unit that it has, or the symbol with whose unit.
    quantities : their units.
    parameters : the symbols that are told.
    """
    try:
        found = exponents_of(equal, quantities, parameters)
    except Contradiction as error:
        of = error.args[0]
        text = str(of) if len(str(of)) < 160 else str(of)[:150] + " ..."
        return Property(NAME, "violation", f"terms of different units: {text}", {"expression": of})
    told = [f"{s} [{_in_words(exponents)}]" for s, exponents in found.items()]
    return Property(NAME, "proof", ", ".join(told) or "no parameter has a unit")


def exponents_of(
    equal: Iterable[tuple[sp.Expr, Exponents | sp.Symbol]],
    quantities: Mapping[sp.Symbol, Exponents],
    parameters: Iterable[sp.Symbol],
) -> dict[sp.Symbol, Exponents]:
    """Return the exponents of those parameters whose unit follows; arguments as of `units`.

    Raises
    ------
    Contradiction : an expression adds two units.
    """
    found = _Units(dict(quantities))
    for e, unit in equal:
        own = found.of(e)
        if own is not None:
            wanted = found._of_symbol(unit) if isinstance(unit, sp.Symbol) else unit
            found.equate(own, wanted, e)
    every = {s: found.exponents(s) for s in parameters}
    return {s: unit for s, unit in every.items() if not any(x.free_symbols for x in unit)}


def _in_words(unit: Exponents) -> str:
    key = (unit[0], unit[1], unit[2])
    if key in NAMED:
        return NAMED[key]
    names = (("m", unit[0]), ("kg", unit[1]), ("s", unit[2]))
    return " ".join(f"{n}^{x}" if x != 1 else n for n, x in names if x != 0)
