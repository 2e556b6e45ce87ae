# SPDX-License-Identifier: BSD-3-Clause
"""Planar joints, limit points and motions on several ranks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.mpi import run_mpi

pytestmark = pytest.mark.parallel

LINKAGE = """
    import json
    import numpy as np
    import symancf as sa
    from mpi4py import MPI
    from tests.unit.test_planar_joints import linkage

    a, b, terms = linkage()
    system = sa.System(a, b, terms=terms)
    sa.StaticProblem(system, prefix="linkage_").solve(step=0.25)
    hinge, angle = terms[1:3]
    result = {
        "a": a.position(system).tolist(),
        "b": b.position(system).tolist(),
        "force": hinge.reaction(system, "b").force.tolist(),
        "moment": angle.reaction(system, "b").moment.tolist(),
        "owners": MPI.COMM_WORLD.allgather(system.numbering.rows),
    }
    if MPI.COMM_WORLD.rank == 0:
        print(json.dumps(result))
"""

LIMIT = """
    import json
    import symancf as sa
    from mpi4py import MPI
    from tests.unit.test_branch import loaded

    g = loaded("partial", 3, "x", lambda t: 182.0 * t)
    told = ""
    try:
        sa.StaticProblem(g.system, prefix="limit_").solve(step=0.05)
    except sa.ConvergenceError as error:
        told = str(error)
    every = MPI.COMM_WORLD.allgather(told)
    if MPI.COMM_WORLD.rank == 0:
        print(json.dumps({"told": every, "time": g.system.time}))
"""

MOTION = """
    import json
    import symancf as sa
    from mpi4py import MPI
    from symancf.verify.mechanisms import squeezer

    system, values = squeezer()
    sa.DynamicProblem(system, prefix="squeezer_").solve(to=0.004, step=4e-5)
    angles = values().tolist()
    rows = MPI.COMM_WORLD.allgather(system.numbering.rows)
    if MPI.COMM_WORLD.rank == 0:
        print(json.dumps({"angles": angles, "rows": rows}))
"""


def test_a_linkage_is_the_same_on_any_number_of_ranks() -> None:
    one, two, three = (run_mpi(ranks, LINKAGE) for ranks in (1, 2, 3))
    for other in (two, three):
        assert sum(r > 0 for r in other["owners"]) > 1
        for name in ("a", "b", "force", "moment"):
            assert np.abs(np.array(other[name]) - one[name]).max() < 1e-11, name


def test_every_rank_tells_the_limit_point() -> None:
    one, three = (run_mpi(ranks, LIMIT) for ranks in (1, 3))
    for found in (one, three):
        assert len(set(found["told"])) == 1
        assert "a limit point, or nearly one" in found["told"][0]
        assert found["time"] * 182.0 == pytest.approx(113.7335, abs=0.02)


def test_a_motion_is_the_same_on_any_number_of_ranks() -> None:
    results: list[Any] = [run_mpi(ranks, MOTION) for ranks in (1, 2, 3)]
    for other in results[1:]:
        assert sum(r > 0 for r in other["rows"]) > 1
        assert np.abs(np.array(other["angles"]) - results[0]["angles"]).max() < 1e-9
