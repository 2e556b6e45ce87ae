# SPDX-License-Identifier: BSD-3-Clause
"""Energies of solids with axes of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from sympy import Expr, Matrix, sqrt

from ..errors import KinematicsError
from ..kinematics.quantity import cross
from ..values.domain import catalogue, domains, moduli, positive
from ..values.functions import REQUIRED, taking
from ..values.parameter import label, reals

#: A direction in the reference: three numbers, or a function of X (3x1) that returns three.
Direction = Sequence[float] | Callable[[Matrix], Sequence[Any]]

_STIFF = dict.fromkeys(("E1", "E2", "E3", "G12", "G13", "G23"), positive())


PARALLEL = 1e-9  # sine of the angle between two directions
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


def direction_of(what: str, asked: str, given: Any) -> Any:
    """Return a direction as a unit vector, or the function that gives it.

    Raises
    ------
    KinematicsError : it is neither; `what` and `asked` name it.
    """
    if callable(given):
        return given
    try:
        a = reals(given)
    except (TypeError, ValueError):
        a = np.zeros(0)
    if a.shape == (3,) and np.any(a):
        return [float(x) for x in a / np.linalg.norm(a)]
    raise KinematicsError(
        f"{what}: a direction is three numbers, not all 0, or a function of X; it is "
        f"{label(given)}",
        asked=asked,
        given=given,
    )


def _turned(*, axes: Any = None) -> Callable[..., Any]:
    """Return the law in axes of its own; see `orthotropic`."""
    what = f"orthotropic(axes={label(axes)})"
    if not isinstance(axes, Sequence | np.ndarray) or isinstance(axes, str) or len(axes) != 2:
        raise KinematicsError(
            f"{what}: give the directions of the axes 1 and 2, such as ((1, 0, 0), (0, 1, 0))",
            asked="axes",
            given=axes,
        )
    first, second = (direction_of(what, "axes", a) for a in axes)
    numbers = not (callable(first) or callable(second))
    if numbers and np.linalg.norm(np.cross(first, second)) < PARALLEL:
        raise KinematicsError(f"{what}: the axes 1 and 2 are parallel", asked="axes", given=axes)
    law = orthotropic()

    def turned(E_gl: Matrix, *X: Matrix, **constants: Expr) -> Expr:
        a, b = (Matrix(x(X[0]) if callable(x) else x) for x in (first, second))
        normal = cross(a, b)
        n1, n3 = a / sqrt((a.T * a)[0]), normal / sqrt((normal.T * normal)[0])
        Q = Matrix.hstack(n1, cross(n3, n1), n3)
        return law(Q.T * E_gl * Q, **constants)

    turned.__name__ = "orthotropic_turned"
    names = ("E_gl",) if numbers else ("E_gl", "X")
    taking(turned, names, dict.fromkeys(_MODULI, REQUIRED))
    return domains(**_STIFF)(turned)


@partial(catalogue, choices=_turned)
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

    Parameters
    ----------
    axes : directions of the axes 1 and 2 in the reference, of which the second is made square to
        the first: each three numbers or a function of X (3x1, symbols) that returns three. None:
        x, y and z of a solid, in `symancf.Layers` those of the layer.

    Returns
    -------
    The law, a function of

    - E_gl : Green-Lagrange strain of a solid element, 3x3 [-]; also of X, where axes are functions
      of it.
    - E1, E2, E3 : Young's moduli [Pa].
    - nu12, nu13, nu23 : Poisson's ratios [-]: of a pull along i the contraction along j is nu_ij
      times the strain; nu_ji = nu_ij E_j/E_i.
    - G12, G13, G23 : shear moduli [Pa].

    which returns the energy per reference volume [J/m^3]. S must be positive definite: otherwise a
    warning says that the body is unstable at rest.

    Raises
    ------
    KinematicsError : axes are not as above, or parallel.

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
