# SPDX-License-Identifier: BSD-3-Clause
"""Slender chambers under gas, whose pressure without the tension it makes would buckle them."""

from __future__ import annotations

import numpy as np
import pytest

import symancf as sa

INNER, OUTER, LENGTH = 3.0, 5.0, 80.0
PRESSURE = 0.03


def eccentric(X):
    r = np.hypot(X[:, 0], X[:, 1])
    return X + np.outer(0.8 * (OUTER - r) / (OUTER - INNER), (1.0, 0.0, 0.0))


def finger(pressure, unit=1.0, **given):
    """Return a tube whose bore is off its axis, and the displacement of its tip [mm]."""
    sizes = (INNER * unit, OUTER * unit, LENGTH * unit)
    mesh = sa.Mesh.tube(*sizes, (3, 2, 16), warp=lambda X: unit * eccentric(X / unit))
    law = {"C10": 0.11, "C20": 0.02, "C30": 0.0, "k": 10.0}
    stiff = {name: value / unit**2 for name, value in law.items()}
    body = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.yeoh(), **stiff)
    chamber = sa.Cavity(body["inner"], caps="flat", pressure=pressure)
    system = sa.System(body, terms=[sa.fix(body["z0"]), chamber])
    problem = sa.StaticProblem(system, **given)
    tip = body.at((OUTER * unit, 0.0, LENGTH * unit))
    return problem, lambda: system.displacement(tip)[0] / unit


@pytest.mark.collective
@pytest.mark.parametrize("how", ["at once", "parameter", "time", "metres"])
def test_a_slender_chamber_bends_in_few_iterations(how):
    air = sa.Parameter("air", 0.0)
    unit = 1e-3 if how == "metres" else 1.0
    problem, tip = finger((lambda t: PRESSURE * t) if how == "time" else air, unit)
    if how == "time":
        problem.solve(step=0.25)
    else:
        shares = (1.0,) if how in ("at once", "metres") else (0.5, 1.0, 1.0)
        for share in shares:
            air.value = share * PRESSURE / unit**2
            problem.solve()
    history = problem.history
    assert history.cut_backs == 0
    assert max(step.iterations for step in history.steps) <= (10 if len(history.steps) == 1 else 8)
    np.testing.assert_allclose(tip(), [-3.934132, 0.0, 0.793604], atol=2e-6)


def test_a_pressure_that_falls_again():
    air = sa.Parameter("air", PRESSURE)
    problem, tip = finger(air)
    problem.solve()
    air.value = 0.0
    problem.solve()
    assert np.abs(tip()).max() < 1e-9


def chambers(count):
    """Return a system of tubes under gas beside each other, and the bodies."""
    law = {"C10": 0.11, "C20": 0.02, "C30": 0.0, "k": 10.0}
    bodies = []
    for k in range(count):
        shift = np.array([20.0 * k, 0.0, 0.0])
        sizes = INNER, OUTER, 20.0, (1, 1, 2)
        mesh = sa.Mesh.tube(*sizes, warp=lambda X, shift=shift: eccentric(X) + shift)
        given = {"name": f"tube {k}", **law}
        bodies.append(sa.Body(mesh["body"], sa.elements.hex8_plain, sa.energies.yeoh(), **given))
    gas = [sa.Cavity(body["inner"], caps="flat", pressure=0.01) for body in bodies]
    return sa.System(*bodies, terms=[*gas, *(sa.fix(body["z0"]) for body in bodies)]), bodies


def test_twice_the_chambers_cost_twice_as_much(monkeypatch):
    """Meshes that are asked for points, and points of lids that are solved for at once."""
    seen = []

    def spied(function):
        def call(*given, **more):
            seen.append((function.__name__, np.shape(given[0])))
            return function(*given, **more)

        return call

    monkeypatch.setattr(sa.Mesh, "fetch_points", spied(sa.Mesh.fetch_points))
    monkeypatch.setattr(np.linalg, "lstsq", spied(np.linalg.lstsq))
    spent = []
    for count in (25, 50):  # more than `held.FEW`
        seen.clear()
        system, bodies = chambers(count)
        sa.StaticProblem(system).solve()
        tips = [body.at((OUTER + 20.0 * k, 0.0, 20.0)) for k, body in enumerate(bodies)]
        u = [system.displacement(tip)[0] for tip in tips]
        np.testing.assert_allclose(u, np.tile(u[0], (count, 1)), atol=1e-9)
        spent.append([name for name, _ in seen])
        assert max(shape[0] for name, shape in seen if name == "lstsq") <= 6  # two lids
    for name in ("fetch_points", "lstsq"):
        assert 0 < spent[1].count(name) <= 2 * spent[0].count(name), name
