# SPDX-License-Identifier: BSD-3-Clause
"""How often statics try something, and when they give it up."""

from __future__ import annotations

import math
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from mpi4py import MPI

import symancf as sa
from symancf.runtime.petsc import PETSc
from symancf.solve import contradiction
from symancf.solve.statics import diagnosis, stability
from symancf.solve.statics.arc import Arc, BorderedEquations, Direction
from symancf.solve.statics.continuation import Continuation
from symancf.solve.statics.crossing import Crossings
from symancf.solve.statics.krylov import KrylovSolver
from symancf.solve.statics.normals import Normals
from symancf.solve.statics.rigid_motions import find_free, supported
from tests.refusals import refused
from tests.unit.test_continuation import LIMIT_P, Truss


def test_a_path_begins_with_a_twentieth_of_its_way() -> None:
    P = sa.Parameter("P")
    history = Truss(P).problem.follow(P, to=1e-4)
    assert history["P"][0] == pytest.approx(5e-6, rel=0.05)


def rough(turns: list[float]) -> int:
    """Return in how many solutions of a step normals are kept that solutions turn [rad]."""
    turned = iter(turns)
    system: Any = SimpleNamespace(hold_normals=lambda held, before: next(turned) if held else 0.0)
    aid = Normals(system)
    return [aid.hold(k) for k in range(9)].index(False)


def test_normals_stay_in_three_solutions_or_until_these_turn_them_little() -> None:
    assert rough([0.0, 0.03, 0.03]) == 3
    assert rough([0.0, 0.015]) == 1


def downhill(residuals: list[float]) -> list[bool]:
    """Return after which residuals one goes on downhill."""
    solver = KrylovSolver.__new__(KrylovSolver)
    solver._least, solver._stuck = math.inf, 0
    return [solver._falls(residual) for residual in residuals]


def test_steps_downhill_go_on_while_the_residual_falls() -> None:
    assert all(downhill([0.9**k for k in range(20)]))
    assert downhill([1.0] * 8) == [True] * 6 + [False] * 2


# ---- paths --------------------------------------------------------------------------------------
def test_a_path_that_never_arrives_ends_after_two_thousand_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    P, taken = sa.Parameter("P"), list[Any]()
    truss = Truss(P)
    monkeypatch.setattr(Continuation, "_advance", lambda self, *given: (self.point, []))
    monkeypatch.setattr(Continuation, "_along", lambda *given: taken.append(given))
    with refused(sa.ConvergenceError, asked="steps", reason="STEPS"):
        truss.problem.follow(P, to=1e-4)
    assert len(taken) == 2000


def test_a_step_out_of_the_domain_of_a_law_is_halved_down_to_a_thirty_second() -> None:
    for limit, moves in ((1.0 / 32.0, True), (1.0 / 64.0, False)):
        arc: Any = SimpleNamespace(attempt=lambda rows, value, limit=limit: value <= limit)
        equations = BorderedEquations(arc, np.zeros(1), 0.0, arc, np.inf)
        equations._step = Direction(np.zeros(1), 1.0)
        assert (equations.move() == PETSc.SNES.ConvergedReason.ITERATING) is moves
        assert (equations.value == limit) is moves


@pytest.mark.parametrize(("moved", "counts"), [(3e-13, False), (3e-12, True)])
def test_displacements_in_a_step_count_beyond_round_off(moved: float, counts: bool) -> None:
    arc = Arc.__new__(Arc)
    arc.system, arc._weight = SimpleNamespace(sum=lambda values: values), np.ones(1)  # type: ignore[assignment]
    arc.step = 1.0
    start: Any = SimpleNamespace(rows=np.zeros(1), value=0.0)
    arc.measure(np.array([moved]), start)
    assert arc.size == (moved if counts else 1.0)


@pytest.mark.parametrize(("times", "ends"), [(3e5, False), (3e6, True)])
def test_a_place_that_is_a_million_times_as_flexible_is_a_bifurcation(
    times: float, ends: bool
) -> None:
    path = Continuation.__new__(Continuation)
    path.solver, here = SimpleNamespace(linear=SimpleNamespace(direct=True)), [1.0, times, times]  # type: ignore[assignment]
    path.arc = SimpleNamespace(flexibility=lambda on: here.pop(0))  # type: ignore[assignment]
    path._flexibility, on = math.inf, Direction(np.zeros(1), 1.0)
    assert [path._is_bifurcation(on) for _ in range(3)] == [False, ends, False]


def test_loads_are_differentiated_by_the_parameter_to_ten_digits() -> None:
    P = sa.Parameter("P", 1.0)
    truss = Truss(lambda t: -1e-3 * P.value**3)
    truss.problem.solve()
    truss.problem.follow(P, step=1e-4, steps=1)
    path = truss.problem._continuation
    assert path is not None
    rate, _ = path.arc.derivative()
    assert np.abs(rate).max() == pytest.approx(3e-3 * P.value**2, rel=1.2e-10)


