# SPDX-License-Identifier: BSD-3-Clause
"""Gradients of goals of motions, by the sweep backwards, against differences of motions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symancf as sa

pytestmark = pytest.mark.collective

EXACT: Any = {"snes_rtol": 1e-13, "snes_stol": 1e-15}


class Case:
    """A motion with parameters and a goal."""

    end: sa.Goal
    place: Any

    def __init__(
        self,
        bodies: Sequence[Any],
        terms: Sequence[Any],
        goal: sa.Goal,
        variables: Sequence[Any],
        **problem: Any,
    ) -> None:
        self.problem = sa.DynamicProblem(sa.System(*bodies, terms=terms), options=EXACT, **problem)
        self.goal, self.variables = goal, list(variables)
        self.before = [self.value_of(v) for v in self.variables]

    @staticmethod
    def value_of(variable: Any) -> Any:
        several = isinstance(variable, sa.Field | sa.Series)
        return variable.values if several else variable.value

    def at(self, h: float, directions: Sequence[Any], **solve: Any) -> float:
        """Return the goal of a motion beside, along directions of all parameters."""
        self.problem.reset()
        for variable, value, d in zip(self.variables, self.before, directions, strict=True):
            if isinstance(variable, sa.Field | sa.Series):
                variable.values = value + h * d
            else:
                variable.value = value + h * d
        self.problem.solve(trace=sa.Trace(), **solve)
        return self.problem.value(self.goal)

    def check(self, rel: float = 1e-7, h: float = 2e-3, **solve: Any) -> Any:
        """Compare derivatives with differences of order 4, each along a direction of all."""
        self.problem.solve(trace=sa.Trace(), **solve)
        found = self.problem.gradient(self.goal, self.variables)
        random = np.random.default_rng(1)
        scales = [np.where(value == 0.0, 1.0, value) for value in self.before]
        directions = [s * random.uniform(0.5, 1.0, np.shape(s)) for s in scales]
        places = ((-2, 1), (-1, -8), (1, 8), (2, -1))
        known = sum(w * self.at(k * h, directions, **solve) for k, w in places) / (12.0 * h)
        parts = [
            float(np.sum(np.asarray(found[v]) * d))
            for v, d in zip(self.variables, directions, strict=True)
        ]
        assert min(map(abs, parts)) > 1e-6 * max(map(abs, parts))  # all of them count
        assert sum(parts) == pytest.approx(known, rel=rel)
        return found


def parameters(**values: float) -> dict[str, sa.Parameter]:
    return {name: sa.Parameter(name, value) for name, value in values.items()}


@pytest.mark.collective(rows=0)
def test_free_fall_has_its_closed_form() -> None:
    ball = sa.RigidBody.sphere(0.1, position=(0.0, 0.0, 0.0), rho=1000.0, velocity=(0.0, 0.0, 3.0))
    weight = sa.Parameter("weight", -10.0)
    problem = sa.DynamicProblem(sa.System(ball, terms=[sa.gravity((0.0, 0.0, weight))]))
    problem.solve(to=2.0, step=0.25, trace=sa.Trace())
    middle = ball.at((0.0, 0.0, 0.0))
    height, speed = sa.Goal(lambda u_a: u_a[2], middle), sa.Goal(lambda v_a: v_a[2], middle)
    found = problem.gradient(height + speed.at(1.0), [weight])
    assert found.value == pytest.approx(6.0 - 20.0 + 3.0 - 10.0, rel=1e-12)
    assert found[weight] == pytest.approx(2.0 + 1.0, rel=1e-12)
    assert found.rate is not None
    total = problem.system.comm.allreduce(float(found.rate[2::3].sum()))
    assert total == pytest.approx(2.0 + 1.0, rel=1e-9)  # all of its points with 1 m/s more
    assert problem.gradient(height.integral(), [weight])[weight] == pytest.approx(
        (sum(t * t for t in np.arange(0.25, 2.0, 0.25)) + 2.0) / 8.0, rel=1e-12
    )


def test_a_fall_that_ends_at_a_floor_has_its_closed_form() -> None:
    p = parameters(weight=-10.0, up=3.0, floor=-2.0)
    up, weight = (0.0, 0.0, p["up"]), (0.0, 0.0, p["weight"])
    ball = sa.RigidBody.sphere(0.1, position=(0.0, 0.0, 0.0), rho=1000.0, velocity=up)
    problem = sa.DynamicProblem(sa.System(ball, terms=[sa.gravity(weight)]))
    middle = ball.at((0.0, 0.0, 0.0))
    height = sa.Goal(lambda u_a: u_a[2], middle)
    above = sa.Goal(lambda u_a, *, floor: u_a[2] - floor, middle, floor=p["floor"])
    times = problem.event(above, terminate=True)
    problem.solve(to=2.0, step=0.03, trace=sa.Trace())
    assert times == [pytest.approx(1.0, rel=1e-12)]
    time = sa.Goal(lambda t: t, middle)
    speed = sa.Goal(lambda v_a: v_a[2], middle)
    by_time = {"weight": 1 / 14, "up": 1 / 7, "floor": -1 / 7}  # -g_p / v, v = -7
    by_speed = {"weight": 1 - 10 / 14, "up": 1 - 10 / 7, "floor": 10 / 7}
    by_height = {"weight": 0.0, "up": 0.0, "floor": 1.0}
    by_early = {"weight": 0.5 * 0.3**2, "up": 0.3, "floor": 0.0}  # times that are given stay
    every = {time: by_time, speed: by_speed, height: by_height, height.at(0.3): by_early}
    for goal, known in every.items():
        found = problem.gradient(goal, [*p.values()])
        for name, parameter in p.items():
            assert found[parameter] == pytest.approx(known[name], rel=1e-8, abs=1e-10)
    for found in problem.sensitivity([*p.values()], of=[time]):
        for name, parameter in p.items():
            assert found[parameter] == pytest.approx(by_time[name], rel=1e-8)
    found = problem.gradient(height.integral(), [p["floor"]])
    assert found[p["floor"]] == pytest.approx(2.0 / 7.0, rel=1e-3)  # J_t = -2, by trapezoids


@pytest.mark.collective(rows=0)
def test_an_event_at_the_end_of_a_step_tells_how_near_it_is() -> None:
    up, weight = sa.Parameter("up", 3.0), -10.0
    ball = sa.RigidBody.sphere(0.1, position=(0.0, 0.0, 0.0), rho=1000.0, velocity=(0.0, 0.0, up))
    problem = sa.DynamicProblem(sa.System(ball, terms=[sa.gravity((0.0, 0.0, weight))]))
    middle = ball.at((0.0, 0.0, 0.0))
    problem.event(sa.Goal(lambda u_a: u_a[2] + 2.0, middle), terminate=True)  # at t = 1
    time = sa.Goal(lambda t: t, middle)
    for step, distance in ((0.16, 0.25), (1 / 7.999, 1e-3)):
        problem.reset()
        problem.solve(to=2.0, step=step, trace=sa.Trace())
        assert problem.gradient(time, [up]).switch == pytest.approx(distance, rel=1e-3)
    assert "as near as 1.0e-03" in str(sa.check_gradient(problem, time, [up]))
    problem.reset()
    problem.solve(to=2.0, step=0.125, trace=sa.Trace())
    with pytest.warns(UserWarning, match="at the end of a step"):
        problem.gradient(time, [up])


@pytest.mark.parametrize("unit", [1.0, 1e3], ids=["m", "mm"])
def test_a_pendulum_that_ends_at_the_vertical(unit: float) -> None:
    """Its rates are taken to the hinge there; the time is a quarter of a period."""
    p = parameters(g=10.0 * unit, spring=0.0)
    mass, long = 1.0, 2.0 * unit
    rod = sa.RigidBody(
        position=(0.5 * long, 0.0, 0.0),
        mass=mass,
        inertia=np.diag([0.01, 1 / 12, 1 / 12]) * mass * long**2,
    )
    tip = rod.at((0.5 * long, 0.0, 0.0))
    terms = [
        sa.joints.revolute(rod.at((-0.5 * long, 0.0, 0.0)), axis=(0, 1, 0)),
        sa.gravity((0.0, 0.0, lambda t: -p["g"].value)),
        sa.Potential(lambda u_a, *, k: k * u_a[1] * unit + k * u_a[0] * unit, tip, k=p["spring"]),
    ]
    below = sa.Goal(lambda r_a: r_a[0] / unit, tip)
    time = sa.Goal(lambda t: t, tip)
    speed = sa.Goal(lambda v_a: v_a[0] / unit, tip)
    case = Case([rod], terms, time + 0.1 * speed + below.integral(), [*p.values()])
    times = case.problem.event(below, direction=-1, terminate=True)
    quarter = np.sqrt(2 / 15) * 1.854074677  # sqrt(l / g) K(sin 45 degrees), l = 4/3
    found = case.check(to=2.0, step=0.041, rel=1e-8)
    case.at(0.0, [1.0, 1.0], to=2.0, step=0.041)
    assert times[0] == times[-1] == pytest.approx(quarter, rel=4e-3)
    by_g = case.problem.gradient(time, [p["g"]])[p["g"]]
    assert by_g == pytest.approx(-times[0] / (2 * p["g"].value), rel=1e-2)
    by_g = case.problem.gradient(speed, [p["g"]])
    assert by_g[p["g"]] == pytest.approx(by_g.value / (2 * p["g"].value), rel=2e-2)
    assert found.value == case.problem.value(case.goal)


def test_what_ends_at_an_event_in_other_ways_is_refused() -> None:
    ball = sa.RigidBody.sphere(0.1, position=(0.0, 0.0, 0.0), rho=1.0, velocity=(0.0, 0.0, 3.0))
    weight = sa.Parameter("weight", -10.0)
    middle = ball.at((0.0, 0.0, 0.0))
    height = sa.Goal(lambda u_a: u_a[2], middle)

    def thrown(goal: Any, **event: Any) -> sa.DynamicProblem:
        problem = sa.DynamicProblem(sa.System(ball, terms=[sa.gravity((0.0, 0.0, weight))]))
        problem.event(goal, **event)
        return problem

    with pytest.raises(sa.ParameterError, match="those of all steps"):
        thrown(height.integral(), terminate=True)
    for event in ({}, {"terminate": True, "action": lambda: None}):
        with pytest.raises(sa.ParameterError, match="without an action"):
            thrown(height - 0.1, **event).solve(to=0.5, step=0.03, trace=sa.Trace())
    turns = thrown(height - (0.45 - 1e-10), terminate=True)
    turns.solve(to=0.5, step=0.03, trace=sa.Trace())
    with pytest.raises(sa.ParameterError, match="where its goal turns"):
        turns.gradient(height, [weight])
    early = thrown(height - 1.0, terminate=True)  # it ends at 0.5, before
    early.solve(to=0.5, step=0.03, trace=sa.Trace())
    assert early.gradient(height, [weight])[weight] == pytest.approx(0.125, rel=1e-10)


def cable() -> Case:
    """Damped in two ways, its clamp shaken; a force of the support; a density."""
    p = parameters(EI=0.5, rho=1.0, eta=0.02, g=9.81, amp=0.05)
    mesh = sa.Mesh.box((1.0,), (3,))
    given = {"EA": 500.0, "EI": p["EI"], "rho": p["rho"], "A": 0.1}
    line = sa.Body(
        mesh["body"],
        sa.elements.ancf_cable,
        sa.energies.cable(),
        velocity=(0.0, 0.3, 0.0),
        **given,
    )
    tip = line.at((1.0, 0.0, 0.0))
    shaken = (0.0, 0.0, lambda t: p["amp"].value * np.sin(9.0 * t) ** 2)
    clamp = sa.fix(line["x0"], displacement=shaken)
    pull = (0.0, 0.0, lambda t: 0.1 * np.sin(5.0 * t) * p["g"].value)
    terms = [
        clamp,
        sa.gravity((0.0, 1.0, lambda t: -p["g"].value)),
        sa.force(tip, pull),
        sa.KelvinVoigt(line, eta=p["eta"]),
    ]
    sag = sa.Goal(lambda u_a, v_a: u_a[2] + 0.1 * v_a[2] + u_a[0], tip)
    force = sa.Goal(lambda F: F[2], clamp)
    goal = sag + sag.integral() ** 2 + 0.1 * force.at(0.05) + 0.1 * force.integral()
    case = Case([line], terms, goal, [*p.values()], damping=sa.Rayleigh(mass=0.3))
    case.place = tip
    return case


def test_a_cable_with_a_shaken_clamp() -> None:
    cable().check(to=0.1, step=0.01)


def pendulum() -> Case:
    """Two bodies with hinges that move at first, a spring, and a PID with a state."""
    p = parameters(g=9.81, k=3.0, kp=1.5, amp=0.6)
    first, second = 1.2, -0.8
    size: Any = {"rho": 800.0}
    a = sa.RigidBody.box(
        (0.5, 0.05, 0.05),
        position=(0.25, 0.0, 0.0),
        name="a",
        spin=(0.0, first, 0.0),
        velocity=(0.0, 0.0, -first * 0.25),
        **size,
    )
    b = sa.RigidBody.box(
        (0.5, 0.05, 0.05),
        position=(0.75, 0.0, 0.0),
        name="b",
        spin=(0.0, second, 0.0),
        velocity=(0.0, 0.0, -first * 0.5 - second * 0.25),
        **size,
    )
    left, right, tip = a.at((-0.25, 0.0, 0.0)), a.at((0.25, 0.0, 0.0)), b.at((0.25, 0.0, 0.0))
    near, y = b.at((-0.25, 0.0, 0.0)), (0.0, 1.0, 0.0)

    def spring(e1_a: Any, e1_b: Any, *, k: Any) -> Any:
        return k * (1 - e1_a.dot(e1_b))

    hinge = sa.joints.revolute(left, sa.ground, axis=y, name="j1")
    terms = [
        hinge,
        sa.joints.revolute(right, near, axis=y, name="j2"),
        sa.gravity((0.0, 0.0, lambda t: -p["g"].value)),
        sa.moment(a, (0.0, lambda t: p["amp"].value * np.sin(7.0 * t), 0.0)),
        sa.Potential(spring, right, near, k=p["k"]),
        sa.PID(
            lambda r_a: r_a[2], lambda v_a: v_a[2], tip, target=-0.2, kp=p["kp"], ki=2.0, kd=0.3
        ),
    ]
    end = sa.Goal(lambda u_a, v_a: u_a[0] + 0.1 * v_a[2], tip)
    push = sa.Goal(lambda F, M, e1_a: 1e-3 * F.dot(e1_a) + 1e-2 * M[0] + 1e-5 * F[2] ** 2, hinge)
    goal = end + sa.Goal(lambda u_a: (u_a[2] + 0.3) ** 2, tip).integral()
    goal = goal + push + push.integral()
    case = Case([a, b], terms, goal, [*p.values()])
    case.end = end
    return case


@pytest.mark.parametrize("step", [0.01, 0.03], ids=["small steps", "bodies turn far in a step"])
def test_a_double_pendulum_with_a_controller(step: float) -> None:
    pendulum().check(to=10 * step, step=step)


def weights() -> Case:
    """Two bodies and a point mass on a spring: what they weigh, and how they begin."""
    p = parameters(m=2.0, J=0.05, c=0.03, v=-1.2, w=1.2, rho=800.0, point=0.5, g=9.81)
    spin = (0.0, p["w"], 0.0)
    a = sa.RigidBody.box(
        (0.5, 0.05, 0.05),
        position=(0.25, 0.0, 0.0),
        rho=p["rho"],
        spin=spin,
        velocity=(0.0, 0.0, -0.3),
    )
    inertia, centre = (0.01, p["J"], p["J"]), (p["c"], 0.0, 0.01)
    b = sa.RigidBody(
        (0.75, 0.0, 0.0),
        mass=p["m"],
        centre=centre,
        inertia=inertia,
        velocity=(0.0, 0.0, p["v"]),
        spin=spin,
    )
    c = sa.PointMass(p["point"], position=(1.0, 0.0, -0.3), velocity=(p["v"], 0.0, 0.0))
    y, right, tip = (0.0, 1.0, 0.0), a.at((0.25, 0.0, 0.0)), b.at((0.25, 0.0, 0.0))
    terms = [
        sa.joints.revolute(a.at((-0.25, 0.0, 0.0)), sa.ground, axis=y),
        sa.joints.revolute(right, b.at((-0.25, 0.0, 0.0)), axis=y),
        sa.gravity((0.0, 0.0, lambda t: -p["g"].value)),
        sa.Potential(
            lambda r_a, r_b, *, k: k * ((r_a - r_b).norm() - 0.3) ** 2, tip, c.centre, k=25
        ),
    ]
    end = sa.Goal(lambda u_a, v_a: u_a[0] + 0.1 * v_a[2], tip)
    goal = end + sa.Goal(lambda u_a: (u_a[2] + 0.3) ** 2, c.centre).integral()
    case = Case([a, b, c], terms, goal, [*p.values()])
    case.place = tip
    return case


@pytest.mark.filterwarnings("ignore:the initial velocities violate constraints")
def test_masses_inertias_and_velocities_at_the_start() -> None:
    """The velocities of the second body are taken to those that the joints allow."""
    weights().check(to=0.1, step=0.01, rel=1e-8)


def test_a_planar_body_of_a_mass_and_a_block_that_begin_to_move() -> None:
    """Velocities as numbers, as a function of the place, and as a spin of a body of cells."""
    p = parameters(m=2.0, J=0.1, v=0.3, w=4.0, shear=0.5, turn=0.2)
    disc = sa.PlanarBody(
        (0.0, 0.0), mass=p["m"], inertia=p["J"], velocity=(p["v"], 0.1), spin=p["w"]
    )
    arm = disc.at((0.3, 0.0))
    spring = sa.Potential(
        lambda r_a, r_b: 20 * (r_a - r_b).dot(r_a - r_b), arm, sa.ground.at((0.5, 0, 0))
    )
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    law, given = sa.energies.neo_hooke(), {"mu": 1e3, "lam": 2e3, "rho": 1.0}
    block = sa.Body(
        mesh["body"],
        sa.elements.hex8_plain,
        law,
        velocity=lambda X: p["shear"].value * X[:, [2, 1, 0]],
        spin=(0.0, 0.0, p["turn"]),
        **given,
    )
    goal = sa.Goal(lambda u_a: u_a[0] + u_a[1] ** 2, arm)
    goal = goal + sa.Goal(lambda u_a: u_a[0] * u_a[1], block.at((1.0, 1.0, 1.0))).integral()
    Case([disc, block], [spring], goal, [*p.values()]).check(to=0.1, step=0.01, rel=1e-8)


def test_a_weight_in_statics() -> None:
    """The weight m g stretches a spring; a mass that is no mass is refused as it is set."""
    p = parameters(mass=2.0, g=10.0)
    mass = sa.PointMass(p["mass"], position=(0.0, 0.0, 0.0))
    spring = sa.Potential(lambda u_a: 250 * u_a.dot(u_a), mass.centre)
    system = sa.System(mass, terms=[spring, sa.gravity((0.0, 0.0, lambda t: -p["g"].value))])
    problem = sa.StaticProblem(system)
    problem.solve()
    found = problem.gradient(sa.Goal(lambda u_a: u_a[2], mass.centre), [*p.values()])
    assert found[p["mass"]] == pytest.approx(-10.0 / 500.0, rel=1e-12)
    assert found[p["g"]] == pytest.approx(-2.0 / 500.0, rel=1e-9)
    p["mass"].value = -1.0
    with pytest.raises(sa.ParameterError, match="positive number"):
        problem.solve()
    heavy = sa.RigidBody(mass=1.0, centre=(p["g"], 0.0, 0.0), inertia=(1.0, 1.0, 1.0))
    with pytest.raises(sa.ParameterError, match="follows a Parameter"):
        _ = heavy.centre


@pytest.mark.parametrize("which", ["weights", "cable", "arm"])
@pytest.mark.filterwarnings("ignore:the initial velocities violate constraints")
def test_the_direct_way_agrees(which: str) -> None:
    """Of constraints, starts that follow parameters, prescribed motions, and values of a series."""
    case = {"weights": weights, "cable": cable, "arm": driven_arm}[which]()
    known = sa.Parameter("wanted", 0.1)
    misfit = sa.Goal(lambda u_a, *, x: (u_a[2] - x) ** 2, case.place, x=known)
    goals, variables = [case.goal, misfit + misfit.integral()], [*case.variables, known]
    case.problem.solve(to=0.06, step=0.01, trace=sa.Trace())
    direct = case.problem.sensitivity(case.variables, of=[case.goal])
    direct += case.problem.sensitivity(variables, of=goals[1:])
    for goal, found, of in zip(goals, direct, (case.variables, variables), strict=True):
        exact = case.problem.gradient(goal, of)
        assert found.value == exact.value
        for v in of:
            scale = np.abs(exact[v]).max()
            assert scale > 0.0 or which == "arm"  # nothing turns its cable
            np.testing.assert_allclose(found[v], exact[v], rtol=0.0, atol=1e-10 * scale)


@pytest.mark.collective(rows=0)
def test_what_is_no_sensitivity_of_a_motion_is_refused() -> None:
    case = pendulum()
    case.problem.solve(to=0.06, step=0.03, trace=sa.Trace())
    with pytest.raises(sa.ParameterError, match="take shorter steps"):
        case.problem.sensitivity(case.variables, of=[case.goal])
    case = four_bar()
    case.problem.solve(to=0.02, step=0.01, trace=sa.Trace())
    height = sa.Goal(lambda u_a: u_a[2], case.problem.system.bodies[0].centre)
    with pytest.raises(sa.ParameterError, match="nothing depends"):
        case.problem.sensitivity([sa.Parameter("idle", 1.0)], of=[height])


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("stands", [True, False])
def test_growth_is_told_with_its_rate(stands: bool, recwarn: Any) -> None:
    """A rod on its tip falls at the rate sqrt(3 g / (2 L)); one that hangs swings."""
    side = 0.5 if stands else -0.5
    g = sa.Parameter("g", 10.0)
    rod = sa.RigidBody.box(
        (0.02, 0.02, 1.0), position=(0.0, 0.0, side), rho=1000.0, spin=(0.0, 1e-9, 0.0)
    )
    hinge = sa.joints.revolute(rod.at((0.0, 0.0, -side)), sa.ground, axis=(0.0, 1.0, 0.0))
    system = sa.System(rod, terms=[hinge, sa.gravity((0.0, 0.0, lambda t: -g.value))])
    problem = sa.DynamicProblem(system)
    problem.solve(to=5.0, step=0.05, trace=sa.Trace())
    problem.gradient(sa.Goal(lambda u_a: u_a[0], rod.at((0.0, 0.0, side))), [g])
    told = [str(w.message) for w in recwarn if "grow by" in str(w.message)]
    assert len(told) == (stands and system.comm.rank == 0)
    if told:
        rate = float(told[0].split("e^(")[1].split()[0])
        assert rate == pytest.approx(np.sqrt(15.0), rel=0.03)


def four_bar(length: float = 1.0, mass: float = 1.0, time: float = 1.0) -> Case:
    """A crank, a coupler and a rocker; a strut whose length is a parameter."""
    moment = mass * length**2 / time**2
    p = parameters(g=9.81 * length / time**2, k=4.0 * moment, amp=1.5 * moment, strut=2.0 * length)
    y, rho = (0.0, 1.0, 0.0), 800.0 * mass / length**3

    def bar(size: Sequence[float], place: Sequence[float], name: str) -> Any:
        sides, position = (tuple(length * x for x in v) for v in (size, place))
        return sa.RigidBody.box(sides, position=position, rho=rho, name=name)

    a = bar((0.04, 0.04, 0.3), (0.0, 0.0, 0.15), "a")
    b = bar((0.6, 0.04, 0.04), (0.3, 0.0, 0.3), "b")
    c = bar((0.04, 0.04, 0.3), (0.6, 0.0, 0.15), "c")

    def at(body: Any, *place: float) -> Any:
        return body.at(tuple(length * x for x in place))

    hinge = at(b, 0.3, 0.0, 0.0), at(c, 0.0, 0.0, 0.15)
    terms = [
        sa.joints.revolute(at(a, 0.0, 0.0, -0.15), sa.ground, axis=y, name="o"),
        sa.joints.spherical(at(a, 0.0, 0.0, 0.15), at(b, -0.3, 0.0, 0.0), name="ab"),
        sa.joints.revolute(*hinge, axis=y, name="bc"),
        sa.joints.spherical(at(c, 0.0, 0.0, -0.15), at(sa.ground, 0.6, 0.0, 0.0), name="og"),
        sa.joints.distance(at(b, 0.0, 0.0, 0.02), at(sa.ground, 0.3, 2.0, 0.32), p["strut"]),
        sa.gravity((0.0, 0.0, lambda t: -p["g"].value)),
        sa.moment(a, (0.0, lambda t: p["amp"].value * np.cos(4.0 * t / time), 0.0)),
        sa.Potential(lambda e1_a, e1_b, *, k: k * (1 - e1_a.dot(e1_b)), *hinge, k=p["k"]),
    ]
    goal = sa.Goal(
        lambda u_a, v_a: u_a[0] / length + u_a[2] ** 2 / length**2 + 0.1 * v_a[0] * time / length,
        at(b, 0.0, 0.0, 0.0),
    )
    whole = goal + goal.at(0.05 * time) * goal.integral() / time
    return Case([a, b, c], terms, whole, [*p.values()][:3])


def test_a_four_bar_whose_steps_change_their_length() -> None:
    """A short step to a stop takes rates to the constraints, too."""
    four_bar().check(to=0.09, step=0.01, stops=[0.0334, 0.05, 0.057])


@pytest.mark.collective(rows=0)
def test_gradients_do_not_depend_on_units() -> None:
    run: Any = {"trace": sa.Trace()}
    one = four_bar()
    one.problem.solve(to=0.08, step=0.01, stops=[0.05], **run)
    known = one.problem.gradient(one.goal, one.variables)
    other = four_bar(1e3, 1e-3, 1e3)
    other.problem.solve(to=80.0, step=10.0, stops=[50.0], **run)
    found = other.problem.gradient(other.goal, other.variables)
    for v, w in zip(one.variables, other.variables, strict=True):
        assert found[w] * w.value == pytest.approx(known[v] * v.value, rel=1e-8)


def test_a_rod_whose_directors_turn() -> None:
    mesh = sa.Mesh.box((0.5,), (2,), cell="line3")
    tube = sa.Section.tube(radius=0.01, thickness=0.002)
    given = dict(tube.rod(E=2e6, nu=0.33, rho=1000.0))
    numbers = {name: float(given[name]) for name in ("I2", "rho")}
    p = parameters(g=9.81, EI=float(given["EI2"]), **numbers)
    given |= {"EI2": p["EI"], "I2": p["I2"], "rho": p["rho"]}
    rod = sa.Body(mesh["body"], sa.elements.ancf_rod, sa.energies.rod(), **given)
    sag = sa.Goal(lambda u_a, v_a: u_a[2] + v_a[1] / 10, rod.at((0.5, 0.0, 0.0)))
    terms = [sa.fix(rod["x0"]), sa.gravity((0.0, 3.0, lambda t: -p["g"].value))]
    case = Case([rod], terms, sag + sag.integral(), [p["g"], p["EI"], p["rho"]])
    case.check(to=0.08, step=0.01, rel=2e-7)
    case.problem.reset()
    case.problem.solve(to=0.02, step=0.01, trace=sa.Trace())
    with pytest.raises(sa.ParameterError, match="inertia of sections"):
        case.problem.gradient(sag, [p["I2"]])


@pytest.mark.parametrize("remembers", [False, True], ids=["", "Prony"])
def test_a_block_with_a_modulus_for_each_cell(remembers: bool) -> None:
    """A pressure that follows; with the law that remembers a traction that turns."""
    mesh = sa.Mesh.box((2.0, 1.0, 1.0), (4, 1, 1))
    p = parameters(rho=1.0, press=40.0)
    mu = sa.Field(1e3 * (1.0 + 0.2 * np.sin(np.arange(4.0))))
    law = sa.energies.neo_hooke()
    if remembers:
        law = sa.energies.prony(law, g=(0.4,), tau=(0.05,))
    body = sa.Body(mesh["body"], sa.elements.hex8_plain, law, mu=mu, lam=2e3, rho=p["rho"])
    press = sa.pressure(body["z1"], lambda t: p["press"].value * (1 - np.exp(-20.0 * t)))
    sag = sa.Goal(lambda u_a, v_a: u_a[2] + v_a[0] / 10, body.at((2.0, 1.0, 1.0)))
    clamp = sa.fix(body["x0"])
    goal = sag + sag.integral() + 1e-3 * sa.Goal(lambda M: M[1], clamp).at(0.05)
    if not remembers:
        total = sa.Goal(lambda W, J: W / 100 + J, body)
        goal = goal + total + total.integral()
    Case([body], [clamp, press], goal, [mu, *p.values()]).check(to=0.1, step=0.01)


def driven_arm() -> Case:
    """An arm that a torque turns, and a cable with a shaken clamp, by values of series."""
    times = np.linspace(0.0, 0.2, 21)
    torque = sa.Series(times, 3.0 * np.sin(7.0 * times))
    way = sa.Series(times[::5], 0.01 * np.cos(30.0 * times[::5]) - 0.01, order="cubic")
    arm = sa.RigidBody.box((0.5, 0.05, 0.05), position=(0.25, 0.0, 0.0), rho=800.0)
    mesh = sa.Mesh.box((1.0,), (2,))
    given = {"EA": 500.0, "EI": 0.5, "rho": 1.0, "A": 0.1}
    line = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), **given)
    terms = [
        sa.joints.revolute(arm.at((-0.25, 0.0, 0.0)), sa.ground, axis=(0.0, 1.0, 0.0)),
        sa.moment(arm, (0.0, torque, 0.0)),
        sa.fix(line["x0"], displacement=(0.0, 0.0, way)),
    ]
    turned = sa.Goal(lambda u_a, v_a: u_a[2] + v_a[0], arm.at((0.25, 0.0, 0.0)))
    height = sa.Goal(lambda u_a: u_a[2], line.at((1.0, 0.0, 0.0)))
    case = Case([arm, line], terms, turned + height.integral(), [torque, way])
    case.place = line.at((1.0, 0.0, 0.0))
    return case


@pytest.mark.collective(rows=0)
def test_a_block_with_damping_by_its_stiffness() -> None:
    """Rayleigh's forces beta K(u) v, with the tangent of a law that is not linear."""
    mesh = sa.Mesh.box((2.0, 1.0, 1.0), (2, 1, 1))
    p = parameters(rho=1.0, load=60.0)
    mu = sa.Field([900.0, 1100.0])
    law = sa.energies.neo_hooke()
    body = sa.Body(mesh["body"], sa.elements.hex8_plain, law, mu=mu, lam=2e3, rho=p["rho"])
    clamp = sa.fix(body["x0"], displacement=(0.0, 0.0, lambda t: 0.01 * np.sin(9.0 * t)))
    pull = sa.traction(body["x1"], (0.0, 0.0, lambda t: p["load"].value * np.sin(20.0 * t)))
    sag = sa.Goal(lambda u_a, v_a: u_a[2] + v_a[2] / 10, body.at((2.0, 0.5, 0.5)))
    goal = sag + sag.integral() + 1e-2 * sa.Goal(lambda F: F[2], clamp).at(0.03)
    damping = sa.Rayleigh(mass=0.3, stiffness=0.02)
    case = Case([body], [clamp, pull], goal, [mu, *p.values()], damping=damping)
    case.check(to=0.06, step=0.01)
    with pytest.raises(sa.ParameterError, match="Rayleigh"):
        case.problem.sensitivity([p["load"]], of=[goal])


