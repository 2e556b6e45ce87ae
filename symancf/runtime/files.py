# SPDX-License-Identifier: BSD-3-Clause
"""Files that are written to the end or not at all: a full disk is told, the old file stays.

What is written goes to a file beside the one asked for, ``.NAME.partial``, that takes the name when
all has reached the disk. After an error, a full disk among them, it is removed.
"""

from __future__ import annotations

import errno
import os
import zlib
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..arrays import Data
from .collective import share_error
from .hdf import ENDING, ending

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import h5py
    from mpi4py import MPI

SLICE = 1 << 22  # bytes that rank 0 takes from another rank at a time
CHUNK = 1 << 18  # bytes of a data set under one checksum
FORMAT = "v110", "v110"  # of HDF5 1.10, which what is built with an older HDF5 reads, too
MARGIN = 1 << 20  # bytes that HDF5 may need beside data sets


ROOM = "make room there or write to another disk"
MODE = "write to a folder that you may write to"
REMEDIES = {
    errno.ENOSPC: ROOM,
    errno.EDQUOT: "your quota is used up: " + ROOM,
    errno.EFBIG: "raise the limit of the size of files (`ulimit -f`), or write to another disk",
    errno.EROFS: MODE,
    errno.EACCES: MODE,
    errno.EPERM: MODE,
    errno.EISDIR: "give the name of a file",
    errno.EEXIST: "a folder of that name is needed: give another one",
    errno.ENOTDIR: "a folder of that name is needed: give another one",
    errno.EIO: "the disk or the network has failed: write to another disk",
}


def with_path(error: OSError, path: Path) -> OSError:
    """Return the error of a file that could not be written, with its name and what to do."""
    if error.errno is None or error.strerror is None:
        return error
    remedy, reason = REMEDIES.get(error.errno, ""), error.strerror
    if "errno = " in reason:  # by HDF5, with times, addresses and numbers of descriptors
        reason = os.strerror(error.errno)
    message = reason if remedy in reason else f"{reason}; {remedy}"
    if isinstance(error.filename, str | os.PathLike):
        path = Path(error.filename)  # as of a folder on the way
    return OSError(error.errno, message.rstrip("; "), str(path_of(path)))


