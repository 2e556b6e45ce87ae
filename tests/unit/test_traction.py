# SPDX-License-Identifier: BSD-3-Clause
"""Tractions that depend on place and time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from symancf.bodies.body import Body
from symancf.catalogue.boundary import fix
from symancf.catalogue.loads import force, gravity, traction
from symancf.elements import Element, ancf_cable, ancf_plate, ancf_thin_plate, hex8_plain
from symancf.energies import cable, kirchhoff, saint_venant_kirchhoff
from symancf.errors import MeshError, ParameterError
from symancf.mesh import Mesh
from symancf.solve.statics.problem import StaticProblem
from symancf.system import System
from tests.refusals import refused

Array = npt.NDArray[np.float64]


def up(values: Array) -> Array:
    """Return vectors along z."""
    return np.multiply.outer(values, [0.0, 0.0, 1.0])


def test_a_pressure_that_grows_with_depth_is_carried_by_the_support() -> None:
    mesh = Mesh.box((1.0, 2.0, 3.0), (2, 2, 4))
    block = Body(mesh["body"], hex8_plain, saint_venant_kirchhoff(), E=1e6, nu=0.3)
    base = fix(block["z0"])

    def pressure(X: Array, t: float) -> Array:
        return np.multiply.outer(10.0 * t * (3.0 - X[:, 2]), [-1.0, 0.0, 0.0])

    system = System(block, terms=[base, traction(block["x1"], pressure)])
    problem = StaticProblem(system)
    for time in (1.0, 0.5):
        problem.solve(to=time)
        total = time * 10.0 * 2.0 * 3.0**2 / 2
        np.testing.assert_allclose(
            base.reaction(system).force, [total, 0.0, 0.0], atol=2e-10 * total
        )
        # about the base: the centre of pressure lies at a third of the depth
        moment = base.reaction(system).moment_about((0.0, 1.0, 0.0))
        np.testing.assert_allclose(moment[1], total * 1.0, rtol=1e-3)


def test_sine_load_on_a_simply_supported_plate() -> None:
    """Navier: w = q/(4 pi^4 D) sin(pi x) sin(pi y)."""
    E, nu, h, q = 1e9, 0.3, 0.01, 1e-3
    mesh = Mesh.box((1.0, 1.0), (12, 12))
    plate = Body(mesh["body"], ancf_thin_plate, kirchhoff(), E=E, nu=nu, thickness=h)
    sides = [fix(plate[side], "position") for side in ("x0", "x1", "y0", "y1")]

    def load(X: Array, t: float) -> Array:
        return up(q * t * np.sin(np.pi * X[:, 0]) * np.sin(np.pi * X[:, 1]))

    system = System(plate, terms=[*sides, traction(plate["body"], load)])
    StaticProblem(system).solve()
    exact = q / (4 * np.pi**4 * (E * h**3 / 12 / (1 - nu**2)))
    middle = system.displacement(plate.at((0.5, 0.5, 0.0)))[0, 2]
    np.testing.assert_allclose(middle, exact, rtol=0.01)


def test_on_a_curved_cable_the_place_is_that_of_the_arc() -> None:
    def arc(X: Array) -> Array:
        return np.stack([np.sin(X[:, 0]), 1.0 - np.cos(X[:, 0]), 0.0 * X[:, 0]], axis=1)

    def tangent(X: Array) -> Array:
        return np.stack([1.0 - X[:, 1], X[:, 0], 0.0 * X[:, 0]], axis=1)

    radii: list[float] = []

    def load(X: Array, t: float) -> Array:
        radii.extend(np.hypot(X[:, 0], X[:, 1] - 1.0))
        return np.ones((len(X), 3))

    mesh = Mesh.box((np.pi / 2,), (16,), warp=arc)
    beam = Body(mesh["body"], ancf_cable, cable(), EA=1.0, EI=1.0, direction=tangent)
    system = System(beam, terms=[fix(beam["x0"]), traction(beam["body"], load)])
    system._discrete.prescribe(1.0)
    np.testing.assert_allclose(radii, 1.0, atol=1e-6)
    total = system._discrete.residual_at(np.zeros_like(system.state))
    position = system._discrete.numbering.offset[:, system._discrete.numbering.block("position")]
    position = position[position >= 0]  # the support may bring vertices of its own
    np.testing.assert_allclose(
        total[position[:, None] + np.arange(3)].sum(axis=0), -np.pi / 2, rtol=1e-6
    )


@pytest.mark.parametrize(
    ("function", "data"),
    [
        (lambda X, t: X[:, 0], {"given": ("n",), "possible": (("n", 3),)}),
        (lambda X, t: X * np.nan, {"given": lambda at: len(at) == 3, "possible": ()}),
        (lambda X, t: X.nothing, {"given": lambda error: error.startswith("AttributeError")}),
    ],
)
def test_a_wrong_function_is_named(function: Any, data: dict[str, Any]) -> None:
    mesh = Mesh.box((1.0,), (2,))
    beam = Body(mesh["body"], ancf_cable, cable(), EA=1.0, EI=1.0)
    load = traction(beam["body"], function, name="wind")
    system = System(beam, terms=[fix(beam["x0"]), load])
    with refused(ParameterError, asked="wind", **data):
        StaticProblem(system).solve()


def test_a_force_of_places_is_a_traction() -> None:
    mesh = Mesh.box((1.0,), (2,))
    beam = Body(mesh["body"], ancf_cable, cable(), EA=1.0, EI=1.0)
    with refused(ParameterError, asked="vector") as caught:
        force(beam["body"], lambda X, t: X)
    assert "sa.traction" in str(caught.value)


def test_a_function_may_change_the_places_it_is_given() -> None:
    def spoils(X: Any, t: float) -> Any:
        f = np.stack([0 * X[:, 1], 0 * X[:, 1], t * X[:, 1]], axis=1)
        X[:] = 1e9
        return f

    found = []
    for function in (spoils, lambda X, t: t * X[:, [1]] * [0.0, 0.0, 1.0]):
        mesh = Mesh.box((2.0, 1.0, 0.5), (2, 1, 1))
        body = Body(mesh["body"], hex8_plain, saint_venant_kirchhoff(), E=1e6, nu=0.3)
        support = fix(body["x0"])
        system = System(body, terms=[support, traction(body["x1"], function)])
        StaticProblem(system).solve()
        found.append(support.reaction(system).force)
    assert found[0][2] == pytest.approx(-0.25, rel=1e-9)
    np.testing.assert_allclose(*found, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("kind", "corners"), [("quad", [0, 1, 7, 6]), ("quad", [0, 2, 11, 9])])
def test_a_load_on_what_is_no_side_of_a_cell_is_refused(kind: str, corners: list[int]) -> None:
    points = np.array([[x, y, z] for x in (0, 1, 2) for y in (0, 1) for z in (0, 1)], float)
    cube = np.array([0, 4, 6, 2, 1, 5, 7, 3])
    regions = {"body": ("hexahedron", [0, 1]), "strange": (kind, [corners])}
    mesh = Mesh.from_arrays(points, {"hexahedron": [cube, cube + 4]}, regions)
    body = Body(mesh["body"], hex8_plain, saint_venant_kirchhoff(), E=1e6, nu=0.3)
    centre = pytest.approx(tuple(points[corners].mean(axis=0)))
    with refused(MeshError, asked="facet", given=centre, possible=()):
        System(body, terms=[traction(body["strange"], (0.0, 0.0, 1.0))])


@pytest.mark.parametrize("element", [ancf_thin_plate, ancf_plate])
def test_a_traction_costs_what_gravity_costs(element: Element) -> None:
    """It is a kernel on cells, not on the points of their rule: in memory and calls."""
    law = kirchhoff() if element is ancf_thin_plate else saint_venant_kirchhoff()
    mesh = Mesh.box((1.0, 1.0), (12, 12))
    body = Body(mesh["body"], element, law, thickness=0.01, E=1e6, nu=0.3, rho=1e3)
    down = (0.0, 0.0, -10.0)
    loads = [gravity((0.0, 0.0, -1.0)), traction(body["body"], down), force(body["body"], down)]
    costs, forces = [], []
    for load in loads:
        system = System(body, terms=[load])
        system._discrete.assembler.update(0.0)
        costs.append((system._discrete.assembler.calls, system._discrete.assembler.nbytes))
        forces.append(system._discrete.residual_at(system.state))
    (calls, size), *others = costs
    assert all(c == calls and n <= 1.05 * size for c, n in others)
    for other in forces[1:]:
        assert np.abs(other - forces[0]).max() < 1e-13
