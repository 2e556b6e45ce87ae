# SPDX-License-Identifier: BSD-3-Clause
"""How objects show themselves: a line in a console, a table in a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST = 24  # rows of a table; of longer ones the first and the last


class Shown:
    """An object with a line of text, and a table and formulas for those who want more.

    Consoles show `headline`, ``print`` adds the rows of `facts`, notebooks show both, and what
    `formulas` returns. None of these asks other ranks.
    """

    def headline(self) -> str:
        """Return what it is, in a line."""
        return f"{type(self).__name__} {getattr(self, 'name', '')!r}"

    def facts(self) -> Sequence[Sequence[str]]:
        """Return the rows of a table, the first of them its head; none by default."""
        return []

    def formulas(self) -> Sequence[str]:
        """Return formulas in LaTeX; none by default."""
        return []

    def __repr__(self) -> str:
        return self.headline()

    def __str__(self) -> str:
        return "\n".join([self.headline(), *lines(self.facts())])

    def _repr_html_(self) -> str:
        """Return what notebooks show."""
        shown = [f"<b>{escape(self.headline())}</b>"]
        shown += [f"$$ {formula} $$" for formula in self.formulas()]
        if rows := self.facts():
            shown.append(table(rows))
        return "<div>" + "\n".join(shown) + "</div>"


def lines(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table as lines of text, numbers on the right."""
    if not rows:
        return []
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    right = [_numbers(column) for column in zip(*rows[1:], strict=True)] or [False] * len(widths)
    return [
        "  "
        + "  ".join(
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in rows
    ]


def table(rows: Sequence[Sequence[str]]) -> str:
    """Return a table as HTML; of long ones the first and the last rows."""
    head, *rest = rows
    right = [_numbers(column) for column in zip(*rest, strict=True)] or [False] * len(head)

    def row(cells: Sequence[str], kind: str) -> str:
        made = (
            f'<{kind} style="text-align: {"right" if number else "left"}">{escape(cell)}</{kind}>'
            for cell, number in zip(cells, right, strict=True)
        )
        return "<tr>" + "".join(made) + "</tr>"

    shown = [row(cells, "td") for cells in rest]
    if len(shown) > MOST:
        gap = f'<tr><td colspan="{len(head)}">... {len(shown) - MOST} more</td></tr>'
        shown = [*shown[: MOST // 2], gap, *shown[-MOST // 2 :]]
    return "\n".join(["<table>", row(head, "th"), *shown, "</table>"])


def _numbers(cells: Sequence[str]) -> bool:
    """Tell whether all cells of a column are numbers."""
    try:
        list(map(float, filter(None, cells)))
    except ValueError:
        return False
    return True
