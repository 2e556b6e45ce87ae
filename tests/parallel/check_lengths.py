# SPDX-License-Identifier: BSD-3-Clause
"""Keep lengths on this number of ranks; print tensions, places and errors as JSON."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from mpi4py import MPI

import symancf as sa
from tests.cases import caught
from tests.lines import block, rope, strip, violation

COMM = MPI.COMM_WORLD


def across(system: sa.System, term: Any) -> int:
    """Number of groups whose places depend on vertices of several ranks (collective)."""
    entities, owned = (
        system._discrete.binding(term).entities,
        system._discrete.numbering.owned_vertices,
    )
    mine = np.zeros(entities.groups, dtype=np.int64)
    mine[entities.group[(entities.end_vertices(0) < owned).any(axis=1)]] = 1
    return int((COMM.allreduce(mine) > 1).sum())


def statics(form: Any, per: Any) -> dict[str, Any]:
    """A strip that is pulled sideways with its long edges kept."""
    body = strip(n=7)
    line = sa.length(body["both"], form, per=per)
    pull = sa.traction(body["skin"], (3.0, 2.0, -1.0))
    system = sa.System(body, terms=[sa.fix(body["ends"]), line, pull])
    sa.StaticProblem(system, options={"snes_rtol": 1e-11}).solve()
    return {
        "tensions": line.multipliers(system).tolist(),
        "lengths": line.lengths(system).tolist(),
        "places": system.position(body["both"]).tolist(),
        "violation": float(np.abs(violation(line, system)).max()),
        "across": across(system, line),
    }


def motion(method: str) -> dict[str, Any]:
    """A soft cable that swings, its whole length kept."""
    body = rope(9, EA=20.0, EI=0.02)
    line = sa.length(body["body"], per="line", stretch=lambda t: 1.0 + 0.5 * t**2)
    terms = [sa.fix(body["x0"], "position"), sa.gravity((0, 3.0, -9.81)), line]
    system = sa.System(body, terms=terms)
    options: dict[str, Any] = (
        {"stabilisation": sa.Projection()} if method == "rk" else {"spectral_radius": 0.8}
    )
    problem = sa.DynamicProblem(system, method=method, **options)
    problem.solve(to=0.05, step=1e-3 if method != "rk" else 1e-4)
    return {
        "tensions": line.multipliers(system).tolist(),
        "lengths": line.lengths(system).tolist(),
        "places": system.position(body["body"]).tolist(),
        "violation": float(np.abs(violation(line, system)).max()),
        "across": across(system, line),
    }


def errors() -> dict[str, Any]:
    """What is wrong with lines, on every rank."""
    body, bricks = strip(), block()
    given = {
        "branch": lambda: sa.System(
            body, terms=[sa.fix(body["ends"]), sa.length(body["crossed"], per="line")]
        ),
        "no edge": lambda: sa.System(
            bricks, terms=[sa.fix(bricks["root"]), sa.length(bricks["inside"])]
        ),
        "points": lambda: sa.length(body["ends"]),
        "contradiction": lambda: sa.StaticProblem(
            sa.System(
                body,
                terms=[sa.fix(body["rim"]), sa.length(body["rim"], per="line", stretch=1.2)],
            )
        ).solve(),
    }
    return {name: COMM.allgather(caught(call)) for name, call in given.items()}


if __name__ == "__main__":
    results: dict[str, Any] = {
        f"{form} {per}": statics(form, per)
        for form in ("arc", "squared")
        for per in ("edge", "line")
    }
    results |= {method: motion(method) for method in ("generalized-alpha", "rk")}
    results["errors"] = errors()
    if COMM.rank == 0:
        print(json.dumps(results))
