# SPDX-License-Identifier: BSD-3-Clause
"""Joints: the constraints of mechanisms, written as functions that must vanish.

Joints with directions have an axis, e3 of the frames of their ends. It is given as ``axis=``, a
direction in the reference configuration, or by frames of the ends, ``head.at(p, frame=R)``; the
frame of an end that has none is taken parallel to that of the other end in the reference. Where
one end is on a cable or a thin plate, only its tangents can be axes.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import sympy as sp

from ..arrays import Array
from ..errors import ConstraintError, unknown_names
from ..places.ends import End, Ground
from ..places.mean import Mean
from ..terms.constraint import Constraint
from ..terms.quantities import E, PlaceValues, S, V, check_ends
from ..values.parameter import Scalar, label, unit_vector
from .coinciding import coincide
from .fold import Fold, fold
from .periodic import Periodic, periodic
from .rigid_clamp import RigidClamp, clamp
from .ties import tie

__all__ = [
    "Fold",
    "Periodic",
    "RigidClamp",
    "clamp",
    "cylindrical",
    "distance",
    "fold",
    "on_sphere",
    "periodic",
    "prismatic",
    "revolute",
    "rigid",
    "rotation",
    "spherical",
    "tie",
    "translation",
    "universal",
    "weld",
]

__getattr__ = unknown_names("symancf.joints", __all__)


def __dir__() -> list[str]:
    """Names for completion."""
    return __all__


def _revolute(r_a: V, r_b: V, e3_a: V, e1_b: V, e2_b: V) -> list[E]:
    return [*(r_a - r_b), e3_a.dot(e1_b), e3_a.dot(e2_b)]


def _cylindrical(r_a: V, r_b: V, e3_a: V, e1_b: V, e2_b: V) -> list[E]:
    gap = r_a - r_b
    return [gap.dot(e1_b), gap.dot(e2_b), e3_a.dot(e1_b), e3_a.dot(e2_b)]


def _prismatic(r_a: V, r_b: V, e1_a: V, e3_a: V, e1_b: V, e2_b: V) -> list[E]:
    return [*_cylindrical(r_a, r_b, e3_a, e1_b, e2_b), e1_a.dot(e2_b)]


def _universal(r_a: V, r_b: V, e1_a: V, e2_b: V) -> list[E]:
    return [*(r_a - r_b), e1_a.dot(e2_b)]


def _rigid(r_a: V, r_b: V, e1_a: V, e2_a: V, e3_a: V, e1_b: V, e2_b: V, e3_b: V) -> list[E]:
    return [*(r_a - r_b), e1_a.dot(e2_b), e2_a.dot(e3_b), e3_a.dot(e1_b)]


def _weld(
    r_a: V,
    X_a: V,
    e1_a: V,
    e2_a: V,
    e3_a: V,
    E1_a: V,
    E2_a: V,
    E3_a: V,
    r_b: V,
    X_b: V,
    e1_b: V,
    e2_b: V,
) -> list[E]:
    arm = X_b - X_a
    energy = sum(
        (e * E.dot(arm) for e, E in ((e1_a, E1_a), (e2_a, E2_a), (e3_a, E3_a))), sp.zeros(3, 1)
    )
    turn = [e3_a.dot(e1_b), e3_a.dot(e2_b), e1_a.dot(e2_b) - e2_a.dot(e1_b)]
    return [*(r_a + energy - r_b), *turn]


def _rotation(e1_a: V, e1_b: V, e2_b: V, *, angle: S) -> E:
    x, y = e1_a.dot(e1_b), e1_a.dot(e2_b)
    sine, cosine = sp.sin(angle), sp.cos(angle)
    return sp.atan2(y * cosine - x * sine, x * cosine + y * sine)


def _translation(r_a: V, r_b: V, e3_b: V, *, distance: S) -> E:
    return (r_a - r_b).dot(e3_b) - distance


def _completed(axis: Array) -> Array:
    """Return a frame (3, 3) whose third axis is a unit vector."""
    other = np.eye(3)[int(np.argmin(np.abs(axis)))]
    first = np.cross(other, axis)
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(axis, first), axis], axis=1)


def _as_end(name: str, end: End | None) -> End:
    """Return the end that was meant: the ground for None.

    Raises
    ------
    ConstraintError : it is a body or something else, not a place.
    """
    if end is None:
        return Ground()
    return check_ends(f"joint {name!r}", [end])[0]


def _aligned(
    name: str, a: End, b: End | None, axis: npt.ArrayLike | None, both: bool = False
) -> tuple[End, End]:
    """Give both ends axes that are parallel in the reference; e3 is the axis of the joint.

    Raises
    ------
    ConstraintError : `axis` is no direction, is given beside frames of the ends, or two frames
        differ in e3 (with `both`: in any axis).
    """
    a, b = _as_end(name, a), _as_end(name, b)
    if axis is not None:
        if a.frame is not None or b.frame is not None:
            raise ConstraintError(
                f"{name}: give its axis, or ends with frame=, not both",
                asked="axis",
                given=axis,
                possible=("axis", "frame"),
            )
        frame = _completed(unit_vector(f"{name}: axis", axis, ConstraintError))
        return a.with_axes(frame), b.with_axes(frame)
    if a.frame is not None and b.frame is not None:
        for k in range(0 if both else 2, 3):
            turn = float(np.linalg.norm(a.frame[:, k] - b.frame[:, k]))
            if turn > 1e-6:
                raise ConstraintError(
                    f"{name}: the axes e{k + 1} of its ends differ by {turn:.3g} in the reference "
                    f"configuration ({a.frame[:, k].round(6)} at {a}, "
                    f"{b.frame[:, k].round(6)} at {b})",
                    asked="frame",
                    given=turn,
                )
        return a, b
    frame = b.reference_frame if b.frame is not None else a.reference_frame
    return a.with_axes(frame), b.with_axes(frame)


def spherical(a: End, b: End | None = None, name: str = "spherical") -> Constraint:
    """Hold two places together: r_a - r_b = 0 (3 multipliers, forces on b).

    Examples
    --------
    >>> import symancf as sa
    >>> a = sa.RigidBody.box((0.1, 0.1, 0.1), position=(0.0, 0.0, 0.0), rho=1000.0, name="a")
    >>> b = sa.RigidBody.box((0.1, 0.1, 0.1), position=(0.2, 0.0, 0.0), rho=1000.0, name="b")
    >>> sa.joints.spherical(a.at((0.1, 0.0, 0.0)), b.at((-0.1, 0.0, 0.0)))
    constraint 'spherical'
    """
    return Constraint(coincide, _as_end(name, a), _as_end(name, b), name=name)


def revolute(
    a: End, b: End | None = None, axis: npt.ArrayLike | None = None, name: str = "revolute"
) -> Constraint:
    """Leave a rotation about one axis: r_a - r_b = 0, e3_a . e1_b = e3_a . e2_b = 0.

    Regular at all angles. `b` is the ground by default, and needs three axes; see the head of
    this module for `axis`.

    Examples
    --------
    >>> import symancf as sa
    >>> a = sa.RigidBody.box((0.1, 0.1, 0.1), position=(0.0, 0.0, 0.0), rho=1000.0, name="a")
    >>> b = sa.RigidBody.box((0.1, 0.1, 0.1), position=(0.2, 0.0, 0.0), rho=1000.0, name="b")
    >>> ends = a.at((0.1, 0.0, 0.0)), b.at((-0.1, 0.0, 0.0))
    >>> sa.joints.revolute(*ends, axis=(0, 1, 0))
    constraint 'revolute'
    """
    return Constraint(_revolute, *_aligned(name, a, b, axis), name=name)


def cylindrical(
    a: End, b: End | None = None, axis: npt.ArrayLike | None = None, name: str = "cylindrical"
) -> Constraint:
    """Leave a rotation about and a translation along the axis e3 of b.

    (r_a - r_b) . e1_b = (r_a - r_b) . e2_b = 0, e3_a . e1_b = e3_a . e2_b = 0; regular everywhere.

    Examples
    --------
    >>> import symancf as sa
    >>> a = sa.RigidBody.box((0.1, 0.1, 0.1), position=(0.0, 0.0, 0.0), rho=1000.0, name="a")
    >>> b = sa.RigidBody.box((0.1, 0.1, 0.1), position=(0.2, 0.0, 0.0), rho=1000.0, name="b")
    >>> ends = a.at((0.1, 0.0, 0.0)), b.at((-0.1, 0.0, 0.0))
    >>> sa.joints.cylindrical(*ends, axis=(1, 0, 0))
    constraint 'cylindrical'
    """
    return Constraint(_cylindrical, *_aligned(name, a, b, axis), name=name)


def prismatic(
    a: End, b: End | None = None, axis: npt.ArrayLike | None = None, name: str = "prismatic"
) -> Constraint:
    """Leave a translation along the axis e3 of b: as `cylindrical`, and e1_a . e2_b = 0.

    Examples
    --------
    >>> import symancf as sa
    >>> a = sa.RigidBody.box((0.1, 0.1, 0.1), position=(0.0, 0.0, 0.0), rho=1000.0, name="a")
    >>> b = sa.RigidBody.box((0.1, 0.1, 0.1), position=(0.2, 0.0, 0.0), rho=1000.0, name="b")
    >>> ends = a.at((0.1, 0.0, 0.0)), b.at((-0.1, 0.0, 0.0))
    >>> sa.joints.prismatic(*ends, axis=(1, 0, 0))
    constraint 'prismatic'
    """
    return Constraint(_prismatic, *_aligned(name, a, b, axis, both=True), name=name)


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

    Examples
    --------
    >>> import symancf as sa
    >>> a = sa.RigidBody.box((0.1, 0.1, 0.1), position=(0.0, 0.0, 0.0), rho=1000.0, name="a")
    >>> b = sa.RigidBody.box((0.1, 0.1, 0.1), position=(0.2, 0.0, 0.0), rho=1000.0, name="b")
    >>> ends = a.at((0.1, 0.0, 0.0)), b.at((-0.1, 0.0, 0.0))
    >>> sa.joints.universal(*ends, axes=((0, 1, 0), (0, 0, 1)))
    constraint 'universal'
    """
    if axes is None:
        a, b = _aligned(name, a, b, None, both=True)
        return Constraint(_universal, a, b, name=name)
    a, b = _as_end(name, a), _as_end(name, b)
    try:
        first, second = axes
    except (TypeError, ValueError, OverflowError):
        raise ConstraintError(
            f"{name}: axes is {label(axes)}: give two directions", asked="axes", given=axes
        ) from None
    one, two = (unit_vector(f"{name}: axis", x, ConstraintError) for x in (first, second))
    if abs(one @ two) > 1e-6:
        angle = np.degrees(np.arccos(np.clip(one @ two, -1.0, 1.0)))
        raise ConstraintError(
            f"{name}: its axes are at {angle:.4g} degrees, not at a right angle",
            asked="axes",
            given=angle,
            possible=(90.0,),
        )
    frame = np.stack([one, two, np.cross(one, two)], axis=1)
    return Constraint(_universal, a.with_axes(frame), b.with_axes(frame), name=name)


