# SPDX-License-Identifier: BSD-3-Clause
"""Tendons: friction in eyelets, slack, winches, and what they refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest
from mpi4py import MPI
from scipy.optimize import brentq

import symancf as sa
from symancf.extensions.view.surface import surface_of

pytestmark = pytest.mark.collective
TURNS = np.radians([30.0, 90.0, 60.0, 45.0])
A, H, KT = 0.03, 0.01, 0.05  # of the hinged arm


def polygon(lengths=(1.0, 0.5, 0.7, 0.4, 0.9)):
    """Return the corners of a line that turns by `TURNS`."""
    angle, points = np.append(0.0, np.cumsum(TURNS)), [np.zeros(3)]
    for a, length in zip(angle, lengths, strict=True):
        points.append(points[-1] + length * np.array([math.cos(a), math.sin(a), 0.0]))
    return np.array(points)


def rope(force, mu=0.25, EA=1e5):
    """Return a system of a cord through four fixed eyelets, and the cord."""
    points = polygon()
    mass = sa.PointMass(1.0, points[0])
    cord = sa.Tendon([mass.centre, sa.ground.at(points[1:])], EA=EA, mu=mu, end=force)
    return sa.System(mass, terms=[cord, sa.fix(mass)]), cord


@pytest.mark.collective(rows=0)
def test_cannot_push():
    """A force or a coefficient that becomes negative on the way is named, not what it ruins."""
    for force, mu, asked in ((lambda t: -t, 0.25, "force"), (1.0, sa.Parameter("mu", -0.1), "mu")):
        system, _ = rope(sa.winch(force=force), mu)
        with pytest.raises(sa.ParameterError, match="it must not be negative") as error:
            sa.StaticProblem(system).solve()
        assert error.value.asked == asked


@pytest.mark.parametrize("steps", [1, 10])
def test_rubs_by_the_equation_of_ropes(steps):
    """Loaded in one step and in ten, then unloaded: the reverse wave runs from the pulled end."""
    F = sa.Parameter("F")
    system, cord = rope(sa.winch(force=F))
    problem = sa.StaticProblem(system)
    for F.value in np.linspace(0.0, 100.0, steps + 1)[1:]:
        problem.solve()
    rest = np.append(np.cumsum(TURNS[::-1])[::-1], 0.0)
    loaded = 100.0 * np.exp(-0.25 * rest)
    np.testing.assert_allclose(cord.tensions(system), loaded, rtol=1e-10)
    rubbed = [0.0, cord.dissipated(system)]
    for F.value in (60.0, 20.0, 1.0):
        problem.solve()
        expected = np.minimum(loaded, F.value * np.exp(0.25 * rest))
        np.testing.assert_allclose(cord.tensions(system), expected, rtol=1e-9)
        rubbed.append(cord.dissipated(system))
    assert (np.diff(rubbed) > 0.0).all()  # however far it turns within a step
    np.testing.assert_allclose(cord.angles(system)[1:-1], TURNS, rtol=1e-12)


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("again", [False, True])
def test_is_pulled_again_from_no_tension(again):
    """Round-off of tensions and slips let no eyelet slip; in one problem, or in one each time."""
    F = sa.Parameter("F")
    system, cord = rope(sa.winch(force=F))
    problem = sa.StaticProblem(system)
    for F.value in (100.0, 60.0, 20.0, 1.0, 0.0, 50.0):
        problem = sa.StaticProblem(system) if again else problem
        problem.solve()
    expected = 50.0 * np.exp(-0.25 * np.append(np.cumsum(TURNS[::-1])[::-1], 0.0))
    np.testing.assert_allclose(cord.tensions(system), expected, rtol=1e-9)
    assert problem.history.steps[-1].iterations <= 6


def hinged(EA, feed):
    """Return an arm on a hinge with a spring, drawn by a tendon beside it."""
    import sympy as sp

    def coil(e1_a, e1_b, e3_b, *, kt):
        return kt / 2 * sp.atan2(e1_a.dot(e3_b), e1_a.dot(e1_b)) ** 2

    arm = sa.RigidBody.box((0.1, 0.01, 0.02), position=(0.05, 0.0, 0.0), rho=1e3, name="arm")
    hinge = sa.joints.revolute(arm.at((-0.05, 0.0, 0.0)), axis=(0, 1, 0))
    spring = sa.Potential(coil, arm.at((-0.05, 0.0, 0.0)), sa.ground, kt=KT)
    places = [sa.ground.at((-A, 0.0, H)), arm.at((A - 0.05, 0.0, H))]
    cord = sa.Tendon(places, EA=EA, start=sa.winch(feed=feed))
    return sa.System(arm, terms=[hinge, spring, cord]), cord, arm


def distance(theta):
    x = A * np.cos(theta) - H * np.sin(theta), A * np.sin(theta) + H * np.cos(theta)
    return np.hypot(x[0] + A, x[1] - H)


def turn(system, arm):
    e = np.diff([system.position(arm.at((x, 0.0, 0.0)))[0] for x in (-0.05, 0.05)], axis=0)[0]
    return math.atan2(e[2], e[0])


@pytest.mark.parametrize(("eyelets", "forces"), [(100, (1.0, 0.5)), (50, (1.0, 0.0, 1.0))])
@pytest.mark.parametrize("unit", [1.0, 1e3])
def test_reverses_over_many_eyelets_in_one_step(eyelets, forces, unit):
    """On 8 cells of a rod that bends by half a radian: tensions of ropes, friction reversed."""
    line = sa.Mesh.box((unit,), (8,), cell="line3")
    section = sa.Section.circle(6e-3 * unit).rod(E=1e7 / unit**2, nu=0.49, rho=1070.0)
    rod = sa.Body(line["body"], sa.elements.ancf_rod, sa.energies.rod(), **section)
    X = [(x * unit, 0.0, 0.0) for x in np.linspace(0.01, 1.0, eyelets)]
    force, mu = sa.Parameter("force", 0.0), 0.2
    places = [sa.eyelet(rod.at(X), (0.0, 5e-3 * unit))]
    cord = sa.Tendon(places, EA=2e4, mu=mu, start=sa.winch(force=force))
    system = sa.System(rod, terms=[sa.fix(rod["x0"]), cord])
    problem = sa.StaticProblem(system)
    for k, value in enumerate(forces):
        force.value = value
        problem.solve()
        growth = np.exp((-mu if k % 2 == 0 else mu) * cord.angles(system)[1:-1])
        T = cord.tensions(system)
        assert np.allclose(T[1:], growth * T[:-1], rtol=1e-8, atol=1e-9)
    assert problem.history.iterations <= 40  # 20 to 30, by the last bits


@pytest.mark.collective(rows=0)
def test_tells_that_one_that_does_not_stretch_has_no_tensions_where_it_sticks():
    force = sa.Parameter("force", 100.0)
    system, _ = rope(sa.winch(force=force), EA=math.inf)
    with pytest.raises(sa.ConvergenceError, match="does not stretch and rubs"):
        sa.StaticProblem(system).solve()


@pytest.mark.parametrize("EA", [500.0, math.inf])
def test_draws_an_arm_in_one_step(EA):
    """Drawn by 2, 5 and 10 mm, each in one step: the root of one equation in the angle."""
    feed = sa.Parameter("feed")
    system, cord, arm = hinged(EA, feed)
    problem = sa.StaticProblem(system)
    for drawn in (0.002, 0.005, 0.01):
        feed.value, length = -drawn, 2 * A - drawn

        def off(theta, length=length):
            slope = (distance(theta + 1e-6) - distance(theta - 1e-6)) / 2e-6
            pull = 0.0 if math.isinf(EA) else EA * (distance(theta) / length - 1.0)
            return distance(theta) - length if math.isinf(EA) else KT * theta + pull * slope

        problem.solve()
        assert turn(system, arm) == pytest.approx(brentq(off, 1e-9, 1.5, xtol=1e-14), rel=1e-9)
    assert cord.tensions(system)[0] > 0.0
    feed.value = 0.002
    problem.solve()
    assert cord.slack(system)
    assert cord.tensions(system)[0] == 0.0
    assert turn(system, arm) == pytest.approx(0.0, abs=1e-12)
    feed.value = -0.002
    problem.solve()
    assert not cord.slack(system)


def test_passes_solids_planar_bodies_and_masses():
    """Without friction a cord has one tension; its forces are in balance."""
    mesh = sa.Mesh.box((0.1, 0.1, 0.1), (1, 1, 1))
    block = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.neo_hooke(), mu=1e6, lam=2e6)
    disk = sa.PlanarBody((0.3, 0.1, 0.2), mass=1.0, inertia=0.01, name="disk")
    mass = sa.PointMass(1.0, (0.5, 0.0, 0.1))
    places = [block.at([(0.1, 0.0, 0.0), (0.1, 0.1, 0.1)]), disk.at((0.0, 0.05)), mass.centre]
    cord = sa.Tendon([*places, sa.ground.at((0.7, 0.0, 0.0))], EA=200.0, tension=3.0, name="cord")
    fixed = [sa.fix(block["x0"]), sa.fix(disk), sa.fix(mass)]
    system = sa.System(block, disk, mass, terms=[cord, *fixed])
    sa.StaticProblem(system).solve()
    T = cord.tensions(system)
    np.testing.assert_allclose(T, T[0], rtol=1e-10)
    assert 2.5 < T[0] < 3.0
    np.testing.assert_allclose(cord.forces(system).sum(axis=0), 0.0, atol=1e-12)
    natural = cord.lengths(system).sum()
    np.testing.assert_allclose(cord.length(system), natural * (1 + T[0] / 200.0), rtol=1e-10)
    np.testing.assert_allclose(np.diff(cord.slips(system)).sum(), 0.0, atol=1e-15)


def swinging():
    """Return a motion of an arm drawn over fixed eyelets by a motor, and the cord."""
    arm = sa.RigidBody.box((0.1, 0.01, 0.02), position=(0.05, 0.0, 0.0), rho=1e3, name="arm")
    hinge = sa.joints.revolute(arm.at((-0.05, 0.0, 0.0)), axis=(0, 1, 0))
    eyelets = sa.ground.at([(-0.2, 0.0, 0.05), (-0.1, 0.05, 0.05), (-0.05, 0.0, 0.05)])

    def motor(end):
        return sa.PID(lambda s_a: s_a, lambda ds_a: ds_a, end, kp=1e3, kd=2.0,
                      target=lambda t: 3e-3 * np.sin(10 * t) ** 2)  # fmt: skip

    cord = sa.Tendon(
        [eyelets, arm.at((-0.03, 0.0, 0.02))], EA=500.0, mu=0.2, start=sa.winch(motor=motor)
    )
    system = sa.System(arm, terms=[hinge, cord, sa.gravity((0.0, 0.0, -9.81))])
    return sa.DynamicProblem(system), system, cord


def test_moves_and_goes_on():
    """The energy that is lost is what rubs; a state is taken up in another problem."""
    problem, system, cord = swinging()
    problem.solve(to=0.1, step=1e-3)
    state = problem.state
    problem.solve(to=0.2, step=1e-3)
    assert cord.dissipated(system) > 1e-6
    assert abs(problem.energies.drift) < 0.02 * cord.dissipated(system)
    T, s = cord.tensions(system), cord.slips(system)
    again, other, same = swinging()
    again.restore(state)
    again.solve(to=0.2, step=1e-3)
    np.testing.assert_allclose(same.tensions(other), T, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(same.slips(other), s, rtol=1e-8)


@pytest.mark.parametrize("mu", [0.0, 0.2])
def test_has_factors_on_a_fixed_pattern(mu):
    """Tangents of a rod with eyelets are factored in memory that is found once."""
    line = sa.Mesh.box((0.1,), (8,), cell="line3")
    section = sa.Section.circle(6e-3).rod(E=1e6, nu=0.49, rho=1070.0)
    rod = sa.Body(line["body"], sa.elements.ancf_rod, sa.energies.rod(), **section)
    eyelets = sa.eyelet(rod.at([(x, 0.0, 0.0) for x in np.linspace(0.01, 0.1, 8)]), (0.0, 5e-3))
    cord = sa.Tendon([eyelets], EA=500.0, mu=mu, tension=0.05, start=sa.winch(force=0.05))
    problem = sa.DynamicProblem(sa.System(rod, terms=[cord, sa.fix(rod["x0"])]))
    problem.solve(to=1e-3, step=1e-4)
    fixed = problem._newton.preconditioner.fixed
    if fixed is not None:  # on one rank
        assert fixed.factored
        assert fixed.refusals == 0
    assert (cord.tensions(problem.system) > 0.0).all()


@pytest.mark.parametrize(
    ("cells", "mu", "most"), [(100, 0.0, 1.15), (100, 0.2, 2.3), (20, 0.0, 2.1), (20, 0.2, 4.2)]
)
def test_eyelets_fill_in_little(cells, mu, most):
    """100 eyelets on 100 and 20 cells: with friction L U, twice the operations of L D L^T."""
    operations = []
    for drawn in (False, True):
        line = sa.Mesh.box((1.0,), (cells,), cell="line3")
        section = sa.Section.circle(6e-3).rod(E=1e6, nu=0.49, rho=1070.0)
        rod = sa.Body(line["body"], sa.elements.ancf_rod, sa.energies.rod(), **section)
        eyelets = sa.eyelet(rod.at([(x, 0, 0) for x in np.linspace(0.01, 1.0, 100)]), (0.0, 5e-3))
        cord = sa.Tendon([eyelets], EA=2e4, mu=mu, tension=0.05, start=sa.winch(force=0.05))
        terms = [sa.fix(rod["x0"]), *[cord] * drawn]
        problem = sa.DynamicProblem(sa.System(rod, terms=terms))
        problem.solve(to=1e-3, step=1e-3)
        fixed = problem._newton.preconditioner.fixed
        if fixed is None:  # on several ranks
            return
        assert fixed.refusals == 0
        operations.append(fixed.factor.operations)
    assert operations[1] < most * operations[0]


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("force", [1.0, lambda t: min(t / 2e-3, 1.0)])
def test_is_drawn_from_rest_in_adaptive_steps(force):
    """A winch pulls a body without tension before: at once, and with a ramp of 2 ms."""
    arm = sa.RigidBody.box((0.1, 0.01, 0.02), position=(0.05, 0.0, 0.0), rho=1e3, name="arm")
    places = [sa.ground.at((-0.1, 0.0, 0.0)), arm.at((-0.05, 0.0, 0.0))]
    cord = sa.Tendon(places, EA=100.0, start=sa.winch(force=force))
    system = sa.System(arm, terms=[cord])
    problem = sa.DynamicProblem(system)
    problem.solve(to=0.01, step=1e-3, adaptive=True)
    assert len(problem.history.steps) < 50
    assert cord.tensions(system)[0] == pytest.approx(1.0, rel=1e-9)
    impulse = 0.01 if force == 1.0 else 0.009
    speed = impulse / (1e3 * 0.1 * 0.01 * 0.02)
    assert system.velocity(arm.at((0.0, 0.0, 0.0)))[0] == pytest.approx([-speed, 0, 0], rel=1e-2)


def flying(feed=0.1, EA=100.0, speed=1.0, **options):
    """Return the motion of a mass on a cord to the ground, thrown away from it."""
    mass = sa.PointMass(1.0, (1.0, 0.0, 0.0), velocity=(speed, 0.0, 0.0))
    end = sa.ground.at((0.0, 0.0, 0.0))
    cord = sa.Tendon([end, mass.centre], EA=EA, start=sa.winch(feed=feed), name="leash")
    system = sa.System(mass, terms=[cord])
    return sa.DynamicProblem(system, **options), system, cord, mass


@pytest.mark.collective(rows=0)
def test_comes_taut_in_flight():
    """Slack, half a period of the spring EA/l, slack: it flies back as fast as it came."""
    problem, system, cord, mass = flying()
    problem.solve(to=0.05, step=1e-3)
    assert cord.slack(system)
    assert system.velocity(mass.centre)[0, 0] == pytest.approx(1.0, rel=1e-12)
    problem.solve(to=0.3, step=1e-3)
    assert cord.tensions(system)[0] > 1.0
    problem.solve(to=1.0, step=1e-3)
    omega = math.sqrt(100.0 / 1.1)
    x = 1.1 - (1.0 - 0.1 - math.pi / omega)
    assert cord.slack(system)
    assert cord.length(system) == pytest.approx(x, rel=1e-4)


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("unit", [1.0, 1e3])
@pytest.mark.parametrize("EA", [1e4, math.inf])
@pytest.mark.parametrize("step", [1e-3, 1e-5])
def test_does_not_push_in_short_steps(EA, unit, step):
    """A mass falls towards the other end of a cord without tension as if there was none."""
    mass = sa.PointMass(1.0, (unit, 0.0, 0.0))
    cord = sa.Tendon([sa.ground.at((0.0, 0.0, 0.0)), mass.centre], EA=EA * unit)
    system = sa.System(mass, terms=[cord, sa.gravity((-0.1 * unit, 0.0, 0.0))])
    sa.DynamicProblem(system).solve(to=50 * step, step=step)
    assert cord.slack(system)
    speed = system.velocity(mass.centre)[0, 0] / unit
    assert speed == pytest.approx(-0.1 * 50 * step, rel=1e-4)


@pytest.mark.collective(rows=0)
def test_names_what_is_wound_up():
    """A mass is drawn in by its cord until nothing of that is left."""
    problem, *_ = flying(feed=lambda t: -t, speed=0.0)
    with pytest.raises(sa.ConvergenceError, match=r"segment 0 of tendon 'leash'.* places 0") as e:
        problem.solve(to=2.0, step=1e-2)
    assert e.value.asked == "cord"
    assert 0.9 < e.value.time < 1.0


@pytest.mark.collective(rows=0)
def test_comes_to_rest_in_a_loop_of_control():
    """What round-off of tensions leaves counts: near rest no iteration was small enough."""
    section = sa.Section.circle(6e-3).rod(E=1e6, nu=0.49, rho=1070.0)
    line = sa.Mesh.box((0.2,), (8,), cell="line3")["body"]
    rod = sa.Body(line, sa.elements.ancf_rod, sa.energies.rod(), **section)
    places = np.linspace(0.0, 0.2, 5)[:, None] * (1.0, 0.0, 0.0)
    eyelets = sa.eyelet(rod.at(places), offset=(0.0, 5e-3))
    cord = sa.Tendon([eyelets], EA=2e4, start=sa.winch(force=0.9))
    system = sa.System(rod, terms=[sa.fix(rod["x0"]), cord])
    problem = sa.DynamicProblem(system, spectral_radius=0.7, damping=sa.Rayleigh(mass=16.0))
    for tick in range(1, 101):
        problem.solve(to=0.01 * tick, step=2.5e-3)
    tip = system.position(rod["x1"])[0]
    still = sa.StaticProblem(system)
    still.solve()
    np.testing.assert_allclose(tip, system.position(rod["x1"])[0], atol=1e-3)


def drawn_in(axis):
    """Return the length of a cord through eyelets beside a rod, and where these are beside it."""
    line = sa.Mesh.box((0.2,), (4,), cell="line3", warp=lambda X: X[:, :1] * np.array(axis))
    section = sa.Section.circle(6e-3).rod(E=1e6, nu=0.49)
    rod = sa.Body(line["body"], sa.elements.ancf_rod, sa.energies.rod(), **section)
    places = np.linspace(0.0, 0.2, 5)[:, None] * axis
    cord = sa.Tendon([sa.eyelet(rod.at(places), offset=(0.0, 5e-3))], EA=1e5, end=sa.winch(force=2))
    system = sa.System(rod, terms=[sa.fix(rod["x0"]), cord])
    beside = cord.positions(system) - places
    sa.StaticProblem(system).solve()
    return cord.length(system), beside


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("axis", [(0.0, 1.0, 0.0), (0.0, 0.0, -1.0), (0.6, 0.0, 0.8)])
def test_eyelets_stick_out_of_rods_in_any_direction(axis):
    """At the offset along the axes of the section, not along those of the ground."""
    length, beside = drawn_in(axis)
    np.testing.assert_allclose(np.linalg.norm(beside, axis=1), 5e-3, rtol=1e-12)
    np.testing.assert_allclose(beside @ axis, 0.0, atol=1e-15)
    assert length == pytest.approx(drawn_in((1.0, 0.0, 0.0))[0], rel=1e-10)


def test_meets_others_at_a_knot():
    """Three tendons that are pulled with 2, 2.5 and 3 N: the law of cosines."""
    loads, ring = (2.0, 2.5, 3.0), sa.PointMass(0.1, (0.05, 0.02, 0.0))
    posts = [np.array([math.cos(a), math.sin(a), 0.0]) for a in 2 * np.pi / 3 * np.arange(3)]
    cords = [
        sa.Tendon([ring.centre, sa.ground.at([x, x - [0, 0, 1]])], EA=1e4, tension=F,
                  end=sa.winch(force=F), name=f"cord {k}")
        for k, (x, F) in enumerate(zip(posts, loads, strict=True))
    ]  # fmt: skip
    system = sa.System(ring, terms=[*cords, sa.fix(ring, ["z"])])
    sa.StaticProblem(system).solve()
    u = np.array(posts) - system.position(ring.centre)[0]
    u /= np.linalg.norm(u, axis=1)[:, None]
    for a, b, c in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        x, y, z = loads[a], loads[b], loads[c]
        assert u[a] @ u[b] == pytest.approx((z**2 - x**2 - y**2) / (2 * x * y), abs=1e-8)


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize(("share", "slack"), [(-3e-9, True), (-3e-10, False), (3e-9, False)])
def test_is_slack_from_a_thousand_millionth_of_the_unit_on(share, slack):
    """`TOLERANCE`: what is pressed by less stays taut."""
    mass, feed = sa.PointMass(1.0, (1.0, 0.0, 0.0)), sa.Parameter("feed", 0.0)
    ends = [sa.ground.at((0.0, 0.0, 0.0)), mass.centre]
    cord = sa.Tendon(ends, EA=1.0, start=sa.winch(feed=feed))
    system = sa.System(mass, terms=[cord, sa.fix(mass)])
    problem = sa.StaticProblem(system)
    feed.value = -share * system._discrete.stiffness
    problem.solve()
    assert cord.slack(system) == slack


@pytest.mark.collective(rows=0)
def test_refuses_what_cannot_be():
    """One error each, on every rank, that says what was given."""
    mass = sa.PointMass(1.0)
    away = sa.ground.at((1.0, 0.0, 0.0))
    given = {
        "places": lambda: sa.Tendon([mass.centre], EA=1.0),
        "EA": lambda: sa.Tendon([mass.centre, away], EA=0.0),
        "mu": lambda: sa.Tendon([mass.centre, away], EA=1.0, mu=-0.1),
        "tension": lambda: sa.Tendon([mass.centre, away], EA=math.inf, tension=1.0),
        "start": lambda: sa.Tendon([mass.centre, away], EA=1.0, start="free"),
        "winch": lambda: sa.winch(feed=1.0, force=1.0),
        "motor": lambda: sa.winch(motor=1.0),
        "force": lambda: sa.Tendon([mass.centre, away], EA=1.0, end=sa.winch(force=-1.0)),
        "tension ": lambda: sa.Tendon([mass.centre, away], EA=1.0, tension=(1.0, "left")),
        "offset": lambda: sa.eyelet(sa.ground.at((0, 0, 0)), offset=1.0),
    }
    for asked, call in given.items():
        with pytest.raises(sa.SymancfError) as error:
            call()
        assert error.value.asked == asked.strip()
    twice = sa.Tendon([mass.centre, sa.ground.at([(1, 0, 0), (1, 0, 0)])], EA=1.0)
    with pytest.raises(sa.ConstraintError, match="places 1 and 2 coincide"):
        sa.System(mass, terms=[twice, sa.fix(mass)])


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("mu", [0.0, 0.2])
def test_rests_where_all_is_fixed(mu):
    """Nothing moves: the residuals are the last places of tensions, which friction takes away."""
    line = sa.Mesh.box((0.2,), (4,), cell="line3")
    section = sa.Section.circle(6e-3).rod(E=1e6, nu=0.49)
    for tension in (0.3, 3.0, 7.0):
        rod = sa.Body(line["body"], sa.elements.ancf_rod, sa.energies.rod(), **section)
        eyelets = sa.eyelet(rod.at([(x, 0.0, 0.0) for x in np.linspace(0.02, 0.2, 5)]), (0.0, 5e-3))
        places = [sa.ground.at((-0.05, 0.01, 0.02)), eyelets]
        cord = sa.Tendon(places, EA=500.0, mu=mu, tension=tension)
        system = sa.System(rod, terms=[cord, sa.fix(rod["body"])])
        sa.StaticProblem(system).solve()
        np.testing.assert_allclose(cord.tensions(system), tension, rtol=1e-12)


@pytest.mark.parametrize("mu", [0.0, 0.2])
def test_passes_eyelets_on_thin_plates(mu):
    """A strip is drawn up by both corners of its end: F L^3/(3 EI); beside it there is nothing."""
    E, length, width, thick = 1e9, 0.2, 0.02, 1e-3
    mesh = sa.Mesh.box((length, width), (8, 2))
    law = {"E": E, "nu": 0.0, "thickness": thick}
    strip = sa.Body(mesh["body"], sa.elements.ancf_thin_plate, sa.energies.kirchhoff(), **law)
    corners = [(length, 0.0, 0.0), (length, width, 0.0)]
    above = [sa.ground.at((x, y, 50.0)) for x, y, _ in corners]
    places = [above[0], strip.at(corners), above[1]]
    cord = sa.Tendon(places, EA=10.0, mu=mu, start=sa.winch(force=1e-3))
    system = sa.System(strip, terms=[cord, sa.fix(strip["x0"])])
    sa.StaticProblem(system).solve()
    T = cord.tensions(system)
    deflection = system.displacement(strip.at(corners))[:, 2].mean()
    expected = (T[0] + T[2]) * length**3 / (3 * E * width * thick**3 / 12)
    assert deflection == pytest.approx(expected, rel=5e-4)
    assert T[2] == pytest.approx(T[0] * math.exp(-mu * cord.angles(system).sum()), rel=1e-8)
    beside = sa.Tendon([sa.eyelet(strip.at(corners), (0.0, 1e-3))], EA=10.0)
    with pytest.raises(sa.ConstraintError, match="ancf_thin_plate has no axis e3"):
        sa.System(strip, terms=[beside])


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("pulled", ["start", "end"])
def test_was_pulled_from_one_end(pulled):
    """The profile of the rope's equation rests in all eyelets, with a mu for each or one."""
    points, mu = polygon(), [0.25, 0.1, 0.25, 0.4]
    fallen = np.exp(-np.append(0.0, np.cumsum(TURNS * mu)))
    if pulled == "end":
        fallen = np.exp(-np.append(np.cumsum((TURNS * mu)[::-1])[::-1], 0.0))
    for EA, T in ((1e5, 2.0), (1e7, 0.1), (500.0, 300.0)):
        mass = sa.PointMass(1.0, points[0])
        cord = sa.Tendon([mass.centre, sa.ground.at(points[1:])], EA=EA, mu=mu, tension=(T, pulled))
        system = sa.System(mass, terms=[cord, sa.fix(mass)])
        sa.StaticProblem(system).solve()
        np.testing.assert_allclose(cord.tensions(system), T * fallen, rtol=1e-6)
        np.testing.assert_allclose(cord.slips(system), 0.0, atol=1e-14)
        assert cord.dissipated(system) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.collective(rows=0)
