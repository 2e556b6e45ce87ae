# SPDX-License-Identifier: BSD-3-Clause
"""Which violations of constraints count as none, by what a large motion makes of each."""

from __future__ import annotations

import numpy as np
import pytest

import symancf as sa
from symancf.newton import Constraints, RowNorms
from tests.shells import hollow_block


def pin() -> sa.System:
    body = sa.RigidBody(mass=1.0, inertia=np.eye(3), length=0.3)
    return sa.System(body, terms=[sa.joints.spherical(body.at((0.1, 0.0, 0.0)))])


def gas() -> sa.System:
    given = {"C10": 0.5, "C20": -0.05, "C30": 0.01, "k": 100.0}
    block = sa.Body(hollow_block()["body"], sa.elements.hex8_plain, sa.energies.yeoh(), **given)
    return sa.System(block, terms=[sa.Cavity(block["inside"], gas=sa.Gas(ambient=1.0))])


class Violations:
    """The constraints of a system at rest, violated by parts of a large motion."""

    def __init__(self, system: sa.System) -> None:
        system._discrete.update(0.0)
        system._discrete.assembler.tangent(
            system.state, np.zeros_like(system.state), system._discrete.matrix
        )
        norms = RowNorms(system._discrete, system._discrete.forms)
        equations = norms.classes(lambda block: block.is_equation)
        self.all, self.rows = (
            Constraints(system._discrete.matrix, norms, equations),
            system._discrete.numbering.rows,
        )
        self.all.measure(norms.sizes())
        self.all.refresh()

    def count(self, part: float, rtol: float = 0.0) -> bool:
        """Whether violations count."""
        f = np.zeros(self.rows)
        f[self.all.rows] = part * self.all.lengths()
        return float(self.all.shares(f, rtol).max()) > 1.0


@pytest.mark.parametrize("none", [pytest.param(1e-13, id="pin"), pytest.param(1e-9, id="gas")])
def test_violations_by_round_off_are_none(none: float) -> None:
    """The volume of a gas is a sum over many facets."""
    violations = Violations(pin() if none < 1e-10 else gas())
    assert not violations.count(0.3 * none)
    assert violations.count(3.0 * none)


def test_after_a_large_step_violations_are_measured_by_what_it_made_of_them() -> None:
    """A hundredth of the tolerance of forces may be left."""
    violations = Violations(pin())
    violations.all.begin()
    assert violations.count(0.5, rtol=1e-8)
    assert not violations.count(0.5 * 0.3e-10, rtol=1e-8)
    assert violations.count(0.5 * 3e-10, rtol=1e-8)
    violations.all.begin()
    assert violations.count(0.5 * 0.3e-10, rtol=1e-8)
