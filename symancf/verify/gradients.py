# SPDX-License-Identifier: BSD-3-Clause
"""Gradients: closed forms of bars and cubes, also with memory, limit loads, laws of similarity."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI

from ..bodies.body import Body
from ..bodies.natural import RigidBody
from ..bodies.plane import PlanarBody
from ..bodies.point import PointMass
from ..catalogue.boundary import fix, planar
from ..catalogue.gas import pressure
from ..catalogue.joints import revolute
from ..catalogue.loads import force, gravity, traction
from ..catalogue.moments import moment
from ..contact.contact import Contact
from ..contact.shapes import Plane
from ..elements import ancf_cable, hex8, hex8_plain
from ..energies import cable, neo_hooke
from ..mesh import Mesh
from ..places.ends import Ground
from ..solve.dynamics.problem import DynamicProblem
from ..solve.gradients.goal import Goal
from ..solve.gradients.trace import Trace
from ..solve.modes.problem import EigenProblem
from ..solve.statics.problem import StaticProblem
from ..system import System
from ..terms.work import Potential
from ..values.parameter import Field, Parameter
from ..values.series import TimeSeries
from .case import TIGHT, Number, case
from .limit_points import TOGGLE_EXTREMA, toggle
from .plasticity import METAL, bar
from .relaxation import RUBBER, SHEAR, TAU, YEOH, G

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..arrays import Array
    from ..solve.modes.shapes import Modes


def slope(function: Callable[[float], float], at: float, h: float) -> float:
    """Return the derivative of a closed form, to fourth order in h."""
    places = ((-2, 1), (-1, -8), (1, 8), (2, -1))
    return sum(weight * function(at + k * h) for k, weight in places) / (12 * h)


@case("G01_gradient_bar", "closed form: F L / EA")
def stretched() -> Iterator[Number]:
    """The length of a bar by its stiffness and its load, adjoint and direct."""
    EA, F, length = Parameter("EA", 50.0), Parameter("F", 2.0), 1.5
    mesh = Mesh.box((length,), (3,), comm=MPI.COMM_SELF)
    law = cable()
    body = Body(mesh["body"], ancf_cable, law, EA=EA, EI=1.0, name="bar")
    end = body.at((length, 0.0, 0.0))
    system = System(body, terms=[fix(body["x0"]), force(end, (F, 0.0, 0.0))])
    problem = StaticProblem(system, options=TIGHT)
    problem.solve()
    stretch = Goal(lambda u_a: u_a[0], end)
    ways = {
        "adjoint": problem.gradient(stretch, [EA, F]),
        "direct": problem.sensitivity([EA, F], of=[stretch])[0],
    }
    for way, found in ways.items():
        yield Number(f"by EA, {way}", found[EA], -F.value * length / EA.value**2, 1e-9)
        yield Number(f"by F, {way}", found[F], length / EA.value, 1e-9)


@case("G02_gradient_relaxation", "closed form: the Prony series")
def relaxed() -> Iterator[Number]:
    """The shear force of a cube that relaxes, by numbers of the series, over 20 steps."""
    values = {"g1": G[0], "tau2": TAU[1], "size": 0.4}
    part, tau, size = (Parameter(name, value) for name, value in values.items())
    mesh = Mesh.box((1.0, 1.0, 1.0), (1, 1, 1), comm=MPI.COMM_SELF)
    series: dict[str, Any] = {"g1": part, "g2": G[1], "tau1": TAU[0], "tau2": tau}
    body = Body(mesh["body"], hex8_plain, RUBBER, name="cube", **YEOH, **series)
    top = fix(body["y1"], displacement=lambda X, t: size.value * X @ SHEAR.T)
    system = System(body, terms=[top, fix(body["y0"])])
    problem = StaticProblem(system, options=TIGHT, check_stable=False)
    trace, end = Trace(), 2.0
    problem.solve(to=0.0, trace=trace)
    problem.solve(to=end, step=0.1, trace=trace)
    found = problem.gradient(Goal(lambda F: F[0], top), [part, tau, size])

    def exact(name: str, value: float) -> float:
        given = values | {name: value}
        parts = np.array([given["g1"], G[1]])
        times = np.array([TAU[0], given["tau2"]])
        gamma = given["size"]
        at_once = (2 * YEOH["C10"] + 4 * YEOH["C20"] * gamma**2) * gamma
        return float(at_once * (1 - (parts * (1 - np.exp(-end / times))).sum()))

    yield Number("force", found.value, exact("size", size.value), 1e-10)
    for parameter in (part, tau, size):
        name, value = parameter.name, parameter.value
        known = slope(lambda x, name=name: exact(name, x), value, 1e-3 * value)  # type: ignore[misc]
        yield Number(f"by {name}", found[parameter], known, 1e-8)


@case("G03_gradient_plasticity", "closed form in logarithmic strain")
def hardened() -> Iterator[Number]:
    """The force in a bar of metal that hardens, drawn to and fro, by limit, hardening and drive."""
    values = {"Y": 1.0, "H": 5.0}
    Y, H = (Parameter(name, value) for name, value in values.items())
    sizes = np.array([0.0, 0.003, 0.05, 0.045, -0.02, 0.06])
    drive = TimeSeries(np.arange(len(sizes)), sizes)
    mesh = Mesh.box((1.0, 1.0, 1.0), (1, 1, 1), comm=MPI.COMM_SELF)
    body = Body(mesh["body"], hex8_plain, METAL, name="bar", yield_stress=Y, hardening=H)
    pull = fix(body["x1"], "x", displacement=(drive, 0.0, 0.0))
    system = System(body, terms=[*(fix(body[f"{axis}0"], axis) for axis in "xyz"), pull])
    problem = StaticProblem(system, options=TIGHT, check_stable=False)
    problem.solve(to=len(sizes) - 1.0, step=0.5, trace=Trace())
    found = problem.gradient(Goal(lambda F: F[0], pull), [Y, H, drive])

    def exact(own: Array, **changes: float) -> float:
        at = values | changes
        *_, (stress, _) = bar(np.log1p(own[1:]).tolist(), at["Y"], at["H"], 0.0)
        return float(stress / (1 + own[-1]))

    yield Number("force", found.value, exact(sizes), 1e-9)
    by = {
        Y: slope(lambda x: exact(sizes, Y=x), 1.0, 1e-4),
        H: slope(lambda x: exact(sizes, H=x), 5.0, 1e-3),
    }
    for parameter, known in by.items():
        yield Number(f"by {parameter.name}", found[parameter], known, 1e-7)
    for k, known in enumerate(found[drive]):
        one = np.eye(len(sizes))[k]
        number = slope(lambda x, one=one: exact(sizes + x * one), 0.0, 1e-5)  # type: ignore[misc]
        yield Number(f"by the drive at time {k}", known, number, 1e-6, 100.0)


@case("G04_gradient_friction", "Coulomb: dF/dm = N + m dN/dm where all points slide")
def sliding() -> Iterator[Number]:
    """A block pressed onto a plane and dragged until all of it slides, by friction and pressure."""
    rough, down = Parameter("rough", 0.3), Parameter("down", 0.03)
    mesh = Mesh.box((1.0, 1.0, 0.5), (2, 2, 1), comm=MPI.COMM_SELF)
    body = Body(mesh["body"], hex8, neo_hooke(), mu=1.0, lam=2.0, name="block")
    contact = Contact(body["z0"], Plane(), mu=rough, stiffness=50.0)  # type: ignore[arg-type]
    drag = TimeSeries([0.0, 1.0, 3.0], [0.0, 0.0, 0.2])
    way = (drag, 0.0, lambda t: -down.value * min(t, 1.0))
    top = fix(body["z1"], displacement=way)
    problem = StaticProblem(System(body, terms=[top, contact]), options=TIGHT)
    problem.solve(to=3.0, step=0.25, trace=Trace())
    F, N = (
        problem.gradient(goal, [rough, down])
        for goal in (Goal(lambda F: F[0], top), Goal(lambda F: -F[2], top))
    )
    yield Number("force", F.value, rough.value * N.value, 1e-9)
    yield Number("by friction", F[rough], N.value + rough.value * N[rough], 1e-8)
    yield Number("by the way down", F[down], rough.value * N[down], 1e-8)


@case("G05_gradient_similarity", "law of similarity: stresses by moduli do not change")
def similar() -> Iterator[Number]:
    """A block of 64 cells with a modulus each: all moduli and loads grow, displacements stay."""
    mesh = Mesh.box((1.0, 1.0, 1.0), (4, 4, 4), comm=MPI.COMM_SELF)
    mu = Field(1.0 + 0.5 * np.sin(np.arange(64.0)))
    lam, load, press = (
        Parameter(name, value) for name, value in (("lam", 3.0), ("load", 0.1), ("press", 0.05))
    )
    body = Body(mesh["body"], hex8, neo_hooke(), mu=mu, lam=lam, name="block")
    clamp = fix(body["x0"])
    loads = [traction(body["x1"], (0.0, 0.0, load)), pressure(body["z1"], press)]
    problem = StaticProblem(System(body, terms=[clamp, *loads]), options=TIGHT)
    problem.solve()
    sag = Goal(lambda u_a: u_a[2] + u_a[0] * u_a[1], body["x1"])
    moment = Goal(lambda M: M[1], clamp)
    for name, goal in (("displacements", sag), ("moment", moment)):
        found = problem.gradient(goal, [mu, lam, load, press])
        parts = [mu.values @ found[mu], *(p.value * found[p] for p in (lam, load, press))]
        size = max(map(abs, parts))
        grows = found.value if goal is moment else 0.0
        yield Number(f"{name}: sum of p dJ/dp", sum(parts), grows, 1e-9, size)


@case("G06_gradient_limit_load", "law of similarity; differences of paths")
def snapping() -> Iterator[Number]:
    """The limit loads of Williams' toggle by both stiffnesses of its beams."""

    def path(value: float) -> tuple[StaticProblem, Parameter, Parameter]:
        P, EA, EI = Parameter("P"), Parameter("EA", 1.885e6), Parameter("EI", value)
        system, *_ = toggle(P, EA=EA, EI=EI)
        problem = StaticProblem(system, options=TIGHT)
        problem.follow(P, to=60.0, step=3.0)
        return problem, EA, EI

    problem, EA, EI = path(9.274e3)
    for k, (name, (_, load)) in enumerate(zip(("maximum", "minimum"), TOGGLE_EXTREMA, strict=True)):
        found = problem.limit_gradient([EA, EI], k)
        total = EA.value * found[EA] + EI.value * found[EI]
        yield Number(f"{name} [lb]", total, load, 1e-6)
        yield Number(f"{name}: sum of p dP/dp", total, found.value, 1e-9)
    found = problem.limit_gradient([EI])
    h = 1e-3 * EI.value
    ends = [path(EI.value + k * h)[0].history.limit_points[0].parameter for k in (-2, -1, 1, 2)]
    known = float(np.dot(ends, [1, -8, 8, -1])) / (12 * h)
    yield Number("maximum by EI", found[EI], known, 1e-7)


