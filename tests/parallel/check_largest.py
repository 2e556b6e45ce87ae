# SPDX-License-Identifier: BSD-3-Clause
"""Bars on 2 and on 3 ranks, as long as their number. Run by test_largest, with largest.c preloaded.

A mesh from HDF5, a nonlinear solution with multigrid, output and a checkpoint. Prints the largest
block of memory that each place asked for, on any rank, and how many nodes there are.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

import symancf as sa
from symancf.solve.multigrid import levels

WORLD = MPI.COMM_WORLD
ACROSS, EACH = 2, 400  # cells across, and along for each rank
levels.SHARED = 600  # unknowns that all ranks may hold: far fewer than a rank's own

counter = ctypes.CDLL(os.environ["LD_PRELOAD"])
counter.largest_name.restype = ctypes.c_char_p
counter.largest_bytes.restype = ctypes.c_size_t


def solve(comm: MPI.Comm, along: int, folder: Path, wrong: bool = False) -> int:
    """Read, solve and write a bar of cells `along`; return the number of nodes."""
    name, divisions = f"bar{comm.size}", (ACROSS, ACROSS, along)
    sa.Mesh.box((1.0, 1.0, 0.5 * comm.size), divisions, comm=comm).write(folder / f"{name}.h5")
    mesh = sa.Mesh.read(folder / f"{name}.h5", comm)
    if wrong:  # what the test is there for
        np.arange(mesh.n_points, dtype=np.int32).max()
    rubber = {"C10": 0.27, "C20": 0.03, "C30": -4e-4, "k": 10.0}
    bar = sa.Body(mesh["body"], sa.elements.hex8_plain, sa.energies.yeoh(), **rubber)
    moved = sa.fix(bar["z1"], displacement=lambda t: (0.05 * t, 0.0, 0.1 * t))
    system = sa.System(bar, terms=[sa.fix(bar["z0"]), moved])
    options = {"ksp_type": "cg", "pc_type": "grids", "snes_rtol": 1e-4}
    problem = sa.StaticProblem(system, options=options, prefix=f"{name}_")
    problem.solve(to=1.0)
    sa.output.write(folder / f"{name}.vtu", sa.sample(system, bar, divisions=1), comm)
    problem.save(folder / f"{name}-state.h5")
    problem.restore(folder / f"{name}-state.h5")
    return mesh.n_points


def largest(ranks: int, folder: Path, wrong: bool = False) -> tuple[dict[str, int], int]:
    """Return the largest blocks by place, and the number of nodes (collective)."""
    comm = WORLD.Split(0 if WORLD.rank < ranks else MPI.UNDEFINED)
    found: dict[str, int] = {}
    nodes = 0
    if comm != MPI.COMM_NULL:
        solve(comm, 30, folder)  # libraries are loaded, kernels compiled
        counter.largest_begin()
        nodes = solve(comm, ranks * EACH, folder, wrong)
        counter.largest_end()
        every = (counter.largest_name(k).decode() for k in range(counter.largest_places()))
        found = {name: counter.largest_bytes(k) for k, name in enumerate(every) if name}
    most: dict[str, int] = {}
    for part in WORLD.allgather(found):
        for name, size in part.items():
            most[name] = max(size, most.get(name, 0))
    return most, WORLD.bcast(nodes)


if __name__ == "__main__":
    place = Path(sys.argv[1])
    few, _ = largest(2, place)
    many, points = largest(3, place, wrong=True)
    result: dict[str, Any] = {"few": few, "many": many, "nodes": points}
    if WORLD.rank == 0:
        print(json.dumps(result))
