# SPDX-License-Identifier: BSD-3-Clause
"""Modes and buckling: engines against each other and closed forms, states, errors, results.

Frequencies of structures against references are cases of `symancf verify`.
"""

from __future__ import annotations

import itertools
import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpi4py import MPI

import symancf as sa
from symancf.runtime import slepc as slepc_module
from symancf.runtime.slepc import folder_beside, slepc
from symancf.solve.modes import engines
from symancf.verify import bifurcations
from tests.refusals import refused

RANKS = MPI.COMM_WORLD.size
ENGINES = ["dense", "slepc", "scipy"]


def rod(cells: int = 64, **given: float) -> sa.Body:
    values: dict[str, Any] = {"EA": 1e4, "EI": 1.0, "rho": 1.0, "A": 1.0} | given
    mesh = sa.Mesh.box((1.0,), (cells,))
    return sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), name="rod", **values)


def possible(engine: str) -> None:
    if engine == "slepc" and slepc()[0] is None:
        pytest.skip(slepc()[1])
    if engine == "scipy" and RANKS > 1:
        pytest.skip("SciPy works on one rank")


def spring(r_a: Any, *, k: Any) -> Any:
    return k / 2 * r_a.dot(r_a)


def dashpot(v_a: Any, *, c: Any) -> Any:
    return {v_a[0]: -c * v_a[0]}


# ---- engines ------------------------------------------------------------------------------------
@pytest.mark.collective(rows=3)
@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_finds_both_of_each_pair_and_all_rigid_motions(engine: str) -> None:
    possible(engine)
    beam = rod()
    modes = sa.EigenProblem(sa.System(beam), options={"eigen": engine}).solve(6)
    assert modes.rigid == 5  # a cable does not turn about itself
    assert modes.checked
    betaL = np.repeat([4.730040744862704, 7.853204624095838, 10.995607838001671], 2)
    np.testing.assert_allclose(np.sqrt(modes.omega[5:]), betaL, rtol=1e-6)
    np.testing.assert_allclose(modes.frequencies, modes.omega / (2 * math.pi))
    # rigid motions carry all of the mass, and no other mode does
    share = modes.participation.share[:, :3].sum(axis=0)
    np.testing.assert_allclose(share, 1.0, atol=1e-6)
    np.testing.assert_allclose(modes.participation.total[:3], 1.0, rtol=1e-12)
    near = sa.EigenProblem(modes.system, options={"eigen": engine}).solve(2, near=10.0)
    np.testing.assert_allclose(np.sqrt(near.omega), betaL[2:4], rtol=1e-6)
    assert near.checked


@pytest.mark.parametrize("engine", ENGINES[:2])
@pytest.mark.parametrize("slender", [1e-2, 1e-4])
def test_a_mass_that_may_turn_hides_no_mode_of_the_rod_that_holds_it(
    engine: str, slender: float
) -> None:
    """A cantilever with a mass at its tip on a spherical joint, in mm, ms, t: three zeros."""
    possible(engine)
    m, a = 7.8e-9 * math.pi / 4 * slender**2 * 1e9, 0.2 * math.pi / 4 * slender**2 * 1e6
    for ratio, betaL in ((1e-3, [1.8732, 4.6896]), (1.0, [1.24792, 4.03114])):
        mesh = sa.Mesh.box((1e3,), (16,))
        given = {"EA": a, "EI": a * (slender * 1e3) ** 2 / 16, "rho": m / 1e3, "A": 1.0}
        beam = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), **given)
        J = (ratio * m,) * 3
        head = sa.RigidBody((1e3, 0.0, 0.0), mass=ratio * m, inertia=J, name="head")
        pin = sa.joints.spherical(beam["x1"], head.at((0.0, 0.0, 0.0)))
        system = sa.System(beam, head, terms=[sa.fix(beam["x0"]), pin])
        modes = sa.EigenProblem(system, options={"eigen": engine}).solve(4)
        assert (modes.rigid, modes.checked) == (3, True)
        found = np.sqrt(modes.omega[3:] / math.sqrt(given["EI"] / given["rho"]) * 1e6)
        np.testing.assert_allclose(found, np.repeat(betaL, 2), rtol=2e-4)


@pytest.mark.filterwarnings("error")
def test_what_moves_is_found_beside_rigid_motions() -> None:
    """The shift near zero that finds these hides all others of a free solid from SLEPc."""
    possible("slepc")
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (3, 3, 3), cell="hexahedron20")
    cube = sa.Body(
        mesh["body"], sa.elements.hex20, sa.energies.neo_hooke(), mu=1e6, lam=1e7, rho=1e3
    )
    system = sa.System(cube)
    known = sa.EigenProblem(system, options={"eigen": "dense"}).solve(6)
    modes = sa.EigenProblem(system, options={"eigen": "slepc"}).solve(6)
    assert modes.rigid == known.rigid == 6
    assert modes.checked
    np.testing.assert_allclose(modes.omega[6:], known.omega[6:12], rtol=1e-6)
    # with rates a rigid motion is a double zero, or beside zero a number that decays
    omega = known.omega[6:11]  # a pair and a triple
    exact = np.array([np.roots([1, 0.1 + 1e-4 * w * w, w * w])[0] for w in omega])
    for engine, damping in itertools.product(
        ENGINES[1:], (sa.Rayleigh(), sa.Rayleigh(mass=0.1, stiffness=1e-4))
    ):
        problem = sa.EigenProblem(system, options={"eigen": engine}, damping=damping)
        damped = problem.solve(11 if damping.mass else 5, damped=True)
        assert (damped.rigid, damped.checked) == (6, True)
        s = damped.eigenvalues[6:]
        if damping.mass:
            np.testing.assert_allclose(s[:6], -0.1, rtol=1e-7)
            np.testing.assert_allclose(s[6:], exact, rtol=1e-7)
        else:
            np.testing.assert_allclose(s, 1j * omega, rtol=1e-7)


