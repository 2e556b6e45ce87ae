# SPDX-License-Identifier: BSD-3-Clause
"""The beams to compare with, and their known faults: they are as large as the literature says."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf.energies import rod, saint_venant_kirchhoff, split_beam
from symancf.verify.rods import PRINCETON, along, growing, straight

TWO, THREE = sa.elements.ancf_3243, sa.elements.ancf_3333


def beam(element: Any, cells: int, L: float, law: Any, **given: Any) -> sa.Body:
    """Return a beam along x; its ends are "x0" and "x1"."""
    mesh = sa.Mesh.box((L,), (cells,), cell=element.cell)
    return sa.Body(mesh["body"], element, law, **given)


def tip(body: sa.Body, P: tuple[float, float, float]) -> np.ndarray[Any, Any]:
    """Return how the end of a cantilever moves."""
    system = sa.System(body, terms=[sa.fix(body["x0"]), sa.force(body["x1"], growing(np.array(P)))])
    sa.StaticProblem(system).solve()
    return np.asarray(system.displacement(body["x1"])[0])


@pytest.mark.parametrize("element", [TWO, THREE], ids=str)
def test_poisson_locking_and_its_cure(element: Any) -> None:
    """Solid energies bend by (1 + nu)(1 - 2 nu)/(1 - nu) of what they should; split ones by all."""
    E, nu, h = 1e9, 0.3, 0.1
    given = {"E": E, "nu": nu, "width": h, "height": h}
    bend, shear = 1.0 / (3.0 * E * h**4 / 12.0), 2.0 * (1.0 + nu) / (E * h**2)
    right = bend + shear
    locked = bend * (1 + nu) * (1 - 2 * nu) / (1 - nu) + shear
    for law, expected, tolerance in (
        (saint_venant_kirchhoff(), locked, 5e-3),
        (split_beam(), right, 5e-3),
    ):
        found = -tip(beam(element, 8, 1.0, law, **given), (0.0, 0.0, -1.0))[2]
        assert found == pytest.approx(expected, rel=tolerance)
    assert locked < 0.75 * right


@pytest.mark.parametrize("element", [TWO, THREE], ids=str)
def test_directors_start_as_the_body_does(element: Any) -> None:
    given, spin = {"E": 1e9, "nu": 0.3, "width": 0.1, "height": 0.1}, np.array([0.3, -1.2, 2.0])
    for start in ({"spin": spin}, {"velocity": lambda X: np.cross(spin, X)}):
        system = sa.System(beam(element, 2, 1.0, saint_venant_kirchhoff(), **given, **start))
        now = system.reference.reshape(-1, 3)
        np.testing.assert_allclose(system.rate.reshape(-1, 3), np.cross(spin, now), atol=1e-11)


def test_shear_locking_of_two_nodes() -> None:
    """One cell of two nodes bends by three quarters, whatever its slenderness; of three by all."""
    for slenderness in (10.0, 1000.0):
        h = 1.0 / slenderness
        given = {"E": 1.0, "nu": 0.0, "width": h, "height": h}
        right = 1.0 / (3.0 * h**4 / 12.0) + 2.0 / h**2
        small = 1e-6 * h**4
        two, three = (
            tip(beam(e, 1, 1.0, saint_venant_kirchhoff(), **given), (0.0, 0.0, small))[2] / small
            for e in (TWO, THREE)
        )
        assert two / right == pytest.approx(0.75, abs=0.02)
        assert three / right == pytest.approx(1.0, abs=1e-3)


def test_the_princeton_beam_by_linear_theory() -> None:
    """Torsion by the polar moment: two nodes move up as linear theory says, rods as they do."""
    L, E, nu, H, T = 0.508, 71.7e9, 0.31, 12.377e-3, 3.2024e-3
    P, angle = 8.896, math.radians(45.0)
    _, u2, u3, _ = (1e-3 * x for x in PRINCETON[P, 45.0])
    c, s = math.cos(angle), math.sin(angle)
    second, third = np.array([0.0, c, s]), np.array([0.0, -s, c])
    given: dict[str, Any] = {"E": E, "nu": nu, "width": T, "height": H, "direction": along(second)}
    u = tip(beam(TWO, 16, L, split_beam(), **given), (0.0, 0.0, -P))
    linear = -P * c * L**3 / (3.0 * E * T * H**3 / 12.0)
    assert u @ second == pytest.approx(u2, rel=2e-2)
    assert u @ third == pytest.approx(linear, rel=2e-2)
    assert abs(u3 / linear) > 1.17
    own = sa.Section.rectangle(T, H).rod(E=E, nu=nu)
    body = sa.Body(
        straight(16, L)["rod"], sa.elements.ancf_rod, rod(), direction=along(second), **own
    )
    push = sa.force(body["end"], growing(np.array([0.0, 0.0, -P])))
    system = sa.System(body, terms=[sa.fix(body["start"]), push])
    sa.StaticProblem(system).solve()
    assert system.displacement(body["end"])[0] @ third == pytest.approx(u3, rel=1e-3)
