# SPDX-License-Identifier: BSD-3-Clause
"""The tangent as a PETSc AIJ matrix whose value arrays the assembler writes directly."""

from __future__ import annotations

import ctypes
import weakref
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from ..arrays import Array, Ints, Ints32, pointer
from ..errors import SymancfError
from ..runtime import jit
from ..runtime.limits import require_countable
from ..runtime.log import EVENTS, logged
from ..runtime.petsc import PETSc, disown, functions, handle, own

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mpi4py import MPI

    from .form import Form, Listed
    from .numbering import Numbering

Positions: TypeAlias = tuple[Ints, Ints32]


class Writes(Protocol):
    """What writes into the value arrays: an assembler."""

    def attach(self, matrix: Matrix, numbers: Sequence[int], /) -> None:
        """Take the arrays, and the places of its forms by their numbers in the matrix."""


class Matrix:
    """Pattern and storage of the tangent (collective).

    Every rank holds the rows of its free coordinates, as PETSc stores them: the columns of
    this rank's rows in a diagonal part, all others in an off-diagonal part. The arrays are
    ours, PETSc works on them without a copy. All rows of a vertex share one pattern, so an
    entity needs one offset per pair of its vertices: `positions` holds for each form where
    those of its entities begin and end, and the offsets of many forms; offsets >= 0 address the
    diagonal part, ``~offset`` the other.

    Parameters
    ----------
    every : whether all rows have a diagonal; else vertices without entities have no entries, and
        prescribed rows none that count: a part of a tangent, which `Half` has beside it.

    Attributes
    ----------
    mat : the petsc4py matrix.
    diagonal_start, off_start : (rows + 1,) row pointers of the two parts.
    diagonal, off : values of the two parts.
    columns : of their entries: numbers of this rank's rows, and numbers of all rows.
    prescribed, partner : places of diagonal entries of prescribed rows, and of free rows nearby.
    revision : number of patterns that were made before this one.
    """

    revision = -1

    def __init__(
        self, comm: MPI.Comm, numbering: Numbering, forms: Sequence[Form], every: bool = True
    ) -> None:
        self._library = load_pattern(comm)
        self.comm, self.numbering, self._forms = comm, numbering, list(forms)
        self._every = every
        self._assemblers: list[tuple[weakref.ref[Writes], Sequence[int]]] = []
        self._build([])

    @logged(EVENTS, "pattern")
    def _build(self, former: Sequence[Listed]) -> None:
        """Make the pattern of all forms and of `former` lists (collective)."""
        numbering = self.numbering
        self.revision += 1
        rows, owned = numbering.rows, numbering.owned_vertices
        self.diagonal_start = np.zeros(rows + 1, dtype=np.int32)
        self.off_start = np.zeros(rows + 1, dtype=np.int32)
        start, adjacent, offsets = self._pairs(self.diagonal_start, self.off_start, former)
        pattern = (owned, pointer(start), pointer(adjacent), pointer(numbering.row_count))
        self.positions = self._positions(self._forms, start, adjacent, offsets)
        del offsets
        sizes = int(self.diagonal_start[-1]), int(self.off_start[-1])
        self.nonzeros = sum(sizes)
        diagonal_column, off_column = (np.empty(max(1, n), dtype=np.int32) for n in sizes)
        self._library.symancf_columns(
            *pattern,
            ctypes.c_int64(numbering.first_row),
            pointer(numbering.first_column),
            pointer(diagonal_column),
            pointer(off_column),
        )
        del start, adjacent
        # products may read 8 more
        self.diagonal, self.off = (jit.aligned((max(1, n) + 8,))[: max(1, n)] for n in sizes)
        # PETSc numbers the columns of the other part anew, in place
        self.columns = diagonal_column, off_column[: sizes[1]].copy()
        self._arrays = [
            array if array.dtype == PETSc.IntType else array.astype(PETSc.IntType)
            for array in (self.diagonal_start, diagonal_column, self.off_start, off_column)
        ]
        self.mat = self._create(self.comm)
        own(self.comm, self.mat, self)
        self.mat.setBlockSizes(numbering.block_size, numbering.block_size)
        self.mat.assemble()
        if not self._every:
            self.prescribed = self.partner = np.zeros(0, dtype=np.int64)
            return
        self.prescribed = self._places_on_diagonal(numbering.prescribed_rows, diagonal_column)
        row = numbering.row[numbering.free_owned]
        partner = row[np.minimum(np.searchsorted(row, numbering.prescribed_rows), len(row) - 1)]
        self.partner = self._places_on_diagonal(partner, diagonal_column)

    # ---- lists that change ----------------------------------------------------------------------
    def note(self, assembler: Writes, numbers: Sequence[int]) -> None:
        """Remember an assembler that writes here, with the numbers of its forms here."""
        self._assemblers = [
            entry for entry in self._assemblers if entry[0]() not in (None, assembler)
        ]
        self._assemblers.append((weakref.ref(assembler), numbers))

    def release(self, assembler: Writes) -> bool:
        """Destroy `mat` where no other assembler writes here; tell whether (collective)."""
        others = any(entry[0]() not in (None, assembler) for entry in self._assemblers)
        if self.comm.allreduce(others):
            return False
        disown(self.comm, self.mat)
        return True

    def replace(self, new: Mapping[Form, Form]) -> None:
        """Take other forms for present ones; `renew` or `rebuild` finds the places of others."""
        self._forms = [new.get(form, form) for form in self._forms]

    def renew(self, new: Mapping[Form, Form]) -> bool:
        """Find the places of forms that have replaced others (collective).

        Where a pair of vertices is missing the pattern is made anew, with the pairs of the lists
        before, too, so that what goes to and fro finds them; `mat` is another one then. Returns
        whether.
        """
        some = {*new.values()}
        numbers = [k for k, form in enumerate(self._forms) if form in some]
        offsets = [self._find(self._forms[k]) for k in numbers]
        missing = bool(self.comm.allreduce(any(positions is None for positions in offsets)))
        if not missing:
            for k, positions in zip(numbers, offsets, strict=True):
                assert positions is not None
                self.positions[k] = positions
            return False
        self.rebuild(list(new))
        return True

    def rebuild(self, others: Sequence[Listed]) -> None:
        """Make the pattern of all forms and of other lists; `mat` is another one (collective)."""
        disown(self.comm, self.mat)
        self._build(others)
        for reference, of in list(self._assemblers):
            assembler = reference()
            if assembler is not None:
                assembler.attach(self, of)

    def _find(self, form: Form) -> Positions | None:
        """Return the places of a form in the pattern as it is, or None."""
        numbering, (diagonal, off) = self.numbering, self.columns
        vertex_start, vertices, pair_start, positions = _places(_joined([form]))
        missing = self._library.symancf_find(
            numbering.owned_vertices,
            pointer(numbering.vertex_row),
            pointer(numbering.row_count),
            pointer(numbering.first_column),
            ctypes.c_int64(numbering.first_row),
            pointer(self.diagonal_start),
            pointer(diagonal),
            pointer(self.off_start),
            pointer(off),
            len(vertex_start) - 1,
            pointer(vertex_start),
            pointer(vertices),
            pointer(pair_start),
            pointer(positions),
        )
        return None if missing else (pair_start, positions)

    def _pairs(
        self, diagonal_start: Ints32, off_start: Ints32, former: Sequence[Listed] = ()
    ) -> tuple[Ints, Ints32, Ints32]:
        """Return the adjacent vertices of each owned vertex and their places; fill row pointers."""
        numbering = self.numbering
        listed = [*self._forms, *former]
        corners = sum(form.vertices.size for form in listed)
        require_countable(self.comm, "corners of entities", corners)
        start, adjacent = adjacent_vertices(self._library, numbering, listed, self._every)
        offsets = np.empty_like(adjacent)
        count = self._library.symancf_rows
        count.restype = ctypes.c_int64
        entries = count(
            numbering.owned_vertices,
            pointer(start),
            pointer(adjacent),
            pointer(numbering.row_count),
            pointer(offsets),
            pointer(diagonal_start),
            pointer(off_start),
        )
        require_countable(self.comm, "entries of the tangent", entries)
        return start, adjacent, offsets

    def add(self, forms: Sequence[Form]) -> range:
        """Find the places of further forms in the pattern as it is; return their numbers.

        Their entities must share their vertices with those of earlier forms: the inertia of a
        body does with its strain energy, or with its rigidity.
        """
        first = len(self.positions)
        for form in forms:
            offsets = self._find(form)
            if offsets is None:
                raise SymancfError(f"matrix pattern: a vertex pair of {form.name!r} is missing")
            self.positions.append(offsets)
        self._forms += forms
        return range(first, len(self.positions))

    def _positions(
        self, forms: Sequence[Form], start: Ints, adjacent: Ints32, offsets: Ints32
    ) -> list[Positions]:
        vertex_start, vertices, pair_start, positions = _places(_joined(forms))
        end = np.cumsum([0, *(len(form.vertex_start) - 1 for form in forms)])
        missing = self._library.symancf_positions(
            self.numbering.owned_vertices,
            self.numbering.vertices,
            pointer(start),
            pointer(adjacent),
            pointer(offsets),
            len(vertex_start) - 1,
            pointer(vertex_start),
            pointer(vertices),
            pointer(pair_start),
            pointer(positions),
        )
        if missing < 0:
            raise MemoryError("matrix pattern: not enough memory")
        if missing:
            name = forms[int(np.searchsorted(end, missing)) - 1].name
            raise SymancfError(f"matrix pattern: a vertex pair of {name!r} is missing")
        return [(pair_start[a : b + 1], positions) for a, b in pairwise(end.tolist())]

    def _create(self, comm: MPI.Comm) -> PETSc.Mat:
        rows, size = self.numbering.rows, self.numbering.size
        diagonal_start, diagonal_column, off_start, off_column = self._arrays
        if comm.size == 1:
            csr = (diagonal_start, diagonal_column[: self.nonzeros], self.diagonal[: self.nonzeros])
            return PETSc.Mat().createAIJWithArrays((size, size), csr, comm=comm)
        mat = PETSc.Mat().create(comm)
        address = ctypes.c_void_p()
        integer = ctypes.c_int64 if np.dtype(PETSc.IntType).itemsize == 8 else ctypes.c_int
        code = functions.MatCreateMPIAIJWithSplitArrays(
            handle(comm),
            *(integer(n) for n in (rows, rows, size, size)),
            pointer(diagonal_start),
            pointer(diagonal_column),
            pointer(self.diagonal),
            pointer(off_start),
            pointer(off_column),
            pointer(self.off),
            ctypes.byref(address),
        ) or functions.MatHeaderReplace(ctypes.c_void_p(mat.handle), ctypes.byref(address))
        if code:
            raise SymancfError(f"PETSc could not create the tangent: error {code}")
        return mat

    def _places_on_diagonal(self, rows: Ints32, columns: Ints32) -> Ints:
        """Return the places of diagonal entries in the values of the diagonal part."""
        start = self.diagonal_start
        places = [
            start[r] + np.searchsorted(columns[start[r] : start[r + 1]], r) for r in rows.tolist()
        ]
        return np.array(places, dtype=np.int64)

    @property
    def values(self) -> tuple[Array, Array]:
        """The values of the two parts."""
        return self.diagonal, self.off

    def multiplies(self, operation: int, by: Callable[..., int]) -> None:
        """Have PETSc's products of `mat` be made by a function of C, until it is another one."""
        self._product = by
        functions.MatSetOperation(ctypes.c_void_p(self.mat.handle), operation, by)

    @contextmanager
    def borrowed(self) -> Iterator[None]:
        """Let other values be written here for a while (collective)."""
        values = [part.copy() for part in self.values]
        try:
            yield
        finally:
            self.diagonal[:], self.off[:] = values
            self.finish()

    def finish(self) -> None:
        """Tell PETSc that the values are new.

        The diagonal of a prescribed row (a coordinate of a partly free vertex) becomes that of
        a free row nearby.
        """
        if len(self.prescribed):
            size = np.abs(self.diagonal[self.partner])
            self.diagonal[self.prescribed] = np.where(size > 0.0, size, 1.0)
        self.mat.stateIncrease()
        self.mat.assemblyBegin()
        self.mat.assemblyEnd()