def test_follows_a_path_of_a_stiff_cord_that_holds_nothing_up():
    """With EA = 1e7 at F = 0 the residuals are the last places of lengths."""
    F = sa.Parameter("F")
    system, cord = rope(sa.winch(force=F), mu=0.0, EA=1e7)
    sa.StaticProblem(system).follow(F, to=100.0)
    np.testing.assert_allclose(cord.tensions(system), 100.0, rtol=1e-9)


@pytest.mark.collective(rows=0)
def test_has_no_path_with_friction():
    F = sa.Parameter("F")
    system, _ = rope(sa.winch(force=F))
    with pytest.raises(sa.ParameterError, match="friction of 'tendon'"):
        sa.StaticProblem(system).follow(F, to=1.0)


@pytest.mark.collective(rows=0)
def test_follows_a_path_without_friction():
    feed = sa.Parameter("feed", -0.002)
    system, cord, arm = hinged(500.0, feed)
    problem = sa.StaticProblem(system)
    problem.solve()
    problem.follow(feed, to=-0.01)
    assert cord.tensions(system)[0] == pytest.approx(1.728740, rel=1e-6)
    assert turn(system, arm) == pytest.approx(0.665662, rel=1e-6)


@pytest.mark.collective(rows=0)
def test_is_not_moved_by_explicit_methods():
    mass = sa.PointMass(1.0, (1.0, 0.0, 0.0))
    cord = sa.Tendon([sa.ground.at((0.0, 0.0, 0.0)), mass.centre], EA=100.0, tension=1.0)
    problem = sa.DynamicProblem(sa.System(mass, terms=[cord]), method="rk")
    with pytest.raises(sa.ParameterError, match="has no mass"):
        problem.solve(to=1e-3, step=1e-4)


