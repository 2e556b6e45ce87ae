# SPDX-License-Identifier: BSD-3-Clause
"""How often statics try something, and when they give it up."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

import symancf as sa
from symancf.solve.statics.krylov import KrylovSolver
from symancf.solve.statics.normals import Normals
from tests.unit.test_continuation import Truss


def test_a_path_begins_with_a_twentieth_of_its_way() -> None:
    P = sa.Parameter("P")
    history = Truss(P).problem.follow(P, to=1e-4)
    assert history["P"][0] == pytest.approx(5e-6, rel=0.05)


def rough(turns: list[float]) -> int:
    """Return in how many solutions of a step normals are kept that solutions turn [rad]."""
    turned = iter(turns)
    system: Any = SimpleNamespace(hold_normals=lambda held, before: next(turned) if held else 0.0)
    aid = Normals(system)
    return [aid.hold(k) for k in range(9)].index(False)


def test_normals_stay_in_three_solutions_or_until_these_turn_them_little() -> None:
    assert rough([0.0, 0.03, 0.03]) == 3
    assert rough([0.0, 0.015]) == 1


def downhill(residuals: list[float]) -> list[bool]:
    """Return after which residuals one goes on downhill."""
    solver = KrylovSolver.__new__(KrylovSolver)
    solver._least, solver._stuck = math.inf, 0
    return [solver._falls(residual) for residual in residuals]


def test_steps_downhill_go_on_while_the_residual_falls() -> None:
    assert all(downhill([0.9**k for k in range(20)]))
    assert downhill([1.0] * 8) == [True] * 6 + [False] * 2
