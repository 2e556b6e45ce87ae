# SPDX-License-Identifier: BSD-3-Clause
"""Nearest points on the curved reference of a body, which leaves the facets of its mesh."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ..arrays import Array, Integers, Ints, Mask
from ..mesh.partition import Family, distribute
from ..runtime.collective import together
from .geometry import NodeDirections, element_slopes, node_basis
from .interpolation import tabulate
from .locate import PointLocations, RegionCells, carried, cells_of, invert, locate
from .macro import cell_maps, slopes_across

if TYPE_CHECKING:
    from ..mesh import Region
    from .interpolation import Interpolated


def locate_on(
    body: Interpolated, points: Array, shared: bool = False
) -> tuple[PointLocations, Array]:
    """Return for each point (K, 3) the nearest place of a body's reference (collective).

    The reference of elements with slopes is X(xi) = sum_i N_i(xi) e_i with positions and slopes
    e_i of the corners (see `geometry`); |X(xi) - x| is made least over the cell of the nearest
    facet and the cells around it by the method of Gauss and Newton.

    Returns
    -------
    found : cell, unit coordinates and distance from the reference.
    facet : (K,) distance from the facets of the mesh, for comparison.
    """
    flat, comm = locate(body.region, points, shared), body.region.mesh.comm
    corner = ((flat.unit == 0.0) | (flat.unit == 1.0)).all(axis=1)
    nodes = corner & (flat.distance <= 1e-9 * flat.size)  # the reference goes through these
    if not body.element.slopes or comm.allreduce(bool(nodes.all()), MPI.LAND):
        return flat, flat.distance
    ids, cells = _around(body.region, flat.vertices, 2, shared)
    vertices = np.unique(cells)
    X = body.region.mesh.fetch_points(vertices)
    with together(comm):
        if not len(points):  # none on this rank
            return flat, flat.distance
        patch = Family("patch", ids, np.searchsorted(vertices, cells))
        seeds = np.searchsorted(vertices, flat.vertices)
        row, unit, distance = _nearest(body, points, seeds, patch, X)
    size = np.linalg.norm(np.ptp(X[patch.vertices[row]], axis=1), axis=1)
    return PointLocations(
        cells[row], body.element.topology.rounded(unit), distance, size
    ), flat.distance


class Foots:
    """The nearest points of given cells of a body's reference, cell by cell.

    Parameters
    ----------
    body, cells : (K, nv) point ids of one cell for each place, the same on every rank (collective).

    Attributes
    ----------
    cells : those given.
    e : (K, functions, 3) coefficients of the reference in the cells.
    """

    def __init__(self, body: Interpolated, cells: Ints) -> None:
        self.body, self.cells, mesh = body, cells, body.region.mesh
        self.size = np.zeros(len(cells))
        if not body.element.slopes:
            self.e = mesh.fetch_points(cells.ravel()).reshape(*cells.shape, 3)
            corners = self.e
        else:
            ids, around = _around(body.region, cells, 2, False)
            vertices = np.unique(around)
            X = mesh.fetch_points(vertices)
            with together(mesh.comm):
                patch = Family("patch", ids, np.searchsorted(vertices, around))
                row_of_cell = {tuple(cell): row for row, cell in enumerate(around.tolist())}
                rows = [row_of_cell[tuple(cell)] for cell in cells.tolist()]
                self.e = _coefficients(body, patch, X)[rows]
                corners = X[patch.vertices[rows]]
        self.size = np.linalg.norm(np.ptp(corners, axis=1), axis=1)

    def within(self, points: Array) -> Array | None:
        """Return unit coordinates (K, dim) of points (K, 3) that all lie inside, or None."""
        body = self.body
        if body.element.slopes:
            unit, distance = _invert(body, self.e, points)
        else:
            cell = body.element.topology
            unit, distance = invert(cell, cell.surface(self.e), points)
        inside = ((unit > 1e-9) & (unit < 1.0 - 1e-9)).all(axis=1)
        return unit if (inside & (distance <= 1e-9 * self.size)).all() else None


def _around(region: Region, vertices: Ints, rings: int, shared: bool) -> tuple[Ints, Ints]:
    """Return ids (n,) and vertices (n, nv) of all cells within some rings of vertices.

    Of the vertices of each rank, or of the same ones on every rank (collective). With two rings
    the node directions of the cells around a cell are complete.
    """
    comm, here = region.mesh.comm, cells_of(region)
    inside = np.unique(vertices)
    for _ in range(rings):
        parts = _near(comm, here, inside, shared)
        inside = np.unique(np.concatenate([part.ravel() for _, part in parts]))
    ids = np.concatenate([part for part, _ in parts])
    order = np.argsort(ids)
    return ids[order], np.concatenate([part for _, part in parts])[order]


def _near(comm: MPI.Comm, here: RegionCells, inside: Ints, shared: bool) -> list[tuple[Ints, Ints]]:
    """Return ids and vertices of the cells of each rank that have some vertices (collective)."""

    def own(vertices: Ints) -> tuple[Ints, Ints]:
        near = here.around(vertices)
        return here.ids[near], here.connectivity[near]

    if shared:
        none: list[tuple[Ints, Ints]] = []
        _, parts = carried(comm, (inside, none), lambda v: (v[0], [*v[1], own(v[0])]))
        return parts
    return comm.allgather(own(inside)) if comm.size > 1 else [own(inside)]


def _nearest(
    body: Interpolated, points: Array, seeds: Ints, patch: Family, X: Array
) -> tuple[Ints, Array, Array]:
    """Return for each point the row of its cell in `patch`, unit coordinates and distance.

    `seeds` (K, nv) corners of the nearest facets; X (n, 3) points of the patch.
    """
    cells = patch.vertices
    e = _coefficients(body, patch, X)
    point, row, own = _pairs(seeds, cells)
    unit, distance = _invert(body, e[row[own]], points[point[own]])
    # a foot inside the cell of the nearest facet is that on a smooth surface; others may lie
    # beyond its edges
    inside = ((unit > 1e-9) & (unit < 1.0 - 1e-9)).all(axis=1)
    rest = ~np.isin(point, point[own][inside])
    point = np.concatenate([point[own][inside], point[rest]])
    row = np.concatenate([row[own][inside], row[rest]])
    more, off = _invert(body, e[row[inside.sum() :]], points[point[inside.sum() :]])
    unit, distance = np.concatenate([unit[inside], more]), np.concatenate([distance[inside], off])
    size = np.linalg.norm(np.ptp(X[cells[row]], axis=1), axis=1)
    least = np.full(len(points), np.inf)
    np.minimum.at(least, point, distance)
    good = np.flatnonzero(distance <= least[point] + 1e-9 * size)
    # of equal ones the cell of the lowest id, as in `locate`
    _, first = np.unique(point[good], return_index=True)
    best = good[first]
    return row[best], unit[best], distance[best]


def _invert(body: Interpolated, e: Array, points: Array) -> tuple[Array, Array]:
    """Return unit coordinates (k, dim) and distances on cells of coefficients e (k, size, 3)."""
    cell = body.element.topology

    def surface(s: Array) -> tuple[Array, Array]:
        xi = cell.to_domain(s)
        jets = ("value", *cell.coordinates)
        r, *tangents = (np.einsum("kn,kna->ka", tabulate(body.element, j, xi), e) for j in jets)
        return r, np.stack(tangents, axis=2)

    unit, distance = invert(cell, surface, points)
    return unit, np.where(np.isfinite(distance), distance, np.inf)


def _coefficients(body: Interpolated, patch: Family, X: Array) -> Array:
    """Return positions and reference slopes (n, size, 3) of the cells of a patch."""
    topology = distribute(MPI.COMM_SELF, [patch])
    local = topology.families[patch.name]
    cells = local.vertices[np.argsort(local.ids)]  # in the order of the patch, local numbers
    points, element = X[topology.vertex_ids], body.element
    directions = NodeDirections(
        body.name, element, topology, points, cells, body._direction, body._smooth
    )
    if element.across:
        X, normals, ids = points[cells], directions.at[cells], topology.vertex_ids[cells]
        basis = node_basis(element, directions)[cells]
        D = slopes_across(X, normals, ids)
        nodal = np.concatenate([X[:, :, None], basis], axis=2).reshape(len(cells), -1, 3)
        e = cell_maps(X, normals, basis, D) @ np.concatenate([nodal, D], axis=1)
        return np.asarray(e)
    slopes = element_slopes(element, points, cells, directions)
    e = np.concatenate([points[cells][:, :, None], slopes], axis=2)
    return np.asarray(e.reshape(len(cells), element.size, 3))


def _pairs(seeds: Ints, cells: Integers) -> tuple[Ints, Ints, Mask]:
    """Return (point, row of `cells`) wherever they share a vertex, and whether all of them."""
    from scipy.sparse import csr_array  # half a second to import

    n = int(cells.max()) + 1

    def incidence(vertices: Integers) -> csr_array:
        starts = np.arange(0, vertices.size + 1, vertices.shape[1])
        return csr_array(
            (np.ones(vertices.size), vertices.ravel(), starts), shape=(len(vertices), n)
        )

    shared = (incidence(seeds) @ incidence(cells).T).tocoo()
    order = np.lexsort((shared.col, shared.row))
    own = shared.data[order] > cells.shape[1] - 0.5
    return shared.row[order].astype(np.int64), shared.col[order].astype(np.int64), own
