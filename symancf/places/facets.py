# SPDX-License-Identifier: BSD-3-Clause
"""Facets of a body that carry loads: its cells, its faces, and points of its edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from symancf_codegen.legendre import gauss_legendre

from ..arrays import Array, Ints, Ints32
from ..assembly.resolved import JetRows, Resolved
from ..cells import CELLS
from ..elements import ancf_cable
from ..errors import MeshError
from ..mesh.conformity import side_keys
from ..runtime.collective import exchange, exchange_blocks, shares
from .ends import End, vector_rows
from .geometry import arc_slope
from .interpolation import tabulate
from .vectors import unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..assembly.configuration import Configuration, Layout
    from ..elements import Element
    from ..mesh import Region
    from .interpolation import Interpolated


WORDS = {"line": "line", "triangle": "triangle", "quad": "quadrilateral", "tetra": "tetrahedron"}


def gauss(n: int) -> tuple[Array, Array]:
    """Return the points in [0, 1] and the weights of Gauss's rule."""
    x, w = gauss_legendre(n)
    return (x + 1.0) / 2.0, w / 2.0


class FacetPoints(End):
    """Gauss points of the edges of a region on a plate, or the faces or cells of a body.

    As places there are those of edges alone, each the cubic through its ends with the nodal slopes
    along the edge. Faces of solids, and cells of plates and cables, have an `element`; what acts
    on them is a kernel there. Where a region has facets of two types, each of `by_type` has one.
    With `inside` a region of cells of a solid has the points within these. `use`: what acts there.
    """

    weighs = True

    def __init__(
        self, body: Interpolated, region: Region, *, inside: bool = False, use: str = "a load"
    ) -> None:
        self.body, self.region, self.inside = body, region, inside
        cell = body.element.topology
        own = (cell.name,) if cell.dimension < 3 or inside else ()
        region.require(*cell.traces, *own, use=f"{use} on body {body.name!r}")
        if len({CELLS[kind].dimension for kind in region.types}) > 1:
            raise MeshError(f"{region.describe()}; load surfaces and edges by regions of their own")
        self.kind = region.by_type[0].types[0]
        self.hermite = bool(body.element.slopes) and not body.element.axes

    @property
    def by_type(self) -> list[FacetPoints]:
        """Those of facets of one type each: wedges have two."""
        parts = self.region.by_type
        return [FacetPoints(self.body, part, inside=self.inside) for part in parts]

    @property
    def element(self) -> Element | None:
        """The element that interpolates its cells; of edges of plates there is none."""
        return self.body.element.on(self.kind)

    def _find(self, layout: Layout) -> Resolved:
        """Find the points (collective)."""
        layout.require_member(self.body, str(self))
        self.region.require_on(self.body.region)
        mesh, (_, facets) = self.region.mesh, self.region.slice(self.kind)
        self.require_sides()
        points, weights = self._rule()
        within = np.tile(points, (len(facets), 1))
        repeated = np.repeat(facets, len(points), axis=0)
        value, _ = CELLS[self.kind].evaluate(within)
        X = np.einsum("kv,kva->ka", value, mesh.fetch_points(repeated))
        vertices, weight = repeated + layout.base(mesh), np.tile(weights, len(facets))
        group, starts = self._groups(facets), shares(mesh.comm, len(X))
        return Resolved(X, vertices, within, weight, group, starts=starts)

    def _groups(self, facets: Ints) -> Ints | None:
        """Return the number of the group of each point, if they are in groups (collective)."""
        return None

    def require_sides(self) -> None:
        """Raise where a facet is no cell, face or edge of the body's cells (collective).

        Each is compared with those of the same number (`side_keys`) on a rank that this gives.

        Raises
        ------
        MeshError
        """
        mesh, (_, facets) = self.region.mesh, self.region.slice(self.kind)
        comm, is_side = mesh.comm, self.beside()[0] > 0
        first = np.concatenate(comm.allgather(facets[~is_side][:1]))
        count = comm.allreduce(int((~is_side).sum()))
        if count:
            raise self._no_side(first[0], mesh.fetch_points(first[0]), count)

    def beside(self, values: Ints | None = None) -> tuple[Ints, Ints]:
        """Return of how many of the body's cells each facet of this rank is a side (collective).

        And what one of them tells: `values` (cells, sides, k) of this rank's cells.
        """
        comm, element = self.region.mesh.comm, self.body.element
        sides = element.topology.sides(self.kind)
        cells, facets = self.body.region.slice(element.cell)[1], self.region.slice(self.kind)[1]
        sorted_keys = side_keys(self.kind, cells[:, sides].reshape(-1, facets.shape[1]))
        wanted = side_keys(self.kind, facets)
        to_known, to = (keys % np.uint64(comm.size) for keys in (sorted_keys, wanted))
        values = (
            values.reshape(-1, values.shape[-1])
            if values is not None
            else np.zeros((len(sorted_keys), 0), np.int64)
        )
        _, (sorted_keys, values) = exchange(comm, to_known.astype(np.int64), sorted_keys, values)
        counts, (keys,) = exchange(comm, to.astype(np.int64), wanted)
        order = np.argsort(sorted_keys, kind="stable")
        first = np.searchsorted(sorted_keys, keys, sorter=order)
        number = np.searchsorted(sorted_keys, keys, "right", sorter=order) - first
        answers = np.zeros((len(keys), values.shape[1]), dtype=np.int64)
        answers[number > 0] = values[order[first[number > 0]]]
        _, (number, answers) = exchange_blocks(comm, counts, number, answers)
        back = np.argsort(np.argsort(to, kind="stable"), kind="stable")
        return number[back], answers[back]

    def _no_side(self, points: Ints, X: Array, count: int) -> MeshError:
        """Return what to raise: the first of `count` such facets has these points, at X (nv, 3)."""
        straight = CELLS[self.kind].straight.name
        what, x = WORDS.get(straight, straight), X.mean(axis=0)
        return MeshError(
            f"{self}: the {what} at ({x[0]:g}, {x[1]:g}, {x[2]:g}) is no cell, face or edge of "
            f"the body's cells, or names its corners in another order (points "
            f"{', '.join(map(str, points))}): forces there have no area of the body",
            asked="facet",
            given=x,
        )

    def at(self, configuration: Configuration, point: Sequence[float], cells: Ints32) -> Array:
        """Return the reference places (n, 3) of a point of each of some facets."""
        if self.kind == self.body.element.cell:
            return configuration.binding(self.body).interpolation.at(point, cells)
        value, _ = CELLS[self.kind].evaluate(np.array([point], dtype=float))
        return np.asarray(np.einsum("v,nva->na", value[0], configuration.points[cells]))

    def _rule(self) -> tuple[Array, Array]:
        """Return the points (k, 1) of the unit edge and their weights (k,)."""
        x, w = gauss(4)
        return x[:, None], w

    def _coefficients(
        self,
        configuration: Configuration,
        places: Resolved,
        vertices: Ints32,
        derivative: int,
    ) -> tuple[Array, Array | None]:
        """Position coefficients (k, nv) and slope coefficients (k, nv, s) of r or r_derivative."""
        on = configuration.binding(self.body).interpolation
        if not self.hermite:
            value, slope = CELLS[self.kind].evaluate(places.within)
            return (value if derivative == 0 else slope[:, :, 0]), None
        jet = ("value", "xi")[derivative]
        table = tabulate(ancf_cable, jet, places.within).reshape(-1, 2, 2)
        X = configuration.points[vertices]
        chord = X[:, 1] - X[:, 0]
        assert on.directions is not None
        along = np.empty((places.size, 2, 3))
        for v in range(2):
            direction = on.directions.at[vertices[:, v]]
            if on.element.dimension == 2:  # normals: the tangent is the chord's projection
                normal = np.where(on.directions.kink[vertices[:, v]][:, None], 0.0, direction)
                direction = unit(chord - np.einsum("na,na->n", chord, normal)[:, None] * normal)
            along[:, v] = arc_slope(chord, direction)
        maps = np.einsum("nva,nvca->nvc", along, on.basis[vertices])
        return table[..., 0], table[..., 1, None] * maps

    def rows(
        self, configuration: Configuration, places: Resolved, vertices: Ints32, jet: str
    ) -> JetRows:
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
    ) -> JetRows:
        on = configuration.binding(self.body).interpolation
        return vector_rows(*on.combined(vertices, positions, slopes))

    def constant(self, places: Resolved, jet: str) -> Array | None:
        """Return None: reference values follow from coordinates, as edges are curved."""
        return None

    def measure(self, configuration: Configuration, places: Resolved, vertices: Ints32) -> Array:
        """Return the reference area or length of places with their local vertices."""
        return places.weight * self._jacobian(configuration, places, vertices)

    def _jacobian(self, configuration: Configuration, places: Resolved, vertices: Ints32) -> Array:
        """Return the reference area or length by that of the unit facet."""
        dimension = CELLS[self.kind].dimension
        tangents = np.zeros((dimension, places.size, 3))
        for k, tangent in enumerate(tangents, 1):
            coefficients = self._coefficients(configuration, places, vertices, k)
            rows = self._rows(configuration, vertices, *coefficients)
            moved = rows.value * configuration.reference[rows.coordinate]
            np.add.at(tangent, (rows.place, rows.component), moved)
        spanned = tangents[0] if dimension == 1 else np.cross(*tangents)
        return np.asarray(np.linalg.norm(spanned, axis=1))

    def __str__(self) -> str:
        return f"region {self.region.name!r} of {self.body.name!r}"
