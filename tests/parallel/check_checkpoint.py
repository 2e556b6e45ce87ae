# SPDX-License-Identifier: BSD-3-Clause
"""Write and read checkpoints of a system with every kind of vertex. Run by test_checkpoint.

check_checkpoint.py CASE=FOLDER...
"""

from __future__ import annotations

import hashlib
import resource
import signal
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from mpi4py import MPI

import symancf as sa
from symancf.assembly.numbering import IDLE
from symancf.energies import cable, kirchhoff, neo_hooke
from tests.cases import Cases

COMM = MPI.COMM_WORLD
case = Cases(limit=120.0)
HEX8, THIN, CABLE = sa.elements.hex8_plain, sa.elements.ancf_thin_plate, sa.elements.ancf_cable
FACTS = {"time": 0.1 + 0.2, "step": 7, "adaptive": True, "scheme": "α", "table": np.arange(6.0) / 7}


def zoo(n: int = 4, name: str = "sheet", width: float = 1.0, joint: bool = True) -> sa.System:
    """A sheet, a block tied to it, a cable that hangs on it, bodies of the plane and in space."""
    plate = sa.Mesh.box((1.0, width), (n, 4))
    sheet = sa.Body(plate["body"], THIN, kirchhoff(), name=name, E=1e4, nu=0.3, thickness=0.05)
    box = sa.Mesh.box((0.5, 0.5, 0.5), (2, 2, 2), warp=lambda X: X + np.array([0.2, 0.2, 0.0]))
    block = sa.Body(box["body"], HEX8, neo_hooke(), name="block", mu=1e3, lam=2e3)
    line = sa.Mesh.box((1.0,), (5,), warp=lambda X: X + np.array([1.0, 0.0, 0.0]))
    rope = sa.Body(line["body"], CABLE, cable(), name="rope", EA=1e3, EI=1.0)
    arm = sa.PlanarBody(position=(2.0, 1.0, 0.0), name="arm")
    ring = sa.PlanarBody(position=(3.0, 1.0, 0.0), name="ring")
    terms = [
        sa.fix(sheet["x0"]),
        sa.fix(rope["body"], dofs="y"),
        sa.joints.tie(block["z0"], sheet),
        sa.length(sheet["y1"], per="line"),
        sa.joints.spherical(sheet.at((1.0, 0.0, 0.0)), rope.at((1.0, 0.0, 0.0))),
        sa.force(rope.at((2.0, 0.0, 0.0)), lambda t: (0.0, 0.0, -0.1 * t)),
        sa.Flexure.straight(sa.ground.at((1.5, 1.0)), arm.at((0.0, 0.0)), EI=1.0, EA=1e2),
        sa.Flexure.straight(arm.at((0.1, 0.0)), ring.at((-0.1, 0.0)), EI=1.0, EA=1e2),
        sa.force(ring.at((0.0, 0.0)), lambda t: (0.0, 0.1 * t)),
    ]
    head = sa.RigidBody.box((0.2, 0.2, 0.2), position=(0.0, 0.0, 2.0), rho=1e3, name="head")
    terms.append(sa.fix(head))
    if joint:
        far = sa.ground.at((1.5, 0.0, 1.0))
        terms.append(sa.joints.distance(rope.at((1.55, 0.0, 0.0)), far, length=1.1))
    return sa.System(sheet, block, rope, arm, ring, head, terms=terms)


def vectors(system: sa.System) -> dict[str, Any]:
    """Vectors that know the vertex and component of every entry, on any number of ranks."""
    names = ("state", "rate", "acceleration")
    return {name: system._discrete.numbering.random(seed) for seed, name in enumerate(names)}


def digest(path: Path) -> dict[str, str]:
    """Check sums of all data sets."""
    found: dict[str, str] = {}
    with h5py.File(path, "r") as file:
        file.visititems(
            lambda name, data: (
                found.update({name: hashlib.sha256(data[()].tobytes()).hexdigest()})
                if isinstance(data, h5py.Dataset)
                else None
            )
        )
    return found


def raised(call: Any) -> dict[str, Any]:
    """What a call raises on this rank."""
    try:
        call()
    except (sa.SymancfError, OSError) as error:
        return {
            "error": type(error).__name__,
            "text": str(error),
            "differences": list(getattr(error, "differences", ())),
        }
    return {"error": ""}


@case
def save(folder: Path) -> dict[str, Any]:
    system = zoo()
    system._discrete.stiffness = 1.0 / 3.0
    given = vectors(system)
    for vector in given.values():  # the owners' values count, not those of ghosts
        vector[
            system._discrete.numbering.vertex_of >= system._discrete.numbering.owned_vertices
        ] = np.nan
    sa.checkpoint.save(folder / "deep" / "zoo.h5", system, given, FACTS)
    return {
        "left": sorted(p.name for p in (folder / "deep").iterdir()) if COMM.rank == 0 else [],
        "virtual": system._discrete.layout.vertex_count - system._discrete.layout.mesh_points,
        "kinds": [b.name for b in system._discrete.numbering.blocks],
        "digest": digest(folder / "deep" / "zoo.h5") if COMM.rank == 0 else {},
    }


