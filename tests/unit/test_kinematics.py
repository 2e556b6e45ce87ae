# SPDX-License-Identifier: BSD-3-Clause
"""Quantities in displacement form against their textbook definitions in NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pytest

from symancf import elements
from symancf.errors import KinematicsError
from tests.quantities import jets, rotate, rotation, unit_cell, values
from tests.refusals import refused

if TYPE_CHECKING:
    from symancf.elements import Element

Array = npt.NDArray[np.float64]

STRAINED = [
    (elements.hex8_plain, {}),
    (elements.ancf_plate, {}),
    (elements.ancf_thin_plate, {}),
    (elements.ancf_cable, {}),
    (elements.ancf_cable, {"curved": True}),
]
IDS = ["hex8_plain", "ancf_plate", "ancf_thin_plate", "ancf_cable", "curved ancf_cable"]
#: what must not change under rigid motion, with its value without strain
STRAINS = {"J": 1, "I1": 3, "I2": 3, "C": np.eye(3), "E_gl": 0, "epsilon": 0, "epsilon_green": 0}
STRAINS |= {"kappa": 0, "kappa_n3": 0, "kappa_n0": 0, "kappa_geometric": 0}


def state(element: Element, seed: int, *, straight: bool = False) -> tuple[Array, Array, Array]:
    """Return reference and displacement coefficients and a point, all random."""
    generator = np.random.default_rng(seed)
    R = unit_cell(element)
    if straight:
        R = R * np.array([1.7, 1.0, 1.0])
    else:
        R = R + 0.1 * generator.uniform(-1, 1, R.shape)
    u = 0.1 * generator.uniform(-1, 1, R.shape)
    low, high = element.topology.domain
    return R, u, generator.uniform(low, high, element.topology.dimension)


def is_straight(element: Element, options: dict[str, bool]) -> bool:
    return element is elements.ancf_cable and not options


def textbook(element: Element, R: Array, r: Array, point: Array, zeta: float, h: float) -> dict:
    """Return the quantities from positions, with no regard to round-off."""
    A, a = (jets(element, c, point, zeta * h / 2) for c in (R, r))
    if "zeta" in a:
        J0 = np.column_stack([A[j] for j in ("xi", "eta", "zeta")])
        F = np.column_stack([a[j] for j in ("xi", "eta", "zeta")]) @ np.linalg.inv(J0)
        C = F.T @ F
        return {
            "F": F,
            "H": F - np.eye(3),
            "J": np.linalg.det(F),
            "C": C,
            "I1": np.trace(C),
            "I2": (np.trace(C) ** 2 - np.trace(C @ C)) / 2,
            "E_gl": (C - np.eye(3)) / 2,
            **{f"lambda{k + 1}": x for k, x in enumerate(np.linalg.svd(F)[1])},
            "measure": np.linalg.det(J0) * (h / 2 if element.has_thickness else 1),
        }
    if "eta" in a:
        e1 = A["xi"] / np.linalg.norm(A["xi"])
        N = np.cross(A["xi"], A["eta"])
        e2 = np.cross(N / np.linalg.norm(N), e1)
        G = np.linalg.inv([[e @ A["xi"], e @ A["eta"]] for e in (e1, e2)])

        def form(g: dict[str, Array], power: int, scale: float) -> Array:
            n = np.cross(g["xi"], g["eta"])
            b = [[g["xixi"] @ n, g["xieta"] @ n], [g["xieta"] @ n, g["etaeta"] @ n]]
            return G.T @ (np.array(b) * scale / np.linalg.norm(n) ** power) @ G

        def metric(g: dict[str, Array]) -> Array:
            T = np.column_stack([g["xi"], g["eta"]])
            return T.T @ T

        NN = N @ N
        return {
            "E_gl": G.T @ (metric(a) - metric(A)) @ G / 2,
            "kappa": form(a, 1, 1) - form(A, 1, 1),
            "kappa_n3": form(a, 3, NN) - form(A, 3, NN),
            "kappa_n0": form(a, 0, NN**-0.5) - form(A, 0, NN**-0.5),
            "measure": np.sqrt(NN),
        }

    def curvature(g: dict[str, Array], power: int) -> float:
        bend = np.linalg.norm(np.cross(g["xi"], g["xixi"]))
        return float(bend / np.linalg.norm(g["xi"]) ** power)

    def turn(g: dict[str, Array], power: int) -> float:
        return float(np.cross(g["xi"], g["xixi"])[2] / np.linalg.norm(g["xi"]) ** power)

    length = np.linalg.norm(A["xi"])
    stretch = np.linalg.norm(a["xi"]) / length
    return {
        "epsilon": stretch - 1,
        "epsilon_green": (stretch**2 - 1) / 2,
        "kappa": curvature(a, 2) / length - curvature(A, 3),
        "kappa_geometric": curvature(a, 3) - curvature(A, 3),
        "kappa_plane": turn(a, 2) / length - turn(A, 3),
        "measure": length,
    }


@pytest.mark.parametrize(("element", "options"), STRAINED, ids=IDS)
@pytest.mark.parametrize("seed", range(3))
def test_quantities_are_the_textbook_ones(
    element: Element, options: dict[str, bool], seed: int
) -> None:
    R, u, point = state(element, seed, straight=is_straight(element, options))
    found = values(element, R, u, point, zeta=0.4, thickness=0.3, **options)
    known = textbook(element, R, R + u, point, 0.4, 0.3)
    z = 0.4 * 0.3 / 2
    known["u"] = jets(element, u, point, z)["value"]
    known["X"] = jets(element, R, point, z)["value"]
    known["r"], known["t"] = known["u"] + known["X"], 0.7
    assert set(element.kinematics(**options).quantities) - {"stretch_axes"} <= set(known)
    for name, value in known.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-12, atol=1e-13, err_msg=name)


@pytest.mark.parametrize(("element", "options"), STRAINED, ids=IDS)
def test_a_reference_of_any_shape_has_no_strain(element: Element, options: dict[str, bool]) -> None:
    """Not round-off: exactly none, whatever the curvature of the reference."""
    R, u, point = state(element, 5, straight=is_straight(element, options))
    found = values(element, R, 0 * u, point, zeta=0.4, thickness=0.3, **options)
    names = STRAINS.keys() & element.kinematics(**options).quantities
    assert len(names) >= 3
    for name in names:
        assert np.all(found[name] == STRAINS[name]), name


@pytest.mark.parametrize(("element", "options"), STRAINED, ids=IDS)
@pytest.mark.parametrize("angle", [1.234, np.radians(179.9)])
def test_rigid_motion_changes_no_strain(
    element: Element, options: dict[str, bool], angle: float
) -> None:
    """E02_rigid_invariance of verification/benchmarks: from the reference, and when deformed."""
    R, u, point = state(element, 6, straight=is_straight(element, options))
    Q, shift = rotation([1, 2, 3], angle), [1e3, 0, 0]
    names = STRAINS.keys() & element.kinematics(**options).quantities
    rigid = values(element, R, rotate(element, R, Q, shift) - R, point, zeta=0.4, **options)
    before = values(element, R, u, point, zeta=0.4, **options)
    moved = rotate(element, R + u, Q, shift) - R
    after = values(element, R, moved, point, zeta=0.4, **options)
    # positions near 1000 carry round-off of 1e-13
    for name in names:
        np.testing.assert_allclose(rigid[name], STRAINS[name] + 0 * rigid[name], atol=1e-11)
        np.testing.assert_allclose(after[name], before[name], rtol=1e-11, atol=1e-11)
    assert any(np.abs(before[n] - STRAINS[n]).max() > 0.01 for n in names)


def test_the_paper_and_the_local_frame_agree_on_a_flat_rectangle() -> None:
    """A flat a x b plate bent to a cylinder of radius 1/k: kappa_11 = -k, no membrane strain."""
    element, a, b, k = elements.ancf_thin_plate, 0.3, 0.2, 0.01
    R, r = [], []
    for x, y in element.topology.vertices:
        s = k * a * x
        R += [[a * x, b * y, 0], [a, 0, 0], [0, b, 0]]
        r += [[np.sin(s) / k, b * y, -(1 - np.cos(s)) / k], [a * np.cos(s), 0, -a * np.sin(s)]]
        r += [[0, b, 0]]
    found = values(element, np.array(R), np.array(r) - np.array(R), (0.4, 0.7))
    np.testing.assert_allclose(found["kappa"], [[-k, 0], [0, 0]], atol=1e-8)
    np.testing.assert_allclose(found["E_gl"], 0, atol=1e-10)


def test_only_one_measure_of_curvature_is_smooth_where_the_area_vanishes() -> None:
    """A bent plate whose width is pressed through zero: kappa turns over, kappa_n0 passes zero."""
    element = elements.ancf_thin_plate
    R, found = unit_cell(element), {}
    for width in (-1e-7, 1e-7):
        r = []
        for x, y in element.topology.vertices:
            r += [[2.5 * x, width * y, 0.6 * x**2], [2.5, 0, 1.2 * x], [0, width, 0]]
        found[width] = values(element, R, np.array(r) - R, (0.4, 0.7))
    jump = {k: np.abs(found[1e-7][k] - found[-1e-7][k]).max() for k in ("kappa", "kappa_n0")}
    assert jump["kappa"] > 0.5
    assert jump["kappa_n0"] < 1e-5


def test_an_unknown_variant_is_refused() -> None:
    with refused(KinematicsError, asked="curved", possible=()):
        elements.hex8_plain.kinematics(curved=True)


@pytest.mark.parametrize(
    ("strain", "curvature", "energy"),
    [
        ("epsilon_green", "kappa_geometric", 4.5239737154679815),
        ("epsilon", "kappa", 4.506274388184852),
    ],
    ids=["green", "biot"],
)
def test_energy_of_a_space_curve(strain: str, curvature: str, energy: float) -> None:
    """E10_mms_cable_green and E10_mms_cable_biot: int EA/2 eps^2 + EI/2 kappa^2 ds.

    r(s) = (s + 0.05 sin(pi s), 0.2 s^2, 0.1 sin(2 pi s)), EA = 100, EI = 1.
    """
    from symancf_codegen.stable.accuracy import function

    kinematics = elements.ancf_cable.kinematics()
    wanted = [kinematics.quantities[q].value for q in (strain, curvature)]
    evaluate = function((*kinematics.geometry, *kinematics.lets), wanted)
    x, w = np.polynomial.legendre.leggauss(40)
    total = 0.0
    for s, weight in zip((x + 1) / 2, w / 2, strict=True):
        c, d, pi = np.cos(np.pi * s), np.sin(np.pi * s), np.pi
        u = [0.05 * pi * c, 0.4 * s, 0.2 * pi * np.cos(2 * pi * s)]
        uu = [-0.05 * pi**2 * d, 0.4, -0.4 * pi**2 * np.sin(2 * pi * s)]
        at = {f"R_xi{a + 1}": float(a == 0) for a in range(3)}
        at |= {f"R_xixi{a + 1}": 0.0 for a in range(3)}
        at |= {f"R_value{a + 1}": 0.0 for a in range(3)} | {
            f"u_value{a + 1}": 0.0 for a in range(3)
        }
        at |= {f"u_xi{a + 1}": u[a] for a in range(3)}
        at |= {f"u_xixi{a + 1}": uu[a] for a in range(3)}
        epsilon, kappa = evaluate(at)
        total += weight * (50 * epsilon**2 + kappa**2 / 2)
    assert total == pytest.approx(energy, rel=1e-11)
