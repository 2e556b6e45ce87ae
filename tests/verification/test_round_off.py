# SPDX-License-Identifier: BSD-3-Clause
"""Rivlin's cube, whose bifurcations are multiple, under the round-off of other machines."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
import pytest

import symancf as sa
from symancf import verify
from symancf.assembly.assembler import Assembler
from symancf.verify.incompressible import RIVLIN, brick, pulled
from tests.refusals import refused

if TYPE_CHECKING:
    from symancf.arrays import Array
    from symancf.output.steps import Step


@pytest.fixture(params=["1"], autouse=True)
def seed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMANCF_ROUND_OFF", request.param)


def residual(stretch: float) -> Array:
    """Of the cube, all coordinates moved."""
    system, T, _ = pulled()
    T.value = 1.0
    system._discrete.update(0.0)
    f = np.zeros_like(system.state)
    system._discrete.assembler.residual(stretch * np.sin(np.arange(len(f))), f)
    return f


def test_forces_are_rounded_otherwise_and_the_same_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    f = residual(0.1)
    np.testing.assert_array_equal(residual(0.1), f)
    monkeypatch.delenv("SYMANCF_ROUND_OFF")
    off = np.abs(residual(0.1) - f).max() / np.abs(f).max()
    assert 1e-17 < off < 5e-15
    monkeypatch.setenv("SYMANCF_ROUND_OFF", "none")
    with refused(sa.ParameterError, asked="SYMANCF_ROUND_OFF", given="none"):
        residual(0.1)


def test_rivlins_cube() -> None:
    (case,) = (case for case in verify.cases() if case.id == "C20_rivlin_cube")
    assert [result.quantity for result in case.run() if not result.passed] == []


@pytest.mark.parametrize(("step", "largest"), [(0.5, None), (0.4, 0.4)])
@pytest.mark.parametrize("seed", "1234", indirect=True)
def test_the_cube_has_one_bifurcation(
    step: float, largest: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six eigenvalues at once; steps of 0.5 look for them there, the fifth of 0.4 ends there."""
    exact, noise = Assembler.residual, np.random.default_rng(int(step * 10))

    def noisy(assembler: Assembler, x: Array, f: Array) -> int:
        bad = exact(assembler, x, f)
        f *= 1.0 + 1e-14 * noise.uniform(-1.0, 1.0, len(f))
        return bad

    monkeypatch.setattr(Assembler, "residual", noisy)
    system, T, cube = pulled()
    with pytest.warns(UserWarning, match="6 eigenvalues change their sign at once"):
        history = sa.StaticProblem(system, check_stable=False).follow(
            T, to=2.05, step=step, largest=largest
        )
    (point,) = history.bifurcations
    assert point.parameter == pytest.approx(2.0, rel=1e-6)
    assert np.abs(history["T"] - 2.0).min() > 1e-3  # of all steps
    assert history["T"][-1] == 2.05
    assert np.abs(system.displacement(cube.at([(1.0, 1.0, 1.0)]))).max() < 1e-10


def test_a_path_goes_on_from_a_bifurcation() -> None:
    """At which a call ended; its eigenvalues are zero to round-off, and all change at once."""
    system, T, cube = pulled()
    problem = sa.StaticProblem(system, check_stable=False)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "follow")
        problem.follow(T, to=2.0, step=0.1, largest=0.1)
        history = problem.follow(T, to=2.05)
    (point,) = history.bifurcations
    assert (point.eigenvalues, point.parameter) == (6, pytest.approx(2.0, rel=1e-6))
    assert np.abs(system.displacement(cube.at([(1.0, 1.0, 1.0)]))).max() < 1e-10


@pytest.mark.parametrize("step", [0.11, 0.15])
def test_bricks_become_the_cube_at_a_double_bifurcation(step: float) -> None:
    """From a flat brick past the least load, through the state without displacements."""
    problem, T, _ = brick(2.2, RIVLIN[2.2][1])
    history = problem.history

    def behind(step: Step) -> bool:
        return bool(history.limit_points) and T.value > 2.02

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "follow")
        problem.follow(T, step=step, direction=-1, until=behind)
    (point,) = (point for point in history.bifurcations if abs(point.parameter - 2.0) < 1e-3)
    assert point.eigenvalues == 2
    assert point.parameter == pytest.approx(2.0, rel=1e-6)


def test_a_path_ends_where_the_tangent_is_singular() -> None:
    system, T, body = pulled()
    history = sa.StaticProblem(system, check_stable=False).follow(T, to=2.0, step=0.5)
    assert history["T"][-1] == T.value == 2.0
    assert abs(system.displacement(body.at([(1.0, 1.0, 1.0)]))).max() < 1e-12
    assert max(history.steps[-1].norms.values()) < 1e-12
