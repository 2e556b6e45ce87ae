# SPDX-License-Identifier: BSD-3-Clause
"""Motions of index 1: derivatives of constraints, closed forms, stabilisation, errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf.energies import kirchhoff
from symancf.solve.dynamics.derivatives import ConstraintKinematics
from symancf.solve.dynamics.stabilise import SLOPE, sugeno
from tests.motion import rope
from tests.refusals import likeliest, refused

DOWN = (0.0, -9.81, 0.0)


def bob(**options: Any) -> tuple[sa.DynamicProblem, Any]:
    """A point mass of 1 kg on a massless rod of 1 m, released from (-1, 0) (IFToMM A01)."""
    body = sa.RigidBody(mass=1.0, centre=(-1.0, 0.0, 0.0), length=1.0, name="bob")
    pin = sa.joints.revolute(body.at((0, 0, 0)), sa.ground, axis=(0, 0, 1), name="pin")
    system = sa.System(body, terms=[pin, sa.gravity(DOWN)])
    return sa.DynamicProblem(system, **{"method": "rk", **options}), body


AT_10 = (-0.2750874625761169, -0.961419205099125)  # by Jacobi's elliptic functions
AT_1 = (0.9862917511318753, -0.16501085312554117)


# ---- derivatives of constraints -----------------------------------------------------------------
def _boxes() -> tuple[sa.RigidBody, sa.RigidBody]:
    a = sa.RigidBody.box((0.3, 0.2, 0.1), rho=100.0, name="a")
    return a, sa.RigidBody.box((0.3, 0.2, 0.1), position=(0.4, 0.1, 0.0), rho=100.0, name="b")


def _revolute() -> sa.System:
    a, b = _boxes()
    return sa.System(
        a, b, terms=[sa.joints.revolute(a.at((0.2, 0, 0)), b.at((-0.2, -0.1, 0)), (0, 1, 1))]
    )


def _driven() -> sa.System:
    a, b = _boxes()
    ends = a.at((0.2, 0.0, 0.0)), b.at((-0.2, -0.1, 0.0))
    turn = sa.joints.rotation(*ends, angle=lambda t: 0.3 * math.sin(2 * t), axis=(0, 0, 1))
    far = sa.joints.distance(a.at((0, 0, 0.1)), b.at((0, 0, 0.1)), lambda t: 0.4 + 0.1 * t * t)
    return sa.System(a, b, terms=[turn, far])


def _timed() -> sa.System:
    body = rope(2)

    def on_curve(r_a: Any, t: Any, *, w: Any) -> Any:
        return r_a[1] - w * t**2 * r_a[0], r_a[2] - t * r_a[0] ** 2

    return sa.System(body, terms=[sa.Constraint(on_curve, body.at((0.5, 0, 0)), w=1.7)])


def _clamped() -> sa.System:
    body, head = (
        rope(2),
        sa.RigidBody.box((0.2, 0.1, 0.1), position=(1.3, 0, 0), rho=250.0, name="head"),
    )
    return sa.System(body, head, terms=[sa.joints.clamp(body["tip"], head)])


def _planar() -> sa.System:
    body = rope(2)
    plate = sa.PlanarBody(position=(1.2, 0.0), mass=1.0, inertia=0.1, name="plate")
    return sa.System(
        body, plate, terms=[sa.planar(body), sa.joints.clamp(body.at((1.2, 0, 0)), plate)]
    )


@pytest.mark.parametrize(
    ("make", "constant"),
    [(_revolute, False), (_driven, False), (_timed, False), (_clamped, False), (_planar, False)],
)
def test_derivatives_are_those_along_a_path(make: Callable[[], sa.System], constant: bool) -> None:
    system = make()
    constraints = ConstraintKinematics(system._discrete)
    assert constraints.constant is constant
    numbering = system._discrete.numbering
    free = numbering.fixed_by < 0
    q, v = (np.where(free, 0.2 * numbering.random(seed), 0.0) for seed in (1, 2))
    names = numbering.blocks
    multipliers = np.zeros(len(q), dtype=bool)
    for number, block in enumerate(names):
        start = numbering.offset[:, number]
        if block.order == "lambda":
            at = (start[start >= 0][:, None] + np.arange(block.size)).ravel()
            multipliers[at] = True
    v[multipliers] = 0.0
    assert multipliers.sum() > 0
    t0, d = 0.4, 1e-3

    def phi(s: float) -> np.ndarray:
        system._discrete.assembler.update(t0 + s)
        f = np.zeros_like(q)
        system._discrete.assembler.residual(q + s * v, f)
        return f[multipliers]

    values = {k: phi(k * d) for k in range(-3, 4)}
    first = values[3] - values[-3] - 9 * (values[2] - values[-2]) + 45 * (values[1] - values[-1])
    second = (
        2 * (values[3] + values[-3])
        - 27 * (values[2] + values[-2])
        + 270 * (values[1] + values[-1])
        - 490 * values[0]
    )
    system.time = t0
    size = np.abs(values[0]).max() + 1.0
    found = [constraints.along(q, v, *w)[multipliers].copy() for w in np.eye(3)]
    assert np.abs(found[0] - values[0]).max() < 1e-14 * size
    assert np.abs(found[1] - first / (60 * d)).max() < 1e-9 * size
    assert np.abs(found[2] - second / (180 * d * d)).max() < 1e-7 * size
    assert np.abs(found[2]).max() > 1e-3
    others = constraints.along(q, v, 1.0, 1.0, 1.0)[~multipliers]
    assert np.abs(others).max() == 0.0


def test_linear_constraints_are_factorised_once() -> None:
    def run(terms: Callable[[sa.Body], list[Any]]) -> sa.DynamicProblem:
        body = rope(2)
        problem = sa.DynamicProblem(
            sa.System(body, terms=[*terms(body), sa.gravity(DOWN)]), method="rk"
        )
        problem.solve(to=0.05, step=1e-3)
        assert problem._integrator.evaluations > 20
        return problem

    def moving(t: float) -> tuple[float, float, float]:
        return 0.1 * t * t, 0.0, 0.0

    pinned = run(lambda b: [sa.joints.spherical(b.at((0, 0, 0)), sa.ground)])
    assert pinned._accelerations.factorisations <= 2  # one for the initial values
    held = run(lambda b: [sa.fix(b["root"], dofs="position", displacement=moving)])
    assert held._accelerations.factorisations <= 2
    swung = run(lambda b: [sa.joints.distance(b.at((1.2, 0, 0)), sa.ground.at((1.2, 1, 0)), 1.0)])
    assert swung._accelerations.factorisations > 20


# ---- closed forms -------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("method", "stabilisation"),
    [
        ("rk", None),
        ("rk", sa.Baumgarte(5.0, 12.0)),
        ("rk", sa.Fuzzy(5.0, 12.0)),
        ("rk", sa.Projection()),
        ("8vr", sa.Projection()),
        ("adams", sa.Baumgarte(5.0, 12.0)),
    ],
)
def test_a_pendulum_follows_its_closed_form(method: str, stabilisation: Any) -> None:
    problem, body = bob(method=method, stabilisation=stabilisation)
    problem.solve(to=1.0, step=1e-3, rtol=1e-10)
    at = problem.system.position(body.at((-1, 0, 0)))[0]
    limit = 1e-8 if method == "adams" else 1e-9
    assert np.abs(at - (*AT_1, 0.0)).max() < limit
    assert abs(problem.energies.drift) < 1e-6


def test_ten_seconds_of_a_pendulum() -> None:
    problem, body = bob(method="8vr", stabilisation=sa.Projection())
    problem.solve(to=10.0, step=1e-3, rtol=1e-12)
    at = problem.system.position(body.at((-1, 0, 0)))[0]
    assert np.abs(at - (*AT_10, 0.0)).max() < 1e-9


@pytest.mark.parametrize(("method", "order"), [("3bs", 3), ("5dp", 5), ("8vr", 8)])
def test_fixed_steps_have_the_order_of_the_method(method: str, order: int) -> None:
    def error(h: float) -> float:
        problem, body = bob(method=method)
        problem.solve(to=1.0, step=h, adaptive=False)
        assert problem.steps == round(1.0 / h)
        at = problem.system.position(body.at((-1, 0, 0)))[0, :2]
        return float(np.abs(at - AT_1).max())

    h = {3: 0.025, 5: 0.025, 8: 0.1}[order]
    assert math.log2(error(h) / error(h / 2)) > order - 0.2


def test_a_heavy_top_follows_its_reference() -> None:
    """Benchmark of multibody dynamics; the reference is from DOP853 with 1e-13."""
    J = np.diag([0.234375, 0.46875, 0.234375])
    body = sa.RigidBody(
        mass=15.0, centre=(0, 1, 0), inertia=J, spin=(0.0, 150.0, -4.61538), name="top"
    )
    pin = sa.joints.spherical(body.at((0, 0, 0)), sa.ground)
    system = sa.System(body, terms=[pin, sa.gravity((0, 0, -9.81))])
    problem = sa.DynamicProblem(system, method="8vr", stabilisation=sa.Projection())
    problem.solve(to=0.2, step=1e-4, rtol=1e-9)
    p0, p1, p2, p3 = -0.7082791529743316, 0.43878108812656147, 0.5457283961454229, 0.08939975282
    R = np.array(
        [
            [p0**2 + p1**2 - p2**2 - p3**2, 2 * (p1 * p2 - p0 * p3), 2 * (p1 * p3 + p0 * p2)],
            [2 * (p1 * p2 + p0 * p3), p0**2 - p1**2 + p2**2 - p3**2, 2 * (p2 * p3 - p0 * p1)],
            [2 * (p1 * p3 - p0 * p2), 2 * (p2 * p3 + p0 * p1), p0**2 - p1**2 - p2**2 + p3**2],
        ]
    )
    assert np.abs(system.position(body.at(np.eye(3))).T - R).max() < 1e-7


def test_a_support_force_and_reactions_are_those_of_generalized_alpha() -> None:
    def run(**options: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        body = rope(2)
        pin = sa.joints.spherical(body.at((0, 0, 0)), sa.ground)
        held = sa.fix(
            body["tip"],
            dofs="position",
            displacement=lambda t: (-0.05 * math.sin(3 * t), 0.1 * (1 - math.cos(5 * t)), 0.0),
        )
        system = sa.System(body, terms=[pin, held, sa.gravity(DOWN)])
        problem = sa.DynamicProblem(system, **options)
        problem.solve(to=0.3, step=1e-4, rtol=1e-8)
        reaction = pin.reaction(system).force
        return (
            np.stack([reaction, held.reaction(system).force.reshape(-1, 3).sum(axis=0)]),
            problem.energies.work,
            (system.position(body.at((0.6, 0, 0)))),
        )

    forces, work, place = run(method="rk", stabilisation=sa.Projection())
    expected = run(spectral_radius=0.9)
    assert np.abs(place - expected[2]).max() < 1e-6
    assert np.abs(forces - expected[0]).max() < 1e-3 * np.abs(forces).max()
    assert work == pytest.approx(expected[1], rel=1e-3)


def test_states_of_first_order_are_integrated() -> None:
    block = sa.RigidBody.box((0.1, 0.1, 0.1), rho=1000.0, name="block")

    def filtered(u_a: Any, v_a: Any, y: Any, *, k: Any) -> Any:
        return {v_a[0]: -k * y, "y": u_a[0] - y}

    lag = sa.VirtualWork(filtered, block.at((0, 0, 0)), states=("y",), k=4.0)
    system = sa.System(block, terms=[lag])
    block.velocity = np.array([1.0, 0.0, 0.0])
    problem = sa.DynamicProblem(system, method="8vr")
    problem.solve(to=2.0, step=1e-3, rtol=1e-11)
    A = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, -4.0], [1.0, 0.0, -1.0]])
    w, V = np.linalg.eig(A)
    exact = (V * np.exp(2.0 * w)) @ np.linalg.solve(V, np.array([0.0, 1.0, 0.0]))
    found = system.displacement(block.at((0, 0, 0)))[0, 0]
    assert found == pytest.approx(exact[0].real, rel=1e-8)
    assert abs(exact[0].real) > 0.1


def test_a_plate_pendulum_follows_its_reference_and_keeps_its_energy() -> None:
    """8x8 thin plates on a corner; the reference is an independent code with the same rule."""
    n = 8
    a = np.linspace(0.0, 0.3, n + 1)
    Y, X = np.meshgrid(a, a, indexing="ij")
    places = np.stack([X.ravel(), Y.ravel(), 0 * X.ravel()], axis=1)
    i = np.arange(n * (n + 1)).reshape(n, n + 1)[:, :-1].ravel()
    quads = np.stack([i, i + 1, i + n + 2, i + n + 1], axis=1)
    corners = {"corner": ("vertex", [0]), "far": ("vertex", [(n + 1) ** 2 - 1])}
    mesh = sa.Mesh.from_arrays(places, {"quad": quads}, regions=corners)
    law = kirchhoff(curvature="n3")
    values = {"E": 1e5, "nu": 0.3, "thickness": 0.01, "rho": 7810.0}
    body = sa.Body(mesh["all"], sa.elements.ancf_thin_plate, law, name="plate", **values)
    terms = [sa.fix(body["corner"], dofs="position"), sa.gravity((0, 0, -9.81))]
    problem = sa.DynamicProblem(sa.System(body, terms=terms), method="rk")
    drifts: list[float] = []
    problem.monitor(lambda step: drifts.append(abs(problem.energies.drift)))
    problem.solve(to=0.1, step=1e-4, rtol=1e-8)
    x, e = problem.system.position(body["far"])[0], problem.energies
    found = np.array([x[0], x[2], e.kinetic, e.strain, e.potential])
    assert np.abs(found - (0.30000, -0.04905, 3.27745, 0.07095, -3.34839)).max() < 1e-5
    assert x[0] == pytest.approx(x[1], abs=1e-12)
    assert max(drifts) < 1e-10 * 22.9
    assert problem._accelerations.factorisations <= 2


# ---- stabilisation ------------------------------------------------------------------------------
def test_the_fuzzy_controller_has_the_values_of_its_rules() -> None:
    e = np.array([0.1, 0.25, 0.5, 0.75, 1.0])
    expected = np.array([0.06987, 0.2499, 0.4984, 0.7347, 0.9444])
    assert np.abs(sugeno(e, np.zeros(5)) - expected).max() < 5e-5
    assert np.abs(sugeno(np.zeros(5), e) - expected).max() < 5e-5
    assert pytest.approx(0.61669, abs=5e-6) == SLOPE
    assert np.abs(sugeno(-e, -e[::-1]) + sugeno(e, e[::-1])).max() < 1e-15
    assert sugeno([3.0], [0.0]) == sugeno([1.0], [0.0])
    assert sugeno([1e-6], [0.0])[0] == pytest.approx(1e-6 * SLOPE, rel=1e-6)


def test_gains_by_default_are_those_of_the_length_of_steps() -> None:
    """0.1 / h each, of fuzzy logic 0.24 / h; a violation of 1 % is as bad as any."""
    h, sizes = 0.02, np.array([1.0, 5.0])
    assert sa.Baumgarte().suited(h, sizes).gains == pytest.approx((5.0**2, 2 * 5.0))
    fuzzy = sa.Fuzzy().suited(h, sizes)
    assert (fuzzy.alpha, fuzzy.beta) == pytest.approx((5.0, 12.0))
    most = fuzzy.control(np.array([1.0, 5.0]), np.zeros(2))
    assert most is not None
    worse = [fuzzy.control(part * sizes, np.zeros(2)) for part in (5e-3, 1e-2)]
    assert np.abs(worse[1]) == pytest.approx(np.abs(most), rel=1e-12)
    assert (np.abs(worse[0]) < 0.6 * np.abs(most)).all()


def test_the_last_stage_of_a_step_is_the_first_of_the_next() -> None:
    """But for round-off: 6 of the 7 stages of Dormand and Prince's method are evaluated."""
    problem, _ = bob(method="5dp")
    problem.solve(to=1.0, step=0.025, adaptive=False)
    assert problem._integrator.evaluations == 6 * 40 + 1


