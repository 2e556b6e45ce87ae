# SPDX-License-Identifier: BSD-3-Clause
"""Meshes in HDF5, written and read in slices: the way that scales."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Ints
from ..errors import MeshError
from ..runtime.collective import block_starts, together
from ..runtime.files import HdfFile, decoded, encoded
from ..runtime.hdf import DAMAGED, examined
from .serial import unreadable
from .slices import CellSlice, Slices

if TYPE_CHECKING:
    from collections.abc import Sequence

    import h5py
    from mpi4py import MPI

    from . import Mesh

FORMAT = "symancf mesh"
VERSION = 2

# Texts are arrays of bytes, see `symancf.runtime.files`.
# points            (n, 3) float64
# cells/<type>      (k, nv) int32 or int64, in the order of the attribute "types"
# regions/<number>  group with the attribute "name"; per cell type a sorted int64 data set of cell
#                   numbers, or, where all cells of the type belong to it, the attribute
#                   <type> = "all"
# labels/points     (n,) int64, labels/cells/<type> (k,) int64; where the mesh has labels
# Version 1 had groups of the names themselves, with %2F for a slash.


def write_slices(mesh: Mesh, path: Path) -> None:
    """Write the slices of all ranks, under a temporary name until complete. Collective."""
    with closing(HdfFile(path, mesh.comm, lambda file: _begin(mesh, file))) as file:
        file.append("points", mesh.points)
        for kind, cells in mesh.cells.items():
            file.append(f"cells/{kind}", cells.connectivity)
        if mesh._point_labels is not None:
            file.append("labels/points", mesh._point_labels)
            for kind, cells in mesh.cells.items():
                if cells.labels is not None:
                    file.append(f"labels/cells/{kind}", cells.labels)
        for number, members in enumerate(mesh._members.values()):
            for kind, chosen in members.items():
                if chosen is not None:
                    file.append(f"regions/{number}/{kind}", chosen + mesh.cells[kind].start)


def _begin(mesh: Mesh, file: h5py.File) -> None:
    """Write what every rank knows."""
    file.attrs["format"], file.attrs["version"] = encoded(FORMAT), VERSION
    file.attrs["types"] = encoded(" ".join(mesh.cells))
    file.create_group("regions", track_order=True)
    for number, (name, members) in enumerate(mesh._members.items()):
        group = file["regions"].create_group(str(number))
        group.attrs["name"] = encoded(name)
        for kind, chosen in members.items():
            if chosen is None:
                group.attrs[kind] = encoded("all")


def read_slices(path: Path, comm: MPI.Comm) -> Slices:
    """Read this rank's slice of a file written by `write_slices`. Collective.

    Raises
    ------
    MeshError : on every rank: no such file, or not such a file.
    """
    with together(comm):
        if not path.exists():
            raise MeshError(
                f"no mesh file {str(path)!r} (working directory {Path.cwd()})",
                path=str(path),
                asked=str(path),
            )
    try:
        there = examined(path, comm)
    except DAMAGED as error:
        raise unreadable(path, error) from None
    with together(comm):
        try:
            with there.open() as file:
                version = file.attrs.get("version")
                if decoded(file.attrs.get("format", "")) != FORMAT or version not in (1, VERSION):
                    raise MeshError(
                        f"{str(path)!r} is not a mesh of {FORMAT!r} version 1 or {VERSION}; "
                        "write one with Mesh.write",
                        path=str(path),
                        asked=str(path),
                        given=version,
                        possible=(1, VERSION),
                    )
                starts = block_starts(len(file["points"]), comm.size)
                points = file["points"][starts[comm.rank] : starts[comm.rank + 1]]
                cells, members = {}, {}
                labels = _labels(file, "points", len(file["points"]), starts[comm.rank :])
                types = file.attrs["types"]
                for kind in types if version == 1 else decoded(types).split():
                    data = file[f"cells/{kind}"]
                    low, high = block_starts(len(data), comm.size)[comm.rank : comm.rank + 2]
                    own = _labels(file, f"cells/{kind}", len(data), (low, high))
                    cells[kind] = CellSlice(kind, int(low), data[low:high], len(data), own)
                for label, group in file["regions"].items():
                    name = (
                        label.replace("%2F", "/") if version == 1 else decoded(group.attrs["name"])
                    )
                    kinds = (kind for kind in group.attrs if kind != "name")
                    arrays: dict[str, Ints | None] = dict.fromkeys(kinds)
                    for kind, data in group.items():
                        arrays[kind] = _between(data, cells[kind].ids) - cells[kind].start
                    members[name] = arrays
        except DAMAGED as error:
            raise unreadable(path, error) from None
    return Slices(points, starts, cells, members, labels)


def _labels(file: h5py.File, name: str, count: int, cut: Sequence[int] | Ints) -> Ints | None:
    """Return this rank's labels of `count` points or cells, from the first to the second cut."""
    data = file.get(f"labels/{name}")
    if data is None:
        return None
    if data.shape != (count,):
        raise ValueError(f"labels/{name} has the shape {data.shape}, not {(count,)}")
    return np.asarray(data[cut[0] : cut[1]], np.int64)


def _between(data: h5py.Dataset, ids: Ints) -> Ints:
    """Entries of a sorted data set within a slice of ids, without reading the others."""
    if not len(ids):
        return np.empty(0, np.int64)
    low, high = (_bisect(data, int(bound)) for bound in (ids[0], ids[-1] + 1))
    return np.asarray(data[low:high], np.int64)


def _bisect(data: h5py.Dataset, bound: int) -> int:
    low, high = 0, len(data)
    while low < high:
        middle = (low + high) // 2
        if int(data[middle]) < bound:
            low = middle + 1
        else:
            high = middle
    return low
