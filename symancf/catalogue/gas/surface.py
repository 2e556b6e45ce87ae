# SPDX-License-Identifier: BSD-3-Clause
"""Surfaces that gas touches: facets of solids, faces and mid-surfaces of plates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import Array, Integers, Ints, Ints32
from ...bodies.body import Body
from ...errors import MeshError, ParameterError
from ...mesh.conformity import side_keys
from ...places.edges import with_edges
from ...places.ends import End
from ...places.facets import WORDS
from ...places.on_body import Face, Nodes
from ...runtime.collective import share_error
from ...values.parameter import Scalar, label

if TYPE_CHECKING:
    from ...assembly.configuration import Configuration, Layout
    from ...assembly.form import Form, Role
    from ...laws.pressure import Laws
    from ...mesh import Region


class CavitySurface:
    """What gas touches of a body: see `surfaces_of`.

    Parameters
    ----------
    region : boundary facets of a solid, or cells of a plate; in `parts` all of one type.
    side : of plates, +1 or -1: the gas is on the side of +n or -n, n being the normal that
        belongs to the numbering of the cells, and touches the face z = side thickness/2.
    middle : of plates: the gas acts on the mid-surface.
    """

    def __init__(
        self, body: Body, region: Region, side: int | None = None, middle: bool = False
    ) -> None:
        self.body, self.region, self.side = body, region, side
        self.solid = body.element.dimension == 3
        self.name = f"region {region.name!r} of {body.name!r}"
        possible = body.element.traces if self.solid else (body.element,)
        if not possible or possible[0].dimension != 2:
            raise ParameterError(
                f"{self.name}: gas presses on facets of solids and on plates; "
                f"{body.element.name} has no surface",
                asked="surface",
                given=body.element.name,
            )
        region.require(*(e.cell for e in possible), use=f"a pressure on body {body.name!r}")
        self.element = next(e for e in possible if e.cell in region.types)
        if not self.solid and side not in (None, 1, -1):
            raise ParameterError(
                f"{self.name}: face({side!r}) is not possible: give +1 or -1",
                asked="side",
                given=side,
                possible=(1, -1),
            )
        if self.solid and side not in (None, 1):
            raise ParameterError(
                f"{self.name}: facets of a solid have one side, the outer one; leave face() out",
                asked="side",
                given=side,
                possible=(None, 1),
            )
        self.middle = middle or self.solid or side is None
        self.fields = {} if self.solid else body._fields

    def __str__(self) -> str:
        if self.solid or self.side is None:
            return self.name
        return f"{self.name}, face({self.side:+d})"

    @property
    def parts(self) -> list[CavitySurface]:
        """Those of each type of facets."""
        how = self.side, self.middle
        return [CavitySurface(self.body, part, *how) for part in self.region.by_type]

    def slice(self, layout: Layout) -> tuple[Ints, Ints]:
        """Return the ids of this rank's share of the facets, and their vertices (collective)."""
        layout.require_member(self.body, str(self))
        self.region.require_on(self.body.region)
        ids, vertices = self.region.slice(self.element.cell)
        return ids, with_edges(layout, self.body, vertices + layout.base(self.region.mesh))


@dataclass(frozen=True)
class Scalars:
    """Coordinates of all facets' extra vertices: their block, and which of the vertices it is."""

    block: str
    vertex: int
    size: int


