# SPDX-License-Identifier: BSD-3-Clause
"""The tangent by halves in single precision, beside PETSc's AIJ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from mpi4py import MPI

import symancf as sa

if TYPE_CHECKING:
    from symancf.arrays import Array
    from symancf.runtime.petsc import PETSc

pytestmark = pytest.mark.collective

TWICE = "hexahedra", "quadratic tetrahedra", "hexahedra of 27 nodes"


def block(
    kind: str = "hexahedra", unit: float = 1.0, *, follower: bool = False, **material: Any
) -> sa.System:
    """Return a block with nodes that are free, held along an axis, and held.

    `follower`: under a pressure on a side that is open, whose tangent is not symmetric.
    """
    element: Any = dict(
        zip(TWICE, (sa.elements.hex8_plain, sa.elements.tet10, sa.elements.hex27), strict=True)
    )[kind]
    mesh = sa.Mesh.box((unit, unit, unit), (5, 4, 3), cell=element.cell)
    rubber = {"mu": 1.0, "lam": 10.0} | material
    body = sa.Body(mesh["body"], element, sa.energies.neo_hooke(), **rubber)
    mu = rubber["mu"]
    terms: list[Any] = [sa.fix(body["x0"]), sa.fix(body["y0"], "y")]
    if follower:
        terms += [sa.pressure(body[x], lambda t: 0.05 * mu * (1.0 + t)) for x in ("x1", "z1")]
    else:
        terms.append(sa.traction(body["x1"], (0.0, 0.05 * mu, lambda t: 0.1 * mu * t)))
    return sa.System(body, terms=terms)


def products(system: sa.System, rows: Array) -> tuple[PETSc.Vec, PETSc.Vec]:
    """Return the products of both storages at a strained state with a vector of rows."""
    discrete = system._discrete
    free = discrete.numbering.fixed_by < 0
    discrete.state[free] = 0.01 * discrete.numbering.random(1)[free]
    discrete.update(0.0)
    assert discrete.half is not None
    found = []
    for storage in (discrete.matrix, discrete.half):
        assert not discrete.assembler.tangent(discrete.state, np.zeros_like(free, float), storage)
        x, y = discrete.matrix.mat.createVecs()
        x.setArray(rows)
        storage.mat.mult(x, y)
        found.append(y)
    return found[0], found[1]


@pytest.mark.collective(rows=3)
@pytest.mark.parametrize("kind", TWICE)
def test_products_are_those_of_aij_to_single_precision(kind: str) -> None:
    system = block(kind)
    numbering = system._discrete.numbering
    v, w = (numbering.to_rows(numbering.random(seed)) for seed in (2, 3))
    expected, found = products(system, v)
    diagonals = [s.mat.getDiagonal() for s in (system._discrete.matrix, system._discrete.half)]
    free = np.ones(numbering.rows, dtype=bool)
    free[numbering.prescribed_rows] = False
    assert np.array_equal(found.getArray()[~free] != 0.0, v[~free] != 0.0)
    for pair in ((expected, found), diagonals):
        size, (one, other) = pair[0].norm(3), (vector.getArray()[free] for vector in pair)
        assert np.abs(one - other).max(initial=0.0) < 1e-6 * size
    across = products(system, w)[1]
    pairs = (found.getArray(), w), (across.getArray(), v)
    one, other = (float(system._discrete.sum(np.array([a @ b]))[0]) for a, b in pairs)
    # two ranks add the cells of a pair in other orders
    near = 1e-13 if system.comm.size == 1 else 1e-8
    assert abs(one - other) < near * (abs(one) + diagonals[0].norm())


@pytest.mark.parametrize("kind", TWICE)
def test_skew_parts_of_follower_pressure_are_in_products(kind: str) -> None:
    system, plain = block(kind, follower=True), block(kind)
    numbering = system._discrete.numbering
    v = numbering.to_rows(numbering.random(2))
    expected, found = products(system, v)
    without = products(plain, v)[1]
    free = np.ones(numbering.rows, dtype=bool)
    free[numbering.prescribed_rows] = False
    one, other, third = (x.getArray()[free] for x in (expected, found, without))
    size = expected.norm(3)
    assert np.abs(one - other).max(initial=0.0) < 1e-6 * size
    most = np.abs(one - third).max(initial=0.0)
    assert system.comm.allreduce(float(most), MPI.MAX) > 1e-4 * size
    largest, half = 0.0, system._discrete.half
    assert half is not None
    for _, skew in half.skew_parts:
        assert np.array_equal(skew, -skew.transpose(0, 2, 1))
        largest = max(largest, float(np.abs(skew).max(initial=0.0)))
    assert system.comm.allreduce(largest, MPI.MAX) > 0.0


@pytest.mark.collective(rows=3)
def test_products_with_the_transpose_are_those_of_aij() -> None:
    system = block(follower=True)
    numbering, half = system._discrete.numbering, system._discrete.half
    v = numbering.to_rows(numbering.random(2))
    plain, _ = products(system, v)
    x, found = system._discrete.matrix.mat.createVecs()
    x.setArray(v)
    expected = found.duplicate()
    system._discrete.matrix.mat.multTranspose(x, expected)
    assert half is not None
    with half.transposing():
        half.mat.mult(x, found)
    size = expected.norm()
    found.axpy(-1.0, expected)
    assert found.norm() < 1e-6 * size
    plain.axpy(-1.0, expected)
    assert plain.norm() > 1e-4 * size  # it is another one


def test_follower_pressure_is_solved_by_halves_as_by_factors() -> None:
    systems = [block(follower=True) for _ in range(2)]
    choices: list[dict[str, Any]] = [{"pc_type": "grids"}, {"pc_type": "lu"}]
    steps = [
        sa.StaticProblem(system, options=options).solve(step=0.5).steps
        for system, options in zip(systems, choices, strict=True)
    ]
    assert "matrix" not in vars(systems[0]._discrete)
    one, exact = (system.state for system in systems)
    assert np.abs(one - exact).max(initial=0.0) < 1e-9
    assert np.abs(exact).max(initial=0.0) > 0.0 or not len(exact)
    assert steps[0][-1].iterations <= steps[1][-1].iterations + 1


@pytest.mark.collective(rows=0)
def test_translations_have_the_energy_that_they_have_in_double_precision() -> None:
    system = block()
    rows = system._discrete.numbering.to_rows(np.ones_like(system.state))
    rows[1::3] = 0.0  # some nodes cannot go along
    energies = [
        float(system._discrete.sum(np.array([rows @ y.getArray()]))[0])
        for y in products(system, rows)
    ]
    assert abs(energies[0] - energies[1]) < 1e-12 * abs(energies[0])


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize(("power", "follower"), [(110, False), (-110, True)])
def test_units_beyond_squares_of_single_precision_change_no_bit(power: int, follower: bool) -> None:
    states = []
    for factor in (1.0, 2.0**power):  # the last one needs a scale
        system = block(follower=follower, mu=factor, lam=10.0 * factor)
        problem = sa.StaticProblem(system, options={"pc_type": "grids"})
        problem.solve(step=0.5)
        assert system._discrete.half is not None
        states.append(system.state.copy())
    assert np.abs(states[0] - states[1]).max(initial=0.0) < 1e-13
    assert system._discrete.half.scale != 1.0


def test_multigrid_smooths_with_the_entries_themselves() -> None:
    systems = [block() for _ in range(3)]
    choices: list[dict[str, Any]] = [
        {"pc_type": "grids", "ksp_type": "cg"},
        {"pc_type": "grids", "ksp_type": "cg"},
        {"pc_type": "cholesky", "ksp_type": "preonly"},
    ]
    for system, options in zip(systems, choices, strict=True):
        problem = sa.StaticProblem(system, options=options)
        problem.solve(step=0.5)
        if options["pc_type"] == "grids":
            krylov = problem.solver.krylov
            assert krylov is not None
            assert krylov.multigrid is not None
            assert system._discrete.half is not None
            assert krylov.multigrid.levels[0].values is system._discrete.half.values
            assert "matrix" not in vars(system._discrete)
    one, again, exact = (system.state for system in systems)
    assert np.array_equal(one, again)
    assert np.abs(one - exact).max(initial=0.0) < 1e-9


def moving(
    options: dict[str, Any], *, follower: bool = False, viscous: bool = False
) -> tuple[sa.System, int]:
    """Return a block after a motion of three steps, and the iterations of these.

    It is damped by mass and stiffness.
    """
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (5, 4, 3))
    rubber: dict[str, Any] = {"mu": 1.0, "lam": 10.0}
    body = sa.Body(mesh["body"], sa.elements.hex8_plain, sa.energies.neo_hooke(), rho=0.5, **rubber)
    terms: list[Any] = [sa.fix(body["x0"]), sa.fix(body["y0"], "y")]
    if viscous:
        terms.append(sa.KelvinVoigt(body, eta=0.01))
    if follower:
        terms.append(sa.pressure(body["z1"], 0.05))
    else:
        terms.append(sa.traction(body["x1"], (0.0, 0.02, 0.05)))
    system = sa.System(body, terms=terms)
    damping, options = sa.Rayleigh(mass=0.1, stiffness=0.01), options | {"snes_rtol": 1e-11}
    problem = sa.DynamicProblem(system, damping=damping, options=options)
    history = problem.solve(to=0.3, step=0.1)
    return system, history.iterations


@pytest.mark.parametrize("follower", [False, True])
def test_motions_by_halves_are_those_by_factors(follower: bool) -> None:
    one, iterations = moving({"pc_type": "grids"}, follower=follower)
    exact, expected = moving({"pc_type": "lu"}, follower=follower)
    assert "matrix" not in vars(one._discrete)
    assert one._discrete.half_of_motion is one._discrete.half
    for a, b in ((one.state, exact.state), (one.rate, exact.rate)):
        assert np.abs(a - b).max(initial=0.0) < (1e-8 if follower else 1e-9)
    assert one.comm.allreduce(float(np.abs(exact.rate).max(initial=0.0)), MPI.MAX) > 1e-3
    assert iterations <= expected + 3


def test_motions_of_viscous_bodies_keep_aij() -> None:
    one, _ = moving({"pc_type": "grids"}, viscous=True)
    exact, _ = moving({"pc_type": "lu"}, viscous=True)
    assert one._discrete.half_of_motion is None
    assert np.abs(one.state - exact.state).max(initial=0.0) < 1e-8


def test_factors_take_over_in_a_motion_by_halves_and_give_it_back() -> None:
    states = []
    for limit in (None, 1):
        mesh = sa.Mesh.box((1.0, 1.0, 1.0), (4, 3, 3))
        rubber: dict[str, Any] = {"mu": 1.0, "lam": 10.0, "rho": 0.5}
        body = sa.Body(mesh["body"], sa.elements.hex8_plain, sa.energies.neo_hooke(), **rubber)
        load = sa.traction(body["x1"], (0.0, 0.02, 0.05))
        system = sa.System(body, terms=[sa.fix(body["x0"]), load])
        problem = sa.DynamicProblem(system, options={"pc_type": "grids", "snes_rtol": 1e-11})
        problem.solve(to=0.1, step=0.1)
        newton = problem._newton
        half = newton.motion.half
        assert half is not None
        if limit is not None:
            newton._store_in(None)
            assert newton.motion.storage is system._discrete.matrix
            newton.snes.getKSP().getPC().setType("lu")
            problem.solve(to=0.2, step=0.1)
            newton._store_in(half)
            assert newton.motion.storage is half
            newton.snes.getKSP().getPC().setType("grids")
            newton.preconditioner.attach()
        else:
            problem.solve(to=0.2, step=0.1)
        problem.solve(to=0.3, step=0.1)
        states.append(system.state.copy())
    assert np.abs(states[0] - states[1]).max(initial=0.0) < 1e-9
