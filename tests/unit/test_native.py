# SPDX-License-Identifier: BSD-3-Clause
"""Motions in C: the same digits as by SNES, step by step or many at once; interruptions."""

from __future__ import annotations

import math
import os
import signal
import threading
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp

import symancf as sa
from symancf.assembly import assembler
from symancf.solve.dynamics.generalized_alpha import GeneralizedAlpha
from symancf.solve.dynamics.instants import Instants
from symancf.solve.dynamics.newton import Newton
from symancf.solve.dynamics.spin import Spin
from symancf.solve.dynamics.timetable import Timetable
from symancf.values import parameter
from tests.motion import rope
from tests.refusals import refused
from tests.told import told
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


def sliding() -> sa.System:
    """A box that slides, turns and comes to rest, and a ball that bounces and begins to roll."""
    floor = sa.Plane((0, 0, 0), normal=(0, 0, 1))
    box = sa.RigidBody.box(
        (0.2, 0.1, 0.1),
        (0, 0, 0.05),
        rho=1000.0,
        velocity=(0.3, 0.1, 0),
        spin=(0, 0, 3.0),
        name="box",
    )
    ball = sa.RigidBody.sphere(
        0.05, position=(0.5, 0, 0.06), rho=800.0, velocity=(0.5, 0, 0), name="ball"
    )
    contacts = [
        sa.Contact(body, floor, mu=mu, stiffness=1e5, name=f"under {body.name}")
        for body, mu in ((box, (0.4, 0.3)), (ball, 0.2))
    ]
    return sa.System(box, ball, terms=[*contacts, WEIGHT])


def soft(shape: Any = None, **given: Any) -> sa.System:
    """A soft block that falls on a floor and bounces."""
    mesh = sa.Mesh.box((0.2, 0.1, 0.1), (2, 1, 1))
    svk = sa.energies.saint_venant_kirchhoff()
    body = sa.Body(
        mesh["body"], sa.elements.hex8, svk, E=1e6, nu=0.3, rho=1000.0, velocity=(0.5, 0, 0)
    )
    floor = shape or sa.Plane((0, 0, -0.002), normal=(0, 0, 1))
    return sa.System(body, terms=[sa.Contact(body["z0"], floor, **given), WEIGHT])


def overlapping() -> sa.System:
    """It lies in the floor a little, which is let out in eight steps, and slides."""
    return soft(sa.Plane((0, 0, 1e-3), normal=(0, 0, 1)), initial="release", mu=0.3)


def stiffening() -> sa.System:
    """It falls on a ball, and lies so deep in it that the stiffness grows within a step."""
    return soft(sa.Sphere(0.1, (0.1, 0.05, -0.101)), mu=(0.4, 0.3), penetration=2e-3)


def shot() -> sa.System:
    """A ball that is shot at another one, and would pass through it in a step."""
    ball = sa.RigidBody.sphere(0.01, position=(-0.15, 0, 0.005), rho=1000.0, velocity=(40.0, 0, 0))
    return sa.System(ball, terms=[sa.Contact(ball, sa.Sphere(0.03), stiffness=1e5), WEIGHT])


def shaken_floor() -> sa.System:
    """A box on a floor that moves to and fro, faster than friction lets it follow."""
    floor = sa.Plane(displacement=lambda t: (0.05 * math.sin(20 * t), 0, 0))
    box = sa.RigidBody.box((0.2, 0.1, 0.1), (0, 0, 0.05), rho=1000.0)
    mu = {"mu": lambda v, *, a: 0.3 + a * sp.exp(-v / 0.01), "a": 0.1}
    return sa.System(box, terms=[sa.Contact(box, floor, stiffness=1e5, **mu), WEIGHT])


def rod() -> sa.System:
    """A rod that falls on a spherical joint: each iteration predicts stresses of its sections."""
    mesh = sa.Mesh.box((1.0,), (4,), cell="line3")
    given = sa.Section.circle(0.02).rod(E=1e6, nu=0.3, rho=1000.0)
    body = sa.Body(mesh["body"], sa.elements.ancf_rod, sa.energies.rod(), **given)
    return sa.System(body, terms=[sa.joints.spherical(body.at((0, 0, 0))), WEIGHT])


