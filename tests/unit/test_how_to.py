# SPDX-License-Identifier: BSD-3-Clause
"""How-tos run, print what their pages show, and check their numbers."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def pages() -> Any:
    spec = importlib.util.spec_from_file_location("_pages", DOCS / "_pages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "name", ["crawling-block", "magnetic-beam", "tendon-driven-arm", "viscoelastic-finger"]
)
def test_how_to_runs(name: str, pages: Any, tmp_path: Path) -> None:
    pages.run(DOCS / "how-to" / f"{name}.md", tmp_path)


def test_how_tos_are_short_and_check_a_number(pages: Any) -> None:
    assert len(pages.PAGES) > 2
    table = (DOCS / "how-to.md").read_text(encoding="utf-8")
    for page in pages.PAGES:
        code = pages.script(page)
        assert "assert " in code, page.name
        assert len(code.splitlines()) < 60, page.name
        assert f"how-to/{page.stem}" in table, page.name
        assert "What to change" in page.read_text(encoding="utf-8"), page.name
