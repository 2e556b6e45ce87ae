# SPDX-License-Identifier: BSD-3-Clause
"""Entities of terms: on places, each with jets, parameters and a point law."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI

from ..arrays import Array, Data, Ints, Ints32, Mask
from ..assembly.form import Form, Former, Jets, Role
from ..assembly.resolved import JetRows, Resolved
from ..assembly.revisions import Change
from ..assembly.state import same_arrays
from ..errors import ConstraintError
from ..mesh.partition import Family
from ..runtime.collective import block_starts, owners_of, together

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import sympy as sp

    from ..assembly.configuration import Configuration, Layout
    from ..assembly.numbering import Block
    from ..assembly.state import ActiveSet
    from ..places.ends import End
    from ..runtime.jit import Kernel
    from ..values.parameter import Value


PLACE = "X", "vertices", "within"  # of a place that travels, see `Resolved`


class Entities:
    """K tuples of places (ends), distributed with the bodies.

    Parameters
    ----------
    name : unique name of the family of entities.
    ends : one place of each end makes an entity.
    virtual : block of coordinates on a new vertex that each entity brings (of multipliers, of
        states); places that an end groups (`Line`) have it in common. None: no vertex.

    Attributes
    ----------
    size, groups : numbers of entities and of their groups; entities that no end groups are one
        each.
    places : of each end.
    ids, local, owned, here, group : after `bind`, numbers of this rank's n entities, their local
        vertices, which of them this rank counts, the places of each end, and the numbers of the
        groups.
    """

    def __init__(
        self, layout: Layout, name: str, ends: Sequence[End], virtual: Block | None = None
    ) -> None:
        self.name, self.ends = name, list(ends)
        by_end = self._resolved(layout)
        grouped = [places for places in by_end.values() if places.group is not None]
        widest = max(grouped or by_end.values(), key=lambda places: places.total)
        self.size, comm = widest.total, layout.comm
        anywhere = Resolved(widest.X, widest.vertices[:, :0], starts=widest.starts)
        self.places = [by_end.get(k, anywhere) for k in range(len(ends))]
        self._require_sizes()
        starts = block_starts(self.size, comm.size) if widest.starts is None else widest.starts
        mine = np.arange(starts[comm.rank], starts[comm.rank + 1])
        columns = [places.vertices_of(comm, mine, widest.starts) for places in self.places]
        group, self.groups = mine, self.size
        if widest.group is not None:
            group = widest.group if widest.starts is not None else widest.group[mine]
            self.groups = comm.allreduce(int(group.max(initial=-1)), MPI.MAX) + 1
        self.block, own = "", np.zeros((len(mine), 0), dtype=np.int64)
        if virtual is not None:
            self.block = virtual.name
            own = layout.new_range(self.groups, name, virtual) + group[:, None]
        columns.append(own)
        self.columns = np.cumsum([0] + [c.shape[1] for c in columns])
        vertices = np.concatenate(columns, axis=1)
        family = Family(name, mine, vertices, partitioned=False)
        self.shipped: dict[tuple[int, str], JetRows] | None = None
        self.changing = any(end.travels for end in ends)
        if self.changing:
            self._ids = np.concatenate(comm.allgather(vertices))
            layout.announce_changing(family, 2 * self._ids.size)
        else:
            layout.announce(family)

    def _resolved(self, layout: Layout) -> dict[int, Resolved]:
        """Return the places of the ends that have places of their own, by number (collective)."""
        ends = self.ends
        by_end = {
            k: end.resolve(layout, follows=True) for k, end in enumerate(ends) if not end.anywhere
        }
        if not by_end or not all(places.total for places in by_end.values()):
            listed = " and ".join(map(str, ends))
            raise ConstraintError(f"{self.name}: there is no place to act on in {listed}")
        for k, places in by_end.items():
            attached = ends[k].attached(places)
            if attached is not None:
                body, arms = attached
                if not ends[k].oriented:  # a point mass: as far as what is tied to it
                    others = [other.X for other in by_end.values()]
                    arms = np.concatenate(others) - places.X
                layout.attach(body, arms)
        return by_end

    def _require_sizes(self) -> None:
        """Raise where an end has neither one place, which serves all entities, nor as many."""
        sizes = [places.total for places in self.places]
        alone = [places.total == 1 and places.group is None for places in self.places]
        if any(size != self.size and not one for size, one in zip(sizes, alone, strict=True)):
            pairs = zip(self.ends, sizes, strict=True)
            listed = ", ".join(f"{end}: {size}" for end, size in pairs)
            raise ConstraintError(
                f"{self.name}: its ends have different numbers of places ({listed}); give "
                "one place, or as many as the other end has",
                asked="number of places",
                given=sizes,
            )

    def bind(self, configuration: Configuration) -> None:
        """Take this rank's entities after distribution, of places that an end leaves there."""
        family = configuration.topology.families[self.name]
        present = np.ones(len(family.ids), dtype=bool)
        for end in self.ends:
            present &= end.chosen(family.ids)
        self.ids = family.ids[present]
        self.local = family.vertices[present]
        self.owned = family.owned[present]
        self.here = [places.fetch(configuration.comm, self.ids) for places in self.places]
        groups = (places.group for places in self.here if places.group is not None)
        self.group = next(groups, self.ids)

    # ---- lists that change ----------------------------------------------------------------------
    def search(self, configuration: Configuration, time: float) -> Change:
        """Find where the places of ends that travel are; see `Revises.search` (collective)."""
        if not self.changing:
            return Change.NONE
        change = Change.NONE
        for k in self._travelling():
            end = self.ends[k]
            end.travel(configuration, time)
            places, before = end.resolve(configuration.layout, follows=True), self.places[k]
            if places is not before:
                self.places[k] = places
                other = (places.vertices != before.vertices).any()
                change = max(change, Change.OTHER if other else Change.WITHIN)
        return change

    def _travelling(self) -> list[int]:
        """Return the numbers of the ends that travel."""
        return [k for k, end in enumerate(self.ends) if end.travels]

    def active(self) -> dict[str, Data]:
        """Return where ends that travel are, by name: ``1 X``, ``1 vertices``, ``1 within``."""
        places = {k: self.places[k] for k in self._travelling()}
        return {f"{k} {name}": getattr(own, name) for k, own in places.items() for name in PLACE}

    def activate(self, configuration: Configuration, active: ActiveSet) -> bool:
        """Take places of `active`; tell whether they are others than the present ones."""
        changed = False
        for k in self._travelling():
            arrays: dict[str, Any] = {name: active[f"{k} {name}"] for name in PLACE}
            present = {name: getattr(self.places[k], name) for name in PLACE}
            if not same_arrays(arrays, present):
                self.places[k], changed = self.places[k]._replace(**arrays), True
            configuration.layout.places[self.ends[k]] = self.places[k]
        return changed

    def _numbers_of(self, configuration: Configuration, entities: ActiveSet) -> Ints:
        """Return the global numbers of the vertices of all entities (collective)."""
        ids = self._ids.copy()
        for k in self._travelling():
            ids[:, slice(*self.columns[k : k + 2])] = entities[f"{k} vertices"]
        return configuration.numbers(ids)

    def needed(self, configuration: Configuration, entities: ActiveSet) -> Ints:
        """Return the numbers of the vertices of this rank's entities; see `Revises.needed`."""
        numbers = self._numbers_of(configuration, entities)
        return numbers[self._touching(configuration, numbers)].ravel()

    def listed(self, configuration: Configuration, entities: ActiveSet) -> Former:
        """Return this rank's entities by their vertices; see `Revises.listed`."""
        numbers = self._numbers_of(configuration, entities)
        mine = numbers[self._touching(configuration, numbers)]
        starts = mine.shape[1] * np.arange(len(mine) + 1, dtype=np.int32)
        return Former(configuration.topology.local(mine.ravel()), starts)

    @staticmethod
    def _touching(configuration: Configuration, numbers: Ints) -> Mask:
        """Return which entities have rows of this rank."""
        topology = configuration.topology
        first, end = topology.starts[topology.comm.rank : topology.comm.rank + 2]
        return np.asarray(((numbers >= first) & (numbers < end)).any(axis=1))

    def renew(self, configuration: Configuration, jets: Sequence[tuple[int, str]]) -> None:
        """Take the entities that `search` has found, with what `jets` of ends need (collective).

        A rank may have rows of an entity, but not what its jets are made of: the rank of the first
        vertex of each place makes them for all.
        """
        topology, comm = configuration.topology, configuration.comm
        numbers = self._numbers_of(configuration, self.active())
        self.ids = np.flatnonzero(self._touching(configuration, numbers))
        mine = numbers[self.ids]
        self.local = topology.local(mine.ravel()).reshape(mine.shape)
        self.owned = owners_of(topology.starts, mine[:, 0]) == comm.rank
        self.here = [places.fetch(comm, self.ids) for places in self.places]
        self.group = self.ids
        if comm.size == 1:
            return
        self.shipped = {}
        for k, end in enumerate(self.ends):
            wanted = [jet for number, jet in jets if number == k and jet != "slide"]
            if "slide" in end.curved:
                self.shipped[k, "slide"] = end.slide(configuration, self.places[k])
            if self.places[k].vertices.shape[1]:
                gathered = configuration.everywhere(end, wanted)
                self.shipped |= {(k, jet): rows for jet, rows in zip(wanted, gathered, strict=True)}

    def _rows(self, configuration: Configuration, number: int, jet: str) -> JetRows:
        """Return a jet of an end as combinations of local coordinates."""
        vertices = self.end_vertices(number)
        if self.shipped is None or not vertices.shape[1]:
            end = self.ends[number]
            return end.rows(configuration, self.here[number], vertices, jet)
        rows, numbering = self.shipped[number, jet], configuration.numbering
        n = len(self.ids)
        if self.places[number].total == 1:  # it serves all
            entity = np.repeat(np.arange(n), len(rows.place))
            chosen = np.tile(np.arange(len(rows.place)), n)
        else:
            near = np.minimum(np.searchsorted(self.ids, rows.place), max(0, n - 1))
            chosen = np.flatnonzero(self.ids[near] == rows.place) if n else np.zeros(0, np.int64)
            entity = near[chosen]
        within, of = np.divmod(rows.coordinate[chosen], len(numbering.blocks))
        vertex, at = vertices[entity, rows.corner[chosen]], np.zeros(len(chosen), dtype=np.int32)
        for block in np.unique(of).tolist():
            here = of == block
            at[here] = numbering.offset[vertex[here], block] + within[here]
        return JetRows(entity, rows.component[chosen], at, rows.corner[chosen], rows.value[chosen])

    def constant(self, jet: tuple[int, str]) -> Array | None:
        """Return the reference values (n, 3) of a jet that do not follow from coordinates."""
        return self.ends[jet[0]].constant(self.here[jet[0]], jet[1])

    def carriers(self) -> list[tuple[str, Ints32]]:
        """Return the blocks of the virtual vertices and of ends that bring some, on this rank."""
        blocks = [*(end.block for end in self.ends), self.block]
        return [(b, self.end_vertices(k)[:, -1]) for k, b in enumerate(blocks) if b]

    def starts(self, configuration: Configuration) -> Ints32:
        """Return the local offsets (n,) of the coordinates of the virtual vertices."""
        block = configuration.numbering.block(self.block)
        vertex = self.end_vertices(len(self.ends))[:, 0]
        return np.asarray(configuration.numbering.offset[vertex, block])

    def end_vertices(self, k: int) -> Ints32:
        """Local vertices of end k; k = number of ends gives the virtual ones."""
        return np.asarray(self.local[:, self.columns[k] : self.columns[k + 1]])

    def jets(
        self,
        configuration: Configuration,
        wanted: Sequence[tuple[int, str]],
        rates: Sequence[tuple[int, str]] = (),
        scalars: int = 0,
        moving: bool = False,
    ) -> Jets:
        """Combine jets (end, jet) of the ends and `scalars` coordinates of the virtual vertex.

        Jet number 3 k + a is component a of the k-th of those `wanted` and then of those whose
        `rates` are, followed by the scalars and, with `moving`, by the rates of the scalars.
        """
        parts: list[JetRows] = []
        every = [*((jet, False) for jet in wanted), *((jet, True) for jet in rates)]
        with together(configuration.comm):
            for k, ((number, jet), rate) in enumerate(every):
                rows = self._rows(configuration, number, jet)
                at, component, coordinate, corner, value = rows
                coordinate = ~coordinate if rate else coordinate
                corner = corner + self.columns[number]
                parts.append(JetRows(at, 3 * k + component, coordinate, corner, value))
        if scalars:
            start = self.starts(configuration)
            n = len(start)
            for k in range(2 if moving else 1):
                coordinate = (start[:, None] + np.arange(scalars)).ravel()
                parts.append(
                    JetRows(
                        np.repeat(np.arange(n), scalars),
                        np.tile(3 * len(every) + k * scalars + np.arange(scalars), n),
                        ~coordinate if k else coordinate,
                        np.full(n * scalars, self.columns[-2]),
                        np.ones(n * scalars),
                    )
                )
        joined = [np.concatenate(column) for column in zip(*parts, strict=True)]
        return Jets(
            entity=joined[0].astype(np.int32),
            jet=joined[1].astype(np.int32),
            coordinate=joined[2].astype(np.int32),
            vertex=joined[3].astype(np.int32),
            value=joined[4].astype(float),
        )

    def reference(self, configuration: Configuration, jets: Jets, rows: int) -> Array:
        """Return the reference values (n, rows) of the jets below `rows`."""
        values = np.zeros((len(self.ids), rows))
        chosen = (jets.jet < rows) & (jets.coordinate >= 0)
        coordinates = configuration.reference[jets.coordinate[chosen]]
        np.add.at(values, (jets.entity[chosen], jets.jet[chosen]), jets.value[chosen] * coordinates)
        return values

    def values(
        self, configuration: Configuration, jets: Jets, symbols: Sequence[sp.Symbol]
    ) -> dict[str, Array]:
        """Return the present values (..., n) of jets and rates by the names of their symbols."""
        c, state, rate = jets.coordinate, configuration.state, configuration.rate
        present = np.where(c >= 0, state[..., np.maximum(c, 0)], rate[..., np.maximum(~c, 0)])
        values = np.zeros((*present.shape[:-1], len(self.ids), len(symbols)))
        places: Any = (..., jets.entity, jets.jet)
        np.add.at(values, places, jets.value * present)
        return {s.name: values[..., k] for k, s in enumerate(symbols)}

    def rates(
        self, configuration: Configuration, jets: Jets, symbols: Sequence[sp.Symbol]
    ) -> dict[str, Array]:
        """Return the present rates (n,) of jets by the names of their symbols."""
        values, known = np.zeros((len(self.ids), len(symbols))), jets.coordinate >= 0
        moving = jets.value[known] * configuration.rate[jets.coordinate[known]]
        np.add.at(values, (jets.entity[known], jets.jet[known]), moving)
        return {s.name: values[:, k] for k, s in enumerate(symbols)}

    def form(
        self,
        name: str,
        kernel: Kernel,
        role: Role,
        uniform: Mapping[str, Value],
        cell: dict[str, Array],
        jets: Jets,
    ) -> Form:
        """Make the form of a point kernel on these entities.

        `cell` values are (n,); what it lacks has one value for all, in `uniform`.
        """
        n, nv = self.local.shape
        rows = [np.broadcast_to(cell.get(p, np.float64(0.0)), (n,)) for p in kernel.cell]
        return Form(
            name=name,
            kernel=kernel,
            role=role,
            uniform=dict(uniform),
            cell=np.stack(rows, axis=1) if rows else np.zeros((n, 0)),
            owned=self.owned,
            vertices=self.local.ravel(),
            vertex_start=np.arange(n + 1, dtype=np.int32) * np.int32(nv),
            entities=jets,
            ids=self.ids,
            changing=self.changing,
            timed=any(end.timed for end in self.ends),
        )
