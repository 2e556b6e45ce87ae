# SPDX-License-Identifier: BSD-3-Clause
"""`sa.check` of laws, terms and contact laws: no alarm on sound ones, a witness against others."""

from __future__ import annotations

import random
import warnings
from typing import Any

import numpy as np
import pytest
import sympy as sp

import symancf as sa
from symancf import energies
from symancf.laws.properties import sample_of
from tests.campaign import laws_of_the_literature, mutants
from tests.refusals import refused

FIBRES = [(0.8, 0.6, 0.0), (0.8, -0.6, 0.0)]
STIFF = dict(E1=10.0, E2=2.0, E3=1.0, nu12=0.3, nu13=0.2, nu23=0.1, G12=0.5, G13=0.4, G23=0.3)
METAL = dict(E=100.0, nu=0.3, yield_stress=1.0, hardening=1.0)
CATALOGUE: dict[str, tuple[Any, dict[str, float]]] = {
    "arruda_boyce": (energies.arruda_boyce(), {}),
    "cable": (energies.cable(), {}),
    "cable green": (energies.cable(strain="green", curvature="geometric"), {}),
    "extended_tube": (energies.extended_tube(), {}),
    "fung": (energies.fung(), {}),
    "gent": (energies.gent(), {}),
    "hencky": (energies.hencky(), {}),
    "holzapfel_gasser_ogden": (energies.holzapfel_gasser_ogden(fibres=FIBRES), {}),
    "kirchhoff": (energies.kirchhoff(), {}),
    "mooney_rivlin": (energies.mooney_rivlin(), {}),
    "neo_hooke": (energies.neo_hooke(), {}),
    "ogden": (energies.ogden(terms=2), {}),
    "orthotropic": (energies.orthotropic(), STIFF),
    "rod": (energies.rod(), dict(y_shear=0.1, z_shear=0.2, GA23=0.1)),
    "saint_venant_kirchhoff": (energies.saint_venant_kirchhoff(), {}),
    "split_beam": (energies.split_beam(), {}),
    "yeoh": (energies.yeoh(), {}),
    "yeoh_raw": (energies.yeoh_raw(), {}),
    "ogden_roxburgh": (energies.ogden_roxburgh(energies.yeoh(), r=1.5, m=0.05, beta=0.1), {}),
    "prony": (energies.prony(energies.ogden(terms=1), g=(0.3,), tau=(0.1,)), {}),
}


@pytest.mark.parametrize("name", CATALOGUE)
def test_no_alarm_on_the_catalogue(name: str) -> None:
    law, values = CATALOGUE[name]
    found = sa.check(law, **values)
    assert found.passed, str(found)
    assert found["frame indifference"].verdict == "proof"


PLAIN = dict(c=0.3, d=0.7)


@pytest.mark.parametrize("equal", [False, True])
def test_stress_and_tangent_are_derivatives_of_the_energy(equal: bool) -> None:
    def law(  # every quantity
        F: Any, H: Any, C: Any, E_gl: Any, J: Any, I1: Any, I2: Any, *, c: Any, d: Any
    ) -> Any:
        return c * (C[0, 1] ** 2 + H[0, 2] ** 3 + E_gl[0, 0] ** 2 * J + I2 * F[2, 1]) + d * I1 * J

    def stretches(lambda1: Any, lambda2: Any, lambda3: Any, *, c: Any, d: Any) -> Any:
        logs = [sp.log(x) for x in (lambda1, lambda2, lambda3)]
        return c * sum(x**2 for x in logs) + d * sum(x**4 for x in logs) * lambda1 * lambda2 * (
            lambda3
        )

    F = np.eye(3) + 0.2 * np.random.default_rng(3).standard_normal((4, 3, 3))
    if equal:
        F[0], F[1] = np.eye(3), np.diag([1.3, 1.3, 0.8])
    h = 1e-5
    for one in (law, stretches):
        energy = sample_of(one, PLAIN).energy
        P, A = np.zeros((4, 9)), np.zeros((4, 9, 9))
        for k in range(9):
            d = h * np.eye(9)[k].reshape(3, 3)
            P[:, k] = (energy.energy(F + d) - energy.energy(F - d)) / (2 * h)
            A[:, :, k] = (energy.stress(F + d) - energy.stress(F - d)).reshape(4, 9) / (2 * h)
        np.testing.assert_allclose(energy.stress(F).reshape(4, 9), P, atol=1e-8)
        np.testing.assert_allclose(energy.tangent(F), A, atol=1e-7)