@pytest.mark.collective(rows=0)
def test_a_torque_and_a_shaken_clamp_by_the_values_of_series() -> None:
    case = driven_arm()
    torque = case.variables[0]
    found = case.check(to=0.16, step=0.01)
    assert found[torque].shape == (21,)
    assert found[torque][16] != 0.0
    assert not found[torque][17:].any()


def test_a_block_that_falls_and_slides_on_a_plane() -> None:
    """The default element; impact and friction, and a stiffness that follows the modulus."""
    mesh = sa.Mesh.box((0.1, 0.1, 0.1), (1, 1, 1))
    p = parameters(E=1e4, g=9.81, mu=0.3)
    body = sa.Body(
        mesh["body"],
        sa.elements.hex8,
        sa.energies.saint_venant_kirchhoff(),
        E=p["E"],
        nu=0.3,
        rho=1000.0,
        velocity=(0.3, 0.0, -0.2),
    )
    plane = sa.Plane((0.0, 0.0, -0.002), (0.0, 0.0, 1.0))
    terms = [
        sa.Contact(body["z0"], plane, mu=p["mu"]),
        sa.gravity((0.0, 0.0, lambda t: -p["g"].value)),
    ]
    corner = sa.Goal(lambda u_a: u_a[0] + u_a[2], body.at((0.1, 0.1, 0.1)))
    Case([body], terms, corner + 10 * corner.integral(), [*p.values()]).check(
        h=2e-5, to=0.02, step=0.001
    )


