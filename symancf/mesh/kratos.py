# SPDX-License-Identifier: BSD-3-Clause
"""Kratos's .mdpa files: sub model parts and properties become regions.

meshio takes the numbers of nodes for their places and reads no sub model parts. Format: Kratos
documentation, "Input data". Order of nodes: shape functions of Kratos, `hexahedra_3d_20.h`,
`hexahedra_3d_27.h`, `prism_3d_15.h`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Ints
from ..errors import MeshError
from .serial import SerialMesh

if TYPE_CHECKING:
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


@dataclass
class _Part:
    """Numbers of what a sub model part names."""

    nodes: list[int] = field(default_factory=list)
    cells: dict[str, list[int]] = field(default_factory=dict)  # Elements, Conditions, Geometries


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
        raise MeshError(
            f"cannot read {str(path)!r}: {reason}", path=str(path), asked=str(path)
        ) from None


def _read(text: str) -> SerialMesh:
    nodes: list[list[str]] = []
    blocks: list[tuple[str, str, list[list[str]]]] = []
    parts: dict[str, _Part] = {}
    open_blocks: list[tuple[str, str]] = []
    for line in text.splitlines():
        words = line.partition("//")[0].split()
        if not words:
            continue
        if words[0] == "Begin":
            open_blocks.append((words[1], words[2] if len(words) > 2 else ""))
            if words[1] in ("Elements", "Conditions", "Geometries"):
                blocks.append((words[1], words[2], []))
            continue
        if words[0] == "End":
            if not open_blocks or open_blocks.pop()[0] != words[1]:
                raise ValueError(f"'End {words[1]}' ends nothing")
            continue
        block = open_blocks[-1][0] if open_blocks else ""
        if block == "Nodes":
            nodes.append(words[:4])
        elif block in ("Elements", "Conditions", "Geometries"):
            blocks[-1][2].append(words)
        elif block.startswith("SubModelPart"):
            name = ".".join(n for what, n in open_blocks if what == "SubModelPart")
            part, what = parts.setdefault(name, _Part()), block.removeprefix("SubModelPart")
            into = part.nodes if what == "Nodes" else part.cells.setdefault(what, [])
            if what in ("Nodes", "Elements", "Conditions", "Geometries"):
                into.extend(map(int, words))
    if open_blocks:
        raise ValueError(f"'Begin {open_blocks[-1][0]}' has no end")
    return _assembled(nodes, blocks, parts)


def _assembled(
    nodes: list[list[str]], blocks: list[tuple[str, str, list[list[str]]]], parts: dict[str, _Part]
) -> SerialMesh:
    number = {int(words[0]): k for k, words in enumerate(nodes)}
    if len(number) < len(nodes):
        raise ValueError("a node is given twice")
    if any(len(words) != 4 for words in nodes):
        raise ValueError("a node has other than three coordinates")
    points = np.array([words[1:] for words in nodes], dtype=float).reshape(-1, 3)
    mesh = SerialMesh.from_arrays(points, {}, {})
    at: dict[tuple[str, int], tuple[str, int]] = {}  # what and its number -> type, place
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
    if not mesh.cells:
        raise ValueError("it holds no cells")
    for name, part in parts.items():
        found: dict[str, list[int]] = {}
        for word, numbers in part.cells.items():
            for n in numbers:
                kind, k = at[word, n]
                found.setdefault(kind, []).append(k)
        for kind, own_cells in found.items():
            mesh.add_to_region(name, kind, np.array(own_cells))
        if not found and part.nodes:
            ids: Ints = np.array([[number[n]] for n in part.nodes])
            mesh.add_to_region(name, "vertex", mesh.append("vertex", ids))
    for kind in mesh.cells:  # conditions on one face, elements of a geometry
        mesh.unite(kind)
    return mesh
