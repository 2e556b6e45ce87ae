# SPDX-License-Identifier: BSD-3-Clause
"""Distribution on 1 to 4 ranks: complete, balanced, the same every time, failing together."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.mpi import run_mpi

pytestmark = pytest.mark.parallel

SCRIPT = Path(__file__).with_name("check_partition.py")
RANKS = [1, 3, 4]


MESHES = ["hexahedra", "shuffled", "quadrilaterals", "lines"]
SETS = [*MESHES, "mixed", "bodies only", "apart", "one cell"]


@cache
def all_results(ranks: int) -> Any:
    return run_mpi(ranks, SCRIPT, *SETS, "failures", "no ptscotch", timeout=120.0, kept=True)


def check(ranks: int, case: str) -> Any:
    return all_results(ranks)[case]


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("case", SETS)
def test_topology_is_what_it_promises(case: str, ranks: int) -> None:
    result = check(ranks, case)
    assert result["same"]
    assert len(result["owned"]) == ranks
    assert sum(result["entities"].values()) > 0
    if ranks > 1 and case != "apart":
        assert min(result["ghosts"]) > 0


@pytest.mark.parametrize("ranks", [3, 4])
@pytest.mark.parametrize("case", MESHES)
def test_vertices_are_balanced(case: str, ranks: int) -> None:
    owned = check(ranks, case)["owned"]
    assert max(owned) * ranks / sum(owned) < 1.2


@pytest.mark.parametrize("ranks", [4])
def test_costs_of_families_are_balanced_and_joints_span_ranks(ranks: int) -> None:
    result = check(ranks, "mixed")
    assert max(result["cost"]) * ranks / sum(result["cost"]) < 1.2
    assert result["joint_ranks"] > 0


def test_a_shuffled_mesh_is_as_local_as_a_structured_one() -> None:
    structured, shuffled = check(1, "hexahedra"), check(1, "shuffled")
    assert shuffled["span"] < 1.5 * structured["span"]
    assert structured["span"] < 150  # of 720 vertices; along a plane of 72 and back


@pytest.mark.parametrize("ranks", RANKS)
def test_one_cell_on_many_ranks(ranks: int) -> None:
    assert sum(check(ranks, "one cell")["owned"]) == 8


@pytest.mark.parametrize("ranks", RANKS)
def test_a_fault_of_one_rank_is_raised_on_all(ranks: int) -> None:
    caught = check(ranks, "failures")
    for name, texts in caught.items():
        assert all(text == texts[0] for text in texts), name
    asked = {name: found[0][0] if found[0] else "" for name, found in caught.items()}
    assert asked == {
        "shape": "shape",
        "negative": "vertices",
        "name": "families" if ranks > 1 else "",
        "unused": "load",
        "virtual": "",
        "nothing": "entities",
    }
    assert caught["unused"][0][1] == 60


def test_without_ptscotch_blocks_and_a_warning() -> None:
    result = check(3, "no ptscotch")
    assert any("PT-Scotch" in text for text in result["warnings"])
    assert max(result["owned"]) * 3 / sum(result["owned"]) < 1.2
