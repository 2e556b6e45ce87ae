# SPDX-License-Identifier: BSD-3-Clause
"""Constraints between coordinates that supports hold anyway."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from symancf.bodies.body import Body
from symancf.catalogue import joints
from symancf.catalogue.boundary import fix
from symancf.catalogue.loads import traction
from symancf.elements import ancf_cable, hex8_plain
from symancf.energies import cable, saint_venant_kirchhoff
from symancf.errors import ConstraintError
from symancf.mesh import Mesh
from symancf.solve.statics.problem import StaticProblem
from symancf.system import System
from tests.refusals import refused

RUBBER: dict[str, Any] = {"E": 100.0, "nu": 0.3}


def beside(X: Any) -> Any:
    """Move points by 1 along x."""
    return X + np.array([1.0, 0.0, 0.0])


def bars() -> tuple[Body, Body]:
    """Two cubes that meet at x = 1 with different nodes there."""
    first = Mesh.box((1.0, 1.0, 1.0), (2, 2, 2))
    second = Mesh.box((1.0, 1.0, 1.0), (3, 3, 3), warp=beside, name="b")
    a = Body(first["body"], hex8_plain, saint_venant_kirchhoff(), name="a", **RUBBER)
    return a, Body(second["body"], hex8_plain, saint_venant_kirchhoff(), name="b", **RUBBER)


def test_a_tie_that_crosses_supports_of_both_bodies() -> None:
    a, b = bars()
    tie = joints.tie(b["x0"], a)
    sides = [fix(body[f"{axis}0"], axis) for body in (a, b) for axis in "yz"]
    clamp = fix(a["x0"], "x")
    system = System(a, b, terms=[clamp, *sides, tie, traction(b["x1"], (3.0, 0.0, 0.0))])
    StaticProblem(system).solve()
    forces = tie.multipliers(system)
    np.testing.assert_allclose(forces.sum(axis=0)[0], 3.0, rtol=1e-9)
    assert np.count_nonzero(forces == 0.0) == 8  # y at 4 nodes, z at 4 nodes
    np.testing.assert_allclose(clamp.reaction(system).force[0], -3.0, rtol=1e-9)


def test_supports_that_contradict_a_constraint_are_named() -> None:
    mesh = Mesh.box((1.0,), (4,))
    beam = Body(mesh["body"], ancf_cable, cable(), EA=1e3, EI=1.0)
    pin = joints.spherical(beam["x1"], name="pin")
    pull = fix(beam["x1"], "position", displacement=(lambda t: 0.1 * t, 0.0, 0.0))
    system = System(beam, terms=[fix(beam["x0"]), pull, pin])
    with refused(ConstraintError, asked="residual", names=("pin",), given=pytest.approx(0.1)):
        StaticProblem(system).solve()
