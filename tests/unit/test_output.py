# SPDX-License-Identifier: BSD-3-Clause
"""Files for ParaView: read back by other programs, safe after a crash, errors on every rank."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import meshio
import numpy as np
import pytest
from mpi4py import MPI

import symancf as sa
from symancf import output
from symancf.cells import CELLS
from symancf.errors import SymancfError
from symancf.output import Samples, Series
from symancf.output.vtkhdf import Stored
from tests.refusals import refused

if TYPE_CHECKING:
    from pathlib import Path

COMM = MPI.COMM_WORLD
pytestmark = pytest.mark.collective


def sheet(n: int = 3, shift: float = 0.0) -> Samples:
    """A warped n x n sheet with a field of every shape."""
    i, j = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    x = np.stack([i + shift, j, 0.1 * i * j], -1).reshape(-1, 3).astype(float)
    k = np.arange((n + 1) ** 2).reshape(n + 1, n + 1)
    quads = np.stack([k[:-1, :-1], k[1:, :-1], k[1:, 1:], k[:-1, 1:]], -1).reshape(-1, 4)
    m = len(x)
    return Samples(
        x,
        {"quad": quads, "line": np.stack([k[0, :-1], k[0, 1:]], -1)},
        {
            "displacement": np.sin(x),
            "thickness": x[:, 0] ** 2,
            "stress": np.arange(9.0 * m).reshape(m, 3, 3),
            "class": np.arange(m),
        },
        {"rank": np.full(n * n + n, COMM.rank, np.int32)},
    )


def test_meshio_reads_a_piece(tmp_path: Path) -> None:
    given = sheet()
    path = output.write(tmp_path / "sheet", given, MPI.COMM_SELF)
    assert path.suffix == ".vtu"
    found = meshio.read(path)
    np.testing.assert_array_equal(found.points, given.points)
    np.testing.assert_array_equal(found.cells_dict["quad"], given.cells["quad"])
    np.testing.assert_array_equal(found.cells_dict["line"], given.cells["line"])
    for name, values in given.point_data.items():
        np.testing.assert_array_equal(
            found.point_data[name].reshape(values.shape), values, err_msg=name
        )
    np.testing.assert_array_equal(np.concatenate(found.cell_data["rank"]), given.cell_data["rank"])


def of_kinds(*kinds: str) -> Samples:
    """One cell of each kind on points of its own, with fields and texts."""
    x = np.empty((0, 3))
    cells: dict[str, Any] = {}
    for kind in kinds:
        unit = CELLS[kind].unit
        at = np.pad(unit, ((0, 0), (0, 3 - unit.shape[1])))
        at[:, 0] += 2.0 * len(cells)
        cells[kind] = len(x) + np.arange(len(at))[None]
        x = np.concatenate([x, at])
    numbers: dict[str, Any] = {"region_id": np.arange(len(cells))}
    fields: dict[str, Any] = {"stress": np.arange(9.0 * len(x)).reshape(-1, 3, 3)}
    texts = {"region_id": '0 body, 1 tip: <&> "q"\nof all', "name": "a: b"}
    return Samples(x, cells, fields, numbers, {"stress": "N/mm²"}, texts)


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize(
    "kinds",
    [
        ("quad",),
        ("hexahedron", "tetra"),
        ("line", "triangle", "quad"),
        ("hexahedron20", "tetra10", "hexahedron27", "wedge18", "triangle6", "quad8"),
        ("vertex",),
        (),
    ],
)
def test_meshio_and_vtk_read_all_kinds_of_pieces(kinds: tuple[str, ...], tmp_path: Path) -> None:
    pyvista = pytest.importorskip("pyvista")
    given = of_kinds(*kinds)
    if not kinds:  # points alone
        given = Samples(sheet().points, {}, {"stress": np.zeros((16, 3, 3))}, {"none": np.empty(0)})
        given.units = {"stress": "N/mm²"}
    series = Series(tmp_path / "run.pvd", MPI.COMM_SELF)
    series.write(0.5, {"upper body": given, "lower body": sheet()})
    for name, files in output.states(series.path)[0][1].items():
        wanted = given if name == "upper body" else sheet()
        assert not isinstance(files, Stored)
        found, grid = meshio.read(files), pyvista.read(files)
        np.testing.assert_array_equal(found.points, wanted.points)
        np.testing.assert_array_equal(grid.points, wanted.points)
        for kind, cells in wanted.cells.items():
            np.testing.assert_array_equal(found.cells_dict[kind], cells)
        np.testing.assert_array_equal(
            found.point_data["stress"], wanted.point_data["stress"].reshape(-1, 9)
        )
        if not wanted.cells:  # a cell of each point, which ParaView shows
            np.testing.assert_array_equal(found.cells_dict["vertex"][:, 0], np.arange(16))
        again = output.read(files)[""]
        for key, values in wanted.cell_data.items():
            if wanted.cells:
                np.testing.assert_array_equal(np.concatenate(found.cell_data[key]), values)
                np.testing.assert_array_equal(again.cell_data[key], values)
        units = ["units: stress [N/mm²]"] * bool(wanted.units)
        assert set(found.field_data) == set(grid.field_data.keys()) >= {"TimeValue", *units}
        assert {k: v for k, v in wanted.texts.items() if k != "name"} == again.texts
        assert again.units == wanted.units


def test_meshio_reads_rigid_bodies_and_shapes(tmp_path: Path) -> None:
    body = sa.RigidBody.sphere(0.5, position=(1.0, -1.0, 4.0), rho=1.0, name="ball")
    system = sa.System(body)
    shapes = (body, sa.Plane((0.0, 0.0, -1.0)), sa.Sphere(0.4), sa.Capsule(0.4, 1.5))
    for number, drawn in enumerate(sa.sample(system, shape) for shape in shapes):
        if len(drawn.points):  # on one of the ranks
            found = meshio.read(output.write(tmp_path / f"{number}", drawn, MPI.COMM_SELF))
            np.testing.assert_array_equal(found.points, drawn.points)
            for kind, cells in drawn.cells.items():
                np.testing.assert_array_equal(found.cells_dict[kind], cells)


def test_reads_back_its_own_files(tmp_path: Path) -> None:
    given = sheet(40)  # several compressed blocks
    (found,) = output.read(output.write(tmp_path / "sheet", given, MPI.COMM_SELF)).values()
    np.testing.assert_array_equal(found.points, given.points)
    assert list(found.cells) == ["quad", "line"]
    for kind in given.cells:
        np.testing.assert_array_equal(found.cells[kind], given.cells[kind])
    np.testing.assert_array_equal(found.point_data["thickness"], given.point_data["thickness"])
    assert found.point_data["class"].dtype == np.int64


def test_files_are_compressed(tmp_path: Path) -> None:
    given = sheet(100)
    given.point_data = {"zero": np.zeros((len(given.points), 3))}
    path = output.write(tmp_path / "sheet", given, MPI.COMM_SELF)
    raw = given.points.nbytes * 2 + given.cells["quad"].nbytes
    assert path.stat().st_size < raw / 2


def test_vtk_reads_all_pieces(shared_tmp_path: Path) -> None:
    pyvista = pytest.importorskip("pyvista")
    # One rank holds no cell at all and therefore no piece.
    empty = COMM.size > 1 and COMM.rank == 1
    given = Samples(np.empty((0, 3)), {"quad": np.empty((0, 4), int)}) if empty else sheet()
    path = output.write(shared_tmp_path / "parts", given)
    COMM.barrier()
    pieces = COMM.size - (COMM.size > 1)
    grid = pyvista.read(path)
    assert grid.n_points == 16 * pieces
    assert grid.n_cells == 12 * pieces
    assert set(grid.point_data) >= {"displacement", "thickness", "stress"}
    (found,) = output.read(path).values()
    assert len(found.points) == 16 * pieces
    np.testing.assert_allclose(found.points, grid.points)
    COMM.barrier()


def test_series_grows_and_is_whole_after_every_step(shared_tmp_path: Path) -> None:
    pyvista = pytest.importorskip("pyvista")
    series = Series(shared_tmp_path / "new folder" / "run.pvd")
    assert len(series) == 0
    for step in range(3):
        series.write(0.5 * step, {"upper sheet": sheet(shift=step), "lower": sheet()})
        reader = pyvista.get_reader(series.path)
        assert reader.time_values == [0.5 * k for k in range(step + 1)]
        reader.set_active_time_value(0.5 * step)
        blocks = reader.read()
        assert len(blocks) == 2
        COMM.barrier()
    assert len(series) == 3
    last = output.read(series.path)
    assert list(last) == ["upper sheet", "lower"]
    assert last["upper sheet"].points[:, 0].min() == 2.0
    COMM.barrier()


def of_vtk(path: Path, step: int) -> tuple[list[list[Any]], Any]:
    """What VTK reads of a state: for each body points, tensors and its cells' field; names."""
    vtk = pytest.importorskip("vtk")
    from vtk.util.numpy_support import vtk_to_numpy

    reader = vtk.vtkHDFReader()
    reader.SetFileName(str(path))
    reader.UpdateInformation()
    reader.SetStep(step)
    reader.Update()
    given = reader.GetOutputDataObject(0)
    several = given.IsA("vtkPartitionedDataSetCollection")
    count = given.GetNumberOfPartitionedDataSets() if several else 1
    found: list[list[Any]] = []
    for k in range(count):
        body = given.GetPartitionedDataSet(k) if several else given
        split = body.IsA("vtkPartitionedDataSet")
        parts = (
            [body.GetPartition(i) for i in range(body.GetNumberOfPartitions())] if split else [body]
        )
        found.append(
            [
                np.concatenate([vtk_to_numpy(array(part)) for part in parts])
                for array in (
                    lambda part: part.GetPoints().GetData(),
                    lambda part: part.GetPointData().GetArray("stress"),
                    lambda part: part.GetCellData().GetArray("rank"),
                )
            ]
        )
    return found, given.GetFieldData()


