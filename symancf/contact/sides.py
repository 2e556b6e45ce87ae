# SPDX-License-Identifier: BSD-3-Clause
"""Sides: what may touch something, of one body or of several that lie beside each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, cast

from ..bodies.body import Body
from ..errors import ParameterError
from ..places.on_body import Face, Nodes
from .sheet import NONE, Sheet

if TYPE_CHECKING:
    from collections.abc import Sequence

Place: TypeAlias = "Nodes | Face | Sequence[Nodes | Face]"


class Side:
    """The facets that may touch something as one surface: sheets of one type and body each.

    Where sheets have edges in common, normals and forces go over from one to the other; that is
    where bodies share nodes, as in a mesh of hexahedra and wedges.

    Parameters
    ----------
    who : begins messages.
    place : what the user gives, see `sheet`; or several of them.
    radius : of cables [m].
    facing : whether what it touches has facets, too.

    Attributes
    ----------
    sheets : facets of each type and body; those of one body may be more than one.
    bodies : whose facets they are, each once.
    cable : whether they are axes of cables.

    Raises
    ------
    ParameterError : nothing that has a side, or nothing at all; cables beside something else.
    """

    def __init__(
        self, who: str, place: Place, radius: float | None = None, facing: bool = False
    ) -> None:
        self.who = who
        given = list(place) if isinstance(place, list | tuple) else [cast("Nodes | Face", place)]
        if not given:
            raise ParameterError(f"{who}: there is nothing in {place!r}; {NONE}")
        self.sheets = [
            Sheet(who, part, radius, facing) for each in given for part in _by_type(each)
        ]
        self.bodies: list[Body] = list(dict.fromkeys(sheet.body for sheet in self.sheets))
        self.cable = any(sheet.cable for sheet in self.sheets)
        if self.cable and not all(sheet.cable for sheet in self.sheets):
            raise ParameterError(f"{who}: {self} are cables and surfaces: give a contact for each")

    def __str__(self) -> str:
        return " and ".join(dict.fromkeys(map(str, self.sheets)))


def is_place(given: object) -> bool:
    """Tell whether something is a place of bodies, or several."""
    return isinstance(given, Nodes | Face | list | tuple)


def _by_type(place: Nodes | Face) -> Sequence[Nodes | Face]:
    """Return a place as those of facets of one type each: wedges have two."""
    if not isinstance(place, Nodes) or not isinstance(place.body, Body):
        return [place]
    return [Nodes(place.body, part) for part in place.region.by_type]
