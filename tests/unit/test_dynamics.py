# SPDX-License-Identifier: BSD-3-Clause
"""Motions by generalized-alpha: orders, energies, constraints, events, restarts, errors."""

from __future__ import annotations

import math
import warnings
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy

import symancf as sa
from symancf.bench.motion import plate_pendulum
from symancf.energies import neo_hooke
from tests.motion import rope
from tests.refusals import likeliest, refused

GRAVITY = (0.0, 0.0, -9.81)


def pendulum(rho: float = 0.8, **options: Any) -> tuple[sa.DynamicProblem, Any]:
    """The rope on a spherical joint under its weight."""
    body = rope(4)
    pin = sa.joints.spherical(body.at((0, 0, 0)), sa.ground, name="pin")
    system = sa.System(body, terms=[pin, sa.gravity(GRAVITY)])
    return sa.DynamicProblem(system, spectral_radius=rho, **options), pin


def spring(k: float, m: float = 1.0, terms: Any = (), **options: Any) -> sa.DynamicProblem:
    """A mass on a spring along x."""
    block = sa.RigidBody.box((0.1, 0.1, 0.1), rho=1000.0 * m, name="block")

    def energy(u_a: Any, *, k: Any) -> Any:
        return k * u_a[0] ** 2 / 2

    system = sa.System(block, terms=[sa.Potential(energy, block.at((0, 0, 0)), k=k), *terms])
    return sa.DynamicProblem(system, **options)


@pytest.mark.parametrize("rho", [0.9, 0.5, 0.0])
def test_positions_rates_and_multipliers_have_order_two(rho: float) -> None:
    def run(h: float) -> np.ndarray:
        problem, pin = pendulum(rho)
        problem.solve(to=0.2, step=h)
        system = problem.system
        tip = system.bodies[0].at((1.2, 0, 0))
        return np.concatenate(
            [system.position(tip), system.velocity(tip), pin.multipliers(system)], axis=0
        )

    exact = run(5e-5)
    coarse, fine = (np.abs(run(h) - exact).max(axis=1) for h in (1e-3, 5e-4))
    order = np.log2(coarse / fine)
    assert (order > 1.7).all()
    assert (fine[:2] < (2e-5, 2e-3)).all()


def test_supports_that_move_have_order_two_and_do_work() -> None:
    def run(h: float) -> tuple[np.ndarray, sa.DynamicProblem]:
        body = rope(4)
        swing = sa.fix(
            body["root"],
            dofs="position",
            displacement=lambda t: (0.05 * math.sin(7 * t), 0.0, 0.1 * (1 - math.cos(5 * t))),
        )
        system = sa.System(body, terms=[swing, sa.gravity(GRAVITY)])
        problem = sa.DynamicProblem(system, spectral_radius=0.8)
        problem.solve(to=0.2, step=h)
        return system.position(body.at((1.2, 0, 0)))[0], problem

    exact, problem = run(1e-4)
    coarse, fine = (np.abs(run(h)[0] - exact).max() for h in (2e-3, 1e-3))
    assert 1.8 < math.log2(coarse / fine) < 2.3
    energies = problem.energies
    assert abs(energies.work) > 0.05
    assert abs(energies.drift) < 1e-5 * abs(energies.work)


def test_a_support_force_contains_inertia() -> None:
    block = sa.RigidBody.box((0.1, 0.1, 0.1), rho=2000.0)
    shaken = sa.fix(block, displacement=lambda t: (0.1 * math.sin(3 * t), 0.0, 0.0))
    system = sa.System(block, terms=[shaken])
    problem = sa.DynamicProblem(system)
    problem.solve(to=0.4, step=1e-2)
    expected = -2.0 * 0.9 * math.sin(1.2)
    assert shaken.reaction(system).force.ravel()[0] == pytest.approx(expected, rel=1e-7)


def test_a_linear_oscillator_keeps_its_energy_without_damping() -> None:
    problem = spring(100.0, spectral_radius=1.0)
    problem.system.bodies[0].velocity = (1.0, 0.0, 0.0)
    problem.record("x", lambda: problem.system.displacement(problem.system.bodies[0].at((0, 0, 0))))
    history = problem.solve(to=1.0, step=1e-3)
    exact = 0.1 * np.sin(10.0 * history.time)
    assert np.abs(history["x"][:, 0, 0] - exact).max() < 1e-5
    assert abs(problem.energies.drift) < 1e-9 * problem.energies.total


