# SPDX-License-Identifier: BSD-3-Clause
"""Every file is written to the end or not at all: a full disk is told and leaves the old file."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from mpi4py import MPI

import symancf as sa
from symancf.output.history import History
from symancf.runtime import files
from symancf.runtime.files import HdfFile
from tests.mpi import environment
from tests.refusals import refused
from tests.unit.test_checkpoint import rope

COMM = MPI.COMM_WORLD

FULL = """
import errno, resource, signal, sys
from pathlib import Path
import numpy as np
import symancf as sa
from symancf.output.history import History
from tests.unit.test_checkpoint import rope
from tests.unit.test_output import sheet

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
folder = Path(sys.argv[1])
mesh, system, samples = sa.Mesh.box((1.0, 1.0), (40, 40)), rope(300), sheet(30)
image = np.random.default_rng(1).integers(0, 255, (40, 60, 3), dtype=np.uint8)

def history(**files):
    table = History(**files)
    now = [0]
    table.record("r", lambda: np.full(50, now[0] + 1 / 3))
    table.record("x", lambda: now[0])
    try:
        for _ in range(20):
            table.sample(now[0])
            now[0] += 1
    finally:
        table.close()
    return table

kept = history()
series = sa.output.Series(folder / "series.pvd")
states = sa.output.Series(folder / "states.vtkhdf")
states.write(0.0, samples)
writers = {
    "mesh.h5": mesh.write,
    "checkpoint.h5": lambda path: sa.checkpoint.save(path, system),
    "body.vtu": lambda path: sa.output.write(path, samples),
    "series.pvd": lambda path: series.write(0.0, samples),
    "body.vtkhdf": lambda path: sa.output.write(path, samples),
    "states.vtkhdf": lambda path: states.write(1.0, samples),
    "table.csv": kept.to_csv,
    "rows.csv": lambda path: history(csv=path),
    "table.hdf5": kept.to_hdf5,
    "curve.png": lambda path: kept.plot("x", path=path),
    "film.gif": lambda path: sa.view.write_film([image, image[::-1]], path),
}
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
for name, write in writers.items():
    path = folder / name
    write(path)
    size = 2 << 20 if name.endswith(("hdf5", "vtkhdf")) else path.stat().st_size
    whole, told = path.read_bytes(), 0
    parts = 4 if name.endswith(("png", "gif", "hdf5", "vtkhdf")) else 20
    for limit in {0, 1, 97, *(size * k // parts for k in range(1, parts)), size - 1}:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
        try:
            write(path)
        except OSError as error:
            if error.filename != str(path) and not str(error.filename).startswith(f"{path}"[:-4]):
                sys.exit(f"{name}: {error} does not name the file")
            told += error.errno == errno.EFBIG and "ulimit -f" in str(error)
        else:
            sys.exit(f"{name}: {limit} bytes of {size} and no error")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        left = [p.name for p in folder.rglob("*.partial")]
        if left:
            sys.exit(f"{name}: {left} stays")
        if name == "rows.csv":  # what reached the disk is right, the line that did not is gone
            found = History.read(path)
            n = len(found["time"])
            right = np.arange(n) + 1 / 3
            if not all((found[f"r[{k}]"] == right).all() for k in range(50)):
                sys.exit(f"{name}: wrong rows")
        elif path.read_bytes() != whole:
            sys.exit(f"{name}: the old file is lost")
    print(name, told)
"""


def test_a_full_disk_is_told_by_every_writer_and_the_old_file_stays(tmp_path: Path) -> None:
    """HDF5 itself ends in a segmentation fault, meshes among its victims."""
    command = [sys.executable, "-W", "error", "-c", FULL, str(tmp_path)]
    done = subprocess.run(
        command, env=environment(), capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = dict(line.split() for line in done.stdout.splitlines())
    assert len(told) == 11
    assert min(map(int, told.values())) >= 4


@pytest.mark.collective
def test_rows_of_all_ranks_or_the_error_of_one(shared_tmp_path: Path) -> None:
    path = shared_tmp_path / "rows.h5"
    rows = np.arange(3.0 * (COMM.rank + 1)).reshape(-1, 3) + 100 * COMM.rank
    for name in ("a", "b"):
        file = HdfFile(path, COMM, lambda file: file.attrs.update(kind="rows"))
        file.append(name, rows)
        file.append("b", rows[:, 0])
        if name == "a":
            file.close()
        else:
            with pytest.raises(ValueError, match="already exists"):
                file.close()
    with h5py.File(path, "r") as found:
        np.testing.assert_array_equal(found["a"], np.concatenate(COMM.allgather(rows)))
        assert found.attrs["kind"] == "rows"
    assert [p.name for p in shared_tmp_path.iterdir()] == ["rows.h5"]


def test_damaged_meshes_and_checkpoints_are_refused(tmp_path: Path) -> None:
    """Some flipped bytes were read as other coordinates, or kept HDF5 busy for ever."""
    mesh = sa.Mesh.box((1.0, 1.0), (2, 2))
    mesh.write(tmp_path / "mesh.h5")
    system = rope(3)
    sa.checkpoint.save(tmp_path / "run.h5", system)
    rng = np.random.default_rng(5)
    for name, read in (
        ("mesh.h5", lambda path: str(sa.Mesh.read(path).points)),
        ("run.h5", lambda path: str(sa.checkpoint.load(path, system))),
    ):
        whole = (tmp_path / name).read_bytes()
        right, refused = read(tmp_path / name), 0
        path = tmp_path / f"bad_{name}"
        for k in range(60):
            bytes_ = np.frombuffer(whole, np.uint8).copy()
            bytes_[rng.integers(len(bytes_), size=(1, 4, 30)[k % 3])] ^= np.uint8(
                rng.integers(1, 255)
            )
            path.write_bytes(bytes_.tobytes()[: len(whole) if k % 4 else k * len(whole) // 60])
            try:
                found = read(path)
            except (sa.MeshError, sa.CheckpointError):
                refused += 1
            else:
                assert found == right
        assert refused > 30


@pytest.mark.parametrize("kind", ["csv", "h5"])
def test_the_table_of_the_run_before_stays_until_there_is_a_row(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"run.{kind}"

    def run(rows: int) -> None:
        history = History(**{"csv" if kind == "csv" else "hdf5": path})
        history.record("x", lambda: [1.0, 2.0] if rows else None)
        try:
            for k in range(max(rows, 1)):
                history.sample(k)
        finally:
            history.close()

    run(3)
    with pytest.raises(sa.ParameterError):
        run(0)
    assert len(History.read(path)["time"]) == 3
    run(1)
    assert len(History.read(path)["time"]) == 1
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_what_was_cut_off_a_table_is_left_out_and_told(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    text = "time,x,y\n0.0,1.25,22.333333333333332\n1.0,1.5,2.5e-10\n"
    first, second = (text.index("\n", at) + 1 for at in (0, 10))
    for length in range(len(text) + 1):
        path.write_text(text[:length])
        if length < first:
            with refused(sa.SymancfError, asked=str(path)):
                History.read(path)
        elif text[length - 1] == "\n":
            rows = (length > first) + (length > second)
            assert len(History.read(path)["y"]) == rows
        else:
            with pytest.warns(UserWarning, match=r"last line .* is left out; \d rows"):
                found = History.read(path)
            np.testing.assert_array_equal(found["y"], [22.333333333333332][: length > second])


@pytest.mark.parametrize(
    "damaged",
    [
        "time,x\n0.0,1.0\n1.0\n2.0,3.0\n",
        "time,x\n0.0,1.0\n1.0,1.0,5.0\n",
        "time,x,x\n0.0,1.0,2.0\n",
        "x,y\n0.0,1.0\n",
        "time,x\n0.0,1.0\x00\n",
        "time,x\n0.0,\xff\n",
    ],
)
def test_damaged_tables_are_refused(tmp_path: Path, damaged: str) -> None:
    path = tmp_path / "run.csv"
    path.write_text(damaged)
    with refused(sa.SymancfError, asked=str(path)):
        History.read(path)
    path.write_bytes(damaged.encode("utf-16"))
    with refused(sa.SymancfError, asked=str(path)):
        History.read(path)


@pytest.mark.parametrize("number", [errno.EROFS, errno.EDQUOT, errno.EIO, errno.ENOSPC])
def test_what_hdf5_says_of_a_write_that_failed_is_put_in_words(number: int) -> None:
    said = f"Unable to create file (file write failed: time = Sat\n, errno = {number}, buf = 0x5)"
    told = files.with_path(OSError(number, said), Path("/data/.a.vtkhdf.partial"))
    assert (told.errno, told.filename) == (number, "/data/a.vtkhdf")
    assert told.strerror == f"{os.strerror(number)}; {files.REMEDIES[number]}"
