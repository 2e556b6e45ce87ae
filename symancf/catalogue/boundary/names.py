# SPDX-License-Identifier: BSD-3-Clause
"""Names of the coordinates that a support may hold at the nodes of an element."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ParameterError
from ...values.arguments import chosen_dofs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...elements import Element

AXES = "xyz"
EDGE_NAMES = ("slope_along", "slope_across")


def slope_names(element: Element) -> list[str]:
    """Return the names of slopes that mean the same at every node."""
    if element.slope_kind == "none":
        return []
    if element.oriented and element.slope_kind == "gradient":
        return [f"slope_{a}" for a in AXES]
    if element.dimension == 1:
        return ["slope"]
    through = ["slope_normal"] if element.slope_kind == "gradient" else []
    return [*EDGE_NAMES, *through, *(f"slope_{a}" for a in AXES)]


def chosen(name: str, element: Element, dofs: str | Sequence[str]) -> list[str]:
    """Return the names of coordinates that a support was asked to hold.

    Raises
    ------
    ParameterError : one is not possible; of a slope by the parameters of a cell it tells what to
        write.
    """
    names = slope_names(element)
    asked = [dofs] if isinstance(dofs, str) else dofs
    for dof in asked if isinstance(asked, list | tuple) else ():
        head, _, axis = str(dof).partition(".")
        if head in ("slope_xi", "slope_eta") and names:
            end = f".{axis}" if axis else ""
            remedy = (
                f"a cable has one slope, 'slope{end}'"
                if names == ["slope"]
                else f"write 'slope_along{end}' or 'slope_across{end}' (along and across the edges "
                f"of the region), or 'slope_x{end}', 'slope_y{end}', 'slope_z{end}' (by an axis "
                "of space in the plane of the plate)"
            )
            raise ParameterError(
                f"{name}: dofs {dof!r} names a parameter of the cells, whose order the mesh "
                f"chooses; {remedy}",
                asked="dofs",
                possible=names,
                given=dof,
            )
    parts = [f"{slope}.{axis}" for slope in names for axis in AXES]
    slopes = ["slopes", *names, *parts] if names else []
    return chosen_dofs(
        name,
        dofs,
        ["clamp", "all", "position", *AXES, *slopes],
    )


def parts_of(element: Element, asked: set[str]) -> dict[str, list[int]]:
    """Return the components that are held of each slope that is named."""
    found = {}
    for slope in slope_names(element):
        held = [a for a in range(3) if {slope, f"{slope}.{AXES[a]}"} & asked]
        if held:
            found[slope] = held
    return found


def clamp_in_words(element: Element, dim: int) -> str:
    """Tell what a clamp holds of slopes at a region of dimension `dim` (0: points)."""
    if dim >= element.dimension or element.oriented:
        return "all slopes"
    if element.dimension == 1:
        return "direction of the tangent (its length is free)"
    if element.slope_kind == "gradient":
        if dim:
            return "slope along the edge, r_z (the slope across is free)"
        return "r_z (the slopes in plane are free)"
    if dim:
        return "slope along the edge, normal (the slope across is free in the plane)"
    return "normal (the slopes are free in the plane)"
