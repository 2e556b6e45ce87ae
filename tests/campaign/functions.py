# SPDX-License-Identifier: BSD-3-Clause
"""Functions of the user that raise something, return nonsense, or differ by rank."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import sympy as sp
from mpi4py import MPI

import symancf as sa

from . import models
from .case import Case

COMM = MPI.COMM_WORLD


class Own(BaseException):
    """An exception that is no `Exception`."""


RAISED: dict[str, Callable[[], BaseException]] = {
    "ValueError": lambda: ValueError("out of range"),
    "KeyError": lambda: KeyError("name"),
    "ZeroDivisionError": lambda: ZeroDivisionError("division by zero"),
    "MemoryError": lambda: MemoryError("no memory"),
    "StopIteration": lambda: StopIteration(),
    "AssertionError": lambda: AssertionError("not so"),
    "RecursionError": lambda: RecursionError("too deep"),
    "SystemExit": lambda: SystemExit(3),
    "KeyboardInterrupt": lambda: KeyboardInterrupt(),
    "GeneratorExit": lambda: GeneratorExit(),
    "Own": lambda: Own("mine"),
    "SymancfError": lambda: sa.SymancfError("the user's own words about what is wrong"),
}
RETURNED: dict[str, Any] = {
    "nan": float("nan"),
    "None": None,
    "text": "1.0",
    "four": np.ones(4),
    "complex": 1.0 + 1.0j,
}
RANKS = {"the first rank": 0, "the last rank": COMM.size - 1, "every rank": -1}

Function = Callable[[], Any]  # called where the user's function is: returns, or raises


def _block() -> sa.Body:
    return models.body("hex", n=(6, 2, 1))


def _statics(*terms: Any, part: sa.Body, more: Callable[[Any], None] | None = None) -> Any:
    support = sa.fix(part["x0"])
    system = sa.System(part, terms=[support, sa.gravity((0, 0, -1.0)), *terms])
    problem = sa.StaticProblem(system)
    if more is not None:
        more(problem)
    problem.solve(step=0.5)
    return models.ends(system, part, support)


def _motion(
    *terms: Any,
    part: sa.Body | None = None,
    more: Callable[[Any], None] | None = None,
    method: str = "generalized-alpha",
) -> Any:
    part = part or models.body("cable", n=(8,))
    given = [sa.fix(part["x0"]), sa.gravity((0, 0, -1.0)), *terms]
    system = sa.System(part, terms=given)
    problem = sa.DynamicProblem(system, **({"method": method} if method != "generalized-alpha" else {}))  # noqa: E501  # fmt: skip
    if more is not None:
        more(problem)
    problem.solve(to=4e-3, step=1e-3)
    return models.finite(system.displacement(part["x1"]))


def _load(f: Function) -> Any:
    part = _block()
    return _statics(sa.force(part["x1"], (0, 0, lambda t: f() or t)), part=part)


def _traction(f: Function) -> Any:
    part = _block()

    def pull(X: Any, t: float) -> Any:
        given = f()
        return np.tile([0, 0, t], (len(X), 1)) if given is None else given

    return _statics(sa.traction(part["z1"], pull), part=part)


def _support(f: Function) -> Any:
    part = _block()

    def moved(X: Any, t: float) -> Any:
        given = f()
        return 0.01 * t * X if given is None else given

    return _statics(sa.fix(part["x1"], "position", displacement=moved), part=part)


def _field(f: Function) -> Any:
    def modulus(X: Any) -> Any:
        given = f()
        return 1e6 + X[:, 0] if given is None else given

    return _statics(part=models.body("hex", E=sa.Field(modulus)))


def _warp(f: Function) -> Any:
    def moved(X: Any) -> Any:
        given = f()
        return X + 0.1 if given is None else given

    return _statics(part=models.body("hex", warp=moved))


def _direction(f: Function) -> Any:
    def normal(X: Any) -> Any:
        given = f()
        return np.tile([0.0, 0, 1], (len(X), 1)) if given is None else given

    return _statics(part=models.body("plate", direction=normal))


def _monitor(f: Function) -> Any:
    return _statics(part=_block(), more=lambda p: p.monitor(lambda step: f()))


def _record(f: Function) -> Any:
    def value() -> Any:
        given = f()
        return 1.0 if given is None else given

    return _statics(part=_block(), more=lambda p: p.record("seen", value))


def _motion_monitor(f: Function) -> Any:
    return _motion(more=lambda p: p.monitor(lambda problem: f()))


def _explicit_monitor(f: Function) -> Any:
    return _motion(more=lambda p: p.monitor(lambda problem: f()), method="rk")


def _motion_load(f: Function) -> Any:
    part = models.body("cable", n=(8,))
    return _motion(sa.force(part["x1"], (0, 0, lambda t: f() or t)), part=part)


def _event(f: Function) -> Any:
    def height() -> Any:
        given = f()
        return 1.0 if given is None else given

    return _motion(more=lambda p: p.event(height) and None)


def _action(f: Function) -> Any:
    def wire(problem: Any) -> None:
        problem.event(lambda: problem.system.time - 2.2e-3, f)

    return _motion(more=wire)


def _parameter(f: Function) -> Any:
    def spring(r_a: Any, X_a: Any, *, k: Any) -> Any:
        return k / 2 * (r_a - X_a).dot(r_a - X_a)

    part = _block()

    def stiffness(t: float) -> Any:
        given = f()
        return 10.0 + t if given is None else given

    return _statics(sa.Potential(spring, part["x1"], k=stiffness), part=part)


def _energy(f: Function) -> Any:
    def law(J: Any, I1: Any, *, mu: Any) -> Any:
        given = f()
        return mu / 2 * (I1 - 3 - 2 * sp.log(J)) + mu * sp.log(J) ** 2 if given is None else given

    mesh = sa.Mesh.box((2.0, 1.0, 0.5), (4, 2, 1))
    part = sa.Body(mesh["body"], sa.elements.hex8_plain, law, mu=1e6, rho=models.RHO)
    return _statics(part=part)


PLACES: dict[str, Callable[[Function], Any]] = {
    "a load": _load,
    "a traction": _traction,
    "a support": _support,
    "a field": _field,
    "a warp": _warp,
    "a direction": _direction,
    "a monitor": _monitor,
    "a recorded value": _record,
    "a monitor of a motion": _motion_monitor,
    "a monitor of rk": _explicit_monitor,
    "a load of a motion": _motion_load,
    "an event": _event,
    "an event's action": _action,
    "a parameter": _parameter,
    "an energy": _energy,
}
LENIENT = (  # what they return counts for nothing, or may be anything
    "a monitor",
    "a monitor of a motion",
    "a monitor of rk",
    "an event's action",
    "a recorded value",
)


def _raising(place: str, what: str, rank: int, after: int) -> Case:
    def run() -> Any:
        calls = 0

        def given() -> Any:
            nonlocal calls
            calls += 1
            if calls > after and COMM.rank in (rank, COMM.rank if rank < 0 else rank):
                raise RAISED[what]()

        return PLACES[place](given)

    who = next(name for name, r in RANKS.items() if r == rank)
    # a function that is called once only, or not on this rank, does not come to raise; how often
    # it is called goes by the number of ranks
    name = f"{place} raises {what} on {who} after {after}"
    return Case(name, run, "either", (what,), alike=after == 0)


def _returning(place: str, what: str, rank: int) -> Case:
    def run() -> Any:
        return PLACES[place](lambda: RETURNED[what] if rank < 0 or COMM.rank == rank else None)

    who = next(name for name, r in RANKS.items() if r == rank)
    nothing = what == "None" or place in LENIENT
    # of one rank the first one is every rank, which may return four where others return nothing
    alike = rank < 0 or place not in LENIENT
    expect: Any = "either" if nothing else "error"
    return Case(f"{place} returns {what} on {who}", run, expect, alike=alike)


def _differing(place: str) -> Case:
    def run() -> Any:
        return PLACES[place](lambda: 1.0 + COMM.rank)

    return Case(f"{place} differs by rank", run, alike=False)


def generate(chance: random.Random, count: int) -> Iterator[Case]:
    """Yield faults in functions of the user."""
    # drawn by name, since the last rank is another one on another communicator
    ranks = list(RANKS)
    every: list[tuple[Any, ...]] = [
        ("raising", p, w, r, a) for p in PLACES for w in RAISED for r in ranks for a in (0, 2)
    ]
    every += [("returning", p, w, r) for p in PLACES for w in RETURNED for r in ranks]
    chance.shuffle(every)
    some = [("differing", p) for p in ("a load", "a parameter", "an event")]
    for kind, place, *rest in [*some, *every][:count]:
        if kind == "raising":
            yield _raising(place, rest[0], RANKS[rest[1]], rest[2])
        elif kind == "returning":
            yield _returning(place, rest[0], RANKS[rest[1]])
        else:
            yield _differing(place)
