# SPDX-License-Identifier: BSD-3-Clause
"""A cube as large as memory allows, from an HDF5 file to an equilibrium, phase by phase."""

from __future__ import annotations

import gc
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

from .. import output
from ..mesh import Mesh
from ..runtime.collective import reduced
from ..runtime.progress import peak_memory
from .solution import pulled, size


class _Phases:
    """CPU time and peak memory of this rank at the end of each phase, so far."""

    def __init__(self) -> None:
        self.phases: dict[str, list[float]] = {}
        self.base = self._peak = peak_memory()
        self._since = time.process_time()

    def end(self, name: str) -> None:
        """Note the end of a phase."""
        now = time.process_time()
        # Linux adds up counters of processors, some pages late: what it tells may fall a little
        self._peak = max(self._peak, peak_memory())
        self.phases[name] = [now - self._since, self._peak, self._peak - self.base]
        self._since = now


def run(n: int, folder: str | None = None, write: bool = False) -> dict[str, Any]:
    """Return CPU times and peak memory of a nonlinear step of n^3 hexahedra (collective).

    The mesh is written to HDF5 and read again, slice by slice; `write`: the result is, too.
    `folder` of the files: a temporary one by default, see TMPDIR.
    """
    comm = MPI.COMM_WORLD
    with tempfile.TemporaryDirectory(dir=folder) as own:
        place = Path(comm.bcast(own))
        phases = _Phases()
        Mesh.box((1.0, 1.0, 1.0), (n, n, n)).write(place / "cube.h5")
        gc.collect()  # the mesh and its regions name each other
        phases.end("writing the mesh")
        mesh = Mesh.read(place / "cube.h5")
        phases.end("reading it")
        problem = pulled(mesh, pc_type="grids")
        phases.end("numbering")
        problem.system._discrete.half  # noqa: B018 - made on first use
        phases.end("pattern")
        history = problem.solve(to=0.5)
        phases.end("Newton's method")
        if write:
            (body,) = problem.system.bodies
            every = output.slabs(problem.system, body, fields={}, divisions=1)
            output.write(place / "cube.vtu", every, comm)
            phases.end("output")
        comm.Barrier()
    most = reduced(comm, np.array(list(phases.phases.values())), MPI.MAX)
    names = "cpu_s", "memory_MB", "memory_above_import_MB"
    return {
        "elements": n**3,
        "unknowns": problem.system._discrete.numbering.size,
        "ranks": comm.size,
        "newton": [step.iterations for step in history.steps],
        "linear": [step.linear_iterations for step in history.steps],
        "norm_u": size(problem),
        "phases": [
            {"phase": phase, **dict(zip(names, row, strict=True))}
            for phase, row in zip(phases.phases, most.tolist(), strict=True)
        ],
    }
