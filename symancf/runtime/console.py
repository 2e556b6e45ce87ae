# SPDX-License-Identifier: BSD-3-Clause
"""What is printed for people, as it is: rich takes ``[m]`` for a style and leaves it out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console


def plain_console(least: int = 0, **options: Any) -> Console:
    """Return a console of rich that prints units, formulas and ``:names:`` in texts and tables.

    Parameters
    ----------
    least : columns that it has also in a file, or in the narrow terminal that mpirun makes.
    options : those of `rich.console.Console`, e.g. ``width`` and ``quiet``.

    Raises
    ------
    ImportError : rich is not installed.
    """
    from rich.console import Console

    plain: dict[str, Any] = {"markup": False, "emoji": False, "highlight": False, **options}
    console = Console(**plain)
    return console if console.width >= least else Console(**{**plain, "width": least})