def test_what_stops_a_solution_within_slepc_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    possible("slepc")
    problem = sa.EigenProblem(sa.System(rod()), options={"eigen": "slepc"})

    def failing(solver: Any, pc: Any, b: Any, x: Any) -> None:
        calls.append(pc)
        if len(calls) > 3:
            raise sa.SymancfError("no solution", asked="solution")
        b.copy(x)

    calls: list[Any] = []
    with monkeypatch.context() as patch:
        patch.setattr(engines._FactorSolver, "apply", failing)
        with refused(sa.SymancfError, asked="solution"):
            problem.solve(2, near=3.5)
    np.testing.assert_allclose(problem.solve(2, near=3.5).frequencies, 3.56084, rtol=1e-2)


def test_what_slepc_says_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    possible("slepc")

    def failing(*given: Any) -> None:
        raise engines.PETSc.Error(76)

    monkeypatch.setattr(engines, "_slepc_pairs", failing)
    with refused(sa.ConvergenceError, asked="count", given=12, reason="DIVERGED_BREAKDOWN"):
        sa.EigenProblem(sa.System(rod()), options={"eigen": "slepc"}).solve(6)


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_finds_pairs_of_loads_and_modes_with_rates(engine: str) -> None:
    possible(engine)
    beam, P, W = rod(60, EA=1e6), sa.Parameter("P"), sa.Parameter("W", 2.0)
    held = [sa.fix(beam["x0"], "position"), sa.fix(beam["x1"], ["y", "z"])]
    thrust = sa.force(beam["x1"], (lambda t: -P.value, 0.0, 0.0))
    found = sa.EigenProblem(
        sa.System(beam, terms=[*held, thrust]), options={"eigen": engine}
    ).buckle(P, 4)
    loads = np.repeat([1.0, 4.0], 2) * math.pi**2
    np.testing.assert_allclose(found.values, loads / (1 - 2 * loads / 1e6), rtol=3e-6)
    assert found.checked
    assert P.value == 0.0
    np.testing.assert_allclose([found.largest(k) for k in range(4)], 1.0)
    system = sa.System(beam, terms=[sa.fix(beam["x0"]), sa.rotating_frame((0, 0, W))])
    statics = sa.StaticProblem(system)
    problem = sa.EigenProblem(system, options={"eigen": engine})
    for rate, flap in ((2.0, 4.137319567476744), (8.0, 9.256837599913863)):  # Wright (1982)
        W.value = rate
        statics.solve()
        modes = problem.solve(2)
        lag = math.sqrt(flap**2 - rate**2)
        np.testing.assert_allclose(modes.omega, [lag, flap], rtol=1e-4)
        assert modes.unstable == 0
        assert np.iscomplexobj(modes.shapes)


@pytest.mark.collective
def test_ranks_without_slepc_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "slepc", lambda: (None, "slepc4py is not installed"))
    beam = rod()
    problem = sa.EigenProblem(sa.System(beam, terms=[sa.fix(beam["x0"])]))
    if RANKS == 1:
        assert problem.solve(1).omega[0] == pytest.approx(3.516015, rel=1e-6)
        return
    with refused(sa.SymancfError, asked="eigen", given=None, possible=("slepc",)) as caught:
        problem.solve(1)
    assert "python3-slepc4py" in str(caught.value)


def test_slepc_of_debian_lies_beside_petsc(tmp_path: Path) -> None:
    petsc = tmp_path / "petscdir/petsc3.18/x/lib/python3/dist-packages/petsc4py"
    slepc4py = tmp_path / "slepcdir/slepc3.18/x/lib/python3/dist-packages/slepc4py"
    petsc.mkdir(parents=True)
    assert folder_beside(petsc) is None
    slepc4py.mkdir(parents=True)
    assert folder_beside(petsc) == slepc4py.parent
    assert "slepc4py" in slepc_module.REMEDY


