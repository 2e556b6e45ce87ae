# SPDX-License-Identifier: BSD-3-Clause
r"""The reference: :math:`W(I) = 0`, :math:`P(I) = 0`, a stiffness that is positive, its moduli."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from ...errors import SymancfError
from .property import Property
from .small_strain import engineering, voigt
from .subject import ROUND_OFF

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .subject import LawSample

REST, STABLE, MODULI = "stress-free rest", "stability at rest", "moduli at small strain"

SMALL = 300  # operations of an expression that SymPy is asked to simplify


def vanishes(e: Any) -> bool:
    """Whether SymPy finds an expression to be 0, without long efforts."""
    e = sp.expand(e)
    if e == 0:
        return True
    return bool(sp.count_ops(e) < SMALL and sp.simplify(e) == 0)


def rest(sample: LawSample) -> Property:
    """Look whether energy and stress vanish at F = I."""
    if getattr(sample.law, "stressed_at_rest", False):
        return Property(REST, "none", "declared as stressed at rest")
    if (found := sample.symbolic_rest) is not None:
        W, P, _ = found
        if vanishes(W) and all(vanishes(p) for p in P):
            return Property(REST, "proof", "W(I) = 0 and P(I) = 0 for all parameters")
    I = np.eye(3)[None]
    W0, P0 = float(sample.energy.energy(I)[0]), sample.energy.stress(I)[0]
    if not (np.isfinite(W0) and np.isfinite(P0).all()):
        note = "energy or stress is not finite at rest"
        return Property(REST, "violation", note, {"F": I[0], "W": W0, "P": P0})
    allowed = ROUND_OFF * sample.scale
    if abs(W0) > allowed or np.abs(P0).max() > allowed:
        what = f"P(I) is up to {np.abs(P0).max():.4g}"
        if np.abs(P0).max() <= allowed:
            what = f"W(I) = {W0:.4g}, a constant"
        return Property(REST, "violation", what, {"F": I[0], "W": W0, "P": P0, **sample.values})
    return Property(REST, "samples", "W(I) = 0 and P(I) = 0 for these parameters")


def stability(sample: LawSample) -> Property:
    """Look whether the stiffness at rest is positive definite."""
    if getattr(sample.law, "stressed_at_rest", False):
        return Property(STABLE, "none", "declared as stressed at rest")
    C = sample.stiffness
    if not np.isfinite(C).all():
        return Property(STABLE, "violation", "the stiffness is not finite at rest", {"C": C})
    values, vectors = np.linalg.eigh(C)
    if values[0] <= ROUND_OFF * sample.scale:
        strain = vectors[:, 0] * np.array([1, 1, 1, 2, 2, 2])
        return Property(
            STABLE,
            "violation",
            f"least stiffness {values[0]:.4g}, largest {values[-1]:.4g}",
            {"strain": strain, **sample.values},
        )
    return Property(STABLE, "samples", f"stiffness {values[0]:.4g} to {values[-1]:.4g}")


def moduli(sample: LawSample) -> Property:
    """Compare the moduli that a law declares with those that its energy has at rest."""
    declaration = sample.declaration
    if not declaration.moduli or getattr(sample.law, "stressed_at_rest", False):
        return Property(MODULI, "none", "none are declared (sa.energies.moduli)")
    known = sample.symbolic_rest
    proved = known is not None
    for name, value in declaration.of(sample.values).items():
        wanted = float(value)
        try:
            stiffness = sample.pulled_stiffness if name == "C11" else sample.stiffness
            have = float(engineering(name, stiffness))
        except np.linalg.LinAlgError:
            have = float("nan")
        if not abs(have - wanted) <= 1e-8 * max(abs(wanted), sample.scale * 1e-3):
            return Property(
                MODULI,
                "violation",
                f"{name} is {have:.8g}, declared {wanted:.8g}",
                {name: have, **sample.values},
            )
    if proved and known is not None:
        proved = _proved(sample, voigt(known[2]))
    names = ", ".join(declaration.moduli)
    return Property(MODULI, "proof" if proved else "samples", f"{names} as declared")


def _proved(sample: LawSample, C: Any) -> bool:
    """Whether SymPy finds all declared moduli equal to those of a stiffness in symbols."""
    symbols = {p: sp.Symbol(p, real=True) for p in sample.values}
    try:
        if not _equal_nearby(sample, C, symbols):
            return False  # where SymPy would look for long
        for name, wanted in sample.declaration.of(symbols).items():
            if not vanishes(sp.together(engineering(name, C) - wanted)):
                return False
    except (SymancfError, TypeError, ValueError, ZeroDivisionError, AttributeError):
        return False
    return True


def _equal_nearby(sample: LawSample, C: Any, symbols: Mapping[str, sp.Symbol]) -> bool:
    """Whether moduli are as declared at other numbers of the parameters, 1 % beside."""
    shifts = np.random.default_rng(1).uniform(0.005, 0.01, len(symbols))
    values = {p: x * (1.0 + d) for (p, x), d in zip(sample.values.items(), shifts, strict=True)}
    at = {symbols[p]: sp.Float(x) for p, x in values.items()}
    numbers = np.array([[float((sp.Integer(0) + e).xreplace(at)) for e in row] for row in C])
    declared = sample.declaration.of(values)
    pairs = [(float(engineering(n, numbers)), float(x)) for n, x in declared.items()]
    return all(abs(a - b) <= 1e-8 * max(abs(b), sample.scale * 1e-3) for a, b in pairs)
