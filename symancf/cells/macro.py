# SPDX-License-Identifier: BSD-3-Clause
"""Macro-cells: a cell cut into triangles around an inner point, cubic on each, C1 in all.

Clough and Tocher's triangle and Fraeijs de Veubeke and Sander's quadrilateral are two cases of one
construction by Bezier points, see `net`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import factorial

import numpy as np
import sympy as sp

from symancf_codegen.declare import Rule

from ..arrays import Array
from .shape import Exponents, derivative_orders

#: Powers of the barycentric coordinates of a cubic's Bezier points, in the order used here.
CUBIC: tuple[Exponents, ...] = tuple((3 - j - k, j, k) for k in range(4) for j in range(4 - k))


def net(weights: Array) -> Array:
    r"""Return the Bezier points of cells as combinations of their vectors, (n, 6 m + 1, 4 m).

    A cell with corners V_i, i < m, in a plane is cut into triangles (V_i, V_i+1, C) by the inner
    point C = V_i + p_i (V_i-1 - V_i) + s_i (V_i+1 - V_i). Its vectors are, of each corner, the
    value and the derivatives along the edges to the next corner and to the one before, (V_i+1 -
    V_i) . grad and (V_i-1 - V_i) . grad, then of the middle of each edge the derivative towards C,
    (C - (V_i + V_i+1)/2) . grad. With the Bezier points a_i, b_i of edges, d_i on the lines to C,
    f_i in the triangles, q_i next to C and c,

    .. math:: d_i &= r_i + \tfrac13(p_i r_{i,-} + s_i r_{i,+}), \quad
        f_i = \tfrac23 M_i - \tfrac12(d_i + d_{i+1})
            + \tfrac14(r_i + 3 a_i + 3 b_i + r_{i+1}), \\
        q_i &= (1 - p_i - s_i) d_i + p_i f_{i-1} + s_i f_i.

    That is C1 for any C of a triangle, and of a quadrilateral for the point where its diagonals
    meet. Points are in the order r, a, b, d, f, q (m each), c.

    Parameters
    ----------
    weights : (n, m, 2) p_i and s_i.

    References
    ----------
    R. W. Clough and J. L. Tocher, 1965; B. Fraeijs de Veubeke, International Journal of Solids and
    Structures 4 (1968) 95-108; G. Sander, 1964.
    """
    n, m, _ = weights.shape
    one = np.broadcast_to(np.eye(4 * m), (n, 4 * m, 4 * m))
    r, after, before = (one[:, k : 3 * m : 3] for k in range(3))
    middle = one[:, 3 * m :]
    p, s = weights[..., :1], weights[..., 1:]
    following, last = np.roll(np.arange(m), -1), np.roll(np.arange(m), 1)
    a, b = r + after / 3.0, (r + before / 3.0)[:, following]
    d = r + (p * before + s * after) / 3.0
    f = 2.0 / 3.0 * middle - 0.5 * (d + d[:, following])
    f = f + 0.25 * (r + 3.0 * a + 3.0 * b + r[:, following])
    q = (1.0 - p - s) * d + p * f[:, last] + s * f
    own, back, on = 1.0 - p[:, :1] - s[:, :1], p[:, :1], s[:, :1]
    c = own * q[:, :1] + back * q[:, -1:] + on * q[:, 1:2]
    return np.concatenate([r, a, b, d, f, q, c], axis=1)


def points_of(m: int) -> tuple[tuple[int, ...], ...]:
    """Return for each triangle of a cell of m corners which Bezier points are its own."""
    points = []
    for i in range(m):
        j = (i + 1) % m
        r, a, b, d, f, q = (k * m for k in range(6))
        rows = (r + i, a + i, b + i, r + j), (d + i, f + i, d + j), (q + i, q + j), (6 * m,)
        points.append(tuple(x for row in rows for x in row))
    return tuple(points)


@dataclass(frozen=True)
class Macro:
    """A field of a macro-cell.

    Attributes
    ----------
    centre : where its triangles meet in the reference cell.

    Its coefficients are the Bezier points, of which each triangle has ten of its own; `net` makes
    them.
    """

    centre: tuple[float, float]

    nodal = ("",)

    def solve(
        self, names: tuple[str, ...], vertices: tuple[tuple[object, ...], ...]
    ) -> MacroFunctions:
        """Return the functions; see `Field.solve`."""
        at = np.array([[float(str(x)) for x in vertex] for vertex in vertices])
        m = len(at)
        matrix = np.eye(6 * m + 1)
        coefficients = np.stack([matrix[list(own)] for own in points_of(m)])
        symbols = tuple(sp.symbols(names, real=True))
        return MacroFunctions(symbols, at, np.array(self.centre), coefficients)


@dataclass(frozen=True, eq=False)
class MacroFunctions:
    """Functions that are cubic on each triangle of a macro-cell.

    Attributes
    ----------
    symbols : the coordinates.
    corners, centre : (m, 2), (2,) of the triangles.
    coefficients : (m, 10, size) their Bezier points, in the order of `CUBIC`.
    """

    symbols: tuple[sp.Symbol, ...]
    corners: Array
    centre: Array
    coefficients: Array

    exponents = ((3, 0), (0, 3))

    @property
    def size(self) -> int:
        """Number of coefficient vectors of the cell."""
        return int(self.coefficients.shape[2])

    @property
    def slots(self) -> tuple[int, ...]:
        """The coefficient vector that each function multiplies."""
        return tuple(range(self.size))

    @cached_property
    def triangles(self) -> Array:
        """Their corners (m, 3, 2)."""
        m = len(self.corners)
        ends = [[self.corners[i], self.corners[(i + 1) % m], self.centre] for i in range(m)]
        return np.array(ends)

    @cached_property
    def _barycentric(self) -> Array:
        """The coordinates as (m, 3, 3) of (1, xi, eta)."""
        ones = np.ones((len(self.corners), 3, 1))
        return np.linalg.inv(np.concatenate([ones, self.triangles], axis=2)).transpose(0, 2, 1)

    def tabulate(self, derivative: str, points: Array) -> Array:
        """Return a derivative of all functions at `points` ((nq, 2)) as (nq, size)."""
        orders = derivative_orders(derivative, tuple(s.name for s in self.symbols))
        along = [k for k, order in enumerate(orders) for _ in range(order)]
        places = np.column_stack([np.ones(len(points)), points])
        every = np.einsum("tlk,pk->ptl", self._barycentric, places)
        inside = every.min(axis=2).argmax(axis=1)
        of = every[np.arange(len(points)), inside]
        slope = self._barycentric[inside][:, :, 1:]
        values = {alpha: _bernstein(alpha, of, slope, along) for alpha in CUBIC}
        table = np.stack([values[alpha] for alpha in CUBIC], axis=1)
        return np.asarray(np.einsum("pb,pbn->pn", table, self.coefficients[inside]))

    def expressions(self, derivative: str = "") -> tuple[sp.Expr, ...]:
        """Return a derivative of all functions, each by cases of the triangles."""
        orders = derivative_orders(derivative, tuple(s.name for s in self.symbols))
        parts: list[list[sp.Expr]] = []
        cases = []
        for map_, own in zip(self._barycentric, self.coefficients, strict=True):
            rational = [[sp.nsimplify(x, rational=True, tolerance=1e-12) for x in r] for r in map_]
            b = [
                sp.expand(sum(x * s for x, s in zip(r, (1, *self.symbols), strict=True)))
                for r in rational
            ]
            basis = [
                sp.Rational(factorial(3), factorial(i) * factorial(j) * factorial(k))
                * b[0] ** i
                * b[1] ** j
                * b[2] ** k
                for i, j, k in CUBIC
            ]
            for s, order in zip(self.symbols, orders, strict=True):
                basis = [sp.diff(x, s, order) if order else x for x in basis]
            parts.append(
                [
                    sp.expand(
                        sum(
                            sp.nsimplify(c, rational=True, tolerance=1e-12) * x
                            for c, x in zip(column, basis, strict=True)
                        )
                    )
                    for column in own.T
                ]
            )
            cases.append(sp.And(*(x >= 0 for x in b)))
        return tuple(
            sp.Piecewise(*zip(column, cases, strict=True)) for column in zip(*parts, strict=True)
        )

    def composite(self, rule: Rule) -> Rule:
        """Return a rule of a triangle of side 1 on each triangle of the cell."""
        points, weights = [], []
        for corners in self.triangles:
            edges = corners[1:] - corners[0]
            points.append(corners[0] + rule.points @ edges)
            weights.append(rule.weights * abs(np.linalg.det(edges)))
        name = f"{rule.name} on each of {len(self.corners)}"
        return Rule(name, np.concatenate(points), np.concatenate(weights))


def _bernstein(alpha: Exponents, of: Array, slope: Array, along: list[int]) -> Array:
    """Return derivatives of a Bernstein polynomial at barycentric coordinates (p, 3).

    `slope` (p, 3, 2) of the coordinates; `along` : by which parameter, one after the other.
    """
    if min(alpha) < 0:
        return np.zeros(len(of))
    if along:
        rest = (
            slope[:, l, along[0]]
            * _bernstein(tuple(x - (k == l) for k, x in enumerate(alpha)), of, slope, along[1:])
            for l in range(3)
        )
        return np.asarray(sum(alpha) * sum(rest))
    count = factorial(sum(alpha)) // int(np.prod([factorial(x) for x in alpha]))
    return np.asarray(count * np.prod(of ** np.array(alpha), axis=1))
