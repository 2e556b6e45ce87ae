# SPDX-License-Identifier: BSD-3-Clause
"""Chains of planar bodies and flexures, on all ranks and on each. Run by test_mechanism."""

from __future__ import annotations

import math
from typing import Any

from mpi4py import MPI

import symancf as sa
from symancf.extensions.flexure import ground_wrench
from tests.cases import Cases

COMM = MPI.COMM_WORLD
case = Cases(limit=100.0)


def chain(links: int, load: float, comm: Any = None) -> tuple[list[sa.PlanarBody], sa.System]:
    bodies = [
        sa.PlanarBody(position=(0.1 * k, 0.0, 0.3 * k), name=f"link {k}") for k in range(links)
    ]
    terms: list[Any] = [sa.force(bodies[-1], (0.0, load))]
    for k, body in enumerate(bodies):
        back = sa.ground.at((-0.06, 0.0))
        if k:
            c, s = math.cos(0.3 * (k - 1)), math.sin(0.3 * (k - 1))
            back = bodies[k - 1].at((0.04 * c, -0.04 * s))
        c, s = math.cos(0.3 * k), math.sin(0.3 * k)
        front = body.at((-0.04 * c, 0.04 * s))
        if k % 2:
            chord, angle = 0.02, 4.0 if k % 4 == 1 else -4.0
            radius = chord / (2 * abs(math.sin(angle / 2)))
            arc = sa.Flexure.arc(back, front, radius, angle, EI=1e-4)
        else:
            arc = sa.Flexure.straight(back, front, EI=1e-4, EA=10.0)
        terms.append(arc)
    return bodies, sa.System(*bodies, terms=terms, comm=comm)


@case
def together() -> dict[str, Any]:
    bodies, system = chain(60, 1e-6)
    sa.StaticProblem(system, prefix="chain_").solve()
    return {
        "tip": bodies[-1].displacement(system).tolist(),
        "rows": COMM.allgather(system._discrete.numbering.rows),
        "wrench": ground_wrench(system).tolist(),
        "passed": bool(sa.check(system).passed),
    }


@case
def own() -> float:
    """The last body's y in a chain of this rank alone, whose load grows with the rank."""
    bodies, system = chain(3, 1e-5 * (1 + COMM.rank), comm=MPI.COMM_SELF)
    sa.StaticProblem(system, prefix="own_").solve()
    return float(bodies[-1].displacement(system)[1])


if __name__ == "__main__":
    case.main(lambda function: function())
