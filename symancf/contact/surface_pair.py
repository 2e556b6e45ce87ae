# SPDX-License-Identifier: BSD-3-Clause
"""The surfaces of a pass between deformable sides, and how ranks take contact elements of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array, Ints, Ints32, Mask
from .patch import SurfacePatch, filled, stacked
from .search import FacetShapes, Rest

if TYPE_CHECKING:
    from ..assembly.configuration import Configuration
    from .surface import ContactSurface


class SurfacePair:
    """The two sides of a pass in one system: no step changes them; what steps change is `Active`.

    Attributes
    ----------
    both : of the side that has the points, and of the one opposite.
    bodies : (F,), (G,) numbers of the bodies of facets; joined bodies are one.
    common : whether both sides have one of them in common.
    shapes : in the reference, after `place`.
    """

    shapes: tuple[FacetShapes, FacetShapes]

    def __init__(
        self, both: tuple[ContactSurface, ContactSurface], bodies: tuple[Ints, Ints], common: bool
    ) -> None:
        self.both, self.bodies, self.common = both, bodies, common
        self._last: tuple[FacetShapes, FacetShapes] | None = None

    def place(self, configuration: Configuration) -> None:
        """Find the nodes and the shapes in the numbered configuration (collective)."""
        for surface in self.both:
            surface.place(configuration)
        s, m = (surface.vectors(configuration, configuration.reference) for surface in self.both)
        self.shapes = self.shapes_of((s, m))

    def begin(self) -> None:
        """Give back what searches need of the reference, but of sides with a body in common."""
        if not self.common:
            one, other = self.shapes
            self.shapes = self.shapes_of((one.x, other.x))

    def shapes_at(self, x: tuple[Array, Array]) -> tuple[FacetShapes, FacetShapes]:
        """Return the shapes at vectors of the nodes of both sides; the last ones are known."""
        s, m = self.both
        last = self._last
        if last is None or last[0].x is not x[0] or (s is not m and last[1].x is not x[1]):
            last = self._last = self.shapes_of(x)
        return last

    def shapes_of(self, x: tuple[Array, Array]) -> tuple[FacetShapes, FacetShapes]:
        """Return the shapes at vectors of the nodes of both sides, made anew."""
        s, m = self.both
        one = FacetShapes(s, x[0])
        return one, one if s is m else FacetShapes(m, x[1])

    @property
    def rest(self) -> Rest | None:
        """These of sides with a body in common: what is behind each other there never touches."""
        return Rest(self.shapes, self.bodies) if self.common else None


def contact_elements(
    surfaces: SurfacePair, facets: Ints, element: Ints, opposite: Ints
) -> tuple[Ints, Ints32, Ints32]:
    """Return vertices of contact elements by number, where those begin, and corners (k, nv)."""
    s, m = surfaces.both
    nv, width = s.nodes[facets], len(m.ids)
    keys = element[:, None] * width + m.facets[opposite]
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


def by_patch(surface: ContactSurface, facets: Ints) -> list[tuple[SurfacePatch, Ints]]:
    """Return the patches of a surface, with numbers within each of those of facets (k,)."""
    ends = np.searchsorted(facets, [patch.at.stop for patch in surface.patches])
    parts = np.split(facets, ends[:-1])
    return [
        (patch, own - patch.at.start) for patch, own in zip(surface.patches, parts, strict=True)
    ]


def offsets(configuration: Configuration, surface: ContactSurface, facets: Ints) -> Ints32:
    """Return the local offsets (k, functions) of the vectors of ascending facets."""
    rows = [
        patch.offsets(configuration, surface.numbers[patch.facets[own]])
        for patch, own in by_patch(surface, facets)
    ]
    return np.ascontiguousarray(filled(rows))


def of_points(surface: ContactSurface, facets: Ints) -> tuple[Array, Ints32]:
    """Return what the points of ascending facets (k,) are made of.

    Weights (n, functions) of the vectors of their facets, and (k, functions) the node of each.
    """
    pairs = by_patch(surface, facets)
    value = stacked([patch.weights(own).reshape(-1, patch.basis.functions) for patch, own in pairs])
    node = [
        np.tile(np.arange(patch.basis.functions) // (1 + patch.basis.slopes), (len(own), 1))
        for patch, own in pairs
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
