# SPDX-License-Identifier: BSD-3-Clause
"""Bad meshes: a clear MeshError on every rank."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from mpi4py import MPI

import symancf as sa
from symancf.errors import MeshError, ParameterError
from symancf.mesh import Mesh
from tests.refusals import refused

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

COMM = MPI.COMM_WORLD
pytestmark = pytest.mark.collective

SQUARE = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.0]]
CUBE = [*SQUARE, *([x, y, 1.0] for x, y, _ in SQUARE)]


def message_of(action: Callable[[], Any]) -> str:
    """Text of the MeshError, which must be the same on every rank."""
    with pytest.raises(MeshError) as caught:
        action()
    texts = COMM.allgather(str(caught.value))
    assert len(set(texts)) == 1
    return texts[0]


def on_root(value: Any) -> Any:
    return value if COMM.rank == 0 else None


def test_missing_file_names_path_and_folder(repository: Path) -> None:
    text = message_of(lambda: Mesh.read("nowhere.msh"))
    assert "'nowhere.msh'" in text
    assert "working directory" in text
    near = message_of(lambda: Mesh.read(repository / "meshes" / "silicon_plate.msh"))
    assert "silicone_plate.msh" in near
    assert "'nowhere.h5'" in message_of(lambda: Mesh.read("nowhere.h5"))


@pytest.mark.parametrize("name", ["bad.msh", "bad.vtu", "bad.h5", "bad.txt", "bad.inp"])
def test_garbage_is_refused(shared_tmp_path: Path, name: str) -> None:
    path = shared_tmp_path / name
    if COMM.rank == 0:
        path.write_text("this is no mesh\n")
    COMM.barrier()
    text = message_of(lambda: Mesh.read(path))
    assert name in text


def test_truncated_gmsh_file_is_refused(shared_tmp_path: Path, repository: Path) -> None:
    path = shared_tmp_path / "cut.msh"
    if COMM.rank == 0:
        whole = (repository / "meshes" / "silicone_plate.msh").read_text()
        path.write_text(whole[: whole.index("$Elements")])
    COMM.barrier()
    assert "cut.msh" in message_of(lambda: Mesh.read(path))


def test_unknown_region_names_what_exists(repository: Path) -> None:
    mesh = Mesh.read(repository / "meshes" / "silicone_plate.msh")
    text = message_of(lambda: mesh["plat"])
    assert "did you mean 'plate'" in text
    assert "'root' (4 line)" in text
    assert "plat" not in mesh
    assert "plate" in mesh


@pytest.mark.collective(rows=0)
def test_triangles_for_quadrilaterals() -> None:
    mesh = Mesh.from_arrays(
        on_root(SQUARE),
        on_root({"triangle": [[0, 1, 2], [0, 2, 3]], "line": [[0, 1]]}),
        on_root({"plate": ("triangle", [0, 1])}),
    )
    text = message_of(lambda: mesh["plate"].require("quad", use="ancf_plate"))
    assert "ancf_plate needs cells of type 'quad'" in text
    assert "2 cells of type 'triangle'" in text
    assert "Recombine" in text
    mesh.slice("plate", "triangle")
    text = message_of(lambda: mesh.slice("plate", "quad"))
    assert "no cells of type 'quad'" in text


def test_require_names_regions_that_fit(repository: Path) -> None:
    mesh = Mesh.read(repository / "meshes" / "silicone_plate.msh")
    assert mesh["plate"].require("quad") is mesh["plate"]
    assert "'root', 'tip'" in message_of(lambda: mesh["plate"].require("line"))


@pytest.mark.collective(rows=0)
def test_cells_of_second_order_are_named() -> None:
    edge = [[0.5, 0, 0], [1, 0.5, 0], [0.5, 1, 0], [0, 0.5, 0]]
    mesh = Mesh.from_arrays([*SQUARE, *edge], {"quad8": [[0, 1, 2, 3, 4, 5, 6, 7]]})
    assert "first order" in message_of(lambda: mesh["all"].require("quad"))


@pytest.mark.collective(rows=0)
def test_wedges_with_nodes_in_faces_have_an_element() -> None:
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1.0]])
    pairs = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3), (1, 4), (2, 5)]
    faces = [(0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5)]
    points = [*corners, *(corners[list(nodes)].mean(axis=0) for nodes in (*pairs, *faces))]
    mesh = Mesh.from_arrays(points, {"wedge18": [list(range(18))]})
    assert "SecondOrderIncomplete" in message_of(lambda: mesh["all"].require("wedge15"))
    assert mesh["all"].measure() == pytest.approx(0.5, rel=1e-14)
    body = sa.Body(mesh["all"], sa.elements.wedge18, sa.energies.neo_hooke(), mu=1.0, lam=1.0)
    assert body.element.cell == "wedge18"


@pytest.mark.collective(rows=0)
def test_types_that_have_no_functions_may_be_among_those_possible() -> None:
    kinds = "hexahedron20", "pyramid"
    with refused(MeshError, asked="body", given=("hexahedron",), possible=kinds):
        Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))["body"].require(*kinds)


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize("swap", [(0, 4), (1, 3)])
def test_inverted_hexahedron(swap: tuple[int, int]) -> None:
    cell = list(range(8))
    cell[swap[0]], cell[swap[1]] = cell[swap[1]], cell[swap[0]]
    mesh = {"hexahedron": [cell]}
    text = message_of(lambda: Mesh.from_arrays(on_root(CUBE), on_root(mesh)))
    assert "hexahedron 0" in text
    assert "inverted" in text
    Mesh.from_arrays(on_root(CUBE), on_root(mesh), check=False)


def test_error_carries_the_cell() -> None:
    points = np.vstack([CUBE, np.add(CUBE, [2, 0, 0])])
    cells = [[0, 1, 2, 3, 4, 5, 6, 7], [8, 11, 10, 9, 12, 15, 14, 13]]
    with pytest.raises(MeshError) as caught:
        Mesh.from_arrays(on_root(points), on_root({"hexahedron": cells}))
    assert caught.value.cells == (1,)


def test_folded_quadrilateral() -> None:
    bow = {"quad": [[0, 1, 3, 2]]}
    text = message_of(lambda: Mesh.from_arrays(on_root(SQUARE), on_root(bow)))
    assert "folded" in text or "no area" in text
    dart = [[0, 0], [1, 0], [0.2, 0.2], [0, 1]]
    text = message_of(lambda: Mesh.from_arrays(on_root(dart), on_root({"quad": [[0, 1, 2, 3]]})))
    assert "folded" in text


def test_degenerate_cells() -> None:
    def made(points: Any, cells: Any) -> str:
        return message_of(lambda: Mesh.from_arrays(on_root(points), on_root(cells)))

    assert "names a vertex twice" in made(SQUARE, {"quad": [[0, 1, 2, 2]]})
    assert "no length" in made([[0, 0], [0, 0]], {"line": [[0, 1]]})
    flat = [[x, y, 0.0 * z] for x, y, z in CUBE]
    assert "degenerate" in made(flat, {"hexahedron": [list(range(8))]})
    assert "degenerate" in made([[0, 0], [1, 0], [2, 0], [1, 1]], {"quad": [[0, 1, 2, 3]]})


def test_coordinates_that_are_not_numbers() -> None:
    points = [*SQUARE[:3], [0, np.nan, 0]]
    text = message_of(lambda: Mesh.from_arrays(on_root(points), on_root({"quad": [[0, 1, 2, 3]]})))
    assert "point 3" in text
    assert "finite" in text


@pytest.mark.filterwarnings("error")
def test_coincident_points_are_warned_of() -> None:
    points = [*SQUARE, [1, 0, 0], [2, 0, 0], [2, 1, 0], [1, 1, 0.0]]

    def make() -> Mesh:
        return Mesh.from_arrays(on_root(points), on_root({"quad": [[0, 1, 2, 3], [4, 5, 6, 7]]}))

    if COMM.rank == 0:
        with pytest.warns(UserWarning, match=r"2 points coincide .*1 and 4") as caught:
            make()
        assert len(caught) == 1
    else:
        make()


def test_arrays_that_do_not_fit() -> None:
    def made(points: Any, cells: Any, regions: Any = None) -> str:
        return message_of(
            lambda: Mesh.from_arrays(on_root(points), on_root(cells), on_root(regions))
        )

    assert "point 9" in made(SQUARE, {"quad": [[0, 1, 2, 9]]})
    assert "have 4 vertices" in made(SQUARE, {"quad": [[0, 1, 2]]})
    assert "integers" in made(SQUARE, {"quad": [[0.0, 1, 2, 3]]})
    assert "shape" in made([0.0, 1.0], {"line": [[0, 1]]})

    def made_of(cells: Any, regions: Any) -> Mesh:
        return Mesh.from_arrays(on_root(SQUARE), on_root(cells), on_root(regions))

    quads = {"quad": [[0, 1, 2, 3]]}
    assert "names cell 5" in made(SQUARE, quads, {"plate": ("quad", [5])})
    assert "names cell -1" in made(SQUARE, quads, {"plate": ("quad", [-1])})
    assert "whole and in one list" in made(SQUARE, quads, {"plate": ("quad", [0.5])})
    assert "chooses from 3 cells" in made(SQUARE, quads, {"plate": ("quad", np.ones(3, bool))})
    assert "given 5" in made(SQUARE, quads, {"plate": 5})
    assert "given 5" in made(SQUARE, quads, 5)
    assert "dict of names" in made(SQUARE, [[0, 1, 2, 3]])
    assert "no cells of type 'quadd'" in made(SQUARE, {"quadd": [[0, 1, 2, 3]]})
    assert made_of(quads, {"none": ("line", [])})["none"].size == 0
    assert "no array" in made(SQUARE, {"quad": [[0, 1, 2, 3], [0, 1, 2]]})
    assert "no array" in made([[0, 0, 0], [1, 0]], quads)
    assert "real numbers" in made([["a", "b", "c"]] * 4, quads)
    assert "real numbers" in made(np.array(SQUARE) * 1j, quads)
    assert "real numbers" in made(SQUARE, {"quad": [["a", "b", "c", "d"]]})
    assert "real numbers" in made([[None] * 3] * 4, quads)
    assert "rank 0" in made(None, None)


def test_point_used_by_no_cell_of_the_body() -> None:
    points = [*SQUARE, [5, 5, 5]]
    mesh = Mesh.from_arrays(
        on_root(points),
        on_root({"quad": [[0, 1, 2, 3]]}),
        on_root({"load": ("vertex", [4]), "good": ("vertex", [2])}),
    )
    text = message_of(lambda: mesh["load"].require_on(mesh["all"]))
    assert "point 4 at (5, 5, 5)" in text
    assert "'load'" in text
    assert mesh["good"].require_on(mesh["all"]) is mesh["good"]


@pytest.mark.collective(rows=0)
def test_boxes_that_cannot_be() -> None:
    assert "divisions" in message_of(lambda: Mesh.box((1.0, 1.0), (0, 2)))
    assert "divisions" in message_of(lambda: Mesh.box((1.0,), (1, 2)))
    assert "has cells of type 'quad', " in message_of(
        lambda: Mesh.box((1.0, 1.0), (1, 1), cell="hexahedron")
    )


@pytest.mark.collective(rows=0)
@pytest.mark.parametrize(
    ("lengths", "divisions", "told"),
    [
        ((1.0, 1.0, 1.0), (2.9, 1.5, 1), "whole divisions"),
        ((np.nan, 1.0), (1, 1), "positive lengths"),
        ((np.inf, 1.0), (1, 1), "positive lengths"),
        ((1.0, -1.0), (1, 1), "positive lengths"),
        ((1e-160, 1.0), (1, 1), "positive lengths"),
        ("ab", (1, 1), "positive lengths"),
        ((1.0, 1.0), ("a", 1), "positive lengths"),
        ((1.0, 1.0), (1, None), "positive lengths"),
        ((1.0, (1.0, 2.0)), (1, 1), "positive lengths"),
        (1.0, 1, "positive lengths"),
        ((1.0, 1.0, 1.0), (10**7, 10**7, 10**7), "GiB on each"),
        ((1.0,), (10**14,), "GiB on each"),
    ],
)
def test_boxes_of_odd_numbers(lengths: Any, divisions: Any, told: str) -> None:
    text = message_of(lambda: Mesh.box(lengths, divisions))
    assert told in text
    assert "given lengths" in text
    assert Mesh.box((1, 2), (2.0, 3)).n_points == 12


@pytest.mark.collective(rows=0)
def test_warps_that_return_no_coordinates() -> None:
    def text(warp: Any) -> str:
        with refused(ParameterError, asked="warp") as caught:
            Mesh.box((1.0, 1.0), (2, 2), warp=warp)
        assert len(set(COMM.allgather(str(caught.value)))) == 1
        return str(caught.value)

    assert "shape" in text(lambda x: None)
    assert "shape" in text(lambda x: x[:, :2])
    assert "must return numbers" in text(lambda x: "text")
    assert "not finite" in text(lambda x: x * np.nan)
    assert "ZeroDivisionError" in text(lambda x: x * (1 / (COMM.rank - COMM.size + 1)))


@pytest.mark.collective(rows=0)
def test_a_region_named_all_that_is_not_all_is_told() -> None:
    def named(regions: Any) -> list[str]:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            mesh = Mesh.from_arrays(SQUARE, {"quad": [[0, 1, 2, 3]]}, regions)
            assert mesh["all"].size == 1
        return [str(w.message) for w in found]

    assert not named({"all": ("quad", [0])})
    told = COMM.bcast(named({"all": ("line", [[0, 1]])}))
    assert "region 'all' is not all cells" in told[0]


@pytest.mark.collective(rows=0)
def test_warp_that_inverts_cells() -> None:
    text = message_of(lambda: Mesh.box((1.0, 1.0, 1.0), (2, 2, 2), warp=lambda x: x * [1, 1, -1]))
    assert "inverted" in text


def test_points_outside_the_mesh() -> None:
    mesh = Mesh.box((1.0,), (3,))
    last = COMM.rank == COMM.size - 1
    text = message_of(lambda: mesh.fetch_points([99] if last else [0]))
    assert "points 0 to 3" in text
    with refused(sa.MeshError, asked="ids", given=-1):
        mesh.fetch_points([3, -1])
    assert "are whole" in message_of(lambda: mesh.fetch_points([0.5]))


def test_folder_that_cannot_be_written(shared_tmp_path: Path) -> None:
    mesh = Mesh.box((1.0,), (3,))
    if COMM.rank == 0:
        (shared_tmp_path / "file").write_text("in the way")
    COMM.Barrier()
    with pytest.raises(OSError, match="file"):
        mesh.write(shared_tmp_path / "file" / "mesh.h5")
    mesh.write(shared_tmp_path / "made" / "mesh.h5")
    assert Mesh.read(shared_tmp_path / "made" / "mesh.h5").n_points == 4


def test_error_is_not_lost_when_meshio_prints(
    shared_tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = shared_tmp_path / "bad.msh"
    if COMM.rank == 0:
        path.write_text("$Nothing\n")
    COMM.barrier()
    message_of(lambda: Mesh.read(path))
    assert capsys.readouterr().out == ""
