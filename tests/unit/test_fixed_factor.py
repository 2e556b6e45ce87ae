# SPDX-License-Identifier: BSD-3-Clause
"""Factors on a fixed pattern against those of SciPy; motions with them and with PETSc's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import symancf as sa
from symancf.arrays import Array, Mask
from symancf.solve.fixed_factor import FixedFactor
from tests.motion import rope
from tests.unit.test_native import spinning, turned

Given = tuple[Any, Mask]


def factor_of(A: Any, constrains: Mask, symmetric: bool = True) -> FixedFactor:
    A = sp.csr_matrix(A)
    A.sort_indices()
    start, column = A.indptr.astype(np.int32), A.indices.astype(np.int32)
    return FixedFactor(start, column, A.data, constrains, symmetric)


def saddle(rng: np.random.Generator, bodies: int, own: int, shared: int) -> Given:
    """A ring of bodies with 6 coordinates, constraints of each and of neighbours."""
    n = 6 * bodies
    joined = sp.eye(bodies) + sp.eye(bodies, k=1) + sp.eye(bodies, k=1 - bodies)
    link = sp.csr_matrix(sp.kron(joined, np.ones((6, 6))))
    link.data = rng.normal(size=link.nnz)
    H = link.T @ link + 0.1 * sp.eye(n)
    alone = sp.block_diag([rng.normal(size=(own, 6)) for _ in range(bodies)])
    rows = []
    for k in range(bodies if shared else 0):
        row = np.zeros((shared, n))
        for body in (k, (k + 1) % bodies):
            row[:, 6 * body : 6 * body + 6] = rng.normal(size=(shared, 6))
        rows.append(row)
    G = sp.vstack([alone, *map(sp.csr_matrix, rows)])
    A = sp.csr_matrix(sp.bmat([[H, G.T], [G, None]]))
    constrains = np.arange(A.shape[0]) >= n
    return A, constrains


def permuted(given: Given, rng: np.random.Generator) -> Given:
    order = rng.permutation(given[0].shape[0])
    return sp.csr_matrix(given[0][order][:, order]), given[1][order]


def largest_error(factor: FixedFactor, A: Any, b: Array) -> float:
    x = factor.solve(b)
    return float(np.abs(x - np.linalg.solve(A.toarray(), b)).max() / np.abs(x).max())


@pytest.mark.parametrize(("bodies", "own", "shared"), [(1, 0, 0), (4, 3, 0), (9, 2, 1), (9, 0, 2)])
@pytest.mark.parametrize("symmetric", [True, False])
def test_saddle_points_are_solved(bodies: int, own: int, shared: int, symmetric: bool) -> None:
    rng = np.random.default_rng(bodies)
    for shuffle in (False, True):
        A, constrains = saddle(rng, bodies, own, shared)
        if not symmetric:
            A.data *= 1.0 + 0.1 * rng.normal(size=A.nnz)
        if shuffle:
            A, constrains = permuted((A, constrains), rng)
        factor = factor_of(A, constrains, symmetric)
        assert factor.suits
        assert factor.renew()
        assert largest_error(factor, A, rng.normal(size=len(constrains))) < 1e-9


def test_other_values_are_factored_in_the_same_memory() -> None:
    rng = np.random.default_rng(2)
    A, constrains = saddle(rng, 5, 2, 1)
    A.sort_indices()
    value = A.data.copy()
    start, column = A.indptr.astype(np.int32), A.indices.astype(np.int32)
    one, other = (FixedFactor(start, column, value, constrains, True) for _ in range(2))
    b = rng.normal(size=len(constrains))
    for scale in (1.0, 3.0):
        value[:] = scale * A.data
        assert one.renew()
    assert other.renew()
    value[:] = np.nan  # looked at by `renew` alone
    x, y = one.solve(b), other.solve(b)
    np.testing.assert_array_equal(x, y)
    np.testing.assert_allclose(3.0 * (A @ x), b, atol=1e-10)
    assert not one.renew()


@pytest.mark.parametrize("symmetric", [True, False])
def test_units_do_not_matter(symmetric: bool) -> None:
    rng = np.random.default_rng(3)
    A, constrains = saddle(rng, 6, 2, 1)
    units = 10.0 ** rng.uniform(-6.0, 6.0, len(constrains))
    b = rng.normal(size=len(constrains))
    scaled = sp.csr_matrix(sp.diags(units) @ A @ sp.diags(units))
    factor = factor_of(scaled, constrains, symmetric)
    assert factor.renew()
    x = factor.solve(units * b)
    np.testing.assert_allclose(units * x, np.linalg.solve(A.toarray(), b), rtol=1e-6, atol=1e-8)


def test_small_ones() -> None:
    none = np.zeros(0, bool)
    factor = factor_of(sp.csr_matrix((0, 0)), none)
    assert factor.renew()
    assert len(factor.solve(np.zeros(0))) == 0
    for symmetric in (True, False):
        factor = factor_of([[-2.0]], np.array([False]), symmetric)
        assert factor.renew()
        assert factor.solve(np.array([3.0])) == [-1.5]


@pytest.mark.parametrize("symmetric", [True, False])
def test_what_is_singular_is_refused(symmetric: bool) -> None:
    rng = np.random.default_rng(4)
    A, constrains = saddle(rng, 3, 2, 1)
    twice = A.toarray()
    first, second = np.flatnonzero(constrains)[:2]
    twice[second], twice[:, second] = twice[first], twice[:, first]  # a constraint twice
    shared = A.toarray()
    first, second = np.flatnonzero(constrains)[-2:]
    shared[second], shared[:, second] = shared[first], shared[:, first]
    soft = A.toarray()[:18, :18]
    soft -= np.linalg.eigvalsh(soft)[0] * np.eye(18)  # a mode without stiffness
    empty = np.diag([1.0, 0.0])
    for B in (twice, shared, soft, empty, np.zeros((1, 1)), np.full((1, 1), np.nan)):
        pattern = sp.csr_matrix(np.ones_like(B))
        pattern.data[:] = B.ravel()
        kinds = constrains[: len(B)] if len(B) > 2 else np.zeros(len(B), bool)
        factor = factor_of(pattern, kinds, symmetric)
        assert not factor.renew()


@pytest.mark.parametrize("mass", [0.0, 1e-14, 1e-8, 1e-3])
def test_what_constraints_alone_hold_is_solved_or_refused(mass: float) -> None:
    """Free but for two constraints that bodies share; coordinates come first, with little mass."""
    rng = np.random.default_rng(6)
    springs = sp.block_diag([rng.normal(size=(5, 6)) for _ in range(2)])  # each has a free motion
    G = sp.csr_matrix(rng.normal(size=(2, 12)))
    A = sp.csr_matrix(sp.bmat([[springs.T @ springs + mass * sp.eye(12), G.T], [G, None]]))
    factor = factor_of(A, np.arange(14) >= 12)
    if factor.renew():
        assert largest_error(factor, A, rng.normal(size=14)) < 1e-7
    else:
        assert mass < 1e-3


def test_a_matrix_without_symmetry_is_not_taken_for_symmetric() -> None:
    rng = np.random.default_rng(5)
    A, constrains = saddle(rng, 4, 2, 1)
    A.data *= 1.0 + 0.5 * rng.normal(size=A.nnz)
    factor = factor_of(A, constrains, symmetric=True)
    assert not factor.renew()


# ---- motions ------------------------------------------------------------------------------------
def moved(make: Any, to: float, step: float, **options: Any) -> tuple[sa.System, Any, int]:
    system = make()
    problem = sa.DynamicProblem(system, spectral_radius=0.8, options=options)
    history = problem.solve(to=to, step=step)
    assert problem.native
    return system, problem, history.iterations


@pytest.mark.parametrize(("make", "to", "step"), [(turned, 0.3, 5e-3), (spinning, 0.04, 1e-3)])
def test_motions_are_those_with_factors_of_petsc(make: Any, to: float, step: float) -> None:
    system, problem, iterations = moved(make, to, step)
    fixed = problem._newton.preconditioner.fixed
    assert fixed.factored
    assert fixed.refusals == 0
    other, by_petsc, count = moved(make, to, step, pc_type="lu")
    assert by_petsc._newton.preconditioner.fixed is None
    np.testing.assert_allclose(system.state, other.state, rtol=1e-9, atol=1e-9)
    assert abs(iterations - count) <= 0.05 * count


def test_petsc_takes_over_where_factors_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    expected, _, _ = moved(turned, 0.1, 5e-3, pc_type="lu")
    monkeypatch.setattr(FixedFactor, "renew", lambda self: False)
    system, problem, _ = moved(turned, 0.1, 5e-3)
    assert problem._newton.preconditioner.fixed.refusals > 0
    np.testing.assert_allclose(system.state, expected.state, rtol=1e-9, atol=1e-9)


def test_who_chooses_factors_of_petsc_gets_them() -> None:
    for options in ({"pc_type": "lu"}, {"pc_factor_mat_solver_type": "mumps"}):
        system = turned()
        problem = sa.DynamicProblem(system, options=options)
        problem.solve(to=5e-3, step=5e-3)
        assert problem.snes.getKSP().getPC().getType() == "lu"


def test_statics_may_have_them_too() -> None:
    found = []
    for options in ({}, {"pc_type": "fixed"}):
        body, stiffness = rope(6), sa.Parameter("P", 0.1)
        pull = sa.force(body["tip"], (0.0, 0.0, stiffness))
        problem = sa.StaticProblem(
            sa.System(body, terms=[sa.fix(body["root"]), pull]), options=options
        )
        for stiffness.value in (0.1, 0.05):
            problem.solve()
            found.append(problem.system.position(body["tip"])[0])
        assert problem.solver.linear.name.startswith("LU" if not options else "LDL^T or LU on a")
    np.testing.assert_allclose(found[:2], found[2:], rtol=1e-9, atol=1e-12)
    assert abs(found[0] - found[1]).max() > 1e-6
