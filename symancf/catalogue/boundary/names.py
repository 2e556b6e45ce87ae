# SPDX-License-Identifier: BSD-3-Clause
"""Names of the coordinates that a support may hold at nodes, and which slopes they mean there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...errors import MeshError, ParameterError
from ...places.glue import EDGE, NodesHere
from ...places.vectors import unit
from ...values.arguments import chosen_dofs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...arrays import Array, Ints
    from ...elements import Element
    from ...places.middles import MiddlesHere

AXES = "xyz"
ALIGNED = 1e-9  # component of a unit vector that is none
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
    wanted = [dofs] if isinstance(dofs, str) else dofs
    for dof in wanted if isinstance(wanted, list | tuple) else ():
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


def parts_of(element: Element, names: set[str]) -> dict[str, list[int]]:
    """Return the components that are held of each slope that is named."""
    by_slope = {}
    for slope in slope_names(element):
        components = [a for a in range(3) if {slope, f"{slope}.{AXES[a]}"} & names]
        if components:
            by_slope[slope] = components
    return by_slope


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


def find_slopes(
    who: str, element: Element, name: str, here: NodesHere | MiddlesHere, basis: Array
) -> tuple[Ints, Ints]:
    """Return the nodes or edges that have a slope of a name, and its number at each.

    Raises
    ------
    MeshError : it is none of those that are stored there.
    """
    if isinstance(here, NodesHere):
        return np.arange(len(basis)), _at_nodes(who, element, name, here, basis)
    edges = _across_edges(who, name, here)
    return edges, np.zeros(len(edges), dtype=np.int64)


def _at_nodes(who: str, element: Element, name: str, here: NodesHere, basis: Array) -> Ints:
    """Return the number of the slope of a name at each node.

    Raises
    ------
    MeshError : there is none: the place has no edges there, or another support took others.
    """
    if element.slope_kind == "tangents" and element.dimension == 1:
        return np.zeros(len(basis), dtype=np.int64)
    if name[6:] in AXES:
        wanted = np.broadcast_to(np.eye(3)[AXES.index(name[6:])], here.normal.shape)
    else:
        across = np.cross(here.normal, here.along)
        wanted = {"along": here.along, "across": across, "normal": here.normal}[name[6:]]
    cosine = np.abs(np.einsum("nka,na->nk", basis, wanted))
    number = cosine.argmax(axis=1)
    oblique = cosine.max(axis=1, initial=0.0) < 1.0 - ALIGNED
    if oblique.any():
        at = int(np.argmax(oblique))
        x = here.X[at]
        why = (
            "no single edge of the region goes through or ends there"
            if name in EDGE_NAMES and here.kind[at] != EDGE
            else "the slopes there are stored in other directions, for another support"
        )
        raise MeshError(
            f"{who}: {name!r} cannot be fixed at the node ({x[0]:g}, {x[1]:g}, {x[2]:g}): {why}",
            asked="dofs",
            given=name,
        )
    return np.asarray(number)


def _across_edges(who: str, name: str, here: MiddlesHere) -> Ints:
    """Return the edges whose slope across has a name; the slope along one follows from nodes.

    Raises
    ------
    MeshError : the derivative along an axis of space is neither of both.
    """
    if name == "slope_across":
        return np.arange(len(here.X))
    if name == "slope_along":
        return np.zeros(0, dtype=np.int64)
    along = np.abs(here.across[:, AXES.index(name[6:])])
    oblique = (along > 1e-6) & (along < 1.0 - 1e-6)
    if oblique.any():
        x = here.X[int(np.argmax(oblique))]
        raise MeshError(
            f"{who}: {name!r} is neither along nor across the edge at "
            f"({x[0]:g}, {x[1]:g}, {x[2]:g}); write 'slope_along' or 'slope_across'",
            asked="dofs",
            given=name,
            possible=("slope_along", "slope_across"),
        )
    return np.flatnonzero(along > 0.5)


def in_plane(who: str, name: str, here: NodesHere) -> Array:
    """Return the axis of a slope by an axis of space at each node of a thin plate.

    Raises
    ------
    MeshError : the plate is not in a plane that has this axis.
    """
    axis = np.eye(3)[AXES.index(name[6:])]
    off = np.abs(here.normal @ axis)
    if (off > 1e-6).any():
        x = here.X[int(np.argmax(off))]
        raise MeshError(
            f"{who}: {name!r} is the derivative along {name[6:]}, which leaves the plate "
            f"at ({x[0]:g}, {x[1]:g}, {x[2]:g}); write 'slope_along' or 'slope_across' of a "
            "region of edges",
            asked="dofs",
            given=name,
            possible=("slope_along", "slope_across"),
        )
    return unit(axis - (here.normal @ axis)[:, None] * here.normal)
