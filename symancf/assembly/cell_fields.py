# SPDX-License-Identifier: BSD-3-Clause
"""Parameters of cells that a `Field` of values gives, which a program may assign anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..arrays import Array, Ints
    from ..values.parameter import Field


class CellFields:
    """Rows of a form's parameters of which fields have some columns; see `Form.cell_at`.

    Parameters
    ----------
    cell : (n, rows) the others.
    fields : by column.
    ids : (n,) numbers of the cells.
    require : called with a column, its values (n,) and the time: raises where a law has no such
        ones.
    """

    timed = False

    def __init__(
        self,
        cell: Array,
        fields: Mapping[int, Field],
        ids: Ints,
        require: Callable[[int, Array, float], None],
    ) -> None:
        self.fields, self.ids = dict(fields), ids
        self._cell, self._require = cell, require
        self._last: dict[int, Array] = {}

    def __call__(self, time: float) -> Array:
        """Return the rows, the same array where no values have been assigned."""
        present = {column: field.values for column, field in self.fields.items()}
        if any(values is not self._last.get(column) for column, values in present.items()):
            cell = self._cell.copy()
            for column, values in present.items():
                cell[:, column] = values[self.ids]
                self._require(column, cell[:, column], time)
            self._last, self._cell = present, cell
        return self._cell