@pytest.mark.collective(rows=0)
def test_an_end_that_is_an_array_is_refused():
    places = [sa.ground.at((0.0, 0.0, 0.0)), sa.PointMass(1.0, (1.0, 0.0, 0.0)).centre]
    with pytest.raises(sa.ParameterError, match="give 'fixed' or"):
        sa.Tendon(places, EA=1.0, end=np.array([1j, 2.0]))


def test_is_drawn_and_written_in_segments(tmp_path_factory):
    system, cord = rope(sa.winch(force=100.0))
    sa.StaticProblem(system).solve()
    comm = system.comm
    own = sa.sample(system, cord)
    samples = sa.output.gather(comm, own)
    found = sa.results(system, units={"tension": "N"})
    assert found[cord.name].units == {"tension": "N"}
    folder = comm.bcast(tmp_path_factory.mktemp("files") if comm.rank == 0 else None)
    sa.output.Series(folder / "rope.vtkhdf").write(1.0, found)
    sa.output.Series(folder / "rope.pvd").write(1.0, found)
    sa.view.render([own], folder / "rope.png", field="tension", engine="matplotlib")
    T, forces, r = cord.tensions(system), cord.forces(system), cord.positions(system)
    assert np.ptp(T) > 50.0
    angles, slips, lengths = cord.angles(system), cord.slips(system), cord.lengths(system)
    if samples is None:
        return
    samples.check()
    np.testing.assert_array_equal(samples.points[samples.cells["line"]][:, 1], r[1:])
    np.testing.assert_array_equal(samples.cell_data["tension"][: len(T)], T)
    np.testing.assert_array_equal(samples.cell_data["length"][: len(T)], lengths)
    for name, values in (("force", forces), ("angle", angles), ("slip", slips)):
        np.testing.assert_array_equal(samples.point_data[name], values)
    drawn = surface_of(samples, "tension")
    np.testing.assert_array_equal(drawn.values[drawn.lines], np.stack([T, T], axis=1))
    np.testing.assert_allclose(drawn.points[drawn.lines], np.stack([r[:-1], r[1:]], axis=1))


