# SPDX-License-Identifier: BSD-3-Clause
r"""Compliance of arcs and straight strips, clamped at one end and loaded at the other.

The frame at the loaded end has x along the tangent in the direction of travel and y toward the
centre of a counter-clockwise arc; the bending moment at the angle :math:`\varphi` back from the
tip is :math:`M + r F_y \sin\varphi + r F_x (1 - \cos\varphi)` and the axial force
:math:`F_x\cos\varphi - F_y\sin\varphi`.
"""

from __future__ import annotations

import numpy as np
import sympy as sp

from ..interface import Array, gauss_legendre


def arc_compliance(r: sp.Expr, theta: sp.Expr, EI: sp.Expr, EA: sp.Expr | None = None) -> sp.Matrix:
    """Return the compliance (3, 3) of an arc as SymPy expressions.

    Source: Cammarata et al., Micromachines 13 (2022) 2172, for EA = None (inextensible).

    Parameters
    ----------
    r, theta : radius and angle, both positive, or both negative for a clockwise arc.
    EI, EA : bending and axial stiffness.
    """
    s, c = sp.sin(theta), sp.cos(theta)
    c11 = r**3 / 4 * (6 * theta + sp.sin(2 * theta) - 8 * s)
    c12 = r**3 / 2 * (c**2 - 2 * c + 1)
    c13 = r**2 * (theta - s)
    c22 = r**3 / 4 * (2 * theta - sp.sin(2 * theta))
    c23 = r**2 * (1 - c)
    bending = sp.Matrix([[c11, c12, c13], [c12, c22, c23], [c13, c23, r * theta]]) / EI
    if EA is None:
        return bending
    axial = sp.Matrix([[theta + s * c, -(s**2), 0], [-(s**2), theta - s * c, 0], [0, 0, 0]])
    return bending + axial * r / (2 * EA)


def compliance(r: float, theta: float, EI: float, EA: float | None = None) -> Array:
    """Return the compliance (3, 3) of an arc as numbers, accurate for any angle.

    The integrals of the closed form are summed by Gauss's rule: the closed form cancels five
    digits out of every six for small angles.
    """
    x, w = gauss_legendre(40)
    phi, w = theta / 2 * (x + 1), theta / 2 * w
    along, across = 2 * np.sin(phi / 2) ** 2 * r, np.sin(phi) * r
    shape = np.stack([along, across, np.ones_like(phi)])
    result = np.einsum("ip,jp,p->ij", shape, shape, w * r) / EI
    if EA is not None:
        axial = np.stack([np.cos(phi), -np.sin(phi), np.zeros_like(phi)])
        result += np.einsum("ip,jp,p->ij", axial, axial, w * r) / EA
    return np.asarray(result)


def strip_compliance(length: float, EI: float, EA: float) -> Array:
    """Return the compliance (3, 3) of a straight strip."""
    bending = np.array([[0, 0, 0], [0, length**3 / 3, length**2 / 2], [0, length**2 / 2, length]])
    return np.asarray(bending / EI + np.diag([length / EA, 0.0, 0.0]))
