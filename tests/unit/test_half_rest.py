# SPDX-License-Identifier: BSD-3-Clause
"""What contact and gas add beside the tangent by halves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symancf as sa
from symancf.assembly.form import keeps_nodes
from symancf.assembly.half import Half, write_tangent
from symancf.assembly.node_entries import merged
from symancf.solve import cost as cost_module
from symancf.solve import preconditioner
from symancf.solve.bordered import Bordered

pytestmark = pytest.mark.collective

CORNERS = np.array([[i >> 0 & 1, i >> 1 & 1, i >> 2] for i in (0, 1, 3, 2, 4, 5, 7, 6)])
KINDS = "gas", "ball", "blocks"


def hollow(chambers: int, unit: float = 1.0) -> sa.Mesh:
    """Return a row of cubes, each of 3 x 3 x 3 cells without the one in the middle."""
    index = np.indices((3 * chambers + 1, 4, 4)).reshape(3, -1).T
    first = index[(index < (3 * chambers, 3, 3)).all(axis=1)]
    first = first[(first % 3 != 1).any(axis=1)]
    cells = (first[:, None] + CORNERS) @ [16, 4, 1]
    region = {"body": ("hexahedron", np.arange(len(cells)))}
    mesh = sa.Mesh.from_arrays(unit / 3.0 * index, {"hexahedron": cells}, region)
    mesh.select("x0", lambda X: X[:, 0] < 1e-9 * unit)
    for k in range(chambers):
        middle = unit * np.array([k + 0.5, 0.5, 0.5])
        mesh.select(f"in{k}", lambda X, at=middle: (abs(X - at) < 0.2 * unit).all(axis=1))
    return mesh


def system_of(
    kind: str,
    unit: float = 1.0,
    way: tuple[float, float, float] = (0.02, 0.0, -0.1),
    finer: int = 1,
    **material: Any,
) -> sa.System:
    """Return a row of cubes with gas; or blocks on a rigid ball, on each other, with friction."""
    rubber = {"mu": 1.0 / unit**2, "lam": 4.0 / unit**2} | material
    element, law = sa.elements.hex8_plain, sa.energies.neo_hooke()
    if kind == "gas":
        body = sa.Body(hollow(2, unit)["body"], element, law, **rubber)
        outside = 0.1 / unit**2
        amounts: list[Any] = [lambda t: 1.0 + t, 1.0]
        air = [sa.Gas(amount, ambient=outside) for amount in amounts]
        cavities = [sa.Cavity(body[f"in{k}"], gas=gas, name=f"g{k}") for k, gas in enumerate(air)]
        return sa.System(body, terms=[sa.fix(body["x0"]), *cavities])
    size = (3.0, 2.0, 2.0)
    above = np.array([0.2, 0.1, 2.0])
    meshes = [
        sa.Mesh.box(size, (3 * finer, 2, 2)),
        sa.Mesh.box(size, (2 * finer, 2, 3), warp=lambda X: X + above),
    ]
    bodies = [
        sa.Body(mesh["body"], element, law, name=name, **rubber)
        for mesh, name in zip(meshes, ("lower", "upper"), strict=True)
    ]
    lower, upper = bodies
    down = sa.fix(upper["z1"], displacement=lambda t: tuple(t * np.array(way)))
    if kind == "ball":
        ball = sa.Sphere(4.0, (1.6, 1.0, -2.02))
        return sa.System(upper, terms=[sa.Contact(upper["z0"], ball, mu=0.3), down])
    touch = sa.Contact(upper["z0"], lower["z1"], mu=0.3)
    return sa.System(*bodies, terms=[sa.fix(lower["z0"]), touch, down])


@pytest.mark.collective(rows=3)
@pytest.mark.parametrize("kind", KINDS)
def test_products_are_those_of_aij(kind: str) -> None:
    system = system_of(kind)
    discrete = system._discrete
    half, numbering = discrete.half, discrete.numbering
    free = numbering.fixed_by < 0
    discrete.state[free] = 0.01 * numbering.random(1)[free]
    discrete.state[free & numbering.those("position")] -= 0.02
    discrete.revise(0.5)
    discrete.update(0.5)
    assert half is not None
    assert half.rest is not None
    counted = discrete.sum(np.array([float(half.rest.nonzeros)]))
    assert 0.0 < counted[0] < discrete.sum(np.array([float(discrete.matrix.nonzeros)]))[0]
    rows = np.ones(numbering.rows, dtype=bool)
    rows[numbering.prescribed_rows] = False
    f, found = np.zeros_like(discrete.state), []
    for storage in (discrete.matrix, half, discrete.matrix, half):  # each once more
        write_tangent(storage, lambda to=storage: discrete.assembler.tangent(discrete.state, f, to))
        x, y = storage.mat.createVecs()
        x.setArray(numbering.to_rows(numbering.random(2)))
        storage.mat.mult(x, y)
        found.append((y.getArray()[rows], storage.mat.getDiagonal().getArray()[rows]))
    for mine, others in zip(found[0], found[1], strict=True):
        largest = np.abs(mine).max(initial=0.0)
        assert np.abs(mine - others).max(initial=0.0) <= 1e-6 * max(1.0, largest)
    for once, again in zip(found[:2], found[2:], strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(once, again, strict=True))


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize("kind", KINDS)
def test_solutions_are_those_of_factors(kind: str) -> None:
    states = []
    for kinds in ({"pc_type": "grids"}, {"pc_type": "lu", "ksp_type": "preonly"}):
        system = system_of(kind)
        problem = sa.StaticProblem(system, options=kinds, check_held=False)
        problem.solve(step=0.5)
        states.append(system._discrete.state.copy())
        if kinds["pc_type"] == "grids":
            krylov, half = problem.solver.krylov, system._discrete.half
            assert krylov is not None
            assert krylov.storage is half
            assert krylov.multigrid is not None
            method = krylov.ksp.getType()
            assert method == ("cg" if kind == "gas" else "gmres")
    size = np.abs(states[1]).max(initial=0.0)
    assert np.abs(states[0] - states[1]).max(initial=0.0) <= 1e-8 * max(size, 0.05)


def test_lists_that_change_have_places() -> None:
    """A block slides over two cells, back to a state before, and on: as with factors."""
    states: list[np.ndarray[Any, Any]] = []
    for kinds in ({"pc_type": "grids"}, {"pc_type": "lu", "ksp_type": "preonly"}):
        system = system_of("blocks", way=(2.0, 0.3, -0.1), finer=2)
        problem = sa.StaticProblem(system, options=kinds, check_held=False)
        problem.solve(to=0.25, step=0.25)
        middle, half = problem.state, system._discrete.__dict__.get("half")
        first = 0 if half is None else half.revision
        problem.solve(to=1.0, step=0.25)
        assert half is None or half.revision > first
        states.append(system._discrete.state.copy())
        problem.restore(middle)
        problem.solve(to=1.0, step=0.25)
        states.append(system._discrete.state.copy())
    for other in states[:3]:
        assert np.abs(other - states[3]).max(initial=0.0) <= 1e-8


@pytest.mark.collective(rows=0)
def test_gas_in_other_units_and_with_stiff_walls() -> None:
    """Millimetres; K/mu = 1,000: the same pressure and iterations of CG within a few."""
    found = []
    for unit, ratio in ((1.0, 4.0), (1e3, 4.0), (1.0, 1e3)):
        stiff = {"lam": ratio / unit**2}
        system = system_of("gas", unit, **stiff)
        problem = sa.StaticProblem(system, options={"pc_type": "grids"})
        problem.solve(step=1.0)
        levels = problem.solver.krylov._preconditioner._multigrid  # type: ignore[union-attr]
        assert isinstance(levels, Bordered)
        assert levels.count == 2
        found.append([term.pressure(system) * unit**2 for term in system.terms[1:]])
    assert np.allclose(found[0], found[1], rtol=1e-9)
    assert found[2][0] > found[0][0] > 0.01


def test_many_cavities_keep_aij(monkeypatch: pytest.MonkeyPatch) -> None:
    pressures = []
    for most in (preconditioner.MOST_BORDERS, 1):
        monkeypatch.setattr(preconditioner, "MOST_BORDERS", most)
        system = system_of("gas")
        problem = sa.StaticProblem(system, options={"pc_type": "grids"})
        problem.solve(step=1.0)
        krylov = problem.solver.krylov
        assert krylov is not None
        assert isinstance(krylov.storage, Half) == (most > 1)
        pressures.append([term.pressure(system) for term in system.terms[1:]])
    assert np.allclose(*pressures, rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_memory_of_other_terms_is_predicted(kind: str) -> None:
    system = system_of(kind)
    cost = sa.StaticProblem(system, options={"pc_type": "grids"}, check_held=False).cost()
    assert not all(keeps_nodes(form) for form in system._discrete.forms)
    by_aij = cost_module.BYTES_OF_TANGENT["grids"] * cost.entries
    vectors = cost_module.BYTES_OF_UNKNOWN * cost.unknowns
    directions = 0.0 if kind == "gas" else cost_module.BYTES_OF_DIRECTIONS * cost.unknowns
    entries = cost.more - vectors - directions
    assert cost_module.BYTES_OF_TANGENT["halves"] * cost.entries < entries < by_aij


def test_bodies_with_other_unknowns_keep_aij() -> None:
    mesh = sa.Mesh.box((1.0, 1.0), (2, 2))
    numbers = {"mu": 1.0, "lam": 2.0, "thickness": 0.1}
    plate = sa.Body(mesh["body"], sa.elements.ancf_plate, sa.energies.neo_hooke(), **numbers)
    assert not sa.System(plate, terms=[sa.fix(plate["x0"])])._discrete.has_halves


def test_patterns_are_merged() -> None:
    rng = np.random.default_rng(1)
    one, other = (rng.random((9, 12)) < share for share in (0.4, 0.2))
    other[[0, 3, 8]] = False
    starts, columns = [], []
    for pattern in (one, other, one | other):
        row, column = np.nonzero(pattern)
        starts.append(np.searchsorted(row, np.arange(10)).astype(np.int32))
        columns.append(column.astype(np.int32))
    start, column = merged(starts[0], columns[0], starts[1], columns[1])
    assert np.array_equal(start, starts[2])
    assert np.array_equal(column, columns[2])
