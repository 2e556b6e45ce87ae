# SPDX-License-Identifier: BSD-3-Clause
"""Values at some of a rank's vertices, or at other numbers that it knows some of."""

from __future__ import annotations

from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from ..arrays import Integers, Mask

Kind = TypeVar("Kind", bound=np.generic)


class AtVertices(Generic[Kind]):
    """Values at some of a rank's vertices, read and written by local numbers; zero elsewhere.

    The numbers may be those of other things, e.g. of conditions on all ranks.

    Attributes
    ----------
    vertices : (n,) numbers, ascending.
    values : (n, ...) of them.
    """

    def __init__(self, vertices: Integers, values: npt.NDArray[Kind]) -> None:
        self.vertices, self.values = vertices, values

    def _rows(self, at: npt.ArrayLike) -> tuple[Integers, Mask]:
        """Return the rows of local vertices, and which of these are there."""
        wanted = np.asarray(at)
        if not len(self.vertices):
            return np.zeros(wanted.shape, dtype=np.intp), np.zeros(wanted.shape, dtype=bool)
        near = np.minimum(numbers_among(self.vertices, wanted), len(self.vertices) - 1)
        return near, self.vertices[near] == wanted

    def __getitem__(self, at: npt.ArrayLike) -> npt.NDArray[Kind]:
        near, there = self._rows(at)
        if there.all():
            return self.values[near]
        values = np.zeros((*near.shape, *self.values.shape[1:]), dtype=self.values.dtype)
        values[there] = self.values[near[there]]
        return values

    def __setitem__(self, at: npt.ArrayLike, values: npt.ArrayLike) -> None:
        near, there = self._rows(at)
        self.values[near[there]] = np.broadcast_to(values, (*near.shape, *self.values.shape[1:]))[
            there
        ]


def numbers_among(vertices: Integers, wanted: Integers) -> Integers:
    """Return the places of some among ascending vertices, at once where these are all."""
    if vertices[-1] == len(vertices) - 1:
        return wanted
    return np.searchsorted(vertices, wanted)
