# SPDX-License-Identifier: BSD-3-Clause
"""Kratos's .mdpa files: sub model parts and properties become regions.

meshio takes the numbers of nodes for their places and reads no sub model parts. Format: Kratos
documentation, "Input data". Order of nodes: shape functions of Kratos, `hexahedra_3d_20.h`,
`hexahedra_3d_27.h`, `prism_3d_15.h`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array, Ints
from .serial import SerialMesh, unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Types of volumes, of surfaces (conditions, shells and what is in the plane), by their nodes.
_SOLIDS = {
    **{1: "vertex", 2: "line", 3: "triangle", 4: "tetra", 5: "pyramid", 6: "wedge"},
    **{8: "hexahedron", 10: "tetra10", 13: "pyramid13", 15: "wedge15", 20: "hexahedron20"},
    27: "hexahedron27",
}
_SURFACES = {
    **{1: "vertex", 2: "line", 3: "triangle", 4: "quad", 6: "triangle6", 8: "quad8", 9: "quad9"}
}
_LINES = {1: "vertex", 2: "line", 3: "line3"}
_SHAPES = {  # names of geometries, in which the number of nodes may mean another type
    **{"Line": _LINES, "Triangle": {3: "triangle", 6: "triangle6"}},
    **{"Prism": {6: "wedge", 15: "wedge15"}, "Tetrahedra": {4: "tetra", 10: "tetra10"}},
}
_THIN = re.compile("shell|membrane|surface|plate|face", re.IGNORECASE)
#: Places of VTK's nodes: edges below, upright ones, those above become below, above, upright.
_ORDERS = {
    "hexahedron20": [*range(12), *range(16, 20), *range(12, 16)],
    "hexahedron27": [*range(12), *range(16, 20), *range(12, 16), 24, 22, 21, 23, 20, 25, 26],
    "wedge15": [*range(9), *range(12, 15), *range(9, 12)],
}


_CELLS = ("Elements", "Conditions", "Geometries")
_Rows = list[list[str]]  # the words of lines
_Places = dict[tuple[str, int], tuple[str, int]]  # one of _CELLS and a number -> type, place


def _type(word: str, name: str, nodes: int) -> str:
    """Return the type of the cells of a block, by its name and their nodes."""
    shape = next((types for key, types in _SHAPES.items() if name.startswith(key)), None)
    plane = re.search("2D[0-9]*N?$", name)
    if word == "Conditions":  # on the boundary
        other = _LINES if plane else _SURFACES
    else:
        flat = plane or _THIN.search(name) or name.startswith("Quadrilateral")
        other = _SURFACES if flat else _SOLIDS
    kind = (shape or other).get(nodes)
    if kind is None:
        raise ValueError(f"{name} with {nodes} nodes is not read")
    return kind


def read_mdpa(path: Path) -> SerialMesh:
    """Read a file on this rank; a nested sub model part is named with dots, as Kratos does.

    A part is a region of its elements, conditions and geometries, one without any of its nodes.

    Raises
    ------
    MeshError : the file is damaged, or has cells of other types.
    """
    try:
        return _read(path.read_text(encoding="utf-8", errors="replace"))
    except (ValueError, IndexError, KeyError) as error:
        reason = f"there is no {error}" if isinstance(error, KeyError) else str(error)
        raise unreadable(path, reason) from None


def _blocks(text: str) -> Iterator[tuple[_Rows, _Rows]]:
    """Yield each block where it ends: headers of the blocks around it and its own, its lines."""
    open_blocks: list[tuple[list[str], _Rows]] = []
    for line in text.splitlines():
        words = line.partition("//")[0].split()
        if words[:1] == ["Begin"]:
            open_blocks.append((words[1:], []))
        elif words[:1] == ["End"]:
            if not open_blocks or open_blocks[-1][0][0] != words[1]:
                raise ValueError(f"'End {words[1]}' ends nothing")
            yield [header for header, _ in open_blocks], open_blocks.pop()[1]
        elif words and open_blocks:
            open_blocks[-1][1].append(words)
    if open_blocks:
        raise ValueError(f"'Begin {open_blocks[-1][0][0]}' has no end")


def _read(text: str) -> SerialMesh:
    nodes: _Rows = []
    blocks: list[tuple[str, str, _Rows]] = []
    parts: dict[str, dict[str, list[int]]] = {}
    for headers, rows in _blocks(text):
        word = headers[-1][0]
        if word == "Nodes":
            nodes += rows
        elif word in _CELLS:
            blocks.append((word, headers[-1][1], rows))
        elif rows and (what := word.removeprefix("SubModelPart")) in ("Nodes", *_CELLS):
            name = ".".join(" ".join(h[1:2]) for h in headers if h[0] == "SubModelPart")
            numbers = parts.setdefault(name, {}).setdefault(what, [])
            numbers += [int(n) for words in rows for n in words]
    number, points = _points(nodes)
    mesh = SerialMesh.from_arrays(points, {}, {})
    at = _add_cells(mesh, blocks, number)
    if not mesh.cells:
        raise ValueError("it holds no cells")
    for name, part in parts.items():
        _add_part(mesh, name, part, at, number)
    for kind in mesh.cells:  # conditions on one face, elements of a geometry
        mesh.unite(kind)
    return mesh


def _points(nodes: _Rows) -> tuple[dict[int, int], Array]:
    """Return the places of nodes by their numbers, and coordinates (n, 3)."""
    number = {int(words[0]): k for k, words in enumerate(nodes)}
    if len(number) < len(nodes):
        raise ValueError("a node is given twice")
    if any(len(words) < 4 for words in nodes):
        raise ValueError("a node has other than three coordinates")
    return number, np.array([words[1:4] for words in nodes], dtype=float).reshape(-1, 3)


def _add_cells(
    mesh: SerialMesh, blocks: list[tuple[str, str, _Rows]], number: dict[int, int]
) -> _Places:
    """Add the cells of blocks, and regions of their properties."""
    at: _Places = {}
    properties: list[tuple[str, Ints, Ints]] = []
    for word, name, rows in blocks:
        skip = 1 if word == "Geometries" else 2  # number, properties
        if not rows:
            continue
        kind = _type(word, name, len(rows[0]) - skip)
        cells = np.array([[number[int(w)] for w in row[skip:]] for row in rows])
        own = mesh.append(kind, cells[:, _ORDERS.get(kind, range(cells.shape[1]))])
        at |= {(word, int(row[0])): (kind, k) for row, k in zip(rows, own.tolist(), strict=True)}
        if skip == 2:
            properties.append((kind, own, np.array([int(row[1]) for row in rows])))
    mesh.add_numbered("properties", properties)
    return at


def _add_part(
    mesh: SerialMesh, name: str, part: dict[str, list[int]], at: _Places, number: dict[int, int]
) -> None:
    """Make a region of the cells of a sub model part, of its nodes where it has none."""
    rows: dict[str, list[int]] = {}
    for kind, k in [at[word, n] for word in _CELLS for n in part.get(word, ())]:
        rows.setdefault(kind, []).append(k)
    for kind, own in rows.items():
        mesh.add_to_region(name, kind, np.array(own))
    if not rows and "Nodes" in part:
        ids: Ints = np.array([[number[n]] for n in part["Nodes"]])
        mesh.add_to_region(name, "vertex", mesh.append("vertex", ids))