def rigid(a: End, b: End | None = None, name: str = "rigid") -> Constraint:
    """Hold two rigid bodies together as they are in the reference (6 equations).

    r_a - r_b = 0, e1_a . e2_b = e2_a . e3_b = e3_a . e1_b = 0: regular there. For deformable
    bodies see `clamp`.

    Examples
    --------
    >>> import symancf as sa
    >>> a = sa.RigidBody.box((0.1, 0.1, 0.1), position=(0.0, 0.0, 0.0), rho=1000.0, name="a")
    >>> b = sa.RigidBody.box((0.1, 0.1, 0.1), position=(0.2, 0.0, 0.0), rho=1000.0, name="b")
    >>> sa.joints.rigid(a.at((0.1, 0.0, 0.0)), b.at((-0.1, 0.0, 0.0)))
    constraint 'rigid'
    """
    return Constraint(_rigid, *_aligned(name, a, b, None, both=True), name=name)


def weld(
    a: End, b: End | None = None, axis: npt.ArrayLike | None = None, name: str = "weld"
) -> Constraint:
    """Hold two places together, with all rotations (6 equations): the end of a rod on a body.

    e3_a . e1_b = e3_a . e2_b = e1_a . e2_b - e2_a . e1_b = 0, and r_a, with the arm from one to
    the other that turns with a, is r_b; regular unless b has turned over against a.

    Parameters
    ----------
    a : of a rod, a full-gradient plate or a rigid body, which have three axes:
        ``rod["end"]``, ``rod.at(X)``.
    b : a place that has two axes across `axis`: the mean of a face of a solid,
        ``block["top"].mean()``; a point of a shell, ``shell.at(X)``; a point of another rod. It
        stretches freely where it is no rod.
    axis : e3, of a shell its normal at the place; default: the normal of a face, or z.

    Examples
    --------
    >>> import symancf as sa
    >>> a = sa.RigidBody.box((0.1, 0.1, 0.1), position=(0.0, 0.0, 0.0), rho=1000.0, name="a")
    >>> b = sa.RigidBody.box((0.1, 0.1, 0.1), position=(0.2, 0.0, 0.0), rho=1000.0, name="b")
    >>> sa.joints.weld(a.at((0.1, 0.0, 0.0)), b.at((-0.1, 0.0, 0.0)))
    constraint 'weld'
    """
    if axis is None and isinstance(b, Mean) and a.frame is None:
        axis = b.shares.normal
    return Constraint(_weld, *_aligned(name, a, b, axis), name=name)