@pytest.mark.parametrize(("aside", "rests"), [(3e-9, True), (3e-8, False)])
def test_places_beside_a_path_are_no_equilibria(aside: float, rests: bool) -> None:
    P = sa.Parameter("P")
    truss = Truss(P)
    truss.problem.follow(P, step=1e-4, steps=1)
    path = truss.problem._continuation
    assert path is not None
    assert path.point is not None
    at = path.point.at
    found = path.arc.balanced(at.rows * (1.0 + aside), at.value, 1.0)
    assert (found is not None) is rests


def test_a_limit_point_is_located_as_far_as_it_has_digits() -> None:
    """Farther, round-off of the tangents makes it a search: 21 iterations."""
    P = sa.Parameter("P")
    history = Truss(P).problem.follow(P, step=1e-3, until=lambda step: bool(step.unstable))
    (limit,) = history.limit_points
    (step,) = (step for step in history.steps if step.time == limit.time)
    assert limit.parameter == pytest.approx(LIMIT_P, rel=1e-13)
    assert step.iterations <= 10


def test_bifurcations_are_located_by_the_parameter_or_the_step() -> None:
    at, zero = (SimpleNamespace(value=value) for value in (3.0, 0.0))
    fine: Any = Crossings._fine
    assert fine(at, zero, 100.0) == pytest.approx(3e-6)
    assert fine(at, zero, 1.0) == pytest.approx(1e-6)
    assert fine(zero, zero, 5.0) == pytest.approx(5e-10)  # at no load at all


# ---- what is factored beside the solution -------------------------------------------------------
@pytest.mark.parametrize(("rows", "looks"), [(59_000, True), (61_000, False)])
def test_a_singular_tangent_is_explained_up_to_sixty_thousand_rows(
    rows: int, looks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diagnosis, "free_motions", lambda system: ("", []))
    system: Any = SimpleNamespace(numbering=SimpleNamespace(size=rows))
    if looks:
        with pytest.raises(AttributeError, match="matrix"):
            diagnosis.undetermined(system)
    else:
        assert diagnosis.undetermined(system) is None