def test_a_block_that_falls_and_slides_on_another() -> None:
    """Points slide over facets that move, and stick; lists of facets change on the way."""

    def bump(X: Any) -> Any:
        sag = (X[:, 0] - 0.8) ** 2 + (X[:, 1] - 0.7) ** 2
        return X - np.stack([0.2 + 0 * sag, 0.2 + 0 * sag, 0.5 + 0.05 * sag], axis=1)

    low = sa.Mesh.box((1.6, 1.4, 0.5), (3, 3, 1), warp=bump)
    top = sa.Mesh.box((1.0, 1.0, 0.5), (2, 2, 1), warp=lambda X: X + np.array([0.0, 0.0, 0.002]))
    p = parameters(E=1000.0, speed=0.8, g=9.81, rho=10.0, mu=0.3)
    law, hex8_plain = sa.energies.neo_hooke(), sa.elements.hex8_plain
    fast = (p["speed"], 0.3, -0.3)
    under = sa.Body(low["body"], hex8_plain, law, name="under", mu=900.0, lam=1500.0, rho=10.0)
    over = sa.Body(
        top["body"], hex8_plain, law, name="over", mu=p["E"], lam=2e3, rho=p["rho"], velocity=fast
    )
    contact = sa.Contact(over["z0"], under["z1"], mu=p["mu"])
    base = sa.fix(under["z0"])
    terms = [base, contact, sa.gravity((0.0, 0.0, lambda t: -p["g"].value))]
    side = sa.Goal(lambda u_a: u_a[0] - 2 * u_a[2], over.at((0.0, 0.5, 0.002)))
    push = sa.Goal(lambda F: F[0] / 1e3, base)
    case = Case([under, over], terms, side + push + side.integral(), [*p.values()])
    found = case.check(h=1e-5, to=0.1, step=0.01)
    assert 0.0 < found.switch < 1.0
    with pytest.raises(sa.ParameterError, match="laws with memory"):
        case.problem.sensitivity([p["E"]], of=[side])


