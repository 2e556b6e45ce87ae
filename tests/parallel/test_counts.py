# SPDX-License-Identifier: BSD-3-Clause
"""Many bodies and joints, and inertia that changes, on three ranks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mpi import run_mpi

pytestmark = pytest.mark.parallel


def test_many_joints_and_a_mass_that_changes_on_three_ranks() -> None:
    first, *others = run_mpi(
        3, Path(__file__).with_name("check_counts.py"), timeout=180.0, kept=True
    )
    assert all(other == first for other in others)
    assert first["angles"] == pytest.approx([0.1 * k for k in range(26)], abs=1e-12)
    assert first["rows"].pop("position") == 0.0
    assert first["rows"].pop("planar position") == 52.0
    assert first["rows"].pop("planar angle") == 26.0
    assert len(first["rows"]) == 52
    assert set(first["rows"].values()) == {1.0, 2.0}
    assert first["free"] == [["b24"], ["b25"]]
    assert first["velocity"] == pytest.approx(-2e-2, rel=1e-9)
