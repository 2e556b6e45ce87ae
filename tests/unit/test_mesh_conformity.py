# SPDX-License-Identifier: BSD-3-Clause
"""Cells given twice, T-junctions and coordinates without digits are told, on any ranks alike."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import meshio
import numpy as np
import pytest
from mpi4py import MPI

import symancf as sa
from symancf.energies import saint_venant_kirchhoff
from symancf.errors import MeshError
from symancf.mesh import Mesh
from tests.refusals import refused
from tests.unit.test_mesh import all_cells, write
from tests.unit.test_mesh_errors import CUBE, SQUARE, message_of, on_root

if TYPE_CHECKING:
    from pathlib import Path

COMM = MPI.COMM_WORLD
pytestmark = pytest.mark.collective

GRID = np.array([[i, j, 0.0] for j in range(4) for i in range(4)])
QUADS = [[k, k + 1, k + 5, k + 4] for j in range(3) for k in range(4 * j, 4 * j + 3)]


def made(points: Any, cells: Any, regions: Any = None, **options: Any) -> Mesh:
    return Mesh.from_arrays(on_root(points), on_root(cells), on_root(regions), **options)


def told(action: Any) -> list[str]:
    """Texts of the warnings, on every rank."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        action()
    return list(COMM.bcast([str(w.message) for w in found]))


@pytest.mark.parametrize("turn", [lambda c: c, lambda c: [*c[1:], c[0]], lambda c: c[::-1]])
def test_a_cell_given_twice_is_refused(turn: Any) -> None:
    text = message_of(lambda: made(GRID, {"quad": [*QUADS, turn(QUADS[4])]}))
    assert "quad 4 and quad 9 have the same points (5 6 10 9)" in text
    text = message_of(lambda: made(GRID, {"line": [[0, 1], [1, 2], turn([0, 1]), [2, 1]]}))
    assert "line 0 and line 2" in text
    assert "2 such pairs" in text
    hexes = [list(range(8)), [1, 2, 3, 0, 5, 6, 7, 4]]
    with refused(MeshError, asked="duplicate cells", given=(0, 1), cells=(0, 1)):
        made(CUBE, {"hexahedron": hexes})
    assert made(CUBE, {"hexahedron": hexes}, check=False)["all"].size == 2


def test_a_mesh_written_with_a_cell_twice_is_refused_when_read(shared_tmp_path: Path) -> None:
    path = shared_tmp_path / "twice.h5"
    made(GRID, {"quad": [*QUADS, QUADS[8][::-1]]}, check=False).write(path)
    assert "quad 8 and quad 9" in message_of(lambda: Mesh.read(path))


def test_cells_that_a_region_names_by_points_are_those_there_are() -> None:
    regions = {
        "tip": ("line", [[7, 11], [11, 7], [11, 15]]),
        "end": ("line", [[11, 7]]),
        "skin": ("quad", [[6, 10, 9, 5], [8, 9, 13, 12]]),
        "root": ("vertex", [0, 4]),
        "corner": ("vertex", [0, 0]),
    }
    mesh = made(GRID, {"quad": QUADS}, regions)
    assert {r.name: r.size for r in mesh} == {
        "tip": 2, "end": 1, "skin": 2, "root": 2, "corner": 1, "all": 9
    }  # fmt: skip
    np.testing.assert_array_equal(all_cells(mesh, "skin"), [QUADS[4], QUADS[6]])
    body = sa.Body(
        mesh["all"], sa.elements.ancf_plate, saint_venant_kirchhoff(), E=1e6, nu=0.3, thickness=0.1
    )
    fixed = sa.fix(body["root"])
    system = sa.System(body, terms=[fixed, sa.traction(body["tip"], (0.0, 0.0, 1.0))])
    sa.StaticProblem(system).solve()
    assert fixed.reaction(system).force[2] == pytest.approx(-2.0)  # the tip is 2 m long


