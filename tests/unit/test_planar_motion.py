# SPDX-License-Identifier: BSD-3-Clause
"""Motions of planar bodies: driven, free, and on flexures."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.linalg import eigh

import symancf as sa

G = 9.81


def driven(step: float) -> tuple[Any, Any, Any]:
    """An arm whose angle is 0.3 sin t, after 2 s: force of the hinge, drive, system."""
    arm = sa.PlanarBody(
        position=(0, 0, -math.pi / 2),
        mass=2.0,
        centre=(0.5, 0.0),
        inertia=0.1,
        spin=0.3,
        name="arm",
    )
    hinge = sa.joints.revolute(arm.at((0, 0)), sa.ground.at((0.0, 0.0)))
    drive = sa.fix(arm, "theta", displacement=lambda t: 0.3 * math.sin(t))
    system = sa.System(arm, terms=[hinge, drive, sa.gravity((0, -G, 0))])
    sa.DynamicProblem(system, prefix="driven_").solve(to=2.0, step=step)
    return hinge.reaction(system).force[:2], drive.reaction(system).moment[2], system


def test_forces_of_a_driven_arm() -> None:
    """Inverse dynamics: the moment of the drive and the force of the hinge, in closed form."""
    s, c = math.sin(2.0), math.cos(2.0)
    angle, rate, acceleration = 0.3 * s - math.pi / 2, 0.3 * c, -0.3 * s
    r = 0.5 * np.array([math.cos(angle), math.sin(angle)])
    force = 2.0 * (acceleration * np.array([-r[1], r[0]]) - rate**2 * r + [0.0, G])
    moment = 0.1 * acceleration + r[0] * force[1] - r[1] * force[0]
    errors = []
    for step in (1e-2, 5e-3):
        found, drive, _ = driven(step)
        # the drive acts on the node, at the centre of mass
        assert drive == pytest.approx(moment, abs=1e-4)
        errors.append(np.abs(found - force).max())
    assert errors[1] < 2e-6
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.05)


def test_a_free_body_keeps_its_momenta() -> None:
    body = sa.PlanarBody(
        position=(1.0, 2.0, 0.4),
        mass=3.0,
        centre=(0.2, -0.3),
        inertia=0.5,
        velocity=(1.0, -2.0),
        spin=5.0,
    )
    system = sa.System(body)
    centre = body.at((0.2, -0.3))
    start, v = system.position(centre)[0], system.velocity(centre)[0]
    sa.DynamicProblem(system, prefix="free_").solve(to=1.5, step=0.01)
    assert np.abs(system.position(centre)[0] - start - 1.5 * v).max() < 1e-12
    assert np.abs(system.velocity(centre)[0] - v).max() < 1e-12
    assert body.position(system)[2] == pytest.approx(0.4 + 7.5, abs=1e-12)


def test_a_body_swings_on_a_flexure_with_its_natural_frequency() -> None:
    bar: dict[str, Any] = {"mass": 0.2, "centre": (0.1, 0.05), "inertia": 1e-3}
    body = sa.PlanarBody(position=(1.0, 0.0), name="bar", **bar)
    flexure = sa.Flexure.straight(
        sa.ground.at((0.0, 0.0)), body.at((0, 0)), EI=2.0, EA=1e3, model="consistent"
    )
    system = sa.System(body, terms=[flexure])
    # stiffness and mass about the node, by hand
    f = np.zeros(3)
    system._discrete.assembler.update(0.0)
    system._discrete.assembler.tangent(system.state, f, system._discrete.matrix)
    rows = system._discrete.numbering.row[body.coordinates(system)]
    L = np.array([[1.0, 0.0, 0.05], [0.0, 1.0, -0.1], [0.0, 0.0, 1.0]])  # origin from centre
    C = np.diag([1.0 / 1e3, 1.0 / 6.0, 1.0 / 2.0])
    C[1, 2] = C[2, 1] = 1.0 / 4.0
    K = L.T @ np.linalg.inv(C) @ L
    assert np.abs(system._discrete.matrix.mat.getValues(rows, rows) - K).max() < 1e-12 * K.max()
    squares, modes = eigh(K, np.diag([0.2, 0.2, 1e-3]))
    period = 2.0 * math.pi / math.sqrt(squares[0])
    shape = 1e-6 * modes[:, 0]
    found = []
    for n in (100, 200):
        system.state[body.coordinates(system)] = shape
        system.rate[:] = 0.0
        system.time = 0.0
        sa.DynamicProblem(system, prefix="swing_", spectral_radius=1.0).solve(
            to=period, step=period / n
        )
        found.append(body._node(system._discrete) @ K @ shape / (shape @ K @ shape))
    errors = [1.0 - value for value in found]  # a phase error e shows as 1 - cos e
    assert errors[1] < 1e-5
    assert math.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.2)
