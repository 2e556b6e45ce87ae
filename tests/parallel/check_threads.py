# SPDX-License-Identifier: BSD-3-Clause
"""A twisted block with threads on this number of ranks; print what comes of it as JSON."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from mpi4py import MPI

import symancf as sa
from tests.cases import caught

COMM = MPI.COMM_WORLD
CELLS = {"hexahedron": sa.elements.hex8, "tetra10": sa.elements.tet10}
AXES = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # columns: y, z, x


def block(cell: str) -> sa.Body:
    """Return a bar along x."""
    mesh = sa.Mesh.box((2.0, 1.0, 1.0), (5, 3, 3), cell=cell)
    law = sa.energies.saint_venant_kirchhoff()
    return sa.Body(mesh["body"], CELLS[cell], law, name="block", E=1e4, nu=0.3)


def solved(cell: str) -> dict[str, Any]:
    """A bar that is bent, with a braid in it and a line that keeps its length."""
    body = block(cell)
    centre = {"centre": (0.1, 0.5, 0.5), "frame": AXES}
    thread = sa.Thread(sa.braid(40.0, 2, radius=0.3, length=1.8, **centre), body, EA=3e3)
    line = sa.length(body.along([(0.0, 0.4, 0.1), (1.5, 0.4, 0.1)]))
    terms = [sa.fix(body["x0"]), sa.traction(body["x1"], (100.0, 50.0, 300.0)), thread, line]
    system = sa.System(body, terms=terms)
    sa.StaticProblem(system, options={"snes_rtol": 1e-12}).solve()
    vertices = system._discrete.numbering.owned_vertices
    return {
        "places": system.position(body["body"]).tolist(),
        "tensions": thread.tensions(system).tolist(),
        "multipliers": line.multipliers(system).tolist(),
        "pieces": [thread.cut.pieces.curve.tolist(), thread.cut.pieces.cell.tolist()],
        "ranks": COMM.allreduce(int(vertices > 0)),
    }


def errors() -> dict[str, Any]:
    """What is wrong with paths, on every rank."""
    body = block("hexahedron")
    many = [[(0.0, y, 0.1), (2.0, y, 0.1)] for y in np.linspace(0.01, 0.99, 60)]
    other = [(0.0, 0.5, 0.5), (1.0 + 0.1 * COMM.rank, 0.5, 0.5)]

    def fails(s: Any) -> Any:
        if COMM.rank == COMM.size - 1:
            raise ValueError("no path")
        return np.outer(s, (1.0, 0.0, 0.0))

    given = {
        "outside": lambda: sa.Thread([(0.0, 0.5, 0.5), (2.5, 0.5, 0.5)], body, EA=1.0),
        "dense": lambda: sa.length(body.along(many)),
        "other": lambda: sa.Thread(other, body, EA=1.0),
        "fails": lambda: sa.Thread(fails, body, EA=1.0),
    }
    fixed = sa.fix(body["x0"])
    return {
        name: COMM.allgather(caught(lambda term=term: sa.System(body, terms=[fixed, term()])))
        for name, term in given.items()
    }


if __name__ == "__main__":
    results: dict[str, Any] = {cell: solved(cell) for cell in CELLS}
    results["errors"] = errors()
    if COMM.rank == 0:
        print(json.dumps(results))
