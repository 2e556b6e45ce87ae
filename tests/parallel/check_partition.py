# SPDX-License-Identifier: BSD-3-Clause
"""Distribute sets of families and compare with what one rank knows; run by test_partition."""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

import numpy as np
from mpi4py import MPI

from symancf.errors import MeshError
from symancf.mesh import Mesh
from symancf.mesh.partition import Family, Topology, distribute, graph
from symancf.runtime.collective import block_starts

COMM = MPI.COMM_WORLD


def slice_of(array: Any, seed: int | None = None) -> np.ndarray:
    """Rows of this rank from an array that all ranks have; uneven if seeded."""
    array = np.asarray(array, np.int64)
    cuts = block_starts(len(array), COMM.size)
    if seed is not None:
        random = np.random.default_rng(seed)
        cuts[1:-1] = np.sort(random.integers(0, len(array) + 1, COMM.size - 1))
    return array[cuts[COMM.rank] : cuts[COMM.rank + 1]]


def family(name: str, vertices: Any, seed: int | None = None, **options: Any) -> Family:
    ids = np.arange(len(vertices)) * 3 + 7
    return Family(name, slice_of(ids, seed), slice_of(vertices, seed), **options)


def box(*divisions: int) -> np.ndarray:
    return Mesh.box([1.0] * len(divisions), divisions, comm=MPI.COMM_SELF).slice("body")[1]


def shuffled(cells: np.ndarray, seed: int = 5) -> np.ndarray:
    random = np.random.default_rng(seed)
    points = random.permutation(int(cells.max()) + 1)
    return points[cells][random.permutation(len(cells))]


def cases(name: str) -> tuple[list[Family], int | None]:
    if name == "hexahedra":
        return [family("body", box(9, 8, 7))], None
    if name == "shuffled":
        return [family("body", shuffled(box(9, 8, 7)), seed=3)], None
    if name == "quadrilaterals":
        edge = np.arange(20)[:, None] * 21 + [[0, 21]]
        return [family("plate", box(20, 20)), family("root", edge, partitioned=False)], 441
    if name == "lines":
        return [family("cable", box(57))], 58
    if name == "one cell":
        return [family("body", box(1, 1, 1))], 8
    if name == "mixed":
        # A block, a plate on one of its faces and a cable that starts at the plate's corner; the
        # plate's far edge is tied to the cable's points by multipliers (joints across ranks).
        hexes, quads, lines = box(6, 6, 6), box(6, 12), box(40)
        n = 7**3
        quads = np.where(quads < 7, quads, quads + n - 7)
        n += 7 * 13 - 7
        lines = np.where(lines == 0, 6, lines + n - 1)
        n += 40
        joints = np.array([[n + i, n - 1 - 3 * i, 5 * i, 400 + 2 * i] for i in range(12)])
        bodies = np.array([[n + 12 + i, n + 13 + i, n] for i in range(5)])
        hub = np.array([[n + 20, i] for i in range(0, 300, 7)])
        return [
            family("block", hexes, weight=4.0),
            family("plate", quads, seed=1, weight=2.0),
            family("cable", lines, seed=2),
            family("joints", joints, seed=4, partitioned=False),
            family("bodies", bodies, partitioned=False),
            family("hub", hub, partitioned=False),
        ], n
    if name == "bodies only":
        chain = np.array([[i, i + 1, 60 + i] for i in range(50)])
        return [family("joints", chain, partitioned=False)], None
    if name == "apart":  # followers that touch nothing else, and a family without entities
        lonely = np.array([[900 + i] for i in range(5)])
        none = np.empty((0, 3), np.int64)
        return [
            family("plate", box(6, 6)),
            family("states", lonely, partitioned=False),
            family("none", none, partitioned=False),
        ], 49
    raise ValueError(name)


Known = dict[str, dict[int, tuple[int, ...]]]  # family -> entity -> vertices


