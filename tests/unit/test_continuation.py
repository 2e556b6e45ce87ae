# SPDX-License-Identifier: BSD-3-Clause
"""Paths by arc length: limit points, snap-backs, any parameter; where paths end and fail."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.optimize as so

import symancf as sa
from tests.refusals import likeliest, refused
from tests.unit.test_branch import LIMITS, loaded

B, H = 1.0, 0.3  # half span and rise of a truss of two bars
LENGTH = math.hypot(B, H)
TIGHT = {"snes_rtol": 1e-12}


def carried(v: Any, EA: float = 1.0) -> Any:
    """Load that both bars carry at the displacement v, W = EA L (l/L - 1)^2 / 2 each."""
    z = H - v
    length = np.hypot(B, z)
    return 2 * EA * (1 / LENGTH - 1 / length) * -z


def bars(r_a: Any, *, EA: Any) -> Any:
    x = r_a[0] ** 2 + r_a[1] ** 2  # both bars end on the axis of symmetry
    return EA / LENGTH * ((B**2 + x) ** 0.5 - LENGTH) ** 2


class Truss:
    """Two bars, if asked for with a spring on top through which the load acts."""

    def __init__(self, load: Any = 0.0, EA: Any = 1.0, **given: Any) -> None:
        self.apex = sa.PlanarBody(position=(0.0, H), name="apex")
        bodies, loaded = [self.apex], self.apex
        terms: list[Any] = [sa.Potential(bars, self.apex.at((0, 0)), EA=EA)]
        held = [sa.fix(self.apex, ["x", "theta"])]
        self.k = given.pop("spring", None)
        if self.k:
            self.top = loaded = sa.PlanarBody(position=(0.0, 1.0), name="top")
            bodies.append(loaded)

            def spring(r_a: Any, r_b: Any, *, k: Any) -> Any:
                return k / 2 * (r_b[1] - r_a[1] - (1.0 - H)) ** 2

            terms.append(sa.Potential(spring, self.apex.at((0, 0)), loaded.at((0, 0)), k=self.k))
            if "down" in given:
                held.append(sa.fix(loaded, "all", displacement=(0.0, given["down"], 0.0)))
            else:
                held.append(sa.fix(loaded, ["x", "theta"]))
        self.support = held[-1]
        push = load if callable(load) else (lambda t: -load.value)
        if "down" not in given:
            terms.append(sa.force(loaded.at((0, 0)), (0.0, push)))
        self.system = sa.System(*bodies, terms=[*terms, *held])
        self.problem = sa.StaticProblem(self.system, options=TIGHT)
        self.problem.record("v", self.v)

    def v(self) -> float:
        return H - float(self.apex.position(self.system)[1])


LIMIT_V = H - math.sqrt((LENGTH * B**2) ** (2 / 3) - B**2)  # l^3 = L b^2
LIMIT_P = float(carried(LIMIT_V))


def test_the_whole_path_of_a_truss_and_both_limit_points() -> None:
    P = sa.Parameter("P")
    truss = Truss(P)
    history = truss.problem.follow(P, to=0.05, step=1e-3)
    np.testing.assert_allclose(history["P"], carried(history["v"]), rtol=0, atol=1e-13)
    assert history["P"][-1] == P.value == 0.05
    assert history["P"].tolist() == [step.parameter for step in history.steps]
    assert np.all(np.diff(history.time) > 0.0)
    assert np.all(np.diff(history["v"]) > 0.0)
    high, low = history.limit_points
    assert (high.kind, low.kind) == ("maximum", "minimum")
    assert high.parameter == pytest.approx(LIMIT_P, rel=1e-13)
    assert low.parameter == pytest.approx(-LIMIT_P, rel=1e-13)
    assert high.values["v"] == pytest.approx(LIMIT_V, rel=1e-8)
    assert low.values["v"] == pytest.approx(2 * H - LIMIT_V, rel=1e-8)
    assert history["P"].max() > high.parameter  # the path goes up again
    assert high.time in history.time
    assert history.cut_backs < 3
    assert len(history.steps) < 40


@pytest.mark.parametrize("step", [1e-5, 1e-3, 0.9 * LIMIT_P, 3 * LIMIT_P])
def test_limit_points_do_not_depend_on_the_step(step: float) -> None:
    P = sa.Parameter("P")
    truss = Truss(P)
    history = truss.problem.follow(P, to=0.05, step=step)
    found = [point.parameter for point in history.limit_points]
    assert found == pytest.approx([LIMIT_P, -LIMIT_P], rel=1e-12)
    assert history.iterations < 8 * len(history.steps)


@pytest.mark.parametrize("case", LIMITS, ids=lambda case: "-".join(map(str, case)))
def test_limit_loads_of_the_gripper(case: tuple[str, int, str]) -> None:
    load, limit = sa.Parameter("load"), LIMITS[case]
    problem = sa.StaticProblem(loaded(*case, load).system, prefix="limit_", options=TIGHT)
    problem.follow(
        load,
        step=abs(limit) / 20,
        direction=1 if limit > 0 else -1,
        until=lambda step: len(problem.history.limit_points) > 0,
    )
    (point,) = problem.history.limit_points
    assert point.parameter == pytest.approx(limit, rel=1e-9)
    assert point.kind == ("maximum" if limit > 0 else "minimum")
    assert point.time < problem.history.time[-1]


# ---- snap-back: with a soft spring on top the loaded point goes back, too ----------------------
K = 0.03


def stiffness(v: float) -> float:
    """Return d carried / dv."""
    z = H - v
    return 2 * (1 / LENGTH - B**2 / np.hypot(B, z) ** 3)


def turns() -> list[float]:
    """Return v where the top turns, 1 + carried'/k = 0."""

    def rate(v: float) -> float:
        return 1.0 + stiffness(v) / K

    return [
        so.brentq(rate, LIMIT_V, H, xtol=1e-15),
        so.brentq(rate, H, 2 * H - LIMIT_V, xtol=1e-15),
    ]


