# SPDX-License-Identifier: BSD-3-Clause
"""Structured lines, rectangles and boxes; any rank makes any slice without the rest."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..arrays import Array, Ints
from ..elements.cells import HEXAHEDRON
from ..errors import MeshError
from ..runtime.collective import block_starts, together
from ..values.parameter import call_array, label
from .conformity import LENGTHS
from .slices import Cells, Members, Slices

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpi4py import MPI


MEMORY = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")  # bytes of this machine

_CELL = {1: "line", 2: "quad", 3: "hexahedron"}
_SIDE = {1: "vertex", 2: "line", 3: "quad"}
_CORNERS = HEXAHEDRON.unit.astype(np.int64)


@dataclass(frozen=True)
class Box:
    """A box of `divisions` cells in 1, 2 or 3 directions; points count x first.

    Its sides are cells too, ordered x0, x1, y0, y1, z0, z1, with normals that point outwards.
    """

    lengths: tuple[float, ...]
    divisions: tuple[int, ...]

    @classmethod
    def of(cls, lengths: npt.ArrayLike, divisions: npt.ArrayLike, ranks: int) -> Box:
        """Make a box of what a user gave.

        Raises
        ------
        MeshError : lengths that are no positive numbers, divisions that are no whole ones, or so
            many that the share of a rank does not fit into this machine.
        """
        given = f"given lengths {label(lengths)} and divisions {label(divisions)}"
        try:
            size, count = np.asarray(lengths), np.asarray(divisions)
            fits = size.dtype.kind in "iuf" and count.dtype.kind in "iuf"
            fits = fits and size.shape == count.shape and size.shape in ((1,), (2,), (3,))
        except ValueError:  # lists of different lengths
            fits = False
        low, high = LENGTHS
        if not fits or not ((size > low) & (size < high)).all():
            raise MeshError(
                f"Mesh.box needs 1 to 3 positive lengths and as many divisions; {given}"
            )
        if not ((count >= 1) & (count == np.rint(count))).all():
            raise MeshError(f"Mesh.box needs whole divisions of at least 1; {given}")
        box = cls(tuple(size.astype(float).tolist()), tuple(int(n) for n in count))
        cells = int(np.prod([float(n) for n in box.divisions]))
        need = cells * 8 * (2**box.dim + 3) // ranks
        if need > MEMORY:
            raise MeshError(
                f"Mesh.box of {cells:.3g} cells needs {need / 2**30:.3g} GiB on each of {ranks} "
                f"ranks, this machine has {MEMORY / 2**30:.3g} GiB; {given}"
            )
        return box

    @property
    def dim(self) -> int:
        """Number of directions."""
        return len(self.divisions)

    @property
    def cell(self) -> str:
        """Type of its cells."""
        return _CELL[self.dim]

    @property
    def n_points(self) -> int:
        """Number of points."""
        return int(np.prod([n + 1 for n in self.divisions]))

    @property
    def cell_counts(self) -> dict[str, int]:
        """Cells of the interior and of all sides, by type."""
        n = int(np.prod(self.divisions))
        return {_CELL[self.dim]: n, _SIDE[self.dim]: sum(self.side_counts.values())}

    @property
    def side_counts(self) -> dict[str, int]:
        """Number of cells on each side, in the order in which they are numbered."""
        n = int(np.prod(self.divisions))
        return {f"{'xyz'[d]}{e}": n // self.divisions[d] for d in range(self.dim) for e in (0, 1)}

    def points(self, start: int, stop: int) -> Array:
        """Coordinates of the points `start:stop`, (n, 3) [m]."""
        out = np.zeros((stop - start, 3))
        rest = np.arange(start, stop)
        for d, (length, n) in enumerate(zip(self.lengths, self.divisions, strict=True)):
            rest, i = np.divmod(rest, n + 1)
            out[:, d] = i * (length / n)
            out[i == n, d] = length
        return out

    def cells(self, kind: str, start: int, stop: int) -> Ints:
        """Connectivity of the cells `start:stop` of a type."""
        if kind == _CELL[self.dim]:
            return self._corners(np.arange(start, stop), self.divisions, range(self.dim), 0)
        parts, first = [], 0
        for side, count in self.side_counts.items():
            low, high = max(start - first, 0), min(stop - first, count)
            first += count
            if low < high:
                parts.append(self._side(side, np.arange(low, high)))
        width = 2 ** (self.dim - 1)
        return np.concatenate([np.empty((0, width), np.int64), *parts])

    def slices(
        self,
        comm: MPI.Comm,
        warp: Callable[[Array], Array] | None = None,
    ) -> Slices:
        """Make this rank's slices; regions "body" and the sides. Collective."""
        starts = block_starts(self.n_points, comm.size)
        points = self.points(starts[comm.rank], starts[comm.rank + 1])
        with together(comm):
            if warp is not None:
                what = "warp of Mesh.box"
                points = np.array(call_array(what, warp, points.shape, points), order="C")
        cells = {}
        for kind, count in self.cell_counts.items():
            low, high = block_starts(count, comm.size)[comm.rank : comm.rank + 2]
            cells[kind] = Cells(kind, int(low), self.cells(kind, low, high), count)
        members: Members = {"body": {_CELL[self.dim]: None}}
        first, side = 0, cells[_SIDE[self.dim]]
        for name, count in self.side_counts.items():
            inside = (side.ids >= first) & (side.ids < first + count)
            members[name] = {side.kind: np.flatnonzero(inside).astype(np.int64)}
            first += count
        return Slices(points, starts, cells, members)

    def _strides(self) -> list[int]:
        return [int(np.prod([n + 1 for n in self.divisions[:d]], initial=1)) for d in range(3)]

    def _side(self, side: str, number: Ints) -> Ints:
        d, end = "xyz".index(side[0]), int(side[1])
        # The other directions in cyclic order make (e1, e2, e_d) right-handed: side 1 outwards.
        around = [(d + 1) % self.dim, (d + 2) % self.dim][: self.dim - 1]
        if self.dim == 2:
            around = [1 - d]
        divisions = tuple(self.divisions[a] for a in around)
        base = end * self.divisions[d] * self._strides()[d]
        cells = self._corners(number, divisions, around, base)
        outwards = end == 1 if self.dim == 3 else (d == 0) == (end == 1)
        return cells if outwards else cells[:, ::-1].copy()

    def _corners(
        self, number: Ints, divisions: tuple[int, ...], axes: range | list[int], base: int
    ) -> Ints:
        strides = self._strides()
        out = np.full((len(number), 2 ** len(divisions)), base, np.int64)
        rest = number
        for local, (axis, n) in enumerate(zip(axes, divisions, strict=True)):
            rest, i = np.divmod(rest, n)
            out += strides[axis] * (i[:, None] + _CORNERS[: out.shape[1], local])
        return out
