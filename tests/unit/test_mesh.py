# SPDX-License-Identifier: BSD-3-Clause
"""Meshes: what is read, how it is cut into slices, what its regions hold."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import meshio
import numpy as np
import pytest
from mpi4py import MPI

from symancf.cells import CELLS
from symancf.errors import MeshError
from symancf.mesh import Mesh
from tests.refusals import refused

if TYPE_CHECKING:
    from pathlib import Path

COMM = MPI.COMM_WORLD
pytestmark = pytest.mark.collective

TWO_GROUPS = """$MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
2
2 1 "plate"
2 2 "rim"
$EndPhysicalNames
$Nodes
6
1 0 0 0
2 1 0 0
3 2 0 0
4 0 1 0
5 1 1 0
6 2 1 0
$EndNodes
$Elements
4
1 3 2 1 1 1 2 5 4
2 3 2 1 1 2 3 6 5
3 3 2 2 1 2 3 6 5
4 1 2 7 1 1 4
$EndElements
"""


def write(path: Path, mesh: meshio.Mesh | str, **options: object) -> Path:
    if COMM.rank == 0:
        if isinstance(mesh, str):
            path.write_text(mesh)
        else:
            meshio.write(path, mesh, **options)
    COMM.barrier()
    return path


def total(local: int) -> int:
    return int(COMM.allreduce(local))


def all_cells(mesh: Mesh, region: str, kind: str | None = None) -> np.ndarray:
    """Connectivity of a region in the order of ids, on every rank."""
    ids, cells = mesh.slice(region, kind)
    ids, cells = np.concatenate(COMM.allgather(ids)), np.concatenate(COMM.allgather(cells))
    return cells[np.argsort(ids)]


def all_points(mesh: Mesh, region: str) -> np.ndarray:
    return np.sort(np.concatenate(COMM.allgather(mesh[region].points())))


def test_gmsh_file_gives_its_physical_names(repository: Path) -> None:
    mesh = Mesh.read(repository / "meshes" / "silicone_plate.msh")
    assert {r.name: r.sizes for r in mesh} == {
        "plate": {"quad": 16},
        "root": {"line": 4},
        "tip": {"line": 4},
        "P": {"vertex": 1},
        "all": {"quad": 16},
    }
    assert (mesh["plate"].dim, mesh["root"].dim, mesh["P"].dim) == (2, 1, 0)
    assert mesh.n_points == 25
    root = mesh.fetch_points(all_points(mesh, "root"))
    np.testing.assert_allclose(root[:, 0], 0.0)
    np.testing.assert_allclose(np.sort(root[:, 1]), [0, 0.04, 0.08, 0.12, 0.16], atol=1e-12)
    point = mesh.fetch_points(all_points(mesh, "P"))
    np.testing.assert_allclose(point, [[0.18, 0.08, 0.0]], atol=1e-12)


def test_slices_are_disjoint_and_complete(repository: Path) -> None:
    mesh = Mesh.read(repository / "meshes" / "silicone_block.msh")
    assert total(len(mesh.points)) == mesh.n_points == 475
    for region in mesh:
        for kind, size in region.sizes.items():
            ids, cells = region.slice(kind)
            assert len(ids) == len(cells)
            found = np.concatenate(COMM.allgather(ids))
            assert len(np.unique(found)) == len(found) == size
    largest = -(-288 // COMM.size)
    assert len(mesh.cells["hexahedron"].connectivity) <= largest


def test_fetch_points_from_any_rank_in_any_order() -> None:
    mesh = Mesh.box((3.0, 2.0, 1.0), (3, 2, 1))
    ids = np.array([[23, 0], [5, 23]])
    x = mesh.fetch_points(ids if COMM.rank == COMM.size - 1 else np.empty((0, 2), int))
    if COMM.rank == COMM.size - 1:
        np.testing.assert_allclose(x[0, 0], [3, 2, 1])
        np.testing.assert_allclose(x[0, 1], [0, 0, 0])
        np.testing.assert_allclose(x[1, 0], [1, 1, 0])
    else:
        assert x.shape == (0, 2, 3)


@pytest.mark.collective(rows=0)
def test_cell_in_two_physical_groups_of_msh2_is_one_cell(shared_tmp_path: Path) -> None:
    mesh = Mesh.read(write(shared_tmp_path / "two.msh", TWO_GROUPS))
    assert mesh["plate"].sizes == {"quad": 2}
    assert mesh["rim"].sizes == {"quad": 1}
    np.testing.assert_array_equal(all_cells(mesh, "rim"), [[1, 2, 5, 4]])
    assert mesh["curve 7"].sizes == {"line": 1}  # a tag without a name


@pytest.mark.collective(rows=0)
def test_negative_tag_turns_normals_but_keeps_the_name(shared_tmp_path: Path) -> None:
    text = TWO_GROUPS.replace("3 3 2 2 1 2 3 6 5", "3 3 2 -2 1 2 3 6 5")
    mesh = Mesh.read(write(shared_tmp_path / "negative.msh", text))
    assert mesh["rim"].sizes == {"quad": 1}


@pytest.mark.collective(rows=4)
@pytest.mark.parametrize("suffix", ["vtu", "vtk", "xdmf", "inp"])
def test_other_formats(shared_tmp_path: Path, suffix: str) -> None:
    points = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.0]]
    source = meshio.Mesh(points, [("quad", [[0, 1, 2, 3]])])
    if suffix == "inp":
        source.point_sets = {"corner": np.array([2])}
        source.cell_sets = {"sheet": [np.array([0])]}
    mesh = Mesh.read(write(shared_tmp_path / f"one.{suffix}", source))
    assert mesh["all"].sizes == {"quad": 1}
    np.testing.assert_array_equal(all_cells(mesh, "all"), [[0, 1, 2, 3]])
    if suffix == "inp":
        assert mesh["sheet"].sizes == {"quad": 1}
        np.testing.assert_array_equal(all_points(mesh, "corner"), [2])


def test_mixed_cells_of_second_order_are_read_from_xdmf(shared_tmp_path: Path) -> None:
    """Which meshio alone does not: beside points and lines, each with a count of its points."""
    cells = Mesh.box((1, 1, 1), (1, 1, 1), cell="tetra10", comm=MPI.COMM_SELF)
    tetra = cells.cells["tetra10"].connectivity
    faces = tetra[:, [0, 1, 2, 4, 5, 6]]
    blocks = [("vertex", [[3]]), ("tetra10", tetra), ("line3", tetra[:1, [0, 1, 4]])]
    source = meshio.Mesh(cells.points, [*blocks, ("vertex", [[4]]), ("triangle6", faces)])
    mesh = Mesh.read(write(shared_tmp_path / "two.xdmf", source))
    assert mesh["all"].sizes == {"tetra10": 6}
    np.testing.assert_array_equal(all_cells(mesh, "all"), tetra)
    assert {kind: held.size for kind, held in mesh.cells.items()} == {
        "vertex": 2,
        "tetra10": 6,
        "line3": 1,
        "triangle6": 6,
    }


@pytest.mark.collective(rows=0)
def test_plane_meshes_get_z() -> None:
    mesh = Mesh.from_arrays([[0, 0], [1, 0], [1, 1], [0, 1]], {"quad": [[0, 1, 2, 3]]})
    np.testing.assert_allclose(mesh.fetch_points([2]), [[1, 1, 0]])


def test_arrays_on_rank_0_only() -> None:
    points = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0, 0], [2, 1, 0.0]]
    regions = {
        "left": ("quad", [0]),
        "both": ("quad", np.array([True, True])),
        "edge": ("line", [[0, 3]]),
        "mixed": {"quad": [1], "line": [[1, 2]]},
        "tip": ("vertex", [4, 5]),
    }
    quads = {"quad": [[0, 1, 2, 3], [1, 4, 5, 2]]}
    mesh = Mesh.from_arrays(
        points if COMM.rank == 0 else None,
        quads if COMM.rank == 0 else None,
        regions if COMM.rank == 0 else None,
    )
    assert mesh["mixed"].sizes == {"quad": 1, "line": 1}
    assert mesh["mixed"].size == 2
    np.testing.assert_array_equal(all_cells(mesh, "left"), [[0, 1, 2, 3]])
    np.testing.assert_array_equal(all_cells(mesh, "edge"), [[0, 3]])
    np.testing.assert_array_equal(all_cells(mesh, "mixed", "line"), [[1, 2]])
    np.testing.assert_array_equal(all_points(mesh, "tip"), [4, 5])
    np.testing.assert_array_equal(all_points(mesh, "both"), range(6))


def test_box_has_its_volume_and_outward_sides() -> None:
    mesh = Mesh.box((3.0, 2.0, 1.0), (6, 5, 4), cell="hexahedron")
    shape = mesh.quality()["hexahedron"]
    assert shape.size == pytest.approx(6.0)
    assert shape.jacobian == pytest.approx(1.0)
    mesh.check()
    for side, normal in (("x0", -1), ("x1", 1), ("y0", -1), ("y1", 1), ("z0", -1), ("z1", 1)):
        axis = "xyz".index(side[0])
        x = mesh.fetch_points(all_cells(mesh, side))
        n = np.cross(x[:, 2] - x[:, 0], x[:, 3] - x[:, 1])
        assert np.all(n[:, axis] * normal > 0)
        assert len(np.unique(x[:, :, axis])) == 1
        assert 0.5 * n[:, axis].sum() * normal == pytest.approx(6.0 / [3, 2, 1][axis])


def test_rectangle_runs_around_its_edges_and_line_has_ends() -> None:
    mesh = Mesh.box((3.0, 2.0), (3, 2))
    around = np.zeros(3)
    for side in ("x0", "x1", "y0", "y1"):
        x = mesh.fetch_points(all_cells(mesh, side))
        around += np.cross(x[:, 0], x[:, 1]).sum(axis=0)
    np.testing.assert_allclose(0.5 * around, [0, 0, 6.0])  # counter-clockwise: the area
    line = Mesh.box((2.0,), (7,))
    assert line["body"].sizes == {"line": 7}
    np.testing.assert_array_equal(all_points(line, "x1"), [7])


def test_box_is_the_same_on_any_number_of_ranks() -> None:
    mesh = Mesh.box((3.0, 2.0, 1.0), (4, 3, 2), warp=lambda x: x + 0.01 * np.sin(x[:, ::-1]))
    alone = Mesh.box(
        (3.0, 2.0, 1.0),
        (4, 3, 2),
        warp=lambda x: x + 0.01 * np.sin(x[:, ::-1]),
        comm=MPI.COMM_SELF,
    )
    np.testing.assert_array_equal(np.concatenate(COMM.allgather(mesh.points)), alone.points)
    for region in alone:
        for kind in region.types:
            np.testing.assert_array_equal(all_cells(mesh, region.name, kind), region.slice(kind)[1])


def test_hdf5_returns_what_was_written(shared_tmp_path: Path, repository: Path) -> None:
    for name in ("silicone_block.msh", "silicone_plate.msh", "cable.msh"):
        mesh = Mesh.read(repository / "meshes" / name)
        path = shared_tmp_path / f"{name}.h5"
        mesh.write(path)
        again = Mesh.read(path)
        assert [r.name for r in again] == [r.name for r in mesh]
        assert {r.name: r.sizes for r in again} == {r.name: r.sizes for r in mesh}
        np.testing.assert_array_equal(again.points, mesh.points)
        for region in mesh:
            for kind in region.types:
                pairs = zip(again[region.name].slice(kind), region.slice(kind), strict=True)
                for found, expected in pairs:
                    np.testing.assert_array_equal(found, expected)


@pytest.mark.collective(rows=0)
def test_quality_measures_the_parallelogram_defect(repository: Path) -> None:
    shape = Mesh.read(repository / "meshes" / "silicone_plate_unstructured.msh").quality()["quad"]
    assert shape.size == pytest.approx(0.18 * 0.16)
    assert 0.05 < shape.defect < 0.6
    assert 0.3 < shape.jacobian < 1.0
    skew = Mesh.from_arrays([[0, 0], [1, 0.3], [1.5, 1.3], [0.5, 1]], {"quad": [[0, 1, 2, 3]]})
    assert skew.quality()["quad"].defect == pytest.approx(0.0, abs=1e-15)
    assert "defect" in str(skew.quality())


def test_curved_mesh_lies_on_the_cylinder(repository: Path) -> None:
    mesh = Mesh.read(repository / "meshes" / "quarter_cylinder.msh")
    x = mesh.fetch_points(all_points(mesh, "shell"))
    np.testing.assert_allclose(np.hypot(x[:, 0], x[:, 2]), 0.1, rtol=1e-12)


@pytest.mark.collective(rows=0)
def test_prints_a_table(repository: Path) -> None:
    mesh = Mesh.read(repository / "meshes" / "silicone_plate.msh")
    lines = str(mesh).splitlines()
    assert lines[0] == "Mesh silicone_plate.msh: 25 points, 1 vertex, 8 line, 16 quad"
    assert any(line.split() == ["plate", "2", "16", "quad"] for line in lines)
    assert repr(mesh["plate"]) == "Region(name='plate', sizes={'quad': 16})"


BOXES = [c.name for c in CELLS.values() if c.dimension > 1 and len(set(c.factors)) == 1]


@pytest.mark.collective(rows=4)
@pytest.mark.parametrize("kind", BOXES)
def test_a_box_of_cells_of_any_type_is_full_and_its_sides_point_outwards(kind: str) -> None:
    cell = CELLS[kind]
    d = cell.dimension
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mesh = Mesh.box((1.0, 2.0, 0.5)[:d], (2, 3, 1)[:d], cell=kind)
        mesh.check()  # on several ranks of slices of it
        mesh = Mesh.box((1.0, 2.0, 0.5)[:d], (2, 3, 1)[:d], cell=kind, comm=MPI.COMM_SELF)
    assert mesh.quality()[kind].size == pytest.approx((2.0, 1.0)[d - 2])
    assert np.unique(mesh.cells[kind].connectivity).size == mesh.n_points
    for k, side in enumerate(f"{'xyz'[k]}{e}" for k in range(d) for e in (0, 1)):
        x = mesh.points[mesh[side].slice()[1]]
        along = x[:, 1] - x[:, 0]
        normal = np.cross(along, x[:, 2] - x[:, 1] if d == 3 else [0.0, 0.0, 1.0])
        out = np.zeros(3)
        out[k // 2] = 2 * (k % 2) - 1
        assert (normal @ out > 1e-3).all()
        assert np.abs(x[..., k // 2] - (1.0, 2.0, 0.5)[k // 2] * (k % 2)).max() < 1e-15


@pytest.mark.collective(rows=0)
def test_a_box_of_cells_that_do_not_fill_cubes_is_refused() -> None:
    fits = ("hexahedron", "wedge")
    with refused(
        MeshError, asked="cell", given="pyramid", possible=lambda found: {*fits} <= {*found}
    ):
        Mesh.box((1.0, 1.0, 1.0), (1, 1, 1), cell="pyramid")
    wedges = Mesh.box((1.0, 1.0, 1.0), (2, 2, 2), cell="wedge")
    assert (wedges["x1"].sizes, wedges["z1"].sizes) == ({"quad": 4}, {"triangle": 8})
