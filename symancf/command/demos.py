# SPDX-License-Identifier: BSD-3-Clause
"""Find and run the demos, the scripts in docs/demos of the sources."""

from __future__ import annotations

import ast
import difflib
import os
import re
import runpy
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import SymancfError

if TYPE_CHECKING:
    from collections.abc import Sequence


def folder() -> Path:
    """Return docs/demos of the checkout that this package or the working directory lies in.

    Raises
    ------
    SymancfError : if there is none: the wheel holds no demos.
    """
    here = Path(__file__).resolve()
    for root in (here.parents[2], *(Path.cwd() / "x").parents):
        path = root / "docs" / "demos"
        if path.is_dir() and (root / "symancf").is_dir():
            return path
    raise SymancfError(
        "the demos are not part of the installed package; run this command in a checkout of "
        "the sources, which has them in docs/demos"
    )


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
    found = re.search(r"^Takes (.*?) on", text, re.M)
    return found[1] if found else ""


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
    close = difflib.get_close_matches(name, demos, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    raise SymancfError(f"there is no demo {name!r}; {hint}there are: {', '.join(demos)}")


def main(name: str | None, options: Sequence[str] = ()) -> int:
    """Run the demo `name` as a script with `options` for PETSc; without a name list them all."""
    if name is None:
        print("Demos, those to begin with first; times are those of one core.")
        for found, path in available().items():
            print(f"{found:18} {duration(path):>7}  {summary(path)}")
        return 0
    script = find(name)
    if first_rank():
        takes = duration(script)
        print(summary(script) + (f" Takes {takes} on one core." if takes else ""), flush=True)
    sys.argv = [str(script), *options]
    give_options(sys.argv)
    runpy.run_path(str(script), run_name="__main__")
    return 0


def first_rank() -> bool:
    """Tell whether this is the first process of an mpirun, without starting MPI."""
    names = "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"
    return next((os.environ[name] for name in names if name in os.environ), "0") == "0"


def give_options(words: list[str]) -> None:
    """Hand command line words to PETSc, whether it is running already or not."""
    if "petsc4py.PETSc" in sys.modules:
        from petsc4py import PETSc

        PETSc.Options().insertString(" ".join(words[1:]))
    else:
        import petsc4py

        petsc4py.init(words)