def path_of(partial: Path) -> Path:
    """Return the name that a file takes when it was written."""
    name = partial.name
    while name.startswith(".") and name.endswith(".partial"):
        name = name[1 : -len(".partial")]
    return partial.with_name(name)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Let errors of the disk within the block name the file and what to do."""
    try:
        yield
    except OSError as error:
        raise with_path(error, path) from None


def make_folder(path: Path) -> None:
    """Make a folder and those that it is in.

    Raises
    ------
    OSError : it cannot be made; see `with_path`.
    """
    with writing(path):
        path.mkdir(parents=True, exist_ok=True)


def partial_of(path: Path) -> Path:
    """Return the name of a file while it is written."""
    return path.with_name(f".{path.name}.partial")


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Give the name under which a file is written; at the end of the block it takes `path`.

    Missing folders are made. After an error it is removed, and an older file stays.
    """
    make_folder(path.parent)
    partial = partial_of(path)
    try:
        with writing(path):
            yield partial
            os.replace(partial, path)  # who reads an older one keeps it
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Give a file to write that takes its name when it was written to the end; see `new_file`."""
    with new_file(path) as partial, partial.open("wb") as file:
        yield file


def require_writable(path: Path) -> None:
    """Require that `replacing` can write a file; missing folders are made, an older file stays.

    Raises
    ------
    OSError : it cannot, as in a folder that is none or that one may not write to.
    """
    make_folder(path.parent)
    partial = partial_of(path)
    with writing(path):
        partial.touch()
        partial.unlink()


def write_whole(path: Path, content: bytes | memoryview) -> None:
    """Write a file in one go, or leave the old one."""
    with replacing(path) as file:
        file.write(content)


class Disk:
    """A file that keeps its first error to itself: HDF5 crashes when a write fails."""

    def __init__(self, path: Path) -> None:
        self.file = path.open("w+b", buffering=0)
        self.error: OSError | None = None

    def write(self, data: bytes | memoryview) -> int:
        """Write all bytes, or none after an error."""
        view = memoryview(data).cast("B")
        remaining = view
        while len(remaining) and self.error is None:
            try:
                remaining = remaining[self.file.write(remaining) :]
            except OSError as error:
                self.error = error
        return len(view)

    def truncate(self, size: int) -> int:
        """Set the size."""
        try:
            return self.file.truncate(size)
        except OSError as error:
            self.error = self.error or error
            return size

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)

    def check(self) -> None:
        """Raise the error that HDF5 was not told."""
        if self.error is not None:
            raise self.error


def encoded(text: str) -> npt.NDArray[np.uint8]:
    """Return a text as an attribute of an HDF5 file.

    HDF5 keeps its own texts in a heap without checksums; reading a damaged one may never end.
    """
    return np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)


def decoded(value: str | Data) -> str:
    """Return the text of such an attribute, or of a text of HDF5."""
    return value if isinstance(value, str) else bytes(value).decode("utf-8", "surrogatepass")


def checksum(rows: Data, before: int = 0) -> int:
    """Return the CRC-32 of an array behind others, of which it is given."""
    return zlib.crc32(np.ascontiguousarray(rows).reshape(-1).view(np.uint8).data, before)


def to_first(comm: MPI.Comm, rows: Data) -> tuple[tuple[int, ...], Iterator[tuple[int, Data]]]:
    """Return the shape of the rows of all ranks together, and on rank 0 these piece by piece.

    Each with the number of its first row; other ranks send theirs when they go through the empty
    iterator. Whoever takes them must take all, also after an error (collective).
    """
    rows = np.ascontiguousarray(rows)
    counts = comm.allgather(len(rows))
    step = max(1, SLICE // max(1, rows.itemsize * int(np.prod(rows.shape[1:]))))

    def pieces() -> Iterator[tuple[int, Data]]:
        if comm.rank:
            for first in range(0, len(rows), step):
                comm.Send(rows[first : first + step].reshape(-1).view(np.uint8), 0)
            return
        at = 0
        for source, count in enumerate(counts):
            for first in range(0, count, step):
                part = rows[first : first + step]
                if source:
                    part = np.empty((min(step, count - first), *rows.shape[1:]), rows.dtype)
                    comm.Recv(part.reshape(-1).view(np.uint8), source)
                yield at, part
                at += len(part)

    return (sum(counts), *rows.shape[1:]), pieces()


class HdfFile:
    """An HDF5 file that rank 0 writes and whose data sets come from all ranks (collective).

    It ends with checksums of all its bytes, see `symancf.runtime.hdf`.

    After an error rank 0 goes on taking rows, so that no rank waits; `close` raises it on every
    rank.

    Parameters
    ----------
    path : the file; missing folders are made, an older file is replaced by `close`.
    comm : ranks that write it.
    begin : called on rank 0 with the new file, for what only rank 0 writes.

    Examples
    --------
    >>> from mpi4py import MPI
    >>> def begin(file): file.attrs["format"] = "example"
    >>> with closing(HdfFile(Path("rows.h5"), MPI.COMM_WORLD, begin)) as file:  # doctest: +SKIP
    ...     file.append("rows", np.ones((5, 3)))
    """

    fresh = True  # whether it takes the name at the end

    def __init__(self, path: Path, comm: MPI.Comm, begin: Callable[[h5py.File], None]) -> None:
        self.path, self.comm, self.partial = path, comm, partial_of(path)
        self.error: BaseException | None = None
        self.file: h5py.File = None  # on rank 0, where it could be begun
        self.disk: Disk | None = None
        if comm.rank == 0:
            self._try(lambda: self._create(begin))

    def _try(self, action: Callable[[], None]) -> None:
        if self.error is None:
            try:
                action()
            except BaseException as error:
                # what HDF5 says of a write that failed is less than what the disk said
                cause = (self.disk and self.disk.error) or error
                self.error = with_path(cause, self.path) if isinstance(cause, OSError) else cause

    def _create(self, begin: Callable[[h5py.File], None]) -> None:
        import h5py

        make_folder(self.path.parent)
        self.disk = Disk(self.partial)
        self.file = h5py.File(self.disk, "w", libver="latest")  # with checksums of its structure
        self.file.attrs[ENDING] = np.uint8(1)
        begin(self.file)
        self.disk.check()

    def append(self, name: str, rows: Data) -> None:
        """Write a data set of the rows of all ranks, in their order (collective)."""
        shape, parts = to_first(self.comm, rows)
        if self.comm.rank == 0:
            self._try(lambda: self._begin(name, shape, rows.dtype))
        for at, part in parts:
            self._try(lambda at=at, part=part: self._put(name, at, part))  # type: ignore[misc]

    def _begin(self, name: str, shape: tuple[int, ...], kind: np.dtype[np.generic]) -> None:
        width = kind.itemsize * int(np.prod(shape[1:]))
        if not shape[0] or not width:
            self.file.create_dataset(name, shape, kind)
            return
        rows = max(1, min(shape[0], CHUNK // width))
        self.file.create_dataset(name, shape, kind, chunks=(rows, *shape[1:]), fletcher32=True)

    def _put(self, name: str, at: int, part: Data) -> None:
        assert self.disk is not None
        self.file[name][at : at + len(part)] = part
        self.disk.check()

    def close(self) -> None:
        """Bring all to the disk and give the file its name, or remove it (collective).

        Raises
        ------
        OSError, on every rank : the disk is full, the folder cannot be written.
        """
        if self.comm.rank == 0:
            self._try(self._finish)
            if self.error is not None:
                self._abandon()
        share_error(self.comm, self.error)

    def _finish(self) -> None:
        assert self.disk is not None
        self.file.close()
        self.disk.check()
        sums = ending(self.disk.file, self.disk.file.seek(0, os.SEEK_END))
        self.disk.seek(0, os.SEEK_END)
        self.disk.write(sums)
        self.disk.check()
        os.fsync(self.disk.fileno())
        self.disk.close()
        os.replace(self.partial, self.path)
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)  # the new name
        finally:
            os.close(folder)

    def _abandon(self) -> None:
        """Close the file and remove it, if this began it; the first error is raised."""
        with suppress(Exception):
            if self.file:
                self.file.close()
        if self.disk is not None:
            self.disk.close()
        if self.fresh:
            with suppress(OSError):  # there may be no folder
                self.partial.unlink()


class GrowingHdf(HdfFile):
    """An HDF5 file to whose data sets each opening adds rows, those of all ranks (collective).

    A file that is begun takes its name when it was written to the end; rows that are added to one
    count when `finish` says so, whatever ended an earlier writer. Room is taken on the disk before
    anything is written, since HDF5 crashes when a write fails. Writes are ordered (HDF5's
    single-writer mode), so that a reader that looks meanwhile is not disturbed; of a file whose
    writer was killed in between, ``h5clear -s`` takes the mark that it is being written. All data
    sets have checksums.

    Parameters
    ----------
    path, comm : see `HdfFile`.
    size : bytes that will be added, of all ranks.
    starts : data set -> rows that it has; more, of a writer that failed, are cut off.
    begin : called on rank 0 with a new file; None opens one that is there.
    finish : called on rank 0 with the file when all rows are in it.

    Attributes
    ----------
    sums : data set -> CRC-32 of the rows that were added, on rank 0.
    """

    def __init__(
        self,
        path: Path,
        comm: MPI.Comm,
        size: int,
        starts: Mapping[str, int],
        begin: Callable[[h5py.File], None] | None,
        finish: Callable[[h5py.File], None],
    ) -> None:
        self.starts, self.finish = starts, finish
        self.sums: dict[str, int] = {}
        self.size = 2 * size + MARGIN + CHUNK * len(starts)
        self.fresh = begin is not None
        super().__init__(path, comm, begin or (lambda file: None))

    def _create(self, begin: Callable[[h5py.File], None]) -> None:
        import h5py

        if not self.fresh:
            self._reserve(self.path)
            self.file = h5py.File(self.path, "r+", libver=FORMAT, locking=False)
            for name, rows in self.starts.items():
                if name in self.file and len(self.file[name]) > rows:
                    self.file[name].resize(rows, axis=0)
            self.file.swmr_mode = True
            return
        make_folder(self.path.parent)
        self.partial.write_bytes(b"")
        self._reserve(self.partial)
        self.file = h5py.File(self.partial, "w", libver=FORMAT)
        self._reserve(self.partial)  # it was cut to length zero
        begin(self.file)

    def _reserve(self, path: Path) -> None:
        with path.open("r+b") as file:
            size = os.fstat(file.fileno()).st_size
            try:
                if hasattr(os, "posix_fallocate"):
                    os.posix_fallocate(file.fileno(), size, self.size)
            except OSError:
                file.truncate(size)
                raise

    def _begin(self, name: str, shape: tuple[int, ...], kind: np.dtype[np.generic]) -> None:
        self.sums[name] = 0
        start = self.starts.get(name, 0)
        if name in self.file:
            self.file[name].resize(start + shape[0], axis=0)
            return
        width = max(1, kind.itemsize * int(np.prod(shape[1:])))
        # chunks of states, not of files: one that is begun again leaves its old place unused
        parts = -(-shape[0] * width // CHUNK) or 1
        chunks = (max(1, -(-shape[0] // parts)), *(max(1, n) for n in shape[1:]))
        maximum = (None, *shape[1:])
        packed = {"compression": "gzip", "compression_opts": 1, "shuffle": True, "fletcher32": True}
        self.file.create_dataset(name, shape, kind, maxshape=maximum, chunks=chunks, **packed)

    def _put(self, name: str, at: int, part: Data) -> None:
        first = self.starts.get(name, 0) + at
        self.file[name][first : first + len(part)] = part
        self.sums[name] = checksum(part, self.sums[name])

    def _finish(self) -> None:
        self.file.flush()  # the rows, before what counts them
        self.finish(self.file)
        self.file.close()
        if self.fresh:
            os.replace(self.partial, self.path)


__all__ = [
    "Disk",
    "GrowingHdf",
    "HdfFile",
    "checksum",
    "decoded",
    "encoded",
    "make_folder",
    "new_file",
    "partial_of",
    "replacing",
    "require_writable",
    "to_first",
    "with_path",
    "write_whole",
    "writing",
]