def rotation(
    a: End,
    b: End | None = None,
    angle: PlaceValues = 0.0,
    axis: npt.ArrayLike | None = None,
    name: str = "rotation",
) -> Constraint:
    """Prescribe the angle [rad] by which `a` has turned about the axis e3, seen from `b`.

    phi - angle = 0 as the angle in (-pi, pi] of the sine e1_a . e2_b cos(angle) - e1_a . e1_b
    sin(angle) and its cosine: linear in phi, so that Newton's method does not end half a turn
    away (the sine alone vanishes there, too), and regular at all angles. A step of less than
    half a turn counts in its own sense. It goes beside the joint that leaves the rotation.
    `angle` is a number, `Parameter` or function of time, zero where the frames are parallel.

    Examples
    --------
    >>> import symancf as sa
    >>> a = sa.RigidBody.box((0.1, 0.1, 0.1), position=(0.0, 0.0, 0.0), rho=1000.0, name="a")
    >>> b = sa.RigidBody.box((0.1, 0.1, 0.1), position=(0.2, 0.0, 0.0), rho=1000.0, name="b")
    >>> ends = a.at((0.1, 0.0, 0.0)), b.at((-0.1, 0.0, 0.0))
    >>> sa.joints.rotation(*ends, angle=lambda t: 0.1 * t, axis=(0, 1, 0))
    constraint 'rotation'
    """
    return Constraint(_rotation, *_aligned(name, a, b, axis), name=name, angle=angle)


