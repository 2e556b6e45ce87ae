# SPDX-License-Identifier: BSD-3-Clause
"""Motions in C: the same digits as by SNES, step by step or many at once; interruptions."""

from __future__ import annotations

import math
import os
import signal
import threading
from typing import Any

import numpy as np
import pytest
import sympy as sp

import symancf as sa
from symancf.assembly import plan
from symancf.solve.dynamics.spin import Spin
from symancf.values import parameter
from tests.motion import rope
from tests.refusals import refused
from tests.unit.test_incompressible import beam

WEIGHT = sa.gravity((0.0, 0.0, -9.81))
BY_SNES = {"snes_max_funcs": 10_000}  # PETSc's default: any option of SNES but its tolerances


def two_parts() -> sa.System:
    """A cable on a joint and a stiffer one on a support; nothing joins them."""
    body, other = rope(3), rope(2, EA=5e4, EI=1e-3, name="other")
    pin = sa.joints.spherical(body.at((0, 0, 0)), sa.ground, name="pin")
    return sa.System(body, other, terms=[pin, sa.fix(other["root"], dofs="position"), WEIGHT])


def driven() -> sa.System:
    """A cable that is pushed to and fro, with viscosity."""
    body = rope(3)
    held = sa.fix(body["root"], dofs="position")
    push = sa.force(body["tip"], (lambda t: math.sin(30.0 * t), 0.0, sa.Parameter("P", 0.3)))
    return sa.System(body, terms=[held, WEIGHT, push, sa.KelvinVoigt(body, eta=1e3, I=1e-7)])


def shaken() -> sa.System:
    """A cable whose support moves."""
    body = rope(3)
    up: Any = (0.0, 0.0, lambda t: 0.02 * math.sin(20.0 * t) ** 2)
    return sa.System(body, terms=[sa.fix(body["root"], dofs="position", displacement=up), WEIGHT])


def controlled() -> sa.System:
    """A mass that a controller with a state of first order holds."""
    block = sa.RigidBody.box((0.1, 0.1, 0.1), rho=1000.0, name="block")

    def place(r_a: Any) -> Any:
        return r_a[0]

    def push(v_a: Any) -> Any:
        return v_a[0]

    gains = {"kp": 40.0, "ki": 20.0, "kd": 4.0}
    target = {"target": lambda t: 0.1 * math.sin(t)}
    return sa.System(block, terms=[sa.PID(place, push, block.at((0, 0, 0)), **target, **gains)])


def incompressible() -> sa.System:
    """A soft beam with a pressure at its corners that falls."""
    return beam("tet10", "continuous", math.inf)[0].system


def turned() -> sa.System:
    """A rigid body on a hinge that is driven, and one that hangs on it."""
    arm, end = (
        sa.RigidBody.box(
            (0.5, 0.1, 0.1), position=(0.25 + 0.5 * k, 0.0, 0.0), rho=1000.0, name=f"arm {k}"
        )
        for k in range(2)
    )
    shoulder = arm.at((-0.25, 0.0, 0.0))
    hinge = sa.joints.revolute(shoulder, axis=(0.0, 1.0, 0.0))
    drive = sa.joints.rotation(shoulder, angle=lambda t: 1.5 * t**2, axis=(0.0, 1.0, 0.0))
    elbow = sa.joints.spherical(arm.at((0.25, 0.0, 0.0)), end.at((-0.25, 0.0, 0.0)))
    return sa.System(arm, end, terms=[hinge, drive, elbow, WEIGHT])


def spinning() -> sa.System:
    """Two bodies on hinges that turn by 3.4 degrees in a step of 1 ms."""
    arm, end = (
        sa.RigidBody.box(
            (0.5, 0.1, 0.1),
            position=(0.25 + 0.5 * k, 0.0, 0.0),
            rho=1000.0,
            name=f"arm {k}",
            velocity=(0.0, 0.0, -60.0 * (0.25 + 0.5 * k)),
            spin=(0.0, 60.0, 0.0),
        )
        for k in range(2)
    )
    shoulder = sa.joints.revolute(arm.at((-0.25, 0.0, 0.0)), sa.ground, axis=(0.0, 1.0, 0.0))
    elbow = sa.joints.revolute(
        arm.at((0.25, 0.0, 0.0)), end.at((-0.25, 0.0, 0.0)), axis=(0.0, 1.0, 0.0)
    )
    return sa.System(arm, end, terms=[shoulder, elbow, WEIGHT])


