# SPDX-License-Identifier: BSD-3-Clause
"""A rank that leaves, by sys.exit or Ctrl-C, in a function of the user. Run by test_endings."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from mpi4py import MPI

import symancf as sa
from symancf.energies import cable, neo_hooke
from tests.cases import Cases

COMM = MPI.COMM_WORLD
LAST = COMM.rank == COMM.size - 1
case = Cases(limit=60.0)
Leave = Callable[..., Any]


class Away(BaseException):
    """A class of the user that no `except Exception` catches."""


KINDS: dict[str, Callable[[], BaseException]] = {
    "exit": lambda: SystemExit(3),
    "interrupt": lambda: KeyboardInterrupt("stop"),
    "generator": GeneratorExit,
    "own": lambda: Away("away"),
    "error": lambda: ArithmeticError("wrong"),
}


def block(**options: Any) -> sa.Body:
    mesh = sa.Mesh.box((2.0, 1.0, 1.0), (4, 1, 1))
    given = {"mu": 1.0, "lam": 2.0, "rho": 1.0} | options
    return sa.Body(mesh["body"], sa.elements.hex8_plain, neo_hooke(), **given)


def held(body: sa.Body, *terms: Any) -> sa.System:
    return sa.System(body, terms=[sa.fix(body["x0"]), *terms])


def statics(*terms: Any) -> sa.StaticProblem:
    return sa.StaticProblem(held(block(), *terms), options={"pc_type": "lu"})


def motion(method: str = "generalized-alpha", *terms: Any) -> sa.DynamicProblem:
    body = block()
    return sa.DynamicProblem(held(body, sa.gravity((0, 0, -1.0)), *terms), method=method)


def late(leave: Leave, calls: int) -> Callable[..., float]:
    """A function of time that leaves when it was called often."""
    count = [0]

    def value(t: float) -> float:
        count[0] += 1
        if count[0] > calls:
            leave()
        return 0.01 * t

    return value


@case
def mesh_warp(leave: Leave) -> None:
    sa.Mesh.box((1.0, 1.0), (3, 3), warp=leave)


@case
def field(leave: Leave) -> None:
    held(block(mu=sa.Field(lambda X: leave(np.ones(len(X))))))


@case
def direction(leave: Leave) -> None:
    mesh = sa.Mesh.box((1.0, 1.0), (3, 3))
    plate = sa.elements.ancf_plate
    options = {
        "mu": 1.0,
        "lam": 2.0,
        "thickness": 0.1,
        "direction": lambda X: leave((0.0, 0.0, 1.0)),
    }
    body = sa.Body(mesh["body"], plate, neo_hooke(), **options)
    sa.System(body, terms=[sa.fix(body["x0"])])


@case
def load(leave: Leave) -> None:
    body = block()
    system = held(body, sa.force(body["x1"], (0, 0, leave)))
    sa.StaticProblem(system).solve()


@case
def load_in_a_later_step(leave: Leave) -> None:
    body = block()
    system = held(body, sa.force(body["x1"], (0, 0, late(leave, 12))))
    sa.StaticProblem(system).solve(step=0.02)


@case
def displacement(leave: Leave) -> None:
    body = block()
    pull = sa.fix(body["y0"], "y", displacement=lambda X, t: leave(0.0 * X))
    sa.StaticProblem(held(body, pull)).solve()


@case
def monitor(leave: Leave) -> None:
    problem = statics()
    problem.monitor(leave)
    problem.solve()


@case
def recorder(leave: Leave) -> None:
    problem = statics()
    problem.record("left", leave)
    problem.solve()


@case
def until(leave: Leave) -> None:
    body, push = block(), sa.Parameter("push")
    system = held(body, sa.force(body["x1"], (push, 0, 0)))
    problem = sa.StaticProblem(system, options={"pc_type": "lu"})
    problem.follow(push, to=0.1, step=0.05, until=leave)


@case
def followed_load(leave: Leave) -> None:
    body, push = block(), sa.Parameter("push")
    load = late(leave, 9)
    system = held(body, sa.force(body["x1"], (lambda t: push.value * (1.0 + load(t)), 0, 0)))
    problem = sa.StaticProblem(system, options={"pc_type": "lu"})
    problem.follow(push, to=0.1, step=0.01)


@case
def implicit_motion(leave: Leave) -> None:
    body = block()
    system = held(body, sa.force(body["x1"], (0, 0, late(leave, 9))))
    sa.DynamicProblem(system).solve(to=1.0, step=0.1)


@case
def explicit_motion(leave: Leave) -> None:
    body = block()
    system = held(body, sa.force(body["x1"], (0, 0, late(leave, 60))))
    sa.DynamicProblem(system, method="rk").solve(to=1.0, step=0.05)


@case
def implicit_monitor(leave: Leave) -> None:
    problem = motion()
    problem.monitor(lambda step: leave() if problem.steps == 2 else None)
    problem.solve(to=1.0, step=0.1)


@case
def explicit_recorder(leave: Leave) -> None:
    problem = motion("rk")
    problem.record("left", lambda: leave() if problem.steps == 2 else 0.0)
    problem.solve(to=1.0, step=0.05)


@case
def event(leave: Leave) -> None:
    problem = motion()
    problem.event(lambda: leave(1.0) if problem.system.time > 0.25 else 1.0)
    problem.solve(to=1.0, step=0.1)


@case
def event_of_an_explicit_motion(leave: Leave) -> None:
    problem = motion("rk")
    problem.event(lambda: leave(1.0) if problem.system.time > 0.2 else 1.0)
    problem.solve(to=1.0, step=0.05)


@case
def action(leave: Leave) -> None:
    problem = motion()
    problem.event(lambda: problem.system.time - 0.35, leave)
    problem.solve(to=1.0, step=0.1)


@case
def controller(leave: Leave) -> None:
    mesh = sa.Mesh.box((1.0,), (3,))
    body = sa.Body(mesh["body"], sa.elements.ancf_cable, cable(), EA=10.0, EI=1.0, rho=1.0, A=1.0)
    goal = late(leave, 9)
    law = sa.PID(lambda r_a: r_a[2], lambda v_a: v_a[2], body.at((1, 0, 0)), target=goal, kp=1.0)
    system = sa.System(body, terms=[sa.fix(body["x0"]), law])
    sa.DynamicProblem(system).solve(to=1.0, step=0.1)


@case
def energy(leave: Leave) -> None:

    def own(J: Any, *, mu: Any) -> Any:
        leave()
        return mu * (J - 1) ** 2

    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (3, 1, 1))
    body = sa.Body(mesh["body"], sa.elements.hex8_plain, own, mu=1.0)
    sa.System(body, terms=[sa.fix(body["x0"])])


@case
def equation(leave: Leave) -> None:
    body = block()
    held(body, sa.Constraint(lambda r_a: leave(r_a[0] - 2.0), body.at((2, 0, 0))))


def run(function: Callable[[Leave], None]) -> dict[str, Any]:
    """Let the last rank leave, then the first one, in two ways; from a monitor in all ways."""
    chosen = [(kind, 0) for kind in KINDS] if function is monitor else [("signal", 0)]
    found: dict[str, Any] = {}
    for kind, rank in [("exit", COMM.size - 1), *chosen]:
        calls = [0]

        def leave(value: Any = 0.0, rank: int = rank, kind: str = kind, calls: Any = calls) -> Any:
            calls[0] += 1
            if COMM.rank == rank and kind != "signal":
                raise KINDS[kind]()
            if COMM.rank == rank and calls[0] == 1:
                os.kill(os.getpid(), signal.SIGINT)
            return value

        try:
            function(leave)
            found[f"{kind} {rank}"] = ["nothing", "", None]
        except BaseException as error:
            found[f"{kind} {rank}"] = [type(error).__name__, str(error), getattr(error, "code", 0)]
    return found


if __name__ == "__main__":
    case.main(run)
    problem = statics()
    problem.monitor(lambda step: sys.exit(3) if LAST else None)
    problem.solve()
