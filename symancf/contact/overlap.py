# SPDX-License-Identifier: BSD-3-Clause
"""Deformable sides that are refused: joined, or in each other in the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import ConstraintError
from .search import DEPTH_BEHIND, DEPTH_BEHIND_AT_REST, FACING_NORMALS, candidates, close

if TYPE_CHECKING:
    from ..arrays import Array
    from ..assembly.configuration import Layout
    from .surface import Side
    from .surface_pair import SurfacePair

SEARCH_DEPTH = 2.0  # radii of facets: overlaps that are looked for
FREE_OVERLAP = 0.05  # of a cell: facets of curved surfaces overlap so far


def numbered(one: Side, other: Side, layout: Layout) -> tuple[list[int], list[int]]:
    """Return a number of the body of each facet set of two sides (collective).

    Bodies of one side that share nodes have the same: they are one body of several elements.
    """
    bodies = list(dict.fromkeys([*one.bodies, *other.bodies]))
    number = {id(body): k for k, body in enumerate(bodies)}
    for side in dict.fromkeys((one, other)):
        for pair in _joined(side, layout):
            a, b = (number[id(side.bodies[k])] for k in pair)
            number = {body: a if k == b else k for body, k in number.items()}
    first, second = (
        [number[id(facet_set.body)] for facet_set in side.facet_sets] for side in (one, other)
    )
    return first, second


def _joined(side: Side, layout: Layout) -> list[list[int]]:
    """Return numbers of two bodies of a side that share nodes, enough of them (collective)."""
    if len(side.bodies) < 2:
        return []
    regions = [body.region for body in side.bodies]
    points = [region.points() + layout.base(region.mesh) for region in regions]
    ids = np.concatenate(points)
    of = np.repeat(np.arange(len(points)), list(map(len, points)))
    order = np.argsort(ids, kind="stable")
    same = np.diff(ids[order]) == 0
    pairs = np.stack([of[order][:-1][same], of[order][1:][same]], axis=1)
    every: list[list[int]] = np.unique(
        np.concatenate(layout.comm.allgather(np.unique(pairs, axis=0))), axis=0
    ).tolist()
    return every


def require_apart(surfaces: SurfacePair, layout: Layout) -> None:
    """Raise where two bodies have nodes in common (collective)."""
    s, m = surfaces.both
    if s is m:
        return
    _, a, b = np.intersect1d(s.ids, m.ids, assume_unique=True, return_indices=True)
    bodies = [np.zeros(len(surface.ids), dtype=np.int64) for surface in (s, m)]
    for numbers, surface, own in zip(bodies, (s, m), surfaces.bodies, strict=True):
        numbers[surface.facets] = own[:, None]
    common = s.ids[a[bodies[0][a] != bodies[1][b]]]
    if len(common):
        x = layout.fetch_points(common[:1])[0]
        raise ConstraintError(
            f"{s.side.who}: {s.side} and {m.side} have {len(common)} "
            f"nodes in common, e.g. that at ({x[0]:g}, {x[1]:g}, {x[2]:g}): what is joined "
            "cannot touch; leave these facets out of the regions, or give both as one side",
            asked="common nodes",
            given=len(common),
        )


def overlaps(surfaces: SurfacePair, initial: str | None) -> Array:
    """Return how deep all points (P,) lie in facets in the reference.

    The nearest facet within `SEARCH_DEPTH` counts: deeper overlaps are not seen.

    Raises
    ------
    ConstraintError : deeper than `FREE_OVERLAP` cells where nobody said what that means
        (`initial`), or so deep that the points are behind what they are to be pushed out of.
    """
    s, m = surfaces.shapes
    margin = SEARCH_DEPTH * float(np.mean(m.radius))
    near = np.stack(close(s, m, margin), axis=1)
    rest = surfaces.rest
    if rest is not None:
        near, _ = candidates(s, m, rest, margin, (s, m))
    point, of = s.surface.points_of(near[:, 0])
    X, facet = s.surface.at_points(s.x), near[of, 1]
    _, g = m.surface.closest_points(m.P, m.Q, facet, X[point])
    order = np.flatnonzero(~np.isnan(g))
    order = order[np.lexsort((np.abs(g[order]), point[order]))]
    first_points, first = np.unique(point[order], return_index=True)
    at = order[first]
    own = s.surface.facet_of[first_points]
    faces = np.einsum("ka,ka->k", s.normal[own], m.normal[facet[at]]) < FACING_NORMALS
    inside = faces & (g[at] < 0.0) & (g[at] > -margin)
    depth = np.zeros(len(X))
    depth[first_points[inside]] = -g[at[inside]]
    limit = np.full(len(X), np.inf)
    itself = np.zeros(len(first_points), dtype=bool) if rest is None else rest.same(own, facet[at])
    if initial is None:
        limit[first_points] = FREE_OVERLAP * s.surface.length[own]
        remedy = (
            "move one of them, or give initial='press' where that is intended, "
            "initial='release' to let it out gradually"
        )
    else:
        limit[first_points] = (
            np.where(itself, DEPTH_BEHIND_AT_REST, DEPTH_BEHIND) * m.surface.length[facet[at]]
        )
        remedy = (
            f"that is {'a quarter' if itself.any() else 'half'} of a cell and more, so that points "
            f"are behind these facets, and initial={initial!r} does not bring them out; move one "
            "of them"
        )
    deep = np.where(depth > limit, depth, 0.0)
    if deep.any():
        k = int(np.argmax(deep))
        raise ConstraintError(
            f"{s.surface.side.who}: in the reference {s.surface.side} lies within {m.surface.side} "
            f"by up to {deep[k]:.3g}, at ({X[k][0]:g}, {X[k][1]:g}, {X[k][2]:g}); {remedy}",
            asked="overlap",
            given=deep[k],
            possible=("press", "release") if initial is None else (),
        )
    return depth
