# SPDX-License-Identifier: BSD-3-Clause
"""Places that travel from rank to rank on this number of ranks; print where they are as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

import symancf as sa
from symancf.energies import kirchhoff
from tests.cases import caught
from tests.lines import STEEL, THIN, Array, rope

COMM = MPI.COMM_WORLD
WEIGHT = (0.0, 0.0, -1e-3)


def away(time: float) -> float:
    """There and back, over 0.8."""
    return 0.1 + 0.8 * (time if time <= 1.0 else 2.0 - time)


def along(time: float) -> tuple[float, float, float]:
    """A point of the rope."""
    return away(time), 0.0, 0.0


def across(time: float) -> Array:
    """Two points of the plate."""
    x = away(time)
    return np.array([[2.0 * x, 0.43, 0.0], [2.0 - x, 1.0 - x, 0.0]])


def sheet(place: Any) -> tuple[sa.System, sa.Body]:
    """A plate, held at two edges, with a force on places of it."""
    mesh = sa.Mesh.box((2.0, 1.0), (10, 5))
    given = {"thickness": 0.02, "rho": 1.0, **STEEL}
    plate = sa.Body(mesh["body"], THIN, kirchhoff(), name="plate", **given)
    held = [sa.fix(plate["x0"]), sa.fix(plate["x1"])]
    return sa.System(plate, terms=[*held, sa.force(plate.at(place), WEIGHT, "each")]), plate


def on(r_a: Any, r_b: Any) -> Any:
    """Two places are one."""
    return r_a - r_b


def upright(e1_a: Any, e2_a: Any) -> Any:
    """Axes keep their direction."""
    return [e1_a[1], e1_a[2], e2_a[2]]


def wheel(place: Any, at: Any) -> tuple[sa.System, sa.Body]:
    """A mass on a cable that is held at both ends."""
    cord = rope(9)
    mass = sa.RigidBody(position=at, mass=0.3, inertia=(1e-4,) * 3, name="wheel")
    terms = [
        sa.fix(cord["x0"]),
        sa.fix(cord["x1"]),
        sa.Constraint(on, mass.at((0.0, 0.0, 0.0)), cord.at(place), name="on"),
        sa.Constraint(upright, mass.at((0.0, 0.0, 0.0)), name="upright"),
        sa.gravity((0.0, 0.0, -9.81)),
    ]
    return sa.System(cord, mass, terms=terms), cord


def statics(system: sa.System, place: Any, times: Any) -> dict[str, Any]:
    """Displacements of a place, and what it took."""
    problem = sa.StaticProblem(system, options={"snes_rtol": 1e-11}, check_held=False)
    found, patterns = [], []
    for time in times:
        problem.solve(to=float(time))
        found.append(system.displacement(place).ravel().tolist())
        patterns.append(system._discrete.matrix.revision)
    room = system._discrete.topology.lent
    return {
        "u": found,
        "patterns": patterns,
        "lent": COMM.allreduce(sum(map(len, room.values()))),
        "energy": system.strain_energy(),
    }


def bead() -> tuple[sa.System, Any]:
    """A mass that slides down a soft cable, on which it hangs."""
    cord = rope(9, EA=20.0)
    place = cord.sliding((0.3, 0.0, 0.0))
    mass = sa.RigidBody(position=(0.3, 0.0, 0.0), mass=0.3, inertia=(1e-4,) * 3, name="bead")
    origin = mass.at((0.0, 0.0, 0.0))
    terms = [
        sa.fix(cord["x0"]),
        sa.fix(cord["x1"]),
        sa.Constraint(on, origin, place, name="on"),
        sa.Constraint(upright, origin, name="upright"),
        sa.gravity((0.0, 0.0, -9.81)),
    ]
    return sa.System(cord, mass, terms=terms), place


def slide(folder: Path) -> dict[str, Any]:
    """Its motion, gone on with from a checkpoint of one rank, too."""
    found = {}
    for begun in (False, True):
        system, place = bead()
        problem = sa.DynamicProblem(system, spectral_radius=0.8)
        problem.record("place", place)
        if begun:
            problem.restore(folder / "one.h5")
        else:
            problem.solve(to=0.3, step=0.01)
            if COMM.size == 1:
                problem.save(folder / "one.h5")
        problem.solve(to=0.5, step=0.01)
        found["restored" if begun else "whole"] = {
            "u": problem.history["place"].reshape(-1, 3)[-21:].tolist(),
            "s": place.slid(system).tolist(),
            "drift": problem.energies.drift,
            "patterns": system._discrete.matrix.revision,
            "lent": COMM.allreduce(sum(map(len, system._discrete.topology.lent.values()))),
        }
    return found


def motion() -> dict[str, Any]:
    """A force that travels along a vibrating cable."""
    cord = rope(9)
    place = cord.at(lambda time: along(2.0 * time))
    terms = [sa.fix(cord["x0"]), sa.fix(cord["x1"]), sa.force(place, (0.0, 0.1, -1.0))]
    system = sa.System(cord, terms=terms)
    problem = sa.DynamicProblem(system, spectral_radius=0.8)
    problem.record("place", place)
    problem.solve(to=1.0, step=0.02)
    e = problem.energies
    return {
        "u": problem.history["place"].reshape(-1, 3).tolist(),
        "energy": e.work,
        "drift": e.drift,
    }


def _solve(problem: Any, **step: float) -> None:
    """Solve on; an exit becomes an error that can be shown."""
    try:
        problem.solve(to=1.0, **step)
    except SystemExit as error:
        raise RuntimeError(f"exit {error.code}") from error


def errors() -> dict[str, Any]:
    """What every rank raises where a course fails on one of them, and the state after it."""
    last = COMM.size - 1

    def failing(error: Any) -> Any:
        def course(time: float) -> Any:
            if time > 0.5 and COMM.rank == last:
                if isinstance(error, BaseException):
                    raise error
                return error
            return (0.8, 0.4, 0.0) if time <= 0.5 else (0.9, 0.4, 0.0)

        return course

    courses = {
        "value": failing(ValueError("no road here")),
        "exit": failing(SystemExit(3)),
        "apart": failing((0.7, 0.4, 0.0)),
        "off": lambda time: (0.8 if time <= 0.5 else 7.0, 0.4, 0.0),
        "fewer": lambda time: np.full((2 if time <= 0.5 else 1, 3), (0.8, 0.4, 0.0)),
    }
    found = {}
    for name, course in courses.items():
        system, _ = sheet(course)
        problem = sa.StaticProblem(system)
        problem.solve(to=0.5)
        before = system.state.copy()
        said = caught(lambda problem=problem: _solve(problem))
        same = bool((system.state == before).all()) and system.time == 0.5
        found[name] = [*said, COMM.allreduce(same, MPI.LAND)]
        if name not in ("value", "exit"):
            continue
        moving = sa.DynamicProblem(sheet(course)[0])
        moving.solve(to=0.5, step=0.25)
        said = caught(lambda moving=moving: _solve(moving, step=0.25))
        found[f"{name} in motion"] = [*said, moving.system.time == 0.5]
    return found


def main() -> None:
    """Print the results of all systems."""
    times = np.linspace(0.05, 2.0, 8)
    system, plate = sheet(across)
    found: dict[str, Any] = {"force": statics(system, plate.at(across), times)}
    system, cord = wheel(along, along(0.0))
    found["wheel"] = statics(system, cord.at(along), times)
    found["motion"] = motion()
    found["bead"] = slide(Path(sys.argv[1]))
    if COMM.size == 3:
        found["errors"] = errors()
    if COMM.rank == 0:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
