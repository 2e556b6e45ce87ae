# SPDX-License-Identifier: BSD-3-Clause
"""Small motions on several ranks: rank 0 integrates them, with the bits of one rank."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.mpi import run_cases

SCRIPT = Path(__file__).with_name("check_one_rank.py")
MOVED = "mechanism", "driven", "recorded", "watched", "planar", "rods", "sliding", "factors"
OTHERS = "adaptive", "solids", "failing", "left", "stopped", "locked", "asked", "grown"

pytestmark = pytest.mark.parallel


@cache
def found(ranks: int) -> Any:
    return run_cases(ranks, SCRIPT, *MOVED, *OTHERS, timeout=300.0)


@pytest.mark.parametrize("ranks", [3])
@pytest.mark.parametrize("name", MOVED)
def test_a_motion_has_the_bits_of_one_rank(name: str, ranks: int) -> None:
    first, *others = found(ranks)[name]
    assert all(other == first for other in others)
    assert first["same"]
    assert first["native"]
    assert first["rows"][0] > 0
    assert not any(first["rows"][1:])
    assert len(first["steps"]) == (25 if name == "factors" else 50)
    assert np.ptp(np.array(first["places"])[:, 1]) > 1e-2  # it moves
    assert ("seen" not in first) or first["seen"] > 100  # of both models
    records = first["records"]
    counts = {"recorded": {"tip": 17, "crank force": 51, "crank moment": 51, "height": 51}}
    counts |= {"rods": {"clamp": 26}, "planar": {"end": 51}}
    assert {key: len(rows) for key, rows in records.items()} == counts.get(name, {})
    assert all(np.ptp(np.array(rows), axis=0).max() > 0.0 for rows in records.values())


@pytest.mark.parametrize("ranks", [3])
def test_lengths_that_follow_the_error_are_those_of_one_rank(ranks: int) -> None:
    first, *others = found(ranks)["adaptive"]
    assert first["same"]
    assert all(other == first for other in others)


@pytest.mark.parametrize("ranks", [3])
def test_factors_of_petsc_give_the_same_digits(ranks: int) -> None:
    first, *_ = found(ranks)["solids"]
    assert first["native"]
    assert first["largest"] < 1e-10


@pytest.mark.parametrize("ranks", [3])
def test_errors_are_those_of_every_rank(ranks: int) -> None:
    for name, steps in (("failing", 20), ("stopped", 21)):
        first, *others = found(ranks)[name]
        assert all(other == first for other in others)
        assert "no more" in first["text"][1]
        assert first["steps"] == steps
        assert first["time"] == pytest.approx(steps * 1e-3)
    first, *others = found(ranks)["locked"]
    assert all(other == first for other in others)
    assert first["same"]
    assert first["text"][0] == "ConvergenceError"
    (kind, text), *others = found(ranks)["asked"]
    assert all(other == [kind, text] for other in others)
    assert (kind, text) == (
        "ParameterError",
        "-partition_from many: give a whole number from 0 on",
    )


@pytest.mark.parametrize("ranks", [3])
def test_a_rank_that_leaves_takes_all_with_it(ranks: int) -> None:
    first, *others = found(ranks)["left"]
    assert all(other == first for other in others)
    assert [each["code"] for each in first] == [3, 3]


@pytest.mark.parametrize("ranks", [3])
def test_from_a_size_on_all_ranks_have_unknowns(ranks: int) -> None:
    rows = found(ranks)["grown"][0]
    assert not any(rows["190"][1:])
    assert min(rows["200"]) > 0


def test_a_motion_goes_on_on_other_ranks(tmp_path: Path) -> None:
    (first, *_) = run_cases(3, SCRIPT, f"saved={tmp_path}")[f"saved={tmp_path}"]
    for ranks in (1, 2):
        for again in run_cases(ranks, SCRIPT, f"restored={tmp_path}")[f"restored={tmp_path}"]:
            assert again["one"]["places"] == first["places"]
            assert again["one"]["energies"] == first["energies"]
            np.testing.assert_allclose(again["all"]["places"], first["places"], atol=1e-9)
