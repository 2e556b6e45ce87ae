# SPDX-License-Identifier: BSD-3-Clause
"""Tangents of hexahedra of second order without their entries, and p-multigrid with them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import symancf as sa
from symancf.solve.multigrid import PMultigrid
from symancf.solve.statics.krylov import STORAGES
from tests.refusals import refused

if TYPE_CHECKING:
    from symancf.arrays import Array
    from symancf.assembly.matrix_free import MatrixFree

SECOND = "hex27", "hex20"


def arc(X: Array) -> Array:
    """Return the places of a box on an arc: middles of edges are not between their ends."""
    angle, radius = 0.6 * X[:, 0], 2.0 + X[:, 2]
    return np.stack([radius * np.sin(angle), X[:, 1], radius * np.cos(angle)], axis=1)


def block(
    kind: str, unit: float = 1.0, warp: Any = None, divisions: Any = (4, 3, 3), **rubber: float
) -> sa.System:
    """Return a block with nodes that are free, held along an axis, and held."""
    element = getattr(sa.elements, kind)
    mesh = sa.Mesh.box((unit, unit, unit), divisions, cell=element.cell, warp=warp)
    material = {"mu": 1.0, "lam": 10.0} | rubber
    body = sa.Body(mesh["body"], element, sa.energies.neo_hooke(), **material)
    load = sa.traction(body["x1"], (0.0, 0.0, lambda t: 0.05 * t * material["mu"]))
    return sa.System(body, terms=[sa.fix(body["x0"]), sa.fix(body["y0"], "y"), load])


def strained(system: sa.System) -> MatrixFree:
    """Return the tangent at a strained state."""
    discrete = system._discrete
    free = discrete.numbering.fixed_by < 0
    discrete.state[free] = 0.01 * discrete.numbering.random(1)[free]
    discrete.update(0.0)
    matrix = discrete.matrix_free
    assert matrix is not None
    assert not matrix.move(discrete.state)
    matrix.linearize()
    matrix.coarsen()
    return matrix


def interpolation(matrix: MatrixFree) -> Array:
    """Return P as a dense matrix of all local coordinates, on one rank."""
    numbering, corners = matrix.numbering, matrix.corners
    start = numbering.offset[:, numbering.block("position")]
    P = np.zeros((numbering.coordinates, 3 * corners.nodes))
    for vertex, at in enumerate(start):
        for q in range(matrix.start[vertex], matrix.start[vertex + 1]):
            corner = matrix.corner[matrix.column[q]]
            for a in range(3):
                held = corner < 0 or corners.prescribed[corner] >> a & 1
                P[at + a, 3 * corner + a] += 0.0 if held else matrix.weight[q]
    return P


@pytest.mark.parametrize(("kind", "warp"), [("hex27", arc), ("hex20", None)])
def test_parts_are_those_of_the_tangent(kind: str, warp: Any) -> None:
    system = block(kind, warp=warp, divisions=(3, 2, 2))
    matrix = strained(system)
    numbering, corners = matrix.numbering, matrix.corners
    K = system.matrices.tangent(scipy=True).toarray()
    free = numbering.free_owned
    number = np.full(numbering.coordinates, -1)
    number[free] = np.arange(len(free))
    start = numbering.offset[:, numbering.block("position")]
    for vertex, at in enumerate(start):
        own = number[at : at + 3]
        some = np.flatnonzero(own >= 0)
        expected = K[np.ix_(own[some], own[some])]
        found = matrix.diagonal[vertex][np.ix_(some, some)]
        assert np.abs(expected - found).max(initial=0.0) < 1e-13 * np.abs(K).max()
    P = interpolation(matrix)[free]
    coarse = P.T @ K @ P
    found = np.zeros_like(coarse)
    for i in range(corners.nodes):
        first, end = corners.start[i : i + 2]
        blocks = corners.values[9 * first : 9 * end].reshape(3, end - first, 3)
        for k, j in enumerate(corners.column[first:end]):
            found[3 * i : 3 * i + 3, 3 * j : 3 * j + 3] = blocks[:, k]
            found[3 * j : 3 * j + 3, 3 * i : 3 * i + 3] = blocks[:, k].T
    there = np.diagonal(coarse) > 0.0
    assert there.sum() > 3 * corners.nodes // 2
    error = (corners.scale * found - coarse)[np.ix_(there, there)]
    assert np.abs(error).max() < 1e-6 * np.abs(coarse).max()


@pytest.mark.collective(rows=4)
@pytest.mark.parametrize("kind", SECOND)
@pytest.mark.parametrize("at_points", [True, False])
def test_products_are_those_of_entries(kind: str, at_points: bool) -> None:
    system = block(kind)
    discrete = system._discrete
    assert discrete.matrix_free is not None
    discrete.matrix_free.at_points = at_points
    matrix, numbering = strained(system), discrete.numbering
    assert discrete.half is not None
    discrete.assembler.tangent(discrete.state, np.zeros_like(discrete.state), discrete.half)
    x, expected = matrix.mat.createVecs()
    x.setArray(numbering.to_rows(numbering.random(2)))
    discrete.half.mat.mult(x, expected)
    y = expected.duplicate()
    matrix.mat.mult(x, y)
    y.axpy(-1.0, expected)
    assert y.norm(3) < 1e-6 * expected.norm(3)
    free = np.ones(numbering.rows, dtype=bool)
    free[numbering.prescribed_rows] = False
    one, other = (m.mat.getDiagonal().getArray()[free] for m in (matrix, discrete.half))
    assert np.abs(one - other).max(initial=0.0) < 1e-6 * np.abs(other).max(initial=0.0)
    v = numbering.random(2)
    v[numbering.fixed_by >= 0] = 0.0
    v, f = v.astype(np.float32), np.zeros(len(v), dtype=np.float32)
    matrix.multiply(v, f)
    own = numbering.to_rows(f.astype(float)) * matrix.scale
    error = np.abs(own - expected.getArray()).max(initial=0.0)
    assert error < (5e-5 if at_points else 3e-6) * expected.norm(3)


@pytest.mark.parametrize(("k", "kind"), [(2_000.0, np.int16), (20_000.0, np.float32)])
def test_derivatives_have_32_bits_where_16_do_not_tell_shear(k: float, kind: type) -> None:
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1), cell="hexahedron27")
    law = {"C10": 0.5, "C20": 0.0, "C30": 0.0, "k": k}
    body = sa.Body(mesh["body"], sa.elements.hex27, sa.energies.yeoh(), volumetric="full", **law)
    discrete = sa.System(body, terms=[sa.fix(body["x0"])])._discrete
    matrix = discrete.matrix_free
    assert matrix is not None
    discrete.prescribe(0.0)
    matrix.move(discrete.state)
    matrix.linearize()
    assert [room.values.dtype for room in matrix._rooms.values()] == [kind]


def solved(system: sa.System, storage: str, **options: Any) -> tuple[Array, list[int]]:
    """Return the state and iterations of CG, and check that nothing else took over."""
    choice = {"mat_type": storage, "pc_type": "grids", "ksp_type": "cg", **options}
    problem = sa.StaticProblem(system, options=choice)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        history = problem.solve(step=0.5)
    krylov = problem.solver.krylov
    assert krylov is not None
    free = isinstance(krylov._preconditioner._multigrid, PMultigrid)
    assert free == (storage != "half")
    return system.state.copy(), [step.linear_iterations for step in history.steps]


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize(("kind", "warp"), [("hex27", arc), ("hex27", None), ("hex20", None)])
def test_solutions_are_those_with_entries(kind: str, warp: Any) -> None:
    half, by_half = solved(block(kind, warp=warp), "half")
    size = np.abs(half).max(initial=0.0)
    for storage in ("points", "shell"):
        state, iterations = solved(block(kind, warp=warp), storage)
        assert np.abs(state - half).max(initial=0.0) < 1e-8 * size
        assert sum(iterations) <= 1.4 * sum(by_half)


@pytest.mark.parametrize(("unit", "mu"), [(1e-6, 1e9), (1e-15, 1e-9), (1e3, 1e12)])
def test_units_change_no_iteration(unit: float, mu: float) -> None:
    state, iterations = solved(block("hex27"), "points")
    other, again = solved(block("hex27", unit, mu=mu, lam=10.0 * mu), "points")
    assert again == iterations
    assert np.abs(other / unit - state).max(initial=0.0) < 1e-7 * np.abs(state).max(initial=0.0)


def test_iterations_do_not_grow_with_the_number_of_cells() -> None:
    few, many = (
        sum(solved(block("hex27", divisions=(n, n, n)), "points", ksp_rtol=1e-8)[1]) for n in (3, 6)
    )
    assert many <= 1.25 * few


@pytest.mark.collective
def test_hardly_compressible_bodies_take_the_same_steps() -> None:
    half, by_half = solved(block("hex27", lam=500.0), "half")
    state, iterations = solved(block("hex27", lam=500.0), "points")
    assert np.abs(state - half).max(initial=0.0) < 1e-8 * np.abs(half).max(initial=0.0)
    assert sum(iterations) <= 1.2 * sum(by_half)


@pytest.mark.collective
def test_entries_take_over_with_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    half, _ = solved(block("hex27"), "half")

    def wrong(self: PMultigrid) -> None:  # the polynomial makes errors larger
        self.largest, self.lowest = 0.2, 0.01

    monkeypatch.setattr(PMultigrid, "_estimate", wrong)
    system = block("hex27")
    options: dict[str, Any] = {"mat_type": "points", "pc_type": "grids", "ksp_type": "cg"}
    problem = sa.StaticProblem(system, options=options)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        problem.solve(step=0.5)
    assert np.abs(system.state - half).max(initial=0.0) < 1e-8 * np.abs(half).max(initial=0.0)
    words = [str(w.message) for w in told if "-mat_type half" in str(w.message)]
    assert len(words) == (1 if system.comm.rank == 0 else 0)


@pytest.mark.parametrize(("n", "entries"), [(5, True), (10, False)])
def test_without_entries_from_twenty_thousand_unknowns_on(n: int, entries: bool) -> None:
    system = block("hex27", divisions=(n, n, n))
    options: dict[str, Any] = {"pc_type": "grids", "ksp_type": "cg"}
    problem = sa.StaticProblem(system, options=options)
    problem.solve(step=1.0)
    assert ("half" in vars(system._discrete)) == entries
    assert system.unknowns.size < 20_000 if entries else system.unknowns.size > 20_000


def test_what_is_not_possible_is_told() -> None:
    options: dict[str, Any] = {"mat_type": "full", "pc_type": "grids"}
    with refused(sa.SymancfError, asked="-mat_type", given="full", possible=STORAGES):
        sa.StaticProblem(block("hex27"), options=options).solve()
    options["mat_type"] = "points"
    with refused(sa.SymancfError, asked="-mat_type", given="points", possible=("half",)):
        sa.StaticProblem(block("hex8_plain"), options=options).solve()
