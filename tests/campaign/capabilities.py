# SPDX-License-Identifier: BSD-3-Clause
"""Each yes and each refusal of `sa.capabilities`, tried with the smallest model."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

import symancf as sa
from symancf.solve.dynamics.native import Native

from . import gradients, models
from .capability_models import Model, model
from .case import Case, Wrong, require_near

COLUMNS = {name: number for number, name in enumerate(sa.capabilities().heads)}
GRADIENT_SEED = 7
ROUND_OFF = 1e-9  # of a drift: parts of the energy
COMM = MPI.COMM_WORLD


def answer(run: Callable[[], Any]) -> tuple[str, Any]:
    """Return "yes" and what comes of a run, or the error and what it is about."""
    try:
        return "yes", run()
    except sa.SymancfError as error:
        return f"{type(error).__name__}: {error.asked}", []


def motion(made: Model, steps: float = 6, share: float = 1.0) -> sa.DynamicProblem:
    """Return a problem after so many steps, or as long in shares of a step."""
    problem = sa.DynamicProblem(made.system(), **made.options)
    go(problem, made, steps, share)
    return problem


def go(problem: sa.DynamicProblem, made: Model, steps: float, share: float = 1.0) -> None:
    """Go on until so many steps are over."""
    problem.solve(to=steps * made.step, step=share * made.step)


def state(problem: Any, made: Model) -> Any:
    """Return position, in motions also velocity and drift."""
    found = [problem.system.position(made.watch)]
    if isinstance(problem, sa.DynamicProblem):
        found += [problem.system.velocity(made.watch), [[problem.energies.drift]]]
    return models.finite(np.concatenate([np.ravel(x) for x in found]))


# ---- columns -------------------------------------------------------------------------------------
def ranks(kind: str, name: str) -> tuple[str, Any]:
    """Try it on the ranks that there are: who compares them is the driver."""
    made = model(kind, name)
    if answer_of(kind, name, "steps in C") == "ParameterError: factor":
        problem: Any = sa.StaticProblem(made.system())
        problem.solve()
        return "yes", models.finite(problem.system.position(made.watch))
    problem = motion(made)
    return "yes", models.finite(problem.system.position(made.watch))


def restart(kind: str, name: str) -> tuple[str, Any]:
    """Try to go on from a state, and from a file in a problem of its own."""
    static = answer_of(kind, name, "steps in C") == "ParameterError: factor"

    def begun(made: Model) -> tuple[Any, Callable[[Any, float], None]]:
        if static:
            return sa.StaticProblem(made.system()), lambda p, n: p.solve(to=n / 6)
        return sa.DynamicProblem(made.system(), **made.options), lambda p, n: go(p, made, n)

    made = model(kind, name)
    problem, walk = begun(made)
    walk(problem, 3)
    middle = problem.state
    folder = os.environ.get("SYMANCF_CAMPAIGN", ".")
    path = Path(folder) / f"{abs(hash_of(name))}.h5"
    problem.save(path)
    walk(problem, 6)
    wanted = state(problem, made)
    problem.restore(middle)
    walk(problem, 6)
    found = state(problem, made)
    made = model(kind, name)
    problem, walk = begun(made)
    problem.restore(path)
    walk(problem, 6)
    last = state(problem, made)
    same = found == wanted and last == wanted
    if not same:
        require_near(found, wanted, 1e-9, "from the state")
        require_near(last, wanted, 1e-9, "from the file")
    cell = answer_of(kind, name, "restart")
    return "digits" if COMM.size == 1 and cell == "yes" and not same else cell, wanted[:-1]


def hash_of(name: str) -> int:
    """Return a number of a name, the same on every rank."""
    return sum(ord(letter) * 31**k for k, letter in enumerate(name))


def steps(kind: str, name: str) -> tuple[str, Any]:
    """See who makes the steps of a motion."""
    calls, several = [], Native.several

    def counted(self: Native, *given: Any) -> Any:
        calls.append(1)
        return several(self, *given)

    made = model(kind, name, solid=True)
    Native.several = counted  # type: ignore[method-assign]
    try:
        found, problem = answer(lambda: motion(made))
    finally:
        Native.several = several  # type: ignore[method-assign]
    if found != "yes":
        return found, []
    if COMM.size > 1:
        if problem.native or calls:
            raise Wrong("steps in C on several ranks")
        return answer_of(kind, name, "steps in C"), []
    return ("yes" if calls else "iterations only") if problem.native else "in Python", []


def multigrid(kind: str, name: str) -> tuple[str, Any]:
    """Solve with grids, and with factors, the default of small systems."""

    def solved(**options: Any) -> Any:
        made = model(kind, name, solid=True)
        problem = sa.StaticProblem(made.system(), options=options)
        problem.solve(to=0.25)
        return models.finite(problem.system.displacement(made.watch))

    found, value = answer(lambda: solved(pc_type="grids"))
    if found == "yes":
        require_near(value, solved(), 1e-6, "with grids")
    return found, value


def audit(kind: str, name: str) -> tuple[str, Any]:
    """See that the drift falls with the step."""

    def drifts() -> Any:
        drift, size = [], 0.0
        for share in (1.0, 0.5, 0.25):
            made = model(kind, name)
            problem = sa.DynamicProblem(made.system(), **made.options)
            problem.record("drift", lambda p=problem: p.energies.drift)
            go(problem, made, 8, share)
            drift.append(float(np.abs(problem.history["drift"]).max()))
            e = problem.energies
            size = max(size, e.kinetic + abs(e.work) + abs(e.potential))
        if drift[2] > max(0.2 * drift[0], ROUND_OFF * size):
            raise Wrong(f"drift {drift} with steps halved, of {size:g}")
        return []

    return answer(drifts)


def contact(kind: str, name: str) -> tuple[str, Any]:
    """Press against a plane, and against a block from either side."""

    def touched(other: str, **more: Any) -> Any:
        made = model(kind, name)
        assert made.touches is not None
        given = made.touches() | more
        side = given.pop("side")
        if other == "shape":
            touch = sa.Contact(side, sa.Plane((0.0, 0.0, -0.3)), initial="press", **given)
        else:
            mesh = sa.Mesh.box((2.0, 1.0, 1.0), (2, 1, 1), warp=lambda X: X - [0.0, 0.0, 3.0])
            law, data = sa.energies.saint_venant_kirchhoff(), {"E": 10.0, "nu": 0.3, "rho": 1.0}
            low = sa.Body(mesh["body"], sa.elements.hex8_plain, law, name="low", **data)
            pair = (side, low["z1"]) if other == "side" else (low["z1"], side)
            touch = sa.Contact(*pair, **given)
            made.bodies.append(low)
            made.terms.append(sa.fix(low["z0"]))
        made.terms.append(touch)
        return models.finite(motion(made, 3).system.position(made.watch))

    found = {other: answer(lambda o=other: touched(o)) for other in ("shape", "side", "target")}
    told = [text for text, _ in found.values()]
    if told[0] == "ParameterError: stiffness":
        touched("shape", stiffness=10.0)
    if told == ["yes", "ParameterError: cable", "ParameterError: cable"]:
        return "rigid shapes", found["shape"][1]
    if len({*told} - {"ParameterError: target"}) > 1:  # a body that is no shape is no target
        raise Wrong(f"shape, side and target: {told}")
    return told[0], found["shape"][1]


def gradient(kind: str, name: str) -> tuple[str, Any]:
    """Compare gradients of statics with a trace, motions and frequencies with solutions beside."""
    if COMM.size > 1:
        return answer_of(kind, name, "gradient"), []
    analyses = {"statics": "path", "motions": "motion", "frequencies": "modes"}
    found = {a: gradients.tried((kind, name), of, GRADIENT_SEED) for a, of in analyses.items()}
    if found["statics"].verdict == "ERROR":  # no solution beside: then of one equilibrium
        found["statics"] = gradients.tried((kind, name), "statics", GRADIENT_SEED)
    if wrong := [str(f) for f in found.values() if f.verdict not in ("right", "refused")]:
        raise Wrong("; ".join(wrong))
    there = [analysis for analysis, f in found.items() if f.verdict == "right"]
    return "yes" if len(there) == len(analyses) else ", ".join(there), []


def shape(kind: str, name: str) -> tuple[str, Any]:
    """Ask for derivatives by the shape of the body; their numbers are those of `test_shape`."""

    def asked() -> Any:
        made = model(kind, name, solid=True)
        solids = [b for b in made.bodies if isinstance(b, sa.Body) and b.element.dimension == 3]
        shape = sa.Shape((solids or made.bodies)[0])
        problem = sa.StaticProblem(made.system(), check_stable=False)
        problem.solve(to=0.25, step=0.125, trace=sa.Trace())
        goal = sa.Goal(lambda u_a: u_a[0] + u_a[1] - u_a[2], made.watch)
        found = problem.gradient(goal, [shape])[shape]
        prescribed = name == "fix, displacement of time"  # the place that is watched
        if not prescribed and not np.abs(found).max() > 0.0:
            raise Wrong("nothing follows the positions")
        return models.finite(found)

    return answer(asked)


TRIES: dict[str, Callable[[str, str], tuple[str, Any]]] = {
    "several ranks": ranks,
    "restart": restart,
    "steps in C": steps,
    "multigrid": multigrid,
    "audit": audit,
    "contact": contact,
    "gradient": gradient,
    "shape": shape,
}


# ---- cases ---------------------------------------------------------------------------------------
def answer_of(kind: str, name: str, column: str) -> str:
    """Return a cell of the table."""
    return str(ROWS[kind, name][COLUMNS[column]])


ROWS = {(str(row[0]), str(row[1])): row for row in sa.capabilities().rows}


def tried(kind: str, name: str, column: str) -> Any:
    """Try a cell; raise `Wrong` where what is found is not what the table says."""
    found, value = TRIES[column](kind, name)
    wanted = answer_of(kind, name, column)
    if found != wanted:
        raise Wrong(f"{kind} {name}, {column}: {found!r}, the table says {wanted!r}")
    return value


def cells() -> list[tuple[str, str, str]]:
    """Return kind, name and column of all cells that say something."""
    return [(*row, column) for row in ROWS for column in TRIES if answer_of(*row, column)]


def generate(chance: random.Random, count: int) -> Iterator[Case]:
    """Yield tries in an order of chance."""
    every = cells()
    chance.shuffle(every)
    for kind, name, column in every[:count]:
        yield Case(f"{kind} {name}: {column}", partial(tried, kind, name, column), "right")
