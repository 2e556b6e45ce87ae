# SPDX-License-Identifier: BSD-3-Clause
"""Isotropic laws by two moduli: E and nu, G and nu, G and k."""

from __future__ import annotations

import math
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
G, K = E / (2 * (1 + NU)), E / (3 * (1 - 2 * NU))
PAIRS = {"E, nu": {"E": E, "nu": NU}, "G, nu": {"G": G, "nu": NU}, "G, k": {"G": G, "k": K}}

#: Law -> parameters beside two moduli.
LAWS: dict[str, dict[str, float]] = {
    "arruda_boyce": {"lambda_m": 2.0},
    "extended_tube": {"delta": 0.2, "beta": 0.4, "ratio": 0.8},
    "gent": {"Jm": 30.0},
    "hencky": {},
    "mooney_rivlin": {"ratio": 0.25},
    "neo_hooke": {},
    "saint_venant_kirchhoff": {},
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
    assert set(makers) == {*LAWS, "split_beam"}


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("name", [*LAWS, *OGDEN])
def test_moduli_at_small_strain(name: str, pair: str) -> None:
    """The second derivatives of the energy are mu = E/2(1 + nu) and k = E/3(1 - 2 nu)."""
    terms, given = OGDEN.get(name, (0, LAWS.get(name, {})))
    law = sa.energies.ogden(terms=terms) if terms else getattr(sa.energies, name)()
    law = by_moduli(law, {**PAIRS[pair], **given})
    called = evaluate_on(solid(), "solid", law)
    W = sp.Add(*called.parts.values())
    values = {sp.Symbol(p, real=True): x for p, x in {**PAIRS[pair], **given}.items()}
    mu, k = (f(called.kinematics, W).subs(values) for f in (shear_modulus, bulk_modulus))
    assert float(mu) == pytest.approx(G, rel=1e-12)
    assert float(k) == pytest.approx(K, rel=1e-12)


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
def test_other_laws_take_the_shear_modulus() -> None:
    """Laws that have E and nu themselves, and laws around a law: the same energy, exactly."""
    A, h = sp.Matrix(3, 3, sp.symbols("A:9", real=True)), sp.S(1) / 10
    gent = sa.energies.gent()
    plastic = {"plastic_strain": 0, "inverse_plastic": sp.zeros(9, 1), "yield_stress": h}
    plastic |= {"kinematic": sp.S(0), "hardening": sp.S(1)}
    of_solid = [sp.Symbol("J", positive=True), sp.Symbol("I1", positive=True)]
    laws: dict[Any, tuple[list[Any], dict[str, Any]]] = {
        sa.energies.kirchhoff(): ([A[:2, :2], A[1:, 1:]], {"thickness": h}),
        sa.energies.split_beam(): ([A], {}),
        sa.energies.j2_plasticity(): ([A, *of_solid], plastic),
        sa.energies.swollen(gent): (of_solid, {"Jm": sp.S(9), "swelling": 1 + h}),
        sa.energies.prony(gent, g=(0.5,), tau=(1.0,)): ([], {}),
    }
    pairs = [{"E": sp.S(3), "nu": sp.S(2) / 5}, {"G": sp.S(15) / 14, "k": sp.S(5)}]
    pairs.append({"G": pairs[1]["G"], "nu": pairs[0]["nu"]})
    for law, (quantities, given) in laws.items():
        assert {*pairs[1]} <= {*signature(by_moduli(law, pairs[1])).parameters}
        found = []
        for two in pairs if quantities else ():
            of_two = by_moduli(law, {**two, **given})
            default = signature(of_two).defaults
            W = of_two(*quantities, **{**default, **two, **given})
            W = getattr(W, "result", W)
            found.append(sp.Add(*W.values()) if isinstance(W, dict) else W)
        assert [sp.expand(W - found[0]) for W in found] == [0] * len(found)


@pytest.mark.collective(rows=0)
def test_an_infinite_bulk_modulus() -> None:
    """G with k = inf: a cube that keeps its volume, as of its own constants."""
    mesh, found = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1), cell="hexahedron27"), []
    constants: list[dict[str, Any]] = [{"G": G, "k": math.inf}, {"mu": G, "lam": math.inf}]
    for given in constants:
        law = sa.energies.neo_hooke()
        body = sa.Body(mesh["body"], sa.elements.hex27, law, pressure="discontinuous", **given)
        fixed = [sa.fix(body[f"{x}0"], dofs=x) for x in "xyz"]
        system = sa.System(body, terms=[*fixed, sa.traction(body["x1"], (0.3, 0.0, 0.0))])
        sa.StaticProblem(system).solve()
        found.append(system.displacement(body["x1"])[:, 0].mean())
    assert found[0] == pytest.approx(found[1], rel=1e-10)


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
    with refused(sa.ParameterError, asked="G"):
        sa.Body(mesh, element, law, E=E, nu=NU, G=G)
    with refused(sa.ParameterError, asked="G", given=-1.0):
        sa.Body(mesh, element, law, G=-1.0, k=1.0)
    with refused(sa.ParameterError, asked="ratio2"):
        sa.Body(mesh, element, sa.energies.ogden(terms=2), E=E, nu=NU, alpha1=2.0, alpha2=-2.0)
    with refused(sa.ParameterError, asked="ratio"):
        sa.Body(mesh, element, sa.energies.mooney_rivlin(), E=E, nu=NU)


