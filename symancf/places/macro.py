# SPDX-License-Identifier: BSD-3-Clause
r"""Coefficients of macro-cells from what nodes and the middles of edges carry.

An edge carries one vector D, the slope across it at its middle: in the reference the unit vector
in the surface and square to the chord. Both cells at the edge share it, as they share the nodes
and with them the curve of the edge: the tangent planes along the edge are the same from both
sides. Within a cell

.. math:: M = \alpha D + \beta\,r_s(\tfrac12), \qquad
    r_s(\tfrac12) = \tfrac32 (r_j - r_i) - \tfrac14 (r_{s,i} + r_{s,j})

is the derivative towards the point C where its triangles meet, of which alpha and beta are the
components across the chord and along it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..cells.macro import net
from .geometry import arc_slope
from .vectors import unit

if TYPE_CHECKING:
    from ..arrays import Array, Ints


def neighbours(m: int) -> tuple[Ints, Ints]:
    """Return the corners after and before each of m."""
    return np.roll(np.arange(m), -1), np.roll(np.arange(m), 1)


def slopes_across(X: Array, normals: Array, ids: Ints) -> Array:
    """Return D (n, m, 3) of the edges of cells with corners X and normals (n, m, 3).

    They are on the left of the edge, seen along it from the lower to the higher of the `ids`
    (n, m) of its ends, with the normals towards the eye.
    """
    after, _ = neighbours(X.shape[1])
    chord = unit(X[:, after] - X)
    chord = np.where((ids[:, after] > ids)[..., None], chord, -chord)
    return unit(np.cross(normals + normals[:, after], chord))


def inner_point(X: Array) -> tuple[Array, Array]:
    """Return C (n, 3) of cells with corners X (n, m, 3), and the weights (n, m, 2) of `net`."""
    n, m, _ = X.shape
    if m == 3:
        return X.mean(axis=1), np.full((n, m, 2), 1.0 / 3.0)
    first, second = X[:, 2] - X[:, 0], X[:, 3] - X[:, 1]
    normal = np.cross(first, second)
    area = np.einsum("na,na->n", normal, normal)
    between = X[:, 1] - X[:, 0]
    a = np.einsum("na,na->n", np.cross(between, second), normal) / area  # from 0 to 2
    b = np.einsum("na,na->n", np.cross(between, first), normal) / area  # from 1 to 3
    C = 0.5 * (X[:, 0] + a[:, None] * first + X[:, 1] + b[:, None] * second)
    on = np.stack([1.0 - b, a, b, 1.0 - a], axis=1)  # share of the next corner
    return C, np.stack([1.0 - on, on], axis=2)


def cell_maps(X: Array, normals: Array, basis: Array, D: Array) -> Array:
    """Return the coefficients (n, functions, vectors) of cells as combinations of their vectors.

    Parameters
    ----------
    X, normals, D : (n, m, 3) corners, the surface's unit normals there, slopes across the edges.
    basis : (n, m, 2, 3) slopes of the nodes in the reference, orthonormal.
    """
    n, m, _ = X.shape
    after, before = neighbours(m)
    C, weights = inner_point(X)
    own = np.zeros((n, 4 * m, 4 * m))  # the vectors of `net` from those of nodes and edges
    corner = 3 * np.arange(m)
    own[:, corner, corner] = 1.0
    for k, to in enumerate((after, before), 1):
        chord = X[:, to] - X
        tangent = chord - np.einsum("nva,nva->nv", chord, normals)[..., None] * normals
        along = np.einsum("nva,nvca->nvc", arc_slope(chord, unit(tangent)), basis)
        for c in range(2):
            own[:, corner + k, corner + 1 + c] = along[..., c]
    chord, ends = X[:, after] - X, 3 * after
    to_centre = C[:, None] - 0.5 * (X + X[:, after])
    beta = np.einsum("nva,nva->nv", to_centre, chord) / np.einsum("nva,nva->nv", chord, chord)
    height = to_centre - beta[..., None] * chord
    side = np.sign(np.einsum("nva,nva->nv", height, D))
    alpha = np.einsum("nva,nva->nv", arc_slope(height, side[..., None] * D), D)
    middle = 3 * m + np.arange(m)
    along = 1.5 * (own[:, ends] - own[:, corner])
    along -= 0.25 * (own[:, corner + 1] - own[:, ends + 2])
    own[:, middle] = beta[..., None] * along
    own[:, middle, middle] = alpha
    return net(weights) @ own
