# SPDX-License-Identifier: BSD-3-Clause
"""The shapes of cells: vertices, edges and faces in meshio's order, parameter domains."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from ..arrays import Array, Ints


@dataclass(frozen=True)
class Cell:
    """A parameter domain [low, high]^dim with its vertices.

    Attributes
    ----------
    name : meshio's name of the cell type.
    coordinates : names of the parameters.
    domain : (low, high) of every parameter.
    vertices : parameter values of the vertices, in meshio's order.
    edges : pairs of local vertex numbers.
    faces : local vertex numbers of the faces, counter-clockwise seen from outside.
    """

    name: str
    coordinates: tuple[str, ...]
    domain: tuple[int, int]
    vertices: tuple[tuple[int, ...], ...]
    edges: tuple[tuple[int, int], ...]
    faces: tuple[tuple[int, ...], ...]

    @property
    def dimension(self) -> int:
        """Number of parameters."""
        return len(self.coordinates)

    def lattice(self, n: int) -> tuple[Array, Ints]:
        """Cut the cell into n^dim equal cells of its own type, for drawing curved cells.

        Returns
        -------
        points : ((n+1)^dim, dim) parameter values, the first parameter fastest.
        cells : (n^dim, number of vertices) indices of points, in meshio's order.
        """
        if n < 1:
            raise ValueError(f"cut a cell into at least 1 part per direction, not {n}")
        low, high = self.domain
        d = self.dimension
        line = low + (high - low) * np.arange(n + 1) / n
        grid = np.array(list(product(line, repeat=d)))[:, ::-1]
        stride = (n + 1) ** np.arange(d)
        corner = (np.array(self.vertices) - low) // (high - low)
        first = np.array(list(product(range(n), repeat=d)))[:, ::-1] @ stride
        cells = first[:, None] + (corner @ stride)[None, :]
        return np.ascontiguousarray(grid), cells.astype(np.int64)


LINE = Cell("line", ("xi",), (0, 1), ((0,), (1,)), edges=((0, 1),), faces=())

QUAD = Cell(
    "quad",
    ("xi", "eta"),
    (0, 1),
    ((0, 0), (1, 0), (1, 1), (0, 1)),
    edges=((0, 1), (1, 2), (2, 3), (3, 0)),
    faces=((0, 1, 2, 3),),
)

HEXAHEDRON = Cell(
    "hexahedron",
    ("xi", "eta", "zeta"),
    (-1, 1),
    (
        *((-1, -1, -1), (1, -1, -1), (1, 1, -1), (-1, 1, -1)),
        *((-1, -1, 1), (1, -1, 1), (1, 1, 1), (-1, 1, 1)),
    ),
    edges=(
        *((0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6)),
        *((6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7)),
    ),
    faces=((0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)),
)
