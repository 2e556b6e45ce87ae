# SPDX-License-Identifier: BSD-3-Clause
"""Lines of edges, over which constraints are summed: one equation for each edge or line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from ..arrays import Array, Ints, Ints32
from ..errors import MeshError, ParameterError
from ..mesh.partition.components import least_connected, meetings, numbered
from ..runtime.collective import exchange, owners_of, share_error, shares
from ..values.arguments import among
from .facets import FacetPoints, gauss

if TYPE_CHECKING:
    from ..assembly.configuration import Configuration
    from ..assembly.resolved import JetRows, Resolved
    from ..mesh import Region
    from .interpolation import Interpolated


POINTS = 5  # of Gauss on a curved edge: |r'| is no polynomial


class EdgePoints(FacetPoints):
    """Gauss points of the edges of a region, grouped by edge or by line of edges.

    An edge is a cell of a cable, an edge of a cell of a plate, or a curved edge of a solid, with
    `POINTS` points, or a straight edge of a solid, with one. A constraint on these places, see
    `Constraint`, is an integral over the length of each group; beside positions they offer
    ``rs``, the derivative of the position by the arc length s of the reference.

    Parameters
    ----------
    per : ``"edge"``: each edge is a group; ``"line"``: each chain of edges that meet at ends.
        Groups follow the order of their first edge.
    """

    line = True

    def __init__(self, body: Interpolated, region: Region, per: Literal["edge", "line"]) -> None:
        self.body, self.region, self.per = body, region, per
        if not among(per, ("edge", "line")):
            raise ParameterError(f"{self}: per is {per!r}: give 'edge' or 'line'")
        self.kind = body.element.topology.edge
        region.require(self.kind, use=f"a line on body {body.name!r}")
        self.hermite = bool(body.element.slopes)

    def _groups(self, facets: Ints) -> Ints:
        """Return the number of the group of each point (collective)."""
        starts = shares(self.region.mesh.comm, len(facets))
        group = starts[self.region.mesh.comm.rank] + np.arange(len(facets))
        if self.per == "line":
            group = self._chains(starts, group, facets[:, :2])
        return np.repeat(group, self._rule()[1].size)

    def _rule(self) -> tuple[Array, Array]:
        """Return the points (k, 1) of the unit edge and their weights (k,)."""
        straight = not self.hermite and self.kind == "line"
        x, w = gauss(1 if straight else POINTS)
        return x[:, None], w

    def require_sides(self) -> None:
        """Raise where an edge is none of a cell of the body, or appears twice (collective)."""
        super().require_sides()
        mesh, comm = self.region.mesh, self.region.mesh.comm
        facets = self.region.slice(self.kind)[1]
        low, high = np.sort(facets[:, :2], axis=1).T
        number = shares(comm, len(facets))[comm.rank] + np.arange(len(facets))
        to = owners_of(mesh.point_starts, low)
        _, (ends, number, received) = exchange(comm, to, np.stack([low, high], 1), number, facets)
        order = np.lexsort((number, ends[:, 1], ends[:, 0]))
        again = (ends[order[1:]] == ends[order[:-1]]).all(axis=1)
        mine = [(int(number[k]), *received[k].tolist()) for k in order[1:][again]]
        _, *twice = min(comm.allgather(min(mine, default=(np.inf,))))
        if twice:
            X = mesh.fetch_points(np.array(twice))
            raise MeshError(f"{self} holds {_from_to(X)} twice")

    def _no_side(self, points: Ints, X: Array, count: int) -> MeshError:
        others = f" (and {count - 1} more)" if count > 1 else ""
        return MeshError(
            f"{self}: {_from_to(X)}{others} is no edge of a cell ({self.body.element.cell}) of the "
            "body",
            asked="edge",
            given=X,
        )

    def _chains(self, starts: Ints, numbers: Ints, edges: Ints) -> Ints:
        """Return for each edge of this rank the number of its chain (collective).

        Raises
        ------
        MeshError : more than two edges meet at a point.
        """
        mesh, comm = self.region.mesh, self.region.mesh.comm
        points, first, count, at = meetings(comm, mesh.point_starts, edges, numbers)
        error = None
        if (count > 2).any():
            many = int(np.argmax(count > 2))
            x = mesh.points[points[many] - mesh.point_starts[comm.rank]]
            error = MeshError(
                f"{self}: {count[many]} edges meet at ({x[0]:g}, {x[1]:g}, {x[2]:g}), so that they "
                "are no line; cut the region into lines, or take per='edge'",
                asked="edges at a point",
                given=count[many],
                possible=(1, 2),
            )
        share_error(comm, error)
        two = first[count == 2]
        label = least_connected(comm, starts, np.stack([at[two], at[two + 1]], axis=1))
        return numbered(comm, starts, label)[0]

    def rows(
        self, configuration: Configuration, places: Resolved, vertices: Ints32, jet: str
    ) -> JetRows:
        """Return a jet, ``value`` or ``line``, as combinations of coordinates; see `End.rows`."""
        if jet != "line":
            return super().rows(configuration, places, vertices, jet)
        positions, slopes = self._coefficients(configuration, places, vertices, 1)
        by = self._jacobian(configuration, places, vertices)[:, None]
        slopes = None if slopes is None else slopes / by[..., None]
        return self._rows(configuration, vertices, positions / by, slopes)

    def __str__(self) -> str:
        return f"the line {self.region.name!r} of {self.body.name!r}"


def _from_to(X: Array) -> str:
    x, y = X[:2]
    return f"the edge from ({x[0]:g}, {x[1]:g}, {x[2]:g}) to ({y[0]:g}, {y[1]:g}, {y[2]:g})"
