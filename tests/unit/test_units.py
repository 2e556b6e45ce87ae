# SPDX-License-Identifier: BSD-3-Clause
"""The same model in m and kg, in mm and t, in other units: the same digits, iterations, steps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from mpi4py import MPI

import symancf as sa
from symancf import elements, energies

pytestmark = pytest.mark.collective

OTHERS = ((1e3, 1e-3), (1e-3, 1e3), (1.0, 1e6))  # of a metre, of a kilogram: mm and t first


class Units:
    """Numbers of SI quantities in units of which a metre and a kilogram are given many."""

    def __init__(self, metre: float = 1.0, kilogram: float = 1.0) -> None:
        self.m, self.kg = metre, kilogram
        self.N, self.Pa = kilogram * metre, kilogram / metre
        self.density = kilogram / metre**3
        self.g = np.array([0.0, 0.0, -9.81]) * metre


def cable(u: Units) -> tuple[sa.System, Any]:
    """A cable that is clamped, under its weight and a force."""
    mesh = sa.Mesh.box((1.0 * u.m,), (4,))
    body = sa.Body(
        mesh["body"],
        elements.ancf_cable,
        energies.cable(),
        EA=50.0 * u.N,
        EI=0.1 * u.N * u.m**2,
        rho=1000.0 * u.density,
        A=1e-4 * u.m**2,
    )
    pull = sa.force(body["x1"], (0.0, 0.1 * u.N, 0.05 * u.N))
    return sa.System(body, terms=[sa.fix(body["x0"]), pull, sa.gravity(u.g)]), body["x1"]


def sheet(u: Units, element: Any) -> tuple[sa.System, Any]:
    """A plate that is clamped along an edge, under its weight."""
    mesh = sa.Mesh.box((0.4 * u.m, 0.2 * u.m), (2, 1))
    given = {"thickness": 0.01 * u.m, "rho": 1000.0 * u.density}
    if element is elements.ancf_thin_plate:
        given |= {"E": 2e8 * u.Pa, "nu": 0.3}
        energy = energies.kirchhoff()
    else:
        given |= {"mu": 8e7 * u.Pa, "lam": 1.2e8 * u.Pa}
        energy = energies.neo_hooke()
    body = sa.Body(mesh["body"], element, energy, **given)
    return sa.System(body, terms=[sa.fix(body["x0"]), sa.gravity(u.g)]), body["x1"]


def robot(u: Units) -> tuple[sa.System, Any]:
    """A controlled link on a hinge in space with a cable and a box at its end."""
    size = (0.4 * u.m, 0.05 * u.m, 0.05 * u.m)
    link = sa.RigidBody.box(size, position=(-0.2 * u.m, 0, 0), rho=500.0 * u.density, name="link")
    hinge = sa.joints.revolute(link.at((-0.2 * u.m, 0, 0)), axis=(0, 1, 0))
    mesh = sa.Mesh.box((0.3 * u.m,), (2,))
    rope = sa.Body(
        mesh["body"],
        elements.ancf_cable,
        energies.cable(),
        name="rope",
        EA=50.0 * u.N,
        EI=0.02 * u.N * u.m**2,
        rho=1000.0 * u.density,
        A=1e-4 * u.m**2,
    )
    box = sa.RigidBody.box((0.04 * u.m,) * 3, position=(0.3 * u.m, 0, 0), rho=800.0 * u.density)
    knots = [
        sa.joints.clamp(rope["x0"], link),
        sa.joints.spherical(rope["x1"], box.at((0.0, 0.0, 0.0))),
    ]
    tip = link.at((0.2 * u.m, 0.0, 0.0))
    servo = sa.PID(
        lambda u_a: u_a[2],
        lambda v_a: v_a[2],
        tip,
        target=lambda t: 0.05 * u.m * math.sin(3.0 * t) ** 2,
        kp=40.0 * u.N / u.m,
        ki=20.0 * u.N / u.m,
        kd=2.0 * u.N / u.m,
    )
    return sa.System(link, rope, box, terms=[hinge, *knots, servo, sa.gravity(u.g)]), box.at(
        (0.01 * u.m, 0.0, 0.02 * u.m)
    )


MODELS = {
    "cable": cable,
    "thin plate": lambda u: sheet(u, elements.ancf_thin_plate),
    "thick plate": lambda u: sheet(u, elements.ancf_plate),
    "robot": robot,
}


def run(model: str, how: str, u: Units) -> tuple[list[Any], np.ndarray]:
    """Return iterations and times of steps, and positions in metres."""
    system, place = MODELS[model](u)
    if how == "statics":
        problem: Any = sa.StaticProblem(system)
        history = problem.solve(to=1.0, step=0.5)
    else:
        method = "rk" if how == "rk" else "generalized-alpha"
        stabilisation = sa.Projection() if how == "rk" else None
        problem = sa.DynamicProblem(system, method=method, stabilisation=stabilisation)
        steps = {"adaptive": how != "fixed"}
        history = problem.solve(to=0.02, step=1e-3 if how == "fixed" else 1e-5, **steps)
    counted = [(s.iterations, round(s.time, 12)) for s in history.steps]
    return counted, system.position(place) / u.m


@pytest.mark.collective(rows=3)
@pytest.mark.parametrize(
    ("model", "how"),
    [
        ("cable", "statics"),
        ("thin plate", "statics"),
        ("thick plate", "statics"),
        ("cable", "fixed"),
        ("thin plate", "fixed"),
        ("cable", "adaptive"),
        ("cable", "rk"),
        ("robot", "fixed"),
        ("robot", "adaptive"),
        ("robot", "rk"),
    ],
)
def test_results_and_steps_do_not_depend_on_units(model: str, how: str) -> None:
    counted, expected = run(model, how, Units())
    assert np.abs(expected).max() > 1e-2
    for units in OTHERS:
        others, found = run(model, how, Units(*units))
        assert [k for k, _ in others] == [k for k, _ in counted]
        assert [t for _, t in others] == pytest.approx([t for _, t in counted], rel=1e-6)
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-10)


METHODS: dict[str, dict[str, Any]] = {
    "rk": {"method": "rk"},
    "Fuzzy": {"method": "rk", "stabilisation": sa.Fuzzy()},
    "Baumgarte": {"method": "rk", "stabilisation": sa.Baumgarte()},
    "adams": {"method": "adams"},
    "generalized-alpha": {},
}


def controlled_pendulum(second: float, metre: float, how: str) -> tuple[np.ndarray, int]:
    """A double pendulum, and a box on a controller: positions in metres, number of steps."""
    size, g = tuple(metre * np.array((1.0, 0.1, 0.1))), 9.81 * metre / second**2
    boxes = [
        sa.RigidBody.box(size, position=(x * metre, 0, 0), rho=rho / metre**3, name=f"box{x}")
        for x, rho in ((0.5, 1000.0), (1.5, 500.0), (5.0, 100.0))
    ]
    a, b, lone = boxes
    pid = sa.PID(
        lambda r_a: r_a[2],
        lambda v_a: v_a[2],
        lone.at((0.0, 0.0, 0.0)),
        target=0.1 * metre,
        kp=100.0 / second**2,
        ki=50.0 / second**3,
        kd=5.0 / second,
    )
    ends = a.at((-0.5 * metre, 0, 0)), a.at((0.5 * metre, 0, 0)), b.at((-0.5 * metre, 0, 0))
    pin = sa.joints.revolute(ends[0], axis=(0, 1, 0))
    link = sa.joints.revolute(*ends[1:], axis=(0, 1, 0))
    system = sa.System(*boxes, terms=[pin, link, pid, sa.gravity((0.0, 0.0, -g))])
    problem = sa.DynamicProblem(system, **METHODS[how])
    problem.solve(to=0.15 * second, step=1e-3 * second, rtol=1e-7, adaptive=True)
    places = [system.position(body.at((0.0, 0.0, 0.0)))[0] / metre for body in boxes]
    return np.array(places), problem.steps


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("how", METHODS)
def test_steps_of_motions_do_not_depend_on_units_of_time(how: str) -> None:
    """With powers of two all numbers have the same digits: 38, 30, 55 steps of rk before."""
    if how == "adams" and MPI.COMM_WORLD.size > 1:
        pytest.skip("VODE works on one rank")
    places, steps = controlled_pendulum(1.0, 1.0, how)
    for second, metre in ((2.0**10, 2.0**7), (2.0**-10, 1.0)):
        others, number = controlled_pendulum(second, metre, how)
        assert number == steps
        assert np.abs(others - places).max() < 1e-10
