# SPDX-License-Identifier: BSD-3-Clause
"""No rank makes a list of all places of a large region: every array is followed by its name.

What a rank has of a region before distribution are the points of its slice of the mesh.
"""

from __future__ import annotations

from functools import cache

import pytest

from tests.mpi import run_mpi

pytestmark = pytest.mark.parallel

# The longest array that each local variable of a function in the rooms of places and terms holds
# when the function returns, on the rank where it is longest.
SCRIPT = """
import json
import sys
import numpy as np
from mpi4py import MPI
import symancf as sa

N = 24
ROOMS = ("/places/", "/boundary/", "/terms/", "/loads.py", "/ties.py", "/natural/", "/plane/")
longest = {}

def watch(frame, event, value):
    file = frame.f_code.co_filename.partition("symancf/")[2]
    if event == "return" and any(room in "/" + file for room in ROOMS):
        for name, held in [*frame.f_locals.items(), ("return", value)]:
            if isinstance(held, np.ndarray) and held.ndim:
                key = f"{file}:{frame.f_code.co_qualname}.{name}"
                longest[key] = max(longest.get(key, 0), len(held))

def plate(name="plate", z=0.0):
    mesh = sa.Mesh.box((1.0, 1.0), (N, N), warp=lambda X: X + [0.0, 0.0, z])
    return sa.Body(
        mesh["body"], sa.elements.ancf_plate, sa.energies.saint_venant_kirchhoff,
        E=1.0, nu=0.3, thickness=0.1, name=name,
    )

def models():
    one = plate()
    yield "fix", [one], [sa.fix(one["body"])]
    one = plate()
    yield "planar", [one], [sa.planar(one)]
    one = plate()
    yield "symmetry", [one], [sa.symmetry(one["body"], "z")]
    one = plate()
    load = sa.force(one["body"], (0.0, 0.0, 1.0))
    yield "force", [one], [load]
    one = plate()
    yield "traction", [one], [sa.traction(one["body"], (0.0, 0.0, 1.0))]
    one, two = plate("one"), plate("two", z=1e-7)
    yield "tie", [one, two], [sa.joints.tie(one["body"], two)]
    one = plate()
    yield "roller", [one], [sa.fix(one["body"], "normal", direction=(0.0, 0.0, -1.0))]

found = {}
for name, bodies, terms in models():
    longest.clear()
    sys.setprofile(watch)
    sa.System(*bodies, terms=terms)
    sys.setprofile(None)
    found[name] = dict(longest)
gathered = MPI.COMM_WORLD.gather(found)
if MPI.COMM_WORLD.rank == 0:
    most = {
        name: {key: max(part[name].get(key, 0) for part in gathered) for key in found[name]}
        for name in found
    }
    print(json.dumps(most))
"""


MODELS = ["fix", "planar", "symmetry", "roller", "force", "traction", "tie"]


@cache
def arrays(ranks: int) -> dict[str, dict[str, int]]:
    """Lengths by model and variable."""
    result: dict[str, dict[str, int]] = run_mpi(ranks, SCRIPT)
    return result


@pytest.mark.parametrize("model", MODELS)
def test_every_array_of_places_falls_with_the_ranks(model: str) -> None:
    """On 3 ranks a third, and what neighbours have in common: more where bodies are tied."""
    one, three = arrays(1)[model], arrays(3)[model]
    most = 0.75 if model == "tie" else 0.6
    large = {key: length for key, length in one.items() if length > 24 * 24 // 2}
    assert len(large) > 5
    kept = {key: (n, three.get(key, 0)) for key, n in large.items() if three.get(key, 0) > most * n}
    assert kept == {}