@pytest.mark.parametrize("suffix", ["vtu", "inp", "msh"])
def test_a_file_with_a_cell_twice_counts_it_once_and_tells(
    shared_tmp_path: Path, suffix: str
) -> None:
    cells = [("quad", np.array([*QUADS, QUADS[0], QUADS[4][::-1], [10, 9, 5, 6]]))]
    path = shared_tmp_path / f"twice.{suffix}"
    write(path, meshio.Mesh(GRID, cells), **({"file_format": "gmsh22"} if suffix == "msh" else {}))
    meshes: list[Mesh] = []
    (text,) = told(lambda: meshes.append(Mesh.read(path)))
    assert "3 cells of type 'quad' have the points of an earlier one, e.g. 9 those of 0" in text
    assert len(meshes) == 1
    mesh = meshes[0]
    assert mesh["all"].size == 9
    np.testing.assert_array_equal(all_cells(mesh, "all"), QUADS)


def hanging(n: int) -> tuple[np.ndarray, list[list[int]]]:
    """Three columns of quadrilaterals, of which the last is divided n times as finely."""
    points = [*GRID.tolist()]
    cells = list(QUADS)
    low = [4 * j + 3 for j in range(4)]
    rows: list[int] = []
    for j in range(3):
        rows.append(low[j])
        for k in range(1, n):
            rows.append(len(points))
            points.append([3.0, j + k / n, 0.0])
    rows.append(low[3])
    right = []
    for row in rows:
        right.append(len(points))
        points.append([4.0, points[row][1], 0.0])
    for k in range(3 * n):
        cells.append([rows[k], right[k], right[k + 1], rows[k + 1]])
    return np.array(points), cells


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize("angle", [0.0, 37.0])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_points_that_hang_on_edges_are_told(n: int, angle: float) -> None:
    points, cells = hanging(n)
    c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    turned = points @ np.array([[c, s, 0], [-s, 0.6 * c, 0.8 * c], [0, -0.8, 0.6]])
    texts = told(lambda: made(1e-3 * turned, {"quad": cells}))
    if n == 1:
        assert not texts
        return
    (text,) = texts
    assert f"at least {3 * (n - 1)} points lie inside" in text
    assert "point 16 at" in text
    assert "on the edge from point 3 to point 7" in text


def test_points_that_hang_on_hexahedra_are_told() -> None:
    points, cells = hanging(2)
    count = len(points)
    both = np.concatenate([points, points + np.array([0, 0, 1])])
    hexes = [[*cell, *(count + v for v in cell)] for cell in cells]
    (text,) = told(lambda: made(both, {"hexahedron": hexes}))
    assert "at least 6 points lie inside" in text
    assert not told(lambda: Mesh.box((2.0, 1.0, 1.0), (4, 3, 2)).check())


@pytest.mark.filterwarnings("ignore:.*points coincide")
def test_digits_that_coordinates_leave() -> None:
    cells = {"quad": [[0, 1, 2, 3]]}
    square = np.array(SQUARE)
    assert not told(lambda: made(square + 1e6, cells))
    assert not told(lambda: made(1e-20 * square, cells))
    assert not told(lambda: made(np.array(CUBE) * [1, 1, 1e-9], {"hexahedron": [list(range(8))]}))
    (text,) = told(lambda: made(1e-3 * square + [0, 1e5, 0], cells))
    assert "coordinates leave 7 digits" in text
    assert "subtract (0.0005, 100000, 0)" in text
    text = message_of(lambda: made(0.25 * square - 1e12, cells))
    assert "3 digits" in text
    text = message_of(lambda: made([[0, 0], [1, 0.5], [1, 0.5 + 1e-13], [0, 1]], cells))
    assert "beside the mesh (1 m)" in text
    assert "an edge of 1e-160 m" in message_of(lambda: made(1e-160 * square, cells))
    assert "an edge of 1e+100 m" in message_of(lambda: made(1e100 * square, cells))
