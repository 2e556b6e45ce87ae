# SPDX-License-Identifier: BSD-3-Clause
"""The mechanisms that are compared with Exudyn, by the public interface; also a process of its own.

A function of `MODELS` returns a system and two places; positions of both are what is recorded, the
first is compared. As a script it answers lines of JSON, see `symancf.bench.mechanisms`.
"""

from __future__ import annotations

import gc
import json
import math
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

import symancf as sa

from . import dimensions as d
from .motion import cable_in_parts, cable_pendulum

if TYPE_CHECKING:
    from collections.abc import Callable

Made = tuple[Any, tuple[Any, Any]]

POINTS = {"axial": "5", "bending": "3"}  # of Exudyn's cable


def cables(points: Any, name: str, **section: Any) -> Any:
    """Return a straight line of cables through points (n + 1, 2 or 3)."""
    points = np.pad(points, ((0, 0), (0, 3 - points.shape[1])))
    n = len(points) - 1
    lines = np.stack([np.arange(n), np.arange(1, n + 1)], axis=1)
    mesh = sa.Mesh.from_arrays(points, {"line": lines}, regions={name: ("line", np.arange(n))})
    tangent = (points[-1] - points[0]) / np.linalg.norm(points[-1] - points[0])
    return sa.Body(
        mesh[name],
        sa.elements.ancf_cable,
        cable_in_parts,
        quadrature=POINTS,
        direction=lambda X: np.broadcast_to(tangent, X.shape),
        name=name,
        **section,
    )


def end(body: Any, point: Any) -> Any:
    """Return the place of a body at a point of the plane."""
    return body.at((*np.asarray(point)[:2], 0.0))


def pin(r_a: Any, r_b: Any) -> list[Any]:
    """Return what a hinge of the plane makes vanish."""
    return [r_a[0] - r_b[0], r_a[1] - r_b[1]]


def weld(r_a: Any, e1_a: Any, r_b: Any, e1_b: Any) -> list[Any]:
    """Return what a rigid joint of the plane makes vanish: its axes stay parallel."""
    return [*pin(r_a, r_b), e1_a[0] * e1_b[1] - e1_a[1] * e1_b[0]]


def spring(r_a: Any, r_b: Any, *, k: Any, length: Any) -> Any:
    """Return the energy of a spring."""
    return k / 2 * ((r_a - r_b).norm() - length) ** 2


def damper(r_a: Any, v_a: Any, r_b: Any, v_b: Any, *, c: Any) -> dict[Any, Any]:
    """Return the force of a damper along its line."""
    rate = ((r_a - r_b) / (r_a - r_b).norm()).dot(v_a - v_b)
    return {rate: -c * rate}


def strut(a: Any, b: Any, *, k: float, c: float, length: float) -> list[Any]:
    """Return a spring and a damper between two ends."""
    return [sa.Potential(spring, a, b, k=k, length=length), sa.VirtualWork(damper, a, b, c=c)]


def four_bar() -> Made:
    """Return three boxes with two hinges on the ground and two ball joints, under gravity."""
    bars, ends = [], []
    for k, (a, b) in enumerate(d.BARS):
        size = float(np.linalg.norm(b - a))
        bar = sa.RigidBody.box(
            (size, *d.ACROSS), (a + b) / 2, d.frame(a, b), rho=1000.0, name=f"bar {k}"
        )
        bars.append(bar)
        ends.append((bar.at((-size / 2, 0, 0)), bar.at((size / 2, 0, 0))))
    terms = [
        sa.joints.revolute(ends[0][0], axis=(1, 0, 0)),
        sa.joints.spherical(ends[0][1], ends[1][0]),
        sa.joints.spherical(ends[1][1], ends[2][1]),
        sa.joints.revolute(ends[2][0], axis=(0, 1, 0)),
        sa.gravity((0.0, 0.3 * d.G, d.G)),
    ]
    return sa.System(*bars, terms=terms), (ends[1][1], ends[0][1])


