# SPDX-License-Identifier: BSD-3-Clause
"""What a support holds of the slopes at nodes and across edges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ...arrays import Array, Ints, Mask
from ...errors import MeshError
from ...places.glue import EDGE, NodesHere
from ...places.vectors import unit
from .clamp import ALIGNED, Clamp
from .directions import EXACT
from .names import AXES, EDGE_NAMES

if TYPE_CHECKING:
    from ...assembly.configuration import Configuration, Layout
    from ...assembly.vertices import AtVertices
    from ...places.glue import Glue
    from ...places.interpolation import Interpolated
    from ...places.middles import Middles, MiddlesHere
    from ...places.on_body import Nodes, PointsOnBody
    from ...values.motion import Motion


class OfNodes(Protocol):
    """A support of nodes: its place and motion, and what it holds of slopes."""

    name: str
    motion: Motion
    place: Nodes | PointsOnBody
    whole: bool
    clamped: bool
    parts: dict[str, list[int]]

    @property
    def body(self) -> Interpolated:
        """That it holds."""

    def slopes_held(self, configuration: Configuration, here: Any, basis: Array, /) -> Mask:
        """Return which components (n, s, 3) of slopes along `basis` are held, but for a clamp's."""


class SlopeSupport:
    """The slopes at nodes of a place, or across its edges, that a support holds, in one system.

    A clamp holds what gluing does; planes of symmetry hold of slopes across edges what they hold
    of slopes of nodes.

    Attributes
    ----------
    at : the nodes or edges.
    clamp : how they are clamped; None: they are not.
    here : the nodes or edges on this rank, after `orient`.
    mask, basis : which components (n, s, 3) are held by elimination, and the reference slopes,
        after `coordinates`.
    """

    here: NodesHere | MiddlesHere
    mask: Mask
    basis: Array

    def __init__(self, support: OfNodes, at: Glue | Middles, name: str, layout: Layout) -> None:
        self.support, self.at = support, at
        self.clamp: Clamp | None = None
        if support.clamped and not support.whole:
            self.clamp = Clamp(name, support.place, at, support.motion, layout)

    def orient(self, here: NodesHere | MiddlesHere) -> None:
        """Take the nodes or edges here (collective)."""
        self.here = here
        if self.clamp is not None:
            self.clamp.orient(here)

    def turned(self, basis: AtVertices[np.float64], taken: AtVertices[np.bool_]) -> None:
        """Turn the directions (vertices, s, 3) of slopes of nodes; see `NodeSupportBinding`."""
        vertices = self.here.vertices
        wished, frames = self._frames(basis[vertices])
        product = np.abs(np.einsum("nka,nla->nkl", frames, basis[vertices]))
        aligned = ((product < EXACT) | (product > 1.0 - EXACT)).all(axis=(1, 2))
        turn = wished & ~aligned & ~taken[vertices]
        basis[vertices[turn]] = frames[turn]
        taken[vertices[wished]] = True

    def _frames(self, basis: Array) -> tuple[Mask, Array]:
        """Return where directions of slopes are wished for, and which (n, s, 3)."""
        here, support, frames = self.here, self.support, basis.copy()
        assert isinstance(here, NodesHere)
        wished = np.zeros(len(frames), dtype=bool)
        if self.clamp is not None:
            wished |= self.clamp.frames(frames)
        s, n = frames.shape[1], here.normal
        if support.body.element.dimension != 2 or not support.parts:
            return wished, frames
        first = np.zeros_like(n)
        if any(name in support.parts for name in (*EDGE_NAMES, "slope_normal")):
            edge = (here.kind == EDGE) & ~here.kink
            first[edge] = here.along[edge]
        for name in support.parts:
            if name[6:] in AXES and s == 2:
                first = _in_plane(support.name, name, here)
        named = first.any(axis=1)
        frames[named, 0], frames[named, 1] = first[named], np.cross(n, first)[named]
        if s >= 3:
            frames[named, 2] = n[named]
        return wished | named, frames

    def coordinates(self, configuration: Configuration) -> Ints:
        """Return the local offsets of the components that are held by elimination."""
        on = configuration.binding(self.support.body).interpolation
        self.basis = self.here.basis(on)
        self.mask = self.support.slopes_held(configuration, self.here, self.basis)
        if self.clamp is not None:
            self.mask |= self.clamp.mask(self.basis)
        start = on.offset(self.here.vertices, self.at.jet)
        vertex, k, a = np.nonzero(self.mask)
        return np.asarray(start[vertex] + 3 * k + a, dtype=np.int64)

    def prescribed(self, time: float) -> Array:
        """Return the values of these components at `time`."""
        if not self.mask.any():
            return np.zeros(0)
        G = self.support.motion.G(self.here.X, time)  # du_a/dX_b
        vertex, k, a = np.nonzero(self.mask)
        return np.asarray(np.einsum("nb,nb->n", G[vertex, a], self.basis[vertex, k]))