def test_a_load_on_a_soft_spring_snaps_back() -> None:
    P = sa.Parameter("P")
    truss = Truss(P, spring=K)
    problem = truss.problem
    problem.record("w", lambda: 1.0 - float(truss.top.position(truss.system)[1]))
    history = problem.follow(P, to=0.05, step=1e-3)
    v, w = history["v"], history["w"]
    assert np.any(np.diff(w) < 0.0)  # neither load nor displacement grows all the time
    np.testing.assert_allclose(history["P"], carried(v), atol=1e-14)
    np.testing.assert_allclose(w, v + carried(v) / K, atol=1e-12)
    found = [point.parameter for point in history.limit_points]
    assert found == pytest.approx([LIMIT_P, -LIMIT_P], rel=1e-12)


def test_a_prescribed_displacement_is_followed_past_its_own_limit_points() -> None:
    w = sa.Parameter("w")
    truss = Truss(spring=K, down=lambda t: -w.value)
    problem = truss.problem
    problem.record("P", lambda: -truss.support.reaction(truss.system).force[1])
    history = problem.follow(w, to=1.5, step=0.02)
    v = history["v"]
    np.testing.assert_allclose(history["w"], v + carried(v) / K, atol=1e-12)
    np.testing.assert_allclose(history["P"], carried(v), atol=1e-12)
    assert w.value == 1.5
    exact = turns()
    places = [float(point.values["v"]) for point in history.limit_points]
    assert places == pytest.approx(exact, rel=1e-8)
    found = [point.parameter for point in history.limit_points]
    assert found == pytest.approx([v + carried(v) / K for v in exact], rel=1e-12)


def test_a_stiffness_is_followed_to_the_softest_that_carries_a_load() -> None:
    EA = sa.Parameter("EA", 2.0)
    truss = Truss(lambda t: -LIMIT_P, EA=EA)
    problem = truss.problem
    problem.solve()
    history = problem.follow(
        EA,
        step=0.05,
        direction=-1,
        until=lambda step: problem.history.limit_points and EA.value > 1.5,
    )
    (point,) = history.limit_points
    assert point.kind == "minimum"
    assert point.parameter == pytest.approx(1.0, rel=1e-10)
    assert point.values["v"] == pytest.approx(LIMIT_V, rel=1e-8)
    assert truss.v() > LIMIT_V
    assert carried(truss.v(), EA.value) == pytest.approx(LIMIT_P, rel=1e-8)  # snes_rtol


