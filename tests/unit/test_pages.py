# SPDX-License-Identifier: BSD-3-Clause
"""The code of pages beside the guide runs, and what they name exists."""

from __future__ import annotations

import re

import pytest

import symancf as sa
import symancf.errors


@pytest.mark.parametrize("page", ["coming-from", "concepts", "first-robot", "kernels"])
def test_code_of_pages_runs(page, repository, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (repository / "docs" / f"{page}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    assert blocks
    names = {}
    exec("\n".join(blocks), names)
    if page == "kernels":
        assert names["K"].shape == (1, 24, 24)
        assert names["f"].sum() == pytest.approx(0.0, abs=1e-14)
    elif page == "first-robot":
        assert names["history"]["tip"][-1] == pytest.approx([-0.345, 0.0, 81.177], abs=2e-3)
        assert (tmp_path / "results" / "first_robot.png").stat().st_size > 10_000
    elif page == "concepts":
        assert names["support"].reaction(names["system"]).force[2] == pytest.approx(11.0 * 9.81)
    else:
        assert names["history"]["end"][-1, 0] > 4.1


def test_names_in_pages_exist(repository):
    docs = repository / "docs"
    pages = [page for page in docs.rglob("*.md") if "_build" not in page.parts]
    assert len(pages) > 50
    for page in pages:
        for name in re.findall(r"`sa\.(\w+(?:\.\w+)*)", page.read_text(encoding="utf-8")):
            found = sa
            for part in name.split("."):
                found = getattr(found, part, None)
                assert found is not None, f"{page.name}: sa.{name}"


def test_each_class_of_errors_has_its_part(repository):
    text = (repository / "docs" / "errors.md").read_text(encoding="utf-8")
    for name, value in vars(sa.errors).items():
        if isinstance(value, type) and issubclass(value, sa.SymancfError):
            assert f"`{name}`" in text or f"`sa.{name}`" in text, name


def test_the_reference_has_every_public_name(repository):
    pages = (repository / "docs" / "api").glob("*.md")
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    listed = set(re.findall(r"^\.\. auto\w+:: symancf\.(\w+)$", text, re.M))
    modules = {
        "__version__",
        "checkpoint",
        "elements",
        "energies",
        "joints",
        "materials",
        "optimize",
        "output",
        "view",
        "ground",
    }
    assert listed == set(sa.__all__) - modules


def test_pages_of_the_guide_open_with_a_picture(repository):
    docs = repository / "docs"
    index = (docs / "index.md").read_text(encoding="utf-8")
    (guide,) = re.findall(r":caption: Guide\n:hidden:\n\n(.*?)```", index, re.S)
    assert len(guide.split()) > 15
    for page in guide.split():
        opening = (docs / f"{page}.md").read_text(encoding="utf-8").partition("\n## ")[0]
        assert "![" in opening or "{gallery}" in opening, page


def test_pictures_have_a_text(repository):
    docs = repository / "docs"
    pages = [*docs.rglob("*.md"), *docs.rglob("*.py"), repository / "README.md"]
    found = [
        f"{page.name}: {text!r} of {picture}"
        for page in pages
        if "_build" not in page.parts and not page.name.startswith("_")
        for text, picture in re.findall(r"!\[([^\]]*)\]\(([^)\s]+)", page.read_text("utf-8"))
        if len(text.split()) < 3
    ]
    assert not found, "\n".join(found)


def test_pictures_of_pages_are_used(repository):
    docs = repository / "docs"
    pages = [*docs.rglob("*.md"), *docs.rglob("*.py"), repository / "README.md"]
    text = "".join(page.read_text(encoding="utf-8") for page in pages if "_build" not in page.parts)
    pictures = [path.name for path in (docs / "images").iterdir()]
    assert not [name for name in pictures if f"images/{name}" not in text]


def test_code_of_pages_fits_a_screen(repository):
    docs = repository / "docs"
    pages = [page for page in docs.rglob("*.md") if "_build" not in page.parts]
    for page in [repository / "README.md", *pages]:
        text = page.read_text(encoding="utf-8")
        for kind, code in re.findall(r"^```(\S*)[^\n]*\n(.*?)^```", text, re.S | re.M):
            longest = max(code.splitlines(), key=len, default="")
            assert kind in ("{gallery}", "text") or len(longest) <= 116, f"{page.name}: {longest}"
