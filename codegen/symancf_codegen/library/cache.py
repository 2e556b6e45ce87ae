# SPDX-License-Identifier: BSD-3-Clause
"""A content-addressed folder of files that many processes may use at once.

Files are written under a temporary name in the same folder, flushed to the disk and renamed,
so a reader sees a whole file or none. Every file ends in a checksum of its name and content and
in a seal, the checksum's keyed hash (HMAC), of which only the user has the key.

Kernels are code, so a file is trusted where all of this holds; else it counts as missing and is
made again:

- no folder on its path can be written by others or belongs to another user than root;
- it is a regular file of the user or of root, without links, that others cannot write;
- its checksum and its seal are right. The key is outside of the cache, in a folder that only the
  user writes, so files that came with a folder from elsewhere are not trusted.

A folder of root that the user cannot write serves many users: its files are trusted without the
seal and copied into the user's own folder.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import fcntl
import functools
import grp
import hashlib
import hmac
import os
import pwd
import secrets
import shutil
import stat
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

from symancf_codegen.errors import CodegenError

_MARK = b"\n/* symancf sha256 "
_END = b" */\n"
_TRAILER = len(_MARK) + 64 + 1 + 64 + len(_END)
_KEY = 32  # bytes

#: Seconds that a process waits for another one that makes the same entry; then it makes it, too.
WAITING_TIME = 900.0
_STALE = 3600.0  # seconds after which what a broken-off compilation left is removed


def chosen() -> tuple[str | None, ...]:
    """Return what the environment says of the folder, which need not exist yet."""
    return tuple(os.environ.get(name) for name in ("SYMANCF_CACHE", "XDG_CACHE_HOME", "HOME"))


def folder(*, tell: bool = True) -> Path:
    """Return the cache folder: $SYMANCF_CACHE, else symancf in $XDG_CACHE_HOME or ~/.cache.

    It is created with access for the user only. Where others could have written to it, another one
    takes its place, and a line says so unless `tell` is False: beside it, in the user's home, or a
    temporary one that ends with the process.

    Raises
    ------
    CompileError : if it cannot be made.
    """
    wanted = _wanted()
    try:
        _make(wanted)
        fault = _fault(wanted)
    except OSError as error:
        raise _uncreatable(wanted, error) from error
    if not fault and not _serves_many(wanted):
        return wanted
    path = _private_folder(wanted)
    if tell and fault and path not in _WARNED:
        _WARNED.add(path)
        warnings.warn(
            f"the kernel cache {wanted} is not used, since {fault}; kernels are in {path}",
            stacklevel=2,
        )
    return path


_WARNED: set[Path] = set()


def _wanted() -> Path:
    """Return the folder that the environment names, without links on its path."""
    own, base = os.environ.get("SYMANCF_CACHE"), os.environ.get("XDG_CACHE_HOME")
    try:
        if own:
            path = Path(own).expanduser()
        else:
            path = (Path(base) if base else Path.home() / ".cache") / "symancf"
        return Path(os.path.realpath(path))
    except (OSError, RuntimeError, ValueError) as error:
        raise _uncreatable(own or base or "~/.cache", error) from error


def _uncreatable(path: Path | str, error: Exception) -> CodegenError:
    return CodegenError(
        f"the kernel cache {path} cannot be created ({error}); set the environment variable "
        "SYMANCF_CACHE to a folder that you may write",
        asked="SYMANCF_CACHE",
        given=str(path),
    )


def _make(path: Path) -> None:
    """Make a folder, and those above it, with access for the user only."""
    for place in () if path.is_dir() else (*reversed(path.parents), path):
        if not place.is_dir():
            with contextlib.suppress(FileExistsError):
                place.mkdir(mode=0o700)
    if not path.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))


def _fault(path: Path) -> str:
    """Return why others could change what is in the folder `path`, or nothing."""
    for place in (path, *path.parents):
        status = os.lstat(place)
        if status.st_uid not in (os.geteuid(), 0):
            return f"{place} belongs to another user"
        writers = _writers(status)
        if writers and (place == path or not status.st_mode & stat.S_ISVTX):
            return f"{place} can be written by {writers}"
    return ""


def _serves_many(path: Path) -> bool:
    """Whether a folder is one of root that this user can only read."""
    mine = os.geteuid() == 0 or path.stat().st_uid != 0
    return not mine and not os.access(path, os.W_OK)


def _private_folder(wanted: Path) -> Path:
    """Return a folder that only this user writes, in the place of `wanted`."""
    user = os.geteuid()
    candidates = [wanted.with_name(f"{wanted.name}-{user}")] if wanted.name else []
    with contextlib.suppress(KeyError):
        candidates.append(Path(os.path.realpath(pwd.getpwuid(user).pw_dir)) / ".cache" / "symancf")
    for path in candidates:
        with contextlib.suppress(OSError):
            _make(path)
            if os.access(path, os.W_OK) and not _fault(path):
                return path
    return _temporary()


@functools.cache
def _temporary() -> Path:
    """Return a new folder for this process."""
    try:
        path = Path(os.path.realpath(tempfile.mkdtemp(prefix="symancf-")))
        fault = _fault(path)
    except OSError as error:
        raise _uncreatable(tempfile.gettempdir(), error) from error
    atexit.register(_remove, path, os.getpid())
    if fault:
        raise _uncreatable(path, PermissionError(fault))
    return path


def _remove(path: Path, owner: int) -> None:
    """Remove the temporary folder of this process, not that of the one it was forked from."""
    if os.getpid() == owner:
        shutil.rmtree(path, ignore_errors=True)


def _writers(status: os.stat_result) -> str:
    """Return who else can write a file, or nothing."""
    if status.st_mode & stat.S_IWOTH:
        return "everyone"
    if status.st_mode & stat.S_IWGRP and not _private(status.st_gid):
        return f"the group {_group(status.st_gid)}"
    return ""


def _group(number: int) -> str:
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)


def _private(number: int) -> bool:
    """Whether a group is that of this user or root alone, as many systems give one to everybody."""
    return _own_group(number, os.geteuid()) or _own_group(number, 0)


def _own_group(number: int, owner: int) -> bool:
    try:
        user, group = pwd.getpwuid(owner), grp.getgrgid(number)
    except KeyError:
        return False
    alone = set(group.gr_mem) <= {user.pw_name}
    return alone and group.gr_name == user.pw_name and user.pw_gid == number


def entry(name: str, key: str, suffix: str) -> str:
    """Return the name of a file: what people call the kernel, as far as names of files go."""
    return f"{name[:100]}-{key[:20]}{suffix}"


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Let one process at a time make the entry `path`; look again whether it is there, inside.

    The system drops the lock of a process that ends, however it ends. Where the file system has
    no locks, or a lock is kept for longer than `WAITING_TIME` (by a machine that is gone), all make
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
    end, pause = time.monotonic() + WAITING_TIME, 0.01
    while True:
        try:
            handle = os.open(name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
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
    for leftover in [*path.glob(".build-*"), *path.glob(".new-*")]:
        with contextlib.suppress(OSError):
            if now - leftover.stat().st_mtime > _STALE:
                if leftover.is_dir():
                    shutil.rmtree(leftover, ignore_errors=True)
                else:
                    leftover.unlink()


def read(path: Path) -> bytes | None:
    """Return the content of `path`, or None if it is missing or not trusted.

    What only a folder of root has that serves many users is copied to `path`.
    """
    content = _content(path, _key())
    if content is None:
        shared = _wanted()
        if shared != path.parent and shared.is_dir() and _serves_many(shared):
            content = None if _fault(shared) else _content(shared / path.name, None)
            if content is not None:
                write(path, content)
    return content


def _content(path: Path, key: bytes | None) -> bytes | None:
    """Return what a file holds whose checksum and seal are right; without a key one of root."""
    status, data = _opened(path)
    if status is None or (key is None and status.st_uid != 0):
        return None
    content, trailer = data[:-_TRAILER], data[-_TRAILER:]
    digest = _digest(path.name, content)
    if key is None:
        return content if trailer.startswith(_MARK + digest + b" ") else None
    return content if hmac.compare_digest(trailer, _trailer(digest, key)) else None


def _opened(path: Path) -> tuple[os.stat_result | None, bytes]:
    """Return status and bytes of a regular file that only this user or root can have written."""
    try:
        # no link; and a pipe would wait for its writer
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(handle)
            owned = status.st_uid in (os.geteuid(), 0) and not _writers(status)
            if owned and stat.S_ISREG(status.st_mode) and status.st_nlink == 1:
                return status, file.read()
    except (OSError, ValueError):
        pass
    return None, b""


def write(path: Path, content: bytes) -> None:
    """Write `content` with its checksum and seal to `path`, atomically.

    Raises
    ------
    CompileError : if the folder cannot be written or the disk is full.
    """
    trailer = _trailer(_digest(path.name, content), _key())
    try:
        _replace(path, content + trailer)
    except OSError as error:
        raise unusable(path.parent, error) from error


def _replace(path: Path, data: bytes) -> None:
    """Put a file of this user alone in the place of what has the name `path`."""
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError:
        if temporary:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        raise


def _key() -> bytes:
    """Return the key of the seals, which is made where there is none.

    It is in symancf of $XDG_STATE_HOME or ~/.local/state; in the cache where that cannot be.
    """
    base = os.environ.get("XDG_STATE_HOME")
    with contextlib.suppress(OSError, RuntimeError, ValueError):
        state = Path(base) if base else Path.home() / ".local" / "state"
        place = Path(os.path.realpath(state)) / "symancf"
        _make(place)
        if not _fault(place):
            return _secret(place / ".key")
    place = folder(tell=False)
    try:
        return _secret(place / ".key")
    except OSError as error:
        raise unusable(place, error) from error


def _secret(path: Path) -> bytes:
    """Return the bytes of a file that only this user reads; new ones where it is no such file."""
    secret = _verified_bytes(path)
    if secret is None:
        with locked(path):
            secret = _verified_bytes(path)  # another process may have made it in the meantime
            if secret is None:
                secret = secrets.token_bytes(_KEY)
                _replace(path, secret)
    return secret


def _verified_bytes(path: Path) -> bytes | None:
    status, data = _opened(path)
    if status is None or status.st_uid != os.geteuid() or status.st_mode & 0o077:
        return None
    return data if len(data) == _KEY else None


def unusable(path: Path, error: OSError) -> CodegenError:
    """Return the error that says why the cache folder `path` cannot be used and what to do."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    remedy = "free space there (`symancf cache clear`) or " if full else ""
    return CodegenError(
        f"the kernel cache {path} cannot be written: {error.strerror or error}; {remedy}set the "
        "environment variable SYMANCF_CACHE to a folder that you may write",
        asked="SYMANCF_CACHE",
        given=str(path),
    )


def _digest(name: str, content: bytes) -> bytes:
    digest = hashlib.sha256(name.encode() + b"\0")
    digest.update(content)
    return digest.hexdigest().encode()


def _trailer(digest: bytes, key: bytes) -> bytes:
    seal = hmac.digest(key, digest, "sha256").hex().encode()
    return _MARK + digest + b" " + seal + _END
