# SPDX-License-Identifier: BSD-3-Clause
"""Points of a followed path, and what lies between two neighbours of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...values.arrays import Array
from .arc import Direction

if TYPE_CHECKING:
    from .arc import Arc, Equilibrium


@dataclass
class Point:
    """An equilibrium of a path, the arc length there and the tangent.

    Attributes
    ----------
    negative : eigenvalues of K that are negative, behind a limit point; see `Stability`. None:
        not known.
    heading : 1 or -1, the sense in which the parameter goes on from here.
    before : at a limit point, the negative eigenvalues in front of it.
    """

    at: Equilibrium
    arc: float
    way: Direction
    negative: int | None = None
    heading: int = 0
    limit: bool = False
    before: int | None = None

    def __post_init__(self) -> None:
        self.heading = self.heading or (-1 if self.way.rate < 0.0 else 1)

    @property
    def value(self) -> float:
        """Of the parameter."""
        return self.at.value

    @property
    def unstable(self) -> int | None:
        """Directions in which the equilibrium is unstable; None: not known."""
        known = [n for n in (self.negative, self.before) if n is not None]
        return min(known, default=None)

    def turned(self) -> Point:
        """Return the point with the path going back; on both sides of a limit point p falls."""
        way = Direction(-self.way.rows, -self.way.rate)
        if not self.limit:
            return Point(self.at, self.arc, way, self.negative, -self.heading)
        return Point(self.at, self.arc, way, self.before, self.heading, True, self.negative)


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

    def __init__(self, arc: Arc, a: Point, b: Point, base: Point | None = None) -> None:
        self.arc, self.base = arc, base or a
        self.ends = [(self.distance(a.at), a), (self.distance(b.at), b)]

    @property
    def length(self) -> float:
        """Distance of the ends."""
        return self.ends[1][0] - self.ends[0][0]

    def part(self, a: Point, b: Point) -> Stretch:
        """Return the path between two points of this stretch."""
        return Stretch(self.arc, a, b, self.base)

    def distance(self, at: Equilibrium) -> float:
        """Return the distance of an equilibrium from the plane across the first point."""
        a = self.base
        return self.arc.product(a.way, Direction(at.rows - a.at.rows, at.value - a.value))

    def _slopes(self) -> tuple[float, list[Direction]]:
        """Return the length, and the changes with the share of it at both ends."""
        (low, a), (high, b) = self.ends
        slopes = []
        for point in (a, b):
            factor = (high - low) / self.arc.product(self.base.way, point.way)
            slopes.append(Direction(factor * point.way.rows, factor * point.way.rate))
        return high - low, slopes

    def predict(self, x: float) -> tuple[Array, float]:
        """Return the unknowns and the parameter at the share x of the stretch."""
        (_, a), (_, b) = self.ends
        _, (s, t) = self._slopes()
        (h, k, l, m), _ = _hermite(x)
        rows = h * a.at.rows + k * b.at.rows + l * s.rows + m * t.rows
        return rows, h * a.value + k * b.value + l * s.rate + m * t.rate

    def tangent(self, x: float) -> Direction:
        """Return the direction at the share x of the stretch."""
        (_, a), (_, b) = self.ends
        _, (s, t) = self._slopes()
        _, (h, k, l, m) = _hermite(x)
        rows = h * a.at.rows + k * b.at.rows + l * s.rows + m * t.rows
        rate = h * a.value + k * b.value + l * s.rate + m * t.rate
        return self.arc.unit(Direction(rows, rate), self.base.way)

    def root(self, value: float | None) -> float:
        """Return the share at which the predicted parameter is `value`, or None: stationary."""
        (_, a), (_, b) = self.ends
        _, (s, t) = self._slopes()

        def lacks(x: float) -> float:
            h, dh = _hermite(x)
            if value is None:
                return dh[0] * a.value + dh[1] * b.value + dh[2] * s.rate + dh[3] * t.rate
            return h[0] * a.value + h[1] * b.value + h[2] * s.rate + h[3] * t.rate - value

        low, high = 0.0, 1.0
        start = a.way.rate if value is None else a.value - value
        for _ in range(60):
            middle = (low + high) / 2.0
            low, high = (middle, high) if lacks(middle) * start > 0.0 else (low, middle)
        return (low + high) / 2.0

    def halve(self, point: Point, first: bool) -> None:
        """Let a point between take the place of the first or the last one."""
        self.ends[0 if first else 1] = (self.distance(point.at), point)
