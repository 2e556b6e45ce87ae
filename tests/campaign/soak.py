# SPDX-License-Identifier: BSD-3-Clause
"""Many steps and many problems in one process: memory and results stay as they are."""

from __future__ import annotations

import gc
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

import symancf as sa

from . import models
from .case import Case, Wrong, require_near

PAGE = 4096
ALLOWED = 4e6  # bytes: what the C library keeps by chance
PROBLEMS, STEPS, FEWER = 500, 2000, 100


def _resident() -> float:
    gc.collect()
    return PAGE * float(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])


def _steady(once: Callable[[int], Any], count: int) -> Any:
    """Call `once` many times; raise `Wrong` where memory grows or the last result differs."""
    first, seen = once(0), []
    for k in range(1, count):
        last = once(k)
        if k in (count // 3, 2 * count // 3, count - 1):
            seen.append(_resident())
    require_near(first, last, 1e-9, f"the last of {count}")
    # the C library grows by chance once; a leak grows in each third
    least = 2.0 * min(seen[1] - seen[0], seen[2] - seen[1])
    grown = MPI.COMM_WORLD.allreduce(least, op=MPI.MAX)
    if grown > ALLOWED:
        raise Wrong(f"{grown / 1e6:.1f} MB more after {count - count // 3} of {count}")
    return first


def _static(k: int) -> Any:
    part = models.body("cable")
    system = sa.System(part, terms=[sa.fix(part["x0"]), sa.gravity((0, 0, -1.0))])
    sa.StaticProblem(system, prefix=f"case{k}_", options={"snes_rtol": 1e-9}).solve()
    return models.finite(system.displacement(part["x1"]))


def _dynamic(k: int) -> Any:
    part = models.body("cable")
    system = sa.System(part, terms=[sa.fix(part["x0"]), sa.gravity((0, 0, -1.0))])
    problem = sa.DynamicProblem(system, prefix=f"motion{k}_", options={"snes_rtol": 1e-9})
    problem.solve(to=3e-3, step=1e-3)
    return models.finite(system.displacement(part["x1"]))


def _failing(k: int) -> Any:
    part = models.body("hex", n=(2, 1, 1))
    system = sa.System(part, terms=[sa.gravity((0, 0, -1.0))])  # nothing holds it
    try:
        sa.StaticProblem(system, prefix=f"fails{k}_", check_held=False).solve(smallest=0.5)
    except sa.ConvergenceError as error:
        return [len(str(error)) > 40]
    raise Wrong("a body that nothing holds carried its weight")


def _steps() -> Any:
    part = models.body("cable")
    system = sa.System(part, terms=[sa.fix(part["x0"]), sa.gravity((0, 0, -1.0))])
    problem = sa.DynamicProblem(system, spectral_radius=0.5)
    seen: list[float] = []

    def watch(_: Any) -> None:
        if problem.steps in (STEPS // 3, STEPS):
            seen.append(_resident())

    problem.monitor(watch)
    problem.solve(to=STEPS * 2e-4, step=2e-4)
    grown = MPI.COMM_WORLD.allreduce(seen[-1] - seen[0], op=MPI.MAX)
    if grown > ALLOWED:
        raise Wrong(f"{grown / 1e6:.1f} MB more after {STEPS} steps")
    return models.finite(np.asarray(system.displacement(part["x1"])))


def _solves() -> Any:
    part, load = models.body("hex", n=(3, 1, 1)), sa.Parameter("load", 1.0)
    pull = sa.force(part["x1"], (0.0, 0.0, lambda t: load.value))
    system = sa.System(part, terms=[sa.fix(part["x0"]), pull])
    problem = sa.StaticProblem(system)

    def once(k: int) -> Any:
        load.value = 10.0 * (k % 5 + 1) if 0 < k < FEWER - 1 else 10.0
        problem.solve()
        return models.finite(system.displacement(part["x1"]).mean(axis=0))

    return _steady(once, FEWER)


def generate(chance: random.Random, count: int) -> Iterator[Case]:
    """Yield long runs; they do not depend on chance."""
    every: dict[str, Callable[[], Any]] = {
        f"{PROBLEMS} problems": lambda: _steady(_static, PROBLEMS),
        f"{FEWER} motions": lambda: _steady(_dynamic, FEWER),
        f"{FEWER} problems that fail": lambda: _steady(_failing, FEWER),
        f"{STEPS} steps": _steps,
        f"{FEWER} solutions of one problem": _solves,
    }
    for name, run in list(every.items())[:count]:
        yield Case(name, run, "right")
