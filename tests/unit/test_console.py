# SPDX-License-Identifier: BSD-3-Clause
"""Units and formulas are printed as they are, in texts and in tables."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from symancf.runtime.console import plain_console

if TYPE_CHECKING:
    import pytest


def test_units_and_formulas_show() -> None:
    texts = ["[m]", "F [uN]", "x[0] + [/b]", "[red]", ":x:", "[1/s]", "a[i][j]"]
    out = io.StringIO()
    console = plain_console(least=200, file=out)
    for text in texts:
        table = Table(title=f"title {text}")
        table.add_column(f"head {text}", footer=text)
        table.add_row(f"cell {text}", style="dim")
        console.print(table)
        console.print(f"line {text}")
    printed = out.getvalue()
    for text in texts:
        for place in ("title", "head", "cell", "line"):
            assert f"{place} {text}" in printed


def test_the_tables_of_the_bench_keep_their_units(capsys: pytest.CaptureFixture[str]) -> None:
    from symancf.bench.table import show

    motion = {"model": "one [m]", "peer": "us", "ms_per_step": 1.0, "apart": 1e-3}
    show({"fma_peak_gflops": 1.0, "peers": ["peer [s]"], "motions": [motion]})
    printed = capsys.readouterr().out
    for text in ("peer [s]", "CPU time of a step [ms]", "apart [m]", "one [m]"):
        assert text in printed


def test_all_print_through_one_console(repository: Path) -> None:
    made = [
        path.name
        for folder in ("symancf", "docs", "codegen")
        for path in (repository / folder).rglob("*.py")
        if re.search(r"rich\.console import Console|rich import print", path.read_text())
    ]
    assert made == ["console.py"]
