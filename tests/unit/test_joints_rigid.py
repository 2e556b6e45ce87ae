# SPDX-License-Identifier: BSD-3-Clause
"""Joints of rigid bodies: what they leave free, what they carry, and clamps of meshes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sympy as sp

import symancf as sa
from symancf.energies import cable, kirchhoff, saint_venant_kirchhoff
from symancf.solve.statics.rigid_motions import find_free
from tests.refusals import refused

pytestmark = pytest.mark.collective

Array = npt.NDArray[np.float64]

G = np.array([0.0, 0.0, -9.81])
X, Y, Z = np.eye(3)
ENDS = ("Nodes", "PointsOnBody")
FRAME = np.array([[0.6, -0.8, 0.0], [0.8, 0.6, 0.0], [0.0, 0.0, 1.0]]) @ np.array(
    [[1.0, 0.0, 0.0], [0.0, 0.8, -0.6], [0.0, 0.6, 0.8]]
)


def crate(name: str = "crate", at: Any = (0.0, 0.0, 0.0), **options: Any) -> sa.RigidBody:
    return sa.RigidBody.box((0.4, 0.2, 0.1), position=at, rho=500.0, name=name, **options)


def free(*bodies: sa.RigidBody, terms: list[Any]) -> list[str]:
    """Motions that joints leave, in words."""
    system = sa.System(*bodies, terms=terms)
    system._discrete.prescribe(0.0)
    system._discrete.assembler.tangent(
        system.state, np.zeros_like(system.state), system._discrete.matrix
    )
    return sorted(motion for _, motion in find_free(system._discrete))


LEFT = {
    "spherical": ["rotation about x", "rotation about y", "rotation about z"],
    "universal": ["rotation about x", "rotation about y"],
    "revolute": ["rotation about z"],
    "cylindrical": ["rotation about z", "translation along z"],
    "prismatic": ["translation along z"],
    "rigid": [],
}


@pytest.mark.collective(rows=3)
@pytest.mark.parametrize("name", LEFT)
def test_what_a_joint_leaves_free(name: str) -> None:
    """Between the ground and a body whose axes are askew; the joint's are those of space."""
    body = crate(at=(1.0, 2.0, 0.0), frame=FRAME)
    end, ground = body.at((0.1, 0.0, 0.05)), sa.ground
    options: dict[str, Any] = {}
    if name in ("revolute", "cylindrical", "prismatic"):
        options["axis"] = Z
    elif name == "universal":
        options["axes"] = (X, Y)
    joint = getattr(sa.joints, name)(end, ground, **options)
    found = free(body, terms=[joint])
    assert [m.split(" through")[0] for m in found] == LEFT[name]
    at = np.array([1.0, 2.0, 0.0]) + FRAME @ [0.1, 0.0, 0.05]
    for motion in found:
        if name == "universal" or "through" not in motion:
            continue
        numbers = motion.split("through (")[1].split(")")[0]
        place = np.array([float(x) for x in numbers.split(",")])
        kept = [0, 1] if "about z" in motion else [1, 2] if "about x" in motion else [0, 2]
        np.testing.assert_allclose(place[kept], at[kept], atol=1e-3)


