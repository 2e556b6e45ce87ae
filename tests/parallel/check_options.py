# SPDX-License-Identifier: BSD-3-Clause
"""Solve plates with options of the program beside those of the command line. Run by test_options.

check_options.py CASES(JSON: name -> prefix and options) -plate_snes_rtol 1e-8 ...
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

from mpi4py import MPI

import symancf as sa
from symancf.energies import kirchhoff


def solved(prefix: str, given: dict[str, Any]) -> dict[str, Any]:
    """Solve one plate; return what its solver is and what was told."""
    mesh = sa.Mesh.box((1.0, 1.0), (4, 4))
    plate = sa.Body(
        mesh["body"], sa.elements.ancf_thin_plate, kirchhoff(), E=1e4, nu=0.3, thickness=0.1
    )
    load = sa.force(plate["x1"], lambda t: (0.0, 0.0, 0.2 * t))
    system = sa.System(plate, terms=[sa.fix(plate["x0"]), load])
    problem = sa.StaticProblem(system, prefix=prefix, options=given)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        problem.solve()
        problem.solve(to=1.1)  # told once
    ksp = problem.snes.getKSP()
    return {
        "rtol": problem.snes.getTolerances()[0],
        "atol": problem.snes.getTolerances()[1],
        "max_it": problem.snes.getTolerances()[3],
        "ksp": ksp.getType(),
        "pc": ksp.getPC().getType(),
        "solver": ksp.getPC().getFactorSolverType() if ksp.getPC().getType() == "lu" else "",
        "unused": [str(w.message) for w in caught if "PETSc" in str(w.message)],
        "up": float(system.displacement(plate.at((1.0, 0.5, 0.0)))[0, 2]),
    }


if __name__ == "__main__":
    found = {name: solved(*case) for name, case in json.loads(sys.argv[1]).items()}
    every = MPI.COMM_WORLD.gather(found)
    if MPI.COMM_WORLD.rank == 0:
        print(json.dumps(every))
