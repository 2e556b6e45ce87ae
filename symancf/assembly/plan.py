# SPDX-License-Identifier: BSD-3-Clause
"""The plan of all terms: one C call per energy, residual, tangent or tangent-vector product."""

from __future__ import annotations

import ctypes
import weakref
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..runtime import jit
from ..runtime.jit import declare
from ..values.arrays import Array, Mask
from ..values.parameter import depends_on_time, evaluate
from .piece import Cells, Piece

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .matrix import Matrix
    from .numbering import Numbering


LANES = 8
ENERGY, RESIDUAL, TANGENT, PRODUCT = range(4)


class _Term(ctypes.Structure):
    _fields_ = [
        ("tabulated", ctypes.c_int32),
        ("symmetric", ctypes.c_int32),
        ("has_tangent", ctypes.c_int32),
        ("active", ctypes.c_int32),
        ("n", ctypes.c_int32),
        ("cell_rows", ctypes.c_int32),
        ("energy", ctypes.c_void_p),
        ("residual", ctypes.c_void_p),
        ("tangent", ctypes.c_void_p),
        ("product", ctypes.c_void_p),
        ("uniform", ctypes.c_void_p),
        ("cell", ctypes.c_void_p),
        ("owned", ctypes.c_void_p),
        ("vertex_start", ctypes.c_void_p),
        ("vertices", ctypes.c_void_p),
        ("pair_start", ctypes.c_void_p),
        ("positions", ctypes.c_void_p),
        ("corners", ctypes.c_int32),
        ("slopes", ctypes.c_int32),
        ("blocks", ctypes.c_void_p),
        ("maps", ctypes.c_void_p),
        ("rates", ctypes.c_int32),
        ("scalars", ctypes.c_int32),
        ("scalar", ctypes.c_void_p),
        ("jets", ctypes.c_int32),
        ("entry_start", ctypes.c_void_p),
        ("entry_jet", ctypes.c_void_p),
        ("entry_coordinate", ctypes.c_void_p),
        ("entry_vertex", ctypes.c_void_p),
        ("entry_value", ctypes.c_void_p),
        ("entry_column", ctypes.c_void_p),
        ("column_start", ctypes.c_void_p),
        ("column_coordinate", ctypes.c_void_p),
        ("column_vertex", ctypes.c_void_p),
        ("columns", ctypes.c_int32),
    ]


class _Plan(ctypes.Structure):
    _fields_ = [
        ("terms", ctypes.c_int32),
        ("term", ctypes.POINTER(_Term)),
        ("reference", ctypes.c_void_p),
        ("row", ctypes.c_void_p),
        ("rank_in_vertex", ctypes.c_void_p),
        ("vertex_row", ctypes.c_void_p),
        ("owned", ctypes.c_int32),
        ("rows", ctypes.c_int32),
        ("vertex_plain", ctypes.c_void_p),
        ("diagonal_start", ctypes.c_void_p),
        ("off_start", ctypes.c_void_p),
        ("diagonal", ctypes.c_void_p),
        ("off", ctypes.c_void_p),
        ("rate", ctypes.c_void_p),
        ("rate_factor", ctypes.c_void_p),
    ]


def aligned(shape: Sequence[int], values: npt.ArrayLike | None = None) -> Array:
    """Return a 64-byte aligned array of doubles, filled with `values` or zeros."""
    size = int(np.prod(shape))
    raw = np.zeros(size + 8)
    start = (-raw.ctypes.data % 64) // 8
    array: Array = raw[start : start + size].reshape(tuple(shape))
    if values is not None:
        array[...] = values
    return array


