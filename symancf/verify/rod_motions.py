# SPDX-License-Identifier: BSD-3-Clause
"""Motions of rods: free ones, frames, mechanisms and shafts, beside another program's."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..bodies.body import Body
from ..bodies.natural import RigidBody
from ..catalogue.boundary import fix
from ..catalogue.joints import clamp, cylindrical, revolute, rotation
from ..catalogue.loads import force, gravity
from ..catalogue.moments import moment
from ..elements import ancf_rod
from ..energies import rod
from ..mesh import Mesh
from ..places.ends import Ground
from ..solve.dynamics import DynamicProblem
from ..system import System
from ..terms.constraint import Constraint
from ..values.parameter import Parameter
from .case import Curve, Number, case
from .rods import along, line

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from ..arrays import Array

#: Another program: frames of SE(3), second order in the cell size, generalized-alpha.
SONNEVILLE = "V. Sonneville's program mb_sef_py (github.com/vspsonn)"


def stiff(EA: float, GA: Any, GJ: float, EI: Any, m: float, I: Any) -> dict[str, Any]:
    """Return parameters of a rod; pairs are of axes 2 and 3, `m` and `I` per length."""
    GA2, GA3 = np.broadcast_to(GA, 2).tolist()
    EI2, EI3 = np.broadcast_to(EI, 2).tolist()
    I2, I3 = np.broadcast_to(I, 2).tolist()
    parameters = {"EA": EA, "GA2": GA2, "GA3": GA3, "GJ": GJ, "EI2": EI2, "EI3": EI3}
    return parameters | {"rho": 1.0, "A": m, "I2": I2, "I3": I3}


def bar(name: str, ends: npt.ArrayLike, cells: int, axis: npt.ArrayLike, **parameters: Any) -> Body:
    """Return a straight rod between two places, `axis` the direction of axis 2."""
    a, b = np.asarray(ends, dtype=float)
    mesh = Mesh.box(
        (1.0,), (cells,), cell="line3", warp=lambda X: a + X[:, :1] * (b - a), name=name
    )
    return Body(
        mesh["body"], ancf_rod, rod(), name=name, direction=along(np.asarray(axis)), **parameters
    )


def compared(
    what: str,
    times: Array,
    series: Array,
    reference: dict[float, float],
    tolerance: float,
    scale: float,
) -> Iterator[Number]:
    """Compare a series at the times of the reference."""
    for t, right in reference.items():
        k = int(np.abs(times - t).argmin())
        yield Number(f"{what} at {t:g} s", float(series[k]), right, tolerance, scale)


# ---- a free rod --------------------------------------------------------------------------------
PUSH = np.array([-4.8, -6.4, 0.0])  # along the rod and across it: 8 in the paper's axes


def free_rod(out: float) -> tuple[DynamicProblem, Body, Parameter]:
    """Return a free rod of length 10, pushed and turned at its start, also out of the plane."""
    parameters = stiff(1e4, 1e4, 500.0, 500.0, 1.0, 10.0)
    beam = bar("beam", ((0.0, 0.0, 0.0), (10.0, 0.0, 0.0)), 8, (0.0, 1.0, 0.0), **parameters)
    push = Parameter("push", 1.0)
    pushed = force(beam["x0"], tuple(lambda t, f=f: f * push.value for f in PUSH))

    def couple(t: float) -> float:  # grows and falls: sections have next to no inertia
        return -80.0 * min(max(min(t, 2.5 - t) / 0.05, 0.0), 1.0)

    turned = moment(beam["x0"], (0.0, lambda t: out * couple(t), couple))
    return DynamicProblem(System(beam, terms=[pushed, turned]), spectral_radius=0.99), beam, push


def flown(t: float) -> Array:
    """Return the place of the centre."""
    way = t**2 / 2.0 if t < 2.5 else 3.125 + 2.5 * (t - 2.5)
    return np.asarray([5.0, 0.0, 0.0] + PUSH / 10.0 * way)


@case("A60_rod_spaghetti", "invariants (Newton); set-up of Simo and Vu-Quoc (1986)", short=12)
def spaghetti() -> Iterator[Number | Curve]:
    """Free rod pushed and turned at one end for 2.5 s, in the plane and out of it."""
    places = np.zeros((17, 3))
    places[:, 0] = np.linspace(0.0, 10.0, 17)
    weights = np.r_[1.0, np.tile([4.0, 2.0], 8)[:-1], 1.0] / 48.0  # shares of nodes in the mass
    times = (1.0, 2.5, 5.0, 7.5, 10.0)
    for out, what in ((0.0, "in the plane"), (0.5, "out of the plane")):
        problem, beam, push = free_rod(out)
        system, nodes = problem.system, beam.at(places)
        shapes, pictures = [], []
        for to in times:
            problem.solve(to=to, step=0.01)
            shapes.append(system.position(nodes))
            p, L = system.momentum()
            label, centre = f"t = {to:g}, {what}", weights @ shapes[-1]
            for k, axis in enumerate("xyz"):
                right = float(flown(to)[k])
                yield Number(f"{axis} of the centre: {label}", float(centre[k]), right, 1e-8, 8.0)
                right = float(PUSH[k] * min(to, 2.5))
                yield Number(f"momentum along {axis}: {label}", float(p[k]), right, 1e-8, 20.0)
            if to >= 2.5:
                energies = problem.energies
                pictures.append(np.append(L, energies.kinetic + energies.strain))
            if to == 2.5:
                push.value = 0.0
        change, size = np.ptp(np.array(pictures), axis=0), float(np.linalg.norm(pictures[0][:3]))
        spin = float(change[:3].max())
        yield Number(f"angular momentum after 2.5 s, {what}", spin, 0.0, 2e-3, size)
        yield Number(f"energy after 2.5 s, {what}", float(change[3]), 0.0, 2e-3, pictures[0][3])
        for to, shape in zip(times, shapes, strict=True):
            reference = [flown(to)[0]], [flown(to)[1]]
            where = "x", f"y, {what}"
            source = "centre, closed form"
            yield Curve(where, f"t = {to:g}", shape[:, 0], shape[:, 1], reference, source)


# ---- a frame -----------------------------------------------------------------------------------
#: Time -> displacement out of the plane.
ANGLE: dict[str, dict[float, float]] = {
    "elbow": {
        1.5: 2.5587,
        3: 5.5001,
        4.5: 3.765,
        6: 2.5538,
        7.5: 2.3081,
        9: -0.68797,
        10.5: -3.8926,
        12: -2.1287,
        13.5: 0.84127,
        15: 0.13134,
        16.5: -1.401,
        18: -1.7241,
        19.5: -2.1263,
        21: -3.3176,
        22.5: -0.65174,
        24: 4.3667,
        25.5: 6.0316,
        27: 4.3919,
        28.5: 2.7449,
        30: -0.17795,
    },
    "tip": {
        1.5: 0.042666,
        3: 1.507,
        4.5: 4.4271,
        6: 6.9023,
        7.5: 8.2414,
        9: 6.7851,
        10.5: 3.0448,
        12: -3.367,
        13.5: -7.7784,
        15: -9.2402,
        16.5: -9.3327,
        18: -6.0096,
        19.5: -1.7102,
        21: 4.4332,
        22.5: 6.5929,
        24: 6.5141,
        25.5: 6.9022,
        27: 6.19,
        28.5: 2.2914,
        30: 0.1332,
    },
}


@case("A61_right_angle", f"Simo and Vu-Quoc (1988); values: {SONNEVILLE}, 10 cells a leg", short=4)
def right_angle() -> Iterator[Number | Curve]:
    """Cantilever with a right angle, pushed out of its plane at the elbow for 2 s: 30 s."""
    n = 5
    x = np.linspace(0.0, 10.0, 2 * n + 1)
    o, y = 0.0 * x, x[1:]
    X = np.concatenate([np.stack([x, o, o], 1), np.stack([10.0 + 0.0 * y, y, 0.0 * y], 1)])
    mesh = line(X)
    across = along(np.array([-1.0, 1.0, 0.0]))
    body = Body(
        mesh["rod"], ancf_rod, rod(), direction=across, **stiff(1e6, 1e6, 1e3, 1e3, 1.0, 10.0)
    )
    elbow = body.at((10.0, 0.0, 0.0))
    push = force(elbow, (0.0, 0.0, lambda t: 50.0 * max(0.0, min(t, 2.0 - t))))
    system = System(body, terms=[fix(body["start"]), push])
    problem = DynamicProblem(system, spectral_radius=0.95)
    problem.record("elbow", lambda: system.displacement(elbow)[0, 2])
    problem.record("tip", lambda: system.displacement(body["end"])[0, 2])
    problem.record("energy", lambda: problem.energies.kinetic + problem.energies.strain)
    for start, to in ((0.0, 1.0), (1.0, 2.0), (2.0, 3.0), (3.0, 30.0)):
        history = problem.solve(to=to, step=0.05)
        t = history.time
        for what, reference in ANGLE.items():
            some = {t: value for t, value in reference.items() if start < t <= to}
            yield from compared(f"z of the {what}", t, history[what], some, 0.02, 10.0)
    load = 50.0 * np.clip(np.minimum(t, 2.0 - t), 0.0, None)
    z = np.append(0.0, history["elbow"])
    work = float(np.sum(0.5 * (load + np.append(0.0, load)[:-1]) * np.diff(z)))
    free = history["energy"][t > 2.0 - 1e-9]
    yield Number("energy at 2 s, work of the force", float(free[0]), work, 5e-3)
    yield Number("energy from 2 s to 30 s", float(np.ptp(free)) / free[0], 0.0, 5e-3)
    for what, reference in ANGLE.items():
        expected = list(reference), list(reference.values())
        yield Curve(("time", "z"), what, t, history[what], expected, "mb_sef_py")


# ---- a mechanism -------------------------------------------------------------------------------
#: Time -> displacement of C [m], the pin leaning in the plane across the rocker.
CROOKED = {
    1.0: (0.0677484, -0.0209563, -0.00056534),
    2.0: (0.1118235, -0.0765951, -0.00266971),
    3.0: (0.0944681, -0.0461221, -0.00333500),
    4.0: (-0.0325274, -0.0044973, -0.00081066),
    5.0: (-0.0891286, -0.0396502, 0.00002460),
    6.0: (-0.1101172, -0.0723144, -0.00051685),
    7.0: (-0.1181728, -0.0992593, -0.00196502),
    8.0: (-0.1195642, -0.1104513, -0.00325564),
    9.0: (-0.0927312, -0.0438568, -0.00157685),
    10.0: (-0.0335268, -0.0047789, -0.00025892),
    11.0: (0.0373809, -0.0059708, -0.00009703),
    12.0: (0.0952253, -0.0470039, -0.00151420),
}
#: The same, the pin leaning along the coupler, as the benchmark has it.
LEANING = {
    1.0: (0.0677376, -0.0209784, -0.00204996),
    2.0: (0.1118115, -0.0766998, -0.00385239),
    3.0: (0.0945235, -0.0462504, -0.00407407),
    4.0: (-0.0325080, -0.0045256, -0.00240549),
    5.0: (-0.0891293, -0.0396528, -0.00043026),
    6.0: (-0.1101121, -0.0723255, 0.00131689),
    7.0: (-0.1181599, -0.0993266, 0.00278902),
    8.0: (-0.1195705, -0.1106324, 0.00340326),
    9.0: (-0.0927380, -0.0439007, 0.00246381),
    10.0: (-0.0335225, -0.0047824, 0.00090076),
    11.0: (0.0373802, -0.0059781, -0.00107468),
    12.0: (0.0952135, -0.0470636, -0.00308698),
}
A, B, C, D = (0.0, 0.0, 0.0), (0.0, 0.12, 0.0), (0.24, 0.12, 0.0), (0.24, 0.0, 0.0)


def four_bar(lean: tuple[float, float, float], unit: float) -> tuple[DynamicProblem, Body]:
    """Return the mechanism whose pin at C leans; lengths in 1/`unit` metres."""
    thick: tuple[Any, ...] = (52.99e6, 16.88e6, 733.5, 1131.0, 1.997, 42.6e-6)
    thin: tuple[Any, ...] = (13.25e6, 4.22e6, 45.84, 70.66, 0.4992, 2.662e-6)

    def made(name: str, ends: Any, cells: int, values: tuple[Any, ...]) -> Body:
        EA, GA, GJ, EI, m, I = values
        # forces stay N: masses in tonnes where lengths are mm
        scaled = stiff(EA, GA, GJ * unit**2, EI * unit**2, m / unit**2, I)
        return bar(name, unit * np.array(ends), cells, (0.0, 0.0, 1.0), **scaled)

    crank, coupler = made("crank", (A, B), 4, thick), made("coupler", (B, C), 8, thick)
    rocker = made("rocker", (C, D), 4, thin)
    z, foot, post = (0.0, 0.0, 1.0), Ground(unit * np.array(A)), Ground(unit * np.array(D))
    terms = [
        revolute(crank["x0"], foot, axis=z, name="A"),
        rotation(crank["x0"], foot, angle=lambda t: -0.6 * t, axis=z),
        revolute(crank["x1"], coupler["x0"], axis=z, name="B"),
        revolute(coupler["x1"], rocker["x0"], axis=lean, name="C"),
        revolute(rocker["x1"], post, axis=z, name="D"),
    ]
    system = System(crank, coupler, rocker, terms=terms)
    problem = DynamicProblem(system, spectral_radius=0.5)
    problem.record("C", lambda: system.displacement(coupler["x1"])[0] / unit)
    return problem, coupler


@case("A62_four_bar", f"Bauchau et al., MUBO 37 (2016) 29-48; values: {SONNEVILLE}", short=9)
def misaligned() -> Iterator[Number | Curve]:
    """Four-bar mechanism whose pin leans by 5 degrees: it turns since its bars bend and twist."""
    s, c = math.sin(math.radians(5.0)), math.cos(math.radians(5.0))
    for what, lean, expected in (
        ("across the rocker", (0.0, -s, c), CROOKED),
        ("along the coupler", (s, 0.0, c), LEANING),
    ):
        for unit in (1.0, 1e3) if expected is CROOKED else (1.0,):
            problem, _ = four_bar(lean, unit)
            label = f"pin leans {what}" + ("" if unit == 1.0 else ", mm")
            for start, to in ((0.0, 3.0), (3.0, 12.0)):
                history = problem.solve(to=to, step=0.02)
                u = history["C"].reshape(-1, 3)
                for k, axis in enumerate("xyz"):
                    some = {t: v[k] for t, v in expected.items() if start < t <= to}
                    scale, name = 0.12 if k < 2 else 0.004, f"{axis} of C, {label}"
                    yield from compared(name, history.time, u[:, k], some, 6e-3, scale)
        for k, axis in enumerate("xyz"):
            where = "time [s]", "across the plane [mm]" if k == 2 else "in the plane [mm]"
            values = list(expected), [1e3 * values[k] for values in expected.values()]
            name = f"{axis}, {what}"
            if k == 2 or expected is LEANING:
                yield Curve(where, name, history.time, 1e3 * u[:, k], values, "mb_sef_py")


# ---- a shaft -----------------------------------------------------------------------------------
def wound(t: float) -> float:
    """Return the angle by which the shaft is turned: to 48 rad/s, then on to 72 rad/s."""

    def rising(t: float, T: float) -> float:
        return 0.5 * (t - T / math.pi * math.sin(math.pi * t / T))

    angle = 48.0 * rising(min(t, 0.5), 0.5) + 24.0 * rising(min(max(t - 1.0, 0.0), 0.25), 0.25)
    return angle + 48.0 * max(t - 0.5, 0.0) + 24.0 * max(t - 1.25, 0.0)


#: Time -> displacement of the middle across the shaft [m], extrapolated from 16 and 32 cells.
SHAFT = {
    0.1: (0.00112, -0.00033),
    0.2: (-0.00141, 0.00120),
    0.3: (-0.00095, -0.01858),
    0.4: (-0.01964, 0.02972),
    0.5: (0.07597, 0.02597),
    0.6: (0.07815, -0.09897),
    0.7: (-0.06424, -0.12946),
    0.8: (-0.13421, 0.00591),
    0.9: (-0.03152, 0.09921),
    1: (0.05449, 0.02730),
}


@case(
    "A63_rotating_shaft", f"Bauchau et al., ibid.; values: {SONNEVILLE}, 16 and 32 cells", short=2
)
def shaft() -> Iterator[Number | Curve]:
    """Shaft with an eccentric disk, driven from below its first critical speed to above it."""
    x, parameters = (1.0, 0.0, 0.0), stiff(313.4e6, 60.5e6, 272.7e3, 354.5e3, 11.64, 13.17e-3)
    body = bar("shaft", ((0.0, 0.0, 0.0), (6.0, 0.0, 0.0)), 8, (0.0, 1.0, 0.0), **parameters)
    inertia = np.diag([2.0325, 1.0163, 1.0163])
    disk = RigidBody(position=(3.0, 0.0, 0.05), mass=70.573, inertia=inertia, name="disk")
    left, right, middle = Ground(), Ground((6.0, 0.0, 0.0)), body.at((3.0, 0.0, 0.0))
    terms = [
        revolute(body["x0"], left, axis=x),
        rotation(body["x0"], left, angle=wound, axis=x),
        cylindrical(body["x1"], right, axis=x),
        clamp(middle, disk),
        gravity((0.0, 0.0, -9.81)),
    ]
    system = System(body, disk, terms=terms)
    problem = DynamicProblem(system, spectral_radius=0.9)
    problem.record("u", lambda: system.displacement(middle)[0])
    for start, to in ((0.0, 0.2), (0.2, 0.5), (0.5, 1.0), (1.0, 1.25), (1.25, 2.5)):
        history = problem.solve(to=to, step=1e-3)
        u = history["u"].reshape(-1, 3)
        for k, axis in ((1, "y"), (2, "z")):
            some = {t: values[k - 1] for t, values in SHAFT.items() if start < t <= to}
            yield from compared(f"{axis} of the middle", history.time, u[:, k], some, 0.02, 0.1)
    energies = problem.energies
    yield Number("drift of energy", energies.drift, 0.0, 5e-3, energies.kinetic)
    for k, axis in ((1, "y"), (2, "z")):
        expected = list(SHAFT), [1e3 * values[k - 1] for values in SHAFT.values()]
        where = "time [s]", "middle [mm]"
        yield Curve(where, axis, history.time, 1e3 * u[:, k], expected, "mb_sef_py")


# ---- a beam that buckles sideways --------------------------------------------------------------
#: Time -> displacement of the middle upwards before the beam buckles [m].
UP = {0.04: 0.00120208, 0.06: 0.0026681, 0.08: 0.00462553, 0.1: 0.00694, 0.12: 0.00939429}
AWAY, DROP, ARM = 1e-4, 0.25, 0.05


def beside(r_a: Any, e2_a: Any, r_b: Any, *, d: Any) -> Any:
    """Vanishes where b is at the distance d from a along axis 2 of its section."""
    return r_a + d * e2_a - r_b


def lifted(t: float) -> float:
    """Return the angle of the crank: half a turn in 0.4 s."""
    return -0.5 * math.pi * (1.0 - math.cos(math.pi * min(t, 0.4) / 0.4))


@case("A64_lateral_buckling_in_motion", f"Bauchau et al., ibid.; values: {SONNEVILLE}", short=2)
def thrown() -> Iterator[Number | Curve]:
    """Thin beam whose tip a crank lifts, 0.1 mm beside its axis: it buckles sideways."""
    cells = 6
    flat = stiff(73e6, (5.025e6, 23.4e6), 877.2, (60830.0, 608.3), 2.68, (2233e-6, 22.33e-6))
    rod_, arm = (
        stiff(33.02e6, 10.81e6, 914.5, 1189.0, 1.212, 43.65e-6),
        stiff(132.1e6, 43.22e6, 14630.0, 19020.0, 4.85, 698.3e-6),
    )
    y = (0.0, 1.0, 0.0)
    tip, knee, foot = (1.0, AWAY, 0.0), (1.0, AWAY, -DROP), (1.0 - ARM, AWAY, -DROP)
    beam = bar("beam", ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0)), 2 * cells, y, **flat)
    link = bar("link", (tip, knee), cells, y, **rod_)
    crank = bar("crank", (foot, knee), 2, y, **arm)
    terms = [
        fix(beam["x0"]),
        Constraint(beside, beam["x1"], link["x0"], d=AWAY, name="ball"),
        revolute(link["x1"], crank["x1"], axis=y, name="knee"),
        revolute(crank["x0"], Ground(foot), axis=y, name="foot"),
        rotation(crank["x0"], Ground(foot), angle=lifted, axis=y),
    ]
    system = System(beam, link, crank, terms=terms)
    problem, middle = DynamicProblem(system, spectral_radius=0.9), beam.at((0.5, 0.0, 0.0))
    problem.record("u", lambda: system.displacement(middle)[0])
    for start, to in ((0.0, 0.06), (0.06, 0.2)):
        history = problem.solve(to=to, step=1e-3)
        u = history["u"].reshape(-1, 3)
        some = {t: value for t, value in UP.items() if start < t <= to}
        yield from compared("middle upwards", history.time, u[:, 2], some, 1e-3, 0.01)
    where, expected = ("time [s]", "middle of the beam [mm]"), [1e3 * v for v in UP.values()]
    yield Curve(where, "upwards", history.time, 1e3 * u[:, 2], (list(UP), expected), "mb_sef_py")
    yield Curve(where, "sideways", history.time, 1e3 * u[:, 1])
    energies = problem.energies
    yield Number("drift of energy", energies.drift, 0.0, 5e-3, energies.work)
