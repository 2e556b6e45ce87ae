# SPDX-License-Identifier: BSD-3-Clause
"""Constraints, virtual works and potentials with ends on planar bodies."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import sympy as sp

import symancf as sa
from tests.refusals import refused


def turned(angle: float, v: Any) -> Any:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([c * v[0] - s * v[1], s * v[0] + c * v[1]])


def place(body: sa.PlanarBody, X: Any, **options: Any) -> Any:
    """The point of a body that is at X in the reference configuration."""
    x, y, theta = body._reference
    return body.at(turned(-theta, np.asarray(X) - (x, y)), **options)


def spring_of(body: sa.PlanarBody) -> Any:
    """A flexure from the ground to the origin of a body."""
    x, y, _ = body._reference
    start, end = sa.ground.at((x - 1.0, y)), body.at((0, 0))
    return sa.Flexure.straight(start, end, EI=1.0, EA=1e3, model="consistent")


def in_plane(theta_a: Any, theta_b: Any, *, angle: Any) -> Any:
    return theta_b - theta_a - angle


def damper(v_a: Any, v_b: Any, e1_b: Any, omega_a: Any, *, c: Any) -> Any:
    along = (v_a - v_b).dot(e1_b)
    return {along: -c * along - 0.3 * omega_a, omega_a: -c * omega_a}


def spring(r_a: Any, r_b: Any, theta_a: Any, *, k: Any) -> Any:
    return k / 2 * ((r_a - r_b).dot(r_a - r_b) - 0.1) ** 2 + k * theta_a**4


def linkage() -> tuple[Any, Any, list[Any]]:
    a = sa.PlanarBody(position=(1.0, 0.0, 0.3), name="a")
    b = sa.PlanarBody(position=(2.0, 0.5, -0.4), name="b")
    P = a.at((0.3, 0.1))
    terms = [
        spring_of(a),
        sa.joints.revolute(P, place(b, P.X[0, :2])),
        sa.Constraint(in_plane, a.at((0, 0)), b.at((0, 0)), angle=lambda t: -0.7 + 0.5 * t),
        sa.VirtualWork(damper, P, b.at((0.1, 0.2)), c=2.0),
        sa.Potential(spring, b.at((0.4, 0.2)), sa.ground.at((1.0, 1.0)), k=0.3),
        sa.force(b.at((0.2, 0.0)), (0.0, 0.1)),
    ]
    return a, b, terms


def test_tangents_and_energies_agree() -> None:
    a, b, terms = linkage()
    system = sa.System(a, b, terms=terms)
    rng = np.random.default_rng(1)
    system.state[:] = rng.uniform(-0.5, 0.5, system.state.shape)
    assert sa.check(system).passed
    # three equations of the revolute joint (z, and two of the axes) hold by themselves
    assert len(terms[1].phi) == 2
    assert system._discrete.numbering.size == 9


def test_a_revolute_joint_and_an_angle_in_equilibrium() -> None:
    a, b, terms = linkage()
    system = sa.System(a, b, terms=terms)
    sa.StaticProblem(system, prefix="planar_joint_").solve(step=0.25)
    _, hinge, angle, _, potential, load = terms
    assert np.abs(system.position(hinge.ends[0]) - system.position(hinge.ends[1])).max() < 1e-13
    assert b.position(system)[2] - a.position(system)[2] == pytest.approx(-0.2, abs=1e-13)
    # body b alone: reactions of both constraints, spring and load are in balance
    on_b, couple = hinge.reaction(system, "b"), angle.reaction(system, "b")
    r = system.position(potential.ends[0])[0, :2] - (1.0, 1.0)
    pull = -0.6 * (r @ r - 0.1) * r
    push = np.array([0.0, 0.1])
    assert np.abs(on_b.force[:2] + pull + push).max() < 1e-11
    x = b.position(system)
    moments = [
        np.cross(system.position(place)[0, :2] - x[:2], f)
        for place, f in ((hinge.ends[1], on_b.force[:2]), (potential.ends[0], pull))
    ]
    moments += [np.cross(system.position(load.ends[0])[0, :2] - x[:2], push)]
    assert abs(sum(moments) + couple.moment[2] - 4 * 0.3 * x[2] ** 3) < 1e-11


def test_a_body_hangs_below_its_pin() -> None:
    body = sa.PlanarBody(position=(0.6, -0.2, 0.5), name="bob")

    def rope(r_a: Any, r_b: Any, *, L: Any) -> Any:
        return (r_a - r_b).dot(r_a - r_b) - L**2

    hook = body.at((0.0, 0.1))
    L = float(np.linalg.norm(hook.X))
    link = sa.Constraint(rope, hook, sa.ground.at((0.0, 0.0)), L=L)
    soft = sa.Potential(lambda r_a: r_a[0] ** 2 / 20, hook, name="soft")
    load = sa.force(body.at((0.0, -0.1)), (0.0, -2.0))
    system = sa.System(body, terms=[link, soft, load])
    sa.StaticProblem(system, prefix="hang_", check_held=False).solve(jump=True)
    x, y, theta = body.position(system)
    assert abs(x) < 1e-11
    assert y == pytest.approx(-L - 0.1, abs=1e-12)
    assert math.remainder(theta, 2 * math.pi) == pytest.approx(0.0, abs=1e-11)
    assert np.abs(link.reaction(system).force - [0, 2.0, 0]).max() < 1e-11


def test_a_slide_in_an_inclined_guide() -> None:
    body = sa.PlanarBody(position=(1.0, 0.5, 0.2), name="slide")
    axis = np.array([0.8, 0.6, 0.0])
    guide = sa.joints.prismatic(body.at((0, 0)), axis=axis)
    drive = sa.Potential(lambda r_a: (r_a[0] ** 2) / 2, body.at((0.0, 0.3)), name="drive")
    system = sa.System(body, terms=[guide, drive, sa.force(body, (0.0, 1.0))])
    assert system._discrete.numbering.size == 5
    sa.StaticProblem(system, prefix="slide_").solve()
    u = body.displacement(system)
    s = u[:2] @ axis[:2]
    assert np.abs(u - [*(s * axis[:2]), 0.0]).max() < 1e-13
    x = system.position(drive.ends[0])[0, 0]
    assert -0.8 * x + 0.6 == pytest.approx(0.0, abs=1e-12)  # forces along the guide


def test_a_planar_body_and_a_rigid_body_in_space_share_a_hinge() -> None:
    crank = sa.PlanarBody(position=(0.0, 0.0, 0.0), name="crank")
    frame = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    rod = sa.RigidBody(position=(1.0, 0.0, 0.0), frame=frame, name="rod")
    centre = sp.Matrix([1.2, 0.6, 0.0])
    terms = [
        sa.fix(crank, "position"),
        sa.moment(crank, 0.04),
        sa.joints.revolute(rod.at((0, 0, 0)), crank.at((1.0, 0.0))),
        sa.Potential(
            lambda r_a: (r_a - centre).dot(r_a - centre) / 2, rod.at((0.5, 0.0, 0.0)), name="centre"
        ),
    ]
    system = sa.System(crank, rod, terms=terms)
    sa.StaticProblem(system, prefix="crank_").solve()
    joint = terms[2]
    places = [system.position(end)[0] for end in joint.ends]
    assert np.abs(places[0] - places[1]).max() < 1e-12
    force = joint.reaction(system, "b").force
    arm = system.position(crank.at((1.0, 0.0)))[0]
    assert np.cross(arm[:2], force[:2]) == pytest.approx(-0.04, abs=1e-11)
    tip = system.position(rod.at((0.5, 0.0, 0.0)))[0]
    assert np.abs(force + tip - [1.2, 0.6, 0.0]).max() < 1e-11
    assert abs(tip[2]) < 1e-12


def test_rates_enter_as_velocities_of_the_places() -> None:
    """The residual of a damper is -(d motion/d rate)^T force at random states and rates."""
    a, b, terms = linkage()
    system = sa.System(a, b, terms=terms[3:4])
    rng = np.random.default_rng(4)
    system.state[:] = rng.uniform(-1, 1, system.state.shape)
    system.rate[:] = rng.uniform(-1, 1, system.rate.shape)
    system._discrete.assembler.follow(system.rate, None)
    f = system._discrete.residual_at_solution()
    want = np.zeros(6)
    names = sp.symbols("x1 y1 p1 x2 y2 p2 vx1 vy1 o1 vx2 vy2 o2", real=True)
    q, v = names[:6], names[6:]

    def point(body: sa.PlanarBody, k: int, local: Any) -> sp.Matrix:
        x, y, theta = map(float, body._reference)
        angle = theta + q[k + 2]
        R = sp.Matrix([[sp.cos(angle), -sp.sin(angle)], [sp.sin(angle), sp.cos(angle)]])
        return sp.Matrix([x + q[k], y + q[k + 1]]) + R * sp.Matrix(local)

    e = sp.Matrix([sp.cos(b._reference[2] + q[5]), sp.sin(b._reference[2] + q[5])])
    gap = point(a, 0, (0.3, 0.1)) - point(b, 3, (0.1, 0.2))
    along = e.T * gap.jacobian(q)
    rate = (along * sp.Matrix(v))[0]
    forces = -2 * rate - sp.Rational(3, 10) * v[2], -2 * v[2]
    order = np.concatenate([a.coordinates(system), b.coordinates(system)])
    values = dict(zip(names, map(float, [*system.state[order], *system.rate[order]]), strict=True))
    for j in range(6):
        Q = along[j] * forces[0] + (forces[1] if j == 2 else 0)
        want[j] = -float(Q.xreplace(values))
    assert np.abs(f[order] - want).max() < 1e-13


def test_what_ends_do_not_offer_is_told() -> None:
    body = sa.PlanarBody(position=(0.0, 0.0), name="disk")
    head = sa.RigidBody(name="head")
    with refused(sa.KinematicsError, asked="theta_b", given="(0, 0, 0) of 'head'"):
        sa.Constraint(in_plane, body.at((0, 0)), head.at((0, 0, 0)), angle=0.0)
    with refused(sa.KinematicsError, asked="d_a", given="(0, 0) of 'disk'"):
        sa.Constraint(lambda d_a: d_a[0], body.at((0, 0)), name="no director")
    with refused(sa.ConstraintError, asked="equation", given="-t", possible=()):
        sa.Constraint(lambda r_a, t: [r_a[0], r_a[2] - t], body.at((0, 0)), name="lift")
    above = sa.Constraint(lambda r_a, r_b: r_a - r_b, body.at((0, 0)), sa.ground.at((0, 0, 0.2)))
    with refused(sa.ConstraintError, asked="distance", given=0.2, names=("<lambda>",)):
        sa.System(body, terms=[above])
    with refused(sa.ConstraintError, asked="place", given=repr(body)):
        sa.Constraint(in_plane, body, sa.ground, angle=0.0)


def test_a_place_that_no_term_has_is_found_where_it_is() -> None:
    """Positions and velocities of points that nothing has resolved."""
    body = sa.PlanarBody((1.0, 2.0), mass=1.0, inertia=1.0, spin=2.0)
    system = sa.System(body, terms=[sa.fix(body, displacement=[0.0, 0.0, np.pi / 2])])
    sa.StaticProblem(system, prefix="placed_").solve()
    place = body.at((0.3, 0.1))
    np.testing.assert_allclose(system.position(place), [[0.9, 2.3, 0.0]], atol=1e-14)
    free = sa.PlanarBody((1.0, 2.0), mass=1.0, inertia=1.0, spin=2.0)
    system = sa.System(free)
    np.testing.assert_allclose(system.velocity(free.at((0.3, 0.1))), [[-0.2, 0.6, 0.0]], atol=1e-14)
