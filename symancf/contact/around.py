# SPDX-License-Identifier: BSD-3-Clause
"""Normals at the corners of facets: which facets they are made of, and which have one in common."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Array, Ints
from ..assembly.form import Corners
from .surface_pair import by_patch, joined_ranges, offsets

if TYPE_CHECKING:
    from ..assembly.configuration import Configuration
    from .surface import ContactSurface


class Around:
    """Facets around the normals of a surface.

    A normal is the mean of those of its facets, weighted by area; see normals.h.

    Attributes
    ----------
    number : (F, 4) normals at the corners of facets, those of triangles followed by -1.
    facet, corner : (n,) facets around normals with their corners there, normal by normal.
    first : (N + 1,) where those of each normal begin.
    """

    def __init__(self, surface: ContactSurface) -> None:
        self.surface = surface
        self.number = np.full((surface.size, 4), -1, dtype=np.int64)
        for patch in surface.patches:
            self.number[patch.at, : patch.corners] = patch.group
        facet, corner = np.nonzero(self.number >= 0)
        of = self.number[facet, corner]
        order = np.argsort(of, kind="stable")
        self.facet, self.corner = facet[order], corner[order]
        self.first = np.concatenate([[0], np.cumsum(np.bincount(of, minlength=surface.groups))])

    @cached_property
    def _beside(self) -> Any:
        """Which facets have a normal in common (F, F)."""
        from scipy.sparse import csr_matrix  # half a second to import

        of = np.repeat(np.arange(self.surface.groups), np.diff(self.first))
        shape = self.surface.size, self.surface.groups
        has = csr_matrix((np.ones(len(of), dtype=np.int8), (self.facet, of)), shape=shape)
        neighbours: Any = (has @ has.T).astype(bool)
        return neighbours

    def beside(self, pairs: Ints, size: int) -> Ints:
        """Return pairs (k, 2) of a facet, of `size`, and one beside those opposite in `pairs`."""
        from scipy.sparse import csr_matrix

        ones, shape = np.ones(len(pairs), dtype=bool), (size, self.surface.size)
        some = csr_matrix((ones, (pairs[:, 0], pairs[:, 1])), shape=shape)
        pairs_beside = (some @ self._beside > some).nonzero()
        return np.asarray(np.stack(pairs_beside, axis=1), dtype=np.int64)

    def of(self, configuration: Configuration, facets: Ints, local: Ints) -> Corners:
        """Return the normals of some (k,) of the facets `local` (n,) of a rank, both ascending."""
        surface, (normals, at) = self.surface, np.unique(self.number[facets], return_inverse=True)
        at = at.reshape(-1, 4)
        if len(normals) and normals[0] < 0:
            normals, at = normals[1:], at - 1
        number = np.full((len(local), 4), -1, dtype=np.int32)
        number[np.searchsorted(local, facets)] = at
        span = joined_ranges(self.first[normals], self.first[normals + 1])
        of = np.repeat(np.arange(len(normals)), np.diff(self.first)[normals])
        facet, corner = self.facet[span], self.corner[span]
        row, place, weight = self._entries(facet, corner)
        base = offsets(configuration, surface, local)[np.searchsorted(local, facet)]
        offset = base[row, place].astype(np.int64)
        node = surface.facets[facet[row], place // (1 + surface.slopes[surface.type[facet[row]]])]
        width = 1 + int(offset.max(initial=0))
        vectors, first, vector = np.unique(
            of[row] * width + offset, return_index=True, return_inverse=True
        )
        vertex = configuration.topology.local(surface.numbers[node[first]])
        starts = np.arange(len(normals) + 1)
        return Corners(
            number=number,
            span_start=np.searchsorted(of, starts).astype(np.int32),
            entry_start=np.searchsorted(row, np.arange(len(span) + 1)).astype(np.int32),
            entry_vector=vector.ravel().astype(np.int32),
            entry_weight=weight,
            vector_start=np.searchsorted(vectors // width, starts).astype(np.int32),
            offset=(vectors % width).astype(np.int32),
            vertex=vertex.astype(np.int32),
            ids=normals,
            frozen_normals=np.zeros((len(normals), 3)),
            holds=np.zeros(1, dtype=np.int32),
        )

    def _entries(self, facet: Ints, corner: Ints) -> tuple[Ints, Ints, Array]:
        """Return the vectors of tangents of facets (n,) at corners: row, place, weights (e, 2)."""
        order = np.argsort(facet, kind="stable")
        entries, first = [], 0
        for patch, own in by_patch(self.surface, facet[order]):
            at = order[first : (first := first + len(own))]
            w = patch.spans(own, corner[at])
            row, place = np.nonzero(np.abs(w).max(axis=2) > 1e-12 * np.abs(w).max(initial=0.0))
            entries.append((at[row], place, w[row, place]))
        row, place, weight = (np.concatenate(parts) for parts in zip(*entries, strict=True))
        order = np.argsort(row, kind="stable")
        return row[order], place[order], np.ascontiguousarray(weight[order])