@case
def load(folder: Path) -> dict[str, Any]:
    system = zoo()
    found, facts = sa.checkpoint.load(folder / "deep" / "zoo.h5", system)
    table = facts.pop("table")
    left_out = (
        system._discrete.numbering.fixed_by == IDLE
    )  # equations that repeat others: no forces
    same = {k: np.where(left_out, 0.0, v) for k, v in vectors(system).items()}
    return {
        "same": {k: bool((v == found[k]).all()) for k, v in same.items()},
        "names": sorted(found),
        "ghosts": int(
            system._discrete.numbering.vertices - system._discrete.numbering.owned_vertices
        ),
        "facts": facts == {k: v for k, v in FACTS.items() if k != "table"} | {"stiffness": 1 / 3},
        "table": bool((table == FACTS["table"]).all()),
        "untouched": bool((system.state == 0.0).all()) and system.time == 0.0,
    }


@case
def errors(folder: Path) -> dict[str, Any]:
    path = folder / "deep" / "zoo.h5"
    load = sa.checkpoint.load
    found = {
        "cells": raised(lambda: load(path, zoo(5))),
        "name": raised(lambda: load(path, zoo(name="plate"))),
        "term": raised(lambda: load(path, zoo(joint=False))),
        "place": raised(lambda: load(path, zoo(width=1.1))),
        "missing": raised(lambda: load(folder / "none.h5", zoo())),
    }
    system = zoo()
    if COMM.rank == 0:
        (folder / "text.h5").write_text("nothing")
        (folder / "cut.h5").write_bytes(path.read_bytes()[:5000])
        with h5py.File(folder / "new.h5", "w") as file:
            file.attrs.update(format="symancf checkpoint", version=99)
    COMM.Barrier()
    for name in ("text", "cut", "new"):
        found[name] = raised(lambda name=name: load(folder / f"{name}.h5", system))
    save = sa.checkpoint.save
    found["folder"] = raised(lambda: save(folder / "text.h5" / "x.h5", system))
    found["length"] = raised(lambda: save(folder / "x.h5", system, {"rate": np.zeros(3)}))
    found["kind"] = raised(lambda: save(folder / "x.h5", system, {}, {"list": [None]}))
    return found


@case
def full(folder: Path) -> dict[str, Any]:
    """The disk fills up while a checkpoint is written over an older one."""
    path = folder / "old.h5"
    system = zoo()
    sa.checkpoint.save(path, system, {}, {"which": "old"})
    before = path.read_bytes()
    COMM.Barrier()
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 2, resource.RLIM_INFINITY))
    found = raised(lambda: sa.checkpoint.save(path, system, {}, {"which": "new"}))
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
    COMM.Barrier()
    found["kept"] = path.read_bytes() == before
    found["which"] = sa.checkpoint.load(path, system)[1]["which"]
    found["left"] = sorted(p.name for p in folder.iterdir() if "old" in p.name)
    return found


@case
def static(folder: Path) -> dict[str, Any]:
    """A solution in one go, and one that stops in the middle and goes on in another system."""
    options = {"pc_type": "lu"}
    whole = zoo()
    problem = sa.StaticProblem(whole, prefix="whole_", options=options)
    problem.solve(to=1.0, step=0.5)
    problem.save(folder / "middle.h5", {"note": "half"})
    problem.solve(to=2.0, step=0.5)
    again = zoo()
    second = sa.StaticProblem(again, prefix="again_", options=options)
    note = second.restore(folder / "middle.h5")["note"]
    start = again.time
    second.solve(to=2.0, step=0.5)
    return {
        "note": note,
        "start": start,
        "moved": float(np.abs(whole.state).max()),
        "apart": float(np.abs(whole.state - again.state).max()),
        "bits": bool((whole.state == again.state).all()),
        "iterations": [[s.iterations for s in h.history.steps][-2:] for h in (problem, second)],
    }


@case
def go_on(folder: Path) -> dict[str, Any]:
    """Go on from what `static` saved."""
    system = zoo()
    problem = sa.StaticProblem(system, prefix="on_", options={"pc_type": "lu"})
    problem.restore(folder / "middle.h5")
    problem.solve(to=2.0, step=0.5)
    places = [system.bodies[0].at((1.0, 1.0, 0.0)), system.bodies[2].at((2.0, 0.0, 0.0))]
    return {"u": [system.displacement(p)[0].tolist() for p in places]}


if __name__ == "__main__":
    case.main(lambda function, folder: function(Path(folder)))
