# SPDX-License-Identifier: BSD-3-Clause
"""Who knows whom inside a room, and where modules have gone; the rest is the contracts' matter."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest

from symancf.runtime.moved import MOVED
from tests.refusals import refused

grimp = pytest.importorskip("grimp")  # comes with import-linter


@pytest.fixture(scope="module")
def graph() -> Any:
    return grimp.build_graph("symancf", exclude_type_checking_imports=False, cache_dir=None)


def test_the_assembly_has_no_circle(graph: Any) -> None:
    inside = sorted(m for m in graph.modules if m.startswith("symancf.assembly."))
    assert "symancf.assembly.configuration" in inside
    reached = {m: graph.find_upstream_modules(m) for m in inside}
    assert [(a, b) for a in inside for b in inside if b in reached[a] and a in reached[b]] == []


def test_old_names_say_where_modules_are() -> None:
    """Scripts that import by an old name are told the present one."""
    for old, now in MOVED.items():
        assert find_spec(f"symancf.{now}") is not None
        with refused(ModuleNotFoundError, name=f"symancf.{old}") as caught:
            import_module(f"symancf.{old}")
        assert str(caught.value).endswith(f"import symancf.{now}")
    with refused(ModuleNotFoundError, name="symancf.statics") as caught:
        import_module("symancf.statics.problem")
    assert str(caught.value).endswith("import symancf.solve.statics")
