# SPDX-License-Identifier: BSD-3-Clause
"""The code of the guide runs, each page by itself."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest


def test_guide(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    (tmp_path / "meshes").symlink_to(repository / "meshes")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for page in sorted((repository / "docs" / "guide").glob("*.md")):
        blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S)
        assert blocks, page.name
        own: dict[str, Any] = {}
        exec("\n".join(blocks), own)
        if page.stem == "results":
            history, system = own["history"], own["system"]
        names |= own
    assert history.steps[-1].time == pytest.approx(2.0)
    assert history["P"].shape == (5, 3)
    weight = 1100 * 0.18 * 0.16 * 0.01 * 9.81
    reaction = system.terms[0].reaction(system).force
    np.testing.assert_allclose(reaction, [-2.0, 0.0, weight - 5.0 * 2.0 * 0.16], atol=1e-6)
    sag = names["bridge"].displacement(names["car"])[0, 2]
    assert sag == pytest.approx(-1e-3 / 48, rel=1e-5)
    kept, loom = names["kept"], names["loom"]
    assert kept.lengths(loom)[0] == pytest.approx(1.0, abs=1e-12)
    assert kept.multipliers(loom)[0, 0] == pytest.approx(20.0 / 3.0, rel=1e-9)
    high, low = names["path"].limit_points
    assert (high.kind, low.kind) == ("maximum", "minimum")
    assert names["path"]["weight"].max() == names["weight"].value == 0.2
    assert low.parameter < high.parameter < 0.2
    run, down = names["run"], names["down"]
    assert run.time[-1] == 0.7
    assert len(down) == 1
    assert 0.5 < down[0] < 0.7
    assert abs(names["swing"].energies.drift) < 1e-3
    # drawn to the strain 0.01 it yields by (EA e - Y)/(EA + K), and the other way on its way back
    plastic = 900.0 / 1.01e5
    plastic -= (1e5 * plastic - 100.0 - 1e3 * plastic) / 1.01e5
    found = names["drawn"].remembered(names["cord"])["plastic"]
    np.testing.assert_allclose(found, plastic, rtol=1e-9)
    chamber, soft = names["chamber"], names["soft"]
    assert chamber.watertight
    assert chamber.volume(soft) > 1.01 * chamber.reference_volume
    for made in ("modes.png", "plate.png", "pull.png", "pull.gif", "pull.h5"):
        assert (tmp_path / "results" / made).stat().st_size > 1000
    assert (names["tip"].sizes, names["bar"]["rim"].sizes) == ({"triangle6": 32}, {"line3": 4})
    press, buckling = names["press"], names["buckling"]
    np.testing.assert_allclose(buckling.values, [763.1, 6911.0], rtol=1e-3)
    assert press.value == 0.75 * buckling.values[0]
    ratio = names["small"].modes.frequencies[0] / names["modes"].frequencies[0]
    assert ratio == pytest.approx(0.5155, rel=1e-3)
    assert names["spinning"].frequencies[0] > 1.05 * names["modes"].frequencies[0]
    assert "ok" in capsys.readouterr().out
