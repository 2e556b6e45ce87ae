# SPDX-License-Identifier: BSD-3-Clause
"""Diagnosis of this machine: missing or slow parts of the installation, with remedies.

Nothing that can fail to load is imported here: PETSc, MPI and the BLAS are asked in a process
of their own (:mod:`symancf.command.probe`), so that the report is complete just when it is needed.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ..runtime.console import plain_console

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from .probe import Answer

Level = Literal["ok", "note", "slow", "missing"]

APT = "sudo apt-get install"


@dataclass(frozen=True)
class Finding:
    """One line of the report.

    Attributes
    ----------
    topic, value : str
        What was looked at, and what was found.
    level : {"ok", "note", "slow", "missing"}
        ``missing``: symancf cannot work, the exit status is 1. ``slow``: it works, too slowly.
        ``note``: something optional is not there, or has to be allowed first.
    mend : str
        What to do about it; empty if nothing is to be done.
    """

    topic: str
    value: str
    level: Level = "ok"
    mend: str = ""


def run(
    command: list[str], timeout: float = 60.0, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a command without input; status 127 if it does not exist, 124 if it takes too long."""
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            env=outside_mpi() | variables,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", f"no answer after {timeout:g} s")
    except OSError as error:
        return subprocess.CompletedProcess(command, 127, "", str(error))


