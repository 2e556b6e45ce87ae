# SPDX-License-Identifier: BSD-3-Clause
"""Views of a system for bodies and terms: `Layout` before distribution, then `Configuration`."""

from __future__ import annotations

import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar, cast
from weakref import WeakKeyDictionary

import numpy as np
from mpi4py import MPI

from ..arrays import Array, Ints, Ints32, Mask
from ..errors import MeshError, ParameterError
from ..mesh.edges import NumberedEdges
from ..mesh.partition import Family, distribute
from ..runtime.collective import reduced, together
from ..runtime.once import Once
from ..values.parameter import label
from .numbering import Block, Numbering, VertexTerms
from .resolved import JetRows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ..mesh import Mesh
    from ..mesh.partition import Topology
    from .assembler import Assembler
    from .memory import Memory
    from .resolved import Resolved
    from .revisions import HoldsVectors


Bound = TypeVar("Bound")
Configured = TypeVar("Configured", bound="Configuration")
Known_co = TypeVar("Known_co", bound="Configuration", covariant=True)
T = TypeVar("T")
R = TypeVar("R")
P = ParamSpec("P")
Bound_co = TypeVar("Bound_co", covariant=True)


class HasName(Protocol):
    """A body or a term, with the name that the user gave it."""

    @property
    def name(self) -> str:
        """Shown in messages."""


class Binds(Hashable, Protocol[Bound_co]):
    """A body, a term or a part of one: it has a binding in each system that it is in."""

    def bind(self, layout: Layout, /) -> Bound_co:
        """Announce what it needs; return what it is in the system (collective)."""


class Placed(Protocol):
    """Places of bodies, as far as their jets are asked for here; see `places.ends.End`."""

    @property
    def travels(self) -> bool:
        """Whether they may be others after a step."""

    def resolve(self, layout: Layout, *, follows: bool = False) -> Resolved:
        """Find the places (collective)."""

    def travel(self, configuration: Configuration, time: float) -> None:
        """Keep the places at a time (collective)."""

    def rows(
        self, configuration: Configuration, places: Resolved, vertices: Ints32, jet: str
    ) -> JetRows:
        """Return a jet of places as combinations of local coordinates."""


class Extended(HasName, Protocol):
    """A body, as far as it has a size."""

    @property
    def extent(self) -> float:
        """Size [m]."""


@dataclass(frozen=True)
class EdgeVertices:
    """The vertices of the middles of edges in a system, of the surfaces of one mesh.

    Attributes
    ----------
    numbered : the edges.
    base, points : first ids of their vertices, and of the mesh's points.
    """

    numbered: NumberedEdges
    base: int
    points: int

    def vertices(self, pairs: Ints) -> Ints:
        """Return the vertices (k,) of edges by their ends (k, 2); -1: none (collective)."""
        number = self.numbered.number(pairs - self.points)
        return np.where(number < 0, -1, number + self.base)


