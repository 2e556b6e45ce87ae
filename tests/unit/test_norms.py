# SPDX-License-Identifier: BSD-3-Clause
"""What round-off leaves of forces: where rows happen to cancel, and of laws of strains."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import symancf as sa
from symancf.newton import RowNorms
from tests.motion import rope

Array = npt.NDArray[np.float64]
EPS = float(np.finfo(float).eps)


def norms(cells: int) -> RowNorms:
    system = sa.System(rope(cells))
    return RowNorms(system._discrete, system._discrete.forms)


def test_round_off_is_estimated_several_times_as_rows_may_happen_to_cancel() -> None:
    """Here a tangent of some hundred unknowns makes nothing of the first change."""
    rows, first = norms(40), list[Array]()

    def product(change: Array, answer: Array) -> None:
        first.append(change.copy())
        along = first[0]
        answer[:] = change - along * (along @ change) / (along @ along)

    assert 200 < rows.numbering.size < 2000
    found = rows.response(np.ones(rows.numbering.coordinates), product)
    assert (found > 0.1 * EPS).all()


@pytest.mark.parametrize(("part", "counts"), [(2e-10, True), (2e-11, False)])
def test_forces_that_are_no_differences_leave_round_off(part: float, counts: bool) -> None:
    """Of strains of some units in the last place of one, against the tangent."""
    assert bool(rounding(lambda strain: strain * (1.0 + part)).any()) == counts


def test_strains_of_whole_units_in_the_last_place_are_exact() -> None:
    """Where F = 1 + du/dX is computed, a strain of less than a unit is lost: that is no law's."""
    assert not rounding(np.round).any()


def rounding(law: Any) -> Array:
    """Return what a law that makes forces of strains in units of the last place is off by."""
    rows = norms(2)
    unit = EPS * rows.system.reference

    def residual(state: Array, f: Array) -> int:
        strain = np.divide(state, unit, out=np.zeros_like(state), where=unit != 0.0)
        f[:] = law(strain) * unit
        return 0

    def product(change: Array, answer: Array) -> None:
        answer[:] = change

    return rows.rounding(np.zeros_like(unit), residual, product)
