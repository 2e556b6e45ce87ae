# SPDX-License-Identifier: BSD-3-Clause
"""Constants from tests of structures, and of the material beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf.elements import ancf_cable, hex8_plain
from symancf.energies import cable as cable_law
from symancf.energies import neo_hooke
from tests.refusals import refused

EXACT = {"snes_rtol": 1e-12}
TIMES = np.linspace(0.25, 1.0, 4)


class Cantilever:
    """A cantilever under a load at its tip that grows with time."""

    def __init__(self, length: float = 1.0, unit: float = 1.0, trace: bool = True) -> None:
        mesh = sa.Mesh.box((length,), (4,))
        self.EI = sa.Parameter("EI", unit)
        stiff = {"EA": 1e4 * unit, "EI": self.EI}
        self.body = sa.Body(mesh["body"], ancf_cable, cable_law(), **stiff)
        tip = self.body.at((length, 0.0, 0.0))
        self.clamp = sa.fix(self.body["x0"])
        self.push = sa.Parameter("push", 3.0 * unit)
        load = sa.force(tip, (0.0, lambda t: self.push.value * t, 0.0))
        system = sa.System(self.body, terms=[self.clamp, load])
        self.problem = sa.StaticProblem(system, options=EXACT)
        self.rise = sa.Goal(lambda u_a: u_a[1], tip)
        self.moment = sa.Goal(lambda M: M[2], self.clamp)
        self.problem.solve(**({"step": 0.25, "trace": sa.Trace()} if trace else {}))

    def curve(self, EI: float) -> Any:
        """Return the rise of the tip at the times, for a stiffness, and put the present back."""
        before, self.EI.value = self.EI.value, EI
        self.problem.reset()
        self.EI.value = EI
        self.problem.solve(step=0.25, trace=sa.Trace())
        rises = [self.problem.value(self.rise.at(t)) for t in TIMES]
        self.problem.reset()
        self.EI.value = before
        self.problem.solve(step=0.25, trace=sa.Trace())
        return np.array(rises)


@pytest.mark.parametrize("unit", [1.0, 1e6])
@pytest.mark.collective
def test_a_stiffness_is_that_of_the_curve(unit: float) -> None:
    beam = Cantilever(unit=unit)
    test = sa.StructureTest(beam.problem, beam.rise, beam.curve(2.5 * unit), times=TIMES)
    found = sa.fit(beam.EI, test)
    assert found.values["EI"] == pytest.approx(2.5 * unit, rel=1e-6)
    assert beam.EI.value == found.values["EI"]  # solved with it
    assert beam.problem.value(beam.rise) == pytest.approx(test.data[-1, 0], rel=1e-6)
    assert found.law is None
    assert found.rms["structure"] < 1e-6


def test_several_goals_of_one_equilibrium_tell_stiffness_and_load() -> None:
    beam = Cantilever(trace=False)
    beam.EI.value, beam.push.value = 2.0, 4.0
    beam.problem.solve()
    goals = [beam.rise, beam.moment]
    data = [beam.problem.value(goal) for goal in goals]
    beam.EI.value, beam.push.value = 1.0, 3.0
    beam.problem.solve()
    found = sa.fit([beam.EI, beam.push], sa.StructureTest(beam.problem, goals, data, error=1e-3))
    assert found.values["EI"] == pytest.approx(2.0, rel=1e-5)
    assert found.values["push"] == pytest.approx(4.0, rel=1e-5)
    slopes = beam.problem.sensitivity([beam.EI, beam.push], of=goals)
    J = np.array([[g[beam.EI], g[beam.push]] for g in slopes]) / 1e-3
    covariance = np.linalg.inv(J.T @ J)
    errors = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose([found.errors["EI"], found.errors["push"]], errors, rtol=1e-4)
    correlation = covariance[0, 1] / errors.prod()
    assert found.correlation[0, 1] == pytest.approx(correlation, rel=1e-4)


def test_two_structures_share_a_parameter_and_one_predicts_the_other() -> None:
    one, two = Cantilever(), Cantilever(length=1.5)
    first = sa.StructureTest(one.problem, one.rise, one.curve(2.5), times=TIMES, name="short")
    second = sa.StructureTest(two.problem, two.rise, two.curve(2.5), times=TIMES, name="long")
    found = sa.fit(one.EI, [first, second])  # the other has a parameter of that name
    assert found.values["EI"] == pytest.approx(2.5, rel=1e-6)
    assert two.EI.value == one.EI.value
    alone = sa.fit(one.EI, first)
    two.EI.value = 1.0
    np.testing.assert_allclose(alone.predict(second), second.data, rtol=1e-5)


def test_scatter_is_that_of_many_noisy_tests() -> None:
    """Of 40 intervals of 95 % few do not contain the stiffness."""
    beam = Cantilever(trace=False)
    beam.EI.value, sigma = 2.5, 2e-3
    beam.problem.solve()
    clean = np.array([beam.problem.value(goal) for goal in (beam.rise, beam.moment)])
    inside, spread, noise = 0, [], np.random.default_rng(4)
    for _ in range(40):
        data = clean + sigma * noise.standard_normal(2)
        test = sa.StructureTest(beam.problem, [beam.rise, beam.moment], data, error=sigma)
        found = sa.fit(beam.EI, test)
        inside += abs(found.values["EI"] - 2.5) < 1.96 * found.errors["EI"]
        spread.append(found.values["EI"])
    assert 35 <= inside <= 40  # binomial: 1 of 20 such runs has less than 36, 1 of 70 less than 35
    assert np.std(spread) == pytest.approx(found.errors["EI"], rel=0.3)


class Block:
    """A block of rubber, pulled along x between clamps; its volume is nearly constant."""

    def __init__(self, mu: Any, lam: Any) -> None:
        mesh = sa.Mesh.box((1.0, 1.0, 1.0), (2, 1, 1))
        self.body = sa.Body(mesh["body"], hex8_plain, neo_hooke(), mu=mu, lam=lam)
        self.pull = sa.fix(self.body["x1"], displacement=(lambda t: 0.2 * t, 0.0, 0.0))
        system = sa.System(self.body, terms=[sa.fix(self.body["x0"]), self.pull])
        self.problem = sa.StaticProblem(system, options=EXACT)
        self.problem.solve()
        self.force = sa.Goal(lambda F: F[0], self.pull)


def test_coupons_give_what_structures_do_not(tmp_path: Path) -> None:
    truth = Block(0.4, 2.0)
    force = truth.problem.value(truth.force)
    mu, lam = sa.Parameter("mu", 1.0), sa.Parameter("lam", 1.0)
    block = Block(mu, lam)
    x = np.linspace(1.0, 1.5, 6)
    coupon = sa.MaterialTest.uniaxial(x, 0.4 * (x - x**-2))
    clamps = sa.StructureTest(block.problem, block.force, [force], name="clamps")
    found = sa.fit(neo_hooke(), [coupon, clamps])  # lam from the clamps alone
    assert found.values["mu"] == pytest.approx(0.4, rel=1e-5)
    assert found.values["lam"] == pytest.approx(2.0, rel=1e-4)
    assert [t.name for t in found.tests] == ["uniaxial", "clamps"]
    assert found.range[1] == 1.5
    assert found.plot(tmp_path / "both.png").stat().st_size > 5000
    assert "clamps: rms" in str(found)


def test_a_law_with_memory_is_fitted_from_the_history_of_a_structure() -> None:
    law = sa.energies.prony(neo_hooke(), g=(0.3,), tau=(1.0,))
    x = np.array([0.5, 1.0, 2.0, 3.0])

    def relaxing(g1: Any) -> tuple[Any, Any]:
        mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
        body = sa.Body(mesh["body"], hex8_plain, law, mu=1.0, lam=3.0, g1=g1, tau1=1.0)
        pull = sa.fix(body["x1"], displacement=(lambda t: 0.3 * min(t / 0.5, 1.0), 0.0, 0.0))
        problem = sa.StaticProblem(sa.System(body, terms=[sa.fix(body["x0"]), pull]), options=EXACT)
        problem.solve(to=3.0, step=0.5, trace=sa.Trace())
        return problem, sa.Goal(lambda F: F[0], pull)

    problem, force = relaxing(0.55)
    data = [problem.value(force.at(t)) for t in x]
    g1 = sa.Parameter("g1", 0.2)
    problem, force = relaxing(g1)
    found = sa.fit(g1, sa.StructureTest(problem, force, data, times=x), bounds={"g1": (0.0, 0.9)})
    assert found.values["g1"] == pytest.approx(0.55, rel=1e-5)


def test_damping_is_fitted_from_a_motion() -> None:
    mesh = sa.Mesh.box((1.0,), (3,))

    def swinging(eta: Any) -> tuple[Any, Any]:
        given = {"EA": 1e3, "EI": 1.0, "rho": 1.0, "A": 0.1}
        body = sa.Body(mesh["body"], ancf_cable, cable_law(), **given)
        terms = [sa.fix(body["x0"]), sa.gravity((0.0, -9.81, 0.0)), sa.KelvinVoigt(body, eta=eta)]
        motion = sa.DynamicProblem(sa.System(body, terms=terms))
        motion.solve(to=0.6, step=0.02, trace=sa.Trace())
        return motion, sa.Goal(lambda u_a: u_a[1], body.at((1.0, 0.0, 0.0)))

    times = [0.2, 0.4, 0.6]
    motion, height = swinging(0.05)
    data = [motion.value(height.at(t)) for t in times]
    eta = sa.Parameter("eta", 0.02)
    motion, height = swinging(eta)
    test = sa.StructureTest(motion, height, data, times=times)
    found = sa.fit(eta, test, bounds={"eta": (0.0, 1.0)})
    assert found.values["eta"] == pytest.approx(0.05, rel=1e-4)


def test_what_a_structure_does_not_tell_is_said() -> None:
    beam = Cantilever(trace=False)
    beam.EI.value, beam.push.value = 2.0, 6.0
    beam.problem.solve()
    data = [beam.problem.value(beam.rise)] * 2
    beam.EI.value, beam.push.value = 1.0, 3.0
    beam.problem.solve()
    test = sa.StructureTest(beam.problem, [beam.rise, 1.0 * beam.rise], data, error=1e-3)
    found = sa.fit([beam.EI, beam.push], test)  # only their ratio counts
    assert any("a combination of EI, push" in note for note in found.notes)


def test_wrong_tests_of_structures_are_refused() -> None:
    beam = Cantilever()
    problem, rise, wrong = beam.problem, beam.rise, sa.ParameterError
    with refused(wrong, asked="data", given=(3,), possible=((1,),)):
        sa.StructureTest(problem, rise, [1.0, 2.0, 3.0])
    with refused(wrong, asked="data", given=(3, 1), possible=((4, 1),)):
        sa.StructureTest(problem, rise, [1.0, 2.0, 3.0], times=TIMES)
    with refused(wrong, asked="problem"):
        sa.StructureTest(problem.system, rise, [1.0])  # type: ignore[arg-type]
    with refused(wrong, asked="error"):
        sa.StructureTest(problem, rise, [1.0], error=0.0)
    good = sa.StructureTest(problem, rise, [1.0, 1.0], times=[0.5, 1.0])
    with refused(wrong, asked="at", given=0.6):  # no step ends there
        sa.fit(beam.EI, sa.StructureTest(problem, rise, [1.0], times=[0.6]))
    with refused(wrong, asked="tests", given="structure", possible=("EA",)):
        sa.fit(sa.Parameter("EA"), good)
    with refused(wrong, asked="nu", possible=("EI",)):
        sa.fit([beam.EI, sa.Parameter("nu")], good)
    with refused(wrong, asked="EA", possible=("EI",)):
        sa.fit(beam.EI, good, fixed={"EA": 1.0})
    with refused(wrong, asked="tests", given=1):
        sa.fit([beam.EI, beam.push], sa.StructureTest(problem, rise, [1.0], times=[1.0]))
    x = np.linspace(1.0, 1.5, 6)
    coupon = sa.MaterialTest.uniaxial(x, 0.4 * (x - x**-2))
    with refused(wrong, asked="law"):
        sa.fit(beam.EI, [coupon, good])
    block = Block(1.0, sa.Parameter("lam", 1.0))  # mu is a number in the block
    clamps = sa.StructureTest(block.problem, block.force, [1.0])
    with refused(wrong, asked="mu"):
        sa.fit(neo_hooke(), [coupon, clamps])


def test_data_in_another_unit_are_told_and_the_next_fit_is_as_the_first() -> None:
    beam = Cantilever(trace=False)
    beam.EI.value = 2.5
    beam.problem.solve()
    rise, wrong = beam.problem.value(beam.rise), "look whether the data have the units of the model"
    beam.EI.value = 1.0
    beam.problem.solve()
    for unit, is_told in ((1.0, False), (1e-3, True), (1.0, True), (1.0, False)):
        found = sa.fit(beam.EI, sa.StructureTest(beam.problem, beam.rise, [unit * rise]))
        assert beam.problem.value(beam.rise) == pytest.approx(unit * rise, rel=1e-6)
        assert any(wrong in note for note in found.notes) == is_told
    two = [beam.rise, beam.moment]
    found = sa.fit(beam.EI, sa.StructureTest(beam.problem, two, [2.0 * rise, 0.1]))
    assert any("of the range beside the data" in note for note in found.notes)


def test_a_structure_whose_parameter_changed_is_solved_anew() -> None:
    """Another fit may have changed it."""
    beam = Cantilever(trace=False)
    test = sa.StructureTest(beam.problem, beam.rise, [beam.problem.value(beam.rise)])
    beam.EI.value = 2.5
    assert sa.fit(beam.EI, test).values["EI"] == pytest.approx(1.0, rel=1e-6)
