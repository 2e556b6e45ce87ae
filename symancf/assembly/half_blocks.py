# SPDX-License-Identifier: BSD-3-Clause
"""Blocks of a matrix of nodes, of its symmetric part each once and in single precision."""

from __future__ import annotations

import ctypes
import math
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from ..arrays import Array, Ints, Ints32, Mask, pointer
from ..errors import SymancfError
from ..runtime import jit
from ..runtime.limits import require_countable
from ..runtime.log import EVENTS
from .form import CellEntities, Former, keeps_nodes
from .matrix import Matrix, adjacent_vertices, load_pattern
from .structures import HalfRows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .form import Form
    from .numbering import Numbering

Singles = npt.NDArray[np.float32]
Bits = npt.NDArray[np.uint8]

PLAIN_RANGE = 2.0**40  # of the largest entry: what single precision squares without a scale
MAX_PLACE = 255  # of a block in a row that 8 bits hold


@dataclass(frozen=True)
class NodeRows:
    """Nodes that have three rows each.

    Attributes
    ----------
    node : (vertices,) number of each local vertex: of this rank, `count` + place of a ghost, or -1.
    count : those of this rank.
    ghosts : (k,) numbers, over all ranks, of other ranks' nodes.
    bits : (vertices,) bits of the components that are fixed.
    """

    node: Ints32
    count: int
    ghosts: Ints
    bits: Bits

    @classmethod
    def of(cls, numbering: Numbering, chosen: npt.NDArray[np.bool_], bits: Bits) -> NodeRows:
        """Number the `chosen` vertices (vertices,), of each its owner says whether (collective).

        Those of changing lists, in the room of the topology, are none: no cell has them.
        """
        owned = numbering.owned_vertices
        mine = np.flatnonzero(chosen[:owned])
        first = sum(numbering.comm.allgather(len(mine))[: numbering.comm.rank])
        every = np.full((numbering.vertices, 1), -1, dtype=np.int64)
        every[mine, 0] = first + np.arange(len(mine))
        numbering.topology.lasting.update(every)
        theirs = owned + np.flatnonzero(every[owned:, 0] >= 0)
        node = np.full(numbering.vertices, -1, dtype=np.int32)
        node[mine] = np.arange(len(mine))
        ghosts, place = np.unique(every[theirs, 0], return_inverse=True)
        node[theirs] = len(mine) + place.ravel()
        return cls(node, len(mine), ghosts, bits)


def positioned(numbering: Numbering) -> Mask:
    """Return which vertices (vertices,) have displacements."""
    return np.asarray(numbering.offset[:, numbering.block("position")] >= 0)


def nodes_first(numbering: Numbering) -> bool:
    """Tell whether the rows of nodes come before others on this rank."""
    some = numbering.row_count[: numbering.owned_vertices] > 0
    node = positioned(numbering)[: numbering.owned_vertices][some]
    return bool((node[:-1] >= node[1:]).all())


def fixed_bits(numbering: Numbering) -> Bits:
    """Return the bits (vertices,) of fixed displacements; 0 of vertices without rows."""
    there = positioned(numbering) & (numbering.row_count > 0)
    start = numbering.offset[:, numbering.block("position")]
    bits = np.zeros(numbering.vertices, dtype=np.uint8)
    fixed = numbering.fixed_by[start[there][:, None] + np.arange(3)] >= 0
    bits[there] = fixed @ np.array([1, 2, 4], dtype=np.uint8)
    return bits


def nodes_of_cells(form: Form) -> Ints32:
    """Return the local vertices (cells, nodes) of a form that `keeps_nodes` accepts."""
    assert isinstance(form.entities, CellEntities)
    return form.vertices.reshape(form.size, form.entities.blocks.shape[1])


