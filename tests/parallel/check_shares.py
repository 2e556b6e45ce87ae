# SPDX-License-Identifier: BSD-3-Clause
"""Print the longest array that each local variable of a function holds when the function returns.

By model and variable, of the functions in the rooms of places and terms, on the rank where it is
longest.
"""

from __future__ import annotations

import json
import sys

import numpy as np
from mpi4py import MPI

import symancf as sa
from tests.shells import tube

N = 24
ROOMS = (
    "/places/",
    "/boundary/",
    "/terms/",
    "/loads.py",
    "/ties.py",
    "/natural/",
    "/plane/",
    "/lengths.py",
    "/rigid_clamp.py",
    "/connected.py",
    "/gas/",
)
longest = {}


def watch(frame, event, value):
    file = frame.f_code.co_filename.partition("symancf/")[2]
    if event == "return" and any(room in "/" + file for room in ROOMS):
        for name, held in [*frame.f_locals.items(), ("return", value)]:
            if isinstance(held, np.ndarray) and held.ndim:
                key = f"{file}:{frame.f_code.co_qualname}.{name}"
                longest[key] = max(longest.get(key, 0), len(held))


def plate(name="plate", z=0.0):
    mesh = sa.Mesh.box((1.0, 1.0), (N, N), warp=lambda X: X + np.array([0.0, 0.0, z]))
    return sa.Body(
        mesh["body"],
        sa.elements.ancf_plate,
        sa.energies.saint_venant_kirchhoff(),
        E=1.0,
        nu=0.3,
        thickness=0.1,
        name=name,
    )


def ropes():
    """Cables of four cells beside each other, and their first ends."""
    k = N * N // 2
    X = [[x, y, 0.1 * x] for y in range(k) for x in range(5)]
    lines = [[5 * y + x, 5 * y + x + 1] for y in range(k) for x in range(4)]
    ends = [[5 * y] for y in range(k)]
    regions = {"body": ("line", range(4 * k)), "ends": ("vertex", range(k))}
    mesh = sa.Mesh.from_arrays(X, {"line": lines, "vertex": ends}, regions, check=False)
    return sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), EA=1.0, EI=1.0)


def models():
    one = ropes()
    yield "lines", [one], [sa.length(one["body"], per="line")]
    one = ropes()
    yield "edges", [one], [sa.length(one["body"], per="edge")]
    one = ropes()
    yield "clamp", [one], [sa.fix(one["ends"])]
    one = sa.Body(
        tube(N, N)["skin"],
        sa.elements.ancf_plate,
        sa.energies.saint_venant_kirchhoff(),
        E=1.0,
        nu=0.3,
        thickness=0.1,
    )
    yield "cavity", [one], [sa.Cavity(one["skin"], caps="flat", pressure=1.0)]
    one = plate()
    yield "oblique", [one], [sa.fix(one["body"], "normal", direction=(0.0, 1.0, 1.0))]
    one, rigid = ropes(), sa.RigidBody(mass=1.0, inertia=np.eye(3), length=1.0)
    yield "rigid", [one, rigid], [sa.joints.clamp(one["ends"], rigid)]
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
        name: {
            key: (min if name == "rigid" else max)(part[name].get(key, 0) for part in gathered)
            for key in found[name]
        }
        for name in found
    }
    print(json.dumps(most))
