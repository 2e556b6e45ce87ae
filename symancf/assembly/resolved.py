# SPDX-License-Identifier: BSD-3-Clause
"""Places as a system has found them: where they are and which vertices they depend on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..values.arrays import Array, Integers, Ints


class Rows(NamedTuple):
    """A jet of places as combinations of local coordinates, one row per non-zero.

    `place` (number within those asked for), `component`, `coordinate` (local offset), `corner`
    (number within the vertices of the place) and `value`.
    """

    place: Integers
    component: Integers
    coordinate: Integers
    corner: Integers
    value: Array


NONE: Array = np.zeros((0, 0))


class Resolved(NamedTuple):
    """K places of an end in the layout of a system.

    Attributes
    ----------
    X : (K, 3) reference positions.
    vertices : (K, nv) global ids of the vertices on which each depends.
    within : (K, d) coordinates in the cell, the facet or the frame of the body that holds each.
    weight : (K,) of a rule of quadrature on the unit facet; else none.
    group : (K,) number of the group of each, where the end groups its places.
    given : the places of another end that these were made from.
    numbers : (K,) among all places of the end; None: they are all.
    """

    X: Array
    vertices: Ints
    within: Array = NONE
    weight: Array = NONE
    group: Ints | None = None
    given: Resolved | None = None
    numbers: Ints | None = None

    @property
    def ids(self) -> Ints:
        """Numbers (K,) among all places of the end."""
        return np.arange(self.size) if self.numbers is None else self.numbers

    @property
    def size(self) -> int:
        """Number of places."""
        return len(self.X)

    def at(self, ids: Integers) -> Integers:
        """Return where the places of some numbers are: the one place there is stands for all."""
        return ids if self.size > 1 else np.zeros_like(ids)

    def take(self, ids: Integers) -> Resolved:
        """Return the places of some numbers (n,); see `at`."""
        at = self.at(ids)
        return Resolved(
            self.X[at],
            self.vertices[at],
            self.within[at] if len(self.within) else self.within,
            self.weight[at] if len(self.weight) else self.weight,
            None if self.group is None else self.group[at],
            None if self.given is None else self.given.take(at),
            self.ids[at],
        )
