# SPDX-License-Identifier: BSD-3-Clause
"""Lines in a solid that cells cut: ``solid.along(path)``."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..arrays import Array, Ints, Ints32, Mask
from ..assembly.resolved import JetRows, Resolved
from ..errors import ConstraintError, ParameterError
from ..runtime.collective import block_starts, sorted_blocks, together
from ..values.arguments import LENGTHS, flag
from .crossings import NEAR_FACE, ON_FACE, Cover, CurveParts, Cutter, cover, joined
from .facets import gauss
from .locate import cells_of, locate
from .on_body import PointsOnBody
from .paths import Curves, curves_of

if TYPE_CHECKING:
    from ..assembly.configuration import Configuration, Layout
    from .interpolation import Interpolated

BENT = 0.6  # [rad] that a piece turns at most, or the logarithm of the speed |dX/ds| changes
MAX_PARTS = 1000  # of a piece
DENSE = 2 / 3  # of the unknowns of the cells crossed: equations for more leave the solid rigid
SHORT = 0.1  # of the mean of a path: crossings that share an equation with their neighbour


class Pieces(NamedTuple):
    """Paths cut into pieces, each in one cell; the same on every rank.

    Attributes
    ----------
    curve, cell, s : (n,), (n,), (n, 2) numbers of paths, ids of cells, parameters of the ends.
    length, start : (n,) of the reference, and that of the path before [m].
    crossing : (n,) numbers of the cells crossed, short crossings as one with a neighbour.
    """

    curve: Ints
    cell: Ints
    s: Array
    length: Array
    start: Array
    crossing: Ints


class Cut:
    """Paths through a solid, cut at the faces of its cells; found once (collective).

    Attributes
    ----------
    body : the solid.
    """

    def __init__(self, body: Interpolated, path: Any, clip: bool) -> None:
        self.body, self.who = body, f"a path along {body.name!r}"
        self.clip = flag("along", "clip", clip)
        cell = body.element.topology
        if cell.dimension != 3:
            raise ConstraintError(
                f"{self.who}: {body.element.name} is no solid; paths lead through the cells of "
                "solids",
                asked="body",
                given=body.element.name,
            )
        self.second = len(cell.nodes) > cell.corners
        self.curves = Curves(curves_of(self.who, path))

    @cached_property
    def cutter(self) -> Cutter:
        """The cells of this rank (collective on first use)."""
        return Cutter(cells_of(self.body.region), self.curves, self.body.region.mesh.comm)

    @cached_property
    def pieces(self) -> Pieces:
        """The pieces of all paths (collective on first use).

        Raises
        ------
        ConstraintError : a path leaves the body.
        ParameterError : a path is another one on another rank, or has no length.
        """
        comm, cutter, region = self.body.region.mesh.comm, self.cutter, self.body.region
        self._require_alike()
        with together(comm):
            own = cutter.intervals(ON_FACE)
        found = self._covered(own)
        if len(found.gaps[0]) and not self.clip:
            with together(comm):
                near = cutter.intervals(NEAR_FACE, np.unique(found.gaps[0]))
            found = self._covered(joined([own, _within(near, *found.gaps)]))
        if len(found.gaps[0]) and not self.clip:
            number, s = (values[0] for values in found.gaps)
            at = np.linspace(s[0], s[1], 17)
            X = self.curves.points(np.full(17, number), at)
            off = locate(region, X).distance
            k = int(np.argmax(off > 1e-3 * off.max()))
            which = f" {number}" if len(self.curves.curves) > 1 else ""
            raise ConstraintError(
                f"{self.who}: path{which} leaves the body before s = {at[k]:.4g}, ({X[k, 0]:g}, "
                f"{X[k, 1]:g}, {X[k, 2]:g}), and is up to {off.max():.3g} away from it; "
                "clip=True takes only what is inside",
                asked="path",
                given=X[k],
            )
        if not len(found.curve):
            raise ConstraintError(f"{self.who}: no path meets the body", asked="path")
        return self._measured(found)

    def _require_alike(self) -> None:
        """Raise where a path is another one on another rank (collective)."""
        comm, count = self.body.region.mesh.comm, len(self.curves.curves)
        number, s = np.repeat(np.arange(count), 5), np.tile(np.linspace(0.0, 1.0, 5), count)
        with together(comm):
            X = self.curves.points(number, s)
            if not (np.abs(X) <= LENGTHS[1]).all():
                raise ParameterError(
                    f"{self.who}: it leads farther than {LENGTHS[1]:g} away: lengths of models "
                    "are at most that",
                    asked="path",
                )
        first: Array = comm.bcast(X)
        with together(comm):
            if X.shape != first.shape or (np.abs(X - first) > 1e-9 * self.body.extent).any():
                raise ParameterError(
                    f"{self.who}: it is another one on another rank: it must be the same on every "
                    "rank",
                    asked="path",
                )

    def _covered(self, own: CurveParts) -> Cover:
        """Return the pieces of all paths by what the ranks' cells hold (collective)."""
        comm, ids = self.body.region.mesh.comm, self.cutter.cells.ids
        curves = self.curves.curves
        mine = own.curve, ids[own.row], own.s
        every = comm.allgather(mine) if comm.size > 1 else [mine]
        curve, cell, s = (np.concatenate(part) for part in zip(*every, strict=True))
        return cover(len(curves), curve, cell, s, [c.corners for c in curves])

    def _lengths(self, curve: Ints, s: Array) -> tuple[Array, Array]:
        """Return lengths (n,) of pieces, and in how many parts they have to be integrated."""
        x, w = gauss(4)
        number, at, weight = self._points(curve, s, x, w)
        t = self.curves.tangents(number, at)
        speed = np.linalg.norm(t, axis=1)
        if not (speed > 0.0).all():
            k = int(np.argmin(speed))
            raise ParameterError(
                f"{self.who}: path {number[k]} stands still at s = {at[k]:.4g}: its tangent is 0",
                asked="path",
                given=float(at[k]),
            )
        length = (weight * speed).reshape(-1, len(x)).sum(axis=1)
        t = (t / speed[:, None]).reshape(-1, len(x), 3)
        turned = np.linalg.norm(np.diff(t, axis=1), axis=2).sum(axis=1)
        faster = np.abs(np.diff(np.log(speed).reshape(-1, len(x)), axis=1)).sum(axis=1)
        return length, np.ceil(np.maximum(turned, faster) / (BENT * (x[-1] - x[0])))

    def _measured(self, pieces: Cover) -> Pieces:
        """Return pieces with their lengths and crossings, cut again where they are bent."""
        length, parts = self._lengths(pieces.curve, pieces.s)
        if (parts > 1).any():
            count = np.clip(parts, 1, MAX_PARTS).astype(np.int64)
            of = np.repeat(np.arange(len(count)), count)
            k = np.arange(len(of)) - np.repeat(np.cumsum(count) - count, count)
            h = ((pieces.s[:, 1] - pieces.s[:, 0]) / count)[of]
            low = pieces.s[of, 0] + k * h
            high = np.where(k + 1 == count[of], pieces.s[of, 1], pieces.s[of, 0] + (k + 1) * h)
            s = np.stack([low, high], axis=1)
            pieces = Cover(pieces.curve[of], pieces.cell[of], s, pieces.gaps)
            length, _ = self._lengths(pieces.curve, pieces.s)
        total = np.cumsum(length) - length
        first = np.concatenate([[0], np.flatnonzero(np.diff(pieces.curve)) + 1])
        begin = np.repeat(total[first], np.diff([*first, len(total)]))
        follows = np.concatenate([[False], _follows(pieces)])
        same = np.concatenate([[False], np.diff(pieces.cell) == 0]) & follows
        crossing = _merged(np.cumsum(~same) - 1, pieces.curve, follows, length)
        return Pieces(pieces.curve, pieces.cell, pieces.s, length, total - begin, crossing)

    @staticmethod
    def _points(curve: Ints, s: Array, x: Array, w: Array) -> tuple[Ints, Array, Array]:
        """Return paths, parameters and weights of Gauss points of pieces."""
        h = s[:, 1] - s[:, 0]
        at = (s[:, :1] + h[:, None] * x).ravel()
        return np.repeat(curve, len(x)), at, (h[:, None] * w).ravel()

    def places(self, count: int) -> tuple[Ints, Array, Array]:
        """Return of all Gauss points paths, lengths from their starts [m], and X (collective)."""
        pieces = self.pieces
        x, w = gauss(count)
        length = pieces.start[:, None] + pieces.length[:, None] * x
        number, s, _ = self._points(pieces.curve, pieces.s, x, w)
        return number, length.ravel(), self.curves.points(number, s)

    def resolved(self, count: int, group: Ints | None, base: int) -> Resolved:
        """Return this rank's share of Gauss points, `count` on each piece (collective).

        `group` : of pieces; `base` : first id of the mesh's points.
        """
        pieces, cells = self.pieces, self.cutter.cells
        comm, total = self.body.region.mesh.comm, count * len(pieces.curve)
        with together(comm):
            order = np.argsort(cells.ids)
            at = np.searchsorted(cells.ids[order], pieces.cell)
            at = np.minimum(at, max(0, len(order) - 1))
            mine = np.flatnonzero(cells.ids[order][at] == pieces.cell) if len(order) else at[:0]
            row = np.repeat(order[at[mine]] if len(order) else mine, count)
            x, w = gauss(count)
            number, s, weight = self._points(pieces.curve[mine], pieces.s[mine], x, w)
            X, tangent = self.curves.evaluate(number, s)
            speed = np.linalg.norm(tangent, axis=1)
            within = np.concatenate([self.cutter.invert(row, X), tangent / speed[:, None]], axis=1)
        ids = (count * mine[:, None] + np.arange(count)).ravel()
        starts = block_starts(total, comm.size)
        vertices = cells.connectivity[row] + base
        ids, arrays = sorted_blocks(comm, starts, ids, X, vertices, within, weight * speed)
        X, vertices, within, weight = arrays
        of = None if group is None else group[ids // count]
        return Resolved(X, vertices, within, weight, of, starts=starts)


def _follows(pieces: Cover | Pieces) -> Mask:
    """Tell which pieces (n - 1,) begin where the one before ends."""
    return np.asarray((np.diff(pieces.curve) == 0) & (pieces.s[1:, 0] <= pieces.s[:-1, 1]))


def _within(parts: CurveParts, curve: Ints, s: Array) -> CurveParts:
    """Return what parts have in common with gaps of curves (k,) at parameters (k, 2)."""
    first, last = (np.searchsorted(curve, parts.curve, side=side) for side in ("left", "right"))
    count = last - first
    of = np.repeat(np.arange(len(count)), count)
    gap = np.repeat(first - (np.cumsum(count) - count), count) + np.arange(int(count.sum()))
    low = np.maximum(parts.s[of, 0], s[gap, 0])
    high = np.minimum(parts.s[of, 1], s[gap, 1])
    common = CurveParts(parts.curve[of], parts.row[of], np.stack([low, high], axis=1))
    return common.of(high > low)


def _merged(crossing: Ints, curve: Ints, follows: Mask, length: Array) -> Ints:
    """Return crossings of which those shorter than `SHORT` of their path's mean have joined others.

    `crossing`, `curve`, `follows`, `length` : (n,) of pieces.
    """
    while True:
        first = np.flatnonzero(np.concatenate([[True], np.diff(crossing) > 0]))
        size, of = np.bincount(crossing, length), curve[first]
        mean = np.bincount(of, size) / np.maximum(np.bincount(of), 1)
        before = follows[first]
        behind = np.concatenate([before[1:], [False]])
        short = np.flatnonzero((size < SHORT * mean[of]) & (before | behind))
        if not len(short):
            return crossing
        short = short[np.concatenate([[True], np.diff(short) > 1])] if len(short) > 1 else short
        joins = np.where(before[short], short, short + 1)  # the one that ceases to begin anew
        begins = np.ones(len(first), dtype=bool)
        begins[joins] = False
        crossing = (np.cumsum(begins) - 1)[crossing]


class Along(PointsOnBody):
    """Gauss points of paths through a solid, piece by piece between the faces of its cells.

    What acts on them is integrated over the length of the reference. They offer the position
    ``r``, its derivative ``rs`` by that length, and ``X``; they stay in the material.

    Parameters
    ----------
    cut : the paths.
    per : how the equations of a constraint are summed: over each cell crossed, each path, or None.
    points : of Gauss on each piece, default one more than the order of the cells.
    """

    weighs = line = True

    def __init__(
        self, cut: Cut, per: str | None = None, points: int | None = None, who: str = ""
    ) -> None:
        self.cut, self.body, self.per, self.who = cut, cut.body, per, who
        self.count = points or (3 if cut.second else 2)
        self.frame = self.source = None

    def grouped(self, who: str, per: str) -> Along:
        """Return the same with other groups of points, for the equations of `who`."""
        return Along(self.cut, per, self.count, who)

    def _find(self, layout: Layout) -> Resolved:
        """Find the points (collective)."""
        layout.require_member(self.body, str(self))
        pieces = self.cut.pieces
        if self.per == "cell":
            self._require_few(pieces)
        group = {"cell": pieces.crossing, "line": _numbered(pieces.curve), None: None}[self.per]
        return self.cut.resolved(self.count, group, layout.base(self.body.region.mesh))

    def _require_few(self, pieces: Pieces) -> None:
        """Raise where paths give the cells that they cross too many equations (collective).

        Raises
        ------
        ConstraintError
        """
        comm, cells = self.body.region.mesh.comm, self.cut.cutter.cells
        own = np.unique(cells.connectivity[np.isin(cells.ids, pieces.cell)])
        unknowns = 3 * len(np.unique(np.concatenate(comm.allgather(own))))
        equations = int(pieces.crossing.max()) + 1
        if equations > DENSE * unknowns:
            raise ConstraintError(
                f"{self.who}: {self} cross cells {equations} times, in which there are {unknowns} "
                f"unknowns: with an equation for each crossing, more than {DENSE:.2g} of that, "
                "the solid could hardly move; take fewer paths, per='line', smaller cells, or "
                "an sa.Thread with a stiffness",
                asked="path",
                given=equations,
                possible=(int(DENSE * unknowns),),
            )

    def rows(
        self, configuration: Configuration, places: Resolved, vertices: Ints32, jet: str
    ) -> JetRows:
        """Return a jet as combinations of local coordinates; see `End.rows`."""
        tangent, places = places.within[:, 3:], places._replace(within=places.within[:, :3])
        if jet == "line":
            return self._derivative(configuration, places, vertices, tangent)
        return super().rows(configuration, places, vertices, jet)

    def measure(self, configuration: Configuration, places: Resolved, vertices: Ints32) -> Array:
        """Return the length of the reference that each place stands for."""
        return places.weight

    def __str__(self) -> str:
        count = len(self.cut.curves.curves)
        return f"{'a path' if count == 1 else f'{count} paths'} along {self.body.name!r}"


def _numbered(values: Ints) -> Ints:
    """Return ascending numbers without the gaps between them."""
    return np.unique(values, return_inverse=True)[1]
