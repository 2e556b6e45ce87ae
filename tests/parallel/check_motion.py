# SPDX-License-Identifier: BSD-3-Clause
"""Motions on several ranks. Run by test_motion.

check_motion.py CASE=FOLDER...
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

import symancf as sa
from symancf.energies import cable, kirchhoff
from tests.cases import Cases

COMM = MPI.COMM_WORLD
H = 2e-3
case = Cases(limit=120.0)


def problem() -> tuple[sa.DynamicProblem, list[Any], Any]:
    """A sheet that hangs on two ropes and carries a rigid box at its free corner."""
    mesh = sa.Mesh.box((0.4, 0.3), (4, 3))
    sheet = sa.Body(
        mesh["body"],
        sa.elements.ancf_thin_plate,
        kirchhoff(),
        name="sheet",
        E=1e6,
        nu=0.3,
        thickness=0.01,
        rho=1000.0,
    )
    ropes = []
    for y in (0.0, 0.3):
        X = np.stack([np.zeros(4), np.full(4, y), np.linspace(0.0, 0.3, 4)], axis=1)
        lines = np.stack([np.arange(3), np.arange(1, 4)], axis=1)
        line = sa.Mesh.from_arrays(X, {"line": lines}, regions={"top": ("vertex", [3])})
        ropes.append(
            sa.Body(
                line["all"],
                sa.elements.ancf_cable,
                cable(),
                name=f"rope{len(ropes)}",
                EA=500.0,
                EI=0.01,
                rho=1000.0,
                A=1e-3,
            )
        )
    box = sa.RigidBody.box((0.05, 0.05, 0.05), position=(0.4, 0.0, -0.025), rho=2000.0, name="box")
    joints = [
        sa.joints.spherical(rope.at((0.0, y, 0.0)), sheet.at((0.0, y, 0.0)), name=f"knot{k}")
        for k, (rope, y) in enumerate(zip(ropes, (0.0, 0.3), strict=True))
    ]
    joints.append(sa.joints.spherical(box.at((0, 0, 0.025)), sheet.at((0.4, 0, 0)), name="hook"))
    terms = [*joints, sa.gravity((0.0, 0.0, -9.81))]
    terms += [sa.fix(rope["top"], dofs="position") for rope in ropes]
    terms.append(sa.force(sheet.at((0.4, 0.3, 0.0)), lambda t: (0.0, 0.2 * np.sin(20 * t), 0.0)))
    system = sa.System(sheet, *ropes, box, terms=terms)
    places = [sheet.at((0.4, 0.3, 0.0)), sheet.at((0.17, 0.11, 0.0)), box.at((0.02, 0, 0))]
    places.append(ropes[1].at((0.0, 0.3, 0.13)))
    return (
        sa.DynamicProblem(system, spectral_radius=0.8, options={"snes_rtol": 1e-12}),
        places,
        joints,
    )


def result(made: sa.DynamicProblem, places: Any, joints: Any) -> dict[str, Any]:
    system = made.system
    rows = system.comm.allgather(system._discrete.numbering.rows)
    spread = len({tuple(sorted(set(_ranks(system, joint)))) for joint in joints}) > 1
    e = made.energies
    return {
        "positions": [system.position(place)[0].tolist() for place in places],
        "velocities": [system.velocity(place)[0].tolist() for place in places],
        "forces": [joint.multipliers(system)[0].tolist() for joint in joints],
        "energies": [e.kinetic, e.strain, e.potential, e.work],
        "drift": e.drift,
        "rows": rows,
        "spread": spread or any(len(set(_ranks(system, joint))) > 1 for joint in joints),
    }


def _ranks(system: sa.System, joint: Any) -> list[int]:
    """Ranks that own vertices of a joint."""
    here = bool(
        (
            system._discrete.binding(joint).entities.local
            < system._discrete.numbering.owned_vertices
        ).any()
    )
    return [rank for rank, has in enumerate(COMM.allgather(here)) if has]


def begun() -> tuple[sa.DynamicProblem, Any, Any]:
    """The problem, with what `result` asks of its distribution."""
    global _owned
    made, places, joints = problem()
    _owned = made.system._discrete.numbering.owned_vertices
    return made, places, joints


@case
def save(folder: Path) -> dict[str, Any]:
    made, places, joints = begun()
    made.solve(to=0.05, step=H)
    made.save(folder / "motion.h5")
    made.solve(to=0.1, step=H)
    return result(made, places, joints)


@case
def restore(folder: Path) -> dict[str, Any]:
    made, places, joints = begun()
    made.restore(folder / "motion.h5")
    made.solve(to=0.1, step=H)
    return result(made, places, joints)


@case
def fail(folder: Path) -> dict[str, Any]:
    made, _, _ = begun()
    if COMM.rank == COMM.size - 1:  # on one rank only
        made.monitor(lambda step: 1 / (made.steps < 5))
    try:
        made.solve(to=0.1, step=H)
    except ZeroDivisionError as error:
        return {"error": str(error), "steps": made.steps, "time": made.system.time}
    return {"error": "", "steps": made.steps, "time": made.system.time}


@case
def derive(folder: Path) -> dict[str, Any]:
    """Derivatives, both ways, by a mass, a centre and velocities of a body at a block of cells."""
    values = {"m": 2.0, "c": 0.03, "v": -1.2, "shear": 0.5, "rho": 1.0}
    p = {name: sa.Parameter(name, value) for name, value in values.items()}
    mesh = sa.Mesh.box((1.0, 1.0, 3.0), (1, 1, 6))
    block = sa.Body(
        mesh["body"],
        sa.elements.hex8_plain,
        sa.energies.neo_hooke(),
        mu=1e3,
        lam=2e3,
        rho=p["rho"],
        velocity=lambda X: p["shear"].value * X[:, [2, 1, 0]],
    )
    inertia, centre, velocity = (0.01, 0.05, 0.05), (p["c"], 0.0, 0.01), (p["shear"], 0.0, p["v"])
    place = (0.5, 0.5, 3.5)
    ball = sa.RigidBody(place, mass=p["m"], centre=centre, inertia=inertia, velocity=velocity)
    hook = sa.joints.spherical(ball.at((0, 0, -0.5)), block.at((0.5, 0.5, 3.0)))
    terms = [hook, sa.gravity((0.0, 0.0, -9.81)), sa.fix(block["z0"])]
    options = {"snes_rtol": 1e-13, "snes_stol": 1e-15}
    made = sa.DynamicProblem(sa.System(block, ball, terms=terms), options=options)
    made.solve(to=0.03, step=0.01, trace=sa.Trace())
    goal = sa.Goal(lambda u_a, v_a: u_a[0] + 0.1 * v_a[2], ball.at((0.1, 0.0, 0.0)))
    goal = goal + sa.Goal(lambda u_a: u_a[0] * u_a[1], block.at((1.0, 1.0, 1.5))).integral()
    back, (direct,) = made.gradient(goal, [*p.values()]), made.sensitivity([*p.values()], of=[goal])
    return {"back": [back[v] for v in p.values()], "direct": [direct[v] for v in p.values()]}


if __name__ == "__main__":
    case.main(lambda function, folder: function(Path(folder)))
