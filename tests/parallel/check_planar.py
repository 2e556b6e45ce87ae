# SPDX-License-Identifier: BSD-3-Clause
"""Planar joints, a limit point and a motion on this number of ranks. Run by test_planar."""

from __future__ import annotations

from typing import Any

from mpi4py import MPI

import symancf as sa
from symancf.verify.mechanisms import squeezer
from tests.cases import Cases
from tests.unit.test_branch import loaded
from tests.unit.test_planar_joints import linkage as hinged

COMM = MPI.COMM_WORLD
case = Cases(limit=100.0)


@case
def linkage() -> dict[str, Any]:
    a, b, terms = hinged()
    system = sa.System(a, b, terms=terms)
    sa.StaticProblem(system, prefix="linkage_").solve(step=0.25)
    hinge, angle = terms[1:3]
    return {
        "a": a.position(system).tolist(),
        "b": b.position(system).tolist(),
        "force": hinge.reaction(system, "b").force.tolist(),
        "moment": angle.reaction(system, "b").moment.tolist(),
        "owners": COMM.allgather(system._discrete.numbering.rows),
    }


@case
def limit() -> tuple[str, str, float]:
    """What is told at a limit point, and the time that was reached."""
    g = loaded("partial", 3, "x", lambda t: 182.0 * t)
    try:
        sa.StaticProblem(g.system, prefix="limit_").solve(step=0.05)
    except sa.ConvergenceError as error:
        return error.asked, str(error), g.system.time
    return "", "", g.system.time


@case
def motion() -> dict[str, Any]:
    system, values = squeezer()
    sa.DynamicProblem(system, prefix="squeezer_").solve(to=0.004, step=4e-5)
    return {"angles": values().tolist(), "rows": COMM.allgather(system._discrete.numbering.rows)}


if __name__ == "__main__":
    case.main(lambda function: function())
