# SPDX-License-Identifier: BSD-3-Clause
r"""Skins: the facets of a deformable side, all of them on every rank, and where they are.

A facet is a polynomial r(xi, eta) with normals that are interpolated between those of its
corners; these are means over the facets around a node, weighted by area, of those that no kink
sharper than `KINK` in the reference parts. So the normal does not jump from facet to facet.

A rank keeps 8 bytes for each node of a facet and 32 for each facet, of plates 8 s^2 more for each
of its corners with s = 3 slopes; positions take 24 bytes for each node and each of its slopes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array, Ints
from ..assembly.feet import feet_of, inner, library
from ..assembly.piece import Basis
from ..places.interpolation import Interpolation

if TYPE_CHECKING:
    from ..assembly.configuration import Configuration, Layout
    from ..elements import Element
    from .sides import Side

KINK = np.cos(np.radians(45.0))


def basis_of(element: Element) -> Basis:
    """Return the functions of facets, those of a director at the distance 1 from the middle."""
    fields = list(element.functions.values())
    exponents = list(dict.fromkeys(tuple(e) for f in fields for e in f.exponents))
    coefficients = np.zeros((len(exponents), element.size))
    for field in fields:
        for e, row in zip(field.exponents, field.coefficients, strict=True):
            coefficients[exponents.index(tuple(e)), list(field.slots)] += [float(x) for x in row]
    nodes = element.vertices, element.topology.corners, len(element.slopes)
    return Basis(*nodes, np.array(exponents, dtype=np.int32), coefficients)


def skin_of(side: Side, layout: Layout) -> Skin:
    """Return the skin of a side, made once (collective)."""
    return layout.find(side, Skin) or layout.keep(side, Skin(side, layout))


class Skin:
    """The facets of a side on every rank.

    Attributes
    ----------
    side, basis : whose facets these are, and their functions.
    ids : (U,) ids of all nodes, ascending.
    facets : (F, nv) their places among the nodes.
    rim : (F,) edges without a neighbour, or with one beyond a kink, and corners at their ends: a
        bit for each, see `inner` in foot.h.
    length, modulus : (F,) local size and Young's modulus.
    maps : (F, corners, s, s) slopes of elements from those of nodes, after `place`.
    middle : (2,) parameters of the middle.
    sampled : (k, functions) functions at some places all over a facet.
    group : (F, corners) numbers of the normals that are interpolated; of cables of the nodes.
    numbers : (U,) global numbers of the nodes, after `place`.
    placed : whether that was called.
    library : the runtime.
    """

    maps: Array
    numbers: Ints
    placed = False

    def __init__(self, side: Side, layout: Layout) -> None:
        self.side, comm = side, layout.comm
        own = side.facets(layout)
        element = side.element
        assert element is not None
        self.element, self.basis = element, basis_of(element)
        nodes = np.concatenate(comm.allgather(own.vertices))
        numbers = np.stack([own.length, own.modulus, own.height], axis=1)
        self.length, self.modulus, self.height = np.concatenate(comm.allgather(numbers)).T
        self.ids, at = np.unique(nodes, return_inverse=True)
        self.facets = at.reshape(nodes.shape)
        self._corners = element.topology.corners
        self._at = element.topology.to_domain(element.topology.unit[: self._corners])
        self.library = library(comm)
        cell = element.topology
        self.middle = cell.to_domain(cell.centre)
        steps = 3 if element.degree > 1 else 2
        grid = np.meshgrid(*[np.linspace(0.0, 1.0, steps)] * cell.dimension)
        unit = cell.clamped(np.stack(grid, axis=-1).reshape(-1, cell.dimension))
        self.sampled = self.tables(cell.to_domain(unit))[0]
        X = np.zeros((len(self.ids), 1 + self.basis.slopes, 3))
        X[:, 0] = layout.fetch_points(self.ids)
        self.group = self._groups(X[:, 0])

    @property
    def size(self) -> int:
        """Number of facets."""
        return len(self.facets)

    def _groups(self, X: Array) -> Ints:
        """Return numbers (F, corners) of the normals: of the facets at a node between kinks."""
        n, F = self._corners, self.size
        ring = self.facets[:, :n]
        if n == 2:  # a cable has none
            return np.asarray(ring)
        from scipy.sparse import coo_matrix  # half a second to import
        from scipy.sparse.csgraph import connected_components

        x = X[ring]
        normal = np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0])
        if n == 4:
            normal += np.cross(x[:, 2] - x[:, 0], x[:, 3] - x[:, 0])
        normal /= np.linalg.norm(normal, axis=1)[:, None]
        ends = np.stack([ring, np.roll(ring, -1, axis=1)], axis=2).reshape(-1, 2)
        _, edge = np.unique(np.sort(ends, axis=1), axis=0, return_inverse=True)
        order = np.argsort(edge.ravel(), kind="stable")
        first = order[:-1][np.diff(edge.ravel()[order]) == 0]
        other = order[1:][np.diff(edge.ravel()[order]) == 0]
        a, b = first // n, other // n
        smooth = np.einsum("ka,ka->k", normal[a], normal[b]) > KINK
        first, other = first[smooth], other[smooth]
        free = np.ones(F * n, dtype=bool)
        free[first] = free[other] = False
        free = free.reshape(F, n)
        # the edge from corner c to c + 1 of one runs the other way in its neighbour
        nexts = [np.where(k % n == n - 1, k - n + 1, k + 1) for k in (first, other)]
        same = ring.ravel()[first] == ring.ravel()[other]
        heads = np.concatenate([first, nexts[0]])
        tails = np.concatenate([np.where(same, other, nexts[1]), np.where(same, nexts[1], other)])
        pairs = coo_matrix((np.ones(len(heads)), (heads, tails)), shape=(F * n, F * n))
        _, group = connected_components(pairs, directed=False)
        groups: Ints = np.asarray(group.reshape(F, n), dtype=np.int64)
        rim = np.zeros(groups.max(initial=-1) + 1, dtype=bool)
        rim[groups[free]] = rim[np.roll(groups, -1, axis=1)[free]] = True
        bits = (free << np.arange(n)) + (rim[groups] << np.arange(4, 4 + n))
        self.rim = bits.sum(axis=1).astype(np.int32)
        return groups

    def place(self, configuration: Configuration) -> None:
        """Find the nodes and the maps of slopes in a numbered configuration (collective)."""
        topology, comm = configuration.topology, configuration.comm
        self.placed = True
        self.numbers = configuration.numbers(self.ids)
        s = self.basis.slopes
        self.maps = np.zeros((self.size, self.basis.corners, s, s))
        first, end = topology.starts[comm.rank : comm.rank + 2]
        mine = (self.numbers >= first) & (self.numbers < end)
        self._mine, self._local = np.flatnonzero(mine), topology.local(self.numbers[mine])
        if s:
            own = np.flatnonzero(mine[self.facets[:, 0]])
            ids = self.ids[self.facets[own]]
            local = topology.find(ids.ravel()).reshape(ids.shape)
            self.maps[own] = configuration.of(self.side.body, Interpolation).maps_of(local)
            if self._corners > 2:  # of the director
                self.maps[own, :, -1] *= self.height[own, None, None]
            self.maps = configuration.sum(self.maps)

    def vectors(self, configuration: Configuration, values: Array) -> Array:
        """Return a local vector at the nodes, positions and slopes (U, 1 + s, 3) (collective)."""
        on = configuration.of(self.side.body, Interpolation)
        found = np.zeros((len(self.ids), 1 + self.basis.slopes, 3))
        for k in range(1 + self.basis.slopes):
            at = on.offset(self._local, "value" if k == 0 else f"slope{k - 1}")
            found[self._mine, k] = values[at[:, None] + np.arange(3)]
        return configuration.sum(found)

    def elements(self, x: Array) -> Array:
        """Return the coefficient vectors (F, functions, 3) of facets at vectors of the nodes."""
        own = x[self.facets]
        if self.basis.slopes:
            own = own.copy()
            own[:, :, 1:] = np.einsum("fvkc,fvca->fvka", self.maps, own[:, :, 1:])
        return np.asarray(own.reshape(self.size, self.basis.functions, 3))

    def polynomials(self, x: Array) -> Array:
        """Return the coefficients (F, monomials, 3) of the facets."""
        return np.asarray(np.einsum("ki,fia->fka", self.basis.coefficients, self.elements(x)))

    def tables(self, xi: Array) -> Array:
        """Return values and derivatives (1 + d, k, functions) of the functions at places (k, d)."""
        powers, d = self.basis.exponents, xi.shape[1]
        found = []
        for along in range(-1, d):
            factor = powers[:, along] if along >= 0 else 1
            lower = np.maximum(powers - (np.arange(d) == along), 0)
            found.append(factor * np.prod(xi[:, None, :] ** lower, axis=2))
        return np.asarray(np.stack(found) @ self.basis.coefficients)

    def normals(self, x: Array) -> Array:
        """Return the polynomials 1, xi, eta, xi eta of normals (F, 4, 3) at vectors of the nodes.

        Those of the corners have the length 1.
        """
        _, d1, d2 = self.tables(self._at)
        e, group = self.elements(x), self.group.ravel()
        (a, b, c), (p, q, r) = np.moveaxis(d1 @ e, 2, 0), np.moveaxis(d2 @ e, 2, 0)
        area = b * r - c * q, c * p - a * r, a * q - b * p
        total: Array = np.stack([np.bincount(group, part.ravel()) for part in area], axis=1)
        size = np.linalg.norm(total, axis=1)
        total /= np.where(size > 0.0, size, 1.0)[:, None]
        n = total[self.group]
        found = np.zeros((self.size, 4, 3))
        found[:, 0], found[:, 1] = n[:, 0], n[:, 1] - n[:, 0]
        found[:, 2] = n[:, -1] - n[:, 0]
        if self._corners == 4:
            found[:, 3] = n[:, 0] - n[:, 1] + n[:, 2] - n[:, 3]
        return found

    def inner(self, xi: Array) -> Array:
        """Return chi (F, q) at places (q, 2) of all facets; see `assembly.feet.inner`."""
        q = len(xi)
        chi = inner(self.library, self.basis, np.repeat(self.rim, q), np.tile(xi, (self.size, 1)))
        return chi.reshape(self.size, q)

    def feet(
        self, P: Array, Q: Array, facet: Ints, r: Array, beyond: float = 1e-9
    ) -> tuple[Array, Array]:
        """Return places (n, 2) and gaps (n,) of the feet of points on facets; NaN: there is none.

        `P`, `Q` : `polynomials` and `normals`; `facet` (n,), `r` (n, 3); a foot may be `beyond`
        the edges, in the parameters.
        """
        return feet_of(self.library, self.basis, P, Q, facet, r, beyond)
