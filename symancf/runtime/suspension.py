# SPDX-License-Identifier: BSD-3-Clause
"""Signals by which batch systems ask a run to end soon: noted here, followed where it can go on."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import ClassVar

Handler = Callable[[int, FrameType | None], object]


class Suspension:
    """Notes SIGUSR1 and SIGTERM as a context; who works within asks `asked` where it may end.

    SIGUSR1 leaves time to end; after SIGTERM a batch system or mpirun kills, some of them within a
    second: it is `urgent`.

    SIGUSR1 would end a process: from the first such context on it is noted for as long as the
    process lives, so that one that comes between two solutions is not lost. SIGTERM does
    what it did before outside of the contexts. Handlers of the program's own are called, too. A
    signal may come several times, as those that mpirun or srun hand on do.

    In another thread than the main one no signal can be noted.

    Parameters
    ----------
    path : of the checkpoint that is written then.

    Examples
    --------
    >>> with Suspension() as suspension:
    ...     before = suspension.asked
    ...     signal.raise_signal(signal.SIGUSR1)
    ...     print(before, suspension.asked)
    ... Suspension.noted = 0
     SIGUSR1
    """

    noted: ClassVar[int] = 0
    _kept: ClassVar[bool] = False

    def __init__(self, path: str = "") -> None:
        self.path = path
        self._before: Handler | int | None = None
        self._holds = False

    def __enter__(self) -> Suspension:
        if threading.current_thread() is not threading.main_thread():
            return self
        if not Suspension._kept:
            _note(signal.SIGUSR1)
            Suspension._kept = True
        self._before, self._holds = _note(signal.SIGTERM), True
        return self

    def __exit__(self, *_: object) -> None:
        if self._holds and self._before is not None:
            signal.signal(signal.SIGTERM, self._before)
        self._holds = False

    @property
    def asked(self) -> str:
        """The name of a signal that this process had; "": none."""
        return signal.Signals(Suspension.noted).name if Suspension.noted else ""

    @property
    def urgent(self) -> bool:
        """Whether this process had SIGTERM within the context."""
        return self._holds and Suspension.noted == signal.SIGTERM


def _note(number: signal.Signals) -> Handler | int | None:
    """Note a signal from now on; return what it did before."""
    before = signal.getsignal(number)

    def note(given: int, frame: FrameType | None) -> None:
        Suspension.noted = given
        if callable(before):
            before(given, frame)

    signal.signal(number, note)
    return before
