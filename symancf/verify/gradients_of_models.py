# SPDX-License-Identifier: BSD-3-Clause
"""Gradients of whole models by the numbers of an adjoint of another program, and by differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp
from mpi4py import MPI

from ..bodies.body import Body
from ..bodies.natural import RigidBody
from ..catalogue.boundary import fix, planar
from ..catalogue.controllers import PID
from ..catalogue.gas import Cavity, Gas, pressure
from ..catalogue.joints import distance, revolute, spherical
from ..catalogue.loads import gravity, traction
from ..catalogue.moments import moment
from ..catalogue.viscosity import KelvinVoigt
from ..contact.contact import Contact
from ..contact.shapes import Plane, Sphere
from ..elements import ancf_cable, hex8_plain
from ..energies import cable, neo_hooke
from ..kinematics.memory import memory, remember
from ..mesh import Mesh
from ..places.ends import Ground
from ..solve.dynamics.problem import DynamicProblem
from ..solve.gradients.goal import Goal
from ..solve.gradients.parts import GoalPart
from ..solve.gradients.trace import Trace
from ..solve.statics.problem import StaticProblem
from ..system import System
from ..terms.work import Potential
from ..values.parameter import Field, Parameter
from ..values.series import TimeSeries
from .case import TIGHT, Number, case
from .gradients import slope
from .hysteresis import RUBBER as CREEPING
from .relaxation import YEOH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..arrays import Array
    from ..assembly.discrete import DiscreteSystem
    from ..solve.gradients.parts import Found

ANOTHER = "an adjoint of its own, of another program"
DIFFERENCES = "fourth-order differences of solutions"
WEIGHTS = np.array([1.0, -2.0, 0.5, 0.7])  # of four multipliers
RANKS = (-0.008734852302953759, -0.024628064926612743, 0.007959156138961983, -2.9874545378640125)
EXACT: dict[str, Any] = {"snes_rtol": 1e-13}


class CoordinatesPart(GoalPart):
    """Weights of all coordinates, multipliers among them, and of the forces at fixed ones.

    Parameters
    ----------
    weights, forces : of coordinates and residual, functions of the system.
    power : of the coordinates, 1 or 2.
    """

    what = place = "coordinates"

    def __init__(
        self,
        weights: Callable[[DiscreteSystem], Array],
        forces: Callable[[DiscreteSystem], Array] | None = None,
        power: int = 1,
    ) -> None:
        self.weights, self.forces, self.power = weights, forces, power

    def value(self, system: DiscreteSystem) -> float:
        """Return the value at the present state."""
        return self.slopes(system)[0]

    def slopes(self, system: DiscreteSystem) -> Found:
        """Return value and derivatives."""
        w, u, none = self.weights(system), system.state, np.zeros_like(system.state)
        value, by = float(w @ u**self.power) / self.power, w * u ** (self.power - 1)
        if self.forces is None:
            return value, by, none, none
        f = self.forces(system)
        return value + float(f @ system.residual_at(u)), by, f, none

    def by_reference(self, system: DiscreteSystem, body: Body) -> Array:
        """Raise: it is not for shapes."""
        raise NotImplementedError

    def curvature(
        self, system: DiscreteSystem, coordinates: Array, forces: Array
    ) -> tuple[Array, Array]:
        """Return the rates of both `slopes`."""
        both = self.weights(system) * coordinates * (self.power - 1)
        return both, np.zeros_like(both)


class CoordinatesGoal(Goal):
    """The goal of a `CoordinatesPart`."""

    def __init__(self, *args: Any, **given: Any) -> None:
        self.name = "coordinates"
        self._take([CoordinatesPart(*args, **given)], sp.Symbol("g0"))


def of_chance(seed: int) -> Callable[[DiscreteSystem], Array]:
    """Return normal weights of the free coordinates."""

    def weights(system: DiscreteSystem) -> Array:
        numbering = system.numbering
        drawn = np.random.default_rng(seed).standard_normal(numbering.coordinates)
        return np.asarray(drawn * (numbering.fixed_by < 0))

    return weights


def multipliers(system: DiscreteSystem) -> Any:
    """Return the numbers of the multipliers."""
    return np.flatnonzero(system.numbering.those("multiplier"))


def named(**values: float) -> dict[str, Any]:
    """Return a parameter for each value."""
    return {name: Parameter(name, value) for name, value in values.items()}


@case("G22_gradient_moduli", ANOTHER, short=0)
def thousand() -> Iterator[Number]:
    """A block of 1,000 hexahedra with a modulus each: by the other modulus and by the load."""
    mesh = Mesh.box((1.0, 1.0, 1.0), (10, 10, 10), comm=MPI.COMM_SELF)
    _, y, x = np.meshgrid(*3 * [(np.arange(10) + 0.5) / 10], indexing="ij")
    mu, p = Field((1.0 + 0.5 * np.sin(5 * x) * np.cos(3 * y)).ravel()), named(lam=3.0, load=0.15)
    body = Body(mesh["body"], hex8_plain, neo_hooke(), mu=mu, lam=p["lam"])
    terms = [fix(body["x0"]), traction(body["x1"], (0.0, 0.0, p["load"]))]
    problem = StaticProblem(System(body, terms=terms), options=EXACT)
    problem.solve()
    found = problem.gradient(CoordinatesGoal(of_chance(1), power=2), [mu, *p.values()])
    yield Number("by lam", found[p["lam"]], 0.10027624716, 1e-9)
    yield Number("by the load", found[p["load"]], -28.621994221, 1e-9)
    scaled = mu.values @ found[mu] + sum(v.value * found[v] for v in p.values())
    yield Number("sum of p dJ/dp", float(scaled), 0.0, 1e-9, abs(found.value))
    place = body.at((1.0, 1.0, 1.0))
    goal = Goal(lambda u_a: (u_a[2] - 0.1) ** 2 + u_a[0] * u_a[1], place)
    d = np.cos(np.arange(1000.0))
    product = problem.hessian(goal, [mu]) @ d
    other = np.sin(1.7 * np.arange(1000.0))
    turned = float(d @ (problem.hessian(goal, [mu]) @ other))
    yield Number("Hessian: d . H e = e . H d", turned, float(other @ product), 1e-9)
    values, ends = mu.values.copy(), []
    h = 5e-3
    for k in (-2, -1, 1, 2):
        mu.values = values + k * h * d
        problem.solve()
        ends.append(problem.gradient(goal, [mu])[mu])
    known = np.array([1, -8, 8, -1]) @ np.array(ends) / (12 * h)
    size = float(np.abs(known).max())
    worst = float(np.abs(product - known).max())
    yield Number("Hessian: differences of the gradient", worst, 0.0, 1e-7, size)


@case("G08_gradient_mechanism", ANOTHER)
def linked() -> Iterator[Number]:
    """Two cables, a rigid link between them, and a strut: height, multipliers and reactions."""
    shift = np.array([1.4, 0.0, 0.0])
    first = Mesh.box((1.0,), (8,), comm=MPI.COMM_SELF)
    second = Mesh.box((1.0,), (8,), warp=lambda X: np.asarray(X + shift), comm=MPI.COMM_SELF)
    p = named(EI=2.0, EA=500.0, g=9.81, move=-0.1, strut=2.98)
    rest: dict[str, Any] = {"EA": p["EA"], "rho": 1.0, "A": 0.4}
    a = Body(first["body"], ancf_cable, cable(), EI=p["EI"], name="a", **rest)
    b = Body(second["body"], ancf_cable, cable(), EI=1.5, name="b", **rest)
    link = RigidBody.box((0.4, 0.1, 0.1), position=(1.2, 0.0, 0.0), rho=200.0, name="link")
    high = Ground().at((1.2, 3.0, 0.05))
    clamp = fix(a["x0"])
    terms = [
        clamp,
        fix(b["x1"], displacement=(p["move"], 0.0, 0.02)),
        spherical(a.at((1.0, 0.0, 0.0)), link.at((-0.2, 0.0, 0.0)), name="s1"),
        spherical(b.at((1.4, 0.0, 0.0)), link.at((0.2, 0.0, 0.0)), name="s2"),
        distance(link.at((0.0, 0.0, 0.05)), high, p["strut"], name="strut"),
        gravity((0.0, 1.5, lambda t: -p["g"].value)),
    ]
    problem = StaticProblem(System(a, b, link, terms=terms), options=EXACT, check_stable=False)
    problem.solve(to=1.0, step=0.25)

    def some(system: DiscreteSystem) -> Array:
        weights = np.zeros_like(system.state)
        weights[multipliers(system)[[6, 4, 1, 7]]] = system.stiffness * WEIGHTS
        return weights

    def ascending(system: DiscreteSystem) -> Array:
        weights = np.zeros_like(system.state)
        at = np.flatnonzero(system.numbering.fixed_by == 0)
        weights[at] = np.arange(1.0, len(at) + 1)
        return weights

    none = np.zeros_like
    goals = {
        "height": (
            Goal(lambda u_a: u_a[2], link.at((0.2, 0.0, 0.0))),
            -7.3777328908e-3,
            0.98125590856,
        ),
        "multipliers": (CoordinatesGoal(some), 4.4968731109, 176.62570231),
        "reactions": (
            CoordinatesGoal(lambda s: none(s.state), ascending),
            2.185394658,
            -73.223614148,
        ),
    }
    for name, (goal, by_g, by_move) in goals.items():
        found = problem.gradient(goal, [p["g"], p["move"]])
        yield Number(f"{name} by gravity", found[p["g"]], by_g, 1e-8)
        yield Number(f"{name} by the way of a clamp", found[p["move"]], by_move, 1e-8)
    top = Goal(lambda u_a: u_a[2], link.at((0.0, 0.05, 0.05)))
    found = problem.gradient(top, [p["strut"]])
    yield Number("height by the length of the strut", found[p["strut"]], 0.70906478826, 1e-8)


@case("G23_gradient_pendulum", ANOTHER)
def controlled() -> Iterator[Number]:
    """A double pendulum with a PID, 200 steps, by weight, spring, gain and 200 torques."""
    p = named(g=9.81, k=3.0, kp=1.5)
    knots = np.linspace(0.0, 1.0, 200)
    torque = TimeSeries(knots, 0.6 * np.sin(7 * knots) * (1 + 0.3 * np.cos(23 * knots)))
    bars = [
        RigidBody.box(
            (0.5, 0.05, 0.05),
            position=(place, 0.0, 0.0),
            rho=800.0,
            spin=(0.0, spin, 0.0),
            velocity=(0.0, 0.0, speed),
            name=name,
        )
        for name, place, spin, speed in (("a", 0.25, 1.2, -0.3), ("b", 0.75, -0.8, -0.4))
    ]
    (left, right), (near, tip) = ([bar.at((x, 0.0, 0.0)) for x in (-0.25, 0.25)] for bar in bars)
    y = (0.0, 1.0, 0.0)
    control = PID(
        lambda r_a: r_a[2], lambda v_a: v_a[2], tip, target=-0.2, kp=p["kp"], ki=2.0, kd=0.3
    )
    terms = [
        revolute(left, Ground(), axis=y, name="j1"),
        revolute(right, near, axis=y, name="j2"),
        gravity((0.0, 0.0, lambda t: -p["g"].value)),
        moment(bars[0], (0.0, torque, 0.0)),
        Potential(lambda e1_a, e1_b, *, k: k * (1 - e1_a.dot(e1_b)), right, near, k=p["k"]),
        control,
    ]
    problem = DynamicProblem(
        System(*bars, terms=terms), spectral_radius=0.9, options={"snes_rtol": 1e-14}
    )
    problem.solve(to=1.0, step=0.005, trace=Trace())

    def waves(system: DiscreteSystem) -> Array:
        weights, own = np.zeros_like(system.state), multipliers(system)
        weights[own] = 1e-3 * system.stiffness * np.cos(np.arange(len(own)))
        return weights

    end = Goal(lambda u_a, v_a: u_a[0] + v_a[2] / 10, tip) + CoordinatesGoal(waves)
    goal = end + Goal(lambda u_a: (u_a[2] + 0.3) ** 2, tip).integral()
    variables: list[Any] = [*p.values(), torque]
    found = problem.gradient(goal, variables)
    known = (-7.4421686023e-2, 2.3237341527e-2, 5.3129813e-4)
    for parameter, number in zip(p.values(), known, strict=True):
        yield Number(f"by {parameter.name}", found[parameter], number, 1e-7)
    direction = np.random.default_rng(0).standard_normal(200)
    yield Number("by 200 torques", float(found[torque] @ direction), -1.7876614e-2, 1e-7)


@case("G11_gradient_dragged", ANOTHER)
def dragged() -> Iterator[Number]:
    """A block pressed onto a plane and onto a ball and dragged: some points slide, others stick."""
    ball = Sphere(1.2, (0.45, 0.55, -1.2))
    cases = (
        (Plane(), 0.3, 1.3503274706),
        (ball, 0.3, 0.25470647857),
        (Plane(), 0.0, -0.7779003826),
    )
    for shape, friction, known in cases:
        p = named(modulus=1.0, rough=friction)
        mesh = Mesh.box((1.0, 1.0, 0.6), (4, 4, 3), comm=MPI.COMM_SELF)
        lam = Field(lambda X: 1.5 + 0.2 * X[:, 0])
        body = Body(mesh["body"], hex8_plain, neo_hooke(), mu=p["modulus"], lam=lam)
        touch = Contact(body["z0"], shape, mu=p["rough"] if friction else 0.0)
        way = (lambda t: 0.02 * max(0.0, t - 2.0), 0.0, lambda t: -0.01 * min(t, 2.0))
        system = System(body, terms=[fix(body["z1"], displacement=way), touch])
        problem = StaticProblem(system, options=TIGHT, check_stable=False)
        problem.solve(to=5.0, step=1.0, smallest=1.0, trace=Trace())
        forces = CoordinatesGoal(of_chance(0), lambda s: 10.0 * (s.numbering.fixed_by == 0))
        which = p["rough" if friction else "modulus"]
        name = f"{type(shape).__name__.lower()}, by {which.name}"
        found = problem.gradient(forces, [which])
        yield Number(f"{name}, friction {friction:g}", found[which], known, 1e-9)


@memory(h=sp.zeros(3, 3), before=sp.zeros(3, 3))
def maxwell(E_gl: Any, *, h: Any, before: Any, dt: Any, E0: Any, E1: Any, tau: Any) -> Any:
    """A spring E0 beside a Maxwell element, relaxed by the midpoint rule, no Poisson's effect."""

    def dot(a: Any, b: Any) -> Any:
        return sp.Add(*(x * y for x, y in zip(a, b, strict=True)))

    decay, half, change = sp.exp(-dt / tau), sp.exp(-dt / (2 * tau)), E_gl - before
    base, after = E0 / 2 * dot(E_gl, E_gl), decay * h + half * E1 * change
    W = base + decay * dot(h, E_gl) + half * E1 / 2 * dot(change, change)
    return remember(W, stored=base + dot(after, after) / (2 * E1), h=after, before=E_gl)


