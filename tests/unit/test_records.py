# SPDX-License-Identifier: BSD-3-Clause
"""How `tests.campaign.records` judges what two checkouts give."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.campaign.records import bits, close, comparison, digits, judged


@pytest.mark.parametrize(
    ("a", "b", "same", "verdict"),
    [
        ([1.0, 2.0], [1.0, 2.0], bits, "equal"),
        ([1.0, 2.0], [1.0, math.nextafter(2.0, 3.0)], bits, "differs"),
        (0.1 + 0.2, 0.3, digits, "equal"),
        (0.3, 0.300000000000001, digits, "differs"),
        ([[1.0, 5e-13]], [[1.0, 0.0]], close, "equal"),
        ([[1.0, 2e-12]], [[1.0, 0.0]], close, "differs"),
        ([2, 2, 3], [2, 3], close, "differs"),
        ("f(x)", "f(x, y)", bits, "differs"),
        (math.nan, math.nan, close, "equal"),
        (math.nan, 1.0, close, "differs"),
    ],
)
def test_verdicts(a: Any, b: Any, same: Any, verdict: str) -> None:
    found, text = judged(a, b, None, same)
    assert found == verdict
    assert bool(text) == (verdict == "differs")


def test_what_differs_from_itself_as_much_is_unsteady() -> None:
    assert judged(1.0, 1.0 + 1e-9, 1.0 + 1e-10, close)[0] == "unsteady"
    assert judged(1.0, 1.0 + 1e-9, 1.0, close)[0] == "differs"
    assert judged(1.0, 1.0 + 1e-5, 1.0 + 1e-10, close)[0] == "differs"


def test_how_records_are_compared() -> None:
    assert comparison("motions", 1, 0, "end") is bits
    assert comparison("motions", 3, 0, "end") is close
    assert comparison("motions", 3, 0, "solve 1 iterations") is bits
    assert comparison("checkpoints", 1, 2, "loaded") is close  # it was written on three ranks
    assert comparison("verify", 1, 0, "1: the tip") is digits
    growth = comparison("bytes", 1, 0, "problem: bytes of Python")
    assert growth(0.0, 100.0)
    assert not growth(0.0, 101.0)
