# SPDX-License-Identifier: BSD-3-Clause
"""Mesh files through meshio: physical names, tags and named sets become regions."""

from __future__ import annotations

import contextlib
import io
from difflib import SequenceMatcher
from pathlib import Path

import meshio
import numpy as np
from numpy.typing import NDArray

from symancf.errors import MeshError
from symancf.mesh.cells import dimension
from symancf.mesh.serial import SerialMesh

Ints = NDArray[np.int64]

_ENTITIES = ("point", "curve", "surface", "volume")


def read_serial(path: Path) -> SerialMesh:
    """Read a mesh file on this rank.

    Raises
    ------
    MeshError
        No such file, a format that meshio does not know, or a damaged file.
    """
    if not path.exists():
        near = sorted(p.name for p in path.parent.glob("*.msh")) if path.parent.is_dir() else []
        near.sort(key=lambda name: -SequenceMatcher(None, path.name, name).ratio())
        hint = f"; meshes in {path.parent}: {', '.join(near[:8])}" if near else ""
        raise MeshError(
            f"no mesh file {str(path)!r} (working directory {Path.cwd()}){hint}", path=str(path)
        )
    noise = io.StringIO()
    try:
        with contextlib.redirect_stdout(noise), contextlib.redirect_stderr(noise):
            source = meshio.read(path)
    except (Exception, SystemExit) as error:  # meshio exits where no reader fits
        reason = str(error) if not isinstance(error, SystemExit) else noise.getvalue()
        reason = " ".join(reason.split()) or type(error).__name__
        raise MeshError(f"cannot read {str(path)!r}: {reason}", path=str(path)) from None
    return _convert(source, path)


def _convert(source: meshio.Mesh, path: Path) -> SerialMesh:
    if source.points.size == 0:
        raise MeshError(f"{str(path)!r} holds no points", path=str(path))
    mesh = SerialMesh.from_arrays(source.points, {}, {})
    numbers = [mesh.append(block.type, block.data) for block in source.cells]
    kinds = [block.type for block in source.cells]
    if not kinds:
        raise MeshError(f"{str(path)!r} holds no cells", path=str(path))
    _named_sets(source, kinds, numbers, mesh)
    _tags(source, kinds, numbers, mesh)
    for name, points in (source.point_sets or {}).items():
        found = mesh.append("vertex", np.asarray(points, np.int64).reshape(-1, 1))
        mesh.add_to_region(name, "vertex", found)
    _merge_twins(mesh)
    return mesh


def _named_sets(
    source: meshio.Mesh, kinds: list[str], numbers: list[Ints], mesh: SerialMesh
) -> None:
    for name, chosen in source.cell_sets.items():
        if name.startswith("gmsh:"):
            continue
        for kind, own, which in zip(kinds, numbers, chosen, strict=True):
            if which is not None and len(which):
                mesh.add_to_region(name, kind, own[np.asarray(which, np.int64)])


def _tags(source: meshio.Mesh, kinds: list[str], numbers: list[Ints], mesh: SerialMesh) -> None:
    """Physical tags; those without a name are called 'surface 3' and the like."""
    tags = source.cell_data.get("gmsh:physical")
    if tags is None:
        return
    names = {
        (int(given[1]), int(given[0])): name
        for name, given in source.field_data.items()
        if np.shape(given) == (2,)
    }
    for kind, own, tag in zip(kinds, numbers, tags, strict=True):
        dim = dimension(kind)
        for value in np.unique(tag):
            if value == 0:  # Gmsh: in no physical group
                continue
            number = abs(int(value))  # negative where Gmsh was told to turn the normals over
            name = names.get((dim, number), f"{_ENTITIES[dim]} {number}")
            mesh.add_to_region(name, kind, own[np.flatnonzero(tag == value)])


def _merge_twins(mesh: SerialMesh) -> None:
    """Unite cells with equal vertices: MSH 2 repeats a cell for each of its physical groups."""
    for kind, connectivity in mesh.cells.items():
        _, first, back = np.unique(connectivity, axis=0, return_index=True, return_inverse=True)
        if len(first) == len(connectivity):
            continue
        kept = np.unique(first)
        new = np.searchsorted(kept, first[back.ravel()])
        mesh.cells[kind] = connectivity[kept]
        for region in mesh.members.values():
            if kind in region:
                region[kind] = np.unique(new[region[kind]])
