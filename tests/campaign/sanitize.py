# SPDX-License-Identifier: BSD-3-Clause
"""Address and undefined-behaviour sanitizers over all C: the runtime and generated kernels.

::

    python -m tests.campaign.sanitize                 # every model, on 1 and 3 ranks
    python -m tests.campaign.sanitize --models hex8_plain joints --ranks 1

A wrapper of gcc that adds ``-fsanitize=address,undefined`` is chosen as SYMANCF_CC, with a kernel
cache of its own, and the models run in processes with libasan loaded first. Their kernels are
derived before, by a process without it: Python is four times as slow beside it. Arrays of
NumPy then have red zones, so that a kernel that reads or writes beside them is found. The first
run is of a fault, which has to be found. Nothing is optimised: gcc takes thirty times as long over
a large kernel with checks (a joint of two rigid bodies: 29 s and 1 s). Leaks are not looked at:
Python has its own.
"""

from __future__ import annotations

import argparse
import ctypes
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from mpi4py import MPI

import symancf as sa
from symancf.energies import cable, kirchhoff, neo_hooke, saint_venant_kirchhoff
from symancf.runtime import jit
from symancf.solve.multigrid import levels
from tests.mpi import environment
from tests.remembering import STEEL, j2
from tests.shells import sphere
from tests.unit.facing import bowl, stacked
from tests.unit.seams import beside, held, side_of
from tests.unit.test_multigrid import partly, several, slit
from tests.unit.test_native import controlled, driven, shaken, two_parts
from tests.unit.test_native import run as run_motion

LIMIT = 600.0  # seconds of one run
BEGUN = "begun: "  # before the name of a model, as its run says
PLAIN = """#!/bin/sh
exec gcc "$@" -O0
"""
SANITIZING = """#!/bin/sh
unset LD_PRELOAD
exec gcc "$@" -O0 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined \\
    -fno-sanitize-recover=undefined
"""
SETTINGS = {
    "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=0:exitcode=99",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1:exitcode=99",
    "PYTHONMALLOC": "malloc",  # small blocks of Python's own have no red zones
}
RUNTIME = ("runtime", "pattern", "graph", "rounded", "multigrid", "steps")
FAULT = "double fault(const double *x, int n) { return x[n]; }\n"
SIZES = {"line": ((2.0,), (11,)), "quad": ((2.0, 0.5), (11, 1)),
         "hexahedron": ((2.0, 0.5, 0.5), (11, 1, 1))}  # fmt: skip
MATERIAL = {"E": 1e6, "nu": 0.3, "rho": 1000.0}


def arc(X: Any) -> Any:
    """Return points of an arc of radius 2 in the plane z = 0."""
    angle = X[:, 0] / 2.0
    return np.stack([2.0 * np.sin(angle), 2.0 - 2.0 * np.cos(angle), 0.0 * angle], axis=1)


def solve(*bodies: Any, terms: list[Any], motion: float = 1e-3) -> None:
    """Run energies, residual, tangent, products and a short motion of a model."""
    system = sa.System(*bodies, terms=terms)
    sa.StaticProblem(system).solve(smallest=1.0 / 64.0)
    found = sa.check(system)
    values = np.array(list(system.energies().values()))
    if not (found.passed and np.isfinite(values).all()):
        raise ValueError(f"{found}\n{values}")
    move(*bodies, terms=terms, step=motion)


def move(*bodies: Any, terms: list[Any], step: float = 1e-3) -> None:
    """Run three steps of a motion."""
    system = sa.System(*bodies, terms=terms)
    sa.DynamicProblem(system).solve(to=3.0 * step, step=step)
    if not np.isfinite(system.state).all():
        raise ValueError("a motion that is not finite")


def _element(
    element: Any, energy: Any, given: dict[str, float], warp: Any = None, **damping: float
) -> None:
    """Run one body of an element: weight, a force, viscosity, a pressure where there is a side."""
    lengths, cells = SIZES[element.cell]
    mesh = sa.Mesh.box(lengths, cells, warp=warp)
    body = sa.Body(mesh["body"], element, energy, **given)
    terms: list[Any] = [sa.fix(body["x0"], "all"), sa.gravity((0.0, 0.0, -0.1))]
    if warp is not None:
        terms.append(sa.planar(body))
        terms[1] = sa.gravity((0.0, -0.1, 0.0))
    terms += [sa.force(body["x1"], (1.0, 0.5, 0.0)), sa.KelvinVoigt(body, eta=1.0, **damping)]
    if element is sa.elements.hex8_plain:
        terms.append(sa.pressure(body["z1"], 1.0))
    elif element.cell == "quad":
        terms.append(sa.pressure(body["body"].face(+1), 1.0))
    solve(body, terms=terms)


