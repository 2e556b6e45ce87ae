# SPDX-License-Identifier: BSD-3-Clause
"""Faces, edges and ends of elements by the names that Abaqus gives them.

Abaqus Analysis User's Guide, "Element-based surface definition", and the figures of the elements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ..arrays import Ints
from ..cells.table import CELLS, Cell
from .sides import MOST, Sides, sides_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .serial import SerialMesh

# corners of S1, S2, ... of solids, in the order of the file, which is that of meshio
FACES = {
    "tetra": ("012", "031", "132", "230"),
    "wedge": ("012", "354", "0341", "1452", "2530"),
    "hexahedron": ("0123", "4765", "0451", "1562", "2673", "3740"),
}
SHELL = ("SPOS", "SNEG")


class Faces:
    """Sides of the elements of a mesh.

    `plane` : type -> which of its cells are plane continua, whose S1, S2, ... are edges.
    """

    def __init__(self, mesh: SerialMesh, plane: dict[str, Ints]) -> None:
        self.mesh, self.plane = mesh, plane
        self._exposed: dict[int, list[Sides]] = {}

    def of(self, kind: str, which: Ints, name: str) -> list[tuple[str, Ints]]:
        """Return type and nodes (k, nv) of the faces of a name of some cells of a type.

        Without a name those on the outside, of shells and lines the cells themselves.

        Raises
        ------
        ValueError : the cells have no such face.
        """
        if kind not in CELLS:
            raise ValueError(f"the faces of elements of type {kind!r} are not known")
        cell, rows = CELLS[kind], self.mesh.cells[kind][which]
        plane = bool(np.isin(which, self.plane.get(kind, which[:0])).all())
        if not name and (cell.dimension == 3 or (plane and len(which))):
            return self._outside(kind, which)
        if not name or (name in SHELL and cell.dimension == 2):
            return [(kind, rows)]
        faces = _named(cell, plane)
        if name not in faces:
            raise ValueError(f"elements of type {kind!r} have no face {name!r}")
        trace, nodes = faces[name]
        return [(trace, rows[:, list(nodes)])]

    def _outside(self, kind: str, which: Ints) -> list[tuple[str, Ints]]:
        """Return the sides of some cells that no other cell of the mesh has."""
        d = CELLS[kind].dimension
        if d not in self._exposed:
            cells = [
                Sides(k, np.arange(len(rows)), rows)
                for k, rows in self.mesh.cells.items()
                if k in CELLS and CELLS[k].dimension == d
            ]
            self._exposed[d] = sides_of(MPI.COMM_SELF, cells, outer=True)
        own = [s for s in self._exposed[d] if s.of == kind]
        return [(s.kind, s.nodes[np.isin(s.order // MOST, which)]) for s in own]


def _named(cell: Cell, plane: bool) -> dict[str, tuple[str, Sequence[int]]]:
    """Return type and nodes of the faces of a cell by name; of `plane` continua they are edges."""
    if cell.dimension == 1:
        return {"END1": ("vertex", [0]), "END2": ("vertex", [1])}
    letter, sides = "S" if plane else "E", cell.whole_edges
    if cell.dimension == 3:
        at = {frozenset(face): k for k, face in enumerate(cell.faces)}
        corners = (frozenset(map(int, face)) for face in FACES[cell.straight.name])
        letter, sides = "S", tuple(cell.whole_faces[at[face]] for face in corners)
    return {f"{letter}{k}": (trace.name, nodes) for k, (trace, nodes) in enumerate(sides, 1)}
