# SPDX-License-Identifier: BSD-3-Clause
"""Well-shaped triangles of a polygon with holes, and their refinement by bisection."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from symancf import ParameterError

from ..interface import Array, Ints, Mask, label, reals

if TYPE_CHECKING:
    from collections.abc import Sequence

Triangles = tuple[Array, Ints]

MAX_TRIANGLE_POINTS = 5000  # points of triangles to begin with


def cross(a: Array, b: Array) -> Array:
    """Return a x b of vectors in the plane, (..., 2)."""
    return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])


def area(ring: Array) -> float:
    """Return the area (counter-clockwise positive) of a ring (n, 2)."""
    return float(cross(ring, np.roll(ring, -1, axis=0)).sum() / 2.0)


def rings(points: npt.ArrayLike, holes: Sequence[npt.ArrayLike]) -> list[Array]:
    """Return the outline (n, 2) counter-clockwise and the holes clockwise, checked.

    Raises
    ------
    ParameterError : no polygons; sides cross or touch; a hole is not inside.
    """
    outlines = []
    for k, given in enumerate((points, *holes)):
        name = "the outline of a section" if k == 0 else f"hole {k} of a section"
        argument = "points" if k == 0 else "holes"
        ring = reals(given)
        if ring.ndim != 2 or ring.shape[1] != 2:
            raise ParameterError(
                f"{name} is {label(given)}: give finite points (n, 2)", asked=argument, given=given
            )
        size = np.ptp(ring, axis=0).max(initial=0.0)
        ring = ring[np.linalg.norm(ring - np.roll(ring, -1, axis=0), axis=1) > 1e-12 * size]
        if len(ring) < 3 or abs(area(ring)) <= 1e-12 * size**2:
            raise ParameterError(
                f"{name} has no area: give at least 3 points, not on one line",
                asked=argument,
                given=area(ring),
            )
        outlines.append(ring if (area(ring) > 0.0) == (k == 0) else ring[::-1])
    _require_apart(outlines)
    for k, hole in enumerate(outlines[1:], 1):
        if not inside(outlines[0], hole[0]) or any(
            inside(other, hole[0]) for j, other in enumerate(outlines[1:], 1) if j != k
        ):
            raise ParameterError(
                f"hole {k} of a section is not inside its outline, or in another",
                asked="holes",
                given=k,
            )
    return outlines


def _require_apart(outlines: list[Array]) -> None:
    """Raise where sides that do not follow each other meet."""
    start = np.concatenate(outlines)
    end = np.concatenate([np.roll(ring, -1, axis=0) for ring in outlines])
    n = len(start)
    first = np.cumsum([0, *map(len, outlines)])
    after = np.arange(n) + 1
    after[first[1:] - 1] = first[:-1]
    for k in range(n):
        others = np.arange(k + 1, n)
        others = others[(after[others] != k) & (others != after[k])]
        hit = others[meet(start[k], end[k], start[others], end[others])]
        if len(hit):
            x, y = start[k], start[hit[0]]
            raise ParameterError(
                f"the sides of a section from ({x[0]:g}, {x[1]:g}) and from ({y[0]:g}, {y[1]:g}) "
                "meet: give a simple polygon, and holes as polygons of their own",
                asked="sides",
                given=(*x, *y),
            )
        folded = cross(end[k] - start[k], end[after[k]] - end[k]) == 0.0
        if folded and (end[k] - start[k]) @ (end[after[k]] - end[k]) < 0.0:
            raise ParameterError(
                f"the outline of a section turns back on itself at ({end[k][0]:g}, {end[k][1]:g})",
                asked="sides",
                given=end[k].tolist(),
            )


def meet(a: Array, b: Array, c: Array, d: Array) -> Mask:
    """Tell whether the segment a b meets those from c to d (n, 2), also at ends."""
    one, two = cross(b - a, c - a), cross(b - a, d - a)
    three, four = cross(d - c, a - c), cross(d - c, b - c)
    apart = (np.maximum(a, b) < np.minimum(c, d)) | (np.maximum(c, d) < np.minimum(a, b))
    return np.asarray((one * two <= 0.0) & (three * four <= 0.0) & ~apart.any(axis=-1))


def inside(ring: Array, x: Array) -> bool:
    """Tell whether a point is inside of a ring, by the sides that a ray meets."""
    a, b = ring, np.roll(ring, -1, axis=0)
    spans = (a[:, 1] > x[1]) != (b[:, 1] > x[1])
    a, b = a[spans], b[spans]
    at = a[:, 0] + (x[1] - a[:, 1]) / (b[:, 1] - a[:, 1]) * (b[:, 0] - a[:, 0])
    return bool((at > x[0]).sum() % 2)


def triangulate(outlines: list[Array]) -> Triangles:
    """Return points (n, 2) and well-shaped triangles (m, 3) of an outline and its holes.

    Delaunay's triangles; sides are halved until they are edges and no point is in their circle,
    and the centres of circles around badly shaped triangles are points, too.

    References
    ----------
    J. Ruppert, Journal of Algorithms 18 (1995) 548-585.
    """
    from scipy.spatial import Delaunay  # half a second to import

    X = np.concatenate(outlines)
    first = np.cumsum([0, *map(len, outlines)])
    after = np.arange(len(X)) + 1
    after[first[1:] - 1] = first[:-1]
    sides, corners, cells = np.stack([np.arange(len(X)), after], axis=1), len(X), None
    while True:
        if cells is None or len(X) < MAX_TRIANGLE_POINTS:
            cells = Delaunay(X).simplices
            cells = np.asarray(cells[_inside(outlines, X, cells)], dtype=np.int64)
            x = X[cells]
            turned = cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]) < 0.0
            cells[turned] = cells[turned][:, ::-1]
        cut = _missing(sides, cells) | _circles(X, sides, X).any(axis=0)
        new = X[:0]
        if not cut.any():
            new = _centres(X, cells, sides, corners)
            within = _circles(X, sides, new)
            cut, new = within.any(axis=0), new[~within.any(axis=1)]
        if not (cut.any() or len(new)) or len(X) > MAX_TRIANGLE_POINTS:
            return X, cells
        middle = len(X) + np.arange(cut.sum())
        halves = [(sides[cut, 0], middle), (middle, sides[cut, 1])]
        X = np.concatenate([X, X[sides[cut]].mean(axis=1), new])
        sides = np.concatenate([sides[~cut], *(np.stack(pair, axis=1) for pair in halves)])


def _inside(outlines: list[Array], X: Array, cells: Ints) -> Mask:
    """Tell which triangles are inside of an outline and outside of its holes, and have an area."""
    x = X[cells]
    doubled = np.abs(cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]))
    longest = np.linalg.norm(np.roll(x, -1, axis=1) - x, axis=2).max(axis=1)
    within = np.array([sum(inside(ring, c) for ring in outlines) == 1 for c in x.mean(axis=1)])
    return np.asarray(within & (doubled > 1e-9 * longest**2))


def _missing(sides: Ints, cells: Ints) -> Mask:
    """Tell which sides are no edges of triangles."""
    edges, _ = numbered(cells)
    key = 1 << 32
    return ~np.isin(np.sort(sides, axis=1) @ [key, 1], edges @ np.array([key, 1]))


def _circles(X: Array, sides: Ints, points: Array) -> Mask:
    """Tell for each of some points (k, n) whether it is in the circle over a side."""
    a, b = X[sides[:, 0]], X[sides[:, 1]]
    size = np.sum((b - a) ** 2, axis=1)
    to_a, to_b = points[:, None] - a, points[:, None] - b
    return np.asarray((to_a * to_b).sum(axis=2) < -1e-9 * size)


def _centres(X: Array, cells: Ints, sides: Ints, corners: int) -> Array:
    """Return centres of circles around triangles with an angle below 20 degrees, some apart.

    Angles between two sides of the outline are what they are.
    """
    x = X[cells]
    edge = np.roll(x, -1, axis=1) - x
    square = (edge**2).sum(axis=2)
    shortest = np.argmin(square, axis=1)
    least = square.min(axis=1)
    u, v = x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]
    d = 2.0 * cross(u, v)
    uu, vv = (u**2).sum(axis=1), (v**2).sum(axis=1)
    to = np.stack([v[:, 1] * uu - u[:, 1] * vv, u[:, 0] * vv - v[:, 0] * uu], axis=1) / d[:, None]
    radius = (to**2).sum(axis=1)
    apex = np.take_along_axis(cells, (shortest[:, None] + 2) % 3, axis=1)[:, 0]
    ends = np.take_along_axis(cells, (shortest[:, None] + np.arange(2)) % 3, axis=1)
    ours = ~_missing(np.stack([apex, ends[:, 0]], axis=1), np.array([[*s, s[0]] for s in sides]))
    ours &= ~_missing(np.stack([apex, ends[:, 1]], axis=1), np.array([[*s, s[0]] for s in sides]))
    bad = np.flatnonzero((radius > 2.1 * least) & ~((apex < corners) & ours))
    bad = bad[np.argsort(-radius[bad], kind="stable")]
    chosen: list[Array] = []
    for k in bad:
        c = x[k, 0] + to[k]
        if all(((c - other) ** 2).sum() > 0.5 * radius[k] for other in chosen):
            chosen.append(c)
    return np.array(chosen).reshape(-1, 2)


def numbered(cells: Ints) -> tuple[Ints, Ints]:
    """Return the edges (k, 2) of triangles, and the numbers (m, 3) of those of each.

    Edge k of a triangle is that from its k-th corner to the next one.
    """
    pairs = np.sort(np.stack([cells, np.roll(cells, -1, axis=1)], axis=2).reshape(-1, 2), axis=1)
    edges, number = np.unique(pairs, axis=0, return_inverse=True)
    return edges, number.reshape(-1, 3)


def bisected(points: Array, cells: Ints, marked: Mask) -> Triangles:
    """Cut marked triangles into four, and neighbours as needed, by bisection of longest edges.

    References
    ----------
    M.-C. Rivara, International Journal for Numerical Methods in Engineering 20 (1984) 745-756.
    """
    X = points[cells]
    length = np.linalg.norm(np.roll(X, -1, axis=1) - X, axis=2)
    longest = np.argmax(np.round(length / length.max(), 12), axis=1)
    cells = np.take_along_axis(cells, (longest[:, None] + np.arange(3)) % 3, axis=1)
    edges, number = numbered(cells)
    cut = np.zeros(len(edges), dtype=bool)
    cut[number[marked]] = True
    while True:
        more = cut[number].any(axis=1) & ~cut[number[:, 0]]
        if not more.any():
            break
        cut[number[more, 0]] = True
    new = np.full(len(edges), -1)
    new[cut] = len(points) + np.arange(cut.sum())
    points = np.concatenate([points, points[edges[cut]].mean(axis=1)])
    (a, b, c), (p, q, r) = cells.T, new[number].T
    at, left, right = p >= 0, r >= 0, q >= 0

    def pick(chosen: Mask, *corners: Ints) -> Ints:
        return np.stack([corner[chosen] for corner in corners], axis=1)

    return points, np.concatenate(
        [
            pick(~at, a, b, c),
            pick(at & ~left, c, a, p),
            pick(at & left, a, p, r),
            pick(at & left, p, c, r),
            pick(at & ~right, b, c, p),
            pick(at & right, p, b, q),
            pick(at & right, c, p, q),
        ]
    )
