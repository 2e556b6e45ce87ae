# SPDX-License-Identifier: BSD-3-Clause
"""Slopes of places in directions of the reference, as ends of constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array, Ints, Ints32, Mask
from ..assembly.resolved import JetRows, Resolved
from ..assembly.vertices import AtVertices
from .ends import End, vector_rows
from .middles import Middles

if TYPE_CHECKING:
    from ..assembly.configuration import Configuration, Layout
    from .glue import Glue, PerPlace
    from .on_body import Nodes, PointsOnBody


class Slopes(End):
    """Slopes of nodes or edges of a place in directions of the reference, one or two of each.

    Jets: ``value``, the position, which an edge has not; ``along0``, the derivative of r along the
    direction. On a rigid body ``along0`` and ``along1`` are what it makes of the direction and of
    the normal.

    Parameters
    ----------
    place, at : the nodes or points, and those of them, or of their edges, that have slopes.
    slopes : how the slopes are numbered over these.

    Attributes
    ----------
    present, slope, normal : which of the slopes that this rank may need count, and (k, 3)
        directions of the reference, after `take`.
    """

    at: Glue | Middles
    present: AtVertices[np.bool_] | None = None
    slope: AtVertices[np.float64]
    normal: AtVertices[np.float64]

    def __init__(self, place: Nodes | PointsOnBody, at: Glue | Middles, slopes: PerPlace) -> None:
        self.body, self.place, self.at, self.slopes = place.body, place, at, slopes

    def take(self, places: Ints, slopes: Array, normals: Array | None) -> None:
        """Take the directions (m, s, 3) of slopes at places of this rank, and normals (collective).

        Zeros : there is none. `places` are numbers among those of all ranks.
        """
        first, count, filled = self.slopes.at(places)
        self.present = AtVertices(filled, np.zeros(len(filled), dtype=bool))
        self.slope = AtVertices(filled, np.zeros((len(filled), 3)))
        self.normal = AtVertices(filled, np.zeros((len(filled), 3)))
        for k in range(slopes.shape[1]):
            some = k < count
            at = first[some] + k
            self.slope[at] = slopes[some, k]
            self.present[at] = slopes[some, k].any(axis=1)
            if normals is not None:
                self.normal[at] = normals[some, k]

    def _find(self, layout: Layout) -> Resolved:
        """Return the places of the slopes (collective)."""
        count = self.slopes.count
        vertices = np.repeat(self.at.vertices, count)[:, None]
        return Resolved(np.repeat(self.at.X, count, axis=0), vertices, starts=self.slopes.starts)

    def chosen(self, ids: Ints) -> Mask:
        """Return which of them count; all, where that is known once the reference is."""
        return super().chosen(ids) if self.present is None else self.present[ids]

    def constant(self, places: Resolved, jet: str) -> Array | None:
        """Return None: reference values follow from coordinates."""
        return None

    def directions(self, configuration: Configuration, places: Resolved) -> Array:
        """Return the reference directions (k, 2, 3) of the slopes and the normals."""
        return np.stack([self.slope[places.ids], self.normal[places.ids]], axis=1)

    def rows(
        self, configuration: Configuration, places: Resolved, vertices: Ints32, jet: str
    ) -> JetRows:
        """Return a jet as combinations of local coordinates; see `End.rows`."""
        on = configuration.binding(self.body).interpolation
        if isinstance(self.at, Middles):
            own = vertices[:, :0] if jet == "value" else vertices[:, :1]
            return vector_rows(on.offset(own, "across"), np.ones(own.shape))
        if jet == "value":
            return vector_rows(on.offset(vertices, jet), np.ones(vertices.shape))
        weights = np.einsum("nka,na->nk", on.basis[vertices[:, 0]], self.slope[places.ids])
        weights[np.abs(weights) < 1e-15] = 0.0
        offset = on.offset(vertices, "slope0")
        return vector_rows(offset + 3 * np.arange(weights.shape[1]), weights)

    def __str__(self) -> str:
        return f"slopes of {self.place}"


class SlopesAtPoints(Slopes):
    """The same at points of a body, as combinations of what its nodes and edges have."""

    def __init__(self, place: PointsOnBody, slopes: PerPlace) -> None:
        self.body, self.place, self.slopes = place.body, place, slopes
        self.points = place

    def _find(self, layout: Layout) -> Resolved:
        """Find the points that they are of."""
        points = self.points.resolve(layout).fetch(layout.comm, self.slopes.places)
        points = points.shared(self.slopes.starts)
        return Resolved(
            points.X, points.vertices, points.within, source=points, starts=points.starts
        )

    def rows(
        self, configuration: Configuration, places: Resolved, vertices: Ints32, jet: str
    ) -> JetRows:
        """Return a jet as combinations of local coordinates; see `End.rows`."""
        assert places.source is not None
        if jet == "value":
            return self.points.rows(configuration, places.source, vertices, jet)
        slope = self.slope[places.ids]
        return self.points._derivative(configuration, places.source, vertices, slope)
