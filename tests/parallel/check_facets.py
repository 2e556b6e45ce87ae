# SPDX-License-Identifier: BSD-3-Clause
"""A block dragged over a bump with friction, on this number of ranks; print where it is as JSON.

The bump is of hexahedra and, where the block is dragged to, of wedges.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

import symancf as sa
from symancf.elements import hex8_plain
from symancf.energies import neo_hooke
from tests.unit.facing import MATERIAL, Array
from tests.unit.seams import beside, held, side_of

COMM = MPI.COMM_WORLD
TIMES = [1.0, *(1.0 + k / 12 for k in range(1, 5))]
HALF = 3  # steps before the checkpoint


def low(x: Array) -> Array:
    """A bump on a strip."""
    x = x * [3.0, 1.0, 1.0]
    up = 0.12 * np.exp(-(((x[:, 0] - 1.5) / 0.4) ** 2)) * x[:, 2] / 0.5
    return x + up[:, None] * [0.0, 0.0, 1.0]


def high(x: Array) -> Array:
    """A sledge beside it."""
    up = 0.08 * (2.0 * (x[:, 0] - 0.5)) ** 4 * (1.0 - x[:, 2] / 0.5)
    return np.asarray(x * [0.7, 1.0, 0.8] + [0.4, 0.0, 0.52] + up[:, None] * [0.0, 0.0, 1.0])


def drag(time: float) -> Array:
    """Down, then along."""
    return np.array([2.0 * max(time - 1.0, 0.0), 0.0, -0.08 * min(time, 1.0)])


def dragged(goes: str) -> list[list[float]]:
    """Displacements, the force, what was dissipated and how many points touch after each step."""
    strip = beside("first", (6, 6, 2, 2), warp=low, name="strip")
    mesh = sa.Mesh.box((1.0, 1.0, 0.5), (5, 2, 2), warp=high)
    block = sa.Body(mesh["body"], hex8_plain, neo_hooke(), name="block", **MATERIAL)
    pull = sa.fix(block["z1"], displacement=drag)
    contact = sa.Contact(side_of(strip, "z1"), block["z0"], mu=0.3, name="contact")
    system = sa.System(*strip, block, terms=[contact, *held(strip, "z0"), pull])
    problem = sa.StaticProblem(system, options={"snes_rtol": 1e-11})
    times, file = TIMES, FOLDER / f"{goes[-1]}.h5"
    if goes.startswith("from"):
        problem.restore(file)
        times = TIMES[HALF:]
    rows = []
    places = strip[0].at((1.0, 0.4, 0.4)), strip[1].at((1.7, 0.6, 0.5))
    for k, time in enumerate(times, 1):
        problem.solve(to=time)
        found = system._discrete.memory.gathered("contact:1")
        touches = float((found["status"] > -0.5).sum())
        more = [*np.ravel(pull.reaction(system).force), found["dissipated"].sum(), touches]
        u = [a for place in places for a in np.ravel(system.displacement(place))]
        rows.append([*map(float, u), *map(float, more)])
        if goes.startswith("whole") and k == HALF:
            problem.save(file)
    return rows


if __name__ == "__main__":
    FOLDER = Path(sys.argv[1])
    found = {goes: dragged(goes) for goes in sys.argv[2:]}
    if COMM.rank == 0:
        print(json.dumps(found))
