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
from typing import TYPE_CHECKING

import numpy as np
from mpi4py import MPI

from ..arrays import Array, Ints, Mask
from ..assembly.closest_points import Passes, follow
from ..assembly.form import ClosestPoints, Form, Former
from ..assembly.revisions import Change, Verdict
from ..assembly.state import same_arrays
from ..mesh.partition import Family
from ..runtime import jit
from ..runtime.collective import owners_of
from ..runtime.shared import Shared
from ..values.parameter import evaluate
from .active import NO_PAIRS, Active
from .around import Around
from .facet_law import BASE, CLOSEST_POINT, GAP, RUB, WEIGHT, facet_law
from .laws import DAMPING, NEAR, ROUND_OFF, SLID, SPAN, K
from .look import Look
from .modulus import Following
from .overlap import FREE_OVERLAP, numbered, overlaps, require_apart
from .search import DEPTH_BEHIND, candidates, motion
from .steps import OVERLAP
from .surface_pair import (
    SurfacePair,
    among,
    contact_elements,
    joined_ranges,
    of_points,
    offsets,
    positions,
)

if TYPE_CHECKING:
    from symancf_codegen.declare import PointLaw

    from ..assembly.configuration import Configuration, Layout
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
    around : which facets the normals of the side opposite are made of.
    active : the present active set.
    step : numbers of the contact, before `forms`.
    form : the kernel and the present points, after `forms`; what follows, too.
    area : (F q,) areas of the reference that the points stand for.
    overlap : (F q,) how deep those are in the reference that are let out.
    sunk : the deepest of all points in the reference, in parts of their cells.
    """

    step: ContactNumbers
    form: Form
    area: Array
    overlap: Array
    sunk: float

    def __init__(self, term: FacetPass, layout: Layout) -> None:
        self.term, self.name, sides = term, layout.name(term), (term.contactor, term.target)
        one, other = (layout.bind(side) for side in sides)
        first, second = numbered(*sides, layout)
        bodies = np.array(first)[one.type], np.array(second)[other.type]
        self.surfaces = SurfacePair((one, other), bodies, bool({*first} & {*second}))
        require_apart(self.surfaces, layout)
        self.around, self.active = Around(other), Active()
        self._moduli: tuple[Array, Array] | None = None  # from which the stiffness was made
        ids = np.flatnonzero(one.own)
        family = Family(self.name, ids, one.ids[one.facets[ids]], partitioned=False)
        layout.announce_changing(family, len(one.ids))

    def forms(self, configuration: Configuration) -> list[Form]:
        """Return the kernel, with no entities yet (collective)."""
        term, surfaces = self.term, self.surfaces
        surfaces.place(configuration)
        depth = overlaps(surfaces, term.initial)
        self.overlap = depth if term.initial == "release" else np.zeros_like(depth)
        s, m = surfaces.both
        self.sunk = float((depth / s.length[s.facet_of]).max(initial=0.0))
        self.area = term.part * s.areas(surfaces.shapes[0].x)
        self._stiffness = np.full(len(self.area), term.stiffness or 0.0)
        self.stiffness(configuration.time)
        self._kernel = jit.points(term.law, configuration.comm)
        self._touching = ROUND_OFF * float(m.length.mean())  # gap up to which points press
        radii = [np.mean(shape.radius) for shape in surfaces.shapes]
        self._least = 0.5 * float(np.mean(radii))  # margin where nothing moves
        surfaces.begin()
        self.form = self._points(configuration)
        return [self.form]

    def stiffness(self, time: float) -> Array:
        """Return k (F q,) at a time, the same array where nothing has changed."""
        if self.term.stiffness is None:
            s, m = self.surfaces.both
            E, moduli = (s.modulus(time), m.modulus(time)), self._moduli
            if moduli is None or E[0] is not moduli[0] or E[1] is not moduli[1]:
                soft = np.maximum(s.length / E[0], (m.length / E[1]).mean())
                self._moduli, self._stiffness = E, (s.parts / soft)[s.facet_of]
        return self._stiffness

    # ---- lists that change, see `Revises` -------------------------------------------------------
    def search(self, configuration: Configuration, time: float) -> Change:
        """Find what may touch in a step that ends at `time`, the same on all ranks (collective)."""
        before, x = self.active, self._positions(configuration)
        outdated = not before.begun or 2.0 * motion(positions(x), before.listed) > before.margin
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
            stale = stale or self._missed_contact(configuration, active, moved)
        self.active = active
        if not stale:
            return Change.NONE
        way = motion(positions(x), positions(before.accepted)) if before.begun else 0.0
        self.active = active._replace(margin=max(self._least, 3.0 * way))
        return self._list(configuration, x)

    def _closest_points(self) -> ClosestPoints:
        """Return the present entities of this rank."""
        closest_points = self.form.entities
        assert isinstance(closest_points, ClosestPoints)
        return closest_points

    def _positions(self, configuration: Configuration) -> tuple[Array, Array]:
        """Return the present vectors of the nodes of both sides (collective)."""
        present = configuration.reference, configuration.state
        s, m = self.surfaces.both
        one = s.vectors(configuration, *present)
        return one, one if s is m else m.vectors(configuration, *present)

    def _reach(self, time: float) -> float:
        """Return the gap at which the law ends; facets opposite have to be wider."""
        width = 2.0 * self.surfaces.shapes[1].radius.max(initial=0.0)
        return self.term.normal.reach(width, self.stiffness(time).mean(), time)

    def _anchors(self, configuration: Configuration) -> Ints:
        """Return pairs of facets: those with points, and where these have their anchors."""
        if self.term.coulomb is None:
            return NO_PAIRS
        (s, m), pairs = self.surfaces.both, []
        width = m.size
        for rows in configuration.memory.remembered(self.form):
            at = np.flatnonzero(rows[:, 0] > 0.0)
            pairs.append(s.facet_of[at] * width + rows[at, 0].astype(np.int64) - 1)
        return np.stack(np.divmod(np.unique(np.concatenate(pairs)), width), axis=1)

    def _missed_contact(self, configuration: Configuration, active: Active, moved: bool) -> bool:
        """Tell whether the list lacks facets of anchors, or, of what has `moved`, the first."""
        anchors = self._anchors(configuration)
        if moved and self.term.coulomb is not None and not len(anchors):
            return len(active.pairs) > 0
        return bool((~among(anchors, active.every)).any())

    def _behind(self, configuration: Configuration) -> bool:
        """Tell whether a point was behind a facet at the end of the last step."""
        least = float(self.surfaces.both[1].length.min())
        return self._deepest(configuration) > DEPTH_BEHIND * least

    def _list(self, configuration: Configuration, x: tuple[Array, Array]) -> Change:
        """Make the list for the way from the accepted state to the present one."""
        surfaces, active = self.surfaces, self.active
        s, m = surfaces.shapes_at(active.accepted if configuration.reviewing else x)
        path, margin = (s, m), active.margin
        if configuration.reviewing:
            path = surfaces.shapes_of(x)
            way = motion(positions(x), positions(active.accepted))
            margin = max(margin, way)  # all that lies on it
        near, listed = candidates(s, m, surfaces.rest, margin + active.reach, path)
        pairs = near[listed]
        anchors = self._anchors(configuration)
        anchors = anchors[np.isin(anchors[:, 0], pairs[:, 0])]
        beside = self.around.beside(pairs, surfaces.both[0].size)
        anchors = anchors[~among(anchors, np.concatenate([pairs, beside]))]
        extra = np.concatenate([beside, anchors])
        active = active._replace(near=near, listed=positions(x))
        same = np.array_equal(pairs, active.pairs) and np.array_equal(extra, active.extra)
        if not same:
            active = active._replace(pairs=pairs, extra=extra, anchored=True)
        self.active = active
        return Change.NONE if same else Change.OTHER

    def activate(self, active: Active) -> bool:
        """Take an active set; tell whether points have others opposite, or other anchors."""
        present, self.active = self.active, active
        if not active.anchored:
            self._closest_points().first[...] = 0.0
        depends = ["pairs", "extra"]
        if active.anchored:
            depends += ["anchored", "contactor", "target", "margin", "reach"]
        sets = (
            {name: own[name] for name in depends} for own in (present.arrays(), active.arrays())
        )
        return not same_arrays(*sets)

    def _mine(self, configuration: Configuration, pairs: Ints) -> Mask:
        """Return which pairs (k,) are of contact elements that have a vertex of this rank."""
        topology = configuration.topology
        first, end = topology.starts[topology.comm.rank : topology.comm.rank + 2]
        s, m = self.surfaces.both
        own = [
            ((surface.numbers >= first) & (surface.numbers < end))[surface.facets].any(axis=1)
            for surface in (s, m)
        ]
        touched = np.zeros(s.size, dtype=bool)
        touched[pairs[:, 0]] = own[0][pairs[:, 0]]
        touched[pairs[own[1][pairs[:, 1]], 0]] = True
        return np.asarray(touched[pairs[:, 0]])

    def needed(self, configuration: Configuration, pairs: Ints) -> Ints:
        """Return the numbers of the vertices of this rank's contact elements, of some pairs."""
        s, m = self.surfaces.both
        a, b = pairs[self._mine(configuration, pairs)].T
        own, opposite = s.facets[np.unique(a)].ravel(), m.facets[np.unique(b)].ravel()
        numbers: Ints = np.unique(np.concatenate([s.numbers[own], m.numbers[opposite]]))
        return numbers

    def listed(self, configuration: Configuration, pairs: Ints) -> Former:
        """Return contact elements of some pairs with a vertex of this rank, by their vertices."""
        a, b = pairs[self._mine(configuration, pairs)].T
        facets, element = np.unique(a, return_inverse=True)
        vertices, start, _ = contact_elements(self.surfaces, facets, element.ravel(), b)
        return Former(configuration.topology.local(vertices), start)

    def renew(self, configuration: Configuration) -> dict[Form, Form]:
        """Return the present points and their contact elements by those before (collective)."""
        before, self.form = self.form, self._points(configuration)
        return {before: self.form}

    # ---- entities -------------------------------------------------------------------------------
    def _points(self, configuration: Configuration) -> Form:
        """Return the points of contact elements that have a vertex of this rank."""
        term, (s, m) = self.term, self.surfaces.both
        every = self.active.every
        anchors = np.arange(len(every)) >= len(self.active.pairs)
        mine = self._mine(configuration, every)
        order = np.lexsort((every[mine, 1], anchors[mine], every[mine, 0]))
        (a, b), only = every[mine][order].T, anchors[mine][order]
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
            corners=self.around.of(configuration, np.unique(b[~only]), opposite),
            element_offsets=offsets(configuration, s, facets),
            vector_vertex=nodes,
            facet_start=np.concatenate([[0], np.cumsum(count)]).astype(np.int32),
            candidates=np.bincount(element.ravel()[~only], minlength=n).astype(np.int32),
            facet=of.ravel().astype(np.int32),
            corner=corner,
            element=own.astype(np.int32),
            value=value,
            own=s.inner[points],
            own_widths=s.width[s.facet_of[points]],
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
            str(WEIGHT): self.area,
            str(BASE): self._stiffness,
            str(OVERLAP): self.overlap,
        }
        kernel, zero = self._kernel, np.zeros(len(points))
        rows = [values_of_rows[r][points] if r in values_of_rows else zero for r in kernel.cell]
        cell = np.stack(rows, axis=1)
        owners = owners_of(topology.starts, s.numbers[s.facets[facets, 0]])
        return Form(
            name=self.name,
            kernel=kernel,
            role="contact",
            compact=term.normal.compact,
            uniform=self._uniform(),
            cell=cell,
            cell_at=self._following(cell, points),
            owned=(owners == topology.comm.rank)[own],
            vertices=local,
            vertex_start=start,
            entities=closest_points,
            changing=True,
            kinked=True,
            ids=points,
            total=len(self.area),
        )

    def _following(self, cell: Array, points: Ints) -> Following | None:
        """Return what lets k of some points follow the materials of the sides, if these change."""
        s, m = self.surfaces.both
        if self.term.stiffness is not None or not (s.changes or m.changes):
            return None
        row, timed = self._kernel.cell.index(str(BASE)), s.timed or m.timed
        return Following(cell, row, self.stiffness, points, timed)

    def _uniform(self) -> dict[str, Value]:
        """Return the parameters that are the same for all points."""
        return {**self.term.parameters, NEAR.name: self._touching, **self.step.uniform}

    def _first(self, facets: Ints, element: Ints, b: Ints) -> Array:
        """Return the closest points of the accepted state (n, 3) as anchors of points, or zeros."""
        (s, m), active = self.surfaces.both, self.active
        points, _ = s.points_of(facets)
        anchors = np.zeros((len(points), 3))
        if self.term.coulomb is None or not len(b) or not active.anchored:
            return anchors
        one, other = self.surfaces.shapes_at(active.accepted)
        r = s.at_points(one.x)[points]
        every, of = s.points_of(facets[element])
        point, facet = np.searchsorted(points, every), b[of]
        away = np.linalg.norm(r[point] - other.centre[facet], axis=1)
        near = away < other.radius[facet] + active.margin + active.reach
        point, facet = point[near], facet[near]
        xi, g = m.closest_points(other.P, other.Q, facet, r[point])
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
        at[K.name] = self.stiffness(configuration.time)[ids] * at["grown"]
        at[GAP.name] = end[GAP.name]
        p = np.broadcast_to(self.term.pressure(at)[0], (len(ids),))
        status = np.asarray(p > 0.0, dtype=float)
        status = np.rint(end["status"]) + 1.0 if "status" in end else status
        surface = self.surfaces.both[0]
        length = surface.length[surface.facet_of[ids]]
        none = np.zeros(len(ids))
        rub, slid = (end.get(s.name, none) for s in (RUB, SLID))
        seen = end[GAP.name], length, p, status, rub, slid
        return Look(*seen, self.area[ids], ids, form.owned)

    def gaps(self, configuration: Configuration, look: Look) -> Array:
        """Return the gaps (n,) that were seen; NaN where nothing is opposite (collective).

        There memory holds exactly 0.
        """
        m, x = self.surfaces.both[1], self._positions(configuration)
        gap, none = look.gap.copy(), np.flatnonzero(look.gap == 0.0)
        now = m.polynomials(x[1]), m.normals(x[1])
        gap[none[np.isinf(self._across(x[0], now, look.ids[none]))]] = np.nan
        return gap

    def before(self, configuration: Configuration, look: Look) -> Array:
        """Return the gaps (n,) at the beginning of the step; inf where nothing was opposite."""
        remembered, _ = configuration.memory.remembered(self.form)
        gap: Array = remembered[look.ids, self.form.kernel.memory.index(GAP.name)]
        none = np.flatnonzero((gap == 0.0) & (look.pressure > 0.0))
        one, other = self.surfaces.shapes_at(self.active.accepted)
        gap[none] = self._across(one.x, (other.P, other.Q), look.ids[none])
        return gap

    def _across(self, x: Array, facets: tuple[Array, Array], ids: Ints) -> Array:
        """Return how far points are from facets, given by coefficients; inf: no closest point."""
        (s, m), pairs = self.surfaces.both, self.active.pairs
        a = pairs[:, 0]
        first, last = (np.searchsorted(a, s.facet_of[ids], side=k) for k in ("left", "right"))
        of = np.repeat(np.arange(len(ids)), last - first)
        opposite = pairs[joined_ranges(first, last), 1]
        _, g = m.closest_points(*facets, opposite, s.at_points(x)[ids][of])
        distances = np.full(len(ids), np.inf)
        np.fmin.at(distances, of, np.abs(g))
        return distances

    # ---- solutions, see `Reviews` ---------------------------------------------------------------
    def review(self, configuration: Configuration, look: Look) -> Verdict:
        """Cut a step in which a point has crossed a facet (collective)."""
        crossed = len(self.active.near) > 0 and self._crosses(configuration)
        return Verdict.CUT if crossed else Verdict.STANDS

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
        x = self.active.target if before else self._positions(configuration)[1]
        now = self.surfaces.both[1].corner_normals(x)[corners.ids]
        turned = float(np.linalg.norm(now - corners.frozen_normals, axis=1).max(initial=0.0))
        corners.frozen_normals[...] = now
        return float(configuration.comm.allreduce(turned, MPI.MAX))

    def _crosses(self, configuration: Configuration) -> bool:
        """Tell whether a point has come to lie behind a facet in this step (collective)."""
        surfaces, active = self.surfaces, self.active
        x, comm = self._positions(configuration), configuration.comm
        (s, m), (one, other) = surfaces.both, surfaces.shapes_at(active.accepted)
        way = motion(positions(x), positions(active.accepted))
        parts = max(1, int(np.ceil(2.0 * way / m.length.min())))
        if parts > MOST_HALF_CELLS:
            return True
        crossings = follow(
            m.library,
            [patch.basis for patch in m.patches],
            m.type,
            active.near[comm.rank :: comm.size],
            s.first,
            (
                (s.at_points(one.x), other.P, other.Q),
                (s.at_points(x[0]), m.polynomials(x[1]), m.normals(x[1])),
            ),
            deep=DEPTH_BEHIND * m.length,
            parts=parts,
        )
        worst = Passes(comm.allreduce(crossings, MPI.MAX))
        if worst is Passes.NO_MEMORY:
            raise MemoryError(f"{self.name}: no memory to follow points past facets")
        return worst is Passes.CROSSED


def _differ(x: tuple[Array, Array], y: tuple[Array, Array]) -> bool:
    """Tell whether vectors of the nodes of both sides are others."""
    return not all(np.array_equal(a, b) for a, b in zip(x, y, strict=True))
