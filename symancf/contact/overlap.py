# SPDX-License-Identifier: BSD-3-Clause
"""Deformable sides that are refused: joined, or in each other in the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import ConstraintError
from .search import BEHIND, BEHIND_AT_REST, FACING, candidates, close

if TYPE_CHECKING:
    from ..arrays import Array
    from ..assembly.configuration import Layout
    from .lists import Lists
    from .sides import Side

DEPTH = 2.0  # radii of facets: overlaps that are looked for
DEEP = 0.05  # of a cell: facets of curved surfaces overlap so far


def require_apart(contactor: Side, target: Side, layout: Layout) -> None:
    """Raise where two bodies have nodes in common (collective)."""
    if target.body is contactor.body:
        return
    every = [
        np.unique(np.concatenate(layout.comm.allgather(side.facets(layout).vertices.ravel())))
        for side in (contactor, target)
    ]
    common = np.intersect1d(*every)
    if len(common):
        x = layout.fetch_points(common[:1])[0]
        raise ConstraintError(
            f"{contactor.who}: {contactor} and {target} have {len(common)} "
            f"nodes in common, e.g. that at ({x[0]:g}, {x[1]:g}, {x[2]:g}): what is joined "
            "cannot touch; leave these facets out of the regions"
        )


def overlaps(contactor: Side, target: Side, lists: Lists, initial: str | None) -> Array:
    """Return how deep the points of all facets (F q,) lie in facets in the reference.

    The nearest facet within `DEPTH` counts: deeper overlaps are not seen.

    Raises
    ------
    ConstraintError : deeper than `DEEP` cells where nobody said what that means (`initial`), or so
        deep that the points are behind what they are to be pushed out of.
    """
    s, m = lists.shapes
    margin = DEPTH * float(np.mean(m.radius))
    near = np.stack(close(s, m, margin), axis=1)
    if lists.rest is not None:
        near, _ = candidates(s, m, lists.rest, margin, (s, m))
    a, b = near[:, 0], near[:, 1]
    q = len(contactor.weights)
    table = s.skin.tables(contactor.points)[0]
    X = np.einsum("qi,fia->fqa", table, s.skin.elements(s.x)).reshape(-1, 3)
    point, facet = (a[:, None] * q + np.arange(q)).ravel(), np.repeat(b, q)
    _, g = m.skin.feet(m.P, m.Q, facet, X[point])
    order = np.flatnonzero(~np.isnan(g))
    order = order[np.lexsort((np.abs(g[order]), point[order]))]
    found, first = np.unique(point[order], return_index=True)
    at = order[first]
    faces = np.einsum("ka,ka->k", s.normal[found // q], m.normal[facet[at]]) < FACING
    inside = faces & (g[at] < 0.0) & (g[at] > -margin)
    depth = np.zeros(len(X))
    depth[found[inside]] = -g[at[inside]]
    limit = np.full(len(X), np.inf)
    if initial is None:
        limit[found] = DEEP * s.skin.length[found // q]
        remedy = (
            "move one of them, or give initial='press' where that is meant, initial='release' to "
            "let it out gradually"
        )
    else:
        limit[found] = (BEHIND_AT_REST if lists.one else BEHIND) * m.skin.length[facet[at]]
        remedy = (
            f"that is {'a quarter' if lists.one else 'half'} of a cell and more, so that points "
            f"are behind these facets, and initial={initial!r} does not bring them out; move one "
            "of them"
        )
    deep = np.where(depth > limit, depth, 0.0)
    if deep.any():
        k = int(np.argmax(deep))
        raise ConstraintError(
            f"{contactor.who}: in the reference {contactor} lies within {target} by up to "
            f"{deep[k]:.3g}, at ({X[k][0]:g}, {X[k][1]:g}, {X[k][2]:g}); {remedy}"
        )
    return depth
