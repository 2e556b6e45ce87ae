# SPDX-License-Identifier: BSD-3-Clause
"""Who knows whom inside a room, and who inherits from whom; the rest is the contracts' matter."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import symancf as sa

ROOT = Path(__file__).parents[2]
HEADER = re.compile(r"^class (\w+)(?:\(([^)]*)\))?:", re.MULTILINE)


@pytest.fixture(scope="module")
def graph() -> Any:
    grimp = pytest.importorskip("grimp")  # comes with import-linter
    return grimp.build_graph("symancf", exclude_type_checking_imports=False, cache_dir=None)


def test_the_assembly_has_no_circle(graph: Any) -> None:
    inside = sorted(m for m in graph.modules if m.startswith("symancf.assembly."))
    assert "symancf.assembly.configuration" in inside
    reached = {m: graph.find_upstream_modules(m) for m in inside}
    assert [(a, b) for a in inside for b in inside if b in reached[a] and a in reached[b]] == []


def test_no_function_is_more_complex_than_15() -> None:
    """Cyclomatic complexity as radon counts it, with comprehensions and conditions of several."""
    radon = pytest.importorskip("radon.complexity")
    files = [f for package in ("symancf", "codegen") for f in (ROOT / package).rglob("*.py")]
    assert len(files) > 400
    found = {
        f"{file.relative_to(ROOT)}:{block.lineno} {block.fullname}": block.complexity
        for file in files
        for block in radon.cc_visit(file.read_text(encoding="utf-8"))
        if block.letter in "FM"
    }
    assert {name: n for name, n in found.items() if n > 15} == {}


class Class(NamedTuple):
    """A class by its file and its name."""

    file: Path
    name: str


class Classes:
    """The classes of packages and their bases; classes of one name are different ones."""

    def __init__(self, *packages: Path) -> None:
        files = [file for package in packages for file in package.rglob("*.py")]
        self.texts = {file: file.read_text() for file in files}
        self.bases: dict[Class, list[str]] = {}
        for file, text in self.texts.items():
            for name, bases in HEADER.findall(text):
                self.bases[Class(file, name)] = re.findall(r"[\w.]+", re.sub(r"\[.*?\]", "", bases))
        self.names = {each.name for each in self.bases}

    def heirs(self) -> dict[Class, list[Class]]:
        """Return the classes of these packages that inherit from each of them."""
        found: dict[Class, list[Class]] = defaultdict(list)
        for each, bases in self.bases.items():
            for name in bases:
                base = self.find(each.file, name) if name.split(".")[-1] in self.names else None
                if base is not None:
                    found[base].append(each)
        return found

    def find(self, file: Path, name: str) -> Class | None:
        """Return the class that a name, perhaps with its module, is in a file."""
        if Class(file, name) in self.bases:
            return Class(file, name)
        module, _, inner = name.rpartition(".")
        for source, given, called in self._imports(file):
            if called == (module or name):
                other = self._file(source / given) if module else self._file(source)
                return (
                    None if other in (None, file) else self.find(other, inner if module else given)
                )
        return None

    def _imports(self, file: Path) -> Iterator[tuple[Path, str, str]]:
        """Yield where a file imports names from: a module, the name there and the name here."""
        for node in ast.walk(ast.parse(self.texts[file])):
            if isinstance(node, ast.ImportFrom) and node.level:
                source = file.parents[node.level - 1].joinpath(*(node.module or "").split("."))
                yield from ((source, each.name, each.asname or each.name) for each in node.names)

    def _file(self, module: Path) -> Path | None:
        found = (module / "__init__.py", module.with_suffix(".py"))
        return next((file for file in found if file in self.texts), None)

    def uses(self, base: Class, heir: Class) -> bool:
        """Tell whether something but an heir and the class itself names a class."""
        for file, text in self.texts.items():
            if re.search(rf"\b{base.file.stem}\.{base.name}\b", text) and file != heir.file:
                return True
            if not re.search(rf"\b{base.name}\b", text) or self.find(file, base.name) != base:
                continue
            bodies = [node for node in ast.parse(text).body if not _is_one_of(node, base, heir)]
            if any(base.name in _names(node) for node in bodies):
                return True
        return False


def _is_one_of(node: ast.AST, *classes: Class) -> bool:
    return isinstance(node, ast.ClassDef) and node.name in [each.name for each in classes]


def _names(node: ast.AST) -> set[str]:
    """Return the names that a part of a file uses, also in types in quotes."""
    found = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            found |= set(part.value.split(" | "))
    return found


def needless_bases(classes: Classes, tests: str) -> list[str]:
    """Return the bases that one class alone knows: both are one class in two parts."""
    found = []
    for base, heirs in classes.heirs().items():
        known = base.name in dir(sa) or "Protocol" in classes.bases[base]
        tested = re.search(rf"^class \w+\([^)]*\b{base.name}\b", tests, re.MULTILINE)
        if len(heirs) == 1 and not known and not tested and not classes.uses(base, heirs[0]):
            found.append(f"{base.file.parent.name}/{base.file.name}: {base.name}")
    return sorted(found)


def test_no_class_has_a_base_that_exists_for_it_alone() -> None:
    classes = Classes(ROOT / "symancf", ROOT / "codegen" / "symancf_codegen")
    tests = "\n".join(file.read_text() for file in (ROOT / "tests").rglob("*.py"))
    assert needless_bases(classes, tests) == []


def test_a_class_in_two_parts_is_found(tmp_path: Path) -> None:
    """A part of the same name elsewhere does not hide it; what others name is none."""
    for name, text in {
        "part": "class Part:\n    x: Part\nclass Used(Generic[T]):\n    pass\n",
        "whole": "from .part import Part, Used\nclass Whole(Part):\n    pass\n",
        "other": "from . import part\nclass Part: ...\nclass Heir(part.Used[int]): ...\n",
        "user": "from .part import Used as U\nfrom .part import Used\nx: 'Used | None' = None\n",
    }.items():
        (tmp_path / f"{name}.py").write_text(text.replace(": ...", ":\n    pass"))
    assert needless_bases(Classes(tmp_path), "") == [f"{tmp_path.name}/part.py: Part"]
    assert needless_bases(Classes(tmp_path), "class Own(Part):") == []
