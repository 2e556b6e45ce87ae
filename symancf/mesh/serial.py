# SPDX-License-Identifier: BSD-3-Clause
"""A whole mesh in the arrays of one rank, before it is cut into slices."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array, Ints
from ..cells.table import CELLS
from ..errors import MeshError
from ..runtime.collective import block_starts, scatter_blocks
from ..values.parameter import label
from .cells import DIMENSIONS, dimension
from .conformity import first_of_equals
from .slices import CellSlice, Members, Slices

if TYPE_CHECKING:
    from pathlib import Path

    from mpi4py import MPI


ENTITIES = ("point", "curve", "surface", "volume")
NONE: Mapping[tuple[int, int], Sequence[str]] = MappingProxyType({})
KINDS = f"({'|'.join(DIMENSIONS)})[0-9]*"


@dataclass
class LabelTable:
    """Labels of nodes or elements in a file, sorted, and their numbers in the mesh."""

    labels: Ints
    numbers: Ints

    def find(self, labels: Ints) -> tuple[Ints, Ints]:
        """Return the numbers of some labels, and which places (m,) in them have none."""
        if not len(self.labels):
            return np.zeros_like(labels), np.arange(len(labels))
        at = np.minimum(np.searchsorted(self.labels, labels), len(self.labels) - 1)
        return self.numbers[at], np.flatnonzero(self.labels[at] != labels)


@dataclass
class SerialMesh:
    """Points, cells by type and the members of each region; exists on rank 0 only.

    Attributes
    ----------
    points : (n, 3) coordinates [m].
    cells : cell type -> (k, nv) point numbers.
    members : Region -> cell type -> sorted cell numbers.
    point_labels : (n,) labels of the points in their file; None where it has none.
    cell_labels : cell type -> (k,) labels of the cells, 0 of cells that have none.
    """

    points: Array
    cells: dict[str, Ints]
    members: dict[str, dict[str, Ints]] = field(default_factory=dict)
    point_labels: Ints | None = None
    cell_labels: dict[str, Ints] = field(default_factory=dict)

    @classmethod
    def from_arrays(
        cls,
        points: ArrayLike,
        cells: Mapping[str, ArrayLike],
        regions: Mapping[str, Any],
    ) -> SerialMesh:
        """Check the shapes of a user's arrays; see `Mesh.from_arrays`."""
        x = _numbers("points", points)
        if x.ndim != 2 or x.shape[1] not in (1, 2, 3):
            raise MeshError(f"points must have shape (n, 3) or (n, 2); given {x.shape}")
        out = cls(np.pad(x.astype(float), ((0, 0), (0, 3 - x.shape[1]))), {})
        _require_names("cells", cells)
        _require_names("regions", regions)
        for kind, connectivity in cells.items():
            out.append(kind, _numbers(f"cells of type {kind!r}", connectivity))
        counts = {kind: len(c) for kind, c in out.cells.items()}
        for name, rows in regions.items():
            out.members[name] = {}
            for kind, which in _cells_of(name, rows):
                chosen = _numbers(f"region {name!r}", which)
                if kind == "vertex" and "vertex" not in cells:  # a list of points
                    chosen = chosen.reshape(-1, 1)
                out.members[name][kind] = out._chosen(name, kind, chosen)
        for kind, every in out.cells.items():
            if len(every) > counts.get(kind, 0):  # regions name cells by their points
                out.unite(kind, counts.get(kind, 0))
        return out

    def unite(self, kind: str, first: int = 0) -> tuple[Ints, Ints]:
        """Unite the cells from number `first` on with earlier ones of the same vertices.

        Regions follow. Returns the cells that are no more and those that stand for them.
        """
        connectivity = self.cells[kind]
        same = first_of_equals(connectivity)
        same[:first] = np.arange(first)
        repeated = np.flatnonzero(same != np.arange(len(same)))
        if len(repeated):
            unique = np.flatnonzero(same == np.arange(len(same)))
            new = np.searchsorted(unique, same)
            self.cells[kind] = connectivity[unique]
            if kind in self.cell_labels:
                self.cell_labels[kind] = self.cell_labels[kind][unique]
            for region in self.members.values():
                if kind in region:
                    region[kind] = np.unique(new[region[kind]])
        return repeated, same[repeated]

    def append(self, kind: str, connectivity: ArrayLike) -> Ints:
        """Add cells of a type and return their numbers."""
        if not re.fullmatch(KINDS, str(kind)):
            raise MeshError(
                f"there are no cells of type {kind!r}; possible: {', '.join(CELLS)}, and what "
                "meshio knows beside them, e.g. 'pyramid'"
            )
        new = np.atleast_2d(np.asarray(connectivity))
        if kind in CELLS and new.shape[1:] != (len(CELLS[kind].nodes),):
            raise MeshError(
                f"cells of type {kind!r} have {len(CELLS[kind].nodes)} vertices; "
                f"given an array of shape {new.shape}"
            )
        if new.size and not np.issubdtype(new.dtype, np.integer):
            raise MeshError(f"cells of type {kind!r}: point numbers must be integers")
        if new.size and (new.min() < 0 or new.max() >= len(self.points)):
            worst = new.max() if new.max() >= len(self.points) else new.min()
            raise MeshError(
                f"a cell of type {kind!r} names point {worst}; "
                f"the mesh has points 0 to {len(self.points) - 1}"
            )
        old = self.cells.get(kind, np.empty((0, new.shape[1]), np.int64))
        self.cells[kind] = np.concatenate([old, new.astype(np.int64)])
        if kind in self.cell_labels:
            self.cell_labels[kind] = np.pad(self.cell_labels[kind], (0, len(new)))
        return np.arange(len(old), len(old) + len(new), dtype=np.int64)

    def add_to_region(self, name: str, kind: str, numbers: Ints) -> None:
        """Add cells to a region; numbers may repeat."""
        region = self.members.setdefault(name, {})
        region[kind] = np.union1d(region.get(kind, np.empty(0, np.int64)), numbers)

    def add_numbered(
        self,
        name: str,
        parts: Iterable[tuple[str, Ints, Ints]],
        names: Mapping[tuple[int, int], Sequence[str]] = NONE,
    ) -> None:
        """Add cells to regions by a number of each.

        Parameters
        ----------
        name : of the numbers: regions are called ``"name 3"``, where cells of several dimensions
            have the number those of less ``"name 3 (surface)"``; without a name ``"surface 3"``.
        parts : type of cells, their places, their numbers.
        names : (dimension, number) -> names that the file gives.
        """
        rows = [
            (dimension(kind), value, kind, own[values == value])
            for kind, own, values in parts
            for value in np.unique(values).tolist()
        ]
        top = dict[int, int]()
        for dim, value, _, _ in rows:
            top[value] = max(dim, top.get(value, 0))
        for dim, value, kind, own in rows:
            default = f"{name} {value}" + f" ({ENTITIES[dim]})" * (dim < top[value])
            if not name:
                default = f"{ENTITIES[dim]} {value}"
            for region in names.get((dim, value), [default]):
                self.add_to_region(region, kind, own)

    def _chosen(self, name: str, kind: str, which: NDArray[Any]) -> Ints:
        if which.ndim == 2:
            return self.append(kind, which)
        if kind not in self.cells and not which.size:  # a region that is empty
            self.append(kind, np.empty((0, len(CELLS[kind].nodes) if kind in CELLS else 1), int))
        count = len(self.cells.get(kind, ()))
        if which.dtype == bool and which.shape != (count,):
            raise MeshError(
                f"region {name!r} chooses from {len(which)} cells of type {kind!r}; the mesh has "
                f"{count} of them"
            )
        if which.dtype == bool:
            which = np.flatnonzero(which)
        if which.ndim != 1 or (which.size and which.dtype.kind not in "iu"):
            raise MeshError(
                f"region {name!r}: numbers of cells are whole and in one list; given {label(which)}"
            )
        if len(which) and (which.min() < 0 or which.max() >= count):
            worst = which.max() if which.max() >= count else which.min()
            raise MeshError(
                f"region {name!r} names cell {worst} of type {kind!r}; the mesh has {count} of them"
            )
        return np.asarray(np.unique(which), np.int64)


