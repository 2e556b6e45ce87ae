# SPDX-License-Identifier: BSD-3-Clause
"""Run the test of each constant with ten times and with a tenth of it."""

from __future__ import annotations

import os

from .listing import ROOMS, UNTESTED, Row, rows
from .runs import Runs, collected

FACTORS = 0.1, 10.0
LONG = 5.0  # s of CPU that a test may take


def check() -> int:
    """Print which rows of the tables are wrong, and return how many."""
    table = [row for room in ROOMS for row in rows(room)]
    tested = [row for row in table if row.test != UNTESTED]
    wrong: list[str] = []

    def call(runs: Runs) -> None:
        for row in tested:
            said = _wrong(runs, row)
            if said:
                wrong.append(f"{row.name}: {row.test} {said}")
                print(wrong[-1], flush=True)

    status = collected(sorted({row.test for row in tested}), call)
    if status:
        raise RuntimeError(f"pytest ends with {status}: a test of the tables does not exist")
    print(f"{len(table)} constants, {len(tested)} with a test, {len(wrong)} of these not noticed")
    for row in table:
        if row.test == UNTESTED:
            print(f"untested: {row.name} [{row.unit}]  {row.meaning}")
    return len(wrong)


def _wrong(runs: Runs, row: Row) -> str:
    """Return what is wrong with the test of a row, or ``""``."""
    begun = _seconds()
    if runs.failing([row.test]):
        return "fails as it is"
    if _seconds() - begun > LONG:
        return f"takes more than {LONG:g} s"
    if not any(runs.failing([row.test], row.name, factor) for factor in FACTORS):
        return "does not notice a tenth nor ten times the constant"
    return ""


def _seconds() -> float:
    """Return the CPU time of all processes that have ended."""
    times = os.times()
    return times.children_user + times.children_system
