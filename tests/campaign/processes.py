# SPDX-License-Identifier: BSD-3-Clause
"""Runs that are interrupted, killed, short of disk, or many at once on a cold cache."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.mpi import environment

from .case import Case, Wrong

MODEL = """
import os, sys, resource, signal
import numpy as np
from mpi4py import MPI
import symancf as sa
from symancf.energies import cable
if int(os.environ.get("CAMPAIGN_DISK", "0")):
    resource.setrlimit(resource.RLIMIT_FSIZE, 2 * (int(os.environ["CAMPAIGN_DISK"]),))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
mesh = sa.Mesh.box((1.0,), (40,))
part = sa.Body(mesh["body"], sa.elements.ancf_cable, cable(), EA=1e4, EI=1.0, rho=1.0, A=1.0)
load = sa.Parameter("load", 0.0)
pull = sa.force(part["x1"], (0.0, 0.0, lambda t: -load.value))
system = sa.System(part, terms=[sa.fix(part["x0"]), sa.gravity((0, 0, -1.0)), pull])
rank = system.comm.rank
def begin():
    if rank == 0:
        open("begun", "w").close()
"""

LONG = {
    "statics": """
        problem = sa.StaticProblem(system)
        begin()
        for k in range(100000):
            load.value = 3.0 * (k % 7)
            problem.solve()
    """,
    "a path": """
        problem = sa.StaticProblem(system)
        begin()
        for k in range(100000):
            problem.follow(load, to=5.0 * (k % 2 == 0) + 0.1, step=0.2, direction=1 - 2 * (k % 2))
    """,
    "a motion": """
        problem = sa.DynamicProblem(system)
        begin()
        problem.solve(to=1e3, step=1e-3)
    """,
    "an explicit motion": """
        problem = sa.DynamicProblem(system, method="rk")
        begin()
        problem.solve(to=1e3, step=1e-5)
    """,
    "compiling": """
        import sympy
        os.environ["SYMANCF_CACHE"] = os.path.abspath("cold")
        begin()
        for k in range(100000):
            def law(J, I1, *, mu, k=k):
                return mu / 2 * (I1 - 3 - 2 * sympy.log(J)) + (k + 1) * mu * sympy.log(J) ** 2
            law.__name__ = f"law{k}"
            law.__signature__ = __import__("inspect").Signature(
                [*list(__import__("inspect").signature(law).parameters.values())[:3]])
            box = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
            solid = sa.Body(box["body"], sa.elements.hex8_plain, law, mu=1.0)
            held = sa.System(solid, terms=[sa.fix(solid["x0"])])
            sa.StaticProblem(held).solve()
    """,
}

WRITERS = {
    "a mesh": """
        box = sa.Mesh.box((2.0, 1.0, 1.0), (n, 8, 8))
        box.write("out.h5")
        back = sa.Mesh.read("out.h5")
        assert back.n_points == box.n_points
    """,
    "a checkpoint": """
        sa.checkpoint.save("out.h5", system)
        sa.checkpoint.load("out.h5", system)
    """,
    "a table": """
        problem = sa.StaticProblem(system, history=sa.History(csv="out.csv"))
        problem.record("tip", lambda: [load.value + 1.0 / 3.0] * 3)
        for k in range(n):
            load.value = k / 7.0
            problem.solve()
    """,
    "a history": """
        problem = sa.StaticProblem(system, history=sa.History(hdf5="out.h5"))
        problem.record("tip", lambda: [load.value + 1.0 / 3.0] * 300)
        for k in range(n):
            load.value = k / 7.0
            problem.solve()
    """,
    "pictures of cells": """
        from symancf.output.sampling import sample
        series = sa.output.Series("out.pvd")
        for k in range(4):
            series.write(float(k), sample(system, part))
    """,
}


def _script(*parts: str, **values: Any) -> str:
    body = "".join(textwrap.dedent(part) for part in parts)
    return "\n".join([*(f"{name} = {value!r}" for name, value in values.items()), body])


def _start(folder: Path, text: str, ranks: int, **variables: str) -> subprocess.Popen[str]:
    path = folder / "script.py"
    path.write_text(text, encoding="utf-8")
    command = [sys.executable, str(path)]
    if ranks > 1:
        command = ["mpirun", "-n", str(ranks), *command]
    return subprocess.Popen(
        command, cwd=folder, env=environment(**variables), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
    )  # fmt: skip


def _end(process: subprocess.Popen[str], limit: float) -> tuple[int, str]:
    try:
        said, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        process.terminate()  # mpirun ends its ranks, which have groups of their own
        time.sleep(2.0)
        os.killpg(process.pid, signal.SIGKILL)
        said, _ = process.communicate()
        raise Wrong(f"still running after {limit:g} s: {said[-300:]}") from None
    return process.returncode, said


def _begun(folder: Path, process: subprocess.Popen[str]) -> None:
    until = time.monotonic() + 90.0
    while not (folder / "begun").exists():
        if process.poll() is not None or time.monotonic() > until:
            _, said = _end(process, 5.0)
            raise Wrong(f"did not begin: {said[-500:]}")
        time.sleep(0.02)


def interrupted(what: str, ranks: int, delay: float) -> Any:
    """Press Ctrl-C after a delay: the run ends soon, says so, and nothing dies in C."""
    with tempfile.TemporaryDirectory(prefix="symancf-campaign-") as name:
        folder = Path(name)
        process = _start(folder, _script(MODEL, LONG[what]), ranks)
        _begun(folder, process)
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        status, said = _end(process, 30.0)
    for sign in ("Segmentation", "SIGSEGV", "PETSc failed", "error code", "Exception ignored"):
        if sign in said:
            raise Wrong(f"{sign!r} after Ctrl-C: {said[-500:]}")
    if ranks == 1 and (status not in (130, -signal.SIGINT) or "KeyboardInterrupt" not in said):
        raise Wrong(f"exit status {status} after Ctrl-C: {said[-500:]}")
    if status == 0:
        raise Wrong("exit status 0 after Ctrl-C")
    return []


def short_of_disk(what: str, ranks: int, share: float) -> Any:
    """Write again with too little space: an error on every rank, and the old file stays."""
    with tempfile.TemporaryDirectory(prefix="symancf-campaign-") as name:
        folder = Path(name)
        text = _script(MODEL, WRITERS[what], n=20)
        status, said = _end(_start(folder, text, ranks), 120.0)
        if status:
            raise Wrong(f"cannot be written at all: {said[-500:]}")
        files = {p.name: p.read_bytes() for p in folder.rglob("*") if _kept(p)}
        largest = max(len(content) for content in files.values())
        limit = max(1, int(share * largest))
        status, said = _end(_start(folder, text, ranks, CAMPAIGN_DISK=str(limit)), 90.0)
        _require_refusal(status, said, f"{limit} of {largest} bytes of disk")
        if status == 0 and what != "pictures of cells":
            raise Wrong(f"{largest} bytes were written to a disk of {limit}")
        partial = [p.name for p in folder.rglob("*") if "partial" in p.name]
        if partial:
            raise Wrong(f"left {partial}")
        if (
            what in ("a mesh", "a checkpoint")
            and (folder / "out.h5").read_bytes() != files["out.h5"]
        ):
            raise Wrong("the old file is lost")
    return []


def _require_refusal(status: int, said: str, what: str) -> None:
    """Raise where a run died or ended without saying why."""
    if status < 0 or status in (139, 134) or "Segmentation" in said:
        raise Wrong(f"died with {what}: {said[-500:]}")
    if "Error" not in said and status:
        raise Wrong(f"said nothing of {what}: {said[-500:]}")


def _kept(path: Path) -> bool:
    return path.is_file() and path.name.startswith("out")


def killed(what: str, delay: float) -> Any:
    """Kill a run that writes rows: what is read afterwards is the beginning of what it wrote."""
    check = """
        import math
        table = sa.History.read(path)
        rows = table["tip"] if "tip" in table else table["tip[0]"][:, None]
        good = all(abs(row[0] - (k / 7.0 + 1.0 / 3.0)) < 1e-12 for k, row in enumerate(rows[1:], 1))
        print("rows", len(rows), good)
    """
    path = "out.csv" if what == "a table" else "out.h5"
    with tempfile.TemporaryDirectory(prefix="symancf-campaign-") as name:
        folder = Path(name)
        process = _start(folder, _script(MODEL, "begin()\n", WRITERS[what], n=10**6), 1)
        _begun(folder, process)
        time.sleep(delay)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        if not (folder / path).exists():
            return []
        status, said = _end(_start(folder, _script(MODEL, check, path=path), 1), 60.0)
        if status and "Error" in said and "symancf.errors" in said:
            return []
        if status or not said.strip().endswith("True"):
            raise Wrong(f"wrong rows after a kill: {said[-500:]}")
    return []


COMPILER = """#!/bin/sh
case "$*" in *-shared*)
    for word; do case "$word" in *.c) echo "${word##*/}" >>"$COMPILED";; esac; done
    if [ -n "$HOLD" ]; then touch "$HOLD"; exec sleep 60; fi
