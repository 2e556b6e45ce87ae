# SPDX-License-Identifier: BSD-3-Clause
"""Strain of solids with the mean dilatation of the cell."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from symancf_codegen.declare import Local

from .enhanced import dilated
from .quantity import Kinematics, general, positive, real
from .solid import invariants, solid


@cache
def fbar_solid() -> Kinematics:
    r"""Return the kinematics of `solid` with det F replaced by its mean over the cell.

    .. math::
        \bar F = (\theta/J)^{1/3} F, \qquad J = \det F, \qquad
        \Pi = \int W(\bar F) + p\,(J - \theta)\, dV,

    stationary in two unknowns of the cell: in p, so that :math:`\theta` is the mean of J over the
    reference cell, and in :math:`\theta`, so that p is the mean of :math:`\partial W/\partial
    \theta`. Forces and tangent are derivatives of W(\bar F) by the nodes, symmetric. Where F is
    constant, so is J, and the forces are those of F: patches of any cells are passed, which the
    dilatation of the centre does not.

    References
    ----------
    E. A. de Souza Neto, D. Peric, M. Dutko, D. R. J. Owen, International Journal of Solids and
    Structures 33 (1996) 3277-3296 (J of the centre, unsymmetric tangent); J. C. Simo, R. L. Taylor,
    K. S. Pister, Computer Methods in Applied Mechanics and Engineering 51 (1985) 177-208 (this).
    """
    base, F = solid(), general("Ht", 3)
    entries = dict(zip((s for s, _ in base.inner), F, strict=True))
    theta, p = real("dilatation_m1"), real("dilatation_p")
    Jm1, J, excess = real("Jm1t"), positive("Jt"), real("J_excess")
    lets, quantities, short = dilated(F, excess, theta, "its det the mean over the cell")
    return replace(
        base,
        name="fbar_solid",
        inner=tuple((entries[s], row) for s, row in base.inner),
        quantities=quantities,
        lets=(*invariants(F, "t"), (excess, (theta - Jm1) / J), *lets),
        short=short,
        domain=(*base.domain, J),
        local=(Local(theta), Local(p)),
        bound=p * (Jm1 - theta),
    )
