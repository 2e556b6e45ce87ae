# SPDX-License-Identifier: BSD-3-Clause
"""Pressures, cavities, lids and gas on several ranks: the numbers of one rank."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.mpi import run_mpi

SCRIPT = Path(__file__).with_name("check_pressure.py")
CASES = ("statics", "motion", "block", "turned", "errors")

pytestmark = pytest.mark.parallel


@cache
def solved(ranks: int) -> dict[str, Any]:
    """Numbers of every case."""
    found: dict[str, Any] = run_mpi(ranks, SCRIPT, timeout=240.0, kept=True)
    return found


@pytest.mark.parametrize("ranks", [3])
@pytest.mark.parametrize("name", CASES)
def test_the_numbers_are_those_of_one_rank(name: str, ranks: int) -> None:
    one, many = (np.array(solved(n)[name]["rows"]) for n in (1, ranks))
    assert solved(ranks)[name]["spanning"] > 0
    assert one.shape == many.shape
    assert np.abs(many - one).max(axis=0) == pytest.approx(0.0, abs=1e-9 * np.abs(one).max())
    scale = np.abs(one)
    assert (np.abs(many - one) <= 1e-8 * np.maximum(scale, 1e-3)).all()


def test_something_happened() -> None:
    found = solved(1)
    pressed, gas = found["statics"]["rows"]
    assert pressed[0] > 1.01 * pressed[1]
    assert gas[0] > 1.01 * gas[1]
    assert 1e3 < gas[2] < 5e3
    assert (pressed[-1], gas[-1]) == (1.0, 1.0)  # derivatives agree
    assert found["turned"]["rows"][0][0] == pytest.approx(1.0)
    assert found["turned"]["rows"][0][1] == 1
    assert found["errors"]["rows"] == [[1.0]]
