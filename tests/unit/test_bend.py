# SPDX-License-Identifier: BSD-3-Clause
"""Second derivatives by differences of first ones: their steps, and how far two orders differ."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from mpi4py import MPI

import symancf as sa
from symancf.solve.gradients.bend import along, step_of

ONE_PROCESS: Any = SimpleNamespace(comm=MPI.COMM_SELF)
#: Of h |h| at a step of 1: what differences of order 6 and 4 differ by
DIFFERENCE = 2 / 30


def calls(slope: float, error: float, step: float) -> int:
    """Return how often a function with a kink of second order is called."""
    count = 0

    def first(h: float) -> list[Any]:
        nonlocal count
        count += 1
        return [np.array([1.0, slope * h + error * h * abs(h) / step / DIFFERENCE])]

    along(ONE_PROCESS, first, step, "test")
    return count


@pytest.mark.parametrize(("error", "trials"), [(3e-10, 1), (3e-9, 2)])
def test_the_first_step_is_enough_where_both_orders_agree_to_nine_digits(
    error: float, trials: int
) -> None:
    assert calls(1.0, error, 1.0) == 6 * trials


@pytest.mark.parametrize(("error", "trials"), [(3e-10, 1), (3e-9, 2)])
def test_a_change_of_a_ten_thousandth_in_a_step_is_none(error: float, trials: int) -> None:
    assert calls(0.0, 1e-4 * error, 4e-3) == 6 * trials


def test_a_kink_that_four_steps_do_not_resolve_has_no_second_derivative() -> None:
    assert calls(1.0, 3e-7 * 6**3, 1.0) == 24
    with pytest.raises(sa.ParameterError, match="kink at the present state"):
        calls(1.0, 3e-6 * 6**3, 1.0)


def test_nothing_moves_by_more_than_four_thousandths_of_the_body() -> None:
    mesh = sa.Mesh.box((2.0,), (3,))
    law = sa.energies.cable()
    rod = sa.Body(mesh["body"], sa.elements.ancf_cable, law, EA=1.0, EI=1.0)
    system = sa.System(rod)._discrete
    direction = np.where(system.numbering.those("position"), 1e3, 0.0)
    assert step_of(system, direction) * 1e3 / system.extent == pytest.approx(4e-3, rel=0.3)
    assert step_of(system, 0.0 * direction) == np.inf
