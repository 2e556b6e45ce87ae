# SPDX-License-Identifier: BSD-3-Clause
"""Folds: thin shells that meet along edges at an angle, and keep it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from ..arrays import Array, Ints32, Mask
from ..assembly.resolved import JetRows, Resolved
from ..assembly.vertices import AtVertices
from ..errors import ConstraintError
from ..places.ends import End, vector_rows
from ..places.geometry import arc_slope
from ..places.glue import EDGE, glue_of
from ..places.middles import Middles
from ..places.on_body import Nodes, require_region
from ..places.vectors import unit
from ..runtime.collective import together
from ..terms.constraint import Constraint, ConstraintBinding
from ..values.arguments import name_or

if TYPE_CHECKING:
    from ..assembly.configuration import Configuration, Layout
    from ..assembly.form import Jets
    from ..bodies.body import Body
    from ..places.interpolation import Interpolated
    from ..terms.quantities import E, V


class FoldNodes(End):
    """The nodes of an edge: ``axis0`` is dr/dt along it, ``axis1`` dr/dm across it."""

    def __init__(self, place: Nodes) -> None:
        self.body, self.place = place.body, place

    def _find(self, layout: Layout) -> Resolved:
        """Return the nodes."""
        return self.place.resolve(layout)

    def constant(self, places: Resolved, jet: str) -> Array | None:
        """Return None: reference values follow from coordinates."""
        return None

    def bind(self, layout: Layout) -> FoldNodesBinding:
        """Find the nodes in this rank's slice of the mesh (collective)."""
        return FoldNodesBinding(self, layout)

    def rows(
        self, configuration: Configuration, places: Resolved, vertices: Ints32, jet: str
    ) -> JetRows:
        """Return a jet as combinations of local coordinates; see `End.rows`."""
        if jet == "value":
            return self.place.rows(configuration, places, vertices, jet)
        node, k = vertices[:, 0], int(jet.removeprefix("axis"))
        on = configuration.binding(self.body).interpolation
        along = configuration.binding(self).frames[node][:, k]
        weights = np.einsum("nka,na->nk", on.basis[node], along)
        offset = on.offset(vertices[:, :1], "slope0")
        return vector_rows(offset + 3 * np.arange(weights.shape[1]), weights)

    def normals(self, configuration: Configuration, vertices: Ints32) -> Array:
        """Return the normals (k, 3) at its places, given by local vertices."""
        return np.asarray(configuration.binding(self).frames[vertices[:, 0]][:, 2])

    def __str__(self) -> str:
        return f"edges of {self.place}"


class FoldNodesBinding:
    """The nodes of an edge in one system.

    Attributes
    ----------
    glue : the nodes in this rank's slice of the mesh.
    frames : (n, 3, 3) directions along and across the edge, and normals, at local vertices; after
        `orient`.
    """

    frames: AtVertices[np.float64]

    def __init__(self, end: FoldNodes, layout: Layout) -> None:
        self.end, self.glue = end, glue_of(layout, str(end), end.place)

    def orient(self, configuration: Configuration) -> None:
        """Find the directions at this rank's nodes (collective).

        Raises
        ------
        ConstraintError : a node is none of the body, or the edge turns there.
        """
        here = self.glue.here(configuration, self.end.body)
        m = np.cross(here.normal, here.along)
        bad = np.linalg.norm(m, axis=1) < 1e-9
        with together(configuration.comm):
            if bad.any():
                x = here.X[int(np.argmax(bad))]
                raise ConstraintError(
                    f"{self.end}: at ({x[0]:g}, {x[1]:g}, {x[2]:g}) no smooth line of edges of "
                    f"body {self.end.body.name!r} goes through or ends there"
                )
        frames = np.stack([here.along, unit(m), here.normal], axis=1)
        self.frames = AtVertices(here.vertices, frames)