# ---- closed forms -------------------------------------------------------------------------------
def test_damped_modes_are_those_of_oscillators() -> None:
    k, c, m = 50.0, 3.0, 2.0
    body = sa.RigidBody(mass=m, inertia=(1.0, 1.0, 1.0), name="mass")
    here = body.at((0.0, 0.0, 0.0))
    C = sa.Parameter("c", c)
    damper = sa.VirtualWork(dashpot, here, c=C, dissipation=True)
    system = sa.System(body, terms=[sa.Potential(spring, here, k=k), damper])
    problem = sa.EigenProblem(system)
    assert problem.solve(3).omega.tolist()[:3] == [0.0] * 3
    modes = problem.solve(3, damped=True)
    assert modes.rigid == 3  # it may turn
    s = modes.eigenvalues[3:]
    exact = -c / (2 * m) + 1j * math.sqrt(k / m - (c / (2 * m)) ** 2)
    np.testing.assert_allclose(s[np.argmin(s.real)], exact, rtol=1e-9)
    np.testing.assert_allclose(np.sort(np.delete(s, np.argmin(s.real)).imag), 5.0, rtol=1e-9)
    assert max(modes.damping_ratios) == pytest.approx(c / (2 * math.sqrt(k * m)), rel=1e-9)
    C.value = 30.0  # over-damped: two real ones
    s = problem.solve(4, damped=True).eigenvalues
    real = np.sort(s[(s.imag == 0) & (s != 0)].real)
    np.testing.assert_allclose(real, np.sort(np.roots([m, C.value, k])), rtol=1e-9)
    C.value = 1e9  # one of them creeps
    s = problem.solve(5, damped=True).eigenvalues
    np.testing.assert_allclose(s[3], -k / C.value, rtol=1e-2)
    C.value = 30.0
    rayleigh = sa.EigenProblem(system, damping=sa.Rayleigh(mass=0.4)).solve(8, damped=True)
    real = np.sort(rayleigh.eigenvalues[np.abs(rayleigh.eigenvalues.imag) == 0].real)
    np.testing.assert_allclose(real[:1], np.roots([m, C.value + 0.4 * m, k]).min(), rtol=1e-9)


def test_states_of_first_order_have_eigenvalues_of_their_own() -> None:
    """A force that follows the place with a lag: m x'' = -k x - g z, T z' = x - z."""
    m, k, g, T = 2.0, 50.0, 20.0, 0.3

    def lagging(v_a: Any, r_a: Any, z: Any, *, k: Any, g: Any, T: Any) -> Any:
        return {v_a[0]: -k * r_a[0] - g * z, "z": (r_a[0] - z) / T}

    body = sa.RigidBody(mass=m, inertia=(1.0, 1.0, 1.0))
    here = body.at((0.0, 0.0, 0.0))
    force = sa.VirtualWork(lagging, here, states=("z",), k=k, g=g, T=T)
    problem = sa.EigenProblem(sa.System(body, terms=[force, sa.Potential(spring, here, k=1.0)]))
    with refused(sa.ParameterError, asked="damped", given=False, possible=(True,)):
        problem.solve(2)
    s = problem.solve(8, damped=True).eigenvalues
    A = np.array([[0, 1, 0], [-(k + 1.0) / m, 0, -g / m], [1 / T, 0, -1 / T]])
    for exact in np.linalg.eigvals(A):
        if exact.imag >= 0.0:
            assert np.abs(s - exact).min() < 1e-9 * abs(exact)


def test_kelvin_voigt_and_rayleigh_damp_a_beam_alike() -> None:
    beta = 1e-3
    mesh = sa.Mesh.box((1.0,), (8,))
    energy = sa.energies.cable(curvature="plane")
    given = {"EA": 1e3, "EI": 1.0, "rho": 1.0, "A": 1.0}
    beam = sa.Body(mesh["body"], sa.elements.ancf_cable, energy, name="beam", **given)
    held = [sa.fix(beam["x0"]), sa.planar(beam)]
    bare = sa.System(beam, terms=held)
    viscous = sa.KelvinVoigt(beam, eta=beta * 1e3, I=1e-3)
    wet = sa.System(beam, terms=[*held, viscous])
    a = sa.EigenProblem(wet).solve(3, damped=True)
    b = sa.EigenProblem(bare, damping=sa.Rayleigh(stiffness=beta)).solve(3, damped=True)
    omega = sa.EigenProblem(bare).solve(3).omega
    np.testing.assert_allclose(a.eigenvalues, b.eigenvalues, rtol=1e-8)
    np.testing.assert_allclose(b.damping_ratios, beta * omega / 2, rtol=1e-6)


@pytest.mark.collective
def test_thirty_free_motions_and_a_mass_on_many_joints() -> None:
    boxes = [
        sa.RigidBody((2.0 * k, 0, 0), mass=1.0, inertia=(1, 2, 2.5), name=f"{k}") for k in range(5)
    ]
    modes = sa.EigenProblem(sa.System(*boxes)).solve(2)
    assert (len(modes), modes.rigid, modes.checked) == (30, 30, True)
    # a chain of links hangs like Bernoulli's, the more of them the nearer
    n, L, g = 40, 1.0, 9.81
    links = [
        sa.PlanarBody(
            position=(0.0, -L * (k + 0.5) / n), mass=1 / n, inertia=1 / n**3 / 12, name=f"l{k}"
        )
        for k in range(n)
    ]
    half = L / n / 2
    pins = [sa.joints.revolute(links[0].at((0, half)), sa.ground.at((0.0, 0.0)))]
    pins += [
        sa.joints.revolute(a.at((0, -half)), b.at((0, half))) for a, b in itertools.pairwise(links)
    ]
    modes = sa.EigenProblem(sa.System(*links, terms=[*pins, sa.gravity((0, -g, 0))])).solve(3)
    exact = np.array([1.2024127788478864, 2.7600390551431553, 4.326863956455506])
    np.testing.assert_allclose(modes.omega / math.sqrt(g / L), exact, rtol=4e-3)
    assert modes.checked


