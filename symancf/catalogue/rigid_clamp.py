# SPDX-License-Identifier: BSD-3-Clause
"""Nodes and points of a deformable body that move with a rigid body, as if glued to it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from ..arrays import Array, Ints
from ..assembly.configuration import Configuration, Layout, in_system
from ..bodies.natural import RigidBody, RigidPoint
from ..bodies.plane import PlanarBody, PlanarClamp
from ..errors import ConstraintError
from ..places.glue import POINT, Glue, GluedSlopes, PerPlace, glue_of, glued_slopes, slots
from ..places.middles import Middles
from ..places.on_body import Nodes, PointsOnBody
from ..places.slopes import Slopes, SlopesAtPoints
from ..places.vectors import unit
from ..runtime.collective import block_starts
from ..terms.constraint import Constraint, ConstraintBinding
from ..values.arguments import name_or, one_of
from .coinciding import coincide, welded

if TYPE_CHECKING:
    from ..assembly.form import Form
    from ..places.ends import End, Ground
    from ..terms.quantities import E, V


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
        name = name_or(name, f"clamp of {places}")
        self.dofs = one_of(f"{name}: dofs", dofs, ("clamp", "all"))
        slopes = places.body.element.directions
        function = welded(slopes) if dofs == "all" and slopes else coincide
        super().__init__(function, places, body._holding(places), name=name)
        self.places, self.body = places, body

    def bind(self, layout: Layout) -> RigidClampBinding:
        """Announce entities and vertices before distribution (collective)."""
        return RigidClampBinding(self, layout)

    @in_system
    def violations(self, system: Configuration) -> Array:
        """Return five invariants of the clamp, minus their reference values (K, 5) (collective).

        |r_kj|^2, r_kj . u - |r_kj| |u| cos(theta_k), r_kj . r_ij, r_k,x . v and r_k,y . r_kj with
        r_kj = r_k - r_j, theta_k the angle between r_kj and u in the reference, and x, y the
        first two slopes (of cables only x, of solids none; columns for what there is). They are
        the constraints of Ghoneimy et al., Appl. Syst. Innov. 8 (2025) 42, for rings of a thin
        plate; all are invariant under rigid motions. Those of slopes hold where all slopes are
        fixed, ``dofs="all"``.
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
    slopes : of nodes, of edges or of points, those that are held in full, and along normals.
    """

    term: RigidClamp
    parts: list[ConstraintBinding]

    def __init__(self, term: RigidClamp, layout: Layout) -> None:
        super().__init__(term, layout)
        self.parts = []
        self.slopes: list[tuple[Slopes, Slopes]] = []
        places, comm, element = term.places, layout.comm, term.places.body.element
        if term.dofs == "clamp" and element.slopes:
            names = "slopes", "directions"
            if isinstance(places, Nodes):
                self._hold_at(layout, glue_of(layout, self.name, places), names)
            else:
                resolved = places.resolve(layout)
                even = block_starts(resolved.total, comm.size)
                starts = even if resolved.starts is None else resolved.starts
                kind = np.full(starts[comm.rank + 1] - starts[comm.rank], POINT)
                each = [PerPlace(comm, starts, count) for count in slots(element, kind)]
                full, partly = (SlopesAtPoints(places, count) for count in each)
                self._hold(layout, (full, partly), names)
        middles = Middles.of(layout, places)
        if middles is not None:
            if term.dofs == "all":
                middles = replace(middles, inside=np.ones_like(middles.inside))
            self._hold_at(layout, middles, ("slopes of edges", "normals of edges"))

    def _hold_at(self, layout: Layout, at: Glue | Middles, names: tuple[str, str]) -> None:
        """Announce the conditions on slopes of nodes or edges (collective)."""
        places = self.term.places
        each = [PerPlace(layout.comm, at.starts, n) for n in at.slots(places.body.element)]
        full, partly = (Slopes(places, at, count) for count in each)
        self._hold(layout, (full, partly), names)

    def _hold(self, layout: Layout, slopes: tuple[Slopes, Slopes], names: tuple[str, str]) -> None:
        """Announce the conditions on slopes, in full and along normals (collective)."""
        self.slopes.append(slopes)
        for place, law, what in zip(slopes, (_follow, _stay_across), names, strict=True):
            if len(place.slopes):
                end, name = self.term.body._holding(place), f"{self.name} ({what})"
                self.parts.append(layout.bind(Constraint(law, place, end, name=name)))

    def orient(self, configuration: Configuration) -> None:
        """Find which slopes of nodes and across edges are held (collective)."""
        for slopes in self.slopes:
            if not isinstance(slopes[0], SlopesAtPoints):
                here = slopes[0].at.here(configuration, self.term.places.body)
                _take(slopes, here.number, here.slopes())

    def forms(self, configuration: Configuration) -> list[Form]:
        """Return the kernels and entities on this rank; also finds slopes held at points."""
        for slopes in self.slopes:
            if isinstance(slopes[0], SlopesAtPoints):
                here = np.unique(self.entities.ids)
                _take(slopes, here, self._at_points(configuration, here))
        return super().forms(configuration)

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


def _take(slopes: tuple[Slopes, Slopes], places: Ints, chosen: GluedSlopes) -> None:
    """Give the directions of slopes at places to those that are held (collective)."""
    full, partly = slopes
    full.take(places, chosen.full, None)
    partly.take(places, chosen.partly, chosen.normals)


def clamp(
    a: Nodes | PointsOnBody,
    b: PlanarBody | Ground | RigidBody,
    name: str | None = None,
    dofs: Literal["clamp", "all"] = "clamp",
) -> PlanarClamp | RigidClamp:
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
        return PlanarClamp(a, b, name)
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
