# SPDX-License-Identifier: BSD-3-Clause
"""What people write in a hurry: swapped, missing, doubled and misplaced things."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import sympy as sp

import symancf as sa
from symancf.energies import cable, kirchhoff

from . import models
from .case import Case
from .hurry import (
    CABLE,
    SVK,
    Run,
    another_checkpoint,
    beside,
    block,
    body,
    cycle,
    disc,
    held,
    law,
    moving,
    no_face,
    on,
    path,
    problem,
    read,
    recorded,
    rigid,
    rod,
    same_names,
    scaled,
    static,
    thin,
    twice,
)

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
    "an element by name": body(element="hex8_plain"),
    "an energy by name": body(energy="neo_hooke"),
    "an energy of plates on solids": body(energy=kirchhoff()),
    "an energy that was not made": body(energy=cable()),
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
        lambda a, b: sa.joints.revolute(
            a.at((0.5, 0, 0)), disc(at=(1, 0)).at((0, 0)), axis=(0, 0, 1)
        )
    ),
    "a rod of no size": lambda: sa.RigidBody.box((0.0, 1.0, 1.0), position=(0, 0, 0), rho=1.0),
    "a rod of text": lambda: sa.RigidBody.box("1x1x1", position=(0, 0, 0), rho=1.0),
    "a rod in the plane": lambda: sa.RigidBody.box((1.0, 1.0), position=(0, 0), rho=1.0),
    "a disc in space": lambda: sa.PlanarBody(
        position=(0, 0, 0, 0), mass=1.0, inertia=1.0, name="d"
    ),
    "a disc of less than no mass": lambda: sa.PlanarBody(position=(0, 0), mass=-1.0, inertia=1.0),
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
    # contact
    "contact of a body": on(lambda b: sa.Contact(b, sa.Plane())),
    "contact with text": on(lambda b: sa.Contact(b["z0"], "floor")),
    "contact with a body": on(lambda b: sa.Contact(b["z0"], block(name="other"))),
    "contact of two planes": on(lambda b: sa.Contact(sa.Plane(), sa.Plane())),
    "contact of a stranger": on(lambda b: sa.Contact(block(name="other")["z0"], sa.Plane())),
    "contact within a plane": on(lambda b: sa.Contact(b["z1"], sa.Plane((0, 0, 9.0)))),
    "friction below zero": on(lambda b: sa.Contact(b["z0"], sa.Plane(), mu=-1.0)),
    "friction of nan": on(lambda b: sa.Contact(b["z0"], sa.Plane(), mu=float("nan"))),
    "friction of text": on(lambda b: sa.Contact(b["z0"], sa.Plane(), mu="0.3")),
    "friction that grows with slip": on(lambda b: sa.Contact(b["z0"], sa.Plane(), mu=(0.3, 0.4))),
    "contact without stiffness": on(lambda b: sa.Contact(b["z0"], sa.Plane(), stiffness=0.0)),
    "a solid with a radius": on(lambda b: sa.Contact(b["z0"], sa.Plane(), radius=0.1)),
    "a cable without one": on(lambda b: sa.Contact(b["body"], sa.Plane()), "cable"),
    "a law without a gap": on(lambda b: sa.Contact(b["z0"], sa.Plane(), law=lambda g: 1.0)),
    "a plane without a normal": lambda: sa.Plane((0, 0, 0), normal=(0, 0, 0)),
    "a sphere of no size": lambda: sa.Sphere(0.0),
    "a rigid ball without stiffness": lambda: sa.Contact(
        sa.RigidBody.sphere(0.1, mass=1.0), sa.Plane()
    ),
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
