# SPDX-License-Identifier: BSD-3-Clause
"""Rods on rods, shells, solids, rigid bodies; joints, controllers, followers, contact, spins."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
import sympy as sp
from mpi4py import MPI

import symancf as sa
from symancf.energies import kirchhoff, rod, saint_venant_kirchhoff
from symancf.verify.rods import growing, straight
from symancf.verify.rods_shapes import angle_of
from tests.refusals import refused

ROD = sa.elements.ancf_rod
ROUND = sa.Section.circle(0.01)
E, NU = 70e9, 0.3
GIVEN = ROUND.rod(E=E, nu=NU, rho=2700.0)
EI, GJ, GA = GIVEN["EI2"], GIVEN["GJ"], GIVEN["GA2"]


def post(cells: int = 4, at: tuple[float, ...] = (0.0, 0.0, 0.0), length: float = 0.5) -> sa.Body:
    """Return a rod that stands on a place along z."""
    z = np.linspace(0.0, length, 2 * cells + 1)
    X = np.asarray(at) + np.stack([0 * z, 0 * z, z], axis=1)
    first = 2 * np.arange(cells)
    regions: dict[str, Any] = {
        "post": ("line3", np.arange(cells)),
        "foot": ("vertex", [0]),
        "top": ("vertex", [2 * cells]),
    }
    table = np.stack([first, first + 2, first + 1], axis=1)
    mesh = sa.Mesh.from_arrays(X, {"line3": table}, regions)
    return sa.Body(mesh["post"], ROD, rod(), direction=lambda X: (1.0, 0.0, 0.0), **GIVEN)


def bent(length: float = 0.5) -> float:
    """Return the deflection of a cantilever under a unit force at its end."""
    return length**3 / (3 * EI) + length / GA


@pytest.mark.collective
def test_rod_in_the_middle_of_another() -> None:
    """A post welded between the nodes of a beam bends and twists it as it should."""
    L, h, P = 1.0, 0.5, np.array([1e-2, 2e-2, 0.0])
    upright = post(at=(0.5, 0.0, 0.0), length=h)
    # moments P h on the middle of a clamped beam: it turns by M L/16 EI; twist T L/4 GJ
    bend, middle = bent(h), P[0] * h * L / (16 * EI)
    across = P[1] * L**3 / (192 * EI) + P[1] * L / (4 * GA)
    twisted = P[1] * bend + h * P[1] * h * L / (4 * GJ) + across
    errors = []
    for cells in (4, 9):  # between two cells, and in the middle of one
        beam = sa.Body(straight(cells, L)["rod"], ROD, rod(), **GIVEN)
        held = [sa.fix(beam["start"]), sa.fix(beam["end"])]
        weld = sa.joints.weld(upright["foot"], beam.at((0.5, 0.0, 0.0)))
        system = sa.System(beam, upright, terms=[*held, weld, sa.force(upright["top"], P)])
        sa.StaticProblem(system).solve()
        u = system.displacement(upright["top"])[0]
        assert u[1] == pytest.approx(twisted, rel=1e-3 if cells == 4 else 3e-2)
        errors.append(abs(u[0] / (P[0] * bend + h * middle) - 1.0))
        np.testing.assert_allclose(weld.reaction(system, "b").force, P, atol=1e-6)
    assert errors[0] < 2e-3
    assert errors[1] < 4e-2  # curvature jumps within a cell


@pytest.mark.collective
def test_rod_on_a_solid() -> None:
    """A post on a face of a block: forces and moments pass, and the face keeps its freedom."""
    a, H, h, P = 0.1, 0.4, 0.5, np.array([1e-3, 0.0, -2e-2])
    mesh = sa.Mesh.box((a, a, H), (2, 2, 6), cell="hexahedron27")
    soft = 1e8
    block = sa.Body(mesh["body"], sa.elements.hex27, saint_venant_kirchhoff(), E=soft, nu=0.0)
    upright = post(at=(a / 2, a / 2, H), length=h)
    torque = 5e-4
    weld = sa.joints.weld(upright["foot"], block["z1"].mean())
    loads = [sa.force(upright["top"], P), sa.moment(upright["top"], (0.0, 0.0, torque))]
    system = sa.System(block, upright, terms=[sa.fix(block["z0"]), weld, *loads])
    sa.StaticProblem(system).solve()
    u = system.displacement(upright["top"])[0]
    A, inertia = a * a, a**4 / 12
    bend = bent(h)
    G = soft / 2
    # block: force and moment at its top; with nu = 0 a beam of shear factor 5/6
    top = P[0] * H**3 / (3 * soft * inertia) + P[0] * h * H**2 / (2 * soft * inertia)
    top += P[0] * H / (G * A * 5 / 6)
    turn = P[0] * H**2 / (2 * soft * inertia) + P[0] * h * H / (soft * inertia)
    assert u[0] == pytest.approx(P[0] * bend + top + h * turn, rel=5e-3)
    assert u[2] == pytest.approx(P[2] * (H / (soft * A) + h / GIVEN["EA"]), rel=2e-3)
    # a twist of the block, held flat at its foot, and of the post
    J = sa.Section.rectangle(a, a).J
    turned = angle_of(system, _ended(upright), np.array([0.0, 0.0, 1.0]))
    assert turned == pytest.approx(torque * (H / (G * J) + h / GJ), rel=4e-2)
    reaction = weld.reaction(system, "b")
    np.testing.assert_allclose(reaction.force, P, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(
        system.position(upright["foot"])[0],
        np.mean(system.position(block["z1"]), axis=0),
        atol=1e-3 * np.abs(u).max(),
    )


def test_loads_and_hinges_on_a_face() -> None:
    """A face as one place takes forces, moments and joints; what is none is refused."""
    a, H, soft = 0.1, 0.8, 1e8
    mesh = sa.Mesh.box((a, a, H), (1, 1, 6), cell="hexahedron20")
    block = sa.Body(mesh["body"], sa.elements.hex20, saint_venant_kirchhoff(), E=soft, nu=0.0)
    top, inertia = block["z1"].mean(), a**4 / 12
    M = 1e-4
    system = sa.System(
        block, terms=[sa.fix(block["z0"]), sa.moment(top, (0.0, M, 0.0)), sa.force(top, (0, 0, M))]
    )
    sa.StaticProblem(system).solve()
    u = system.displacement(top)[0]
    assert u[0] == pytest.approx(M * H**2 / (2 * soft * inertia), rel=1e-3)
    assert u[2] == pytest.approx(M * H / (soft * a * a), rel=1e-3)
    # hinged at both ends about x, pushed across in the middle
    hinges = [sa.joints.revolute(block[side].mean(), axis=(1, 0, 0)) for side in ("z0", "z1")]
    push = sa.force(block.at((a / 2, a / 2, H / 2)), (0.0, M, 0.0))
    system = sa.System(block, terms=[*hinges, push])
    sa.StaticProblem(system, check_held=False).solve()
    ends = [system.displacement(block[side].mean()) for side in ("z0", "z1")]
    np.testing.assert_allclose(ends, 0.0, atol=1e-12)
    bend = M * H**3 / (48 * soft * inertia) + M * H / (4 * soft / 2 * a * a * 5 / 6)
    assert system.displacement(block["z0"]).shape == (8, 3)
    middle = system.displacement(block.at((a / 2, a / 2, H / 2)))[0, 1]
    assert middle == pytest.approx(bend, rel=2e-2)
    with refused(sa.ConstraintError, asked="e3", given=(0.0, 0.0, 1.0)):
        sa.System(block, terms=[sa.joints.revolute(top, axis=(0, 0, 1))])
    with refused(sa.ConstraintError, asked="region", given="body"):
        block["body"].mean()


def _ended(body: sa.Body) -> Any:
    return {"end": body["top"]}


@pytest.mark.parametrize("thin", [False, True])
def test_rod_on_a_shell(thin: bool) -> None:
    """A post on a plate loads it as a force and a moment there do."""
    mesh = sa.Mesh.box((1.0, 1.0), (4, 4))
    element = sa.elements.ancf_thin_plate if thin else sa.elements.ancf_plate
    law: Any = kirchhoff() if thin else saint_venant_kirchhoff()
    plate = sa.Body(mesh["body"], element, law, E=1e9, nu=0.3, thickness=0.02, name="plate")
    h, P = 0.5, 1.0
    upright = post(at=(0.5, 0.5, 0.0), length=h)
    centre = plate.at((0.5, 0.5, 0.0))
    weld = sa.joints.weld(upright["foot"], centre, axis=(0, 0, 1))
    held = [sa.fix(plate[side]) for side in ("x0", "x1")]
    system = sa.System(plate, upright, terms=[*held, weld, sa.force(upright["top"], (P, 0.0, 0.0))])
    sa.StaticProblem(system).solve()
    u = system.displacement(upright["top"])[0, 0]
    alone = sa.System(
        plate,
        terms=[*held, sa.force(centre, (P, 0.0, 0.0)), sa.moment(centre, (0.0, P * h, 0.0))],
    )
    sa.StaticProblem(alone).solve()
    ahead, behind = (alone.displacement(plate.at((0.5 + s, 0.5, 0.0)))[0, 2] for s in (1e-4, -1e-4))
    turn = -(ahead - behind) / 2e-4
    moved = alone.displacement(centre)[0, 0]
    assert u == pytest.approx(P * bent(h) + moved + h * turn, rel=2e-3 if thin else 2e-2)
    assert h * turn > P * bent(h) / 10.0  # the plate does bend


def test_rod_on_a_rigid_body_and_in_joints() -> None:
    """A rod clamped to a rigid body on a hinge: an inverted pendulum's stiffness and period."""
    L, m = 0.5, 3.0
    body = sa.Body(straight(4, L)["rod"], ROD, rod(), **GIVEN)
    head = sa.RigidBody(mass=m, inertia=(1e-2, 1e-2, 1e-2), position=(L, 0.0, 0.0), name="head")
    grip = sa.joints.clamp(body["end"], head)
    system = sa.System(body, head, terms=[sa.fix(body["start"]), grip])
    omega = sa.EigenProblem(system).solve(4).omega
    # a mass with inertia J at the end of a beam of mass M: two by two, Rayleigh's part of M
    M, J = 2700.0 * GIVEN["A"] * L, 1e-2
    stiff = np.array([[12.0, -6.0 * L], [-6.0 * L, 4.0 * L**2]]) * EI / L**3
    mass = np.diag([m + 33.0 / 140.0 * M, J])
    found = np.sqrt(np.linalg.eigvals(np.linalg.solve(mass, stiff)))
    assert omega[0] == pytest.approx(found.min(), rel=5e-3)
    twist = math.sqrt(GJ / (L * (J + 2700.0 * (GIVEN["I2"] + GIVEN["I3"]) * L / 3.0)))
    assert np.abs(omega / twist - 1.0).min() < 1e-3
    # joints: one end hinged about z, the other on a spherical joint: a three-hinged strut
    held = [sa.joints.revolute(body["start"], axis=(0, 0, 1)), sa.joints.spherical(body["end"])]
    P = 10.0
    push = sa.force(body.at((L / 2, 0.0, 0.0)), (0.0, P, 0.0))
    bend = sa.System(body, terms=[*held, push])
    sa.StaticProblem(bend).solve()
    u = bend.displacement(body.at((L / 2, 0.0, 0.0)))[0, 1]
    assert u == pytest.approx(P * L**3 / (48 * EI) + P * L / (4 * GA), rel=1e-3)
    up = sa.force(body.at((L / 2, 0.0, 0.0)), (0.0, 0.0, P))  # the hinge holds there
    bend = sa.System(body, terms=[*held, up])
    sa.StaticProblem(bend).solve()
    u = bend.displacement(body.at((L / 2, 0.0, 0.0)))[0, 2]
    assert u == pytest.approx(7 * P * L**3 / (768 * EI), rel=1e-2)  # and shear


