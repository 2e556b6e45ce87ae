# SPDX-License-Identifier: BSD-3-Clause
"""The code of docs/contact.md runs from top to bottom, and forces are in balance there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pytest


def test_page(capsys: pytest.CaptureFixture[str]) -> None:
    root = Path(__file__).parents[2]
    text = (root / "docs" / "contact.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    assert len(blocks) == 4
    page: dict[str, Any] = {}
    exec(blocks[0], page)
    (printed,) = re.findall(r"```text\n(.*?)```", text, re.S)
    assert capsys.readouterr().out == printed
    touch, system = page["touch"], page["system"]
    force, held = touch.force(system), page["root"].reaction(system).force
    np.testing.assert_allclose(force + held, [0.0, 0.0, -0.4], rtol=1e-6, atol=1e-8)
    assert abs(force[0]) <= 0.4 * abs(force[2])
    assert page["nodal"].pressure.max() > 0.0
    exec("\n".join(blocks[1:]), page)
    (time,) = page["begins"]
    assert 0.0 < time < page["moving"].time + 1e-12
    assert abs(touch.clearance(page["moving"])) < 1e-8
