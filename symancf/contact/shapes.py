# SPDX-License-Identifier: BSD-3-Clause
r"""Rigid shapes: what deformable and rigid bodies touch, by their signed distance.

A shape has a frame, of the ground or of a rigid body; x = (x1, x2, x3) are coordinates there, and
its signed distance s(x) is negative inside, with :math:`|\nabla s| = 1`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, TypedDict, Unpack

import numpy as np
import numpy.typing as npt
import sympy as sp

from ..arrays import Array
from ..bodies.natural import RigidBody
from ..errors import OwnAttributes, ParameterError, argument
from ..kinematics.quantity import real
from ..places.ends import frame_of
from ..values import arguments
from ..values.functions import arguments_of
from ..values.motion import Motion
from ..values.parameter import evaluate, label, vector3
from .laws import ROUND_OFF

if TYPE_CHECKING:
    from ..values.motion import Displacement, Gradient
    from ..values.parameter import Scalar

X = tuple(real(f"x{k}") for k in (1, 2, 3))
Expressions: TypeAlias = "Sequence[sp.Expr]"


class How(TypedDict, total=False):
    """How a shape is moved, and its name; see `RigidShape`."""

    displacement: Displacement
    gradient: Gradient
    body: RigidBody | None
    name: str | None


class RigidShape(OwnAttributes):
    """A rigid shape, at rest, moved by functions of time or on a rigid body.

    Parameters
    ----------
    point : origin of its frame in the reference configuration; of a shape on a body (`body`) in
        the frame of that.
    frame : (3, 3), columns are its axes e1, e2, e3; default: those of the ground or the body.
    sizes : parameters of its distance by name, numbers or functions of time.
    displacement, gradient : of the frame, as `sa.fix` moves rigid bodies: u of the origin, and
        R - 1 with the rotation R; numbers or functions of time.
    body : a rigid body that carries it.
    name : shown in messages.

    Attributes
    ----------
    parameters : `sizes`.
    bounded : whether something could pass through it within a step.

    Raises
    ------
    ParameterError : no point, frame or motion; a motion of a shape on a body.
    """

    kind = "shape"
    bounded = True

    def __init__(
        self,
        point: npt.ArrayLike,
        frame: npt.ArrayLike | None = None,
        *,
        sizes: Mapping[str, Scalar] | None = None,
        displacement: Displacement = None,
        gradient: Gradient = None,
        body: RigidBody | None = None,
        name: str | None = None,
        **unknown: object,
    ) -> None:
        self.name = arguments.name_or(name, self.kind)
        what = f"{self.kind} {self.name!r}" if name else self.kind
        if unknown:
            raise ParameterError(
                f"{what} takes no {', '.join(unknown)}; it takes {', '.join(takes(type(self)))}",
                asked=next(iter(unknown)),
                possible=takes(type(self)),
            )
        self.point: Array = vector3(f"{what}: point, the origin of its frame,", point)
        axes = frame_of(what, frame)
        self.frame: Array = np.eye(3) if axes is None else axes
        self.moved = displacement is not None or gradient is not None
        place: object = body
        if body is not None and not isinstance(place, RigidBody):
            raise ParameterError(
                f"{what}: body={label(body)} is no rigid body: give sa.RigidBody",
                asked="body",
                given=body,
                possible=("RigidBody",),
            )
        if body is not None and self.moved:
            raise ParameterError(
                f"{what} is on body {body.name!r} and moves with it: displacement= and gradient= "
                "are for shapes without body=",
                asked="displacement",
                given=body.name,
            )
        self.body = body
        self.motion = Motion(what, displacement, gradient, rotation=True)
        self.parameters = dict(sizes or {})

    def distance(self, x: Expressions) -> sp.Expr:
        """Return the signed distance s at coordinates in the frame, with `parameters` as symbols.

        Raises
        ------
        ParameterError : of a user's function that is none.
        """
        raise NotImplementedError

    def slopes(self, x: Expressions) -> list[sp.Expr]:
        """Return the gradient of the signed distance at coordinates in the frame."""
        raise NotImplementedError

    def safe_slide(self, depth: Array, rho: float) -> Array:
        """Return how far closest points may move in a step, so that nothing passes through (n,).

        Of points that touch at a distance `rho`: their way lies less than `depth` (n,) in the
        shape, and they do not come out on another side. 0: that is not known.
        """
        return np.zeros_like(depth)

    def placed(self, time: float) -> tuple[Array, Array]:
        """Return origin (3,) and axes (3, 3), columns, of a shape of the ground at a time."""
        at = self.point[None]
        origin = self.point + self.motion.u(at, time)[0]
        return origin, self.frame + self.motion.G(at, time)[0] @ self.frame

    def __repr__(self) -> str:
        where = f"on {self.body.name!r}" if self.body else "moved" if self.moved else "at rest"
        return f"{type(self).__name__} {self.name!r}, {where}"


def takes(kind: type[RigidShape]) -> list[str]:
    """Return the names of the arguments of a kind of shapes."""
    own = arguments_of(kind)
    return list(dict.fromkeys([*own.positional, *own.keywords, *How.__annotations__]))


def _sizes(what: str, **values: float) -> dict[str, Scalar]:
    """Return sizes that must be positive."""
    return {name: arguments.positive(what, name, value) for name, value in values.items()}


def _along(what: str, axis: npt.ArrayLike) -> Array:
    """Return a frame whose third axis is along a vector.

    Raises
    ------
    ParameterError : the vector is zero.
    """
    e3 = vector3(what, axis)
    largest = float(np.abs(e3).max())
    if not largest >= 1e-300:
        raise ParameterError(f"{what} is zero: give a direction", asked=argument(what), given=e3)
    e3 = e3 / largest  # first: squares of its components may be too large for a number
    e3 = e3 / np.linalg.norm(e3)
    e1 = np.cross(np.eye(3)[int(np.argmin(np.abs(e3)))], e3)
    e1 /= np.linalg.norm(e1)
    return np.stack([e1, np.cross(e3, e1), e3], axis=1)


def _root(parts: Expressions, size: sp.Expr) -> sp.Expr:
    """Return the length of a vector, at least 1e-12 of a size: it has a slope everywhere."""
    return sp.sqrt(sp.Max(sp.Add(*(p**2 for p in parts)), (ROUND_OFF * size) ** 2))


def _outside(q: Expressions) -> sp.Expr:
    """Return the distance from a body |q_i| <= 0: within it the largest of q, else the norm."""
    over = sp.Add(*(sp.Max(a, 0) ** 2 for a in q))
    return sp.Piecewise((sp.sqrt(over), sp.Max(*q) > 0), (sp.Max(*q), True))


def _slopes_outside(q: Expressions, slopes: Sequence[Expressions]) -> list[sp.Expr]:
    """Return the gradient of `_outside` from those of q."""
    over = [sp.Max(a, 0) for a in q]
    norm, largest = sp.sqrt(sp.Add(*(a**2 for a in over))), sp.Max(*q)

    def slope(k: int) -> sp.Expr:
        outer = sp.Add(*(a * s[k] for a, s in zip(over, slopes, strict=True))) / norm
        inner = [(s[k], a >= largest) for a, s in zip(q, slopes, strict=True)]
        return sp.Piecewise((outer, largest > 0), *inner[:-1], (inner[-1][0], True))

    return [slope(k) for k in range(3)]


class Plane(RigidShape):
    """A half-space: all that lies against the normal from a plane.

    Parameters
    ----------
    point : on the plane.
    normal : out of the half-space, to where bodies are.
    displacement, gradient : of a shape of the ground that moves: u of `point` [m], and R - 1 with
        the rotation R; numbers or functions of time.
    body : a rigid body that carries it; `point` and axes are in the frame of that.
    name : shown in messages.

    Examples
    --------
    >>> import symancf as sa
    >>> floor = sa.Plane((0, 0, 0), normal=(0, 0, 1))
    >>> wall = sa.Plane((1, 0, 0), normal=(-1, 0, 0), displacement=lambda t: (-0.1 * t, 0, 0))
    """

    kind, bounded = "plane", False

    def __init__(
        self,
        point: npt.ArrayLike = (0.0, 0.0, 0.0),
        normal: npt.ArrayLike = (0.0, 0.0, 1.0),
        **how: Unpack[How],
    ) -> None:
        super().__init__(point, _along("the normal of a plane", normal), **how)

    def safe_slide(self, depth: Array, rho: float) -> Array:
        """Return infinity: nothing passes through."""
        return np.full_like(depth, np.inf)

    def distance(self, x: Expressions) -> sp.Expr:
        """Return x3."""
        return x[2]

    def slopes(self, x: Expressions) -> list[sp.Expr]:
        """Return e3."""
        return [sp.S.Zero, sp.S.Zero, sp.S.One]


class Sphere(RigidShape):
    """A ball.

    Parameters
    ----------
    radius : its radius [m].
    point : its centre.
    displacement, gradient : of a shape of the ground that moves: u of `point` [m], and R - 1 with
        the rotation R; numbers or functions of time.
    body : a rigid body that carries it; `point` and axes are in the frame of that.
    name : shown in messages.

    Examples
    --------
    >>> import symancf as sa
    >>> ball = sa.Sphere(0.5, (0.0, 0.0, 1.0))
    """

    kind = "sphere"

    def __init__(
        self,
        radius: float,
        point: npt.ArrayLike = (0.0, 0.0, 0.0),
        **how: Unpack[How],
    ) -> None:
        super().__init__(point, sizes=_sizes("Sphere", radius=radius), **how)

    def safe_slide(self, depth: Array, rho: float) -> Array:
        """Return a chord of the sphere."""
        return _chord(self.parameters["radius"], depth, rho)

    def distance(self, x: Expressions) -> sp.Expr:
        """Return |x| - R."""
        return _root(x, real("radius")) - real("radius")

    def slopes(self, x: Expressions) -> list[sp.Expr]:
        """Return x/|x|."""
        size = _root(x, real("radius"))
        return [a / size for a in x]


class Cylinder(RigidShape):
    """A cylinder along `axis` through `point`; of a `length` about it, or without ends.

    Parameters
    ----------
    radius, length : of the mantle and between the ends [m].
    point, axis : its middle, or a point on its axis, and the direction of that.
    displacement, gradient : of a shape of the ground that moves: u of `point` [m], and R - 1 with
        the rotation R; numbers or functions of time.
    body : a rigid body that carries it; `point` and axes are in the frame of that.
    name : shown in messages.

    Examples
    --------
    >>> import symancf as sa
    >>> drum = sa.Cylinder(0.5, (0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
    """

    kind = "cylinder"

    def __init__(
        self,
        radius: float,
        point: npt.ArrayLike = (0.0, 0.0, 0.0),
        axis: npt.ArrayLike = (0.0, 0.0, 1.0),
        length: float | None = None,
        **how: Unpack[How],
    ) -> None:
        sizes = {"radius": radius} if length is None else {"radius": radius, "length": length}
        super().__init__(
            point, _along("the axis of a cylinder", axis), sizes=_sizes("Cylinder", **sizes), **how
        )

    def safe_slide(self, depth: Array, rho: float) -> Array:
        """Return a chord of the circle; ends have edges."""
        if "length" in self.parameters:
            return super().safe_slide(depth, rho)
        return _chord(self.parameters["radius"], depth, rho)

    def distance(self, x: Expressions) -> sp.Expr:
        """Return sqrt(x1^2 + x2^2) - R, and what the ends make of it."""
        across = _root(x[:2], real("radius")) - real("radius")
        return _outside(self._parts(x)) if "length" in self.parameters else across

    @staticmethod
    def _parts(x: Expressions) -> list[sp.Expr]:
        across = _root(x[:2], real("radius")) - real("radius")
        return [across, sp.Abs(x[2]) - real("length") / 2]

    def slopes(self, x: Expressions) -> list[sp.Expr]:
        """Return that of the mantle, or what the ends make of it."""
        size = _root(x[:2], real("radius"))
        across = [x[0] / size, x[1] / size, sp.S.Zero]
        if "length" not in self.parameters:
            return across
        return _slopes_outside(self._parts(x), [across, [sp.S.Zero, sp.S.Zero, sp.sign(x[2])]])


class Capsule(RigidShape):
    """All within `radius` of a line of a `length` along `axis` about `point`.

    Parameters
    ----------
    radius, length : of the round and of the line [m].
    point, axis : the middle of the line, and its direction.
    displacement, gradient : of a shape of the ground that moves: u of `point` [m], and R - 1 with
        the rotation R; numbers or functions of time.
    body : a rigid body that carries it; `point` and axes are in the frame of that.
    name : shown in messages.

    Examples
    --------
    >>> import symancf as sa
    >>> pin = sa.Capsule(0.5, 2.0, axis=(0.0, 1.0, 0.0))
    """

    kind = "capsule"

    def __init__(
        self,
        radius: float,
        length: float,
        point: npt.ArrayLike = (0.0, 0.0, 0.0),
        axis: npt.ArrayLike = (0.0, 0.0, 1.0),
        **how: Unpack[How],
    ) -> None:
        super().__init__(
            point,
            _along("the axis of a capsule", axis),
            sizes=_sizes("Capsule", radius=radius, length=length),
            **how,
        )

    def safe_slide(self, depth: Array, rho: float) -> Array:
        """Return a chord of its circle, which bends no less elsewhere."""
        return _chord(self.parameters["radius"], depth, rho)

    def distance(self, x: Expressions) -> sp.Expr:
        """Return the distance from the line, less R."""
        return _root(self._from_line(x), real("radius")) - real("radius")

    @staticmethod
    def _from_line(x: Expressions) -> list[sp.Expr]:
        half = real("length") / 2
        return [x[0], x[1], x[2] - sp.Max(-half, sp.Min(x[2], half))]

    def slopes(self, x: Expressions) -> list[sp.Expr]:
        """Return the direction away from the line."""
        y = self._from_line(x)
        size = _root(y, real("radius"))
        return [a / size for a in y]


class Box(RigidShape):
    """A box with edges along its axes.

    Parameters
    ----------
    size : lengths of the edges (3,) [m].
    point : its centre.
    frame : (3, 3), columns are its axes; default: those of the ground or the body.
    displacement, gradient : of a shape of the ground that moves: u of `point` [m], and R - 1 with
        the rotation R; numbers or functions of time.
    body : a rigid body that carries it; `point` and axes are in the frame of that.
    name : shown in messages.

    Examples
    --------
    >>> import symancf as sa
    >>> block = sa.Box((1.0, 1.0, 0.2), (0.0, 0.0, -0.1))
    """

    kind = "box"

    def __init__(
        self,
        size: npt.ArrayLike,
        point: npt.ArrayLike = (0.0, 0.0, 0.0),
        frame: npt.ArrayLike | None = None,
        **how: Unpack[How],
    ) -> None:
        edges = vector3("the size of a box", size)
        sizes = {f"size{k}": float(a) for k, a in enumerate(edges, 1)}
        super().__init__(point, frame, sizes=_sizes("Box", **sizes), **how)

    def distance(self, x: Expressions) -> sp.Expr:
        """Return the largest of |x_k| - size_k/2; outside the distance from the box."""
        return _outside(self._parts(x))

    @staticmethod
    def _parts(x: Expressions) -> list[sp.Expr]:
        return [sp.Abs(a) - real(f"size{k}") / 2 for k, a in enumerate(x, 1)]

    def slopes(self, x: Expressions) -> list[sp.Expr]:
        """Return the normal of the nearest face, or the direction from the nearest edge."""
        signs = [[sp.sign(a) if i == k else sp.S.Zero for k in range(3)] for i, a in enumerate(x)]
        return _slopes_outside(self._parts(x), signs)


def _chord(radius: Scalar, depth: Array, rho: float) -> Array:
    """Return how far a closest point on a sphere may move, see `RigidShape.safe_slide`.

    Between points at the distance rho, whose closest points are a chord c <= R apart, a straight
    way dips by at most (c (R + rho)/R)^2 / (7 (R + rho)) below that distance, and normals turn by
    60 degrees.
    """
    R = evaluate("radius", radius, 0.0)
    part: Array = np.minimum(1.0, np.sqrt(7.0 * depth / (R + rho)))
    return R * part


def shape_of(who: str, given: RigidShape | RigidBody) -> RigidShape:
    """Return the shape that something is; of a rigid body that of its surface.

    Raises
    ------
    ParameterError : a rigid body without a surface, or no shape.
    """
    if isinstance(given, RigidShape):
        return given
    if not isinstance(given, RigidBody):
        raise ParameterError(
            f"{who}: {label(given)} is no rigid shape: give sa.Plane, sa.Sphere, sa.Cylinder, "
            "sa.Capsule, sa.Box, sa.Distance, or a rigid body with a surface, sa.RigidBody.sphere",
            asked="target",
            given=given,
            possible=("Plane", "Sphere", "Cylinder", "Capsule", "Box", "Distance", "RigidBody"),
        )
    form, sizes, name = given._shape.form, given._shape.sizes, given.name
    if form == "sphere":
        return Sphere(sizes[0], body=given, name=name)
    if form == "cylinder":
        return Cylinder(sizes[0], length=sizes[1], body=given, name=name)
    if form == "box":
        return Box([2.0 * a for a in sizes], body=given, name=name)
    raise ParameterError(
        f"{who}: rigid body {name!r} has no surface of its own: make it by RigidBody.sphere, .box "
        f"or .cylinder, or give a shape on it, sa.Sphere(radius, body={name})",
        asked="surface",
        given=name,
        possible=("sphere", "box", "cylinder"),
    )
