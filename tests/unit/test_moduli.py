# SPDX-License-Identifier: BSD-3-Clause
"""Isotropic laws by Young's modulus and Poisson's ratio."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp

import symancf as sa
from symancf.kinematics import solid
from symancf.kinematics.moduli import bulk_modulus, by_moduli, constants_of, shear_modulus
from symancf.kinematics.naming import signature
from symancf.laws.evaluate import evaluate_on
from tests.refusals import refused

pytestmark = pytest.mark.collective
E, NU = 3.0, 0.4

#: Law -> parameters beside E and nu.
LAWS: dict[str, dict[str, float]] = {
    "arruda_boyce": {"lambda_m": 2.0},
    "extended_tube": {"delta": 0.2, "beta": 0.4, "ratio": 0.8},
    "gent": {"Jm": 30.0},
    "hencky": {},
    "mooney_rivlin": {"ratio": 0.25},
    "neo_hooke": {},
    "yeoh": {"C20": 0.1, "C30": 0.02},
}

#: The same of Ogden's law, by its number of terms.
OGDEN: dict[str, tuple[int, dict[str, float]]] = {
    "one term": (1, {"alpha1": 1.7}),
    "two terms": (2, {"alpha1": 1.3, "alpha2": -2.0, "ratio2": 0.3}),
}


@pytest.mark.collective(rows=0)
def test_all_that_declare_constants_are_here() -> None:
    laws = {name: getattr(sa.energies, name) for name in sa.energies.__all__}
    makers = {name: make for name, make in laws.items() if constants_of(make)}
    assert set(makers) == set(LAWS)


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("name", [*LAWS, *OGDEN])
def test_moduli_at_small_strain(name: str) -> None:
    """The second derivatives of the energy are mu = E/2(1 + nu) and k = E/3(1 - 2 nu)."""
    terms, given = OGDEN.get(name, (0, LAWS.get(name, {})))
    law = sa.energies.ogden(terms=terms) if terms else getattr(sa.energies, name)()
    law = by_moduli(law, ("E", "nu"))
    called = evaluate_on(solid(), "solid", law)
    W = sp.Add(*called.parts.values())
    values = {sp.Symbol(p, real=True): x for p, x in {"E": E, "nu": NU, **given}.items()}
    mu, k = (f(called.kinematics, W).subs(values) for f in (shear_modulus, bulk_modulus))
    assert float(mu) == pytest.approx(E / (2 * (1 + NU)), rel=1e-12)
    assert float(k) == pytest.approx(E / (3 * (1 - 2 * NU)), rel=1e-12)


def pulled(law: Any, **given: Any) -> float:
    """Return how far a cube with free sides is pulled by a force."""
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    body = sa.Body(mesh["body"], sa.elements.hex8_plain, law, **given)
    held = [sa.fix(body[f"{x}0"], dofs=x) for x in "xyz"]
    system = sa.System(body, terms=[*held, sa.traction(body["x1"], (0.3, 0.0, 0.0))])
    sa.StaticProblem(system).solve()
    return float(system.displacement(body["x1"])[:, 0].mean())


@pytest.mark.collective(rows=0)
def test_a_body_takes_either() -> None:
    """Constants or E and nu; a Parameter or a function of time for E; laws around the law."""
    law = sa.energies.neo_hooke()
    mu, lam = E / (2 * (1 + NU)), E * NU / ((1 + NU) * (1 - 2 * NU))
    right = pulled(law, mu=mu, lam=lam)
    assert pulled(law, E=E, nu=NU) == pytest.approx(right, rel=1e-9)
    young = sa.Parameter("young", 2 * E)
    young.value = E
    assert pulled(law, E=young, nu=NU) == pytest.approx(right, rel=1e-9)
    assert pulled(law, E=lambda t: E, nu=NU) == pytest.approx(right, rel=1e-9)
    filled = sa.energies.ogden_roxburgh(law, r=1.5, m=0.1)
    assert pulled(filled, E=E, nu=NU) == pytest.approx(right, rel=1e-9)
    relaxing = sa.energies.prony(law, g=(0.3,), tau=(1.0,))
    assert {*signature(by_moduli(relaxing, ("E", "nu"))).parameters} == {"E", "nu", "g1", "tau1"}


@pytest.mark.collective(rows=0)
def test_layers_take_either() -> None:
    law = sa.energies.neo_hooke()
    mu, lam = E / (2 * (1 + NU)), E * NU / ((1 + NU) * (1 - 2 * NU))
    other = (law, 0.02, 0, {"mu": 1.0, "lam": 1.0})
    one, same = (
        sa.Section.laminate(sa.Layers([(law, 0.01, 0, own), other]), width=0.1).C
        for own in ({"E": E, "nu": NU}, {"mu": mu, "lam": lam})
    )
    np.testing.assert_allclose(one, same, rtol=1e-12, atol=1e-15)


@pytest.mark.collective(rows=0)
def test_refused() -> None:
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))["body"]
    law, element = sa.energies.neo_hooke(), sa.elements.hex8_plain
    with refused(sa.ParameterError, asked="mu"):
        sa.Body(mesh, element, law, E=E, nu=NU, mu=1.0)
    with refused(sa.ParameterError, asked="nu", given=0.5):
        sa.Body(mesh, element, law, E=E, nu=0.5)
    with refused(sa.ParameterError, asked="E", given=-1.0):
        sa.Body(mesh, element, law, E=-1.0, nu=0.3)
    with refused(sa.ParameterError, asked="mu"):
        sa.Body(mesh, element, law, E=E)
    with refused(sa.ParameterError, asked="ratio2"):
        sa.Body(mesh, element, sa.energies.ogden(terms=2), E=E, nu=NU, alpha1=2.0, alpha2=-2.0)
    with refused(sa.ParameterError, asked="ratio"):
        sa.Body(mesh, element, sa.energies.mooney_rivlin(), E=E, nu=NU)
