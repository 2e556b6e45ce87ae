# SPDX-License-Identifier: BSD-3-Clause
"""What a release says of itself agrees: its number, its date, CITATION.cff and the changelog."""

from __future__ import annotations

import re
from pathlib import Path

import symancf


def test_number_and_date(repository: Path) -> None:
    """The version is that of CITATION.cff and, with the date, that of the newest section."""
    cited = dict(
        re.findall(r"^([a-z-]+): *(\S.*)$", (repository / "CITATION.cff").read_text(), re.M)
    )
    assert cited["version"] == symancf.__version__
    changes = (repository / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## \[(.+?)\](?: - (\S+))?$", changes, re.M)
    assert next(s for s in sections if s[0] != "Unreleased") == (
        cited["version"],
        cited["date-released"],
    )


def test_the_citation_is_valid(repository: Path) -> None:
    """What version 1.2.0 of the format asks for; all of its schema where cffconvert is there."""
    text = (repository / "CITATION.cff").read_text(encoding="utf-8")
    keys = re.findall(r"^([a-z-]+):", text, re.M)
    assert len(keys) == len(set(keys))
    assert {"cff-version", "message", "title", "authors"} <= set(keys)
    assert re.search(r"^cff-version: 1\.2\.0$", text, re.M)
    assert re.search(r"^license: BSD-3-Clause$", text, re.M)
    assert re.search(r"^date-released: \d{4}-\d\d-\d\d$", text, re.M)
    assert re.search(r"^authors:\n  - (name|family-names): \S", text, re.M)
    try:
        from cffconvert import Citation
    except ImportError:
        return
    Citation(text).validate()
