# SPDX-License-Identifier: BSD-3-Clause
"""The middles of edges that belong to a region of a body, where edges carry slopes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ..arrays import Array, Ints, Mask
from ..runtime.collective import exchange, owners_of, shares
from .glue import GluedSlopes, look_up
from .on_body import Nodes

if TYPE_CHECKING:
    from ..assembly.configuration import Configuration, EdgeVertices, Layout
    from ..elements.element import Element
    from .interpolation import Interpolated, Interpolation
    from .on_body import PointsOnBody


@dataclass(frozen=True)
class Middles:
    """The edges of a place, each once, on the rank that numbers it.

    Attributes
    ----------
    edges : of the mesh.
    starts : (ranks + 1,) where those of each rank begin among all of the place.
    vertices : (n,) ids of the system's vertices, ascending.
    X : (n, 3) their middles.
    inside : (n,) whether cells of the place are glued there.
    """

    jet: ClassVar[str] = "across"  # where slopes are stored
    what: ClassVar[str] = "edges"

    edges: EdgeVertices
    starts: Ints
    vertices: Ints
    X: Array
    inside: Mask

    @classmethod
    def of(cls, layout: Layout, place: Nodes | PointsOnBody) -> Middles | None:
        """Find them; None: the body's edges carry no slopes, or the place has none (collective)."""
        body = place.body
        if not body.element.across or not isinstance(place, Nodes):
            return None
        mesh, pairs = body.region.mesh, np.zeros((0, 2), dtype=np.int64)
        inside = np.zeros(0, dtype=bool)
        edges, kind = layout.edges(mesh), body.element.cell
        if kind in place.region.types:
            ends = np.array(body.element.topology.edges)
            pairs = place.region.slice(kind)[1][:, ends].reshape(-1, 2)
            inside = np.ones(len(pairs), dtype=bool)
        if "line" in place.region.types:
            lines = place.region.slice("line")[1]
            pairs = np.concatenate([pairs, lines])
            inside = np.append(inside, np.zeros(len(lines), dtype=bool))
        number = edges.numbered.number(pairs)
        have_edge = number >= 0
        first = edges.numbered.first
        _, (number, inside) = exchange(
            mesh.comm, owners_of(first, number[have_edge]), number[have_edge], inside[have_edge]
        )
        every, back = np.unique(number, return_inverse=True)
        glued = np.zeros(len(every), dtype=bool)
        np.logical_or.at(glued, back.ravel(), inside)
        starts = shares(mesh.comm, len(every))
        if not starts[-1]:
            return None
        own = edges.numbered.edges[every - first[mesh.comm.rank]]
        X = mesh.fetch_points(own).mean(axis=1)
        return cls(edges, starts, every + edges.base, X, glued)

    def slots(self, _: Element) -> tuple[Ints, Ints]:
        """Return how many slopes of each edge are held in full, and along normals."""
        full = self.inside.astype(np.int64)
        return full, 1 - full

    def look(self, vertices: Ints) -> Array:
        """Return rows (k, 2) for vertex ids: number among all + 1, inside; 0: none (collective)."""
        numbered, base = self.edges.numbered, self.edges.base
        number = self.starts[numbered.comm.rank] + np.arange(len(self.vertices))
        rows = np.column_stack([number + 1, self.inside])
        own = self.vertices - base
        return look_up(numbered.comm, numbered.first, vertices - base, own, rows)

    def here(self, configuration: Configuration, body: Interpolated) -> MiddlesHere:
        """Find those that this rank has (collective)."""
        on = configuration.binding(body).interpolation
        rows = self.look(configuration.topology.vertex_ids)
        vertices = np.flatnonzero(rows[:, 0] > 0.0)
        vertices = vertices[np.isin(vertices, on.middles.vertices)]
        number = rows[vertices, 0].astype(np.int64) - 1
        D, X, normal = np.split(on.middles[vertices], 3, axis=1)
        return MiddlesHere(vertices, number, X, normal, D, rows[vertices, 1] > 0.0)


@dataclass(frozen=True)
class MiddlesHere:
    """Middles of edges of a place on this rank after distribution.

    Attributes
    ----------
    vertices, number : (n,) local vertices, and numbers among those of all ranks.
    X, normal, across : (n, 3) places, unit normals, and the slopes across in the reference.
    inside : (n,) whether cells of the place are glued there.
    """

    vertices: Ints
    number: Ints
    X: Array
    normal: Array
    across: Array
    inside: Mask

    def basis(self, _: Interpolation) -> Array:
        """Return the reference slopes (n, 1, 3) there."""
        return self.across[:, None]

    def slopes(self) -> GluedSlopes:
        """Return what gluing holds of them: all inside, else the components along normals."""
        inside = self.inside[:, None, None]
        across, normal = self.across[:, None], self.normal[:, None]
        none = np.zeros_like(across)
        full = np.where(inside, across, none)
        return GluedSlopes(full, np.where(inside, none, across), np.where(inside, none, normal))
