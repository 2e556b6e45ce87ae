# SPDX-License-Identifier: BSD-3-Clause
"""Gmsh's mesh files of versions 1, 2, 4.0 and 4.1, text and binary.

Sections, types and orders of nodes: Gmsh reference manual, "MSH file format", "Node ordering" and
"Legacy formats". Physical groups become regions; meshio keeps the last group of those with one
name, and refuses parametric nodes, entities without groups beside others that have some, and 4.0.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from meshio._common import num_nodes_per_cell
from meshio.gmsh.common import _gmsh_to_meshio_order, _gmsh_to_meshio_type
from numpy.typing import NDArray

from ..arrays import Array, Ints
from ..errors import MeshError
from .cells import dimension
from .serial import ENTITIES, LabelTable, SerialMesh, text_of, unreadable

if TYPE_CHECKING:
    from pathlib import Path

VERSIONS = ("1", "2.2", "4.0", "4.1")

_SECTION = re.compile(rb"^(?:\xef\xbb\xbf)?[ \t]*\$(\w+)[ \t]*\r?\n", re.MULTILINE)
#: Nodes of the wedge with nodes in its faces, by VTK's order; meshio 5.3 leaves Gmsh's.
_WEDGE18 = [0, 1, 2, 3, 4, 5, 6, 9, 7, 12, 14, 13, 8, 10, 11, 15, 17, 16]


class _NumberReader:
    """The numbers of a section, one after the other: of text, or of binary data in some order."""

    def __init__(self, data: bytes, start: int, end: int, order: str) -> None:
        self.binary = bool(order)
        self.data, self.order, self.end = data, order, start if order else end
        self.words: Array = np.empty(0) if order else _parsed(data[start:end])
        self.at = 0

    def rows(self, count: int, *columns: tuple[str, int]) -> list[NDArray[Any]]:
        """Return so many rows of columns, each (count, width) of a kind such as ``"i4"``."""
        width = sum(w for _, w in columns)
        if count < 0 or width < 0:
            raise ValueError(f"a count of {min(count, width)} is none")
        if self.binary:
            row = np.dtype([(str(k), self.order + c, (w,)) for k, (c, w) in enumerate(columns)])
            if count * row.itemsize > len(self.data) - self.end:
                raise ValueError("it is cut off")
            rows = np.frombuffer(self.data, row, count, self.end)
            self.end += count * row.itemsize
            return [rows[str(k)].astype(c) for k, (c, _) in enumerate(columns)]
        if count * width > len(self.words) - self.at:
            raise ValueError("it is cut off")
        every = self.words[self.at : self.at + count * width].reshape(count, width)
        self.at += count * width
        ends = np.cumsum([w for _, w in columns])[:-1]
        parts = np.split(every, ends, axis=1)
        return [
            part if kind == "f8" else _as_integers(part)
            for part, (kind, _) in zip(parts, columns, strict=True)
        ]

    def take(self, kind: str, count: int = 1) -> list[Any]:
        """Return so many numbers."""
        numbers: list[Any] = self.rows(1, (kind, count))[0][0].tolist()
        return numbers

    def one(self, kind: str) -> int:
        """Return a whole number."""
        return int(self.take(kind)[0])

    def line(self) -> int:
        """Return the number of a line: text in binary files of version 2, too."""
        if not self.binary:
            return self.one("i4")
        start, self.end = self.end, self.data.index(b"\n", self.end) + 1
        return int(self.data[start : self.end])


def _parsed(text: bytes) -> Array:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return np.fromstring(text, sep=" ")
        except (DeprecationWarning, ValueError):
            words = (w.decode("latin-1") for w in text.split())
            wrong = next((w for w in words if not _is_number(w)), "?")
            raise ValueError(f"{wrong[:40]!r} is no number") from None


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _as_integers(values: Array) -> Ints:
    with np.errstate(invalid="ignore"):
        integers = values.astype(np.int64)
    if (integers != values).any():
        raise ValueError(f"{values[integers != values][0]:g} is no whole number")
    return integers


@dataclass
class _CellBlock:
    """Cells of one type, by tags of their nodes, in the same physical groups."""

    kind: str
    cells: Ints
    groups: list[int]
    partitions: tuple[int, ...] = ()


@dataclass
class _GmshFile:
    """What a file holds.

    Attributes
    ----------
    version, size, order : of the numbers; the order of bytes is ``""`` for text.
    names : (dimension, number) -> names of a physical group.
    groups, partitions : (dimension, entity) -> its physical groups, its partitions.
    ghosts : the partitions in which cells of others are repeated.
    """

    version: str = "1"
    size: str = "u8"
    order: str = ""
    names: dict[tuple[int, int], list[str]] = field(default_factory=dict)
    groups: dict[tuple[int, int], list[int]] = field(default_factory=dict)
    partitions: dict[tuple[int, int], tuple[int, ...]] = field(default_factory=dict)
    ghosts: set[tuple[int, ...]] = field(default_factory=set)
    tags: list[Ints] = field(default_factory=list)
    points: list[Array] = field(default_factory=list)
    blocks: list[_CellBlock] = field(default_factory=list)

    # ---- the head -------------------------------------------------------------------------------
    def format(self, data: bytes, start: int) -> None:
        """Read version, text or binary, and the order of bytes."""
        end = data.index(b"\n", start)
        words = data[start:end].decode("latin-1").split()
        version, kind, size = (*words, "", "", "8")[:3]
        self.version = {"4": "4.0", "2": "2.2", "2.0": "2.2", "2.1": "2.2"}.get(version, version)
        if self.version not in VERSIONS[1:] or kind not in ("0", "1") or size not in ("4", "8"):
            raise ValueError(f"version {' '.join(words)!r} is not read")
        self.size = f"u{size}"
        if kind == "1":
            one = data[end + 1 : end + 5]
            orders = {(1).to_bytes(4, "little"): "<", (1).to_bytes(4, "big"): ">"}
            if one not in orders:
                raise ValueError("the order of bytes is not given")
            self.order = orders[one]

    def physical_names(self, text: bytes) -> None:
        """Read the names of physical groups."""
        count, *lines = text.strip().splitlines() or [b"0"]
        if len(lines) < int(count):
            raise ValueError("it is cut off")
        for line in lines[: int(count)]:
            dim, number, name = text_of(line).strip().split(maxsplit=2)
            quoted = len(name) > 1 and name[0] == name[-1] == '"'
            names = self.names.setdefault((int(dim), int(number)), [])
            names.append(name[1:-1] if quoted else name)

    def entities(self, reader: _NumberReader, *, parts: bool = False) -> None:
        """Read the physical groups of entities, and the partitions of their parts."""
        count_of = self.size if self.version == "4.1" or not parts else "u4"
        if parts:
            reader.one(count_of)
            reader.rows(reader.one(count_of), ("i4", 2))  # ghosts: they are no cells of their own
        for dim, count in enumerate(reader.take(self.size, 4)):
            for _ in range(count):
                key = dim, reader.one("i4")
                if parts:
                    reader.take("i4", 2)  # dimension and number of the whole one
                    self.partitions[key] = tuple(reader.take("i4", reader.one(count_of)))
                reader.take("f8", 3 if dim == 0 and self.version == "4.1" else 6)
                self.groups[key] = reader.take("i4", reader.one(self.size))
                if dim:
                    reader.take("i4", reader.one(self.size))  # its boundary

    def ghost_elements(self, reader: _NumberReader) -> None:
        """Read in which partitions cells of others are repeated."""
        for _ in range(reader.one(self.size)):
            reader.one(self.size)
            reader.one("i4")
            self.ghosts.add(tuple(reader.take("i4", reader.one(self.size))))

    # ---- nodes and cells ------------------------------------------------------------------------
    def _nodes(self, tags: Ints, points: Array) -> None:
        self.tags.append(tags.ravel().astype(np.int64))
        self.points.append(points[:, :3])

    def nodes(self, reader: _NumberReader) -> None:
        """Read nodes of version 1 or 2."""
        self._nodes(*reader.rows(reader.line(), ("i4", 1), ("f8", 3)))

    def parametric_nodes(self, reader: _NumberReader) -> None:
        """Read nodes of version 2 with their parameters: one on curves, two on surfaces."""
        for _ in range(reader.line()):
            self._nodes(*reader.rows(1, ("i4", 1), ("f8", 3)))
            dim, _ = reader.take("i4", 2)
            reader.take("f8", dim if dim in (1, 2) else 0)

    def nodes_of_entities(self, reader: _NumberReader) -> None:
        """Read nodes of version 4."""
        new = self.version == "4.1"
        for _ in range(reader.take(self.size, 4 if new else 2)[0]):
            head = reader.take("i4", 3)
            dim, parametric = head[0 if new else 1], head[2]
            count, width = reader.one(self.size), 3 + (dim if parametric else 0)
            if new:
                (tags,) = reader.rows(count, (self.size, 1))
                (points,) = reader.rows(count, ("f8", width))
            else:
                tags, points = reader.rows(count, ("i4", 1), ("f8", width))
            self._nodes(tags, points)

    def elements_of_entities(self, reader: _NumberReader) -> None:
        """Read cells of version 4."""
        new = self.version == "4.1"
        number = self.size if new else "i4"
        for _ in range(reader.take(self.size, 4 if new else 2)[0]):
            first, second, code = reader.take("i4", 3)
            key = (first, second) if new else (second, first)
            (rows,) = reader.rows(reader.one(self.size), (number, 1 + _nodes_of(code)))
            at = self.groups.get(key, []), self.partitions.get(key, ())
            self.blocks.append(_CellBlock(_type(code), rows[:, 1:].astype(np.int64), *at))

    def elements(self, reader: _NumberReader) -> None:
        """Read cells of version 1 or 2: rows of number, type, tags and nodes."""
        if reader.binary:
            remaining = reader.line()
            while remaining > 0:
                code, count, tags = reader.take("i4", 3)
                if tags < 0:
                    raise ValueError(f"a count of {tags} is none")
                (rows,) = reader.rows(count, ("i4", 1 + tags + _nodes_of(code)))
                self._tagged(code, rows[:, 1 : 1 + tags], rows[:, 1 + tags :])
                remaining -= max(count, 1)
            return
        remaining, some = reader.line(), 64
        while remaining > 0:
            head = reader.words[reader.at : reader.at + 5]
            if len(head) < 3:
                raise ValueError("it is cut off")
            tags, code = 3 if self.version == "1" else int(head[2]), int(head[1])
            length = 3 + tags + _nodes_of(code) - (self.version == "1")
            if tags < 0:
                raise ValueError(f"a count of {tags} is none")
            most = max(1, min(remaining, some, (len(reader.words) - reader.at) // length))
            start = reader.at
            (rows,) = reader.rows(most, ("f8", length))
            same = (rows[:, 1] == code) & ((rows[:, 2] == tags) | (self.version == "1"))
            alike = most if same.all() else int(np.argmin(same))
            if not alike:
                raise ValueError(f"{head[1]:g} or {head[2]:g} is no whole number")
            some = 2 * some if alike == most else 64
            reader.at = start + alike * length
            rows = _as_integers(rows[:alike])
            first = 2 if self.version == "1" else 3
            self._tagged(code, rows[:, first : first + tags], rows[:, first + tags :])
            remaining -= alike

    def _tagged(self, code: int, tags: Ints, cells: Ints) -> None:
        """Add cells whose tags are group, entity, number of partitions, partitions."""
        kind, own = _type(code), np.zeros((len(cells), 1), np.int64)
        # a group and partitions alike: one block
        keys = np.concatenate([tags[:, :1] if tags.shape[1] else own, tags[:, 3:]], axis=1)
        every, which = np.unique(keys, axis=0, return_inverse=True)
        for k, (group, *parts) in enumerate(every.tolist()):
            chosen = cells[which.ravel() == k].astype(np.int64)
            partitions = () if self.version == "1" else tuple(abs(p) for p in parts)
            self.blocks.append(_CellBlock(kind, chosen, [group], partitions))


def _type(code: int) -> str:
    kind = _gmsh_to_meshio_type.get(code)
    if kind is None:
        raise ValueError(
            f"cells of Gmsh's type {code} are not read; mesh with Mesh.ElementOrder 1 or 2"
        )
    return str(kind)


def _nodes_of(code: int) -> int:
    return int(num_nodes_per_cell[_type(code)])


def read_gmsh(path: Path) -> SerialMesh:
    """Read a file of Gmsh on this rank; physical groups become regions.

    A group without a name is called ``"surface 3"`` and the like; groups of one name, of one
    dimension or of several, are one region. Warns of names that no cells have.

    Raises
    ------
    MeshError : the file is damaged, of another version, or one of several parts of a mesh.
    """
    file = _sections(path, path.read_bytes())
    _require_complete(path, file)
    points = np.concatenate([np.empty((0, 3)), *file.points])
    tags = np.concatenate([np.empty(0, np.int64), *file.tags])
    if not len(points):
        raise MeshError(f"{str(path)!r} holds no points", path=str(path), asked="$Nodes")
    order = np.argsort(tags, kind="stable")
    tags, table = tags[order], LabelTable(tags[order], order)
    if (tags[1:] == tags[:-1]).any():
        twice = int(tags[1:][tags[1:] == tags[:-1]][0])
        raise _unreadable(path, "$Nodes", f"node {twice} is given twice", twice)
    mesh = SerialMesh.from_arrays(points, {}, {})
    blocks: dict[str, list[_CellBlock]] = {}
    for block in file.blocks:
        blocks.setdefault(block.kind, []).append(block)
    for kind, own in blocks.items():
        nodes = np.concatenate([block.cells for block in own])
        at, missing = table.find(nodes)
        if len(missing):
            missing_node = int(nodes.ravel()[missing[0]])
            raise _unreadable(
                path, "$Elements", f"a cell names node {missing_node}, which is none", missing_node
            )
        at = at[:, _WEDGE18] if kind == "wedge18" else _gmsh_to_meshio_order(kind, at)
        _add(mesh, file, own, mesh.append(kind, at))
    if not mesh.cells:
        raise MeshError(f"{str(path)!r} holds no cells", path=str(path), asked="$Elements")
    _sort_regions(path, file, mesh)
    return mesh


def _sort_regions(path: Path, file: _GmshFile, mesh: SerialMesh) -> None:
    """Put regions in the order in which the file names them; warn of names without cells."""
    names_in_file = list(dict.fromkeys(name for names in file.names.values() for name in names))
    empty = [name for name in names_in_file if name not in mesh.members]
    if empty:
        is_empty = file.version == "2.2" and not mesh.members
        warnings.warn(
            f"{path.name}: no cells have the physical names {', '.join(map(repr, empty))}, which "
            "are no regions"
            + (
                "; version 2.2 with Mesh.SaveAll = 1 keeps no groups: write 4.1" if is_empty else ""
            ),
            stacklevel=5,
        )
    every = dict.fromkeys([*names_in_file, *mesh.members])
    mesh.members = {name: mesh.members[name] for name in every if name in mesh.members}


def _add(mesh: SerialMesh, file: _GmshFile, blocks: list[_CellBlock], numbers: Ints) -> None:
    """Add the cells of blocks of one type to the regions of their groups."""
    kind, start = blocks[0].kind, 0
    dim = dimension(kind)
    rows_by_region: dict[str, list[Ints]] = {}
    for block in blocks:
        own = numbers[start : start + len(block.cells)]
        start += len(block.cells)
        for group in block.groups:
            number = abs(group)  # negative where Gmsh was told to turn the normals over
            if number and len(own):  # 0: in no physical group
                names = [name for name in file.names.get((dim, number), []) if name]
                for name in names or [f"{ENTITIES[dim]} {number}"]:
                    rows_by_region.setdefault(name, []).append(own)
    for name, parts in rows_by_region.items():
        mesh.add_to_region(name, kind, np.concatenate(parts))


def _unreadable(path: Path, section: str, reason: str, given: object = None) -> MeshError:
    possible = VERSIONS if section == "$MeshFormat" else ()
    reason = f"{section}: {reason}"
    return unreadable(path, reason, asked=section, given=given, possible=possible)


def _sections(path: Path, data: bytes) -> _GmshFile:
    """Read the sections that are needed; others are passed over.

    Raises
    ------
    MeshError : one is damaged.
    """
    file, at = _GmshFile(), 0
    while match := _SECTION.search(data, at):
        name, start = match[1].decode(), match.end()
        try:
            at = _section(file, name, data, start)
        except (ValueError, IndexError, OverflowError, MemoryError) as error:
            raise _unreadable(path, f"${name}", str(error) or "it is too large") from None
    if not file.points and at == 0:
        raise _unreadable(path, "$MeshFormat", "there are no sections")
    return file


def _section(file: _GmshFile, name: str, data: bytes, start: int) -> int:
    """Read one section and return where it ends."""
    last = (b"$END" if name in ("NOD", "ELM") else b"$End") + name.encode()
    end = data.find(last, start)
    if end < 0:
        raise ValueError(f"it has no end, {last.decode()}")
    old = file.version in ("1", "2.2")
    readers = {
        "Entities": file.entities,
        "PartitionedEntities": lambda reader: file.entities(reader, parts=True),
        "Nodes": file.nodes if old else file.nodes_of_entities,
        "NOD": file.nodes,
        "ParametricNodes": file.parametric_nodes,
        "Elements": file.elements if old else file.elements_of_entities,
        "ELM": file.elements,
        "GhostElements": file.ghost_elements,
    }
    if name == "MeshFormat":
        file.format(data, start)
    elif name == "PhysicalNames":
        file.physical_names(data[start:end])
    elif name in readers:
        reader = _NumberReader(data, start, end, file.order)
        readers[name](reader)
        end = data.find(last, reader.end if reader.binary else end)
        if end < 0:
            raise ValueError(f"it has no end, {last.decode()}")
    return end + len(last)


def _require_complete(path: Path, file: _GmshFile) -> None:
    """Raise where the file is one part of a mesh that Gmsh wrote into several."""
    part = re.search(r"_([0-9]+)$", path.stem)
    every = file.ghosts or {block.partitions for block in file.blocks if len(block.cells)}
    if part and every and all(int(part[1]) in own for own in every):
        raise MeshError(
            f"{str(path)!r} is one part of a mesh, partition {part[1]}: write all into one file "
            "(Gmsh: Mesh.PartitionSplitMeshFiles = 0), or none, as ranks share a mesh by "
            "themselves",
            path=str(path),
            asked="partition",
            given=int(part[1]),
            possible=("one file",),
        )
