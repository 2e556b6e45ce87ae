# SPDX-License-Identifier: BSD-3-Clause
"""Follower pressure on surfaces."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from ...errors import MeshError, ParameterError
from ...laws import surface_laws
from ...mesh.partition import Family
from ...runtime.collective import share_error
from ...runtime.copies import OneProcess
from ...runtime.display import Displayable
from ...values.arguments import name_or
from ...values.parameter import evaluate
from .surface import CavityFacets, surfaces_of

if TYPE_CHECKING:
    from ...assembly.configuration import Configuration, Layout
    from ...assembly.form import Form
    from ...assembly.protocol import Carriers
    from ...places.on_body import Face, Nodes
    from ...values.parameter import Scalar


CLOSED = 0.1  # resultant of the unit pressure by the area: tubes and closed surfaces have none


class Pressure(OneProcess, Displayable):
    """Gas or liquid that presses on a surface of a body; see `pressure`."""

    def __init__(self, place: Nodes | Face, p: Scalar, name: str | None) -> None:
        self.surfaces = surfaces_of(place, "a pressure")
        surface = self.surfaces[0]
        self.name = name_or(name, f"pressure on {surface}")
        if not surface.solid and surface.side is None:
            raise ParameterError(
                f'{self.name}: say on which side of the plate it acts: body["region"].face(+1) or '
                ".face(-1)",
                asked="side",
                given=None,
                possible=(1, -1),
            )
        if not callable(p):
            evaluate(f"p of {self.name!r}", p, 0.0)
        self.p = p

    def _headline(self) -> str:
        """Return its name, which tells."""
        return self.name

    def bind(self, layout: Layout) -> PressureBinding:
        """Announce the facets before distribution."""
        return PressureBinding(self, layout)


class PressureBinding:
    """A pressure in one system.

    Attributes
    ----------
    name : in the system.
    families : names of the facets of each type.
    facets : of each type on this rank, after `carriers`.
    """

    facets: list[CavityFacets]

    def __init__(self, pressure: Pressure, layout: Layout) -> None:
        self.surfaces, self.p, self.name = pressure.surfaces, pressure.p, layout.name(pressure)
        kinds = [surface.element.cell for surface in self.surfaces]
        several = [f"{self.name} ({kind})" for kind in kinds]
        self.families = several if len(kinds) > 1 else [self.name]
        for surface, family in zip(self.surfaces, self.families, strict=True):
            ids, vertices = surface.slice(layout)
            layout.announce(Family(family, ids, vertices, partitioned=False))

    def carriers(self, configuration: Configuration) -> Carriers:
        """Take this rank's facets; a pressure brings no coordinates."""
        pairs = zip(self.surfaces, self.families, strict=True)
        self.facets = [CavityFacets(surface, configuration, family) for surface, family in pairs]
        return []

    def forms(self, configuration: Configuration) -> list[Form]:
        """Return the kernel and facets on this rank."""
        forms = []
        for facets, name in zip(self.facets, self.families, strict=True):
            surface = facets.surface
            facets.require_parents(configuration, facets.parents)
            if surface.solid:
                facets.require_outside(configuration)
            else:
                self._require_oriented(configuration, facets)
                self._tell_kinks(configuration, facets)
                self._tell_inwards(configuration, facets)
            laws = surface_laws(
                surface.element, "pressure", offset=not surface.middle, fields=surface.fields
            )
            forms.append(facets.form(configuration, name, laws, "work", {"p": self.p}))
        return forms

    def _tell_kinks(self, configuration: Configuration, facets: CavityFacets) -> None:
        """Warn where faces beside the mid-surface overlap, or leave a gap: at kinks."""
        directions = configuration.binding(facets.surface.body).interpolation.directions
        if facets.surface.middle or directions is None:
            return
        kinks = np.unique(facets.cells[directions.kink[facets.cells]])
        owned = int((kinks < configuration.numbering.owned_vertices).sum())
        count = configuration.comm.allreduce(owned)
        if count and configuration.comm.rank == 0:
            warnings.warn(
                f"{self.name}: walls meet at {count} nodes of a kink, where their faces overlap or "
                "leave a gap, so that the pressure on a closed space has a resultant there; "
                "face(..., middle=True) is closed",
                stacklevel=4,
            )

    def _tell_inwards(self, configuration: Configuration, facets: CavityFacets) -> None:
        """Warn where p > 0 presses a tube or a closed surface into itself."""
        wall = facets.normals(configuration.points)[facets.owned]
        r = configuration.points[facets.cells].mean(axis=1)[facets.owned]
        area = np.linalg.norm(wall, axis=1)
        sums = [area.sum(), *wall.sum(axis=0), *(area @ r), np.einsum("na,na->", r, wall)]
        total, *rest = configuration.sum(np.array(sums)).tolist()
        resultant, first, opening = np.array(rest[:3]), np.array(rest[3:6]), rest[6]
        if not total:
            return
        opening -= float(first @ resultant) / total  # about the centre
        closed = float(np.linalg.norm(resultant)) < CLOSED * total
        if closed and opening < 0.0 and configuration.comm.rank == 0:
            other = f"face({-(facets.surface.side or 1):+d})"
            warnings.warn(
                f"{self.name}: the surface closes around a space, and p > 0 presses it inwards, "
                f"so that it collapses into itself; for gas inside take {other} (or sa.Cavity, "
                "which finds the inside), for pressure from outside ignore this",
                stacklevel=4,
            )

    def _require_oriented(self, configuration: Configuration, facets: CavityFacets) -> None:
        """Raise where neighbours are numbered in opposite senses: a side would change there."""
        flipped = facets.parity[:, None] < 0
        ring = facets.cells[:, : facets.surface.element.topology.corners]
        ring = np.where(flipped, ring[:, ::-1], ring)
        edges = np.stack([ring, np.roll(ring, -1, axis=1)], axis=2).reshape(-1, 2)
        _, place, count = np.unique(edges, axis=0, return_inverse=True, return_counts=True)
        twice = (count > 1)[place.ravel()]
        error = None
        if twice.any():
            x = configuration.points[edges[int(np.argmax(twice))]].mean(axis=0)
            error = MeshError(
                f"{self.name}: neighbouring cells are numbered in opposite senses at the edge "
                f"({x[0]:g}, {x[1]:g}, {x[2]:g}), so that face({facets.surface.side:+d}) changes "
                "side there; orient the mesh (Gmsh: Reverse Surface), or give the walls of a "
                "closed space to sa.Cavity, which turns them",
                asked="orientation",
                given=x,
            )
        share_error(configuration.comm, error)


