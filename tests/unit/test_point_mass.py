# SPDX-License-Identifier: BSD-3-Clause
"""Point masses beside closed forms, in space and in the plane, in other units and on ranks."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import ellipk

import symancf as sa
from tests.refusals import refused

G, L, M = 9.81, 0.8, 0.5
DOWN = {2: np.array([0.0, -1.0]), 3: np.array([0.3, -0.9, 0.5])}


def spring(r_a: Any, r_b: Any, *, k: Any, length: Any) -> Any:
    return k / 2 * ((r_a - r_b).norm() - length) ** 2


def padded(x: Any) -> Any:
    return np.append(x, np.zeros(3 - len(x)))


def down(n: int) -> Any:
    return DOWN[n] / np.linalg.norm(DOWN[n])


def pendulum(n: int, angle: float, unit: float = 1.0) -> tuple[Any, sa.PointMass]:
    """Return a mass on a rod, at rest at an angle from the vertical; `unit`: of length [1/m]."""
    d = down(n)
    across = np.array([-d[1], d[0], *d[2:] * 0.0])
    across /= np.linalg.norm(across)
    mass = sa.PointMass(M, unit * L * (d * math.cos(angle) + across * math.sin(angle)), name="bob")
    rod = sa.joints.distance(mass.centre, sa.ground.at((0, 0, 0)), unit * L, name="rod")
    return sa.System(mass, terms=[rod, sa.gravity(unit * G * padded(d))]), mass


@pytest.mark.parametrize("unit", [1.0, 1e3, 1e-6])
@pytest.mark.parametrize("n", [2, 3])
def test_frequency_of_a_mass_on_springs(n: int, unit: float) -> None:
    """Along a spring sqrt(k/m); across it sqrt(F/(m l)) of its tension."""
    k, rest, m = 300.0, 0.6 * unit, 2.0
    mass = sa.PointMass(m, unit * down(n))
    F = k * (unit - rest)
    hook = sa.Potential(spring, mass.centre, sa.ground.at((0, 0, 0)), k=k, length=rest)
    system = sa.System(mass, terms=[hook, sa.force(mass, F * down(n))])
    assert system._discrete.numbering.size == n
    sa.StaticProblem(system).solve()
    assert np.abs(mass.displacement(system)).max() < 1e-9 * unit
    omega = np.sort(sa.EigenProblem(system).solve(n).omega)
    wanted = [math.sqrt(F / (m * unit))] * (n - 1) + [math.sqrt(k / m)]
    assert omega == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("n", [2, 3])
def test_period_and_energy_of_a_pendulum(n: int) -> None:
    angle = 2.0
    period = 4.0 * math.sqrt(L / G) * ellipk(math.sin(angle / 2) ** 2)
    system, mass = pendulum(n, angle)
    start = mass.position(system)
    problem = sa.DynamicProblem(system, spectral_radius=1.0)
    problem.record("place", mass.centre)
    problem.record("rod", system.terms[0])
    history = problem.solve(to=period, step=period / 800)
    place = np.asarray(history["place"])
    assert np.abs(np.linalg.norm(place, axis=1) - L).max() < 1e-9
    assert np.abs(mass.position(system) - start).max() < 2e-3 * L  # turns there: of second order
    assert abs(problem.energies.drift) < 2e-5 * M * G * L
    force = np.linalg.norm(np.asarray(history["rod force"]), axis=1)
    assert force.max() == pytest.approx(M * G * (3 - 2 * math.cos(angle)), rel=5e-3)


def test_planes_and_units_change_nothing() -> None:
    """The same pendulum in a plane of space, in the plane z = 0, and in units of a micrometre."""
    steps = {"to": 0.3, "step": 5e-3}
    ends, iterations = [], []
    for n, unit in ((2, 1.0), (2, 1e6), (3, 1.0), (3, 1e6), (3, 1e-3)):
        system, mass = pendulum(n, 1.0, unit)
        iterations.append(sa.DynamicProblem(system).solve(**steps).iterations)
        d, x = padded(down(n)), mass.position(system) / unit
        ends.append((x @ d, np.linalg.norm(x - (x @ d) * d)))
    assert np.abs(np.array(ends) - ends[0]).max() < 1e-9
    assert len(set(iterations)) == 1


@pytest.mark.parametrize("n", [2, 3])
def test_a_projectile(n: int) -> None:
    """Generalized-alpha is exact for constant accelerations; an impulse of a force adds p/m."""
    v, x = np.array([3.0, 4.0, -1.0])[:n], np.array([0.2, 0.1, 0.4])[:n]
    mass = sa.PointMass(M, x, velocity=v)
    g = np.array([0.0, -10.0, 0.0])
    system = sa.System(mass, terms=[sa.gravity(g), sa.force(mass.centre, np.full(n, 0.25))])
    sa.DynamicProblem(system).solve(to=0.5, step=0.05)
    a = g[:n] + 0.25 / M
    assert mass.position(system)[:n] == pytest.approx(x + 0.5 * v + 0.125 * a, rel=1e-12)
    assert system.velocity(mass.centre)[0, :n] == pytest.approx(v + 0.5 * a, rel=1e-12)


@pytest.mark.parametrize("n", [2, 3])
def test_a_mass_at_rest_circles_in_a_frame_that_turns(n: int) -> None:
    omega, x = 3.0, np.array([0.4, 0.3, 0.2])[:n]
    velocity = np.array([omega * x[1], -omega * x[0], 0.0])[:n]
    mass = sa.PointMass(M, x, velocity=velocity)
    system = sa.System(mass, terms=[sa.rotating_frame((0.0, 0.0, omega))])
    sa.DynamicProblem(system).solve(to=0.5, step=5e-4)
    c, s = math.cos(omega * 0.5), math.sin(omega * 0.5)
    wanted = [c * x[0] + s * x[1], c * x[1] - s * x[0], *x[2:]]
    assert mass.position(system)[:n] == pytest.approx(wanted, abs=1e-6)


@pytest.mark.collective
def test_masses_do_as_rigid_bodies_on_springs_do() -> None:
    """A chain of five masses, and of balls that nothing turns; one is moved by a function."""

    def chain(make: Any) -> Any:
        bodies = [make((0.1 * k, 0.0, 0.0)) for k in range(5)]
        places = [body.centre for body in bodies]
        pairs = pairwise(places)
        terms: list[Any] = [sa.Potential(spring, a, b, k=200.0, length=0.09) for a, b in pairs]
        terms.append(sa.joints.spherical(places[0]))
        terms.append(sa.gravity((0.0, 0.0, -G)))
        lift: dict[str, Any] = {"displacement": lambda t: (0.0, 0.0, 0.2 * t * t)}
        support = sa.fix(bodies[-1], "position", **lift)
        system = sa.System(*bodies, terms=[*terms, support])
        sa.DynamicProblem(system).solve(to=0.05, step=5e-3)
        reaction = support.reaction(system)
        return np.array([system.position(place)[0] for place in places]), reaction.force

    mass = sa.RigidBody.sphere(0.02, rho=3000.0).mass
    points = chain(lambda x: sa.PointMass(mass, x))
    balls = chain(lambda x: sa.RigidBody.sphere(0.02, x, rho=3000.0))
    assert np.abs(points[0] - balls[0]).max() < 1e-9
    assert np.abs(points[1] - balls[1]).max() < 1e-5


def test_supports_of_single_coordinates() -> None:
    flat, deep = sa.PointMass(M, (0.3, 0.0)), sa.PointMass(M, (0.3, 0.0, 0.1))
    push = sa.fix(flat, "y", displacement=0.1), sa.fix(deep, ("x", "z"), displacement=(0.2, 0, 0))
    pull = [
        sa.Potential(spring, mass.centre, sa.ground.at((0, 0, 0)), k=100.0, length=0.4)
        for mass in (flat, deep)
    ]
    system = sa.System(flat, deep, terms=[*push, *pull])
    sa.StaticProblem(system).solve()
    assert np.linalg.norm(flat.position(system)) == pytest.approx(0.4)
    assert flat.position(system)[1:] == pytest.approx([0.1, 0.0])
    assert deep.position(system)[[0, 2]] == pytest.approx([0.5, 0.1])
    assert [str(term) for term in push] == [
        "fix:point mass: holds y",
        "fix:point mass: holds x and z",
    ]


@pytest.mark.collective
def test_a_mass_hung_on_a_cable_and_a_restart(shared_tmp_path: Path) -> None:
    """A joint between a cable's end and a mass; a saved motion goes on with the same bits."""
    rope = sa.Body(
        sa.Mesh.box((1.0,), (4,))["body"],
        sa.elements.ancf_cable,
        sa.energies.cable(),
        EA=1e3,
        EI=0.1,
        rho=10.0,
        A=1e-2,
    )
    mass = sa.PointMass(0.2, (1.0, 0.0, 0.0))
    tie = sa.joints.spherical(mass.centre, rope["x1"])
    terms = [tie, sa.joints.spherical(rope["x0"]), sa.gravity((0.0, 0.0, -G))]
    system = sa.System(rope, mass, terms=terms)
    problem = sa.DynamicProblem(system)
    problem.solve(to=0.01, step=2e-3)
    problem.save(shared_tmp_path / "state")
    problem.solve(to=0.02, step=2e-3)
    end = mass.position(system)
    assert np.abs(end - system.position(rope["x1"])[0]).max() < 1e-12
    problem.restore(shared_tmp_path / "state")
    problem.solve(to=0.02, step=2e-3)
    if system.comm.size == 1:
        assert (mass.position(system) == end).all()
    assert mass.position(system) == pytest.approx(end, abs=1e-10)


