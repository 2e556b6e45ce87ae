# SPDX-License-Identifier: BSD-3-Clause
"""A content-addressed folder of files that many processes may use at once.

Files are written under a temporary name in the same folder, flushed to the disk and renamed,
so a reader sees a whole file or none. Every file ends in a checksum; a file whose checksum
is wrong counts as missing and is made again.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import grp
import hashlib
import os
import pwd
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from symancf_codegen.errors import CompileError

_MARK = b"\n/* symancf sha256 "
_END = b" */\n"
_TRAILER = len(_MARK) + 64 + len(_END)

#: Seconds that a process waits for another one that makes the same entry; then it makes it, too.
PATIENCE = 900.0
_STALE = 3600.0  # seconds after which what a broken-off compilation left is removed


def chosen() -> tuple[str | None, ...]:
    """Return what the environment says of the folder, which need not exist yet."""
    return tuple(os.environ.get(name) for name in ("SYMANCF_CACHE", "XDG_CACHE_HOME", "HOME"))


def folder() -> Path:
    """Return the cache folder: $SYMANCF_CACHE, else symancf in $XDG_CACHE_HOME or ~/.cache.

    It is created with access for the user only.

    Raises
    ------
    CompileError : if it cannot be made or is open to other users' writing.
    """
    given = os.environ.get("SYMANCF_CACHE")
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        if given:
            path = Path(given).expanduser()
        else:
            path = (Path(base) if base else Path.home() / ".cache") / "symancf"
        path = path.absolute()  # a compiler would take what begins with - as an option
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = path.stat()
    except (OSError, RuntimeError) as error:
        raise CompileError(
            f"the kernel cache {given or base or '~/.cache'} cannot be created ({error}); set the "
            "environment variable SYMANCF_CACHE to a folder that you may write"
        ) from error
    if status.st_uid not in (os.getuid(), 0):
        raise CompileError(
            f"the kernel cache {path} belongs to another user; kernels are code, so it is not "
            "used. Set the environment variable SYMANCF_CACHE to a folder of your own"
        )
    everyone = bool(status.st_mode & stat.S_IWOTH)
    if everyone or (status.st_mode & stat.S_IWGRP and not _private(status.st_gid)):
        who = "everyone" if everyone else f"the group {_group(status.st_gid)}"
        raise CompileError(
            f"the kernel cache {path} can be written by {who}; kernels are code, so it is not "
            f"used. Run `chmod go-w {path}` or set SYMANCF_CACHE to a folder of your own"
        )
    return path


def _group(number: int) -> str:
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)


def _private(number: int) -> bool:
    """Whether a group is that of this user alone, as many systems give one to everybody."""
    try:
        user, group = pwd.getpwuid(os.getuid()), grp.getgrgid(number)
    except KeyError:
        return False
    alone = set(group.gr_mem) <= {user.pw_name}
    return alone and group.gr_name == user.pw_name and user.pw_gid == number


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Let one process at a time make the entry `path`; look again whether it is there, inside.

    The system drops the lock of a process that ends, however it ends. Where the file system has
    no locks, or a lock is kept for longer than `PATIENCE` (by a machine that is gone), all make
    the entry: the last one wins, and all are the same.
    """
    name = path.parent / f".lock-{path.name}"
    handle = _acquired(name)
    try:
        yield
    finally:
        if handle is not None:
            with contextlib.suppress(OSError):
                os.unlink(name)  # while it is held: who waits sees that its file is no more
            os.close(handle)


def _acquired(name: Path) -> int | None:
    """Return the handle of a locked file, or None where that cannot be had."""
    end, pause = time.monotonic() + PATIENCE, 0.01
    while True:
        try:
            handle = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            return None  # what cannot be written is told where the entry is
        try:
            fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(handle).st_ino == os.stat(name).st_ino:
                return handle
        except FileNotFoundError:
            pass  # it was removed by the process that held it
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EAGAIN) or time.monotonic() > end:
                os.close(handle)
                return None
            time.sleep(pause)
            pause = min(2.0 * pause, 0.5)
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def sweep(path: Path) -> None:
    """Remove from the folder `path` what compilations left that were broken off long ago."""
    now = time.time()
    for left in [*path.glob(".build-*"), *path.glob(".new-*")]:
        with contextlib.suppress(OSError):
            if now - left.stat().st_mtime > _STALE:
                if left.is_dir():
                    shutil.rmtree(left, ignore_errors=True)
                else:
                    left.unlink()


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
    CompileError : if the folder cannot be written or the disk is full.
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
