# SPDX-License-Identifier: BSD-3-Clause
"""Flat lids that close the rims of a cavity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ...arrays import Array, Ints
from ...assembly.numbering import Block
from ...errors import ParameterError
from ...mesh.partition import Family
from ...runtime.collective import lookup, reduced
from .surface import CavityFacets, Scalars

if TYPE_CHECKING:
    from ...assembly.configuration import Configuration, Layout
    from .orientation import Hull
    from .surface import CavitySurface

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
    hull : all facets, and which edges are the rims.
    extra : further vertices that belong to every edge.
    """

    def __init__(
        self, layout: Layout, name: str, surfaces: Sequence[CavitySurface], hull: Hull, extra: Ints
    ) -> None:
        self.name, self.hull, self.rim = name, hull, hull.rim
        comm, rim = layout.comm, hull.rim
        wall, own = (lookup(comm, hull.starts, rim.facet, x) for x in (hull.wall, hull.vertices))
        there = np.zeros(len(surfaces), dtype=np.int8)
        there[wall] = 1
        self.walls = np.flatnonzero(reduced(comm, there, MPI.MAX))
        for number in self.walls:
            s = surfaces[number]
            if not s.middle and s.element.slope_kind != "gradient":
                raise ParameterError(
                    f"{s}: a lid needs a rim of nodes; on {s.element.name} give the mid-surface, "
                    "face(..., middle=True)",
                    asked="middle",
                    given=False,
                    possible=(True,),
                )
        blocks = (MEANS, FORCES) if rim.lids else ()
        points = [layout.new_range(rim.lids, name, block) + rim.lid for block in blocks]
        ids = rim.starts[comm.rank] + np.arange(len(wall))
        for number in self.walls:
            mine, cell = np.flatnonzero(wall == number), surfaces[number].element.topology
            # the edge becomes the first one; the last of a triangle may be told as the fourth
            turned = cell.turned(np.minimum(rim.edge[mine], cell.corners - 1))
            nodes = np.take_along_axis(own[mine], turned, axis=1)
            common = np.broadcast_to(extra, (len(mine), len(extra)))
            vertices = np.column_stack([nodes, *(p[mine] for p in points), common])
            layout.announce(Family(f"{name}:{number}", ids[mine], vertices, partitioned=False))

    def bind(
        self, configuration: Configuration, surfaces: Sequence[CavitySurface]
    ) -> list[CavityFacets]:
        """Return the facets with edges of rims that this rank has."""
        return [CavityFacets(surfaces[k], configuration, f"{self.name}:{k}") for k in self.walls]

    def orient(self, edges: Sequence[CavityFacets]) -> None:
        """Take the side of the gas from the facets that the edges are of (collective)."""
        comm, hull = self.hull.comm, self.hull
        signs = lookup(comm, hull.starts, self.rim.facet, hull.signs)
        for some in edges:
            some.sense = -lookup(comm, self.rim.starts, some.ids, signs)

    def share(self, edges: CavityFacets) -> Array:
        """Return the lengths (n,) of this rank's edges over those of their rims (collective)."""
        return np.asarray(lookup(self.hull.comm, self.rim.starts, edges.ids, self.rim.share))
