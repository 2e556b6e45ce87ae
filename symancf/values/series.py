# SPDX-License-Identifier: BSD-3-Clause
"""Functions of time by values at given times, which may be assigned and differentiated by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.interpolate import CubicSpline

from ..arrays import Array
from ..errors import OwnAttributes, ParameterError
from .arguments import one_of
from .parameter import label, reals

if TYPE_CHECKING:
    import numpy.typing as npt


class TimeSeries(OwnAttributes):
    r"""A function of time, linear in its values at given times: a history of a load or drive.

    :math:`s(t) = \sum_k w_k(t)\, v_k`, with the weights of `weights`; it stands wherever a function
    of time does. Before the first and after the last time it has the value there.

    Parameters
    ----------
    times : (n,) growing [s], or pseudo-times.
    values : (n,) numbers there; others of the same number may be assigned.
    order : ``"linear"`` between them; ``"cubic"``: the spline with third derivatives that are
        continuous next to the ends, too (not-a-knot); ``"steps"``: the value of the last time.

    Raises
    ------
    ParameterError : times do not grow, or values are others than finite numbers, one for each.

    Examples
    --------
    >>> import symancf as sa
    >>> drive = sa.Series([0.0, 1.0, 2.0], [0.0, 4.0, 2.0])
    >>> drive(0.5), drive(3.0)
    (2.0, 2.0)
    >>> drive.values = [0.0, 8.0, 2.0]                 # the next solution has them
    >>> drive(0.5)
    4.0
    """

    of_time_alone = True  # it reads nothing else

    def __init__(
        self,
        times: npt.ArrayLike,
        values: npt.ArrayLike,
        order: Literal["linear", "cubic", "steps"] = "linear",
    ) -> None:
        self.order = one_of("Series(order=...)", order, ("linear", "cubic", "steps"))
        self.times = reals(times)
        if self.times.ndim != 1 or not len(self.times) or np.any(np.diff(self.times) <= 0.0):
            raise ParameterError(
                f"the times of a Series are finite numbers that grow; given {label(times)}",
                asked="times",
                given=label(times),
            )
        if self.order == "cubic" and len(self.times) < 4:
            raise ParameterError(
                f"a cubic Series has 4 times at least, this one {len(self.times)}",
                asked="times",
                given=len(self.times),
                possible=("linear", "steps"),
            )
        self.times.flags.writeable = False
        self._shift = 0.0  # of all values, see `shifted`
        self._log: set[float] | None = None
        self.values = values
        self._spline = (
            CubicSpline(self.times, np.eye(len(self.times))) if order == "cubic" else None
        )

    @property
    def values(self) -> Array:
        """The present values (n,), read-only; assign others of the same number.

        Raises
        ------
        ParameterError : others are no finite numbers, or more.
        """
        return self._values

    @values.setter
    def values(self, numbers: npt.ArrayLike) -> None:
        values = reals(numbers)
        if values.shape != self.times.shape:
            raise ParameterError(
                f"the values of this Series have the shape {self.times.shape}, one for each time; "
                f"given {label(numbers)} of the shape {values.shape}",
                asked="values",
                given=values.shape,
                possible=(self.times.shape,),
            )
        values.flags.writeable = False
        self._values = values

    def weights(self, t: float) -> Array:
        """Return the weights (n,) that the values have at a time."""
        at = float(np.clip(t, self.times[0], self.times[-1]))
        if self._spline is not None:
            return np.asarray(self._spline(at))
        weights: Array = np.zeros(len(self.times))
        k = int(np.searchsorted(self.times, at, side="right")) - 1
        weights[k] = 1.0
        if self.order == "linear" and k + 1 < len(self.times):
            part = (at - self.times[k]) / (self.times[k + 1] - self.times[k])
            weights[k], weights[k + 1] = 1.0 - part, part
        return weights

    def __call__(self, t: float) -> float:
        """Return the value at a time."""
        if self._log is not None:
            self._log.add(float(t))
        return float(self.weights(t) @ self._values) + self._shift

    def __repr__(self) -> str:
        ends = f"{self.times[0]:g} to {self.times[-1]:g}"
        return f"Series of {len(self.times)} values, {ends}, {self.order}"


Series = TimeSeries  # its public name, beside that of files of `output`


class Shifted:
    """Adds a number to all values that a `TimeSeries` returns, and notes the times it is asked for.

    Attributes
    ----------
    shift : the number.
    times : for which it was asked within ``with``.
    """

    def __init__(self, series: TimeSeries) -> None:
        self._series = series
        self.times: set[float] = set()

    @property
    def shift(self) -> float:
        """The number."""
        return self._series._shift

    @shift.setter
    def shift(self, value: float) -> None:
        self._series._shift = value

    def __enter__(self) -> Shifted:
        self._series._log = self.times
        return self

    def __exit__(self, *_: Any) -> None:
        self._series._log, self._series._shift = None, 0.0
