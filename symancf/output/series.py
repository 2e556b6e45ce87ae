# SPDX-License-Identifier: BSD-3-Clause
"""The values of one series of a history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..arrays import Array
from ..errors import ParameterError, SymancfError

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt


class Series:
    """Values (n, ...) of one series in a buffer that grows by doubling."""

    def __init__(
        self, name: str, function: Callable[[], npt.ArrayLike], every: int, first: int
    ) -> None:
        self.name, self.function, self.every, self.first = name, function, every, first
        self.count = 0
        self.buffer: Array | None = None

    def checked(self, value: npt.ArrayLike) -> Array:
        """Return a value as a row of this series."""
        try:
            row = np.asarray(value)
        except ValueError:  # lists of different lengths
            row = np.asarray(None)
        if row.dtype.kind not in "biuf":
            raise ParameterError(
                f"series {self.name!r}: its function returned {type(value).__name__}: give a "
                "number or an array of numbers",
                asked=self.name,
            )
        row = row.astype(np.float64)
        if self.buffer is None:
            self.buffer = np.empty((64, *row.shape))
        if row.shape != self.buffer.shape[1:]:
            raise ParameterError(
                f"series {self.name!r}: its function returned shape {row.shape}, before "
                f"{self.buffer.shape[1:]}",
                asked=self.name,
            )
        return row

    def append(self, row: Array) -> None:
        """Keep a row."""
        assert self.buffer is not None
        if self.count == len(self.buffer):
            self.buffer = np.concatenate([self.buffer, np.empty_like(self.buffer)])
        self.buffer[self.count] = row
        self.count += 1

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy has: the values, and no function."""
        values = self.values.copy() if self.count else None
        return {**vars(self), "function": _of_a_copy, "buffer": values}

    @property
    def values(self) -> Array:
        """Those that are kept, (n, ...)."""
        return np.zeros(0) if self.buffer is None else self.buffer[: self.count]


def _of_a_copy() -> NoReturn:
    """Raise where a copy of a history is to record."""
    raise SymancfError(
        "this history is a copy: it has the values, not the functions that record them; solve with "
        "the history of the problem, problem.history",
        asked="history",
        possible=("problem.history",),
    )
