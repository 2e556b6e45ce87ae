# SPDX-License-Identifier: BSD-3-Clause
"""The cells of a body in one configuration: nodes, reference slopes, interpolated positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import sympy as sp

from ..arrays import Array, Integers, Ints, Ints32, Mask
from ..assembly.form import CellEntities, MapPattern
from ..assembly.protocol import SupportBinding, TurnsSlopes, having
from ..assembly.vertices import AtVertices
from ..errors import MeshError
from ..runtime.collective import together
from . import geometry, macro
from .edges import OfCells, across_block, slopes_block
from .vectors import unit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from ..assembly.configuration import Configuration, Layout
    from ..elements.element import Element


class HasInterpolation(Protocol):
    """The binding of a body of cells, as far as places on it ask."""

    interpolation: Interpolation


class Interpolated(OfCells, Protocol):
    """A body of cells, as far as places on it ask; see `symancf.Body`.

    Attributes
    ----------
    direction, smooth : how the slopes of nodes are directed, as the user says.
    """

    _direction: Callable[[Array], npt.ArrayLike] | None
    _smooth: float

    @property
    def extent(self) -> float:
        """Size [m]."""

    def bind(self, layout: Layout, /) -> HasInterpolation:
        """Return what it is in a system."""


def tabulate(element: Element, jet: str, xi: Array, z: Array | None = None) -> Array:
    """Return the coefficients (k, n) of a point jet at parameter values, on z = 0 or at z (k,)."""
    spread = element.space.point_jets[jet]
    tables = tuple(name for name, factor in spread.items() if factor == 1)
    table = np.asarray(element.space.tabulate(tables, xi).sum(axis=1))
    for name, factor in spread.items():
        if z is not None and name not in tables:
            table += power(factor, z)[:, None] * element.space.tabulate((name,), xi)[:, 0]
    return table


def power(factor: sp.Expr, z: Array) -> Array:
    """Return a monomial of the height, z or z^2/2, at heights; 0 of places across an axis."""
    order = int(sp.degree(factor, sp.Symbol("z", real=True)))
    return np.asarray(z**order / order if order else 0.0 * z)


@dataclass(frozen=True)
class Patch:
    """Cells of a body, or faces of them, as a kernel takes them.

    Attributes
    ----------
    element : of which they are cells.
    cells, owned : local vertices (n, corners), and whether this rank counts them.
    ids : (n,) numbers of the cells in the region; None of faces.
    carriers : (n, nodes) vertices of corners and of edges, where these carry something.
    gathered : their coordinates.
    extra : (n, k) local vertices of their scalars.
    """

    element: Element
    cells: Ints32
    owned: Mask
    gathered: CellEntities
    extra: Ints32
    ids: Ints | None = None
    carriers: Ints32 | None = None

    @property
    def vertices(self) -> tuple[Ints32, Ints32]:
        """All vertices, one after the other, and where those of each cell begin."""
        own = self.cells if self.carriers is None else self.carriers
        table = own if not self.extra.shape[1] else np.concatenate([own, self.extra], axis=1)
        table = np.ascontiguousarray(table, dtype=np.int32)
        return table.ravel(), np.arange(len(table) + 1, dtype=np.int32) * np.int32(table.shape[1])


class Interpolation:
    r"""Positions :math:`X(\xi) = \sum_i N_i(\xi) e_i` on this rank's cells of a body.

    The coefficients e_i are positions and slopes of the corners; element slopes are combinations
    T of the slopes that nodes carry, see `geometry`. Of a body in a system::

        system.binding(body).interpolation

    Parameters
    ----------
    body, configuration : before its coordinates are numbered (collective).

    Attributes
    ----------
    ids, cells, owned : ids (n,), local vertices (n, corners) and ownership of the cells.
    all_vertices : (n, corners + edges) the same with the vertices of edges that carry slopes.
    own : (n, k) local vertices of what the cells have of their own.
    directions : normals or tangents of nodes; None without slopes.
    slope_name : name of the block of slopes.
    basis : (vertices, s, 3) reference slopes of nodes, after `build`.
    maps : (n, corners, s, s), T of the cells, after `build`; see `maps_of`.
    middles : of edges that carry slopes, (edges, 9) these in the reference, places, normals.
    pattern : of the maps where these are of whole cells.
    position_block, slope_block : numbers of the blocks, after `build`.
    """

    basis: AtVertices[np.float64]
    middles: AtVertices[np.float64]
    maps: Array
    pattern: MapPattern
    across_block: int
    position_block: int
    slope_block: int

    def __init__(self, body: Interpolated, configuration: Configuration) -> None:
        self.name, self.element = configuration.name(body), body.element
        self.slope_name = slopes_block(body, self.name)
        family = configuration.topology.families[f"body:{self.name}"]
        self.ids, self.owned = family.ids, family.owned
        nodes = self.element.vertices + self.element.edges
        self.cells = np.ascontiguousarray(family.vertices[:, : self.element.vertices])
        self.all_vertices = family.vertices[:, :nodes]
        self.own = family.vertices[:, nodes:]
        self.points, self._topology = configuration.points, configuration.topology
        self.directions: geometry.NodeDirections | None = None
        if not self.element.slopes:
            return
        self.directions = geometry.NodeDirections(
            self.name,
            self.element,
            configuration.topology,
            self.points,
            self.cells,
            body._direction,
            body._smooth,
        )
        if self.element.slope_kind == "tangents":
            self.directions.require_smooth()
        self.directions.warn_deviation()
        if self.element.across:
            self._find_middles(configuration)

    def carriers(self) -> list[tuple[str, Ints32]]:
        """Return the blocks that it puts on local vertices."""
        used = np.unique(self.cells)
        names = ["position", self.slope_name] if self.element.slopes else ["position"]
        edges = np.unique(self.all_vertices[:, self.element.vertices :])
        across = [(across_block(self.slope_name), edges)] if self.element.across else []
        return [*((name, used) for name in names), *across]

    def build(self, configuration: Configuration, supports: Sequence[SupportBinding]) -> None:
        """Choose the slopes of nodes, write them to the reference, find the maps (collective).

        Raises
        ------
        MeshError : slopes leave the tangent planes of nodes, or another body has others there.
        """
        numbering, element = configuration.numbering, self.element
        self._offset = numbering.offset
        self.position_block = numbering.block("position")
        if self.directions is None:
            self.maps = np.zeros((len(self.cells), element.vertices, 0, 0))
            return
        self.slope_block = numbering.block(self.slope_name)
        self.basis = geometry.node_basis(element, self.directions)
        vertices = self.basis.vertices
        occupied = AtVertices(vertices, np.zeros(len(vertices), dtype=bool))
        with together(configuration.comm):  # the first support at a vertex chooses
            for support in having(supports, TurnsSlopes):
                if configuration.binding(support.body).interpolation.slope_name == self.slope_name:
                    support.turned(configuration, self.basis, occupied)
        # every local node of the body, also one that only a joint brought here
        at = self.offset(vertices, "slope0")[:, None] + np.arange(3 * len(element.slopes))
        basis, reference = self.basis.values.reshape(at.shape), configuration.reference
        with together(configuration.comm):
            present = reference[at]
            if (
                present.any(axis=1) & (np.abs(present - basis).max(axis=1, initial=0) > 1e-9)
            ).any():
                raise MeshError(
                    f"body {self.name!r} shares slopes with another body along other tangents; "
                    "use join='position', or give both the same direction=",
                    asked="join",
                    given=self.name,
                    possible=("position",),
                )
        reference[at] = basis
        if element.across:
            self._build_edges(configuration)
        with together(configuration.comm):
            self.maps = self.maps_of(self.all_vertices)
            if element.across:
                some = (self.maps != 0.0).any(axis=0)
                self.pattern = MapPattern.of(some, self.element.vertices)

    def _build_edges(self, configuration: Configuration) -> None:
        """Write the slopes across edges to the reference, and where their middles are.

        Raises
        ------
        MeshError : another body has others there.
        """
        self.across_block = configuration.numbering.block(across_block(self.slope_name))
        vertices, own = self.middles.vertices, self.middles.values[:, :3]
        configuration.points[vertices] = self.middles.values[:, 3:6]
        at = self.offset(vertices, "across")[:, None] + np.arange(3)
        present = configuration.reference[at]
        with together(configuration.comm):
            if (present.any(axis=1) & (np.abs(present - own).max(axis=1, initial=0) > 1e-9)).any():
                raise MeshError(
                    f"body {self.name!r} shares slopes across edges with another body that has "
                    "other normals there; use join='position', or give both the same direction="
                )
        configuration.reference[at] = own

    def _find_middles(self, configuration: Configuration) -> None:
        """Find slopes across edges, their middles and the normals there (collective)."""
        assert self.directions is not None
        topology, corners = configuration.topology, self.points[self.cells]
        D, after = self.slopes_across(self.cells), np.roll(corners, -1, axis=1)
        chord, normal = unit(after - corners), self.directions.at[self.cells]
        normal = normal + np.roll(normal, -1, axis=1)
        normal = unit(normal - np.einsum("nka,nka->nk", normal, chord)[..., None] * chord)
        edges = self.all_vertices[:, self.element.vertices :]
        table = np.zeros((topology.n_local, 9))
        table[edges] = np.concatenate([D, 0.5 * (corners + after), normal], axis=2)
        table = topology.halo.updated(table)
        present = np.flatnonzero(table[:, :3].any(axis=1))
        self.middles = AtVertices(present, table[present])

    def slopes_across(self, cells: Integers) -> Array:
        """Return the reference slopes (n, edges, 3) across the edges of cells by local vertices."""
        assert self.directions is not None
        at = cells[:, : self.element.vertices]
        ids = self._topology.vertex_ids[at]
        return macro.slopes_across(self.points[at], self.directions.at[at], ids)

    # ---- nodes ----------------------------------------------------------------------------------
    def offset(self, vertices: Integers, jet: str) -> Ints32:
        """Return local offsets of a node's position (``value``) or of its k-th slope."""
        if jet == "value":
            return np.asarray(self._offset[vertices, self.position_block])
        if jet == "across":
            return np.asarray(self._offset[vertices, self.across_block])
        k = int(jet.removeprefix("slope"))
        return np.asarray(self._offset[vertices, self.slope_block] + 3 * k)

    def normals_at(self, vertices: Integers) -> Array:
        """Return the reference normals of nodes, (k, 3)."""
        assert self.directions is not None
        if self.directions.kink[vertices].any():
            raise MeshError(f"body {self.name!r}: a kink has no director of its own")
        return np.asarray(self.directions.at[vertices])

    # ---- cells ----------------------------------------------------------------------------------
    def maps_of(self, cells: Integers) -> Array:
        """Return slope maps T (n, corners, s, s) of cells given by local vertices.

        Where edges carry slopes: all coefficients (n, functions, vectors), see `macro`.
        """
        if self.element.across:
            assert self.directions is not None
            at = cells[:, : self.element.vertices]
            X, normals, D = self.points[at], self.directions.at[at], self.slopes_across(at)
            maps_found = macro.cell_maps(X, normals, self.basis[at], D)
            if not np.isfinite(maps_found).all():
                raise MeshError(f"body {self.name!r}: a cell has no area, or corners on a line")
            return maps_found
        slopes = geometry.element_slopes(self.element, self.points, cells, self.directions)
        if not self.element.slopes:
            return np.zeros((*slopes.shape[:3], 0))
        maps = geometry.slope_maps(self.element, slopes, self.basis[cells])
        mismatch = np.linalg.norm(slopes - np.einsum("nvkc,nvca->nvka", maps, self.basis[cells]))
        if not mismatch <= 1e-6 * np.linalg.norm(slopes):  # also where a cell has no area: NaN
            raise MeshError(f"body {self.name!r}: element slopes leave the nodes' tangent planes")
        return maps

    def coefficients(self, cells: Integers, maps: Array) -> Array:
        """Return the reference coefficients (n, functions, 3) of cells given by local vertices."""
        vectors = self.points[cells][:, :, None, :]
        if self.element.across:
            nodal = np.concatenate([vectors, self.basis[cells]], axis=2).reshape(len(cells), -1, 3)
            return np.asarray(maps @ np.concatenate([nodal, self.slopes_across(cells)], axis=1))
        if self.element.slopes:
            slopes = np.einsum("nvkc,nvca->nvka", maps, self.basis[cells])
            vectors = np.concatenate([vectors, slopes], axis=2)
        return np.asarray(vectors.reshape(len(vectors), int(np.prod(vectors.shape[1:3])), 3))

    def jet(self, jet: str, xi: Array, cells: Integers) -> tuple[Array, Array | None]:
        """Return the coefficients of a point jet in cells (k, nv) at parameter values (k, d).

        Those of positions (k, nv), and of the nodes' slopes (k, nv, s) if there are some.
        """
        return self.weighted(tabulate(self.element, jet, xi), cells)

    def weighted(self, table: Array, cells: Integers) -> tuple[Array, Array | None]:
        """Return combinations of the functions of cells, table (k, functions), as `jet` does.

        Where edges carry slopes the second ones are those of nodes, then those of edges, in one
        row for each cell; `cells` have the vertices of edges behind the corners then.
        """
        s = len(self.element.slopes)
        if self.element.across:
            nv = self.element.vertices
            table = np.einsum("kf,kfv->kv", table, self.maps_of(cells))
            nodes = table[:, : nv * (1 + s)].reshape(len(table), nv, 1 + s)
            rest = nodes[..., 1:].reshape(len(table), nv * s), table[:, nv * (1 + s) :]
            return nodes[..., 0], np.concatenate(rest, axis=1)
        table = table.reshape(*cells.shape, 1 + s)
        if not s:
            return table[..., 0], None
        return table[..., 0], np.einsum("nvk,nvkc->nvc", table[..., 1:], self.maps_of(cells))

    def combined(
        self, vertices: Integers, positions: Array, slopes: Array | None
    ) -> tuple[Ints32, Array, Ints]:
        """Return offsets, values and corners (k, m) of sums over nodes (k, nv); see `jet`."""
        if slopes is not None and slopes.ndim == 2:
            return self._combined(vertices, positions, slopes)
        coordinate, value = self.offset(vertices, "value")[..., None], positions[..., None]
        if slopes is not None:
            start = self.offset(vertices, "slope0")[..., None]
            coordinate = np.concatenate([coordinate, start + 3 * np.arange(slopes.shape[2])], 2)
            value = np.concatenate([value, slopes], axis=2)
        k, nv, m = value.shape
        corner = np.broadcast_to(np.repeat(np.arange(nv), m), (k, nv * m))
        return coordinate.reshape(k, nv * m), value.reshape(k, nv * m), corner

    def _combined(
        self, vertices: Integers, positions: Array, slopes: Array
    ) -> tuple[Ints32, Array, Ints]:
        """Return the same where edges carry slopes."""
        nv, s = positions.shape[1], len(self.element.slopes)
        of_nodes = self.offset(vertices[:, :nv], "slope0")[..., None] + 3 * np.arange(s)
        parts = [
            self.offset(vertices[:, :nv], "value"),
            of_nodes.reshape(len(vertices), nv * s),
            self.offset(vertices[:, nv:], "across"),
        ]
        corner = np.concatenate([np.arange(nv), np.repeat(np.arange(nv), s)])
        corner = np.append(corner, np.arange(nv, vertices.shape[1]))
        values = np.concatenate([positions, slopes], axis=1)
        corners = np.broadcast_to(corner, values.shape)
        return np.concatenate(parts, axis=1).astype(np.int32), values, corners

    def at(self, xi: Sequence[float] | Array, cells: Ints32 | None = None) -> Array:
        """Return the places (n, 3) of parameter values in cells; of none: the centroids."""
        own = cells is None or cells is self.cells
        cells = self.cells if cells is None else cells[:, : self.element.vertices]
        if not len(xi):
            return np.asarray(self.points[cells].mean(axis=1))
        table = tabulate(self.element, "value", np.array([xi]))[0]
        maps = self.maps if own else self.maps_of(cells)
        return np.asarray(np.einsum("i,nia->na", table, self.coefficients(cells, maps)))

    def patch(
        self,
        element: Element | None = None,
        cells: Ints32 | None = None,
        owned: Mask | None = None,
        extra: Ints32 | None = None,
        scalars: Ints32 | None = None,
        ids: Ints | None = None,
    ) -> Patch:
        """Return cells, given by local vertices, as kernels take them; by default all of the body.

        `element` : of faces, another one without slopes; `extra`, `scalars` : (n, k) local vertices
        and offsets of scalars of each cell.
        """
        element = element or self.element
        if element.across:
            return self._patch_of_cells(cells, owned, extra, scalars, ids)
        maps = self.maps if cells is None else np.zeros((len(cells), element.vertices, 0, 0))
        at = self.cells if cells is None else cells
        if cells is not None and element.slopes:
            maps = self.maps_of(cells)
        runs = {"value": 1, "slope0": len(element.slopes)}
        parts = [jet for jet, width in runs.items() if width]
        blocks, stride = self._blocks(at, parts)
        none = np.zeros((len(at), 0), dtype=np.int32)
        widths = tuple(runs[jet] for jet in parts)
        scalars = none if scalars is None else scalars
        gathered = CellEntities(blocks, maps, widths, scalars, stride=stride)
        owned = self.owned if owned is None else owned
        ids = self.ids if cells is None else ids
        return Patch(element, at, owned, gathered, none if extra is None else extra, ids)

    def _blocks(self, at: Ints32, parts: list[str]) -> tuple[Ints32, int]:
        """Return `blocks` and `stride` of `CellEntities`: vertices where these will do."""
        if len(parts) == 1 and np.array_equal(self.offset(at, *parts), 3 * at):
            return at[..., None], 3
        return np.stack([self.offset(at, jet) for jet in parts], axis=2), 1

    def _patch_of_cells(
        self,
        cells: Ints32 | None,
        owned: Mask | None,
        extra: Ints32 | None,
        scalars: Ints32 | None,
        ids: Ints | None,
    ) -> Patch:
        """Return cells whose edges carry slopes; given ones have the vertices of their edges."""
        own = cells is None
        at = self.all_vertices if cells is None else cells
        nv, s = self.element.vertices, len(self.element.slopes)
        nodes, edges = at[:, :nv], at[:, nv:]
        start = self.offset(nodes, "slope0")[..., None] + 3 * np.arange(s)
        block = np.concatenate([self.offset(nodes, "value")[..., None], start], axis=2)
        block = block.reshape(len(at), nv * (1 + s))
        blocks = np.concatenate([block, self.offset(edges, "across")], axis=1)
        maps = self.pattern.values(self.maps if own else self.maps_of(at))
        none = np.zeros((len(at), 0), dtype=np.int32)
        gathered = CellEntities(
            blocks[..., None].astype(np.int32),
            maps,
            (1,),
            none if scalars is None else scalars,
            self.pattern,
        )
        return Patch(
            self.element,
            self.cells if own else at,
            self.owned if owned is None else owned,
            gathered,
            none if extra is None else extra,
            self.ids if own else ids,
            at.astype(np.int32),
        )

    def curved(self) -> Mask:
        """Tell which cells of a cable (n,) are curved in the reference."""
        slopes = np.einsum("nvkc,nvca->nvka", self.maps, self.basis[self.cells])
        return geometry.curved_lines(self.points[self.cells], slopes)
