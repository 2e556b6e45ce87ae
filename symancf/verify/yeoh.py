# SPDX-License-Identifier: BSD-3-Clause
"""Homogeneous states of compressible Yeoh rubber from one scalar equation each.

Written in principal stretches, without the package, so that it can serve as its reference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scipy.optimize import brentq

if TYPE_CHECKING:
    from collections.abc import Callable


class Yeoh:
    """W = C10 y + C20 y^2 + C30 y^3 + k/2 (J - 1)^2, y = J^(-2/3) I1 - 3.

    With W' = dW/dy the nominal stress along axis i is
    P_i = 2 W' J^(-2/3) (l_i - I1/(3 l_i)) + k (J - 1) J/l_i.
    """

    def __init__(self, C10: float, C20: float, C30: float, k: float) -> None:
        self.C10, self.C20, self.C30, self.k = C10, C20, C30, k

    def slope(self, y: float) -> float:
        """Return W' = dW/dy."""
        return self.C10 + 2.0 * self.C20 * y + 3.0 * self.C30 * y**2

    def nominal(self, axis: int, a: float, b: float, c: float) -> float:
        """Return P along an axis at the stretches a, b, c."""
        J, I1 = a * b * c, a * a + b * b + c * c
        stretch = (a, b, c)[axis]
        shape = 2.0 * self.slope(J ** (-2.0 / 3.0) * I1 - 3.0) * J ** (-2.0 / 3.0)
        return float(shape * (stretch - I1 / (3.0 * stretch)) + self.k * (J - 1.0) * J / stretch)

    def uniaxial(self, stretch: float) -> float:
        """Return P11 at free sides."""
        side = _root(lambda s: self.nominal(1, stretch, s, s), stretch**-0.5)
        return self.nominal(0, stretch, side, side)

    def equibiaxial(self, stretch: float) -> float:
        """Return P11 = P22 at free faces."""
        thin = _root(lambda s: self.nominal(2, stretch, stretch, s), stretch**-2)
        return self.nominal(0, stretch, stretch, thin)

    def pure_shear(self, stretch: float) -> tuple[float, float]:
        """Return P11 and P22 at the stretches (l, 1, free)."""
        thin = _root(lambda s: self.nominal(2, stretch, 1.0, s), 1.0 / stretch)
        return self.nominal(0, stretch, 1.0, thin), self.nominal(1, stretch, 1.0, thin)

    def simple_shear(self, gamma: float) -> float:
        """Return the Cauchy stress s12 at the shear gamma with free faces across it.

        F = [[1, gamma, 0], [0, 1, 0], [0, 0, s]]: s33 = 0 for
        s33 = 2 W' J^(-5/3) (s^2 - I1/3) + k (J - 1), and s12 = 2 W' J^(-5/3) gamma, J = s.
        """

        def shape(s: float) -> tuple[float, float]:
            I1 = 2.0 + gamma**2 + s**2
            return 2.0 * self.slope(s ** (-2.0 / 3.0) * I1 - 3.0) * s ** (-5.0 / 3.0), I1

        def across(s: float) -> float:
            factor, I1 = shape(s)
            return factor * (s**2 - I1 / 3.0) + self.k * (s - 1.0)

        return shape(_root(across, 1.0))[0] * gamma


def _root(function: Callable[[float], float], near: float) -> float:
    """Return the root of a function between 0.9 and 1.5 times its incompressible value."""
    return float(brentq(function, 0.9 * near, 1.5 * near, xtol=1e-16, rtol=1e-15))
