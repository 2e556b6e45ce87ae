# SPDX-License-Identifier: BSD-3-Clause
"""Who knows whom inside a room; the rest is the contracts' matter."""

from typing import Any

import pytest

grimp = pytest.importorskip("grimp")  # comes with import-linter


@pytest.fixture(scope="module")
def graph() -> Any:
    return grimp.build_graph("symancf", exclude_type_checking_imports=False, cache_dir=None)


def test_the_assembly_has_no_circle(graph: Any) -> None:
    inside = sorted(m for m in graph.modules if m.startswith("symancf.assembly."))
    assert "symancf.assembly.configuration" in inside
    reached = {m: graph.find_upstream_modules(m) for m in inside}
    assert [(a, b) for a in inside for b in inside if b in reached[a] and a in reached[b]] == []
