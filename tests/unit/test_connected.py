# SPDX-License-Identifier: BSD-3-Clause
"""Connected items of which each rank has a share are those that one rank finds."""

from __future__ import annotations

import numpy as np
import pytest
from mpi4py import MPI
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from symancf.mesh.partition.components import least_connected, meetings, numbered
from symancf.runtime.collective import shares

COMM = MPI.COMM_WORLD
pytestmark = pytest.mark.collective


def expected(n: int, pairs: np.ndarray) -> np.ndarray:
    """Return the least item that each of n is connected with."""
    graph = coo_array((np.ones(len(pairs)), pairs.T), shape=(n, n))
    _, part = connected_components(graph, directed=False)
    _, first = np.unique(part, return_index=True)
    return first[part]


@pytest.mark.collective(rows=3)
@pytest.mark.parametrize("kind", ["random", "path", "shuffled path", "star", "none"])
def test_labels_are_the_least_items(kind: str) -> None:
    random = np.random.default_rng(3)
    n = 200 if COMM.rank != 1 else 0  # a rank may have nothing
    starts = shares(COMM, n)
    total = int(starts[-1])
    order = random.permutation(total) if kind == "shuffled path" else np.arange(total)
    pairs = {
        "random": random.integers(0, total, (total // 2, 2)),
        "star": np.stack([np.full(total, total - 1), np.arange(total)], axis=1),
        "none": np.zeros((0, 2), dtype=np.int64),
    }.get(kind, np.stack([order[1:], order[:-1]], axis=1))
    mine = slice(starts[COMM.rank], starts[COMM.rank + 1])
    label = least_connected(COMM, starts, pairs[COMM.rank :: COMM.size])
    every = expected(total, pairs)
    np.testing.assert_array_equal(label, every[mine])
    number, count = numbered(COMM, starts, label)
    roots, numbers = np.unique(every, return_inverse=True)
    assert count == len(roots)
    np.testing.assert_array_equal(number, numbers[mine])


def test_items_of_a_group_come_together() -> None:
    groups = np.array([[0, 5], [5, 9], [0, 9], [5, 0]])
    items = 10 * COMM.rank + np.arange(4)
    starts = shares(COMM, 10 if COMM.rank != 1 else 0)
    named, first, count, at = meetings(COMM, starts, groups, items)
    found = {int(g): at[f : f + c].tolist() for g, f, c in zip(named, first, count, strict=True)}
    every = {g: items for part in COMM.allgather(found) for g, items in part.items()}
    ranks = range(COMM.size)
    assert every == {
        0: [10 * r + k for r in ranks for k in (0, 2, 3)],
        5: [10 * r + k for r in ranks for k in (0, 1, 3)],
        9: [10 * r + k for r in ranks for k in (1, 2)],
    }
    assert all(starts[COMM.rank] <= g < starts[COMM.rank + 1] for g in found)
