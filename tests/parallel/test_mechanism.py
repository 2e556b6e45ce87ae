# SPDX-License-Identifier: BSD-3-Clause
"""Mechanisms of many bodies: the same on any number of ranks, and one per rank."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.mpi import run_cases

SCRIPT = Path(__file__).with_name("check_mechanism.py")
CASES = {1: ("together",), 3: ("together", "own")}

pytestmark = pytest.mark.parallel


@cache
def found(ranks: int) -> Any:
    return run_cases(ranks, SCRIPT, *CASES[ranks])


def test_chain_is_the_same_on_any_number_of_ranks() -> None:
    (one,) = found(1)["together"]
    three, *others = found(3)["together"]
    assert len(others) == 2
    assert all(other == three for other in others)
    assert one["passed"]
    assert three["passed"]
    assert sum(three["rows"]) == one["rows"][0] == 180
    assert min(three["rows"]) > 30
    assert one["tip"] == pytest.approx(three["tip"], rel=1e-8)
    assert abs(one["tip"][1]) > 1e-3
    assert one["wrench"] == pytest.approx(three["wrench"], rel=1e-8, abs=1e-12)


def test_one_mechanism_per_rank() -> None:
    tips = found(3)["own"]
    assert tips[0] < tips[1] < tips[2]
    assert tips[1] == pytest.approx(2 * tips[0], rel=0.05)
