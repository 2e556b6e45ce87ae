# SPDX-License-Identifier: BSD-3-Clause
"""Structured blocks that are bent, joined where they meet and mirrored; rank 0 makes them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from symancf import Mesh, MeshError

from ..interface import CELLS, MEMORY, Array, Cell, Ints

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

# points (n, 3), cell type -> cells (k, nv), region -> cell type -> cells or their numbers
Arrays = tuple[Array, dict[str, Ints], dict[str, dict[str, Ints]]]

MERGE_DISTANCE = 1e-3  # of the shortest edge: points of two blocks that are one


@dataclass(frozen=True)
class MeshBlock:
    """A box of cells of side 1, bent.

    Attributes
    ----------
    divisions : (d,) cubes along its axes.
    place : maps places (n, d) of the unit box to points (n, 3) [m]. Where blocks meet they have the
        same points, axes there run in the same sense, and (d = 3) all are right-handed.
    sides : side of the box, ``"x0"`` to ``"z1"`` -> region.
    """

    divisions: tuple[int, ...]
    place: Callable[[Array], Array]
    sides: Mapping[str, str]


@dataclass
class _Joined:
    """Points, cells, and the cells of the sides in each region, by type."""

    points: Array
    cells: Ints
    sides: dict[str, dict[str, Ints]] = field(default_factory=dict)

    def renumbered(self, new: Ints) -> _Joined:
        """Return the same with other point numbers; `new` (n,) may unite points."""
        _, first = np.unique(new, return_index=True)
        sides = {
            r: {k: new[rows] for k, rows in rows_by_type.items()}
            for r, rows_by_type in self.sides.items()
        }
        return _Joined(self.points[first], new[self.cells], sides)

    def on(self, region: str) -> Ints:
        """Return the points of a region."""
        sides = [s.ravel() for s in self.sides.get(region, {}).values()]
        found: Ints = np.unique(np.concatenate([np.zeros(0, np.int64), *sides]))
        return found

    def with_image(self, axis: int, kind: str) -> _Joined:
        """Return it with its image in the plane across an axis, whose cells are turned over."""
        plane, n = f"{'xyz'[axis]}0", len(self.points)
        apart = np.ones(n, bool)
        apart[self.on(plane)] = False
        image = np.arange(n)
        image[apart] = n + np.arange(int(apart.sum()))
        mirror = np.ones(3)
        mirror[axis] = -1.0

        def both(kind: str, rows: Ints) -> Ints:
            return np.concatenate([rows, image[rows][:, _turned_over(CELLS[kind])]])

        return _Joined(
            np.concatenate([self.points, mirror * self.points[apart] + 0.0]),
            both(kind, self.cells),
            {
                region: {k: both(k, rows) for k, rows in rows_by_type.items()}
                for region, rows_by_type in self.sides.items()
                if region != plane
            },
        )


def _turned_over(cell: Cell) -> Ints:
    """Return the order of the nodes of a cell whose first two axes are exchanged; of a line turned.

    Its image in a mirror then has the sense of the cell.
    """
    if cell.dimension < 2:
        nodes = [tuple(1 - x for x in node) for node in cell.nodes]
    else:
        nodes = [(node[1], node[0], *node[2:]) for node in cell.nodes]
    return np.array([cell.nodes.index(node) for node in nodes])


def assemble(blocks: Sequence[MeshBlock], kind: Cell, images: Sequence[str]) -> Arrays:
    """Join blocks to a mesh and add its images in the planes across some axes.

    Regions "body" and those of the sides; "x0", "y0", "z0" lie in the planes of the coordinates.

    Raises
    ------
    MeshError : more cells than fit into this machine.
    """
    many = sum(float(np.prod(b.divisions)) for b in blocks) * 2 ** len(images)
    cube = _box((1,) * kind.dimension, kind)["body"]
    need = many * cube.size * (len(kind.nodes) + 12) * 16
    if need > MEMORY:
        raise MeshError(
            f"a mesh of {many:.3g} cubes, in cells of type {kind.name!r}, needs "
            f"{need / 2**30:.3g} GiB on rank 0, this machine has {MEMORY / 2**30:.3g} GiB",
            asked="memory",
            given=need,
            possible=(MEMORY,),
        )
    joined = _united(_side_by_side(blocks, kind), kind)
    for k, plane in enumerate(("x0", "y0", "z0")):
        joined.points[joined.on(plane), k] = 0.0
    for axis in images:
        joined = joined.with_image("xyz".index(axis), kind.name)
    body = {kind.name: np.arange(len(joined.cells))}
    return joined.points, {kind.name: joined.cells}, {"body": body, **joined.sides}


def _box(divisions: tuple[int, ...], kind: Cell) -> Mesh:
    """Return a box of side 1 on this rank alone."""
    return Mesh.box((1.0,) * len(divisions), divisions, cell=kind.name, comm=MPI.COMM_SELF)


def _side_by_side(blocks: Sequence[MeshBlock], kind: Cell) -> _Joined:
    """Return the blocks with points of their own each."""
    points, cells, first = [], [], 0
    sides: dict[str, dict[str, Ints]] = {}
    for block in blocks:
        box = _box(block.divisions, kind)
        points.append(block.place(box.points[:, : len(block.divisions)]))
        cells.append(box.cells[kind.name].connectivity + first)
        for side, region in block.sides.items():
            rows_by_type = sides.setdefault(region, {})
            for k in box[side].types:
                rows = box[side].slice(k)[1] + first
                rows_by_type[k] = np.concatenate([rows_by_type.get(k, rows[:0]), rows])
        first += len(box.points)
    return _Joined(np.concatenate(points), np.concatenate(cells), sides)


def _united(apart: _Joined, kind: Cell) -> _Joined:
    """Return blocks with one point for those that coincide."""
    from scipy.spatial import cKDTree  # half a second to import

    x = apart.points[apart.cells[:, np.array(kind.links)]]
    reach = MERGE_DISTANCE * float(np.linalg.norm(x[:, :, 0] - x[:, :, 1], axis=2).min())
    pairs = cKDTree(apart.points).query_pairs(reach, output_type="ndarray")
    least = np.arange(len(apart.points))
    np.minimum.at(least, pairs[:, 1], pairs[:, 0])
    return apart.renumbered(np.unique(least, return_inverse=True)[1].ravel())
