# SPDX-License-Identifier: BSD-3-Clause
"""Dead loads: gravity, forces and tractions."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Literal, cast

import numpy as np
import sympy as sp

from symancf_codegen import declare

from ..arrays import Array
from ..assembly.agreement import Given
from ..assembly.plan import Plan
from ..bodies.natural import RigidBody
from ..bodies.plane import Factor, PlanarBody, PlanarPoint, planar_force
from ..errors import ConstraintError, ParameterError
from ..laws import body_force_laws, dead_load_laws
from ..mesh.partition import Family
from ..places.ends import End, Ground, Nodes, require_place, require_region
from ..places.facets import FacetPoints
from ..places.interpolation import Interpolation
from ..runtime import jit
from ..runtime.collective import together
from ..terms.entities import Entities
from ..values.arguments import among, named, one_of
from ..values.parameter import Value, Vector, call_array, components, takes_place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..assembly.configuration import Configuration, Layout
    from ..assembly.piece import Piece
    from ..assembly.protocol import Carriers
    from ..bodies.body import Body
    from ..terms.work import Potential, VirtualWork
    from ..values.parameter import Scalar


class Gravity:
    """The energy -rho g . u of every body that has a density; see `gravity`."""

    def __init__(self, g: Vector, bodies: Sequence[Body | RigidBody | PlanarBody] | None) -> None:
        self.name = "gravity"
        self.given, self.g = g, components("gravity", g)
        self.bodies = bodies

    def declare(self, layout: Layout) -> None:
        """Announce entities and vertices before distribution."""
        for body in self.bodies or ():
            layout.require_member(body, layout.name(self))
            if not self._has_mass(body):
                lacks = "mass" if isinstance(body, RigidBody | PlanarBody) else "rho"
                raise ParameterError(f"gravity acts on body {body.name!r}, which has no {lacks}")
        if not self._heavy(layout):
            raise ParameterError("gravity: no body has a density; give rho=... to a body")
        self._warn_of_another(layout)

    def _warn_of_another(self, layout: Layout) -> None:
        """Warn where an earlier load is the same gravity on some of the same bodies."""
        parts = [self.given] if callable(self.given) else list(self.given)
        field = tuple(p if isinstance(p, int | float) else id(p) for p in parts)
        own, twice = layout.name(self), dict[str, list[str]]()
        for body in self._heavy(layout):
            before = layout.noted((Gravity, id(body), field), own)
            if before is not None:
                twice.setdefault(before, []).append(repr(layout.name(body)))
        for before, names in twice.items():
            if layout.comm.rank == 0:
                on = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if names[5:] else "")
                warnings.warn(
                    f"{before!r} and {own!r} are the same gravity, and both act on {on}: "
                    "twice the weight",
                    stacklevel=5,
                )

    @staticmethod
    def _has_mass(body: Body | RigidBody | PlanarBody) -> bool:
        if isinstance(body, RigidBody | PlanarBody):
            return body.mass > 0.0
        return "rho" in body.parameters

    def _heavy(self, within: Layout | Configuration) -> list[Body | RigidBody | PlanarBody]:
        return [b for b in self.bodies or within.bodies if self._has_mass(b)]

    def pieces(self, configuration: Configuration) -> list[Piece]:
        """Return the kernels and entities on this rank."""
        uniform: dict[str, Value] = {f"g{a + 1}": g for a, g in enumerate(self.g)}
        made = []
        for body in self._heavy(configuration):
            if isinstance(body, RigidBody | PlanarBody):
                made.append(body.weight(configuration, uniform))
                continue
            name = f"gravity:{configuration.name(body)}"
            laws = body_force_laws(body.element, values=body.parameters, fields=body.fields)
            made.append(body.piece(configuration, name, laws, "potential", uniform))
        return made


def gravity(g: Vector, *bodies: Body | RigidBody | PlanarBody) -> Gravity:
    """Weight of bodies (all that have `rho` or a mass) in the field `g`, three components [m/s^2].

    The components are numbers, `Parameter` or functions of time. Energy: -int rho g . u dV.
    """
    return Gravity(g, bodies or None)


class Force:
    """Dead forces on places of bodies; see `force` and `traction`."""

    def __init__(
        self,
        place: End,
        vector: Vector,
        distribute: Literal["total", "each", "density"],
        name: str,
    ) -> None:
        self.place, self.name, self.distribute = place, name, distribute
        self.of_place = vector if callable(vector) and takes_place(vector) else None
        self.vector = [] if self.of_place else components(name, vector)
        if self.of_place is not None and distribute != "density":
            raise ParameterError(
                f"{name}: a force is a vector or a function of time; for one that depends on the "
                "place give its density, sa.traction(region, function of (X, time))"
            )
        if not among(distribute, ("total", "each", "density")):
            raise ParameterError(f"{name}: distribute is {distribute!r}: 'total' or 'each'")

    def declare(self, layout: Layout) -> None:
        """Announce entities and vertices before distribution."""
        layout.keep(self, Entities(layout, layout.name(self), [self.place]))

    def carriers(self, configuration: Configuration) -> Carriers:
        """Take this rank's entities; return the blocks that the term puts on vertices."""
        configuration.of(self, Entities).bind(configuration)
        return []

    def pieces(self, configuration: Configuration) -> list[Piece]:
        """Return the kernels and entities on this rank."""
        entities = configuration.of(self, Entities)
        jets = entities.jets(configuration, [(0, "value")])
        if isinstance(self.place, FacetPoints):
            with together(configuration.comm):
                at = entities.here[0], entities.end_vertices(0)
                weight = self.place.measure(configuration, *at)
        else:
            weight = np.ones(len(entities.ids))
        if self.distribute == "total":
            weight = weight / configuration.sum(np.array([weight[entities.owned].sum()]))[0]
        uniform = {f"F{a + 1}": f for a, f in enumerate(self.vector)}
        cell = {"weight": weight}
        kernel = jit.points(_force_law(), configuration.comm)
        piece = entities.piece(configuration.name(self), kernel, "potential", uniform, cell, jets)
        if self.of_place is not None:
            X = entities.reference(configuration, jets, 3)
            piece.cell_at = lambda time: self._at(kernel.cell, weight, X, time)
            piece.given = [Given(self.name, self._vector, X)]
        return [piece]

    def _at(self, names: Sequence[str], weight: Array, X: Array, time: float) -> Array:
        """Return the cell parameters (n, rows) of a force that depends on the place."""
        vector = self._vector(X, time)
        values = {"weight": weight, **{f"F{a + 1}": vector[:, a] for a in range(3)}}
        return np.stack([values[name] for name in names], axis=1)

    def _vector(self, X: Array, time: float) -> Array:
        assert self.of_place is not None
        return call_array(self.name, self.of_place, X.shape, X, float(time))


