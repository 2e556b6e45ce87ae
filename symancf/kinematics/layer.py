# SPDX-License-Identifier: BSD-3-Clause
"""Strain of a layer of a plate, in the axes of the layer: 1 in the plane, 3 along the normal."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import sympy as sp

from symancf_codegen.declare import Local, reference
from symancf_codegen.functions import symbolic

from .quantity import Kinematics, Quantity, cross, dot, general, positive, real, symmetric, vector

if TYPE_CHECKING:
    from symancf_codegen.declare import Lets

#: A direction in space: three numbers, or a function of X (3x1 symbols) that returns three.
Axis = Sequence[float] | Callable[[sp.Matrix], Sequence[sp.Expr]]

#: Components of an axis that is a direction, which laws bring along.
AXIS = ("layers_axis1", "layers_axis2", "layers_axis3")

#: Cosine and sine of the angle of a layer, which its points through the thickness know.
ANGLE = ("layer_cos", "layer_sin")


def cosines(angle: float) -> tuple[sp.Expr, sp.Expr]:
    """Return cosine and sine of an angle [degrees], exact at multiples of 90."""
    quarters = angle / 90.0
    if quarters == round(quarters):
        k = round(quarters) % 4
        return sp.Integer((1, 0, -1, 0)[k]), sp.Integer((0, 1, 0, -1)[k])
    turn = math.radians(angle)
    return sp.Float(math.cos(turn)), sp.Float(math.sin(turn))


def _vector(axis: Axis) -> sp.Matrix:
    components = axis(vector(reference("value"))) if callable(axis) else map(real, AXIS)
    return sp.Matrix([symbolic(x) for x in components])


def frame(axis: Axis, normal: sp.Matrix, turn: tuple[sp.Expr, sp.Expr]) -> tuple[sp.Matrix, Lets]:
    """Return the axes (3x3, as columns) of a layer, and the named expressions they need.

    Its axis 1 is `axis`, made square to `normal`, turned about it by an angle of which `turn` is
    cosine and sine.
    """
    lets: list[tuple[sp.Symbol, sp.Expr]] = []

    def let(name: str, expression: sp.Expr) -> sp.Symbol:
        lets.append((real(name), expression))
        return real(name)

    def column(name: str, v: sp.Matrix) -> sp.Matrix:
        return sp.Matrix([let(f"{name}{i + 1}", v[i]) for i in range(3)])

    length = let("layer_normal_length", sp.sqrt(dot(normal, normal)))
    n = column("layer_normal", normal / length)
    direction = column("layer_given", _vector(axis))
    lean = let("layer_lean", dot(direction, n))
    flat = column("layer_flat", direction - lean * n)
    size = let("layer_flat_length", sp.sqrt(dot(flat, flat)))
    a = column("layer_zero", flat / size)
    b, (c, s) = cross(n, a), turn
    first = column("layer_first", c * a + s * b)
    second = column("layer_second", c * b - s * a)
    return sp.Matrix.hstack(first, second, n), tuple(lets)


def thick_layer(base: Kinematics, axis: Axis | None) -> Kinematics:
    """Return the kinematics of a layer of a plate with a director.

    E_gl, C, F and H are in the axes of the layer, invariants as in the whole plate, principal axes
    are not offered; with no axis all is as there.
    """
    if axis is None:
        return base
    normal = sp.Matrix([real(f"cofJ0_3{i}") for i in (1, 2, 3)])
    Q, geometry = frame(axis, normal, (real(ANGLE[0]), real(ANGLE[1])))
    lets, quantities = list(base.lets), dict(base.quantities)
    del quantities["stretch_axes"]

    def turned(name: str, tensor: sp.Matrix, even: bool) -> sp.Matrix:
        new = symmetric(f"{name}_layer", 3) if even else general(f"{name}_layer", 3)
        for i in range(3):
            for k in range(i if even else 0, 3):
                value = dot(Q[:, i], tensor * Q[:, k])
                lets.append((new[i, k], value))
        return new

    E = turned("E", base.quantities["E_gl"].value, True)
    H = turned("H", base.quantities["H"].value, False)
    for name, value in (("E_gl", E), ("C", sp.eye(3) + 2 * E), ("H", H), ("F", sp.eye(3) + H)):
        meaning = f"{base.quantities[name].meaning}, in the axes of the layer"
        quantities[name] = Quantity(value, meaning)
    return replace(
        base, quantities=quantities, lets=tuple(lets), geometry=(*base.geometry, *geometry)
    )


def in_plane(axis: Axis, turn: tuple[sp.Expr, sp.Expr]) -> tuple[sp.Matrix, Lets]:
    """Return axes 1 and 2 of a layer (2x2, as columns) in the local frame of a thin plate.

    With the named expressions they need; see `frame` and `thin_plate`.
    """
    normal = sp.Matrix([real(f"N{i}") for i in (1, 2, 3)])
    Q, geometry = frame(axis, normal, turn)
    e1 = vector(reference("xi")) / real("R_xi_length")
    e2 = cross(normal, e1) / real("N_length")
    c, s = real("layer_c"), real("layer_s")
    lets = ((c, dot(Q[:, 0], e1)), (s, dot(Q[:, 0], e2)))
    return sp.Matrix([[c, -s], [s, c]]), (*geometry, *lets)


def thinning(number: int) -> Local:
    """Return the unknown of points of thin layers: the stretch of the thickness less one."""
    return Local(real(f"thinning_{number}"), sp.S.Zero)


def thin_layer(base: Kinematics, axis: Axis | None, w: sp.Symbol) -> Kinematics:
    r"""Return the kinematics of a layer of a thin plate at the height z, without stress across.

    With the membrane strain E and the change of curvature :math:`\kappa` of `thin_plate`

    .. math::
        E_{ab}(z) = E_{ab} - z\,\kappa_{ab}, \quad E_{a3} = 0, \quad
        E_{33} = w + \tfrac12 w^2, \quad \frac{\partial W}{\partial w} = 0,

    in the axes of the layer. Invariants keep their digits at small strain: with
    :math:`q = 2 \mathrm{tr} E + 4 \det E` and :math:`j = q/(1 + \sqrt{1 + q})` of the plane,
    J - 1 = j + w + j w. `w` is solved for where a law has E33 or invariants, see `thinning`.
    """
    half = sp.Rational(1, 2)
    lets = list(base.lets)

    def let(name: str, expression: sp.Expr) -> sp.Symbol:
        lets.append((real(name), expression))
        return real(name)

    z = real("z")
    E, kappa = base.quantities["E_gl"].value, base.quantities["kappa"].value
    local = symmetric("E_z", 2)
    for i, k in ((0, 0), (0, 1), (1, 1)):
        let(local[i, k].name, E[i, k] - z * kappa[i, k])
    geometry: Lets = ((z, real("zeta") * real("thickness") / 2),)
    plane = local
    if axis is not None:
        Q, more = in_plane(axis, (real(ANGLE[0]), real(ANGLE[1])))
        geometry += more
        plane = symmetric("E_layer", 2)
        for i, k in ((0, 0), (0, 1), (1, 1)):
            let(plane[i, k].name, dot(Q[:, i], local * Q[:, k]))
    e11, e22, e12 = plane[0, 0], plane[1, 1], plane[0, 1]
    trace = let("plane_trace", e11 + e22)
    det = let("plane_det", e11 * e22 - e12**2)
    q = let("plane_change", 2 * trace + 4 * det)
    root = let("plane_ratio", sp.sqrt(1 + q))
    j = let("plane_ratio_m1", q / (1 + root))
    rest = let("plane_rest", (2 * trace * j - 8 * det) / (1 + root))  # 2 tr E - 2 j
    Jm1 = let("Jm1", j + w + j * w)
    I1d = let("I1d", rest + w**2 - 2 * j * w)
    I2d = let("I2d", j**2 + rest + 2 * w * rest + 2 * w**2 * (1 + trace))
    J, I1, I2 = positive("J"), positive("I1"), positive("I2")
    lets += [(J, 1 + Jm1), (I1, 3 + 2 * Jm1 + I1d), (I2, 3 + 4 * Jm1 + I2d)]
    E33 = let("E_across", w + half * w**2)
    full = sp.Matrix([[e11, e12, 0], [e12, e22, 0], [0, 0, E33]])
    of = "at the height of the layer, in its axes"
    return replace(
        base,
        name="thin_layer",
        geometry=(*base.geometry, *geometry),
        lets=tuple(lets),
        measure=base.measure * real("thickness") / 2,
        quantities={
            **{name: base.quantities[name] for name in ("u", "r", "X", "t")},
            "E_gl": Quantity(full, f"Green-Lagrange strain {of}, 3x3 [-]"),
            "C": Quantity(sp.eye(3) + 2 * full, f"right Cauchy-Green tensor {of}, 3x3 [-]"),
            "J": Quantity(J, "det F [-]"),
            "I1": Quantity(I1, "tr C [-]"),
            "I2": Quantity(I2, "((tr C)^2 - tr C^2)/2 [-]"),
        },
        section=("thickness",),
        domain=(*base.domain, 1 + q, 1 + w),
        strains=(),
        unit="J/m^3",
    )
