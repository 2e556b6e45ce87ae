# SPDX-License-Identifier: BSD-3-Clause
"""Run cases on all ranks of this process's communicator: one line of JSON per case and rank."""

from __future__ import annotations

import faulthandler
import json
import os
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mpi4py import MPI

import symancf as sa

from . import classes
from .case import Case, Found, Wrong

COMM = MPI.COMM_WORLD


def found(run: Callable[[], Any]) -> Found:
    """Return what a case does on this rank."""
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            result = Found("value", value=_plain(run()))
        except sa.SymancfError as error:
            result = Found("error", f"{type(error).__name__}: {error}")
        except Wrong as error:
            result = Found("wrong", str(error))
        except BaseException as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(where.filename).name}:{where.lineno}"
            result = Found("raw", f"{type(error).__name__}: {error} ({place})")
    result.warnings = tuple(str(w.message)[:300] for w in told[:6])
    result.seconds = time.perf_counter() - start
    return result


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return value if isinstance(value, int | float | str | bool | None) else repr(value)


def run(cases: list[Case], numbers: list[int], out: Path, limit: float) -> None:
    """Run some of the cases; `out` gets a line before and after each of them on this rank."""
    with open(f"{out}.{COMM.rank}", "a", encoding="utf-8") as file:

        def put(**line: Any) -> None:
            file.write(json.dumps(line) + "\n")
            file.flush()

        trap = open(f"{out}.stack.{COMM.rank}", "w", encoding="utf-8")  # noqa: SIM115
        for number in numbers:
            put(number=number, event="start")
            faulthandler.dump_traceback_later(limit, exit=True, file=trap)
            did = found(cases[number].run)
            COMM.Barrier()  # a rank that waits in the case for ever stops the others here
            faulthandler.cancel_dump_traceback_later()
            put(number=number, event="end", **vars(did))
        put(number=-1, event="done")
        trap.close()


def main() -> None:
    """Run as ``python -m tests.campaign.worker CLASS SEED COUNT LIMIT OUT NUMBER...``."""
    name, seed, count, limit, out, *numbers = sys.argv[1:]
    sys.argv = sys.argv[:1]  # PETSc reads them
    cases = classes.cases(name, int(seed), int(count))
    run(cases, [int(n) for n in numbers], Path(out), float(limit))
    sys.stdout.flush()
    COMM.Barrier()  # mpirun ends the other ranks as soon as one ends without MPI_Finalize
    os._exit(0)  # a case may have left the communicator in any state


if __name__ == "__main__":
    main()
