# SPDX-License-Identifier: BSD-3-Clause
"""The assembler of all terms: one C call per energy, residual, tangent, or product with one."""

from __future__ import annotations

import ctypes
import weakref
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import compress, pairwise
from typing import TYPE_CHECKING, Protocol, cast, get_args

import numpy as np

from symancf_codegen.modes import MODES

from ..arrays import Array, Data, Ints, Mask, address
from ..errors import ParameterError
from ..kinematics.memory import STEP
from ..runtime import jit
from ..runtime.jit import aligned
from ..runtime.log import EVENTS
from ..runtime.petsc import PETSc
from ..values.parameter import (
    OfStep,
    Parameter,
    Value,
    answers_cached,
    changes_by_itself,
    depends_on_time,
    evaluate,
    is_number,
)
from .closest_points import library as load_library
from .form import ClosestPoints, Form, Role
from .group import Group, grouped, parameters, source
from .structures import LANES, HalfRows, Term, Terms

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence

    import numpy.typing as npt
    from mpi4py import MPI

    from .half import Half
    from .half_blocks import HalfBlocks, Singles
    from .linearized import Linearized
    from .matrix import Matrix
    from .numbering import Numbering

CODE = {mode: code for code, mode in enumerate([*MODES, "linearize"])}
SETS = 16  # of active forms whose terms are kept
POINT_ROWS = 45  # of derivatives that share a scale, see moments.h
LEAST_STEPS = 8  # of 32,767 to the largest one: stiffnesses of fewer are not told well in 16 bits


class Remembers(Protocol):
    """Has what laws remember: `Memory`."""

    def rows(self, form: Form, time: float, /) -> Array | None:
        """Return the rows of `Form.cell` at a time with what the form remembers, or None."""

    def length(self, time: float, /) -> float:
        """Return the length of the step that ends at a time."""


@dataclass(frozen=True)
class Derivatives:
    """Derivatives of one number; see `Assembler.pull`.

    Attributes
    ----------
    values : by the `Assembler.values`, of the entities that this rank owns.
    rows : by parameters and memory of entities (n, rows), by their form; copies included.
    coordinates : by the coordinates, local vector, complete at what this rank owns.
    bad : number of points that left the domain of their law.
    """

    values: Array
    rows: dict[int, Array]
    coordinates: Array
    bad: int


_DIAGONAL = np.arange(9) * (19 - np.arange(9)) // 2  # of the 9 x 9 of a point, packed by rows


