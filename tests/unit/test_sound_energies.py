# SPDX-License-Identifier: BSD-3-Clause
"""Energies with kinks, such as cannot be compiled, and such as are not sound at rest."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import sympy as sp
from sympy import Abs, Heaviside, Max, Min, Piecewise, Rational, floor, log, sign, sqrt

import symancf as sa
from symancf.laws import energy_laws
from symancf.places.interpolation import tabulate
from tests.refusals import refused
from tests.stresses import solid_stress

CELLS = {
    sa.elements.hex8_plain: ((1.0, 1.0, 1.0), {}),
    sa.elements.ancf_plate: ((1.0, 1.0), {"thickness": 0.2}),
    sa.elements.ancf_thin_plate: ((1.0, 1.0), {}),
    sa.elements.ancf_cable: ((1.0,), {}),
}
KINKS = {
    "piecewise": lambda x: Piecewise((x**2, x > 0), (3 * x**2, True)),
    "root in a branch": lambda x: Piecewise((x ** Rational(5, 2), x > 0), (x**2, True)),
    "sign": lambda x: sign(x) * x**2,
    "step": lambda x: Heaviside(x) * x**2,
    "abs": lambda x: Abs(x) ** 3,
    "min": lambda x: Min(x, 0) ** 2,
    "five halves": lambda x: Max(x, 0) ** Rational(5, 2),
    "2.5": lambda x: Max(x, 0) ** 2.5,
    "three halves": lambda x: Max(x, 0) ** Rational(3, 2),
    "four thirds": lambda x: Max(x, 0) ** Rational(4, 3),
    "1.7": lambda x: Max(x, 0) ** 1.7,
}


def energy_on(element: Any, of: Any) -> Any:
    """An energy with a kinked function of a strain beside a smooth one."""
    if element is sa.elements.ancf_thin_plate:

        def density(E_gl: Any, kappa: Any) -> Any:
            return sum(x**2 for x in E_gl) + kappa[0, 0] ** 2 + of(E_gl[0, 0]) + of(kappa[1, 1])

    elif element is sa.elements.ancf_cable:

        def density(epsilon: Any, kappa: Any) -> Any:  # type: ignore[misc]
            return epsilon**2 + kappa**2 + of(epsilon)

    else:

        def density(J: Any, I1: Any) -> Any:  # type: ignore[misc]
            return (I1 - 3 - 2 * log(J)) / 2 + of(J - 1)

    return density


def body_of(element: Any, energy: Any, **parameters: Any) -> sa.Body:
    size, given = CELLS[element]
    mesh = sa.Mesh.box(size, (1,) * len(size))
    return sa.Body(mesh["body"], element, energy, **given, **parameters)


@pytest.mark.parametrize("element", CELLS, ids=lambda e: e.name)
def test_kinks_have_the_derivatives_of_their_branches(element: Any) -> None:
    """All in one energy: before, at and beyond the kinks, which are at rest."""
    weights = dict(zip(KINKS, range(1, 20), strict=False))

    def all_of_them(x: Any) -> Any:
        return sum(weights[name] * f(x) for name, f in KINKS.items())

    body = body_of(element, energy_on(element, all_of_them))
    system = sa.System(body)
    assembler, free = (
        system._discrete.assembler,
        np.random.default_rng(2).standard_normal(system.state.shape),
    )
    r, bend = system.reference, np.zeros(system.state.shape)
    if element is sa.elements.ancf_thin_plate:
        bend = 0.1 * free
    assert not system._discrete.residual_at(0.0 * r).any()
    for stretch in (-0.1, 0.1):
        u = stretch * r + 0.02 * free + bend
        assert system.strain_energy() == 0.0
        f, Kv = system._discrete.residual_at(u), np.zeros_like(u)
        assembler.product(u, free, Kv)
        h, df, dW = 1e-4, np.zeros_like(f), 0.0
        for step, weight in ((-2, 1), (-1, -8), (1, 8), (2, -1)):
            df += weight * system._discrete.residual_at(u + step * h * free) / (12 * h)
            system.state[:] = u + step * h * free
            dW += weight * system.strain_energy() / (12 * h)
            system.state[:] = 0.0
        assert dW == pytest.approx(f @ free, rel=1e-6)
        np.testing.assert_allclose(df, Kv, atol=2e-4 * np.abs(Kv).max())


@pytest.mark.parametrize("name", KINKS)
@pytest.mark.parametrize("stretch", [0.9, 1.0, 1.1])
def test_each_kink_gives_the_stress_of_its_branch(name: str, stretch: float) -> None:
    """Of the laws as SymPy: P11 of a dilation against SymPy's own derivative of the branch."""
    energy = energy_on(sa.elements.hex8_plain, KINKS[name])
    found = solid_stress(energy, (stretch - 1) * np.eye(3))
    s = sp.Symbol("s", positive=True)
    branch = {0.9: -1, 1.0: 0, 1.1: 1}[stretch]
    x = sp.Symbol("x", positive=True) if branch > 0 else sp.Symbol("x", negative=True)
    W = (3 * s**2 - 3 - 2 * log(s**3)) / 2 + (KINKS[name](x) if branch else 0 * x)
    expected = float(sp.diff(W.subs(x, s**3 - 1), s).subs(s, stretch)) / 3
    assert found.P[0, 0] == pytest.approx(expected, rel=1e-10, abs=1e-14)


