# SPDX-License-Identifier: BSD-3-Clause
"""Default options of the linear solver, by what the user asks for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf.energies import saint_venant_kirchhoff, yeoh

ASKED = [({"ksp_type": "cg", "pc_type": "gamg", "ksp_rtol": 1e-8}, 6), ({"pc_type": "gamg"}, 8)]


def cantilever() -> sa.System:
    """Return a block that its weight bends far, too small for multigrid by default."""
    mesh = sa.Mesh.box((2.0, 1.0, 0.5), (8, 6, 4))
    given = {"E": 1e5, "nu": 0.3, "rho": 1000.0}
    block = sa.Body(mesh["body"], sa.elements.hex8_plain, saint_venant_kirchhoff, **given)
    return sa.System(block, terms=[sa.fix(block["x0"]), sa.gravity((0.0, 0.0, -1.0))])


@pytest.mark.parametrize(("options", "iterations"), ASKED, ids=["tight", "by default"])
def test_multigrid_on_a_small_system_is_that_of_a_large_one(
    options: dict[str, Any], iterations: int
) -> None:
    """PETSc's own GAMG keeps the first eigenvalues: 'DIVERGED_INDEFINITE_PC' with CG."""
    system = cantilever()
    problem = sa.StaticProblem(system, options=options)
    history = problem.solve()
    assert history.cut_backs == 0
    assert [step.iterations for step in history.steps] == [iterations]
    assert problem.snes.getKSP().getType() == "cg"
    exact = cantilever()
    sa.StaticProblem(exact).solve()
    assert np.abs(system.state - exact.state).max() < 1e-6 * np.abs(exact.state).max()


@pytest.mark.parametrize("method", ["generalized-alpha", "rk"])
def test_motions_take_multigrid_when_asked(method: str) -> None:
    found = []
    for options in ({}, {"pc_type": "gamg"}):
        system = cantilever()
        problem = sa.DynamicProblem(system, method=method, options=options)
        problem.solve(to=2e-3, step=1e-3)
        found.append(system.state.copy())
    assert problem.snes.getKSP().getType() == "cg"
    assert problem.snes.getKSP().getPC().getType() == "gamg"
    start = cantilever().state
    assert np.abs(found[1] - found[0]).max() < 1e-6 * np.abs(found[0] - start).max()


# ---- stiff against a change of volume ------------------------------------------------------------
def pulled(volumetric: str, k: float, **options: Any) -> tuple[sa.System, sa.StaticProblem]:
    """Return a cube whose face is moved aside, where the first tangent is indefinite."""
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (6, 6, 6))
    law = {"C10": 0.2712, "C20": 0.03053, "C30": -0.0004013, "k": k}
    cube = sa.Body(mesh["body"], sa.elements.hex8_plain, yeoh, volumetric=volumetric, **law)
    moved = sa.fix(cube["x1"], displacement=lambda t: (0.3 * t, 0.1 * t, 0.0))
    system = sa.System(cube, terms=[sa.fix(cube["x0"]), moved])
    return system, sa.StaticProblem(system, options=options)


@pytest.mark.parametrize("volumetric", ["full", "reduced"])
def test_krylov_goes_on_where_the_tangent_is_indefinite(volumetric: Any) -> None:
    system, problem = pulled(volumetric, 271.2, pc_type="gamg")
    history = problem.solve(step=0.5)
    assert (history.cut_backs, history.wasted, len(history.steps)) == (0, 0, 2)
    assert sum(step.linear_iterations for step in history.steps) < 600
    exact, direct = pulled(volumetric, 271.2, ksp_type="preonly", pc_type="lu")
    direct.solve(step=0.25)
    assert np.abs(system.state - exact.state).max() < 1e-8


def test_steps_go_on_along_the_line_of_the_last_ones() -> None:
    _, problem = pulled("full", 10.0, pc_type="gamg")
    steps = problem.solve(step=0.25).steps
    assert [step.iterations for step in steps] == [4, 4, 3, 3]
    assert sum(step.linear_iterations for step in steps) < 150  # 190 with ksp_rtol 1e-6