@pytest.mark.collective(rows=0)
def test_a_load_jumps_at_a_stop() -> None:
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    p = parameters(mu=1e3, load=30.0)
    law = sa.energies.neo_hooke()
    body = sa.Body(mesh["body"], sa.elements.hex8_plain, law, mu=p["mu"], lam=2e3, rho=1.0)
    load = sa.traction(
        body["x1"], (0.0, 0.0, lambda t: p["load"].value * (1.0 if t <= 0.025 else 2.0))
    )
    sag = sa.Goal(lambda u_a: u_a[2], body.at((1.0, 1.0, 1.0)))
    Case([body], [sa.fix(body["x0"]), load], sag, [*p.values()]).check(
        to=0.05, step=0.01, stops=[0.025]
    )


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("looks", [False, True], ids=["steps in C", "single steps"])
def test_a_series_that_jumps_where_steps_end(looks: bool) -> None:
    """The last of ten steps of 0.01 ends at 0.1, where the fourth value begins."""
    drive = sa.Series([0.0, 0.03, 0.06, 0.1], [0.1, 0.3, -0.2, 0.4], order="steps")
    mesh = sa.Mesh.box((1.0,), (2,))
    given = {"EA": 500.0, "EI": 0.5, "rho": 1.0, "A": 0.1}
    line = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), **given)
    tip = line.at((1.0, 0.0, 0.0))
    terms = [sa.fix(line["x0"]), sa.force(tip, (0.0, 0.0, drive))]
    goal = sa.Goal(lambda u_a, v_a: u_a[2] + 0.1 * v_a[2], tip)
    case = Case([line], terms, goal, [drive])
    if looks:
        case.problem.monitor(lambda step: None)
    assert np.all(case.check(to=0.1, step=0.01)[drive] > 1e-3)


