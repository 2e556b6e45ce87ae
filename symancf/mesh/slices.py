# SPDX-License-Identifier: BSD-3-Clause
"""One rank's share of a mesh: contiguous slices of points, cells and members of regions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array, Integers, Ints

if TYPE_CHECKING:
    from . import Mesh

Members = dict[str, dict[str, Ints | None]]


@dataclass(frozen=True)
class CellSlice:
    """One rank's slice of the cells of one type.

    Attributes
    ----------
    kind : meshio's name of the type.
    start : Id of the first cell of the slice; ids count the cells of this type.
    connectivity : (k, nv) global point ids, of 32 bits where a mesh has fewer points than 2^30.
    size : number of cells of this type on all ranks.
    labels : (k,) labels of the cells in their file, 0 where it has none; None where none has one.
    """

    kind: str
    start: int
    connectivity: Integers
    size: int
    labels: Ints | None = None

    @property
    def ids(self) -> Ints:
        """Ids of the cells of this slice, (k,)."""
        return np.arange(self.start, self.start + len(self.connectivity), dtype=np.int64)

    def of(self, n_points: int) -> CellSlice:
        """Return the slice as meshes of so many points have it, on all ranks alike."""
        narrow, rows = n_points < 2**30, self.connectivity
        rows = rows.astype(np.int32, copy=False) if narrow else rows.astype(np.int64, copy=False)
        return replace(self, connectivity=rows)


@dataclass(frozen=True)
class Slices:
    """All that a rank holds of a mesh.

    Attributes
    ----------
    points : (n, 3) coordinates [m].
    point_starts : (ranks + 1,) first point id of each rank's slice.
    cells : cell type -> slice; the same types in the same order on every rank.
    members : Region -> cell type -> sorted numbers within the slice; None means all of them.
    labels : (n,) labels of the points in their file, 0 where it has none; None: of no point.
    """

    points: Array
    point_starts: Ints
    cells: dict[str, CellSlice]
    members: Members
    labels: Ints | None = None


@dataclass(frozen=True)
class Labels:
    """The labels that nodes and elements have in the mesh file, on this rank.

    They need not be unique: each instance of a part counts anew.

    Attributes
    ----------
    points : (n,) of ``mesh.points``; 0 where the file gives none.
    cells : cell type -> (k,) of ``mesh.cells[type]``; 0 where the file gives none.
    """

    points: Ints
    cells: dict[str, Ints]


def no_labels(mesh: Mesh) -> str:
    """Message for a mesh whose file has no labels."""
    return f"{mesh.name} has no labels: files of Abaqus and CalculiX give them"
