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

import atexit
import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from symancf.command.doctor import outside_mpi

ROOT = Path(__file__).resolve().parents[1]
MARK = b"@@ranks "  # before what a script printed, see tests.ranks

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
    # Small systems, too, are those of all ranks: what is tested here is that.
    "PETSC_OPTIONS": "-partition_from 0",
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
    env = outside_mpi()
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
    with _file(script) as path:
        command = _command(n, path, plain)
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
            _end(process)
            stdout, stderr = process.communicate()
            raise MpiError(_hang(path, n, timeout), stdout, stderr, None) from None
        except BaseException:  # Ctrl-C: the ranks have a session of their own
            _end(process)
            raise
    return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)


@contextlib.contextmanager
def _file(script: str | Path) -> Iterator[Path]:
    """Write a script that is given as text into a file."""
    if isinstance(script, Path) or "\n" not in script:
        yield Path(script).resolve()
        return
    with tempfile.TemporaryDirectory(prefix="symancf-mpi-") as folder:
        path = Path(folder) / "script.py"
        path.write_text(textwrap.dedent(script), encoding="utf-8")
        yield path


def _command(n: int, path: Path, plain: bool = False) -> list[str]:
    launcher = shutil.which("mpirun")
    if launcher is None:
        raise MpiError("mpirun was not found (Debian: apt install openmpi-bin)", "", "", None)
    module = [] if plain else ["-m", "mpi4py"]
    return [launcher, "-n", str(n), sys.executable, *module, str(path)]


def _end(process: subprocess.Popen[Any]) -> None:
    process.send_signal(signal.SIGTERM)  # mpirun ends its ranks, which have own groups
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)


def _hang(path: Path, n: int, timeout: float) -> str:
    return f"{path.name} on {n} ranks was still running after {timeout:g} s (a hang?)"


class Ranks:
    """`n` ranks that run scripts one after another (`tests.ranks`).

    Python, SymPy and PETSc start once, and a kernel is derived once; a script must not rest on
    what is new in a process, nor change modules for the next one.
    """

    kept: ClassVar[dict[int, Ranks]] = {}

    def __init__(self, n: int) -> None:
        self.n, self.settings, self.busy = n, self.given(), False
        self.errors = tempfile.TemporaryFile("a+b")  # noqa: SIM115 - `end` closes it
        self.process = subprocess.Popen(
            _command(n, ROOT / "tests" / "ranks.py"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            cwd=ROOT,
            env=environment(),
            start_new_session=True,
        )

    @staticmethod
    def given() -> dict[str, str]:
        """Return the variables that ranks start with."""
        return {k: v for k, v in environment().items() if not k.startswith("PYTEST_")}

    @classmethod
    def of(cls, n: int) -> Ranks:
        """Return ranks that run, with the present environment."""
        ranks = cls.kept.get(n)
        if ranks is not None and ranks.settings != cls.given():
            ranks.end()
        if n not in cls.kept:
            cls.kept[n] = cls(n)
        return cls.kept[n]

    def end(self) -> None:
        """End the ranks, whatever they do."""
        self.kept.pop(self.n, None)
        with self.process, self.errors:
            if not self.busy and self.process.stdin is not None:
                self.process.stdin.close()  # there are no more scripts
            try:
                self.process.wait(timeout=0 if self.busy else 10)
            except subprocess.TimeoutExpired:
                _end(self.process)

    def run(self, path: Path, *args: object, timeout: float) -> subprocess.CompletedProcess[str]:
        """Run a script; where it fails or does not end, the ranks end."""
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        place, until, said = self.errors.seek(0, os.SEEK_END), time.monotonic() + timeout, b""
        self.busy = True
        with contextlib.suppress(BrokenPipeError):
            stdin.write(json.dumps([str(path), [str(a) for a in args]]).encode() + b"\n")
            stdin.flush()
        while not (said.endswith(b"\n") and MARK in said):
            ready, _, _ = select.select([stdout], [], [], max(until - time.monotonic(), 0.0))
            more = os.read(stdout.fileno(), 1 << 16) if ready else b""
            self.busy = not ready  # and nothing more: they have ended, or do so
            said += more
            if not more:
                break
        text, _, answer = said.decode().partition(MARK.decode())
        self.errors.seek(place)
        stderr = self.errors.read().decode()
        if answer:
            return subprocess.CompletedProcess([str(path)], 0, json.loads(answer), stderr)
        hung = self.busy
        self.end()
        if hung:
            raise MpiError(_hang(path, self.n, timeout), text, stderr, None)
        return subprocess.CompletedProcess([str(path)], self.process.returncode or 1, text, stderr)


@atexit.register
def _end_ranks() -> None:
    for ranks in list(Ranks.kept.values()):
        ranks.end()


def run_mpi(
    n: int,
    script: str | Path,
    *args: object,
    timeout: float = 120.0,
    cwd: str | Path | None = None,
    env: dict[str, str] | None = None,
    kept: bool = False,
) -> Any:
    """Run a script on `n` ranks and return the JSON in the last line of its output.

    Rank 0 prints that line; the parameters are those of :func:`mpirun`, and

    kept : bool
        Run it on ranks that wait for the next script then (see `Ranks`), which start once.

    Raises
    ------
    MpiError
        If a rank failed, the limit was reached, or the last line is not JSON.
    """
    if kept:
        assert cwd is None
        assert env is None
        with _file(script) as path:
            done = Ranks.of(n).run(path, *args, timeout=timeout)
    else:
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
        return Found(run_mpi(n, script, *cases, timeout=timeout, kept=True))
    except MpiError:
        return Found({case: _alone(n, script, case, timeout) for case in cases})


def _alone(n: int, script: str | Path, case: str, timeout: float) -> Any:
    try:
        return run_mpi(n, script, case, timeout=timeout)[case]
    except MpiError as error:
        return error
