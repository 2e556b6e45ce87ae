# SPDX-License-Identifier: BSD-3-Clause
"""Steps of a sweep backwards in C against those in Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf.assembly.state import StatesOfSteps
from symancf.solve.dynamics.sweep import NativeSweep
from symancf.values.dependence import may_follow

Made = tuple[sa.DynamicProblem, sa.Goal, list[Any]]


def cable(unit: float = 1.0) -> Made:
    """Damped in two ways, with a density, a field and a history; `unit`: of length, in m."""
    p = {
        name: sa.Parameter(name, value)
        for name, value in {
            "rho": 1.0 / unit**3,
            "eta": 0.02 / unit,
            "g": 9.81 * unit,
            "amp": 0.2 * unit,
        }.items()
    }
    mesh = sa.Mesh.box((unit,), (3,))
    EI = sa.Field(np.array([0.5, 0.4, 0.6]) * unit**3)
    given = {"EA": 500.0 * unit, "EI": EI, "rho": p["rho"], "A": 0.1 * unit**2}
    line = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), **given)
    tip, push = line.at((unit, 0.0, 0.0)), sa.Series([0.0, 0.1, 0.4], [0.0, 0.3 * unit, 0.1 * unit])
    clamp = sa.fix(line["x0"])
    terms = [
        clamp,
        sa.gravity((0.0, 0.0, lambda t: -p["g"].value)),
        sa.force(tip, (0.0, push, lambda t: p["amp"].value * np.sin(5.0 * t))),
        sa.KelvinVoigt(line, eta=p["eta"]),
    ]
    end = sa.Goal(lambda u_a, v_a: (u_a[2] + 0.1 * v_a[1]) / unit, tip)
    force = sa.Goal(lambda F: F[2] / unit, clamp)
    goal = end + (end.integral() + 0.3 * force.at(0.1)) ** 2
    system = sa.System(line, terms=terms)
    problem = sa.DynamicProblem(system, damping=sa.Rayleigh(mass=0.3))
    return problem, goal, [*p.values(), EI, push]


def pendulum() -> Made:
    """A body with a hinge, a spring that is no symmetric one, and a controller with a state."""
    k, g = sa.Parameter("k", 3.0), sa.Parameter("g", 9.81)
    bar = sa.RigidBody.box((0.5, 0.05, 0.05), position=(0.25, 0.0, 0.0), rho=800.0)
    other = sa.RigidBody.box((0.5, 0.05, 0.05), position=(0.75, 0.0, 0.0), rho=800.0)
    left, right = bar.at((-0.25, 0.0, 0.0)), bar.at((0.25, 0.0, 0.0))
    near, tip = other.at((-0.25, 0.0, 0.0)), other.at((0.25, 0.0, 0.0))
    terms = [
        sa.joints.revolute(left, sa.ground, axis=(0.0, 1.0, 0.0)),
        sa.joints.revolute(right, near, axis=(0.0, 1.0, 0.0)),
        sa.gravity((0.0, 0.0, lambda t: -g.value)),
        sa.Potential(lambda e1_a, e1_b, *, k: k * (1 - e1_a.dot(e1_b)), right, near, k=k),
        sa.PID(lambda r_a: r_a[2], lambda v_a: v_a[2], tip, target=-0.2, kp=1.5, ki=2.0, kd=0.3),
    ]
    problem = sa.DynamicProblem(sa.System(bar, other, terms=terms))
    end = sa.Goal(lambda u_a, v_a: u_a[0] + 0.1 * v_a[2], tip)
    return problem, end + (end**2).integral(), [k, g]


def swing() -> Made:
    """A cable with a drive, and no damping."""
    mesh = sa.Mesh.box((1.0,), (3,))
    EI, amp = sa.Parameter("EI", 0.5), sa.Parameter("amp", 0.2)
    given = {"EA": 500.0, "EI": EI, "rho": 1.0, "A": 0.1}
    line = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), **given)
    tip = line.at((1.0, 0.0, 0.0))
    drive = sa.force(tip, (0.0, 0.0, lambda t: amp.value * np.sin(5.0 * t)))
    problem = sa.DynamicProblem(sa.System(line, terms=[sa.fix(line["x0"]), drive]))
    end = sa.Goal(lambda u_a: u_a[2], tip)
    return problem, end + (end**2).integral(), [EI, amp]


MODELS = {
    "swing": swing,
    "cable": cable,
    "cable in mm": lambda: cable(1e3),
    "pendulum": pendulum,
}


@pytest.mark.parametrize("which", MODELS)
def test_steps_in_c_are_those_of_python(which: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problem, goal, variables = MODELS[which]()
    made: list[int] = []
    back = NativeSweep.back

    def counted(self: NativeSweep, *args: Any) -> int:
        made.append(back(self, *args))
        return made[-1]

    monkeypatch.setattr(NativeSweep, "back", counted)
    problem.solve(to=0.3, step=0.01, stops=[0.1], trace=sa.Trace())
    found = problem.gradient(goal, variables)
    assert sum(made) > 15
    again = problem.gradient(goal, variables)
    monkeypatch.setattr(NativeSweep, "_is_able", lambda self: False)
    known = problem.gradient(goal, variables)
    assert found.value == known.value
    for v in variables:
        size = np.abs(known[v]).max()
        np.testing.assert_allclose(found[v], known[v], rtol=1e-8, atol=1e-9 * size)
        np.testing.assert_array_equal(found[v], again[v])
    problem.solve(to=0.35, step=0.01)  # forwards as if nothing had been


def test_a_state_that_a_monitor_has_changed_is_told_by_python() -> None:
    problem, goal, variables = pendulum()

    def kick(step: Any) -> None:
        if abs(step.time - 0.1) < 1e-9:
            problem.system.rate[:] *= 1.01

    problem.monitor(kick)
    problem.solve(to=0.2, step=0.01, trace=sa.Trace())
    with pytest.raises(sa.ParameterError, match=r"t = 0\.1"):
        problem.gradient(goal, variables)


@pytest.mark.parametrize("which", ["pendulum", "swing"])
def test_a_trace_of_steps_in_c_has_the_states_of_single_steps(which: str) -> None:
    problem, goal, variables = MODELS[which]()
    problem.solve(to=0.3, step=0.01)
    plain = problem.system.state.copy()
    problem.reset()
    problem.solve(to=0.3, step=0.01, trace=(trace := sa.Trace()))
    assert len(trace) == 31
    assert any(isinstance(trace.part(n)[0], StatesOfSteps) for n in range(31))
    np.testing.assert_array_equal(problem.system.state, plain)
    found = problem.gradient(goal, variables)
    problem.reset()
    problem.monitor(lambda step: None)  # lets each step be made by itself
    problem.solve(to=0.3, step=0.01, trace=(single := sa.Trace()))
    assert not any(isinstance(single.part(n)[0], StatesOfSteps) for n in range(31))
    np.testing.assert_array_equal(trace.times, single.times)
    np.testing.assert_array_equal(trace.numbers, single.numbers)
    for one, other in zip(trace, single, strict=True):
        pairs = [(one.displacement, other.displacement), *zip(one.rates, other.rates, strict=True)]
        pairs.append((one.method["auxiliary"], other.method["auxiliary"]))
        for a, b in pairs:
            np.testing.assert_array_equal(a, b)
    known = problem.gradient(goal, variables)
    for v in variables:
        size = np.abs(known[v]).max()
        np.testing.assert_allclose(found[v], known[v], rtol=1e-9, atol=1e-10 * size)


def test_states_of_steps_go_to_files_beyond_the_memory(tmp_path: Path) -> None:
    problem, goal, variables = swing()
    problem.solve(to=0.6, step=0.01, trace=sa.Trace())
    known = problem.gradient(goal, variables)
    problem.reset()
    size = 32 * len(problem.system.state)
    problem.solve(to=0.6, step=0.01, trace=(trace := sa.Trace(20 * size, tmp_path)))
    assert trace.on_disk > 40
    assert trace.bytes <= 20 * size
    found = problem.gradient(goal, variables)
    for v in variables:
        np.testing.assert_allclose(found[v], known[v], rtol=1e-11)


def test_whether_a_function_may_follow_a_parameter() -> None:
    p, q, s = sa.Parameter("p", 1.0), sa.Parameter("q", 1.0), sa.Series([0.0, 1.0], [0.0, 1.0])
    both = {"inner": [lambda t: q.value * t]}
    for function, of in (
        (lambda t: p.value * t, [p]),
        (lambda t: both["inner"][0](t), [q]),
        (lambda t: s(t) * p.value, [s, p]),
        (lambda t: 2.0 * t, []),
        (s, [s]),
    ):
        assert [v for v in (s, p, q) if may_follow(function, v)] == of
