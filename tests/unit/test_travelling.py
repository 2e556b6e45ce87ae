# SPDX-License-Identifier: BSD-3-Clause
"""Places that travel over a body."""

from __future__ import annotations

import gc
import math
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp

import symancf as sa
from symancf.energies import cable, kirchhoff
from tests.lines import CABLE, THIN, Array, rope
from tests.refusals import refused

L, EI, F, SPEED = 1.0, 1.0, 1e-3, 0.7


def series(t: Array, terms: int = 60) -> Array:
    """Middle of a simply supported beam of unit mass under a force that travels (Fryba, 1972)."""
    k = np.arange(1, terms)[:, None]
    own, forced = (k * np.pi) ** 2 * np.sqrt(EI), k * np.pi * SPEED / L
    swing = np.sin(forced * t) - forced / own * np.sin(own * t)
    return (np.sin(k * np.pi / 2) * 2.0 * F / (own**2 - forced**2) * swing).sum(axis=0)


def beam(n: int) -> sa.Body:
    """A straight beam."""
    mesh = sa.Mesh.box((L,), (n,))
    given = {"EA": 1e4, "EI": EI, "rho": 1e3, "A": 1e-3}
    return sa.Body(mesh["body"], CABLE, cable(), name="beam", **given)


def test_a_force_that_travels_moves_a_beam_as_the_modal_series_says() -> None:
    errors = []
    for step in (0.01, 0.005):
        body = beam(8)
        place, middle = body.at(lambda t: (SPEED * t, 0.0, 0.0)), body.at((L / 2, 0.0, 0.0))
        held = [sa.fix(body[end], "position") for end in ("x0", "x1")]
        system = sa.System(body, terms=[*held, sa.force(place, (0.0, 0.0, -F))])
        problem = sa.DynamicProblem(system, spectral_radius=0.9)
        problem.record("middle", middle)
        problem.solve(to=1.0, step=step)
        found = problem.history["middle"].reshape(-1, 3)[:, 2]
        exact = series(np.asarray(problem.history.time))
        errors.append(np.abs(found + exact).max() / np.abs(exact).max())
        assert problem._newton.tangent.renewals < 5  # a dead force has no tangent, wherever it acts
        assert abs(problem.energies.drift) < 1e-3 * problem.energies.work
    assert errors[0] < 5e-3
    assert errors[1] < 0.6 * errors[0]


def test_a_force_that_travels_over_a_plate_moves_it_as_the_double_series_says() -> None:
    t, E, nu, rho, speed, y = 0.01, 1e6, 0.3, 100.0, 0.5, 0.4
    own = np.sqrt(E * t**3 / 12.0 / (1.0 - nu**2) / (rho * t))
    errors = []
    for n in (4, 8):
        mesh = sa.Mesh.box((1.0, 1.0), (n, n))
        given = {"E": E, "nu": nu, "rho": rho, "thickness": t}
        plate = sa.Body(mesh["body"], THIN, kirchhoff(), name="plate", **given)
        held = [sa.fix(plate[e], ["position", "slope_along"]) for e in ("x0", "x1", "y0", "y1")]
        place = plate.at(lambda time: (speed * time, y, 0.0))  # along no edge of cells, over all
        system = sa.System(plate, terms=[*held, sa.force(place, (0.0, 0.0, -1e-5))])
        problem = sa.DynamicProblem(system, spectral_radius=0.9)
        problem.record("middle", plate.at((0.5, 0.5, 0.0)))
        problem.solve(to=2.0, step=0.02)
        time, exact = np.asarray(problem.history.time), 0.0
        for i, j in np.argwhere(np.ones((19, 19))) + 1:
            w, v = np.pi**2 * (i**2 + j**2) * own, i * np.pi * speed
            shape = np.sin(i * np.pi / 2) * np.sin(j * np.pi / 2) * np.sin(j * np.pi * y)
            swing = (np.sin(v * time) - v / w * np.sin(w * time)) / (w**2 - v**2)
            exact = exact + 4e-5 / (rho * t) * shape * swing
        found = problem.history["middle"].reshape(-1, 3)[:, 2]
        errors.append(np.abs(found + exact).max() / np.abs(exact).max())
    assert errors[1] < 0.035
    assert errors[1] < 0.35 * errors[0]  # the order of the element


