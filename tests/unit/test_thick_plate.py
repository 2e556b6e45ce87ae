# SPDX-License-Identifier: BSD-3-Clause
"""The plate that is quadratic through its thickness: thick tubes, bending, supports, rotations."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf.elements import ancf_plate, ancf_thick_plate
from symancf.energies import orthotropic, saint_venant_kirchhoff

LAW = saint_venant_kirchhoff()


def tube(element: Any, cells: int, nu: float, side: int) -> np.ndarray:
    """Return errors of the displacement of the mid-surface and of both faces, t/R = 0.2.

    A quarter of a tube in plane strain, under pressure from inside (-1) or outside (1); Lame.
    """
    R, h, p = 1.0, 0.2, 1e-6
    a, n = np.linspace(0.0, np.pi / 2.0, cells + 1), cells
    X = np.array([[np.cos(x), np.sin(x), z] for z in (0.0, 0.1) for x in a])
    quads = np.array([[i, i + 1, n + i + 2, n + i + 1] for i in range(n)])
    regions: dict[str, Any] = {
        "skin": ("quad", np.arange(n)),
        "nodes": ("vertex", np.arange(2 * n + 2)),
        "first": ("vertex", [0, n + 1]),
        "last": ("vertex", [n, 2 * n + 1]),
    }
    mesh = sa.Mesh.from_arrays(X, {"quad": quads}, regions)
    body = sa.Body(mesh["skin"], element, LAW, E=1.0, nu=nu, thickness=h,
                   direction=lambda X: X * [1.0, 1.0, 0.0])  # fmt: skip
    held = [
        sa.symmetry(body[k], axis) for k, axis in (("nodes", "z"), ("first", "y"), ("last", "x"))
    ]
    system = sa.System(body, terms=[*held, sa.pressure(body["skin"].face(side), p)])
    sa.StaticProblem(system).solve()
    low, high = R - h / 2.0, R + h / 2.0
    inner, outer = (p, 0.0) if side < 0 else (0.0, p)
    A = (1 + nu) * (1 - 2 * nu) * (inner * low**2 - outer * high**2) / (high**2 - low**2)
    B = (1 + nu) * (inner - outer) * low**2 * high**2 / (high**2 - low**2)
    faces = sa.sample(system, body, fields={}, solid=True, divisions=1, reference=True)
    x, u = faces.points[:, :2], faces.point_data["u"][:, :2]
    radial = np.einsum("na,na->n", x, u) / np.linalg.norm(x, axis=1)
    below, above = radial[: len(x) // 2].mean(), radial[len(x) // 2 :].mean()
    middle = np.linalg.norm(system.displacement(body["skin"])[:, :2], axis=1).mean()
    right = np.array([A * r + B / r for r in (R, low, high)])
    return np.array([np.sign(right[0]) * middle, below, above]) / right - 1.0


@pytest.mark.parametrize("side", [-1, 1])
def test_thick_tubes_are_those_of_lame(side: int) -> None:
    """Within 0.3 % at t/R = 0.2; the plate that is linear through its thickness is 1.2 % off."""
    for nu in (0.3, 0.49):
        coarse, fine = (tube(ancf_thick_plate, cells, nu, side) for cells in (12, 24))
        assert np.abs(coarse).max() < 1.6e-3
        assert np.abs(fine).max() < 7e-4
    known = tube(ancf_plate, 24, 0.49, side)
    assert known[1:] == pytest.approx([-0.0124, -0.0123], abs=2e-4)


def strip(element: Any, law: Any = LAW, load: float = 1e-6, **given: Any) -> tuple[Any, Any]:
    mesh = sa.Mesh.box((1.0, 0.4), (8, 2))
    body = sa.Body(mesh["body"], element, law, **given)
    pull = sa.force(body["x1"], (0.0, 0.0, lambda t: load * t))
    system = sa.System(body, terms=[sa.fix(body["x0"]), pull])
    sa.StaticProblem(system).solve()
    return system, body


def test_bending_with_a_poisson_ratio_does_not_lock() -> None:
    metal = {"E": 1.0, "nu": 0.45, "thickness": 0.1}
    tips = {}
    for name, element, options in (
        ("thick", ancf_thick_plate, {}),
        ("split", ancf_plate, {}),
        ("full", ancf_plate, {"volumetric": "full"}),
    ):
        system, body = strip(element, **metal, **options)
        tips[name] = system.displacement(body["x1"])[:, 2].mean()
    assert tips["thick"] == pytest.approx(tips["split"], rel=0.01)
    assert tips["full"] < 0.7 * tips["thick"]


def test_rigid_rotations_cost_nothing_and_supports_know_the_second_slope() -> None:
    mesh = sa.Mesh.box((1.0, 0.5), (2, 1))
    body = sa.Body(mesh["body"], ancf_thick_plate, LAW, E=1.0, nu=0.3, thickness=0.2, rho=1.0)
    c, s = np.cos(0.7), np.sin(0.7)
    turn = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]]) - np.eye(3)
    move = sa.fix(body["x0"], displacement=lambda X, t: t * X @ turn.T, gradient=lambda t: t * turn)
    system = sa.System(body, terms=[move])
    sa.StaticProblem(system).solve()
    assert system.strain_energy() < 1e-20
    X = np.array([[1.0, 0.25, 0.0]])
    assert np.abs(system.displacement(body.at(X[0])) - X @ turn.T).max() < 1e-9
    assert np.abs(system.gradient(body["x1"]) - turn - np.eye(3)).max() < 1e-9
    assert np.abs(system.gradient(body.at(X[0])) - turn - np.eye(3)).max() < 1e-9
    for dofs, free in (("clamp", True), ("all", False)):
        twist = sa.moment(body["x1"], (0.0, 1e-4, 0.0))
        bent = sa.System(body, terms=[sa.fix(body["x0"], dofs), twist])
        sa.StaticProblem(bent).solve()
        on = bent._discrete.binding(body).interpolation
        held = np.flatnonzero(bent._discrete.points[:, 0] == 0.0)
        own = bent.state[on.offset(held, "slope3")[:, None] + np.arange(3)]
        assert (np.abs(own[:, 2]).max() > 1e-3) == free
        assert np.abs(bent.state).max() > 1e-3


def test_layers_of_one_material_on_it() -> None:
    """Bending of [0/90/0]: within 2 % of the plate with the thickness at its mid-surface."""
    ply = {"E1": 140.0, "E2": 10.0, "E3": 10.0, "nu12": 0.3, "nu13": 0.3, "nu23": 0.4}
    ply |= {"G12": 5.0, "G13": 5.0, "G23": 3.5}
    layers = sa.Layers(
        [(orthotropic(), 0.03, 0), (orthotropic(), 0.04, 90), (orthotropic(), 0.03, 0)],
        degrees=True,
    )
    tips = []
    for element in (ancf_thick_plate, ancf_plate):
        system, body = strip(element, layers, load=1e-5, **ply)
        tips.append(system.displacement(body["x1"])[:, 2].mean())
    assert tips[0] == pytest.approx(tips[1], rel=0.02)


def test_ties_and_clamps_hold_its_first_slopes() -> None:
    """Two strips that are tied bend as one; the second slope through the thickness is free."""
    metal = {"E": 1e3, "nu": 0.3, "thickness": 0.1}
    tips = []
    for ends in ([0.0, 2.0], [0.0, 1.0, 2.0]):
        strips = []
        for low, high in pairwise(ends):
            mesh = sa.Mesh.box(
                (high - low, 0.5),
                (round(2 * (high - low)), 1),
                warp=lambda X, low=low: X + np.array([low, 0.0, 0.0]),
            )
            name = f"from {low}"
            strips.append(sa.Body(mesh["body"], ancf_thick_plate, LAW, name=name, **metal))
        terms = [sa.fix(strips[0]["x0"]), sa.force(strips[-1]["x1"], (0.0, 0.0, 1e-4))]
        terms += [sa.joints.tie(strips[0]["x1"], strips[1])] if len(strips) > 1 else []
        system = sa.System(*strips, terms=terms)
        sa.StaticProblem(system).solve()
        tips.append(system.displacement(strips[-1]["x1"])[:, 2].mean())
    assert tips[1] == pytest.approx(tips[0], rel=2e-3)
    ball = sa.RigidBody.box((0.1, 0.1, 0.1), rho=1.0, name="ball")
    sa.System(strips[0], ball, terms=[sa.joints.clamp(strips[0]["x0"], ball, dofs="all")])
