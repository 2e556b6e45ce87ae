# SPDX-License-Identifier: BSD-3-Clause
"""Pressures that Newton's method predicts in solids that are hardly compressible."""

from __future__ import annotations

import operator
from functools import reduce
from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf.energies import neo_hooke, saint_venant_kirchhoff, yeoh
from symancf.newton import PredictedStresses
from tests.motion import rope
from tests.refusals import refused

RUBBER = {"C10": 0.2712, "C20": 0.03053, "C30": -0.0004013, "k": 271.2}
CASES: list[tuple[str, int, dict[str, Any]]] = [
    ("hex8", 4, {}),
    ("hex8_plain", 6, {"volumetric": "full"}),
    ("hex8_plain", 4, {"volumetric": "reduced"}),
    ("hex27", 2, {"pressure": "condensed"}),
    ("tet10", 3, {}),
    ("tet10", 3, {"pressure": "condensed"}),
]


def cube(
    name: str, n: int, unit: float = 1.0, law: Any = yeoh(), **given: Any
) -> tuple[sa.System, sa.Body]:
    """Return a cube that is held at one side, and drawn and sheared at the other one."""
    element = getattr(sa.elements, name)
    mesh = sa.Mesh.box((unit, unit, unit), (n, n, n), cell=element.cell)
    body = sa.Body(mesh["body"], element, law, **given)
    move = [lambda t: 0.3 * unit * t, lambda t: 0.1 * unit * t, 0.0]
    drawn = sa.fix(body["x1"], displacement=move)
    return sa.System(body, terms=[sa.fix(body["x0"]), drawn]), body


@pytest.mark.parametrize(
    ("name", "n", "given", "pc"),
    [
        *((*case, "cholesky") for case in CASES),
        *(pytest.param(*case, "grids", marks=pytest.mark.collective) for case in CASES),
        ("hex8", 4, {"k": 2e5}, "lu"),
    ],
)
def test_few_iterations(name: str, n: int, given: dict[str, Any], pc: str) -> None:
    """As many as for rubber that is compressible: no tangent on the way is indefinite."""
    for unit in (1.0, 1024.0):
        own = {p: value for p, value in given.items() if p != "k"}
        law = {p: value / unit**2 for p, value in {**RUBBER, "k": given.get("k", 271.2)}.items()}
        system, _ = cube(name, n, unit, **law, **own)
        history = sa.StaticProblem(system, options={"pc_type": pc}).solve(step=0.5)
        assert (history.cut_backs, history.wasted) == (0, 0)
        assert max(step.iterations for step in history.steps) <= 5


def follow_all_around(X: Any, t: float) -> Any:
    """A smooth displacement of up to 0.2, (n, 3)."""
    x, y, z = np.asarray(X).T
    u = 0.12 * np.sin(np.pi * y) * z + 0.1 * x * x
    v, w = 0.1 * x * z + 0.08 * np.sin(np.pi * x), 0.1 * x * y - 0.06 * z * z
    return t * np.stack([u, v, w], axis=1)


@pytest.mark.parametrize("name", ["hex8", "hex8_fbar"])
def test_a_boundary_that_moves_all_around(name: str) -> None:
    """The first tangent has the pressures of the equilibrium before, not those of the boundary."""
    mesh = sa.Mesh.box((1, 1, 1), (4, 4, 4))
    body = sa.Body(
        mesh["body"], getattr(sa.elements, name), yeoh(), C10=1.0, C20=0.1, C30=0.01, k=1e3
    )
    around = [mesh[side] for side in ("x0", "x1", "y0", "y1", "z0", "z1")]
    place = body[reduce(operator.or_, around)]
    system = sa.System(body, terms=[sa.fix(place, displacement=follow_all_around)])
    history = sa.StaticProblem(system).solve(step=0.5)
    assert (history.cut_backs, history.wasted) == (0, 0)
    assert sum(step.iterations for step in history.steps) <= 10