@dataclass(frozen=True)
class PointDerivatives:
    """Derivatives at the points of the cells of a kernel in 16 or 32 bits, see moments.h.

    Attributes
    ----------
    values : (batches, rows, 8), integers, or floats where 16 bits are too few.
    scales : (batches, groups, 8), each of `POINT_ROWS` rows.
    """

    values: npt.NDArray[np.int16] | Singles
    scales: Singles

    @classmethod
    def of(cls, batches: int, rows: int, wide: bool = False) -> PointDerivatives:
        """Return what has room for so many rows of batches of cells."""
        groups = -(-rows // POINT_ROWS)
        values: npt.NDArray[np.int16] | Singles
        if wide:
            values = aligned((batches * rows * LANES // 2,)).view(np.float32)
        else:
            values = aligned((batches * rows * LANES // 4,)).view(np.int16)  # four for a double
        scales = aligned((batches * groups * LANES // 2,)).view(np.float32)
        return cls(values.reshape(batches, rows, LANES), scales.reshape(batches, groups, LANES))

    @property
    def too_coarse(self) -> bool:
        """Whether 16 bits tell some stiffness of a point, on the diagonal, by few steps."""
        rows = self.values.shape[1]
        if self.values.dtype != np.int16 or rows % POINT_ROWS:
            return False
        first = np.arange(0, rows, POINT_ROWS)[:, None]
        diagonal = (first + _DIAGONAL).ravel()
        return any(bool((np.abs(batch[diagonal]) < LEAST_STEPS).any()) for batch in self.values)


@dataclass(frozen=True)
class Product:
    """Products with the tangent of one state, whatever becomes of parameters later.

    Attributes
    ----------
    terms, arrays : the assembler of C, and what it reads.
    call : the function of C, of an assembler and two vectors.
    """

    terms: Terms
    arrays: Sequence[Data]
    call: Callable[[int, int, int], object]

    def __call__(self, v: Data, f: Data) -> None:
        """Write the product with a local vector v to f (owned rows are complete)."""
        with EVENTS["product"]:
            self.call(ctypes.addressof(self.terms), address(v), address(f))


class Assembler:
    """All forms as one C structure; those of one kernel share their lanes, see `group`.

    The methods work on local vectors (all coordinates of all local vertices) and return the
    number of quadrature points that left the domain of their law.

    Parameters
    ----------
    forms : what it evaluates at first; `replace` takes others for them.
    memory : has what laws remember and the length of the step; None: no law asks for these.

    Attributes
    ----------
    values : of all uniform parameters of all forms, called `names`; `write` after a change.
    revision : number of updates that changed a parameter.
    """

    def __init__(
        self,
        forms: Sequence[Form],
        numbering: Numbering,
        reference: Array,
        comm: MPI.Comm,
        memory: Remembers | None = None,
    ) -> None:
        self.forms = list(forms)
        self.numbering, self.reference = numbering, reference
        self._comm, self._memory = comm, memory
        self._rows_at = Form.rows if memory is None else memory.rows
        self._parts: weakref.WeakSet[Assembler] = weakref.WeakSet()
        library = load_library(comm)
        self._most: int = library.symancf_most_vectors()
        self._assemble = library.symancf_assemble
        self._assemble.restype = ctypes.c_int64
        pointer = ctypes.c_void_p
        self._assemble.argtypes = [pointer, ctypes.c_int, pointer, pointer, pointer, pointer]
        self._multiply_moments = library.symancf_multiply_moments
        self._multiply_moments.restype = ctypes.c_int64
        self._multiply_moments.argtypes = [pointer, pointer, pointer]
        self._linearized_size = library.symancf_linearized_size
        self._linearized_size.restype = ctypes.c_int64
        self.revision = 0
        self._addresses: dict[int, tuple[weakref.ref[Array], int]] = {}
        self._assembler = Terms(
            reference=address(reference),
            coordinates=numbering.coordinates,
            row=address(numbering.row),
            rank_in_vertex=address(numbering.rank_in_vertex),
            vertex_row=address(numbering.vertex_row),
            owned=numbering.owned_vertices,
            rows=numbering.rows,
            vertex_plain=address(numbering.vertex_plain),
        )
        self._reference = ctypes.byref(self._assembler)
        self._vectors: dict[str, Array | None] = {}
        self._matrix: tuple[Matrix, Sequence[int]] | None = None
        self._half: Half | None = None
        self._number = {form: number for number, form in enumerate(self.forms)}
        self._collect()
        self._place()
        self._moving: Mask = np.array([form.moving for form in self.forms], dtype=bool)
        self._active: Mask = ~self._moving
        self._turning: dict[jit.Kernel, jit.Kernel] = {}
        self._tables: dict[tuple[jit.Kernel, str], jit.Kernel] = {}
        self._kinds: list[list[int]] = []
        self._groups_by_numbers: dict[tuple[int, ...], Group] = {}
        # by the mask of active forms: their groups and the terms of C
        self._arranged: dict[bytes, tuple[list[Group], ctypes.Array[Term]]] = {}
        self._arrange()

    def part(self, forms: Sequence[Form]) -> Assembler:
        """Return an assembler of some of the forms; it takes up those that replace them, too."""
        part = Assembler(forms, self.numbering, self.reference, self._comm, self._memory)
        self._parts.add(part)
        return part

    def _collect(self) -> None:
        """List the uniform parameters of all forms, and where each value of them is used."""
        own = [parameters(form) for form in self.forms]
        self._first = np.cumsum([0, *map(len, own)])
        self.values = np.zeros(int(self._first[-1]))
        self._new_values = self.values.copy()
        own_values: dict[str, Value] = {"t": _present}
        if self._memory is not None and any(STEP in names for names in own):
            own_values[STEP] = OfStep(self._memory.length, is_length=True)
        called: dict[str, list[int]] = {}
        used: dict[Hashable, tuple[str, Value | None, list[int]]] = {}
        place = 0
        for form, names in zip(self.forms, own, strict=True):
            for name in names:
                value = own_values[name] if name in own_values else form.uniform.get(name)
                use = used.setdefault(source(value), (f"{name} of {form.name!r}", value, []))
                use[2].append(place)
                called.setdefault(name, []).append(place)
                place += 1
        self._called = {name: np.array(places) for name, places in called.items()}
        self._sources = [(name, value, np.array(places)) for name, value, places in used.values()]
        self._changing: list[tuple[str, Value | None, Ints]] | None = None

    def _place(self) -> None:
        """List the forms with parameters of entities that change in time."""
        self._placed = [
            (k, form)
            for k, form in enumerate(self.forms)
            if form.cell_at is not None or form.kernel.memory
        ]
        self._rows: dict[int, Array] = {}

    def _arrange(self) -> None:
        """Put the terms of the active forms into the structure of C."""
        key = self._active.tobytes()
        if key not in self._arranged:
            self._kinds = self._kinds or grouped(self.forms)
            chosen = [tuple(k for k in kind if self._active[k]) for kind in self._kinds]
            groups = [self._group(numbers) for numbers in chosen if numbers]
            terms = (Term * max(1, len(groups)))(*(group.term for group in groups))
            if len(self._arranged) >= SETS:
                self._arranged.clear()
            self._arranged[key] = groups, terms
        self._groups, self._terms = self._arranged[key]
        self._assembler.term = ctypes.cast(self._terms, ctypes.POINTER(Term))
        self._assembler.terms = len(self._groups)
        self._holds: dict[int, int] = {}  # forms: which of the groups
        self._stale = False
        self.write()

    def _group(self, numbers: tuple[int, ...]) -> Group:
        if numbers not in self._groups_by_numbers:
            forms = {number: self.forms[number] for number in numbers}
            group = Group(forms, self._first, self.numbering.coordinates, self._most)
            if self._matrix is not None:
                group.attach(self._matrix[0].positions, self._matrix[1])
            if self._half is not None:
                group.attach_half(self._half, [self.forms[k] for k in numbers])
            self._groups_by_numbers[numbers] = group
        return self._groups_by_numbers[numbers]

    @property
    def groups(self) -> list[Group]:
        """The active forms as they are evaluated together."""
        if self._stale:
            self._arrange()
        return self._groups

    def attach(self, matrix: Matrix, numbers: Sequence[int] | None = None) -> None:
        """Let tangents be written straight into the value arrays of `matrix`.

        `numbers` are those of this assembler's forms among the forms of the matrix, -1 of those
        that it has no places for; default: the first ones.
        """
        self._matrix = matrix, range(len(self.forms)) if numbers is None else numbers
        for name in ("diagonal_start", "off_start", "diagonal", "off"):
            setattr(self._assembler, name, address(getattr(matrix, name)))
        matrix.note(self, self._matrix[1])
        for group in self._groups_by_numbers.values():
            group.attach(matrix.positions, self._matrix[1])
        self._arranged.clear()
        self._stale = True

    def detach(self) -> None:
        """Forget the matrix: its value arrays are no longer there."""
        self._matrix = None
        for name in ("diagonal_start", "off_start", "diagonal", "off"):
            setattr(self._assembler, name, None)
        for group in self._groups_by_numbers.values():
            group.detach()
        self._arranged.clear()
        self._stale = True

    def attach_half(self, half: Half) -> None:
        """Let tangents be written straight to `half`, where it is that they are asked for."""
        self._half = half
        for group in self._groups_by_numbers.values():
            group.attach_half(half, [self.forms[k] for k in group.numbers])
        self._arranged.clear()
        self._stale = True

    def update(self, time: float) -> None:
        """Write the present values of all parameters into the kernels' slots.

        Raises
        ------
        ParameterError : a value is missing or not finite (the same error on every rank), or a
            function of places failed (on the ranks where that happens).
        """
        with answers_cached():
            for name, value, places in self._sources if self._changing is None else self._changing:
                self._new_values[places] = evaluate(name, value, time)
        if self._changing is None:
            self._changing = [of for of in self._sources if not is_number(of[1])]
        for number, form in self._placed:
            rows = self._rows_at(form, time)
            if rows is not None:
                self._rows[number] = rows
        if self._rows or self.values.tobytes() != self._new_values.tobytes():
            self.values[:] = self._new_values
            self.revision += 1
            self.write()

    def take(self, places: Ints, values: Array) -> None:
        """Take some of the `values`, which C has written where kernels see them."""
        self.values[places] = values
        self.revision += 1
        self.write()

    def take_parameters(self, other: Assembler, chosen: Sequence[Mask]) -> None:
        """Take parameters and rates of an assembler of which these forms are parts.

        `chosen`: of each form the entities, a mask; see `Form.part`.
        """
        self.values[:] = other.values
        self._rows = {number: rows[chosen[number]] for number, rows in other._rows.items()}
        self.follow(other._vectors.get("rate"), other._vectors.get("rate_factor"))
        self.write()

    def addresses(self, places: Ints) -> tuple[Ints, Ints]:
        """Return which of some places among `values` kernels see, and the addresses where."""
        pairs = [group.addresses for group in self.groups]
        seen = np.concatenate([np.zeros((2, 0), dtype=np.int64), *pairs], axis=1)
        wanted = np.zeros(len(self.values), dtype=bool)
        wanted[places] = True
        at, addresses = seen[:, wanted[seen[0]]]
        return at, addresses

    def write(self) -> None:
        """Let the kernels see the present `values`."""
        for group in self.groups:
            group.write(self.values, self._rows)

    def fill(self, rows: Mapping[int, Array]) -> None:
        """Let kernels see other parameters (n, rows) of the entities of forms, by their number."""
        for group in self.groups:
            group.write(self.values, rows)

    @property
    def calls(self) -> int:
        """Number of calls of kernels in an evaluation: one for every eight entities of a group."""
        return sum(-(-group.size // LANES) for group in self.groups)

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays that the kernels and the assembly read."""
        return sum(group.nbytes for group in self.groups)

    @cached_property
    def changes(self) -> bool:
        """Whether a parameter may change while time goes on; forms that replace others agree."""
        return any(
            form.cell_at is not None
            or "t" in form.kernel.uniform
            or any(depends_on_time(form.uniform.get(name)) for name in parameters(form))
            for form in self.forms
        )

    @property
    def timed(self) -> bool:
        """Whether a parameter is a function of time, and not what only others set."""
        return bool(self.timed_values) or self.timed_cells

    @cached_property
    def timed_values(self) -> list[tuple[str, Value | None, Ints]]:
        """Functions of time: name, function, and its places among `values`.

        The length of a step is none.
        """
        return [
            of for of in self._sources if changes_by_itself(of[1]) and not self._is_length(of[1])
        ]

    @property
    def timed_cells(self) -> bool:
        """Whether a parameter is a function of place and time."""
        return any(p.cell_at and getattr(p.cell_at, "timed", True) for p in self.forms)

    def _is_length(self, value: Value | None) -> bool:
        """Tell whether a value is the length of the step."""
        return isinstance(value, OfStep) and value.is_length

    def places(self, name: str) -> Ints:
        """Return the places of a parameter, of all forms that have it, among `values`."""
        return self._called.get(name, np.zeros(0, dtype=np.int64))

    def place(self, number: int, name: str) -> int:
        """Return the place of a parameter of a form among `values`."""
        return int(self._first[number]) + parameters(self.forms[number]).index(name)

    def names(self) -> list[str]:
        """Return what the `values` are called."""
        return [f"{name} of {p.name!r}" for p in self.forms for name in parameters(p)]

    @property
    def uniform_values(self) -> list[Value | None]:
        """What uniform parameters are made of, each once."""
        return [value for _, value, _ in self._sources]

    def functions(self) -> list[tuple[str, str, Value]]:
        """Return the functions of time: the form, what messages call it, the function."""
        functions: list[tuple[str, str, Value]] = []
        for what, value, places in self._sources:
            form = self.forms[int(np.searchsorted(self._first, places[0], "right")) - 1]
            own = what.startswith(f"{STEP} of ") or value is _present
            if depends_on_time(value) and not (own or isinstance(value, Parameter)):
                assert value is not None
                functions.append((form.name, what, value))
        return functions

    def growing(self) -> Ints:
        """Return the places among `values` of what statics lets grow; see `Form.growing`."""
        places = [
            first + k
            for first, form in zip(self._first, self.forms, strict=False)
            for k, name in enumerate(parameters(form) if form.growing else ())
            if name in form.growing
        ]
        return np.array(places, dtype=np.int64)

    def of_parameters(self) -> Ints:
        """Return the places among `values` of what is a `Parameter`."""
        parts = [at for _, value, at in self._sources if isinstance(value, Parameter)]
        places: Ints = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *parts]))
        return places

    def follow(self, rate: Array | None, factor: Array | None) -> None:
        """Let rates be those of the local vector `rate`, and change with their coordinates.

        `factor` (local vector) is d rate / d coordinate of the time integrator. None: no motion.
        """
        if self._moving.any() and (rate is None) != (self._vectors.get("rate") is None):
            self._active, self._stale = np.where(self._moving, rate is not None, self._active), True
        for name, vector in (("rate", rate), ("rate_factor", factor)):
            self._vectors[name] = vector
            setattr(self._assembler, name, None if vector is None else address(vector))

    @property
    def rate_factor(self) -> Array | None:
        """What rates change with their coordinates by, see `follow`; None: they do not."""
        return self._vectors.get("rate_factor")

    @contextmanager
    def following(self, rate: Array | None, factor: Array | None) -> Iterator[None]:
        """Do as `follow` says for a while."""
        before = self._vectors.get("rate"), self._vectors.get("rate_factor")
        self.follow(rate, factor)
        try:
            yield
        finally:
            self.follow(*before)

    @contextmanager
    def only(self, chosen: Mask) -> Iterator[None]:
        """Leave out the forms that are not `chosen`, a mask, for a while."""
        before = self._active
        self._active, self._stale = before & chosen, True
        try:
            yield
        finally:
            self._active, self._stale = before, True

    def replace(self, new: Mapping[Form, Form]) -> None:
        """Take other forms for present ones; the groups without these stay as they are.

        Parameters are those of the forms before.
        """
        numbers = set()
        for old, form in new.items():
            number = self._number.pop(old, None)
            if number is not None:
                self.forms[number], self._number[form] = form, number
                numbers.add(number)
        if numbers:
            self._groups_by_numbers = {
                of: group for of, group in self._groups_by_numbers.items() if numbers.isdisjoint(of)
            }
            self._kinds = []
            self._arranged.clear()
            self._place()
            self._stale = True
        for part in self._parts:
            part.replace(new)

    def number(self, form: Form) -> int:
        """Return the number of one of the forms."""
        return self._number[form]

    def _address(self, array: Array | None) -> int | None:
        """Return the address of an array; asking NumPy costs more than a small assembly."""
        if array is None:
            return None
        entry = self._addresses.get(id(array))
        if entry is not None and entry[0]() is array:
            return entry[1]
        if len(self._addresses) > 64:
            self._addresses.clear()
        pointer = address(array)
        self._addresses[id(array)] = weakref.ref(array), pointer
        return pointer

    @property
    def structure(self) -> int:
        """The address of ``symancf_assembler`` for `evaluate`; ask again after `only`."""
        if self._stale:
            self._arrange()
        return ctypes.addressof(self._assembler)

    @property
    def arrangement(self) -> tuple[object, ...]:
        """What `by_role` depends on."""
        if self._stale:
            self._arrange()
        return self._terms, self._assembler.rate, self._assembler.rate_factor

    def by_role(self) -> list[Terms] | None:
        """Return the active forms of each role as assemblers of C, roles in their order.

        They see the parameters of this one. None: forms of several roles share their lanes.
        """
        groups, found = self.groups, []
        roles = [{self.forms[number].role for number in group.numbers} for group in groups]
        if any(len(of_group) > 1 for of_group in roles):
            return None
        for role in get_args(Role):
            chosen = [group.term for group, own in zip(groups, roles, strict=True) if role in own]
            if chosen:
                found.append(self._with_terms(chosen))
        return found

    def _with_terms(self, chosen: Sequence[Term]) -> Terms:
        """Return an assembler of C with other terms."""
        made, terms = Terms.from_buffer_copy(self._assembler), (Term * max(1, len(chosen)))(*chosen)
        made.term, made.terms = ctypes.cast(terms, ctypes.POINTER(Term)), len(chosen)
        return made

    @property
    def evaluate(self) -> int | None:
        """The address of ``symancf_assemble`` for C functions that call it themselves."""
        return ctypes.cast(self._assemble, ctypes.c_void_p).value

    def _call(self, mode: str, x: Array, v: Array | None, f: Array | None, e: Array | None) -> int:
        if self._stale:
            self._arrange()
        at = self._address
        with EVENTS[mode if mode in EVENTS else "outputs"]:
            bad = self._assemble(self._reference, CODE[mode], at(x), at(v), at(f), at(e))
            if PETSc.Log.isActive():
                kernels = ((self.forms[g.numbers[0]].kernel, g.size) for g in self._groups)
                PETSc.Log.logFlops(sum(k.flops.get(mode, 0) * size for k, size in kernels))
        if bad < 0:
            raise MemoryError("assembly: no memory for the scratch of one batch")
        return int(bad)

    def energies(self, x: Array) -> tuple[Array, int]:
        """Return the energy of each form, summed over the entities that this rank owns."""
        energies = np.zeros(max(1, len(self.forms)))
        bad = self._call("energy", x, None, None, energies)
        return energies[: len(self.forms)], bad

    def residual(self, x: Array, f: Array) -> int:
        """Write the residual at `x` into the local vector `f` (owned rows are complete)."""
        f.fill(0.0)
        return self._call("residual", x, None, f, None)

    def tangent(self, x: Array, f: Array, matrix: Matrix | Half) -> int:
        """Write residual and tangent; `matrix` is one that was attached."""
        self._write_to(matrix)
        if matrix is self._half:
            with self._half.rewritten():
                return self._half.add(self, x, f)
        f.fill(0.0)
        try:
            return self._call("tangent", x, None, f, None)
        finally:
            matrix.finish()  # collective, so also where this rank failed

    def _write_to(self, storage: Matrix | Half) -> None:
        """Take the places of a storage, where a half has entries of PETSc's AIJ beside it."""
        half = self._half
        if half is None or half.rest is None:
            return
        matrix = half.rest if storage is half else cast("Matrix", storage)
        if self._matrix is None or self._matrix[0] is not matrix:
            self.attach(matrix, half.numbers if matrix is half.rest else None)

    def write_half(self, x: Array, f: Array, rows: HalfRows) -> int:
        """Write the residual, and the tangent to the rows of a half that was attached."""
        f.fill(0.0)
        self._assembler.half = ctypes.pointer(rows)
        try:
            return self._call("tangent", x, None, f, None)
        finally:
            self._assembler.half = None

    def product(self, x: Array, v: Array, f: Array, linear: Linearized | None = None) -> int:
        """Write tangent(x) . v into the local vector `f` without a matrix.

        `linear`: what `linearize` has kept at `x`.
        """
        f.fill(0.0)
        if linear is None:
            return self._call("product", x, v, f, None)
        with linear.visible_to_c(self._by_group()):
            return self._call("product", x, v, f, None)

    def diagonal(self, x: Array, blocks: Array) -> int:
        """Add the blocks of the tangent on the diagonal to `blocks` (vertices, 3, 3)."""
        return self._of_nodes("diagonal", x, blocks, None)

    def coarse(self, x: Array, half: HalfBlocks) -> int:
        """Write the tangent of the linear functions of corners, see `MatrixFree`."""
        half.clear()
        try:
            return self._of_nodes("coarse", x, None, half)
        finally:
            half.finish()

    def moments(
        self, x: Array, rooms: dict[Group, PointDerivatives], factor: float
    ) -> tuple[Product, int]:
        """Return products with the tangent at `x` in single precision, times a factor.

        They read its derivatives at the points of cells, for which `rooms` are made and used again.
        """
        terms: list[Term] = []
        groups = self.groups
        for group in set(rooms) - set(groups):
            del rooms[group]
        for group in groups:
            kernel, term = self.forms[group.numbers[0]].kernel, Term.from_buffer_copy(group.term)
            if kernel.has_tangent:
                multiply = self._telling(kernel, "multiply", single=True)
                term.moments = self._telling(kernel, "moments").addresses["moments"]
                term.multiply = multiply.addresses["multiply"]
                term.moments_rows, term.moments_factor = kernel.moments, factor
                if group not in rooms:
                    rooms[group] = PointDerivatives.of(-(-group.size // LANES), kernel.moments)
                room = rooms[group]
                term.at_points, term.point_scales = address(room.values), address(room.scales)
                term.points_wide = room.values.dtype == np.float32
            terms.append(term)
        made = self._with_terms(terms)
        with EVENTS["tangent"]:
            bad = self._assemble(
                ctypes.byref(made), CODE["moments"], self._address(x), None, None, None
            )
        if bad < 0:
            raise MemoryError("assembly: no memory for the scratch of one batch")
        coarse = [group for group, room in rooms.items() if room.too_coarse]
        for group in coarse:
            batches, rows, _ = rooms[group].values.shape
            rooms[group] = PointDerivatives.of(batches, rows, wide=True)
        if coarse:
            return self.moments(x, rooms, factor)
        arrays = [array for room in rooms.values() for array in (room.values, room.scales)]
        return Product(made, arrays, self._multiply_moments), int(bad)

    def product_at(self, x: Array) -> Product:
        """Return products with the tangent at `x` by kernels, with the present parameters.

        `x` may be written to until the next call.
        """
        terms: list[Term] = []
        arrays: list[Data] = [x]
        for group in self.groups:
            term = Term.from_buffer_copy(group.term)
            if term.cell_rows:
                cell, _, _ = group.lanes(group.numbers[0])
                arrays.append(aligned(cell.shape, cell))
                term.cell = address(arrays[-1])
            terms.append(term)
        at, code, size = address(x), CODE["product"], x.nbytes

        def call(terms: int, v: int, f: int) -> None:
            ctypes.memset(f, 0, size)
            self._assemble(terms, code, at, v, f, None)

        return Product(self._with_terms(terms), arrays, call)

    def _of_nodes(self, mode: str, x: Array, blocks: Array | None, half: HalfBlocks | None) -> int:
        """Evaluate a mode of kernels that is compiled when it is asked for, see `prepare`."""
        terms: list[Term] = []
        places: list[Data] = []
        for group in self.groups:
            forms = [self.forms[number] for number in group.numbers]
            kernel, term = forms[0].kernel, Term.from_buffer_copy(group.term)
            if kernel.has_tangent:
                setattr(term, mode, self._telling(kernel, mode).addresses[mode])
                term.linear = kernel.linear
                if half is not None:
                    places.append(np.concatenate([half.places(form) for form in forms]))
                    term.half_places, term.half_wide = address(places[-1]), half.wide
            terms.append(term)
        made = self._with_terms(terms)
        if half is not None:
            made.half = ctypes.pointer(half.structure)
        with EVENTS["tangent"]:
            at = self._address
            bad = self._assemble(ctypes.byref(made), CODE[mode], at(x), None, at(blocks), None)
        if bad < 0:
            raise MemoryError("assembly: no memory for the scratch of one batch")
        return int(bad)

    def linearize(self, x: Array, linear: Linearized) -> int:
        """Keep the tangent at `x` of points projected onto facets, whose products are expensive."""
        terms = self._by_group()
        linear.take(terms, self._linearized_size)
        with linear.visible_to_c(terms):
            return self._call("linearize", x, None, None, None)

    def _by_group(self) -> dict[Group, Term]:
        return dict(zip(self.groups, self._terms, strict=False))

    @property
    def rows(self) -> dict[int, Array]:
        """Present parameters (n, rows) of entities by form, where they change in time."""
        return dict(self._rows)

    def turn(self, values: Array, rows: Mapping[int, Array]) -> None:
        """Take a direction of the parameters for `parameter` (collective).

        `values` and `rows` are changes of what the attributes of these names hold. Kernels that
        they reach are compiled with the mode ``parameter`` when this happens first.
        """
        mine = [
            bool(values[first:end].any() or (number in rows and rows[number].any()))
            for number, (first, end) in enumerate(pairwise(self._first))
        ]
        moves = np.any(self._comm.allgather(mine), axis=0)
        for form in compress(self.forms, moves):
            if form.kernel not in self._turning:
                compiled = jit.with_modes(form.kernel, ("parameter",), self._comm)
                self._turning[form.kernel] = compiled
        for group, term in zip(self.groups, self._terms, strict=False):
            term.uniform_rate = term.cell_rate = None
            if moves[group.numbers].any():
                kernel = self._turning[self.forms[group.numbers[0]].kernel]
                group.turn(term, values, rows, kernel.addresses["parameter"])

    def parameter(self, x: Array, f: Array) -> int:
        """Write the derivative of the residual in the direction of `turn` into the vector `f`."""
        f.fill(0.0)
        return self._call("parameter", x, None, f, None)

    def pull(
        self,
        x: Array,
        v: Array,
        seeds: Mapping[int, Array] | None = None,
        parameters: bool = True,
    ) -> Derivatives:
        """Return derivatives of s = v . residual(x) + seeds . update(x) (collective).

        By all parameters, by what laws remember, and by the coordinates: (tangent^T v), exact
        also where tangents leave something out; rates follow as `follow` says. Kernels are compiled
        with the mode ``pull`` when this happens first.

        Parameters
        ----------
        v : local vector with the values of ghosts.
        seeds : (n, rows) of entities by their form: weights of what these remember next, in the
            rows of `Form.cell` where they remember it; copies of entities have theirs, too.
        parameters : return derivatives by these; else zeros, and no rows.

        Raises
        ------
        CompileError : a law remembers what follows axes of stretches, and is no tensor.
        ParameterError : a point with friction slides off the rim of the side that it touches.
        """
        self._prepare_pull()
        coordinates = np.zeros_like(x)
        kept: dict[Group, tuple[Array, ...]] = {}
        try:
            for group, term in zip(self.groups, self._terms, strict=False):
                kept[group] = self._pull_of(group, term, seeds or {})
            bad = self._call("pull", x, v, coordinates, None)
        finally:
            for term in self._terms:
                term.by_uniform = term.by_cell = term.seed = None
        self._require_known(kept)
        values = np.zeros_like(self.values)
        rows: dict[int, Array] = {}
        for group, (*tables, _) in kept.items() if parameters else ():
            group.sum_of(tables, values)
            rows |= group.values_of(tables[1])
        return Derivatives(values, rows, coordinates, bad)

    def pull_closest_points(self, x: Array, seeds: Mapping[int, Array]) -> Array:
        """Return derivatives by coordinates of weights times closest points (collective).

        Of points on facets, as they would be remembered at a state where none touches.

        Parameters
        ----------
        seeds : weights (n, rows) by the form; see `pull`.
        """
        with ExitStack() as stack:
            for group in self.groups:
                if isinstance(self.forms[group.numbers[0]].entities, ClosestPoints):
                    stack.enter_context(group.out_of_reach())
            return self.pull(x, np.zeros_like(x), seeds, parameters=False).coordinates

    def _prepare_pull(self) -> None:
        """Compile what `pull` calls (collective)."""
        active: list[int] = np.flatnonzero(self._active).tolist()
        self.prepare("pull", active)
        on_facets = [k for k in active if isinstance(self.forms[k].entities, ClosestPoints)]
        self.prepare("update", on_facets)

    def _pull_of(self, group: Group, term: Term, seeds: Mapping[int, Array]) -> tuple[Array, ...]:
        """Give a term the mode `pull` and room for its derivatives; see `Group.pull`."""
        form = self.forms[group.numbers[0]]
        function = self._telling(form.kernel, "pull").addresses["pull"]
        update = 0, 0
        if isinstance(form.entities, ClosestPoints):
            kernel = self._telling(form.kernel, "update")
            update = kernel.addresses["update"], kernel.size("O")
        return group.pull(term, seeds, function, update)

    def _require_known(self, groups: Collection[Group]) -> None:
        """Raise where derivatives of points on facets are not known (collective)."""
        own = [self.forms[g.numbers[0]].name for g in groups if g.unknown[0]]
        if not self._friction_on_facets:
            return
        names = sorted({name for every in self._comm.allgather(own) for name in every})
        if names:
            raise ParameterError(
                f"derivatives are not known of {names[0]!r}: with friction a point slides off the "
                "rim of the side that it touches",
                asked="gradient",
                given=names[0],
            )

    @property
    def _friction_on_facets(self) -> bool:
        """Whether points slide with friction on facets that move, on any rank."""
        own = (form.entities for form in self.forms)
        return any(isinstance(e, ClosestPoints) and e.anchor >= 0 for e in own)

    def lend_pull(self) -> tuple[Terms, list[tuple[Group, tuple[Array, ...]]]]:
        """Return an assembler of C for the mode `pull`, and room for its derivatives (collective).

        `Group.sum_of` and `Group.values_of` read these; C sets them to zero. Nothing is remembered,
        and rates follow as they do now.
        """
        self._prepare_pull()
        terms, rooms = [], []
        for group, term in zip(self.groups, self._terms, strict=False):
            terms.append(Term.from_buffer_copy(term))
            rooms.append((group, self._pull_of(group, terms[-1], {})))
        return self._with_terms(terms), rooms

    def shape(
        self, x: Array, v: Array, forms: Sequence[int], seeds: Mapping[int, Array] | None = None
    ) -> tuple[Array, int]:
        """Return derivatives of s of `pull` by the reference, and the number of bad points.

        A local vector (owned rows are complete), of the part that active `forms` on cells have in
        s by their geometry; parameters are the same. Collective: kernels are compiled with the
        mode ``shape`` when this happens first.
        """
        self.prepare("shape", forms)
        terms: list[Term] = []
        kept: list[Array] = []
        for group in self.groups:
            term = Term.from_buffer_copy(group.term)
            if not set(forms).isdisjoint(group.numbers):
                kernel = self._telling(self.forms[group.numbers[0]].kernel, "shape")
                kept.append(group.seed(term, seeds or {}))
                term.shape = kernel.addresses["shape"]
            terms.append(term)
        made, by = self._with_terms(terms), np.zeros_like(x)
        with EVENTS["outputs"]:
            at = self._address
            bad = self._assemble(ctypes.byref(made), CODE["shape"], at(x), at(v), at(by), None)
        if bad < 0:
            raise MemoryError("assembly: no memory for the scratch of one batch")
        return by, int(bad)

    def tabulate(
        self,
        mode: str,
        forms: Sequence[int],
        x: Array,
        kernels: Mapping[int, jit.Kernel] | None = None,
    ) -> tuple[dict[int, Array], int]:
        """Return what a function of kernels tells of the points of forms, by their numbers.

        Arrays (entities, rows), and the number of points that left the domain. Collective when
        `mode` is asked of a kernel first: its function is compiled then.

        Parameters
        ----------
        mode : ``"outputs"``, ``"update"`` or ``"initial"``.
        forms : numbers of those that are asked; active ones.
        kernels : by these numbers: what tells, with the parameters of the forms' own; forms with
            the same kernel have the same here.
        """
        values: dict[int, Array] = {}
        tables, bad = self.tables(mode, forms, x, kernels)
        for group, table in tables.items():
            values |= group.values_of(table)
        return {k: values[k] for k in forms if k in values}, bad

    def tables(
        self,
        mode: str,
        forms: Sequence[int],
        x: Array,
        kernels: Mapping[int, jit.Kernel] | None = None,
    ) -> tuple[dict[Group, Array], int]:
        """Return the same by the groups that forms are in: (batches, rows, 8)."""
        groups = self.groups
        self._holds = self._holds or {n: k for k, group in enumerate(groups) for n in group.numbers}
        held = [number for number in forms if number in self._holds]
        if kernels is None:
            self.prepare(mode, held)  # in an order that no rank's groups change
        asked = sorted({self._holds[number] for number in held})
        tables: dict[Group, Array] = {}
        try:
            for k in asked:
                number = groups[k].numbers[0]
                own = None if kernels is None else kernels[number]
                kernel = own or self._telling(self.forms[number].kernel, mode)
                rows, function = kernel.size("O"), kernel.addresses[mode]
                tables[groups[k]] = groups[k].tabulate(self._terms[k], rows, mode, function)
            bad = self._call(mode, x, None, None, None)
        finally:
            for k in asked:
                self._terms[k].table = None
        return tables, bad

    # ---- steps in C, see `symancf.solve.dynamics.remembering` -----------------------------------
    def telling(self, mode: str, forms: Sequence[int]) -> tuple[Terms, dict[int, Array]]:
        """Return an assembler of C with the terms of forms, and the tables to which these tell.

        (batches, rows, 8) by the number of the form; see `tabulate`. Parameters are this
        assembler's.
        """
        self.prepare(mode, forms)
        chosen = [group for group in self.groups if not set(forms).isdisjoint(group.numbers)]
        terms = [Term.from_buffer_copy(group.term) for group in chosen]
        tables: dict[int, Array] = {}
        for group, term in zip(chosen, terms, strict=True):
            kernel = self._telling(self.forms[group.numbers[0]].kernel, mode)
            table = group.tabulate(term, kernel.size("O"), mode, kernel.addresses[mode])
            tables |= dict.fromkeys(group.numbers, table)
        return self._with_terms(terms), tables

    def lanes(self, form: Form) -> tuple[Array, int, int] | None:
        """Return the lanes of a form, see `Group.lanes`; None: it is not active here."""
        number = self._number.get(form, -1)
        found = [group for group in self.groups if number in group.numbers]
        return found[0].lanes(number) if found else None

    def lengths(self) -> Ints:
        """Return the addresses at which kernels read the length of the step."""
        chosen = [places for _, value, places in self._sources if self._is_length(value)]
        places = np.concatenate([np.zeros(0, dtype=np.int64), *chosen])
        return np.asarray(self.addresses(places)[1])

    def overwritten(self) -> None:
        """Let the next `update` write all values: C has written others."""
        for group in self.groups:
            group.overwritten()

    def prepare(self, mode: str, forms: Sequence[int], single: bool = False) -> None:
        """Compile a function of the kernels of forms, perhaps in single precision (collective)."""
        for number in forms:
            self._telling(self.forms[number].kernel, mode, single)

    def output_rows(self, number: int) -> tuple[tuple[str, int, tuple[str, ...]], ...]:
        """Return law, number of points and names of the ``"outputs"`` of a form (collective)."""
        return self._telling(self.forms[number].kernel, "outputs").description.outputs

    def _telling(self, kernel: jit.Kernel, mode: str, single: bool = False) -> jit.Kernel:
        if (kernel, mode) not in self._tables:
            modes = (mode,)
            self._tables[kernel, mode] = jit.with_modes(kernel, modes, self._comm, single=single)
        return self._tables[kernel, mode]


def _present(time: float) -> float:
    """Return the time itself: the source of the parameter ``t``."""
    return time
