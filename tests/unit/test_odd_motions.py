# SPDX-License-Identifier: BSD-3-Clause
"""Odd uses of motions: each ends in a right result or in an error equal on all ranks."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpi4py import MPI

import symancf as sa
from tests.motion import rope
from tests.refusals import refused

G, SPEED = 10.0, 3.0
METHODS = ("generalized-alpha", "rk")
COMM = MPI.COMM_WORLD

pytestmark = pytest.mark.collective


def thrown(
    method: str = "generalized-alpha", **options: Any
) -> tuple[sa.DynamicProblem, Callable[[], float]]:
    """A rope without supports, thrown upwards from z = 0; the function returns its height."""
    body = rope(6)
    system = sa.System(body, terms=[sa.gravity((0.0, 0.0, -G))])
    z = system._discrete.numbering.offset[:, system._discrete.numbering.block("position")] + 2
    system.rate[z] = SPEED
    tip = body.at((1.2, 0.0, 0.0))
    problem = sa.DynamicProblem(system, method=method, **options)
    return problem, lambda: float(system.position(tip)[0, 2])


def passages(height: float) -> tuple[float, float]:
    root = math.sqrt(SPEED**2 - 2.0 * G * height)
    return (SPEED - root) / G, (SPEED + root) / G


EXACT = {"rtol": 1e-10, "atol": 1e-12}


# ---- events -------------------------------------------------------------------------------------
@pytest.mark.collective(rows=2)
@pytest.mark.parametrize("method", METHODS)
def test_zeros_on_any_number_of_ranks(method: str) -> None:
    problem, z = thrown(method)
    up = problem.event(lambda: z() - 0.3, direction=1)
    down = problem.event(lambda: z() - 0.3, direction=-1)
    top = 0.45 - 0.5 * G * 0.01**2
    twice = problem.event(lambda: z() - top)  # 0.02 s apart, in one step
    order: list[str] = []
    for name, height in {"late": 0.25, "early": 0.1, "same": 0.25}.items():
        problem.event(lambda h=height: z() - h, lambda n=name: order.append(n), direction=1)
    ends = problem.event(lambda: z() - 0.05, direction=-1, terminate=True)
    problem.solve(to=0.65, step=0.1, **EXACT)
    assert [*up, *down] == pytest.approx(passages(0.3), abs=1e-9)
    assert twice == pytest.approx((0.29, 0.31), abs=1e-8)
    assert order == ["early", "late", "same"]
    assert problem.system.time == ends[0] == pytest.approx(passages(0.05)[1], abs=1e-9)
    assert z() == pytest.approx(0.05, abs=1e-9)
    assert len({tuple(times) for times in COMM.allgather((*up, *down, *twice, *ends))}) == 1


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("method", METHODS)
def test_a_function_that_comes_to_zero_and_stays(method: str) -> None:
    problem, z = thrown(method)
    stays = problem.event(lambda: max(0.0, z() - 0.3))
    never = problem.event(lambda: 0.0, terminate=True)
    ends = problem.event(lambda: problem.system.time - 0.6, direction=1)
    problem.solve(to=0.6, step=0.1, **EXACT)
    assert stays == pytest.approx(passages(0.3)[1:], abs=1e-7)
    assert not never
    assert ends == [0.6]


def test_events_may_be_added_by_actions_and_monitors() -> None:
    problem, z = thrown()
    found: list[list[float]] = []
    problem.event(
        lambda: z() - 0.1, lambda: found.append(problem.event(lambda: z() - 0.2)), direction=1
    )
    problem.solve(to=0.6, step=0.05)
    assert found[0] == pytest.approx(passages(0.2), abs=1e-9)


# ---- errors -------------------------------------------------------------------------------------
def one_rank(function: Callable[[], Any]) -> Callable[[], Any]:
    """A function that does something on the last rank only."""
    return lambda: function() if COMM.rank == COMM.size - 1 else None


def fails(problem: sa.DynamicProblem, **data: Any) -> None:
    """Require the same error on every rank."""
    with refused(sa.ParameterError, **data) as caught:
        problem.solve(to=0.6, step=0.05)
    assert len(set(COMM.allgather(str(caught.value)))) == 1


@pytest.mark.parametrize("by", ["action", "monitor"])
def test_a_solve_within_a_solve_is_refused(by: str) -> None:
    problem, z = thrown()

    def again() -> None:
        problem.solve(to=1.0, step=0.1)

    if by == "action":
        problem.event(lambda: z() - 0.1, again)
    else:
        problem.monitor(lambda p: again())
    fails(problem, asked="solve")
    time = problem.system.time
    assert time == pytest.approx(0.0 if by == "monitor" else passages(0.1)[0])


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("by", ["action", "monitor"])
def test_a_time_set_within_a_solve_is_refused(by: str) -> None:
    problem, z = thrown()

    def back() -> None:
        problem.system.time = 0.01

    if by == "action":
        problem.event(lambda: z() - 0.1, one_rank(back))
    else:
        problem.monitor(lambda p: one_rank(back)())
    fails(problem, asked="time", given=0.01)


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("what", ["state", "rate"])
def test_a_motion_begins_with_numbers(method: str, what: str) -> None:
    problem, _ = thrown(method)
    vector = getattr(problem.system, what)
    if COMM.rank == COMM.size - 1:
        vector[0] = math.nan
    fails(problem, asked=what, given=math.isnan)
    assert problem.system.time == 0.0
    vector[:] = 0.0
    at = problem.event(
        lambda: problem.system.time - 0.1, one_rank(lambda: vector.__setitem__(0, math.inf))
    )
    fails(problem, asked=what, given=math.inf)
    assert at == [pytest.approx(0.1)]


@pytest.mark.parametrize("function", [lambda: None, lambda: [1.0, 2.0], lambda: "one"])
def test_a_function_that_returns_no_number_is_named(function: Any) -> None:
    problem, _ = thrown()
    problem.event(function)
    given = function()
    fails(problem, asked="event", given=tuple(given) if isinstance(given, list) else given)


def test_values_that_differ_from_rank_to_rank_are_named() -> None:
    problem, z = thrown()
    problem.event(lambda: z() - 0.1 * (COMM.rank + 1))
    if COMM.size == 1:
        problem.solve(to=0.1, step=0.05)
    else:
        fails(problem, asked="event", given=lambda found: len({*found}) == COMM.size)


@pytest.mark.collective(rows=0)
def test_wrong_arguments_of_motions() -> None:
    problem, z = thrown()
    wrong: list[tuple[str, Any]] = [("terminate", "no"), ("direction", True)]
    for name, given in wrong:
        with refused(sa.ParameterError, asked=name, given=given):
            problem.event(z, **{name: given})
    with refused(sa.ParameterError, asked="atol", given=-1):
        problem.solve(to=1.0, step=0.1, atol=-1)


# ---- states that are set ------------------------------------------------------------------------
def test_forces_follow_rates_again_after_statics_in_an_action() -> None:
    """A push at equilibrium against a spring and a damper, critical: x = v t exp(-2 t)."""
    body = sa.PlanarBody((0, 0, 0), mass=2.0, inertia=1.0, name="mass")
    spring = sa.Potential(lambda u_a: 4 * u_a[1] ** 2, body.at((0, 0)))
    damper = sa.VirtualWork(lambda v_a: {v_a[1]: -8.0 * v_a[1]}, body.at((0, 0)))
    held = sa.fix(body, ["x", "theta"])
    system = sa.System(body, terms=[spring, damper, held, sa.gravity((0.0, -4.0, 0.0))])
    problem = sa.DynamicProblem(system, spectral_radius=0.9)
    statics = sa.StaticProblem(system)
    offset = system._discrete.numbering.offset[
        :, system._discrete.numbering.block("planar position")
    ]

    def push() -> None:
        statics.solve(to=0.1, step=1.0)
        system.rate[offset[offset >= 0] + 1] = 1.0

    problem.event(lambda: system.time - 0.1, push)
    problem.solve(to=0.5, step=1e-3)
    assert body.position(system)[1] == pytest.approx(-1.0 + 0.4 * math.exp(-0.8), abs=1e-5)


@pytest.mark.collective(rows=0)
def test_velocities_of_round_off_are_not_told_of() -> None:
    """At the top of its flight a body has next to no velocity; what rounds off is no surprise."""
    body = sa.RigidBody.sphere(0.1, rho=1000.0, velocity=(0.0, 0.0, SPEED))
    system = sa.System(body, terms=[sa.gravity((0.0, 0.0, -G))])
    sa.DynamicProblem(system).solve(to=SPEED / G, step=0.01)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sa.DynamicProblem(system).solve(to=0.4, step=0.01)
    assert body.position(system)[2] == pytest.approx(SPEED * 0.4 - 5 * 0.16, abs=1e-12)


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize(
    ("spin", "rho", "steps", "told"),
    [(0.15, 0.9, 28, False), (0.25, 0.9, 28, True), (0.049, 1.0, 70, False)],
)
def test_spin_that_a_step_does_not_resolve_is_told_once(
    spin: float, rho: float, steps: int, told: bool
) -> None:
    ball = sa.RigidBody.sphere(0.1, mass=1.0, spin=(0.0, 0.0, spin), name="ball")
    still = sa.RigidBody.box((0.1, 0.2, 0.3), mass=1.0, name="still")
    system = sa.System(still, ball)
    problem = sa.DynamicProblem(system, spectral_radius=rho)
    problem.initialize(1.0)
    energy = problem.energies.kinetic
    assert energy == pytest.approx(0.5 * 0.4 * 0.1**2 * spin**2, rel=1e-9)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        problem.solve(to=steps, step=1.0)
        problem.solve(to=2 * steps, step=1.0)
    texts = [str(w.message) for w in found if "turns by" in str(w.message)]
    assert len(texts) == (told and COMM.rank == 0)
    assert not texts or texts[0].startswith("ball turns by 0.25 rad in a step of 1:")
    assert ball.angular_velocity(system)[2] == pytest.approx(spin, rel=1e-3)
    assert problem.energies.kinetic == pytest.approx(energy, rel=2e-3)


@pytest.mark.collective(rows=0)
def test_a_heavy_top_precesses_in_steps_of_eleven_degrees() -> None:
    """Regular precession (L. D. Landau, E. M. Lifshitz, Mechanics, 35): W (J3 w3 - J1 W c) = m g l.

    Rates were left as they were before: no solution after 0.3 s with steps of 7 degrees.
    """
    m, g, arm, tilt, W = 2.0, 9.81, 0.1, 0.6, 2.0
    J1, J3 = 0.012 + m * arm**2, 0.008
    c, s = math.cos(tilt), math.sin(tilt)
    own = (m * g * arm / W + J1 * W * c) / J3
    axis = np.array([s, 0.0, c])
    spin = np.array([0.0, 0.0, W]) + (own - W * c) * axis
    frame = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
    errors = []
    for step in (0.2 / own, 0.1 / own):
        top = sa.RigidBody(
            arm * axis,
            frame,
            mass=m,
            inertia=(0.012, 0.012, J3),
            spin=spin,
            velocity=np.cross(spin, arm * axis),
        )
        tip = sa.joints.spherical(top.at((0.0, 0.0, -arm)), sa.ground)
        system = sa.System(top, terms=[tip, sa.gravity((0.0, 0.0, -g))])
        problem = sa.DynamicProblem(system, spectral_radius=0.9)
        problem.solve(to=0.4, step=step)
        angle = W * 0.4
        now = np.array([s * math.cos(angle), s * math.sin(angle), c])
        force = m * (g * np.array([0.0, 0.0, 1.0]) - W**2 * arm * now * [1.0, 1.0, 0.0])
        errors.append(
            [
                np.abs(top.position(system) / arm - now).max(),
                np.abs(tip.reaction(system).force - force).max() / (m * g),
            ]
        )
    (where, force), (later, _) = errors
    assert later < 1.5e-3
    assert force < 6e-3
    assert where / later == pytest.approx(4.0, rel=0.1)


def test_joined_bodies_turn_fast_and_a_restart_goes_on(shared_tmp_path: Path) -> None:
    """A hinge in flight, 9 degrees a step; rates of each body alone at constraints do not do."""
    spin = np.array([0.05, -0.02, 0.15])
    bodies = [
        sa.RigidBody(at, mass=mass, inertia=J, spin=spin, velocity=np.cross(spin, at), centre=to)
        for at, mass, J, to in (
            ((0.2, 0.0, 0.0), 1.0, (0.02, 0.025, 0.01), (0.05, 0.02, 0.03)),
            ((0.6, 0.0, 0.1), 0.7, (0.01, 0.015, 0.008), (0.0, 0.0, 0.0)),
        )
    ]
    hinge = sa.joints.revolute(
        bodies[0].at((0.2, 0.0, 0.0)), bodies[1].at((-0.2, 0.0, -0.1)), axis=(0.0, 0.6, 0.8)
    )
    system = sa.System(*bodies, terms=[hinge])
    problem = sa.DynamicProblem(system, spectral_radius=0.95)
    problem.solve(to=1.0, step=1.0)
    kinetic, momentum = problem.energies.kinetic, system.momentum()
    problem.solve(to=100.0, step=1.0)
    assert problem.energies.kinetic == pytest.approx(kinetic, rel=2e-3)
    for before, after in zip(momentum, system.momentum(), strict=True):
        np.testing.assert_allclose(after, before, atol=1e-3 * np.linalg.norm(before))
    problem.save(shared_tmp_path / "motion.h5")
    problem.solve(to=120.0, step=1.0)
    end = system.state.copy()
    problem.restore(shared_tmp_path / "motion.h5")
    problem.solve(to=120.0, step=1.0)
    np.testing.assert_allclose(system.state, end, atol=1e-9)


def test_energy_from_nowhere_is_told_once() -> None:
    body = sa.Body(
        sa.Mesh.box((1.0,), (4,))["body"],
        sa.elements.ancf_cable,
        sa.energies.cable(),
        **{"EA": 1e3, "EI": 1.0, "A": 1.0, "rho": 1.0},
    )
    falling = [sa.fix(body["x0"]), sa.gravity((0.0, -9.81, 0.0))]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        still = sa.DynamicProblem(sa.System(body, terms=falling[:1]))
        still.solve(to=0.04, step=0.02)  # round-off is no gain
        problem = sa.DynamicProblem(sa.System(body, terms=falling))
        problem.solve(to=0.2, step=0.02)
    problem = sa.DynamicProblem(sa.System(body, terms=falling))
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        problem.solve(to=2.0, step=1.0)
    told = [
        w
        for w in found
        if re.search(r"gained .* J that no load explains, .*% of its en", str(w.message))
    ]
    assert len(told) == (COMM.rank == 0)
    assert problem.energies.drift > 20.0  # where 5 J are
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        problem.solve(to=2.1, step=0.01)
