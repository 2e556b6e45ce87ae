# SPDX-License-Identifier: BSD-3-Clause
"""Meshes in HDF5, written and read in slices: the way that scales."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np

from symancf.collective import block_starts, together
from symancf.errors import MeshError
from symancf.mesh.slices import Cells, Slices

if TYPE_CHECKING:
    from mpi4py import MPI
    from numpy.typing import NDArray

    from symancf.mesh import Mesh

FORMAT = "symancf mesh"
VERSION = 1

# points            (n, 3) float64
# cells/<type>      (k, nv) int64, in the order of the attribute "types"
# regions/<name>    group; per cell type a sorted int64 data set of cell numbers, or, where all
#                   cells of the type belong to the region, the attribute <type> = "all"


def write_slices(mesh: Mesh, path: Path) -> None:
    """Write every rank's slice in turn, under a temporary name until complete. Collective."""
    comm = mesh.comm
    partial = path.with_name(path.name + ".partial")
    with together(comm):
        if comm.rank == 0:
            _create(mesh, partial)
    offsets = _member_offsets(mesh)
    for rank in range(comm.size):
        with together(comm):
            if comm.rank == rank:
                _write_slice(mesh, partial, offsets)
    with together(comm):
        if comm.rank == 0:
            os.replace(partial, path)


def _create(mesh: Mesh, path: Path) -> None:
    with h5py.File(path, "w") as file:
        file.attrs["format"], file.attrs["version"] = FORMAT, VERSION
        file.attrs["types"] = list(mesh.cells)
        file.create_dataset("points", (mesh.n_points, 3), np.float64)
        for kind, cells in mesh.cells.items():
            shape = (cells.size, cells.connectivity.shape[1])
            file.create_dataset(f"cells/{kind}", shape, np.int64)
        file.create_group("regions", track_order=True)
        for region in mesh:
            group = file["regions"].create_group(region.name.replace("/", "%2F"))
            for kind, size in region.sizes.items():
                if mesh._members[region.name][kind] is None:
                    group.attrs[kind] = "all"
                else:
                    group.create_dataset(kind, (size,), np.int64)


def _member_offsets(mesh: Mesh) -> dict[tuple[str, str], int]:
    return {
        (name, kind): sum(mesh.comm.allgather(len(chosen))[: mesh.comm.rank])
        for name, held in mesh._members.items()
        for kind, chosen in held.items()
        if chosen is not None
    }


def _write_slice(mesh: Mesh, path: Path, offsets: dict[tuple[str, str], int]) -> None:
    with h5py.File(path, "r+") as file:
        start = int(mesh.point_starts[mesh.comm.rank])
        file["points"][start : start + len(mesh.points)] = mesh.points
        for kind, cells in mesh.cells.items():
            stop = cells.start + len(cells.connectivity)
            file[f"cells/{kind}"][cells.start : stop] = cells.connectivity
        for (name, kind), first in offsets.items():
            chosen = mesh._members[name][kind]
            assert chosen is not None
            data = file["regions"][name.replace("/", "%2F")][kind]
            data[first : first + len(chosen)] = chosen + mesh.cells[kind].start


def read_slices(path: Path, comm: MPI.Comm) -> Slices:
    """Read this rank's slice of a file written by `write_slices`. Collective.

    Raises
    ------
    MeshError
        On every rank: no such file, or not such a file.
    """
    with together(comm):
        if not path.exists():
            raise MeshError(
                f"no mesh file {str(path)!r} (working directory {Path.cwd()})", path=str(path)
            )
        try:
            with h5py.File(path, "r", locking=False) as file:
                if file.attrs.get("format") != FORMAT or file.attrs.get("version") != VERSION:
                    raise MeshError(
                        f"{str(path)!r} is not a mesh of {FORMAT!r} version {VERSION}; "
                        "write one with Mesh.write",
                        path=str(path),
                    )
                starts = block_starts(len(file["points"]), comm.size)
                points = file["points"][starts[comm.rank] : starts[comm.rank + 1]]
                cells, members = {}, {}
                for kind in file.attrs["types"]:
                    data = file[f"cells/{kind}"]
                    low, high = block_starts(len(data), comm.size)[comm.rank : comm.rank + 2]
                    cells[kind] = Cells(kind, int(low), data[low:high], len(data))
                for name, group in file["regions"].items():
                    held: dict[str, NDArray[np.int64] | None] = dict.fromkeys(group.attrs)
                    for kind, data in group.items():
                        held[kind] = _between(data, cells[kind].ids) - cells[kind].start
                    members[name.replace("%2F", "/")] = held
        except (OSError, KeyError) as error:
            raise MeshError(f"cannot read {str(path)!r}: {error}", path=str(path)) from None
    return Slices(points, starts, cells, members)


def _between(data: Any, ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """Entries of a sorted data set within a slice of ids, without reading the others."""
    if not len(ids):
        return np.empty(0, np.int64)
    low, high = (_bisect(data, int(bound)) for bound in (ids[0], ids[-1] + 1))
    return np.asarray(data[low:high], np.int64)


def _bisect(data: Any, bound: int) -> int:
    low, high = 0, len(data)
    while low < high:
        middle = (low + high) // 2
        if int(data[middle]) < bound:
            low = middle + 1
        else:
            high = middle
    return low
