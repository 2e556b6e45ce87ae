# SPDX-License-Identifier: BSD-3-Clause
"""A kernel cache or compiler out of order; prints what every rank gets. Run by test_bad_input."""

from __future__ import annotations

import os
import resource
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI

import symancf as sa
from tests.cases import Cases, caught

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

COMM = MPI.COMM_WORLD
case = Cases(limit=60.0)


def solution() -> str:
    """Build a system with new kernels and return its energy in a given state."""
    mesh = sa.Mesh.box((1.0,), (3,))

    def string(epsilon: Any, *, EA: Any) -> Any:
        return EA * epsilon**2 / 2

    body = sa.Body(mesh["body"], sa.elements.ancf_cable, string, EA=3.0)
    stretch = sa.fix(body["body"], displacement=lambda X, t: 0.1 * X, gradient=0.1 * np.eye(3))
    system = sa.System(body, terms=[stretch])
    sa.StaticProblem(system).solve()
    return f"{system.strain_energy():.12g}"


@contextmanager
def environment(**given: str | None) -> Iterator[None]:
    """Set variables for a while; None takes one away."""
    before = {name: os.environ.get(name) for name in given}
    for name, value in given.items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


@case
def compiler_that_does_not_exist(folder: Path) -> None:
    with environment(SYMANCF_CC="/nonexistent/gcc"):
        solution()


@case
def no_compiler(folder: Path) -> None:
    with environment(SYMANCF_CC=None, CC=None, PATH=str(folder)):
        solution()


@case
def cache_that_cannot_be_made(folder: Path) -> None:
    if COMM.rank == 0:
        (folder / "file").write_text("")
    COMM.barrier()
    with environment(SYMANCF_CACHE=str(folder / "file" / "cache")):
        solution()


@case
def full_disk(folder: Path) -> None:
    """No file may grow beyond 500 bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, before[1]))
    try:
        solution()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@case
def damaged_files(folder: Path) -> None:
    """Files that are cut, zeroed or edited are made again, or not used at all."""
    assert solution() == "0.015"
    damages: dict[str, Callable[[bytes], bytes]] = {
        ".so": lambda whole: whole[: len(whole) // 2],
        ".c": lambda whole: whole.replace(b"0.5", b"0.7"),
        ".json": lambda whole: whole.replace(b"0.5", b"0.7"),
    }
    if COMM.rank == 0:
        for suffix, damage in damages.items():
            victims = [p for p in folder.iterdir() if p.suffix == suffix]
            assert victims
            for path in victims:
                whole = path.read_bytes()
                path.unlink()  # a library is loaded: not in place
                path.write_bytes(damage(whole))
    COMM.barrier()
    assert solution() == "0.015"


def run(function: Callable[[Path], None]) -> list[str]:
    """Run a case with a cache of its own; return what it raised."""
    folder = Path(COMM.bcast(tempfile.mkdtemp() if COMM.rank == 0 else None))
    with environment(SYMANCF_CACHE=str(folder)):
        kind, text = caught(lambda: function(folder))
    COMM.barrier()
    if COMM.rank == 0:
        shutil.rmtree(folder, ignore_errors=True)
    return [kind, text.replace(str(folder), "FOLDER")]


if __name__ == "__main__":
    case.main(run)
