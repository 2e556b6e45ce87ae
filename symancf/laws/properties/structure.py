# SPDX-License-Identifier: BSD-3-Clause
"""Properties of the laws of cables, rods, thin plates and beams, in their own strains."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from symancf_codegen.functions import branches, symbolic

from ...arrays import Array
from ...kinematics import Kinematics, beam_solid, cable, rod, thin_plate
from ...kinematics.naming import call_law, signature
from ...kinematics.quantity import real
from ...values.domain import declared_moduli, require_domains
from .indifference import NAME as INDIFFERENCE
from .law import QUANTITY_UNITS
from .property import Property
from .rest import MODULI, REST, STABLE, vanishes
from .solid_energy import compiled
from .subject import ROUND_OFF, number_for
from .units import Exponents, unit_of, units

FAMILIES = (cable, rod, thin_plate, beam_solid)

#: Quantities of structures that are no strains, with their values in the reference.
OTHERS = {"cell_length": 1.0, "J": 1.0, "I1": 3.0, "I2": 3.0, "t": 0.0}
PLACES = ("u", "r", "X", "d1", "d2", "d3")

_AXIAL = ("epsilon", "epsilon_green")
_BENDING = ("kappa", "kappa_geometric", "kappa_plane")

#: Moduli of structures: the strains by which the energy is differentiated, and a factor.
STIFFNESSES: dict[str, tuple[tuple[str, ...], tuple[str, ...], float]] = {
    "EA": (_AXIAL, _AXIAL, 1.0),
    "EI": (_BENDING, _BENDING, 1.0),
    **{
        name: ((strain,), (strain,), 1.0)
        for name, strain in zip(
            ("GA2", "GA3", "GJ", "EI2", "EI3"),
            ("gamma2", "gamma3", "kappa1", "kappa2", "kappa3"),
            strict=True,
        )
    },
    "GA23": (("gamma2",), ("gamma3",), 1.0),
    "EI23": (("kappa2",), ("kappa3",), -1.0),
    **{
        f"{letter}{name}": (tuple(s + a for s in of), tuple(s + b for s in of), factor)
        for letter, of in (("A", ("E_gl",)), ("D", ("kappa", "kappa_n3_", "kappa_n0_")))
        for name, a, b, factor in (
            ("11", "11", "11", 1.0),
            ("12", "11", "22", 1.0),
            ("22", "22", "22", 1.0),
            ("66", "12", "12", 0.25),
        )
    },
    **{
        f"C{a + 1}{b + 1}": ((f"E_beam{a + 1}{a + 1}",), (f"E_beam{b + 1}{b + 1}",), 1.0)
        for a in range(3)
        for b in range(a, 3)
    },
    **{
        f"C{k}{k}": ((f"E_beam{pair}",), (f"E_beam{pair}",), 0.25)
        for k, pair in ((4, "23"), (5, "13"), (6, "12"))
    },
}


@dataclass(frozen=True, eq=False)
class StructureSample:
    """A law of a structure with numbers for its parameters.

    Attributes
    ----------
    kinematics : of the family whose quantities it asks for.
    W : its energy in symbols of strains and parameters.
    strains : symbols of its strains.
    rest : values of other quantities in the reference.
    values : numbers of parameters.
    """

    law: Any
    kinematics: Kinematics
    quantities: tuple[str, ...]
    W: sp.Expr
    strains: tuple[sp.Symbol, ...]
    rest: Mapping[sp.Symbol, sp.Expr]
    values: Mapping[str, float]

    @cached_property
    def hessian(self) -> sp.Matrix:
        """Second derivatives of the energy at rest, in symbols of parameters."""
        first = [sp.diff(self.W, e) for e in self.strains]
        rows = [[sp.diff(f, e).xreplace(self.rest) for e in self.strains] for f in first]
        return sp.Matrix(rows)

    def numbers(self, e: Any) -> Array:
        """Return expressions of parameters as numbers."""
        symbols = [real(p) for p in self.values]
        entries = [*sp.Matrix([e])] if not isinstance(e, sp.MatrixBase) else [*e]
        with np.errstate(all="ignore"):
            values = compiled(symbols, [symbolic(x) for x in entries])(*self.values.values())
        return np.array([float(x) for x in values])


def structure_of(law: Any, values: Mapping[str, float]) -> StructureSample | None:
    """Return a law of structures with numbers for its parameters; None: it is of no structure."""
    asked = signature(law)
    families = (f() for f in FAMILIES)
    offering = (k for k in families if {*asked.quantities} <= k.quantities.keys())
    kinematics = next(offering, None)
    if kinematics is None:
        return None
    require_domains(law, f"{asked.name}()", values)
    plain = {q: _plain(q, kinematics.quantities[q].value) for q in asked.quantities}
    parameters = {p: real(p) for p in asked.parameters}
    called, _ = call_law(law, plain, parameters)
    parts = called.result if isinstance(called.result, Mapping) else {"": called.result}
    W = branches(sp.Add(*(symbolic(w) for w in parts.values())))
    strains: dict[sp.Symbol, None] = {}
    rest: dict[sp.Symbol, sp.Expr] = {}
    for q, value in plain.items():
        symbols = [*value] if isinstance(value, sp.MatrixBase) else [value]
        rest |= {s: sp.Integer(round(OTHERS.get(q, 0.0))) for s in symbols}
        if q not in OTHERS and q not in PLACES:
            strains |= dict.fromkeys(symbols)
    numbers = {
        p: number_for(law, p, k, values, asked.defaults) for k, p in enumerate(asked.parameters)
    }
    return StructureSample(law, kinematics, asked.quantities, W, tuple(strains), rest, numbers)


def _plain(name: str, value: Any) -> Any:
    """Return symbols in the place of a quantity."""
    if not isinstance(value, sp.MatrixBase):
        return real(name)
    rows, columns = value.shape
    if columns == 1:
        return sp.Matrix([real(f"{name}{i + 1}") for i in range(rows)])
    stem = f"{name}_" if name[-1].isdigit() else name
    return sp.Matrix(rows, columns, lambda i, k: real(f"{stem}{min(i, k) + 1}{max(i, k) + 1}"))


def structure_indifference(sample: StructureSample) -> Property:
    """Look whether the law is one of strains alone, which do not turn with the body."""
    if {*PLACES} & {*sample.quantities}:
        return Property(INDIFFERENCE, "none", "an energy of the position is that of a load")
    return Property(INDIFFERENCE, "proof", f"of {', '.join(sample.quantities)}, which do not turn")


def structure_rest(sample: StructureSample) -> Property:
    """Look whether energy, forces and moments vanish without strain."""
    if getattr(sample.law, "stressed_at_rest", False):
        return Property(REST, "none", "declared as stressed at rest")
    forces = [sp.diff(sample.W, e).xreplace(sample.rest) for e in sample.strains]
    W0 = sample.W.xreplace(sample.rest)
    if all(vanishes(e) for e in (W0, *forces)):
        return Property(REST, "proof", "energy, forces and moments vanish for all parameters")
    found = sample.numbers(sp.Matrix([W0, *forces]))
    names = ["W", *map(str, sample.strains)]
    size = np.abs(sample.numbers(sample.hessian)).max(initial=0.0) or 1.0
    worst = int(np.argmax(np.abs(np.nan_to_num(found, nan=np.inf))))
    if not abs(found[worst]) <= ROUND_OFF * size:
        what = "W" if worst == 0 else f"dW/d{names[worst]}"
        note = f"{what} = {found[worst]:.4g} without strain"
        return Property(REST, "violation", note, {"strain": 0.0, **sample.values})
    return Property(REST, "samples", "energy, forces and moments vanish for these parameters")


def structure_stability(sample: StructureSample) -> Property:
    """Look whether the stiffness at rest has no negative eigenvalue."""
    if getattr(sample.law, "stressed_at_rest", False):
        return Property(STABLE, "none", "declared as stressed at rest")
    n = len(sample.strains)
    K = sample.numbers(sample.hessian).reshape(n, n)
    if not np.isfinite(K).all():
        return Property(STABLE, "violation", "the stiffness is not finite at rest", {"K": K})
    size = np.sqrt(np.maximum(np.abs(np.diagonal(K)), 1e-300))
    values, vectors = np.linalg.eigh(K / np.outer(size, size))
    if values[0] < -ROUND_OFF or np.diagonal(K).min() < 0.0:
        strain = vectors[:, 0] / size
        strain /= np.abs(strain).max()
        witness = {str(s): float(x) for s, x in zip(sample.strains, strain, strict=True)}
        return Property(
            STABLE, "violation", "a strain lowers the energy", {**witness, **sample.values}
        )
    return Property(STABLE, "samples", "the stiffness at rest is not negative")


def structure_moduli(sample: StructureSample) -> Property:
    """Compare declared stiffnesses with those of the energy at rest."""
    declaration = declared_moduli(sample.law)
    if not declaration.moduli:
        return Property(MODULI, "none", "none are declared (sa.energies.moduli)")
    names = [str(s) for s in sample.strains]
    symbols = {p: real(p) for p in sample.values}
    proved = True
    for name, wanted in declaration.of(symbols).items():
        first, second, factor = STIFFNESSES[name]
        i = next(names.index(s) for s in first if s in names)
        k = next(names.index(s) for s in second if s in names)
        have = sample.hessian[i, k] * sp.Rational(factor)
        if vanishes(sp.together(have - wanted)):
            continue
        proved = False
        numbers = sample.numbers(sp.Matrix([have, symbolic(wanted)]))
        if not abs(numbers[0] - numbers[1]) <= 1e-8 * abs(numbers[1]):
            return Property(
                MODULI,
                "violation",
                f"{name} is {numbers[0]:.8g}, declared {numbers[1]:.8g}",
                {name: numbers[0], **sample.values},
            )
    names_told = ", ".join(declaration.moduli)
    return Property(MODULI, "proof" if proved else "samples", f"{names_told} as declared")


def structure_tangent(sample: StructureSample) -> Property:
    """Return that the tangent is symmetric: that of every energy is."""
    return Property("symmetry of the tangent", "proof", "forces are the gradient of an energy")


def structure_units(sample: StructureSample) -> Property:
    """Find the units of the parameters."""
    known: dict[sp.Symbol, Exponents] = {}
    for q in sample.quantities:
        meaning = sample.kinematics.quantities[q].meaning
        text = meaning[meaning.rindex("[") + 1 : -1] if meaning.endswith("]") else ""
        unit = unit_of(text or QUANTITY_UNITS.get(q, "-"))
        value = _plain(q, sample.kinematics.quantities[q].value)
        known |= dict.fromkeys(symbolic(value).free_symbols, unit)
    if "thickness" in sample.values:
        known[real("thickness")] = unit_of("m")
    unit = unit_of(sample.kinematics.unit)
    return units([(sample.W, unit)], known, [real(p) for p in sample.values])


#: The properties of a law of structures, in the order in which they are told.
STRUCTURE_PROPERTIES: tuple[Callable[[StructureSample], Property], ...] = (
    structure_indifference,
    structure_rest,
    structure_stability,
    structure_tangent,
    structure_moduli,
    structure_units,
)
