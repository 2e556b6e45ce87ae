# SPDX-License-Identifier: BSD-3-Clause
"""Controllers: what is measured, where it acts, and their own states."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
import pytest
import sympy as sp

import symancf as sa
from symancf.energies import cable
from symancf.values.parameter import difference
from tests.motion import force, moving, power, tangent_error, velocity
from tests.refusals import refused

pytestmark = pytest.mark.collective


def link(name: str, start: float) -> sa.Body:
    mesh = sa.Mesh.box((1.0,), (2,), warp=lambda X: X + np.array([start, 0.0, 0.0]))
    parameters = {"EA": 1e4, "EI": 10.0, "rho": 1.0, "A": 1.0}
    return sa.Body(mesh["body"], sa.elements.ancf_cable, cable(), name=name, **parameters)


def chord(r_a: Any, r_b: Any) -> Any:
    """Angle of the line from a to b in the plane z = 0."""
    gap = r_b - r_a
    return sp.atan2(gap[1], gap[0])


def turn(e1_b: Any, w1_b: Any) -> Any:
    """Spin of the slope at b about z."""
    return e1_b.cross(w1_b)[2] / e1_b.dot(e1_b)


GAINS = {"kp": 40.0, "ki": 5.0, "kd": 2.0}


def angle_and_rate(r: Any, v: Any) -> tuple[float, float]:
    gap, rate = r[1] - r[0], v[1] - v[0]
    return np.arctan2(gap[1], gap[0]), (gap[0] * rate[1] - gap[1] * rate[0]) / (gap[:2] @ gap[:2])


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("target", [0.3, lambda t: np.sin(3.0 * t)])
def test_a_pid_acts_by_its_three_terms(target: Any) -> None:
    body = link("link", 0.0)
    ends = body.at((0.2, 0.0, 0.0)), body.at((0.9, 0.0, 0.0))
    pid = sa.PID(chord, turn, *ends, target=target, **GAINS)
    system = sa.System(body, terms=[pid])
    moving(system, size=0.2)
    r = np.concatenate([system.position(e) for e in ends])
    v = np.concatenate([velocity(system, e) for e in ends])
    y, rate = angle_and_rate(r, v)
    s = pid.own_states(system)[0, 0]
    goal, goal_rate = (0.3, 0.0) if target == 0.3 else (np.sin(1.2), 3.0 * np.cos(1.2))
    torque = 40.0 * (goal - y) + 5.0 * s + 2.0 * (goal_rate - rate)
    assert abs(s) > 1e-2
    assert pid.measured(system)["y"][0] == pytest.approx(y, rel=1e-12)
    assert pid.values(system)[0, 0] == pytest.approx(torque, rel=1e-9)
    # power of the torque on the spin of the slope at b, and the row of the state
    slope = system.gradient(ends[1])[0][:, 0]
    rate_of_slope = velocity(system, ends[1], "axis0")[0]
    spin = np.cross(slope, rate_of_slope)[2] / (slope @ slope)
    numbering = system._discrete.numbering
    own = numbering.offset[: numbering.owned_vertices, numbering.block("states:1")]
    own = own[own >= 0]
    f = force(system)
    row = system._discrete.sum(np.array([(f[own] + system.rate[own]).sum()]))[0]
    assert row == pytest.approx(goal - y, rel=1e-10)
    f_of_state = system._discrete.sum(np.array([(f[own] * system.rate[own]).sum()]))[0]
    assert power(system) - f_of_state == pytest.approx(torque * spin, rel=1e-9)
    assert tangent_error(system, 4.0) < 1e-9


def test_a_motor_between_two_links_acts_on_both() -> None:
    """No force and no moment on the pair as a whole."""
    one, two = link("one", 0.0), link("two", 1.0)
    ends = one.at((1.0, 0.0, 0.0)), two.at((1.0, 0.0, 0.0)), two.at((2.0, 0.0, 0.0))

    def relative(e1_a: Any, r_b: Any, r_c: Any) -> Any:
        """Angle from the slope of the first link to the chord of the second."""
        gap = r_c - r_b
        return sp.atan2(e1_a.cross(gap)[2], e1_a.dot(gap))

    def motor(e1_a: Any, w1_a: Any, e1_b: Any, w1_b: Any) -> Any:
        return turn(e1_b, w1_b) - turn(e1_a, w1_a)

    pid = sa.PID(relative, motor, *ends, target=0.5, **GAINS)
    system = sa.System(one, two, terms=[pid])
    moving(system, size=0.1)
    torque = pid.values(system)[0, 0]
    assert abs(torque) > 5.0
    for body, sign in ((one, -1.0), (two, 1.0)):
        f, q = force(system), system.reference + system.state
        moment = np.zeros(3)
        member = np.zeros(system._discrete.numbering.vertices, dtype=bool)
        on = system._discrete.binding(body).interpolation
        member[on.cells] = True
        for block in (on.position_block, on.slope_block):
            start = system._discrete.numbering.offset[member, block]
            at = start[start >= 0][:, None] + np.arange(3)
            moment += np.cross(q[at], f[at]).sum(axis=0)
        # out of the plane only the part across the slope reaches it: a cable has no torsion
        slope = system.gradient(ends[0 if body is one else 1])[0][:, 0]
        across = 1.0 - slope[2] ** 2 / (slope @ slope)
        assert system._discrete.sum(moment)[2] == pytest.approx(sign * across * torque, rel=1e-10)
    assert tangent_error(system, 3.0) < 1e-9


def turntable(name: str, at: Any) -> sa.PlanarBody:
    return sa.PlanarBody(position=at, mass=1.0, inertia=1.0, name=name)


def block(name: str, element: Any, shift: float) -> sa.Body:
    """One cell with the corner (shift, 0, 0); its material does not matter here."""
    size = (1.0, 0.8) if element is not sa.elements.hex8_plain else (1.0, 0.8, 0.7)
    X0 = np.array([shift, 0.0, 0.0])
    mesh = sa.Mesh.box(size, (1,) * len(size), warp=lambda X: X + X0)
    if element is sa.elements.ancf_thin_plate:
        given = {"E": 1.0, "nu": 0.3, "thickness": 0.1, "rho": 1.0}
        return sa.Body(mesh["body"], element, sa.energies.kirchhoff(), name=name, **given)
    given = {"mu": 1.0, "lam": 1.0, "rho": 1.0}
    if element is sa.elements.ancf_plate:
        given["thickness"] = 0.1
    return sa.Body(mesh["body"], element, sa.energies.neo_hooke(), name=name, **given)


def plane_places() -> tuple[list[Any], list[Any], str]:
    one, two = turntable("one", (0.1, 0.2, 0.3)), turntable("two", (1.0, -0.4, 0.9))
    places = [one.at((0.4, -0.2)), two.at((0.3, 0.1)), sa.ground.at((0.5, 0.5))]
    return [one, two], places, "r_a u_a e1_a e2_a theta_a phi_a r_b e1_b theta_b phi_b r_c"


def places_in_space() -> tuple[list[Any], list[Any], str]:
    rigid = sa.RigidBody(position=(0.0, 2.0, 0.0), mass=1.0, inertia=(1.0, 1.1, 1.2), name="rigid")
    rope, plate = link("rope", 0.0), block("plate", sa.elements.ancf_thin_plate, 3.0)
    places = [rigid.at((0.3, 0.2, 0.1)), rope.at((0.7, 0.0, 0.0)), plate.at((3.4, 0.3, 0.0))]
    return [rigid, rope, plate], places, "r_a u_a e1_a e2_a e3_a r_b e1_b r_c e1_c e2_c"


def places_of_solids() -> tuple[list[Any], list[Any], str]:
    plate, cube = (block(e.name, e, 2.0 * k) for k, e in enumerate(SOLIDS))
    places = [plate.at((0.4, 0.3, 0.0)), cube.at((2.4, 0.3, 0.2))]
    return [plate, cube], places, "r_a u_a d_a e1_a e2_a e3_a r_b e1_b e2_b e3_b"


SOLIDS = sa.elements.ancf_plate, sa.elements.hex8_plain


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("where", [plane_places, places_in_space, places_of_solids])
def test_every_quantity_is_controlled_by_its_value_integral_and_rate(where: Any) -> None:
    """P, I and D action on each quantity that is offered, against differences in time."""
    bodies, places, offered = where()
    names = offered.split()

    def measure(*q: Any, shift: Any, t: Any = None) -> dict[str, Any]:
        found = {}
        for name, x in zip(names, q, strict=False):
            x, y = (x[0], x[1]) if isinstance(x, sp.MatrixBase) else (x, x)
            found[name] = (x + y**2 / 3) * shift
        return found

    def actuate(v_a: Any, v_b: Any) -> Any:
        return v_a[0] - 0.4 * v_b[1]

    def law(*y: Any, kp: Any, ki: Any, kd: Any) -> dict[str, Any]:
        n = len(names)
        value = sum(y[:n])
        rate = sum((k + 1) * r for k, r in enumerate(y[n : 2 * n]))
        return {"force": -kp * value - kd * rate - ki * y[2 * n], "held": value}

    asks(measure, names, "shift")
    asks(law, [*names, *(f"{n}_rate" for n in names), "held"], "kp", "ki", "kd")
    control = sa.Controller(
        measure, actuate, law, *places, states="held", shift=lambda t: 1 + t**2, **GAINS
    )
    system = sa.System(*bodies, terms=[control])
    moving(system, size=0.2)
    state, rate, time, h = system.state.copy(), system.rate.copy(), system.time, 1e-3
    y, dy = control.measured(system), dict.fromkeys(names, 0.0)
    held = control.own_states(system)[0, 0]
    force = control.values(system)[0, 0]
    assert tangent_error(system, 3.0) < 1e-8
    for step, weight in ((-2, 1), (-1, -8), (1, 8), (2, -1)):
        system.state[:], system.time = state + step * h * rate, time + step * h
        for name, values in control.measured(system).items():
            dy[name] += weight * values[0] / (12 * h)
    assert not [name for name in names if not abs(dy[name]) > 1e-2]
    terms = [40.0 * y[n][0] + 2.0 * (k + 1) * dy[n] for k, n in enumerate(names)]
    assert force == pytest.approx(-sum(terms) - 5.0 * held, rel=1e-8)


def asks(function: Any, names: Any, *keywords: str) -> None:
    """Let a function of ``*args`` ask for names."""
    kinds = inspect.Parameter
    asked = [kinds(n, kinds.POSITIONAL_OR_KEYWORD) for n in names]
    asked += [kinds(k, kinds.KEYWORD_ONLY) for k in keywords]
    function.__signature__ = inspect.Signature(asked)


@pytest.mark.collective(rows=0)
def test_a_wheel_is_braked_by_the_rate_of_its_angle() -> None:
    """J domega/dt = -kd omega."""
    wheel = sa.PlanarBody(mass=1.0, inertia=2.0, spin=1.0)
    hub = wheel.at((0.0, 0.0)), sa.ground.at((0.0, 0.0))
    brake = sa.PID(lambda phi_a: phi_a, lambda omega_a: omega_a, *hub, kd=1.0)
    system = sa.System(wheel, terms=[sa.joints.revolute(*hub), brake])
    sa.DynamicProblem(system).solve(to=1.0, step=0.02)
    assert wheel.rate(system)[2] == pytest.approx(np.exp(-0.5), rel=1e-4)


@pytest.mark.collective(rows=0)
def test_a_speed_is_controlled_without_its_rate() -> None:
    """J domega/dt = kp (2 - omega); of an acceleration nothing is known."""
    wheel = sa.PlanarBody(mass=1.0, inertia=2.0)
    hub = wheel.at((0.0, 0.0)), sa.ground.at((0.0, 0.0))

    def speed(omega_a: Any) -> Any:
        return omega_a

    motor = sa.PID(speed, speed, *hub, target=2.0, kp=3.0)
    system = sa.System(wheel, terms=[sa.joints.revolute(*hub), motor])
    sa.DynamicProblem(system).solve(to=1.0, step=0.02)
    assert wheel.rate(system)[2] == pytest.approx(2.0 * (1.0 - np.exp(-1.5)), rel=1e-4)
    with refused(sa.KinematicsError, asked="y_rate", given="y"):
        sa.PID(speed, speed, *hub, kp=3.0, kd=0.1)


@pytest.mark.collective(rows=0)
def test_an_angle_is_controlled_the_short_way_round() -> None:
    body = link("link", 0.0)
    ends = body.at((0.0, 0.0, 0.0)), body.at((1.0, 0.0, 0.0))
    plain = sa.PID(chord, turn, *ends, target=2 * np.pi + 0.1, kp=1.0, name="plain")
    short = sa.PID(chord, turn, *ends, target=2 * np.pi + 0.1, kp=1.0, angle=True, name="short")
    system = sa.System(body, terms=[plain, short])
    assert plain.values(system)[0, 0] == pytest.approx(2 * np.pi + 0.1)
    assert short.values(system)[0, 0] == pytest.approx(0.1)


@pytest.mark.collective(rows=0)
def test_a_law_of_the_user_with_two_measurements_and_two_motors() -> None:
    body = link("link", 0.0)
    tip = body.at((1.0, 0.0, 0.0))

    def measure(r_a: Any) -> dict[str, Any]:
        return {"x": r_a[0], "height": r_a[1]}

    def actuate(v_a: Any) -> dict[str, Any]:
        return {"push": v_a[0], "lift": v_a[1]}

    def law(x: Any, height: Any, height_rate: Any, lag: Any, t: Any, *, k: Any) -> dict[str, Any]:
        return {"push": -k * (x - 1), "lift": lag - height_rate, "lag": t - height - lag}

    control = sa.Controller(measure, actuate, law, tip, states=("lag",), k=7.0)
    system = sa.System(body, terms=[control])
    moving(system, size=0.1)
    r, v = system.position(tip)[0], velocity(system, tip)[0]
    lag = control.own_states(system)[0, 0]
    expected = [-7.0 * (r[0] - 1.0), lag - v[1]]
    np.testing.assert_allclose(control.values(system)[0], expected, rtol=1e-12)
    np.testing.assert_allclose(control.measured(system)["height"], [r[1]], rtol=1e-12)
    assert tangent_error(system, 2.0) < 1e-9


def test_a_controller_holds_a_link_in_statics() -> None:
    """Proportional control of the tip's chord angle by a torque at the root: a spring."""
    body = link("link", 0.0)
    ends = body.at((1.0, 0.0, 0.0)), body.at((0.0, 0.0, 0.0))
    pin = sa.fix(body["x0"], "position")

    def measure(r_a: Any, r_b: Any) -> Any:
        return chord(r_b, r_a)

    def hold(y: Any, *, k: Any) -> Any:
        return -k * y

    plane = sa.planar(body, "z")
    control = sa.Controller(measure, turn, hold, *ends, k=50.0)
    system = sa.System(body, terms=[pin, plane, control, sa.force(body["x1"], (0.0, -2.0, 0.0))])
    sa.StaticProblem(system).solve()
    r = system.position(ends[0])[0]
    torque = control.values(system)[0, 0]
    assert torque == pytest.approx(2.0 * r[0], rel=1e-8)  # moment of the force about the pin
    assert torque == pytest.approx(-50.0 * np.arctan2(r[1], r[0]), rel=1e-8)


