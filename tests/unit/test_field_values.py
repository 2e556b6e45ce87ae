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
    with pytest.raises(sa.ParameterError, match=r"mu of neo_hooke\(\) of body"):
        problem.solve()


def test_a_contact_does_not_take_its_stiffness_from_values() -> None:
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (2, 2, 2))
    body = sa.Body(mesh["body"], hex8_plain, neo_hooke(), mu=sa.Field(np.ones(8)), lam=2.0)
    touch = sa.Contact(body["z1"], sa.Plane((0.0, 0.0, 1.1), normal=(0.0, 0.0, -1.0)))
    with pytest.raises(sa.ParameterError, match="stiffness="):
        sa.System(body, terms=[sa.fix(body["z0"]), touch])


def prony_neo_hooke(**given: Any) -> tuple[sa.System, sa.StaticProblem]:
    """Two cells of a series of two terms."""
    mesh = sa.Mesh.box((2.0, 1.0, 1.0), (2, 1, 1), cell="hexahedron")
    law = sa.energies.prony(neo_hooke(), g=(0.3, 0.3), tau=(1.0, 2.0))
    body = sa.Body(mesh["body"], hex8_plain, law, mu=1.0, lam=2.0, **given)
    return (system := sa.System(body, terms=[sa.fix(body["x0"])])), sa.StaticProblem(system)


def test_values_out_of_a_domain_are_named_with_law_and_cell() -> None:
    with pytest.raises(sa.ParameterError, match=r"mu of neo_hooke\(\) of body .* -1 in cell 3"):
        pulled(sa.Field([1.0, 1.0, 1.0, -1.0, 1.0, 1.0, 1.0, 1.0]))
    with pytest.raises(sa.ParameterError, match=r"g2 = 0\.8, is 1\.1 in cell 1"):
        prony_neo_hooke(g2=sa.Field([0.3, 0.8]))
    with pytest.raises(sa.ParameterError, match=r"g2 = 0\.9, is 1\.2 in cell 1"):
        prony_neo_hooke(g2=sa.Field(lambda X: 0.6 * X[:, 0]))


def test_what_parameters_and_fields_make_together_is_looked_at_when_one_changes() -> None:
    weight, weights = sa.Parameter("g1", 0.3), sa.Field([0.3, 0.5])
    _, problem = prony_neo_hooke(g1=weight, g2=weights)
    problem.solve()
    weight.value = 0.6
    with pytest.raises(sa.ParameterError, match=r"g1 = 0\.6, g2 = 0\.5, is 1\.1 in cell 1"):
        problem.solve()
    weight.value, weights.values = 0.3, [0.8, 0.5]
    with pytest.raises(sa.ParameterError, match=r"g1 = 0\.3, g2 = 0\.8, is 1\.1 in cell 0"):
        problem.solve()
    _, problem = prony_neo_hooke(g1=weight, g2=sa.Field(lambda X: 0.3 * X[:, 0]))
    problem.solve()
    weight.value = 0.6
    with pytest.raises(sa.ParameterError, match=r"g2 = 0\.45, is 1\.05 in cell 1"):
        problem.solve()


def test_fields_of_a_potential_are_followed_and_watched() -> None:
    """A second law beside that of the body, with a modulus for each cell."""
    field, found = sa.Field(np.full(8, 0.5)), []
    for values in (field, sa.Field(np.full(8, 2.0))):
        system, _ = pulled(1.0)
        beside = sa.BodyPotential(neo_hooke(), system.bodies[0], mu=values, lam=0.0)
        system = sa.System(system.bodies[0], terms=[*system.terms, beside])
        problem = sa.StaticProblem(system)
        problem.solve()
        found.append((system, problem))
    (system, problem), (other, _) = found
    field.values = np.full(8, 2.0)
    problem.solve()
    assert np.abs(system.state - other.state).max() < 1e-9
    field.values = [2.0, 2.0, -1.0, 2.0, 2.0, 2.0, 2.0, 2.0]
    with pytest.raises(sa.ParameterError, match=r"mu of neo_hooke on 'body' is -1 in cell 2"):
        problem.solve()


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_number_that_is_none_is_named_with_its_cell(wrong: float) -> None:
    with pytest.raises(sa.ParameterError, match=f"number 1 is {wrong}"):
        sa.Field([1.0, wrong])
    field = sa.Field([1.0, 2.0])
    with pytest.raises(sa.ParameterError, match=f"number 0 is {wrong}"):
        field.values = [wrong, 2.0]
    assert field.values.tolist() == [1.0, 2.0]
