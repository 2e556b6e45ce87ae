# SPDX-License-Identifier: BSD-3-Clause
"""Facts about PETSc, MPI and the BLAS, printed as one line of JSON.

Run as a script in a process of its own by :mod:`symancf.command.doctor`: a PETSc that was built for
another NumPy, or an MPI that cannot start, ends this process and not the doctor.
"""

from __future__ import annotations

import ctypes
import json
import time
from pathlib import Path
from typing import TypedDict

PACKAGES = ("mumps", "ptscotch", "hypre", "suitesparse", "superlu_dist", "scalapack", "ml", "hdf5")


def blas_libraries(maps: str) -> list[str]:
    """Return the BLAS libraries in the text of ``/proc/self/maps``, without NumPy's own."""
    words = ("blas", "libmkl", "libblis", "libatlas", "libarmpl", "libsci")
    paths = {line.split(None, 5)[-1].strip() for line in maps.splitlines() if "/" in line}
    return sorted(
        path
        for path in paths
        if any(word in Path(path).name for word in words)
        and not any(part in path for part in ("numpy.libs", "scipy.libs", "scipy_openblas"))
    )


def dgemm_speed(library: str, n: int = 384) -> float:
    """Return the speed in GFLOP/s of the product of two n x n matrices as `library` sees dgemm.

    The matrices are small enough for a cache and large enough to tell a blocked, vectorised
    BLAS (tens of GFLOP/s per core) from the reference one (1 to 3).
    """
    import numpy as np

    dgemm = ctypes.CDLL(library).dgemm_
    a, b, c = (np.full((n, n), 0.5) for _ in range(3))
    one, zero, size = ctypes.c_double(1.0), ctypes.c_double(0.0), ctypes.c_int(n)
    where = [array.ctypes.data_as(ctypes.c_void_p) for array in (a, b, c)]
    by = ctypes.byref
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        dgemm(
            b"N", b"N", by(size), by(size), by(size), by(one),
            where[0], by(size), where[1], by(size), by(zero), where[2], by(size),
        )  # fmt: skip
        best = min(best, time.perf_counter() - start)
    return float(2.0 * n**3 / best * 1e-9)


def slepc_version() -> str:
    """Return the version of the SLEPc that symancf finds, or why it finds none."""
    try:
        from symancf.runtime.slepc import slepc
    except ImportError as error:
        return f"not looked for: {error}"
    module, why = slepc()
    return why if module is None else ".".join(map(str, module.Sys.getVersion()))


class Answer(TypedDict, total=False):
    """What there is, see `probe`; empty where PETSc does not start."""

    petsc: str
    petsc4py: str
    directory: str
    arch: str
    scalar: str
    integer_bits: int
    packages: dict[str, bool]
    slepc: str
    mpi4py: str
    mpi: str
    blas: list[str]
    dgemm_gflops: float | None


def probe() -> Answer:
    """Return versions, numbers and packages of PETSc, the MPI library and the BLAS in use."""
    import mpi4py
    import petsc4py
    from mpi4py import MPI

    petsc4py.init(["symancf-doctor"])
    from petsc4py import PETSc

    version = PETSc.Sys.getVersion()
    config = petsc4py.get_config()
    has = getattr(PETSc.Sys, "hasExternalPackage", None)
    libraries = blas_libraries(Path("/proc/self/maps").read_text(encoding="utf-8"))
    try:
        speed = dgemm_speed(PETSc.__file__)
    except (AttributeError, OSError):
        speed = None
    return {
        "petsc": ".".join(str(part) for part in version),
        "petsc4py": petsc4py.__version__,
        "directory": config.get("PETSC_DIR", ""),
        "arch": config.get("PETSC_ARCH", ""),
        "scalar": PETSc.ScalarType.__name__,
        "integer_bits": PETSc.IntType().itemsize * 8,
        "packages": {name: bool(has(name)) for name in PACKAGES} if has else {},
        "slepc": slepc_version(),
        "mpi4py": mpi4py.__version__,
        "mpi": MPI.Get_library_version().split(",")[0].split("\n")[0].strip(),
        "blas": libraries,
        "dgemm_gflops": speed,
    }


if __name__ == "__main__":
    print(json.dumps(probe()))
