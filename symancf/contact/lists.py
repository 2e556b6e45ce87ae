# SPDX-License-Identifier: BSD-3-Clause
"""What a pass between deformable sides has found in a system, and how ranks take it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array, Ints, Ints32, Mask
from .leaf import Leaf, filled, stacked
from .search import Rest

if TYPE_CHECKING:
    from ..assembly.configuration import Configuration
    from ..runtime import jit
    from .search import Shape
    from .skin import Skin


@dataclass
class Lists:
    """What a pass has found in a system.

    Attributes
    ----------
    skins : of the side that has the points, and of the one opposite.
    area : (F q,) areas of the reference that the points stand for.
    stiffness, overlap : (F q,) of the points; how deep those are in the reference that are let out.
    moduli : of the sides, from which the stiffness was made.
    sunk : the deepest of all points in the reference, in parts of their cells.
    bodies : (F,), (G,) numbers of the bodies of facets; joined bodies are one.
    common : whether both sides have one of them in common.
    reference, accepted : the shapes in the reference and in the accepted state.
    kernel : of the law.
    listed : the positions for which the list was made.
    pairs, near, extra : (k, 2) facets that may touch; with those that are behind each other; of
        which one holds anchors of the other's points, or is beside one that may be touched.
    margin : distance that pairs were looked for in.
    former : the pairs before.
    least : the margin where nothing moves.
    reach : the gap at which the law ends, see `Normal.reach`.
    touching : the gap up to which points press, see `NEAR`.
    """

    skins: tuple[Skin, Skin]
    area: Array
    stiffness: Array
    overlap: Array
    bodies: tuple[Ints, Ints]
    common: bool
    moduli: tuple[Array, Array] | None = None
    reference: tuple[Shape, Shape] | None = None
    kernel: jit.Kernel | None = None
    accepted: tuple[Shape, Shape] | None = None
    listed: tuple[Array, Array] | None = None
    sunk: float = 0.0
    pairs: Ints = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int64))
    near: Ints = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int64))
    extra: Ints = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int64))
    margin: float = 0.0
    former: Ints = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int64))
    least: float = 0.0
    reach: float = 0.0
    touching: float = 0.0

    @property
    def shapes(self) -> tuple[Shape, Shape]:
        """The shapes in the reference, which have been found."""
        assert self.reference is not None
        return self.reference

    @property
    def rest(self) -> Rest | None:
        """These of sides with a body in common: what is behind each other there never touches."""
        return Rest(self.shapes, self.bodies) if self.common else None


def patches(lists: Lists, facets: Ints, patch: Ints, opposite: Ints) -> tuple[Ints, Ints32, Ints32]:
    """Return the numbers of vertices of patches, where those begin, and corners (k, nv)."""
    s, m = lists.skins
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


def joined(x: tuple[Array, Array], y: tuple[Array, Array]) -> tuple[Array, Array]:
    """Return the positions of the nodes of both sides in two states, each (n, 3)."""
    one, other = (np.concatenate([part[:, 0] for part in of]) for of in (x, y))
    return one, other


def among(some: Ints, every: Ints) -> Mask:
    """Return which of some pairs (n,) are among others."""
    width = 1 + max((int(p.max()) for p in (some, every) if len(p)), default=0)
    one, other = (p[:, 0] * width + p[:, 1] for p in (some, every))
    return np.isin(one, other)
