# SPDX-License-Identifier: BSD-3-Clause
"""Energies of solids with axes of their own."""

from __future__ import annotations

from sympy import Expr, Matrix

from ..values.domain import catalogue, domains, moduli, positive

_STIFF = dict.fromkeys(("E1", "E2", "E3", "G12", "G13", "G23"), positive())


#: The moduli of an orthotropic law are its constants.
_MODULI = {
    "E1": lambda E1: E1,
    "E2": lambda E2: E2,
    "E3": lambda E3: E3,
    "nu12": lambda nu12: nu12,
    "nu13": lambda nu13: nu13,
    "nu23": lambda nu23: nu23,
    "G12": lambda G12: G12,
    "G13": lambda G13: G13,
    "G23": lambda G23: G23,
}


@catalogue
@domains(**_STIFF)
@moduli("orthotropic", **_MODULI)
def orthotropic(
    E_gl: Matrix,
    *,
    E1: Expr,
    E2: Expr,
    E3: Expr,
    nu12: Expr,
    nu13: Expr,
    nu23: Expr,
    G12: Expr,
    G13: Expr,
    G23: Expr,
) -> Expr:
    r"""St Venant-Kirchhoff solid with three planes of symmetry, such as a layer of fibres along 1.

    .. math::
        W = \tfrac12\, e \cdot S^{-1} e
            + 2\,(G_{12} E_{12}^2 + G_{13} E_{13}^2 + G_{23} E_{23}^2), \quad
        e = (E_{11}, E_{22}, E_{33}), \quad
        S = \begin{pmatrix} 1/E_1 & -\nu_{12}/E_1 & -\nu_{13}/E_1 \\
            & 1/E_2 & -\nu_{23}/E_2 \\ \text{sym.} & & 1/E_3 \end{pmatrix}.

    Returns
    -------
    The law, a function of

    - E_gl : Green-Lagrange strain of a solid element, 3x3 [-]; 1, 2, 3 are its axes: x, y, z of a
      solid, in `symancf.Layers` those of the layer.
    - E1, E2, E3 : Young's moduli [Pa].
    - nu12, nu13, nu23 : Poisson's ratios [-]: of a pull along i the contraction along j is nu_ij
      times the strain; nu_ji = nu_ij E_j/E_i.
    - G12, G13, G23 : shear moduli [Pa].

    which returns the energy per reference volume [J/m^3]. S must be positive definite: otherwise a
    warning says that the body is unstable at rest.

    Notes
    -----
    Fibres in a plane that is isotropic across them: E3 = E2, nu13 = nu12, G13 = G12 and
    G23 = E2/(2 (1 + nu23)).

    References
    ----------
    R. M. Jones, Mechanics of Composite Materials, 2nd ed. (1999), eq. (2.23).

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    >>> given = dict(E1=10.0, E2=1.0, E3=1.0, G12=0.5, G13=0.5, G23=0.4)
    >>> given |= dict(nu12=0.3, nu13=0.3, nu23=0.3)
    >>> sa.Body(mesh["body"], sa.elements.hex8, sa.energies.orthotropic(), **given)
    Body 'body': 1 hex8 with orthotropic
    """
    a12, a13, a23 = -nu12 / E1, -nu13 / E1, -nu23 / E2
    S = Matrix([[1 / E1, a12, a13], [a12, 1 / E2, a23], [a13, a23, 1 / E3]])
    determinant = S[0, 0] * (S[1, 1] * S[2, 2] - a23**2) - a12 * (a12 * S[2, 2] - a23 * a13)
    determinant += a13 * (a12 * a23 - S[1, 1] * a13)
    C = S.adjugate() / determinant
    e = Matrix([E_gl[0, 0], E_gl[1, 1], E_gl[2, 2]])
    direct = sum(C[i, i] * e[i] ** 2 / 2 for i in range(3))
    direct += C[0, 1] * e[0] * e[1] + C[0, 2] * e[0] * e[2] + C[1, 2] * e[1] * e[2]
    shear = G12 * E_gl[0, 1] ** 2 + G13 * E_gl[0, 2] ** 2 + G23 * E_gl[1, 2] ** 2
    return direct + 2 * shear
