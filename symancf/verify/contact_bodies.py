# SPDX-License-Identifier: BSD-3-Clause
"""Deformable bodies that press, rub, carry and hit each other, rigid shapes and walls."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq

from ..arrays import Array
from ..bodies.body import Body
from ..catalogue.boundary import fix
from ..catalogue.loads import traction
from ..contact.contact import Contact
from ..contact.shapes import Cylinder, Plane
from ..contact.shapes import Sphere as Ball
from ..elements import hex8_plain, hex20, hex27, tet10, wedge6, wedge15
from ..energies import neo_hooke, saint_venant_kirchhoff
from ..mesh import Mesh
from ..output.sampling import sample
from ..solve.dynamics import DynamicProblem
from ..solve.statics.problem import StaticProblem
from ..system import System
from .case import TIGHT, Number, case
from .contact_theory import bar_impact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..elements import Element

MU, LAM = 1.0 / 2.6, 0.3 / 0.52  # of E = 1, nu = 0.3


def brick(
    name: str,
    size: Sequence[float],
    cells: Sequence[int],
    at: Sequence[float] = (0.0, 0.0, 0.0),
    stiff: float = 1.0,
    element: Element = hex8_plain,
) -> Body:
    """Return a box of neo-Hookean rubber with a corner at a place."""
    mesh = Mesh.box(
        size, cells, cell=element.cell, warp=lambda X: X + np.asarray(at), name=f"mesh of {name}"
    )
    return Body(mesh["body"], element, neo_hooke(), name=name, mu=stiff * MU, lam=stiff * LAM)


def uniaxial(P: float) -> tuple[float, float]:
    """Return stretches along and across of neo-Hookean rubber, E = 1, at the nominal stress P.

    P_i = mu (l_i - 1/l_i) + lam ln(J)/l_i, zero across.
    """

    def nominal(l: float, J: float) -> float:
        return MU * (l - 1.0 / l) + LAM * math.log(J) / l

    def across(l: float) -> float:
        return float(brentq(lambda s: nominal(s, l * s * s), 0.7, 1.5, xtol=1e-15))

    long = brentq(lambda l: nominal(l, l * across(l) ** 2) - P, 0.5, 1.5, xtol=1e-15)
    return float(long), across(float(long))


@case("F08_patch", "homogeneous state: sigma = P/l^2 everywhere, one scalar equation")
def patch() -> Iterator[Number]:
    """Two blocks press on each other, meshes that match and that do not: stress in all cells."""
    P = -0.05
    exact = P / uniaxial(P)[1] ** 2
    equal = 1e-10, 1e-10
    for one, other, cells, limits in (
        (hex8_plain, hex8_plain, (3, 5), (0.01, 0.003)),
        (hex8_plain, hex8_plain, (4, 4), equal),
        (hex20, hex20, (4, 4), equal),
        (tet10, tet10, (4, 4), equal),
        (hex27, hex27, (3, 3), equal),
        (wedge15, wedge15, (3, 3), equal),
        (wedge6, wedge6, (4, 4), equal),
        (hex20, tet10, (3, 5), (0.01, 0.003)),
    ):
        below = 3 if one in (hex27, wedge15) else 4
        low = brick("low", (1.0, 1.0, 0.5), (below, below, 2), element=one)
        high = brick("high", (1.0, 1.0, 0.5), (*cells, 2), (0.0, 0.0, 0.5), element=other)
        supports = [fix(body[f"{axis}0"], axis) for body in (low, high) for axis in "xy"]
        between = Contact(low["z1"], high["z0"])
        load = traction(high["z1"], (0.0, 0.0, P))
        system = System(low, high, terms=[*supports, fix(low["z0"], "z"), load, between])
        StaticProblem(system, options=TIGHT).solve()
        error = []
        for body in (low, high):
            means = sample(system, body, fields={"stress": "cauchy"}, at="cell")
            stress = np.asarray(means.cell_data["stress"], dtype=float).reshape(-1, 9)[:, 8]
            error.append(stress / exact - 1.0)
        off = np.concatenate(system.comm.allgather(np.concatenate(error)))
        name = f"{below}x{below} on {cells[0]}x{cells[1]} facets"
        if one is not hex8_plain:
            name += f", {one.name} on {other.name}"
        yield Number(f"largest error of the stress: {name}", np.abs(off).max(), 0.0, limits[0])
        rms = float(np.sqrt((off**2).mean()))
        yield Number(f"mean error of the stress: {name}", rms, 0.0, limits[1])


@case("F12_newton_order", "Newton's method: r_(k+1)/r_k^2 is bounded near a solution")
def newton_order() -> Iterator[Number]:
    """A sphere, or a block, is pressed on a block and moved, sticking or sliding: one step."""
    for target, mu, way, does in (
        ("sphere", 5.0, 0.05, "sticks"),
        ("sphere", 0.3, 0.01, "slides"),
        ("block", 5.0, 0.2, "sticks"),
        ("block", 0.05, 0.05, "slides"),
    ):
        residuals, counts = pressed_and_moved(target, mu, way)
        r = [x for x in residuals if x > 1e-14][-3:]
        changing = float(len({*counts[-3:]}) - 1)
        yield Number(f"points that change in the end, {target} {does}", changing, 0.0, 0.0)
        largest = max(r[1] / r[0] ** 2, r[2] / r[1] ** 2)
        yield Number(f"r_(k+1)/r_k^2 in the last two: {target} {does}", largest, 0.0, 500.0)


def pressed_and_moved(
    target: str, mu: float, way: float
) -> tuple[list[float], list[tuple[int, int, int]]]:
    """Return residuals and counts of points in Newton's method until a step is solved."""

    def moved(t: float) -> tuple[float, float, float]:
        return way * max(t - 1.0, 0.0), 0.0, -0.05 * min(t, 1.0)

    low = brick("low", (1.0, 1.0, 0.5), (4, 3, 2))
    if target == "sphere":
        ball = Ball(2.0, (0.5, 0.5, 2.5), displacement=moved)
        bodies, on, supports = [low], Contact(low["z1"], ball, mu=mu), [fix(low["z0"])]
    else:
        high = brick("high", (0.7, 0.7, 0.4), (3, 3, 2), (0.13, 0.17, 0.5))
        bodies, on = [low, high], Contact(low["z1"], high["z0"], mu=mu, penetration=1.0)
        supports = [fix(low["z0"]), fix(high["z1"], displacement=moved)]
    system = System(*bodies, terms=[*supports, on])
    problem = StaticProblem(system, options={"snes_rtol": 1e-14})
    problem.solve(to=1.0)
    seen: list[tuple[int, float, tuple[int, int, int]]] = []
    problem.snes.setMonitor(lambda _, k, r: seen.append((k, r, on.status(system))))
    problem.solve(to=2.0)
    starts = [n for n, (k, *_) in enumerate(seen) if k == 0]
    starts = [n for n in starts if not n or seen[n][1] != seen[n - 1][1]]  # else it goes on
    last = [each for n, each in enumerate(seen) if n >= starts[-1] and (each[0] or n in starts)]
    return [r for _, r, _ in last], [counts for *_, counts in last]


