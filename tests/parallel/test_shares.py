# SPDX-License-Identifier: BSD-3-Clause
"""No rank makes a list of all places of a large region: every array is followed by its name.

What a rank has of a region before distribution are the points of its slice of the mesh. What a
vertex ties together is all on the rank that owns it: there the rank with the least counts.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from tests.mpi import run_mpi

pytestmark = pytest.mark.parallel

SCRIPT = Path(__file__).with_name("check_shares.py")
MODELS = [
    *("fix", "planar", "symmetry", "roller", "force", "traction", "tie"),
    *("lines", "edges", "clamp", "oblique", "rigid", "cavity"),
]


@cache
def arrays(ranks: int) -> dict[str, dict[str, int]]:
    """Lengths by model and variable."""
    result: dict[str, dict[str, int]] = run_mpi(ranks, SCRIPT)
    return result


@pytest.mark.parametrize("model", MODELS)
def test_every_array_of_places_falls_with_the_ranks(model: str) -> None:
    """On 3 ranks a third, and what neighbours have in common: more where bodies are tied."""
    one, three = arrays(1)[model], arrays(3)[model]
    most = 0.75 if model == "tie" else 0.6
    large = {key: length for key, length in one.items() if length > 24 * 24 // 3}
    assert len(large) > 5
    kept = {key: (n, three.get(key, 0)) for key, n in large.items() if three.get(key, 0) > most * n}
    assert kept == {}
