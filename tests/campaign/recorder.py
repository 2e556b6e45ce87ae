# SPDX-License-Identifier: BSD-3-Clause
"""What one checkout gives: a process that answers cases of groups with their records.

It runs with the package of a checkout, old or new, and the tests of this one; so it uses public
names only, and watches problems by wrapping their public methods. A line of JSON on standard input
names group and case, a line on standard output holds the records of it.
"""

from __future__ import annotations

import ctypes
import gc
import inspect
import itertools
import json
import os
import re
import runpy
import sys
import time
import tracemalloc
import weakref
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from mpi4py import MPI
from sympy.core.cache import clear_cache

import symancf as sa
from tests.campaign.motions import EQUILIBRIA, MOTIONS
from tests.ranks import lines

COMM = MPI.COMM_WORLD
Records = dict[str, Any]

# ---- the course of each solve -------------------------------------------------------------------
SOLVES: list[Records] = []
EVENTS: weakref.WeakKeyDictionary[Any, list[list[float]]] = weakref.WeakKeyDictionary()


def watch(problem: type[Any], name: str) -> None:
    """Put what each call of a method adds to the history of its problem into `SOLVES`."""
    method = getattr(problem, name, None)
    if method is None:
        return

    def watched(self: Any, *given: Any, **named: Any) -> Any:
        history, failed = self.history, ""
        steps, cuts, wasted = len(history.steps), history.cut_backs, history.wasted
        try:
            return method(self, *given, **named)
        except Exception as error:
            failed = type(error).__name__
            raise
        finally:
            made = history.steps[steps:]
            SOLVES.append(
                {
                    "raised": failed,
                    "times": [step.time for step in made],
                    "iterations": [step.iterations for step in made],
                    "linear iterations": [step.linear_iterations for step in made],
                    "cuts": history.cut_backs - cuts,
                    "wasted iterations": history.wasted - wasted,
                    "events": [list(times) for times in EVENTS.get(self, [])],
                    "limit points": [[p.parameter, p.kind] for p in history.limit_points],
                    "bifurcations": [p.parameter for p in history.bifurcations],
                }
            )

    setattr(problem, name, watched)


def watch_events() -> None:
    """Keep the lists to which problems add the times of their events."""
    method = sa.DynamicProblem.event

    def watched(self: Any, *given: Any, **named: Any) -> Any:
        times = method(self, *given, **named)
        EVENTS.setdefault(self, []).append(times)
        return times

    sa.DynamicProblem.event = watched  # type: ignore[method-assign]


def course() -> Records:
    """Return and forget what the solves so far took."""
    records = {
        f"solve {number} {name}": value
        for number, solve in enumerate(SOLVES, 1)
        for name, value in solve.items()
        if value or name == "iterations"
    }
    SOLVES.clear()
    return records


# ---- generated C --------------------------------------------------------------------------------
LIBRARIES: dict[str, None] = {}


def watch_libraries(event: str, given: tuple[Any, ...]) -> None:
    """Keep the names of the libraries that are loaded; an audit hook."""
    if event == "ctypes.dlopen" and given[0]:
        LIBRARIES[os.fsdecode(given[0])] = None


def sources() -> list[str]:
    """Return and forget the C files of the libraries loaded so far."""
    cache = Path(os.environ["SYMANCF_CACHE"]).resolve()
    found = [path for path in map(Path, LIBRARIES) if path.parent.resolve() == cache]
    LIBRARIES.clear()
    return [str(path.with_suffix(".c")) for path in found]


# ---- groups: cases, and records of a case -------------------------------------------------------
def verify_cases() -> list[str]:
    from symancf import verify

    return [case.id for case in verify.cases()]


def verify_case(name: str, _: Records) -> Records:
    """Return the numbers of a case of `symancf verify`."""
    from symancf import verify

    (case,) = (case for case in verify.cases(name) if case.id == name)
    return {f"{k}: {result.quantity}": result.value for k, result in enumerate(case.run(), 1)}


def demo_cases() -> list[str]:
    from symancf.command.demos import available

    return list(available())


def demo_case(name: str, _: Records) -> Records:
    """Run a demo, which asserts its own numbers."""
    from symancf.command.demos import available, give_options

    sys.argv = [name, "-short"]
    give_options(sys.argv)
    runpy.run_path(str(available()[name]), run_name="__main__")
    return {}


