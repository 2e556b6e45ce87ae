# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that run scripts one after another, each as ``__main__``: started by `tests.mpi.Ranks`.

Rank 0 reads a line of JSON, path and arguments, from its standard input, and answers with a line
of JSON, what the script printed there. A script that raises or leaves with a status ends all ranks.
"""

from __future__ import annotations

import contextlib
import gc
import io
import json
import runpy
import sys
import time
import traceback
import warnings
from collections.abc import Iterator

from mpi4py import MPI
from petsc4py import PETSc

PAUSE = 2e-2  # s between looks for the next script: ranks that wait take no time from others
MARK = "@@ranks "


def run(path: str, arguments: list[str]) -> str:
    """Run a script; return what it prints. What it sets in PETSc's database goes with it."""
    before, said, argv = PETSc.Options().getAll(), io.StringIO(), sys.argv
    sys.argv = [path, *arguments]
    try:
        with contextlib.redirect_stdout(said), warnings.catch_warnings():
            runpy.run_path(path, run_name="__main__")
    except BaseException as error:
        if not (isinstance(error, SystemExit) and error.code in (None, 0)):
            traceback.print_exc()
            sys.stderr.flush()
            MPI.COMM_WORLD.Abort(1)
    sys.argv = argv
    gc.collect()
    for name in PETSc.Options().getAll().keys() - before.keys():
        PETSc.Options().delValue(name)
    return said.getvalue()


def lines() -> Iterator[str]:
    """Return on every rank the lines that rank 0 reads from its standard input."""
    comm = MPI.COMM_WORLD.Dup()  # messages of the scripts stay apart
    while True:
        if comm.rank == 0:
            line = sys.stdin.readline()
            for other in range(1, comm.size):
                comm.send(line, other)
        else:
            while not comm.iprobe(source=0):
                time.sleep(PAUSE)
            line = comm.recv(source=0)
        if not line:
            return
        yield line


def main() -> None:
    """Run scripts until there are no more."""
    comm = MPI.COMM_WORLD.Dup()
    for line in lines():
        said = run(*json.loads(line))
        comm.Barrier()
        if comm.rank == 0:
            print(f"\n{MARK}{json.dumps(said)}", flush=True)


if __name__ == "__main__":
    main()
