# SPDX-License-Identifier: BSD-3-Clause
"""Flexures: compliance, residual and tangent parts, bodies in the plane, bad input."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import sympy as sp

import symancf as sa
from symancf.extensions.flexure import (
    arc_compliance,
    compliance,
    ground_wrench,
    symbolic,
    tangent_parts,
)
from symancf.extensions.flexure.law import CELL, MODELS, TANGENTS, UNKNOWNS, flexure_law
from symancf.runtime import jit
from symancf_codegen.functions import frozen
from tests import kinetostatics
from tests.gripper import ANGLE, EI, RADIUS, G, attachments, gripper
from tests.refusals import refused


def random_states(count: int = 11) -> np.ndarray:
    rng = np.random.default_rng(7)
    return rng.uniform(-0.4, 0.4, (count, 9))


def set_state(g, q):
    for k, body in enumerate(g.bodies.values()):
        g.system.state[body.coordinates(g.system)] = q[3 * k : 3 * k + 3]


def matrix_of(g, q):
    """Residual and tangent of the system in the order of the bodies."""
    system = g.system
    set_state(g, q)
    f = np.zeros(system._discrete.numbering.coordinates)
    system._discrete.assembler.update(0.0)
    system._discrete.assembler.tangent(system.state, f, system._discrete.matrix)
    order = np.concatenate([b.coordinates(system) for b in g.bodies.values()])
    rows = system._discrete.numbering.row[order]
    return f[order], system._discrete.matrix.mat.getValues(rows, rows)


@pytest.mark.parametrize("theta", [0.02, 0.5, 2.0, math.radians(330), -1.3])
@pytest.mark.parametrize("EA", [None, 3e4])
def test_compliance_is_the_closed_form(theta: float, EA: float | None) -> None:
    r = math.copysign(0.2, theta)
    numbers = [sp.Float(v, 60) for v in (r, theta, 26.0)]
    exact = arc_compliance(*numbers, None if EA is None else sp.Float(EA, 60))
    want = np.array(exact.evalf(30).tolist(), dtype=float)
    size = np.sqrt(np.outer(np.diag(want), np.diag(want)))
    assert (np.abs(compliance(r, theta, 26.0, EA) - want) / size).max() < 2e-14


def test_arc_of_small_angle_is_a_straight_flexure() -> None:
    states = np.random.default_rng(0).uniform(-0.05, 0.05, (4, 6))
    kernel = jit.points(flexure_law("partial"))
    forces = []
    body = sa.PlanarBody(position=(1.0, 0.0, 0.0))
    ends = sa.ground.at((0.2, 0.1)), body.at((0.2, 0.1))
    angle = 1e-6
    arc = sa.Flexure.arc(*ends, 1.0 / (2 * math.sin(angle / 2)), angle, EI=2.0, EA=50.0)
    strip = sa.Flexure.straight(*ends, EI=2.0, EA=50.0)
    for flexure in (arc, strip):
        forces.append(kernel.residual(states, None, {**flexure.cell, "EI": 1.0})[0])
    assert np.abs(forces[0] - forces[1]).max() < 3e-5 * np.abs(forces[0]).max()


def test_mirrored_arc_has_mirrored_forces() -> None:
    kernel = jit.points(flexure_law("partial"))
    q = np.array([[0.01, -0.02, 0.03, 0.02, 0.01, -0.05]])
    mirror = np.array([1, -1, -1, 1, -1, -1])
    forces = []
    for sign in (1, -1):
        a, b = sa.PlanarBody(position=(0, 0)), sa.PlanarBody(position=(1, 0.5 * sign))
        chord = 2 * 0.3 * math.sin(0.6)
        ends = a.at((0.2, 0.1 * sign)), b.at((0.2 + chord - 1, (0.1 - 0.5) * sign))
        flexure = sa.Flexure.arc(*ends, 0.3, 1.2 * sign, EI=1.0)
        motion = q if sign > 0 else q * mirror
        forces.append(kernel.residual(motion, None, {**flexure.cell, "EI": 1.0})[0])
    assert np.abs(forces[0] - forces[1] * mirror).max() < 1e-13 * np.abs(forces[0]).max()


@pytest.mark.parametrize("model", ["linear", "partial"])
def test_residual_and_tangent_are_those_of_the_paper(model: str) -> None:
    """Against matrices of the paper and their complex steps, at 11 random states."""
    g = gripper(model)
    for q in random_states():
        f, K = matrix_of(g, q)
        want, reaction = kinetostatics.residual(q, model)
        exact = kinetostatics.tangent(q, model)
        assert np.abs(f - want).max() < 1e-13 * np.abs(want).max()
        assert np.abs(K - exact).max() < 1e-13 * np.abs(exact).max()
        assert np.abs(ground_wrench(g.system) - reaction).max() < 1e-13 * np.abs(want).max()


@pytest.mark.parametrize("model", MODELS)
def test_parts_sum_to_the_compiled_tangent(model: str) -> None:
    g = gripper(model)
    for q in random_states(4):
        _, K = matrix_of(g, q)
        parts = tangent_parts(g.system)
        assert np.abs(sum(parts.values()) - K).max() < 1e-13 * np.abs(K).max()
        assert (np.abs(parts["K_III"]).max() > 0) == (model == "partial")


@pytest.mark.parametrize("model", MODELS)
def test_compiled_tangents_are_those_in_symbols(model: str) -> None:
    """The parts that `symbolic` prints, evaluated, against the kernels of each choice."""
    parts = symbolic(model)
    known: dict[Any, Any] = {}
    for s, e in parts.lets:
        known[s] = e.xreplace(known)
    given = (*UNKNOWNS, sp.Symbol("EI", positive=True), *CELL)
    matrices = [m.xreplace(known) for m in (parts.K_I, parts.K_II, parts.K_III)]
    evaluate = sp.lambdify(given, matrices, cse=True)
    q = np.random.default_rng(8).uniform(-0.4, 0.4, 6)
    for flexure in gripper(model).flexures.values():
        found = evaluate(*q, 2.0, *(flexure.cell[s.name] for s in CELL))
        want = dict(zip(("K_I", "K_II", "K_III"), found, strict=True))
        for tangent in TANGENTS:
            kernel = jit.points(flexure_law(model, tangent))
            K = kernel.tangent(q[None], None, {**flexure.cell, "EI": 2.0})[1][0]
            names = want if tangent == "K" else tangent.split("+")
            error = np.abs(K - sum(want[name] for name in names)).max()
            assert error < 1e-13 * np.abs(K).max()


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("tangent", ["K_I", "K_I+K_II"])
def test_compiled_parts_of_the_tangent(model: str, tangent: str) -> None:
    whole, part = gripper(model), gripper(model, tangent=tangent)
    for q in random_states(3):
        f, _ = matrix_of(whole, q)
        g, K = matrix_of(part, q)
        parts = tangent_parts(part.system)
        want = sum(parts[name] for name in tangent.split("+"))
        assert np.abs(f - g).max() < 1e-13 * np.abs(f).max()
        assert np.abs(K - want).max() < 1e-13 * np.abs(K).max()


def test_rounded_attachments_are_told() -> None:
    """Flexure c of the gripper with the vectors of Table 1 as printed: the chord turns by 6e-4."""
    a, b = sa.PlanarBody(position=(*G[3], 0.0)), sa.PlanarBody(position=(*G[4], 0.0))
    ends = a.at((-0.4140, 0.3482)), b.at((0.3342, 0.2586))
    with pytest.warns(UserWarning, match=r"attachments miss the arc by 3.2e-05, as if rounded"):
        rough = sa.Flexure.arc(*ends, RADIUS, math.radians(330), EI=EI, name="c")
    assert rough.shape["direction"] - math.radians(75) == pytest.approx(-5.81e-4, abs=1e-6)
    given = sa.Flexure.arc(
        *ends, RADIUS, math.radians(330), EI=EI, direction=math.radians(75), name="c"
    )
    assert given.shape["direction"] == math.radians(75)


def test_an_option_of_the_problem_chooses_the_tangent() -> None:
    from petsc4py import PETSc

    def iterations(prefix: str, **options: str) -> list[int]:
        for g.load.value in (0.0, 60.0):
            problem = sa.StaticProblem(g.system, prefix=prefix, options=options)
            problem.solve()
        return [step.iterations for step in problem.history.steps]

    g = gripper("partial")
    own, chosen = iterations("own_"), iterations("option_", flexure_tangent="K_I")
    assert chosen[-1] > 2 * own[-1] > 0
    assert iterations("own_") == own  # a problem without the option has the flexures' own again
    PETSc.Options().setValue("line_flexure_tangent", "K")
    try:
        assert iterations("line_", flexure_tangent="K_I") == own
    finally:
        PETSc.Options().delValue("line_flexure_tangent")
    with refused(
        sa.ParameterError, asked="flexure_tangent", given="K_II", possible=("K", "K_I", "K_I+K_II")
    ):
        iterations("wrong_", flexure_tangent="K_II")


def test_problems_of_one_system_have_a_tangent_each() -> None:
    g = gripper("partial")
    options = ({}, {"flexure_tangent": "K_I"})
    problems = [sa.StaticProblem(g.system, options=given) for given in options]
    counts: list[list[int]] = [[], []]
    for load in (0.0, 60.0, 0.0, 60.0):  # interleaved: each problem comes after the other
        for problem, own in zip(problems, counts, strict=True):
            g.load.value = load
            g.system.state[:] = 0.0
            problem.solve()
            own.append(problem.history.steps[-1].iterations)
    assert counts[0][1] == counts[0][3]
    assert counts[1][1] == counts[1][3] > 2 * counts[0][1] > 0


def test_consistent_model_conserves_energy_and_balance() -> None:
    g = gripper("consistent")
    assert sa.check(g.system).passed
    _, K = matrix_of(g, random_states(1)[0])
    assert np.abs(K - K.T).max() < 1e-12 * np.abs(K).max()
    for flexure in g.flexures.values():
        (fa, fb) = flexure.forces(g.system)
        assert np.abs(fa[:2] + fb[:2]).max() < 1e-12 * np.abs(fa).max()


def test_axis_and_moment_belong_to_the_state() -> None:
    g = gripper("partial")
    g.load.value = 10.0
    sa.StaticProblem(g.system, prefix="axis_").solve()
    for name, flexure in g.flexures.items():
        ends = attachments(name)
        assert np.abs(flexure.axis()[[0, -1]] - ends).max() < 1e-12
        line = flexure.axis(g.system, 201)
        # the wrench of the tip, carried to the other end, is that of the first body, reversed
        theta, r = math.radians(ANGLE[name]), RADIUS
        moment = flexure.bending_moment(g.system)
        fx, fy, m = flexure.tip_wrench(g.system)
        assert moment[0] == pytest.approx(
            m + r * fy * math.sin(theta) + r * fx * (1 - math.cos(theta))
        )
        assert moment[-1] == pytest.approx(m)
        # curvature of the drawn line: 1/r + M/EI at first order
        d = np.gradient(line, axis=0)
        turn = np.unwrap(np.arctan2(d[:, 1], d[:, 0]))
        phi = flexure.coordinates(g.system)
        assert turn[-2] - turn[1] == pytest.approx((theta + phi[5] - phi[2]) * 198 / 200, abs=0.02)


def test_parts_print() -> None:
    parts = symbolic("partial")
    text = parts.latex()
    assert "K_{III}" in text
    assert text.count("\\begin{matrix}") == 6  # R, N, K, J, L, K_II
    assert sp.simplify(parts.K_III - parts.L * parts.J[:2, :]) == sp.zeros(6, 6)
    assert sp.simplify(parts.K_I - parts.N * parts.K * parts.J) == sp.zeros(6, 6)
    assert parts.K_II[0, 2] == -parts.residual[1]  # (-Fy, Fx, 0) in the column of theta
    assert parts.K_II[1, 2] == parts.residual[0]


def test_frozen_is_a_value_without_derivative() -> None:
    x, y = sp.symbols("x y", real=True)
    assert sp.diff(frozen(x) * x, x) == frozen(x)
    law = jit.declare.PointLaw(
        name="frozen_product", unknowns=(x, y), work={x: frozen(x + y) * x, y: frozen(sp.sin(x))}
    )
    kernel = jit.points(law)
    f, K, _ = kernel.tangent(np.array([[2.0, 3.0]]))
    assert np.allclose(f, [[10.0, math.sin(2.0)]], rtol=1e-15)
    assert np.allclose(K, [[[5.0, 0.0], [0.0, 0.0]]], rtol=1e-15)


def test_digits_at_small_strain() -> None:
    """Forces at displacements of 1e-9 keep their digits (nothing is formed from positions)."""
    flexure = gripper("partial").flexures["b"]
    kernel = jit.points(flexure_law("partial"))
    values = {**flexure.cell, "EI": 1.0}
    small = 1e-9 * np.random.default_rng(3).uniform(-1, 1, (1, 6))
    f = kernel.residual(small, None, values)[0]
    exact = {s: sp.Float(repr(float(values[s.name])), 40) for s in (*CELL,)}
    law = flexure_law("partial")
    names = dict(exact) | {s: sp.Float(v, 40) for s, v in zip(law.unknowns, small[0], strict=True)}
    names[next(p.symbol for p in law.parameters if p.name == "EI")] = sp.Integer(1)
    for symbol, definition in law.lets:
        names[symbol] = definition.xreplace(names).evalf(40)
    want = [float(law.work[s].xreplace(names).evalf(30)) for s in law.unknowns]
    assert np.abs(f[0] - want).max() < 1e-14 * np.abs(want).max()


# ---- bodies, loads, supports ----------------------------------------
def lever_model(theta: float = 0.0, **more):
    """One body on a straight flexure that is clamped to the ground."""
    body = sa.PlanarBody(position=(1.0, 0.0, theta), name="lever")
    c, s = math.cos(theta), math.sin(theta)
    flexure = sa.Flexure.straight(
        sa.ground.at((0, 0)), body.at((0.0, 0.0)), EI=1.0, EA=1e4, model="consistent"
    )
    tip = body.at((c * 0.5, -s * 0.5))  # the same place in space whatever theta is
    return body, flexure, tip


def test_a_flexure_serves_in_two_systems() -> None:
    """With a tangent of its own in each, whichever was made or solved last."""
    body, flexure, tip = lever_model()
    soft, stiff = (
        sa.System(body, terms=[flexure, sa.force(tip, (0.0, force))]) for force in (0.1, 0.3)
    )
    options = {"flexure_tangent": "K_I", "snes_max_it": 500}
    sa.StaticProblem(stiff, prefix="two_stiff_", options=options).solve(to=1.0)
    alone = flexure.forces(stiff)
    sa.StaticProblem(soft, prefix="two_soft_").solve(to=1.0)
    for system, force in ((soft, 0.1), (stiff, 0.3)):
        assert flexure.forces(system)[1, :2] == pytest.approx([0.0, force], abs=1e-7)
    assert np.array_equal(flexure.forces(stiff), alone)
    roles = [form.role for system in (soft, stiff) for form in system._discrete.forms]
    assert roles == ["strain", "potential", "work", "potential"]


def test_initial_angle_changes_nothing() -> None:
    displacements = []
    for theta in (0.0, 0.8, -2.0):
        body, flexure, tip = lever_model(theta)
        system = sa.System(body, terms=[flexure, sa.force(tip, (0.0, 0.3)), sa.moment(body, -0.1)])
        sa.StaticProblem(system, prefix="lever_").solve()
        u = body.displacement(system)
        displacements.append(u)
        x = system.position(tip)[0]
        assert np.abs(ground_wrench(system) - [0.0, -0.3, -0.3 * x[0] + 0.1]).max() < 1e-10
        assert abs(body.position(system)[2] - theta - u[2]) < 1e-15
    assert np.abs(np.asarray(displacements) - displacements[0]).max() < 1e-12


def test_small_loads_bend_a_strip_as_a_beam() -> None:
    body, flexure, _ = lever_model()
    system = sa.System(body, terms=[flexure, sa.force(body, (1e-6, 1e-6))])
    sa.StaticProblem(system, prefix="strip_").solve()
    assert np.allclose(body.displacement(system), [1e-10, 1e-6 / 3, 1e-6 / 2], rtol=1e-5)


def test_prescribed_coordinate_and_its_reaction() -> None:
    body, flexure, _ = lever_model()
    hold = sa.fix(body, ["y", "theta"], displacement=[lambda t: 0.1 * t, 0.0])
    system = sa.System(body, terms=[flexure, hold])
    sa.StaticProblem(system, prefix="hold_").solve()
    assert np.allclose(body.displacement(system)[1:], [0.1, 0.0], atol=1e-15)
    reaction = hold.reaction(system).force
    assert np.abs(reaction + ground_wrench(system) * [1, 1, 0] - [0, 0, reaction[2]]).max() < 1e-9
    assert reaction[1] == pytest.approx(12 * 0.1, rel=0.02)


def test_released_factor_finds_the_load() -> None:
    body, flexure, tip = lever_model()
    factor = sa.Factor("lift")
    terms = [
        flexure,
        sa.force(tip, (0.0, 2.0), factor=factor),
        sa.displacement_control(tip, "y", position=lambda t: 0.2 * t, release=factor),
    ]
    system = sa.System(body, terms=terms)
    sa.StaticProblem(system, prefix="inverse_").solve()
    assert system.position(tip)[0, 1] == pytest.approx(0.2, abs=1e-12)
    other, flexure, tip = lever_model()
    direct = sa.System(other, terms=[flexure, sa.force(tip, (0.0, 2.0 * factor.value(system)))])
    sa.StaticProblem(direct, prefix="direct_").solve()
    assert direct.position(tip)[0, 1] == pytest.approx(0.2, abs=1e-10)


def test_a_factor_multiplies_loads_of_users_and_is_no_place() -> None:
    """The force on two points at once that lifts the tip: a couple and a force at the tip."""
    body, flexure, tip = lever_model()
    factor = sa.Factor("lift")

    def lift(v_a: Any, omega_a: Any, factor_b: Any, *, c: Any) -> Any:
        return [(v_a[1], 2 * factor_b), (omega_a, c * factor_b)]

    terms = [
        flexure,
        sa.VirtualWork(lift, tip, factor, c=0.5),
        sa.displacement_control(tip, "y", position=0.2, release=factor),
    ]
    system = sa.System(body, terms=terms)
    sa.StaticProblem(system, prefix="lifted_").solve()
    found = factor.value(system)
    other, flexure, tip = lever_model()
    loads = [sa.force(tip, (0.0, 2.0 * found)), sa.moment(other, 0.5 * found)]
    direct = sa.System(other, terms=[flexure, *loads])
    sa.StaticProblem(direct, prefix="apart_").solve()
    assert direct.position(tip)[0, 1] == pytest.approx(0.2, abs=1e-10)
    with refused(sa.KinematicsError, asked="u_a", given="factor 'lift'"):
        sa.Potential(lambda u_a: u_a[0] ** 2, factor)
    with refused(sa.KinematicsError, asked="factor_a", given="(0.5, -0) of 'lever'"):
        sa.Potential(lambda factor_a: factor_a**2, tip)
    with refused(
        sa.KinematicsError,
        asked="angle_b",
        possible=lambda names: names[-3:] == ("phi_a", "factor_b", "t"),
    ):
        sa.Potential(lambda phi_a, angle_b: phi_a, tip, factor)


def test_loops_chains_and_a_parameter_as_stiffness() -> None:
    """Two strips in series carry the same wrench; a Parameter EI scales K without compiling."""
    EI = sa.Parameter("EI", 3.0)
    bodies = [sa.PlanarBody(position=(float(k), 0.0)) for k in (1, 2)]
    terms = [
        sa.Flexure.arc(sa.ground.at((0, 0)), bodies[0].at((0, 0)), 0.5, math.pi, EI=EI),
        sa.Flexure.arc(bodies[0].at((0, 0)), bodies[1].at((0, 0)), 0.5, -math.pi, EI=EI),
        sa.force(bodies[1].at((0, 0)), lambda t: (0.0, 1e-3 * t)),
    ]
    system = sa.System(*bodies, terms=terms)
    problem = sa.StaticProblem(system, prefix="chain_")
    problem.solve()
    first = bodies[1].displacement(system)
    EI.value = 6.0
    problem.solve(to=2.0)
    assert np.allclose(bodies[1].displacement(system), first, rtol=1e-10)
    assert system._discrete.name(bodies[0]) != system._discrete.name(bodies[1])


# ---- bad input ----------------------------------------
def test_wrong_arcs_are_refused() -> None:
    body = sa.PlanarBody(position=(1.0, 0.0), name="lever")
    a, b = sa.ground.at((0, 0)), body.at((0, 0))
    cases = [
        (0.0, 1.0, "radius", 0.0),
        (-0.5, 1.0, "radius", -0.5),
        (0.5, 0.0, "angle", 0.0),
        (0.5, 300.0, "angle", 300.0),
        (float("nan"), 2.0, "radius", np.isnan),
    ]
    for radius, angle, asked, given in cases:
        with refused(sa.ParameterError, asked=asked, given=given):
            sa.Flexure.arc(a, b, radius, angle, EI=1.0)
    for radius in (0.5, 0.8):  # too long, too short
        chord = (pytest.approx(2.0 * radius * math.sin(1.0)),)
        with refused(sa.ConstraintError, asked="distance", given=1.0, possible=chord):
            sa.Flexure.arc(a, b, radius, 2.0, EI=1.0)
    with refused(sa.ConstraintError, asked="direction", given=pytest.approx(-0.5236, rel=1e-3)):
        sa.Flexure.arc(a, b, 0.5, math.pi, EI=1.0, direction=math.pi / 3 - math.pi / 2)
    with refused(sa.ParameterError, asked="direction", given=None):
        sa.Flexure.arc(a, body.at((-1, 0)), 0.5, 2 * math.pi, EI=1.0)
    with refused(sa.ParameterError, asked="EI", given=-1.0):
        sa.Flexure.arc(a, b, 0.5, math.pi, EI=-1.0)
    with refused(
        sa.ParameterError,
        asked="model",
        given="partiel",
        possible=("linear", "partial", "consistent"),
    ):
        sa.Flexure.arc(a, b, 0.5, math.pi, EI=1.0, model="partiel")
    with refused(sa.ParameterError, asked="length", given=0.0):
        sa.Flexure.straight(a, body.at((-1, 0)), EI=1.0, EA=1.0)
    with refused(sa.ParameterError, asked="ends", given=("the ground", "the ground")):
        sa.Flexure.arc(a, sa.ground.at((1, 0)), 0.5, math.pi, EI=1.0)
    with refused(sa.ParameterError, asked="end", given="lever"):
        sa.Flexure.arc(a, body, 0.5, math.pi, EI=1.0)
    with refused(sa.ParameterError, asked="end", given="the ground"):
        sa.Flexure.arc(sa.ground, b, 0.5, math.pi, EI=1.0)


def test_floating_body_is_named() -> None:
    body, flexure, _ = lever_model()
    loose = sa.PlanarBody(position=(3.0, 0.0), name="loose")
    system = sa.System(body, loose, terms=[flexure, sa.force(loose.at((0, 0)), (1.0, 0.0))])
    with refused(
        sa.ConstraintError,
        asked="rigid motion",
        given=("rotation about z through (3, 0, 0)", "translation along x", "translation along y"),
    ) as caught:
        sa.StaticProblem(system, prefix="loose_").solve()
    assert set(caught.value.names) == {"loose"}


def test_strangers_and_bad_loads_are_refused() -> None:
    body, flexure, tip = lever_model()
    stranger = sa.PlanarBody(name="stranger")
    with refused(sa.ParameterError, asked="body", given="stranger", possible=("lever",)):
        sa.System(body, terms=[flexure, sa.force(stranger.at((0, 0)), (1, 0))])
    with refused(sa.ParameterError, asked="vector", given=(1.0,)):
        sa.force(tip, (1.0,))
    with refused(sa.ParameterError, asked="vector", given=(1.0, 0.0, 0.0)):
        sa.moment(body, (1.0, 0.0, 0.0))
    with refused(
        sa.ParameterError,
        asked="dofs",
        given="thetta",
        possible=("clamp", "all", "position", "x", "y", "theta"),
    ):
        sa.fix(body, "thetta")
    with refused(sa.ParameterError, asked="displacement", given=(0.0,), possible=("x", "y")):
        sa.fix(body, ["x", "y"], displacement=[0.0])
    closed = sa.displacement_control(tip, "x", position=0.0, release=sa.Factor("F"))
    with refused(sa.ParameterError, asked="release", given="F"):
        sa.System(body, terms=[flexure, closed])


def test_no_equilibrium_beyond_the_reach() -> None:
    """A point on an arm of length 1 about a pin cannot come higher than 1."""
    body, flexure, _ = lever_model()
    factor, place = sa.Factor("torque"), body.at((1.0, 0.0))
    terms = [
        flexure,
        sa.fix(body, "position"),
        sa.moment(body, 1.0, factor=factor),
        sa.displacement_control(place, "y", position=lambda t: 1.2 * t, release=factor),
    ]
    system = sa.System(body, terms=terms)
    problem = sa.StaticProblem(system, prefix="reach_")
    problem.solve(to=0.8, step=0.1)
    assert system.position(place)[0, 1] == pytest.approx(0.96, abs=1e-12)
    with refused(sa.ConvergenceError, reason="DIVERGED_MAX_IT") as caught:
        problem.solve(to=1.0, step=0.1)
    assert 1 / 1.2 < caught.value.time < 0.91


@pytest.mark.parametrize("tangent", ["K", "K_I"])
def test_derivatives_of_motions_know_what_tangents_leave_out(tangent: str) -> None:
    """Gradients are exact with any; sensitivities, here off by 1 %, are refused."""
    p = [sa.Parameter("EI", 1.0), sa.Parameter("F", 3.0)]
    body = sa.PlanarBody((1.0, 0.0), mass=1.0, inertia=0.1)
    end, law = body.at((0.0, 0.0)), {"EI": p[0], "model": "consistent", "tangent": tangent}
    arc = sa.Flexure.arc(end, sa.ground.at((0.0, 0.0, 0.0)), radius=1.0, angle=np.pi / 3, **law)
    goal = sa.Goal(lambda u_a: u_a[1] + u_a[0] ** 2, body.at((0.2, 0.1)))
    system = sa.System(body, terms=[arc, sa.force(end, (0.0, p[1], 0.0))])
    problem = sa.DynamicProblem(system, options={"snes_rtol": 1e-13, "snes_stol": 1e-15})
    problem.solve(to=0.3, step=0.03, trace=sa.Trace())
    found = problem.gradient(goal, p)
    if tangent == "K_I":
        with refused(sa.ParameterError, asked="sensitivity"):
            problem.sensitivity(p, of=[goal])
    else:
        (direct,) = problem.sensitivity(p, of=[goal])
        assert [direct[v] for v in p] == pytest.approx([found[v] for v in p], rel=1e-9)
    for v in p:
        value, total = v.value, 0.0
        for k, weight in ((-2, 1), (-1, -8), (1, 8), (2, -1)):
            problem.reset()
            v.value = value * (1.0 + 1e-3 * k)
            problem.solve(to=0.3, step=0.03, trace=sa.Trace())
            total += weight * problem.value(goal)
        problem.reset()
        assert found[v] == pytest.approx(total / (12e-3 * value), rel=1e-8)