def batched(values: Array) -> Array:
    """Reorder per-entity rows (n, k) into batches of lanes (nb, k, 8), repeating the last."""
    n, k = values.shape
    batches = -(-n // LANES)
    if n == 0:
        return aligned((0, k, LANES))
    padded = values[np.minimum(np.arange(batches * LANES), n - 1)]
    return aligned((batches, k, LANES), padded.reshape(batches, LANES, k).transpose(0, 2, 1))


def _pointer(array: npt.NDArray[Any]) -> int:
    return int(array.ctypes.data)


def _limits(library: ctypes.CDLL) -> tuple[int, int]:
    """Return the most nodes of a cell and entries of a block that the runtime can hold.

    Raises
    ------
    RuntimeError : the structures of C are not those that are declared here.
    """
    found = (ctypes.c_int64 * 4)()
    library.symancf_limits(found)
    term, plan, corners, tile = found
    if (term, plan) != (ctypes.sizeof(_Term), ctypes.sizeof(_Plan)):
        raise RuntimeError(
            f"plan.h and plan.py differ: a term has {term} bytes in C and {ctypes.sizeof(_Term)} "
            f"here, a plan {plan} and {ctypes.sizeof(_Plan)}"
        )
    return corners, tile


class Plan:
    """All pieces as one C structure.

    The methods work on local vectors (all coordinates of all local vertices) and return the
    number of quadrature points that left the domain of their law.

    Attributes
    ----------
    revision : number of updates that changed a parameter.
    """

    def __init__(
        self, pieces: Sequence[Piece], numbering: Numbering, reference: Array, comm: Any
    ) -> None:
        self.pieces = list(pieces)
        self.numbering = numbering
        library = jit.load_runtime(Path(__file__).with_name("runtime.c"), comm=comm)
        self._corners, self._tile = _limits(library)
        self._assemble = library.symancf_assemble
        self._assemble.restype = ctypes.c_int64
        address = ctypes.c_void_p
        self._assemble.argtypes = [address, ctypes.c_int, address, address, address, address]
        self.revision = 0
        self._keep: list[Any] = [reference]
        self._uniform: list[Array] = []
        self._cell: list[Array] = []
        self._addresses: dict[int, tuple[weakref.ref[Array], int]] = {}
        self._terms = (_Term * max(1, len(self.pieces)))()
        for term, piece in zip(self._terms, self.pieces, strict=False):
            self._fill(term, piece)
        self._plan = _Plan(
            terms=len(self.pieces),
            term=ctypes.cast(self._terms, ctypes.POINTER(_Term)),
            reference=_pointer(reference),
            row=_pointer(numbering.row),
            rank_in_vertex=_pointer(numbering.rank_in_vertex),
            vertex_row=_pointer(numbering.vertex_row),
            owned=numbering.owned_vertices,
            rows=numbering.rows,
            vertex_plain=_pointer(numbering.vertex_plain),
        )
        self._reference = ctypes.byref(self._plan)

    def _hold(self, array: npt.ArrayLike, dtype: Any) -> int:
        held = np.ascontiguousarray(array, dtype=dtype)
        if held.size == 0:
            held = np.zeros(8, dtype=dtype)
        self._keep.append(held)
        return _pointer(held)

    def _fill(self, term: _Term, piece: Piece) -> None:
        kernel = piece.kernel
        self._set_functions(term, kernel)
        term.tabulated = int(kernel.tabulated)
        term.active = int(piece.active)
        term.n = piece.size
        term.cell_rows = len(kernel.cell)
        uniform = aligned((max(1, len(kernel.uniform)),))
        self._uniform.append(uniform)
        term.uniform = _pointer(uniform)
        cell = batched(piece.cell.reshape(piece.size, len(kernel.cell)))
        self._cell.append(cell)
        term.cell = _pointer(cell)
        term.owned = self._hold(piece.owned, np.uint8)
        term.vertex_start = self._hold(piece.vertex_start, np.int32)
        term.vertices = self._hold(piece.vertices, np.int32)
        term.rates = kernel.uniform.index(declare.RATE_FACTOR) if kernel.rates else -1
        if isinstance(piece.entities, Cells):
            n, corners, _ = piece.entities.blocks.shape
            term.corners = corners
            term.slopes = piece.entities.maps.shape[2] if piece.entities.maps.ndim == 4 else 0
            tile = (3 * (1 + term.slopes)) ** 2
            if corners > self._corners or tile > self._tile:
                raise ValueError(
                    f"{piece.name!r} has cells of {corners} nodes with {term.slopes} slopes; the "
                    f"runtime holds {self._corners} nodes and blocks of {self._tile} entries at "
                    "most (MAX_CORNERS, MAX_TILE in tiles.h)"
                )
            term.blocks = self._hold(piece.entities.blocks, np.int32)
            term.scalars = piece.entities.scalars.shape[1]
            term.scalar = self._hold(piece.entities.scalars, np.int32)
            if term.scalars and kernel.rates:  # its one factor is that of the corners' coordinates
                raise ValueError(f"{piece.name!r} knows rates, so it cannot have scalars")
            maps = piece.entities.maps
            maps = batched(maps.reshape(n, int(np.prod(maps.shape[1:]))))
            self._keep.append(maps)
            term.maps = _pointer(maps)
        else:
            jets = piece.entities
            order = np.argsort(jets.entity, kind="stable")
            start = np.zeros(piece.size + 1, dtype=np.int32)
            np.cumsum(np.bincount(jets.entity, minlength=piece.size), out=start[1:])
            term.jets = kernel.rows
            term.entry_start = self._hold(start, np.int32)
            term.entry_jet = self._hold(jets.jet[order], np.int32)
            term.entry_coordinate = self._hold(jets.coordinate[order], np.int32)
            term.entry_vertex = self._hold(jets.vertex[order], np.int32)
            term.entry_value = self._hold(jets.value[order], np.float64)
            # the coordinates of each entity, each once
            coordinate = np.where(jets.coordinate < 0, ~jets.coordinate, jets.coordinate)[order]
            key = jets.entity[order].astype(np.int64) * self.numbering.coordinates + coordinate
            _, first, column = np.unique(key, return_index=True, return_inverse=True)
            count = np.bincount(jets.entity[order][first], minlength=piece.size)
            begin = np.concatenate([[0], np.cumsum(count)]).astype(np.int32)
            term.entry_column = self._hold(column - begin[jets.entity[order]], np.int32)
            term.column_start = self._hold(begin, np.int32)
            term.column_coordinate = self._hold(coordinate[first], np.int32)
            term.column_vertex = self._hold(jets.vertex[order][first], np.int32)
            term.columns = int(count.max(initial=0))

    @staticmethod
    def _set_functions(term: _Term, kernel: Any) -> None:
        term.symmetric = int(kernel.symmetric)
        term.has_tangent = int(kernel.has_tangent)
        for name in ("energy", "residual", "tangent", "product"):
            setattr(term, name, kernel.addresses.get(name, 0))

    def attach(self, matrix: Matrix, numbers: Sequence[int] | None = None) -> None:
        """Let tangents be written straight into the value arrays of `matrix`.

        `numbers` are those of this plan's pieces among the pieces of the matrix, default: the
        first ones.
        """
        self._keep.append(matrix)
        self._plan.diagonal_start = _pointer(matrix.diagonal_start)
        self._plan.off_start = _pointer(matrix.off_start)
        self._plan.diagonal = _pointer(matrix.diagonal)
        self._plan.off = _pointer(matrix.off)
        chosen = range(len(self.pieces)) if numbers is None else numbers
        for term, number in zip(self._terms, chosen, strict=False):
            pair_start, positions = matrix.positions[number]
            term.pair_start = self._hold(pair_start, np.int64)
            term.positions = self._hold(positions, np.int32)

    def update(self, time: float) -> None:
        """Write the present values of all parameters into the kernels' slots.

        Raises
        ------
        ParameterError : a value is missing or not finite (the same error on every rank), or a
            function of places failed (on the ranks where that happens).
        """
        changed = False
        for piece, slots, cell in zip(self.pieces, self._uniform, self._cell, strict=True):
            if piece.cell_at is not None:
                cell[...] = batched(piece.cell_at(time))
                changed = True
            for k, name in enumerate(piece.kernel.uniform):
                value = time if name == "t" else piece.uniform.get(name)
                number = evaluate(f"{name} of {piece.name!r}", value, time)
                changed = changed or number != slots[k]
                slots[k] = number
        self.revision += changed

    @property
    def calls(self) -> int:
        """Number of calls of kernels in an evaluation: one for every eight entities of a piece."""
        return sum(-(-piece.size // LANES) for piece in self.pieces if piece.active)

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays that the kernels and the assembly read."""
        held = [a for a in self._keep if isinstance(a, np.ndarray)]
        return sum(a.nbytes for a in (*held, *self._uniform, *self._cell))

    @property
    def changes(self) -> bool:
        """Whether a parameter may change while time goes on."""
        return any(
            piece.cell_at is not None
            or "t" in piece.kernel.uniform
            or any(depends_on_time(piece.uniform.get(name)) for name in piece.kernel.uniform)
            for piece in self.pieces
        )

    def assign(self, name: str, value: float) -> None:
        """Write one value into the slots called `name` of all pieces."""
        for piece, slots in zip(self.pieces, self._uniform, strict=True):
            if name in piece.kernel.uniform:
                slots[piece.kernel.uniform.index(name)] = value

    def follow(self, rate: Array | None, factor: Array | None) -> None:
        """Let rates be those of the local vector `rate`, and change with their coordinates.

        `factor` (local vector) is d rate / d coordinate of the time integrator. None: no motion.
        """
        self._motion = rate, factor
        self._plan.rate = None if rate is None else _pointer(rate)
        self._plan.rate_factor = None if factor is None else _pointer(factor)

    def switch(self, name: str, active: bool) -> None:
        """Include or leave out the pieces called `name`."""
        for term, piece in zip(self._terms, self.pieces, strict=False):
            if piece.name == name:
                term.active = int(active)

    @contextmanager
    def only(self, chosen: Mask) -> Iterator[None]:
        """Leave out the pieces that are not `chosen`, a mask, for a while."""
        before = [term.active for term in self._terms]
        for term, active in zip(self._terms, chosen.tolist(), strict=False):
            term.active = int(active and term.active)
        try:
            yield
        finally:
            for term, active in zip(self._terms, before, strict=True):
                term.active = active

    def exchange(self, name: str, kernel: Any, role: Any) -> None:
        """Evaluate the pieces called `name` by another kernel of the same unknowns and slots."""
        for term, piece in zip(self._terms, self.pieces, strict=False):
            if piece.name == name:
                same = (kernel.uniform, kernel.cell, kernel.rows)
                assert same == (piece.kernel.uniform, piece.kernel.cell, piece.kernel.rows)
                piece.kernel, piece.role = kernel, role
                self._set_functions(term, kernel)

    @property
    def slots(self) -> list[Array]:
        """The present values of each piece's uniform parameters."""
        sizes = (len(piece.kernel.uniform) for piece in self.pieces)
        return [values[:n] for values, n in zip(self._uniform, sizes, strict=True)]

    def slot_names(self) -> list[str]:
        """Return what the values of `slots` are called, one after the other."""
        return [f"{name} of {p.name!r}" for p in self.pieces for name in p.kernel.uniform]

    def _address(self, array: Array | None) -> int | None:
        """Return the address of an array; asking NumPy costs more than a small assembly."""
        if array is None:
            return None
        known = self._addresses.get(id(array))
        if known is not None and known[0]() is array:
            return known[1]
        if len(self._addresses) > 64:
            self._addresses.clear()
        address = _pointer(array)
        self._addresses[id(array)] = weakref.ref(array), address
        return address

    def _call(self, what: int, x: Array, v: Array | None, f: Array | None, e: Array | None) -> int:
        address = self._address
        bad = self._assemble(self._reference, what, address(x), address(v), address(f), address(e))
        if bad < 0:
            raise MemoryError("assembly: no memory for the scratch of one batch")
        return int(bad)

    def energies(self, x: Array) -> tuple[Array, int]:
        """Return the energy of each piece, summed over the entities that this rank owns."""
        energies = np.zeros(max(1, len(self.pieces)))
        bad = self._call(ENERGY, x, None, None, energies)
        return energies[: len(self.pieces)], bad

    def residual(self, x: Array, f: Array) -> int:
        """Write the residual at `x` into the local vector `f` (owned rows are complete)."""
        f.fill(0.0)
        return self._call(RESIDUAL, x, None, f, None)

    def tangent(self, x: Array, f: Array, matrix: Matrix) -> int:
        """Write residual and tangent."""
        f.fill(0.0)
        try:
            return self._call(TANGENT, x, None, f, None)
        finally:
            matrix.finish()  # collective, so also where this rank failed

    def product(self, x: Array, v: Array, f: Array) -> int:
        """Write tangent(x) . v into the local vector `f` without a matrix."""
        f.fill(0.0)
        return self._call(PRODUCT, x, v, f, None)