def test_loads_that_follow() -> None:
    """A force that stays across the end, and a moment in its axes (A04 by a backward integral)."""
    body = sa.Body(straight(8)["rod"], ROD, rod(), **sa.Section.circle(1e-3).rod(E=1.0, nu=0.3))
    stiffness = body.parameters["EI2"]

    def along(e1_a: Any, v_a: Any, e2_a: Any, *, P: Any) -> Any:
        return {v_a: P * e2_a}

    for load, right in ((1.0, (0.9356456694806927, 0.3206419946750134)),):
        push = sa.VirtualWork(along, body["end"], P=lambda t, P=load: t * P * stiffness)
        system = sa.System(body, terms=[sa.fix(body["start"]), push])
        sa.StaticProblem(system).solve()
        np.testing.assert_allclose(system.position(body["end"])[0, :2], right, atol=2e-5)
    follow = sa.moment(
        body["end"], growing(np.array([0.0, 0.0, math.pi * stiffness])), frame="body"
    )
    system = sa.System(body, terms=[sa.fix(body["start"]), follow])
    sa.StaticProblem(system).solve()
    np.testing.assert_allclose(
        system.position(body["end"])[0], (0.0, 2.0 / math.pi, 0.0), atol=4e-4
    )


def test_a_controlled_arm_with_a_payload() -> None:
    """A motor turns a rod on a hinge, with a ball in a joint at its end: as it turns a cable."""
    L, gains = 0.5, {"kp": 40.0, "ki": 0.0, "kd": 4.0}

    def target(t: float) -> float:
        s = min(1.0, t / 0.2)
        return 0.4 * s * s * (3.0 - 2.0 * s)

    def angle(e1_a: Any) -> Any:
        return sp.atan2(e1_a[1], e1_a[0])

    def motor(e1_a: Any, w1_a: Any) -> Any:
        return (e1_a[0] * w1_a[1] - e1_a[1] * w1_a[0]) / e1_a.dot(e1_a)

    tips = []
    for rods in (True, False):
        element, law = (ROD, rod()) if rods else (sa.elements.ancf_cable, sa.energies.cable())
        thin: dict[str, Any] = {"EA": GIVEN["EA"], "EI": EI, "rho": 2700.0, "A": GIVEN["A"]}
        mesh = sa.Mesh.box((L,), (4,), cell=element.cell)
        arm = sa.Body(mesh["body"], element, law, **(GIVEN if rods else thin))
        ball = sa.RigidBody.sphere(0.02, position=(L, 0.0, 0.0), rho=7800.0)
        hub = sa.PID(angle, motor, arm["x0"], target=target, angle=True, **gains)
        pin: Any = sa.fix(arm["x0"], dofs="position")
        if rods:
            pin = sa.joints.revolute(arm["x0"], axis=(0, 0, 1))
        held = sa.joints.spherical(ball.centre, arm["x1"])
        system = sa.System(arm, ball, terms=[pin, held, hub])
        problem = sa.DynamicProblem(system)
        problem.solve(to=0.2, step=5e-3)
        tips.append(system.position(ball.centre)[0])
        assert abs(problem.energies.drift) < 5e-2 * problem.energies.work
    np.testing.assert_allclose(*tips, atol=1e-4)
    assert tips[0][1] > 0.1


