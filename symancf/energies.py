# SPDX-License-Identifier: BSD-3-Clause
"""A catalogue of strain energies: each is a plain function of its quantities and parameters.

There is nothing special about them: a function of your own with the same kind of arguments is
treated in exactly the same way. Functions with a choice, such as `cable(strain="green")`,
return such a plain function.
"""

from __future__ import annotations

from sympy import Expr, Rational

Parts = dict[str, Expr]


def yeoh(J: Expr, I1: Expr, *, C10: Expr, C20: Expr, C30: Expr, k: Expr) -> Parts:
    r"""Yeoh rubber with split invariants, in a deviatoric and a volumetric part.

    .. math::
        W = C_{10}\,y + C_{20}\,y^2 + C_{30}\,y^3 + \tfrac12 k (J-1)^2, \quad
        y = J^{-2/3} I_1 - 3.

    Parameters
    ----------
    J, I1 : det F and tr C of a solid element [-].
    C10, C20, C30 : [Pa]; the shear modulus is 2 C10.
    k : bulk modulus [Pa].

    Returns
    -------
    ``{"deviatoric", "volumetric"}``: energy per reference volume [J/m^3].

    Notes
    -----
    `volumetric="full"` integrates k/2 (J-1)^2 everywhere and locks when k is large: refinement
    converges slowly. ``"reduced"`` integrates it at the mid-surface or centre only: a single
    layer is about 2.7 times too soft in bending, and refinement in the plane does not mend it.
    ``"split"`` (default on plates) keeps the plane-stress bulk modulus everywhere.

    References
    ----------
    O. H. Yeoh, Rubber Chemistry and Technology 66 (1993) 754.
    """
    y = J ** Rational(-2, 3) * I1 - 3
    return {"deviatoric": C10 * y + C20 * y**2 + C30 * y**3, "volumetric": k / 2 * (J - 1) ** 2}
