# SPDX-License-Identifier: BSD-3-Clause
"""The tangent as a PETSc AIJ matrix whose value arrays the assembler writes directly."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import jit
from .errors import SymancfError
from .petsc import PETSc

if TYPE_CHECKING:
    from .assembly import Piece
    from .numbering import Numbering

Array = npt.NDArray[np.float64]

_petsc = ctypes.CDLL(PETSc.__file__)  # its symbols include those of the PETSc it links


def _check(code: int, call: str) -> None:
    if code:
        raise SymancfError(f"PETSc's {call} failed with error {code}")


def _pointer(array: npt.NDArray[Any]) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


class Matrix:
    """Pattern and storage of the tangent.

    Every rank holds the rows of its free coordinates. All rows of a vertex share one
    pattern, so an entity needs one offset per pair of its vertices: `positions` holds for
    each piece ``(pair_start, offsets)``; offsets >= 0 address the diagonal block of the
    AIJ matrix, ``~offset`` the off-diagonal block (PETSc's two value arrays).
    """

    def __init__(self, comm: Any, numbering: Numbering, pieces: Sequence[Piece]):
        library = jit.load_runtime(Path(__file__).with_name("pattern.c"), comm=comm)
        owned, local = numbering.owned_vertices, numbering.vertices
        starts, columns = [np.zeros(1, np.int32)], [np.zeros(0, np.int32)]
        total = 0
        for piece in pieces:
            starts.append(piece.vertex_start[1:].astype(np.int32) + np.int32(total))
            columns.append(np.asarray(piece.vertices, dtype=np.int32).ravel())
            total += int(piece.vertex_start[-1])
        entity_start = np.ascontiguousarray(np.concatenate(starts))
        entity_vertices = np.ascontiguousarray(np.concatenate(columns))
        del starts, columns
        vertex_number = np.ascontiguousarray(numbering.global_vertex, dtype=np.int64)
        adjacency = library.symancf_adjacency
        adjacency.restype = ctypes.c_int64
        start = np.zeros(owned + 1, dtype=np.int64)
        arguments = (
            owned,
            local,
            len(entity_start) - 1,
            _pointer(entity_start),
            _pointer(entity_vertices),
            _pointer(vertex_number),
            _pointer(start),
        )
        pairs = adjacency(*arguments, None)
        adjacent = np.zeros(max(1, pairs), dtype=np.int32)
        if pairs < 0 or adjacency(*arguments, _pointer(adjacent)) < 0:
            raise MemoryError("matrix pattern: not enough memory")
        del entity_start, entity_vertices
        free_count = numbering.free_count
        offsets = np.zeros_like(adjacent)
        library.symancf_offsets(
            owned, _pointer(start), _pointer(adjacent), _pointer(free_count), _pointer(offsets)
        )
        self.positions = []
        for piece in pieces:
            vertex_start = np.ascontiguousarray(piece.vertex_start, dtype=np.int32)
            corners = np.diff(vertex_start).astype(np.int64)
            pair_start = np.concatenate([[0], np.cumsum(corners**2)]).astype(np.int64)
            positions = np.zeros(max(1, int(pair_start[-1])), dtype=np.int32)
            vertices = np.ascontiguousarray(piece.vertices, dtype=np.int32).ravel()
            failed = library.symancf_positions(
                owned,
                _pointer(start),
                _pointer(adjacent),
                _pointer(offsets),
                _pointer(vertex_number),
                piece.size,
                _pointer(vertex_start),
                _pointer(vertices),
                _pointer(pair_start),
                _pointer(positions),
            )
            if failed:
                raise SymancfError(f"matrix pattern: a vertex pair of {piece.name!r} is missing")
            self.positions.append((pair_start, positions))
        # row pointers of the two parts, and the rows themselves for PETSc
        inside = adjacent[:pairs] < owned
        row_vertex = np.repeat(np.arange(owned), np.diff(start))
        widths = free_count[adjacent[:pairs]]
        diagonal_width = np.bincount(row_vertex, widths * inside, minlength=owned)
        off_width = np.bincount(row_vertex, widths * ~inside, minlength=owned)
        rows_of = free_count[:owned]
        del row_vertex, widths, inside, offsets
        self.diagonal_start = _cumulative(np.repeat(diagonal_width, rows_of))
        self.off_start = _cumulative(np.repeat(off_width, rows_of))
        nonzeros = int(self.diagonal_start[-1]) + int(self.off_start[-1])
        row_start = np.zeros(numbering.rows + 1, dtype=np.int32)
        column = np.zeros(max(1, nonzeros), dtype=np.int32)
        library.symancf_expand(
            owned,
            _pointer(start),
            _pointer(adjacent),
            _pointer(free_count),
            _pointer(numbering.first_column),
            _pointer(row_start),
            _pointer(column),
        )
        self.mat = PETSc.Mat().create(comm)
        self.mat.setSizes(((numbering.rows, numbering.size), (numbering.rows, numbering.size)))
        self.mat.setType("aij")
        self.mat.setBlockSizes(*2 * (numbering.uniform_block,))
        self.mat.setPreallocationCSR((row_start, column[:nonzeros]))
        del row_start, column
        self.mat.assemble()
        self.nonzeros = nonzeros
        self._parts = self._sequential_parts()

    def _sequential_parts(self) -> list[ctypes.c_void_p]:
        handle = ctypes.c_void_p(self.mat.handle)
        if self.mat.getComm().getSize() == 1:
            return [handle]
        diagonal, off = ctypes.c_void_p(), ctypes.c_void_p()
        columns = ctypes.c_void_p()
        _check(
            _petsc.MatMPIAIJGetSeqAIJ(
                handle, ctypes.byref(diagonal), ctypes.byref(off), ctypes.byref(columns)
            ),
            "MatMPIAIJGetSeqAIJ",
        )
        return [diagonal, off]

    @contextmanager
    def values(self) -> Iterator[tuple[int, int]]:
        """Give the addresses of the values of the diagonal and the off-diagonal part.

        The matrix is assembled afterwards; the second address is 0 on one rank.
        """
        pointers = [ctypes.c_void_p() for _ in self._parts]
        for part, pointer in zip(self._parts, pointers, strict=True):
            _check(_petsc.MatSeqAIJGetArray(part, ctypes.byref(pointer)), "MatSeqAIJGetArray")
        addresses = [pointer.value or 0 for pointer in pointers]
        try:
            yield addresses[0], addresses[-1] if len(addresses) > 1 else 0
        finally:
            for part, pointer in zip(self._parts, pointers, strict=True):
                _petsc.MatSeqAIJRestoreArray(part, ctypes.byref(pointer))
            self.mat.stateIncrease()
            self.mat.assemblyBegin()
            self.mat.assemblyEnd()


def _cumulative(widths: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    start = np.zeros(len(widths) + 1, dtype=np.int32)
    np.cumsum(widths, out=start[1:])
    return start
