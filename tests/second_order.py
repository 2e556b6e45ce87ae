# SPDX-License-Identifier: BSD-3-Clause
"""Boxes of cells with nodes on their edges, made from boxes of hexahedra."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

import symancf as sa
from symancf.elements import CELLS

if TYPE_CHECKING:
    from symancf.arrays import Array, Ints

ELEMENTS = {"hexahedron20": sa.elements.hex20, "tetra10": sa.elements.tet10}


def _corners(divisions: tuple[int, int, int], kind: str) -> tuple[Array, Ints]:
    """Return the corners in [0, 1]^3 and the cells of first order."""
    n = np.array(divisions)
    grid = np.stack(np.meshgrid(*(np.arange(k + 1) for k in n), indexing="ij"), axis=-1)
    number = np.arange(len(grid.reshape(-1, 3))).reshape(n + 1)
    first = grid[:-1, :-1, :-1].reshape(-1, 3)

    def at(corner: Array) -> Ints:
        return np.asarray(number[tuple((first + corner.astype(int)).T)])

    if CELLS[kind].factors == (1, 1, 1):
        cells = np.stack([at(c) for c in CELLS["hexahedron"].unit], axis=1)
    else:  # the six paths along edges from one corner of a cube to the opposite one
        paths = []
        for a, b, _ in permutations(range(3)):
            one = np.eye(3)[a]
            ends = [at(c) for c in (np.zeros(3), one, one + np.eye(3)[b], np.ones(3))]
            even = (b - a) % 3 == 1
            paths.append(np.stack(ends if even else [ends[k] for k in (0, 2, 1, 3)], axis=1))
        cells = np.concatenate(paths)
    return grid.reshape(-1, 3) / n, cells


def arrays(
    kind: str, divisions: tuple[int, int, int], warp: Callable[[Array], Array] | None = None
) -> tuple[Array, Ints, dict[str, Ints]]:
    """Return points, cells and the facets of the sides x0, x1, ... of a unit box.

    `warp` moves all points, those on edges, too.
    """
    points, corners = _corners(divisions, kind)
    cell = CELLS[kind]
    cells = corners
    if len(cell.nodes) > cell.corners:
        ends = np.sort(corners[:, np.array(cell.edges)], axis=2)
        edges, place = np.unique(ends.reshape(-1, 2), axis=0, return_inverse=True)
        between = len(points) + place.reshape(len(corners), len(cell.edges))
        cells = np.concatenate([corners, between], axis=1)
        points = np.concatenate([points, points[edges].mean(axis=1)])
    (trace,) = cell.traces
    sides = cell.sides(trace)
    faces = cells[:, sides].reshape(-1, sides.shape[1])
    regions = {
        f"{'xyz'[d]}{e}": faces[(np.abs(points[faces][..., d] - e) < 1e-12).all(axis=1)]
        for d in range(3)
        for e in (0, 1)
    }
    return points if warp is None else warp(points), cells, regions


def box(
    kind: str, divisions: tuple[int, int, int], warp: Callable[[Array], Array] | None = None
) -> sa.Mesh:
    """Return the mesh of `arrays`; regions "body", and "x0", "x1", ... of facets (collective)."""
    points, cells, sides = arrays(kind, divisions, warp)
    (trace,) = CELLS[kind].traces
    regions = {name: (trace, facets) for name, facets in sides.items()}
    return sa.Mesh.from_arrays(
        points, {kind: cells}, {"body": (kind, np.arange(len(cells))), **regions}, name="box"
    )