def test_a_small_strain_keeps_its_digits_beside_a_kink() -> None:
    H = 1e-9 * np.diag([1.0, -0.5, 0.25])
    P = solid_stress(energy_on(sa.elements.hex8_plain, KINKS["piecewise"]), H).P
    expected = 2.0 * H + 2.0 * np.trace(H) * np.eye(3)
    np.testing.assert_allclose(P, expected, rtol=1e-7)


def many(operations: object) -> bool:
    """Tell whether an error is about too many operations."""
    return isinstance(operations, int) and operations > 100_000


def large(x: Any) -> Any:
    """Small as a graph, of 2^18 operations when it is written out."""
    for _ in range(18):
        x = (x + 1) * sp.sin(x)
    return x


@pytest.mark.parametrize(
    ("energy", "kind", "asked", "given"),
    [
        (lambda J: floor(J), sa.CompileError, "<lambda>", "floor(J)"),
        (lambda J: sp.Function("g")(J), sa.CompileError, "<lambda>", "g(J)"),
        (lambda J: sp.Derivative(J**2, J), sa.CompileError, "<lambda>", "Derivative(J**2, J)"),
        (lambda J: large(J), sa.CompileError, "<lambda>", many),
        (lambda J: {}, sa.KinematicsError, "<lambda>", "{}"),
    ],
)
def test_what_cannot_be_compiled_is_named(
    energy: Any, kind: type[sa.SymancfError], asked: str, given: Any
) -> None:
    with refused(kind, asked=asked, given=given):
        energy_laws(sa.elements.hex8_plain, energy)


def test_a_rule_of_a_million_points_is_refused() -> None:
    with refused(sa.KinematicsError, asked="quadrature", given="99x99x99"):
        energy_laws(sa.elements.hex8_plain, lambda J: (J - 1) ** 2, quadrature="99x99x99")


def test_a_split_part_takes_the_rule_that_is_given() -> None:
    found = energy_laws(
        sa.elements.ancf_plate,
        sa.energies.yeoh(),
        volumetric="split",
        quadrature={"volumetric": "3x3"},
    )
    rules = {law.name: rule.name for law, rule in found}
    assert rules == {"yeoh": "4x4x3", "yeoh_volumetric_reduced": "3x3"}


# ---- at rest


def test_an_energy_that_is_stressed_at_rest_is_told_once() -> None:
    def forgotten(I1: Any, *, mu: Any) -> Any:
        return mu / 2 * (I1 - 3)

    body = body_of(sa.elements.hex8_plain, forgotten, mu=1e6)
    with pytest.warns(UserWarning, match=r"stressed at rest: .* needs - mu\*log\(J\)"):
        sa.System(body)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sa.System(body)
        meant = sa.energies.stressed_at_rest(forgotten)
        sa.System(body_of(sa.elements.hex8_plain, meant, mu=1e6))


