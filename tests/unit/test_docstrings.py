# SPDX-License-Identifier: BSD-3-Clause
"""Examples in docstrings of what is public are run, and every public name has one."""

from __future__ import annotations

import doctest
import inspect
from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf import joints, output, view
from symancf.elements import Cell, Element
from symancf.runtime.registry import extensions

#: What needs none: errors, which are raised, and modules.
WITHOUT = {"__version__"}


def public() -> dict[str, Any]:
    """Return what users write, by name."""
    found = {f"sa.{name}": getattr(sa, name) for name in sa.__all__ if name not in WITHOUT}
    for module in (sa.elements, sa.energies, joints, output, view):
        found |= {f"{module.__name__}.{name}": getattr(module, name) for name in module.__all__}
    found |= {f"sa.{n}": getattr(sa.Mesh, n[5:]) for n in extensions() if n.startswith("Mesh.")}
    return {
        name: value
        for name, value in found.items()
        if not inspect.ismodule(value)
        and not isinstance(value, (Element, Cell))  # their pages have examples
        and callable(value)
        and value is not Element
        and not (isinstance(value, type) and issubclass(value, BaseException))
    }


PUBLIC = public()
FINDER = doctest.DocTestFinder(exclude_empty=True)


def examples(name: str) -> list[doctest.DocTest]:
    """Return the examples of an object and, of a class, of its methods."""
    value = PUBLIC[name]
    if not (inspect.isclass(value) or inspect.isroutine(value)):  # one of a class
        text = inspect.getdoc(value) or ""
        made = doctest.DocTestParser().get_doctest(text, {}, name, None, None)
        return [made] if made.examples else []
    return [test for test in FINDER.find(value, name) if test.examples]


@pytest.mark.parametrize("name", [name for name in PUBLIC if examples(name)])
def test_examples_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    for test in examples(name):
        test.globs |= {"sa": sa, "np": np}
        said: list[str] = []
        failed = doctest.DocTestRunner(optionflags=flags, verbose=False).run(test, out=said.append)
        assert not failed.failed, "".join(said)


def test_public_names_have_examples():
    missing = [name for name in PUBLIC if not examples(name)]
    assert not missing
