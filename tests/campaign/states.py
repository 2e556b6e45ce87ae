# SPDX-License-Identifier: BSD-3-Clause
"""Arrays changed after they were given or of odd kinds; things copied, used again or at once."""

from __future__ import annotations

import copy
import pickle
import random
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from mpi4py import MPI

import symancf as sa
from symancf.energies import saint_venant_kirchhoff

from . import arrays, models
from .case import Case, Wrong, require_near

Run = Callable[[], Any]
SOLID = {"E": 1e6, "nu": 0.3, "rho": 1e3}


def block(mesh: Any = None, **given: Any) -> sa.Body:
    """Return a block of hexahedra."""
    mesh = mesh or sa.Mesh.box((2.0, 1.0, 0.5), (2, 1, 1))
    return sa.Body(
        mesh["body"],
        sa.elements.hex8_plain,
        saint_venant_kirchhoff(),
        name="block",
        **(SOLID | given),
    )


def held(*terms: Any, part: Any = None) -> Any:
    """Return what a held block under terms comes to."""
    part = part or block()
    support = sa.fix(part["x0"], name="held")
    system = models.solve(part, terms=[support, *terms])
    return models.ends(system, part, support)


def spring(r_a: Any, X_a: Any, *, k: Any) -> Any:
    """Return the energy of a spring."""
    return k / 2 * (r_a - X_a).dot(r_a - X_a)


LOAD = np.array([0.0, 2.0, -8.0])


def changed(make: Callable[[Any, Any], Any], values: Any) -> Run:
    """Return a run that changes an array after a term was made of it."""

    def run() -> Any:
        found = []
        for spoil in (False, True):
            part, given = block(), np.array(values, dtype=float)
            term = make(part, given)
            if spoil:
                given[:] = 1e3
            found.append(held(term, sa.gravity((0, 0, -1.0)), part=part))
        require_near(*found, 1e-12, "after the array was changed")
        return found[0]

    return run


def kind(convert: Callable[[Any], Any]) -> Run:
    """Return a run with a force, points and cells of another kind of array."""

    def run() -> Any:
        found = []
        for to in (np.array, convert):
            points, cells, regions = arrays.grid("hex")
            name = "hexahedron"
            given = (to(np.array(points)), {name: to(np.array(cells[name]))}, regions)
            mesh = sa.Mesh.from_arrays(*(given if MPI.COMM_WORLD.rank == 0 else (None,) * 3))
            part = sa.Body(mesh["all"], sa.elements.hex8_plain, saint_venant_kirchhoff(), **SOLID)
            support = sa.fix(part["root"])
            load = sa.force(part.at(to(np.array([2.0, 1.0, 0.5]))), to(LOAD))
            system = models.solve(
                part, terms=[support, load, sa.gravity(to(np.array([0, 0, -1.0])))]
            )
            tip = system.displacement(part.at((2.0, 1.0, 0.5)))
            found.append([models.finite(tip), models.finite(support.reaction(system).force)])
        require_near(*found, 1e-7, "another kind of array")
        return found[1]

    return run


def returned(ask: Callable[[Any], Any]) -> Run:
    """Return a run that changes an array that it was given back."""

    def run() -> Any:
        part = block()
        support = sa.fix(part["x0"])
        system = sa.System(part, terms=[support, sa.gravity((0, 0, -1.0))])
        problem = sa.StaticProblem(system)
        problem.record("tip", lambda: system.displacement(part["x1"]).mean(axis=0))
        problem.solve()
        found = []
        for _ in range(2):
            array = ask((system, part, support, problem))
            found.append(np.array(array).tolist())
            try:
                np.asarray(array)[...] = 7.0
            except ValueError:  # it may be read-only
                break
            problem.solve()
        require_near(found[0], found[-1], 1e-9, "after the array that came back was changed")
        return models.ends(system, part, support)

    return run


def mesh_arrays() -> Any:
    """Points and cells that are changed once the mesh is there."""
    found = []
    for spoil in (False, True):
        points, cells, regions = arrays.grid("hex")
        given = np.array(points), {k: np.array(v) for k, v in cells.items()}, regions
        mesh = sa.Mesh.from_arrays(*(given if MPI.COMM_WORLD.rank == 0 else (None,) * 3))
        if spoil:
            given[0][:] = 7.0
            for array in given[1].values():
                array[:] = 0
        found.append(arrays.weigh_mesh("hex", mesh, None))
    require_near(*found, 1e-12, "after the arrays of a mesh were changed")
    return found[0]


def buffers() -> Any:
    """Functions that return the same array each time, changed."""
    kept, part, rows = np.zeros((0, 3)), block(), np.zeros(1)

    def pull(X: Any, t: float) -> Any:
        nonlocal kept
        if len(kept) != len(X):
            kept = np.zeros((len(X), 3))
        kept[:] = t * LOAD
        return kept

    system = sa.System(part, terms=[sa.fix(part["x0"]), sa.traction(part["x1"], pull)])
    problem = sa.StaticProblem(system)

    def row() -> Any:
        rows[0] = system.displacement(part["x1"])[0, 2]
        return rows

    problem.record("row", row)
    problem.solve(step=0.25)
    seen = np.asarray(problem.history["row"]).ravel()
    if len(set(np.round(seen, 12).tolist())) != len(seen):
        raise Wrong(f"rows of a history are one array: {seen.tolist()}")
    return models.finite(seen)