class Spread(Force):
    """Dead forces on the cells of a body or the faces of a solid: a kernel on these."""

    place: FacetPoints

    def declare(self, layout: Layout) -> None:
        """Announce the facets before distribution."""
        place = self.place
        layout.require_member(place.body, str(place))
        place.region.require_on(place.body.region)
        ids, vertices = place.region.slice(place.kind)
        if not layout.comm.allreduce(len(ids)):
            raise ConstraintError(f"{self.name}: there is no place to act on in {place}")
        vertices = vertices + layout.base(place.region.mesh)
        layout.announce(Family(layout.name(self), ids, vertices, partitioned=False))

    def carriers(self, configuration: Configuration) -> Carriers:
        """Return the blocks that the term puts on vertices: none."""
        return []

    def pieces(self, configuration: Configuration) -> list[Piece]:
        """Return the kernel on this rank's facets (collective)."""
        body, name = cast("Body", self.place.body), configuration.name(self)
        family = configuration.topology.families[name]
        cells, on = family.vertices, configuration.of(body, Interpolation)
        self.place.require_sides(configuration, cells)
        patch = on.patch(self.place.element, cells, family.owned)
        laws = dead_load_laws(patch.element, of_place=self.of_place is not None)
        zero = {f"F{a + 1}": np.zeros(len(cells)) for a in range(3)}
        uniform: dict[str, Scalar] = {"share": 1.0}
        uniform |= {f"F{a + 1}": f for a, f in enumerate(self.vector)}
        piece = body.piece(configuration, name, laws, "potential", uniform, patch, zero)
        if self.distribute == "total":
            piece.uniform["share"] = 1.0 / self._area(configuration, piece)
        if self.of_place is not None:
            points = piece.kernel.points[::3]  # F1, F2, F3 of each point follow each other
            X = np.stack([self.place.at(configuration, point, cells) for point in points], axis=1)
            X, shape = X.reshape(-1, 3), piece.cell.shape
            piece.cell_at = lambda time: self._vector(X, time).reshape(shape)
            piece.given = [Given(self.name, self._vector, X)]
        return [piece]

    def _area(self, configuration: Configuration, piece: Piece) -> float:
        """Return the reference area or length: minus the energy of a unit force moved by 1."""
        unit = replace(piece, uniform={**piece.uniform, "F1": 1.0, "F2": 0.0, "F3": 0.0})
        plan = Plan([unit], configuration.numbering, configuration.reference, configuration.comm)
        plan.update(configuration.time)
        moved = np.zeros_like(configuration.state)
        moved[configuration.numbering.those("position")] = 1.0
        energies, _ = plan.energies(moved)
        return -float(configuration.sum(np.array([energies.sum()]))[0])


