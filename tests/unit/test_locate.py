# SPDX-License-Identifier: BSD-3-Clause
"""Points found in cells: lines, quadrilaterals, hexahedra, and on curved references."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from mpi4py import MPI

import symancf as sa
from symancf.cells import CELLS
from symancf.energies import cable, kirchhoff, saint_venant_kirchhoff
from symancf.places.locate import locate
from symancf.places.projection import locate_on
from tests.refusals import refused

PLATE, THIN, CABLE = (
    sa.elements.ancf_plate,
    sa.elements.ancf_thin_plate,
    sa.elements.ancf_cable,
)
STEEL: dict[str, Any] = {"E": 1e6, "nu": 0.3, "thickness": 0.05}
BOXES = {
    "line": ((2.0,), (5,)),
    "quad": ((2.0, 1.0), (5, 3)),
    "hexahedron": ((2.0, 1, 1), (4, 3, 2)),
}

pytestmark = pytest.mark.collective


def skewed(X: Any) -> Any:
    """Shear, taper and turn: no cell keeps a right angle or parallel edges."""
    Y = X.copy()
    Y[:, 0] += 0.35 * X[:, 1] + 0.2 * X[:, 2]
    Y[:, 1] *= 1.0 + 0.3 * X[:, 0]
    Y[:, 2] *= 1.0 - 0.25 * X[:, 0]
    Q, _ = np.linalg.qr(np.array([[1.0, 2, 0], [0, 1, 1], [3, 0, 1]]))
    return Y @ Q.T + [0.3, -0.2, 5.0]


def all_cells(mesh: sa.Mesh) -> tuple[Any, Any]:
    """Ids (n,) of the points of all cells (n, nv) and their positions, on every rank."""
    _, cells = mesh.slice("body")
    cells = np.concatenate(mesh.comm.allgather(cells))
    return cells, mesh.fetch_points(cells)


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("kind", list(BOXES))
def test_points_inside_skewed_cells(kind: str) -> None:
    mesh = sa.Mesh.box(*BOXES[kind], warp=skewed)
    cells, X = all_cells(mesh)
    unit = 0.05 + 0.9 * np.random.default_rng(3).random((len(cells), len(BOXES[kind][0])))
    value, _ = CELLS[kind].evaluate(unit)
    found = locate(mesh["body"], np.einsum("kv,kva->ka", value, X))
    np.testing.assert_array_equal(found.vertices, cells)
    np.testing.assert_allclose(found.unit, unit, atol=1e-12)
    np.testing.assert_allclose(found.distance, 0.0, atol=1e-14)
    np.testing.assert_allclose(found.size, np.linalg.norm(np.ptp(X, axis=1), axis=1))


@pytest.mark.parametrize("kind", list(BOXES))
def test_corners_are_found_exactly_in_the_cell_of_the_lowest_id(kind: str) -> None:
    mesh = sa.Mesh.box(*BOXES[kind], warp=skewed)
    cells, _ = all_cells(mesh)
    used = np.unique(cells)
    found = locate(mesh["body"], mesh.fetch_points(used))
    assert np.isin(found.unit, [0.0, 1.0]).all()
    value, _ = CELLS[kind].evaluate(found.unit)
    at = found.vertices[np.arange(len(used)), value.argmax(axis=1)]
    np.testing.assert_array_equal(at, used)
    lowest = [cells[np.flatnonzero((cells == v).any(axis=1))[0]] for v in used]
    np.testing.assert_array_equal(found.vertices, lowest)


def test_points_on_shared_faces_lie_in_the_cell_of_the_lowest_id() -> None:
    mesh = sa.Mesh.box(*BOXES["hexahedron"], warp=skewed)
    cells, X = all_cells(mesh)
    shared, first = [], []
    for a, A in enumerate(cells):
        for b in range(a + 1, len(cells)):
            common = np.isin(A, cells[b])
            if common.sum() == 4:
                shared.append(X[a][common].mean(axis=0))
                first.append(A)
    found = locate(mesh["body"], np.array(shared))
    assert len(shared) == 3 * 6 + 4 * 4 + 4 * 3
    np.testing.assert_array_equal(found.vertices, first)
    np.testing.assert_allclose(found.distance, 0.0, atol=1e-14)


def test_points_off_a_body_keep_their_distance() -> None:
    mesh = sa.Mesh.box((2.0, 1.0), (8, 4))
    points = np.array([[0.3, 0.4, 0.7], [2.5, 0.5, 0.0], [-3.0, -4.0, 0.0], [1.0, 1.5, -1.2]])
    found = locate(mesh["body"], points)
    np.testing.assert_allclose(found.distance, [0.7, 0.5, 5.0, 1.3], atol=1e-14)
    solid = sa.Mesh.box((1.0, 1.0, 1.0), (3, 3, 3))
    found = locate(solid["body"], np.array([[0.5, 0.5, 0.5], [2.0, 2.0, 2.0]]))
    np.testing.assert_allclose(found.distance, [0.0, np.sqrt(3.0)], atol=1e-14)


def test_a_large_cell_beside_small_ones() -> None:
    """The nearest centres are not those of the cell that holds the point."""
    small = np.linspace(1.0, 1.02, 21)
    x = np.concatenate([[-1.0], small])
    points = [[a, b, 0.0] for a in x for b in (0.0, 1.0)]
    quads = [[2 * k, 2 * k + 2, 2 * k + 3, 2 * k + 1] for k in range(len(x) - 1)]
    mesh = sa.Mesh.from_arrays(points, {"quad": quads}, {"body": ("quad", list(range(len(quads))))})
    found = locate(mesh["body"], np.array([[0.98, 0.5, 0.0], [1.0101, 0.25, 0.0]]))
    np.testing.assert_array_equal(found.vertices, [quads[0], quads[11]])
    np.testing.assert_allclose(found.unit[0], [0.99, 0.5], atol=1e-12)


def rolled(angle: float) -> Any:
    """Roll the x axis on a circle of radius 1 about (0, ., 1); y stays."""

    def warp(X: Any) -> Any:
        phi = angle * X[:, 0]
        return np.stack([np.sin(phi), X[:, 1], 1.0 - np.cos(phi)], axis=1)

    return warp


def normals(X: Any) -> Any:
    return (X - [0.0, 0.0, 1.0]) * [1.0, 0.0, 1.0]


def cylinder(element: Any, cells: int = 8, **options: Any) -> sa.Body:
    """A quarter of a cylinder of radius 1; its facets are up to angle^2/8 inside."""
    mesh = sa.Mesh.box((1.0, 0.6), (cells, 3), warp=rolled(np.pi / 2))
    energy = kirchhoff() if element is THIN else saint_venant_kirchhoff()
    return sa.Body(mesh["body"], element, energy, **STEEL, **options)


def arc(phi: Any, y: Any) -> Any:
    return np.stack([np.sin(phi), y, 1.0 - np.cos(phi)], axis=-1)


@pytest.mark.parametrize("element", [THIN, PLATE])
def test_points_of_a_true_cylinder_are_on_the_body(element: Any) -> None:
    random = np.random.default_rng(5)
    phi, y = random.random(200) * np.pi / 2, 0.6 * random.random(200)
    made = cylinder(element, direction=normals)
    found, facet = locate_on(made, arc(phi, y))
    angle = np.pi / 16
    assert facet.max() > 0.9 * angle**2 / 8.0 > 1e-3 * found.size.max()  # refused before
    assert found.distance.max() < 1.01 * angle**4 / 384.0
    # the parameter is the arc, not the chord, up to the cubic's own uneven speed
    cells = made.region.mesh.fetch_points(found.vertices)
    start = np.arctan2(cells[:, 0, 0], 1.0 - cells[:, 0, 2])
    np.testing.assert_allclose(start + angle * found.unit[:, 0], phi, atol=1e-2 * angle**3)
    np.testing.assert_allclose(cells[:, 0, 1] + 0.2 * found.unit[:, 1], y, atol=1e-12)


@pytest.mark.parametrize("element", [THIN, PLATE])
def test_places_of_a_curved_body(element: Any) -> None:
    """Also with averaged normals; chords of the facets stay possible; others are refused."""
    made = cylinder(element)
    inner = arc(np.array([0.5, 0.777, 1.0]), np.array([0.1, 0.33, 0.5]))
    place = made.at(inner)
    system = sa.System(made, terms=[sa.fix(made["x0"])])
    np.testing.assert_allclose(system.position(place), inner, atol=1e-15)
    phi = np.pi / 16 * np.array([3.0, 4.0])
    chord = arc(phi, np.array([0.3, 0.3])).mean(axis=0)
    system.position(made.at(chord))
    inside = 0.97 * (inner[0] - [0, 0, 1]) + [0, 0, 1]
    with refused(sa.ConstraintError, asked="point", given=pytest.approx(tuple(inside))) as caught:
        system.position(made.at(inside))
    assert re.search(r" 0\.0[0-9]+ away", str(caught.value))


def test_a_prescribed_displacement_is_interpolated_at_true_points() -> None:
    """An affine displacement of the nodes is that of every place, wherever it is found."""
    G = np.random.default_rng(6).standard_normal((3, 3))
    made = cylinder(PLATE, direction=normals)
    support = sa.fix(made["body"], displacement=lambda X, t: X @ G.T, gradient=G)
    system = sa.System(made, terms=[support])
    system._discrete.prescribe(0.0)
    X = arc(np.linspace(0.05, 1.5, 30), np.linspace(0.0, 0.6, 30))
    u = system.displacement(made.at(X))
    # the reference is 4e-6 from the cylinder there
    np.testing.assert_allclose(u, X @ G.T, atol=2e-5)
    assert np.abs(u).max() > 0.5


@pytest.mark.collective(rows=0)
def test_points_of_a_circle_on_a_cable() -> None:
    def circle(X: Any) -> Any:
        return rolled(2.0)(np.column_stack([X[:, 0], 0 * X[:, 0], 0 * X[:, 0]]))

    mesh = sa.Mesh.box((1.0,), (6,), warp=circle)
    made = sa.Body(mesh["body"], CABLE, cable(), EA=1.0, EI=1.0)
    phi = np.linspace(0.0, 2.0, 41)
    found, facet = locate_on(made, arc(phi, 0.0 * phi))
    assert facet.max() > 0.013
    assert found.distance.max() < 1.01 * (1.0 / 3.0) ** 4 / 384.0
    cells = mesh.fetch_points(found.vertices)
    start = np.arctan2(cells[:, 0, 0], 1.0 - cells[:, 0, 2])
    reached = start + found.unit[:, 0] / 3.0
    np.testing.assert_allclose(reached, phi, atol=4e-4)
    assert all(a < b for a, b in pairwise(reached))


@pytest.mark.collective(rows=0)
def test_flat_bodies_are_found_as_before() -> None:
    mesh = sa.Mesh.box((2.0, 1.0), (5, 3), warp=skewed)
    made = sa.Body(mesh["body"], THIN, kirchhoff(), **STEEL)
    cells, X = all_cells(mesh)
    unit = np.random.default_rng(7).random((len(cells), 2))
    value, _ = CELLS["quad"].evaluate(unit)
    points = np.concatenate([np.einsum("kv,kva->ka", value, X), X[::2, 0], X[:, :2].mean(axis=1)])
    plain = locate(mesh["body"], points)
    found, _ = locate_on(made, points)
    np.testing.assert_array_equal(found.vertices, plain.vertices)
    np.testing.assert_allclose(found.unit, plain.unit, atol=1e-10)
    assert MPI.COMM_WORLD.allreduce(float(found.unit.sum()), op=MPI.MAX) == found.unit.sum()
