# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints: every coordinate comes back, on any number of ranks, or an error says why not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.mpi import run_mpi

SCRIPT = Path(__file__).with_name("check_checkpoint.py")

pytestmark = pytest.mark.parallel


def run(ranks: int, case: str, folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = run_mpi(ranks, SCRIPT, case, folder, timeout=180.0)
    assert len(found) == ranks
    return found


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Any]:
    """The folder and the results of writing on 1, 2 and 3 ranks."""
    found = {}
    for ranks in (1, 2, 3):
        folder = tmp_path_factory.mktemp(f"ranks{ranks}")
        found[ranks] = (folder, run(ranks, "save", folder))
    return found


@pytest.mark.parametrize(("there", "here"), [(1, 1), (1, 3), (3, 2), (3, 1), (2, 4)])
def test_every_coordinate_comes_back(saved: Any, there: int, here: int) -> None:
    folder, _ = saved[there]
    for found in run(here, "load", folder):
        assert found["same"] == {"state": True, "rate": True, "acceleration": True}
        assert found["names"] == ["acceleration", "rate", "state"]
        assert found["facts"]
        assert found["table"]
        assert found["untouched"]
        assert (found["ghosts"] > 0) == (here > 1)


def test_the_file_does_not_depend_on_the_ranks(saved: Any) -> None:
    """So virtual vertices (of joints, ties, rigid bodies) have the same ids on all of them."""
    (_, one), (_, two), (_, three) = saved.values()
    assert one[0]["virtual"] > 10
    assert len(one[0]["kinds"]) >= 7
    assert one[0]["digest"] == two[0]["digest"] == three[0]["digest"]
    assert [found["virtual"] for found in three] == [one[0]["virtual"]] * 3
    assert three[0]["left"] == ["zoo.h5"]


@pytest.mark.parametrize("ranks", [1, 3])
def test_what_does_not_fit_is_told_on_every_rank(saved: Any, ranks: int) -> None:
    folder, _ = saved[ranks]
    first, *others = run(ranks, "errors", folder)
    assert all(other == first for other in others)
    text = {case: found["text"] for case, found in first.items()}
    kinds = {case: found["error"] for case, found in first.items()}
    for case in ("cells", "name", "term", "place", "missing", "text", "cut", "new"):
        assert kinds.pop(case) == "CheckpointError", case
    assert kinds == {
        "folder": "FileExistsError",
        "length": "ParameterError",
        "kind": "ParameterError",
    }
    thin = "ancf_thin_plate"
    wanted = f"body 'sheet': Body of 16 {thin} in the file, Body of 20 {thin} here"
    assert wanted in first["cells"]["differences"]
    assert "body 'plate': missing in the file" in text["name"]
    assert "block 'lambda:distance': 1 vertices" in text["term"]
    assert "in the file, missing here" in text["term"]
    assert re.search(
        r"vertex \d+ is at \(.*, 1, 0\) in the file, \(.*, 1.1, 0\) here", text["place"]
    )
    assert "working directory" in text["missing"]
    assert "version 99; this symancf reads" in text["new"]
    assert "cannot read the checkpoint" in text["cut"]
    assert "'rate' has shape (3,)" in text["length"]


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_full_disk_keeps_the_checkpoint_before(tmp_path: Path, ranks: int) -> None:
    for found in run(ranks, "full", tmp_path):
        assert found["error"] == "OSError"
        assert found["kept"]
        assert found["which"] == "old"
        assert found["left"] == ["old.h5"]


def test_a_static_solution_goes_on(tmp_path: Path) -> None:
    (one,) = run(1, "static", tmp_path)
    assert one["note"] == "half"
    assert one["start"] == 1.0
    assert one["moved"] > 0.05
    assert one["iterations"][0] == one["iterations"][1]
    assert one["bits"], one["apart"]
    found = {n: run(n, "go_on", tmp_path)[0]["u"] for n in (1, 2)}
    for a, b in zip(found[1], found[2], strict=True):
        assert a == pytest.approx(b, rel=1e-8, abs=1e-10)