def hex8_plain() -> None:
    """Solids."""
    _element(sa.elements.hex8_plain, saint_venant_kirchhoff(), MATERIAL)


def plate() -> None:
    """Plates with directors."""
    given = MATERIAL | {"thickness": 0.1}
    _element(sa.elements.ancf_plate, saint_venant_kirchhoff(), given)


def thin_plate() -> None:
    """Thin plates."""
    _element(sa.elements.ancf_thin_plate, kirchhoff(), MATERIAL | {"thickness": 0.1})


ROPE = {"EA": 1e5, "EI": 20.0, "rho": 1000.0, "A": 2e-3}


def straight_cable() -> None:
    """Cables that are straight at rest."""
    _element(sa.elements.ancf_cable, cable(), ROPE, I=1e-6)


def curved_cable() -> None:
    """Cables that are curved at rest, with the scalar curvature."""
    _element(sa.elements.ancf_cable, cable(), ROPE, warp=arc, I=1e-6)


def plane_cable() -> None:
    """Cables that are curved at rest, with the signed curvature."""
    _element(sa.elements.ancf_cable, cable(curvature="plane"), ROPE, warp=arc, I=1e-6)


def rods() -> None:
    """Rods of a section, pulled and twisted."""
    mesh = sa.Mesh.box((1.0,), (3,), cell="line3")
    given = sa.Section.rectangle(0.1, 0.05).rod(E=1e6, nu=0.3, rho=1000.0)
    rod = sa.Body(mesh["body"], sa.elements.ancf_rod, sa.energies.rod(), **given)
    pull = sa.force(rod["x1"], (0.0, lambda t: 1e-3 * t, 1e-3))
    twist = sa.moment(rod["x1"], (lambda t: 1e-4 * t, 0.0, 0.0))
    solve(rod, terms=[sa.fix(rod["x0"]), pull, twist])


def thin_shells() -> None:
    """Thin shells of quadrilaterals and of triangles."""
    for element, cell in ((sa.elements.ancf_thin_quad, "quad"),
                          (sa.elements.ancf_thin_triangle, "triangle")):  # fmt: skip
        mesh = sa.Mesh.box((2.0, 0.5), (4, 1), cell=cell)
        body = sa.Body(mesh["body"], element, kirchhoff(), **MATERIAL, thickness=0.1)
        load = [sa.gravity((0.0, 0.0, -0.1)), sa.traction(body["body"], (0.0, 0.0, 0.1))]
        solve(body, terms=[sa.fix(body["x0"], "all"), *load])


def layers() -> None:
    """Plates of two layers of different laws, thin and full."""
    ply, rubber = sa.energies.orthotropic(), saint_venant_kirchhoff()
    fibres = {"E1": 1e7, "E2": 1e6, "E3": 1e6, "nu12": 0.3, "nu13": 0.3, "nu23": 0.4}
    fibres |= {"G12": 5e5, "G13": 5e5, "G23": 4e5}
    for element in (sa.elements.ancf_thin_plate, sa.elements.ancf_plate):
        made = sa.Layers([(ply, 0.05, 30), (rubber, 0.05)], degrees=True, axis=(1, 0, 0))
        mesh = sa.Mesh.box((2.0, 0.5), (4, 1))
        body = sa.Body(mesh["body"], element, made, **MATERIAL, **fibres)
        solve(body, terms=[sa.fix(body["x0"], "all"), sa.gravity((0.0, 0.0, -0.1))])


def thick_plate() -> None:
    """Thick plates with coordinates of the change of thickness."""
    _element(sa.elements.ancf_thick_plate, saint_venant_kirchhoff(), MATERIAL | {"thickness": 0.1})


def enhanced() -> None:
    """Hexahedra with an enhanced strain, and with the mean dilatation of F-bar."""
    for element in (sa.elements.hex8, sa.elements.hex8_fbar):
        mesh = sa.Mesh.box((2.0, 0.5, 0.5), (5, 1, 1))
        body = sa.Body(mesh["body"], element, saint_venant_kirchhoff(), **MATERIAL)
        load = [sa.gravity((0.0, 0.0, -0.1)), sa.pressure(body["z1"], 1.0)]
        solve(body, terms=[sa.fix(body["x0"]), *load])


