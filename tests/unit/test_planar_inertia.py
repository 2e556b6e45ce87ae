# SPDX-License-Identifier: BSD-3-Clause
"""Planar bodies with mass: kinetic energy, weight, the centre of mass away from the origin."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import symancf as sa
from tests.refusals import refused

AT, CENTRE, MASS, J = (0.4, -0.3, 0.7), (0.25, -0.1), 3.0, 0.8


def heavy(**options: Any) -> sa.PlanarBody:
    return sa.PlanarBody(position=AT, name="bar", mass=MASS, centre=CENTRE, inertia=J, **options)


def turn(angle: float) -> Any:
    return np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])


def test_kinetic_energy_at_random_rates() -> None:
    body = heavy()
    system = sa.System(body)
    rng = np.random.default_rng(0)
    for _ in range(5):
        system.state[:] = rng.uniform(-2, 2, 3)
        system.rate[:] = rng.uniform(-2, 2, 3)
        v, w = system.velocity(body.at(CENTRE))[0, :2], body.rate(system)[2]
        energies, _ = system._discrete.inertia.energies(system.rate)
        assert energies.sum() == pytest.approx(MASS * (v @ v) / 2 + J * w**2 / 2, rel=1e-14)
        f = np.zeros(3)
        system._discrete.inertia.residual(system.rate, f)
        order = body.coordinates(system)
        assert np.allclose(f[order], [MASS * v[0], MASS * v[1], J * w], rtol=1e-14)


def test_places_do_not_depend_on_where_the_node_is() -> None:
    """A place moves as a point of a rigid body; its velocity is the rate of its position."""
    body, light = heavy(), sa.PlanarBody(position=AT, name="light")
    system = sa.System(body, light)
    rng = np.random.default_rng(1)
    x, y, theta = AT
    for _ in range(3):
        u, v = rng.uniform(-2, 2, 3), rng.uniform(-2, 2, 3)
        system.state[light.coordinates(system)] = u
        system.rate[light.coordinates(system)] = v
        at = body.coordinates(system)
        c, d = turn(theta) @ CENTRE, turn(theta + u[2]) @ CENTRE
        system.state[at] = [*(u[:2] + d - c), u[2]]
        system.rate[at] = [*(v[:2] + v[2] * np.array([-d[1], d[0]])), v[2]]
        for local in ((0.0, 0.0), CENTRE, (0.3, 0.9)):
            a, b = body.at(local), light.at(local)
            want = np.array([x, y]) + u[:2] + turn(theta + u[2]) @ local
            assert np.abs(system.position(a)[0, :2] - want).max() < 1e-14
            assert np.abs(system.position(b)[0, :2] - want).max() < 1e-14
            assert np.abs(system.velocity(a) - system.velocity(b)).max() < 1e-14
        assert np.abs(body.position(system) - np.array(AT) - u).max() < 1e-14
        assert np.abs(body.rate(system) - v).max() < 1e-14


def test_velocity_and_spin_are_those_of_the_origin_at_the_start() -> None:
    body = heavy(velocity=(0.5, -0.2), spin=3.0)
    system = sa.System(body)
    assert np.abs(body.rate(system) - [0.5, -0.2, 3.0]).max() < 1e-15
    d = turn(AT[2]) @ CENTRE
    v = np.array([0.5, -0.2]) + 3.0 * np.array([-d[1], d[0]])
    assert np.abs(system.velocity(body.at(CENTRE))[0, :2] - v).max() < 1e-15


def test_a_flexure_carries_the_weight_of_a_body() -> None:
    """The same structure with the weight as a force at the centre, on a body without mass."""
    found = []
    for body in (heavy(), sa.PlanarBody(position=AT, name="light")):
        X = np.array(AT[:2])
        flexure = sa.Flexure.straight(
            sa.ground.at(X - (1.0, 0.0)), body.at((0, 0)), EI=5.0, EA=1e4, model="partial"
        )
        if body.mass:
            load: Any = sa.gravity((0.0, -0.5, 0.0))
        else:
            load = sa.force(body.at(CENTRE), (0.0, -0.5 * MASS))
        system = sa.System(body, terms=[flexure, load])
        sa.StaticProblem(system, prefix="weight_").solve()
        state = [body.position(system), flexure.forces(system).ravel(), flexure.tip_wrench(system)]
        found.append(np.concatenate(state))
    assert np.abs(found[0] - found[1]).max() < 1e-12
    assert abs(found[0][1] - AT[1]) > 0.1


def test_a_support_of_all_coordinates_prescribes_the_frame() -> None:
    body = heavy()
    hold = sa.fix(body, "all", displacement=[0.1, lambda t: 0.2 * t, lambda t: 0.3 * t])
    load = sa.gravity((0.0, -2.0, 0.0))
    system = sa.System(body, terms=[hold, load])
    sa.StaticProblem(system, prefix="hold_").solve()
    assert np.abs(body.displacement(system) - [0.1, 0.2, 0.3]).max() < 1e-15
    d = turn(AT[2] + 0.3) @ CENTRE
    found = hold.reaction(system)
    assert np.abs(found.force - [0.0, 6.0, 0.0]).max() < 1e-13
    assert np.abs(found.moment - [0.0, 0.0, 6.0 * d[0]]).max() < 1e-13
    with refused(sa.ParameterError, asked="dofs", given=("x", "y"), possible=("theta", "all")):
        sa.fix(heavy(), "position")


@pytest.mark.parametrize(
    ("options", "asked", "given"),
    [
        ({"mass": 0.0}, "mass", 0.0),
        ({"inertia": 1.0}, "mass", None),
        ({"mass": 1.0, "inertia": -1.0}, "inertia", -1.0),
        ({"mass": 1.0, "inertia": [1.0, 2.0, 3.0]}, "inertia", (1.0, 2.0, 3.0)),
        ({"mass": 1.0, "centre": (1.0, 2.0, 3.0)}, "centre", (1.0, 2.0, 3.0)),
        ({"mass": 1.0, "velocity": (math.nan, 2.0)}, "velocity", (math.nan, 2.0)),
        ({"mass": 1.0, "spin": math.inf}, "spin", math.inf),
    ],
)
def test_what_is_wrong_is_told(options: Any, asked: str, given: Any) -> None:
    with refused(sa.ParameterError, asked=asked, given=given):
        sa.PlanarBody(name="bad", **options)


def test_gravity_needs_a_body_with_mass() -> None:
    body = sa.PlanarBody(name="light")
    with refused(sa.ParameterError, asked="rho"):
        sa.System(body, terms=[sa.gravity((0, -9.81, 0))])
    with refused(sa.ParameterError, asked="mass", given="light"):
        sa.System(body, terms=[sa.gravity((0, -9.81, 0), body)])