def ironed(steps: int) -> tuple[Array, list[int], tuple[float, float, float]]:
    """Return force, iterations and (work, stored, dissipated) of a block drawn over a drum.

    It is pressed on by a quarter of its height, in one step, and drawn along by half its length.
    """
    mesh = Mesh.box((1.2, 0.05, 0.4), (24, 1, 8))
    body = Body(
        mesh["body"], hex8_plain, neo_hooke(), name="block", volumetric="reduced", mu=MU, lam=LAM
    )

    def drawn(t: float) -> tuple[float, float, float]:
        return -0.6 * max(0.0, t - 1.0), 0.0, -0.1 * min(t, 1.0)

    support = fix(body["z1"], displacement=drawn)
    drum = Cylinder(0.3, (0.3, 0.0, -0.3), axis=(0.0, 1.0, 0.0))
    on = Contact(body["z0"], drum, mu=0.4, stiffness=200.0)
    system = System(body, terms=[support, fix(body["body"], "y"), on])
    problem = StaticProblem(system)
    problem.solve(to=1.0)
    stored, dissipated = sum(system.energies().values()), on.dissipated(system)
    problem.record("force", lambda: support.reaction(system).force)
    first = len(problem.history.steps)
    run = problem.solve(to=2.0, step=1.0 / steps)
    F, steps_taken = run["force"], run.steps[first:]
    x = np.array([0.0] + [drawn(step.time)[0] for step in steps_taken])
    work = float(np.sum((F[1:, 0] + F[:-1, 0]) / 2.0 * np.diff(x[-len(F) :])))
    stored, dissipated = (
        sum(system.energies().values()) - stored,
        on.dissipated(system) - dissipated,
    )
    return F[-1], [step.iterations for step in steps_taken], (work, stored, dissipated)