@pytest.mark.collective(rows=0)
def test_a_chain_of_many_rigid_bodies() -> None:
    """Beyond 500 unknowns the sweep has factors of its own; delayed pivots take work space."""
    p = parameters(k=300.0, m=0.2)
    bodies = [
        sa.RigidBody(mass=p["m"], inertia=(1e-3,) * 3, position=(0.3 * n, 0.0, 0.0))
        for n in range(29)
    ]
    middles = [body.at((0.3 * n, 0.0, 0.0)) for n, body in enumerate(bodies)]

    def spring(u_a: Any, u_b: Any, *, k: Any) -> Any:
        return k * (u_a - u_b).dot(u_a - u_b) / 2

    terms: list[Any] = [
        sa.Potential(spring, a, b, k=p["k"])
        for a, b in pairwise([sa.ground.at((0, 0, 0)), *middles])
    ]
    terms.append(sa.gravity((0.0, 0.0, -9.81)))
    goal = sa.Goal(lambda u_a, v_a: u_a[2] + 0.1 * v_a[2], middles[2])
    Case(bodies, terms, goal, [*p.values()]).check(to=0.04, step=0.02)


def test_remainders_are_of_second_order() -> None:
    case = cable()
    case.problem.solve(to=0.05, step=0.01, trace=sa.Trace())
    before = case.problem.system.state.copy()
    check = sa.check_gradient(case.problem, case.goal, case.variables)
    assert check.passed
    assert check.orders == pytest.approx([2.0] * 3, abs=0.1)
    np.testing.assert_allclose(case.problem.system.state, before, rtol=0, atol=1e-12)


