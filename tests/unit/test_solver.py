# SPDX-License-Identifier: BSD-3-Clause
"""Default options of the linear solver, by what the user asks for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf.energies import saint_venant_kirchhoff, yeoh
from symancf.solve import choice
from symancf.solve.factors import Factors
from tests.refusals import refused

ASKED = [({"ksp_type": "cg", "pc_type": "gamg", "ksp_rtol": 1e-8}, 6), ({"pc_type": "gamg"}, 8)]


def cantilever() -> sa.System:
    """Return a block that its weight bends far, too small for multigrid by default."""
    mesh = sa.Mesh.box((2.0, 1.0, 0.5), (8, 6, 4))
    given = {"E": 1e5, "nu": 0.3, "rho": 1000.0}
    block = sa.Body(mesh["body"], sa.elements.hex8_plain, saint_venant_kirchhoff(), **given)
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
    cube = sa.Body(mesh["body"], sa.elements.hex8_plain, yeoh(), volumetric=volumetric, **law)
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
    assert len(steps) == 4
    assert sum(step.iterations for step in steps) <= 15  # 14
    assert sum(step.linear_iterations for step in steps) < 150  # 190 with ksp_rtol 1e-6


# ---- direct or Krylov ----------------------------------------------------------------------------
def loaded(
    divisions: tuple[int, int, int], k: float = 10.0, unit: float = 1.0, load: float = 0.01
) -> sa.System:
    """Return a box of cubes, with lengths in m / unit, and a shear at one end."""
    lengths = [unit * count / divisions[1] for count in divisions]
    mesh = sa.Mesh.box(lengths, divisions)
    law = {"C10": 0.2712, "C20": 0.03053, "C30": -0.0004013, "k": k}
    per_area = {name: value / unit**2 for name, value in law.items()}
    box = sa.Body(mesh["body"], sa.elements.hex8_plain, yeoh(), volumetric="full", **per_area)
    shear = sa.traction(box["x1"], lambda t: (0.0, 0.0, t * load / unit**2))
    return sa.System(box, terms=[sa.fix(box["x0"]), shear])


def factored(system: sa.System) -> tuple[float, float]:
    """Return the operations that MUMPS takes for the first tangent, and its entries."""
    system._discrete.update(0.0)
    system._discrete.assembler.tangent(
        system.state, np.zeros_like(system.state), system._discrete.matrix
    )
    factors = Factors(system.comm, symmetric=True)
    assert factors.make(system._discrete.matrix.mat)
    assert factors._pc is not None
    known = factors._pc.getFactorMatrix()
    entries = known.getMumpsInfog(29)
    return known.getMumpsRinfog(1), -1e6 * entries if entries < 0 else entries


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize("divisions", [(12, 12, 12), (150, 4, 4), (40, 40, 2), (9, 8, 7)])
def test_factors_are_about_as_large_as_predicted(divisions: Any) -> None:
    system = loaded(divisions)
    flops, entries = factored(system)
    predicted = choice.Effort.of(system._discrete)
    least = 0.4 if system.comm.size == 1 else 0.2  # analysed by ranks, slender bodies take more
    assert least < predicted.flops / flops < 2.0
    assert 0.5 < predicted.entries / entries < 1.5
    again = choice.Effort.of(loaded(divisions, unit=1024.0)._discrete)
    assert predicted.flops == pytest.approx(again.flops, rel=1e-6)


def around(X: np.ndarray) -> np.ndarray:
    """Roll a strip up to a tube with a slit."""
    angle, r = 6.0 * X[:, 0], 1.0 + X[:, 2]
    return np.stack([r * np.cos(angle), r * np.sin(angle), 2.0 * X[:, 1]], axis=1)


SOLIDS: dict[str, Any] = {
    "tube": ("hex8_plain", (48, 24, 1), (1.0, 1.0, 0.05), around),
    "serendipity": ("hex20", (5, 5, 5), (1.0, 1.0, 1.0), None),
    "plate": ("ancf_plate", (24, 24), (1.0, 1.0), None),
}


@pytest.mark.parametrize("name", SOLIDS)
def test_so_they_are_where_nodes_do_not_fill_a_box(name: str) -> None:
    kind, divisions, lengths, warp = SOLIDS[name]
    element = getattr(sa.elements, kind)
    mesh = sa.Mesh.box(lengths, divisions, cell=element.cell, warp=warp)
    thick: dict[str, Any] = {"thickness": 0.01} if len(divisions) == 2 else {}
    body = sa.Body(mesh["body"], element, saint_venant_kirchhoff(), E=1.0, nu=0.3, **thick)
    system = sa.System(body, terms=[sa.fix(body["x0"])])
    flops, _ = factored(system)
    assert 0.4 < choice.Effort.of(system._discrete).flops / flops < 2.0


@pytest.mark.collective
def test_the_solver_follows_the_factors_and_not_the_unknowns() -> None:
    """A beam of more unknowns than a cube has factors that take less."""
    found = []
    for divisions in ((16, 16, 16), (600, 3, 3)):
        system = loaded(divisions, load=1e-6)
        problem = sa.StaticProblem(system)
        problem.solver.prepare()
        found.append((system._discrete.numbering.size, problem.solver.linear.name))
    assert found[0] == (13872, "CG with multigrid (-ksp_type cg -pc_type grids)")
    assert found[1] == (28800, "LDL^T by MUMPS (-pc_type cholesky)")


@pytest.mark.parametrize("dynamic", [False, True])
def test_factors_that_serve_for_many_steps_may_take_longer(dynamic: bool) -> None:
    beam, cube = loaded((90, 8, 8)), loaded((16, 16, 16))
    assert (
        choice.prices(beam._discrete, "grids", symmetric=True, dynamic=dynamic).prefer_direct
        is dynamic
    )
    assert not choice.prices(cube._discrete, "grids", symmetric=True, dynamic=dynamic).prefer_direct


def test_there_are_no_factors_where_they_do_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    system = loaded((9, 8, 7))
    assert choice.prices(system._discrete, "grids", symmetric=True).prefer_direct
    monkeypatch.setattr(choice, "free_memory", lambda comm: 1e6)
    assert not choice.prices(system._discrete, "grids", symmetric=True).prefer_direct


def test_a_factorisation_of_a_tenth_of_a_second_is_made_whatever_multigrid_costs() -> None:
    """And CG has as long as four factorisations, within 100 and 500 iterations."""

    def of(factors: float) -> choice.Prices:
        return choice.Prices(factors, factors, 0.0, 1e6, fits=True, memory=0.0)

    assert of(1e9).prefer_direct
    assert not of(4e9).prefer_direct
    assert [of(4.0**k * 1e6).most for k in (1, 3, 5)] == [100, 256, 500]


@pytest.fixture
def dear(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no factors be free, so that a small cube has multigrid."""
    monkeypatch.setattr(choice.Prices, "prefer_direct", False)
    monkeypatch.setattr("symancf.solve.solver.SMALL_SYSTEM", 0)


