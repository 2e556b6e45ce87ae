# SPDX-License-Identifier: BSD-3-Clause
"""Counts of negative eigenvalues against dense matrices, for every kind of unknown.

Far from equilibrium, where many are negative: the count is of the tangent, wherever it is taken.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import scipy.linalg as la
import scipy.sparse as ss
import sympy as sp
from mpi4py import MPI

import symancf as sa
from symancf.elements import ancf_cable, ancf_plate, ancf_thin_plate, hex8_plain
from symancf.energies import cable, kirchhoff, saint_venant_kirchhoff
from tests.shells import sphere

pytestmark = pytest.mark.collective

Array = npt.NDArray[np.float64]
Model = tuple[list[Any], list[Any]]
SOLID = {"E": 1.0, "nu": 0.3}


def solid() -> Model:
    """Held rows; the other end is pulled aside."""
    body = sa.Body(
        sa.Mesh.box((2, 1, 1), (3, 1, 1))["body"], hex8_plain, saint_venant_kirchhoff(), **SOLID
    )
    moved = sa.fix(body["x1"], ["y"], displacement=(0.0, 0.3, 0.0), name="moved")
    return [body], [sa.fix(body["x0"]), moved]


def plate() -> Model:
    given = SOLID | {"thickness": 0.2}
    body = sa.Body(
        sa.Mesh.box((2, 1), (3, 2))["body"], ancf_plate, saint_venant_kirchhoff(), **given
    )
    return [body], [sa.fix(body["x0"]), sa.force(body["x1"], (0, 0, -1e-3))]


def oblique(X: Array) -> Array:
    """Turn a mesh by 30 degrees."""
    c, s = math.cos(math.pi / 6), math.sin(math.pi / 6)
    out: Array = np.stack([c * X[:, 0] - s * X[:, 1], s * X[:, 0] + c * X[:, 1], 0 * X[:, 0]], 1)
    return out


def thin_plate() -> Model:
    """A clamped edge that is parallel to no axis: slopes held by multipliers."""
    mesh = sa.Mesh.box((2, 1), (3, 2), warp=oblique)
    body = sa.Body(mesh["body"], ancf_thin_plate, kirchhoff(), **SOLID, thickness=0.2)
    return [body], [sa.fix(body["x0"]), sa.force(body["x1"], (0, 0, -1e-3))]


def rope() -> Model:
    """Lengths of two edges that are kept, and a constraint of the user."""

    def height(r_a: Any, *, h: Any) -> Any:
        return r_a[2] - h * r_a[0]

    mesh = sa.Mesh.box((2.0,), (5,))
    body = sa.Body(mesh["body"], ancf_cable, cable(), EA=1.0, EI=0.01)
    end = sa.Constraint(height, body.at((2.0, 0.0, 0.0)), h=0.1)
    return [body], [sa.fix(body["x0"]), end, sa.length(body["body"], per="line")]


def rigid() -> Model:
    """Rigid bodies, whose axes are unknowns, with joints; one is there twice."""
    first = sa.RigidBody.box((1.0, 0.2, 0.2), position=(0.5, 0, 0), rho=1.0, name="first")
    second = sa.RigidBody.box((1.0, 0.2, 0.2), position=(1.5, 0, 0), rho=1.0, name="second")

    def spring(r_a: Any, r_b: Any, *, k: Any) -> Any:
        return k / 2 * (r_a - r_b).dot(r_a - r_b)

    def field(e1_a: Any, *, k: Any) -> Any:
        return k * e1_a[2] * e1_a[0]

    knee = (first.at((0.5, 0, 0)), second.at((-0.5, 0, 0)))
    terms = [
        sa.joints.spherical(first.at((-0.5, 0, 0)), sa.ground.at((0, 0, 0)), name="foot"),
        sa.joints.revolute(*knee, axis=(0, 1, 0), name="knee"),
        sa.joints.spherical(*knee, name="again"),
        sa.Potential(spring, second.at((0.5, 0, 0)), sa.ground.at((2.0, 1.0, 0.5)), k=-0.3),
        sa.Potential(field, first.centre, k=0.7),
    ]
    return [first, second], terms


def in_the_plane() -> Model:
    """Planar bodies with angles, a flexure, a joint and a constraint of angles."""

    def ratio(theta_a: Any, theta_b: Any, *, i: Any) -> Any:
        return theta_b - i * theta_a

    def weight(r_a: Any, theta_a: Any, *, k: Any) -> Any:
        return 0.3 * r_a[0] ** 2 - k * r_a[1] ** 2 + k * sp.cos(2 * theta_a)

    a = sa.PlanarBody(position=(1.0, 0.0), name="a")
    b = sa.PlanarBody(position=(2.0, 0.0), name="b")
    c = sa.PlanarBody(position=(3.0, 0.0), name="c")
    terms = [
        sa.Flexure.straight(
            sa.ground.at((0.0, 0.0)), a.at((0, 0)), EI=1.0, EA=10.0, model="consistent"
        ),
        sa.joints.revolute(a.at((0.5, 0.0)), b.at((-0.5, 0.0))),
        sa.Constraint(ratio, b.at((0, 0)), c.at((0, 0)), i=2.0),
        *(sa.Potential(weight, body.at((0, 0)), k=k) for k, body in ((0.5, b), (-0.4, c))),
    ]
    return [a, b, c], terms


def balloon(heavy: bool) -> Model:
    """A gas, whose pressure is an unknown; with a negative bulk modulus or a positive one."""
    mesh = sphere(1)
    body = sa.Body(
        mesh["skin"], ancf_plate, saint_venant_kirchhoff(), **SOLID, thickness=0.1,
        direction=lambda X: X,
    )  # fmt: skip
    held = sa.fix(body.at(np.array([1.0, 1.0, 1.0]) / math.sqrt(3.0)), "all")
    gas = sa.Gas(1.5 if heavy else 1.01, ambient=0.02)
    return [body], [held, sa.Cavity(body["skin"], gas=gas)]


def tied() -> Model:
    """Two bodies tied along nodes that do not match, a roller, and a rod to the ground."""
    low = sa.Body(
        sa.Mesh.box((1, 1, 1), (1, 1, 1), name="low")["body"], hex8_plain, saint_venant_kirchhoff(),
        **SOLID, name="low",
    )  # fmt: skip
    shift = np.array([0.1, 0.1, 1.0])
    mesh = sa.Mesh.box((0.8, 0.8, 1), (2, 2, 1), warp=lambda X: X + shift, name="high")
    high = sa.Body(mesh["body"], hex8_plain, saint_venant_kirchhoff(), **SOLID, name="high")
    rod = sa.joints.distance(high.at((0.9, 0.9, 2.0)), sa.ground.at((2.0, 2.0, 2.0)), 1.5)
    return [low, high], [sa.fix(low["z0"]), sa.joints.tie(high["z0"], low), rod]


MODELS: dict[str, Callable[[], Model]] = {
    "solid": solid, "plate": plate, "thin plate": thin_plate, "rope": rope, "rigid": rigid,
    "planar": in_the_plane, "soft balloon": lambda: balloon(False),
    "tight balloon": lambda: balloon(True), "tied": tied,
}  # fmt: skip


class Dense:
    """The tangent of a problem on every rank, with the rows that are not held."""

    def __init__(self, problem: sa.StaticProblem) -> None:
        numbering, comm = problem.solver.numbering, problem.system.comm
        rows = numbering.coordinate_of_row
        start, columns, values = problem.J.getValuesCSR()
        mine = ss.csr_matrix((values, columns, start), (len(rows), numbering.size)).toarray()
        free = np.ones(len(rows), dtype=bool)
        free[numbering.prescribed_rows] = False
        whole = np.concatenate(comm.allgather(mine))
        keep = np.concatenate(comm.allgather(free))
        kinds = {
            kind: np.concatenate(comm.allgather(numbering.those(kind)[rows]))[keep]
            for kind in ("multiplier", "algebraic")
        }
        self.matrix: Array = whole[np.ix_(keep, keep)]
        self.multiplier, self.gas = kinds["multiplier"], kinds["algebraic"]

    def unstable(self) -> int:
        """Return the negative eigenvalues along what constraints leave free, gas eliminated."""
        A, m, g = self.matrix, self.multiplier, self.gas
        q = ~(m | g)
        K, G, D = A[np.ix_(q, q)], A[np.ix_(q, g)], A[np.ix_(g, g)]
        if g.any():
            K = K - G @ np.linalg.solve(D, G.T)
        if m.any():
            B = A[np.ix_(m, q)]
            Z = la.null_space(B / np.abs(B).max(axis=1, keepdims=True), rcond=1e-10)
            K = Z.T @ K @ Z
        values = np.linalg.eigvalsh((K + K.T) / 2.0)
        assert np.abs(values).min() > 1e-9 * np.abs(values).max()
        return int((values < 0.0).sum())


def shaken(problem: sa.StaticProblem, amplitude: float, seed: int) -> int:
    """Move all unknowns at random and assemble; return the number of bad points."""
    chance = np.random.default_rng(seed + 100 * problem.system.comm.rank)
    x = problem.solver.vectors.new()
    problem.solver.vectors.to_global(problem.system.state, x)
    ours = x.getArray()
    x.setArray(ours + amplitude * chance.standard_normal(len(ours)))
    state = problem.system.state
    problem.solver.vectors.to_local(x, state)
    return int(problem.system.comm.allreduce(problem.solver.linear.linearize(state)))


def prepared(bodies: list[Any], terms: list[Any]) -> sa.StaticProblem:
    """Return a problem whose operators are there."""
    problem = sa.StaticProblem(sa.System(*bodies, terms=terms), check_held=False)
    problem.solver.prepare()
    return problem


@pytest.mark.collective(rows=3)
@pytest.mark.parametrize("model", MODELS)
def test_negative_pivots_are_those_of_a_dense_matrix(model: str) -> None:
    problem = prepared(*MODELS[model]())
    stability, start = problem.solver.stability, problem.system.state.copy()
    assert stability.how == "pivots"
    seen = set()
    for amplitude in (1e-3, 0.03, 0.1, 0.3):
        for seed in range(3):
            problem.system.state[:] = start
            shaken(problem, amplitude, seed)
            wanted = Dense(problem).unstable()
            assert stability.negative() == wanted, (amplitude, seed)
            seen.add(wanted)
    assert len(seen) > 1
    stability.release()


def follower() -> Model:
    """A push along the director of a plate."""

    def push(v_a: Any, d_a: Any, *, P: Any) -> Any:
        return {v_a: -P * d_a}

    (sheet,), terms = plate()
    return [sheet], [*terms, sa.VirtualWork(push, sheet.at((1.9, 0.5, 0.0)), P=2.0)]


def crossed() -> Model:
    """Forces on planar bodies by angles and places of others."""

    def force(v_a: Any, omega_b: Any, theta_b: Any, r_a: Any, *, c: Any) -> Any:
        return {v_a[0]: c * theta_b, v_a[1]: -c * r_a[0], omega_b: c * r_a[1] ** 2 - c * r_a[0]}

    (a, b, c), terms = in_the_plane()
    return [a, b, c], [*terms, sa.VirtualWork(force, a.at((0, 0)), c.at((0, 0)), c=3.0)]


def inflated() -> Model:
    """A gas beside a pressure that follows one side of an open plate."""
    bodies, terms = balloon(True)
    sheet, held = plate()
    return [*bodies, *sheet], [*terms, *held, sa.pressure(sheet[0]["body"].face(+1), 0.02)]


UNSYMMETRIC = {"follower": follower, "crossed": crossed, "inflated": inflated}


@pytest.mark.parametrize("model", UNSYMMETRIC)
def test_a_determinant_has_the_sign_of_a_dense_one(model: str) -> None:
    problem = prepared(*UNSYMMETRIC[model]())
    stability, start = problem.solver.stability, problem.system.state.copy()
    assert stability.how == "determinant"
    seen = set()
    for amplitude in (0.01, 0.1, 0.3, 0.6):
        for seed in range(4):
            problem.system.state[:] = start
            shaken(problem, amplitude, seed)
            A = Dense(problem).matrix
            assert np.abs(A - A.T).max() > 1e-6
            sign, _ = np.linalg.slogdet(A)
            assert stability.negative() == int(sign < 0), (amplitude, seed)
            seen.add(sign)
    assert len(seen) == 2
    stability.release()


@pytest.mark.parametrize("pc_type", ["fixed", "lu"])
def test_the_factors_that_count_serve_for_the_next_solution(pc_type: str) -> None:
    """A cable under a thrust below and above the load at which it buckles, and below it again."""
    if pc_type == "fixed" and MPI.COMM_WORLD.size > 1:
        pytest.skip("factors on a fixed pattern are for one rank")
    EA, P = 1e4, sa.Parameter("P", 2.0)
    beam = sa.Body(sa.Mesh.box((1.0,), (8,))["body"], ancf_cable, cable(), EA=EA, EI=1.0)
    push = sa.force(beam["x1"], (lambda t: -P.value, 0.0, 0.0))
    system = sa.System(beam, terms=[sa.fix(beam["x0"]), sa.planar(beam), push])
    problem, counts, made = sa.StaticProblem(system, options={"pc_type": pc_type}), [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for P.value in (2.0, 2.6, 2.4, 25.0, 1.0):  # pi^2 / 4 = 2.467 and 22.2 buckle
            history = problem.solve(jump=True)
            counts.append(history.steps[-1].unstable)
            stability = problem.solver.stability
            fixed = stability.linear.fixed
            made.append(stability._factors._pc if fixed is None else fixed.present)
    assert counts == [0, 1, 0, 2, 0]
    assert made[0] is not None
    assert all(factors is made[0] for factors in made)


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize("options", [{}, {"ksp_type": "gmres", "pc_type": "lu"}], ids=["", "gmres"])
@pytest.mark.parametrize("step", [0.3, 1.0, 7.0])
def test_signs_place_bifurcations(step: float, options: dict[str, str]) -> None:
    """A thrust as a virtual work; on several ranks the signs come from the solver's factors."""

    def push(v_a: Any, *, P: Any) -> Any:
        return {v_a: [-P, 0, 0]}

    EA, P = 1e4, sa.Parameter("P")
    beam = sa.Body(sa.Mesh.box((1.0,), (16,))["body"], ancf_cable, cable(), EA=EA, EI=1.0)
    thrust = sa.VirtualWork(push, beam.at((1.0, 0.0, 0.0)), P=P)
    system = sa.System(beam, terms=[sa.fix(beam["x0"]), sa.planar(beam), thrust])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        history = sa.StaticProblem(system, options=options).follow(P, to=30.0, step=step)
    assert history.search == "odd"
    found = [point.parameter for point in history.bifurcations]
    buckling = [EA / 2 * (1 - math.sqrt(1 - (k * math.pi) ** 2 / EA)) for k in (1, 3)]
    assert found == pytest.approx(buckling, rel=2e-5)
