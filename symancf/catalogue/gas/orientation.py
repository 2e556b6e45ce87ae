# SPDX-License-Identifier: BSD-3-Clause
"""The facets around a cavity as a whole: their rims, their components, and which side is inside."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ...arrays import Array, Ints, Mask
from ...errors import MeshError, ParameterError
from ...mesh.partition.components import least_connected, meetings, numbered
from ...runtime.collective import block_starts, combine, exchange, lookup, owners_of, shares

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...assembly.configuration import Configuration, Layout
    from .surface import CavityFacets, CavitySurface

FLAT_RIM_TOLERANCE = 1e-6  # of the size of a rim: what it may lie beside its plane


@dataclass(frozen=True)
class Rim:
    """A rank's share of the edges that one facet alone has.

    Attributes
    ----------
    starts : (ranks + 1,) where the shares begin among all, which are in the order of their ends.
    facet, edge : (k,) number of the facet, and which of its edges it is.
    lid, lids : (k,) number of the closed chain that each is part of; how many chains there are.
    share : (k,) its length over that of the chain.
    """

    starts: Ints
    facet: Ints
    edge: Ints
    lid: Ints
    lids: int
    share: Array


def _wide(rows: Ints, width: int) -> Ints:
    """Return rows with their last entry repeated up to a width."""
    return rows[:, np.minimum(np.arange(width), rows.shape[1] - 1)]


class Hull:
    """The facets of all walls of a cavity, of which each rank has a share.

    They are numbered over all ranks. What meets at an edge is found at the rank whose block of
    vertices has the edge's first end, so that no rank sees all of them.

    Parameters
    ----------
    name, surfaces, caps : of the cavity, its walls, and whether lids close its rims.
    slices : ids and vertices of this rank's facets of each wall (collective).

    Attributes
    ----------
    starts : (ranks + 1,) where the shares begin among all facets.
    corners : the most that a facet has; others repeat their last one.
    numbers, wall, vertices : (n,), (n,), (n, nodes) of this rank's facets, the last ones repeated.
    nodes : number of nodes of the facets of each wall.
    centre, size : mean of all corners (3,), and mean size of a facet [m].
    rim : the edges that one facet alone has.

    Raises
    ------
    MeshError : a facet twice, three at an edge, one side only; no lids and a rim.
    """

    def __init__(
        self,
        layout: Layout,
        name: str,
        surfaces: Sequence[CavitySurface],
        slices: Sequence[tuple[Ints, Ints]],
        caps: bool,
    ) -> None:
        self.name, self.surfaces, self.comm = name, surfaces, layout.comm
        cells = [surface.element.topology for surface in surfaces]
        self.corners = n = max(cell.corners for cell in cells)
        self._ids = np.concatenate([ids for ids, _ in slices])
        self.nodes = [len(cell.nodes) for cell in cells]
        self.vertices = np.concatenate([_wide(rows, max(self.nodes)) for _, rows in slices])
        self._ring = np.concatenate(
            [_wide(rows[:, : c.corners], n) for c, (_, rows) in zip(cells, slices, strict=True)]
        )
        self.wall = np.repeat(np.arange(len(slices)), [len(ids) for ids, _ in slices])
        self.starts = shares(self.comm, len(self.wall))
        self.numbers = self.starts[self.comm.rank] + np.arange(len(self.wall))
        self._blocks = block_starts(layout.mesh_points, self.comm.size)
        corners = layout.fetch_points(self._ring.ravel()).reshape(-1, n, 3)
        own = np.ones(self._ring.shape, dtype=bool)
        own[:, 1:] = self._ring[:, 1:] != self._ring[:, :-1]
        x, count = corners[own], max(1, int(self.starts[-1]))
        area = np.cross(corners[:, 2] - corners[:, 0], corners[:, -1] - corners[:, 1]) / 2.0
        *centre, total, k = self._sum(*x.sum(axis=0), np.linalg.norm(area, axis=1).sum(), len(x))
        self.centre, self.size = np.array(centre) / max(k, 1.0), float(np.sqrt(total / count))
        self._mean = np.where(own[:, :, None], corners, 0.0).sum(1) / own.sum(1)[:, None]
        self._require_once()
        self.rim, of_lids = self._meet(layout, caps)
        cones = np.einsum("na,na->n", self._mean - self.centre, area) / 3.0
        cones -= combine(self.comm, self.starts, self.rim.facet, of_lids)
        self._volumes = self.signs * cones

    def of(self, number: int) -> tuple[Ints, Ints]:
        """Return numbers and nodes of this rank's facets of a wall."""
        mine = self.wall == number
        return self.numbers[mine], self.vertices[mine, : self.nodes[number]]

    def _sum(self, *values: float) -> list[float]:
        """Return sums over ranks (collective)."""
        total = np.empty(len(values))
        self.comm.Allreduce(np.array(values, dtype=float), total)
        return [float(v) for v in total]

    def _require_once(self) -> None:
        """Raise where walls name a facet twice (collective)."""
        rows = np.sort(self.vertices, axis=1)
        _, (rows,) = exchange(self.comm, owners_of(self._blocks, rows[:, 0]), rows)
        _, count = np.unique(rows, axis=0, return_counts=True)
        twice = self.comm.allreduce(int((count > 1).sum()))
        if twice:
            raise MeshError(
                f"{self.name}: its walls name {twice} facets twice", asked="walls", given=twice
            )

    # ---- edges ----------------------------------------------------------------------------------
    def _meet(self, layout: Layout, caps: bool) -> tuple[Rim, Array]:
        """Make neighbours agree; return the rims and the volumes of their lids (collective).

        Edge k of facet f has the number n f + k, n `corners`, and runs as in the facet.
        """
        n, ring = self.corners, self._ring
        runs = np.stack([ring, np.roll(ring, -1, axis=1)], axis=2).reshape(-1, 2)
        edges = (n * self.numbers[:, None] + np.arange(n)).ravel()
        real = runs[:, 0] != runs[:, 1]
        runs, edges = runs[real], edges[real]
        to = owners_of(self._blocks, runs.min(axis=1))
        _, (runs, edges) = exchange(self.comm, to, runs, edges)
        ends = np.sort(runs, axis=1)
        order = np.lexsort((edges, ends[:, 1], ends[:, 0]))
        runs, edges, ends = runs[order], edges[order], ends[order]
        fresh = np.ones(len(ends), dtype=bool)
        fresh[1:] = (ends[1:] != ends[:-1]).any(axis=1)
        first = np.flatnonzero(fresh)
        count = np.diff(np.append(first, len(ends)))
        crowded, where = self._first_rim(layout, ends[first[count > 2]])
        if crowded:
            raise MeshError(
                f"{self.name}: three or more facets meet at {where}; give the walls that touch the "
                "gas only",
                asked="non-manifold edge",
                given=crowded,
            )
        alone = first[count == 1]
        single, where = self._first_rim(layout, ends[alone])
        if single and not caps:
            raise MeshError(
                f"{self.name} is open: {single} edges belong to one facet only, e.g. at {where}; "
                "give the missing walls, or caps='flat' to close each rim by a lid; on an open "
                "surface use sa.pressure",
                asked="open surface",
                given=single,
            )
        two = first[count == 2]
        self._agree(edges[two] // n, edges[two + 1] // n, runs[two, 0] == runs[two + 1, 0])
        return self._loops(layout, edges[alone], runs[alone])

    def _first_rim(self, layout: Layout, ends: Ints) -> tuple[int, str]:
        """Return how many edges there are on all ranks, and where the first is (collective)."""
        X = layout.fetch_points(ends[:1].ravel()).reshape(-1, 2, 3).mean(axis=1)
        first = np.concatenate(self.comm.allgather(X))[:1]
        where = "".join(f"({x:g}, {y:g}, {z:g})" for x, y, z in first)
        return self.comm.allreduce(len(ends)), where

    def _agree(self, a: Ints, b: Ints, against: Mask) -> None:
        """Find signs of facets that make neighbours a and b agree, and components (collective).

        They agree where they run through their common edge in opposite directions, else they are
        `against` each other. Facet f has two sides, 2 f and 2 f + 1; each is connected with that
        side of a neighbour which is the same of the surface.
        """
        other = against.astype(np.int64)
        ends = np.append(2 * a, 2 * a + 1), np.append(2 * b + other, 2 * b + 1 - other)
        label = least_connected(self.comm, 2 * self.starts, np.stack(ends, axis=1)).reshape(-1, 2)
        if self.comm.allreduce(bool((label[:, 0] == label[:, 1]).any()), MPI.LOR):
            raise MeshError(f"{self.name}: it has one side only", asked="non-orientable surface")
        self.signs = np.where(label[:, 0] % 2, -1.0, 1.0)
        self._component = label[:, 0] // 2  # its least facet

    def _loops(self, layout: Layout, edges: Ints, runs: Ints) -> tuple[Rim, Array]:
        """Return the edges of rims as closed chains, and the cones over them (collective).

        Raises
        ------
        MeshError : chains touch each other at a vertex.
        """
        comm = self.comm
        starts = shares(comm, len(edges))
        numbers = starts[comm.rank] + np.arange(len(edges))
        _, first, count, at = meetings(comm, self._blocks, runs, numbers)
        if comm.allreduce(bool((count != 2).any()), MPI.LOR):
            raise MeshError(f"{self.name}: its rims touch each other at a point", asked="rim")
        label = least_connected(comm, starts, np.stack([at[first], at[first + 1]], axis=1))
        lid, lids = numbered(comm, starts, label)
        a, b = (layout.fetch_points(runs[:, k]) - self.centre for k in (0, 1))
        length = np.linalg.norm(b - a, axis=1)
        rows = np.column_stack([a, np.ones(len(a)), length])
        sums = lookup(comm, starts, label, combine(comm, starts, label, rows))
        centre = sums[:, :3] / sums[:, 3:4]
        cones = np.einsum("na,na->n", centre, np.cross(a, b)) / 6.0
        arm, each = a - centre, np.cross(a - centre, b - centre)
        normal = lookup(comm, starts, label, combine(comm, starts, label, each))
        size = np.linalg.norm(normal, axis=1)
        depth = np.abs(np.einsum("na,na->n", arm, normal)) / np.where(size > 0.0, size, 1.0)
        off = np.where(depth > FLAT_RIM_TOLERANCE * np.sqrt(size), depth, 0.0).max(initial=0.0)
        off = comm.allreduce(float(off), MPI.MAX)
        if off and comm.rank == 0:
            warnings.warn(
                f"{self.name}: a rim lies up to {off:.3g} m beside its plane; its lid is a cone "
                "with the tip at the mean of the rim's nodes, not flat",
                stacklevel=5,
            )
        facet, edge = np.divmod(edges, self.corners)
        return Rim(starts, facet, edge, lid, lids, length / sums[:, 4]), cones

    # ---- the side of the gas --------------------------------------------------------------------
    def orient(self, configuration: Configuration, walls: Sequence[CavityFacets]) -> None:
        """Find the side of the gas on each facet, after distribution (collective)."""
        comm, starts = self.comm, self.starts
        ids = np.concatenate([facets.ids for facets in walls])
        own = np.concatenate([facets.parents for facets in walls])
        votes = np.sign(
            combine(comm, starts, ids, np.concatenate([facets.vote for facets in walls]))
        )
        parents = combine(comm, starts, ids, own, np.maximum)
        for facets in walls:
            facets.require_parents(configuration, lookup(comm, starts, facets.ids, parents))
        rows = np.column_stack([votes * self.signs, np.abs(votes), self._volumes])
        agree, signs, volume = combine(comm, starts, self._component, rows).T
        agree = np.where(agree == 0.0, np.where(signs == 0.0, volume, 1.0), agree)
        turn = lookup(comm, starts, self._component, np.where(agree < 0.0, -1.0, 1.0))
        self.signs *= turn
        self._tell(votes * self.signs < 0.0)
        (total,) = self._sum(float((turn * self._volumes).sum()))
        if total <= 0.0:
            raise ParameterError(
                f"{self.name}: the gas would be outside of its walls (the volume is {total:.3g}); "
                "give the other side, face(+1) or face(-1), of the plates",
                asked="side",
                given=total,
                possible=(1, -1),
            )
        for facets in walls:
            facets.sense = -lookup(comm, starts, facets.ids, self.signs)

    def _tell(self, against: Mask) -> None:
        """Warn of cells that were numbered against their neighbours; refuse solids (collective)."""
        solid = np.array([surface.solid for surface in self.surfaces])[self.wall]
        count, inside = map(int, self._sum(against.sum(), (solid & against).sum()))
        if not count:
            return
        rows = zip(self.wall[against], self._ids[against], self._mean[against], strict=True)
        first = next(((int(k), int(i), *x.tolist()) for k, i, x in rows), (np.inf,))
        _, _, x, y, z = min(self.comm.allgather(first))
        where = f"({x:g}, {y:g}, {z:g})"
        if inside:
            raise MeshError(
                f"{self.name}: at {where} the gas would be inside of a solid; give walls that "
                "enclose it"
            )
        if self.comm.rank == 0:
            warnings.warn(
                f"{self.name}: {count} of {self.starts[-1]} cells, e.g. at {where}, are numbered "
                "in the other sense than their neighbours (the gas is on their other side); turned",
                stacklevel=6,
            )
