# SPDX-License-Identifier: BSD-3-Clause
"""Reference configuration of a body's cells: node directions, element slopes, slope maps.

Cells come from a mesh as corner points only. A smooth curved surface or line is recovered
from them: node normals (or tangents) are given by the user as a function of X, or averaged
from the facets (or chords) that meet within the smoothing angle; along each edge the slopes
are those of the circular arc through its ends with the node directions, of length
``|c| phi / sin(phi)`` for the chord c and the angle phi between chord and tangent. A flat
mesh of straight edges is reproduced exactly (bilinear quadrilaterals).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from ..arrays import Array, Integers, Mask
from ..assembly.vertices import AtVertices, numbers_among
from ..cells.table import LINE, LINE3, QUAD
from ..errors import MeshError, ParameterError
from ..runtime.collective import together
from ..values.parameter import call_array, label, reals
from . import sections
from .vectors import unit

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..cells.table import Cell
    from ..elements import Element
    from ..mesh.partition import GhostExchange, Topology


LEAN = 30.0  # [degrees] of given directions over a cell: more is refused,
WARNED_ANGLE = 5.0  # more than this is told

# corners joined by the edges in direction xi and eta, per corner: (from, to) seen from it
_QUAD_XI = ((0, 1), (0, 1), (3, 2), (3, 2))
_QUAD_ETA = ((0, 3), (1, 2), (1, 2), (0, 3))


def perpendicular(t: Array) -> Array:
    """Return two unit vectors (k, 2, 3) across each unit vector (k, 3), axes where possible."""
    axis = np.eye(3)[np.argmin(np.abs(t), axis=1)]
    first = np.cross(axis, t)
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    return np.stack([first, np.cross(t, first)], axis=1)


@dataclass(frozen=True)
class BodyVertices:
    """The vertices of one body among those of a rank, in a numbering of their own.

    Attributes
    ----------
    vertices : (n,) local numbers, ascending; those that the rank owns come first.
    """

    comm: MPI.Comm
    vertices: Integers
    n_owned: int
    halo: GhostExchange

    @classmethod
    def of(cls, topology: Topology, cells: Integers) -> BodyVertices:
        """Return that of some cells, with ghosts that only other terms brought (collective)."""
        vertices = np.unique(cells).astype(np.int32)
        if topology.comm.size > 1:
            member = np.zeros(topology.n_local, dtype=np.int8)
            member[vertices] = 1
            vertices = np.flatnonzero(topology.halo.updated(member))
        halo = topology.halo.restricted(vertices)
        return cls(topology.comm, vertices, halo.n_owned, halo)

    def numbers(self, local: Integers) -> Integers:
        """Return the patch's numbers of local vertices."""
        return numbers_among(self.vertices, local) if len(self.vertices) else local