def angle_of(term: object) -> Scalar | None:
    """Return the angle that a `rotation` prescribes; None: the term is none."""
    if isinstance(term, Constraint) and term._reading.function is _rotation:
        return term.parameters.get("angle")
    return None


def translation(
    a: End,
    b: End | None = None,
    distance: PlaceValues = 0.0,
    axis: npt.ArrayLike | None = None,
    name: str = "translation",
) -> Constraint:
    """Prescribe the distance along the axis of b: (r_a - r_b) . e3_b - distance = 0.

    `distance` is a number, `Parameter` or function of time [m].

    Examples
    --------
    >>> import symancf as sa
    >>> a = sa.RigidBody.box((0.1, 0.1, 0.1), position=(0.0, 0.0, 0.0), rho=1000.0, name="a")
    >>> b = sa.RigidBody.box((0.1, 0.1, 0.1), position=(0.2, 0.0, 0.0), rho=1000.0, name="b")
    >>> ends = a.at((0.1, 0.0, 0.0)), b.at((-0.1, 0.0, 0.0))
    >>> sa.joints.translation(*ends, distance=lambda t: 0.1 * t, axis=(1, 0, 0))
    constraint 'translation'
    """
    return Constraint(_translation, *_aligned(name, a, b, axis), name=name, distance=distance)


def distance(a: End, b: End, length: PlaceValues, name: str = "distance") -> Constraint:
    """Keep two places at a distance: (r_a - r_b).(r_a - r_b) - L^2 = 0.

    Examples
    --------
    >>> import symancf as sa
    >>> a = sa.RigidBody.box((0.1, 0.1, 0.1), position=(0.0, 0.0, 0.0), rho=1000.0, name="a")
    >>> b = sa.RigidBody.box((0.1, 0.1, 0.1), position=(0.2, 0.0, 0.0), rho=1000.0, name="b")
    >>> sa.joints.distance(a.at((0.0, 0.0, 0.0)), b.at((0.0, 0.0, 0.0)), length=0.2)
    constraint 'distance'
    """

    def phi(r_a: V, r_b: V, *, L: S) -> E:
        gap = r_a - r_b
        return gap.dot(gap) - L**2

    return Constraint(phi, a, b, name=name, L=length)


def on_sphere(
    a: End, centre: npt.ArrayLike, radius: PlaceValues, name: str = "on_sphere"
) -> Constraint:
    """Keep a place on a sphere: ((r - c).(r - c) - R^2) / (2 R) = 0.

    Examples
    --------
    >>> import symancf as sa
    >>> ball = sa.RigidBody.box((0.1, 0.1, 0.1), position=(0.0, 0.0, 0.0), rho=1000.0, name="ball")
    >>> sa.joints.on_sphere(ball.at((0.0, 0.0, 0.0)), (0.0, 0.0, 1.0), 1.0)
    constraint 'on_sphere'
    """

    def phi(r_a: V, r_b: V, *, R: S) -> E:
        gap = r_a - r_b
        return (gap.dot(gap) - R**2) / (2 * R)

    return Constraint(phi, a, Ground(centre), name=name, R=radius)
