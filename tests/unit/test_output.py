# SPDX-License-Identifier: BSD-3-Clause
"""Files for ParaView: read back by other programs, safe after a crash, errors on every rank."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

import meshio
import numpy as np
import pytest
from mpi4py import MPI

from symancf import output
from symancf.errors import SymancfError
from symancf.output import Samples, Series

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
    with pytest.raises(OSError, match="file"):
        Series(shared_tmp_path / "file" / "run.pvd")
    with pytest.raises(OSError, match="file"):
        output.write(shared_tmp_path / "file" / "sheet", sheet())


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
    pattern = {
        "rows": "thickness.*3 rows for 16 points",
        "type": "octagon",
        "number": "not among 16",
        "shape": r"shape \(k, 4\)",
    }[fault]
    with pytest.raises(SymancfError, match=pattern):
        output.write(shared_tmp_path / "sheet", given)


def test_fields_that_differ_between_ranks(shared_tmp_path: Path) -> None:
    given = sheet()
    if COMM.rank == 0:
        del given.point_data["stress"]
    if COMM.size == 1:
        output.write(shared_tmp_path / "sheet", given)
        return
    with pytest.raises(SymancfError, match="differ between ranks"):
        output.write(shared_tmp_path / "sheet", given)


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
    with pytest.raises(SymancfError, match=r"cannot read .*missing\.pvd"):
        output.read(tmp_path / "missing.pvd")
    (tmp_path / "bad.vtu").write_text("<VTKFile/>")
    with pytest.raises(SymancfError, match=r"bad\.vtu"):
        output.read(tmp_path / "bad.vtu")
    meshio.write(tmp_path / "other.vtu", meshio.Mesh([[0, 0, 0.0]], []), binary=False)
    with pytest.raises(SymancfError, match=r"other\.vtu"):
        output.read(tmp_path / "other.vtu")