class FoldMiddles(End):
    """The middles of edges: ``axis0`` is dr/dt along the edge, ``axis1`` the slope across it."""

    def __init__(self, body: Interpolated, middles: Middles) -> None:
        self.body, self.middles = body, middles

    def _find(self, layout: Layout) -> Resolved:
        """Return the middles, each with the ends of its edge."""
        edges = self.middles.edges
        first = edges.numbered.first[edges.numbered.comm.rank]
        ends = edges.numbered.edges[self.middles.vertices - edges.base - first] + edges.points
        vertices = np.concatenate([self.middles.vertices[:, None], ends], axis=1)
        return Resolved(self.middles.X, vertices, starts=self.middles.starts)

    def constant(self, places: Resolved, jet: str) -> Array | None:
        """Return None: reference values follow from coordinates."""
        return None

    def rows(
        self, configuration: Configuration, places: Resolved, vertices: Ints32, jet: str
    ) -> JetRows:
        """Return a jet as combinations of local coordinates; see `End.rows`."""
        on = configuration.binding(self.body).interpolation
        if jet == "axis1":
            offset = on.offset(vertices[:, :1], "across")
            return vector_rows(offset, np.ones(offset.shape))
        ends = vertices[:, 1:]
        X = configuration.points[ends]
        chord = X[:, 1] - X[:, 0]
        length = np.linalg.norm(chord, axis=1)[:, None]
        position = np.broadcast_to([[-1.5, 1.5]], (len(X), 2)) / length
        if jet == "value":
            position = np.full((len(X), 2), 0.5)
        assert on.directions is not None
        normal = on.directions.at[ends]
        tangent = chord[:, None] - np.einsum("na,nva->nv", chord, normal)[..., None] * normal
        slope = arc_slope(np.broadcast_to(chord[:, None], tangent.shape), unit(tangent))
        share = [[0.125, -0.125]] if jet == "value" else -0.25 / length * np.ones((1, 2))
        weights = np.einsum("nva,nvka->nvk", slope, on.basis[ends]) * np.asarray(share)[..., None]
        offsets = np.concatenate(
            [
                on.offset(ends, "value"),
                *(on.offset(ends, f"slope{k}") for k in range(weights.shape[2])),
            ],
            axis=1,
        )
        values = np.concatenate([position, *weights.transpose(2, 0, 1)], axis=1)
        corner = np.broadcast_to(np.tile([1, 2], 1 + weights.shape[2]), values.shape)
        return vector_rows(offsets.astype(np.int32), values, corner)

    def normals(self, configuration: Configuration, vertices: Ints32) -> Array:
        """Return the normals (k, 3) at its places, given by local vertices."""
        return np.asarray(
            configuration.binding(self.body).interpolation.middles[vertices[:, 0]][:, 6:]
        )

    def __str__(self) -> str:
        return f"middles of edges of {self.body.name!r}"


def _opened(p: sp.Matrix, m: sp.Matrix, other: sp.Matrix, P: V, M: V, Other: V) -> sp.Expr:
    """Return other . (across it, as m lies), a sine of the angle by which a fold has opened."""
    N = P.cross(M)
    even, odd = M.dot(Other), N.dot(Other)
    n = p.cross(m)
    return other.dot(even * sp.sqrt(p.dot(p)) * n - odd * n.cross(p))


def _angle(e1_a: V, e2_a: V, e2_b: V, E1_a: V, E2_a: V, E2_b: V) -> E:
    now = _opened(e1_a, e2_a, e2_b, E1_a, E2_a, E2_b)
    return now - _opened(E1_a, E2_a, E2_b, E1_a, E2_a, E2_b)


def _same_edge(e1_a: V, e1_b: V, E1_a: V, E1_b: V) -> V:
    return e1_a - e1_b - E1_a + E1_b


class AngleBinding(ConstraintBinding):
    """The angle between two surfaces along an edge: it depends on how slopes across leave them."""

    def counts(self, configuration: Configuration, jets: Jets) -> Mask:
        """Return which entries change it at rest: components of slopes across along normals."""
        number, entries = jets.jet // 3, np.zeros(len(jets.jet), dtype=bool)
        for k, (end, name) in enumerate(self.term.equations.jets):
            at = self.term.ends[end]
            assert isinstance(at, FoldNodes | FoldMiddles)
            if name == "axis1":
                normals = at.normals(configuration, self.entities.end_vertices(end))
                own = normals[jets.entity, jets.jet % 3]
                entries |= (number == k) & (np.abs(own * jets.value) > 1e-9)
        return entries


