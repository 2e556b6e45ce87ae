# SPDX-License-Identifier: BSD-3-Clause
"""A warning is told once for each problem, however many steps a control loop makes."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from mpi4py import MPI

import symancf as sa

STEPS = 34


@contextmanager
def counted(words: str) -> Iterator[list[int]]:
    """Count warnings with some words, of all ranks, as ``python -W always`` shows them."""
    found: list[int] = []
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        yield found
    mine = sum(words in str(each.message) for each in seen)
    found.append(MPI.COMM_WORLD.allreduce(mine))
    assert MPI.COMM_WORLD.rank == 0 or not mine


def strut() -> tuple[sa.System, sa.Parameter]:
    """Return a straight strut in compression; it buckles at 2.47."""
    mesh = sa.Mesh.box((1.0,), (4,))
    rod = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), EA=1e4, EI=1.0)
    load = sa.Parameter("load", 3.0)
    pull = sa.force(rod["x1"], (lambda t: -load.value * t, 0.0, 0.0))
    plane = sa.fix(rod["body"], ["z", "slope.z"])
    return sa.System(rod, terms=[sa.fix(rod["x0"]), pull, plane]), load


@pytest.mark.collective
def test_an_unstable_equilibrium_is_told_once_for_each_problem() -> None:
    system, load = strut()
    for steps in (STEPS, 3):
        problem = sa.StaticProblem(system)
        with counted("is unstable in one direction") as told:
            for k in range(steps):
                problem.solve(to=1.0 + 0.001 * k)
        assert told == [1]
    load.value = 30.0  # beyond the second mode
    with counted("is unstable in 2 independent directions") as told:
        for k in range(3):
            problem.solve(to=1.1 + 0.001 * k)
    assert told == [1]
    with counted("is unstable") as told:
        problem.solve(to=1.2)
    assert told == [0]


def _deep() -> Callable[[int], object]:
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    law = sa.energies.saint_venant_kirchhoff()
    block = sa.Body(mesh["body"], sa.elements.hex8_plain, law, E=1e6, nu=0.3)
    terms = [
        sa.Contact(block["z0"], sa.Plane(), stiffness=1e4),
        sa.traction(block["z1"], (0.0, 0.0, lambda t: -1e3 * t)),
        sa.fix(block["z1"], ["x", "y"]),
    ]
    problem = sa.StaticProblem(sa.System(block, terms=terms), check_held=False)
    return lambda k: problem.solve(to=1.0 + 0.01 * k)


def _jumps() -> Callable[[int], object]:
    ball = sa.RigidBody.sphere(0.1, position=(0.0, 0.0, 0.0), rho=1000.0)
    aside = sa.fix(
        ball, ["x"], displacement=(lambda t: 0.01 - 0.01 * abs(t / 0.17 % 2 - 1), 0.0, 0.0)
    )
    problem = sa.DynamicProblem(sa.System(ball, terms=[aside]))
    return lambda k: problem.solve(to=0.1 * (k + 1), step=0.05)


def _modes() -> Callable[[int], object]:
    mesh = sa.Mesh.box((1.0,), (2,))
    law = {"EA": 1e4, "EI": 1.0, "A": 1.0, "rho": 1.0}
    rod = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), **law)
    terms = [sa.fix(rod["x0"]), sa.force(rod["x1"], (0.0, 1.0, 0.0))]
    problem = sa.EigenProblem(sa.System(rod, terms=terms))
    return lambda k: problem.solve(1)


@pytest.mark.parametrize(
    ("make", "words"),
    [(_deep, "more than penetration="), (_jumps, "jumps in position"), (_modes, "no equilibrium")],
)
def test_others(make: Callable[[], Callable[[int], object]], words: str) -> None:
    for steps in (STEPS, 3):  # a second system tells again
        step = make()
        with counted(words) as told:
            for k in range(steps):
                step(k)
        assert told == [1]


def test_one_thread_at_a_time_solves_problems_of_a_system() -> None:
    """Two of them ended with displacements of zero, without a word."""
    mesh = sa.Mesh.box((1.0,), (2,))
    body = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), EA=10.0, EI=1.0)
    load = sa.force(body["x1"], (0.0, 0.0, 0.01))
    system = sa.System(body, terms=[sa.fix(body["x0"]), load])
    problem, other = sa.StaticProblem(system), sa.StaticProblem(system, prefix="other_")
    refused: list[Exception] = []

    def solve(one: sa.StaticProblem) -> None:
        try:
            one.solve(to=2.0)
        except sa.SymancfError as error:
            refused.append(error)

    def both(_: object) -> None:
        for one in (problem, other):
            thread = threading.Thread(target=solve, args=(one,))
            thread.start()
            thread.join()

    problem.monitor(both)
    problem.solve()
    assert [getattr(error, "asked", "") for error in refused] == ["thread", "thread"]
    assert system.displacement(body["x1"])[0, 2] > 1e-3