def robust_cases() -> list[str]:
    return list(import_module("symancf.bench.robust").CASES)


def robust_case(name: str, _: Records) -> Records:
    """Return what the default solver takes on a body of `symancf bench --robust`."""
    measured = ("cpu_s", "assembly_s", "memory_MB")
    found = import_module("symancf.bench.robust").solve(name, "default")
    return {key: value for key, value in found.items() if key not in measured}


def motion_case(name: str, asked: Records) -> Records:
    """Return positions on the way, the state at the end and the audit of many steps."""
    motion = MOTIONS[name]()
    problem = motion.problem()
    for number, place in enumerate(motion.places, 1):
        problem.record(f"position {number}", place, every=max(1, asked["steps"] // 20))
    history = motion.solve(problem, asked["steps"])
    records = {name: history[name].tolist() for name in history.names}
    return records | {"end": motion.numbers(), "audit": audit(problem)}


def audit(problem: sa.DynamicProblem) -> list[float]:
    """Return the terms of the audit of energies [J]."""
    energies, terms = problem.energies, "kinetic strain potential contact work dissipated friction"
    return [float(getattr(energies, term)) for term in (*terms.split(), "drift")]


def checkpoint_case(name: str, asked: Records) -> Records:
    """Read the checkpoint of the stage before, made on other ranks, move on and write the next."""
    motion = MOTIONS[name]()
    problem, records = motion.problem(), {}
    file = f"{name.replace(' ', '_')}-{{}}.h5"
    if asked["stage"]:
        problem.restore(file.format(asked["stage"] - 1))
        records = {"loaded": motion.numbers(), "loaded audit": audit(problem)}
    motion.solve(problem, 20)
    problem.save(file.format(asked["stage"]))
    motion.solve(problem, 10)
    return records | {"after": motion.numbers(), "after audit": audit(problem)}


def public_names() -> list[str]:
    return sorted({*sa.__all__, *dir(sa)})


def name_case(name: str, _: Records) -> Records:
    """Return the signatures of a public name and of what it offers."""
    return dict(_signatures(name, getattr(sa, name)))


def _signatures(name: str, thing: Any) -> Iterator[tuple[str, str]]:
    if isinstance(thing, ModuleType):
        for other in getattr(thing, "__all__", None) or dir(thing):
            if not other.startswith("_"):
                yield from _signatures(f"{name}.{other}", getattr(thing, other))
        return
    yield name, _signature(thing)
    if isinstance(thing, type):
        for other in dir(thing):
            static = inspect.getattr_static(thing, other)
            if not other.startswith("_") and not isinstance(static, type(int.real)):
                found = getattr(thing, other, static)
                yield f"{name}.{other}", _signature(static if callable(static) else found)


def _signature(thing: Any) -> str:
    try:
        text = f"{type(thing).__name__} {inspect.signature(thing)}"
    except (TypeError, ValueError):
        text = type(thing).__name__
    return re.sub(r" at 0x[0-9a-f]+", "", text)


# ---- bytes --------------------------------------------------------------------------------------
WINDOWS = 4
LEAKS = {"cables": 5, "rods": 2, "four bar": 5, "sliding block": 2, "solid": 2, "touching": 1}
TYPES = re.compile(r"^\s*(\D+?)\s+(\d+)\s+(\d+)\b", re.M)


def bytes_case(name: str, asked: Records) -> Records:
    """Return the growth of memory and of PETSc's objects for each problem made and dropped."""
    from petsc4py import PETSc

    PETSc.Log.begin()
    motion, count = MOTIONS[name](), max(asked["problems"] // WINDOWS, 1)

    def problem() -> None:
        motion.solve(motion.problem(), LEAKS[name])

    def model() -> None:
        new = MOTIONS[name]()
        new.solve(new.problem(), LEAKS[name])

    records = {}
    for what, once in (("problem", problem), ("model and problem", model)):
        resident, objects = _growth(once, count, _resident, _objects)
        tracemalloc.start()
        (traced,) = _growth(once, count, lambda: tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
        records[f"{what}: resident bytes"] = resident
        records[f"{what}: bytes of Python"] = traced
        records[f"{what}: objects of PETSc"] = objects
    return {key: COMM.allreduce(value, op=MPI.MAX) for key, value in records.items()}


def _growth(once: Callable[[], Any], count: int, *measures: Callable[[], float]) -> list[float]:
    """Return what grows in each of some windows of problems, for each problem.

    What is freed late, or taken once, does not grow in each.
    """
    seen = []
    for _ in range(WINDOWS + 1):
        for _ in range(count):
            once()
        SOLVES.clear()
        clear_cache()  # of SymPy, which is full after some thousand expressions
        for _ in range(3):  # what a collection frees may hold more
            gc.collect()
        seen.append([measure() for measure in measures])
    steps = [[b - a for a, b in zip(*pair, strict=True)] for pair in itertools.pairwise(seen)]
    return [max(0.0, min(of_one)) / count for of_one in zip(*steps, strict=True)]


def _resident() -> float:
    ctypes.CDLL(None).malloc_trim(0)
    return 4096.0 * float(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])


def _objects() -> int:
    """Return how many objects PETSc has made and not destroyed, by the table of its log."""
    from petsc4py import PETSc

    file = Path(f"log-{COMM.size}.txt")
    viewer = PETSc.Viewer().createASCII(str(file), comm=PETSc.COMM_WORLD)
    PETSc.Log.view(viewer)
    viewer.destroy()
    COMM.Barrier()
    table = file.read_text(encoding="utf-8").partition("Object Type")[2]
    COMM.Barrier()
    found = [(int(made), int(gone)) for kind, made, gone in TYPES.findall(table)]
    return sum(made - gone for made, gone in found)


# ---- processor time -----------------------------------------------------------------------------
COSTS = {
    "cables": 300, "explicit cables": 100, "plates": 100, "solid": 100, "finger": 20,
    "tumbling block": 200, "four bar": 150, "chain": 60, "slider crank": 150, "rods": 20,
    "net": 50, "sliding block": 50, "touching": 10, "creeping": 100,
    "rubber": 8, "pressed": 6, "bent": 30,
}  # fmt: skip
RUNNING: dict[str, Callable[[], Any]] = {}


def cost_case(name: str, _: Records) -> Records:
    """Return the processor's time of a step of a model that goes on from call to call [ms]."""
    if name not in RUNNING:
        RUNNING[name] = _running(name)
        RUNNING[name]()
    gc.collect()
    start = time.process_time()
    RUNNING[name]()
    spent = time.process_time() - start
    SOLVES.clear()
    return {"ms": 1e3 * spent / COSTS[name]}


def _running(name: str) -> Callable[[], Any]:
    if name in EQUILIBRIA:
        equilibrium = EQUILIBRIA[name]()
        return lambda: equilibrium.solve(COSTS[name])
    motion = MOTIONS[name]()
    problem = motion.problem()
    return lambda: motion.solve(problem, COSTS[name])


GROUPS: dict[str, tuple[Callable[[], list[str]], Callable[[str, Records], Records]]] = {
    "names": (public_names, name_case),
    "verify": (verify_cases, verify_case),
    "demos": (demo_cases, demo_case),
    "robust": (robust_cases, robust_case),
    "motions": (lambda: list(MOTIONS), motion_case),
    "checkpoints": (lambda: list(MOTIONS), checkpoint_case),
    "bytes": (lambda: list(LEAKS), bytes_case),
    "cost": (lambda: list(COSTS), cost_case),
}


def answer(asked: Records) -> Records:
    """Return the cases of a group, or the records of a case."""
    cases, case = GROUPS[asked["group"]]
    if "case" not in asked:
        return {"cases": cases()}
    failed = ""
    try:
        records = case(asked["case"], asked)
    except Exception as error:
        records, failed = {}, f"{type(error).__name__}: {error}"
    return {"records": records | course(), "failed": failed, "sources": sources()}


def main() -> None:
    """Answer line after line, until standard input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")  # what solvers print goes elsewhere
    os.dup2(2, 1)
    sys.addaudithook(watch_libraries)
    for problem, names in ((sa.StaticProblem, "solve follow"), (sa.DynamicProblem, "solve")):
        for name in names.split():
            watch(problem, name)
    watch_events()
    for line in lines():
        found = answer(json.loads(line))
        if COMM.rank == 0:
            print(json.dumps(found), file=answers, flush=True)


if __name__ == "__main__":
    main()
