# SPDX-License-Identifier: BSD-3-Clause
"""Meshes tied to each other: nodes of one body that follow the points of another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ConstraintError
from ..places.on_body import Nodes, PointsOnBody, require_region
from ..terms.constraint import Constraint
from ..terms.quantities import E, Law, V, asking
from ..values.parameter import label

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..bodies.body import Body


def coincide(r_a: V, r_b: V) -> V:
    """Return the gap of two places."""
    return r_a - r_b


def welded(slopes: int) -> Callable[..., list[E]]:
    """Return the equations of two places that keep their position and slopes together."""
    quantities = ["u", *(f"g{k + 1}" for k in range(slopes))]

    def weld(*given: V) -> list[E]:
        return [x for a, b in zip(given[::2], given[1::2], strict=True) for x in a - b]

    return asking(weld, [f"{q}_{end}" for q in quantities for end in "ab"])


def tie(a: Nodes, b: Body, weld: bool | None = None, name: str = "tie") -> Constraint:
    """Tie the nodes `a` to the points of body `b` where they lie.

    The meshes need not match; nodes of `a` follow the surface of `b` (collocation), so `a`
    should have the finer mesh.

    Parameters
    ----------
    weld : also hold the slopes of `a` to the derivatives of `b` in the same directions, so that
        the line transmits moments and does not open between nodes; where the nodes match, this
        is the body in one piece. Without it the line is a hinge. Default: where both bodies
        have slopes of the same kind.

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
            f"nodes lie on, joints.tie(a['edge'], b){hint}"
        )
    element = a.body.element
    same = element.slope_kind == b.element.slope_kind and len(element.slopes) > 0
    have = same and len(element.slopes) == len(b.element.slopes)
    if weld and not element.slopes:
        raise ConstraintError(
            f"{name}: weld=True needs slopes, which the nodes of {element.name} "
            f"(body {a.body.name!r}) do not have"
        )
    function: Law = coincide
    if have if weld is None else weld:
        function = welded(len(element.slopes))
    return Constraint(function, a, PointsOnBody(b, a), name=name)
