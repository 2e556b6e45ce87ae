# SPDX-License-Identifier: BSD-3-Clause
"""Contact of deformable bodies in other units, in a turned frame and in a common rigid motion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf import elements
from symancf.energies import neo_hooke
from tests.unit.facing import MATERIAL
from tests.unit.seams import beside, held, side_of

Array = Any
ALONG = np.array([1.0001, 0.0, 0.0])


def turned(angle: float) -> Array:
    """A rotation about an axis that is none of space."""
    k = np.array([1.0, -2.0, 0.5]) / np.sqrt(5.25)
    K = np.array([[0.0, -k[2], k[1]], [k[2], 0.0, -k[0]], [-k[1], k[0], 0.0]])
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K


def dragged(
    L: float = 1.0, Y: float = 1.0, angle: float = 0.0, carried: int = 0, far: float = 0.2
) -> Array:
    """Press a sledge on a bump and drag it; then carry both away and turn them `carried` times.

    The bump is of hexahedra and wedges, with a seam under the sledge.

    Displacements, forces of the contact and what it dissipated after each step, without units and
    in the frame turned by `angle`.
    """
    R = turned(angle)

    def low(x: Array) -> Array:
        x = x * [3.0, 1.0, 1.0]
        up = 0.12 * np.exp(-(((x[:, 0] - 1.5) / 0.4) ** 2)) * x[:, 2] / 0.5
        return L * (x + up[:, None] * [0.0, 0.0, 1.0]) @ R.T

    def high(x: Array) -> Array:
        x = x / L
        up = 0.08 * (2.0 * (x[:, 0] - 0.5)) ** 4 * (1.0 - x[:, 2] / 0.5)
        return L * (x * [0.7, 1.0, 0.8] + [0.4, 0.0, 0.52] + up[:, None] * [0.0, 0.0, 1.0]) @ R.T

    def carry(X: Array, time: float) -> Array:
        t = max(time - 1.3, 0.0)
        return X @ turned(3.0 * t).T - X + t * L * np.array([3.0, 1.0, 2.0])

    def drag(X: Array, time: float) -> Array:
        u = (
            L
            * R
            @ np.array([5.0 * far * min(max(time - 1.0, 0.0), 0.2), 0.0, -0.08 * min(time, 1.0)])
        )
        return u + carry(X + u, time)

    given = {name: Y * value for name, value in MATERIAL.items()}
    strip = beside("first", (4, 5, 2, 1), seam=4 / 9, warp=low, name="strip", **given)
    mesh = sa.Mesh.box((L, L, L / 2), (4, 2, 1), warp=high)
    block = sa.Body(mesh["body"], elements.hex8_plain, neo_hooke(), name="block", **given)
    contact = sa.Contact(side_of(strip, "z1"), block["z0"], mu=(0.4, 0.3), penetration=0.5)
    terms = [
        contact,
        *held(strip, "z0", displacement=carry),
        sa.fix(block["z1"], displacement=drag),
    ]
    system = sa.System(*strip, block, terms=terms)
    problem = sa.StaticProblem(system, options={"snes_rtol": 1e-11})
    place, rows = strip[0].at(L * np.array([(1.0, 0.4, 0.4), (1.2, 0.6, 0.4)]) @ R.T), []
    for time in (1.0, 1.1, 1.2, 1.3, *(1.3 + 0.1 * k for k in range(1, carried + 1))):
        problem.solve(to=time)
        back = turned(3.0 * max(time - 1.3, 0.0)).T
        u, F = system.displacement(place) @ R / L, R.T @ back @ contact.force(system) / (Y * L**2)
        lost = contact.dissipated(system) / (Y * L**3)
        rows.append([*u.ravel(), *F, lost, contact.status(system)[2]])
    return np.array(rows)


def test_numbers_know_no_units_and_no_frame() -> None:
    one = dragged()
    assert one[-1, -2] > 1e-3  # it has slid
    assert one[2, -1] > 10
    for other in (dragged(L=1e3, Y=2e6), dragged(angle=1.1)):
        assert np.abs(other - one).max() < 1e-10


def test_what_is_carried_and_turned_together_does_not_slide() -> None:
    """A sledge that sticks: forces turn with the bodies, as far as normals are followed."""
    found = dragged(carried=3, far=0.005)
    before, after = found[3], found[4:]
    assert np.abs(found[3:, -2] - before[-2]).max() < 1e-15  # nothing is dissipated
    assert not found[3:, -1].any()  # nothing slips
    assert abs(before[6]) > 1e-4
    assert np.abs(after[:, 6:9] - before[6:9]).max() < 1e-4 * before[6]
    assert np.abs(after[1:, 6:9] - after[1, 6:9]).max() < 1e-8 * before[6]


def test_two_bars_exchange_their_velocities() -> None:
    """E = 1e6, rho = 1e3, 0.1 m/s: pressure rho c v/2 for 2 L/c, St. Venant (1883)."""
    n, L, b, v = 20, 1.0, 0.05, 0.1
    c, given = np.sqrt(1e6 / 1e3), {"mu": 0.5e6, "lam": 0.0, "rho": 1e3}
    meshes = [sa.Mesh.box((L, b, b), (n, 1, 1), warp=lambda x, d=d: x + d) for d in (0.0, ALONG)]
    one, two = (
        sa.Body(mesh["body"], elements.hex8_plain, neo_hooke(), name=name, **given)
        for mesh, name in zip(meshes, ("one", "two"), strict=True)
    )
    contact = sa.Contact(one["x1"], two["x0"])
    held = [sa.fix(body[f"{a}0"], a) for body in (one, two) for a in "yz"]
    system = sa.System(one, two, terms=[contact, *held])
    on = system._discrete.binding(one).interpolation
    system.rate[on.offset(np.unique(on.cells), "value")] = v
    problem, h, pressures = sa.DynamicProblem(system, spectral_radius=0.9), L / c / n, []
    for k in range(1, 3 * n):
        problem.solve(to=k * h, step=h)
        pressures.append(float(contact.force(system, on=two)[0]) / b**2)
    touched = np.flatnonzero(np.array(pressures) > 50.0)
    assert abs((touched[-1] - touched[0] + 1) * h - 2.0 * L / c) <= 1.01 * h
    assert np.mean(pressures[n : 2 * n - 2]) == pytest.approx(1e3 * c * v / 2.0, rel=0.01)
    speeds = [
        system.rate[on.offset(np.unique(on.cells), "value")].mean()
        for on in (system._discrete.binding(body).interpolation for body in (one, two))
    ]
    assert speeds == pytest.approx([0.0, v], abs=0.03 * v)
    moving = 0.5 * 1e3 * b * b * L * v**2
    assert 0.0 < contact.dissipated(system) < 0.02 * moving


@pytest.mark.filterwarnings("ignore:contact:UserWarning")
def test_a_folded_strip_is_squeezed_flat() -> None:
    """Its inner face touches itself; its ends are squeezed to a sixth of their thickness."""
    t, gap, nl, na = 0.12, 0.24, 20, 14
    arc, n = np.pi * gap / 2.0, 2 * nl + na
    S = np.concatenate([np.linspace(0, 1, nl + 1)[:-1], 1 + arc * np.linspace(0, 1, na + 1)[:-1]])
    S = np.append(S, 1 + arc + np.linspace(0, 1, nl + 1))

    def folded(x: Array) -> Array:
        s, z = np.interp(x[:, 0], np.arange(n + 1), S), x[:, 2]
        angle, r = np.clip((s - 1.0) / (gap / 2.0), 0.0, np.pi), gap / 2.0 + z
        along = np.where(s < 1.0, s, np.where(s > 1.0 + arc, 2.0 + arc - s, 1.0))
        return np.stack([along + r * np.sin(angle), 0.1 - x[:, 1], -r * np.cos(angle)], axis=1)

    mesh = sa.Mesh.box((float(n), 0.1, t), (n, 1, 2), warp=folded)
    given = {"mu": 0.5 / 1.4, "lam": 0.4 / (1.4 * 0.2)}
    strip = sa.Body(mesh["body"], elements.hex8_plain, neo_hooke(), name="strip", **given)
    ends = {
        side: strip.at([(S[k], y, side * (gap / 2 + t)) for k in range(5) for y in (0.0, 0.1)])
        for side in (-1, 1)
    }
    press = [
        sa.fix(end, "z", displacement=lambda T, side=side: (0.0, 0.0, -side * 0.22 * T))
        for side, end in ends.items()
    ]
    walls = [(0.0, y, side * (gap / 2 + t)) for side in ends for y in (0.0, 0.1)]
    held = [sa.fix(strip["y0"], "y"), sa.fix(strip["y1"], "y"), sa.fix(strip.at(walls), "x")]
    system = sa.System(strip, terms=[sa.Contact(strip["z0"]), *held, *press])
    problem = sa.StaticProblem(system)
    for k in range(1, 17):
        problem.solve(to=k / 16)
    u = system.displacement(ends[1])[:, 2] - system.displacement(ends[-1])[:, 2]
    assert np.abs(u + 0.44).max() < 1e-12
    forces = [np.ravel(one.reaction(system).force)[2] for one in press]
    assert forces[0] == pytest.approx(-forces[1], rel=1e-6)
    assert forces[0] > 0.1
