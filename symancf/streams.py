# SPDX-License-Identifier: BSD-3-Clause
"""Tables that grow row by row on disk and stay readable when the run dies: CSV and HDF5."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .errors import SymancfError

Array = npt.NDArray[np.float64]

CHUNK = 1 << 16  # bytes of one chunk of a data set


class Stream(Protocol):
    """A file that takes one row after the other."""

    def write(self, time: float, rows: dict[str, Array], every: dict[str, int]) -> None:
        """Append the values of the series that are due, and bring them to the system."""

    def close(self) -> None:
        """Close the file."""


def _columns(name: str, shape: tuple[int, ...]) -> list[str]:
    """Names of the components of a series: ``x``, ``r[2]``, ``r[0][2]``."""
    return [name + "".join(f"[{i}]" for i in index) for index in np.ndindex(*shape)]


class CsvStream:
    """Comma-separated values: a line for each step, empty where a series was not due.

    Every line is given to the system as a whole; numbers have 17 digits and read back exactly.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: Any = None

    def write(self, time: float, rows: dict[str, Array], every: dict[str, int]) -> None:
        """Append a line."""
        if self._file is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("w", newline="", encoding="utf-8")
            self._widths = {name: rows[name].size for name in every}
            head = [c for name in every for c in _columns(name, rows[name].shape)]
            csv.writer(self._file, lineterminator="\n").writerow(["time", *head])
        cells = [repr(float(time))]
        for name, width in self._widths.items():
            if name in rows:
                cells += map(repr, rows[name].ravel().tolist())
            else:
                cells += [""] * width
        self._file.write(",".join(cells) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


class HdfStream:
    """HDF5: data sets ``time`` (n,) and one (m, ...) for each series, with attribute ``every``.

    Row k of a series belongs to ``time[k * every]``. The file is written in HDF5's single-writer
    mode, which orders its writes so that it can be read at any moment, and after the writer was
    killed: ``h5py.File(path, swmr=True)`` (other programs may ask for ``h5clear -s`` first).
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: Any = None

    def _create(self, rows: dict[str, Array], every: dict[str, int]) -> None:
        import h5py  # a tenth of a second to import

        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.unlink(missing_ok=True)  # a reader of an older run keeps its file
        self._number = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
        shapes = {"time": (), **{name: rows[name].shape for name in every}}
        self._margin = max(1 << 20, 4 * CHUNK * len(shapes))
        self._reserved = 0
        self._reserve(0)
        self._file = h5py.File(self.path, "w", libver="latest")
        self._reserved = 0  # it was cut to length zero
        self._reserve(0)
        self._sets = {
            name: self._file.create_dataset(name, **_growing(shape))
            for name, shape in shapes.items()
        }
        for name, count in every.items():
            self._sets[name].attrs["every"] = count
        self._spaces: dict[str, Any] = {}
        self._file.swmr_mode = True

    def _reserve(self, size: int) -> None:
        """See that the disk has room for what comes: HDF5 crashes when a write fails."""
        # HDF5 cuts the file to what it uses now and then
        held = min(self._reserved, os.fstat(self._number).st_size)
        if size + self._margin > held and hasattr(os, "posix_fallocate"):
            os.posix_fallocate(self._number, size, 2 * self._margin)
            self._reserved = size + 2 * self._margin

    def write(self, time: float, rows: dict[str, Array], every: dict[str, int]) -> None:
        """Append a row to the data sets that are due."""
        from h5py import h5s

        if self._file is None:
            self._create(rows, every)
        self._reserve(self._file.id.get_filesize())
        # the time last: every row of a series that a reader counts on is there
        for name, row in [*rows.items(), ("time", np.asarray(time))]:
            data = self._sets[name].id  # h5py's slices take three times as long
            n, *shape = data.shape
            data.set_extent((n + 1, *shape))
            space = data.get_space()
            space.select_hyperslab((n, *(0 for _ in shape)), (1, *shape))
            memory = self._spaces.setdefault(name, h5s.create_simple((1, *shape)))
            data.write(memory, space, np.ascontiguousarray(row, dtype=np.float64))
            data.flush()

    def close(self) -> None:
        """Close the file and give back what it did not need."""
        if self._file:
            used = self._file.id.get_filesize()
            self._file.close()
            os.truncate(self._number, used)
            os.close(self._number)


def _growing(shape: tuple[int, ...]) -> dict[str, Any]:
    """Options of a data set of rows of this shape that grows."""
    length = max(1, CHUNK // (8 * max(1, int(np.prod(shape)))))
    return {
        "shape": (0, *shape),
        "maxshape": (None, *shape),
        "chunks": (length, *(max(1, n) for n in shape)),
        "dtype": np.float64,
        "fillvalue": np.nan,
    }


def read(path: Path) -> dict[str, Array]:
    """Return the columns of a table written by one of the streams: name -> (n, ...).

    Raises
    ------
    SymancfError : no such file, or another one.
    """
    try:
        if path.suffix in (".h5", ".hdf5", ".hdf"):
            import h5py

            with h5py.File(path, "r", swmr=True, libver="latest") as file:
                steps = len(file["time"])
                found = {"time": np.asarray(file["time"][:steps])}
                for name, data in file.items():
                    if name != "time":
                        found[name] = np.asarray(data[: -(-steps // int(data.attrs["every"]))])
                return found
        with path.open(newline="", encoding="utf-8") as text:
            head, *lines = csv.reader(text)
        lines = [line for line in lines if len(line) == len(head)]  # the last may be cut off
        columns = {name: [line[k] for line in lines] for k, name in enumerate(head)}
        return {name: np.array([float(c) for c in cells if c]) for name, cells in columns.items()}
    except (OSError, KeyError, ValueError) as error:
        raise SymancfError(f"cannot read {str(path)!r} as a table of a History: {error}") from None