@pytest.mark.parametrize("kind", ["mass", "stiffness"])
def test_rayleigh_damping_decays_as_it_should(kind: str) -> None:
    coefficient = {"mass": 2.0, "stiffness": 0.02}[kind]
    body = rope(4, EI=0.0, EA=50.0)
    system = sa.System(body, terms=[sa.fix(body["root"], dofs="position")])
    position = system._discrete.numbering.offset[:, system._discrete.numbering.block("position")]
    damping = sa.Rayleigh(**{kind: coefficient})
    problem = sa.DynamicProblem(system, spectral_radius=1.0, damping=damping)
    x = np.linspace(0.0, 1.2, 5)
    order = np.argsort(system._discrete.points[:, 0])
    shape = 1e-4 * np.sin(math.pi * x / 2.4)
    system.state[position[order]] = shape
    slope = system._discrete.numbering.offset[:, 1]
    system.state[slope[order]] = 1e-4 * math.pi / 2.4 * np.cos(math.pi * x / 2.4)
    tip = body.at((1.2, 0, 0))
    problem.record("x", lambda: system.displacement(tip)[0, 0])
    history = problem.solve(to=2.0, step=2e-3)
    omega = math.pi / 2.4 * math.sqrt(50.0 / 1.0)
    zeta = coefficient / (2 * omega) if kind == "mass" else coefficient * omega / 2
    w = omega * math.sqrt(1 - zeta**2)
    t = history.time
    decay = np.exp(-zeta * omega * t)
    exact = 1e-4 * decay * (np.cos(w * t) + zeta * omega / w * np.sin(w * t))
    assert np.abs(history["x"] - exact).max() < 2e-3 * 1e-4
    energies = problem.energies
    assert energies.dissipated > 0.9 * 0.25 * 50 * 1.2 * (1e-4 * math.pi / 2.4) ** 2
    assert abs(energies.drift) < 1e-3 * energies.dissipated


def test_constraints_hold_to_round_off_over_a_long_run() -> None:
    bob = sa.RigidBody(position=(-1, 0, 0), mass=1.0, inertia=1e-3 * np.eye(3))
    pin = sa.joints.spherical(bob.at((1, 0, 0)), sa.ground)
    system = sa.System(bob, terms=[pin, sa.gravity(GRAVITY)])
    problem = sa.DynamicProblem(system, spectral_radius=0.8)

    def violation() -> float:
        f = system._discrete.residual_at(system.state)
        return float(np.abs(f[problem._motion.algebraic]).max()) / system._discrete.stiffness

    problem.record("violation", violation)
    violations = problem.solve(to=20.0, step=1e-2)["violation"]
    assert violations.max() < 1e-12
    assert violations[-200:].max() < 2.0 * violations[:200].max() + 1e-16


def test_an_adaptive_run_holds_its_tolerance_and_lengthens_its_steps() -> None:
    problem, _ = pendulum(0.9)
    exact, _ = pendulum(0.9)
    exact.solve(to=0.3, step=1e-4)
    problem.solve(to=0.3, step=1e-5, adaptive=True, rtol=1e-6)
    ends = [p.system.position(p.system.bodies[0].at((1.2, 0, 0))) for p in (problem, exact)]
    assert np.abs(ends[0] - ends[1]).max() < 1e-3
    steps = np.diff(problem.history.time)
    assert steps.max() > 20.0 * steps[0]
    assert problem.system.time == 0.3


def test_a_soft_plate_moves_on_where_it_has_become_a_thread() -> None:
    """16 x 16 thin plates on a corner; 8 x 8 with another curvature in docs/papers/trunk.md."""
    system, far = plate_pendulum(16, curvature="n0")
    problem = sa.DynamicProblem(system)
    slopes = system._discrete.numbering.offset[:, system._discrete.numbering.block("slopes:plate")]
    at = slopes[:, None, None] + np.arange(6).reshape(2, 3)
    areas, stretches = [], []

    def watch(_: Any) -> None:
        a, b = np.moveaxis((system.reference + system.state)[at], 1, 0)
        areas.append(np.linalg.norm(np.cross(a, b), axis=1).min())
        stretches.append(np.linalg.norm(a, axis=1).max())

    problem.monitor(watch)
    problem.solve(to=0.2, step=5e-4)
    assert system.position(far)[0] == pytest.approx([0.29568, 0.29568, -0.19618], abs=4e-4)
    problem.solve(to=0.26, step=5e-4)
    assert max(stretches) > math.sqrt(1 + 1 / 0.3)  # beyond it no width is free of stress
    assert min(areas) < 0.02
    e = problem.energies
    assert problem.history.cut_backs == 0
    assert abs(e.drift) < 2e-5 * abs(e.potential)