def _yeoh(J: Any, y: Any, mu: Any, k: Any) -> Any:
    return mu / 2 * y + k / 2 * (J - 1) ** 2


def _frame(J: Any, F: Any, *, mu: Any, k: Any) -> Any:
    return _yeoh(J, (F[0, 0] - 1) ** 2 + F[0, 1] ** 2 + F[1, 2] ** 2, mu, k)


def _no_det(J: Any, I1: Any, *, mu: Any, k: Any) -> Any:
    return _yeoh(J, I1 - 3, mu, k)


def _soft(J: Any, I1: Any, *, mu: Any, k: Any) -> Any:
    return _yeoh(J, 3 - J ** sp.Rational(-2, 3) * I1, mu, k)


@energies.moduli("isotropic")
def _fibre(J: Any, I1: Any, E_gl: Any, *, mu: Any, k: Any) -> Any:
    return _yeoh(J, J ** sp.Rational(-2, 3) * I1 - 3 + E_gl[0, 0] ** 2, mu, k)


@energies.moduli("isotropic", mu=lambda mu: mu)
def _half(J: Any, I1: Any, *, mu: Any, k: Any) -> Any:
    return _yeoh(J, (J ** sp.Rational(-2, 3) * I1 - 3) / 2, mu, k)


def _no_modulus(J: Any, I1: Any, *, mu: Any) -> Any:
    return mu / 2 * (J ** sp.Rational(-2, 3) * I1 - 3) + (J - 1) ** 2 / 2


def _bands(J: Any, I1: Any, *, mu: Any, k: Any) -> Any:
    y = J ** sp.Rational(-2, 3) * I1 - 3
    return _yeoh(J, y - 3 * y**2, mu, k)


@sa.memory(largest=0)
def _gains(J: Any, I1: Any, *, mu: Any, k: Any, largest: Any) -> Any:
    W = _yeoh(J, J ** sp.Rational(-2, 3) * I1 - 3, mu, k)
    after = sp.Max(largest, W)
    return sa.remember(W * (1 + 10 * largest / mu), stored=W, largest=after)


def _round_off(J: Any, I1: Any, *, mu: Any, k: Any) -> Any:
    y = J ** sp.Rational(-2, 3) * I1 - 3
    return _yeoh(J, sp.sqrt(1 + y + y**2) - 1 + y / 2, mu, k)


WRONG = {
    "frame indifference": _frame,
    "stress-free rest": _no_det,
    "stability at rest": _soft,
    "material symmetry": _fibre,
    "moduli at small strain": _half,
    "units": _no_modulus,
    "rank-one convexity": _bands,
    "passivity": _gains,
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named_with_a_witness(name: str) -> None:
    values = {"mu": 1.0} | ({} if name == "units" else {"k": 2.0})
    found = sa.check(WRONG[name], stretches=(0.8, 1.25), **values)
    assert name in [p.name for p in found.violations], str(found)
    assert found[name].witness
    assert "VIOLATED" in str(found)


def test_a_law_of_f_that_does_not_turn_is_proved_by_its_torque() -> None:
    def of_f(F: Any, *, mu: Any, k: Any) -> Any:
        J = F.det()
        return mu / 2 * ((F.T * F).trace() - 3) - mu * (J - 1) + k / 2 * (J - 1) ** 2

    found = sa.check(of_f, mu=1.0, k=5.0)["frame indifference"]
    assert (found.verdict, found.note) == ("proof", "P F^T is symmetric")


def test_a_witness_shows_it() -> None:
    found = sa.check(_frame, mu=1.0, k=2.0)["frame indifference"]
    F, Q = found.witness["F"], found.witness["Q"]
    np.testing.assert_allclose(Q @ Q.T, np.eye(3), atol=1e-14)

    def W(F: Any) -> float:
        return float(_frame(np.linalg.det(F), F, mu=1.0, k=2.0))

    assert abs(W(Q @ F) - W(F)) > 1e-6 * abs(W(F))
    bands = sa.check(_bands, mu=1.0, k=2.0, stretches=(0.8, 1.25))["rank-one convexity"].witness
    energy = sample_of(_bands, {"mu": 1.0, "k": 2.0}).energy
    A = energy.tangent(bands["F"][None]).reshape(3, 3, 3, 3)
    acoustic = np.einsum("iLjM,L,M->ij", A, bands["N"], bands["N"])
    assert np.linalg.eigvalsh(acoustic)[0] <= 0.0


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e12])
def test_verdicts_do_not_depend_on_the_unit_of_stress(scale: float) -> None:
    assert sa.check(energies.yeoh(), C10=scale, C20=0.1 * scale, C30=0.0, k=50 * scale).passed
    assert not sa.check(_no_det, mu=scale, k=2 * scale).passed


