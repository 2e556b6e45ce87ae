# SPDX-License-Identifier: BSD-3-Clause
"""Motions of mechanisms and bodies of every kind, whose numbers are compared."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import sympy as sp

import symancf as sa
from symancf.energies import cable, kirchhoff, neo_hooke, rod, yeoh
from tests.remembering import maxwell

G = 9.81
RUBBER = {"mu": 3e4, "lam": 6e4, "rho": 1000.0}
AXIAL_AND_BENDING = {"axial": "5", "bending": "3"}


@dataclass
class Motion:
    """A system, the places that are watched, the length of a step [s] and the method's options."""

    system: sa.System
    places: Sequence[Any]
    step: float = 1e-3
    options: dict[str, Any] = field(default_factory=dict)
    adaptive: bool | None = None

    def problem(self) -> sa.DynamicProblem:
        """Return the motion, not begun."""
        return sa.DynamicProblem(self.system, **self.options)

    def solve(self, problem: sa.DynamicProblem, steps: int) -> Any:
        """Make steps from where the motion is; return its history."""
        to = self.system.time + steps * self.step
        return problem.solve(to=to, step=self.step, adaptive=self.adaptive)

    def numbers(self) -> list[Any]:
        """Return time, positions and velocities of all places (collective)."""
        found = [[self.system.time]]
        for place in self.places:
            for values in (self.system.position(place), self.system.velocity(place)):
                found.append(np.asarray(values).ravel().tolist())
        return found


def in_parts(epsilon: Any, kappa: Any, *, EA: Any, EI: Any) -> dict[str, Any]:
    """Return the energy of a cable, each part with a quadrature of its own."""
    return {"axial": EA * epsilon**2 / 2, "bending": EI * kappa**2 / 2}


def rope(points: Any, name: str = "rope", **section: float) -> sa.Body:
    """Return a straight cable through points (n, 3)."""
    X = np.asarray(points, dtype=float)
    numbers = np.arange(len(X))
    cells = {"line": np.stack([numbers[:-1], numbers[1:]], axis=1)}
    mesh = sa.Mesh.from_arrays(X, cells, regions={"rope": ("line", numbers[:-1])})
    along = (X[-1] - X[0]) / np.linalg.norm(X[-1] - X[0])
    return sa.Body(
        mesh["rope"],
        sa.elements.ancf_cable,
        in_parts,
        quadrature=AXIAL_AND_BENDING,
        direction=lambda at: np.broadcast_to(along, at.shape),
        name=name,
        **section,
    )


def line(start: float, end: float, cells: int) -> Any:
    """Return points along x."""
    return np.outer(np.linspace(start, end, cells + 1), (1.0, 0.0, 0.0))


def in_plane(r_a: Any, r_b: Any) -> Any:
    """Return what a pin in the plane holds."""
    return [r_a[0] - r_b[0], r_a[1] - r_b[1]]


def double_pendulum() -> Motion:
    """Two bars on hinges."""
    a, b = (
        sa.RigidBody.box((1.0, 0.1, 0.1), (k + 0.5, 0.0, 0.0), rho=1000.0, name=f"bar{k}")
        for k in range(2)
    )
    hinge = partial(sa.joints.revolute, axis=(0.0, 1.0, 0.0))
    left, right = (-0.5, 0.0, 0.0), (0.5, 0.0, 0.0)
    joints = [hinge(a.at(left)), hinge(b.at(left), a.at(right))]
    system = sa.System(a, b, terms=[*joints, sa.gravity((0.0, 0.0, -G))])
    return Motion(system, [a.at(right), b.at(right)])


