# SPDX-License-Identifier: BSD-3-Clause
"""Clamps to rigid bodies: what glue to the body would hold, wherever it turns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import symancf as sa
from symancf.energies import saint_venant_kirchhoff
from tests.refusals import refused
from tests.unit.test_boundary import TURN, bar

pytestmark = pytest.mark.collective

ELEMENTS = ["ancf_cable", "ancf_thin_plate", "ancf_plate"]
EXACT = {"snes_rtol": 1e-12}


def block(Q: Any) -> sa.RigidBody:
    """A body beside the root whose frame has nothing to do with the bar's."""
    frame = Q @ Rotation.from_rotvec([0.3, -0.5, 0.9]).as_matrix()
    inertia = (2e-3, 3e-3, 4e-3)
    at = Q @ np.array([-0.2, 0.1, 0.05])
    return sa.RigidBody(at, frame=frame, name="block", mass=0.7, inertia=inertia)


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("turned", [False, True], ids=["at rest", "turned"])
@pytest.mark.parametrize("element", ELEMENTS)
def test_a_clamp_has_no_strain_of_its_own(element: str, turned: bool) -> None:
    """A bar of one cell stretches by P L/EA in any direction, also where the body has turned."""
    P = 1e-2
    R = Rotation.from_rotvec([0.4, -0.7, 0.2]).as_matrix() if turned else np.eye(3)
    for dofs, share in (("clamp", 1.0), ("all", 8.0 / 9.0)):
        for Q in (np.eye(3), TURN):
            body, _, EA = bar(element, Q)
            head, pull, tip = block(Q), P * R @ Q[:, 0], body["x1"]
            flat = element != "ancf_cable"
            load = sa.traction(tip, pull / 0.5) if flat else sa.force(tip, pull)
            hold = sa.fix(head, gradient=lambda t: _rotation(R, t) - np.eye(3))
            wrist = sa.joints.clamp(body["x0"], head, dofs=dofs)
            system = sa.System(body, head, terms=[hold, wrist, load])
            sa.StaticProblem(system, options=EXACT).solve(step=0.25 if turned else 1.0)
            x = (system.position(tip) - head.origin) @ R - (tip.X - head.origin)
            u = x @ Q / (2.0 * P / EA)
            if dofs == "clamp":
                np.testing.assert_allclose(u, np.tile([1.0, 0.0, 0.0], (len(u), 1)), atol=1e-6)
            else:
                np.testing.assert_allclose(u[:, 0], share, rtol=6e-3)
            force = hold.reaction(system).force @ R @ Q
            np.testing.assert_allclose(force, [-P, 0.0, 0.0], atol=1e-8 * P)


def _rotation(R: Any, share: float) -> Any:
    return Rotation.from_rotvec(share * Rotation.from_matrix(R).as_rotvec()).as_matrix()


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("place", ["edge", "node"])
def test_a_held_body_holds_as_fix_does(element: str, place: str) -> None:
    """Large deflections, forces and moments are those of `sa.fix` at the ground."""
    found = []
    for rigid in (False, True):
        for Q in (np.eye(3), TURN) if rigid else (TURN,):
            body, _, _ = bar(element, Q, cells=4)
            tip = body.at(Q @ np.array([2.0, 0.0, 0.0]))
            load = Q @ np.array([3.0, 1.0, 2.0])
            root: Any = body["x0"] if place == "edge" else body.at(Q @ np.array([0.0, 0.0, 0.0]))
            others = [] if element == "ancf_cable" else [body.at(Q @ np.array([0.0, 0.5, 0.0]))]
            others = others if place == "node" else []
            terms: list[Any] = [sa.force(tip, load)]
            bodies: list[Any] = [body]
            if not rigid:
                hold = sa.fix(root)
                terms += [hold, *(sa.fix(p) for p in others)]
            else:
                bodies.append(block(Q))
                hold = sa.fix(bodies[1])
                terms += [hold, *(sa.joints.clamp(p, bodies[1]) for p in (root, *others))]
            system = sa.System(*bodies, terms=terms)
            sa.StaticProblem(system, options=EXACT).solve(step=0.5)
            u = system.displacement(tip)[0] @ Q
            assert np.abs(u).max() > 1e-3
            if rigid:
                arm = system.position(tip)[0]
                moment = hold.reaction(system).moment_about((0, 0, 0))
                np.testing.assert_allclose(hold.reaction(system).force, -load, rtol=1e-7)
                np.testing.assert_allclose(moment, -np.cross(arm, load), rtol=1e-6, atol=1e-6)
                clamps = [t for t in terms if isinstance(t, sa.joints.RigidClamp)]
                for end, sign in (("a", 1.0), ("b", -1.0)):
                    parts = [c.reaction(system, end) for c in clamps]
                    total = sum(part.force for part in parts)
                    about = sum(part.moment_about((0.0, 0.0, 0.0)) for part in parts)
                    np.testing.assert_allclose(sign * total, -load, rtol=1e-7)
                    np.testing.assert_allclose(
                        sign * about, -np.cross(arm, load), rtol=1e-6, atol=1e-6
                    )
            found.append(u)
    for u in found[1:]:
        np.testing.assert_allclose(u, found[0], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("element", ELEMENTS)
def test_a_body_that_moves_takes_the_clamp_along(element: str) -> None:
    """A free block with a flexible arm; the tip moves as it does in a turned frame."""
    found = []
    for Q in (np.eye(3), TURN):
        body, _, _ = bar(element, Q, cells=2)
        head = block(Q)
        wrist = sa.joints.clamp(body["x0"], head)
        push = sa.force(body["x1"], lambda t, Q=Q: Q @ np.array([0.0, 0.2, 0.5]) * np.sin(40.0 * t))
        system = sa.System(body, head, terms=[wrist, push])
        problem = sa.DynamicProblem(system, spectral_radius=0.9)
        problem.solve(to=0.05, step=2.5e-3)
        F = system.gradient(body["x0"])
        R = _turn_of(system, head)
        if element == "ancf_cable":
            s = F[0] @ Q[:, 0]
            np.testing.assert_allclose(s / np.linalg.norm(s), R @ Q[:, 0], atol=1e-7)
            assert abs(np.linalg.norm(s) - 1.0) > 1e-9
        else:
            for k in (1, 2) if element == "ancf_plate" else (1,):
                s = F @ Q[:, k]
                np.testing.assert_allclose(s, np.tile(R @ Q[:, k], (len(s), 1)), atol=1e-7)
            across = F @ Q[:, 0] @ (R @ Q[:, 2])
            if element == "ancf_thin_plate":
                np.testing.assert_allclose(across, 0.0, atol=1e-7)
        found.append(system.displacement(body["x1"])[0] @ Q)
    assert np.abs(found[0]).max() > 1e-3
    np.testing.assert_allclose(found[1], found[0], rtol=1e-4, atol=1e-7)


def _turn_of(system: sa.System, head: sa.RigidBody) -> Any:
    """Return the rotation of a body from the displacements of three points."""
    points = [head.at(p) for p in ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))]
    x = np.concatenate([system.position(p) for p in points])
    return (x[1:] - x[0]).T @ head.frame.T


