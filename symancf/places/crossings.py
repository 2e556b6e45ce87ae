# SPDX-License-Identifier: BSD-3-Clause
"""Curves cut at the faces of cells: which cell holds which part of a curve.

In the reference cell of side 1 each face is where a linear function g(xi) vanishes, which is
positive inside. On a short part of a curve X(s) the cell holds the interval in which all g are
positive; its ends solve

    X_cell(xi) = X(s),  g(xi) = 0

for xi and s by Newton's method. Each rank looks at its own cells; where cells touch along a part,
in a face or an edge, that of the lowest id has it, on any number of ranks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..arrays import Array, Ints, Mask
from .cell_maps import DIGITS, CellMaps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpi4py import MPI

    from ..cells import Cell
    from .locate import RegionCells
    from .paths import Curves

ON_FACE = 1e-9  # how far outside of a cell of side 1 a place is still in it
NEAR_FACE = 1e-3  # where no cell has it: a boundary of straight sides is a little off a curve
TURN = 0.25  # [rad] that a part turns at most
MOST_PARTS = 1e5  # of a curve; longer ones are halved where cells are
DIVISIONS = 12  # how often a part is halved at most
NONE = np.zeros(0, dtype=np.int64), np.zeros((0, 2))


class CurveParts(NamedTuple):
    """CurveParts of curves, each with a cell that may hold it, or that does.

    Attributes
    ----------
    curve, row : (n,) numbers of the curves and of the cells.
    s : (n, 2) parameters of both ends.
    """

    curve: Ints
    row: Ints
    s: Array

    def of(self, which: Ints | Mask) -> CurveParts:
        """Return some of them."""
        return CurveParts(self.curve[which], self.row[which], self.s[which])

    def halved(self) -> CurveParts:
        """Return both halves of each."""
        middle = self.s.mean(axis=1)
        s = np.stack([self.s[:, 0], middle, middle, self.s[:, 1]], axis=1).reshape(-1, 2)
        return CurveParts(np.repeat(self.curve, 2), np.repeat(self.row, 2), s)


def joined(parts: Sequence[CurveParts]) -> CurveParts:
    """Return all parts of several lists."""
    curve, row, s = zip(*parts, strict=True)
    return CurveParts(np.concatenate(curve), np.concatenate(row), np.concatenate(s))


def straight_parts(curves: Curves, size: float) -> tuple[Ints, Array]:
    """Return parts of curves, (n,) and (n, 2), that hardly turn and are about `size` long."""
    number, ends = [], []
    grid = np.linspace(0.0, 1.0, 129)
    count = len(curves.curves)
    t = curves.tangents(np.repeat(np.arange(count), len(grid)), np.tile(grid, count))
    length = np.linalg.norm(t, axis=1)
    t = (t / np.maximum(length, 1e-300)[:, None]).reshape(count, len(grid), 3)
    turned = np.linalg.norm(np.diff(t, axis=1), axis=2).sum(axis=1)
    needed = np.maximum(length.reshape(count, -1).mean(axis=1) / size, turned / TURN)
    needed = np.clip(needed, 4.0, MOST_PARTS)
    for k, (curve, n) in enumerate(zip(curves.curves, needed.tolist(), strict=True)):
        at = np.linspace(0.0, 1.0, 1 + int(np.ceil(n)))
        at = np.union1d(at, curve.corners) if len(curve.corners) else at
        number.append(np.full(len(at) - 1, k))
        ends.append(np.stack([at[:-1], at[1:]], axis=1))
    return np.concatenate(number), np.concatenate(ends)


def faces_of(cell: Cell) -> tuple[Array, Array]:
    """Return normals (f, dim) and constants (f,): inside of the cell n . xi + c >= 0."""
    rows: list[Array] = []
    constants: list[float] = []
    first = 0
    for d in cell.factors:
        last = np.zeros(cell.dimension)
        last[first : first + d] = -1.0
        rows += [*np.eye(cell.dimension)[first : first + d], last]
        constants += [0.0] * d + [1.0]
        first += d
    return np.array(rows), np.array(constants)


@dataclass
class FaceValues:
    """Both ends of parts in the reference cells: g (n, f) and dg/ds there."""

    xi: Array
    g: Array
    slope: Array


class Cutter:
    """The cells of a rank that cut curves.

    Parameters
    ----------
    cells : of the region, on this rank.
    curves : the same on every rank.
    """

    def __init__(self, cells: RegionCells, curves: Curves, comm: MPI.Comm) -> None:
        self.cells, self.curves = cells, curves
        self.normals, self.constants = faces_of(cells.cell)
        self.maps = CellMaps(cells, comm)

    def invert(self, row: Ints, X: Array) -> Array:
        """Return xi (n, 3) of places, also outside of their cells; NaN where there is none."""
        return self.maps.invert(row, X)

    # ---- which cells are near ---------------------------------------------------------------
    def _candidates(self) -> CurveParts:
        """Return parts with the cells that they may meet."""
        cells, curves = self.cells, self.curves
        number, s = straight_parts(curves, float(np.median(cells.radius))) if len(cells.X) else NONE
        low, middle, high = _three(curves, number, s)
        row, part = self.maps.meeting(low, high, _sag(low, middle, high), NEAR_FACE)
        return CurveParts(number[part], row, s[part])

    # ---- where curves enter and leave -------------------------------------------------------
    def intervals(self, tolerance: float, only: Ints | None = None) -> CurveParts:
        """Return the parts of curves that cells hold, each as long as it is one in its cell.

        `only` : numbers of the curves, default all.
        """
        pending = self._near
        if only is not None:
            pending = pending.of(np.isin(pending.curve, only))
        done: list[CurveParts] = [pending.of(np.zeros(0, dtype=np.int64))]
        for division in range(DIVISIONS + 1):
            if not len(pending.row):
                break
            kept, again = self._interval(pending, tolerance, division == DIVISIONS)
            done.append(kept)
            pending = self._filtered(again.halved())
        return _one_each(joined(done))

    @cached_property
    def _near(self) -> CurveParts:
        return self._candidates()

    def _filtered(self, parts: CurveParts) -> CurveParts:
        """Return those that may meet their cells."""
        low, middle, high = _three(self.curves, parts.curve, parts.s)
        return parts.of(self.maps.meet(parts.row, low, high, _sag(low, middle, high), NEAR_FACE))

    def _end(self, parts: CurveParts, k: int, tolerance: float) -> FaceValues:
        """Return where an end of parts is in the cells."""
        s = parts.s[:, k]
        X, tangents = self.curves.evaluate(parts.curve, s)
        xi = self.invert(parts.row, X)
        g = xi @ self.normals.T + self.constants + tolerance
        _, w = self.maps.moves(parts.row, np.nan_to_num(xi, nan=0.5), X, tangents)
        return FaceValues(xi, g, w @ self.normals.T)

    def _interval(
        self, parts: CurveParts, tolerance: float, last: bool
    ) -> tuple[CurveParts, CurveParts]:
        """Return the parts inside, and those that have to be halved to know."""
        a, b = (self._end(parts, k, tolerance) for k in (0, 1))
        h = (parts.s[:, 1] - parts.s[:, 0])[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            # where the tangents at both ends meet: beyond that g does not go
            between = (b.g - a.g - b.slope * h) / (a.slope - b.slope)
            turning = a.g + a.slope * between
        dips = (a.g > 0) & (b.g > 0) & (a.slope < 0) & (b.slope > 0) & (turning <= 0)
        rises = (a.g < 0) & (b.g < 0) & (a.slope > 0) & (b.slope < 0) & (turning >= 0)
        lost = np.isnan(a.g).any(axis=1) | np.isnan(b.g).any(axis=1)
        out = ((a.g < 0) & (b.g < 0) & ~rises).any(axis=1)
        unclear = lost | (~out & (dips | rises).any(axis=1))
        again = np.zeros(len(h), dtype=bool) if last else unclear
        known = ~again & ~lost & ~out & ~((a.g < 0) & (b.g < 0)).any(axis=1)
        rows = np.flatnonzero(known)
        inside = parts.of(rows)
        s = inside.s.copy()
        at, face = np.nonzero((a.g[rows] < 0) != (b.g[rows] < 0))
        enters = b.g[rows[at], face] >= 0
        root = self._roots(inside.of(at), face, a, b, rows[at], tolerance)
        np.maximum.at(s[:, 0], at[enters], root[enters])
        np.minimum.at(s[:, 1], at[~enters], root[~enters])
        held = s[:, 1] > s[:, 0]
        return CurveParts(inside.curve, inside.row, s).of(held), parts.of(again)

    def _roots(
        self,
        parts: CurveParts,
        face: Ints,
        a: FaceValues,
        b: FaceValues,
        rows: Ints,
        tolerance: float,
    ) -> Array:
        """Return the parameters (n,) at which curves go through faces between their ends."""
        ga, gb = a.g[rows, face], b.g[rows, face]
        share = ga / np.where(ga == gb, 1.0, ga - gb)
        low, high = parts.s.T.copy()
        s = low + share * (high - low)
        xi = a.xi[rows] + share[:, None] * (b.xi[rows] - a.xi[rows])
        normal, constant = self.normals[face], self.constants[face] + tolerance
        live = np.arange(len(s))
        for _ in range(12):
            if not len(live):
                return np.asarray(s)
            curve, n = parts.curve[live], normal[live]
            X, t = self.curves.evaluate(curve, s[live])
            u, w = self.maps.moves(parts.row[live], xi[live], X, t)
            g = np.einsum("nd,nd->n", n, xi[live] + u) + constant[live]
            with np.errstate(divide="ignore", invalid="ignore"):
                ds = -g / np.einsum("nd,nd->n", n, w)
            moved = np.clip(s[live] + ds, low[live], high[live])
            step = u + (moved - s[live])[:, None] * w
            size = np.maximum(np.abs(step).max(axis=1), np.abs(ds) / (high - low)[live])
            s[live], xi[live] = moved, xi[live] + step
            live = live[~(size <= DIGITS)]
        if len(live):
            s[live] = self._bisected(parts.of(live), face[live], ga[live], tolerance)
        return np.asarray(s)

    def _bisected(self, parts: CurveParts, face: Ints, ga: Array, tolerance: float) -> Array:
        """Return the same by halving, where Newton's method fails."""
        low, high = parts.s.T.copy()
        for _ in range(48):
            middle = 0.5 * (low + high)
            xi = self.invert(parts.row, self.curves.points(parts.curve, middle))
            g = np.einsum("nd,nd->n", self.normals[face], xi) + self.constants[face] + tolerance
            before = (g < 0) == (ga < 0)
            low, high = np.where(before, middle, low), np.where(before, high, middle)
        return np.asarray(0.5 * (low + high))


