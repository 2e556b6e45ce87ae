# SPDX-License-Identifier: BSD-3-Clause
"""SU2's mesh files: markers become regions.

meshio makes numbers of the names of markers. Format: SU2, "Mesh file" (types are those of VTK).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .cells import outwards
from .serial import SerialMesh, unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TYPES = {
    **{1: ("vertex", 1), 3: ("line", 2), 5: ("triangle", 3), 9: ("quad", 4), 10: ("tetra", 4)},
    **{12: ("hexahedron", 8), 13: ("wedge", 6), 14: ("pyramid", 5), 21: ("line3", 3)},
    **{22: ("triangle6", 6), 23: ("quad8", 8), 28: ("quad9", 9), 24: ("tetra10", 10)},
    **{25: ("hexahedron20", 20), 29: ("hexahedron27", 27), 26: ("wedge15", 15)},
    32: ("wedge18", 18),
}


def read_su2(path: Path) -> SerialMesh:
    """Read a file on this rank.

    Raises
    ------
    MeshError : the file is damaged, has several zones or other types of cells.
    """
    try:
        return _read(path.read_text(encoding="utf-8", errors="replace"))
    except ValueError as error:
        raise unreadable(path, error) from None
    except (IndexError, StopIteration):
        raise unreadable(path, "it is damaged or cut off") from None


def _read(text: str) -> SerialMesh:
    lines = iter([s for line in text.splitlines() if (s := line.partition("%")[0].strip())])
    dim, points, blocks, marker = 3, np.empty((0, 3)), list[tuple[str, list[list[str]]]](), ""
    for line in lines:
        key, _, value = (word.strip() for word in line.partition("="))
        if key == "NZONE" and int(value) != 1:
            raise ValueError(f"it has {value} zones; give one to a file")
        if key == "NDIME":
            dim = int(value)
        elif key == "NPOIN":
            rows = _rows(lines, int(value.split()[0]))
            points = np.array([row[:dim] for row in rows], dtype=float).reshape(-1, dim)
        elif key == "MARKER_TAG":
            marker = value
        elif key in ("NELEM", "MARKER_ELEMS"):
            blocks.append((marker if key == "MARKER_ELEMS" else "", _rows(lines, int(value))))
    mesh = SerialMesh.from_arrays(points, {}, {})
    for name, rows in blocks:
        _add(mesh, name, rows)
    if not mesh.cells:
        raise ValueError("it holds no cells")
    return mesh


def _add(mesh: SerialMesh, name: str, rows: list[list[str]]) -> None:
    """Add cells of several types, to the region of a marker if there is one."""
    codes = [int(row[0]) for row in rows]
    for code in dict.fromkeys(codes):
        if code not in TYPES:
            raise ValueError(f"cells of VTK's type {code} are not read")
        kind, n = TYPES[code]
        own = [row[1 : 1 + n] for row, its in zip(rows, codes, strict=True) if its == code]
        cells = np.array(own).astype(np.int64)
        numbers = mesh.append(kind, outwards(kind, cells, mesh.points))
        if name:
            mesh.add_to_region(name, kind, numbers)


def _rows(lines: Iterator[str], count: int) -> list[list[str]]:
    return [next(lines).split() for _ in range(count)]