def thrown(speed, watched):
    """Return where a mass on a cord is that is thrown up, its tension, reviews and slack steps."""
    mass = sa.PointMass(0.1, (0.0, 0.0, -0.1), velocity=(0.0, 0.0, speed))
    cord = sa.Tendon([sa.ground.at((0.0, 0.0, 0.0)), mass.centre], EA=200.0, tension=0.981)
    system = sa.System(mass, terms=[cord, sa.gravity((0.0, 0.0, -9.81))])
    problem, own = sa.DynamicProblem(system), system._discrete.binding(cord)
    review, asked, seen = own.review, [], []
    own.review = lambda now: asked.append(system.time) or review(now)
    if watched:
        problem.monitor(lambda _: seen.append(bool(cord.slack(system))))
    problem.solve(to=0.06, step=1e-3)
    return system.position(mass.centre), cord.tensions(system), len(asked), seen


@pytest.mark.parametrize(("speed", "slack"), [(0.05, False), (0.5, True)])
def test_is_reviewed_in_c_while_it_is_taut(speed, slack):
    """At 0.05 m/s it stays taut, and many steps ask Python nothing; the motion is the same."""
    place, tension, asked, _ = thrown(speed, watched=False)
    same, also, each, seen = thrown(speed, watched=True)
    np.testing.assert_array_equal(place, same)
    np.testing.assert_array_equal(tension, also)
    assert seen[-1] == slack
    assert each >= 60
    if MPI.COMM_WORLD.size == 1:  # steps at the ends of a call are made by themselves
        assert (asked < 5) == (not slack)


