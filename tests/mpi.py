# SPDX-License-Identifier: BSD-3-Clause
"""Run a script on several MPI ranks, in time limits, and read the JSON that it prints.

::

    from tests.mpi import run_mpi

    def test_sum() -> None:
        result = run_mpi(3, '''
            import json
            from mpi4py import MPI
            total = MPI.COMM_WORLD.allreduce(MPI.COMM_WORLD.rank)
            if MPI.COMM_WORLD.rank == 0:
                print(json.dumps({"total": total}))
        ''')
        assert result == {"total": 3}
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

# What a parent that is itself an MPI process leaves in the environment; inherited, it makes
# the new mpirun believe that it is one of the parent's ranks.
INHERITED = (
    "OMPI_APP_CTX",
    "OMPI_ARGV",
    "OMPI_COMMAND",
    "OMPI_COMM_WORLD",
    "OMPI_FILE_LOCATION",
    "OMPI_FIRST_RANKS",
    "OMPI_MCA_ess",
    "OMPI_MCA_initial_wdir",
    "OMPI_MCA_orte",
    "OMPI_MCA_pmix",
    "OMPI_MCA_shmem",
    "OMPI_NUM_APP_CTX",
    "OMPI_UNIVERSE",
    "ORTE_",
    "PMIX_",
    "PMI_",
)

SETTINGS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    # Two test runs at once would otherwise both bind their rank 0 to core 0.
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    # Containers forbid process_vm_readv; Open MPI then prints a warning per message.
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}


class MpiError(AssertionError):
    """A run that failed, hung or printed no JSON; carries the output of all ranks.

    Attributes
    ----------
    stdout, stderr : str
        What the ranks printed.
    returncode : int or None
        Exit status of mpirun; None when the time limit was reached.
    """

    def __init__(self, reason: str, stdout: str, stderr: str, returncode: int | None) -> None:
        self.stdout, self.stderr, self.returncode = stdout, stderr, returncode
        tail = "\n".join(
            f"--- {name} (last 60 lines)\n" + "\n".join(text.splitlines()[-60:])
            for name, text in (("stdout", stdout), ("stderr", stderr))
            if text.strip()
        )
        super().__init__(f"{reason}\n{tail}")


def environment(**extra: str) -> dict[str, str]:
    """Return the environment of a run: the caller's, mended, with `extra` added."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(INHERITED)}
    paths = [str(ROOT), str(ROOT / "codegen"), *filter(None, [env.get("PYTHONPATH")])]
    return env | SETTINGS | {"PYTHONPATH": os.pathsep.join(paths)} | extra


def mpirun(
    n: int,
    script: str | Path,
    *args: object,
    timeout: float = 120.0,
    cwd: str | Path | None = None,
    env: dict[str, str] | None = None,
    plain: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Run a Python script on `n` ranks and return the finished process, failed or not.

    An exception on one rank aborts all of them (``python -m mpi4py``), so a test of an error
    on every rank catches it in the script and prints what it caught.

    Parameters
    ----------
    n : int
        Number of ranks.
    script : str or Path
        Path of a script, or its text (anything with a line break).
    *args
        Arguments of the script.
    timeout : float
        Limit in seconds; the ranks are ended when it is reached.
    cwd, env : optional
        Working directory, and variables to add to the environment.
    plain : bool
        Run ``python script`` instead of ``python -m mpi4py script``.

    Raises
    ------
    MpiError
        If the limit was reached.
    """
    launcher = shutil.which("mpirun")
    if launcher is None:
        raise MpiError("mpirun was not found (Debian: apt install openmpi-bin)", "", "", None)
    with tempfile.TemporaryDirectory(prefix="symancf-mpi-") as folder:
        if isinstance(script, str) and "\n" in script:
            path = Path(folder) / "script.py"
            path.write_text(textwrap.dedent(script), encoding="utf-8")
        else:
            path = Path(script).resolve()
        command = [
            launcher,
            "-n",
            str(n),
            sys.executable,
            *([] if plain else ["-m", "mpi4py"]),
            str(path),
        ]
        process = subprocess.Popen(
            [*command, *map(str, args)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=cwd or ROOT,
            env=environment(**(env or {})),
            start_new_session=True,
        )
        try:
            stdout, stderr = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGTERM)  # mpirun ends its ranks, which have own groups
            try:
                stdout, stderr = process.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                stdout, stderr = process.communicate()
            reason = f"{path.name} on {n} ranks was still running after {timeout:g} s (a hang?)"
            raise MpiError(reason, stdout, stderr, None) from None
    return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)


def run_mpi(
    n: int,
    script: str | Path,
    *args: object,
    timeout: float = 120.0,
    cwd: str | Path | None = None,
    env: dict[str, str] | None = None,
) -> Any:
    """Run a script on `n` ranks and return the JSON in the last line of its output.

    Rank 0 prints that line; the parameters are those of :func:`mpirun`.

    Raises
    ------
    MpiError
        If a rank failed, the limit was reached, or the last line is not JSON.
    """
    done = mpirun(n, script, *args, timeout=timeout, cwd=cwd, env=env)
    if done.returncode != 0:
        reason = f"the run on {n} ranks ended with exit status {done.returncode}"
        raise MpiError(reason, done.stdout, done.stderr, done.returncode)
    lines = done.stdout.strip().splitlines()
    try:
        return json.loads(lines[-1])
    except (IndexError, json.JSONDecodeError):
        reason = f"the run on {n} ranks printed no JSON in its last line"
        raise MpiError(reason, done.stdout, done.stderr, 0) from None


class Found(dict[str, Any]):
    """What cases of a script found; to read one that failed raises its error."""

    def __getitem__(self, case: str) -> Any:
        found = super().__getitem__(case)
        if isinstance(found, MpiError):
            raise found
        return found


def run_cases(n: int, script: str | Path, *cases: str, timeout: float = 180.0) -> Found:
    """Run cases of a script (see `tests.cases`) in one run on `n` ranks: case -> per rank.

    Where that run fails, each case runs alone, so that only the tests of those fail that fail.
    """
    try:
        return Found(run_mpi(n, script, *cases, timeout=timeout))
    except MpiError as error:
        if len(cases) == 1:
            return Found({cases[0]: error})
        alone = Found()
        for case in cases:
            alone |= run_cases(n, script, case, timeout=timeout)
        return alone
