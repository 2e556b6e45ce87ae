# SPDX-License-Identifier: BSD-3-Clause
"""Which facets may touch: pairs that are close, face each other and have nothing in between.

All of it is a function of positions, the same on every rank: what a rank needs it takes of that.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array, Ints, Mask

if TYPE_CHECKING:
    from .skin import Skin

FACING = -0.2  # largest n_s . n_m of facets that may touch
BEHIND = 0.5  # of a cell: deeper a point is not in a facet but behind it
BEHIND_AT_REST = 0.25  # the same of one body in the reference


class Shape:
    """A skin in some positions: facets and normals as polynomials, and balls around facets.

    Attributes
    ----------
    skin : the facets.
    x : vectors of the nodes.
    """

    def __init__(self, skin: Skin, x: Array) -> None:
        self.skin, self.x = skin, x

    @cached_property
    def P(self) -> Array:
        """`Skin.polynomials`."""
        return self.skin.polynomials(self.x)

    @cached_property
    def Q(self) -> Array:
        """`Skin.normals`."""
        return self.skin.normals(self.x)

    @cached_property
    def _sampled(self) -> Array:
        return np.asarray(self.skin.sampled @ self.skin.elements(self.x))

    @cached_property
    def box(self) -> tuple[Array, Array]:
        """Lowest and highest corners (F, 3) of boxes around the facets."""
        return self._sampled.min(axis=1), self._sampled.max(axis=1)

    @cached_property
    def centre(self) -> Array:
        """Centres (F, 3) of balls around the facets."""
        return np.asarray(self._sampled.mean(axis=1))

    @cached_property
    def radius(self) -> Array:
        """Their radii (F,)."""
        away = np.linalg.norm(self._sampled - self.centre[:, None], axis=2)
        return np.asarray(away.max(axis=1))

    @cached_property
    def normal(self) -> Array:
        """Normals (F, 3) in the middles."""
        at = self.skin.middle
        n = np.einsum("k,fka->fa", [1.0, *at, at[0] * at[1]], self.Q)
        size = np.linalg.norm(n, axis=1)
        return np.asarray(n / np.where(size > 0.0, size, 1.0)[:, None])

    @cached_property
    def middle(self) -> Array:
        """Middles (F, 3)."""
        N = self.skin.tables(self.skin.middle[None])[0, 0]
        return np.asarray(np.einsum("i,fia->fa", N, self.skin.elements(self.x)))


def close(s: Shape, m: Shape, margin: float) -> tuple[Ints, Ints]:
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
        found = tree.query_ball_point(s.centre, reach, return_sorted=True)
        count = np.fromiter(map(len, found), dtype=np.int64, count=len(found))
        if count.sum():
            facet = of[np.concatenate([np.asarray(f, dtype=np.int64) for f in found])]
            parts.append(np.stack([np.repeat(np.arange(len(found)), count), facet], axis=1))
    pairs = np.concatenate([np.zeros((0, 2), dtype=np.int64), *parts])
    a, b = pairs.T
    (low, high), (under, over) = s.box, m.box
    apart = np.maximum(under[b] - high[a], low[a] - over[b]).max(axis=1)
    a, b = pairs[apart <= margin].T
    order = np.lexsort((b, a))
    return a[order], b[order]


def share_nodes(s: Skin, m: Skin, a: Ints, b: Ints) -> Mask:
    """Return which pairs of facets (n,) have a node in common."""
    one, other = s.ids[s.facets[a]], m.ids[m.facets[b]]
    return np.asarray((one[:, :, None] == other[:, None, :]).any(axis=(1, 2)))


def behind(s: Shape, m: Shape, a: Ints, b: Ints, depth: float) -> Mask:
    """Return which facets a are behind the facets b: by more than `depth` of these facets' cells.

    The middle of a has its foot on b, or within half a facet of it.
    """
    _, g = m.skin.feet(m.P, m.Q, b, s.middle[a], beyond=0.5)
    with np.errstate(invalid="ignore"):
        return np.asarray(g < -depth * m.skin.length[b])


def candidates(
    s: Shape, m: Shape, rest: tuple[Shape, Shape] | None, margin: float, path: tuple[Shape, Shape]
) -> tuple[Ints, Mask]:
    """Return pairs of facets (k, 2), sorted, one that has points, one opposite; which may touch.

    The others are behind each other in the accepted state: they can be passed, not touched.

    Parameters
    ----------
    s, m : the side that has points and the one opposite, in the accepted state.
    rest : both in the reference, where they are of one body: what is behind each other there, with
        the body in between, never touches.
    margin : distance within which pairs are taken.
    path : both in the present state, for what they may have come to since.
    """
    found = close(s, m, margin)
    if path[0] is not s or path[1] is not m:
        more = np.stack(close(*path, margin), axis=1)
        both = np.unique(np.concatenate([np.stack(found, axis=1), more]), axis=0)
        found = both[:, 0], both[:, 1]
    a, b = found
    faces = np.einsum("ka,ka->k", s.normal[a], m.normal[b]) < FACING
    if path[0] is not s or path[1] is not m:
        faces |= np.einsum("ka,ka->k", path[0].normal[a], path[1].normal[b]) < FACING
    a, b = a[faces], b[faces]
    alone = ~share_nodes(s.skin, m.skin, a, b)
    a, b = a[alone], b[alone]
    kept = ~behind(s, m, a, b, BEHIND)
    if rest is not None:  # these are in the way of each other for ever
        first = ~behind(*rest, a, b, BEHIND_AT_REST)
        a, b, kept = a[first], b[first], kept[first]
    return np.stack([a, b], axis=1), kept


def motion(x: Array, y: Array) -> float:
    """Return the largest distance of points x (n, 3) from y, less their mean rigid motion."""
    if not len(x):
        return 0.0
    a, b = x - x.mean(axis=0), y - y.mean(axis=0)
    u, _, vt = np.linalg.svd(a.T @ b)
    sign = np.sign(np.linalg.det(u @ vt)) or 1.0
    turn = u @ np.diag([1.0, 1.0, sign]) @ vt
    return float(np.linalg.norm(a @ turn - b, axis=1).max())
