# SPDX-License-Identifier: BSD-3-Clause
"""Flat lids that close the rims of a cavity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array, Ints
from ...assembly.numbering import Block
from ...errors import ParameterError
from ...mesh.partition import Family
from .surface import Facets, Scalars

if TYPE_CHECKING:
    from ...assembly.configuration import Configuration, Layout
    from .surface import Surface

# of all lids: the mean point of the rim, and the forces between it and the rim, over the stiffness
MEANS = Block("lid means", 3, "dependent", "lid")
FORCES = Block("lid forces", 3, "tie", "lid force")
SCALARS = (Scalars(MEANS.name, 0, 3), Scalars(FORCES.name, 1, 3))


class Rims:
    """The edges of the rims of a cavity, each the first edge of a facet; see `laws.lid_laws`.

    Beside its facet an edge knows two vertices that all edges of the rim have in common: the mean
    of the rim's nodes, each with the length of rim that belongs to it, and the forces that tie
    this point to them. So the cost is linear in the number of edges.

    Parameters
    ----------
    name : of the families of edges.
    surfaces : those of the cavity.
    loops : for each rim the rows (facet, edge) of its edges.
    walls, facets, corners : (F,), (F, 4), (F, 4, 3) surface, vertices and points of all facets.
    extra : further vertices that belong to every edge.
    """

    def __init__(
        self,
        layout: Layout,
        name: str,
        surfaces: Sequence[Surface],
        loops: Sequence[Ints],
        walls: Ints,
        facets: Ints,
        corners: Array,
        extra: Ints,
    ) -> None:
        self.name = name
        rows = np.concatenate([np.zeros((0, 2), dtype=np.int64), *loops])
        self.facet, edge = rows.T
        lid = np.repeat(np.arange(len(loops)), [len(loop) for loop in loops])
        turned = (edge[:, None] + np.arange(4)) % 4  # the edge becomes the first one
        ends = np.take_along_axis(corners[self.facet], turned[:, :2, None], axis=1)
        length = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
        self.share = length / np.bincount(lid, length, minlength=len(loops))[lid]
        self.walls = np.unique(walls[self.facet])
        for number in self.walls:
            s = surfaces[number]
            if not s.middle and s.element.slope_kind != "gradient":
                raise ParameterError(
                    f"{s}: a lid needs a rim of nodes; on {s.element.name} give the mid-surface, "
                    "face(..., middle=True)"
                )
        count = len(loops)
        blocks = (MEANS, FORCES) if count else ()
        points = [layout.new_vertices(count, name, block)[lid] for block in blocks]
        common = np.broadcast_to(extra, (len(lid), len(extra)))
        own = np.take_along_axis(facets[self.facet], turned, axis=1)
        vertices = np.column_stack([own, *points, common])
        rank, ranks = layout.comm.rank, layout.comm.size
        for number in self.walls:
            ids = np.flatnonzero(walls[self.facet] == number).astype(np.int64)
            mine = ids[len(ids) * rank // ranks : len(ids) * (rank + 1) // ranks]
            layout.announce(Family(f"{name}:{number}", mine, vertices[mine], partitioned=False))

    def bind(self, configuration: Configuration, surfaces: Sequence[Surface]) -> list[Facets]:
        """Return the facets with edges of rims that this rank has."""
        return [Facets(surfaces[k], configuration, f"{self.name}:{k}") for k in self.walls]
