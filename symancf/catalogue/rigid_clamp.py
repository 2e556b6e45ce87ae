# SPDX-License-Identifier: BSD-3-Clause
"""Nodes and points of a deformable body that move with a rigid body, as if glued to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from ..arrays import Array, Ints, Ints32, Mask
from ..assembly.resolved import Resolved, Rows
from ..assembly.vertices import AtVertices
from ..bodies.natural import RigidBody, RigidPoint
from ..bodies.plane import Clamp, PlanarBody
from ..errors import ConstraintError
from ..places.ends import End, Ground, vector_rows
from ..places.glue import (
    POINT,
    Glue,
    GluedSlopes,
    NodesHere,
    PerPlace,
    glue_of,
    glued_slopes,
    slots,
)
from ..places.middles import Middles, MiddlesHere
from ..places.on_body import Nodes, PointsOnBody
from ..places.vectors import unit
from ..runtime.collective import block_starts
from ..terms.constraint import Constraint, ConstraintBinding
from ..values.arguments import named, one_of
from .coinciding import coincide, welded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..assembly.configuration import Configuration, Layout
    from ..assembly.piece import Piece
    from ..terms.quantities import E, V


class Slopes(End):
    """Slopes of places in directions of the reference, one or two of each: an end of a clamp.

    Jets: ``value``, the position; ``along0``, the derivative of r along the direction. On the
    rigid body ``along0`` and ``along1`` are what it makes of the direction and of the normal.

    Attributes
    ----------
    slopes : how they are numbered over the places.
    present, slope, normal : which of those at this rank's places count, and (k, 3) directions of
        the reference, after `take`.
    """

    present: AtVertices[np.bool_] | None = None
    slope: AtVertices[np.float64]
    normal: AtVertices[np.float64]

    def __init__(self, place: Nodes | PointsOnBody, slopes: PerPlace) -> None:
        self.body, self.place, self.slopes = place.body, place, slopes

    def take(self, places: Ints, slopes: Array, normals: Array | None) -> None:
        """Take the directions (m, s, 3) of slopes at places of this rank, and normals (collective).

        Zeros : there is none. `places` are numbers among those of all ranks.
        """
        first, count, known = self.slopes.at(places)
        self.present = AtVertices(known, np.zeros(len(known), dtype=bool))
        self.slope = AtVertices(known, np.zeros((len(known), 3)))
        self.normal = AtVertices(known, np.zeros((len(known), 3)))
        for k in range(slopes.shape[1]):
            some = k < count
            at = first[some] + k
            self.slope[at] = slopes[some, k]
            self.present[at] = slopes[some, k].any(axis=1)
            if normals is not None:
                self.normal[at] = normals[some, k]

    def _find(self, layout: Layout) -> Resolved:
        """Find the places that they are of."""
        places = self.place.resolve(layout).fetch(layout.comm, self.slopes.places)
        places = places.shared(self.slopes.starts)
        return Resolved(
            places.X, places.vertices, places.within, given=places, starts=places.starts
        )

    def chosen(self, ids: Ints) -> Mask:
        """Return which of them count; all, where that is known once the reference is."""
        return super().chosen(ids) if self.present is None else self.present[ids]

    def constant(self, places: Resolved, jet: str) -> Array | None:
        """Return None: reference values follow from coordinates."""
        return None

    def directions(self, configuration: Configuration, places: Resolved) -> Array:
        """Return the reference directions (k, 2, 3) of the slopes and the normals."""
        return np.stack([self.slope[places.ids], self.normal[places.ids]], axis=1)

    def rows(
        self, configuration: Configuration, places: Resolved, vertices: Ints32, jet: str
    ) -> Rows:
        """Return a jet as combinations of local coordinates; see `End.rows`."""
        assert places.given is not None
        if jet == "value":
            return self.place.rows(configuration, places.given, vertices, jet)
        slope = self.slope[places.ids]
        if isinstance(self.place, PointsOnBody):
            return self.place._derivative(configuration, places.given, vertices, slope)
        on = configuration.binding(self.body).interpolation
        weights = np.einsum("nka,na->nk", on.basis[vertices[:, 0]], slope)
        weights[np.abs(weights) < 1e-15] = 0.0
        offset = on.offset(vertices, "slope0")
        return vector_rows(offset + 3 * np.arange(weights.shape[1]), weights)

    def __str__(self) -> str:
        return f"slopes of {self.place}"


class SlopesAcross(Slopes):
    """The same of slopes across edges, one of each edge or none."""

    def __init__(self, place: Nodes | PointsOnBody, middles: Middles, slopes: PerPlace) -> None:
        super().__init__(place, slopes)
        self.middles = middles

    def _find(self, layout: Layout) -> Resolved:
        """Return the middles of the edges."""
        count = self.slopes.count
        vertices = np.repeat(self.middles.vertices, count)[:, None]
        return Resolved(
            np.repeat(self.middles.X, count, axis=0), vertices, starts=self.slopes.starts
        )

    def rows(
        self, configuration: Configuration, places: Resolved, vertices: Ints32, jet: str
    ) -> Rows:
        """Return a jet as combinations of local coordinates; an edge has no position of its own."""
        on = configuration.binding(self.body).interpolation
        some = jet != "value"
        offset = on.offset(vertices[:, :1] if some else vertices[:, :0], "across")
        return vector_rows(offset, np.ones(offset.shape))


def _follow(g1_a: V, g1_b: V) -> V:
    return g1_a - g1_b


def _stay_across(s1_a: V, s2_b: V) -> E:
    return s1_a.dot(s2_b)


class RigidClamp(Constraint):
    r"""Nodes or points of a deformable body that move with a rigid body, as glue holds them.

    Positions coincide: :math:`r_k = r_b`, 3 rows for each place. Of the slopes
    :math:`s = \partial r/\partial D` along directions D of the reference it holds what `sa.fix`
    holds there: along what is glued, and of plates with directors through the thickness, the
    whole slope, :math:`s - R\,D = 0` with the body's rotation R; of the tangent of a cable
    and of the slope across the edge of a thin plate the components along the normals n,
    :math:`s \cdot R\,n = 0`, so that its length is free (also its direction within the plate).
    `dofs` "all": all slopes follow the body, a support without strain, as in papers. All in the
    natural coordinates of the body, in which R D and R n are linear.

    Examples
    --------
    >>> import symancf as sa
    >>> ball = sa.RigidBody.box((0.1, 0.1, 0.1), position=(0.0, 0.0, 0.0), rho=1000.0, name="ball")
    >>> line = sa.Mesh.box((1.0,), (4,))["body"]
    >>> cord = sa.Body(line, sa.elements.ancf_cable, sa.energies.cable(), EA=1.0, EI=1.0)
    >>> isinstance(sa.joints.clamp(cord["x0"], ball), sa.joints.RigidClamp)
    True
    """

    def __init__(
        self,
        places: Nodes | PointsOnBody,
        body: RigidBody,
        name: str | None,
        dofs: Literal["clamp", "all"] = "clamp",
    ) -> None:
        name = named(name, f"clamp of {places}")
        self.dofs = one_of(f"{name}: dofs", dofs, ("clamp", "all"))
        slopes = places.body.element.directions
        function = welded(slopes) if dofs == "all" and slopes else coincide
        super().__init__(function, places, body.holding(places), name=name)
        self.places, self.body = places, body

    def bind(self, layout: Layout) -> RigidClampBinding:
        """Announce entities and vertices before distribution (collective)."""
        return RigidClampBinding(self, layout)

    def violations(self, system: Configuration) -> Array:
        """Return five invariants of the clamp, minus their reference values (K, 5) (collective).

        |r_kj|^2, r_kj . u - |r_kj| |u| cos(theta_k), r_kj . r_ij, r_k,x . v and r_k,y . r_kj with
        r_kj = r_k - r_j, theta_k the angle between r_kj and u in the reference, and x, y the
        first two slopes (of cables only x, of solids none; columns for what there is). They are
        the constraints of Ghoneimy et al., Appl. Syst. Innov. 8 (2025) 42, for rings of a thin
        plate; all are invariant under rigid motions. Those of slopes hold where all slopes are
        held, ``dofs="all"``.
        """
        slopes = min(2, len(self.places.body.element.slopes))
        body = self.body
        names = ["value", *(f"along{s}" for s in range(slopes))]
        R0 = system.evaluate(self.places, [(n, system.reference) for n in names])
        u0 = system.evaluate(self.places, [(n, system.state) for n in names])
        q0 = body.coordinates(system, system.reference)
        q1 = q0 + body.coordinates(system, system.state)
        now = [R + u for R, u in zip(R0, u0, strict=True)]
        arm = R0[0] - q0[1]
        length = np.linalg.norm(arm, axis=1)
        cosine = np.divide(arm @ q0[2], length, out=np.zeros(len(arm)), where=length > 0.0)

        def values(r: list[Array], q: Array) -> Array:
            r_kj, u, v = r[0] - q[1], q[2], q[3]
            rows = [
                np.einsum("ka,ka->k", r_kj, r_kj),
                r_kj @ u - np.linalg.norm(r_kj, axis=1) * np.linalg.norm(u) * cosine,
                r_kj @ (q[1] - q[0]),
            ]
            if slopes > 0:
                rows.append(r[1] @ v)
            if slopes > 1:
                rows.append(np.einsum("ka,ka->k", r[2], r_kj))
            return np.stack(rows, axis=1)

        return values(now, q1) - values(R0, q0)


class RigidClampBinding(ConstraintBinding):
    """A clamp in one system.

    Attributes
    ----------
    parts : the conditions on slopes.
    glue : of nodes whose slopes are held as glue does; None: there are none.
    slopes : those that are held in full, and those that are held along normals; or none.
    middles, across : edges that carry slopes, None: there are none; and these, as `slopes`.
    """

    term: RigidClamp
    parts: list[ConstraintBinding]
    across: list[SlopesAcross]

    def __init__(self, term: RigidClamp, layout: Layout) -> None:
        super().__init__(term, layout)
        self.parts = []
        self.glue: Glue | None = None
        self.slopes: list[Slopes] = []
        places, comm, element = term.places, layout.comm, term.places.body.element
        if term.dofs == "clamp" and element.slopes:
            if isinstance(places, Nodes):
                self.glue = glue_of(layout, self.name, places)
                starts, kind = self.glue.starts, self.glue.kind
            else:
                found = places.resolve(layout)
                even = block_starts(found.total, comm.size)
                starts = even if found.starts is None else found.starts
                kind = np.full(starts[comm.rank + 1] - starts[comm.rank], POINT)
            each = [PerPlace(comm, starts, count) for count in slots(element, kind)]
            self.slopes = [Slopes(places, count) for count in each]
            self._hold(layout, self.slopes, ("slopes", "directions"))
        self.middles = middles = Middles.of(layout, places)
        if middles is not None:
            whole = (middles.inside | (term.dofs == "all")).astype(np.int64)
            each = [PerPlace(comm, middles.starts, count) for count in (whole, 1 - whole)]
            self.across = [SlopesAcross(places, middles, count) for count in each]
            self._hold(layout, self.across, ("slopes of edges", "normals of edges"))

    def _hold(self, layout: Layout, places: Sequence[Slopes], names: tuple[str, str]) -> None:
        """Announce the conditions on slopes, in full and along normals (collective)."""
        for place, law, what in zip(places, (_follow, _stay_across), names, strict=True):
            if len(place.slopes):
                end, name = self.term.body.holding(place), f"{self.name} ({what})"
                self.parts.append(layout.bind(Constraint(law, place, end, name=name)))

    def orient(self, configuration: Configuration) -> None:
        """Find which slopes of nodes and across edges are held (collective)."""
        body = self.term.places.body
        if self.glue is not None:
            nodes = NodesHere.of(configuration, body, self.glue)
            self._take(nodes.number, nodes.slopes(body.element))
        if self.middles is not None:
            here = MiddlesHere.of(configuration, body, self.middles)
            for place, normals in zip(self.across, (None, here.normal[:, None]), strict=True):
                place.take(here.number, here.across[:, None], normals)

    def pieces(self, configuration: Configuration) -> list[Piece]:
        """Return the kernels and entities on this rank; also finds slopes held at points."""
        if self.slopes and self.glue is None:
            here = np.unique(self.entities.ids)
            self._take(here, self._at_points(configuration, here))
        return super().pieces(configuration)

    def _take(self, places: Ints, held: GluedSlopes) -> None:
        """Give the directions of slopes at places to those that are held (collective)."""
        whole, partly = self.slopes
        whole.take(places, held.whole, None)
        partly.take(places, held.partly, held.normals)

    def _at_points(self, configuration: Configuration, here: Ints) -> GluedSlopes:
        """Return what is held at points, nothing but points of what may be the inside of cells."""
        entities, place = self.entities, self.term.places
        of, first = np.unique(entities.ids, return_index=True)
        vertices = entities.end_vertices(0)[first[np.searchsorted(of, here)]]
        assert isinstance(place, PointsOnBody)
        places = place.resolve(configuration.layout).fetch(configuration.comm, here)
        slopes = unit(place._gradient(configuration, places, vertices)[3])
        element = place.body.element
        if element.dimension == 1:
            normal = slopes[:, 0]
        elif slopes.shape[1] == 3:
            normal = slopes[:, 2]
        else:
            normal = unit(np.cross(slopes[:, 0], slopes[:, 1]))
        none = np.zeros_like(normal)
        at = np.full(len(here), POINT)
        return glued_slopes(element, at, normal, none, np.zeros(len(here), dtype=bool), none)


def clamp(
    a: Nodes | PointsOnBody,
    b: PlanarBody | Ground | RigidBody,
    name: str | None = None,
    dofs: Literal["clamp", "all"] = "clamp",
) -> Clamp | RigidClamp:
    """Clamp nodes or points of a deformable body to a rigid body, as they are in the reference.

    It is what gluing them to the body is, also when the body turns; of slopes it holds the same
    as `sa.fix`. The end of a cable in the plane, ``cable.at(X)``, can be clamped to a planar
    body or the ground, too; to hold other places at the ground take `sa.fix`.

    Parameters
    ----------
    a : ``body["region"]``, or points of the body, ``body.at(X)``.
    b : a `RigidBody`; for a cable in the plane a `PlanarBody` or ``sa.ground``.
    dofs : ``"clamp"``: positions; of a cable the direction of its tangent; along the edge of a
        plate the slope along it, and the normal (``ancf_plate``: r_z); of a region of cells all
        slopes. ``"all"``: positions and all slopes, also the length of a cable's tangent and
        the slope across an edge, so that the material has no strain there, as in papers.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((2.0,), (4,))
    >>> rod = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), EA=1e4, EI=1.0)
    >>> head = sa.RigidBody((2.0, 0.0, 0.0))
    >>> wrist = sa.joints.clamp(rod["x1"], head)
    """
    if not isinstance(b, RigidBody):
        if dofs != "clamp":
            raise ConstraintError(
                f"clamp: dofs={dofs!r} is for rigid bodies in space; at a planar body and at the "
                "ground the length of a cable's tangent is free",
                asked="dofs",
                given=dofs,
                possible=("clamp",),
            )
        return Clamp(a, b, name)
    end: End = a
    if isinstance(end, RigidPoint):
        raise ConstraintError(
            f"clamp of {end}: to join two rigid bodies take sa.joints.rigid",
            asked="a",
            given=str(end),
            possible=("Nodes", "PointsOnBody"),
        )
    if not isinstance(end, Nodes | PointsOnBody):
        raise ConstraintError(
            f"clamp takes nodes, body['region'], or points, body.at(X), not {type(end).__name__}",
            asked="a",
            given=type(end).__name__,
            possible=("Nodes", "PointsOnBody"),
        )
    return RigidClamp(end, b, name, dofs)
