# SPDX-License-Identifier: BSD-3-Clause
"""The one error of the compiler."""

from __future__ import annotations


class CompileError(Exception):
    """A law that cannot be turned into a kernel, or a tool or folder that is missing.

    The message says what was asked, what stands in the way and what to do about it.

    Attributes
    ----------
    command : the C compiler's command line, if it came that far.
    output : what the C compiler printed.
    """

    def __init__(self, message: str, *, command: str = "", output: str = "") -> None:
        super().__init__(message)
        self.command = command
        self.output = output