def test_where_convexity_is_lost_is_told_and_a_fault_where_it_is_asked_for() -> None:
    law = energies.saint_venant_kirchhoff()
    wide = sample_of(law, {}, (0.4, 2.5))
    assert not sa.check(law, stretches=wide.stretches).passed
    found = sa.check(energies.orthotropic(), **STIFF)["rank-one convexity"]
    assert (found.verdict, found.holds) == ("limit", True)
    assert {"F", "N"} <= found.witness.keys()


def test_units_of_parameters_are_inferred() -> None:
    found = sa.check(energies.gent())["units"]
    assert found.note == "mu [Pa], Jm [-], k [Pa]"
    assert "EI [N m^2]" in sa.check(energies.cable())["units"].note
    assert "tau1 [s]" in sa.check(CATALOGUE["prony"][0])["units"].note


def test_a_system_tells_of_a_law_that_depends_on_the_frame() -> None:
    def objective(F: Any, J: Any, *, mu: Any, k: Any) -> Any:
        return mu / 2 * ((F.T * F).trace() - 3 - 2 * sp.log(J)) + k / 2 * (J - 1) ** 2

    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    for law, is_told in ((_frame, True), (objective, False)):
        body = sa.Body(mesh["body"], sa.elements.hex8_plain, law, mu=1.0, k=2.0)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            sa.StaticProblem(sa.System(body, terms=[sa.fix(body["x0"])])).solve()
        assert any("depends on the frame" in str(w.message) for w in caught) == is_told


def _lost(J: Any, I1: Any, *, mu: Any, k: Any) -> Any:
    return mu / 2 * (I1 - 3 - 2 * sp.log(J)) + (J - 1) ** 2 + k * (J - 1) ** 2


def _of_numbers(J: Any, I1: Any) -> Any:
    return (I1 - 3 - 2 * sp.log(J)) / 2 + (J - 1) ** 2


def _stretch_and_bend(epsilon: Any, kappa: Any, *, EA: Any, EI: Any) -> Any:
    return EA * (epsilon**2 + kappa**2) / 2 + EI * kappa**2


def _modulus_as_number(J: Any, I1: Any, *, mu: Any) -> Any:
    return mu / 2 * (I1 - 3 - 2 * sp.log(J)) + 20.0 * (J - 1) ** 2


def _cable(epsilon: Any, kappa: Any, *, EA: Any, EI: Any) -> Any:
    return EA * epsilon**2 / 2 + EI * kappa**2 / 2


@pytest.mark.parametrize(
    ("law", "names", "sum_of_units"),
    [
        (_lost, ("mu", "k"), "(J - 1)**2"),
        (_modulus_as_number, ("mu",), None),
        (_of_numbers, (), None),
        (_stretch_and_bend, ("EA", "EI"), "epsilon**2 + kappa**2"),
        (_cable, ("EA", "EI"), None),
    ],
)
def test_a_system_tells_of_a_law_that_adds_units(
    law: Any, names: tuple[str, ...], sum_of_units: str | None
) -> None:
    if "EA" in names:
        mesh, element = sa.Mesh.box((1.0,), (2,)), sa.elements.ancf_cable
    else:
        mesh, element = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1)), sa.elements.hex8_plain
    body = sa.Body(mesh["body"], element, law, **dict.fromkeys(names, 1.0))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sa.StaticProblem(sa.System(body, terms=[sa.fix(body["x0"])])).solve()
    told = [str(w.message) for w in caught if "no energy density" in str(w.message)]
    assert len(told) == (sum_of_units is not None)
    assert all(sum_of_units in text and law.__name__ in text for text in told)


OF_THE_LITERATURE = [
    "yeoh_1990",
    "gent_thomas",
    "blatz_ko",
    "holzapfel_2000",
    "murnaghan",
    "tube_model",
]


@pytest.mark.parametrize("name", OF_THE_LITERATURE)
def test_no_alarm_on_laws_of_the_literature(name: str) -> None:
    """All of them are in the campaign."""
    law, values = laws_of_the_literature.LAWS[name]
    assert sa.check(law, **values).passed


def test_mutants_of_the_catalogue_are_named() -> None:
    found = mutants.run(2026, 10)
    assert found["named"] == found["judged"] > 7