@case("G10_gradient_viscous_motion", ANOTHER, short=0)
def relaxing() -> Iterator[Number]:
    """A viscoelastic beam that vibrates, 60 steps, by a modulus and a time of relaxation."""
    p = named(E0=1.0, tau=0.7)
    x = 0.25 + 0.5 * (np.arange(40) % 10)
    E1 = Field(0.8 + 0.2 * np.sin(3 * x))
    mesh = Mesh.box((5.0, 1.0, 1.0), (10, 2, 2), comm=MPI.COMM_SELF)
    body = Body(mesh["body"], hex8_plain, maxwell, E1=E1, rho=1.0, **p)
    pull = traction(body["x1"], (0.0, 0.0, lambda t: 0.004 * np.sin(2.0 * t)))
    system = System(body, terms=[fix(body["x0"]), pull])
    problem = DynamicProblem(system, spectral_radius=0.8, options=EXACT)
    problem.solve(to=3.0, step=0.05, trace=Trace())
    tip = body.at((5.0, 0.5, 0.5))
    end = Goal(lambda u_a, v_a: u_a[2] + v_a[2] / 2, tip)
    goal = end + 10 * Goal(lambda u_a: u_a[2] ** 2, tip).integral()
    found = problem.gradient(goal, [*p.values()])
    yield Number("by the modulus", found[p["E0"]], -3.0728863704e-3, 1e-9)
    yield Number("by the time of relaxation", found[p["tau"]], -6.1537320523e-4, 1e-9)


