# SPDX-License-Identifier: BSD-3-Clause
"""The connected parts of a system: what no entity ties together has nothing to do with each other.

Two vertices are neighbours where an entity (a cell, a joint, a load) depends on free coordinates
of both; a vertex that is held altogether joins nothing. The tangent is block-diagonal in these
parts, so each has an equilibrium of its own, whatever the others carry.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Ints32, Mask
from ..mesh.edges import least_joined
from ..mesh.partition.components import least_connected

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..assembly.form import Form
    from ..assembly.numbering import Numbering
    from ..mesh.partition.ghosts import GhostExchange


NONE = -1  # of no part, or of several: what is held altogether


@dataclass(frozen=True)
class ConnectedParts:
    """Connected parts, numbered by the least original id of their vertices on all ranks.

    Attributes
    ----------
    count : of all ranks.
    of_vertex : (vertices,) part of each local vertex, `NONE` where all of it is held; what is
        held and touches one part alone bears that part's support forces and belongs to it.
    """

    count: int
    of_vertex: Ints32


def connected_parts(
    numbering: Numbering, forms: Sequence[Form], among: Mask | None = None
) -> ConnectedParts:
    """Find the connected parts (collective).

    No list is longer than a rank's vertices and the number of parts.

    Parameters
    ----------
    among : (vertices,) those that have parts and join; default: those that are not held.
    """
    comm, topology = numbering.comm, numbering.topology
    free = among
    if free is None:
        free = np.zeros(numbering.vertices, dtype=bool)
        free[numbering.vertex_of[numbering.free]] = True
    lists = [(form.vertex_start, form.vertices.ravel()) for form in forms]
    least = least_joined(comm, free, lists)
    other = np.flatnonzero(least != np.arange(len(least), dtype=np.int32))
    pairs = topology.numbers[np.stack([other, least[other]], axis=1)]
    del least, other
    label = np.zeros(numbering.vertices, dtype=np.int64)
    label[: topology.n_owned] = least_connected(comm, topology.starts, pairs)
    topology.halo.update(label[:, None])
    ids = topology.vertex_ids.astype(np.int64)
    numbers, place = np.unique(label[free], return_inverse=True)
    least = np.full(len(numbers), np.iinfo(np.int64).max)
    np.minimum.at(least, place, ids[free])
    mine = dict(zip(numbers.tolist(), least.tolist(), strict=True))
    every: dict[int, int] = {}
    for there in comm.allgather(mine) if comm.size > 1 else [mine]:
        for number, first in there.items():
            every[number] = min(first, every.get(number, first))
    order = {number: k for k, number in enumerate(sorted(every, key=lambda n: every[n]))}
    of_vertex = np.full(numbering.vertices, NONE, dtype=np.int32)
    of_vertex[free] = np.array([order[n] for n in numbers.tolist()], dtype=np.int32)[place]
    return ConnectedParts(len(order), _with_supports(of_vertex, free, lists, topology.halo))


def _with_supports(
    of_vertex: Ints32, free: Mask, lists: Sequence[tuple[Ints32, Ints32]], halo: GhostExchange
) -> Ints32:
    """Give held vertices the part that they touch, if that is only one.

    Each of the lists is where its entities begin, and their vertices.
    """
    lowest = np.full(len(of_vertex), np.iinfo(np.int32).max, dtype=np.int32)
    highest = np.full(len(of_vertex), NONE, dtype=np.int32)
    for start, vertices in lists:
        held = np.flatnonzero(~free[vertices])
        if not len(held):
            continue
        entity, of = np.unique(np.searchsorted(start, held, side="right") - 1, return_inverse=True)
        count = start[entity + 1] - start[entity]
        first = np.cumsum(count) - count
        at = np.arange(count.sum()) + np.repeat(start[entity] - first, count)
        part = np.maximum.reduceat(of_vertex[vertices[at]], first)  # the free ones agree
        touched = part[of] != NONE
        np.minimum.at(lowest, vertices[held[touched]], part[of][touched])
        np.maximum.at(highest, vertices[held[touched]], part[of][touched])
    one = ~free & (lowest == highest)
    of_vertex[one] = highest[one]
    halo.update(of_vertex[:, None])
    return of_vertex