def test_states_in_one_file(shared_tmp_path: Path) -> None:
    """What moves and what stands, cells that change, names that are none of a file."""
    path = shared_tmp_path / "new" / "run.vtkhdf"
    series = Series(path)
    sizes = []
    for step, n in enumerate((3, 3, 3, 4)):
        moved, still = sheet(n, shift=step), sheet(2)
        moved.units = {"stress": "N/mm², Pa"}
        series.write(0.5 * step, {"Pläte 1": moved, "Pläte_1": still})
        sizes.append(path.stat().st_size)
        COMM.barrier()
        every = output.states(path)
        assert [time for time, _ in every] == [0.5 * k for k in range(step + 1)]
        found = output.read_state(every[-1][1])
        assert list(found) == ["Pläte 1", "Pläte_1"]
        for body, given in zip(found.values(), (moved, still), strict=True):
            whole = output.join([given] * COMM.size)
            np.testing.assert_array_equal(body.points, whole.points)
            for kind, cells in whole.cells.items():
                np.testing.assert_array_equal(body.cells[kind], cells)
            np.testing.assert_array_equal(
                body.point_data["stress"], whole.point_data["stress"].reshape(-1, 9)
            )
            assert np.bincount(body.cell_data["rank"]).tolist() == [given.n_cells] * COMM.size
        assert found["Pläte 1"].units == moved.units
        if COMM.rank == 0:
            bodies, _ = of_vtk(path, step)
            for (x, stress, rank), body in zip(bodies, found.values(), strict=True):
                np.testing.assert_array_equal(x, body.points)
                np.testing.assert_array_equal(stress, body.point_data["stress"])
                np.testing.assert_array_equal(rank, np.sort(body.cell_data["rank"]))
        COMM.barrier()
    first = output.read_state(output.states(path)[0][1])["Pläte 1"]
    assert first.points[:, 0].max() == 3.0
    assert sizes[2] - sizes[1] < sizes[0] / 4  # what stands is there once
    with refused(SymancfError, given=("Pläte 1",), possible=("Pläte 1", "Pläte_1")):
        series.write(3.0, {"Pläte 1": sheet()})
    less = sheet()
    del less.point_data["stress"]
    with refused(SymancfError, asked="Pläte 1"):
        series.write(3.0, {"Pläte 1": less, "Pläte_1": sheet()})
    resumed = Series(path)  # a script that goes on after the second state
    resumed.resume(2, [])
    resumed.write(9.0, {"Pläte 1": sheet(shift=9), "Pläte_1": sheet(2)})
    assert [time for time, _ in output.states(path)] == [0.0, 0.5, 9.0]
    assert output.read(path)["Pläte 1"].points[:, 0].min() == 9.0