class NodeDirections:
    """Node normals (quadrilaterals) or tangents (lines) of one body on this rank.

    Attributes
    ----------
    at : (n, 3) unit direction of each vertex of the body, by local number.
    section : (n, 3) of rods: with the tangent it spans the plane of the second director.
    kink : (n,) facets meet there at more than the smoothing angle, so that each cell
        uses its own facet normal.
    opposite : of quadrilaterals, whether normals by their numbering lie on different sides.
    deviation : largest angle [rad] between a node direction and the facets it smooths.
    lean : largest angle [degrees] between the means of the given directions and of the facet
        normals (or the chord) of a cell.
    """

    def __init__(
        self,
        name: str,
        element: Element,
        topology: Topology,
        points: Array,
        cells: Integers,
        directions: Callable[[Array], npt.ArrayLike] | None,
        smooth: float,
    ) -> None:
        self.name, self.element = name, element
        self.topology = patch = BodyVertices.of(topology, cells)
        self.smooth = np.radians(smooth) / 2.0  # each facet differs by half from the mean
        points, cells = points[patch.vertices], patch.numbers(cells)
        self._kink = np.zeros(len(points), dtype=bool)
        self.deviation = self.lean = 0.0
        self.oriented = element.oriented
        if element.oriented:
            own = sections.along(element.topology, points, cells).reshape(-1, 3)
            axes = sections.section_axes(name, patch.comm, points, cells.ravel(), own, directions)
            self.section = AtVertices(patch.vertices, patch.halo.updated(axes))
            tangents = self._tangents(points, _forms(element, cells))
        elif directions is not None:
            tangents = self._user_directions(directions, points, cells)
        elif element.dimension == 2:
            tangents = self._normals(points, cells)
        else:
            tangents = self._tangents(points, _forms(element, cells))
        sides = topology.comm.allgather(self._sides(points, cells, tangents))
        along, against, across = np.any(sides, axis=0)
        self.opposite = bool((along and against) or across)
        self.at = AtVertices(patch.vertices, tangents)
        self.kink = AtVertices(patch.vertices, self._kink)
        self.deviation = topology.comm.allreduce(self.deviation, op=MPI.MAX)
        self.lean = topology.comm.allreduce(self.lean, op=MPI.MAX)

    def _user_directions(
        self,
        function: Callable[[Array], npt.ArrayLike],
        points: Array,
        cells: Integers,
    ) -> Array:
        """Return the user's directions, which must not be across those of the mesh."""
        used = np.unique(cells)
        at = np.zeros_like(points)
        what = f"direction of body {self.name!r}"
        with together(self.topology.comm):
            value = call_array(what, function, (len(used), 3), points[used])
            if not np.linalg.norm(value, axis=1).all():
                raise ParameterError(
                    f"{what}: {label(function)} returned a vector of length zero",
                    asked="direction",
                    given=0.0,
                )
            at[used] = unit(value)
            if len(cells):
                self._require_along(what, label(function), points, cells, at)
        return np.asarray(self.topology.halo.updated(at))

    def _require_along(
        self, what: str, who: str, points: Array, cells: Integers, at: Array
    ) -> None:
        """Raise where directions are across the mesh; note how far a cell's lean to one side.

        At the corners of a curved cell directions differ from the facet by up to half its angle,
        to all sides; leaning to one side they change the body's volume by their cosine.
        """
        kind = "normal" if self.element.dimension == 2 else "tangent"
        if kind == "normal":
            own = _corner_normals(points, cells)
        else:
            own = sections.along(self.element.topology, points, cells)
        cosine = np.einsum("nva,nva->nv", own, at[cells])
        sums = (np.sign(cosine)[..., None] * at[cells]).sum(axis=1)
        mean = own.sum(axis=1)
        lean = np.einsum("na,na->n", unit(mean), sums / np.linalg.norm(sums, axis=1)[:, None])
        for values, most, leaning in (
            (np.abs(cosine).min(axis=1), 75.0, False),
            (lean, LEAN, True),
        ):
            off = np.degrees(np.arccos(np.clip(values, -1.0, 1.0)))
            worst = int(np.argmax(off))
            if leaning:
                self.lean = float(off[worst])
            if off[worst] > most:
                x = points[cells[worst]].mean(axis=0)
                share = 100.0 * (1.0 - values[worst])
                effect = f" on average, which changes volumes by {share:.0f} %" if leaning else ""
                raise ParameterError(
                    f"{what}: near ({x[0]:g}, {x[1]:g}, {x[2]:g}) {who} is {off[worst]:.0f} "
                    f"degrees off the {kind} of the mesh{effect}; give {kind}s",
                    asked="direction",
                    given=off[worst],
                )

    def _complete(self, sums: Array, spread: Array) -> Array:
        """Normalise sums at owned vertices, bring ghosts up to date."""
        length = np.linalg.norm(sums, axis=1, keepdims=True)
        table = np.column_stack([sums / np.where(length > 0, length, 1.0), spread])
        table = self.topology.halo.updated(table)
        self._kink = table[:, 3] > self.smooth
        smooth = table[~self._kink, 3]
        self.deviation = float(smooth.max(initial=0.0))
        return np.ascontiguousarray(table[:, :3])

    def _normals(self, points: Array, cells: Integers) -> Array:
        corner = _corner_normals(points, cells) * _senses(cells)[:, None, None]
        sums = np.zeros_like(points)
        for v in range(cells.shape[1]):
            np.add.at(sums, cells[:, v], corner[:, v])
        mean = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-300)
        spread = np.zeros(len(points))
        for v in range(cells.shape[1]):
            cosine = np.einsum("na,na->n", corner[:, v], mean[cells[:, v]])
            np.maximum.at(spread, cells[:, v], np.arccos(np.clip(cosine, -1.0, 1.0)))
        return self._complete(sums, spread)

    def _sides(self, points: Array, cells: Integers, directions: Array) -> Mask:
        """Tell whether normals by numbers are along the directions, against, or neither (3,)."""
        cosine = np.zeros(0)
        if self.element.dimension == 2:
            cosine = np.einsum("nva,nva->nv", _corner_normals(points, cells), directions[cells])
        return np.array(
            [(cosine > 0.3).any(), (cosine < -0.3).any(), (np.abs(cosine) <= 0.3).any()]
        )

    def _tangents(self, points: Array, cells: Integers) -> Array:
        chord = points[cells[:, 1]] - points[cells[:, 0]]
        length = np.linalg.norm(chord, axis=1)
        weight = chord / length[:, None] ** 2  # tangent of the circle through three points
        sums, count = np.zeros_like(points), np.zeros(len(points))
        for v in range(2):
            np.add.at(sums, cells[:, v], weight)
            np.add.at(count, cells[:, v], 1.0)
        branches = self.topology.comm.allreduce(int((count[: self.topology.n_owned] > 2).sum()))
        if branches and self.element.slope_kind != "gradient":
            raise MeshError(
                f"body {self.name!r}: more than two lines meet at {branches} points; cut the "
                "branches into regions of their own and make one body of each",
                asked="branch",
                given=branches,
            )
        mean = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-300)
        spread = np.zeros(len(points))
        direction = chord / length[:, None]
        for v in range(2):
            cosine = np.einsum("na,na->n", direction, mean[cells[:, v]])
            np.maximum.at(spread, cells[:, v], np.arccos(np.clip(cosine, -1.0, 1.0)))
        spread[count > 2] = np.inf  # of rods, whose branches are joined by the slopes of the node
        at = self._complete(sums, spread)
        if self.oriented:
            plain = (count == 2) & ~self._kink
            at = sections.untwisted(self.topology.halo, at, points, cells, plain)
        ends = self.topology.halo.updated((count == 1)[:, None].astype(np.int8))[:, 0] > 0
        for v in range(2):  # free ends: reflect the neighbour's tangent at the chord
            here, there = cells[:, v], cells[:, 1 - v]
            mine = ends[here] & ~ends[there] & ~self._kink[there]
            t, c = at[there[mine]], direction[mine]
            at[here[mine]] = 2.0 * np.einsum("na,na->n", t, c)[:, None] * c - t
        return np.asarray(self.topology.halo.updated(at))

    def require_smooth(self) -> None:
        """Raise on every rank where slopes along shared tangents cannot follow a kink."""
        kinks = self.topology.comm.allreduce(
            int(self._kink[: self.topology.n_owned].sum()), op=MPI.SUM
        )
        if kinks:
            raise MeshError(
                f"body {self.name!r} ({self.element.name}): {kinks} points are kinks sharper than "
                f"the smoothing angle, {np.degrees(2.0 * self.smooth):.0f} degrees (or cells "
                "there are numbered in opposite senses); cut the region at the kink into two "
                "bodies, or raise smooth_deg=",
                asked="smooth_deg",
                given=kinks,
            )

    def warn_deviation(self) -> None:
        """Say on rank 0 how far directions are from the facets."""
        if self.lean > WARNED_ANGLE and self.topology.comm.rank == 0:
            warnings.warn(
                f"body {self.name!r}: the given directions lean to one side of the mesh by up to "
                f"{self.lean:.1f} degrees on average over a cell, which changes its volume by up "
                f"to {100.0 * (1.0 - np.cos(np.radians(self.lean))):.1f} %; give those of the "
                "surface or line that the mesh lies on",
                stacklevel=2,
            )
        if self.deviation > np.radians(20.0) and self.topology.comm.rank == 0:
            warnings.warn(
                f"body {self.name!r}: averaged node directions differ from the facets by up to "
                f"{np.degrees(self.deviation):.1f} degrees; refine the mesh or give the direction "
                "as a function of X",
                stacklevel=2,
            )