def test_a_hundred_revisions_take_no_memory() -> None:
    mesh = sa.Mesh.box((1.0, 1.0), (9, 9))
    given = {"E": 1e6, "nu": 0.3, "thickness": 0.01}
    plate = sa.Body(mesh["body"], THIN, kirchhoff(), name="plate", **given)
    mass = sa.RigidBody(position=(0.5, 0.5, 0.0), mass=1.0, inertia=(1e-3,) * 3)
    place = plate.at(lambda t: (0.5 + 0.4 * np.sin(t), 0.5 + 0.4 * np.cos(3.0 * t), 0.0))
    on_it = sa.Constraint(on, mass.at((0.0, 0.0, 0.0)), place, name="on")
    system = sa.System(plate, mass, terms=[sa.fix(plate["x0"]), on_it])
    taken, patterns = [], system._discrete.matrix.revision
    for count in (70, 10, 30):
        for k in range(count):
            system._discrete.revise(float(k))
        gc.collect()
        taken.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.start()
    tracemalloc.stop()
    assert (
        system._discrete.matrix.revision > patterns + 100
    )  # most of them with a pattern of its own
    # a vector left behind in each of the last thirty would be thirty of them, a matrix much more
    assert taken[2] - taken[1] < 8 * system.state.nbytes


@pytest.mark.parametrize("method", ["generalized-alpha", "rk"])
def test_a_place_that_travels_at_once_is_a_fixed_one(method: str) -> None:
    found = []
    for where in ((0.3, 0.0, 0.0), lambda t: (0.3, 0.0, 0.0) if t else (0.71, 0.0, 0.0)):
        body = rope(4)
        terms = [sa.fix(body["x0"]), sa.force(body.at(where), (0.0, 0.0, -1.0))]
        system = sa.System(body, terms=terms)
        system.time = 1.0
        problem = sa.DynamicProblem(system, method=method)
        problem.solve(to=1.02, step=0.01)
        found.append(system.state.copy())
    assert np.abs(found[0]).max() > 1e-6
    assert np.abs(found[1] - found[0]).max() <= 1e-12 * np.abs(found[0]).max()


def test_what_a_place_that_travels_cannot_do() -> None:
    body = rope(4)
    place = body.at(lambda t: (0.1 + 0.5 * t, 0.0, 0.0))
    mass = sa.RigidBody(position=(0.1, 0.0, 0.0), mass=1.0, inertia=(1e-3,) * 3)
    on = sa.Constraint(lambda r_a, r_b: r_a - r_b, mass.at((0.0, 0.0, 0.0)), place, name="on")
    system = sa.System(body, mass, terms=[sa.fix(body["x0"]), on])
    with refused(sa.ParameterError, asked="parameter", given="time"):
        sa.StaticProblem(system, check_held=False).follow("time", to=1.0)
    with refused(sa.ConstraintError, asked="place", given=str(place)):
        place.resolve(system._discrete.layout)
    with refused(sa.KinematicsError, asked="force", given="-c*v_a1"):
        sa.VirtualWork(lambda v_a, *, c: {v_a: -c * v_a}, place, c=1.0)
    offered = ("r_a", "u_a", "v_a", "rs_a", "s_a", "ds_a")
    with refused(sa.KinematicsError, asked="e1_a", possible=offered):
        sa.Potential(lambda e1_a: e1_a[0], body.sliding((0.1, 0.0, 0.0)))
    with refused(sa.ParameterError, asked="velocity", given=str(place)):
        system.velocity(place)
    with refused(sa.ConstraintError, asked="place", names=("on",)):
        sa.DynamicProblem(system).solve(to=1.0, step=0.1)


# ---- places that slide ---------------------------------------------------------------------------
def on(r_a: Any, r_b: Any) -> Any:
    """Two places are one."""
    return r_a - r_b


def upright(e1_a: Any, e2_a: Any) -> Any:
    """Axes keep their direction."""
    return [e1_a[1], e1_a[2], e2_a[2]]


