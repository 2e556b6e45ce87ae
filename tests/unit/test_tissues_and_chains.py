# SPDX-License-Identifier: BSD-3-Clause
"""Hencky, extended tube, Fung and Holzapfel-Gasser-Ogden: moduli and closed forms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import sympy as sp

import symancf as sa
from symancf import elements, energies
from symancf.errors import KinematicsError, ParameterError
from symancf.kinematics.moduli import bulk_modulus, shear_modulus
from symancf.kinematics.naming import signature
from symancf.laws import evaluate_energy
from tests.refusals import refused
from tests.stresses import solid_stress

if TYPE_CHECKING:
    from collections.abc import Callable

HENCKY = {"mu": 0.8, "k": 3.0}
TUBE = {"Gc": 0.2, "Ge": 0.3, "beta": 0.4, "delta": 0.12, "k": 3.0}
FUNG = {"c": 0.5, "b11": 2.0, "b22": 1.5, "b33": 0.7, "b12": 0.3, "b13": 0.2, "b23": 0.1}
FUNG |= {"b44": 0.5, "b55": 0.4, "b66": 0.3, "k": 3.0}
TISSUE = {"mu": 0.3, "k1": 0.7, "k2": 1.3, "kappa": 0.1, "k": 3.0}
LAWS: dict[str, tuple[Any, dict[str, float]]] = {
    "hencky": (energies.hencky(), HENCKY),
    "extended_tube": (energies.extended_tube(), TUBE),
    "fung": (energies.fung(), FUNG),
    "holzapfel_gasser_ogden": (energies.holzapfel_gasser_ogden(), TISSUE),
}


def of_hencky(x: Any) -> Any:
    return 2 * HENCKY["mu"] * np.log(x)


def of_tube(x: Any) -> Any:
    d, y = TUBE["delta"] ** 2, np.sum(x**2) - 3
    slope = (1 - d) / (1 - d * y) ** 2 - d / (1 - d * y)
    return TUBE["Gc"] * slope * x**2 - 2 * TUBE["Ge"] / TUBE["beta"] * x ** -TUBE["beta"]


def of_fung(x: Any) -> Any:
    b = np.array([[2.0, 0.3, 0.2], [0.3, 1.5, 0.1], [0.2, 0.1, 0.7]])
    e = (x**2 - 1) / 2
    return FUNG["c"] * np.exp(e @ b @ e) * (b @ e) * x**2


def of_tissue(x: Any) -> Any:
    kappa, along = TISSUE["kappa"], np.array([1.0, 0.0, 0.0])
    e = kappa * (np.sum(x**2) - 3) + (1 - 3 * kappa) * (x[0] ** 2 - 1)
    e = max(e, 0.0)
    pull = 2 * TISSUE["k1"] * e * np.exp(TISSUE["k2"] * e**2)
    return TISSUE["mu"] * x**2 + pull * (kappa + (1 - 3 * kappa) * along) * x**2


SLOPES: dict[str, Callable[[Any], Any]] = {
    "hencky": of_hencky,
    "extended_tube": of_tube,
    "fung": of_fung,
    "holzapfel_gasser_ogden": of_tissue,
}


@pytest.mark.parametrize("name", LAWS)
def test_stresses_of_incompressible_states(name: str) -> None:
    """Closed forms of lambda dW/d lambda: uniaxial, equibiaxial and planar, pulled and pressed."""
    law, given = LAWS[name]
    for s in (0.7, 0.98, 1.1, 1.6, 2.2):
        for stretches in ((s, s**-0.5, s**-0.5), (s, s, s**-2.0), (s, 1.0, 1.0 / s)):
            x = np.array(stretches)
            P = np.diag(solid_stress(law, np.diag(x - 1), given).P)
            exact = SLOPES[name](x)
            np.testing.assert_allclose(
                P[:2] * x[:2] - P[2] * x[2],
                exact[:2] - exact[2],
                rtol=1e-11,
                atol=1e-12 * np.abs(exact).max(),
            )


def test_moduli_at_small_strain() -> None:
    """Those of the reference: derivatives of the energy."""
    known = {
        "hencky": 0.8,
        "extended_tube": 0.2 * (1 - 2 * 0.12**2) + 0.3,
        "fung": 0.5 * 0.3,
    }
    for name, mu in known.items():
        law, given = LAWS[name]
        called = evaluate_energy(elements.hex8_plain, law)
        W = sp.Add(*called.parts.values())
        at = {sp.Symbol(p, real=True): x for p, x in given.items()}
        assert float(shear_modulus(called.kinematics, W).subs(at)) == pytest.approx(mu, rel=1e-12)
        assert float(bulk_modulus(called.kinematics, W).subs(at)) == pytest.approx(3.0, rel=1e-12)


def test_an_isotropic_tissue_of_fung_is_linear_at_small_strain() -> None:
    """b11 = 2 mu/c, b44 = mu/c: P = 2 mu dev E; to all digits at strains of 1e-8."""
    given = dict.fromkeys(("b11", "b22", "b33"), 4.0) | dict.fromkeys(("b12", "b13", "b23"), 0.0)
    given |= dict.fromkeys(("b44", "b55", "b66"), 2.0) | {"c": 0.5, "k": 3.0}
    H = 1e-8 * np.array([[1.0, 0.3, 0.2], [0.3, -0.5, 0.1], [0.2, 0.1, 0.4]])
    trace = np.trace(H)
    exact = 2 * (H - trace / 3 * np.eye(3)) + 3.0 * trace * np.eye(3)
    P = solid_stress(energies.fung(), H, given).P
    np.testing.assert_allclose(P, exact, rtol=1e-6)


def test_a_fibre_acts_in_tension_alone() -> None:
    """4 k1 along it at small strain without dispersion; nothing where it is pressed."""
    given = TISSUE | {"kappa": 0.0}
    oblique = energies.holzapfel_gasser_ogden(fibres=((1.0, 1.0, 0.0),))
    a = np.array([1.0, 1.0, 0.0]) / np.sqrt(2)
    plain = energies.yeoh()
    matrix = {"C10": 0.15, "C20": 0.0, "C30": 0.0, "k": 3.0}
    for strain in (1e-5, -1e-5):
        H = strain * np.outer(a, a)
        more = solid_stress(oblique, H, given).P - solid_stress(plain, H, matrix).P
        stiff = 4 * 0.7 * (2 / 3) ** 2 * max(strain, 0.0)  # of the strain without its dilation
        assert a @ more @ a == pytest.approx(stiff, rel=1e-4, abs=1e-15)


def test_directions_may_depend_on_the_place() -> None:
    """A ring of fibres about z, in a homogeneous deformation: the sum over Gauss's points."""
    mesh, F = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1)), np.eye(3)
    F[1, 0] = 0.1
    ring = energies.holzapfel_gasser_ogden(fibres=(lambda X: (-X[1], X[0], 0),))
    body = sa.Body(mesh["body"], sa.elements.hex8_plain, ring, **TISSUE)
    held = [sa.fix(body["all"], displacement=lambda X: X @ (F - np.eye(3)).T)]
    system = sa.System(body, terms=held)
    sa.StaticProblem(system, check_stable=False).solve(to=0.0)
    exact, kappa, y = TISSUE["mu"] / 2 * 0.01, TISSUE["kappa"], 0.01
    for X in np.array(np.meshgrid(*[[0.5 - 12**-0.5, 0.5 + 12**-0.5]] * 2)).reshape(2, 4).T:
        a = F @ np.array([-X[1], X[0], 0.0]) / np.hypot(*X)
        e = max(kappa * y + (1 - 3 * kappa) * (a @ a - 1), 0.0)
        exact += TISSUE["k1"] / (2 * TISSUE["k2"]) * np.expm1(TISSUE["k2"] * e**2) / 4
    assert system.strain_energy() == pytest.approx(exact, rel=1e-10)