def test_an_event_is_located_and_may_end_the_run() -> None:
    problem, _ = pendulum()
    system = problem.system
    tip = system.bodies[0].at((1.2, 0, 0))
    called = []
    times = problem.event(
        lambda: system.position(tip)[0, 0] - 0.6, lambda: called.append(1), terminate=True
    )
    problem.solve(to=1.0, step=2e-3)
    assert len(times) == len(called) == 1
    assert system.position(tip)[0, 0] == pytest.approx(0.6, abs=1e-6)
    assert system.time == pytest.approx(times[0], abs=1e-9)


def test_a_restart_repeats_a_run_bit_for_bit(tmp_path: Path) -> None:
    first, _ = pendulum()
    first.monitor(lambda step: first.save(tmp_path / "run.h5") if first.steps == 57 else None)
    first.solve(to=0.3, step=2e-3)
    again, _ = pendulum()
    again.restore(tmp_path / "run.h5")
    assert again.steps == 57
    again.solve(to=0.3, step=2e-3)
    for name in ("state", "rate"):
        assert np.array_equal(getattr(first.system, name), getattr(again.system, name))
    assert first.energies == again.energies


def test_a_checkpoint_of_another_system_is_refused(tmp_path: Path) -> None:
    problem, _ = pendulum()
    problem.solve(to=0.01, step=2e-3)
    problem.save(tmp_path / "run.h5")
    other = spring(1.0)
    with refused(sa.CheckpointError, differences=lambda found: "rope" in found[0]):
        other.restore(tmp_path / "run.h5")


@pytest.mark.parametrize("where", ["monitor", "record", "event", "force"])
def test_an_error_of_the_user_ends_the_run_at_the_last_step(where: str) -> None:
    def fail(*_: Any) -> float:
        if system.time > 0.05:
            raise ZeroDivisionError("boom")
        return 1.0

    body = rope(4)
    terms: list[Any] = [sa.fix(body["root"], dofs="position"), sa.gravity(GRAVITY)]
    if where == "force":
        terms.append(sa.force(body["tip"], (fail, 0.0, 0.0)))
    system = sa.System(body, terms=terms)
    problem = sa.DynamicProblem(system)
    if where == "monitor":
        problem.monitor(fail)
    if where == "record":
        problem.record("x", fail)
    if where == "event":
        problem.event(fail)
    expected: tuple[type[Exception], dict[str, Any]] = ZeroDivisionError, {"args": ("boom",)}
    if where == "force":
        expected = sa.ParameterError, {"asked": "x", "given": "ZeroDivisionError('boom')"}
    with refused(expected[0], **expected[1]):
        problem.solve(to=0.3, step=1e-2)
    assert 0.05 < system.time < 0.08
    assert np.isfinite(system.state).all()


def test_a_step_without_solution_is_an_error_and_leaves_the_last_state() -> None:
    body = rope(4)

    def snap(u_a: Any, *, s: Any) -> Any:  # its force has no value beyond u = 0.01
        from sympy import sqrt

        return -s * sqrt(0.01 - u_a[2])

    system = sa.System(
        body,
        terms=[
            sa.fix(body["root"], dofs="position"),
            sa.gravity((0, 0, 9.81)),
            sa.Potential(snap, body.at((1.2, 0, 0)), s=1e-3),
        ],
    )
    problem = sa.DynamicProblem(system)
    with refused(sa.ConvergenceError, reason="DIVERGED_FNORM_NAN", causes=likeliest("law")):
        problem.solve(to=0.3, step=1e-2)
    assert 0.0 < system.time < 0.3
    assert np.isfinite(system.state).all()
    assert problem.history.cut_backs > 0


def test_an_initial_state_that_violates_a_constraint_is_refused() -> None:
    problem, _ = pendulum()
    problem.system.state[problem.system._discrete.numbering.offset[:, 0]] += 0.01
    with refused(sa.ConstraintError, names=("pin",), given=pytest.approx(0.01 / 1.2)):
        problem.solve(to=0.1, step=1e-2)


def test_an_initial_state_may_violate_a_constraint_by_round_off() -> None:
    for part, few in ((3e-8, True), (3e-7, False)):
        problem, _ = pendulum()
        problem.system.state[problem.system._discrete.numbering.offset[:, 0]] += 1.2 * part
        off = pytest.approx(part, rel=1e-3)
        with nullcontext() if few else refused(sa.ConstraintError, names=("pin",), given=off):
            problem.initialize(1e-3)


