# SPDX-License-Identifier: BSD-3-Clause
"""Factors on a fixed pattern against those of SciPy; motions with them and with PETSc's."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import symancf as sa
from symancf.arrays import Array, Mask, pointer
from symancf.solve.fixed_factor import FixedFactor
from symancf.solve.solver import _suits_fixed
from tests.motion import rope
from tests.unit.test_native import spinning, turned

Given = tuple[Any, Mask]


def factor_of(
    A: Any, constrains: Mask, symmetric: bool = True, follows: Mask | None = None
) -> FixedFactor:
    A = sp.csr_matrix(A)
    A.sort_indices()
    start, column = A.indptr.astype(np.int32), A.indices.astype(np.int32)
    return FixedFactor(start, column, A.data, constrains, symmetric, follows)


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


@pytest.mark.parametrize("symmetric", [True, False])
def test_what_has_no_diagonal_follows_its_constraints(symmetric: bool) -> None:
    """Tensions of a cord over bodies, and what slides between them, without stiffness."""
    rng, bodies = np.random.default_rng(5), 8
    (H, _), lengths = saddle(rng, bodies, 0, 0), np.diag(rng.uniform(0.5, 2.0, bodies))
    G = np.kron(np.eye(bodies) + np.eye(bodies, k=1), rng.normal(size=(1, 6)))
    slide = np.eye(bodies)[:, 1:] - np.eye(bodies)[:, :-1]
    parts = [[H, G.T, None], [G, -1e-3 * lengths, slide], [None, slide.T, None]]
    A = sp.csr_matrix(sp.bmat(parts))
    if not symmetric:
        A.data *= 1.0 + 0.1 * rng.normal(size=A.nnz)
    n = 6 * bodies
    kind = np.repeat([0, 1, 2], [n, bodies, bodies - 1])
    order = rng.permutation(len(kind))
    A, kind = sp.csr_matrix(A[order][:, order]), kind[order]
    factor = factor_of(A, kind == 1, symmetric, kind == 2)
    assert factor.renew()
    assert largest_error(factor, A, rng.normal(size=len(kind))) < 1e-9
    if symmetric:
        assert factor.negative == bodies
    assert not factor_of(A, kind == 1, symmetric).renew()


def corded(stiffness: float, couples: float) -> tuple[Any, Any]:
    """Return bodies in a row with a cord through all, and kinds of rows: 1 tensions, 2 slides.

    `stiffness` : of the cord, over that of the bodies; `couples`: an entry between distant bodies.
    """
    rng, bodies = np.random.default_rng(7), 12
    H = np.kron(np.eye(bodies), 2.0 * np.eye(6)) + np.kron(np.eye(bodies, k=1), -0.1 * np.eye(6))
    H += np.kron(np.eye(bodies, k=-1), -0.1 * np.eye(6))
    G = np.kron(np.eye(bodies) - np.eye(bodies, k=1), rng.normal(size=(1, 6)))
    slide = np.eye(bodies)[:, 1:] - np.eye(bodies)[:, :-1]
    C = -np.eye(bodies) / stiffness
    A = sp.lil_matrix(sp.bmat([[H, G.T, None], [G, C, slide], [None, slide.T, None]]))
    A[0, 6 * (bodies - 1)] = A[6 * (bodies - 1), 0] = 1.0  # a place in the pattern
    A = sp.csr_matrix(A)
    A[0, 6 * (bodies - 1)] = A[6 * (bodies - 1), 0] = couples
    A.sort_indices()
    return A, np.repeat([0, 1, 2], [6 * bodies, bodies, bodies - 1])


@pytest.mark.parametrize(("stiffness", "before"), [(1e4, True), (3e4, False), (1e30, False)])
def test_elastic_tensions_come_first(stiffness: float, before: bool) -> None:
    """With `STIFFEST` = 1e4: what adds more to a diagonal would cost digits."""
    A, kind = corded(stiffness, 1e-3)
    factor = factor_of(A, kind == 1, True, kind == 2)
    assert factor.renew()
    assert (factor.elastic.bit_count() == 12) == before
    assert factor.negative == 12
    assert largest_error(factor, A, np.ones(len(kind))) < 1e-9
    late = FixedFactor(A.indptr, A.indices, A.data, kind == 1, True, kind == 2, hastens=False)
    assert late.elastic == 0
    assert not late.gains


def test_another_order_is_a_gain_when_tensions_are_elastic() -> None:
    A, kind = corded(1e30, 1e-3)
    factor = factor_of(A, kind == 1, True, kind == 2)
    assert not factor.gains
    A.data[:] = corded(10.0, 1e-3)[0].data
    assert factor.gains


@pytest.mark.parametrize("symmetric", [True, False])
def test_places_of_zeros_do_not_couple(symmetric: bool) -> None:
    """What the pattern alone couples fills nothing in; another value there refuses the factors."""
    A, kind = corded(10.0, 0.0)
    given = A.indptr, A.indices, A.data, kind == 1, symmetric, kind == 2
    every = FixedFactor(*given)
    some = FixedFactor(*given, some=A.data != 0.0)
    assert some.parts
    assert not every.parts
    assert some.operations < every.operations
    for factor in (every, some):
        assert factor.renew()
        assert largest_error(factor, A, np.ones(len(kind))) < 1e-9
    A.data[:] = corded(10.0, 1e-3)[0].data
    assert every.renew()
    assert not some.renew()


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


@pytest.mark.parametrize(("bodies", "own", "shared"), [(1, 0, 0), (4, 3, 0), (9, 2, 1), (9, 0, 2)])
def test_negative_eigenvalues_are_counted(bodies: int, own: int, shared: int) -> None:
    """Of saddle points whose stiffness is definite, indefinite or negative, in any units."""
    rng = np.random.default_rng(10 + bodies)
    counted = set()
    for shift in (0.0, 0.5, 2.0, 8.0, 1e3):
        A, constrains = saddle(rng, bodies, own, shared)
        A = sp.csr_matrix(A - shift * sp.diags(np.where(constrains, 0.0, 1.0)))
        units = 10.0 ** rng.uniform(-3.0, 3.0, len(constrains))
        for scale in (np.ones(len(units)), units):
            B = sp.csr_matrix(sp.diags(scale) @ A @ sp.diags(scale))
            B, kinds = permuted((B, constrains), rng)
            factor = factor_of(B, kinds)
            assert factor.negative is None
            if not factor.renew():
                assert shift > 0.0
                continue
            eigenvalues = np.linalg.eigvalsh(A.toarray())
            assert factor.negative in (int((eigenvalues < 0.0).sum()), None)
            counted.add((factor.negative or 0) - int(constrains.sum()))
    assert {0, 6 * bodies - int(constrains.sum())} <= counted


def test_what_has_no_factors_has_no_number() -> None:
    value = np.array([[2.0, 1.0], [1.0, -3.0]])
    for symmetric in (True, False):
        factor = factor_of(value, np.zeros(2, bool), symmetric)
        assert factor.renew()
        assert factor.negative == (1 if symmetric else None)
    factor = factor_of([[0.0, 1.0], [1.0, 0.0]], np.zeros(2, bool))
    assert not factor.renew()
    assert factor.negative is None


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


def test_statics_have_them() -> None:
    found = []
    for options in ({"pc_type": "lu"}, {}):
        body, stiffness = rope(6), sa.Parameter("P", 0.1)
        pull = sa.force(body["tip"], (0.0, 0.0, stiffness))
        problem = sa.StaticProblem(
            sa.System(body, terms=[sa.fix(body["root"]), pull]), options=options
        )
        for stiffness.value in (0.1, 0.05):
            problem.solve()
            found.append(problem.system.position(body["tip"])[0])
        assert problem.solver.linear.name.startswith("LU" if options else "LDL^T or LU on a")
    np.testing.assert_allclose(found[:2], found[2:], rtol=1e-9, atol=1e-12)
    assert abs(found[0] - found[1]).max() > 1e-6


def test_a_chain_of_a_thousand_unknowns_has_a_fixed_pattern() -> None:
    for cells, suits in ((160, True), (1600, False)):
        system = sa.System(rope(cells))._discrete
        assert 900 < system.numbering.size / (cells // 160) < 1100
        assert _suits_fixed(system, dynamic=False) == suits


def test_who_chooses_factors_of_petsc_for_statics_gets_them() -> None:
    body = rope(3)
    system = sa.System(body, terms=[sa.fix(body["root"]), sa.force(body["tip"], (0, 0, 0.1))])
    problem = sa.StaticProblem(system, options={"pc_factor_mat_solver_type": "petsc"})
    problem.solve()
    assert problem.solver.linear.name == "LU by PETSC (-pc_type lu)"


def on_axis(r_a: Any) -> list[Any]:
    return [r_a[1], r_a[2]]


@pytest.mark.filterwarnings("ignore:the equilibrium at pseudo-time")
@pytest.mark.parametrize(("held", "loads"), [(False, (1, 2.4, 2.5, 23)), (True, (1, 20, 21, 60))])
def test_directions_in_which_columns_buckle_are_counted(
    held: bool, loads: tuple[float, ...]
) -> None:
    """Clamped columns, pressed straight beyond the loads of Euler, 2.467 and 22.2 or 20.19."""
    mesh = sa.Mesh.box((1.0,), (8,))
    section = {"EA": 1e6, "EI": 1.0}
    column = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), **section)
    tip = column.at((1.0, 0.0, 0.0))
    load = sa.Parameter("P", 1.0)
    terms = [sa.fix(column["x0"]), sa.force(tip, (lambda t: -t * load.value, 0.0, 0.0))]
    terms += [sa.Constraint(on_axis, tip)] if held else []
    found: list[list[int | None]] = []
    for options in ({}, {"pc_type": "lu"}):
        problem, numbers = sa.StaticProblem(sa.System(column, terms=terms), options=options), []
        for load.value in loads:
            if problem.history.steps:
                problem.reset()
            problem.solve(jump=True)
            numbers.append(problem.history.steps[-1].unstable)
        found.append(numbers)
    assert found == 2 * [[0, 0, 2, 4]]


@pytest.mark.parametrize("own", [0, 2])
def test_solutions_with_the_transpose(own: int) -> None:
    rng = np.random.default_rng(5)
    A, constrains = saddle(rng, 6, own, 1)
    n = int((~constrains).sum())
    A = A + sp.csr_matrix(
        np.pad(0.1 * A[:n, :n].toarray() * rng.normal(size=(n, n)), (0, A.shape[0] - n))
    )
    factor, b = factor_of(A, constrains, symmetric=False), rng.normal(size=A.shape[0])
    assert factor.renew()
    x = np.empty(len(b))
    solve = ctypes.CFUNCTYPE(None, *3 * [ctypes.c_void_p])(factor.transposes)
    solve(ctypes.addressof(factor.data), pointer(b), pointer(x))
    np.testing.assert_allclose(A.T @ x, b, atol=1e-9 * np.abs(b).max())
    assert np.abs(A @ x - b).max() > 0.1
    np.testing.assert_allclose(A @ factor.solve(b), b, atol=1e-9 * np.abs(b).max())
