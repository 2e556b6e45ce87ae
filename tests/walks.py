# SPDX-License-Identifier: BSD-3-Clause
"""How many functions and files of package and compiler a reader meets on a way through them.

::

    python -m tests.walks           # functions and files of each walk, and statements in all

Counted are distinct functions that run the second time in a process, while what ran first is still
there, so that its kernels are in memory; lambdas and comprehensions are not counted. Statements are
those of the syntax tree, without docstrings, `verify` and `bench`.
"""

from __future__ import annotations

import ast
import gc
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import symancf as sa
import symancf_codegen

PACKAGES = tuple(Path(str(module.__file__)).resolve().parent for module in (sa, symancf_codegen))
LEFT_OUT = "verify", "bench"
WALKS = {
    "whole": "Body, System, StaticProblem, solve, position of eight hex8_plain",
    "first": "its first solve",
    "second": "a second solve",
    "motion": "the first step of two rigid bodies with joints",
}


def walk(call: Callable[[], object]) -> tuple[int, int]:
    """Return the numbers of functions of the packages that run in a call, and of their files."""
    inside, seen = tuple(f"{path}/" for path in PACKAGES), set()

    def profile(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        own = code.co_filename.startswith(inside) and not code.co_name.startswith("<")
        if event == "call" and own:
            seen.add((code.co_filename, code.co_firstlineno))

    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
    return len(seen), len({file for file, _ in seen})


def cube() -> sa.StaticProblem:
    """Return a cube of eight cells under a load."""
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (2, 2, 2))
    given = {"mu": 1.0, "lam": 2.0, "rho": 1.0}
    body = sa.Body(mesh["body"], sa.elements.hex8_plain, sa.energies.neo_hooke(), **given)
    load = sa.traction(body["x1"], (0.01, 0.0, 0.0))
    return sa.StaticProblem(sa.System(body, terms=[sa.fix(body["x0"]), load]))


def solved() -> sa.StaticProblem:
    """Solve `cube`, look where its end is, and return it."""
    problem = cube()
    problem.solve()
    problem.system.position(problem.system.bodies[0]["x1"])
    return problem


def two_bodies() -> sa.DynamicProblem:
    """Return two rigid bodies in space, one joint to the ground and one between them."""
    a, b = (
        sa.RigidBody.box((0.8, 0.2, 0.2), position=(float(k), 0.0, 0.0), rho=100.0, name=f"b{k}")
        for k in range(2)
    )
    left, right = (-0.5, 0.0, 0.0), (0.5, 0.0, 0.0)
    terms = [
        sa.joints.spherical(a.at(left), sa.ground),
        sa.joints.revolute(a.at(right), b.at(left), axis=(0.0, 1.0, 0.0)),
        sa.gravity((0.0, 0.0, -9.81)),
    ]
    return sa.DynamicProblem(sa.System(a, b, terms=terms))


def walks() -> dict[str, tuple[int, int]]:
    """Return functions and files of each of `WALKS`, in a process that has solved nothing yet."""
    gc.disable()  # a collection by chance would run functions of its own
    before, moved = solved(), two_bodies()
    moved.solve(to=1e-3, step=1e-3)
    counts = {"whole": walk(solved)}
    problem, motion = cube(), two_bodies()
    counts |= {"first": walk(problem.solve), "second": walk(problem.solve)}
    counts |= {"motion": walk(lambda: motion.solve(to=1e-3, step=1e-3))}
    del before, moved
    gc.enable()
    return counts


def statements(packages: tuple[Path, ...] = PACKAGES) -> int:
    """Return the number of statements of packages, without docstrings and `LEFT_OUT`."""
    files = (file for package in packages for file in _files(package))
    return sum(_statements(ast.parse(file.read_text(encoding="utf-8"))) for file in files)


def _files(package: Path) -> Iterator[Path]:
    for file in package.rglob("*.py"):
        if file.relative_to(package).parts[0] not in LEFT_OUT:
            yield file


def _statements(tree: ast.Module) -> int:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return sum(
        isinstance(node, ast.stmt)
        - (isinstance(node, documented) and ast.get_docstring(node) is not None)
        for node in ast.walk(tree)
    )


def main() -> None:
    """Print all counts; ``--json``: as JSON."""
    os.environ.pop("SYMANCF_PROGRESS", None)  # who is silent runs less
    counts, total = walks(), statements()
    if "--json" in sys.argv:
        print(json.dumps({**counts, "statements": total}))
        return
    for name, (functions, files) in counts.items():
        print(f"{name:8} {functions:4} functions in {files:3} files: {WALKS[name]}")
    print(f"{total} statements")


if __name__ == "__main__":
    main()