GIVEN_UP = "MUMPS takes its place for the rest of this solve"


def test_mumps_is_at_hand_where_factors_take_no_longer_than_smaller_steps_would() -> None:
    found = []
    for n in (16, 24):
        solver = sa.StaticProblem(loaded((n, n, n))).solver
        solver.prepare()
        krylov = solver.krylov
        assert krylov is not None
        found.append(krylov.takeover.at_hand)
    assert found == [True, False]


@pytest.mark.collective
@pytest.mark.usefixtures("dear")
def test_mumps_takes_over_where_multigrid_does_not_get_there() -> None:
    system = loaded((6, 6, 6), k=1e10)
    problem = sa.StaticProblem(system)
    if system.comm.rank == 0:
        with pytest.warns(UserWarning, match=GIVEN_UP):
            problem.solve()
    else:
        problem.solve()
    krylov = problem.solver.krylov
    assert krylov is not None
    takeover = krylov.takeover
    assert (takeover.times, krylov.name) == (1, "LDL^T by MUMPS (-pc_type cholesky)")
    assert (problem.history.cut_backs, problem.history.wasted) == (0, 0)
    exact = loaded((6, 6, 6), k=1e10)
    sa.StaticProblem(exact, options={"pc_type": "cholesky"}).solve()
    moved = system.comm.allreduce(float(np.abs(exact.state).max(initial=0.0)), op=max)
    assert np.abs(system.state - exact.state).max(initial=0.0) < 1e-6 * moved
    used = []
    for _ in range(4):  # each call tries again, later only some do
        problem.solve(to=system.time + 0.25)
        used.append(takeover.times)
    assert used == [2, 2, 3, 3]


@pytest.mark.usefixtures("dear")
@pytest.mark.parametrize("options", [{"pc_type": "grids"}, {"ksp_type": "cg"}])
def test_nothing_takes_over_what_the_user_has_chosen(options: dict[str, Any]) -> None:
    problem = sa.StaticProblem(loaded((6, 6, 6), k=1e6), options={**options, "ksp_max_it": 30})
    with refused(sa.ConvergenceError, reason="DIVERGED_ITS"):
        problem.solve(smallest=1.0)


@pytest.mark.usefixtures("dear")
def test_mumps_takes_over_in_motions() -> None:
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (4, 4, 4))
    law = {"E": 1e3, "nu": 0.49999999, "rho": 1.0}
    states = []
    for options in ({"ksp_max_it": 30}, {"pc_type": "lu"}):
        cube = sa.Body(mesh["body"], sa.elements.hex8_plain, saint_venant_kirchhoff(), **law)
        system = sa.System(cube, terms=[sa.fix(cube["x0"]), sa.gravity((0.0, 0.0, -1.0))])
        problem = sa.DynamicProblem(system, options=options)
        if "pc_type" in options:
            problem.solve(to=0.2, step=0.1)
        else:
            with pytest.warns(UserWarning, match=GIVEN_UP):
                problem.solve(to=0.2, step=0.1)
            takeover = problem._newton.takeover
            assert takeover is not None
            assert takeover.times == 1
            assert len(problem.history.steps) == 2
        states.append(system.state.copy())
    assert np.abs(states[0] - states[1]).max() < 1e-8 * np.abs(states[1]).max()
