# SPDX-License-Identifier: BSD-3-Clause
"""Printing once, and what an error that nobody catches does to the other ranks."""

from __future__ import annotations

import pytest

from tests.mpi import mpirun

pytestmark = pytest.mark.parallel

ALONE = """
from mpi4py import MPI
import symancf as sa
sa.launch.PATIENCE = 1.0
sa.root_print("one", "line", sep="-")
if MPI.COMM_WORLD.rank == 1:
    raise ValueError("alone")
MPI.COMM_WORLD.barrier()
"""

TOGETHER = """
import sys
import symancf as sa
assert "mpi4py.MPI" not in sys.modules  # importing the package starts no MPI
sa.Mesh.box((1.0,), (0,))
"""


def test_a_rank_that_raises_alone_ends_all() -> None:
    done = mpirun(3, ALONE, timeout=60.0, plain=True)
    assert done.returncode == 1
    assert done.stdout.splitlines()[0] == "one-line"
    assert done.stdout.count("one-line") == 1
    assert done.stderr.count("ValueError: alone") == 1


def test_an_error_of_all_ranks_is_printed_once_and_aborts_nothing() -> None:
    done = mpirun(3, TOGETHER, timeout=60.0, plain=True)
    assert done.returncode == 1
    assert done.stderr.count("Traceback (most recent call last)") == 1
    assert done.stderr.count("MeshError") + done.stderr.count("ParameterError") >= 1
    assert "MPI_ABORT" not in done.stdout + done.stderr
