# SPDX-License-Identifier: BSD-3-Clause
"""Conditions of a region that is glued, at each of its nodes: a point, along an edge, or all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ..arrays import Array, Ints, Mask
from ..errors import ConstraintError, ParameterError
from ..runtime.collective import exchange, lookup, owners_of, shares
from .geometry import perpendicular
from .on_body import Nodes, PointsOnBody
from .vectors import unit

if TYPE_CHECKING:
    from mpi4py import MPI

    from ..assembly.configuration import Configuration, Layout
    from ..assembly.resolved import Resolved
    from ..elements.element import Element
    from ..mesh import Mesh
    from .interpolation import Interpolated, Interpolation


POINT, EDGE, CORNER, FACE = range(4)


@dataclass(frozen=True)
class Glue:
    """The nodes of a place in this rank's slice of the mesh, and what is glued there.

    Attributes
    ----------
    mesh, base : of the nodes, and the first vertex id of the mesh.
    starts : (ranks + 1,) where the nodes of each rank begin among all.
    vertices : (n,) ids of the system's vertices, ascending, also from rank to rank.
    kind : (n,) `POINT`, `EDGE` (a smooth line of edges of a plate goes through or ends there),
        `CORNER` (edges meet there at an angle), `FACE` (cells of the body are glued there).
    along : (n, 3) unit tangent of the line of edges where the kind is `EDGE`, else zero.
    across : (n, 3) unit normal of the plane of the edges where the kind is `CORNER`; zero where
        they span space.
    """

    jet: ClassVar[str] = "slope0"  # where slopes are stored
    what: ClassVar[str] = "nodes"

    mesh: Mesh
    base: int
    starts: Ints
    vertices: Ints
    kind: Ints
    along: Array
    across: Array

    @property
    def X(self) -> Array:
        """Their reference positions (n, 3) (collective)."""
        return self.mesh.fetch_points(self.vertices - self.base)

    def slots(self, element: Element) -> tuple[Ints, Ints]:
        """Return how many slopes of each node may be held in full, and along normals."""
        return slots(element, self.kind)

    def look(self, vertices: Ints) -> Array:
        """Return rows (k, 8) for vertex ids: number + 1, kind, along, across (collective).

        Numbers are those of the nodes of all ranks; 0 for a vertex that is none of them.
        """
        number = self.starts[self.mesh.comm.rank] + np.arange(len(self.vertices))
        rows = np.column_stack([number + 1, self.kind, self.along, self.across])
        comm, starts, base = self.mesh.comm, self.mesh.point_starts, self.base
        return look_up(comm, starts, vertices - base, self.vertices - base, rows)

    def here(self, configuration: Configuration, body: Interpolated) -> NodesHere:
        """Find the nodes of a body that this rank has (collective)."""
        on, ids = configuration.binding(body).interpolation, configuration.topology.vertex_ids
        rows = self.look(ids)
        vertices = np.flatnonzero(rows[:, 0] > 0.0)
        own = rows[vertices]
        number, kind = own[:, 0].astype(np.int64) - 1, own[:, 1].astype(np.int64)
        along, normal = own[:, 2:5], np.zeros((len(own), 3))
        kink = np.zeros(len(own), dtype=bool)
        if on.directions is not None:
            normal, kink = on.directions.at[vertices], on.directions.kink[vertices]
            if body.element.dimension == 2:
                edge = (kind == EDGE) & ~kink
                along = _straightened(configuration, on, ids[vertices], edge, along, normal)
        X, across = configuration.points[vertices], own[:, 5:]
        return NodesHere(body.element, vertices, number, X, kind, along, across, normal, kink)


class PerPlace:
    """Items of which each of some places has a few, numbered over all ranks along the places.

    Parameters
    ----------
    of : (ranks + 1,) where the places of each rank begin among all.
    count : (n,) how many items this rank's places have (collective).

    Attributes
    ----------
    starts : (ranks + 1,) where the items of each rank begin.
    places : (k,) number of the place of each of this rank's items.
    """

    def __init__(self, comm: MPI.Comm, of: Ints, count: Ints) -> None:
        self.comm, self._of, self.count = comm, of, count
        self.starts = shares(comm, int(count.sum()))
        self._first = self.starts[comm.rank] + np.cumsum(count) - count
        self.places = np.repeat(of[comm.rank] + np.arange(len(count)), count)

    def __len__(self) -> int:
        return int(self.starts[-1])

    def at(self, places: Ints) -> tuple[Ints, Ints, Ints]:
        """Return the first item and the number of items of any places, and all these items.

        Collective; the last ones ascending.
        """
        rows = lookup(self.comm, self._of, places, np.column_stack([self._first, self.count]))
        first, count = rows.T
        within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        return first, count, np.unique(np.repeat(first, count) + within)


def look_up(comm: MPI.Comm, starts: Ints, wanted: Ints, own: Ints, rows: Array) -> Array:
    """Return rows (k, width) of any numbers, zeros where no rank has some (collective).

    `own` : the numbers (n,) of which this rank has `rows`, from `starts[rank]` on.
    """
    first, end = starts[comm.rank : comm.rank + 2]
    table = np.zeros((end - first, rows.shape[1]))
    table[own - first] = rows
    values = np.zeros((len(wanted), rows.shape[1]))
    some = (wanted >= 0) & (wanted < starts[-1])
    values[some] = lookup(comm, starts, wanted[some], table)
    return values


def glue_of(layout: Layout, name: str, place: Nodes | PointsOnBody) -> Glue:
    """Find the nodes of a place and the edges and cells of it that meet there (collective).

    Raises
    ------
    ParameterError : a point that is no node of the body.
    ConstraintError : the place is empty.
    """
    body = place.body
    mesh = body.region.mesh
    base, comm, starts = layout.base(mesh), mesh.comm, mesh.point_starts
    if isinstance(place, Nodes):
        nodes = place.region.points()
    else:
        numbers = np.unique(_node_ids(name, place, place.resolve(layout)) - base)
        nodes = numbers[owners_of(starts, numbers) == comm.rank]
    place_starts = shares(comm, len(nodes))
    if not place_starts[-1]:
        raise ConstraintError(
            f"{name}: there is no place to act on in {place}", asked="region", given=str(place)
        )
    kind = np.full(len(nodes), POINT)
    along, across = np.zeros((len(nodes), 3)), np.zeros((len(nodes), 3))
    if isinstance(place, Nodes) and body.element.slopes:
        if body.element.dimension == 2 and "line" in place.region.types:
            edges = place.region.slice("line")[1]
            _follow_edges(mesh, edges, nodes, np.radians(body._smooth), kind, along, across)
        if body.element.cell in place.region.types:
            glued = np.unique(place.region.slice(body.element.cell)[1])
            _, (own,) = exchange(comm, owners_of(starts, glued), glued)
            at = np.searchsorted(nodes, own)
            kind[at], along[at] = FACE, 0.0
    return Glue(mesh, base, place_starts, nodes + base, kind, along, across)


def _node_ids(name: str, place: Nodes | PointsOnBody, places: Resolved) -> Ints:
    """Return the id of the vertex at each of the places."""
    if isinstance(place, Nodes):
        return places.vertices[:, 0]
    value, _ = place.body.element.topology.evaluate(places.within)
    corner = value.argmax(axis=1)
    off = value.max(axis=1) < 1.0 - 1e-9
    if off.any():
        x = places.X[int(np.argmax(off))]
        raise ParameterError(
            f"{name}: the point ({x[0]:g}, {x[1]:g}, {x[2]:g}) is no node of body "
            f"{place.body.name!r}, and only nodes have coordinates to hold; there use "
            "sa.joints.spherical(body.at(point)), or give the mesh a node",
            asked="node",
            given=x,
        )
    return np.asarray(np.take_along_axis(places.vertices, corner[:, None], axis=1)[:, 0])


def _follow_edges(
    mesh: Mesh, edges: Ints, nodes: Ints, smooth: float, kind: Ints, along: Array, across: Array
) -> None:
    """Write what edges (m, 2) of all ranks make of the nodes (n,) of this one (collective).

    Two edges that turn by no more than the angle `smooth` [rad] are one smooth line, whose
    tangent is that of the circle through three nodes; at its ends that of the circle which
    continues it.
    """
    begin, other = np.concatenate([edges, edges[:, ::-1]]).T
    to = owners_of(mesh.point_starts, begin)
    _, (begin, other) = exchange(mesh.comm, to, begin, other)
    begin, other = np.unique(np.stack([begin, other], axis=1), axis=0).T
    order = np.lexsort((other, other < begin, begin))
    begin, far = np.searchsorted(nodes, begin[order]), other[order]
    d = mesh.fetch_points(far) - mesh.fetch_points(nodes)[begin]
    length = np.linalg.norm(d, axis=1)
    count = np.bincount(begin, minlength=len(nodes))
    first = np.cumsum(count) - count
    one = np.flatnonzero(count == 1)
    kind[one] = EDGE
    along[one] = unit(d[first[one]])
    two = np.flatnonzero(count == 2)
    a, b = first[two], first[two] + 1
    cosine = np.einsum("na,na->n", -d[a], d[b]) / (length[a] * length[b])
    goes_on = np.arccos(np.clip(cosine, -1.0, 1.0)) <= smooth
    through = d[b] / length[b, None] ** 2 - d[a] / length[a, None] ** 2
    kind[two] = np.where(goes_on, EDGE, CORNER)
    along[two[goes_on]] = unit(through[goes_on])
    for v in [*two[~goes_on], *np.flatnonzero(count > 2)]:
        t = d[first[v] : first[v] + count[v]] / length[first[v] : first[v] + count[v], None]
        sizes, axes = np.linalg.eigh(t.T @ t)
        kind[v] = CORNER
        if sizes[1] < 1e-12:  # edges of several cells on one straight line
            kind[v], along[v] = EDGE, axes[:, 2]
        elif sizes[0] < 1e-6 * sizes[2]:
            across[v] = axes[:, 0]
    next_to = np.column_stack([(kind == EDGE) & (count == 2), along])
    values = look_up(mesh.comm, mesh.point_starts, far[first[one]], nodes, next_to)
    ends = one[values[:, 0] > 0]
    t, c = values[values[:, 0] > 0, 1:], along[ends]
    along[ends] = 2.0 * np.einsum("na,na->n", t, c)[:, None] * c - t


@dataclass(frozen=True)
class NodesHere:
    """Nodes of a place on this rank after distribution.

    Attributes
    ----------
    element : of the body.
    vertices, number : (n,) local vertices, and numbers among the nodes of all ranks.
    X, kind, along, across : see `Glue`; tangents of edges are in the tangent plane of the body
        and square to planes of symmetry.
    normal, kink : (n, 3) unit normals of the body (of cables: tangents), (n,) where it has none.
    """

    element: Element
    vertices: Ints
    number: Ints
    X: Array
    kind: Ints
    along: Array
    across: Array
    normal: Array
    kink: Mask

    def basis(self, on: Interpolation) -> Array:
        """Return the reference slopes (n, s, 3) there."""
        return np.asarray(on.basis[self.vertices])

    def slopes(self) -> GluedSlopes:
        """Return what gluing holds of the slopes there."""
        arguments = self.kind, self.normal, self.along, self.kink, self.across
        return glued_slopes(self.element, *arguments)


def _straightened(
    configuration: Configuration,
    on: Interpolation,
    ids: Ints,
    edge: Mask,
    along: Array,
    normal: Array,
) -> Array:
    """Return tangents in the tangent plane, and square to mirrors, where they are of an `edge`."""
    along = along.copy()
    for support in configuration.mirrors:
        if configuration.binding(support.body).interpolation.slope_name == on.slope_name:
            both = edge & (support.glue.look(ids)[:, 0] > 0.0)
            axis = np.eye(3)[support.mirror]
            part = along[both] @ axis
            across = along[both] - part[:, None] * axis
            crosses = np.abs(part) > np.sqrt(0.5)
            along[both] = np.where(crosses[:, None], axis, across)
    part = np.einsum("na,na->n", along, normal)
    along[edge] -= (part[:, None] * normal)[edge]
    along[edge] = unit(along[edge])
    return along


@dataclass(frozen=True)
class GluedSlopes:
    """What gluing holds of the slopes of nodes; zero where there is none.

    Attributes
    ----------
    full : (n, 3, 3) orthogonal directions of the reference along which slopes are held in full:
        along what is glued, and of plates with directors through the thickness.
    partly : (n, 2, 3) directions along which nothing but components along `normals` (n, 2, 3)
        keep the face where it is: of the tangent of a cable those across it, of the slopes
        across the edge of a thin plate those along its normal.
    """

    full: Array
    partly: Array
    normals: Array


def slots(element: Element, kind: Ints) -> tuple[Ints, Ints]:
    """Return how many slopes of each place may be held in full, and along normals."""
    full = np.zeros(len(kind), dtype=np.int64)
    partly = np.zeros(len(kind), dtype=np.int64)
    if element.slope_kind == "gradient" or element.oriented:
        full[:] = min(3, len(element.slopes))
        return full, partly
    glued = (kind == CORNER) | (kind == FACE)
    full[glued] = len(element.slopes)
    full[kind == EDGE] = 1
    partly[kind == EDGE] = 1
    partly[kind == POINT] = 2
    return full, partly


def glued_slopes(
    element: Element, kind: Ints, normal: Array, along: Array, kink: Mask, across: Array
) -> GluedSlopes:
    """Return what of the slopes is held at n places; see `Glue` and, for the rules, `sa.fix`.

    `normal` (n, 3) of plates, of cables the tangent; `kink` (n,) where there is none.
    """
    n = len(kind)
    full, partly, normals = np.zeros((n, 3, 3)), np.zeros((n, 2, 3)), np.zeros((n, 2, 3))
    point, edge = kind == POINT, kind == EDGE
    if element.oriented and element.slope_kind == "gradient":
        full[:] = np.eye(3)
    elif element.oriented:
        full[:, :2] = perpendicular(normal)
    elif element.dimension == 1:
        full[~point, 0] = normal[~point]
        partly[point] = normal[point, None]
        normals[point] = perpendicular(normal[point])
    elif element.slope_kind == "tangents":
        glued = ~point & ~edge
        full[glued, :2] = perpendicular(normal[glued])
        full[edge, 0], partly[edge, 0] = along[edge], np.cross(normal, along)[edge]
        partly[point] = perpendicular(normal[point])
        normals[edge | point] = normal[edge | point, None]
    else:
        full[:] = np.eye(3)
        smooth = ~kink & (point | edge)
        full[smooth] = 0.0
        full[smooth, 0] = normal[smooth]
        full[smooth & edge, 1] = along[smooth & edge]
        fold = kink & (kind == CORNER) & across.any(axis=1)
        full[fold, :2], full[fold, 2] = perpendicular(across[fold]), 0.0
    return GluedSlopes(full, partly, normals)
