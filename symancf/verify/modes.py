# SPDX-License-Identifier: BSD-3-Clause
"""Frequencies and linear buckling loads: beams, a spinning blade, cables, plates, pendulums."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ..bodies.body import Body
from ..bodies.natural import RigidBody
from ..bodies.plane import PlanarBody
from ..catalogue import joints
from ..catalogue.boundary import fix
from ..catalogue.gas import pressure
from ..catalogue.loads import force, gravity, traction
from ..catalogue.rotating import rotating_frame
from ..elements import ancf_cable, ancf_thin_plate, hex20
from ..energies import cable, kirchhoff, saint_venant_kirchhoff
from ..mesh import Mesh
from ..places.ends import Ground
from ..solve.modes import EigenProblem
from ..solve.statics.problem import StaticProblem
from ..system import System
from ..terms.work import Potential, VirtualWork
from ..values.parameter import Parameter
from .case import Number, case, order
from .references import BETA_L, FLAP, FREE_PLATE
from .states import moved

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..solve.modes import Buckling, Modes


def beam(cells: int, EA: float, length: float = 1.0, rho: float = 1.0) -> Body:
    """Return a beam of EI = 1 and A = 1 along x."""
    mesh = Mesh.box((length,), (cells,), name="beam")
    return Body(mesh["body"], ancf_cable, cable(), name="beam", EA=EA, EI=1.0, rho=rho, A=1.0)


def counted(result: Modes | Buckling, what: str) -> Number:
    """Return whether all were found by count."""
    return Number(f"none is missing: {what}", float(bool(result.checked)), 1.0, 0.0)


@case("A40_modes_of_beams", "closed form: roots of cos x cosh x = -1, 1 and tan x = tanh x")
def beams() -> Iterator[Number]:
    """Beams free, clamped and clamped with a pinned end, in space, where modes come in pairs."""
    errors: dict[str, list[float]] = {}
    for cells in (8, 16):
        rod = beam(cells, EA=1e5)
        supports_of: dict[str, list[Any]] = {
            "free": [],
            "clamped": [fix(rod["x0"])],
            "clamped-pinned": [fix(rod["x0"]), fix(rod["x1"], "position")],
        }
        for ends, terms in supports_of.items():
            modes = EigenProblem(System(rod, terms=terms)).solve(8)
            yield counted(modes, f"{ends}, {cells} cells")
            yield Number(f"rigid: {ends}", modes.rigid, 5.0 if ends == "free" else 0.0, 0.0)
            moving = modes.omega[modes.rigid :]
            for k, betaL in enumerate(BETA_L[ends][:3]):
                for pair in moving[2 * k : 2 * k + 2]:
                    what = f"beta L, mode {k + 1}, {ends}, {cells} cells"
                    value = math.sqrt(float(pair))
                    yield Number(what, value, betaL, 4e-4 * (betaL / cells) ** 4 + 1e-7)
            error = abs(math.sqrt(float(moving[4])) - BETA_L[ends][2])
            errors.setdefault(ends, []).append(error)
    for ends, some in errors.items():
        yield Number(f"order of the third: {ends}", order(some), 4.0, 0.2, 1.0)


@case("A41_stubby_beam", "Timoshenko's beam, shear factor 5/6, Legendre-Ritz; free ends")
def stubby() -> Iterator[Number]:
    """Free bar of steel 1 x 0.1 x 0.1 m in 16 x 2 x 2 hex20: bending in pairs, with shear."""
    mesh = Mesh.box((1.0, 0.1, 0.1), (16, 2, 2), cell="hexahedron20")
    steel: dict[str, Any] = {"E": 2.07e11, "nu": 0.3, "rho": 7850.0}
    bar = Body(mesh["body"], hex20, saint_venant_kirchhoff(), **steel)
    modes = EigenProblem(System(bar)).solve(12)
    yield counted(modes, "free bar")
    omega = modes.omega[modes.rigid :]
    pairs = omega[:-1][np.diff(omega) < 1e-6 * omega[:-1]]  # not torsion, not extension
    for k, exact in enumerate((3203.19994511543, 8332.138736566343, 15198.19374586788)):
        yield Number(f"omega {k + 1} [1/s], free bar", float(pairs[k]), exact, 1e-2)


@case("A42_rotating_blade", "Legendre-Ritz; A. D. Wright et al., J. Appl. Mech. 49 (1982) 197-202")
def blade() -> Iterator[Number]:
    """Blade that spins: flap, and lag, softer by the rate; the changed rate is solved again."""
    rod, eta = beam(16, EA=1e8), Parameter("eta")
    system = System(rod, terms=[fix(rod["x0"]), rotating_frame((0.0, 0.0, eta))])
    statics, problem = StaticProblem(system), EigenProblem(system)
    for rate, values in FLAP.items():
        eta.value = rate
        statics.solve()
        modes = problem.solve(6)
        yield counted(modes, f"eta = {rate:g}")
        yield Number(f"unstable: eta = {rate:g}", modes.unstable, 0.0, 0.0)
        lag, flap = modes.omega[0::2], modes.omega[1::2]
        for k, value in enumerate(values):
            yield Number(f"flap {k + 1}, eta = {rate:g}", float(flap[k]), value, 1e-4)
        softer = math.sqrt(values[0] ** 2 - rate**2)
        yield Number(f"lag 1, eta = {rate:g}", float(lag[0]), softer, 1e-4)


@case("A42_mass_in_a_turning_frame", "closed form: omega +- Omega; Foucault's pendulum")
def foucault() -> Iterator[Number]:
    """Mass on a spring that pulls alike to all sides, seen from a frame that turns."""

    def spring(r_a: Any, *, k: Any) -> Any:
        return k / 2 * r_a.dot(r_a)

    mass = RigidBody(mass=2.0, inertia=(1.0, 1.0, 1.0))
    potential = Potential(spring, mass.at((0.0, 0.0, 0.0)), k=50.0)
    system = System(mass, terms=[potential, rotating_frame((0.0, 0.0, 1.5))])
    omega = EigenProblem(system).solve(8).omega
    for value in (3.5, 5.0, 6.5):
        yield Number(
            f"omega = {value:g}", float(omega[np.abs(omega - value).argmin()]), value, 1e-9
        )


@case("A44_cables_under_tension", "closed form; D. Bernoulli (1732), Bessel's functions")
def tension() -> Iterator[Number]:
    """Hanging chain, and a stiff string pinned under tension, about their loaded states."""
    mesh = Mesh.box((1.0,), (16,), warp=lambda X: X[:, :1] * [0.0, 0.0, -1.0])
    chain = Body(mesh["body"], ancf_cable, cable(), EA=1e6, EI=1e-7, rho=0.5, A=1.0)
    system = System(chain, terms=[fix(chain["x0"], "position"), gravity((0.0, 0.0, -9.81))])
    sag = 0.5 * 9.81 / 1e6  # without its tension the chain could swing freely: begin stretched
    pulled = moved(
        system,
        lambda X: X - sag * (X[:, 2:] ** 2 / 2.0 + X[:, 2:]) * [0.0, 0.0, -1.0],
        lambda X: np.eye(3) * (1.0 + sag * (1.0 + X[:, 2]))[:, None, None],
    )
    system.state[:] = pulled
    StaticProblem(system, check_held=False).solve()
    modes = EigenProblem(system).solve(6)
    yield counted(modes, "chain")
    halves = (1.2024127788478864, 2.7600390551431553, 4.326863956455506)  # zeros of J0, halved
    for k, value in enumerate(halves):
        for pair in modes.omega[2 * k : 2 * k + 2] / math.sqrt(9.81):
            yield Number(f"omega sqrt(L/g), chain, {k + 1}", float(pair), value, 2e-4)
    T, L, EI, rho = 200.0, 2.0, 3.0, 0.5
    string = Body(Mesh.box((L,), (24,))["body"], ancf_cable, cable(), EA=1e8, EI=EI, rho=rho, A=1.0)
    supports = [fix(string["x0"], "position"), fix(string["x1"], ["y", "z"])]
    system = System(string, terms=[*supports, force(string["x1"], (T, 0.0, 0.0))])
    StaticProblem(system).solve()
    modes = EigenProblem(system).solve(8)
    for n in range(1, 5):
        number = n * math.pi / L
        for pair in modes.omega[2 * n - 2 : 2 * n]:
            exact = number * math.sqrt((T + EI * number**2) / rho)
            yield Number(f"omega, string, {n} [rad/s]", float(pair), exact, 3e-5)


@case(
    "A50_linear_buckling", "closed form; L. Euler (1744): P = beta^2/(1 - 2 beta^2/EA), linearised"
)
def columns() -> Iterator[Number]:
    """Columns in space: linear buckling loads in pairs, about no load and about most of it."""
    EA, P = 1e4, Parameter("P")
    rod = beam(16, EA)
    pinned = [fix(rod["x0"], "position"), fix(rod["x1"], ["y", "z"])]
    ends = {
        "clamped-free": ([fix(rod["x0"])], 0.5 * math.pi, 1.5),
        "pinned": (pinned, math.pi, 1.0),
    }
    for name, (supports, beta, step) in ends.items():
        system = System(
            rod, terms=[*supports, force(rod["x1"], (lambda t: -P.value, 0.0, 0.0), name="thrust")]
        )
        P.value = 0.0
        loads = EigenProblem(system).buckle(P, 4)
        yield counted(loads, name)
        for k, load in enumerate(loads.values.tolist()):
            b = beta + (k // 2) * (2.0 * beta if step > 1.0 else beta)
            linear = b**2 / (1.0 - 2.0 * b**2 / EA)
            yield Number(f"P {k + 1}, {name}", load, linear, 5e-5)
    # P (1 - P/EA) = pi^2: from nearby, where the shortening is there already
    exact = EA / 2.0 * (1.0 - math.sqrt(1.0 - 4.0 * math.pi**2 / EA))
    P.value = 0.95 * exact
    StaticProblem(system, check_stable=False).solve()
    near = EigenProblem(system).buckle(P, 2)
    yield Number("P, from 0.95 P", float(near.values[0]), exact, 1e-5)


@case("B01_free_plate", "Legendre-Ritz; A. W. Leissa, J. Sound Vib. 31 (1973) 257-293")
def plate() -> Iterator[Number]:
    """Free square thin plate: six rigid motions, double modes; in metres and in millimetres."""
    nu, rows = 0.3, []
    for cells, unit in ((8, 1.0), (16, 1.0), (8, 1000.0)):  # N, kg and m; N, t and mm
        a, h, E, rho = unit, 0.005 * unit, 1e9 / unit**2, 1000.0 / unit**4
        D = E * h**3 / 12.0 / (1.0 - nu**2)
        values: dict[str, Any] = {"E": E, "nu": nu, "thickness": h, "rho": rho}
        mesh = Mesh.box((a, a), (cells, cells))
        skin = Body(mesh["body"], ancf_thin_plate, kirchhoff(), **values)
        modes = EigenProblem(System(skin)).solve(len(FREE_PLATE))
        what = f"{cells} x {cells} cells, a = {a:g}"
        yield counted(modes, what)
        yield Number(f"rigid: {what}", modes.rigid, 6.0, 0.0)
        numbers = modes.omega[6:] * a**2 * math.sqrt(rho * h / D)
        rows.append(numbers)
        for k, value in enumerate(FREE_PLATE):
            tolerance = 1e-2 * (8 / cells) ** 2
            yield Number(f"lambda {k + 1}: {what}", float(numbers[k]), value, tolerance)
    for k, value in enumerate(rows[0]):
        yield Number(f"lambda {k + 1}, mm by m", float(rows[2][k] / value), 1.0, 1e-8)
    error = [abs(float(numbers[0]) - FREE_PLATE[0]) for numbers in rows[:2]]
    yield Number("order of the first", order(error), 2.0, 0.2, 1.0)


@case("B05_linear_plate_buckling", "closed form; G. H. Bryan (1891)")
def pressed() -> Iterator[Number]:
    """Simply supported square plate pressed from one and from two sides, double loads."""
    h, E, nu = 1e-3, 1.0e9, 0.3
    D = E * h**3 / (12.0 * (1.0 - nu**2))
    wanted = {"one side": [4.0, 6.25], "two sides": [2.0, 5.0, 5.0]}
    first: dict[str, list[float]] = {}
    for cells in (6, 12):
        N = Parameter("N")
        mesh = Mesh.box((1.0, 1.0), (cells, cells))
        skin = Body(mesh["body"], ancf_thin_plate, kirchhoff(), E=E, nu=nu, thickness=h)
        edges = [skin[name] for name in ("x0", "x1", "y0", "y1")]
        supports = [fix(edge, "z", name=f"edge {k}") for k, edge in enumerate(edges)]
        middle, below = skin.at((0.5, 0.5, 0.0)), skin.at((0.5, 0.0, 0.0))
        supports += [fix(middle, ["x", "y"], name="middle"), fix(below, "x", name="below")]
        push = []
        for what, values in wanted.items():
            axis = 0 if what == "one side" else 1  # then from both
            for k, sign in ((0, 1.0), (1, -1.0)):
                density: list[Any] = [0.0, 0.0, 0.0]
                density[axis] = lambda t, N=N, sign=sign: sign * N.value
                push.append(traction(edges[2 * axis + k], density, name=f"push {axis} {k}"))
            buckling = EigenProblem(System(skin, terms=[*supports, *push])).buckle(N, len(values))
            yield counted(buckling, f"{what}, {cells} x {cells} cells")
            loads = buckling.values / (math.pi**2 * D)
            for k, value in enumerate(values):
                tolerance = 0.25 * (6 / cells) ** 2
                yield Number(
                    f"N {k + 1}, {what}, {cells} x {cells} cells", float(loads[k]), value, tolerance
                )
            if what == "two sides":
                yield Number(f"double, {cells}", float(loads[2] / loads[1]), 1.0, 1e-8)
            first.setdefault(what, []).append(float(loads[0]))
    for what, (coarse, fine) in first.items():
        value = (4.0 * fine - coarse) / 3.0
        yield Number(f"N, {what}, extrapolated", value, wanted[what][0], 2e-3)


@case("B06_ring_under_pressure", "closed form; M. Levy (1884): p R^3/EI = n^2 - 1")
def ring() -> Iterator[Number]:
    """Strip bent to a ring, pressed by a pressure that follows it: two shapes for each load."""
    h, E, width = 0.01, 1e9, 0.1
    first: list[float] = []
    for cells in (24, 48):
        k, p = np.arange(cells), Parameter("p")
        angle = 2.0 * math.pi * k / cells
        circle = np.stack([np.cos(angle), 0.0 * angle, np.sin(angle)], axis=1)
        points = np.concatenate([circle, circle + np.array([0.0, width, 0.0])])
        quads = np.stack([k, (k + 1) % cells, (k + 1) % cells + cells, k + cells], axis=1)
        nodes = {
            "rim": np.arange(2 * cells)[:, None],
            "east": np.array([[0], [cells]]),
            "west": np.array([[cells // 2], [cells // 2 + cells]]),
        }
        regions: dict[str, Any] = {name: ("vertex", some) for name, some in nodes.items()}
        mesh = Mesh.from_arrays(points, {"quad": quads}, regions | {"skin": ("quad", k)})
        values: dict[str, Any] = {"E": E, "nu": 0.3, "thickness": h}
        skin = Body(mesh["skin"], ancf_thin_plate, kirchhoff(), name="ring", **values)
        supports = [fix(skin["rim"], "y"), fix(skin["east"], ["x", "z"]), fix(skin["west"], "z")]
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "pressure on")  # from outside
            system = System(
                skin, terms=[*supports, pressure(skin["skin"].face(-1, middle=True), p)]
            )
        loads = EigenProblem(system).buckle(p, 4).values * 12.0 / (E * h**3)
        for n, pair in ((2, loads[:2]), (3, loads[2:])):
            exact = n * n - 1.0
            for load in pair:
                what = f"p R^3/EI, n = {n}, {cells} cells"
                yield Number(what, float(load), exact, 0.05 * (24 / cells) ** 2)
        first.append(float(loads[0]))
    yield Number("extrapolated", (4.0 * first[1] - first[0]) / 3.0, 3.0, 1e-3)


@case("A55_becks_column", "closed form; M. Beck, ZAMP 3 (1952) 225-228: flutter at 20.051 EI/L^2")
def becks_column() -> Iterator[Number]:
    """Cantilever under a load that follows its tip: two frequencies meet, and one grows."""

    def along(v_a: Any, e1_a: Any, *, P: Any) -> Any:
        return {v_a[k]: -P * e1_a[k] for k in range(3)}

    P, rod = Parameter("P"), beam(20, EA=1e8)
    terms = [fix(rod["x0"]), VirtualWork(along, rod["x1"], P=P)]
    system = System(rod, terms=terms)
    # roots omega of p^2 + 2 w^2 (1 + cos a cosh b) + p w sin a sinh b, a^2, b^2 = r +- p/2
    for load, real, imaginary in (
        (19.9, 0.0, 10.183496706383295),
        (20.1, 0.48171191134537356, 11.011496053624047),
        (25.0, 4.917017877589179, 10.617997423932707),
    ):
        P.value = load
        StaticProblem(system, check_stable=False).solve()
        for damped in (False, True):
            s = EigenProblem(system).solve(2, damped=damped)
            what = f"P = {load:g}{', with rates' * damped}"
            yield Number(f"grow: {what}", s.unstable, 2.0 if real else 0.0, 0.0)
            slow = s.eigenvalues[np.argsort(-s.eigenvalues.real)[:2]]
            yield Number(f"growth: {what}", float(slow.real.min()), real, 2e-3, 1.0)
            yield Number(f"omega: {what}", float(slow.imag.max()), imaginary, 2e-4)


@case(
    "D01_modes_of_pendulums", "closed form; m g l/(J + m l^2), (2 -+ sqrt 2) g/l; H. Ziegler (1952)"
)
def pendulums() -> Iterator[Number]:
    """Pendulums that hang, stand and hang together; flutter of links under a follower load."""
    g, m, l, J = 9.81, 2.0, 0.5, (0.1, 0.2, 0.25)
    for sign, what in ((-1.0, "hangs"), (1.0, "stands")):
        bob = RigidBody((0.0, 0.0, -l), mass=m, inertia=J)
        pin = joints.spherical(bob.at((0.0, 0.0, l)), Ground())
        modes = EigenProblem(System(bob, terms=[pin, gravity((0.0, 0.0, sign * g))])).solve(3)
        yield Number(f"rigid: {what}", modes.rigid, 1.0, 0.0)
        yield Number(f"unstable: {what}", modes.unstable, 2.0 if sign > 0.0 else 0.0, 0.0)
        for k, own in enumerate((J[1], J[0])):
            exact = math.sqrt(m * g * l / (own + m * l * l))
            yield Number(f"|s| {k + 1}: {what}", abs(modes.eigenvalues[1 + k]), exact, 1e-9)
    upper = PlanarBody(position=(0.0, -1.0), mass=1.0, inertia=1e-12)
    lower = PlanarBody(position=(0.0, -2.0), mass=1.0, inertia=1e-12)
    pins = [
        joints.revolute(upper.at((0.0, 1.0)), Ground().at((0.0, 0.0))),
        joints.revolute(lower.at((0.0, 1.0)), upper.at((0.0, 0.0))),
    ]
    modes = EigenProblem(System(upper, lower, terms=[*pins, gravity((0.0, -g, 0.0))])).solve(2)
    for k, root in enumerate((-1.0, 1.0)):
        exact = math.sqrt((2.0 + root * math.sqrt(2.0)) * g)
        yield Number(f"omega {k + 1}, double pendulum", float(modes.omega[k]), exact, 1e-9)
    yield from flutter()


def flutter() -> Iterator[Number]:
    """Yield frequencies of Ziegler's links, masses 2 and 1 at their ends: flutter at 2.086 k/l."""
    from .bifurcations import along, hinge, spring

    P = Parameter("P")
    lower = PlanarBody(position=(0.0, 1.0), mass=2.0, inertia=1e-12, name="lower")
    upper = PlanarBody(position=(0.0, 2.0), mass=1.0, inertia=1e-12, name="upper")
    low, knee, foot = lower.at((0.0, -1.0)), lower.at((0.0, 0.0)), upper.at((0.0, -1.0))
    pins = [joints.revolute(low, Ground().at((0.0, 0.0))), joints.revolute(knee, foot)]
    springs = [Potential(spring, low, k=1.0), Potential(hinge, knee, foot, k=1.0)]
    push = VirtualWork(along, upper.at((0.0, 0.0)), P=P)
    problem = EigenProblem(System(lower, upper, terms=[*pins, *springs, push]))
    for value in (1.0, 2.08, 2.1):
        # M = [3 1; 1 1], K = [2 - P, P - 1; -1, 1]: 2 x^2 - (7 - 2 P) x + 1 = 0, x = omega^2
        P.value = value
        s = problem.solve(2).eigenvalues
        x = np.roots([2.0, -(7.0 - 2.0 * value), 1.0])
        exact = np.sort_complex(np.sqrt(-x.astype(complex)))
        grows = float(np.abs(exact.real).max())
        yield Number(f"growth, follower load {value:g}", float(s.real.max()), grows, 1e-6, 1.0)
        size = float(np.abs(exact).min())
        yield Number(f"|s|, follower load {value:g}", float(np.abs(s).min()), size, 1e-6)