def chain() -> Made:
    """Return boxes with hinges whose axes are skew by turns, that fall from the horizontal."""
    L = d.LINK
    links = [
        sa.RigidBody.box((L, 0.02, 0.03), (L * (k + 0.5), 0, 0), rho=2000.0, name=f"link {k}")
        for k in range(d.LINKS)
    ]
    terms = [sa.joints.revolute(links[0].at((-L / 2, 0, 0)), axis=d.HINGES[0])]
    for k in range(1, d.LINKS):
        a, b = links[k].at((-L / 2, 0, 0)), links[k - 1].at((L / 2, 0, 0))
        terms.append(sa.joints.revolute(a, b, axis=d.HINGES[k % 2]))
    system = sa.System(*links, terms=[*terms, sa.gravity((0.0, 0.0, d.G))])
    return system, (links[-1].at((L / 2, 0, 0)), links[9].at((L / 2, 0, 0)))


def slider_crank() -> Made:
    """Return a crank with a torque, a connecting rod of cables and a slider, in the plane."""
    top, slide = (0.0, d.CRANK), (d.SLIDER, 0.0)
    crank = sa.PlanarBody(
        (0.0, 0.0, math.pi / 2),
        mass=0.5,
        centre=(d.CRANK / 2, 0.0),
        inertia=0.5 * d.CRANK**2 / 12,
        name="crank",
    )
    slider = sa.PlanarBody((*slide, 0.0), mass=1.0, inertia=0.01, name="slider")
    line = d.along(top, slide, d.ROD_CABLES)
    rod = cables(line, "rod", **d.ROD_SECTION)
    terms = [
        sa.joints.revolute(crank.at((0, 0)), sa.ground.at((0.0, 0.0, 0.0))),
        sa.Constraint(pin, crank.at((d.CRANK, 0)), end(rod, top), name="crank pin"),
        sa.Constraint(pin, slider.at((0, 0)), end(rod, slide), name="slider pin"),
        sa.fix(slider, ("y", "theta")),
        sa.planar(rod),
        sa.moment(crank.at((0, 0)), (0.0, 0.0, 0.5)),
    ]
    middle = end(rod, line[d.ROD_CABLES // 2])
    return sa.System(crank, rod, slider, terms=terms), (slider.at((0, 0)), middle)


def _angle_of_first(e1_a: Any) -> Any:
    return sp.atan2(e1_a[1], e1_a[0])


def _turn_of_first(e1_a: Any, w1_a: Any) -> Any:
    return (e1_a[0] * w1_a[1] - e1_a[1] * w1_a[0]) / e1_a.dot(e1_a)


def _angle_between(e1_a: Any, e1_b: Any) -> Any:
    return sp.atan2(e1_a[0] * e1_b[1] - e1_a[1] * e1_b[0], e1_a.dot(e1_b))


def _turn_between(e1_a: Any, w1_a: Any, e1_b: Any, w1_b: Any) -> Any:
    return _turn_of_first(e1_b, w1_b) - _turn_of_first(e1_a, w1_a)


def _target(amplitude: float, rate: float) -> Callable[[float], float]:
    return lambda t: amplitude * math.sin(rate * t) ** 2


def manipulator() -> Made:
    """Return two arms of cables with PD motors that follow functions of time, and a payload."""
    elbow, wrist = (1.0, 0.0), (2.0, 0.0)
    line = np.pad(d.along((0.0, 0.0), wrist, 2 * d.ARM_CABLES), ((0, 0), (0, 1)))
    n = d.ARM_CABLES
    cells = np.stack([np.arange(2 * n), np.arange(1, 2 * n + 1)], axis=1)
    regions = {"lower": ("line", np.arange(n)), "upper": ("line", np.arange(n, 2 * n))}
    mesh = sa.Mesh.from_arrays(line, {"line": cells}, regions=regions)
    lower, upper = (
        sa.Body(
            mesh[name],
            sa.elements.ancf_cable,
            cable_in_parts,
            quadrature=POINTS,
            name=name,
            **d.ARM_SECTION,
        )
        for name in ("lower", "upper")
    )
    load = sa.PlanarBody((*wrist, 0.0), mass=0.1, inertia=1e-3, name="load")
    shoulder = end(lower, (0.0, 0.0))
    gains: dict[str, Any] = {"kp": d.GAIN, "ki": 0.0, "kd": d.DAMPING}
    first, second = (_target(*of) for of in d.TARGETS)
    both = end(lower, elbow), end(upper, elbow)
    terms = [
        sa.joints.spherical(shoulder),
        sa.planar(lower),
        sa.planar(upper),
        sa.Constraint(pin, load.at((0, 0)), end(upper, wrist), name="load pin"),
        sa.fix(load, "theta"),
        sa.PID(_angle_of_first, _turn_of_first, shoulder, target=first, **gains),
        sa.PID(_angle_between, _turn_between, *both, target=second, **gains),
        sa.gravity((0.0, d.G, 0.0)),
    ]
    return sa.System(lower, upper, load, terms=terms), (load.at((0, 0)), both[0])


def rotor() -> Made:
    """Return a line of cables welded to a hub whose angle is a function of time."""
    rope = cables(d.along((0.0, 0.0), (2.0, 0.0), 16), "rope", **d.ROTOR_SECTION)
    hub = sa.PlanarBody((0.0, 0.0, 0.0), mass=1.0, inertia=0.1, name="hub")
    terms = [
        sa.fix(hub, ("x", "y")),
        sa.fix(hub, "theta", displacement=d.spin_up),
        sa.Constraint(weld, end(rope, (0.0, 0.0)), hub.at((0, 0))),
        sa.planar(rope),
    ]
    return sa.System(rope, hub, terms=terms), (end(rope, (2.0, 0.0)), end(rope, (1.0, 0.0)))


def rods() -> Made:
    """Return rods with ball joints that fall from the horizontal."""
    given = sa.Section.circle(d.CIRCLE["radius"]).rod(
        E=d.CIRCLE["E"], nu=d.CIRCLE["nu"], rho=d.CIRCLE["rho"]
    )
    first = 2 * np.arange(d.RODS_EACH)
    cells = {"line3": np.stack([first, first + 2, first + 1], axis=1)}
    bodies: list[Any] = []
    terms = []
    for k in range(d.RODS):
        a, b = (d.ROD_LENGTH * k, 0.0, 0.0), (d.ROD_LENGTH * (k + 1), 0.0, 0.0)
        mesh = sa.Mesh.from_arrays(
            d.along(a, b, 2 * d.RODS_EACH),
            cells,
            regions={"rod": ("line3", np.arange(d.RODS_EACH))},
        )
        rod = sa.Body(
            mesh["rod"], sa.elements.ancf_rod, sa.energies.rod(), name=f"rod {k}", **given
        )
        terms.append(sa.joints.spherical(rod.at(a), *(body.at(a) for body in bodies[-1:])))
        bodies.append(rod)
    system = sa.System(*bodies, terms=[*terms, sa.gravity((0.0, 0.2 * d.G, d.G))])
    return system, (bodies[-1].at(b), bodies[4].at((d.ROD_LENGTH * 5, 0.0, 0.0)))


def _net(make: Callable[[Any, str], tuple[Any, Any]]) -> Made:
    """Return masses, made by `make(position, name)` with their places, and struts between them."""
    n = d.NET
    made = {
        (i, j): make((d.MESH * i, d.MESH * j, 0.0), f"mass {i} {j}")
        for i in range(n)
        for j in range(n)
    }
    terms: list[Any] = []
    for (i, j), (_, place) in made.items():
        for other in ((i + 1, j), (i, j + 1)):
            if other in made:
                length = d.MESH * d.SLACK
                terms += strut(place, made[other][1], k=d.SPRING, c=d.DASHPOT, length=length)
    for corner in ((0, 0), (0, n - 1), (n - 1, 0), (n - 1, n - 1)):
        terms.append(sa.joints.spherical(made[corner][1]))
    terms.append(sa.gravity((0.0, 0.0, d.G)))
    system = sa.System(*(body for body, _ in made.values()), terms=terms)
    return system, (made[n // 2 - 1, n // 2][1], made[n // 5, n // 5][1])


def net() -> Made:
    """Return a net of rigid balls with springs and dampers, held at its corners."""

    def ball(position: Any, name: str) -> tuple[Any, Any]:
        body = sa.RigidBody.sphere(d.BALL, position, rho=d.DENSITY, name=name)
        return body, body.centre

    return _net(ball)


def net_of_points() -> Made:
    """Return the same of point masses."""

    def point(position: Any, name: str) -> tuple[Any, Any]:
        body = sa.PointMass(d.BALL_MASS, position, name=name)
        return body, body.centre

    return _net(point)


def block() -> Made:
    """Return a box that slides and turns on a plane, with friction at its corners."""
    body = sa.RigidBody.box(
        d.BLOCK,
        (0.0, 0.0, d.BLOCK[2] / 2),
        rho=1000.0,
        velocity=d.THROW,
        spin=(0.0, 0.0, d.WHIRL),
        name="block",
    )
    floor = sa.Plane((0, 0, 0), normal=(0, 0, 1))
    contact = sa.Contact(body, floor, mu=d.FRICTION, stiffness=d.STIFFNESS)
    system = sa.System(body, terms=[contact, sa.gravity((0.0, 0.0, d.G))])
    return system, (body.at((0, 0, 0)), body.at(np.array(d.BLOCK) / 2))


def cable_line() -> Made:
    """Return the pendulum of ten cables."""
    system, tip = cable_pendulum(10)
    return system, (tip, system.bodies[0].at((0.6, 0.0, 0.0)))


def plates() -> Made:
    """Return a pendulum of 10 x 6 thin plates, hung at a corner."""
    mesh = sa.Mesh.box((0.3, 0.18), (10, 6))
    law = sa.energies.kirchhoff(curvature="n1")
    rubber: dict[str, Any] = {"E": 1e5, "nu": 0.3, "thickness": 0.01, "rho": 7810.0}
    plate = sa.Body(mesh["body"], sa.elements.ancf_thin_plate, law, name="plate", **rubber)
    hook = sa.joints.spherical(plate.at((0.0, 0.0, 0.0)))
    system = sa.System(plate, terms=[hook, sa.gravity((0.0, 0.0, d.G))])
    return system, (plate.at((0.3, 0.18, 0.0)), plate.at((0.3, 0.0, 0.0)))


def _planar_bar(a: Any, b: Any, name: str) -> Any:
    """Return a slender bar of 1 kg/m in the plane, its frame at a towards b."""
    x, y = b - a
    L = math.hypot(x, y)
    return sa.PlanarBody(
        (*a, math.atan2(y, x)), mass=L, centre=(L / 2, 0.0), inertia=L**3 / 12, name=name
    )


def crank_rocker() -> Made:
    """Return a four-bar linkage of the plane whose coupler is of cables, driven by a torque."""
    a, b, c, e = d.PINS
    crank, rocker = _planar_bar(a, b, "crank"), _planar_bar(e, c, "rocker")
    line = d.along(b, c, d.COUPLER_CABLES)
    coupler = cables(line, "coupler", **d.COUPLER_SECTION)
    ends = crank.at((np.linalg.norm(b - a), 0)), rocker.at((np.linalg.norm(c - e), 0))
    terms = [
        sa.joints.revolute(crank.at((0, 0)), sa.ground.at((*a, 0.0))),
        sa.joints.revolute(rocker.at((0, 0)), sa.ground.at((*e, 0.0))),
        sa.Constraint(pin, ends[0], end(coupler, b), name="crank pin"),
        sa.Constraint(pin, ends[1], end(coupler, c), name="rocker pin"),
        sa.planar(coupler),
        sa.moment(crank.at((0, 0)), (0.0, 0.0, d.COUPLER_TORQUE)),
        sa.gravity((0.0, d.G, 0.0)),
    ]
    system = sa.System(crank, coupler, rocker, terms=terms)
    return system, (ends[1], end(coupler, line[d.COUPLER_CABLES // 2]))


def platform() -> Made:
    """Return a platform on six legs of springs and dampers, a box hung below by a ball joint."""
    top = sa.RigidBody.box(
        d.PLATFORM, d.PLATFORM_AT, rho=500.0, velocity=(0.3, 0.0, 0.0), name="platform"
    )
    drop = d.PLATFORM[2] / 2 + d.HANGING[2] / 2
    below = (0.0, 0.0, d.PLATFORM_AT[2] - drop)
    rod = sa.RigidBody.box(d.HANGING, below, rho=2000.0, velocity=(0.3, 0.0, 0.0), name="rod")
    hook = top.at((0, 0, -d.PLATFORM[2] / 2)), rod.at((0, 0, d.HANGING[2] / 2))
    terms: list[Any] = [sa.joints.spherical(*hook), sa.gravity((0.0, 0.0, d.G))]
    for foot, head in d.legs():
        length = float(np.linalg.norm(d.PLATFORM_AT + head - foot))
        legs = strut(top.at(head), sa.ground.at(foot), k=d.LEG, c=d.LEG_DAMPING, length=length)
        terms += legs
    tip = rod.at((0, 0, -d.HANGING[2] / 2))
    return sa.System(top, rod, terms=terms), (tip, top.at((0.2, 0.2, 0.0)))


def double_pendulum() -> Made:
    """Return two boxes with skew hinges, the end tied to the ground by a spring and a damper."""
    L = d.PENDULUM[0]
    upper, lower = (
        sa.RigidBody.box(d.PENDULUM, (L * (k + 0.5), 0, 0), rho=800.0, name=name)
        for k, name in enumerate(("upper", "lower"))
    )
    tip, elbow = lower.at((L / 2, 0, 0)), upper.at((L / 2, 0, 0))
    length = float(np.linalg.norm(np.subtract(d.ANCHOR, (2 * L, 0, 0))))
    anchor = sa.ground.at(d.ANCHOR)
    terms = [
        sa.joints.revolute(upper.at((-L / 2, 0, 0)), axis=d.PENDULUM_AXES[0]),
        sa.joints.revolute(lower.at((-L / 2, 0, 0)), elbow, axis=d.PENDULUM_AXES[1]),
        *strut(tip, anchor, k=d.TETHER, c=d.TETHER_DAMPING, length=length),
        sa.gravity((0.0, 0.0, d.G)),
    ]
    return sa.System(upper, lower, terms=terms), (tip, elbow)


def _mesh_of_gears(phi_a: Any, phi_b: Any, *, ratio: Any) -> Any:
    return phi_a - ratio * phi_b


def _shaft(phi_a: Any, phi_b: Any, *, k: Any) -> Any:
    return k / 2 * (phi_a - phi_b) ** 2


def _shaft_damper(omega_a: Any, omega_b: Any, *, c: Any) -> dict[Any, Any]:
    return {omega_a - omega_b: -c * (omega_a - omega_b)}


def gears() -> Made:
    """Return a motor, a gear of another speed, an elastic shaft and an eccentric flywheel."""
    centres = (0.0, 0.0), (0.0, 0.0), (d.ECCENTRICITY, 0.0)
    wheels = [
        sa.PlanarBody((0.1 * k, 0.0, 0.0), mass=m, inertia=J, centre=c, name=name)
        for k, (m, J, c, name) in enumerate(
            zip(d.MASSES, d.INERTIAS, centres, ("motor", "gear", "flywheel"), strict=True)
        )
    ]
    motor, gear, flywheel = (wheel.at((0, 0)) for wheel in wheels)
    terms = [
        *(sa.fix(wheel, ("x", "y")) for wheel in wheels[:2]),
        sa.joints.revolute(flywheel, sa.ground.at((0.2, 0.0, 0.0))),
        sa.Constraint(_mesh_of_gears, motor, gear, ratio=d.RATIO, name="teeth"),
        sa.Potential(_shaft, gear, flywheel, k=d.SHAFT),
        sa.VirtualWork(_shaft_damper, gear, flywheel, c=d.SHAFT_DAMPING),
        sa.moment(motor, (0.0, 0.0, d.MOTOR)),
        sa.gravity((0.0, d.G, 0.0)),
    ]
    return sa.System(*wheels, terms=terms), (wheels[2].at((0.1, 0)), wheels[0].at((0.1, 0)))


def payload() -> Made:
    """Return an arm of cables lifted by a prescribed angle, with a mass at its tip."""
    tip = (d.REACH, 0.0)
    arm = cables(d.along((0.0, 0.0), tip, d.REACH_CABLES), "arm", **d.REACH_SECTION)
    hub = sa.PlanarBody((0.0, 0.0, 0.0), mass=1.0, inertia=0.1, name="hub")
    load = sa.PlanarBody((*tip, 0.0), mass=d.PAYLOAD, inertia=1e-3, name="load")
    terms = [
        sa.fix(hub, ("x", "y")),
        sa.fix(hub, "theta", displacement=lambda t: d.LIFT * (1 - math.cos(d.LIFT_RATE * t))),
        sa.Constraint(weld, end(arm, (0.0, 0.0)), hub.at((0, 0)), name="shoulder"),
        sa.Constraint(pin, load.at((0, 0)), end(arm, tip), name="load pin"),
        sa.fix(load, "theta"),
        sa.planar(arm),
        sa.gravity((0.0, d.G, 0.0)),
    ]
    return sa.System(arm, hub, load, terms=terms), (load.at((0, 0)), end(arm, (0.75, 0.0)))


MODELS: dict[str, Callable[[], Made]] = {
    "four-bar": four_bar,
    "chain": chain,
    "slider-crank": slider_crank,
    "manipulator": manipulator,
    "rotor": rotor,
    "rods": rods,
    "net": net,
    "net of points": net_of_points,
    "block": block,
    "cables": cable_line,
    "plates": plates,
    "crank-rocker": crank_rocker,
    "platform": platform,
    "double pendulum": double_pendulum,
    "gears": gears,
    "payload": payload,
}


def designs(count: int, record: bool) -> dict[str, Any]:
    """Return the CPU time [ms] of equilibria of a cantilever of cables with other stiffnesses."""
    EI = sa.Parameter("EI", d.DESIGNS[0])
    mesh = sa.Mesh.box((1.0,), (d.DESIGN_CABLES,))
    beam = sa.Body(
        mesh["body"],
        sa.elements.ancf_cable,
        cable_in_parts,
        quadrature=POINTS,
        EA=d.DESIGN_EA,
        EI=EI,
    )
    tip = beam["x1"]
    system = sa.System(beam, terms=[sa.fix(beam["x0"]), sa.force(tip, d.TIP_FORCE)])
    problem = sa.StaticProblem(system)
    before = problem.solve().iterations
    deflections = []
    gc.collect()
    start = time.process_time()
    for EI.value in np.linspace(*d.DESIGNS, count):
        history = problem.solve()
        if record:
            deflections.append(system.position(tip)[0])
    spent = time.process_time() - start
    return {
        "name": f"symancf {sa.__version__}",
        "ms_per_step": 1e3 * spent / count,
        "iterations": (history.iterations - before) / count,
        "unknowns": system.state.size,
        "end": np.asarray(system.position(tip))[0].tolist(),
    }


def run(model: str, steps: int | None = None, record: bool = False) -> dict[str, Any]:
    """Return the CPU time of a step [ms] and the position of the first place at the end.

    `record`: the positions of both places are kept in each step.
    """
    steps = steps or d.MODELS[model].steps
    if model == "designs":
        return designs(steps, record)
    system, places = MODELS[model]()
    h = d.MODELS[model].h
    problem = sa.DynamicProblem(system, spectral_radius=d.SPECTRAL_RADIUS)
    problem.initialize(h)
    for name, place in zip(("first", "second"), places if record else (), strict=False):
        problem.record(name, place)
    gc.collect()
    start = time.process_time()
    history = problem.solve(to=steps * h, step=h)
    spent = time.process_time() - start
    return {
        "name": f"symancf {sa.__version__}",
        "ms_per_step": 1e3 * spent / problem.steps,
        "iterations": history.iterations / problem.steps,
        "cut_backs": history.cut_backs,
        "unknowns": system.state.size,
        "end": np.asarray(system.position(places[0]))[0].tolist(),
    }


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(run(**json.loads(line))), flush=True)