@pytest.mark.collective(rows=0)
def test_what_is_held_of_cells_corners_and_points() -> None:
    """Multipliers by kind of place: of positions, of whole slopes, of components."""
    mesh = sa.Mesh.box((2.0, 1.0), (2, 2))
    counts = {}
    for element, energy in (
        ("ancf_thin_plate", sa.energies.kirchhoff()),
        ("ancf_plate", saint_venant_kirchhoff()),
    ):
        for name in ("x0", "body", "point", "within"):
            body = sa.Body(
                mesh["body"], getattr(sa.elements, element), energy, thickness=0.1, E=1e6, nu=0.3
            )
            head = sa.RigidBody((0.0, 0.0, 1.0), name="head")
            points = {"point": (1.0, 0.5, 0.0), "within": (0.3, 0.2, 0.0)}
            place: Any = body.at(points[name]) if name in points else body[name]
            terms = [sa.fix(head), sa.joints.clamp(place, head)]
            system = sa.System(body, head, terms=terms)
            numbering = system._discrete.numbering
            owned = numbering.vertex_of < numbering.owned_vertices
            multipliers = numbering.those("multiplier") & owned & (numbering.fixed_by < 0)
            counts[element, name] = int(system.comm.allreduce(int(multipliers.sum())))
    assert counts == {
        ("ancf_thin_plate", "x0"): 3 * (3 + 3 + 1),
        ("ancf_thin_plate", "body"): 9 * 9,
        ("ancf_thin_plate", "point"): 3 + 2,
        ("ancf_thin_plate", "within"): 3 + 2,
        ("ancf_plate", "x0"): 3 * (3 + 6),
        ("ancf_plate", "body"): 9 * 12,
        ("ancf_plate", "point"): 3 + 3,
        ("ancf_plate", "within"): 3 + 3,
    }


@pytest.mark.collective(rows=0)
def test_dofs_are_named() -> None:
    body, _, _ = bar("ancf_cable", np.eye(3))
    with refused(sa.ParameterError, asked="dofs", given="position", possible=("clamp", "all")):
        sa.joints.clamp(body["x0"], block(np.eye(3)), dofs="position")  # type: ignore[arg-type]
    with refused(sa.ConstraintError, asked="dofs", given="all", possible=("clamp",)):
        sa.joints.clamp(body.at((0.0, 0.0, 0.0)), sa.ground, dofs="all")


@pytest.mark.parametrize("place", ["node", "point", "cells"])
@pytest.mark.parametrize("element", ["ancf_3243", "ancf_3333", "ancf_rod"])
def test_a_clamp_holds_the_sections_of_beams(element: str, place: str) -> None:
    """A body that turns takes the directors along, in any direction of the axis."""
    chosen = getattr(sa.elements, element)
    mesh = sa.Mesh.box((2.0,), (2,), cell=chosen.cell, warp=lambda X: X @ TURN.T)
    law = {"ancf_3333": sa.energies.split_beam(), "ancf_rod": sa.energies.rod()}
    given: dict[str, Any] = {"E": 1e6, "nu": 0.3, "width": 0.2, "height": 0.25}
    if element == "ancf_rod":
        given = sa.Section.rectangle(0.2, 0.25).rod(E=1e6, nu=0.3)
    up = TURN[:, 2]
    beam = sa.Body(
        mesh["body"],
        chosen,
        law.get(element, saint_venant_kirchhoff()),
        direction=lambda X: np.broadcast_to(up, X.shape),
        **given,
    )
    at = {"node": beam["x0"], "point": beam.at(TURN @ [0.7, 0.0, 0.0]), "cells": beam["body"]}
    head = block(TURN)
    R = Rotation.from_rotvec([0.4, -0.7, 0.2]).as_matrix()
    terms = [sa.fix(head, gradient=R - np.eye(3)), sa.joints.clamp(at[place], head)]
    system = sa.System(beam, head, terms=terms)
    sa.StaticProblem(system, options=EXACT).solve()
    end, section = beam["x1"], TURN[:, 1:]
    np.testing.assert_allclose(system.gradient(end)[0] @ section, R @ section, atol=1e-8)
    moved = head.origin + (end.X - head.origin) @ R.T
    np.testing.assert_allclose(system.position(end), moved, atol=1e-8)
    assert system.strain_energy() < 1e-10
