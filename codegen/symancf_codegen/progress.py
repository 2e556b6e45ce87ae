# SPDX-License-Identifier: BSD-3-Clause
"""A line on the terminal while something takes long; none in files, notebooks and logs."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterator

#: Seconds after which the line appears.
DELAY = 1.0


def allowed() -> bool:
    """Whether progress may be told at all: unless SYMANCF_PROGRESS is 0."""
    return sys.stderr is not None and os.environ.get("SYMANCF_PROGRESS", "1") != "0"


def wanted() -> bool:
    """Whether lines that replace each other are shown: on a terminal, where they are allowed."""
    return allowed() and sys.stderr.isatty()


def show(text: str) -> None:
    """Write a line that the next one replaces."""
    columns = os.get_terminal_size(sys.stderr.fileno()).columns or 80
    sys.stderr.write("\r\x1b[K" + text[: columns - 1])
    sys.stderr.flush()


def clear() -> None:
    """Remove the line."""
    sys.stderr.write("\r\x1b[K")
    sys.stderr.flush()


@contextlib.contextmanager
def telling(text: str) -> Iterator[None]:
    """Show what is being done for as long as it is, if it takes more than `DELAY`."""
    if not wanted():
        yield
        return
    is_shown = threading.Event()

    def late() -> None:
        is_shown.set()
        show(f"symancf: {text} ...")

    timer = threading.Timer(DELAY, late)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        if is_shown.is_set():
            clear()
