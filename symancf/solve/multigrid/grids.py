# SPDX-License-Identifier: BSD-3-Clause
"""Cartesian grids over the undeformed positions of nodes: the coarse spaces of multigrid."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from ...arrays import Array, Ints, Ints32, Mask, pointer
from ...newton.parts import connected_parts
from ...runtime.collective import reduced

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...assembly.form import Form
    from ...assembly.numbering import Numbering

GRADED = (
    0.6  # standard deviation s of the logarithm of cells' sizes beyond which grids are e^s wider
)
MAX_SPACING_RATIO = 1.5  # the same beyond which one spacing is none
_HEXAHEDRA = {8: 1, 20: 2, 27: 2}  # nodes of a cell: intervals between nodes along an edge
_QUADRATIC = (10, 13, 14, 15, 18)  # nodes of other cells with two
_CHUNK = 1 << 16  # cells at a time


@dataclass(frozen=True)
class Grids:
    """One grid for every connected body; those of a connected part follow each other.

    Attributes
    ----------
    axes, origin, spacing : (grids, 3, 3), (grids, 3), (grids, 3) rows are the directions of axes;
        the place of a point X is ``axes (X - origin) / spacing``.
    part : (grids,) ascending.
    extent : (grids, 3) of the nodes along the axes.
    copies : bits of keys that tell copies of a grid node apart.
    """

    axes: Array
    origin: Array
    spacing: Array
    part: Ints
    extent: Array
    copies: int = 0

    @property
    def bits(self) -> int:
        """How many an index along an axis needs."""
        largest = float((self.extent / self.spacing).max(initial=1.0)) + 2.0
        return int(np.ceil(np.log2(largest)))

    def fit(self, copies: int = 0) -> bool:
        """Tell whether a grid, three indices and so many bits for copies fit into 63."""
        return 3 * self.bits + max(1, len(self.part)).bit_length() + copies <= 63

    def coarser(self) -> Grids:
        """Return grids of twice the spacing; axes that are coarse already wait for the others."""
        least = self.spacing.min(axis=1, keepdims=True)
        twice = np.where(self.spacing < 1.99 * least, 2.0 * self.spacing, self.spacing)
        return replace(self, spacing=twice)

    def least(self) -> bool:
        """Tell whether no grid has more than two nodes along an axis."""
        return bool((self.spacing >= (1.0 - 1e-9) * self.extent).all())

    def joined(self) -> Grids | None:
        """Return one grid for all bodies of each part, None where that is so already."""
        first = np.flatnonzero(np.diff(self.part, prepend=-1))
        if len(first) == len(self.part):
            return None
        corners = np.array([[[i >> a & 1 for a in range(3)] for i in range(8)]], dtype=float)
        own = np.einsum("gia,gab->gib", corners * self.extent[:, None], self.axes)
        X = own + self.origin[:, None]
        axes = self.axes[first]
        local = np.einsum("gab,gib->gia", axes[self.part], X)
        low = np.minimum.reduceat(local.min(axis=1), first)
        high = np.maximum.reduceat(local.max(axis=1), first)
        spacing = np.maximum.reduceat(self.spacing, first)
        origin = np.einsum("gab,ga->gb", axes, low)
        grids = Grids(axes, origin, spacing, self.part[first], high - low)
        while not grids.fit():  # bodies that are small, and far from each other
            grids = grids.coarser()
        return grids

    def places(self, X: Array, grid: Ints) -> Array:
        """Return the coordinates (n, 3) of points by the spacing, from the origin of their grid."""
        local = _turned(self.axes, grid, X - self.origin[grid])
        local /= self.spacing[grid]
        return np.maximum(local, 0.0, out=local)

    def numbers(self, keys: Ints) -> Ints:
        """Return the grids of grid nodes."""
        return keys >> 3 * self.bits + self.copies

    def points(self, keys: Ints) -> tuple[Array, Ints]:
        """Return the positions (n, 3) of grid nodes, and their grids."""
        bits, grid, keys = self.bits, self.numbers(keys), keys >> self.copies
        index = np.stack([keys >> (2 - a) * bits & (1 << bits) - 1 for a in range(3)], axis=1)
        local = _turned(self.axes.transpose(0, 2, 1), grid, index * self.spacing[grid])
        return local + self.origin[grid], grid


def _turned(axes: Array, grid: Ints, vectors: Array) -> Array:
    """Return the components of vectors (n, 3) or (n, k, 3) along the axes of their grids."""
    if (axes == np.eye(3)).all():
        return vectors
    of = axes[0] if len(axes) == 1 else axes[grid]
    if vectors.ndim == 3 and of.ndim == 3:
        of = of[:, None]
    # term by term: ranks find the same digits of a node, whatever else they have
    x, y, z = (vectors[..., b, None] * of[..., b] for b in range(3))
    return np.asarray(x + y + z)


@dataclass(frozen=True)
class GridInterpolation:
    """Trilinear functions of grid nodes at points: rows of points, columns of distinct nodes.

    Attributes
    ----------
    start : (points + 1,).
    column, weight : number of each entry's grid node among `keys`, and its value.
    keys : (nodes,) of grid nodes, ascending; see `Grids.points`.
    """

    start: Ints32
    column: Ints32
    weight: npt.NDArray[np.float32]
    keys: Ints


def interpolation(library: ctypes.CDLL, grids: Grids, X: Array, grid: Ints) -> GridInterpolation:
    """Return the interpolation from grids to points."""
    n = len(X)
    start, keys = np.zeros(n + 1, dtype=np.int32), np.empty(8 * n, dtype=np.int64)
    weight = np.empty(8 * n, dtype=np.float32)
    places, of = grids.places(X, grid), np.ascontiguousarray(grid, dtype=np.int64)
    pointers = (pointer(array) for array in (places, of, start, keys, weight))
    count = library.symancf_interpolate(n, grids.bits, *pointers)
    del places, of
    weight.resize(count, refcheck=False)  # in place, as arrays below: the finest level has many
    number, unique = np.empty(count, dtype=np.int32), np.empty(max(1, count), dtype=np.int64)
    distinct = library.symancf_distinct(
        ctypes.c_int64(count), pointer(keys), pointer(number), pointer(unique)
    )
    if distinct < 0:
        raise MemoryError("grids of multigrid: not enough memory")
    del keys
    order = np.argsort(unique[:distinct])
    place = np.empty(distinct, dtype=np.int32)
    place[order] = np.arange(distinct, dtype=np.int32)
    np.take(place, number, out=number, mode="clip")
    return GridInterpolation(start, number, weight, unique[order])


# ---- from the bodies of a system -----------------------------------------------------------------
@dataclass(frozen=True)
class GridNodes:
    """The nodes of this rank's rows, three rows of each, and the grids that they are in.

    Attributes
    ----------
    grids : with the spacing of nodes.
    reference, start : local vector of undeformed positions [m]; (nodes,) where each one's begins.
    grid : (nodes,) number of the grid of each.
    ids : (nodes,) the same on any number of ranks.
    prescribed : (nodes,) bits of the components whose rows are held, see `Numbering`.
    """

    grids: Grids
    reference: Array
    start: Ints32
    grid: Ints
    ids: Ints
    prescribed: npt.NDArray[np.uint8]

    @property
    def X(self) -> Array:
        """Undeformed positions (nodes, 3)."""
        return np.asarray(self.reference[self.start[:, None] + np.arange(3)])


def displaced(numbering: Numbering) -> Mask:
    """Return which vertices (vertices,) are nodes that move by displacements alone.

    Some component is free; beside them there may be multipliers, such as pressures.
    """
    block = numbering.block("position")
    start = numbering.offset[:, block]
    there = np.asarray(start >= 0)
    for number, other in enumerate(numbering.blocks):
        if number != block and not other.is_equation:
            there[numbering.carriers(number)] = False
    some = np.flatnonzero(there)
    there[some] = (numbering.fixed_by[start[some, None] + np.arange(3)] < 0).any(axis=1)
    return there


def has_others(numbering: Numbering) -> bool:
    """Tell whether there are other unknowns than three displacements of nodes (collective)."""
    rows, there = numbering.row_count, displaced(numbering)
    wrong = bool((rows[~there] != 0).any() or (rows[there] != 3).any())
    wrong = wrong or numbering.block_size % 3 != 0
    return bool(numbering.comm.allreduce(wrong, op=MPI.LOR))


def nodes_of(numbering: Numbering, forms: Sequence[Form], reference: Array) -> GridNodes | str:
    """Return the nodes of a system, or why there can be no grids over them (collective)."""
    comm, there = numbering.comm, displaced(numbering)
    strains = [form for form in forms if form.role == "strain"]
    bodies = connected_parts(numbering, strains, there)
    if not bodies.count:
        return "no node has displacements alone"
    parts = bodies if bodies.count == 1 else connected_parts(numbering, forms)
    start = numbering.offset[:, numbering.block("position")]
    placed = start >= 0
    X = np.full((numbering.vertices, 3), np.nan)
    X[placed] = reference[start[placed][:, None] + np.arange(3)]
    count = bodies.count
    part_of = np.full(count, -1, dtype=np.int64)
    part_of[bodies.of_vertex[there]] = parts.of_vertex[there]
    part_of = reduced(comm, part_of, MPI.MAX)
    order = np.argsort(part_of, kind="stable")
    number = np.empty(count, dtype=np.int64)
    number[order] = np.arange(count)
    grid = np.where(there, number[bodies.of_vertex], -1)
    part_of = np.unique(part_of[order], return_inverse=True)[1].astype(np.int64)
    measured = _measured(comm, strains, X, grid, count)
    if isinstance(measured, str):
        return measured
    own = np.flatnonzero(there[: numbering.owned_vertices])
    X, grid = X[own], grid[own]
    grids = _around(comm, *measured, part_of, X, grid)
    if not grids.fit():
        return "there are more nodes along an axis, and more bodies, than grids can number"
    ids = numbering.topology.vertex_ids[own].astype(np.int64)
    begin = start[own]
    fixed = numbering.fixed_by[begin[:, None] + np.arange(3)] >= 0
    if len(grids.part) == 1:
        grid = np.broadcast_to(np.int64(0), grid.shape)
    prescribed = np.asarray(fixed @ [1, 2, 4], dtype=np.uint8)
    return GridNodes(grids, reference, begin, grid, ids, prescribed)


def _around(comm: MPI.Comm, axes: Array, spacing: Array, part: Ints, X: Array, grid: Ints) -> Grids:
    """Return grids that begin at the nodes of all ranks (collective)."""
    low, high = np.full((len(axes), 3), np.inf), np.full((len(axes), 3), -np.inf)
    if len(X):
        local, order = _turned(axes, grid, X), np.argsort(grid, kind="stable")
        of, first = np.unique(grid[order], return_index=True)
        low[of] = np.minimum.reduceat(local[order], first)
        high[of] = np.maximum.reduceat(local[order], first)
    low, high = reduced(comm, low, MPI.MIN), reduced(comm, high, MPI.MAX)
    extent = high - low
    extents = extent.max(axis=1, keepdims=True)
    spacing = np.where(spacing > 0.0, spacing, np.where(extents > 0.0, extents, 1.0))
    return Grids(axes, np.einsum("gab,ga->gb", axes, low), spacing, part, extent)


def _measured(
    comm: MPI.Comm, strains: list[Form], X: Array, grid: Ints, count: int
) -> tuple[Array, Array] | str:
    """Return directions and spacing of nodes by grid, 0 where it has no cells (collective)."""
    axes = _axes(comm, strains, X, grid, count)
    sums = np.zeros((count, 5))
    for form in strains:
        for of, corners, intervals in _cells(form, X, grid):
            hexahedra = corners.shape[1] in _HEXAHEDRA
            vectors = _turned(axes, of, _edges(corners) if hexahedra else corners)
            size = np.abs(vectors).sum(axis=1) if hexahedra else np.ptp(vectors, axis=1)
            least = 1e-3 * size.max(axis=1, keepdims=True)
            logs = np.log(np.maximum(size, np.maximum(least, 1e-300)))
            if hexahedra:  # turned ones are wider than the spacing of their nodes
                volume = np.abs(np.linalg.det(vectors))
                logs += (np.log(np.maximum(volume, 1e-300)) - logs.sum(axis=1))[:, None] / 3.0
            logs -= np.log(intervals)
            mean = logs.mean(axis=1)
            for k, values in enumerate((*logs.T, mean * mean, np.ones(len(of)))):
                sums[:, k] += np.bincount(of, values, minlength=count)
    sums = reduced(comm, sums)
    number = np.maximum(sums[:, 4], 1.0)
    mean = sums[:, :3] / number[:, None]
    spread = sums[:, 3] / number - mean.mean(axis=1) ** 2
    spread = np.sqrt(np.maximum(spread, 0.0))
    if spread.max(initial=0.0) > MAX_SPACING_RATIO:
        return f"the sizes of cells vary by a factor of {np.exp(2 * spread.max()):.1f}"
    # where cells vary most nodes are among the small ones: wide ones would each get grid nodes
    mean += np.where(spread > GRADED, spread, 0.0)[:, None]
    return axes, np.where(sums[:, 4:] > 0.0, np.exp(mean), 0.0)


def _cells(form: Form, X: Array, grid: Ints) -> Iterator[tuple[Ints, Array, int]]:
    """Yield grids, nodes and intervals of the cells of a form that this rank counts."""
    vertices = _corners(form, X)
    nodes = vertices.shape[1]
    intervals = _HEXAHEDRA.get(nodes, 2 if nodes in _QUADRATIC else 1)
    of = grid[vertices].max(axis=1, initial=-1)
    chosen = np.flatnonzero((of >= 0) & np.asarray(form.owned, dtype=bool))
    for k in range(0, len(chosen), _CHUNK):
        some = chosen[k : k + _CHUNK]
        yield of[some], X[vertices[some]], intervals


def _corners(form: Form, X: Array) -> Ints32:
    """Return the vertices of each cell that have places, none where these differ in number."""
    count = np.diff(form.vertex_start)
    nodes = int(count[0]) if len(count) and (count == count[0]).all() else 0
    vertices = form.vertices.reshape(len(count) if nodes else 0, nodes or 1)
    placed = ~np.isnan(X[vertices[:1], 0]).ravel()
    return vertices if placed.all() else vertices[:, placed]


def _edges(corners: Array) -> Array:
    """Return the mean edges (n, 3, 3) of hexahedra along their axes."""
    c = corners[:, :8]
    along = ((1, 2, 5, 6), (0, 3, 4, 7)), ((3, 2, 7, 6), (0, 1, 4, 5)), ((4, 5, 6, 7), (0, 1, 2, 3))
    pairs = [c[:, list(to)].mean(axis=1) - c[:, list(of)].mean(axis=1) for to, of in along]
    return np.stack(pairs, axis=1)


def _axes(comm: MPI.Comm, strains: list[Form], X: Array, grid: Ints, count: int) -> Array:
    """Return the directions of the first hexahedron of each grid, else the axes (collective)."""
    first = np.full(count, np.iinfo(np.int64).max)
    edges = np.zeros((count, 3, 3))
    for form in strains:
        vertices = _corners(form, X)
        if vertices.shape[1] not in _HEXAHEDRA or form.ids is None:
            continue
        of_cell = grid[vertices].max(axis=1, initial=-1)
        some = np.flatnonzero(of_cell >= 0)
        some = some[np.argsort(form.ids[some], kind="stable")]
        of, at = np.unique(of_cell[some], return_index=True)
        nearer = form.ids[some[at]] < first[of]
        of, at = of[nearer], some[at[nearer]]
        first[of] = form.ids[at]
        edges[of] = _edges(X[vertices[at]])
    least = reduced(comm, first, MPI.MIN)
    edges[first != least] = -np.inf
    edges = reduced(comm, edges, MPI.MAX)
    have_cell = least < np.iinfo(np.int64).max
    axes = np.tile(np.eye(3), (count, 1, 1))
    if have_cell.any():
        axes[have_cell] = _orthonormal(edges[have_cell])
    near = np.abs(axes - np.eye(3)).max(axis=(1, 2)) < 1e-9
    axes[near] = np.eye(3)
    return axes


def _orthonormal(edges: Array) -> Array:
    """Return the orthonormal directions next to edges (n, 3, 3)."""
    length = np.linalg.norm(edges, axis=2, keepdims=True)
    u, _, v = np.linalg.svd(edges / np.maximum(length, 1e-300))
    return np.asarray(u @ v)
