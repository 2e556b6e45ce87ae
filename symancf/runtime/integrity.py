# SPDX-License-Identifier: BSD-3-Clause
"""Read everything in an HDF5 file once, in a process of its own: ``python integrity.py FILE``.

HDF5 loops for ever in some damaged files, crashes in others and asks for any amount of memory. Here
every object is read under limits of time and memory; `symancf.runtime.hdf` starts it and takes what
it prints, a line of JSON for each of

    {"at": NAME}                    what is read from now on
    {"rows": NAME, "count": n, "of": m}     how many rows of a data set could be read
    {"error": TEXT}                 the structure cannot be read
    {"end": true, "checksum": ...}  all was read; whether checksums have to follow

It imports nothing of symancf, which would start MPI.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import struct
import sys
from typing import Any

SIGNATURE = b"\x89HDF\r\n\x1a\n"
HEAD = 48  # bytes of a superblock of version 2 or 3
PIECE = 1 << 22  # bytes that are read at a time
CPU, WALL = 1.0, 60  # seconds for one of them
DEFLATED = 1100  # bytes that one byte of a compressed data set can stand for
DAMAGED = (OSError, RuntimeError, ValueError, MemoryError, TypeError)
MEMORY = 1 << 32  # bytes of addresses, beside twice the size of the file


# ---- the superblock (HDF5 file format specification, section II.A) ------------------------------
def _turn(x: int, k: int) -> int:
    return (x << k | x >> (32 - k)) & 0xFFFFFFFF


def lookup3(data: bytes) -> int:
    """Return HDF5's checksum of metadata, Jenkins' hash lookup3 of the beginning 0."""
    mask = 0xFFFFFFFF
    a: int
    b: int
    c: int
    a = b = c = (0xDEADBEEF + len(data)) & mask
    words = struct.unpack(f"<{-(-len(data) // 4)}I", data + bytes(-len(data) % 4))
    rest = [*words, 0, 0]
    while len(rest) - 2 > 3:
        a, b, c = (a + rest[0]) & mask, (b + rest[1]) & mask, (c + rest[2]) & mask
        for k in (4, 6, 8, 16, 19, 4):
            a = ((a - c) & mask) ^ _turn(c, k)
            c = (c + b) & mask
            a, b, c = b, c, a
        rest = rest[3:]
    a, b, c = (a + rest[0]) & mask, (b + rest[1]) & mask, (c + rest[2]) & mask
    for k in (14, 11, 25, 16, 4, 14, 24):
        c = ((c ^ b) - _turn(b, k)) & mask
        a, b, c = b, c, a
    return b


def superblock(head: bytes, size: int) -> tuple[bytes, int]:
    """Return the superblock of a file of a size as if its writer had closed it, and its true size.

    Superblocks of version 0 and 1, which tell nothing of a writer, are returned as they are.

    Raises
    ------
    OSError : it is not that of an HDF5 file, or damaged.
    """
    if head[:8] != SIGNATURE:
        raise OSError("it does not begin as an HDF5 file" if size else "it is empty")
    if len(head) < HEAD or head[8] not in (2, 3):
        return head, size
    (total,) = struct.unpack("<I", head[44:])
    if head[9] != 8 or head[10] != 8 or lookup3(head[:44]) != total:
        raise OSError("its first bytes are damaged")
    (end,) = struct.unpack("<Q", head[28:36])
    complete = head[:11] + b"\0" + head[12:28] + struct.pack("<Q", size) + head[36:44]
    return complete + struct.pack("<I", lookup3(complete)), end


class Closed(io.RawIOBase):
    """A file to be read by HDF5, as if its writer had closed it, also where that was killed.

    HDF5's own way to read such files repeats what fails for hours.

    Attributes
    ----------
    size, end : bytes that it has, and that it had when its writer closed it.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.file = open(path, "rb", buffering=0)  # noqa: SIM115 - HDF5 closes it
        try:
            self.size = os.fstat(self.file.fileno()).st_size
            self.head, self.end = superblock(self.file.read(HEAD), self.size)
        except BaseException:
            self.file.close()
            raise

    def readable(self) -> bool:
        """Tell that one may read."""
        return True

    def seekable(self) -> bool:
        """Tell that one may seek."""
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        """Move; the end is that of the file."""
        return self.file.seek(offset, whence)

    def tell(self) -> int:
        """Return where it is."""
        return self.file.tell()

    def readinto(self, buffer: Any) -> int:
        """Read all that is asked for.

        Raises
        ------
        OSError : the file ends before.
        """
        at = self.file.tell()
        remaining = memoryview(buffer).cast("B")
        while len(remaining):
            count = self.file.readinto(remaining)
            if not count:
                raise OSError(f"it ends before byte {at + len(buffer)}")
            remaining = remaining[count:]
        if at < len(self.head):
            part = self.head[at : at + len(buffer)]
            memoryview(buffer).cast("B")[: len(part)] = part
        return len(buffer)

    def close(self) -> None:
        """Close the file."""
        self.file.close()
        super().close()