def bead(cord: sa.Body, at: float, *terms: Any) -> tuple[sa.System, Any]:
    """A mass on a cable along x, and its place there."""
    place = cord.sliding((at, 0.0, 0.0))
    mass = sa.RigidBody(position=(at, 0.0, 0.0), mass=0.3, inertia=(1e-4,) * 3, name="bead")
    origin = mass.at((0.0, 0.0, 0.0))
    joints = [sa.Constraint(on, origin, place, name="on"), sa.Constraint(upright, origin)]
    return sa.System(cord, mass, terms=[*joints, *(term(mass, place) for term in terms)]), place


@pytest.mark.parametrize("method", ["generalized-alpha", "rk"])
def test_a_bead_falls_along_a_rigid_wire_through_four_cells(method: str) -> None:
    cord = rope(6)
    held, weight = sa.fix(cord["body"]), sa.gravity((1.0, 0.0, -9.0))
    system, place = bead(cord, 0.13, lambda *_: held, lambda *_: weight)
    problem = sa.DynamicProblem(system, method=method)
    problem.solve(to=1.0, step=0.05)
    assert abs(place.slid(system)[0] - 0.5) < 1e-10  # g t^2 / 2
    assert np.abs(system.position(place) - [[0.63, 0.0, 0.0]]).max() < 1e-10
    assert np.abs(system.velocity(place) - [[1.0, 0.0, 0.0]]).max() < 1e-9
    assert abs(problem.energies.drift) < 1e-10


def test_a_wheel_that_is_driven_along_a_cable_carries_the_weight_that_travels() -> None:
    found = []
    for travels in (True, False):
        body = beam(6)
        held = [sa.fix(body[end], "position") for end in ("x0", "x1")]
        place = (
            body.at(lambda t: (0.1 + 0.8 * t, 0.0, 0.0)) if travels else body.sliding((0.1, 0, 0))
        )
        terms = [*held, sa.force(place, (0.0, 0.0, -0.1))]
        if not travels:
            terms.append(sa.Constraint(lambda s_a, *, d: s_a - d, place, d=lambda t: 0.8 * t))
        system = sa.System(body, terms=terms)
        problem = sa.StaticProblem(system, options={"snes_rtol": 1e-12})
        course = []
        for time in np.linspace(0.1, 1.0, 7):
            problem.solve(to=float(time))
            course.append(system.position(place)[0])
        found.append(np.array(course))
    assert np.abs(found[0][:, 2]).min() > 1e-5
    assert np.abs(found[1] - found[0]).max() < 1e-11


def test_a_bead_on_a_cable_that_is_pulled_comes_to_the_middle_by_symmetry() -> None:
    cord, k = rope(12, EA=100.0, EI=0.05), sa.Parameter("k", 100.0)
    held = sa.fix(cord["x0"], "position")

    def move(t: float) -> tuple[float, float, float]:
        return -0.15 * min(t, 1.0), 0.0, 0.3 * max(0.0, t - 1.0)

    pulled = sa.fix(cord["x1"], "position", displacement=move)
    system, place = bead(
        cord,
        0.45,
        lambda *_: held,
        lambda *_: pulled,
        lambda mass, _: sa.gravity((0.0, 0.0, -9.81), mass),
        lambda _, place: sa.Potential(lambda s_a, *, k: k / 2 * s_a**2, place, name="hold", k=k),
    )
    problem = sa.StaticProblem(system, options={"snes_rtol": 1e-11}, check_held=False)
    problem.solve(to=1.0, step=0.25)
    for stiffness in (10.0, 1.0, 0.0):
        k.value = stiffness
        problem.solve(to=1.0)
    assert abs(place.slid(system)[0] - 0.05) < 1e-9  # from 0.45 to a node, where cells meet
    before = system._discrete.matrix.revision
    problem.solve(to=2.0, step=0.1)  # the other end rises: the bead goes down past several nodes
    assert place.slid(system)[0] < -0.1
    assert before < system._discrete.matrix.revision < before + 5