def gas() -> None:
    """A closed cavity of plates and one of thin plates, with a gas and with a pressure."""
    for element, energy, gas in (
        (sa.elements.ancf_plate, saint_venant_kirchhoff(), {"gas": sa.Gas(1.05, ambient=1e3)}),
        (sa.elements.ancf_thin_plate, kirchhoff(), {"pressure": 10.0}),
    ):
        mesh = sphere(2)
        given = MATERIAL | {"thickness": 0.05}
        body = sa.Body(mesh["skin"], element, energy, direction=lambda X: X, **given)
        held = sa.fix(body.at((1.0, 0.0, 0.0)), "all")
        solve(body, terms=[held, sa.Cavity(body["skin"], **gas)])


def angle(theta_a: Any, theta_b: Any, *, angle: Any) -> Any:
    """Return a constraint of two planar bodies."""
    return theta_b - theta_a - angle


def damper(v_a: Any, v_b: Any, *, c: Any) -> Any:
    """Return forces on the difference of two velocities."""
    d = v_a - v_b
    return {d[0]: -c * d[0], d[1]: -c * d[1]}


def spring(r_a: Any, r_b: Any, *, k: Any) -> Any:
    """Return the energy of a spring."""
    return k / 2 * (r_a - r_b).dot(r_a - r_b)


def joints() -> None:
    """Every joint, between rigid bodies and to a flexible one, with point laws on their ends."""
    at = 0.5
    links = []
    terms: list[Any] = [sa.gravity((0.0, 0.0, -1.0))]
    z = (0.0, 0.0, 1.0)
    before = sa.ground.at((0.0, 0.0, 0.0))
    for kind in ("revolute", "cylindrical", "prismatic", "universal", "spherical", "rigid"):
        box = (1.0, 0.1, 0.2)
        link = sa.RigidBody.box(box, position=(at, 0.0, 0.0), rho=100.0, name=f"link {kind}")
        here = link.at((-0.5, 0.0, 0.0))
        axes: dict[str, Any] = (
            {"axis": z} if kind in ("revolute", "cylindrical", "prismatic") else {}
        )
        if kind == "universal":
            axes = {"axes": (z, (0.0, 1.0, 0.0))}
        terms.append(getattr(sa.joints, kind)(here, before, **axes))
        before = link.at((0.5, 0.0, 0.0))
        links.append(link)
        at += 1.0
    mesh = sa.Mesh.box((1.0,), (3,), warp=lambda X: X + np.array([6.0, 0.0, 0.0]))
    rope = sa.Body(mesh["body"], sa.elements.ancf_cable, cable(), name="rope", **ROPE)
    terms.append(sa.joints.spherical(rope.at((6.0, 0.0, 0.0)), before))
    terms.append(sa.joints.distance(rope.at((7.0, 0.0, 0.0)), sa.ground.at((8.0, 0.0, 0.0)), 1.0))
    terms.append(sa.Potential(spring, before, sa.ground.at((6.0, 0.0, 1.0)), k=10.0))
    terms.append(sa.VirtualWork(damper, links[0].centre, links[3].centre, c=1.0))
    terms.append(sa.moment(links[2].centre, (0.1, 0.2, 0.3)))
    move(*links, rope, terms=terms)


def planar() -> None:
    """Planar bodies with a flexure, a joint, a constraint and point laws."""
    a = sa.PlanarBody(position=(1.0, 0.0, 0.3), name="a", mass=1.0, inertia=0.1)
    b = sa.PlanarBody(position=(2.0, 0.5, -0.4), name="b", mass=1.0, inertia=0.1)
    start = sa.ground.at((0.0, 0.0))
    place = a.at((0.3, 0.1))
    x, y = place.X[0, :2] - (2.0, 0.5)
    c, s = np.cos(-0.4), np.sin(-0.4)
    terms = [
        sa.Flexure.straight(start, a.at((0, 0)), EI=1.0, EA=1e3, model="consistent"),
        sa.joints.revolute(place, b.at((c * x + s * y, -s * x + c * y))),
        sa.Constraint(angle, a.at((0, 0)), b.at((0, 0)), angle=lambda t: -0.7 + 0.1 * t),
        sa.Potential(spring, b.at((0.4, 0.2)), sa.ground.at((1.0, 1.0)), k=0.3),
        sa.VirtualWork(damper, place, b.at((0.1, 0.2)), c=2.0),
        sa.force(b.at((0.2, 0.0)), (0.0, 0.1)),
    ]
    solve(a, b, terms=terms)


