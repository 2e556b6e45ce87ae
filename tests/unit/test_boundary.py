# SPDX-License-Identifier: BSD-3-Clause
"""Supports: reactions balance the loads, prescribed motions are followed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import symancf as sa
from symancf.energies import cable, kirchhoff, saint_venant_kirchhoff

pytestmark = pytest.mark.collective

STEEL: dict[str, Any] = {"E": 1e6, "nu": 0.3}
ELEMENTS = ["hex8", "ancf_plate", "ancf_thin_plate", "ancf_cable"]


def beam(element: str) -> sa.Body:
    """A body from x = 0 to x = 2 along x."""
    chosen = getattr(sa.elements, element)
    if element == "hex8":
        mesh = sa.Mesh.box((2.0, 0.5, 0.2), (6, 2, 1))
        return sa.Body(mesh["body"], chosen, saint_venant_kirchhoff, rho=3.0, **STEEL)
    if element == "ancf_cable":
        mesh = sa.Mesh.box((2.0,), (6,))
        given = {"EA": 1e4, "EI": 10.0, "rho": 3.0, "A": 0.1}
        return sa.Body(mesh["body"], chosen, cable(), **given)
    energy = kirchhoff() if element == "ancf_thin_plate" else saint_venant_kirchhoff
    mesh = sa.Mesh.box((2.0, 0.5), (6, 2))
    return sa.Body(mesh["body"], chosen, energy, thickness=0.2, rho=3.0, **STEEL)


def free(system: sa.System) -> int:
    """Return the number of free coordinates on all ranks."""
    return int(system.comm.allreduce(len(system.numbering.free_owned)))


@pytest.mark.parametrize("element", ELEMENTS)
def test_reactions_balance_a_tip_force(element: str) -> None:
    body = beam(element)
    root = sa.fix(body["x0"])
    load = np.array([1.0, -2.0, 5.0])
    tip = body.at((2.0, 0.0, 0.0))
    system = sa.System(body, terms=[root, sa.force(tip, load)])
    sa.StaticProblem(system).solve()
    assert np.abs(system.displacement(tip)).max() > 1e-3
    np.testing.assert_allclose(root.reaction(system), -load, rtol=1e-8)
    # about any point, with the force at its place after the deformation
    for about in ((0.0, 0.0, 0.0), (0.3, -1.0, 2.0)):
        arm = system.position(tip)[0] - about
        moment = root.reaction_moment(system, about=about)
        np.testing.assert_allclose(moment, -np.cross(arm, load), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("element", ELEMENTS)
def test_reactions_carry_the_weight(element: str) -> None:
    body = beam(element)
    g = np.array([0.5, 0.0, -9.81])
    ends = [sa.fix(body["x0"], name="left"), sa.fix(body["x1"], "position", name="right")]
    system = sa.System(body, terms=[*ends, sa.gravity(g)])
    sa.StaticProblem(system).solve()
    volume = 2.0 * 0.1
    left, right = (end.reaction(system) for end in ends)
    np.testing.assert_allclose(left + right, -3.0 * volume * g, rtol=1e-8, atol=1e-9)
    assert left[2] > 0.0
    assert right[2] > 0.0


def test_a_coordinate_of_two_supports_counts_once() -> None:
    body = beam("hex8")
    supports = [sa.fix(body["x0"]), sa.fix(body["y0"], "y"), sa.fix(body["z0"], ["y", "z"])]
    load = np.array([3.0, 2.0, -1.0])
    system = sa.System(body, terms=[*supports, sa.force(body["x1"], load)])
    sa.StaticProblem(system).solve()
    total = sum(support.reaction(system) for support in supports)
    np.testing.assert_allclose(total, -load, rtol=1e-9)


@pytest.mark.parametrize("element", ["hex8", "ancf_plate", "ancf_thin_plate", "ancf_cable"])
def test_a_rotation_of_both_ends_turns_the_body(element: str) -> None:
    """Ends that follow a rigid rotation by 2 rad leave no strain energy."""
    body = beam(element)
    axis = np.array([1.0, 2.0, 2.0]) / 3.0

    def turn(t: float) -> Any:
        return Rotation.from_rotvec(2.0 * t * axis).as_matrix() - np.eye(3)

    slopes = {} if element == "hex8" else {"gradient": turn}
    ends = [
        sa.fix(body[side], displacement=lambda X, t: X @ turn(t).T, **slopes)
        for side in ("x0", "x1")
    ]
    system = sa.System(body, terms=ends)
    problem = sa.StaticProblem(system)
    problem.solve(step=0.25)
    middle = body.at((1.0, 0.25, 0.0) if element != "ancf_cable" else (1.0, 0.0, 0.0))
    X = np.array(middle.target[0])
    np.testing.assert_allclose(system.displacement(middle)[0], turn(1.0) @ X, atol=1e-8)
    assert 0.0 <= system.strain_energy() < 1e-12
    for end in ends:
        assert np.abs(end.reaction(system)).max() < 1e-6


def test_chosen_coordinates_are_fixed_and_others_are_free() -> None:
    body = beam("ancf_plate")
    support = sa.fix(body["x0"], ["x", "slope_z.x"], displacement=(0.1, 9.0, 9.0))
    system = sa.System(body, terms=[support])
    assert free(system) == 21 * 12 - 3 * 2  # three nodes, x and one component of one slope
    system.prescribe(0.0)
    at = system.displacement(body.at((0.0, 0.25, 0.0)))[0]
    np.testing.assert_allclose(at, [0.1, 0.0, 0.0])


def test_a_node_given_as_a_point() -> None:
    body = beam("hex8")
    point = sa.fix(body.at([(0.0, 0.0, 0.0), (0.0, 0.5, 0.2)]), displacement=(0.0, 0.0, 0.5))
    system = sa.System(body, terms=[point])
    assert free(system) == 3 * (7 * 3 * 2 - 2)
    system.prescribe(0.0)
    moved = system.displacement(body["x0"])
    assert sorted(moved[:, 2]) == pytest.approx([0.0] * 4 + [0.5] * 2)


def test_functions_of_time_and_of_place() -> None:
    body = beam("hex8")

    def check(displacement: Any, expected: Any) -> None:
        mesh = body.region.mesh
        again = sa.Body(mesh["body"], sa.elements.hex8, saint_venant_kirchhoff, **STEEL)
        system = sa.System(again, terms=[sa.fix(again["x1"], displacement=displacement)])
        system.prescribe(0.5)
        at = system.displacement(again.at((2.0, 0.5, 0.2)))[0]
        np.testing.assert_allclose(at, expected, atol=1e-15)

    factor = sa.Parameter("factor", 3.0)
    check(lambda t: (t, 0.0, 2 * t), (0.5, 0.0, 1.0))
    check(lambda t, scale=4.0: (scale * t, 0.0, 0.0), (2.0, 0.0, 0.0))  # a closure's default
    check(lambda X, t: t * X, (1.0, 0.25, 0.1))
    check(lambda X, t: [t, 0.0, 1.0], (0.5, 0.0, 1.0))  # one displacement for all places
    check((factor, np.cos, 0), (3.0, np.cos(0.5), 0.0))


def test_what_would_be_ignored_is_refused() -> None:
    with pytest.raises(sa.ParameterError, match=r"gradient= is given.*positions only"):
        sa.fix(beam("hex8")["x0"], gradient=np.eye(3))
    with pytest.raises(sa.ParameterError, match="displacement= is given"):
        sa.fix(beam("ancf_plate")["x0"], "slopes", displacement=(0, 0, 1))
    with pytest.raises(sa.ParameterError, match="nothing is fixed"):
        sa.fix(beam("ancf_plate")["x0"], [])
