# SPDX-License-Identifier: BSD-3-Clause
"""Which facets may touch: pairs that are close, face each other and have nothing in between.

A rank looks for what may touch its own facets, those whose first node it has. All of it is a
function of positions that every rank has: the same pairs on any number of ranks.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..arrays import Array, Ints, Mask

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .surface import ContactSurface

FACING_NORMALS = -0.2  # largest n_s . n_m of facets that may touch
#: of a cell: deeper a point is not in a facet but behind it, and counts less; closest_point.h
DEPTH_BEHIND = 0.5
DEPTH_BEHIND_AT_REST = 0.25  # the same of one body in the reference


class FacetShapes:
    """Facets of a surface in some positions: polynomials of them and normals, balls around them.

    What is asked for is made once; pairs of facets are rows of these.

    Attributes
    ----------
    surface, facets : of which, ascending numbers (k,).
    x : vectors of the nodes.
    """

    def __init__(self, surface: ContactSurface, x: Array, facets: Ints) -> None:
        self.surface, self.x, self.facets = surface, x, facets

    @cached_property
    def P(self) -> Array:
        """`ContactSurface.polynomials`."""
        return self.surface.polynomials(self.x, self.facets)

    @cached_property
    def Q(self) -> Array:
        """`ContactSurface.normals`."""
        return self.surface.normals(self.x, self.facets)

    @cached_property
    def _bounds(self) -> tuple[Array, Array, Array, Array]:
        """Lowest and highest corners of boxes around the facets; centres and radii of balls."""
        parts: list[tuple[Array, Array, Array, Array]] = []
        for patch, own in self.surface.by_patch(self.facets):
            x = np.asarray(patch.sampled @ patch.elements(self.x, own))  # places all over them
            centre = x.mean(axis=1)
            radius = np.linalg.norm(x - centre[:, None], axis=2).max(axis=1)
            parts.append((x.min(axis=1), x.max(axis=1), centre, radius))
        low, high, centre, radius = (np.concatenate(part) for part in zip(*parts, strict=True))
        return low, high, centre, radius

    @property
    def box(self) -> tuple[Array, Array]:
        """Lowest and highest corners (k, 3) of boxes around the facets."""
        return self._bounds[:2]

    @property
    def centre(self) -> Array:
        """Centres (k, 3) of balls around the facets."""
        return self._bounds[2]

    @property
    def radius(self) -> Array:
        """Their radii (k,)."""
        return self._bounds[3]

    @cached_property
    def normal(self) -> Array:
        """Normals (k, 3) in the middles."""
        patches = self.surface.patches
        at = np.array([patch.middle for patch in patches])[self.surface.type[self.facets]]
        powers = np.stack([np.ones(len(at)), *at.T, at[:, 0] * at[:, 1]], axis=1)
        n = np.einsum("fk,fka->fa", powers, self.Q)
        size = np.linalg.norm(n, axis=1)
        return np.asarray(n / np.where(size > 0.0, size, 1.0)[:, None])

    @cached_property
    def middle(self) -> Array:
        """Middles (k, 3)."""
        parts = [
            patch.at_places(patch.tables(patch.middle[None])[0], self.x, own)
            for patch, own in self.surface.by_patch(self.facets)
        ]
        return np.concatenate([x[:, 0] for x in parts])

    def closest_points(self, row: Ints, r: Array, beyond: float = 1e-9) -> tuple[Array, Array]:
        """`ContactSurface.closest_points` on these facets, by rows."""
        return self.surface.closest_points(self.P, self.Q, self.facets, row, r, beyond)


class SidesAtRest(NamedTuple):
    """Sides that have a body in common: where they are in the reference, and of what bodies.

    Attributes
    ----------
    x : vectors of the nodes of the side that has points and of the one opposite.
    bodies : numbers of the bodies of their facets, by type; joined bodies are one.
    """

    x: tuple[Array, Array]
    bodies: tuple[Ints, Ints]

    def same(self, surfaces: tuple[ContactSurface, ContactSurface], a: Ints, b: Ints) -> Mask:
        """Return which pairs of facets (n,) are of one body."""
        (s, m), (one, other) = surfaces, self.bodies
        return np.asarray(one[s.type[a]] == other[m.type[b]])


def in_parts(surface: ContactSurface, x: Array, most: int = 1 << 13) -> Iterator[FacetShapes]:
    """Give all facets at vectors of the nodes, so many at a time."""
    for first in range(0, surface.size, most):
        yield FacetShapes(surface, x, np.arange(first, min(first + most, surface.size)))


def radii(surface: ContactSurface, x: Array) -> Array:
    """Return the radii (F,) of balls around all facets."""
    return np.concatenate([part.radius for part in in_parts(surface, x)])


def close(
    surfaces: tuple[ContactSurface, ContactSurface], x: tuple[Array, Array], margin: float
) -> Ints:
    """Return the pairs (k, 2) whose boxes are closer than `margin`, sorted.

    This rank's facets that have points, and facets opposite.

    Facets of very different sizes: a tree for each power of two of the radius. The largest one is
    that of all facets, so that a pair does not depend on which others a rank looks at.
    """
    from scipy.spatial import cKDTree  # half a second to import

    (one, other), pairs = surfaces, [np.zeros((0, 2), dtype=np.int64)]
    s = FacetShapes(one, x[0], one.mine)
    low, high = s.box
    first, last = low.min(axis=0, initial=np.inf), high.max(axis=0, initial=-np.inf)
    radius, near = np.zeros(0), np.zeros(0, dtype=np.int64)
    for part in in_parts(other, x[1]):
        under, over = part.box
        apart = np.maximum(under - last, first - over).max(axis=1)
        near = np.append(near, part.facets[apart <= margin])
        radius = np.append(radius, part.radius)
    m = FacetShapes(other, x[1], near)
    under, over = m.box
    power = np.floor(np.log2(np.maximum(radius, 1e-300)))
    for size in np.unique(power[near]).tolist():
        of = np.flatnonzero(power[near] == size)
        reach = s.radius + radius[power == size].max() + margin
        neighbours = cKDTree(m.centre[of]).query_ball_point(s.centre, reach, return_sorted=True)
        count = np.fromiter(map(len, neighbours), dtype=np.int64, count=len(neighbours))
        if count.sum():
            a = np.repeat(np.arange(len(neighbours)), count)
            b = of[np.concatenate([np.asarray(f, dtype=np.int64) for f in neighbours])]
            apart = np.maximum(under[b] - high[a], low[a] - over[b]).max(axis=1)
            pairs.append(np.stack([s.facets[a], near[b]], axis=1)[apart <= margin])
    return in_order(np.concatenate(pairs))


def in_order(pairs: Ints) -> Ints:
    """Return pairs (k, 2) sorted."""
    return np.asarray(pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))])


def share_nodes(s: FacetShapes, m: FacetShapes, a: Ints, b: Ints) -> Mask:
    """Return which pairs of facets (n,) have a node in common."""
    one, other = (
        shapes.surface.ids[shapes.surface.facets[shapes.facets[at]]]
        for shapes, at in ((s, a), (m, b))
    )
    return np.asarray((one[:, :, None] == other[:, None, :]).any(axis=(1, 2)))


def behind(s: FacetShapes, m: FacetShapes, a: Ints, b: Ints, depth: float) -> Mask:
    """Return which facets a are behind the facets b: by more than `depth` of these facets' cells.

    The middle of a has its closest point on b, or within half a facet of it.
    """
    _, g = m.closest_points(b, s.middle[a], beyond=0.5)
    with np.errstate(invalid="ignore"):
        return np.asarray(g < -depth * m.surface.length[m.facets[b]])


def candidates(
    surfaces: tuple[ContactSurface, ContactSurface],
    x: tuple[Array, Array],
    rest: SidesAtRest | None,
    margin: float,
    path: tuple[Array, Array] | None = None,
) -> tuple[Ints, Mask]:
    """Return this rank's pairs of facets (k, 2), sorted, and which of them may touch.

    The others are behind each other in the accepted state: they can be passed, not touched.

    Parameters
    ----------
    surfaces : that have points, and are opposite.
    x : vectors of the nodes in the accepted state.
    rest : where they have a body in common: what is behind each other in the reference, with that
        body in between, never touches.
    margin : distance within which pairs are taken.
    path : vectors of the nodes in the present state, for what they may have come to since.
    """
    pairs = close(surfaces, x, margin)
    if path is not None:
        pairs = np.unique(np.concatenate([pairs, close(surfaces, path, margin)]), axis=0)
    (one, a), (other, b) = (np.unique(part, return_inverse=True) for part in pairs.T)
    a, b = a.ravel(), b.ravel()

    def shapes(x: tuple[Array, Array]) -> tuple[FacetShapes, FacetShapes]:
        return FacetShapes(surfaces[0], x[0], one), FacetShapes(surfaces[1], x[1], other)

    s, m = shapes(x)
    faces = np.einsum("ka,ka->k", s.normal[a], m.normal[b]) < FACING_NORMALS
    if path is not None:
        now, opposite = shapes(path)
        faces |= np.einsum("ka,ka->k", now.normal[a], opposite.normal[b]) < FACING_NORMALS
    a, b = a[faces], b[faces]
    alone = ~share_nodes(s, m, a, b)
    a, b = a[alone], b[alone]
    in_front = ~behind(s, m, a, b, DEPTH_BEHIND)
    if rest is not None:  # these are in the way of each other for ever
        first = ~rest.same(surfaces, one[a], other[b])
        same = np.flatnonzero(~first)
        first[same] = ~behind(*shapes(rest.x), a[same], b[same], DEPTH_BEHIND_AT_REST)
        a, b, in_front = a[first], b[first], in_front[first]
    return np.stack([one[a], other[b]], axis=1), in_front


def motion(x: Array, y: Array) -> float:
    """Return the largest distance of points x (n, 3) from y, less their mean rigid motion."""
    if not len(x):
        return 0.0
    a, b = x - x.mean(axis=0), y - y.mean(axis=0)
    u, _, vt = np.linalg.svd(a.T @ b)
    sign = np.sign(np.linalg.det(u @ vt)) or 1.0
    turn = u @ np.diag([1.0, 1.0, sign]) @ vt
    return float(np.linalg.norm(a @ turn - b, axis=1).max())
