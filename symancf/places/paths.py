# SPDX-License-Identifier: BSD-3-Clause
"""Paths of threads: curves X(s) in the reference, s from 0 to 1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from ..arrays import Array, Ints, pointer
from ..errors import ParameterError
from ..runtime import jit
from ..values import arguments
from ..values.parameter import call, label, reals
from .ends import frame_of

if TYPE_CHECKING:
    import numpy.typing as npt

    #: What a user gives: a function of s, or points that straight lines join.
    Path: TypeAlias = "Callable[[Array], npt.ArrayLike] | npt.ArrayLike"


class ParametricCurve(Protocol):
    """A curve X(s) with its tangent.

    Attributes
    ----------
    corners : parameters s between 0 and 1 where the tangent jumps.
    """

    @property
    def corners(self) -> Array:
        """Where the tangent jumps."""

    def __call__(self, s: Array, /) -> Array:
        """Return the points (n, 3) at parameters (n,)."""

    def tangent(self, s: Array, /) -> Array:
        """Return dX/ds (n, 3)."""


NO_CORNERS: Array = np.zeros(0)


@dataclass(frozen=True)
class Helix:
    r"""A helix as a path: a value, a function of s in [0, 1].

    .. math:: X(s) = c + e_3\, l s + (r + \tau l s)
        (e_1 \cos\varphi + e_2 \sin\varphi), \qquad \varphi = \varphi_0 \pm 2 \pi n s

    Parameters
    ----------
    radius : r at the start [m].
    pitch, angle : one of them: the length along the axis of one turn [m], or the angle between
        the path and the axis at the radius r [degrees], :math:`\tan\alpha = 2 \pi r/\text{pitch}`.
        A pitch of 0, or an angle of 90, is a circle.
    length, turns : one of them: the length l along the axis [m], or the number n of turns.
    hand : +1 right-handed, -1 left-handed.
    start : angle of the first point from e_1 towards e_2 [degrees].
    taper : change of the radius for a unit of length along the axis [-].
    centre : c, of the circle of the first point [m].
    frame : (3, 3), columns e_1, e_2, e_3, orthogonal and right-handed; default x, y, z.

    Attributes
    ----------
    rise, coils : l [m] and n.

    Raises
    ------
    ParameterError : a number is none of these, both or none of a pair are given, the radius
        vanishes before the end, or a circle has a length, a straight line turns.

    Examples
    --------
    >>> import symancf as sa
    >>> helix = sa.Helix(0.01, angle=54.7356, length=0.1)
    >>> round(helix.coils, 3)
    2.251
    """

    radius: float
    pitch: float | None = None
    angle: float | None = None
    length: float | None = None
    turns: float | None = None
    hand: int = 1
    start: float = 0.0
    taper: float = 0.0
    centre: npt.ArrayLike = (0.0, 0.0, 0.0)
    frame: npt.ArrayLike | None = None
    rise: float = field(init=False, repr=False)
    coils: float = field(init=False, repr=False)
    _axes: Array = field(init=False, repr=False, compare=False)
    _centre: Array = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for pair in (("pitch", "angle"), ("length", "turns")):
            named = [k for k in pair if getattr(self, k) is not None]
            if len(named) != 1:
                raise ParameterError(
                    f"Helix: give one of {pair[0]} and {pair[1]}; given are "
                    f"{' and '.join(named) or 'none of them'}",
                    asked=pair[0],
                    given=[getattr(self, k) for k in pair],
                    possible=pair,
                )
        r = arguments.length("Helix: radius", self.radius)
        must = "be 1 (right-handed) or -1 (left-handed)"
        arguments.number("Helix", "hand", self.hand, must, lambda x: abs(x) == 1.0)
        arguments.number("Helix", "start", self.start)
        taper = arguments.number("Helix", "taper", self.taper)
        centre, frame = reals(self.centre), frame_of("Helix", self.frame)
        rise, coils = self._size(self._per_turn(r))
        if r + taper * rise <= 0.0:
            raise ParameterError(
                f"Helix: with taper={taper:g} its radius vanishes {-r / taper:g} from the start; "
                f"it is {rise:g} long",
                asked="taper",
                given=taper,
            )
        if centre.shape != (3,):
            raise ParameterError(
                f"Helix: centre is {label(self.centre)}: give three numbers",
                asked="centre",
                given=self.centre,
            )
        axes = np.eye(3) if frame is None else frame
        for name, value in (("rise", rise), ("coils", coils), ("_axes", axes), ("_centre", centre)):
            object.__setattr__(self, name, value)

    def _per_turn(self, radius: float) -> float:
        """Return the length of a turn along the axis; a straight line has an infinite one."""
        if self.pitch is not None:
            return arguments.number("Helix", "pitch", self.pitch, "be 0 or positive", _not_negative)
        must = "be from 0 (along the axis) to 90 degrees (around it)"
        angle = arguments.number("Helix", "angle", self.angle, must, lambda a: 0.0 <= a <= 90.0)
        if angle in (0.0, 90.0):
            return 0.0 if angle else np.inf
        return float(2.0 * np.pi * radius / np.tan(np.radians(angle)))

    def _size(self, per_turn: float) -> tuple[float, float]:
        """Return the length along the axis and the number of turns."""
        if self.length is not None:
            length = arguments.length("Helix: length", self.length)
            if per_turn == 0.0:
                raise ParameterError(
                    f"Helix: a circle (angle 90, pitch 0) has no length {length:g} along the axis; "
                    "give turns",
                    asked="length",
                    given=length,
                )
            return length, length / per_turn
        turns = arguments.positive("Helix", "turns", self.turns)
        if np.isinf(per_turn):
            raise ParameterError(
                "Helix: with angle 0 it is straight and has no turns; give length",
                asked="turns",
                given=turns,
            )
        return turns * per_turn, turns

    @property
    def corners(self) -> Array:
        """Where its tangent jumps: nowhere."""
        return NO_CORNERS

    def __call__(self, s: Array) -> Array:
        """Return the points (n, 3) at parameters (n,)."""
        return Helices([self]).evaluate(np.zeros(len(s), np.int64), np.asarray(s, dtype=float))[0]

    def tangent(self, s: Array) -> Array:
        """Return dX/ds (n, 3)."""
        return Helices([self]).evaluate(np.zeros(len(s), np.int64), np.asarray(s, dtype=float))[1]


class Helices:
    """Helices side by side: all are evaluated at once, by crossings.c."""

    def __init__(self, helices: Sequence[Helix]) -> None:
        turn = [(h.rise, 2.0 * np.pi * h.hand * h.coils, np.radians(h.start)) for h in helices]
        size = [(h.radius, h.taper) for h in helices]
        axes = [np.concatenate([h._centre, h._axes.T.ravel()]) for h in helices]
        self._table: Array = np.concatenate([axes, turn, size], axis=1)

    def evaluate(self, number: Ints, s: Array) -> tuple[Array, Array]:
        """Return X and dX/ds (n, 3) of helices (n,) at parameters (n,)."""
        library = jit.load_runtime(FilePath(__file__).with_name("crossings.c"))
        number, s = np.ascontiguousarray(number, np.int64), np.ascontiguousarray(s)
        X, t = np.empty((len(s), 3)), np.empty((len(s), 3))
        library.symancf_helices(len(s), *map(pointer, (number, s, self._table, X, t)))
        return X, t


def _not_negative(x: float) -> bool:
    return bool(0.0 <= x <= arguments.LENGTHS[1])


def braid(angle: float, n: int, *, radius: float, start: float = 0.0, **more: Any) -> list[Helix]:
    """Return the paths of a braid: n helices of each hand, evenly around the axis.

    Parameters
    ----------
    angle : between the threads and the axis [degrees].
    n : number of threads of each hand.
    radius, start, more : as of `Helix`: ``length`` or ``turns``, ``taper``, ``centre``, ``frame``.

    Returns
    -------
    2 n paths, those of the right hand first.

    Raises
    ------
    ParameterError : see `Helix`.

    Examples
    --------
    >>> import symancf as sa
    >>> len(sa.braid(30.0, 8, radius=0.01, length=0.1))
    16
    """
    n, start = arguments.integer("braid", "n", n), arguments.number("braid", "start", start)
    possible = ("length", "turns", "taper", "centre", "frame")
    for name in more:
        if name not in possible:
            raise ParameterError(
                f"braid() has no {name!r}; it takes angle, n, radius, start, {', '.join(possible)}",
                asked=name,
                given=more[name],
                possible=possible,
            )
    starts = (start + 360.0 * k / n for k in range(n))
    first = [Helix(radius, angle=angle, start=at, **more) for at in starts]
    return first + [Helix(radius, angle=angle, start=h.start, hand=-1, **more) for h in first]


class Polygon:
    """Straight lines between points (k, 3), no two of which are alike in sequence.

    Attributes
    ----------
    points, at : the corners and ends, and their share s of the length.
    """

    def __init__(self, points: Array) -> None:
        length = np.linalg.norm(np.diff(points, axis=0), axis=1)
        at = np.concatenate([[0.0], np.cumsum(length)])
        self.points, self.at = points, at / at[-1]

    @property
    def corners(self) -> Array:
        """Where its tangent jumps."""
        return np.asarray(self.at[1:-1])

    def __call__(self, s: Array) -> Array:
        """Return the points (n, 3) at parameters (n,)."""
        return Polygons([self]).evaluate(np.zeros(len(s), np.int64), s)[0]

    def tangent(self, s: Array) -> Array:
        """Return dX/ds (n, 3)."""
        return Polygons([self]).evaluate(np.zeros(len(s), np.int64), s)[1]


class Polygons:
    """Polygons side by side: all are evaluated at once."""

    def __init__(self, polygons: Sequence[Polygon]) -> None:
        sizes = [len(p.at) for p in polygons]
        self.first = np.cumsum([0, *sizes])
        self.at = np.concatenate([p.at for p in polygons])
        self.points_of = np.concatenate([p.points for p in polygons])
        self._key = self.at + 2.0 * np.repeat(np.arange(len(sizes)), sizes)

    def evaluate(self, number: Ints, s: Array) -> tuple[Array, Array]:
        """Return X and dX/ds (n, 3) of polygons (n,) at parameters (n,)."""
        side = np.searchsorted(self._key, 2.0 * number + np.clip(s, 0.0, 1.0), side="right") - 1
        side = np.clip(side, self.first[number], self.first[number + 1] - 2)
        moved = self.points_of[side + 1] - self.points_of[side]
        slope = moved / (self.at[side + 1] - self.at[side])[:, None]
        return self.points_of[side] + (s - self.at[side])[:, None] * slope, slope


STEP = 1e-4  # of differences of the fourth order, in s


@dataclass(frozen=True, eq=False)
class OwnCurve:
    """A function of the user, differentiated numerically unless it has a ``tangent``."""

    who: str
    function: Callable[[Array], Any]

    @property
    def corners(self) -> Array:
        """Where its tangent jumps: the function's ``corners``, if it has some."""
        return np.asarray(getattr(self.function, "corners", NO_CORNERS), dtype=float)

    def _called(self, what: str, function: Callable[[Array], Any], s: Array) -> Array:
        found = reals(call(self.who, function, s), finite=False)
        if found.shape != (len(s), 3) or not np.isfinite(found).all():
            why = f"of shape {found.shape}" if found.shape != (len(s), 3) else "not all finite"
            raise ParameterError(
                f"{self.who}: {what} of {label(self.function)} at s of shape ({len(s)},) are "
                f"{why}; a path is a function of s, n numbers from 0 to 1, that returns points "
                "(n, 3)",
                asked="path",
                given=found.shape,
                possible=((len(s), 3),),
            )
        return found

    def __call__(self, s: Array) -> Array:
        """Return the points (n, 3) at parameters (n,)."""
        return self._called("the points", self.function, s)

    def tangent(self, s: Array) -> Array:
        """Return dX/ds (n, 3)."""
        own = getattr(self.function, "tangent", None)
        if callable(own):
            return self._called("the tangents", own, s)
        h = np.clip(np.minimum(s, 1.0 - s) / 2.0, 1e-7, STEP)
        s = np.clip(s, 2.0 * h, 1.0 - 2.0 * h)
        at = (s + k * h for k in (-2, -1, 1, 2))
        a, b, c, d = (self._called("the points", self.function, x) for x in at)
        return np.asarray((a - 8.0 * b + 8.0 * c - d) / (12.0 * h[:, None]))


