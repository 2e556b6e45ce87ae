# SPDX-License-Identifier: BSD-3-Clause
"""Strain of solids that is enhanced by unknowns of the cell."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import sympy as sp

from symancf_codegen.declare import Local, reference, unknown

from .quantity import Kinematics, Quantity, centre, dot, general, motion, positive, real
from .solid import JETS, cofactors, invariants, solid, strain


@cache
def enhanced_solid() -> Kinematics:
    r"""Return the kinematics of `solid` with F enhanced by twelve unknowns of the cell.

    With the gradient F of the displacement, coordinates :math:`\xi_k` of the cell, whose
    gradients at its centre are :math:`g_k`, and vectors :math:`a_k` and numbers :math:`b_k`,

    .. math::
        \tilde F = F (I + A), \quad
        A = \frac{j_0}{j} \sum_k \xi_k\, g_k \otimes a_k, \quad
        \tilde J = \det F\,(1 + s + s^2 + s^3)
                   + \frac{j_0}{j} (b_1 \eta\zeta + b_2 \zeta\xi + b_3 \xi\eta),
        \quad s = \mathrm{tr} A,

    and all quantities are those of :math:`\bar F = (\tilde J/\det \tilde F)^{1/3} \tilde F`. The
    energy of the cell is stationary in the unknowns. At small strain the a_k are the modes of
    Simo and Rifai (1990); transposed, as in Glaser and Armero (1997), they have no hourglass
    under compression, and none under tension where the dilatation is a function of s and b.

    The function of s is 1/(1 - s) to third order. Where :math:`\tilde J` is one number J, det F is
    J (1 - s), and its integral over the cell J V, whatever A is, as the sum of the modes is zero:
    a pressure that all cells have does no work on second variations. With 1 + s alone it has
    :math:`-2 p\,(\delta \det F)^2/J` of the parts that A takes, and cells under a tension of 4
    times the shear modulus on all sides have an hourglass. The polynomial grows with s everywhere,
    so that any ratio of det F and :math:`\tilde J` is some s, and it multiplies det F, so that a
    cell does not know which of two homogeneous states, at rest or swollen, is its reference.
    """
    base = solid()
    R = sp.Matrix([reference(centre(jet)) for jet in JETS])
    G, H, A, P = (general(name, 3) for name in ("gradJ0_", "Ht", "enh", "Ge"))
    detJc, factor = real("detJc"), real("inv_detJ0")
    M, xi, cof = general("mode", 3), [real(jet) for jet in JETS], cofactors(R)
    geometry = [*base.geometry, (detJc, dot(R[0, :], cof[0, :])), (factor, 1 / real("detJ0"))]
    geometry += zip(M, sp.diag(*xi) * cof * factor, strict=True)
    bulges = [real(f"bulge_{k + 1}") for k in range(3)]
    geometry += [(bulges[k], xi[k - 2] * xi[k - 1] * detJc * factor) for k in range(3)]

    a = general("a_enh", 3)
    b = [real(f"b_enh{k + 1}") for k in range(3)]
    bulge = real("enh_b")
    modes = [(bulge, dict(zip(b, bulges, strict=True)))]
    along = general("along", 3)  # of the gradients of jets with the modes
    geometry += zip(along, G * M.T, strict=True)
    geometry += zip(P, G + along * a, strict=True)
    geometry += zip(A, M.T * a, strict=True)
    # invariants of A = M^T a: tr A, tr cof A = cof M : cof a, det A = det M det a
    area, cof, volume = general("area", 3), cofactors(a), real("mode_det")
    geometry += zip(area, cofactors(M), strict=True)
    trace, m2, det = (real(f"enh_{name}") for name in ("tr", "m2", "det"))
    geometry += [
        (volume, dot(M[0, :], area[0, :])),
        (trace, dot(M, a)),
        (m2, dot(area, cof)),
        (det, volume * dot(a[0, :], cof[0, :])),
    ]
    determinant = positive("enh_J")
    geometry.append((determinant, 1 + trace + m2 + det))
    u = [unknown(jet) for jet in JETS]
    inner = [
        (H[i, c], {**{u[k][i]: P[k, c] for k in range(3)}, sp.S.One: A[i, c]})
        for i in range(3)
        for c in range(3)
    ]
    ratio, more = real("Jr_0"), real("Jb_0")
    inner.append((ratio, {sp.S.One: (trace**2 * (1 + trace) - m2 - det) / determinant}))
    inner.append((more, {sp.S.One: bulge}))

    excess = real("J_excess")
    lets = invariants(H, "t")
    lets += [(real("Jr"), ratio), (real("Jb"), more)]
    ratio, more, Jt = real("Jr"), real("Jb"), positive("Jt")
    lets.append((excess, ratio + more / Jt))
    others, quantities, short = dilated(H, excess, real("Jm1t") + ratio * Jt + more, "enhanced")
    return replace(
        base,
        name="enhanced_solid",
        inner=tuple(inner),
        quantities=quantities,
        geometry=tuple(geometry),
        lets=(*lets, *others),
        short=short,
        domain=(*base.domain, Jt, determinant),
        local=tuple(Local(x) for x in (*a, *b)),
        modes=tuple(modes),
        coordinates=JETS,
    )


def dilated(
    H: sp.Matrix, excess: sp.Symbol, Jm1: sp.Expr, how: str
) -> tuple[list[tuple[sp.Symbol, sp.Expr]], dict[str, Quantity], dict[sp.Symbol, sp.Expr]]:
    """Return lets, quantities and short lets of :math:`(1 + x)^{1/3} (I + H)`.

    Parameters
    ----------
    H : whose invariants have names that end in ``t``.
    excess, Jm1 : x, and what det - 1 of the product is.
    how : a word for the quantities' meaning.
    """
    lets: list[tuple[sp.Symbol, sp.Expr]] = []
    root, scale = positive("F_scale"), real("F_scale_m1")
    lets.append((root, (1 + excess) ** sp.Rational(1, 3)))
    lets.append((scale, excess / (1 + root + root**2)))
    I1d, I2d, Jm1t = real("I1dt"), real("I2dt"), real("Jm1t")
    short = {
        real("Jm1"): Jm1,
        real("I1d"): root**2 * (I1d - 2 * Jm1t * scale) - scale**2 * (1 + 2 * root),
        real("I2d"): root**3 * (root * I2d + 4 * Jm1t * scale)
        + scale**2 * (1 + 2 * root + 3 * root**2),
    }
    own, I = general("H", 3), sp.eye(3)
    lets += zip(own, H + scale * (I + H), strict=True)
    quantities, others = strain(own)
    moving, _ = motion()
    quantities = {
        name: q if name in moving else replace(q, meaning=f"{q.meaning}, {how}")
        for name, q in quantities.items()
    }
    return [*lets, *others], quantities, short
