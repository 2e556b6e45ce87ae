# SPDX-License-Identifier: BSD-3-Clause
"""Pulleys that tendons run over, and drums that they wind on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..bodies.natural import RigidBody
from ..bodies.natural.body import RigidPoint
from ..bodies.plane import PlanarBody, PlanarPoint
from ..bodies.plane.body import rotation
from ..errors import ConstraintError, ParameterError
from ..places.ends import End, Ground, require_place
from ..values.parameter import label, reals, unit_vector

if TYPE_CHECKING:
    from ..assembly.configuration import Configuration

OUT_OF_PLANE = 5.0  # degrees: a cord that leaves the plane of a pulley by more is refused
FAR_TURN = 2.0  # rad: a step that turns a cord's direction more is cut
NEAR_TURN = 0.5  # rad: a turn after which angles are counted from there
LEAST_WRAP = 1e-9  # rad: less is round-off


@dataclass(frozen=True)
class Pulley:
    """A place of a tendon with a radius; see `pulley` and `drum`."""

    place: End
    radius: float
    bearing: tuple[float, float] | None
    turns: float
    grips: bool
    what: str = "pulley"

    offset = (0.0, 0.0)

    @property
    def turns_on_pin(self) -> bool:
        """Whether it is a wheel on a pin."""
        return self.bearing is not None

    @property
    def pin(self) -> float:
        """Friction of the pin, mu_b r_b / R."""
        mu, r = self.bearing or (0.0, 0.0)
        return mu * r / self.radius


def pulley(
    place: Any,
    *,
    radius: float,
    axis: npt.ArrayLike | None = None,
    bearing: tuple[float, float] | None = None,
    turns: int = 0,
    grips: bool = False,
) -> Pulley:
    r"""Return a place for a `Tendon` that runs over a circle, right-handed about its axis.

    The cord is straight between the tangent points of two pulleys, at the distance
    :math:`\sqrt{D^2 - (R_a \mp R_b)^2}` of centres at the distance D, and lies on the arc
    R times the angle of wrap. Its forces act on the body: the resultant at the centre, and the
    moment (T_2 - T_1) R about the axis.

    Parameters
    ----------
    place : of the centre: ``body.at(point)`` of a `RigidBody` or `PlanarBody`,
        ``sa.ground.at(point)``, or a body, for its centre of mass.
    radius : R [m].
    axis : of the pulley in the reference (3,); default: the third axis of the place. The cord
        turns right-handed about it, from the start of the tendon to its end: minus that for the
        other way round.
    bearing : (mu_b, r_b) of a wheel that turns on a pin of the radius r_b [m] without mass of its
        own: it stands still while :math:`|T_2 - T_1| R \le \mu_b r_b |\mathbf T_2 - \mathbf T_1|`,
        with the resultant of both sides. ``(0, 0)``: it turns freely. None: it is a part of the
        body, over which the cord slides, with the tendon's ``mu`` and the angle of wrap.
    turns : full turns of the cord about it in the reference, beside the angle of wrap.
    grips : the cord does not slide on the body, which turns with it: a wheel with inertia.

    Raises
    ------
    ConstraintError : the place is none, or is on what bends.
    ParameterError : a number is not what it can be.

    Examples
    --------
    >>> import symancf as sa
    >>> load = sa.PointMass(1.0, (-0.1, 0.0, -1.0))
    >>> wheel = sa.pulley(sa.ground.at((0.0, 0.0, 0.0)), radius=0.1, axis=(0, 1, 0),
    ...                   bearing=(0.1, 5e-3))
    >>> cord = sa.Tendon([load.centre, wheel, sa.ground.at((0.1, 0.0, -1.0))], EA=1e3)
    """
    number = reals(turns)
    if number.shape != () or number < 0 or number % 1:
        raise ParameterError(
            f"pulley: turns is {label(turns)}: give 0, 1, 2, ... full turns", asked="turns",
            given=turns,
        )  # fmt: skip
    pin = reals((0.0, 0.0) if bearing is None else bearing)
    if pin.shape != (2,) or (pin < 0.0).any():
        raise ParameterError(
            f"pulley: bearing is {label(bearing)}: give (mu, radius of the pin [m])",
            asked="bearing",
            given=bearing,
        )
    if bearing is not None and grips:
        raise ParameterError(
            "pulley: with bearing= it turns on a body, with grips= it is one, and a joint has its "
            "bearing: give one of them",
            asked="grips",
            given=grips,
            possible=("bearing", "grips"),
        )
    where, R = _placed("pulley", place, axis), _radius("pulley", radius)
    on_pin = None if bearing is None else (float(pin[0]), float(pin[1]))
    if on_pin is not None and not on_pin[0] * on_pin[1] < R:
        raise ParameterError(
            f"pulley: bearing is {label(bearing)}: mu_b r_b must be less than the radius {R:g}",
            asked="bearing",
            given=bearing,
        )
    return Pulley(where, R, on_pin, float(number), bool(grips))


def drum(
    place: Any, *, radius: float, axis: npt.ArrayLike | None = None, turns: float = 0.0
) -> Pulley:
    r"""Return a place for an end of a `Tendon` that is wound on a body: on a circle about its axis.

    Which way the cord lies on it is as for a `pulley`. At the start of a tendon it unwinds as the
    body turns right-handed about the axis, at the end it winds up; what is wound is R times the
    angle. Its force acts on the body with the arm R.

    Parameters
    ----------
    place, radius, axis : as of a `pulley`.
    turns : that are wound in the reference.

    Raises
    ------
    ConstraintError, ParameterError : as of a `pulley`.

    Examples
    --------
    >>> import symancf as sa
    >>> roll = sa.RigidBody.cylinder(0.1, 0.2, (0, 0, 1), rho=1e3, name="roll")
    >>> load = sa.PointMass(1.0, (0.1, 0.0, 0.0))
    >>> cord = sa.Tendon([load.centre, sa.drum(roll, radius=0.1, axis=(0, -1, 0))], EA=1e3)
    """
    number = reals(turns)
    if number.shape != () or number < 0.0:
        raise ParameterError(
            f"drum: turns is {label(turns)}: give a number that is not negative",
            asked="turns",
            given=turns,
        )
    where, R = _placed("drum", place, axis), _radius("drum", radius)
    return Pulley(where, R, None, float(number), True, "drum")


def _radius(what: str, given: Any) -> float:
    value = reals(given)
    if value.shape != () or not value > 0.0:
        raise ParameterError(
            f"{what}: radius is {label(given)}: give a positive number [m]",
            asked="radius",
            given=given,
        )
    return float(value)


def _placed(what: str, on: Any, axis: npt.ArrayLike | None) -> End:
    """Return the one place of a pulley, whose third axis is its own."""
    given: Any = on
    if isinstance(on, RigidBody):
        given = on.centre
    elif isinstance(on, PlanarBody):
        given = on.at(on.centre)
    require_place(what, given)
    place: End = given
    rigid = isinstance(place, RigidPoint | PlanarPoint | Ground)
    at = place.point if isinstance(place, Ground) else getattr(place, "X", None)
    if not rigid or at is None or len(at) != 1:
        raise ConstraintError(
            f"{what}: {place} is not one point of a rigid or planar body or of the ground: give "
            "body.at(point) or sa.ground.at(point)",
            asked="place",
            given=str(place),
        )
    if axis is not None:
        e3 = unit_vector(f"{what}: axis", axis)
        e1 = np.cross(np.eye(3)[int(np.argmin(np.abs(e3)))], e3)
        e1 /= np.linalg.norm(e1)
        place = place.with_axes(np.stack([e1, np.cross(e3, e1), e3], axis=1))
    if isinstance(place, PlanarPoint) and abs(place.reference_frame[2, 2]) < 1.0 - 1e-9:
        raise ConstraintError(
            f"{what} on {place}: its axis is z or -z, as of all that turns in the plane",
            asked="axis",
            given=axis,
            possible=((0, 0, 1), (0, 0, -1)),
        )
    return place


class Tangents(NamedTuple):
    """Segments of a cord over circles.

    Attributes
    ----------
    free : (n,) straight lengths.
    u : (n, 3) directions.
    angles : (n, 2) of the directions about the axes of the pulleys at start and end, from e1; 0
        where there is none.
    tilt : (n, 2) by which they leave the planes of these [rad].
    turn : (n, 2) by which lines of centres have turned since `angles` were counted from there.
    """

    free: Array
    u: Array
    angles: Array
    tilt: Array
    turn: Array


class Circles:
    """The pulleys and drums of a tendon: where the cord touches them, and how often it goes round.

    Parameters
    ----------
    at : by number of the place.
    size : number of places.

    Attributes
    ----------
    radii : (places,), 0 of eyelets.
    mirrored : (segments,) 1 or -1: whether axes of successive ones are opposite.
    middle : (places,) angles at which arcs are cut in two, one half for each segment.
    """

    def __init__(self, at: dict[int, Pulley], size: int) -> None:
        self.at, self.radii = at, np.zeros(size)
        for j, one in at.items():
            self.radii[j] = one.radius
        self.mirrored, self.middle = np.ones(size - 1), np.zeros(size)

    def offsets(self) -> Array:
        """Return (segments, 2): difference of radii along the cord, about the axis of each end."""
        a, b = self.radii[:-1], self.radii[1:]
        sign = self.mirrored
        return np.stack([sign * b - a, b - sign * a], axis=1)

    def tangents(self, r: Array, axes: dict[int, Array], counted: Array) -> Tangents:
        """Return the segments between places r (n + 1, 3) with axes (3, 3) of pulleys.

        `counted` (n, 2): angles of the lines of centres of before, full turns included.
        """
        d = np.diff(r, axis=0)
        D, offsets = np.linalg.norm(d, axis=1), self.offsets()
        with np.errstate(invalid="ignore"):
            free = np.sqrt(D**2 - offsets[:, 1] ** 2)
            lean = np.arcsin(offsets / D[:, None])
        u, angles = d / D[:, None], np.zeros((len(d), 2))
        tilt, turn = np.zeros((len(d), 2)), np.zeros((len(d), 2))
        for j, A in axes.items():
            for k, side in ((j, 0), (j - 1, 1)):
                if not 0 <= k < len(d):
                    continue
                x, y, z = A.T @ d[k]
                tilt[k, side] = math.asin(max(-1.0, min(1.0, z / D[k])))
                turn[k, side] = math.remainder(math.atan2(y, x) - counted[k, side], 2 * math.pi)
                angles[k, side] = counted[k, side] + turn[k, side] - lean[k, side]
                c, s = math.cos(lean[k, side]), math.sin(lean[k, side])
                u[k] = (c * d[k] - s * np.cross(A[:, 2], d[k])) / D[k]
        return Tangents(free, u, angles, tilt, turn)

    def begin(self, what: str, r: Array, axes: dict[int, Array]) -> Array:
        """Return the angles of the lines of centres (segments, 2) in the reference.

        Raises
        ------
        ConstraintError : a pulley overlaps with what follows, or is out of plane.
        """
        counted = np.zeros((len(r) - 1, 2))
        for j in sorted(set(axes) & {k + 1 for k in axes}):
            self.mirrored[j - 1] = math.copysign(1.0, axes[j - 1][:, 2] @ axes[j][:, 2])
        first = self.tangents(r, axes, counted)
        counted += first.turn
        for j, one in self.at.items():
            wrap = 2.0 * math.pi * one.turns
            if j == 0:
                self.middle[j] = first.angles[j, 0] - wrap
                continue
            came = first.angles[j - 1, 1]
            if j == len(counted):
                self.middle[j] = came + wrap
                continue
            turned = math.remainder(first.angles[j, 0] - came, 2.0 * math.pi)
            wrap += turned if turned > -LEAST_WRAP else turned + 2.0 * math.pi
            self.middle[j] = came + wrap / 2.0
            counted[j, 0] += came + wrap - first.angles[j, 0]
        text = self.ends(self.tangents(r, axes, counted), axes)
        if text:
            raise ConstraintError(f"{what}: in the reference {text}", asked="places", given=what)
        return counted

    def arcs(self, angles: Array) -> Array:
        """Return the length (segments,) that lies on circles, of angles (segments, 2)."""
        turned = angles - np.stack([self.middle[:-1], self.middle[1:]], axis=1)
        return np.asarray(self.radii[:-1] * turned[:, 0] - self.radii[1:] * turned[:, 1])

    def wraps(self, angles: Array) -> Array:
        """Return the angles (places,) by which the cord is wrapped around, 0 at eyelets."""
        wraps = np.zeros(len(self.radii))
        for j in self.at:
            to = angles[j - 1, 1] if j > 0 else self.middle[j]
            off = angles[j, 0] if j < len(angles) else self.middle[j]
            wraps[j] = off - to
        return wraps

    def holding(self, grip: Array, wraps: Array) -> Array:
        """Return log T_2/T_1 (places,) at which places slide, of `grip`, mu theta of eyelets."""
        holding = grip.copy()
        for j, one in self.at.items():
            w, q = 1.0 - one.pin**2, 1.0 - one.pin**2 * math.cos(wraps[j])
            holding[j] = math.acosh(q / w) if one.turns_on_pin else grip[j]
        return holding

    def ends(self, tangents: Tangents, axes: dict[int, Array]) -> str:
        """Tell where the cord is no cord over pulleys any more, or ""."""
        for k in np.flatnonzero(~np.isfinite(tangents.free)).tolist():
            return f"place {k if self.radii[k] else k + 1} overlaps with the next one"
        for (k, side), tilt in np.ndenumerate(np.degrees(tangents.tilt)):
            if abs(tilt) > OUT_OF_PLANE:
                j = k + side
                return (
                    f"the {self.at[j].what} at place {j} is out of plane: segment {k} leaves its "
                    f"plane by {abs(tilt):.3g} degrees, which may be {OUT_OF_PLANE:g}; turn its "
                    "axis, or move it"
                )
        for j in sorted(set(axes) & {k + 1 for k in axes}):
            across = float(np.linalg.norm(np.cross(axes[j - 1][:, 2], axes[j][:, 2])))
            if across > math.sin(math.radians(OUT_OF_PLANE)):
                return f"the axes of the pulleys at places {j - 1} and {j} are not parallel"
        for j, wrap in enumerate(self.wraps(tangents.angles).tolist()):
            if wrap < -LEAST_WRAP:
                one = self.at[j].what
                left = "no cord is left on it" if one == "drum" else "the cord has left it"
                return f"at the {one} at place {j} {left}, its angle of wrap is {wrap:.3g} rad"
        return ""


def axes_of(place: End, configuration: Configuration) -> Array:
    """Return the present axes (3, 3) of the one place of a pulley, columns (collective)."""
    frame = place.reference_frame
    if isinstance(place, Ground):
        return frame
    if isinstance(place, PlanarPoint):
        turn = np.eye(3)
        turn[:2, :2] = rotation(turned_by(place, configuration))
        return np.asarray(turn @ frame)
    jets = [(f"axis{k}", configuration.state) for k in range(3)]
    return np.asarray(frame + np.stack([v[0] for v in configuration.evaluate(place, jets)], axis=1))


def turned_by(place: End, configuration: Configuration) -> float:
    """Return by what angle the body of a place has turned, 0 where it has no such unknown."""
    if not isinstance(place, PlanarPoint):
        return 0.0
    return float(place.body._node(configuration)[2])
