# SPDX-License-Identifier: BSD-3-Clause
"""Which coordinates a rank holds, which of them are free, and which rows they own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

if TYPE_CHECKING:
    from .partition import Topology

Integers = npt.NDArray[np.int32]

POSITION, ANGLE = "planar position", "planar angle"  # blocks of a body in the plane


@dataclass(frozen=True)
class Block:
    """A kind of coordinates that a vertex may carry, e.g. its position or a body's slopes.

    `order` says what they are: ``q`` second order in time (positions, slopes), ``s`` first
    order (states), ``lambda`` algebraic (multipliers).
    """

    name: str
    size: int
    order: str = "q"


class Numbering:
    """Numbers of the coordinates of one rank.

    A vertex carries some of the system's blocks, in the order of `blocks`; the *local
    vector* holds all coordinates of all local vertices (owned first, then ghosts), fixed
    ones included. Only free coordinates of owned vertices are rows of PETSc's vectors.

    Attributes
    ----------
    start : (vertices + 1,) first coordinate of each local vertex.
    offset : (vertices, blocks) local offset of each block, -1 where the vertex has none.
    fixed_by : (coordinates,) number of the `fix` that prescribes it, -1 where it is free.
    rank_in_vertex : (coordinates,) number among the free ones of its vertex, -1 if fixed.
    row : (coordinates,) row on this rank, -1 if fixed or not owned.
    first_column : (vertices,) global column of the vertex's first free coordinate.
    """

    def __init__(
        self,
        topology: Topology,
        blocks: Sequence[Block],
        carries: npt.NDArray[np.bool_],
        fixed: npt.NDArray[np.int16] | None = None,
    ) -> None:
        self.blocks = list(blocks)
        self.comm = topology.comm
        self.topology = topology
        self.vertices = len(topology.vertex_ids)
        self.owned_vertices = topology.n_owned
        self.global_vertex = topology.numbers
        carries = topology.halo.updated(carries.astype(np.int8)).astype(bool)
        sizes = np.array([block.size for block in self.blocks], dtype=np.int64)
        widths = carries * sizes
        count = widths.sum(axis=1)
        self.start = np.concatenate([[0], np.cumsum(count)]).astype(np.int32)
        within = np.cumsum(widths, axis=1) - widths
        self.offset: Integers = np.where(carries, self.start[:-1, None] + within, -1).astype(
            np.int32
        )
        self.coordinates = int(self.start[-1])
        self.vertex_of = np.repeat(np.arange(self.vertices, dtype=np.int32), count)
        self.widest = int(self.comm.allreduce(int(count.max(initial=0)), op=MPI.MAX))
        self.fix(np.full(self.coordinates, -1, dtype=np.int16) if fixed is None else fixed)

    def fix(self, fixed_by: npt.NDArray[np.int16]) -> None:
        """Number the rows, with `fixed_by` (coordinates,) right at owned vertices."""
        within = np.arange(self.coordinates) - self.start[self.vertex_of]
        table = np.full((self.vertices, max(1, self.widest)), -1, dtype=np.int16)
        table[self.vertex_of, within] = fixed_by
        table = self.topology.halo.updated(table)
        self.fixed_by = np.ascontiguousarray(table[self.vertex_of, within])
        free = self.fixed_by < 0
        count = np.bincount(self.vertex_of, weights=free, minlength=self.vertices)
        self.free_count = np.ascontiguousarray(count, dtype=np.int32)
        before = np.cumsum(free) - free
        first = np.concatenate([[0], np.cumsum(self.free_count)])[:-1]
        self.rank_in_vertex = np.where(free, before - first[self.vertex_of], -1).astype(np.int32)
        owned = self.vertex_of < self.owned_vertices
        self.row = np.where(free & owned, before, -1).astype(np.int32)
        self.rows = int(self.free_count[: self.owned_vertices].sum())
        self.size = int(self.comm.allreduce(self.rows))
        offset = int(self.comm.exscan(self.rows) or 0)
        self.first_row = offset
        columns = np.zeros((self.vertices, 1), dtype=np.int64)
        columns[:, 0] = first + offset
        self.first_column = np.ascontiguousarray(self.topology.halo.updated(columns)[:, 0])
        self.vertex_row = np.where(
            np.arange(self.vertices) < self.owned_vertices, first, -1
        ).astype(np.int32)
        self.vertex_plain = (self.free_count == np.diff(self.start)).astype(np.uint8)
        self.free = np.flatnonzero(free).astype(np.int32)
        self.free_owned = np.flatnonzero(free & owned).astype(np.int32)
        self.columns_of_free = (
            self.first_column[self.vertex_of[self.free]] + self.rank_in_vertex[self.free]
        ).astype(np.int64)

    def block(self, name: str) -> int:
        """Return the number of the block called `name`."""
        return [block.name for block in self.blocks].index(name)

    @property
    def uniform_block(self) -> int:
        """Common number of free coordinates of all free vertices on all ranks, or 1."""
        owned = self.free_count[: self.owned_vertices]
        present = owned[owned > 0]
        low = int(present.min(initial=np.iinfo(np.int32).max))
        high = int(present.max(initial=0))
        low, high = self.comm.allreduce(low, op=MPI.MIN), self.comm.allreduce(high, op=MPI.MAX)
        return high if low == high else 1

    def kind_of_rows(self) -> tuple[list[str], npt.NDArray[np.int8]]:
        """Name the kinds of rows and give each row of this rank the number of its kind.

        Kinds are position (forces), slopes, multipliers and states, by block.
        """
        kind = np.zeros(self.coordinates, dtype=np.int8)
        for number in range(len(self.blocks)):
            start = self.offset[:, number]
            for a in range(self.blocks[number].size):
                kind[start[start >= 0] + a] = number
        return [block.name for block in self.blocks], kind[self.free_owned]

    def gather_columns(self, vertices: Any, block: int) -> Integers:
        """Return local offsets of `block` at local `vertices` (any shape)."""
        return np.asarray(self.offset[np.asarray(vertices), block])
