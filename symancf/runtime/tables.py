# SPDX-License-Identifier: BSD-3-Clause
"""Tables of results, for consoles, files and notebooks."""

from __future__ import annotations

import re

from ..errors import ParameterError
from .shown import Shown


class Table(Shown):
    """A table of results: ``sa.print(table)`` prints it once, a notebook shows it.

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
    >>> sa.print(table)
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
        self.heads = [found[1] for found in split if found]
        self.formats = [found[2] or "" for found in split if found]
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

    def headline(self) -> str:
        """Return its title."""
        return self.title

    def facts(self) -> list[list[str]]:
        """Return heads and rows."""
        return [self.heads, *self._cells]
