# SPDX-License-Identifier: BSD-3-Clause
"""Derivatives of values of kernels, and of prescribed coordinates, by one parameter.

Functions of the user stand between a parameter and these, so derivatives are differences; of a
`Parameter`, and what is linear in it, they have no error but round-off.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from ..errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..arrays import Array
    from ..assembly.assembler import Derivatives
    from ..assembly.discrete import DiscreteSystem

DIFFERENCE_STEP = 1e-5  # of the parameter, or of the largest body's size: a place beside it

More = TypeVar("More")


def fourth_order(
    change: Callable[[float], Array | None], total: Callable[[Array], Array]
) -> Array | None:
    """Return a derivative by differences of fourth order; None: take those of `DIFFERENCE_STEP`.

    They are as far apart as curvature allows: of what is derived by time, too, a tiny change is
    lost in round-off.

    Parameters
    ----------
    change : differences of second order over a distance, of this rank, of any numbers; None: a
        value beside is impossible, on each rank.
    total : sum over the ranks.
    """
    for h in (0.05, 5e-3, 5e-4, 5e-5):
        far, near = change(2.0 * h), change(h)
        if far is None or near is None:
            continue
        off, size = total(np.array([np.abs(far - near), np.abs(near)]))
        if (off <= 2e-4 * size).all():
            return np.asarray((4.0 * near - far) / 3.0)
    return None


@dataclass(frozen=True)
class Rates:
    """Derivatives by one parameter.

    Attributes
    ----------
    values : of the `Assembler.values`.
    rows : of parameters of entities (n, rows), by their form, where they change.
    prescribed : of the coordinates that supports prescribe (local vector).
    """

    values: Array
    rows: dict[int, Array]
    prescribed: Array

    def along(self, system: DiscreteSystem, by: Derivatives) -> float:
        """Return this rank's part of the sum of c' dJ/dc, by the first two."""
        total = float(by.values @ self.values)
        for number, change in self.rows.items():
            if number in by.rows:
                own = system.forms[number].owned.astype(bool)
                total += float((by.rows[number] * change)[own].sum())
        return total


@dataclass(frozen=True)
class Quotients(Generic[More]):
    """Central differences, one-sided where a value beside the present one is impossible.

    Attributes
    ----------
    rates : of the system.
    ends : what else was asked for at both places.
    span : between these.
    """

    rates: Rates
    ends: tuple[More, More]
    span: float


def rates(
    system: DiscreteSystem,
    prescribe: Callable[[float, Array], None],
    value: float,
    h: float,
    name: str,
    more: Callable[[], More],
) -> Quotients[More]:
    """Return the derivatives by a parameter (collective).

    Parameters
    ----------
    prescribe : writes what the parameter drives for a value of it to the kernels, and prescribed
        coordinates to a state.
    value, h : its present value, which it has again afterwards, and the distance to others.
    name : in messages.
    more : called at both places.

    Raises
    ------
    ParameterError : neither value beside the present one is possible.
    """
    assembler, fixed = system.assembler, system.numbering.fixed_by >= 0

    def beside(at: float) -> tuple[float, Array, dict[int, Array], Array, More]:
        state = system.state.copy()
        prescribe(at, state)
        held = np.where(fixed, state, 0.0)
        return at, assembler.values.copy(), assembler.rows, held, more()

    ends = []
    try:
        for side in (value + h, value - h):
            try:
                ends.append(beside(side))
            except ParameterError:
                ends.append(beside(value))
    finally:
        prescribe(value, system.state)
    (high, c, cells, g, a), (low, c0, cells0, g0, b) = ends
    if high == low:
        raise ParameterError(
            f"{name}: neither {value + h:g} nor {value - h:g} is possible",
            asked=name,
            given=value,
        )
    span = high - low
    rows = {k: (own - cells0[k]) / span for k, own in cells.items()}
    return Quotients(Rates((c - c0) / span, rows, (g - g0) / span), (a, b), span)
