# SPDX-License-Identifier: BSD-3-Clause
"""Sides of the cells of some regions: which there are, where they point, how they hang together.

Each side is held by one rank, that of the first cell which has it. What ranks have in common meets
on a rank that a hash of the nodes gives.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from ..arrays import Array, Ints, Mask
from ..cells.table import CELLS
from ..errors import outside
from ..runtime.collective import combine, exchange, exchange_blocks, lookup, shares
from .cells import unit
from .conformity import Hashes, hashes, pairs_in_groups

if TYPE_CHECKING:
    from collections.abc import Iterable

    from . import Mesh
    from .region import Region

S = TypeVar("S", bound=np.generic)

MAX_SIDES = 16  # sides of a cell, of all its types together


@dataclass(frozen=True)
class Sides:
    """Cells, or sides of cells of one type, that this rank holds.

    Attributes
    ----------
    kind : their type.
    order : (k,) ascending numbers that do not depend on the ranks.
    nodes : (k, nv) global point ids; of outer sides of volumes counter-clockwise seen from outside.
    of : type of the cells that they are sides of; none of cells themselves.
    beside, side : (k, ...) nodes of the cell that has it, and which of its sides it is.
    """

    kind: str
    order: Ints
    nodes: Ints
    of: str = ""
    beside: Ints | None = None
    side: Ints | None = None

    def select(self, chosen: Mask) -> Sides:
        """Return some of them."""
        beside = None if self.beside is None else self.beside[chosen]
        side = None if self.side is None else self.side[chosen]
        return Sides(self.kind, self.order[chosen], self.nodes[chosen], self.of, beside, side)


class Meeting:
    """Rows of all ranks, brought to where those of the same key are, and answered."""

    def __init__(self, comm: MPI.Comm, keys: Hashes) -> None:
        """Collective; `keys` (k,) of this rank's rows."""
        self.comm = comm
        self._to = (keys % np.uint64(comm.size)).astype(np.int64)
        self._order = np.argsort(self._to, kind="stable")
        self._counts, (keys,) = exchange(comm, self._to, keys)
        self.group = np.unique(keys, return_inverse=True)[1].ravel()

    @property
    def groups(self) -> int:
        """How many keys have met on this rank."""
        return int(self.group.max(initial=-1)) + 1

    def bring(self, rows: NDArray[S]) -> NDArray[S]:
        """Return the rows (n, ...) that came here, for the groups `group` (n,). Collective."""
        return np.asarray(exchange(self.comm, self._to, rows)[1][0])

    def answer(self, rows: NDArray[S]) -> NDArray[S]:
        """Return what the meetings say (n, ...) to the rows (k, ...) of this rank. Collective."""
        _, (answers,) = exchange_blocks(self.comm, self._counts, rows)
        back = np.empty_like(answers)
        back[self._order] = answers
        return back


def cells_of(region: Region) -> list[Sides]:
    """Return the cells of a region, by type."""
    return [Sides(kind, *region.slice(kind)) for kind in region.types]


def sides_of(comm: MPI.Comm, cells: list[Sides], *, outer: bool) -> list[Sides]:
    """Return the sides of some cells, of one dimension less, each once (collective).

    `outer` : those of one of the cells only.
    """
    if not cells:
        return []
    every, keys, orders = [], [], []
    for cells_of_type in cells:
        first = 0
        for trace in CELLS[cells_of_type.kind].traces:
            local = CELLS[cells_of_type.kind].sides(trace)
            every.append((cells_of_type, trace, local))
            keys.append(hashes(cells_of_type.nodes[:, local].reshape(-1, local.shape[1])))
            number = np.arange(first, first + len(local))
            orders.append((MAX_SIDES * cells_of_type.order[:, None] + number).ravel())
            first += len(local)
    meeting = Meeting(comm, joined(keys, np.uint64))
    last = comm.allreduce(max((int(o.max(initial=0)) for o in orders), default=0), MPI.MAX)
    here = meeting.bring(joined([k * (last + 1) + o for k, o in enumerate(orders)], np.int64))
    least = np.full(meeting.groups, np.iinfo(np.int64).max)
    np.minimum.at(least, meeting.group, here)
    keep = least[meeting.group] == here
    if outer:
        keep &= np.bincount(meeting.group, minlength=meeting.groups)[meeting.group] == 1
    chosen_sides = np.split(meeting.answer(keep), np.cumsum([len(o) for o in orders])[:-1])
    sides = []
    for (cells_of_type, trace, local), order, chosen in zip(
        every, orders, chosen_sides, strict=True
    ):
        row, side = np.divmod(np.flatnonzero(chosen), len(local))
        beside = cells_of_type.nodes[row]
        nodes = np.take_along_axis(beside, local[side], axis=1)
        sides.append(
            Sides(
                trace, order[chosen], nodes, cells_of_type.kind, beside, order[chosen] % MAX_SIDES
            )
        )
    return sides


