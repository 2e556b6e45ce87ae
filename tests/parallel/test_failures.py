# SPDX-License-Identifier: BSD-3-Clause
"""Solutions that fail say why, on every rank alike, and leave the last equilibrium behind."""

from __future__ import annotations

from functools import cache
from math import isnan, log
from pathlib import Path
from typing import Any

import pytest

from tests.mpi import run_mpi

SCRIPT = Path(__file__).with_name("check_failures.py")
RANKS = [1, 3]

pytestmark = [pytest.mark.parallel, pytest.mark.parametrize("ranks", RANKS)]


@cache
def results(ranks: int, *cases: str) -> Any:
    return run_mpi(ranks, SCRIPT, *cases, timeout=180.0, kept=True)


def result(case: str, ranks: int) -> dict[str, Any]:
    """What every rank found, which must be the same."""
    found = results(ranks)[case]
    assert len(found) == ranks
    assert all(repr(each) == repr(found[0]) for each in found), found  # nan is not nan
    first: dict[str, Any] = found[0]
    return first


def test_overload_leaves_the_last_step(ranks: int) -> None:
    found = result("overload", ranks)
    assert found["error"] == "ConvergenceError"
    assert found["reason"] == "DIVERGED_MAX_IT"
    assert found["time"] == pytest.approx(1.925, abs=0.005)
    assert found["iteration"] == 40
    # the largest dead load of a St Venant-Kirchhoff column is E A / (3 sqrt 3) = 0.19245
    assert found["now"] == found["last"] == pytest.approx(1.9245, abs=1e-3)
    assert found["now"] < found["time"]
    assert found["reached"] == pytest.approx(3.0 * (3.0**-0.5 - 1.0), abs=0.03)
    assert found["imbalance"] < 1e-9
    assert found["returned"] < 1e-9
    assert found["steps"][-1] == 1.0


def test_a_bad_parameter_leaves_the_last_step(ranks: int) -> None:
    found = result("parameter_that_turns_bad", ranks)
    assert found["error"] == "ParameterError"
    assert found["asked"] == "x"
    assert isnan(found.pop("given"))
    assert (found["now"], found["moved"], found["then"]) == (1.0, 0.0, 1.2)


def test_inner_reason_of_the_linear_solver(ranks: int) -> None:
    found = result("too_few_linear_iterations", ranks)
    assert found["reason"] == "DIVERGED_ITS"
    assert found["now"] == 0.0


def test_free_body_without_the_check(ranks: int) -> None:
    found = result("free_body_without_check", ranks)
    assert found["error"] == "ConvergenceError"
    assert found["asked"] == "free motion"


def test_constraints_that_say_the_same(ranks: int) -> None:
    found = result("two_joints_at_one_place", ranks)
    assert found["error"] == ""
    (text,) = found["warnings"]
    assert "3 equations of 'spherical #2' (near (0.8, 0, 0)) follow from those of 'spheri" in text
    assert found["forces"][0][2] != 0.0
    assert found["forces"][1] == [0.0, 0.0, 0.0]


def test_constraints_that_contradict(ranks: int) -> None:
    found = result("two_joints_that_contradict", ranks)
    assert found["error"] == "ConstraintError"
    assert found["asked"] == "contradiction"
    assert found["names"] == ["spherical", "spherical #2"]


def test_constraints_that_supports_fulfil_or_contradict(ranks: int) -> None:
    assert result("joint_at_a_fixed_node", ranks)["error"] == ""
    assert result("tie_with_clamped_ends", ranks)["error"] == ""
    found = result("joint_against_a_support", ranks)
    assert found["error"] == "ConstraintError"
    assert found["asked"] == "residual"
    assert found["names"] == ["spherical"]


def test_a_distant_link_pulls_the_end(ranks: int) -> None:
    assert result("distance_that_cannot_be", ranks)["end"] == pytest.approx(29.0)


@pytest.mark.parametrize("case", ["one_cell", "two_cells", "one_cable_cell_with_a_joint"])
def test_ranks_without_cells(case: str, ranks: int) -> None:
    found, alone = result(case, ranks), result(case, 1)
    assert found["error"] == ""
    assert max(map(abs, alone["u"][0])) > 1e-3
    assert found["u"][0] == pytest.approx(alone["u"][0], rel=1e-9, abs=1e-12)


def test_two_cells_on_four_ranks(ranks: int) -> None:
    if ranks > 1:
        pytest.skip("once is enough")
    (first, *others) = results(4, "two_cells", "one_cable_cell_with_a_joint")["two_cells"]
    assert all(other == first for other in others)
    assert first["u"][0] == pytest.approx(result("two_cells", 1)["u"][0], rel=1e-9)


def test_all_coordinates_fixed(ranks: int) -> None:
    found = result("all_fixed", ranks)
    assert found["error"] == ""
    assert found["steps"] == 2
    # neo-Hooke, stretch 1.1 of a volume of 3
    mu, lam, s = 1.0, 2.0, 1.1
    energy = 3 * (mu / 2 * (s**2 - 1) - mu * log(s) + lam / 2 * log(s) ** 2)
    assert found["energy"] == pytest.approx(energy, rel=1e-12)
    crushed = result("all_fixed_and_crushed", ranks)
    assert crushed["reason"] == "DIVERGED_FUNCTION_DOMAIN"
    assert crushed["now"] == 0.0


def test_nothing_to_do_takes_no_iteration(ranks: int) -> None:
    assert result("nothing_to_do", ranks)["iterations"] == [0, 0]


def test_unused_option_is_reported(ranks: int) -> None:
    (text,) = result("unused_option", ranks)["warnings"]
    assert "-odd_snes_rtoll" in text
    assert "Did you mean 'odd_snes_rtol'" in text


def test_decisions_are_those_of_all_ranks(ranks: int) -> None:
    assert result("rounded_otherwise_on_one_rank", ranks)["steps"] == [3, 2]
    found = result("error_of_one_rank_in_a_cut_step", ranks)
    assert found["text"] == "of one rank"
    assert found["tries"] > 1
