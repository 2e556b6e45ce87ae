# SPDX-License-Identifier: BSD-3-Clause
"""The surface on which a function of the place is zero, as triangles."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import TypeAlias

import numpy as np

from ..arrays import Array, Ints, Mask

Function: TypeAlias = Callable[[Array], Array]

COARSE, PARTS = 24, 40  # cells of the lattice along the longest side: to look around, to draw
CLOSED_SURFACE_RATIO = 4.0  # times the box: closed surfaces up to there are drawn whole
MERGED_DISTANCE = 0.15  # of an edge: places that are nearer to its end are one with others there
HALVED = 48  # times: then places are those of the zero to round-off


def zero_level(function: Function, low: Array, high: Array) -> tuple[Array, Ints]:
    """Return points (n, 3) and triangles (m, 3) where a function is zero, outside to the front.

    What is closed and near the box, or near the origin, is there as a whole; else what is in the
    box, or, where nothing is, around it.

    Parameters
    ----------
    function : of places (k, 3) -> (k,), negative inside. Where it is no number there is nothing.
    low, high : corners of a box, (3,).
    """
    half = 0.5 * CLOSED_SURFACE_RATIO * float((high - low).max())
    middles = 0.5 * (low + high), np.zeros(3)
    boxes = [(middle - half, middle + half) for middle in middles]
    boxes += [(np.minimum(*middles) - half, np.maximum(*middles) + half)]
    crossed = []
    for box in boxes:
        wide = _Lattice(function, *box, COARSE)
        if wide.crossed.any():
            if not wide.leaves:
                return _Lattice(function, *wide.bounds(), PARTS).surface()
            crossed.append(box)
    lattice = _Lattice(function, low, high, PARTS)
    if crossed and not lattice.crossed.any():
        lattice = _Lattice(function, *crossed[0], PARTS)
    return lattice.surface()


class _Lattice:
    """Values of a function on a lattice in a box, and what of its zero level is there."""

    def __init__(self, function: Function, low: Array, high: Array, parts: int) -> None:
        self.function = function
        size = float((high - low).max()) / parts
        counts = np.maximum(1, np.ceil((high - low) / size - 1e-9).astype(int))
        axes = [np.linspace(low[k], high[k], counts[k] + 1) for k in range(3)]
        grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
        self.points: Array = grid.reshape(-1, 3)
        self.shape = grid.shape[:3]
        self.values: Array = function(self.points)
        number = np.arange(len(self.points)).reshape(self.shape)
        a, b = slice(None, -1), slice(1, None)
        self.corners: Ints = np.stack(
            [number[i, j, k].ravel() for i in (a, b) for j in (a, b) for k in (a, b)], axis=1
        )
        f = self.values[self.corners]
        self.crossed: Mask = (f.min(axis=1) < 0.0) & (f.max(axis=1) >= 0.0)  # false with NaN

    @property
    def leaves(self) -> bool:
        """Whether the level goes on beyond the box."""
        inside = (self.values < 0.0).reshape(self.shape)
        ends = np.concatenate([inside.take((0, -1), axis=k).ravel() for k in range(3)])
        return bool(ends.any()) and not bool(ends.all())

    def bounds(self) -> tuple[Array, Array]:
        """Return the box of the cells that the level crosses."""
        x = self.points[self.corners[self.crossed]].reshape(-1, 3)
        return x.min(axis=0), x.max(axis=0)

    def surface(self) -> tuple[Array, Ints]:
        """Return points and triangles: each cell is six tetrahedra along one diagonal."""
        chosen = self.corners[self.crossed]
        triangles = [np.zeros((0, 3, 2), dtype=np.int64)]
        for order in permutations((1, 2, 4)):
            way = np.cumsum((0, *order))  # corners of a tetrahedron: 0, one axis, two, all
            triangles += self._cut(chosen[:, way])
        edges = np.concatenate(triangles).reshape(-1, 2)
        ends, number = np.unique(edges, axis=0, return_inverse=True)
        places = self._zeros(ends)
        one = self._joined(ends, places)[number.reshape(-1, 3)]
        unique, place = np.unique(one, return_inverse=True)
        cells = place.reshape(-1, 3)
        cells = cells[(cells != np.roll(cells, 1, axis=1)).all(axis=1)]
        _, same, times = np.unique(
            np.sort(cells, axis=1), axis=0, return_inverse=True, return_counts=True
        )
        folded = times[same.ravel()] > 1  # front to front
        return places[unique], np.asarray(cells[~folded], np.int64)

    def _joined(self, ends: Ints, places: Array) -> Ints:
        """Return for each place the first of those that are near the same point of the lattice."""
        a, b = self.points[ends[:, 0]], self.points[ends[:, 1]]
        part = np.linalg.norm(places - a, axis=1) / np.linalg.norm(b - a, axis=1)
        near = np.where(
            part < MERGED_DISTANCE,
            ends[:, 0],
            np.where(part > 1.0 - MERGED_DISTANCE, ends[:, 1], -1),
        )
        own = np.arange(len(ends))
        first = np.full(len(self.points), len(ends))
        np.minimum.at(first, near[near >= 0], own[near >= 0])
        return np.where(near >= 0, first[near], own)

    def _cut(self, tetrahedra: Ints) -> list[Ints]:
        """Return triangles (n, 3, 2) of edges from inside to outside, of tetrahedra (k, 4)."""
        inside = self.values[tetrahedra] < 0.0
        order = np.argsort(~inside, axis=1, kind="stable")
        sorted_, count = np.take_along_axis(tetrahedra, order, axis=1), inside.sum(axis=1)
        triangles = []
        for number, parts in CUTS.items():
            corners = sorted_[count == number]
            for part in parts:
                triangles.append(self._outwards(corners[:, np.array(part)]))
        return triangles

    def _outwards(self, triangles: Ints) -> Ints:
        """Turn triangles (n, 3, 2) so that their normals point from inside to outside."""
        x = self.points[triangles]
        middle, way = x.mean(axis=2), (x[:, :, 1] - x[:, :, 0]).sum(axis=1)
        normal = np.cross(middle[:, 1] - middle[:, 0], middle[:, 2] - middle[:, 0])
        back = np.einsum("na,na->n", normal, way) < 0.0
        return np.where(back[:, None, None], triangles[:, ::-1], triangles)

    def _zeros(self, ends: Ints) -> Array:
        """Return the places on edges (n, 2), from inside to outside, where the function is zero."""
        a, b = self.points[ends[:, 0]], self.points[ends[:, 1]]
        for _ in range(HALVED):
            middle = 0.5 * (a + b)
            inside = (self.function(middle) < 0.0)[:, None]
            a, b = np.where(inside, middle, a), np.where(inside, b, middle)
        return np.asarray(0.5 * (a + b))


# by the number of corners inside, which come first: triangles of edges from inside to outside
CUTS = {
    1: [((0, 1), (0, 2), (0, 3))],
    2: [((0, 2), (0, 3), (1, 3)), ((0, 2), (1, 3), (1, 2))],
    3: [((0, 3), (1, 3), (2, 3))],
}
