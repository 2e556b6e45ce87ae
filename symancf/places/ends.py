# SPDX-License-Identifier: BSD-3-Clause
"""Where loads and joints act: points of bodies, nodes of regions, points of the ground."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
import numpy.typing as npt

from ..arrays import Array, Integers, Ints, Ints32, Mask
from ..assembly.resolved import JetRows, Resolved
from ..errors import ConstraintError, OwnAttributes, ParameterError
from ..mesh import Mesh, Region
from ..values.arguments import LENGTHS
from ..values.parameter import label, reals

if TYPE_CHECKING:
    from collections.abc import Sequence

    import sympy as sp

    from ..assembly.configuration import Configuration, HasName, Layout


Symbols = Callable[[str], "Sequence[sp.Symbol]"]  # of the three components of a jet


Place = TypeVar("Place", bound="End")


def require_moving(who: str, given: Any) -> None:
    """Raise where something is no place of a body.

    Raises
    ------
    ConstraintError
    """
    require_place(who, given)
    if isinstance(given, Ground):
        raise ConstraintError(
            f"{who}: {given} does not move; give a place of a body, body['region'] or "
            "body.at(point)",
            asked=who,
            given=given,
        )


def require_place(who: str, given: Any, *also: type) -> None:
    """Raise where something is no place of a body, nor of one of the types `also`.

    Raises
    ------
    ConstraintError : begins with `who`; says how the place is written.
    """
    if isinstance(given, (End, *also)):
        return
    remedy = "give body['region'], body.at(point) or sa.ground"
    if isinstance(given, Region):
        remedy = (
            f"the region {given.name!r} of a mesh moves nothing; give that of a body made on it, "
            f"body[{given.name!r}]"
        )
    elif isinstance(given, Mesh):
        remedy = "a mesh moves nothing; give a region of a body made on it, body['region']"
    elif hasattr(given, "at") and not isinstance(given, type):
        remedy = f"give a point of it, {given.name}.at(point)" + (
            f", or a region of it, {given.name}['region']" if hasattr(given, "region") else ""
        )
    elif hasattr(given, "centre") and not isinstance(given, type):
        remedy = f"give the place of it, {given.name}.centre"
    raise ConstraintError(
        f"{who}: {label(given)} is no place; {remedy}", asked="place", given=given
    )


class End(OwnAttributes, ABC):
    """A list of K places. A system has what it finds of them, `resolve`; the end stays as it is.

    Places may have axes e1, e2, e3, the jets ``axis0``, ``axis1``, ``axis2``: directions that
    are fixed in the material there and move with it as its fibres do.

    Attributes
    ----------
    frame : (3, 3) whose columns are the axes in the reference configuration, or None: where the
        end does not say otherwise, those of the end's default (`reference_frame`).
    """

    frame: Array | None = None
    anywhere = False  # it has the places of the other ends
    curved: tuple[str, ...] = ()  # jets of which all others are functions, if those are no jets
    plane = False  # on a planar body
    only: str | None = None  # the one jet of an end that is no place
    block = ""  # of coordinates that its vertices carry because of it
    travels = False  # its places may be others after a step; see `travel`
    timed = False  # they are functions of time
    oriented = True  # it has axes
    slides = False  # it has the jet ``slide``
    weighs = False  # its places stand for parts of a line, over which a term is integrated
    line = False  # they offer the direction of the line

    def expressed(self, jet: str, change: Symbols, reference: Symbols) -> list[sp.Expr]:
        """Return the change of a jet in the symbols of changes and references of jets."""
        raise NotImplementedError

    def resolve(self, layout: Layout, *, follows: bool = False) -> Resolved:
        """Return the places in the layout of a system, found once (collective).

        `follows`: who asks will ask again where places travel.

        Raises
        ------
        ConstraintError : the places travel, and would stay where they were for who asks.
        """
        if self.travels and not follows:
            raise ConstraintError(
                f"{self} moves over its body; only forces, constraints, potentials and work at "
                "places can follow it: give a fixed point, body.at(X)",
                asked="place",
                given=str(self),
            )
        if self not in layout.places:
            layout.places[self] = self._find(layout)
        return layout.places[self]

    def of_section(self) -> Self:
        """Return the same places, on rods with the axes of the section where they have no frame."""
        return self

    @abstractmethod
    def _find(self, layout: Layout) -> Resolved:
        """Find the places (collective)."""

    def travel(self, configuration: Configuration, time: float) -> None:
        """Let the layout have the places of the present state at `time` (collective)."""
        return

    def slide(self, configuration: Configuration, places: Resolved) -> JetRows:
        """Return the jet ``slide`` of all places, its coordinates as `Configuration.everywhere`."""
        raise NotImplementedError

    @abstractmethod
    def rows(
        self, configuration: Configuration, places: Resolved, vertices: Ints32, jet: str
    ) -> JetRows:
        """Return the jet ``jet`` of some of the places as combinations of local coordinates.

        `places` k of them, `vertices` (k, nv) their local vertices.
        """

    def measure(self, configuration: Configuration, places: Resolved, vertices: Ints32) -> Array:
        """Return the length or area of the reference that each place stands for; see `weighs`."""
        raise NotImplementedError

    def constant(self, places: Resolved, jet: str) -> Array | None:
        """Return the reference values (k, 3) of a jet that do not follow from coordinates."""
        return places.X if jet == "value" else None

    def attached(self, places: Resolved) -> tuple[HasName, Array] | None:
        """Return the body that they are on, if it has no mesh, and their arms (k, dim) there."""
        return None

    def chosen(self, ids: Ints) -> Mask:
        """Return which of the places `ids` count; all, unless normals have to be known first."""
        return np.ones(len(ids), dtype=bool)

    def directions(self, configuration: Configuration, places: Resolved) -> Array:
        """Return the reference directions (k, s, 3) of the jets ``along0``, ``along1``, ..."""
        return np.zeros((places.size, 0, 3))

    def displacement(self, configuration: Configuration) -> Array:
        """Return the present displacements (K, 3), on every rank (collective)."""
        return configuration.evaluate(self, [("value", configuration.state)])[0]

    def position(self, configuration: Configuration) -> Array:
        """Return the present positions (K, 3), on every rank (collective)."""
        u = self.displacement(configuration)
        places = self.resolve(configuration.layout, follows=True).everywhere(configuration.comm)
        return np.asarray(places.X + u)

    def velocity(self, configuration: Configuration) -> Array:
        """Return the present velocities (K, 3), on every rank (collective)."""
        return configuration.evaluate(self, [("value", configuration.rate)])[0]

    @property
    def reference_frame(self) -> Array:
        """The axes (3, 3) in the reference configuration, columns; those of the ground if unset."""
        return np.eye(3) if self.frame is None else self.frame

    def with_axes(self: Place, axes: Array) -> Place:
        """Return this end with other axes: columns of (3, 3), in the reference configuration."""
        turned = copy.copy(self)
        turned.frame = axes
        return turned

    def __str__(self) -> str:
        return type(self).__name__


def frame_of(what: str, given: npt.ArrayLike | None) -> Array | None:
    """Return a frame (3, 3), columns orthogonal unit vectors, right-handed; None stays None.

    Raises
    ------
    ParameterError : it is none to 1e-6; what is closer is rounded to one.
    """
    if given is None:
        return None
    frame = reals(given)
    if frame.shape != (3, 3):
        raise ParameterError(
            f"{what}: a frame is a matrix (3, 3) of axes; given {label(given)}",
            asked="frame",
            given=given,
            possible=((3, 3),),
        )
    wrong = float(np.abs(frame.T @ frame - np.eye(3)).max())
    if wrong > 1e-6:
        raise ParameterError(
            f"{what}: the axes of a frame, its columns, are orthogonal unit vectors; F^T F differs "
            f"by {wrong:.2g} from the unit matrix",
            asked="frame",
            given=frame,
            possible=("orthonormal",),
        )
    if np.linalg.det(frame) < 0.0:
        raise ParameterError(
            f"{what}: the axes of its frame are left-handed: reverse one of them",
            asked="frame",
            given=frame,
            possible=("right-handed",),
        )
    u, _, v = np.linalg.svd(frame)
    return np.asarray(u @ v)


def points_of(where: str, given: npt.ArrayLike) -> Array:
    """Return points as a finite (k, 3) array."""
    points = reals(given)
    if points.shape[-1:] != (3,) or points.ndim > 2:
        raise ParameterError(
            f"{where}.at() takes a point (x, y, z) or several, shape (k, 3); given {label(given)}",
            asked="point",
            given=given,
        )
    if (np.abs(points) > LENGTHS[1]).any():
        raise ParameterError(
            f"{where}.at(): the point {label(given)} is farther than {LENGTHS[1]:g} away: "
            "lengths of models are at most that",
            asked="point",
            given=given,
        )
    return points.reshape(-1, 3)


def vector_rows(coordinate: Integers, value: Array, corner: Integers | None = None) -> JetRows:
    """Repeat rows (k, m) of a coefficient for the three components of a vector.

    `corner` (k, m); by default all are of the first vertex.
    """
    used = np.nonzero(value)
    axes = np.arange(3)
    first = np.zeros(len(used[0]), dtype=np.int32) if corner is None else corner[used]
    return JetRows(
        used[0].repeat(3),
        np.broadcast_to(axes, (len(first), 3)).ravel(),
        (coordinate[used][:, None] + axes).ravel(),
        first.repeat(3),
        value[used].repeat(3),
    )


class Ground(End):
    """Points that do not move: the places of the other end, or one given point.

    Examples
    --------
    >>> import symancf as sa
    >>> ball = sa.RigidBody.box((0.1, 0.1, 0.1), position=(0.0, 0.0, 0.0), rho=1000.0, name="ball")
    >>> sa.joints.spherical(ball.at((0.0, 0.0, 0.1)), sa.ground)
    constraint 'spherical'
    """

    def __init__(self, at: npt.ArrayLike | None = None, frame: npt.ArrayLike | None = None) -> None:
        self.point, self.anywhere = None, at is None
        self.frame = frame_of("the ground", frame)
        if at is not None:
            pair = reals(at)  # of two numbers a point of the plane z = 0
            self.point = points_of("the ground", [*pair, 0.0] if pair.shape == (2,) else at)

    def at(self, point: npt.ArrayLike, frame: npt.ArrayLike | None = None) -> Ground:
        """Return the ground at one given point, perhaps with axes (columns of `frame`)."""
        return Ground(point, frame)

    def _find(self, layout: Layout) -> Resolved:
        """Find the places."""
        X = np.zeros((0, 3)) if self.point is None else self.point
        return Resolved(X, np.zeros((len(X), 0), dtype=np.int64))

    def rows(
        self, configuration: Configuration, places: Resolved, vertices: Ints32, jet: str
    ) -> JetRows:
        """Return a jet as combinations of local coordinates; see `End.rows`."""
        return vector_rows(np.zeros((0, 1), dtype=np.int32), np.zeros((0, 1)))

    def constant(self, places: Resolved, jet: str) -> Array | None:
        """Return the constant value (k, 3) of a jet: the place, or an axis of space."""
        if jet.startswith("axis"):
            axis = self.reference_frame[:, int(jet.removeprefix("axis"))]
            return np.tile(axis, (places.size, 1))
        if jet == "angle":
            return np.zeros((places.size, 3))
        return places.X if jet == "value" else None

    def __str__(self) -> str:
        return "the ground"