def load_pattern(comm: MPI.Comm) -> ctypes.CDLL:
    """Return the functions of pattern.c (collective)."""
    return jit.load_runtime(Path(__file__).with_name("pattern.c"), comm=comm)


def adjacent_vertices(
    library: ctypes.CDLL, numbering: Numbering, forms: Sequence[Listed], every: bool = True
) -> tuple[Ints, Ints32]:
    """Return for each owned vertex the vertices that share an entity with it.

    One without entities has itself if `every`, else none.
    """
    entity_start, entity_vertices = _joined(forms)
    start = np.zeros(numbering.owned_vertices + 1, dtype=np.int64)
    arguments = (
        numbering.owned_vertices,
        numbering.vertices,
        len(entity_start) - 1,
        pointer(entity_start),
        pointer(entity_vertices),
        pointer(numbering.global_vertex),
        int(every),
        pointer(start),
    )
    adjacency = library.symancf_adjacency
    adjacency.restype = ctypes.c_int64
    pairs = adjacency(*arguments, None)
    adjacent = np.empty(max(1, pairs), dtype=np.int32)
    if pairs < 0 or adjacency(*arguments, pointer(adjacent)) < 0:
        raise MemoryError("matrix pattern: not enough memory")
    return start, adjacent


def _places(joined: tuple[Ints32, Ints32]) -> tuple[Ints32, Ints32, Ints, Ints32]:
    """Add to lists of vertices where the pairs of each entity begin, and their positions, empty."""
    vertex_start, vertices = joined
    pair_start = np.zeros(len(vertex_start), dtype=np.int64)
    np.cumsum(np.diff(vertex_start).astype(np.int64) ** 2, out=pair_start[1:])
    return vertex_start, vertices, pair_start, np.empty(max(1, int(pair_start[-1])), dtype=np.int32)


def _joined(forms: Sequence[Listed]) -> tuple[Ints32, Ints32]:
    """Return where the vertices of each entity of all forms begin and end, and the vertices."""
    ends = [form.vertex_start[1:].astype(np.int32) for form in forms]
    before = np.cumsum([0] + [form.vertices.size for form in forms])
    start = [e + np.int32(b) for e, b in zip(ends, before, strict=False)]
    vertices = [np.asarray(form.vertices, np.int32).ravel() for form in forms]
    none = np.zeros(0, np.int32)
    return np.concatenate([np.zeros(1, np.int32), *start]), np.concatenate([none, *vertices])
