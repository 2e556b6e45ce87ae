# SPDX-License-Identifier: BSD-3-Clause
"""Conformity of meshes: no cell twice, no node inside an edge, no point beside another.

All checks cost time and memory in proportion to the cells of a rank: rows travel to the rank that
holds a point, or to one chosen by a hash of what is compared.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from ..arrays import Array, Integers, Ints
from ..cells.table import CELLS
from ..errors import MeshError
from ..runtime.collective import block_starts, exchange, lookup, owners_of, share_error
from ..values.arguments import LENGTHS
from .cells import dimension

if TYPE_CHECKING:
    from collections.abc import Iterator

    from . import Mesh

Hashes = NDArray[np.uint64]

STRAIGHT = 0.02  # [rad] between edges at a point that run into each other
DIGITS = 8  # of a cell's edges: fewer are told
MIN_COMMON_POINTS = 4  # fewer are refused


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


def require_distinct(mesh: Mesh) -> None:
    """Raise where two cells of a type have the same vertices (collective).

    Raises
    ------
    MeshError : on every rank, naming the cells.
    """
    comm = mesh.comm
    for kind, cells in mesh.cells.items():
        key = hashes(cells.connectivity)
        rank = (key % np.uint64(comm.size)).astype(np.int64)
        _, (key, ids) = exchange(comm, rank, key, cells.ids)
        order = np.lexsort([ids, key])
        twice = np.flatnonzero(key[order[1:]] == key[order[:-1]])
        count = comm.allreduce(len(twice))
        if not count:
            continue
        i = min(twice, key=lambda i: ids[order[i]], default=None)
        mine = None if i is None else (int(ids[order[i]]), int(ids[order[i + 1]]))
        first = min(pair for pair in comm.allgather(mine) if pair is not None)
        labels, error = "", None
        if cells.labels is not None:
            starts = block_starts(cells.size, comm.size)
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


class CellEdges:
    """Edges of the cells of some types, each once for each of its ends, at the rank of that end.

    Attributes
    ----------
    here, there : (m,) the point of this rank's slice, and the one at the other end.
    along : (m, 3) from here to there [m].
    """

    def __init__(self, mesh: Mesh, kinds: list[str]) -> None:
        comm = mesh.comm
        pairs = [np.empty((0, 2), np.int64)]
        for kind in kinds:
            ends = np.array(CELLS[kind].links)
            pairs.append(np.sort(mesh.cells[kind].connectivity[:, ends].reshape(-1, 2), axis=1))
        edges = _distinct(np.concatenate(pairs))
        both = np.concatenate([edges, edges[:, ::-1]])
        _, (both,) = exchange(comm, owners_of(mesh.point_starts, both[:, 0]), both)
        both = _distinct(both)
        self.here, self.there = both.T
        self.along = mesh.fetch_points(self.there) - self.start(mesh)
        largest = np.abs(self.along).max(axis=1, initial=0.0)
        scale = np.where(largest > 0, largest, 1.0)  # squares of 1e-200 m are zero
        self.length = scale * np.linalg.norm(self.along / scale[:, None], axis=1)

    def start(self, mesh: Mesh) -> Array:
        """Return where the edges begin (m, 3)."""
        return np.asarray(mesh.points[self.here - mesh.point_starts[mesh.comm.rank]])


def _distinct(pairs: Ints) -> Ints:
    """Return the different rows of (m, 2), sorted."""
    pairs = pairs[np.lexsort([pairs[:, 1], pairs[:, 0]])]
    fresh = np.ones(len(pairs), bool)
    fresh[1:] = (pairs[1:] != pairs[:-1]).any(axis=1)
    return np.asarray(pairs[fresh])


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


def require_lengths(mesh: Mesh) -> None:
    """Look at the digits that coordinates leave to the cells' edges (collective).

    Coordinates of size X that differ along an edge of length h carry an error of eps X/h. Warns
    below `DIGITS` digits.

    Raises
    ------
    MeshError : on every rank: fewer than `MIN_COMMON_POINTS` digits, or edges so short or long that
        their products are no numbers.
    """
    comm = mesh.comm
    edges = CellEdges(mesh, [k for k in mesh.cells if k in CELLS and dimension(k) > 0])
    x, length = edges.start(mesh), edges.length
    has_length = length > 0
    loss = np.zeros(len(length))
    size = np.where(edges.along != 0.0, np.abs(x), 0.0)[has_length].max(axis=1, initial=0.0)
    loss[has_length] = np.finfo(float).eps * size / length[has_length]
    mine: tuple[float, ...] = (0.0,)
    if len(loss):
        k = int(np.argmax(loss))
        mine = (float(loss[k]), int(edges.here[k]), int(edges.there[k]), *x[k].tolist())
    worst = max(comm.allgather(mine))
    shortest = comm.allreduce(float(length[has_length].min(initial=np.inf)), MPI.MIN)
    longest = comm.allreduce(float(length.max(initial=0.0)), MPI.MAX)
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
    _, a, b, *at = worst
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


def warn_of_hanging_points(mesh: Mesh) -> None:
    """Warn of points inside edges of surfaces and volumes: T-junctions (collective).

    Where a point hangs on an edge, a shorter edge runs along it from one of its ends. Edges with a
    node inside count as two.
    """
    comm = mesh.comm
    edges = CellEdges(mesh, [k for k in mesh.cells if k in CELLS and dimension(k) > 1])
    here, length = edges.here, edges.length
    has_length = length > 0
    unit = edges.along / np.where(has_length, length, 1.0)[:, None]
    hanging, carriers = [np.empty(0, np.int64)], [np.empty((0, 2), np.int64)]
    for first, second in pairs_in_groups(here):  # edges of one point
        turn = np.linalg.norm(unit[first] - unit[second], axis=1)
        meets = (turn < STRAIGHT) & has_length[first] & has_length[second]
        meets &= np.abs(length[first] - length[second]) > 1e-3 * length[first]
        a, b = first[meets], second[meets]
        short, long = np.where(length[a] < length[b], (a, b), (b, a))
        hanging.append(edges.there[short])
        carriers.append(np.stack([here[long], edges.there[long]], axis=1))
    points, ends = np.concatenate(hanging), np.sort(np.concatenate(carriers), axis=1)
    _, (points, ends) = exchange(comm, owners_of(mesh.point_starts, points), points, ends)
    points, at = np.unique(points, return_index=True)
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


def warn_of_split_faces(mesh: Mesh) -> None:
    """Warn of triangular faces on quadrilateral ones: along the diagonal they part (collective)."""
    comm = mesh.comm
    corners: dict[int, list[Ints]] = {3: [np.empty((0, 3), np.int64)], 4: []}
    for kind, cells in mesh.cells.items():
        for face in CELLS[kind].faces if kind in CELLS and dimension(kind) == 3 else ():
            corners[len(face)].append(cells.connectivity[:, list(face)])
    both = [comm.allreduce(sum(map(len, some))) for some in corners.values()]
    if not all(both):
        return
    triangles = np.concatenate(corners[3])
    quads = np.concatenate([np.empty((0, 4), np.int64), *corners[4]])
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
    grid = np.rint((mesh.points - low) / (scale * 1e-9)).astype(np.int64)
    key = (grid * np.array([1, 1_000_003, 998_244_353_117])).sum(axis=1)
    ids = np.arange(len(grid), dtype=np.int64) + mesh.point_starts[comm.rank]
    _, (key, grid, ids) = exchange(comm, np.abs(key) % comm.size, key, grid, ids)
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
