# SPDX-License-Identifier: BSD-3-Clause
"""Meshes tied to each other: nodes of one body that follow the points of another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Self

import numpy as np

from ..errors import ConstraintError
from ..places.glue import PerPlace
from ..places.middles import Middles, MiddlesHere
from ..places.on_body import Nodes, PointsOnBody, require_region
from ..terms.constraint import Constraint, Reaction
from ..values.arguments import flag
from ..values.parameter import label
from .coinciding import coincide, welded
from .rigid_clamp import SlopesAcross

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..arrays import Ints, Ints32
    from ..assembly.configuration import Configuration, Layout
    from ..assembly.piece import Piece
    from ..bodies.body import Body
    from ..places.ends import End
    from ..terms.quantities import V


@dataclass
class Across:
    """What a weld has in a system beside nodes: the slopes across edges, and what holds them."""

    middles: Middles
    place: SlopesAcross
    condition: Constraint


class WithEdges(Constraint):
    """A constraint on nodes of a region, and on the slopes across its edges where they have some.

    Attributes
    ----------
    nodes : of the region.
    """

    nodes: Nodes

    def _declare_edges(self, layout: Layout, opposite: Callable[[SlopesAcross], End]) -> None:
        """Announce what holds the slopes across edges to the end that `opposite` makes of them."""
        middles = Middles.of(layout, self.nodes)
        if middles is None:
            return
        each = PerPlace(layout.comm, middles.starts, np.ones(len(middles.vertices), dtype=np.int64))
        place = SlopesAcross(self.nodes, middles, each)
        name = f"{layout.name(self)} (slopes across edges)"
        condition = Constraint(_same_slope, place, opposite(place), name=name)
        condition.bind(layout)
        layout.keep(self, Across(middles, place, condition))

    def _across(self, configuration: Configuration) -> Across | None:
        return configuration.layout.find(self, Across)

    def carriers(self, configuration: Configuration) -> list[tuple[str, Ints32]]:
        """Blocks that this term puts on local vertices; also finds slopes across edges."""
        across, blocks = self._across(configuration), super().carriers(configuration)
        if across is None:
            return blocks
        here = MiddlesHere.of(configuration, self.nodes.body, across.middles)
        across.place.take(here.number, here.across[:, None], None)
        return [*blocks, *across.condition.carriers(configuration)]

    def pieces(self, configuration: Configuration) -> list[Piece]:
        """Return the kernels and entities on this rank."""
        across, made = self._across(configuration), super().pieces(configuration)
        return made if across is None else [*made, *across.condition.pieces(configuration)]

    def idle(self, configuration: Configuration) -> Ints:
        """Return the local offsets of multipliers whose equation moves no free coordinate."""
        across, found = self._across(configuration), super().idle(configuration)
        if across is None:
            return found
        return np.concatenate([found, across.condition.idle(configuration)])

    def reaction(self, system: Configuration, end: Literal["a", "b", "c"] = "a") -> Reaction:
        """Return the forces and moments on an end, moments about the nodes (collective).

        Those at the middles of edges are told at the nearest node.
        """
        across, found = self._across(system), super().reaction(system, end)
        if across is None:
            return found
        moments, own = found.moments.copy(), across.condition.reaction(system, end)
        apart = own.points[:, None] - found.points
        np.add.at(moments, np.linalg.norm(apart, axis=2).argmin(axis=1), own.moments)
        return Reaction(found.points, found.forces, moments)


class Weld(WithEdges):
    """Nodes tied with their slopes, and the slopes across edges of thin shells that have them.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((1.0, 1.0), (2, 2))
    >>> steel = dict(E=2e11, nu=0.3, thickness=0.01)
    >>> a, b = (sa.Body(mesh["body"], sa.elements.ancf_thin_quad, sa.energies.kirchhoff(), name=n,
    ...                 join=None, **steel) for n in "ab")
    >>> sa.joints.tie(a["x1"], b)
    constraint 'tie'
    """

    def __init__(self, a: Nodes, b: Body, name: str) -> None:
        super().__init__(welded(a.body.element.directions), a, PointsOnBody(b, a), name=name)
        self.nodes, self.other = a, b

    def bind(self, layout: Layout) -> Self:
        """Announce entities and vertices before distribution (collective)."""
        super().bind(layout)
        self._declare_edges(layout, lambda place: PointsOnBody(self.other, place))
        return self


def _same_slope(g1_a: V, g1_b: V) -> V:
    return g1_a - g1_b


def tie(a: Nodes, b: Body, weld: bool | None = None, name: str = "tie") -> Constraint:
    """Tie the nodes `a` to the points of body `b` where they lie.

    The meshes need not match; nodes of `a` follow the surface of `b` (collocation), so `a`
    should have the finer mesh.

    Parameters
    ----------
    weld : also hold the slopes of `a` to the derivatives of `b` in the same directions, so that
        the line transmits moments and does not open between nodes; where the nodes match, this
        is the body in one piece. Of `ancf_thin_quad` and `ancf_thin_triangle` that are the
        slopes across edges, too; second slopes through the thickness (`ancf_thick_plate`) stay
        free. Without it the line is a hinge. Default: where both bodies have slopes of the same
        kind.

    Raises
    ------
    ConstraintError : with `weld`, where a slope of `a` leaves the tangent plane of `b`.

    Examples
    --------
    >>> import symancf as sa
    >>> given = {"mu": 1.0, "lam": 2.0}
    >>> coarse, fine = (sa.Mesh.box((1.0, 1.0, 1.0), (n, n, n)) for n in (1, 2))
    >>> a = sa.Body(coarse["body"], sa.elements.hex8, sa.energies.neo_hooke, name="a", **given)
    >>> b = sa.Body(fine["body"], sa.elements.hex8, sa.energies.neo_hooke, name="b", **given)
    >>> sa.joints.tie(b["x1"], a)
    constraint 'tie'
    """
    require_region(f"joints.tie, {name!r}: its first argument", a)
    if not hasattr(b, "element"):
        body = getattr(b, "body", None)
        hint = f"; these are {b}, give their body" if body is not None else ""
        raise ConstraintError(
            f"joints.tie, {name!r}: its second argument is {label(b)}: give the body that the "
            f"nodes lie on, joints.tie(a['edge'], b){hint}",
            asked="b",
            given=label(b),
        )
    if weld is not None:
        weld = flag(f"joints.tie, {name!r}", "weld", weld)
    element = a.body.element
    same = element.slope_kind == b.element.slope_kind and len(element.slopes) > 0
    have = same and len(element.slopes) == len(b.element.slopes)
    if weld and not element.slopes:
        raise ConstraintError(
            f"{name}: weld=True needs slopes, which the nodes of {element.name} "
            f"(body {a.body.name!r}) do not have",
            asked="weld",
            given=weld,
            possible=(False,),
        )
    if have if weld is None else weld:
        return Weld(a, b, name)
    return Constraint(coincide, a, PointsOnBody(b, a), name=name)
