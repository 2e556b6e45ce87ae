# SPDX-License-Identifier: BSD-3-Clause
"""Motions of index 1 on several ranks: the same trajectory, the same error everywhere."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.mpi import run_cases

SCRIPT = Path(__file__).with_name("check_index1.py")
CASES = {1: ("move", "fail"), 2: ("move", "adams"), 3: ("move", "fail")}

pytestmark = pytest.mark.parallel


@cache
def found(ranks: int) -> Any:
    return run_cases(ranks, SCRIPT, *CASES[ranks])


def test_ranks_find_the_same_trajectory() -> None:
    (alone,) = found(1)["move"]
    assert alone["steps"] > 20
    for ranks in (2, 3):
        many, *others = found(ranks)["move"]
        assert len(others) == ranks - 1
        assert all(other == many for other in others)
        assert many["worst"] < 1e-12
        for name, limit in (("x", 1e-8), ("v", 1e-6)):
            pairs = zip(many[name][0], alone[name][0], strict=True)
            assert max(abs(a - b) for a, b in pairs) < limit
        assert many["work"] == pytest.approx(alone["work"], rel=1e-6)
        assert abs(many["steps"] - alone["steps"]) <= 1  # by the last digits of an estimate


@pytest.mark.parametrize("ranks", [1, 3])
def test_every_rank_hears_of_an_error(ranks: int) -> None:
    results = found(ranks)["fail"]
    assert len(results) == ranks
    for said, time in results:
        assert said["error"] == "ParameterError"
        assert said["given"] == "ZeroDivisionError('no more')"
        assert time <= 0.02


def test_adams_methods_refuse_several_ranks() -> None:
    heard = found(2)["adams"]
    assert len(heard) == 2
    for said in heard:
        assert (said["error"], said["asked"], said["given"]) == ("ParameterError", "ranks", 2)
        assert said["possible"] == [1]