def shapes() -> None:
    """Solids on a ball that moves, a rope on a drum, a ball on a plane, all with friction."""
    mesh = sa.Mesh.box((1.0, 1.0, 0.5), (4, 3, 1))
    block = sa.Body(mesh["body"], sa.elements.hex8_plain, saint_venant_kirchhoff(), **MATERIAL)
    ball = sa.Sphere(1.0, (0.5, 0.5, 1.5), displacement=lambda t: (0.05 * t, 0.0, -0.02 * t))
    solve(block, terms=[sa.fix(block["z0"]), sa.Contact(block["z1"], ball, mu=(0.4, 0.3))])
    drum = sa.Cylinder(1.980001, (0.0, 2.0, 0.0), axis=(0.0, 0.0, 1.0))
    line = sa.Mesh.box((2.0,), (11,), warp=arc)
    rope = sa.Body(line["body"], sa.elements.ancf_cable, cable(), **ROPE)
    on = sa.Contact(rope["body"], drum, mu=0.3, radius=0.02, initial="press")
    pull = sa.force(rope["x1"], (54.0, 84.0, 0.0))
    solve(rope, terms=[sa.fix(rope["x0"], "all"), sa.planar(rope), on, pull])
    bead = sa.RigidBody.sphere(0.1, position=(0.0, 0.0, 0.0999), rho=100.0)
    rolls = sa.Contact(bead, sa.Plane(), mu=0.3, stiffness=1e5, initial="press")
    move(bead, terms=[rolls, sa.gravity((1.0, 0.0, -9.81))])


def facets() -> None:
    """Bodies of every facet that are dragged over each other with friction, lists made anew."""
    for cell in ("hexahedron", "hexahedron20", "tetra10", "plate"):
        low, high, touch = stacked(cell, 0.3, ((3, 2, 1), (2, 2, 1)), bend=0.1, rho=1e3)
        plate = cell == "plate"
        base = sa.fix(low["body"], "all") if plate else sa.fix(low["z0"])
        top = high["x0" if plate else "z1"]
        pull = sa.fix(
            top, "position", displacement=lambda t: (0.4 * t, 0.0, -0.01 * min(8.0 * t, 1.0))
        )
        system = sa.System(low, high, terms=[base, pull, touch])
        sa.StaticProblem(system, check_held=False).solve(step=0.5)
        sa.sample(system, touch)
        if not (touch.status(system).slip and np.isfinite(system.state).all()):
            raise ValueError(f"{cell}: {touch}")
    move(low, high, terms=[base, touch, sa.gravity((0.0, 0.0, -1.0))])


def seams() -> None:
    """Sides of triangles and quadrilaterals, of elements of two orders, dragged over the seam."""
    for kinds in ("first", "second"):
        low = beside(kinds, (2, 2, 2, 1))
        high = beside("first", (2, 2, 1, 1), seam=0.4, warp=bowl(0.5, 0.0), name="high")
        touch = sa.Contact(side_of(low, "z1"), side_of(high, "z0"), mu=0.3)
        pull = held(high, "z1", displacement=lambda t: (0.3 * t, 0.0, -0.01 * min(8.0 * t, 1.0)))
        system = sa.System(*low, *high, terms=[*held(low, "z0"), *pull, touch])
        sa.StaticProblem(system, check_held=False).solve(step=0.5)
        sa.sample(system, touch)
        if not (touch.status(system).slip and np.isfinite(system.state).all()):
            raise ValueError(f"{kinds}: {touch}")


def hairpin(X: Any) -> Any:
    """Return points of a strip that is bent back upon itself, 0.24 between its arms."""
    s, r = X[:, 0] - 1.0, 0.12 + X[:, 2]
    turn = np.clip(s / 0.12, 0.0, np.pi)
    along = np.where(s < 0.0, X[:, 0], np.where(turn < np.pi, 1.0, 2.0 + 0.12 * np.pi - X[:, 0]))
    return np.stack([along + r * np.sin(turn), 0.2 - X[:, 1], -r * np.cos(turn)], axis=1)