class Fold(Constraint):
    r"""Two thin shells that share the nodes of an edge, and keep the angle there.

    With t along the edge, m across it in each of the surfaces, and the reference
    :math:`M_b = \alpha M_a + \gamma N_a`, :math:`N_a = T \times M_a`, at each node

    .. math:: r_{t,a} = r_{t,b}, \qquad
        r_{m,b} \cdot (\alpha\,|p|\,n - \gamma\,n \times p) = 0, \quad
        p = r_{t,a},\; n = p \times r_{m,a},

    and the second one at the middle of each edge where edges carry slopes. Both surfaces may
    stretch.

    Examples
    --------
    >>> import symancf as sa
    >>> sa.joints.Fold
    <class 'symancf.catalogue.fold.Fold'>
    """

    kind = "fold"

    def __init__(self, place: Nodes, other: Body, name: str | None) -> None:
        require_region("joints.fold: its first argument", place)
        self.places = place, Nodes(other, place.region)
        for nodes in self.places:
            element = nodes.body.element
            if element.slope_kind != "tangents" or element.dimension != 2:
                raise ConstraintError(
                    f"joints.fold: body {nodes.body.name!r} is made of {element.name}, and folds "
                    "are of thin shells; ancf_plate keeps angles where bodies share nodes",
                    asked="element",
                    given=element.name,
                )
        if "line" not in place.region.types:
            raise ConstraintError(
                f"joints.fold: region {place.region.name!r} has no edges; give the line where the "
                "two bodies meet",
                asked="region",
                given=place.region.name,
                possible=("line",),
            )
        self.edges = [FoldNodes(nodes) for nodes in self.places]
        super().__init__(_same_edge, *self.edges, name=name_or(name, f"fold of {place}"))

    def bind(self, layout: Layout) -> FoldBinding:
        """Announce entities and vertices before distribution (collective)."""
        return FoldBinding(self, layout)


class FoldBinding(ConstraintBinding):
    """A fold in one system.

    Attributes
    ----------
    nodes : of the first and second body.
    parts : the angles at nodes and, where edges carry slopes, at their middles.
    """

    term: Fold

    def __init__(self, term: Fold, layout: Layout) -> None:
        super().__init__(term, layout)
        self.nodes = [layout.bind(end) for end in term.edges]
        bad = (self.nodes[0].glue.kind != EDGE).any()
        if layout.comm.allreduce(int(bad)):
            raise ConstraintError(
                f"{self.name}: its edges turn sharply, or more than two meet at a node: "
                "give each straight or smooth line a fold of its own"
            )
        angles = [Constraint(_angle, *term.edges, name=f"{self.name} (angle)")]
        middles = [Middles.of(layout, nodes) for nodes in term.places]
        if middles[0] is not None and middles[1] is not None:
            ends = [FoldMiddles(n.body, m) for n, m in zip(term.places, middles, strict=True) if m]
            angles.append(Constraint(_angle, *ends, name=f"{self.name} (angle at edges)"))
        self.parts = [layout.register(angle, AngleBinding(angle, layout)) for angle in angles]

    def orient(self, configuration: Configuration) -> None:
        """Find the directions at nodes (collective)."""
        for nodes in self.nodes:
            nodes.orient(configuration)


def fold(a: Nodes, b: Body, name: str | None = None) -> Fold:
    """Let two thin shells keep the angle at which they meet along an edge.

    Boxes, folded roofs, T-junctions (a fold for each body that joins): bodies cut from one mesh
    share the nodes of the edge, and without a fold it is a hinge.

    Parameters
    ----------
    a : the edge on one body, ``roof["ridge"]``, a region of lines: one smooth line.
    b : the other body, which has the nodes of the edge, too.

    Raises
    ------
    ConstraintError : bodies that are no thin shells, a region without edges, or one that turns.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((2.0, 0.5), (4, 1), warp=lambda X: np.stack(
    ...     [np.minimum(X[:, 0], 1.0), X[:, 1], np.maximum(X[:, 0] - 1.0, 0.0)], axis=1))
    >>> parts = [mesh.select("floor", lambda X: X[:, 2] < 1e-9, dimension=2),
    ...          mesh.select("wall", lambda X: X[:, 0] > 1.0 - 1e-9, dimension=2)]
    >>> corner = lambda X: (X[:, 0] > 1.0 - 1e-9) & (X[:, 2] < 1e-9)
    >>> line = mesh.select("corner", corner, outer=False)
    >>> steel = dict(E=2e11, nu=0.3, thickness=0.01)
    >>> floor, wall = (sa.Body(part, sa.elements.ancf_thin_quad, sa.energies.kirchhoff(), **steel)
    ...                for part in parts)
    >>> sa.joints.fold(floor["corner"], wall)
    fold "fold of nodes of 'corner' of 'floor'"
    """
    return Fold(a, b, name)
