# SPDX-License-Identifier: BSD-3-Clause
r"""Sides: what may touch something, and surfaces, the facets of a side on every rank.

A facet is a polynomial r(xi, eta) with normals that are interpolated between those of its
corners; these are means over the facets around a node, weighted by area, of those that no kink
sharper than `SHARP_EDGE` in the reference parts. So the normal does not jump from facet to facet,
of whatever types and bodies these are.

The facets of the facet sets of a side follow each other. Arrays of all facets have the room that
the largest type needs: among nodes others have their first one again, among functions and
polynomials zeros.

Every rank has the skeleton of all facets: 16 bytes for each node, 8 for each corner of a facet and
37 for each facet, of plates 8 s^2 more for each corner with s = 3 slopes; positions take 24 bytes
for each node and each of its slopes. All else, polynomials and normals, points and what they may
touch, is made for the facets that a rank needs.
"""

from __future__ import annotations

import weakref
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from ..arrays import Array, Integers, Ints, Ints32
from ..assembly.closest_points import closest_points_of, inner, library
from ..bodies.body import Body
from ..errors import MeshError, ParameterError
from ..places.on_body import Face, Nodes
from ..runtime.collective import owners_of
from .facet_set import NONE, FacetSet
from .patch import SurfacePatch, filled, stacked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from ..assembly.configuration import Configuration, Layout

SHARP_EDGE = np.cos(np.radians(45.0))  # cosine of normals of neighbours: less is a kink
Place: TypeAlias = "Nodes | Face | Sequence[Nodes | Face]"


class Side:
    """The facets that may touch something as one surface: facet sets of one type and body each.

    Where facet sets have edges in common, normals and forces go over from one to the other; that is
    where bodies share nodes, as in a mesh of hexahedra and wedges.

    Parameters
    ----------
    who : begins messages.
    place : what the user gives, see `facet_set`; or several of them.
    radius : of cables [m].
    facing : whether what it touches has facets, too.
    follows : whether the stiffness of the contact follows the materials.

    Attributes
    ----------
    facet_sets : facets of each type and body; those of one body may be more than one.
    bodies : whose facets they are, each once.
    cable : whether they are axes of cables.

    Raises
    ------
    ParameterError : nothing that has a side, or nothing at all; cables beside something else.
    """

    def __init__(
        self,
        who: str,
        place: Place,
        radius: float | None = None,
        facing: bool = False,
        follows: bool = True,
    ) -> None:
        self.who = who
        places = list(place) if isinstance(place, list | tuple) else [cast("Nodes | Face", place)]
        if not places:
            raise ParameterError(f"{who}: there is nothing in {place!r}; {NONE}")
        self.facet_sets = [
            FacetSet(who, part, radius, facing, follows)
            for each in places
            for part in _by_type(each)
        ]
        self.bodies: list[Body] = list(
            dict.fromkeys(facet_set.body for facet_set in self.facet_sets)
        )
        self.cable = any(facet_set.cable for facet_set in self.facet_sets)
        if self.cable and not all(facet_set.cable for facet_set in self.facet_sets):
            raise ParameterError(f"{who}: {self} are cables and surfaces: give a contact for each")

    def bind(self, layout: Layout) -> ContactSurface:
        """Return the facets of all ranks (collective)."""
        return ContactSurface(self, layout)

    def __str__(self) -> str:
        return " and ".join(dict.fromkeys(map(str, self.facet_sets)))


def is_place(value: object) -> bool:
    """Tell whether something is a place of bodies, or several."""
    return isinstance(value, Nodes | Face | list | tuple)


def _by_type(place: Nodes | Face) -> Sequence[Nodes | Face]:
    """Return a place as those of facets of one type each: wedges have two."""
    if not isinstance(place, Nodes) or not isinstance(place.body, Body):
        return [place]
    return [Nodes(place.body, part) for part in place.region.by_type]


