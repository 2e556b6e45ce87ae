# SPDX-License-Identifier: BSD-3-Clause
"""Many bodies on joints, and a mass that changes, on any number of ranks. Run by test_counts."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from mpi4py import MPI

import symancf as sa
from symancf.mesh import Mesh
from symancf.solve.statics.rigid_motions import find_free

COMM = MPI.COMM_WORLD


def wheels(count: int, free: int) -> tuple[sa.System, list[sa.PlanarBody]]:
    """Planar bodies on pins, turned by one angle each; the last ones may turn as they like."""
    bodies = [sa.PlanarBody((3.0 * k, 0.0), name=f"b{k}") for k in range(count)]
    terms = []
    for k, body in enumerate(bodies):
        hinge = body.at((0.0, 0.0)), sa.ground.at((3.0 * k, 0.0))
        terms.append(sa.joints.revolute(*hinge))
        if k < count - free:
            terms.append(sa.joints.rotation(*hinge, angle=lambda t, k=k: 0.1 * k * t))
    return sa.System(*bodies, terms=terms), bodies


def many() -> dict[str, Any]:
    """Angles, rows by kind, and the motions that are free."""
    system, bodies = wheels(26, free=0)
    sa.StaticProblem(system, prefix="many_", check_held=False).solve(to=1.0)
    kinds, kind = system._discrete.numbering.kind_of_rows()
    rows = system._discrete.sum(np.bincount(kind, minlength=len(kinds)).astype(float))
    loose, _ = wheels(26, free=2)
    sa.StaticProblem(loose, prefix="loose_", check_held=False).solver.prepare()
    return {
        "angles": [float(body.position(system)[2]) for body in bodies],
        "rows": dict(zip((k.name for k in kinds), rows.tolist(), strict=True)),
        "free": sorted(names for names, _ in find_free(loose)),
    }


def falling() -> float:
    """Velocity of a cube after 2 ms at 10 m/s^2; its density doubles on the way."""
    mesh = Mesh.box((1.0, 1.0, 1.0), (2, 1, 1))
    rho = sa.Parameter("rho", 1000.0)
    values = {"mu": 1e5, "lam": 1e6, "rho": rho}
    body = sa.Body(mesh["body"], sa.elements.hex8_plain, sa.energies.neo_hooke(), **values)
    system = sa.System(body, terms=[sa.gravity((0.0, 0.0, -10.0))])
    problem = sa.DynamicProblem(system, prefix="fall_")
    problem.solve(1e-3, 1e-3)
    rho.value = 2000.0
    problem.solve(2e-3, 1e-3)
    return float(system.velocity(body.at((0.5, 0.5, 0.5)))[0, 2])


if __name__ == "__main__":
    found = {**many(), "velocity": falling()}
    everywhere = COMM.gather(found)
    if everywhere is not None:
        print(json.dumps(everywhere))
