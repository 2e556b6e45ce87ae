# SPDX-License-Identifier: BSD-3-Clause
"""Models in which one thing is to be mistaken; see `mistakes`."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

import symancf as sa
from symancf.energies import saint_venant_kirchhoff

from . import models
from .case import require_near

Run = Callable[[], Any]
SVK = {"E": 1e6, "nu": 0.3, "rho": 1e3}
HEX, CABLE = sa.elements.hex8_plain, sa.elements.ancf_cable


def block(**changed: Any) -> sa.Body:
    """Return a block of hexahedra, 2 x 1 x 0.5."""
    return models.body("hex", n=(2, 1, 1), **changed)


def held(*terms: Any, part: Any = None, more: Sequence[Any] = ()) -> Any:
    """Return what a held block under its weight and terms comes to."""
    part = part or block()
    support = sa.fix(part["x0"], name="held")
    system = models.solve(part, *more, terms=[support, sa.gravity((0, 0, -1.0)), *terms])
    return models.ends(system, part, support)


def on(make: Callable[[Any], Any], kind: str = "hex") -> Run:
    """Return a run with a term of a held body."""

    def run() -> Any:
        part = models.body(kind)
        made = make(part)
        return held(*(made if isinstance(made, list) else [made]), part=part)

    return run


def rod(name: str = "rod", at: Any = (0.5, 0.0, 0.0), **given: Any) -> sa.RigidBody:
    """Return a rigid rod along x."""
    return sa.RigidBody.box((1.0, 0.1, 0.1), position=at, name=name, **({"rho": 1e3} | given))


def disc(name: str = "disc", at: Any = (0.0, 0.0)) -> sa.PlanarBody:
    """Return a planar body."""
    return sa.PlanarBody(position=at, mass=1.0, inertia=1.0, name=name)


def rigid(make: Callable[[Any, Any], Any]) -> Run:
    """Return a motion of two rods with joints between them."""

    def run() -> Any:
        a, b = rod("a"), rod("b", at=(1.5, 0.0, 0.0))
        made = make(a, b)
        terms = [*(made if isinstance(made, list) else [made]), sa.gravity((0, 0, -1.0))]
        system = sa.System(a, b, terms=terms)
        sa.DynamicProblem(system).solve(to=0.02, step=0.01)
        return [models.finite(system.displacement(b.centre)) for b in system.bodies]

    return run


def problem(part: Any = None, **given: Any) -> sa.StaticProblem:
    """Return a problem of a held block."""
    part = part or block()
    return sa.StaticProblem(
        sa.System(part, terms=[sa.fix(part["x0"]), sa.gravity((0, 0, -1.0))]), **given
    )


def motion(**given: Any) -> sa.DynamicProblem:
    """Return a motion of a held cable."""
    part = models.body("cable")
    return sa.DynamicProblem(
        sa.System(part, terms=[sa.fix(part["x0"]), sa.gravity((0, 0, -1.0))]), **given
    )


def height(r_a: Any, *, h: Any) -> Any:
    """Return a constraint of a point's height."""
    return r_a[2] - h


def scaled(factor: float) -> Run:
    """Return a run with a constraint in units of its own."""

    def law(r_a: Any, *, h: Any) -> Any:
        return factor * (r_a[2] - h)

    def run() -> Any:
        found = []
        for function in (law, height):
            part = block()
            at = part.at((2.0, 0.5, 0.25))
            found.append(held(sa.Constraint(function, at, h=0.3), part=part))
        require_near(*found, 1e-8, f"a constraint times {factor:g}")
        return found[0]

    return run


def law(function: Callable[..., Any], kind: Any = sa.Constraint) -> Run:
    """Return a run with a law of the user at a corner."""
    return on(lambda b: kind(function, b.at((2.0, 0.5, 0.25))))


def no_face(indices: Sequence[int], dim: str = "quad") -> Run:
    """Return a run with a traction on corners of a mesh of two cubes."""

    def run() -> Any:
        points = [[x, y, z] for x in (0, 1, 2) for y in (0, 1) for z in (0, 1)]
        cube = np.array([0, 4, 6, 2, 1, 5, 7, 3])
        regions = {"body": ("hexahedron", [0, 1]), "x0": ("quad", [[0, 1, 3, 2]]),
                   "x1": ("quad", [[8, 9, 11, 10]]), "strange": (dim, [list(indices)])}  # fmt: skip
        given = (np.array(points, float), {"hexahedron": [cube, cube + 4]}, regions)
        mesh = sa.Mesh.from_arrays(*(given if MPI.COMM_WORLD.rank == 0 else (None,) * 3))
        part = sa.Body(mesh["body"], HEX, saint_venant_kirchhoff(), E=1e6, nu=0.3, rho=1e3)
        return held(sa.traction(part["strange"], (0, 0, 1.0)), part=part)

    return run


