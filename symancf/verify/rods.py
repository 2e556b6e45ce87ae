# SPDX-License-Identifier: BSD-3-Clause
"""Rods with shear and torsion: bends, frames, twists, thin limits, frequencies."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Array
from ..bodies.body import Body
from ..catalogue.boundary import fix
from ..catalogue.loads import force
from ..catalogue.moments import moment
from ..elements import ancf_rod
from ..energies import rod
from ..extensions.section import Section
from ..mesh import Mesh
from ..solve.modes import EigenProblem
from ..solve.statics.problem import StaticProblem
from ..system import System
from .case import TIGHT, Curve, Number, case, order
from .references import ELASTICA

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..places.on_body import Nodes


def line(X: Array) -> Mesh:
    """Return a rod through an odd number of points, ``start`` and ``end`` its ends."""
    n = len(X) // 2
    first = 2 * np.arange(n)
    cells = np.stack([first, first + 2, first + 1], axis=1)
    regions: dict[str, Any] = {
        "rod": ("line3", np.arange(n)),
        "start": ("vertex", [0]),
        "end": ("vertex", [2 * n]),
    }
    return Mesh.from_arrays(X, {"line3": cells}, regions)


def straight(cells: int, length: float = 1.0) -> Mesh:
    """Return a rod along x."""
    X = np.zeros((2 * cells + 1, 3))
    X[:, 0] = np.linspace(0.0, length, len(X))
    return line(X)


def along(vector: Array) -> Callable[[Array], Array]:
    """Return the function of places that is a vector everywhere."""
    return lambda X: np.broadcast_to(vector, X.shape)


def growing(vector: Array) -> tuple[Callable[[float], float], ...]:
    """Return the components of a force that grows with time from zero."""

    def part(size: float) -> Callable[[float], float]:
        return lambda t: size * t

    return tuple(map(part, vector.tolist()))


def axes(system: System, place: Nodes) -> Array:
    """Return F (3, 3) of the section at a node: what it makes of the axes of space."""
    return np.asarray(system.gradient(place)[0])


#: Load, shortening, deflection, angle: a strip with shear and stretch, and without shear.
REISSNER = {
    0.2: (0.02646701677104346, 0.6636845760634259, 0.099636143899983),
    0.5: (0.15919854183682425, 1.6215321856867433, 0.24453337112126527),
    1.0: (0.5643609738697108, 3.017384758923359, 0.46135022580670143),
    2.0: (1.6064816024366078, 4.934870824861777, 0.7817427590744578),
    3.0: (2.544286705442163, 6.032929219860687, 0.9860046036293512),
    4.0: (3.2895093576739853, 6.700132549313622, 1.121223025937373),
}


@case("A03_rod_cantilever", "Reissner, J. Appl. Math. Phys. 23 (1972) 795-804: his equations, shot")
def cantilever() -> Iterator[Number | Curve]:
    """Strip under a dead tip force with stretch and shear: each load in one step."""
    errors = []
    for cells in (8, 16, 32):
        mesh = straight(cells, 10.0)
        strip = Body(
            mesh["rod"], ancf_rod, rod(), EA=1.2e5, GA2=5e4, GA3=5e4, GJ=100.0, EI2=100.0, EI3=1e4
        )
        load = force(strip["end"], (0.0, 0.0, lambda t: t))
        for P, (shortening, deflection, angle) in REISSNER.items():
            system = System(strip, terms=[fix(strip["start"]), load])
            history = StaticProblem(system, options=TIGHT).solve(to=P)
            u = system.displacement(strip["end"])[0]
            computed = -u[0], u[2], math.asin(axes(system, strip["end"])[2, 0])
            if cells < 32:
                continue
            for what, value, right in zip(
                ("u", "w", "angle"), computed, (shortening, deflection, angle), strict=True
            ):
                yield Number(f"{what}: P = {P:g}", value, right, 3e-6)
            yield Number(f"steps: P = {P:g}", float(len(history.steps)), 1.0, 0.0)
        errors.append(abs(u[2] - REISSNER[4.0][1]))
    yield Number("order", order(errors), 4.0, 0.3, 1.0)
    problem = StaticProblem(System(strip, terms=[fix(strip["start"]), load]))
    problem.record("u", lambda: problem.system.displacement(strip["end"])[0])
    path = problem.solve(to=4.0, step=0.1)
    u = path["u"].reshape(-1, 3)
    for k, (name, values) in enumerate((("-u", -u[:, 0]), ("w", u[:, 2]))):
        reference = list(REISSNER), [right[k] for right in REISSNER.values()]
        yield Curve(("force P", "tip"), name, path.time, values, reference, "Reissner's equations")


@case("A04_rod_thin_limit", "Bisshopp and Drucker (1945); Mattiasson (1981)")
def thin() -> Iterator[Number]:
    """Cantilever of slenderness 1e2 to 1e4 under a dead tip force: no locking, no small steps."""
    for slenderness in (1e2, 1e3, 1e4):
        mesh, t = straight(16), 1.0 / slenderness
        section = Section.rectangle(t, t).rod(E=12.0 / t**4, nu=0.3)
        body = Body(mesh["rod"], ancf_rod, rod(), **section)
        load = force(body["end"], (0.0, lambda t: t, 0.0))
        for P in (1.0, 10.0):
            system = System(body, terms=[fix(body["start"]), load])
            history = StaticProblem(system).solve(to=P)
            u = system.displacement(body["end"])[0]
            shortening, deflection, _ = ELASTICA[P]
            label = f"P L^2/EI = {P:g}, slenderness {slenderness:g}"
            tolerance = 3e-5 if P < 5.0 else 3e-4
            yield Number(f"u/L: {label}", -u[0], shortening, tolerance + 4.0 / slenderness**2)
            yield Number(f"v/L: {label}", u[1], deflection, tolerance + 4.0 / slenderness**2)
            yield Number(f"steps: {label}", float(len(history.steps)), 1.0, 0.0)


#: (twist stiffness over G, shear stiffness, force) -> place of the tip.
BEND = {
    (1.0 / 6.0, 5e6, 300.0): (58.77912248968287, 22.244780945367747, 40.19189167015045),
    (1.0 / 6.0, 5e6, 600.0): (47.15043857362907, 15.684800534038796, 53.4748587918252),
    (1.0 / 6.0, 5e6 * 5.0 / 6.0, 600.0): (47.15009624034206, 15.684689478979674, 53.47547799822515),
    (0.0, 5e6, 600.0): (46.89192495315983, 15.557785914104372, 53.607369176654856),
}


@case("A10_bend45", "Bathe and Bolourchi (1979); values: the rod's equations, shot")
def bend() -> Iterator[Number | Curve]:
    """Bend of 45 degrees out of its plane, in one step; also turned, and in other units."""
    a = np.linspace(0.0, math.pi / 4.0, 65)
    square = Section.rectangle(1.0, 1.0)
    c, s = math.cos(0.7), math.sin(0.7)
    turned = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ np.array(
        [[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]]
    )
    for (torsion, shear, P), right in BEND.items():
        for frame, unit in ((np.eye(3), 1.0), (turned, 1e3)):
            X = unit * 100.0 * np.stack([np.sin(a), 1.0 - np.cos(a), 0.0 * a], axis=1) @ frame.T
            mesh, p = line(X), 1.0 / unit**2  # a pressure's unit
            parameters: dict[str, Any] = {
                "EA": 1e7 * p * unit**2,
                "GA2": shear * p * unit**2,
                "GA3": shear * p * unit**2,
                "GJ": 5e6 * (torsion or square.J) * p * unit**4,
                "EI2": 1e7 / 12.0 * p * unit**4,
                "EI3": 1e7 / 12.0 * p * unit**4,
            }
            body = Body(mesh["rod"], ancf_rod, rod(), direction=along(frame[:, 2]), **parameters)
            push = growing(P * frame[:, 2])
            system = System(body, terms=[fix(body["start"]), force(body["end"], push)])
            history = StaticProblem(system).solve()
            place = frame.T @ system.position(body["end"])[0] / unit
            label = f"J = {torsion or square.J:.3g}, GA = {shear:.3g}, F = {P:g}, unit {unit:g}"
            for axis, value, exact in zip("xyz", place, right, strict=True):
                yield Number(f"{axis}: {label}", value, exact, 2e-6, 50.0)
            yield Number(f"steps: {label}", float(len(history.steps)), 1.0, 0.0)
            if (shear, P, unit) == (5e6, 600.0, 1.0) and torsion:
                system = System(body, terms=[fix(body["start"]), force(body["end"], push)])
                problem = StaticProblem(system)
                problem.record("r", lambda s=system, e=body["end"]: s.position(e)[0])
                path = problem.solve(step=0.05)
                r = path["r"].reshape(-1, 3)
                for k, axis in enumerate("xyz"):
                    ends = 300.0, 600.0
                    expected = ends, [BEND[torsion, shear, F][k] for F in ends]
                    where = "force", "place of the tip"
                    yield Curve(
                        where, axis, P * path.time, r[:, k], expected, "the rod's equations"
                    )


#: Tip force and angle of the root -> displacement in axes of the root [mm], twist [degrees].
PRINCETON = {
    (4.448, 0.0): (-0.03391446301, 0.0, -5.35954466022, 0.0),
    (4.448, 15.0): (-0.543778328286, -20.8010883153, -5.2101616734, 0.16910094606788023),
    (4.448, 30.0): (-1.91679243376, -39.9494013108, -4.7510747918, 0.29109380837488147),
    (4.448, 45.0): (-3.74688867478, -56.0551928797, -3.96516332666, 0.3333703546548956),
    (4.448, 60.0): (-5.52706301046, -68.1291223649, -2.86220670457, 0.28639601851541685),
    (4.448, 75.0): (-6.80011852262, -75.5714969712, -1.50299463162, 0.16440017832456422),
    (4.448, 90.0): (-7.25994557581, -78.0818676805, 0.0, 0.0),
    (8.896, 0.0): (-0.135580294618, 0.0, -10.7154127642, 0.0),
    (8.896, 15.0): (-2.2408360134, -42.1252186213, -10.6257711863, 0.6906620514721303),
    (8.896, 30.0): (-7.66081638248, -79.4560760794, -10.1472407633, 1.1665714350831762),
    (8.896, 45.0): (-14.3893202951, -109.041567661, -8.8888575938, 1.3051820302179282),
    (8.896, 60.0): (-20.4731840518, -129.923512428, -6.65436132644, 1.0981154962223678),
    (8.896, 75.0): (-24.5838965698, -142.214416673, -3.56889061048, 0.6216094342914372),
    (8.896, 90.0): (-26.0242289967, -146.259984428, 0.0, 0.0),
}


def flat(P: float, angle: float) -> tuple[Array, float]:
    """Return displacement of the tip in axes of the root [mm] and twist [degrees]."""
    c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    root = np.array([[1.0, 0.0, 0.0], [0.0, c, s], [0.0, -s, c]])
    beam = Body(
        straight(16, 0.508)["rod"],
        ancf_rod,
        rod(),
        direction=along(root[1]),
        EA=2.84191e6,
        GA2=903915.0,
        GA3=903915.0,
        GJ=3.10334,
        EI2=36.2794,
        EI3=2.42873,
    )
    weight = force(beam["end"], growing(np.array([0.0, 0.0, -P])))
    system = System(beam, terms=[fix(beam["start"]), weight])
    StaticProblem(system, options=TIGHT).solve()
    R = root @ axes(system, beam["end"]) @ root.T
    twist = math.degrees(math.atan2(R[2, 1], R[1, 1]))
    return 1e3 * root @ system.displacement(beam["end"])[0], twist


@case("A11_princeton_beam", "Dowell and Traybar (1975); Bauchau et al. (2016); values: shot", 17)
def princeton() -> Iterator[Number | Curve]:
    """Flat beam under a weight at its tip, turned about its axis: it bends twice and twists."""
    for (P, angle), right in PRINCETON.items():
        u, twist = flat(P, angle)
        label = f"P = {P:g} N, {angle:g} degrees"
        for k, (value, exact) in enumerate(zip(u, right[:3], strict=True)):
            size = math.hypot(*right[:3])
            yield Number(f"u{k + 1} [mm]: {label}", value, exact, 1e-5, size)
        yield Number(f"twist [degrees]: {label}", twist, right[3], 1e-4)
    angles = np.linspace(0.0, 90.0, 19)
    for P in (4.448, 8.896, 13.345):
        results = [flat(P, angle) for angle in angles]
        rows = [(angle, *right) for (load, angle), right in PRINCETON.items() if load == P]
        for name, k in (("$-u_2$ [mm]", 2), ("$-u_3$ [mm]", 3), ("twist [degrees]", 4)):
            sign = -1.0 if k < 4 else 1.0
            y = [sign * (u[k - 1] if k < 4 else twist) for u, twist in results]
            points = [r[0] for r in rows], [sign * r[k] for r in rows]
            reference = points if rows else None
            where = "angle of the root [degrees]", name
            yield Curve(where, f"P = {P:g} N", angles, y, reference, "the rod's equations")


@case("A05_rod_rolls_and_twists", "closed form: a helix without pitch; twist T L/GJ")
def turns() -> Iterator[Number]:
    """Moments roll a rod up twice, and twist it by four turns."""
    errors = []
    for cells in (8, 16, 32):
        body = Body(
            straight(cells)["rod"],
            ancf_rod,
            rod(),
            EA=1e4,
            GA2=4e3,
            GA3=4e3,
            GJ=0.8,
            EI2=1.0,
            EI3=1.0,
        )
        couple = moment(body["end"], (0.0, 0.0, lambda t: 2.0 * math.pi * t))
        system = System(body, terms=[fix(body["start"]), couple])
        StaticProblem(system, options=TIGHT).solve(to=2.0, step=0.25)
        errors.append(float(np.linalg.norm(system.position(body["end"])[0])))
    yield Number("two turns: distance of the ends", errors[-1], 0.0, 2e-3)
    yield Number("two turns: order", order(errors), 4.0, 0.5, 1.0)
    torque = moment(body["end"], (lambda t: 1.6 * math.pi * t, 0.0, 0.0))
    system = System(body, terms=[fix(body["start"]), torque])
    StaticProblem(system, options=TIGHT).solve(to=2.0, step=0.125)
    F = axes(system, body["end"])
    twist = math.atan2(F[2, 1] - F[1, 2], F[1, 1] + F[2, 2])
    yield Number("two turns of twist: angle", twist, 0.0, 4e-4, 4.0 * math.pi)
    yield Number("two turns of twist: length", system.position(body["end"])[0][0], 1.0, 1e-4)


@case("A06_frame_of_rods", "Castigliano: bending and shear of both legs, torsion of the first")
def frame() -> Iterator[Number]:
    """Two legs at a right angle, clamped at an end, small force out of their plane at the other.

    One body with a corner, two that share the node, and the same turned.
    """
    section, P = Section.rectangle(0.02, 0.03).rod(E=70e9, nu=0.3), 1e-3
    a, b = 0.5, 0.3
    right = P * (a**3 + b**3) / (3.0 * section["EI2"]) + P * b**2 * a / section["GJ"]
    right += P * (a + b) / section["GA3"]
    c, s = math.cos(0.4), math.sin(0.4)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    turn = turn @ np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
    x = np.linspace(0.0, a, 9)
    y = np.linspace(0.0, b, 9)[1:]
    X = np.concatenate([np.stack([x, 0 * x, 0 * x], 1), np.stack([a + 0 * y, y, 0 * y], 1)])
    for name, R in (("flat", np.eye(3)), ("turned", turn)):
        first = 2 * np.arange(8)
        cells = np.stack([first, first + 2, first + 1], axis=1)
        regions: dict[str, Any] = {
            "rod": ("line3", np.arange(8)),
            "first": ("line3", np.arange(4)),
            "second": ("line3", np.arange(4, 8)),
            "start": ("vertex", [0]),
            "end": ("vertex", [16]),
        }
        mesh = Mesh.from_arrays(X @ R.T, {"line3": cells}, regions)

        across = along(R @ np.array([-1.0, 1.0, 0.0]))  # axis 3 is the normal of the plane
        body_list = [Body(mesh["rod"], ancf_rod, rod(), direction=across, **section)]
        legs = [
            Body(mesh[part], ancf_rod, rod(), direction=across, **section)
            for part in ("first", "second")
        ]
        for what, bodies in (("one body", body_list), ("two bodies", legs)):
            push = growing(P * R[:, 2])
            terms = [fix(bodies[0]["start"]), force(bodies[-1]["end"], push)]
            system = System(*bodies, terms=terms)
            StaticProblem(system, options=TIGHT).solve()
            u = R.T @ system.displacement(bodies[-1]["end"])[0]
            yield Number(f"deflection, {what}, {name}", u[2], right, 2e-5)


#: Bending and shear branch of a simply supported Timoshenko beam [rad/s].
TIMOSHENKO = (1439.0175882210024, 5499.062603570948, 11585.506450620023)


@case("A41_rod_timoshenko", "closed form of Timoshenko's beam; torsion and axial waves")
def frequencies() -> Iterator[Number]:
    """Simply supported rod: bending with shear and rotary inertia, torsion, axial motion."""
    E, rho, side, k = 2.07e11, 7850.0, 0.1, 5.0 / 6.0
    square = Section.rectangle(side, side)
    parameters = square.rod(E=E, nu=0.3, rho=rho)
    G = E / 2.6
    parameters |= {"GA2": k * G * square.A, "GA3": k * G * square.A}
    errors = []
    for cells in (8, 16):
        body = Body(straight(cells)["rod"], ancf_rod, rod(), **parameters)
        clamped = System(body, terms=[fix(body["start"])])
        omega = EigenProblem(clamped).solve(12).omega
        torsion = math.pi / 2.0 * math.sqrt(G * square.J / (rho * (square.I2 + square.I3)))
        axial = math.pi / 2.0 * math.sqrt(E / rho)
        for name, value in (("torsion", torsion), ("axial", axial)):
            near = float(omega[np.abs(omega - value).argmin()])
            yield Number(f"{name}, clamped, {cells} cells", near, value, 3e-6)
        supports = [fix(body["start"], dofs="position"), fix(body["end"], dofs=["y", "z"])]
        omega = EigenProblem(System(body, terms=supports)).solve(10).omega
        for n, value in enumerate(TIMOSHENKO):
            near = float(omega[np.abs(omega - value).argmin()])
            yield Number(
                f"bending {n + 1}, {cells} cells",
                near,
                value,
                5e-6 * (n + 1) ** 2 + 0.25 * ((n + 1) / cells) ** 4,
            )
        errors.append(abs(near - value) / value)
    yield Number("order of the third", order(errors), 4.0, 0.3, 1.0)
