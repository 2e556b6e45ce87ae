# SPDX-License-Identifier: BSD-3-Clause
"""Meshes of another order: nodes between corners go, or come into the middles of edges."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING

import numpy as np

from ..cells.table import CELLS
from ..runtime.collective import (
    block_starts,
    combine,
    exchange,
    lookup,
    owners_of,
    reduced,
    shares,
    sorted_blocks,
)
from .edges import NumberedEdges
from .slices import CellSlice, Members, Slices

if TYPE_CHECKING:
    from mpi4py import MPI

    from ..arrays import Integers, Ints, Mask


def _corners(kind: str) -> tuple[str, int | None]:
    """Return the type of first order of the same shape, and its number of nodes, which come first.

    Of types that are not known: themselves, None.
    """
    base = re.sub("[0-9]*$", "", kind)
    return (base, len(CELLS[base].nodes)) if base in CELLS else (kind, None)


def lowered(comm: MPI.Comm, mesh: Slices) -> Slices:
    """Return a mesh with cells of first order between the corners of given ones (collective).

    Cells keep their order; those that were of first order come first. Nodes that are between the
    corners of a cell and the corner of none are left out, also of regions of points.
    """
    starts = mesh.point_starts
    between, corner = (np.zeros(len(mesh.points), dtype=bool) for _ in range(2))
    for kind, every in mesh.cells.items():
        points_of_cells = every.connectivity[: 0 if kind == "vertex" else None]
        for flags, nodes in (
            (corner, points_of_cells[:, : _corners(kind)[1]]),
            (between, points_of_cells),
        ):
            at = np.unique(nodes)
            flags |= combine(comm, starts, at, np.ones(len(at), dtype=bool), np.logical_or)
    stays = corner | ~between
    count = shares(comm, int(stays.sum()))
    number = np.where(stays, count[comm.rank] + np.cumsum(stays) - 1, -1)
    new = block_starts(int(count[-1]), comm.size)
    moving = [mesh.points[stays]] + ([] if mesh.labels is None else [mesh.labels[stays]])
    _, (points, *labels) = exchange(comm, owners_of(new, number[stays]), *moving)
    names = list(mesh.members)
    members: Members = {name: {} for name in names}
    of_type: dict[str, list[str]] = {}
    for kind in sorted(mesh.cells, key=lambda kind: kind != _corners(kind)[0]):
        of_type.setdefault(_corners(kind)[0], []).append(kind)
    cells: dict[str, CellSlice] = {}
    for kind, sources in of_type.items():
        size, ids, rows, of_regions, own = _between_corners(comm, mesh, sources, number)
        low = block_starts(size, comm.size)
        ids, (rows, of_regions, own) = sorted_blocks(comm, low, ids, rows, of_regions, own)
        of_cells = own if any(mesh.cells[s].labels is not None for s in sources) else None
        cells[kind] = CellSlice(kind, int(low[comm.rank]), rows, size, of_cells)
        total = reduced(comm, of_regions.sum(axis=0, dtype=np.int64))
        for k, name in enumerate(names):
            if not set(sources).isdisjoint(mesh.members[name]):
                own = np.flatnonzero(of_regions[:, k])
                members[name][kind] = None if total[k] == size else own
    return Slices(points, new, cells, members, labels[0] if labels else None)


def _between_corners(
    comm: MPI.Comm, mesh: Slices, sources: list[str], number: Ints
) -> tuple[int, Ints, Ints, Mask, Ints]:
    """Return cells between the corners of cells of some types, those whose corners all stay.

    How many on all ranks; of this rank's ids, nodes, regions (cells, regions) and labels.
    Collective.
    """
    parts, first = [], 0
    for source in sources:
        own = mesh.cells[source].connectivity[:, : _corners(source)[1]]
        rows = lookup(comm, mesh.point_starts, own, number)
        stay = (rows >= 0).all(axis=1)
        before = shares(comm, int(stay.sum()))
        ids = first + before[comm.rank] + np.arange(stay.sum())
        parts.append((ids, rows[stay], _members(mesh, source)[stay], _labels(mesh, source)[stay]))
        first += int(before[-1])
    ids, rows, members, labels = (np.concatenate(part) for part in zip(*parts, strict=True))
    return first, ids, rows, members, labels


#: Types with a node in the middle of each edge, by those that have none.
_RAISED = {
    cell.straight.name: cell.name
    for cell in CELLS.values()
    if len(cell.nodes) == cell.corners + len(cell.edges) > cell.corners
}


def raised(comm: MPI.Comm, mesh: Slices, name: str) -> Slices:
    """Return a mesh whose cells of first order have nodes in the middles of edges (collective).

    Cells, their order and regions stay; warns of regions of points, which have corners alone. The
    new points come last, in the order of the ends of their edges. A mesh without cells of first
    order stays; where it has both, those of higher order become straight, with a warning.
    """
    if not any(kind in _RAISED for kind in mesh.cells):
        return mesh
    mesh = _straight(comm, mesh, name)
    starts = mesh.point_starts
    pairs: list[Integers] = [np.empty((0, 2), np.int64)]
    kinds = [kind for kind in mesh.cells if kind in _RAISED]
    for kind in kinds:
        ends = np.array(CELLS[kind].edges)
        pairs.append(mesh.cells[kind].connectivity[:, ends].reshape(-1, 2))
    numbered = NumberedEdges(comm, starts, np.concatenate(pairs))
    first, edges = numbered.first + int(starts[-1]), numbered.edges
    middle = numbered.number(np.concatenate(pairs)) + int(starts[-1])
    ends_of = lookup(comm, starts, edges, mesh.points)
    ids = np.append(
        np.arange(starts[comm.rank], starts[comm.rank + 1]),
        first[comm.rank] + np.arange(len(edges)),
    )
    places = np.concatenate([mesh.points, ends_of.mean(axis=1)])
    moving = [places] + ([] if mesh.labels is None else [np.pad(mesh.labels, (0, len(edges)))])
    new = block_starts(int(first[-1]), comm.size)
    ids, (places, *labels) = sorted_blocks(comm, new, ids, *moving)
    cells, k = dict[str, CellSlice](), 0
    for kind, old in mesh.cells.items():
        rows = old.connectivity
        if kind in kinds:
            width = len(CELLS[kind].edges)
            own = middle[k : k + len(rows) * width].reshape(len(rows), width)
            k, rows = k + own.size, np.concatenate([rows, own], axis=1)
        new_kind = _RAISED.get(kind, kind)
        cells[new_kind] = CellSlice(new_kind, old.start, rows, old.size, old.labels)
    members: Members = {
        name: {_RAISED.get(kind, kind): which for kind, which in cells_of_region.items()}
        for name, cells_of_region in mesh.members.items()
    }
    _warn_of_points(comm, mesh, name)
    return Slices(places, new, cells, members, labels[0] if labels else None)


def _straight(comm: MPI.Comm, mesh: Slices, name: str) -> Slices:
    """Return a mesh without cells of higher order; warn where it has some (collective)."""
    bent = [kind for kind in mesh.cells if kind != _corners(kind)[0]]
    if not bent:
        return mesh
    if comm.rank == 0:
        warnings.warn(
            f"{name}: order=2 makes cells of {', '.join(bent)} straight, as others are of first "
            "order",
            stacklevel=5,
        )
    return lowered(comm, mesh)


def _warn_of_points(comm: MPI.Comm, mesh: Slices, name: str) -> None:
    points = [repr(region) for region, members in mesh.members.items() if "vertex" in members]
    if points and comm.rank == 0:
        warnings.warn(
            f"{name}: regions of points hold corners alone, not the new nodes between them: "
            f"{', '.join(points)}; hold regions of faces or edges instead",
            stacklevel=5,
        )


def _labels(mesh: Slices, kind: str) -> Ints:
    """Return the labels of this rank's cells of a type, 0 of those that have none."""
    cells = mesh.cells[kind]
    return np.zeros(len(cells.connectivity), np.int64) if cells.labels is None else cells.labels


def _members(mesh: Slices, kind: str) -> Mask:
    """Return which of this rank's cells of a type each region has, (cells, regions)."""
    table = np.zeros((len(mesh.cells[kind].connectivity), len(mesh.members)), dtype=bool)
    for column, members in zip(table.T, mesh.members.values(), strict=True):
        which: Ints | None = members.get(kind, np.empty(0, np.int64))
        column[slice(None) if which is None else which] = True
    return table
