# SPDX-License-Identifier: BSD-3-Clause
"""The one way to read HDF5 files: what is damaged is found before HDF5 is let near it.

A file that symancf wrote in one go ends with checksums of all its bytes, behind what HDF5 knows of.
They are compared first. All other files, those that grow among them, are read once by a process of
its own, with limits of time and memory (`symancf.runtime.integrity`).
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

import numpy as np
from mpi4py import MPI

from ..arrays import Data
from . import integrity
from .collective import together
from .integrity import HEAD, Closed, superblock

if TYPE_CHECKING:
    import h5py

T = TypeVar("T")

BLOCK = 1 << 16  # bytes under one checksum
MARK = b"symancf crc32\r\n\0"
TAIL = struct.Struct("<QI16s")  # bytes before the checksums, checksum of these, mark
ENDING = "checksum"  # attribute of files that end with checksums
TIMES = 3  # how often the reading process may die in a data set of one file

#: What h5py raises when it reads damaged files.
DAMAGED = (
    OSError,
    LookupError,
    ValueError,
    TypeError,
    RuntimeError,
    AttributeError,
    MemoryError,
    ArithmeticError,
)


# ---- checksums at the end of a file ------------------------------------------------------------
def ending(file: IO[bytes], size: int) -> bytes:
    """Return what is written behind the first bytes of a file: their checksums."""
    file.seek(0)
    sums = [zlib.crc32(file.read(min(BLOCK, size - at))) for at in range(0, size, BLOCK)]
    table = np.array(sums, "<u4").tobytes()
    head = table + struct.pack("<Q", size)
    return head + struct.pack("<I16s", zlib.crc32(head), MARK)


def _compare(path: Path, rank: int, ranks: int) -> bool:
    """Compare this rank's share of the bytes of a file with its checksums; False: it has none.

    Raises
    ------
    OSError : they differ.
    """
    with path.open("rb") as file:
        end = os.fstat(file.fileno()).st_size
        if end < TAIL.size:
            return False
        file.seek(end - TAIL.size)
        size, total, mark = TAIL.unpack(file.read(TAIL.size))
        count = -(-size // BLOCK)
        if mark != MARK or end != size + 4 * count + TAIL.size:
            return False
        file.seek(size)
        table = file.read(4 * count)
        if zlib.crc32(table + struct.pack("<Q", size)) != total:
            return False
        sums = np.frombuffer(table, "<u4")
        for k in range(rank, count, ranks):
            file.seek(k * BLOCK)
            if zlib.crc32(file.read(min(BLOCK, size - k * BLOCK))) != sums[k]:
                raise OSError(
                    f"it is damaged: bytes {k * BLOCK} to {min(size, (k + 1) * BLOCK)} have changed"
                )
    return True


# ---- reading all of it in another process ------------------------------------------------------
def _walked(path: Path) -> Examined:
    """Return what of a file can be read.

    Raises
    ------
    OSError : the structure of the file is damaged.
    """
    with Closed(path) as first:  # what can be seen in the first bytes
        cut = f", it has {first.size} of {first.end} bytes" * (first.end > first.size)
    rows_read: dict[str, int] = {}
    for _ in range(TIMES):
        lines = _ask(path, rows_read)
        last = lines[-1]
        if "error" in last:
            raise OSError(f"it is damaged or cut off{cut} (HDF5: {last['error']})")
        if "end" in last:
            if last[ENDING]:
                raise OSError(
                    "its checksums are damaged or cut off (a program that has changed the file on "
                    f"purpose deletes its attribute {ENDING!r})"
                )
            rows = {str(r["rows"]): (int(r["count"]), int(r["of"])) for r in lines if "rows" in r}
            return Examined(path, rows)
        if "rows" not in last:
            raise OSError(f"it is damaged{cut} (HDF5 comes to no end in {last.get('at')!r})")
        rows_read[str(last["rows"])] = int(last["count"])
    raise OSError(f"it is damaged{cut} (HDF5 comes to no end in {', '.join(rows_read)})")


def _ask(path: Path, rows: dict[str, int]) -> list[dict[str, Any]]:
    """Return what a process says that reads a file."""
    script = integrity.__file__
    own = ("OMPI_", "PMI", "MPI", "HYDRA", "SLURM_")  # h5py may begin MPI, alone
    variables = {k: v for k, v in os.environ.items() if not k.startswith(own)}
    variables |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    # -P: the folder of the script must not come before the standard library
    command = [sys.executable or "python3", "-P", script, os.fspath(path), json.dumps(rows)]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, env=variables, check=False
    )
    lines = [line for line in done.stdout.splitlines() if line[:1] == b"{" and line[-1:] == b"}"]
    if not lines:
        output = done.stderr.decode(errors="replace").strip().splitlines() or [str(done.returncode)]
        raise OSError(f"the process that examines it, {command[0]}, did not start: {output[-1]}")
    return [json.loads(line) for line in lines]


# ---- what is known of a file ------------------------------------------------------------------
@dataclass
class Examined:
    """A file that HDF5 can be given.

    Attributes
    ----------
    path : of the file.
    rows : data set -> its rows that can be read, and all; of a file whose checksums were compared
        none is listed.
    """

    path: Path
    rows: dict[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def sound(self) -> bool:
        """Whether nothing is damaged."""
        return all(count == total for count, total in self.rows.values())

    def open(self) -> h5py.File:
        """Open the file for reading."""
        import h5py

        return h5py.File(Closed(self.path), "r")

    def readable(self, data: h5py.Dataset) -> int:
        """Return how many rows of a data set can be read."""
        return min(len(data), *self.rows.get(str(data.name), ()), len(data))

    def total(self, data: h5py.Dataset) -> int:
        """Return how many rows a data set had when it was examined."""
        return self.rows.get(str(data.name), (0, len(data)))[1]

    def take(self, data: h5py.Dataset, first: int, last: int) -> Data:
        """Return rows of a data set.

        Raises
        ------
        OSError : they are not there, or damaged.
        """
        if not 0 <= first <= last <= self.readable(data):
            raise OSError(f"rows {first} to {last} of {data.name!r} are not there, or damaged")
        return np.asarray(data[first:last])


_verified_files: dict[Path, tuple[tuple[int, ...], Examined]] = {}


def _state(path: Path) -> tuple[int, ...]:
    status = path.stat()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def examined(path: Path, comm: MPI.Comm | None = None, partly: bool = False) -> Examined:
    """Return a file that HDF5 can be given, in bounded time (collective on `comm`, if given).

    Parameters
    ----------
    partly : whether a file will do of which some rows cannot be read.

    Raises
    ------
    OSError : on every rank; there is no such file, it is none of HDF5, or damaged.
    """
    comm = MPI.COMM_SELF if comm is None else comm
    with together(comm):
        summed = _compare(path, comm.rank, comm.size)
    with together(comm):
        mine = _searched(path) if comm.rank == 0 and not summed else Examined(path)
    result: Examined = comm.bcast(mine)
    if not (result.sound or partly):
        names = [name for name, (count, total) in result.rows.items() if count < total]
        raise OSError(f"it is damaged or cut off, in {', '.join(names[:3])}")
    return result


def _searched(path: Path) -> Examined:
    """Examine a file without checksums at its end, once as long as it is the same."""
    now = _state(path)
    if path not in _verified_files or _verified_files[path][0] != now:
        _verified_files[path] = now, _walked(path)
    return _verified_files[path][1]


def reading(path: Path, take: Callable[[Examined], T]) -> T:
    """Return what a function takes of a file that somebody may be writing (on this rank).

    What fails is tried again where the file has become another one meanwhile.

    Raises
    ------
    OSError and others of `DAMAGED` : see `examined`.
    """
    for pause in (0.02, 0.1, 0.3, 1.0):
        before = _state(path)
        try:
            return take(examined(path, partly=True))
        except DAMAGED:
            if _state(path) == before:
                raise
            time.sleep(pause)
    return take(examined(path, partly=True))


def release(path: Path) -> None:
    """Let a file be opened for writing whose writer was killed."""
    with path.open("r+b", buffering=0) as file:
        head = file.read(HEAD)
        closed, _ = superblock(head, os.fstat(file.fileno()).st_size)
        if head[8:12] != closed[8:12]:  # the mark of a writer
            file.seek(0)
            file.write(closed)


def is_hdf5(path: Path) -> bool:
    """Tell whether a file is of HDF5."""
    with path.open("rb") as file:
        return file.read(8) == integrity.SIGNATURE


__all__ = [
    "DAMAGED",
    "ENDING",
    "Examined",
    "ending",
    "examined",
    "is_hdf5",
    "reading",
    "release",
]
