# SPDX-License-Identifier: BSD-3-Clause
"""Strain of rods: a curve with three directors, which turn with its cross-section."""

from __future__ import annotations

from functools import cache
from itertools import combinations_with_replacement

import sympy as sp

from symancf_codegen.declare import reference, unknown

from .quantity import Kinematics, Quantity, dot, motion, real, symmetric, vector

#: Rotary inertia of the first director over that of the other two together. It has none, but a
#: mass matrix must be regular: bending sections have as much too much, twisting ones what is right.
DIRECTOR_INERTIA_RATIO = 1e-3

#: (k, i, j) in cyclic order: the k-th curvature is that of directors i and j.
CYCLIC = ((0, 1, 2), (1, 2, 0), (2, 0, 1))

#: Strains of a rod that its law relates to forces and moments.
ROD_STRAINS = ("epsilon", "gamma2", "gamma3", "kappa1", "kappa2", "kappa3")
#: Entries of the stiffness matrix of a rod, those of its upper triangle, by places.
STIFFNESS = {(i, k): f"C{i + 1}{k + 1}" for i in range(6) for k in range(i, 6)}


@cache
def rod() -> Kinematics:
    r"""Return the kinematics of a curve r(xi) with directors d1, d2, d3, on the reference R(xi), D.

    With a prime for the derivative by the reference length S,

    .. math::
        E_{ij} = \tfrac12\,(d_i\cdot d_j - D_i\cdot D_j), \qquad
        \Gamma_k = d_k\cdot r' - D_k\cdot R' - E_{1k}, \qquad
        \kappa_k = \tfrac12\,(d_i'\cdot d_j - d_j'\cdot d_i) - \kappa_{k}^0,

    with (k, i, j) in cyclic order. :math:`\Gamma_1` is the axial strain, :math:`\Gamma_2` and
    :math:`\Gamma_3` are shears; :math:`\kappa_1` is the twist, :math:`\kappa_2` and
    :math:`\kappa_3` are bending curvatures. Where the directors are orthonormal, E = 0, these are
    the strains of Simo and Reissner; without :math:`E_{1k}` an axial force would stretch the
    directors, too, to first order. All are quadratic in the coordinates.

    References
    ----------
    J. C. Simo, Computer Methods in Applied Mechanics and Engineering 49 (1985) 55-70;
    P. Betsch, P. Steinmann, Int. J. Numer. Meth. Engng 54 (2002) 1775-1788 (directors as unknowns);
    K. Nachbagauer, J. Gerstmayr, Multibody System Dynamics 30 (2013) 307-325 (the strains of rods
    in absolute nodal coordinates).
    """
    R, u = vector(reference("xi")), vector(unknown("xi"))
    D = [vector(reference(f"d{k}")) for k in (1, 2, 3)]
    P = [vector(reference(f"d{k}_xi")) for k in (1, 2, 3)]
    d = [vector(unknown(f"d{k}")) for k in (1, 2, 3)]
    p = [vector(unknown(f"d{k}_xi")) for k in (1, 2, 3)]
    length = real("R_xi_length")
    lets: list[tuple[sp.Symbol, sp.Expr]] = []

    def let(name: str, expression: sp.Expr) -> sp.Symbol:
        lets.append((real(name), expression))
        return real(name)

    E, pairs = symmetric("E_section", 3), [*combinations_with_replacement(range(3), 2)]
    for i, j in pairs:
        let(E[i, j].name, (dot(D[i], d[j]) + dot(D[j], d[i]) + dot(d[i], d[j])) / 2)
    strain = [
        let(name, (dot(D[k], u) + dot(d[k], R) + dot(d[k], u)) / length - E[0, k])
        for k, name in enumerate(ROD_STRAINS[:3])
    ]

    def turn(i: int, j: int) -> sp.Expr:
        return dot(p[i], D[j]) + dot(P[i], d[j]) + dot(p[i], d[j])

    curvature = [
        let(f"kappa{k + 1}", (turn(i, j) - turn(j, i)) / (2 * length)) for k, i, j in CYCLIC
    ]
    present = [
        sp.Matrix([let(f"director{k + 1}{a + 1}", D[k][a] + d[k][a]) for a in range(3)])
        for k in range(3)
    ]
    common, more = motion()
    lets.extend(more)
    rho, A, I2, I3, I23 = (real(name) for name in ("rho", "A", "I2", "I3", "I23"))
    v = vector(unknown("value"))
    turning = (
        DIRECTOR_INERTIA_RATIO * (I2 + I3) * dot(d[0], d[0])
        + I3 * dot(d[1], d[1])
        + I2 * dot(d[2], d[2])
    )
    turning += 2 * I23 * dot(d[1], d[2])
    names = ("axial strain d1 . r' - 1", "shear d2 . r'", "shear d3 . r'")
    turns = ("twist", "bending about d2", "bending about d3")
    quantities = {
        **{
            str(s): Quantity(s, f"{name}, change of it [-]")
            for s, name in zip(strain, names, strict=True)
        },
        **{
            str(s): Quantity(s, f"{name}, per reference length [1/m]")
            for s, name in zip(curvature, turns, strict=True)
        },
        **{f"d{k + 1}": Quantity(present[k], f"director d{k + 1} [-]") for k in range(3)},
        "cell_length": Quantity(length, "length of the cell [m]"),
        "E_section": Quantity(E, "strain of the directors (d_i . d_j - D_i . D_j)/2, 3x3 [-]"),
    }
    return Kinematics(
        name="rod",
        jets=("xi", "d1", "d2", "d3", "d1_xi", "d2_xi", "d3_xi"),
        quantities=quantities | common,
        inner=(),
        geometry=((length, sp.sqrt(dot(R, R))),),
        lets=tuple(lets),
        measure=length,
        domain=(),
        section=(),
        density=rho * A,
        density_parameters=("rho", "A", "I2", "I3"),
        unit="J/m",
        strains=(*strain, *curvature, *(E[pair] for pair in pairs)),
        penalties=True,
        kinetic=rho * (A * dot(v, v) + turning) / 2,
        defaults={"I23": 0.0},
    )
