# SPDX-License-Identifier: BSD-3-Clause
"""Nodes of two regions that lie opposite each other, paired by position."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array, Ints, Ints32
from ..errors import ConstraintError
from ..runtime.collective import share_error
from .ends import End, vector_rows
from .on_body import Nodes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpi4py import MPI

    from ..assembly.configuration import Configuration, Layout
    from ..assembly.resolved import JetRows, Resolved


PARTNER_DISTANCE = 1 / 3  # of the distance to the next node: a partner is nearer


class Opposite(Nodes):
    """The nodes of a region, each beside the node of another region that it lies opposite to.

    The other region, the first of those `before` with as many nodes, is moved by the vector
    between the means of the nodes of both. Then each of its nodes has the nearest one here as its
    partner, if

    - no other node has the same partner, and
    - the partner is nearer than the part `near` of the distance to the next node here.

    So regions may be a gap apart that is not the same everywhere; turned and mirrored ones are
    refused.
    """

    def __init__(
        self, who: str, nodes: Nodes, before: Sequence[Nodes], near: float = PARTNER_DISTANCE
    ) -> None:
        super().__init__(nodes.body, nodes.region)
        self.who, self.frame, self.before, self.near = who, nodes.frame, list(before), near

    def _find(self, layout: Layout) -> Resolved:
        """Find the nodes, in the order of their partners (collective)."""
        places = super()._find(layout)
        for other in self.before:
            first = other.resolve(layout)
            if first.total == places.total:
                return opposite(layout.comm, (self.who, other, self), first, places, self.near)
        return places

    def rows(
        self, configuration: Configuration, places: Resolved, vertices: Ints32, jet: str
    ) -> JetRows:
        """Return a jet as combinations of local coordinates; see `End.rows`.

        Jets ``along0``, ... are derivatives along the slopes of the partners.
        """
        k = int(jet.removeprefix("along")) if jet.startswith("along") else -1
        element = self.body.element
        if places.source is None or not 0 <= k < element.directions:
            return super().rows(configuration, places, vertices, jet)
        on = configuration.binding(self.body).interpolation
        basis = on.basis[vertices[:, 0]][:, : element.directions]
        (first,) = self.before
        direction = first.directions(configuration, places.source)[:, k]
        weights = np.einsum("ksa,ka->ks", basis, direction)
        mismatch = np.linalg.norm(np.einsum("ksa,ks->ka", basis, weights) - direction, axis=1)
        if mismatch.max(initial=0.0) > 1e-6:
            x = places.X[int(np.argmax(mismatch))]
            raise ConstraintError(
                f"{self.who}: at {_point(x)} a slope of {first} leaves the tangent plane of "
                f"{self}: give the body its exact normals, direction=..."
            )
        weights[np.abs(weights) < 1e-15] = 0.0
        offset = on.offset(vertices, "slope0")
        return vector_rows(offset + 3 * np.arange(weights.shape[1]), weights)


def opposite(
    comm: MPI.Comm,
    names: tuple[object, ...],
    first: Resolved,
    second: Resolved,
    near: float = PARTNER_DISTANCE,
) -> Resolved:
    """Return as many places as the first ones, each as the partner of one of these (collective).

    Parameters
    ----------
    names : of the term and of both places, for messages.
    near : part of the distance to the next place that a partner is nearer than; see `Opposite`.

    Raises
    ------
    ConstraintError : they do not lie opposite.
    """
    if first.starts is None:  # one
        return second._replace(source=first)
    X, Y = comm.gather(first.X), comm.gather(second.X)
    at, error = np.zeros(0, dtype=np.int64), None
    if X is not None and Y is not None:
        try:
            at = _partners(names, np.concatenate(X), np.concatenate(Y), near)
        except ConstraintError as wrong:
            error = wrong
    share_error(comm, error)
    at = comm.bcast(at)[first.starts[comm.rank] : first.starts[comm.rank + 1]]
    return second.fetch(comm, at).shared(first.starts)._replace(source=first)


def _partners(names: tuple[object, ...], X: Array, Y: Array, near: float) -> Ints:
    """Return for each of places X (n, 3) the number of its partner among Y (n, 3)."""
    from scipy.spatial import KDTree

    gap = Y.mean(axis=0) - X.mean(axis=0)
    distance, numbers = KDTree(Y).query(X + gap, k=2)
    at = np.asarray(numbers[:, 0], dtype=np.int64)
    allowed = near * distance[:, 1]
    far = distance[:, 0] - allowed
    if (far < 0.0).all() and (np.bincount(at, minlength=len(Y)) == 1).all():
        return at
    k, (who, first, second) = int(np.argmax(far)), names
    raise ConstraintError(
        f"{who}: the {len(X)} {first} and {second} do not lie opposite: moved by {_point(gap)}, "
        f"from mean to mean, that at {_point(X[k])} is {distance[k, 0]:.3g} from the nearest, at "
        f"{_point(Y[at[k]])}, and {distance[k, 1]:.3g} from the next; allowed is less than "
        f"{allowed[k]:.3g}, and each once. Give regions that a translation brings on each other, "
        "or points in the order in which they are paired: a.at(points), b.at(points)",
        asked="opposite places",
        given=distance[k],
        possible=(allowed[k],),
    )


def in_pairs(who: str, ends: Sequence[End]) -> list[End]:
    """Return ends of which regions have the order of those before them; see `Opposite`."""
    paired: list[End] = []
    for k, end in enumerate(ends):
        before = [other for other in ends[:k] if isinstance(other, Nodes)]
        is_before = not before or end in before or getattr(end, "before", None) == before
        paired.append(
            Opposite(who, end, before) if isinstance(end, Nodes) and not is_before else end
        )
    return paired


def _point(x: Array) -> str:
    return f"({x[0]:g}, {x[1]:g}, {x[2]:g})"
