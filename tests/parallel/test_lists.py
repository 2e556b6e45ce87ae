# SPDX-License-Identifier: BSD-3-Clause
"""Which facets may touch is the same on any number of ranks, and each rank has its part of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mpi import run_mpi

SCRIPT = Path(__file__).with_name("check_lists.py")

pytestmark = pytest.mark.parallel


def test_ranks_share_the_lists_of_contact() -> None:
    """Each pair is on one rank as its own; those of elements that ranks share are on several."""
    one, several = run_mpi(1, SCRIPT), run_mpi(3, SCRIPT)
    least, most = several.pop("bytes"), one.pop("bytes")
    assert one == several
    assert all(len(pairs) > 100 for pairs in one.values())
    assert least < 0.9 * most
