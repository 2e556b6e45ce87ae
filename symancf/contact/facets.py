# SPDX-License-Identifier: BSD-3-Clause
"""Contact of points with deformable facets: what may touch, and who has it.

The law is `facet_law`. The normals of facets follow every state, and the tangent knows how: the
facets beside those that may touch are listed, too.

What may pass through what
--------------------------
Points of quadrature are looked at, edges and nodes are not: what is smaller than their distance
passes between those of one side, and is seen as points of the other. A point cannot get through a
facet in a step: `FacetPass.review` follows all points from the accepted state to the solution on
straight lines, relative to the facets that were in reach, in parts of half a cell at most; one
that comes to lie deeper than `search.BEHIND` of a cell behind a facet, within its edges, was
before it, and the step is cut. Points that pass within half a cell outside of the rim of a side
are not seen.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from mpi4py import MPI

from ..arrays import Array, Integers, Ints
from ..assembly.closest_points import Passes, follow
from ..assembly.form import ClosestPoints, Form, Former
from ..assembly.revisions import Change, Verdict
from ..assembly.state import join_rows, rows_of_one, same_arrays
from ..mesh.partition import Family
from ..runtime import jit
from ..runtime.collective import owners_of, reduced
from ..runtime.shared import Shared
from ..values.parameter import evaluate
from .active import NO_PAIRS, PAIRS, Active
from .around import beside, corners_of
from .facet_law import BASE, CLOSEST_POINT, GAP, RUB, WEIGHT, facet_law
from .laws import DAMPING, NEAR, ROUND_OFF, SLID, SPAN, K
from .look import Look
from .modulus import Following
from .overlap import FREE_OVERLAP, numbered, overlaps, require_apart
from .search import DEPTH_BEHIND, candidates, motion, radii
from .steps import OVERLAP
from .surface_pair import (
    SurfacePair,
    among,
    contact_elements,
    joined_ranges,
    of_points,
    offsets,
    places,
)

if TYPE_CHECKING:
    from symancf_codegen.declare import PointLaw

    from ..assembly.configuration import Configuration, Layout
    from ..assembly.state import ActiveSet
    from ..mesh.partition import Topology
    from ..terms.quantities import At
    from ..values.parameter import Value
    from .laws import Coulomb, Normal
    from .steps import ContactNumbers
    from .surface import Side

MOST_HALF_CELLS = 256  # of a step, half a cell long: one with more is cut
_LAWS: Shared[PointLaw] = Shared()


class FacetPass:
    """Points of a deformable side against the facets of another, or of the same.

    Parameters
    ----------
    name : of the form and of the entities.
    contactor, target : the sides.
    normal, coulomb : the laws; None: without friction.
    part : of the area that the points count for: 1/2 where the target is looked at likewise.
    stiffness : of all points [Pa/m]; None: from those of the sides, see `Side.parts`.
    initial : what an overlap in the reference means, see `symancf.Contact`.
    """

    def __init__(
        self,
        name: str,
        contactor: Side,
        target: Side,
        normal: Normal,
        coulomb: Coulomb | None,
        part: float = 0.5,
        stiffness: float | None = None,
        initial: str | None = None,
    ) -> None:
        self.name, self.contactor, self.target = name, contactor, target
        self.normal, self.coulomb, self.part, self.stiffness = normal, coulomb, part, stiffness
        self.initial = initial
        self.parameters = normal.parameters | ({} if coulomb is None else coulomb.parameters)

    def bind(self, layout: Layout) -> FacetPassBinding:
        """Announce the facets that have points (collective)."""
        return FacetPassBinding(self, layout)

    @cached_property
    def law(self) -> PointLaw:
        """The law of a point; passes that are alike have it in common."""
        own, coulomb = self.normal, self.coulomb
        key = (own.energy(GAP),)
        key += () if coulomb is None else (coulomb.coefficient, coulomb.speeds)
        return _LAWS.get(key, lambda: facet_law("facet_contact", own, coulomb))

    @cached_property
    def pressure(self) -> jit.Values:
        """The pressure as a function of the gap and of the parameters."""
        return jit.Values([self.normal.pressure(GAP)], (), {})


class FacetPassBinding:
    """Points of a deformable side against the facets of another, in one system.

    Attributes
    ----------
    name : in the system.
    surfaces : the two sides.
    active : the present active set.
    step : numbers of the contact, before `forms`.
    form : the kernel and the present points, after `forms`; what follows, too.
    overlap : numbers of points that are let out, ascending, and how deep they are at first.
    sunk : the deepest of all points in the reference, in parts of their cells.
    """

    step: ContactNumbers
    form: Form
    overlap: tuple[Ints, Array]
    sunk: float

    def __init__(self, term: FacetPass, layout: Layout) -> None:
        self.term, self.name, sides = term, layout.name(term), (term.contactor, term.target)
        one, other = (layout.bind(side) for side in sides)
        first, second = numbered(*sides, layout)
        bodies = np.array(first), np.array(second)
        self.surfaces = SurfacePair((one, other), bodies, bool({*first} & {*second}))
        require_apart(self.surfaces, layout)
        self.active = Active()
        self._moduli: tuple[Array, Array] | None = None  # from which the stiffness was made
        ids = np.flatnonzero(one.own)
        family = Family(self.name, ids, one.ids[one.facets[ids]], partitioned=False)
        layout.announce_changing(family, len(one.ids))

    def forms(self, configuration: Configuration) -> list[Form]:
        """Return the kernel, with no entities yet (collective)."""
        term, (s, m) = self.term, self.surfaces.both
        for surface in (s, m):
            surface.place(configuration)
        X = self.surfaces.reference(configuration)
        one, other = (radii(surface, x) for surface, x in zip((s, m), X, strict=True))
        self._least = 0.5 * float(np.mean([one.mean(), other.mean()]))  # margin where nothing moves
        self._width = 2.0 * float(other.max(initial=0.0))
        points, depth = overlaps(self.surfaces, configuration, float(other.mean()), term.initial)
        part = depth / s.length[s.facet_of(points)]
        self.sunk = float(part.max(initial=0.0))
        released = depth > 0.0 if term.initial == "release" else np.zeros(len(depth), dtype=bool)
        self.overlap = points[released], depth[released]
        self._stiffness = np.broadcast_to(term.stiffness or 0.0, s.size)
        self.stiffness(configuration.time)
        self._kernel = jit.points(term.law, configuration.comm)
        self._touching = ROUND_OFF * float(m.length.mean())  # gap up to which points press
        self.form = self._points(configuration)
        return [self.form]

    def stiffness(self, time: float) -> Array:
        """Return k (F,) at a time, the same array where nothing has changed."""
        if self.term.stiffness is None:
            s, m = self.surfaces.both
            E, moduli = (s.modulus(time), m.modulus(time)), self._moduli
            if moduli is None or E[0] is not moduli[0] or E[1] is not moduli[1]:
                soft = np.maximum(s.length / E[0], (m.length / E[1]).mean())
                self._moduli, self._stiffness = E, s.parts / soft
        return self._stiffness

    # ---- lists that change, see `Revises` -------------------------------------------------------
    def search(self, configuration: Configuration, time: float) -> Change:
        """Find what may touch in a step that ends at `time`, the same on all ranks (collective)."""
        before, x = self.active, self.surfaces.vectors(configuration)
        outdated = not before.begun or 2.0 * _way(x, before.places) > before.margin
        if configuration.reviewing:
            return self._list(configuration, x) if outdated else Change.NONE
        begins = configuration.memory.stepping or time != configuration.time or not before.begun
        active = before._replace(reach=self._reach(time))
        stale = outdated or active.reach > before.reach or self._behind(configuration)
        if begins:
            moved = _differ(before.accepted, x)
            active = active._replace(contactor=x[0], target=x[1])
            if moved:
                active = active._replace(anchored=False)
                self._closest_points().first[...] = 0.0
            stale = self._missed_contact(configuration, active, moved) or stale
        self.active = active
        if not stale:
            return Change.NONE
        way = _way(x, before.accepted) if before.begun else 0.0
        self.active = active._replace(margin=max(self._least, 3.0 * way))
        return self._list(configuration, x)

    def _closest_points(self) -> ClosestPoints:
        """Return the present entities of this rank."""
        closest_points = self.form.entities
        assert isinstance(closest_points, ClosestPoints)
        return closest_points

    def _reach(self, time: float) -> float:
        """Return the gap at which the law ends; facets opposite have to be wider."""
        return self.term.normal.reach(self._width, self.stiffness(time).mean(), time)

    def _anchors(self, configuration: Configuration) -> Integers:
        """Return pairs of this rank's facets with points, and where these have their anchors."""
        if self.term.coulomb is None:
            return NO_PAIRS
        (s, m), pairs = self.surfaces.both, []
        width = m.size
        for rows in configuration.memory.remembered(self.form):
            at = np.flatnonzero(rows[:, 0] > 0.0)
            pairs.append(s.facet_of(at) * width + rows[at, 0].astype(np.int64) - 1)
        every = np.stack(np.divmod(np.unique(np.concatenate(pairs)), width), axis=1)
        return every[np.isin(every[:, 0], s.mine)]

    def _missed_contact(self, configuration: Configuration, active: Active, moved: bool) -> bool:
        """Tell whether the list lacks facets of anchors, or, of what has `moved`, the first.

        (Collective.)
        """
        comm, anchors = configuration.comm, self._anchors(configuration)
        lacks = bool((~among(anchors, active.every)).any())
        some = np.array([lacks, len(anchors) > 0, len(active.pairs) > 0])
        lacks, remembers, lists = reduced(comm, some, MPI.LOR).tolist()
        if moved and self.term.coulomb is not None and not remembers:
            return bool(lists)
        return bool(lacks)

    def _behind(self, configuration: Configuration) -> bool:
        """Tell whether a point was behind a facet at the end of the last step."""
        least = float(self.surfaces.both[1].length.min())
        return self._deepest(configuration) > DEPTH_BEHIND * least

    def _list(self, configuration: Configuration, x: tuple[Array, Array]) -> Change:
        """Make the list for the way from the accepted state to the present one (collective)."""
        surfaces, active = self.surfaces, self.active
        start, path, margin = x, None, active.margin
        if configuration.reviewing:
            start, path = active.accepted, x
            margin = max(margin, _way(x, active.accepted))  # all that lies on it
        rest = surfaces.rest(configuration)
        near, may_touch = candidates(surfaces.both, start, rest, margin + active.reach, path)
        pairs = near[may_touch]
        anchors = self._anchors(configuration)
        anchors = anchors[np.isin(anchors[:, 0], pairs[:, 0])]
        more = beside(surfaces.both[1], pairs)
        anchors = anchors[~among(anchors, np.concatenate([pairs, more]))]
        extra = np.concatenate([more, anchors])
        here, also = surfaces.spread(configuration.topology, pairs, extra)
        same = np.array_equal(here, active.pairs) and np.array_equal(also, active.extra)
        same = configuration.comm.allreduce(same, MPI.LAND)
        active = active._replace(
            near=near.astype(np.int32), contactor_places=places(x[0]), target_places=places(x[1])
        )
        if not same:
            active = active._replace(pairs=here, extra=also, anchored=True)
        self.active = active
        return Change.NONE if same else Change.OTHER

    def activate(self, configuration: Configuration, active: Active) -> bool:
        """Take an active set; tell whether points have others opposite, or other anchors.

        (Collective.)
        """
        present, self.active = self.active, active
        if not active.anchored:
            self._closest_points().first[...] = 0.0
        depends = ["pairs", "extra"]
        if active.anchored:
            depends += ["anchored", "contactor", "target", "margin", "reach"]
        one, other = (
            {name: own[name] for name in depends} for own in (present.arrays(), active.arrays())
        )
        return bool(configuration.comm.allreduce(not same_arrays(one, other), MPI.LOR))

    def own_rows(self, comm: MPI.Comm, active: ActiveSet) -> ActiveSet:
        """Return the pairs of this rank's facets with points; see `Revises.own_rows`."""
        mine, rows = self.surfaces.both[0].mine, rows_of_one(comm, active)
        for name in PAIRS & active.keys():
            rows[name] = active[name][np.isin(active[name][:, 0], mine)]
        return rows

    def join(self, topology: Topology, rows: ActiveSet) -> ActiveSet:
        """Return the pairs that this rank needs; see `Revises.join` (collective)."""
        rest = {name: value for name, value in rows.items() if name not in PAIRS}
        own = join_rows(topology.comm, rest)
        given: dict[str, Any] = {**rows}
        lists = self.surfaces.spread(topology, given["pairs"], given["extra"])
        own |= dict(zip(("pairs", "extra"), lists, strict=True))
        if "near" in given:
            own["near"] = self.surfaces.gather(topology, given["near"])
        return own

    def needed(self, pairs: Ints) -> Ints:
        """Return the numbers of the vertices of this rank's contact elements."""
        (s, m), (a, b) = self.surfaces.both, pairs.T
        own, opposite = s.facets[np.unique(a)].ravel(), m.facets[np.unique(b)].ravel()
        numbers: Ints = np.unique(np.concatenate([s.numbers[own], m.numbers[opposite]]))
        return numbers

    def listed(self, configuration: Configuration, pairs: Ints) -> Former:
        """Return this rank's contact elements, by their vertices."""
        a, b = pairs.T
        facets, element = np.unique(a, return_inverse=True)
        vertices, start, _ = contact_elements(self.surfaces, facets, element.ravel(), b)
        return Former(configuration.topology.local(vertices), start)

    def renew(self, configuration: Configuration) -> dict[Form, Form]:
        """Return the present points and their contact elements by those before (collective)."""
        before, self.form = self.form, self._points(configuration)
        return {before: self.form}

    # ---- entities -------------------------------------------------------------------------------
    def _points(self, configuration: Configuration) -> Form:
        """Return the points of contact elements that have a vertex of this rank (collective)."""
        term, (s, m) = self.term, self.surfaces.both
        every = self.active.every
        anchors = np.arange(len(every)) >= len(self.active.pairs)
        order = np.lexsort((every[:, 1], anchors, every[:, 0]))
        (a, b), only = every[order].T, anchors[order]
        facets, element, count = np.unique(a, return_inverse=True, return_counts=True)
        topology, n = configuration.topology, len(facets)
        vertices, start, corner = contact_elements(self.surfaces, facets, element.ravel(), b)
        local = topology.local(vertices)
        opposite, of = np.unique(b, return_inverse=True)
        points, own = s.points_of(facets)
        value, nodes = of_points(s, facets)
        closest_points = ClosestPoints(
            bases=[patch.basis for patch in m.patches],
            types=m.type[opposite],
            offsets=offsets(configuration, m, opposite),
            maps=m.maps[opposite],
            numbers=opposite.astype(np.int32),
            sizes=m.length[opposite],
            widths=m.width[opposite],
            rim=m.rim[opposite],
            corners=corners_of(configuration, m, np.unique(b[~only]), opposite),
            element_offsets=offsets(configuration, s, facets),
            vector_vertex=nodes,
            facet_start=np.concatenate([[0], np.cumsum(count)]).astype(np.int32),
            candidates=np.bincount(element.ravel()[~only], minlength=n).astype(np.int32),
            facet=of.ravel().astype(np.int32),
            corner=corner,
            element=own.astype(np.int32),
            value=value,
            own=s.inner(facets),
            own_widths=s.width[facets][own],
            first=self._first(facets, element.ravel()[~only], b[~only]),
            reach=np.inf if self.active.reach else self._touching,
            row=CLOSEST_POINT[0].name,
            gap=GAP.name,
            damping=DAMPING.name,
            span=SPAN.name,
            anchor=-1 if term.coulomb is None else 9,
            turn=9 if term.coulomb is None else 12,
            rate=12 if term.coulomb is None else 15,
        )
        values_of_rows = {
            str(WEIGHT): term.part * s.areas(self.surfaces.reference(configuration)[0], facets),
            str(BASE): self._stiffness[facets][own],
            str(OVERLAP): self._overlap(points),
        }
        kernel, zero = self._kernel, np.zeros(len(points))
        cell = np.stack([values_of_rows.get(r, zero) for r in kernel.cell], axis=1)
        owners = owners_of(topology.starts, s.numbers[s.facets[facets, 0]])
        return Form(
            name=self.name,
            kernel=kernel,
            role="contact",
            compact=term.normal.compact,
            uniform=self._uniform(),
            cell=cell,
            cell_at=self._following(cell, facets[own]),
            owned=(owners == topology.comm.rank)[own],
            vertices=local,
            vertex_start=start,
            entities=closest_points,
            changing=True,
            kinked=True,
            ids=points,
            total=s.points,
        )

    def _overlap(self, points: Ints) -> Array:
        """Return how deep points are at first of those that are let out, else 0."""
        some, depth = self.overlap
        at = np.searchsorted(some, points)
        there = np.append(some, -1)[at] == points
        return np.asarray(np.where(there, np.append(depth, 0.0)[at], 0.0))

    def _following(self, cell: Array, facets: Ints) -> Following | None:
        """Return what lets k of points follow the materials of the sides, if these change.

        `facets` : of the points.
        """
        s, m = self.surfaces.both
        if self.term.stiffness is not None or not (s.changes or m.changes):
            return None
        row, timed = self._kernel.cell.index(str(BASE)), s.timed or m.timed
        return Following(cell, row, self.stiffness, facets, timed)

    def _uniform(self) -> dict[str, Value]:
        """Return the parameters that are the same for all points."""
        return {**self.term.parameters, NEAR.name: self._touching, **self.step.uniform}

    def _first(self, facets: Ints, element: Ints, b: Ints) -> Array:
        """Return the closest points of the accepted state (n, 3) as anchors of points, or zeros."""
        s, active = self.surfaces.both[0], self.active
        points, _ = s.points_of(facets)
        anchors = np.zeros((len(points), 3))
        if self.term.coulomb is None or not len(b) or not active.anchored:
            return anchors
        other, opposite = self.surfaces.opposite(np.stack([b, b], axis=1), active.target)
        r = s.at_points(active.contactor, facets)
        every, of = s.points_of(facets[element])
        point, row = np.searchsorted(points, every), opposite[of]
        away = np.linalg.norm(r[point] - other.centre[row], axis=1)
        near = away < other.radius[row] + active.margin + active.reach
        point, row = point[near], row[near]
        xi, g = other.closest_points(row, r[point])
        facet = other.facets[row]
        there = ~np.isnan(g)
        point, facet, xi, g = point[there], facet[there], xi[there], g[there]
        order = np.lexsort((facet, np.abs(g), point))
        point, at = np.unique(point[order], return_index=True)
        at = order[at]
        anchors[point, 0], anchors[point, 1:] = facet[at] + 1.0, xi[at]
        return anchors

    # ---- results --------------------------------------------------------------------------------
    def look(self, configuration: Configuration) -> Look:
        """Return what is seen of this rank's points."""
        form, assembler = self.form, configuration.assembler
        ids = form.ids
        assert ids is not None
        number = assembler.number(form)
        table, _ = assembler.tabulate("update", [number], configuration.state)
        names = form.kernel.memory
        end = dict(
            zip(names, table[number].T if form.size else np.zeros((len(names), 0)), strict=True)
        )
        uniform = self._uniform()
        at: At = {k: evaluate(k, value, configuration.time) for k, value in uniform.items()}
        surface = self.surfaces.both[0]
        facets = surface.facet_of(ids)
        at[K.name] = self.stiffness(configuration.time)[facets] * at["grown"]
        at[GAP.name] = end[GAP.name]
        p = np.broadcast_to(self.term.pressure(at)[0], (len(ids),))
        status = np.asarray(p > 0.0, dtype=float)
        status = np.rint(end["status"]) + 1.0 if "status" in end else status
        length, area = surface.length[facets], form.cell[:, form.kernel.cell.index(str(WEIGHT))]
        none = np.zeros(len(ids))
        rub, slid = (end.get(s.name, none) for s in (RUB, SLID))
        seen = end[GAP.name], length, p, status, rub, slid
        return Look(*seen, area, ids, form.owned)

    def gaps(self, configuration: Configuration, look: Look) -> Array:
        """Return the gaps (n,) that were seen; NaN where nothing is opposite (collective).

        There memory holds exactly 0.
        """
        gap, none = look.gap.copy(), np.flatnonzero(look.gap == 0.0)
        across = self._across(self.surfaces.vectors(configuration), look.ids[none])
        gap[none[np.isinf(across)]] = np.nan
        return gap

    def before(self, configuration: Configuration, look: Look) -> Array:
        """Return the gaps (n,) at the beginning of the step; inf where nothing was opposite."""
        remembered = configuration.memory.beginning(self.form)
        gap: Array = remembered[:, self.form.kernel.memory.index(GAP.name)].copy()
        none = np.flatnonzero((gap == 0.0) & (look.pressure > 0.0))
        gap[none] = self._across(self.active.accepted, look.ids[none])
        return gap

    def _across(self, x: tuple[Array, Array], ids: Ints) -> Array:
        """Return how far points are from facets at vectors of nodes; inf: no closest point."""
        s, pairs = self.surfaces.both[0], self.active.pairs
        facets, at = np.unique(s.facet_of(ids), return_inverse=True)
        first, last = (np.searchsorted(pairs[:, 0], facets, side=k) for k in ("left", "right"))
        first, last = first[at.ravel()], last[at.ravel()]
        of = np.repeat(np.arange(len(ids)), last - first)
        shapes, row = self.surfaces.opposite(pairs[joined_ranges(first, last)], x[1])
        points, _ = s.points_of(facets)
        r = s.at_points(x[0], facets)[np.searchsorted(points, ids)]
        _, g = shapes.closest_points(row, r[of])
        distances = np.full(len(ids), np.inf)
        np.fmin.at(distances, of, np.abs(g))
        return distances

    # ---- solutions, see `Reviews` ---------------------------------------------------------------
    def review(self, configuration: Configuration, look: Look) -> Verdict:
        """Cut a step in which a point has crossed a facet (collective)."""
        return Verdict.CUT if self._crosses(configuration) else Verdict.STANDS

    def presses(self, configuration: Configuration) -> bool:
        """Tell whether a point has pressed at the end of the last step, or will from the start."""
        return self._deepest(configuration) > 0.0 or self.sunk > FREE_OVERLAP

    def _deepest(self, configuration: Configuration) -> float:
        """Return how deep a point was at the end of the last step; 0: none has pressed."""
        before, _ = configuration.memory.remembered(self.form)
        return -float(before[:, self.form.kernel.memory.index(GAP.name)].min(initial=0.0))

    def hold(self, configuration: Configuration, frozen: bool, before: bool) -> float:
        """Let normals be those of the present state, or `before` that of the accepted one, for now.

        Or let them follow the state again. Returns the angle by which this turns the normals that
        were held (collective).
        """
        corners = self._closest_points().corners
        corners.holds[0] = frozen
        if not frozen:
            return 0.0
        x = self.active.target if before else self.surfaces.vectors(configuration)[1]
        now = self.surfaces.both[1].corner_normals(x, corners.ids)
        turned = float(np.linalg.norm(now - corners.frozen_normals, axis=1).max(initial=0.0))
        corners.frozen_normals[...] = now
        return float(configuration.comm.allreduce(turned, MPI.MAX))

    def _crosses(self, configuration: Configuration) -> bool:
        """Tell whether a point has come to lie behind a facet in this step (collective)."""
        surfaces, active, comm = self.surfaces, self.active, configuration.comm
        if not comm.allreduce(len(active.near) > 0, MPI.LOR):
            return False
        (s, m), x = surfaces.both, surfaces.vectors(configuration)
        way = _way(x, active.accepted)
        parts = max(1, int(np.ceil(2.0 * way / m.length.min())))
        if parts > MOST_HALF_CELLS:
            return True
        facets, a = np.unique(active.near[:, 0], return_inverse=True)
        ends, first = [], np.concatenate([[0], np.cumsum(s.first[facets + 1] - s.first[facets])])
        for start, target in (active.accepted, x):
            shapes, b = surfaces.opposite(active.near, target)
            ends.append((s.at_points(start, facets), shapes.P, shapes.Q))
        crossings = follow(
            m.library,
            [patch.basis for patch in m.patches],
            m.type[shapes.facets],
            np.stack([a.ravel(), b], axis=1),
            first,
            (ends[0], ends[1]),
            deep=DEPTH_BEHIND * m.length[shapes.facets],
            parts=parts,
        )
        worst = Passes(comm.allreduce(crossings, MPI.MAX))
        if worst is Passes.NO_MEMORY:
            raise MemoryError(f"{self.name}: no memory to follow points past facets")
        return worst is Passes.CROSSED


def _way(x: tuple[Array, Array], y: tuple[Array, Array]) -> float:
    """Return the largest motion of the nodes of both sides, less the mean rigid one."""
    one, other = (np.concatenate([places(part) for part in both]) for both in (x, y))
    return motion(one, other)


def _differ(x: tuple[Array, Array], y: tuple[Array, Array]) -> bool:
    """Tell whether vectors of the nodes of both sides are others."""
    return not all(np.array_equal(a, b) for a, b in zip(x, y, strict=True))
