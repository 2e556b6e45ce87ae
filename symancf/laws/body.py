# SPDX-License-Identifier: BSD-3-Clause
"""Laws of a body's mass and weight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symancf_codegen.declare import PointLaw, Rule, unknown

from ..kinematics.naming import require_parameters
from ..kinematics.quantity import dot, real, vector
from .build import build_law, kinds_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ..elements.element import Element

Laws = list[tuple[PointLaw, Rule]]


def _mass_rule(element: Element) -> Rule:
    """Return the rule that integrates products of shape functions."""
    per_direction = max(
        max(exponents[d] for f in element.functions.values() for exponents in f.exponents)
        for d in range(element.topology.dimension)
    )
    counts = "x".join([str(per_direction + 1)] * element.topology.dimension)
    return element.rule(counts + ("x2" if element.has_thickness else ""))


def _load_rule(element: Element) -> Rule:
    """Return the rule that integrates a constant load against the shape functions."""
    counts = {1: "3", 2: "3x3", 3: "2x2x2"}[element.topology.dimension]
    return element.rule(counts + ("x2" if element.has_thickness else ""))


def _kinds(element: Element, values: Mapping[str, Any] | None, fields: Collection[str]) -> Any:
    kinematics = element.kinematics()
    if values is not None:
        needed = dict.fromkeys((*kinematics.density_parameters, *kinematics.section))
        require_parameters(f"the mass of {element.name}", needed, values)
    return kinds_of(fields)


def body_force_laws(
    element: Element,
    *,
    values: Mapping[str, Any] | None = None,
    fields: Collection[str] = (),
) -> Laws:
    r"""Return the potential energy of weight, :math:`-\rho\, g \cdot u` per reference volume.

    Parameters: ``g1, g2, g3`` [m/s^2], ``rho`` [kg/m^3], and ``thickness`` (plates) or ``A``
    (cables). Integrated exactly on cells with an affine reference.

    Parameters
    ----------
    values, fields : as in `energy_laws`; only the parameters of the mass are looked at.

    Raises
    ------
    ParameterError : if a parameter of the mass is missing.
    """
    kinds = _kinds(element, values, fields)
    kinematics = element.kinematics()
    u = vector(unknown("value"))
    g = vector((real("g1"), real("g2"), real("g3")))
    law = build_law(
        f"weight_{element.name}",
        kinematics,
        -kinematics.density * dot(g, u),
        kinds=kinds,
        title=f"W = -{kinematics.density} g . u",
    )
    return [(law, _load_rule(element))]


def inertia_laws(
    element: Element,
    *,
    values: Mapping[str, Any] | None = None,
    fields: Collection[str] = (),
) -> Laws:
    r"""Return :math:`\tfrac12 \rho\, u \cdot u` per reference volume: its Hessian is the mass.

    With velocities in the place of u its value is the kinetic energy. Parameters as in
    `body_force_laws`, without g.

    Raises
    ------
    ParameterError : if a parameter of the mass is missing.
    """
    kinds = _kinds(element, values, fields)
    kinematics = element.kinematics()
    u = vector(unknown("value"))
    law = build_law(
        f"inertia_{element.name}",
        kinematics,
        kinematics.density * dot(u, u) / 2,
        kinds=kinds,
        title=f"T = {kinematics.density} v . v/2",
    )
    return [(law, _mass_rule(element))]