class HalfBlocks:
    r"""Blocks of a matrix K between nodes (collective).

    Of this rank's nodes i <= j the blocks :math:`K_{ij}` are kept, in single precision; of other
    ranks' nodes, which have their own rows, all. With the rounded blocks :math:`\tilde K_{ij}`
    those on the diagonal are, in double precision, the symmetric part of

    .. math:: \tilde K_{ii} = \sum_j K_{ij} - \sum_{j \ne i} \tilde K_{ij} ,

    so translations are answered as by K: bending of a slender body has far less energy than
    single precision leaves of them. 0.6 kB for a node of hexahedra, where PETSc's AIJ takes 2.9.

    Cells are added directly, see half_tiles.h.

    Where K is not symmetric, as of a pressure that follows an open surface, this is of its
    symmetric part. The skew part :math:`(K - K^T) / 2`, which few cells have, is kept by cells in
    double precision.

    Parameters
    ----------
    rows : the nodes.
    cells : local vertices (cells, corners) of the cells of each form, between which blocks are.

    Attributes
    ----------
    nodes : with rows, of this rank.
    start, column : (nodes + 1,), blocks of rows from the diagonal on.
    off_start, off, ghosts : those of other ranks' nodes, by places in `ghosts`, (k,) global
        numbers of nodes.
    values, off_values, diagonal : entries by `scale`; the diagonal (nodes, 3, 3).
    prescribed : (nodes,) bits of components that are fixed.
    scale : a power of two.
    """

    rest: Matrix | None = None  # entries beside these

    def __init__(
        self, comm: MPI.Comm, numbering: Numbering, rows: NodeRows, cells: Mapping[Form, Ints32]
    ) -> None:
        self._library = jit.load_runtime(Path(__file__).with_name("half.c"), comm=comm)
        self._library.symancf_half_finish.restype = ctypes.c_double
        self.comm, self._cells, self._bits = comm, cells, rows.bits
        self.nodes, self.ghosts, self._node = rows.count, rows.ghosts, rows.node
        self.prescribed = rows.bits[: numbering.owned_vertices]
        self.prescribed = self.prescribed[rows.node[: numbering.owned_vertices] >= 0]
        self.structure = HalfRows(nodes=self.nodes, scale=1.0)
        with EVENTS["pattern"]:
            self._build(numbering)
        self.diagonal = np.zeros((self.nodes, 3, 3))
        self.values = np.zeros(9 * len(self.column) + 16, dtype=np.float32)
        self.off_values = np.zeros(9 * len(self.off) + 16, dtype=np.float32)
        self.structure.give(
            node=self._node,
            held=rows.bits,
            start=self.start,
            off_start=self.off_start,
            values=self.values,
            off=self.off_values,
            diagonal=self.diagonal,
        )
        self._largest = 0.0
        self._places: weakref.WeakKeyDictionary[Form, npt.NDArray[np.generic]]
        self._places = weakref.WeakKeyDictionary()
        self._skew: dict[tuple[Form, ...], tuple[Ints32, Array]] = {}

    @property
    def revision(self) -> int:
        """Number of patterns of `rest` that were made before this one."""
        return 0 if self.rest is None else self.rest.revision

    def _build(self, numbering: Numbering) -> None:
        lists = [
            Former(cells, np.arange(0, cells.size + 1, cells.shape[1], dtype=np.int32))
            for cells in self._cells.values()
        ]
        begin, adjacent = adjacent_vertices(load_pattern(self.comm), numbering, lists)
        self.start, self.off_start = np.zeros((2, self.nodes + 1), dtype=np.int32)
        arguments = (
            numbering.owned_vertices,
            self.nodes,
            *map(pointer, (begin, adjacent, self._node, self.start)),
        )
        fill = self._library.symancf_half_pattern
        fill(*arguments, None, pointer(self.off_start), None)
        self.column = np.empty(int(self.start[-1]), dtype=np.int32)
        self.off = np.empty(int(self.off_start[-1]), dtype=np.int32)
        fill(*arguments, pointer(self.column), pointer(self.off_start), pointer(self.off))
        require_countable(self.comm, "entries of the tangent", 9 * len(self.column))
        longest = max(np.diff(start).max(initial=0) for start in (self.start, self.off_start))
        self.wide = bool(longest > MAX_PLACE)

    def places(self, form: Form) -> npt.NDArray[np.generic]:
        """Return the places (entities, pairs) of the nodes of a form's cells, see half.h."""
        known = self._places.get(form)
        if known is not None:
            return known
        if not keeps_nodes(form):
            raise SymancfError(f"the tangent by halves has no places for those of {form.name!r}")
        cells = self._cells[form] if form in self._cells else nodes_of_cells(form)
        vertices = np.ascontiguousarray(cells, dtype=np.int32)
        corners = vertices.shape[1]
        kind = np.uint16 if self.wide else np.uint8
        places: npt.NDArray[np.generic]
        places = np.zeros((form.size, corners * (corners - 1) // 2), dtype=kind)
        missing = self._library.symancf_half_places(
            ctypes.byref(self.structure),
            *map(pointer, (self.column, self.off)),
            form.size,
            corners,
            pointer(vertices),
            int(self.wide),
            pointer(places),
        )
        if missing:
            raise SymancfError(f"matrix pattern: a vertex pair of {form.name!r} is missing")
        self._places[form] = places
        return places

    def skew(self, forms: Sequence[Form]) -> Array:
        """Return the room for the skew parts (entities, 3 corners, 3 corners) of forms."""
        key = tuple(forms)
        if key not in self._skew:
            vertices = np.concatenate([self._cells[form] for form in forms])
            node, bits = self._node[vertices], self._bits[vertices]
            rows = 3 * node[..., None] + np.arange(3, dtype=np.int32)
            fixed = (bits[..., None] >> np.arange(3) & 1).astype(bool) | (node < 0)[..., None]
            rows[fixed] = -1
            width = 3 * vertices.shape[1]
            table = rows.reshape(len(vertices), width)
            self._skew[key] = table, np.zeros((len(vertices), width, width))
        return self._skew[key][1]

    @property
    def skew_parts(self) -> list[tuple[Ints32, Array]]:
        """Numbers of rows of cells, those of ghosts last or -1, and their skew parts."""
        return list(self._skew.values())

    def begin(self) -> None:
        """Forget the skew parts: those of terms that have some are written."""
        for _, values in self.skew_parts:
            values.fill(0.0)

    def both(self) -> tuple[Ints32, Ints32]:
        """Return where rows begin and their columns, with the blocks before the diagonal, too."""
        start = np.empty(self.nodes + 1, dtype=np.int32)
        column = np.empty(2 * len(self.column) - self.nodes, dtype=np.int32)
        of = (self.start, self.column, start, column)
        self._library.symancf_half_both(self.nodes, *map(pointer, of))
        return start, column

    def rescaled(self) -> bool:
        """Take another scale where single precision cannot square the largest entry (collective).

        Tells whether: the tangent is to be written once more then.
        """
        own, plain = self._largest, True
        largest = own if self.comm.size == 1 else self.comm.allreduce(own, MPI.MAX)
        if 0.0 < largest < math.inf:
            plain = 1.0 / PLAIN_RANGE <= largest <= PLAIN_RANGE
        if not plain:
            self.scale *= 2.0 ** math.frexp(largest)[1]
        return not plain

    @property
    def scale(self) -> float:
        """By which entries are divided."""
        return float(self.structure.scale)

    @scale.setter
    def scale(self, scale: float) -> None:
        self.structure.scale = scale

    def clear(self) -> None:
        """Set all entries to zero."""
        for values in (self.values, self.off_values, self.diagonal):
            values.fill(0.0)

    def finish(self) -> None:
        """Find the diagonal: all cells are added."""
        column, bits = self.column, self.prescribed
        self._largest = self._library.symancf_half_finish(
            ctypes.byref(self.structure), pointer(column), pointer(bits) if bits.any() else None
        )
