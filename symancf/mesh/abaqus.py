# SPDX-License-Identifier: BSD-3-Clause
"""Abaqus input files: nodes, elements, sets and surfaces; what gets lost is refused by name.

Read are ``*NODE``, ``*ELEMENT``, ``*NSET``, ``*ELSET`` and ``*SURFACE``, with ``GENERATE``, with
sets named in sets and with repeats, which append, as well as ``*INCLUDE`` and ``INPUT=``. Names are
the same in upper and lower case (Abaqus Keywords Reference Guide). Sets become regions: those of
elements of cells, those of nodes of vertices; so do surfaces, of faces, edges or vertices. Files of
one part and one instance that is not moved are read as if they were flat.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ..arrays import Ints
from ..errors import MeshError
from .abaqus_faces import SHELL, Faces
from .serial import SerialMesh

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

Entry = TypeVar("Entry")

DEPTH = 20  # of files that include each other

# make nodes or elements, or move them, in ways that are not read
REFUSED = ("NGEN", "NFILL", "NCOPY", "NMAP", "ELGEN", "ELCOPY", "SYSTEM")

READ = ("INCLUDE", "NODE", "ELEMENT", "NSET", "ELSET", "SURFACE")  # with data in other files

# names of element types, letters after them are variants; meshio's names and their vertices
TYPES = (
    (r"(B2[13]|B3[13]|T[23]D2|R2D2|RAX2|SAX1)", "line", 2),
    (r"(B22|B32|T[23]D3)", "line3", 3),
    (r"(CP[ES]3|CAX3|S3|STRI3|M3D3|R3D3|DS3|SFM3D3)", "triangle", 3),
    (r"(CP[ES]6|CAX6|STRI65|M3D6|DS6|SFM3D6)", "triangle6", 6),
    (r"(CP[ES]4|CAX4|S4|M3D4|R3D4|DS4|SFM3D4)", "quad", 4),
    (r"(CP[ES]8|CAX8|S8|M3D8|DS8|SFM3D8)", "quad8", 8),
    (r"(S9|M3D9)", "quad9", 9),
    (r"(C3D4|DC3D4)", "tetra", 4),
    (r"(C3D10|DC3D10)", "tetra10", 10),
    (r"(C3D6|SC6|DC3D6)", "wedge", 6),
    (r"(C3D15|DC3D15)", "wedge15", 15),
    (r"(C3D8|SC8|DC3D8)", "hexahedron", 8),
    (r"(C3D20|DC3D20)", "hexahedron20", 20),
    (r"C3D27", "hexahedron27", 27),
)

# nodes in meshio's order where Abaqus has another: the middle of a line second, the centroid of a
# cube before the faces S1 to S6
ORDERS = {
    "line3": (0, 2, 1),
    "hexahedron27": (*range(20), 26, 24, 23, 25, 21, 22, 20),
}


@dataclass
class Block:
    """A keyword with its parameters and data lines, and where it stands."""

    keyword: str
    parameters: dict[str, str]
    where: str
    lines: list[str] = field(default_factory=list)

    def words(self) -> list[list[str]]:
        """Return the cells of each data line."""
        return [[w.strip() for w in line.rstrip(", \t").split(",")] for line in self.lines]


@dataclass
class _Set:
    """Numbers, and names of other sets, that belong to a set."""

    name: str
    numbers: list[int] = field(default_factory=list)
    others: list[str] = field(default_factory=list)


@dataclass
class _Surface:
    """Sets or numbers, of elements with names of faces, or of nodes."""

    name: str
    of: str
    entries: list[tuple[int | str, str]] = field(default_factory=list)


class _Model:
    """What the blocks of a file say, by the numbers of the file."""

    def __init__(self) -> None:
        self.nodes: dict[int, list[float]] = {}
        self.elements: dict[int, tuple[str, list[int]]] = {}
        self.plane: set[int] = set()  # elements that are plane continua
        self.surfaces: dict[str, _Surface] = {}
        self.sets: dict[str, dict[str, _Set]] = {"NSET": {}, "ELSET": {}}
        self.of_elements: list[tuple[_Set, str]] = []  # *NSET, ELSET=
        self.parts = self.instances = 0

    def take(self, block: Block) -> None:
        """Add a block.

        Raises
        ------
        MeshError, ValueError
        """
        keyword = block.keyword
        if keyword in REFUSED:
            raise ValueError(f"*{keyword} is not read; write nodes and elements one by one")
        if keyword == "NODE":
            self._nodes(block)
        elif keyword == "ELEMENT":
            self._elements(block)
        elif keyword in self.sets:
            self._sets(block)
        elif keyword == "SURFACE":
            self._surface(block)
        elif keyword == "PART":
            self.parts += 1
        elif keyword == "INSTANCE":
            self.instances += 1
            if any(float(w) for words in block.words() for w in words if w):
                raise ValueError("the instance is moved; write the input file flat, without parts")
        if max(self.parts, self.instances) > 1:
            raise ValueError(
                "a second part or instance, which may number its nodes anew; write the input file "
                "flat, without parts"
            )

    def set(self, kind: str, name: str) -> _Set:
        """Return the set of a name, a new one if there is none."""
        name = _unquoted(name)
        return self.sets[kind].setdefault(name.upper(), _Set(name))

    def _nodes(self, block: Block) -> None:
        if block.parameters.get("SYSTEM", "R").upper() != "R":
            raise ValueError("nodes in cylindrical or spherical coordinates are not read")
        numbers = []
        for words in block.words():
            number = int(words[0])
            x = [float(w or 0.0) for w in words[1:4]]
            x += [0.0] * (3 - len(x))
            if self.nodes.setdefault(number, x) != x:
                raise ValueError(f"node {number} is given twice, at different places")
            numbers.append(number)
        if name := block.parameters.get("NSET"):
            self.set("NSET", name).numbers += numbers

    def _elements(self, block: Block) -> None:
        given = block.parameters.get("TYPE", "")
        kind, count = _type(given)
        words = [int(w) for line in block.words() for w in line if w]
        if len(words) % (count + 1):
            raise ValueError(f"elements of type {given} have a number and {count} nodes each")
        rows = np.reshape(words, (-1, count + 1)).tolist()
        order = ORDERS.get(kind, range(count))
        for number, *given_nodes in rows:
            nodes = [given_nodes[k] for k in order]
            if self.elements.setdefault(number, (kind, nodes)) != (kind, nodes):
                raise ValueError(f"element {number} is given twice, with different nodes")
        if given.upper().startswith(("CP", "CAX")):
            self.plane.update(row[0] for row in rows)
        if name := block.parameters.get("ELSET"):
            self.set("ELSET", name).numbers += [row[0] for row in rows]

    def _sets(self, block: Block) -> None:
        name = block.parameters.get(block.keyword)
        if not name:
            raise ValueError(f"*{block.keyword} without a name")
        target = self.set(block.keyword, name)
        if block.keyword == "NSET" and "ELSET" in block.parameters:
            self.of_elements.append((target, block.parameters["ELSET"]))
        for words in block.words():
            if "GENERATE" in block.parameters:
                first, last, *step = (int(w) for w in words)
                target.numbers += range(first, last + 1, *step)
                continue
            for word in words:
                if isinstance(found := _reference(word), int):
                    target.numbers.append(found)
                elif found:
                    target.others.append(found)

    def _surface(self, block: Block) -> None:
        name, of = block.parameters.get("NAME"), block.parameters.get("TYPE", "ELEMENT").upper()
        if not name:
            raise ValueError("*SURFACE without a name")
        if of not in ("ELEMENT", "NODE") or "COMBINE" in block.parameters:
            what = "that is made of others" if of in ("ELEMENT", "NODE") else f"of type {of}"
            warnings.warn(f"{block.where}: surface {name!r}, {what}, is not read", stacklevel=6)
            return
        name = _unquoted(name)
        surface = self.surfaces.setdefault(name.upper(), _Surface(name, of))
        if surface.of != of:
            raise ValueError(f"surface {name!r} is given of nodes and of elements")
        for first, *rest in block.words():
            if found := _reference(first):
                face = rest[0].upper() if rest and of == "ELEMENT" else ""
                surface.entries.append((found, face))

    def referred(self, kind: str, entry: int | str, who: str) -> list[int]:
        """Return the numbers that an entry of a surface stands for."""
        return (
            [entry] if isinstance(entry, int) else self.numbers(kind, entry, (f"surface {who!r}",))
        )

    def numbers(self, kind: str, name: str, above: tuple[str, ...] = ()) -> list[int]:
        """Return the numbers of a set, those of the sets that it names included."""
        key = _unquoted(name).upper()
        if key not in self.sets[kind]:
            raise ValueError(f"{kind.lower()} {name!r} is named in {above[-1]!r} but not given")
        if key in map(str.upper, above):
            raise ValueError(f"{kind.lower()} {name!r} names itself")
        chosen = self.sets[kind][key]
        found = list(chosen.numbers)
        for other in chosen.others:
            found += self.numbers(kind, other, (*above, chosen.name))
        return list(dict.fromkeys(found))


def _reference(word: str) -> int | str:
    """Return the number, or the name of the set, that stands in a data line; perhaps none."""
    if re.fullmatch(r"[+]?\d+", word):
        return int(word)
    if found := re.fullmatch(r'"?[^\d"][^."]*"?\.(\d+)', word):  # instance.number
        return int(found[1])
    name = _unquoted(word)  # a set, or instance.set
    return name if name[:1].isdigit() else name.rpartition(".")[2]


def _unquoted(name: str) -> str:
    return name[1:-1] if len(name) > 1 and name[0] == name[-1] == '"' else name


def _type(given: str) -> tuple[str, int]:
    """Return meshio's name of an element type and its number of vertices."""
    for pattern, kind, count in TYPES:
        if re.fullmatch(pattern + "[A-Z]*5?", given.upper()):
            return kind, count
    raise ValueError(f"elements of type {given!r} are not read")


