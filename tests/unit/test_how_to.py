# SPDX-License-Identifier: BSD-3-Clause
"""Each how-to runs, prints what its page shows, and checks its number itself."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

PAGES = sorted((Path(__file__).parents[2] / "docs" / "how-to").glob("*.md"))
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]\d+)?")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_how_to(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.S)
    (printed,) = re.findall(r"```text\n(.*?)```", text, re.S)
    assert "assert " in code
    assert len(code.splitlines()) < 60
    exec(code, {"__name__": "how_to"})
    out = capfd.readouterr().out
    assert NUMBER.sub("#", out) == NUMBER.sub("#", printed)
    numbers = [[float(x) for x in NUMBER.findall(lines)] for lines in (out, printed)]
    assert numbers[0] == pytest.approx(numbers[1], rel=1e-2, abs=1e-3)
    for drawn in re.findall(r"results/(\w+\.png)", code):
        assert (tmp_path / "results" / drawn).stat().st_size > 10_000
        assert f"../images/{drawn}" in text
