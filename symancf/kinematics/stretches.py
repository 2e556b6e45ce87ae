# SPDX-License-Identifier: BSD-3-Clause
"""Energies of principal stretches: the invariants in them, and that their order is of no account.

A principal stretch is exp(L) with its logarithm L a let of the solid, so powers of it and of J =
exp(L1 + L2 + L3) join, and what cancels between them at small strain cancels symbolically.
"""

from __future__ import annotations

import itertools

import numpy as np
import sympy as sp

from symancf_codegen.functions import NUMPY, branches, numerical

from ..errors import KinematicsError
from .quantity import real

#: Names of the principal stretches.
STRETCHES = ("lambda1", "lambda2", "lambda3")

#: Their logarithms.
LOGS = tuple(real(f"log_stretch{k}") for k in (1, 2, 3))

#: Components of their axes, row by row.
AXES = tuple(real(f"stretch_axis{k}{i}") for k in (1, 2, 3) for i in (1, 2, 3))

#: States at which an energy is looked at.
SAMPLES = 24


def invariants() -> dict[str, sp.Expr]:
    """Return J, I1 and I2 as functions of the principal stretches."""
    pairs = itertools.combinations(LOGS, 2)
    return {
        "J": sp.exp(sp.Add(*LOGS)),
        "I1": sp.Add(*(sp.exp(2 * x) for x in LOGS)),
        "I2": sp.Add(*(sp.exp(2 * x + 2 * y) for x, y in pairs)),
    }


def stretch_symbols(e: sp.Expr) -> sp.Expr:
    """Return an expression in lambda1, lambda2, lambda3 and J, for people."""
    names = [sp.Symbol(name, positive=True) for name in STRETCHES]
    J = sp.Symbol("J", positive=True)

    def named(exponent: sp.Expr) -> sp.Expr:
        rest = sp.expand(exponent)
        powers = [rest.coeff(x) for x in LOGS]
        other = sp.expand(rest - sp.Add(*(p * x for p, x in zip(powers, LOGS, strict=True))))
        alike = [p for p in powers if powers.count(p) > 1]
        common = alike[0] if alike and 0 not in powers else sp.S.Zero
        factors = [n ** (p - common) for n, p in zip(names, powers, strict=True)]
        return sp.Mul(J**common, *factors) * sp.exp(other)

    logs = dict(zip(LOGS, (sp.log(n) for n in names), strict=True))
    expression: sp.Expr = e.replace(sp.exp, named).xreplace(logs)
    return expression


def joined(e: sp.Expr) -> sp.Expr:
    """Return an expression whose products of powers of stretches each are one exponential."""

    def power(x: sp.Basic) -> bool:
        return isinstance(x, sp.exp) and bool(x.free_symbols & {*LOGS})

    def distributed(product: sp.Expr) -> sp.Expr:
        factors = [a for a in sp.Mul.make_args(product) if power(a)]
        if not factors:
            return product
        one = sp.exp(sp.expand(sp.Add(*(a.args[0] for a in factors))))
        sums = [a for a in product.args if isinstance(a, sp.Add) and a.has(*LOGS)][:1]
        rest = [a for a in sp.Mul.make_args(product) if a not in factors and a not in sums]
        if not sums:
            return sp.Mul(*rest, one)
        return sp.Mul(*rest, sp.Add(*(distributed(sp.Mul(one, t)) for t in sums[0].args)))

    if not e.free_symbols & {*LOGS}:
        return e
    expression: sp.Expr = e.replace(lambda x: isinstance(x, sp.Mul), distributed)
    return expression


def require_symmetric(of: str, energy: sp.Expr) -> None:
    """Check that an energy of principal stretches does not depend on their order.

    Raises
    ------
    KinematicsError : it changes where two of them change places.
    """
    for a, b in ((0, 1), (1, 2)):
        swapped = energy.xreplace({LOGS[a]: LOGS[b], LOGS[b]: LOGS[a]})
        if swapped != energy and not _equal(energy, swapped):
            first, second = STRETCHES[a], STRETCHES[b]
            raise KinematicsError(
                f"{of} changes where {first} and {second} change places: an energy must not depend "
                "on the order of the principal stretches, which have no names of their own where "
                f"they cross. Write it alike in {', '.join(STRETCHES)}, such as a sum over them; "
                f"the largest is Max({', '.join(STRETCHES)})",
                asked=first,
                possible=STRETCHES,
                given=second,
            )


def of_axes(of: str) -> KinematicsError:
    """Return the error of an energy that depends on the axes of the principal stretches."""
    return KinematicsError(
        f"{of} depends on stretch_axes, which have no derivative where two principal stretches "
        "coincide: they are for what is remembered at the end of a step, for stored and dissipated",
        asked="stretch_axes",
        possible=STRETCHES,
    )


def _equal(first: sp.Expr, second: sp.Expr) -> bool:
    """Whether two expressions have the same values at samples of their symbols."""
    symbols = sorted(first.free_symbols | second.free_symbols, key=lambda s: str(s.name))
    generator = np.random.default_rng(1)
    at = [generator.uniform(*((-0.3, 0.3) if s in LOGS else (0.1, 2.0)), SAMPLES) for s in symbols]
    function = numerical(symbols, [branches(first), branches(second)], NUMPY)
    with np.errstate(all="ignore"):
        one, other = (np.broadcast_to(x, SAMPLES) for x in function(*at))
    seen = np.isfinite(one) & np.isfinite(other)
    size = np.maximum(np.maximum(abs(one), abs(other)), 1e-3)
    return bool(seen.any() and np.all(abs(one - other)[seen] <= 1e-9 * size[seen]))
