# SPDX-License-Identifier: BSD-3-Clause
"""The gripper with geometrically exact flexures: ANCF cables clamped to planar bodies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf.extensions.flexure import ground_wrench
from tests.gripper import EFFECTOR, exact_gripper
from tests.refusals import refused

pytestmark = pytest.mark.collective

# Extensible Kirchhoff elastica per flexure, RK4 shooting with 400 steps (independent code).
CLOSING = 69.856
X = {30.0: 0.257670, 50.0: 0.126748, 69.85: 4.1e-5, -40.0: 0.625759}


def closing_force(elements: int) -> tuple[float, Any]:
    factor = sa.Factor("closing force")

    def loads(bodies: Any) -> list[Any]:
        target = sa.displacement_control(
            bodies[3].at(EFFECTOR), "x", position=lambda t: 0.4429 * (1 - t), release=factor
        )
        return [sa.force(bodies[2].at((0, 0)), (0, 1), factor=factor), target]

    _, system, _ = exact_gripper(elements, loads)
    sa.StaticProblem(system, prefix="exact_").solve(step=0.1)
    return factor.value(system), system


@pytest.mark.collective(rows=0)
def test_closing_force_converges_with_fourth_order() -> None:
    force = {}
    for n in (8, 16, 32, 64, 128):
        force[n], system = closing_force(n)
        assert np.allclose(ground_wrench(system)[:2], [0.0, -force[n]], atol=1e-9)
    assert abs(force[16] / CLOSING - 1) < 0.002
    assert abs(force[32] / CLOSING - 1) < 1e-4
    assert force[128] == pytest.approx(CLOSING, abs=5e-4)
    errors = [force[n] - force[128] for n in (8, 16, 32)]
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert (orders > 3.5).all(), orders


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("F", sorted(X))
def test_opening_at_given_force(F: float) -> None:
    _, system, effector = exact_gripper(
        48, lambda bodies: [sa.force(bodies[2].at((0, 0)), lambda t: (0.0, F * t))]
    )
    sa.StaticProblem(system, prefix="force_").solve(step=0.1)
    assert system.position(effector)[0, 0] == pytest.approx(X[F], abs=4e-6)


def test_wrenches_of_clamps_balance_the_loads_of_a_stretched_cable() -> None:
    """Both clamps of a soft cable, in the plane z = 0.3, on a body whose frame is turned."""
    mesh = sa.Mesh.from_arrays(
        np.linspace((0.0, 0.0, 0.3), (1.0, 0.0, 0.3), 9),
        {"line": np.stack([np.arange(8), np.arange(1, 9)], axis=1)},
    )
    rod = sa.Body(
        mesh["all"], sa.elements.ancf_cable, sa.energies.cable(curvature="plane"), EA=10.0, EI=0.5
    )
    head = sa.PlanarBody(position=(1.1, 0.2, 0.4))
    foot = sa.joints.clamp(rod.at((0.0, 0.0, 0.3)), sa.ground)
    top = sa.joints.clamp(rod.at((1.0, 0.0, 0.3)), head)
    at, force, moment = head.at((0.1, 0.2)), np.array([1.5, 0.7]), 0.3
    loads = [sa.force(at, force), sa.moment(head, moment)]
    system = sa.System(rod, head, terms=[sa.planar(rod), foot, top, *loads])
    sa.StaticProblem(system, prefix="stretched_").solve(step=0.25)
    place, origin = system.position(at)[0, :2], head.position(system)[:2]
    assert origin[0] > 1.2  # stretched
    couple = [moment + float(np.cross(place - about, force)) for about in (origin, 0.0 * origin)]
    assert np.abs(top.wrench(system) - [*force, couple[0]]).max() < 1e-9
    assert np.abs(foot.wrench(system) + np.append(force, couple[1])).max() < 1e-9
    pair = sa.joints.clamp(rod.at([(0.0, 0.0, 0.3), (1.0, 0.0, 0.3)]), head)
    with refused(sa.ConstraintError, asked="places", given=2, possible=(1,)):
        sa.System(rod, head, terms=[sa.planar(rod), pair])


def test_residual_and_tangent_of_clamps_and_cables() -> None:
    bodies, system, _ = exact_gripper(3, lambda b: [sa.force(b[2].at((0.1, 0.2)), (3.0, 4.0))])
    checked = sa.check(system)
    assert checked.passed, str(checked)
    assert len(bodies) == 3


def test_a_clamp_takes_cables_and_planar_bodies() -> None:
    _, system, _ = exact_gripper(3, lambda bodies: [])
    cable = system.bodies[3]
    with refused(
        sa.ConstraintError,
        asked="b",
        given="Body 'flexure a': 3 ancf_cable with cable_plane",
        possible=("PlanarBody", "Ground"),
    ):
        sa.joints.clamp(cable.at((0.0, 0.0, 0.0)), cable)
    with refused(sa.ConstraintError, asked="a", given="(0, 0) of 'body 2'"):
        sa.joints.clamp(system.bodies[0].at((0, 0)), sa.ground)
