# SPDX-License-Identifier: BSD-3-Clause
"""Patches: what all facets of one facet set have in common within a surface."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ..arrays import Array, Ints, Ints32, Mask
from ..assembly.form import Basis
from ..cells.shape import ShapeFunctions

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from ..assembly.configuration import Configuration
    from ..elements import Element
    from ..places.interpolation import Interpolation
    from .facet_set import FacetSet


EVERY = slice(None)
Number = TypeVar("Number", bound=np.generic)


def basis_of(element: Element) -> Basis:
    """Return the functions of facets, those of a director at the distance 1 from the middle."""
    fields = [f for f in element.functions.values() if isinstance(f, ShapeFunctions)]
    exponents = list(dict.fromkeys(tuple(e) for f in fields for e in f.exponents))
    coefficients = np.zeros((len(exponents), element.size))
    for field in fields:
        for e, row in zip(field.exponents, field.coefficients, strict=True):
            coefficients[exponents.index(tuple(e)), list(field.slots)] += [float(x) for x in row]
    nodes = element.vertices, element.topology.corners, len(element.slopes)
    return Basis(*nodes, np.array(exponents, dtype=np.int32), coefficients)


def stacked(parts: Sequence[Array]) -> Array:
    """Return arrays (n, ...) one after the other, zeros where others are larger."""
    if len(parts) == 1:
        return parts[0]
    sizes = np.max([part.shape[1:] for part in parts], axis=0)
    rows, first = np.zeros((sum(map(len, parts)), *sizes)), 0
    for part in parts:
        rows[(slice(first, first + len(part)), *map(slice, part.shape[1:]))] = part
        first += len(part)
    return rows


def filled(parts: Sequence[npt.NDArray[Number]]) -> npt.NDArray[Number]:
    """Return rows (n, k) one after the other, their first number again where others are longer."""
    width = max(part.shape[1] for part in parts)
    more = (np.repeat(part[:, :1], width - part.shape[1], axis=1) for part in parts)
    return np.concatenate([np.concatenate(both, axis=1) for both in zip(parts, more, strict=True)])


class SurfacePatch:
    """The facets of one facet set in a surface.

    Parameters
    ----------
    facet_set : whose facets these are.
    facets : (n, nv) places of their nodes among those of the surface.
    facet, point : number of the first facet, and of the first point, among all of the surface.

    Attributes
    ----------
    element, basis : that interpolates the facets, and its functions.
    at, points : where they, and their points, are among all of the surface.
    count : number of points of a facet.
    corners : number of corners.
    middle : (2,) parameters of the middle.
    group : (n, corners) numbers of the normals that are interpolated; of cables of the nodes. A
        part of what the surface has, as `facets`.
    maps : (n, corners, s, s) slopes of elements from those of nodes, after `place`.
    """

    group: Ints32
    maps: Array

    def __init__(self, facet_set: FacetSet, facets: Ints32, facet: int, point: int) -> None:
        self.facet_set, element = facet_set, facet_set.element
        assert element is not None
        self.element, self.basis, cell = element, basis_of(element), element.topology
        self.facets, n = facets, len(facets)
        self.count, self.corners = len(facet_set.weights), cell.corners
        self.at = slice(facet, facet + n)
        self.points = slice(point, point + n * self.count)
        self.middle = cell.to_domain(cell.centre)
        self._ends = cell.to_domain(cell.unit[: self.corners])

    # ---- functions ------------------------------------------------------------------------------
    def tables(self, xi: Array) -> Array:
        """Return values and derivatives (1 + d, k, functions) of the functions at places (k, d)."""
        powers, d = self.basis.exponents, xi.shape[1]
        values = []
        for along in range(-1, d):
            factor = powers[:, along] if along >= 0 else 1
            lower = np.maximum(powers - (np.arange(d) == along), 0)
            values.append(factor * np.prod(xi[:, None, :] ** lower, axis=2))
        return np.asarray(np.stack(values) @ self.basis.coefficients)

    @cached_property
    def rule(self) -> Array:
        """`tables` at the points."""
        return self.tables(self.facet_set.points)

    @cached_property
    def sampled(self) -> Array:
        """Functions (k, functions) at some places all over a facet."""
        cell, steps = self.element.topology, 3 if self.element.degree > 1 else 2
        grid = np.meshgrid(*[np.linspace(0.0, 1.0, steps)] * cell.dimension)
        unit = cell.clamped(np.stack(grid, axis=-1).reshape(-1, cell.dimension))
        return np.asarray(self.tables(cell.to_domain(unit))[0])

    # ---- at vectors of the nodes, of all its facets or of some, by their numbers in it ----------
    def elements(self, x: Array, some: Ints | slice = EVERY) -> Array:
        """Return coefficient vectors (n, functions, 3) at vectors of the nodes (U, 1 + s, 3)."""
        s = self.basis.slopes
        own = x[self.facets[some], : 1 + s]
        if s:
            own[:, :, 1:] = np.einsum("fvkc,fvca->fvka", self.maps[some], own[:, :, 1:])
        return np.asarray(own.reshape(len(own), self.basis.functions, 3))

    def at_places(self, N: Array, x: Array, some: Ints | slice = EVERY) -> Array:
        """Return the vectors (n, k, 3) at places with the functions N (k, functions)."""
        return np.asarray(np.einsum("qi,fia->fqa", N, self.elements(x, some)))

    def widths(self, X: Array) -> Array:
        """Return the shortest edges (n,) at positions (U, 3) of the nodes of the surface."""
        ring = X[self.facets[:, : self.basis.corners]]
        edges = np.linalg.norm(ring - np.roll(ring, -1, axis=1), axis=2)
        return np.asarray(edges.min(axis=1))

    def spanned(self, x: Array, some: Ints | slice = EVERY) -> tuple[Array, Array, Array]:
        """Return the components (n, corners) of r_xi x r_eta at the corners."""
        _, d1, d2 = self.tables(self._ends)
        e = self.elements(x, some)
        (a, b, c), (p, q, r) = np.moveaxis(d1 @ e, 2, 0), np.moveaxis(d2 @ e, 2, 0)
        return b * r - c * q, c * p - a * r, a * q - b * p

    def spans(self, facets: Ints, corners: Ints) -> Array:
        """Return what r_xi and r_eta of facets (n,) at corners have of the vectors of nodes.

        Weights (n, vectors, 2).
        """
        s, (_, d1, d2) = self.basis.slopes, self.tables(self._ends)
        derivatives = np.stack([d1[corners], d2[corners]], axis=2)
        for v in range(self.basis.vertices if s else 0):
            at = slice(v * (1 + s) + 1, (v + 1) * (1 + s))
            derivatives[:, at] = np.einsum("nid,nij->njd", derivatives[:, at], self.maps[facets, v])
        return np.asarray(derivatives)

    def interpolated(self, n: Array) -> Array:
        """Return the polynomials 1, xi, eta, xi eta (n, 4, 3) of normals (n, corners, 3)."""
        polynomials = np.zeros((len(n), 4, 3))
        polynomials[:, 0], polynomials[:, 1] = n[:, 0], n[:, 1] - n[:, 0]
        polynomials[:, 2] = n[:, -1] - n[:, 0]
        if self.corners == 4:
            polynomials[:, 3] = n[:, 0] - n[:, 1] + n[:, 2] - n[:, 3]
        return polynomials

    # ---- in a numbered configuration ------------------------------------------------------------
    def place(self, configuration: Configuration, numbers: Ints, mine: Mask, height: Array) -> None:
        """Find nodes by their global numbers (U,), those of this rank, and maps (collective)."""
        topology, s = configuration.topology, self.basis.slopes
        own = np.zeros(len(numbers), dtype=bool)
        own[self.facets] = True
        self._mine = np.flatnonzero(own & mine)
        self._local = topology.local(numbers[self._mine])
        self.maps = np.zeros((len(self.facets), self.basis.corners, s, s))
        if s:
            at = np.flatnonzero(mine[self.facets[:, 0]])
            nodes = numbers[self.facets[at]]
            local = topology.local(nodes.ravel()).reshape(nodes.shape)
            self.maps[at] = self.on(configuration).maps_of(local)
            if self.corners > 2:  # of the director
                self.maps[at, :, -1] *= height[at, None, None]
            self.maps = configuration.sum(self.maps)

    def on(self, configuration: Configuration) -> Interpolation:
        """Return how the body is interpolated."""
        return configuration.binding(self.facet_set.body).interpolation

    def take(self, configuration: Configuration, values: Sequence[Array], to: Array) -> None:
        """Write a sum of local vectors at this rank's nodes: positions, slopes (U, 1 + s, 3)."""
        on = self.on(configuration)
        for k, jet in enumerate(self.jets):
            at = on.offset(self._local, jet)
            at = at[:, None] + np.arange(3)
            to[self._mine, k] = sum(vector[at] for vector in values)

    @property
    def jets(self) -> list[str]:
        """What a node has: its position and slopes."""
        return ["value", *(f"slope{k}" for k in range(self.basis.slopes))]

    def offsets(self, configuration: Configuration, numbers: Ints) -> Ints32:
        """Return local offsets (k, functions) of the vectors of nodes, by global number (k, nv)."""
        on = self.on(configuration)
        local = configuration.topology.local(numbers.ravel()).reshape(numbers.shape)
        local_offsets = np.stack([on.offset(local, jet) for jet in self.jets], axis=2)
        return np.asarray(local_offsets.reshape(len(numbers), self.basis.functions), dtype=np.int32)

    def weights(self, facets: Ints) -> Array:
        """Return functions at the points of some of its facets, (k, count, vectors of nodes)."""
        s, N = self.basis.slopes, self.rule[0]
        functions = np.tile(N, (len(facets), 1, 1))
        for v in range(self.basis.vertices if s else 0):
            at = slice(v * (1 + s) + 1, (v + 1) * (1 + s))
            functions[:, :, at] = np.einsum("qi,fij->fqj", N[:, at], self.maps[facets, v])
        return functions