def _three(curves: Curves, number: Ints, s: Array) -> list[Array]:
    """Return the ends and the middles (n, 3) of parts of curves."""
    return [curves.points(number, at) for at in (s[:, 0], s.mean(axis=1), s[:, 1])]


def _sag(low: Array, middle: Array, high: Array) -> Array:
    """Return a bound (n,) of how far hardly turning parts are from the lines between their ends."""
    return np.asarray(2.0 * np.linalg.norm(middle - 0.5 * (low + high), axis=1))


def _one_each(parts: CurveParts) -> CurveParts:
    """Return parts of the same cell that follow each other as one."""
    order = np.lexsort((parts.s[:, 0], parts.row, parts.curve))
    parts = parts.of(order)
    same = (np.diff(parts.curve) == 0) & (np.diff(parts.row) == 0)
    same &= parts.s[1:, 0] <= parts.s[:-1, 1] + 1e-12
    first = np.flatnonzero(np.concatenate([[True], ~same])[: len(parts.row)])
    last = np.concatenate([first[1:] - 1, [len(parts.row) - 1]])[: len(first)]
    s = np.stack([parts.s[first, 0], parts.s[last, 1]], axis=1)
    return CurveParts(parts.curve[first], parts.row[first], s)


class Cover(NamedTuple):
    """Curves cut into pieces, each in one cell, in the order of curves and parameters.

    Attributes
    ----------
    curve, cell : (n,) numbers of the curves, ids of the cells.
    s : (n, 2) parameters of the ends.
    gaps : curves (k,) and parameters (k, 2) of what is in no cell.
    """

    curve: Ints
    cell: Ints
    s: Array
    gaps: tuple[Ints, Array]