def test_initial_velocities_that_are_wrong_by_round_off_are_not_told_of() -> None:
    for part, count in ((3e-7, 0), (3e-6, 1)):
        rod = sa.RigidBody((0.5, 0, 0), mass=1.0, inertia=(0.01, 0.1, 0.1), velocity=(part, 0, -1))
        rod.spin = np.array([0.0, 2.0, 0.0])
        hinge = sa.joints.revolute(rod.at((-0.5, 0.0, 0.0)), axis=(0, 1, 0))
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            sa.DynamicProblem(sa.System(rod, terms=[hinge])).initialize(1e-2)
        assert len(told) == count


def test_initial_velocities_are_made_consistent_with_a_warning() -> None:
    problem, _ = pendulum()
    problem.system.rate[problem.system._discrete.numbering.offset[:, 0]] = (
        1.0  # of x, also at the pin
    )
    with pytest.warns(UserWarning, match="'pin'"):
        problem.initialize(1e-3)
    root = problem.system.bodies[0].at((0, 0, 0))
    assert np.abs(problem.system.velocity(root)).max() < 1e-12


def test_static_analysis_after_a_motion_forgets_the_rates() -> None:
    problem, _ = pendulum()
    system = problem.system
    problem.solve(to=0.1, step=2e-3)
    static = sa.StaticProblem(system)
    static.solve(to=0.2)
    tip = system.position(system.bodies[0].at((1.2, 0, 0)))[0]
    assert tip[2] < -1.2
    assert np.abs(system.velocity(system.bodies[0].at((1.2, 0, 0)))).max() == 0.0


@pytest.mark.parametrize(
    ("arguments", "asked", "given"),
    [
        ({"to": -1.0, "step": 0.1}, "to", -1.0),
        ({"to": 1.0, "step": 0.0}, "step", 0.0),
        ({"to": math.nan, "step": 0.1}, "to", math.isnan),
    ],
)
def test_bad_times_are_refused(arguments: dict[str, float], asked: str, given: Any) -> None:
    with refused(sa.ParameterError, asked=asked, given=given):
        pendulum()[0].solve(**arguments)


def test_a_bad_radius_is_refused() -> None:
    with refused(sa.ParameterError, asked="spectral_radius"):
        pendulum(rho=1.2)


def test_bodies_without_mass_are_refused() -> None:
    body = rope(4)
    vars(body)["parameters"] = {"EA": 100.0, "EI": 0.05}
    system = sa.System(body, terms=[sa.fix(body["root"])])
    with refused(sa.ParameterError, asked="rho", given=None):
        sa.DynamicProblem(system).solve(to=1.0, step=0.1)


def test_factors_are_refused() -> None:
    crank = sa.PlanarBody(mass=1.0, inertia=0.1)
    F = sa.Factor()
    terms = [
        sa.fix(crank, "position"),
        sa.force(crank.at((0.0, 1.0)), (1.0, 0.0), factor=F),
        sa.displacement_control(crank.at((0.0, 1.0)), "x", displacement=0.1, release=F),
    ]
    problem = sa.DynamicProblem(sa.System(crank, terms=terms))
    with refused(sa.ParameterError, asked="factor"):
        problem.solve(to=1.0, step=0.1)


def test_the_last_stretch_is_split_not_cut_to_a_sliver() -> None:
    problem, _ = pendulum()
    problem.solve(to=0.0101, step=2e-3)
    steps = np.diff(problem.history.time)
    assert steps.min() > 9e-4
    assert problem.history.time[-1] == 0.0101


@pytest.mark.parametrize(("part", "steps"), [(3e-9, 2), (3e-10, 1)])
def test_a_remainder_by_round_off_is_no_step(part: float, steps: int) -> None:
    problem, _ = pendulum()
    problem.solve(to=2e-3 * (1.0 + part), step=2e-3)
    assert problem.steps == steps


def test_steps_are_halved_ten_times() -> None:
    """A law has values for 1.5/1024 of the step that is asked for: there is one such step."""

    def law(r_a: Any, t: Any) -> Any:
        return sympy.sqrt(1.5 / 1024.0 - t) * r_a[0] ** 2

    body = sa.RigidBody(mass=1.0, inertia=np.eye(3), velocity=(1.0, 0.0, 0.0))
    terms = [sa.Potential(law, body.at((0.0, 0.0, 0.0)))]
    problem = sa.DynamicProblem(sa.System(body, terms=terms))
    with refused(sa.ConvergenceError, reason="DIVERGED_FNORM_NAN"):
        problem.solve(to=2.0, step=1.0)
    assert problem.system.time == 1.0 / 1024.0