def test_the_pseudo_time_is_followed() -> None:
    truss = Truss(lambda t: -0.02 * t)
    history = truss.problem.follow("time", to=0.3, step=0.05)
    assert truss.system.time == 0.3
    assert history["pseudo-time"][-1] == 0.3
    assert carried(truss.v()) == pytest.approx(0.006, rel=1e-12)
    truss.problem.follow("time", to=-0.1, direction=1)
    assert carried(truss.v()) == pytest.approx(-0.002, rel=1e-12)
    assert truss.v() > H  # it went on, over the limit point


# ---- multipliers and cables ---------------------------------------------------------------------
def test_multipliers_carry_the_load_past_the_limit_point() -> None:
    """The apex hangs on the bars by a joint; its multipliers are unknowns of the path."""
    P = sa.Parameter("P")
    apex = sa.PlanarBody(position=(0.0, H), name="apex")
    hook = sa.PlanarBody(position=(0.0, H), name="hook")
    joint = sa.Constraint(lambda r_a, r_b: r_a[1] - r_b[1], apex.at((0, 0)), hook.at((0, 0)))
    truss = [sa.Potential(bars, apex.at((0, 0)), EA=1.0), sa.fix(apex, ["x", "theta"])]
    load = [sa.force(hook.at((0, 0)), (0.0, lambda t: -P.value)), sa.fix(hook, ["x", "theta"])]
    system = sa.System(apex, hook, terms=[*truss, *load, joint])
    problem = sa.StaticProblem(system, options=TIGHT)
    problem.record("v", lambda: H - float(apex.position(system)[1]))
    history = problem.follow(P, to=-0.001, step=1e-3, direction=1)
    assert history.limit_points[0].parameter == pytest.approx(LIMIT_P, rel=1e-12)
    np.testing.assert_allclose(history["P"], carried(history["v"]), atol=1e-14)
    assert abs(joint.multipliers(system)[0, 0]) == pytest.approx(0.001, rel=1e-9)


def shallow(v: Any = None) -> tuple[sa.System, sa.Parameter, Any]:
    """Half of a shallow frame of cables with a load at its crown, or its displacement `v`."""
    P = sa.Parameter("P")
    line = sa.Mesh.box((1.0,), (8,), warp=lambda X: X[:, :1] * [1.0, 0.1, 0.0])
    beam = sa.Body(
        line["body"], sa.elements.ancf_cable, sa.energies.cable(), name="beam", EA=100.0, EI=1e-2
    )
    crown = sa.PlanarBody(position=(1.0, 0.1), name="crown")
    foot = sa.joints.clamp(beam.at((0.0, 0.0, 0.0)), sa.ground)
    top = sa.joints.clamp(beam.at((1.0, 0.1, 0.0)), crown)
    if v is None:
        held = sa.fix(crown, ["x", "theta"])
        load = [sa.force(crown.at((0, 0)), (0.0, lambda t: -P.value))]
    else:
        held, load = sa.fix(crown, "all", displacement=(0.0, lambda t: -v.value, 0.0)), []
    system = sa.System(beam, crown, terms=[sa.planar(beam), foot, top, held, *load])
    return system, P, held


def test_load_and_displacement_lead_along_the_same_path() -> None:
    system, P, _ = shallow()
    problem = sa.StaticProblem(system, options=TIGHT)
    crown = system.bodies[1]
    problem.record("v", lambda: 0.1 - float(crown.position(system)[1]))
    history = problem.follow(P, to=0.2, step=0.01)
    assert len(history.limit_points) == 2
    v = sa.Parameter("v")
    system, _, support = shallow(v)
    problem = sa.StaticProblem(system, options=TIGHT)
    for place, load in zip(history["v"], history["P"], strict=True):
        problem.follow(v, to=float(place), step=0.02)
        assert -support.reaction(system).force[1] == pytest.approx(load, rel=1e-8, abs=1e-10)
    assert not problem.history.limit_points


