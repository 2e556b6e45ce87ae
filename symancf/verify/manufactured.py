# SPDX-License-Identifier: BSD-3-Clause
"""Manufactured motions, and the body forces that make them equilibria."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import sympy as sp

from symancf_codegen.legendre import gauss_legendre

from ..arrays import Array
from ..values.functions import REQUIRED, arguments_of, taking
from ..values.parameter import Field

Force = Callable[[Array], Array]

EA, EI = 100, 1
E, NU = 1000, sp.Rational(3, 10)


def curve(s: Any) -> list[Any]:
    """Return the manufactured curve r(s)."""
    return [s + sp.sin(sp.pi * s) / 20, s**2 / 5, sp.sin(2 * sp.pi * s) / 10]


def cable_force(s: sp.Symbol, strain: str, curvature: str) -> list[sp.Expr]:
    """Return b = (dW/dr'')'' - (dW/dr')' on the manufactured curve."""
    p, q = sp.Matrix(sp.symbols("p:3")), sp.Matrix(sp.symbols("q:3"))
    epsilon = (p.dot(p) - 1) / 2 if strain == "green" else sp.sqrt(p.dot(p)) - 1
    bend = p.cross(q)
    kappa2 = bend.dot(bend) / p.dot(p) ** (3 if curvature == "geometric" else 2)
    W = sp.Rational(EA, 2) * epsilon**2 + sp.Rational(EI, 2) * kappa2
    r = curve(s)
    motion = {x: sp.diff(f, s) for x, f in zip(p, r, strict=True)}
    motion |= {x: sp.diff(f, s, 2) for x, f in zip(q, r, strict=True)}
    third = [sp.diff(f, s, 3) for f in r]

    def along(f: sp.Expr) -> sp.Expr:
        """Return df/ds of a function of p = r', q = r'' and s."""
        slopes = [sp.diff(f, x) * y for x, y in zip((*p, *q), (*q, *third), strict=True)]
        return sp.diff(f, s) + sp.Add(*slopes)

    return [
        (along(along(sp.diff(W, y))) - along(sp.diff(W, x))).xreplace(motion)
        for x, y in zip(p, q, strict=True)
    ]


def loaded_cable(
    strain: str, force: Force, cells: int
) -> tuple[Callable[..., Any], dict[str, Any]]:
    """Return the energy of a cable on [0, 1] under a body force b(s), and its parameters.

    In each cell b is the polynomial through its values at the 5 Gauss points of the rule, so
    that the quadrature sees b itself. The coefficients are parameters, one value per cell.
    """
    gauss, _ = gauss_legendre(5)
    to_powers = np.linalg.inv(np.vander(gauss, 5, increasing=True))
    width = 1.0 / cells
    names = [f"b{a}_{k}" for a in range(3) for k in range(5)]

    def coefficient(a: int, k: int) -> Field:
        def of_cell(centroid: Array) -> Array:
            s = centroid[:, :1] + width / 2.0 * gauss
            values = force(s.ravel())[:, a].reshape(s.shape)
            return np.asarray(values @ to_powers[k])

        return Field(of_cell)

    fields: dict[str, Any] = {f"b{a}_{k}": coefficient(a, k) for a in range(3) for k in range(5)}
    fields["centre"] = Field(lambda centroid: centroid[:, 0])

    def work(X: sp.Matrix, u: sp.Matrix, centre: sp.Symbol, b: dict[str, sp.Symbol]) -> sp.Expr:
        x = (X[0] - centre) * 2 * cells
        powers = [sp.Add(*(b[f"b{a}_{k}"] * x**k for k in range(5))) for a in range(3)]
        return -sp.Add(*(f * d for f, d in zip(powers, u, strict=True)))

    def biot(epsilon: Any, kappa: Any, X: Any, u: Any, *, centre: Any, **b: Any) -> Any:
        return EA * epsilon**2 / 2 + EI * kappa**2 / 2 + work(X, u, centre, b)

    def green(
        epsilon_green: Any, kappa_geometric: Any, X: Any, u: Any, *, centre: Any, **b: Any
    ) -> Any:
        return EA * epsilon_green**2 / 2 + EI * kappa_geometric**2 / 2 + work(X, u, centre, b)

    energy: Any = green if strain == "green" else biot
    taking(energy, arguments_of(energy).positional, dict.fromkeys(("centre", *names), REQUIRED))
    return energy, fields


def solid_displacement(X: Any) -> list[Any]:
    """Return the manufactured displacement of the unit cube."""
    x, y, z = X
    return [sp.sin(sp.pi * y) * x / 10, x * z / 10, sp.cos(sp.pi * x) * y / 10]


@cache
def solid_force() -> tuple[tuple[sp.Symbol, ...], sp.Matrix, list[sp.Expr]]:
    """Return X, F and b = -Div P of St Venant-Kirchhoff on the manufactured displacement."""
    X = sp.symbols("X Y Z")
    u = sp.Matrix(solid_displacement(X))
    F = sp.eye(3) + u.jacobian(X)
    strain = (F.T * F - sp.eye(3)) / 2
    mu, lam = E / (2 * (1 + NU)), E * NU / ((1 + NU) * (1 - 2 * NU))
    P = F * (lam * strain.trace() * sp.eye(3) + 2 * mu * strain)
    return X, F, [-sp.Add(*(sp.diff(P[i, j], X[j]) for j in range(3))) for i in range(3)]


def solid_motion() -> tuple[Force, Force, Force]:
    """Return position (n, 3), gradient (n, 3, 3) and body force (n, 3) as functions of X."""
    symbols, F, b = solid_force()
    u = sp.lambdify(symbols, solid_displacement(symbols), "numpy")
    gradient = sp.lambdify(symbols, list(F), "numpy")
    force = sp.lambdify(symbols, b, "numpy")

    def stacked(values: Any, n: int) -> Array:
        return np.stack([np.broadcast_to(v, (n,)) for v in values], axis=1)

    return (
        lambda X: X + stacked(u(*X.T), len(X)),
        lambda X: stacked(gradient(*X.T), len(X)).reshape(-1, 3, 3),
        lambda X: stacked(force(*X.T), len(X)),
    )
