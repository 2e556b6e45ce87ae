# SPDX-License-Identifier: BSD-3-Clause
"""A cube of N^3 hexahedra, 216^3 are ten million, from an HDF5 file to written output.

    python -m tests.campaign.ten_million 216 FOLDER             two ranks, two load steps
    python -m tests.campaign.ten_million 216 FOLDER --resume    one rank, from the checkpoint

The first run writes the mesh (a process of its own), reads it on all ranks, solves two load steps
of `symancf.bench.solution` with a checkpoint after the first one, and writes a .pvtu. The second
reads mesh and checkpoint, makes the second step, and compares the norm of all displacements.

FOLDER/run.log, or resume.log, has a line each second with the resident memory of each rank (VmRSS,
and its peak VmHWM), their sums, and what the machine has left; and a line after each phase with CPU
times, time on the clock and peaks. A run that the machine has no room for, of memory or disk by
`predict`, is refused before it begins, and one that leaves less than `LEAST` is ended: exit
status 3.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO, Any

from tests.mpi import ROOT, environment

#: Bytes of a hexahedron on all ranks together, by part of the run, on one rank and on two: measured
#: at 64^3 and 96^3, without `LIBRARIES`, the bytes of each rank for Python, PETSc and kernels.
BYTES = {"mesh": (200.0, 200.0), "solve": (1650.0, 1690.0), "resume": (1600.0, 1690.0)}
LIBRARIES = 1.6e8
SECONDS = {"mesh": 2e-6, "solve": 150e-6, "resume": 85e-6}  # CPU s of a hexahedron, all ranks
DISK = {"mesh": 80.0, "solve": 400.0, "resume": 300.0}  # bytes of a hexahedron
LEAST = 4e8  # bytes that are left to the machine
LOOK, TELL = 0.1, 1.0  # s between two looks at the memory, and between two lines of it
REFUSAL = 3  # exit status


# ---- on the ranks --------------------------------------------------------------------------------
class Phases:
    """Prints CPU time of each rank, time on the clock and peaks at the end of each phase."""

    def __init__(self) -> None:
        from mpi4py import MPI

        self.comm, self._since = MPI.COMM_WORLD, self._now()

    @staticmethod
    def _now() -> tuple[float, float]:
        return time.process_time(), time.monotonic()

    def end(self, name: str) -> None:
        """Tell of a phase that ends (collective)."""
        from symancf.runtime.progress import peak_memory, present_memory

        now = self._now()
        mine = now[0] - self._since[0], present_memory() / 1e6, peak_memory() * 1.048576
        every = self.comm.gather(mine)
        if every is not None:
            cpu, present, peak = zip(*every, strict=True)
            passed = now[1] - self._since[1]
            print(
                f"phase {name}: CPU {_list(cpu)} s, clock {passed:.1f} s, "
                f"present {_list(present)} MB, peak {_list(peak)} = {sum(peak):.1f} MB",
                flush=True,
            )
        self._since = self._now()


def _list(numbers: Any) -> str:
    return " + ".join(f"{number:.1f}" for number in numbers)


def write_mesh(n: int, folder: Path, phases: Phases) -> None:
    """Write the cube, and have all kernels compiled."""
    import symancf as sa
    from symancf.bench.solution import pulled

    phases.end("imports")
    pulled(sa.Mesh.box((1.0, 1.0, 1.0), (4, 4, 4)), pc_type="grids").solve(to=0.1)
    phases.end("compiling")
    sa.Mesh.box((1.0, 1.0, 1.0), (n, n, n)).write(folder / "cube.h5")
    phases.end("writing the mesh")


def solve(folder: Path, resumes: bool, phases: Phases) -> None:
    """Read the mesh, make two steps or the second one, and write the result (collective)."""
    import symancf as sa
    from symancf.bench.solution import pulled, size

    phases.end("imports")
    mesh = sa.Mesh.read(folder / "cube.h5")
    phases.end("reading the mesh")
    problem = pulled(mesh, pc_type="grids", step_monitor=True)
    phases.end("numbering")
    cost = problem.cost()
    if phases.comm.rank == 0:
        print(f"predicted by problem.cost(): {cost}", flush=True)
    phases.end("prediction")
    if resumes:
        problem.restore(folder / "middle.h5")
        phases.end("reading the checkpoint")
    else:
        problem.solve(to=0.5)
        phases.end("step 1")
        problem.save(folder / "middle.h5")
        phases.end("writing the checkpoint")
    problem.solve(to=1.0)
    phases.end("step 2")
    (body,) = problem.system.bodies
    name = "resume" if resumes else "run"
    every = sa.output.slabs(problem.system, body, fields={}, divisions=1)
    sa.output.write(folder / f"{name}.vtu", every, phases.comm)
    phases.end("output")
    steps, norm = problem.history.steps, size(problem)
    if phases.comm.rank == 0:
        result = {
            "ranks": phases.comm.size,
            "unknowns": problem.system._discrete.numbering.size,
            "newton": [step.iterations for step in steps],
            "linear": [step.linear_iterations for step in steps],
            "norm_u": norm,
        }
        print("result", json.dumps(result), flush=True)


def part(name: str, n: int, folder: Path) -> None:
    """Run a part on this rank (collective)."""
    phases = Phases()
    ids = phases.comm.gather(os.getpid())
    if ids is not None:
        print("processes", *ids, flush=True)
    if name == "mesh":
        write_mesh(n, folder, phases)
    else:
        solve(folder, name == "resume", phases)


# ---- beside them ---------------------------------------------------------------------------------
def predict(name: str, n: int, ranks: int) -> tuple[float, float, float]:
    """Return bytes of memory on all ranks, CPU time [s] on all, and bytes of disk."""
    each = BYTES[name][min(ranks, 2) - 1]
    return each * n**3 + LIBRARIES * ranks, SECONDS[name] * n**3, DISK[name] * n**3


def available() -> float:
    """Return what the machine has left [bytes]."""
    text = Path("/proc/meminfo").read_text(encoding="ascii")
    return 1024.0 * float(text.split("MemAvailable:")[1].split()[0])


def memory(process: int) -> tuple[float, float]:
    """Return resident memory of a process now, and its peak [bytes]; zeros where it has ended."""
    try:
        text = Path(f"/proc/{process}/status").read_text(encoding="ascii")
        now, peak = (float(text.split(f"{key}:")[1].split()[0]) for key in ("VmRSS", "VmHWM"))
    except (OSError, IndexError):
        return 0.0, 0.0
    return 1024.0 * now, 1024.0 * peak


class Log:
    """A file of lines with the time since the start, flushed one by one, and the screen."""

    def __init__(self, path: Path) -> None:
        self._file, self._start = path.open("w", encoding="utf-8"), time.monotonic()
        self._lock = threading.Lock()

    def __call__(self, text: str, screen: bool = True) -> None:
        with self._lock:
            line = f"{time.monotonic() - self._start:8.1f} s  {text}"
            print(line, file=self._file, flush=True)
            if screen:
                print(line, flush=True)


class Run:
    """A part of the run in processes of its own, and what their memory is.

    Attributes
    ----------
    processes : of the ranks.
    most, peaks : the largest sum of present memory over the ranks, and the peak of each [bytes].
    result : what the ranks found.
    """

    def __init__(self, name: str, n: int, folder: Path, ranks: int, log: Log) -> None:
        self.name, self.cells, self.ranks, self.log = name, n**3, ranks, log
        self.processes: list[int] = []
        self.most, self.peaks = 0.0, [0.0] * ranks
        self.result: dict[str, Any] = {}
        command = [sys.executable, "-m", "tests.campaign.ten_million", str(n), str(folder)]
        launch = ["mpirun", "-n", str(ranks)] if ranks > 1 else []
        module = [sys.executable, "-m", "mpi4py", *command[1:]] if ranks > 1 else command
        self.process = subprocess.Popen(
            [*launch, *module, "--part", name],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=ROOT,
            env=environment(),
        )
        assert self.process.stdout is not None
        self._reader = threading.Thread(target=self._read, args=(self.process.stdout,))
        self._reader.start()

    def _read(self, lines: IO[str]) -> None:
        for line in lines:
            word, _, rest = line.strip().partition(" ")
            if word == "processes":
                self.processes = [int(number) for number in rest.split()]
            elif word == "result":
                self.result = json.loads(rest)
            self.log(line.rstrip())

    def watch(self) -> int:
        """Tell of the memory until the run ends; return its exit status, `REFUSAL` without room."""
        due, short = time.monotonic(), False
        while self.process.poll() is None:
            pairs = [memory(process) for process in self.processes]
            left, now = available(), sum(pair[0] for pair in pairs)
            self.most = max(self.most, now)
            if pairs:
                self.peaks = [max(a, b[1]) for a, b in zip(self.peaks, pairs, strict=True)]
            if pairs and time.monotonic() >= due:
                due = time.monotonic() + TELL
                each = "; ".join(f"{a / 1e6:.1f} (peak {b / 1e6:.1f})" for a, b in pairs)
                self.log(f"memory {each}; sum {now / 1e6:.1f} MB; left {left / 1e6:.0f} MB", False)
            if left < LEAST and not short:
                short = True
                self.log(f"ends: the ranks have {now / 1e9:.2f} GB, {left / 1e9:.2f} GB are left")
                self.end()
            time.sleep(LOOK)
        self._reader.join()
        total = sum(self.peaks)
        self.log(
            f"{self.name} on {self.ranks}: largest sum {self.most / 1e9:.3f} GB, sum of peaks "
            f"{total / 1e9:.3f} GB = {total / self.cells:.0f} bytes a hexahedron; "
            f"exit status {self.process.returncode}"
        )
        return REFUSAL if short else self.process.returncode

    def end(self) -> None:
        """End all ranks."""
        self.process.send_signal(signal.SIGTERM)  # mpirun ends its ranks
        try:
            self.process.wait(timeout=10.0)
        except subprocess.TimeoutExpired:
            self.process.kill()


def refused(name: str, n: int, folder: Path, ranks: int, log: Log) -> bool:
    """Tell what a part needs, and whether the machine has no room for it."""
    need, seconds, disk = predict(name, n, ranks)
    left, room = available() - LEAST, float(shutil.disk_usage(folder).free)
    log(
        f"{name} of {n}^3 = {n**3} hexahedra on {ranks}: {need / 1e9:.2f} GB predicted, "
        f"{left / 1e9:.2f} GB are there; {seconds:.0f} s of CPU; "
        f"{disk / 1e9:.2f} GB of disk, {room / 1e9:.2f} GB are there"
    )
    if need <= left and disk <= room:
        return False
    log("refused: too little " + ("memory" if need > left else "disk"))
    return True


def run(n: int, folder: Path, ranks: int, resumes: bool) -> int:
    """Run all parts and return the exit status."""
    folder.mkdir(parents=True, exist_ok=True)
    mesh, facts = folder / "cube.h5", folder / "run.json"
    name = "resume" if resumes else "solve"
    log = Log(folder / ("resume.log" if resumes else "run.log"))
    if refused(name, n, folder, ranks, log):
        return REFUSAL
    if not resumes:
        mesh.unlink(missing_ok=True)  # it may be one of another size
        if refused("mesh", n, folder, 1, log):
            return REFUSAL
        status = Run("mesh", n, folder, 1, log).watch()
        if status:
            return status
    started = time.monotonic()
    it = Run(name, n, folder, ranks, log)
    try:
        status = it.watch()
    except KeyboardInterrupt:
        it.end()
        raise
    log(f"{time.monotonic() - started:.1f} s on the clock")
    if status:
        return status
    if not resumes:
        facts.write_text(json.dumps({"n": n, **it.result}), encoding="utf-8")
        return 0
    whole = json.loads(facts.read_text(encoding="utf-8"))
    apart = abs(it.result["norm_u"] / whole["norm_u"] - 1.0)
    log(f"norm of all displacements: {apart:.1e} from that of the run on {whole['ranks']}")
    return int(apart > 1e-9)


def main() -> int:
    """Run the cube and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.campaign.ten_million",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("n", type=int, help="hexahedra along each edge")
    parser.add_argument("folder", type=Path, help="of mesh, checkpoint, output and log")
    parser.add_argument("--ranks", type=int, help="default: 2, or 1 with --resume")
    parser.add_argument("--resume", action="store_true", help="the second step, from a checkpoint")
    parser.add_argument("--part", choices=list(BYTES), help=argparse.SUPPRESS)
    given = parser.parse_args()
    folder = given.folder.resolve()
    if given.part:
        part(given.part, given.n, folder)
        return 0
    if given.resume and not (folder / "run.json").exists():
        parser.error(f"{folder} has no run to resume: run without --resume first")
    ranks = given.ranks or (1 if given.resume else 2)
    return run(given.n, folder, ranks, given.resume)


if __name__ == "__main__":
    sys.exit(main())
