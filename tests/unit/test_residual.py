# SPDX-License-Identifier: BSD-3-Clause
"""What a linear solver has found is looked at by its residual."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from petsc4py import PETSc

import symancf as sa
from symancf.bench.solution import pulled
from symancf.solve import solver
from symancf.solve.residual import residual_ratio
from tests.refusals import refused

LDLT = {"pc_type": "cholesky", "pc_factor_mat_solver_type": "mumps"}
LU = {"pc_type": "lu", "pc_factor_mat_solver_type": "mumps"}
MINRES = {"ksp_type": "minres", "pc_type": "jacobi", "ksp_max_it": 500}


def strip(p: float, length: float = 4.0) -> tuple[sa.System, sa.Parameter]:
    """Return a strip that a follower pressure bends: its tangent is unsymmetric.

    `length` tells the unit of length, that of forces is such that `p` is the same.
    """
    unit = length / 4.0
    mesh = sa.Mesh.box((length, unit, 0.2 * unit), (6, 2, 1))
    given = {"mu": 1.0, "lam": 10.0, "rho": 1.0 / unit**2}
    body = sa.Body(mesh["body"], sa.elements.hex8_plain, sa.energies.neo_hooke(), **given)
    load = sa.Parameter("p", p)
    return sa.System(body, terms=[sa.fix(body["x0"]), sa.pressure(body["z1"], load)]), load


def told(options: dict[str, Any], way: str, length: float = 4.0) -> tuple[Any, list[str]]:
    """Return iterations and displacements, and what was warned of."""
    system, load = strip({"statics": 2e-4, "path": 0.0, "motion": 2e-2}[way], length)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if way == "motion":
            problem = sa.DynamicProblem(system, options=options)
            history = problem.solve(to=1.5, step=0.5)
            assert problem._newton.native.able == (system.comm.size == 1)
        elif way == "statics":
            history = sa.StaticProblem(system, options=options).solve()
        else:
            history = sa.StaticProblem(system, options=options).follow(load, to=2e-4)
    found = [step.iterations for step in history.steps], system.state / length
    return found, [str(warning.message) for warning in caught]


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize("way", ["statics", "path", "motion"])
def test_factors_of_a_triangle_of_an_unsymmetric_tangent_are_told_and_mended(way: str) -> None:
    """Before: residuals of 0.5 % without a word, more iterations, or none that end."""
    (right, u), silence = told(LU, way)
    (iterations, v), words = told(LDLT, way)
    assert not silence
    assert sum(iterations) <= sum(right) + (len(right) if way == "path" else 0)
    assert np.abs(u - v).max() < 1e-8 * max(np.abs(u).max(), 1e-300)
    rank = PETSc.COMM_WORLD.tompi4py().rank
    assert len(words) == (1 if rank == 0 else 0)
    for word in words:
        assert "take -pc_type lu" in word
        assert "\"pressure on region 'z1' of 'body'\" is not" in word


@pytest.mark.parametrize("length", [4e-3, 4e3])
def test_so_it_is_in_other_units(length: float) -> None:
    (right, u), _ = told(LU, "statics", length)
    (iterations, v), words = told(LDLT, "statics", length)
    assert (iterations, len(words)) == (right, 1)
    assert np.abs(u - v).max() < 1e-8 * np.abs(u).max()


def test_incomplete_factors_precondition_where_they_do_not_solve() -> None:
    (right, u), _ = told(LU, "statics")
    (iterations, v), words = told({"ksp_type": "preonly", "pc_type": "ilu"}, "statics")
    assert iterations == right
    assert np.abs(u - v).max() < 1e-8 * np.abs(u).max()
    assert len(words) == 1
    assert "look at the options -ksp_type preonly -pc_type ilu" in words[0]


def test_what_does_not_solve_fails_and_names_the_option() -> None:
    system, load = strip(2e-4)
    problem = sa.StaticProblem(system, options={"ksp_type": "preonly", "pc_type": "jacobi"})
    with refused(sa.ConvergenceError, reason="DIVERGED_BREAKDOWN"):
        problem.solve()
    load.value = 0.0
    with refused(sa.ConvergenceError, reason="DIVERGED_LINEAR_SOLVE") as caught:
        problem.follow(load, to=2e-4)
    assert "-pc_type jacobi" in str(caught.value)


def test_methods_for_symmetric_matrices_are_named_where_they_fail() -> None:
    system, _ = strip(2e-3)
    problem = sa.StaticProblem(system, options=MINRES)
    with refused(sa.ConvergenceError, reason="DIVERGED_ITS") as caught:
        problem.solve()
    assert "-ksp_type minres is for symmetric tangents" in str(caught.value)


def test_lu_takes_the_place_of_factors_that_nobody_has_chosen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (right, u), _ = told(LU, "statics")
    monkeypatch.setattr(solver, "is_symmetric", lambda *_: True)
    monkeypatch.setattr(solver, "has", lambda package: package == "mumps")
    system, _ = strip(2e-4)
    problem = sa.StaticProblem(system)
    history = problem.solve()
    assert problem.snes.getKSP().getPC().getType() == "lu"
    assert [step.iterations for step in history.steps] == right
    assert np.abs(u - system.state / 4.0).max() < 1e-8 * np.abs(u).max()


def test_round_off_of_a_badly_conditioned_matrix_is_no_residual() -> None:
    """A solution x may leave eps |A| |x|, however much of b that is."""
    A = PETSc.Mat().createAIJ((2, 2), comm=PETSc.COMM_SELF)
    A.setUp()
    A.setValue(0, 0, 1e10)
    A.setValue(1, 1, 1.0)
    A.assemble()
    x, b = A.createVecs()
    b.setArray([0.0, 1e3])
    for first, share in ((1e-17, 0.0), (3e-11, 0.0), (3e-10, 3e-3), (1e-8, 0.1)):
        x.setArray([first, 1e3])
        assert residual_ratio(A, b, x) == pytest.approx(share)
    b.setArray([1.0, 1e-3])
    x.setArray([1e-10, 0.0])
    assert residual_ratio(A, b, x) == pytest.approx(1e-3)
    b.setArray([1.0, 0.0])
    for share, told in ((3e-7, 0.0), (3e-6, 3e-6)):  # of b; what is less no iteration notices
        x.setArray([1e-10 * (1.0 + share), 0.0])
        assert residual_ratio(A, b, x) == pytest.approx(told, rel=1e-6)


@pytest.mark.collective
def test_cg_goes_on_until_the_residual_itself_is_small() -> None:
    """In its own norm, of the preconditioned residual, rough residuals count for less."""
    problem = pulled(sa.Mesh.box((1.0, 1.0, 1.0), (6, 6, 6)), pc_type="grids")
    problem.solve(to=0.5)
    ksp, krylov = problem.snes.getKSP(), problem.solver.krylov
    assert krylov is not None
    A, _ = ksp.getOperators()
    b, x, r = A.createVecRight(), A.createVecRight(), A.createVecRight()
    b.set(1.0)
    left, iterations = [], []
    for share in (0.0, 1e-9, 0.0):
        krylov.aim(0.3, share)
        ksp.solve(b, x)
        A.mult(x, r)
        r.axpy(-1.0, b)
        left.append(r.norm() / b.norm())
        iterations.append(ksp.getIterationNumber())
    assert left[1] <= 1.01e-9
    assert left[0] == left[2] > 1e-3
    assert iterations[0] == iterations[2] < iterations[1]


@pytest.mark.parametrize("count", [1, 2])
def test_cg_has_its_vectors_with_another_preconditioner(count: int) -> None:
    bodies = []
    for k in range(count):
        mesh = sa.Mesh.box((1.0, 1.0, 1.0), (3, 3, 3), warp=lambda X, k=k: X + 2.0 * k)
        law, moduli = sa.energies.neo_hooke(), {"mu": 1.0, "lam": 1.0}
        bodies.append(sa.Body(mesh["body"], sa.elements.hex8_plain, law, name=f"b{k}", **moduli))
    terms = [term for b in bodies for term in (sa.fix(b["x0"]), sa.traction(b["x1"], (0, 0, 0.01)))]
    problem = sa.StaticProblem(sa.System(*bodies, terms=terms), options={"pc_type": "grids"})
    problem.solve()
    ksp = problem.snes.getKSP()
    A, _ = ksp.getOperators()
    b, x, r = A.createVecRight(), A.createVecRight(), A.createVecRight()
    b.set(1.0)
    ksp.getPC().setType("none")
    ksp.setTolerances(rtol=1e-6)
    ksp.solve(b, x)
    A.mult(x, r)
    r.axpy(-1.0, b)
    assert ksp.getType() == "cg"
    assert r.norm() < 0.01 * b.norm()
