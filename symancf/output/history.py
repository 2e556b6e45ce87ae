# SPDX-License-Identifier: BSD-3-Clause
"""Histories of solutions: steps, iterations, named series."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn, Protocol, overload

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from ..arrays import Array, Ints, Mask
from ..errors import OwnAttributes, ParameterError, SymancfError, closest
from ..runtime.collective import reduced, together
from ..runtime.copies import Portable, this_process
from ..runtime.display import Displayable, lines
from ..runtime.files import new_file
from ..runtime.log import EVENTS
from ..runtime.streams import CsvStream, HdfStream, read
from ..values import arguments
from ..values.parameter import is_empty, reals
from ..values.parameter import label as shown
from .image import Image, image_path, over_time
from .steps import LimitPoint, Step, table

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Sequence
    from pathlib import Path

    from ..runtime.streams import Stream


class StepEnds(Protocol):
    """The motion at the ends of some steps; the numbers of these are from 1 on."""

    @property
    def due(self) -> Sequence[int]:
        """The numbers of the steps."""

    def at(self, which: Ints, /) -> Any:
        """Return a system at some of them, for functions with `along`."""

    def show(self, k: int, /) -> None:
        """Let the motion be that of one of them."""

    def is_changed(self) -> bool:
        """Tell whether the motion that is shown is another one now."""


MAX_LINES = 20  # of a history that is printed
SAME = 1e-6  # relative: what differs more between ranks is no round-off


class ValueSeries:
    """Values (n, ...) of one series in a buffer that grows by doubling."""

    def __init__(
        self, name: str, function: Callable[[], npt.ArrayLike], every: int, first: int
    ) -> None:
        self.name, self.function, self.every, self.first = name, function, every, first
        self.count = 0
        self.buffer: Array | None = None

    def checked(self, value: npt.ArrayLike) -> Array:
        """Return a value as a row of this series."""
        try:
            row = np.asarray(value)
        except ValueError:  # lists of different lengths
            row = np.asarray(None)
        if row.dtype.kind not in "biuf":
            raise ParameterError(
                f"series {self.name!r}: its function returned {type(value).__name__}: give a "
                "number or an array of numbers",
                asked=self.name,
            )
        if self.buffer is not None and row.shape != self.buffer.shape[1:]:
            raise ParameterError(
                f"series {self.name!r}: its function returned shape {row.shape}, before "
                f"{self.buffer.shape[1:]}",
                asked=self.name,
            )
        return row.astype(np.float64)

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy has: the values, and no function."""
        values = self.values.copy() if self.count else None
        return {**vars(self), "function": _of_a_copy, "buffer": values}

    def extend(self, rows: Array) -> None:
        """Keep rows (k, ...)."""
        if not len(rows):
            return
        count = self.count + len(rows)
        if self.buffer is None:
            self.buffer = np.empty((max(64, 2 * count), *rows.shape[1:]))
        elif count > len(self.buffer):
            self.buffer = np.concatenate([self.values, np.empty((count, *rows.shape[1:]))])
        self.buffer[self.count : count] = rows
        self.count = count

    def is_due(self, numbers: Ints) -> Mask:
        """Return at which steps, by their numbers, a row is kept."""
        return np.asarray((numbers - self.first) % self.every == 0)

    @property
    def values(self) -> Array:
        """Those that are kept, (n, ...)."""
        return np.zeros(0) if self.buffer is None else self.buffer[: self.count]


def _of_a_copy() -> NoReturn:
    """Raise where a copy of a history is to record."""
    raise SymancfError(
        "this history is a copy: it has the values, not the functions that record them; solve with "
        "the history of the problem, problem.history",
        asked="history",
        possible=("problem.history",),
    )