def four_bar() -> Motion:
    """A four-bar linkage in space, RSSR."""
    corners = np.array([[0, 0, 0], [0, 0, 0.2], [0.6, 0.3, 0.4], [0.6, 0.3, 0]], dtype=float)
    bars, lengths = [], []
    for k, (i, j) in enumerate(((0, 1), (1, 2), (3, 2))):
        along = corners[j] - corners[i]
        lengths.append(float(np.linalg.norm(along)))
        e1 = along / lengths[-1]
        e2 = np.cross((0.0, 1.0, 0.0) if abs(e1[1]) < 0.9 else (1.0, 0.0, 0.0), e1)
        e2 /= np.linalg.norm(e2)
        frame = np.stack([e1, e2, np.cross(e1, e2)], axis=1)
        size, middle = (lengths[-1], 0.03, 0.04), (corners[i] + corners[j]) / 2
        bars.append(sa.RigidBody.box(size, middle, frame, rho=1000.0, name=f"bar{k}"))

    def end(k: int, side: float) -> Any:
        return bars[k].at((side * lengths[k] / 2, 0.0, 0.0))

    terms = [
        sa.joints.revolute(end(0, -1), axis=(1.0, 0.0, 0.0)),
        sa.joints.spherical(end(0, 1), end(1, -1)),
        sa.joints.spherical(end(1, 1), end(2, 1)),
        sa.joints.revolute(end(2, -1), axis=(0.0, 1.0, 0.0)),
        sa.gravity((0.0, -0.3 * G, -G)),
    ]
    return Motion(sa.System(*bars, terms=terms), [end(0, 1), end(1, 1)])


def chain() -> Motion:
    """Twenty bars on hinges whose axes alternate."""
    length, axes = 0.1, [(0.0, 1.0, 0.0), (0.0, 0.6, 0.8)]
    bars = [
        sa.RigidBody.box(
            (length, 0.02, 0.03), (length * (k + 0.5), 0.0, 0.0), rho=2000.0, name=f"bar{k}"
        )
        for k in range(20)
    ]
    left, right = (-length / 2, 0.0, 0.0), (length / 2, 0.0, 0.0)
    terms = [sa.joints.revolute(bars[0].at(left), axis=axes[0]), sa.gravity((0.0, 0.0, -G))]
    for k in range(1, 20):
        ends = bars[k].at(left), bars[k - 1].at(right)
        terms.append(sa.joints.revolute(*ends, axis=axes[k % 2]))
    return Motion(sa.System(*bars, terms=terms), [bars[9].at(right), bars[-1].at(right)])


def slider_crank() -> Motion:
    """A crank with a torque, a flexible rod and a slider, in the plane."""
    reach = math.sqrt(0.6**2 - 0.2**2)
    a, b = np.array([0.0, 0.2, 0.0]), np.array([reach, 0.0, 0.0])
    crank = sa.PlanarBody(
        position=(0.0, 0.0, math.pi / 2), mass=0.5, centre=(0.1, 0.0), inertia=0.5 * 0.04 / 12
    )
    points = a + np.linspace(0.0, 1.0, 9)[:, None] * (b - a)
    flexible = rope(points, EA=1e4, EI=2.0, rho=1000.0, A=1e-3)
    slide = sa.PlanarBody(position=(reach, 0.0, 0.0), mass=1.0, inertia=0.01, name="slide")
    terms = [
        sa.joints.revolute(crank.at((0, 0)), sa.ground.at((0.0, 0.0, 0.0))),
        sa.Constraint(in_plane, crank.at((0.2, 0.0)), flexible.at(a), name="crank pin"),
        sa.Constraint(in_plane, slide.at((0, 0)), flexible.at(b), name="slide pin"),
        sa.fix(slide, "y"),
        sa.fix(slide, "theta"),
        sa.planar(flexible),
        sa.moment(crank.at((0, 0)), (0.0, 0.0, 0.5)),
    ]
    system = sa.System(crank, flexible, slide, terms=terms)
    return Motion(system, [slide.at((0, 0)), flexible.at(points[4])], 5e-4)


