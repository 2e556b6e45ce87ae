# SPDX-License-Identifier: BSD-3-Clause
"""Meshes tied to each other: nodes of one body that follow the points of another."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from ..errors import ConstraintError
from ..places.glue import PerPlace
from ..places.middles import Middles
from ..places.on_body import Nodes, PointsOnBody, require_region
from ..places.slopes import Slopes
from ..terms.constraint import Constraint, ConstraintBinding
from ..values.arguments import flag
from ..values.parameter import label
from .coinciding import coincide, welded

if TYPE_CHECKING:
    from ..assembly.configuration import Configuration, Layout
    from ..bodies.body import Body
    from ..places.ends import End
    from ..terms.quantities import V


class WithEdges(Constraint):
    """A constraint on nodes of a region, and on the slopes across its edges where they have some.

    Attributes
    ----------
    nodes : of the region.
    """

    nodes: Nodes

    @abstractmethod
    def opposite(self, place: Slopes, layout: Layout) -> End:
        """Return the end that holds the slopes across edges of a place (collective)."""


class BindingWithEdges(ConstraintBinding):
    """A constraint with slopes across edges in one system.

    Attributes
    ----------
    parts : the condition on these slopes.
    across : slopes across the edges that carry some; None: there are none.
    """

    term: WithEdges
    across: Slopes | None = None

    def __init__(self, term: WithEdges, layout: Layout) -> None:
        super().__init__(term, layout)
        middles = Middles.of(layout, term.nodes)
        if middles is None:
            return
        each = PerPlace(layout.comm, middles.starts, np.ones(len(middles.vertices), dtype=np.int64))
        self.across = Slopes(term.nodes, middles, each)
        end, name = term.opposite(self.across, layout), f"{self.name} (slopes across edges)"
        self.parts = [layout.bind(Constraint(_same_slope, self.across, end, name=name))]

    def orient(self, configuration: Configuration) -> None:
        """Find the slopes across edges (collective)."""
        if self.across is not None:
            here = self.across.at.here(configuration, self.term.nodes.body)
            self.across.take(here.number, here.across[:, None], None)


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

    def bind(self, layout: Layout) -> BindingWithEdges:
        """Announce entities and vertices before distribution (collective)."""
        return BindingWithEdges(self, layout)

    def opposite(self, place: Slopes, layout: Layout) -> End:
        """Return the points of the other body where the middles of edges lie."""
        return PointsOnBody(self.other, place)


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
        is the body in one form. Of `ancf_thin_quad` and `ancf_thin_triangle` that are the
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
    >>> a = sa.Body(coarse["body"], sa.elements.hex8, sa.energies.neo_hooke(), name="a", **given)
    >>> b = sa.Body(fine["body"], sa.elements.hex8, sa.energies.neo_hooke(), name="b", **given)
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
