# SPDX-License-Identifier: BSD-3-Clause
"""Terms that judge solutions, and change numbers of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import numpy as np
import pytest
from sympy import Max

import symancf as sa
from symancf.assembly.revisions import Verdict
from symancf.assembly.state import StateVariable
from symancf.elements import hex8_plain
from symancf.energies import saint_venant_kirchhoff
from tests.refusals import refused

DEEPEST = 0.01
pytestmark = pytest.mark.collective


def plane(r_a: Any, *, k: Any) -> Any:
    """A stiff floor."""
    return k / 2 * Max(-r_a[2], 0) ** 2


class Floor:
    """Doubles the stiffness of a floor until nothing is too deep; refuses what is far too deep."""

    name = "floor"

    def __init__(self, body: sa.Body, most: float = np.inf) -> None:
        self.body, self.most = body, most
        self.number = StateVariable("floor", np.array([100.0]))
        self.asked = 0

    def bind(self, layout: Any) -> Self:
        """It has no entities: the law reads its number."""
        return self

    def forms(self, configuration: Any) -> list[Any]:
        return []

    def state_variables(self, configuration: Any) -> list[StateVariable]:
        return [self.number]

    def stiffness(self, time: float) -> float:
        return float(self.number.value[0])

    def review(self, system: Any) -> Verdict:
        self.asked += 1
        z = self.body["z0"].position(system)[:, 2].min()
        if z < -self.most:
            return Verdict.CUT
        if z >= -DEEPEST:
            return Verdict.STANDS
        self.number.value = 2.0 * self.number.value
        return Verdict.AGAIN


def pressed(most: float = np.inf) -> tuple[sa.System, Floor, sa.Parameter]:
    """A block that is pressed on the floor by its own top."""
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 2))
    block = sa.Body(mesh["body"], hex8_plain, saint_venant_kirchhoff(), E=100.0, nu=0.3, rho=1.0)
    floor, way = Floor(block, most), sa.Parameter("way", 0.0)
    low = sa.Potential(plane, block["z0"], k=floor.stiffness)
    top = sa.fix(block["z1"], displacement=lambda t: (0.0, 0.0, -0.1 * t - way.value))
    return sa.System(block, terms=[top, low, floor]), floor, way


def test_statics_go_on_with_what_a_review_changed(tmp_path: Path) -> None:
    system, floor, _ = pressed()
    problem = sa.StaticProblem(system)
    problem.solve()
    assert floor.stiffness(0.0) in (400.0, 800.0, 1600.0)
    assert floor.asked > 2
    z = system.position(floor.body["z0"])[:, 2]
    assert -DEEPEST <= z.min() < -DEEPEST / 4.0
    # another run goes on with the same number, and nothing is left to do
    path = problem.save(system.comm.bcast(tmp_path) / "pressed.h5")
    again, other, _ = pressed()
    resumed = sa.StaticProblem(again)
    resumed.restore(path)
    assert other.stiffness(0.0) == floor.stiffness(0.0)
    history = resumed.solve()
    assert history.steps[-1].iterations <= 2
    assert other.stiffness(0.0) == floor.stiffness(0.0)
    assert other.asked == 2


def test_a_step_is_cut_that_a_review_refuses() -> None:
    system, floor, _ = pressed(most=0.02)
    history = sa.StaticProblem(system).solve(2.0, jump=True)
    assert history.cut_backs > 0
    first, reached = floor.stiffness(0.0), system.state.copy()
    floor.most = 0.0
    problem = sa.StaticProblem(system)
    with refused(sa.ConvergenceError, asked="contact", given=("floor",), reason="REVIEW"):
        problem.solve(3.0, smallest=0.3)
    assert floor.stiffness(0.0) == first
    assert np.array_equal(system.state, reached)


def test_paths_and_motions_ask_for_reviews() -> None:
    system, floor, way = pressed()
    problem = sa.StaticProblem(system)
    problem.follow(way, to=0.1, step=0.05)
    grown = floor.stiffness(0.0)
    assert grown > 100.0
    assert system.position(floor.body["z0"])[:, 2].min() >= -DEEPEST
    assert system.strain_energy() > 0.0
    moving, under, _ = pressed()
    motion = sa.DynamicProblem(moving)
    motion.solve(1.0, step=0.25)
    assert under.stiffness(0.0) > 100.0
    assert moving.position(under.body["z0"])[:, 2].min() >= -DEEPEST