@pytest.mark.collective
def test_what_is_drawn() -> None:
    system, mass = pendulum(2, 0.5)
    samples = sa.sample(system, mass)
    count = system.comm.allreduce(len(samples.points))
    assert count == len(sa.RigidBody.sphere(1.0)._shape.points)
    if len(samples.points):
        arms = samples.points - np.append(mass.origin, 0.0)
        assert np.linalg.norm(arms, axis=1).max() == pytest.approx(0.04 * L)
    assert mass.name in sa.results(system)
    with refused(sa.SymancfError, asked="J"):
        sa.sample(system, mass, fields=["J"])


def test_what_is_refused() -> None:
    mass, flat = sa.PointMass(M, name="m"), sa.PointMass(M, (0.0, 0.0), name="f")
    for wrong in (0.0, -1.0, math.nan, (1.0, 2.0), None):
        with refused(sa.ParameterError, asked="mass"):
            sa.PointMass(wrong)  # type: ignore[arg-type]
    with refused(sa.ParameterError, asked="position", possible=(2, 3)):
        sa.PointMass(M, (1.0, 2.0, 3.0, 4.0))
    with refused(sa.ParameterError, asked="velocity", possible=(2,)):
        sa.PointMass(M, (1.0, 2.0), velocity=(1.0, 0.0, 0.0))
    with refused(sa.ConstraintError, asked="place", given=str(mass.centre), possible=()):
        sa.System(mass, terms=[sa.joints.revolute(mass.centre, axis=(0, 0, 1))])
    with refused(sa.ConstraintError, asked="place", given=repr(mass)):
        sa.joints.spherical(mass)  # type: ignore[arg-type]
    with refused(sa.KinematicsError, asked="phi_a"):
        sa.Potential(lambda phi_a: phi_a**2, flat.centre)
    with refused(sa.ParameterError, asked="gradient"):
        sa.fix(mass, gradient=np.zeros((3, 3)))
    with refused(sa.ParameterError, asked="dofs", given="theta"):
        sa.fix(flat, "theta")
    with refused(sa.ParameterError, asked="surface"):
        sa.Contact(mass, sa.Plane((0, 0, 0), normal=(0, 0, 1)), stiffness=1.0)  # type: ignore[arg-type]
    with refused(sa.ParameterError, asked="omega"):
        sa.System(flat, terms=[sa.rotating_frame((1.0, 0.0, 0.0))])