def test_an_energy_of_the_wrong_sign_is_told() -> None:
    def upside_down(J: Any, I1: Any, *, mu: Any) -> Any:
        return -mu / 2 * (I1 - 3 - 2 * log(J))

    with pytest.warns(UserWarning, match="unstable at rest"):
        sa.System(body_of(sa.elements.hex8_plain, upside_down, mu=1.0))


@pytest.mark.parametrize("of", [lambda J, I1: sqrt(I1 - 3), lambda J, I1: I1 - 3 + log(J - 2)])
def test_an_energy_that_is_not_finite_at_rest_is_an_error(of: Any) -> None:
    def density(J: Any, I1: Any) -> Any:
        return of(J, I1)

    with refused(sa.KinematicsError, asked="energy at rest", given=lambda wrong: wrong[0] == "W"):
        sa.System(body_of(sa.elements.hex8_plain, density))


# ---- values of parameters


@pytest.mark.parametrize(
    ("given", "asked", "value"),
    [
        ({"E": -1.0}, "E", -1.0),
        ({"nu": 0.5}, "nu", 0.5),
        ({"nu": 2.0}, "nu", 2.0),
        ({"rho": -1.0}, "rho", -1.0),
        ({"E": "1e6"}, "E", "1e6"),
        ({"E": True}, "E", True),
    ],
)
def test_values_out_of_their_domain_are_refused(given: Any, asked: str, value: Any) -> None:
    values = {"E": 1e6, "nu": 0.3} | given
    with refused(sa.ParameterError, asked=asked, given=value):
        body_of(sa.elements.hex8_plain, sa.energies.saint_venant_kirchhoff(), **values)


def test_a_parameter_that_leaves_its_domain_is_refused() -> None:
    nu = sa.Parameter("nu", 0.3)
    body = body_of(sa.elements.hex8_plain, sa.energies.saint_venant_kirchhoff(), E=1.0, nu=nu)
    system = sa.System(body)
    system._discrete.assembler.update(0.0)
    nu.value = 0.6
    with refused(sa.ParameterError, asked="nu", given=0.6):
        system._discrete.assembler.update(0.0)


def test_energies_of_users_declare_domains() -> None:
    @sa.energies.domains(mu=sa.energies.between(1.0, 2.0, "rubber of this kind"))
    def own(J: Any, I1: Any, *, mu: Any) -> Any:
        return mu / 2 * (I1 - 3 - 2 * log(J))

    body_of(sa.elements.hex8_plain, own, mu=1.5)
    with refused(sa.ParameterError, asked="mu", given=2.0):
        body_of(sa.elements.hex8_plain, own, mu=2.0)


@sa.energies.domains(c=sa.energies.not_negative("it would feed energy"))
def dashpot(v_a: Any, *, c: Any) -> Any:
    return {v_a: -c * v_a}


@sa.energies.domains(k=sa.energies.positive())
def spring(u_a: Any, *, k: Any) -> Any:
    return k * u_a.dot(u_a) / 2


@sa.energies.domains(eta=sa.energies.not_negative())
def newton(E_gl_rate: Any, *, eta: Any) -> Any:
    return {"E_gl": 2 * eta * E_gl_rate}


