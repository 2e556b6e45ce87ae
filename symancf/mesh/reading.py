# SPDX-License-Identifier: BSD-3-Clause
"""Mesh files through meshio: physical names, tags and named sets become regions."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable
from difflib import SequenceMatcher
from pathlib import Path

import meshio
import numpy as np
from meshio.xdmf.common import xdmf_idx_to_meshio_type

from ..arrays import Array, Ints
from ..cells.table import CELLS
from ..errors import MeshError
from .abaqus import read_abaqus
from .gmsh import read_gmsh
from .limits import limited
from .serial import SerialMesh

_ENTITIES = ("point", "curve", "surface", "volume")
_VTK = (".vtk", ".vtu")

CAD = (".step", ".stp", ".iges", ".igs", ".brep", ".geo")
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
    if path.suffix.lower() == ".inp":
        return _bounded(path, read_abaqus)
    if path.suffix.lower().startswith(".msh") and not _of_fluent(path):
        return _bounded(path, read_gmsh)
    noise = io.StringIO()
    try:
        quiet = contextlib.redirect_stdout(noise), contextlib.redirect_stderr(noise)
        with limited(path), quiet[0], quiet[1]:
            source = meshio.read(path)
    except (Exception, SystemExit) as error:  # meshio exits where no reader fits
        raise _unreadable(path, error, noise.getvalue()) from None
    return _united(_convert(source, path), path)


def _bounded(path: Path, read: Callable[[Path], SerialMesh]) -> SerialMesh:
    """Read a file without more memory than one of its size can need."""
    try:
        with limited(path):
            return _united(read(path), path)
    except MemoryError as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: BaseException, said: str = "") -> MeshError:
    reason = said if isinstance(error, SystemExit) else str(error)
    if isinstance(error, MemoryError):
        reason = f"it is damaged: it asks for more memory than such a file can need ({reason})"
    reason = " ".join(reason.split()) or type(error).__name__
    return MeshError(f"cannot read {str(path)!r}: {reason}", path=str(path), asked=str(path))


def _of_fluent(path: Path) -> bool:
    """Whether a file .msh is of Ansys Fluent, whose sections begin with a parenthesis."""
    with path.open("rb") as file:
        return file.read(256).lstrip().startswith(b"(")


def _convert(source: meshio.Mesh, path: Path) -> SerialMesh:
    if source.points.size == 0:
        raise MeshError(f"{str(path)!r} holds no points", path=str(path))
    mesh = SerialMesh.from_arrays(source.points, {}, {})
    if path.suffix.lower() in _VTK:
        source.cells = [_outwards(block, source.points) for block in source.cells]
    numbers = [mesh.append(block.type, block.data) for block in source.cells]
    kinds = [block.type for block in source.cells]
    if not kinds:
        raise MeshError(f"{str(path)!r} holds no cells", path=str(path), asked="cells")
    _named_sets(source, kinds, numbers, mesh)
    for name, points in (source.point_sets or {}).items():
        found = mesh.append("vertex", np.asarray(points, np.int64).reshape(-1, 1))
        mesh.add_to_region(name, "vertex", found)
    return mesh


def _outwards(block: meshio.CellBlock, points: Array) -> meshio.CellBlock:
    """Return cells with wedges numbered as meshio does: VTK's are mirrored, but not everybody's.

    VTK's manual and its programs have said both, and meshio turns those of first order alone.
    """
    cell = CELLS.get(block.type)
    if cell is None or cell.factors != (2, 1) or not len(block.data):
        return block
    mirrored = np.lexsort(cell.unit[:, [1, 0, 2]].T), np.lexsort(cell.unit.T)
    order = np.empty(len(cell.nodes), dtype=np.int64)
    order[mirrored[1]] = mirrored[0]
    x = points[block.data[:, [0, 1, 2, 3]]]
    out = np.linalg.det(x[:, 1:] - x[:, :1]) < 0.0
    return meshio.CellBlock(
        block.type, np.where(out[:, None], block.data[:, order], block.data), block.tags
    )


def _named_sets(
    source: meshio.Mesh, kinds: list[str], numbers: list[Ints], mesh: SerialMesh
) -> None:
    for name, chosen in source.cell_sets.items():
        if name.startswith("gmsh:"):
            continue
        for kind, own, which in zip(kinds, numbers, chosen, strict=True):
            if which is not None and len(which):
                mesh.add_to_region(name, kind, own[np.asarray(which, np.int64)])


def _united(mesh: SerialMesh, path: Path) -> SerialMesh:
    """Unite cells with the same vertices: MSH 2 repeats a cell for each of its physical groups.

    Warns where that is not the cause: repeats in one group or in none, or numbered in another
    way. Such surfaces or volumes lie on top of each other.
    """
    for kind in list(mesh.cells):
        before = mesh.cells[kind]
        regions = [held[kind] for held in mesh.members.values() if kind in held]
        gone, stand_in = mesh.unite(kind)
        if not len(gone) or kind == "vertex":
            continue
        named = np.zeros(len(before), bool)
        again = ~np.all(before[gone] == before[stand_in], axis=1)
        same = np.arange(len(before))
        same[gone] = stand_in
        for region in regions:
            named[region] = True
            _, place, count = np.unique(same[region], return_inverse=True, return_counts=True)
            crowded = np.zeros(len(before), bool)
            crowded[region[count[place] > 1]] = True
            again |= crowded[gone]
        again |= ~named[gone] | ~named[stand_in]
        if again.any():
            k = int(np.argmax(again))
            vertices = " ".join(map(str, before[gone[k]]))
            warnings.warn(
                f"{path.name}: {int(again.sum())} cells of type {kind!r} have the points of an "
                f"earlier one, e.g. {gone[k]} those of {stand_in[k]} (points {vertices}), and "
                "count once; do parts of the geometry lie on top of each other (Gmsh: Coherence)?",
                stacklevel=4,
            )
    return mesh