@pytest.mark.parametrize(("soft", "sound"), [(6e-13, True), (6e-14, False)])
def test_slender_structures_are_not_singular(
    soft: float, sound: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two springs in a row, one of them soft: the smallest eigenvalue is half of it."""
    matrix = PETSc.Mat().createDense((2, 2), array=[[1.0, -1.0], [-1.0, 1.0 + soft]])
    matrix.convert("aij")
    matrix.assemble()
    numbering = SimpleNamespace(
        size=2, random=lambda seed: np.array([0.3, 0.7]), to_rows=lambda values: values
    )
    system: Any = SimpleNamespace(
        numbering=numbering,
        matrix=SimpleNamespace(mat=matrix),
        comm=MPI.COMM_SELF,
        stiffness=1.0,
        sum=lambda values: values,
    )
    monkeypatch.setattr(diagnosis, "free_motions", lambda system: ("", []))
    monkeypatch.setattr(diagnosis, "_undetermined", lambda system, motion: motion)
    assert (diagnosis.undetermined(system) is None) is sound


@pytest.mark.parametrize(("rows", "how"), [(4_900, "determinant"), (5_100, "none")])
def test_without_mumps_small_tangents_tell_their_determinant(
    rows: int, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stability, "has", lambda name: False)
    monkeypatch.setattr(stability, "Signs", lambda *given: None)
    monkeypatch.setattr(stability, "Factors", lambda *given: None)
    numbering = SimpleNamespace(coordinate_of_row=np.zeros(1), prescribed_rows=[], size=rows)
    system: Any = SimpleNamespace(numbering=numbering, matrix=None, comm=SimpleNamespace(size=1))
    assert stability.Stability(system, SimpleNamespace(direct=True), None).how == how  # type: ignore[arg-type]


@pytest.mark.parametrize(("unknowns", "counts"), [(19_000, True), (21_000, False)])
def test_up_to_twenty_thousand_unknowns_an_equilibrium_is_looked_at(
    unknowns: int, counts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = list[str]()
    monkeypatch.setattr(stability.Stability, "counts_with_solver", False)
    monkeypatch.setattr(stability.Stability, "negative", lambda *given: 0)
    monkeypatch.setattr(stability.Stability, "release", lambda *given: None)
    looked = stability.Stability.__new__(stability.Stability)
    looked.how = "pivots"
    looked.system = SimpleNamespace(  # type: ignore[assignment]
        comm=MPI.COMM_SELF, numbering=SimpleNamespace(size=unknowns), state=None
    )
    looked.linear = SimpleNamespace(  # type: ignore[assignment]
        assemble=lambda state: done.append("tangent"), fixed=None
    )
    history: Any = SimpleNamespace(steps=[SimpleNamespace(unstable=None)])
    looked.tell(history)
    assert (done, history.steps[0].unstable) == ((["tangent"], 0) if counts else ([], None))


# ---- Krylov's methods ---------------------------------------------------------------------------
def krylov(iterations: int) -> KrylovSolver:
    """Return a solver of which nothing works but what it decides by."""
    solver = KrylovSolver.__new__(KrylovSolver)
    solver.ksp = SimpleNamespace(
        getConvergedReason=lambda: 2,
        getTolerances=lambda: (1e-5, 0.0, 1e5, 100),
        getIterationNumber=lambda: iterations,
    )
    solver.takeover = SimpleNamespace(wanted=lambda reason: False)  # type: ignore[assignment]
    solver.direct, solver._steps, solver._residual, solver._rtol = False, 0, 1.0, 1e-5
    solver._free = None
    return solver


@pytest.mark.parametrize(("ratio", "near"), [(0.05, True), (0.5, False)])
def test_a_residual_that_falls_fast_is_near_to_a_solution(ratio: float, near: bool) -> None:
    solver = krylov(3)
    right: Any = SimpleNamespace(norm=lambda: ratio)
    assert solver.mend(right, right) is None
    assert solver._near is near


def test_a_preconditioner_is_renewed_after_forty_iterations_too_many() -> None:
    solver = krylov(25)
    solver.renewals, solver._fewest, solver._beyond = 1, 10.0, 0.0
    assert [solver._worn() for _ in range(3)] == [False, False, True]


# ---- supports -----------------------------------------------------------------------------------
def clamped(count: int) -> sa.System:
    bodies = [sa.RigidBody((2.0 * k, 0.0, 0.0), name=f"body {k}") for k in range(count)]
    return sa.System(*bodies, terms=[sa.fix(body, "all") for body in bodies])


@pytest.mark.parametrize(("count", "known"), [(24, True), (25, False)])
def test_supports_of_up_to_24_bodies_are_looked_at_beforehand(count: int, known: bool) -> None:
    assert supported(clamped(count)._discrete) is known


def spring(r_a: Any, r_b: Any, *, k: Any) -> Any:
    return k / 2 * (r_b - r_a).dot(r_b - r_a)


def in_a_row(soft: float) -> sa.System:
    """Return two masses on a line, a spring between them and one that is softer to the ground."""
    a, b = (sa.PlanarBody(position=(0.0, 0.0), name=name) for name in "ab")
    ends = a.at((0.0, 0.0)), b.at((0.0, 0.0))
    terms = [sa.fix(body, ["y", "theta"]) for body in (a, b)]
    springs = [sa.Potential(spring, *ends, k=1.0)]
    springs.append(sa.Potential(spring, ends[0], sa.ground.at((0.0, 0.0)), k=soft))
    return sa.System(a, b, terms=[*terms, *springs])


@pytest.mark.parametrize(("soft", "free"), [(6e-11, False), (6e-12, True)])
def test_a_motion_against_next_to_no_stiffness_is_free(soft: float, free: bool) -> None:
    problem = sa.StaticProblem(in_a_row(soft), check_held=False, check_stable=False)
    problem.solve()
    assert bool(find_free(problem.system._discrete)) is free


@pytest.mark.parametrize(("soft", "alarm"), [(-6e-12, True), (-6e-13, False)])
def test_an_equilibrium_is_unstable_beyond_round_off(soft: float, alarm: bool) -> None:
    problem = sa.StaticProblem(in_a_row(soft), check_held=False)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        problem.solve()
    assert bool(problem.history.steps[-1].unstable) is alarm
    assert any("unstable" in str(w.message) for w in told) is alarm


# ---- constraints that were left out -------------------------------------------------------------
@pytest.mark.parametrize(
    ("left_out", "others", "violated"),
    [(3e-7, 0.0, True), (3e-8, 0.0, False), (3.0, 1e-3, True), (0.3, 1e-3, False)],
)
def test_constraints_left_out_are_violated_beside_those_that_hold(
    left_out: float, others: float, violated: bool
) -> None:
    numbering = SimpleNamespace(
        those=lambda kind: np.ones(2, dtype=bool),
        fixed_by=np.array([0, -1]),
        owners_of=lambda bad: ["a", "b"],
    )
    system: Any = SimpleNamespace(
        numbering=numbering,
        redundant=SimpleNamespace(left_out=np.array([0])),
        comm=MPI.COMM_SELF,
        stiffness=10.0,
        extent=1.0,
    )
    wrong, names = contradiction._violation(system, 10.0 * np.array([left_out, others]))
    assert wrong == pytest.approx(left_out)
    assert names == (["a", "b"] if violated else [])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("beside", "held"), [(1e-5, True), (1e-6, False)])
def test_three_points_nearly_in_a_row_hold_no_body(beside: float, held: bool) -> None:
    points = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, beside, 0.0], [0.5, 0.5, 1.0]])
    regions: dict[str, Any] = {"body": ("tetra", [0]), "feet": ("vertex", [[0], [1], [2]])}
    mesh = sa.Mesh.from_arrays(points, {"tetra": [[0, 1, 2, 3]]}, regions)
    body = sa.Body(mesh["body"], sa.elements.tet4, sa.energies.neo_hooke(), mu=1.0, lam=1.0)
    assert supported(sa.System(body, terms=[sa.fix(body["feet"])])._discrete) is held