def direction_of(
    name: str, given: Callable[[Array], npt.ArrayLike] | npt.ArrayLike
) -> Callable[[Array], npt.ArrayLike]:
    """Return the directions of a body as a function of X, also where three numbers are given.

    Raises
    ------
    ParameterError : something else is given, or numbers that have no direction.
    """
    if callable(given):
        return given
    vector = reals(given)
    if vector.shape != (3,) or not vector.any():
        raise ParameterError(
            f"direction of body {name!r} is {label(given)}: give three finite numbers, not all "
            "zero, or a function of X (n, 3) that returns (n, 3)",
            asked="direction",
            given=given,
            possible=("three numbers", "function of X"),
        )

    def constant(X: Array) -> Array:
        return vector

    return constant


def require_direction(name: str, element: Element) -> None:
    """Raise where slopes of nodes are not found: on all cells but lines and quadrilaterals."""
    allowed = (LINE.name, LINE3.name, QUAD.name)
    if element.slopes and not element.across and element.cell not in allowed:
        raise ParameterError(
            f"body {name!r}: nodes of {element.name} have slopes ({', '.join(element.slopes)}), "
            f"and on cells of the type {element.cell!r} none are found: they are on "
            f"{', '.join(map(repr, allowed))}; declare fields without slopes "
            "(slopes=(), slope_kind='none')",
            asked="cell",
            given=element.cell,
            possible=allowed,
        )


