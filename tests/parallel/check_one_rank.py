# SPDX-License-Identifier: BSD-3-Clause
"""Small motions on several ranks, of which rank 0 has all unknowns. Run by test_one_rank.

Each case moves the model on every rank by itself, too: numbers are to be the same, bit for bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from mpi4py import MPI
from petsc4py import PETSc

import symancf as sa
from symancf.solve.fixed_factor import FixedFactor
from tests.cases import Cases, caught

COMM = MPI.COMM_WORLD
H = 1e-3
case = Cases(limit=200.0)
Made = tuple[sa.System, list[Any]]


def linkage(comm: Any, push: Callable[[float], Any] | None = None) -> Made:
    """Three boxes with hinges on the ground and ball joints between them, a spring and a damper."""
    corners = np.array([[0, 0, 0], [0, 0, 0.2], [0.3, 0.1, 0.25], [0.35, 0.0, 0.0]], dtype=float)
    bars, ends = [], []
    for k, (a, b) in enumerate(pairwise(corners)):
        size = float(np.linalg.norm(b - a))
        along = (b - a) / size
        side = np.cross((0.0, 1.0, 0.1), along)
        side /= np.linalg.norm(side)
        frame = np.stack([along, side, np.cross(along, side)], axis=1)
        bar = sa.RigidBody.box((size, 0.02, 0.02), (a + b) / 2, frame, rho=1e3, name=f"bar {k}")
        bars.append(bar)
        ends.append((bar.at((-size / 2, 0, 0)), bar.at((size / 2, 0, 0))))
    terms: list[Any] = [
        sa.joints.revolute(ends[0][0], axis=(0, 1, 0), name="crank"),
        sa.joints.spherical(ends[0][1], ends[1][0]),
        sa.joints.spherical(ends[1][1], ends[2][0]),
        sa.joints.revolute(ends[2][1], axis=(0, 1, 0)),
        sa.gravity((0.0, 0.0, -9.81)),
    ]
    if push is not None:
        terms.append(sa.force(ends[1][0], push))
    return sa.System(*bars, terms=terms, comm=comm), [ends[1][0], ends[2][0]]


def rod(comm: Any, cells: int = 8) -> Made:
    """A rod that falls from the horizontal, held at one end."""
    mesh = sa.Mesh.box((1.0,), (cells,), cell="line3", comm=comm)
    given = sa.Section.circle(0.01).rod(E=1e7, nu=0.3, rho=1000.0)
    body = sa.Body(mesh["body"], sa.elements.ancf_rod, sa.energies.rod(), name="rod", **given)
    clamp = sa.fix(body["x0"], dofs="position")
    system = sa.System(body, terms=[clamp, sa.gravity((0.0, 0.0, -9.81))])
    return system, [body.at((1.0, 0.0, 0.0)), body.at((0.3, 0.0, 0.0))]


def solid(comm: Any) -> Made:
    """A short cantilever of hexahedra, whose tangents have factors of PETSc's."""
    mesh = sa.Mesh.box((1.0, 0.1, 0.1), (6, 1, 1), comm=comm)
    law = sa.energies.neo_hooke()
    body = sa.Body(mesh["body"], sa.elements.hex8, law, mu=1e5, lam=1e5, rho=1000.0)
    system = sa.System(body, terms=[sa.fix(body["x0"]), sa.gravity((0.0, 0.0, -9.81))])
    return system, [body.at((1.0, 0.1, 0.1))]


def block(comm: Any) -> Made:
    """A box that slides and turns on a plane, with friction."""
    body = sa.RigidBody.box(
        (0.2, 0.1, 0.05),
        (0.0, 0.0, 0.025),
        rho=1000.0,
        velocity=(1.0, 0.2, 0.0),
        spin=(0.0, 0.0, 5.0),
        name="block",
    )
    floor = sa.Plane((0, 0, 0), normal=(0, 0, 1))
    contact = sa.Contact(body, floor, mu=0.3, stiffness=1e5)
    system = sa.System(body, terms=[contact, sa.gravity((0.0, 0.0, -9.81))], comm=comm)
    return system, [body.at((0, 0, 0)), body.at((0.1, 0.05, 0.025))]


def pin(r_a: Any, r_b: Any) -> list[Any]:
    return [r_a[0] - r_b[0], r_a[1] - r_b[1]]


