# SPDX-License-Identifier: BSD-3-Clause
"""Motions do not depend on the number of ranks; restarts and errors on several ranks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.mpi import Found, run_cases

SCRIPT = Path(__file__).with_name("check_motion.py")

pytestmark = pytest.mark.parallel


@pytest.fixture(scope="module")
def run(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[int, str], list[dict[str, Any]]]:
    """What the ranks find in a case; they restore what one rank saved."""
    folder, own = (tmp_path_factory.mktemp(name) for name in ("alone", "several"))
    alone = run_cases(1, SCRIPT, f"save={folder}", f"fail={folder}", f"derive={folder}")
    found = {
        1: Found(alone | run_cases(1, SCRIPT, f"restore={folder}")),
        2: run_cases(2, SCRIPT, f"save={own}"),
        3: run_cases(
            3, SCRIPT, f"save={own}", f"restore={folder}", f"fail={folder}", f"derive={folder}"
        ),
    }

    def result(ranks: int, case: str) -> list[dict[str, Any]]:
        where = own if case == "save" and ranks > 1 else folder
        every: list[dict[str, Any]] = found[ranks][f"{case}={where}"]
        assert len(every) == ranks
        return every

    return result


def same(found: dict[str, Any], reference: dict[str, Any], tolerance: float) -> None:
    for name in ("positions", "velocities", "forces", "energies"):
        a, b = np.array(found[name]), np.array(reference[name])
        assert np.abs(a - b).max() <= tolerance * np.abs(b).max(), name


@pytest.mark.parametrize("ranks", [2, 3])
def test_a_motion_is_the_same_on_any_number_of_ranks(run: Any, ranks: int) -> None:
    (reference,) = run(1, "save")
    for found in run(ranks, "save"):
        assert min(found["rows"]) > 0
        assert found["spread"]  # a joint has vertices of several ranks
        same(found, reference, 1e-10)


def test_derivatives_by_masses_and_velocities_are_the_same_on_several_ranks(run: Any) -> None:
    (reference,) = run(1, "derive")
    known = np.array(reference["back"])
    assert np.abs(known).min() > 1e-6 * np.abs(known).max()
    for found in (reference, *run(3, "derive")):
        for way in ("back", "direct"):
            np.testing.assert_allclose(found[way], known, rtol=0, atol=1e-9 * np.abs(known).max())


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_restart_on_other_ranks_goes_on_as_the_run_did(run: Any, ranks: int) -> None:
    (reference,) = run(1, "save")
    for found in run(ranks, "restore"):
        same(found, reference, 0.0 if ranks == 1 else 1e-10)
        assert abs(found["drift"]) < 1e-3


@pytest.mark.parametrize("ranks", [1, 3])
def test_an_error_of_one_rank_ends_the_run_on_all(run: Any, ranks: int) -> None:
    for found in run(ranks, "fail"):
        assert "division by zero" in found["error"]
        assert found["steps"] == 5
        assert found["time"] == pytest.approx(0.01)
