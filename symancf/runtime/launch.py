# SPDX-License-Identifier: BSD-3-Clause
"""Programs on several ranks: printing once, and the end of a rank that raises alone."""

from __future__ import annotations

import builtins
import contextlib
import sys
import time as clock
from typing import TYPE_CHECKING, Any

from mpi4py import MPI

if TYPE_CHECKING:
    from types import TracebackType

#: Seconds that a rank with an uncaught error waits for the others to end, too.
WAITING_TIME = 5.0


def root_print(*values: object, **options: Any) -> None:
    """Print on rank 0 of all that mpirun started, and at once (`flush`).

    Python's ``print`` for scripts on several ranks, with the same arguments. No rank waits for
    another; every rank evaluates the arguments, so they may be collective (``system.energies()``).

    Examples
    --------
    >>> import symancf as sa
    >>> sa.root_print("tip", 0.5, sep=": ")
    tip: 0.5
    """
    if MPI.COMM_WORLD.rank == 0:
        builtins.print(*values, **{"flush": True, **options})


def end_together() -> None:
    """Let an error that nobody catches on one rank end all, not leave the others waiting.

    A hook of Python's, set where MPI runs on several ranks, unless the program has one of its own
    or runs under ``python -m mpi4py``. Where all ranks come to such an end within `WAITING_TIME`,
    as after the package's errors, which every rank raises, the traceback is printed once and each
    ends with status 1. Else the rank prints its traceback and aborts MPI.
    """
    if not MPI.Is_initialized() or MPI.Is_finalized() or MPI.COMM_WORLD.size == 1:
        return
    if sys.excepthook is sys.__excepthook__ and "mpi4py.run" not in (*sys.modules, *sys.orig_argv):
        sys.excepthook = _end


def _end(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if MPI.Is_finalized():
        sys.__excepthook__(kind, error, trace)
        return
    comm = MPI.COMM_WORLD
    first: str | None = None
    mine = f"{kind.__module__}.{kind.__qualname__}"
    with contextlib.suppress(Exception):  # a class of the user may fail to say what it is
        mine = f"{mine}: {error}"[:1000]
    if comm.rank == 0:
        sys.__excepthook__(kind, error, trace)
    with contextlib.suppress(MPI.Exception):
        first = _meet(comm, mine)
    if comm.rank != 0 and first != mine:
        sys.__excepthook__(kind, error, trace)
    if first is None:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        comm.Abort(130 if issubclass(kind, KeyboardInterrupt) else 1)


def _meet(comm: MPI.Comm, mine: str) -> str | None:
    """Wait until all ranks are here; return what rank 0 ends with, None if some do not come.

    By messages with a tag of their own: the others may be within collective calls of `comm`.
    """
    tag = int(comm.Get_attr(MPI.TAG_UB) or 0)
    until = clock.monotonic() + WAITING_TIME
    missing = set(range(1, comm.size)) if comm.rank == 0 else {0}
    sent = None if comm.rank == 0 else comm.isend(mine, 0, tag)
    answer = mine
    while missing:
        status = MPI.Status()
        message = comm.improbe(MPI.ANY_SOURCE, tag, status)
        if message is not None:
            answer = message.recv()
            missing.discard(status.source)
        elif clock.monotonic() > until:
            return None
        else:
            clock.sleep(0.01)
    if sent is not None:
        sent.wait()
        return str(answer)
    for other in range(1, comm.size):
        comm.send(mine, other, tag)
    return mine


end_together()