def test_a_frame_that_turns_moves_free_bodies_in_circles() -> None:
    """What rests in space turns backwards in the frame; no energy is lost."""
    W, at = 0.7, np.array([1.0, 0.5, 0.0])
    body = sa.RigidBody(
        at, mass=2.0, inertia=(1.0, 2.0, 2.5), spin=(0, 0, -W), velocity=np.cross([0, 0, -W], at)
    )
    disc = sa.PlanarBody(
        position=(0.5, 0.0), mass=1.0, inertia=0.3, spin=-W, velocity=(0.0, -0.5 * W)
    )
    frame = sa.rotating_frame((0.0, 0.0, W))
    system = sa.System(body, disc, terms=[frame])
    assert sa.check(system).passed
    problem = sa.DynamicProblem(system, spectral_radius=0.9)
    problem.solve(to=1.0, step=0.01)
    c, s = math.cos(-W), math.sin(-W)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    np.testing.assert_allclose(body.position(system), turn @ at, atol=2e-5)
    np.testing.assert_allclose(body.rotation(system), turn, atol=2e-5)
    np.testing.assert_allclose(disc.position(system), [0.5 * c, 0.5 * s, -W], atol=2e-5)


def test_a_spinning_blade_swings_with_the_period_of_its_mode() -> None:
    blade = rod(6, EA=1e3)
    system = sa.System(blade, terms=[sa.fix(blade["x0"]), sa.rotating_frame((0, 0, 4.0))])
    sa.StaticProblem(system).solve()
    system.time = 0.0
    modes = sa.EigenProblem(system).solve(2)
    system.state[:] = modes.state(1, amplitude=1e-4)  # flap
    period = 2 * math.pi / modes.omega[1]
    problem = sa.DynamicProblem(system, spectral_radius=0.95)
    problem.record("tip", lambda: system.displacement(blade["x1"])[0, 2])
    steps = 40
    problem.solve(to=period, step=period / steps)
    t, z = problem.history.time, problem.history["tip"]
    zero = [
        a - y * (b - a) / (w - y)
        for a, b, y, w in zip(t, t[1:], z, z[1:], strict=False)
        if y * w < 0
    ]
    late = 1 + (2 * math.pi / steps) ** 2 / 12  # what the integrator makes of a period
    assert 2 * (zero[1] - zero[0]) / period == pytest.approx(late, rel=2e-4)
    assert abs(problem.energies.drift) < 1e-12


# ---- states -------------------------------------------------------------------------------------
@pytest.mark.collective
def test_forces_of_joints_are_found_and_other_imbalance_is_told() -> None:
    bob = sa.RigidBody((0, 0, -0.5), mass=2.0, inertia=(0.1, 0.2, 0.25), name="bob")
    pin = sa.joints.spherical(bob.at((0, 0, 0.5)), sa.ground)
    system = sa.System(bob, terms=[pin, sa.gravity((0, 0, -9.81))])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sa.EigenProblem(system).solve(2)
    np.testing.assert_allclose(pin.reaction(system).force, [0, 0, 2 * 9.81], atol=1e-9)
    leaning = sa.System(bob, terms=[pin, sa.gravity((1.0, 0, -9.81))])
    if RANKS == 1:
        with pytest.warns(UserWarning, match="no equilibrium") as told:
            sa.EigenProblem(leaning).solve(2)
        assert {w.filename for w in told} == {__file__}  # where it was called


@pytest.mark.parametrize("spin", [0.2, 0.25])
def test_what_grows_is_found_beside_a_mechanism(spin: float) -> None:
    """A pendulum that stands turns about itself, and falls in two planes."""
    m, J = 2.0, (0.1, 0.2, spin)
    bob = sa.RigidBody((0, 0, -0.5), mass=m, inertia=J, name="bob")
    pin = sa.joints.spherical(bob.at((0, 0, 0.5)), sa.ground)
    modes = sa.EigenProblem(sa.System(bob, terms=[pin, sa.gravity((0, 0, 9.81))])).solve(3)
    exact = [math.sqrt(9.81 / (own + 0.25 * m)) for own in J[1::-1]]
    assert (modes.rigid, modes.unstable) == (1, 2)
    np.testing.assert_allclose(modes.eigenvalues, [0.0, *exact], rtol=1e-9)


def test_buckling_begins_with_the_forces_that_joints_have_at_rest() -> None:
    """A link hangs beside a stiff beam, whose stiffness scales the multipliers."""
    link, beam, P = (
        sa.PlanarBody(position=(0.0, -0.5), mass=2.0, inertia=0.1),
        rod(4),
        sa.Parameter("P"),
    )
    pin = sa.joints.revolute(link.at((0.0, 0.5)), sa.ground.at((0.0, 0.0)))
    weight = sa.force(link.at((0.0, 0.0)), (0.0, -20.0))
    lift = sa.force(link.at((0.0, -0.5)), (0.0, lambda t: P.value))
    system = sa.System(link, beam, terms=[pin, weight, lift, sa.fix(beam["x0"])])
    assert sa.EigenProblem(system).buckle(P, 1).values == pytest.approx([10.0], rel=1e-9)


