# SPDX-License-Identifier: BSD-3-Clause
"""A generated C function that other generated functions call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass
class Function:
    """The C text of a point function, its name and the names of its arguments in order."""

    name: str
    text: str
    arguments: list[str]


def declaration(name: str, arguments: Sequence[str]) -> list[str]:
    """Return the head of a function, broken between arguments."""
    lines, line = [], f"static void {name}("
    indent = " " * len(line)
    for k, argument in enumerate(arguments):
        piece = argument + (")" if k == len(arguments) - 1 else ", ")
        if len(line) + len(piece.rstrip()) > 96 and line.strip():
            lines.append(line.rstrip())
            line = indent
        line += piece
    return [*lines, line]
