# SPDX-License-Identifier: BSD-3-Clause
"""The catalogue: values and stresses of verification/benchmarks.json and closed forms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import sympy as sp

from symancf import energies
from symancf.errors import KinematicsError
from tests.refusals import refused
from tests.stresses import solid_stress

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

YEOH = {"C10": 0.2712e6, "C20": 0.03053e6, "C30": -401.3}
E, NU = 1000.0, 0.3
LAME = {"mu": E / (2 * (1 + NU)), "lam": E * NU / ((1 + NU) * (1 - 2 * NU))}


def stress(energy: Callable[..., Any], F: Any, parameters: Mapping[str, float]) -> Any:
    return solid_stress(energy, np.asarray(F, dtype=float) - np.eye(3), parameters)


@pytest.mark.parametrize(
    ("energy", "parameters", "W", "P"),
    [
        (
            energies.saint_venant_kirchhoff(),
            {"E": E, "nu": NU},
            20.45721322115385,
            [
                [176.83365384615382, 113.40961538461538, -25.823557692307695],
                [93.07221153846152, 42.61490384615376, 8.812499999999991],
                [-28.04615384615385, -2.0023076923076895, 83.2313461538461],
            ],
        ),
        (
            energies.neo_hooke(),
            LAME,
            16.62232434903335,
            [
                [106.5068821293089, 86.83816725367772, -18.453115087192693],
                [76.34297350317274, 1.8313032625855563, 9.947553197065531],
                [-21.87152278809003, 5.3592846510957335, 55.64825265101762],
            ],
        ),
        (
            energies.yeoh(),
            {"C10": 0.5, "C20": -0.05, "C30": 0.01, "k": 1000.0},
            2.396327984744654,
            [
                [67.23398258129885, -1.8847235391301396, -0.20975827401207955],
                [-13.522740473163608, 76.91704009444075, 6.056744210881068],
                [4.573471962053381, -7.630131630044025, 71.35936777223647],
            ],
        ),
    ],
    ids=["saint_venant_kirchhoff", "neo_hooke", "yeoh"],
)
def test_homogeneous_deformation(
    energy: Callable[..., Any], parameters: dict[str, float], W: float, P: list[list[float]]
) -> None:
    """E01_homogeneous_F: complex step of the definition; the given tolerance is 1e-11."""
    F = [[1.1, 0.2, -0.05], [0.03, 0.95, 0.1], [0.0, -0.08, 1.02]]
    found = stress(energy, F, parameters)
    assert float(found.energy) == pytest.approx(W, rel=1e-12)
    np.testing.assert_allclose(found.P, P, rtol=1e-12, atol=1e-12 * np.abs(P).max())


@pytest.mark.parametrize(
    ("stretches", "nominal"),
    [
        (lambda s: (s, s**-0.5, s**-0.5), (149316.5, 646862.7, 1359765.4, 3609724.4)),
        (lambda s: (s, s, s**-2), (265866.8, 1016333.6, 2163505.1, 5491638.1)),
    ],
    ids=["uniaxial", "equibiaxial"],
)
def test_incompressible_yeoh(stretches: Callable[[float], Any], nominal: tuple[float, ...]) -> None:
    """Closed forms 2 W' (s^2 - ...)/s at stretches 1.1, 1.5, 2, 3, printed to 0.1 Pa.

    At J = 1 the pressure is free: it is chosen so that the thickness carries no stress.
    """
    for s, known in zip((1.1, 1.5, 2.0, 3.0), nominal, strict=True):
        F = np.diag(stretches(s))
        P = stress(energies.yeoh(), F, {**YEOH, "k": 1.0}).P
        found = P[0, 0] - P[2, 2] * F[2, 2] / F[0, 0]
        assert found == pytest.approx(known, abs=0.06)


def test_incompressible_yeoh_in_simple_shear() -> None:
    """C04_yeoh_simple_shear: gamma -> shear stress and s11 - s22."""
    known = {0.1: (0.0998006, 0.00998006), 0.5: (0.476875, 0.2384375), 2.0: (2.32, 4.64)}
    parameters = {"C10": 0.5, "C20": -0.05, "C30": 0.01, "k": 1e3}
    for gamma, (shear, difference) in known.items():
        s = stress(energies.yeoh(), [[1, gamma, 0], [0, 1, 0], [0, 0, 1]], parameters).cauchy
        assert s[0, 1] == pytest.approx(shear, rel=1e-12)
        assert s[0, 0] - s[1, 1] == pytest.approx(difference, rel=1e-12)


@pytest.mark.parametrize(
    ("k", "lateral", "nominal", "J"),
    [
        (1000.0, 0.8166911041574146, 0.9535330091991034, 1.0004765394147856),
        (10.0, 0.8342130927967786, 0.9158311966551742, 1.0438672262903501),
    ],
)
def test_compressible_yeoh_uniaxial(k: float, lateral: float, nominal: float, J: float) -> None:
    """C05_yeoh_penalty, K1000_l1.5 and K10_l1.5: no stress across at the given lateral stretch."""
    parameters = {"C10": 0.5, "C20": -0.05, "C30": 0.01, "k": k}
    found = stress(energies.yeoh(), np.diag([1.5, lateral, lateral]), parameters)
    assert np.linalg.det(found.F) == pytest.approx(J, rel=1e-12)
    assert found.P[0, 0] == pytest.approx(nominal, rel=1e-9)
    assert abs(found.P[1, 1]) < 1e-9 * nominal * k


def test_compressible_yeoh_pure_shear() -> None:
    """C05_yeoh_penalty, K1000_l1.5: stretches (1.5, 1, thickness)."""
    thickness, P11, P22 = 0.6671329439248632, 1.0706383515222804, 0.49375768235136663
    parameters = {"C10": 0.5, "C20": -0.05, "C30": 0.01, "k": 1000.0}
    P = stress(energies.yeoh(), np.diag([1.5, 1.0, thickness]), parameters).P
    assert P[0, 0] == pytest.approx(P11, rel=1e-9)
    assert P[1, 1] == pytest.approx(P22, rel=1e-9)
    assert abs(P[2, 2]) < 1e-9 * P11 * 1000


def test_raw_yeoh_is_stressed_at_rest_and_free_at_the_shrunk_state() -> None:
    """P = 2 C10 I at F = I; free at the isotropic stretch 0.98170 for k = 1e7 Pa."""
    parameters = {**YEOH, "k": 1e7}
    rest = stress(energies.yeoh_raw(), np.eye(3), parameters)
    np.testing.assert_allclose(rest.P, 2 * YEOH["C10"] * np.eye(3), rtol=1e-12)
    shrunk = stress(energies.yeoh_raw(), 0.98170 * np.eye(3), parameters)
    assert abs(shrunk.P[0, 0]) < 1e-3 * rest.P[0, 0]
    split = stress(energies.yeoh(), np.eye(3), parameters)
    assert np.all(split.P == 0)


def test_von_mises_of_the_cauchy_stress() -> None:
    """Uniaxial stretch 1.5, k = 1e9: von Mises is the true stress, nominal over lateral^2."""
    lateral = 0.8166285
    found = stress(energies.yeoh(), np.diag([1.5, lateral, lateral]), {**YEOH, "k": 1e9})
    assert float(found.von_mises) == pytest.approx(646592.5 / lateral**2, rel=1e-3)


def test_kirchhoff_of_pure_strain_and_bending() -> None:
    """E h/(2 (1 - nu^2)) (E11^2 + h^2/12 kappa22^2): energy per area of each alone."""
    E_gl, kappa = sp.Matrix([[0.01, 0], [0, 0]]), sp.Matrix([[0, 0], [0, 0.2]])
    w = energies.kirchhoff()(E_gl, kappa, E=1e5, nu=0.3, thickness=0.01)
    assert w == pytest.approx(1e5 * 0.01 / (2 * 0.91) * (1e-4 + 1e-4 / 12 * 0.04), rel=1e-14)
    shear = sp.Matrix([[0, 0.01], [0.01, 0]])
    w = energies.kirchhoff()(shear, 0 * kappa, E=1e5, nu=0.3, thickness=0.01)
    assert w == pytest.approx(0.01 * 1e5 / (2 * 1.3) * 0.02**2 / 2, rel=1e-14)  # h G gamma^2/2


@pytest.mark.parametrize(
    ("make", "name", "quantities"),
    [
        (lambda: energies.cable(), "cable", ("epsilon", "kappa")),
        (lambda: energies.cable(strain="green"), "cable_green", ("epsilon_green", "kappa")),
        (
            lambda: energies.cable(curvature="geometric"),
            "cable_geometric",
            ("epsilon", "kappa_geometric"),
        ),
        (lambda: energies.cable(curvature="plane"), "cable_plane", ("epsilon", "kappa_plane")),
        (lambda: energies.kirchhoff(curvature="n3"), "kirchhoff_n3", ("E_gl", "kappa_n3")),
        (lambda: energies.kirchhoff(curvature="n0"), "kirchhoff_n0", ("E_gl", "kappa_n0")),
    ],
    ids=["cable", "green", "geometric", "plane", "n3", "n0"],
)
def test_factories_give_plain_functions(
    make: Callable[[], Any], name: str, quantities: tuple[str, ...]
) -> None:
    from symancf.kinematics.naming import signature

    asked = signature(make())
    assert (asked.name, asked.quantities) == (name, quantities)


def test_a_measure_that_does_not_exist_is_refused() -> None:
    with refused(KinematicsError, asked="strain", given="hencky", possible=("biot", "green")):
        energies.cable(strain="hencky")  # type: ignore[arg-type]
    with refused(KinematicsError, asked="curvature", given="n2", possible=("n1", "n3", "n0")):
        energies.kirchhoff(curvature="n2")  # type: ignore[arg-type]
