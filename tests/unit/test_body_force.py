# SPDX-License-Identifier: BSD-3-Clause
"""Forces per volume of solids: what supports take of them. `verify` has manufactured solutions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf import elements
from symancf.energies import saint_venant_kirchhoff
from symancf.errors import MeshError, ParameterError
from tests.refusals import refused

pytestmark = pytest.mark.collective
SIZE = (1.0, 2.0, 0.5)
STEEL = {"E": 10.0, "nu": 0.3}


def body(cell: str, element: Any, divisions: tuple[int, ...] = (2, 2, 1), **given: Any) -> sa.Body:
    mesh = sa.Mesh.box(SIZE, divisions, cell=cell)
    return sa.Body(mesh["body"], element, saint_venant_kirchhoff(), **STEEL, **given)


def density(X: Any, t: float) -> Any:
    x, y, z = X.T
    return np.stack([t * x**2, 3.0 - y * z, x * y], axis=1)


CASES = {
    "hexahedron": elements.hex8_plain,
    "tetra10": elements.tet10,
}


@pytest.mark.parametrize("cell", CASES)
def test_what_the_support_takes_is_the_integral(cell: str) -> None:
    """Densities of degree 2 are integrated exactly on straight cells, at each time.

    The moment is int X x b dV, where another distribution over the nodes would show.
    """
    of = body(cell, CASES[cell])
    held = sa.fix(of["body"])
    system = sa.System(of, terms=[held, sa.body_force(of["body"], density)])
    problem = sa.StaticProblem(system)
    for time in (0.5, 2.0):
        problem.solve(to=time, step=2.0)
        exact = [time / 3, 3.0 - 0.25, 0.5]  # the volume is 1
        np.testing.assert_allclose(held.reaction(system).force, np.negative(exact), rtol=1e-13)
        turning = [0.0, time / 12 - 1 / 3, 11 / 8 - time / 3]
        found = held.reaction(system).moment_about((0, 0, 0))
        np.testing.assert_allclose(found, np.negative(turning), rtol=1e-12, atol=1e-13)


def test_numbers_parameters_and_totals_spread_over_the_volume() -> None:
    of = body("tetra10", elements.tet10)
    pull = sa.Parameter("pull", 2.0)
    weight = sa.body_force(of["body"], (0.0, pull, lambda t: 3.0 * t))
    whole = sa.force(of["body"], (5.0, 0.0, 0.0))
    held = sa.fix(of["body"])
    system = sa.System(of, terms=[held, weight, whole])
    problem = sa.StaticProblem(system)
    for time, value in ((1.0, 2.0), (2.0, -1.0)):
        pull.value = value
        problem.solve(to=time, step=1.0)
        exact = [-5.0, -value, -3.0 * time]
        np.testing.assert_allclose(held.reaction(system).force, exact, rtol=1e-13)


def test_gravity_is_a_force_per_volume() -> None:
    of = body("tetra10", elements.tet10, rho=4.0)
    held = sa.fix(of["x0"])
    solved = []
    for load in (sa.gravity((0.1, 0.0, -0.2)), sa.body_force(of["body"], (0.4, 0.0, -0.8))):
        system = sa.System(of, terms=[held, load])
        sa.StaticProblem(system).solve()
        solved.append(system.displacement(of.at((1.0, 2.0, 0.25))))
    np.testing.assert_allclose(solved[0], solved[1], rtol=1e-10)


def test_what_is_no_solid_is_told() -> None:
    of = body("hexahedron", elements.hex8_plain)
    with refused(ParameterError, asked="dimension", given=2, possible=(3,)):
        sa.body_force(of["x0"], (0, 0, 1))
    with refused(ParameterError, asked="dimension", given=3, possible=(1, 2)):
        sa.traction(of["body"], (0, 0, 1))
    with refused(ParameterError, asked="vector", given="<function density>"):
        sa.force(of["body"], density)
    half = of.region.mesh.select("half", lambda X: X[:, 0] < 0.51, dimension=3)
    other = sa.Body(half, elements.hex8_plain, saint_venant_kirchhoff(), name="half", **STEEL)
    with refused(MeshError, asked="body", given=6, possible=("half",)):
        sa.System(other, terms=[sa.body_force(other["body"], (0, 0, 1))])


def test_a_density_that_fails_is_told_on_every_rank() -> None:
    of = body("tetra10", elements.tet10)

    def broken(X: Any, t: float) -> Any:
        if len(X) and X[0, 0] >= 0.0 and of.region.mesh.comm.rank == 0:
            raise ValueError("no table")
        return 0.0 * X

    with refused(
        ParameterError,
        asked="body force on nodes of 'body' of 'body'",
        given="ValueError('no table')",
    ):
        sa.StaticProblem(
            sa.System(of, terms=[sa.fix(of["x0"]), sa.body_force(of["body"], broken)])
        ).solve()
