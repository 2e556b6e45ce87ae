# SPDX-License-Identifier: BSD-3-Clause
"""Points of a followed path, and what lies between two neighbours of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array
from .arc import Direction, PathPlane

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .arc import Arc, Equilibrium

#: of a step: how near limit points are located, directly and by Krylov's
LIMIT_POINT_TOLERANCE = (1e-9, 1e-5)
# methods; the error of the parameter there is of second order
EQUAL_PARAMETERS = (1e-13, 1e-9)  # of the parameter: values that differ by less are one


@dataclass
class PathPoint:
    """An equilibrium of a path, the arc length there and the tangent.

    Attributes
    ----------
    negative : eigenvalues of K that are negative, behind a limit point; see `Stability`. None:
        not known.
    heading : 1 or -1, the sense in which the parameter goes on from here.
    before : at a limit point, the negative eigenvalues in front of it.
    corner : whether the path turns sharply here; `way` is that behind it.
    """

    at: Equilibrium
    arc: float
    way: Direction
    negative: int | None = None
    heading: int = 0
    limit: bool = False
    before: int | None = None
    corner: bool = False

    def __post_init__(self) -> None:
        self.heading = self.heading or (-1 if self.way.rate < 0.0 else 1)

    @property
    def value(self) -> float:
        """Of the parameter."""
        return self.at.value

    @property
    def unstable(self) -> int | None:
        """Directions in which the equilibrium is unstable; None: not known."""
        directions = [n for n in (self.negative, self.before) if n is not None]
        return min(directions, default=None)

    def turned(self) -> PathPoint:
        """Return the point with the path going back; on both sides of a limit point p falls."""
        way = Direction(-self.way.rows, -self.way.rate)
        if not self.limit:
            return PathPoint(self.at, self.arc, way, self.negative, -self.heading)
        return PathPoint(self.at, self.arc, way, self.before, self.heading, True, self.negative)


def _hermite(x: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the cubics of Hermite on [0, 1] and their derivatives: values, then slopes."""
    y = 1.0 - x
    value = (y * y * (1 + 2 * x), x * x * (3 - 2 * x), x * y * y, -x * x * y)
    return value, (-6 * x * y, 6 * x * y, y * (1 - 3 * x), x * (3 * x - 2))


