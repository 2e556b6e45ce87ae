# SPDX-License-Identifier: BSD-3-Clause
"""Plugin of pytest that notes which constants each test reads, and how long it takes.

::

    SYMANCF_READS=reads.json python -m pytest -p tests.campaign.constants.reads tests/unit/...

It adds a line ``[test, seconds of CPU, constants]`` for each test. Modules of the package are
rewritten while they are imported: where a function names a constant, a call notes it.
"""

from __future__ import annotations

import ast
import builtins
import importlib.machinery
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from types import CodeType, ModuleType
from typing import Any

import pytest

from .listing import ROOMS, aliases

READ = "_read_constant_"
FILE = "SYMANCF_READS"
seen: set[str] = set()


class Reads(ast.NodeTransformer):
    """Puts a call around each constant of the rooms that a function names."""

    def __init__(self, module: str) -> None:
        known = aliases(module).items()
        self.names = {alias: name for alias, name in known if name.split(".")[0] in ROOMS}
        self.inside = False

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        outside, self.inside = self.inside, True
        node.body = [self.visit(statement) for statement in node.body]
        self.inside = outside
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if not self.inside or not isinstance(node.ctx, ast.Load) or node.id not in self.names:
            return node
        name = ast.Constant(self.names[node.id])
        call = ast.Call(ast.Name(READ, ast.Load()), [name, node], [])
        return ast.copy_location(call, node)


class Loader(importlib.machinery.SourceFileLoader):
    """Compiles the rewritten source of a module, and keeps no byte code of it."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        tree = Reads(fullname).visit(ast.parse(self.get_data(path), path))
        code: CodeType = compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)
        return code


class Finder:
    """Finds the modules of the package and gives them the loader."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return what Python's own finder returns, with another loader."""
        if not name.startswith("symancf."):
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and type(spec.loader) is importlib.machinery.SourceFileLoader:
            spec.loader = Loader(spec.loader.name, spec.loader.path)
        return spec


def pytest_load_initial_conftests() -> None:
    """Rewrite what is imported from now on."""
    if any(name.startswith("symancf.") for name in sys.modules):
        raise pytest.UsageError("modules of the package are imported before reads can be noted")
    setattr(builtins, READ, _read)
    sys.meta_path.insert(0, Finder())


def _read(name: str, value: Any) -> Any:
    seen.add(name)
    return value


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Add the line of a test."""
    seen.clear()
    begun = time.process_time()
    try:
        return (yield)
    finally:
        line = json.dumps([item.nodeid, time.process_time() - begun, sorted(seen)])
        with open(os.environ[FILE], "a", encoding="utf-8") as file:
            file.write(f"{line}\n")