def test_two_bodies_on_a_hinge_share_all_motions_but_one() -> None:
    one, two = crate("one"), crate("two", at=(0.4, 0.0, 0.0), frame=FRAME)
    place = FRAME.T @ np.array([-0.2, 0.0, 0.0])
    joint = sa.joints.revolute(one.at((0.2, 0.0, 0.0)), two.at(place), axis=Y)
    assert len(free(one, two, terms=[joint])) == 7


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("name", ["revolute", "cylindrical"])
def test_a_body_that_turns_more_than_once(name: str) -> None:
    """The equations are regular at all angles, and so is that of the prescribed angle."""
    body = crate(at=(1.0, 2.0, 0.0), frame=FRAME)
    axis = np.array([1.0, 2.0, 2.0]) / 3.0
    end = body.at((0.1, 0.0, 0.05))
    joint = getattr(sa.joints, name)(end, axis=axis)
    terms = [joint, sa.joints.rotation(end, angle=lambda t: t, axis=axis), sa.gravity(G)]
    if name == "cylindrical":
        terms.append(sa.joints.translation(end, distance=lambda t: 0.1 * t, axis=axis))
    system = sa.System(body, terms=terms)
    start = np.array([1.0, 2.0, 0.0]) + FRAME @ [0.1, 0.0, 0.05]
    problem = sa.StaticProblem(system)
    for angle in (2.0, 4.0, 7.0):
        problem.solve(to=angle, step=0.5)
        K = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
        R = np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K
        np.testing.assert_allclose(body.rotation(system), R @ FRAME, atol=1e-12)
        moved = start + (0.1 * angle * axis if name == "cylindrical" else 0.0)
        np.testing.assert_allclose(system.position(end)[0], moved, atol=1e-12)
        reactions = [term.reaction(system) for term in terms if isinstance(term, sa.Constraint)]
        total = sum(r.force for r in reactions)
        moment = sum(r.moment_about(body.position(system)) for r in reactions)
        np.testing.assert_allclose(total, -body.mass * G, atol=1e-10)
        np.testing.assert_allclose(moment, np.zeros(3), atol=1e-10)
    assert sa.check(system).passed


