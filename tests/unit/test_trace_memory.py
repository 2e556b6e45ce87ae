# SPDX-License-Identifier: BSD-3-Clause
"""Traces of motions that repeat steps beyond their memory."""

from __future__ import annotations

import signal
import tracemalloc
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from mpi4py import MPI

import symancf as sa
from symancf.solve.gradients.checkpoints import first_checkpoint, most_parts, repetitions

Made = tuple[sa.DynamicProblem, sa.Goal, list[Any]]


def swing(cells: int = 3) -> Made:
    """A cable with a drive."""
    mesh = sa.Mesh.box((1.0,), (cells,))
    EI, drive = sa.Parameter("EI", 0.5), sa.Series([0.0, 0.3, 0.6, 1.0], [0.0, 0.4, 0.1, -0.2])
    given = {"EA": 500.0, "EI": EI, "rho": 1.0, "A": 0.1}
    line = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), **given)
    tip = line.at((1.0, 0.0, 0.0))
    terms = [sa.fix(line["x0"]), sa.force(tip, (0.0, 0.0, drive))]
    problem = sa.DynamicProblem(sa.System(line, terms=terms))
    return problem, sa.Goal(lambda u_a: u_a[2], tip), [EI, drive]


def memory(problem: sa.DynamicProblem, every: int) -> float:
    """Return bytes for stretches of so many steps."""
    state = problem.state
    arrays = [state.displacement, state.rate, state.acceleration, state.method["auxiliary"]]
    size = sum(a.nbytes for a in arrays if a is not None) + sa.Trace._objects
    return size * (sa.Trace._others + 3 * (every + 1) + 0.5)


def advances(parts: int, checkpoints: int) -> int:
    """Return the least number of parts over which a sweep backwards advances, t(l, s)."""
    r = repetitions(parts, checkpoints)
    return r * parts - most_parts(checkpoints + 1, r - 1)


def test_checkpoints_are_the_best_ones() -> None:
    @lru_cache(None)
    def least(parts: int, checkpoints: int) -> int:
        if parts == 1 or checkpoints == 1:
            return parts * (parts - 1) // 2
        return min(
            m + least(parts - m, checkpoints - 1) + least(m, checkpoints) for m in range(1, parts)
        )

    @lru_cache(None)
    def made(parts: int, checkpoints: int) -> int:
        if parts == 1:
            return 0
        m, rest = first_checkpoint(parts, checkpoints), max(1, checkpoints - 1)
        return m + made(parts - m, rest) + made(m, checkpoints)

    for checkpoints in range(1, 6):
        for parts in range(1, 60):
            known = least(parts, checkpoints)
            assert known == advances(parts, checkpoints) == made(parts, checkpoints)


@pytest.mark.parametrize("single", [False, True], ids=["steps in C", "single steps"])
def test_steps_that_are_repeated_have_the_same_bits(single: bool) -> None:
    problem, end, variables = swing()
    states: list[list[Any]] = []
    if single:
        problem.monitor(
            lambda step: states.append([problem.system.state.copy(), problem.system.rate.copy()])
        )
    goal = end + (end**2).integral()
    problem.solve(to=0.5, step=0.01, stops=[0.3], trace=sa.Trace())
    known = problem.gradient(goal, variables)
    problem.reset()
    states.clear()
    trace = sa.Trace(memory(problem, 4))
    problem.solve(to=0.5, step=0.01, stops=[0.3], trace=trace)
    history = len(problem.history.steps)
    assert trace.every == 4
    last = problem.system.state.copy()
    found = problem.gradient(goal, variables)
    assert trace.repetitions > 50
    assert len(problem.history.steps) == history
    np.testing.assert_array_equal(problem.system.state, last)
    for v in variables:
        size = np.abs(known[v]).max()
        np.testing.assert_allclose(found[v], known[v], rtol=1e-6, atol=1e-7 * size)
    for n, (u, v) in enumerate(states):
        np.testing.assert_array_equal(trace[n].displacement, u)
        np.testing.assert_array_equal(trace[n].rate, v)


