# SPDX-License-Identifier: BSD-3-Clause
"""Laws of a body's mass and weight."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import sympy as sp

from symancf_codegen.declare import KernelParameter, PointLaw, Rule, unknown

from ..kinematics.quantity import dot, real, vector
from ..values.reader import require_parameters
from .build import Kinds, build_law, kinds_of
from .laminate import layered_inertia

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ..elements.element import Element
    from ..values.parameter import Value
    from .layers import Layers

Laws = list[tuple[PointLaw, Rule]]


def _mass_rule(element: Element) -> Rule:
    """Return the rule that integrates products of shape functions."""
    return element.rule(2 * element.degree)


def _load_rule(element: Element) -> Rule:
    """Return the rule that integrates a constant load against the shape functions."""
    return element.rule(element.degree + 2)


def _kinds(element: Element, values: Mapping[str, Value] | None, fields: Collection[str]) -> Kinds:
    kinematics = element.kinematics()
    if values is not None:
        needed = dict.fromkeys((*kinematics.density_parameters, *kinematics.section))
        require_parameters(f"the mass of {element.name}", needed, values)
    return kinds_of(fields)


def inertia_laws(
    element: Element,
    *,
    values: Mapping[str, Value] | None = None,
    fields: Collection[str] = (),
    layers: Layers | None = None,
) -> Laws:
    r"""Return :math:`\tfrac12 \rho\, u \cdot u` per reference volume: its Hessian is the mass.

    With velocities in the place of u its value is the kinetic energy. Parameters: ``rho``
    [kg/m^3], and ``thickness`` (plates) or ``A`` (cables).

    Parameters
    ----------
    values, fields : as in `energy_laws`; only the parameters of the mass are looked at.
    layers : of which the body is made, with densities of their own.

    Raises
    ------
    ParameterError : if a parameter of the mass is missing.
    """
    if layers is not None:
        return layered_inertia(element, layers, fields, _mass_rule(element))
    kinds = _kinds(element, values, fields)
    kinematics = element.kinematics()
    u = vector(unknown("value"))
    energy, title = kinematics.kinetic, f"T = {kinematics.density} v . v/2"
    if energy is None:
        energy = kinematics.density * dot(u, u) / 2
    else:
        title = f"T = {energy}"
    law = build_law(f"inertia_{element.name}", kinematics, energy, kinds=kinds, title=title)
    return [(law, _mass_rule(element))]


@lru_cache(maxsize=64)
def weight_law(name: str, kinetic: PointLaw, dimension: int = 3) -> PointLaw:
    r"""Return the potential of weight that belongs to a kinetic energy T, :math:`-g_a T_{,v_a}`.

    v_a are the first unknowns of T, rates of a point, in whose place the law has displacements.
    Parameters: those of T, and ``g1, g2, g3`` [m/s^2], as many as there are dimensions.
    """
    assert kinetic.energy is not None
    g = [real(f"g{a + 1}") for a in range(dimension)]
    pairs = zip(g, kinetic.unknowns, strict=False)
    energy = -sp.Add(*(x * sp.diff(kinetic.energy, v) for x, v in pairs))
    needed = energy.free_symbols.union(
        kinetic.measure.free_symbols, *(e.free_symbols for _, e in kinetic.geometry)
    )
    return replace(
        kinetic,
        name=name,
        energy=energy,
        parameters=(
            *(KernelParameter(x) for x in g),
            *(p for p in kinetic.parameters if p.symbol in needed),
        ),
        title=f"W = {energy}",
    )


def body_force_laws(
    element: Element,
    *,
    values: Mapping[str, Value] | None = None,
    fields: Collection[str] = (),
    layers: Layers | None = None,
) -> Laws:
    r"""Return the potential energy of weight, :math:`-\rho\, g \cdot u` per reference volume.

    Integrated exactly on cells with an affine reference; parameters as in `inertia_laws`, and
    ``g1, g2, g3`` [m/s^2].
    """
    laws = inertia_laws(element, values=values, fields=fields, layers=layers)
    rules = [_load_rule(element)] if layers is None else [rule for _, rule in laws]
    return [
        (weight_law(kinetic.name.replace("inertia", "weight"), kinetic), rule)
        for (kinetic, _), rule in zip(laws, rules, strict=True)
    ]
