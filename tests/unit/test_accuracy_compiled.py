# SPDX-License-Identifier: BSD-3-Clause
"""Compiled kernels keep their digits: 1000 displacements of gradient 1e-8, from nodal values.

The reference is the textbook definition in absolute positions r = R + u (F = Dr DR^-1, C = F^T F,
n = r_xi x r_eta, ...), evaluated with 60 digits at one quadrature point. There the nodal forces
are the stress times the gradients of the shape functions, and nothing averages an error away.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mpmath
import numpy as np
import pytest
import sympy as sp

from symancf import elements, energies
from symancf.laws import energy_laws
from symancf_codegen import compile_cells
from symancf_codegen.stable.accuracy import function, reverse
from tests.quantities import unit_cell

if TYPE_CHECKING:
    from collections.abc import Callable

    from symancf.elements import Element

SAMPLES = 1000
GRADIENT = 1e-8
YEOH = {"C10": 0.2712e6, "C20": 0.03053e6, "C30": -401.3, "k": 1e7}
Lets = list[tuple[sp.Symbol, sp.Expr]]


def symbol(name: str) -> sp.Symbol:
    return sp.Symbol(name, real=True)


def column(prefix: str, jet: str) -> sp.Matrix:
    return sp.Matrix([symbol(f"{prefix}_{jet}{a}") for a in (1, 2, 3)])


class Textbook:
    """Definitions in the order of a textbook, each a named expression."""

    def __init__(self, jets: tuple[str, ...]) -> None:
        self.lets: Lets = []
        self.jets = jets
        self.R = {j: column("R", j) for j in jets}
        self.r = {j: self.named(f"r_{j}", self.R[j] + column("u", j)) for j in jets}

    def named(self, name: str, value: Any) -> Any:
        if not isinstance(value, sp.MatrixBase):
            self.lets.append((symbol(name), value))
            return symbol(name)
        rows, columns = value.shape
        return sp.Matrix(
            rows, columns, lambda i, k: self.named(f"{name}_{i + 1}{k + 1}", value[i, k])
        )


def solid(energy: Callable[..., Any]) -> tuple[Textbook, sp.Expr, sp.Expr]:
    t = Textbook(("xi", "eta", "zeta"))
    J0 = sp.Matrix.hstack(*t.R.values())
    inverse = t.named("inverse", J0.adjugate() / J0.det())
    F = t.named("F", sp.Matrix.hstack(*t.r.values()) * inverse)
    J = t.named("J", F.det())
    C = t.named("C", F.T * F)
    if energy is energies.saint_venant_kirchhoff():
        E, nu = symbol("E"), symbol("nu")
        e = t.named("E_gl", (C - sp.eye(3)) / 2)
        mu, lam = E / (2 * (1 + nu)), E * nu / ((1 + nu) * (1 - 2 * nu))
        return t, lam / 2 * e.trace() ** 2 + mu * (e * e).trace(), J0.det()
    I1 = t.named("I1", C.trace())
    if energy is energies.neo_hooke():
        mu, lam, log = symbol("mu"), symbol("lam"), t.named("logJ", sp.log(J))
        return t, mu / 2 * (I1 - 3) - mu * log + lam / 2 * log**2, J0.det()
    y = t.named("y", I1 * t.named("root", sp.exp(sp.Rational(-2, 3) * sp.log(J))) - 3)
    C10, C20, C30, k = (symbol(p) for p in YEOH)
    return t, C10 * y + C20 * y**2 + C30 * y**3 + k / 2 * (J - 1) ** 2, J0.det()


def plate(_: Any) -> tuple[Textbook, sp.Expr, sp.Expr]:
    t = Textbook(("xi", "eta", "xixi", "xieta", "etaeta"))
    E, nu, h = symbol("E"), symbol("nu"), symbol("thickness")

    def forms(g: dict[str, sp.Matrix], name: str) -> tuple[sp.Matrix, sp.Matrix, Any]:
        n = t.named(f"{name}n", g["xi"].cross(g["eta"]))
        length = t.named(f"{name}length", sp.sqrt(n.dot(n)))
        T = sp.Matrix.hstack(g["xi"], g["eta"])
        b = [[g["xixi"].dot(n), g["xieta"].dot(n)], [g["xieta"].dot(n), g["etaeta"].dot(n)]]
        metric = t.named(f"{name}metric", T.T * T)
        return metric, t.named(f"{name}curvature", sp.Matrix(b) / length), length

    A, B, area = forms(t.R, "reference")
    a, b, _length = forms(t.r, "current")
    e1 = t.R["xi"] / sp.sqrt(t.R["xi"].dot(t.R["xi"]))
    normal = t.R["xi"].cross(t.R["eta"]) / area
    e2 = normal.cross(e1)
    frame = sp.Matrix(2, 2, lambda i, k: (e1, e2)[i].dot(t.R[("xi", "eta")[k]]))
    G = t.named("G", frame.adjugate() / frame.det())
    e = t.named("E_gl", G.T * ((a - A) / 2) * G)
    kappa = t.named("kappa", G.T * (b - B) * G)

    def Q(x: sp.Matrix) -> sp.Expr:
        poisson = 2 * nu * x[0, 0] * x[1, 1] + 2 * (1 - nu) * x[0, 1] * x[1, 0]
        return x[0, 0] ** 2 + x[1, 1] ** 2 + poisson

    return t, E * h / (2 * (1 - nu**2)) * (Q(e) + h**2 / 12 * Q(kappa)), area


def cable(energy: Callable[..., Any], *, straight: bool) -> tuple[Textbook, sp.Expr, sp.Expr]:
    t = Textbook(("xi", "xixi"))
    EA, EI = symbol("EA"), symbol("EI")
    length = t.named("length", sp.sqrt(t.R["xi"].dot(t.R["xi"])))
    rr = t.named("rr", t.r["xi"].dot(t.r["xi"]))
    bend = t.named("bend", t.r["xi"].cross(t.r["xixi"]))
    if energy.__name__ == "cable_green":
        strain = t.named("strain", (rr / length**2 - 1) / 2)
    else:
        strain = t.named("strain", sp.sqrt(rr) / length - 1)
    if straight:
        return t, EA / 2 * strain**2 + EI / 2 * bend.dot(bend) / rr**2 / length**2, length
    B = t.R["xi"].cross(t.R["xixi"])
    kappa = sp.sqrt(bend.dot(bend)) / (rr * length) - sp.sqrt(B.dot(B)) / length**3
    return t, EA / 2 * strain**2 + EI / 2 * t.named("kappa", kappa) ** 2, length


@dataclass(frozen=True)
class Case:
    name: str
    element: Element
    energy: Callable[..., Any]
    parameters: dict[str, float]
    textbook: Callable[..., Any]
    point: str
    options: dict[str, Any]
    shape: str = "bent"


PLATE = {"E": 1e5, "nu": 0.3, "thickness": 0.01}
CABLE = {"EA": 1e4, "EI": 1.0}
STRAIGHT = {"straight": True}
FULL: dict[str, Any] = {"volumetric": "full"}
CASES = [
    Case("yeoh hex8_plain", elements.hex8_plain, energies.yeoh(), YEOH, solid, "1x1x1", FULL),
    Case(
        "yeoh ancf_plate",
        elements.ancf_plate,
        energies.yeoh(),
        YEOH | {"thickness": 0.3},
        solid,
        "1x1x1",
        FULL,
    ),
    Case(
        "neo-Hooke",
        elements.hex8_plain,
        energies.neo_hooke(),
        {"mu": 2.0, "lam": 3.0},
        solid,
        "1x1x1",
        FULL,
    ),
    Case(
        "St Venant-Kirchhoff",
        elements.hex8_plain,
        energies.saint_venant_kirchhoff(),
        {"E": 1e3, "nu": 0.3},
        solid,
        "1x1x1",
        FULL,
    ),
    Case(
        "flat plate",
        elements.ancf_thin_plate,
        energies.kirchhoff(),
        PLATE,
        plate,
        "1x1",
        {},
        "flat",
    ),
    Case("shell", elements.ancf_thin_plate, energies.kirchhoff(), PLATE, plate, "1x1", {}),
    Case("cable", elements.ancf_cable, energies.cable(), CABLE, cable, "1", {}, "flat"),
    Case(
        "green", elements.ancf_cable, energies.cable(strain="green"), CABLE, cable, "1", {}, "flat"
    ),
    Case(
        "curved cable", elements.ancf_cable, energies.cable(), CABLE, cable, "1", {"curved": True}
    ),
]


def cells(case: Case) -> tuple[Any, Any]:
    """Return random references and displacements (SAMPLES, n, 3)."""
    generator = np.random.default_rng(11)
    R = np.repeat(unit_cell(case.element)[None], SAMPLES, axis=0)
    noise = 0.1 * generator.uniform(-1, 1, R.shape)
    if case.shape == "flat" and case.element is elements.ancf_cable:
        R = R * generator.uniform(0.5, 2, (SAMPLES, 1, 1))
    elif case.shape == "flat":
        noise[..., 2] = 0
        shear = noise[:, 1, None, :2]
        R[..., :2] += R[..., 1, None] * shear
    else:
        R = R + noise
    return R, GRADIENT * generator.uniform(-1, 1, R.shape)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_stress_and_energy_at_a_gradient_of_1e_8(case: Case) -> None:
    """Largest errors over 1000 displacements at most 1e-12 (measured: below 1e-14)."""
    element = case.element
    laws = energy_laws(
        element, case.energy, values=case.parameters, quadrature=case.point, **case.options
    )
    name = case.name.replace(" ", "_").replace("-", "_")
    kernel = compile_cells(f"accuracy_{name}", element.space, laws)
    R, u = cells(case)
    W, bad = kernel.energy(u, R, case.parameters)
    f, bad_f = kernel.residual(u, R, case.parameters)
    assert not np.any(bad)
    assert not np.any(bad_f)

    extra = {"straight": case.shape == "flat"} if case.textbook is cable else {}
    t, density, measure = case.textbook(case.energy, **extra)
    unknowns = [s for j in t.jets for s in column("u", j)]
    steps, gradient = reverse(tuple(t.lets), density, unknowns)
    exact = function(steps, [density, measure, *gradient], exact=True)
    rule = element.rule(case.point)
    tables = {
        j: element.space.tabulate(tuple(element.space.point_jets[j]), rule.points)[0, 0]
        for j in t.jets
    }
    if element.has_thickness:  # at zeta = 0 the director appears in r_zeta alone
        assert rule.section_points.tolist() == [[0.0]]
    weight = rule.weights[0] * rule.section_weights[0]
    if element.has_thickness:
        weight *= case.parameters["thickness"] / 2
    worst_energy = worst_stress = 0.0
    with mpmath.workdps(60):
        N = {j: [mpmath.mpf(float(x)) for x in table] for j, table in tables.items()}
        fixed = {k: mpmath.mpf(v) for k, v in case.parameters.items()}
        for c in range(SAMPLES):
            at = dict(fixed)
            for prefix, coefficients in (("R", R[c]), ("u", u[c])):
                for j in t.jets:
                    for a in range(3):
                        at[f"{prefix}_{j}{a + 1}"] = mpmath.fsum(
                            n * mpmath.mpf(float(x))
                            for n, x in zip(N[j], coefficients[:, a], strict=True)
                            if n
                        )
            w, measure_value, *stress = exact(at)
            scale = measure_value * mpmath.mpf(weight)
            forces = [
                scale * mpmath.fsum(N[j][i] * stress[3 * b + a] for b, j in enumerate(t.jets))
                for i in range(element.size)
                for a in range(3)
            ]
            largest = max(abs(x) for x in forces)
            errors = (abs(mpmath.mpf(x) - y) for x, y in zip(f[c].ravel(), forces, strict=True))
            worst_stress = max(worst_stress, float(max(errors) / largest))
            worst_energy = max(worst_energy, float(abs(mpmath.mpf(W[c]) / (w * scale) - 1)))
    print(f"{case.name}: stress {worst_stress:.1e}, energy {worst_energy:.1e}")
    assert worst_stress < 1e-12
    assert worst_energy < 1e-12