@case("G13_gradient_two_blocks", ANOTHER)
def pressed() -> Iterator[Number]:
    """Two blocks whose meshes do not match are pressed together: displacements and reactions."""
    p = named(mu=1.0, press=0.05)
    shift = np.array([-0.1, -0.1, -0.5])

    def raised(X: Array) -> Array:
        z = 0.15 * ((X[:, 0] - 0.5) ** 2 + (X[:, 1] - 0.5) ** 2)
        return np.asarray(X + np.stack([0 * z, 0 * z, z], axis=1))

    low = Mesh.box((1.2, 1.2, 0.5), (5, 5, 3), warp=lambda X: X + shift, comm=MPI.COMM_SELF)
    top = Mesh.box((1.0, 1.0, 0.5), (4, 4, 3), warp=raised, comm=MPI.COMM_SELF)
    a = Body(low["body"], hex8_plain, neo_hooke(), name="a", mu=p["mu"], lam=2.0)
    b = Body(top["body"], hex8_plain, neo_hooke(), name="b", mu=1.5, lam=2.0)
    ground = fix(a["z0"])
    push = fix(b["z1"], displacement=(0.02, 0.0, lambda t: -p["press"].value * t))
    system = System(a, b, terms=[ground, push, Contact(b["z0"], a["z1"])])
    problem = StaticProblem(system, options=TIGHT, check_stable=False)
    problem.solve(to=1.0, step=0.5)
    press = Goal(lambda F: 3 * F[2], push)
    found = problem.gradient(CoordinatesGoal(of_chance(0)) + press, [*p.values()])
    yield Number("by a modulus", found[p["mu"]], -0.2269462484, 1e-9)
    yield Number("by the way down", found[p["press"]], -6.1755908185, 1e-9)
    above, below = (
        problem.gradient(Goal(lambda F: F[2], support), [*p.values()]) for support in (push, ground)
    )
    for name, parameter in p.items():
        both = above[parameter] + below[parameter]
        yield Number(f"forces in balance, by {name}", both, 0.0, 1e-9, abs(above[parameter]))