def test_a_bead_is_followed_past_nodes_along_a_path() -> None:
    ways = []
    for follows in (False, True):
        pull = sa.Parameter("pull", 0.0)
        cord = rope(12, EA=100.0, EI=0.05)
        held = [sa.fix(cord["x0"], "position"), sa.fix(cord["x1"], "position")]
        weight = sa.gravity((0.0, 0.0, -9.81))
        system, place = bead(
            cord,
            0.45,
            *(lambda *_, term=term: term for term in (*held, weight)),
            lambda _, place: sa.Potential(lambda s_a: 5.0 * s_a**2, place, name="hold"),
            lambda mass, _, pull=pull: sa.force(mass, (pull, 0.0, 0.0)),
        )
        problem = sa.StaticProblem(system, options={"snes_rtol": 1e-11}, check_held=False)
        problem.solve(to=1.0)
        if follows:
            problem.follow(pull, to=3.0, step=0.5)
        else:
            for force in np.linspace(0.0, 3.0, 13):
                pull.value = force
                problem.solve(to=1.0)
        ways.append(float(place.slid(system)[0]))
    assert ways[0] > 0.15  # past nodes at 0.5 and 0.583
    assert abs(ways[1] - ways[0]) < 1e-9


def test_a_wheel_rolls_down_a_cable() -> None:
    """Its own rotation included: a = g sin(slope)/(1 + J/(m R^2)), over a joint of two cells."""
    R, m, g, slope, time = 0.05, 2.0, 9.81, 0.3, 0.3
    J = m * R**2 / 2
    region = sa.Mesh.box((1.0,), (6,))["body"]
    given = {"EA": 1e6, "EI": 1e4, "rho": 1e3, "A": 1e-3}
    rail = sa.Body(region, sa.elements.ancf_cable, sa.energies.cable(), **given)
    foot = rail.sliding((0.3, 0, 0))
    wheel = sa.PlanarBody(position=(0.3, R, 0.0), mass=m, inertia=J)
    hub = wheel.at((0, 0))

    def touches(r_a: Any, r_b: Any, rs_b: Any, *, R: sp.Expr) -> list[sp.Expr]:
        t, d = rs_b / sp.sqrt(rs_b.dot(rs_b)), r_a - r_b
        return [d.dot(t), d[1] * t[0] - d[0] * t[1] - R]

    def rolls(theta_a: sp.Expr, s_b: sp.Expr, *, R: sp.Expr) -> sp.Expr:
        return s_b + R * theta_a

    terms = [
        sa.fix(rail["body"]),
        *(sa.Constraint(law, hub, foot, R=R) for law in (touches, rolls)),
    ]
    weight = sa.gravity((g * math.sin(slope), -g * math.cos(slope), 0.0))
    system = sa.System(rail, wheel, terms=[*terms, weight])
    sa.DynamicProblem(system, prefix="rolling_").solve(to=time, step=0.02)
    way = g * math.sin(slope) / (1.0 + J / (m * R**2)) * time**2 / 2
    assert foot.slid(system) == pytest.approx([way], rel=1e-6)
    assert wheel.position(system) == pytest.approx([0.3 + way, R, -way / R], rel=1e-6)


@pytest.mark.parametrize("slides", [True, False])
def test_a_state_leads_to_the_same_places(slides: bool, tmp_path: Path) -> None:
    """Over several joints of cells: kept, and from a file in another system, the same bits."""

    def made() -> tuple[sa.System, sa.DynamicProblem]:
        cord = rope(12, EA=100.0, EI=0.05)
        held = [sa.fix(cord[end], "position") for end in ("x0", "x1")]
        weight = sa.gravity((1.0, 0.0, -9.0))
        if slides:
            terms = [lambda *_, term=term: term for term in (*held, weight)]
            system, _ = bead(cord, 0.13, *terms)
        else:
            force = sa.force(cord.at(lambda t: (0.1 + t * t, 0.0, 0.0)), (0.0, 0.0, -1.0))
            system = sa.System(cord, terms=[*held, weight, force])
        return system, sa.DynamicProblem(system)

    _, problem = made()
    problem.solve(to=0.3, step=0.02)
    there = problem.state
    problem.save(tmp_path / "there.h5")
    problem.solve(to=0.7, step=0.02)
    ended = problem.state
    (before,), (after,) = there.active, ended.active
    number = "1" if slides else "0"
    assert (before[f"{number} vertices"] != after[f"{number} vertices"]).any()
    for same, start in ((problem, there), (made()[1], tmp_path / "there.h5")):
        same.restore(start)
        same.solve(to=0.7, step=0.02)
        np.testing.assert_array_equal(same.state.displacement, ended.displacement)
