# SPDX-License-Identifier: BSD-3-Clause
"""Static solutions one after the other with other parameters: in C as in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import symancf as sa

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symancf.arrays import Array

LOADS = [1.0, 1.02, 5.0, 5.0, -3.0, 9.0, 1e-3, 1.0]


def cantilever(
    count: int = 6, unit: float = 1.0, rods: bool = False, **options: Any
) -> tuple[sa.StaticProblem, sa.Parameter]:
    """Return a clamped line with a force at its tip, in lengths of 1/`unit` m."""
    load = sa.Parameter("P", 2.0)
    mesh = sa.Mesh.box((unit,), (count,), cell="line3" if rods else "line")
    if rods:
        section = sa.Section.circle(0.05 * unit).rod(E=1e6 / unit**2, nu=0.3)
        beam = sa.Body(
            mesh["body"],
            sa.elements.ancf_rod,
            sa.energies.rod(),
            direction=lambda X: np.tile((0.0, 1.0, 0.0), (len(X), 1)),
            **section,
        )
        force: Any = (0.0, lambda t: -t * load.value, 0.0)
    else:
        beam = sa.Body(
            mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), EA=1e4, EI=unit**2
        )
        force = (0.0, load, 0.0)
    system = sa.System(beam, terms=[sa.fix(beam["x0"]), sa.force(beam["x1"], force)])
    return sa.StaticProblem(system, options=options), load


def solved(
    problem: sa.StaticProblem, parameter: sa.Parameter, native: bool, values: Sequence[float]
) -> list[Any]:
    """Return counts and states, by turns, of equilibria with values of a parameter."""
    problem.solve()
    if not native:
        problem.solver.native = None
    found: list[Any] = []
    for parameter.value in values:
        problem.solve()
        step = problem.history.steps[-1]
        found.append((step.iterations, step.linear_iterations, step.unstable))
        found.append(problem.system.state.copy())
    found.append((len(problem.history.steps), problem.history.cut_backs))
    return found


def require_equal(one: list[Any], other: list[Any], size: float = 1.0) -> None:
    assert one[::2] == other[::2]
    for a, b in zip(one[1::2], other[1::2], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-11 * size)


@pytest.mark.parametrize("rods", [False, True])
@pytest.mark.parametrize("unit", [1.0, 1e3])
def test_iterations_in_c_are_those_of_python(rods: bool, unit: float) -> None:
    one, other = (
        solved(*cantilever(unit=unit, rods=rods), native, LOADS) for native in (True, False)
    )
    require_equal(one, other, unit)
    assert max(count for count, *_ in one[:-1:2]) > 3


def test_other_stiffnesses() -> None:
    found = []
    for native in (True, False):
        EI, mesh = sa.Parameter("EI", 1.0), sa.Mesh.box((1.0,), (10,))
        beam = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), EA=1e4, EI=EI)
        terms = [sa.fix(beam["x0"]), sa.force(beam["x1"], (0.0, -1.0, 0.0))]
        problem = sa.StaticProblem(sa.System(beam, terms=terms))
        found.append(solved(problem, EI, native, [1.01, 1.01 + 1e-6, 30.0, 0.3, 1e3, 1.0]))
    require_equal(*found)


def test_c_makes_the_iterations(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, load = cantilever()
    problem.solve()
    assert problem.solver.native is not None
    monkeypatch.setattr(problem.solver.equations, "find", lambda: pytest.fail("Python iterates"))
    for load.value in (2.0, 3.0, 2.5):
        problem.solve()


def test_a_failed_solution_stands_between_two_good_ones() -> None:
    found: list[Array] = []
    for native in (True, False):
        problem, load = cantilever()
        problem.solve()
        if not native:
            problem.solver.native = None
        load.value = 50.0
        problem.snes.setTolerances(max_it=2)
        with pytest.raises(sa.ConvergenceError):
            problem.solve(smallest=1.0)
        problem.snes.setTolerances(max_it=40)
        load.value = 2.5
        problem.solve()
        found += [problem.system.state.copy(), np.array([problem.history.wasted])]
        problem.reset()
        load.value = 2.1
        problem.solve()
        found.append(problem.system.state.copy())
    for a, b in zip(found[:3], found[3:], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-11)
    other, load = cantilever()
    load.value = 2.1
    other.solve()
    np.testing.assert_allclose(other.system.state, found[2], rtol=1e-9, atol=1e-10)


def test_two_problems_of_a_system_take_turns() -> None:
    problem, load = cantilever()
    other = sa.StaticProblem(problem.system)
    problem.solve()
    other.solve()
    states = []
    for load.value, turn in ((3.0, problem), (1.0, other), (3.0, other), (1.0, problem)):
        turn.solve()
        states.append(problem.system.state.copy())
    np.testing.assert_allclose(states[:2], states[2:], rtol=1e-9, atol=1e-11)
    assert np.abs(states[0] - states[1]).max() > 1e-3


def test_statics_after_a_motion() -> None:
    mesh = sa.Mesh.box((1.0,), (4,))
    beam = sa.Body(
        mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), EA=1e4, EI=1.0, rho=1.0, A=1.0
    )
    load = sa.Parameter("P", 0.1)
    terms = [sa.fix(beam["x0"]), sa.force(beam["x1"], (0.0, load, 0.0))]
    problem = sa.StaticProblem(sa.System(beam, terms=terms))
    problem.solve()
    load.value = 0.2
    problem.solve()
    expected = problem.system.state.copy()
    motion = sa.DynamicProblem(problem.system)
    motion.solve(to=problem.system.time + 0.1, step=0.01)
    load.value = 0.3
    problem.solve(to=problem.system.time)
    load.value = 0.2
    problem.solve(to=problem.system.time)
    np.testing.assert_allclose(problem.system.state, expected, rtol=1e-8, atol=1e-10)


def test_what_python_watches_python_iterates() -> None:
    problem, load = cantilever()
    problem.solve()
    seen: list[int] = []
    problem.snes.setMonitor(lambda snes, iteration, norm: seen.append(iteration))
    load.value = 2.5
    problem.solve()
    assert seen == [*range(problem.history.steps[-1].iterations + 1)]
