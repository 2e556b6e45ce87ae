# SPDX-License-Identifier: BSD-3-Clause
"""Two states of the sources, and the processes that run with the package of each."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.mpi import ROOT, environment

Answer = dict[str, Any]
HELLO = "import symancf, symancf_codegen as c; print(symancf.__file__); print(c.__file__)"


def unpacked(given: str, folder: Path) -> Path:
    """Return the folder of a checkout: the one given, or a commit's files, which are put there."""
    if Path(given).is_dir():
        return Path(given).resolve()
    folder.mkdir()
    command = ["git", "-C", str(ROOT), "archive", "--format=tar", given]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as archive:
        subprocess.run(["tar", "-x", "-C", str(folder)], stdin=archive.stdout, check=True)
    if archive.returncode:
        raise SystemExit(f"{given} is neither a folder nor a commit of {ROOT}")
    return folder


class Checkout:
    """The sources in a folder; its processes have a working folder and a kernel cache of their own.

    Parameters
    ----------
    name : "A" or "B".
    sources : folder.
    place : an empty folder.
    cache : of kernels; None: a fresh one.
    """

    def __init__(self, name: str, sources: Path, place: Path, cache: Path | None) -> None:
        self.name, self.sources, self.place = name, sources, place
        tests = place / "tests only"
        tests.mkdir(parents=True)
        (tests / "tests").symlink_to(ROOT / "tests")  # of this checkout, whatever the other has
        self.cache = cache or place / "cache"
        paths = tests, sources, sources / "codegen"
        self.environment = environment(SYMANCF_CACHE=str(self.cache), SYMANCF_PROGRESS="0") | {
            "PYTHONPATH": os.pathsep.join(map(str, paths)),
            "PYTHONHASHSEED": "0",
        }
        self.work = place / "work"
        self.work.mkdir()
        said = subprocess.run(
            [sys.executable, "-P", "-c", HELLO],
            env=self.environment,
            check=True,
            capture_output=True,
            text=True,
        )
        found = [Path(file).resolve() for file in said.stdout.splitlines()]
        if not all(file.is_relative_to(sources) for file in found):
            raise SystemExit(f"{name} is {sources}, but Python finds {said.stdout}")
        self.processes: dict[int, Process] = {}

    def ask(self, ranks: int, limit: float, **asked: Any) -> Answer:
        """Return the answer of a process on some ranks, which starts where there is none."""
        if ranks not in self.processes:
            self.processes[ranks] = Process(self, ranks)
        try:
            return self.processes[ranks].ask(asked, limit)
        except TimeoutError as error:
            self.processes.pop(ranks).end()
            return {"failed": str(error), "records": {}, "sources": [], "cases": []}

    def end(self) -> None:
        """End all processes."""
        for process in self.processes.values():
            process.end()
        self.processes.clear()


class Process:
    """`recorder` on some ranks with the package of a checkout."""

    def __init__(self, checkout: Checkout, ranks: int) -> None:
        self.log = checkout.place / f"log-{ranks}.txt"
        command = [sys.executable, "-P", "-W", "ignore", "-m", "tests.campaign.recorder"]
        if ranks > 1:
            command = ["mpirun", "-n", str(ranks), *command]
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=checkout.work,
                env=checkout.environment,
                start_new_session=True,
            )

    def ask(self, asked: Answer, limit: float) -> Answer:
        """Return an answer; TimeoutError if there is none within the limit or at all."""
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        until, said = time.monotonic() + limit, b""
        with contextlib.suppress(BrokenPipeError):
            stdin.write(json.dumps(asked).encode() + b"\n")
            stdin.flush()
        while not said.endswith(b"\n"):
            ready, _, _ = select.select([stdout], [], [], max(until - time.monotonic(), 0.0))
            more = os.read(stdout.fileno(), 1 << 16) if ready else b""
            if not more:
                why = "the process ended" if ready else f"no answer in {limit:g} s"
                raise TimeoutError(f"{why}: ...{self.log.read_text(errors='replace')[-300:]}")
            said += more
        answer: Answer = json.loads(said)
        return answer

    def end(self) -> None:
        """End the process, whatever it does."""
        with self.process:
            assert self.process.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.close()
            try:
                self.process.wait(timeout=10.0)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGTERM)
                self.process.wait(timeout=10.0)
