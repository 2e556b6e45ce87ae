# SPDX-License-Identifier: BSD-3-Clause
"""Faces, edges and ends of elements by the names that Abaqus gives them.

Abaqus Analysis User's Guide, "Element-based surface definition", and the figures of the elements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ..arrays import Ints
from ..cells.table import CELLS
from .sides import MOST, Sides, sides_of

if TYPE_CHECKING:
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
        if cell.dimension == 3 and not name:
            return self._outside(kind, which)
        plane = np.isin(which, self.plane.get(kind, which[:0])).all()
        if (name in SHELL and cell.dimension == 2) or (not name and not (plane and len(which))):
            return [(kind, rows)]
        if not name:
            return self._outside(kind, which)
        number = int(name[1:]) - 1 if name[1:].isdigit() else -1
        if cell.dimension == 3 and name[:1] == "S":
            named = FACES[cell.straight.name]
            if 0 <= number < len(named):
                corners = {int(c) for c in named[number]}
                at = next(k for k, face in enumerate(cell.faces) if set(face) == corners)
                trace, nodes = cell.whole_faces[at]
                return [(trace.name, rows[:, list(nodes)])]
        elif cell.dimension == 2 and name[:1] == ("S" if plane else "E"):
            if 0 <= number < len(cell.edges):
                trace, nodes = cell.whole_edges[number]
                return [(trace.name, rows[:, list(nodes)])]
        elif cell.dimension == 1 and name in ("END1", "END2"):
            return [("vertex", rows[:, [int(name[-1]) - 1]])]
        raise ValueError(f"elements of type {kind!r} have no face {name!r}")

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
