# SPDX-License-Identifier: BSD-3-Clause
"""Extensions: found by entry points, imported when asked for, of public names alone."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import symancf as sa
from symancf.extensions import interface
from symancf.runtime.registry import GROUP, extension, extensions
from tests.refusals import refused

FOLDER = Path(interface.__file__).parent

CORE = """
import sys
import symancf as sa

for name in {*sa.__all__} - {"Flexure", "Section", "view"}:
    getattr(sa, name)
assert sa.Mesh.box((1.0,), (1,))["body"].size == 1
assert [name for name in sys.modules if name.startswith("symancf.extensions")] == []
assert sa.Section.circle(1.0).A > 3.0 and "symancf.extensions.section" in sys.modules
assert not {"symancf.extensions.view", "symancf.extensions.flexure"} & set(sys.modules)
"""


def test_the_core_imports_no_extension() -> None:
    subprocess.run([sys.executable, "-c", CORE], check=True, timeout=60)


def test_those_of_the_package_are_where_they_were() -> None:
    own = {name for name, entries in extensions().items() if entries[0].dist is None}
    assert {"Flexure", "Section", "view", "Mesh.disc", "Mesh.sphere"} <= own
    for name in own:
        found = sa
        for part in name.split("."):
            assert part in dir(found), name
            found = getattr(found, part)
    assert sa.Mesh.disc(1.0, 2, symmetric="xy")["body"].size == 3


# ---- what they import ---------------------------------------------------------------------------
def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Return the modules that a file imports: how many folders up, and which."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (
            node.level or (node.module or "")[:7] == "symancf"
        ):
            yield node.level, node.module or ""
        elif isinstance(node, ast.Import):
            yield from ((0, name.name) for name in node.names if name.name[:7] == "symancf")


@pytest.mark.parametrize("name", sorted(p.name for p in FOLDER.iterdir() if p.is_dir()))
def test_extensions_import_the_interface_alone(name: str) -> None:
    for path in (FOLDER / name).rglob("*.py"):
        assert len(path.relative_to(FOLDER).parts) == 2
        for level, module in imports(path):
            public = level == 0 and module in ("symancf", "symancf.output")
            assert public or level == 1 or (level, module) == (2, "interface"), f"{path}: {module}"


def test_the_interface_repeats_no_public_name() -> None:
    assert not {*interface.__all__} & {*sa.__all__, *sa.output.__all__}
    assert len(interface.__all__) <= 63


def test_the_page_has_the_whole_interface(repository: Path) -> None:
    page = (repository / "docs" / "extensions.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?) \| (.+) \|$", page, re.MULTILINE)
    assert sorted(re.findall(r"`(\w+)`", ", ".join(first for first, _ in rows))) == sorted(
        interface.__all__
    )


def test_the_interface_has_nothing_that_no_extension_needs() -> None:
    texts = [p.read_text("utf-8") for p in FOLDER.rglob("*.py") if p.parent != FOLDER]
    used = {
        alias.name
        for text in texts
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and node.module == "interface"
        for alias in node.names
    }
    assert used == set(interface.__all__)


# ---- those of others ----------------------------------------------------------------------------
Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """A function that puts a package with entry points and a module on the path."""
    monkeypatch.syspath_prepend(tmp_path)

    def put(package: str, code: str = "", **entries: str) -> None:
        info = tmp_path / f"{package}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        lines = [f"{name} = {value}" for name, value in entries.items()]
        (info / "entry_points.txt").write_text("\n".join([f"[{GROUP}]", *lines, ""]))
        (tmp_path / f"{package}.py").write_text(code)
        monkeypatch.delitem(sys.modules, package, raising=False)
        for name in entries:
            monkeypatch.delitem(vars(sa), name, raising=False)

    extension.cache_clear()
    yield put
    for name in ("gear", "rack"):
        vars(sa).pop(name, None)
    extension.cache_clear()


def test_a_name_of_another_package(install: Install) -> None:
    install("gears", "import symancf as sa\ngear = sa.Plane", gear="gears:gear")
    assert "gear" in dir(sa)
    assert "gears" not in sys.modules
    assert sa.gear is sa.Plane
    with pytest.raises(AttributeError, match="Did you mean 'gear'"):
        sa.gaer  # noqa: B018


def test_one_name_of_two_packages(install: Install) -> None:
    install("gears", "gear = 1", gear="gears:gear")
    install("wheels", "gear = 2", gear="wheels:gear")
    both = ["gears 1.0 (gears:gear)", "wheels 1.0 (wheels:gear)"]
    with refused(
        sa.SymancfError,
        asked="gear",
        given=lambda g: sorted(g) == both,
        possible=lambda p: len(p) == 2,
    ):
        sa.gear  # noqa: B018
    install("views", view="views")
    with refused(sa.SymancfError, asked="view", given=lambda g: len(g) == 2):
        sa.view  # noqa: B018


def test_a_name_of_the_core_is_not_looked_up(install: Install) -> None:
    install("bodies", "Body = 1", Body="bodies:Body")
    assert sa.Body.__module__ == "symancf.bodies.body"


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        ("import a_package_that_is_not_there", ModuleNotFoundError),
        ("1 / 0", ZeroDivisionError),
        ("", AttributeError),
    ],
)
def test_an_extension_that_cannot_be_imported(
    install: Install, code: str, cause: type[Exception]
) -> None:
    install("gears", code, gear="gears:gear")
    with refused(sa.SymancfError, asked="gear", given="gears:gear") as caught:
        sa.gear  # noqa: B018
    assert isinstance(caught.value.__cause__, cause)
    assert "gears 1.0" in str(caught.value)
    assert str(caught.value.__cause__) in str(caught.value)


def test_a_copy_without_entry_points_says_what_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("symancf.runtime.registry.extensions", dict)
    monkeypatch.delitem(vars(sa), "Section", raising=False)
    extension.cache_clear()
    with refused(sa.SymancfError, asked="Section", given=(), possible=()):
        sa.Section  # noqa: B018
    with refused(sa.SymancfError, asked="Mesh.disc"):
        sa.Mesh.disc  # noqa: B018


def test_a_checkout_is_right_where_an_installation_of_it_is_old(install: Install) -> None:
    install("symancf_old")  # the folder; its name below
    metadata = Path(sys.path[0]) / "symancf_old-1.0.dist-info" / "METADATA"
    metadata.write_text("Metadata-Version: 2.1\nName: symancf\nVersion: 0.1\n")
    (metadata.parent / "entry_points.txt").write_text(f"[{GROUP}]\nview = symancf.gone\nx = y\n")
    assert sa.view.__name__ == "symancf.extensions.view"
    assert "x" not in dir(sa)
    with refused(sa.SymancfError, asked="x", given=(), possible=lambda p: "view" in p):
        extension("x")


def test_the_old_place_of_flexures_says_where_they_are() -> None:
    with pytest.warns(DeprecationWarning, match=r"import export from there"):
        from symancf.catalogue.flexure import export
    assert export.__module__ == "symancf.extensions.flexure.export"
    with pytest.raises(ImportError):
        from symancf.catalogue.flexure import exprot  # noqa: F401
