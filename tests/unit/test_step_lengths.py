# SPDX-License-Identifier: BSD-3-Clause
"""Forces of joints by generalized-alpha where the length of steps changes, against closed forms."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import symancf as sa

G, MASS, INERTIA, ARM, SPIN = 10.0, 2.0, 0.3, 0.5, 1.0
TO = 0.4


def hinged(planar: bool, rho: float) -> tuple[sa.DynamicProblem, Callable[[], Any], Any]:
    """A rod on a hinge that swings down from the horizontal; force of the hinge, height of tip."""
    if planar:
        body: Any = sa.PlanarBody(
            (0, 0, 0), mass=MASS, centre=(ARM, 0), inertia=INERTIA, spin=-SPIN
        )
        hinge: Any = sa.joints.revolute(body.at((0, 0)), sa.ground.at((0.0, 0.0)))
        tip, axis = body.at((2 * ARM, 0.0)), 1
    else:
        body = sa.RigidBody(
            position=(ARM, 0, 0),
            mass=MASS,
            inertia=(0.01, INERTIA, INERTIA),
            spin=(0, SPIN, 0),
            velocity=(0, 0, -ARM * SPIN),
        )
        hinge = sa.joints.revolute(body.at((-ARM, 0, 0)), axis=(0, 1, 0))
        tip, axis = body.at((ARM, 0.0, 0.0)), 2
    g = [0.0, 0.0, 0.0]
    g[axis] = -G
    system = sa.System(body, terms=[hinge, sa.gravity(g)])
    problem = sa.DynamicProblem(system, spectral_radius=rho)
    problem.record("force", lambda: hinge.reaction(system).force[[0, axis]])
    return problem, lambda: float(system.position(tip)[0, axis]), hinge


def exact() -> Callable[[Any], np.ndarray]:
    """Force of the hinge from the angle below the horizontal, (2, times)."""
    about = INERTIA + MASS * ARM**2
    k = MASS * G * ARM / about

    def change(t: float, y: Any) -> tuple[float, float]:
        return y[1], k * math.cos(y[0])

    found = solve_ivp(change, (0, TO), (0.0, SPIN), rtol=1e-12, atol=1e-13, dense_output=True)

    def force(t: Any) -> np.ndarray:
        angle, rate = found.sol(t)
        s, c, bend = np.sin(angle), np.cos(angle), k * np.cos(angle)
        x = -c * rate**2 - s * bend
        z = s * rate**2 - c * bend
        return np.array([MASS * ARM * x, MASS * (ARM * z + G)])

    return force


def intervals(problem: sa.DynamicProblem, height: Any, h: float) -> None:
    """Ends of intervals leave half a step, and steps of 0.3 of a step after whole ones."""
    time, k = 0.0, 0
    while time < TO:
        time = min(TO, time + (3.5, 5.3, 2.1)[k % 3] * h)
        problem.solve(to=time, step=h)
        k += 1


def events(problem: sa.DynamicProblem, height: Any, h: float) -> None:
    """Five events at any places of steps."""
    found = [problem.event(lambda z=z: height() + z) for z in (0.1, 0.23, 0.4, 0.61, 0.7)]
    problem.solve(to=TO, step=h)
    assert [len(times) for times in found] == [1] * 5


def other_lengths(problem: sa.DynamicProblem, height: Any, h: float) -> None:
    """Each call has a length of its own."""
    for k, share in enumerate((1.0, 0.5, 0.8, 0.1, 1.0)):
        problem.solve(to=TO * (k + 1) / 5, step=share * h)


@pytest.mark.parametrize("how", [intervals, events, other_lengths])
@pytest.mark.parametrize(("planar", "rho"), [(False, 0.9), (True, 0.5)])
def test_forces_of_joints_have_order_two_at_every_time(
    how: Callable[..., None], planar: bool, rho: float
) -> None:
    force, errors = exact(), []
    for h in (8e-3, 4e-3, 2e-3):
        problem, height, _ = hinged(planar, rho)
        how(problem, height, h)
        history = problem.history
        assert history.time[-1] == TO
        wanted = force(history.time)
        found = np.asarray(history["force"]).T
        errors.append(float(np.abs(found - wanted).max() / np.abs(wanted).max()))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert errors[-1] < 1.5e-4
    assert orders.mean() > 1.7


def test_steps_that_follow_the_local_error_leave_no_swing_in_forces() -> None:
    problem, _, _ = hinged(False, 0.9)
    history = problem.solve(to=TO, step=1e-5, adaptive=True, rtol=1e-6)
    wanted = exact()(history.time)
    found = np.asarray(history["force"]).T
    assert len({round(h, 9) for h in np.diff(history.time)}) > 5  # the length has changed
    assert np.abs(found - wanted).max() < 5e-3 * np.abs(wanted).max()


@pytest.mark.filterwarnings("ignore:at t")
def test_steps_grow_again_after_one_that_failed() -> None:
    """An arm of rods whose tendon is pulled at once: with steps of 1 ms none fails."""

    def tendon(r_a: Any, e2_a: Any, r_b: Any, e2_b: Any, *, T: Any) -> Any:
        return T * ((r_b + 5e-3 * e2_b) - (r_a + 5e-3 * e2_a)).norm()

    mesh, section = sa.Mesh.box((0.2,), (8,), cell="line3"), sa.Section.circle(6e-3)
    arm = sa.Body(
        mesh["body"],
        sa.elements.ancf_rod,
        sa.energies.rod(),
        direction=lambda X: np.tile((0, 1.0, 0), (len(X), 1)),
        **section.rod(E=1e6, nu=0.49, rho=1070.0),
    )
    at = [arm.at((x, 0, 0)) for x in np.linspace(0, 0.2, 5)]
    cords = [sa.Potential(tendon, *pair, T=2.0) for pair in pairwise(at)]
    problem = sa.DynamicProblem(
        sa.System(arm, terms=[sa.fix(arm["x0"]), *cords]), spectral_radius=0.7
    )
    problem.solve(to=0.1, step=5e-3)
    assert 0 < problem.history.cut_backs < 10
    assert len(problem.history.steps) < 40
    fixed = (0.1063, 0.0730, 0.0)  # with steps of 0.5 ms
    np.testing.assert_allclose(problem.system.position(at[-1])[0], fixed, atol=6e-3)
    assert abs(problem.energies.drift) < 0.02 * problem.energies.total


@pytest.mark.parametrize("step", [5e-3, 2e-2])
def test_a_rod_that_spins_fast_is_resolved_with_any_step(step: float) -> None:
    """100 rad/s, by 29 and 115 degrees in a step; its middle goes straight on."""
    mesh, section = sa.Mesh.box((0.2,), (4,), cell="line3"), sa.Section.circle(6e-3)
    rod = sa.Body(
        mesh["body"],
        sa.elements.ancf_rod,
        sa.energies.rod(),
        direction=lambda X: np.tile((0, 1.0, 0), (len(X), 1)),
        spin=(0, 0, 100.0),
        **section.rod(E=1e6, nu=0.3, rho=1070.0),
    )
    system = sa.System(rod)
    problem = sa.DynamicProblem(system)
    problem.solve(to=0.2, step=step)
    ends = system.position(rod.at([(0.0, 0, 0), (0.2, 0, 0)]))
    np.testing.assert_allclose(ends.mean(axis=0), (0.1, 0.1 * 100.0 * 0.2, 0.0), atol=1e-6)
    assert abs(problem.energies.drift) < 0.1 * problem.energies.total
