# SPDX-License-Identifier: BSD-3-Clause
"""What C finds in cells and along edges is what NumPy finds; no more memory passes by than that."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from mpi4py import MPI

import symancf as sa
from symancf.cells import CELLS
from symancf.mesh.cells import jacobians
from symancf.mesh.conformity import Edges, LocalCells, hashes
from symancf.mesh.storage import read_slices

if TYPE_CHECKING:
    from pathlib import Path
from symancf.mesh.edges import adjacency

pytestmark = pytest.mark.collective
COMM = MPI.COMM_WORLD
BUDGET = 400  # bytes a hexahedron that pass by, on one rank


def bent(X: np.ndarray) -> np.ndarray:
    return X + 0.02 * np.sin(5.0 * X[:, [1, 2, 0]])


@pytest.mark.collective(rows=2)
@pytest.mark.parametrize("cell", [kind for kind, c in CELLS.items() if c.dimension])
def test_jacobians_and_keys_in_c_are_those_of_numpy(cell: str) -> None:
    unit, count = CELLS[cell].unit, 11  # more than the lanes, and no multiple
    places = np.zeros((count, len(unit), 3))
    places[:, :, : unit.shape[1]] = unit
    places += np.random.default_rng(5).uniform(-0.2, 0.2, places.shape)
    places[4, 1] = places[4, 0]  # an edge without length
    rows = np.arange(count * len(unit)).reshape(count, -1)
    root = COMM.rank == 0
    given = (places.reshape(-1, 3), {cell: rows}) if root else (None, None)
    mesh = sa.Mesh.from_arrays(*given, check=False)
    local, rows = LocalCells(mesh), mesh.cells[cell].connectivity
    want = jacobians(cell, mesh.fetch_points(rows)).min(axis=1, initial=2.0)
    np.testing.assert_allclose(local.least_jacobians(cell), want, rtol=0, atol=1e-12)
    assert local.first_repeating(cell) == -1
    np.testing.assert_array_equal(local.keys[cell], hashes(rows))


def test_neighbours_are_those_of_the_links() -> None:
    rng = np.random.default_rng(3 + COMM.rank)
    size, cells = 60, rng.integers(-2, 64, (200, 4)).astype(np.int32)
    links = ((0, 1), (1, 2), (2, 3), (3, 0), (0, 2))
    stars = rng.integers(0, 60, (3, 40)).astype(np.int32)  # long rows
    graph = adjacency(COMM, size, [(cells, links), (stars, None)])
    want: list[set[int]] = [set() for _ in range(size)]
    pairs = [(c[a], c[b]) for c in cells.tolist() for a, b in links]
    pairs += [(star[0], v) for star in stars.tolist() for v in star[1:]]
    for a, b in pairs:
        if a != b and min(a, b) >= 0 and max(a, b) < size:
            want[a].add(b)
            want[b].add(a)
    assert graph.start[-1] == len(graph.neighbours) == sum(map(len, want))
    for v, row in enumerate(want):
        assert graph.neighbours[graph.start[v] : graph.start[v + 1]].tolist() == sorted(row)


def test_edges_are_the_same_on_all_numbers_of_ranks() -> None:
    mesh = sa.Mesh.box((3.0, 2.0, 1.0), (4, 3, 2), warp=lambda X: bent(X) + 700.0)
    alone = sa.Mesh.box(
        (3.0, 2.0, 1.0), (4, 3, 2), warp=lambda X: bent(X) + 700.0, comm=MPI.COMM_SELF
    )
    kinds = ["hexahedron", "quad"]
    one, many = (Edges.of(m, LocalCells(m), kinds) for m in (alone, mesh))
    assert max(COMM.allgather(many.worst)) == one.worst
    assert COMM.allreduce(many.shortest, MPI.MIN) == one.shortest
    assert COMM.allreduce(many.longest, MPI.MAX) == one.longest
    x = alone.points[alone.cells["hexahedron"].connectivity]
    ends = np.array(CELLS["hexahedron"].links)
    lengths = np.linalg.norm(x[:, ends[:, 0]] - x[:, ends[:, 1]], axis=2)
    assert one.shortest == pytest.approx(lengths.min(), rel=1e-12)
    assert one.longest == pytest.approx(lengths.max(), rel=1e-12)
    along = np.abs(x[:, ends[:, 0]] - x[:, ends[:, 1]]) > 0
    size = np.where(along, np.abs(x[:, ends[:, 0]]), 0).max(axis=2)
    other = np.where(along, np.abs(x[:, ends[:, 1]]), 0).max(axis=2)
    want = (np.finfo(float).eps * np.maximum(size, other) / lengths).max()
    assert one.worst[0] == pytest.approx(want, rel=1e-12)
    assert not len(one.hanging)


def test_cells_with_one_hash_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    from symancf.mesh import conformity

    first = LocalCells.first_repeating

    def colliding(self: LocalCells, kind: str) -> int:
        bad = first(self, kind)
        self.keys[kind] //= np.uint64(1 << 61)
        return bad

    monkeypatch.setattr(conformity.LocalCells, "first_repeating", colliding)
    sa.Mesh.box((1.0, 1.0, 1.0), (3, 3, 3)).check()


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_file_in_single_precision_is_checked_alike(shared_tmp_path: Path, kind: type) -> None:
    path = shared_tmp_path / "box.h5"
    sa.Mesh.box((1.0, 1.0, 1.0), (3, 3, 3)).write(path)
    slices = read_slices(path, COMM)
    fewer = replace(slices, points=slices.points.astype(kind))
    mesh = sa.Mesh(COMM, "box", fewer)
    mesh.check()
    low = LocalCells(mesh).least_jacobians("hexahedron")
    np.testing.assert_allclose(low, 1.0, atol=1e-5)


def test_checks_pass_little_memory() -> None:
    if COMM.size > 1:
        return
    n = 24
    mesh = sa.Mesh.box((1.0, 1.0, 1.0), (n, n, n))
    mesh.check()
    tracemalloc.start()
    try:
        mesh.check()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < BUDGET * n**3