def test_functions_of_terms_have_domains() -> None:
    """Virtual work, potentials and viscous stresses; numbers at once, others when they change."""
    body = body_of(sa.elements.hex8_plain, sa.energies.neo_hooke(), mu=1.0, lam=2.0)
    node, corner = body["all"], body.at((1.0, 1.0, 1.0))
    law, rubber = sa.energies.saint_venant_kirchhoff(), sa.energies.mooney_rivlin()
    with refused(sa.ParameterError, asked="c", given=-1.0) as caught:
        sa.VirtualWork(dashpot, corner, c=-1.0)
    assert "c of virtual work 'dashpot' is -1: it must not be negative" in str(caught.value)
    with refused(sa.ParameterError, asked="c", given=-3.0) as caught:
        sa.VirtualWork(dashpot, node, c=[1.0, 2.0, -3.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    assert "at place 2" in str(caught.value)
    with refused(sa.ParameterError, asked="eta", given=-1.0) as caught:
        sa.Viscosity(body, newton, eta=-1.0)
    assert "eta of newton() of viscosity of 'body' is -1" in str(caught.value)
    with refused(sa.ParameterError, asked="nu", given=0.6):
        sa.BodyPotential(law, body, E=1.0, nu=0.6)
    with refused(sa.ParameterError, asked="C10 + C01", given=-1.0):
        sa.BodyPotential(rubber, body, C10=1.0, C01=-2.0, k=1.0)
    k = sa.Parameter("k", 0.0)  # it may be set later
    pull = sa.Potential(spring, corner, k=k)
    system = sa.System(body, terms=[pull, sa.Potential(spring, node, k=lambda t: 1.0 - t)])
    with refused(sa.ParameterError, asked="k", given=0.0):
        system._discrete.assembler.update(0.0)
    k.value = 2.0
    system._discrete.assembler.update(0.0)
    with refused(sa.ParameterError, asked="k", given=-1.0):
        system._discrete.assembler.update(2.0)


def test_expressions_that_are_nested_too_deep_are_told_in_words() -> None:
    def deep(J: Any, I1: Any) -> Any:
        y = J - 1
        for _ in range(150):
            y = sp.sin(y) + (J - 1) ** 2
        return I1 - 3 - 2 * log(J) + y**2

    with refused(
        sa.KinematicsError, asked="deep", given=lambda error: error.startswith("RecursionError")
    ):
        body_of(sa.elements.hex8_plain, deep)


def test_powers_of_matrices_that_are_too_large_are_told_in_words() -> None:
    def powers(F: Any) -> Any:
        C = F.T * F
        for _ in range(6):
            C = C * C
        return (C.trace() - 3) ** 2

    with refused(sa.CompileError, asked="powers", given=many):
        body_of(sa.elements.hex8_plain, powers)


@pytest.mark.collective
@pytest.mark.parametrize("turn", [0.0, 0.65])
def test_cable_with_an_inflection_at_a_quadrature_point(turn: float) -> None:
    """There |R' x R''| is 0, or round-off: the scalar curvature does what the signed one does."""
    found = []
    c, s = np.cos(turn), np.sin(turn)
    R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    for curvature in ("reference", "plane"):
        mesh = sa.Mesh.box((3.0,), (3,), warp=lambda X: _cubic(X[:, 0] - 1.5) @ R.T)
        energy = sa.energies.cable(curvature=curvature)
        given = {"EA": 1e4, "EI": 1.0, "rho": 1.0, "A": 1.0}
        body = sa.Body(mesh["body"], sa.elements.ancf_cable, energy, **given)
        terms = [sa.fix(body["x0"], "all"), sa.planar(body), sa.KelvinVoigt(body, eta=1.0, I=0.1)]
        system = sa.System(body, terms=[*terms, sa.force(body["x1"], R @ (0.0, 1e-3, 0.0))])
        if turn == 0.0 and system.comm.size == 1:
            on = system._discrete.binding(body).interpolation
            center = on.coefficients(on.cells, on.maps)[1]
            first, second = (
                tabulate(body.element, j, np.array([[0.5]])) @ center for j in ("xi", "xixi")
            )
            assert not np.cross(first, second).any()
        sa.StaticProblem(system).solve()
        assert sa.check(system).passed
        still = system.displacement(body["x1"])[0] @ R
        sa.DynamicProblem(system).solve(to=1.2, step=0.1)
        found.append([still, system.displacement(body["x1"])[0] @ R])
    assert np.allclose(found[0], found[1], rtol=1e-7, atol=1e-12)
    assert abs(found[0][0][1]) > 5e-3


def _cubic(x: Any) -> Any:
    return np.stack([x, 0.1 * x**3, 0.0 * x], axis=1)


def test_the_error_function_is_compiled_and_checked() -> None:
    """NumPy, which evaluates laws beside the kernels, has none."""

    def law(epsilon: Any, kappa: Any, *, c: Any) -> Any:
        return c * ((1 - sp.erfc(epsilon)) ** 2 + sp.erf(kappa**2))

    mesh = sa.Mesh.box((1.0,), (1,))
    body = sa.Body(mesh["body"], sa.elements.ancf_cable, law, c=10.0)
    system = sa.System(body, terms=[sa.fix(body["x0"]), sa.force(body["x1"], (5.0, 0.2, 0.0))])
    sa.StaticProblem(system).solve()
    assert sa.check(system, amplitude=0.02).passed
