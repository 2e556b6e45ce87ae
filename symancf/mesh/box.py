# SPDX-License-Identifier: BSD-3-Clause
"""Structured lines, rectangles and boxes; any rank makes any slice without the rest."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations, product
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..arrays import Array, Ints
from ..cells.table import CELLS, Cell
from ..errors import MeshError
from ..runtime.collective import block_starts
from ..values.arguments import LENGTHS, among
from ..values.parameter import label
from .slices import CellSlice, Members, Slices

if TYPE_CHECKING:
    from mpi4py import MPI


MEMORY = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")  # bytes of this machine

_CELL = {1: "line", 2: "quad", 3: "hexahedron"}


@dataclass(frozen=True)
class BoxMesh:
    """A box of `divisions` cubes in 1, 2 or 3 directions, each one cell or cut into some.

    Corners of cubes count first, x before y, then points in the middle of edges along x, and so
    on. Its sides are cells too, ordered x0, x1, y0, y1, z0, z1, with normals that point outwards.
    Places are whole numbers of half cubes.
    """

    lengths: tuple[float, ...]
    divisions: tuple[int, ...]
    kind: Cell

    @classmethod
    def of(
        cls, lengths: npt.ArrayLike, divisions: npt.ArrayLike, ranks: int, kind: str | None = None
    ) -> BoxMesh:
        """Make a box of what a user gave.

        Raises
        ------
        MeshError : lengths are not positive, divisions are not integers, or so
            many that the share of a rank does not fit into this machine.
        """
        text = f"given lengths {label(lengths)} and divisions {label(divisions)}"
        try:
            size, count = np.asarray(lengths), np.asarray(divisions)
            fits = size.dtype.kind in "iuf" and count.dtype.kind in "iuf"
            fits = fits and size.shape == count.shape and size.shape in ((1,), (2,), (3,))
        except ValueError:  # lists of different lengths
            fits = False
        low, high = LENGTHS
        if not fits or not ((size > low) & (size < high)).all():
            raise MeshError(f"Mesh.box needs 1 to 3 positive lengths and as many divisions; {text}")
        if not ((count >= 1) & (count < 2**62) & (count == np.rint(count))).all():
            raise MeshError(f"Mesh.box needs whole divisions of at least 1; {text}")
        box = cls(
            tuple(size.astype(float).tolist()),
            tuple(int(n) for n in count),
            CELLS[_CELL[len(size)]] if kind is None else _row(kind, len(size)),
        )
        cells = int(np.prod([float(n) for n in box.divisions])) * len(box.parts)
        need = cells * 8 * (len(box.kind.nodes) + 3) // ranks
        if need > MEMORY:
            raise MeshError(
                f"Mesh.box of {cells:.3g} cells needs {need / 2**30:.3g} GiB on each of {ranks} "
                f"ranks, this machine has {MEMORY / 2**30:.3g} GiB; {text}"
            )
        return box

    @property
    def dim(self) -> int:
        """Number of directions."""
        return len(self.divisions)

    @cached_property
    def side_kinds(self) -> tuple[str, ...]:
        """Type of the cells of its sides along each direction."""
        if self.dim == 1:
            return ("vertex",)
        return tuple(
            next(kind for kind in self.kind.traces if self._sides(kind, d, 0))
            for d in range(self.dim)
        )

    @cached_property
    def parts(self) -> list[Ints]:
        """The cells of one cube of side 2: places (nv, dim) of their nodes.

        Each factor's simplices go along edges of the cube, in one order of its axes, from one
        corner to the opposite.
        """
        places = []
        for orders in product(*(permutations(range(d)) for d in self.kind.factors)):
            path, first = np.zeros((self.dim,) * 2, np.int64), 0
            for axes in orders:
                d = len(axes)
                own = np.tril(np.ones((d, d), np.int64)) @ np.eye(d, dtype=np.int64)[list(axes)]
                if np.linalg.det(own) < 0:  # right-handed
                    own[[d - 2, d - 1]] = own[[d - 1, d - 2]]
                path[first : first + d, first : first + d] = own
                first += d
            places.append(np.rint(2.0 * self.kind.unit @ path).astype(np.int64))
        return places

    def _sides(self, kind: str, d: int, end: int) -> list[Ints]:
        """Return the sides of a type of the cells of one cube that lie on one of its own."""
        sides = self.kind.sides(kind)
        return [p[f] for p in self.parts for f in sides if (p[f, d] == 2 * end).all()]

    def facets(self, d: int, end: int) -> list[Ints]:
        """Return the facets of one cube on a side: places (nv, dim) of their nodes."""
        trace = CELLS[self.side_kinds[d]]
        if max(self.kind.factors) > 1:
            return self._sides(trace.name, d, end)
        # The other directions in cyclic order make (e1, e2, e_d) right-handed: side 1 outwards.
        around = [(d + k) % self.dim for k in range(1, self.dim)]
        place = np.full((len(trace.nodes), self.dim), 2 * end)
        place[:, around] = np.rint(2.0 * trace.unit)
        outwards = end == 1 if self.dim == 3 else (d == 0) == (end == 1)
        if not outwards and around:
            place[:, around[-1]] = 2 - place[:, around[-1]]
        return [place]

    @cached_property
    def blocks(self) -> dict[tuple[int, ...], tuple[Ints, int]]:
        """Points by which of their places are odd: how many (dim,) along the axes, first number."""
        odd = {tuple(row) for row in (np.concatenate(self.parts) % 2).tolist()}
        blocks, first = {}, 0
        for row in sorted(odd, key=lambda row: (sum(row), row[::-1])):
            count = np.array(self.divisions) + 1 - np.array(row)
            blocks[row] = count, first
            first += int(np.prod(count))
        return blocks

    @property
    def n_points(self) -> int:
        """Number of points."""
        return sum(int(np.prod(count)) for count, _ in self.blocks.values())

    @property
    def side_counts(self) -> dict[str, int]:
        """Number of cells on each side, in the order in which those of a type are numbered."""
        n, sides = int(np.prod(self.divisions)), [(d, e) for d in range(self.dim) for e in (0, 1)]
        return {f"{'xyz'[d]}{e}": n // self.divisions[d] * len(self.facets(d, e)) for d, e in sides}

    def points(self, start: int, stop: int) -> Array:
        """Coordinates of the points `start:stop`, (n, 3) [m]."""
        out = np.zeros((stop - start, 3))
        for odd, (count, first) in self.blocks.items():
            low, high = max(start, first), min(stop, first + int(np.prod(count)))
            rest, own = np.arange(low, high) - first, out[low - start : max(high - start, 0)]
            for d, (length, n) in enumerate(zip(self.lengths, self.divisions, strict=True)):
                rest, i = np.divmod(rest, count[d])
                own[:, d] = (i + odd[d] / 2.0) * (length / n)
                own[i == n, d] = length
        return out

    def cells(self, kind: str, start: int, stop: int) -> Ints:
        """Connectivity of the cells `start:stop` of a type."""
        if kind == self.kind.name:
            return self._cells(np.arange(start, stop), self.parts, range(self.dim))
        parts, first = [np.empty((0, len(CELLS[kind].nodes)), np.int64)], 0
        for side, count in self.side_counts.items():
            d, end = "xyz".index(side[0]), int(side[1])
            if self.side_kinds[d] != kind:
                continue
            low, high = max(start - first, 0), min(stop - first, count)
            first += count
            if low < high:
                around = [(d + k) % self.dim for k in range(1, self.dim)]
                shift = np.zeros(self.dim, np.int64)
                shift[d] = 2 * end * (self.divisions[d] - 1)
                facets = [facet + shift for facet in self.facets(d, end)]
                parts.append(self._cells(np.arange(low, high), facets, around))
        return np.concatenate(parts)

    def slices(self, comm: MPI.Comm) -> Slices:
        """Make this rank's slices; regions "body" and the sides. Collective."""
        starts = block_starts(self.n_points, comm.size)
        points = self.points(starts[comm.rank], starts[comm.rank + 1])
        counts = Counter({self.kind.name: int(np.prod(self.divisions)) * len(self.parts)})
        for name, count in self.side_counts.items():
            counts[self.side_kinds["xyz".index(name[0])]] += count
        cells = {}
        for kind, count in counts.items():
            low, high = block_starts(count, comm.size)[comm.rank : comm.rank + 2]
            cells[kind] = CellSlice(kind, int(low), self.cells(kind, low, high), count)
        members: Members = {"body": {self.kind.name: None}}
        first = dict.fromkeys(self.side_kinds, 0)
        for name, count in self.side_counts.items():
            side = cells[self.side_kinds["xyz".index(name[0])]]
            numbers = side.ids - first[side.kind]
            inside = (numbers >= 0) & (numbers < count)
            members[name] = {side.kind: np.flatnonzero(inside).astype(np.int64)}
            first[side.kind] += count
        return Slices(points, starts, cells, members)

    def _cells(self, number: Ints, parts: list[Ints], axes: range | list[int]) -> Ints:
        """Return the points of cells: of each cube along some axes its `parts`, in their order."""
        cube, part = np.divmod(number, len(parts))
        at = [np.zeros(1, np.int64)] * self.dim
        for axis in axes:
            cube, at[axis] = np.divmod(cube, self.divisions[axis])
        out = np.empty((len(number), len(parts[0])), np.int64)
        begin = {
            odd: first + sum(a * s for a, s in zip(at, np.cumprod([1, *count[:-1]]), strict=True))
            for odd, (count, first) in self.blocks.items()
        }
        for k, nodes in enumerate(parts):
            for v, (odd, place) in enumerate(zip((nodes % 2).tolist(), nodes // 2, strict=True)):
                strides = np.cumprod([1, *self.blocks[tuple(odd)][0][:-1]])
                where = begin[tuple(odd)] + place @ strides
                np.copyto(out[:, v], where, where=part == k)
        return out


def _row(kind: str, dim: int) -> Cell:
    """Return the row of a type that fills cubes.

    Raises
    ------
    MeshError : the type has another dimension, or is none that fills cubes.
    """
    fits = [c.name for c in CELLS.values() if c.dimension == dim > 0]
    if not among(kind, fits):
        raise MeshError(
            f"Mesh.box of {dim} directions has cells of type {', '.join(map(repr, fits))}; not "
            f"{label(kind)}",
            asked="cell",
            given=kind,
            possible=fits,
        )
    return CELLS[kind]
