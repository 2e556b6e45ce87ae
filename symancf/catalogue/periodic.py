# SPDX-License-Identifier: BSD-3-Clause
"""Periodic boundary conditions of a cell, with a macroscopic deformation gradient."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from ..arrays import Array, Ints, Ints32, Mask
from ..assembly.configuration import Configuration, Layout, in_system
from ..assembly.resolved import JetRows, Resolved
from ..errors import ConstraintError, ParameterError
from ..places.middles import Middles
from ..places.on_body import Nodes, require_region
from ..places.opposite import Opposite, opposite
from ..places.slopes import Slopes
from ..runtime.collective import shares
from ..values.arguments import positive
from ..values.functions import REQUIRED, taking
from ..values.parameter import Parameter, call, evaluate, label, matrix3
from .ties import BindingWithEdges, WithEdges

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..terms.quantities import E, PlaceValues, S, V

OPPOSITE_DISTANCE = 1e-3  # of the distance to the next node: opposite nodes are nearer
NAMES = [f"F{i}{k}" for i in (1, 2, 3) for k in (1, 2, 3)]
REST = dict(zip(NAMES, np.eye(3).ravel().tolist(), strict=True))


class EdgesOpposite(Slopes):
    """Slopes across the edges of a region, in the order of those of the opposite one."""

    def __init__(self, nodes: Opposite, layout: Layout, first: Slopes) -> None:
        middles = Middles.of(layout, nodes)
        if middles is None:
            raise _no_edges(nodes.who, nodes)
        super().__init__(nodes, middles, first.slopes)
        self.who, self.first = nodes.who, first

    def _find(self, layout: Layout) -> Resolved:
        """Find the middles of the edges, in the order of their partners (collective)."""
        own = Resolved(self.at.X, self.at.vertices[:, None], starts=self.at.starts)
        first = self.first.resolve(layout)
        if own.total != first.total:
            return own
        return opposite(layout.comm, (self.who, self.first, self), first, own, OPPOSITE_DISTANCE)

    def rows(
        self, configuration: Configuration, places: Resolved, vertices: Ints32, jet: str
    ) -> JetRows:
        """Return a jet; the slope is that along the one of the partner, which may be against it."""
        rows = super().rows(configuration, places, vertices, jet)
        if jet == "value" or places.source is None:
            return rows
        own = np.zeros((places.size, 3))
        own[rows.place, rows.component] = configuration.reference[rows.coordinate]
        other = self.first.slope[places.source.ids]
        sense = np.where(np.einsum("na,na->n", own, other) < 0.0, -1.0, 1.0)
        mismatch = np.linalg.norm(sense[:, None] * own - other, axis=1)
        if mismatch.max(initial=0.0) > 1e-6:
            raise ConstraintError(
                f"{self.who}: the {self.first} and {self} are not parallel: give the body its "
                "exact normals, direction=..."
            )
        return rows._replace(value=rows.value * sense[rows.place])


class Periodic(WithEdges):
    """Opposite nodes that move alike but for a macroscopic deformation; see `periodic`."""

    def __init__(self, left: Nodes, right: Nodes, gradient: Any, name: str) -> None:
        who = f"joints.periodic, {name!r}"
        require_region(f"{who}: its first argument", left)
        require_region(f"{who}: its second argument", right)
        a, b = left.body.element, right.body.element
        if (a.slope_kind, a.slopes, a.across) != (b.slope_kind, b.slopes, b.across):
            raise ConstraintError(
                f"{who} joins nodes of {a.name} and {b.name}, which have other slopes: give "
                "solids, plates or cables of one kind",
                asked="element",
                given=(a.name, b.name),
            )
        entries = _entries(who, gradient)
        self.who = who
        self.gradient = [gradient] if callable(gradient) else [*(entries or REST).values()]
        self.nodes = self.left = left
        self.right = Opposite(who, right, [left], OPPOSITE_DISTANCE)
        first = Nodes(left.body, left.region)
        law = _law(len(a.slopes), gradient is not None)
        super().__init__(
            law, first, Opposite(who, right, [first], OPPOSITE_DISTANCE), name=name, **entries
        )

    def bind(self, layout: Layout) -> PeriodicBinding:
        """Find the pairs, and announce those that others do not imply (collective)."""
        return PeriodicBinding(self, layout)

    def opposite(self, place: Slopes, layout: Layout) -> EdgesOpposite:
        """Return the slopes across edges of the opposite region (collective)."""
        return EdgesOpposite(self.right, layout, place)

    @in_system
    def stress(self, system: Configuration, volume: float) -> Array:
        r"""Return the part of these faces in the mean stress of a cell, (3, 3) (collective) [Pa].

        With the forces f on the nodes of `right`, their places X_b and those of their partners X_a

        .. math:: \frac1V \sum f \otimes (X_b - X_a).

        The sum over all pairs of faces is the mean first Piola-Kirchhoff stress P, the derivative
        of the energy by the macroscopic deformation gradient, divided by `volume`: the volume of
        the whole cell in the reference, with its voids. Forces on the cell are not part of it.

        Examples
        --------
        >>> import numpy as np
        >>> import symancf as sa
        >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (2, 2, 2))
        >>> cell = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.neo_hooke(), mu=1.0, lam=2.0)
        >>> F = np.diag([1.1, 1.0, 1.0])
        >>> faces = [sa.joints.periodic(cell[f"{x}0"], cell[f"{x}1"], F, name=x) for x in "xyz"]
        >>> corner = sa.fix(cell.at((0.0, 0.0, 0.0)), "position")
        >>> system = sa.System(cell, terms=[corner, *faces])
        >>> _ = sa.StaticProblem(system).solve()
        >>> P = sum(pair.stress(system, volume=1.0) for pair in faces)
        >>> W = lambda s: 0.5 * (s**2 - 1 - 2 * np.log(s)) + np.log(s) ** 2
        >>> bool(abs(P[0, 0] - (W(1.1 + 1e-6) - W(1.1 - 1e-6)) / 2e-6) < 1e-8)
        True
        """
        positive("stress", "volume", volume)
        a, b = (end.resolve(system.layout).everywhere(system.comm).X for end in self.ends)
        forces = -self.multipliers(system)[:, :3]
        return np.asarray(forces.T @ (b - a) / volume)


class PeriodicBinding(BindingWithEdges):
    """Opposite nodes that move alike in one system.

    Attributes
    ----------
    pairs : (K, 2) ids of the vertices of opposite nodes that others do not imply.
    gap : (3,) from the mean of one face to that of the other.
    """

    term: Periodic

    def __init__(self, term: Periodic, layout: Layout) -> None:
        a, b = term.left.resolve(layout), term.right.resolve(layout)
        if a.total != b.total:
            raise ConstraintError(
                f"{term.who}: {term.left} are {a.total}, {term.right} {b.total}: give two surfaces "
                "with the same mesh, a translation apart",
                asked="number of places",
                given=(a.total, b.total),
            )
        ids = np.concatenate([a.vertices[:, :1], b.vertices[:, :1]], axis=1)
        comm, starts = layout.comm, a.starts
        every = comm.allgather((ids, b.X - a.X)) if starts is not None else [(ids, b.X - a.X)]
        ids = np.concatenate([part for part, _ in every])
        self.gap = np.concatenate([part for _, part in every]).mean(axis=0)
        before = self._before(term, layout)
        independent = _independent(np.concatenate([*before, ids]))[-len(ids) :]
        self.pairs = ids[independent]
        if not independent.any():
            raise ConstraintError(
                f"{term.who}: all of its {a.total} pairs of nodes follow from those of other "
                "periodic conditions, or are one node each: leave it out",
                names=[term.name],
                asked="rank",
                given=0,
                possible=(a.total,),
            )
        if starts is not None:
            independent = independent[starts[comm.rank] : starts[comm.rank + 1]]
            starts = shares(comm, int(independent.sum()))
        layout.places[term.ends[0]] = first = _some(a, independent, starts)
        layout.places[term.ends[1]] = _some(b, independent, starts)._replace(source=first)
        super().__init__(term, layout)
        if term.left.body.element.across and self.across is None:
            raise _no_edges(term.who, term.left)

    def _before(self, term: Periodic, layout: Layout) -> list[Ints]:
        """Return the pairs of conditions before this one that cannot contradict it.

        They have the same gradient; or the gaps of all faces are independent, so that round any
        cell each of them is passed as often in one sense as in the other.
        """
        before: list[PeriodicBinding] = []
        for other in layout.terms:
            if other is term:
                break
            if isinstance(other, Periodic):
                before.append(layout.binding(other))
        gaps = np.array([self.gap, *(other.gap for other in before)])
        size = np.linalg.norm(gaps, axis=1, keepdims=True)
        free = np.linalg.matrix_rank(gaps / np.where(size > 0, size, 1), tol=1e-6) == len(gaps)
        return [o.pairs for o in before if free or o.term.gradient == term.gradient]


def periodic(left: Nodes, right: Nodes, gradient: Any = None, name: str = "periodic") -> Periodic:
    r"""Let opposite faces of a cell move alike, but for a macroscopic deformation gradient F.

    .. math:: u(X_b) - u(X_a) = (F - 1)\,(X_b - X_a)

    for each node X_a of `left` and the node X_b of `right` opposite to it, three equations; where
    nodes have slopes, their changes are equal, too. One call joins two faces; a cell has three
    of them, two in a plane. Equations on its edges and corners that others imply are left out.
    Hold one node beside, which may be any: `F` leaves the translation of the cell free.

    Parameters
    ----------
    left, right : regions, ``cell["x0"]`` and ``cell["x1"]``, which a translation brings on each
        other: as many nodes, in any order, each nearer to its partner than 1e-3 of the distance
        to the next node. They may be of two bodies.
    gradient : F, 3x3: numbers, `Parameter`, functions of time; or one function of time that
        returns 3x3 numbers. It is 1 at rest; `fix` takes the displacement gradient F - 1. Give
        the same to all faces of a cell. None: u(X_b) = u(X_a), as with F = 1; the cell keeps its
        size in the mean.

    Raises
    ------
    ConstraintError : no regions; the nodes do not lie opposite each other; nodes of two kinds of
        slopes.
    ParameterError : `gradient` is none of the above, or det F is not positive.

    Returns
    -------
    Periodic : a constraint. `Periodic.stress` has its part of the mean stress of the cell.

    References
    ----------
    C. Miehe, A. Koch, Arch. Appl. Mech. 72 (2002) 300-317: discretised cells with periodic
    fluctuations, mean stresses from the forces on opposite nodes.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (2, 2, 2))
    >>> cell = sa.Body(mesh["body"], sa.elements.hex8, sa.energies.neo_hooke(), mu=1.0, lam=2.0)
    >>> F = [[1.0, sa.Parameter("shear", 0.1), 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    >>> sa.joints.periodic(cell["x0"], cell["x1"], gradient=F)
    constraint 'periodic'
    """
    return Periodic(left, right, gradient, name)


def _no_edges(who: str, nodes: Nodes) -> ConstraintError:
    return ConstraintError(
        f"{who}: edges of {nodes.body.element.name} have slopes, and {nodes} are without edges: "
        "give regions of lines",
        asked="region",
        given=str(nodes),
        possible=("line",),
    )


@cache
def _law(slopes: int, gradient: bool) -> Callable[..., list[E]]:
    """Return the equations of nodes with so many slopes, with a gradient or without."""
    names = [f"{q}_{end}" for q in ("u", "X") for end in "ab"]
    names += [f"g{k + 1}_{end}" for k in range(slopes) for end in "ab"]

    def periodic(ua: V, ub: V, Xa: V, Xb: V, *g: V, **F: S) -> list[E]:
        moved = (sp.Matrix(3, 3, list(F.values())) - sp.eye(3)) * (Xb - Xa) if F else 0 * ua
        slopes = zip(g[::2], g[1::2], strict=True)
        return [*(ub - ua - moved), *(x for a, b in slopes for x in b - a)]

    taking(periodic, names, dict.fromkeys(NAMES if gradient else (), REQUIRED))
    return periodic


def _entries(who: str, gradient: Any) -> dict[str, PlaceValues]:
    """Return the entries of a deformation gradient by name; of None none."""
    if gradient is None:
        return {}
    must = f"{who}: its deformation gradient is 3x3, numbers, sa.Parameter or functions of time"
    if callable(gradient):

        def entry(k: int, time: float) -> float:
            return float(matrix3(must, call(who, gradient, time)).ravel()[k])

        return {name: partial(entry, k) for k, name in enumerate(NAMES)}
    try:
        array = np.array(gradient, dtype=object)
    except ValueError:
        array = np.zeros(0)
    if array.shape != (3, 3):
        raise ParameterError(
            f"{must}; it is {label(gradient)}", asked="gradient", given=gradient, possible=((3, 3),)
        )
    entries = dict(zip(NAMES, array.ravel().tolist(), strict=True))
    still = {n: e for n, e in entries.items() if not callable(e) and not isinstance(e, Parameter)}
    numbers = [evaluate(f"{who}: {name} of its gradient", e, 0.0) for name, e in still.items()]
    if len(numbers) == len(NAMES) and not np.linalg.det(np.reshape(numbers, (3, 3))) > 0.0:
        raise ParameterError(
            f"{must}, with a positive determinant; it is {label(gradient)}",
            asked="determinant",
            given=np.linalg.det(np.reshape(numbers, (3, 3))),
        )
    return entries


def _some(places: Resolved, chosen: Mask, starts: Ints | None) -> Resolved:
    """Return some of this rank's places."""
    return places._replace(
        X=places.X[chosen], vertices=places.vertices[chosen], source=None, starts=starts
    )


def _independent(pairs: Ints) -> Mask:
    """Return which pairs (K, 2) of ids are no pair, nor a chain of pairs, before them."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    ids, flat = np.unique(pairs, return_inverse=True)
    ends = np.sort(flat.reshape(-1, 2), axis=1)
    _, first = np.unique(ends, axis=0, return_index=True)
    first = first[ends[first, 0] != ends[first, 1]]
    shape = (len(ids), len(ids))
    graph = csr_array((first + 1.0, (ends[first, 0], ends[first, 1])), shape=shape)
    independent = np.zeros(len(pairs), dtype=bool)
    independent[minimum_spanning_tree(graph).data.astype(np.int64) - 1] = True
    return independent