def spoiled_arguments() -> Any:
    """A function that changes the places it is given."""

    def pull(X: Any, t: float) -> Any:
        f = np.stack([0 * X[:, 0], 0 * X[:, 0], t * X[:, 1]], axis=1)
        X[:] = 1e9
        return f

    def clean(X: Any, t: float) -> Any:
        return np.stack([0 * X[:, 0], 0 * X[:, 0], t * X[:, 1]], axis=1)

    found = []
    for function in (clean, pull):
        part = block()
        try:
            found.append(held(sa.traction(part["x1"], function), part=part))
        except ValueError as error:
            if "read-only" not in str(error):
                raise
            return [0]
    require_near(*found, 1e-12, "a function that changes its argument")
    return found[0]


def warped() -> Any:
    """A warp that changes the points in place and returns them."""

    def move(X: Any) -> Any:
        X += 1.0
        return X

    return [sa.Mesh.box((2.0, 1.0), (2, 1), warp=move).quality() is not None]


def lists() -> Any:
    """Lists of terms and options that are changed afterwards."""
    part, options = block(), {"snes_rtol": 1e-9}
    terms: list[Any] = [sa.fix(part["x0"]), sa.gravity((0, 0, -1.0))]
    system = sa.System(part, terms=terms)
    problem = sa.StaticProblem(system, options=options)
    terms.clear()
    options["snes_rtol"] = 1.0
    problem.solve()
    tip = system.displacement(part["x1"]).mean(axis=0)
    part = block()
    other = models.solve(part, terms=[sa.fix(part["x0"]), sa.gravity((0, 0, -1.0))])
    require_near(tip, other.displacement(part["x1"]).mean(axis=0), 1e-7, "lists changed afterwards")
    return models.finite(tip)


def two_systems() -> Any:
    """One body and its terms in two systems, by turns."""
    part = block()
    support, load = sa.fix(part["x0"]), sa.gravity((0, 0, -1.0))
    first, second = (sa.System(part, terms=[support, load]) for _ in range(2))
    found = []
    for system in (first, second, first):
        sa.StaticProblem(system).solve()
        found.append(models.ends(system, part, support))
    require_near(found[0], found[1], 1e-9, "the second system")
    require_near(found[0], found[2], 1e-9, "the first system again")
    return found[0]


def after(trouble: Callable[[Any, Any], None]) -> Run:
    """Return a run that goes on with a problem after an error."""

    def run() -> Any:
        part, load = block(), sa.Parameter("load", 1.0)
        support = sa.fix(part["x0"])
        pull = sa.force(part["x1"], (0, 0, lambda t: load.value))
        problem = sa.StaticProblem(sa.System(part, terms=[support, pull]))
        try:
            trouble(problem, load)
        except (sa.SymancfError, ZeroDivisionError):
            pass
        else:
            raise Wrong("no error")
        load.value = 5.0
        problem.solve(to=2.0)
        part2 = block()
        right = held(sa.force(part2["x1"], (0, 0, 5.0)), part=part2)
        found = models.ends(problem.system, part, support)
        require_near(found, right, 1e-7, "after an error")
        return found

    return run


def _monitor(problem: Any, load: Any) -> None:
    armed = [True]

    def burst(step: Any) -> None:
        if armed.pop() if armed else False:
            raise ZeroDivisionError("once")

    problem.monitor(burst)
    problem.solve(step=0.5)


def _nan(problem: Any, load: Any) -> None:
    load.value = float("nan")
    problem.solve()


def again(use: Callable[[Any], Any]) -> Run:
    """Return a run whose problem is solved within itself."""

    def run() -> Any:
        part, held_here = block(), []
        pull = sa.force(part["x1"], (0, 0, lambda t: use(held_here) or t))
        problem = sa.StaticProblem(sa.System(part, terms=[sa.fix(part["x0"]), pull]))
        held_here.append(problem)
        problem.solve(step=0.5)
        return models.finite(problem.system.displacement(part["x1"]).mean(axis=0))

    return run


def inside(problems: list[Any]) -> None:
    """Solve a problem where it evaluates a load."""
    if problems and problems[0].system.time > 0.0:
        problems[0].solve()


def copied(copy_of: Callable[[Any], Any], make: Callable[[], Any]) -> Run:
    """Return a run that copies something and, where that works, uses the copy."""

    def run() -> Any:
        thing = make()
        spread = (
            isinstance(thing, sa.Mesh) and copy_of is COPIES["pickle"] and MPI.COMM_WORLD.size > 1
        )
        try:
            part = copy_of(thing)
        except sa.SymancfError:
            if spread:  # its ranks have a part each: refused, as the guide says
                return []
            raise
        if spread:
            raise Wrong("a part of a mesh of several ranks was pickled")
        if isinstance(part, sa.Parameter):
            return [part.value]
        if isinstance(part, sa.Body):
            return held(sa.gravity((0, 0, -1.0)), part=part)
        if isinstance(part, sa.StaticProblem):
            part.solve()
            return models.finite(part.system.displacement(part.system.bodies[0]["x1"]).mean(axis=0))
        if isinstance(part, sa.Mesh):
            return held(sa.gravity((0, 0, -1.0)), part=block(part))
        raise Wrong(f"a copy of {type(part).__name__}")

    return run


