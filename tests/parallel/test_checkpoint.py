# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints: every coordinate comes back, on any number of ranks, or an error says why not."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.mpi import run_cases

SCRIPT = Path(__file__).with_name("check_checkpoint.py")

pytestmark = pytest.mark.parallel

Runs = Callable[[int, str], Any]

# ranks -> cases of the run that writes, each in the folder of that run
FIRST = {1: ("save", "errors", "static", "full"), 2: ("save",), 3: ("save", "errors", "full")}

# ranks -> cases of the run that reads, and how many ranks wrote what they read
SECOND: dict[int, tuple[tuple[str, int], ...]] = {
    1: (("load", 1), ("load", 3), ("go_on", 1)),
    2: (("load", 3), ("go_on", 1)),
    3: (("load", 1),),
    4: (("load", 2),),
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """The folder in which so many ranks write."""
    return {ranks: tmp_path_factory.mktemp(f"ranks{ranks}") for ranks in FIRST}


@pytest.fixture(scope="module")
def written(folders: dict[int, Path]) -> Runs:
    runs = {n: [f"{case}={folders[n]}" for case in cases] for n, cases in FIRST.items()}
    found = {n: run_cases(n, SCRIPT, *cases) for n, cases in runs.items()}
    return lambda ranks, case: found[ranks][f"{case}={folders[ranks]}"]


@pytest.fixture(scope="module")
def again(folders: dict[int, Path], written: Runs) -> Callable[[int, str, int], Any]:
    """What a case finds on some ranks in what others wrote."""
    runs = {n: [f"{case}={folders[k]}" for case, k in cases] for n, cases in SECOND.items()}
    found = {n: run_cases(n, SCRIPT, *cases) for n, cases in runs.items()}
    return lambda here, case, there: found[here][f"{case}={folders[there]}"]


@pytest.mark.parametrize(("there", "here"), [(1, 1), (1, 3), (3, 2), (3, 1), (2, 4)])
def test_every_coordinate_comes_back(again: Any, there: int, here: int) -> None:
    every = again(here, "load", there)
    assert len(every) == here
    for found in every:
        assert found["same"] == {"state": True, "rate": True, "acceleration": True}
        assert found["names"] == ["acceleration", "rate", "state"]
        assert found["facts"]
        assert found["table"]
        assert found["untouched"]
        assert (found["ghosts"] > 0) == (here > 1)


def test_the_file_does_not_depend_on_the_ranks(written: Runs) -> None:
    """So virtual vertices (of joints, ties, rigid bodies) have the same ids on all of them."""
    one, two, three = (written(ranks, "save") for ranks in (1, 2, 3))
    assert one[0]["virtual"] > 10
    assert len(one[0]["kinds"]) >= 7
    assert one[0]["digest"] == two[0]["digest"] == three[0]["digest"]
    assert [found["virtual"] for found in three] == [one[0]["virtual"]] * 3
    assert three[0]["left"] == ["zoo.h5"]


@pytest.mark.parametrize("ranks", [1, 3])
def test_what_does_not_fit_is_told_on_every_rank(written: Runs, ranks: int) -> None:
    first, *others = written(ranks, "errors")
    assert len(others) == ranks - 1
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
    told = {case: "; ".join(first[case]["differences"]) for case in ("name", "term", "place")}
    assert "body 'plate': missing in the file" in told["name"]
    assert "multipliers of 'distance': 1 x 1 numbers in the file" in told["term"]
    assert "in the file, missing here" in told["term"]
    assert re.search(
        r"vertex \d+ is at \(.*, 1, 0\) in the file, \(.*, 1.1, 0\) here", told["place"]
    )
    assert "working directory" in text["missing"]
    assert "version 99; this symancf reads" in text["new"]
    assert "cannot read the checkpoint" in text["cut"]
    assert "'rate' has shape (3,)" in text["length"]


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_full_disk_keeps_the_checkpoint_before(written: Runs, ranks: int) -> None:
    every = written(ranks, "full")
    assert len(every) == ranks
    for found in every:
        assert found["error"] == "OSError"
        assert found["kept"]
        assert found["which"] == "old"
        assert found["left"] == ["old.h5"]


def test_a_static_solution_goes_on(written: Runs, again: Any) -> None:
    (one,) = written(1, "static")
    assert one["note"] == "half"
    assert one["start"] == 1.0
    assert one["moved"] > 0.05
    assert one["iterations"][0] == one["iterations"][1]
    assert one["bits"], one["apart"]
    found = {n: again(n, "go_on", 1)[0]["u"] for n in (1, 2)}
    for a, b in zip(found[1], found[2], strict=True):
        assert a == pytest.approx(b, rel=1e-8, abs=1e-10)
