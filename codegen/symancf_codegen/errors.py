# SPDX-License-Identifier: BSD-3-Clause
"""The one error of the compiler."""

from __future__ import annotations

from collections.abc import Iterable


class CodegenError(Exception):
    """A law that cannot be turned into a kernel, or a tool or folder that is missing.

    The message says what was asked, what stands in the way and what to do about it.

    Attributes
    ----------
    asked : the name of what the error is about: a kernel, a law, a symbol, an option, a file.
    given : what was given for it: None, a number, a text, or a tuple of them.
    possible : the names or values that are possible.
    command : the C compiler's command line, if it came that far.
    output : what the C compiler printed.
    """

    def __init__(
        self,
        message: str,
        *,
        asked: str = "",
        given: object = None,
        possible: Iterable[object] = (),
        command: str = "",
        output: str = "",
    ) -> None:
        super().__init__(message)
        self.asked = asked
        self.given = given
        self.possible = tuple(possible)
        self.command = command
        self.output = output