def normals(mesh: Mesh, sides: Sides) -> Array:
    """Return unit normals (k, 3): in the middle of surfaces; of their edges along them, outwards.

    Collective.
    """
    cell = CELLS[sides.kind]
    if cell.dimension == 1:
        assert sides.beside is not None
        assert sides.side is not None
        inwards = _inwards(sides.of, mesh.fetch_points(sides.beside))
        return np.asarray(-inwards[np.arange(len(inwards)), sides.side])
    _, slopes = cell.evaluate(cell.centre[None])
    along = np.einsum("vd,kva->dka", slopes[0], mesh.fetch_points(sides.nodes))
    return unit(np.cross(along[0], along[1]))


def _inwards(kind: str, x: Array) -> Array:
    """Return unit vectors (k, sides, 3) in lines or surfaces x (k, nv, 3), inwards from each side.

    Along lines from their ends, across the edges of surfaces from their middles.
    """
    cell = CELLS[kind]
    if cell.dimension == 1:
        places, along = cell.unit[:2], None
    else:
        ends = cell.unit[np.array(cell.edges)]
        places, along = ends.mean(axis=1), ends[:, 1] - ends[:, 0]
    _, slopes = cell.evaluate(places)
    vectors = np.einsum("svd,sd,kva->ksa", slopes, cell.centre - places, x)
    if along is not None:
        edge = unit(np.einsum("svd,sd,kva->ksa", slopes, along, x))
        vectors -= np.einsum("ksa,ksa->ks", vectors, edge)[..., None] * edge
    return unit(vectors)


def patches(mesh: Mesh, sides: list[Sides], turn: float) -> list[Ints]:
    """Return for each of some lines or surfaces the number of the patch that it is in (collective).

    Patches go on over ends and edges at which the turn is at most that given [rad], whatever the
    sense in which their cells are numbered. The number is the same for all of a patch.
    """
    from .partition.components import least_connected  # starts PETSc: on all ranks at once

    comm = mesh.comm
    starts = shares(comm, sum(len(s.order) for s in sides))
    keys, numbers, inwards, first = [], [], [], int(starts[comm.rank])
    for s in sides:
        cell = CELLS[s.kind]
        ends = np.array(cell.edges) if cell.dimension == 2 else np.array([[0], [1]])
        keys.append(hashes(s.nodes[:, ends].reshape(-1, ends.shape[1])))
        numbers.append(np.repeat(first + np.arange(len(s.order)), len(ends)))
        inwards.append(_inwards(s.kind, mesh.fetch_points(s.nodes)).reshape(-1, 3))
        first += len(s.order)
    meeting = Meeting(comm, joined(keys, np.uint64))
    number = meeting.bring(joined(numbers, np.int64))
    inward = meeting.bring(np.concatenate([np.zeros((0, 3)), *inwards]))
    order = np.argsort(meeting.group, kind="stable")
    pairs = [np.empty((0, 2), np.int64)]
    for first_of, second_of in pairs_in_groups(meeting.group[order]):
        a, b = order[first_of], order[second_of]
        straight = -np.einsum("ka,ka->k", inward[a], inward[b])
        smooth = straight >= np.cos(turn) - 1e-9
        pairs.append(np.stack([number[a], number[b]], axis=1)[smooth])
    label = least_connected(comm, starts, np.concatenate(pairs))
    return np.split(label, np.cumsum([len(s.order) for s in sides])[:-1])


