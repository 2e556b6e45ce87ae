# SPDX-License-Identifier: BSD-3-Clause
r"""Facet sets: facets of one type and one body that may touch something, and their points.

A side consists of facet sets (`Side`), each one of the following; its facets are interpolated by
the element `FacetSet.element`.

==========================  ===============================  ==========  ======================
the user gives              facets                           points      size l
==========================  ===============================  ==========  ======================
``solid["outside"]``        quad4 / quad8, quad9 / tri3 /    4 / 9 / 3   cell's volume/its area
                            tri6 of solids                   / 6
                            quad8, quad9 / tri6 on facets    36 / 27
``plate["surface"].face(+1)``  z = thickness/2 of ancf_plate    9           thickness
``cord["body"]``            axis of ancf_cable, `radius=`    4           radius
==========================  ===============================  ==========  ======================

The nodes of a facet are in an order in which :math:`r_\xi \times r_\eta` points out of the body;
for ``face(-1)`` the cell of a plate is numbered the other way round, so that here, too, the
face is that at z = +thickness/2. The position of a point of a facet is

.. math:: r(\xi) = \sum_v N_v r_v + \sum_{v,k} H_{vk} \sum_c T_{vkc}\, s_{vc},

r_v the positions and s_vc the slopes of its nodes, T the maps of `Interpolation.maps_of`.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..arrays import Array, Ints, Ints32
from ..assembly.resolved import Resolved
from ..bodies.body import Body
from ..cells import CELLS
from ..cells.quadrature import counts_for, divided, gauss
from ..errors import MeshError, ParameterError
from ..mesh.cells import sizes
from ..places.ends import End
from ..places.facets import FacetPoints
from ..places.interpolation import tabulate
from ..places.on_body import Face, Nodes
from ..runtime.collective import exchange, lookup, owners_of, share_error, shares, together
from ..values.arguments import positive
from ..values.parameter import Field, Value, call_array, depends_on_time, evaluate, label
from .modulus import Modulus

if TYPE_CHECKING:
    from symancf_codegen.declare import Rule

    from ..assembly.configuration import Configuration, Layout
    from ..elements.element import Element

PARTS_OF_EDGES = 3  # of quadratic facets on facets, whose functions have kinks anywhere there
DEFAULT_C = {3: 10.0, 2: 1.0, 1: 0.01}  # c of solids, plates and cables
NONE = (
    'give facets of solids, solid["outside"], faces of full-gradient plates, '
    'plate["skin"].face(+1), or cables, cord["body"] with radius='
)


class Facets(NamedTuple):
    """The facets of a facet set in one system, this rank's share of them, as the region has them.

    Attributes
    ----------
    vertices : (n, nv) ids of their nodes in the layout; r_xi x r_eta points out of the body.
    length : (n,) local size l [m].
    fields : (n, fields) what the modulus of the material takes, see `Modulus`.
    height : (n,) z of the face of a plate, else 0 [m].
    starts : (ranks + 1,) where the shares of the ranks begin among all facets.
    """

    vertices: Ints
    length: Array
    fields: Array
    height: Array
    starts: Ints


class FacetSet(FacetPoints):
    """The facets of a region that may touch something, as places: their Gauss points.

    Place q f + p is point p of facet f, with q points on each; `Resolved.within` holds
    (xi, eta, z) of it, (xi, z) on cables. Its jets are ``value``, linear in the coordinates; its
    weight is the area (of cables the length) of the reference that it stands for, `measure`.

    Parameters
    ----------
    who : begins messages.
    place : what the user gives, see the top of this file.
    radius : of cables [m].
    facing : whether what they touch has facets, too: see `PARTS_OF_EDGES`.
    follows : whether the stiffness of the contact follows the material.

    Attributes
    ----------
    body, region, kind : whose cells or faces of cells these are, and their type.
    points, weights : (q, d) parameters and (q,) weights of the rule on a facet.
    unit : (q, d) the points in the unit cell.
    rho : distance from the facets at which something touches [m]: the radius of cables, else 0.
    parts : c, to which k l/E is set where nobody says otherwise: see `DEFAULT_C`.

    Raises
    ------
    ParameterError : nothing that has such a side, or no radius of a cable.
    """

    body: Body

    def __init__(
        self,
        who: str,
        place: Nodes | Face,
        radius: float | None = None,
        facing: bool = False,
        follows: bool = True,
    ) -> None:
        nodes: Any = place.nodes if isinstance(place, Face) else place
        if not isinstance(nodes, Nodes) or not isinstance(nodes.body, Body):
            text = nodes if isinstance(nodes, End) else label(nodes)
            raise ParameterError(
                f"{who}: {text} has no surface that could touch; {NONE}",
                asked="surface",
                given=str(text),
            )
        super().__init__(nodes.body, nodes.region, use=who)
        self.who, self.turned = who, isinstance(place, Face) and place.side == -1
        self.follows = follows
        self._require_touchable(place)
        element = self.element
        assert element is not None
        rule = _rule(element, facing)
        low, high = element.topology.domain
        self.points, self.weights = np.asarray(rule.points), np.asarray(rule.weights)
        self.unit = (self.points - low) / (high - low)
        self.cable = element.dimension == 1
        self.rho = self._radius(radius)
        self.parts = DEFAULT_C[self.body.element.dimension]

    def _radius(self, given: float | None) -> float:
        """Return the radius of a cable, 0 of what is none."""
        if self.cable and given is None:
            raise ParameterError(
                f"{self.who}: {self} is an axis: give radius=, that of the cable", asked="radius"
            )
        if not self.cable and given is not None:
            raise ParameterError(
                f"{self.who}: radius={label(given)} is for cables; {self} has a surface of its own",
                asked="radius",
                given=given,
            )
        return positive(self.who, "radius", given) if self.cable else 0.0

    def _require_touchable(self, place: Nodes | Face) -> None:
        """Raise where the place is an edge, or a plate of which no side is given."""
        element, body = self.element, self.body.element
        if element is None or (element.dimension == 1 and element is not body):
            raise ParameterError(
                f"{self.who}: {self} holds edges; {NONE}", asked="edges", given=str(self)
            )
        if body.dimension == 2 and not body.has_thickness:
            raise ParameterError(
                f"{self.who}: {self} is made of {body.name}, whose two sides touch at half its "
                "thickness from one surface; that is not possible yet: make it of ancf_plate and "
                "give one side, face(+1) or face(-1)",
                asked="element",
                given=body.name,
                possible=("ancf_plate",),
            )
        if body.dimension == 2 and not isinstance(place, Face):
            raise ParameterError(
                f"{self.who}: {place} is a plate and has two sides; contact of both at once is not "
                'possible yet: give them as two contacts, plate["skin"].face(+1) and face(-1)',
                asked="side",
                possible=(1, -1),
            )
        if isinstance(place, Face):
            if body.dimension != 2 or place.side not in (1, -1):
                raise ParameterError(
                    f"{self.who}: {place} is not possible: plates have face(+1) and face(-1), "
                    "solids their facets",
                    asked="side",
                    given=place.side,
                    possible=(1, -1) if body.dimension == 2 else (),
                )
            if place.middle:
                raise ParameterError(
                    f"{self.who}: contact of {self} acts on its face: leave out middle=True",
                    asked="middle",
                    given=True,
                    possible=(False,),
                )

    # ---- facets ---------------------------------------------------------------------------------
    def bind(self, layout: Layout) -> Facets:
        """Return this rank's share of the facets (collective).

        Raises
        ------
        MeshError : a facet of a solid lies between two of its cells.
        ParameterError : the thickness of a plate varies; the modulus cannot be found or is not
            positive.
        """
        layout.require_member(self.body, f"{self.who}: {self}")
        self.region.require_on(self.body.region)
        self.require_sides()
        comm, (_, facets) = self.region.mesh.comm, self.region.slice(self.kind)
        count, beside = self.beside(self._numbered())
        self._require_outside(count, facets)
        ring, X = beside[:, 1:], self.region.mesh.fetch_points(beside[:, 1:])
        with together(comm):
            table = self._of_cells()
            if self.turned:
                ring = ring[:, self._reversed()]
        starts = shares(comm, len(self.body.region.slice(self.body.element.cell)[1]))
        rows = lookup(comm, starts, beside[:, 0], table)
        volume, height, fields = rows[:, 0], rows[:, 1], rows[:, 2:]
        length = np.full(len(ring), self.rho) if self.cable else 2.0 * height
        if self.body.element.dimension == 3:
            length = volume / sizes(self.kind, X)
        if self.body.element.dimension == 2:
            self._require_oriented(ring)
        first = shares(comm, len(ring))
        ring = ring + layout.base(self.region.mesh)
        if self.follows:
            with together(comm):
                self.moduli(fields, self.modulus.present(0.0))
        return Facets(ring, length, fields, height, first)

    def _numbered(self) -> Ints:
        """Return the number and the nodes (cells, sides, 1 + nv) of sides of this rank's cells."""
        element = self.body.element
        cells = self.body.region.slice(element.cell)[1]
        nodes = cells[:, element.topology.sides(self.kind)]
        first = shares(self.region.mesh.comm, len(cells))[self.region.mesh.comm.rank]
        number = np.broadcast_to(
            first + np.arange(len(cells))[:, None, None], (*nodes.shape[:2], 1)
        )
        return np.asarray(np.concatenate([number, nodes], axis=2))

    def _reversed(self) -> list[int]:
        """Return the order of the nodes of a plate's cell that runs the other way round."""
        return [0, *range(CELLS[self.kind].corners - 1, 0, -1)]

    def _require_outside(self, count: Ints, facets: Ints) -> None:
        error, between = None, count > 1
        if between.any():
            first = facets[between][0]
            error = MeshError(
                f"{self.who}: {between.sum()} facets of {self} lie between two of its cells, e.g. "
                f"that with the points {', '.join(map(str, first))}: give those of its boundary"
            )
        share_error(self.region.mesh.comm, error)

    def _require_oriented(self, ring: Ints) -> None:
        """Raise where cells of a plate run the same way along an edge: the face would jump."""
        mesh = self.region.mesh
        edges = np.stack([ring, np.roll(ring, -1, axis=1)], axis=2).reshape(-1, 2)
        _, (edges,) = exchange(mesh.comm, owners_of(mesh.point_starts, edges[:, 0]), edges)
        runs, count = np.unique(edges, axis=0, return_counts=True)
        error = None
        if (count > 1).any():
            a, b = runs[count > 1][0]
            error = MeshError(
                f"{self.who}: at the edge of the points {a} and {b} the cells of {self} are "
                "numbered in opposite senses, so that the face would change its side there: turn "
                "one of them over in the mesh"
            )
        share_error(mesh.comm, error)

    # ---- the material ---------------------------------------------------------------------------
    @cached_property
    def modulus(self) -> Modulus:
        """Young's modulus of the material, EA of cables."""
        return Modulus(self.who, self.body)

    def moduli(self, fields: Array, present: tuple[float, ...]) -> Array:
        """Return E (n,) [Pa] of facets, of cables without a section EA over that of the radius.

        `fields` are those of `Facets`, `present` is what `Modulus.present` tells of a time.
        """
        E = self.modulus.of(fields, present)
        per_length = self.cable and self.body.element.section < 2
        return E / (np.pi * self.rho**2) if per_length else E

    def _of_cells(self) -> Array:
        """Return volume, z of the face and fields (cells, k) of this rank's share of the cells."""
        element, mesh = self.body.element, self.region.mesh
        X = mesh.fetch_points(self.body.region.slice(element.cell)[1])
        values, centre = np.zeros((len(X), 2)), X.mean(axis=1)
        if element.dimension == 3:
            values[:, 0] = sizes(element.cell, X)
        if element.dimension == 2:
            values[:, 1] = self._constant("thickness", centre) / 2.0
        return np.hstack([values, self.modulus.fields(centre)]) if self.follows else values

    def _constant(self, name: str, X: Array) -> Array | float:
        given: Value = self.body.parameters[name]
        within = isinstance(given, Field) and given.per == "point"
        if within or depends_on_time(given):
            raise ParameterError(
                f"{self.who}: the {name} of {self} changes within cells or in time; contact on a "
                "face needs a number, or a Field of one for each cell",
                asked=name,
                given=given,
            )
        what = f"{name} of body {self.body.name!r}"
        if isinstance(given, Field):
            return call_array(what, given.function, (len(X),), X)
        return evaluate(what, given, 0.0)

    def sized(self, layout: Layout, places: Ints) -> tuple[Array, Array]:
        """Return l (n,) and fields (n, k) of the facets of places, by number (collective)."""
        own = layout.bind(self)
        table = np.hstack([own.length[:, None], own.fields])
        rows = lookup(layout.comm, own.starts, places // len(self.weights), table)
        return rows[:, 0], rows[:, 1:]

    # ---- places ---------------------------------------------------------------------------------
    def _find(self, layout: Layout) -> Resolved:
        """Find the points (collective)."""
        own, q = layout.bind(self), len(self.weights)
        value, _ = CELLS[self.kind].evaluate(self.unit)
        nodes = layout.fetch_points(own.vertices.ravel()).reshape(*own.vertices.shape, 3)
        X = np.einsum("qv,nva->nqa", value, nodes)
        within = np.empty((len(own.vertices), q, self.points.shape[1] + 1))
        within[..., :-1], within[..., -1] = self.points, own.height[:, None]
        return Resolved(
            X.reshape(-1, 3),
            np.repeat(own.vertices, q, axis=0),
            within.reshape(-1, within.shape[2]),
            np.tile(self.weights, len(own.vertices)),
            starts=own.starts * q,
        )

    def _coefficients(
        self, configuration: Configuration, places: Resolved, vertices: Ints32, derivative: int
    ) -> tuple[Array, Array | None]:
        """Return coefficients of positions (k, nv) and of slopes (k, nv, s) of r, r_xi or r_eta."""
        assert self.element is not None
        jet = ("value", *self.element.topology.coordinates)[derivative]
        table = tabulate(self.element, jet, places.within[:, :-1], places.within[:, -1])
        return configuration.binding(self.body).interpolation.weighted(table, vertices)

    def __str__(self) -> str:
        face = f", face({-1 if self.turned else 1:+d})" if self.body.element.dimension == 2 else ""
        return f"region {self.region.name!r} of {self.body.name!r}{face}"


def _rule(element: Element, facing: bool) -> Rule:
    """Return the rule of quadrature on a facet; `facing` as of `FacetSet`."""
    cell = element.topology
    product = max(cell.factors) == 1  # of lines: no triangle
    coarse = counts_for(cell, 3 if product else 2)
    if not element.slopes and element.degree == 1:
        return gauss(cell, coarse)
    if facing and not element.slopes:
        return divided(cell, coarse, PARTS_OF_EDGES)
    return gauss(cell, counts_for(cell, {1: 7, 2: 5}[element.dimension] if product else 4))