def itself() -> None:
    """A strip bent back, whose arms are pressed on each other."""
    mesh = sa.Mesh.box((2.0 + 0.12 * np.pi, 0.2, 0.12), (20, 1, 1), warp=hairpin)
    strip = sa.Body(mesh["body"], sa.elements.hex8_plain, neo_hooke(), mu=0.36, lam=1.4)
    press = [
        sa.fix(strip[end], "position", lambda t, s=s: (0.0, 0.0, 0.13 * s * t))
        for end, s in (("x0", 1.0), ("x1", -1.0))
    ]
    touch = sa.Contact(strip["z0"], mu=0.2)
    system = sa.System(strip, terms=[*press, touch])
    sa.StaticProblem(system).solve(step=0.25)
    if touch.status(system)[1:] == (0, 0):
        raise ValueError(f"{touch}")


def memories() -> None:
    """A law that remembers, over two steps."""
    box = sa.Mesh.box((1.0, 0.5, 0.5), (5, 1, 1))
    bar = sa.Body(box["body"], sa.elements.hex8_plain, j2, **STEEL)
    held = [sa.fix(bar["x0"]), sa.fix(bar["x1"], "x", lambda t: (0.003 * t, 0.0, 0.0))]
    system = sa.System(bar, terms=held)
    sa.StaticProblem(system).solve(step=0.5)
    if not system.remembered(bar)["a"].max(initial=1.0) > 0.0:
        raise ValueError("nothing has yielded")


def places() -> None:
    """Places that travel and slide over cables, and lines that keep their length."""
    rope = sa.Body(sa.Mesh.box((1.0,), (9,))["body"], sa.elements.ancf_cable, cable(), **ROPE)
    held = [sa.fix(rope[end], "position") for end in ("x0", "x1")]
    car = sa.force(rope.at(lambda t: (0.1 + 0.8 * t, 0.0, 0.0)), (0.0, 0.0, -1e-3))
    sa.StaticProblem(sa.System(rope, terms=[*held, car])).solve(step=0.2)
    wheel, bead = rope.sliding((0.3, 0.0, 0.0)), sa.RigidBody(position=(0.3, 0.0, 0.0), mass=0.1)
    on = sa.Constraint(lambda r_a, r_b: r_a - r_b, bead.at((0.0, 0.0, 0.0)), wheel)
    sa.check(sa.System(rope, bead, terms=[*held, on, sa.gravity((0.1, 0.0, -1.0))]))
    hangs = [sa.fix(rope["x0"]), sa.length(rope["body"], per="edge"), sa.gravity((0.0, 0.0, -1.0))]
    sa.StaticProblem(sa.System(rope, terms=hangs)).solve()


def multigrid() -> None:
    """Blocks by both kinds of multigrid, which multiply in single precision; a slit; GMRES."""
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (6, 6, 6))
    block = sa.Body(mesh["body"], sa.elements.hex8_plain, saint_venant_kirchhoff(), **MATERIAL)
    terms = [sa.fix(block["x0"]), sa.gravity((0.0, 0.0, -1.0))]
    for kind in ("gamg", "grids"):
        options = {"ksp_type": "cg", "pc_type": kind}
        sa.StaticProblem(sa.System(block, terms=terms), options=options).solve()
    for make in (several, partly, slit):
        for size in (levels.SHARED, 300):
            with mock.patch.object(levels, "SHARED", size):
                sa.StaticProblem(make(), options={"pc_type": "grids"}).solve()


def motions() -> None:
    """Steps in C, many at once and one at a time, with functions of time and cut-backs."""
    for make, to, step in ((two_parts, 0.2, 2e-3), (driven, 0.1, 2e-3), (shaken, 0.1, 2e-3),
                           (controlled, 1.0, 1e-2), (two_parts, 0.3, 0.15)):  # fmt: skip
        for how in ("many", "one") if MPI.COMM_WORLD.size == 1 else ("snes",):
            run_motion(make, how, to, step)


