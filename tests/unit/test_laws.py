# SPDX-License-Identifier: BSD-3-Clause
"""From energies to point laws: names, parts, rules, what is refused and in which words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import sympy as sp

import symancf as sa
from symancf import elements, energies
from symancf.errors import KinematicsError, ParameterError
from symancf.kinematics.moduli import bulk_modulus, shear_modulus, split_factor
from symancf.laws import (
    body_force_laws,
    dead_load_laws,
    energy_laws,
    evaluate_energy,
    inertia_laws,
)
from symancf_codegen.stable.accuracy import function
from tests.quantities import jets, unit_cell
from tests.refusals import refused
from tests.stresses import fields_at, solid_stress

if TYPE_CHECKING:
    from collections.abc import Callable

    from symancf.elements import Element
    from symancf_codegen.declare import PointLaw, Rule

YEOH = {"C10": 0.2712e6, "C20": 0.03053e6, "C30": -401.3, "k": 1e9}
TAKEN = (*YEOH, "thickness", "rho")
FIVE = [
    elements.hex8_plain,
    elements.ancf_plate,
    elements.ancf_thin_plate,
    elements.ancf_cable,
    elements.quad4,
]


def names(symbols: Any) -> set[str]:
    return {s.name for s in symbols}


# ---- names


@pytest.mark.parametrize(
    ("element", "energy", "values", "data"),
    [
        (
            elements.hex8_plain,
            energies.cable(),
            None,
            {
                "asked": "epsilon",
                "possible": lambda found: found[:5] == ("F", "J", "I1", "I2", "C"),
            },
        ),
        (
            elements.ancf_cable,
            energies.yeoh(),
            None,
            {"asked": "J", "possible": lambda found: found[0] == "epsilon"},
        ),
        (
            elements.hex8_plain,
            lambda j: j,
            None,
            {"asked": "j", "possible": lambda found: "J" in found},
        ),
        (elements.hex8_plain, lambda J, k=1: k * J, None, {"asked": "k", "given": 1}),
        (elements.hex8_plain, lambda *args: 1, None, {"asked": "args", "given": "*args"}),
        (elements.hex8_plain, lambda J, **kw: 1, None, {"asked": "kw", "given": "**kw"}),
        (elements.hex8_plain, lambda J: None, None, {"asked": "<lambda>", "given": None}),
        (elements.hex8_plain, lambda J: "W", None, {"asked": "<lambda>", "given": "W"}),
        (elements.hex8_plain, lambda C: C, None, {"asked": "<lambda>", "given": (3, 3)}),
        (
            elements.hex8_plain,
            lambda J: J * sp.Symbol("mu"),
            None,
            {"asked": "mu", "possible": ("J",)},
        ),
        (
            elements.hex8_plain,
            lambda J: sp.sqrt(-J),
            None,
            {"asked": "<lambda>", "given": "I*sqrt(J)"},
        ),
        (elements.hex8_plain, lambda J: {"a": J, "b": None}, None, {"asked": "b", "given": None}),
        (
            elements.ancf_thin_plate,
            vars(energies)["kirchhoff"],  # not called
            None,
            {"asked": "kirchhoff", "possible": lambda found: found[:2] == ("E_gl", "kappa")},
        ),
        (
            elements.ancf_cable,
            lambda kappa: kappa**3,
            None,
            {"asked": "kappa", "possible": ("kappa**2",)},
        ),
    ],
)
def test_a_wrong_energy_is_told(
    element: Element, energy: Callable[..., Any], values: Any, data: dict[str, Any]
) -> None:
    with refused(KinematicsError, **data):
        energy_laws(element, energy, values=values)


@pytest.mark.parametrize(
    ("values", "data"),
    [
        (
            {"C10": 1, "C20": 1, "C30": 1},
            {"asked": "k", "given": ("thickness", "C10", "C20", "C30"), "possible": TAKEN},
        ),
        ({**YEOH, "kk": 1}, {"asked": "kk", "given": None, "possible": TAKEN}),
        (
            {"C10": 1, "c20": 1, "C30": 1, "k": 1},
            {"asked": "C20", "given": ("thickness", "C10", "c20", "C30", "k"), "possible": TAKEN},
        ),
        ({**YEOH, "C10": float("nan")}, {"asked": "C10", "given": math.isnan}),
        ({**YEOH, "thickness": -0.1}, {"asked": "thickness", "given": -0.1}),
        (YEOH, {"asked": "thickness", "given": tuple(YEOH), "possible": TAKEN}),
    ],
)
def test_a_wrong_parameter_is_told(values: dict[str, float], data: dict[str, Any]) -> None:
    values = {**values} if values is YEOH else {"thickness": 0.04, **values}
    region = sa.Mesh.box((1.0, 1.0), (1, 1))["body"]
    with refused(ParameterError, **data) as caught:
        sa.Body(region, elements.ancf_plate, energies.yeoh(), **values)
    assert ("Is it what you gave as 'c20'?" in str(caught.value)) == ("c20" in values)


def test_a_parameter_must_not_bear_the_name_of_a_quantity() -> None:
    with refused(ParameterError, asked="I1", given="hex8_plain"):
        energy_laws(elements.hex8_plain, lambda J, *, I1: I1 * J)


def test_density_is_taken_though_the_energy_does_not_ask_for_it() -> None:
    laws = energy_laws(
        elements.hex8_plain, energies.yeoh(), values={**YEOH, "k": 1e6, "rho": 1100.0}
    )
    assert names(p.symbol for p in laws[0][0].parameters) == {"C10", "C20", "C30", "k"}


def test_defaults_count_unless_given() -> None:
    def spring(u: sp.Matrix, *, k: Any, factor: Any = 3) -> Any:
        return factor * k * u.dot(u)

    ((law, _),) = energy_laws(elements.hex8_plain, spring, values={"k": 1.0})
    assert names(p.symbol for p in law.parameters) == {"k"}
    assert law.energy is not None
    u1, k = sp.symbols("u_value1 k", real=True)
    assert sp.diff(law.energy, u1) == 6 * k * u1
    ((law, _),) = energy_laws(elements.hex8_plain, spring, values={"k": 1.0, "factor": 2.0})
    assert names(p.symbol for p in law.parameters) == {"k", "factor"}


# ---- laws


def test_a_law_holds_what_it_needs_and_no_more() -> None:
    laws = energy_laws(elements.ancf_plate, energies.yeoh(), fields=["C10"])
    full, reduced = (law for law, _ in laws)
    assert [rule.name for _, rule in laws] == ["4x4x3", "4x4"]
    assert (full.name, reduced.name) == ("yeoh", "yeoh_volumetric_reduced")
    assert full.jets == ("xi", "eta", "zeta")
    assert names(s for s, _ in full.inner) == {f"H{i}{k}" for i in "123" for k in "123"}
    assert {"J", "I1", "y"} <= names(s for s, _ in full.lets)
    assert not {"C11", "E_gl11", "I2", "F11"} & names(s for s, _ in full.lets)
    assert "I1" not in names(s for s, _ in reduced.lets)
    kinds = {p.name: p.kind for p in full.parameters}
    assert kinds == dict.fromkeys(["C20", "C30", "k", "thickness"], "uniform") | {"C10": "cell"}
    assert full.title.endswith("y = I1/J**(2/3) - 3")
    assert [str(d) for d in full.domain] == ["J"]


def test_every_symbol_of_a_law_is_declared_before_it_is_used() -> None:
    for element, energy in [
        (elements.hex8_plain, energies.yeoh()),
        (elements.ancf_plate, energies.neo_hooke()),
        (elements.hex8_plain, energies.saint_venant_kirchhoff()),
        (elements.ancf_thin_plate, energies.kirchhoff()),
        (elements.ancf_cable, energies.cable()),
    ]:
        for law, rule in energy_laws(element, energy):
            known = names(p.symbol for p in law.parameters) | set(rule.section_symbols)
            known |= {f"{a}_{j}{i}" for a in "uR" for j in (*law.jets, "value") for i in (1, 2, 3)}
            for s, e in law.geometry:
                assert names(e.free_symbols) <= known, (law.name, s)
                known.add(s.name)
            assert names(law.measure.free_symbols) <= known
            for s, m in law.inner:
                assert names(set(m).union(*(c.free_symbols for c in m.values()))) <= known
                known.add(s.name)
            for s, e in law.lets:
                assert names(e.free_symbols) <= known, (law.name, s)
                known.add(s.name)
            assert law.energy is not None
            assert names(law.energy.free_symbols) <= known


def test_straight_cables_know_only_the_square_of_kappa() -> None:
    ((law, _),) = energy_laws(elements.ancf_cable, energies.cable())
    square = sp.Symbol("kappa_squared", positive=True)
    EI = sp.Symbol("EI", real=True)
    assert law.energy is not None
    assert sp.diff(law.energy, square) == EI / 2
    ((law, _),) = energy_laws(elements.ancf_cable, energies.cable(), curved=True)
    assert "kappa" in names(s for s, _ in law.lets)


def test_local_names_become_stages() -> None:
    def user(J: Any, I1: Any, *, mu: Any) -> Any:
        Ibar = I1 * J ** sp.Rational(-2, 3)
        y = Ibar - 3
        _hidden = y + 1
        return mu * y**2 + mu * y

    ((law, _),) = energy_laws(elements.hex8_plain, user)
    lets = dict(law.lets)
    y, mu = sp.Symbol("y", real=True), sp.Symbol("mu", real=True)
    assert law.energy == mu * y**2 + mu * y
    assert lets[y] == sp.Symbol("Ibar", real=True) - 3
    assert "_hidden" not in names(lets)


# ---- volumetric parts and quadrature


def test_volumetric_modes_and_rules() -> None:
    def rules(element: Element, energy: Any = energies.yeoh(), **options: Any) -> dict[str, str]:
        return {law.name: rule.name for law, rule in energy_laws(element, energy, **options)}

    plate, hexahedron = elements.ancf_plate, elements.hex8_plain
    assert rules(plate, volumetric="full") == {"yeoh": "4x4x3"}
    assert rules(plate, volumetric="reduced") == {
        "yeoh_deviatoric": "4x4x3",
        "yeoh_volumetric": "4x4",
    }
    assert rules(plate) == {"yeoh": "4x4x3", "yeoh_volumetric_reduced": "4x4"}
    assert rules(hexahedron) == {"yeoh": "2x2x2"}
    assert rules(hexahedron, volumetric="reduced")["yeoh_volumetric"] == "1x1x1"
    assert rules(plate, volumetric="full", quadrature="3x3x2") == {"yeoh": "3x3x2"}
    assert rules(plate, quadrature={"volumetric": "2x2"}) == {
        "yeoh_deviatoric": "4x4x3",
        "yeoh_volumetric": "2x2",
    }


@pytest.mark.parametrize(
    ("options", "data"),
    [
        (
            {"volumetric": "half"},
            {"asked": "volumetric", "given": "half", "possible": ("full", "reduced", "split")},
        ),
        (
            {"quadrature": {"bulk": "2x2"}},
            {"asked": "quadrature", "given": "bulk", "possible": ("deviatoric", "volumetric")},
        ),
        ({"quadrature": "4x4x4x4"}, {"asked": "quadrature", "given": "4x4x4x4", "possible": ()}),
    ],
)
def test_a_wrong_integration_is_told(options: dict[str, Any], data: dict[str, Any]) -> None:
    with refused(KinematicsError, **data):
        energy_laws(elements.ancf_plate, energies.yeoh(), **options)
    with refused(KinematicsError, asked="volumetric", given="split", possible=()):
        energy_laws(elements.ancf_plate, lambda J: (J - 1) ** 2, volumetric="split")


def split(energy: Any, values: dict[str, float]) -> float:
    parts = evaluate_energy(elements.ancf_plate, energy)
    factor = split_factor(parts.kinematics, parts.parts)
    return float(factor.subs({sp.Symbol(k, real=True): v for k, v in values.items()}))


@pytest.mark.parametrize("k", [1e6, 1e7, 1e9, 1e13])
def test_the_split_of_rubber(k: float) -> None:
    """k0 = lambda_bar + 2/3 mu -> 8/3 mu, with mu = 2 C10 (plane-stress limit)."""
    mu = 2 * YEOH["C10"]
    lam = k - 2 / 3 * mu
    k0 = 2 * mu * lam / (lam + 2 * mu) + 2 / 3 * mu
    found = k * split(energies.yeoh(), {**YEOH, "k": k})
    assert found == pytest.approx(k0, rel=1e-13)
    if k > 1e12:
        assert found == pytest.approx(8 / 3 * mu, rel=1e-5)


def test_the_split_of_other_energies_gives_plane_stress_bending() -> None:
    """2 mu + lambda on the full rule: E/(1 - nu^2), also where all parts have a bulk modulus."""
    E, nu = 1e6, 0.3
    mu, lam, k = E / (2 * (1 + nu)), E * nu / ((1 + nu) * (1 - 2 * nu)), E / (3 * (1 - 2 * nu))
    share = split(energies.saint_venant_kirchhoff(), {"E": E, "nu": nu})
    full = share * k + 4 / 3 * mu  # the deviatoric part has no bulk modulus: 2 mu + lambda
    assert full == pytest.approx(E / (1 - nu**2), rel=1e-13)
    share = split(energies.neo_hooke(), {"mu": mu, "lam": lam})
    assert 2 * mu + share * lam == pytest.approx(E / (1 - nu**2), rel=1e-13)


def test_the_shares_of_a_split_add_up() -> None:
    """At one strain and on one rule the split laws sum to the energy as written."""
    H = {f"H{i}{k}": 0.01 * i - 0.02 * k for i in (1, 2, 3) for k in (1, 2, 3)}
    total = {}
    for mode in ("full", "split"):
        laws = energy_laws(elements.ancf_plate, energies.yeoh(), volumetric=mode)  # type: ignore[arg-type]
        share = [(s, e) for s, e in laws[0][0].geometry if s.name == "k0_over_k"]
        total[mode] = sum(
            function((*share, *law.lets), [law.energy])({**H, **YEOH})[0] for law, _ in laws
        )
    assert total["split"] == pytest.approx(total["full"], rel=1e-13)


def test_moduli_are_the_second_derivatives_at_rest() -> None:
    parts = evaluate_energy(elements.hex8_plain, energies.neo_hooke())
    mu, lam = sp.symbols("mu lam", real=True)
    total = sp.Add(*parts.parts.values())
    assert sp.expand(shear_modulus(parts.kinematics, total) - mu) == 0
    assert sp.expand(bulk_modulus(parts.kinematics, total) - lam - sp.Rational(2, 3) * mu) == 0


# ---- mass and loads


def integrate(
    law: PointLaw, rule: Rule, element: Element, u: Any, values: dict[str, float]
) -> float:
    """Sum a law over the unit cell of the element, displaced by coefficients u."""
    R, total = unit_cell(element), 0.0
    evaluate = function((*law.geometry, *law.lets), [law.energy * law.measure])
    for point, w in zip(rule.points, rule.weights, strict=True):
        for section, v in zip(rule.section_points, rule.section_weights, strict=True):
            zeta = section[0] if len(section) else 0.0
            z = zeta * values.get("thickness", 0.0) / 2
            at: dict[str, Any] = {**values, "zeta": zeta}
            for prefix, coefficients in (("R", R), ("u", u)):
                for jet, vector in jets(element, coefficients, point, z).items():
                    at.update({f"{prefix}_{jet}{a + 1}": vector[a] for a in range(3)})
            total += w * v * float(evaluate(at)[0])
    return total


@pytest.mark.parametrize("element", FIVE, ids=lambda e: e.name)
def test_weight_and_inertia_of_a_translated_cell(element: Element) -> None:
    """A unit cell of mass m moved by a: -m g . a and m a . a/2."""
    values = {"rho": 7.0, "thickness": 0.1, "A": 0.02, "g1": 1.0, "g2": -2.0, "g3": 9.0}
    volume = {1: 0.02, 2: 0.1, 3: 8.0}[element.topology.dimension]
    a = np.array([0.3, 0.2, -0.5])
    u = np.zeros((element.size, 3))
    u[:: 1 + len(element.slopes)] = a
    ((law, rule),) = body_force_laws(element)
    weight = integrate(law, rule, element, u, values)
    assert weight == pytest.approx(-7.0 * volume * np.dot([1, -2, 9], a), rel=1e-13)
    ((law, rule),) = inertia_laws(element)
    inertia = integrate(law, rule, element, u, values)
    assert inertia == pytest.approx(7.0 * volume * a @ a / 2, rel=1e-13)
    if element.name != "hex8_plain":
        ((law, rule),) = dead_load_laws(element)
        values |= {"F1": 2.0, "F2": 3.0, "F3": 4.0, "share": 0.5}
        load = integrate(law, rule, element, u, values)
        assert load == pytest.approx(-0.5 * np.dot([2, 3, 4], a), rel=1e-13)


def test_inertia_of_a_cable_is_the_published_mass_matrix() -> None:
    """Hermite cable, P2 2.1: M/(rho A l) = 13/35, 11/210 l, 1/105 l^2, ... on l = 1."""
    element = elements.ancf_cable
    ((law, rule),) = inertia_laws(element)
    expected = np.array(
        [
            [13 / 35, 11 / 210, 9 / 70, -13 / 420],
            [11 / 210, 1 / 105, 13 / 420, -1 / 140],
            [9 / 70, 13 / 420, 13 / 35, -11 / 210],
            [-13 / 420, -1 / 140, -11 / 210, 1 / 105],
        ]
    )
    basis = np.eye(4)

    def kinetic(v: Any) -> float:
        u = np.zeros((4, 3))
        u[:, 0] = v
        return integrate(law, rule, element, u, {"rho": 2.0, "A": 0.5})

    found = [
        [kinetic(a + b) - kinetic(a) - kinetic(b) for b in basis] for a in basis
    ]  # v.M v/2 by polarisation
    np.testing.assert_allclose(found, expected, rtol=1e-12)


# ---- fields for output


def test_stress_of_a_stretched_and_bent_cable() -> None:
    """N = EA (stretch - 1), M = EI kappa at the middle of a circular arc of 0.1 rad."""
    element = elements.ancf_cable
    radius, angle, EA, EI = 2.0, 0.1, 500.0, 3.0
    R = unit_cell(element)
    s = angle * np.array([0.0, 1.0])
    r = np.zeros((4, 3))
    r[::2] = radius * np.column_stack([np.sin(s), 1 - np.cos(s), 0 * s])
    r[1::2] = radius * angle * np.column_stack([np.cos(s), np.sin(s), 0 * s])
    u, A = (jets(element, c, (0.5,)) for c in (r - R, R))
    names = ("axial_force", "bending_moment")
    values = {"EA": EA, "EI": EI}
    fields = fields_at(element, energies.cable(), {n: n for n in names}, u, A, values)
    assert float(fields["axial_force"]) == pytest.approx(EA * (radius * angle - 1), rel=1e-4)
    assert float(fields["bending_moment"]) == pytest.approx(EI * angle, rel=1e-3)


def test_stress_of_a_bent_thin_plate() -> None:
    """Pure bending kappa_11 = -k: S11 = E h k/(2 (1 - nu^2)), S22 = nu S11 at the top."""
    element, k, E, nu, h = elements.ancf_thin_plate, 0.02, 1e6, 0.3, 0.05
    R = unit_cell(element)
    r = []
    for x, y in element.topology.vertices:
        r += [[np.sin(k * x) / k, y, (np.cos(k * x) - 1) / k]]
        r += [[np.cos(k * x), 0, -np.sin(k * x)], [0, 1, 0]]
    u, A = (jets(element, c, (0.3, 0.6)) for c in (np.array(r) - R, R))
    names = ("von_mises_top", "von_mises_bottom", "bending_moment")
    values = {"E": E, "nu": nu, "thickness": h}
    fields = fields_at(element, energies.kirchhoff(), {n: n for n in names}, u, A, values)
    M = -E * h**3 / (12 * (1 - nu**2)) * k * np.diag([1.0, nu, 0.0])
    np.testing.assert_allclose(fields["bending_moment"], M, atol=1e-4 * np.abs(M).max())
    s = E * h * k / (2 * (1 - nu**2))
    expected = s * np.sqrt(1 - nu + nu**2)
    assert float(fields["von_mises_top"]) == pytest.approx(expected, rel=1e-4)
    assert float(fields["von_mises_bottom"]) == pytest.approx(expected, rel=1e-4)


def test_stress_of_a_solid_from_jets() -> None:
    """Uniaxial stretch of a hexahedron, on arrays."""
    element = elements.hex8_plain
    R = unit_cell(element)
    H = np.diag([0.3, -0.1, -0.1])
    u, A = (jets(element, c, (0.1, 0.2, 0.3)) for c in (R @ H.T, R))
    stack = {j: np.stack([v, v]) for j, v in u.items()}, {j: np.stack([v, v]) for j, v in A.items()}
    fields = fields_at(element, energies.yeoh(), {"von_mises": "von_mises"}, *stack, YEOH)
    expected = float(solid_stress(energies.yeoh(), H, YEOH).von_mises)
    assert expected > 1e5
    np.testing.assert_allclose(fields["von_mises"], [expected, expected], rtol=1e-12)