def test_parameters_beside_stay_as_the_program_has_set_them() -> None:
    """Where motions are made again for other values: remainders, and goals of optimisers."""
    case = cable()
    beside, by = case.variables[0], case.variables[1:]
    case.problem.solve(to=0.05, step=0.01, trace=sa.Trace())
    case.problem.reset()
    value = beside.value = 1.5 * beside.value
    case.problem.solve(to=0.05, step=0.01, trace=sa.Trace())
    known = case.problem.value(case.goal)
    assert sa.check_gradient(case.problem, case.goal, by).passed
    assert beside.value == value
    assert case.problem.value(case.goal) == pytest.approx(known, rel=1e-10)


def test_a_motion_goes_on_after_a_gradient() -> None:
    one, other = pendulum(), pendulum()
    for case in (one, other):
        case.problem.solve(to=0.05, step=0.01, trace=sa.Trace())
    one.problem.gradient(one.goal, one.variables)
    for case in (one, other):
        case.problem.solve(to=0.1, step=0.01)
    a, b = one.problem.system.state, other.problem.system.state
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-12)


@pytest.mark.collective(rows=0)
def test_what_is_no_gradient_of_a_motion_is_refused(tmp_path: Path) -> None:
    case = pendulum()
    problem, goal, variables = case.problem, case.goal, case.variables
    problem.solve(to=0.02, step=0.01)
    with pytest.raises(sa.ParameterError, match="no trace"):
        problem.gradient(goal, variables)
    problem.reset()
    problem.solve(to=0.02, step=0.01, trace=(trace := sa.Trace(0, tmp_path)))
    assert trace.on_disk > 0
    with pytest.raises(sa.ParameterError, match="nothing depends"):
        problem.gradient(goal, [sa.Parameter("idle", 1.0)])
    with pytest.raises(sa.ParameterError, match="no step ends there"):
        problem.gradient(1.0 + case.end.at(0.013), variables)
    variables[0].value += 1.0
    with pytest.raises(sa.ParameterError, match="another than after the last"):
        problem.gradient(goal, variables)
    variables[0].value -= 1.0
    problem.gradient(goal, variables)
    with pytest.raises(sa.ParameterError, match="does not begin where the motion begins"):
        problem.solve(to=0.04, step=0.01, trace=sa.Trace())
    problem.event(lambda: 1.0)
    with pytest.raises(sa.ParameterError, match="events"):
        problem.solve(to=0.06, step=0.01, trace=sa.Trace())
    with pytest.raises(sa.ParameterError, match="memory="):
        sa.Trace(memory="much")