def test_a_shear_modulus_of_several_constants_is_positive() -> None:
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))["body"]
    rubber, element = sa.energies.mooney_rivlin(), sa.elements.hex8_plain
    sa.Body(mesh, element, rubber, C10=1.0, C01=-0.5, k=K)
    with refused(sa.ParameterError, asked="C10 + C01", given=-0.5):
        sa.Body(mesh, element, rubber, C10=1.0, C01=-1.5, k=K)
    with refused(sa.ParameterError, asked="C10"):  # infinite
        sa.Body(mesh, element, rubber, E=E, nu=NU, ratio=-1.0)
    with refused(sa.ParameterError, asked="half of the sum of mu alpha", given=-1.0):
        sa.Body(mesh, element, sa.energies.ogden(terms=1), mu1=1.0, alpha1=-2.0, k=K)


def test_layers_have_the_domains_of_their_laws() -> None:
    mesh = sa.Mesh.box((1.0, 1.0), (2, 1))["body"]
    law, series = sa.energies.mooney_rivlin(), sa.energies.prony
    with refused(sa.ParameterError, asked="C10 + C01"):
        sa.Layers([(law, 0.1, 0.0, {"C10": 1.0, "C01": -1.5, "k": K})])
    with refused(sa.ParameterError, asked="E", given=-1.0):
        sa.Layers([(sa.energies.saint_venant_kirchhoff(), 0.1, 0.0, {"E": -1.0})])
    ratio = sa.Parameter("ratio", -1.0)
    layers = sa.Layers([(law, 0.1, 0.0, {"E": E, "nu": NU, "ratio": ratio})])
    with refused(sa.ParameterError, asked="C10 of layer 1"):
        sa.Body(mesh, sa.elements.ancf_thin_plate, layers)
    relaxing = series(sa.energies.neo_hooke(), g=(0.3, 0.3), tau=(1.0, 2.0))
    weight = sa.Parameter("g1", 0.8)
    layers = sa.Layers([(relaxing, 0.1, 0.0, {"g1": weight}), (law, 0.1, 0.0, {"C10": 1.0})])
    others = {"mu": 1.0, "lam": 2.0, "C01": 0.1, "k": K}
    with refused(sa.ParameterError, asked="the sum of g of layer 1"):
        sa.Body(mesh, sa.elements.ancf_plate, layers, volumetric="full", **others)


def test_constants_that_follow_have_their_domains() -> None:
    """The shear modulus of an extended tube is Gc (1 - 2 delta^2) + Ge: Gc would be negative."""
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))["body"]
    law, element = sa.energies.extended_tube(), sa.elements.hex8_plain
    others = {"delta": 0.9, "beta": 0.3, "ratio": 0.1}
    with refused(sa.ParameterError, asked="Gc"):
        sa.Body(mesh, element, law, G=G, k=K, **others)
    delta = sa.Parameter("delta", 0.2)
    body = sa.Body(mesh, element, law, E=E, nu=NU, **{**others, "delta": delta})
    watched = body._uniform_values()["delta"]
    assert watched(0.0) == 0.2
    delta.value = 0.9
    with refused(sa.ParameterError, asked="Gc"):
        watched(0.0)


def test_shares_of_a_series_sum_to_less_than_one() -> None:
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))["body"]
    law = sa.energies.prony(sa.energies.yeoh(), g=(0.3, 0.2), tau=(1.0, 2.0))
    given = {"G": G, "k": K, "C20": 0.0, "C30": 0.0}
    sa.Body(mesh, sa.elements.hex8_plain, law, **given, g1=0.6, g2=0.3)
    with refused(sa.ParameterError, asked="the sum of g"):
        sa.Body(mesh, sa.elements.hex8_plain, law, **given, g1=0.6, g2=0.6)
