# SPDX-License-Identifier: BSD-3-Clause
"""Laurent polynomials in a root near 1, and what is zero: the exact algebra of `stabilise`."""

from __future__ import annotations

import functools
import math
import zlib

import sympy as sp


def divide(laurent: dict[int, sp.Expr], times: int) -> tuple[list[sp.Expr], dict[int, sp.Expr]]:
    """Divide a Laurent polynomial in a by (a - 1), `times` times.

    Returns the coefficients v and the rest r with p = sum_i v_i (a-1)^i + (a-1)^times r.
    """
    low, high = min(laurent), max(laurent)
    shift = min(low, 0)
    coefficients = [laurent.get(k, sp.Integer(0)) for k in range(shift, max(high, 0) + 1)]
    values: list[sp.Expr] = []
    for _ in range(times):
        # p = a^shift q(a): take off p(1), so that q - p(1) a^-shift has the root a = 1
        value = clean(sp.Add(*coefficients))
        values.append(value)
        coefficients[-shift] -= value
        quotient: list[sp.Expr] = []
        carry: sp.Expr = sp.Integer(0)
        for c in reversed(coefficients):
            carry = carry + c
            quotient.append(carry)
        coefficients = list(reversed(quotient[:-1])) or [sp.Integer(0)]
        while len(coefficients) <= -shift:
            coefficients.append(sp.Integer(0))
    rest = {k + shift: clean(c) for k, c in enumerate(coefficients)}
    return values, {k: c for k, c in rest.items() if c != 0}


def horner(laurent: dict[int, sp.Expr], a: sp.Symbol, n: int, ratio: sp.Expr) -> sp.Expr:
    """Return a Laurent polynomial in a = ratio**(-1/n) with few operations and no quotient."""
    if not laurent:
        return sp.Integer(0)
    low = min(laurent)
    common = sp.Integer(1)
    if len(laurent) > 1:
        common = functools.reduce(sp.gcd, laurent.values())
    polynomial = sp.Integer(0)
    for k in range(max(laurent), low - 1, -1):
        polynomial = polynomial * a + sp.cancel(laurent.get(k, 0) / common)
    times = max(0, math.ceil(-low / n))
    return common * polynomial * a ** (low + times * n) * ratio**times


def is_zero(e: sp.Expr) -> bool:
    """Whether `e` is zero for all values of its symbols."""
    return bool(clean(e) == 0)


def clean(e: sp.Expr) -> sp.Expr:
    """Return 0 if `e` is zero, else `e`.

    Numbers in the place of the symbols tell quickly what is not zero; the rest is proved.
    """
    if e.is_Atom or not e.args or (e.is_Mul and all(_is_power(a) for a in e.args)):
        return e
    at = {s: sp.Float(0.5 + zlib.crc32(s.name.encode()) / 2**32) for s in e.free_symbols}
    size, added = _size(e.xreplace(at)), [_size(a.xreplace(at)) for a in sp.Add.make_args(e)]
    if 1e-9 * max(1.0, *(a for a in added if a < math.inf)) < size < math.inf:
        return e
    if sp.expand(e) == 0 or sp.cancel(sp.together(e)) == 0:
        return sp.Integer(0)
    return e


def _is_power(e: sp.Expr) -> bool:
    """Whether `e` is a number or a power of a symbol, which products never make zero."""
    base = e.args[0] if e.is_Pow else e
    return bool(base.is_Symbol or base.is_Number)


def _size(e: sp.Expr) -> float:
    """Return the absolute value of a number, which may be complex; infinite: it is none."""
    try:
        return abs(complex(e))
    except TypeError:
        return math.inf
