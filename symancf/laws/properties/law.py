# SPDX-License-Identifier: BSD-3-Clause
"""The properties of a law of solids, one after the other: the table of `symancf.check`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from symancf_codegen.functions import symbolic

from ...kinematics.memory import STEP
from ...kinematics.quantity import real
from ...kinematics.solid import solid
from ...kinematics.stretches import LOGS
from ...values.domain import require_domains
from ...values.reader import require_parameters
from ..evaluate import evaluate_on
from .convexity import convexity
from .digits import digits
from .indifference import asks_for_turning, indifference
from .passivity import passivity
from .property import Property
from .rest import moduli, rest, stability
from .subject import LawSample, sample_values
from .symmetry import ISOTROPIC, symmetry
from .units import NO_UNIT, Exponents, unit_of, units

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..parts import EnergyCall

QUANTITY_UNITS = {"u": "m", "r": "m", "X": "m", "t": "s", "z": "m", "y": "m"}


def tangent_symmetry(sample: LawSample) -> Property:
    """Return that the tangent is symmetric: that of every energy is."""
    return Property("symmetry of the tangent", "proof", "the stress is the gradient of an energy")


def law_units(sample: LawSample) -> Property:
    """Find the units of the parameters of a law of solids."""
    return units(
        equations_of(sample.called, unit_of("J/m^3")),
        known_units(sample.called),
        [real(p) for p in sample.called.signature.parameters],
    )


#: The properties of a law of solids without memory, in the order in which they are told.
LAW_PROPERTIES: tuple[Callable[[LawSample], Property], ...] = (
    indifference,
    rest,
    stability,
    tangent_symmetry,
    symmetry,
    moduli,
    law_units,
    convexity,
)


#: Those that follow from the expressions of a law with unknowns of its own, unsolved.
OF_EXPRESSIONS = (indifference, tangent_symmetry, symmetry, law_units)


def properties_of(sample: LawSample) -> tuple[Property, ...]:
    """Return the properties of a law of solids."""
    every = (*LAW_PROPERTIES, passivity, digits)
    if sample.called.local:
        every = tuple(of for of in OF_EXPRESSIONS if _needs_no_values(of, sample))
    with np.errstate(all="ignore"):
        return tuple(property_of(sample) for property_of in every)


def _needs_no_values(of: Callable[[LawSample], Property], sample: LawSample) -> bool:
    """Whether a property of a law with unknowns is found without their values."""
    asked = {*sample.called.signature.quantities}
    if of is indifference:
        return not asks_for_turning(asked)
    return of is not symmetry or asked <= ISOTROPIC


def sample_of(
    law: Any, values: Mapping[str, float], stretches: tuple[float, float] | None = None
) -> LawSample:
    """Return a law of solids with numbers for its parameters.

    Raises
    ------
    KinematicsError : it is no energy of solids.
    ParameterError : an unknown parameter, or one outside its domain.
    """
    called = evaluate_on(solid(), "a solid", law)
    name = f"{called.signature.name}()"
    possible = called.signature.parameters
    require_parameters(name, (), values, optional=possible, exact=True)
    require_domains(law, name, values)
    numbers = sample_values(law, called, values)
    if stretches is None:
        return LawSample(law, called, numbers)
    return LawSample(law, called, numbers, stretches, box=True)


def known_units(called: EnergyCall) -> dict[sp.Symbol, Exponents]:
    """Return the units of the symbols of the quantities of a law."""
    known: dict[sp.Symbol, Exponents] = dict.fromkeys(LOGS, NO_UNIT)
    known[real(STEP)] = unit_of("s")
    for name, quantity in called.kinematics.quantities.items():
        unit = _unit_in(quantity.meaning, QUANTITY_UNITS.get(name, "-"))
        for s in symbolic(quantity.value).free_symbols:
            known.setdefault(s, unit)
    return known


def _unit_in(meaning: str, default: str) -> Exponents:
    """Return the unit that the meaning of a quantity ends with, in brackets."""
    return unit_of(meaning[meaning.rindex("[") + 1 : -1] if meaning.endswith("]") else default)


def equations_of(called: EnergyCall, unit: Exponents) -> list[tuple[sp.Expr, Any]]:
    """Return what the expressions of a law have the units of: an energy, what it remembers.

    Terms of an equation that it solves are alike.
    """
    rows: list[tuple[sp.Expr, Any]] = [(w, unit) for w in called.parts.values()]
    rows += [(w, unit) for w in (called.stored or {}).values()]
    for m in called.history:
        rows.append((symbolic(m.update), unit if m.total else m.symbol))
    rows += [(x.equation, sp.Dummy("any")) for x in called.local if x.equation is not None]
    return rows