@cache
def _force_law() -> declare.PointLaw:
    u = sp.symbols("u_a1 u_a2 u_a3", real=True)
    F = sp.symbols("F1 F2 F3", real=True)
    weight = sp.Symbol("weight", real=True)
    return declare.PointLaw(
        name="force",
        unknowns=u,
        energy=-weight * sp.Add(*[f * x for f, x in zip(F, u, strict=True)]),
        parameters=tuple(declare.Parameter(s, "cell") for s in (*F, weight)),
        title="-F . u",
    )


def force(
    place: End | RigidBody | PlanarBody,
    vector: Vector,
    distribute: Literal["total", "each"] = "total",
    name: str | None = None,
    factor: Factor | None = None,
) -> Force | Potential | VirtualWork:
    """Dead force on a point, or on a region.

    Parameters
    ----------
    place : ``body.at(X)`` or ``body["region"]``; or a rigid or planar body (the origin of its
        frame) or a point of one. On a region of facets, edges or cells the total is spread
        evenly over its reference area or length; on a region of points over its points.
    vector : three components [N] (two on a planar body): numbers, `Parameter` or functions of
        time.
    distribute : ``"total"`` (default): the whole region carries `vector`; ``"each"``: every
        node of the region does.
    factor : unknown number that multiplies the load (planar bodies only); see `sa.prescribe`.
    """
    require_place("force", place, PlanarBody, RigidBody)
    one_of("force(distribute=...)", distribute, ("total", "each"))
    if isinstance(place, PlanarBody | PlanarPoint):
        return planar_force(place, vector, name, factor)
    if isinstance(place, RigidBody):
        place = place.at((0.0, 0.0, 0.0))
    if isinstance(place, Ground):
        raise ParameterError("a force on the ground moves nothing: give a place of a body")
    if factor is not None:
        raise ParameterError(f"force on {place}: factor= is for points of planar bodies")
    name = named(name, f"force on {place}")
    spread: End = place
    if isinstance(place, Nodes) and distribute == "total" and place.region.dim > 0:
        spread = FacetPoints(place.body, place.region)
    return _spread(spread, vector, distribute, name)


def traction(place: Nodes, vector: Vector, name: str | None = None) -> Force:
    """Dead force per reference area (facets, plates) or length (edges, cables) of a region.

    `vector`: three components [N/m^2 or N/m]: numbers, `Parameter` or functions of time; or a
    function (X (n, 3), time) -> (n, 3) of places on the reference.
    """
    require_region("traction", place)
    if place.region.dim == 0:
        raise ParameterError(f"traction on {place}: a region of points has no area; use force")
    points = FacetPoints(place.body, place.region)
    return _spread(points, vector, "density", named(name, f"traction on {place}"))


def _spread(
    place: End, vector: Vector, distribute: Literal["total", "each", "density"], name: str
) -> Force:
    """Return a force on cells and faces by a kernel on these, on other places point by point."""
    if type(place) is FacetPoints and place.element is not None:
        return Spread(place, vector, distribute, name)
    return Force(place, vector, distribute, name)
