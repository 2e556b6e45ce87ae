# SPDX-License-Identifier: BSD-3-Clause
"""Representation of objects and tables of results in consoles, files and notebooks."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from ..errors import OwnAttributes, ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_TABLE_ROWS = 24  # rows of a table; of longer ones the first and the last


class Displayable:
    """An object with a line of text, and a table and formulas for those who want more.

    Consoles show `_headline`, ``print`` adds the rows of `_facts`, notebooks show both, and what
    `formulas` returns, if there is one. None of these asks other ranks.
    """

    def _headline(self) -> str:
        """Return what it is, in a line."""
        return f"{type(self).__name__} {getattr(self, 'name', '')!r}"

    def _facts(self) -> Sequence[Sequence[str]]:
        """Return the rows of a table, the first of them its head; none by default."""
        return []

    def __repr__(self) -> str:
        return self._headline()

    def __str__(self) -> str:
        return "\n".join([self._headline(), *lines(self._facts())])

    def _repr_html_(self) -> str:
        """Return what notebooks show."""
        lines = [f"<b>{escape(self._headline())}</b>"]
        lines += [f"$$ {formula} $$" for formula in getattr(self, "formulas", list)()]
        if rows := self._facts():
            lines.append(table(rows))
        return "<div>" + "\n".join(lines) + "</div>"


class Table(Displayable, OwnAttributes):
    """A table of results: ``sa.root_print(table)`` prints it once, a notebook shows it.

    Parameters
    ----------
    title : its headline.
    heads : names of the columns, each with the format of its values behind the last colon, as of
        ``format``: ``"sag [mm]:.2f"``. Texts are shown as they are, None as an empty cell.

    Attributes
    ----------
    heads : names of the columns.
    rows : the values as they were given.

    Raises
    ------
    ParameterError : a row of more values than columns, or one that does not fit its format.

    Examples
    --------
    >>> import symancf as sa
    >>> table = sa.Table("Tip of the plate", "mesh", "sag [mm]:.2f", "error [%]:+.1f")
    >>> table.add("4 x 4", -5.9821, 1.31)
    >>> table.add("limit", -5.9047)
    >>> sa.root_print(table)
    Tip of the plate
      mesh   sag [mm]  error [%]
      4 x 4     -5.98       +1.3
      limit     -5.90
    """

    def __init__(self, title: str, *heads: str) -> None:
        for given in (title, *heads):
            if not isinstance(given, str):
                raise ParameterError(
                    f"Table({given!r}): title and heads of columns are texts",
                    asked="title" if given is title else "heads",
                    given=given,
                )
        self.title = title
        split = [re.fullmatch(r"(.*?)(?::([+,]?\d*(?:\.\d+)?[defg%]))?", head) for head in heads]
        self.heads = [match[1] for match in split if match]
        self.formats = [match[2] or "" for match in split if match]
        self.rows: list[tuple[object, ...]] = []
        self._cells: list[list[str]] = []

    def add(self, *values: object) -> None:
        """Add a row; cells of columns that are not given are empty."""
        if len(values) > len(self.heads):
            raise ParameterError(
                f"{self.title!r}: {len(values)} values for {len(self.heads)} columns, "
                f"{', '.join(map(repr, self.heads))}",
                asked="values",
                given=len(values),
                possible=(len(self.heads),),
            )
        cells = [self._cell(*of) for of in zip(self.heads, self.formats, values, strict=False)]
        self.rows.append(values)
        self._cells.append(cells + [""] * (len(self.heads) - len(cells)))

    def _cell(self, head: str, how: str, value: object) -> str:
        if value is None or isinstance(value, str):
            return value or ""
        try:
            return format(value, how)
        except (TypeError, ValueError, OverflowError) as error:
            raise ParameterError(
                f"{self.title!r}, {head!r}: {value!r} has no format {how!r} ({error})",
                asked=head,
                given=value,
                possible=(how,),
            ) from None

    def _headline(self) -> str:
        """Return its title."""
        return self.title

    def _facts(self) -> list[list[str]]:
        """Return heads and rows."""
        return [self.heads, *self._cells]


def lines(rows: Sequence[Sequence[str]], most: int | None = None) -> list[str]:
    """Return a table as lines of text, numbers on the right.

    Of a table of more than `most` lines the first and the last ones.
    """
    if not rows:
        return []
    if most is not None and len(rows) > most:
        first, last = most // 2, most - 1 - most // 2
        shown = lines([*rows[:first], *rows[-last:]])
        return [*shown[:first], f"  ... {len(rows) - first - last} more", *shown[first:]]
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
        columns = (
            f'<{kind} style="text-align: {"right" if number else "left"}">{escape(cell)}</{kind}>'
            for cell, number in zip(cells, right, strict=True)
        )
        return "<tr>" + "".join(columns) + "</tr>"

    lines = [row(cells, "td") for cells in rest]
    if len(lines) > MAX_TABLE_ROWS:
        gap = f'<tr><td colspan="{len(head)}">... {len(lines) - MAX_TABLE_ROWS} more</td></tr>'
        lines = [*lines[: MAX_TABLE_ROWS // 2], gap, *lines[-MAX_TABLE_ROWS // 2 :]]
    return "\n".join(["<table>", row(head, "th"), *lines, "</table>"])


def _numbers(cells: Sequence[str]) -> bool:
    """Tell whether all cells of a column are numbers."""
    try:
        list(map(float, filter(None, cells)))
    except ValueError:
        return False
    return True