def gathered(families: list[Family]) -> Known:
    out = {}
    for f in families:
        ids = np.concatenate(COMM.allgather(f.ids))
        vertices = np.concatenate(COMM.allgather(f.vertices))
        out[f.name] = dict(zip(ids.tolist(), map(tuple, vertices.tolist()), strict=True))
    return out


def verify(topo: Topology, families: list[Family]) -> dict[str, Any]:
    """Assert all that a topology promises; numbers for the test to judge."""
    n, known = topo.n_owned, gathered(families)
    verify_vertices(
        topo, {v for held in known.values() for vertices in held.values() for v in vertices}
    )
    verify_entities(topo, known)
    verify_halo(topo)
    verify_followers(topo, families, known)
    cost = sum(len(topo.families[f.name].ids) * f.weight for f in families if f.partitioned)
    first = next(iter(topo.families.values()))
    span = np.ptp(first.vertices[(first.vertices < n).all(axis=1)], axis=1)
    return {
        "owned": COMM.allgather(n),
        "ghosts": COMM.allgather(topo.n_local - n),
        "cost": COMM.allgather(cost),
        "entities": {f.name: len(known[f.name]) for f in families},
        "joint_ranks": joint_ranks(topo),
        "span": COMM.allreduce(float(span.sum())) / max(COMM.allreduce(len(span)), 1),
    }


def verify_vertices(topo: Topology, used: set[int]) -> None:
    """Assert that every vertex is owned once, and that numbers and owners are the owner's."""
    n, rank = topo.n_owned, COMM.rank
    owned = COMM.allgather(topo.vertex_ids[:n])
    everything = np.concatenate(owned)
    assert len(everything) == len(used) == topo.n_global
    assert set(everything.tolist()) == used
    assert np.all(np.diff(topo.starts) == [len(o) for o in owned])
    assert np.array_equal(everything[topo.numbers], topo.vertex_ids)
    assert np.all(topo.owners[:n] == rank)
    assert np.all(topo.owners[n:] != rank)
    assert np.array_equal(np.searchsorted(topo.starts, topo.numbers, side="right") - 1, topo.owners)
    assert np.all(np.diff(topo.numbers[n:]) > 0)
    assert len(np.unique(topo.vertex_ids)) == topo.n_local


def verify_entities(topo: Topology, known: Known) -> None:
    """Assert that every entity that touches an owned vertex is here, no other, and is right."""
    mine = set(topo.vertex_ids[: topo.n_owned].tolist())
    needed = set()
    for name, held in known.items():
        local = topo.families[name]
        here = {i for i, vertices in held.items() if mine.intersection(vertices)}
        assert set(local.ids.tolist()) == here
        assert len(local.ids) == len(here)
        assert local.vertices.dtype == np.int32
        for i, vertices in zip(local.ids.tolist(), topo.vertex_ids[local.vertices], strict=True):
            assert held[i] == tuple(vertices.tolist())
            needed.update(held[i])
        owned_ids = np.concatenate(COMM.allgather(local.ids[local.owned]))
        assert sorted(owned_ids.tolist()) == sorted(held)
    assert needed == set(topo.vertex_ids.tolist())  # the halo is complete and nothing more


def verify_halo(topo: Topology) -> None:
    """Assert that messages between owners and ghosts bring what they must."""
    n = topo.n_owned
    for shape, kind in (((), float), ((3,), float), ((2, 3), np.int64), ((), np.int8)):
        right = (topo.numbers.reshape(-1, *[1] * len(shape)) * np.ones(shape)).astype(kind)
        data = right.copy()
        data[n:] = -1
        topo.halo.update(data)
        assert np.array_equal(data, right)
    size = topo.numbers % 3  # lists of 0 to 2 values; of these, some
    start = np.concatenate([[0], np.cumsum(size)])
    right = (
        np.repeat(topo.numbers, size) * 2.0 + np.arange(size.sum()) - np.repeat(start[:-1], size)
    )
    data = np.where(np.arange(len(right)) < start[n], right, -1.0)
    assert np.array_equal(topo.halo.spread(start).updated(data), right)
    some = np.flatnonzero(np.repeat(topo.numbers, size) % 5 == 1)
    assert np.array_equal(topo.halo.spread(start).restricted(some).updated(data[some]), right[some])


