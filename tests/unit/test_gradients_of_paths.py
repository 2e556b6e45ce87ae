# SPDX-License-Identifier: BSD-3-Clause
"""Gradients over the history of statics, against differences of whole solutions."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf.elements import ancf_cable, hex8, hex8_plain
from symancf.energies import neo_hooke
from symancf.solve.statics.adjoint import in_equilibrium
from symancf.solve.statics.limit_adjoint import LimitAdjoint
from tests.remembering import j2, maxwell

pytestmark = pytest.mark.collective

EXACT: Any = {"snes_rtol": 1e-13, "snes_stol": 1e-14, "snes_max_it": 60}
LOAD = np.array([0.0, 0.5, 1.0, 0.6, 0.1, -0.4])


class Path:
    """A problem that is solved from its start, with a goal of its way."""

    def __init__(self, system: sa.System, goal: sa.Goal, variables: list[Any]) -> None:
        self.problem = sa.StaticProblem(system, options=EXACT, check_stable=False)
        self.goal, self.variables = goal, variables
        self.step, self.change = 0.5, 5e-4

    def solve(self, variable: Any = None, value: Any = None) -> sa.Trace:
        self.problem.reset()
        if isinstance(variable, sa.Parameter):
            variable.value = value
        elif variable is not None:
            variable.values = value
        trace = sa.Trace()
        self.problem.solve(to=len(LOAD) - 1.0, step=self.step, smallest=1.0, trace=trace)
        return trace

    def check(self, rel: float = 1e-8) -> None:
        self.solve()
        found = self.problem.gradient(self.goal, self.variables)
        scale = max(float(np.abs(found[v]).max()) for v in self.variables)
        for v in self.variables:
            own = v.value if isinstance(v, sa.Parameter) else v.values.copy()
            d = own if isinstance(v, sa.Parameter) else np.cos(np.arange(len(own)))
            h = self.change * (1.0 if isinstance(v, sa.Parameter) else np.abs(own).max())
            values = []
            for k in (-2, -1, 1, 2):
                self.solve(v, own + k * h * d)
                values.append(self.problem.gradient(self.goal, [v]).value)
            known = np.dot(values, [1, -8, 8, -1]) / (12 * h)
            self.solve(v, own)
            assert np.sum(found[v] * d) == pytest.approx(known, rel=rel, abs=rel * scale), v


def goal_of(body: sa.Body, clamp: Any) -> sa.Goal:
    height = sa.Goal(lambda u_a: u_a[2], body.at((2.0, 0.5, 0.5)))
    moment = sa.Goal(lambda M: M[1], clamp)
    return height + 0.5 * height.at(3.0) + (height**2).integral() + 0.3 * moment.at(2.5)


def bent(law: Any, element: Any, size: float, **given: Any) -> Path:
    """A beam bent to and fro."""
    mesh = sa.Mesh.box((2.0, 1.0, 1.0), (2, 1, 1))
    drive = sa.Series(np.arange(len(LOAD)), size * LOAD)
    body = sa.Body(mesh["body"], element, law, **given)
    clamp = sa.fix(body["x0"])
    system = sa.System(body, terms=[clamp, sa.traction(body["x1"], (0.0, 0.0, drive))])
    variables = [v for v in given.values() if isinstance(v, sa.Parameter | sa.Field)]
    return Path(system, goal_of(body, clamp), [*variables, drive])


def viscous() -> Path:
    E0, tau, E1 = sa.Parameter("E0", 1.0), sa.Parameter("tau", 2.0), sa.Field([0.8, 1.0])
    return bent(maxwell, hex8_plain, 0.02, E0=E0, tau=tau, E1=E1)


def plastic() -> Path:
    mu, K, Y = sa.Parameter("mu", 0.8), sa.Parameter("K", 0.05), sa.Field([0.05, 0.06])
    return bent(j2, hex8_plain, 0.015, lam=1.2, mu=mu, K=K, Y=Y)


def enhanced() -> Path:
    mu = sa.Parameter("mu", 0.8)
    law = sa.energies.prony(neo_hooke(), g=(0.3,), tau=(2.0,))
    return bent(law, hex8, 0.02, mu=mu, lam=1.2)


def rubbed() -> Path:
    """A block pressed onto a ball, and dragged with friction by a clamp that moves."""
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (2, 2, 1))
    mu, rough, down, drag = (
        sa.Parameter(name, value)
        for name, value in (("mu", 1.0), ("rough", 0.3), ("down", 0.05), ("drag", 0.015))
    )
    body = sa.Body(mesh["body"], hex8_plain, neo_hooke(), mu=mu, lam=2.0)
    ball = sa.Sphere(2.0, (0.5, 0.5, -2.01))
    contact = sa.Contact(body["z0"], ball, mu=rough, stiffness=50.0)
    way = (lambda t: drag.value * max(0.0, t - 1.0), 0.0, lambda t: -down.value * min(t, 1.0))
    top = sa.fix(body["z1"], displacement=way)
    force = sa.Goal(lambda F: F[0], top)
    side = sa.Goal(lambda u_a: u_a[0] + u_a[2], body.at((0.0, 0.5, 0.5)))
    goal = force + 0.5 * force.at(2.5) + 3.0 * side.integral()
    return Path(sa.System(body, terms=[top, contact]), goal, [mu, rough, down, drag])


def dragged(unit: float = 1.0) -> Path:
    """A block pressed onto a curved one, and dragged over its facets with friction."""

    def bump(X: Any) -> Any:
        sag = (X[:, 0] - 0.8) ** 2 + (X[:, 1] - 0.7) ** 2
        return unit * (X - np.stack([0.2 + 0 * sag, 0.2 + 0 * sag, 0.5 + 0.05 * sag], axis=1))

    names = {"mu": 1.0, "lam": 1.5, "down": 0.05 * unit, "drag": 0.08 * unit}
    mu, lam, down, drag = (sa.Parameter(*pair) for pair in names.items())
    low = sa.Mesh.box((1.6, 1.4, 0.5), (3, 3, 1), warp=bump)
    top = sa.Mesh.box((1.0, 1.0, 0.5), (2, 2, 1), warp=lambda X: unit * X)
    under = sa.Body(low["body"], hex8_plain, neo_hooke(), name="under", mu=0.9, lam=lam)
    over = sa.Body(top["body"], hex8_plain, neo_hooke(), name="over", mu=mu, lam=2.0)
    contact = sa.Contact(over["z0"], under["z1"], mu=0.3, stiffness=8.0 / unit)
    along = [lambda t, c=c: c * drag.value * max(0.0, t - 1.0) for c in (1.0, 0.3)]
    hold = sa.fix(over["z1"], displacement=(*along, lambda t: -down.value * min(t, 1.0)))
    base = sa.fix(under["z0"])
    rests = sa.fix(over.at((0.0, unit, 0.0)), "y")  # where it touches
    force, aside = sa.Goal(lambda F: F[0], hold), sa.Goal(lambda F: F[1], rests)
    place = under.at((unit / 3.0, 0.8 * unit / 3.0, -0.1 * unit))
    side = sa.Goal(lambda u_a: unit * (u_a[0] - u_a[2]), place)
    goal = force + 0.5 * force.at(2.0) + 3.0 * side.integral() + aside
    system = sa.System(under, over, terms=[base, hold, rests, contact])
    path = Path(system, goal, [mu, lam, down, drag])
    path.step, path.change = 1.0, 2e-5
    return path


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize(
    "path", [dragged, viscous, plastic, enhanced, rubbed], ids=lambda p: p.__name__
)
def test_against_differences_of_whole_solutions(path: Callable[[], Path]) -> None:
    path().check()


@pytest.mark.collective(rows=0)
def test_what_is_remembered_counts_in_any_unit() -> None:
    """Anchors are numbers from 0 to 1, derivatives by them were taken for round-off in um."""
    found = []
    for unit in (1.0, 1e-6):
        path = dragged(unit)
        path.solve()
        g = path.problem.gradient(path.goal, path.variables)
        found.append([g.value / unit**2, *(g[v] * v.value / unit**2 for v in path.variables)])
    np.testing.assert_allclose(*found, rtol=1e-9)


def test_the_distance_to_a_switch_comes_with_the_gradient() -> None:
    """With friction less by that part of it a point slides, with a bit more none does."""
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (2, 2, 1))
    rough, down = sa.Parameter("rough", 0.3), sa.Parameter("down", 0.05)
    body = sa.Body(mesh["body"], hex8_plain, neo_hooke(), mu=1.0, lam=2.0)
    contact = sa.Contact(body["z0"], sa.Plane(), mu=rough, stiffness=2.0)
    way = (lambda t: 0.027 * max(0.0, t - 1.0), 0.0, lambda t: -down.value * min(t, 1.0))
    top = sa.fix(body["z1"], displacement=way)
    problem = sa.StaticProblem(sa.System(body, terms=[top, contact]), options=EXACT)
    goal = sa.Goal(lambda F: F[0], top)

    def found(friction: float) -> tuple[float, Any]:
        problem.reset()
        rough.value = friction
        problem.solve(to=2.0, step=1.0, smallest=1.0, trace=sa.Trace())
        return problem.gradient(goal, [down]).switch, contact.status(problem.system)

    near, status = found(0.3)
    assert 0.0 < near < 0.02
    assert status.slip == 0
    for part, slides in ((1e-6, False), (-1e-6, True)):
        _, status = found(0.3 * (1 - near) * (1 + part))
        assert (status.slip > 0) == slides


@pytest.mark.collective(rows=0)
@pytest.mark.filterwarnings("error")
def test_a_gradient_at_a_switch_is_one_of_one_side() -> None:
    mesh = sa.Mesh.box((1.0, 1.0, 0.5), (2, 2, 1))
    mu, down = sa.Parameter("mu", 1.0), sa.Parameter("down", 0.03)
    body = sa.Body(mesh["body"], hex8_plain, neo_hooke(), mu=mu, lam=2.0)
    contact = sa.Contact(body["z0"], sa.Plane((0.0, 0.0, -0.01)), stiffness=50.0)
    top = sa.fix(body["z1"], displacement=(0.0, 0.0, lambda t: -down.value * t))
    problem = sa.StaticProblem(sa.System(body, terms=[top, contact]), options=EXACT)
    problem.solve()
    goal = sa.Goal(lambda F: F[2], top)
    near = problem.gradient(goal, [mu]).switch
    deepest = contact.penetration_of(problem.system)[1]
    assert 0.5 * deepest < near < deepest
    down.value = 0.01
    problem.solve(to=1.0)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        problem.gradient(goal, [down])
    if problem.system.comm.rank == 0:  # it is told once
        assert any("about to touch" in str(w.message) for w in found)


def test_states_go_to_files_and_come_back_with_the_same_bits() -> None:
    path = viscous()
    path.solve()
    known = path.problem.gradient(path.goal, path.variables)
    path.problem.reset()
    trace = sa.Trace(memory=0)
    for to in (2.0, 5.0):
        path.problem.solve(to=to, step=0.5, smallest=1.0, trace=trace)
    assert trace.on_disk == len(trace) == 11
    assert trace.bytes == 0
    found = path.problem.gradient(path.goal, path.variables)
    for v in path.variables:
        np.testing.assert_allclose(found[v], known[v], rtol=1e-11)
    again = path.problem.gradient(path.goal, path.variables)  # the state is that of before
    assert again.value == found.value


def test_remainders_of_a_path_are_of_second_order() -> None:
    path = viscous()
    path.solve()
    check = sa.check_gradient(path.problem, path.goal, path.variables)
    assert check.orders == pytest.approx([2.0] * 3, abs=0.05)
    assert path.problem.value(path.goal) == path.problem.gradient(path.goal, path.variables).value


def cable() -> tuple[sa.StaticProblem, sa.Goal, sa.Parameter, sa.Series]:
    EI, drive = sa.Parameter("EI", 1.0), sa.Series([0.0, 1.0, 2.0], [0.0, 2.0, 1.0])
    mesh = sa.Mesh.box((1.0,), (2,))
    body = sa.Body(mesh["body"], ancf_cable, sa.energies.cable(), EA=1e3, EI=EI)
    tip = body.at((1.0, 0.0, 0.0))
    terms = [sa.fix(body["x0"]), sa.force(tip, (0.0, drive, 0.0))]
    problem = sa.StaticProblem(sa.System(body, terms=terms), options=EXACT)
    return problem, sa.Goal(lambda u_a: u_a[1], tip), EI, drive


def test_a_trace_that_begins_later_and_a_series_without_one() -> None:
    problem, sag, EI, drive = cable()
    problem.solve(to=2.0, trace=sa.Trace(), step=0.5)
    known = problem.gradient(sag.at(1.5) + sag, [EI, drive])
    problem.reset()
    problem.solve(to=1.0, step=0.5)
    problem.solve(to=2.0, step=0.5, trace=sa.Trace())
    found = problem.gradient(sag.at(1.5) + sag, [EI, drive])
    assert found[EI] == pytest.approx(known[EI], rel=1e-9)
    np.testing.assert_allclose(found[drive], known[drive], rtol=1e-9)
    assert known[drive][0] == 0.0
    problem.solve(to=2.0)
    adjoint, direct = (
        problem.gradient(sag, [EI, drive]),
        problem.sensitivity([EI, drive], of=[sag])[0],
    )
    np.testing.assert_allclose(adjoint[drive], direct[drive], rtol=1e-9)
    assert adjoint[drive][2] == pytest.approx(known[drive][2] - known[drive][1], rel=1e-6)


def test_series_ask_for_other_times() -> None:
    """A function of the user that reads a series at two times."""
    problem, sag, *_ = cable()
    drive = sa.Series([0.0, 1.0, 2.0], [0.0, 2.0, 1.0])
    body = problem.system.bodies[0]
    late = sa.force(
        body.at((1.0, 0.0, 0.0)), (0.0, lambda t: drive(t) + 0.5 * drive(t - 0.75), 0.0)
    )
    problem = sa.StaticProblem(
        sa.System(body, terms=[problem.system.terms[0], late]), options=EXACT
    )
    problem.solve(to=1.5)
    found = problem.gradient(sag, [drive])[drive]
    assert found[1] == pytest.approx(found[2] * (0.5 + 0.5 * 0.75) / 0.5, rel=1e-7)
    assert found[0] == pytest.approx(found[2] * 0.5 * 0.25 / 0.5, rel=1e-7)


@pytest.mark.collective(rows=0)
def test_what_a_trace_does_not_tell_is_refused() -> None:
    problem, sag, EI, _ = cable()
    problem.solve(to=1.0, trace=(trace := sa.Trace()))
    with pytest.raises(sa.ParameterError, match="no step ends there"):
        problem.gradient(sag.at(0.4), [EI])
    with pytest.raises(sa.ParameterError, match="already"):
        sag.at(0.5).integral()
    problem.solve(to=2.0)
    with pytest.raises(sa.ParameterError, match="ends at another state"):
        problem.solve(to=2.5, trace=trace)
    with pytest.raises(sa.ParameterError, match="are those of all steps"):
        problem.gradient(sag.at(1.0), [EI])
    EI.value = 2.0
    problem.reset()
    problem.solve(to=1.0, trace=(trace := sa.Trace()))
    EI.value = 1.5
    problem.solve(to=2.0, trace=trace)
    with pytest.raises(sa.ParameterError, match="no equilibrium with the present"):
        problem.gradient(sag.at(1.0), [EI])
    with pytest.raises(sa.ParameterError, match="a number of bytes"):
        sa.Trace(memory="much")
    with pytest.raises(sa.ParameterError, match="there is no folder"):
        sa.Trace(folder="/does/not/exist")


@pytest.mark.collective(rows=0)
def test_laws_that_remember_ask_for_the_way_from_the_start() -> None:
    path = viscous()
    path.problem.solve(to=1.0)
    path.problem.solve(to=2.0, trace=sa.Trace())
    with pytest.raises(sa.ParameterError, match="does not begin where the solution did"):
        path.problem.gradient(sag_of(path), path.variables)


def sag_of(path: Path) -> sa.Goal:
    return sa.Goal(lambda u_a: u_a[2], path.problem.system.bodies[0].at((2.0, 0.5, 0.5)))


def truss(P: sa.Parameter, EA: sa.Parameter, low: sa.Parameter) -> sa.StaticProblem:
    """Half of a shallow truss that snaps through."""
    mesh = sa.Mesh.box((1.0,), (1,), warp=lambda X: X[:, :1] * [1.0, 0.3, 0.0])
    bar = sa.Body(mesh["body"], ancf_cable, sa.energies.cable(), EA=EA, EI=1.0)
    apex = bar["x1"]
    foot = sa.fix(bar["x0"], "position", displacement=(0.0, low, 0.0))
    load = sa.force(apex, (0.0, lambda t: -P.value, 0.0))
    system = sa.System(bar, terms=[foot, sa.fix(apex, "x"), sa.planar(bar), load])
    return sa.StaticProblem(system, options=EXACT)


def test_limit_loads_follow_stiffness_and_place_of_supports() -> None:
    P, EA, low = sa.Parameter("P", 0.0), sa.Parameter("EA", 100.0), sa.Parameter("low", 0.0)
    problem = truss(P, EA, low)
    with pytest.raises(sa.ParameterError, match="0 limit points"):
        problem.limit_gradient([EA])
    problem.follow(P, to=1.0, step=0.05)
    system = problem.system
    state = system.state.copy()
    found = problem.limit_gradient([EA, low])
    assert found.value == pytest.approx(100.0 * 0.009530291997895455 / 2.0, rel=1e-9)
    assert found[EA] == pytest.approx(found.value / 100.0, rel=1e-9)
    assert found[low] == pytest.approx(0.0, abs=1e-9)  # the load does not depend on where it is
    np.testing.assert_array_equal(system.state, state)
    assert P.value == pytest.approx(1.0)
    for wrong, text in (([P], "value of"), ([sa.Parameter("idle", 1.0)], "nothing depends")):
        with pytest.raises(sa.ParameterError, match=text):
            problem.limit_gradient(wrong)
    EA.value = 90.0
    with pytest.raises(sa.ParameterError, match="no equilibrium"):
        problem.limit_gradient([low])


def test_a_state_beside_a_limit_point_is_told() -> None:
    P, EA, low = sa.Parameter("P", 0.0), sa.Parameter("EA", 100.0), sa.Parameter("low", 0.0)
    problem = truss(P, EA, low)
    problem.follow(P, to=1.0, step=0.05)
    (point, *_), adjoint = problem.history.limit_points, LimitAdjoint(problem.solver, P)
    near = adjoint.gradient(replace(point, state=(1.0 + 8e-5) * point.state), [EA])
    assert near[EA] == pytest.approx(near.value / 100.0, rel=1e-3)
    with pytest.raises(sa.ParameterError, match="the tangent is not singular at the limit point"):
        adjoint.gradient(replace(point, state=(1.0 + 3e-4) * point.state), [EA])


def pulled(size: float) -> tuple[sa.StaticProblem, sa.Parameter]:
    P = sa.Parameter("P", size)
    body = sa.Body(sa.Mesh.box((1.0,) * 3, (1, 1, 1))["body"], hex8_plain, neo_hooke(), mu=1, lam=1)
    load = sa.force(body["x1"], (lambda t: P.value, 0.0, 0.0))
    system = sa.System(body, terms=[sa.fix(body["x0"]), load])
    return sa.StaticProblem(system, options=EXACT), P


def equilibrium_with(problem: sa.StaticProblem, P: sa.Parameter, value: float) -> bool:
    P.value = value
    problem.system._discrete.prescribe(1.0)
    return in_equilibrium(problem.system._discrete)


@pytest.mark.collective(rows=0)
def test_a_state_that_a_larger_load_belongs_to_is_no_equilibrium() -> None:
    problem, P = pulled(0.1)
    problem.solve(to=1.0)
    assert equilibrium_with(problem, P, 0.1 * (1.0 + 5e-4))
    assert not equilibrium_with(problem, P, 0.1 * (1.0 + 5e-3))


@pytest.mark.collective(rows=0)
def test_hardly_any_force_leaves_a_body_at_rest_in_equilibrium() -> None:
    problem, P = pulled(0.0)
    discrete = problem.system._discrete
    force = discrete.stiffness * discrete.extent
    assert equilibrium_with(problem, P, 5e-10 * force)
    assert not equilibrium_with(problem, P, 5e-9 * force)


def column(slope: float = 0.0, **values: float) -> tuple[sa.StaticProblem, dict[str, sa.Parameter]]:
    """A cantilever with a spring at its tip, under a load along it that grows."""
    given = {"P": 0.0, "EI": 1.0, "EA": 200.0, "k": 1.0, "side": 0.0, "lean": 0.0} | values
    p = {name: sa.Parameter(name, value) for name, value in given.items()}
    mesh = sa.Mesh.box((1.0,), (2,))
    rod = sa.Body(mesh["body"], ancf_cable, sa.energies.cable(), EA=p["EA"], EI=p["EI"])
    tip = rod.at((1.0, 0.0, 0.0))
    spring = sa.Potential(lambda u_a, *, k: k * u_a[1] ** 2 / 2, tip, k=p["k"])
    push = sa.force(tip, (lambda t: -p["P"].value, p["side"], 0.0))
    lean = sa.force(tip, (p["lean"], lambda t: slope * p["lean"].value, 0.0))
    terms = [sa.fix(rod["x0"]), sa.planar(rod), spring, push, lean]
    problem = sa.StaticProblem(sa.System(rod, terms=terms), options=EXACT, check_stable=False)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        problem.follow(p["P"], to=4.0, step=0.5)
    if problem.system.comm.rank == 0:  # it is told once
        assert any("bifurcation" in str(w.message) for w in found)
    return problem, p


@pytest.mark.collective(rows=0)
def test_buckling_loads_by_stiffness_and_not_by_imperfections() -> None:
    problem, p = column()
    state = problem.system.state.copy()
    found = problem.buckling_gradient([p["EI"], p["EA"], p["k"]])
    total = sum(p[name].value * found[p[name]] for name in ("EI", "EA", "k"))
    assert total == pytest.approx(found.value, rel=1e-10)  # all stiffnesses grow: so does the load
    for name, h in (("EI", 0.04), ("k", 0.04)):
        loads = [
            column(**{name: 1.0 + k * h})[0].history.bifurcations[0].parameter
            for k in (-3, -2, -1, 1, 2, 3)
        ]
        known = np.dot(loads, [-1, 9, -45, 45, -9, 1]) / (60 * h)
        assert found[p[name]] == pytest.approx(known, rel=5e-9)
    np.testing.assert_array_equal(problem.system.state, state)
    for wrong, text in (("side", "breaks the symmetry"), ("P", "a value of")):
        with pytest.raises(sa.ParameterError, match=text):
            problem.buckling_gradient([p[wrong]])
    with pytest.raises(sa.ParameterError, match="1 bifurcations"):
        problem.buckling_gradient([p["EI"]], 1)


def test_a_load_is_an_imperfection_where_a_part_of_it_presses_aside() -> None:
    problem, p = column(slope=2e-6)
    problem.buckling_gradient([p["lean"]])
    problem, p = column(slope=1e-4)
    with pytest.raises(sa.ParameterError, match="breaks the symmetry"):
        problem.buckling_gradient([p["lean"]])