def column(imperfection: float, EA: float) -> tuple[sa.StaticProblem, sa.Parameter]:
    """A clamped column under a thrust and a small part of it sideways."""
    P = sa.Parameter("P")
    line = sa.Mesh.box((1.0,), (16,))
    beam = sa.Body(
        line["body"],
        sa.elements.ancf_cable,
        sa.energies.cable(curvature="plane"),
        name="column",
        EA=EA,
        EI=1.0,
    )
    tip, foot = beam["x1"], sa.joints.clamp(beam.at((0.0, 0.0, 0.0)), sa.ground)
    thrust = sa.force(tip, (lambda t: -P.value, lambda t: imperfection * P.value, 0.0))
    system = sa.System(beam, terms=[foot, sa.planar(beam), thrust])
    problem = sa.StaticProblem(system)
    problem.record("u", lambda: system.displacement(tip)[0, :2])
    return problem, P


def test_a_bifurcation_is_noted_on_the_way() -> None:
    """A perfect column: P (1 - P/EA) = pi^2 EI / (4 L^2), as its axis shortens."""
    EA = 1e3
    problem, P = column(0.0, EA)
    with pytest.warns(UserWarning, match=r"passes a bifurcation at P = 2\.4735"):
        history = problem.follow(P, to=6.0, step=1.0)
    (point,) = history.bifurcations
    assert point.kind == "bifurcation"
    assert point.parameter == pytest.approx(EA / 2 * (1 - math.sqrt(1 - math.pi**2 / EA)), rel=1e-5)
    np.testing.assert_allclose(history["u"][-1], [-0.006, 0.0], atol=1e-12)
    assert not history.limit_points


def test_a_bifurcation_has_the_values_of_all_series_at_its_state() -> None:
    """Also of those that are not due at each step; steps and series are as without it."""
    EA = 1e3
    problem, P = column(0.0, EA)
    system, calls = problem.system, []
    beam, foot = system.bodies[0], system.terms[0]
    problem.record("thrust", lambda: foot.reaction(system).force[0])
    problem.record("u of all", lambda: system.displacement(beam["x1"])[:, 0], every=3)
    problem.record("called", lambda: calls.append(P.value) or len(calls), every=1000)
    with pytest.warns(UserWarning, match="passes a bifurcation"):
        history = problem.follow(P, to=6.0, step=1.0)
    (point,) = history.bifurcations
    assert list(point.values) == history.names
    assert point.values["P"] == point.parameter
    assert point.values["u"] == pytest.approx([-point.parameter / EA, 0.0], rel=1e-9, abs=1e-12)
    assert point.values["u of all"] == pytest.approx([-point.parameter / EA], rel=1e-9)
    assert abs(point.values["thrust"]) == pytest.approx(point.parameter, rel=1e-9)
    assert calls == [history["P"][0], point.parameter]
    assert len(history["u"]) == len(history.steps)
    np.testing.assert_allclose(history["u"][:, 0], -history["P"] / EA, rtol=1e-9)


def test_limit_points_have_the_values_of_series_that_are_not_due() -> None:
    P = sa.Parameter("P")
    truss = Truss(P)
    calls: list[float] = []
    truss.problem.record("seldom", truss.v, every=1000)
    truss.problem.record("each", lambda: calls.append(P.value) or P.value)
    history = truss.problem.follow(P, to=0.05, step=1e-3)
    for point in history.limit_points:
        assert point.values["seldom"] == point.values["v"] != 0.0
    assert len(calls) == len(history.steps)  # what is recorded is not asked for again


@pytest.mark.parametrize("step", [None, 5.0])
@pytest.mark.parametrize("imperfection", [1e-4, 1e-6])
def test_no_step_leads_from_a_buckling_path_to_another_branch(
    imperfection: float, step: float | None
) -> None:
    """Twice the buckling load at once would lead to the unbuckled column, or to a higher mode."""
    problem, P = column(imperfection, 1e4)
    history = problem.follow(P, to=10.0, step=step)
    slow, Q = column(imperfection, 1e4)
    with_care = slow.follow(Q, to=10.0, step=0.1)
    assert history["u"][-1][1] > 0.5
    np.testing.assert_allclose(history["u"][-1], with_care["u"][-1], atol=1e-8)
    assert not history.bifurcations


