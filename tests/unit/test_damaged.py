# SPDX-License-Identifier: BSD-3-Clause
"""Damaged files are refused, or read as far as they are whole, in bounded time."""

from __future__ import annotations

import random
import struct
import sys
import time
import warnings
from pathlib import Path

import h5py
import meshio
import numpy as np
import pytest
from mpi4py import MPI

import symancf as sa
from symancf.output import Samples, Series
from symancf.runtime import hdf
from symancf.runtime.integrity import Closed, lookup3
from tests.campaign import damaged
from tests.refusals import refused

COMM = MPI.COMM_WORLD


def tower(states: int, path: Path, first: int = 0) -> Series:
    """Write states of a square that grows, on this rank."""
    series = Series(path, MPI.COMM_SELF)
    for k in range(first, first + states):
        series.write(float(k), square(k))
    return series


def square(k: int) -> Samples:
    points = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]) * (k + 1.0)
    noise = np.random.default_rng(k).random((4, 1000))
    return Samples(points, {"quad": np.array([[0, 1, 2, 3]])}, {"noise": noise})


@pytest.mark.collective(rows=4)
@pytest.mark.parametrize("kind", damaged.KINDS)
def test_damaged_files_of_every_kind(
    kind: str, shared_tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sample of the campaign's class of that name."""
    monkeypatch.setenv("SYMANCF_CAMPAIGN", str(shared_tmp_path))
    damaged._written.cache_clear()
    for way in ("cut", "bytes"):
        begun = time.monotonic()
        try:
            damaged.attempt(kind, way, f"{kind} {way}")
        except sa.SymancfError as error:
            said = str(error)
        else:
            said = ""
        assert time.monotonic() - begun < 30.0
        assert len(set(COMM.allgather(said))) == 1


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_cut_series_or_history_gives_an_error_or_its_whole_steps(
    tmp_path: Path, share: float
) -> None:
    """Reading a cut .vtkhdf did not end; a cut history was read as times of zero."""
    tower(9, tmp_path / "run.vtkhdf")
    history = sa.History(hdf5=tmp_path / "run.h5", comm=MPI.COMM_SELF)
    now = [0.0]
    history.record("x", lambda: np.full(3000, now[0]))
    for k in range(1, 9):
        now[0] = 0.5 * k
        history.sample(now[0])
    errors: list[bool] = []
    for name in ("run.vtkhdf", "run.h5"):  # the history is still being written
        data = (tmp_path / name).read_bytes()
        cut = tmp_path / f"cut_{name}"
        cut.write_bytes(data[: int(share * len(data.rstrip(b"\0")))])
        times = 0.5 * np.arange(1, 9) if name == "run.h5" else np.arange(9.0)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                if name == "run.h5":
                    found = sa.History.read(cut)["time"]
                else:
                    states = sa.output.states(cut)
                    found = np.array([t for t, _ in states])
                    noise = sa.output.read_state(states[-1][1])[""].point_data["noise"]
                    np.testing.assert_array_equal(noise, square(len(found) - 1).point_data["noise"])
            except sa.SymancfError as error:
                errors.append(error.asked == str(cut))
                continue
        np.testing.assert_array_equal(found, times[: len(found)])
        assert len(found) == len(times) or len(told) == 1
    assert all(errors)
    history.close()


def test_a_series_goes_on_behind_its_last_whole_state(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.vtkhdf"
    tower(9, path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(0.8 * len(whole))])
    series = Series(path, MPI.COMM_SELF)
    series.resume(9, [(float(k), "", "") for k in range(9)])
    kept = len(series)
    assert 3 < kept < 9
    assert len(series.entries) == kept
    told = capfd.readouterr().err
    assert told.count("\n") == 1
    assert f"{kept} of its 9 states" in told
    assert path.with_name("run.vtkhdf.damaged").stat().st_size == int(0.8 * len(whole))
    series.write(1000.0, square(1000))
    states = sa.output.states(path)
    assert [t for t, _ in states] == [*map(float, range(kept)), 1000.0]
    for k, noise in ((kept - 1, kept - 1), (kept, 1000)):
        found = sa.output.read_state(states[k][1])[""].point_data["noise"]
        np.testing.assert_array_equal(found, square(noise).point_data["noise"])


def test_a_series_whose_writer_was_killed_goes_on(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """HDF5 opens a file for reading only that has the mark of a writer."""
    path = tmp_path / "run.vtkhdf"
    tower(3, path)
    data = path.read_bytes()
    head = data[:11] + b"\x05" + data[12:44]
    path.write_bytes(head + struct.pack("<I", lookup3(head)) + data[48:] + bytes(5000))
    assert len(sa.output.states(path)) == 3
    series = Series(path, MPI.COMM_SELF)
    series.resume(2, [(float(k), "", "") for k in range(2)])
    series.write(7.0, square(7))
    assert [t for t, _ in sa.output.states(path)] == [0.0, 1.0, 7.0]
    assert not capfd.readouterr().err
    with h5py.File(path, "r") as file:  # as other programs open it
        assert len(file["VTKHDF/Steps/Values"]) == 3


def test_a_series_with_a_damaged_index_that_no_state_needs_is_written_anew(tmp_path: Path) -> None:
    """HDF5 loops for ever where it makes such data sets longer."""
    path = tmp_path / "run.vtkhdf"
    damaged._series(path, 3.0)
    whole = path.read_bytes()
    indices = [k for k in range(len(whole)) if whole.startswith(b"EAIB", k)]
    right = damaged._read_series(path)
    for at in indices[-9::4]:
        path.write_bytes(whole[: at + 160] + b"\x27" + whole[at + 161 :])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = damaged._resume(path)
        assert found == right[: len(found)]


def test_a_series_of_which_nothing_is_left_begins_anew(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.vtkhdf"
    tower(3, path)
    path.write_bytes(path.read_bytes()[:1000])
    series = Series(path, MPI.COMM_SELF)
    series.resume(3, [(float(k), "", "") for k in range(3)])
    assert "first 0 of its 3 states" in capfd.readouterr().err
    series.write(3.0, square(3))
    assert [t for t, _ in sa.output.states(path)] == [3.0]


def test_rows_exchanged_or_of_another_file_are_no_states_of_this_one(tmp_path: Path) -> None:
    """HDF5's own checksums do not see whole chunks that change places."""
    for name in ("a", "b"):
        tower(3, tmp_path / f"{name}.vtkhdf", 10 * (name == "b"))
    with h5py.File(tmp_path / "a.vtkhdf", "r+") as file:
        noise = file["VTKHDF/PointData/noise"]
        noise[:8] = np.roll(noise[:8], 4, axis=0)
    states = sa.output.states(tmp_path / "a.vtkhdf")
    sa.output.read_state(states[2][1])
    with refused(sa.SymancfError, asked=str(tmp_path / "a.vtkhdf")):
        sa.output.read_state(states[0][1])


def test_changed_bytes_of_a_checkpoint_are_found_where_hdf5_has_no_checksum(tmp_path: Path) -> None:
    system = damaged._system()
    path = tmp_path / "run.h5"
    table = np.arange(7.0) + 0.123456789
    sa.checkpoint.save(path, system, attributes={"table": table})
    data = path.read_bytes()
    at = data.index(table.tobytes())
    path.write_bytes(data[: at + 3] + b"\x55" + data[at + 4 :])
    with refused(sa.CheckpointError, asked=str(path), path=str(path)):
        sa.checkpoint.load(path, system)


def test_a_data_set_larger_than_its_file_is_not_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    with h5py.File(path, "w", libver="latest") as file:
        for name in ("time", "x"):
            file.create_dataset(name, (10**15,), "f8", chunks=(1024,), maxshape=(None,))
            file[name].attrs["every"] = 1
    with refused(sa.SymancfError, asked=str(path)):
        sa.History.read(path)


def test_a_reader_that_loops_or_dies_in_hdf5_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.h5"
    with h5py.File(path, "w") as file:
        file["a"], file["b"] = np.arange(3.0), np.arange(4.0)
    source = Path(hdf.integrity.__file__).read_text(encoding="utf-8")
    for trouble in ("while True: pass", "os.kill(os.getpid(), signal.SIGSEGV)"):
        script = tmp_path / "integrity.py"
        begin = "say(rows=name, count=0, of=rows)\n"
        loop = f"        if name not in self.rows_read and name == '/b':\n            {trouble}\n"
        assert begin in source
        script.write_text(
            source.replace(begin, begin + loop).replace("CPU, WALL = 1.0", "CPU, WALL = 0.2")
        )
        monkeypatch.setattr(hdf.integrity, "__file__", str(script))
        hdf._verified_files.clear()
        there = hdf.examined(path, partly=True)
        assert there.rows == {"/a": (3, 3), "/b": (0, 4)}
        with pytest.raises(OSError, match="damaged"):
            hdf.examined(path)


def test_the_checksum_of_superblocks_is_that_of_hdf5(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    with h5py.File(path, "w", libver="latest"):
        pass
    head = path.read_bytes()[:48]
    assert lookup3(head[:44]) == struct.unpack("<I", head[44:])[0]
    with Closed(path) as closed:
        closed.seek(0)
        assert closed.read(48) == head
    path.write_bytes(head[:20] + b"\x07" + head[21:])
    with pytest.raises(OSError, match="first bytes"):
        hdf.examined(path)


@pytest.mark.parametrize("suffix", [".dat", ".mdpa", ".node", ".off", ".ply", ".msh"])
def test_meshes_of_other_formats_that_are_cut_off_come_to_an_end(
    tmp_path: Path, suffix: str
) -> None:
    """Meshio asks for more lines of them for ever."""
    path = tmp_path / f"mesh{suffix}"
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]])
    kind = "tetra" if suffix in (".dat", ".mdpa", ".node", ".msh") else "triangle"
    cells = {"tetra": [[0, 1, 2, 3], [1, 2, 3, 4]], "triangle": [[0, 1, 2], [1, 2, 3]]}[kind]
    form = "ansys" if suffix == ".msh" else None
    meshio.write(path, meshio.Mesh(points, [(kind, cells)]), file_format=form)
    data = path.read_bytes()
    chance, errors = random.Random(suffix), []
    for at in chance.sample(range(len(data)), 12):
        path.write_bytes(data[:at])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                sa.Mesh.read(path)
            except sa.MeshError as error:
                errors.append(error.path == str(path))
    assert errors
    assert all(errors)


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of memory is read from /proc")
def test_a_damaged_number_of_a_mesh_asks_for_no_memory_without_bounds(tmp_path: Path) -> None:
    path = tmp_path / "mesh.inp"
    path.write_text(
        "*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n*ELEMENT, TYPE=T3D2\n1, 1, 2\n"
        "*NSET, NSET=a, GENERATE\n1, 1000000000000000, 1\n"
    )
    begun = time.monotonic()
    with pytest.warns(UserWarning, match="a"):  # of labels that are not there
        mesh = sa.Mesh.read(path)
    assert sorted(mesh["a"].points()) == [0, 1]
    assert time.monotonic() - begun < 10.0
