# SPDX-License-Identifier: BSD-3-Clause
"""Named values that may change without recompiling: scalars, functions of time, fields."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .errors import ParameterError

Array = npt.NDArray[np.float64]


class Parameter:
    """A named scalar: ramp it, share it between bodies and loads, follow it.

    Parameters
    ----------
    name : shown in messages.
    value : its present value; assign to `value` at any time, nothing is recompiled.
    """

    def __init__(self, name: str, value: float = 0.0) -> None:
        self.name = name
        self.value = float(value)

    def __repr__(self) -> str:
        return f"Parameter({self.name!r}, {self.value:g})"


@dataclass(frozen=True)
class Field:
    """A parameter that varies over a body: one value per cell.

    `function` maps the cells' reference centroids, shape (n, 3), to n values.
    """

    function: Callable[[Array], npt.ArrayLike]


Scalar: TypeAlias = "float | Parameter | Callable[[float], float]"
Value: TypeAlias = "float | Parameter | Callable[[float], float] | Field"


def evaluate(name: str, value: Any, time: float) -> float:
    """Return the number that `value` stands for at `time`.

    `value` is a number, a `Parameter`, a function of time, or a quantity with units
    (anything with ``to_base_units().magnitude``, such as pint's).

    Raises
    ------
    ParameterError : when the result is not a finite number; names the parameter.
    """
    try:
        if isinstance(value, Parameter):
            number = value.value
        elif hasattr(value, "to_base_units"):
            number = float(value.to_base_units().magnitude)
        elif callable(value):
            number = float(value(time))
        else:
            number = float(value)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"parameter {name!r} is {value!r}: give a number, a Parameter, or a function of time "
            f"that returns a number ({error})"
        ) from error
    if not math.isfinite(number):
        raise ParameterError(f"parameter {name!r} is {number} at time {time:g}: it must be finite")
    return number


def components(name: str, vector: Any) -> list[Any]:
    """Return the three components of a vector given as a sequence or a function of time."""
    if callable(vector):
        return [lambda t, a=a: np.asarray(vector(t), dtype=float)[a] for a in range(3)]
    try:
        parts = list(vector)
    except TypeError as error:
        raise ParameterError(f"{name} is {vector!r}: give three components") from error
    if len(parts) != 3:
        raise ParameterError(f"{name} has {len(parts)} components: give three")
    return parts
