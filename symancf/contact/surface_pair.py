# SPDX-License-Identifier: BSD-3-Clause
"""The surfaces of a pass between deformable sides, and which ranks have contact elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array, Integers, Ints, Ints32, Mask
from ..runtime.collective import exchange, owners_of
from .patch import filled, stacked
from .search import FacetShapes, SidesAtRest, in_order

if TYPE_CHECKING:
    from ..assembly.configuration import Configuration
    from ..mesh.partition import Topology
    from .surface import ContactSurface


class SurfacePair:
    """The two sides of a pass in one system: no step changes them; what steps change is `Active`.

    Attributes
    ----------
    both : of the side that has the points, and of the one opposite.
    bodies : numbers of the bodies of their facets, by type; joined bodies are one.
    common : whether both sides have one of them in common.
    """

    def __init__(
        self, both: tuple[ContactSurface, ContactSurface], bodies: tuple[Ints, Ints], common: bool
    ) -> None:
        self.both, self.bodies, self.common = both, bodies, common

    def vectors(self, configuration: Configuration) -> tuple[Array, Array]:
        """Return the present vectors of the nodes of both sides (collective)."""
        s, m = self.both
        one = s.at_state(configuration)
        return one, one if s is m else m.at_state(configuration)

    def reference(self, configuration: Configuration) -> tuple[Array, Array]:
        """Return the vectors of the nodes of both sides in the reference (collective)."""
        s, m = self.both
        one = s.vectors(configuration, configuration.reference)
        return one, one if s is m else m.vectors(configuration, configuration.reference)

    def rest(self, configuration: Configuration) -> SidesAtRest | None:
        """These of sides with a body in common: what is behind each other there never touches.

        (Collective.)
        """
        return SidesAtRest(self.reference(configuration), self.bodies) if self.common else None

    def opposite(self, pairs: Integers, x: Array) -> tuple[FacetShapes, Ints]:
        """Return the facets opposite in pairs (k, 2) at vectors of nodes, and their rows (k,)."""
        facets, row = np.unique(pairs[:, 1], return_inverse=True)
        return FacetShapes(self.both[1], x, facets), row.ravel()

    def spread(self, topology: Topology, *lists: Integers) -> list[Ints32]:
        """Send pairs of facets to the ranks that need them (collective).

        Parameters
        ----------
        lists : pairs (k, 2) each, in any order and on any ranks; together, of all of them, those of
            all contact elements.

        Returns
        -------
        of each list the pairs of this rank, sorted: of contact elements with a vertex of its own.
        """
        (s, m), comm = self.both, topology.comm
        a, b, of = np.concatenate(
            [np.c_[pairs, np.full(len(pairs), k)] for k, pairs in enumerate(lists)]
        ).T
        if comm.size > 1:
            a, b, of = self._to_owners(topology, a, b, of)
            numbers = [s.numbers[s.facets[a]], m.numbers[m.facets[b]]]
            ranks = owners_of(topology.starts, np.concatenate(numbers, axis=1))
            element, rank = np.divmod(np.unique(a[:, None] * comm.size + ranks), comm.size)
            order = np.argsort(a, kind="stable")
            first = np.asarray(np.searchsorted(a, element, "left", order))
            end = np.asarray(np.searchsorted(a, element, "right", order))
            at = order[joined_ranges(first, end)]
            _, (a, b, of) = exchange(comm, np.repeat(rank, end - first), a[at], b[at], of[at])
        pairs = np.stack([a, b], axis=1)
        return [in_order(pairs[of == k]).astype(np.int32) for k, _ in enumerate(lists)]

    def gather(self, topology: Topology, pairs: Integers) -> Ints32:
        """Send pairs to the ranks whose facets have the points; return them sorted (collective)."""
        own = np.stack(self._to_owners(topology, *pairs.T), axis=1)
        return in_order(own).astype(np.int32)

    def _to_owners(self, topology: Topology, a: Integers, *columns: Integers) -> list[Ints]:
        """Send facets with points, and more of them, to the ranks of their first nodes."""
        s = self.both[0]
        owners = owners_of(topology.starts, s.numbers[s.facets[a, 0]])
        return exchange(topology.comm, owners, a, *columns)[1]


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


def offsets(configuration: Configuration, surface: ContactSurface, facets: Ints) -> Ints32:
    """Return the local offsets (k, functions) of the vectors of ascending facets."""
    rows = [
        patch.offsets(configuration, surface.numbers[patch.facets[own]])
        for patch, own in surface.by_patch(facets)
    ]
    return np.ascontiguousarray(filled(rows))


def of_points(surface: ContactSurface, facets: Ints) -> tuple[Array, Ints32]:
    """Return what the points of ascending facets (k,) are made of.

    Weights (n, functions) of the vectors of their facets, and (k, functions) the node of each.
    """
    pairs = surface.by_patch(facets)
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


def places(x: Array) -> Array:
    """Return the positions (U, 3) of nodes, given their vectors (U, 1 + s, 3) or themselves."""
    return np.ascontiguousarray(x[:, 0]) if x.ndim > 2 else x


def among(some: Integers, every: Integers) -> Mask:
    """Return which of some pairs (n,) are among others."""
    width = 1 + max((int(p.max()) for p in (some, every) if len(p)), default=0)
    one, other = (p[:, 0].astype(np.int64) * width + p[:, 1] for p in (some, every))
    return np.isin(one, other)
