# SPDX-License-Identifier: BSD-3-Clause
r"""The condition of incompressible bodies alone, and what it is along a motion.

With the measure g of the change of volume and the functions psi_a of the pressure the condition is
:math:`\Phi_a = \int \psi_a\, g\, dV = 0`. Of the parts of a motion

.. math::
    \dot\Phi_a = \int \psi_a\, g_q \dot q\, dV, \qquad
    \gamma_a = -\int \psi_a\, (g_q \dot q)_q \dot q\, dV .
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import sympy as sp

from symancf_codegen.declare import RATE_FACTOR, KernelParameter, PointLaw, Rule
from symancf_codegen.functions import rate

from ..kinematics.quantity import real
from .build import build_law
from .evaluate import evaluate_energy
from .mixed import FRAME, PART, PRESSURE, PressureField

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..elements.element import Element
    from ..kinematics.naming import Energy
    from ..values.parameter import Value
    from .build import Kind


def volume_law(
    element: Element,
    energy: Energy,
    pressure: PressureField,
    *,
    values: Mapping[str, Value],
    fields: Mapping[str, Kind],
) -> tuple[PointLaw, Rule]:
    """Return the law p g of an incompressible body: its forces are those of the pressure."""
    called = evaluate_energy(element, energy, values=values, pressure=pressure)
    w = called.parts[PART]
    law = build_law(
        f"volume_{called.name}",
        called.kinematics,
        w,
        kinds={**fields, **dict.fromkeys(FRAME, "cell")},
        title=f"W = {w}",
    )
    return law, element.rule("full")


def moving_volume(law: PointLaw, names: Sequence[str], weights: Sequence[sp.Symbol]) -> PointLaw:
    """Return the law of w0 Phi + w1 Phi' - w2 gamma, conjugate to the pressures.

    Parameters
    ----------
    law : of `volume_law`.
    names : of the values of the pressure in it.
    weights : w0, w1, w2.
    """
    g, p = sp.diff(law.energy, PRESSURE), dict(law.lets)[PRESSURE]
    speed, bend = real("volume_rate"), real("volume_bend")
    total = sp.Add(*(w * e for w, e in zip(weights, (g, speed, bend), strict=True)))
    return replace(
        law,
        name=f"{law.name}_motion",
        energy=None,
        work={real(name): sp.diff(p, real(name)) * total for name in names},
        lets=(*law.lets, (speed, rate(g)), (bend, rate(speed))),
        parameters=(
            *law.parameters,
            *(KernelParameter(w) for w in (*weights, real(RATE_FACTOR))),
        ),
        rates=True,
        title=f"w0 g + w1 g' + w2 g'' (without accelerations) of {law.title}",
    )
