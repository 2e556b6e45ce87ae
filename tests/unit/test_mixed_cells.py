# SPDX-License-Identifier: BSD-3-Clause
"""Hexahedra, wedges and tetrahedra that share faces; regions with faces of two types."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
import pytest
from mpi4py import MPI

import symancf as sa
from symancf.mesh.conformity import side_keys
from symancf.output.samples import Samples
from symancf.output.vtu import pieces
from tests.refusals import refused

if TYPE_CHECKING:
    from pathlib import Path

    from symancf.arrays import Array, Ints
    from symancf.elements import Element

STRETCH = np.array([[1.3, 0.2, 0.0], [-0.1, 0.9, 0.3], [0.2, 0.0, 1.1]])
RUBBER = {"mu": 1.0, "lam": 1.5}
elements = sa.elements


def swayed(X: Array) -> Array:
    """Move all points, so that faces and edges are curved where they have nodes."""
    return X + 0.04 * np.sin(2.0 * X[:, [1, 2, 0]] + np.array([0.3, 1.0, 2.0]))


def facets_of(kind: str, cells: Ints) -> dict[str, Ints]:
    """Return all faces of cells by type."""
    row = elements.CELLS[kind]
    return {t: cells[:, row.sides(t)].reshape(-1, row.sides(t).shape[1]) for t in row.traces}


def once(parts: list[dict[str, Ints]]) -> list[dict[str, Ints]]:
    """Return those of some faces by type that nobody else has."""
    kinds = {kind for part in parts for kind in part}
    keys = {
        kind: np.concatenate([side_keys(kind, part[kind]) for part in parts if kind in part])
        for kind in kinds
    }
    single = {}
    for kind, found in keys.items():
        values, count = np.unique(found, return_counts=True)
        single[kind] = values[count == 1]
    return [
        {kind: rows[np.isin(side_keys(kind, rows), single[kind])] for kind, rows in part.items()}
        for part in parts
    ]


def three(kinds: dict[str, Element]) -> sa.Mesh:
    """Return cubes of hexahedra, wedges beside them and tetrahedra on the wedges."""
    corners = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 0.0, 1.0)]
    points, cells, count = [], {}, 0
    for kind, at in zip(kinds, corners, strict=True):
        mesh = sa.Mesh.box((1.0, 1.0, 1.0), (2, 2, 2), cell=kind, comm=MPI.COMM_SELF)
        points.append(mesh.points + at)
        cells[kind] = mesh.cells[kind].connectivity + count
        count += len(mesh.points)
    _, first, back = np.unique(
        np.rint(1e6 * np.concatenate(points)), axis=0, return_index=True, return_inverse=True
    )
    cells = {kind: back.ravel()[rows] for kind, rows in cells.items()}
    hull = once([facets_of(kind, rows) for kind, rows in cells.items()])
    regions = {f"hull of {k}": h for k, h in zip(kinds, hull, strict=True)}
    regions |= {kind: {kind: np.arange(len(rows))} for kind, rows in cells.items()}
    every = {t: np.concatenate([h[t] for h in hull if t in h]) for h in hull for t in h}
    regions["hull"] = every
    nodes = np.unique(np.concatenate([rows.ravel() for rows in every.values()]))
    return sa.Mesh.from_arrays(
        swayed(np.concatenate(points)[first]), cells, {**regions, "skin": ("vertex", nodes)}
    )


ORDERS = [
    (elements.hex20, elements.wedge15, elements.tet10),
    (elements.hex8_plain, elements.wedge6, elements.tet4),
]


@pytest.mark.collective
@pytest.mark.filterwarnings("ignore:.*tet4 locks")
@pytest.mark.parametrize("given", ORDERS, ids=["second", "first"])
def test_cells_that_share_faces(given: tuple[Element, ...]) -> None:
    """Affine states pass from cells to cells; a pressure on their hull has no resultant."""
    mesh = three({element.cell: element for element in given})
    hull = mesh["hull"]
    bodies = [
        sa.Body(part, e, sa.energies.neo_hooke(), name=e.cell, **RUBBER)
        for part, e in zip(mesh["all"].by_type, given, strict=True)
    ]
    own = {b.name: hull & mesh.select(f"sides of {b.name}", within=b.region) for b in bodies}
    loads = [sa.pressure(body[own[body.name]], 0.3) for body in bodies]
    cells = tuple(sorted(e.cell for e in given))
    with refused(sa.MeshError, asked="all", given=cells, possible=(given[0].cell,)):
        sa.Body(mesh["all"], given[0], sa.energies.neo_hooke(), **RUBBER)
    systems = sa.System(*bodies, terms=loads), sa.System(*bodies)
    state = systems[0].state + 0.05 * systems[0]._discrete.numbering.random(5)
    for system in systems:
        system._discrete.update(0.0)
    force = systems[0]._discrete.residual_at(state) - systems[1]._discrete.residual_at(state)
    numbering = systems[0]._discrete.numbering
    at = numbering.offset[: numbering.owned_vertices, 0][:, None] + np.arange(3)
    f = force[at]
    x = systems[0]._discrete.points[: len(f)] + state[at]
    total = systems[0]._discrete.sum(np.array([*f.sum(0), *np.cross(x, f).sum(0), np.abs(f).sum()]))
    assert total[6] > 0.3
    assert np.abs(total[:6]).max() < 1e-13 * total[6]

    def stretched(X: Array, t: float) -> Array:
        return t * X @ (STRETCH - np.eye(3)).T

    ends = [sa.fix(body[f"hull of {body.name}"], displacement=stretched) for body in bodies]
    system = sa.System(*bodies, terms=ends)
    sa.StaticProblem(system).solve()
    for body in bodies:
        X = body[body.name].X
        found = system.displacement(body[body.name])
        np.testing.assert_allclose(found, X @ (STRETCH - np.eye(3)).T, atol=1e-11)


@pytest.mark.collective
def test_a_mesh_of_second_order_is_read_as_one_of_first_order(shared_tmp_path: Path) -> None:
    """Nodes between corners vanish, also from regions; cells that were straight come first."""
    path = shared_tmp_path / "mesh.h5"
    curved, straight = (three({e.cell: e for e in given}) for given in ORDERS)
    curved.write(path)
    found = sa.Mesh.read(path, order=1)
    assert found.n_points == straight.n_points
    assert "quad8" not in found.cells
    for kind, shape in straight.quality().shapes.items():
        assert found.quality()[kind].size == pytest.approx(shape.size, rel=1e-14)
        assert found.cells[kind].size == straight.cells[kind].size
    for mine, region in zip(found.regions.values(), straight.regions.values(), strict=True):
        assert mine.sizes == region.sizes
    ends = found["skin"].points()
    assert found.comm.allreduce(len(ends)) == straight.comm.allreduce(
        len(straight["skin"].points())
    )
    box = sa.Mesh.box((1.0, 1.0, 1.0), (2, 2, 2), cell="hexahedron20", comm=MPI.COMM_SELF)
    brick = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 3), comm=MPI.COMM_SELF)
    points = np.concatenate([box.points, brick.points + np.array([2.0, 0.0, 0.0])])
    cells = {kind: c.connectivity for kind, c in box.cells.items()}
    cells |= {kind: c.connectivity + len(box.points) for kind, c in brick.cells.items()}
    regions = {"both": {"hexahedron20": [1, 6], "hexahedron": [2]}, "some": ("hexahedron", [1])}
    sa.Mesh.from_arrays(points, cells, regions).write(path)
    found = sa.Mesh.read(path, order=1)
    assert set(found.cells) == {"hexahedron", "quad"}
    assert found["both"].sizes == {"hexahedron": 3}
    x = found.fetch_points(found["both"].slice()[1]).mean(axis=1)
    x = np.concatenate(found.comm.allgather(x))
    expected = [[2.5, 0.5, 5 / 6], [0.75, 0.25, 0.25], [0.25, 0.75, 0.75]]
    np.testing.assert_allclose(x, expected, atol=1e-14)
    with refused(sa.ParameterError, asked="order", given=3, possible=(1, 2)):
        sa.Mesh.read(path, order=3)  # type: ignore[arg-type]
    curved.write(path)
    same = sa.Mesh.read(path, order=2)  # with its curved edges
    for kind, shape in curved.quality().shapes.items():
        assert same.quality()[kind].size == pytest.approx(shape.size, rel=1e-14)
    straight.write(path)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = sa.Mesh.read(path, order=2)
    texts = found.comm.bcast([str(w.message) for w in told])
    assert len(texts) == 1
    assert "regions of points hold corners alone" in texts[0]
    assert "'skin'" in texts[0]
    assert found.n_points == curved.n_points
    for kind, shape in straight.quality().shapes.items():  # tetra10 is that of tetra
        raised = {"hexahedron": "hexahedron20", "wedge": "wedge15", "tetra": "tetra10"}.get(kind)
        if raised is not None:
            assert found.quality()[raised].size == pytest.approx(shape.size, rel=1e-13)
            assert found[kind].sizes == {raised: straight.cells[kind].size}


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize(
    ("element", "through"),
    [(elements.wedge15, False), (elements.wedge15, True), (elements.wedge6, True)],
    ids=lambda given: getattr(given, "name", str(given)),
)
def test_walls_of_triangles_and_quadrilaterals(element: Element, through: bool) -> None:
    """A hole in wedges, closed or with lids at its ends, has the volume of what was there."""
    kind = element.cell
    whole = sa.Mesh.box((1.0, 1.0, 1.0), (3, 3, 3), cell=kind, comm=MPI.COMM_SELF)
    cells = whole.cells[kind].connectivity
    away = np.abs(whole.points[cells[:, :6]].mean(axis=1) - 0.5)
    middle = (away[:, int(through) :] < 0.2).all(axis=1)
    kept, gone = (facets_of(kind, rows) for rows in (cells[~middle], cells[middle]))
    hole = {t: rows[np.isin(side_keys(t, rows), side_keys(t, gone[t]))] for t, rows in kept.items()}
    (hull,) = once([kept])
    outer = {
        t: rows[~np.isin(side_keys(t, rows), side_keys(t, hole[t]))] for t, rows in hull.items()
    }
    points = swayed(whole.points)
    if through:  # lids are flat: so are the ends
        bump = 0.1 * np.sin(np.pi * whole.points[:, :1])
        points = whole.points + bump * whole.points[:, [2, 0, 1]]
    taken = sa.Mesh.from_arrays(points, {kind: cells[middle]}).quality()[kind].size
    mesh = sa.Mesh.from_arrays(points, {kind: cells[~middle]}, {"hole": hole, "outer": outer})
    assert len(mesh["hole"].sizes) == len(mesh["outer"].sizes) == 2
    body = sa.Body(mesh["all"], element, sa.energies.neo_hooke(), rho=2.0, **RUBBER)
    gas = sa.Cavity([body["hole"]], caps="flat", gas=sa.Gas(amount=1.3, ambient=0.5))
    base, pull = sa.fix(body["outer"]), sa.force(body["hole"], (0.0, 0.03, 0.0))
    system = sa.System(body, terms=[base, gas, pull, sa.gravity((0.0, 0.0, -0.01))])
    assert gas.watertight
    assert gas.reference_volume == pytest.approx(taken, rel=1e-12)
    sa.StaticProblem(system).solve()
    volume, first = gas.volume(system), gas.reference_volume
    assert volume > 1.02 * first
    assert (0.5 + gas.pressure(system)) * volume == pytest.approx(1.3 * 0.5 * first, rel=1e-9)
    weight = 2.0 * 0.01 * mesh.quality()[kind].size
    np.testing.assert_allclose(base.reaction(system).force, [0.0, -0.03, weight], atol=1e-10)


@pytest.mark.collective
def test_facets_of_two_types_touch_a_plane() -> None:
    """Those of the other type, at a corner, are in its way and add nothing."""
    found = []
    for name in ("floor", "corner"):
        mesh = sa.Mesh.box((1.0, 1.0, 1.0), (2, 2, 2), cell="wedge15", comm=MPI.COMM_SELF)
        floor, wall = (mesh[side].slice()[1] for side in ("z0", "x0"))
        regions = {"floor": {"triangle6": floor}}
        regions["corner"] = {"triangle6": floor, "quad8": wall}
        regions["floor"]["quad8"] = wall[:0]  # none of them
        top = ("triangle6", mesh["z1"].slice()[1])
        mesh = sa.Mesh.from_arrays(
            mesh.points,
            {"wedge15": mesh.cells["wedge15"].connectivity},
            {**regions, "top": top},
        )
        body = sa.Body(mesh["all"], elements.wedge15, sa.energies.neo_hooke(), **RUBBER)
        on = sa.Contact(body[name], sa.Plane(), mu=0.2)
        press = sa.fix(body["top"], displacement=(0.0, 0.0, -0.05))
        system = sa.System(body, terms=[press, on])
        sa.StaticProblem(system).solve()
        found.append(on.force(system))
        assert sum(on.status(system)) == 8 * 6 + (4 * 9 if name == "corner" else 0)
        shown = sum(map(len, sa.sample(system, on).cells.values()))
        assert system.comm.allreduce(shown) == (12 if name == "corner" else 8)
    np.testing.assert_allclose(found[0], found[1], atol=1e-12)
    assert found[0][2] > 0.1


@pytest.mark.collective
def test_triangles_on_quadrilaterals_are_told() -> None:
    """A tetrahedron stands on the face of a cube, whose corners it shares, or beside a wedge."""
    cube = elements.CELLS["hexahedron"].unit
    points = np.concatenate([cube, [[0.3, 0.3, 2.0]]])
    cells = {"hexahedron": [list(range(8))], "tetra": [[4, 5, 6, 8], [4, 6, 7, 8]]}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        mesh = sa.Mesh.from_arrays(points, cells)
    found = mesh.comm.bcast([str(w.message) for w in told])
    assert len(found) == 1
    assert "2 triangular faces of cells lie on quadrilateral ones, e.g. at" in found[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        three({element.cell: element for element in ORDERS[1]})


@pytest.mark.parametrize("kind", ["wedge", "wedge15"])
@pytest.mark.parametrize("mirrored", [False, True])
def test_wedges_of_vtk_are_read_in_both_orders(kind: str, mirrored: bool, tmp_path: Path) -> None:
    """VTK's manual once had the first triangle seen from outside; what programs write differs."""
    mesh = sa.Mesh.box((1.0, 2.0, 1.0), (2, 1, 2), cell=kind, comm=MPI.COMM_SELF)
    cells, unit = mesh.cells[kind].connectivity, elements.CELLS[kind].unit
    if mirrored:
        swapped = unit[:, [1, 0, 2]]
        cells = cells[:, [int(np.abs(unit - x).sum(axis=1).argmin()) for x in swapped]]
    with pieces(tmp_path / "wedges.vtu") as add:
        add(Samples(mesh.points, {kind: cells}))
    found = sa.Mesh.read(tmp_path / "wedges.vtu")
    assert found.quality()[kind].size == pytest.approx(2.0, rel=1e-13)
