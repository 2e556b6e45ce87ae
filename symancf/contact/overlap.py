# SPDX-License-Identifier: BSD-3-Clause
"""Deformable sides that are refused: joined, or in each other in the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import ConstraintError
from .search import (
    DEPTH_BEHIND,
    DEPTH_BEHIND_AT_REST,
    FACING_NORMALS,
    FacetShapes,
    candidates,
    close,
)

if TYPE_CHECKING:
    from ..arrays import Array, Ints
    from ..assembly.configuration import Configuration, Layout
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
        numbers[surface.facets] = own[surface.type][:, None]
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


def overlaps(
    surfaces: SurfacePair, configuration: Configuration, size: float, initial: str | None
) -> tuple[Ints, Array]:
    """Return the points that lie in facets in the reference, ascending, and how deep (collective).

    The nearest facet within `SEARCH_DEPTH` counts: deeper overlaps are not seen.

    Parameters
    ----------
    size : mean radius of the facets opposite.
    initial : what an overlap means, see `symancf.Contact`.

    Raises
    ------
    ConstraintError : deeper than `FREE_OVERLAP` cells where nobody said what that means
        (`initial`), or so deep that the points are behind what they are to be pushed out of.
    """
    (s, m), x = surfaces.both, surfaces.reference(configuration)
    margin, rest = SEARCH_DEPTH * size, surfaces.rest(configuration)
    if rest is None:
        near = close((s, m), x, margin)
    else:
        near, _ = candidates((s, m), x, rest, margin)
    facets, row = np.unique(near[:, 0], return_inverse=True)
    one, (other, opposite) = FacetShapes(s, x[0], facets), surfaces.opposite(near, x[1])
    numbers, _ = s.points_of(facets)
    points, of = s.points_of(near[:, 0])
    X, point, facet = s.at_points(x[0], facets), np.searchsorted(numbers, points), opposite[of]
    _, g = other.closest_points(facet, X[point])
    order = np.flatnonzero(~np.isnan(g))
    order = order[np.lexsort((np.abs(g[order]), point[order]))]
    first_points, first = np.unique(point[order], return_index=True)
    at = order[first]
    own, facet = row.ravel()[of[at]], facet[at]
    faces = np.einsum("ka,ka->k", one.normal[own], other.normal[facet]) < FACING_NORMALS
    inside = faces & (g[at] < 0.0) & (g[at] > -margin)
    depth, own, facet = -g[at][inside], facets[own[inside]], other.facets[facet[inside]]
    first_points = first_points[inside]
    itself = np.zeros(len(own), dtype=bool) if rest is None else rest.same((s, m), own, facet)
    if initial is None:
        limit = FREE_OVERLAP * s.length[own]
    else:
        limit = np.where(itself, DEPTH_BEHIND_AT_REST, DEPTH_BEHIND) * m.length[facet]
    found = np.column_stack([numbers[first_points], depth, depth > limit, itself, X[first_points]])
    every = np.concatenate(configuration.comm.allgather(found))
    every = every[np.argsort(every[:, 0])]
    _require_shallow(surfaces, every[every[:, 2] > 0.0], initial)
    return every[:, 0].astype(np.int64), every[:, 1]


def _require_shallow(surfaces: SurfacePair, deep: Array, initial: str | None) -> None:
    """Raise where points lie too deep: rows of number, depth, 1, whether of one body, place."""
    if not len(deep):
        return
    remedy = (
        "move one of them, or give initial='press' where that is intended, "
        "initial='release' to let it out gradually"
    )
    if initial is not None:
        remedy = (
            f"that is {'a quarter' if deep[:, 3].any() else 'half'} of a cell and more, so that "
            f"points are behind these facets, and initial={initial!r} does not bring them out; "
            "move one of them"
        )
    s, m = surfaces.both
    _, depth, _, _, *X = deep[np.argmax(deep[:, 1])]
    raise ConstraintError(
        f"{s.side.who}: in the reference {s.side} lies within {m.side} "
        f"by up to {depth:.3g}, at ({X[0]:g}, {X[1]:g}, {X[2]:g}); {remedy}",
        asked="overlap",
        given=depth,
        possible=("press", "release") if initial is None else (),
    )