@pytest.mark.parametrize(
    ("law", "data"),
    [
        (lambda z: z, {"asked": "z", "given": None, "possible": ("y", "y_rate", "t")}),
        (lambda y: {"torque": y}, {"asked": "torque", "possible": ("force",)}),
        (lambda y: {}, {"asked": "force", "given": (), "possible": ("force",)}),
        (lambda y: "y", {"asked": "<lambda>", "given": "y"}),
        (lambda y, *, k: k * y, {"asked": "k", "given": (), "possible": ("k",)}),
    ],
)
def test_wrong_laws(law: Any, data: dict[str, Any]) -> None:
    body = link("link", 0.0)
    ends = body.at((0.0, 0.0, 0.0)), body.at((1.0, 0.0, 0.0))
    kind = sa.ParameterError if data["asked"] == "k" else sa.KinematicsError
    with refused(kind, **data):
        sa.Controller(chord, turn, law, *ends)


@pytest.mark.collective(rows=0)
def test_a_target_is_asked_for_nothing_before_the_start() -> None:
    body = link("link", 0.0)
    ends = body.at((0.0, 0.0, 0.0)), body.at((1.0, 0.0, 0.0))
    pid = sa.PID(chord, turn, *ends, target=lambda t: np.sqrt(t + 1e-3) ** 3, kd=2.0)
    system = sa.System(body, terms=[pid])
    for t in (0.0, 1e-4, 3e-3):
        system.time = t
        rate = 1.5 * np.sqrt(t + 1e-3)
        assert pid.values(system)[0, 0] == pytest.approx(2.0 * rate, rel=1e-3)