def by_differences(
    name: str,
    solved: Callable[..., tuple[Any, Goal, dict[str, Any]]],
    values: dict[str, float],
    h: float,
) -> Iterator[Number]:
    """Yield a gradient beside fourth-order differences of solutions, h in parts of the values."""
    problem, goal, p = solved(**values)
    found = problem.gradient(goal, [*p.values()])
    for of, value in values.items():

        def run(x: float, of: str = of) -> float:
            other, own, _ = solved(**(values | {of: x}))
            return float(other.value(own))

        known = slope(run, value, h * value)
        yield Number(f"{name}by {of}", found[p[of]], known, 1e-7)


@case("G12_gradient_gas", DIFFERENCES)
def inflated() -> Iterator[Number]:
    """A tube with lids and a polytropic gas, n = 1.3, whose amount grows; height and pressure."""
    values = {"amount": 1.4, "mu": 1.0, "outside": 0.1}

    def solved(**given: float) -> tuple[StaticProblem, Goal, dict[str, Any]]:
        p = named(**given)
        hollow = Mesh.tube(1.0, 1.3, 2.0, 2, comm=MPI.COMM_SELF)
        pipe = Body(hollow["body"], hex8_plain, neo_hooke(), mu=p["mu"], lam=2.0)
        gas = Gas(p["amount"], ambient=0.1, exponent=1.3)
        air = Cavity(pipe["inner"], caps="flat", gas=gas)
        outside = pressure(pipe["outer"], p["outside"])
        system = System(pipe, terms=[fix(pipe["z0"]), outside, air])
        problem = StaticProblem(system, options=EXACT)
        problem.solve()
        top = Goal(lambda u_a: u_a[2] + u_a[0], pipe.at((1.3, 0.0, 2.0)))
        return problem, top + Goal(lambda V, p: p * V + 10 * p**2, air), p

    yield from by_differences("", solved, values, 2e-3)


