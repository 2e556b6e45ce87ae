# SPDX-License-Identifier: BSD-3-Clause
"""Where a limit point is located on a path whose tangents are known less well than its values."""

import math
from typing import Any, cast

import numpy as np
import pytest

from symancf.solve.statics.arc import Arc, Direction, Equilibrium, PathPlane
from symancf.solve.statics.stretch import PathPoint, Stretch


class Arch:
    """A path p = 900 + c - c (s - 1)^2, c = +-1e-3, whose rates are wrong by `noise`."""

    def __init__(self, sign: float, noise: float) -> None:
        self.c, self.noise = 1e-3 * sign, noise

    def value(self, s: float) -> float:
        return 900.0 + self.c - self.c * (s - 1.0) ** 2

    def point(self, s: float) -> PathPoint:
        at = Equilibrium(np.array([s]), np.array([s]), self.value(s), 1)
        return PathPoint(at, s, self.unit(-2.0 * self.c * (s - 1.0)))

    def unit(self, rate: float) -> Direction:
        length = math.hypot(1.0, rate)
        return Direction(np.array([1.0 / length]), rate / length)

    def product(self, a: Direction, b: Direction) -> float:
        return float(a.rows @ b.rows) + a.rate * b.rate

    def correct(self, rows: Any, value: float, plane: PathPlane, radius: float) -> Equilibrium:
        s, n = float(rows[0]), plane.normal
        for _ in range(30):
            off = n.rows[0] * (s - rows[0]) + n.rate * (self.value(s) - value)
            s -= float(off / (n.rows[0] - n.rate * 2.0 * self.c * (s - 1.0)))
        self.at = self.point(s)
        return self.at.at

    def tangent(self, way: Direction) -> Direction:
        return self.unit(self.at.way.rate + self.noise)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("noise", [0.0, 1e-3, -1e-3])
def test_limit_points_are_where_the_values_have_their_extremum(sign: float, noise: float) -> None:
    arch = Arch(sign, noise)
    a, b = arch.point(-2.0), arch.point(3.0)
    found = Stretch(cast("Arc", arch), a, b).limit_point(direct=True)
    # of the rates alone it would be 0.5 away; 1e-13 of 900 over c leaves the root of 1e-7
    assert found.at.rows[0] == pytest.approx(1.0, abs=1e-3 if noise else 1e-8)
    assert found.value == pytest.approx(900.0 + arch.c, rel=1e-12)
