# SPDX-License-Identifier: BSD-3-Clause
"""Paths past limit points are the same on any number of ranks and with any linear solver."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.mpi import run_cases
from tests.unit.test_bifurcations import euler, sway

SCRIPT = Path(__file__).with_name("check_continuation.py")

pytestmark = pytest.mark.parallel


PATHS = ("solid_arch", "sphere", "cables_with_joints")  # on any number of ranks
BIFURCATION = ("column_with_a_bifurcation",)
OTHERS = (
    "solid_arch_displaced",
    "solid_arch_by_multigrid",
    "sphere_by_multigrid",
    "pairs_of_eigenvalues",
    "errors",
)
CASES = {
    1: (*PATHS, *BIFURCATION, *OTHERS),
    3: (*PATHS, *OTHERS),
    4: (*PATHS, *BIFURCATION),
}


@cache
def results(ranks: int) -> Any:
    return run_cases(ranks, SCRIPT, *CASES[ranks], timeout=300.0)


def result(case: str, ranks: int) -> Any:
    """What every rank found, which must be the same."""
    found = results(ranks)[case]
    assert len(found) == ranks
    assert all(each == found[0] for each in found), found
    return found[0]


@pytest.mark.parametrize("ranks", [3, 4])
@pytest.mark.parametrize("case", PATHS)
def test_paths_do_not_depend_on_the_ranks(case: str, ranks: int) -> None:
    found, alone = result(case, ranks), result(case, 1)
    for name, series in alone["series"].items():
        largest = max(map(abs, series))
        np.testing.assert_allclose(found["series"][name], series, rtol=0, atol=1e-7 * largest)
    assert [p["kind"] for p in found["points"]] == [p["kind"] for p in alone["points"]]
    for point, other in zip(found["points"], alone["points"], strict=True):
        assert point["parameter"] == pytest.approx(other["parameter"], rel=1e-10)


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_displacement_leads_through_the_limit_points_of_the_load(ranks: int) -> None:
    found = result("solid_arch_displaced", ranks)
    assert found["own"] == 0
    assert found["forces"] == pytest.approx(found["loads"], rel=1e-9)
    assert len(found["loads"]) == 2


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("case", ["solid_arch", "sphere"])
def test_krylov_solvers_find_the_same_limit_points(case: str, ranks: int) -> None:
    direct, krylov = result(case, 1), result(f"{case}_by_multigrid", ranks)
    for point, other in zip(krylov["points"], direct["points"], strict=True):
        assert point["kind"] == other["kind"]
        assert point["parameter"] == pytest.approx(other["parameter"], rel=1e-8)
        series = "w" if case == "solid_arch" else "u"
        assert point[series] == pytest.approx(other[series], rel=1e-4)
    if case == "solid_arch":
        assert krylov["type"] == "cg"


@pytest.mark.parametrize("ranks", [1, 4])
def test_a_bifurcation_is_seen_on_any_number_of_ranks(ranks: int) -> None:
    found = result("column_with_a_bifurcation", ranks)
    assert found["at"] == pytest.approx([500 * (1 - (1 - np.pi**2 / 1000) ** 0.5)], rel=1e-5)
    assert len(found["texts"]) == 1


@pytest.mark.parametrize("ranks", [1, 3])
def test_pairs_of_eigenvalues_are_counted_on_any_number_of_ranks(ranks: int) -> None:
    (column, unstable, how), (frame, swaying, _) = result("pairs_of_eigenvalues", ranks)
    assert how == "all"
    ((at, eigenvalues),) = column
    assert (at, eigenvalues) == (pytest.approx(euler(1e4), rel=1e-5), 2)
    assert (unstable[0], unstable[-1]) == (0, 2)
    ((at, eigenvalues),) = frame
    assert (at, eigenvalues) == (pytest.approx(sway(), rel=3e-4), 1)
    assert (swaying[0], swaying[-1]) == (0, 1)


@pytest.mark.parametrize("ranks", [1, 3])
def test_errors_are_the_same_on_all_ranks(ranks: int) -> None:
    nothing, never, alone, goes_on, values = result("errors", ranks)
    assert nothing["error"] == "ParameterError"
    assert nothing["asked"] == "other"
    assert never["error"] == "ConvergenceError"
    assert never["reason"] == "STEPS"
    assert (alone["error"], alone["text"]) == ("RuntimeError", "the last rank has enough")
    assert goes_on["error"] == ""
    assert values["then"] != values["value"]