def require_apart(one: ContactSurface, two: ContactSurface) -> None:
    """Raise where the two sides of a contact have facets in common."""
    if one.facets.shape[1] != two.facets.shape[1]:
        return
    rows = [
        np.c_[np.sort(x.ids[x.facets], axis=1), x._of_patches(lambda patch: patch.facet_set.turned)]
        for x in (one, two)
    ]
    distinct = len(np.unique(np.concatenate(rows), axis=0))
    if common := one.size + two.size - distinct:
        raise MeshError(
            f"{one.side.who}: {common} facets of {one.side} are those of {two.side}, too: of a "
            "side with itself say sa.Contact(side), else leave out what both have in common",
            asked="target",
            given=common,
        )


class ContactSurface:
    """The facets of a side in one system: on every rank where all of them are.

    Attributes
    ----------
    side, patches : whose facets these are, and those of each of its facet sets.
    ids : (U,) ids of all nodes, ascending.
    facets : (F, nv) their places among the nodes.
    own : (F,) which are of this rank's share.
    type : (F,) number of the patch.
    first : (F + 1,) where the points of a facet begin.
    group : (F, 4) numbers of the normals at the corners, those of triangles followed by -1.
    rim : (F,) edges without a neighbour, or with one beyond a kink, corners at their ends, and
        edges between two quadrilaterals: a bit for each, see `inner` in closest_point.h.
    length : (F,) local size; see `FacetSet`.
    changes, timed : whether Young's modulus may change, and in time; see `Modulus`.
    width : (F,) shortest edge in the reference.
    maps : (F, corners, s, s) slopes of elements from those of nodes, after `place`.
    mine : numbers of the facets whose first node is of this rank, after `place`.
    groups : number of the normals that are interpolated.
    numbers : (U,) global numbers of the nodes, after `place`.
    library : the runtime.
    """

    maps: Array
    numbers: Ints
    mine: Ints

    def __init__(self, side: Side, layout: Layout) -> None:
        self.side, comm = side, layout.comm
        self.library = library(comm)
        own_shares = [layout.bind(facet_set) for facet_set in side.facet_sets]

        def everywhere(part: npt.NDArray[Any]) -> npt.NDArray[Any]:
            return np.concatenate(comm.allgather(part))

        nodes = [everywhere(own.vertices) for own in own_shares]
        self.length, self._height = (
            np.concatenate([everywhere(values) for values in column])
            for column in zip(*((own.length, own.height) for own in own_shares), strict=True)
        )
        self._fields = [everywhere(own.fields) for own in own_shares]
        self._moduli: tuple[Any, Array] | None = None
        moduli = [facet_set.modulus for facet_set in side.facet_sets if facet_set.follows]
        self.changes = any(modulus.changes for modulus in moduli)
        self.timed = any(modulus.timed for modulus in moduli)
        self._placed = False
        self._last: weakref.ref[Array] | None = None
        self.ids = np.unique(np.concatenate([part.ravel() for part in nodes]))
        places = [np.searchsorted(self.ids, part).astype(np.int32) for part in nodes]
        self.facets = filled(places)
        self.patches = self._make_patches(places)
        self.own = np.zeros(len(self.facets), dtype=bool)
        for patch, part in zip(self.patches, own_shares, strict=True):
            start, end = part.starts[comm.rank : comm.rank + 2] + patch.at.start
            self.own[start:end] = True
        self.type = self._of_patches(self.patches.index).astype(np.int32)
        count = self._of_patches(lambda patch: patch.count)
        self.first = np.concatenate([[0], np.cumsum(count)]).astype(np.int32)
        X = layout.fetch_points(self.ids)
        self._require_once(X)
        self.width = np.concatenate([patch.widths(X) for patch in self.patches])
        self.rim = self._find_groups(X)

    @cached_property
    def slopes(self) -> Ints:
        """Slopes of nodes, for each patch."""
        return np.array([patch.basis.slopes for patch in self.patches])

    @property
    def nodes(self) -> Ints:
        """How many of the nodes of facets (F,) are theirs."""
        return self._of_patches(lambda patch: patch.basis.vertices)

    @property
    def parts(self) -> Array:
        """C of facets (F,); see `FacetSet`."""
        return self._of_patches(lambda patch: patch.facet_set.parts)

    @property
    def size(self) -> int:
        """Number of facets."""
        return len(self.facets)

    @property
    def points(self) -> int:
        """Number of points of quadrature."""
        return int(self.first[-1])

    def modulus(self, time: float) -> Array:
        """Return Young's modulus (F,) at a time; the same array where nothing has changed."""
        facet_sets = self.side.facet_sets
        present = [facet_set.modulus.present(time) for facet_set in facet_sets]
        if self._moduli is None or self._moduli[0] != present:
            every = zip(facet_sets, self._fields, present, strict=True)
            E = np.concatenate([facet_set.moduli(own, now) for facet_set, own, now in every])
            self._moduli = present, E
        return self._moduli[1]

    def _make_patches(self, places: Sequence[Ints32]) -> list[SurfacePatch]:
        """Return a patch for each facet set, their facets and points one after the other."""
        patches: list[SurfacePatch] = []
        facet = point = 0
        for facet_set, part in zip(self.side.facet_sets, places, strict=True):
            own = self.facets[facet : facet + len(part), : part.shape[1]]
            patches.append(SurfacePatch(facet_set, own, facet, point))
            facet, point = patches[-1].at.stop, patches[-1].points.stop
        return patches

    def _of_patches(self, number: Callable[[SurfacePatch], float]) -> npt.NDArray[Any]:
        """Return a number of each patch for its facets (F,)."""
        values = [number(patch) for patch in self.patches]
        return np.repeat(np.asarray(values), [len(patch.facets) for patch in self.patches])

    def _require_once(self, X: Array) -> None:
        """Raise where a facet is there twice, as in places that overlap or face each other."""
        if len(self.patches) < 2:
            return
        distinct, at, count = np.unique(
            np.sort(self.facets, axis=1), axis=0, return_index=True, return_counts=True
        )
        if len(distinct) < self.size:
            x = X[self.facets[at[count > 1][0]]].mean(axis=0)
            both = len({facet_set.turned for facet_set in self.side.facet_sets}) > 1
            raise MeshError(
                f"{self.side.who}: {self.size - len(distinct)} facets of {self.side} are there "
                "twice, "
                f"e.g. that at ({x[0]:g}, {x[1]:g}, {x[2]:g}): leave out what places have in "
                "common, and what lies between bodies that are joined"
                f"{'; the two faces of a plate are two contacts' if both else ''}"
            )

    def _find_groups(self, X: Array) -> Ints32:
        """Find the normals that corners have, those of the facets at a node between kinks.

        Returns
        -------
        the bits (F,) of free edges and corners on them.
        """
        most = max(patch.corners for patch in self.patches)
        self.group = np.full((self.size, most if self.side.cable else 4), -1, dtype=np.int32)
        for patch in self.patches:
            patch.group = self.group[patch.at, : patch.corners]
        if self.side.cable:  # has no normals
            for patch in self.patches:
                patch.group[...] = patch.facets[:, : patch.corners]
            self.groups = len(self.ids)
            return np.zeros(self.size, dtype=np.int32)
        from scipy.sparse import coo_matrix  # half a second to import
        from scipy.sparse.csgraph import connected_components

        # corners of all facets one after the other, and of each the next one of its facet
        ring, after, of, first = [], [], [], 0
        normal = np.zeros((self.size, 3))
        for patch in self.patches:
            n, own = patch.corners, patch.facets[:, : patch.corners]
            number = first + np.arange(own.size).reshape(own.shape)
            ring.append(own.ravel())
            after.append(np.roll(number, -1, axis=1).ravel())
            of.append(np.repeat(np.arange(patch.at.start, patch.at.stop), n))
            first += own.size
            x = X[own]
            normal[patch.at] = np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0])
            if n == 4:
                normal[patch.at] += np.cross(x[:, 2] - x[:, 0], x[:, 3] - x[:, 0])
        normal /= np.linalg.norm(normal, axis=1)[:, None]
        node, nexts, facet = map(np.concatenate, (ring, after, of))
        ends = np.stack([node, node[nexts]], axis=1)
        _, edge = np.unique(np.sort(ends, axis=1), axis=0, return_inverse=True)
        order = np.argsort(edge.ravel(), kind="stable")
        pair = np.diff(edge.ravel()[order]) == 0
        one, other = order[:-1][pair], order[1:][pair]
        smooth = np.einsum("ka,ka->k", normal[facet[one]], normal[facet[other]]) > SHARP_EDGE
        one, other = one[smooth], other[smooth]
        free = np.ones(len(node), dtype=bool)
        free[one] = free[other] = False
        # the edge from a corner to the next of one runs the other way in its neighbour
        same = node[one] == node[other]
        heads = np.concatenate([one, nexts[one]])
        tails = np.where(same, other, nexts[other]), np.where(same, nexts[other], other)
        pairs = coo_matrix(
            (np.ones(len(heads)), (heads, np.concatenate(tails))), shape=(len(node),) * 2
        )
        self.groups, label = connected_components(pairs, directed=False)
        group = np.asarray(label, dtype=np.int64)
        rim = np.zeros(self.groups, dtype=bool)
        rim[group[free]] = rim[group[nexts][free]] = True
        square, between = self._of_patches(lambda patch: patch.corners)[facet] == 4, ~free
        between[one] = between[other] = square[one] & square[other]
        bits, first = [], 0
        for patch in self.patches:
            n = patch.corners
            part = slice(first, first := first + len(patch.facets) * n)
            patch.group[...] = group[part].reshape(-1, n)
            flags = free[part].reshape(-1, n), rim[patch.group], between[part].reshape(-1, n)
            bits.append(
                sum(
                    (b << np.arange(k, k + n)).sum(axis=1)
                    for k, b in zip((0, 4, 8), flags, strict=True)
                )
            )
        bits_of_edges: Ints32 = np.concatenate(bits).astype(np.int32)
        return bits_of_edges

    def place(self, configuration: Configuration) -> None:
        """Find the nodes and the maps of slopes in a numbered configuration, once (collective)."""
        if self._placed:
            return
        self._placed = True
        self.numbers = configuration.numbers(self.ids)
        comm, starts = configuration.comm, configuration.topology.starts
        mine = (self.numbers >= starts[comm.rank]) & (self.numbers < starts[comm.rank + 1])
        for patch in self.patches:
            patch.place(configuration, self.numbers, mine, self._height[patch.at])
        del self._height
        first = owners_of(starts, self.numbers[self.facets[:, 0]])
        self.mine = np.flatnonzero(first == comm.rank)
        self.maps = stacked([patch.maps for patch in self.patches])

    # ---- vectors of nodes -----------------------------------------------------------------------
    def vectors(self, configuration: Configuration, *values: Array) -> Array:
        """Return a sum of local vectors at the nodes, (U, 1 + s, 3) (collective).

        Positions and slopes; only what the nodes have is added.
        """
        slopes = max(patch.basis.slopes for patch in self.patches)
        vectors = np.zeros((len(self.ids), 1 + slopes, 3))
        for patch in self.patches:
            patch.take(configuration, values, vectors)
        return configuration.sum(vectors)

    def at_state(self, configuration: Configuration) -> Array:
        """Return the present vectors of the nodes, the same array where none has changed.

        (Collective.)
        """
        x = self.vectors(configuration, configuration.reference, configuration.state)
        last = None if self._last is None else self._last()
        if last is not None and np.array_equal(last, x):
            return last
        self._last = weakref.ref(x)
        return x

    # ---- facets, by ascending numbers (k,) ------------------------------------------------------
    def by_patch(self, facets: Ints) -> list[tuple[SurfacePatch, Ints]]:
        """Return the patches, with the numbers of the facets within each of them."""
        ends = np.searchsorted(facets, [patch.at.stop for patch in self.patches])
        parts = np.split(facets, ends[:-1])
        return [
            (patch, own - patch.at.start) for patch, own in zip(self.patches, parts, strict=True)
        ]

    def polynomials(self, x: Array, facets: Ints) -> Array:
        """Return the coefficients (k, monomials, 3) of facets at vectors of the nodes."""
        return stacked(
            [
                np.einsum("ki,fia->fka", patch.basis.coefficients, patch.elements(x, own))
                for patch, own in self.by_patch(facets)
            ]
        )

    def normals(self, x: Array, facets: Ints) -> Array:
        """Return the polynomials 1, xi, eta, xi eta of normals (k, 4, 3) at vectors of the nodes.

        Those of the corners have the length 1.
        """
        every = np.unique(self.group[facets])
        groups = every[every >= 0]
        n = self.corner_normals(x, groups)
        parts = [
            patch.interpolated(n[np.searchsorted(groups, patch.group[own])])
            for patch, own in self.by_patch(facets)
        ]
        return np.concatenate(parts)

    def corner_normals(self, x: Array, groups: Integers) -> Array:
        """Return some of the unit normals (n, 3) that are interpolated, by ascending numbers."""
        total = np.zeros((len(groups), 3))
        row = np.full(self.groups, -1, dtype=np.int32)
        row[groups] = np.arange(len(groups))
        for patch in self.patches:
            around = row[patch.group]
            some = np.flatnonzero((around >= 0).any(axis=1))
            at = around[some]
            counts = at >= 0
            for a, area in enumerate(patch.spanned(x, some)):
                total[:, a] += np.bincount(at[counts], area[counts], minlength=len(groups))
        size = np.linalg.norm(total, axis=1)
        total /= np.where(size > 0.0, size, 1.0)[:, None]
        return total

    def at_points(self, x: Array, facets: Ints) -> Array:
        """Return the positions (p, 3) of the points of facets at vectors of the nodes."""
        parts = self.by_patch(facets)
        return np.concatenate(
            [patch.at_places(patch.rule[0], x, own).reshape(-1, 3) for patch, own in parts]
        )

    def areas(self, x: Array, facets: Ints) -> Array:
        """Return the areas (p,), of cables lengths, that points of facets stand for."""
        areas = []
        for patch, own in self.by_patch(facets):
            spans = [patch.at_places(d, x, own) for d in patch.rule[1:]]
            across = spans[0] if len(spans) == 1 else np.cross(spans[0], spans[1])
            areas.append(np.linalg.norm(across, axis=2) * patch.facet_set.weights)
        return np.concatenate([area.ravel() for area in areas])

    def inner(self, facets: Ints) -> Array:
        """Of points p (k q,), 1 within and 0 on free edges; see `closest_points.inner`."""
        inside = []
        for patch, own in self.by_patch(facets):
            rim = np.repeat(self.rim[patch.at][own], patch.count)
            places = np.tile(patch.facet_set.points, (len(own), 1))
            inside.append(inner(self.library, patch.basis, rim, places))
        return np.concatenate(inside)

    def points_of(self, facets: Ints) -> tuple[Ints, Ints]:
        """Return the points of some facets (k,), and of each to which of the k it belongs."""
        count = self.first[facets + 1] - self.first[facets]
        of = np.repeat(np.arange(len(facets)), count)
        return (self.first[facets] - np.cumsum(count) + count)[of] + np.arange(len(of)), of

    def facet_of(self, points: Ints) -> Ints:
        """Return the facets of points."""
        return np.searchsorted(self.first, points, side="right") - 1

    def closest_points(
        self, P: Array, Q: Array, facets: Ints, row: Ints, r: Array, beyond: float = 1e-9
    ) -> tuple[Array, Array]:
        """Return places (n, 2) and gaps (n,) of closest points on facets; NaN: there is none.

        `P`, `Q` : `polynomials` and `normals` of the facets; `row` (n,) which of the k, `r` (n, 3);
        a closest point may be `beyond` the edges, in the parameters.
        """
        bases = [patch.basis for patch in self.patches]
        return closest_points_of(self.library, bases, self.type[facets], P, Q, row, r, beyond)
