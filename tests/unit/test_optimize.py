# SPDX-License-Identifier: BSD-3-Clause
"""Parameters that make goals small, by the optimisers of SciPy and PETSc."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf.elements import hex8_plain
from symancf.energies import neo_hooke
from tests.shells import hollow_block

TRUTH = 1.0 + 0.6 * np.sin(np.arange(12.0))


class Identification:
    """Moduli of 12 cells from the displacements of all nodes; `unit` is that of stress."""

    def __init__(self, unit: float = 1.0) -> None:
        mesh = sa.Mesh.box((1.0, 1.0, 1.0), (3, 2, 2))
        self.mu = sa.Field(unit * TRUTH)
        self.press = sa.Parameter("press", 0.1 * unit)
        body = sa.Body(mesh["body"], hex8_plain, neo_hooke(), mu=self.mu, lam=2.0 * unit)
        load = sa.traction(body["x1"], (self.press, 0.0, 0.02 * unit))
        self.body = body
        self.system = sa.System(body, terms=[sa.fix(body["x0"]), load])
        self.problem = sa.StaticProblem(self.system, options={"snes_rtol": 1e-12})
        self.problem.solve()
        grid = [(x, y, z) for x in (1 / 3, 2 / 3, 1.0) for y in (0, 0.5, 1) for z in (0, 0.5, 1)]
        places = body.at(grid)
        data = dict(zip("xyz", self.system.displacement(places).T, strict=True))
        self.miss = sa.Goal(self.square, places, **data)
        self.start()

    @staticmethod
    def square(u_a: Any, *, x: float, y: float, z: float) -> Any:
        return (u_a[0] - x) ** 2 + (u_a[1] - y) ** 2 + (u_a[2] - z) ** 2

    def start(self) -> None:
        self.mu.values = np.full(12, self.mu.values.mean())
        self.problem.solve(to=1.0)

    @property
    def error(self) -> float:
        """The largest error of a modulus, by their mean."""
        unit = self.mu.values.mean()
        return float(np.abs(self.mu.values / unit - TRUTH / TRUTH.mean()).max())


@pytest.mark.collective
def test_gauss_and_newton_find_moduli_in_fewer_solutions() -> None:
    model = Identification()
    assert model.error > 0.5
    quick = sa.optimize.scipy(model.problem, model.miss, [model.mu], method="trust-ncg", tol=1e-9)
    assert model.error < 1e-4
    assert quick.solutions < 30
    np.testing.assert_array_equal(quick.x, model.mu.values)
    assert quick.fun == pytest.approx(model.miss.value(model.system), rel=1e-9)
    model.start()
    slow = sa.optimize.scipy(
        model.problem, model.miss, [model.mu], bounds=[(0.2, 5.0)], options={"maxiter": 40}
    )
    assert 0.0 <= slow.fun < 1e-6
    assert slow.solutions > quick.solutions


@pytest.mark.parametrize("method", ["bqnls", pytest.param("bntr", marks=pytest.mark.collective)])
def test_tao_finds_moduli_in_other_units(method: str) -> None:
    model = Identification(unit=1e6)
    options: Any = {"tao_type": method, "tao_max_it": 200, "tao_gatol": 1e-5}
    found = sa.optimize.tao(
        model.problem, model.miss, [model.mu], bounds=[(2e5, 5e6)], options=options
    )
    assert found.success, found
    np.testing.assert_array_equal(found.x, model.mu.values)
    assert model.error < (0.05 if method == "bqnls" else 1e-3)


def test_units_change_nothing_and_a_penalty_counts() -> None:
    found = []
    for unit in (1.0, 1e6):
        model = Identification(unit)
        mean = model.mu.values.mean()

        def penalty(x: Any, mean: float = mean) -> tuple[float, Any, Any]:
            d = (x[:12] - mean) / mean
            more = np.concatenate([d / mean, np.zeros(len(x) - 12)])
            scale = np.zeros(len(x))
            scale[:12] = 1 / mean**2
            return 5e-4 * float(d @ d), 1e-3 * more, 1e-3 * np.diag(scale)

        result = sa.optimize.scipy(
            model.problem,
            model.miss,
            [model.mu, model.press],
            method="trust-ncg",
            penalty=penalty,
            tol=1e-8,
        )
        gradient = model.problem.gradient(model.miss, [model.mu])
        rest = gradient[model.mu] + penalty(result.x)[1][:12]
        assert np.abs(rest).max() < 1e-5 * np.abs(gradient[model.mu]).max() + 1e-9 / unit
        assert np.abs(result.jac).max() < 1e-6 / unit
        found.append(result.x / unit)
    np.testing.assert_allclose(found[0], found[1], rtol=1e-5)
    assert np.abs(found[0][:12] / found[0][:12].mean() - TRUTH / TRUTH.mean()).max() > 0.05


def test_what_optimisers_cannot_do_is_refused() -> None:
    model = Identification()
    for bounds in ([(0.1, 1.0), (0.1, 1.0)], [3.0], [(2.0, 1.0)], 7):
        with pytest.raises(sa.ParameterError, match="bound"):
            sa.optimize.scipy(model.problem, model.miss, [model.mu], bounds=bounds)  # type: ignore[arg-type]
    with pytest.raises(sa.ParameterError, match="penalty"):
        sa.optimize.scipy(model.problem, model.miss, [model.mu], penalty=lambda x: (0.0, x[:3]))
    with pytest.raises(sa.ParameterError, match="choose one of nelder-mead"):
        sa.optimize.scipy(model.problem, model.miss, [model.mu], method="nope")
    with pytest.raises(sa.ParameterError, match="PETSc does not take them"):
        sa.optimize.tao(model.problem, model.miss, [model.mu], options={"tao_type": "nope"})
    with pytest.raises(sa.ParameterError, match="is no goal"):
        sa.optimize.tao(model.problem, 3.0, [model.mu])  # type: ignore[arg-type]
    fresh = sa.StaticProblem(model.system)
    with pytest.raises(sa.ParameterError, match="last solution"):
        sa.optimize.scipy(fresh, model.miss, [model.mu])


def test_values_without_equilibrium_leave_the_last_ones() -> None:
    """A block that is blown up has a limit: the error says so, all is as before."""
    press = sa.Parameter("press", 0.1)
    body = sa.Body(hollow_block()["body"], hex8_plain, neo_hooke(), mu=1.0, lam=2.0)
    terms = [sa.fix(body["left"]), sa.pressure(body["inside"], press)]
    system = sa.System(body, terms=terms)
    problem = sa.StaticProblem(system)
    problem.solve()
    grow = -sa.Goal(lambda u_a: u_a.dot(u_a), body["inside"])
    for call in (sa.optimize.scipy, sa.optimize.tao):
        press.value = 0.5
        problem.solve(to=1.0)
        with pytest.raises(sa.ConvergenceError) as caught:
            call(problem, grow, [press])
        assert "no solution for the values" in "".join(caught.value.__notes__)
        problem.gradient(grow, [press])  # solved, at values with an equilibrium


@pytest.mark.parametrize("name", ["jax", "torch"])
def test_libraries_that_are_missing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, name, None)
    model = Identification()
    with pytest.raises(sa.SymancfError, match=f"pip install {name}"):
        getattr(sa.optimize, name)(model.problem, [model.mu], of=[model.miss])


def cable(rho: float = 0.0) -> tuple[Any, sa.System, sa.Parameter]:
    """A cable with a clamp under its weight, and gravity."""
    gravity = sa.Parameter("gravity", 9.81)
    mesh = sa.Mesh.box((1.0,), (4,))
    law, given = sa.energies.cable(), {"EA": 500.0, "EI": 0.5, "rho": 1.0, "A": 0.1}
    body = sa.Body(mesh["body"], sa.elements.ancf_cable, law, **given)
    fall = sa.gravity((0.0, 0.0, lambda t: -gravity.value * (t if rho else 1.0)))
    return body, sa.System(body, terms=[sa.fix(body["x0"]), fall]), gravity


def test_a_parameter_of_a_motion_is_found() -> None:
    """The motion begins anew with each value."""
    body, system, gravity = cable()
    motion = sa.DynamicProblem(system)
    motion.solve(to=0.1, step=0.01, trace=sa.Trace())
    tip = body.at((1.0, 0.0, 0.0))
    wanted = float(system.displacement(tip)[0, 2])
    miss = sa.Goal(lambda u_a: (u_a[2] - wanted) ** 2, tip)
    gravity.value = 6.0
    motion.reset()
    gravity.value = 6.0
    motion.solve(to=0.1, step=0.01, trace=sa.Trace())
    found = sa.optimize.scipy(motion, miss, [gravity], bounds=[(1.0, 20.0)])
    assert found.success
    assert gravity.value == pytest.approx(9.81, rel=1e-3)
    assert float(system.displacement(tip)[0, 2]) == pytest.approx(wanted, rel=1e-3)
    with pytest.raises(sa.ParameterError, match="known of statics alone"):
        sa.optimize.scipy(motion, miss + 1e-9, [gravity], method="trust-ncg")


def test_a_goal_on_the_way_is_made_small_over_all_steps() -> None:
    body, system, gravity = cable(rho=1.0)
    problem = sa.StaticProblem(system)
    problem.solve(step=0.25, trace=sa.Trace())
    tip = body.at((1.0, 0.0, 0.0))
    sag = sa.Goal(lambda u_a: -u_a[2], tip)
    wanted = problem.value(sag.at(0.5))
    problem.reset()
    gravity.value = 5.0
    problem.solve(step=0.25, trace=sa.Trace())
    found = sa.optimize.scipy(problem, (sag.at(0.5) - wanted) ** 2, [gravity])
    assert found.success
    assert gravity.value == pytest.approx(9.81, rel=1e-3)