def test_six_legs_carry_a_crate_as_statics_says() -> None:
    """A platform on six struts: forces by equilibrium of a rigid body alone."""
    body = crate(at=(0.0, 0.0, 1.0), frame=FRAME)
    corners = np.array([(0.2, 0.1, -0.05), (-0.2, 0.1, -0.05), (0.0, -0.1, -0.05)])
    feet = np.zeros((6, 3))
    feet[:, 0] = [0.5, -0.1, -0.5, -0.4, 0.1, 0.6]
    feet[:, 1:] = [(0.4, 0), (0.6, 0), (0.3, 0), (-0.4, 0.1), (-0.6, 0), (-0.2, -0.1)]
    pull = np.array([3.0, -20.0, 5.0])
    legs, rows = [], []
    at = body.origin
    for k, foot in enumerate(feet):
        top = at + FRAME @ corners[k // 2]
        arm = top - foot
        length = float(np.linalg.norm(arm))
        end = body.at(corners[k // 2])
        legs.append(sa.joints.distance(end, sa.ground.at(foot), length, name=f"leg {k}"))
        rows.append(np.concatenate([arm, np.cross(top - at, arm)]) / length)
    handle = body.at((0.1, 0.05, 0.05))
    load = np.concatenate([body.mass * G + pull, np.cross(FRAME @ [0.1, 0.05, 0.05], pull)])
    thrust = np.linalg.solve(np.array(rows).T, -load)
    system = sa.System(body, terms=[*legs, sa.gravity(G), sa.force(handle, pull)])
    sa.StaticProblem(system).solve()
    for leg, row, force in zip(legs, rows, thrust, strict=True):
        found = leg.reaction(system)
        np.testing.assert_allclose(found.force, force * row[:3], atol=1e-8)
        np.testing.assert_allclose(found.moments, np.zeros((1, 3)), atol=1e-12)
        np.testing.assert_allclose(leg.reaction(system, "b").force, -found.force, atol=1e-12)
    assert abs(thrust).max() > 20.0


def test_a_crate_on_a_ball_joint_and_springs() -> None:
    def spring(r_a: Any, r_b: Any, *, k: Any, L: Any) -> Any:
        gap = r_a - r_b
        return k / 2 * (sp.sqrt(gap.dot(gap)) - L) ** 2

    body = crate(at=(0.2, 0.0, 0.0))
    pivot = sa.joints.spherical(body.at((-0.2, 0.0, 0.0)))
    ends = [(0.2, 0.1, 0.0), (0.2, -0.1, 0.0), (0.1, 0.1, 0.05)]
    anchors = [(0.6, 0.3, 0.8), (0.5, -0.4, 0.9), (0.2, 0.6, 0.2)]
    springs = [
        sa.Potential(spring, body.at(p), sa.ground.at(q), k=60.0, L=0.7, name=f"spring {n}")
        for n, (p, q) in enumerate(zip(ends, anchors, strict=True))
    ]
    system = sa.System(body, terms=[pivot, *springs, sa.gravity(G)])
    sa.StaticProblem(system).solve(step=0.5)
    np.testing.assert_allclose(
        body.rotation(system).T @ body.rotation(system), np.eye(3), atol=1e-13
    )
    weight = body.mass * G
    total = weight.copy()
    moment = np.cross(body.position(system), weight)
    for p, q in zip(ends, anchors, strict=True):
        r = system.position(body.at(p))[0]
        gap = r - q
        force = -60.0 * (np.linalg.norm(gap) - 0.7) * gap / np.linalg.norm(gap)
        total += force
        moment += np.cross(r, force)
    assert np.linalg.norm(body.rotation(system) - np.eye(3)) > 0.1
    np.testing.assert_allclose(moment, np.zeros(3), atol=1e-8)
    reaction = pivot.reaction(system)
    np.testing.assert_allclose(reaction.force, -total, atol=1e-8)
    np.testing.assert_allclose(reaction.moment, np.zeros(3), atol=1e-12)


@pytest.mark.collective(rows=0)
def test_a_chain_of_joints_passes_forces_and_moments_on() -> None:
    """Cantilever of three crates: rigid, prismatic (held by a travel) and rigid joints."""
    bodies = [crate(f"crate {k}", at=(0.2 + 0.4 * k, 0.0, 0.0), frame=np.eye(3)) for k in range(3)]
    root = sa.joints.rigid(bodies[0].at((-0.2, 0.0, 0.0)), name="root")
    slide = bodies[1].at((-0.2, 0.0, 0.0)), bodies[0].at((0.2, 0.0, 0.0))
    rail = sa.joints.prismatic(*slide, axis=X)
    travel = sa.joints.translation(*slide, distance=0.05, axis=X)
    weld = sa.joints.rigid(bodies[2].at((-0.2, 0.0, 0.0)), bodies[1].at((0.2, 0.0, 0.0)))
    pull = np.array([7.0, 3.0, 0.0])
    terms = [root, rail, travel, weld, sa.gravity(G), sa.force(bodies[2].at((0.2, 0, 0)), pull)]
    system = sa.System(*bodies, terms=terms)
    sa.StaticProblem(system).solve()
    m = bodies[0].mass
    places = [body.position(system) for body in bodies]
    np.testing.assert_allclose(places[2], [1.05, 0.0, 0.0], atol=1e-12)
    tip = places[2] + [0.2, 0.0, 0.0]
    for joints, outer, at in (
        ((weld,), places[2:], 0.85),
        ((rail, travel), places[1:], 0.45),
        ((root,), places, 0.0),
    ):
        point = np.array([at, 0.0, 0.0])
        force = -pull - len(outer) * m * G
        moment = -np.cross(tip - point, pull) - sum(np.cross(x - point, m * G) for x in outer)
        for end, sign in (("a", 1.0), ("b", -1.0)):
            found = [joint.reaction(system, end) for joint in joints]
            np.testing.assert_allclose(sum(r.force for r in found), sign * force, atol=1e-9)
            about = sum(r.moment_about(point) for r in found)
            np.testing.assert_allclose(about, sign * moment, atol=1e-9)


@pytest.mark.collective(rows=0)
def test_a_constraint_of_the_user_in_the_axes_of_its_ends() -> None:
    """A gear of ratio 2 as angles about one axis: the angle is asked for by atan2."""

    def gear(e1_a: Any, e1_b: Any, e2_b: Any, E1_a: Any, *, target: Any) -> Any:
        return sp.atan2(e1_a.dot(e2_b), e1_a.dot(e1_b)) + 0 * E1_a[0] - target

    body = crate()
    hinge = sa.joints.revolute(body.at((0.0, 0.0, 0.0)), axis=Z)
    turn = sa.Parameter("turn", 0.0)
    drive = sa.Constraint(gear, body.at((0.0, 0.0, 0.0)), sa.ground.at((0, 0, 0)), target=turn)
    system = sa.System(body, terms=[hinge, drive])
    problem = sa.StaticProblem(system)
    turn.value = 0.7
    problem.solve()
    expected = np.array([[np.cos(0.7), -np.sin(0.7)], [np.sin(0.7), np.cos(0.7)]])
    np.testing.assert_allclose(body.rotation(system)[:2, :2], expected, atol=1e-12)


# ---- clamps of meshes ---------------------------------------------------------------------------
RUBBER: dict[str, Any] = {"E": 1e6, "nu": 0.3, "rho": 1000.0}
KINDS = {
    "cable": (sa.elements.ancf_cable, (1.0,), (6,)),
    "thin plate": (sa.elements.ancf_thin_plate, (1.0, 0.5), (5, 3)),
    "plate": (sa.elements.ancf_plate, (1.0, 0.5), (5, 3)),
    "solid": (sa.elements.hex8_plain, (1.0, 0.5, 0.2), (5, 3, 2)),
}
ROWS = {"cable": 6, "thin plate": 9, "plate": 12, "solid": 3}


def flexible(kind: str) -> sa.Body:
    element, size, n = KINDS[kind]
    mesh = sa.Mesh.box(size, n)
    if kind == "cable":
        return sa.Body(mesh["body"], element, cable(), EA=1e5, EI=40.0, rho=1000.0, A=0.01)
    if kind == "solid":
        return sa.Body(mesh["body"], element, saint_venant_kirchhoff(), **RUBBER)
    energy = kirchhoff() if kind == "thin plate" else saint_venant_kirchhoff()
    return sa.Body(mesh["body"], element, energy, thickness=0.05, **RUBBER)


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("dofs", ["clamp", "all"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_clamp_at_a_held_body_is_a_fixed_edge(kind: str, dofs: Any) -> None:
    body = flexible(kind)
    tip = (1.0, *((0.5,) if kind != "cable" else (0.0,)), 0.2 if kind == "solid" else 0.0)
    edge = sa.fix(body["x0"], dofs)
    system = sa.System(body, terms=[edge, sa.gravity(G)])
    sa.StaticProblem(system).solve(step=0.5)
    expected = system.displacement(body.at(tip))
    force, moment = edge.reaction(system).force, edge.reaction(system).moment_about((0, 0, 0))
    assert abs(expected[0, 2]) > 0.02

    body = flexible(kind)
    block = crate(at=(-0.2, 0.1, 0.0), frame=FRAME)
    clamp = sa.joints.clamp(body["x0"], block, dofs=dofs)
    hold = sa.fix(block)
    system = sa.System(body, block, terms=[hold, clamp, sa.gravity(G, body)])
    assert len(clamp.phi) == (ROWS[kind] if dofs == "all" else 3)
    sa.StaticProblem(system).solve(step=0.5)
    np.testing.assert_allclose(system.displacement(body.at(tip)), expected, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(hold.reaction(system).force, force, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(
        hold.reaction(system).moment_about((0, 0, 0)), moment, rtol=1e-6, atol=1e-7
    )
    for end, sign in (("a", 1.0), ("b", -1.0)):
        found = clamp.reaction(system, end)
        np.testing.assert_allclose(found.force, sign * force, rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(
            found.moment_about((0, 0, 0)), sign * moment, rtol=1e-6, atol=1e-7
        )


@pytest.mark.parametrize("kind", KINDS)
def test_a_body_that_turns_takes_the_clamped_edge_along(kind: str) -> None:
    """Weightless, the mesh moves rigidly: no strain, no force, no violation."""
    body = flexible(kind)
    block = crate(at=(-0.2, 0.1, 0.0), frame=FRAME)
    clamp = sa.joints.clamp(body["x0"], block, dofs="all")
    turn = sa.Parameter("turn", 0.0)
    pivot = block.at((0.1, 0.0, 0.0))
    hinge = sa.joints.revolute(pivot, axis=Y)
    drive = sa.joints.rotation(pivot, angle=turn, axis=Y)
    system = sa.System(body, block, terms=[clamp, hinge, drive])
    system._discrete.prescribe(0.0)
    problem = sa.StaticProblem(system, check_held=kind != "cable")
    for value in (0.2, 0.4):
        turn.value = value
        problem.solve()
    R = np.array([[np.cos(0.4), 0, np.sin(0.4)], [0, 1, 0], [-np.sin(0.4), 0, np.cos(0.4)]])
    tip = np.array([1.0, 0.0, 0.0])
    about = block.origin + FRAME @ [0.1, 0.0, 0.0]
    found = system.position(body.at(tip))[0]
    np.testing.assert_allclose(found, about + R @ (tip - about), atol=1e-7)
    violations = clamp.violations(system)
    slopes = {"cable": 1, "solid": 0}.get(kind, 2)
    assert violations.shape == (system._discrete.binding(clamp).entities.size, 3 + slopes)
    assert np.abs(violations).max() < 1e-12


@pytest.mark.collective(rows=0)
def test_violations_are_those_of_a_node_that_moves() -> None:
    """The five residuals by hand, at a state that violates the clamp."""
    body = flexible("thin plate")
    block = crate(at=(-0.2, 0.1, 0.0), frame=FRAME)
    clamp = sa.joints.clamp(body["x0"], block, dofs="all")
    system = sa.System(body, block, terms=[clamp])
    system.state[:] = 0.1 * system._discrete.numbering.random(2)
    nodes = clamp.places
    R = [
        system._discrete.evaluate(nodes, [(jet, system.reference)])[0]
        for jet in ("value", "along0", "along1")
    ]
    u = [
        system._discrete.evaluate(nodes, [(jet, system.state)])[0]
        for jet in ("value", "along0", "along1")
    ]
    Q, q = (
        block.coordinates(system, v) for v in (system.reference, system.reference + system.state)
    )
    rows = []
    for k in range(len(R[0])):
        arm0 = R[0][k] - Q[1]
        arm = R[0][k] + u[0][k] - q[1]
        theta = np.arctan2(np.linalg.norm(np.cross(arm0, Q[2])), arm0 @ Q[2])
        rows.append(
            [
                arm @ arm - arm0 @ arm0,
                arm @ q[2] - np.linalg.norm(arm) * np.linalg.norm(q[2]) * np.cos(theta),
                arm @ (q[1] - q[0]) - arm0 @ (Q[1] - Q[0]),
                (R[1][k] + u[1][k]) @ q[3] - R[1][k] @ Q[3],
                (R[2][k] + u[2][k]) @ arm - R[2][k] @ arm0,
            ]
        )
    np.testing.assert_allclose(clamp.violations(system), rows, rtol=1e-12, atol=1e-14)
    assert np.abs(rows).max() > 1e-2


@pytest.mark.parametrize("x", [0.5, 0.55])
def test_a_point_of_a_cable_is_clamped_with_its_tangent(x: float) -> None:
    """A node, and a point within a cell."""
    body = flexible("cable")
    block = crate(at=(0.5, 0.1, 0.0), frame=FRAME)
    place, end = body.at((x, 0.0, 0.0)), body.at((1.0, 0.0, 0.0))
    clamp = sa.joints.clamp(place, block)
    load = np.array([0.0, 0.0, -8.0])
    system = sa.System(body, block, terms=[sa.fix(block), clamp, sa.force(end, load)])
    sa.StaticProblem(system).solve()
    tip = system.displacement(end)[0]
    if x == 0.5:  # a cantilever of length l: F l^3 / 3 EI; a cell cannot bend at a clamp within
        assert tip[2] == pytest.approx(-8.0 * 0.5**3 / (3 * 40.0), rel=1e-3)
    tangent = system.gradient(place)[0] @ X
    np.testing.assert_allclose(tangent / np.linalg.norm(tangent), X, atol=1e-12)
    assert abs(np.linalg.norm(tangent) - 1.0) > 1e-9  # its length is free
    reaction = clamp.reaction(system)
    np.testing.assert_allclose(reaction.force, -load, atol=1e-8)
    arm = system.position(end)[0] - [x, 0.0, 0.0]
    np.testing.assert_allclose(reaction.moment, -np.cross(arm, load), atol=1e-8)


@pytest.mark.parametrize("kind", ["thin plate", "plate"])
def test_a_plate_on_a_hinge_along_its_edge(kind: str) -> None:
    """A point of a plate may be an end with an axis: a tangent, or any direction."""
    body = flexible(kind)
    hinge = sa.joints.revolute(body.at((0.0, 0.0, 0.0)), axis=Y)
    system = sa.System(body, terms=[hinge])
    system._discrete.prescribe(0.0)
    system._discrete.assembler.tangent(
        system.state, np.zeros_like(system.state), system._discrete.matrix
    )
    assert [m for _, m in find_free(system._discrete)] == ["rotation about y through (0, 0.25, 0)"]


@pytest.mark.collective(rows=0)
def test_axes_that_an_end_does_not_have() -> None:
    for kind, axis in (("thin plate", Z), ("cable", Y)):
        body = flexible(kind)
        hinge = sa.joints.revolute(body.at((0.0, 0.0, 0.0)), axis=axis)
        with refused(sa.ConstraintError, asked="e3", given=tuple(axis)):
            sa.System(body, terms=[hinge])
    body = flexible("solid")
    with refused(sa.ConstraintError, asked="e3", given="hex8_plain"):
        sa.System(body, terms=[sa.joints.revolute(body["x0"], axis=Y)])


@pytest.mark.parametrize(
    ("make", "asked", "given", "possible"),
    [
        (
            lambda b: sa.joints.spherical(b),
            "place",
            "RigidBody 'crate' at (0, 0, 0), 4 kg",
            (),
        ),
        (lambda b: sa.joints.revolute(b.at((0, 0, 0)), axis=(0, 0, 0)), "axis", (0, 0, 0), ()),
        (lambda b: sa.joints.revolute(b.at((0, 0, 0)), axis="z"), "axis", "z", ()),
        (
            lambda b: sa.joints.revolute(b.at((0, 0, 0), frame=np.eye(3)), axis=Z),
            "axis",
            (0.0, 0.0, 1.0),
            ("axis", "frame"),
        ),
        (
            lambda b: sa.joints.revolute(
                b.at((0, 0, 0), frame=np.eye(3)), sa.ground.at((0, 0, 0), frame=np.eye(3))
            ),
            "frame",
            pytest.approx(0.632, abs=1e-3),
            (),
        ),
        (lambda b: sa.joints.universal(b.at((0, 0, 0)), axes=(X, X)), "axes", 0.0, (90.0,)),
        (lambda b: sa.joints.universal(b.at((0, 0, 0)), axes=X[:1]), "axes", (1.0,), ()),
        (lambda b: sa.joints.clamp(b.at((0, 0, 0)), b), "a", "(0, 0, 0) of 'crate'", ENDS),
        (lambda b: sa.joints.clamp(sa.ground, b), "a", "Ground", ENDS),
    ],
)
def test_impossible_joints(make: Any, asked: str, given: Any, possible: tuple[Any, ...]) -> None:
    with refused(sa.ConstraintError, asked=asked, given=given, possible=possible):
        make(crate(frame=FRAME))


@pytest.mark.collective(rows=0)
def test_a_joint_of_a_body_that_is_not_there() -> None:
    one, two = crate("one"), crate("two")
    joint = sa.joints.spherical(one.at((0, 0, 0)), two.at((0, 0, 0)))
    with refused(sa.ParameterError, asked="body", given="two", possible=("one",)):
        sa.System(one, terms=[joint])


def test_a_driven_hinge_reports_the_moment_that_it_takes() -> None:
    """The angle is a t^2/2 about an axis through the centre: moment J a, force the weight."""
    body = crate(at=(0.3, 0.0, 0.0))
    hinge = sa.joints.revolute(body.centre, axis=Y)
    drive = sa.joints.rotation(body.centre, angle=lambda t: 1.5 * t**2, axis=Y)
    system = sa.System(body, terms=[hinge, drive, sa.gravity(G)])
    problem = sa.DynamicProblem(system, spectral_radius=0.8)
    problem.solve(to=1.0, step=0.01)
    J = body.mass * (0.4**2 + 0.1**2) / 12
    np.testing.assert_allclose(body.angular_velocity(system), [0.0, 3.0, 0.0], atol=1e-3)
    parts = [joint.reaction(system) for joint in (hinge, drive)]
    moment = parts[0].moment + parts[1].moment
    np.testing.assert_allclose(moment, [0.0, 3.0 * J, 0.0], rtol=2e-3, atol=1e-9)  # h = 0.01
    np.testing.assert_allclose(parts[0].force, -body.mass * G, atol=1e-8)
    angle = np.arctan2(-body.rotation(system)[2, 0], body.rotation(system)[0, 0])
    assert angle == pytest.approx(1.5, rel=1e-12)


@pytest.mark.collective(rows=0)
def test_a_moment_on_a_rigid_body_is_answered_by_its_joint() -> None:
    body = crate(at=(0.3, 0.0, 0.0), frame=FRAME)
    joint = sa.joints.rigid(body.at((0.1, 0.0, 0.0)))
    M = np.array([1.0, -2.0, 3.0])
    system = sa.System(body, terms=[joint, sa.moment(body.at((0.0, 0.1, 0.0)), M)])
    sa.StaticProblem(system).solve()
    np.testing.assert_allclose(joint.reaction(system).moment, -M, rtol=1e-10)
    np.testing.assert_allclose(joint.reaction(system).force, np.zeros(3), atol=1e-10)


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("angle", [0.3, 1.2, 2.0, 3.0])
@pytest.mark.parametrize("planar", [True, False])
def test_a_rotation_in_one_step_ends_at_its_angle(planar: bool, angle: float) -> None:
    """sin(phi - angle) = 0 alone has a second root half a turn away, and was led to it."""
    body = sa.PlanarBody() if planar else sa.RigidBody()
    ends = (body.at((0, 0, 0)), sa.ground.at((0, 0, 0)))
    terms = [
        sa.joints.revolute(*ends, axis=Z),
        sa.joints.rotation(*ends, angle=lambda t: angle * t, axis=Z),
    ]
    system = sa.System(body, terms=terms)
    sa.StaticProblem(system, prefix="half_turn_").solve(to=1.0)
    arm = system.position(body.at((1, 0, 0)))[0] - system.position(body.at((0, 0, 0)))[0]
    assert arm == pytest.approx([np.cos(angle), np.sin(angle), 0.0], abs=1e-9)


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize("links", [2, 5])
@pytest.mark.parametrize(
    ("g", "size"),
    [(X, 1.0), (-X, 1.0), (Z, 1e3), (X, 1e-3)],
    ids=["hanging", "upright", "across, mm", "small"],
)
def test_a_chain_at_rest_stays_where_it_is(links: int, g: Array, size: float) -> None:
    """Joints carry all of the weight: what is left of the forces is their round-off."""
    bodies, terms = [], [sa.gravity(9.81 * size * g)]
    before: Any = sa.ground.at((0.0, 0.0, 0.0))
    for k in range(links):
        at = (0.4 * size * (k + 0.5), 0.0, 0.0)
        lengths = 0.1 * size * np.array([4.0, 2.0, 1.0])
        bodies.append(sa.RigidBody.box(lengths, position=at, rho=500.0 / size**3, name=f"link {k}"))
        start, end = (bodies[-1].at((s * 0.2 * size, 0.0, 0.0)) for s in (-1.0, 1.0))
        terms.append(sa.joints.revolute(before, start, axis=Z, name=f"pin {k}"))
        before = end
    system = sa.System(*bodies, terms=terms)
    problem = sa.DynamicProblem(system)
    problem.solve(to=0.02, step=0.01)
    assert len(problem.history.steps) == 2
    assert np.abs(system.displacement(bodies[-1].centre)).max() < 1e-12 * size


@pytest.mark.collective(rows=0)
def test_a_hanging_body_has_its_weight_as_reaction_and_the_opposite_as_multipliers() -> None:
    """Phi = r_a - r_b: the multipliers are the force on b; reactions are those on the body."""
    body = crate()
    top, weight = body.at((0.0, 0.0, 0.05)), body.mass * G
    for joint, of_body, sign in (
        (sa.joints.rigid(top, sa.ground), "a", 1.0),
        (sa.joints.rigid(sa.ground, top), "b", -1.0),
    ):
        system = sa.System(body, terms=[joint, sa.gravity(G)])
        sa.StaticProblem(system).solve()
        reaction = joint.reaction(system, of_body).force  # type: ignore[arg-type]
        np.testing.assert_allclose(reaction, -weight, atol=1e-9)
        np.testing.assert_allclose(joint.multipliers(system)[0, :3], sign * weight, atol=1e-9)
    support = sa.fix(body)
    held = sa.System(body, terms=[support, sa.gravity(G)])
    sa.StaticProblem(held).solve()
    np.testing.assert_allclose(support.reaction(held).force, -weight, atol=1e-9)
