# SPDX-License-Identifier: BSD-3-Clause
"""A whole mesh in the arrays of one rank, before it is cut into slices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symancf.errors import MeshError
from symancf.mesh.cells import CELLS

Ints = NDArray[np.int64]


@dataclass
class SerialMesh:
    """Points, cells by type and the members of each region; exists on rank 0 only.

    Attributes
    ----------
    points
        (n, 3) coordinates [m].
    cells
        Cell type -> (k, nv) point numbers.
    members
        Region -> cell type -> sorted cell numbers.
    """

    points: NDArray[np.float64]
    cells: dict[str, Ints]
    members: dict[str, dict[str, Ints]] = field(default_factory=dict)

    @classmethod
    def from_arrays(
        cls,
        points: ArrayLike,
        cells: Mapping[str, ArrayLike],
        regions: Mapping[str, Any],
    ) -> SerialMesh:
        """Check the shapes of a user's arrays; see `Mesh.from_arrays`."""
        x = np.asarray(points, float)
        if x.ndim != 2 or x.shape[1] not in (1, 2, 3):
            raise MeshError(f"points must have shape (n, 3) or (n, 2); given {x.shape}")
        out = cls(np.pad(x, ((0, 0), (0, 3 - x.shape[1]))), {})
        for kind, connectivity in cells.items():
            out.append(kind, connectivity)
        for name, given in regions.items():
            pairs = given.items() if isinstance(given, Mapping) else [given]
            out.members[name] = {}
            for kind, which in pairs:
                chosen = np.asarray(which)
                if kind == "vertex" and "vertex" not in cells:  # a list of points
                    chosen = chosen.reshape(-1, 1)
                out.members[name][kind] = out._chosen(name, kind, chosen)
        return out

    def append(self, kind: str, connectivity: ArrayLike) -> Ints:
        """Add cells of a type and return their numbers."""
        new = np.atleast_2d(np.asarray(connectivity))
        if kind in CELLS and new.shape[1:] != (CELLS[kind].vertices,):
            raise MeshError(
                f"cells of type {kind!r} have {CELLS[kind].vertices} vertices; "
                f"given an array of shape {new.shape}"
            )
        if not np.issubdtype(new.dtype, np.integer):
            raise MeshError(f"cells of type {kind!r}: point numbers must be integers")
        if new.size and (new.min() < 0 or new.max() >= len(self.points)):
            worst = new.max() if new.max() >= len(self.points) else new.min()
            raise MeshError(
                f"a cell of type {kind!r} names point {worst}; "
                f"the mesh has points 0 to {len(self.points) - 1}"
            )
        old = self.cells.get(kind, np.empty((0, new.shape[1]), np.int64))
        self.cells[kind] = np.concatenate([old, new.astype(np.int64)])
        return np.arange(len(old), len(old) + len(new), dtype=np.int64)

    def add_to_region(self, name: str, kind: str, numbers: Ints) -> None:
        """Add cells to a region; numbers may repeat."""
        region = self.members.setdefault(name, {})
        region[kind] = np.union1d(region.get(kind, np.empty(0, np.int64)), numbers)

    def _chosen(self, name: str, kind: str, which: NDArray[Any]) -> Ints:
        if which.ndim == 2:
            return self.append(kind, which)
        if which.dtype == bool:
            which = np.flatnonzero(which)
        count = len(self.cells.get(kind, ()))
        if len(which) and (which.min() < 0 or which.max() >= count):
            raise MeshError(
                f"region {name!r} names cell {which.max()} of type {kind!r}; "
                f"the mesh has {count} of them"
            )
        return np.asarray(np.unique(which), np.int64)
