# SPDX-License-Identifier: BSD-3-Clause
"""A rank that leaves in a function of the user takes all ranks with it: none waits for it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.mpi import mpirun

SCRIPT = Path(__file__).with_name("check_endings.py")
RANKS = 3
CASES = SCRIPT.read_text(encoding="utf-8").split("@case\ndef ")[1:]

pytestmark = pytest.mark.parallel


@cache
def run() -> tuple[int, Any]:
    done = mpirun(RANKS, SCRIPT, timeout=180.0)
    lines = done.stdout.strip().splitlines()
    assert lines, done.stderr
    return done.returncode, json.loads(lines[-1])


@pytest.mark.parametrize("case", [text.partition("(")[0] for text in CASES])
def test_all_ranks_leave_alike(case: str) -> None:
    found = run()[1][case]
    assert all(each == found[0] for each in found), found
    first = dict(found[0])
    assert first.pop("exit 2") == ["SystemExit", "3", 3]
    if case != "monitor":
        name, text, code = first.pop("signal 0")
        assert (name, text[:6], code) in (
            ("KeyboardInterrupt", start, 0) for start in ("", "Ctrl-C")
        )
    for kind, (name, text, _) in first.items():
        expected = {
            "exit 0": ("SystemExit", "3"),
            "interrupt 0": ("KeyboardInterrupt", "stop"),
            "generator 0": ("GeneratorExit", ""),
            "own 0": ("Away", "away"),
            "error 0": ("ArithmeticError", "wrong"),
        }
        assert (name, text) == expected[kind]


def test_status_of_a_script_is_that_of_the_rank_that_left() -> None:
    assert run()[0] == 3
