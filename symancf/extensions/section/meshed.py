# SPDX-License-Identifier: BSD-3-Clause
"""The triangles of a region of a mesh in a plane."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from symancf import MeshError

from ..interface import CELLS, together

if TYPE_CHECKING:
    from symancf import Region

    from .outline import Triangles


def triangles_of(region: Region) -> Triangles:
    """Return points (n, 2) and triangles (m, 3), the same on all ranks (collective).

    Raises
    ------
    MeshError : other cells than triangles and quadrilaterals; they do not lie in a plane
        z = const; some are turned over, or have no area.
    """
    comm = region.mesh.comm
    parts = []
    for kind in region.types:
        if CELLS[kind].dimension != 2:
            raise MeshError(
                f"{region.describe()}: a section is made of triangles or quadrilaterals",
                asked=region.name,
                given=kind,
                possible=SPLIT,
            )
        _, cells = region.slice(kind)
        parts.append((kind, cells, region.mesh.fetch_points(cells)))
    gathered = comm.allgather(parts)
    triangles, places = [], []
    for kind, cells, X in (part for rank in gathered for part in rank):
        split = np.array(SPLIT[kind])
        triangles.append(cells[:, split].reshape(-1, 3))
        places.append(X[:, split].reshape(-1, 3, 3))
    ids, corners = np.concatenate(triangles), np.concatenate(places)
    _, first, number = np.unique(ids, return_index=True, return_inverse=True)
    points, cells = corners.reshape(-1, 3)[first], number.reshape(-1, 3)
    with together(comm):
        size = np.ptp(points, axis=0)
        if size[2] > 1e-9 * size.max():
            raise MeshError(f"{region.describe()}: a section lies in a plane z = const")
        X = points[cells][..., :2]
        doubled = np.linalg.det(X[:, 1:] - X[:, :1])
        if (doubled < 0.0).all():
            cells, doubled = cells[:, ::-1], -doubled
        if not (doubled > 1e-12 * size.max() ** 2).all():
            raise MeshError(f"{region.describe()}: some cells have no area, or are turned over")
    return points[:, :2], cells


#: How the cells of a section are cut into triangles, by their nodes.
SPLIT = {
    "triangle": ((0, 1, 2),),
    "triangle6": ((0, 3, 5), (3, 1, 4), (5, 4, 2), (3, 4, 5)),
    "quad": ((0, 1, 2), (0, 2, 3)),
    "quad8": ((0, 4, 7), (4, 1, 5), (5, 2, 6), (7, 6, 3), (4, 5, 6), (4, 6, 7)),
    "quad9": (
        *((0, 4, 8), (0, 8, 7), (4, 1, 5), (4, 5, 8)),
        *((8, 5, 2), (8, 2, 6), (7, 8, 6), (7, 6, 3)),
    ),
}