class Layout:
    """The vertices, entities and blocks of coordinates that bodies and terms announce.

    Every rank announces the same in the same order, its own slice of each family. What a body or a
    term finds here its binding has (`bind`, `binding`); it is not changed itself.

    Parameters
    ----------
    comm : the ranks.
    bodies, terms : of the system.
    meshes : names of bodies and the meshes that these are made on; a mesh may be there again.
    names : of bodies and terms whose own name another one has, too, by their ids.

    Attributes
    ----------
    families, blocks, owners : what was announced.
    places : that were found, of each end that is still there; the present ones.
    reach : largest distance of what terms attach to a body from its origin, by the body's id.
    changing : names of the families whose entities may be replaced between steps.
    room : number of vertices that these may need of ranks that share none.
    """

    def __init__(
        self,
        comm: MPI.Comm,
        bodies: Sequence[Any],
        terms: Sequence[Any],
        meshes: Sequence[tuple[str, Mesh]] = (),
        names: Mapping[int, str] | None = None,
    ) -> None:
        self.comm = comm
        self._bindings: WeakKeyDictionary[Binds[Any], Any] = WeakKeyDictionary()
        self.places: WeakKeyDictionary[Placed, Resolved] = WeakKeyDictionary()
        self._names = dict(names or {})
        self.bodies, self.terms = bodies, terms
        self._ids = {id(body) for body in bodies}
        self._numbers = {id(term): k for k, term in enumerate(terms)}
        self._noted: dict[Hashable, str] = {}
        self.reach = dict.fromkeys(self._ids, 0.0)
        self._bases: dict[int, int] = {}
        self._meshes: list[Mesh] = []
        self._edges: dict[int, EdgeVertices] = {}
        self.mesh_points = 0
        for name, mesh in meshes:
            if id(mesh) not in self._bases:
                self._add(name, mesh)
        self.vertex_count = self.mesh_points
        self.families: list[Family] = []
        self.blocks: dict[str, Block] = {}
        self.owners = VertexTerms()
        self.changing: list[str] = []
        self.room = 0

    def _add(self, name: str, mesh: Mesh) -> None:
        """Give a mesh its range of vertex ids."""
        if MPI.Comm.Compare(mesh.comm, self.comm) not in (MPI.IDENT, MPI.CONGRUENT):
            raise MeshError(
                f"body {name!r}: its mesh lives on another communicator ({mesh.comm.size} ranks) "
                f"than that of body {self.bodies[0].name!r} ({self.comm.size} ranks)",
                asked="mesh",
                given=name,
            )
        self._bases[id(mesh)] = self.mesh_points
        self._meshes.append(mesh)
        self.mesh_points += mesh.n_points

    def require_member(self, body: HasName, who: str) -> None:
        """Raise where something acts on a body that is not one of the system's.

        Raises
        ------
        ParameterError : names the bodies there are.
        """
        if id(body) not in self._ids:
            own_name = getattr(body, "name", None)
            what = f"body {own_name!r}" if isinstance(own_name, str) else repr(body)
            names = [repr(own.name) for own in self.bodies]
            listed = ", ".join(names[:10]) + (f" and {len(names) - 10} more" if names[10:] else "")
            if own_name in [own.name for own in self.bodies]:
                what = f"another body of the name {own_name!r}"  # made twice, as by a notebook
            raise ParameterError(
                f"{who} is on {what}, which is not in this system; it has {listed}",
                asked="body",
                given=getattr(body, "name", body),
                possible=[own.name for own in self.bodies],
            )

    def name(self, item: HasName) -> str:
        """Return the name of a body or term in this system: no other has it."""
        return self._names.get(id(item), item.name)

    def call(self, part: HasName, name: str) -> None:
        """Let a part of a term have a name of its own in this system."""
        self._names[id(part)] = name

    def number(self, term: HasName) -> int:
        """Return the number of a term among those of the system.

        Raises
        ------
        ParameterError : it is none of them.
        """
        if id(term) not in self._numbers:
            raise ParameterError(
                f"{term.name!r} is no term of this system: give it in terms=[...]",
                asked="system",
                given=term.name,
            )
        return self._numbers[id(term)]

    def noted(self, what: Hashable, who: str) -> str | None:
        """Return the name of the term that said the same before, or take note of it."""
        before = self._noted.get(what)
        self._noted.setdefault(what, who)
        return before

    def attach(self, body: HasName, arms: Array) -> None:
        """Take note of places (k, dim) that a term has on a body, from the body's origin."""
        far = float(np.linalg.norm(arms, axis=1).max(initial=0.0))
        self.reach[id(body)] = max(self.reach[id(body)], far)

    def base(self, mesh: Mesh) -> int:
        """Return the first vertex id of a mesh."""
        if id(mesh) not in self._bases:
            raise MeshError(f"mesh {mesh.name!r} belongs to none of the system's bodies")
        return self._bases[id(mesh)]

    def edges(self, mesh: Mesh) -> EdgeVertices:
        """Return the vertices of the middles of a mesh's edges, new at first (collective)."""
        if id(mesh) not in self._edges:
            numbered = NumberedEdges.of_surfaces(mesh)
            self._edges[id(mesh)] = EdgeVertices(
                numbered, self.new_range(len(numbered)), self.base(mesh)
            )
        return self._edges[id(mesh)]

    def announce(self, family: Family) -> None:
        """Add a family of entities."""
        self.families.append(family)

    def announce_changing(self, family: Family, room: int) -> None:
        """Add a family whose entities may be replaced between steps; see `Revises`.

        `room` : number of vertices that the present and the last entities of this rank have at
        most, of those that other ranks own.
        """
        self.announce(family)
        self.changing.append(family.name)
        self.room += room

    def announce_block(self, block: Block) -> str:
        """Add a block of coordinates; return its name."""
        return self.blocks.setdefault(block.name, block).name

    def new_vertices(self, count: int, owner: str = "", *blocks: Block) -> Ints:
        """Return ids of `count` vertices beyond the meshes' points, and announce their blocks.

        `owner` is the name of the term or body that they belong to. One of the blocks may be of
        those that other terms have, too, on vertices of their own (`Block.of`).

        Raises
        ------
        ParameterError : there is such a block, and no owner.
        """
        first = self.new_range(count, owner, *blocks)
        return np.arange(first, first + count, dtype=np.int64)

    def new_range(self, count: int, owner: str = "", *blocks: Block) -> int:
        """Return the first of `count` ids; see `new_vertices`."""
        owned = [block.name for block in blocks if block.of]
        if owned and not owner:
            raise ParameterError(
                f"vertices with the block {owned[0]!r} belong to no one: its rows are called after "
                "the term that has them: give its name, layout.new_vertices(count, name, block)",
                asked="owner",
                given=owner,
            )
        first = self.vertex_count
        self.vertex_count += count
        names = [self.announce_block(block) for block in blocks]
        if owner and count:
            shared = (name for name, block in zip(names, blocks, strict=True) if block.of)
            self.owners.add(first, count, owner, next(shared, ""))
        return first

    def bind(self, item: Binds[Bound]) -> Bound:
        """Let a body, a term or a part of one announce itself, once; return its binding.

        Collective.
        """
        binding: Bound | None = self._bindings.get(item)
        return self.register(item, item.bind(self)) if binding is None else binding

    def register(self, item: Binds[Bound], binding: Bound) -> Bound:
        """Know a binding from here on; for one whose parts ask for it before it is complete."""
        self._bindings[item] = binding
        return binding

    def binding(self, item: Binds[Bound]) -> Bound:
        """Return what a body, a term or a part of one is in this system.

        Raises
        ------
        ParameterError : it is not in this system.
        """
        binding: Bound | None = self._bindings.get(item)
        if binding is None:
            name = getattr(item, "name", None)
            what = str(item) if name is None else repr(name)
            raise ParameterError(
                f"{what} is not in this system: give it to System(...)",
                asked="system",
                given=str(item) if name is None else name,
            )
        return binding

    def fetch_points(self, ids: Ints) -> Array:
        """Return the points (n, 3) of vertex ids, zero beyond those of the meshes (collective).

        Only meshes that a rank asks for take part: there may be hundreds.
        """
        points, bases = np.zeros((len(ids), 3)), np.fromiter(self._bases.values(), dtype=np.int64)
        of = np.searchsorted(bases, ids, side="right") - 1
        of[(ids < 0) | (ids >= self.mesh_points)] = len(bases)
        needed = np.bincount(of, minlength=len(bases))[: len(bases)] > 0
        if self.comm.size > 1:
            needed = reduced(self.comm, needed, MPI.LOR)
        for k in np.flatnonzero(needed).tolist():
            inside = of == k
            points[inside] = self._meshes[k].fetch_points(ids[inside] - bases[k])
        return points