@case("G12_gradient_motion", "closed form of constant forces; law of similarity of masses")
def thrown() -> Iterator[Number]:
    """A mass pushed and a disc spun up from given rates; a double pendulum of masses that grow."""
    T, m, J, v, w = (
        2.0,
        *(Parameter(n, x) for n, x in zip("mJvw", (3.0, 0.5, 0.7, 1.1), strict=True)),
    )
    mass = PointMass(m, velocity=(v, 0.0, 0.0))
    disc = PlanarBody((1.0, 0.0), mass=1.0, inertia=J, spin=w)
    centre, F, M = disc.at((0.0, 0.0)), 6.0, 0.2
    system = System(mass, disc, terms=[force(mass.centre, (F, 0.0, 0.0)), moment(disc, M)])
    problem = DynamicProblem(system, options=TIGHT)
    problem.solve(to=T, step=0.1, trace=Trace())
    found = problem.gradient(Goal(lambda u_a: u_a[0], mass.centre), [m, v])
    yield Number("way of a mass, by the mass", found[m], -F * T**2 / (2 * m.value**2), 1e-9)
    yield Number("way of a mass, by the velocity", found[v], T, 1e-9)
    found = problem.gradient(Goal(lambda phi_a: phi_a, centre), [J, w])
    yield Number("turn of a disc, by its inertia", found[J], -M * T**2 / (2 * J.value**2), 1e-9)
    yield Number("turn of a disc, by its spin", found[w], T, 1e-9)
    masses, spin = [Parameter("a", 2.0), Parameter("b", 1.5)], Parameter("spin", 1.0)
    inertia = [Parameter("I", 0.05), Parameter("K", 0.04)]
    bars = [
        RigidBody(
            (0.25 + 0.5 * k, 0.0, 0.0),
            mass=masses[k],
            inertia=(0.01, inertia[k], inertia[k]),
            velocity=(0.0, 0.0, -0.25 - 0.5 * k),
            spin=(0.0, spin, 0.0),
            name="ab"[k],
        )
        for k in range(2)
    ]
    ends = [[bar.at((x, 0.0, 0.0)) for x in (-0.25, 0.25)] for bar in bars]
    joints = [revolute(ends[0][0], Ground(), axis=(0.0, 1.0, 0.0))]
    joints += [revolute(ends[0][1], ends[1][0], axis=(0.0, 1.0, 0.0))]
    terms = [*joints, gravity((0.0, 0.0, -9.81))]
    problem = DynamicProblem(System(*bars, terms=terms), options=TIGHT)
    problem.solve(to=0.5, step=0.01, trace=Trace())
    tip = Goal(lambda u_a, v_a: u_a[0] + v_a[2] / 10, ends[1][1])
    found = problem.gradient(tip, [*masses, *inertia])
    parts = [p.value * found[p] for p in (*masses, *inertia)]
    yield Number("pendulum: sum of p dJ/dp", sum(parts), 0.0, 1e-7, max(map(abs, parts)))


