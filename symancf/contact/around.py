# SPDX-License-Identifier: BSD-3-Clause
"""Normals at the corners of facets: which facets they are made of, and which have one in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Array, Integers, Ints
from ..assembly.form import Corners
from .surface_pair import offsets

if TYPE_CHECKING:
    from ..assembly.configuration import Configuration
    from .surface import ContactSurface


def beside(surface: ContactSurface, pairs: Ints) -> Ints:
    """Return pairs (k, 2) of a facet and one beside those opposite it in `pairs`, which has not it.

    Facets are beside each other that have a normal in common.
    """
    from scipy.sparse import csr_matrix  # half a second to import

    if not len(pairs):
        return pairs
    around, _, of = _around(surface, np.unique(surface.group[np.unique(pairs[:, 1])]))
    facets, at = np.unique(around, return_inverse=True)
    own, row = np.unique(pairs[:, 0], return_inverse=True)
    normals, at, row = np.ones(len(of), dtype=np.int32), at.ravel(), row.ravel()
    has: Any = csr_matrix((normals, (at, of)), shape=(len(facets), surface.groups))
    ones, opposite = np.ones(len(pairs), dtype=np.int32), np.searchsorted(facets, pairs[:, 1])
    some: Any = csr_matrix((ones, (row, opposite)), shape=(len(own), len(facets)))
    a, b = ((some @ has @ has.T).astype(bool) > some.astype(bool)).nonzero()
    return np.asarray(np.stack([own[a], facets[b]], axis=1))


def _around(surface: ContactSurface, normals: Integers) -> tuple[Ints, Ints, Ints]:
    """Return the facets (n,) around some normals, with their corners there, normal by normal.

    And the number of each one's normal.
    """
    chosen = np.zeros(surface.groups + 1, dtype=bool)  # the last one of corners that are none
    chosen[normals[normals >= 0]] = True
    facet, corner = np.nonzero(chosen[surface.group])
    of = surface.group[facet, corner].astype(np.int64)
    order = np.argsort(of, kind="stable")
    return facet[order], corner[order], of[order]


def corners_of(
    configuration: Configuration, surface: ContactSurface, facets: Ints, local: Ints
) -> Corners:
    """Return the normals of some (k,) of the facets `local` (n,) of a rank, both ascending.

    A normal is the mean of those of its facets, weighted by area; see normals.h.
    """
    normals, at = np.unique(surface.group[facets], return_inverse=True)
    at = at.reshape(-1, 4)
    if len(normals) and normals[0] < 0:
        normals, at = normals[1:], at - 1
    number = np.full((len(local), 4), -1, dtype=np.int32)
    number[np.searchsorted(local, facets)] = at
    facet, corner, of = _around(surface, normals)
    of = np.searchsorted(normals, of)
    row, place, weight = _entries(surface, facet, corner)
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
        entry_start=np.searchsorted(row, np.arange(len(facet) + 1)).astype(np.int32),
        entry_vector=vector.ravel().astype(np.int32),
        entry_weight=weight,
        vector_start=np.searchsorted(vectors // width, starts).astype(np.int32),
        offset=(vectors % width).astype(np.int32),
        vertex=vertex.astype(np.int32),
        ids=normals.astype(np.int64),
        frozen_normals=np.zeros((len(normals), 3)),
        holds=np.zeros(1, dtype=np.int32),
    )


def _entries(surface: ContactSurface, facet: Ints, corner: Ints) -> tuple[Ints, Ints, Array]:
    """Return the vectors of tangents of facets (n,) at corners: row, place, weights (e, 2)."""
    order = np.argsort(facet, kind="stable")
    entries, first = [], 0
    for patch, own in surface.by_patch(facet[order]):
        at = order[first : (first := first + len(own))]
        w = patch.spans(own, corner[at])
        row, place = np.nonzero(np.abs(w).max(axis=2) > 1e-12 * np.abs(w).max(initial=0.0))
        entries.append((at[row], place, w[row, place]))
    row, place, weight = (np.concatenate(parts) for parts in zip(*entries, strict=True))
    order = np.argsort(row, kind="stable")
    return row[order], place[order], np.ascontiguousarray(weight[order])
