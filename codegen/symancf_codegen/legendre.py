# SPDX-License-Identifier: BSD-3-Clause
"""Gauss rules, the same to the last digit on every machine: generated C contains them."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from functools import lru_cache

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

DIGITS = 40  # of the arithmetic: more than twice those of a double
CONVERGED = Decimal("1e-25")  # Newton's last step; the next one would be its square


@lru_cache(maxsize=64)
def gauss_legendre(n: int) -> tuple[Array, Array]:
    r"""Return the n Gauss points and weights of [-1, 1], exact to degree 2n - 1; read-only.

    The points are the zeros of Legendre's polynomial :math:`P_n`, the weights
    :math:`2 / ((1 - x^2) P_n'(x)^2)`. Both are found by Newton's method in decimals and rounded
    once to doubles, so that they depend neither on NumPy nor on LAPACK, whose eigenvalues differ
    in the last digit from version to version. Points are symmetric about 0 exactly.

    Raises
    ------
    ValueError : if `n` is not positive.
    """
    if n < 1:
        raise ValueError(f"a Gauss rule has 1 point or more; {n} was asked for")
    points, weights = np.zeros(n), np.zeros(n)
    with localcontext() as context:
        context.prec = DIGITS
        for i in range((n + 1) // 2):
            x, slope = _zero(n, i)
            points[i], points[n - 1 - i] = -float(x), float(x)
            weights[i] = weights[n - 1 - i] = float(2 / ((1 - x * x) * slope * slope))
    points.setflags(write=False)
    weights.setflags(write=False)
    return points, weights


def _zero(n: int, i: int) -> tuple[Decimal, Decimal]:
    """Return the i-th largest zero of P_n and the derivative there."""
    if 2 * i + 1 == n:  # the middle one of an odd number
        return Decimal(0), _legendre(n, Decimal(0))[1]
    x = Decimal(math.cos(math.pi * (i + 0.75) / (n + 0.5)))
    while True:
        value, slope = _legendre(n, x)
        step = value / slope
        x -= step
        if abs(step) < CONVERGED:
            return x, _legendre(n, x)[1]


def _legendre(n: int, x: Decimal) -> tuple[Decimal, Decimal]:
    """Return P_n and its derivative by the recurrence of three terms, at |x| < 1."""
    before, value = Decimal(1), x
    for k in range(2, n + 1):
        before, value = value, ((2 * k - 1) * x * value - (k - 1) * before) / k
    return value, n * (x * value - before) / (x * x - 1)