def swing(comm: Any) -> Made:
    """A bar of the plane that swings."""
    bar = sa.PlanarBody((0.0, 0.0, 0.0), mass=1.0, centre=(0.5, 0.0), inertia=1 / 12, name="bar")
    hinge = sa.Constraint(pin, bar.at((0.0, 0.0)), sa.ground.at((0.0, 0.0)), name="hinge")
    system = sa.System(bar, terms=[hinge, sa.gravity((0.0, -9.81, 0.0))], comm=comm)
    return system, [bar.at((1.0, 0.0))]


def numbers(problem: sa.DynamicProblem, places: list[Any]) -> dict[str, Any]:
    """All that is compared."""
    system, e, history = problem.system, problem.energies, problem.history
    found = [[np.ravel(of(p)) for of in (system.position, system.velocity)] for p in places]
    steps = [[step.time, step.iterations, step.linear_iterations] for step in history.steps]
    return {
        "places": np.array(found).tolist(),
        "energies": [e.kinetic, e.strain, e.potential, e.work, e.dissipated],
        "steps": steps,
        "records": {name: history[name].tolist() for name in history._series},
    }


def moved(
    make: Callable[..., Made], steps: int = 40, prepare: Any = None, **options: Any
) -> dict[str, Any]:
    """Move a model on all ranks, and on each by itself; go on with a second call."""
    every = []
    for comm in (COMM, MPI.COMM_SELF):
        system, places = make(comm)
        problem = sa.DynamicProblem(system, **options)
        if prepare is not None:
            prepare(problem, places)
        problem.solve(to=steps * H, step=H)
        problem.solve(to=(steps + steps // 4) * H, step=H)
        every.append(numbers(problem, places) | {"native": problem.native})
        if comm is COMM:
            rows = comm.allgather(system._discrete.numbering.rows)
    return {"same": every[0] == every[1], "native": every[0]["native"], "rows": rows, **every[0]}


@case
def mechanism() -> dict[str, Any]:
    return moved(linkage)


@case
def driven() -> dict[str, Any]:
    return moved(lambda comm: linkage(comm, lambda t: (0.0, 5.0 * math.sin(30 * t), 1.0)))


@case
def recorded() -> dict[str, Any]:
    def prepare(problem: sa.DynamicProblem, places: list[Any]) -> None:
        problem.record("tip", places[0], every=3)
        problem.record("crank", problem.system.terms[0])
        problem.record("height", lambda: float(problem.system.position(places[1])[0, 2]))

    return moved(linkage, prepare=prepare)


@case
def planar() -> dict[str, Any]:
    def prepare(problem: sa.DynamicProblem, places: list[Any]) -> None:
        problem.record("end", places[0])

    return moved(swing, prepare=prepare)


@case
def watched() -> dict[str, Any]:
    """Steps one by one: a monitor, and an event with an action."""
    seen: list[float] = []

    def prepare(problem: sa.DynamicProblem, places: list[Any]) -> None:
        system = problem.system
        z = float(system.position(places[0])[0, 2])
        problem.monitor(lambda step: seen.append(step.time))
        problem.event(lambda: float(system.position(places[0])[0, 2]) - z + 0.005)

    return moved(linkage, prepare=prepare) | {"seen": len(seen)}


@case
def rods() -> dict[str, Any]:
    def prepare(problem: sa.DynamicProblem, places: list[Any]) -> None:
        problem.record("clamp", problem.system.terms[0], every=2)

    return moved(rod, prepare=prepare)


@case
def adaptive() -> dict[str, Any]:
    found = []
    for comm in (COMM, MPI.COMM_SELF):
        system, places = rod(comm)
        problem = sa.DynamicProblem(system)
        problem.solve(to=0.05, step=H, adaptive=True, rtol=1e-3)
        found.append(numbers(problem, places))
    return {"same": found[0] == found[1], **found[0]}


@case
def solids() -> dict[str, Any]:
    """Factors of PETSc's, other ones on one rank: by how much positions differ."""
    found = []
    for comm in (COMM, MPI.COMM_SELF):
        system, (place,) = solid(comm)
        problem = sa.DynamicProblem(system)
        problem.solve(to=20 * H, step=H)
        found.append(system.position(place))
    return {"native": problem.native, "largest": float(np.abs(found[0] - found[1]).max())}


@case
def sliding() -> dict[str, Any]:
    return moved(block)


@case
def factors() -> dict[str, Any]:
    """No factors on the fixed pattern: those of PETSc take over."""
    with mock.patch.object(FixedFactor, "renew", return_value=False):
        return moved(linkage, steps=20)


@case
def failing() -> dict[str, Any]:
    """A function of time that one rank cannot tell from a time on."""

    def push(t: float) -> tuple[float, float, float]:
        if t > 20.5 * H and COMM.rank == COMM.size - 1:
            raise ValueError("no more")
        return 0.0, 1.0, 0.0

    system, _ = linkage(COMM, push)
    problem = sa.DynamicProblem(system)
    text = caught(lambda: problem.solve(to=40 * H, step=H))
    return {"text": text, "time": system.time, "steps": problem.steps}


@case
def left() -> list[dict[str, Any]]:
    """A rank that leaves in a function of time takes all ranks with it."""
    found = []
    for rank in (0, COMM.size - 1):

        def push(t: float, rank: int = rank) -> tuple[float, float, float]:
            if t > 20.5 * H and COMM.rank == rank:
                raise SystemExit(3)
            return 0.0, 1.0, 0.0

        system, _ = linkage(COMM, push)
        problem = sa.DynamicProblem(system)
        try:
            problem.solve(to=40 * H, step=H)
            found.append({"code": None, "time": system.time})
        except SystemExit as error:
            found.append({"code": error.code, "time": system.time})
    return found


@case
def stopped() -> dict[str, Any]:
    """A recorded function that one rank cannot tell at a time."""
    system, places = linkage(COMM)
    problem = sa.DynamicProblem(system)

    def height() -> float:
        z = float(system.position(places[0])[0, 2])
        if system.time > 20.5 * H and COMM.rank == COMM.size - 1:
            raise ValueError("no more")
        return z

    problem.record("height", height)
    text = caught(lambda: problem.solve(to=40 * H, step=H))
    return {"text": text, "time": system.time, "steps": problem.steps}


@case
def locked() -> dict[str, Any]:
    """A motion without a solution: the same error as on one rank."""
    texts = []
    for comm in (COMM, MPI.COMM_SELF):
        system, _ = linkage(comm, lambda t: (0.0, 0.0, 1e14 if t > 10 * H else 0.0))
        problem = sa.DynamicProblem(system)
        texts.append(caught(lambda made=problem: made.solve(to=40 * H, step=H)))
        times = system.time
    return {"same": texts[0] == texts[1], "text": texts[0], "time": times}


@case
def saved(folder: Path) -> dict[str, Any]:
    """Written on these ranks after 20 steps, and the 20 ones after them."""
    system, places = linkage(COMM)
    problem = sa.DynamicProblem(system)
    problem.solve(to=20 * H, step=H)
    problem.save(folder / "motion.h5")
    problem.solve(to=40 * H, step=H)
    return numbers(problem, places)


@case
def restored(folder: Path) -> dict[str, Any]:
    """The latter on any ranks, and with the system on all of them."""
    found = []
    for number in ("400", "0"):
        with partition_from(number):
            system, places = linkage(COMM)
            problem = sa.DynamicProblem(system)
            problem.restore(folder / "motion.h5")
            problem.solve(to=40 * H, step=H)
            found.append(numbers(problem, places))
    return {"one": found[0], "all": found[1]}


@case
def grown() -> dict[str, Any]:
    """Unknowns of each rank as a rod has more and more points."""
    found = {}
    for cells in (190, 200):
        system, _ = rod(COMM, cells)
        found[cells] = COMM.allgather(system._discrete.numbering.rows)
    return found


@case
def asked() -> list[str]:
    with partition_from("many"):
        return caught(lambda: linkage(COMM))


class partition_from:
    """Another number of vertices from which on ranks share a system."""

    def __init__(self, number: str) -> None:
        self.number = number

    def __enter__(self) -> None:
        self.before = PETSc.Options().getAll().get("partition_from")
        PETSc.Options().setValue("partition_from", self.number)

    def __exit__(self, *error: object) -> None:
        if self.before is not None:
            PETSc.Options().setValue("partition_from", self.before)
        else:
            PETSc.Options().delValue("partition_from")


if __name__ == "__main__":
    with partition_from("400"):
        case.main(lambda function, *given: function(*map(Path, given)))
