# SPDX-License-Identifier: BSD-3-Clause
"""Newton's method where forces have kinks: a soft block is pressed on a roller and dragged."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp
from sympy import Max, Piecewise, sqrt

import symancf as sa
from symancf.elements import hex8_plain
from symancf.energies import neo_hooke

E, NU, MU = 1.0, 0.3, 0.4
RADIUS, DEPTH, WAY = 0.3, 0.08, 0.3
GAUSS = 0.5 / np.sqrt(3.0)


@sa.memory(ax=0, ay=0, az=0)
def roller(
    r_a: Any, v_a: Any, *, ax: Any, ay: Any, az: Any, cx: Any, cz: Any, k: Any, mu: Any, R: Any
) -> Any:
    """Pressure and friction of a cylinder about y, with an anchor on it."""
    d = sp.Matrix([r_a[0] - cx, r_a[1], r_a[2] - cz])
    far = sqrt(d[0] ** 2 + d[2] ** 2)
    n, g = sp.Matrix([d[0] / far, 0, d[2] / far]), far - R
    p = k * Max(-g, 0)
    anchor = sp.Matrix([ax, ay, az])
    T = d - anchor - n * n.dot(d - anchor)
    size = sqrt(T.dot(T) + sp.Float(1e-30))
    slides = k * size > mu * p
    friction = T * Piecewise((mu * p / size, slides), (k, True))
    moved = d - T * mu * p / (k * size)
    share = R / sqrt(moved[0] ** 2 + moved[2] ** 2)
    slid = sp.Matrix([moved[0] * share, moved[1], moved[2] * share])
    here = d - g * n
    after = [Piecewise((here[i], g >= 0), (slid[i], slides), (anchor[i], True)) for i in range(3)]
    force = p * n - friction
    lost = Piecewise((mu * p * (size - mu * p / k), slides), (0, True))
    return sa.remember(
        {v_a[i]: force[i] for i in range(3)},
        ax=after[0],
        ay=after[1],
        az=after[2],
        stored=k / 2 * Max(-g, 0) ** 2,
        dissipated=lost,
    )


def block(name: str, way: float, length: float, force: float) -> tuple[Any, list[Any]]:
    """A block above its roller; units of length and force."""
    unit, modulus = length, E * force / length**2
    size, cells = np.array([0.8, 0.05, 0.2]) * unit, (12, 1, 3)
    mesh = sa.Mesh.box(tuple(size), cells)
    law = {"mu": modulus / (2 * (1 + NU)), "lam": modulus * NU / ((1 + NU) * (1 - 2 * NU))}
    body = sa.Body(mesh["body"], hex8_plain, neo_hooke(), name=name, **law)
    x = [(i + 0.5 + s * GAUSS) * size[0] / cells[0] for i in range(cells[0]) for s in (-1, 1)]
    points = [[a, b, 0.0] for a in x for b in size[1] * (0.5 + np.array([-1, 1]) * GAUSS)]
    area = size[0] * size[1] / cells[0] / 4.0
    rub = sa.VirtualWork(
        roller,
        body.at(points),
        name=f"roller of {name}",
        k=area * 10.0 * modulus / (size[2] / cells[2]),
        mu=MU,
        R=RADIUS * unit,
        cx=lambda t: unit * (0.3 + way * max(0.0, t - 1.0)),
        cz=lambda t: unit * (-RADIUS + (DEPTH * min(t, 1.0) if t > 0.0 else -1e-3)),
    )
    return body, [sa.fix(body["z1"]), sa.fix(body["body"], "y"), rub]


def pressed(*ways: float, length: float = 1.0, force: float = 1.0) -> sa.StaticProblem:
    """Blocks with rollers that will go these ways, pressed on in one step."""
    bodies, terms = [], []
    for k, way in enumerate(ways):
        body, its = block(f"block{k}", way, length, force)
        bodies.append(body)
        terms += its
    problem = sa.StaticProblem(sa.System(*bodies, terms=terms), check_stable=False)
    problem.solve(0.0)
    problem.solve(1.0)
    return problem


def forces(problem: sa.StaticProblem) -> Any:
    """Forces on the upper supports, per block."""
    supports = [support.term for support in problem.system._discrete.supports[::2]]
    return np.array([support.reaction(problem.system).force[:3] for support in supports])


def iterations(problem: sa.StaticProblem) -> list[int]:
    return [step.iterations for step in problem.history.steps]


@pytest.mark.collective
def test_steps_of_any_size_lead_to_the_same_forces() -> None:
    at_once, in_steps = pressed(WAY), pressed(WAY)
    at_once.solve(2.0)
    in_steps.solve(2.0, step=1.0 / 16.0)
    assert at_once.history.cut_backs + in_steps.history.cut_backs <= 8
    assert np.allclose(forces(at_once), forces(in_steps), rtol=2e-3, atol=1e-8)
    assert forces(at_once)[0, 2] < 0.0 != forces(at_once)[0, 0]
    assert np.mean(iterations(in_steps)[2:]) <= 6.5
    # while no point changes its status Newton's method is quadratic: r_2 / r_1^2 is a number
    ratios = []
    for step in (1.0 / 64.0, 1.0 / 128.0):
        in_steps.snes.setConvergenceHistory(length=50, reset=True)
        in_steps.solve(in_steps.system.time + step)
        _, before, after = in_steps.snes.getConvergenceHistory()[0]
        ratios.append(after / before**2)
    assert ratios[0] == pytest.approx(ratios[1], rel=0.3)


def test_units_change_no_step() -> None:
    metres, millimetres = pressed(WAY), pressed(WAY, length=2.0**10, force=2.0**-10)
    for problem in (metres, millimetres):  # units by powers of two change no bit
        problem.solve(1.5)
    assert iterations(metres) == iterations(millimetres)
    assert np.allclose(forces(metres), 2.0**10 * forces(millimetres), rtol=1e-7, atol=1e-10)


def test_parts_have_steps_of_their_own() -> None:
    both, one, other = pressed(WAY, -0.5 * WAY), pressed(WAY), pressed(-0.5 * WAY)
    for problem in (both, one, other):
        problem.solve(1.25)
    apart = np.concatenate([forces(one), forces(other)])
    assert np.allclose(forces(both), apart, rtol=1e-8, atol=1e-10)
    longest = np.maximum(iterations(one), iterations(other))
    assert (np.array(iterations(both)) <= longest).all()


@sa.memory(ax=0, ay=0, before=0.05)
def floor(r_a: Any, v_a: Any, *, ax: Any, ay: Any, before: Any, k: Any, mu: Any, theta: Any) -> Any:
    """Pressure, taken half a step ahead, and friction of the plane z = 0."""
    g = r_a[2]
    p = k * Max(-g - theta * (g - before), 0)
    T = sp.Matrix([r_a[0] - ax, r_a[1] - ay])
    size = sqrt(T.dot(T))
    sticks = k * size <= mu * p
    kept = T * Piecewise((1, sticks), (mu * p / (k * size), True))
    lost = Piecewise((0, sticks), (mu * p * (size - mu * p / k), True))
    return sa.remember(
        {v_a[0]: -k * kept[0], v_a[1]: -k * kept[1], v_a[2]: p},
        ax=r_a[0] - kept[0],
        ay=r_a[1] - kept[1],
        before=g,
        stored=k / 2 * (Max(-g, 0) ** 2 + kept.dot(kept)),
        dissipated=lost,
    )


@pytest.mark.collective
def test_a_thrown_cube_needs_few_cuts_and_gains_no_energy() -> None:
    size, n, E = 0.1, 4, 1e5
    mesh = sa.Mesh.box((size, size, size), (n, n, n))
    cube = sa.Body(mesh["body"], hex8_plain, neo_hooke(), mu=E / 2.6, lam=E * 0.3 / 0.52, rho=1e3)
    h = size / n
    at = [(i + 0.5 + s * GAUSS) * h for i in range(n) for s in (-1, 1)]
    points = [[x, y, 0.0] for x in at for y in at]
    rub = sa.VirtualWork(floor, cube.at(points), k=2.5 * E * h, mu=0.8, theta=0.5, name="floor")
    system = sa.System(cube, terms=[rub])
    state, rate = system.state.reshape(-1, 3), system.rate.reshape(-1, 3)
    state[:, 2] = 0.05
    spin = np.array([3.0, 5.0, 2.0])
    rate[:] = np.cross(spin, system._discrete.points - size / 2) + np.array([1.0, 0.0, -1.0])
    problem = sa.DynamicProblem(system)

    def total() -> float:
        return problem.energies.kinetic + system.strain_energy() + system.energies()["floor"]

    problem.record("total", total)
    problem.solve(0.15, step=8.6e-3)
    assert problem.history.cut_backs <= 6
    energy = problem.history["total"]
    assert energy.max() <= 1.001 * energy[0]
    assert 0.0 < problem.energies.dissipated < energy[0]
