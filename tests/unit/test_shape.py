# SPDX-License-Identifier: BSD-3-Clause
"""Gradients by reference positions of solids, against systems on meshes that are moved."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf.errors import ParameterError
from symancf.verify.gradients import slope
from symancf.verify.relaxation import RUBBER, SERIES, YEOH
from tests.shells import hollow_block

LAW = sa.energies.neo_hooke()
EXACT: Any = {"snes_rtol": 1e-13, "snes_stol": 1e-15}
ELEMENTS = {"hexahedron": sa.elements.hex8, "tetra10": sa.elements.tet10}


def model(cell: str, h: float = 0.0, direction: Any = 0.0) -> tuple[Any, sa.Goal, sa.Body]:
    """A cantilever with all loads of solids, its goal, and the body."""
    mesh = sa.Mesh.box((2.0, 1.0, 1.0), (2, 1, 1), cell=cell)
    before = mesh.points.copy()
    mesh.points[:] = before + h * direction
    body = sa.Body(mesh["body"], ELEMENTS[cell], LAW, mu=1.0, lam=2.0, rho=0.02)

    def at(*place: float) -> Any:
        node = np.argmin(np.linalg.norm(before - np.array(place), axis=1))
        return body.at(mesh.points[node])

    tip, low, clamp = at(2.0, 0.0, 1.0), at(2.0, 0.0, 0.0), sa.fix(body["x0"])
    terms = [
        clamp,
        sa.pressure(body["y1"], 0.02),
        sa.gravity((0.0, 0.0, -1.0)),
        sa.traction(body["z1"], (0.01, 0.02, 0.0)),
        sa.force(body["x1"], (0.0, 0.01, 0.005)),
        sa.force(tip, (0.0, 0.0, 0.003)),
        sa.Potential(_spring, low, sa.ground.at((2.5, 0.2, -0.3))),
    ]
    problem = sa.StaticProblem(sa.System(body, terms=terms), options=EXACT, check_stable=False)
    problem.solve()
    goal = sa.Goal(lambda r_a, u_b: r_a[2] * r_a[0] + u_b[1] ** 2, tip, low)
    goal = goal + 3 * sa.Goal(lambda M, F: M[1] + F[0] * M[2], clamp)
    if cell == "tetra10":
        goal = goal + sa.Goal(lambda J, u: J * (1 + u[2]), body)
    return problem, goal, body


def _spring(r_a: Any, r_b: Any) -> Any:
    return 0.05 * (r_a - r_b).dot(r_a - r_b)


@pytest.mark.parametrize("cell", ELEMENTS)
def test_gradients_by_positions_are_those_of_new_meshes(cell: str) -> None:
    problem, goal, body = model(cell)
    shape = sa.Shape(body)
    found = problem.gradient(goal, [shape])[shape]
    assert found.shape == shape.values.shape
    direct, twice = problem.sensitivity([shape], of=[goal, 2.0 * goal])
    np.testing.assert_allclose(direct[shape], found, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(twice[shape], 2.0 * found, rtol=1e-10, atol=1e-13)
    direction = 0.1 * np.random.default_rng(1).standard_normal(found.shape)

    def value(h: float) -> float:
        other, goal_there, _ = model(cell, h, direction)
        return other.value(goal_there)

    assert (found * direction).sum() == pytest.approx(slope(value, 0.0, 2e-3), rel=2e-8, abs=1e-10)


def chamber(law: Any, inside: dict[str, Any], h: float = 0.0, to: float = 0.0) -> tuple[Any, ...]:
    """A block around a cavity, with a history where `to` is given, its goal, and the body."""
    mesh = hollow_block()
    moved = np.sin(9.0 * mesh.points + np.roll(mesh.points, 1, axis=1))
    mesh.points[:] += 0.05 * h * moved
    given = {"mu": 1.0, "lam": 2.0} if law is LAW else {**YEOH, **SERIES}
    body = sa.Body(mesh["body"], sa.elements.hex8_plain, law, rho=0.05, **given)
    cavity, hold = sa.Cavity(body["inside"], **inside), sa.fix(body["left"])
    system = sa.System(body, terms=[hold, cavity, sa.gravity((0.0, 0.0, -1.0))])
    problem = sa.StaticProblem(system, options=EXACT, check_stable=False)
    goal = sa.Goal(lambda V, p: p * V + 0.3 * p**2 + V**2, cavity)
    goal = goal + sa.Goal(lambda F, M: F[2] + M[1], hold)
    if to:
        problem.solve(to=to, step=0.5, trace=sa.Trace())
        goal = goal + goal.at(0.5) + goal.integral()
    else:
        problem.solve()
    return problem, goal, body, 0.05 * moved


@pytest.mark.parametrize(
    ("kind", "history"), [("gas", "none"), ("gas", "memory"), ("pressure", "states")]
)
def test_cavities_and_histories_are_those_of_new_meshes(kind: str, history: str) -> None:
    """Of gas the reference volume follows the positions; with memory over two steps."""
    law = RUBBER if history == "memory" else LAW
    gas = sa.Gas(lambda t: 1.0 + 0.6 * t, ambient=0.5, exponent=1.2)
    inside = {"gas": gas} if kind == "gas" else {"pressure": lambda t: 0.1 * t}
    to = 0.0 if history == "none" else 1.0
    problem, goal, body, direction = chamber(law, inside, to=to)
    shape = sa.Shape(body)
    found = (problem.gradient(goal, [shape])[shape] * direction).sum()

    def value(h: float) -> float:
        other, there, *_ = chamber(law, inside, h, to)
        return other.value(there)

    assert found == pytest.approx(slope(value, 0.0, 2e-2), rel=1e-7)


def test_what_is_a_function_of_places_is_refused_by_name() -> None:
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    body = sa.Body(mesh["body"], sa.elements.hex8, LAW, mu=1.0, lam=2.0)
    load = sa.traction(body["x1"], lambda X, t: 0.01 * X, name="wind")
    problem = sa.StaticProblem(sa.System(body, terms=[sa.fix(body["x0"]), load]))
    problem.solve()
    goal, shape = sa.Goal(lambda u_a: u_a[0], body["x1"]), sa.Shape(body)
    with pytest.raises(ParameterError, match="wind"):
        problem.gradient(goal, [shape])
    with pytest.raises(ParameterError, match="wind"):
        problem.sensitivity([shape], of=[goal])
    for refused in (
        lambda: problem.hessian(goal, [shape]),
        lambda: sa.optimize.scipy(problem, goal, [shape]),
        lambda: sa.check_gradient(problem, goal, [shape]),
    ):
        with pytest.raises(ParameterError, match=r"shape of|wind"):
            refused()


def arch(h: float = 0.0, direction: Any = 0.0) -> tuple[sa.StaticProblem, sa.Body]:
    """Half of an arch of solids that snaps through, followed up to its limit point."""
    P = sa.Parameter("P", 0.0)

    def rise(X: Any) -> Any:
        return X + np.outer(np.sin(np.pi * X[:, 0] / 8.0), [0.0, 1.2, 0.0])

    mesh = sa.Mesh.box((4.0, 0.4, 0.5), (4, 1, 1), warp=rise)
    mesh.points[:] += h * direction
    body = sa.Body(mesh["body"], sa.elements.hex8, LAW, mu=50.0, lam=10.0)
    sides = [sa.fix(body[side], "z") for side in ("z0", "z1")]
    load = sa.force(body["y1"], (0.0, lambda t: -P.value, 0.0))
    terms = [sa.fix(body["x0"]), sa.fix(body["x1"], "x"), *sides, load]
    problem = sa.StaticProblem(sa.System(body, terms=terms), options=EXACT, check_stable=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        points = problem.history.limit_points
        problem.follow(P, step=0.5, steps=14, until=lambda step: len(points) > 0)
    return problem, body


def test_limit_loads_follow_positions_of_nodes() -> None:
    problem, body = arch()
    shape = sa.Shape(body)
    found = problem.limit_gradient([shape])[shape]
    direction = 0.02 * np.random.default_rng(1).standard_normal(found.shape)

    def load(h: float) -> float:
        return arch(h, direction)[0].history.limit_points[0].parameter

    assert (found * direction).sum() == pytest.approx(slope(load, 0.0, 5e-3), rel=1e-7)
    # twice as large in all directions: four times the load
    total = (found * shape.values).sum()
    assert total == pytest.approx(2.0 * problem.history.limit_points[0].parameter, rel=1e-9)


def test_bodies_with_slopes_have_no_shape() -> None:
    mesh = sa.Mesh.box((1.0,), (2,))
    cable = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), EA=1.0, EI=1.0)
    with pytest.raises(ParameterError, match="slopes"):
        sa.Shape(cable)