def test_a_sudden_moment_on_a_rod() -> None:
    """A moment from nothing turns a rod, and is told; one that grows turns it as a cable."""
    L, tips = 0.5, []
    for element in (ROD, sa.elements.ancf_cable):
        mesh = sa.Mesh.box((L,), (4,), cell=element.cell)
        thin: dict[str, Any] = {"EA": GIVEN["EA"], "EI": EI, "rho": 2700.0, "A": GIVEN["A"]}
        own = element is ROD
        law = rod() if own else sa.energies.cable()
        arm = sa.Body(mesh["body"], element, law, **(GIVEN if own else thin))
        pin = sa.fix(arm["x0"], dofs="position")
        grown = sa.moment(arm["x0"], (0.0, 0.0, lambda t: 50.0 * min(t, 0.05)))
        system = sa.System(arm, terms=[pin, grown])
        sa.DynamicProblem(system).solve(to=0.05, step=2.5e-3)
        tips.append(system.position(arm["x1"])[0])
        if own:
            at_once = sa.moment(arm["x0"], (0.0, 0.0, 5.0))
            problem = sa.DynamicProblem(sa.System(arm, terms=[pin, at_once]))
            with pytest.warns(UserWarning, match="a moment on sections of rods jumps"):
                problem.solve(to=5e-3, step=1e-3)
            assert problem.energies.kinetic > 0.0
    np.testing.assert_allclose(*tips, atol=2e-4)
    assert tips[0][1] > 0.01


