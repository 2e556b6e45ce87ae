# SPDX-License-Identifier: BSD-3-Clause
"""Places as a system has found them: where they are and which vertices they depend on."""

from __future__ import annotations

from dataclasses import dataclass, field
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


@dataclass(frozen=True)
class Resolved:
    """K places of an end in the layout of a system.

    Attributes
    ----------
    X : (K, 3) reference positions.
    vertices : (K, nv) global ids of the vertices on which each depends.
    within : (K, d) coordinates in the cell, the facet or the frame of the body that holds each.
    weight : (K,) of a rule of quadrature on the unit facet; else none.
    group : (K,) number of the group of each, where the end groups its places.
    given : the places of another end that these were made from.
    ids : (K,) numbers among all places of the end.
    """

    X: Array
    vertices: Ints
    within: Array = field(default_factory=lambda: np.zeros((0, 0)))
    weight: Array = field(default_factory=lambda: np.zeros(0))
    group: Ints | None = None
    given: Resolved | None = None
    ids: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def __post_init__(self) -> None:
        if len(self.ids) != len(self.X):
            object.__setattr__(self, "ids", np.arange(len(self.X), dtype=np.int64))

    @property
    def size(self) -> int:
        """Number of places."""
        return len(self.X)

    def take(self, ids: Integers) -> Resolved:
        """Return the places of some numbers (n,); the one place there is stands for all."""
        at = ids if self.size > 1 else np.zeros_like(ids)
        return Resolved(
            self.X[at],
            self.vertices[at],
            self.within[at] if len(self.within) else self.within,
            self.weight[at] if len(self.weight) else self.weight,
            None if self.group is None else self.group[at],
            None if self.given is None else self.given.take(at),
            self.ids[at],
        )
