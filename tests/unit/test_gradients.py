# SPDX-License-Identifier: BSD-3-Clause
"""Gradients of goals at equilibria, adjoint and direct, against differences of solutions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf.elements import ancf_cable, hex8, hex8_plain
from symancf.energies import neo_hooke
from tests.shells import hollow_block

pytestmark = pytest.mark.collective

EXACT: Any = {"snes_rtol": 1e-13, "snes_stol": 1e-14}


class Case:
    """A problem with parameters and goals."""

    def __init__(
        self, system: sa.System, goals: list[Any], variables: list[Any], **options: Any
    ) -> None:
        self.problem = sa.StaticProblem(system, options=EXACT | options, check_stable=False)
        self.goals, self.variables = goals, variables
        self.problem.solve(step=0.5)

    def at(self, variable: Any, h: float, direction: Any) -> list[float]:
        """Return the goals of a solution beside."""
        field = isinstance(variable, sa.Field)
        now = variable.values if field else variable.value
        there = now + h * direction
        if field:
            variable.values = there
        else:
            variable.value = there
        self.problem.solve(to=1.0)
        found = [goal.value(self.problem.system) for goal in self.goals]
        if field:
            variable.values = now
        else:
            variable.value = now
        return found

    def check(self, rel: float = 1e-7, direct: bool = True) -> None:
        by_goal = [self.problem.gradient(goal, self.variables) for goal in self.goals]
        if direct:
            others = self.problem.sensitivity(self.variables, of=self.goals)
            for one, other in zip(by_goal, others, strict=True):
                scale = largest(one)
                for v in self.variables:
                    np.testing.assert_allclose(one[v], other[v], rtol=1e-8, atol=1e-10 * scale)
        for variable in self.variables:
            field = isinstance(variable, sa.Field)
            direction = np.cos(np.arange(len(variable.values))) if field else 1.0
            h = 2e-3 * (1.0 if field else abs(variable.value) or 1.0)
            places = ((-2, 1), (-1, -8), (1, 8), (2, -1))
            known = sum(
                weight * np.array(self.at(variable, k * h, direction)) for k, weight in places
            ) / (12 * h)
            for found, number in zip(by_goal, known, strict=True):
                near = pytest.approx(number, rel=rel, abs=1e-8 * largest(found))
                assert np.dot(found[variable], direction) == near, variable


def largest(found: Any) -> float:
    """Return the largest derivative."""
    return max(float(np.abs(found[v]).max()) for v in found)


def block(element: Any = hex8_plain, **options: Any) -> Case:
    """A modulus for each cell; dead and follower loads; a clamp that moves."""
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (3, 2, 2))
    mu = sa.Field(1.0 + 0.3 * np.sin(np.arange(12.0)))
    lam, load, press, move = (
        sa.Parameter(name, value)
        for name, value in (("lam", 2.0), ("load", 0.05), ("press", 0.04), ("move", 0.1))
    )
    body = sa.Body(mesh["body"], element, neo_hooke(), mu=mu, lam=lam)
    clamp = sa.fix(body["x0"], displacement=(0.0, lambda t: t * move.value, 0.0))
    loads = [
        sa.traction(body["x1"], (0.0, 0.0, lambda t: t * load.value)),
        sa.pressure(body["z1"], lambda t: t * press.value),
    ]
    tip = body.at([[1.0, 0.5, 0.5], [1.0, 0.2, 0.9]])
    weight = sa.Parameter("weight", 0.7)
    sag = sa.Goal(lambda u_a, *, c: c * u_a[2] + u_a[0] * u_a[1], tip, c=weight)
    moment, force = sa.Goal(lambda M: M[1] + M[2] / 3, clamp), sa.Goal(lambda F: F[2], clamp)
    goals = [sag, 1 + sag**2 / 2 - 1e-1 * force * sag, moment + 0.1 * sag]
    return Case(
        sa.System(body, terms=[clamp, *loads]),
        goals,
        [mu, lam, load, press, move, weight],
        **options,
    )


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize(
    ("element", "solver"),
    [(hex8_plain, {}), (hex8_plain, {"pc_type": "grids"}), (hex8, {})],
    ids=["direct", "grids", "enhanced"],
)
def test_moduli_of_cells_loads_that_follow_and_a_clamp_that_moves(
    element: Any, solver: dict[str, Any]
) -> None:
    block(element, **solver).check(direct=not solver)


def test_a_mechanism_with_multipliers_and_a_strut() -> None:
    """Case of two cables, a rigid link, spherical joints and a strut; a clamp is moved."""
    first = sa.Mesh.box((1.0,), (4,))
    second = sa.Mesh.box((1.0,), (4,), warp=lambda X: X + np.array([1.4, 0.0, 0.0]))
    EI, EA, g, move, length = (
        sa.Parameter(name, value)
        for name, value in (
            ("EI", 2.0),
            ("EA", 500.0),
            ("g", 9.81),
            ("move", 0.1),
            ("length", 3.0),
        )
    )
    rest = {"EA": EA, "rho": 1.0, "A": 0.4}
    cable = sa.energies.cable()
    a = sa.Body(first["body"], ancf_cable, cable, EI=EI, name="a", **rest)
    b = sa.Body(second["body"], ancf_cable, cable, EI=1.5, name="b", **rest)
    link = sa.RigidBody.box((0.4, 0.1, 0.1), position=(1.2, 0.0, 0.0), rho=200.0, name="link")
    ends = link.at((-0.2, 0.0, 0.0)), link.at((0.2, 0.0, 0.0))
    strut_ends = link.at((0.0, 0.0, 0.05)), sa.ground.at((1.2, 3.0, 0.05))
    clamp = sa.fix(a["x0"])
    hold = sa.fix(b["x1"], displacement=(lambda t: move.value * t, 0.0, lambda t: 0.02 * t))
    right = sa.joints.spherical(b.at((1.4, 0.0, 0.0)), ends[1], name="right")
    left = sa.joints.spherical(a.at((1.0, 0.0, 0.0)), ends[0], name="left")
    terms = [
        clamp,
        hold,
        left,
        right,
        sa.joints.distance(*strut_ends, length),
        sa.gravity((0.0, 1.5, lambda t: -g.value * t)),
    ]
    height = sa.Goal(lambda u_a: u_a[2], ends[1])
    turned = sa.Goal(lambda e1_a, r_b: e1_a[2] + r_b[0] ** 2, ends[0], a.at((0.5, 0.0, 0.0)))
    reaction = sa.Goal(lambda F, M: F[0] + 2 * F[2] - M[1], clamp)
    pull = sa.Goal(lambda F, r_a, X_b: F.dot(r_a - X_b) ** 2, right)
    joint = sa.Goal(lambda F, e1_b: F.dot(e1_b) + 0.1 * F[2], left)
    system = sa.System(a, b, link, terms=terms)
    goals = [height, turned, reaction, pull, joint * height]
    case = Case(system, goals, [EI, EA, g, move, length])
    acting = left.reaction(system)
    only = sa.Goal(lambda F, M: F[2] + 0.1 * F[1] + M[0], left)
    value = acting.force[2] + 0.1 * acting.force[1] + acting.moment[0]
    assert case.problem.value(only) == pytest.approx(value, rel=1e-12)
    case.check(rel=1e-6)


def strained(W: Any, von_mises: Any, J: Any, u: Any) -> Any:
    """Return energy, stresses and volume in one density."""
    return W + 10.0 * von_mises**4 + J * (1 + u[2])


def test_integrals_over_a_body() -> None:
    """Energy and stresses follow moduli of the body directly, too."""
    mesh = sa.Mesh.box((2.0, 1.0, 1.0), (2, 1, 1))
    mu = sa.Field(np.array([1.0, 1.2]))
    lam, load = sa.Parameter("lam", 2.0), sa.Parameter("load", 0.03)
    body = sa.Body(mesh["body"], hex8_plain, neo_hooke(), mu=mu, lam=lam)
    pull = sa.traction(body["x1"], (0.0, load, load))
    system = sa.System(body, terms=[sa.fix(body["x0"]), pull])
    total = sa.Goal(strained, body)
    sag = sa.Goal(lambda u_a: u_a[2], body.at((2.0, 0.5, 0.5)))
    case = Case(system, [total, total * sag], [mu, lam, load])
    fields = sa.sample(system, body, fields={"density": strained}, at="cell").cell_data
    known = system.comm.allreduce(float(fields["density"].sum()))  # means of cells of volume 1
    assert case.problem.value(total) == pytest.approx(known, rel=1e-12)
    case.check()


@pytest.mark.collective(rows=0)
def test_what_is_no_goal_of_a_body_or_a_joint_is_refused() -> None:
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    law = sa.energies.prony(neo_hooke(), g=(0.4,), tau=(0.05,))
    body = sa.Body(mesh["body"], hex8_plain, law, mu=1.0, lam=2.0)
    with pytest.raises(sa.ParameterError, match="'body' has a law that remembers"):
        sa.Goal(lambda J: J, body)
    given = {"mu1": 1.0, "alpha1": 2.5, "k": 5.0}
    stretched = sa.Body(mesh["body"], hex8_plain, sa.energies.ogden(terms=1), **given)
    with pytest.raises(sa.KinematicsError, match="principal stretches"):
        sa.Goal(lambda von_mises: von_mises**2, stretched)
    with pytest.raises(sa.KinematicsError, match="offers"):
        sa.Goal(lambda kappa: kappa, stretched)
    with pytest.raises(sa.KinematicsError, match="returns 9 components"):
        sa.Goal(lambda F: F, stretched)
    given = {"EA": 1.0, "EI": 1.0}
    line = sa.Body(sa.Mesh.box((1.0,), (1,))["body"], ancf_cable, sa.energies.cable(), **given)
    head = sa.RigidBody.sphere(0.1, position=(1.0, 0.0, 0.0), rho=1.0)
    clamp = sa.joints.clamp(line["x1"], head)
    with pytest.raises(sa.ParameterError, match="of several constraints"):
        sa.Goal(lambda F: F[0], clamp)
    with pytest.raises(sa.ParameterError, match="has that alone"):
        sa.Goal(lambda F: F[0], clamp, body)


def test_gas_in_a_block() -> None:
    amount, mu = sa.Parameter("amount", 1.6), sa.Parameter("mu", 1.0)
    body = sa.Body(hollow_block()["body"], hex8_plain, neo_hooke(), mu=mu, lam=2.0)
    gas = sa.Cavity(body["inside"], gas=sa.Gas(amount, ambient=0.5))
    hold = sa.fix(body["left"])
    goal = sa.Goal(lambda u_a: u_a.dot(u_a), body["inside"])
    inside = sa.Goal(lambda V, p: p * V + p**2, gas)
    Case(sa.System(body, terms=[hold, gas]), [goal, inside], [amount, mu]).check()


def test_volumes_with_lids_and_pressures_that_are_loads() -> None:
    p, mu = sa.Parameter("p", 0.05), sa.Parameter("mu", 1.0)
    mesh = sa.Mesh.tube(1.0, 1.2, 2.0, 2)
    body = sa.Body(mesh["body"], hex8_plain, neo_hooke(), mu=mu, lam=2.0)
    chamber = sa.Cavity(body["inner"], caps="flat", pressure=p)
    goals = [sa.Goal(lambda V: V**2, chamber), sa.Goal(lambda V, p: p * V, chamber)]
    Case(sa.System(body, terms=[sa.fix(body["z0"]), chamber]), goals, [p, mu]).check()


def test_a_chamber_that_only_measures_has_no_pressure() -> None:
    body = sa.Body(hollow_block()["body"], hex8_plain, neo_hooke(), mu=1.0, lam=2.0)
    chamber = sa.Cavity(body["inside"], name="room")
    with pytest.raises(sa.ParameterError, match="'room' has neither pressure nor gas"):
        sa.Goal(lambda V, p: p * V, chamber)
    with pytest.raises(sa.KinematicsError, match="of a cavity there are V and p"):
        sa.Goal(lambda F: F[0], chamber)
    push = sa.Parameter("push", 0.1)
    shift = sa.fix(body["left"], displacement=(lambda t: push.value * t, 0.0, 0.0))
    load = sa.pressure(body["inside"], push)
    system = sa.System(body, terms=[shift, load, chamber])
    Case(system, [sa.Goal(lambda V: V, chamber)], [push]).check()


def touching(**options: Any) -> Case:
    """Two blocks, without friction."""
    low = sa.Mesh.box((1.2, 1.2, 0.5), (3, 3, 1), warp=lambda X: X - np.array([0.1, 0.1, 0.5]))
    top = sa.Mesh.box((1.0, 1.0, 0.5), (2, 2, 1))
    mu, lam, push = sa.Parameter("mu", 1.0), sa.Parameter("lam", 2.0), sa.Parameter("push", 0.05)
    under = sa.Body(low["body"], hex8_plain, neo_hooke(), mu=mu, lam=2.0, name="under")
    over = sa.Body(top["body"], hex8_plain, neo_hooke(), mu=1.5, lam=lam, name="over")
    touch = sa.Contact(over["z0"], under["z1"], stiffness=20.0)
    press = sa.fix(over["z1"], displacement=(0.02, 0.0, lambda t: -push.value * t))
    system = sa.System(under, over, terms=[sa.fix(under["z0"]), press, touch])
    goal = sa.Goal(lambda u_a: u_a[2] + 2 * u_a[0] ** 2, under["z1"])
    force = sa.Goal(lambda F: F[2] + F[0] / 3, press)
    return Case(system, [goal, force * goal], [mu, lam, push], **options)


def test_bodies_that_touch() -> None:
    """The tangent of points on facets that move is not symmetric."""
    case = touching()
    case.check(rel=1e-5)
    goal, (mu, *_) = case.goals[0], case.variables
    system = case.problem.system
    under, over = system.bodies
    with pytest.raises(sa.ParameterError, match="last solution"):  # of a support alone
        case.problem.gradient(goal, [mu])
    rests = sa.fix(over.at((0.0, 1.0, 0.0)), "y")
    rested = sa.System(under, over, terms=[*system.terms, rests])
    Case(rested, [sa.Goal(lambda F: F[1], rests)], [mu]).check(rel=1e-5)


def test_second_derivatives_of_bodies_that_touch() -> None:
    case = touching()
    goal, (mu, lam, _) = case.goals[0], case.variables
    product = case.problem.hessian(goal, [mu, lam]) @ np.array([1.0, 0.5])

    def beside(h: float) -> list[float]:
        mu.value, lam.value = 1.0 + h, 2.0 + 0.5 * h
        case.problem.solve(to=1.0)
        found = case.problem.gradient(goal, [mu, lam])
        return [found[mu], found[lam]]

    h = 1e-3
    known = sum(w * np.array(beside(k * h)) for k, w in ((-2, 1), (-1, -8), (1, 8), (2, -1)))
    np.testing.assert_allclose(product, known / (12 * h), rtol=1e-7)


def cantilever(**options: Any) -> tuple[sa.StaticProblem, Any, sa.Parameter, sa.Parameter]:
    """A bar: u = F L / EA."""
    mesh = sa.Mesh.box((1.5,), (3,))
    EA, force = sa.Parameter("EA", 50.0), sa.Parameter("force", 2.0)
    bar = sa.Body(mesh["body"], ancf_cable, sa.energies.cable(), EA=EA, EI=1.0)
    end = bar["x1"]
    system = sa.System(bar, terms=[sa.fix(bar["x0"]), sa.force(end, (force, 0.0, 0.0))])
    problem = sa.StaticProblem(system, options=options)
    problem.solve()
    return problem, sa.Goal(lambda u_a: u_a[0], end), EA, force


@pytest.mark.collective(rows=0)
def test_a_bar_has_its_closed_form_and_remainders_of_second_order() -> None:
    problem, stretch, EA, force = cantilever()
    found = problem.gradient(stretch, [EA, force])
    assert found.value == pytest.approx(0.06, rel=1e-12)
    assert found[EA] == pytest.approx(-1.2e-3, rel=1e-11)
    assert found[force] == pytest.approx(0.03, rel=1e-11)
    assert [*found] == [EA, force]
    power = problem.gradient(2 / (1 + stretch) ** 3 - (-stretch), [force])
    assert power[force] == pytest.approx(0.03 * (1 - 6 / 1.06**4), rel=1e-11)
    check = sa.check_gradient(problem, stretch, [EA, force])
    assert check.passed
    assert check.orders == pytest.approx([2.0] * 3, abs=0.05)
    assert str(check).endswith("ok")
    assert (EA.value, force.value) == (50.0, 2.0)


@pytest.mark.collective(rows=0)
def test_what_is_no_gradient_is_refused() -> None:
    problem, stretch, EA, force = cantilever()
    for wrong, text in (
        ([sa.Parameter("idle", 1.0)], "nothing depends"),
        ([], "takes a list"),
        ([EA, EA], "twice"),
        ([sa.Field(lambda X: X[:, 0])], "by its values"),
    ):
        with pytest.raises(sa.ParameterError, match=text):
            problem.gradient(stretch, wrong)
    with pytest.raises(sa.ParameterError, match="is no goal"):
        problem.gradient(1.0, [EA])  # type: ignore[arg-type]
    for goal in (stretch.at(0.5), 1 + stretch.integral()):
        with pytest.raises(sa.ParameterError, match="are those of all steps"):
            problem.gradient(goal, [EA])
        with pytest.raises(sa.ParameterError, match="are those of all steps"):
            goal.value(problem.system)
    with pytest.raises(sa.ParameterError, match="asks for velocities"):
        problem.gradient(sa.Goal(lambda v_a: v_a[0], stretch._parts[0].ends[0]), [EA])
    force.value = 3.0
    with pytest.raises(sa.ParameterError, match="last solution"):
        problem.gradient(stretch, [EA])
    problem.solve(to=1.0)
    problem.gradient(stretch, [EA])


@pytest.mark.collective(rows=0)
def test_laws_that_remember_are_refused_by_name() -> None:
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    mu = sa.Parameter("mu", 1.0)
    law = sa.energies.prony(neo_hooke(), g=(0.3,), tau=(1.0,))
    body = sa.Body(mesh["body"], hex8_plain, law, mu=mu, lam=2.0, name="soft")
    pull = sa.traction(body["z1"], (0.0, 0.0, 0.1))
    problem = sa.StaticProblem(sa.System(body, terms=[sa.fix(body["z0"]), pull]))
    problem.solve()
    goal = sa.Goal(lambda u_a: u_a[2], body.at((1.0, 1.0, 1.0)))
    with pytest.raises(sa.ParameterError, match="'soft': the law remembers"):
        problem.gradient(goal, [mu])


@pytest.mark.parametrize("solver", [{}, {"pc_type": "grids"}], ids=["direct", "grids"])
def test_products_with_the_hessian_of_gauss_and_newton(solver: dict[str, Any]) -> None:
    """Against derivatives of each quantity of the goal, that `sensitivity` gives."""
    case = block(**solver)
    problem, (mu, lam, load, press, move, _) = case.problem, case.variables
    body, clamp = problem.system.bodies[0], problem.system.terms[0]
    variables = [mu, lam, load, press, move]
    tips = [body.at((1.0, y, 0.5)) for y in (0.2, 0.9)]
    single = [sa.Goal(lambda u_a: u_a[2], tip) for tip in tips]
    single += [sa.Goal(lambda F: F[2], clamp), sa.Goal(lambda M: M[1], clamp)]
    y1, y2, force, moment = single
    slopes = [
        np.concatenate([np.atleast_1d(found[v]) for v in variables])
        for found in problem.sensitivity(variables, of=single)
    ]
    S = np.array(slopes)
    J = y1**2 / 2 + y2**2 / 2 + y1 * force + 3 * moment**2 + 5 * moment
    both = body.at([[1.0, 0.2, 0.5], [1.0, 0.9, 0.5]])
    a, b = y1.value(problem.system), y2.value(problem.system)
    squares = sa.Goal(lambda u_a, *, c: (u_a[2] - c) ** 2 / 2, both, c=np.array([a - 0.1, b]))
    of_forces = sa.Goal(lambda F, M: F[2] * M[1] + M[1] ** 2, clamp)
    weights = {
        J: [[1, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 6]],
        squares: np.diag([1, 1, 0, 0]),
        of_forces: [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 2]],
    }
    d = np.cos(np.arange(S.shape[1]))
    for goal, second in weights.items():
        H = problem.hessian(goal, variables, gauss_newton=True)
        known = S.T @ (np.array(second) @ (S @ d))
        np.testing.assert_allclose(H @ d, known, rtol=1e-8, atol=1e-9 * np.abs(known).max())


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize("element", [hex8_plain, hex8], ids=["plain", "enhanced"])
def test_products_with_the_exact_hessian(element: Any) -> None:
    """Symmetric, and against differences of gradients; unknowns of cells are eliminated."""
    case = block(element)
    problem, (mu, lam, load, press, move, _) = case.problem, case.variables
    body, clamp = problem.system.bodies[0], problem.system.terms[0]
    variables, numbers = [mu, lam, load, press, move], [lam, load, press, move]
    sag = sa.Goal(lambda u_a: u_a[2] + u_a[0] * u_a[1], body.at([[1.0, 0.5, 0.5], [1.0, 0.2, 0.9]]))
    force, moment = sa.Goal(lambda F: F[2], clamp), sa.Goal(lambda M: M[1] + M[2] / 3, clamp)
    goal = sag**2 / 2 - 0.1 * force * sag + 0.3 * moment * sag + moment
    H = problem.hessian(goal, variables)
    whole = H @ np.eye(16)
    np.testing.assert_allclose(whole, whole.T, rtol=0, atol=1e-12 * np.abs(whole).max())
    before, values = mu.values.copy(), np.array([p.value for p in numbers])
    d = np.cos(np.arange(16.0)) * np.append(np.ones(12), values)

    def gradient(h: float) -> Any:
        mu.values = before + h * d[:12]
        for p, value, x in zip(numbers, values, d[12:], strict=True):
            p.value = value + h * x
        problem.solve(to=1.0)
        found = problem.gradient(goal, variables)
        return np.concatenate([np.atleast_1d(found[v]) for v in variables])

    h = 2e-3
    places = ((-2, 1), (-1, -8), (1, 8), (2, -1))
    known = sum(w * gradient(k * h) for k, w in places) / (12 * h)
    np.testing.assert_allclose(whole @ d, known, rtol=0, atol=1e-10 * np.abs(known).max())


@pytest.mark.collective(rows=0)
def test_what_is_no_hessian_is_refused() -> None:
    problem, stretch, EA, force = cantilever()
    half = sa.Parameter("half", 2.0)
    end = problem.system.bodies[0]["x1"]
    clamp = problem.system.terms[0]
    squared = sa.force(end, (lambda t: t * half.value**2, 0.0, 0.0))
    other = sa.StaticProblem(sa.System(problem.system.bodies[0], terms=[clamp, squared]))
    other.solve()
    with pytest.raises(sa.ParameterError, match="no linear function of Parameter"):
        other.hessian(stretch, [half])
    weight = sa.Parameter("weight", 1.0)
    end = problem.system.bodies[0]["x1"]
    own = sa.Goal(lambda u_a, *, c: c * u_a[0] ** 2, end, c=weight)
    with pytest.raises(sa.ParameterError, match="itself has Parameter"):
        problem.hessian(own, [weight], gauss_newton=True)
    H = problem.hessian(stretch**2, [EA, force], gauss_newton=True)
    known = 2 * np.outer([-1.2e-3, 0.03], [-1.2e-3, 0.03])
    np.testing.assert_allclose(H @ np.eye(2), known, rtol=1e-10)
    problem.system.state[:] *= 1.1
    with pytest.raises(sa.ParameterError, match="last solution"):
        H @ np.ones(2)


def test_a_thin_rod_has_gradients_although_its_tangent_is_stiff() -> None:
    """EA L^2 / EI = 4e8: round-off of products with the tangent is 1e-6 of the goal's."""
    radius, E = 1e-4, 1e6
    A, I = np.pi * radius**2, np.pi * radius**4 / 4
    EI = sa.Parameter("EI", E * I)
    given = {"EA": E * A, "GA2": 0.4 * E * A, "GA3": 0.4 * E * A, "GJ": 0.8 * E * I, "EI3": E * I}
    mesh = sa.Mesh.box((1.0,), (4,), cell="line3")
    body = sa.Body(mesh["body"], sa.elements.ancf_rod, sa.energies.rod(), EI2=EI, **given)
    tip = body.at((1.0, 0.0, 0.0))
    push = sa.force(tip, (0.0, 0.0, lambda t: -2 * E * I * t))
    problem = sa.StaticProblem(sa.System(body, terms=[sa.fix(body["x0"]), push]))
    problem.solve()
    goal = sa.Goal(lambda u_a: u_a[2], tip)
    (direct,) = problem.sensitivity([EI], of=[goal])
    assert problem.gradient(goal, [EI])[EI] == pytest.approx(direct[EI], rel=1e-8)
