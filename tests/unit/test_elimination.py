# SPDX-License-Identifier: BSD-3-Clause
"""Null vectors and shortest solutions by elimination, group by group, as by dense algebra."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from symancf.newton.elimination import Elimination, rows_by_groups

ZERO = 1e-9


def sparse(
    rng: np.random.Generator, groups: int, dependent: int
) -> tuple[csr_array, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Return rows on chained groups of columns, some of which are sums of others."""
    owner = np.repeat(np.arange(groups), rng.integers(1, 6, groups))
    dense = np.zeros((4 * len(owner), len(owner)))
    for row in dense:
        g = rng.integers(groups)
        near = (owner == g) | (owner == (g + 1) % groups)
        row[near] = rng.normal(size=near.sum())
    for column in rng.choice(len(owner), dependent, replace=False):
        others = rng.choice(len(owner), 3)
        dense[:, column] = dense[:, others[others != column]].sum(axis=1)
    return csr_array(dense), owner


@pytest.mark.parametrize("dependent", [0, 1, 7])
def test_null_vectors_span_what_dense_algebra_finds(dependent: int) -> None:
    rng = np.random.default_rng(dependent)
    for _ in range(10):
        A, owner = sparse(rng, 12, dependent)
        found = Elimination(np.bincount(owner), rows_by_groups(A, owner), ZERO)
        dense = A.toarray()
        missing = len(owner) - np.linalg.matrix_rank(dense, tol=1e-8)
        assert found.count == missing
        assert (missing > 0) == (dependent > 0)
        N = np.zeros((missing, len(owner)))
        for row, (columns, values) in zip(N, found.null_vectors(), strict=True):
            assert (np.diff(columns) > 0).all()
            row[columns] = values
        assert np.linalg.matrix_rank(np.vstack([N, np.zeros(len(owner))])) == missing
        np.testing.assert_allclose(
            dense @ N.T, 0.0, atol=1e-9 * max(1.0, np.abs(N).max(initial=0.0))
        )
        b = dense.T @ rng.normal(size=len(dense))
        y = found.solve(b)
        np.testing.assert_allclose(dense.T @ (dense @ y), b, atol=1e-6 * np.abs(b).max())


def test_groups_without_rows_are_free() -> None:
    A = csr_array(np.array([[1.0, 1.0, 0.0, 0.0]]))
    owner = np.array([0, 1, 2, 2])
    found = Elimination(np.bincount(owner), rows_by_groups(A, owner), ZERO)
    assert found.count == 3
    assert len(found.null_vectors(2)) == 2
    nothing = Elimination(np.array([2]), rows_by_groups(csr_array((0, 2)), np.array([0, 0])), ZERO)
    assert nothing.count == 2


def test_work_that_is_too_much_is_told() -> None:
    A, owner = sparse(np.random.default_rng(3), 12, 0)
    parts = rows_by_groups(A, owner)
    work = Elimination(np.bincount(owner), parts, ZERO).operations
    assert not Elimination(np.bincount(owner), parts, ZERO, 0.5 * work).complete
    assert Elimination(np.bincount(owner), parts, ZERO, work).complete


def test_a_tree_takes_work_proportional_to_its_size() -> None:
    work = []
    for count in (200, 800):
        owner = np.repeat(np.arange(count), 2)
        dense = np.zeros((3 * count, 2 * count))
        rng = np.random.default_rng(count)
        for k in range(count):
            near = [k, *(g for g in (2 * k + 1, 2 * k + 2) if g < count)]
            for row in range(3):
                for g in near[: row + 1]:
                    dense[3 * k + row, 2 * g : 2 * g + 2] = rng.normal(size=2)
        parts = rows_by_groups(csr_array(dense), owner)
        found = Elimination(np.bincount(owner), parts, ZERO)
        assert found.count == 0
        work.append(found.operations)
    assert work[1] < 4.2 * work[0]