def test_one_state_in_one_file(shared_tmp_path: Path) -> None:
    """A rank without cells has no partition; of nothing there is one."""
    none = Samples(np.empty((0, 3)), {})
    given = none if 0 < COMM.rank == COMM.size - 1 else sheet()
    given.units = {"stress": "N/mm², Pa"} if given.n_cells else {}
    path = output.write(shared_tmp_path / "sheet.vtkhdf", given)
    (found,) = output.read(path).values()
    assert found.n_cells == 12 * max(1, COMM.size - 1)
    if COMM.rank == 0:
        (body,), names = of_vtk(path, 0)
        np.testing.assert_array_equal(body[0], found.points)
        assert names.GetAbstractArray("units").GetValue(0) == "stress [N/mm², Pa]"
    (found,) = output.read(output.write(shared_tmp_path / "none.vtkhdf", none)).values()
    assert found.n_cells == len(found.points) == 0
    folder = shared_tmp_path / "folder.vtkhdf"
    if COMM.rank == 0:
        folder.mkdir()
    COMM.barrier()
    with refused(IsADirectoryError, filename=str(folder)):
        output.write(folder, given)
    with refused(SymancfError, asked=str(folder)):
        output.read(folder)
    given = sheet()
    given.point_data["a/b"] = np.zeros(len(given.points))
    with refused(SymancfError, asked="a/b"):
        output.write(path, given)


