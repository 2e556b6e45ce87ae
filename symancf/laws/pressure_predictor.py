# SPDX-License-Identifier: BSD-3-Clause
"""Corrections of the pressure that laws of solids have for `newton.stress_predictor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy as sp

from ..errors import KinematicsError
from ..kinematics.moduli import bulk_modulus, shear_modulus
from ..kinematics.quantity import real
from ..values.parameter import Parameter
from .build import PREDICTED_PRESSURE
from .mixed import PART, PRESSURE, split

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..values.parameter import Value
    from .parts import EnergyCall

STIFF = 50.0  # ratio of bulk and shear modulus, nu = 0.49, from which on pressures are predicted

Corrections = tuple[sp.Expr, dict[str, sp.Expr]]
NONE: Corrections = (sp.S.Zero, {})


def of_volume(called: EnergyCall, values: Mapping[str, Value], condensed: bool) -> Corrections:
    r"""Return c g that corrects the pressure :math:`\kappa g` of a solid, and that by c's name.

    So it is of solids whose part ``"volumetric"``, :math:`\tfrac12\kappa g^2`, is stiff.

    Parameters
    ----------
    called : the energy, without a pressure.
    values : of its parameters.
    condensed : whether the pressure is that of a cell.
    """
    kinematics = called.kinematics
    if kinematics.section or stiffness_ratio(called, values) < STIFF:
        return NONE
    try:
        g, compliance = split(called)
    except KinematicsError:  # some other function of the volume
        return NONE
    pressure = PRESSURE if condensed else g / compliance
    return real(PREDICTED_PRESSURE) * g, {PREDICTED_PRESSURE: pressure}


def stiffness_ratio(called: EnergyCall, values: Mapping[str, Value]) -> float:
    r"""Return :math:`\kappa/\mu` at rest, of the part ``"volumetric"`` and of all others.

    0 where there is no such part, or the numbers among `values` do not determine it.
    """
    kinematics, parts = called.kinematics, dict(called.parts)
    if "J" not in kinematics.quantities or PART not in parts:
        return 0.0
    kappa = bulk_modulus(kinematics, parts.pop(PART))
    mu = shear_modulus(kinematics, sp.Add(*parts.values()))
    numbers = {n: v.value if isinstance(v, Parameter) else v for n, v in values.items()}
    constants = {real(n): float(v) for n, v in numbers.items() if isinstance(v, int | float)}
    ratio = (kappa / mu).subs(constants)
    return float(ratio) if ratio.is_number and ratio.is_finite else 0.0