class Configuration(ABC):
    """Numbered coordinates of bodies and terms, and their present values, on this rank.

    Parameters
    ----------
    layout : everything announced; it is distributed here (collective).
    mirrors : the supports that are planes of symmetry.

    Attributes
    ----------
    comm : the ranks.
    layout : whose families are gone.
    topology : vertices and entities of this rank.
    points : (vertices, 3) reference positions of local vertices [m].
    numbering : of the coordinates, after `number`.
    reference, state : local vectors (coordinates,) of the reference configuration and of the
        displacements and multipliers, ghosts included; after `number`.
    time : of the state [s].
    stiffness, scale : of the multipliers: a multiplier times `stiffness` is a force; the same as
        a function of time, one for all kernels.
    memory, assembler : what laws remember from one step to the next, and the kernels; after all
        forms are made.
    once : warnings that were told; in the calls of a problem, that one's.
    reviewing : whether lists are asked for with a solution, not with the state that a step begins
        with.
    """

    reviewing = False

    numbering: Numbering
    reference: Array
    state: Array
    memory: Memory
    assembler: Assembler

    def __init__(self, layout: Layout, mirrors: Sequence[Any] = ()) -> None:
        self.comm, self.layout, self.mirrors = layout.comm, layout, mirrors
        self.once = Once(layout.comm)
        self.solving = threading.RLock()  # by the thread that solves
        self.bodies, self.terms = tuple(layout.bodies), tuple(layout.terms)
        self.time, self.stiffness = 0.0, 1.0

        def scale(time: float) -> float:
            return self.stiffness

        scale.changes = False  # type: ignore[attr-defined]  # it is set between two calls only
        self.scale: Callable[[float], float] = scale
        self.topology: Topology = distribute(
            layout.comm,
            layout.families,
            n_points=layout.mesh_points,
            points=layout.fetch_points,
        )
        layout.families = []
        reach = np.fromiter(layout.reach.values(), dtype=float)
        reach = reduced(self.comm, reach, MPI.MAX) if self.comm.size > 1 else reach
        self._reach = dict(zip(layout.reach, reach.tolist(), strict=True))
        if self.comm.size > 1:
            self.topology.make_room(layout.room)
        self._holders: list[weakref.ref[HoldsVectors]] = []
        # of places that do not travel, see `evaluate`
        self._rows: WeakKeyDictionary[Placed, dict[tuple[str, ...], list[JetRows]]]
        self._rows = WeakKeyDictionary()
        self.points: Array = layout.fetch_points(self.topology.vertex_ids)

    def number(self, carriers: Iterable[tuple[str, Ints32]]) -> None:
        """Number the coordinates of (block, local vertices) and write the reference positions.

        Collective.
        """
        blocks = list(self.layout.blocks.values())
        number = {block.name: k for k, block in enumerate(blocks)}
        pairs = [(number[name], vertices) for name, vertices in carriers]
        pairs += self._in_room(pairs)
        self.numbering = Numbering(self.topology, blocks, pairs, self.layout.owners)
        self.state = np.zeros(self.numbering.coordinates)
        position = self.numbering.block("position")
        carriers = self.numbering.carriers(position)
        if 3 * len(carriers) == self.numbering.coordinates == self.points.size:
            self.reference = self.points.reshape(-1)  # there is nothing else
        else:
            self.reference = np.zeros(self.numbering.coordinates)
            self.reference[self.numbering.coordinates_of(position)] = self.points[carriers]

    def require_numbers(
        self, what: str, vectors: Mapping[str, Array], among: Mask | None = None
    ) -> None:
        """Require vectors of finite numbers, such as `state`, by their names (collective).

        `what` : needs them, as in "a motion begins"; `among` : coordinates that count.

        Raises
        ------
        ParameterError
        """
        with together(self.comm):
            for name, argument in vectors.items():
                vector, size = np.asarray(argument), self.numbering.coordinates
                if vector.shape != (size,) or vector.dtype != float:
                    raise ParameterError(
                        f"system.{name} is an array of {vector.dtype} of the shape {vector.shape}: "
                        f"{what} with floats of the shape ({size},)",
                        asked=name,
                        given=vector.shape,
                    )
                odd = ~np.isfinite(vector)
                if not odd.any():
                    continue
                bad = np.flatnonzero(odd & (True if among is None else among))
                if len(bad):
                    at = self.points[self.numbering.vertex_of[bad[0]]]
                    raise ParameterError(
                        f"system.{name} is {vector[bad[0]]} at t = {self.time:g}, of a node at "
                        f"({', '.join(f'{x:g}' for x in at)}): {what} with finite numbers",
                        asked=name,
                        given=vector[bad[0]],
                    )

    # ---- lists that change ----------------------------------------------------------------------
    def _in_room(self, pairs: Sequence[tuple[int, Ints32]]) -> list[tuple[int, Ints32]]:
        """Return the blocks that vertices of changing lists carry, with the room (collective)."""
        topology = self.topology
        if not topology.room:
            return []
        used = np.concatenate([topology.families[f].vertices.ravel() for f in self.layout.changing])
        carried = np.zeros(len(self.layout.blocks), dtype=np.int8)
        for number, vertices in pairs:
            carried[number] |= np.isin(vertices, used).any()
        places = np.arange(topology.n_local - topology.room, topology.n_local, dtype=np.int32)
        return [(k, places) for k in np.flatnonzero(reduced(self.comm, carried, MPI.MAX)).tolist()]

    def register(self, holder: HoldsVectors) -> None:
        """Keep the local vectors of something right where other vertices come into the room.

        Collective; what is no longer there is forgotten.
        """
        self._living()
        self._holders.append(weakref.ref(holder))

    def _living(self) -> list[HoldsVectors]:
        """Return what is registered and alive on every rank, in one order (collective)."""
        there = np.array([holder() is not None for holder in self._holders], dtype=np.int8)
        there = reduced(self.comm, there, MPI.MIN)
        self._holders = [h for h, alive in zip(self._holders, there, strict=True) if alive]
        items = [holder() for holder in self._holders]
        return [holder for holder in items if holder is not None]

    def hold(self, numbers: Ints) -> None:
        """Have some vertices, by their global numbers, on this rank (collective)."""
        if self.topology.room and self.topology.hold(numbers):
            self.numbering.renew()
            self.topology.halo.update(self.points)
            self.numbering.room_halo.update(self.reference)

    def numbers(self, ids: Ints) -> Ints:
        """Return the global numbers of vertices, by ids that all ranks give alike (collective)."""
        result = np.full(ids.shape, -1, dtype=np.int64)
        topology = self.topology
        if topology.n_owned:
            own = topology.vertex_ids[: topology.n_owned]
            order = topology.order
            order = order[order < topology.n_owned]
            near = order[np.minimum(np.searchsorted(own, ids, sorter=order), len(order) - 1)]
            there = own[near] == ids
            result[there] = topology.numbers[near[there]]
        return reduced(self.comm, result, MPI.MAX)

    def everywhere(self, place: Placed, jets: Sequence[str]) -> list[JetRows]:
        """Return jets of places as `rows_of` does, on every rank (collective).

        Their coordinates are (block, number within it) as block + blocks * number: local offsets
        differ between ranks.
        """
        numbering, jet_rows = self.numbering, []
        for rows in self.rows_of(place, jets):
            block = numbering.block_of[rows.coordinate].astype(np.int64)
            start = np.zeros_like(block)
            for b in np.unique(block).tolist():
                chosen = block == b
                start[chosen] = numbering.offset[numbering.vertex_of[rows.coordinate[chosen]], b]
            within = (rows.coordinate - start) * len(numbering.blocks) + block
            parts = self.comm.allgather(tuple(rows._replace(coordinate=within)))
            jet_rows.append(JetRows(*(np.concatenate(part) for part in zip(*parts, strict=True))))
        return jet_rows

    def refresh(self) -> None:
        """Bring what is in the room up to date in all local vectors (collective).

        They may be copies that were made when other vertices were there.
        """
        if self.numbering.revision:
            vectors = [self.state, self.rate]
            vectors += [v for holder in self._living() for v in holder.local_vectors()]
            for vector in vectors:
                self.numbering.room_halo.update(vector)

    @property
    @abstractmethod
    def moves(self) -> bool:
        """Whether the present state is one of a motion."""

    @property
    @abstractmethod
    def rate(self) -> Array:
        """Local vector of the rates of all coordinates."""

    @abstractmethod
    def forget(self) -> None:
        """Let laws remember nothing but their initial values (collective)."""

    @abstractmethod
    def revise(self, time: float) -> bool:
        """Let terms replace lists of entities by those of the present state (collective)."""

    @abstractmethod
    def residual_at_solution(self) -> Array:
        """Return the residual of all coordinates at the present state (local vector)."""

    @cached_property
    def extent(self) -> float:
        """Size of the largest body [m]."""
        return max(map(self.extent_of, self.bodies))

    def extent_of(self, body: Extended) -> float:
        """Return the size of a body [m], or twice the reach of what terms attach to it.

        1 for a node to which nothing is attached.
        """
        return max(float(body.extent), 2.0 * self._reach[id(body)]) or 1.0

    @property
    def _discrete(self: Configured) -> Configured:
        """Itself: `discrete_system` takes it for the system above it."""
        return self

    # ---- members --------------------------------------------------------------------------------
    def binding(self, item: Binds[Bound]) -> Bound:
        """Return what a body, a term or a part of one is in this system; see `Layout.binding`."""
        return self.layout.binding(item)

    def name(self, item: HasName) -> str:
        """Return the name of a body or term in this system: no other has it."""
        return self.layout.name(item)

    # ---- ranks ----------------------------------------------------------------------------------
    def sum(self, values: Array) -> Array:
        """Return the sum over ranks, on every rank (collective)."""
        total = np.ascontiguousarray(values, dtype=float)
        return reduced(self.comm, total) if self.comm.size > 1 else total

    def wrench(self, forces: Array, about: Array) -> Array:
        """Return force and moment about a point (..., 6) of forces on local coordinates (..., n).

        Their virtual work, also of those on slopes and angles, in rigid motions of the present
        configuration; those of this rank only.
        """
        total = np.zeros((*forces.shape[:-1], 6))
        acts = np.atleast_2d(forces).any(axis=0)
        for number, block in enumerate(self.numbering.blocks):
            if block.moves:
                at = self.numbering.coordinates_of(number)
                at = at[acts[at].any(axis=1)]
                q, f = self.reference[at] + self.state[..., at], forces[..., at]
                for a, axis in enumerate(np.eye(3)):
                    total[..., a] += (f @ block.translated(axis)).sum(axis=-1)
                    total[..., 3 + a] += (f * block.rotated(q, axis, about)).sum(axis=(-2, -1))
        return total

    # ---- places ---------------------------------------------------------------------------------
    def rows_of(self, place: Placed, jets: Sequence[str]) -> list[JetRows]:
        """Return jets of the places whose first vertex this rank owns (collective).

        The numbers of places in the rows are those within all K.
        """
        places = place.resolve(self.layout, follows=True).everywhere(self.comm)
        jet_rows: list[JetRows] = []
        with together(self.comm):
            if self.numbering.owned_vertices:
                ids = self.topology.vertex_ids
                order = np.argsort(ids)
                near = np.searchsorted(ids, places.vertices, sorter=order)
                local = order[np.minimum(near, len(order) - 1)]
                present = ids[local] == places.vertices
                mine = np.flatnonzero(present[:, 0] & (local[:, 0] < self.numbering.owned_vertices))
                here, vertices = places.take(mine), local[mine].astype(np.int32)
                for jet in jets:
                    rows = place.rows(self, here, vertices, jet)
                    jet_rows.append(rows._replace(place=mine[rows.place]))
        return jet_rows

    def known_rows(self, place: Placed, jets: tuple[str, ...]) -> list[JetRows]:
        """Return `rows_of`, found once for places that stay on their body (collective)."""
        known = self._rows.setdefault(place, {})
        rows = known[jets] if jets in known else self.rows_of(place, jets)
        if not place.travels:
            known[jets] = rows
        return rows

    def evaluate(self, place: Placed, jets: Sequence[tuple[str, Array]]) -> list[Array]:
        """Return jets of local vectors at places, each (K, 3), on every rank (collective)."""
        place.travel(self, self.time)
        jet_rows = self.known_rows(place, tuple(jet for jet, _ in jets))
        values = np.zeros((len(jets), place.resolve(self.layout, follows=True).total, 3))
        for number, rows in enumerate(jet_rows):
            vector = jets[number][1]
            at = rows.place, rows.component
            np.add.at(values[number], at, rows.value * vector[rows.coordinate])
        return list(self.sum(values))


