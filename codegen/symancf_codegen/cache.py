# SPDX-License-Identifier: BSD-3-Clause
"""A content-addressed folder of files that many processes may use at once.

Files are written under a temporary name in the same folder, flushed to the disk and renamed,
so a reader sees a whole file or none. Every file ends in a checksum; a file whose checksum
is wrong counts as missing and is made again.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
import tempfile
from pathlib import Path

from symancf_codegen.errors import CompileError

_MARK = b"\n/* symancf sha256 "
_END = b" */\n"
_TRAILER = len(_MARK) + 64 + len(_END)


def folder() -> Path:
    """Return the cache folder: $SYMANCF_CACHE, else symancf in $XDG_CACHE_HOME or ~/.cache.

    It is created with access for the user only.

    Raises
    ------
    CompileError
        If it cannot be made or is open to other users' writing.
    """
    given = os.environ.get("SYMANCF_CACHE")
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        if given:
            path = Path(given).expanduser()
        else:
            path = (Path(base) if base else Path.home() / ".cache") / "symancf"
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = path.stat()
    except (OSError, RuntimeError) as error:
        raise CompileError(
            f"the kernel cache {given or base or '~/.cache'} cannot be created ({error}); set the "
            "environment variable SYMANCF_CACHE to a folder that you may write"
        ) from error
    if hasattr(os, "getuid") and status.st_uid not in (os.getuid(), 0):
        raise CompileError(
            f"the kernel cache {path} belongs to another user; kernels are code, so it is not "
            "used. Set the environment variable SYMANCF_CACHE to a folder of your own"
        )
    if status.st_mode & stat.S_IWOTH:
        raise CompileError(
            f"the kernel cache {path} can be written by everyone; kernels are code, so it is not "
            f"used. Run `chmod go-w {path}` or set SYMANCF_CACHE to a folder of your own"
        )
    return path


def read(path: Path) -> bytes | None:
    """Return the content of `path`, or None if it is missing or its checksum is wrong."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    content, trailer = data[:-_TRAILER], data[-_TRAILER:]
    return content if trailer == _trailer(content) else None


def write(path: Path, content: bytes) -> None:
    """Write `content` with its checksum to `path`, atomically.

    Raises
    ------
    CompileError
        If the folder cannot be written or the disk is full.
    """
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        with os.fdopen(handle, "wb") as file:
            file.write(content + _trailer(content))
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        if temporary:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        raise unusable(path.parent, error) from error


def unusable(path: Path, error: OSError) -> CompileError:
    """Return the error that says why the cache folder `path` cannot be used and what to do."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        remedy = "free space there (`symancf cache clear`)"
    else:
        remedy = f"make it writable (`chmod u+rwx {path}`)"
    return CompileError(
        f"the kernel cache {path} cannot be written: {error.strerror or error}; {remedy} or set "
        "the environment variable SYMANCF_CACHE to another folder"
    )


def _trailer(content: bytes) -> bytes:
    return _MARK + hashlib.sha256(content).hexdigest().encode() + _END
