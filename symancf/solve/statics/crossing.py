# SPDX-License-Identifier: BSD-3-Clause
"""Bifurcations within a step of a path: where eigenvalues of the tangent change their sign."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from ...newton import ROUND_OFF_FACTOR
from ..solver import is_symmetric
from .arc import Arc, Direction, PathPlane
from .convergence import EPS
from .stretch import PathPoint, Stretch

#: of the turn within a doubtful step; else the path is looked for there, too
DOUBTFUL_TURN_COSINE = math.cos(0.1)
MAX_TURN_COSINE = math.cos(0.7)  # of the turn within a step; more may be a jump to another branch
#: of the parameter or of a shorter step: how near bifurcations are located
BIFURCATION_TOLERANCE = 1e-6
STEP_TOLERANCE = 1e-10  # of a step
#: of the distance of two points: off the curve between them by more is off the path
OFF_PATH_RATIO = 0.3
TRIAL_FRACTIONS = (0.5, 0.4, 0.6, 0.3, 0.7)  # where a point between two others is looked for


@dataclass
class Crossing:
    """A place where eigenvalues change sign: the last point before, the first one behind.

    Attributes
    ----------
    eigenvalues : how many of them, beyond that of a limit point.
    """

    before: PathPoint
    behind: PathPoint
    eigenvalues: int


@dataclass
class Passage:
    """What lies between two neighbouring points.

    Attributes
    ----------
    last : the last point known to be on the path.
    gap : None where the path goes on smoothly to the second point; else the distance of `last`
        from a point that is on another branch.
    """

    last: PathPoint
    crossings: list[Crossing] = field(default_factory=list)
    gap: float | None = None


class Crossings:
    """Looks for bifurcations between neighbouring points of a path.

    At both ends the negative eigenvalues are counted. A limit point between them changes the
    number by one, and a smooth path has no other reason than bifurcations to change it more.
    Their places are found by bisection, however many eigenvalues cross. On the way the path is
    the cubic between its points as long as that is in equilibrium: beside a bifurcation Newton's
    method may lead onto the other branch, or nowhere. Where it is not, Newton's method tells
    whether an imperfect structure has turned sharply and the second point is on another branch.

    Attributes
    ----------
    to : the value of the parameter at which the path is to end; nothing is looked for behind it,
        unless it is as near as bifurcations are located.
    """

    def __init__(self, arc: Arc) -> None:
        self.arc = arc
        self.to: float | None = None
        self._start, self._moved = 0.0, 0.0

    def excess(self, a: PathPoint, b: PathPoint) -> int:
        """Return how many eigenvalues change sign between two points beside a limit point's.

        From the sign of a determinant: whether their number is odd.
        """
        if a.negative is None or b.negative is None:
            return 0
        turned, change = a.heading != b.heading, b.negative - a.negative
        if self.arc.stability.how == "determinant":
            return (change + turned) % 2
        return abs(abs(change) - turned)

    def between(self, a: PathPoint, b: PathPoint, doubtful: bool) -> Passage:
        """Find them; the system is at b when this is called (collective).

        `doubtful`: where the path turns look for it within the step, too, whatever the numbers.
        """
        if not (self.excess(a, b) and self._sure(a, b)) and not doubtful:
            return Passage(b)
        self.arc.floor, self._start = self.arc.scale, a.value
        try:
            full = Stretch(self.arc, a, b)
            self._moved = full.displacement()
            return self._search(full, full.length, doubtful)
        finally:
            self.arc.floor = 0.0 * self.arc.scale

    def place(self, crossing: Crossing) -> PathPoint:
        r"""Return where the eigenvalue of a crossing is zero (collective).

        With the vector x in which the tangent is nearly singular :math:`x \cdot K x` is the
        eigenvalue at both points, but for the square of their distance, and linear between them.
        Beside it, by 1e-11 of the parameter. Of several eigenvalues, unsymmetric tangents and
        iterative solvers: the first point.
        """
        arc, a, b = self.arc, crossing.before, crossing.behind
        solver = arc.solver
        if crossing.eigenvalues != 1 or not solver.linear.direct or not is_symmetric(arc.system):
            return a
        arc.put(a.at)
        x = arc.softest()
        if x is None:
            return a
        first = arc.stiffness(x)
        arc.put(b.at)
        change = arc.stiffness(x) - first
        share = -first / change if change else np.nan
        if not -1.0 <= share <= 2.0:  # round-off
            return a
        share += 1e-5  # no direct solver bears a tangent that is singular to the last digit
        state, rows = (
            p + share * (q - p) for p, q in ((a.at.state, b.at.state), (a.at.rows, b.at.rows))
        )
        at = replace(a.at, state=state, rows=rows, value=a.value + share * (b.value - a.value))
        return replace(a, at=at, arc=a.arc + share * (b.arc - a.arc))

    def _sure(self, a: PathPoint, b: PathPoint) -> bool:
        """Tell whether the numbers differ by more than eigenvalues that are zero to round-off."""
        if self.arc.stability.how == "pivots" and a.negative != b.negative:
            more = (b.negative or 0) - (a.negative or 0)
            shift = math.copysign(ROUND_OFF_FACTOR * EPS, more)  # of the diagonal
            number = self.arc.negative(shift)
            b.negative = b.negative if number is None else number
        return self.excess(a, b) > 0

    def _search(self, stretch: Stretch, full: float, doubtful: bool) -> Passage:
        (_, a), (_, b) = stretch.ends
        number, turn = self.excess(a, b), self.arc.product(a.way, b.way)
        if not number and (turn > DOUBTFUL_TURN_COSINE or not doubtful):
            return Passage(b)
        fine = self._fine(a, b, full)
        way = 0.0 if self.to is None else self.to - self._start
        if way and math.copysign(1.0, way) * (a.value - self._start) > abs(way) + fine:
            return Passage(b)
        if turn < MAX_TURN_COSINE:
            return Passage(a, gap=stretch.length)
        if stretch.length <= fine:
            return Passage(b, [Crossing(a, b, number)] if number else [])
        middle = self._middle(stretch)
        if middle is None:
            return Passage(a, gap=stretch.length)
        passage = self._search(stretch.part(a, middle), full, doubtful)
        if passage.gap is None:
            rest = self._search(stretch.part(middle, b), full, doubtful)
            crossings = self._joined(passage.crossings + rest.crossings, full)
            passage = Passage(rest.last, crossings, rest.gap)
        return passage

    @staticmethod
    def _fine(a: PathPoint, b: PathPoint, full: float) -> float:
        """Return how near to each other bifurcations between two points are one."""
        return max(
            BIFURCATION_TOLERANCE * min(full, max(abs(a.value), abs(b.value))),
            STEP_TOLERANCE * full,
        )

    def _joined(self, crossings: list[Crossing], full: float) -> list[Crossing]:
        """Let neighbouring crossings be one, at the point between them.

        Eigenvalues are zero there, and round-off decides which of them count as negative.
        """
        joined: list[Crossing] = []
        for crossing in crossings:
            last = joined[-1] if joined else None
            if last and last.behind is crossing.before:
                a, b = last.before, crossing.behind
                if b.arc - a.arc <= 2.0 * self._fine(a, b, full):
                    joined.pop()
                    middle = replace(crossing.before, negative=a.negative)
                    crossing = Crossing(middle, b, self.excess(a, b))
            if crossing.eigenvalues:
                joined.append(crossing)
        return joined

    def _middle(self, stretch: Stretch) -> PathPoint | None:
        """Return a point between the ends of a stretch, None where the path turns (collective)."""
        arc, base = self.arc, stretch.base
        for share in TRIAL_FRACTIONS:
            rows, value = stretch.predict(share)
            way = stretch.tangent(share)
            at = arc.balanced(rows, value, self._moved)
            if at is not None:
                if not arc.linearize():
                    continue
            else:
                plane = PathPlane(rows, value, base.way, 0.0)
                at = arc.correct(rows, value, plane, radius=stretch.length)
                if at is None:
                    continue
                off = arc.norm(Direction(at.rows - rows, at.value - value))
                tangent = arc.tangent(way)
                if off > OFF_PATH_RATIO * stretch.length or (
                    tangent and arc.product(tangent, way) < MAX_TURN_COSINE
                ):
                    continue
                way = tangent or way
            number = arc.negative()
            if number is not None or arc.stability.how == "none":
                return PathPoint(at, base.arc + stretch.distance(at), way, number)
        return None