def test_a_rod_turns_many_times() -> None:
    """A free rod spins by three turns in steps of 10 degrees and keeps its energy."""
    body = sa.Body(straight(2, 0.5)["rod"], ROD, rod(), **GIVEN)
    spin, turns = 50.0, 3.0
    system = sa.System(body)
    set_spin(system, body, np.array([spin, 0.0, 0.0]))
    inertia = 2700.0 * (GIVEN["I2"] + GIVEN["I3"]) * 0.5
    problem = sa.DynamicProblem(system)
    problem.solve(to=turns * 2 * math.pi / spin, step=2 * math.pi / spin / 36)
    kinetic = problem.energies.kinetic
    assert kinetic == pytest.approx(inertia * spin**2 / 2, rel=2.5e-2)  # 3.4 times it before
    F = system.gradient(body["end"])[0]
    angle = math.atan2(F[2, 1] - F[1, 2], F[1, 1] + F[2, 2])
    assert abs(angle) < 8e-2 * turns  # second order; 6e-2 found


def set_spin(system: sa.System, body: sa.Body, omega: Any) -> None:
    """Give a straight rod through the origin the velocities of a rigid spin."""
    at = system._discrete.binding(body).interpolation
    for node in np.unique(at.cells):
        X = system._discrete.points[node]
        place = at.offset(np.array([node]), "value")[0]
        system.rate[place + np.arange(3)] = np.cross(omega, X)
        for k in range(3):
            first = at.offset(np.array([node]), f"slope{k}")[0]
            system.rate[first + np.arange(3)] = np.cross(omega, np.eye(3)[k])