def test_small_errors_meet_the_same_gains_in_fuzzy_logic() -> None:
    fuzzy, linear = sa.Fuzzy(5.0, 12.0, Kp=50.0), sa.Baumgarte(5.0, 12.0)
    phi, rate = np.array([1e-7, -2e-7]), np.array([3e-7, 1e-7])
    a, b = linear.gains
    control = fuzzy.control(phi, rate)
    assert control is not None
    assert np.abs(control - (a * phi + b * rate)).max() < 1e-6 * np.abs(control).max()
    assert np.abs(fuzzy.control(100 * np.ones(1), 100 * np.ones(1))).max() <= fuzzy.Ku


def test_stabilisers_keep_constraints_that_none_leaves() -> None:
    def run(stabilisation: Any) -> tuple[float, float]:
        problem, _ = bob(stabilisation=stabilisation)
        worst = np.zeros(2)

        def watch(_: Any) -> None:
            made, scale = problem._accelerations, problem.system._discrete.stiffness
            found = [np.abs(made.violation(speed)).max() / scale for speed in (False, True)]
            worst[:] = np.maximum(worst, found)

        problem.monitor(watch)
        problem.solve(to=8.0, step=1e-3, rtol=1e-6)
        assert problem.steps > 50
        return worst[0], worst[1]

    none, baumgarte, fuzzy, projection = (
        run(s) for s in (None, sa.Baumgarte(5.0, 12.0), sa.Fuzzy(5.0, 12.0), sa.Projection())
    )
    assert none[0] > 1e-6
    assert baumgarte[0] < 0.1 * none[0]
    assert fuzzy[0] < 0.1 * none[0]
    assert projection[0] < 1e-12
    assert projection[1] < 1e-11


