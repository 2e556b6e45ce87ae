# SPDX-License-Identifier: BSD-3-Clause
"""Reading a mesh file of somebody comes to an end, also where it is damaged or cut off.

meshio asks for more lines for ever where some formats are cut off, and a damaged number lets it ask
for any amount of memory.
"""

from __future__ import annotations

import io
import re
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Any, TypeVar

import meshio
import meshio.tetgen._tetgen

from ..runtime.hdf import examined, is_hdf5

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ENDS = 100  # how often one may read behind the end of a file
MEMORY = 1 << 31, 100  # bytes, and bytes for each byte of the file
HEAVY_ENTITY = re.compile(rb"([^<>\s\"']+\.(?:h5|hdf5|hdf)):/", re.IGNORECASE)

AnyText = TypeVar("AnyText", str, bytes)


class _Ending:
    """A file whose end cannot be read for ever."""

    ends = 0

    def _read(self, text: AnyText) -> AnyText:
        self.ends = 0 if text else self.ends + 1
        if self.ends > ENDS:
            raise ValueError("it is cut off, or another number in it is damaged")
        return text

    def read(self, size: int | None = -1) -> Any:
        return self._read(super().read(size))  # type: ignore[misc]

    def readline(self, size: int = -1) -> Any:
        return self._read(super().readline(size))  # type: ignore[misc]


class _Bytes(_Ending, io.BufferedReader):  # type: ignore[misc]
    """Bytes."""


class _TextLines(_Ending, io.TextIOWrapper):  # type: ignore[misc]
    """Lines."""


def _opened(path: Any, mode: str = "r") -> IO[Any]:
    """Open a file as `open` does."""
    if mode not in ("r", "rb"):
        return open(path, mode)
    data = _Bytes(io.FileIO(path))
    return data if mode == "rb" else _TextLines(data)


def bounded_text(content: bytes) -> IO[str]:
    """Return an open text whose end cannot be read for ever."""
    return _TextLines(io.BytesIO(content), encoding="utf-8", errors="replace")


meshio._files.open = meshio.tetgen._tetgen.open = _opened


@contextmanager
def limited(path: Path) -> Iterator[None]:
    """Limit what reading a file may take, while the block runs; HDF5 files are examined before.

    Raises
    ------
    OSError : a file of HDF5, or one that an XDMF file names, is damaged or cut off.
    MemoryError : within the block, where more is asked for than such a file can need.
    """
    files = [path]
    if path.suffix.lower() in (".xdmf", ".xmf"):
        names = dict.fromkeys(HEAVY_ENTITY.findall(path.read_bytes()))
        files += [path.parent / name.decode("utf-8", "replace") for name in names]
    for file in files:
        if file.is_file() and is_hdf5(file) and not examined(file).sound:
            raise OSError(f"{file.name!r} is damaged or cut off")
    with _memory(path.stat().st_size):
        yield


@contextmanager
def _memory(size: int) -> Iterator[None]:
    """Limit the addresses of this process while the block runs, for a file of a size."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_AS)
    with suppress(OSError, ValueError):  # systems without /proc have no limit
        with open("/proc/self/statm", encoding="ascii") as file:
            resident = int(file.read().split()[0]) * resource.getpagesize()
        limit = resident + MEMORY[0] + MEMORY[1] * size
        limits = [n for n in (limit, *before) if n != resource.RLIM_INFINITY]
        resource.setrlimit(resource.RLIMIT_AS, (min(limits), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


__all__ = ["bounded_text", "limited"]