def rod() -> sa.System:
    """A rod that falls on a spherical joint: each iteration predicts stresses of its sections."""
    mesh = sa.Mesh.box((1.0,), (4,), cell="line3")
    given = sa.Section.circle(0.02).rod(E=1e6, nu=0.3, rho=1000.0)
    body = sa.Body(mesh["body"], sa.elements.ancf_rod, sa.energies.rod(), **given)
    return sa.System(body, terms=[sa.joints.spherical(body.at((0, 0, 0))), WEIGHT])


def run(make: Any, how: str, to: float, step: float, **options: Any) -> dict[str, Any]:
    """Move twice; `how`: many steps at once, one at a time in C, or by SNES."""
    system = make()
    given = BY_SNES if how == "snes" else {}
    problem = sa.DynamicProblem(
        system, spectral_radius=0.8, options=given, damping=sa.Rayleigh(mass=0.5)
    )
    seen: list[float] = []
    if how != "many":
        problem.monitor(lambda step: seen.append(step.time))
    problem.record("u", lambda: system.state.copy(), every=7)
    for end in (0.5 * to, to):
        problem.solve(to=end, step=step, **options)
    assert problem.native == (how != "snes")
    assert how == "many" or len(seen) == problem.steps + 2
    energies, history = problem.energies, problem.history
    return {
        "state": system.state.copy(),
        "rate": system.rate.copy(),
        "acceleration": problem.acceleration.copy(),
        "series": history["u"].copy(),
        "times": history.time.copy(),
        "iterations": [(s.iterations, s.linear_iterations) for s in history.steps],
        "counts": (problem.steps, problem._renewals, history.cut_backs),
        "sums": [energies.work, energies.dissipated, energies.drift],
    }


@pytest.mark.parametrize(
    ("make", "to", "step", "options"),
    [
        (two_parts, 0.2, 2e-3, {}),
        (driven, 0.2, 2e-3, {}),
        (driven, 0.2, 2e-3, {"adaptive": True, "rtol": 1e-5}),
        (shaken, 0.2, 2e-3, {}),
        (controlled, 1.0, 1e-2, {}),
        (incompressible, 0.1, 1e-2, {}),
        (turned, 0.3, 1e-2, {}),
        (spinning, 0.04, 1e-3, {}),
        (rod, 0.04, 5e-3, {}),
        (two_parts, 0.3, 0.15, {}),
    ],
)
def test_steps_in_c_are_those_of_snes(make: Any, to: float, step: float, options: Any) -> None:
    many, one, snes = (run(make, how, to, step, **options) for how in ("many", "one", "snes"))
    for other in (one, snes):
        for name, value in many.items():
            if name == "sums":  # sums of products, in another order
                scale = 1e-13 * max(1.0, np.abs(value).max())
                np.testing.assert_allclose(other[name], value, rtol=1e-12, atol=scale)
            else:
                np.testing.assert_array_equal(other[name], value, err_msg=name)
    assert step < 0.1 or many["counts"][2] > 0  # cut-backs


def test_who_looks_at_iterations_sees_those_of_snes() -> None:
    problem = sa.DynamicProblem(driven(), options={"snes_rtol": 1e-9})
    problem.solve(to=0.01, step=1e-3)
    assert problem.native
    seen: list[int] = []
    problem.snes.setMonitor(lambda snes, iteration, norm: seen.append(iteration))
    problem.solve(to=0.02, step=1e-3)
    assert not problem.native
    assert len(seen) > 10
    problem = sa.DynamicProblem(driven(), prefix="updated_", options={"snes_max_it": 2**31 - 1})
    problem.solve(to=2e-3, step=1e-3)
    assert problem.native
    updates: list[int] = []
    problem.snes.setUpdate(lambda snes, iteration: updates.append(iteration))
    problem.solve(to=4e-3, step=1e-3)
    assert len(updates) > 2
    stiff = sa.DynamicProblem(driven(), damping=sa.Rayleigh(stiffness=1e-4))
    stiff.solve(to=2e-3, step=1e-3)
    assert not stiff.native


def test_a_parameter_that_changes_between_runs_is_seen() -> None:
    def tips(how: str) -> Any:
        body, P = rope(2), sa.Parameter("P", 0.0)
        held = sa.fix(body["root"], dofs="position")
        system = sa.System(body, terms=[held, sa.force(body["tip"], (0.0, 0.0, P))])
        problem = sa.DynamicProblem(system, options=BY_SNES if how == "snes" else {})
        found = []
        for force in (0.0, 1.0, -2.0):
            P.value = force
            problem.solve(to=system.time + 0.02, step=1e-3)
            found.append(system.state.copy())
        return found

    many = tips("many")
    assert np.abs(many[1]).max() > 1e-4 > np.abs(many[0]).max()
    np.testing.assert_array_equal(many, tips("snes"))


