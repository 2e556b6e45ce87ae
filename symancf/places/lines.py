# SPDX-License-Identifier: BSD-3-Clause
"""Lines of edges, over which constraints are summed: one equation for each edge or line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from ..arrays import Array, Ints, Ints32
from ..errors import MeshError, ParameterError
from ..mesh.cells import CELLS
from ..values.arguments import among
from .facets import FacetPoints, gauss

if TYPE_CHECKING:
    from ..assembly.configuration import Configuration
    from ..assembly.resolved import Resolved, Rows
    from ..mesh import Region
    from .interpolation import Interpolated


POINTS = 5  # of Gauss on a curved edge: |r'| is no polynomial


class Line(FacetPoints):
    """Gauss points of the edges of a region, grouped by edge or by line of edges.

    An edge is a cell of a cable or an edge of a cell of a plate, both cubic, with `POINTS`
    points, or a straight edge of a hexahedron, with one. A constraint on these places, see
    `Constraint`, is an integral over the length of each group; beside positions they offer
    ``rs``, the derivative of the position by the arc length s of the reference.

    Parameters
    ----------
    per : ``"edge"``: each edge is a group; ``"line"``: each chain of edges that meet at ends.
        Groups follow the order of their first edge.
    """

    def __init__(self, body: Interpolated, region: Region, per: Literal["edge", "line"]) -> None:
        self.body, self.region, self.per = body, region, per
        if not among(per, ("edge", "line")):
            raise ParameterError(f"{self}: per is {per!r}: give 'edge' or 'line'")
        region.require("line", use=f"a line on body {body.name!r}")
        self.kind = "line"
        self.hermite = bool(body.element.slopes)

    def _groups(self, facets: Ints) -> Ints:
        """Return the number of the group of each point (collective)."""
        edges, first = self._all(facets)
        group = np.arange(len(edges)) if self.per == "edge" else self._chains(edges)
        return np.repeat(group[first : first + len(facets)], self._rule()[1].size)

    def _all(self, edges: Ints) -> tuple[Ints, int]:
        """Return the edges of all ranks, which are as many as a line has; how many come before."""
        parts = self.region.mesh.comm.allgather(edges)
        return np.concatenate(parts), sum(map(len, parts[: self.region.mesh.comm.rank]))

    def _rule(self) -> tuple[Array, Array]:
        """Return the points (k, 1) of the unit edge and their weights (k,)."""
        x, w = gauss(POINTS if self.hermite else 1)
        return x[:, None], w

    def _require_sides(self, facets: Ints) -> None:
        """Raise where an edge is none of a cell of the body, or appears twice (collective)."""
        mesh, body, (edges, _) = self.region.mesh, self.body, self._all(facets)
        cells = body.region.slice(body.element.cell)[1]
        offered = cells[:, np.array(CELLS[body.element.cell].edges)].reshape(-1, 2)
        keys, given = (np.sort(e, axis=1) @ [mesh.n_points, 1] for e in (edges, offered))
        found = np.isin(keys, given).astype(np.int8)
        found = np.max(mesh.comm.allgather(found), axis=0)
        unique, first = np.unique(keys, return_index=True)
        twice = np.setdiff1d(np.arange(len(keys)), first)
        if found.all() and len(unique) == len(keys):
            return
        which = int(np.argmin(found)) if not found.all() else int(twice[0])
        x, y = mesh.fetch_points(edges[which])
        what = f"the edge from ({x[0]:g}, {x[1]:g}, {x[2]:g}) to ({y[0]:g}, {y[1]:g}, {y[2]:g})"
        if found.all():
            raise MeshError(f"{self} holds {what} twice")
        count = int(len(found) - found.sum())
        others = f" (and {count - 1} more)" if count > 1 else ""
        raise MeshError(
            f"{self}: {what}{others} is no edge of a cell ({body.element.cell}) of the body"
        )

    def _chains(self, edges: Ints) -> Ints:
        """Return for each edge the number of its chain.

        Raises
        ------
        MeshError : more than two edges meet at a point.
        """
        points, ends = np.unique(edges, return_inverse=True)
        ends = ends.reshape(-1, 2)
        degree = np.bincount(ends.ravel())
        if (degree > 2).any():
            at = int(np.argmax(degree > 2))
            x = self.region.mesh.fetch_points(points[at : at + 1])[0]
            raise MeshError(
                f"{self}: {degree[at]} edges meet at ({x[0]:g}, {x[1]:g}, {x[2]:g}), so that they "
                "are no line; cut the region into lines, or take per='edge'"
            )
        group = np.arange(len(edges))
        while True:  # the least number of the edges at each end, and of those that have it
            lowest = np.full(len(points), len(edges))
            np.minimum.at(lowest, ends, group[:, None])
            fresh = np.minimum(group, lowest[ends].min(axis=1))
            fresh = fresh[fresh]
            if (fresh == group).all():
                return np.asarray(np.unique(group, return_inverse=True)[1])
            group = fresh

    def rows(
        self, configuration: Configuration, places: Resolved, vertices: Ints32, jet: str
    ) -> Rows:
        """Return a jet, ``value`` or ``line``, as combinations of coordinates; see `End.rows`."""
        if jet != "line":
            return super().rows(configuration, places, vertices, jet)
        positions, slopes = self._coefficients(configuration, places, vertices, 1)
        by = self._jacobian(configuration, places, vertices)[:, None]
        slopes = None if slopes is None else slopes / by[..., None]
        return self._rows(configuration, vertices, positions / by, slopes)

    def __str__(self) -> str:
        return f"the line {self.region.name!r} of {self.body.name!r}"
