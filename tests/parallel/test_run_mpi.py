# SPDX-License-Identifier: BSD-3-Clause
"""The helper that starts the ranks: results, failures and hangs are all reported."""

from __future__ import annotations

import pytest

from tests.mpi import MpiError, mpirun, run_cases, run_mpi
from tests.refusals import refused

pytestmark = pytest.mark.parallel


@pytest.mark.parametrize("n", [1, 2, 3])
def test_returns_the_json_of_rank_zero(n: int) -> None:
    result = run_mpi(
        n,
        """
        import json, sys
        from mpi4py import MPI
        comm = MPI.COMM_WORLD
        ranks = comm.allgather(comm.rank)
        if comm.rank == 0:
            print("a line before")
            print(json.dumps({"ranks": ranks, "args": sys.argv[1:]}))
        """,
        "one",
        2,
    )
    assert result == {"ranks": list(range(n)), "args": ["one", "2"]}


def test_an_exception_on_one_rank_ends_all() -> None:
    with refused(MpiError, returncode=1, stderr=lambda text: "only here" in text):
        run_mpi(
            2,
            """
            from mpi4py import MPI
            if MPI.COMM_WORLD.rank == 1:
                raise ValueError("only here")
            MPI.COMM_WORLD.Barrier()
            """,
            timeout=60,
        )


def test_a_hang_is_ended() -> None:
    with refused(MpiError, returncode=None):
        mpirun(
            2,
            """
            import time
            from mpi4py import MPI
            if MPI.COMM_WORLD.rank == 0:
                MPI.COMM_WORLD.Barrier()
            time.sleep(60)
            """,
            timeout=3,
        )


def test_output_without_json_is_an_error() -> None:
    with refused(MpiError, returncode=0, stdout="nothing to parse\n"):
        run_mpi(1, "\nprint('nothing to parse')\n")


def test_a_case_that_fails_leaves_the_others_their_results() -> None:
    found = run_cases(
        2,
        """
        from mpi4py import MPI
        from tests.cases import Cases

        case = Cases()

        @case
        def good(text="nothing"):
            return text, MPI.COMM_WORLD.rank

        @case
        def bad():
            raise ValueError("this one")

        case.main(lambda function, *given: function(*given))
        """,
        "good=a=b",
        "bad",
        "good",
    )
    assert found["good=a=b"] == [["a=b", 0], ["a=b", 1]]
    assert found["good"] == [["nothing", 0], ["nothing", 1]]
    with refused(MpiError, stderr=lambda text: "ValueError: this one" in text):
        found["bad"]
