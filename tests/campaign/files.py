# SPDX-License-Identifier: BSD-3-Clause
"""Mesh files of all formats, damaged in what they say and in their bytes."""

from __future__ import annotations

import os
import random
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

import symancf as sa

from . import arrays, models
from .case import Case

COMM = MPI.COMM_WORLD
FORMATS = {"gmsh22": ".msh", "gmsh22-binary": ".msh", "gmsh41": ".msh", "abaqus": ".inp"}
DIMENSION = {"vertex": 0, "line": 1, "triangle": 2, "quad": 2, "tetra": 3, "hexahedron": 3}
GMSH = {"vertex": 15, "line": 1, "triangle": 2, "quad": 3, "tetra": 4, "hexahedron": 5}
Group = tuple[str, Any, int, str]  # cell type, cells, physical number, name


def groups(kind: str) -> tuple[Any, list[Group]]:
    """Return the points of a small regular mesh, and its cells and sides as physical groups."""
    points, cells, regions = arrays.grid(kind)
    (name, whole), *_ = cells.items()
    side, root = regions["root"]
    return points, [(name, whole, 1, "body"), (side, root, 2, "root")]


def text(form: str, points: Any, made: list[Group]) -> bytes:
    """Return a mesh file."""
    if form == "abaqus":
        return _abaqus(points, made)
    if form == "gmsh41":
        return _gmsh41(points, made)
    return _gmsh22(points, made, binary=form.endswith("binary"))


def _names(made: list[Group]) -> str:
    lines = [f'{DIMENSION[cell]} {number} "{name}"' for cell, _, number, name in made if name]
    return "$PhysicalNames\n" + "\n".join([str(len(lines)), *lines]) + "\n$EndPhysicalNames\n"


def _gmsh22(points: Any, made: list[Group], binary: bool) -> bytes:
    n = sum(len(cells) for _, cells, _, _ in made)
    head = f"$MeshFormat\n2.2 {int(binary)} 8\n".encode()
    if binary:
        out = head + struct.pack("<i", 1) + b"\n$EndMeshFormat\n" + _names(made).encode()
        out += f"$Nodes\n{len(points)}\n".encode()
        for k, x in enumerate(points):
            out += struct.pack("<i3d", k + 1, *x)
        out += f"\n$EndNodes\n$Elements\n{n}\n".encode()
        number = 1
        for cell, cells, tag, _ in made:
            out += struct.pack("<3i", GMSH[cell], len(cells), 2)
            for corners in cells:
                out += struct.pack("<3i", number, tag, tag)
                out += struct.pack(f"<{len(corners)}i", *(c + 1 for c in corners))
                number += 1
        return out + b"\n$EndElements\n"
    lines = [f"{k + 1} {x[0]:.16g} {x[1]:.16g} {x[2]:.16g}" for k, x in enumerate(points)]
    out = head + b"$EndMeshFormat\n" + _names(made).encode()
    out += f"$Nodes\n{len(points)}\n".encode() + "\n".join(lines).encode() + b"\n$EndNodes\n"
    rows, number = [], 1
    for cell, cells, tag, _ in made:
        for corners in cells:
            row = " ".join(str(c + 1) for c in corners)
            rows.append(f"{number} {GMSH[cell]} 2 {tag} {tag} {row}")
            number += 1
    return out + f"$Elements\n{n}\n".encode() + "\n".join(rows).encode() + b"\n$EndElements\n"


def _gmsh41(points: Any, made: list[Group]) -> bytes:
    entities = [[(k + 1, g) for k, g in enumerate(made) if DIMENSION[g[0]] == d] for d in range(4)]
    lines = ["$MeshFormat", "4.1 0 8", "$EndMeshFormat", _names(made).rstrip(), "$Entities"]
    lines.append(" ".join(str(len(e)) for e in entities))
    for d, some in enumerate(entities):
        for number, group in some:
            box = " ".join(["0"] * (3 if d == 0 else 6))
            lines.append(f"{number} {box} 1 {group[2]}" + (" 0" if d else ""))
    top = max(d for d in range(4) if entities[d])
    n = len(points)
    lines += ["$EndEntities", "$Nodes", f"1 {n} 1 {n}", f"{top} {entities[top][0][0]} 0 {n}"]
    lines += [str(k + 1) for k in range(n)]
    lines += [f"{x[0]:.16g} {x[1]:.16g} {x[2]:.16g}" for x in points]
    lines += ["$EndNodes", *_elements41(made)]
    return ("\n".join(lines) + "\n").encode()


def _elements41(made: list[Group]) -> list[str]:
    total = sum(len(cells) for _, cells, _, _ in made)
    lines = ["$Elements", f"{len(made)} {total} 1 {total}"]
    number = 1
    for k, (cell, cells, _, _) in enumerate(made):
        lines.append(f"{DIMENSION[cell]} {k + 1} {GMSH[cell]} {len(cells)}")
        for corners in cells:
            lines.append(" ".join(str(c) for c in (number, *(c + 1 for c in corners))))
            number += 1
    return [*lines, "$EndElements"]


ABAQUS = {"line": "T3D2", "quad": "S4", "hexahedron": "C3D8", "triangle": "S3", "tetra": "C3D4"}


