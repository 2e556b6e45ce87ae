# SPDX-License-Identifier: BSD-3-Clause
"""Joints: the constraints of mechanisms, written as functions that must vanish.

Joints with directions have an axis, e3 of the frames of their ends. It is given as ``axis=``, a
direction in the reference configuration, or by frames of the ends, ``head.at(p, frame=R)``; the
frame of an end that has none is taken parallel to that of the other end in the reference. Where
one end is on a cable or a thin plate, only its tangents can be axes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import sympy as sp

from .constraint import Constraint
from .ends import End, Ground, Nodes, PointsOnBody
from .errors import ConstraintError
from .natural import RigidBody, RigidPoint
from .parameter import label
from .plane import Clamp, PlanarBody
from .quantities import check_ends

if TYPE_CHECKING:
    from .body import Body
    from .system import System

Array = npt.NDArray[np.float64]


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


def _revolute(
    r_a: sp.Matrix, r_b: sp.Matrix, e3_a: sp.Matrix, e1_b: sp.Matrix, e2_b: sp.Matrix
) -> list[sp.Expr]:
    return [*(r_a - r_b), e3_a.dot(e1_b), e3_a.dot(e2_b)]


def _cylindrical(
    r_a: sp.Matrix, r_b: sp.Matrix, e3_a: sp.Matrix, e1_b: sp.Matrix, e2_b: sp.Matrix
) -> list[sp.Expr]:
    gap = r_a - r_b
    return [gap.dot(e1_b), gap.dot(e2_b), e3_a.dot(e1_b), e3_a.dot(e2_b)]


def _prismatic(
    r_a: sp.Matrix,
    r_b: sp.Matrix,
    e1_a: sp.Matrix,
    e3_a: sp.Matrix,
    e1_b: sp.Matrix,
    e2_b: sp.Matrix,
) -> list[sp.Expr]:
    return [*_cylindrical(r_a, r_b, e3_a, e1_b, e2_b), e1_a.dot(e2_b)]


def _universal(r_a: sp.Matrix, r_b: sp.Matrix, e1_a: sp.Matrix, e2_b: sp.Matrix) -> list[sp.Expr]:
    return [*(r_a - r_b), e1_a.dot(e2_b)]


def _rigid(
    r_a: sp.Matrix,
    r_b: sp.Matrix,
    e1_a: sp.Matrix,
    e2_a: sp.Matrix,
    e3_a: sp.Matrix,
    e1_b: sp.Matrix,
    e2_b: sp.Matrix,
    e3_b: sp.Matrix,
) -> list[sp.Expr]:
    return [*(r_a - r_b), e1_a.dot(e2_b), e2_a.dot(e3_b), e3_a.dot(e1_b)]


def _rotation(e1_a: sp.Matrix, e1_b: sp.Matrix, e2_b: sp.Matrix, *, angle: sp.Symbol) -> sp.Expr:
    return e1_a.dot(e2_b) * sp.cos(angle) - e1_a.dot(e1_b) * sp.sin(angle)


def _translation(
    r_a: sp.Matrix, r_b: sp.Matrix, e3_b: sp.Matrix, *, distance: sp.Symbol
) -> sp.Expr:
    return (r_a - r_b).dot(e3_b) - distance


def _direction(name: str, axis: npt.ArrayLike) -> Array:
    """Return a unit vector.

    Raises
    ------
    ConstraintError : `axis` is no direction.
    """
    try:
        given = np.asarray(axis, dtype=float)
    except (TypeError, ValueError):
        given = np.zeros(0)
    length = np.linalg.norm(given) if given.shape == (3,) else 0.0
    if not (np.isfinite(length) and length > 0.0):
        raise ConstraintError(f"{name}: axis is {label(axis)}: give a direction, three numbers")
    return np.asarray(given / length)


def _completed(axis: Array) -> Array:
    """Return a frame (3, 3) whose third axis is a unit vector."""
    other = np.eye(3)[int(np.argmin(np.abs(axis)))]
    first = np.cross(other, axis)
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(axis, first), axis], axis=1)


def _as_end(name: str, end: Any) -> End:
    """Return the end that was meant: the ground for None.

    Raises
    ------
    ConstraintError : it is a body or something else, not a place.
    """
    if end is None:
        return Ground()
    return check_ends(f"joint {name!r}", [end])[0]


def _aligned(
    name: str, a: End, b: End | None, axis: npt.ArrayLike | None, whole: bool = False
) -> tuple[End, End]:
    """Give both ends axes that are parallel in the reference; e3 is the axis of the joint.

    Raises
    ------
    ConstraintError : `axis` is no direction, is given beside frames of the ends, or two frames
        differ in e3 (with `whole`: in any axis).
    """
    a, b = _as_end(name, a), _as_end(name, b)
    if axis is not None:
        if a.frame is not None or b.frame is not None:
            raise ConstraintError(f"{name}: give its axis, or ends with frame=, not both")
        frame = _completed(_direction(name, axis))
        return a.with_axes(frame), b.with_axes(frame)
    if a.frame is not None and b.frame is not None:
        for k in range(0 if whole else 2, 3):
            turn = float(np.linalg.norm(a.frame[:, k] - b.frame[:, k]))
            if turn > 1e-6:
                raise ConstraintError(
                    f"{name}: the axes e{k + 1} of its ends differ by {turn:.3g} in the reference "
                    f"configuration ({a.frame[:, k].round(6)} at {a}, "
                    f"{b.frame[:, k].round(6)} at {b})"
                )
        return a, b
    frame = b.reference_frame if b.frame is not None else a.reference_frame
    return a.with_axes(frame), b.with_axes(frame)


def spherical(a: End, b: End | None = None, name: str = "spherical") -> Constraint:
    """Hold two places together: r_a - r_b = 0 (3 multipliers, forces on b)."""
    return Constraint(_coincide, _as_end(name, a), _as_end(name, b), name=name)


def revolute(
    a: End, b: End | None = None, axis: npt.ArrayLike | None = None, name: str = "revolute"
) -> Constraint:
    """Leave a rotation about one axis: r_a - r_b = 0, e3_a . e1_b = e3_a . e2_b = 0.

    Regular at all angles. `b` is the ground by default, and needs three axes; see the head of
    this module for `axis`.
    """
    return Constraint(_revolute, *_aligned(name, a, b, axis), name=name)


def cylindrical(
    a: End, b: End | None = None, axis: npt.ArrayLike | None = None, name: str = "cylindrical"
) -> Constraint:
    """Leave a rotation about and a translation along the axis e3 of b.

    (r_a - r_b) . e1_b = (r_a - r_b) . e2_b = 0, e3_a . e1_b = e3_a . e2_b = 0; regular everywhere.
    """
    return Constraint(_cylindrical, *_aligned(name, a, b, axis), name=name)


def prismatic(
    a: End, b: End | None = None, axis: npt.ArrayLike | None = None, name: str = "prismatic"
) -> Constraint:
    """Leave a translation along the axis e3 of b: as `cylindrical`, and e1_a . e2_b = 0."""
    return Constraint(_prismatic, *_aligned(name, a, b, axis, whole=True), name=name)


def universal(
    a: End,
    b: End | None = None,
    axes: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
    name: str = "universal",
) -> Constraint:
    """Hold two places together by a cross: r_a - r_b = 0, e1_a . e2_b = 0.

    Parameters
    ----------
    axes : the axis of the cross that is fixed in `a` and that in `b`, directions of the
        reference at a right angle; default: e1 of a's frame and e2 of b's.

    Raises
    ------
    ConstraintError : the axes are not at a right angle.
    """
    if axes is None:
        a, b = _aligned(name, a, b, None, whole=True)
        return Constraint(_universal, a, b, name=name)
    a, b = _as_end(name, a), _as_end(name, b)
    try:
        first, second = axes
    except (TypeError, ValueError):
        raise ConstraintError(f"{name}: axes is {label(axes)}: give two directions") from None
    one, two = _direction(name, first), _direction(name, second)
    if abs(one @ two) > 1e-6:
        angle = np.degrees(np.arccos(np.clip(one @ two, -1.0, 1.0)))
        raise ConstraintError(f"{name}: its axes are at {angle:.4g} degrees, not at a right angle")
    frame = np.stack([one, two, np.cross(one, two)], axis=1)
    return Constraint(_universal, a.with_axes(frame), b.with_axes(frame), name=name)


def rigid(a: End, b: End | None = None, name: str = "rigid") -> Constraint:
    """Hold two rigid bodies together as they are in the reference (6 equations).

    r_a - r_b = 0, e1_a . e2_b = e2_a . e3_b = e3_a . e1_b = 0: regular there. For deformable
    bodies see `clamp`.
    """
    return Constraint(_rigid, *_aligned(name, a, b, None, whole=True), name=name)


def rotation(
    a: End,
    b: End | None = None,
    angle: Any = 0.0,
    axis: npt.ArrayLike | None = None,
    name: str = "rotation",
) -> Constraint:
    """Prescribe the angle [rad] by which `a` has turned about the axis e3, seen from `b`.

    sin(phi - angle) = 0, written e1_a . e2_b cos(angle) - e1_a . e1_b sin(angle): regular at all
    angles. It goes beside the joint that leaves the rotation. `angle` is a number, `Parameter`
    or function of time, zero where the frames are parallel.
    """
    return Constraint(_rotation, *_aligned(name, a, b, axis), name=name, angle=angle)


def translation(
    a: End,
    b: End | None = None,
    distance: Any = 0.0,
    axis: npt.ArrayLike | None = None,
    name: str = "translation",
) -> Constraint:
    """Prescribe the distance along the axis of b: (r_a - r_b) . e3_b - distance = 0.

    `distance` is a number, `Parameter` or function of time [m].
    """
    return Constraint(_translation, *_aligned(name, a, b, axis), name=name, distance=distance)


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
        function = (_coincide, _weld1, _weld2, _weld3)[slopes]
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
