# SPDX-License-Identifier: BSD-3-Clause
"""Which element a body has that names none: by the type of its cells and by what its law asks."""

from __future__ import annotations

import warnings
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING

from .. import elements
from ..elements import Element
from ..errors import KinematicsError, MeshError, ParameterError, closest, outside
from ..kinematics.moduli import by_moduli
from ..kinematics.naming import Energy, law_of, signature
from ..laws import unsuited
from ..mesh import Region
from ..places.geometry import require_direction
from ..values.arguments import printable
from ..values.parameter import label
from ..values.reader import require_parameters

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from symancf_codegen.declare import Rule

    from ..laws.energy import Volumetric

    Quadrature = str | Rule | Mapping[str, str | Rule] | None


def pair(
    region: Region,
    element: Element | Energy | None,
    energy: Energy | None,
    name: str | None,
    parameters: Collection[str],
    volumetric: Volumetric | None = None,
    quadrature: Quadrature = None,
) -> tuple[Element, Energy]:
    """Return the element and the energy of a body; one that was chosen is told.

    Raises
    ------
    MeshError, KinematicsError : what is given is something else, or see `choose`.
    ParameterError : slopes at nodes where none are found.
    """
    if not isinstance(region, Region):
        raise MeshError(
            f"Body takes a region of a mesh, mesh['name']; given {region!r}",
            asked="region",
            given=region,
        )
    name = None if name is None else printable("the name of a body", name)
    if element is None:  # Body(region, energy=...)
        element, energy = energy, None
    element, energy = by_moduli(law_of(element), parameters), by_moduli(law_of(energy), parameters)
    if isinstance(element, Element) and callable(energy):
        require_direction(name or region.name, element)
        return element, energy
    if isinstance(element, Element) or energy is not None or not callable(element):
        raise KinematicsError(
            "Body(region, element, energy) takes one of symancf.elements and a function, "
            f"Body(region, energy) a function alone; given {label(element)} and {label(energy)}"
            + _hint(element)
            + _hint(energy),
            asked="energy",
            given=(label(element), label(energy)),
        )
    choice, why = choose(region, element, parameters), ""
    if choice.without is not None:
        with suppress(Exception):  # which the body raises, from every rank
            why = unsuited(choice, element, volumetric, quadrature)
        choice = choice.without if why else choice
        why = why and f" since {why}; it locks in bending;"
    if region.mesh.comm.rank == 0:
        warnings.warn(
            f"body {name or region.name!r} has the element sa.elements.{choice.name}, chosen for "
            f"its cells of type {choice.cell!r} and {signature(element).name}();{why} without "
            "this warning: Body(region, element, energy)",
            stacklevel=outside(),
        )
    return choice, element


def _hint(value: object) -> str:
    """Return what names an element or an energy that is given as a text."""
    for module in ("elements", "energies"):
        if isinstance(value, str) and value in vars(import_module(f"symancf.{module}")):
            return f"; {value!r} is sa.{module}.{value}"
    return ""


def choose(region: Region, energy: Energy, parameters: Collection[str]) -> Element:
    """Return the one element of the region's cells that offers what a law asks for.

    Parameters
    ----------
    region : of cells of one type.
    energy : asks for quantities and parameters.
    parameters : names of the parameters that are given: of several elements they decide.

    Raises
    ------
    MeshError : there is no element for its cells, or they are of several types.
    KinematicsError : no element of these cells offers the quantities, or several do.
    """
    if len(region.sizes) != 1:
        raise MeshError(
            f"{region.describe()}: a body has cells of one type; make one of each part in "
            f"mesh[{region.name!r}].by_type",
            asked="region",
            given=tuple(region.sizes),
        )
    fitting = _of_cells(region)
    able = _offering(fitting, energy)
    candidates = [e for e in able if _takes(e, energy, parameters)] if len(able) > 1 else able
    if len(candidates) != 1:
        law, possible = signature(energy).name, [e.name for e in candidates or able]
        names = [f"sa.elements.{name}" for name in possible]
        raise KinematicsError(
            f"{law}() goes with {' and '.join(names)} on the cells of {region.name!r}, "
            f"of type {fitting[0].cell!r}: name one of them, Body(region, {names[0]}, {law}, ...)",
            asked=law,
            possible=possible,
        )
    return candidates[0]


def _of_cells(region: Region) -> list[Element]:
    """Return the elements that are chosen for a region's cells, of one type."""
    (kind,) = region.sizes
    every = [e for e in vars(elements).values() if isinstance(e, Element)]
    traces = {trace for e in every for trace in e.traces}
    candidates = [e for e in every if e.automatic and e not in traces]
    fitting = [e for e in candidates if e.cell == kind]
    if not fitting:
        possible = sorted({e.cell for e in candidates})
        raise MeshError(
            f"{region.describe()}; there are elements for cells of type "
            f"{' or '.join(map(repr, possible))}",
            asked="element",
            given=kind,
            possible=possible,
        )
    return fitting


def _offering(fitting: list[Element], energy: Energy) -> list[Element]:
    """Return those of some elements that offer the quantities of a law."""
    arguments = signature(energy)
    able = [e for e in fitting if {*arguments.quantities} <= {*e.quantities}]
    if not able:
        offers = "; ".join(f"{e.name} offers {', '.join(e.quantities)}" for e in fitting)
        every = tuple(dict.fromkeys(q for e in fitting for q in e.quantities))
        absent = next(
            (q for q in arguments.quantities if q not in every), ", ".join(arguments.quantities)
        )
        raise KinematicsError(
            f"{arguments.name}() asks for {', '.join(arguments.quantities)}. On cells of type "
            f"{fitting[0].cell!r} {offers}.{closest(absent, every)}",
            asked=absent,
            possible=every,
        )
    return able


def _takes(element: Element, energy: Energy, parameters: Collection[str]) -> bool:
    """Whether an energy on an element takes the parameters that are given, and no others."""
    arguments, kinematics = signature(energy), element.kinematics()
    optional = (*arguments.defaults, *kinematics.density_parameters, *kinematics.defaults)
    try:
        needed = (*arguments.required, *kinematics.section)
        require_parameters(f"{arguments.name}()", needed, parameters, optional=optional, exact=True)
    except ParameterError:
        return False
    return True