class Stretch:
    """The path between two neighbouring points, by its distance from planes across the first.

    Attributes
    ----------
    ends : distance, point; in between the path is predicted by cubics of Hermite.
    """

    def __init__(self, arc: Arc, a: PathPoint, b: PathPoint, base: PathPoint | None = None) -> None:
        self.arc, self.base = arc, base or a
        self.ends = [(self.distance(a.at), a), (self.distance(b.at), b)]

    @property
    def length(self) -> float:
        """Distance of the ends."""
        return self.ends[1][0] - self.ends[0][0]

    def part(self, a: PathPoint, b: PathPoint) -> Stretch:
        """Return the path between two points of this stretch."""
        return Stretch(self.arc, a, b, self.base)

    def displacement(self) -> float:
        """Return the larger displacement of the ends; see `Arc.displacement`."""
        return max(self.arc.displacement(point.at.rows) for _, point in self.ends)

    def distance(self, at: Equilibrium) -> float:
        """Return the distance of an equilibrium from the plane across the first point."""
        a = self.base
        return self.arc.product(a.way, Direction(at.rows - a.at.rows, at.value - a.value))

    def _slopes(self) -> list[Direction]:
        """Return the changes with the share of the length at both ends."""
        slopes = []
        for _, point in self.ends:
            factor = self.length / self.arc.product(self.base.way, point.way)
            slopes.append(Direction(factor * point.way.rows, factor * point.way.rate))
        return slopes

    def _combined(self, weights: tuple[float, ...]) -> tuple[Array, float]:
        """Return unknowns and parameter of a cubic, or their derivatives, by those at the ends."""
        (_, a), (_, b) = self.ends
        (h, k, l, m), (s, t) = weights, self._slopes()
        rows = h * a.at.rows + k * b.at.rows + l * s.rows + m * t.rows
        return rows, h * a.value + k * b.value + l * s.rate + m * t.rate

    def predict(self, x: float) -> tuple[Array, float]:
        """Return the unknowns and the parameter at the share x of the stretch."""
        return self._combined(_hermite(x)[0])

    def tangent(self, x: float) -> Direction:
        """Return the direction at the share x of the stretch."""
        return self.arc.unit(Direction(*self._combined(_hermite(x)[1])), self.base.way)

    def root(self, value: float | None) -> float:
        """Return the share at which the predicted parameter is `value`, or None: stationary."""
        (_, a), (_, b) = self.ends
        s, t = self._slopes()

        def lacks(x: float) -> float:
            cubics, derivatives = _hermite(x)
            h, k, l, m = derivatives if value is None else cubics
            sum_of_terms = h * a.value + k * b.value + l * s.rate + m * t.rate
            return sum_of_terms if value is None else sum_of_terms - value

        low, high = 0.0, 1.0
        start = a.way.rate if value is None else a.value - value
        for _ in range(60):
            middle = (low + high) / 2.0
            low, high = (middle, high) if lacks(middle) * start > 0.0 else (low, middle)
        return (low + high) / 2.0

    def halve(self, point: PathPoint, first: bool) -> None:
        """Let a point between take the place of the first or the last one."""
        self.ends[0 if first else 1] = (self.distance(point.at), point)

    def point(self, share: float, exactly: float | None = None) -> PathPoint | None:
        """Return the point at a share, or near it where p is `exactly` a value."""
        arc, a = self.arc, self.base
        rows, value = self.predict(share)
        plane = PathPlane(rows, value, a.way, 0.0)
        if exactly is not None:
            value = exactly
            plane = PathPlane(rows, exactly, Direction(np.zeros_like(rows), 1.0), 0.0)
        at = arc.correct(rows, value, plane, radius=2.0 * self.length)
        if at is None:
            return None
        s = self.distance(at)
        on = arc.tangent(a.way)
        if on is None:  # singular: a limit point
            return PathPoint(at, a.arc + s, Direction(a.way.rows, 0.0))
        return PathPoint(at, a.arc + s, on)

    def predicted(self, value: float) -> PathPoint | None:
        """Return the point at which p is `value` as predicted, if that is in equilibrium.

        At a bifurcation, where K is singular, Newton's method finds nothing.
        """
        share = self.root(value)
        at = self.arc.balanced(self.predict(share)[0], value, self.displacement())
        if at is None:
            return None
        return PathPoint(at, self.base.arc + self.distance(at), self.tangent(share))

    def limit_point(self, direct: bool) -> PathPoint:
        """Return the limit point between the ends; `direct` tells how systems are solved."""
        points = [point for _, point in self.ends]
        near = LIMIT_POINT_TOLERANCE[0 if direct else 1] * self.length
        best = min(points, key=lambda point: abs(point.way.rate))
        for attempt in range(40):
            (low, first), (high, last) = self.ends
            share = self.root(None) if attempt % 8 < 6 else 0.5
            limit = self.point(min(max(share, 1e-6), 1.0 - 1e-6))
            if limit is None:
                break
            points.append(limit)
            best = limit
            rates = abs(first.way.rate) + abs(last.way.rate)
            if abs(limit.way.rate) * (high - low) <= near * rates:
                break
            self.halve(limit, first=limit.way.rate * first.way.rate > 0.0)
        best = self._highest(best, points, EQUAL_PARAMETERS[0 if direct else 1])
        best.at.iterations = sum(point.at.iterations for point in points[2:])
        best.at.linear = sum(point.at.linear for point in points[2:])
        return best

    def _highest(self, best: PathPoint, points: list[PathPoint], flat: float) -> PathPoint:
        """Return the point where the values, not the tangents, have their extremum.

        It is the `best` one, unless round-off of the tangents is larger than what they tell: then
        another of the points is above it. Those looked at then are added.
        """
        sign, size = points[0].heading, max(abs(point.value) for point in points)
        for _ in range(10 if len(points) > 2 else 0):
            top = max(points[2:], key=lambda point: sign * point.value)
            if sign * (top.value - best.value) <= flat * size:
                break
            best = top
            highest = self._peak(points, top)
            if highest is None:
                break
            points.append(highest)
        return best

    def _peak(self, points: Sequence[PathPoint], top: PathPoint) -> PathPoint | None:
        """Return the point at the extremum of the parabola through the values at a point.

        And at its two neighbours. Round-off moves an extremum of values by the root of itself,
        that of tangents by itself, but these may have much more of it.
        """
        middle, gap = self.distance(top.at), 1e-9 * self.length
        places = [(self.distance(point.at), point) for point in points]
        before = [place for place in places if place[0] < middle - gap]
        behind = [place for place in places if place[0] > middle + gap]
        if not before or not behind:
            return None
        (low, a), (high, b) = max(before, key=lambda p: p[0]), min(behind, key=lambda p: p[0])
        rise, fall = (top.value - a.value) / (middle - low), (b.value - top.value) / (high - middle)
        if rise == fall:
            return None
        place = (low + middle) / 2.0 + (high - low) / 2.0 * rise / (rise - fall)
        around = Stretch(self.arc, a, b, self.base)
        return around.point(min(max((place - low) / (high - low), 1e-6), 1.0 - 1e-6))
