# SPDX-License-Identifier: BSD-3-Clause
"""Mesh files: those that meshio reads as they are, others by readers of their own.

Physical names, tags and named sets become regions; what gets lost is told.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import meshio
import numpy as np
from meshio.xdmf.common import xdmf_idx_to_meshio_type
from numpy.typing import NDArray

from ..arrays import Array, Data, Ints
from ..errors import MeshError
from .abaqus import read_abaqus
from .cells import outwards
from .gmsh import read_gmsh
from .kratos import read_mdpa
from .limits import bounded_text, limited
from .med import read_med
from .serial import SerialMesh, unreadable
from .su2 import read_su2

OWN: dict[str, Callable[[Path], SerialMesh]] = {
    ".inp": read_abaqus,
    ".mdpa": read_mdpa,
    ".med": read_med,
    ".su2": read_su2,
}
CAD = (".step", ".stp", ".iges", ".igs", ".brep", ".geo")
MAX_TAGS = 256  # different numbers of cells that are tags; more are a numbering or a field
#: What meshio leaves out of files, and words that files with it contain; none: all have it.
UNREAD_CONTENT = {
    ".xdmf": ("sets", (b"<Set",)),
    ".xmf": ("sets", (b"<Set",)),
    ".obj": ("groups and objects", (b"\ng ", b"\no ", b"\nusemtl ")),
    ".e": ("side sets and names of blocks", (b"num_side_sets", b"eb_names")),
    ".exo": ("side sets and names of blocks", (b"num_side_sets", b"eb_names")),
    ".ex2": ("side sets and names of blocks", (b"num_side_sets", b"eb_names")),
    ".cgns": ("boundary conditions", (b"ZoneBC_t",)),
    ".h5m": ("sets", ()),
    ".tec": ("zones", (b"ZONE", b"zone")),
    ".dat": ("zones", (b"ZONE", b"zone")),
    ".msh": ("zones", ()),  # of Fluent
    ".dato": ("sets", (b"SET ",)),
    ".post": ("sets", (b"SET ",)),
}
for _kind in ("wedge15", "pyramid13"):  # meshio 5.3 reads them but forgets their dimension
    meshio._mesh.topological_dimension.setdefault(_kind, 3)


def _mixed(data: Ints) -> list[meshio.CellBlock]:
    """Return the cells of XDMF's mixed topology: each is its type and its points.

    meshio 5.3 fails where one is of second order. Points and lines also tell how many points
    they have.
    """
    blocks: list[tuple[str, list[Ints]]] = []
    at = 0
    while at < len(data):
        kind = xdmf_idx_to_meshio_type[int(data[at])]
        at += 2 if kind in ("vertex", "line") else 1
        end = at + meshio._mesh.num_nodes_per_cell[kind]
        if not blocks or blocks[-1][0] != kind:
            blocks.append((kind, []))
        blocks[-1][1].append(data[at:end])
        at = end
    return [meshio.CellBlock(kind, np.array(rows)) for kind, rows in blocks]


meshio.xdmf.main.translate_mixed_cells = _mixed


def read_serial(path: Path) -> SerialMesh:
    """Read a mesh file on this rank.

    Raises
    ------
    MeshError : no such file, a format that meshio does not know, or a damaged file.
    """
    if not path.exists():
        near = sorted(p.name for p in path.parent.glob("*.msh")) if path.parent.is_dir() else []
        near.sort(key=lambda name: -SequenceMatcher(None, path.name, name).ratio())
        hint = f"; meshes in {path.parent}: {', '.join(near[:8])}" if near else ""
        if path.parent == Path("meshes") and not path.parent.exists():  # an example of the pages
            hint = "; `symancf demo --copy .` writes the meshes of the examples there"
        raise MeshError(
            f"no mesh file {str(path)!r} (working directory {Path.cwd()}){hint}",
            path=str(path),
            asked="path",
            given=str(path),
        )
    if path.suffix.lower() in CAD:
        raise MeshError(
            f"{str(path)!r} is a geometry, no mesh: mesh it, with Gmsh for example (`gmsh -3 "
            f"{path.name} -o {path.stem}.msh`), and read the mesh; the tutorial on a part from "
            "STEP shows it",
            path=str(path),
            asked="path",
            given=path.suffix,
        )
    suffix = path.suffix.lower()
    if suffix in OWN:
        return _bounded(path, OWN[suffix])
    if suffix.startswith(".msh") and not _of_fluent(path):
        return _bounded(path, read_gmsh)
    noise = io.StringIO()
    try:
        quiet = contextlib.redirect_stdout(noise), contextlib.redirect_stderr(noise)
        with limited(path), quiet[0], quiet[1]:
            source = _source(path)
    except (Exception, SystemExit) as error:  # meshio exits where no reader fits
        raise _unreadable(path, error, noise.getvalue()) from None
    if text := " ".join(noise.getvalue().split()):  # what it skips
        warnings.warn(f"{path.name}: meshio says: {text[:300]}", stacklevel=4)
    return _united(_convert(source, path), path)


def _bounded(path: Path, read: Callable[[Path], SerialMesh]) -> SerialMesh:
    """Read a file without more memory than one of its size can need."""
    try:
        with limited(path):
            return _united(read(path), path)
    except (MemoryError, OSError) as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: BaseException, text: str = "") -> MeshError:
    reason = text if isinstance(error, SystemExit) else str(error)
    if isinstance(error, MemoryError):
        reason = f"it is damaged: it asks for more memory than such a file can need ({reason})"
    reason = " ".join(reason.split()) or type(error).__name__
    return unreadable(path, reason)


def _of_fluent(path: Path) -> bool:
    """Whether a file .msh is of Ansys Fluent, whose sections begin with a parenthesis."""
    with path.open("rb") as file:
        return file.read(256).lstrip().startswith(b"(")


def _source(path: Path) -> meshio.Mesh:
    if path.suffix.lower() in (".bdf", ".fem", ".nas"):
        content = path.read_bytes()
        if b"BEGIN BULK" not in content:  # bulk data alone, as Gmsh writes it
            return meshio.read(bounded_text(b"BEGIN BULK\n" + content), "nastran")
    return meshio.read(path)


def _convert(source: meshio.Mesh, path: Path) -> SerialMesh:
    points = np.asarray(source.points)
    if points.size == 0:
        raise MeshError(f"{str(path)!r} holds no points", path=str(path), asked="points")
    mesh = SerialMesh.from_arrays(points, {}, {})
    kinds, numbers = [], []
    for block in source.cells:
        rows = _cells(block.type, np.asarray(block.data), mesh.points)
        kinds.append(block.type)
        numbers.append(mesh.append(block.type, rows))
    if not sum(map(len, numbers)):
        raise MeshError(f"{str(path)!r} holds no cells", path=str(path), asked="cells")
    for name, chosen in source.cell_sets.items():
        for kind, own, which in zip(kinds, numbers, chosen, strict=True):
            if which is not None and len(which):
                mesh.add_to_region(name, kind, own[np.asarray(which, np.int64)])
    unread = _tags(source, kinds, numbers, mesh) + _tags_of_points(source) + _missing_content(path)
    for name, ids in (source.point_sets or {}).items():
        cells = mesh.append("vertex", np.asarray(ids, np.int64).reshape(-1, 1))
        mesh.add_to_region(name, "vertex", cells)
    if unread:
        warnings.warn(
            f"{path.name}: not read as regions: {', '.join(unread)}; name them by mesh.select, or "
            "give the mesh in another format, e.g. Gmsh's .msh",
            stacklevel=4,
        )
    return mesh


def _cells(kind: str, rows: NDArray[Any], points: Array) -> NDArray[Any]:
    """Return the nodes of cells as signed integers, wedges in the sense of VTK."""
    rows = rows.astype(np.int64) if rows.dtype.kind == "u" else rows
    return outwards(kind, rows, points) if kind.startswith("wedge") else rows


def _missing_content(path: Path) -> list[str]:
    """Return what files of a kind can have, this one has and meshio does not read."""
    what, words = UNREAD_CONTENT.get(path.suffix.lower(), ("", (b"",) * 0))
    is_there = what and (not words or any(word in path.read_bytes() for word in words))
    return [what] if is_there else []


def _tags(
    source: meshio.Mesh, kinds: list[str], numbers: list[Ints], mesh: SerialMesh
) -> list[str]:
    """Make regions of whole numbers of cells; return what has too many of them.

    The region is called by the file where it names the number and its dimension, as Gmsh's
    physical groups are; else by the name of the numbers and the number, ``"medit:ref 3"``.
    """
    unread = []
    names = _names(source)
    physical = "gmsh:physical" in source.cell_data
    for name, values in source.cell_data.items():
        parts = [w for part in values if (w := _as_integers(part)) is not None]
        if len(parts) < len(kinds) or (physical and name == "gmsh:geometrical"):
            continue
        every = list(zip(kinds, numbers, parts, strict=True))
        if len(np.unique(np.concatenate(parts))) > MAX_TAGS:
            unread += [repr(name)] * _are_tags(parts, values)
        elif name == "gmsh:physical":  # signs tell of normals; 0: of no group
            every = [(kind, own[p != 0], np.abs(p[p != 0])) for kind, own, p in every]
            mesh.add_numbered("", every, names)
        else:
            mesh.add_numbered(name, every)
    return unread


def _tags_of_points(source: meshio.Mesh) -> list[str]:
    """Return whole numbers of points that are tags of groups."""
    data = source.point_data or {}
    tags = {name: _as_integers(part) for name, part in data.items()}
    return [
        f"{name!r} of points"
        for name, numbers in tags.items()
        if numbers is not None and _are_tags([numbers], [data[name]])
    ]


def _names(source: meshio.Mesh) -> dict[tuple[int, int], list[str]]:
    """Return the names that a file gives to the numbers of groups, by dimension and number."""
    names: dict[tuple[int, int], list[str]] = {}
    for name, pair in (source.field_data or {}).items():
        if np.shape(pair) == (2,) and np.asarray(pair).dtype.kind in "iu":
            names.setdefault((int(pair[1]), int(pair[0])), []).append(name)
    return names


def _are_tags(parts: list[Ints], numbers: list[Data]) -> bool:
    """Whether integers are tags of groups of points or cells, not a number of each."""
    values = np.concatenate(parts)
    integers = all(np.asarray(part).dtype.kind in "iu" for part in numbers)
    return integers and 1 < len(np.unique(values)) < len(values)


def _as_integers(values: Data) -> Ints | None:
    """Return one whole number of each cell; None where these are others, or none of them."""
    array = np.asarray(values)
    array = array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array
    if array.ndim != 1 or array.dtype.kind not in "iufb":
        return None
    if array.dtype.kind == "f" and not (np.abs(array) < 2**53).all():
        return None
    integers = array.astype(np.int64)
    return integers if (integers == array).all() else None


def _united(mesh: SerialMesh, path: Path) -> SerialMesh:
    """Unite cells with the same vertices: MSH 2 repeats a cell for each of its physical groups.

    Warns where that is not the cause: repeats in one group or in none, or numbered in another
    way. Such surfaces or volumes lie on top of each other.
    """
    for kind in list(mesh.cells):
        before = mesh.cells[kind]
        regions = [members[kind] for members in mesh.members.values() if kind in members]
        removed, stand_in = mesh.unite(kind)
        if not len(removed) or kind == "vertex":
            continue
        is_named = np.zeros(len(before), bool)
        again = ~np.all(before[removed] == before[stand_in], axis=1)
        same = np.arange(len(before))
        same[removed] = stand_in
        for region in regions:
            is_named[region] = True
            _, place, count = np.unique(same[region], return_inverse=True, return_counts=True)
            crowded = np.zeros(len(before), bool)
            crowded[region[count[place] > 1]] = True
            again |= crowded[removed]
        again |= ~is_named[removed] | ~is_named[stand_in]
        if again.any():
            k = int(np.argmax(again))
            vertices = " ".join(map(str, before[removed[k]]))
            warnings.warn(
                f"{path.name}: {int(again.sum())} cells of type {kind!r} have the points of an "
                f"earlier one, e.g. {removed[k]} those of {stand_in[k]} (points {vertices}), and "
                "count once; do parts of the geometry lie on top of each other (Gmsh: Coherence)?",
                stacklevel=4,
            )
    return mesh