def outside_mpi() -> dict[str, str]:
    """Return the environment without what makes a new process one of a running program's ranks.

    Open MPI sets these variables in every process that has started it, alone or by mpirun.
    """
    names = (
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
    return {name: value for name, value in os.environ.items() if not name.startswith(names)}


def tail(done: subprocess.CompletedProcess[str]) -> str:
    """Return the last line that a failed command printed, for the report."""
    lines = [line for line in (done.stderr + done.stdout).splitlines() if line.strip(" -*")]
    return lines[-1].strip() if lines else f"exit status {done.returncode}"


# ---------------------------------------------------------------------------- Python
def python() -> Iterator[Finding]:
    """Python and the packages, essential ones first."""
    yield Finding("Python", f"{platform.python_version()} ({sys.executable})")
    essential = {
        "numpy": "arrays",
        "sympy": "energies and their derivatives",
        "scipy": "sparse matrices",
        "meshio": "reading meshes",
        "h5py": "meshes and checkpoints in HDF5",
    }
    optional = {"matplotlib": "plots", "pyvista": "pictures of results", "pint": "units"}
    for name, purpose in (essential | optional).items():
        try:
            yield Finding(name, importlib.metadata.version(name))
        except importlib.metadata.PackageNotFoundError:
            level: Level = "missing" if name in essential else "note"
            yield Finding(
                name, f"not installed ({purpose})", level, f"{sys.executable} -m pip install {name}"
            )


# ---------------------------------------------------------------------------- PETSc, BLAS
def ask_petsc() -> tuple[Answer, str]:
    """Return what :mod:`symancf.command.probe` prints, or nothing and the reason why."""
    script = Path(__file__).with_name("probe.py")
    # -P: the folder of the script must not come before the standard library.
    done = run([sys.executable, "-P", str(script)], OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    try:
        answer = json.loads(done.stdout.strip().splitlines()[-1])
    except (IndexError, json.JSONDecodeError):
        return {}, tail(done)
    return (answer, "") if done.returncode == 0 else ({}, tail(done))


def debian_petsc(root: Path = Path("/usr/lib/petscdir")) -> Path | None:
    """Return the folder of Debian's PETSc that has petsc4py, of real numbers first, the newest.

    Debian finds it by the link /usr/lib/petsc, which is not there in every container.
    """
    folders = [p.parents[3] for p in root.glob("*/*/lib/python3/dist-packages/petsc4py")]
    return max(folders, key=lambda p: (p.name.endswith("-real"), p), default=None)


def petsc(answer: Answer, reason: str) -> Iterator[Finding]:
    """PETSc: version, number types and the packages it was built with."""
    if not answer:
        mend = f"{APT} python3-petsc4py python3-mpi4py; .venv on /usr/bin/python3 (make demo)"
        if "numpy" in reason.lower() or "_ARRAY_API" in reason:
            mend = f"this petsc4py needs NumPy 1: {sys.executable} -m pip install 'numpy<2'"
        elif "No module named 'petsc4py'" in reason and (there := debian_petsc()):
            mend = f"it is installed, but not where Python looks: export PETSC_DIR={there}"
        yield Finding("PETSc", f"not usable: {reason}", "missing", mend)
        return
    place = "/".join(filter(None, (answer["directory"], answer["arch"])))
    yield Finding("PETSc", f"{answer['petsc']} ({place})")
    version = tuple(int(part) for part in answer["petsc"].split(".")[:2])
    if version < (3, 18):
        yield Finding("PETSc version", answer["petsc"], "missing", "PETSc 3.18 or newer is needed")
    yield Finding("petsc4py", answer["petsc4py"])
    if answer["scalar"] == "float64":
        yield Finding("PETSc scalar", "real, double precision")
    else:
        mend = "export PETSC_DIR to a real build (Debian: python3-petsc4py-real)"
        yield Finding("PETSc scalar", answer["scalar"], "missing", mend)
    bits = answer["integer_bits"]
    limit = "up to 2^31 unknowns in all, and entries of the tangent on each rank"
    yield Finding("PETSc integer", f"{bits} bits ({limit})")
    yield from petsc_packages(answer["packages"])
    yield from slepc(answer.get("slepc", ""))


def slepc(petsc: str) -> list[Finding]:
    """SLEPc: its version, or why there is none."""
    if petsc[:1].isdigit():
        return [Finding("SLEPc", petsc)]
    value = f"{petsc or 'not installed'} (modes and buckling on several ranks)"
    mend = f"{APT} python3-slepc4py; with a PETSc of pip: {sys.executable} -m pip install slepc4py"
    return [Finding("SLEPc", value, "note", mend)]


def petsc_packages(packages: dict[str, bool]) -> Iterator[Finding]:
    """The packages that symancf's solvers and its distribution of meshes rest on."""
    if not packages:
        yield Finding("PETSc packages", "this petsc4py cannot tell", "note")
        return
    there = " ".join(name for name, has in packages.items() if has)
    yield Finding("PETSc packages", there or "none")
    needs: dict[str, tuple[str, Level]] = {
        "mumps": ("direct solution on several ranks and with multipliers", "missing"),
        "ptscotch": ("distribution of meshes over ranks", "missing"),
        "suitesparse": ("fast direct solution of small systems", "slow"),
        "hypre": ("one of the multigrid methods", "note"),
    }
    for name, (purpose, level) in needs.items():
        if not packages.get(name):
            mend = f"configure PETSc with --download-{name} (Debian's python3-petsc4py has it)"
            yield Finding(f"PETSc with {name}", f"no: {purpose}", level, mend)


def blas(answer: Answer) -> Iterator[Finding]:
    """The BLAS that PETSc, and so the direct solvers, use, and the number of its threads."""
    if not answer:
        return
    libraries = [str(Path(path)) for path in answer["blas"]]
    kind = blas_kind(libraries)
    speed = answer["dgemm_gflops"]
    value = f"{kind} ({libraries[0] if libraries else 'linked statically'})"
    if speed:
        value += f", {speed:.0f} GFLOP/s on one core" if speed >= 10 else f", {speed:.1f} GFLOP/s"
    if kind == "reference BLAS":
        if shutil.which("apt-get") is None:
            mend = "install OpenBLAS or another optimised BLAS and let libblas.so.3 point to it"
        elif any(Path("/usr/lib").glob("*/openblas-*/libblas.so.3")):
            mend = "sudo update-alternatives --config libblas.so.3-$(uname -m)-linux-gnu"
        else:
            mend = f"{APT} libopenblas0-pthread"
        yield Finding("BLAS", value, "slow", f"{mend} (direct solvers 5 to 20 times faster)")
    else:
        yield Finding("BLAS", value)


OPTIMISED = {
    "openblas": "OpenBLAS",
    "mkl": "MKL",
    "blis": "BLIS",
    "atlas": "ATLAS",
    "flexiblas": "FlexiBLAS",
    "armpl": "Arm Performance Libraries",
    "libsci": "Cray LibSci",
}


def blas_kind(libraries: list[str]) -> str:
    """Name the BLAS from the paths of the loaded libraries.

    Debian installs every BLAS under the name libblas.so.3, only the folder tells which one it
    is. It decides even if a fast library is loaded as well: that one may serve LAPACK only.
    """
    names = [[name for word, name in OPTIMISED.items() if word in path] for path in libraries]
    for path, kinds in zip(libraries, names, strict=True):
        if Path(path).name.startswith("libblas.") and not kinds:
            return "reference BLAS"
    return next((kinds[0] for kinds in names if kinds), "unknown BLAS")


def threads() -> Iterator[Finding]:
    """Threads of the BLAS per rank: one, since the ranks fill the cores already."""
    value = os.environ.get("OMP_NUM_THREADS", "")
    if value in ("", "1"):
        text = value or "not set: symancf gives OpenBLAS, MKL and BLIS one thread on each rank"
        yield Finding("OMP_NUM_THREADS", text)
    else:
        yield Finding("OMP_NUM_THREADS", value, "slow", "export OMP_NUM_THREADS=1")


# ---------------------------------------------------------------------------- MPI
TWO_RANKS = """
from mpi4py import MPI
ranks = MPI.COMM_WORLD.allreduce(1)
if MPI.COMM_WORLD.rank == 0:
    print(f"<{ranks} ranks>")
"""


def answers(done: subprocess.CompletedProcess[str]) -> list[str]:
    """Return what every rank 0 of `TWO_RANKS` said; lines of several programs may be mixed."""
    return re.findall(r"<(\d+) ranks>", done.stdout)


HINTS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}


def mpi(answer: Answer) -> list[Finding]:
    """MPI: the library, the launcher, and whether both together start two ranks."""
    library = [Finding("mpi4py", f"{answer['mpi4py']} with {answer['mpi']}")] if answer else []
    launcher = shutil.which("mpirun") or shutil.which("mpiexec")
    if launcher is None:
        return [*library, Finding("mpirun", "not found", "missing", f"{APT} openmpi-bin")]
    return [*library, mpirun(launcher)] if answer else []


def mpirun(launcher: str) -> Finding:
    """Whether a launcher starts two ranks of one program."""
    if "OMPI_COMM_WORLD_SIZE" in os.environ or "PMI_SIZE" in os.environ:
        return Finding("mpirun", f"{launcher} (this process is one of its ranks)")
    command = [launcher, "-n", "2", sys.executable, "-c", TWO_RANKS]
    plain = run(command, timeout=30.0)
    if answers(plain) == ["2"]:
        return Finding("mpirun", f"{launcher}, 2 ranks start")
    if answers(plain) == ["1", "1"]:
        mend = "mpirun and mpi4py belong to different MPIs: use the mpirun of mpi4py's library"
        return Finding("mpirun", f"{launcher} starts 2 separate programs", "missing", mend)
    helped = run(command, timeout=30.0, **HINTS)
    if answers(helped) != ["2"]:
        value = f"{launcher} fails: {tail(helped)}"
        return Finding("mpirun", value, "missing", "try: mpirun -n 2 hostname")
    needed = HINTS if os.geteuid() == 0 else dict(list(HINTS.items())[2:])
    mend = "export " + " ".join(f"{name}={value}" for name, value in needed.items())
    why = "as root" if os.geteuid() == 0 else "with more ranks than cores"
    return Finding("mpirun", f"{launcher} refuses to run {why}", "note", mend)


# ---------------------------------------------------------------------------- compiler, machine
PROGRAM = """#include <math.h>
void scale(int n, double *x) {
  _Pragma("omp simd") for (int i = 0; i < n; ++i) x[i] = sqrt(x[i] * 2.0);
}
"""

FLAGS = ("-O3", "-march=native", "-fopenmp-simd", "-fno-math-errno", "-ffp-contract=fast")


def kernel_flags() -> tuple[str, ...]:
    """Return the flags that kernels are compiled with, or the main ones without SymPy."""
    try:
        from .kernels import FLAGS as flags
    except ImportError:
        return FLAGS
    return flags


def compiler() -> list[Finding]:
    """The C compiler: is there one, does it make a shared library, which flags does it take."""
    chosen = os.environ.get("SYMANCF_CC") or os.environ.get("CC") or ""
    candidates = [chosen] if chosen else ["gcc", "cc", "clang"]
    command = next(
        (shlex.split(name) for name in candidates if shutil.which(shlex.split(name)[0])), []
    )
    if not command:
        mend = "let SYMANCF_CC or CC name one that exists" if chosen else f"{APT} gcc libc6-dev"
        return [Finding("C compiler", f"{' '.join(candidates)} not found", "missing", mend)]
    path = shutil.which(command[0])
    flags = kernel_flags()
    lines = run([*command, "--version"]).stdout.splitlines()
    with tempfile.TemporaryDirectory(prefix="symancf-doctor-") as folder:
        source = Path(folder) / "scale.c"
        source.write_text(PROGRAM, encoding="utf-8")

        def accepts(*flags: str) -> subprocess.CompletedProcess[str]:
            library = str(source.with_suffix(".so"))
            return run([*command, *flags, "-shared", "-fPIC", "-o", library, str(source), "-lm"])

        plain = accepts()
        if plain.returncode != 0:
            value = f"{path} fails: {tail(plain)}"
            return [Finding("C compiler", value, "missing", f"{APT} gcc libc6-dev")]
        refused = [flag for flag in flags if accepts(flag, "-Werror").returncode != 0]
    there = Finding("C compiler", f"{lines[0] if lines else command[0]} ({path})")
    accepted = " ".join(flag for flag in flags if flag not in refused)
    if not refused:
        return [there, Finding("C flags", accepted)]
    mend = "kernels are compiled without them; gcc 12 or clang 15 and newer take all on x86"
    return [there, Finding("C flags", f"{accepted}; refused: {' '.join(refused)}", "note", mend)]


def processor() -> Iterator[Finding]:
    """The widest vectors of this processor, which the kernels' batches of 8 doubles fill."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        text = ""
    flags = {
        word
        for line in text.splitlines()
        if line.startswith(("flags", "Features"))
        for word in line.split(":", 1)[1].split()
    }
    names = [line.split(":", 1)[1].strip() for line in text.splitlines() if "model name" in line]
    model = names[0] if names else platform.machine()
    cores = len(os.sched_getaffinity(0))
    yield Finding("Processor", f"{model}, {cores} cores, {vectors(flags)}")


VECTORS = (
    ({"avx512f"}, "AVX-512 (8 doubles)"),
    ({"avx2", "fma"}, "AVX2 with FMA (4 doubles)"),
    ({"avx"}, "AVX without FMA (4 doubles)"),
    ({"sve"}, "SVE"),
    ({"asimd"}, "NEON (2 doubles)"),
    ({"sse2"}, "SSE2 (2 doubles)"),
)


def vectors(flags: set[str]) -> str:
    """Name the vector extension of a processor with these flags and its doubles per vector."""
    return next((name for needed, name in VECTORS if needed <= flags), "vectors unknown")


def cache() -> list[Finding]:
    """The folder of compiled kernels: can it be written, how full is it."""
    topic, mend = "Kernel cache", "symancf cache clear, or export SYMANCF_CACHE=another folder"
    try:
        from .. import errors
        from . import kernels
    except ImportError as error:
        return [Finding(topic, f"not looked at: {error}", "note")]
    try:
        path = kernels.folder()
        with tempfile.TemporaryFile(dir=path, prefix=".new-") as file:
            file.write(bytes(1 << 16))
    except errors.CompileError as error:
        return [Finding(topic, str(error), "missing", "export SYMANCF_CACHE=another folder")]
    except OSError as error:
        return [Finding(topic, f"{error.filename}: {error.strerror}", "missing", mend)]
    kept_kernels, free = kernels.entries(path), shutil.disk_usage(path).free
    size = kernels.readable(sum(entry.size for entry in kept_kernels))
    value = f"{path}: {len(kept_kernels)} kernels, {size}, {kernels.readable(free)} free"
    if free < 100 << 20:
        return [Finding(topic, value, "slow", "free space, or symancf cache clear")]
    return [Finding(topic, value)]


# ---------------------------------------------------------------------------- report
def examine() -> list[Finding]:
    """Look at everything; takes about two seconds."""
    answer, reason = ask_petsc()
    checks: tuple[Callable[[], Iterable[Finding]], ...] = (
        python,
        lambda: petsc(answer, reason),
        lambda: blas(answer),
        threads,
        lambda: mpi(answer),
        compiler,
        processor,
        cache,
    )
    return [finding for check in checks for finding in check()]


def main(*, as_json: bool = False) -> int:
    """Print the report and return the exit status, 1 if something essential is missing."""
    findings = examine()
    if as_json:
        print(json.dumps([asdict(finding) for finding in findings], indent=1))
    else:
        show(findings)
    return int(any(finding.level == "missing" for finding in findings))


def show(findings: list[Finding]) -> None:
    """Print the report as a table, or as plain lines where rich is not installed."""
    try:
        from rich.table import Table
        from rich.text import Text

        console = plain_console()
    except ImportError:
        for finding in findings:
            print(f"{finding.level:8}{finding.topic}: {finding.value}")
            if finding.mend:
                print(f"        fix: {finding.mend}")
        return
    colours = {"ok": "green", "note": "cyan", "slow": "yellow", "missing": "bold red"}
    table = Table(box=None, pad_edge=False, title="symancf doctor", title_justify="left")
    table.add_column("")
    table.add_column("what", no_wrap=True)
    table.add_column("found", overflow="fold")
    for finding in findings:
        text = Text(finding.value)
        table.add_row(Text(finding.level, style=colours[finding.level]), finding.topic, text)
    console.print(table)
    for finding in findings:
        if finding.mend:  # in one line, however long, to be copied
            line = Text(f"{finding.topic}, fix: {finding.mend}", style="bold")
            console.print(line, soft_wrap=True)
