# SPDX-License-Identifier: BSD-3-Clause
"""Supports: reactions balance the loads, prescribed motions are followed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import symancf as sa
from symancf.energies import cable, kirchhoff, saint_venant_kirchhoff
from tests.refusals import refused

pytestmark = pytest.mark.collective

STEEL: dict[str, Any] = {"E": 1e6, "nu": 0.3}
ELEMENTS = ["hex8_plain", "ancf_plate", "ancf_thin_plate", "ancf_cable"]


def beam(element: str) -> sa.Body:
    """A body from x = 0 to x = 2 along x."""
    chosen = getattr(sa.elements, element)
    if element == "hex8_plain":
        mesh = sa.Mesh.box((2.0, 0.5, 0.2), (6, 2, 1))
        return sa.Body(mesh["body"], chosen, saint_venant_kirchhoff(), rho=3.0, **STEEL)
    if element == "ancf_cable":
        mesh = sa.Mesh.box((2.0,), (6,))
        given = {"EA": 1e4, "EI": 10.0, "rho": 3.0, "A": 0.1}
        return sa.Body(mesh["body"], chosen, cable(), **given)
    energy = kirchhoff() if element == "ancf_thin_plate" else saint_venant_kirchhoff()
    mesh = sa.Mesh.box((2.0, 0.5), (6, 2))
    return sa.Body(mesh["body"], chosen, energy, thickness=0.2, rho=3.0, **STEEL)


TURN = Rotation.from_rotvec(np.radians(37.0) * np.array([1.0, 2.0, 2.0]) / 3.0).as_matrix()


def bar(element: str, Q: Any, cells: int = 1) -> tuple[sa.Body, Any, float]:
    """A bar 2 x 0.5 x 0.2 turned by Q, a load of 1 along it at x1, and its stiffness EA."""
    chosen, elastic = getattr(sa.elements, element), {"E": 1e6, "nu": 0.0, "rho": 3.0}
    divisions, axis = (cells, 1), Q[:, 0]

    def turn(X: Any) -> Any:
        return X @ Q.T

    if element == "ancf_cable":
        mesh = sa.Mesh.box((2.0,), divisions[:1], warp=turn)
        body = sa.Body(mesh["body"], chosen, cable(), EA=1e5, EI=10.0, rho=3.0, A=0.1)
        return body, lambda p: sa.force(body["x1"], p * axis), 1e5
    energy = kirchhoff() if element == "ancf_thin_plate" else saint_venant_kirchhoff()
    mesh = sa.Mesh.box((2.0, 0.5), divisions, warp=turn)
    body = sa.Body(mesh["body"], chosen, energy, thickness=0.2, **elastic)
    return body, lambda p: sa.traction(body["x1"], p / 0.5 * axis), 1e5


LINES = ["ancf_cable", "ancf_3243", "ancf_3333", "ancf_rod"]
SURFACES = ["ancf_plate", "ancf_thick_plate", "ancf_thin_plate", "ancf_thin_quad"]
EVERY = ["hex8_plain", "hex20", "tet10", *LINES, *SURFACES, "ancf_thin_triangle"]


def member(element: str, Q: Any) -> sa.Body:
    """A body of any element from x = 0 to x = 2, turned by Q."""
    chosen, law, up = getattr(sa.elements, element), saint_venant_kirchhoff(), Q[:, 2]
    given: dict[str, Any] = dict(STEEL)
    size: tuple[float, ...] = (2.0,) if element in LINES else (2.0, 0.5)
    if element in ("ancf_3243", "ancf_3333"):
        law = sa.energies.split_beam() if element == "ancf_3333" else law
        given |= {"width": 0.2, "height": 0.25}
    elif element == "ancf_rod":
        law, given = sa.energies.rod(), sa.Section.rectangle(0.2, 0.25).rod(**STEEL)
    elif element == "ancf_cable":
        law, given = cable(), {"EA": 1e4, "EI": 10.0}
    elif element.startswith("ancf"):
        law = kirchhoff() if "thin" in element else law
        given["thickness"] = 0.2
    else:
        size = (2.0, 0.5, 0.2)
    if chosen.oriented:
        given["direction"] = lambda X: np.broadcast_to(up, X.shape)
    cells = (2, 1, 1)[: len(size)]
    mesh = sa.Mesh.box(size, cells, cell=chosen.cell, warp=lambda X: X @ Q.T)
    return sa.Body(mesh["body"], chosen, law, **given)


def free(system: sa.System) -> int:
    """Return the number of free coordinates on all ranks."""
    return int(system.comm.allreduce(len(system._discrete.numbering.free_owned)))


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize("element", ELEMENTS)
def test_reactions_balance_a_tip_force(element: str) -> None:
    body = beam(element)
    root = sa.fix(body["x0"])
    load = np.array([1.0, -2.0, 5.0])
    tip = body.at((2.0, 0.0, 0.0))
    system = sa.System(body, terms=[root, sa.force(tip, load)])
    sa.StaticProblem(system).solve()
    assert np.abs(system.displacement(tip)).max() > 1e-3
    np.testing.assert_allclose(root.reaction(system).force, -load, rtol=1e-8)
    # about any point, with the force at its place after the deformation
    for about in ((0.0, 0.0, 0.0), (0.3, -1.0, 2.0)):
        arm = system.position(tip)[0] - about
        moment = root.reaction(system).moment_about(about)
        np.testing.assert_allclose(moment, -np.cross(arm, load), rtol=1e-8, atol=1e-8)


@pytest.mark.collective(rows=12)
@pytest.mark.parametrize("dofs", ["clamp", "all"])
@pytest.mark.parametrize("turned", [False, True], ids=["straight", "oblique"])
@pytest.mark.parametrize("element", EVERY)
def test_supports_of_every_element_balance_loads(element: str, turned: bool, dofs: str) -> None:
    """Force and moment in any direction; multipliers hold single oblique components alone."""
    Q = TURN if turned else np.eye(3)
    body = member(element, Q)
    load = Q @ np.array([0.3, 0.1, 0.2])
    root, tip = sa.fix(body["x0"], dofs), body.at(Q @ np.array([2.0, 0.0, 0.0]))
    system = sa.System(body, terms=[root, sa.force(tip, load)])
    sa.StaticProblem(system, options={"snes_rtol": 1e-12}).solve()
    np.testing.assert_allclose(root.reaction(system).force, -load, rtol=1e-8)
    moment = -np.cross(system.position(tip)[0], load)
    np.testing.assert_allclose(
        root.reaction(system).moment_about((0, 0, 0)), moment, rtol=1e-7, atol=1e-8
    )
    assert np.abs(system.displacement(body["x0"])).max() < 1e-14
    numbering = system._discrete.numbering
    own = numbering.those("multiplier")[: numbering.owned] & (numbering.row[: numbering.owned] >= 0)
    # the tangent's two components, or the normal's at two nodes and in the middle of the edge
    oblique = {"ancf_cable": 2, "ancf_thin_plate": 2, "ancf_thin_quad": 3, "ancf_thin_triangle": 3}
    expected = oblique.get(element, 0) if turned and dofs == "clamp" else 0
    assert system.comm.allreduce(int(own.sum())) == expected


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("element", ELEMENTS)
def test_reactions_carry_the_weight(element: str) -> None:
    body = beam(element)
    g = np.array([0.5, 0.0, -9.81])
    ends = [sa.fix(body["x0"], name="left"), sa.fix(body["x1"], "position", name="right")]
    system = sa.System(body, terms=[*ends, sa.gravity(g)])
    sa.StaticProblem(system).solve()
    volume = 2.0 * 0.1
    left, right = (end.reaction(system).force for end in ends)
    np.testing.assert_allclose(left + right, -3.0 * volume * g, rtol=1e-8, atol=1e-9)
    assert left[2] > 0.0
    assert right[2] > 0.0


def test_a_coordinate_of_two_supports_counts_once() -> None:
    body = beam("hex8_plain")
    supports = [sa.fix(body["x0"]), sa.fix(body["y0"], "y"), sa.fix(body["z0"], ["y", "z"])]
    load = np.array([3.0, 2.0, -1.0])
    system = sa.System(body, terms=[*supports, sa.force(body["x1"], load)])
    sa.StaticProblem(system).solve()
    total = sum(support.reaction(system).force for support in supports)
    np.testing.assert_allclose(total, -load, rtol=1e-9)


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("element", ["hex8_plain", "ancf_plate", "ancf_thin_plate", "ancf_cable"])
def test_a_rotation_of_both_ends_turns_the_body(element: str) -> None:
    """Ends that follow a rigid rotation by 2 rad leave no strain energy."""
    body = beam(element)
    axis = np.array([1.0, 2.0, 2.0]) / 3.0

    def turn(t: float) -> Any:
        return Rotation.from_rotvec(2.0 * t * axis).as_matrix() - np.eye(3)

    slopes = {} if element == "hex8_plain" else {"gradient": turn}
    ends = [
        sa.fix(body[side], displacement=lambda X, t: X @ turn(t).T, **slopes)
        for side in ("x0", "x1")
    ]
    system = sa.System(body, terms=ends)
    problem = sa.StaticProblem(system)
    problem.solve(step=0.25)
    middle = body.at((1.0, 0.25, 0.0) if element != "ancf_cable" else (1.0, 0.0, 0.0))
    X = np.array(middle.X[0])
    np.testing.assert_allclose(system.displacement(middle)[0], turn(1.0) @ X, atol=1e-8)
    assert 0.0 <= system.strain_energy() < 1e-12
    for end in ends:
        assert np.abs(end.reaction(system).force).max() < 1e-6


def test_chosen_coordinates_are_fixed_and_others_are_free() -> None:
    body = beam("ancf_plate")
    support = sa.fix(body["x0"], ["x", "slope_z.x"], displacement=(0.1, 9.0, 9.0))
    system = sa.System(body, terms=[support])
    assert free(system) == 21 * 12 - 3 * 2  # three nodes, x and one component of one slope
    system._discrete.prescribe(0.0)
    at = system.displacement(body.at((0.0, 0.25, 0.0)))[0]
    np.testing.assert_allclose(at, [0.1, 0.0, 0.0])


@pytest.mark.collective(rows=0)
def test_a_node_given_as_a_point() -> None:
    body = beam("hex8_plain")
    point = sa.fix(body.at([(0.0, 0.0, 0.0), (0.0, 0.5, 0.2)]), displacement=(0.0, 0.0, 0.5))
    system = sa.System(body, terms=[point])
    assert free(system) == 3 * (7 * 3 * 2 - 2)
    system._discrete.prescribe(0.0)
    moved = system.displacement(body["x0"])
    assert sorted(moved[:, 2]) == pytest.approx([0.0] * 4 + [0.5] * 2)


def test_functions_of_time_and_of_place() -> None:
    body = beam("hex8_plain")

    def check(displacement: Any, expected: Any) -> None:
        mesh = body.region.mesh
        again = sa.Body(mesh["body"], sa.elements.hex8_plain, saint_venant_kirchhoff(), **STEEL)
        system = sa.System(again, terms=[sa.fix(again["x1"], displacement=displacement)])
        system._discrete.prescribe(0.5)
        at = system.displacement(again.at((2.0, 0.5, 0.2)))[0]
        np.testing.assert_allclose(at, expected, atol=1e-15)

    factor = sa.Parameter("factor", 3.0)
    check(lambda t: (t, 0.0, 2 * t), (0.5, 0.0, 1.0))
    check(lambda t, scale=4.0: (scale * t, 0.0, 0.0), (2.0, 0.0, 0.0))  # a closure's default
    check(lambda X, t: t * X, (1.0, 0.25, 0.1))
    check(lambda X, t: [t, 0.0, 1.0], (0.5, 0.0, 1.0))  # one displacement for all places
    check((factor, np.cos, 0), (3.0, np.cos(0.5), 0.0))


@pytest.mark.collective(rows=0)
def test_what_would_be_ignored_is_refused() -> None:
    unit = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    with refused(sa.ParameterError, asked="gradient", given=unit):
        sa.fix(beam("hex8_plain")["x0"], gradient=np.eye(3))
    with refused(sa.ParameterError, asked="displacement", given=(0, 0, 1)):
        sa.fix(beam("ancf_plate")["x0"], "slopes", displacement=(0, 0, 1))
    with refused(sa.ParameterError, asked="dofs", given=()):
        sa.fix(beam("ancf_plate")["x0"], [])


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("Q", [np.eye(3), TURN], ids=["straight", "turned"])
@pytest.mark.parametrize("element", ["ancf_cable", "ancf_thin_plate", "ancf_plate"])
def test_a_clamp_has_no_strain_of_its_own(element: str, Q: Any) -> None:
    """A bar of one cell stretches by P L/EA, in any direction; "all" holds 11 % of it back."""
    P = 1e-6
    for dofs, share in (("clamp", 1.0), ("all", 8.0 / 9.0)):
        body, load, EA = bar(element, Q)
        root = sa.fix(body["x0"], dofs)
        system = sa.System(body, terms=[root, load(P)])
        sa.StaticProblem(system, options={"snes_rtol": 1e-12}).solve()
        u = system.displacement(body["x1"]) @ Q / (2.0 * P / EA)
        if dofs == "clamp":
            np.testing.assert_allclose(u, np.tile([1.0, 0.0, 0.0], (len(u), 1)), atol=1e-10)
        else:
            np.testing.assert_allclose(u[:, 0], share, rtol=5e-3)
        np.testing.assert_allclose(root.reaction(system).force @ Q, [-P, 0.0, 0.0], atol=1e-9 * P)


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("element", ["ancf_cable", "ancf_thin_plate", "ancf_plate"])
def test_a_clamp_bends_as_well_in_any_direction(element: str) -> None:
    """Deflection, reactions and moments of a cantilever turn with it."""
    found = []
    for Q in (np.eye(3), TURN):
        body, _, _ = bar(element, Q, cells=4)
        root = sa.fix(body["x0"])
        load = Q @ np.array([3.0, 1.0, 2.0])
        tip = body.at(Q @ np.array([2.0, 0.0, 0.0]))
        system = sa.System(body, terms=[root, sa.force(tip, load)])
        sa.StaticProblem(system, options={"snes_rtol": 1e-12}).solve()
        arm = system.position(tip)[0]
        np.testing.assert_allclose(root.reaction(system).force, -load, rtol=1e-8)
        moment = root.reaction(system).moment_about((0, 0, 0))
        np.testing.assert_allclose(moment, -np.cross(arm, load), rtol=1e-7, atol=1e-7)
        F = Q.T @ system.gradient(body["x0"]) @ Q
        if element == "ancf_cable":
            assert np.abs(F[:, 1:, 0]).max() < 1e-12  # the tangent keeps its direction
            assert np.abs(F[:, 0, 0] - 1.0).max() > 1e-6  # and has its strain
        elif element == "ancf_thin_plate":
            np.testing.assert_allclose(F[:, :, 1], np.tile([0.0, 1.0, 0.0], (2, 1)), atol=1e-12)
            assert np.abs(F[:, 2, 0]).max() < 1e-12
            assert np.abs(F[:, :2, 0] - [1.0, 0.0]).max() > 1e-6
        else:
            held = np.tile(np.eye(3)[:, 1:], (2, 1, 1))
            np.testing.assert_allclose(F[:, :, 1:], held, atol=1e-12)
        found.append(system.displacement(tip)[0] @ Q)
    np.testing.assert_allclose(found[1], found[0], rtol=1e-7)


@pytest.mark.parametrize("method", ["generalized-alpha", "5dp"])
def test_a_clamp_that_turns_in_motion(method: str) -> None:
    """The tangent follows the support, its length does not: the same in any frame."""
    found = []
    for Q in (np.eye(3), TURN):
        body, _, _ = bar("ancf_cable", Q, cells=2)
        axis = Q @ np.array([0.0, 0.6, 0.8])

        def turn(t: float, axis: Any = axis) -> Any:
            return Rotation.from_rotvec(120.0 * t * t * axis).as_matrix() - np.eye(3)

        root = sa.fix(body["x0"], gradient=turn)
        system = sa.System(body, terms=[root])
        sa.DynamicProblem(system, method=method).solve(to=0.01, step=0.001)
        slope = system.gradient(body["x0"])[0] @ Q[:, 0]
        along = slope / np.linalg.norm(slope)
        np.testing.assert_allclose(along, (np.eye(3) + turn(0.01)) @ Q[:, 0], atol=1e-6)
        results = system.displacement(body["x1"])[0], root.reaction(system).moment_about((0, 0, 0))
        found.append(np.concatenate([r @ Q for r in results]))
    assert np.abs(found[0]).max() > 1e-3
    np.testing.assert_allclose(found[1], found[0], rtol=1e-5, atol=1e-7)


def test_corners_points_and_cells_of_a_plate() -> None:
    """How many coordinates a clamp leaves free, by what is glued."""
    mesh = sa.Mesh.box((2.0, 1.0), (2, 2))
    for element, edge, point in (("ancf_thin_plate", 2, 4), ("ancf_plate", 3, 6)):
        energy = kirchhoff() if element == "ancf_thin_plate" else saint_venant_kirchhoff()

        def left(place: Any, element: str = element, energy: Any = energy) -> int:
            chosen = getattr(sa.elements, element)
            body = sa.Body(mesh["body"], chosen, energy, thickness=0.1, **STEEL)
            system = sa.System(body, terms=[sa.fix(p) for p in place(body)])
            return free(system)

        whole = 9 * (9 if element == "ancf_thin_plate" else 12)
        node = whole // 9
        assert left(lambda b: [b["x0"]]) == whole - 3 * (node - edge)
        # two regions that meet: both slopes are held there
        assert left(lambda b: [b["x0"], b["y0"]]) == whole - 4 * (node - edge) - node
        assert left(lambda b: [b.at((1.0, 0.5, 0.0))]) == whole - node + point
        assert left(lambda b: [b["body"]]) == 0


@pytest.mark.collective(rows=0)
def test_slopes_are_named_by_edges_or_axes_of_space() -> None:
    """The same names mean the same derivatives however cells are numbered."""
    points = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
    for first in range(4):
        quad = np.roll([0, 1, 2, 3], first)
        regions = {"low": ("line", np.array([[0, 1]]))}
        mesh = sa.Mesh.from_arrays(points, {"quad": [quad]}, regions)
        for name, column in (("slope_across", 1), ("slope_along", 0), ("slope_y", 1)):
            body = sa.Body(
                mesh["all"], sa.elements.ancf_thin_plate, kirchhoff(), thickness=0.1, **STEEL
            )
            G = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.3, 0.7, 0.0]])
            support = sa.fix(body["low"], f"{name}.z", gradient=G)
            system = sa.System(body, terms=[support])
            system._discrete.prescribe(1.0)
            F = system.gradient(body["low"])
            np.testing.assert_allclose(F[:, 2, column], G[2, column])
            np.testing.assert_allclose(F[:, 2, 1 - column], 0.0, atol=1e-15)
    thin, rod = beam("ancf_thin_plate"), beam("ancf_cable")
    with refused(
        sa.ParameterError,
        asked="dofs",
        given="slope_eta.x",
        possible=("slope_along", "slope_across", "slope_x", "slope_y", "slope_z"),
    ):
        sa.fix(thin["x0"], "slope_eta.x")
    with refused(sa.ParameterError, asked="dofs", given="slope_xi.y", possible=("slope",)):
        sa.fix(rod["x0"], ["x", "slope_xi.y"])
    with refused(
        sa.MeshError, asked="dofs", given="slope_z", possible=("slope_along", "slope_across")
    ):
        sa.System(thin, terms=[sa.fix(thin["x0"], "slope_z")])


@pytest.mark.collective(rows=0)
def test_what_is_held_is_told() -> None:
    assert str(sa.fix(beam("hex8_plain")["x0"])) == "fix:body.x0: holds position"
    for element, words in (
        ("ancf_cable", "position, direction of the tangent (its length is free)"),
        ("ancf_thin_plate", "slope along the edge, normal (the slope across is free in the plane)"),
        ("ancf_plate", "slope along the edge, r_z (the slope across is free)"),
    ):
        assert str(sa.fix(beam(element)["x0"])).endswith(words)
        assert str(sa.fix(beam(element)["x0"], "all")).endswith("position, all slopes")
        assert str(sa.fix(beam(element)["x0"], ["x", "y"])).endswith("holds x and y")


@pytest.mark.collective(rows=0)
def test_no_place_is_answered_in_words() -> None:
    body = beam("hex8_plain")
    for place, given in (
        (body.region.mesh["x0"], "Region(name='x0', sizes={'quad': 2})"),
        (body, repr(body)),
        (sa.ground, "the ground"),
        ("x0", "x0"),
    ):
        with refused(sa.ConstraintError, asked="place", given=given):
            sa.fix(place)
    with refused(sa.ParameterError, asked="node", given=(0.1, 0.1, 0.1)):
        sa.System(body, terms=[sa.fix(body.at((0.1, 0.1, 0.1)))])


def test_supports_contradict_by_the_size_of_the_body() -> None:
    """A difference of 5e-13 m is none on a body of metres, and large on one of 1e-9 m."""
    for length, agrees in ((1.0, True), (1e-9, False)):
        mesh = sa.Mesh.box((length,) * 3, (1, 1, 1))
        body = sa.Body(mesh["body"], sa.elements.hex8_plain, saint_venant_kirchhoff(), **STEEL)
        ends = [sa.fix(body["x0"]), sa.fix(body["x0"], displacement=(5e-13, 0.0, 0.0))]
        system = sa.System(body, terms=ends)
        if agrees:
            system._discrete.prescribe(1.0)
            continue
        with refused(
            sa.ParameterError, asked="displacement", given=("fix:body.x0", "fix:body.x0 #2")
        ):
            system._discrete.prescribe(1.0)


def test_rollers_along_any_direction() -> None:
    """A block pulled between rollers: uniaxial stress, also turned."""
    found = []
    for Q in (np.eye(3), TURN):
        mesh = sa.Mesh.box((1.0, 1.0, 1.0), (2, 1, 1), warp=lambda X, Q=Q: X @ Q.T)
        body = sa.Body(mesh["body"], sa.elements.hex8_plain, saint_venant_kirchhoff(), **STEEL)
        axes = [
            sa.fix(body[f"{a}0"], "normal", direction=2.0 * Q[:, k]) for k, a in enumerate("xyz")
        ]
        pull = sa.fix(body["x1"], "normal", direction=-Q[:, 0], displacement=lambda t: -0.1 * t)
        system = sa.System(body, terms=[*axes, pull])
        sa.StaticProblem(system, options={"snes_rtol": 1e-12}).solve()
        strain = (1.1**2 - 1.0) / 2.0
        force = STEEL["E"] * strain * 1.1  # of St. Venant and Kirchhoff
        np.testing.assert_allclose(
            pull.reaction(system).force @ Q, [force, 0, 0], atol=1e-7 * force
        )
        np.testing.assert_allclose(
            axes[0].reaction(system).force @ Q, [-force, 0, 0], atol=1e-7 * force
        )
        found.append(system.displacement(body["x1"]) @ Q)
    np.testing.assert_allclose(found[1], found[0], atol=1e-10)
    assert str(pull).startswith("fix:body.x1: holds displacement along (-0.82")
    for wrong, asked, given in (
        ({"dofs": "normal"}, "direction", None),
        ({"direction": (1, 0, 0)}, "dofs", "clamp"),
    ):
        with refused(sa.ParameterError, asked=asked, given=given):
            sa.fix(body["x0"], **wrong)
    with refused(sa.ParameterError, asked="direction", given=(0, 0, 0)):
        sa.fix(body["x0"], "normal", direction=(0, 0, 0))


@pytest.mark.collective(rows=0)
def test_a_function_of_several_numbers_is_asked_once_for_each_time() -> None:
    """A clamp that turns needs nine numbers, a force three; the next update asks again."""
    body, _, _ = bar("ancf_cable", np.eye(3), cells=2)
    asked: list[tuple[str, float]] = []
    angle, share = [0.3], [1.0]

    def turn(t: float) -> Any:
        asked.append(("turn", t))
        return Rotation.from_rotvec([0.0, 0.0, angle[0] * t]).as_matrix() - np.eye(3)

    def load(t: float) -> Any:
        asked.append(("load", t))
        return [share[0] * t, 2.0 * t, 3.0 * t]

    system = sa.System(body, terms=[sa.fix(body["x0"], gradient=turn), sa.force(body["x1"], load)])
    system._discrete.assembler.update(0.5)
    before = system._discrete.assembler.values.copy()
    asked.clear()
    system._discrete.assembler.update(0.5)
    assert sorted(asked) == [("load", 0.5), ("turn", 0.5)]
    np.testing.assert_array_equal(system._discrete.assembler.values, before)
    angle[0], share[0] = 0.6, 5.0
    system._discrete.assembler.update(0.5)
    assert (
        system._discrete.assembler.values != before
    ).sum() >= 5  # four entries of the turn, one of the load
