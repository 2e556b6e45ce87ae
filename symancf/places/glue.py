# SPDX-License-Identifier: BSD-3-Clause
"""What gluing a region of a body holds at each of its nodes: a point, along an edge, or all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..errors import ConstraintError, ParameterError
from ..values.arrays import Array, Ints, Mask
from .ends import Nodes, PointsOnBody
from .geometry import perpendicular, unit
from .interpolation import Interpolation
from .locate import corner_functions

if TYPE_CHECKING:
    from ..assembly.configuration import Configuration, Layout
    from ..assembly.resolved import Resolved
    from ..elements.element import Element
    from .interpolation import Interpolated


POINT, EDGE, CORNER, FACE = range(4)


@dataclass(frozen=True)
class Glue:
    """The nodes of a place, and what of the body's surface is glued there; on every rank alike.

    Attributes
    ----------
    nodes : (K,) ids of the system's vertices, ascending.
    X : (K, 3) reference positions.
    kind : (K,) `POINT`, `EDGE` (a smooth line of edges of a plate goes through or ends there),
        `CORNER` (edges meet there at an angle), `FACE` (cells of the body are glued there).
    along : (K, 3) unit tangent of the line of edges where the kind is `EDGE`, else zero.
    across : (K, 3) unit normal of the plane of the edges where the kind is `CORNER`; zero where
        they span space.
    """

    nodes: Ints
    X: Array
    kind: Ints
    along: Array
    across: Array


def glue_of(layout: Layout, name: str, place: Nodes | PointsOnBody) -> Glue:
    """Find the nodes of a place and the edges and cells of it that meet there (collective).

    Raises
    ------
    ParameterError : a point that is no node of the body.
    ConstraintError : the place is empty.
    """
    places = place.resolve(layout)
    if not places.size:
        raise ConstraintError(f"{name}: there is no place to act on in {place}")
    body = place.body
    nodes, first = np.unique(_node_ids(name, place, places), return_index=True)
    X = places.X[first]
    kind = np.full(len(nodes), POINT)
    along, across = np.zeros_like(X), np.zeros_like(X)
    if isinstance(place, Nodes) and body.element.slopes:
        region, base = place.region, layout.base(place.region.mesh)
        gathered = {
            cell: np.searchsorted(
                nodes, np.concatenate(layout.comm.allgather(region.slice(cell)[1])) + base
            )
            for cell in region.types
            if cell == "line" or cell == body.element.cell
        }
        if body.element.cell == "quad" and "line" in gathered:
            _follow_edges(gathered["line"], X, body, kind, along, across)
        if body.element.cell in gathered:
            kind[gathered[body.element.cell].ravel()] = FACE
            along[kind == FACE] = 0.0
    return Glue(nodes, X, kind, along, across)


def _node_ids(name: str, place: Nodes | PointsOnBody, places: Resolved) -> Ints:
    """Return the id of the vertex at each of the places."""
    if isinstance(place, Nodes):
        return places.vertices[:, 0]
    value, _ = corner_functions(place.body.element.cell, places.within)
    corner = value.argmax(axis=1)
    off = value.max(axis=1) < 1.0 - 1e-9
    if off.any():
        x = places.X[int(np.argmax(off))]
        raise ParameterError(
            f"{name}: the point ({x[0]:g}, {x[1]:g}, {x[2]:g}) is no node of body "
            f"{place.body.name!r}, and only nodes have coordinates to hold; there use "
            "sa.joints.spherical(body.at(point)), or give the mesh a node"
        )
    return np.asarray(np.take_along_axis(places.vertices, corner[:, None], axis=1)[:, 0])


def _follow_edges(
    edges: Ints,
    X: Array,
    body: Interpolated,
    kind: Ints,
    along: Array,
    across: Array,
) -> None:
    """Write the tangents of lines of edges (m, 2); smooth ones are those of circles.

    Two edges that turn by no more than the smoothing angle of the body are one smooth line,
    whose tangent is that of the circle through three nodes; at its ends that of the circle
    which continues it.
    """
    edges = np.unique(np.sort(edges, axis=1), axis=0)
    begin = np.concatenate([edges[:, 0], edges[:, 1]])
    other = np.concatenate([edges[:, 1], edges[:, 0]])
    order = np.argsort(begin, kind="stable")
    begin, other = begin[order], other[order]
    d = X[other] - X[begin]
    length = np.linalg.norm(d, axis=1)
    count = np.bincount(begin, minlength=len(X))
    first = np.cumsum(count) - count
    one = np.flatnonzero(count == 1)
    kind[one] = EDGE
    along[one] = unit(d[first[one]])
    two = np.flatnonzero(count == 2)
    a, b = first[two], first[two] + 1
    cosine = np.einsum("na,na->n", -d[a], d[b]) / (length[a] * length[b])
    smooth = np.arccos(np.clip(cosine, -1.0, 1.0)) <= np.radians(body.smooth)
    through = d[b] / length[b, None] ** 2 - d[a] / length[a, None] ** 2
    kind[two] = np.where(smooth, EDGE, CORNER)
    along[two[smooth]] = unit(through[smooth])
    for v in [*two[~smooth], *np.flatnonzero(count > 2)]:
        t = d[first[v] : first[v] + count[v]] / length[first[v] : first[v] + count[v], None]
        sizes, axes = np.linalg.eigh(t.T @ t)
        kind[v] = CORNER
        if sizes[1] < 1e-12:  # edges of several cells on one straight line
            kind[v], along[v] = EDGE, axes[:, 2]
        elif sizes[0] < 1e-6 * sizes[2]:
            across[v] = axes[:, 0]
    ends = one[(kind[other[first[one]]] == EDGE) & (count[other[first[one]]] == 2)]
    t, c = along[other[first[ends]]], along[ends]
    along[ends] = 2.0 * np.einsum("na,na->n", t, c)[:, None] * c - t


def straightened(
    system: Configuration,
    body: Interpolated,
    glue: Glue,
    node: Ints,
    normal: Array,
    kink: Mask,
) -> Array:
    """Return the tangents of edges at nodes in the tangent plane, and square to mirrors.

    Parameters
    ----------
    node : (n,) numbers of the nodes of this rank among those of the place.
    normal, kink : (n, 3) and (n,) of the body there; at kinks tangents are left as they are.
    """
    along, on = glue.along[node].copy(), system.of(body, Interpolation)
    edge = (glue.kind[node] == EDGE) & ~kink
    for support in system.mirrors:
        if system.of(support.body, Interpolation).slope_name == on.slope_name:
            both = edge & np.isin(glue.nodes[node], system.of(support, Glue).nodes)
            axis = np.eye(3)[support.mirror]
            part = along[both] @ axis
            across = along[both] - part[:, None] * axis
            crosses = np.abs(part) > np.sqrt(0.5)
            along[both] = np.where(crosses[:, None], axis, across)
    part = np.einsum("na,na->n", along, normal)
    along[edge] -= (part[:, None] * normal)[edge]
    along[edge] = unit(along[edge])
    return along


def nodes_here(system: Configuration, glue: Glue) -> tuple[Ints, Ints]:
    """Return the local vertices of the nodes that this rank has, and their numbers."""
    vertices = np.sort(system.topology.find(glue.nodes)).astype(np.int64)
    return vertices, np.searchsorted(glue.nodes, system.topology.vertex_ids[vertices])


@dataclass(frozen=True)
class GluedSlopes:
    """What gluing holds of the slopes of nodes; zero where there is none.

    Attributes
    ----------
    whole : (n, 3, 3) orthogonal directions of the reference along which slopes are held in full:
        along what is glued, and of plates with directors through the thickness.
    partly : (n, 2, 3) directions along which nothing but components along `normals` (n, 2, 3)
        keep the face where it is: of the tangent of a cable those across it, of the slopes
        across the edge of a thin plate those along its normal.
    """

    whole: Array
    partly: Array
    normals: Array


def slots(element: Element, kind: Ints) -> tuple[Ints, Ints]:
    """Return how many slopes of each place may be held in full, and along normals."""
    whole = np.zeros(len(kind), dtype=np.int64)
    partly = np.zeros(len(kind), dtype=np.int64)
    if element.slope_kind == "gradient":
        whole[:] = 3
        return whole, partly
    glued = (kind == CORNER) | (kind == FACE)
    whole[glued] = len(element.slopes)
    whole[kind == EDGE] = 1
    partly[kind == EDGE] = 1
    partly[kind == POINT] = 2
    return whole, partly


def glued_slopes(
    element: Element, kind: Ints, normal: Array, along: Array, kink: Mask, across: Array
) -> GluedSlopes:
    """Return what of the slopes is held at n places; see `Glue` and, for the rules, `sa.fix`.

    `normal` (n, 3) of plates, of cables the tangent; `kink` (n,) where there is none.
    """
    n = len(kind)
    whole, partly, normals = np.zeros((n, 3, 3)), np.zeros((n, 2, 3)), np.zeros((n, 2, 3))
    point, edge = kind == POINT, kind == EDGE
    if element.cell == "line":
        whole[~point, 0] = normal[~point]
        partly[point] = normal[point, None]
        normals[point] = perpendicular(normal[point])
    elif element.slope_kind == "tangents":
        glued = ~point & ~edge
        whole[glued, :2] = perpendicular(normal[glued])
        whole[edge, 0], partly[edge, 0] = along[edge], np.cross(normal, along)[edge]
        partly[point] = perpendicular(normal[point])
        normals[edge | point] = normal[edge | point, None]
    else:
        whole[:] = np.eye(3)
        smooth = ~kink & (point | edge)
        whole[smooth] = 0.0
        whole[smooth, 0] = normal[smooth]
        whole[smooth & edge, 1] = along[smooth & edge]
        fold = kink & (kind == CORNER) & across.any(axis=1)
        whole[fold, :2], whole[fold, 2] = perpendicular(across[fold]), 0.0
    return GluedSlopes(whole, partly, normals)
