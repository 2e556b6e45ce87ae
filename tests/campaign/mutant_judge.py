# SPDX-License-Identifier: BSD-3-Clause
"""Does a mutant of a law violate a property? By numbers alone, without any code of the check.

Energies are evaluated with 40 digits; derivatives are differences. The mutant is compared with the
law that it was made of: its stiffness at rest, symmetries, convexity where the law is convex, and
how it scales with the units of its parameters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mpmath as mp
import numpy as np
import sympy as sp

if TYPE_CHECKING:
    from .mutants import Mutant

STEP = mp.mpf(10) ** -10  # of differences, with 40 digits

#: Powers of (length, force) of parameters with a unit; those of stress are N/m^2.
STRESS = (-2, 1)
MODULI = (
    *("C10", "C20", "C30", "C01", "k", "mu", "lam", "mu1", "mu2", "Gc", "Ge", "c", "k1"),
    *("E", "E1", "E2", "E3", "G12", "G13", "G23"),
)
UNITS = dict.fromkeys(MODULI, STRESS)
UNITS |= dict.fromkeys(("EA", "GA2", "GA3", "GA23"), (0, 1))
UNITS |= dict.fromkeys(("EI", "EI2", "EI3", "EI23", "GJ"), (2, 1))
UNITS |= dict.fromkeys(("thickness", "y_shear", "z_shear"), (1, 0))
STRUCTURES = {"cable": (0, 1), "rod": (0, 1), "kirchhoff": (-1, 1)}


def violates(mutant: Mutant) -> list[str]:
    """Return the properties that a mutant violates."""
    with mp.workdps(40):
        return (
            _solid(mutant) if mutant.name not in (*STRUCTURES, "split_beam") else _structure(mutant)
        )


# ---- solids --------------------------------------------------------------------------------------
class _Energy:
    """The energy of parts at deformation gradients, in numbers of 40 digits."""

    def __init__(self, parts: dict[str, sp.Expr], values: dict[str, float]) -> None:
        self.W = sp.Add(*parts.values())
        self.values = dict(values)
        self.symbols = sorted(self.W.free_symbols, key=lambda s: s.name)
        self.function = sp.lambdify(self.symbols, self.W, "mpmath")

    def __call__(self, F: Any, factors: dict[str, Any] | None = None) -> Any:
        C = F.T * F
        J = mp.det(F)
        at = {"J": J, "I1": C[0, 0] + C[1, 1] + C[2, 2]}
        square = C * C
        at["I2"] = (at["I1"] ** 2 - square[0, 0] - square[1, 1] - square[2, 2]) / 2
        if any(s.name.startswith("lambda") and len(s.name) == 7 for s in self.symbols):
            found = sorted((mp.sqrt(x) for x in mp.eigsy(C, eigvals_only=True)), reverse=True)
            at |= {f"lambda{k + 1}": x for k, x in enumerate(found)}
        for i in range(3):
            for k in range(i, 3):
                at[f"E_gl_{i}{k}"] = (C[i, k] - (i == k)) / 2
        for p, x in self.values.items():
            at[p] = mp.mpf(x) * (factors or {}).get(p, 1)
        try:
            value = self.function(*(at[s.name] for s in self.symbols))
        except (ValueError, ZeroDivisionError, TypeError, OverflowError):
            return mp.nan
        return value if isinstance(value, mp.mpf) else mp.nan


def _solid(mutant: Mutant) -> list[str]:
    new, old = _Energy(mutant.parts, mutant.values), _Energy(mutant.original, mutant.values)
    wrong = []
    I = mp.eye(3)
    W0 = new(I)
    P = [_slope(new, I, _entry(k)) for k in range(9)]
    if not all(mp.isfinite(x) for x in (W0, *P)) or abs(W0) > 1e-9 or max(map(abs, P)) > 1e-8:
        wrong.append("rest")
    if not wrong and _stiffness_differs(new, old):
        wrong.append("moduli")
    if not wrong and _less_symmetric(new, old):
        wrong.append("symmetry")
    if not wrong and _scales_wrongly(new, mutant):
        wrong.append("units")
    if not wrong and _less_convex(new, old):
        wrong.append("convexity")
    return wrong


def _entry(k: int) -> Any:
    D = mp.zeros(3)
    D[k // 3, k % 3] = 1
    return D


def _slope(W: _Energy, F: Any, D: Any) -> Any:
    h = STEP
    return (W(F + h * D) - W(F - h * D)) / (2 * h)


def _second(W: _Energy, F: Any, D: Any) -> Any:
    h = STEP
    return (W(F + h * D) - 2 * W(F) + W(F - h * D)) / h**2


def _stiffness_differs(new: _Energy, old: _Energy) -> bool:
    """Whether second derivatives at rest differ in one of 21 directions of strain."""
    generator = np.random.default_rng(3)
    for _ in range(21):
        d = generator.standard_normal((3, 3))
        D = mp.matrix((d + d.T).tolist())
        a, b = _second(new, mp.eye(3), D), _second(old, mp.eye(3), D)
        if not abs(a - b) <= 1e-6 * abs(b):
            return True
    return False


def _rotation(generator: Any) -> Any:
    q, _ = np.linalg.qr(generator.standard_normal((3, 3)))
    return mp.matrix((q * np.linalg.det(q)).tolist())


def _less_symmetric(new: _Energy, old: _Energy) -> bool:
    """Whether a symmetry that the law has is none of the mutant's."""
    generator = np.random.default_rng(7)
    turns = [mp.diag(x) for x in ([-1, -1, 1], [-1, 1, -1], [1, -1, -1])]
    turns += [_rotation(generator) for _ in range(4)]
    for Q in turns:
        for _ in range(4):
            F = mp.eye(3) + mp.matrix((0.1 * generator.standard_normal((3, 3))).tolist())
            size = abs(old(F)) + mp.mpf(10) ** -9
            if abs(old(F * Q) - old(F)) < 1e-9 * size:
                off = abs(new(F * Q) - new(F))
                if not off <= 1e-6 * (abs(new(F)) + size):
                    return True
    return False


