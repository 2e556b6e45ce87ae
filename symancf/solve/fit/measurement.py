# SPDX-License-Identifier: BSD-3-Clause
"""Data of tests of materials and of structures, and how much they count."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...errors import ParameterError
from ...values.parameter import reals

if TYPE_CHECKING:
    import numpy.typing as npt

    from ...arrays import Array


class Measurement:
    """Data of a test.

    Attributes
    ----------
    data : what was measured, (N, m) or (m,).
    error : standard error of the data, of the same shape, or None.
    weight : of this test beside others.
    name : for tables and pictures.
    """

    error: Array | None
    weight: float
    name: str

    @property
    def data(self) -> Array:
        """What was measured."""
        raise NotImplementedError

    def scale(self) -> Array:
        """Return by what the difference of each datum is divided (rows,)."""
        if self.error is not None:
            return np.asarray(self.error.ravel() / np.sqrt(self.weight))
        size = abs(self.data).max()
        if size == 0.0:
            raise ParameterError(f"{self.name}: all data are 0", asked="stress", given=0.0)
        return np.full(self.data.size, size * np.sqrt(len(self.data) / self.weight))

    def variance(self, difference: Array, number: float) -> Array:
        """Return the variance of each difference over its scale (rows,).

        Of tests without ``error=`` it is that of the scatter about the fit, which `number` of the
        constants have made smaller; infinite where they leave none.
        """
        rows = len(difference)
        if self.error is not None:
            return np.full(rows, self.weight)
        free = rows - number
        return np.full(rows, float(difference @ difference) / free if free > 1e-9 else np.inf)


def standard_errors(
    what: str, given: npt.ArrayLike, shape: tuple[int, ...], unit: str = "of the data"
) -> Array:
    """Return the standard error of each datum, which is positive.

    Raises
    ------
    ParameterError
    """
    errors = reals(given)
    if errors.shape not in ((), shape) or not errors.min() > 0.0:
        raise ParameterError(
            f"{what}: error= must be positive, the standard error {unit}: one number, or one for "
            "each row",
            asked="error",
            given=given,
        )
    return np.array(np.broadcast_to(errors, shape))
