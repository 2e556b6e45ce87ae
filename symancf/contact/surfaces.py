# SPDX-License-Identifier: BSD-3-Clause
"""The surfaces of a pass between deformable sides, and how ranks take patches of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array, Ints, Ints32, Mask
from .leaf import Leaf, filled, stacked
from .search import FacetShapes, Rest

if TYPE_CHECKING:
    from ..assembly.configuration import Configuration
    from .skin import Skin


class Surfaces:
    """The two sides of a pass in one system: no step changes them; what steps change is `Active`.

    Attributes
    ----------
    skins : of the side that has the points, and of the one opposite.
    bodies : (F,), (G,) numbers of the bodies of facets; joined bodies are one.
    common : whether both sides have one of them in common.
    shapes : in the reference, after `place`.
    """

    shapes: tuple[FacetShapes, FacetShapes]

    def __init__(self, skins: tuple[Skin, Skin], bodies: tuple[Ints, Ints], common: bool) -> None:
        self.skins, self.bodies, self.common = skins, bodies, common
        self._last: tuple[FacetShapes, FacetShapes] | None = None

    def place(self, configuration: Configuration) -> None:
        """Find the nodes and the shapes in the numbered configuration (collective)."""
        for skin in self.skins:
            skin.place(configuration)
        s, m = (skin.vectors(configuration, configuration.reference) for skin in self.skins)
        self.shapes = self.shapes_of((s, m))

    def shapes_at(self, x: tuple[Array, Array]) -> tuple[FacetShapes, FacetShapes]:
        """Return the shapes at vectors of the nodes of both sides; the last ones are known."""
        s, m = self.skins
        known = self._last
        if known is None or known[0].x is not x[0] or (s is not m and known[1].x is not x[1]):
            known = self._last = self.shapes_of(x)
        return known

    def shapes_of(self, x: tuple[Array, Array]) -> tuple[FacetShapes, FacetShapes]:
        """Return the shapes at vectors of the nodes of both sides, made anew."""
        s, m = self.skins
        one = FacetShapes(s, x[0])
        return one, one if s is m else FacetShapes(m, x[1])

    @property
    def rest(self) -> Rest | None:
        """These of sides with a body in common: what is behind each other there never touches."""
        return Rest(self.shapes, self.bodies) if self.common else None


def patches(
    surfaces: Surfaces, facets: Ints, patch: Ints, opposite: Ints
) -> tuple[Ints, Ints32, Ints32]:
    """Return the numbers of vertices of patches, where those begin, and corners (k, nv)."""
    s, m = surfaces.skins
    nv, width = s.nodes[facets], len(m.ids)
    keys = patch[:, None] * width + m.facets[opposite]
    unique, at = np.unique(keys, return_inverse=True)
    of = unique // width
    first = np.searchsorted(of, np.arange(len(facets)))
    start = np.concatenate([[0], np.cumsum(nv + np.bincount(of, minlength=len(facets)))])
    vertices = np.zeros(int(start[-1]), dtype=np.int64)
    own = np.arange(s.facets.shape[1]) < nv[:, None]
    at_own = start[:-1, None] + np.arange(s.facets.shape[1])
    vertices[at_own[own]] = s.numbers[s.facets[facets]][own]
    within = np.arange(len(unique)) - first[of] + nv[of]
    vertices[start[of] + within] = m.numbers[unique % width]
    corner = within[at.reshape(keys.shape)].astype(np.int32)
    return vertices, start.astype(np.int32), corner


def of_leaves(skin: Skin, facets: Ints) -> list[tuple[Leaf, Ints]]:
    """Return the leaves of a skin, with numbers within each of those of ascending facets (k,)."""
    ends = np.searchsorted(facets, [leaf.at.stop for leaf in skin.leaves])
    parts = np.split(facets, ends[:-1])
    return [(leaf, own - leaf.at.start) for leaf, own in zip(skin.leaves, parts, strict=True)]


def offsets(configuration: Configuration, skin: Skin, facets: Ints) -> Ints32:
    """Return the local offsets (k, functions) of the vectors of ascending facets."""
    found = [
        leaf.offsets(configuration, skin.numbers[leaf.facets[own]])
        for leaf, own in of_leaves(skin, facets)
    ]
    return np.ascontiguousarray(filled(found))


def of_points(skin: Skin, facets: Ints) -> tuple[Array, Ints32]:
    """Return what the points of ascending facets (k,) are made of.

    Weights (n, functions) of the vectors of their facets, and (k, functions) the node of each.
    """
    pairs = of_leaves(skin, facets)
    value = stacked([leaf.weights(own).reshape(-1, leaf.basis.functions) for leaf, own in pairs])
    node = [
        np.tile(np.arange(leaf.basis.functions) // (1 + leaf.basis.slopes), (len(own), 1))
        for leaf, own in pairs
    ]
    return np.ascontiguousarray(value), filled(node).astype(np.int32)


def joined_ranges(start: Ints, end: Ints) -> Ints:
    """Return the numbers from each start (n,) up to its end, one range after the other."""
    count = end - start
    return np.asarray(np.repeat(start - np.cumsum(count) + count, count) + np.arange(count.sum()))


def positions(x: tuple[Array, Array]) -> Array:
    """Return the positions (n, 3) of the nodes of both sides, given their vectors."""
    return np.concatenate([part[:, 0] for part in x])


def among(some: Ints, every: Ints) -> Mask:
    """Return which of some pairs (n,) are among others."""
    width = 1 + max((int(p.max()) for p in (some, every) if len(p)), default=0)
    one, other = (p[:, 0] * width + p[:, 1] for p in (some, every))
    return np.isin(one, other)
