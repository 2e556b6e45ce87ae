# SPDX-License-Identifier: BSD-3-Clause
"""Points of the axis of a rod, and where they are in a solid around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array, Ints, Ints32
from ..assembly.resolved import JetRows, Resolved
from ..errors import ConstraintError
from ..runtime.collective import together
from .facets import gauss
from .geometry import curved_lines
from .interpolation import tabulate
from .on_body import PointsOnBody
from .passing import BESIDE
from .projection import Foots

if TYPE_CHECKING:
    from ..assembly.configuration import Configuration, Layout
    from ..mesh import Region
    from .interpolation import Interpolated

#: how often a rod may be held in each cell of first order; more keep it as straight as edges are
MOST = {"point": 1, "cell": 2}
MARGIN = 1.2  # of that: cells are not crossed evenly


class AxisPoints(PointsOnBody):
    """Points of the axis of cables and rods, each of which stands for a part of its length.

    Parameters
    ----------
    body, region : the rod, and which of its cells.
    per : ``"point"``: its nodes, each on its own; ``"cell"``: Gauss points, grouped by the cells;
        None: Gauss points on their own.
    """

    weighs = line = True

    def __init__(self, body: Interpolated, region: Region, per: str | None) -> None:
        self.body, self.region, self.per = body, region, per
        self.frame = self.source = None

    def _rule(self) -> tuple[Array, Array]:
        """Return unit coordinates (k, 1) of the points of a cell and their weights (k,)."""
        cell = self.body.element.topology
        if self.per != "point":
            x, w = gauss(3)
            return x[:, None], w
        inner = len(cell.nodes) - cell.corners
        weight = np.full(len(cell.nodes), 0.5 if inner == 0 else 1 / 6)
        weight[cell.corners :] = 4 / 6
        return np.array([[0.0], [1.0], [0.5]])[: len(cell.nodes)], weight

    def _find(self, layout: Layout) -> Resolved:
        """Find the points on the curved axis (collective)."""
        layout.require_member(self.body, str(self))
        self.region.require_on(self.body.region)
        mesh, element = self.region.mesh, self.body.element
        cells = np.concatenate(mesh.comm.allgather(self.region.slice(element.cell)[1]))
        e = Foots(self.body, cells).e
        s, w = self._rule()
        xi = element.topology.to_domain(s)
        X, t, *axes = (
            np.einsum("pf,nfa->npa", tabulate(element, jet, xi), e).reshape(-1, 3)
            for jet in ("value", *element.topology.coordinates, *self.across)
        )
        width = np.ptp(element.topology.to_domain(np.array([[0.0], [1.0]])))
        speed = width * np.linalg.norm(t, axis=1)
        axes = [axis / np.linalg.norm(axis, axis=1)[:, None] for axis in axes]
        within = np.concatenate([np.tile(s, (len(cells), 1)), *axes], axis=1)
        vertices = np.repeat(cells, len(s), axis=0) + layout.base(mesh)
        weight = np.tile(w, len(cells)) * speed
        group = np.repeat(np.arange(len(cells)), len(s)) if self.per == "cell" else None
        if self.per != "point":
            return Resolved(X, vertices, within, weight, group)
        _, first, node = np.unique(cells.ravel(), return_index=True, return_inverse=True)
        shared = np.zeros(len(first))
        np.add.at(shared, node.ravel(), weight)
        return Resolved(X[first], vertices[first], within[first], shared)

    def require_stiff(self, layout: Layout, who: str) -> None:
        """Raise where a cable could bend across its curvature at no cost (collective).

        Raises
        ------
        ConstraintError
        """
        held = (getattr(x, "all_of_body", False) and x.body is self.body for x in layout.terms)
        if "curved" not in self.body.element.variants or any(held):
            return
        mesh, element = self.region.mesh, self.body.element
        cells = np.concatenate(mesh.comm.allgather(self.region.slice(element.cell)[1]))
        ends = element.topology.to_domain(np.array([[0.0], [1.0]]))
        e = Foots(self.body, cells).e
        X, t = (
            np.einsum("pf,nfa->npa", tabulate(element, jet, ends), e)
            for jet in ("value", *element.topology.coordinates)
        )
        curved = curved_lines(X, np.ptp(ends) * t[:, :, None])
        with together(layout.comm):
            if curved.any():
                x, y, z = X[int(np.argmax(curved))].mean(axis=0)
                possible = ("ancf_rod", f"sa.planar({self.body.name})", "stiffness=")
                raise ConstraintError(
                    f"{who}: {element.name} {self.body.name!r} is curved, near ({x:g}, {y:g}, "
                    f"{z:g}), and bends out of the plane of its curvature at no cost: equations "
                    "leave that free between the places that they hold. Take ancf_rod, keep it in "
                    "its plane (sa.planar), or give stiffness= for springs along all of it",
                    asked="rod",
                    given=element.name,
                    possible=possible,
                )

    @property
    def across(self) -> tuple[str, ...]:
        """The directors of the section; none of cables."""
        return self.body.element.axes[1:]

    def rows(
        self, configuration: Configuration, places: Resolved, vertices: Ints32, jet: str
    ) -> JetRows:
        """Return a jet; ``axis1`` and ``axis2`` are the directors of the section."""
        inner = places._replace(within=places.within[:, :1])
        if jet not in BESIDE:
            return super().rows(configuration, inner, vertices, jet)
        first = 1 + 3 * BESIDE.index(jet)
        direction = places.within[:, first : first + 3]
        return self._derivative(configuration, inner, vertices, direction)

    def measure(self, configuration: Configuration, places: Resolved, vertices: Ints32) -> Array:
        """Return the length of the reference that each place stands for."""
        return places.weight

    def __str__(self) -> str:
        return f"the axis {self.region.name!r} of {self.body.name!r}"


class Surrounding(PointsOnBody):
    """Where points of the axis of a rod are in a solid, or circles around them.

    With a radius their position is the mean of four points of the circle, along the directors of
    the section, and their axes e2 and e3 are the distances of opposite ones over its diameter.

    Parameters
    ----------
    radius : of the circles [m], 0: the points alone.
    who : holds them there; "" where no equations do.
    """

    def __init__(self, body: Interpolated, axis: AxisPoints, radius: float, who: str) -> None:
        super().__init__(body, axis)
        self.axis, self.radius, self.who = axis, radius, who

    def _find(self, layout: Layout) -> Resolved:
        """Find the cells (collective).

        Raises
        ------
        ConstraintError : the rod leaves the solid, is a curved cable, or is attached at so many
            places that it could not bend.
        """
        layout.require_member(self.body, str(self))
        if self.who:
            self.axis.require_stiff(layout, self.who)
        source = self.axis.resolve(layout)
        around = [np.zeros((source.size, 3))]
        if self.radius:
            d2, d3 = self.radius * source.within[:, 1:4], self.radius * source.within[:, 4:7]
            around = [d2, d3, -d2, -d3]
        found = [self._locate(self.alike(source.X + arm), False) for arm in around]
        vertices = np.concatenate([places.vertices for places in found], axis=1)
        within = np.concatenate([places.unit for places in found], axis=1)
        cell = self.body.element.topology
        if self.who and len(cell.nodes) == cell.corners:
            self._require_few(layout, source, found[0].vertices)
        vertices = vertices + layout.base(self.body.region.mesh)
        return Resolved(source.X, vertices, within, source=source)

    def _require_few(self, layout: Layout, source: Resolved, cells: Ints) -> None:
        """Raise where equations keep the axis as straight as cells of first order are (collective).

        Raises
        ------
        ConstraintError
        """
        held, per = source.size, MOST["point"]
        if source.group is not None:
            held, per = int(source.group.max()) + 1, MOST["cell"]
        most = int(MARGIN * per * len(np.unique(cells, axis=0))) + 1
        with together(layout.comm):
            if held > most:
                raise ConstraintError(
                    f"{self.who}: {self.axis} is attached {held} times in cells of "
                    f"{self.body.name!r} that allow {most}: it would be bent where they meet "
                    "alone; give the rod longer cells, the solid smaller ones or some of second "
                    "order, or stiffness=",
                    asked="rod",
                    given=held,
                    possible=(most,),
                )

    def rows(
        self, configuration: Configuration, places: Resolved, vertices: Ints32, jet: str
    ) -> JetRows:
        """Return a jet as combinations of local coordinates; see `End.rows`."""
        count = len(self.body.element.topology.nodes)
        weights = {"value": [1.0]}
        if self.radius:
            one = 0.5 / self.radius
            weights = {"value": [0.25] * 4, "axis1": [one, 0, -one], "axis2": [0, one, 0, -one]}
        parts = []
        for k, weight in enumerate(weights[jet]):
            if weight:
                inner = places._replace(within=places.within[:, 3 * k : 3 * k + 3])
                at = vertices[:, count * k : count * (k + 1)]
                rows = super().rows(configuration, inner, at, "value")
                parts.append(
                    rows._replace(corner=rows.corner + count * k, value=weight * rows.value)
                )
        return JetRows(*(np.concatenate(column) for column in zip(*parts, strict=True)))
