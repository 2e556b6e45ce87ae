# SPDX-License-Identifier: BSD-3-Clause
"""Look for tests of constants that have none in the tables."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.mpi import environment

from .check import FACTORS, LONG
from .listing import ROOMS, UNTESTED, rows
from .runs import ROOT, Runs, collected

Seconds = dict[str, float]  # CPU time of tests by their name


def find(paths: list[str], budget: float) -> int:
    """Print a test for each constant without one, and return how many have none.

    paths : files of tests; None of them has to fail as it is.
    budget : seconds of CPU of the tests that are run for a constant in each direction.
    """
    wanted = [row.name for room in ROOMS for row in rows(room) if row.test == UNTESTED]
    with tempfile.TemporaryDirectory(prefix="symancf-constants-") as folder:
        read = _reads(paths, Path(folder) / "reads.json")
    left = list(wanted)

    def call(runs: Runs) -> None:
        for name in wanted:
            test = _test(runs, name, _candidates(name, read, budget))
            if test:
                left.remove(name)
            print(f"{name}: {test or UNTESTED}", flush=True)

    collected(paths, call)
    return len(left)


def _reads(paths: list[str], file: Path) -> dict[str, Seconds]:
    """Return the tests that read each constant; they all run once."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += ["-p", "tests.campaign.constants.reads", *paths]
    subprocess.run(command, cwd=ROOT, env=environment(SYMANCF_READS=str(file)), check=False)
    found: dict[str, Seconds] = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        test, seconds, names = json.loads(line)
        for name in names:
            found.setdefault(name, {})[test] = seconds
    return found


def _candidates(name: str, read: dict[str, Seconds], budget: float) -> list[str]:
    """Return tests that read a constant: those of its module's own file first, then short ones."""
    module = name.split(".")[-2].rstrip("s")
    tests = read.get(name, {})
    chosen: list[str] = []
    for test in sorted(tests, key=lambda test: (module not in test.split("::")[0], tests[test])):
        if tests[test] <= min(LONG, budget):
            budget -= tests[test]
            chosen.append(test)
    return chosen


def _test(runs: Runs, name: str, tests: list[str]) -> str:
    """Return the first of some tests that fails with a scaled constant, and only then."""
    for factor in FACTORS if tests else ():
        test = runs.failing(tests, name, factor)
        if test and not runs.failing([test]):
            return test
    return ""
