# SPDX-License-Identifier: BSD-3-Clause
"""Find, run and copy the demos: docs/demos and meshes of the sources, which the wheel has, too."""

from __future__ import annotations

import ast
import re
import runpy
import shutil
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import SymancfError, closest_name
from ..runtime.console import first_rank

if TYPE_CHECKING:
    from collections.abc import Sequence


def folder() -> Path:
    """Return docs/demos of the checkout, or of symancf/share of the installed package.

    Raises
    ------
    SymancfError : if there is none: a distributor has left them out.
    """
    package = Path(__file__).resolve().parents[1]
    for root in (package.parent, package / "share"):
        path = root / "docs" / "demos"
        if path.is_dir() and (root / "meshes").is_dir():  # others may install a folder docs
            return path
    raise SymancfError(
        f"the demos are not part of this package: there is no {package / 'share' / 'docs'}; "
        "the sources have them in docs/demos",
        asked="folder",
        given=str(package / "share" / "docs"),
    )


def copy(target: str | Path, name: str | None = None) -> int:
    """Write demos, tutorials and meshes into a folder, where scripts find their meshes beside them.

    Raises
    ------
    SymancfError : if one demo is named, or the folder holds one of them already or cannot be
        written.
    """
    if name is not None:
        raise SymancfError(
            f"--copy writes all demos, not {name!r} alone: give the folder only",
            asked="name",
            given=name,
        )
    if not first_rank():
        return 0
    target, root = Path(target), folder().parents[1]
    parts = [Path("docs", "demos"), Path("docs", "tutorials"), Path("meshes")]
    if there := [str(target / part) for part in parts if (target / part).exists()]:
        raise SymancfError(
            f"{', '.join(there)}: there already; nothing was written", asked="folder", given=there
        )
    ignored = shutil.ignore_patterns("__pycache__")
    try:
        for part in parts:
            shutil.copytree(root / part, target / part, ignore=ignored)
    except OSError as error:
        raise SymancfError(
            f"the demos cannot be written into {target}: {error}", asked="folder", given=str(target)
        ) from error
    print(f"{', '.join(f'{target / part}' for part in parts)} written; run the scripts anywhere")
    return 0


def available() -> dict[str, Path]:
    """Return the demos by name, in the order of their index: those for beginners first."""
    index = folder() / "index.md"
    listed = index.read_text(encoding="utf-8").split() if index.is_file() else []
    every = sorted(folder().glob("[!_]*.py"))
    place = {name: number for number, name in reversed([*enumerate(listed)])}
    return {path.stem: path for path in sorted(every, key=lambda p: place.get(p.stem, len(place)))}


def summary(path: Path) -> str:
    """Return the first line of a script's docstring."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    return text.splitlines()[0] if text else ""


def duration(path: Path) -> str:
    """Return how long a script says that it takes, "" where it does not.

    Its docstring has a sentence ``Takes 40 s on one core; ...``.
    """
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    match = re.search(r"^Takes (.*?) on", text, re.M)
    return match[1] if match else ""


def find(name: str) -> Path:
    """Return the script of a demo.

    Raises
    ------
    SymancfError : if there is no demo of this name; it names similar ones.
    """
    demos = available()
    name = name.removesuffix(".py")
    if name in demos:
        return demos[name]
    close = closest_name(name, demos)
    hint = f"did you mean {close!r}? " if close else ""
    raise SymancfError(
        f"there is no demo {name!r}; {hint}there are: {', '.join(demos)}",
        asked=name,
        possible=demos,
    )


def main(name: str | None, options: Sequence[str] = ()) -> int:
    """Run the demo `name` as a script with `options` for PETSc; without a name list them all.

    Options that nobody used are named at the end.
    """
    if name is None:
        if first_rank():
            print("Demos, those to begin with first; times are those of one core.")
            for demo, path in available().items():
                print(f"{demo:18} {duration(path):>7}  {summary(path)}")
        return 0
    script = find(name)
    if first_rank():
        takes = duration(script)
        print(summary(script) + (f" Takes {takes} on one core." if takes else ""), flush=True)
    sys.argv = [str(script), *options]
    give_options(sys.argv)
    runpy.run_path(str(script), run_name="__main__")
    if first_rank():
        warn_unread(options, script.read_text("utf-8"))
    return 0


def warn_unread(options: Sequence[str], text: str) -> None:
    """Warn of options that neither PETSc, nor this package, nor the demo's text has read."""
    from ..runtime.options import is_used

    prefix = next(iter(re.findall(r'prefix="(\w+)"', text)), "")
    for name in [word[1:] for word in options if re.match("-[A-Za-z-]", word)]:
        if not is_used(name) and f'"-{name}"' not in text:
            hint = f"; problems of this demo read -{prefix}{name}" if prefix else ""
            warnings.warn(f"nothing has read the option -{name}{hint}", stacklevel=3)


def give_options(words: list[str]) -> None:
    """Hand command line words to PETSc, whether it is running already or not."""
    if "petsc4py.PETSc" in sys.modules:
        from petsc4py import PETSc

        PETSc.Options().insertString(" ".join(words[1:]))
    else:
        import petsc4py

        petsc4py.init(words)
