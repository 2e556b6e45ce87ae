# SPDX-License-Identifier: BSD-3-Clause
"""Meshes held to other bodies: ties of nodes to a mesh, clamps of nodes to a rigid body."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .constraint import Constraint
from .errors import ConstraintError
from .natural import RigidBody, RigidPoint
from .parameter import label
from .places.ends import Ground, Nodes, PointsOnBody, require_region
from .plane import Clamp, PlanarBody

if TYPE_CHECKING:
    import sympy as sp

    from .body import Body
    from .system import System

Array = npt.NDArray[np.float64]


def coincide(r_a: sp.Matrix, r_b: sp.Matrix) -> sp.Matrix:
    """Return the gap of two places."""
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
    function: Callable[..., Any] = coincide
    if have if weld is None else weld:
        function = (_weld1, _weld2, _weld3)[len(element.slopes) - 1]
    return Constraint(function, a, PointsOnBody(b, a), name=name)


class RigidClamp(Constraint):
    """Nodes or points of a deformable body that move with a rigid body, slopes included.

    Linear in all coordinates, so its Jacobian is constant: with the place and the slopes of the
    reference in the frame of the rigid body (c1, c2, c3),

        r_k = r_i + (c1/d) (r_j - r_i) + c2 u + c3 v,   r_k,s = (c1/d) (r_j - r_i) + c2 u + c3 v.

    Rows: 3 for the position and 3 for each slope that the element has (thin plates 9, cables 6,
    full gradients 12, hex8 3).
    """

    def __init__(self, places: Nodes | PointsOnBody, body: RigidBody, name: str | None) -> None:
        slopes = len(places.body.element.slopes)
        function = (coincide, _weld1, _weld2, _weld3)[slopes]
        name = name or f"clamp of {places}"
        super().__init__(function, places, body.holding(places), name=name)
        self.places, self.body = places, body

    def violations(self, system: System) -> Array:
        """Return five invariants of the clamp, minus their reference values (K, 5) (collective).

        |r_kj|^2, r_kj . u - |r_kj| |u| cos(theta_k), r_kj . r_ij, r_k,x . v and r_k,y . r_kj with
        r_kj = r_k - r_j, theta_k the angle between r_kj and u in the reference, and x, y the
        first two slopes (of cables only x, of hex8 none; columns for what there is). They are
        the constraints of Ghoneimy et al., Appl. Syst. Innov. 8 (2025) 42, for rings of a thin
        plate; all are invariant under rigid motions.
        """
        slopes = min(2, len(self.places.body.element.slopes))
        body = self.body
        names = ["value", *(f"along{s}" for s in range(slopes))]
        R0 = system._evaluate(self.places, [(n, system.reference) for n in names])
        u0 = system._evaluate(self.places, [(n, system.state) for n in names])
        q0 = body.coordinates(system, system.reference)
        q1 = q0 + body.coordinates(system, system.state)
        now = [R + u for R, u in zip(R0, u0, strict=True)]
        arm = R0[0] - q0[1]
        length = np.linalg.norm(arm, axis=1)
        cosine = np.divide(arm @ q0[2], length, out=np.zeros(len(arm)), where=length > 0.0)

        def values(r: list[Array], q: Array) -> Array:
            r_kj, u, v = r[0] - q[1], q[2], q[3]
            rows = [
                np.einsum("ka,ka->k", r_kj, r_kj),
                r_kj @ u - np.linalg.norm(r_kj, axis=1) * np.linalg.norm(u) * cosine,
                r_kj @ (q[1] - q[0]),
            ]
            if slopes > 0:
                rows.append(r[1] @ v)
            if slopes > 1:
                rows.append(np.einsum("ka,ka->k", r[2], r_kj))
            return np.stack(rows, axis=1)

        return values(now, q1) - values(R0, q0)


def clamp(
    a: Nodes | PointsOnBody, b: PlanarBody | Ground | RigidBody, name: str | None = None
) -> Clamp | RigidClamp:
    """Clamp nodes or points of a deformable body to a rigid body, as they are in the reference.

    See `RigidClamp`. The end of a cable in the plane, ``cable.at(X)``, can be clamped to a planar
    body or the ground, too; to hold other places at the ground take `sa.fix`.
    """
    if not isinstance(b, RigidBody):
        return Clamp(a, b, name)  # type: ignore[arg-type]  # it says what it takes
    end: Any = a
    if isinstance(end, RigidPoint):
        raise ConstraintError(f"clamp of {end}: to join two rigid bodies take sa.joints.rigid")
    if not isinstance(end, Nodes | PointsOnBody):
        raise ConstraintError(
            f"clamp takes nodes, body['region'], or points, body.at(X), not {type(end).__name__}"
        )
    return RigidClamp(end, b, name)
