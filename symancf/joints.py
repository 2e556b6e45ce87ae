# SPDX-License-Identifier: BSD-3-Clause
"""Joints: the constraints of mechanisms, written as functions that must vanish."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .constraint import Constraint
from .ends import End, Ground, Nodes, PointsOnBody
from .errors import ConstraintError
from .plane import Clamp, PlanarBody

if TYPE_CHECKING:
    import numpy.typing as npt
    import sympy as sp

    from .body import Body


def _coincide(r_a: sp.Matrix, r_b: sp.Matrix) -> sp.Matrix:
    return r_a - r_b


def _weld1(u_a: sp.Matrix, u_b: sp.Matrix, g1_a: sp.Matrix, g1_b: sp.Matrix) -> list[sp.Expr]:
    return [*(u_a - u_b), *(g1_a - g1_b)]


def _weld2(
    u_a: sp.Matrix,
    u_b: sp.Matrix,
    g1_a: sp.Matrix,
    g1_b: sp.Matrix,
    g2_a: sp.Matrix,
    g2_b: sp.Matrix,
) -> list[sp.Expr]:
    return [*_weld1(u_a, u_b, g1_a, g1_b), *(g2_a - g2_b)]


def _weld3(
    u_a: sp.Matrix,
    u_b: sp.Matrix,
    g1_a: sp.Matrix,
    g1_b: sp.Matrix,
    g2_a: sp.Matrix,
    g2_b: sp.Matrix,
    g3_a: sp.Matrix,
    g3_b: sp.Matrix,
) -> list[sp.Expr]:
    return [*_weld2(u_a, u_b, g1_a, g1_b, g2_a, g2_b), *(g3_a - g3_b)]


def spherical(a: End, b: End | None = None, name: str = "spherical") -> Constraint:
    """Hold two places together: r_a - r_b = 0 (3 multipliers, forces on b)."""
    return Constraint(_coincide, a, b if b is not None else Ground(), name=name)


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
    """
    element = a.body.element
    same = element.slope_kind == b.element.slope_kind and len(element.slopes) > 0
    have = same and len(element.slopes) == len(b.element.slopes)
    if weld and not element.slopes:
        raise ConstraintError(
            f"{name}: weld=True needs slopes, which the nodes of {element.name} "
            f"(body {a.body.name!r}) do not have"
        )
    function: Callable[..., Any] = _coincide
    if have if weld is None else weld:
        function = (_weld1, _weld2, _weld3)[len(element.slopes) - 1]
    return Constraint(function, a, PointsOnBody(b, a), name=name)


def distance(a: End, b: End, length: Any, name: str = "distance") -> Constraint:
    """Keep two places at a distance: (r_a - r_b).(r_a - r_b) - L^2 = 0."""

    def phi(r_a: sp.Matrix, r_b: sp.Matrix, *, L: sp.Symbol) -> sp.Expr:
        gap = r_a - r_b
        return gap.dot(gap) - L**2

    return Constraint(phi, a, b, name=name, L=length)


def on_sphere(a: End, centre: npt.ArrayLike, radius: Any, name: str = "on_sphere") -> Constraint:
    """Keep a place on a sphere: ((r - c).(r - c) - R^2) / (2 R) = 0."""

    def phi(r_a: sp.Matrix, r_b: sp.Matrix, *, R: sp.Symbol) -> sp.Expr:
        gap = r_a - r_b
        return (gap.dot(gap) - R**2) / (2 * R)

    return Constraint(phi, a, Ground(centre), name=name, R=radius)


def clamp(a: PointsOnBody, b: PlanarBody | Ground, name: str | None = None) -> Clamp:
    """Clamp the end of a cable in the plane, ``cable.at(X)``, to a planar body or the ground."""
    return Clamp(a, b, name)
