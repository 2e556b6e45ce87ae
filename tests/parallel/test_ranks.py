# SPDX-License-Identifier: BSD-3-Clause
"""The solution does not depend on the number of ranks."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tests.mpi import run_mpi

SCRIPT = Path(__file__).with_name("check_ranks.py")
SYSTEMS = {"hexahedra": 150, "plates": 4 * 30, "shell": 4 * 30, "line": 4 * 18, "tied": 4 * 36}

pytestmark = pytest.mark.parallel


@cache
def solved(ranks: int) -> dict[str, list[list[float]]]:
    """Displacements and slopes of every system, in the order of the meshes' nodes."""
    found: dict[str, list[list[float]]] = run_mpi(ranks, SCRIPT, timeout=240.0, kept=True)
    return found


@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("name", SYSTEMS)
def test_solution_is_that_of_one_rank(name: str, ranks: int) -> None:
    one, many = np.array(solved(1)[name]), np.array(solved(ranks)[name])
    assert one.shape == many.shape == (SYSTEMS[name], 3)
    assert np.abs(one).max() > 0.05
    assert np.abs(many - one).max() <= 1e-9 * np.abs(one).max()
