# SPDX-License-Identifier: BSD-3-Clause
"""The tables of tuning constants name all that there are, and tests that exist."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.campaign.constants.listing import (
    FIXED,
    PACKAGE,
    ROOMS,
    UNTESTED,
    aliases,
    constants,
    listed,
    rows,
)
from tests.campaign.constants.runs import scaled

MOST_UNTESTED = 25


@pytest.mark.parametrize("room", ROOMS)
def test_each_constant_has_its_row_in_the_order_of_the_code(room: str) -> None:
    table = rows(room)
    assert [row.name for row in table] == listed(room)
    assert all(row.unit and row.meaning.endswith(".") for row in table)


@pytest.mark.parametrize("room", ROOMS)
def test_the_tests_of_a_table_exist(room: str, repository: Path) -> None:
    for row in rows(room):
        if row.test != UNTESTED:
            path, name = row.test.split("::")
            tree = ast.parse((repository / path).read_text(encoding="utf-8"))
            names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
            assert name.partition("[")[0] in names, row


def test_few_constants_are_untested() -> None:
    untested = [row.name for room in ROOMS for row in rows(room) if row.test == UNTESTED]
    assert len(untested) <= MOST_UNTESTED


def test_fixed_numbers_exist() -> None:
    for name in FIXED:
        module, _, constant = name.rpartition(".")
        path = PACKAGE.joinpath(*module.split(".")).with_suffix(".py")
        assert constant in constants(path)


def test_constants_are_numbers_with_upper_case_names(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    text = "A = 1\nB, C = 2.0, 'x'\nD: int = -3\nE = True\nf = 4\nG = (1, 2)\nH = {'a': 0.5}\n"
    file.write_text(text + "I = cos(0.1)\nJ = cos(x)\nK = 2 * eps\n", encoding="utf-8")
    assert constants(file) == ["A", "B", "D", "G", "H", "I", "K"]


def test_names_that_a_module_imports_are_known() -> None:
    assert aliases("symancf.solve.dynamics.energy")["MOVED"] == "solve.dynamics.supports.MOVED"
    assert (
        aliases("symancf.solve.statics.convergence")["ROUND_OFF_FACTOR"]
        == "newton.stopping.ROUND_OFF_FACTOR"
    )


def test_counts_stay_counts() -> None:
    assert scaled((5, 2.0, {"a": 300}), 0.1) == (1, 0.2, {"a": 30})
    assert scaled(3, 10.0) == 30
