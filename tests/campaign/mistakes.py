# SPDX-License-Identifier: BSD-3-Clause
"""What people write in a hurry: swapped, missing, doubled and misplaced things."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp
from mpi4py import MPI

import symancf as sa
from symancf.energies import cable, kirchhoff, saint_venant_kirchhoff

from . import models
from .case import Case, require_near

Run = Callable[[], Any]
SVK = {"E": 1e6, "nu": 0.3, "rho": 1e3}
HEX, CABLE = sa.elements.hex8, sa.elements.ancf_cable


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
    return sa.RigidBody.box((1.0, 0.1, 0.1), at=at, name=name, **({"rho": 1e3} | given))


def disc(name: str = "disc", at: Any = (0.0, 0.0)) -> sa.PlanarBody:
    """Return a planar body."""
    return sa.PlanarBody(at=at, mass=1.0, inertia=1.0, name=name)


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
        part = sa.Body(mesh["body"], HEX, saint_venant_kirchhoff, E=1e6, nu=0.3, rho=1e3)
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


def body(region: Any = None, element: Any = HEX, energy: Any = saint_venant_kirchhoff,
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
    return sa.Body(mesh["body"], sa.elements.ancf_plate, saint_venant_kirchhoff, **SVK)


ERRORS: dict[str, Run] = {
    # places
    "fix a region that is not there": on(lambda b: sa.fix(b["x9"])),
    "fix a region in capitals": on(lambda b: sa.fix(b["X1"])),
    "fix a region by number": on(lambda b: sa.fix(b[0])),
    "fix a region of the mesh": lambda: held(sa.fix(sa.Mesh.box((1.0,), (1,))["x0"])),
    "fix a body": on(lambda b: sa.fix(b)),
    "fix a text": on(lambda b: sa.fix("x1")),
    "fix nothing": on(lambda b: sa.fix(None)),
    "fix u_x": on(lambda b: sa.fix(b["x1"], "u_x")),
    "fix dof 0": on(lambda b: sa.fix(b["x1"], 0)),
    "fix by one number": on(lambda b: sa.fix(b["x1"], displacement=0.1)),
    "fix by two numbers": on(lambda b: sa.fix(b["x1"], displacement=(0.1, 0.2))),
    "fix by text": on(lambda b: sa.fix(b["x1"], displacement="0.1")),
    "fix by a function without t": on(lambda b: sa.fix(b["x1"], displacement=lambda: 0.0)),
    "fix an empty list": on(lambda b: sa.fix(b["x1"], [])),
    "two supports that disagree": on(lambda b: sa.fix(b["x0"], displacement=(0.1, 0, 0))),
    # loads
    "force, swapped": on(lambda b: sa.force((0, 0, 1.0), b["x1"])),
    "force of one number": on(lambda b: sa.force(b["x1"], 5.0)),
    "force of text": on(lambda b: sa.force(b["x1"], "down")),
    "force with text in it": on(lambda b: sa.force(b["x1"], (0, 0, "1.0"))),
    "force of two rows": on(lambda b: sa.force(b["x1"], np.zeros((2, 3)))),
    "force of complex numbers": on(lambda b: sa.force(b["x1"], (0, 0, 1j))),
    "force on a body": on(lambda b: sa.force(b, (0, 0, 1.0))),
    "force on a mesh": lambda: held(sa.force(sa.Mesh.box((1.0,), (1,)), (0, 0, 1.0))),
    "force on a far point": on(lambda b: sa.force(b.at((50.0, 0, 0)), (0, 0, 1.0))),
    "gravity of one number": on(lambda b: sa.gravity(9.81)),
    "gravity in two components": on(lambda b: sa.gravity((0, -9.81))),
    "gravity of a body": on(lambda b: sa.gravity(b)),
    "gravity twice": twice(lambda: sa.gravity((0, 0, -1.0))),
    "pressure, swapped": on(lambda b: sa.pressure(1.0, b["z1"])),
    "pressure of a vector": on(lambda b: sa.pressure(b["z1"], (0, 0, 1.0))),
    "pressure on a solid": on(lambda b: sa.pressure(b["body"], 1.0)),
    "pressure on a cable": on(lambda b: sa.pressure(b["body"], 1.0), "cable"),
    "pressure on text": on(lambda b: sa.pressure("z1", 1.0)),
    "traction on points": on(lambda b: sa.traction(b.at((2.0, 0, 0)), (0, 0, 1.0))),
    "traction on no face": no_face([0, 1, 7, 6]),
    "traction on a diagonal": no_face([0, 2, 11, 9]),
    "traction on half a face": no_face([0, 1, 3], "triangle"),
    "traction on no edge": no_face([0, 7], "line"),
    "a force that is None later": on(
        lambda b: sa.force(b["x1"], (0, 0, lambda t: 1.0 if t < 0.1 else None))
    ),
    "force of a stranger": lambda: held(sa.force(block(name="other")["x1"], (0, 0, 1.0))),
    # bodies
    "a body on a mesh": body(lambda m: m),
    "a body on a side": body(lambda m: m["x0"]),
    "a body on text": body(lambda m: "body"),
    "an element by name": body(element="hex8"),
    "an energy by name": body(energy="neo_hooke"),
    "an energy of plates on solids": body(energy=kirchhoff()),
    "an energy that was not made": body(energy=cable),
    "no energy": body(energy=None),
    "without E": body(nu=0.3, rho=1e3),
    "young for E": body(young=1e6, nu=0.3, rho=1e3),
    "E as text": body(E="1e6", nu=0.3, rho=1e3),
    "E complex": body(E=1e6 + 0j, nu=0.3, rho=1e3),
    "E of two": body(E=[1e6, 2e6], nu=0.3, rho=1e3),
    "E below zero": body(E=-1e6, nu=0.3, rho=1e3),
    "E of zero": body(E=0.0, nu=0.3, rho=1e3),
    "nu of a half": body(E=1e6, nu=0.5, rho=1e3),
    "nu in per cent": body(E=1e6, nu=30, rho=1e3),
    "rho below zero": body(E=1e6, nu=0.3, rho=-1e3),
    "thickness of a solid": body(**SVK, thickness=0.1),
    "no thickness": lambda: held(part=thin()),
    # systems
    "a body twice": lambda: (lambda b: sa.System(b, b, terms=[sa.fix(b["x0"])]))(block()),
    "two bodies of one name": lambda: (
        lambda a, b: sa.System(a, b, terms=[sa.fix(a["x0"]), sa.fix(b["x0"], name="2")])
    )(block(), block()),
    "no bodies": lambda: sa.System(),
    "a list of bodies": lambda: sa.System([block()], terms=[]),
    "terms for bodies": lambda: (lambda b: sa.System(b, [sa.fix(b["x0"])]))(block()),
    "a term for terms": lambda: (lambda b: sa.System(b, terms=sa.fix(b["x0"])))(block()),
    "None for a term": lambda: held(None),
    "a list for a term": lambda: held([sa.gravity((0, 0, -1.0))]),
    "a function for a term": lambda: held(sa.gravity),
    "a body for a term": lambda: held(block(name="other")),
    "a parameter for a term": lambda: held(sa.Parameter("p", 1.0)),
    "a mesh for a body": lambda: sa.System(sa.Mesh.box((1.0,), (1,)), terms=[]),
    "a problem of a body": lambda: sa.StaticProblem(block()),
    "a motion of a problem": lambda: sa.DynamicProblem(problem()),
    "a motion without mass": lambda: (
        lambda b: sa.DynamicProblem(sa.System(b, terms=[sa.fix(b["x0"])])).solve(to=0.1, step=0.1)
    )(sa.Body(sa.Mesh.box((1.0,), (2,))["body"], CABLE, cable(), EA=1.0, EI=1.0)),
    "nothing holds it": lambda: (lambda b: models.solve(b, terms=[sa.gravity((0, 0, -1.0))]))(
        block()
    ),
    # joints
    "a joint of a body and itself": rigid(
        lambda a, b: sa.joints.spherical(a.at((0.5, 0, 0)), a.at((0.5, 0, 0)))
    ),
    "a joint of the ground and itself": rigid(
        lambda a, b: sa.joints.spherical(sa.ground.at((0, 0, 0)), sa.ground.at((0, 0, 0)))
    ),
    "a distance within a body": rigid(
        lambda a, b: sa.joints.distance(a.at((0.5, 0, 0)), a.at((-0.5, 0, 0)), 2.0)
    ),
    "a joint of bodies": rigid(lambda a, b: sa.joints.revolute(a, b, axis=(0, 0, 1))),
    "a joint of points apart": rigid(
        lambda a, b: sa.joints.spherical(a.at((0.0, 0, 0)), b.at((0.0, 0, 0)))
    ),
    "an axis of zero": rigid(
        lambda a, b: sa.joints.revolute(a.at((0.5, 0, 0)), b.at((-0.5, 0, 0)), axis=(0, 0, 0))
    ),
    "an axis by name": rigid(
        lambda a, b: sa.joints.revolute(a.at((0.5, 0, 0)), b.at((-0.5, 0, 0)), axis="z")
    ),
    "an axis of two": rigid(
        lambda a, b: sa.joints.revolute(a.at((0.5, 0, 0)), b.at((-0.5, 0, 0)), axis=(0, 1))
    ),
    "a joint of a body that is not there": rigid(
        lambda a, b: sa.joints.spherical(a.at((0.5, 0, 0)), rod("c", (1.5, 0, 0)).at((-0.5, 0, 0)))
    ),
    "a joint of the plane and of space": rigid(
        lambda a, b: sa.joints.revolute(a.at((0.5, 0, 0)), disc(at=(1, 0)).origin, axis=(0, 0, 1))
    ),
    "a rod of no size": lambda: sa.RigidBody.box((0.0, 1.0, 1.0), at=(0, 0, 0), rho=1.0),
    "a rod of text": lambda: sa.RigidBody.box("1x1x1", at=(0, 0, 0), rho=1.0),
    "a rod in the plane": lambda: sa.RigidBody.box((1.0, 1.0), at=(0, 0), rho=1.0),
    "a disc in space": lambda: sa.PlanarBody(at=(0, 0, 0, 0), mass=1.0, inertia=1.0, name="d"),
    "a disc of less than no mass": lambda: sa.PlanarBody(at=(0, 0), mass=-1.0, inertia=1.0),
    # laws
    "a constraint of None": law(lambda r_a: None),
    "a constraint of nan": law(lambda r_a: float("nan")),
    "a constraint of a number": law(lambda r_a: 0.0),
    "a constraint of i": law(lambda r_a: sp.I * r_a[2]),
    "a constraint of text": law(lambda r_a: "r_a[2]"),
    "a constraint of truth": law(lambda r_a: r_a[2] > 0),
    "a constraint that NumPy makes": law(lambda r_a: np.sin(r_a[2])),
    "a constraint of strangers": law(lambda height: height),
    "a constraint by math": law(lambda r_a: __import__("math").sqrt(r_a[2])),
    "a constraint of index 3": law(lambda r_a: r_a[3]),
    "no function": law(5),  # type: ignore[arg-type]
    "a potential of None": law(lambda r_a: None, sa.Potential),
    "a potential of a vector": law(lambda r_a: r_a, sa.Potential),
    "a potential of i": law(lambda r_a: sp.I * r_a[2], sa.Potential),
    "work of None": law(lambda v_a: None, sa.VirtualWork),
    "work of a number": law(lambda v_a: 5.0, sa.VirtualWork),
    "work of the wrong size": law(lambda v_a: {v_a: [1.0, 2.0]}, sa.VirtualWork),
    "a viscosity of a region": on(lambda b: sa.KelvinVoigt(b["x1"], eta=1.0)),
    "lengths in a solid": on(lambda b: sa.length(b["body"])),
    "a gas of text": on(lambda b: sa.Cavity(b["z1"], gas="air")),
    "a gas below zero": lambda: sa.Gas(-1.0),
    "an open cavity": on(lambda b: sa.Cavity(b["z1"], pressure=1.0)),
    "a cavity of a body": on(lambda b: sa.Cavity(b, pressure=1.0)),
    # parameters and paths
    "a parameter of text": lambda: sa.Parameter("p", "1"),
    "a parameter without a name": lambda: sa.Parameter(None),  # type: ignore[arg-type]
    "a parameter of a list": lambda: sa.Parameter("p", [1.0]),
    "a path of text": path("load"),
    "a path of another parameter": path(sa.Parameter("other", 0.0)),
    "a path to text": path(to="1"),
    "a path by no step": path(step=0.0),
    "a path to nan": path(to=float("nan")),
    # solving
    "statics to text": static(to="1"),
    "statics by no step": static(step=0),
    "statics by nan": static(step=float("nan")),
    "a motion to nowhere": moving({"to": 0.1, "step": 0.05}, {"to": 0.05, "step": 0.05}),
    "a motion back": moving({"to": -0.1, "step": 0.01}),
    "a motion by text": moving({"to": "0.1", "step": 0.01}),
    "a motion by a negative step": moving({"to": 0.1, "step": -0.01}),
    "a motion of an unknown method": moving({"to": 0.1, "step": 0.01}, method="magic"),
    "options in a list": lambda: problem(options=["snes_rtol"]),
    "an unknown preconditioner": lambda: problem(options={"pc_type": "magic"}).solve(),
    "a tolerance of text": lambda: problem(options={"snes_rtol": "small"}).solve(),
    "a number for an option": lambda: problem(options={5: 1}).solve(),
    "record a number": recorded("tip", 5),
    "record without a name": recorded(5, lambda: 1.0),
    "record None": recorded("tip", lambda: None),
    "record text": recorded("tip", lambda: "high"),
    "monitor a number": lambda: problem().monitor(5),
    # files
    "read None": read(None),
    "read a number": read(5),
    "read nothing": read(""),
    "read bytes": read(b"mesh.msh"),
    "read a list": read(["mesh.msh"]),
    "read what is not there": read("no-such-file.msh"),
    "read a folder": beside(lambda f: read(f)()),
    "read an unfinished file": beside(lambda f: read(f / "mesh.msh")()),
    "read a text as HDF5": beside(lambda f: read(f / "text.h5")()),
    "read an unknown suffix": beside(lambda f: read(f / "file")()),
    "write below a file": beside(lambda f: sa.Mesh.box((1.0,), (1,)).write(f / "file" / "m.h5")),
    "write to None": lambda: sa.Mesh.box((1.0,), (1,)).write(None),
    "write to /proc": lambda: sa.Mesh.box((1.0,), (1,)).write("/proc/m.h5"),
    "save below a file": beside(
        lambda f: sa.checkpoint.save(f / "file" / "c.h5", problem().system)
    ),
    "save to None": lambda: sa.checkpoint.save(None, problem().system),
    "save, swapped": beside(lambda f: sa.checkpoint.save(problem().system, f / "c.h5")),
    "load what is not there": lambda: sa.checkpoint.load("none.h5", problem().system),
    "load a text": beside(lambda f: sa.checkpoint.load(f / "text.h5", problem().system)),
    "load another model": beside(another_checkpoint),
    "a history below a file": beside(
        lambda f: problem(history=sa.History(csv=f / "file" / "h.csv")).solve()
    ),
    "a history in a number": lambda: problem(history=sa.History(csv=5)).solve(),
    "a history of text": lambda: problem(history="h.csv").solve(),
    "read no history": lambda: sa.History.read("none.csv"),
    "read a history of None": lambda: sa.History.read(None),
    "a series in None": lambda: sa.output.Series(None),
    "a series below a file": beside(lambda f: sa.output.Series(f / "file" / "s.pvd")),
    # questions
    "displacement of text": lambda: problem().system.displacement("x1"),
    "displacement of None": lambda: problem().system.displacement(None),
    "displacement of a stranger": lambda: problem().system.displacement(block()["x1"]),
    "check a body": lambda: sa.check(block()),
    # meshes
    "a box of one number": lambda: [sa.Mesh.box(2.0, 3).n_points],
    "a box of unlike lists": lambda: sa.Mesh.box((2.0, 1.0), (2, 1, 1)),
    "a box of no cells": lambda: sa.Mesh.box((2.0, 1.0), (2, 0)),
    "a box of less than nothing": lambda: sa.Mesh.box((-2.0, 1.0), (2, 1)),
    "a box of triangles": lambda: sa.Mesh.box((2.0, 1.0), (2, 1), cell="star"),
}
EITHER: dict[str, Run] = {
    "statics back": static(to=-1.0),
    "fix xyz": on(lambda b: sa.fix(b["x1"], "xyz")),
    "fix x twice": on(lambda b: sa.fix(b["x1"], ["x", "x"])),
    "fix by a row": on(lambda b: sa.fix(b["x1"], displacement=[[0.0, 0.0, 0.1]])),
    "traction on a bow tie": no_face([0, 3, 1, 2]),
    "traction on an inner face": no_face([4, 5, 7, 6]),
    "traction on an edge": no_face([0, 1], "line"),
    "moment on a solid": on(lambda b: sa.moment(b["x1"], (0, 0, 1.0))),
    "E below the smallest number": body(E=1e-320, nu=0.3, rho=1e-320),
    "E huge": body(E=1e300, nu=0.3, rho=1e3),
    "rho in g/cm3 with E in Pa": body(E=1e6, nu=0.3, rho=1.0),
    "a constraint times 1e13": scaled(1e13),
    "a constraint times 1e-13": scaled(1e-13),
    "a constraint times 1e60": scaled(1e60),
    "four rods in a ring": lambda: cycle(True),
    "a pin twice": rigid(
        lambda a, b: [
            sa.joints.revolute(a.at((0.5, 0, 0)), b.at((-0.5, 0, 0)), axis=(0, 0, 1), name=str(k))
            for k in range(2)
        ]
    ),
    "planar solids": on(lambda b: sa.planar(b)),
    "a motion to now": moving({"to": 0.0, "step": 0.01}),
    "a motion by a step that is longer": moving({"to": 0.01, "step": 1.0}),
    "an option with a dash": lambda: [problem(options={"-snes_rtol": 1e-8}).solve().steps != []],
    "an option that nobody knows": lambda: [problem(options={"snes_typo": 1}).solve().steps != []],
    "a box by one number": lambda: [sa.Mesh.box((2.0,), (3,)).n_points],
    "record twice": lambda: (
        (lambda p: [p.record("a", lambda: 1.0), p.record("a", lambda: 2.0)])(problem()) and [1]
    ),
}
RIGHT: dict[str, Run] = {
    "a constraint times 1e10": scaled(1e10),
    "a constraint times 1e-6": scaled(1e-6),
    "two parameters of one name": same_names,
    "four rods in a row": lambda: cycle(False),
    "E of a small integer type": body(E=np.int64(10**6), nu=np.float32(0.25), rho=np.float32(1e3)),
}


def generate(chance: random.Random, count: int) -> Iterator[Case]:
    """Yield mistakes in an order of chance."""
    disk = ("FileExistsError", "FileNotFoundError", "NotADirectoryError", "PermissionError")
    every = [
        Case(name, run, "error", disk if name.split()[-1] in ("file", "/proc") else ())
        for name, run in ERRORS.items()
    ]
    every += [Case(name, run, "either") for name, run in EITHER.items()]
    every += [Case(name, run, "right") for name, run in RIGHT.items()]
    chance.shuffle(every)
    yield from every[:count]
