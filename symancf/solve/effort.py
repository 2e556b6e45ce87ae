# SPDX-License-Identifier: BSD-3-Clause
"""What a direct solver would take, told from where the nodes are, without an analysis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ..arrays import Array, Ints, Mask
from ..newton.parts import connected_parts
from ..runtime.collective import reduced

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..assembly.numbering import Numbering
    from ..assembly.piece import Piece
    from ..multigrid.grids import Nodes
    from ..system import System

BINS = 1536  # of all parts together
VERTICES_OF_BIN = 27  # vertices that a bin has at least, about
FULL_BOX = 0.9, 1.1  # nodes by those of a box that count as a full one
BEYOND_BOX = 1.6, 1.35  # times the operations and entries of such boxes: separators are not so even
CELLS_MEASURED = 4_000  # cells whose edges are measured
ROWS_AT_ONCE = 30.0  # rows that are eliminated at once
_ROUNDS = 60
AXIS_WEIGHTS = np.array([1.0 + 2e-6, 1.0 + 1e-6, 1.0])  # of equal axes the first, in any round-off
_HALVES = {10, 13, 14, 15, 18, 20, 27}  # vertices of cells with nodes midway along edges
_BARE = {20: 1.5, 15: 1.3, 13: 1.4}  # nodes in planes of corners, by the mean of all planes


@dataclass(frozen=True)
class Effort:
    """What factors L D L^T take; twice that for L U.

    Attributes
    ----------
    flops : of one factorisation.
    entries : of the factors.
    """

    flops: float
    entries: float


def effort_of(system: System, nodes: Nodes | None = None) -> Effort:
    r"""Estimate what a factorisation of the tangent takes (collective).

    Nested dissection of boxes, each cut in the middle along the axis with the smallest separator
    for what it cuts off. Eliminating the p rows of a separator with b rows around its box takes

    .. math:: \tfrac13 \bigl((p + b)^3 - b^3\bigr)

    operations (A. George, SIAM Journal on Numerical Analysis 10 (1973) 345-363). How many rows are
    in a plane is known from a histogram: at most `BINS` bins over the undeformed nodes of each
    connected part, each with its rows and the mean spacing of nodes along the axes. Below bins
    the rows count as spread evenly. Couplings of parts, as by multipliers, count for nothing.

    Parameters
    ----------
    nodes : of all rows, with their grids, where they are known: of bodies that fill their grids
        the whole box counts as one bin, and no histogram is made.
    """
    boxes = None if nodes is None else _boxes(system, nodes)
    if boxes is not None:
        ideal = _sum([*_evenly(*boxes)])
        return Effort(BEYOND_BOX[0] * ideal.flops, BEYOND_BOX[1] * ideal.entries)
    return _sum([*_dissected(Bins.of(system))])


def _boxes(system: System, nodes: Nodes) -> tuple[Array, Array, Mask] | None:
    """Return layers of nodes, rows by layer cubed, and cut sides of boxes, None if not full."""
    count = len(nodes.grids.part)
    rows = np.array([3, 2, 2, 1, 2, 1, 1, 0])[nodes.held]
    table = np.stack([np.bincount(nodes.grid, w, count) for w in (np.ones(len(rows)), rows)])
    there, rows = reduced(system.comm, table.astype(float))
    layers = nodes.grids.extent / nodes.grids.spacing + 1.0
    volume = layers.prod(axis=1)
    share = there / volume
    if not ((share > FULL_BOX[0]) & (share < FULL_BOX[1])).all():
        return None
    return layers, rows / volume, np.zeros((count, 3, 2), dtype=bool)


def _sum(fronts: list[tuple[Array, Array, Array]]) -> Effort:
    """Add up fronts of p rows to be eliminated with b others, each so many times."""
    flops = entries = 0.0
    for p, b, times in fronts:
        flops += float((times * ((p + b) ** 3 - b**3)).sum()) / 3.0
        entries += float((times * p * (0.5 * p + b)).sum())
    return Effort(flops, entries)


@dataclass(frozen=True)
class Bins:
    """Rows in bins along the axes over each connected part.

    Attributes
    ----------
    shape : (parts, 3) numbers of bins.
    first : (parts,) place of the first corner of each part in `sums`.
    sums : (corners, 4) rows below each corner of the bins of a part, and rows in a layer of nodes
        across each axis.
    layers : (corners, 3) of nodes in the bin above each corner.
    """

    shape: Ints
    first: Ints
    sums: Array
    layers: Array

    @classmethod
    def of(cls, system: System) -> Bins:
        """Count the rows of a system (collective)."""
        numbering, comm = system.numbering, system.comm
        strains = [piece for piece in system.pieces if piece.role == "strain"]
        parts = connected_parts(numbering, strains)
        X, part = _placed(numbering, system.reference, parts.of_vertex)
        own = np.flatnonzero(part[: numbering.owned_vertices] >= 0)
        low, high = np.full((parts.count, 3), np.inf), np.full((parts.count, 3), -np.inf)
        np.minimum.at(low, part[own], X[own])
        np.maximum.at(high, part[own], X[own])
        low, high = reduced(comm, low, MPI.MIN), reduced(comm, high, MPI.MAX)
        extent = np.where(high > low, high - low, 0.0)
        count = reduced(comm, np.bincount(part[own], minlength=parts.count).astype(float))
        cells = _cells(comm, strains, X, part)
        spacing = _spacing(comm, cells, parts.count)
        spacing = np.where(spacing > 0.0, spacing, np.where(extent > 0.0, extent, 1.0))
        shape = _shape(extent / spacing + 1.0, count)
        first = np.concatenate([[0], np.cumsum((shape + 1).prod(axis=1))])
        width = np.where(extent > 0.0, extent, 1.0) / shape

        def bin_of(points: Array, of: Ints) -> Ints:
            where = (points - low[of]) / width[of] + 1e-6  # nodes between bins: with the upper one
            index = np.clip(where.astype(np.int64), 0, shape[of] - 1)
            stride = shape[of] + 1
            place = (index[:, 0] * stride[:, 1] + index[:, 1]) * stride[:, 2] + index[:, 2]
            return np.asarray(first[of] + place)

        bins, corners = bin_of(X[own], part[own]), int(first[-1])
        tables = np.zeros((corners, 5))
        tables[:, 0] = np.bincount(bins, numbering.row_count[own], minlength=corners)
        for of, centre, logs in cells:
            at = bin_of(centre, of)
            for k in range(3):
                tables[:, 1 + k] += np.bincount(at, logs[:, k], minlength=corners)
            tables[:, 4] += np.bincount(at, minlength=corners)
        tables = reduced(comm, tables)
        of_corner = np.repeat(np.arange(parts.count), np.diff(first))
        known = tables[:, 4] > 0.0
        local = spacing[of_corner]
        local[known] = np.exp(tables[known, 1:4] / tables[known, 4:])
        layers = np.maximum(width[of_corner] / local, 1.0)
        across = _across(strains, comm) * tables[:, :1] / layers
        sums = np.concatenate([tables[:, :1], across], axis=1)
        for k in range(parts.count):
            table = sums[first[k] : first[k + 1]].reshape(*(shape[k] + 1), 4)
            table[...] = _accumulated(table)
        return cls(shape, first[:-1], sums, layers)

    def rows(self, part: Ints, low: Ints, high: Ints, column: Ints | int = 0) -> Array:
        """Return the sums (n,) over boxes (n, 3) of bins: of rows, or those across an axis."""
        one, two = self.shape[part, 1] + 1, self.shape[part, 2] + 1
        ends = [(at[:, 0] * one * two, at[:, 1] * two, at[:, 2]) for at in (low, high)]
        first, total = self.first[part], np.zeros(len(part))
        for i in (0, 1):
            for j in (0, 1):
                for k in (0, 1):
                    place = first + ends[i][0] + ends[j][1] + ends[k][2]
                    sign = 1.0 if (i + j + k) % 2 else -1.0
                    total += sign * self.sums[place, column]
        return np.maximum(total, 0.0)

    def slab(self, part: Ints, low: Ints, high: Ints, axis: Ints | int, at: Ints) -> Array:
        """Return the rows in a layer of nodes across an axis, in bins `at` of boxes."""
        every = np.arange(len(part))
        low, high = low.copy(), high.copy()
        low[every, axis], high[every, axis] = at, at + 1
        return self.rows(part, low, high, 1 + axis)


def _accumulated(table: Array) -> Array:
    """Return the sums of bins [0, i) x [0, j) x [0, k) at (i, j, k)."""
    sums = table.cumsum(axis=0).cumsum(axis=1).cumsum(axis=2)
    below = np.zeros_like(table)
    below[1:, 1:, 1:] = sums[:-1, :-1, :-1]
    return below


def _placed(numbering: Numbering, reference: Array, part: Ints) -> tuple[Array, Ints]:
    """Return the undeformed positions of vertices, and the parts of those that have some."""
    X, of = np.zeros((numbering.vertices, 3)), np.full(numbering.vertices, -1, dtype=np.int64)
    start = numbering.offset[:, numbering.block("position")]
    there = start >= 0
    X[there] = reference[start[there][:, None] + np.arange(3)]
    of[there] = part[there]
    return X, of


def _cells(
    comm: MPI.Comm, strains: Sequence[Piece], X: Array, part: Ints
) -> list[tuple[Ints, Array, Array]]:
    """Return parts, centres and logarithms of spacings (n, 3) of some of this rank's cells.

    They are the same cells on any number of ranks.
    """
    number = comm.allreduce(sum(int(piece.owned.sum()) for piece in strains))
    one_in = max(1, number // CELLS_MEASURED)
    found = []
    for piece in strains:
        count = np.diff(piece.vertex_start)
        if piece.ids is None or not len(count) or (count != count[0]).any():
            continue
        corners = int(count[0])
        mixed = (piece.ids.astype(np.uint64) * np.uint64(2654435761)) >> np.uint64(8)
        some = np.flatnonzero(piece.owned & (mixed % np.uint64(one_in) == 0))
        vertices = piece.vertices.reshape(-1, corners)[some]
        of = part[vertices].max(axis=1, initial=-1)
        vertices, of = vertices[of >= 0], of[of >= 0]
        if not len(of):
            continue
        points = X[vertices]
        found.append((of, points.mean(axis=1), _logs(points, 2 if corners in _HALVES else 1)))
    return found


def _logs(points: Array, intervals: int) -> Array:
    """Return the logarithms of spacings of nodes along the axes in cells (n, corners, 3).

    The product of those of hexahedra is their volume: turned ones are wider than that.
    """
    size = np.ptp(points, axis=1)
    logs = np.log(np.maximum(size, np.maximum(1e-3 * size.max(axis=1, keepdims=True), 1e-300)))
    if points.shape[1] in (8, 20, 27):
        edges = points[:, [1, 3, 4]] - points[:, :1]
        volume = np.abs(np.linalg.det(edges))
        logs += (np.log(np.maximum(volume, 1e-300)) - logs.sum(axis=1))[:, None] / 3.0
    return np.asarray(logs - np.log(intervals))


def _spacing(comm: MPI.Comm, cells: list[tuple[Ints, Array, Array]], count: int) -> Array:
    """Return the mean spacing of nodes (parts, 3), 0 where there are no cells (collective)."""
    sums = np.zeros((count, 4))
    for of, _, logs in cells:
        for k in range(3):
            sums[:, k] += np.bincount(of, logs[:, k], minlength=count)
        sums[:, 3] += np.bincount(of, minlength=count)
    sums = reduced(comm, sums)
    number = np.maximum(sums[:, 3:], 1.0)
    return np.where(sums[:, 3:] > 0.0, np.exp(sums[:, :3] / number), 0.0)


def _across(strains: Sequence[Piece], comm: MPI.Comm) -> float:
    """Return how many more nodes there are in planes between cells than elsewhere (collective)."""
    mine = max((_BARE.get(_width(piece), 1.0) for piece in strains), default=1.0)
    return float(comm.allreduce(mine, op=MPI.MAX))


def _width(piece: Piece) -> int:
    return int(np.diff(piece.vertex_start[:2]).sum())


def _shape(layers: Array, count: Array) -> Ints:
    """Return the numbers of bins (parts, 3): as many as suit the vertices, no more than layers."""
    layers = layers + 1e-6  # whole numbers, but for round-off
    allowed = np.clip(BINS * count / max(1.0, count.sum()), 1.0, count / VERTICES_OF_BIN)
    allowed = np.maximum(allowed, 1.0)
    side = np.ones(len(count))
    shape = np.maximum(1, np.floor(layers)).astype(np.int64)
    while (over := shape.prod(axis=1) > allowed).any():
        side[over] *= 1.2
        shape[over] = np.maximum(1, np.floor(layers[over] / side[over][:, None]))
        if not (shape[over] > 1).any():
            break
    return shape


# ---- nested dissection ---------------------------------------------------------------------------
Fronts = tuple[Array, Array, Array]


def _dissected(bins: Bins) -> Iterator[Fronts]:
    """Yield the fronts of all boxes: rows of separators, rows around them, how many times."""
    part = np.arange(len(bins.shape))
    low, high = np.zeros_like(bins.shape), bins.shape.copy()
    cut: Mask = np.zeros((len(part), 3, 2), dtype=bool)
    leaves: list[tuple[Array, Array, Mask]] = []
    while len(part):
        rows = bins.rows(part, low, high)
        single = ((high - low) == 1).all(axis=1)
        leaves.append(_leaf(bins, part, low, rows, cut, single & (rows > 0.0)))
        there = ~single & (rows > 0.0)
        part, low, high, cut = part[there], low[there], high[there], cut[there]
        if not len(part):
            break
        around = sum(
            np.where(
                cut[:, a, s],
                bins.slab(part, low, high, a, (high[:, a] - 1) if s else low[:, a]),
                0.0,
            )
            for a in range(3)
            for s in range(2)
        )
        axis, across, middle = _cheapest(bins, part, low, high)
        yield across, np.asarray(around), np.ones(len(part))
        every = np.arange(len(part))
        left, right, inner = high.copy(), low.copy(), cut.copy()
        left[every, axis], right[every, axis] = middle, middle
        outer = cut.copy()
        inner[every, axis, 1] = outer[every, axis, 0] = across > 0.0
        part = np.concatenate([part, part])
        low, high = np.concatenate([low, right]), np.concatenate([left, high])
        cut = np.concatenate([inner, outer])
    sizes, density, cuts = (np.concatenate(each) for each in zip(*leaves, strict=True))
    yield from _evenly(sizes, density, cuts)


def _cheapest(bins: Bins, part: Ints, low: Ints, high: Ints) -> tuple[Ints, Array, Ints]:
    """Return the axis across which boxes are cut, the rows of the separator, and its place."""
    n = len(part)
    whole = bins.rows(part, low, high)
    score, found, middles = np.full((n, 3), np.inf), np.zeros((n, 3)), (low + high) // 2
    for a in range(3):
        wide = high[:, a] - low[:, a] > 1
        m = middles[:, a]
        across = 0.5 * (
            bins.slab(part, low, high, a, np.maximum(m - 1, low[:, a]))
            + bins.slab(part, low, high, a, m)
        )
        below = high.copy()
        below[:, a] = m
        under = bins.rows(part, low, below)
        less = np.minimum(under, whole - under)
        nothing = less <= 1e-9 * whole
        across = np.where(nothing, 0.0, across)
        score[:, a] = np.where(
            wide, np.where(nothing, 1e30, across / np.maximum(less, 1e-9)), np.inf
        )
        found[:, a] = across
    axis = (score / AXIS_WEIGHTS).argmin(axis=1)
    every = np.arange(n)
    return axis, found[every, axis], middles[every, axis]


def _leaf(
    bins: Bins, part: Ints, low: Ints, rows: Array, cut: Mask, which: Mask
) -> tuple[Array, Array, Mask]:
    """Return layers of nodes, rows by layer cubed, and cut sides of single bins."""
    stride = bins.shape[part[which]] + 1
    at = low[which]
    place = (at[:, 0] * stride[:, 1] + at[:, 1]) * stride[:, 2] + at[:, 2]
    size = bins.layers[bins.first[part[which]] + place]
    density = rows[which] / size.prod(axis=1)
    inside = np.maximum(size - 0.5 * cut[which].sum(axis=2), 0.5)
    return inside, density, cut[which]


def _evenly(size: Array, density: Array, cut: Mask) -> Iterator[Fronts]:
    """Yield the fronts within boxes of evenly spread rows."""
    times = np.ones(len(size))
    for round_ in range(_ROUNDS):
        if not len(size):
            return
        rows = density * size.prod(axis=1)
        axis, every = (size * AXIS_WEIGHTS).argmax(axis=1), np.arange(len(size))
        faces = rows[:, None] / size
        around = (cut.sum(axis=2) * faces).sum(axis=1)
        whole = (rows <= ROWS_AT_ONCE) | (size[every, axis] < 3.0 - 1e-6)
        last = round_ == _ROUNDS - 1
        whole |= last
        yield rows[whole], around[whole], times[whole]
        go = ~whole
        size, density, cut, times, axis = size[go], density[go], cut[go], times[go], axis[go]
        every = np.arange(len(size))
        yield faces[go][every, axis], around[go], times
        size[every, axis] = 0.5 * (size[every, axis] - 1.0)
        one, other = cut.copy(), cut
        one[every, axis, 1] = True
        other[every, axis, 0] = True
        same = (one == other).all(axis=(1, 2))
        times = np.where(same, 2.0 * times, times)
        size = np.concatenate([size, size[~same]])
        density = np.concatenate([density, density[~same]])
        times = np.concatenate([times, times[~same]])
        cut = np.concatenate([one, other[~same]])
