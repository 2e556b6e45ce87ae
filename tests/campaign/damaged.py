# SPDX-License-Identifier: BSD-3-Clause
"""Files that symancf reads, damaged in their bytes: an error, or what was written, in 10 s."""

from __future__ import annotations

import contextlib
import io
import os
import random
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import h5py
import meshio
import numpy as np
from mpi4py import MPI

import symancf as sa
from symancf.output import Samples, Series

from . import models
from .case import Case, Wrong

COMM = MPI.COMM_WORLD
WAYS = (
    *("cut", "cut", "cut", "byte", "bytes", "zeros", "ones", "exchanged", "empty"),
    *("head of another", "length", "length", "longer"),
)
SIZES = (8, 64, 512, 4096)
LENGTHS = (0, 1, 2**32, 10**18, 2**63 - 1, 2**64 - 1)
TEXTS = ("table", "xdmf", "med", "older history")  # nothing in them tells a number from another


def damage(way: str, chance: random.Random, whole: bytes, other: bytes) -> bytes:
    """Return the bytes of a file, damaged; `other` is another file of its kind."""
    data, n = bytearray(whole), len(whole)
    size = min(chance.choice(SIZES), max(1, n // 3))
    at = chance.randrange(n)
    if way == "cut":
        return whole[:at]
    if way == "empty":
        return b""
    if way == "longer":
        return whole + other[:at]
    if way == "head of another":
        size = min(chance.choice((8, 48, 512, 2048)), n // 2)
        return (other[:size] + whole[size:])[:n]
    if way in ("byte", "bytes"):
        for _ in range(1 if way == "byte" else 20):
            data[chance.randrange(n)] = chance.randrange(256)
    elif way in ("zeros", "ones"):
        data[at : at + size] = (b"\0" if way == "zeros" else b"\xff") * size
    elif way == "exchanged":
        first, second = (size * chance.randrange(n // size) for _ in range(2))
        a, b = data[first : first + size], data[second : second + size]
        data[first : first + size], data[second : second + size] = b, a
    else:
        data[at : at + 8] = chance.choice(LENGTHS).to_bytes(8, "little")
    return bytes(data[:n])


# ---- what is written and read -------------------------------------------------------------------
@cache
def _system() -> sa.System:
    return sa.System(models.body("hex"), terms=[])


def _mesh(path: Path, size: float) -> None:
    sa.Mesh.box((size, 1.0, 1.0), (3, 2, 2)).write(path)


def _read_mesh(path: Path) -> list[Any]:
    mesh = sa.Mesh.read(path)
    found = [mesh.points, *(cells.connectivity for cells in mesh.cells.values())]
    return [[v.tolist() for v in found], sorted(mesh.regions)]


def _checkpoint(path: Path, size: float) -> None:
    system = _system()
    system.state[:] = (1.0 + 0.01 * size) * system.reference
    sa.checkpoint.save(path, system, attributes={"table": [size, 2.0]})


def _read_checkpoint(path: Path) -> list[Any]:
    vectors, facts = sa.checkpoint.load(path, _system())
    return [vectors["state"].tolist(), facts["time"], np.asarray(facts["table"]).tolist()]


def _samples(size: float, name: str = "") -> Samples:
    points = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]) * size
    data: dict[str, Any] = {f"height{name}": np.arange(4.0) * size}
    return Samples(points, {"quad": np.array([[0, 1, 2, 3]])}, data, {}, {f"height{name}": "m"})


def _series(path: Path, size: float) -> None:
    series = Series(path, MPI.COMM_SELF)
    for k in range(5):
        size = size * 1.5
        series.write(float(k), {"a": _samples(size), "b": _samples(1.0, "b")})


def _plain(parts: dict[str, Samples]) -> list[Any]:
    return [
        [name, p.points.tolist(), p.units]
        + [[k, v.tolist()] for part in (p.point_data, p.cells) for k, v in part.items()]
        for name, p in parts.items()
    ]


def _read_series(path: Path) -> list[Any]:
    states = sa.output.states(path)
    return [[time, _plain(sa.output.read_state(files))] for time, files in states]


def _resume(path: Path) -> list[Any]:
    """Go on after five states: what was whole of them stays, and a new one is behind it."""
    series = Series(path, COMM)
    listed = [(float(k), name, "") for k in range(5) for name in "ab"]
    with contextlib.redirect_stderr(io.StringIO()):
        series.resume(5, listed)
    mine = [_samples(s, n) if COMM.rank == 0 else Samples(np.empty((0, 3)), {}) for s, n in _NEW]
    series.write(9.0, dict(zip("ab", mine, strict=True)))
    found = _read_series(path)
    if found[-1][0] != 9.0 or len(found) != len(series):
        raise Wrong(f"{len(found)} states after {len(series)} were written")
    return found[:-1]


_NEW = ((7.0, ""), (1.0, "b"))


def _history(kind: str) -> Callable[[Path, float], None]:
    def write(path: Path, size: float) -> None:
        now = [0.0]
        history = sa.History(**{kind: path}, comm=MPI.COMM_SELF)
        history.record("x", lambda: size * now[0])
        history.record("v", lambda: np.full(3, size + now[0]), every=2)
        for k in range(9):
            now[0] = k / 7.0
            history.sample(0.25 * k)
        history.close()

    return write


def _read_history(path: Path) -> list[Any]:
    table = sa.History.read(path)
    names = sorted(table)
    every = [2 if name == "v" else 1 for name in names]
    rows = len(table["time"])
    return [
        [[n, table[n][k // e].tolist()] for n, e in zip(names, every, strict=True)]
        for k in range(rows)
    ]


def _older(path: Path, size: float) -> None:
    """Write a table as the versions before checksums did."""
    with h5py.File(path, "w", libver="latest") as file:
        for name, shape, every in (("time", (), 1), ("x", (), 1), ("v", (3,), 2)):
            rows = np.full((-(-9 // every), *shape), size)
            file.create_dataset(name, data=rows, maxshape=(None, *shape), chunks=(8, *shape))
            file[name].attrs["every"] = every


def _piece(path: Path, size: float) -> None:
    sa.output.write(path, _samples(size), MPI.COMM_SELF, size)


def _foreign(path: Path, size: float) -> None:
    points = np.array([[i, j, k] for k in (0, 1) for j in (0, 1) for i in (0, 1, 2)]) * size
    cells = [[0, 1, 4, 3, 6, 7, 10, 9], [1, 2, 5, 4, 7, 8, 11, 10]]
    meshio.write(path, meshio.Mesh(points.astype(float), [("hexahedron", cells)]))


def _any(read: Callable[[Path], object]) -> Callable[[Path], list[Any]]:
    """Read what nothing in the file tells to be right."""

    def read_it(path: Path) -> list[Any]:
        read(path)
        return []

    return read_it


#: kind -> name of its file, of that which is damaged, how it is written and read
KINDS: dict[str, tuple[str, str, Callable[[Path, float], None], Callable[[Path], list[Any]]]] = {
    "mesh": ("mesh.h5", "mesh.h5", _mesh, _read_mesh),
    "checkpoint": ("run.h5", "run.h5", _checkpoint, _read_checkpoint),
    "history": ("run.h5", "run.h5", _history("hdf5"), _read_history),
    "series": ("run.vtkhdf", "run.vtkhdf", _series, _read_series),
    "resumed series": ("run.vtkhdf", "run.vtkhdf", _series, _resume),
    "piece": ("run.vtu", "run.vtu", _piece, lambda p: _plain(sa.output.read(p))),
    "list of pieces": ("run.pvd", "run.pvd", _series, _read_series),
    "table": ("run.csv", "run.csv", _history("csv"), _any(sa.History.read)),
    "older history": ("run.h5", "run.h5", _older, _any(sa.History.read)),
    "xdmf": ("mesh.xdmf", "mesh.h5", _foreign, _any(sa.Mesh.read)),
    "med": ("mesh.med", "mesh.med", _foreign, _any(sa.Mesh.read)),
}
GROWING = ("history", "series", "resumed series")  # of which the steps before the damage are right
COLLECTIVE = ("mesh", "checkpoint")  # are written by all ranks


@cache
def _written(kind: str) -> tuple[Path, bytes, bytes, list[Any]]:
    """Write files of a kind (collective): the path, what is damaged, another, what is in it."""
    name, damaged, write, read = KINDS[kind]
    folder = Path(os.environ.get("SYMANCF_CAMPAIGN", ".")) / kind.replace(" ", "-")
    contents = []
    for size in (3.0, 1.0):
        if COMM.rank == 0:
            folder.mkdir(parents=True, exist_ok=True)
        COMM.Barrier()
        if kind in COLLECTIVE or COMM.rank == 0:
            write(folder / name, size)
        COMM.Barrier()
        contents.append((folder / damaged).read_bytes())
        COMM.Barrier()
    other, whole = contents
    right = _read_series(folder / name) if kind == "resumed series" else read(folder / name)
    COMM.Barrier()
    return folder / name, whole, other, right


def attempt(kind: str, way: str, seed: str) -> list[int]:
    """Damage a file and read it (collective)."""
    path, whole, other, right = _written(kind)
    _, damaged, _, read = KINDS[kind]
    if COMM.rank == 0:
        content = damage(way, random.Random(seed), whole, other)
        path.with_name(damaged).write_bytes(content)
    COMM.Barrier()
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found = read(path)
    finally:
        COMM.Barrier()  # before rank 0 writes the next one
    if kind not in TEXTS and found != right:
        if kind not in GROWING or found != right[: len(found)]:
            raise Wrong(f"{found} was read of {right}"[:600])
        if kind != "resumed series" and not told:
            raise Wrong(f"{len(found)} of {len(right)} steps were read without a word")
    return []


def generate(chance: random.Random, count: int) -> Iterator[Case]:
    """Yield damaged files, of each kind as many."""
    for number in range(count):
        kind = list(KINDS)[number % len(KINDS)]
        way, seed = chance.choice(WAYS), f"{chance.random()}"
        run = _runner(kind, way, seed)
        yield Case(f"{number} {kind}: {way}", run, alike=False)


def _runner(kind: str, way: str, seed: str) -> Callable[[], Any]:
    return lambda: attempt(kind, way, seed)
