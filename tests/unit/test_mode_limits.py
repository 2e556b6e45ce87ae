# SPDX-License-Identifier: BSD-3-Clause
"""What counts as zero, as still and as balanced in modes, and how often something is factored."""

from __future__ import annotations

import math
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from mpi4py import MPI

import symancf as sa
from symancf.solve.factors import Factors
from symancf.solve.modes import engines
from tests.unit.test_modes import possible, rod, spring, wire

HERE = (0.0, 0.0)


def factorisations(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return a list that gets an entry for each factorisation from now on."""
    made, make = list[Any](), Factors.make

    def counted(self: Factors, matrix: Any) -> bool:
        made.append(matrix)
        return make(self, matrix)

    monkeypatch.setattr(Factors, "make", counted)
    return made


# ---- work ---------------------------------------------------------------------------------------
def test_pendulums_need_few_factorisations(monkeypatch: pytest.MonkeyPatch) -> None:
    """One for the forces of the joint, one for what rests, one for the others."""
    made = factorisations(monkeypatch)
    for gravity in (-9.81, 9.81):
        made.clear()
        bob = sa.RigidBody((0, 0, -0.5), mass=2.0, inertia=(0.1, 0.2, 0.25), name="bob")
        pin = sa.joints.spherical(bob.at((0, 0, 0.5)), sa.ground)
        sa.EigenProblem(sa.System(bob, terms=[pin, sa.gravity((0, 0, gravity))])).solve(3)
        assert len(made) <= 3


def test_a_clamped_rod_is_factored_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What finds that nothing rests finds the modes, too; of those with rates the shift."""
    made = factorisations(monkeypatch)
    beam = rod(8)
    problem = sa.EigenProblem(sa.System(beam, terms=[sa.fix(beam["x0"])]))
    problem.solve(4)
    assert len(made) == 1
    made.clear()
    problem.solve(4, damped=True)
    assert len(made) == 2


@pytest.mark.parametrize(("unknowns", "dense"), [(1_900, True), (2_100, False)])
def test_half_of_the_eigenvalues_are_found_by_lapack_up_to_two_thousand(
    unknowns: int, dense: bool
) -> None:
    pencil: Any = SimpleNamespace(size=unknowns, room=lambda: unknowns, comm=MPI.COMM_SELF)
    assert (engines.chosen(pencil, unknowns // 2) == "dense") is dense
    assert engines.chosen(pencil, unknowns // 4) != "dense"


def test_all_modes_of_a_rod_are_found_where_all_are_asked_for() -> None:
    modes = sa.EigenProblem(sa.System(rod(64))).solve(385)
    assert (len(modes), modes.checked) == (390, True)


@pytest.mark.filterwarnings("ignore:buckle")
def test_a_path_is_followed_by_the_length_of_the_body() -> None:
    """A cantilever under a load across it in its plane; nothing is singular there."""
    P, beam = sa.Parameter("P"), rod(8, EA=1e5)
    across = sa.force(beam["x1"], (0.0, lambda t: P.value, 0.0))
    system = sa.System(beam, terms=[sa.fix(beam["x0"]), sa.planar(beam), across])
    found = sa.EigenProblem(system).buckle(P, 2)
    assert 20 < found.equilibria < 45


@pytest.mark.parametrize("unit", [1.0, 1e3])
def test_the_tangent_is_taken_one_per_cent_before_a_load_of_a_path(
    unit: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A deep strip that bends before it buckles sideways, in m and mm."""
    given = sa.Section.rectangle(2e-3 * unit, 0.2 * unit).rod(E=1e9 / unit**2, nu=0.3)
    Q, places = sa.Parameter("Q"), list[float]()
    mesh = sa.Mesh.box((unit,), (4,), cell="line3")
    along_y: Any = {"direction": lambda X: np.tile([0.0, 1.0, 0.0], (len(X), 1))}
    beam = sa.Body(mesh["body"], sa.elements.ancf_rod, sa.energies.rod(), **along_y, **given)
    load = sa.force(beam["x1"], (0.0, 0.0, lambda t: -Q.value))
    problem = sa.EigenProblem(sa.System(beam, terms=[sa.fix(beam["x0"]), load]))
    linear = problem._linear

    def noted(*asked: Any) -> Any:
        places.append(Q.value)
        return linear(*asked)

    monkeypatch.setattr(problem, "_linear", noted)
    found = problem.buckle(Q, 1)
    assert places == pytest.approx([0.0, 0.99 * found.values[0]], rel=1e-9)


def test_loads_of_buckling_are_those_of_the_change_of_the_tangent() -> None:
    """A column askew in space; its tangents at equilibria beside give K' to 12 digits."""
    P, turn = sa.Parameter("P"), np.array([0.750475, 0.565522, 0.342020])
    points = np.linspace(0.0, 1.0, 7)[:, None] * turn / np.linalg.norm(turn)
    regions: dict[str, Any] = {"rod": ("line", range(6)), "foot": ("vertex", [[0]])}
    regions["tip"] = ("vertex", [[6]])
    mesh = sa.Mesh.from_arrays(points, {"line": [[k, k + 1] for k in range(6)]}, regions)
    given: dict[str, Any] = {"EA": 1e3, "EI": 1.0, "rho": 1.0, "A": 1.0}
    column = sa.Body(mesh["rod"], sa.elements.ancf_cable, sa.energies.cable(), **given)
    thrust = sa.force(column["tip"], tuple(lambda t, c=c: -P.value * c for c in points[-1]))
    system = sa.System(column, terms=[sa.fix(column["foot"]), thrust])
    found = sa.EigenProblem(system).buckle(P, 4).values
    statics = sa.StaticProblem(system, options={"snes_rtol": 1e-13}, check_stable=False)
    tangents = []
    for P.value in (-0.2, -0.1, 0.0, 0.1, 0.2):
        statics.solve()
        tangents.append(system.matrices.tangent(scipy=True).toarray())
    K, slope = tangents[2], np.tensordot([1.0, -8.0, 0.0, 8.0, -1.0], tangents, 1) / 1.2
    theta = np.sort(np.linalg.eigvals(np.linalg.solve(K, -slope)).real)[::-1]
    np.testing.assert_allclose(found, 1.0 / theta[:4], rtol=2e-9)


# ---- zeros --------------------------------------------------------------------------------------
def masses(*stiffness: float, follower: float = 0.0) -> sa.System:
    """Return unit masses that move in x, each on a spring to the ground."""
    terms, bodies = list[Any](), list[sa.PlanarBody]()
    for k, own in enumerate(stiffness):
        body = sa.PlanarBody(mass=1.0, inertia=1.0, name=f"mass {k}")
        terms.append(sa.fix(body, ["y", "theta"]))
        terms.append(sa.Potential(spring, body.at(HERE), k=own))
        bodies.append(body)
    if follower:

        def push(v_a: Any, r_a: Any, r_b: Any, *, c: Any) -> Any:
            return {v_a[0]: c * r_b[0]}

        terms.append(sa.VirtualWork(push, bodies[0].at(HERE), bodies[1].at(HERE), c=follower))
    return sa.System(*bodies, terms=terms)


def test_modes_of_any_stiffness_have_digits() -> None:
    """Unsymmetric, with theta of 3e-13 beside 1."""
    omega = sa.EigenProblem(masses(1.0, 2.0, 3e12, follower=0.1)).solve(3).omega
    np.testing.assert_allclose(omega, np.sqrt([1.0, 2.0, 3e12]), rtol=1e-3)


def test_a_rod_on_a_soft_spring_moves() -> None:
    """1e-11 of its axial stiffness; about the spring it turns freely."""
    beam, k, middle = rod(4), 5e-7, (0.5, 0.0, 0.0)

    def pull(r_a: Any, r_b: Any, *, k: Any) -> Any:
        return k / 2 * (r_b - r_a).dot(r_b - r_a)

    held = sa.Potential(pull, beam.at(middle), sa.ground.at(middle), k=k)
    modes = sa.EigenProblem(sa.System(beam, terms=[sa.planar(beam), held])).solve(2)
    assert modes.rigid == 1
    np.testing.assert_allclose(modes.omega[1:], math.sqrt(k), rtol=1e-3)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("engine", ["slepc", "scipy"])
def test_rigid_motions_are_counted_next_to_a_frequency(engine: str) -> None:
    """The spin of a thin wire, which round-off makes 20 rad/s of, is none that is missing."""
    possible(engine)
    omega = 4.73004074**2 * 5e-5 * math.sqrt(2e11 / 7850)
    problem = sa.EigenProblem(wire(1e-4, 16, False), options={"eigen": engine})
    for near in (1.0, 2.0):
        modes = problem.solve(6, near=near * omega / (2 * math.pi))
        assert modes.checked
        assert modes.omega.max() / omega == pytest.approx(1.0 if near == 1.0 else 2.7565, rel=1e-3)


@pytest.mark.parametrize(("slowest", "told"), [(1.0, True), (30.0, False)])
def test_modes_that_hide_are_told_where_others_are_as_slow(slowest: float, told: bool) -> None:
    """0.03 rad/s is zero beside 1e6 rad/s, which matters beside 1 rad/s and not beside 30."""
    system = masses(1e12, 0.03**2, slowest**2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        modes = sa.EigenProblem(system).solve(1, damped=True)
    assert modes.rigid == 1
    assert bool(caught) is told


# ---- equilibrium --------------------------------------------------------------------------------
@pytest.mark.parametrize(("lean", "told"), [(2e-6, True), (2e-7, False)])
def test_a_pendulum_that_leans_is_no_equilibrium(lean: float, told: bool) -> None:
    bob = sa.RigidBody((0, 0, -0.5), mass=2.0, inertia=(0.1, 0.2, 0.25), name="bob")
    pin = sa.joints.spherical(bob.at((0, 0, 0.5)), sa.ground)
    leaning = sa.System(bob, terms=[pin, sa.gravity((9.81 * lean, 0, -9.81))])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sa.EigenProblem(leaning).solve(2)
    assert any("no equilibrium" in str(w.message) for w in caught) is told


def test_damped_modes_of_many_free_bodies_have_all_their_rigid_motions() -> None:
    stiff: dict[str, Any] = {"EA": 1e5, "EI": 1e2, "rho": 1.0, "A": 1.0}

    def rod_number(k: int) -> sa.Body:
        points = np.array([[x, 0.1 * k, 0.0] for x in (0.0, 0.5, 1.0)])
        lines = np.array([[0, 1], [1, 2]])
        mesh = sa.Mesh.from_arrays(points, {"line": lines}, regions={"rod": ("line", [0, 1])})
        return sa.Body(
            mesh["rod"],
            sa.elements.ancf_cable,
            sa.energies.cable(),
            direction=lambda X: np.broadcast_to((1.0, 0.0, 0.0), X.shape),
            name=f"rod{k}",
            **stiff,
        )

    system = sa.System(*map(rod_number, range(24)))
    modes = sa.EigenProblem(system, damping=sa.Rayleigh(stiffness=1e-4)).solve(4, damped=True)
    assert modes.checked
    assert modes.rigid == 120  # five of each
    assert len(modes) == 124
