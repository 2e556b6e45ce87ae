# SPDX-License-Identifier: BSD-3-Clause
"""Gauss rules: rounded once from the exact numbers, so that generated C is the same everywhere."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from symancf_codegen.legendre import gauss_legendre


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_the_closed_forms_are_rounded_correctly(n):
    a, b = 2 * sp.sqrt(sp.Rational(6, 5)) / 7, 2 * sp.sqrt(sp.Rational(10, 7))
    p, w = sp.Rational(3, 7), 13 * sp.sqrt(70)
    pair = sp.sqrt(30) / 36
    outer = {
        1: [(0, 2)],
        2: [(1 / sp.sqrt(3), 1)],
        3: [(0, sp.Rational(8, 9)), (sp.sqrt(sp.Rational(3, 5)), sp.Rational(5, 9))],
        4: [(sp.sqrt(p - a), sp.Rational(1, 2) + pair), (sp.sqrt(p + a), sp.Rational(1, 2) - pair)],
        5: [
            (0, sp.Rational(128, 225)),
            (sp.sqrt(5 - b) / 3, (322 + w) / 900),
            (sp.sqrt(5 + b) / 3, (322 - w) / 900),
        ],
    }[n]
    exact = {float(sp.N(x, 30)): float(sp.N(weight, 30)) for x, weight in outer}
    points, weights = gauss_legendre(n)
    for x, weight in zip(points, weights, strict=True):
        assert exact[abs(x)] == weight, (x, weight)
    assert len(points) == n


@pytest.mark.parametrize("n", [6, 17, 40])
def test_rules_are_symmetric_and_exact_to_their_degree(n):
    points, weights = gauss_legendre(n)
    assert np.all(points == -points[::-1])
    assert np.all(weights == weights[::-1])
    assert np.all(np.diff(points) > 0.0)
    for power in (0, 2, n, 2 * n - 2, 2 * n - 1):
        found = sum(
            Fraction(w) * Fraction(x) ** power for x, w in zip(points, weights, strict=True)
        )
        exact = (1 + (-1) ** power) / (power + 1)
        assert abs(float(found) - exact) < 2e-16 * n, power


def test_no_points_are_an_error_and_the_shared_arrays_are_read_only():
    with pytest.raises(ValueError, match="1 point or more; 0 was asked for"):
        gauss_legendre(0)
    with pytest.raises(ValueError, match="read-only"):
        gauss_legendre(3)[1][0] = 1.0