@pytest.mark.parametrize(
    ("law", "values"),
    [(neo_hooke(), {"mu": 1.0, "lam": 1e4}), (saint_venant_kirchhoff(), {"E": 1.0, "nu": 0.49999})],
)
def test_states_are_those_without_predictions(
    monkeypatch: pytest.MonkeyPatch, law: Any, values: dict[str, float]
) -> None:
    states, iterations = [], []
    for least in (50.0, np.inf):
        monkeypatch.setattr("symancf.laws.pressure_predictor.STIFF", least)
        system, _ = cube("hex8_plain", 3, law=law, volumetric="reduced", **values)
        problem = sa.StaticProblem(system, options={"pc_type": "lu"})
        history = problem.solve(step=0.5)
        states.append(system.state.copy())
        iterations.append(history.wasted + sum(step.iterations for step in history.steps))
    assert np.abs(states[0] - states[1]).max() < 1e-7
    assert iterations[0] < 0.65 * iterations[1]


@pytest.mark.parametrize(
    ("k", "names"),
    [
        (10.0, []),
        (271.2, ["predicted_pressure"]),
        (sa.Parameter("k", 271.2), ["predicted_pressure"]),
        (sa.Field(lambda X: 271.2 + X[:, 0]), []),
    ],
)
def test_only_where_volumes_are_stiff(k: Any, names: list[str]) -> None:
    _, body = cube("hex8_plain", 2, volumetric="reduced", **(RUBBER | {"k": k}))
    found = [p.name for law, _ in body._laws for p in law.parameters]
    assert [name for name in found if name.startswith("predicted")] == names


def test_nothing_of_it_stays() -> None:
    """Corrections are in tangents alone, while Newton's method is at work."""
    system, _ = cube("hex8_plain", 3, volumetric="reduced", **RUBBER)
    problem = sa.StaticProblem(system, options={"pc_type": "lu"})
    states, forces = [], np.zeros((2, len(system.state)))
    for number in range(2):
        problem.solve(to=0.5)
        system._discrete.assembler.residual(system.state, forces[number])
        states.append(system.state.copy())
        problem.solve(to=1.0)
    assert np.abs(states[0] - states[1]).max() < 1e-8
    assert np.abs(forces[0] - forces[1]).max() < 1e-7 * np.abs(forces[0]).max()


def test_too_stiff_volumes_are_told() -> None:
    """Where unknowns of cells lose their digits, and Newton's method does not end."""
    system, _ = cube("hex8", 2, **(RUBBER | {"k": 1e14}))
    problem = sa.StaticProblem(system, options={"pc_type": "lu", "snes_max_it": 3})
    with refused(
        sa.ConvergenceError, asked="bulk modulus", reason="DIVERGED_MAX_IT", iteration=3
    ) as caught:
        problem.solve(step=1.0, smallest=1.0)
    assert "'body' (hex8)" in str(caught.value)
    assert "hex27" in str(caught.value)


def changes(system: sa.System, gradient: Any) -> Any:
    """Return how stresses begin to change along a step u = G X from rest."""
    system._discrete.update(0.0)
    step = (system.reference.reshape(-1, 3) @ np.asarray(gradient).T).ravel()
    (found,) = (
        PredictedStresses(system._discrete)._slopes(np.zeros_like(step), step, first=False).values()
    )
    return found


def test_pressures_are_differentiated_along_a_step() -> None:
    """Of k (J - 1) with J = det(1 + h G): k tr G; what is cut off counts with the bulk modulus."""
    system, _ = cube("hex8_plain", 1, volumetric="reduced", **RUBBER)
    assert changes(system, np.eye(3)) == pytest.approx(3.0 * RUBBER["k"], rel=1e-9)


def test_forces_of_slender_bodies_are_differentiated_along_a_step() -> None:
    """Of EA (|r'| - 1) with r' = (1 + h, h, 0): EA."""
    along = [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    assert changes(sa.System(rope(1, EA=100.0)), along) == pytest.approx(100.0, rel=1e-3)
