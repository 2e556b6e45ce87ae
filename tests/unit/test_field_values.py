# SPDX-License-Identifier: BSD-3-Clause
"""Fields of values, one for each cell, that a program assigns anew."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf.elements import hex8_plain
from symancf.energies import neo_hooke

pytestmark = pytest.mark.collective


def pulled(mu: Any) -> tuple[sa.System, sa.StaticProblem]:
    """Eight cells with a modulus, which a force turns."""
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (2, 2, 2))
    body = sa.Body(mesh["body"], hex8_plain, neo_hooke(), mu=mu, lam=2.0, rho=1.0)
    terms = [sa.fix(body["z0"]), sa.traction(body["z1"], (0.1, 0.0, 0.05))]
    return (system := sa.System(body, terms=terms)), sa.StaticProblem(system)


def test_the_next_solution_has_values_that_were_assigned() -> None:
    field = sa.Field(1.0 + 0.1 * np.arange(8))
    system, problem = pulled(field)
    problem.solve()
    other, of_function = pulled(sa.Field(lambda X: 1.0 + X[:, 0]))
    of_function.solve()
    centres = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)]) / 2 + 0.25
    field.values = 1.0 + centres[:, 0]
    problem.solve(to=1.0)
    assert np.abs(system.state - other.state).max() < 1e-9
    assert not field.values.flags.writeable
    assert repr(field) == "Field of 8 cells"


def test_other_numbers_of_values_are_refused() -> None:
    field = sa.Field(np.ones(8))
    with pytest.raises(sa.ParameterError, match=r"shape \(8,\)"):
        field.values = np.ones(3)
    with pytest.raises(sa.ParameterError, match="8 cells"):
        pulled(sa.Field(np.ones(7)))
    with pytest.raises(sa.ParameterError, match="values of its own"):
        _ = sa.Field(lambda X: X[:, 0]).values
    with pytest.raises(sa.ParameterError, match="takes no values"):
        sa.Field(lambda X: X[:, 0]).values = np.ones(8)
    with pytest.raises(sa.ParameterError, match="per='point'"):
        sa.Field(np.ones(8), per="point")


def test_values_that_a_law_refuses_are_named() -> None:
    field = sa.Field(np.ones(8))
    _, problem = pulled(field)
    field.values = np.full(8, -1.0)
    with pytest.raises(sa.ParameterError, match="mu of body"):
        problem.solve()


def test_a_contact_does_not_take_its_stiffness_from_values() -> None:
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (2, 2, 2))
    body = sa.Body(mesh["body"], hex8_plain, neo_hooke(), mu=sa.Field(np.ones(8)), lam=2.0)
    touch = sa.Contact(body["z1"], sa.Plane((0.0, 0.0, 1.1), normal=(0.0, 0.0, -1.0)))
    with pytest.raises(sa.ParameterError, match="stiffness="):
        sa.System(body, terms=[sa.fix(body["z0"]), touch])
