# SPDX-License-Identifier: BSD-3-Clause
"""Places as a system has found them: where they are and which vertices they depend on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..arrays import Array, Integers, Ints
from ..runtime.collective import lookup


class JetRows(NamedTuple):
    """A jet of places as combinations of local coordinates, one row per non-zero.

    `place` (number within those asked for), `component`, `coordinate` (local offset), `corner`
    (number within the vertices of the place) and `value`.
    """

    place: Integers
    component: Integers
    coordinate: Integers
    corner: Integers
    value: Array


if TYPE_CHECKING:
    from mpi4py import MPI


NONE: Array = np.zeros((0, 0))


class Resolved(NamedTuple):
    """K places of an end in the layout of a system: all, or this rank's share of a region's.

    Attributes
    ----------
    X : (K, 3) reference positions.
    vertices : (K, nv) global ids of the vertices on which each depends.
    within : (K, d) coordinates in the cell, the facet or the frame of the body that holds each.
    weight : (K,) of a rule of quadrature on the unit facet; else none.
    group : (K,) number of the group of each, where the end groups its places.
    source : the places of another end that these were made from.
    numbers : (K,) among all places of the end; None: they are all.
    starts : (ranks + 1,) where the shares of the ranks begin among all places; None: no shares.
    path : of all places of an end that travels, what it finds the next ones on.
    """

    X: Array
    vertices: Ints
    within: Array = NONE
    weight: Array = NONE
    group: Ints | None = None
    source: Resolved | None = None
    numbers: Ints | None = None
    starts: Ints | None = None
    path: Any = None

    @property
    def total(self) -> int:
        """Number of places on all ranks."""
        return len(self.X) if self.starts is None else int(self.starts[-1])

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
            None if self.source is None else self.source.take(at),
            self.ids[at],
        )

    def fetch(self, comm: MPI.Comm, ids: Ints) -> Resolved:
        """Return the places of some numbers (n,), whichever rank has them (collective)."""
        if self.starts is None:
            return self.take(ids)
        width = self.within.shape[1]
        parts = [self.X, self.within.reshape(self.size, width)]
        parts += [self.weight[:, None]] if self.weight.ndim == 1 else []
        reals = lookup(comm, self.starts, ids, np.concatenate(parts, axis=1))
        columns = [self.vertices] if self.group is None else [self.vertices, self.group[:, None]]
        numbers = lookup(comm, self.starts, ids, np.concatenate(columns, axis=1))
        return Resolved(
            reals[:, :3],
            numbers[:, : self.vertices.shape[1]],
            reals[:, 3 : 3 + width],
            reals[:, -1] if self.weight.ndim == 1 else self.weight,
            None if self.group is None else numbers[:, -1],
            None if self.source is None else self.source.fetch(comm, ids),
            ids,
        )

    def shared(self, starts: Ints) -> Resolved:
        """Return the same as a rank's share of places that begin at `starts`."""
        origin = None if self.source is None else self.source.shared(starts)
        return self._replace(source=origin, numbers=None, starts=starts)

    def vertices_of(self, comm: MPI.Comm, ids: Ints, starts: Ints | None) -> Ints:
        """Return the vertices (n, nv) of a rank's share of places, which begins at `starts`."""
        if self.starts is None:
            return self.vertices[self.at(ids)]
        own = starts is not None and bool((self.starts == starts).all())
        return self.vertices if own else self.fetch(comm, ids).vertices

    def everywhere(self, comm: MPI.Comm) -> Resolved:
        """Return all places, on every rank (collective)."""
        return self if self.starts is None else self.fetch(comm, np.arange(self.total))