class History(Portable, Displayable, OwnAttributes):
    """The converged steps of a solution, with the work that they took and recorded series.

    Parameters
    ----------
    csv, hdf5 : files to which every step is written as soon as it is reached, so that they are
        readable whatever ends the run; existing files are replaced. See `read`.
    comm : ranks of the run, default all; a problem that takes the history puts its own here.
        Rank 0 writes, errors are raised on every rank.

    Attributes
    ----------
    steps : in the order in which they were reached.
    limit_points : `LimitPoint` of followed paths, in the order in which they were passed.
    bifurcations : `LimitPoint` at which followed paths branch, as far as `search` shows them.
    search : which bifurcations the last followed path was searched for. ``"all"``: by the number of
        negative eigenvalues (direct solver, symmetric tangent); ``"odd"``: by the sign of the
        determinant (unsymmetric tangent, as of follower loads), where pairs of eigenvalues cannot
        be seen; ``"none"``: not looked for (Krylov's methods); "": no path was followed.
    cut_backs : attempts that failed and were repeated with a smaller step.
    wasted : Newton iterations of attempts that failed.
    seconds : CPU time of this rank for assembly, and for all else in PETSc's solver.

    Examples
    --------
    >>> history = History()
    >>> x = [0.0]
    >>> history.record("x", lambda: x[0])
    >>> history.sample(0.0); x[0] = 2.0; history.sample(0.5)
    >>> history.time, history["x"]
    (array([0. , 0.5]), array([0., 2.]))
    """

    _of_process: ClassVar = {"comm": this_process, "_streams": list}

    def __init__(
        self,
        csv: str | Path | None = None,
        hdf5: str | Path | None = None,
        comm: MPI.Comm | None = None,
    ) -> None:
        self.comm = MPI.COMM_WORLD if comm is None else comm
        self.steps: list[Step] = []
        self.limit_points: list[LimitPoint] = []
        self.bifurcations: list[LimitPoint] = []
        self.search: Literal["", "all", "odd", "none"] = ""
        self.cut_backs = 0
        self.wasted = 0
        self.seconds = {"assembly": 0.0, "solve": 0.0}
        self._time = ValueSeries("time", float, 1, 0)
        self._series: dict[str, ValueSeries] = {}
        self._streams: list[Stream] = []
        self._checked_series: set[str] = set()  # series whose shape all ranks agreed on
        self._warned: set[str] = set()  # series of which it was said that they differ by rank
        self.stream(csv, hdf5)

    # ---- recording ------------------------------------------------------------------------------
    def stream(self, csv: str | Path | None = None, hdf5: str | Path | None = None) -> None:
        """Write every step from now on to files, too (see the parameters of the class)."""
        table = None if csv is None else arguments.path("History(csv=...)", csv)
        sets = None if hdf5 is None else arguments.path("History(hdf5=...)", hdf5)
        if (table or sets) and self._time.count:
            raise ParameterError(
                "stream: name the files before the first step is recorded", asked="stream"
            )
        self._streams += [CsvStream(table)] if table else []
        self._streams += [HdfStream(sets)] if sets else []

    def record(self, name: Any, function: Callable[[], npt.ArrayLike], every: Any = 1) -> None:
        """Keep what `function` returns after each step, or after each `every`-th.

        Parameters
        ----------
        name : key of the series.
        function : called without arguments on every rank; returns a number or an array, always
            of the same shape and on every rank the same. It may communicate.

        Raises
        ------
        ParameterError : a name that is taken or impossible, or files that were begun without it.
        """
        checked = arguments.printable("record: the name of a series", name)
        if not checked or any(c in checked for c in '/,"') or checked == ".":
            raise ParameterError(
                f"record({name!r}): a name is a text without / , and quotes",
                asked="name",
                given=name,
            )
        if name == "time" or name in self._series:
            raise ParameterError(
                f"record({name!r}): there is already a series of that name",
                asked="name",
                given=name,
            )
        if not callable(function):
            raise ParameterError(f"record({name!r}): {function!r} is not a function", asked=name)
        if isinstance(every, bool) or not isinstance(every, int) or every < 1:
            raise ParameterError(
                f"record({name!r}, every={every!r}): give a number of steps",
                asked="every",
                given=every,
            )
        if self._streams and self._time.count:
            raise ParameterError(
                f"record({name!r}): its column is missing in files begun at the first step; "
                "record before solving",
                asked=name,
            )
        self._series[name] = ValueSeries(name, function, every, self._time.count)

    def sample(self, time: float) -> None:
        """Call the functions of all series that are due, and write the files (collective).

        Raises
        ------
        ParameterError : `time` is no finite number.
        Exception : on every rank: of a user's function, which leaves nothing recorded, of another
            shape on another rank, or OSError of a file.
        """
        time = arguments.number("sample", "time", time)
        number = self._time.count
        due = [s for s in self._series.values() if s.is_due(np.array(number))]
        rows = self._evaluated(due) if due else {}
        with together(self.comm):
            for name, row in rows.items():
                self._series[name].extend(row[None])
            self._time.extend(np.array([time]))
            if self._streams and self.comm.rank == 0:
                every = {s.name: s.every for s in self._series.values()}
                with EVENTS["output"]:
                    for stream in self._streams:
                        stream.write(time, rows, every)

    def _at_point(self, recorded: Container[str] = ()) -> dict[str, Array]:
        """Return the values of all series at the present state, a point of a path (collective).

        Parameters
        ----------
        recorded : names of series that were recorded at this state, whose functions are not
            called again.

        Raises
        ------
        Exception : as in `sample`.
        """
        all_series = self._series.values()
        due = [s for s in all_series if s.name not in recorded]
        new = self._evaluated(due) if due else {}
        return {s.name: new[s.name] if s.name in new else s.values[-1].copy() for s in all_series}

    def _evaluated(self, due: Sequence[ValueSeries]) -> dict[str, Array]:
        """Return what the functions of some series return (collective)."""
        with together(self.comm):
            rows = {series.name: series.checked(series.function()) for series in due}
        if self.comm.size > 1:
            self._require_one_shape(rows)
            self._tell_differences(rows)
        return rows

    @property
    def called(self) -> list[Callable[[], npt.ArrayLike]]:
        """The functions that are called after steps; none where files want each step at once."""
        return [] if self._streams else [series.function for series in self._series.values()]

    def due(self, most: int) -> Ints:
        """Return of which of the next steps, from 1 on, something is recorded."""
        numbers = self._time.count + np.arange(most)
        found = np.full(most, bool(self._streams))
        for series in self._series.values():
            found |= series.is_due(numbers)
        return np.flatnonzero(found) + 1

    def keep(self, steps: Sequence[Step], motion: StepEnds | None) -> bool:
        """Keep steps that were made at once, and what is recorded at some of them.

        Returns whether a function has changed the motion that it was shown: its step is the last
        one then.

        Parameters
        ----------
        motion : at the ends of the steps at which something is recorded; None: there are none.

        Raises
        ------
        Exception : of a user's function; its step is the last one, and of that nothing is recorded.
        """
        times, begun = np.array([step.time for step in steps]), self._time.count - 1
        numbers = np.array([] if motion is None else motion.due, dtype=np.int64)
        called: dict[int, list[ValueSeries]] = {}  # by the number of the instant
        known: list[tuple[ValueSeries, Ints, Array]] = []  # numbers of steps, rows
        shown: dict[bytes, Any] = {}  # by the numbers of instants
        for series in self._series.values():
            at = np.flatnonzero(series.is_due(begun + numbers))
            along = getattr(series.function, "along", None)
            if along is not None and motion is not None and len(at):
                key = at.tobytes()
                shown[key] = shown[key] if key in shown else motion.at(at)
                known.append((series, numbers[at], along(shown[key])))
            for k in at.tolist() if along is None else ():
                called.setdefault(k, []).append(series)
        done = made = 0

        def record_until(number: int) -> None:
            nonlocal done
            for series, at, rows in known:
                series.extend(rows[(done < at) & (at <= number)])
            self._time.extend(times[done:number])
            done = number

        for k in sorted(called):
            assert motion is not None
            motion.show(k)
            number = motion.due[k]
            record_until(number - 1)
            self.steps += steps[made:number]
            made = number
            for name, row in self._evaluated(called[k]).items():
                self._series[name].extend(row[None])
            record_until(made)
            if motion.is_changed():
                return True
        record_until(len(steps))
        self.steps += steps[made:]
        return False

    def _require_one_shape(self, rows: dict[str, Array]) -> None:
        """Raise where a series has another shape on another rank (collective)."""
        fresh = {name: row.shape for name, row in rows.items() if name not in self._checked_series}
        if not fresh:
            return
        self._checked_series |= set(fresh)
        for shapes in zip(*(f.items() for f in self.comm.allgather(fresh)), strict=False):
            if len(set(shapes)) > 1:
                (name, first), other = shapes[0], next(s for s in shapes if s != shapes[0])
                raise ParameterError(
                    f"series {name!r}: its function returned shape {first} on rank 0 and "
                    f"{other[1]} on another; return the same on every rank",
                    asked=name,
                )

    def _tell_differences(self, rows: dict[str, Array]) -> None:
        """Warn once for each series whose values differ by rank beyond round-off (collective)."""
        values = np.nan_to_num(np.concatenate([row.ravel() for row in rows.values()]))
        low, high = reduced(self.comm, values, MPI.MIN), reduced(self.comm, values, MPI.MAX)
        apart = high - low > SAME * np.maximum(np.abs(low), np.abs(high))
        first = 0
        for name, row in rows.items():
            here = np.flatnonzero(apart[first : first + row.size])
            if len(here) and name not in self._warned:
                self._warned.add(name)
                if self.comm.rank == 0:
                    k = first + int(here[0])
                    warnings.warn(
                        f"series {name!r}: its function returned values between {low[k]:g} and "
                        f"{high[k]:g} on different ranks; files have those of rank 0, which "
                        "depend on the partition: sum or gather what each rank has",
                        stacklevel=3,
                    )
            first += row.size

    def reached(self) -> str:
        """Return in words what is kept where a solution is stopped."""
        count = len(self.steps)
        if not count:
            return "Ctrl-C before the first step: the state is that of the start"
        text = "state, history and files" if self._streams else "state and history"
        steps = f"{count} step{'s' * (count != 1)}"
        return (
            f"Ctrl-C: {text} are those after {steps}, at time {self.steps[-1].time:.7g}; the "
            "next call continues from there"
        )

    def close(self) -> None:
        """Close the files; the next step opens none."""
        for stream in self._streams:
            stream.close()
        self._streams = []

    # ---- results --------------------------------------------------------------------------------
    @property
    def time(self) -> Array:
        """Times of all recorded steps, (n,)."""
        return self._time.values

    @property
    def names(self) -> list[str]:
        """The recorded series."""
        return list(self._series)

    @property
    def _begun(self) -> bool:
        """Whether files were begun, which take no more columns."""
        return bool(self._streams and self._time.count)

    def _latest(self) -> list[str]:
        """Return the names of the series that were recorded at the last step."""
        last = self._time.count - 1
        begun = [series for series in self._series.values() if series.count]
        return [series.name for series in begun if (last - series.first) % series.every == 0]

    def _of(self, name: str) -> ValueSeries:
        if arguments.among(name, ("time",)):
            return self._time
        if not arguments.among(name, self._series):
            names = ", ".join(map(repr, self._series)) or "none"
            raise ParameterError(
                f"no series {shown(name)} was recorded; there are: {names}."
                + closest(name, self._series),
                asked=str(name),
                given=name,
                possible=self._series,
            )
        return self._series[name]

    def __getitem__(self, name: str) -> Array:
        """Return a series, (n, ...): one row for each of `times(name)`."""
        return self._of(name).values

    def __contains__(self, name: object) -> bool:
        return arguments.among(name, self._series)

    def __iter__(self) -> Iterator[str]:
        """Names of the series."""
        return iter(self._series)

    def times(self, name: str = "time") -> Array:
        """Return the times of a series: all of `time`, unless it was recorded with ``every``.

        These are the times of all steps that were made, also of those whose length the method
        chose within a `solve`.
        """
        series = self._of(name)
        return self.time[series.first :: series.every][: series.count]

    def at(self, name: str, time: float | npt.ArrayLike) -> Array:
        """Return a series at a time within it, linear between its records.

        Parameters
        ----------
        time : a number, or several (n,); of a time that has several records the last counts.

        Raises
        ------
        ParameterError : there is no such series, its times fall, or the time is not within them.

        Examples
        --------
        >>> import symancf as sa
        >>> ball = sa.RigidBody.sphere(0.1, position=(0.0, 0.0, 0.0), rho=1000.0)
        >>> fall = sa.DynamicProblem(sa.System(ball, terms=[sa.gravity((0.0, 0.0, -10.0))]))
        >>> fall.record("ball", ball.centre)
        >>> history = fall.solve(to=0.2, step=0.05)
        >>> print(history.at("ball", 0.15)[2].round(6), history.at("ball", [0.0, 0.1]).shape)
        -0.1125 (2, 3)
        """
        values, times, wanted = self[name], self.times(name), reals(time)
        if not len(times) or (np.diff(times) < 0.0).any():
            raise ParameterError(
                f"series {name!r} has {'falling' if len(times) else 'no'} times", asked=name
            )
        near = 1e-9 * (times[-1] - times[0])
        inside = (wanted >= times[0] - near) & (wanted <= times[-1] + near)
        if not inside.all() or (not wanted.size and not is_empty(time)):
            raise ParameterError(
                f"series {name!r} goes from {times[0]:g} to {times[-1]:g}: there is no "
                f"{shown(time)}",
                asked="time",
                given=time,
            )
        before = np.clip(np.searchsorted(times, wanted, "right") - 1, 0, len(times) - 1)
        after = np.minimum(before + 1, len(times) - 1)
        gap = times[after] - times[before]
        share = np.clip((wanted - times[before]) / np.where(gap > 0.0, gap, 1.0), 0.0, 1.0)
        share = share.reshape(share.shape + (1,) * (values.ndim - 1))
        then: Array = np.where(share > 0.0, values[after], 0.0)
        return np.asarray((1.0 - share) * values[before] + share * then)

    def __deepcopy__(self, memo: dict[int, Any]) -> History:
        copy = super().__deepcopy__(memo)
        copy._streams = []  # the files stay with the one that began them
        return copy

    def _write(self, path: Path, kind: Callable[[Path], Stream]) -> None:
        """Write all rows, or leave the older file (collective)."""
        with together(self.comm):
            late = [s.name for s in self._series.values() if s.first and s.count]
            if late:
                raise ParameterError(
                    f"series {', '.join(map(repr, late))} began after the first step and fit "
                    "into no table with the others; take history[name] and history.times(name)",
                    asked=late[0],
                )
            if self.comm.rank == 0 and self._time.count:
                with new_file(path) as partial:
                    stream = kind(partial)
                    try:
                        self._write_rows([stream])
                    finally:
                        stream.close()

    def _write_rows(self, streams: Sequence[Stream], first: int = 0) -> None:
        """Write all rows, from a number on, to files (on this rank)."""
        held = [series for series in self._series.values() if series.count]
        every = {series.name: series.every for series in held}
        for k in range(first, self._time.count):
            due = [s for s in held if k >= s.first and (k - s.first) % s.every == 0]
            rows = {s.name: s.values[(k - s.first) // s.every] for s in due}
            for stream in streams:
                stream.write(float(self.time[k]), rows, every)

    def to_csv(self, path: str | Path) -> None:
        """Write all series as a table of comma-separated values (collective)."""
        self._write(arguments.path("to_csv", path), CsvStream)

    def to_hdf5(self, path: str | Path) -> None:
        """Write all series as data sets of an HDF5 file (collective)."""
        self._write(arguments.path("to_hdf5", path), HdfStream)

    @staticmethod
    def read(path: str | Path) -> dict[str, Array]:
        """Return the columns of a file written here, also of a run that is going on or died.

        A vector is one array from HDF5, and one column for each component from CSV.
        """
        return read(arguments.path("History.read", path))

    @overload
    def plot(self, *names: str, path: str | Path, label: str = "", time_unit: str = "") -> Path: ...

    @overload
    def plot(
        self, *names: str, path: None = None, label: str = "", time_unit: str = ""
    ) -> Image: ...

    def plot(
        self, *names: str, path: str | Path | None = None, label: str = "", time_unit: str = ""
    ) -> Path | Image:
        """Draw series over the time, without a display; rank 0 draws (collective).

        Parameters
        ----------
        names : series, default all; those of vectors give one line for each component.
        path : a PNG, PDF or SVG; without it an `Image` is returned, which notebooks show.
        label : of the ordinate, default the names; say the unit, ``"height [m]"``.
        time_unit : of the abscissa, e.g. "s".

        Examples
        --------
        >>> history = History()
        >>> history.record("P", lambda: 2.0)
        >>> history.sample(0.0); history.sample(1.0)
        >>> picture = history.plot("P")  # the last line of a cell of a notebook shows it
        """
        path = None if path is None else image_path("plot", path)
        label = arguments.text("plot: label", label)
        time_unit = arguments.text("plot: time_unit", time_unit)
        image = Image()
        with together(self.comm):
            drawn = {name: (self.times(name), self[name]) for name in names or self.names}
            if self.comm.rank == 0:
                image = over_time(drawn, label or ", ".join(drawn), time_unit)
                if path is not None:
                    image.save(path)
        return image if path is None else path

    @property
    def iterations(self) -> int:
        """Newton iterations of all converged steps."""
        return sum(step.iterations for step in self.steps)

    @property
    def linear_iterations(self) -> int:
        """Krylov iterations of all converged steps."""
        return sum(step.linear_iterations for step in self.steps)

    def _headline(self) -> str:
        """Return the number of steps, and what was recorded."""
        count, series = len(self.steps), ", ".join(map(repr, self._series))
        reached = f" to time {self.steps[-1].time:g}" if self.steps else ""
        recorded = f"; recorded: {series}" if series else ""
        return f"History of {count} step{'s' * (count != 1)}{reached}{recorded}"

    def _facts(self) -> list[tuple[str, ...]]:
        """Return the steps with what tells them apart, their iterations and norms."""
        late = len(self.time) - len(self.steps)  # motions record where they begin, too
        numbers = {
            name: series.values[late:]
            for name, series in self._series.items()
            if series.values.ndim == 1 and series.count == len(self.time) and late >= 0
        }
        return table(self.steps, numbers)

    def __str__(self) -> str:
        rows = lines(self._facts(), MAX_LINES - 1 - bool(self.search))
        cut = f"{self.cut_backs} cut back ({self.wasted} iterations)" if self.cut_backs else ""
        rows.append(
            ", ".join(filter(None, [f"{len(self.steps)} steps", cut]))
            + "; CPU s: "
            + ", ".join(f"{k} {v:.2f}" for k, v in self.seconds.items())
        )
        if self.search:
            rows.append(f"bifurcations: {self._searched()}")
        return "\n".join(rows)

    def _searched(self) -> str:
        if self.search == "none":
            return "not looked for"
        text = ", ".join(
            f"{p.parameter:.7g}" + (f" ({p.eigenvalues} eigenvalues)" if p.eigenvalues > 1 else "")
            for p in self.bifurcations
        )
        blind = "; pairs of eigenvalues cannot be seen" if self.search == "odd" else ""
        return (f"at {text}" if text else "none seen") + blind