def beside(use: Callable[[Path], Any]) -> Run:
    """Return a run with a folder of rank 0 that is gone afterwards."""

    def run() -> Any:
        comm = MPI.COMM_WORLD
        made = tempfile.mkdtemp(prefix="symancf-mistake-") if comm.rank == 0 else ""
        folder = Path(comm.bcast(made))
        if comm.rank == 0:
            (folder / "file").write_text("no folder", encoding="utf-8")
            (folder / "text.h5").write_text("no HDF5", encoding="utf-8")
            (folder / "mesh.msh").write_text("$MeshFormat\n", encoding="utf-8")
        comm.Barrier()
        try:
            return use(folder)
        finally:
            comm.Barrier()
            if comm.rank == 0:
                for path in sorted(folder.rglob("*"), reverse=True):
                    path.rmdir() if path.is_dir() else path.unlink()
                folder.rmdir()

    return run


def read(path: Any) -> Run:
    """Return a run that reads a mesh."""
    return lambda: [sa.Mesh.read(path).n_points]


def recorded(*given: Any) -> Run:
    """Return a run that records something."""

    def run() -> Any:
        made = problem()
        made.record(*given)
        made.solve(step=0.5)
        return [len(made.history.steps)]

    return run


def another_checkpoint(folder: Path) -> Any:
    """Load what was saved of a finer mesh."""
    fine = problem(models.body("hex", n=(3, 1, 1)))
    fine.solve()
    sa.checkpoint.save(folder / "fine.h5", fine.system)
    coarse = problem()
    sa.checkpoint.load(folder / "fine.h5", coarse.system)
    return [1]


def twice(make: Callable[[], Any]) -> Run:
    """Return a run with two terms that are the same object."""
    return lambda: held(*([make()] * 2))


def same_names() -> Any:
    """Two parameters of one name are two parameters."""
    a, b = sa.Parameter("load", 1.0), sa.Parameter("load", 2.0)
    found = []
    for values in ((a, b), (3.0,)):
        part = block()
        forces = [sa.force(part["x1"], (0, 0, v), name=f"force {k}") for k, v in enumerate(values)]
        found.append(held(*forces, part=part))
    require_near(*found, 1e-9, "two parameters of one name")
    return found[0]


def cycle(closed: bool) -> Any:
    """Four rods in a square: a mechanism, whose last joint is redundant in space."""
    corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 0)]
    links, terms = [], [sa.gravity((0, -1.0, 0))]
    for k in range(4):
        a, b = np.array(corners[k], float), np.array(corners[k + 1], float)
        x = b - a
        frame = np.stack([x, np.cross([0, 0, 1.0], x), [0, 0, 1.0]], axis=1)
        links.append(rod(f"link {k}", at=(a + b) / 2, frame=frame))
    for k in range(4 if closed else 3):
        one, two = links[k].at((0.5, 0, 0)), links[(k + 1) % 4].at((-0.5, 0, 0))
        terms.append(sa.joints.revolute(one, two, axis=(0, 0, 1), name=f"pin {k}"))
    terms.append(sa.fix(links[0]))
    system = sa.System(*links, terms=terms)
    sa.DynamicProblem(system).solve(to=0.02, step=0.01)
    return [models.finite(system.displacement(b.centre)) for b in system.bodies]


def static(**given: Any) -> Run:
    """Return a solution with arguments of `solve`."""

    def run() -> Any:
        made = problem()
        made.solve(**given)
        return [made.system.time]

    return run


def moving(*calls: dict[str, Any], **first: Any) -> Run:
    """Return a motion by some calls of `solve`."""

    def run() -> Any:
        made = motion(**first)
        for given in calls:
            made.solve(**given)
        return [made.system.time]

    return run


def path(parameter: Any = None, **given: Any) -> Run:
    """Return a followed path; `parameter` in place of that of the load."""

    def run() -> Any:
        load, part = sa.Parameter("load", 0.0), models.body("cable")
        pull = sa.force(part["x1"], (0.0, 0.0, lambda t: load.value))
        made = sa.StaticProblem(sa.System(part, terms=[sa.fix(part["x0"]), pull]))
        made.follow(load if parameter is None else parameter, **({"to": 1.0, "step": 0.5} | given))
        return [load.value]

    return run


def body(region: Any = None, element: Any = HEX, energy: Any = saint_venant_kirchhoff(),
         **given: Any) -> Run:  # fmt: skip
    """Return a body of given things under its weight."""

    def run() -> Any:
        mesh = sa.Mesh.box((2.0, 1.0, 0.5), (2, 1, 1))
        place = mesh["body"] if region is None else region(mesh)
        parameters = given or SVK
        return held(part=sa.Body(place, element, energy, **parameters))

    return run


def thin() -> sa.Body:
    """Return a plate without a thickness."""
    mesh = sa.Mesh.box((1.0, 1.0), (1, 1))
    return sa.Body(mesh["body"], sa.elements.ancf_plate, saint_venant_kirchhoff(), **SVK)