def _scales_wrongly(new: _Energy, mutant: Mutant) -> bool:
    """Whether the energy is not 7 times as large where all moduli are."""
    F = mp.matrix([[1.1, 0.05, 0.0], [0.02, 0.95, -0.03], [0.04, 0.0, 1.03]])
    factors = {p: 7 for p in mutant.values if p in UNITS}
    ratio = new(F, factors) / new(F)
    return not abs(ratio - 7) < 1e-9


def _less_convex(new: _Energy, old: _Energy) -> bool:
    """Whether the mutant is not convex along a dyad a N where the law is."""
    generator = np.random.default_rng(11)
    for _ in range(250):
        q, _ = np.linalg.qr(generator.standard_normal((3, 3)))
        stretch = np.exp(generator.choice([-0.223, 0.0, 0.223], 3))
        F = mp.matrix((q.T @ np.diag(stretch) @ q).tolist())
        a, N = (x / np.linalg.norm(x) for x in generator.standard_normal((2, 3)))
        if generator.uniform() < 0.3:
            a = N
        D = mp.matrix(np.outer(a, N).tolist())
        value = _second(new, F, D)
        if mp.isfinite(value) and value < -1e-6 and _second(old, F, D) > 0:
            return True
    return False


# ---- structures ----------------------------------------------------------------------------------
def _structure(mutant: Mutant) -> list[str]:
    """Compare energies of strains: at rest, their second derivatives, and how they scale."""
    new, old = sp.Add(*mutant.parts.values()), sp.Add(*mutant.original.values())
    strains = sorted(
        (s for s in old.free_symbols | new.free_symbols if s.name not in mutant.values),
        key=lambda s: s.name,
    )
    length = [s for s in strains if s.name == "cell_length"]
    strains = [s for s in strains if s not in length]
    numbers: dict[sp.Symbol, Any] = {
        s: sp.Float(mutant.values.get(s.name, 0.3), 40)
        for s in (old.free_symbols | new.free_symbols) - {*strains}
    }
    wrong = []
    try:
        rest = dict.fromkeys(strains, sp.Integer(0))
        first = [new.xreplace(rest), *(sp.diff(new, s).xreplace(rest) for s in strains)]
        values = [complex(e.xreplace(numbers).evalf(30)) for e in first]
        if not max(map(abs, values)) <= 1e-12:
            wrong.append("rest")
        for i, a in enumerate(strains):
            for b in strains[i:]:
                pair = [
                    complex(sp.diff(W, a, b).xreplace(rest).xreplace(numbers).evalf(30))
                    for W in (new, old)
                ]
                if not abs(pair[0] - pair[1]) <= 1e-9 * max(abs(pair[1]), 1e-3):
                    wrong.append(f"stiffness of {a}, {b}")
    except (TypeError, ValueError, ZeroDivisionError):
        return ["rest"]
    if not wrong and mutant.name in STRUCTURES:
        wrong += _structure_scales_wrongly(new, strains, numbers, mutant)
    return wrong[:2]


def _structure_scales_wrongly(
    W: sp.Expr, strains: list[sp.Symbol], numbers: dict[sp.Symbol, Any], mutant: Mutant
) -> list[str]:
    """Whether other units of length and force change more than the unit of the energy."""
    at = {s: sp.Float(0.1 + 0.03 * k, 40) for k, s in enumerate(strains)} | numbers
    longer, stronger = sp.Float(3, 40), sp.Float(7, 40)
    other = {}
    for s, x in at.items():
        of_length = 1 if s.name == "cell_length" else 0
        if s.name.startswith("kappa"):
            of_length = -1
        power = UNITS.get(s.name, (of_length, 0))
        other[s] = x * longer ** power[0] * stronger ** power[1]
    power = STRUCTURES[mutant.name]
    one, two = complex(W.xreplace(at).evalf(30)), complex(W.xreplace(other).evalf(30))
    scale = float(longer ** power[0] * stronger ** power[1])
    return [] if abs(two - scale * one) <= 1e-9 * abs(scale * one) else ["units"]
