# SPDX-License-Identifier: BSD-3-Clause
"""Multigrid of tangents with multipliers: ties, joints, supports across the axes, pressures."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from mpi4py import MPI
from scipy.sparse import csr_array

import symancf as sa
from symancf.energies import saint_venant_kirchhoff, yeoh
from symancf.newton.dependent import Jacobian, JacobianRows
from symancf.newton.followers import followers
from symancf.runtime.collective import shares
from symancf.solve import solver
from symancf.solve.solver import DIRECT_UP_TO

pytestmark = pytest.mark.collective

Made = Callable[[], sa.System]


def block(
    name: str, divisions: int, x: float = 0.0, E: float = 1e3, rho: float | None = None
) -> sa.Body:
    """Return a cube at (x, 0, 0)."""
    shift = np.array([x, 0.0, 0.0])
    mesh = sa.Mesh.box((1.0,) * 3, (divisions,) * 3, name=name, warp=lambda X: X + shift)
    element = sa.elements.hex8_plain
    mass = {} if rho is None else {"rho": rho}
    return sa.Body(mesh["body"], element, saint_venant_kirchhoff(), name=name, E=E, nu=0.3, **mass)


def tied(ratio: float = 1.0, divisions: int = 6) -> sa.System:
    """Two blocks whose meshes do not match, the second one softer or stiffer."""
    a, b = block("a", divisions), block("b", divisions + 1, 1.0, 1e3 * ratio)
    load = sa.traction(b["x1"], (0.0, 0.0, 0.1 * min(1.0, ratio)))
    return sa.System(a, b, terms=[sa.fix(a["x0"]), sa.joints.tie(b["x0"], a), load])


def across() -> sa.System:
    """A turned block that slides along three of its faces."""
    turn = np.linalg.qr(np.arange(9.0).reshape(3, 3) ** 2 + np.eye(3))[0]
    mesh = sa.Mesh.box((1.0,) * 3, (6,) * 3, warp=lambda X: X @ turn.T)
    one = sa.Body(mesh["body"], sa.elements.hex8_plain, saint_venant_kirchhoff(), E=1e3, nu=0.3)
    held = [
        sa.fix(one[side], "normal", direction=tuple(turn[:, k].tolist()))
        for k, side in enumerate(("x0", "y0", "z0"))
    ]
    pull = sa.traction(one["x1"], tuple((20.0 * turn[:, 0]).tolist()))
    return sa.System(one, terms=[*held, pull])


def carried() -> sa.System:
    """A block on a rigid body that another block carries, hung from the ground at a corner."""
    a, b = block("a", 5), block("b", 4, 1.5)
    plate = sa.RigidBody.box((0.5, 1.0, 1.0), position=(1.25, 0.5, 0.5), rho=1.0, name="plate")
    joints = [sa.joints.clamp(a["x1"], plate), sa.joints.clamp(b["x0"], plate)]
    corner = sa.joints.spherical(b.at((2.5, 1.0, 1.0)), sa.ground)
    load = sa.traction(b["x1"], (0.0, 0.0, 0.5))
    return sa.System(a, b, plate, terms=[sa.fix(a["x0"]), *joints, corner, load])


def squeezed(element: Any, cell: str, pressure: Any, tie: bool = False) -> sa.System:
    """Incompressible rubber, also in two pieces whose meshes do not match."""
    bodies = []
    for k, count in enumerate((2, 3) if tie else (3,)):
        shift = np.array([float(k), 0.0, 0.0])
        mesh = sa.Mesh.box(
            (1.0,) * 3, (count,) * 3, cell=cell, name=f"{k}", warp=lambda X, s=shift: X + s
        )
        given = {"C10": 0.1, "C20": 0.01, "C30": 0.001, "k": math.inf}
        region, name = mesh["body"], f"piece {k}"
        bodies.append(sa.Body(region, element, yeoh(), name=name, pressure=pressure, **given))
    terms: list[Any] = [sa.fix(bodies[0]["x0"]), sa.traction(bodies[-1]["x1"], (0, 0, 1e-3))]
    if tie:
        terms.append(sa.joints.tie(bodies[1]["x0"], bodies[0]))
    return sa.System(*bodies, terms=terms)


def taylor_hood() -> sa.System:
    return squeezed(sa.elements.tet10, "tetra10", "continuous")


def of_cells() -> sa.System:
    return squeezed(sa.elements.hex27, "hexahedron27", "discontinuous")


def both() -> sa.System:
    return squeezed(sa.elements.tet10, "tetra10", "continuous", tie=True)


@pytest.mark.collective(rows=3)
@pytest.mark.parametrize(
    ("make", "most"),
    [
        (tied, 5),
        (lambda: tied(1e4), 6),
        (lambda: tied(1e-4), 5),
        (across, 9),
        (carried, 12),
        (taylor_hood, 40),
        (of_cells, 35),
        (both, 60),
    ],
)
def test_forces_of_constraints_are_those_of_a_direct_solver(make: Made, most: float) -> None:
    """`most` is the mean number of Krylov's iterations in an iteration of Newton's method."""
    found, counts = [], []
    for kind in ("lu", "grids"):
        system = make()
        problem = sa.StaticProblem(system, options={"pc_type": kind, "snes_rtol": 1e-12})
        (*_, step) = problem.solve().steps
        assert problem.snes.getKSP().getPC().getType() == kind
        bound = system._discrete.numbering.those("multiplier")
        scale = np.where(bound, system._discrete.stiffness, 1.0)
        found.append((system.state * scale, bound))
        counts.append((step.iterations, step.linear_iterations))
    assert counts[1][0] <= counts[0][0] + 2
    assert counts[1][1] <= most * counts[1][0]
    (state, bound), (other, _) = found
    for some, exact in ((bound, 2e-8), (~bound, 1e-7)):
        size, wrong = (
            system.comm.allreduce(float(np.abs(x[some]).max(initial=0.0)), op=max)
            for x in (state, other - state)
        )
        assert 0.0 < wrong < exact * size


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize("make", [tied, across, carried, both])
def test_followers_fulfil_the_equations(make: Made) -> None:
    system = make()
    system._discrete.update(0.0)
    system._discrete.assembler.tangent(
        system.state, np.zeros_like(system.state), system._discrete.matrix
    )
    numbering, comm = system._discrete.numbering, system.comm
    starts = shares(comm, numbering.rows)
    block = np.array(
        [b.kind == "multiplier" and not b.name.startswith("pressure") for b in numbering.blocks]
    )[numbering.block_of[numbering.coordinate_of_row]]
    rows = np.flatnonzero(block)
    vertex = numbering.vertex_of[numbering.coordinate_of_row][rows].astype(np.int64)
    found = followers(system._discrete.matrix, starts, rows, vertex, ~block)
    assert comm.allreduce(len(found.equations)) > 10
    K = system._discrete.matrix.mat
    x, y = K.createVecs()
    x.setRandom()
    free = x.getArray().copy()
    size = int(starts[-1])
    whole = np.concatenate(comm.allgather(free))
    T, by = np.zeros(size), np.concatenate(comm.allgather(found.of))
    every = [np.concatenate(comm.allgather(a)) for a in (found.column, found.factor)]
    np.add.at(T, by, every[1] * whole[every[0]])
    leaders = np.unique(np.concatenate(comm.allgather(found.by)))
    whole[leaders] = T[leaders]
    x.setArray(whole[starts[comm.rank] : starts[comm.rank + 1]])
    K.mult(x, y)
    assert (
        np.abs(y.getArray()[found.equations]).max(initial=0.0) < 1e-10 * system._discrete.stiffness
    )
    Q, equation = np.zeros(size), np.concatenate(comm.allgather(found.equation))
    of, inverse = (np.concatenate(comm.allgather(a)) for a in (found.by, found.inverse))
    phi = np.sin(1.0 + np.arange(size))
    np.add.at(Q, of, inverse * phi[equation])
    x.setArray(Q[starts[comm.rank] : starts[comm.rank + 1]])
    K.mult(x, y)
    mine = found.equations
    np.testing.assert_allclose(y.getArray()[mine], phi[starts[comm.rank] + mine], rtol=1e-9)


def eliminated(B: Any) -> int:
    """Return how many equations of one vertex, on this rank, have a coordinate that follows."""
    k, n = B.shape
    table = csr_array(np.hstack([np.zeros((k, k)), B]))
    empty = np.zeros(0, dtype=int)
    matrix: Any = SimpleNamespace(
        comm=MPI.COMM_SELF,
        diagonal_start=table.indptr,
        off_start=np.zeros(k + 1, dtype=int),
        columns=(table.indices, empty),
        values=(table.data, np.zeros(0)),
    )
    may = np.arange(k + n) >= k
    starts, rows = np.array([0, k + n]), np.arange(k)
    return len(followers(matrix, starts, rows, np.zeros(k, dtype=int), may).equations)


@pytest.mark.parametrize(("coordinates", "count"), [(200, 1), (300, 0)])
def test_no_coordinate_follows_very_many_others(coordinates: int, count: int) -> None:
    assert eliminated(np.array([[1.0, *(coordinates - 1) * [1e-3]]])) == count


@pytest.mark.parametrize(("apart", "count"), [(5e-2, 2), (5e-3, 1)])
def test_no_coordinate_follows_by_what_is_left_of_two_like_equations(
    apart: float, count: int
) -> None:
    assert eliminated(np.array([[1.0, 1.0], [1.0, 1.0 + apart]])) == count


def test_factors_take_over_where_iterations_do_not_end() -> None:
    states = []
    for options in ({"pc_type": "lu"}, {"pc_type": "grids", "ksp_max_it": 1}):
        system = tied()
        problem = sa.StaticProblem(system, options=options)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            problem.solve()
        found = [w for w in told if "multigrid did not solve" in str(w.message)]
        assert len(found) == (options["pc_type"] == "grids" and system.comm.rank == 0)
        states.append(system.state.copy())
    assert np.abs(states[1] - states[0]).max(initial=0.0) < 1e-10


def swinging() -> sa.System:
    """Two tied blocks and a rigid body at their end, which fall from rest."""
    a, b = (block(name, n, x, 1e5, 1e3) for name, n, x in (("a", 4, 0.0), ("b", 5, 1.0)))
    plate = sa.RigidBody.box((0.5, 1.0, 1.0), position=(2.25, 0.5, 0.5), rho=1e3, name="plate")
    joints = [sa.joints.tie(b["x0"], a), sa.joints.clamp(b["x1"], plate)]
    return sa.System(a, b, plate, terms=[sa.fix(a["x0"]), *joints, sa.gravity((0.0, 0.0, -9.81))])


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize("most", [None, 2])
def test_motions(monkeypatch: pytest.MonkeyPatch, most: int | None) -> None:
    """Large ones by default; factors take over where `most` iterations do not suffice."""
    monkeypatch.setitem(DIRECT_UP_TO, "multipliers", 500)
    found, counts = [], []
    for options in ({}, {"pc_type": "lu"}):
        system = swinging()
        if most and not options:
            options = {"ksp_max_it": most}
        problem = sa.DynamicProblem(system, options=options)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            history = problem.solve(to=0.04, step=0.02)
        warned = any("multigrid did not solve" in str(w.message) for w in told)
        assert warned == ("ksp_max_it" in options and system.comm.rank == 0)
        kind = problem.snes.getKSP().getPC().getType()
        assert kind == options.get("pc_type", "grids")
        bound = system._discrete.numbering.those("multiplier")
        found.append((system.state * np.where(bound, system._discrete.stiffness, 1.0), bound))
        counts.append(sum(step.iterations for step in history.steps))
        assert len(history.steps) == 2
        if kind == "grids" and not most:
            linear = sum(step.linear_iterations for step in history.steps)
            assert linear <= 8 * counts[0]
    assert counts[0] <= counts[1] + 6
    (state, bound), (other, _) = found
    for some, exact in ((bound, 1e-5), (~bound, 1e-7)):
        size, wrong = (
            system.comm.allreduce(float(np.abs(x[some]).max(initial=0.0)), op=max)
            for x in (state, other - state)
        )
        assert wrong < exact * size


def test_explicit_motions_solve_with_factors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DIRECT_UP_TO, "multipliers", 500)
    kinds = []
    for options in ({}, {"pc_type": "grids"}):
        problem = sa.DynamicProblem(swinging(), method="rk", options=options)
        problem.solve(to=1e-4, step=1e-4)
        kinds.append((problem.snes.getKSP().getType(), problem.system.state.copy()))
    assert [kind for kind, _ in kinds] == ["preonly", "fgmres"]
    assert np.abs(kinds[0][1] - kinds[1][1]).max(initial=0.0) < 1e-10


def test_sizes_choose(monkeypatch: pytest.MonkeyPatch) -> None:
    """Factors of small systems, and of those with many other unknowns than displacements."""
    kinds = []
    for limit, make in ((20_000, tied), (500, tied), (500, taylor_hood)):
        monkeypatch.setitem(DIRECT_UP_TO, "multipliers", limit)
        system = make()
        problem = sa.StaticProblem(system)
        problem.solve(to=0.1)
        kinds.append(problem.snes.getKSP().getPC().getType())
    assert kinds[1] == "grids"
    assert kinds[1] not in (kinds[0], kinds[2])


def test_equations_of_ties_stay_on_their_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    gather, entries = Jacobian.gather, []

    def counted(jacobian: Jacobian, rows: JacobianRows) -> JacobianRows | None:
        found = gather(jacobian, rows)
        entries.append(0 if found is None else len(found.row))
        return found

    monkeypatch.setattr(Jacobian, "gather", counted)
    tied()
    assert entries == [0]


def test_grids_are_laid_under_a_solid_with_gas_by_default() -> None:
    index = np.stack(np.meshgrid(*3 * [np.arange(4)], indexing="ij"), axis=-1).reshape(-1, 3)
    corners = [
        (0, 0, 0),
        (1, 0, 0),
        (1, 1, 0),
        (0, 1, 0),
        (0, 0, 1),
        (1, 0, 1),
        (1, 1, 1),
        (0, 1, 1),
    ]
    first = index[(index < 3).all(axis=1) & (index != 1).any(axis=1)]
    cells = (first[:, None] + corners) @ [16, 4, 1]
    mesh = sa.Mesh.from_arrays(
        index / 3.0, {"hexahedron": cells}, {"body": ("hexahedron", np.arange(26))}
    )
    mesh.select("x0", lambda X: X[:, 0] < 1e-9)
    mesh.select("inside", lambda X: ((X > 0.3) & (X < 0.7)).all(axis=1))
    found = []
    for options in ({"pc_type": "grids"}, {"pc_type": "lu"}):
        material = {"mu": 1.0, "lam": 4.0}
        body = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.neo_hooke(), **material)
        gas = sa.Cavity(body["inside"], gas=sa.Gas(amount=lambda t: 1.0 + t, ambient=0.1))
        system = sa.System(body, terms=[sa.fix(body["x0"]), gas])
        assert solver._over_grids(system._discrete, None)
        sa.StaticProblem(system, options=options).solve(step=0.5)
        found.append(gas.pressure(system))
    assert found[0] > 0.01
    assert abs(found[0] - found[1]) < 1e-9 * found[1]