# ---- what users give -----------------------------------------------------------------------------
class Discretised(Protocol[Known_co]):
    """A `System` of the user, or what is below it."""

    @property
    def _discrete(self) -> Known_co:
        """The numbered coordinates on this rank."""


def discrete_system(who: str, system: Discretised[Configured]) -> Configured:
    """Return what is below the system that the user gave.

    Raises
    ------
    ParameterError : it is no system.
    """
    if not isinstance(getattr(system, "_discrete", None), Configuration):
        raise ParameterError(
            f"{who}: system is {label(system)}: give the system that it is in, sa.System(...)",
            asked="system",
            given=system,
        )
    return system._discrete


class InstantResult:
    """A result at the present state, and at many instants of a motion at once."""

    def __init__(self, system: Configuration, result: Callable[[Any], Array]) -> None:
        self.system, self.result = system, result

    def along(self, instants: Configuration) -> Array:
        """Return the results (n, ...) at what `DiscreteSystem.at_instants` returns."""
        return self.result(instants)

    def __call__(self) -> Array:
        """Return the result at the present state."""
        return self.result(self.system)


def in_system(
    method: Callable[Concatenate[T, Configuration, P], R],
) -> Callable[Concatenate[T, Discretised[Configuration], P], R]:
    """Let a method of a body or a term take the user's system as its first argument (a decorator).

    It is given the `Configuration` below it; what is no system is refused.
    """

    @wraps(method)
    def called(item: T, system: Discretised[Configuration], *args: P.args, **kwargs: P.kwargs) -> R:
        who: str = (
            getattr(item, "_what", "")
            or getattr(item, "what", "")
            or getattr(item, "name", type(item).__name__)
        )
        return method(item, discrete_system(who, system), *args, **kwargs)

    return cast("Callable[Concatenate[T, Discretised[Configuration], P], R]", called)
