# SPDX-License-Identifier: BSD-3-Clause
"""Units and formulas are printed as they are, in texts and in tables."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

import symancf as sa
from symancf.runtime.console import plain_console
from tests.refusals import refused

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


def test_a_table_formats_what_it_is_given() -> None:
    table = sa.Table("Tip [m]", "mesh", "k [Pa]:.0e", "ratio a: b", "sag:.2f")
    table.add("4 x 4", 1e7, "x[0]", None)
    table.add("8 x 8", 3)
    assert table.rows == [("4 x 4", 1e7, "x[0]", None), ("8 x 8", 3)]
    assert str(table).splitlines() == [
        "Tip [m]",
        "  mesh   k [Pa]  ratio a: b  sag",
        "  4 x 4   1e+07  x[0]",
        "  8 x 8   3e+00",
    ]
    with refused(sa.ParameterError, asked="values", given=5, possible=(4,)):
        table.add(1, 2, 3, 4, 5)
    with refused(sa.ParameterError, asked="sag", given=(1,), possible=(".2f",)):
        table.add(1, 2, 3, [1])
    assert len(table.rows) == 2
