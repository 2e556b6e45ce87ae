# SPDX-License-Identifier: BSD-3-Clause
"""Joints: constraints hold, and multipliers are the forces that hold them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp

import symancf as sa
from symancf.energies import cable, kirchhoff, saint_venant_kirchhoff
from tests.refusals import refused
from tests.told import told

pytestmark = pytest.mark.collective

STEEL: dict[str, Any] = {"E": 1e5, "nu": 0.3}
HEX8, PLATE = sa.elements.hex8_plain, sa.elements.ancf_plate
THIN, CABLE = sa.elements.ancf_thin_plate, sa.elements.ancf_cable


def moved(by: Any) -> Any:
    return lambda X: X + np.asarray(by)


def rope(n: int = 6, name: str = "rope", warp: Any = None, **options: Any) -> sa.Body:
    mesh = sa.Mesh.box((1.0,), (n,), warp=warp)
    given = {"EA": 1e4, "EI": 1.0, "rho": 2.0, "A": 1.0} | options
    return sa.Body(mesh["body"], CABLE, cable(), name=name, **given)


def block(n: Any = (2, 2, 2), by: Any = (0, 0, 0), name: str = "block") -> sa.Body:
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), n, warp=moved(by))
    return sa.Body(mesh["body"], HEX8, saint_venant_kirchhoff(), name=name, **STEEL)


def sheet(n: Any = (3, 2), by: Any = (0, 0, 0), name: str = "sheet") -> sa.Body:
    mesh = sa.Mesh.box((1.0, 1.0), n, warp=moved(by))
    return sa.Body(mesh["body"], THIN, kirchhoff(), name=name, thickness=0.1, **STEEL)


G = np.array([0.0, 0.0, -9.81])


def test_a_ball_joint_carries_the_weight_with_the_support() -> None:
    body = rope()
    joint = sa.joints.spherical(body.at((1.0, 0.0, 0.0)))
    support = sa.fix(body["x0"], "position")
    planar = sa.planar(body, "y")
    system = sa.System(body, terms=[support, joint, planar, sa.gravity(G)])
    sa.StaticProblem(system).solve()
    np.testing.assert_allclose(system.displacement(body.at((1, 0, 0))), np.zeros((1, 3)), atol=1e-9)
    forces = joint.multipliers(system)
    assert forces.shape == (1, 3)
    # lambda . (r_a - r_b): the force on a is -lambda
    np.testing.assert_allclose(
        support.reaction(system).force - forces[0], -2.0 * G, rtol=1e-9, atol=1e-8
    )
    assert -forces[0, 2] == pytest.approx(9.81, rel=1e-9)  # half of the weight, by symmetry


def test_a_joint_inside_a_cell() -> None:
    body = rope(n=1)
    place = body.at((0.3, 0.0, 0.0))
    target = np.array([0.28, 0.0, 0.1])
    joint = sa.joints.spherical(place, sa.ground.at(target))
    system = sa.System(body, terms=[sa.fix(body["x0"]), joint])
    with told("unstable in one direction"):  # pressed, out of its plane
        sa.StaticProblem(system).solve()
    np.testing.assert_allclose(system.position(place)[0], target, atol=1e-10)


def test_two_bodies_on_a_ball_joint_pass_the_force_on() -> None:
    one, two = block(name="one"), block(by=(1.0, 0, 0), name="two")
    places = one.at((1.0, 0.5, 0.5)), two.at((1.0, 0.5, 0.5))
    joint = sa.joints.spherical(*places)
    far = sa.fix(two.at([(2.0, 0.5, 0.5), (2.0, 0.0, 0.5)]), ["y", "z"])
    third = sa.fix(two.at((2.0, 0.5, 0.0)), "y")
    load = np.array([5.0, 1.0, 2.0])
    root = sa.fix(one["x0"])
    terms = [root, joint, far, third, sa.force(two.at((1.5, 0.5, 0.5)), load)]
    system = sa.System(one, two, terms=terms)
    sa.StaticProblem(system).solve()
    gap = system.position(places[0]) - system.position(places[1])
    np.testing.assert_allclose(gap, np.zeros((1, 3)), atol=1e-10)
    held = root.reaction(system).force + far.reaction(system).force + third.reaction(system).force
    np.testing.assert_allclose(held, -load, atol=1e-8)
    np.testing.assert_allclose(joint.multipliers(system)[0], root.reaction(system).force, atol=1e-8)


@pytest.mark.collective(rows=0)
def test_an_end_slides_on_a_sphere() -> None:
    body = rope()
    centre, radius = np.array([1.0, 0.0, -0.4]), 0.4
    end = body.at((1.0, 0.0, 0.0))
    joint = sa.joints.on_sphere(end, centre, radius)
    push = np.array([0.0, 3.0, -8.0])
    system = sa.System(body, terms=[sa.fix(body["x0"]), joint, sa.force(end, push)])
    sa.StaticProblem(system).solve()
    arm = system.position(end)[0] - centre
    assert abs(arm[1]) > 0.05
    assert np.linalg.norm(arm) == pytest.approx(radius, rel=1e-9)


def test_a_link_keeps_its_length_and_pulls_along_itself() -> None:
    body = rope()
    end, pin = body.at((1.0, 0.0, 0.0)), np.array([1.0, 0.5, 1.2])
    length = 1.25
    joint = sa.joints.distance(end, sa.ground.at(pin), length)
    root = sa.fix(body["x0"])
    system = sa.System(body, terms=[root, joint, sa.gravity(5 * G)])
    sa.StaticProblem(system).solve()
    arm = system.position(end)[0] - pin
    assert np.linalg.norm(arm) == pytest.approx(length, rel=1e-10)
    # what the root does not carry, the link does, along its axis
    link = -10.0 * G - root.reaction(system).force
    np.testing.assert_allclose(np.cross(link, arm), np.zeros(3), atol=1e-6)
    assert link @ arm < 0.0
    lam = joint.multipliers(system)[0, 0]
    np.testing.assert_allclose(-2.0 * lam * arm, link, atol=1e-6)


@pytest.mark.collective(rows=0)
def test_a_length_that_changes_with_time() -> None:
    body = rope()
    end = body.at((1.0, 0.0, 0.0))
    length = sa.Parameter("length", 1.0)
    joint = sa.joints.distance(end, sa.ground.at((1.0, 0.0, 1.0)), length)
    system = sa.System(body, terms=[sa.fix(body["x0"]), joint])
    problem = sa.StaticProblem(system)
    for value in (0.9, 0.7):
        length.value = value
        problem.solve()
        gap = system.position(end)[0] - [1.0, 0.0, 1.0]
        assert np.linalg.norm(gap) == pytest.approx(value, rel=1e-10)


def test_a_constraint_of_the_user_with_time_and_parameter() -> None:
    def driven(r_a: sp.Matrix, t: sp.Symbol, *, rise: sp.Symbol) -> list[sp.Expr]:
        return [r_a[2] - rise * sp.sin(t), r_a[1]]

    body = rope()
    end = body.at((1.0, 0.0, 0.0))
    joint = sa.Constraint(driven, end, name="driven", rise=0.3)
    system = sa.System(body, terms=[sa.fix(body["x0"]), joint])
    sa.StaticProblem(system).solve(to=1.5, step=0.5)
    assert system.position(end)[0, 2] == pytest.approx(0.3 * np.sin(1.5), rel=1e-10)
    assert system.position(end)[0, 1] == pytest.approx(0.0, abs=1e-12)
    assert joint.multipliers(system).shape == (1, 2)


@pytest.mark.collective(rows=0)
def test_a_parameter_with_one_value_per_place() -> None:
    """Three links of different lengths, in one constraint."""

    def link(r_a: Any, X_a: Any, *, L: Any, c: Any) -> Any:
        return c * (r_a - X_a).dot(r_a - X_a) - c * L**2

    body = sa.RigidBody((0.1, 0.2, 0.3))
    spots = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)]
    lengths = np.array([0.2, 0.2, 0.2 + 1e-9])
    hold = sa.Constraint(link, body.at(spots), L=lengths, c=2.0)
    lengths[2] = 7.0  # theirs
    system = sa.System(body, terms=[hold])
    assert sa.check(system).passed
    f = system._discrete.residual_at_solution()
    rows = np.zeros(3)
    mine = system._discrete.numbering.owned_vertices
    entities = system._discrete.binding(hold).entities
    here = entities.end_vertices(1)[:, 0] < mine
    rows[entities.ids[here]] = f[entities.starts(system._discrete)[here]]
    want = -2.0 * np.array([0.2, 0.2, 0.2 + 1e-9]) ** 2
    np.testing.assert_allclose(
        system._discrete.sum(rows) / system._discrete.stiffness, want, rtol=1e-14
    )
    short = sa.Constraint(link, body.at(spots), L=[0.2, 0.3], c=1.0)
    with refused(sa.ParameterError, asked="L", given=(2,), possible=((), (3,))):
        sa.System(body, terms=[short])


def test_a_tie_of_meshes_that_do_not_match() -> None:
    """A bar in two halves stretches about like one; the force passes exactly."""
    left, right = block((2, 2, 2), name="left"), block((3, 3, 3), by=(1.0, 0, 0), name="right")
    tie = sa.joints.tie(right["x0"], left)
    sides = [
        sa.fix(body[side], axis)
        for body in (left, right)
        for side, axis in (("y0", "y"), ("z0", "z"))
    ]
    ends = [sa.fix(left["x0"], "x"), sa.fix(right["x1"], "x", displacement=(0.1, 0, 0))]
    system = sa.System(left, right, terms=[*sides, *ends, tie])
    sa.StaticProblem(system).solve()
    tied = system.position(right["x0"]) - system.displacement(right["x0"])
    for body, x in ((left, 0.3), (right, 1.6)):
        u = system.displacement(body.at((x, 0.45, 0.6)))[0]
        assert u[0] == pytest.approx(0.05 * x, rel=0.03)
    gap = system.position(right["x0"]) - system.position(left.at(tied))
    np.testing.assert_allclose(gap, np.zeros((16, 3)), atol=1e-10)
    pull = ends[1].reaction(system).force[0]
    assert ends[0].reaction(system).force[0] == pytest.approx(-pull, rel=1e-8)
    assert tie.multipliers(system)[:, 0].sum() == pytest.approx(pull, rel=1e-8)


def test_a_welded_tie_bends_like_one_sheet() -> None:
    """Two sheets welded along matching nodes are one sheet; hinged ones are not held."""
    mesh = sa.Mesh.box((2.0, 1.0), (6, 2))
    whole = sa.Body(mesh["body"], THIN, kirchhoff(), thickness=0.1, **STEEL)
    load = (0.0, 0.0, 0.4)
    one = sa.System(whole, terms=[sa.fix(whole["x0"]), sa.force(whole["x1"], load)])
    sa.StaticProblem(one).solve()
    expected = one.displacement(whole.at((2.0, 0.5, 0.0)))

    left, right = sheet(name="left"), sheet(by=(1.0, 0, 0), name="right")
    terms = [sa.fix(left["x0"]), sa.joints.tie(right["x0"], left), sa.force(right["x1"], load)]
    two = sa.System(left, right, terms=terms)
    sa.StaticProblem(two).solve()
    found = two.displacement(right.at((2.0, 0.5, 0.0)))
    assert expected[0, 2] > 0.05
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)

    left, right = sheet(name="left"), sheet(by=(1.0, 0, 0), name="right")
    hinge = sa.joints.tie(right["x0"], left, weld=False)
    loose = sa.System(left, right, terms=[sa.fix(left["x0"]), hinge])
    with refused(
        sa.ConstraintError, asked="rigid motion", given=("rotation about y through (1, 0.5, 0)",)
    ):
        sa.StaticProblem(loose).solve()


@pytest.mark.collective(rows=0)
def test_reuse_of_the_ground() -> None:
    ground = sa.ground
    body = rope()
    joints = [
        sa.joints.spherical(body.at([(0, 0, 0), (0.5, 0, 0)]), ground, name="two"),
        sa.joints.spherical(body.at((1, 0, 0)), ground, name="one"),
    ]
    system = sa.System(body, terms=[*joints, sa.gravity(G)])
    sa.StaticProblem(system, check_held=False).solve()
    np.testing.assert_allclose(system.displacement(body.at((1, 0, 0)))[0], np.zeros(3), atol=1e-9)
    total = sum(joint.multipliers(system).sum(axis=0) for joint in joints)
    np.testing.assert_allclose(-total, -2.0 * G, rtol=1e-8, atol=1e-8)


@pytest.mark.collective(rows=0)
def test_names_of_the_constraint_itself_are_refused() -> None:
    def phi(r_a: sp.Matrix, *, scale: sp.Symbol) -> sp.Expr:
        return r_a[0] - scale

    with refused(sa.ParameterError, asked="scale", given="the term"):
        sa.Constraint(phi, rope().at((1, 0, 0)), scale=1.0)


@pytest.mark.collective(rows=0)
def test_an_equation_without_the_ends_is_refused() -> None:
    def phi(r_a: sp.Matrix, *, L: sp.Symbol) -> list[sp.Expr]:
        return [r_a[0], L - 1]

    with refused(sa.KinematicsError, asked="phi", given="L - 1"):
        sa.Constraint(phi, rope().at((1, 0, 0)), L=1.0)


@pytest.mark.collective(rows=0)
def test_a_body_is_no_end() -> None:
    with refused(sa.ConstraintError, asked="place", given="Body 'rope': 6 ancf_cable with cable"):
        sa.joints.spherical(rope())
