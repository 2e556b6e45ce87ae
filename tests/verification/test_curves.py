# SPDX-License-Identifier: BSD-3-Clause
"""Curves of cases: kept apart from their numbers, drawn, and those of the documentation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from symancf import verify
from symancf.verify import Case, Curve, Number

PAGES = Path(__file__).parents[2] / "docs" / "verification"


def both() -> Iterator[Number | Curve]:
    yield Curve(("x", "y"), "line", [0.0, 1.0], [0.0, 1.0], ([0.5], [0.5]), "closed form")
    yield Number("first", 1.0, 1.0, 0.0)
    yield Curve(("x", "z"), "points alone", [], [], ([0.5], [0.5]))
    yield Number("second", 1.0, 1.0, 0.0)


def test_numbers_are_counted_and_curves_collected() -> None:
    case, curves = Case("X", "both", "nowhere", both, 1), list[Curve]()
    assert [result.quantity for result in case.run()] == ["first", "second"]
    assert [result.quantity for result in case.run(1, curves)] == ["first"]
    assert [curve.label for curve in curves] == ["line"]


def test_a_picture_of_each_case_with_curves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    some = [Case("X", "both", "nowhere", both), Case("Y", "none", "nowhere", lambda: iter(()))]
    monkeypatch.setattr(verify, "cases", lambda group: some)
    verify.main("X", as_json=True, curves=tmp_path / "new")
    (picture,) = (tmp_path / "new").iterdir()
    assert picture.name == "X.png"
    assert picture.read_bytes()[1:4] == b"PNG"


def test_each_picture_of_the_documentation_is_of_a_case_and_shown() -> None:
    known = {case.id for case in verify.cases()}
    pictures = {path.stem for path in PAGES.glob("*.png")}
    assert pictures
    assert pictures <= known
    text = "".join(page.read_text() for page in PAGES.glob("*.md"))
    assert not [name for name in sorted(pictures) if f"({name}.png)" not in text]