def text_of(raw: bytes) -> str:
    """Return text of a file, which is UTF-8 or Latin-1."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def unreadable(path: Path, reason: object, **data: Any) -> MeshError:
    """Return the error of a file that cannot be read; `data` as of all errors."""
    data_of_error = {"asked": str(path), **data}
    return MeshError(f"cannot read {str(path)!r}: {reason}", path=str(path), **data_of_error)


def _require_names(what: str, given: object) -> None:
    """Raise where something is no dict of names."""
    if not isinstance(given, Mapping) or not all(isinstance(key, str) for key in given):
        raise MeshError(
            f"{what} must be a dict of names; given {label(given)}", asked=what, given=given
        )


def _cells_of(name: str, given: Any) -> list[tuple[str, ArrayLike]]:
    """Return what a user gave as a region by pairs of a type of cells and the cells."""
    pairs = list(given.items()) if isinstance(given, Mapping) else [given]
    if not all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in pairs):
        raise MeshError(
            f"region {name!r} is (cell type, which) or {{cell type: which}}; given {label(given)}",
            asked=name,
            given=given,
        )
    return pairs


def _numbers(what: str, values: ArrayLike) -> NDArray[Any]:
    """Return what a user gave as an array of real numbers."""
    try:
        array = np.asarray(values)
    except ValueError as error:  # lists of different lengths
        raise MeshError(f"{what}: no array of numbers ({error})") from None
    if array.dtype.kind not in "biuf":
        raise MeshError(f"{what} must be real numbers; given {label(values)} ({array.dtype})")
    return array


def scatter(comm: MPI.Comm, serial: SerialMesh | None) -> Slices:
    """Cut rank 0's mesh into slices; other ranks pass None. Collective."""
    own = serial or SerialMesh(np.empty((0, 3)), {})
    n_points, counts, sizes, labelled = comm.bcast(
        (
            len(own.points),
            {kind: len(c) for kind, c in own.cells.items()},
            {r: {k: len(m) for k, m in by_kind.items()} for r, by_kind in own.members.items()},
            None if own.point_labels is None else set(own.cell_labels),
        )
    )
    starts = block_starts(n_points, comm.size)
    points = scatter_blocks(comm, own.points, starts)
    labels = None if labelled is None else scatter_blocks(comm, own.point_labels, starts)
    cells: dict[str, CellSlice] = {}
    for kind, count in counts.items():
        cuts, of_cells = block_starts(count, comm.size), None
        rows = scatter_blocks(comm, own.cells.get(kind), cuts)
        if kind in (labelled or ()):
            of_cells = scatter_blocks(comm, own.cell_labels.get(kind), cuts)
        cells[kind] = CellSlice(kind, int(cuts[comm.rank]), rows, count, of_cells)
    members: Members = {}
    for region, by_kind in sizes.items():
        members[region] = {}
        for kind, size in by_kind.items():
            if size or kind in counts:  # else a region of nothing
                which = own.members.get(region, {}).get(kind)
                members[region][kind] = _share(comm, which, size, cells[kind])
    return Slices(points, starts, cells, members, labels)


def _share(comm: MPI.Comm, which: Ints | None, size: int, cells: CellSlice) -> Ints | None:
    """Return the rows of this rank's slice that are in a region, None for all. Collective.

    `which` : numbers (size,) of all its cells of a type, on rank 0.
    """
    if size == cells.size:
        return None
    bounds = block_starts(cells.size, comm.size)
    ends = None if which is None else np.searchsorted(which, bounds)
    return scatter_blocks(comm, which, ends) - cells.start
