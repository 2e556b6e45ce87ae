# SPDX-License-Identifier: BSD-3-Clause
"""The tangent of nodes, each block of 3 x 3 of its symmetric part once and in single precision."""

from __future__ import annotations

import ctypes
import math
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from ..arrays import Array, Ints32, pointer
from ..errors import SymancfError
from ..runtime import jit
from ..runtime.limits import require_countable
from ..runtime.log import EVENTS
from ..runtime.petsc import PETSc, functions, own
from .form import CellEntities, keeps_nodes
from .matrix import adjacent_vertices, load_pattern
from .rounded import GhostColumns
from .shell import Shell
from .structures import HalfRows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .form import Form
    from .numbering import Numbering

Singles = npt.NDArray[np.float32]

PLAIN_RANGE = 2.0**40  # of the largest entry: what single precision squares without a scale
MAX_PLACE = 255  # of a block in a row that 8 bits hold


class Half:
    r"""Storage of a tangent K whose rows are displacements of nodes (collective).

    Of this rank's nodes i <= j the blocks :math:`K_{ij}` are kept, in single precision; of other
    ranks' nodes, which have their own rows, all. With the rounded blocks :math:`\tilde K_{ij}`
    those on the diagonal are, in double precision, the symmetric part of

    .. math:: \tilde K_{ii} = \sum_j K_{ij} - \sum_{j \ne i} \tilde K_{ij} ,

    so translations are answered as by K: bending of a slender body has far less energy than
    single precision leaves of them. 0.6 kB for a node of hexahedra, where PETSc's AIJ takes 2.9.

    Cells are added directly, see half_tiles.h; products, in double precision, are PETSc's of
    `mat`. `symancf.solve.multigrid` smooths with the same array.

    Where K is not symmetric, as of a pressure that follows an open surface, this is of its
    symmetric part. The skew part :math:`(K - K^T) / 2`, which few cells have, is kept by cells in
    double precision: products have it, and multigrid on the finest level.

    Parameters
    ----------
    forms : with tangents that `keeps_nodes` accepts.

    Attributes
    ----------
    mat : PETSc's matrix, of type shell, with products and a diagonal.
    nodes : with rows, of this rank.
    start, column : (nodes + 1,), blocks of rows from the diagonal on.
    off_start, off, ghosts : those of other ranks' nodes, by places in `ghosts`, (k,) global
        numbers of nodes.
    values, off_values, diagonal : entries by `scale`; the diagonal (nodes, 3, 3).
    prescribed : (nodes,) bits of components that are fixed.
    scale : a power of two.
    """

    revision = 0

    def __init__(self, comm: MPI.Comm, numbering: Numbering, forms: Sequence[Form]) -> None:
        self._library = jit.load_runtime(Path(__file__).with_name("half.c"), comm=comm)
        self._library.symancf_half_finish.restype = ctypes.c_double
        self.comm, self.numbering = comm, numbering
        with EVENTS["pattern"]:
            self._number()
            self._build([form for form in forms if form.kernel.has_tangent])
        self.diagonal = np.zeros((self.nodes, 3, 3))
        blocks, others = len(self.column), len(self.off)
        self.values = np.zeros(9 * blocks + 16, dtype=np.float32)
        self.off_values = np.zeros(9 * others + 16, dtype=np.float32)
        self.structure.give(
            node=self._node,
            held=self._bits,
            start=self.start,
            off_start=self.off_start,
            values=self.values,
            off=self.off_values,
            diagonal=self.diagonal,
        )
        self.longest = (3 * int(np.diff(self.start).max(initial=1)) + 31) // 16 * 16
        self._row = np.zeros(2 * self.longest)
        self._largest = 0.0
        self._places: weakref.WeakKeyDictionary[Form, npt.NDArray[np.generic]]
        self._places = weakref.WeakKeyDictionary()
        self._skew: dict[tuple[Form, ...], tuple[Ints32, Array]] = {}
        columns = 3 * self.ghosts[:, None] + np.arange(3)
        self._others = None if comm.size == 1 else GhostColumns(comm, numbering, columns.ravel())
        reference = weakref.ref(self)

        def multiply(x: int, y: int) -> None:
            half = reference()
            assert half is not None
            half._multiply(ctypes.c_void_p(x), ctypes.c_void_p(y))

        def take_diagonal(d: int) -> None:
            half, to = reference(), ctypes.c_void_p()
            assert half is not None
            functions.VecGetArray(ctypes.c_void_p(d), ctypes.byref(to))
            entries = half.scale * half.diagonal.diagonal(axis1=1, axis2=2)
            ctypes.memmove(to, pointer(np.ascontiguousarray(entries)), entries.nbytes)
            functions.VecRestoreArray(ctypes.c_void_p(d), ctypes.byref(to))

        self._shell = Shell(numbering, multiply, take_diagonal)
        self.mat: PETSc.Mat = self._shell.mat
        own(comm, self.mat, self)

    def _number(self) -> None:
        """Number the nodes of this rank, then ghosts."""
        numbering, rows = self.numbering, self.numbering.row_count
        there = rows > 0
        self.nodes = numbering.rows // 3
        owned = numbering.owned_vertices
        node = np.full(numbering.vertices, -1, dtype=np.int32)
        mine = np.flatnonzero(there[:owned])
        node[mine] = numbering.vertex_row[mine] // 3
        theirs = owned + np.flatnonzero(there[owned:])
        self.ghosts, place = np.unique(numbering.first_column[theirs] // 3, return_inverse=True)
        node[theirs] = self.nodes + place.ravel()
        start = numbering.offset[:, numbering.block("position")]
        held = np.zeros(numbering.vertices, dtype=np.uint8)
        fixed = numbering.fixed_by[start[there][:, None] + np.arange(3)] >= 0
        held[there] = fixed @ np.array([1, 2, 4], dtype=np.uint8)
        self._node, self._bits = node, held
        self.prescribed = held[mine]
        self.structure = HalfRows(nodes=self.nodes, scale=1.0)

    def _build(self, forms: Sequence[Form]) -> None:
        numbering = self.numbering
        begin, adjacent = adjacent_vertices(load_pattern(self.comm), numbering, forms)
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
        corners = form.vertices.size // max(1, form.size)
        kind = np.uint16 if self.wide else np.uint8
        places: npt.NDArray[np.generic]
        places = np.zeros((form.size, corners * (corners - 1) // 2), dtype=kind)
        vertices = np.ascontiguousarray(form.vertices, dtype=np.int32)
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
            assert isinstance(forms[0].entities, CellEntities)
            corners = forms[0].entities.blocks.shape[1]
            vertices = np.concatenate([form.vertices.reshape(-1, corners) for form in forms])
            node, bits = self._node[vertices], self._bits[vertices]
            rows = 3 * node[..., None] + np.arange(3, dtype=np.int32)
            held = (bits[..., None] >> np.arange(3) & 1).astype(bool) | (node < 0)[..., None]
            rows[held] = -1
            width = 3 * corners
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

    def finish(self) -> None:
        """Find the diagonal, and tell PETSc that the values are new."""
        column, bits = self.column, self.prescribed
        self._largest = self._library.symancf_half_finish(
            ctypes.byref(self.structure), pointer(column), pointer(bits) if bits.any() else None
        )
        self.mat.stateIncrease()

    @property
    def error(self) -> BaseException | None:
        """What a product raised, if any."""
        return self._shell.error

    def _multiply(self, x: ctypes.c_void_p, y: ctypes.c_void_p) -> None:
        source, to = ctypes.c_void_p(), ctypes.c_void_p()
        data, library = ctypes.byref(self.structure), self._library
        if self._others is not None:
            self._others.begin(x)
        functions.VecGetArrayRead(x, ctypes.byref(source))
        functions.VecGetArray(y, ctypes.byref(to))
        room = pointer(self._row), self.longest
        library.symancf_half_multiply(data, pointer(self.column), source, *room, to)
        ghosts = None
        if self._others is not None:
            ghosts = self._others.end(x)
            library.symancf_half_add(data, pointer(self.off), ghosts, to)
        for rows, values in self.skew_parts:
            sizes, arrays = rows.shape, (pointer(rows), pointer(values))
            row = np.empty(max(1, rows.shape[1]))
            library.symancf_half_skew(data, *sizes, *arrays, source, ghosts, pointer(row), to)
        functions.VecRestoreArrayRead(x, ctypes.byref(source))
        functions.VecRestoreArray(y, ctypes.byref(to))