# ---- the interface ------------------------------------------------------------------------------
def test_methods_are_checked() -> None:
    with refused(sa.ParameterError, asked="method"):
        bob(method="rk4")
    with refused(sa.ParameterError, asked="stabilisation"):
        bob(method="generalized-alpha", stabilisation=sa.Projection())
    with refused(sa.ParameterError, asked="method", given="adams", possible=("rk",)):
        bob(method="adams", stabilisation=sa.Projection())[0].initialize(1e-3)
    with refused(sa.ParameterError, asked="alpha", given=-1.0):
        sa.Baumgarte(alpha=-1.0)
    with refused(sa.ParameterError, asked="-ts_type", given="bdf"):
        bob(options={"ts_type": "bdf"})[0].initialize(1e-3)


def test_options_choose_the_method() -> None:
    problem, _ = bob(
        method="generalized-alpha",
        prefix="index1_",
        options={"ts_type": "rk", "ts_rk_type": "3bs", "ts_adapt_type": "none"},
    )
    problem.solve(to=0.1, step=1e-2)
    assert problem.ts.getType() == "rk"
    assert problem.ts.getRKType() == "3bs"


def test_history_audit_and_events_work() -> None:
    problem, body = bob(stabilisation=sa.Projection())
    end = body.at((-1, 0, 0))
    problem.record("x", lambda: problem.system.position(end)[0])
    times = problem.event(lambda: float(problem.system.position(end)[0, 0]))
    history = problem.solve(to=2.0, step=1e-2, rtol=1e-9)
    assert len(history.time) == problem.steps + 1
    assert history.time[-1] == 2.0
    assert np.abs(np.linalg.norm(history["x"], axis=1) - 1.0).max() < 1e-12
    quarter = 2.3678419475762373 / 4
    assert np.abs(np.array(times) - quarter * np.array([1, 3])).max() < 1e-6
    energies = problem.energies
    assert energies.kinetic > 1.0
    assert abs(energies.drift) < 1e-6


