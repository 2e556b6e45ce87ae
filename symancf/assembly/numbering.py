# SPDX-License-Identifier: BSD-3-Clause
"""Which coordinates a rank holds, which of them are free, and which rows they own."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from ..arrays import Array, Integers, Ints, Ints32, Mask
from ..mesh.partition import GhostExchange
from ..runtime.limits import require_countable
from ..runtime.log import EVENTS, logged
from .offsets import Offsets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..mesh.partition import Topology


Kind = Literal[
    "position",
    "direction",
    "angle",
    "sliding",
    "multiplier",
    "state",
    "algebraic",
    "dependent",
    "tie",
]
MOVING: tuple[Kind, ...] = ("position", "direction", "angle", "sliding")

IDLE = int(np.iinfo(np.int32).max)  # in `fixed_by`: a multiplier that nothing can answer
EMPTY = IDLE - 1  # in `fixed_by`: a coordinate in the room of the topology that holds none

# blocks of a body in the plane
POSITION, ANGLE = "planar position", "planar angle"
# of a rigid body, beside "position": its second point, and its two unit vectors
RIGID_POINT, RIGID_AXES = "rigid point", "slopes:rigid"


@dataclass(frozen=True)
class Block:
    """Coordinates of one kind that a vertex may carry, e.g. its position or a body's slopes.

    Attributes
    ----------
    kind : ``position`` (of a point: lengths), ``direction`` (slopes, axes: vectors that turn with
        the body, three numbers each), ``angle`` (about the z-axis), ``sliding`` (of a place along
        a body: a length of the reference, which no rigid motion changes), ``multiplier`` (of a
        constraint), ``state`` (of a term: first order in time), ``algebraic`` (a function of
        the others), ``dependent`` (a point that is one) or ``tie`` (the forces that hold it there,
        as many numbers: their equations say where).
    of : of a block that many terms share, each on vertices of its own: what their rows are
        called, ``of:owner``.
    sums : whether its equations are sums over many places, with the round-off of all.
    """

    name: str
    size: int
    kind: Kind = "position"
    of: str = ""
    sums: bool = False

    @property
    def moves(self) -> bool:
        """Whether these are coordinates of the configuration, of second order in time."""
        return self.kind in MOVING

    @property
    def in_plane(self) -> bool:
        """Whether these are coordinates of a body in the plane."""
        return self.kind == "angle" or (self.kind == "position" and self.size == 2)

    @property
    def is_equation(self) -> bool:
        """Whether the rows are equations to be fulfilled (constraints), not balances of forces."""
        return self.kind in ("multiplier", "algebraic", "tie")

    @property
    def order(self) -> str:
        """What they are in time: ``q``, ``s``, ``lambda`` or ``algebraic``."""
        if self.moves:
            return "q"
        return {"state": "s", "multiplier": "lambda"}.get(self.kind, "algebraic")

    def natural(self, length: float) -> float:
        """Return the size of a change that is large: `length` for positions, 1 for the others."""
        return length if self.kind in ("position", "dependent", "sliding") else 1.0

    def rotated(self, q: Array, axis: Array, centre: Array) -> Array:
        """Return the rates (..., k, size) of values `q`, of this shape, in a rotation by 1.

        `axis` (3,) and `centre` (..., 3). Blocks of two numbers are of the plane z = 0, which only
        rotations about z keep.
        """
        if self.kind == "position" and self.size == 2:
            arm = q - centre[..., None, :2]
            return np.asarray(axis[2] * np.stack([-arm[..., 1], arm[..., 0]], axis=-1))
        x, y, z = axis.tolist()
        turn = np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]])  # axis x r = r turn
        if self.kind in ("position", "dependent"):
            return np.asarray((q - centre[..., None, :]) @ turn)
        if self.kind == "direction":
            return np.asarray(q.reshape(-1, 3) @ turn).reshape(q.shape)
        return np.full(q.shape, float(axis[2]) if self.kind == "angle" else 0.0)

    def translated(self, axis: Array) -> Array:
        """Return the rates (size,) in a translation by 1 along `axis` (3,)."""
        moved = self.kind in ("position", "dependent")
        return np.asarray(axis[: self.size] if moved else np.zeros(self.size))


def multipliers(size: int) -> Block:
    """Return the block of the multipliers of all constraints of `size` equations."""
    return Block(f"multipliers:{size}", size, "multiplier", "lambda")


def states(size: int) -> Block:
    """Return the block of the own states of all terms that have `size` of them."""
    return Block(f"states:{size}", size, "state", "state")


@dataclass(frozen=True)
class RowKind:
    """Rows of one unit: those of a block, or of what one term owns of a shared block.

    Attributes
    ----------
    name : of the block, or ``lambda:constraint``, ``state:controller``, ``pressure:cavity``.
    owner : name of the term; "" for blocks of bodies.
    """

    name: str
    block: Block
    owner: str = ""


_WORDS = {
    "position": "positions",
    POSITION: "positions in the plane",
    ANGLE: "angles",
    RIGID_POINT: "second points of rigid bodies",
    RIGID_AXES: "axes of rigid bodies",
    "lambda:rigidity": "multipliers of rigid bodies",
    "slide": "places along bodies",
    "tensions": "tensions of cords",
}
_PARTS = {
    "lambda": "multipliers",
    "state": "states",
    "lid": "lid",
    "lid force": "forces of the lid",
}


def words_of(kind: str) -> str:
    """Return what people are told of a kind of rows, by its name, e.g. ``"slopes of 'plate'"``.

    >>> words_of("slopes:gradient3"), words_of("lambda:hinge")
    ('slopes', "multipliers of 'hinge'")
    """
    part, _, of = kind.partition(":")
    if kind in _WORDS or not of:
        return _WORDS.get(kind, kind)
    where = " across edges" if part == "slopes" and of.endswith(":across") else ""
    of = of.removesuffix(":across") if where else of
    if re.fullmatch(r"(gradient|tangents)\d", of):  # shared by all bodies with such slopes
        return part + where
    return f"{_PARTS.get(part, part)}{where} of {of!r}"


class VertexTerms:
    """Names of the terms that made vertices, by ranges of vertex ids; equal on all ranks.

    Attributes
    ----------
    names : of the terms, each once for each block.
    blocks : name of the block that each owns a part of.
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self.blocks: list[str] = []
        self._first: list[int] = []
        self._end: list[int] = []
        self._number: list[int] = []
        self._numbers: dict[tuple[str, str], int] = {}

    def add(self, first: int, count: int, name: str, block: str) -> None:
        """Note who made the next `count` vertices; ranges come in ascending order."""
        number = self._numbers.setdefault((name, block), len(self.names))
        if number == len(self.names):
            self.names.append(name)
            self.blocks.append(block)
        self._first.append(first)
        self._end.append(first + count)
        self._number.append(number)

    def of(self, ids: Ints) -> npt.NDArray[np.intp]:
        """Return the number of the owner of each vertex id, -1 where there is none.

        To be read alone where there are no owners at all: without memory.
        """
        if not self._first:
            return np.broadcast_to(np.intp(-1), ids.shape)
        owner = np.full(ids.shape, -1, dtype=np.intp)
        at = np.searchsorted(self._first, ids, side="right") - 1
        inside = (at >= 0) & (ids < np.asarray(self._end)[np.maximum(at, 0)])
        owner[inside] = np.asarray(self._number, dtype=np.intp)[at[inside]]
        return owner


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
    offset : ``offset[vertices, block]``, local offset of a block, -1 where the vertex has none.
    block_of : (coordinates,) number of the block of each coordinate.
    owner : (vertices,) number in `owners` of the term that made the vertex, or -1.
    fixed_by : (coordinates,) number of the `fix` that prescribes it, -1 where it is free.
    rank_in_vertex : (coordinates,) number among those of its vertex with rows, -1 if fixed.
    row : (coordinates,) row on this rank, -1 if fixed or not owned.
    row_count : (vertices,) rows of each local vertex.
    first_column : (vertices,) global column of the vertex's first row.
    prescribed_rows : held rows of this rank.
    block_size : a common divisor of the vertices' numbers of rows.
    revision : number of times that other vertices came into the room of the topology; arrays
        are written in place then.
    """

    def __init__(
        self,
        topology: Topology,
        blocks: Sequence[Block],
        carriers: Sequence[tuple[int, Integers]],
        owners: VertexTerms | None = None,
    ) -> None:
        self.blocks = list(blocks)
        self._number = {block.name: k for k, block in enumerate(self.blocks)}
        self.comm = topology.comm
        self.topology = topology
        self.vertices = len(topology.vertex_ids)
        self.owned_vertices = topology.n_owned
        self.global_vertex = topology.numbers
        self.owners = owners or VertexTerms()
        self.owner = self.owners.of(topology.vertex_ids)
        vertex, number = self._carried(carriers)
        sizes = np.array([block.size for block in self.blocks], dtype=np.int64)[number]
        before = np.concatenate([[0], np.cumsum(sizes)])
        require_countable(self.comm, "coordinates", before[-1])
        count = np.bincount(vertex, weights=sizes, minlength=self.vertices).astype(np.int64)
        self.start = np.concatenate([[0], np.cumsum(count)]).astype(np.int32)
        order = np.argsort(number, kind="stable")
        cut = np.searchsorted(number[order], np.arange(len(self.blocks) + 1))
        at, start = vertex[order].astype(np.int32), before[:-1][order].astype(np.int32)
        parts = list(zip(cut[:-1].tolist(), cut[1:].tolist(), strict=True))
        self.offset = Offsets(
            self.vertices, [at[a:b] for a, b in parts], [start[a:b] for a, b in parts]
        )
        self.block_of = np.repeat(number.astype(np.min_scalar_type(len(self.blocks))), sizes)
        self.coordinates = int(self.start[-1])
        self.widest = int(self.comm.allreduce(int(count.max(initial=0)), op=MPI.MAX))
        self.revision = 0
        self._in_room = np.arange(self.start[self.vertices - topology.room], self.coordinates)
        last = self.vertices - 1 if topology.room else -1
        self._of_room = [k for k, c in enumerate(self.offset.carriers) if len(c) and c[-1] == last]
        self.fix(np.full(self.coordinates, -1, dtype=np.int32))

    def _carried(self, carriers: Sequence[tuple[int, Integers]]) -> tuple[Ints, Ints]:
        """Return the pairs (vertex, block) in order, those of ghosts as their owners say."""
        n = max(1, len(self.blocks))
        none = np.zeros(0, dtype=np.int64)
        keys = [np.asarray(at, dtype=np.int64).ravel() * n + block for block, at in carriers]
        pairs = np.unique(np.concatenate([none, *keys]))
        vertex, block = pairs // n, pairs % n
        if self.comm.size == 1:
            return vertex, block
        first = np.searchsorted(vertex, vertex)  # of the vertex's pairs
        within = np.arange(len(vertex)) - first
        most = self.comm.allreduce(int(within.max(initial=-1)) + 1, op=MPI.MAX)
        table = np.full((self.vertices, max(1, most)), -1, dtype=np.int32)
        table[vertex, within] = block
        table = self.topology.halo.updated(table)
        vertex, within = np.nonzero(table >= 0)
        return vertex, table[vertex, within].astype(np.int64)

    @logged(EVENTS, "numbering")
    def fix(self, fixed_by: Ints32) -> None:
        """Number the rows, with `fixed_by` (coordinates,) right at owned vertices."""
        self.halo = self.topology.halo.spread(self.start)
        self.fixed_by = self.halo.updated(fixed_by)
        self.fixed_by[self._in_room] = EMPTY
        free = self.fixed_by < 0
        self._prescribed = np.flatnonzero(~free)
        self._prescribed_exchange = self.halo.restricted(self._prescribed)
        vertex_of = self.vertex_of
        owned = vertex_of < self.owned_vertices
        width = np.diff(self.start)
        free_count = np.bincount(vertex_of, weights=free, minlength=self.vertices).astype(int)
        full_width = np.where(free_count > 0, width, 0)
        self.block_size = self._common(free_count)
        block_of_whole = self._common(full_width)
        has_row = free
        if block_of_whole > self.block_size:
            self.block_size = block_of_whole
            has_row = free_count[vertex_of] > 0
        before: Ints = np.cumsum(has_row) - has_row
        self.row_count = np.bincount(vertex_of, weights=has_row, minlength=self.vertices).astype(
            np.int32
        )
        first = np.concatenate([[0], np.cumsum(self.row_count)])[:-1]
        self.rank_in_vertex = np.where(free, before - first[vertex_of], -1).astype(np.int32)
        self.row = np.where(free & owned, before, -1).astype(np.int32)
        self.rows = int(self.row_count[: self.owned_vertices].sum())
        require_countable(self.comm, "unknowns", self.rows, in_all=True)
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
        self._has_row: Mask = has_row & owned
        self.prescribed_rows = np.flatnonzero(~free[self._has_row])

    # lists as long as there are coordinates: made anew each time
    @property
    def vertex_of(self) -> Ints32:
        """The vertex of each coordinate (coordinates,)."""
        return np.repeat(np.arange(self.vertices, dtype=np.int32), np.diff(self.start))

    @property
    def free(self) -> Ints:
        """The free coordinates."""
        return np.flatnonzero(self.fixed_by < 0)

    @property
    def free_owned(self) -> Ints:
        """Those of this rank's vertices."""
        return np.flatnonzero(self.row >= 0)

    @property
    def coordinate_of_row(self) -> Ints:
        """The coordinate of each row (rows,) of this rank."""
        return np.flatnonzero(self._has_row)

    @property
    def columns_of_free(self) -> Ints:
        """The columns of the free coordinates (free,)."""
        first = self.first_column[self.vertex_of[self.free]]
        return np.asarray(first + self.rank_in_vertex[self.free], dtype=np.int64)

    # ---- vertices that come and go --------------------------------------------------------------
    def renew(self) -> None:
        """Take up the vertices that the room of the topology holds now (collective).

        A place of the room has coordinates of the blocks that any vertex of a changing list
        carries; those that its vertex does not carry are fixed and stay zero.
        """
        topology = self.topology
        carried = np.zeros((self.vertices, len(self._of_room)), dtype=np.int8)
        for vertices in topology.lent.values():
            for k, block in enumerate(self._of_room):
                carried[vertices, k] = self.offset[vertices, block] >= 0
        topology.halo.update(carried)
        sent, received = (
            {rank: self._listed(vertices, carried[vertices]) for rank, vertices in room.items()}
            for room in (topology.lent, topology.borrowed)
        )
        self.room_halo = GhostExchange(self.comm, self.owned_vertices, {}, {}).extended(
            sent, received
        )
        lasting = topology.lasting.spread(self.start)
        self.halo = lasting.extended(sent, received)
        self.fixed_by[self._in_room], self.rank_in_vertex[self._in_room] = EMPTY, -1
        for by_coordinate in (self.fixed_by, self.rank_in_vertex):
            self.room_halo.update(by_coordinate)
        for by_vertex in (self.row_count, self.first_column):
            topology.halo.update(by_vertex)
        first = self.vertices - topology.room
        self.vertex_row[first:], self.vertex_plain[first:] = -1, 0
        self.row_count[first:][self.global_vertex[first:] < 0] = 0
        if self.owner.flags.writeable:
            self.owner[first:] = self.owners.of(topology.vertex_ids[first:])
        self._prescribed = np.flatnonzero(self.fixed_by >= 0)
        self._prescribed_exchange = self.halo.restricted(self._prescribed)
        self.revision += 1

    def _listed(self, vertices: Ints32, carried: npt.NDArray[np.int8]) -> Ints32:
        """Return the coordinates of the blocks that vertices carry, vertex by vertex."""
        parts = [
            np.where(there[:, None] > 0, self.coordinates_of(block, vertices), -1)
            for block, there in zip(self._of_room, carried.T, strict=True)
        ]
        coordinates = np.concatenate(parts, axis=1).ravel()
        return np.asarray(coordinates[coordinates >= 0], dtype=np.int32)

    @property
    def owned(self) -> int:
        """Number of coordinates of owned vertices, which come first in local vectors."""
        return int(self.start[self.owned_vertices])

    def spread(self, owned: Array, vector: Array) -> None:
        """Write a vector of owned coordinates to a local one, ghosts included (collective)."""
        vector[: len(owned)] = owned
        if self.comm.size > 1:
            self.halo.update(vector)

    def local(self, owned: Array) -> Array:
        """Return a local vector, ghosts included, of a vector of owned coordinates (collective)."""
        vector: Array = np.zeros(self.coordinates)
        self.spread(owned, vector)
        return vector

    def update_prescribed(self, vector: Array) -> None:
        """Bring the held coordinates of ghosts up to date in a local vector (collective)."""
        values = vector[self._prescribed]
        self._prescribed_exchange.update(values)
        vector[self._prescribed] = values

    def update_ghosts(self, vector: Array, which: Integers) -> None:
        """Bring ghosts among some coordinates of a local vector up to date (collective).

        They are the same coordinates on every rank that has them.
        """
        some = np.unique(np.asarray(which, dtype=np.int64))
        values = vector[some]
        self.halo.restricted(some).update(values)
        vector[some] = values

    def _common(self, counts: Ints) -> int:
        """Greatest common divisor of the counts of owned vertices on all ranks (collective)."""
        owned = counts[: self.owned_vertices]
        return math.gcd(*self.comm.allgather(int(np.gcd.reduce(owned, initial=0)))) or 1

    def to_rows(self, local: Array) -> Array:
        """Return a local vector's values in this rank's rows, zeros in those of held ones."""
        rows = local[self._has_row]
        rows[self.prescribed_rows] = 0.0
        return rows

    def from_rows(self, rows: Array, local: Array) -> None:
        """Write the values of this rank's rows to the free coordinates of a local vector."""
        if len(self.prescribed_rows):
            rows = np.delete(rows, self.prescribed_rows)
        local[self.row >= 0] = rows

    def block(self, name: str) -> int:
        """Return the number of the block called `name`."""
        return self._number[name]

    def carriers(self, block: int) -> Ints32:
        """Return the local vertices that carry a block, ascending."""
        return self.offset.carriers[block]

    def coordinates_of(self, block: int, vertices: Integers | None = None) -> Ints32:
        """Return the local offsets (k, size) of a block at `vertices`; default: `carriers`."""
        start = self.offset[self.carriers(block) if vertices is None else vertices, block]
        size = np.arange(self.blocks[block].size, dtype=np.int32)
        return np.asarray(start[..., None] + size, dtype=np.int32)

    def natural(self, length: float, coordinates: Integers | None = None) -> Array:
        """Return the size of a large change of coordinates, default: all; see `Block.natural`."""
        of = self.block_of if coordinates is None else self.block_of[coordinates]
        sizes = np.array([block.natural(length) for block in self.blocks])
        return np.asarray(sizes[of])

    def those(self, *kinds: Kind) -> Mask:
        """Return which coordinates are of some kinds."""
        chosen = np.array([block.kind in kinds for block in self.blocks], dtype=bool)
        return np.asarray(chosen[self.block_of])

    def kind_of_coordinates(self) -> tuple[list[RowKind], npt.NDArray[np.intp]]:
        """Return the kinds of rows, on every rank alike, and the number of each coordinate's.

        Every block of bodies is one kind, and what each term owns of a shared block.
        """
        kinds: list[RowKind] = []
        of_block = np.full(len(self.blocks), -1, dtype=np.intp)
        for number, block in enumerate(self.blocks):
            if not block.of:
                of_block[number] = len(kinds)
                kinds.append(RowKind(block.name, block))
        first = len(kinds)
        of_owner = np.full(len(self.owners.names) + 1, -1, dtype=np.intp)
        for number, (name, shared) in enumerate(
            zip(self.owners.names, self.owners.blocks, strict=True)
        ):
            if shared:
                block = self.blocks[self._number[shared]]
                of_owner[number] = len(kinds)
                kinds.append(RowKind(f"{block.of}:{name}", block, name))
        kind = of_block[self.block_of]
        if len(kinds) > first:
            shared_ones = kind < 0
            kind[shared_ones] = of_owner[self.owner[self.vertex_of[shared_ones]]]
        return kinds, kind

    def kind_of_rows(self) -> tuple[list[RowKind], npt.NDArray[np.intp]]:
        """Return the kinds of rows and the number of the kind of each row of this rank.

        See `kind_of_coordinates`; kinds without rows on any rank are among them.
        """
        kinds, kind = self.kind_of_coordinates()
        return kinds, kind[self.coordinate_of_row]

    def owners_of(self, coordinates: Integers) -> list[str]:
        """Return the names, sorted, of the terms that own some coordinates of this rank."""
        numbers = np.unique(self.owner[self.vertex_of[np.asarray(coordinates, dtype=np.intp)]])
        return sorted({self.owners.names[k] for k in numbers if k >= 0})

    def random(self, seed: int) -> Array:
        """Return numbers in [-1, 1] for all local coordinates: the same on any number of ranks.

        They are a hash of the vertices' original ids.
        """
        key = self.topology.vertex_ids[self.vertex_of].astype(np.uint64, copy=False)
        key *= np.uint64(64)  # in place: as many numbers as there are coordinates
        within = np.arange(self.coordinates)
        within -= self.start[self.vertex_of]
        key += within.view(np.uint64)
        del within
        key += np.uint64((seed + 1) * 0x9E3779B97F4A7C15 % 2**64)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):  # splitmix64
            key ^= key >> np.uint64(shift)
            key *= np.uint64(factor)
        key ^= key >> np.uint64(31)
        numbers: Array = key / np.float64(2**63)
        numbers -= 1.0
        return numbers