@case("G15_gradient_frequency", "law of similarity; differences of solutions")
def turning() -> Iterator[Number]:
    """Frequencies of a square column under a load: torsion, and bending both ways."""
    mesh = Mesh.box((0.3, 0.3, 1.2), (2, 2, 4), comm=MPI.COMM_SELF)
    mu, lam = Field(np.ones(16)), Parameter("lam", 2.0)
    load, rho = Parameter("load", 0.02), Parameter("rho", 1.3)
    given: dict[str, Any] = {"mu": mu, "lam": lam, "rho": rho}
    body = Body(mesh["body"], hex8, neo_hooke(), name="column", **given)
    push = traction(body["z1"], (0.0, 0.0, lambda t: -load.value * t))
    system = System(body, terms=[fix(body["z0"]), push])
    problem = StaticProblem(system, options=TIGHT, check_stable=False)

    def found_modes() -> Modes:
        problem.solve(to=1.0)
        return EigenProblem(system).solve(7)

    modes, d = found_modes(), np.cos(np.arange(16.0))
    gaps = np.diff(modes.squares, prepend=0.0) / modes.squares
    alone = next(k for k in range(1, 6) if min(gaps[k], gaps[k + 1]) > 1e-3)
    for name, numbers in (("torsion", [alone]), ("bending both ways", [0, 1])):
        found = modes.gradient([mu, lam, load, rho], numbers)
        parts = [np.sum(mu.values * found[mu]), lam.value * found[lam], load.value * found[load]]
        yield Number(f"{name}: sum of p dw2/dp, stresses", sum(parts), found.value, 1e-8)
        yield Number(f"{name}: by the density", found[rho], -found.value / rho.value, 1e-8)
    found = modes.gradient([mu, load], alone)
    slopes = modes.directional([mu], [d], 0)
    h, ends = 2e-3, []
    for k in (-2, -1, 1, 2):
        mu.values = 1.0 + k * h * d
        ends.append(found_modes().squares[[0, 1, alone]])
    mu.values = np.ones(16)
    known = np.array([1, -8, 8, -1]) @ np.array(ends) / (12 * h)
    yield Number("torsion by the moduli", float(found[mu] @ d), float(known[2]), 1e-7)
    size = float(np.abs(slopes).max())
    yield Number("sum of both in bending", float(slopes.sum()), float(known[:2].sum()), 1e-6, size)


