# SPDX-License-Identifier: BSD-3-Clause
"""Quadrature points of facets, edges and surfaces, as places of a body."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from symancf_codegen.legendre import gauss_legendre

from ..assembly.resolved import Resolved, Rows
from ..errors import MeshError
from ..mesh.cells import CELLS
from ..runtime.collective import reduced
from ..values.arrays import Array, Ints, Ints32
from .ends import End, _vector_rows
from .geometry import _arc_slope, unit
from .interpolation import Interpolation
from .locate import corner_functions

if TYPE_CHECKING:
    from ..assembly.configuration import Configuration, Layout
    from ..mesh import Region
    from .interpolation import Interpolated


def gauss(n: int) -> tuple[Array, Array]:
    """Return the points in [0, 1] and the weights of Gauss's rule."""
    x, w = gauss_legendre(n)
    return (x + 1.0) / 2.0, w / 2.0


class FacetPoints(End):
    """Gauss points of the cells of a region on a body.

    Possible are faces of solids, edges of plates, and the cells of plates and cables
    themselves. A face needs its corner positions only; an edge of a plate is the cubic through
    its ends with the nodal slopes along the edge.
    """

    def __init__(self, body: Interpolated, region: Region) -> None:
        self.body, self.region = body, region
        kinds = {"hexahedron": ("quad",), "quad": ("line", "quad"), "line": ("line",)}
        region.require(*kinds[body.element.cell], use=f"a load on body {body.name!r}")
        if len(region.types) > 1:
            raise MeshError(f"{region.describe()}; load surfaces and edges by regions of their own")
        self.kind = region.types[0]
        self.hermite = bool(body.element.slopes)

    def _find(self, layout: Layout) -> Resolved:
        """Find the points (collective)."""
        mesh = self.region.mesh
        facets = self._facets(layout)
        points, weights = self._rule()
        within = np.tile(points, (len(facets), 1))
        repeated = np.repeat(facets, len(points), axis=0)
        value, _ = corner_functions(self.kind, within)
        X = np.einsum("kv,kva->ka", value, mesh.fetch_points(repeated))
        vertices, weight = repeated + layout.base(mesh), np.tile(weights, len(facets))
        return Resolved(X, vertices, within, weight, self._groups(facets))

    def _groups(self, facets: Ints) -> Ints | None:
        """Return the number of the group of each point, if they are in groups."""
        return None

    def _facets(self, layout: Layout) -> Ints:
        """Return the vertices (n, nv) of all facets, points of the mesh (collective)."""
        layout.require_member(self.body, str(self))
        self.region.require_on(self.body.region)
        _, mine = self.region.slice(self.kind)
        parts = layout.comm.allgather(mine) if layout.comm.size > 1 else [mine]
        facets: Ints = np.concatenate(parts)
        self._require_sides(layout, facets)
        return facets

    def _require_sides(self, layout: Layout, facets: Ints) -> None:
        """Raise where a facet is no cell, face or edge of the body's cells (collective)."""
        element = self.body.element
        cell = CELLS[element.cell]
        sides: tuple[Any, ...] = (range(cell.vertices),)
        if self.kind != cell.name:
            sides = cell.edges if self.kind == "line" else tuple(element.topology.faces)
        _, cells = self.body.region.slice(cell.name)
        near = cells[np.isin(cells, facets).sum(axis=1) >= facets.shape[1]]
        known = _corners(near[:, np.array(sides)].reshape(-1, facets.shape[1]))
        found = reduced(layout.comm, np.isin(_corners(facets), known).astype(float))
        if not found.all():
            at = facets[int(np.argmin(found))]
            x = self.region.mesh.fetch_points(at[None])[0].mean(axis=0)
            what = {"line": "line", "quad": "quadrilateral"}[self.kind]
            raise MeshError(
                f"{self}: the {what} at ({x[0]:g}, {x[1]:g}, {x[2]:g}) is no cell, face or edge of "
                f"the body's cells, or names its corners in another order (points "
                f"{', '.join(map(str, at))}): forces there have no area of the body"
            )

    def _rule(self) -> tuple[Array, Array]:
        """Return the points (k, dims) of the unit facet and their weights (k,)."""
        if self.kind == "line":
            x, w = gauss(4)
            return x[:, None], w
        x, w = gauss(4 if self.hermite else 2)
        points = np.stack(np.meshgrid(x, x, indexing="ij"), axis=-1).reshape(-1, 2)
        return points, np.outer(w, w).ravel()

    def _functions(self, within: Array) -> tuple[Array, Array]:
        """Hermite functions of an edge: (k, 2 vertices, 2) values and derivatives."""
        s = within[:, 0]
        value = np.stack(
            [1 - 3 * s**2 + 2 * s**3, s - 2 * s**2 + s**3, 3 * s**2 - 2 * s**3, s**3 - s**2], 1
        )
        slope = np.stack(
            [-6 * s + 6 * s**2, 1 - 4 * s + 3 * s**2, 6 * s - 6 * s**2, 3 * s**2 - 2 * s], 1
        )
        return value.reshape(-1, 2, 2), slope.reshape(-1, 2, 2)

    def _coefficients(
        self,
        configuration: Configuration,
        places: Resolved,
        vertices: Ints32,
        derivative: int,
    ) -> tuple[Array, Array | None]:
        """Position coefficients (k, nv) and slope coefficients (k, nv, s) of r or r_derivative."""
        on = configuration.of(self.body, Interpolation)
        if self.kind == "quad" and self.hermite:
            return on.jet(("value", "xi", "eta")[derivative], places.within, vertices)
        if not self.hermite:
            value, slope = corner_functions(self.kind, places.within)
            return (value if derivative == 0 else slope[:, :, derivative - 1]), None
        value, slope = self._functions(places.within)
        table = value if derivative == 0 else slope
        X = configuration.points[vertices]
        chord = X[:, 1] - X[:, 0]
        assert on.directions is not None
        along = np.empty((places.size, 2, 3))
        for v in range(2):
            direction = on.directions.at[vertices[:, v]]
            if on.element.cell == "quad":  # normals: the tangent is the chord's projection
                normal = np.where(on.directions.kink[vertices[:, v]][:, None], 0.0, direction)
                direction = unit(chord - np.einsum("na,na->n", chord, normal)[:, None] * normal)
            along[:, v] = _arc_slope(chord, direction)
        maps = np.einsum("nva,nvca->nvc", along, on.basis[vertices])
        return table[..., 0], table[..., 1, None] * maps

    def rows(
        self, configuration: Configuration, places: Resolved, vertices: Ints32, jet: str
    ) -> Rows:
        """Return a jet as combinations of local coordinates; see `End.rows`."""
        if jet != "value":
            raise MeshError(f"{self}: offers positions only, not {jet!r}")
        positions, slopes = self._coefficients(configuration, places, vertices, 0)
        return self._rows(configuration, vertices, positions, slopes)

    def _rows(
        self,
        configuration: Configuration,
        vertices: Ints32,
        positions: Array,
        slopes: Array | None,
    ) -> Rows:
        on = configuration.of(self.body, Interpolation)
        return _vector_rows(*on.combined(vertices, positions, slopes))

    def measure(self, configuration: Configuration, places: Resolved, vertices: Ints32) -> Array:
        """Return the reference area or length of places with their local vertices."""
        return places.weight * self._jacobian(configuration, places, vertices)

    def _jacobian(self, configuration: Configuration, places: Resolved, vertices: Ints32) -> Array:
        """Return the reference area or length by that of the unit facet."""
        dims = 2 if self.kind == "quad" else 1
        tangents = np.zeros((dims, places.size, 3))
        for d in range(dims):
            found = self._coefficients(configuration, places, vertices, d + 1)
            rows = self._rows(configuration, vertices, *found)
            moved = rows.value * configuration.reference[rows.coordinate]
            np.add.at(tangents[d], (rows.place, rows.component), moved)
        if dims == 1:
            return np.asarray(np.linalg.norm(tangents[0], axis=1))
        return np.asarray(np.linalg.norm(np.cross(tangents[0], tangents[1]), axis=1))

    def __str__(self) -> str:
        return f"region {self.region.name!r} of {self.body.name!r}"


def _corners(facets: Ints) -> npt.NDArray[Any]:
    """Return a key of each facet (n,): the same whatever its first corner and its sense."""
    if facets.shape[1] == 2:
        key = np.sort(facets, axis=1)
    else:  # the two diagonals
        pairs = np.sort(facets[:, [[0, 2], [1, 3]]], axis=2)
        turned = pairs[:, 0, 0] > pairs[:, 1, 0]  # corners differ: so do the least of each
        key = np.where(turned[:, None, None], pairs[:, ::-1], pairs).reshape(len(facets), 4)
    key = np.ascontiguousarray(key, dtype=np.int64)
    return key.view([("", np.int64)] * key.shape[1]).reshape(len(facets))
