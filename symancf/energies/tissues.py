# SPDX-License-Identifier: BSD-3-Clause
"""Energies of soft tissues: exponential in the strain, with directions of fibres."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sympy import Expr, Matrix, Max, Rational, S, exp, eye

from ..errors import KinematicsError
from ..values.domain import Domain, by_call, catalogue, domains, moduli, not_negative, positive
from ..values.functions import REQUIRED, taking
from ..values.parameter import label
from .fibres import Direction, direction_of

if TYPE_CHECKING:
    from .solids import Energy, Parts

_NAME = "holzapfel_gasser_ogden"
_THIRD = "at 1/3 the fibres have all directions alike"
_DISPERSED = Domain(0.0, 1.0 / 3.0, (True, True), why=_THIRD)
_FUNG = dict.fromkeys(("c", "b11", "b22", "b33", "b44", "b55", "b66", "k"), positive())


def _isochoric(E_gl: Matrix, J: Expr) -> Matrix:
    """Return the Green-Lagrange strain with the volume kept, (J^(-2/3) C - I)/2."""
    scale = J ** Rational(-2, 3)
    return scale * E_gl + (scale - 1) / 2 * eye(3)


def _normal(i: int, k: int) -> Callable[..., Any]:
    """Return the stiffness of normal strains i and k as a function of Fung's constants."""

    def stiffness(
        c: Any, b11: Any, b22: Any, b33: Any, b12: Any, b13: Any, b23: Any, k_: Any
    ) -> Any:
        b = ((b11, b12, b13), (b12, b22, b23), (b13, b23, b33))
        # three times the strain that keeps the volume, of a strain of 1 along an axis
        kept = [[3 * (m == n) - 1 for m in range(3)] for n in (i, k)]
        form = sum(kept[0][m] * b[m][n] * kept[1][n] for m in range(3) for n in range(3))
        return k_ + c * form / 9

    taking(stiffness, ("c", "b11", "b22", "b33", "b12", "b13", "b23", "k"))
    return stiffness


_FUNG_MODULI: dict[str, Callable[..., Any]] = {
    **{f"C{i + 1}{k + 1}": _normal(i, k) for i in range(3) for k in range(i, 3)},
    "G12": lambda c, b66: c * b66,
    "G13": lambda c, b55: c * b55,
    "G23": lambda c, b44: c * b44,
}


@catalogue
@domains(**_FUNG)
@moduli("orthotropic", **_FUNG_MODULI)
def fung(
    J: Expr,
    E_gl: Matrix,
    *,
    c: Expr,
    b11: Expr,
    b22: Expr,
    b33: Expr,
    b12: Expr,
    b13: Expr,
    b23: Expr,
    b44: Expr,
    b55: Expr,
    b66: Expr,
    k: Expr,
) -> Parts:
    r"""Fung's soft tissue: the exponential of a quadratic form of the strain.

    .. math::
        W &= \tfrac12 c\,(e^Q - 1) + \tfrac12 k (J-1)^2, \\
        Q &= b_{11}\bar E_{11}^2 + b_{22}\bar E_{22}^2 + b_{33}\bar E_{33}^2
            + 2 (b_{12}\bar E_{11}\bar E_{22} + b_{13}\bar E_{11}\bar E_{33}
            + b_{23}\bar E_{22}\bar E_{33}) \\
            &\quad + 4 (b_{44}\bar E_{23}^2 + b_{55}\bar E_{13}^2 + b_{66}\bar E_{12}^2), \quad
        \bar E = \tfrac12 (J^{-2/3} C - I).

    Returns
    -------
    The law, a function of

    - J, E_gl : det F and Green-Lagrange strain of a solid element [-]; 1, 2, 3 are its axes: x, y,
      z of a solid, in `symancf.Layers` those of the layer.
    - c : [Pa].
    - b11, ..., b66 : [-]; c b_ij are stiffnesses at small strain with the volume kept, in Voigt's
      order, so that the shear moduli are c b66 (12), c b55 (13) and c b44 (23). The form of b11,
      ..., b23 must be positive for strains that keep the volume.
    - k : bulk modulus [Pa].

    which returns ``{"deviatoric", "volumetric"}``: energy per reference volume [J/m^3]. An
    isotropic tissue of the shear modulus mu has b11 = b22 = b33 = 2 mu/c, b12 = b13 = b23 = 0 and
    b44 = b55 = b66 = mu/c.

    References
    ----------
    Y. C. Fung, K. Fronek, P. Patitucci, American Journal of Physiology 237 (1979) H620-H631;
    J. D. Humphrey, Cardiovascular Solid Mechanics (2002), section 7.5.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    >>> given = dict(c=1.0, b11=2.0, b22=1.0, b33=1.0, b12=0.1, b13=0.1, b23=0.1)
    >>> given |= dict(b44=0.5, b55=0.5, b66=0.5, k=100.0)
    >>> sa.Body(mesh["body"], sa.elements.hex8, sa.energies.fung(), **given)
    Body 'body': 1 hex8 with fung
    """
    e = _isochoric(E_gl, J)
    Q = b11 * e[0, 0] ** 2 + b22 * e[1, 1] ** 2 + b33 * e[2, 2] ** 2
    Q += 2 * (b12 * e[0, 0] * e[1, 1] + b13 * e[0, 0] * e[2, 2] + b23 * e[1, 1] * e[2, 2])
    Q += 4 * (b44 * e[1, 2] ** 2 + b55 * e[0, 2] ** 2 + b66 * e[0, 1] ** 2)
    return {"deviatoric": c / 2 * (exp(Q) - 1), "volumetric": k / 2 * (J - 1) ** 2}


