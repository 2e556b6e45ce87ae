# SPDX-License-Identifier: BSD-3-Clause
"""The solution that all packages are compared on, run as a script in a process of its own.

A cube of n^3 hexahedra of Yeoh's rubber, clamped at x = 0 and moved by (0.3, 0.1, 0) at x = 1 in
two steps. Like the peer's script it prints one line of JSON.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np

from ..bodies.body import Body
from ..catalogue.boundary import fix
from ..elements import hex8_plain
from ..energies import yeoh
from ..mesh import Mesh
from ..runtime.progress import peak_memory
from ..solve.statics.problem import StaticProblem
from ..system import System

#: Options of preconditioners; those of BoomerAMG took the least time of several.
PRECONDITIONERS: dict[str, dict[str, Any]] = {
    "grids": {"pc_type": "grids"},
    "GAMG": {"pc_type": "gamg"},
    "BoomerAMG": {
        "pc_type": "hypre",
        "pc_hypre_type": "boomeramg",
        "pc_hypre_boomeramg_coarsen_type": "HMIS",
        "pc_hypre_boomeramg_interp_type": "ext+i",
        "pc_hypre_boomeramg_P_max": 4,
        "pc_hypre_boomeramg_strong_threshold": 0.5,
        "pc_hypre_boomeramg_nodal_coarsen": 4,
    },
}
STEPS = 2


def pulled(mesh: Mesh, length: float = 1.0, **options: Any) -> StaticProblem:
    """Return the problem of a box, by t * `length` times the displacement of the cube at x1."""
    rubber: dict[str, Any] = {"C10": 0.2712, "C20": 0.03053, "C30": -0.0004013, "k": 10.0}
    cube = Body(mesh["body"], hex8_plain, yeoh(), volumetric="full", **rubber)

    def moved(t: float) -> tuple[float, float, float]:
        return 0.3 * t * length, 0.1 * t * length, 0.0

    system = System(cube, terms=[fix(cube["x0"]), fix(cube["x1"], displacement=moved)])
    return StaticProblem(system, options={"ksp_type": "cg", **options})


def size(problem: StaticProblem) -> float:
    """Return the norm of all displacements (collective)."""
    system = problem.system
    owned = system._discrete.numbering.vertex_of < system._discrete.numbering.owned_vertices
    return float(np.sqrt(system._discrete.sum(np.array([np.square(system.state[owned]).sum()])))[0])


def solve(n: int, preconditioner: str = "grids") -> dict[str, Any]:
    """Solve with CG and multigrid, the default of large solids, or another of `PRECONDITIONERS`."""
    base, start = peak_memory(), time.process_time()
    mesh = Mesh.box((1.0, 1.0, 1.0), (n, n, n))
    problem = pulled(mesh, **PRECONDITIONERS[preconditioner])
    history = problem.solve(to=1.0, step=1.0 / STEPS)
    total = time.process_time() - start
    return {
        "elements": n**3,
        "total_s": total,
        "assembly_s": history.seconds["assembly"],
        "solve_s": history.seconds["solve"],
        "newton": [step.iterations for step in history.steps],
        "linear": [step.linear_iterations for step in history.steps],
        "norm_u": size(problem),
        "memory_MB": peak_memory(),
        "memory_above_import_MB": peak_memory() - base,
    }


if __name__ == "__main__":
    print(json.dumps({"name": "symancf", **solve(int(sys.argv[1]), *sys.argv[2:])}))