def manipulator() -> Motion:
    """Two flexible links with motors that follow targets, and a payload, in the plane."""
    section = {"EA": 7e5, "EI": 200.0, "rho": 2700.0, "A": 1e-4}
    lower = rope(line(0.0, 1.0, 4), "lower", **section)
    upper = rope(line(1.0, 2.0, 4), "upper", **section)
    load = sa.PlanarBody(position=(2.0, 0.0, 0.0), mass=0.1, inertia=1e-3, name="load")

    def speed(e: Any, w: Any) -> Any:
        return (e[0] * w[1] - e[1] * w[0]) / e.dot(e)

    def hub(e1_a: Any) -> Any:
        return sp.atan2(e1_a[1], e1_a[0])

    def hub_rate(e1_a: Any, w1_a: Any) -> Any:
        return speed(e1_a, w1_a)

    def elbow(e1_a: Any, e1_b: Any) -> Any:
        return sp.atan2(e1_a[0] * e1_b[1] - e1_a[1] * e1_b[0], e1_a.dot(e1_b))

    def elbow_rate(e1_a: Any, w1_a: Any, e1_b: Any, w1_b: Any) -> Any:
        return speed(e1_b, w1_b) - speed(e1_a, w1_a)

    motor, at = partial(sa.PID, kp=400.0, ki=0.0, kd=40.0), (1.0, 0.0, 0.0)
    first = motor(hub, hub_rate, lower.at((0.0, 0.0, 0.0)), target=lambda t: 0.8 * _sin2(2 * t))
    second = motor(
        elbow, elbow_rate, lower.at(at), upper.at(at), target=lambda t: -0.6 * _sin2(3 * t)
    )
    terms = [
        sa.joints.spherical(lower.at((0.0, 0.0, 0.0))),
        sa.joints.spherical(lower.at(at), upper.at(at)),
        sa.planar(lower),
        sa.planar(upper),
        sa.Constraint(in_plane, load.at((0, 0)), upper.at((2.0, 0.0, 0.0)), name="load pin"),
        sa.fix(load, "theta"),
        first,
        second,
        sa.gravity((0.0, -G, 0.0)),
    ]
    return Motion(sa.System(lower, upper, load, terms=terms), [load.at((0, 0))])


def _sin2(x: float) -> float:
    return math.sin(x) ** 2


def rotor() -> Motion:
    """A flexible blade on a hub whose angle is a function of time."""
    blade = rope(line(0.0, 2.0, 16), EA=2e5, EI=50.0, rho=1000.0, A=1e-3)
    hub = sa.PlanarBody(position=(0.0, 0.0, 0.0), mass=1.0, inertia=0.1, name="hub")

    def weld(r_a: Any, e1_a: Any, r_b: Any, e1_b: Any) -> Any:
        return [*in_plane(r_a, r_b), e1_a[0] * e1_b[1] - e1_a[1] * e1_b[0]]

    turn = lambda t: 4.0 * (t * t if t < 0.5 else t - 0.25)  # noqa: E731
    terms = [
        sa.fix(hub, "x"),
        sa.fix(hub, "y"),
        sa.fix(hub, "theta", displacement=turn),
        sa.Constraint(weld, blade.at((0.0, 0.0, 0.0)), hub.at((0, 0))),
        sa.planar(blade),
    ]
    return Motion(sa.System(blade, hub, terms=terms), [blade.at((2.0, 0.0, 0.0))], 5e-4)


def rods() -> Motion:
    """A chain of three rods of two elements, on spherical joints."""
    given = sa.Section.circle(0.02).rod(E=2e7, nu=0.3, rho=1200.0)
    bodies, terms = [], [sa.gravity((0.0, -0.2 * G, -G))]
    for k in range(3):
        first = np.array([0, 2])
        cells = {"line3": np.stack([first, first + 2, first + 1], axis=1)}
        X = line(0.2 * k, 0.2 * (k + 1), 4)
        mesh = sa.Mesh.from_arrays(X, cells, regions={"rod": ("line3", np.arange(2))})
        bodies.append(sa.Body(mesh["rod"], sa.elements.ancf_rod, rod(), name=f"rod{k}", **given))
        start = (0.2 * k, 0.0, 0.0)
        terms.append(sa.joints.spherical(*(body.at(start) for body in bodies[-1:-3:-1])))
    system = sa.System(*bodies, terms=terms)
    return Motion(system, [bodies[0].at((0.2, 0.0, 0.0)), bodies[-1].at((0.6, 0.0, 0.0))])


def net() -> Motion:
    """Twenty-five balls on springs with dampers, held at the corners."""

    def spring(r_a: Any, r_b: Any, *, k: Any, length: Any) -> Any:
        return k / 2 * ((r_a - r_b).norm() - length) ** 2

    def damper(r_a: Any, v_a: Any, r_b: Any, v_b: Any, *, c: Any) -> Any:
        rate = ((r_a - r_b) / (r_a - r_b).norm()).dot(v_a - v_b)
        return {rate: -c * rate}

    side = range(5)
    balls = {
        (i, j): sa.RigidBody.sphere(
            0.02, position=(0.1 * i, 0.1 * j, 0.0), rho=3000.0, name=f"{i} {j}"
        )
        for i in side
        for j in side
    }
    terms = [sa.gravity((0.0, 0.0, -G))]
    terms += [sa.joints.spherical(balls[i, j].centre) for i in (0, 4) for j in (0, 4)]
    for i, j in balls:
        for other in ((i + 1, j), (i, j + 1)):
            if other in balls:
                ends = balls[i, j].centre, balls[other].centre
                terms.append(sa.Potential(spring, *ends, k=500.0, length=0.095))
                terms.append(sa.VirtualWork(damper, *ends, c=1.0))
    system = sa.System(*balls.values(), terms=terms)
    return Motion(system, [balls[2, 2].centre, balls[1, 2].centre])


