# SPDX-License-Identifier: BSD-3-Clause
"""Printed stresses mean the same as the evaluated ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp

import symancf as sa
from symancf import elements, energies
from symancf.errors import KinematicsError
from symancf.laws import energy_equation, stress_equations
from tests.refusals import refused
from tests.stresses import solid_stress

F = np.array([[1.1, 0.2, -0.05], [0.03, 0.95, 0.1], [0.0, -0.08, 1.02]])
VALUES = {"C10": 0.5, "C20": -0.05, "C30": 0.01, "k": 100.0, "mu": 2.0, "lam": 3.0}
VALUES |= {"E": 1e3, "nu": 0.3}


def mooney(J: Any, I2: Any, *, mu: Any, k: Any) -> Any:
    return mu * (I2 * J ** sp.Rational(-4, 3) - 3) + k * (J - 1) ** 2


def of_tensors(C: Any, F: Any, *, mu: Any) -> Any:
    return mu * (C[0, 1] ** 2 + C[0, 0] * C[2, 2]) + mu * F[0, 1] * F[2, 1]


@pytest.mark.parametrize(
    "energy",
    [energies.yeoh(), energies.neo_hooke(), energies.saint_venant_kirchhoff(), mooney, of_tensors],
    ids=lambda e: e.__name__,
)
def test_printed_piola_stress_is_the_evaluated_one(energy: Any) -> None:
    equation, *definitions = stress_equations(elements.hex8_plain, energy)
    C = F.T @ F
    scalars = {"J": np.linalg.det(F), "I1": np.trace(C)}
    scalars["I2"] = (np.trace(C) ** 2 - np.trace(C @ C)) / 2
    expression = equation.rhs.subs([(d.lhs, d.rhs) for d in reversed(definitions)]).subs(
        {sp.MatrixSymbol("F", 3, 3): sp.Matrix(F), sp.MatrixSymbol("C", 3, 3): sp.Matrix(C)}
    )
    numbers = {**scalars, **VALUES}
    for i in range(3):
        for k in range(3):
            numbers |= {f"C{i + 1}{k + 1}": C[i, k], f"F{i + 1}{k + 1}": F[i, k]}
            numbers[f"E_gl{i + 1}{k + 1}"] = (C[i, k] - (i == k)) / 2
    expression = sp.Matrix(expression.doit())
    at = {s: numbers[s.name] for s in expression.free_symbols}
    printed = np.array(expression.subs(at).evalf(), dtype=float)
    known = solid_stress(energy, F - np.eye(3), VALUES).P
    np.testing.assert_allclose(printed, known, rtol=1e-10, atol=1e-10 * np.abs(known).max())


def test_yeoh_in_latex() -> None:
    equation = energy_equation(elements.ancf_plate, energies.yeoh())
    assert sp.latex(equation).startswith(r"W = C_{10}")
    stress, y = stress_equations(elements.ancf_plate, energies.yeoh())
    text = sp.latex(stress)
    assert r"J k \left(J - 1\right)" in text
    assert r"\left(F^{T}\right)^{-1}" in text
    assert r"\left(C_{10} + 2 C_{20} y + 3 C_{30} y^{2}\right)" in text
    assert sp.latex(y) == r"y = \frac{I_{1}}{J^{\frac{2}{3}}} - 3"


def test_resultants_of_a_cable_and_a_thin_plate() -> None:
    N, M = stress_equations(elements.ancf_cable, energies.cable())
    EA, EI, epsilon, kappa = sp.symbols("EA EI epsilon kappa", real=True)
    assert sp.Eq(sp.Symbol("N"), EA * epsilon) == N
    assert sp.Eq(sp.Symbol("M"), EI * kappa) == M
    n, m = stress_equations(elements.ancf_thin_plate, energies.kirchhoff())
    E, nu, h = sp.symbols("E nu thickness", real=True)
    E12 = sp.Symbol("E_gl12", real=True)
    assert sp.simplify(n.rhs[0, 1] - E * h / (1 + nu) * E12) == 0
    k11, k22 = sp.symbols("kappa11 kappa22", real=True)
    D = E * h**3 / (12 * (1 - nu**2))
    assert sp.simplify(m.rhs[0, 0] - D * (k11 + nu * k22)) == 0


def test_an_elastic_foundation() -> None:
    def foundation(u: Any, *, k: Any) -> Any:
        return k / 2 * u.dot(u)

    (f,) = stress_equations(elements.quad4, foundation)
    assert f.rhs[2] == sp.Symbol("k", real=True) * sp.Symbol("u3", real=True)
    assert len(stress_equations(elements.hex8_plain, foundation)) == 2


def test_a_wrong_pairing_is_told() -> None:
    with refused(KinematicsError, asked="epsilon", possible=elements.hex8_plain.quantities):
        stress_equations(elements.hex8_plain, energies.cable())


def test_a_law_with_memory_or_unknowns_of_its_own_is_shown() -> None:
    """A notebook shows the energy of a body, also where it asks for more than it is given."""

    def fading(J: Any, *, a: Any, k: Any) -> Any:
        return sa.remember(k * (J - 1) ** 2, a=a, stored=0)

    def mixed(J: Any, *, p: Any, k: Any) -> Any:
        return p * (J - 1) - p**2 / (2 * k)

    region = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))["body"]
    for law, formula in (
        (sa.memory(a=0)(fading), r"W = k \left(J - 1\right)^{2}"),
        (sa.local(p=0)(mixed), r"W = p \left(J - 1\right) - \frac{p^{2}}{2 k}"),
    ):
        assert sa.Body(region, elements.hex8_plain, law, k=1.0).formulas() == [formula]