def read_abaqus(path: Path) -> SerialMesh:
    """Read an input file on this rank.

    Raises
    ------
    MeshError : no such file, or what is in it cannot be read as a whole; with the line.
    """
    model, where = _Model(), ""
    try:
        for block in _blocks(path, 0):
            where = f"{block.where}: "
            model.take(block)
        where = ""
        return _convert(model, path)
    except (OSError, ValueError, RecursionError, MeshError) as error:
        raise MeshError(f"cannot read {str(path)!r}: {where}{error}", path=str(path)) from None


def _blocks(path: Path, depth: int) -> Iterator[Block]:
    """Return the blocks of a file and of those that it includes."""
    block: Block | None = None
    head = ""
    whole = path.read_text(encoding="utf-8")
    if whole and not whole.endswith("\n"):
        warnings.warn(f"{path.name}: the last line has no end; is the file complete?", stacklevel=6)
    for number, line in enumerate(whole.splitlines(), 1):
        text = line.strip()
        if not text or text.startswith("**"):
            continue
        if head or text.startswith("*"):
            head += text
            if head.endswith(","):  # goes on in the next line
                continue
            if block is not None:
                yield from _whole(block, path, depth)
            keyword, *rest = (part.strip() for part in head[1:].split(","))
            pairs = (part.partition("=") for part in rest)
            parameters = {key.strip().upper(): value.strip() for key, _, value in pairs}
            where = f"line {number} of {path.name}"
            block, head = Block(" ".join(keyword.upper().split()), parameters, where), ""
        elif block is None:
            raise ValueError(f"line {number}: data before the first keyword")
        else:
            block.lines.append(text)
    if block is not None:
        yield from _whole(block, path, depth)