def test_a_checkpoint_goes_on_bit_for_bit(tmp_path: Path) -> None:
    first, _ = bob(stabilisation=sa.Projection())
    first.solve(to=0.3, step=1e-3)
    first.save(tmp_path / "state.h5")
    first.solve(to=0.6, step=1e-3)
    second, _ = bob(stabilisation=sa.Projection())
    second.restore(tmp_path / "state.h5")
    second.solve(to=0.6, step=1e-3)
    assert np.array_equal(second.system.state, first.system.state)
    assert second.energies == first.energies


def test_a_ball_bounces_at_events() -> None:
    ball = sa.RigidBody.sphere(0.1, position=(0.0, 0.0, 1.0), rho=1000.0, name="ball")
    system = sa.System(ball, terms=[sa.gravity((0, 0, -9.81))])
    problem = sa.DynamicProblem(system, method="rk")
    lowest = ball.at((0.0, 0.0, -0.1))

    def bounce() -> None:
        system.rate[:] = -system.rate

    times = problem.event(lambda: float(system.position(lowest)[0, 2]), bounce, direction=-1)
    problem.solve(to=2.0, step=1e-3, rtol=1e-8)
    fall = math.sqrt(2 * 0.9 / 9.81)
    assert np.abs(np.array(times) - fall * np.array([1, 3])).max() < 1e-6
    height = 0.9 - 0.5 * 9.81 * (2.0 - 4 * fall) ** 2
    assert system.position(lowest)[0, 2] == pytest.approx(height, abs=1e-5)