@case("F09_ironing", "the same in steps of other lengths; work = stored + dissipated")
def ironing() -> Iterator[Number]:
    """A soft block is pressed on a rigid drum and drawn over it, mu = 0.4, in 1 to 32 steps."""
    fine, iterations, (work, stored, dissipated) = ironed(32)
    mean = sum(iterations) / 32.0
    yield Number("iterations per step over 8, or 1, in 32 steps", max(mean / 8.0, 1.0), 1.0, 1e-9)
    yield Number("stored and dissipated over the work", (stored + dissipated) / work, 1.0, 5e-3)
    for steps in (1, 8):
        coarse, _, _ = ironed(steps)
        for axis, a in (("x", 0), ("z", 2)):
            name = f"force along {axis} in {steps} steps over that in 32"
            yield Number(name, coarse[a] / fine[a], 1.0, 1e-3)


def dragged(mu: float, steps: int, cells: int = 9) -> tuple[Array, list[int]]:
    """Return the force on a soft block and the iterations of the steps.

    It has sharp edges and is drawn over a bump as soft as it is, squeezed by a third; its bottom
    alone is a side.
    """

    def bump(X: Array) -> Array:
        up = 0.06 * (1.0 - np.cos(np.pi * X[:, 0])) * X[:, 2] / 0.3
        return np.asarray(X + up[:, None] * [0.0, 0.0, 1.0])

    mesh = Mesh.box((2.0, 0.1, 0.3), (32, 1, 4), warp=bump, name="mesh of ground")
    ground = Body(mesh["body"], hex8_plain, neo_hooke(), name="ground", mu=MU, lam=LAM)
    block = brick("block", (0.4, 0.1, 0.26), (cells, 1, 4), (0.05, 0.0, 0.37))

    def drawn(t: float) -> tuple[float, float, float]:
        return 1.3 * max(0.0, t - 1.0), 0.0, -0.05 * min(t, 1.0)

    pull = fix(block["z1"], displacement=drawn)
    supports = [fix(body["body"], "y") for body in (ground, block)]
    on = Contact(ground["z1"], block["z0"], mu=mu)
    system = System(ground, block, terms=[*supports, fix(ground["z0"], ["x", "z"]), pull, on])
    problem = StaticProblem(system)
    problem.solve(to=1.0)
    first = len(problem.history.steps)
    problem.solve(to=2.0, step=1.0 / steps)
    return pull.reaction(system).force, [step.iterations for step in problem.history.steps[first:]]


@case("F17_dragging", "iterations; the same with a coarser block, and in more steps", 1)
def dragging() -> Iterator[Number]:
    """A soft block with sharp edges is drawn over a soft bump, its bottom alone as a side."""
    force, steps_taken = dragged(0.3, 32)
    mean = sum(steps_taken) / 32.0
    yield Number("iterations per step over 10, or 1, mu = 0.3", max(mean / 10.0, 1.0), 1.0, 1e-9)
    (_, without), (coarser, _), (same, _) = dragged(0.0, 32), dragged(0.3, 32, 7), dragged(0.3, 64)
    mean = sum(without) / 32.0
    yield Number("iterations per step over 10, or 1, mu = 0", max(mean / 10.0, 1.0), 1.0, 1e-9)
    yield Number("force on the block, coarser block over fine", coarser[2] / force[2], 1.0, 0.01)
    yield Number("force on the block, 64 steps over 32", same[2] / force[2], 1.0, 1e-3)


def gripped(turn: float) -> tuple[Array, float]:
    """Return the force on one jaw in its axes, and what is dissipated.

    A block is held by two jaws alone, which shear it by friction; they carry it by 70 mm and turn
    by an angle about y.
    """
    parts = [
        brick("lower", (0.02, 0.02, 0.01), (3, 3, 1), (0.0, 0.0, 0.0), 1e6),
        brick("block", (0.016, 0.016, 0.01), (2, 2, 2), (0.002, 0.002, 0.01), 1e6),
        brick("upper", (0.02, 0.02, 0.01), (3, 3, 1), (0.0, 0.0, 0.02), 1e6),
    ]
    lower, block, upper = parts
    way, middle = np.array([0.07 if turn else 0.0, 0.0, 0.0]), np.array([0.01, 0.01, 0.015])

    def carried(press: Array) -> Callable[[Array, float], Array]:
        def u(X: Array, t: float) -> Array:
            angle, on = turn * max(0.0, t - 1.0), min(t, 1.0)
            c, s = math.cos(angle), math.sin(angle)
            R = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
            there = middle + way * max(0.0, t - 1.0) + (X + on * press - middle) @ R.T
            return np.asarray(there - X)

        return u

    grip = np.array([1e-4, 0.0, -5e-4])
    supports = [
        fix(lower["z0"], displacement=carried(-grip)),
        fix(upper["z1"], displacement=carried(grip)),
    ]
    touching = [
        Contact(lower["z1"], block["z0"], mu=0.5),
        Contact(block["z1"], upper["z0"], mu=0.5),
    ]
    system = System(*parts, terms=[*supports, *touching])
    problem = StaticProblem(system, options=TIGHT)
    problem.solve(to=1.0, step=0.5)
    problem.solve(to=2.0, step=0.25)
    c, s = math.cos(turn), math.sin(turn)
    R = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
    return supports[1].reaction(system).force @ R, sum(on.dissipated(system) for on in touching)