# ---- where paths end ----------------------------------------------------------------------------
def test_a_path_goes_on_where_it_ended() -> None:
    P, Q = sa.Parameter("P"), sa.Parameter("Q")
    whole, parts = Truss(P), Truss(Q)
    whole.problem.follow(P, step=1e-3, steps=12)
    for steps in (1, 4, 7):
        parts.problem.follow(Q, step=1e-3 if steps == 1 else None, steps=steps)
    a, b = whole.problem.history, parts.problem.history
    np.testing.assert_array_equal(a["P"], b["Q"])
    np.testing.assert_array_equal(a["v"], b["v"])
    np.testing.assert_allclose(a.time, b.time, rtol=1e-14)
    assert len(a.steps) == 12 + len(a.limit_points)
    assert a.limit_points[0].parameter == b.limit_points[0].parameter


def test_a_path_that_goes_on_turns_on_demand() -> None:
    P = sa.Parameter("P")
    truss = Truss(P)
    problem = truss.problem
    problem.follow(P, step=1e-3, until=lambda step: truss.v() > 0.2)
    assert P.value < LIMIT_P
    problem.follow(P, to=0.0, direction=1)  # up, over the limit point, and down to the start
    assert truss.v() == pytest.approx(0.0, abs=1e-12)
    assert [p.kind for p in problem.history.limit_points] == ["maximum", "maximum"]
    problem.follow(P, to=0.0, direction=1, step=1e-3)
    assert truss.v() == pytest.approx(H, abs=1e-12)
    problem.follow(P, to=0.0)
    assert truss.v() == pytest.approx(2 * H, abs=1e-12)


def test_a_value_is_met_exactly_wherever_it_is() -> None:
    for value in (0.3 * LIMIT_P, (1 - 1e-9) * LIMIT_P, -0.999 * LIMIT_P, 0.0):
        P = sa.Parameter("P")
        truss = Truss(P)
        truss.problem.follow(P, to=value, step=1e-3, direction=1)
        assert P.value == value
        assert carried(truss.v()) == pytest.approx(value, rel=1e-9, abs=1e-14)
        after = value <= 0.0
        assert (truss.v() > LIMIT_V) == after


def test_solving_goes_on_from_a_followed_state() -> None:
    P = sa.Parameter("P")
    truss = Truss(P)
    truss.problem.follow(P, to=0.03, step=1e-3)
    P.value = 0.04
    truss.problem.solve()
    assert truss.v() > 2 * H
    assert carried(truss.v()) == pytest.approx(0.04, rel=1e-12)


def test_a_start_out_of_balance_is_brought_to_equilibrium() -> None:
    P = sa.Parameter("P", 0.002)
    truss = Truss(P)
    history = truss.problem.follow(P, to=0.004)
    assert history["P"][0] == 0.002  # found by Newton's method at first
    assert history.steps[0].iterations > 1
    assert carried(truss.v()) == pytest.approx(0.004, rel=1e-12)


def test_names_of_parameters_and_files(tmp_path: Path) -> None:
    """Names that no series may have; files take the parameter, too, unless they are begun."""
    for name, series in (("P, Q / N", "P_ Q _ N"), ("time", "parameter"), ("", "parameter")):
        P = sa.Parameter(name)
        truss = Truss(P)
        path = tmp_path / f"{series}.csv"
        problem = sa.StaticProblem(truss.system, history=sa.History(csv=path))
        for value in (0.001, 0.002):
            problem.follow(P, to=value)
        np.testing.assert_array_equal(sa.History.read(path)[series], problem.history[series])
        assert problem.history[series][-1] == 0.002
    P = sa.Parameter("P", 0.001)
    problem = sa.StaticProblem(Truss(P).system, history=sa.History(csv=tmp_path / "late.csv"))
    problem.solve()
    history = problem.follow(P, to=0.002)
    assert history.names == []
    assert history.steps[-1].parameter == 0.002