def pressure(place: Nodes | Face, p: Scalar, name: str | None = None) -> Pressure:
    r"""Follower pressure `p` [Pa] on a surface: on its present area, along its present normal.

    Virtual work: :math:`-p \int n \cdot \delta r\, d\xi\, d\eta`, n = r_xi x r_eta towards the
    gas, with its full, unsymmetric tangent.

    Parameters
    ----------
    place : ``body["region"]``: boundary facets of a solid, on which p > 0 presses from outside;
        or ``body["region"].face(+1)`` (``face(-1)``) of a plate: p acts on the face
        z = +thickness/2 (-thickness/2) and presses along -n (+n), n being the normal of the
        cells' numbering. ``face(+1, middle=True)`` acts on the mid-surface instead.
    p : number, `Parameter` or function of time.

    Raises
    ------
    MeshError : a facet is none of the body, is inside of a solid or between two, or neighbouring
        cells of a plate are numbered in opposite senses.
    ParameterError : a plate without the side; p is not finite.

    Notes
    -----
    Where the surface is closed, or its rim is fixed, the load derives from -p V and `sa.Cavity`
    gives it with a symmetric tangent. A warning says where p > 0 on a face of plates presses a
    tube or a closed surface into itself.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    >>> given = {"mu": 1.0, "lam": 2.0, "rho": 1.0}
    >>> block = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.neo_hooke(), **given)
    >>> press = sa.pressure(block["x1"], lambda t: 0.1 * t)
    >>> system = sa.System(block, terms=[sa.fix(block["x0"]), press])
    >>> _ = sa.StaticProblem(system).solve()
    >>> bool(system.displacement(block.at((1.0, 0.5, 0.5)))[0, 0] < 0.0)
    True
    """
    return Pressure(place, p, name)
