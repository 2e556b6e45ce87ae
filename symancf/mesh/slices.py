# SPDX-License-Identifier: BSD-3-Clause
"""One rank's share of a mesh: contiguous slices of points, cells and members of regions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array, Ints

Members = dict[str, dict[str, Ints | None]]


@dataclass(frozen=True)
class Cells:
    """One rank's slice of the cells of one type.

    Attributes
    ----------
    kind : meshio's name of the type.
    start : Id of the first cell of the slice; ids count the cells of this type.
    connectivity : (k, nv) global point ids.
    size : number of cells of this type on all ranks.
    """

    kind: str
    start: int
    connectivity: Ints
    size: int

    @property
    def ids(self) -> Ints:
        """Ids of the cells of this slice, (k,)."""
        return np.arange(self.start, self.start + len(self.connectivity), dtype=np.int64)


@dataclass(frozen=True)
class Slices:
    """All that a rank holds of a mesh.

    Attributes
    ----------
    points : (n, 3) coordinates [m].
    point_starts : (ranks + 1,) first point id of each rank's slice.
    cells : cell type -> slice; the same types in the same order on every rank.
    members : Region -> cell type -> sorted numbers within the slice; None means all of them.
    """

    points: Array
    point_starts: Ints
    cells: dict[str, Cells]
    members: Members