def test_moduli_that_agree_at_the_numbers_alone_are_not_proved() -> None:
    """With E3 = 1 a wrong exponent of E3 leaves them; SymPy looks for a proof without end."""
    mutant = mutants._mutated("orthotropic", "exponent", random.Random(10))
    assert mutant is not None
    assert mutant.what == "1/E3 -> E3**(-2)"
    assert mutants.verdict(mutant)[0] == "named"


# ---- terms -----------------------------------------------------------------------------------
def _ends() -> tuple[Any, Any]:
    size = (0.1, 0.1, 0.1)
    a = sa.RigidBody.box(size, position=(0.0, 0.0, 0.0), rho=1000.0, name="a")
    b = sa.RigidBody.box(size, position=(0.2, 0.0, 0.0), rho=1000.0, name="b")
    return a.at((0.1, 0.0, 0.0)), b.at((-0.1, 0.0, 0.0))


def test_forces_of_joints_and_springs_are_in_balance() -> None:
    a, b = _ends()
    for joint in (
        "spherical",
        "revolute",
        "cylindrical",
        "prismatic",
        "universal",
        "rigid",
        "weld",
    ):
        axis = {"axis": (0, 1, 0)} if joint in ("revolute", "cylindrical", "prismatic") else {}
        found = sa.check(getattr(sa.joints, joint)(a, b, **axis))
        assert found.passed, str(found)
        assert found["force and moment"].verdict == "samples"
    spring = sa.Potential(
        lambda r_a, r_b, *, k, L: k * ((r_a - r_b).norm() - L) ** 2, *_ends(), k=3.0, L=0.1
    )
    assert sa.check(spring).passed
    assert sa.check(spring)["units"].note == "k [N/m], L [m]"


def test_a_force_without_its_reaction_is_named() -> None:
    wrong = sa.Potential(lambda r_a, r_b, *, k: k * (r_a - 2 * r_b).dot(r_a), *_ends(), k=1.0)
    found = sa.check(wrong)["force and moment"]
    assert found.verdict == "violation"
    assert "force" in found.note
    assert {"u_a1", "u_b3"} <= found.witness.keys()


def test_a_damper_that_drives_is_named() -> None:
    def dashpot(v_a: Any, v_b: Any, *, c: Any) -> Any:
        return {v_a - v_b: -c * (v_a - v_b)}

    for c, holds in ((1.0, True), (-1.0, False)):
        term = sa.VirtualWork(dashpot, *_ends(), c=c, dissipation=True)
        assert sa.check(term)["passivity"].holds == holds


# ---- contact ---------------------------------------------------------------------------------
def _penalty(g: Any, *, k: Any) -> Any:
    return k / 2 * sp.Max(-g, 0) ** 2


def _sticky(g: Any, *, k: Any, a: Any) -> Any:
    return k / 2 * sp.Max(-g, 0) ** 2 + a * g**2 * sp.exp(-((1e4 * g) ** 2))


def _weakening(v: Any, *, a: Any, b: Any, v0: Any) -> Any:
    return a - b * sp.tanh(v / v0)


def test_laws_of_contact_press_and_friction_takes_energy() -> None:
    assert sa.check(_penalty, k=1e6).passed
    assert not sa.check(_sticky, k=1.0, a=1e3)["no tension"].holds
    assert sa.check(_weakening, a=0.4, b=0.1, v0=0.01).passed
    found = sa.check(_weakening, a=0.4, b=0.5, v0=0.01)["passivity"]
    assert not found.holds
    assert found.witness["v"] > 0.0


# ---- mistakes --------------------------------------------------------------------------------
def test_what_cannot_be_checked_is_refused() -> None:
    with refused(sa.ParameterError, asked="what"):
        sa.check(3.0)
    with refused(sa.ParameterError, asked="mu"):
        sa.check(energies.neo_hooke(), mu=-1.0)
    with refused(sa.ParameterError, asked="EA"):
        sa.check(energies.cable(), EA=-1.0)
    with refused(sa.ParameterError, asked="nu"):
        sa.check(energies.neo_hooke(), nu=0.3)
    with refused(sa.ParameterError, asked="stretches"):
        sa.check(energies.neo_hooke(), stretches=(1.2, 0.8))
    with refused(sa.KinematicsError, asked="_spring"):
        sa.check(_spring)
    with refused(sa.ParameterError, asked="beauty"):
        sa.check(energies.neo_hooke())["beauty"]


def _spring(r_a: Any, r_b: Any, *, k: Any) -> Any:
    return k * (r_a - r_b).dot(r_a - r_b)
