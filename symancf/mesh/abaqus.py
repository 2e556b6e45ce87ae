# SPDX-License-Identifier: BSD-3-Clause
"""Abaqus and CalculiX input files: nodes, elements, sets and surfaces, of parts and instances.

Read are ``*NODE``, ``*ELEMENT``, ``*NSET``, ``*ELSET`` and ``*SURFACE``, with ``GENERATE``, with
sets named in sets and with repeats, which append, as well as ``*INCLUDE`` and ``INPUT=``. Names are
the same in upper and lower case (Abaqus Keywords Reference Guide). Sets become regions: those of
elements of cells, those of nodes of vertices; so do surfaces, of faces, edges or vertices. What
belongs to a part exists once for each of its instances, which may be moved; labels of nodes and
elements count anew in each. Names of faces: Abaqus Analysis User's Guide, "Element-based surface
definition", and the figures of the elements.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ..arrays import Ints
from ..cells.table import CELLS, Cell
from ..errors import MeshError
from .abaqus_model import Model
from .abaqus_sets import NONE, AbaqusNumbering, joined
from .abaqus_text import blocks, refuse
from .abaqus_types import POSSIBLE, is_rigid
from .cells import dimension
from .serial import unreadable
from .sides import MAX_SIDES, Sides, sides_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from .abaqus_model import Elements, Set
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
        faces = _facet_names(cell, plane)
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
        return [(s.kind, s.nodes[np.isin(s.order // MAX_SIDES, which)]) for s in own]


def _facet_names(cell: Cell, plane: bool) -> dict[str, tuple[str, Sequence[int]]]:
    """Return type and nodes of the faces of a cell by name; of `plane` continua they are edges."""
    if cell.dimension == 1:
        return {"END1": ("vertex", [0]), "END2": ("vertex", [1])}
    letter, sides = "S" if plane else "E", cell.whole_edges
    if cell.dimension == 3:
        at = {frozenset(face): k for k, face in enumerate(cell.faces)}
        corners = (frozenset(map(int, face)) for face in FACES[cell.straight.name])
        letter, sides = "S", tuple(cell.whole_faces[at[face]] for face in corners)
    return {f"{letter}{k}": (trace.name, nodes) for k, (trace, nodes) in enumerate(sides, 1)}


class Regions:
    """Regions of the sets, surfaces and instances of a file."""

    def __init__(self, model: Model, path: Path) -> None:
        self.model, self.path = model, path
        self.numbering = AbaqusNumbering(model)
        self.scopes, self.mesh = self.numbering.scopes, self.numbering.mesh
        self.faces = Faces(self.mesh, self.numbering.plane())
        self.empty: list[str] = []  # sets all of whose elements are no cells
        self.double: list[str] = []  # of sets of nodes and of elements that have other nodes

    def title(self, place: int, key: str, name: str) -> str:
        """Return the name of the region of a set: that of the file, behind that of its instance.

        The instance is left out where it is the only one and nothing else has the name.
        """
        if place == len(self.scopes) - 1:
            return name
        in_use = any(key in sets for sets in self.scopes[-1].sets.values())
        alone = len(self.scopes) == 2 and not in_use
        return name if alone else f"{self.scopes[place].name}.{name}"

    def add_sets(self) -> None:
        """Make regions of the sets of elements, then of those of nodes."""
        points: dict[tuple[int, str], Ints] = {}
        for place, scope in enumerate(self.scopes):
            for key in scope.sets["NSET"]:
                points[place, key] = self.numbering.numbers("NSET", place, key)
        for place, scope in enumerate(self.scopes):
            for key, chosen in scope.sets["ELSET"].items():
                numbers = self.numbering.numbers("ELSET", place, key)
                cells = self.numbering.by_kind(numbers)
                if len(numbers) and not cells:
                    self.empty.append(chosen.name)
                name = self.title(place, key, chosen.name)
                if cells and (place, key) in points:
                    name = self._beside_nodes(name, cells, points, (place, key))
                for kind, rows in cells.items():
                    self.mesh.add_to_region(name, kind, rows)
        for (place, key), nodes in points.items():
            if len(nodes):
                name = self.title(place, key, self.scopes[place].sets["NSET"][key].name)
                rows = self.mesh.append("vertex", nodes.reshape(-1, 1))
                self.mesh.add_to_region(name, "vertex", rows)

    def _beside_nodes(
        self,
        name: str,
        cells: dict[str, Ints],
        points: dict[tuple[int, str], Ints],
        key: tuple[int, str],
    ) -> str:
        """Return the name of a set of elements where one of nodes has it, too."""
        used = joined([self.mesh.cells[kind][rows].ravel() for kind, rows in cells.items()])
        if np.array_equal(np.unique(used), points[key]):
            del points[key]  # the set of a part of the geometry
            return name
        if not len(points[key]):
            return name
        self.double.append(name)
        return name + " (elements)"

    def add_instances(self) -> None:
        """Make a region of the cells of each of several instances."""
        for place, scope in enumerate(self.scopes[:-1]):
            cells = self.numbering.by_kind(np.sort(self.numbering.elements[place].numbers))
            top = max(map(dimension, cells), default=0)
            if len(self.scopes) == 2 or scope.name in self.mesh.members:
                continue
            for kind, rows in cells.items():
                if dimension(kind) == top:
                    self.mesh.add_to_region(scope.name, kind, rows)

    def add_surfaces(self) -> None:
        """Make a region of each surface; where a set has its name and other nodes, "(surface)"."""
        for place, scope in enumerate(self.scopes):
            for key, surface in scope.sets["SURFACE"].items():
                title = self.title(place, key, surface.name)
                if sides := self._sides(place, surface):
                    self._add_surface(title, sides)

    def _sides(self, place: int, surface: Set) -> dict[str, Ints]:
        """Return the nodes of the sides of a surface, by type.

        Raises
        ------
        MeshError
        """
        rows_by_side: dict[str, list[Ints]] = {}
        incomplete = False
        for entry in surface.entries:
            if surface.of == "NODE":
                nodes = self.numbering.of_entry("NSET", place, surface, entry)
                rows_by_side.setdefault("vertex", []).append(nodes.reshape(-1, 1))
                continue
            numbers = self.numbering.of_entry("ELSET", place, surface, entry)
            incomplete |= bool((self.numbering.kind_of[numbers] < 0).any())
            for kind, rows in self.numbering.by_kind(numbers).items():
                try:
                    faces = self.faces.of(kind, rows, entry.face)
                except ValueError as error:
                    message = f"surface {surface.name!r}: {error}"
                    raise refuse(message, *entry.where, asked="face", given=entry.face) from None
                for side, nodes in faces:
                    rows_by_side.setdefault(side, []).append(nodes)
            if entry.face == SHELL[1]:
                warnings.warn(
                    f"{self.path.name}: surface {surface.name!r} is the side SNEG of shells; the "
                    "region holds the shells: load the side by body[...].face(-1)",
                    stacklevel=7,
                )
        sides = {side: np.concatenate(rows) for side, rows in rows_by_side.items()}
        if not sum(len(rows) for rows in sides.values()):
            if incomplete:
                self.empty.append(surface.name)
                return {}
            raise refuse(
                f"surface {surface.name!r} has no faces",
                *surface.where,
                asked="surface",
                given=surface.name,
            )
        return sides

    def _add_surface(self, name: str, sides: dict[str, Ints]) -> None:
        mesh = self.mesh
        same = next((n for n in mesh.members if n.upper() == name.upper()), None)
        if same is not None:
            points = np.unique(np.concatenate([rows.ravel() for rows in sides.values()]))
            numbers = mesh.members[same].get("vertex", NONE)
            own = np.unique(mesh.cells["vertex"][numbers]) if len(numbers) else NONE
            if np.array_equal(own, points):
                del mesh.members[same]  # the nodes of the surface
            else:
                name += " (surface)"
                warnings.warn(
                    f"{self.path.name}: {same!r} names a set and a surface that has other nodes; "
                    f"the surface is region {name!r}",
                    stacklevel=7,
                )
        for side, rows in sides.items():
            before = len(mesh.cells.get(side, ()))
            mesh.add_to_region(name, side, mesh.append(side, rows))
            mesh.unite(side, before)

    def many(self, which: Callable[[Elements], bool]) -> str:
        """Return types of elements, and how many there are of each."""
        many = Counter[str]()
        for scope in self.scopes:
            for block in filter(which, scope.elements):
                many[block.abaqus_type] += len(block.labels)
        return ", ".join(f"{abaqus_type} ({n})" for abaqus_type, n in sorted(many.items()))

    def warn(self) -> None:
        """Say in a line each what is not read of elements, and which labels there are not."""
        if types := self.many(lambda block: not block.kind):
            text = f"{self.path.name}: elements that are no cells are not read: {types}"
            if self.empty:
                text += f"; nothing else is in {', '.join(map(repr, dict.fromkeys(self.empty)))}"
            warnings.warn(text, stacklevel=6)
        if rigid := self.many(lambda block: is_rigid(block.abaqus_type)):
            warnings.warn(
                f"{self.path.name}: rigid elements are read as cells like others: {rigid}",
                stacklevel=6,
            )
        if self.double:
            warnings.warn(
                f"{self.path.name}: each of {', '.join(map(repr, self.double))} names a set of "
                "nodes and one of elements that has other nodes; the regions of these names are "
                "the nodes, those with ' (elements)' behind them the elements",
                stacklevel=6,
            )
        if beams := sum(block.oriented for scope in self.scopes for block in scope.elements):
            warnings.warn(
                f"{self.path.name}: the third nodes of {beams} beams, which give their "
                "orientation, are not used",
                stacklevel=6,
            )
        if self.numbering.missing:
            sets = ", ".join(f"{who} ({n})" for who, n in self.numbering.missing.items())
            warnings.warn(
                f"{self.path.name}: GENERATE names labels that are not given: {sets}", stacklevel=6
            )
        parts, used = self.model.parts, self.model.used
        if alone := [repr(parts[key].name) for key in parts if used and key not in used]:
            warnings.warn(
                f"{self.path.name}: parts without an instance are not read: {', '.join(alone)}",
                stacklevel=6,
            )


def read_abaqus(path: Path) -> SerialMesh:
    """Read an input file on this rank.

    Raises
    ------
    MeshError : no such file, or what is in it cannot be read as a whole; with the line.
    """
    model = Model()
    try:
        for block in blocks(path):
            model.take(block)
        return _build(model, path)
    except MeshError as error:
        data = {"asked": error.asked, "given": error.given, "possible": error.possible}
        raise unreadable(path, error, **data) from None
    except (OSError, ValueError, OverflowError, RecursionError) as error:
        raise unreadable(path, error, asked="file", given=str(path)) from None


def _build(model: Model, path: Path) -> SerialMesh:
    """Return the mesh of a file.

    Raises
    ------
    MeshError : with file and line.
    """
    if not any(s.nodes for s in (model.assembly, *model.parts.values(), *model.instances.values())):
        raise refuse("it holds no nodes", path.name, 0, asked="*NODE")
    builder = Regions(model, path)
    if not builder.numbering.kinds:
        others = builder.many(lambda block: not block.kind)
        raise refuse(
            f"it holds no elements that are cells{others and ', but '}{others}",
            path.name,
            0,
            asked="*ELEMENT",
            given=others,
            possible=POSSIBLE,
        )
    builder.add_sets()
    builder.add_instances()
    builder.add_surfaces()
    builder.warn()
    return builder.mesh
