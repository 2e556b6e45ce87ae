# SPDX-License-Identifier: BSD-3-Clause
"""A new aid of Newton's method is one file: a class, and its row in the table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
import sympy as sp

import symancf as sa
from symancf.newton import AIDS, Aid, AidRow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from symancf.newton import VectorEquations

pytestmark = pytest.mark.collective


class LineSearch(Aid):
    """Halves a step until the residual is smaller than where it begins, or eight times."""

    def __init__(self, equations: VectorEquations) -> None:
        self.equations = equations
        self.at, self.F = equations.x.duplicate(), equations.F.duplicate()

    def step(self) -> bool:
        equations = self.equations
        before = equations.F.norm()
        for _ in range(8):
            self.at.waxpy(-1.0, equations.step, equations.x)
            if not equations.evaluate(self.at, self.F) and self.F.norm() < before:
                break
            equations.step.scale(0.5)
        return True


@pytest.fixture
def row() -> Iterator[None]:
    """Put it into the table, as a program does that imports the file of an aid."""
    AIDS["linesearch"] = AidRow(
        mends="steps that are too long",
        source="P. Deuflhard, Newton Methods for Nonlinear Problems (2004), section 3.1",
        case="tests/unit/test_new_aid.py::test_a_row_of_its_own_is_used_by_all_problems_and_switched_off",
        counts="38 iterations, 278 and 5 cuts without",
        make=LineSearch,
    )
    yield
    del AIDS["linesearch"]


def on_a_spring(load: Any) -> sa.System:
    """Return a light disc on a spring whose force, tanh(3 u), ends at one; a load along it."""
    disc = sa.PlanarBody(position=(0.0, 0.0), mass=0.01, inertia=1.0, name="disc")
    spring = sa.Potential(lambda u_a: sp.log(sp.cosh(3 * u_a[0])) / 3, disc.at((0, 0)))
    guide = sa.fix(disc, ["y", "theta"])
    return sa.System(disc, terms=[guide, spring, sa.force(disc.at((0, 0)), load)])


def solved(given: dict[str, Any]) -> sa.StaticProblem:
    """Take a load near the largest force of the spring away at once."""
    problem = sa.StaticProblem(on_a_spring(lambda t: (0.995 * min(t, 2.0 - t), 0.0)), options=given)
    problem.solve(to=1.0, step=0.1)
    problem.solve(to=2.0)
    return problem


def moved(given: dict[str, Any]) -> sa.DynamicProblem:
    """Let a load swing the disc in steps that are long for it."""
    system = on_a_spring(lambda t: (0.995 * math.sin(t), 0.0))
    problem = sa.DynamicProblem(system, spectral_radius=0.5, options=given)
    problem.solve(to=6.0, step=1.0)
    return problem


@pytest.mark.parametrize("made", [solved, moved])
@pytest.mark.usefixtures("row")
def test_a_row_of_its_own_is_used_by_all_problems_and_switched_off(made: Any) -> None:
    work = []
    for given in ({}, {"aids": "-linesearch"}):
        history = made(given).history
        work.append(history.wasted + sum(step.iterations for step in history.steps))
        assert (history.cut_backs > 0) == bool(given)
    assert work[1] > 4 * work[0]
