# SPDX-License-Identifier: BSD-3-Clause
"""Conformity of meshes: no cell twice, no node inside an edge, no point beside another.

All checks cost time and memory in proportion to the cells of a rank: what is compared travels to
the rank that holds a point, or to one chosen by a hash. Of cells whose points are on one rank alone
nothing travels.
"""

from __future__ import annotations

import ctypes
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from ..arrays import Array, Integers, Ints, Ints32, Mask, pointer
from ..cells.table import CELLS
from ..errors import MeshError
from ..runtime import jit
from ..runtime.collective import block_starts, combine, exchange, lookup, owners_of, share_error
from ..runtime.limits import require_countable
from ..values.arguments import LENGTHS
from .cells import dimension, table_of_jacobians
from .edges import AdjacencyGraph, adjacency, compress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from . import Mesh

Hashes = NDArray[np.uint64]

STRAIGHT = 0.02  # [rad] between edges at a point that run into each other
DIGITS = 8  # of a cell's edges: fewer are told
MIN_COMMON_POINTS = 4  # fewer are refused
CHUNK = 1 << 16  # rows that are worked on at a time


def hashes(connectivity: Integers) -> Hashes:
    """Return a number for each cell (k,) that depends on which vertices it has, in any order."""
    return _mixed(np.sort(connectivity, axis=1).astype(np.int64))


def side_keys(kind: str, facets: Integers) -> Hashes:
    """Return a number for each cell (k,) of a type, for any first corner and either sense.

    Other orders of the corners, or of what is between them, have another one.
    """
    edges = np.array([nodes for _, nodes in CELLS[kind].whole_edges])
    inside = np.setdiff1d(np.arange(facets.shape[1]), edges)
    out = _mixed(facets[:, inside])
    for edge in edges:
        ends = np.sort(facets[:, edge[:2]], axis=1)
        out += _mixed(np.concatenate([ends, facets[:, edge[2:]]], axis=1))
    return out