def test_an_error_of_a_function_ends_the_run() -> None:
    def pull(t: float) -> float:
        if t > 0.05:
            raise ZeroDivisionError("the motor is off")
        return 1.0

    for method in ("rk", "adams"):
        body = sa.RigidBody.box((0.1, 0.1, 0.1), rho=1000.0, name="block")
        force = sa.force(body.at((0, 0, 0)), (pull, 0.0, 0.0))
        problem = sa.DynamicProblem(sa.System(body, terms=[force]), method=method)
        with refused(sa.ParameterError, asked="x", given="ZeroDivisionError('the motor is off')"):
            problem.solve(to=1.0, step=1e-2, rtol=1e-10)
        reached = problem.system.time
        assert 0.0 <= reached <= 0.05
        x = problem.system.displacement(body.at((0, 0, 0)))[0, 0]
        assert x == pytest.approx(0.5 * reached**2, rel=1e-5, abs=1e-12)


def test_too_long_steps_end_with_an_error() -> None:
    body = rope(8, EA=1e4)
    system = sa.System(body, terms=[sa.fix(body["root"]), sa.gravity(DOWN)])
    problem = sa.DynamicProblem(system, method="rk")
    with refused(sa.ConvergenceError, reason="DOMAIN", causes=likeliest("explicit step")):
        problem.solve(to=10.0, step=0.1, adaptive=False)
    assert np.isfinite(system.state).all()


@pytest.mark.parametrize(("method", "order"), [("euler", 1.0), ("ssp", 2.0)])
def test_the_other_explicit_methods_have_their_orders(method: str, order: float) -> None:
    def run(name: str, h: float) -> Any:
        problem, body = bob(method=name, stabilisation=sa.Projection())
        problem.solve(to=0.3, step=h, adaptive=False)
        return problem.system.position(body.at((-1.0, 0.0, 0.0)))[0]

    exact = run("8vr", 1e-3)
    coarse, fine = (np.abs(run(method, h) - exact).max() for h in (2e-3, 1e-3))
    assert abs(math.log2(coarse / fine) - order) < 0.05