def test_an_error_in_a_target_ends_the_motion_with_that_error() -> None:
    body = link("link", 0.0)
    ends = body.at((0.0, 0.0, 0.0)), body.at((1.0, 0.0, 0.0))

    def target(t: float) -> float:
        if t > 0.02:
            raise ValueError("no plan beyond")
        return 0.1 * t

    pid = sa.PID(chord, turn, *ends, target=target, kp=1.0)
    system = sa.System(body, terms=[sa.fix(ends[0], "position"), sa.planar(body, "z"), pid])
    problem = sa.DynamicProblem(system)
    with refused(sa.ParameterError, asked="target", given="ValueError('no plan beyond')"):
        problem.solve(to=0.1, step=0.01)


@pytest.mark.collective(rows=0)
def test_a_target_of_places_is_told() -> None:
    body = link("link", 0.0)
    ends = body.at((0.0, 0.0, 0.0)), body.at((1.0, 0.0, 0.0))
    with refused(sa.ParameterError, asked="target", given=(1, 2)):
        sa.PID(chord, turn, *ends, target=[1, 2])


@pytest.mark.collective(rows=0)
def test_two_flexible_links_trace_an_arc() -> None:
    """Two steel-stiff cables, motors at hub and elbow: the tip follows, and the energy adds up."""
    R, E = 0.01, 70e9
    given = {"EA": E * np.pi * R**2, "EI": E * np.pi * R**4 / 4, "rho": 2700.0, "A": np.pi * R**2}
    end, steps = 1.0, 250

    def tip_at(t: float) -> Any:
        phase = np.pi / 4 * (t / end) ** 2 * (3 - 2 * t / end)  # from rest to rest
        return np.array([1.2 + 0.25 * np.cos(phase), 0.3 + 0.25 * np.sin(phase)])

    def angles(t: float) -> tuple[float, float]:
        p = tip_at(t)
        c = (p @ p - 2.0) / 2.0
        s = -np.sqrt(1.0 - c * c)
        return np.arctan2(p[1], p[0]) - np.arctan2(s, 1 + c), np.arctan2(s, c)

    first, second = angles(0.0)

    def straight(name: str, start: Any, angle: float) -> tuple[sa.Body, Any]:
        e = np.array([np.cos(angle), np.sin(angle), 0.0])
        mesh = sa.Mesh.box((1.0,), (4,), warp=lambda X: start + X[:, :1] * e)
        return sa.Body(mesh["body"], sa.elements.ancf_cable, cable(), name=name, **given), start + e

    def hub_angle(e1_a: Any) -> Any:
        return sp.atan2(e1_a[1], e1_a[0])

    def hub_motor(e1_a: Any, w1_a: Any) -> Any:
        return turn(e1_a, w1_a)

    def elbow_angle(e1_a: Any, e1_b: Any) -> Any:
        return sp.atan2(e1_a.cross(e1_b)[2], e1_a.dot(e1_b))

    def elbow_motor(e1_a: Any, w1_a: Any, e1_b: Any, w1_b: Any) -> Any:
        return turn(e1_b, w1_b) - turn(e1_a, w1_a)

    one, elbow = straight("one", np.zeros(3), first)
    two, tip = straight("two", elbow, first + second)
    gains = {"kp": 400.0, "ki": 50.0, "kd": 40.0}
    hub, end_one, start_two = one.at((0.0, 0.0, 0.0)), one.at(elbow), two.at(elbow)
    motors = [
        sa.PID(hub_angle, hub_motor, hub, target=lambda t: angles(t)[0], name="hub", **gains),
        sa.PID(
            elbow_angle,
            elbow_motor,
            end_one,
            start_two,
            target=lambda t: angles(t)[1],
            name="elbow",
            **gains,
        ),
    ]
    terms = [sa.fix(hub, "position"), sa.planar(one, "z"), sa.planar(two, "z")]
    terms += [sa.joints.spherical(end_one, start_two), *motors]
    system = sa.System(one, two, terms=terms)
    problem = sa.DynamicProblem(system, spectral_radius=0.8)
    problem.record("tip", lambda: system.position(two.at(tip))[0])
    problem.record("work", lambda: problem.energies.work)
    history = problem.solve(to=end, step=end / steps)
    wanted = np.array([tip_at(t) for t in history.time])
    errors = np.linalg.norm(history["tip"][:, :2] - wanted, axis=1)
    work = history["work"]
    assert len(errors) >= steps
    assert np.sqrt(np.mean(np.square(errors))) < 5e-3
    assert max(errors) < 2e-2
    assert max(work) > 0.01
    assert abs(problem.energies.drift) < 1e-3 * max(work)