def test_the_number_of_repeated_steps_is_that_of_the_formula() -> None:
    problem, end, variables = swing()
    trace = sa.Trace(memory(problem, 1))
    problem.solve(to=0.21, step=0.01, trace=trace)
    problem.gradient(end, variables)  # leaves the first state, a restart point
    assert trace.checkpoints == [0]
    before = trace.repetitions
    problem.gradient(end, variables)
    # stretches of a step each; the last one follows from the last state
    assert trace.repetitions - before == advances(21, 2) + 20


def test_a_trace_stays_within_its_memory() -> None:
    problem, end, variables = swing(40)
    problem.solve(to=0.03, step=0.01, trace=sa.Trace())
    problem.gradient(end, variables)

    def peak(trace: sa.Trace) -> int:
        problem.reset()
        tracemalloc.start()
        try:
            problem.solve(to=0.6, step=0.01, trace=trace)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    wanted = memory(problem, 4)
    ample, short = peak(sa.Trace()), peak(trace := sa.Trace(wanted))
    assert trace.bytes < wanted
    assert short < 3e5 + wanted < ample


def test_a_function_of_time_that_changed_since_is_told() -> None:
    problem, end, variables = swing()
    trace = sa.Trace(memory(problem, 4))
    problem.solve(to=0.8, step=0.01, trace=trace)
    drive = variables[1]
    drive.values = [0.0, 0.8, 0.1, -0.2]  # the end does not show it
    with pytest.raises(sa.ParameterError, match="has changed, as a function of time"):
        problem.gradient(end, variables)


def test_a_memory_of_few_states_is_refused() -> None:
    problem, *_ = swing()
    with pytest.raises(sa.ParameterError, match="at least"):
        problem.solve(to=0.1, step=0.01, trace=sa.Trace(memory=1e3))


@pytest.mark.collective
def test_ranks_repeat_steps_alike_and_fail_alike() -> None:
    problem, end, (EI, _) = swing(4)
    comm, fails = MPI.COMM_WORLD, False

    def pull(t: float) -> float:
        if fails and comm.rank == comm.size - 1 and 0.02 < t < 0.05:
            raise ValueError("on one rank")
        return float(np.sin(9.0 * t))

    line, *_ = problem.system.bodies
    terms = [*problem.system.terms, sa.force(line.at((0.5, 0.0, 0.0)), (0.0, pull, 0.0))]
    problem = sa.DynamicProblem(sa.System(line, terms=terms))
    goal = end + (end**2).integral()
    problem.solve(to=0.1, step=0.01, trace=sa.Trace())
    known = problem.gradient(goal, [EI])[EI]
    problem.reset()
    trace = sa.Trace(comm.allreduce(memory(problem, 2), MPI.MAX))
    problem.solve(to=0.1, step=0.01, trace=trace)
    assert problem.gradient(goal, [EI])[EI] == pytest.approx(known, rel=1e-7)
    assert trace.repetitions
    fails = True
    with pytest.raises(sa.ParameterError, match="on one rank"):
        problem.gradient(goal, [EI])
    fails = False
    assert problem.gradient(goal, [EI])[EI] == pytest.approx(known, rel=1e-7)


@pytest.mark.parametrize("short", [False, True], ids=["in memory", "repeats"])
def test_a_motion_that_was_interrupted_has_the_gradient_of_its_steps(short: bool) -> None:
    problem, end, variables = swing()
    stops: list[float] = []

    def press(step: Any) -> None:
        if stops and step.time > stops[0]:
            stops.clear()
            signal.raise_signal(signal.SIGINT)

    problem.monitor(press)
    problem.solve(to=0.12, step=0.01, trace=sa.Trace())
    goal = end + (end**2).integral()
    known = problem.gradient(goal, variables)
    problem.reset()
    stops.append(0.115)
    trace = sa.Trace(memory(problem, 2)) if short else sa.Trace()
    with pytest.raises(KeyboardInterrupt):
        problem.solve(to=1.0, step=0.01, trace=trace)
    assert problem.system.time == pytest.approx(0.12, abs=1e-12)
    assert len(trace) == 13
    found = problem.gradient(goal, variables)
    assert found.value == pytest.approx(known.value, rel=1e-7)
    for v in variables:
        size = np.abs(known[v]).max()
        np.testing.assert_allclose(found[v], known[v], rtol=1e-6, atol=1e-7 * size)
    assert sa.check_gradient(problem, end, variables[:1]).passed
    assert problem.system.time == pytest.approx(0.12, abs=1e-12)
