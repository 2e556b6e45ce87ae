# SPDX-License-Identifier: BSD-3-Clause
"""Threads through cells of several ranks: the numbers of one rank, errors on every rank."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.mpi import run_mpi

SCRIPT = Path(__file__).with_name("check_threads.py")

pytestmark = pytest.mark.parallel


@cache
def solved(ranks: int) -> dict[str, Any]:
    """What the script prints."""
    results: dict[str, Any] = run_mpi(ranks, SCRIPT, timeout=240.0, kept=True)
    return results


@pytest.mark.parametrize("ranks", [3])
@pytest.mark.parametrize("cell", ["hexahedron", "tetra10"])
def test_the_numbers_are_those_of_one_rank(ranks: int, cell: str) -> None:
    alone, several = solved(1)[cell], solved(ranks)[cell]
    assert several["ranks"] == ranks
    assert several["pieces"] == alone["pieces"]
    assert len(alone["multipliers"]) > 3
    for what in ("places", "tensions", "multipliers"):
        one, many = np.array(alone[what]), np.array(several[what])
        assert np.abs(many - one).max() <= 1e-10 * np.abs(one).max(), what


@pytest.mark.parametrize("ranks", [1, 3])
def test_every_rank_hears_what_is_wrong(ranks: int) -> None:
    errors = solved(ranks)["errors"]
    expected = {
        "outside": ("ConstraintError", "leaves the body before s = "),
        "dense": ("ConstraintError", "cross cells"),
        "fails": ("ParameterError", "ValueError: no path"),
    }
    if ranks > 1:
        expected["other"] = ("ParameterError", "another one on another rank")
    for name, (kind, text) in expected.items():
        assert errors[name] == [errors[name][0]] * ranks
        assert errors[name][0][0] == kind
        assert text in errors[name][0][1]