def _abaqus(points: Any, made: list[Group]) -> bytes:
    """Write cells as elements, sides as node sets."""
    lines = ["*HEADING", "campaign", "*NODE"]
    lines += [f"{k + 1}, {x[0]:.16g}, {x[1]:.16g}, {x[2]:.16g}" for k, x in enumerate(points)]
    number = 1
    top = max(DIMENSION[g[0]] for g in made)
    for cell, cells, _, name in made:
        if DIMENSION[cell] < top:
            nodes = sorted({c for corners in cells for c in corners})
            lines += [f"*NSET, NSET={name}", *(str(c + 1) for c in nodes)]
            continue
        lines.append(f"*ELEMENT, TYPE={ABAQUS[cell]}, ELSET={name}")
        for corners in cells:
            lines.append(", ".join(str(c) for c in (number, *(c + 1 for c in corners))))
            number += 1
    return ("\n".join(lines) + "\n").encode()


def _path(suffix: str) -> Path:
    folder = Path(os.environ.get("SYMANCF_CAMPAIGN", "."))
    return folder / f"mesh{suffix}"


def weigh(kind: str, suffix: str, content: bytes, cells: int | None) -> Any:
    """Write and read a file; return the weight that its support carries."""
    path = _path(suffix)
    if COMM.rank == 0:
        path.write_bytes(content)
    COMM.Barrier()
    try:
        return arrays.weigh_mesh(kind, sa.Mesh.read(path), cells)
    finally:
        COMM.Barrier()  # before rank 0 writes the next one


def _sayings(kind: str) -> dict[str, tuple[Any, list[Group], int | None, str]]:
    """Return name -> points, groups, cells that count, expectation."""
    points, made = groups(kind)
    (cell, whole, _, _), (side, root, _, _) = made
    n = len(whole)
    body = made[0]
    half = len(root) // 2
    split = [body, (side, root[:half] or root, 2, "root"), (side, root[half:], 3, "root")]
    return {
        "as it is": (points, made, n, "right"),
        "a cell twice": (points, [(cell, [*whole, whole[0]], 1, "body"), made[1]], n, "either"),
        "a cell in two groups": (points, [*made, (cell, whole[:1], 7, "part")], n, "either"),
        "sides in two groups": (points, [*made, (side, root, 8, "also")], n, "right"),
        "a name in two dimensions": (points, [*made, (side, root, 9, "body")], n, "either"),
        "two groups of one name": (points, split, n, "either"),
        "a name with blanks": (points, [*made, (side, root, 4, "left end, upper/lower")], n, "either"),  # noqa: E501
        "a name of other letters": (points, [*made, (side, root, 4, "Äußeres 端")], n, "either"),
        "a group called all": (points, [body, made[1], (side, root, 5, "all")], n, "either"),
        "a group without a name": (points, [*made, (side, root, 6, "")], n, "either"),
        "points that no cell has": (np.r_[points, [[7.0, 7, 7]]], made, n, "either"),
        "in micrometres": (points * 1e6, made, None, "either"),
        "a body without cells": (points, [(cell, [], 1, "body"), made[1]], None, "error"),
        "a point at nan": (points * np.nan, made, None, "error"),
    }  # fmt: skip


def damaged(chance: random.Random, content: bytes) -> tuple[str, bytes]:
    """Return a way to damage a file, and the damaged file."""
    way = chance.choice(
        ["cut", "cut", "bytes", "bytes", "digits", "digits", "line lost", "line twice",
         "lines exchanged", "utf-16", "crlf", "zeros", "blanks"]
    )  # fmt: skip
    data = bytearray(content)
    if way == "cut":
        return way, content[: chance.randrange(len(content))]
    if way == "bytes":
        for _ in range(chance.choice([1, 3, 20])):
            data[chance.randrange(len(data))] = chance.randrange(256)
    elif way == "digits":
        digits = [k for k, c in enumerate(data) if 48 <= c <= 57]
        for k in chance.sample(digits, chance.choice([1, 2, 5])):
            data[k] = chance.choice(b"0123456789")
    elif way == "zeros":
        start = chance.randrange(len(data))
        data[start : start + 40] = bytes(len(data[start : start + 40]))
    elif way == "utf-16":
        return way, content.decode("latin-1").encode("utf-16")
    elif way == "crlf":
        return way, content.replace(b"\n", b"\r\n")
    elif way == "blanks":
        return way, content.replace(b" ", b"   ")
    else:
        lines = content.split(b"\n")
        k, other = chance.randrange(len(lines)), chance.randrange(len(lines))
        if way == "line lost":
            del lines[k]
        elif way == "line twice":
            lines.insert(k, lines[k])
        else:
            lines[k], lines[other] = lines[other], lines[k]
        return way, b"\n".join(lines)
    return way, bytes(data)


def generate(chance: random.Random, count: int) -> Iterator[Case]:
    """Yield mesh files: a third says odd things, the others are damaged."""
    sayings = [
        (kind, form, name)
        for kind in models.KINDS
        for form in FORMATS
        for name in _sayings(kind)
        if not (form == "abaqus" and name in ("a group without a name", "a cell in two groups"))
    ]
    chance.shuffle(sayings)
    for kind, form, name in sayings[: (count + 2) // 3]:
        points, made, cells, expect = _sayings(kind)[name]
        content = text(form, points, made)
        run = _runner(kind, FORMATS[form], content, cells)
        yield Case(f"{kind} {form}: {name}", run, expect)  # type: ignore[arg-type]
    for k in range(count - len(sayings[: (count + 2) // 3])):
        kind, form = chance.choice(models.KINDS), chance.choice(list(FORMATS))
        points, made = groups(kind)
        way, content = damaged(chance, text(form, points, made))
        yield Case(f"{kind} {form} {k}: {way}", _runner(kind, FORMATS[form], content, None))


def _runner(kind: str, suffix: str, content: bytes, cells: int | None) -> Callable[[], Any]:
    return lambda: weigh(kind, suffix, content, cells)
