# SPDX-License-Identifier: BSD-3-Clause
"""Meshes of higher order as those of first order: corners stay, nodes between them go."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from ..cells.table import CELLS
from ..runtime.collective import block_starts, combine, exchange, lookup, owners_of, reduced, shares
from .slices import Cells, Members, Slices

if TYPE_CHECKING:
    from mpi4py import MPI

    from ..arrays import Ints, Mask


def _corners(kind: str) -> tuple[str, int | None]:
    """Return the type of first order of the same shape, and its number of nodes, which come first.

    Of types that are not known: themselves, None.
    """
    base = re.sub("[0-9]*$", "", kind)
    return (base, len(CELLS[base].nodes)) if base in CELLS else (kind, None)


def lowered(comm: MPI.Comm, given: Slices) -> Slices:
    """Return a mesh with cells of first order between the corners of given ones (collective).

    Cells keep their order; those that were of first order come first. Nodes that are between the
    corners of a cell and the corner of none are left out, also of regions of points.
    """
    starts = given.point_starts
    between, corner = (np.zeros(len(given.points), dtype=bool) for _ in range(2))
    for kind, every in given.cells.items():
        whole = every.connectivity[: 0 if kind == "vertex" else None]
        for flags, nodes in ((corner, whole[:, : _corners(kind)[1]]), (between, whole)):
            at = np.unique(nodes)
            flags |= combine(comm, starts, at, np.ones(len(at), dtype=bool), np.logical_or)
    kept = corner | ~between
    count = shares(comm, int(kept.sum()))
    number = np.where(kept, count[comm.rank] + np.cumsum(kept) - 1, -1)
    new = block_starts(int(count[-1]), comm.size)
    _, (points,) = exchange(comm, owners_of(new, number[kept]), given.points[kept])
    names = list(given.members)
    members: Members = {name: {} for name in names}
    of_type: dict[str, list[str]] = {}
    for kind in sorted(given.cells, key=lambda kind: kind != _corners(kind)[0]):
        of_type.setdefault(_corners(kind)[0], []).append(kind)
    cells: dict[str, Cells] = {}
    for kind, sources in of_type.items():
        parts, first = [], 0
        for source in sources:
            own = given.cells[source].connectivity[:, : _corners(source)[1]]
            rows = lookup(comm, starts, own, number)
            stay = (rows >= 0).all(axis=1)
            before = shares(comm, int(stay.sum()))
            ids = first + before[comm.rank] + np.arange(stay.sum())
            parts.append((ids, rows[stay], _members(given, source)[stay]))
            first += int(before[-1])
        ids, rows, held = (np.concatenate(part) for part in zip(*parts, strict=True))
        low = block_starts(first, comm.size)
        _, (ids, rows, held) = exchange(comm, owners_of(low, ids), ids, rows, held)
        order = np.argsort(ids, kind="stable")
        cells[kind] = Cells(kind, int(low[comm.rank]), rows[order], first)
        total = reduced(comm, held.sum(axis=0, dtype=np.int64))
        for k, name in enumerate(names):
            if not set(sources).isdisjoint(given.members[name]):
                own = np.flatnonzero(held[order, k])
                members[name][kind] = None if total[k] == first else own
    return Slices(points, new, cells, members)


def _members(given: Slices, kind: str) -> Mask:
    """Return which of this rank's cells of a type each region has, (cells, regions)."""
    found = np.zeros((len(given.cells[kind].connectivity), len(given.members)), dtype=bool)
    for column, held in zip(found.T, given.members.values(), strict=True):
        which: Ints | None = held.get(kind, np.empty(0, np.int64))
        column[slice(None) if which is None else which] = True
    return found