@case("F10_carried", "a rigid motion of all partners changes nothing")
def carried_away() -> Iterator[Number]:
    """A block held by friction between soft jaws is carried by 70 mm and turned by 90 degrees."""
    rest, dissipated = gripped(0.0)
    moved, more = gripped(math.pi / 2.0)
    size = float(np.linalg.norm(rest))
    for axis, a in (("along", 0), ("across", 2)):
        yield Number(f"force {axis} the jaws [N]", moved[a], rest[a], 1e-6, size)
    yield Number("dissipated on the way [J]", more - dissipated, 0.0, 1e-10, size * 1e-3)


def struck(two: bool, courant: float = 1.0) -> tuple[float, float, float, float]:
    """Return duration, mean pressure, impulse and energy afterwards, over exact values.

    A bar of 1 m, 100 cells, hits a wall at 0.1 m/s, or one of equal length and opposite speed.
    """
    E, rho, L, v, n, side = 1e6, 1e3, 1.0, 0.1, 100, 0.01
    time, pressure = bar_impact(E, rho, L, v)
    step = courant * time / (2 * n)
    gap = 0.25 * step * v

    def bar(name: str, at: float) -> Body:
        mesh = Mesh.box(
            (L, side, side), (n, 1, 1), warp=lambda X: X + np.array([at, 0.0, 0.0]), name=name
        )
        return Body(
            mesh["body"], hex8_plain, saint_venant_kirchhoff(), name=name, E=E, nu=0.0, rho=rho
        )

    bars = [bar("right", gap), *([bar("left", -L - gap)] if two else [])]
    wall = bars[1]["x1"] if two else Plane(normal=(1.0, 0.0, 0.0))
    on = Contact(bars[0]["x0"], wall)
    system = System(*bars, terms=[*(fix(body["body"], ["y", "z"]) for body in bars), on])
    x = system._discrete.numbering.offset[:, 0]
    right = system.reference[x] > 0.0
    system.rate[x] = np.where(right, -v, v)
    problem = DynamicProblem(system)
    problem.record("force", lambda: on.force(system, on=bars[0])[0])
    run = problem.solve(to=1.5 * time, step=step)
    F, late = run["force"] / side**2, run.time
    inside = (late > 0.1 * time) & (late < 0.9 * time)
    impulse = float(F.sum()) * step
    half, high = pressure / 2.0, np.flatnonzero(pressure / 2.0 < F)
    ends = [  # where the force rises beyond half of rho c v, and falls below it
        late[k] + step * (half - F[k]) / (F[k + 1] - F[k]) for k in (high[0] - 1, high[-1])
    ]
    energy = problem.energies.kinetic + problem.energies.strain
    start = 0.5 * rho * L * side**2 * v**2 * len(bars)
    mean = float(F[inside].mean()) / pressure
    return (ends[1] - ends[0]) / time, mean, impulse / (2.0 * rho * L * v), energy / start


@case("F11_bar_impact", "waves of a bar: 2 L/c, rho c v", short=4)
def bars() -> Iterator[Number]:
    """A bar hits a wall, or its like: duration, pressure, impulse; no energy is created."""
    for two, name in ((False, "on a wall"), (True, "on its like")):
        duration, pressure, impulse, energy = struck(two)
        yield Number(f"duration over 2 L/c, {name}", duration, 1.0, 2e-3)
        yield Number(f"mean pressure over rho c v, {name}", pressure, 1.0, 1e-2)
        yield Number(f"impulse over 2 m v, {name}", impulse, 1.0, 1e-2)
        yield Number(
            f"energy afterwards over that before, or 1, {name}", max(energy, 1.0), 1.0, 1e-3
        )