def pulled() -> sa.System:
    """An arm of rods whose tendon is pulled at once: in a step of 5 ms sections turn too far."""

    def tendon(r_a: Any, e2_a: Any, r_b: Any, e2_b: Any, *, T: Any) -> Any:
        return T * ((r_b + 5e-3 * e2_b) - (r_a + 5e-3 * e2_a)).norm()

    given = sa.Section.circle(6e-3).rod(E=1e6, nu=0.49, rho=1070.0)
    arm = sa.Body(
        sa.Mesh.box((0.2,), (8,), cell="line3")["body"],
        sa.elements.ancf_rod,
        sa.energies.rod(),
        direction=lambda X: np.tile((0, 1.0, 0), (len(X), 1)),
        **given,
    )
    at = [arm.at((x, 0, 0)) for x in np.linspace(0, 0.2, 5)]
    cords = [sa.Potential(tendon, *pair, T=2.0) for pair in pairwise(at)]
    return sa.System(arm, terms=[sa.fix(arm["x0"]), *cords])


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


@pytest.mark.usefixtures("compiler_of_users")
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
        (sliding, 0.2, 2e-3, {}),
        (soft, 0.06, 1e-3, {}),
        (soft, 0.06, 1e-3, {"adaptive": True, "rtol": 1e-4}),
        (overlapping, 0.03, 1e-3, {}),
        (stiffening, 0.04, 1e-3, {}),
        (shot, 0.012, 1e-3, {}),
        (shaken_floor, 0.03, 1e-3, {}),
        (rod, 0.04, 5e-3, {}),
        (rod, 0.06, 1e-3, {}),
        (pulled, 0.06, 5e-3, {}),
        (two_parts, 0.3, 0.15, {}),
    ],
)
def test_steps_in_c_are_those_of_snes(make: Any, to: float, step: float, options: Any) -> None:
    many, one, snes = (run(make, how, to, step, **options) for how in ("many", "one", "snes"))
    for other in (one, snes):
        for name, value in many.items():
            if other is snes and "adaptive" in options:
                # lengths of steps follow estimates and the last bits, which processors differ in
                scale = 1e-6 * np.abs(value).max(initial=0.0)
                if name != "iterations":
                    np.testing.assert_allclose(other[name], value, rtol=0, atol=scale, err_msg=name)
            elif name == "sums":  # sums of products, in another order
                scale = 1e-13 * max(1.0, np.abs(value).max())
                np.testing.assert_allclose(other[name], value, rtol=1e-12, atol=scale)
            else:
                np.testing.assert_array_equal(other[name], value, err_msg=name)
    assert (step < 0.1 and make is not pulled) or many["counts"][2] > 0  # cut-backs