@pytest.mark.collective(rows=0)
def test_a_density_or_a_support_that_changed_since_the_motion_is_told() -> None:
    mesh = sa.Mesh.box((1.0,), (2,))
    p = parameters(rho=1.0, way=0.1)
    given = {"EA": 500.0, "EI": 0.5, "rho": p["rho"], "A": 0.1}
    line = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), **given)
    clamp = sa.fix(line["x0"], displacement=(0.0, 0.0, lambda t: p["way"].value * t**2))
    problem = sa.DynamicProblem(sa.System(line, terms=[clamp]), options=EXACT)
    problem.solve(to=0.03, step=0.01, trace=sa.Trace())
    goal = sa.Goal(lambda u_a: u_a[2], line.at((1.0, 0.0, 0.0)))
    known = problem.gradient(goal, [*p.values()])
    for parameter in p.values():
        parameter.value *= 2.0
        with pytest.raises(sa.ParameterError, match="another than after the last"):
            problem.gradient(goal, [parameter])
        parameter.value /= 2.0
    again = problem.gradient(goal, [*p.values()])
    assert [again[v] for v in p.values()] == pytest.approx([known[v] for v in p.values()], rel=1e-9)


def chamber(gas: bool) -> Case:
    """A tube about a chamber, whose pressure at the start follows from its volume or p, too."""
    p = parameters(mu=5.0, p=1.1 if gas else 0.1)
    mesh = sa.Mesh.tube(1.0, 1.2, 2.0, 1)
    law = sa.energies.neo_hooke()
    pipe = sa.Body(mesh["body"], sa.elements.hex8, law, mu=p["mu"], lam=20.0, rho=0.1)

    def jumping(t: float) -> float:
        return p["p"].value * (1.0 if t <= 0.025 else 2.0)

    own: Any = {"gas": sa.Gas(p["p"], ambient=1.0)} if gas else {"pressure": jumping}
    within = sa.Cavity(pipe["inner"], caps="flat", **own)
    tip = sa.Goal(lambda u_a, v_a: u_a[0] + u_a[2] + 0.1 * v_a[2], pipe.at((1.1, 0.0, 2.0)))
    inside = sa.Goal(lambda V, p: p * V, within)
    return Case([pipe], [sa.fix(pipe["z0"]), within], tip + 0.1 * inside.integral(), [*p.values()])


