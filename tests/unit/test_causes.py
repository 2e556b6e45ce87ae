# SPDX-License-Identifier: BSD-3-Clause
"""A failure of Newton's method names its likely causes, each with a line to write.

Each cause has a model where it is the cause. Among the causes of all other models it is not.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mpi4py import MPI

import symancf as sa
from symancf.solve import causes as table
from tests.refusals import refused

LAW: dict[str, Any] = {"mu": 1.0, "lam": 2.0}


def cube(n: int = 1, element: Any = None, energy: Any = None, **given: Any) -> sa.Body:
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (n, n, n))
    law = energy or sa.energies.neo_hooke()
    given = given or LAW
    return sa.Body(mesh["body"], element or sa.elements.hex8_plain, law, name="cube", **given)


def statics(*terms: Any, body: sa.Body, check: bool = True, **options: Any) -> sa.StaticProblem:
    system = sa.System(body, terms=list(terms))
    return sa.StaticProblem(system, check_held=check, options=options)


def units() -> Callable[[], object]:
    """MPa are given where lengths are in metres: the load is far too large."""
    mesh = sa.Mesh.box((1.0, 0.1, 0.1), (2, 1, 1))
    part = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.neo_hooke(), **LAW)
    load = sa.traction(part["x1"], lambda t: (0.0, 0.0, -1e9 * t))
    problem = statics(sa.fix(part["x0"]), load, body=part)
    return lambda: problem.solve(smallest=1.0 / 64.0)


def jump() -> Callable[[], object]:
    part = cube(2)
    pull = sa.fix(part["x1"], displacement=(lambda t: -2.0 * (t > 0.5), 0.0, 0.0))
    load = sa.traction(part["y1"], (0.0, 0.0, 1e-6))  # before the supports
    problem = statics(load, sa.fix(part["x0"]), pull, body=part)
    return lambda: problem.solve(step=0.25)


def cells() -> Callable[[], object]:
    """A block is pressed to nothing."""
    part = cube(2)
    press = sa.fix(part["x1"], displacement=(lambda t: -1.2 * t, 0.0, 0.0))
    problem = statics(sa.fix(part["x0"]), press, body=part)
    return lambda: problem.solve(step=0.25)


def law() -> Callable[[], object]:
    """A spring that has an end."""
    part = cube()

    def chain(u_a: Any, *, s: float) -> Any:
        from sympy import log

        return -s * log(0.2 - u_a[0])

    ends = [sa.Potential(chain, part.at((1.0, y, z)), s=1e-3) for y in (0, 1) for z in (0, 1)]
    pull = sa.fix(part["x1"], ["x"], displacement=(lambda t: 0.4 * t, 0.0, 0.0))
    problem = statics(sa.fix(part["x0"]), pull, *ends, body=part)
    return lambda: problem.solve(step=0.25)


def end_of_law() -> Callable[[], object]:
    """A rubber whose chains are straight at a stretch of about 1.4."""
    part = cube(1, None, sa.energies.gent(), mu=1.0, Jm=0.5, k=100.0)
    pull = sa.fix(part["x1"], ["x"], displacement=(lambda t: 1.5 * t, 0.0, 0.0))
    sides = [sa.fix(part[f"{axis}0"], axis) for axis in "xyz"]
    return statics(*sides, pull, body=part).solve


def material() -> Callable[[], object]:
    """A law for small strains is pressed to nothing."""
    part = cube(2, None, sa.energies.saint_venant_kirchhoff(), E=1.0, nu=0.3)
    press = sa.fix(part["x1"], displacement=(lambda t: -1.2 * t, 0.0, 0.0))
    problem = statics(sa.fix(part["x0"]), press, body=part)
    return lambda: problem.solve(step=0.25)


def at_rest() -> Callable[[], object]:
    part = cube()

    def root(u_a: Any, *, s: float) -> Any:
        from sympy import sqrt

        return s * sqrt(u_a[0])

    pull = sa.Potential(root, part.at((1.0, 1.0, 1.0)), s=1.0)
    return statics(sa.fix(part["x0"]), pull, body=part).solve


def volume(k: float = 1e14) -> Callable[[], object]:
    part = cube(2, sa.elements.hex8, sa.energies.yeoh(), C10=1.0, C20=-0.1, C30=0.1, k=k)
    pull = sa.traction(part["x1"], lambda t: (t, 0.0, 0.0))
    problem = statics(sa.fix(part["x0"]), pull, body=part, pc_type="lu", snes_max_it=3)
    return lambda: problem.solve(smallest=1.0)


def free() -> Callable[[], object]:
    part = cube()
    load = sa.traction(part["x1"], (0.0, 0.1, 0.0))
    hold = sa.fix(part["x0"], ["x"])
    return statics(hold, load, body=part, check=False, pc_type="lu").solve


def limit() -> Callable[[], object]:
    """A flat truss of two springs snaps through."""
    apex = sa.PlanarBody(position=(0.0, 0.1), name="apex")

    def bar(r_a: Any, *, x: float) -> Any:
        from sympy import sqrt

        return 0.5 * (sqrt((r_a[0] - x) ** 2 + r_a[1] ** 2) - math.hypot(1.0, 0.1)) ** 2

    at = apex.at((0.0, 0.0))
    bars = [sa.Potential(bar, at, x=x, name=f"bar {x}") for x in (-1.0, 1.0)]
    load = sa.force(at, (0.0, lambda t: -1e-3 * t))
    system = sa.System(apex, terms=[*bars, load, sa.fix(apex, ["x", "theta"])])
    problem = sa.StaticProblem(system)
    return lambda: problem.solve(step=0.1)


def steps() -> Callable[[], object]:
    """A cantilever that is bent far in one step, which must not be cut."""
    mesh = sa.Mesh.box((1.0,), (8,))
    rod = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), EA=1e6, EI=1.0)
    load = sa.force(rod["x1"], (0.0, lambda t: 300.0 * t, 0.0))
    system = sa.System(rod, terms=[sa.fix(rod["x0"]), load])
    problem = sa.StaticProblem(system, options={"snes_max_it": 16})
    return lambda: problem.solve(smallest=1.0)


def iterations() -> Callable[[], object]:
    part = cube()
    load = sa.traction(part["x1"], lambda t: (0.0, 0.0, 0.3 * t))
    return statics(sa.fix(part["x0"]), load, body=part, snes_max_it=1).solve


def constraints() -> Callable[[], object]:
    """The length of a straight line between fixed ends is kept: both say the same."""
    mesh = sa.Mesh.box((1.0,), (6,))
    law: dict[str, Any] = {"EA": 1e4, "EI": 1.0, "A": 1.0, "rho": 1.0}
    rope = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), **law)
    line = sa.length(rope["body"], per="line", name="kept")
    ends = [sa.fix(rope[side], "position") for side in ("x0", "x1")]
    terms = [*ends, sa.planar(rope, "y"), sa.gravity((0.0, 0.0, -9.81)), line]
    return sa.StaticProblem(sa.System(rope, terms=terms)).solve


def contact() -> Callable[[], object]:
    """What touches already is pressed on, with too few iterations for it."""
    part = cube(2)
    floor = sa.Plane((0.0, 0.0, 0.01))
    touch = sa.Contact(part["z0"], floor, name="stand", initial="press")
    push = sa.fix(part["z1"], displacement=(0.0, 0.0, lambda t: -0.5 * t))
    problem = statics(touch, push, body=part, snes_max_it=2)
    return lambda: problem.solve(smallest=0.6)


def motion() -> sa.System:
    part = cube(rho=1.0, **LAW)

    def snap(u_a: Any, *, s: float) -> Any:  # its force has no value beyond u = 0.01
        from sympy import sqrt

        return -s * sqrt(0.01 - u_a[2])

    end = sa.Potential(snap, part.at((1.0, 1.0, 1.0)), s=1e-3, name="snap")
    return sa.System(part, terms=[sa.fix(part["x0"]), sa.gravity((0.0, 0.0, 1.0)), end])


def time_step() -> Callable[[], object]:
    problem = sa.DynamicProblem(motion())
    return lambda: problem.solve(to=1.0, step=0.05)


def explicit() -> Callable[[], object]:
    problem = sa.DynamicProblem(motion(), method="rk")
    return lambda: problem.solve(to=1.0, step=0.05, adaptive=False)


def inertia() -> Callable[[], object]:
    bob = sa.RigidBody(mass=1.0, centre=(0.2, 0.0, 0.0), name="bob")
    problem = sa.DynamicProblem(sa.System(bob, terms=[sa.gravity((0.0, 0.0, -1.0))]))
    return lambda: problem.solve(to=0.1, step=0.01)


def pressure() -> Callable[[], object]:
    """Displacements all around an incompressible body."""
    given: dict[str, Any] = {
        "C10": 1.0,
        "C20": 0.0,
        "C30": 0.0,
        "k": math.inf,
        "pressure": "discontinuous",
    }
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1), cell="hexahedron27")
    part = sa.Body(mesh["body"], sa.elements.hex27, sa.energies.yeoh(), **given)
    sides = [sa.fix(part[side]) for side in ("x0", "x1", "y0", "y1", "z0", "z1")]
    pull = sa.body_force(part["body"], (0.1, 0.0, 0.0))
    return statics(*sides, pull, body=part, check=False).solve


def zero_pivot() -> Callable[[], object]:
    """A cable without stiffness in bending between two joints is pushed across."""
    mesh = sa.Mesh.box((1.0,), (4,))
    rope = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), EA=1e3, EI=0.0)
    ends = [sa.fix(rope[side], "position") for side in ("x0", "x1")]
    push = sa.force(rope.at((0.5, 0.0, 0.0)), (0.0, 0.0, -1.0))
    return sa.StaticProblem(sa.System(rope, terms=[*ends, push]), check_held=False).solve


def flat_cells() -> Callable[[], object]:
    part, pressed = cube(2), sa.Parameter("pressed", 0.0)
    press = sa.fix(part["x1"], displacement=(pressed, 0.0, 0.0))
    problem = statics(sa.fix(part["x0"]), press, body=part)
    return lambda: problem.follow(pressed, to=-1.2)


def truss(to: float, **given: Any) -> Callable[[], object]:
    """The path of a flat truss is followed to a load at which it does not arrive."""
    apex, pull = sa.PlanarBody(position=(0.0, 0.1), name="apex"), sa.Parameter("pull", 0.0)

    def bar(r_a: Any, *, x: float) -> Any:
        from sympy import sqrt

        return 0.5 * (sqrt((r_a[0] - x) ** 2 + r_a[1] ** 2) - math.hypot(1.0, 0.1)) ** 2

    at = apex.at((0.0, 0.0))
    bars = [sa.Potential(bar, at, x=x, name=f"bar {x}") for x in (-1.0, 1.0)]
    terms = [*bars, sa.force(at, (0.0, pull)), sa.fix(apex, ["x", "theta"])]
    problem = sa.StaticProblem(sa.System(apex, terms=terms))
    return lambda: problem.follow(pull, to=to, **given)


def cord() -> Callable[[], object]:
    """A winch pulls in more than there is between two places."""
    mass, feed = sa.PointMass(1.0, (1.0, 0.0, 0.0)), sa.winch(feed=lambda t: -1.2 * t)
    rope = sa.Tendon([sa.ground.at((0.0, 0.0, 0.0)), mass.centre], EA=1e2, start=feed)
    problem = sa.StaticProblem(sa.System(mass, terms=[rope, sa.fix(mass)]))
    return lambda: problem.solve(step=0.25)


CASES: dict[str, tuple[Callable[[], Callable[[], object]], list[str]]] = {
    "units": (units, ["units", "cells"]),
    "jump": (jump, ["jump", "cells"]),
    "cells": (cells, ["cells"]),
    "law": (law, ["law"]),
    "end of a law": (end_of_law, ["end of a law"]),
    "material": (material, ["material", "cells"]),
    "no value at rest": (at_rest, ["no value at rest"]),
    "zero pivot": (zero_pivot, ["zero pivot"]),
    "bulk modulus": (volume, ["bulk modulus"]),
    "free motion": (free, ["free motion"]),
    "constraints": (constraints, ["constraints"]),
    "pressure": (pressure, ["pressure"]),
    "contact": (contact, ["contact", "iterations", "step"]),
    "limit point": (limit, ["limit point"]),
    "step": (steps, ["step", "first step"]),
    "iterations": (iterations, ["iterations", "first step"]),
    "time step": (time_step, ["law", "time step"]),
    "explicit step": (explicit, ["explicit step", "cells"]),
    "inertia": (inertia, ["inertia"]),
    "cord": (cord, ["cord"]),
    "flat cells": (flat_cells, ["flat cells", "corner of a path"]),
    "direction of a path": (lambda: truss(-1.0, direction=1), ["direction of a path"]),
    "steps of a path": (lambda: truss(-1.0, steps=3), ["steps of a path"]),
}
ELSEWHERE = {"soft place", "steep path"}  # tests.unit.test_branch


def failure(kind: str) -> sa.ConvergenceError:
    with refused(sa.ConvergenceError) as caught:
        CASES[kind][0]()()
    error = caught.value
    assert isinstance(error, sa.ConvergenceError)
    return error


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", CASES)
def test_a_cause_is_named_where_it_is_one_and_no_other_is(kind: str) -> None:
    error = failure(kind)
    assert [cause.kind for cause in error.causes] == CASES[kind][1]
    if kind == "jump":
        assert "x1'" in error.causes[0].sentence
    if kind == "end of a law":
        for word in ("gent()", "'cube'", "1 - y/Jm = 0", "cell 0"):
            assert word in error.causes[0].sentence
    for cause in error.causes:
        assert cause.sentence in str(error)
        assert cause.line in str(error)
        compile(cause.line, "line", "eval")
    assert pickle.loads(pickle.dumps(error)).causes == error.causes


def test_every_cause_has_a_model() -> None:
    named = {kind for _, kinds in CASES.values() for kind in kinds}
    assert {row.kind for row in table.TABLE} == named | ELSEWHERE


@pytest.mark.collective(rows=3)
@pytest.mark.parametrize(
    "kind", ["jump", "cells", "end of a law", "material", "free motion", "flat cells", "cord"]
)
def test_all_ranks_name_the_same(kind: str) -> None:
    error = failure(kind)
    every = MPI.COMM_WORLD.allgather((str(error), error.causes))
    assert all(other == every[0] for other in every)
    assert [cause.kind for cause in error.causes] == CASES[kind][1]


def test_a_test_that_fails_hides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The failure is told, and the other causes are."""

    def broken(failure: table.Failure) -> None:
        raise ZeroDivisionError

    rows = [row._replace(test=broken) if row.kind == "jump" else row for row in table.TABLE]
    monkeypatch.setattr(table, "TABLE", tuple(rows))
    assert [cause.kind for cause in failure("jump").causes] == ["cells"]


def test_the_state_is_the_last_equilibrium_and_one_may_go_on() -> None:
    part = cube(2)
    press = sa.fix(part["x1"], displacement=(lambda t: -1.2 * t, 0.0, 0.0))
    problem = statics(sa.fix(part["x0"]), press, body=part)
    with refused(sa.ConvergenceError):
        problem.solve(step=0.25)
    time, state = problem.system.time, problem.system.state.copy()
    assert 0.75 < time < 0.84
    history = problem.solve(to=0.5)
    assert len(history.steps) > 3
    assert np.isfinite(state).all()


@pytest.mark.parametrize(("k", "named"), [(6e5, False), (6e6, True)])
def test_a_bulk_modulus_of_a_million_shear_moduli_is_a_cause(k: float, named: bool) -> None:
    with refused(sa.ConvergenceError) as caught:
        volume(k)()
    assert isinstance(caught.value, sa.ConvergenceError)
    assert ("bulk modulus" in [cause.kind for cause in caught.value.causes]) == named