@pytest.mark.usefixtures("compiler_of_users")
def test_c_judges_iterations_near_round_off(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    judge = Newton.judge

    def counted(newton: Newton, *given: Any) -> int:
        asked.append(newton.native.able)
        return judge(newton, *given)

    monkeypatch.setattr(Newton, "judge", counted)
    for make, to, step in ((controlled, 0.1, 2e-3), (soft, 0.1, 2e-3)):
        before = len(asked)
        many = run(make, "many", to, step)
        assert len(asked) == before
        snes = run(make, "snes", to, step)
        assert len(asked) > before  # Python had to say
        np.testing.assert_array_equal(many["state"], snes["state"])
    assert not any(asked)


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

    assert not moved(up=False)._newton.kinked
    assert moved(up=True)._newton.kinked


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

    was = assembler.evaluate
    problem = sa.DynamicProblem(driven(), spectral_radius=0.8)
    problem.solve(to=1e-3, step=1e-3)
    monkeypatch.setattr(assembler, "evaluate", evaluate)
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


def swung(angle: Any) -> sa.System:
    """A flexible arm on a hub whose angle is prescribed; its node is not at the origin."""
    hub = sa.PlanarBody(position=(0.0, 0.0, 0.0), mass=1.0, inertia=0.1, name="hub")
    arm = sa.PlanarBody(position=(0.3, 0.0, 0.0), mass=1.0, inertia=0.1, name="arm")
    turn = sa.fix(hub, displacement=[lambda t: 0.01 * t * t, 0.0, angle])
    pin = sa.joints.revolute(hub.at((0.3, 0.0)), arm.at((0.0, 0.0)))
    return sa.System(hub, arm, terms=[turn, pin, sa.gravity((0.0, -9.81, 0.0))])


def test_functions_of_time_are_sampled_for_many_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five values of what is prescribed for each step, and one in its middle."""
    made: list[float] = []
    step = GeneralizedAlpha.step
    monkeypatch.setattr(GeneralizedAlpha, "step", lambda *of: (made.append(of[1]), step(*of))[1])
    asked: list[float] = []

    def angle(t: float) -> float:
        asked.append(t)
        return math.sin(t) ** 2

    rows: list[int] = []
    sample = Timetable.sample

    def sampled(table: Timetable, *given: Any) -> None:
        sample(table, *given)
        rows.append(len(table._table))

    monkeypatch.setattr(Timetable, "sample", sampled)
    problem = sa.DynamicProblem(swung(angle))
    problem.solve(to=1.0, step=1e-3)
    assert not made  # the first and the last one are of C, too
    assert max(rows) == 256
    assert rows[0] < 32  # nobody knows yet how many steps there will be
    assert len(asked) <= 7.5 * sum(rows)  # a busy machine ends calls of C, which wastes rows
    assert problem.system.bodies[0].position(problem.system)[2] == pytest.approx(angle(1.0))


def test_a_function_of_time_may_read_the_motion() -> None:
    """A spring in Python: it is asked at each step, and its force is not of a state long ago."""

    def pulled(how: str) -> float:
        ball = sa.RigidBody(
            mass=1.0, inertia=(1.0, 1.0, 1.0), name="ball", velocity=(1.0, 0.0, 0.0)
        )
        middle, found = ball.at((0.0, 0.0, 0.0)), list[sa.System]()

        def pull(t: float) -> float:
            return -100.0 * float(found[0].position(middle)[0, 0])

        found.append(sa.System(ball, terms=[sa.force(middle, (pull, 0.0, 0.0))]))
        problem = sa.DynamicProblem(found[0], options=BY_SNES if how == "snes" else {})
        problem.solve(to=1.0, step=1e-3)
        return float(found[0].position(middle)[0, 0])

    assert pulled("many") == pulled("snes") == pytest.approx(0.1 * math.sin(10.0), abs=0.01)


@pytest.mark.parametrize("how", ["many", "one"])
def test_an_error_of_what_is_prescribed_ends_at_the_last_step(how: str) -> None:
    def angle(t: float) -> float:
        return 2.0 * t * t if t < 0.0506 else math.sqrt(-t)

    problem = sa.DynamicProblem(swung(angle))
    if how == "one":
        problem.monitor(lambda step: None)
    with refused(sa.ParameterError, asked="theta"):
        problem.solve(to=0.1, step=1e-3)
    assert problem.system.time == pytest.approx(0.05)
    assert len(problem.history.steps) == 50
    assert problem.system.bodies[0].position(problem.system)[2] == pytest.approx(0.005)


@pytest.mark.parametrize("how", ["many", "one"])
def test_a_jump_of_what_is_prescribed_is_told_once_with_its_step(how: str) -> None:
    problem = sa.DynamicProblem(swung(lambda t: 2.0 * t * t if t < 0.0505 else 0.2 * t))
    if how == "one":
        problem.monitor(lambda step: None)
    with told(match=r"between t = 0.05 and 0.051") as found:
        problem.solve(to=0.1, step=1e-3)
    assert len(found) == 1


def test_a_run_that_ended_within_sampled_steps_goes_on_with_the_same_bits(
    tmp_path: Path,
) -> None:
    def end(file: str, *signals: int) -> Any:
        waiting = [*signals]

        def angle(t: float) -> float:
            if waiting and t > 0.045:
                signal.raise_signal(waiting.pop())
            return 0.5 * math.sin(3.0 * t) ** 2

        problem = sa.DynamicProblem(swung(angle))
        problem.solve(to=0.2, step=1e-3, checkpoint=sa.Restart(tmp_path / file, every=30))
        return problem.system.state.copy()

    with pytest.raises(sa.Suspended):
        end("parts", signal.SIGUSR1)
    np.testing.assert_array_equal(end("parts"), end("whole"))


def recorded(how: str, every: int = 1) -> sa.DynamicProblem:
    """The arm on the driven hub, of which much is recorded."""
    system = swung(lambda t: 0.5 * math.sin(3.0 * t) ** 2)
    problem = sa.DynamicProblem(system, damping=sa.Rayleigh(mass=0.5))
    arm = system.bodies[1]
    turn, pin = system.terms[:2]
    if how == "one":
        problem.monitor(lambda step: None)
    problem.record("tip", arm.at((0.2, 0.1)), every=every)
    problem.record("turn", turn)
    problem.record("pin", pin, every=3)
    problem.record("total", lambda: problem.energies.total)
    problem.record("work", lambda: [problem.energies.work, problem.energies.dissipated])
    problem.record("numbers", lambda: [system.time, problem.steps, len(problem.history.steps)])
    problem.record("rates", lambda: np.concatenate([system.rate, problem.acceleration]), every=7)
    for end in (0.05, 0.2):
        problem.solve(to=end, step=1e-3)
    return problem


@pytest.mark.parametrize("every", [1, 5])
def test_what_is_recorded_is_that_of_each_step(every: int, monkeypatch: pytest.MonkeyPatch) -> None:
    one = recorded("one", every)
    made: list[float] = []
    step = GeneralizedAlpha.step
    monkeypatch.setattr(GeneralizedAlpha, "step", lambda *of: (made.append(of[1]), step(*of))[1])
    many = recorded("many", every)
    assert len(made) <= 4
    assert list(many.history) == list(one.history)
    for name in many.history:
        np.testing.assert_array_equal(many.history.times(name), one.history.times(name))
        close = 1e-12 if name == "work" else 0.0  # sums of products, in another order
        values = many.history[name], one.history[name]
        np.testing.assert_allclose(*values, rtol=close, atol=0.1 * close, err_msg=name)


def test_instants_of_one_call_take_four_megabytes(monkeypatch: pytest.MonkeyPatch) -> None:
    instants: list[int] = []
    begin = Instants.begin
    monkeypatch.setattr(
        Instants, "begin", lambda of, due: (instants.append(len(due)), begin(of, due))
    )
    problem = sa.DynamicProblem(two_parts())
    problem.record("tip", problem.system.bodies[0]["tip"])
    problem.solve(to=0.3, step=1e-4)
    size = 5 * 8 * len(problem.acceleration)
    assert problem.steps * size > 2**22
    assert 0.9 * 2**22 < max(instants) * size <= 2**22


@pytest.mark.parametrize("how", ["many", "one"])
def test_an_error_of_what_is_recorded_leaves_its_step(how: str) -> None:
    system = two_parts()
    problem = sa.DynamicProblem(system)
    if how == "one":
        problem.monitor(lambda step: None)

    def seen() -> float:
        if problem.steps == 37:
            raise ZeroDivisionError("boom")
        return system.time

    problem.record("now", seen)
    problem.record("tip", system.bodies[0]["tip"])
    with pytest.raises(ZeroDivisionError):
        problem.solve(to=0.1, step=1e-3)
    assert (problem.steps, len(problem.history.steps)) == (37, 37)
    assert system.time == pytest.approx(0.037)
    assert len(problem.history["now"]) == len(problem.history["tip"]) == 37
    problem.solve(to=0.1, step=1e-3)
    other = sa.DynamicProblem(two_parts())
    other.solve(to=0.1, step=1e-3)
    np.testing.assert_allclose(system.state, other.system.state, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("acts", ["parameter", "list", "state"])
def test_what_is_recorded_may_act(acts: str) -> None:
    """A brake that is set where something is recorded, and one that a function of time reads."""

    def stops(how: str) -> tuple[Any, float]:
        ball = sa.RigidBody(
            mass=1.0, inertia=(1.0, 1.0, 1.0), name="ball", velocity=(1.0, 0.0, 0.0)
        )
        middle, found = ball.at((0.0, 0.0, 0.0)), [0.0]
        brake = sa.Parameter("brake", 0.0)
        force: Any = {"parameter": brake, "list": lambda t: found[-1], "state": 0.0}[acts]
        system = sa.System(ball, terms=[sa.force(middle, (force, 0.0, 0.0))])
        problem = sa.DynamicProblem(system)
        if how == "one":
            problem.monitor(lambda step: None)

        def place() -> float:
            x = float(system.position(middle)[0, 0])
            brake.value = -2.0 if x > 0.1 else 0.0
            found.append(brake.value)
            if acts == "state" and problem.steps == 100:
                system.rate *= 0.5
            return x

        problem.record("x", place)
        problem.solve(to=0.5, step=1e-3)
        return problem.history["x"].copy(), problem.energies.work

    (many, work), (one, same) = stops("many"), stops("one")
    assert one[-1] < 0.45
    np.testing.assert_allclose(many, one, rtol=1e-10)
    assert work == pytest.approx(same, rel=1e-9)


def held_frame() -> sa.System:
    """A rigid body that a support turns, and a weight on it by two joints."""

    def turn(t: float) -> Any:
        c, s = math.cos(t * t), math.sin(t * t)
        return [[c - 1.0, -s, 0.0], [s, c - 1.0, 0.0], [0.0, 0.0, 0.0]]

    hand = sa.RigidBody.box((0.2, 0.1, 0.1), rho=1000.0, name="hand")
    tool = sa.RigidBody.box((0.2, 0.1, 0.1), position=(0.2, 0, 0), rho=1000.0, name="tool")
    hold = sa.fix(hand, displacement=lambda t: (0.1 * t**3, 0.0, 0.0), gradient=turn)
    wrist = sa.joints.revolute(tool.at((-0.1, 0, 0)), hand.at((0.1, 0, 0)), axis=(0, 1, 0.5))
    return sa.System(hand, tool, terms=[hold, wrist, WEIGHT])


@pytest.mark.parametrize("make", [two_parts, turned, shaken, held_frame])
def test_reactions_of_many_steps_are_those_of_each(make: Any) -> None:
    def histories(how: str) -> sa.History:
        system = make()
        problem = sa.DynamicProblem(system, damping=sa.Rayleigh(mass=0.5))
        if how == "one":
            problem.monitor(lambda step: None)
        for number, term in enumerate(system.terms):
            if hasattr(type(term), "series"):
                problem.record(f"{number}", term)
        return problem.solve(to=0.1, step=2e-3)

    many, one = histories("many"), histories("one")
    assert len(list(many)) >= 1
    for name in many:
        size = np.abs(one[name]).max()
        np.testing.assert_allclose(many[name], one[name], rtol=0, atol=1e-13 * size, err_msg=name)


@pytest.mark.parametrize("calls", [False, True])
def test_records_of_a_contact_are_those_of_each_step(calls: bool) -> None:
    """Forces of contacts follow from what these remember, at each step; places do not."""

    def histories(how: str) -> sa.History:
        system = sliding()
        box, touch = system.bodies[0], system.terms[0]
        moving = {"velocity": (0.3, 0.1, 0.0), "spin": (0.0, 0.0, 3.0)}
        hinge = sa.RigidBody.box((0.1, 0.1, 0.1), (0, 0, 0.15), rho=100.0, name="top", **moving)
        joint = sa.joints.revolute(hinge.at((0, 0, -0.05)), box.at((0, 0, 0.05)), axis=(0, 0, 1))
        system = sa.System(*system.bodies, hinge, terms=[*system.terms, joint])
        problem = sa.DynamicProblem(system)
        if how == "one":
            problem.monitor(lambda step: None)
        problem.record("box", box.at((0.1, 0.05, -0.05)))
        problem.record("joint", joint, every=2)
        if calls:
            problem.record("touch", touch)
            problem.record("lost", lambda: problem.energies.dissipated)
        return problem.solve(to=0.1, step=1e-3)

    many, one = histories("many"), histories("one")
    for name in many:
        size = np.abs(one[name]).max()
        np.testing.assert_allclose(many[name], one[name], rtol=0, atol=1e-12 * size, err_msg=name)


def test_a_run_goes_on_with_the_same_bits_from_where_it_was_saved(tmp_path: Path) -> None:
    def moving() -> sa.DynamicProblem:
        return sa.DynamicProblem(swung(lambda t: 0.5 * math.sin(3.0 * t) ** 2))

    whole = moving()

    def saved() -> float:
        if whole.steps == 37:
            whole.save(tmp_path / "at")
        return whole.system.time

    whole.record("now", saved)
    whole.solve(to=0.2, step=1e-3)
    part = moving()
    part.restore(tmp_path / "at")
    assert part.system.time == pytest.approx(0.037)
    part.solve(to=0.2, step=1e-3)
    np.testing.assert_array_equal(part.system.state, whole.system.state)
    assert len(whole.history["now"]) == 201
