# SPDX-License-Identifier: BSD-3-Clause
"""Planar joints, limit points and motions on several ranks."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.mpi import run_cases

SCRIPT = Path(__file__).with_name("check_planar.py")
CASES = {1: ("linkage", "limit", "motion"), 2: ("linkage", "motion")}

pytestmark = pytest.mark.parallel


@cache
def found(ranks: int) -> Any:
    return run_cases(ranks, SCRIPT, *CASES.get(ranks, CASES[1]))


def result(ranks: int, case: str) -> Any:
    """What every rank found in a case, which must be the same."""
    first, *others = found(ranks)[case]
    assert len(others) == ranks - 1
    assert all(other == first for other in others)
    return first


def test_a_linkage_is_the_same_on_any_number_of_ranks() -> None:
    one, two, three = (result(ranks, "linkage") for ranks in (1, 2, 3))
    for other in (two, three):
        assert sum(r > 0 for r in other["owners"]) > 1
        for name in ("a", "b", "force", "moment"):
            assert np.abs(np.array(other[name]) - one[name]).max() < 1e-11, name


def test_every_rank_tells_the_limit_point() -> None:
    for ranks in (1, 3):
        asked, _, time = result(ranks, "limit")
        assert asked == "limit point"
        assert time * 182.0 == pytest.approx(113.7335, abs=0.02)


def test_a_motion_is_the_same_on_any_number_of_ranks() -> None:
    results = [result(ranks, "motion") for ranks in (1, 2, 3)]
    for other in results[1:]:
        assert sum(r > 0 for r in other["rows"]) > 1
        assert np.abs(np.array(other["angles"]) - results[0]["angles"]).max() < 1e-9