class CavityFacets:
    """The facets on this rank of a family that was announced.

    Attributes
    ----------
    cells : (n, nv) local vertices, numbered as in the family.
    extra : (n, k) local vertices that the facets were announced with.
    parents : (n,) number of cells of this rank that they belong to: all, unless the facet came
        here by an extra vertex.
    parity : (n,) +1 where the normal of that numbering is the one of the plate's cell, or points
        out of the solid; -1 the other one, 0 unknown.
    sense : (n,) +1 where it points towards the gas.
    vote : (n,) -1 where it does and the user has said so, +1 where it points away, else 0.
    """

    def __init__(self, surface: CavitySurface, configuration: Configuration, family: str) -> None:
        self.surface = surface
        members = configuration.topology.families[family]
        self.ids, self.owned = members.ids, members.owned
        cell = surface.element.topology
        nodes, corners = len(cell.nodes), cell.corners
        all_nodes = nodes + surface.element.edges
        self.cells, self._all_nodes = members.vertices[:, :nodes], members.vertices[:, :all_nodes]
        self.extra = members.vertices[:, all_nodes:]
        numbered = _offered(configuration, surface.body, cell.name)
        row, self.parents = _matched(cell.name, self.cells, numbered)
        self.parity = np.zeros(len(row))
        if len(numbered):
            own = numbered[row, :corners]
            first = (own == self.cells[:, :1]).argmax(axis=1)
            after = own[np.arange(len(own)), (first + 1) % corners]
            turned = np.where(after == self.cells[:, 1], 1.0, -1.0)
            self.parity = np.where(self.parents > 0, turned, 0.0)
        self.sense = float(surface.side or 1) * self.parity
        oriented = surface.solid or surface.side is not None
        self.vote = -self.sense if oriented else np.zeros(len(row))

    @property
    def _word(self) -> str:
        return WORDS[self.surface.element.topology.straight.name]

    def require_parents(self, configuration: Configuration, parents: Integers | Array) -> None:
        """Raise where facets are of no cell of the body, or between two (collective).

        `parents` : (n,) number of cells that each of this rank's facets belongs to.

        Raises
        ------
        MeshError
        """
        error = None
        if (parents != 1).any():
            at = int(np.argmax(parents != 1))
            x = configuration.points[self.cells[at]].mean(axis=0)
            none = parents[at] == 0
            what = "is no facet of its cells" if none else "lies between two of its cells"
            error = MeshError(
                f"{self.surface.name}: the {self._word} at ({x[0]:g}, {x[1]:g}, {x[2]:g}) {what}; "
                "gas presses on boundary facets of solids and on cells of plates",
                asked="facet",
                given=x,
                possible=("boundary",),
            )
        share_error(configuration.comm, error)

    def require_outside(self, configuration: Configuration) -> None:
        """Raise where facets of a solid are those of another solid, too (collective).

        Raises
        ------
        MeshError : the facet lies between the two, where no gas is.
        """
        error, own = None, self.surface.body
        for body in configuration.bodies:
            if body is own or not isinstance(body, Body) or body.element.dimension < 3:
                continue
            kind = self.surface.element.cell
            _, count = _matched(kind, self.cells, _offered(configuration, body, kind))
            if count.any() and error is None:
                x = configuration.points[self.cells[int(np.argmax(count))]].mean(axis=0)
                error = MeshError(
                    f"{self.surface.name}: the {self._word} at ({x[0]:g}, {x[1]:g}, {x[2]:g}) "
                    f"lies between {own.name!r} and {body.name!r}, where no gas is; leave the "
                    "interface out of the region",
                    asked="facet",
                    given=x,
                    possible=(own.name, body.name),
                )
        share_error(configuration.comm, error)

    def normals(self, x: Array) -> Array:
        """Return the areas times the normals (n, 3) out of the gas, at positions of all vertices.

        They are those of the facets between their corners.
        """
        ring = x[self.cells[:, : self.surface.element.topology.corners]]
        area = np.cross(ring[:, 2] - ring[:, 0], ring[:, -1] - ring[:, 1]) / 2.0
        return np.asarray(-self.sense[:, None] * area)

    def form(
        self,
        configuration: Configuration,
        name: str,
        laws: Laws,
        role: Role,
        uniform: Mapping[str, Scalar],
        scalars: Sequence[Scalars] = (),
        cell: Mapping[str, Array] | None = None,
    ) -> Form:
        """Make the form of laws of `laws.pressure` on the facets of this rank (collective).

        `scalars` : unknowns of the laws behind those of the facets.
        """
        surface, numbering, n = self.surface, configuration.numbering, len(self.cells)
        extra = self.extra[:, [k.vertex for k in scalars for _ in range(k.size)]]
        offsets = [np.zeros((n, 0), dtype=np.int32)]
        for unknown in scalars:
            at = self.extra[:, unknown.vertex]
            start: Ints32 = numbering.offset[at, numbering.block(unknown.block)]
            offsets.append(start[:, None] + np.arange(unknown.size, dtype=np.int32))
        body, own = configuration.binding(surface.body), np.concatenate(offsets, axis=1)
        patch = body.interpolation.patch(surface.element, self._all_nodes, self.owned, extra, own)
        values = {"sense": self.sense, "offset": self.sense, **(cell or {})}
        form = body.form(configuration, name, laws, role, uniform, patch, values)
        return replace(form, growing=tuple({"p"} & set(uniform)))


def _offered(configuration: Configuration, body: Body, kind: str) -> Ints32:
    """Return the facets (n, nv) of a type that this rank's cells of a body have."""
    sides = body.element.topology.sides(kind)
    return configuration.binding(body).interpolation.cells[:, sides].reshape(-1, sides.shape[1])


def _matched(kind: str, wanted: Ints32, offered: Ints32) -> tuple[Ints, Ints]:
    """Return for each facet of a type one row of `offered` that it is, and how many there are.

    Their first corners and senses may differ.
    """
    rows = side_keys(kind, np.concatenate([offered, wanted]))
    both, place = np.unique(rows, return_inverse=True)
    place = place.ravel()
    count = np.bincount(place[: len(offered)], minlength=len(both))
    first = np.zeros(len(both), dtype=np.int64)  # of a row that is not offered: any
    first[place[: len(offered)]] = np.arange(len(offered))
    return first[place[len(offered) :]], count[place[len(offered) :]]


def surfaces_of(place: Nodes | Face, who: str) -> list[CavitySurface]:
    """Return what gas touches at a place: a surface of each type of facets.

    Raises
    ------
    ParameterError : it is no surface.
    """
    nodes: Any = place.nodes if isinstance(place, Face) else place
    if not isinstance(nodes, Nodes) or not isinstance(nodes.body, Body):
        text = nodes if isinstance(nodes, End) else label(nodes)
        raise ParameterError(
            f'{who} acts on surfaces, body["region"] or body["region"].face(+1), not on {text}',
            asked="region",
            given=str(text),
        )
    how = (place.side, place.middle) if isinstance(place, Face) else ()
    return CavitySurface(nodes.body, nodes.region, *how).parts