def test_parameters_out_of_their_domains_are_refused() -> None:
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    for name, wrong in (
        ("hencky", {"mu": -1.0}),
        ("extended_tube", {"delta": 1.0}),
        ("extended_tube", {"beta": 0.0}),
        ("fung", {"b44": 0.0}),
        ("holzapfel_gasser_ogden", {"kappa": 0.34}),
    ):
        law, given = LAWS[name]
        with refused(ParameterError, asked=next(iter(wrong))):
            sa.System(sa.Body(mesh["body"], sa.elements.hex8_plain, law, **(given | wrong)))
    with refused(KinematicsError, asked="fibres", given=(0, 0, 0)):
        energies.holzapfel_gasser_ogden(fibres=((0, 0, 0),))
    with refused(KinematicsError, asked="fibres", given=()):
        energies.holzapfel_gasser_ogden(fibres=())


@pytest.mark.parametrize("axes", [3, [(1, 0, 0)], [(1, 0, 0), (2, 0, 0)], [(0, 0, 0), (1, 0, 0)]])
def test_axes_that_are_none_are_refused(axes: Any) -> None:
    with refused(KinematicsError, asked="axes"):
        energies.orthotropic(axes=axes)


def test_axes_may_be_functions_of_the_place() -> None:
    """At a place the energy is that of the numbers there; of x and y that of no axes."""
    names = signature(energies.orthotropic()).parameters
    constants = dict(zip(names, (140.0, 10.0, 9.0, 0.3, 0.25, 0.4, 5.0, 4.5, 3.5), strict=True))
    E = sp.Matrix([[0.1, 0.02, 0.03], [0.02, -0.05, 0.01], [0.03, 0.01, 0.04]])
    around = energies.orthotropic(axes=(lambda X: (-X[1], X[0], 0), (0.1, 0.0, 1.0)))
    numbers = energies.orthotropic(axes=((-3.0, 2.0, 0.0), (0.1, 0.0, 1.0)))
    first, second = around(E, sp.Matrix([2, 3, 5]), **constants), numbers(E, **constants)
    assert float(first) == pytest.approx(float(second), rel=1e-12)
    plain = energies.orthotropic(axes=((2, 0, 0), (1, 1, 0)))(E, **constants)
    assert float(plain) == pytest.approx(float(energies.orthotropic()(E, **constants)), rel=1e-12)