@case("G16_gradient_buckling", "law of similarity; Euler's load")
def buckling() -> Iterator[Number]:
    """The load of a cantilever with a spring at its tip, by all stiffnesses; without the spring."""
    for spring, name in ((1.0, "with a spring"), (0.0, "Euler")):
        P, EI, EA, k = (
            Parameter(n, x) for n, x in (("P", 0.0), ("EI", 1.0), ("EA", 1e4), ("k", spring))
        )
        mesh = Mesh.box((1.0,), (4,), comm=MPI.COMM_SELF)
        rod = Body(mesh["body"], ancf_cable, cable(), EA=EA, EI=EI, name="rod")
        tip = rod.at((1.0, 0.0, 0.0))
        side = Potential(lambda u_a, *, k: k * u_a[1] ** 2 / 2, tip, k=k)
        push = force(tip, (lambda t, P=P: -P.value, 0.0, 0.0))
        system = System(rod, terms=[fix(rod["x0"]), planar(rod), side, push])
        problem = StaticProblem(system, options=TIGHT, check_stable=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            problem.follow(P, to=4.0, step=0.5)
        found = problem.buckling_gradient([EI, EA, k])
        total = sum(p.value * found[p] for p in (EI, EA, k))
        yield Number(f"{name}: sum of p dP/dp", total, found.value, 1e-8)
        if not spring:
            yield Number("Euler: by EI", found[EI], np.pi**2 / 4, 1e-3)