def test_largest_and_until_and_monitors() -> None:
    P = sa.Parameter("P")
    truss = Truss(P)
    seen: list[float] = []
    truss.problem.monitor(lambda step: seen.append(step.parameter))
    history = truss.problem.follow(
        P, step=1e-3, largest=1e-3, until=lambda step: step.parameter < 0.0
    )
    assert seen == history["P"].tolist()
    assert np.diff(history.time).max() <= 1e-3 * (1 + 1e-9)
    assert history["P"][-1] < 0.0 < history["P"][-2]


# ---- what goes wrong ----------------------------------------------------------------------------
def test_a_limit_point_in_solve_suggests_to_follow() -> None:
    P = sa.Parameter("P")
    truss = Truss(P)
    for P.value in (0.8 * LIMIT_P, 0.98 * LIMIT_P):
        truss.problem.solve()
    P.value = 1.2 * LIMIT_P
    with refused(sa.ConvergenceError, causes=likeliest("limit point")):
        truss.problem.solve()


@pytest.mark.parametrize(
    ("given", "asked", "value"),
    [
        ({}, "to", None),
        ({"steps": 3}, "step", None),
        ({"to": 0.0}, "step", None),
        ({"to": math.nan}, "to", math.isnan),
        ({"to": "the end"}, "to", "the end"),
        ({"to": 1.0, "step": 0.0}, "step", 0.0),
        ({"to": 1.0, "step": -0.1}, "step", -0.1),
        ({"to": 1.0, "step": math.inf}, "step", math.inf),
        ({"to": 1.0, "largest": 0.0}, "largest", 0.0),
        ({"to": 1.0, "smallest": -1.0}, "smallest", -1.0),
        ({"to": 1.0, "steps": 0}, "steps", 0),
        ({"to": 1.0, "steps": 2.5}, "steps", 2.5),
        ({"to": 1.0, "direction": 2}, "direction", 2),
        ({"until": 3, "step": 0.1}, "until", 3),
    ],
)
def test_impossible_arguments(given: dict[str, Any], asked: str, value: Any) -> None:
    P = sa.Parameter("P")
    truss = Truss(P)
    with refused(sa.ParameterError, asked=asked, given=value):
        truss.problem.follow(P, **given)
    assert truss.v() == 0.0
    assert not truss.problem.history.steps


def test_something_that_is_no_parameter_or_drives_nothing() -> None:
    P, other = sa.Parameter("P"), sa.Parameter("other")
    truss = Truss(P)
    with refused(sa.ParameterError, asked="parameter", given=0.5):
        truss.problem.follow(0.5, to=1.0)  # type: ignore[arg-type]
    with refused(sa.ParameterError, asked="other"):
        truss.problem.follow(other, to=1.0)
    assert (other.value, P.value) == (0.0, 0.0)
    P.value = math.nan
    with refused(sa.ParameterError, asked="F2", given=math.isnan):
        truss.problem.follow(P, to=1.0)


def test_no_equilibrium_at_the_start() -> None:
    P, Q = sa.Parameter("P"), sa.Parameter("Q", 1.2 * LIMIT_P)
    truss = Truss(lambda t: -Q.value - P.value)
    problem = sa.StaticProblem(truss.system, options={"snes_max_it": 3})
    with refused(sa.ConvergenceError, reason="DIVERGED_MAX_IT"):
        problem.follow(P, to=0.1)
    assert truss.v() == 0.0


def test_a_value_that_the_path_never_reaches() -> None:
    P = sa.Parameter("P")
    truss = Truss(P)
    with refused(sa.ConvergenceError, reason="STEPS"):
        truss.problem.follow(P, to=-0.1, direction=1, step=1e-3, steps=9)
    history = truss.problem.history
    assert history["P"][-1] == P.value
    assert carried(truss.v()) == pytest.approx(P.value, rel=1e-12)