def fault() -> None:
    """Read one number behind an array of NumPy: what has to be found."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "fault.c"
        source.write_text(FAULT, encoding="utf-8")
        library = jit.load_runtime(source)
        x = np.zeros(32)
        library.fault(x.ctypes.data_as(ctypes.c_void_p), ctypes.c_int(len(x)))


MODELS: dict[str, Callable[[], None]] = {
    f.__name__: f
    for f in (hex8_plain, plate, thin_plate, straight_cable, curved_cable, plane_cable, rods,
              thin_shells, layers, thick_plate, enhanced, gas, joints,
              planar, shapes, facets, seams, itself, memories, places, multigrid, motions)
}  # fmt: skip


def run(models: list[str], ranks: int, folder: Path) -> tuple[int, str, str]:
    """Run models in one process per rank; with `ranks` = 0 in one without sanitizers.

    Returns
    -------
    status, what the sanitizers and the models said, the last model begun.
    """
    settings = {"SYMANCF_CACHE": str(folder), "SYMANCF_CC": str(folder / "plain-gcc")}
    launch = []
    if ranks:
        preload = []
        for name in ("libasan.so", "libubsan.so", "libstdc++.so"):
            command = ["gcc", f"-print-file-name={name}"]
            said = subprocess.run(command, capture_output=True, text=True)
            preload.append(said.stdout.strip())
        settings |= SETTINGS | {"SYMANCF_CC": str(folder / "sanitizing-gcc")}
        settings["LD_PRELOAD"] = ":".join(preload)
        launch = ["mpirun", "-n", str(ranks)]
    # the settings are of the ranks alone: mpirun has faults of its own when ranks abort
    launch += ["env", *map("=".join, settings.items())]
    command = [sys.executable, "-m", "mpi4py", "-m", "tests.campaign.sanitize", "--worker", *models]
    try:
        done = subprocess.run(
            ["timeout", "--kill-after=5", f"{LIMIT:.0f}", *launch, *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=environment(),
        )
    except OSError as error:
        return 1, str(error), ""
    lines = done.stdout.splitlines()
    begun = [line for line in lines if line.startswith(BEGUN)]
    shown = [line for line in lines if "ERROR: AddressS" in line or "runtime error:" in line]
    status = done.returncode or int(bool(shown))
    last = begun[-1].removeprefix(BEGUN) if begun else ""
    return status, "\n".join([*shown, *lines[:30], "...", *lines[-10:]]), last


def work(models: list[str]) -> None:
    """Run models in this process, on all ranks."""
    for model in models:
        if MPI.COMM_WORLD.rank == 0:
            print(f"{BEGUN}{model}", flush=True)
        (fault if model == "fault" else MODELS[model])()
        MPI.COMM_WORLD.Barrier()


def _wrong(models: list[str], ranks: int, folder: Path) -> int:
    """Run models, after one that fails the next ones; print and count those that fail."""
    where = f"{ranks} ranks" if ranks else "one rank without sanitizers"
    left, wrong = list(models), 0
    while left:
        status, said, last = run(left, ranks, folder)
        last = last or left[0]
        clean = left[: left.index(last)] if status else left
        if clean:
            print(f"{', '.join(clean)} on {where}: clean", flush=True)
        if status:
            print(f"{last} on {where}: exit status {status}\n{said}", flush=True)
            wrong += 1
        left = left[len(clean) + 1 :]
    return wrong


def main() -> int:
    """Run all models on all numbers of ranks and print what is found."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign.sanitize", description=__doc__)
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 3])
    parser.add_argument("--cache", type=Path, help="folder of the kernels, to use them again")
    parser.add_argument("--worker", nargs="+", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        work(given.worker)
        return 0
    with tempfile.TemporaryDirectory(prefix="symancf-sanitize-") as temporary:
        folder = Path(given.cache or temporary).absolute()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name, text in (("plain-gcc", PLAIN), ("sanitizing-gcc", SANITIZING)):
            (folder / name).write_text(text, encoding="utf-8")
            (folder / name).chmod(0o700)
        _, said, _ = run(["fault"], 1, folder)
        if "heap-buffer-overflow" not in said:
            print(f"the sanitizer does not find a fault here, so that it says nothing:\n{said}")
            return 1
        wrong = sum(_wrong(given.models, ranks, folder) for ranks in (0, *given.ranks))
        asked = RUNTIME if given.models == list(MODELS) else ()
        missing = [name for name in asked if not list(folder.glob(f"{name}-*.so"))]
        if missing:
            print(f"no model has used {', '.join(missing)}.c")
    print(f"{wrong} models are wrong")
    return int(bool(wrong or missing))


if __name__ == "__main__":
    sys.exit(main())
