# SPDX-License-Identifier: BSD-3-Clause
"""Problems that a program makes and drops leave nothing in memory."""

from __future__ import annotations

import ctypes
import gc
from typing import TYPE_CHECKING

import pytest
from mpi4py import MPI

import symancf as sa
from symancf.runtime import petsc
from tests import walks

if TYPE_CHECKING:
    from collections.abc import Callable

VECTOR = 2000  # bytes of a vector of PETSc without entries: what was lost with each problem
PROBLEMS = 60


class _Heap(ctypes.Structure):
    """The numbers of mallinfo2 of the C library of GNU."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]


def _bytes_in_use() -> int:
    for _ in range(2):  # what has a finalizer goes in the second pass
        gc.collect()
    petsc.collect(MPI.COMM_WORLD)
    gc.collect()
    count = ctypes.CDLL(None).mallinfo2
    count.restype = _Heap
    return int(count().uordblks)


@pytest.mark.parametrize("kind", ["statics", "motion"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_problem_that_is_dropped_leaves_nothing(kind: str) -> None:
    if not hasattr(ctypes.CDLL(None), "mallinfo2"):
        pytest.skip("the C library does not count its heap")
    system = (walks.cube() if kind == "statics" else walks.two_bodies()).system

    def make() -> None:
        if kind == "statics":
            sa.StaticProblem(system).solve()
        else:
            sa.DynamicProblem(system).solve(to=1e-3, step=1e-3)

    _repeat(make, 20)
    before = _bytes_in_use()
    _repeat(make, PROBLEMS)
    assert (_bytes_in_use() - before) / PROBLEMS < VECTOR


def _repeat(call: Callable[[], None], count: int) -> None:
    for _ in range(count):
        call()