def sliding_block() -> Motion:
    """A rigid block that slides on a plane with friction."""
    block = sa.RigidBody.box(
        (0.2, 0.1, 0.1), (0.0, 0.0, 0.05), rho=1000.0, velocity=(2.0, 0.5, 0.0), spin=(0, 0, 3.0)
    )
    floor = sa.Plane((0.0, 0.0, 0.0), normal=(0.0, 0.0, 1.0))
    terms = [sa.Contact(block, floor, mu=0.3, stiffness=1e5), sa.gravity((0.0, 0.0, -G))]
    return Motion(sa.System(block, terms=terms), [block.centre, block.at((0.1, 0.05, 0.05))])


def tumbling_block() -> Motion:
    """A rigid body without joints that spins about its middle axis."""
    block = sa.RigidBody.box((0.1, 0.2, 0.4), (0.0, 0.0, 0.0), rho=1000.0, spin=(0.01, 5.0, 0.0))
    return Motion(sa.System(block, terms=[sa.gravity((0, 0, -G))]), [block.at((0.05, 0.1, 0.2))])


def cables(**options: Any) -> Motion:
    """A pendulum of ten soft cables."""
    soft = {"EA": 1260.0, "EI": 0.7e6 * 1.215e-8, "rho": 5540.0, "A": 1.8e-3}
    pendulum = rope(line(0.0, 1.2, 10), **soft)
    terms = [sa.fix(pendulum.at((0.0, 0.0, 0.0)), "position"), sa.gravity((0.0, -G, 0.0))]
    return Motion(sa.System(pendulum, terms=terms), [pendulum.at((1.2, 0.0, 0.0))], **options)


def explicit_cables() -> Motion:
    """The same by a Runge-Kutta method with steps of one length."""
    return cables(step=1e-4, options={"method": "rk"}, adaptive=False)


def plates() -> Motion:
    """A soft thin plate of 24 elements that hangs at a corner."""
    mesh = sa.Mesh.box((0.3, 0.18), (6, 4))
    given = {"E": 1e5, "nu": 0.3, "thickness": 0.01, "rho": 7810.0}
    plate = sa.Body(mesh["body"], sa.elements.ancf_thin_plate, kirchhoff(curvature="n1"), **given)
    pin = sa.joints.spherical(plate.at((0.0, 0.0, 0.0)))
    system = sa.System(plate, terms=[pin, sa.gravity((0.0, 0.0, -G))])
    return Motion(system, [plate.at((0.3, 0.18, 0.0))], 5e-4)


def solid() -> Motion:
    """A bar of hexahedra with Rayleigh's damping under its weight."""
    mesh = sa.Mesh.box((0.4, 0.1, 0.1), (4, 2, 2))
    bar = sa.Body(mesh["body"], sa.elements.hex8, neo_hooke(), **RUBBER)
    system = sa.System(bar, terms=[sa.fix(bar["x0"]), sa.gravity((0.0, 0.0, -G))])
    options = {"damping": sa.Rayleigh(mass=0.5, stiffness=1e-3)}
    return Motion(system, [bar["x1"]], options=options)


def finger() -> Motion:
    """A tube with a pressure that grows [mm, t, s]."""
    mesh = sa.Mesh.tube(3.0, 5.0, 80.0, (1, 6, 6))
    law = {"C10": 0.11, "C20": 0.02, "C30": 0.0, "k": 12.0, "rho": 1.1e-9}
    tube = sa.Body(mesh["body"], sa.elements.hex8, yeoh(), **law)
    pressure = sa.Cavity(tube["inner"], caps="flat", pressure=lambda t: 0.02 * min(1.0, t / 0.05))
    push = sa.body_force(tube["body"], (1e-6, 0.0, 0.0))
    system = sa.System(tube, terms=[sa.fix(tube["z0"]), pressure, push])
    return Motion(system, [tube.at((5.0, 0.0, 80.0))])


