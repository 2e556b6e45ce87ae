# SPDX-License-Identifier: BSD-3-Clause
"""Signals: Ctrl-C while PETSc works waits for the end of the iteration, and reaches every rank.

Those by which batch systems ask a run to end soon are noted, and followed where it can go on.
"""

from __future__ import annotations

import ctypes
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import ClassVar

from mpi4py import MPI

from ..errors import Suspended
from .collective import together

Handler = Callable[[int, FrameType | None], object]

_libc = ctypes.CDLL(None)


_ASKED, _ENDED = 1, 2  # by SIGINT, by SIGTERM


class _Process:
    """What this process holds: problems may be solved within monitors of others."""

    depth = 0
    before: Handler | None = None  # what a signal would have done
    signal = False


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
    reached : returns what is kept after Ctrl-C, in words. `KeyboardInterrupt` leaves the context
        with that and without the calls within, as far as it has no arguments of its own.

    Attributes
    ----------
    suspension : of a solution with a checkpoint, which SIGTERM ends at a `check`, too.
    stopped : whether a `check` has raised something since the solution began.

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

    def __init__(self, comm: MPI.Comm, reached: Callable[[], str] | None = None) -> None:
        self.comm, self.stopped, self._reached = comm, False, reached
        self.suspension: Suspension | None = None

    def __enter__(self) -> None:
        self.stopped = False
        _Process.depth += 1
        if _Process.depth == 1 and threading.current_thread() is threading.main_thread():
            present = signal.getsignal(signal.SIGINT)
            if callable(present):
                _Process.before = present
                _hold()

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        _Process.depth -= 1
        if _Process.depth == 0 and _Process.before is not None:
            before, _Process.before = _Process.before, None
            signal.signal(signal.SIGINT, before)
        if error is None:
            self.check()
        elif self.stopped and type(error) is KeyboardInterrupt and not error.args and self._reached:
            raise KeyboardInterrupt(self._reached()) from None

    def check(self) -> None:
        """Do what a signal asked for that some rank had since the last check (collective).

        Raises
        ------
        KeyboardInterrupt, on every rank : or whatever a handler of the program raises.
        Suspended, on every rank : SIGTERM came, and a checkpoint is to be written.
        """
        requests, _Process.signal = _ASKED * _Process.signal, False
        if self.suspension is not None and self.suspension.urgent:
            requests += _ENDED
        if self.comm.size > 1:
            requests = self.comm.allreduce(requests, op=MPI.BOR)
        if not requests:
            return
        self.stopped = True
        if self.suspension is not None and requests & _ENDED:
            raise Suspended(self.suspension.path)
        handler = _Process.before or signal.getsignal(signal.SIGINT)
        with together(self.comm):
            (handler if callable(handler) else signal.default_int_handler)(signal.SIGINT, None)
        self.stopped = False
        if _Process.before is not None:  # the program's handler lets it go on
            _hold()


def pending() -> bool:
    """Tell whether this process had a signal that no `Interruption.check` has seen yet."""
    return _Process.signal


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
    _Process.signal = True


class Suspension:
    """Notes SIGUSR1 and SIGTERM as a context; who works within asks `signal_name` where it may end.

    SIGUSR1 leaves time to end; after SIGTERM a batch system or mpirun kills, some of them within a
    second: it is `urgent`.

    SIGUSR1 would end a process: from the first such context on it is noted for as long as the
    process lives, so that one that comes between two solutions is not lost; a solution that it
    has ended leaves none to the next one, where the program catches `Suspended`. SIGTERM does
    what it did before outside of the contexts. Handlers of the program's own are called, too. A
    signal may come several times, as those that mpirun or srun hand on do.

    In another thread than the main one no signal can be noted.

    Parameters
    ----------
    path : of the checkpoint that is written then.

    Examples
    --------
    >>> with Suspension() as suspension:
    ...     before = suspension.signal_name
    ...     signal.raise_signal(signal.SIGUSR1)
    ...     print(before, suspension.signal_name)
    ... Suspension.noted = 0
     SIGUSR1
    """

    noted: ClassVar[int] = 0
    _installed: ClassVar[bool] = False

    def __init__(self, path: str = "") -> None:
        self.path = path
        self._before: Handler | int | None = None
        self._holds = False

    def __enter__(self) -> Suspension:
        if threading.current_thread() is not threading.main_thread():
            return self
        if not Suspension._installed:
            _also_note(signal.SIGUSR1)
            Suspension._installed = True
        self._before, self._holds = _also_note(signal.SIGTERM), True
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if self._holds and self._before is not None:
            signal.signal(signal.SIGTERM, self._before)
        self._holds = False
        if isinstance(error, Suspended):
            Suspension.noted = 0

    @property
    def signal_name(self) -> str:
        """The name of a signal that this process had; "": none."""
        return signal.Signals(Suspension.noted).name if Suspension.noted else ""

    @property
    def urgent(self) -> bool:
        """Whether this process had SIGTERM within the context."""
        return self._holds and Suspension.noted == signal.SIGTERM


def _also_note(number: signal.Signals) -> Handler | int | None:
    """Note a signal from now on; return what it did before."""
    before = signal.getsignal(number)

    def note(number: int, frame: FrameType | None) -> None:
        Suspension.noted = number
        if callable(before):
            before(number, frame)

    signal.signal(number, note)
    return before
