# SPDX-License-Identifier: BSD-3-Clause
"""Cases of the verification, and the comparison of their numbers."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

import numpy.typing as npt

Body = Callable[[], Iterator["Number | Curve"]]

# Newton's method to round-off: references have more digits than the default tolerance gives
TIGHT = {"snes_rtol": 1e-12}


@dataclass(frozen=True)
class Number:
    """One number of a case, as measured.

    Attributes
    ----------
    quantity : what it is, with the values that tell it from others and its unit.
    value, reference : what symancf gives, and what is right.
    tolerance : largest error that passes.
    scale : of the error ``|value - reference| / scale``; default ``|reference|``, or 1 where
        that is zero.
    """

    quantity: str
    value: float
    reference: float
    tolerance: float
    scale: float | None = None

    @property
    def error(self) -> float:
        """Error relative to `scale`."""
        scale = self.scale if self.scale is not None else abs(self.reference) or 1.0
        return abs(self.value - self.reference) / scale


@dataclass(frozen=True)
class Curve:
    """A line of a case's picture, as measured, and what it is compared with.

    Attributes
    ----------
    axes : what `x` and `y` are, with their units; curves of the same axes share a panel.
    label : which line it is.
    x, y : the line; empty for reference values alone.
    reference : x and y of the reference, drawn as symbols.
    source : of the reference, for the legend.
    """

    axes: tuple[str, str]
    label: str
    x: npt.ArrayLike
    y: npt.ArrayLike
    reference: tuple[npt.ArrayLike, npt.ArrayLike] | None = None
    source: str = "reference"


@dataclass(frozen=True)
class Result:
    """A compared number; the fields are those of ``symancf verify --json``."""

    id: str
    quantity: str
    value: float | None
    reference: float | None
    error: float | None
    tolerance: float
    passed: bool
    source: str

    def record(self) -> dict[str, Any]:
        """Return the fields for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Case:
    """A verification problem: a name, a source of its reference values, and a function.

    Attributes
    ----------
    short : of a long one, how many of its first numbers tell most; None: all are asked for.
    """

    id: str
    title: str
    source: str
    function: Body
    short: int | None = None

    def run(self, most: int | None = None, curves: list[Curve] | None = None) -> list[Result]:
        """Solve the problem and compare. An exception becomes a result that has not passed.

        `most` : end with that many numbers. `curves` : takes the curves of the case's picture.
        """
        results: list[Result] = []
        warnings.filterwarnings("ignore", message="body .* locks in bending")  # it shall

        def numbers() -> Iterator[Number]:
            for number in self.function():
                if isinstance(number, Number):
                    yield number
                elif curves is not None:
                    curves.append(number)

        try:
            results.extend(self._compared(number) for number in islice(numbers(), most))
        except Exception as error:
            text = f"raised {type(error).__name__}: {error}"
            results.append(Result(self.id, text, None, None, None, 0.0, False, self.source))
        return results

    def _compared(self, number: Number) -> Result:
        error = number.error
        return Result(
            self.id,
            number.quantity,
            _finite(number.value),
            _finite(number.reference),
            _finite(error),
            number.tolerance,
            bool(error <= number.tolerance),
            self.source,
        )


def _finite(value: float) -> float | None:
    """Return a float that JSON can hold: None for one that is not finite."""
    number = float(value)
    return number if math.isfinite(number) else None


CASES: dict[str, Case] = {}


def case(id: str, source: str, short: int | None = None) -> Callable[[Body], Body]:
    """Register a function that yields `Number` and `Curve` as the case `id`.

    The first line of its docstring is the title.
    """

    def register(function: Body) -> Body:
        title = (function.__doc__ or id).splitlines()[0]
        CASES[id] = Case(id, title, source, function, short)
        return function

    return register


def order(errors: list[float]) -> float:
    """Return the order of convergence of the last two of a sequence of halved meshes."""
    return math.log2(errors[-2] / errors[-1])