def creeping() -> Motion:
    """A bar whose law has a memory."""
    mesh = sa.Mesh.box((0.4, 0.1, 0.1), (4, 1, 1))
    law = {"E0": 4e5, "E1": 8e5, "tau": 0.1, "rho": 1000.0}
    bar = sa.Body(mesh["body"], sa.elements.hex8_plain, maxwell, **law)
    system = sa.System(bar, terms=[sa.fix(bar["x0"]), sa.gravity((0.0, 0.0, -G))])
    return Motion(system, [bar["x1"]])


def touching() -> Motion:
    """A soft block that falls on another and slides there with friction."""
    blocks = []
    for name, low, n in (("lower", 0.0, 3), ("upper", 0.1005, 2)):
        mesh = sa.Mesh.box((0.1,) * 3, (n,) * 3, warp=lambda x, z=low: x + np.array([0, 0, z]))
        blocks.append(
            sa.Body(mesh["body"], sa.elements.hex8_plain, neo_hooke(), name=name, **RUBBER)
        )
    lower, upper = blocks
    terms = [
        sa.fix(lower["z0"]),
        sa.Contact(upper["z0"], lower["z1"], mu=0.3),
        sa.gravity((0.2 * G, 0.0, -G)),
    ]
    return Motion(sa.System(lower, upper, terms=terms), [upper["z1"], lower["z1"]])


_EVERY: tuple[Callable[[], Motion], ...] = (
    double_pendulum, four_bar, chain, slider_crank, manipulator, rotor, rods, net, sliding_block,
    tumbling_block, cables, explicit_cables, plates, solid, finger, creeping, touching,
)  # fmt: skip
MOTIONS = {make.__name__.replace("_", " "): make for make in _EVERY}


@dataclass
class Equilibrium:
    """A body whose load or support is a parameter, solved anew for each of its values."""

    problem: sa.StaticProblem
    load: sa.Parameter
    count: int = 0

    def solve(self, steps: int) -> None:
        """Find equilibria for values that go up and down."""
        for _ in range(steps):
            self.count += 1
            self.load.value = 0.5 + 0.5 * (self.count % 2)
            self.problem.solve()


def rubber() -> Equilibrium:
    """A cube of rubber that is drawn."""
    load = sa.Parameter("load", 0.5)
    cube = sa.Body(
        sa.Mesh.box((1.0,) * 3, (4,) * 3)["body"], sa.elements.hex8, neo_hooke(), mu=1.0, lam=10.0
    )
    pull = sa.traction(cube["x1"], (lambda t: 0.2 * load.value, 0.0, 0.0))
    return _equilibrium(load, sa.System(cube, terms=[sa.fix(cube["x0"]), pull]))


def pressed() -> Equilibrium:
    """A block that is pressed onto another, with friction."""
    load = sa.Parameter("load", 0.5)
    blocks = []
    for name, low, n in (("lower", 0.0, 3), ("upper", 1.001, 2)):
        mesh = sa.Mesh.box((1.0,) * 3, (n,) * 3, warp=lambda x, z=low: x + np.array([0, 0, z]))
        given = {"mu": 1.0, "lam": 1.0}
        blocks.append(
            sa.Body(mesh["body"], sa.elements.hex8_plain, neo_hooke(), name=name, **given)
        )
    lower, upper = blocks
    moved = sa.fix(upper["z1"], displacement=lambda t: (0.01 * load.value, 0.0, -0.1 * load.value))
    terms = [sa.fix(lower["z0"]), sa.Contact(upper["z0"], lower["z1"], mu=0.3), moved]
    return _equilibrium(load, sa.System(lower, upper, terms=terms))


def bent() -> Equilibrium:
    """A clamped cable with a force at its end."""
    load = sa.Parameter("load", 0.5)
    body = sa.Body(
        sa.Mesh.box((1.0,), (10,))["body"], sa.elements.ancf_cable, cable(), EA=1e4, EI=2.0
    )
    force = sa.force(body["x1"], (0.0, 0.0, lambda t: 2.0 * load.value))
    return _equilibrium(load, sa.System(body, terms=[sa.fix(body["x0"], "all"), force]))


def _equilibrium(load: sa.Parameter, system: sa.System) -> Equilibrium:
    return Equilibrium(sa.StaticProblem(system), load)


EQUILIBRIA = {make.__name__: make for make in (rubber, pressed, bent)}