def _whole(block: Block, path: Path, depth: int) -> Iterator[Block]:
    """Return a block with the data of its other files, or the blocks of an included file."""
    source = block.parameters.get("INPUT", "").strip('"')
    if not source or block.keyword not in READ:
        yield block
        return
    other = path.parent / source
    if depth > DEPTH:
        raise ValueError(f"{path.name} includes itself")
    if block.keyword == "INCLUDE":
        yield from _blocks(other, depth + 1)
        return
    block.lines += [
        t
        for line in other.read_text(encoding="utf-8").splitlines()
        if (t := line.strip()) and not t.startswith("*")
    ]
    yield block


def _convert(model: _Model, path: Path) -> SerialMesh:
    """Return the mesh with points and cells in the order of the file."""
    if not model.nodes or not model.elements:
        raise ValueError(f"it holds no {'elements' if model.nodes else 'nodes'}")
    point = {number: k for k, number in enumerate(model.nodes)}
    mesh = SerialMesh(np.array(list(model.nodes.values())), {})
    place: dict[int, tuple[str, int]] = {}
    rows: dict[str, list[list[int]]] = {}
    for number, (kind, nodes) in model.elements.items():
        cells = rows.setdefault(kind, [])
        place[number] = kind, len(cells)
        cells.append([_known(point, n, f"element {number} names node") for n in nodes])
    for kind, cells in rows.items():
        mesh.append(kind, cells)
    for target, name in model.of_elements:
        for number in model.numbers("ELSET", name, (target.name,)):
            target.numbers += _known(model.elements, number, f"elset {name!r} names element")[1]
    cells_of = {
        key: _places(model.numbers("ELSET", chosen.name), place, f"elset {chosen.name!r}")
        for key, chosen in model.sets["ELSET"].items()
    }
    points_of = {key: _points(model, chosen, point) for key, chosen in model.sets["NSET"].items()}
    for key, held in cells_of.items():
        name = model.sets["ELSET"][key].name
        if held and key in points_of:
            used = [mesh.cells[kind][which].ravel() for kind, which in held.items()]
            if np.array_equal(np.unique(np.concatenate(used)), points_of[key]):
                del points_of[key]  # the set of a part of the geometry
            else:
                warnings.warn(
                    f"{path.name}: {name!r} names a set of nodes and one of elements that has "
                    f"other nodes; region {name!r} are the nodes, {name + ' (elements)'!r} the "
                    "elements",
                    stacklevel=5,
                )
                name += " (elements)"
        for kind, which in held.items():
            mesh.add_to_region(name, kind, which)
    for key, points in points_of.items():
        if not len(points):
            continue
        name = model.sets["NSET"][key].name
        mesh.add_to_region(name, "vertex", mesh.append("vertex", points.reshape(-1, 1)))
    plane: dict[str, list[int]] = {}
    for number in model.plane:
        plane.setdefault(place[number][0], []).append(place[number][1])
    faces = Faces(mesh, {kind: np.array(which, np.int64) for kind, which in plane.items()})
    for surface in model.surfaces.values():
        _add_surface(model, surface, mesh, (faces, place, point), path)
    return mesh


