# SPDX-License-Identifier: BSD-3-Clause
"""A law of solids with numbers for its parameters, and deformations at which it is looked at."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from symancf_codegen.functions import kinked, symbolic

from ...arrays import Array
from ...kinematics.memory import STEP
from ...kinematics.quantity import real
from ...values.domain import Declaration, Domain, NotZero, declared_moduli, domains_of
from .small_strain import at_rest, voigt
from .solid_energy import SolidEnergy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..parts import EnergyCall

SAMPLES = 24  # deformations at which a property is looked at

#: Strain of a pull in which kinks at rest lie behind.
SMALL_PULL = 1e-9

#: Relative difference of two numbers that counts as round-off.
ROUND_OFF = 1e-9


@dataclass(frozen=True, eq=False)
class LawSample:
    """A law of solids with numbers for its parameters.

    Attributes
    ----------
    law : the user's function.
    called : the law, called with the symbols of a solid.
    values : numbers of all parameters.
    stretches : the least and largest principal stretch at which it is looked at.
    box : whether rank-one convexity is asked for in the box of stretches, not about the reference
        alone.
    """

    law: Any
    called: EnergyCall
    values: Mapping[str, float]
    stretches: tuple[float, float] = (0.8, 1.25)
    box: bool = False

    @cached_property
    def energy(self) -> SolidEnergy:
        """The energy with these numbers; of a law with memory before its first step, at once."""
        start = {str(m.symbol): m.initial for m in self.called.history}
        numbers = {real(p): symbolic(x) for p, x in self.values.items()}
        first = {
            sp.Symbol(name, real=True): float(symbolic(x).xreplace(numbers))
            for name, x in start.items()
            if symbolic(x).xreplace(numbers).is_number
        }
        return SolidEnergy(self.called, {**self.values, STEP: 0.0}, first)

    @cached_property
    def symbolic_rest(self) -> tuple[sp.Expr, Any, Any] | None:
        """W, P and d2W/dF2 at F = I in symbols, as far as SymPy has them."""
        return None if self.called.history or self.called.local else at_rest(self.energy)

    @cached_property
    def stiffness(self) -> Array:
        """(6, 6) stiffness at rest in Voigt's order."""
        return np.asarray(voigt(self.energy.tangent(np.eye(3)[None])[0]), dtype=float)

    @cached_property
    def pulled_stiffness(self) -> Array:
        """The same in a small pull along axis 1, where a law with kinks has another one."""
        if not kinked(self.energy.W):
            return self.stiffness
        F = np.diag([1.0 + SMALL_PULL, 1.0 - SMALL_PULL / 2, 1.0 - SMALL_PULL / 2])
        return np.asarray(voigt(self.energy.tangent(F[None])[0]), dtype=float)

    @property
    def scale(self) -> float:
        """The largest stiffness at rest, or 1."""
        size = float(np.abs(np.nan_to_num(self.stiffness)).max())
        return size or 1.0

    @property
    def declaration(self) -> Declaration:
        """What the law declares of its moduli."""
        return declared_moduli(self.law)

    @cached_property
    def deformations(self) -> Array:
        """(n, 3, 3) deformation gradients with stretches between the limits, axes of any kind."""
        return deformations(SAMPLES, self.stretches, seed=0)


def rotations(n: int, seed: int) -> Array:
    """Return rotations (n, 3, 3), evenly among all."""
    q, r = np.linalg.qr(np.random.default_rng(seed).standard_normal((n, 3, 3)))
    q = q * np.sign(np.diagonal(r, axis1=1, axis2=2))[:, None, :]
    return np.asarray(q * np.linalg.det(q)[:, None, None])


def deformations(n: int, stretches: tuple[float, float], seed: int) -> Array:
    """Return deformation gradients (n, 3, 3) with principal stretches between two limits."""
    low, high = np.log(stretches)
    logs = np.random.default_rng(seed).uniform(low, high, (n, 3))
    R, N = rotations(n, seed + 1), rotations(n, seed + 2)
    return np.asarray(R @ (np.exp(logs)[:, :, None] * np.eye(3)) @ N.swapaxes(1, 2))


def sample_values(law: Any, called: EnergyCall, values: Mapping[str, float]) -> dict[str, float]:
    """Return numbers of all parameters: those given, defaults, else some of their domains."""
    asked = called.signature
    return {
        p: number_for(law, p, k, values, asked.defaults) for k, p in enumerate(asked.parameters)
    }


def number_for(
    law: Any, name: str, number: int, values: Mapping[str, float], defaults: Mapping[str, Any]
) -> float:
    """Return the number of a parameter: the one given, its default, else one of its domain."""
    if name in values:
        return float(values[name])
    if isinstance(default := defaults.get(name), int | float):
        return float(default)
    return _of_domain(domains_of(law).get(name), 1.0 + 0.07 * number)


def _of_domain(domain: Domain | None, near: float) -> float:
    """Return a number of a domain: about 1 in the positive ones, about 0.2 where there is none."""
    if domain is None:
        return 0.2 * near
    if isinstance(domain, NotZero):
        return 1.4 * near
    if np.isfinite(domain.low) and np.isfinite(domain.high):
        low = max(domain.low, 0.0) if domain.high > 0.0 else domain.low
        return float(low + 0.6 * (domain.high - low))
    return float(domain.low + near) if np.isfinite(domain.low) else float(domain.high - near)