def find_slopes(
    support: OfNodes, name: str, here: NodesHere | MiddlesHere, basis: Array
) -> tuple[Ints, Ints]:
    """Return the nodes or edges that have a slope of a name, and its number at each.

    Raises
    ------
    MeshError : it is none of those that are stored there.
    """
    if isinstance(here, NodesHere):
        return np.arange(len(basis)), _at_nodes(support, name, here, basis)
    edges = _across_edges(support, name, here)
    return edges, np.zeros(len(edges), dtype=np.int64)


def _at_nodes(support: OfNodes, name: str, here: NodesHere, basis: Array) -> Ints:
    """Return the number of the slope of a name at each node.

    Raises
    ------
    MeshError : there is none: the place has no edges there, or another support took others.
    """
    element = support.body.element
    if element.slope_kind == "tangents" and element.dimension == 1:
        return np.zeros(len(basis), dtype=np.int64)
    if name[6:] in AXES:
        wanted = np.broadcast_to(np.eye(3)[AXES.index(name[6:])], here.normal.shape)
    else:
        across = np.cross(here.normal, here.along)
        wanted = {"along": here.along, "across": across, "normal": here.normal}[name[6:]]
    cosine = np.abs(np.einsum("nka,na->nk", basis, wanted))
    found = cosine.argmax(axis=1)
    lost = cosine.max(axis=1, initial=0.0) < 1.0 - ALIGNED
    if lost.any():
        at = int(np.argmax(lost))
        x = here.X[at]
        why = (
            "no single edge of the region goes through or ends there"
            if name in EDGE_NAMES and here.kind[at] != EDGE
            else "the slopes there are stored in other directions, for another support"
        )
        raise MeshError(
            f"{support.name}: {name!r} cannot be held at the node ({x[0]:g}, {x[1]:g}, "
            f"{x[2]:g}): {why}",
            asked="dofs",
            given=name,
        )
    return np.asarray(found)


def _across_edges(support: OfNodes, name: str, here: MiddlesHere) -> Ints:
    """Return the edges whose slope across has a name; the slope along one follows from nodes.

    Raises
    ------
    MeshError : the derivative along an axis of space is neither of both.
    """
    if name == "slope_across":
        return np.arange(len(here.X))
    if name == "slope_along":
        return np.zeros(0, dtype=np.int64)
    along = np.abs(here.across[:, AXES.index(name[6:])])
    oblique = (along > 1e-6) & (along < 1.0 - 1e-6)
    if oblique.any():
        x = here.X[int(np.argmax(oblique))]
        raise MeshError(
            f"{support.name}: {name!r} is neither along nor across the edge at "
            f"({x[0]:g}, {x[1]:g}, {x[2]:g}); write 'slope_along' or 'slope_across'",
            asked="dofs",
            given=name,
            possible=("slope_along", "slope_across"),
        )
    return np.flatnonzero(along > 0.5)


def _in_plane(who: str, name: str, here: NodesHere) -> Array:
    """Return the axis of a slope by an axis of space at each node of a thin plate.

    Raises
    ------
    MeshError : the plate is not in a plane that has this axis.
    """
    axis = np.eye(3)[AXES.index(name[6:])]
    off = np.abs(here.normal @ axis)
    if (off > 1e-6).any():
        x = here.X[int(np.argmax(off))]
        raise MeshError(
            f"{who}: {name!r} is the derivative along {name[6:]}, which leaves the plate "
            f"at ({x[0]:g}, {x[1]:g}, {x[2]:g}); write 'slope_along' or 'slope_across' of a "
            "region of edges",
            asked="dofs",
            given=name,
            possible=("slope_along", "slope_across"),
        )
    return unit(axis - (here.normal @ axis)[:, None] * here.normal)