def cord(_: bool) -> Case:
    """A stretched cord along a block, through an eyelet with friction."""
    p = parameters(mu=5.0, EA=3.0)
    mesh = sa.Mesh.box((2.0, 1.0, 1.0), (2, 1, 1))
    law = sa.energies.neo_hooke()
    block = sa.Body(mesh["body"], sa.elements.hex8, law, mu=p["mu"], lam=20.0, rho=0.1)
    places = [block.at([(0.2, 0.3, 1.0), (1.0, 0.6, 1.0)]), sa.ground.at((2.6, 0.5, 0.7))]
    tendon = sa.Tendon(places, EA=p["EA"], mu=0.2, tension=0.1)
    tip = sa.Goal(lambda u_a, v_a: u_a[0] + u_a[2] + 0.1 * v_a[2], block.at((2.0, 0.0, 1.0)))
    return Case([block], [sa.fix(block["x0"]), tendon], tip + tip.integral(), [*p.values()])


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize(
    ("model", "gas"), [(chamber, False), (chamber, True), (cord, False)], ids=["p", "gas", "cord"]
)
def test_pressures_and_tensions_as_unknowns(model: Any, gas: bool) -> None:
    case = model(gas)
    case.check(to=0.05, step=0.01, stops=[0.025])
    case.problem.reset()
    for variable, value in zip(case.variables, case.before, strict=True):
        variable.value = value
    case.problem.solve(to=0.02, step=0.01, trace=sa.Trace())
    if model is cord:  # friction at the eyelet
        with pytest.raises(sa.ParameterError, match="laws with memory"):
            case.problem.sensitivity(case.variables, of=[case.goal])
        return
    (direct,) = case.problem.sensitivity(case.variables, of=[case.goal])
    exact = case.problem.gradient(case.goal, case.variables)
    for variable in case.variables:
        assert direct[variable] == pytest.approx(exact[variable], rel=1e-9)
