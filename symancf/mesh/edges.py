# SPDX-License-Identifier: BSD-3-Clause
"""Edges of cells: neighbours of vertices along them, and numbers by the points at their ends."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..arrays import Integers, Ints, Ints32, Mask, pointer
from ..cells.table import CELLS, HEXAHEDRON, LINE, QUAD, Links
from ..runtime import jit
from ..runtime.collective import exchange, exchange_blocks, owners_of, shares

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpi4py import MPI

    from . import Mesh

GRAPH = Path(__file__).parent / "partition" / "graph.c"
_EDGES = {len(c.nodes): c.links for c in (LINE, QUAD, HEXAHEDRON)}


class AdjacencyGraph(NamedTuple):
    """A symmetric graph without loops in compressed rows: the neighbours of each vertex."""

    start: Ints
    neighbours: Ints32

    def only(self, vertices: Ints) -> AdjacencyGraph:
        """Return the graph of the vertices `vertices` (ascending), numbered along them."""
        number = np.full(len(self.start) - 1, -1, np.int32)
        number[vertices] = np.arange(len(vertices), dtype=np.int32)
        row = np.repeat(number, np.diff(self.start))
        column = number[self.neighbours]
        inside = (row >= 0) & (column >= 0)
        start = np.zeros(len(vertices) + 1, np.int64)
        np.cumsum(np.bincount(row[inside], minlength=len(vertices)), out=start[1:])
        return AdjacencyGraph(start, column[inside])


def adjacency(
    comm: MPI.Comm, size: int, entities: Sequence[tuple[Ints32, Links | None]]
) -> AdjacencyGraph:
    """Return the links of entities with vertices < `size` (collective, but of this rank only).

    Ends outside 0 <= v < `size` are left out. For a hexahedron of a large mesh 110 bytes pass by.

    Parameters
    ----------
    entities : vertices (k, nv) and the pairs of them that are neighbours, see `Family`.
    """
    library = jit.load_runtime(Path(__file__).with_name("edges.c"), comm)
    calls = []
    total = 0
    for vertices, links in entities:
        star = tuple((0, i) for i in range(1, vertices.shape[1]))
        rows = np.ascontiguousarray(vertices, np.int32)
        pairs = np.array(links or _EDGES.get(rows.shape[1], star), np.int32).reshape(-1, 2)
        sizes = np.array([size, *rows.shape, len(pairs)], np.int64)
        calls.append((sizes, rows, pairs))
        total += len(rows) * len(pairs)
    start, end = np.zeros(size + 1, np.int64), np.empty(size + 1, np.int64)
    for arrays in calls:
        library.symancf_count_links(*(pointer(x) for x in (*arrays, start)))
    np.cumsum(start, out=start)
    end[:] = start
    upper = np.empty(max(1, total), np.int32)
    for arrays in calls:
        library.symancf_place_links(*(pointer(x) for x in (*arrays, end, upper)))
    library.symancf_unite_links(size, *(pointer(x) for x in (start, upper, end)))
    upper.resize(max(1, int(start[-1])), refcheck=False)  # gives the rest back
    neighbours = np.empty(max(1, 2 * int(start[-1])), np.int32)
    every = np.empty(size + 1, np.int64)
    library.symancf_symmetric(size, *(pointer(x) for x in (start, upper, end, every, neighbours)))
    return AdjacencyGraph(every, neighbours[: every[-1]])


def reverse_cuthill_mckee_order(comm: MPI.Comm, graph: AdjacencyGraph) -> Ints32:
    """Order of the vertices that keeps neighbours close: new place -> old number (collective)."""
    library = jit.load_runtime(GRAPH, comm)
    size = len(graph.start) - 1
    order = np.empty(max(1, size), np.int32)
    if library.symancf_order(size, *(pointer(x) for x in (graph.start, graph.neighbours, order))):
        raise MemoryError("order of the vertices: not enough memory")
    return order[:size]


def least_of(comm: MPI.Comm, size: int, pairs: Ints32) -> Ints32:
    """Return the least of the vertices that pairs (m, 2) connect each of `size` with (collective).

    But of this rank only.
    """
    library = jit.load_runtime(GRAPH, comm)
    least = np.empty(max(1, size), np.int32)
    edges = np.ascontiguousarray(pairs, dtype=np.int32)
    library.symancf_connected(size, ctypes.c_int64(len(edges)), pointer(edges), pointer(least))
    return least[:size]


def least_joined(comm: MPI.Comm, among: Mask, lists: Sequence[tuple[Integers, Integers]]) -> Ints32:
    """Least of the vertices that lists join each with, (n,), of those `among` some (collective).

    But of this rank only. Each of the lists is where its entities begin, and their vertices.
    """
    library = jit.load_runtime(GRAPH, comm)
    least = np.arange(len(among), dtype=np.int32)
    for start, vertices in lists:
        arrays = [np.ascontiguousarray(x, dtype=np.int32) for x in (start, vertices)]
        library.symancf_join_lists(
            len(start) - 1, *map(pointer, arrays), pointer(among.view(np.uint8)), pointer(least)
        )
    library.symancf_least(len(least), pointer(least))
    return least


def compress(arrays: Sequence[Integers]) -> tuple[Ints, list[Ints32]]:
    """Sorted distinct ids of all arrays, and the arrays in terms of places among them."""
    used = [a for a in arrays if a.size]
    if not used:
        return np.empty(0, np.int64), [a.astype(np.int32) for a in arrays]
    low, high = min(int(a.min()) for a in used), max(int(a.max()) for a in used) + 1
    if high - low <= 8 * sum(a.size for a in used):  # dense: a table is faster than sorting
        mark = np.zeros(high - low, bool)
        for a in used:
            mark[a - low] = True
        ids = np.flatnonzero(mark) + low
        place = np.cumsum(mark, dtype=np.int32) - np.int32(1)
        return ids, [place[a - low] if a.size else a.astype(np.int32) for a in arrays]
    ids = np.unique(np.concatenate([np.unique(a) for a in used])).astype(np.int64)
    return ids, [np.searchsorted(ids, a).astype(np.int32) for a in arrays]


class NumberedEdges:
    """The edges of all ranks, each once, in the order of their ends (collective).

    Parameters
    ----------
    starts : (ranks + 1,) where the points of each rank begin.
    pairs : (k, 2) ends of edges on this rank, in any order and number.

    Attributes
    ----------
    edges : (m, 2) ends of those whose lower end is in this rank's slice.
    first : (ranks + 1,) where the numbers of each rank begin.
    """

    def __init__(self, comm: MPI.Comm, starts: Ints, pairs: Ints) -> None:
        self.comm, self.starts = comm, starts
        pairs = np.sort(pairs, axis=1)
        _, (received,) = exchange(comm, owners_of(starts, pairs[:, 0]), pairs)
        self.edges: Ints = np.unique(received, axis=0)
        self.first = shares(comm, len(self.edges))

    @classmethod
    def of_surfaces(cls, mesh: Mesh) -> NumberedEdges:
        """Return the edges of a mesh's triangles and quadrangles (collective)."""
        pairs: list[Integers] = [np.zeros((0, 2), dtype=np.int64)]
        for kind in ("triangle", "quad"):
            if kind in mesh.cells:
                ends = np.array(CELLS[kind].edges)
                pairs.append(mesh.cells[kind].connectivity[:, ends].reshape(-1, 2))
        return cls(mesh.comm, mesh.point_starts, np.concatenate(pairs))

    def __len__(self) -> int:
        return int(self.first[-1])

    def number(self, pairs: Ints) -> Ints:
        """Return the numbers (k,) of edges by their ends (k, 2), -1 of others (collective)."""
        pairs = np.sort(pairs, axis=1)
        to = owners_of(self.starts, pairs[:, 0])
        counts, (queries,) = exchange(self.comm, to, pairs)
        every, place = np.unique(np.concatenate([self.edges, queries]), axis=0, return_inverse=True)
        table = np.full(len(every), -1, dtype=np.int64)
        place = place.ravel()
        table[place[: len(self.edges)]] = self.first[self.comm.rank] + np.arange(len(self.edges))
        _, (numbers,) = exchange_blocks(self.comm, counts, table[place[len(self.edges) :]])
        result = np.empty(len(pairs), np.int64)
        result[np.argsort(to, kind="stable")] = numbers
        return result
