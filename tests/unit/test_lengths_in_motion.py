# SPDX-License-Identifier: BSD-3-Clause
"""Lengths that are kept in motions of index 3 and index 1, and their time derivatives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import symancf as sa
from symancf.runtime.petsc import has
from symancf.solve.dynamics.derivatives import ConstraintKinematics
from tests.lines import of_groups, random, rope, strip, violation
from tests.refusals import refused

Array = npt.NDArray[np.float64]


def swinging(form: Any, per: Any, method: str, stretch: Any = 1.0, **options: Any) -> Any:
    """A soft cable, hinged at one end, that falls from rest with its length kept."""
    body = rope(6, EA=20.0, EI=0.02)
    line = sa.length(body["body"], form, per=per, stretch=stretch)
    terms = [sa.fix(body["x0"], "position"), sa.planar(body, "y"), sa.gravity((0, 0, -9.81)), line]
    system = sa.System(body, terms=terms)
    return sa.DynamicProblem(system, method=method, **options), line, body


@pytest.mark.parametrize(("form", "per"), [("arc", "edge"), ("squared", "line")])
def test_lengths_are_kept_over_a_thousand_steps(form: Any, per: Any) -> None:
    problem, line, body = swinging(form, per, "generalized-alpha", spectral_radius=0.8)
    system = problem.system
    worst = lowest = 0.0

    def note(step: Any) -> None:
        nonlocal worst, lowest
        worst = max(worst, np.abs(violation(line, system)).max())
        lowest = min(lowest, system.position(body["x1"])[0, 2])

    problem.monitor(note)
    problem.solve(to=1.0, step=1e-3)
    assert problem.steps >= 1000
    assert worst <= 1e-12
    assert lowest < -0.5
    if form == "arc":
        np.testing.assert_allclose(line.lengths(system), np.full(6, 1 / 6), atol=1e-13)
    assert abs(problem.energies.drift) < 1e-2 * 4.9


@pytest.mark.parametrize("per", ["edge", "line"])
def test_index_one_finds_the_motion_of_index_three(per: Any) -> None:
    def slow(t: float) -> float:
        return 1.0 + 0.1 * np.sin(3 * t)

    places = []
    for method, step, options in (
        ("generalized-alpha", 2e-3, {"spectral_radius": 0.9}),
        ("generalized-alpha", 1e-3, {"spectral_radius": 0.9}),
        ("rk", 1e-4, {"stabilisation": sa.Projection()}),
    ):
        problem, line, body = swinging("arc", per, method, slow, **options)
        problem.solve(to=0.1, step=step, **({"rtol": 1e-9} if method == "rk" else {}))
        if method == "rk":
            made = problem._accelerations
            here = of_groups(line, problem.system, made.violation())
            assert np.abs(here).max() <= 1e-12 * problem.system._discrete.stiffness
            assert problem.steps > 20
        places.append(problem.system.position(body.at([(1, 0, 0), (0.4, 0, 0)])))
        total = line.lengths(problem.system).sum()
        assert total == pytest.approx(slow(0.1), abs=5e-12)
    errors = [np.abs(found - places[2]).max() for found in places[:2]]
    assert errors[1] < 1e-4
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.3)


@pytest.mark.parametrize("form", ["arc", "squared"])
def test_time_derivatives_of_a_sum_over_a_line(form: Any) -> None:
    """Phi, Phi' and Phi'' along q(t), by differences of Phi."""
    body = strip(n=3)
    factor: Callable[[float], float] = lambda t: 1.0 + 0.3 * np.sin(2 * t)  # noqa: E731
    line = sa.length(body["both"], form, per="line", stretch=factor)
    system = sa.System(body, terms=[sa.fix(body["ends"]), line])
    system._discrete.stiffness = 1.0
    kinematics = ConstraintKinematics(system._discrete)
    q, v, a = (random(system, k, 0.1) for k in (1, 2, 3))
    h = 1e-3
    values = []
    for k in range(-2, 3):
        system.time = 0.4 + k * h
        values.append(violation(line, system, q + k * h * v + (k * h) ** 2 / 2 * a))
    m2, m1, now, p1, p2 = values
    rate = (m2 - 8 * m1 + 8 * p1 - p2) / (12 * h)
    bend = (-m2 + 16 * m1 - 30 * now + 16 * p1 - p2) / (12 * h**2)
    system.time = 0.4
    kinematics.refresh()

    def along(*weights: float) -> Array:
        return of_groups(line, system, kinematics.along(q, v, *weights).copy())

    assert len(now) == 2
    np.testing.assert_allclose(along(1.0, 0.0, 0.0), now, rtol=1e-13)
    np.testing.assert_allclose(along(0.0, 1.0, 0.0), rate, rtol=1e-9)
    turning = of_groups(line, system, kinematics.product(q, a))
    np.testing.assert_allclose(along(0.0, 0.0, 1.0) + turning, bend, rtol=1e-6)


def test_a_checkpoint_keeps_the_tension(tmp_path: Path) -> None:
    problem, line, body = swinging("arc", "line", "generalized-alpha", spectral_radius=0.8)
    problem.solve(to=0.02, step=1e-3)
    problem.save(tmp_path / "here.h5")
    problem.solve(to=0.03, step=1e-3)
    expected = line.multipliers(problem.system), problem.system.position(body["x1"])
    problem, line, body = swinging("arc", "line", "generalized-alpha", spectral_radius=0.8)
    problem.restore(tmp_path / "here.h5")
    assert problem.system.time == pytest.approx(0.02)
    problem.solve(to=0.03, step=1e-3)
    assert abs(expected[0][0, 0]) > 1e-3
    np.testing.assert_allclose(line.multipliers(problem.system), expected[0], rtol=1e-8)
    np.testing.assert_allclose(problem.system.position(body["x1"]), expected[1], rtol=1e-12)


@pytest.mark.parametrize("factors", ["mumps", "umfpack"])
def test_a_straight_line_between_fixed_ends_is_named(factors: str) -> None:
    body = rope(6)
    line = sa.length(body["body"], per="line", name="kept")
    ends = [sa.fix(body[side], "position") for side in ("x0", "x1")]
    system = sa.System(body, terms=[*ends, sa.planar(body, "y"), sa.gravity((0, 0, -9.81)), line])
    if factors == "umfpack" and not has("suitesparse"):
        pytest.skip("PETSc has no UMFPACK")
    options = {"pc_factor_mat_solver_type": factors}
    # by round-off its gradient vanishes, or the mass matrix with the constraints is singular
    with refused(sa.ConstraintError, asked=lambda found: found in ("gradient", "mass matrix")):
        sa.DynamicProblem(system, options=options).solve(to=0.01, step=1e-3)
    with refused(sa.ConvergenceError, asked="constraints") as caught:
        sa.StaticProblem(system).solve()
    assert "'kept'" in str(caught.value)
