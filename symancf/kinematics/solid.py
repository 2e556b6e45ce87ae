# SPDX-License-Identifier: BSD-3-Clause
"""Strain of solids from the displacement gradient H = F - I."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import sympy as sp

from symancf_codegen.declare import reference, unknown
from symancf_codegen.functions import log_stretch, stretch_axis

from .quantity import (
    Kinematics,
    Quantity,
    cross,
    dot,
    general,
    motion,
    positive,
    real,
    symmetric,
    vector,
)

JETS = ("xi", "eta", "zeta")

#: The gradients dQ/dF of scalars Q of a solid, with F N_a = lambda_a n_a: N_a are here called m.
_F, _C = (sp.MatrixSymbol(name, 3, 3) for name in "FC")
GRADIENTS = {
    "J": positive("J") * _F.I.T,
    "I1": 2 * _F,
    "I2": sp.MatMul(2, positive("I1") * _F - _F * _C, evaluate=False),
    **{
        f"lambda{k}": sp.MatrixSymbol(f"n{k}", 3, 1) * sp.MatrixSymbol(f"m{k}", 3, 1).T
        for k in (1, 2, 3)
    },
}

#: What dW/dQ of a tensor Q is multiplied by to give its part of P = dW/dF.
PULLED = {"F": sp.Identity(3), "H": sp.Identity(3), "C": 2 * _F, "E_gl": _F}


@cache
def solid() -> Kinematics:
    r"""Return the kinematics of a solid with J0 = [R_xi, R_eta, R_zeta].

    H = Du J0^-1, and with m2 the second principal invariant of H, without cancellation:

    .. math::
        J - 1 &= \mathrm{tr} H + m_2 + \det H, \\
        I_1 - 3 &= 2 (J-1) + |H|^2 - 2 m_2 - 2 \det H, \\
        I_2 - 3 &= 4 (J-1) + |K|^2 - 2 m_2 - 4 \det H,
        \quad K = \mathrm{cof} F - I = I\,\mathrm{tr} H - H^T + \mathrm{cof} H, \\
        E &= \tfrac12 (H + H^T + H^T H), \qquad C = I + 2E, \\
        \lambda_a &= \exp L_a, \qquad
        L_a = \tfrac12 \ln(1 + 2 e_a), \quad E N_a = e_a N_a.

    The form of J - 1 is that of libCEED's finite-strain examples (Barra et al. 2023).
    """
    return _solid()


@cache
def director_solid() -> Kinematics:
    """Return the kinematics of r = m + z d: `solid` with z = zeta thickness/2, R_zeta = dR/dz."""
    return _solid("director_solid", {"z": ("zeta", "thickness")})


@cache
def beam_solid() -> Kinematics:
    r"""Return the kinematics of r = m + y dy + z dz: `solid` over a rectangular cross-section.

    y = eta width/2, z = zeta height/2, R_eta = dR/dy, R_zeta = dR/dz. `E_beam` is E in the axes of
    the section: :math:`D_a \cdot E D_b` with D2 = R_eta, D3 = R_zeta and D1 = D2 x D3.
    """
    kinematics = _solid("beam_solid", {"y": ("eta", "width"), "z": ("zeta", "height")})
    D = [vector(reference(jet)) for jet in ("eta", "zeta")]
    axes = [cross(*D), *D]
    E, local = kinematics.quantities["E_gl"].value, symmetric("E_beam", 3)
    assert isinstance(E, sp.Matrix)
    lets = [(local[a, b], dot(axes[a], E * axes[b])) for a in range(3) for b in range(a, 3)]
    meaning = "Green-Lagrange strain in the axes of the section, 3x3 [-]"
    quantities = {**kinematics.quantities, "E_beam": Quantity(local, meaning)}
    return replace(kinematics, quantities=quantities, lets=(*kinematics.lets, *lets))


def _solid(name: str = "solid", section: Mapping[str, tuple[str, str]] | None = None) -> Kinematics:
    """Return the kinematics; `section`: coordinates across, what they follow from, their sizes."""
    R = sp.Matrix([reference(jet) for jet in JETS])
    section = section or {}
    geometry = [(real(s), real(point) * real(size) / 2) for s, (point, size) in section.items()]
    names, G, detJ0 = general("cofJ0_", 3), general("gradJ0_", 3), real("detJ0")
    geometry += zip(names, cofactors(R), strict=True)
    geometry.append((detJ0, dot(R[0, :], names[0, :])))
    geometry += zip(G, names / detJ0, strict=True)

    H = general("H", 3)
    u = [unknown(jet) for jet in JETS]
    inner = tuple(
        (H[i, b], {u[a][i]: G[a, b] for a in range(3)}) for i in range(3) for b in range(3)
    )
    quantities, lets = strain(H)
    return Kinematics(
        name=name,
        jets=JETS,
        quantities=quantities,
        inner=inner,
        geometry=tuple(geometry),
        lets=tuple(lets),
        measure=sp.Mul(detJ0, *(real(size) / 2 for _, size in section.values())),
        domain=(positive("J"),),
        section=tuple(size for _, size in section.values()),
        density=real("rho"),
        density_parameters=("rho",),
        unit="J/m^3",
    )


def invariants(H: sp.Matrix, suffix: str = "") -> list[tuple[sp.Symbol, sp.Expr]]:
    """Return the lets of J, I1, I2 and cof F as functions of H; their names end in `suffix`."""
    lets: list[tuple[sp.Symbol, sp.Expr]] = []

    def let(symbol: sp.Symbol, expression: sp.Expr) -> sp.Symbol:
        lets.append((symbol, expression))
        return symbol

    def named(name: str) -> sp.Symbol:
        return real(name + suffix)

    cof, trace = cofactors(H), H[0, 0] + H[1, 1] + H[2, 2]
    m2 = let(named("H_m2"), cof[0, 0] + cof[1, 1] + cof[2, 2])
    det = let(named("H_det"), dot(H[0, :], cof[0, :]))
    second = let(named("Jm1_2"), m2 + det)
    Jm1 = let(named("Jm1"), trace + second)
    I1d = let(named("I1d"), sp.Add(*(x**2 for x in H)) - 2 * second)
    let(positive("J" + suffix), 1 + Jm1)
    let(positive("I1" + suffix), 3 + 2 * Jm1 + I1d)
    K = general(f"cofF{suffix}_m1_", 3)
    lets += zip(K, trace * sp.eye(3) - H.T + cof, strict=True)
    I2d = let(named("I2d"), sp.Add(*(x**2 for x in K)) - 2 * m2 - 4 * det)
    let(positive("I2" + suffix), 3 + 4 * Jm1 + I2d)
    return lets


def strain(
    H: sp.Matrix,
) -> tuple[dict[str, Quantity], list[tuple[sp.Symbol, sp.Expr]]]:
    """Return quantities and lets as functions of H; lets that a law does not need are pruned."""
    lets = invariants(H)
    J, I1, I2 = positive("J"), positive("I1"), positive("I2")

    def let(symbol: sp.Symbol, expression: sp.Expr) -> sp.Symbol:
        lets.append((symbol, expression))
        return symbol

    E, C, F = symmetric("E_gl", 3), symmetric("C", 3), general("F", 3)
    pairs = [(i, k) for i in range(3) for k in range(i, 3)]
    for i, k in pairs:
        product = sp.Add(*(H[a, i] * H[a, k] for a in range(3)))
        let(E[i, k], H[i, i] + product / 2 if i == k else (H[i, k] + H[k, i] + product) / 2)
    for i, k in pairs:
        let(C[i, k], 1 + 2 * E[i, k] if i == k else 2 * E[i, k])
    lets += zip(F, sp.eye(3) + H, strict=True)
    logs = [real(f"log_stretch{k}") for k in (1, 2, 3)]
    for k in range(3):
        let(logs[k], log_stretch(k + 1, *H))
    axes = general("stretch_axis", 3)
    for k in range(3):
        for i in range(3):
            let(axes[k, i], stretch_axis(k + 1, i + 1, *H))
    common, more = motion()
    lets.extend(more)
    quantities = {
        "F": Quantity(F, "deformation gradient, 3x3 [-]"),
        "J": Quantity(J, "det F [-]"),
        "I1": Quantity(I1, "tr C [-]"),
        "I2": Quantity(I2, "((tr C)^2 - tr C^2)/2 [-]"),
        "C": Quantity(C, "right Cauchy-Green tensor F^T F, 3x3 [-]"),
        "E_gl": Quantity(E, "Green-Lagrange strain (C - I)/2, 3x3 [-]"),
        "H": Quantity(H, "displacement gradient F - I, 3x3 [-]"),
        "lambda1": Quantity(sp.exp(logs[0]), "largest principal stretch [-]"),
        "lambda2": Quantity(sp.exp(logs[1]), "middle principal stretch [-]"),
        "lambda3": Quantity(sp.exp(logs[2]), "smallest principal stretch [-]"),
        "stretch_axes": Quantity(
            axes, "axes of the principal stretches in the reference, rows [-]"
        ),
    }
    return quantities | common, lets


def cofactors(H: sp.Matrix) -> sp.Matrix:
    """Return the cofactors of a 3x3 matrix, a matrix."""
    return sp.Matrix([cross(H[i - 2, :], H[i - 1, :]).T for i in range(3)])