def test_buckling_from_a_loaded_state_in_both_directions_and_its_errors() -> None:
    beam, P = rod(16), sa.Parameter("P")
    held = [sa.fix(beam["x0"], "position"), sa.fix(beam["x1"], ["y", "z"])]
    thrust = sa.force(beam["x1"], (lambda t: -P.value, 0.0, 0.0))
    system = sa.System(beam, terms=[*held, thrust])
    problem, statics = sa.EigenProblem(system), sa.StaticProblem(system, check_stable=False)
    exact = 1e4 / 2 * (1 - math.sqrt(1 - 4 * math.pi**2 / 1e4))
    last = math.inf
    for P.value in (0.0, 5.0, 9.0):
        statics.solve()
        found = problem.buckle(P, 2)
        error = abs(found.values[0] / exact - 1)
        assert error < last
        last = error
        if P.value:
            np.testing.assert_allclose(found.factors * P.value, found.values)
    assert last < 1e-4
    P.value = 12.0  # beyond the first
    statics.solve()
    with refused(sa.SymancfError, asked="negative eigenvalues", given=2):
        problem.buckle(P)
    with refused(sa.ParameterError, asked="parameter", given="P", possible=()):
        sa.EigenProblem(sa.System(beam, terms=held)).buckle(P)
    with refused(sa.ParameterError, asked="direction", given=2, possible=(1, -1)):
        problem.buckle(P, direction=2)
    with refused(sa.ParameterError, asked="parameter", given="P", possible=("Parameter",)):
        problem.buckle("P")  # type: ignore[arg-type]


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("unit", [1.0, 1e3])
def test_loads_behind_one_that_is_very_near_are_found(engine: str, unit: float) -> None:
    """Where the first is 1e-4 away others are 1e5 times as far; a multiple of mm and N as well."""
    possible(engine)
    mesh, P = sa.Mesh.box((unit,), (40,)), sa.Parameter("P")
    given = {"EA": 1e5, "EI": unit**2}
    beam = sa.Body(mesh["body"], sa.elements.ancf_cable, sa.energies.cable(), **given)
    thrust = sa.force(beam["x1"], (lambda t: -P.value, 0.0, 0.0))
    system = sa.System(beam, terms=[sa.fix(beam["x0"]), sa.planar(beam), thrust])
    exact = 1e5 / 2 * (1 - np.sqrt(1 - 4 * (np.arange(1, 8, 2) * math.pi / 2) ** 2 / 1e5))
    P.value = (1 - 1e-4) * float(exact[0])
    sa.StaticProblem(system, check_stable=False).solve()
    for count in (1, 2, 4):
        found = sa.EigenProblem(system, options={"eigen": engine}).buckle(P, count)
        np.testing.assert_allclose(found.values, exact[:count], rtol=2e-3)
        assert found.checked