@pytest.mark.collective(rows=0)
def test_at_rest_the_integral_takes_all_of_the_error() -> None:
    """In statics ds/dt = 0: the state becomes what holds the target exactly."""
    body = link("link", 0.0)
    ends = body.at((0.0, 0.0, 0.0)), body.at((1.0, 0.0, 0.0))

    def root(e1_a: Any, w1_a: Any) -> Any:
        return turn(e1_a, w1_a)

    pid = sa.PID(chord, root, *ends, target=0.2, **GAINS)
    pin, push = sa.fix(ends[0], "position"), sa.force(body["x1"], (0.0, -2.0, 0.0))
    system = sa.System(body, terms=[pin, sa.planar(body, "z"), push, pid])
    sa.StaticProblem(system).solve()
    r = system.position(ends[1])[0]
    assert np.arctan2(r[1], r[0]) == pytest.approx(0.2, rel=1e-9)
    assert pid.values(system)[0, 0] == pytest.approx(2.0 * r[0], rel=1e-8)
    assert pid.own_states(system)[0, 0] == pytest.approx(2.0 * r[0] / 5.0, rel=1e-8)


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize(
    ("omega", "time"), [(10.0, 0.3), (6e5, 0.0), (6e5, 1e-5), (60.0, 1000.0), (1e-6, 1e5)]
)
def test_rates_of_functions_of_time_are_right_fast_or_slow_soon_or_late(
    omega: float, time: float
) -> None:
    """A thousandth of a second and a ten-thousandth of the time were taken for short."""
    rate = difference("target", lambda t: 3.0 + math.sin(omega * t))
    assert callable(rate)
    assert rate(time) == pytest.approx(omega * math.cos(omega * time), rel=1e-8)
    tiny = difference("target", lambda t: 1e6 + 1e-3 * math.sin(omega * t))
    assert callable(tiny)
    if omega > 1.0:
        assert tiny(time) == pytest.approx(1e-3 * omega * math.cos(omega * time), rel=0.05)