def _add_surface(
    model: _Model,
    surface: _Surface,
    mesh: SerialMesh,
    tables: tuple[Faces, Mapping[int, tuple[str, int]], Mapping[int, int]],
    path: Path,
) -> None:
    """Make a region of a surface; where there is one of its name, of another one."""
    own, (faces, place, point) = surface.name, tables
    found: dict[str, list[Ints]] = {}
    for entry, face in surface.entries:
        if surface.of == "NODE":
            who, named = f"surface {surface.name!r} names node", model.referred("NSET", entry, own)
            nodes = np.array([_known(point, n, who) for n in named], np.int64)
            found.setdefault("vertex", []).append(nodes.reshape(-1, 1))
            continue
        named = model.referred("ELSET", entry, own)
        for kind, which in _places(named, place, f"surface {surface.name!r}").items():
            for side, rows in faces.of(kind, which, face):
                found.setdefault(side, []).append(rows)
        if face == SHELL[1]:
            warnings.warn(
                f"{path.name}: surface {surface.name!r} is the side SNEG of shells; the region "
                "holds the shells: load the side by body[...].face(-1)",
                stacklevel=6,
            )
    held = {side: np.concatenate(rows) for side, rows in found.items()}
    if not sum(len(rows) for rows in held.values()):
        raise ValueError(f"surface {surface.name!r} has no faces")
    name = surface.name
    same = next((n for n in mesh.members if n.upper() == name.upper()), None)
    if same is not None:
        points = np.unique(np.concatenate([rows.ravel() for rows in held.values()]))
        numbers = mesh.members[same].get("vertex", np.empty(0, np.int64))
        if np.array_equal(np.unique(mesh.cells["vertex"][numbers] if len(numbers) else []), points):
            del mesh.members[same]  # the nodes of the surface
        else:
            name += " (surface)"
            warnings.warn(
                f"{path.name}: {same!r} names a set and a surface that has other nodes; the "
                f"surface is region {name!r}",
                stacklevel=6,
            )
    for side, rows in held.items():
        before = len(mesh.cells.get(side, ()))
        mesh.add_to_region(name, side, mesh.append(side, rows))
        mesh.unite(side, before)


def _places(numbers: list[int], place: Mapping[int, tuple[str, int]], who: str) -> dict[str, Ints]:
    """Return the cells of some elements by type."""
    held: dict[str, list[int]] = {}
    for number in numbers:
        kind, k = _known(place, number, f"{who} names element")
        held.setdefault(kind, []).append(k)
    return {kind: np.array(which, np.int64) for kind, which in held.items()}


def _points(model: _Model, chosen: _Set, point: Mapping[int, int]) -> Ints:
    """Return the points of a set of nodes, sorted."""
    who = f"nset {chosen.name!r} names node"
    found = [_known(point, n, who) for n in model.numbers("NSET", chosen.name)]
    return np.unique(np.array(found, np.int64))


def _known(table: Mapping[int, Entry], number: int, who: str) -> Entry:
    if number not in table:
        raise ValueError(f"{who} {number}, which is not given")
    return table[number]
