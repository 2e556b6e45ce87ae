# SPDX-License-Identifier: BSD-3-Clause
"""Problems that a program makes and drops leave nothing in memory, on any rank."""

from __future__ import annotations

import ctypes

import pytest

from tests.mpi import run_mpi

pytestmark = [
    pytest.mark.parallel,
    pytest.mark.skipif(
        not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="the C library does not count its heap"
    ),
]

MOST = 400.0  # bytes for each problem: 30 to 100 are what Python's own lists grow by
# The C library counts what it keeps of freed memory for the next call as in use, until it is full
ALL_FREED = {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}

# Bytes that each problem leaves, by what it is: the least of some windows. What is lost grows in
# each; the dictionary of Python's names grows by a megabyte in one of them.
SCRIPT = """
import ctypes, gc, json, warnings
from itertools import pairwise
from mpi4py import MPI
import symancf as sa
from symancf.runtime import petsc
from tests import walks

PROBLEMS, WINDOWS = 20, 3
NAMES = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"

class Heap(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in NAMES.split()]

count = ctypes.CDLL(None).mallinfo2
count.restype = Heap

def bytes_in_use():
    for _ in range(2):  # what has a finalizer goes in the second pass
        gc.collect()
        petsc.collect(MPI.COMM_WORLD)
    gc.collect()
    return count().uordblks

def growth(make):
    seen = []
    for _ in range(WINDOWS + 1):
        for _ in range(PROBLEMS):
            make()
        seen.append(bytes_in_use())
    return min(b - a for a, b in pairwise(seen)) / PROBLEMS

warnings.simplefilter("ignore")
cube, bodies = walks.cube().system, walks.two_bodies().system
found = {
    "statics": growth(lambda: sa.StaticProblem(cube).solve()),
    "motion": growth(lambda: sa.DynamicProblem(bodies).solve(to=1e-3, step=1e-3)),
}
every = MPI.COMM_WORLD.gather(found)
if MPI.COMM_WORLD.rank == 0:
    print(json.dumps({name: max(one[name] for one in every) for name in found}))
"""


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_problem_that_is_dropped_leaves_nothing(ranks: int) -> None:
    found = run_mpi(ranks, SCRIPT, env=ALL_FREED, timeout=300.0)
    assert {name: size for name, size in found.items() if size >= MOST} == {}