def problem() -> sa.StaticProblem:
    """Return a problem that has been solved."""
    part = block()
    made = sa.StaticProblem(sa.System(part, terms=[sa.fix(part["x0"]), sa.gravity((0, 0, -1.0))]))
    made.solve()
    return made


def threads(same: bool) -> Any:
    """Two threads that solve at once; the answer is that of one, or an error."""
    comm = MPI.COMM_WORLD
    problems = [problem()] * 2 if same else [problem(), problem()]
    errors: list[BaseException] = []

    def work(made: Any) -> None:
        try:
            for _ in range(5):
                made.solve(to=made.system.time + 1.0)
        except BaseException as error:
            errors.append(error)

    if comm.size > 1:  # messages of two threads would be mixed up: one thread that is not the first
        problems = problems[:1]
    running = [threading.Thread(target=work, args=(made,)) for made in problems]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    if errors:
        raise errors[0]
    return [
        models.finite(p.system.displacement(p.system.bodies[0]["x1"]).mean(axis=0))
        for p in problems[:1]
    ]


KINDS: dict[str, Callable[[Any], Any]] = {
    "read-only": lambda a: a.setflags(write=False) or a,
    "Fortran's order": np.asfortranarray,
    "big-endian": lambda a: a.astype(a.dtype.newbyteorder(">")),
    "single precision": lambda a: a.astype(np.float32) if a.dtype.kind == "f" else a,
    "short integers": lambda a: a.astype(np.int16) if a.dtype.kind == "i" else a,
    "unsigned": lambda a: a.astype(np.uint64) if a.dtype.kind == "i" else a,
    "objects": lambda a: a.astype(object),
    "every second row": lambda a: np.repeat(a, 2, axis=0)[::2],
    "backwards": lambda a: np.ascontiguousarray(a[::-1])[::-1],
    "masked": np.ma.masked_array,
    "lists": lambda a: a.tolist(),
    "tuples": lambda a: tuple(map(tuple, a)) if a.ndim > 1 else tuple(a),
    "long double": lambda a: a.astype(np.longdouble) if a.dtype.kind == "f" else a,
}
COPIES: dict[str, Callable[[Any], Any]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
}
THINGS: dict[str, Callable[[], Any]] = {
    "a parameter": lambda: sa.Parameter("p", 2.0),
    "a mesh": lambda: sa.Mesh.box((2.0, 1.0, 0.5), (2, 1, 1)),
    "a body": block,
    "a problem": problem,
}
HANDLES = ("a body", "a problem")  # with handles of one process
RIGHT: dict[str, Run] = {
    "a force": changed(lambda b, f: sa.force(b["x1"], f), LOAD),
    "a gravity": changed(lambda b, g: sa.gravity(g), LOAD),
    "a displacement": changed(lambda b, u: sa.fix(b["x1"], displacement=u), [0, 0, 0.1]),
    "a place": changed(lambda b, x: sa.force(b.at(x), (0, 0, 1.0)), [2.0, 0.5, 0.25]),
    "a number per place": changed(
        lambda b, k: sa.Potential(spring, b["x1"], k=k), [10.0, 20.0, 30.0, 40.0]
    ),
    "arrays of displacements": returned(lambda s: s[0].displacement(s[1]["x1"])),
    "arrays of positions": returned(lambda s: s[0].position(s[1]["x1"])),
    "arrays of reactions": returned(lambda s: s[2].reaction(s[0]).force),
    "points and cells": mesh_arrays,
    "buffers": buffers,
    "arguments changed": spoiled_arguments,
    "points warped in place": warped,
    "lists changed": lists,
    "after a monitor's error": after(_monitor),
    "after a load of nan": after(_nan),
}


def generate(chance: random.Random, count: int) -> Iterator[Case]:
    """Yield them in an order of chance."""
    every = [Case(f"{name}, changed", run, "right") for name, run in RIGHT.items()]
    every += [
        Case(f"arrays: {name}", kind(to), "right" if name != "objects" else "either")
        for name, to in KINDS.items()
    ]
    every += [
        Case(
            f"{how} of {what}",
            copied(to, make),
            "error" if what in HANDLES else "right",
            alike=(how, what) != ("pickle", "a mesh"),
        )
        for how, to in COPIES.items()
        for what, make in THINGS.items()
    ]
    every.append(Case("two systems", two_systems, "either"))
    every.append(Case("solved within itself", again(inside), "error"))
    every.append(Case("two threads, two problems", lambda: threads(False), "either"))
    every.append(Case("two threads, one problem", lambda: threads(True), alike=False))
    chance.shuffle(every)
    yield from every[:count]
