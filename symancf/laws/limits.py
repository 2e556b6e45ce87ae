# SPDX-License-Identifier: BSD-3-Clause
r"""Where an energy ends: arguments of its functions that have to stay positive.

Beyond a pole, or beyond the end of a logarithm, the derivatives of an energy are finite numbers
again, and mean nothing: of :math:`\\ln(1 - y/J_m)` that is :math:`-1/(J_m - y)`. So what a law may
not pass is read from its expression, and checked at every point by its kernel.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import sympy as sp

from symancf_codegen.functions import KINKS, log_stretch, stretch_axis, symbolic

from ..kinematics.stretches import LOGS

#: What exp() and its like may be given: beyond it the result is no double.
MAX_EXPONENT = math.floor(math.log(sys.float_info.max))

#: Arguments of functions x -> what has to be positive.
POSITIVE: Mapping[type[sp.Basic], Callable[[sp.Expr], sp.Expr]] = {
    sp.log: lambda x: x,
    sp.asin: lambda x: 1 - x**2,
    sp.acos: lambda x: 1 - x**2,
    sp.exp: lambda x: MAX_EXPONENT - x,
    sp.sinh: lambda x: MAX_EXPONENT**2 - x**2,
    sp.cosh: lambda x: MAX_EXPONENT**2 - x**2,
}


@dataclass
class RestValues:
    """Values of expressions where nothing is displaced and laws remember their first values.

    Parameters
    ----------
    values : of symbols, zero for unknowns.
    definitions : of named quantities.
    """

    values: dict[sp.Symbol, sp.Expr]
    definitions: Mapping[sp.Symbol, sp.Expr]

    def of(self, e: sp.Expr) -> sp.Expr:
        """Return the value of an expression, in parameters and what the geometry defines."""
        e = symbolic(e)
        if isinstance(e, log_stretch):
            return sp.S.Zero
        if isinstance(e, stretch_axis):
            return sp.nan
        return e.xreplace({s: self._of(s) for s in e.free_symbols})

    def _of(self, s: sp.Symbol) -> sp.Expr:
        if s not in self.values:
            self.values[s] = self.of(self.definitions[s]) if s in self.definitions else s
        return self.values[s]


def limits(
    energy: sp.Expr,
    stages: Mapping[sp.Symbol, sp.Expr],
    definitions: Mapping[sp.Symbol, sp.Expr],
    zero: Collection[sp.Symbol],
    first: Mapping[sp.Symbol, sp.Expr],
) -> tuple[sp.Expr, ...]:
    """Return what has to be positive for an energy to have a meaning, as far as it moves.

    Arguments of logarithms and of roots; what is divided by, with the sign that it has at rest;
    what keeps exponentials finite. Not where that is zero at rest (``sin(x)/x``), nor within and
    beside branches, which may be guards.

    Parameters
    ----------
    stages : named parts of the energy.
    definitions : of all that is named, quantities too.
    zero : symbols that are 0 at rest: unknowns.
    first : what is remembered before the first step, by symbols.
    """
    rest = RestValues({**dict.fromkeys(zero, sp.S.Zero), **first}, definitions)
    moving = _Movement(definitions, dict.fromkeys(zero, True))
    found: dict[sp.Expr, None] = {}
    seen: set[int] = set()
    pending: list[sp.Basic] = [energy]
    while pending:
        e = pending.pop()
        e = stages.get(e, e)
        if id(e) in seen or not e.args or _guarded(e):
            continue
        seen.add(id(e))
        pending.extend(e.args)
        limit = _limit(e, rest, moving, {*first})
        if limit is not None and limit.is_positive is not True:
            found[limit] = None
    return tuple(sorted(found, key=sp.default_sort_key))


def _guarded(e: sp.Basic) -> bool:
    """Whether branches of an expression, or of a factor, may keep others from a limit."""
    if isinstance(e, sp.Mul):
        return any(isinstance(a, KINKS) for a in e.args)
    return isinstance(e, KINKS)


@dataclass
class _Movement:
    """Which symbols depend on unknowns, by way of definitions."""

    definitions: Mapping[sp.Symbol, sp.Expr]
    moves: dict[sp.Symbol, bool]

    def of(self, e: sp.Basic) -> list[sp.Symbol]:
        """Return those of an expression."""
        return [s for s in e.free_symbols if self._moves(s)]

    def _moves(self, s: sp.Symbol) -> bool:
        if s not in self.moves:
            own = self.definitions.get(s)
            self.moves[s] = own is not None and bool(self.of(symbolic(own)))
        return self.moves[s]


def _limit(
    e: sp.Basic, rest: RestValues, moving: _Movement, remembered: Collection[sp.Symbol]
) -> sp.Expr | None:
    """Return what has to be positive for one function or power, None if nothing has to."""
    x, kind = e.args[0], type(e)
    if not (kind in POSITIVE or isinstance(e, sp.Pow | sp.tan)) or not moving.of(x):
        return None
    if kind in POSITIVE:
        powers = isinstance(e, sp.exp) and {*moving.of(x)} <= {*LOGS}  # of principal stretches
        return None if powers else POSITIVE[kind](x)
    if isinstance(e, sp.tan):
        return _like_rest(sp.cos(x), rest)
    if e.args[1].is_Integer:
        pole = e.args[1].is_negative and not x.free_symbols & {*remembered}
        return _like_rest(x, rest) if pole else None
    begin = rest.of(x)
    return None if begin.is_zero or begin.is_negative or begin.has(sp.nan) else x


def _like_rest(x: sp.Expr, rest: RestValues) -> sp.Expr | None:
    """Return an expression with the sign that makes it positive at rest, None where it is 0."""
    begin = rest.of(x)
    if begin.is_zero or begin.has(sp.nan, sp.zoo, sp.oo):
        return None
    if begin.is_positive or begin.is_negative:
        return x if begin.is_positive else -x
    return x * begin