def test_a_kink_in_time_is_none_of_forces() -> None:
    def moved(*, up: bool) -> sa.DynamicProblem:
        def turned(e1_a: Any, t: Any) -> Any:
            angle = sp.Piecewise((t**2, t < 0.01), (0.02 * t - 1e-4, True))
            height = sp.Piecewise((0, e1_a[2] < 1.0), (e1_a[2] - 1.0, True)) if up else 0
            return e1_a[2] * sp.cos(angle) + e1_a[0] * sp.sin(angle) + height

        body = rope(2)
        held = sa.fix(body["root"], dofs="position")
        problem = sa.DynamicProblem(
            sa.System(body, terms=[held, sa.Constraint(turned, body["root"])])
        )
        problem.solve(to=0.02, step=1e-3)
        return problem

    assert moved(up=False).native
    assert not moved(up=True).native


def test_an_interruption_reaches_steps_in_one_call_and_one_may_go_on() -> None:
    def pendulum() -> sa.DynamicProblem:
        body = rope(2)
        system = sa.System(body, terms=[sa.fix(body["root"], dofs="position"), WEIGHT])
        return sa.DynamicProblem(system)

    problem = pendulum()
    problem.solve(to=0.01, step=1e-3)
    # jobs in the background ignore SIGINT, and so does what they start
    signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        problem.solve(to=1e4, step=1e-3)
    reached, history = problem.system.time, problem.history
    assert 0.05 < reached < 1e3
    assert reached == history.time[-1] == history.steps[-1].time
    assert problem.steps == len(history.steps) == len(history.time) - 1
    assert np.isfinite(problem.system.state).all()
    problem.solve(to=reached + 5e-3, step=1e-3)
    assert problem.system.time == reached + 5e-3


def test_an_error_of_a_function_of_time_ends_at_the_last_step() -> None:
    def push(t: float) -> float:
        if t > 0.0505:
            raise ZeroDivisionError("boom")
        return t

    body = rope(2)
    held = sa.fix(body["root"], dofs="position")
    load = sa.force(body["tip"], (push, 0.0, 0.0))
    problem = sa.DynamicProblem(sa.System(body, terms=[held, load]))
    with refused(sa.ParameterError, asked="x", given="ZeroDivisionError('boom')"):
        problem.solve(to=0.1, step=1e-3)
    assert problem.system.time == pytest.approx(0.05)
    assert len(problem.history.steps) == 50


def test_values_that_do_not_change_are_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gravity has three numbers; of the push one component is a function, one a Parameter."""
    asked: list[Any] = []

    def evaluate(name: str, value: Any, time: float) -> float:
        asked.append(value)
        return was(name, value, time)

    was = plan.evaluate
    problem = sa.DynamicProblem(driven(), spectral_radius=0.8)
    problem.solve(to=1e-3, step=1e-3)
    monkeypatch.setattr(plan, "evaluate", evaluate)
    problem.solve(to=2e-3, step=1e-3)
    assert asked
    assert not any(parameter.is_number(value) for value in asked)


@pytest.mark.parametrize(("speed", "least", "most"), [(1.0, 0, 10), (60.0, 190, 200)])
def test_python_makes_only_steps_in_which_rigid_bodies_turn_far(
    speed: float, least: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An arm on a hinge, 200 steps of 1 ms: beyond 2.7 degrees a step Python settles its rates."""
    start = {"velocity": (0.0, 0.0, -0.25 * speed), "spin": (0.0, speed, 0.0)}
    arm = sa.RigidBody.box((0.5, 0.1, 0.1), rho=1000.0, name="arm", **start)
    hinge = sa.joints.revolute(arm.at((-0.25, 0.0, 0.0)), sa.ground, axis=(0.0, 1.0, 0.0))
    problem = sa.DynamicProblem(sa.System(arm, terms=[hinge, WEIGHT]), spectral_radius=0.9)
    calls: list[float] = []
    settle = Spin.settle
    monkeypatch.setattr(Spin, "settle", lambda *given: (calls.append(1.0), settle(*given)))
    problem.solve(to=0.2, step=1e-3)
    assert problem.steps == 200
    assert least <= len(calls) <= most