def cover(count: int, curve: Ints, cell: Ints, s: Array, corners: Sequence[Array]) -> Cover:
    """Cut curves where cells begin and end; of several cells that of the lowest id has a piece.

    Parameters
    ----------
    count : of the curves.
    curve, cell, s : (n,), (n,), (n, 2) what cells hold.
    corners : of each curve, where a piece ends, too.
    """
    extra = [np.concatenate([[0.0, 1.0], at]) for at in corners]
    owner = np.repeat(np.arange(count), [len(at) for at in extra])
    ends = np.concatenate([s[:, 0], s[:, 1], *extra])
    of = np.concatenate([curve, curve, owner])
    order = np.lexsort((ends, of))
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    n = len(curve)
    first, last = place[:n], place[n : 2 * n]
    holds = last - first
    piece = np.repeat(first - (np.cumsum(holds) - holds), holds) + np.arange(int(holds.sum()))
    none = np.iinfo(np.int64).max
    held = np.full(len(order), none)
    np.minimum.at(held, piece, np.repeat(cell, holds))
    ends, of = ends[order], of[order]
    kept = np.flatnonzero((np.diff(of) == 0) & (np.diff(ends) > 0.0))
    low, high, of, held = ends[kept], ends[kept + 1], of[kept], held[kept]
    low, high, of, held = _without_slivers(low, high, of, held)
    corner = np.zeros(len(low), dtype=bool)
    for k, at in enumerate(corners):
        if len(at):
            corner |= (of == k) & np.isin(low, at)
    same = (np.diff(of) == 0) & (np.diff(held) == 0) & (low[1:] <= high[:-1]) & ~corner[1:]
    start = np.flatnonzero(np.concatenate([[True], ~same])[: len(low)])
    end = np.concatenate([start[1:] - 1, [len(low) - 1]])[: len(start)]
    s, of, held = np.stack([low[start], high[end]], axis=1), of[start], held[start]
    out = held == none
    return Cover(of[~out], held[~out], s[~out], (of[out], s[out]))


def _without_slivers(
    low: Array, high: Array, of: Ints, cell: Ints
) -> tuple[Array, Array, Ints, Ints]:
    """Give parts that are round-off beside their curve's others to the one before, or behind."""
    length = high - low
    count = np.bincount(of)
    short = length < 1e-7 / count[of]
    keep = np.flatnonzero(~short)
    low, high, of, cell = low[keep].copy(), high[keep].copy(), of[keep], cell[keep]
    if not len(low):
        return low, high, of, cell
    new = np.concatenate([[True], np.diff(of) != 0])
    end = np.concatenate([new[1:], [True]])
    high[~end] = low[1:][~end[:-1]]
    low[new & (low < 1e-6)] = 0.0
    high[end & (high > 1.0 - 1e-6)] = 1.0
    return low, high, of, cell
