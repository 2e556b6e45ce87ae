# SPDX-License-Identifier: BSD-3-Clause
"""A way through package and compiler gets no longer: ceilings that are lowered when it shrinks."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests import walks

# functions and files; see tests/walks.py
CEILINGS = {
    "whole": (701, 111),
    "first": (299, 60),
    "second": (108, 36),
    "motion": (486, 76),
}
STATEMENTS = 66206


@cache
def counts() -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.walks", "--json"]  # in a process of its own
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", CEILINGS)
def test_a_walk_is_not_longer_than_it_was(name: str) -> None:
    functions, files = counts()[name]
    assert functions <= CEILINGS[name][0]
    assert files <= CEILINGS[name][1]


def test_statements_are_not_more_than_they_were() -> None:
    assert counts()["statements"] <= STATEMENTS


def test_only_named_functions_of_the_packages_are_counted(tmp_path: Path) -> None:
    assert walks.walk(lambda: [k for k in range(3)]) == (0, 0)
    parameter = walks.walk(lambda: walks.sa.Parameter("load", 1.0))
    assert parameter[0] >= 1
    file = tmp_path / "package" / "module.py"
    file.parent.mkdir()
    text = '"""Title."""\nclass A:\n    """A."""\n    x = 1\n\n    def f(self):\n        return 2\n'
    file.write_text(text, encoding="utf-8")
    assert walks.statements((file.parent,)) == 4