def test_a_path_that_ends() -> None:
    """A function of the parameter that has no value beyond 0.5."""
    P = sa.Parameter("P")
    truss = Truss(lambda t: -0.001 * (P.value + 0.0 * math.sqrt(0.5 - P.value)))
    with refused(
        sa.ConvergenceError,
        asked="P",
        given=pytest.approx(0.5, abs=1e-5),
        reason="DIVERGED_ARC_LENGTH",
    ) as caught:
        truss.problem.follow(P, to=1.0)
    assert "math domain error" in str(caught.value)
    assert 0.49 < P.value <= 0.5
    assert P.value == truss.problem.history["P"][-1]


def test_an_error_of_a_function_leaves_the_last_step() -> None:
    P = sa.Parameter("P")
    truss = Truss(P)

    def until(step: Any) -> bool:
        if len(truss.problem.history.steps) == 3:
            raise RuntimeError("enough")
        return False

    with pytest.raises(RuntimeError, match="enough"):
        truss.problem.follow(P, step=1e-3, until=until)
    history = truss.problem.history
    assert len(history.steps) == 3
    assert P.value == history["P"][-1]
    assert truss.v() == history["v"][-1]
    truss.problem.follow(P, steps=2)
    assert len(history.steps) == 5


def test_everything_prescribed() -> None:
    w = sa.Parameter("w")
    body = sa.PlanarBody(position=(0.0, 0.0), name="body")
    system = sa.System(body, terms=[sa.fix(body, "all", displacement=(w, 0.0, 0.0))])
    with refused(sa.ParameterError, asked="degrees of freedom", given=0):
        sa.StaticProblem(system).follow(w, to=1.0)


def bar() -> tuple[sa.StaticProblem, sa.Parameter, Any]:
    """A bar of length 1 and stiffness 1 that is pulled."""
    line = sa.Mesh.box((1.0,), (1,), name="bar")
    bar = sa.Body(line["body"], sa.elements.ancf_cable, sa.energies.cable(), EA=1.0, EI=1.0)
    pull = sa.Parameter("pull")
    load = sa.force(bar["x1"], (pull, 0.0, 0.0))
    system = sa.System(bar, terms=[sa.fix(bar["x0"]), sa.planar(bar), load])
    return sa.StaticProblem(system), pull, lambda: system.displacement(bar["x1"])[0, 0]


def test_a_path_that_leads_away_is_given_up() -> None:
    """A bar that was pulled is pulled on where one says so: not for ever."""
    problem, pull, _ = bar()
    problem.follow(pull, to=0.01)
    with refused(sa.ConvergenceError, reason="AWAY"):
        problem.follow(pull, to=0.0, direction=1)
    assert 1.0 < pull.value < 10.0


def test_a_path_goes_to_a_lower_load_after_a_higher_one() -> None:
    problem, pull, moved = bar()
    for value in (0.2, 0.1, 0.3, -0.05, -0.05001, 0.0):
        problem.follow(pull, to=value, step=0.07)
        assert pull.value == value
        assert moved() == pytest.approx(value, abs=1e-12)
    problem.follow(pull, steps=1)  # on as it went
    assert pull.value > 0.0


def test_beyond_a_limit_point_one_says_where_to_go() -> None:
    """A load higher than that of a falling path is met when one goes back, and far away again."""
    for direction in (1, -1):
        P = sa.Parameter("P")
        truss = Truss(P)
        truss.problem.follow(P, step=1e-3, until=lambda step: truss.v() > 0.6 * H)  # noqa: B023
        value = P.value
        steps = len(truss.problem.history.steps)
        assert 0.0 < value < LIMIT_P
        with refused(sa.ParameterError, asked="direction", possible=(1, -1)):
            truss.problem.follow(P, to=0.9 * LIMIT_P)
        assert len(truss.problem.history.steps) == steps
        assert P.value == value
        truss.problem.follow(P, to=0.9 * LIMIT_P, direction=direction)
        assert P.value == 0.9 * LIMIT_P
        low, high = (LIMIT_V, 0.6 * H) if direction == 1 else (2 * H, 3 * H)
        assert low < truss.v() < high
