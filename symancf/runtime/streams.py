# SPDX-License-Identifier: BSD-3-Clause
"""Tables that grow row by row on disk and stay readable when the run dies: CSV and HDF5."""

from __future__ import annotations

import io
import os
import struct
import warnings
import zlib
from abc import ABC, abstractmethod
from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Array
from ..errors import SymancfError
from .files import new_file, writing
from .hdf import DAMAGED, Examined, reading

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import h5py

CHUNK = 1 << 16  # bytes of one chunk of a data set
SUMS = "crc32 of time, rows"  # no series can have this name


class Stream(ABC):
    """A file that takes one row after the other; it takes its name with the first one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._begun = False

    def write(self, time: float, rows: dict[str, Array], every: dict[str, int]) -> None:
        """Append the values of the series that are due, and bring them to the system."""
        if self._begun:
            with writing(self.path):
                self._append(time, rows)
            return
        with new_file(self.path) as partial:
            try:
                self._create(partial, rows, every)
                self._append(time, rows)
            except BaseException:
                with suppress(Exception):
                    self._forget()
                raise
        self._begun = True

    @abstractmethod
    def _create(self, path: Path, rows: dict[str, Array], every: dict[str, int]) -> None:
        """Begin a file for rows like the first ones."""

    @abstractmethod
    def _append(self, time: float, rows: dict[str, Array]) -> None:
        """Append a row."""

    @abstractmethod
    def _forget(self) -> None:
        """Give up a file that has no first row."""

    @abstractmethod
    def close(self) -> None:
        """Close the file."""


def _columns(name: str, shape: tuple[int, ...]) -> list[str]:
    """Names of the components of a series: ``x``, ``r[2]``, ``r[0][2]``."""
    return [name + "".join(f"[{i}]" for i in index) for index in np.ndindex(*shape)]


class CsvStream(Stream):
    """Comma-separated values: a line for each step, empty where a series was not due.

    Every line is given to the system as a whole; numbers have 17 digits and read back exactly. The
    file takes its name with its first row, until then an older one stays; a line that did not fit
    on the disk is taken back.
    """

    def _create(self, path: Path, rows: dict[str, Array], every: dict[str, int]) -> None:
        self._file = io.FileIO(path, "w")
        self._widths = {name: rows[name].size for name in every}
        head = ["time", *(c for n in every for c in _columns(n, rows[n].shape))]
        self._write_line(",".join(head))

    def _append(self, time: float, rows: dict[str, Array]) -> None:
        cells = [repr(float(time))]
        for name, width in self._widths.items():
            if name in rows:
                cells += map(repr, rows[name].ravel().tolist())
            else:
                cells += [""] * width
        self._write_line(",".join(cells))

    def _write_line(self, text: str) -> None:
        """Bring a line to the system, all or nothing."""
        good = self._file.tell()
        remaining = memoryview(f"{text}\n".encode())
        try:
            while len(remaining):
                remaining = remaining[self._file.write(remaining) :]
        except OSError:
            self._file.truncate(good)
            self._file.seek(good)
            raise

    def _forget(self) -> None:
        self._file.close()

    def close(self) -> None:
        """Close the file."""
        if self._begun:
            self._file.close()


class HdfStream(Stream):
    """HDF5: data sets ``time`` (n,) and one (m, ...) for each series, with attribute ``every``.

    Row k of a series belongs to ``time[k * every]``. The file is written in HDF5's single-writer
    mode, which orders its writes so that it can be read at any moment, and after the writer was
    killed: ``h5py.File(path, swmr=True)`` (other programs may ask for ``h5clear -s`` first). It
    takes its name with its first row; until then an older file stays. Each row has a checksum in
    the data set ``crc32 of time, rows``.
    """

    _file: h5py.File = None

    def _create(self, path: Path, rows: dict[str, Array], every: dict[str, int]) -> None:
        import h5py  # a tenth of a second to import

        self._number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o666)
        shapes = {"time": (), SUMS: (), **{name: rows[name].shape for name in every}}
        self._margin = max(1 << 20, 4 * CHUNK * len(shapes))
        self._reserved = 0
        self._reserve(0)
        self._file = h5py.File(path, "w", libver="latest")
        self._reserved = 0  # it was cut to length zero
        self._reserve(0)
        self._sets = {
            name: self._file.create_dataset(name, **_growing(shape, name))
            for name, shape in shapes.items()
        }
        self._total = 0
        for name, count in every.items():
            self._sets[name].attrs["every"] = count
        self._spaces: dict[str, h5py.h5s.SpaceID] = {}
        self._file.swmr_mode = True

    def _reserve(self, size: int) -> None:
        """See that the disk has room for what comes: HDF5 crashes when a write fails."""
        # HDF5 cuts the file to what it uses now and then
        size_now = min(self._reserved, os.fstat(self._number).st_size)
        if size + self._margin > size_now and hasattr(os, "posix_fallocate"):
            os.posix_fallocate(self._number, size, 2 * self._margin)
            self._reserved = size + 2 * self._margin

    def _append(self, time: float, rows: dict[str, Array]) -> None:
        from h5py import h5s

        self._reserve(self._file.id.get_filesize())
        # the time last: every row of a series that a reader counts on is there
        arrays = {name: np.ascontiguousarray(row, dtype=np.float64) for name, row in rows.items()}
        count = self._sets["time"].id.shape[0]
        total = _sum_of(self._total, count, time, arrays)
        last = [(SUMS, np.asarray(total, np.uint32)), ("time", np.asarray(time, np.float64))]
        for name, row in [*arrays.items(), *last]:
            data = self._sets[name].id  # h5py's slices take three times as long
            n, *shape = data.shape
            data.set_extent((n + 1, *shape))
            space = data.get_space()
            space.select_hyperslab((n, *(0 for _ in shape)), (1, *shape))
            memory = self._spaces.setdefault(name, h5s.create_simple((1, *shape)))
            data.write(memory, space, row)
            data.flush()
        self._total = total

    def _forget(self) -> None:
        if self._file:
            self._file.close()
        os.close(self._number)

    def close(self) -> None:
        """Close the file and give back what it did not need."""
        if self._file:
            used = self._file.id.get_filesize()
            self._file.close()
            os.truncate(self._number, used)
            os.close(self._number)


def _growing(shape: tuple[int, ...], name: str) -> dict[str, Any]:
    """Options of a data set of rows of this shape that grows."""
    numbers = name == SUMS
    length = 1024 if numbers else max(1, CHUNK // (8 * max(1, int(np.prod(shape)))))
    return {
        "shape": (0, *shape),
        "maxshape": (None, *shape),
        "chunks": (length, *(max(1, n) for n in shape)),
        "dtype": np.uint32 if numbers else np.float64,
        "fillvalue": 0 if numbers else np.nan,
    }


def _sum_of(before: int, row: int, time: float, rows: Mapping[str, Array]) -> int:
    """Return the CRC-32 of a row of a file: that of the row before, its number, time and values."""
    total = zlib.crc32(struct.pack("<Qd", row, time), before)
    for name in sorted(rows):
        total = zlib.crc32(rows[name].tobytes(), zlib.crc32(name.encode(), total))
    return total


def read(path: Path) -> dict[str, Array]:
    """Return the columns of a table written by one of the streams: name -> (n, ...).

    Of a file that is damaged or cut off these are the rows before, with a warning.

    Raises
    ------
    SymancfError : no such file, or another one, or not one row is whole.
    """
    try:
        if path.suffix in (".h5", ".hdf5", ".hdf"):
            columns, count = reading(path, _read_hdf)
            if len(columns["time"]) < count:
                warnings.warn(
                    f"{str(path)!r} is damaged or cut off: read are its first "
                    f"{len(columns['time'])} rows of {count}",
                    stacklevel=3,
                )
            return columns
        return _read_csv(path)
    except DAMAGED as error:
        raise SymancfError(
            f"cannot read {str(path)!r} as a table of a History: {error}", asked=str(path)
        ) from None


def _read_hdf(there: Examined) -> tuple[dict[str, Array], int]:
    """Return the rows that are whole, and how many rows the file has."""
    with there.open() as file:
        names = [name for name in file if name not in ("time", SUMS)]
        every = {"time": 1} | {name: int(file[name].attrs["every"]) for name in names}
        if min(every.values()) < 1:
            raise ValueError("a series is of every 0-th row")
        periods = every | ({SUMS: 1} if SUMS in file else {})  # no older version wrote it
        count = min(there.total(file[name]) * k for name, k in periods.items())
        steps = min(there.readable(file[name]) * k for name, k in periods.items())
        columns: dict[str, Any] = {
            n: there.take(file[n], 0, -(-steps // k)) for n, k in periods.items()
        }
        if SUMS in periods:
            sums = columns.pop(SUMS).tolist()
            steps = _complete_records(columns, every, sums)
    if count and not steps:
        raise OSError("it is damaged or cut off, and not one of its rows is whole")
    return {name: rows[: -(-steps // every[name])] for name, rows in columns.items()}, count


def _complete_records(
    columns: Mapping[str, Array], every: Mapping[str, int], sums: Sequence[int]
) -> int:
    """Return how many rows from the first on have their checksums."""
    for k, (before, total) in enumerate(pairwise([0, *sums])):
        due = {
            name: rows[k // every[name]] for name, rows in columns.items() if k % every[name] == 0
        }
        if _sum_of(before, k, float(due.pop("time")), due) != total:
            return k
    return len(sums)


def _read_csv(path: Path) -> dict[str, Array]:
    """Return the columns of a CSV file; of a last line that was cut off only that it was."""
    text = path.read_bytes().decode()
    complete, _, cut = text.rpartition("\n")
    if not complete:
        raise ValueError("its first line is cut off" if cut else "it is empty")
    names, *lines = (line.rstrip("\r").split(",") for line in complete.split("\n"))
    if names[0] != "time" or len(set(names)) < len(names):
        raise ValueError(f"its first line names no columns beside 'time': {','.join(names)[:80]!r}")
    if cut:
        warnings.warn(
            f"{str(path)!r}: the last line has no end (a full disk, or a run that was killed while "
            f"it wrote) and is left out; {len(lines)} rows are read",
            stacklevel=4,
        )
    for number, line in enumerate(lines, 2):
        if len(line) != len(names):
            raise ValueError(f"line {number} has {len(line)} cells of {len(names)}")
    columns = {name: [line[k] for line in lines] for k, name in enumerate(names)}
    return {name: np.array([float(c) for c in cells if c]) for name, cells in columns.items()}