@case("G09_gradient_lengths_of_steps", DIFFERENCES, short=0)
def hurried() -> Iterator[Number]:
    """A damped cable that swings, by steps of which each fifth is shortened."""
    values = {"EI": 0.05, "eta": 2e3, "g": 9.81, "v": 0.3}

    def solved(**given: float) -> tuple[DynamicProblem, Goal, dict[str, Any]]:
        p = named(**given)
        mesh = Mesh.box((1.0,), (6,), comm=MPI.COMM_SELF)
        size: dict[str, Any] = {"A": 7.85e-5, "I": 4.9e-10}
        line = Body(
            mesh["body"],
            ancf_cable,
            cable(curvature="plane"),
            EI=p["EI"],
            EA=200.0,
            rho=1000.0,
            A=size["A"],
            velocity=lambda X: np.stack([0 * X[:, 0], p["v"].value * X[:, 0], 0 * X[:, 0]], axis=1),
        )
        tip = line.at((1.0, 0.0, 0.0))
        terms = [
            fix(line["x0"], "position"),
            planar(line),
            gravity((0.0, lambda t: -p["g"].value, 0.0)),
            KelvinVoigt(line, eta=p["eta"], **size),
        ]
        problem = DynamicProblem(System(line, terms=terms), spectral_radius=0.9, options=EXACT)
        stops = np.cumsum([0.05, 0.052, 0.048, 0.06, 0.05]).tolist()
        problem.solve(to=0.32, step=0.01, stops=stops, trace=Trace())
        end = Goal(lambda u_a, v_a: u_a[0] + v_a[1] / 50, tip)
        return problem, end + Goal(lambda u_a: u_a[1] ** 2, tip).integral(), p

    yield from by_differences("", solved, values, 2e-3)


