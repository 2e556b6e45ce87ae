# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C while PETSc works: it waits for the end of the iteration, and reaches every rank."""

from __future__ import annotations

import ctypes
import signal
import threading
from collections.abc import Callable
from types import FrameType

from mpi4py import MPI

from .collective import together

Handler = Callable[[int, FrameType | None], object]

_libc = ctypes.CDLL(None)


class _Held:
    """What this process holds: problems may be solved within monitors of others."""

    depth = 0
    before: Handler | None = None  # what a signal would have done
    asked = False


class Interruption:
    """Holds SIGINT back as a context; `check` lets it do what it would have done.

    An exception must not cross PETSc: raised in one of its callbacks, it is lost or ends the
    process in C. So the signal is only noted while PETSc works. The first `check` afterwards
    calls the handler that was there, on every rank, also if one rank alone had the signal:
    Python's raises KeyboardInterrupt. A second signal before that ends the process at once.

    A program that ignores SIGINT, or solves in another thread than the main one, keeps what it
    has.

    Parameters
    ----------
    comm : ranks of the solution.

    Examples
    --------
    >>> interruption = Interruption(MPI.COMM_SELF)
    >>> try:
    ...     with interruption:
    ...         signal.raise_signal(signal.SIGINT)
    ...         print("goes on to the end of the iteration")
    ...         interruption.check()
    ... except KeyboardInterrupt:
    ...     print("stopped")
    goes on to the end of the iteration
    stopped
    """

    def __init__(self, comm: MPI.Comm) -> None:
        self.comm = comm

    def __enter__(self) -> None:
        _Held.depth += 1
        if _Held.depth == 1 and threading.current_thread() is threading.main_thread():
            present = signal.getsignal(signal.SIGINT)
            if callable(present):
                _Held.before = present
                _hold()

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        _Held.depth -= 1
        if _Held.depth == 0 and _Held.before is not None:
            before, _Held.before = _Held.before, None
            signal.signal(signal.SIGINT, before)
        if error is None:
            self.check()

    def check(self) -> None:
        """Do what a signal asked for that some rank had since the last check (collective).

        Raises
        ------
        KeyboardInterrupt, on every rank : or whatever a handler of the program raises.
        """
        asked, _Held.asked = _Held.asked, False
        if self.comm.size > 1:
            asked = bool(self.comm.allreduce(int(asked), op=MPI.MAX))
        if not asked:
            return
        handler = _Held.before or signal.getsignal(signal.SIGINT)
        with together(self.comm):
            (handler if callable(handler) else signal.default_int_handler)(signal.SIGINT, None)
        if _Held.before is not None:  # the program's handler lets it go on
            _hold()


def pending() -> bool:
    """Tell whether this process had a signal that no `Interruption.check` has seen yet."""
    return _Held.asked


def _hold() -> None:
    """Note the next SIGINT only; leave the one after it to the system, also within C."""
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        signal.signal(signal.SIGINT, _note)
        once = getattr(_libc, "sysv_signal", None)  # the handler of Python, for one signal
        if once is not None:
            present = _libc.signal
            once.restype = present.restype = ctypes.c_void_p
            handler = ctypes.c_void_p(present(int(signal.SIGINT), None))
            once(int(signal.SIGINT), handler)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _note(number: int, frame: FrameType | None) -> None:
    _Held.asked = True
