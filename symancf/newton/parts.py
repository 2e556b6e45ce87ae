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

from ..arrays import Integers, Ints, Mask
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
    of_vertex: Ints


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
    flat = [np.asarray(form.vertices, dtype=np.int32).ravel() for form in forms]
    entity = [np.repeat(np.arange(len(p.vertex_start) - 1), np.diff(p.vertex_start)) for p in forms]
    heads, tails = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
    for vertices, of in zip(flat, entity, strict=True):
        chosen = free[vertices]
        v, e = vertices[chosen], of[chosen]
        same = e[1:] == e[:-1]
        heads.append(v[:-1][same])
        tails.append(v[1:][same])
    pairs = np.stack([np.concatenate(heads), np.concatenate(tails)], axis=1)
    label = np.zeros(numbering.vertices, dtype=np.int64)
    joined = least_connected(comm, topology.starts, topology.numbers[pairs])
    label[: topology.n_owned] = joined
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
    of_vertex = np.full(numbering.vertices, NONE, dtype=np.int64)
    of_vertex[free] = np.array([order[n] for n in numbers.tolist()], dtype=np.int64)[place]
    return ConnectedParts(len(order), _with_supports(of_vertex, free, flat, entity, topology.halo))


def _with_supports(
    of_vertex: Ints,
    free: Mask,
    flat: Sequence[Integers],
    entity: Sequence[Integers],
    halo: GhostExchange,
) -> Ints:
    """Give held vertices the part that they touch, if that is only one."""
    lowest = np.full(len(of_vertex), np.iinfo(np.int64).max)
    highest = np.full(len(of_vertex), NONE, dtype=np.int64)
    for vertices, of in zip(flat, entity, strict=True):
        if free[vertices].all():
            continue
        part = np.full(int(of[-1]) + 1, NONE, dtype=np.int64)  # the free ones agree
        np.maximum.at(part, of, of_vertex[vertices])
        touched = (~free[vertices]) & (part[of] != NONE)
        np.minimum.at(lowest, vertices[touched], part[of][touched])
        np.maximum.at(highest, vertices[touched], part[of][touched])
    one = ~free & (lowest == highest)
    of_vertex[one] = highest[one]
    halo.update(of_vertex[:, None])
    return of_vertex