def pulled_straight(mu, cells=10):
    """Return a thin straight rod that hangs a little and is pulled by a tendon, and the tendon."""
    mesh = sa.Mesh.box((0.2,), (cells,), cell="line3")
    given = sa.Section.circle(0.7e-3).rod(E=60e9, nu=0.3, rho=6450.0)
    rod = sa.Body(mesh["body"], sa.elements.ancf_rod, sa.energies.rod(), **given)
    X = np.linspace((0.0, 0.0, 0.0), (0.2, 0.0, 0.0), cells + 1)
    pull = sa.winch(force=lambda t: 4.0 * np.sin(60.0 * t) ** 2)
    cord = sa.Tendon([sa.eyelet(rod.at(X), offset=(0.0, 0.01))], EA=2e3, mu=mu, start=pull)
    weight = sa.gravity((0.0, 0.0, -9.81))
    return sa.System(rod, terms=[sa.fix(rod["x0"]), cord, weight]), cord


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("mu", [0.02, 0.3])
def test_hardly_turns_and_needs_no_shorter_steps(mu):
    """Eyelets stick and slip in turn within Newton's method, and rub as ropes do."""
    system, cord = pulled_straight(mu)
    problem, worst = sa.DynamicProblem(system), []

    def look(step):
        if step.time == 0.0:  # without tension
            return
        T, cone = cord.tensions(system), np.exp(mu * cord.angles(system)[1:-1])
        worst.append(np.max(np.maximum(T[1:] / T[:-1], T[:-1] / T[1:]) / cone) - 1.0)

    problem.monitor(look)
    problem.solve(to=0.1, step=1e-3)
    assert problem.steps <= 110
    assert problem.history.iterations <= 650
    assert max(worst) < 1e-9
    assert cord.dissipated(system) > 0.0


