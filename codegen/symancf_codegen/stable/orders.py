# SPDX-License-Identifier: BSD-3-Clause
"""Value and first order of expressions at the reference state, where all unknowns vanish."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from symancf_codegen.functions import kinked, log_stretch, stretch_axis
from symancf_codegen.stable.laurent import clean, is_zero

#: Functions nested deeper have no expansion here: that would take SymPy hours.
MAX_EXPANSION_DEPTH = 5

#: Operations, written out, of expressions that are expanded here; larger ones stay as they are.
MAX_EXPANSION_OPERATIONS = 5000

Linear = dict[sp.Symbol, sp.Expr]
Taylor = tuple[sp.Expr, Linear]


class Orders:
    """What is known of the symbols of a law at the reference state.

    Attributes
    ----------
    variables : the law's unknowns, zero at the reference state.
    definition : symbol -> the expression that it stands for.
    reference, linear : symbol -> value and first-order coefficients by generators, which are
        the symbols that vanish at the reference state.
    opaque : symbols without an expansion.
    kinked : symbols a derivative of which jumps somewhere.
    """

    def __init__(self, variables: set[sp.Symbol], definition: dict[sp.Symbol, sp.Expr]) -> None:
        self.variables = variables
        self.definition = definition
        self.reference: dict[sp.Symbol, sp.Expr] = {s: sp.Integer(0) for s in variables}
        self.linear: dict[sp.Symbol, Linear] = {}
        self.opaque: set[sp.Symbol] = set()
        self.kinked: set[sp.Symbol] = set()
        self.nested: dict[sp.Basic, int] = {}
        self.sizes: dict[sp.Basic, int] = {}
        self.taylors: dict[sp.Expr, Taylor | None] = {}
        self.deeps: dict[sp.Symbol, Linear] = {}

    def declare(self, symbol: sp.Symbol, definition: sp.Expr) -> None:
        """Record value and first order of a new symbol at the reference state."""
        if isinstance(definition, log_stretch):  # independent of all else, as a variable is
            self.variables.add(symbol)
            self.reference[symbol], self.linear[symbol] = sp.S.Zero, {symbol: sp.S.One}
            return
        if self.is_kinked(definition):
            self.kinked.add(symbol)
        taylor = self.taylor(definition)
        if taylor is None:
            self.opaque.add(symbol)
            return
        self.definition[symbol] = definition
        self.reference[symbol], self.linear[symbol] = taylor

    def taylor(self, e: sp.Expr) -> Taylor | None:
        """Return value and first-order coefficients of `e` by the generators, None if unknown."""
        if e not in self.taylors:
            self.taylors[e] = self._taylor(e)
        return self.taylors[e]

    def _taylor(self, e: sp.Expr) -> Taylor | None:
        if not self._is_expandable(e):
            return None
        symbols = sorted(self.moving(e), key=lambda s: s.name)
        if not symbols:
            return e, {}
        if not self.reference.keys() >= {*symbols}:
            return None
        at = {s: self.reference[s] for s in symbols}
        value = e.xreplace(at)
        moving = [s for s in symbols if not (self.is_generator(s) and self.order(s) == 2)]
        slopes = {s: _slope(e, s).xreplace(at) for s in moving}
        if not all(map(_finite, (value, *slopes.values()))):
            return None
        linear: Linear = {}
        for s, slope in slopes.items():
            for g, c in self._by_generators(s).items():
                linear[g] = linear.get(g, sp.Integer(0)) + slope * c
        return clean(value), {g: c for g, c in linear.items() if not is_zero(c)}

    def _is_expandable(self, e: sp.Expr) -> bool:
        """Whether `e` is smooth, and small enough for SymPy."""
        smooth = not (e.has(log_stretch, stretch_axis) or self.is_kinked(e))
        return (
            smooth
            and self.levels(e) <= MAX_EXPANSION_DEPTH
            and self.operations(e) <= MAX_EXPANSION_OPERATIONS
        )

    def levels(self, e: sp.Basic) -> int:
        """Return how many functions (and roots) are nested in one another in `e`."""
        if e not in self.nested:
            inner = max((self.levels(a) for a in e.args), default=0)
            function = isinstance(e, sp.Function) or (e.is_Pow and not e.args[1].is_Integer)
            self.nested[e] = inner + int(function)
        return self.nested[e]

    def operations(self, e: sp.Basic) -> int:
        """Return the number of nodes of `e` as a tree, to which SymPy's work is in proportion."""
        if e not in self.sizes:
            self.sizes[e] = 1 + sum(self.operations(a) for a in e.args)
        return self.sizes[e]

    def is_kinked(self, e: sp.Expr) -> bool:
        """Whether a derivative of `e` jumps somewhere."""
        return kinked(e) or bool(self.kinked and e.free_symbols & self.kinked)

    def moving(self, e: sp.Expr) -> set[sp.Symbol]:
        """Return the symbols of `e` that depend on the unknowns."""
        return {s for s in e.free_symbols if s in self.variables or s in self.definition}

    def is_generator(self, s: sp.Symbol) -> bool:
        """Whether `s` vanishes at the reference state."""
        return bool(self.reference[s] == 0)

    def order(self, s: sp.Symbol) -> int:
        """Return the order of a generator: 1, or 2 if its first order vanishes too."""
        return 1 if s in self.variables or self.linear[s] else 2

    def deep(self, linear: Linear) -> Linear:
        """Return first-order coefficients by the variables themselves."""
        result: Linear = {}
        for g, c in linear.items():
            for s, d in self._by_variables(g).items():
                result[s] = result.get(s, sp.Integer(0)) + c * d
        return {s: c for s, c in result.items() if not is_zero(c)}

    def _by_generators(self, s: sp.Symbol) -> Linear:
        return {s: sp.Integer(1)} if self.is_generator(s) else self.linear[s]

    def _by_variables(self, g: sp.Symbol) -> Linear:
        if g not in self.deeps:
            own = g in self.variables
            self.deeps[g] = {g: sp.Integer(1)} if own else self.deep(self.linear[g])
        return self.deeps[g]

    def cancels(self, e: sp.Expr) -> bool:
        """Whether constants or first-order terms cancel in the top node of `e`."""
        total = self.taylor(e)
        if total is None:
            return False
        value, linear = total
        if isinstance(e, sp.log):
            return bool(value == 0)
        if not isinstance(e, sp.Add | sp.Mul):
            return False
        parts = [part for part in map(self.taylor, e.args) if part is not None]
        if len(parts) < len(e.args):
            return False
        if isinstance(e, sp.Add):
            if value == 0 and any(constant != 0 for constant, _ in parts):
                return True
            moves = any(slopes for _, slopes in parts)
        else:
            moves = _moves(parts)
        return moves and (not linear or (len(linear) > 1 and not self.deep(linear)))


def _moves(factors: Sequence[Taylor]) -> bool:
    """Whether a factor has a first-order term that the constants of the others do not cancel."""
    for k, (_, slopes) in enumerate(factors):
        others = sp.Mul(*(constant for m, (constant, _) in enumerate(factors) if m != k))
        if any(not is_zero(c * others) for c in slopes.values()):
            return True
    return False


def _slope(e: sp.Expr, s: sp.Symbol) -> sp.Expr:
    """Return de/ds as SymPy does, without asking for signs of bases, which may take it minutes."""
    if s not in e.free_symbols:
        return sp.S.Zero
    if isinstance(e, sp.Add):
        return sp.Add(*(_slope(a, s) for a in e.args))
    if isinstance(e, sp.Mul):
        rows = ((k, _slope(a, s)) for k, a in enumerate(e.args))
        return sp.Add(*(sp.Mul(*e.args[:k], d, *e.args[k + 1 :]) for k, d in rows if d != 0))
    if isinstance(e, sp.Pow) and e.exp.is_number:
        return e * (e.exp * _slope(e.base, s) / e.base)
    return e.diff(s)


def _finite(e: sp.Expr) -> bool:
    return not e.has(sp.nan, sp.zoo, sp.oo, -sp.oo)
