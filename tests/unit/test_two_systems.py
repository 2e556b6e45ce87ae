# SPDX-License-Identifier: BSD-3-Clause
"""Bodies and terms that serve in two systems at once: each gives what objects of its own give."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from mpi4py import MPI

import symancf as sa
from tests.refusals import refused

pytestmark = pytest.mark.collective

EXACT = {"snes_rtol": 1e-12, "snes_atol": 1e-14}


def assert_same(found: list[Any], wanted: list[Any]) -> None:
    """Digit by digit on one rank; on more the order of sums in solvers is that of messages."""
    if MPI.COMM_WORLD.size == 1:
        assert found == wanted
    for x, y in zip(found, wanted, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-9 * np.abs(wanted[0]).max())


@dataclass
class Model:
    """Two arms in space on a hinge each, with a spring, a dashpot, a motor and a load."""

    c: sa.Parameter = field(default_factory=lambda: sa.Parameter("c", 0.1))

    def __post_init__(self) -> None:
        upper = sa.RigidBody.box((1.0, 0.1, 0.1), position=(0.5, 0.0, 0.0), rho=100.0, name="upper")
        lower = sa.RigidBody.box((1.0, 0.1, 0.1), position=(1.5, 0.0, 0.0), rho=50.0, name="lower")
        self.bodies = [upper, lower]
        elbow = upper.at((0.5, 0.0, 0.0)), lower.at((-0.5, 0.0, 0.0))
        axis = (0.0, 1.0, 0.0)
        tip, post = lower.at((0.5, 0.0, 0.0)), sa.ground.at((2.0, 0.5, 1.0))

        def spring(r_a: Any, r_b: Any, *, k: Any) -> Any:
            return k * (r_a - r_b).dot(r_a - r_b) / 2

        def dashpot(v_a: Any, *, c: Any) -> Any:
            return {v_a: -c * v_a}

        def lag(v_a: Any, r_a: Any, s: Any) -> Any:
            return {v_a[2]: s, "s": r_a[2] - s}

        self.shoulder = sa.joints.revolute(
            upper.at((-0.5, 0.0, 0.0)), sa.ground.at((0.0, 0.0, 0.0)), axis=axis, name="hinge"
        )
        self.elbow = sa.joints.revolute(*elbow, axis=axis, name="hinge")
        self.spring = sa.Potential(spring, tip, post, k=1000.0)
        self.lag = sa.VirtualWork(lag, tip, states="s")
        self.tip = tip
        self.terms = [
            self.shoulder,
            self.elbow,
            self.spring,
            sa.Potential(spring, elbow[0], post, k=300.0),
            sa.VirtualWork(dashpot, tip, dissipation=True, c=self.c),
            self.lag,
            sa.moment(upper, (0.0, lambda t: 3.0 * t, 0.0)),
            sa.force(tip, (0.0, 0.0, lambda t: -5.0 * t)),
            sa.gravity((0.0, 0.0, -9.81)),
        ]

    def system(self) -> sa.System:
        return sa.System(*self.bodies, terms=self.terms)

    def told(self, system: sa.System) -> list[Any]:
        """All that a user reads of a state."""
        found = self.elbow.reaction(system, "b")
        forces = [found.forces, found.moments, found.points, self.shoulder.multipliers(system)]
        read = [self.spring.values(system), self.lag.own_states(system), system.position(self.tip)]
        return [x.tolist() for x in (*forces, *read)] + [system.velocity(self.tip).tolist()]


def test_motions_of_the_same_objects_in_turn() -> None:
    """One has another parameter in its steps; digit by digit as alone."""
    values, times = (0.1, 30.0), (0.01, 0.02, 0.03)
    alone = []
    for c in values:
        model = Model(sa.Parameter("c", c))
        problem = sa.DynamicProblem(model.system(), spectral_radius=0.8, options=EXACT)
        alone.append([])
        for t in times:
            problem.solve(to=t, step=0.005)
            alone[-1].append(model.told(problem.system))
    assert alone[0][-1] != alone[1][-1]
    model = Model()
    problems = [
        sa.DynamicProblem(model.system(), spectral_radius=0.8, options=EXACT) for _ in values
    ]
    for k, t in enumerate(times):
        for number, (c, problem) in enumerate(zip(values, problems, strict=True)):
            model.c.value = c
            problem.solve(to=t, step=0.005)
            assert_same(model.told(problem.system), alone[number][k])
    for number, problem in enumerate(problems):  # the other one has moved on since
        assert_same(model.told(problem.system)[4:], alone[number][-1][4:])
        assert problem.system._discrete.name(model.shoulder) == "hinge"
        assert problem.system._discrete.name(model.elbow) == "hinge #2"
        assert model.elbow.name == "hinge"


def test_statics_of_the_same_objects_in_turn() -> None:
    alone, together = [], Model()
    systems = [together.system(), sa.System(*together.bodies, terms=together.terms[::-1])]
    for order in (1, -1):
        model = Model()
        system = sa.System(*model.bodies, terms=model.terms[::order])
        problem = sa.StaticProblem(system, options=EXACT)
        problem.solve(to=0.5)
        half = model.told(system)
        problem.solve(to=1.0)
        alone.append((half, model.told(system)))
    problems = [sa.StaticProblem(system, options=EXACT) for system in systems]
    for k, t in enumerate((0.5, 1.0)):
        for number, problem in enumerate(problems):
            problem.solve(to=t)
            assert_same(together.told(problem.system), alone[number][k])
    names = [[s._discrete.name(t) for t in (together.shoulder, together.elbow)] for s in systems]
    assert names == [["hinge", "hinge #2"], ["hinge #2", "hinge"]]


def test_the_plane() -> None:
    """Planar bodies with a load factor that one system releases."""

    def model() -> tuple[Any, ...]:
        arm = sa.PlanarBody(mass=1.0, inertia=0.1, name="arm")
        F = sa.Factor("push")
        hold = sa.joints.revolute(arm.at((0.0, 0.0)), sa.ground.at((0.0, 0.0)))
        push = sa.force(arm.at((1.0, 0.0)), (0.0, 1.0), factor=F)

        def spring(phi_a: Any, *, k: Any) -> Any:
            return k * phi_a**2 / 2

        bend = sa.Potential(spring, arm.at((0.0, 0.0)), k=3.0)
        turn = sa.displacement_control(
            arm.at((0.0, 0.0)), "theta", position=lambda t: 0.3 * t, release=F
        )
        return arm, F, [hold, push, bend, turn]

    arm, F, terms = model()
    first, second = sa.System(arm, terms=terms), sa.System(arm, terms=terms)
    for to, system in ((1.0, first), (0.5, second)):
        sa.StaticProblem(system, options=EXACT).solve(to=to)
    for to, system in ((1.0, first), (0.5, second)):
        own, G, given = model()
        alone = sa.System(own, terms=given)
        sa.StaticProblem(alone, options=EXACT).solve(to=to)
        assert F.value(system) == G.value(alone)
        assert F.value(system) == pytest.approx(3.0 * 0.3 * to / np.cos(0.3 * to), rel=1e-10)
        assert arm.position(system).tolist() == own.position(alone).tolist()


def test_what_is_not_in_a_system_is_refused() -> None:
    model, other = Model(), Model()
    system = model.system()
    for ask in (other.elbow.multipliers, other.elbow.reaction):
        with refused(sa.ParameterError, asked="system", given="hinge"):
            ask(system)
    with refused(sa.ParameterError, asked="system", given="spring"):
        other.spring.values(system)
    with refused(sa.ParameterError, asked="body", given="lower", possible=("upper", "lower")):
        system.position(other.tip)
    with refused(sa.ParameterError, asked="body", given="lower", possible=("upper",)):
        sa.System(model.bodies[0], terms=[model.elbow])
    assert np.isfinite(system.position(model.tip)).all()


def glued() -> tuple[list[Any], list[Any], Any]:
    """A plate and a rope on one head, half of the plate tied on, an edge of it inextensible."""
    thin, kirchhoff = sa.elements.ancf_thin_plate, sa.energies.kirchhoff()
    given = {"E": 1e5, "nu": 0.3, "thickness": 0.02, "rho": 10.0}

    def box(size: tuple[float, ...], cells: tuple[int, ...], x: float) -> Any:
        return sa.Mesh.box(size, cells, warp=lambda X: X + np.array([x, 0.0, 0.0]))["body"]

    left = sa.Body(box((1.0, 0.5), (2, 1), 0.0), thin, kirchhoff, name="left", **given)
    right = sa.Body(box((1.0, 0.5), (3, 2), 1.0), thin, kirchhoff, name="right", **given)
    rope = sa.Body(
        box((1.0,), (2,), 2.0),
        sa.elements.ancf_cable,
        sa.energies.cable(),
        name="rope",
        EA=100.0,
        EI=0.5,
        rho=100.0,
        A=1e-3,
    )
    head = sa.RigidBody.box((0.1, 0.5, 0.1), position=(2.0, 0.25, 0.0), rho=50.0, name="head")
    plate, wrist = (sa.joints.clamp(at, head) for at in (right["x1"], rope.at((2.0, 0.0, 0.0))))
    edge = sa.length(right["y0"], per="line")

    def pull(u_a: Any, *, k: Any) -> Any:
        return k * u_a.dot(u_a) / 2

    tip = rope.at((3.0, 0.0, 0.0))
    hold = sa.Potential(pull, rope["x1"], k=5.0)
    terms = [
        sa.fix(left["x0"]),
        sa.joints.tie(right["x0"], left),
        *(plate, wrist, edge, hold),
        sa.traction(left["body"], (0.0, 0.0, lambda t: -0.02 * t)),
        sa.moment(rope["x1"], (0.0, lambda t: 0.1 * t, 0.0)),
        sa.force(right["y1"], (0.0, 0.0, lambda t: 0.05 * t)),
        sa.KelvinVoigt(left, eta=1.0),
    ]

    def told(system: sa.System) -> list[Any]:
        found = [clamp.reaction(system) for clamp in (plate, wrist)]
        arrays = [x for r in found for x in (r.forces, r.moments)]
        arrays += [edge.lengths(system), edge.multipliers(system), hold.values(system)]
        arrays += [system.position(tip), system.position(right["x1"]), head.rotation(system)]
        return [x.tolist() for x in arrays]

    return [left, right, rope, head], terms, told


def test_bodies_that_are_glued_tied_and_kept() -> None:
    bodies, terms, told = glued()
    problems = [
        sa.DynamicProblem(sa.System(*bodies, terms=terms), spectral_radius=0.5, options=EXACT),
        sa.StaticProblem(sa.System(*bodies, terms=terms), options=EXACT),
    ]
    alone = []
    for kind in (sa.DynamicProblem, sa.StaticProblem):
        own, given, tell = glued()
        options: dict[str, Any] = {"spectral_radius": 0.5} if kind is sa.DynamicProblem else {}
        problem = kind(sa.System(*own, terms=given), options=EXACT, **options)
        alone.append([])
        for k in (1, 2):
            problem.solve(to=0.02 * k if options else 0.5 * k, step=0.01 if options else 0.5)
            alone[-1].append(tell(problem.system))
    assert np.abs(alone[1][1][0]).max() > 1e-4
    for k in (1, 2):
        problems[0].solve(to=0.02 * k, step=0.01)
        problems[1].solve(to=0.5 * k, step=0.5)
        assert_same(told(problems[0].system), alone[0][k - 1])
        assert_same(told(problems[1].system), alone[1][k - 1])


def test_a_contact_tells_of_deep_points_in_each_of_two_systems() -> None:
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (2, 2, 2))
    svk, given = sa.energies.saint_venant_kirchhoff(), {"E": 1e6, "nu": 0.3, "name": "block"}
    block = sa.Body(mesh["body"], sa.elements.hex8_plain, svk, **given)
    touch = sa.Contact(block["z0"], sa.Plane(), name="stand", stiffness=1e4)
    told = []
    for load in (2e4, 4e4):
        terms = [
            touch,
            sa.traction(block["z1"], (0.0, 0.0, -load)),
            sa.fix(block["z1"], ["x", "y"]),
        ]
        system = sa.System(block, terms=terms)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            sa.StaticProblem(system, check_held=False).solve()
        told.append(sum("penetration" in str(each.message) for each in seen))
    assert MPI.COMM_WORLD.bcast(told) == [1, 1]


def test_results_of_a_contact_that_is_in_another_system_are_refused() -> None:
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    svk, given = sa.energies.saint_venant_kirchhoff(), {"E": 1e6, "nu": 0.3}
    low, high = (sa.Body(mesh["body"], sa.elements.hex8_plain, svk, **given) for _ in range(2))
    system = sa.System(low)
    for touch in (
        sa.Contact(low["z0"], sa.Plane(), name="stand"),
        sa.Contact(low["z1"], high["z0"], name="stand"),
    ):
        asked = touch.force, touch.moment, touch.dissipated, touch.report, touch.status
        asked += touch.penetration_of, touch.clearance, touch.nodal, touch.pressure, touch.gap
        for ask in asked:
            with refused(sa.ParameterError, asked="system", given="stand"):
                ask(system)
            with refused(sa.ParameterError, asked="system", given=None):
                ask(None)


def test_a_place_is_found_once_in_each_system() -> None:
    link = sa.RigidBody.box((1.0, 0.1, 0.1), (0.5, 0.0, 0.0), rho=1.0, name="link")
    other = sa.RigidBody.sphere(0.1, (3.0, 0.0, 0.0), rho=1.0, name="other")
    tip = link.at((0.5, 0.0, 0.0))
    systems = sa.System(link), sa.System(other, link)
    for k, system in enumerate(systems):  # another number of the node in each
        np.testing.assert_array_equal(system.position(tip), [[1.0, 0.0, 0.0]])
        found = system._discrete.rows_of
        system._discrete.rows_of = pytest.fail  # type: ignore[method-assign,assignment]
        moved = 0.0
        for rows in found(tip, ["value"]):  # of the rank that has the node
            change = 0.25 * (k + 1) * rows.value * (rows.component == 2)
            system.state[rows.coordinate] += change
            moved += float(change @ rows.value)
        moved = MPI.COMM_WORLD.allreduce(moved)
        np.testing.assert_allclose(system.position(tip), [[1.0, 0.0, moved]], rtol=1e-15)
        system._discrete.rows_of = found  # type: ignore[method-assign]
    assert systems[0].position(tip)[0, 2] != systems[1].position(tip)[0, 2]