# ---- reading everything -------------------------------------------------------------------------
def say(**line: Any) -> None:
    """Print a line, and begin to count the time anew."""
    signal.setitimer(signal.ITIMER_PROF, CPU)  # without a handler they end the process,
    signal.alarm(WALL)  # also within C
    print(json.dumps(line), flush=True)


def limit(size: int) -> None:
    """Limit the memory of this process that reads a file of a size."""
    import resource

    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY + 2 * size,) * 2)


class Walk:
    """A way through all objects of a file.

    Parameters
    ----------
    size : of the file, when its writer closed it.
    rows_read : data set -> rows that were read before this process; no more of it are read.
    """

    def __init__(self, size: int, rows_read: dict[str, int]) -> None:
        self.size, self.rows_read = size, rows_read
        self.seen: set[Any] = set()

    def group(self, group: Any) -> None:
        """Read all that is in a group; links to other files are not followed."""
        import h5py

        todo = [group]
        while todo:
            here = todo.pop()
            say(at=here.name)
            self.attributes(here)
            for name in here:
                say(at=f"{here.name}/{name}")
                if not isinstance(here.get(name, getlink=True), h5py.HardLink):
                    continue
                member = here[name]
                address = h5py.h5o.get_info(member.id).addr
                if address in self.seen:
                    continue
                self.seen.add(address)
                if isinstance(member, h5py.Group):
                    todo.append(member)
                    continue
                self.attributes(member)
                if isinstance(member, h5py.Dataset):
                    self.data(member)

    def attributes(self, owner: Any) -> None:
        """Read all attributes of an object."""
        for name in owner.attrs:
            attribute = owner.attrs.get_id(name)
            if _bytes(attribute.shape or (), attribute.dtype.itemsize) > self.size:
                raise OSError(f"attribute {name!r} of {owner.name!r} is larger than the file")
            _ = owner.attrs[name]

    def data(self, data: Any) -> None:
        """Read all rows of a data set, and tell how many can be."""
        name, shape = data.name, data.shape
        if shape is None:
            return
        rows = shape[0] if shape else 1
        say(rows=name, count=0, of=rows)
        with contextlib.suppress(*DAMAGED):
            item = data.dtype.itemsize
            stored, size = data.id.get_storage_size(), _bytes(shape, item)
            if stored > self.size or size > DEFLATED * stored + PIECE:
                return  # it says that it is larger than it can be
            if not shape:
                _ = data[()]
                say(rows=name, count=1, of=1)
                return
            row = max(1, _bytes(shape[1:], item))
            step = data.chunks[0] if data.chunks else max(1, PIECE // row)
            self.pieces(data, step, step * max(1, PIECE // (row * step)))

    def pieces(self, data: Any, step: int, many: int) -> None:
        """Read many rows at a time, or where these are damaged as few as are stored together."""
        name, rows = data.name, data.shape[0]
        at, end = 0, min(rows, self.rows_read.get(name, rows))
        while at < end:
            try:
                _ = data[at : min(end, at + many)]
            except OSError:
                if many == step:
                    raise
                many = step
                continue
            at = min(end, at + many)
            say(rows=name, count=at, of=rows)


def _bytes(shape: tuple[int, ...], item: int) -> int:
    size = item
    for n in shape:
        size *= n
    return size


def main() -> None:
    """Read the file that the command line names."""
    path, rows = sys.argv[1], json.loads(sys.argv[2])
    import h5py  # before the time is counted

    say(at="the file")
    size = os.stat(path).st_size
    limit(size)
    try:
        with Closed(path) as there, h5py.File(there, "r") as file:
            Walk(max(size, there.end), rows).group(file)
            say(end=True, checksum="checksum" in file.attrs)
    except Exception as error:  # whatever HDF5 makes of a damaged file
        say(error=f"{error}" or type(error).__name__)


if __name__ == "__main__":
    main()