esac
exec cc "$@"
"""
LIGHT = """
import sympy as sp
from symancf_codegen import Parameter, PointLaw, compile_points
x, k = sp.symbols("x k")
for power in range(2, 5):
    law = PointLaw("spring", (x,), energy=k * x**power / 2, parameters=(Parameter(k),))
    compile_points("spring", law)
"""
HEAVY = MODEL + "sa.StaticProblem(system).solve()\n"


def cold(processes: int, text: str, held: bool = False) -> Any:
    """Start many processes on a cold cache: each ends well, and each kernel is compiled once.

    With `held`, one that was there before is killed while it compiles, and blocks nobody.
    """
    with tempfile.TemporaryDirectory(prefix="symancf-campaign-") as name:
        folder = Path(name)
        log, hold, cache = folder / "compiled", folder / "held", folder / "cache"
        compiler = folder / "cc"
        compiler.write_text(COMPILER, encoding="utf-8")
        compiler.chmod(0o755)
        given = {"SYMANCF_CACHE": str(cache), "SYMANCF_CC": str(compiler), "COMPILED": str(log)}
        killed = 0
        if held:
            first = _start(folder, text, 1, **given, HOLD=str(hold))
            until = time.monotonic() + 90.0
            while not hold.exists() and time.monotonic() < until:
                time.sleep(0.02)
        running = [_start(folder, text, 1, **given) for _ in range(processes)]
        if held:
            time.sleep(3.0)  # the others wait
            os.killpg(first.pid, signal.SIGKILL)
            first.communicate()
            killed = 1
        for process in running:
            status, said = _end(process, 200.0)
            if status:
                raise Wrong(f"exit status {status} on a cold cache: {said[-500:]}")
        return [_compiled_once(cache, log, killed)]


def _compiled_once(cache: Path, log: Path, killed: int) -> int:
    """Return how many libraries a cache has; each was compiled once, but for those `killed`."""
    libraries = sorted(path.stem for path in cache.glob("*.so"))
    compiled = sorted(log.read_text(encoding="utf-8").replace(".c\n", "\n").split())
    if not libraries or len(compiled) != len(libraries) + killed or {*compiled} != {*libraries}:
        raise Wrong(f"compiled {compiled} for the libraries {libraries}")
    left = [p.name for p in cache.iterdir() if p.name.startswith((".new", ".lock"))]
    left += [p.name for p in cache.glob(".build-*")][killed:]
    if left:
        raise Wrong(f"left {left[:5]}")
    return len(libraries)


def generate(chance: random.Random, count: int) -> Iterator[Case]:
    """Yield runs that are disturbed from outside."""

    def one(k: int) -> tuple[str, Callable[[], Any]]:
        ranks = 3 if k % 4 == 3 else 1
        kind = k % 8
        if kind in (0, 2, 3, 6):
            what, delay = chance.choice(list(LONG)), chance.uniform(0.0, 1.5)
            return f"Ctrl-C in {what} on {ranks}", lambda: interrupted(what, ranks, delay)
        if kind in (1, 4, 7):
            what, share = chance.choice(list(WRITERS)), chance.uniform(0.0, 0.98)
            name = f"{share:.2f} of the disk for {what} on {ranks}"
            return name, lambda: short_of_disk(what, ranks, share)
        if k == 5:
            return "64 processes on a cold cache", lambda: cold(64, LIGHT)
        if k == 13:
            return "16 processes wait for one that is killed", lambda: cold(16, LIGHT, held=True)
        if k % 16 == 5:
            return "4 models on a cold cache", lambda: cold(4, HEAVY)
        what, delay = chance.choice(["a table", "a history"]), chance.uniform(0.0, 1.0)
        return f"kill of {what}", lambda: killed(what, delay)

    for k in range(count):
        name, run = one(k)
        yield Case(f"{k} {name}", run, "right")
