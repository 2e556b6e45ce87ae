# SPDX-License-Identifier: BSD-3-Clause
"""A sample of the campaign: the whole of it is `make campaign`."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.campaign import classes, driver
from tests.mpi import mpirun

SEED = 2026
SAMPLE = {
    "arguments": 25,
    "arrays": 12,
    "files": 12,
    "functions": 8,
    "frames": 9,
    "mistakes": 20,
    "states": 12,
}

pytestmark = pytest.mark.parallel


@pytest.mark.parametrize("name", SAMPLE)
def test_every_case_ends_in_a_right_result_or_one_clear_error(name: str) -> None:
    count, until = SAMPLE[name], time.monotonic() + 300.0
    made = classes.cases(name, SEED, count)
    assert len(made) == count
    ranks = {"functions": [3], "states": [3], "files": [1, 3], "frames": [1, 3]}.get(name, [1])
    reports = [driver.run(name, SEED, count, n, list(range(count)), until) for n in ranks]
    wrong = driver.verdicts(name, SEED, count, reports)
    assert not {f"{made[k].name}": text for k, text in wrong.items()}
    assert all(len(report.found) == count for report in reports)


LATE = """
import sys, time
from pathlib import Path
from tests.campaign import worker

def late(cases, numbers, out, limit, run=worker.run):
    time.sleep(0.5 * worker.COMM.rank)  # the first rank is long at its end
    run([], [], out, limit)

worker.run = late
worker.main()
"""


def test_a_rank_that_ends_first_does_not_cut_off_the_others(tmp_path: Path) -> None:
    out = tmp_path / "found"
    mpirun(3, LATE, "mistakes", 1, 1, 60.0, out, 0)
    ends = [Path(f"{out}.{rank}").read_text(encoding="utf-8") for rank in range(3)]
    assert [json.loads(text)["event"] for text in ends] == ["done"] * 3