@case("G21_gradient_shaken_clamp", DIFFERENCES)
def shaken() -> Iterator[Number]:
    """A cable whose clamp is shaken by a sine: by amplitude, frequency and stiffness."""
    values = {"amplitude": 0.02, "frequency": 12.0, "EI": 0.8}

    def solved(**given: float) -> tuple[DynamicProblem, Goal, dict[str, Any]]:
        p = named(**given)
        mesh = Mesh.box((1.0,), (6,), comm=MPI.COMM_SELF)
        size: dict[str, Any] = {"EA": 2e3, "EI": p["EI"], "rho": 1.0, "A": 0.3}
        line = Body(mesh["body"], ancf_cable, cable(), **size)

        def way(t: float) -> Any:
            return float(p["amplitude"].value) * (1 - np.cos(p["frequency"].value * t))

        clamp, tip = fix(line["x0"], displacement=(0.0, 0.0, way)), line.at((1.0, 0.0, 0.0))
        problem = DynamicProblem(System(line, terms=[clamp]), spectral_radius=0.8, options=EXACT)
        problem.solve(to=0.4, step=0.01, trace=Trace())
        end = Goal(lambda u_a, v_a: u_a[2] + v_a[2] / 20 + u_a[0], tip)
        return problem, end + Goal(lambda F: F[2] / 10, clamp), p

    yield from by_differences("", solved, values, 2e-3)


@case("G24_gradient_creep", DIFFERENCES, short=0)
def crept() -> Iterator[Number]:
    """A block of rubber whose rate of creep is found at each point (Bergström and Boyce)."""
    values = {"s": 1.6, "stress": 0.5, "way": 0.2}

    def solved(**given: float) -> tuple[StaticProblem, Goal, dict[str, Any]]:
        p = named(**given)
        mesh = Mesh.box((1.0, 1.0, 1.0), (1, 1, 2), comm=MPI.COMM_SELF)
        own: dict[str, Any] = {"creep_s": p["s"], "creep_stress": p["stress"]}
        body = Body(mesh["body"], hex8_plain, CREEPING, **YEOH, **own)
        top = fix(body["z1"], displacement=(lambda t: p["way"].value * t, 0.0, 0.0))
        system = System(body, terms=[fix(body["z0"]), top])
        problem = StaticProblem(system, options=EXACT, check_stable=False)
        problem.solve(to=1.0, step=0.125, smallest=0.125, trace=Trace())
        return problem, Goal(lambda F: F[0] + F[2] / 5, top), p

    yield from by_differences("", solved, values, 2e-3)


@case("G19_gradient_ranks", "the same on one rank")
def shared() -> Iterator[Number]:
    """A pinned block of 512 hexahedra under a pressure, on all ranks there are."""
    mesh = Mesh.box((1.0, 1.0, 1.0), (8, 8, 8))
    _, y, x = np.meshgrid(*3 * [(np.arange(8) + 0.5) / 8], indexing="ij")
    mu, p = Field((1.0 + 0.5 * np.sin(5 * x) * np.cos(3 * y)).ravel()), named(lam=3.0, press=0.1)
    body = Body(mesh["body"], hex8_plain, neo_hooke(), mu=mu, lam=p["lam"])
    pin = spherical(body.at((1.0, 1.0, 1.0)), Ground().at((1.0, 1.0, 1.0)), name="pin")
    terms = [fix(body["x0"]), pressure(body["z1"], p["press"]), pin]
    problem = StaticProblem(System(body, terms=terms), options=EXACT, check_stable=False)
    problem.solve()
    goal = Goal(lambda u_a: u_a[0] + 2 * u_a[1] + 3 * u_a[2], body.at((1.0, 0.5, 0.0)))
    found = problem.gradient(goal + Goal(lambda F: F[2], pin), [mu, *p.values()])
    yield Number(
        "by 512 moduli, along a wave", float(found[mu] @ np.cos(np.arange(512.0))), RANKS[0], 1e-9
    )
    yield Number(
        "by 512 moduli, along another",
        float(found[mu] @ np.sin(np.arange(512.0) ** 2)),
        RANKS[1],
        1e-9,
    )
    yield Number("by lam", found[p["lam"]], RANKS[2], 1e-9)
    yield Number("by the pressure", found[p["press"]], RANKS[3], 1e-9)