def _mixed(connectivity: Integers) -> Hashes:
    """Return a number for each row (k,) of whole numbers, by their order."""
    rows = connectivity.astype(np.uint64)
    out = np.full(len(rows), rows.shape[1], np.uint64)
    for column in rows.T:  # the finaliser of SplitMix64 after each vertex
        out = (out ^ column) + np.uint64(0x9E3779B97F4A7C15)
        out = (out ^ (out >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        out = (out ^ (out >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        out ^= out >> np.uint64(31)
    return out


def first_of_equals(connectivity: Integers) -> Ints:
    """Return for each cell (k,) the first one with the same vertices, in any order."""
    _, first, back = np.unique(hashes(connectivity), return_index=True, return_inverse=True)
    return np.asarray(first[back.ravel()], np.int64)


class LocalCells:
    """The cells of this rank by places among the points that they name (collective).

    Attributes
    ----------
    ids : (n,) global numbers of these points, ascending; None on one rank, where all are here.
    X : (n, 3) where they are [m].
    vertices : type -> (k, nv) places.
    keys : type -> (k,) `hashes`.
    """

    def __init__(self, mesh: Mesh) -> None:
        rows = [cells.connectivity for cells in mesh.cells.values()]
        mesh._require_points(rows)
        self.comm = mesh.comm
        self.ids: Ints | None = None
        if mesh.comm.size == 1:
            require_countable(mesh.comm, "points of the mesh", mesh.n_points)
            self.X = np.ascontiguousarray(mesh.points, np.float64)
            places = [r.astype(np.int32, copy=False) for r in rows]
        else:
            self.ids, places = compress(rows)
            self.X = np.ascontiguousarray(mesh.fetch_points(self.ids), np.float64)
        self.vertices = dict(zip(mesh.cells, map(np.ascontiguousarray, places), strict=True))
        self.keys: dict[str, Hashes] = {}
        self._library = jit.load_runtime(Path(__file__).with_name("check.c"), mesh.comm)
        self._library.symancf_keys.restype = ctypes.c_int64

    def first_repeating(self, kind: str) -> int:
        """Return the first cell of a type that names a vertex twice, -1 without; make the keys."""
        rows = self.vertices[kind]
        key = self.keys[kind] = np.empty(len(rows), np.uint64)
        ids = None if self.ids is None else pointer(self.ids)
        sizes = (ctypes.c_int64(n) for n in rows.shape)
        work = np.empty(rows.shape[1], np.int32)
        return int(
            self._library.symancf_keys(*sizes, pointer(rows), ids, pointer(work), pointer(key))
        )

    def least_jacobians(self, kind: str) -> Array:
        """Return the least of the `jacobians` of each cell of a type, (k,)."""
        rows, table = self.vertices[kind], table_of_jacobians(kind)
        sizes = np.array([*rows.shape, table.shape[1], len(table) - 1], np.int64)
        low = np.empty(len(rows))
        arrays = sizes, table, rows, self.X, low
        if self._library.symancf_jacobians(*(pointer(x) for x in arrays)):
            raise MemoryError("Jacobians of the cells: not enough memory")
        return low

    def along_edges(self, graph: AdjacencyGraph, X: Array, chosen: Mask) -> tuple[Array, Ints32]:
        """Look at the edges of the `chosen` of some vertices at X (n, 3), see check.c.

        Returns
        -------
        loss, shortest, longest, and (1 + n, 2) the ends of the first edge, and of those on which
        vertices lie; -1 without.
        """
        found = np.array([np.finfo(float).eps, 0.0, 0.0])
        edges = np.full((1 + len(X), 2), -1, np.int32)
        X = np.ascontiguousarray(X, np.float64)
        arrays = graph.start, graph.neighbours, X, chosen.view(np.uint8)
        if self._library.symancf_edges(
            len(X),
            *(pointer(x) for x in arrays),
            ctypes.c_double(STRAIGHT),
            *(pointer(x) for x in (found, edges, edges[1:])),
        ):
            raise MemoryError("edges of the cells: not enough memory")
        return found, edges


@dataclass(frozen=True)
class Edges:
    """What there is about the edges of the cells of some types on this rank.

    Attributes
    ----------
    worst : the largest relative error of a difference of coordinates along an edge; its ends, less
        than zero so that the first edge is the largest of equal ones, and where it begins.
    shortest, longest : [m]; the first of those that have a length.
    hanging : (m, 3) points inside edges, and the ends of these.
    """

    worst: tuple[float, ...]
    shortest: float
    longest: float
    hanging: Ints

    @classmethod
    def of(cls, mesh: Mesh, local: LocalCells, kinds: list[str]) -> Edges:
        """Look at the edges of all ranks (collective).

        Those of a point that several ranks have are brought together at the rank of its slice.
        """
        comm, starts = mesh.comm, mesh.point_starts
        graph = adjacency(comm, len(local.X), [(local.vertices[k], CELLS[k].links) for k in kinds])
        chosen = np.ones(len(local.X), bool)
        parts: list[tuple[Ints | None, AdjacencyGraph, Array, Mask]]
        if local.ids is None:
            parts = [(None, graph, local.X, chosen)]
        else:
            times = combine(comm, starts, local.ids, np.ones(len(local.ids), np.int64))
            shared = lookup(comm, starts, local.ids, times) > 1
            count = np.diff(graph.start)
            there = local.ids[graph.neighbours[np.repeat(shared, count)]]
            pairs = np.stack([np.repeat(local.ids[shared], count[shared]), there], axis=1)
            _, (pairs,) = exchange(comm, owners_of(starts, pairs[:, 0]), pairs)
            ids, (ends,) = compress([pairs])
            own = np.zeros(len(ids), bool)
            own[ends[:, 0]] = True
            both = adjacency(comm, len(ids), [(ends, ((0, 1),))])
            parts = [(local.ids, graph, local.X, ~shared)]
            parts.append((ids, both, mesh.fetch_points(ids), own))
        worst: tuple[float, ...] = (0.0,)
        size, hanging = np.array([np.inf, 0.0]), [np.empty((0, 3), np.int64)]
        for numbers, graph, X, chosen in parts:
            found, edges = local.along_edges(graph, X, chosen)
            size = np.array([min(size[0], found[1]), max(size[1], found[2])])
            inside = np.flatnonzero(edges[1:, 0] >= 0)
            rows = np.concatenate([inside[:, None], edges[1:][inside]], axis=1)
            at = edges[0].astype(np.int64)
            hanging.append(rows if numbers is None else numbers[rows])
            if at[0] >= 0:
                ends = at if numbers is None else numbers[at]
                worst = max(worst, (float(found[0]), *(-ends).tolist(), *X[at[0]].tolist()))
        return cls(worst, float(size[0]), float(size[1]), np.concatenate(hanging))


def require_distinct(mesh: Mesh, keys: dict[str, Hashes]) -> None:
    """Raise where two cells of a type have the same vertices (collective).

    `keys` : type -> `hashes` of the cells; where two are the same the vertices are compared.

    Raises
    ------
    MeshError : on every rank, naming the cells.
    """
    comm = mesh.comm
    for kind, cells in mesh.cells.items():
        rank = (keys[kind] % np.uint64(comm.size)).astype(np.int32)
        _, (key,) = exchange(comm, rank, keys[kind])
        ordered = np.sort(key)
        some = ordered[1:][ordered[1:] == ordered[:-1]]
        if not comm.allreduce(len(some)):
            continue
        _, (ids,) = exchange(comm, rank, cells.ids)
        ids = ids[np.isin(key, some)]
        starts = block_starts(cells.size, comm.size)
        rows = np.sort(lookup(comm, starts, ids, cells.connectivity), axis=1)
        order = np.lexsort([ids, *rows.T])
        rows, ids = rows[order], ids[order]
        twice = np.flatnonzero((rows[1:] == rows[:-1]).all(axis=1))
        count = comm.allreduce(len(twice))
        if not count:
            continue
        mine = min(((int(ids[i]), int(ids[i + 1])) for i in twice), default=None)
        first = min(pair for pair in comm.allgather(mine) if pair is not None)
        labels, error = "", None
        if cells.labels is not None:
            own = lookup(comm, starts, np.array(first), cells.labels).tolist()
            labels = f", elements {own[0]} and {own[1]} of the file,"
        if cells.start <= first[0] < cells.start + len(cells.connectivity):
            vertices = " ".join(map(str, cells.connectivity[first[0] - cells.start]))
            more = f" ({count} such pairs)" if count > 1 else ""
            error = MeshError(
                f"{mesh.name}: {kind} {first[0]} and {kind} {first[1]}{labels} have the same "
                f"points ({vertices}){more}; mass, stiffness and loads of such a cell would count "
                "twice: leave one out",
                cells=first,
                asked="duplicate cells",
                given=first,
            )
        share_error(comm, error)


def labels_of(mesh: Mesh, *points: int) -> str:
    """Return the labels of points in the mesh file, for a message; "" without (collective)."""
    if mesh.labels is None:
        return ""
    own = lookup(mesh.comm, mesh.point_starts, np.array(points), mesh.labels.points)
    return f" (nodes {', '.join(map(str, own))} of the file)"


def pairs_in_groups(group: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Yield places (k,) and (k,) of pairs of the same group, all of them in several times.

    `group` : (n,) those of one group follow each other.
    """
    step, first = 1, np.arange(len(group))
    while True:
        first = first[first + step < len(group)]
        first = first[group[first] == group[first + step]]
        if not len(first):
            return
        yield first, first + step
        step += 1


def require_lengths(mesh: Mesh, edges: Edges) -> None:
    """Look at the digits that coordinates leave to the cells' edges (collective).

    Coordinates of size X that differ along an edge of length h carry an error of eps X/h. Warns
    below `DIGITS` digits.

    Raises
    ------
    MeshError : on every rank: fewer than `MIN_COMMON_POINTS` digits, or edges so short or long that
        their products are no numbers.
    """
    comm = mesh.comm
    worst = max(comm.allgather(edges.worst))
    shortest = comm.allreduce(edges.shortest, MPI.MIN)
    longest = comm.allreduce(edges.longest, MPI.MAX)
    for bad, limit in ((shortest < LENGTHS[0], shortest), (longest > LENGTHS[1], longest)):
        if bad:
            raise MeshError(
                f"{mesh.name}: a cell has an edge of {limit:.3g} m; areas and volumes need lengths "
                f"between {LENGTHS[0]:g} and {LENGTHS[1]:g} m: scale the mesh",
                asked="length",
                given=limit,
                possible=LENGTHS,
            )
    if worst[0] <= 10.0**-DIGITS:
        return
    low, high = mesh.bounds()
    middle, extent = (low + high) / 2.0, float((high - low).max())
    digits = max(0, int(-np.log10(worst[0])))
    a, b, at = -int(worst[1]), -int(worst[2]), worst[3:]
    text = (
        f"{mesh.name}: coordinates leave {digits} digits to the edge from point {a} to point {b}"
        f"{labels_of(mesh, a, b)} at ({at[0]:g}, {at[1]:g}, {at[2]:g}); strains and forces "
        "have no more; "
    )
    if np.abs(middle).max() > 10.0 * extent:
        text += f"move the mesh to the origin: subtract ({', '.join(f'{m:g}' for m in middle)})"
    else:
        text += f"the edge is short beside the mesh ({extent:g} m): remove or coarsen such cells"
    if digits < MIN_COMMON_POINTS:
        raise MeshError(text)
    if comm.rank == 0:
        warnings.warn(text, stacklevel=4)


def warn_of_hanging_points(mesh: Mesh, edges: Edges) -> None:
    """Warn of points inside `edges` of surfaces and volumes: T-junctions (collective).

    Where a point hangs on an edge, a shorter edge runs along it from one of its ends. Edges with a
    node inside count as two.
    """
    comm, rows = mesh.comm, edges.hanging
    _, (rows,) = exchange(comm, owners_of(mesh.point_starts, rows[:, 0]), rows)
    rows = rows[np.lexsort(rows.T[::-1])]
    points, at = np.unique(rows[:, 0], return_index=True)
    ends = rows[:, 1:]
    count = comm.allreduce(len(points))
    if not count:
        return
    mine = None
    if len(points):
        x = mesh.points[points[0] - mesh.point_starts[comm.rank]]
        mine = (int(points[0]), *ends[at[0]].tolist(), *x.tolist())
    point, a, b, *x = min(pair for pair in comm.allgather(mine) if pair is not None)
    labels = labels_of(mesh, point, a, b)
    if comm.rank == 0:
        some = "a point lies" if count == 1 else f"at least {count} points lie"
        warnings.warn(
            f"{mesh.name}: {some} inside of an edge of cells that do not use it, e.g. point "
            f"{point} at ({x[0]:g}, {x[1]:g}, {x[2]:g}) on the edge from point {a} to point {b}"
            f"{labels}: the cells on both sides are not connected there (T-junction); "
            "divide both sides alike",
            stacklevel=4,
        )


def _faces(mesh: Mesh) -> tuple[Ints, Ints]:
    """Return triangular and quadrilateral faces of this rank's volumes; none without the others."""
    parts: dict[int, list[tuple[str, list[int]]]] = {3: [], 4: []}
    for kind in mesh.cells:
        for face in CELLS[kind].faces if kind in CELLS and dimension(kind) == 3 else ():
            parts[len(face)].append((kind, list(face)))
    if not all(any(mesh.cells[kind].size for kind, _ in some) for some in parts.values()):
        parts = {3: [], 4: []}
    triangles, quads = (
        np.concatenate(
            [
                np.empty((0, n), np.int64),
                *(mesh.cells[kind].connectivity[:, face] for kind, face in some),
            ]
        )
        for n, some in parts.items()
    )
    return triangles, quads


def warn_of_split_faces(mesh: Mesh) -> None:
    """Warn of triangular faces on quadrilateral ones: along the diagonal they part (collective)."""
    comm = mesh.comm
    triangles, quads = _faces(mesh)
    if not all(comm.allreduce(len(faces)) for faces in (triangles, quads)):
        return
    halves = np.concatenate([quads[:, np.arange(4) != k] for k in range(4)])
    key, split = hashes(triangles), hashes(halves)
    to, queries = ((keys % np.uint64(comm.size)).astype(np.int64) for keys in (split, key))
    _, (split,) = exchange(comm, to, split)
    _, (key, triangles) = exchange(comm, queries, key, triangles)
    split_faces = triangles[np.isin(key, split)]
    split_faces = split_faces[np.lexsort(split_faces.T)]
    count = comm.allreduce(len(split_faces))
    if not count:
        return
    first = min(rows for rows in comm.allgather(split_faces[:1].tolist()) if rows)
    x = mesh.fetch_points(np.array(first)).mean(axis=(0, 1))
    if comm.rank == 0:
        warnings.warn(
            f"{mesh.name}: {count} triangular faces of cells lie on quadrilateral ones, e.g. at "
            f"({x[0]:g}, {x[1]:g}, {x[2]:g}): the cells on both sides share the corners, but part "
            "along the diagonal; let wedges be between hexahedra and tetrahedra, or give both "
            "sides points of their own and join them, sa.joints.tie",
            stacklevel=4,
        )


def warn_of_coincident_points(mesh: Mesh) -> None:
    """Warn of points closer than 1e-9 of the mesh's extent (collective)."""
    comm = mesh.comm
    low, high = mesh.bounds()
    scale = float(np.max(high - low, initial=0.0))
    if not np.isfinite(scale) or scale == 0.0:
        return

    def places(first: int, last: int) -> tuple[Ints, Ints]:
        grid = np.rint((mesh.points[first:last] - low) / (scale * 1e-9)).astype(np.int64)
        return grid, (grid * np.array([1, 1_000_003, 998_244_353_117])).sum(axis=1)

    n = len(mesh.points)
    key = np.concatenate(
        [np.empty(0, np.int64), *(places(i, i + CHUNK)[1] for i in range(0, n, CHUNK))]
    )
    to = (np.abs(key) % comm.size).astype(np.int32)
    met = np.sort(exchange(comm, to, key)[1][0])
    if not comm.allreduce(int(np.count_nonzero(met[1:] == met[:-1]))):
        return
    grid = places(0, n)[0]
    ids = np.arange(n, dtype=np.int64) + mesh.point_starts[comm.rank]
    _, (key, grid, ids) = exchange(comm, to, key, grid, ids)
    order = np.argsort(key, kind="stable")
    twin = np.all(grid[order[1:]] == grid[order[:-1]], axis=1)
    count = comm.allreduce(int(twin.sum()))
    if not count:
        return
    i = int(np.flatnonzero(twin)[0]) if twin.any() else -1
    pairs = comm.allgather((int(ids[order[i]]), int(ids[order[i + 1]])) if i >= 0 else None)
    first = min(sorted(pair) for pair in pairs if pair is not None)
    labels = labels_of(mesh, *first)
    if comm.rank == 0:
        warnings.warn(
            f"{mesh.name}: {count} points coincide with another, e.g. {first[0]} and {first[1]}"
            f"{labels}; cells that use different ones of them are not connected",
            stacklevel=4,
        )
