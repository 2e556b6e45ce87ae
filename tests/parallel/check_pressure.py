# SPDX-License-Identifier: BSD-3-Clause
"""Pressures, cavities, lids and gas on this number of ranks; print numbers as JSON."""

from __future__ import annotations

import json
import warnings

import numpy as np

import symancf as sa
from symancf import elements, energies
from tests.shells import box_of_walls, hollow_block, tube

RUBBER = {"C10": 0.2712e6, "C20": 0.03053e6, "C30": -401.3, "k": 1e7}
TIGHT = {"snes_rtol": 1e-12}


def spanning(system, cavity):
    """Number of facets and rims of the cavity that need vertices of another rank."""
    owned = system._discrete.numbering.owned_vertices
    space = system._discrete.binding(cavity)
    parts = [(np.hstack([f.cells, f.extra]), f.owned) for f in (*space.walls, *space.edges)]
    return sum(system.comm.allreduce(int((cells[mine] >= owned).sum())) for cells, mine in parts)


def duct(**filling):
    """A tube of plates, clamped at one end, with lids."""
    mesh = tube(12, 6, 0.05, 0.2)
    body = sa.Body(
        mesh["skin"],
        elements.ancf_plate,
        energies.yeoh(),
        thickness=sa.Field(lambda X: 0.004 + 0.01 * X[:, 0]),
        direction=lambda X: X * [0.0, 1.0, 1.0],
        rho=1100.0,
        **RUBBER,
    )
    cavity = sa.Cavity(body["skin"], caps="flat", **filling)
    return sa.System(body, terms=[sa.fix(body["left"]), cavity]), cavity, body


def statics():
    """Amounts and pressures: volume, pressure, tip, closure."""
    rows = []
    for filling in ({"pressure": 4000.0}, {"gas": sa.Gas(1.05, ambient=1e5)}):
        system, cavity, body = duct(**filling)
        sa.StaticProblem(system, options=TIGHT).solve(to=1.0)
        checked = sa.check(system)
        tip = system.displacement(body.at((0.2, 0.05, 0.0)))[0]
        rows.append(
            [
                cavity.volume(system),
                cavity.reference_volume,
                cavity.pressure(system),
                *tip.tolist(),
                float(checked.passed),
            ]
        )
    return {"rows": rows, "spanning": spanning(system, cavity)}


def motion():
    """Gas set free: volume and pressure at the end of a motion."""
    system, cavity, _ = duct(gas=sa.Gas(1.05, ambient=1e5))
    problem = sa.DynamicProblem(system, options=TIGHT)
    problem.solve(to=4e-3, step=4e-4)
    rows = [[cavity.volume(system), cavity.pressure(system)]]
    return {"rows": rows, "spanning": spanning(system, cavity)}


def block():
    """A hollow solid with gas inside, an open surface closed by a lid; pressed from outside."""
    mesh = hollow_block(6)
    body = sa.Body(mesh["body"], elements.hex8_plain, energies.yeoh(), **RUBBER)
    inner = sa.Cavity(body["open"], caps="flat", gas=sa.Gas(1.1, ambient=1e5))
    outer = sa.pressure(body["lid"], lambda t: 3e4 * t)
    corner = sa.fix(body["left"])
    system = sa.System(body, terms=[corner, inner, outer])
    sa.StaticProblem(system, options=TIGHT).solve(to=1.0)
    rows = [[inner.volume(system), inner.pressure(system)]]
    return {"rows": rows, "spanning": spanning(system, inner)}


def turned():
    """Cells numbered otherwise: volume and number of warnings on this rank 0."""
    mesh = box_of_walls(3, flipped=(3, 17, 40))
    body = sa.Body(mesh["skin"], elements.ancf_plate, energies.yeoh(), thickness=0.1, **RUBBER)
    cavity = sa.Cavity(body["skin"].face(-1, middle=True), pressure=0.1)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        system = sa.System(body, terms=[cavity])
    found = sum("turned" in str(w.message) for w in told)
    return {"rows": [[cavity.volume(system), found]], "spanning": spanning(system, cavity)}


def errors():
    """The same error everywhere: an open cavity."""
    mesh = tube(8, 2)
    body = sa.Body(mesh["skin"], elements.ancf_plate, energies.yeoh(), thickness=0.1, **RUBBER)
    try:
        sa.System(body, terms=[sa.Cavity(body["skin"], pressure=1.0)])
    except sa.MeshError as error:
        texts = mesh.comm.allgather(str(error))
        right = len(set(texts)) == 1 and error.asked == "open surface"
        return {"rows": [[float(right)]], "spanning": 1}
    return {"rows": [[0.0]], "spanning": 1}


found = {f.__name__: f() for f in (statics, motion, block, turned, errors)}
if sa.Mesh.box((1.0,), (1,)).comm.rank == 0:
    print(json.dumps(found))
