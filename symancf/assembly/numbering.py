# SPDX-License-Identifier: BSD-3-Clause
"""Which coordinates a rank holds, which of them are free, and which rows they own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

if TYPE_CHECKING:
    from ..partition import Topology

Integers = npt.NDArray[np.int32]

POSITION, ANGLE = "planar position", "planar angle"  # blocks of a body in the plane
# of a rigid body, beside "position": its second point, and its two unit vectors
RIGID_POINT, RIGID_AXES = "rigid point", "slopes:rigid"


@dataclass(frozen=True)
class Block:
    """A kind of coordinates that a vertex may carry, e.g. its position or a body's slopes.

    `order` says what they are: ``q`` second order in time (positions, slopes), ``s`` first
    order (states), ``lambda`` multipliers, ``algebraic`` functions of the others.
    """

    name: str
    size: int
    order: str = "q"


class Numbering:
    """Numbers of the coordinates of one rank.

    A vertex carries some of the system's blocks, in the order of `blocks`; the *local
    vector* holds all coordinates of all local vertices (owned first, then ghosts), fixed
    ones included. Free coordinates of owned vertices are rows of PETSc's vectors. Where this
    gives the vertices a common block size, which multigrid needs, a partly fixed vertex keeps
    rows for its fixed coordinates, too: these *held* rows are decoupled and always zero.

    Attributes
    ----------
    start : (vertices + 1,) first coordinate of each local vertex.
    offset : (vertices, blocks) local offset of each block, -1 where the vertex has none.
    fixed_by : (coordinates,) number of the `fix` that prescribes it, -1 where it is free.
    rank_in_vertex : (coordinates,) number among those of its vertex with rows, -1 if fixed.
    row : (coordinates,) row on this rank, -1 if fixed or not owned.
    row_count : (vertices,) rows of each local vertex.
    first_column : (vertices,) global column of the vertex's first row.
    coordinate_of_row, held_rows : of this rank.
    block_size : a common divisor of the vertices' numbers of rows.
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
        owned = self.vertex_of < self.owned_vertices
        width = np.diff(self.start)
        free_count = np.bincount(self.vertex_of, weights=free, minlength=self.vertices).astype(int)
        whole = np.where(free_count > 0, width, 0)
        self.block_size = self._common(free_count)
        block_of_whole = self._common(whole)
        has_row = free
        if block_of_whole > self.block_size:
            self.block_size = block_of_whole
            has_row = free_count[self.vertex_of] > 0
        before: npt.NDArray[np.int64] = np.cumsum(has_row) - has_row
        self.row_count = np.bincount(
            self.vertex_of, weights=has_row, minlength=self.vertices
        ).astype(np.int32)
        first = np.concatenate([[0], np.cumsum(self.row_count)])[:-1]
        self.rank_in_vertex = np.where(free, before - first[self.vertex_of], -1).astype(np.int32)
        self.row = np.where(free & owned, before, -1).astype(np.int32)
        self.rows = int(self.row_count[: self.owned_vertices].sum())
        rows = self.comm.allgather(self.rows)
        self.size, offset = sum(rows), sum(rows[: self.comm.rank])
        self.first_row = offset
        columns = np.zeros((self.vertices, 1), dtype=np.int64)
        columns[:, 0] = first + offset
        self.first_column = np.ascontiguousarray(self.topology.halo.updated(columns)[:, 0])
        self.vertex_row = np.where(
            np.arange(self.vertices) < self.owned_vertices, first, -1
        ).astype(np.int32)
        self.vertex_plain = (free_count == width).astype(np.uint8)
        self.free = np.flatnonzero(free)
        self.free_owned = np.flatnonzero(free & owned)
        self.coordinate_of_row = np.flatnonzero(has_row & owned)
        if len(self.free_owned) == len(self.free):  # one copy: these are long
            self.free_owned = self.free
        if len(self.coordinate_of_row) == len(self.free_owned):
            self.coordinate_of_row = self.free_owned
        self.held_rows = np.flatnonzero(~free[self.coordinate_of_row])
        self.columns_of_free = (
            self.first_column[self.vertex_of[self.free]] + self.rank_in_vertex[self.free]
        ).astype(np.int64)

    def _common(self, counts: npt.NDArray[np.int64]) -> int:
        """Greatest common divisor of the counts of owned vertices on all ranks (collective)."""
        owned = counts[: self.owned_vertices]
        return math.gcd(*self.comm.allgather(int(np.gcd.reduce(owned, initial=0)))) or 1

    def to_rows(self, local: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return a local vector's values in this rank's rows, zeros in those of held ones."""
        rows = local[self.coordinate_of_row]
        rows[self.held_rows] = 0.0
        return rows

    def from_rows(self, rows: npt.NDArray[np.float64], local: npt.NDArray[np.float64]) -> None:
        """Write the values of this rank's rows to the free coordinates of a local vector."""
        local[self.free_owned] = (
            rows if not len(self.held_rows) else rows[self.row[self.free_owned]]
        )

    def block(self, name: str) -> int:
        """Return the number of the block called `name`."""
        return [block.name for block in self.blocks].index(name)

    def kind_of_rows(self) -> tuple[list[str], npt.NDArray[np.int8]]:
        """Name the kinds of rows and give each row of this rank the number of its kind.

        Kinds are position (forces), slopes, multipliers and states, by block.
        """
        kind = np.zeros(self.coordinates, dtype=np.int8)
        for number in range(len(self.blocks)):
            start = self.offset[:, number]
            for a in range(self.blocks[number].size):
                kind[start[start >= 0] + a] = number
        return [block.name for block in self.blocks], kind[self.coordinate_of_row]

    def random(self, seed: int) -> npt.NDArray[np.float64]:
        """Return numbers in [-1, 1] for all local coordinates: the same on any number of ranks.

        They are a hash of the vertices' original ids.
        """
        within = np.arange(self.coordinates) - self.start[self.vertex_of]
        ids = self.topology.vertex_ids[self.vertex_of]
        key = ids.astype(np.uint64) * np.uint64(64) + within.astype(np.uint64)
        key = key + np.uint64((seed + 1) * 0x9E3779B97F4A7C15 % 2**64)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):  # splitmix64
            key = (key ^ (key >> np.uint64(shift))) * np.uint64(factor)
        key ^= key >> np.uint64(31)
        return np.asarray(key / np.float64(2**63) - 1.0)

    def gather_columns(self, vertices: Any, block: int) -> Integers:
        """Return local offsets of `block` at local `vertices` (any shape)."""
        return np.asarray(self.offset[np.asarray(vertices), block])
