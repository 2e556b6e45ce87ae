# SPDX-License-Identifier: BSD-3-Clause
"""Where the coordinates of blocks begin at the vertices of a rank."""

from __future__ import annotations

import numpy as np

from ..arrays import Integers, Ints32

Where = int | slice | Integers


class Offsets:
    """Local offsets of blocks at vertices: ``offset[vertices, block]``, -1 where there is none.

    Memory is that of the coordinates there are, whatever the number of blocks: a block that few
    vertices carry is a sorted list.
    """

    def __init__(self, vertices: int, carriers: list[Ints32], starts: list[Ints32]) -> None:
        self.vertices, self.carriers, self._starts = vertices, carriers, starts
        self._dense: dict[int, Ints32] = {}
        for b, (at, start) in enumerate(zip(carriers, starts, strict=True)):
            if 4 * len(at) >= vertices:
                self._dense[b] = self._column(at, start)

    @property
    def nbytes(self) -> int:
        """Bytes that are held."""
        lists = sum(a.nbytes for a in (*self.carriers, *self._starts))
        return lists + sum(a.nbytes for a in self._dense.values())

    def _column(self, at: Ints32, start: Ints32) -> Ints32:
        column = np.full(self.vertices, -1, dtype=np.int32)
        column[at] = start
        return column

    def __getitem__(self, key: Where | tuple[Where, int | None]) -> Ints32:
        where, block = key if isinstance(key, tuple) else (key, None)
        if block is None:
            every = [self[where, b] for b in range(len(self.carriers))]
            return np.stack(every, axis=-1)
        dense = self._dense.get(int(block))
        if dense is not None:
            return dense[where]
        at, start = self.carriers[block], self._starts[block]
        if isinstance(where, slice):
            return self._column(at, start)[where]
        positions = np.asarray(where)
        if positions.dtype == bool:
            positions = np.flatnonzero(positions)
        if not len(at):
            return np.full(positions.shape, -1, dtype=np.int32)[()]
        near = np.minimum(np.searchsorted(at, positions), len(at) - 1)
        return np.where(at[near] == positions, start[near], np.int32(-1))[()]
