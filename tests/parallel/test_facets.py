# SPDX-License-Identifier: BSD-3-Clause
"""Contact of deformable bodies with friction, on several ranks and from checkpoints of others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.mpi import run_mpi

SCRIPT = Path(__file__).with_name("check_facets.py")

pytestmark = pytest.mark.parallel


def test_numbers_do_not_depend_on_ranks_or_on_checkpoints(tmp_path: Path) -> None:
    """In the middle of sliding; on 1 rank, on 3, from 1 to 3 and from 3 to 1."""
    runs = ((1, "whole1"), (3, "whole3", "from1"), (1, "from3"))
    found = {}
    for ranks, *goes in runs:
        found |= run_mpi(ranks, SCRIPT, tmp_path, *goes, timeout=240.0)
    one = np.array(found["whole1"])
    assert one[-1, -2] > 1e-3 > 0.0  # it has slid
    assert 10 < one[-1, -1] < 96
    size = np.abs(one).max(axis=0) + 1e-3
    for goes, rows in found.items():
        rest = one[-len(rows) :]
        assert (np.abs(np.array(rows) - rest) <= 1e-10 * size).all(), goes
