# SPDX-License-Identifier: BSD-3-Clause
"""The compiled kernels on this machine: where they are, how many, and their removal."""

from __future__ import annotations

import re
import shutil
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from symancf_codegen.errors import CodegenError as CompilerError
from symancf_codegen.library import cache
from symancf_codegen.library.compile import FLAGS

from ..errors import CompileError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["FLAGS", "CachedKernel", "clear", "entries", "folder", "main", "readable"]

# Only names that the cache makes are ever removed: SYMANCF_CACHE may point to any folder.
ENTRY = re.compile(r"(?P<kernel>\w+)-[0-9a-f]{20}\.(?P<kind>so|c|json)")
LEFTOVER = re.compile(r"\.(new|build|lock)-[\w.-]+")


@dataclass(frozen=True)
class CachedKernel:
    """One kernel in the cache: its name, the number of its files, bytes, time of last change."""

    kernel: str
    files: int
    size: int
    changed: float


def folder() -> Path:
    """Return the cache folder, which is made if necessary.

    Raises
    ------
    CompileError : if it cannot be used; the text says why and what to do.
    """
    try:
        return cache.folder()
    except CompilerError as error:
        raise CompileError(str(error), **vars(error)) from error


def entries(path: Path) -> list[CachedKernel]:
    """Return what the cache folder `path` holds, by name of kernel."""
    groups: dict[str, list[Path]] = {}
    for file in path.iterdir():
        match = ENTRY.fullmatch(file.name)
        if match:
            groups.setdefault(match["kernel"], []).append(file)
    kernels = []
    for kernel, files in sorted(groups.items()):
        status = [file.lstat() for file in files]
        size = sum(s.st_size for s in status)
        kernels.append(CachedKernel(kernel, len(files), size, max(s.st_mtime for s in status)))
    return kernels


def clear(path: Path) -> int:
    """Remove all kernels, and what broken-off compilations left, and return the bytes freed.

    A process that has loaded a kernel keeps it; one that is compiling right now makes it again.
    """
    freed = 0
    for file in path.iterdir():
        is_folder = file.is_dir() and not file.is_symlink()
        if ENTRY.fullmatch(file.name) and not is_folder:
            freed += file.lstat().st_size
            file.unlink(missing_ok=True)
        elif LEFTOVER.fullmatch(file.name):
            if is_folder:
                shutil.rmtree(file, ignore_errors=True)
            else:
                file.unlink(missing_ok=True)
    return freed


def readable(size: int) -> str:
    """Return a number of bytes for people."""
    value = float(size)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024 or unit == "GiB":
            break
        value /= 1024
    return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"


def main(action: str) -> int:
    """Show (``"show"``) or remove (``"clear"``) the kernels."""
    path = folder()
    if action == "clear":
        print(f"{path}: {readable(clear(path))} freed")
        return 0
    kernels = entries(path)
    for entry in kernels:
        day = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.changed))
        print(f"{entry.kernel:48} {entry.files:3} files {readable(entry.size):>10}  {day}")
    total = readable(sum(entry.size for entry in kernels))
    print(f"{path}: {len(kernels)} kernels, {total}")
    return 0
