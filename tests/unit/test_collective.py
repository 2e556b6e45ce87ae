# SPDX-License-Identifier: BSD-3-Clause
"""Messages between ranks: rows arrive where they should, errors on all."""

from __future__ import annotations

import numpy as np
import pytest
from mpi4py import MPI

from symancf.errors import MeshError, SymancfError
from symancf.runtime.collective import (
    block_starts,
    exchange,
    lookup,
    owners_of,
    scatter_blocks,
    share_error,
    together,
)
from tests.refusals import refused

COMM = MPI.COMM_WORLD
pytestmark = pytest.mark.collective


def test_blocks_are_even_and_know_their_owners() -> None:
    starts = block_starts(11, 4)
    np.testing.assert_array_equal(starts, [0, 2, 5, 8, 11])
    np.testing.assert_array_equal(
        owners_of(starts, np.arange(11)), np.repeat(range(4), [2, 3, 3, 3])
    )
    assert owners_of(block_starts(1, 3), np.array([0]))[0] == 2  # blocks without items are skipped


def test_rows_go_to_their_ranks_in_order() -> None:
    n = 5 if COMM.rank != 1 else 0  # a rank may have nothing to send
    to = (np.arange(n) * 7 + COMM.rank) % COMM.size
    label = 100 * COMM.rank + np.arange(n)
    matrix = np.arange(n)[:, None, None] * np.ones((1, 2, 3))
    counts, (labels, matrices) = exchange(COMM, to, label, matrix)
    expected = [
        100 * source + i
        for source in range(COMM.size)
        if source != 1
        for i in range(5)
        if (i * 7 + source) % COMM.size == COMM.rank
    ]
    assert sorted(labels.tolist()) == sorted(expected)
    assert counts.sum() == len(expected)
    assert np.all(np.diff(labels) > 0)
    np.testing.assert_array_equal(matrices[:, 1, 2], labels % 100)


def test_lookup_in_a_distributed_table() -> None:
    starts = block_starts(10, COMM.size)
    mine = np.arange(starts[COMM.rank], starts[COMM.rank + 1])
    table = np.stack([mine, mine**2], axis=1)
    asked = np.array([[9, 0], [3, 3]]) if COMM.rank == 0 else np.empty((0, 2), int)
    found = lookup(COMM, starts, asked, table)
    np.testing.assert_array_equal(found[..., 1], asked**2)
    assert found.shape == (*asked.shape, 2)


def test_root_hands_out_slices() -> None:
    whole = np.arange(14.0).reshape(7, 2) if COMM.rank == 0 else None
    starts = block_starts(7, COMM.size)
    part = scatter_blocks(COMM, whole, starts if COMM.rank == 0 else None)
    np.testing.assert_array_equal(part[:, 0] / 2, np.arange(*starts[COMM.rank : COMM.rank + 2]))


def test_error_of_one_rank_is_raised_on_all() -> None:
    def fail() -> None:
        with together(COMM):
            if COMM.rank == COMM.size - 1:
                raise MeshError("from the last rank", cells=[3])

    with refused(MeshError, cells=(3,)):
        fail()
    with together(COMM):
        pass


class Odd(Exception):
    """An error that does not survive pickling."""

    def __init__(self, a: int, b: int) -> None:
        super().__init__(f"{a} and {b}")


def test_errors_that_cannot_be_sent_are_described() -> None:
    kind = Odd if COMM.size == 1 else SymancfError  # the same class on every rank
    with pytest.raises(kind, match="1 and 2"):
        share_error(COMM, Odd(1, 2) if COMM.rank == 0 else None)


def test_lowest_rank_wins() -> None:
    with refused(MeshError, asked="rank", given=0):
        share_error(COMM, MeshError("which", asked="rank", given=COMM.rank))
