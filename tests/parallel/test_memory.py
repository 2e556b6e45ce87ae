# SPDX-License-Identifier: BSD-3-Clause
"""What a rank holds of a large body shrinks with the number of ranks: counted, not measured."""

from __future__ import annotations

from functools import cache

import pytest

from tests.mpi import run_mpi

pytestmark = pytest.mark.parallel

# Bytes of all arrays that can be reached from what is counted, each base array once; the peak of
# a process would depend on the allocator and on what ran before.
SCRIPT = """
import json
import numpy as np
from mpi4py import MPI
import symancf as sa
from symancf.energies import saint_venant_kirchhoff

N = 16

def reach(thing, seen, found):
    if id(thing) in seen:
        return
    seen[id(thing)] = thing
    if isinstance(thing, np.ndarray):
        base = thing
        while isinstance(base.base, np.ndarray):
            base = base.base
        found[id(base)] = base
    elif isinstance(thing, dict):
        for part in list(thing.values()):
            reach(part, seen, found)
    elif isinstance(thing, list | tuple):
        for part in thing:
            reach(part, seen, found)
    elif type(thing).__module__.startswith("symancf."):
        for part in list(getattr(thing, "__dict__", {}).values()):
            reach(part, seen, found)

def size(*things):
    seen, found = {}, {}
    for thing in things:
        reach(thing, seen, found)
    return sum(array.nbytes for array in found.values())

mesh = sa.Mesh.box((1.0, 1.0, 1.0), (N, N, N))
body = sa.Body(mesh["body"], sa.elements.hex8_plain, saint_venant_kirchhoff, E=1.0, nu=0.3)
system = sa.System(body, terms=[sa.fix(body["x0"])])
parts = {
    "topology": size(system._discrete.topology),
    "numbering": size(system._discrete.numbering),
    "pieces": size(
        [(p.vertices, p.entities.blocks, p.cell, p.owned) for p in system._discrete.forms]
    ),
    "matrix": size(system._discrete.matrix),
    "everything": size(system),
}
gathered = MPI.COMM_WORLD.gather(parts)
if MPI.COMM_WORLD.rank == 0:
    worst = {name: max(part[name] for part in gathered) for name in parts}
    print(json.dumps({"bytes": worst, "unknowns": system._discrete.numbering.size}))
"""


@cache
def held(ranks: int) -> dict[str, dict[str, int]]:
    """Bytes on the rank that holds most, by part."""
    result: dict[str, dict[str, int]] = run_mpi(ranks, SCRIPT, kept=True)
    return result


def test_one_rank_holds_what_the_tangent_needs() -> None:
    """The count sees the matrix: 81 entries of 12 bytes in nearly every row."""
    found = held(1)
    assert found["unknowns"] == 3 * 17 * 17 * 16
    entries = 0.85 * 81 * found["unknowns"]
    assert found["bytes"]["matrix"] > 12 * entries
    assert found["bytes"]["everything"] < 1.6 * found["bytes"]["matrix"]


@pytest.mark.parametrize(("ranks", "most"), [(2, 0.56), (4, 0.32)])
def test_memory_per_rank_falls(ranks: int, most: float) -> None:
    """One layer of cells beyond a rank's own part costs an eighth to a quarter more.

    (The numbering of one rank holds two of its arrays once that differ on several.)
    """
    one, several = held(1)["bytes"], held(ranks)["bytes"]
    for part in one:
        more = 1.3 if part == "numbering" else 1.0
        assert several[part] < more * most * one[part], part
