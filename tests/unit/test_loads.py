# SPDX-License-Identifier: BSD-3-Clause
"""Loads: their totals, their moments and their work do not depend on where they are put."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import symancf as sa
from symancf.energies import cable, kirchhoff, saint_venant_kirchhoff
from tests.motion import leave_out
from tests.refusals import refused

pytestmark = pytest.mark.collective

STEEL: dict[str, Any] = {"E": 1e6, "nu": 0.3}
HEX8, PLATE = sa.elements.hex8_plain, sa.elements.ancf_plate
THIN, CABLE = sa.elements.ancf_thin_plate, sa.elements.ancf_cable


def skew(X: Any) -> Any:
    """Distort a rectangle or block smoothly, its plane staying plane."""
    Y = X.copy()
    Y[:, 0] += 0.15 * X[:, 1] * X[:, 0] + 0.1 * X[:, 1]
    Y[:, 1] += 0.1 * X[:, 0] * (1.0 - X[:, 1])
    return Y


def block(warp: Any = skew) -> sa.Body:
    mesh = sa.Mesh.box((2.0, 1.0, 0.5), (4, 3, 2), warp=warp)
    return sa.Body(mesh["body"], HEX8, saint_venant_kirchhoff(), rho=2.0, **STEEL)


def plate(element: Any = PLATE, warp: Any = skew, **options: Any) -> sa.Body:
    mesh = sa.Mesh.box((2.0, 1.0), (4, 3), warp=warp)
    energy = kirchhoff() if element is THIN else saint_venant_kirchhoff()
    given = {"thickness": 0.1, "rho": 2.0, **STEEL} | options
    return sa.Body(mesh["body"], element, energy, **given)


def rope(warp: Any = None) -> sa.Body:
    mesh = sa.Mesh.box((2.0,), (5,), warp=warp)
    return sa.Body(mesh["body"], CABLE, cable(), EA=1e3, EI=10.0, rho=2.0, A=0.1)


def resultant(
    body: sa.Body, *loads: Any, state: float = 0.0, about: Any = (0, 0, 0)
) -> tuple[Any, Any]:
    """Return force and moment of loads on a body: their work in rigid motions.

    With `state` the body is first given a random displacement of that size.
    """
    system = sa.System(body, terms=list(loads))
    leave_out(system._discrete.assembler, body.name)
    numbering = system._discrete.numbering
    system.state[:] = state * numbering.random(1)
    f = -system._discrete.residual_at_solution()
    owned = np.arange(len(f)) < numbering.start[numbering.owned_vertices]
    f = np.where(owned, f, 0.0)
    q = system.reference + system.state
    position = numbering.offset[:, numbering.block("position")]
    at = position[position >= 0][:, None] + np.arange(3)
    force = f[at].sum(axis=0)
    moment = np.cross(q[at] - np.asarray(about), f[at]).sum(axis=0)
    if body.element.slopes:
        start = numbering.offset[:, system._discrete.binding(body).interpolation.slope_block]
        for k in range(len(body.element.slopes)):
            at = start[start >= 0][:, None] + 3 * k + np.arange(3)
            moment = moment + np.cross(q[at], f[at]).sum(axis=0)
    return system._discrete.sum(force), system._discrete.sum(moment)


def area(body: sa.Body, region: str) -> float:
    """Return what a traction of 1 sums up to."""
    total, _ = resultant(body, sa.traction(body[region], (0.0, 0.0, 1.0)))
    return float(total[2])


# ---- totals -----------------------------------------------------------------------------------
PLACES = [
    (block, "x1"),
    (block, "z1"),
    (plate, "body"),
    (plate, "y1"),
    (lambda: plate(THIN), "body"),
    (lambda: plate(THIN), "x1"),
    (rope, "body"),
]


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize(("make", "region"), PLACES)
def test_a_force_is_its_total(make: Any, region: str) -> None:
    body = make()
    total, _ = resultant(body, sa.force(body[region], (1.0, 2.0, -3.0)))
    np.testing.assert_allclose(total, [1.0, 2.0, -3.0], rtol=1e-12)


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize(("make", "region"), PLACES)
def test_each_node_carries_the_force(make: Any, region: str) -> None:
    body = make()
    nodes = body.region.mesh.comm.allreduce(len(body.region.mesh[region].points()))
    total, _ = resultant(body, sa.force(body[region], (1.0, 2.0, -3.0), distribute="each"))
    np.testing.assert_allclose(total, nodes * np.array([1.0, 2.0, -3.0]), rtol=1e-12)


@pytest.mark.collective(rows=0)
def test_areas_and_lengths() -> None:
    # the shoelace formula on the corners of the skewed rectangle, whose sides stay straight
    x = skew(np.array([[0, 0, 0], [2, 0, 0], [2, 1, 0], [0, 1, 0.0]]))
    whole = 0.5 * abs(np.sum(x[:, 0] * np.roll(x[:, 1], -1) - np.roll(x[:, 0], -1) * x[:, 1]))
    side = float(np.linalg.norm(x[2] - x[1]))
    assert area(plate(), "body") == pytest.approx(whole, rel=1e-3)
    assert area(plate(THIN), "body") == pytest.approx(area(plate(), "body"), rel=1e-9)
    assert area(block(), "z1") == pytest.approx(area(block(), "z0"), rel=1e-12)
    assert area(block(), "x1") == pytest.approx(0.5 * side, rel=1e-6)
    assert area(plate(warp=None), "body") == pytest.approx(2.0, rel=1e-12)
    assert area(plate(warp=None), "x1") == pytest.approx(1.0, rel=1e-12)
    assert area(rope(), "body") == pytest.approx(2.0, rel=1e-12)


def test_curved_bodies_have_their_curved_measure() -> None:
    """A quarter cylinder and a quarter circle of radius 1, from facets and chords."""

    def bend(X: Any) -> Any:
        angle = X[:, 0] * np.pi / 4
        return np.stack([np.sin(angle), X[:, 1], np.cos(angle)], axis=1)

    averaged = plate(THIN, warp=bend)  # facets of 22.5 degrees
    exact = plate(THIN, warp=bend, direction=lambda X: X * [1.0, 0.0, 1.0])
    assert area(averaged, "body") == pytest.approx(np.pi / 2, rel=3e-3)
    assert area(exact, "body") == pytest.approx(np.pi / 2, rel=5e-5)
    assert area(exact, "y0") == pytest.approx(np.pi / 2, rel=5e-5)
    assert area(exact, "x1") == pytest.approx(1.0, rel=1e-9)
    assert area(rope(bend), "body") == pytest.approx(np.pi / 2, rel=2e-4)


@pytest.mark.collective(rows=0)
def test_the_energy_of_a_force_on_an_edge_is_its_integral() -> None:
    """A density t y e_z on the edge x = 2, from y = 0 to 1, which rises by 1."""
    body = plate(warp=None)
    varying = sa.traction(body["x1"], lambda X, t: t * X[:, [1]] * [0.0, 0.0, 1.0])
    even = sa.force(body["x1"], (0.0, 0.0, 3.0))
    system = sa.System(body, terms=[varying, even])
    system._discrete.prescribe(2.0)
    offset = system._discrete.numbering.offset[:, system._discrete.numbering.block("position")]
    system.state[offset[offset >= 0] + 2] = 1.0
    # points of the three edges, the energy of each
    assert varying.values(system).shape == even.values(system).shape == (12,)
    assert varying.values(system).sum() == pytest.approx(-1.0, rel=1e-12)
    assert even.values(system).sum() == pytest.approx(-3.0, rel=1e-12)


# ---- weight -----------------------------------------------------------------------------------
def test_weight_is_density_times_volume() -> None:
    g = np.array([0.0, 3.0, -9.81])
    for body, volume in (
        (block(warp=None), 1.0),
        (plate(warp=None), 0.2),
        (plate(THIN, warp=None), 0.2),
        (rope(), 0.2),
    ):
        total, moment = resultant(body, sa.gravity(g))
        np.testing.assert_allclose(total, 2.0 * volume * g, rtol=1e-12)
        centre = np.array([1.0, 0.0 if body.element is CABLE else 0.5, 0.0])
        centre[2] = 0.25 if body.element is HEX8 else 0.0
        np.testing.assert_allclose(moment, np.cross(centre, 2.0 * volume * g), atol=1e-10)


def test_density_of_each_cell() -> None:
    body = plate(warp=None, rho=sa.Field(lambda X: 1.0 + X[:, 0]))
    total, _ = resultant(body, sa.gravity((0.0, 0.0, -1.0)))
    # four columns of cells with the density at their middle: the mean is exact
    assert total[2] == pytest.approx(-0.1 * 2.0 * 2.0, rel=1e-12)


# ---- moments ----------------------------------------------------------------------------------
@pytest.mark.collective(rows=2)
@pytest.mark.parametrize("state", [0.0, 0.05])
@pytest.mark.parametrize(
    ("make", "place"),
    [
        (plate, "y1"),
        (lambda: plate(THIN), "y1"),
        (plate, (0.7, 0.4, 0.0)),
        (lambda: plate(THIN), (0.7, 0.4, 0.0)),
        (lambda: block(warp=None), (0.7, 0.4, 0.1)),
    ],
)
def test_a_moment_is_its_total(make: Any, place: Any, state: float) -> None:
    """No force, and the moment fixed in space, also on a deformed body."""
    body = make()
    where = body[place] if isinstance(place, str) else body.at(place)
    M = np.array([1.0, -2.0, 3.0])
    force, moment = resultant(body, sa.moment(where, M), state=state)
    np.testing.assert_allclose(force, np.zeros(3), atol=1e-10)
    np.testing.assert_allclose(moment, M, atol=1e-10)


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("state", [0.0, 0.02])
@pytest.mark.parametrize("place", ["x1", (0.7, 0.0, 0.0)])
def test_a_cable_takes_no_moment_about_itself(place: Any, state: float) -> None:
    body = rope()
    where = body[place] if isinstance(place, str) else body.at(place)
    M = np.array([5.0, -2.0, 3.0])
    system = sa.System(body, terms=[])
    system.state[:] = state * system._discrete.numbering.random(1)
    tangent = system.gradient(where)[0][:, 0]  # of the reference tangent x
    again = rope()
    where = again[place] if isinstance(place, str) else again.at(place)
    _, moment = resultant(again, sa.moment(where, M), state=state)
    t = tangent / np.linalg.norm(tangent)
    np.testing.assert_allclose(moment, M - (M @ t) * t, atol=1e-9)


def test_moment_of_each_node() -> None:
    body = plate()
    _, moment = resultant(body, sa.moment(body["x1"], (0.0, 1.0, 0.0), distribute="each"))
    np.testing.assert_allclose(moment, [0.0, 4.0, 0.0], atol=1e-10)


@pytest.mark.collective(rows=0)
def test_two_equal_forces_apart_are_a_moment() -> None:
    body = plate()
    one, two = body.at((0.5, 0.3, 0.0)), body.at((1.5, 0.6, 0.0))
    loads = [sa.force(one, (0.0, 0.0, 2.0)), sa.force(two, (0.0, 0.0, -2.0))]
    force, moment = resultant(body, *loads)
    np.testing.assert_allclose(force, np.zeros(3), atol=1e-12)
    np.testing.assert_allclose(moment, np.cross([-1.0, -0.3, 0.0], [0, 0, 2.0]), atol=1e-10)


# ---- values -----------------------------------------------------------------------------------
def test_values_that_change() -> None:
    body = block()
    P = sa.Parameter("P", 2.0)
    load = sa.force(body["x1"], (P, lambda t: 3.0 * t, 1))
    system = sa.System(body, terms=[load])
    leave_out(system._discrete.assembler, body.name)

    def total() -> Any:
        f = -system._discrete.residual_at_solution()
        owned = f[: system._discrete.numbering.start[system._discrete.numbering.owned_vertices]]
        return system._discrete.sum(owned.reshape(-1, 3).sum(axis=0))

    np.testing.assert_allclose(total(), [2.0, 0.0, 1.0], rtol=1e-12)
    P.value = -1.0
    system.time = 2.0
    np.testing.assert_allclose(total(), [-1.0, 6.0, 1.0], rtol=1e-12)


@pytest.mark.collective(rows=0)
def test_one_argument_is_a_place_by_its_name() -> None:
    body = block()
    total, _ = resultant(body, sa.body_force(body["body"], lambda X: X * (0.0, 1.0, 0.0)))
    twice, _ = resultant(body, sa.body_force(body["body"], lambda X, t: X * (0.0, 1.0, 0.0)))
    assert total[1] > 0.1
    np.testing.assert_array_equal(total, twice)
    moved = sa.fix(body["x1"], displacement=lambda X: 0.1 * (X - (2.0, 0.5, 0.0)))
    np.testing.assert_allclose(moved.motion.u(np.eye(3), 7.0), 0.1 * (np.eye(3) - (2.0, 0.5, 0.0)))
    with refused(sa.ParameterError, asked="x", given=lambda found: "<lambda>" in found):
        resultant(body, sa.traction(body["x1"], (lambda X: 0.1 * X, 0.0, 0.0)))
    with refused(sa.ParameterError, asked="t", given=lambda found: "<lambda>" in found):
        sa.fix(body["x1"], displacement=lambda X, t=0.0: t * X)
    with refused(sa.ParameterError, asked="t", given=("t", "X"), possible=(("X", "t"),)):
        sa.fix(body["x1"], displacement=lambda t, X: t * X)


@pytest.mark.collective(rows=0)
def test_splines_are_functions_of_time() -> None:
    body, t = block(), np.linspace(0.0, 1.0, 5)
    path = CubicSpline(t, np.stack([t, t**2, t**3], axis=1))
    moved = sa.fix(body["x1"], displacement=path)
    np.testing.assert_allclose(moved.motion.u(np.eye(3), 0.5), [[0.5, 0.25, 0.125]] * 3)