def wound_by(law, step, unit=1.0, eyelets=1, mu=0.0, end=False, EA=1e4, target=0.01):
    """Return the slips of a cord that a motor draws in, slack behind a mass, in short steps."""

    def motor(place):
        def s(s_a):
            return -s_a if end else s_a

        def ds(ds_a):
            return -ds_a if end else ds_a

        values = {"target": target * unit, "k": 10.0}
        return sa.Controller(s, ds, law, place, **values)

    mass = sa.PointMass(1.0, (unit, 0.0, 0.0), velocity=(-unit, 0.0, 0.0))
    posts = [(0.0, -0.5 * unit * k, 0.0) for k in range(eyelets)]
    places = [mass.centre, sa.ground.at(posts)] if end else [sa.ground.at(posts[::-1]), mass.centre]
    winches = {"end" if end else "start": sa.winch(motor=motor)}
    cord = sa.Tendon(places, EA=EA * unit, mu=mu, **winches)
    system = sa.System(mass, terms=[cord])
    problem = sa.DynamicProblem(system)
    problem.solve(to=0.02, step=step)
    return cord, system


def pulls(y, *, target, k):
    return k * (target - y)


def only_pulls(y, *, target, k):
    import sympy as sp

    return sp.Max(k * (target - y), 0)


def pushes(y, *, target, k):
    return -k + 0 * y