def test_loads_that_only_the_linear_tangent_has_are_told() -> None:
    """A cantilever under a load across it does not buckle in its plane; a column does."""
    P, EA = sa.Parameter("P"), 1e5
    beam = rod(16, EA=EA)
    held = [sa.fix(beam["x0"], "position"), sa.fix(beam["x1"], ["y", "z"])]
    thrust = sa.force(beam["x1"], (lambda t: -P.value, 0.0, 0.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        column = sa.EigenProblem(sa.System(beam, terms=[*held, thrust])).buckle(P, 4)
    # exact is P (1 - P/EA) = beta^2, and beta^2/(1 - 2 beta^2/EA) the linear load
    np.testing.assert_allclose(column.bends, -column.values / EA, rtol=1e-3)
    across = sa.force(beam["x1"], (0.0, lambda t: P.value, 0.0))
    system = sa.System(beam, terms=[sa.fix(beam["x0"]), sa.planar(beam), across])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = sa.EigenProblem(system).buckle(P, 2)
    # it turns by an angle a: [1 + EA a^2, -EA a; -EA a, EA] is singular without EA a^2 alone
    np.testing.assert_allclose(found.bends, 0.5, atol=1e-3)
    assert [str(w.message).startswith("buckle(P): loads are doubtful") for w in told] == (
        [True] if MPI.COMM_WORLD.rank == 0 else []
    )
    assert {w.filename for w in told} <= {__file__}
    assert P.value == 0.0
    assert not system.state.any()


@pytest.mark.parametrize("engine", ENGINES[1:])
def test_unsymmetric_tangents_and_pressures_are_those_of_dense_algebra(engine: str) -> None:
    """A cube of rubber without compressibility beside one under a pressure that follows it."""
    possible(engine)
    for given in ({"mu": 1e6, "lam": 2e6}, {"mu": 1e6, "lam": 2e9, "pressure": "continuous"}):
        box: dict[str, Any] = {"rho": 1e3, **given}
        mixed = "pressure" in given
        element = sa.elements.tet10 if mixed else sa.elements.hex8_plain
        cell = "tetra10" if mixed else "hexahedron"
        mesh = sa.Mesh.box((0.1, 0.1, 0.1), (2, 2, 2) if mixed else (4, 4, 4), cell=cell)
        cube = sa.Body(mesh["body"], element, sa.energies.neo_hooke(), **box)
        p = sa.Parameter("p", 0.0 if mixed else 1e5)
        system = sa.System(cube, terms=[sa.fix(cube["x0"]), sa.pressure(cube["x1"], p)])
        sa.StaticProblem(system).solve()
        found = [
            sa.EigenProblem(system, options={"eigen": e}).solve(4).eigenvalues
            for e in (engine, "dense")
        ]
        np.testing.assert_allclose(found[0].imag, found[1].imag, rtol=1e-7)
        assert not found[0].real.any()
        f = found[1].imag[1:3] / (2 * math.pi)
        near = sa.EigenProblem(system, options={"eigen": engine}).solve(
            1, near=0.4 * f[0] + 0.6 * f[1]
        )
        np.testing.assert_allclose(near.frequencies, f[1:], rtol=1e-7)


def test_faces_that_touch_without_force_are_in_equilibrium() -> None:
    foot = sa.Body(
        sa.Mesh.box((0.1, 0.1, 0.05), (2, 2, 1), cell="hexahedron20")["body"],
        sa.elements.hex20,
        sa.energies.neo_hooke(),
        mu=4e5,
        lam=6e5,
        rho=1e3,
    )
    stand = sa.Contact(foot["z0"], sa.Plane((0, 0, 0), normal=(0, 0, 1)), mu=0.4)
    press = sa.fix(foot["z1"], "position", lambda t: (0, 0, -1e-3 * t))
    system = sa.System(foot, terms=[stand, press])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        touching = sa.EigenProblem(system).solve(1).omega[0]
    sa.StaticProblem(system).solve()
    pressed = sa.EigenProblem(system).solve(1).omega[0]
    free = sa.EigenProblem(sa.System(foot, terms=[press])).solve(1).omega[0]
    assert pressed == pytest.approx(touching, rel=0.01)
    assert pressed > 1.5 * free


def test_impossible_questions() -> None:
    beam = rod(4)
    system = sa.System(beam, terms=[sa.fix(beam["x0"])])
    problem = sa.EigenProblem(system)
    with refused(sa.ParameterError, asked="count", given=0):
        problem.solve(0)
    with refused(sa.ParameterError, asked="near", given=-1.0, possible=()):
        problem.solve(2, near=-1.0)
    with refused(sa.ParameterError, asked="near", given=1.0, possible=(None,)):
        problem.solve(2, near=1.0, damped=True)
    with refused(
        sa.ParameterError, asked="pc_type", given="lu", possible=lambda found: "eps_ncv" in found
    ):
        sa.EigenProblem(system, options={"pc_type": "lu"})
    possible_ones = ("dense", "slepc", "scipy")
    with refused(sa.SymancfError, asked="eigen", given="arpack", possible=possible_ones):
        sa.EigenProblem(system, options={"eigen": "arpack"}).solve(1)
    with refused(sa.ParameterError, asked="degrees of freedom", given=0):
        sa.EigenProblem(sa.System(beam, terms=[sa.fix(beam["body"], "all")])).solve()
    with refused(sa.ParameterError, asked="omega", given=lambda found: "<lambda>" in found):
        sa.rotating_frame((0, 0, lambda t: t))
    frames = [sa.rotating_frame((0, 0, 1.0)), sa.rotating_frame((0, 1.0, 0))]
    with refused(sa.ParameterError, asked="bodies", given="rod"):
        sa.System(beam, terms=frames)
    energy = sa.energies.cable()
    light = sa.Body(beam.region, sa.elements.ancf_cable, energy, EA=1.0, EI=1.0)
    weightless = sa.EigenProblem(sa.System(light))
    with refused(sa.ParameterError, asked="rho"):
        weightless.solve()


# ---- results ------------------------------------------------------------------------------------
@pytest.mark.collective
def test_shapes_are_states_samples_files_and_a_table(shared_tmp_path: Path) -> None:
    beam = rod(8)
    system = sa.System(beam, terms=[sa.fix(beam["x0"])])
    modes = sa.EigenProblem(system).solve(2)
    before = system.state.copy()
    tip = modes.samples(beam, 0, amplitude=0.2)
    moved = np.linalg.norm(tip.point_data["shape"], axis=1).max(initial=0.0)
    assert MPI.COMM_WORLD.allreduce(moved, MPI.MAX) == pytest.approx(0.2, rel=1e-9)
    assert np.array_equal(system.state, before)
    moved = np.linalg.norm(modes.samples(beam, 0).point_data["shape"], axis=1).max(initial=0.0)
    assert MPI.COMM_WORLD.allreduce(moved, MPI.MAX) == pytest.approx(
        0.1 * system._discrete.extent, rel=1e-9
    )
    frames = modes.frames(beam, 1, 4)
    np.testing.assert_allclose(
        frames[0].points + frames[2].points,
        2 * modes.samples(beam, 1, phase=math.pi / 2).points,
        atol=1e-12,
    )
    path = modes.write(shared_tmp_path / "modes.pvd", {"rod": beam}).path
    if MPI.COMM_WORLD.rank == 0:
        assert [time for time, _ in sa.output.states(path)] == [1.0, 2.0]
    text = str(modes)
    assert "0.559592" in text
    assert "none is missing" in text
    assert list(modes.scenes(beam)) == ["1: 0.5596 Hz", "2: 0.5596 Hz"]
    with refused(sa.ParameterError, asked="shape", given=2, possible=(0, 1)):
        modes.state(2)


def test_modes_that_hide_in_the_round_off_of_what_is_stiff_are_told() -> None:
    """Bending of 3.516 rad/s beside cells of 1e8 rad/s; a free rod has five motions of its own."""
    problem = sa.EigenProblem(sa.System(beam := rod(60, EA=1e12), terms=[sa.fix(beam["x0"])]))
    modes = problem.solve(4)
    np.testing.assert_allclose(modes.omega, [3.516015, 3.516015, 22.03449, 22.03449], rtol=1e-6)
    with pytest.warns(UserWarning, match="2 of the modes of frequency zero are no") as told:
        modes = problem.solve(4, damped=True)
    assert {w.filename for w in told} == {__file__}  # where it was called
    assert modes.rigid == 2
    assert modes.omega[2] == pytest.approx(22.0345, rel=1e-4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sa.EigenProblem(sa.System(rod(60, EA=1e10))).solve(4).rigid == 5


def ziegler(inertia: float) -> tuple[sa.EigenProblem, sa.Parameter]:
    """Return two upright links under a load that follows the upper one, which flutter."""
    P, bodies = sa.Parameter("P"), []
    for name, height, mass in (("lower", 1.0, 2.0), ("upper", 2.0, 1.0)):
        given = {"mass": mass, "inertia": inertia}
        bodies.append(sa.PlanarBody(position=(0.0, height), name=name, **given))
    lower, upper = bodies
    low, knee, foot = lower.at((0.0, -1.0)), lower.at((0.0, 0.0)), upper.at((0.0, -1.0))
    pins = [sa.joints.revolute(low, sa.ground.at((0.0, 0.0))), sa.joints.revolute(knee, foot)]
    springs = [sa.Potential(bifurcations.spring, low, k=1.0)]
    springs.append(sa.Potential(bifurcations.hinge, knee, foot, k=1.0))
    push = sa.VirtualWork(bifurcations.along, upper.at((0.0, 0.0)), P=P)
    return sa.EigenProblem(sa.System(lower, upper, terms=[*pins, *springs, push])), P


def test_joints_know_small_changes_of_loads_beside_flutter() -> None:
    """1e-7 beyond it growth is sqrt(1e-7)/2: with the joint forces of before there was none."""
    problem, P = ziegler(1e-12)
    for change in (-1e-7, 1e-7):
        P.value = 3.5 - math.sqrt(2.0) + change
        growth = problem.solve(2).eigenvalues.real.max()
        assert growth == pytest.approx(1.581e-4 if change > 0.0 else 0.0, rel=1e-2)
    light, P = ziegler(1e-15)
    known = ziegler(1e-3)[0].solve(2).omega
    np.testing.assert_allclose(light.solve(2).omega, known, rtol=1e-3)
    P.value = 3.5 - math.sqrt(2.0)
    with pytest.warns(UserWarning, match="1 of the modes of frequency zero are no rigid-body"):
        light.solve(2)


# ---- slender members ----------------------------------------------------------------------------
def wire(radius: float, cells: int, clamped: bool, unit: float = 1.0) -> sa.System:
    """Return a round steel rod of 1 m that stands askew in space, lengths in parts of 1 m."""
    a, b = math.radians(37.0), math.radians(20.0)
    along = np.array([math.cos(a) * math.cos(b), math.sin(a) * math.cos(b), math.sin(b)])
    points = np.linspace(0.0, unit, 2 * cells + 1)[:, None] * along
    nodes = [[2 * k, 2 * k + 2, 2 * k + 1] for k in range(cells)]
    regions: dict[str, Any] = {"rod": ("line3", range(cells)), "foot": ("vertex", [[0]])}
    mesh = sa.Mesh.from_arrays(points, {"line3": nodes}, regions)
    # kg and s: a pressure is kg/(m s^2)
    given = sa.Section.circle(radius * unit).rod(E=2e11 / unit, nu=0.3, rho=7850.0 / unit**3)
    body = sa.Body(mesh["rod"], sa.elements.ancf_rod, sa.energies.rod(), **given)
    return sa.System(body, terms=[sa.fix(body["foot"])] if clamped else [])


@pytest.mark.collective(rows=2)
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("radius", "cells", "unit"),
    [(5e-3, 8, 1.0), (1e-3, 16, 1.0), (1e-4, 8, 1e3), (1e-4, 16, 1.0), (1e-5, 6, 1.0)],
)
def test_modes_of_slender_rods_are_no_zeros(radius: float, cells: int, unit: float) -> None:
    """Down to 1e-22 of the highest eigenvalue; rigid motions, that about the axis too, are zero."""
    omega = radius / 2.0 * math.sqrt(2e11 / 7850.0)
    clamped = sa.EigenProblem(wire(radius, cells, True, unit)).solve(4)
    betaL = np.repeat([1.87510407, 4.69409113], 2)
    np.testing.assert_allclose(clamped.omega, betaL**2 * omega, rtol=2e-3)
    assert not clamped.rigid
    free = sa.EigenProblem(wire(radius, cells, False, unit)).solve(2)
    assert free.rigid == 6
    np.testing.assert_allclose(free.omega[6:], 4.73004074**2 * omega, rtol=3e-3)


def test_the_spin_of_a_wire_is_not_next_to_a_frequency() -> None:
    """Round-off makes 20 rad/s of the turn about its axis, which is zero."""
    betaL2, omega = (
        np.array([4.73004074, 7.85320462, 7.85320462]) ** 2,
        5e-5 * math.sqrt(2e11 / 7850),
    )
    for near in (2.502, 2.50217):
        problem = sa.EigenProblem(wire(1e-4, 16, False), options={"eigen": "scipy"})
        found = np.sort(problem.solve(3, near=near).omega)
        np.testing.assert_allclose(found, betaL2 * omega, rtol=3e-3)


def test_all_modes_of_a_slender_rod_have_digits() -> None:
    """The fastest are those of a shift near them: sums of all are traces."""
    system = wire(1e-3, 4, True)
    modes = sa.EigenProblem(system).solve(96)
    K, M = (
        a.toarray() for a in (system.matrices.tangent(scipy=True), system.matrices.mass(scipy=True))
    )
    assert len(modes) == 96
    assert (modes.omega**2).sum() == pytest.approx(np.trace(np.linalg.solve(M, K)), rel=1e-4)
    assert (modes.omega**-2.0).sum() == pytest.approx(np.trace(np.linalg.solve(K, M)), rel=1e-6)


def test_bodies_that_nothing_holds_rest() -> None:
    bodies = [
        sa.PlanarBody(position=(k, 0.0), mass=10.0 ** (3 * k), inertia=1e-9, name=f"body {k}")
        for k in range(3)
    ]
    assert sa.EigenProblem(sa.System(*bodies)).solve(1).rigid == 9


@pytest.mark.filterwarnings("error")
def test_a_stiff_end_does_not_hide_the_modes_of_what_is_soft() -> None:
    """Silicone with a tip 1e8 times as stiff: what it moves like with one 1e4 times as stiff."""
    mesh = sa.Mesh.box((1.0, 0.1, 0.1), (6, 1, 1), cell="hexahedron20")
    found = []
    for ratio in (1e4, 1e8):
        stiff = sa.Field(lambda X, ratio=ratio: np.where(X[:, 0] < 0.8, 1e5, 1e5 * ratio))
        law = sa.energies.neo_hooke()
        body = sa.Body(mesh["body"], sa.elements.hex20, law, mu=stiff, lam=stiff, rho=1e3)
        system = sa.System(body, terms=[sa.fix(body["x0"])])
        found.append(sa.EigenProblem(system).solve(4).omega)
    np.testing.assert_allclose(found[1], found[0], rtol=2e-3)


# ---- buckling of what turns before --------------------------------------------------------------
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("thickness", "unit"), [(2e-3, 1.0), (2e-3, 1e3), (1e-2, 1.0)])
def test_a_deep_strip_buckles_sideways_from_rest(thickness: float, unit: float) -> None:
    """Michell and Prandtl's 4.0126 sqrt(EI GJ)/L^2, beyond false loads of the linear tangent."""
    given = sa.Section.rectangle(thickness * unit, 0.2 * unit).rod(E=1e9 / unit**2, nu=0.3)
    Q = sa.Parameter("Q")
    mesh = sa.Mesh.box((unit,), (10,), cell="line3")
    along_y = {"direction": lambda X: np.tile([0.0, 1.0, 0.0], (len(X), 1))}
    beam = sa.Body(mesh["body"], sa.elements.ancf_rod, sa.energies.rod(), **along_y, **given)
    load = sa.force(beam["x1"], (0.0, 0.0, lambda t: -Q.value))
    system = sa.System(beam, terms=[sa.fix(beam["x0"]), load])
    found = sa.EigenProblem(system).buckle(Q, 1)
    weak = min(given["EI2"], given["EI3"])
    exact = 4.0126 * math.sqrt(weak * given["GJ"]) / unit**2
    assert found.values == pytest.approx([exact], rel=5e-3)
    assert np.abs(found.bends).max() < 0.05
    assert 0 < found.equilibria < 20
    assert f"{found.equilibria} equilibria" in found.note()
    assert Q.value == 0.0
    assert not system.state.any()
    sideways = found.shapes[0][system._discrete.numbering.coordinates_of(0)][:, 1]
    top = system.comm.allreduce(float(np.abs(sideways).max(initial=0.0)), op=MPI.MAX)
    assert top == pytest.approx(1.0, rel=1e-6)


@pytest.mark.filterwarnings("error")
def test_a_shallow_arch_snaps_where_its_path_ends() -> None:
    angle, Q = np.linspace(-0.6, 0.6, 17), sa.Parameter("Q")
    points = np.stack([np.sin(angle), 0.0 * angle, np.cos(angle)], axis=1)
    regions: dict[str, Any] = {"ends": ("vertex", [[0], [16]]), "top": ("vertex", [[8]])}
    regions["arch"] = ("line3", range(8))
    nodes = [[2 * k, 2 * k + 2, 2 * k + 1] for k in range(8)]
    mesh = sa.Mesh.from_arrays(points, {"line3": nodes}, regions)
    given = sa.Section.rectangle(0.01, 0.01).rod(E=1.2e9, nu=0.3)
    arch = sa.Body(mesh["arch"], sa.elements.ancf_rod, sa.energies.rod(), **given)
    load = sa.force(arch["top"], (0.0, 0.0, lambda t: -Q.value))
    system = sa.System(arch, terms=[sa.fix(arch["ends"]), load])
    found = sa.EigenProblem(system).buckle(Q, 1).values[0]
    statics = sa.StaticProblem(system, check_stable=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = statics.follow(Q, step=5.0, to=0.98 * found)
        assert path.steps[-1].unstable == 0
        Q.value = 0.0
        path = statics.follow(Q, step=0.5, until=lambda _: bool(statics.history.bifurcations))
    assert path.bifurcations[0].parameter == pytest.approx(found, rel=1e-4)
