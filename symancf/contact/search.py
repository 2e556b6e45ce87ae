# SPDX-License-Identifier: BSD-3-Clause
"""Which facets may touch: pairs that are close, face each other and have nothing in between.

All of it is a function of positions, the same on every rank: what a rank needs it takes of that.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..arrays import Array, Ints, Mask

if TYPE_CHECKING:
    from .surface import ContactSurface

FACING_NORMALS = -0.2  # largest n_s . n_m of facets that may touch
#: of a cell: deeper a point is not in a facet but behind it, and counts less; closest_point.h
DEPTH_BEHIND = 0.5
DEPTH_BEHIND_AT_REST = 0.25  # the same of one body in the reference


class FacetShapes:
    """A surface in some positions: facets and normals as polynomials, and balls around facets.

    Attributes
    ----------
    surface : the facets.
    x : vectors of the nodes.
    """

    def __init__(self, surface: ContactSurface, x: Array) -> None:
        self.surface, self.x = surface, x

    @cached_property
    def P(self) -> Array:
        """`ContactSurface.polynomials`."""
        return self.surface.polynomials(self.x)

    @cached_property
    def Q(self) -> Array:
        """`ContactSurface.normals`."""
        return self.surface.normals(self.x)

    @cached_property
    def _bounds(self) -> tuple[Array, Array, Array, Array]:
        """Lowest and highest corners of boxes around the facets; centres and radii of balls."""
        parts: list[tuple[Array, Array, Array, Array]] = []
        for patch in self.surface.patches:
            x = np.asarray(patch.sampled @ patch.elements(self.x))  # places all over the facets
            centre = x.mean(axis=1)
            radius = np.linalg.norm(x - centre[:, None], axis=2).max(axis=1)
            parts.append((x.min(axis=1), x.max(axis=1), centre, radius))
        low, high, centre, radius = (np.concatenate(part) for part in zip(*parts, strict=True))
        return low, high, centre, radius

    @property
    def box(self) -> tuple[Array, Array]:
        """Lowest and highest corners (F, 3) of boxes around the facets."""
        return self._bounds[:2]

    @property
    def centre(self) -> Array:
        """Centres (F, 3) of balls around the facets."""
        return self._bounds[2]

    @property
    def radius(self) -> Array:
        """Their radii (F,)."""
        return self._bounds[3]

    @cached_property
    def normal(self) -> Array:
        """Normals (F, 3) in the middles."""
        at = np.array([patch.middle for patch in self.surface.patches])[self.surface.type]
        powers = np.stack([np.ones(len(at)), *at.T, at[:, 0] * at[:, 1]], axis=1)
        n = np.einsum("fk,fka->fa", powers, self.Q)
        size = np.linalg.norm(n, axis=1)
        return np.asarray(n / np.where(size > 0.0, size, 1.0)[:, None])

    @cached_property
    def middle(self) -> Array:
        """Middles (F, 3)."""
        patches = self.surface.patches
        parts = [patch.at_places(patch.tables(patch.middle[None])[0], self.x) for patch in patches]
        return np.concatenate([x[:, 0] for x in parts])


class Rest(NamedTuple):
    """Sides that have a body in common: their shapes in the reference, and what facets are of.

    Attributes
    ----------
    shapes : of the side that has points and the one opposite.
    bodies : (F,), (G,) numbers of the bodies of facets; joined bodies are one.
    """

    shapes: tuple[FacetShapes, FacetShapes]
    bodies: tuple[Ints, Ints]

    def same(self, a: Ints, b: Ints) -> Mask:
        """Return which pairs of facets (n,) are of one body."""
        return np.asarray(self.bodies[0][a] == self.bodies[1][b])


def close(s: FacetShapes, m: FacetShapes, margin: float) -> tuple[Ints, Ints]:
    """Return the pairs of facets whose boxes are closer than `margin`, sorted.

    Facets of very different sizes: a tree for each power of two of the radius.
    """
    from scipy.spatial import cKDTree  # half a second to import

    size = np.floor(np.log2(np.maximum(m.radius, 1e-300))).astype(np.int64)
    parts: list[Ints] = []
    for power in np.unique(size).tolist():
        of = np.flatnonzero(size == power)
        tree = cKDTree(m.centre[of])
        reach = s.radius + m.radius[of].max() + margin
        neighbours = tree.query_ball_point(s.centre, reach, return_sorted=True)
        count = np.fromiter(map(len, neighbours), dtype=np.int64, count=len(neighbours))
        if count.sum():
            facet = of[np.concatenate([np.asarray(f, dtype=np.int64) for f in neighbours])]
            parts.append(np.stack([np.repeat(np.arange(len(neighbours)), count), facet], axis=1))
    pairs = np.concatenate([np.zeros((0, 2), dtype=np.int64), *parts])
    a, b = pairs.T
    (low, high), (under, over) = s.box, m.box
    apart = np.maximum(under[b] - high[a], low[a] - over[b]).max(axis=1)
    a, b = pairs[apart <= margin].T
    order = np.lexsort((b, a))
    return a[order], b[order]


def share_nodes(s: ContactSurface, m: ContactSurface, a: Ints, b: Ints) -> Mask:
    """Return which pairs of facets (n,) have a node in common."""
    one, other = s.ids[s.facets[a]], m.ids[m.facets[b]]
    return np.asarray((one[:, :, None] == other[:, None, :]).any(axis=(1, 2)))


def behind(s: FacetShapes, m: FacetShapes, a: Ints, b: Ints, depth: float) -> Mask:
    """Return which facets a are behind the facets b: by more than `depth` of these facets' cells.

    The middle of a has its closest point on b, or within half a facet of it.
    """
    _, g = m.surface.closest_points(m.P, m.Q, b, s.middle[a], beyond=0.5)
    with np.errstate(invalid="ignore"):
        return np.asarray(g < -depth * m.surface.length[b])


def candidates(
    s: FacetShapes,
    m: FacetShapes,
    rest: Rest | None,
    margin: float,
    path: tuple[FacetShapes, FacetShapes],
) -> tuple[Ints, Mask]:
    """Return pairs of facets (k, 2), sorted, one that has points, one opposite; which may touch.

    The others are behind each other in the accepted state: they can be passed, not touched.

    Parameters
    ----------
    s, m : the side that has points and the one opposite, in the accepted state.
    rest : where they have a body in common: what is behind each other in the reference, with that
        body in between, never touches.
    margin : distance within which pairs are taken.
    path : both in the present state, for what they may have come to since.
    """
    pairs = close(s, m, margin)
    if path[0] is not s or path[1] is not m:
        more = np.stack(close(*path, margin), axis=1)
        both = np.unique(np.concatenate([np.stack(pairs, axis=1), more]), axis=0)
        pairs = both[:, 0], both[:, 1]
    a, b = pairs
    faces = np.einsum("ka,ka->k", s.normal[a], m.normal[b]) < FACING_NORMALS
    if path[0] is not s or path[1] is not m:
        faces |= np.einsum("ka,ka->k", path[0].normal[a], path[1].normal[b]) < FACING_NORMALS
    a, b = a[faces], b[faces]
    alone = ~share_nodes(s.surface, m.surface, a, b)
    a, b = a[alone], b[alone]
    in_front = ~behind(s, m, a, b, DEPTH_BEHIND)
    if rest is not None:  # these are in the way of each other for ever
        first = ~rest.same(a, b)
        one = np.flatnonzero(~first)
        first[one] = ~behind(*rest.shapes, a[one], b[one], DEPTH_BEHIND_AT_REST)
        a, b, in_front = a[first], b[first], in_front[first]
    return np.stack([a, b], axis=1), in_front


def motion(x: Array, y: Array) -> float:
    """Return the largest distance of points x (n, 3) from y, less their mean rigid motion."""
    if not len(x):
        return 0.0
    a, b = x - x.mean(axis=0), y - y.mean(axis=0)
    u, _, vt = np.linalg.svd(a.T @ b)
    sign = np.sign(np.linalg.det(u @ vt)) or 1.0
    turn = u @ np.diag([1.0, 1.0, sign]) @ vt
    return float(np.linalg.norm(a @ turn - b, axis=1).max())