def test_a_rod_touches_a_plane() -> None:
    """A rod with a radius lies on a floor with its weight; its axis is a radius above."""
    body = sa.Body(straight(4, 0.5)["rod"], ROD, rod(), **GIVEN)
    floor = sa.Plane((0.0, 0.0, -0.011), normal=(0, 0, 1))
    touch = sa.Contact(body["rod"], floor, radius=0.01)
    held = sa.fix(body["start"], dofs=["x", "y"])
    held2 = sa.fix(body["end"], dofs=["y"])
    system = sa.System(body, terms=[held, held2, touch, sa.gravity((0.0, 0.0, -9.81))])
    problem = sa.DynamicProblem(system)
    problem.solve(to=0.1, step=1e-3)
    z = system.position(body["rod"])[:, 2]
    assert np.abs(z + 0.001).max() < 2e-4


@pytest.mark.collective
@pytest.mark.parametrize(("turn", "told"), [(60.0, False), (92.0, True)])
def test_a_rod_that_folds_within_its_cells_is_told_once(turn: float, told: bool) -> None:
    """A moment turns each of two cells by so many degrees, and by 1.5 or 12 % more."""
    beam = sa.Body(straight(2, 1.0)["rod"], ROD, rod(), **GIVEN)
    moment = EI * math.radians(2.0 * turn)
    loads = [sa.fix(beam["start"]), sa.moment(beam["end"], (0.0, 0.0, moment))]
    problem = sa.StaticProblem(sa.System(beam, terms=loads))
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        problem.solve()
        problem.solve()
    texts = [str(w.message) for w in found if "neighbouring nodes" in str(w.message)]
    assert len(texts) == (told and MPI.COMM_WORLD.rank == 0)
    assert not texts or "take more cells" in texts[0]
