# SPDX-License-Identifier: BSD-3-Clause
"""Motions do not depend on the number of ranks; restarts and errors on several ranks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.mpi import run_mpi

SCRIPT = Path(__file__).with_name("check_motion.py")

pytestmark = pytest.mark.parallel


def run(ranks: int, case: str, folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = run_mpi(ranks, SCRIPT, case, folder, timeout=180.0)
    assert len(found) == ranks
    return found


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A folder with a checkpoint of one rank, and what came out at the end."""
    folder = tmp_path_factory.mktemp("alone")
    return folder, run(1, "save", folder)[0]


def same(found: dict[str, Any], reference: dict[str, Any], tolerance: float) -> None:
    for name in ("positions", "velocities", "forces", "energies"):
        a, b = np.array(found[name]), np.array(reference[name])
        assert np.abs(a - b).max() <= tolerance * np.abs(b).max(), name


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_a_motion_is_the_same_on_any_number_of_ranks(
    alone: tuple[Path, dict[str, Any]], ranks: int, tmp_path: Path
) -> None:
    for found in run(ranks, "save", tmp_path):
        assert min(found["rows"]) > 0
        assert found["spread"]  # a joint has vertices of several ranks
        same(found, alone[1], 1e-10)


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_restart_on_other_ranks_goes_on_as_the_run_did(
    alone: tuple[Path, dict[str, Any]], ranks: int
) -> None:
    folder, reference = alone
    for found in run(ranks, "restore", folder):
        same(found, reference, 0.0 if ranks == 1 else 1e-10)
        assert abs(found["drift"]) < 1e-3


@pytest.mark.parametrize("ranks", [1, 3])
def test_an_error_of_one_rank_ends_the_run_on_all(ranks: int, tmp_path: Path) -> None:
    for found in run(ranks, "fail", tmp_path):
        assert "division by zero" in found["error"]
        assert found["steps"] == 5
        assert found["time"] == pytest.approx(0.01)