def curves_of(who: str, paths: Any) -> list[ParametricCurve]:
    """Return the curves of a path or a list of paths.

    Raises
    ------
    ParameterError : it is none; says what a path is.
    """
    several = isinstance(paths, list | tuple) and any(map(_is_path, paths))
    every: Sequence[Any] = paths if several else [paths]
    return [_curve(f"{who}, path {k}" if several else who, path) for k, path in enumerate(every)]


def _is_path(path: Any) -> bool:
    """Tell whether one of a list is a path, not a point."""
    return callable(path) or np.ndim(path) == 2


def _curve(who: str, path: Any) -> ParametricCurve:
    if isinstance(path, Helix):
        return path
    if callable(path) and not isinstance(path, type):
        return OwnCurve(who, path)
    points = reals(path)
    steps = np.diff(points, axis=0) if points.ndim == 2 else np.zeros((0, 3))
    if points.shape[1:] != (3,) or not len(steps) or not steps.any(axis=1).all():
        raise ParameterError(
            f"{who}: {label(path)} is no path; give an sa.Helix, a function of s (n numbers from "
            "0 to 1) that returns points (n, 3), or two points or more, (k, 3), no two alike in "
            "sequence, or a list of these",
            asked="path",
            given=path,
        )
    return Polygon(points)


