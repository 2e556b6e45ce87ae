# SPDX-License-Identifier: BSD-3-Clause
"""Joints and rigid bodies on several ranks: the numbers of one rank, joints that span ranks."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.mpi import run_mpi

SCRIPT = Path(__file__).with_name("check_joints.py")

pytestmark = pytest.mark.parallel


@cache
def solved(ranks: int) -> dict[str, Any]:
    """Places and reactions of every system."""
    found: dict[str, Any] = run_mpi(ranks, SCRIPT, timeout=240.0, kept=True)
    return found


@pytest.mark.parametrize("ranks", [3])
@pytest.mark.parametrize("name", ["statics", "dynamics", "rigid"])
def test_the_numbers_are_those_of_one_rank(name: str, ranks: int) -> None:
    one, many = (np.array(solved(n)[name]["rows"]) for n in (1, ranks))
    if name == "rigid" or ranks == 3:  # two parts of these meshes happen to be cut elsewhere
        assert solved(ranks)[name]["spanning"] > 0
    assert solved(1)[name]["spanning"] == 0
    assert one.shape == many.shape
    assert np.abs(many - one).max() <= 1e-8 * np.abs(one).max()


def test_the_mechanisms_move() -> None:
    rows = {name: np.array(found["rows"]) for name, found in solved(1).items()}
    assert rows["statics"][1, 2] < -0.05
    assert rows["dynamics"][1, 2] < -0.02
    assert np.abs(rows["rigid"][1:4] - np.eye(3)).max() > 0.3
    assert rows["rigid"][-1, 0] == 3  # boxes drawn


def test_reactions_balance() -> None:
    """Of each joint, end a against end b, force and moment about one point."""
    rows = np.array(solved(1)["statics"]["rows"])[5 + 4 :]
    for k in range(4):
        a, b = rows[4 * k : 4 * k + 2], rows[4 * k + 2 : 4 * k + 4]
        assert np.abs(a).max() > 0.1
        assert np.abs(a + b).max() <= 1e-8 * np.abs(a).max()
