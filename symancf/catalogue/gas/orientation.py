# SPDX-License-Identifier: BSD-3-Clause
"""A surface of facets as a whole: its rims, its pieces, and which side is inside."""

from __future__ import annotations

from collections import deque

import numpy as np

from ...arrays import Array, Integers, Ints
from ...errors import MeshError


def edges_of(facets: Integers) -> Ints:
    """Return the directed edges (4 F, 2) of quadrilaterals (F, 4): all first ones, and so on."""
    pairs = [facets[:, [k, (k + 1) % 4]] for k in range(4)]
    return np.asarray(np.concatenate(pairs), dtype=np.int64)


class Edges:
    """The edges of facets (F, 4), given by their vertices in any consistent numbering.

    Attributes
    ----------
    pairs : (m, 4) facet, number of its edge, facet, number of its edge: the two at an edge.
    rim : (k, 2) facet and number of its edge where no other facet is.
    crowded : (j, 2) the same where three or more facets meet.
    """

    def __init__(self, facets: Integers) -> None:
        self.directed = edges_of(facets)
        count = len(facets)
        _, place, number = np.unique(
            np.sort(self.directed, axis=1), axis=0, return_inverse=True, return_counts=True
        )
        place = place.ravel()
        order = np.argsort(place, kind="stable")
        facet, edge = order % max(1, count), order // max(1, count)
        here = number[place[order]]
        self.rim = np.stack([facet[here == 1], edge[here == 1]], axis=1)
        self.crowded = np.stack([facet[here > 2], edge[here > 2]], axis=1)
        both = np.stack([facet[here == 2], edge[here == 2]], axis=1)
        self.pairs = both.reshape(-1, 4)
        self._count = count

    def loops(self) -> list[Ints]:
        """Return the closed chains of rim edges: numbers of rows of `rim`, each chain in order.

        Raises
        ------
        MeshError : chains touch each other at a vertex.
        """
        ends = self.directed[self.rim[:, 1] * self._count + self.rim[:, 0]]
        at: dict[int, list[int]] = {}
        for k, pair in enumerate(ends.tolist()):
            for vertex in pair:
                at.setdefault(vertex, []).append(k)
        if any(len(found) != 2 for found in at.values()):
            raise MeshError("its rims touch each other at a point")
        left = set(range(len(ends)))
        loops = []
        while left:
            first = min(left)
            chain, vertex = [first], int(ends[first, 1])
            left.remove(first)
            while True:
                a, b = at[vertex]
                after = b if a == chain[-1] else a
                if after not in left:
                    break
                left.remove(after)
                chain.append(after)
                start, end = ends[after].tolist()
                vertex = end if vertex == start else start
            loops.append(np.array(chain, dtype=np.int64))
        return loops

    def orient(self) -> tuple[Array, Ints]:
        """Return for each facet a sign that makes neighbours agree, and the number of its piece.

        Neighbours agree where they run through their common edge in opposite directions.

        Raises
        ------
        MeshError : a piece has one side only (a Moebius strip).
        """
        n = self._count
        a, b = self.pairs[:, 0], self.pairs[:, 2]
        same = (
            self.directed[self.pairs[:, 1] * n + a][:, 0]
            == self.directed[self.pairs[:, 3] * n + b][:, 0]
        )
        near: list[list[tuple[int, float]]] = [[] for _ in range(n)]
        for i, j, turned in zip(a.tolist(), b.tolist(), same.tolist(), strict=True):
            sign = -1.0 if turned else 1.0
            near[i].append((j, sign))
            near[j].append((i, sign))
        signs, piece = np.zeros(n), np.full(n, -1, dtype=np.int64)
        pieces = 0
        for start in range(n):
            if piece[start] >= 0:
                continue
            signs[start], piece[start] = 1.0, pieces
            waiting = deque([start])
            while waiting:
                i = waiting.popleft()
                for j, sign in near[i]:
                    if piece[j] < 0:
                        signs[j], piece[j] = signs[i] * sign, pieces
                        waiting.append(j)
                    elif signs[j] != signs[i] * sign:
                        raise MeshError("it has one side only")
            pieces += 1
        return signs, piece


def enclosed(X: Array, signs: Array, rims: list[tuple[Array, Array, Ints]]) -> Array:
    """Return the volume that each facet's cone from the mean point contributes, lids included.

    Parameters
    ----------
    X : (F, 4, 3) corners of the facets.
    signs : (F,) that make their normals agree.
    rims : for each lid the first and second ends (k, 3) of its edges as their facets run through
        them, and the facets (k,).
    """
    origin = X.reshape(-1, 3).mean(axis=0)
    x = X - origin
    areas = 0.5 * np.cross(x[:, 2] - x[:, 0], x[:, 3] - x[:, 1])
    volume = signs * np.einsum("na,na->n", x.mean(axis=1), areas) / 3.0
    for first, second, facets in rims:
        a, b = first - origin, second - origin
        centre = a.mean(axis=0)
        cones = np.einsum("a,na->n", centre, np.cross(a, b)) / 6.0
        np.add.at(volume, facets, -signs[facets] * cones)
    return np.asarray(volume)
