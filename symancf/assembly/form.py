# SPDX-License-Identifier: BSD-3-Clause
"""Forms: kernels with the entities that they are evaluated on, as terms contribute them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from ..arrays import Array, Ints, Ints32, Mask

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from symancf_codegen.declare import PointLaw

    from ..runtime.jit import Kernel
    from ..values.parameter import Value
    from .agreement import PlaceFunction

Role = Literal["strain", "potential", "contact", "constraint", "work", "dissipation", "inertia"]


@dataclass(frozen=True)
class MapPattern:
    """Where maps of whole cells (functions, vectors) are not zero.

    By columns: `first` (vectors + 1,), `row` (values,); see cell_maps.h. `nodes` (nodes + 1,) is
    where the vectors of each node of a cell begin: three of corners, one of edges.
    """

    functions: int
    first: Ints32
    row: Ints32
    nodes: Ints32

    @classmethod
    def of(cls, some: Mask, corners: int) -> MapPattern:
        """Return that of a mask (functions, vectors) of cells with so many corners, and edges."""
        column, row = np.nonzero(some.T)
        first = np.concatenate([[0], np.cumsum(np.bincount(column, minlength=some.shape[1]))])
        nodes = np.cumsum([0] + [3] * corners + [1] * (some.shape[1] - 3 * corners))
        return cls(len(some), *(x.astype(np.int32) for x in (first, row, nodes)))

    def values(self, maps: Array) -> Array:
        """Return the values (n, values) of maps (n, functions, vectors)."""
        column = np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))
        return np.asarray(maps[:, self.row, column])


@dataclass(frozen=True)
class CellEntities:
    """Entities of a tabulated kernel: cells with what they gather, and the maps of their nodes.

    `widths` (parts,): a node's coefficient vectors in runs, e.g. 1 for the position and 2 for its
    slopes; `stride` x `blocks` (n, nodes, parts): local offset of each run; `maps` (n, nodes, m,
    m): the last m vectors of the cell = maps . those of the node; `scalars` (n, k): local offsets
    of further unknowns of the kernel, `Space.with_scalars`; the last k vertices of an entity are
    theirs. With `cell_map` each vector has a block of its own and `maps` (n, values) are those that
    are not zero of maps of the whole cell.
    """

    blocks: Ints32
    maps: Array
    widths: tuple[int, ...]
    scalars: Ints32 = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int32))
    cell_map: MapPattern | None = None
    stride: int = 1


@dataclass(frozen=True)
class Jets:
    """Entities of a point kernel: each jet a sparse combination of local coordinates.

    One row per non-zero, sorted by entity: `entity`, `jet`, `coordinate` (offset in the
    local vector), `vertex` (number within the entity's vertices) and `value`. An entry of
    the rate of coordinate c has the coordinate ~c = -1 - c; no force acts on it.
    """

    entity: Ints32
    jet: Ints32
    coordinate: Ints32
    vertex: Ints32
    value: Array


@dataclass(frozen=True)
class Basis:
    """The functions of facets: N_i = sum_k coefficients[k, i] xi^a eta^b, (a, b) = exponents[k].

    They belong to the vertices one after the other, the corners first: of each the position, then
    its slopes.
    """

    vertices: int
    corners: int
    slopes: int
    exponents: Ints32
    coefficients: Array

    @property
    def functions(self) -> int:
        """Number of functions."""
        return self.coefficients.shape[1]


@dataclass(frozen=True)
class Corners:
    """Normals at the corners of facets, of the facets around; see normals.h.

    A normal is along the sum of r_xi x r_eta at the corners there; both are sums of local vectors.

    Attributes
    ----------
    number : (facets, 4) normals at corners; -1 where none is needed.
    span_start, entry_start : (normals + 1,), (spans + 1,) the facets around a normal, the vectors
        of these.
    entry_vector, entry_weight : (entries,), (entries, 2).
    vector_start, offset, vertex : (normals + 1,), (vectors,) vectors that a normal depends on, with
        their local offsets and local vertices.
    ids : (normals,) their numbers among all.
    frozen_normals, holds : (normals, 3), (1,) unit vectors, and whether normals are these and
        follow no state; may be written to between solutions.
    """

    number: Ints32
    span_start: Ints32
    entry_start: Ints32
    entry_vector: Ints32
    entry_weight: Array
    vector_start: Ints32
    offset: Ints32
    vertex: Ints32
    ids: Ints
    frozen_normals: Array
    holds: Ints32


@dataclass(frozen=True)
class ClosestPoints:
    """Entities of a point kernel whose jets are made before each evaluation; see closest_points.h.

    Points of facets, each with its closest point on the nearest of the facets opposite. A *contact
    element* is a facet that has points with those opposite; `vertices` and `vertex_start` of the
    form are of contact elements, the vertices of the facet that has the points first. Offsets are
    local, of the vectors (position, slopes) of a facet's vertices. Facets may be of several types:
    arrays have the room that the largest needs; what others lack is their first entry again, with
    no weight.

    Attributes
    ----------
    bases, types : functions of each type of facets opposite; (facets,) types.
    offsets, maps, numbers : (facets, functions); (facets, corners, s, s), the slopes of elements
        from those of vertices; (facets,) global numbers.
    sizes, widths : (facets,) lengths of cells; shortest edges in the reference.
    rim, own, own_widths : (facets,) free edges and corners on them, a bit for each; (n,) p of
        points, see `inner` in closest_point.h: 1 within their own side, 0 on its free edges; (n,)
        widths of the facets they are on.
    corners : the normals, of the facets that may hold closest points.
    element_offsets : (contact elements, vectors) of the facet that has the points.
    vector_vertex : (contact elements, vectors) vertex of the contact element that each belongs to.
    facet_start, candidates : (contact elements + 1,), (contact elements,) how many of the facets
        may hold closest points, by ascending number; the others hold anchors or turn normals.
    facet, corner : (k,), (k, vertices) the facets of contact elements, their vertices among the
        contact element's.
    element, value : (n,), (n, vectors) of points: contact element, and weights of the vectors.
    first : (n, 3) anchors of points that remember none: facet + 1, xi, eta; may be written to
        between steps.
    reach : gap beyond which the law vanishes.
    row : name of the first of the parameters that are written: S^-1 (9), n, n_1, n_2 (9), g,
        share (4).
    gap, damping, span : names of the gap at the beginning of the step in the kernel's memory, ""
        if it has none, and of theta and h in its uniform parameters: the law is taken at
        g + theta h g'.
    anchor, turn, rate : number of the first of the jets t, of the change of n and of the rates of
        d; -1: there are none.
    """

    bases: Sequence[Basis]
    types: Ints32
    offsets: Ints32
    maps: Array
    numbers: Ints32
    sizes: Array
    widths: Array
    rim: Ints32
    corners: Corners
    element_offsets: Ints32
    vector_vertex: Ints32
    facet_start: Ints32
    candidates: Ints32
    facet: Ints32
    corner: Ints32
    element: Ints32
    value: Array
    own: Array
    own_widths: Array
    first: Array
    reach: float
    row: str
    gap: str
    damping: str
    span: str
    anchor: int = -1
    turn: int = -1
    rate: int = -1


class Listed(Protocol):
    """Entities by their vertices: those of entity k are vertices[vertex_start[k] : ... [k + 1]]."""

    @property
    def vertices(self) -> Ints32:
        """Local vertices of all entities."""

    @property
    def vertex_start(self) -> Ints32:
        """Where those of each entity begin, and the end."""


@dataclass(frozen=True, eq=False)
class Former:
    """The vertices of a list that is not the present one."""

    vertices: Ints32
    vertex_start: Ints32


@dataclass(frozen=True, eq=False)
class Form:
    """One kernel evaluated on a list of entities; what a term contributes to the assembler.

    It does not change. A term whose list changes between steps gives another form for it, see
    `Revises`. What its points remember is in the state, see `Memory.rows`.

    Attributes
    ----------
    role : ``strain``, ``potential`` and ``contact`` are energies of the audit; ``constraint`` is
        lambda . Phi; ``work`` and ``dissipation`` (of dampers) have no energy; ``inertia`` is
        the kinetic energy of a vector of rates.
    uniform : parameter -> value for all entities (number, Parameter or function of time), in a
        slot of the kernel or in a row of `cell`.
    cell : (n, rows) per-entity parameters in the kernel's order; those of memory are the last.
    cell_at : function of time that returns them, where they change; if its `timed` is False they
        do not change while time goes on.
    functions : the user's functions of which they are made.
    growing : uniform parameters that are sizes of loads which turn with the body; statics lets
        them grow where they are there at once.
    owned : (n,) whether this rank counts the entity.
    vertices : (n, corners) or a flat array with `vertex_start`; of `ClosestPoints` for each contact
        element.
    law, multipliers : of a constraint, the point law of its kernel, lambda . Phi, and the number
        of multipliers, its last unknowns; its time derivatives are made of them.
    ids : (n,) numbers of the entities that are the same on any number of ranks.
    changing : whether another form may take its place between steps.
    timed : whether the entities are functions of time.
    moving : whether it acts in motions alone.
    compact : whether its tangent is zero where its force is, as of a gap that is open.
    kinked : whether forces may have kinks, as those of contact and friction: Newton's method
        looks where full steps lead.
    rubs : whether friction acts whose steps Newton's method takes whole, as that of tendons: its
        tangent is another one where it has turned round.
    summed : what of their memory is a sum over all entities, the same of each; "": nothing.
    total : of a list that changes, number of all entities that may come into it; None: those that
        are in it at first, of all ranks.
    """

    name: str
    kernel: Kernel
    role: Role
    uniform: Mapping[str, Value]
    cell: Array
    owned: Mask
    vertices: Ints32
    vertex_start: Ints32
    entities: CellEntities | Jets | ClosestPoints
    cell_at: Callable[[float], Array] | None = None
    functions: Sequence[PlaceFunction] = ()
    growing: tuple[str, ...] = ()
    law: PointLaw | None = None
    multipliers: int = 0
    changing: bool = False
    timed: bool = False
    moving: bool = False
    compact: bool = False
    kinked: bool = False
    rubs: bool = False
    ids: Ints | None = None
    summed: str = ""
    total: int | None = None

    def rows(self, time: float) -> Array | None:
        """Return `cell` at a time, the same array where nothing changed; None: it never changes."""
        return None if self.cell_at is None else self.cell_at(time)

    def thinned(self, places: Jets) -> Form:
        """Return the form of `places`, its entities, on the vertices alone that these depend on.

        A point in a cell depends on all nodes of it, one at a node on that alone: less couples.
        """
        start = np.asarray(self.vertex_start, dtype=np.int64)
        at = start[places.entity] + places.vertex
        used = np.zeros(self.vertices.size, dtype=bool)
        used[at] = True
        number = np.concatenate([[0], np.cumsum(used)])
        vertex = (number[at] - number[start[places.entity]]).astype(np.int32)
        return replace(
            self,
            vertices=self.vertices[used],
            vertex_start=number[start].astype(np.int32),
            entities=replace(places, vertex=vertex),
        )

    def part(self, chosen: Mask) -> Form:
        """Return the form of the entities that are `chosen` (n,); not of `ClosestPoints`."""
        entities, count = self.entities, np.diff(self.vertex_start)
        if isinstance(entities, CellEntities):
            maps, scalars = entities.maps[chosen], entities.scalars
            scalars = scalars[chosen] if len(scalars) else scalars
            entities = replace(entities, blocks=entities.blocks[chosen], maps=maps, scalars=scalars)
        elif isinstance(entities, Jets):
            own = chosen[entities.entity]
            number = (np.cumsum(chosen) - 1).astype(np.int32)
            entities = Jets(
                number[entities.entity[own]],
                entities.jet[own],
                entities.coordinate[own],
                entities.vertex[own],
                entities.value[own],
            )
        else:
            raise TypeError(f"{self.name!r}: points on facets have no part")
        flat = self.vertices.ndim == 1
        return replace(
            self,
            cell=self.cell[chosen],
            owned=self.owned[chosen],
            vertices=self.vertices[np.repeat(chosen, count) if flat else chosen],
            vertex_start=np.cumsum([0, *count[chosen]], dtype=np.int32),
            entities=entities,
            ids=None if self.ids is None else self.ids[chosen],
        )

    @property
    def size(self) -> int:
        """Number of entities."""
        return len(self.owned)

    @property
    def knows_rates(self) -> bool:
        """Whether forces may depend on rates."""
        if isinstance(self.entities, Jets):
            return bool((self.entities.coordinate < 0).any())
        return self.kernel.rates if isinstance(self.entities, CellEntities) else True


def keeps_nodes(form: Form) -> bool:
    """Tell whether the tangent of a form is one of displacements of nodes.

    So it is of cells whose nodes have no slopes, maps or scalars; and where there is none.
    """
    entities = form.entities
    if not form.kernel.has_tangent:
        return True
    return (
        isinstance(entities, CellEntities)
        and tuple(entities.widths) == (1,)
        and entities.cell_map is None
        and not entities.scalars.shape[1]
    )
