# SPDX-License-Identifier: BSD-3-Clause
"""Forms of one kernel as one term of C: their entities stand one after the other in the lanes.

A kernel works on eight entities at a time. A hundred joints of one place each would leave seven of
eight lanes idle; together they are thirteen batches. What differs from form to form is in rows
of the entities' own parameters, `Form.cell`; slots of the kernel's uniform parameters must have
the same source in all forms of a group: one number, Parameter or function.
"""

from __future__ import annotations

import ctypes
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from ..arrays import Array, Integers, Ints, Ints32, address
from ..runtime.jit import Kernel, aligned, batches, declare
from .closest_points import types_of
from .form import CellEntities, ClosestPoints, Form, Jets, keeps_nodes
from .structures import LANES, Opposite, Term

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    from ..values.parameter import Value
    from .half import Half
    from .matrix import Positions

Number = TypeVar("Number", bound=np.generic)

FULL_LANES = 64  # a form of as many entities fills its lanes on its own


def source(value: Value | None) -> Hashable:
    """Return what two values have in common that are always the same."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    return (id(value),)


def grouped(forms: Sequence[Form]) -> list[list[int]]:
    """Return the numbers of the forms that are evaluated together, by the first of each group."""
    groups: dict[Hashable, list[int]] = {}
    for number, form in enumerate(forms):
        alone = form.size >= FULL_LANES or isinstance(form.entities, ClosestPoints)
        groups.setdefault(number if alone else _kind(form), []).append(number)
    return list(groups.values())


def _kind(form: Form) -> tuple[Hashable, ...]:
    kernel, entities = form.kernel, form.entities
    layout: tuple[Hashable, ...] = ()
    if isinstance(entities, CellEntities):
        shapes = entities.blocks.shape[1:], entities.maps.shape[1:], entities.scalars.shape[1:]
        layout = *shapes, entities.widths, id(entities.cell_map)
    sources = (source(form.uniform.get(name)) for name in kernel.uniform)
    return id(kernel), form.role, form.growing, form.compact, *layout, *sources


def parameters(form: Form) -> list[str]:
    """Return the parameters of a form that have one value for all of its entities."""
    return [*form.kernel.uniform, *(form.kernel.cell[row] for row in _rows(form))]


def _rows(form: Form) -> list[int]:
    """Return the rows of `Form.cell` that one value fills."""
    return [row for row, name in enumerate(form.kernel.cell) if name in form.uniform]


class Group:
    """The arrays of some forms of an assembler that their term of C points to.

    Parameters
    ----------
    forms : number and form of each.
    first : where the values of each form of the assembler begin among those of all.
    coordinates : their number on this rank.
    most : coefficient vectors of a node.
    """

    def __init__(
        self,
        forms: Mapping[int, Form],
        first: Ints,
        coordinates: int,
        most: int,
    ) -> None:
        self.numbers, own = list(forms), list(forms.values())
        kernel, sizes = own[0].kernel, [form.size for form in own]
        self.size = sum(sizes)
        self._arrays: list[npt.NDArray[np.generic]] = []
        #: (1,) points of which `pull` knows no derivatives: their anchors slide off a facet's edge
        self.unknown = np.zeros(1, dtype=np.int32)
        self._end = np.cumsum(sizes)
        self.term = Term(
            tabulated=kernel.tabulated,
            compact=own[0].compact,
            n=self.size,
            cell_rows=len(kernel.cell),
            form_end=self._hold(self._end, np.int32),
            form=self._hold(self.numbers, np.int32),
            owned=self._hold(_joined([p.owned for p in own]), np.uint8),
            vertex_start=self._hold(_starts([p.vertex_start for p in own]), np.int32),
            vertices=self._hold(_joined([p.vertices.ravel() for p in own]), np.int32),
            rates=kernel.uniform.index(declare.RATE_FACTOR) if kernel.rates else -1,
        )
        self._use(kernel)
        self._uniform = aligned((max(1, len(kernel.uniform)),))
        self._cell = batches(_joined([p.cell.reshape(p.size, len(kernel.cell)) for p in own]))
        self.term.uniform, self.term.cell = address(self._uniform), address(self._cell)
        entities = [form.entities for form in own]
        cells = [e for e in entities if isinstance(e, CellEntities)]
        if cells:
            self._take_cells(own[0].name, cells, most)
        elif isinstance(own[0].entities, ClosestPoints):
            vertices = 1 + int(own[0].vertices.max(initial=-1))
            self._take_closest_points(kernel, own[0].entities, vertices)
        else:
            jets = [e for e in entities if isinstance(e, Jets)]
            self.term.jets = kernel.rows
            self._take_jets(jets, self._end - sizes, coordinates)
        self._place(own, first)

    def _hold(self, values: npt.ArrayLike, dtype: npt.DTypeLike) -> int:
        array = np.ascontiguousarray(values, dtype=dtype)
        if array.size == 0:
            array = np.zeros(8, dtype=dtype)
        self._arrays.append(array)
        return address(array)

    def _use(self, kernel: Kernel) -> None:
        self.term.symmetric, self.term.has_tangent = kernel.symmetric, kernel.has_tangent
        for name, function in kernel.addresses.items():
            setattr(self.term, name, function)

    def _take_cells(self, name: str, cells: list[CellEntities], most: int) -> None:
        maps, stride = _joined([c.maps for c in cells]), cells[0].stride
        alike = all(c.stride == stride for c in cells)
        blocks = _joined([c.blocks if alike else c.stride * c.blocks for c in cells])
        widths, cell_map = cells[0].widths, cells[0].cell_map
        mapped = 0 if cell_map else maps.shape[2]
        vectors = sum(widths)
        if vectors > most or mapped > vectors or blocks.shape[2] != len(widths):
            raise ValueError(
                f"{name!r} has cells with {vectors} coefficient vectors at each node, {mapped} of "
                f"them mapped, in runs of {widths} at {blocks.shape[2]} places; the runtime holds "
                f"at most {most} (MAX_VECTORS in lanes.h), and a place for each run"
            )
        self.term.corners, self.term.vectors = blocks.shape[1], vectors
        self.term.parts, self.term.mapped = len(widths), mapped
        each = np.ones(np.diff(cell_map.nodes).max()) if cell_map else widths  # of a node's runs
        self.term.width = self._hold(each, np.int32)
        self.term.blocks = self._hold(blocks, np.int32)
        self.term.stride = stride if alike else 1
        scalars = _joined([c.scalars for c in cells])
        self.term.scalars, self.term.scalar = scalars.shape[1], self._hold(scalars, np.int32)
        self._maps = batches(maps.reshape(len(maps), int(np.prod(maps.shape[1:]))))
        self._arrays.append(self._maps)
        if cell_map:
            self.term.functions, self.term.cell_map = cell_map.functions, address(self._maps)
            self.term.column_first = self._hold(cell_map.first, np.int32)
            self.term.map_row = self._hold(cell_map.row, np.int32)
            self.term.nodes = len(cell_map.nodes) - 1
            self.term.node_first = self._hold(cell_map.nodes, np.int32)
        else:
            self.term.maps = address(self._maps)

    def _take_jets(self, jets: list[Jets], begin: Ints, coordinates: int) -> None:
        term, size = self.term, self.size
        entity = _joined([e.entity + np.int32(b) for e, b in zip(jets, begin, strict=True)])
        order = np.argsort(entity, kind="stable")
        entity = entity[order]
        start = np.concatenate([[0], np.cumsum(np.bincount(entity, minlength=size))])
        coordinates_of_entries = _joined([e.coordinate for e in jets])[order]
        vertex = _joined([e.vertex for e in jets])[order]
        term.entry_start = self._hold(start, np.int32)
        term.entry_jet = self._hold(_joined([e.jet for e in jets])[order], np.int32)
        term.entry_coordinate = self._hold(coordinates_of_entries, np.int32)
        term.entry_vertex = self._hold(vertex, np.int32)
        term.entry_value = self._hold(_joined([e.value for e in jets])[order], np.float64)
        # the coordinates of each entity, each once
        coordinate = np.where(
            coordinates_of_entries < 0, ~coordinates_of_entries, coordinates_of_entries
        )
        key = entity.astype(np.int64) * coordinates + coordinate
        _, once, column = np.unique(key, return_index=True, return_inverse=True)
        count = np.bincount(entity[once], minlength=size)
        start = np.concatenate([[0], np.cumsum(count)])
        term.entry_column = self._hold(column - start[entity], np.int32)
        term.column_start = self._hold(start, np.int32)
        term.column_coordinate = self._hold(coordinate[once], np.int32)
        term.column_vertex = self._hold(vertex[once], np.int32)
        term.columns = int(count.max(initial=0))

    def _take_closest_points(
        self, kernel: Kernel, closest_points: ClosestPoints, vertices: int
    ) -> None:
        hold = self._hold
        vectors = closest_points.element_offsets.shape[1]
        rows = len(kernel.cell)
        self._closest_points = Opposite(
            types=types_of(closest_points.bases, closest_points.types, hold),
            facets=len(closest_points.numbers),
            offset=hold(closest_points.offsets, np.int32),
            maps=hold(closest_points.maps, np.float64),
            number=hold(closest_points.numbers, np.int32),
            size=hold(closest_points.sizes, np.float64),
            width=hold(closest_points.widths, np.float64),
            own_width=hold(closest_points.own_widths, np.float64),
            rim=hold(closest_points.rim, np.int32),
            vectors=vectors,
            elements=len(closest_points.candidates),
            element_offset=hold(closest_points.element_offsets, np.int32),
            vector_vertex=hold(closest_points.vector_vertex, np.int32),
            facet_start=hold(closest_points.facet_start, np.int32),
            candidates=hold(closest_points.candidates, np.int32),
            facet=hold(closest_points.facet, np.int32),
            corner=hold(closest_points.corner, np.int32),
            normals=len(closest_points.corners.span_start) - 1,
            normal=hold(closest_points.corners.number, np.int32),
            span_start=hold(closest_points.corners.span_start, np.int32),
            entry_start=hold(closest_points.corners.entry_start, np.int32),
            entry_vector=hold(closest_points.corners.entry_vector, np.int32),
            entry_weight=hold(closest_points.corners.entry_weight, np.float64),
            vector_start=hold(closest_points.corners.vector_start, np.int32),
            turn_offset=hold(closest_points.corners.offset, np.int32),
            turn_vertex=hold(closest_points.corners.vertex, np.int32),
            frozen_normals=hold(closest_points.corners.frozen_normals, np.float64),
            holds=hold(closest_points.corners.holds, np.int32),
            vertices=vertices,
            element=hold(closest_points.element, np.int32),
            value=hold(closest_points.value, np.float64),
            own=hold(closest_points.own, np.float64),
            first=hold(closest_points.first, np.float64),
            reach=closest_points.reach,
            row=kernel.cell.index(closest_points.row),
            memory=rows - len(kernel.memory),
            gap=kernel.memory.index(closest_points.gap) if closest_points.gap else -1,
            damping=kernel.uniform.index(closest_points.damping),
            span=kernel.uniform.index(closest_points.span),
            anchor=closest_points.anchor,
            turn=closest_points.turn,
            rate=closest_points.rate,
            unknown=hold(self.unknown, np.int32),
        )
        self.corners, self.term.jets = closest_points.corners, kernel.rows
        self.term.closest_points = ctypes.addressof(self._closest_points)

    def _place(self, own: list[Form], first: Ints) -> None:
        """Find where the values of the forms go: to slots, and to rows of their lanes."""
        slots = len(own[0].kernel.uniform)
        self._slots = slice(int(first[self.numbers[0]]), int(first[self.numbers[0]]) + slots)
        lanes, values = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
        ranges = [np.arange(first[number], first[number + 1]) for number in self.numbers]
        self._own = np.concatenate(ranges)
        self._targets: dict[int, tuple[Ints, Ints, Ints]] = {}  # see `_fill`
        for k, (number, form) in enumerate(zip(self.numbers, own, strict=True)):
            for place, row in enumerate(_rows(form), int(first[number]) + slots):
                batch, lane = self._lanes(k)
                lanes.append((batch * len(form.kernel.cell) + row) * LANES + lane)
                values.append(np.full(len(batch), place))
        self._to, self._from = np.concatenate(lanes), np.concatenate(values)
        self._sums = [
            (int(first[n]), _rows(form)) for n, form in zip(self.numbers, own, strict=True)
        ]
        self._counts = _joined([form.owned.astype(bool) for form in own])
        self._rooms: tuple[Array, ...] = ()
        self._written = b""  # the values that kernels see
        self._filled: dict[int, Array] = {}
        self._rate: tuple[Array, Array] | None = None

    def _lanes(self, k: int) -> tuple[Ints, Ints]:
        """Return batches and lanes of the entities of a form; of the last also the idle lanes."""
        begin, end = (int(self._end[k - 1]) if k else 0), int(self._end[k])
        if end == self.size and begin < end:
            end = len(self._cell) * LANES
        at = np.arange(begin, end)
        return at // LANES, at % LANES

    def write(self, values: Array, rows: Mapping[int, Array]) -> None:
        """Let kernels see the present values of the assembler.

        `rows` are parameters (n, rows) of entities by the number of their form, where they
        change in time.
        """
        for k, number in enumerate(self.numbers):
            new = rows.get(number)
            if new is not None and self._filled.get(number) is not new:
                self._filled[number] = new
                self._fill(self._cell, k, new)
                self._written = b""
        now = values[self._own].tobytes()
        if now != self._written:
            self._put(self._uniform, self._cell, values)
            self._written = now

    @cached_property
    def addresses(self) -> Ints:
        """Places among the values of the assembler, and addresses where kernels see them."""
        places = np.arange(self._slots.start, self._slots.stop)
        slots = address(self._uniform) + 8 * np.arange(len(places))
        rows = address(self._cell) + 8 * self._to
        return np.array([[*places, *self._from], [*slots, *rows]], dtype=np.int64)

    def _fill(self, cell: Array, k: int, rows: Array) -> None:
        """Write the parameters of the entities of a form."""
        if k not in self._targets:
            batch, lane = self._lanes(k)
            entity = np.minimum(np.arange(len(batch)), len(rows) - 1)
            self._targets[k] = batch, lane, entity
        batch, lane, entity = self._targets[k]
        cell[batch, :, lane] = rows[entity]

    def put_columns(self, columns: Ints, values: Array | float) -> None:
        """Write some of the parameters of all entities, (batches, columns, 8)."""
        self._cell[:, columns] = values

    def _put(self, uniform: Array, cell: Array, values: Array) -> None:
        """Write the values of the assembler to slots and rows."""
        slots = values[self._slots]
        uniform[: len(slots)] = slots
        cell.reshape(-1)[self._to] = values[self._from]

    def lanes(self, number: int) -> tuple[Array, int, int]:
        """Return parameters (batches, rows, 8) that the kernel reads, and lanes of a form there.

        The first of its entities, and the end of these with the idle lanes that repeat the last.
        """
        batch, lane = self._lanes(self.numbers.index(number))
        first = int(batch[0]) * LANES + int(lane[0]) if len(batch) else 0
        return self._cell, first, first + len(batch)

    def overwritten(self) -> None:
        """Let the next `write` write all values: C has written others."""
        self._written = b""
        self._filled.clear()

    def turn(self, term: Term, values: Array, rows: Mapping[int, Array], function: int) -> None:
        """Give a copy of this group's term a direction of the parameters; see `write`.

        `function` is the address of the kernel's ``parameter``.
        """
        if self._rate is None:
            self._rate = aligned(self._uniform.shape), aligned(self._cell.shape)
        uniform, cell = self._rate
        cell.fill(0.0)
        for k, number in enumerate(self.numbers):
            if number in rows and len(rows[number]):
                self._fill(cell, k, rows[number])
        self._put(uniform, cell, values)
        term.uniform_rate, term.cell_rate = address(uniform), address(cell)
        term.parameter = function

    def pull(
        self, term: Term, seeds: Mapping[int, Array], function: int, update: tuple[int, int]
    ) -> tuple[Array, ...]:
        """Give a copy of this group's term room for derivatives by all parameters.

        By uniform ones (batches, slots, 8), by those of entities and what these remember
        (batches, rows, 8), and the weights of the latter, which are to be kept as long.
        `seeds` (n, rows) by the number of the form; `function` is the kernel's ``pull``, `update`
        its ``update`` and the rows of that, of points on facets.
        """
        self.unknown[:] = 0
        term.update, term.table_rows = update
        batches, rows = max(1, len(self._cell)), max(1, self._cell.shape[1])
        rooms = self._rooms
        for room in rooms:
            room.fill(0.0)
        if not rooms:
            shapes = (batches, len(self._uniform), LANES), (batches, rows, LANES)
            rooms = aligned(shapes[0]), aligned(shapes[1]), aligned(shapes[1])
            self._rooms = rooms if self.size < FULL_LANES else ()
            self._room_addresses = [*map(address, rooms)]
        for k, number in enumerate(self.numbers):
            if number in seeds and len(seeds[number]):
                self._fill(rooms[2], k, seeds[number])
        term.by_uniform, term.by_cell, term.seed = self._room_addresses
        term.uniform_rows, term.pull = len(self._uniform), function
        return rooms

    @contextmanager
    def out_of_reach(self) -> Iterator[None]:
        """Let no point touch the facets opposite for now, whatever its gap."""
        reach, self._closest_points.reach = self._closest_points.reach, -np.inf
        try:
            yield
        finally:
            self._closest_points.reach = reach

    def seed(self, term: Term, seeds: Mapping[int, Array]) -> Array:
        """Give a copy of this group's term weights of what entities remember; see `pull`."""
        seed = aligned((max(1, len(self._cell)), max(1, self._cell.shape[1]), LANES))
        for k, number in enumerate(self.numbers):
            if number in seeds and len(seeds[number]):
                self._fill(seed, k, seeds[number])
        term.seed = address(seed)
        return seed

    def sum_of(self, tables: Sequence[Array], values: Array) -> None:
        """Write sums over the entities that this rank owns to the values of the assembler.

        `tables`: by uniform parameters, and by those of entities, see `pull`; of several states,
        where there are more axes before.
        """
        flat = [
            t.swapaxes(-1, -2).reshape(*t.shape[:-3], -1, t.shape[-2])[..., : self.size, :]
            for t in tables
        ]
        uniform, cell = (np.where(self._counts[:, None], t, 0.0) for t in flat)
        slots, begin = self._slots.stop - self._slots.start, 0
        for (first, rows), end in zip(self._sums, self._end.tolist(), strict=True):
            values[..., first : first + slots] = uniform[..., begin:end, :slots].sum(axis=-2)
            if rows:
                at = first + slots
                values[..., at : at + len(rows)] = cell[..., begin:end, rows].sum(axis=-2)
            begin = end

    def tabulate(self, term: Term, rows: int, mode: str, function: int) -> Array:
        """Give a copy of this group's term a table of what a function of the kernel tells.

        (batches, rows, 8); `values_of` takes it apart.
        """
        table = aligned((-(-self.size // LANES), rows, LANES))
        term.table, term.table_rows = address(table), rows
        setattr(term, mode, function)
        return table

    def values_of(self, table: Array) -> dict[int, Array]:
        """Return the rows (n, rows) of the entities of each form, by its number."""
        flat = table.transpose(0, 2, 1).copy().reshape(len(table) * LANES, table.shape[1])
        ends = [0, *self._end.tolist()]
        return {k: flat[a:b] for k, a, b in zip(self.numbers, ends, ends[1:], strict=False)}

    def attach(self, positions: Sequence[Positions], numbers: Sequence[int]) -> None:
        """Take the places of entities in a matrix; `numbers` of the forms there, -1: none."""
        if any(numbers[number] < 0 for number in self.numbers):
            self.detach()
            return
        offsets = [positions[numbers[number]] for number in self.numbers]
        starts = [pair_start[:-1] for pair_start, _ in offsets]
        self._places = offsets[0][1]
        if any(places is not self._places for _, places in offsets):  # lists that were replaced
            parts = [places[at[0] : at[-1]] for at, places in offsets]
            ends = np.cumsum([0, *map(len, parts)])
            starts = [at[:-1] - at[0] + end for (at, _), end in zip(offsets, ends, strict=False)]
            self._places = np.concatenate([*parts, np.zeros(1, dtype=np.int32)])
        self._starts = np.ascontiguousarray(_joined(starts))
        self.term.pair_start, self.term.positions = address(self._starts), address(self._places)

    def detach(self) -> None:
        """Forget the places in a matrix."""
        self._places, self._starts = np.zeros(0, np.int32), np.zeros(0, np.int64)
        self.term.pair_start = self.term.positions = None

    def attach_half(self, half: Half, forms: Sequence[Form]) -> None:
        """Take the places of cells, which are those of `forms`, in a tangent by halves."""
        if forms[0].kernel.has_tangent and keeps_nodes(forms[0]):
            self._half_places = _joined([half.places(form) for form in forms])
            self.term.half_places = address(self._half_places)
            self.term.half_wide = half.wide
            if not forms[0].kernel.symmetric:
                self.term.skew = address(half.skew(forms))

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays that kernels and assembly read."""
        return sum(a.nbytes for a in (*self._arrays, self._uniform, self._cell))


def _joined(arrays: Sequence[npt.NDArray[Number]]) -> npt.NDArray[Number]:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _starts(starts: Sequence[Ints32]) -> Integers:
    """Return where lists begin that stand one after the other, from where each has its own."""
    if len(starts) == 1:
        return starts[0]
    ends = np.cumsum([0, *(s[-1] for s in starts)])
    later = (s[1:] + e for s, e in zip(starts, ends[:-1], strict=True))
    return np.asarray(np.concatenate([starts[0][:1], *later]))