@pytest.mark.parametrize("law", [pulls, only_pulls])
@pytest.mark.parametrize(
    ("step", "more"),
    [
        (2e-3, {}),
        (2e-4, {"unit": 1e3}),
        (2e-4, {"eyelets": 2, "mu": 0.3}),
        (1e-3, {"end": True}),
        (1e-4, {"EA": math.inf}),
    ],
)
def test_a_motor_draws_a_slack_cord_in_to_where_it_pulls_nothing(law, step, more):
    """In any steps: next to no stiffness of the slack cord held a weak motor back."""
    cord, system = wound_by(law, step, **more)
    unit = more.get("unit", 1.0)
    assert cord.slack(system)
    slip = cord.slips(system)[-1 if "end" in more else 0]
    assert abs(slip) == pytest.approx(0.01 * unit, rel=1e-9)


@pytest.mark.collective(rows=0)
def test_a_motor_that_pushes_a_slack_cord_is_named():
    with pytest.raises(sa.ConvergenceError, match=r"motor at place 0 .* pays out cord without end"):
        wound_by(pushes, 2e-3)


def held_by_friction(force, tension=10.0, mu=0.25):
    """Return the motion of a cord through fixed eyelets that a winch of given force is on."""
    points = polygon()
    mass = sa.PointMass(1.0, points[2])
    places = [sa.ground.at(points[:2]), mass.centre, sa.ground.at(points[3:])]
    ends = {"start": sa.winch(force=force), "end": sa.winch(force=10.0)}
    cord = sa.Tendon(places, EA=1e5, mu=mu, tension=tension, **ends)
    other = sa.PointMass(1.0, (5.0, 0.0, 0.0))
    system = sa.System(mass, other, terms=[cord, sa.fix(mass)])
    return sa.DynamicProblem(system), system, cord


def test_moves_where_friction_alone_holds_it():
    """Its tangent without friction is singular; 10 N everywhere, then 20 N at its start."""
    problem, system, cord = held_by_friction(lambda t: 10.0 + 10.0 * min(t / 0.01, 1.0))
    problem.solve(to=0.02, step=1e-3)
    turned = np.append(0.0, np.cumsum(TURNS))
    expected = np.maximum(10.0, 20.0 * np.exp(-0.25 * turned))
    np.testing.assert_allclose(cord.tensions(system), expected, rtol=1e-9)


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"tension": 0.0}, "no tension"),
        ({"mu": 0.0, "force": 20.0}, "no friction"),
        ({"force": 100.0}, "up to 2.67 times"),
    ],
)
def test_says_that_nothing_holds_a_cord(given, says):
    problem, *_ = held_by_friction(**{"force": 10.0, **given})
    with pytest.raises(sa.ConvergenceError, match=says):
        problem.solve(to=0.02, step=1e-3)