def verify_followers(topo: Topology, families: list[Family], known: Known) -> None:
    """Assert that followers sit with a neighbour."""
    cells = {v for f in families if f.partitioned for w in known[f.name].values() for v in w}
    owner = dict(zip(topo.vertex_ids.tolist(), topo.owners.tolist(), strict=True))
    followers = [f.name for f in families if cells and not f.partitioned]
    for vertices in (
        known[name][i] for name in followers for i in topo.families[name].ids.tolist()
    ):
        if len(vertices) == 4:  # joints: multiplier and three points of cells
            assert owner[vertices[0]] in {owner[v] for v in vertices if v in cells}


def joint_ranks(topo: Topology) -> int:
    """Joints whose vertices belong to different ranks."""
    if "joints" not in topo.families:
        return 0
    local = topo.families["joints"]
    owners = topo.owners[local.vertices]
    across = np.any(owners != owners[:, :1], axis=1)
    return int(COMM.allreduce(int((across & local.owned).sum())))


def fingerprint(topo: Topology) -> list[Any]:
    parts = [topo.vertex_ids, topo.numbers, topo.owners]
    for f in topo.families.values():
        parts += [f.ids, f.vertices, f.owned]
    return [p.tolist() for p in parts]


def failures() -> dict[str, list[Any]]:
    """What each rank catches when only the last one is at fault."""
    last = COMM.rank == COMM.size - 1
    good = family("plate", box(6, 6))
    bad = {
        "shape": Family("plate", good.ids[:-1] if last else good.ids, good.vertices),
        "negative": Family("plate", good.ids, good.vertices - (10**6 if last else 0)),
        "name": Family("sheet" if last and COMM.size > 1 else "plate", good.ids, good.vertices),
    }
    out: dict[str, list[Any]] = {}
    for name, wrong in bad.items():
        caught: list[Any] = []
        try:
            distribute(COMM, [wrong])
        except MeshError as error:
            caught = [error.asked, error.given, str(error)]
        out[name] = COMM.allgather(caught)
    stray = np.array([[48], [60]]) if last else np.empty((0, 1), np.int64)
    follower = Family("load", np.arange(len(stray)), stray, partitioned=False)
    for name, families, points in (
        ("unused", [good, follower], 100),
        ("virtual", [good, follower], 49),
        ("nothing", [family("none", np.empty((0, 4)))], None),
    ):
        caught: list[Any] = []
        try:
            distribute(COMM, families, n_points=points)
        except MeshError as error:
            caught = [error.asked, error.given, str(error)]
        out[name] = COMM.allgather(caught)
    return out


def main(name: str) -> Any:
    if name == "failures":
        return failures()
    if name == "no ptscotch":
        families, n_points = cases("hexahedra")
        before, graph.PARTITIONER = graph.PARTITIONER, "nonsense"
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            topo = distribute(COMM, families, n_points=n_points)
        graph.PARTITIONER = before
        texts = [str(w.message) for w in caught]
        return verify(topo, families) | {"warnings": texts}
    families, n_points = cases(name)
    topo = distribute(COMM, families, n_points=n_points)
    result = verify(topo, families)
    again = distribute(COMM, families, n_points=n_points)
    result["same"] = COMM.allreduce(fingerprint(topo) == fingerprint(again), MPI.LAND)
    return result


if __name__ == "__main__":
    outcome = {name: main(name) for name in sys.argv[1:]}
    if COMM.rank == 0:
        print(json.dumps(outcome))
