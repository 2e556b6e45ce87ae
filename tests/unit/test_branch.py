# SPDX-License-Identifier: BSD-3-Clause
"""Load paths: to the limit point and no further, through soft stretches, over a snap on demand."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
import sympy as sp

import symancf as sa
from tests import kinetostatics
from tests.gripper import Gripper, gripper
from tests.refusals import likeliest, refused

# Limit points of the gripper under one load on one body (m: moment): there K phi = 0, found with
# the equilibrium by Newton's method on the matrices of tests.kinetostatics, to 1e-12.
LIMITS = {
    ("linear", 2, "m"): -294.8132928331,
    ("linear", 3, "x"): 174.0522466765,
    ("partial", 2, "m"): -139.8375937383,
    ("partial", 3, "x"): 113.7335254632,
    ("partial", 4, "y"): -384.5124042320,
    ("partial", 4, "m"): -118.4597041000,
}


def loaded(model: str, body: int, axis: str, value: Any) -> Gripper:
    def terms(bodies: Any) -> list[Any]:
        if axis == "m":
            return [sa.moment(bodies[body], value)]
        return [sa.force(bodies[body].at((0, 0)), (value, 0.0) if axis == "x" else (0.0, value))]

    return gripper(model, terms=terms)


@pytest.mark.parametrize("steps", [1, 20, 50])
@pytest.mark.parametrize("case", LIMITS, ids=lambda case: "-".join(map(str, case)))
def test_a_load_path_ends_at_its_limit_point(case: tuple[str, int, str], steps: int) -> None:
    model, body, axis = case
    limit = LIMITS[case]
    F = 1.6 * limit
    g = loaded(model, body, axis, lambda t: F * t)
    problem = sa.StaticProblem(g.system, prefix="limit_")
    with refused(sa.ConvergenceError, causes=likeliest("limit point")) as caught:
        problem.solve(step=1 / steps)
    told = re.search(r"the last one was at (\S+);", str(caught.value))
    assert told is not None
    last = float(told[1]) * F / limit
    assert 1 - 5e-3 / steps**0.5 < last < 1 + 1e-6
    # one may go on from the last equilibrium, under any load below
    problem.solve(to=g.system.time * 0.99)
    e = np.zeros(9)
    e[3 * (body - 2) + "xym".index(axis)] = F * g.system.time
    assert np.abs(kinetostatics.residual(g.q(), model)[0] - e).max() < 1e-7


def test_a_change_of_a_parameter_tells_the_share_that_can_be_made() -> None:
    load = sa.Parameter("load", 0.0)
    g = loaded("partial", 3, "x", load)
    problem = sa.StaticProblem(g.system, prefix="share_")
    for load.value in (50.0, 100.0):
        problem.solve()
    before = g.q()
    load.value = 130.0
    with refused(sa.ConvergenceError, causes=likeliest("steep path")) as caught:
        problem.solve()
    told = re.search(r"(\S+) % of the change", str(caught.value))
    assert told is not None
    reached = 100.0 + 30.0 * float(told[1]) / 100
    assert reached == pytest.approx(LIMITS["partial", 3, "x"], abs=0.06)
    assert np.array_equal(g.q(), before)


def test_a_jump_is_made_on_demand() -> None:
    load = sa.Parameter("load", 0.0)
    g = loaded("linear", 2, "m", load)
    problem = sa.StaticProblem(g.system, prefix="jump_")
    for load.value in (-100.0, -200.0, -290.0):
        problem.solve()
    load.value = -296.0
    with pytest.raises(sa.ConvergenceError):
        problem.solve()
    before = g.q()
    problem.solve(jump=True)
    e = np.zeros(9)
    e[2] = load.value
    assert np.abs(kinetostatics.residual(g.q(), "linear")[0] - e).max() < 1e-7
    assert np.abs(g.q() - before).max() > 1.0


def test_a_soft_stretch_is_no_limit_point() -> None:
    """Opened by 129 to 130 uN the partial model gives way, tenfold, but its path goes on."""
    g = gripper("partial")
    problem = sa.StaticProblem(g.system, prefix="soft_")
    for F in (-40.0, -80.0, -120.0, -128.0, -131.0, -140.0):
        g.load.value = F
        problem.solve()
    assert problem.history.cut_backs > 0
    q, F = followed(-140.0)
    assert F == -140.0
    assert np.abs(g.q() - q).max() < 1e-9


def followed(last: float) -> tuple[Any, float]:
    """Follow the opening of the partial model by arc length, down to the force `last`."""
    e = np.zeros(10)
    z, way = np.zeros(10), np.append(np.zeros(9), -1.0)
    e[1] = -10.0  # z[9] counts 10 uN

    def system(z: Any) -> tuple[Any, Any]:
        R = kinetostatics.residual(z[:9], "partial")[0] + z[9] * e[:9]
        return R, np.column_stack([kinetostatics.tangent(z[:9], "partial"), e[:9]])

    def corrected(z: Any, row: Any) -> Any:
        for _ in range(8):
            R, A = system(z)
            dz = np.linalg.solve(np.vstack([A, row]), np.append(R, 0.0))
            z = z - dz
            if np.abs(dz).max() < 1e-9 * np.abs(z).max():  # the next one would be round-off
                return z
        raise AssertionError("Newton's method does not converge")

    while z[9] > last / 10:
        tangent = np.linalg.svd(system(z)[1])[2][-1]
        way = tangent * np.sign(tangent @ way)
        before, z = z, corrected(z + 0.05 * way / np.abs(way).max(), way)
        assert np.abs(z - before)[:9].max() < 0.1
    z = before + (z - before) * (last / 10 - before[9]) / (z[9] - before[9])
    z = corrected(z, np.eye(10)[9])
    return z[:9], 10 * z[9]


@pytest.mark.parametrize("cells", [8, 16])
def test_a_moment_that_is_there_at_once_grows(cells: int) -> None:
    """Three quarters of a turn: as a couple of fixed direction it would have a limit point."""

    def rolled(moment: Any, **arguments: Any) -> Any:
        line = sa.Mesh.box((1.0,), (cells,))
        beam = sa.Body(line["body"], sa.elements.ancf_cable, sa.energies.cable(), EA=3e4, EI=1.0)
        system = sa.System(
            beam, terms=[sa.fix(beam["x0"]), sa.moment(beam["x1"], (0.0, 0.0, moment))]
        )
        problem = sa.StaticProblem(system, prefix="roll_")
        problem.solve(**arguments)
        return problem, system.position(beam["x1"])[0]

    angle = 1.5 * np.pi
    _, slowly = rolled(lambda t: angle * t, step=0.1)
    assert slowly[0] == pytest.approx(np.sin(angle) / angle, abs=1e-3)
    problem, at_once = rolled(angle)
    np.testing.assert_allclose(at_once, slowly, atol=1e-9)
    assert len(problem.history.steps) == 1  # parts of the moment are no equilibria of the load
    M = sa.Parameter("M", angle / 2)
    problem, half = rolled(M)
    assert half[0] == pytest.approx(np.sin(angle / 2) / (angle / 2), abs=1e-3)
    M.value = angle
    problem.solve()
    beam = problem.system.bodies[0]
    np.testing.assert_allclose(problem.system.position(beam["x1"])[0], slowly, atol=1e-9)


def test_nothing_is_guessed_where_nothing_changes() -> None:
    """A weight that is there at once: later steps change nothing, and take no iteration."""
    line = sa.Mesh.box((1.0,), (8,))
    beam = sa.Body(line["body"], sa.elements.ancf_cable, sa.energies.cable(), EA=1e4, EI=1.0)
    side = sa.Parameter("side")

    def loaded(turn: Any) -> Any:
        push = sa.force(beam["x1"], (0.0, turn, -2.0))
        return sa.StaticProblem(sa.System(beam, terms=[sa.fix(beam["x0"]), push]))

    history = loaded(side).solve(step=0.1)
    assert [step.iterations for step in history.steps[1:]] == 9 * [0]
    history = loaded(lambda t: t).solve(step=0.1)
    first, *others = (step.iterations for step in history.steps)
    assert max(others) <= first  # the unloaded state is on no path


def test_displacements_that_are_there_at_once_are_let_in() -> None:
    """A block drawn and bent, by much more than one cell is long."""
    mesh = sa.Mesh.box((1.0, 0.1, 0.1), (10, 1, 1), cell="tetra10")
    block = sa.Body(
        mesh["body"], sa.elements.tet10, sa.energies.neo_hooke(), name="block", mu=1e6, lam=1e6
    )
    far, found = sa.Parameter("far", 0.0), []
    for x, z in ((-0.6, 0.8), (lambda t: -0.6 * far.value, lambda t: 0.8 * far.value)):
        drawn = sa.fix(block["x1"], "position", displacement=(x, 0.0, z))
        system = sa.System(block, terms=[sa.fix(block["x0"]), drawn])
        problem = sa.StaticProblem(system, options={"snes_max_it": 6})  # steps are cut
        problem.solve()
        far.value = 1.0
        problem.solve()
        assert problem.history.cut_backs > 0
        assert np.abs(system.displacement(block["x1"])[:, 2] - 0.8).max() < 1e-12
        found.append(drawn.reaction(system).force)
    np.testing.assert_allclose(found[0], found[1], atol=1e-6 * np.abs(found[0]).max())


# ---- what is let in by its values ---------------------------------------------------------------
def tendons(unit: float) -> tuple[sa.System, list[sa.Parameter]]:
    """Return a rod along which eight tendons pull on one side, and their tensions [N].

    `unit`: of length, in metres.
    """
    m = 1.0 / unit
    mesh = sa.Mesh.box((0.2 * m,), (16,), cell="line3")
    rod = sa.Body(
        mesh["body"],
        sa.elements.ancf_rod,
        sa.energies.rod(),
        direction=lambda X: np.tile((0.0, 1.0, 0.0), (len(X), 1)),
        **sa.Section.circle(6e-3 * m).rod(E=1e6 / m**2, nu=0.49, rho=1070.0),
    )
    places = [rod.at((x, 0.0, 0.0)) for x in np.linspace(0.0, 0.2 * m, 9)]

    def tendon(r_a, e2_a, r_b, e2_b, *, T, off):  # type: ignore[no-untyped-def]
        return T * ((r_b + off * e2_b) - (r_a + off * e2_a)).norm()

    tensions = [sa.Parameter(f"T{k}", 0.0) for k in range(8)]
    pulls = [
        sa.Potential(tendon, a, b, T=T, off=5e-3 * m, name=f"tendon{k}")
        for k, (a, b, T) in enumerate(zip(places[:-1], places[1:], tensions, strict=True))
    ]
    return sa.System(rod, terms=[sa.fix(rod["x0"]), *pulls]), tensions


def pulled(values: list[list[float]], unit: float = 1.0) -> tuple[np.ndarray, sa.History]:
    """Return the displacements under tensions one after the other, and the history."""
    system, tensions = tendons(unit)
    problem = sa.StaticProblem(system, prefix="tendons_", options={"pc_type": "lu"})
    for tension in ([0.5] * 8, [1.0] * 8, [1.5] * 8, [2.0] * 8, *values):
        for parameter, value in zip(tensions, tension, strict=True):
            parameter.value = value
        history = problem.solve()
    position = system._discrete.numbering.those("position")
    return system.state[position] * unit, history


@pytest.mark.filterwarnings("ignore:.*sections of neighbouring nodes")
@pytest.mark.parametrize(("decay", "unit"), [(0.082, 1.0), (0.082, 1e-3), (0.3, 1.0)])
def test_lower_tensions_are_let_in_where_the_tendons_are(decay: float, unit: float) -> None:
    """As forces of fixed direction they led to a limit point at 85.96 % of the change."""
    low = [2.0 * math.exp(-decay * k) for k in range(8)]
    between = [[2.0 + (t - 2.0) * s for t in low] for s in np.linspace(0.05, 1.0, 20)]
    u, history = pulled([low], unit)
    v, _ = pulled(between, unit)
    assert len(history.steps) == 5
    assert np.abs(u - v).max() < 1e-6 * np.abs(v).max()


def test_loads_that_grow_faster_are_no_limit_point() -> None:
    mesh = sa.Mesh.box((1.0,), (8,), cell="line3")
    rod = sa.Body(
        mesh["body"],
        sa.elements.ancf_rod,
        sa.energies.rod(),
        direction=lambda X: np.tile((0.0, 1.0, 0.0), (len(X), 1)),
        **sa.Section.circle(0.01).rod(E=1e6, nu=0.3, rho=1000.0),
    )
    push = sa.force(rod["x1"], (0.0, lambda t: 0.1 * t**8, 0.0))
    system = sa.System(rod, terms=[sa.fix(rod["x0"]), push])
    problem = sa.StaticProblem(system, prefix="few_", options={"snes_max_it": 3})
    with refused(sa.ConvergenceError, reason="DIVERGED_MAX_IT") as told:
        problem.solve()
    assert [cause.kind for cause in told.value.causes] == ["iterations", "steep path"]
    assert "7.9 times faster" in told.value.causes[1].sentence


def test_pressures_that_turn_with_a_strip_leave_it_on_its_path() -> None:
    """Forces of the last state would tell that the path goes backward, also where nothing touches.

    With a Krylov solver, whose predictions are as good as those of a direct one.
    """
    found = []
    for kind, parts in (("lu", 12), ("lu", 1), ("gamg", 1)):
        mesh = sa.Mesh.box((10.0, 1.0, 0.5), (8, 1, 1))
        strip = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.neo_hooke(), mu=1.0, lam=10.0)
        p = sa.Parameter("p", 0.0)
        system = sa.System(strip, terms=[sa.fix(strip["x0"]), sa.pressure(strip["z1"], p)])
        problem = sa.StaticProblem(system, prefix="strip_", options={"pc_type": kind})
        for part in np.arange(1, parts + 1) / parts:
            p.value = 3e-4 * part
            problem.solve()
        assert problem.history.cut_backs <= 6
        found.append(system.position(strip["x1"]).mean(axis=0))
    assert found[0][2] < -7.0
    assert found[1] == pytest.approx(found[0], abs=1e-5)
    assert found[2] == pytest.approx(found[0], abs=1e-5)


def test_many_things_that_jump_at_once_lead_where_small_steps_do() -> None:
    """33 iterations led to an equilibrium of nearly twice the energy."""
    found = []
    for parts in (1, 4):
        p, g, x = (sa.Parameter(name) for name in ("p", "g", "x"))
        mu, lam = sa.Parameter("mu", 10.0), sa.Parameter("lam", 20.0)
        mesh = sa.Mesh.box((3.0, 1.0, 1.0), (3, 1, 1))
        block = sa.Body(
            mesh["body"], sa.elements.hex8, sa.energies.neo_hooke(), mu=mu, lam=lam, rho=1
        )
        pull = sa.fix(block["x1"], "x", displacement=(x, 0, 0))
        terms = [sa.fix(block["x0"]), sa.pressure(block["z0"], p), pull, sa.gravity((0, 0, g))]
        system = sa.System(block, terms=terms)
        problem = sa.StaticProblem(system, prefix="jumps_")
        problem.solve()
        for part in np.arange(1, parts + 1) / parts:
            p.value, g.value, x.value = part, -0.1 * part, 0.5 * part
            mu.value, lam.value = 10.0 - 8.0 * part, 20.0 - 16.0 * part
            problem.solve()
        found.append(system.state.copy())
    assert found[0] == pytest.approx(found[1], abs=1e-6)


def test_a_place_that_gives_way_beside_a_soft_body_is_named() -> None:
    """A shallow truss of two springs at its limit point, beside a rod that moves much further."""
    mesh = sa.Mesh.box((10.0,), (10,), cell="line3")
    rod = sa.Body(
        mesh["body"],
        sa.elements.ancf_rod,
        sa.energies.rod(),
        direction=lambda X: np.tile((0.0, 1.0, 0.0), (len(X), 1)),
        **sa.Section.circle(0.1).rod(E=1e5, nu=0.3, rho=1000.0),
    )
    part = sa.RigidBody.box((0.1, 0.1, 0.1), position=(0.0, 5.3, 0.0), rho=1.0, name="part")
    top = part.at((0.0, 0.0, 0.0))

    def spring(r_a, *, k, L0, x):  # type: ignore[no-untyped-def]
        return k / 2 * (sp.sqrt((r_a[0] - x) ** 2 + (r_a[1] - 5.0) ** 2) - L0) ** 2

    given = {"k": 10.0, "L0": math.hypot(1.0, 0.3)}
    springs = [sa.Potential(spring, top, x=x, name=f"spring at {x}", **given) for x in (-1.0, 1.0)]
    terms = [sa.fix(rod["x0"]), *springs, sa.joints.prismatic(top, None, axis=(0, 1, 0))]
    terms += [sa.force(rod["x1"], (0.0, lambda t: 0.3 * t, 0.0))]
    terms += [sa.force(top, (0.0, lambda t: -0.5 * t, 0.0))]
    problem = sa.StaticProblem(sa.System(rod, part, terms=terms), options={"snes_max_it": 8})
    with refused(sa.ConvergenceError, causes=likeliest("soft place")) as told:
        problem.solve(step=0.25)
    assert "'part' near (0, 5.3, 0) moves" in told.value.causes[0].sentence