def test_a_rotation_without_inertia_is_an_error_that_says_so() -> None:
    """A point mass is a rigid body whose rotation nothing determines; index 1 leaves it alone."""

    def falling(method: str) -> sa.RigidBody:
        bob = sa.RigidBody(mass=1.0, centre=(0.2, 0.0, 0.0), name="bob")
        system = sa.System(bob, terms=[sa.gravity((0.0, 0.0, -1.0))])
        sa.DynamicProblem(system, method=method).solve(to=0.1, step=0.01)
        height = float(system.position(bob.centre)[0, 2])
        assert abs(height + 0.005) < 1e-12
        return bob

    assert not falling("rk")._has_inertia
    with refused(sa.ConvergenceError, causes=likeliest("inertia")):
        falling("generalized-alpha")


@pytest.mark.parametrize("turn", [0.0, 0.6])
def test_a_spin_without_inertia_is_an_error_at_any_angle_and_a_hinge_holds_it(turn: float) -> None:
    """About the line from the joint to the mass nothing resists, whatever the pivots say."""

    def swing(joint: str, axis: tuple[float, float, float]) -> float:
        c, s = np.cos(turn), np.sin(turn)
        frame = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        bob = sa.RigidBody((0.0, 0.0, 0.0), frame, mass=1.0, centre=(0.2, 0.0, 0.0), name="bob")
        at, more = bob.at((0.0, 0.0, 0.0)), {"axis": axis} if joint == "revolute" else {}
        terms = [sa.gravity((0.0, 0.0, -1.0)), getattr(sa.joints, joint)(at, **more)]
        system = sa.System(bob, terms=terms)
        sa.DynamicProblem(system).solve(to=0.02, step=0.01)
        return float(system.position(bob.centre)[0, 2])

    across, along = (-np.sin(turn), np.cos(turn), 0.0), (np.cos(turn), np.sin(turn), 0.0)
    assert swing("revolute", across) == pytest.approx(-0.5 * 0.02**2, rel=1e-3)
    for joint, axis in (("spherical", across), ("revolute", along)):
        with refused(sa.ConvergenceError, causes=likeliest("inertia")):
            swing(joint, axis)


def test_motions_that_contradict_each_other_later_are_named() -> None:
    body = sa.RigidBody.box((0.2, 0.1, 0.1), rho=100.0, name="block")
    hinge = sa.joints.revolute(body.at((-0.1, 0.0, 0.0)), axis=(0, 1, 0))
    turns = [
        sa.joints.rotation(*hinge.ends, angle=lambda t, k=k: k * t, name=f"turn {k}")
        for k in (1, 2)
    ]
    with pytest.warns(UserWarning, match="redundant constraints: 1 equation of 'turn 2'"):
        problem = sa.DynamicProblem(sa.System(body, terms=[hinge, *turns]))
    with refused(sa.ConstraintError, names=("turn 2",)):
        problem.solve(to=0.1, step=0.01)


@pytest.mark.parametrize("pc", ["gamg", "jacobi", "none"])
def test_initial_accelerations_do_not_depend_on_a_loose_krylov_solver(pc: str) -> None:
    found = []
    for options in ({"ksp_type": "preonly", "pc_type": "lu"}, {"ksp_type": "cg", "pc_type": pc}):
        mesh = sa.Mesh.box((1.0, 0.2, 0.2), (12, 3, 3))
        block = sa.Body(
            mesh["body"], sa.elements.hex8_plain, neo_hooke(), mu=1e5, lam=1e5, rho=1000.0
        )
        pull = sa.force(block["x1"], (0.0, 1.0, -2.0))
        system = sa.System(block, terms=[sa.fix(block["x0"]), pull])
        problem = sa.DynamicProblem(system, options={"ksp_rtol": 1e-2, **options})
        problem.initialize(1e-3)
        found.append(problem.acceleration.copy())
    assert problem.snes.getKSP().getTolerances()[0] == pytest.approx(1e-2)  # again
    assert np.abs(found[0]).max() > 1.0
    assert np.abs(found[1] - found[0]).max() < 1e-12 * np.abs(found[0]).max()
