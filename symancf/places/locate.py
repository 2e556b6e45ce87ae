# SPDX-License-Identifier: BSD-3-Clause
"""Find the cells that hold given points, on a mesh still in slices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from ..arrays import Array, Ints
from ..cells import CELLS
from ..runtime.collective import together

if TYPE_CHECKING:
    from mpi4py import MPI
    from scipy.spatial import cKDTree

    from ..cells import Cell
    from ..cells.table import Surface
    from ..mesh import Region

Item = TypeVar("Item")

MAX_CACHED_CELLS = 200_000  # cells of a region up to which their nodes are kept for the next place


@dataclass(frozen=True)
class PointLocations:
    """Result of `locate` for K points.

    `vertices` (K, nv) global point ids of the cell, `unit` (K, dim) coordinates in the unit
    cell, `distance` (K,) from the cell's nearest point, `size` (K,) diameter of the cell.
    """

    vertices: Ints
    unit: Array
    distance: Array
    size: Array


def invert(cell: Cell, surface: Surface, target: Array, steps: int = 25) -> tuple[Array, Array]:
    """Return unit coordinates (k, dim), clamped to the cell, and the distances left (k,).

    Gauss-Newton on |X(s) - target|^2, target (k, 3); `surface` gives X (k, 3) and its derivatives
    (k, 3, dim) at s (k, dim).
    """
    dim = cell.dimension
    s = np.tile(cell.centre, (len(target), 1))
    for _ in range(steps):
        value, A = surface(s)
        normal = np.einsum("kad,kae->kde", A, A)
        # a cell without area must not end in an error here
        normal += 1e-15 * np.trace(normal, axis1=1, axis2=2)[:, None, None] * np.eye(dim) + 1e-300
        slope = np.einsum("kad,ka->kd", A, value - target)
        step = np.linalg.solve(normal, slope[..., None])[..., 0]
        moved = cell.clamped(s - np.clip(step, -1.0, 1.0))
        change = np.abs(moved - s).max(initial=0.0)
        s = moved
        if change < 1e-14:
            break
    return s, np.linalg.norm(surface(s)[0] - target, axis=1)


NEAREST = ("distance", "size", "id", "unit", "vertices")


@dataclass
class _Nearest:
    """Of one rank, for each of K points: its nearest cell so far; ties go to the lowest id."""

    distance: Array
    size: Array
    id: Ints
    unit: Array
    vertices: Ints

    @classmethod
    def none(cls, k: int, nv: int, dim: int) -> _Nearest:
        """Nothing found yet."""
        return cls(
            np.full(k, np.inf),
            np.zeros(k),
            np.full(k, np.iinfo(np.int64).max),
            np.zeros((k, dim)),
            np.zeros((k, nv), dtype=np.int64),
        )

    def of(self, which: Ints) -> _Nearest:
        """Return those of some points."""
        return _Nearest(*(getattr(self, name)[which] for name in NEAREST))

    def take(self, which: Ints, other: _Nearest) -> None:
        """Take another rank's or pass's cells for the points `which` where they are nearer."""
        mine, theirs = self.distance[which], other.distance
        slack = 1e-9 * np.maximum(self.size[which], other.size)
        with np.errstate(invalid="ignore"):  # inf - inf where neither has a cell
            closer = theirs < mine - slack
            same = ~closer & (theirs <= mine + slack) & (other.id < self.id[which])
        better = closer | same
        for name in NEAREST:
            getattr(self, name)[which[better]] = getattr(other, name)[better]


class RegionCells:
    """A region's cells on this rank, with their nodes; made once for each region (collective).

    Attributes
    ----------
    cell : their row of the table of cells.
    ids, connectivity : of the cells.
    X : (n, nv, 3) nodes.
    bulge : (n,) how far they reach beyond cells of their corners.
    """

    def __init__(self, region: Region) -> None:
        self.cell = CELLS[region.types[0]]
        self.ids, self.connectivity = region.slice(self.cell.name)
        self.X = region.mesh.fetch_points(self.connectivity)
        self.centre = self.X.mean(axis=1)
        self.radius = np.linalg.norm(self.X - self.centre[:, None], axis=2).max(axis=1, initial=0.0)
        self.bulge = self.cell.bulge(self.X)
        self.radius += self.bulge

    @cached_property
    def tree(self) -> cKDTree:
        """The centres of the cells."""
        from scipy.spatial import cKDTree  # half a second to import

        return cKDTree(self.centre)

    @cached_property
    def _bounds(self) -> tuple[Array, Array, float]:
        """The box that holds the cells, and the largest radius; there is a cell."""
        low, high = self.centre - self.radius[:, None], self.centre + self.radius[:, None]
        return low.min(axis=0), high.max(axis=0), float(self.radius.max())

    @cached_property
    def _corners(self) -> tuple[Ints, Ints]:
        order = np.argsort(self.connectivity.ravel(), kind="stable")
        return self.connectivity.ravel()[order], order // self.connectivity.shape[1]

    def around(self, vertices: Ints) -> Ints:
        """Return the rows of the cells that have some of the vertices, ascending."""
        corners, rows = self._corners
        low, high = (np.searchsorted(corners, vertices, side=s) for s in ("left", "right"))
        count = high - low
        first = np.repeat(low - (np.cumsum(count) - count), count)
        return np.asarray(np.unique(rows[first + np.arange(count.sum())]))

    def compare(self, nearest: _Nearest, which: Ints, rows: Ints, points: Array) -> None:
        """Compare one cell for each of the points `which` with what was found."""
        unit, distance = invert(self.cell, self.cell.surface(self.X[rows]), points[which])
        size = np.linalg.norm(np.ptp(self.X[rows], axis=1), axis=1)
        ids, vertices = self.ids[rows], self.connectivity[rows]
        nearest.take(which, _Nearest(distance, size, ids, unit, vertices))

    def search(self, points: Array, nearest: _Nearest) -> None:
        """Compare the nearest of these cells for each point with what was found."""
        if not len(self.X) or not len(points):
            return
        low, high, largest = self._bounds
        away = np.linalg.norm(points - np.clip(points, low, high), axis=1)
        reach = np.flatnonzero(away <= nearest.distance + 1e-6 * largest)
        own = nearest.of(reach)
        self._search(points[reach], own)
        for name in NEAREST:
            getattr(nearest, name)[reach] = getattr(own, name)

    def _search(self, points: Array, nearest: _Nearest) -> None:
        k = len(points)
        if not k:
            return
        near = min(12, len(self.X))
        _, candidates = self.tree.query(points, k=near)
        for column in np.asarray(candidates).reshape(k, near).T:
            gap = np.linalg.norm(self.centre[column] - points, axis=1) - self.radius[column]
            which = np.flatnonzero(gap <= nearest.distance + 1e-6 * self.radius[column])
            if len(which):
                self.compare(nearest, which, column[which], points)
        # a large cell beside small ones may hold the point though its centre is far
        missed = np.flatnonzero(nearest.distance > 1e-9 * nearest.size)
        reach = nearest.distance[missed] + self._bounds[2]
        around = self.tree.query_ball_point(points[missed], reach)
        for point, rows in zip(missed, around, strict=True):
            cells = np.asarray(rows, dtype=np.int64)
            gap = np.linalg.norm(self.centre[cells] - points[point], axis=1) - self.radius[cells]
            for cell in cells[gap <= nearest.distance[point]]:
                self.compare(nearest, np.array([point]), np.array([cell]), points)


_CELLS: WeakKeyDictionary[Region, RegionCells] = WeakKeyDictionary()


def cells_of(region: Region) -> RegionCells:
    """Return the cells of a region; places on it by the thousand look for them (collective)."""
    cells = _CELLS.get(region)
    if cells is None:
        cells = RegionCells(region)
        if region.size <= MAX_CACHED_CELLS:
            _CELLS[region] = cells
    return cells


def locate(region: Region, points: Array, shared: bool = False) -> PointLocations:
    """Return for each point the nearest cell of `region` (collective).

    Where cells touch at the point, the one of the lowest id is taken, on any number of ranks.
    Points within 1e-9 of a node, relative to the cell, are put there exactly. `shared`: each
    rank has points of its own, which pass from rank to rank; else all have the same.
    """
    comm, cells = region.mesh.comm, cells_of(region)
    cell = cells.cell
    nearest = _Nearest.none(len(points), len(cell.nodes), cell.dimension)

    def visit(item: tuple[Array, _Nearest]) -> tuple[Array, _Nearest]:
        cells.search(*item)
        return item

    if shared:
        _, nearest = carried(comm, (points, nearest), visit)
    else:
        with together(comm):
            cells.search(points, nearest)
        everyone = comm.allgather(nearest) if comm.size > 1 else [nearest]
        nearest = everyone[0]
        for other in everyone[1:]:
            nearest.take(np.arange(len(points)), other)
    return PointLocations(
        nearest.vertices, cell.rounded(nearest.unit), nearest.distance, nearest.size
    )


def carried(comm: MPI.Comm, item: Item, visit: Callable[[Item], Item]) -> Item:
    """Let an item of each rank visit all ranks and come back (collective)."""
    after, before = ((comm.rank + step) % comm.size for step in (1, -1))
    for _ in range(comm.size):
        with together(comm):
            item = visit(item)
        if comm.size > 1:
            item = comm.sendrecv(item, after, source=before)
    return item