def test_cells_have_the_nodes_of_vtk() -> None:
    vtk = pytest.importorskip("vtk")
    for cell in CELLS.values():
        made = vtk.vtkGenericCell.InstantiateCell(cell.vtk)
        at = np.zeros((len(cell.nodes), 3))
        at[:, : cell.dimension] = cell.unit
        np.testing.assert_array_equal(np.array(made.GetParametricCoords()).reshape(-1, 3), at)


def test_crash_while_writing_keeps_the_states_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    series = Series(tmp_path / "run.pvd", MPI.COMM_SELF)
    series.write(0.0, sheet())
    before = series.path.read_bytes()

    def crash(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("symancf.output.vtu._encoded", crash)
        with pytest.raises(KeyboardInterrupt):
            series.write(1.0, sheet())
    assert series.path.read_bytes() == before
    assert not list(tmp_path.rglob("*.partial"))
    listed = [e.attrib["file"] for e in ElementTree.parse(series.path).iter("DataSet")]
    assert all((tmp_path / file).exists() for file in listed)
    series.write(1.0, sheet(shift=7))
    assert output.read(series.path)[""].points[:, 0].min() == 7.0


def test_folder_that_cannot_be_made_is_an_error_on_every_rank(shared_tmp_path: Path) -> None:
    if COMM.rank == 0:
        (shared_tmp_path / "file").write_text("in the way")
    COMM.barrier()
    in_the_way = str(shared_tmp_path / "file")
    with refused(FileExistsError, filename=in_the_way):
        Series(shared_tmp_path / "file" / "run.pvd")
    with refused(FileExistsError, filename=in_the_way):
        output.write(shared_tmp_path / "file" / "sheet", sheet())
    with refused(FileExistsError, filename=in_the_way):
        output.write(shared_tmp_path / "file" / "sheet.vtkhdf", sheet())


@pytest.mark.parametrize("fault", ["rows", "type", "number", "shape"])
def test_arrays_that_do_not_fit_are_an_error_on_every_rank(
    shared_tmp_path: Path, fault: str
) -> None:
    given = sheet()
    if COMM.rank == COMM.size - 1:
        if fault == "rows":
            given.point_data["thickness"] = np.zeros(3)
        elif fault == "type":
            given.cells["octagon"] = np.zeros((1, 8), int)
        elif fault == "number":
            given.cells["quad"][0, 0] = 99
        else:
            given.cells["quad"] = given.cells["quad"][:, :3]
    data: dict[str, Any] = {
        "rows": {"asked": "thickness", "given": 3, "possible": (16,)},
        "type": {"asked": "octagon"},
        "number": {"asked": "quad", "given": None},
        "shape": {"asked": "quad", "given": (9, 3)},
    }[fault]
    with refused(SymancfError, **data):
        output.write(shared_tmp_path / "sheet", given)


def test_fields_that_differ_between_ranks(shared_tmp_path: Path) -> None:
    given = sheet()
    if COMM.rank == 0:
        del given.point_data["stress"]
    if COMM.size == 1:
        output.write(shared_tmp_path / "sheet", given)
        return
    with refused(SymancfError, asked="sheet_1.vtu"):
        output.write(shared_tmp_path / "sheet", given)


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize("suffix", ["pvd", "vtkhdf"])
def test_bodies_that_differ_between_ranks(shared_tmp_path: Path, suffix: str) -> None:
    series = Series(shared_tmp_path / f"run.{suffix}")
    if COMM.size > 1:
        with refused(SymancfError, given=("a 1",), possible=("a 0",)):
            series.write(0.0, {f"a {COMM.rank}": sheet()})
    series.write(0.0, {"a 0": sheet(), "a_0": sheet(2)})
    found = output.read(series.path)
    assert [len(found[name].points) // COMM.size for name in ("a 0", "a_0")] == [16, 9]


def test_joined_samples_keep_common_fields() -> None:
    a, b = sheet(2), sheet(3, shift=10.0)
    del b.point_data["stress"]
    both = output.join([a, Samples(np.empty((0, 3)), {}), b])
    both.check()
    assert set(both.point_data) == {"displacement", "thickness", "class"}
    np.testing.assert_array_equal(both.points[both.cells["quad"][4:]], b.points[b.cells["quad"]])
    assert len(both.cell_data["rank"]) == both.n_cells
    everything = output.gather(COMM, a)
    if COMM.rank == 0:
        assert everything is not None
        assert everything.n_cells == COMM.size * a.n_cells
        by_rank = everything.cell_data["rank"][: 4 * COMM.size]
        np.testing.assert_array_equal(by_rank, np.repeat(np.arange(COMM.size), 4))
    else:
        assert everything is None


def test_files_of_other_origin_are_refused(tmp_path: Path) -> None:
    with refused(SymancfError, asked=str(tmp_path / "missing.pvd")):
        output.read(tmp_path / "missing.pvd")
    (tmp_path / "bad.vtu").write_text("<VTKFile/>")
    with refused(SymancfError, asked=str(tmp_path / "bad.vtu")):
        output.read(tmp_path / "bad.vtu")
    meshio.write(tmp_path / "other.vtu", meshio.Mesh([[0, 0, 0.0]], []), binary=False)
    with refused(SymancfError, asked=str(tmp_path / "other.vtu")):
        output.read(tmp_path / "other.vtu")


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize("at", ["lattice", "cell"])
def test_slabs_are_the_samples(
    at: Any, shared_tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("symancf.output.sampling.CHUNK", 7)
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (2, 3, 4))
    law, given = sa.energies.neo_hooke(), {"mu": 1.0, "lam": 2.0}
    cube = sa.Body(mesh["body"], sa.elements.hex8_plain, law, **given)
    system = sa.System(cube, terms=[sa.fix(cube["x0"])])
    system.state[:] += 0.1 * np.sin(np.arange(len(system.state)))
    asked: dict[str, Any] = {"fields": ["J", "cauchy"], "at": at, "units": {"cauchy": "Pa"}}
    plain = output.write(shared_tmp_path / "plain.vtu", sa.sample(system, cube, **asked))
    for name in ("slabs.vtu", "slabs.vtkhdf"):
        path = output.write(shared_tmp_path / name, output.slabs(system, cube, **asked))
        (one,), (other,) = (output.read(p).values() for p in (plain, path))
        np.testing.assert_array_equal(one.points, other.points)
        np.testing.assert_array_equal(one.cells["hexahedron"], other.cells["hexahedron"])
        for data, again in (
            (one.point_data, other.point_data),
            (one.cell_data, other.cell_data),
        ):
            assert data.keys() == again.keys()
            for field, values in data.items():
                np.testing.assert_array_equal(values, again[field])
        assert one.units == other.units
    if COMM.size == 1:
        assert len(ElementTree.parse(shared_tmp_path / "slabs.vtu").findall("*/Piece")) == 4
    every = output.slabs(system, cube, fields=["J"])
    system._discrete.time = 1.0
    with pytest.raises(SymancfError, match="the system is at 1 now"):
        next(every)


def test_slabs_of_ranks_are_as_many(shared_tmp_path: Path) -> None:
    if COMM.size > 1:
        with pytest.raises(SymancfError, match="not as many slabs on each rank"):
            output.write(shared_tmp_path / "few.vtu", iter([sheet()] * (1 + COMM.rank)))
    with pytest.raises(SymancfError, match="is 5: give samples"):
        output.write(shared_tmp_path / "none.vtu", 5)  # type: ignore[arg-type]
