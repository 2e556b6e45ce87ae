# SPDX-License-Identifier: BSD-3-Clause
"""`make docs` survives a kernel that does not answer, and ends a page that takes too long."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jupyter_cache")
pytest.importorskip("ipykernel")
pytest.importorskip("myst_nb")
nbformat = pytest.importorskip("nbformat.v4")

DOCS = Path(__file__).parents[2] / "docs"

SILENT = """\
import pathlib, runpy, sys, time
started = pathlib.Path({started!r})
silent = len(started.read_text()) < {times} if started.exists() else {times} > 0
with started.open("a") as file:
    file.write("x")
if silent:
    time.sleep(600)
sys.argv = sys.argv[1:]
runpy.run_module("ipykernel_launcher", run_name="__main__", alter_sys=False)
"""


@pytest.fixture
def runner() -> Any:
    spec = importlib.util.spec_from_file_location("_run", DOCS / "_run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def notebook(code: str) -> Any:
    made = nbformat.new_notebook(cells=[nbformat.new_code_cell(code)])
    made.metadata["kernelspec"] = {"name": "silent", "display_name": "silent"}
    return made


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Make a kernel that does not answer for some times."""

    def make(times: int) -> Path:
        started = tmp_path / "started"
        script = tmp_path / "silent.py"
        script.write_text(SILENT.format(started=str(started), times=times))
        folder = tmp_path / "kernels" / "silent"
        folder.mkdir(parents=True)
        argv = [sys.executable, str(script), "ipykernel_launcher", "-f", "{connection_file}"]
        about = {"argv": argv, "display_name": "silent", "language": "python"}
        (folder / "kernel.json").write_text(json.dumps(about))
        monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
        return started

    return make


def test_a_kernel_that_does_not_answer_is_tried_again(
    runner: Any, kernel: Any, tmp_path: Path
) -> None:
    started, page = kernel(1), notebook("print(6 * 7)")
    found = runner.run(page, str(tmp_path), "tutorials/page.py", 60, start=12)
    assert found.err is None
    assert page.cells[0].outputs[0].text == "42\n"
    assert len(started.read_text()) > 1


def test_a_page_that_takes_too_long_is_named(runner: Any, kernel: Any, tmp_path: Path) -> None:
    started = kernel(9)
    page = notebook("print(6 * 7)")
    found = runner.run(page, str(tmp_path), "tutorials/page.py", 60, limit=2, start=60)
    assert type(found.err) is runner.PageTimeout
    assert str(found.err) == "tutorials/page.py took longer than 2 s"
    assert len(started.read_text()) <= 1


def test_what_a_page_raises_is_not_tried_again(runner: Any, kernel: Any, tmp_path: Path) -> None:
    started = kernel(0)
    found = runner.run(notebook("1 / 0"), str(tmp_path), "tutorials/page.py", 60, start=60)
    assert "ZeroDivisionError" in str(found.err)
    assert started.read_text() == "x"
