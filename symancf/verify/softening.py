# SPDX-License-Identifier: BSD-3-Clause
"""Rubber that softens below its largest energy so far (Mullins): loops in closed form."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from .. import energies
from .case import Number, case
from .relaxation import YEOH, Cube

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..arrays import Array

R, M, BETA = 1.5, 0.05, 0.2
FILLED = energies.ogden_roxburgh(energies.yeoh(), r=R, m=M, beta=BETA)

#: Stretches that are reached one after the other, in steps of a quarter of each way.
STRETCHES = (1.0, 1.5, 1.0, 1.3, 2.2, 1.0)


def stretch(t: float) -> float:
    """Return the stretch of a bar at a time."""
    return float(np.interp(t, range(len(STRETCHES)), STRETCHES))


def drawn(t: float) -> Array:
    """Return H of a bar that keeps its volume."""
    x = stretch(t)
    return np.diag([x, x**-0.5, x**-0.5]) - np.eye(3)


def energy(x: float) -> tuple[float, float]:
    """Return Yeoh's energy of a bar that keeps its volume, and the nominal stress."""
    y = x**2 + 2 / x - 3
    slope = YEOH["C10"] + 2 * YEOH["C20"] * y
    return YEOH["C10"] * y + YEOH["C20"] * y**2, 2 * slope * (x - x**-2)


def integral(u: float, s: float) -> float:
    """Return the integral of erf(x/s) from 0 to u, by quadrature."""
    from scipy.integrate import quad

    return float(quad(lambda x: math.erf(x / s), 0.0, u, epsabs=1e-15, epsrel=1e-13)[0])


@case("C45_mullins_loop", "closed form (R. W. Ogden, D. G. Roxburgh 1999), quadrature")
def loop() -> Iterator[Number]:
    """Loops of a bar of rubber that softens: stress, energy got back, energy dissipated."""
    cube, largest, worst = Cube(drawn, FILLED, **YEOH), 0.0, 0.0
    for t in np.arange(1, 4 * len(STRETCHES) - 3) / 4:
        cube.problem.solve(to=float(t), step=0.25)
        x = stretch(float(t))
        W, first = energy(x)
        largest = max(largest, W)
        s = M + BETA * largest
        eta = 1 - math.erf((largest - W) / s) / R
        P = cube.stress()
        nominal = P[0, 0] - P[1, 1] * x**-1.5  # without the pressure
        worst = max(worst, abs(nominal - eta * first))
        if t % 1 in (0.0, 0.5):
            at = f"t = {t:g}, stretch {x:g}"
            got = W - (integral(largest, s) - integral(largest - W, s)) / R
            yield Number(f"nominal stress, {at}", nominal, eta * first, 1e-12, 1.0)
            yield Number(f"energy got back, {at}", cube.system.strain_energy(), got, 1e-12, 1.0)
            lost = integral(largest, s) / R
            yield Number(f"energy dissipated, {at}", cube.dissipated(), lost, 1e-12, 1.0)
    yield Number("largest error of the nominal stress on the way", worst, 0.0, 1e-12)
