# SPDX-License-Identifier: BSD-3-Clause
"""Functions of time at the steps that C makes next, sampled for many of them at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ...arrays import Array, Ints, address
from ...assembly.group import source
from ...values.dependence import depends_on_time_alone
from ...values.parameter import answers_cached, evaluate_at
from .integrator import end_of_step, fits
from .motion import Course
from .supports import middles

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from ...assembly.assembler import Assembler
    from ...values.parameter import Value
    from .motion import EquationsOfMotion
    from .native import Native

MOST_ROWS = 256  # that are sampled at once


class Timetable:
    """Rows of numbers, one for each of the next steps, and where C writes them.

    The numbers are parameters of kernels, and values, rates and accelerations of supports that
    move. Functions of time alone are sampled for many steps at once; where one may read the
    motion, for one step, when that begins.

    Attributes
    ----------
    ahead : whether they are sampled for many steps; after `look`.
    functions : that are asked, as users gave them.
    """

    def __init__(self, motion: EquationsOfMotion, native: Native, auxiliary: Array) -> None:
        self.motion, self.native, self.ahead = motion, native, False
        self._vectors = motion.state, motion.rate, motion.acceleration, auxiliary
        self._most = MOST_ROWS // 16  # rows of the next table
        self._columns: dict[Hashable, tuple[int, str, Value | None]] = {}
        # places among values, and their columns
        self._uses: list[tuple[Assembler, Ints, Ints]] = []

    def look(self, parts: Sequence[Assembler]) -> bool:
        """See which functions there are; return whether all are of time alone (collective).

        `parts`: assemblers of forces that work.
        """
        m, system = self.motion, self.motion.system
        assemblers = [system.assembler, *parts]
        self._columns, self._uses = {}, []
        for assembler in assemblers:
            places, columns = [], []
            for name, value, at in assembler.timed_values:
                known = len(self._columns), name, value
                column, _, _ = self._columns.setdefault(source(value), known)
                places.append(at)
                columns.append(np.full(len(at), column))
            if places:
                self._uses.append((assembler, np.concatenate(places), np.concatenate(columns)))
        self.functions = [value for _, _, value in self._columns.values()]
        self.functions += [part for support in m.moving for part in support.values]
        self.functions += [value for _, _, value in m.driven]
        held = np.concatenate([np.zeros(0, np.int64), *(s.offsets for s in system.supports)])
        # what `DiscreteSystem.prescribe` compares at each time
        compared = m.moving and (system.idle_rows or len(np.unique(held)) < len(held))
        uniform = not any(assembler.timed_cells for assembler in assemblers)
        alone = uniform and not compared and depends_on_time_alone(self.functions, self._vectors)
        comm = system.comm
        self.ahead = bool(alone if comm.size == 1 else comm.allreduce(bool(alone), MPI.LAND))
        return self.ahead

    def begin(self, h: float, end: float, watched: bool) -> None:
        """Be ready for steps of length h from the present motion on, none beyond `end`."""
        m = self.motion
        self._h, self._end, self._watched = h, end, watched
        ends = m.state, m.rate, m.acceleration
        begin = [[x[s.offsets][None] for x in ends] for s in m.moving]
        self._courses = [[Course(u, v, a, u[:0]) for u, v, a in begin]]
        self._times = [m.system.time]
        self._table = np.zeros((0, 0))
        self._tables: list[Array] = []
        addresses, columns = self._targets() if self.ahead else (np.zeros(0, np.int64),) * 2
        problem, self._addresses = self.native.problem, addresses
        problem.give(timetable_targets=len(addresses), target_column=columns)
        problem.target = address(addresses)

    def lend_rows(self, times: Sequence[float], rows: Array | None) -> None:
        """Give C the rows of functions of time alone at some times; supports stay.

        Values that kernels see are not those of the assembler afterwards, see
        `Assembler.overwritten`. `rows` : those of `rows`, where they are known.
        """
        table = self._of_functions(times) if rows is None else rows
        addresses, columns = self._targets()
        self._addresses, problem = addresses, self.native.problem
        problem.give(timetable_targets=len(addresses), target_column=columns, timetable=table)
        problem.give(timetable_rows=len(table), timetable_columns=table.shape[1])
        problem.target = address(addresses)

    def _of_functions(self, times: Sequence[float]) -> Array:
        """Return what functions of time are at some times (times, columns)."""
        with answers_cached():
            functions = [
                evaluate_at(name, value, times) for _, name, value in self._columns.values()
            ]
        return np.transpose(functions).reshape(len(times), -1)

    def _targets(self) -> tuple[Ints, Ints]:
        """Return the addresses to which numbers of a row go, and their columns."""
        m, first = self.motion, len(self._columns)
        addresses, columns = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for assembler, places, own in self._uses:
            seen, found = assembler.addresses(places)
            order = np.argsort(places)
            addresses.append(found)
            columns.append(own[order[np.searchsorted(places[order], seen)]])
        prescribed = np.concatenate([np.zeros(0, np.int64), *(s.offsets for s in m.moving)])
        for vector in (m.state, m.rate, m.acceleration):
            addresses.append(address(vector) + 8 * prescribed)
            columns.append(np.arange(first, first + len(prescribed)))
            first += len(prescribed)
        return np.concatenate(addresses), np.concatenate(columns)

    def sample(self, time: float, most: int) -> None:
        """Give C the rows of at most so many steps, the first of which ends at `time` (collective).

        Where functions fail at later times, on whatever rank, there is the first row alone.
        """
        table = np.zeros((1, 0))
        if not self.ahead:
            self.motion.prescribe(time, self._h)
        else:
            times = [time]
            while len(times) < min(most, self._most) and fits(self._h, self._end - times[-1]):
                times.append(end_of_step(times[-1], self._h, self._end))
            comm, thrown = self.motion.system.comm, None
            try:
                table, courses = self._rows(times)
            except BaseException as error:
                thrown = error
            failed, ends = thrown is not None, not isinstance(thrown, Exception | None)
            if comm.size > 1:
                failed, ends = (bool(comm.allreduce(x, MPI.LOR)) for x in (failed, ends))
            if failed and not ends and len(times) > 1:  # a later step may not be reached
                times, thrown = times[:1], None
                table, courses = self._rows(times)
            if thrown is not None:
                raise thrown
            if ends:  # another rank leaves, and all with it
                return
            self._times += times
            self._tables.append(table[:, : len(self._columns)])
            self._courses.append(courses)
            self._most = min(2 * self._most, MOST_ROWS)
        self._table, (rows, columns) = table, table.shape
        self.native.problem.give(timetable=table, timetable_rows=rows, timetable_columns=columns)
        self.native.state.timetable_row = 0

    def _rows(self, times: list[float]) -> tuple[Array, list[Course]]:
        """Return the rows of steps that end at some times, and the courses of supports."""
        m, ends = self.motion, [self._times[-1], *times]
        table = self._of_functions(times)
        between = middles(ends) if self._watched else ()
        courses = [m.course(support.course, times, self._h, between) for support in m.moving]
        found = [table]
        for kind in ("values", "rates", "accelerations"):
            found += [getattr(course, kind) for course in courses]
        return np.concatenate(found, axis=1), courses

    def end(self) -> None:
        """Let Python know what C has taken."""
        taken, rows = self.native.state.timetable_row, len(self._table)
        if not self.ahead or not taken:
            return
        last = self._table[taken - 1]
        for assembler, places, columns in self._uses:
            assembler.take(places, last[columns])
        if taken < rows:  # of more the next call makes no use either
            self._most = taken

    def rows(self, steps: int) -> Array | None:
        """Return functions of time alone (steps, columns) at the ends of the steps that were made.

        None: they are not known.
        """
        return np.concatenate(self._tables)[:steps] if self._tables else None

    def courses(self, steps: int) -> tuple[list[float], list[Course]]:
        """Return times and courses of the supports at the ends of the steps that were steps."""
        found = [
            Course(
                np.concatenate([part.values for part in parts])[: steps + 1],
                np.concatenate([part.rates for part in parts])[: steps + 1],
                np.concatenate([part.accelerations for part in parts])[: steps + 1],
                np.concatenate([part.between for part in parts])[:steps],
            )
            for parts in zip(*self._courses, strict=True)
        ]
        return self._times[: steps + 1], found