def _senses(cells: Integers) -> Array:
    """Return signs (n,) by which normals of neighbours are on one side of the surface.

    Two cells agree where they run through their common edge in opposite directions. Cells that only
    a Moebius strip joins, and edges of three cells or more, say nothing.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n, corners = cells.shape
    runs = np.stack([cells, np.roll(cells, -1, axis=1)], axis=2).reshape(-1, 2)
    _, place, count = np.unique(
        np.sort(runs, axis=1), axis=0, return_inverse=True, return_counts=True
    )
    order = np.argsort(place.ravel(), kind="stable")
    first = (np.cumsum(count) - count)[count == 2]
    a, b = order[first], order[first + 1]
    other = (runs[a, 0] == runs[b, 0]).astype(np.int64)
    if not other.any():
        return np.ones(n)
    a, b = a // corners, b // corners
    ends = np.append(2 * a, 2 * a + 1), np.append(2 * b + other, 2 * b + 1 - other)
    graph = coo_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(2 * n, 2 * n))
    side = connected_components(graph, directed=False)[1].reshape(n, 2)
    return np.where(side[:, 0] > side[:, 1], -1.0, 1.0)


def _forms(element: Element, cells: Integers) -> Integers:
    """Return the nodes (k, 2) that follow each other on lines."""
    return np.asarray(cells[:, np.array(element.topology.links)].reshape(-1, 2))


def _corner_normals(points: Array, cells: Integers) -> Array:
    """Unit facet normals at the corners of each triangle or quadrilateral, (n, corners, 3)."""
    X = points[cells]
    following, before = np.roll(X, -1, axis=1), np.roll(X, 1, axis=1)
    return unit(np.cross(following - X, before - X))


def arc_slope(chord: Array, tangent: Array) -> Array:
    """Return the slope at an end of the arc with this chord, along the unit `tangent`."""
    return np.asarray(_arc_length(chord, tangent) * tangent)


def _arc_length(chord: Array, tangent: Array) -> Array:
    """Return the length (..., 1) of that arc, negative where `tangent` is against the chord."""
    length = np.linalg.norm(chord, axis=-1, keepdims=True)
    cosine = np.einsum("...a,...a->...", chord, tangent)[..., None] / length
    sine = np.linalg.norm(np.cross(tangent, chord), axis=-1, keepdims=True) / length
    phi = np.arctan2(sine, np.abs(cosine))
    stretch = np.where(phi > 1e-9, phi / np.where(sine > 0, sine, 1.0), 1.0)
    return np.asarray(np.sign(cosine) * length * stretch)


def _line_slopes(cell: Cell, X: Array, tangents: Array) -> Array:
    """Return the slopes (n, nodes, 3) of lines, along the unit tangents (n, nodes, 3) of nodes.

    They are those of the length along the arcs between nodes, interpolated as the cell does: as
    many powers of the length as may be are then among the shape functions.
    """
    _, rates = cell.evaluate(cell.unit)
    size = np.zeros((*X.shape[:2], 1))
    for p, (a, b) in enumerate(cell.links):
        length = _arc_length((X[:, b] - X[:, a])[:, None], tangents[:, [a, b]])
        of_node = np.repeat(length.mean(axis=1, keepdims=True), X.shape[1], axis=1)
        of_node[:, [a, b]] = length
        later = [end for _, end in cell.links[p:]]
        size += rates[:, later, 0].sum(axis=1)[:, None] * of_node
    return np.asarray(size * tangents)


def element_slopes(
    element: Element, points: Array, cells: Integers, directions: NodeDirections | None
) -> Array:
    """Return the reference slopes of cells: (n, corners, slopes, 3) parametric derivatives."""
    n = len(cells)
    corners = cells.shape[1]
    slopes = np.zeros((n, corners, len(element.slopes), 3))
    if not element.slopes:
        return slopes
    X = points[cells]
    assert directions is not None
    if element.oriented:
        own = sections.along(element.topology, points, cells)
        mean = directions.at[cells.ravel()].reshape(own.shape)
        mean = mean * np.where(np.einsum("nva,nva->nv", mean, own) < 0.0, -1.0, 1.0)[..., None]
        kink = directions.kink[cells.ravel()].reshape(cells.shape)[..., None]
        axes = directions.section[cells.ravel()].reshape(own.shape)
        frames = sections.frames(np.where(kink, own, mean), axes)
        if element.slopes[0] == "xi":  # no direction alone
            frames[:, :, 0] = arc_slope((X[:, 1] - X[:, 0])[:, None], frames[:, :, 0])
        return np.ascontiguousarray(frames[:, :, 3 - len(element.slopes) :])
    if element.dimension == 1:
        slopes[:, :, 0] = _line_slopes(element.topology, X, directions.at[cells])
        return slopes
    facet = _corner_normals(points, cells)
    for v in range(4):
        kink = directions.kink[cells[:, v]][:, None]
        normal = np.where(kink, facet[:, v], directions.at[cells[:, v]])
        # a node normal may point to the other side of this cell; its own side is the facet's
        side = np.sign(np.einsum("na,na->n", normal, facet[:, v]))[:, None]
        normal = normal * np.where(side == 0, 1.0, side)
        for k, pairs in enumerate((_QUAD_XI, _QUAD_ETA)):
            chord = X[:, pairs[v][1]] - X[:, pairs[v][0]]
            tangent = chord - np.einsum("na,na->n", chord, normal)[:, None] * normal
            slopes[:, v, k] = arc_slope(chord, unit(tangent))
        if len(element.slopes) >= 3:
            slopes[:, v, 2] = unit(np.cross(slopes[:, v, 0], slopes[:, v, 1]))
    return slopes


def node_basis(element: Element, directions: NodeDirections) -> AtVertices[np.float64]:
    """Return the reference slope coordinates of each vertex of a body, (n, slopes, 3).

    Full-gradient elements: the Cartesian axes (and zero). Tangents: the unit tangent of a line,
    or two orthonormal vectors of the tangent plane.
    """
    vertices, at = directions.at.vertices, directions.at.values
    if element.slope_kind == "gradient":
        axes = np.eye(len(element.slopes), 3)  # a second slope through the thickness vanishes
        return AtVertices(vertices, np.broadcast_to(axes, (len(at), *axes.shape)).copy())
    if element.oriented:
        section = directions.section.values
        return AtVertices(vertices, sections.frames(at, section)[:, 1:].copy())
    if element.dimension == 1:
        return AtVertices(vertices, at[:, None, :].copy())
    axis = np.eye(3)[np.argmin(np.abs(at), axis=1)]
    first = unit(np.cross(axis, at) + (np.linalg.norm(at, axis=1) == 0)[:, None] * np.eye(3)[0])
    return AtVertices(vertices, np.stack([first, np.cross(at, first)], axis=1))


def slope_maps(element: Element, slopes: Array, basis: Array) -> Array:
    """Return T (n, corners, s, s) with element slopes = T . node slopes.

    `basis` (n, corners, s, 3) are the node slopes of the reference (orthonormal vectors); what is
    no direction is the same in both.
    """
    maps = np.asarray(np.einsum("nvka,nvca->nvkc", slopes, basis))
    for k in range(element.directions, len(element.slopes)):
        maps[:, :, k, k] = 1.0
    return maps


def curved_lines(X: Array, slopes: Array) -> Mask:
    """Tell which cubic lines with ends X (n, 2, 3) and slopes (n, 2, 1, 3) are curved."""
    chord = X[:, 1] - X[:, 0]
    length = np.linalg.norm(chord, axis=1)
    bend = np.linalg.norm(np.cross(chord[:, None], slopes[:, :, 0]), axis=2).max(axis=1, initial=0)
    return np.asarray(bend > 1e-9 * length**2)