class Curves:
    """Several curves, evaluated by their numbers; helices, and polygons, all at once."""

    def __init__(self, curves: Sequence[ParametricCurve]) -> None:
        self.curves = curves
        kinds: dict[type, list[int]] = {}
        for k, curve in enumerate(curves):
            kinds.setdefault(type(curve), []).append(k)
        self._stacks: list[tuple[Helices | Polygons, Ints]] = []
        self._within = np.full(len(curves), -1)  # number in its stack
        self._stack = np.full(len(curves), -1)
        for kind, stack in ((Helix, Helices), (Polygon, Polygons)):
            if kind in kinds:
                numbers = np.array(kinds[kind])
                every: list[Any] = [curves[k] for k in kinds[kind]]
                self._within[numbers] = np.arange(len(numbers))
                self._stack[numbers] = len(self._stacks)
                self._stacks.append((stack(every), numbers))

    def points(self, number: Ints, s: Array) -> Array:
        """Return X (n, 3) of curves (n,) at parameters (n,)."""
        return self._own(number, s, *self._stacked(number, s), points=True)[0]

    def tangents(self, number: Ints, s: Array) -> Array:
        """Return dX/ds (n, 3)."""
        return self._own(number, s, *self._stacked(number, s), tangents=True)[1]

    def evaluate(self, number: Ints, s: Array) -> tuple[Array, Array]:
        """Return both."""
        return self._own(number, s, *self._stacked(number, s), points=True, tangents=True)

    def _stacked(self, number: Ints, s: Array) -> tuple[Array, Array]:
        """Return both where they are of one of the stacks."""
        if len(self._stacks) == 1 and not self._stack.any():  # all of one kind
            return self._stacks[0][0].evaluate(number, s)
        X, t, of = np.zeros((len(s), 3)), np.zeros((len(s), 3)), self._stack[number]
        for k, (stack, _) in enumerate(self._stacks):
            rows = np.flatnonzero(of == k)
            X[rows], t[rows] = stack.evaluate(self._within[number[rows]], s[rows])
        return X, t

    def _own(
        self,
        number: Ints,
        s: Array,
        X: Array,
        t: Array,
        points: bool = False,
        tangents: bool = False,
    ) -> tuple[Array, Array]:
        """Put in what functions of the user are, those asked for."""
        if (self._stack >= 0).all():
            return X, t
        rows = np.flatnonzero(self._stack[number] < 0)
        rows = rows[np.argsort(number[rows], kind="stable")]
        for own in np.split(rows, np.flatnonzero(np.diff(number[rows])) + 1):
            if len(own):
                curve = self.curves[number[own[0]]]
                if points:
                    X[own] = curve(s[own])
                if tangents:
                    t[own] = curve.tangent(s[own])
        return X, t
