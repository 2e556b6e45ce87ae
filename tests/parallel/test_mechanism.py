# SPDX-License-Identifier: BSD-3-Clause
"""Mechanisms of many bodies: the same on any number of ranks, and one per rank."""

from __future__ import annotations

from typing import Any

import pytest

from tests.mpi import run_mpi

pytestmark = pytest.mark.parallel

CHAIN = """
    import json, math
    from mpi4py import MPI
    import symancf as sa
    from symancf.flexure import ground_wrench

    def chain(links, load, comm=None):
        bodies = [sa.PlanarBody(at=(0.1 * k, 0.0, 0.3 * k), name=f"link {k}") for k in range(links)]
        terms = [sa.force(bodies[-1], (0.0, load))]
        for k, body in enumerate(bodies):
            back = sa.ground.at((-0.06, 0.0))
            if k:
                c, s = math.cos(0.3 * (k - 1)), math.sin(0.3 * (k - 1))
                back = bodies[k - 1].at((0.04 * c, -0.04 * s))
            c, s = math.cos(0.3 * k), math.sin(0.3 * k)
            front = body.at((-0.04 * c, 0.04 * s))
            if k % 2:
                chord, angle = 0.02, 4.0 if k % 4 == 1 else -4.0
                arc = sa.Flexure.arc(
                    back, front, chord / (2 * abs(math.sin(angle / 2))), angle, EI=1e-4
                )
            else:
                arc = sa.Flexure.straight(back, front, EI=1e-4, EA=10.0)
            terms.append(arc)
        return bodies, sa.System(*bodies, terms=terms, comm=comm)
"""


def test_chain_is_the_same_on_any_number_of_ranks() -> None:
    script = (
        CHAIN
        + """
    bodies, system = chain(60, 1e-6)
    sa.StaticProblem(system, prefix="chain_").solve()
    rows = MPI.COMM_WORLD.allgather(system.numbering.rows)
    tip = bodies[-1].displacement(system).tolist()
    result = {"tip": tip, "rows": rows, "wrench": ground_wrench(system).tolist(),
              "passed": bool(sa.check(system).passed)}
    if MPI.COMM_WORLD.rank == 0:
        print(json.dumps(result))
    """
    )
    results: list[Any] = [run_mpi(ranks, script) for ranks in (1, 3)]
    one, three = results
    assert one["passed"]
    assert three["passed"]
    assert sum(three["rows"]) == one["rows"][0] == 180
    assert min(three["rows"]) > 30
    assert one["tip"] == pytest.approx(three["tip"], rel=1e-8)
    assert abs(one["tip"][1]) > 1e-3
    assert one["wrench"] == pytest.approx(three["wrench"], rel=1e-8, abs=1e-12)


def test_one_mechanism_per_rank() -> None:
    script = (
        CHAIN
        + """
    load = 1e-5 * (1 + MPI.COMM_WORLD.rank)
    bodies, system = chain(3, load, comm=MPI.COMM_SELF)
    sa.StaticProblem(system, prefix="own_").solve()
    tips = MPI.COMM_WORLD.gather(bodies[-1].displacement(system)[1])
    if MPI.COMM_WORLD.rank == 0:
        print(json.dumps(tips))
    """
    )
    tips: Any = run_mpi(3, script)
    assert tips[0] < tips[1] < tips[2]
    assert tips[1] == pytest.approx(2 * tips[0], rel=0.05)