def against(comm: MPI.Comm, lines: Ints) -> Mask:
    """Return which lines (k, nodes) are in the other sense than most of their chain (collective).

    Chains go on where two lines meet, and end where three do. Of as many in both senses the first
    one counts.
    """
    from .partition.components import least_connected  # starts PETSc: on all ranks at once

    starts = shares(comm, len(lines))
    number = int(starts[comm.rank]) + np.arange(len(lines))
    meeting = Meeting(comm, hashes(lines[:, :2].reshape(-1, 1)))
    ends = meeting.bring((2 * number[:, None] + np.arange(2)).ravel())  # 2 f: where f begins
    order = np.argsort(meeting.group, kind="stable")
    count = np.bincount(meeting.group, minlength=meeting.groups)
    first = (np.cumsum(count) - count)[count == 2]
    a, b = ends[order[first]], ends[order[first + 1]]
    other = (a % 2 == b % 2).astype(np.int64)  # of each line two senses, joined with a neighbour's
    a, b = a // 2, b // 2
    pairs = np.stack([np.append(2 * a, 2 * a + 1), np.append(2 * b + other, 2 * b + 1 - other)], 1)
    label = least_connected(comm, 2 * starts, pairs).reshape(-1, 2)[:, 0]
    sense, chain = np.where(label % 2, -1, 1), label // 2
    most = lookup(comm, starts, chain, combine(comm, starts, chain, sense))
    return np.asarray(sense * np.where(most < 0, -1, 1) < 0)


def in_one_sense(region: Region, name: str | None) -> Region:
    """Return a region with lines that follow each other in one sense (collective).

    That of most of those that hang together, or of the first one; where three or more meet
    each branch has its own. Those that are turned are told of with the `name` of a body.
    """
    (kind,), mesh = region.sizes, region.mesh
    turned = against(mesh.comm, region.slice(kind)[1])
    rows = region.slice(kind)[1][turned]
    X = mesh.fetch_points(rows[:1, :2]).reshape(-1, 3)
    centres = mesh.comm.allgather((len(rows), *X.mean(axis=0)) if len(rows) else (0,))
    many = sum(int(part[0]) for part in centres)
    if not many:
        return region
    if name and mesh.comm.rank == 0:
        _, x, y, z = next(part for part in centres if part[0])
        warnings.warn(
            f"body {name!r}: {many} of {region.size} cells, e.g. at ({x:g}, {y:g}, {z:g}), are "
            "numbered in the other sense than their neighbours; turned. The third axis of a "
            "section is the tangent by the second: where it matters which way the whole line "
            "goes, number it so",
            stacklevel=outside(),
        )
    return replace(region, turned=turned)


def distances(mesh: Mesh, sides: Sides, point: Array) -> Array:
    """Return how far points, lines or surfaces (k,) are from a point [m], flat between nodes.

    Collective.
    """
    x, cell = mesh.fetch_points(sides.nodes) - point, CELLS[sides.kind]
    if cell.dimension == 0:
        return np.asarray(np.linalg.norm(x[:, 0], axis=1))
    if cell.dimension == 1:
        pieces = [_to_segment(x[:, a], x[:, b]) for a, b in cell.links]
    else:
        corners = [t for a, b, c, d in cell.polygons.tolist() for t in ((a, b, c), (a, c, d))]
        pieces = [_to_triangle(x[:, [*t]]) for t in corners if len(set(t)) == 3]
    return np.asarray(np.min(pieces, axis=0))


def _to_segment(a: Array, b: Array) -> Array:
    """Return the distance (k,) of the origin from segments."""
    along = b - a
    square = np.einsum("ka,ka->k", along, along)
    t = -np.einsum("ka,ka->k", a, along) / np.where(square > 0, square, 1.0)
    return np.asarray(np.linalg.norm(a + np.clip(t, 0.0, 1.0)[:, None] * along, axis=1))


def _to_triangle(x: Array) -> Array:
    """Return the distance (k,) of the origin from triangles x (k, 3, 3)."""
    normal = unit(np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]))
    following = np.roll(x, -1, axis=1)
    is_left = np.cross(x, following)  # the origin is left of each edge where it is above
    above = (np.einsum("kea,ka->ke", is_left, normal) >= 0.0).all(axis=1) & normal.any(axis=1)
    edges = np.min([_to_segment(x[:, k], following[:, k]) for k in range(3)], axis=0)
    return np.where(above, np.abs(np.einsum("ka,ka->k", x[:, 0], normal)), edges)


def joined(parts: Iterable[NDArray[S]], kind: type[S]) -> NDArray[S]:
    """Return one array (n,) of some, perhaps of none."""
    return np.concatenate([np.empty(0, kind), *parts])
