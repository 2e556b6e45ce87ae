# SPDX-License-Identifier: BSD-3-Clause
"""Rods with a full stiffness matrix, and strips of layers as rods."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf.verify.rods import straight
from symancf.verify.rods_coupled import COUPLED, PLY, layup, turn, turned_rod
from tests.refusals import refused

ROD = sa.elements.ancf_rod
pytestmark = pytest.mark.collective


def tip(body: sa.Body, F: Any, M: Any) -> tuple[Any, Any]:
    """Return place and turn of the end of a clamped rod under a force and a moment."""
    loads = [sa.force(body["end"], tuple(F)), sa.moment(body["end"], tuple(M))]
    system = sa.System(body, terms=[sa.fix(body["start"]), *loads])
    sa.StaticProblem(system, options={"snes_rtol": 1e-12}).solve()
    return system.displacement(body["end"])[0], system.gradient(body["end"])[0]


@pytest.mark.collective(rows=0)
def test_couplings_are_compliances_at_small_load() -> None:
    """The last quarter turns by C^-1 of the forces of all six kinds; in any frame and in mm."""
    length, small = 0.4, 1e-6
    S = np.linalg.inv(COUPLED)
    force, couple = small * np.array([300.0, 0.0, 0.0]), small * np.array([0.3, -0.2, 0.5])
    e = S @ [*force, *couple]
    R = turn(np.array([0.9, 0.4, -1.1]))
    for unit, frame in ((1.0, np.eye(3)), (1e3, R)):
        scale = np.array([1.0, 1.0, 1.0, unit, unit, unit])
        body = turned_rod(4, frame, COUPLED * np.outer(scale, scale), unit * length)
        u, F = tip(body, frame @ force, unit * (frame @ couple))
        turned = frame.T @ F @ frame
        angles = [turned[2, 1], turned[0, 2], turned[1, 0]]
        np.testing.assert_allclose(angles, length * e[3:], rtol=2e-5)
        bent = [0.0, e[5] * length**2 / 2.0, -e[4] * length**2 / 2.0]
        right = length * np.array([e[0], e[1], e[2]]) + bent
        np.testing.assert_allclose(frame.T @ u / unit, right, rtol=1e-4, atol=1e-12)


@pytest.mark.collective(rows=0)
def test_a_diagonal_matrix_is_the_law_of_principal_stiffnesses() -> None:
    section = sa.Section.rectangle(0.02, 0.01).rod(E=1e9, nu=0.3, rho=1e3)
    names = ("EA", "GA2", "GA3", "GJ", "EI2", "EI3")
    C = np.diag([section[name] for name in names])
    mass = {name: x for name, x in section.items() if name not in names}
    plain = sa.Body(straight(4)["rod"], ROD, sa.energies.rod(), **section)
    full = sa.Body(straight(4)["rod"], ROD, sa.energies.rod(C=C), **mass)
    loads = (0.3, 1.0, 2.0), (1.0, 0.5, -1.0)
    for one, other in zip(tip(plain, *loads), tip(full, *loads), strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-9, atol=1e-12)


def test_entries_follow_parameters() -> None:
    coupling = sa.Parameter("coupling", 0.0)
    C = np.diag(np.diag(COUPLED))
    body = sa.Body(straight(4, 0.5)["rod"], ROD, sa.energies.rod(C=C), C14=coupling)
    _, F = tip(body, (100.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    assert abs(F[2, 1]) < 1e-12
    coupling.value = -522.0
    C[0, 3] = C[3, 0] = -522.0
    _, F = tip(body, (100.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    e = np.linalg.solve(C, [100.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert F[2, 1] == pytest.approx(math.sin(0.5 * e[3]), rel=1e-5)


@pytest.mark.collective(rows=0)
def test_viscosity_of_coupled_rods() -> None:
    """Rates that strain no section dissipate eta A/C11 times twice their energy."""
    section = {"rho": 1e3, "A": 1e-4, "I2": 1e-9, "I3": 1e-9}
    body = sa.Body(straight(4, 0.5)["rod"], ROD, sa.energies.rod(C=COUPLED), **section)
    damped = sa.KelvinVoigt(body, eta=0.1 * COUPLED[0, 0] / section["A"])
    loads = [sa.force(body["end"], (1e-3, 0.0, 1e-6)), sa.moment(body["end"], (1e-6, 0.0, 1e-5))]
    system = sa.System(body, terms=[sa.fix(body["start"]), *loads, damped])
    sa.StaticProblem(system, options={"snes_rtol": 1e-12}).solve()
    work = []
    for matrix in (system.matrices.tangent(), system.matrices.damping()):
        x, y = matrix.createVecs()
        x.setArray(system.unknowns.from_local(system.state))
        matrix.mult(x, y)
        work.append(x.dot(y))
    assert work[0] > 0.0
    assert work[1] == pytest.approx(0.1 * work[0], rel=1e-3)


@pytest.mark.collective(rows=0)
def test_refused_matrices() -> None:
    law = sa.energies.rod
    with refused(sa.ParameterError, asked="C"):
        law(C=np.eye(5))
    with refused(sa.ParameterError, asked="C"):
        law(C="x")
    with refused(sa.ParameterError, asked="C"):
        law(C=np.diag([1.0, 1, 1, 1, 1, -1]))
    with refused(sa.ParameterError, asked="C"):
        law(C=2 * np.eye(6) + np.eye(6, k=1))
    wrong = np.eye(6)
    wrong[3, 4] = wrong[4, 3] = 1.5
    with refused(sa.ParameterError, asked="C") as caught:
        law(C=wrong)
    assert "eigenvalue -0.5, of kappa1, kappa2" in str(caught.value)
    assert pickle.loads(pickle.dumps(law(C=COUPLED))).__name__ == "rod"


@pytest.mark.collective(rows=0)
def test_a_strip_of_one_layer_is_a_rectangle() -> None:
    layers = sa.Layers([(sa.energies.saint_venant_kirchhoff(), 0.01)])
    strip = sa.Section.laminate(layers, width=0.05, E=1e9, nu=0.3, rho=10.0)
    right = sa.Section.rectangle(0.05, 0.01).rod(E=1e9, nu=0.3, rho=10.0)
    shear = 5.0 / 6.0 * 1e9 / 2.6 * 0.0005
    expected = [right["EA"], shear, shear, right["GJ"], right["EI2"], right["EI3"]]
    np.testing.assert_allclose(strip.C, np.diag(expected), rtol=1e-12, atol=1e-12)
    assert strip.mass == pytest.approx({k: right[k] for k in ("A", "rho", "I2", "I3")}, rel=1e-12)
    rubber = sa.Layers([(sa.energies.neo_hooke(), 0.01)])
    same = sa.Section.laminate(rubber, width=0.05, mu=1e9 / 2.6, lam=1e9 * 0.3 / 1.3 / 0.4)
    np.testing.assert_allclose(same.C, strip.C, rtol=1e-12, atol=1e-12)


@pytest.mark.collective(rows=0)
def test_a_sandwich_shears_in_its_core() -> None:
    """GA3 of thin stiff faces on a soft core is G h^2 b/h of the core (1 % of the thickness)."""
    iso = sa.energies.saint_venant_kirchhoff()
    face, core = {"E": 70e9, "nu": 0.3}, {"E": 7e6, "nu": 0.3}
    layers = [(iso, 1e-4, 0, face), (iso, 0.02, 0, core), (iso, 1e-4, 0, face)]
    strip = sa.Section.laminate(sa.Layers(layers), width=0.1)
    right = 7e6 / 2.6 * 0.1 * 0.0201**2 / 0.02
    assert strip.C[2, 2] == pytest.approx(right, rel=2e-3)


@pytest.mark.collective(rows=0)
def test_turned_layers_and_units() -> None:
    """Layers turned the other way change the sign of couplings; mm and MPa are N mm^2."""
    one = sa.Section.laminate(layup((45, 45, 0, 0)), width=0.03, **PLY).C
    other = sa.Section.laminate(layup((-45, -45, 0, 0)), width=0.03, **PLY).C
    sign = np.array([1.0, -1.0, 1.0, -1.0, 1.0, 1.0])
    np.testing.assert_allclose(other, one * np.outer(sign, sign), rtol=1e-9, atol=1e-6)
    law = sa.energies.orthotropic()
    in_mm = sa.Layers([(law, 0.134, a) for a in (45, 45, 0, 0)], degrees=True)
    ply = {k: x if k.startswith("nu") else x * 1e-6 for k, x in PLY.items()}
    scale = np.array([1.0, 1.0, 1.0, 1e3, 1e3, 1e3])
    C = sa.Section.laminate(in_mm, width=30.0, **ply).C
    np.testing.assert_allclose(C, one * np.outer(scale, scale), rtol=1e-9, atol=1e-3)


@pytest.mark.collective(rows=0)
def test_refused_strips() -> None:
    make, law = sa.Section.laminate, sa.energies.saint_venant_kirchhoff()
    with refused(sa.ParameterError, asked="layers"):
        make(law, width=1.0)
    with refused(sa.ParameterError, asked="nu"):
        make(sa.Layers([(law, 0.1)]), width=1.0, E=1.0)
    with refused(sa.ParameterError, asked="Nu"):
        make(sa.Layers([(law, 0.1)]), width=1.0, E=1.0, nu=0.3, Nu=0.3)
    with refused(sa.ParameterError, asked="nu"):
        make(sa.Layers([(law, 0.1)]), width=1.0, E=1.0, nu=0.5)
    with refused(sa.ParameterError, asked="offset"):
        make(sa.Layers([(law, 0.1)], offset=0.1), width=1.0, E=1.0, nu=0.3)
    heavy = [(law, 0.1, 0, {"rho": 1.0}), (law, 0.1, 0, {"rho": 2.0})]
    with refused(sa.ParameterError, asked="rho"):
        make(sa.Layers(heavy), width=1.0, E=1.0, nu=0.3)
    with refused(sa.ParameterError, asked="rho", given=0.0):
        make(sa.Layers([(law, 0.1)]), width=1.0, E=1.0, nu=0.3, rho=0.0)
    with refused(sa.ParameterError, asked="lambda1"):
        make(sa.Layers([(sa.energies.hencky(), 0.1)]), width=1.0, mu=1.0, k=2.0)
