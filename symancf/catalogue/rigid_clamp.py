# SPDX-License-Identifier: BSD-3-Clause
"""Nodes and points of a deformable body that move with a rigid body, as if glued to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Self

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
from ..terms.constraint import Constraint, Reaction
from ..values.arguments import named, one_of
from .coinciding import coincide, welded

if TYPE_CHECKING:
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


@dataclass
class Glued:
    """What a clamp holds in a system beside positions.

    Attributes
    ----------
    glue : of nodes; points have none.
    slopes : those that are held in full, and those that are held along normals.
    conditions : the constraints on slopes.
    middles, across : edges that carry slopes, and these, as `slopes`.
    """

    glue: Glue | None
    slopes: list[Slopes]
    conditions: list[Constraint]
    middles: Middles | None = None
    across: list[Slopes] = field(default_factory=list)


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
    >>> ball = sa.RigidBody.box((0.1, 0.1, 0.1), at=(0.0, 0.0, 0.0), rho=1000.0, name="ball")
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

    # ---- as a term ------------------------------------------------------------------------------
    def bind(self, layout: Layout) -> Self:
        """Announce entities and vertices before distribution (collective)."""
        super().bind(layout)
        element = self.places.body.element
        if self.dofs == "all" or not element.slopes:
            self._declare_edges(layout, layout.keep(self, Glued(None, [], [])))
            return self
        glue: Glue | None = None
        places, comm = self.places.resolve(layout), layout.comm
        if isinstance(self.places, Nodes):
            glue = glue_of(layout, layout.name(self), self.places)
            starts, kind = glue.starts, glue.kind
        else:
            even = block_starts(places.total, comm.size)
            starts = even if places.starts is None else places.starts
            kind = np.full(starts[comm.rank + 1] - starts[comm.rank], POINT)
        glued = layout.keep(self, Glued(glue, [], []))
        whole, partly = slots(element, kind)
        for count, law, what in ((whole, _follow, "slopes"), (partly, _stay_across, "directions")):
            place = Slopes(self.places, PerPlace(comm, starts, count))
            glued.slopes.append(place)
            if len(place.slopes):
                end = self.body.holding(place)
                name = f"{layout.name(self)} ({what})"
                glued.conditions.append(Constraint(law, place, end, name=name))
                glued.conditions[-1].bind(layout)
        self._declare_edges(layout, glued)
        return self

    def _declare_edges(self, layout: Layout, glued: Glued) -> None:
        """Announce what is held of slopes across edges (collective)."""
        middles = glued.middles = Middles.of(layout, self.places)
        if middles is None:
            return
        whole = (middles.inside | (self.dofs == "all")).astype(np.int64)
        for count, law, what in ((whole, _follow, "slopes"), (1 - whole, _stay_across, "normals")):
            place = SlopesAcross(self.places, middles, PerPlace(layout.comm, middles.starts, count))
            glued.across.append(place)
            if len(place.slopes):
                end, name = self.body.holding(place), f"{layout.name(self)} ({what} of edges)"
                glued.conditions.append(Constraint(law, place, end, name=name))
                glued.conditions[-1].bind(layout)

    def carriers(self, configuration: Configuration) -> list[tuple[str, Ints32]]:
        """Blocks that this term puts on local vertices; also finds which slopes are held."""
        glued = configuration.of(self, Glued)
        if glued.glue is not None:
            nodes = NodesHere.of(configuration, self.places.body, glued.glue)
            self._take(glued, nodes.number, nodes.slopes(self.places.body.element))
        if glued.middles is not None:
            here = MiddlesHere.of(configuration, self.places.body, glued.middles)
            for place, normals in zip(glued.across, (None, here.normal[:, None]), strict=True):
                place.take(here.number, here.across[:, None], normals)
        blocks = super().carriers(configuration)
        return [*blocks, *(b for c in glued.conditions for b in c.carriers(configuration))]

    def pieces(self, configuration: Configuration) -> list[Piece]:
        """Return the kernels and entities on this rank."""
        glued = configuration.of(self, Glued)
        if glued.slopes and glued.glue is None:
            here = np.unique(self.entities(configuration).ids)
            self._take(glued, here, self._at_points(configuration, here))
        made = super().pieces(configuration)
        return [*made, *(p for c in glued.conditions for p in c.pieces(configuration))]

    def idle(self, configuration: Configuration) -> Ints:
        """Return the local offsets of multipliers whose equation moves no free coordinate."""
        conditions = configuration.of(self, Glued).conditions
        return np.concatenate(
            [super().idle(configuration), *(c.idle(configuration) for c in conditions)]
        )

    # ---- what is held ---------------------------------------------------------------------------
    @staticmethod
    def _take(glued: Glued, places: Ints, held: GluedSlopes) -> None:
        """Give the directions of slopes at places to those that are held (collective)."""
        whole, partly = glued.slopes
        whole.take(places, held.whole, None)
        partly.take(places, held.partly, held.normals)

    def _at_points(self, configuration: Configuration, here: Ints) -> GluedSlopes:
        """Return the same at points, nothing but points of what may be the inside of cells."""
        entities = self.entities(configuration)
        of, first = np.unique(entities.ids, return_index=True)
        vertices = entities.end_vertices(0)[first[np.searchsorted(of, here)]]
        place = self.places
        assert isinstance(place, PointsOnBody)
        places = place.resolve(configuration.layout).fetch(configuration.comm, here)
        slopes = unit(place._gradient(configuration, places, vertices)[3])
        element = self.places.body.element
        if element.dimension == 1:
            normal = slopes[:, 0]
        elif slopes.shape[1] == 3:
            normal = slopes[:, 2]
        else:
            normal = unit(np.cross(slopes[:, 0], slopes[:, 1]))
        none = np.zeros_like(normal)
        at = np.full(len(here), POINT)
        return glued_slopes(element, at, normal, none, np.zeros(len(here), dtype=bool), none)

    # ---- results --------------------------------------------------------------------------------
    def reaction(self, system: Configuration, end: Literal["a", "b", "c"] = "a") -> Reaction:
        """Return the forces and moments on an end, moments about the places (collective)."""
        found = super().reaction(system, end)
        moments = found.moments.copy()
        for condition in system.of(self, Glued).conditions:
            slopes = condition.ends[0]
            assert isinstance(slopes, Slopes)
            own = condition.reaction(system, end).moments
            if isinstance(slopes, SlopesAcross):  # couples, told at the nearest node
                X = slopes.resolve(system.layout).everywhere(system.comm).X
                nodes = self.places.resolve(system.layout).everywhere(system.comm).X
                of = np.array([np.argmin(np.linalg.norm(nodes - x, axis=1)) for x in X], dtype=int)
            else:
                of = np.concatenate(system.comm.allgather(slopes.slopes.places))
            np.add.at(moments, of, own)
        return Reaction(found.points, found.forces, moments)

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