@by_call
def holzapfel_gasser_ogden(*, fibres: Sequence[Direction] = ((1.0, 0.0, 0.0),)) -> Energy:
    r"""Return the energy of a tissue with families of fibres whose directions are dispersed.

    .. math::
        W &= \tfrac12\mu (\bar I_1 - 3)
            + \frac{k_1}{2 k_2} \sum_i \big(e^{k_2 \langle e_i \rangle^2} - 1\big)
            + \tfrac12 k (J-1)^2, \\
        e_i &= \kappa (\bar I_1 - 3) + (1 - 3\kappa)(\bar I_{4i} - 1), \quad
        \bar I_1 = J^{-2/3} \mathrm{tr}\, C, \quad \bar I_{4i} = J^{-2/3} a_i \cdot C a_i.

    Parameters
    ----------
    fibres : the mean direction a_i of each family in the reference, in the axes of the solid or
        of its layer: three numbers, or a function of X (3x1, symbols) that returns three. They
        are made unit vectors.

    Returns
    -------
    Function of J, I1, E_gl (and of X where a direction is a function of it), with the parameters
    mu: shear modulus of the matrix [Pa]; k1: [Pa], for kappa = 0 a fibre adds 4 k1 to the
    stiffness along it at small strain; k2: stiffening [-]; kappa: dispersion [-], 0 for parallel
    fibres to 1/3 for an isotropic tissue; k: bulk modulus [Pa]. It returns
    ``{"deviatoric", "volumetric"}``: energy per reference volume [J/m^3]. Fibres in
    compression do not act: :math:`\langle e \rangle` is e where it is positive, else 0.

    Raises
    ------
    KinematicsError : a direction is none.

    Examples
    --------
    Two families, 40 degrees to either side of x:

    >>> import symancf as sa
    >>> from math import cos, radians, sin
    >>> c, s = cos(radians(40)), sin(radians(40))
    >>> artery = sa.energies.holzapfel_gasser_ogden(fibres=((c, s, 0), (c, -s, 0)))
    >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    >>> given = dict(mu=7.64, k1=996.6, k2=524.6, kappa=0.226, k=1e4)  # kPa
    >>> sa.Body(mesh["body"], sa.elements.hex8, artery, **given)
    Body 'body': 1 hex8 with holzapfel_gasser_ogden

    References
    ----------
    T. C. Gasser, R. W. Ogden, G. A. Holzapfel, Journal of the Royal Society Interface 3 (2006)
    15-35.
    """
    directions = [direction_of(f"{_NAME}(fibres=)", "fibres", a) for a in _families(fibres)]
    names = ["J", "I1", "E_gl", *(["X"] if any(map(callable, directions)) else [])]

    def holzapfel_gasser_ogden(
        J: Expr,
        I1: Expr,
        E_gl: Matrix,
        *X: Matrix,
        mu: Expr,
        k1: Expr,
        k2: Expr,
        kappa: Expr,
        k: Expr,
    ) -> Parts:
        y, e, fibre = J ** Rational(-2, 3) * I1 - 3, _isochoric(E_gl, J), S.Zero
        for direction in directions:
            a = Matrix(direction(X[0]) if callable(direction) else direction)
            square = (a.T * a)[0, 0]
            stretched = 2 * (a.T * e * a)[0, 0] / square
            fibre += exp(k2 * Max(0, kappa * y + (1 - 3 * kappa) * stretched) ** 2) - 1
        return {
            "deviatoric": mu / 2 * y + k1 / (2 * k2) * fibre,
            "volumetric": k / 2 * (J - 1) ** 2,
        }

    limits = {"mu": positive(), "k1": not_negative(), "k2": positive(), "kappa": _DISPERSED}
    law = domains(**limits, k=positive())(holzapfel_gasser_ogden)
    law = moduli(**_moduli_of(directions))(law)
    taking(law, names, dict.fromkeys(("mu", "k1", "k2", "kappa", "k"), REQUIRED))
    return law


def _moduli_of(directions: Sequence[Any]) -> dict[str, Callable[..., Any]]:
    """Return the moduli at small strain, C11 with the fibres that a pull along axis 1 stretches."""
    plain: dict[str, Callable[..., Any]] = {
        f"G{pair}": lambda mu: mu for pair in ("12", "13", "23")
    }
    plain["k"] = lambda k: k
    if any(callable(a) for a in directions):
        return plain
    along = [a[0] ** 2 - 1 / 3 for a in directions]
    fibres = sum(x**2 for x in along if x > 0)
    return {
        **plain,
        "C11": lambda mu, k1, kappa, k: k + 4 * mu / 3 + 4 * k1 * (1 - 3 * kappa) ** 2 * fibres,
    }


def _families(fibres: Any) -> list[Any]:
    """Return the directions of the families; there is one at least.

    Raises
    ------
    KinematicsError
    """
    if isinstance(fibres, Sequence | np.ndarray) and not isinstance(fibres, str) and len(fibres):
        return list(fibres)
    raise KinematicsError(
        f"{_NAME}(fibres={label(fibres)}): give a list of directions, [(1, 0, 0), ...]",
        asked="fibres",
        given=fibres,
    )
