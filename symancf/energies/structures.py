# SPDX-License-Identifier: BSD-3-Clause
"""Energies of thin plates, cables and rods, in their own strains."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sympy import Add, Expr, Matrix, S

from ..errors import KinematicsError, ParameterError
from ..kinematics.moduli import OWN, isotropic
from ..kinematics.rod import ROD_STRAINS, STIFFNESS
from ..values.arguments import among
from ..values.domain import Domain, by_call, catalogue, domains, moduli, not_negative, positive
from ..values.functions import taking
from ..values.parameter import label, reals

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from .solids import Energy, Parts

_PLATE = {"E": positive(), "nu": Domain(-1.0, 0.5, (False, True), "as of every isotropic solid")}
_CABLE = {"EA": positive(), "EI": not_negative()}
_ROD = dict.fromkeys(("EA", "GA2", "GA3", "GJ", "EI2", "EI3", "rigidity"), positive())

_PLATE_MODULI: dict[str, Callable[..., Any]] = {
    "A11": lambda E, nu, thickness: E * thickness / (1 - nu**2),
    "A12": lambda E, nu, thickness: E * nu * thickness / (1 - nu**2),
    "A66": lambda E, nu, thickness: E * thickness / (2 * (1 + nu)),
    "D11": lambda E, nu, thickness: E * thickness**3 / (12 * (1 - nu**2)),
    "D12": lambda E, nu, thickness: E * nu * thickness**3 / (12 * (1 - nu**2)),
    "D66": lambda E, nu, thickness: E * thickness**3 / (24 * (1 + nu)),
}


def _lame(E: Any, nu: Any) -> tuple[Any, Any]:
    """Return lambda + 2 mu, and lambda."""
    factor = E / ((1 + nu) * (1 - 2 * nu))
    return factor * (1 - nu), factor * nu


_BEAM_MODULI: dict[str, Callable[..., Any]] = {
    **{f"C{i}{i}": lambda E, nu: _lame(E, nu)[0] for i in (1, 2, 3)},
    **{name: lambda E, nu: _lame(E, nu)[1] for name in ("C12", "C13", "C23")},
    "C44": lambda E, nu: E / (2 * (1 + nu)),
    "C55": lambda E, nu, k3: k3 * E / (2 * (1 + nu)),
    "C66": lambda E, nu, k2: k2 * E / (2 * (1 + nu)),
}
_CABLE_MODULI: dict[str, Callable[..., Any]] = {"EA": lambda EA: EA, "EI": lambda EI: EI}
_ROD_MODULI: dict[str, Callable[..., Any]] = {
    "EA": lambda EA: EA,
    "GA2": lambda GA2: GA2,
    "GA3": lambda GA3: GA3,
    "EI2": lambda EI2: EI2,
    "EI3": lambda EI3: EI3,
    "GA23": lambda GA23: GA23,
    "EI23": lambda EI23: EI23,
    "GJ": lambda GJ, GA2, GA3, GA23, y_shear, z_shear: (
        GJ + GA2 * z_shear**2 + GA3 * y_shear**2 - 2 * GA23 * y_shear * z_shear
    ),
}

#: What of a stiffness matrix with a diagonal of ones counts as 0.
ROUND_OFF = 1e-9


@by_call
def kirchhoff(*, curvature: Literal["n1", "n3", "n0"] = "n1") -> Energy:
    r"""Return the energy of a thin isotropic plate or shell (Kirchhoff-Love, Koiter).

    .. math::
        W = \frac{E h}{2(1-\nu^2)} \Big( Q(E_{gl}) + \frac{h^2}{12} Q(\kappa) \Big), \quad
        Q(A) = A_{11}^2 + A_{22}^2 + 2\nu A_{11} A_{22} + 2(1-\nu) A_{12}^2.

    Parameters
    ----------
    curvature : ``"n1"``: change of r_ab . n/|n|, the normal curvature per reference length;
        ``"n3"``: of r_ab . n |N|^2/|n|^3, as some of the ANCF literature writes it; ``"n0"``:
        of r_ab . n/|N|, a polynomial in r. They differ by products of membrane strain and
        curvature, which the theory neglects. Take ``"n0"`` for membranes so soft that they are
        stretched to twice their length: they become threads, see Notes.

    Returns
    -------
    Function of the quantities `E_gl` and `kappa` (`kappa_n3`, `kappa_n0`) of a thin plate and of
    the parameters `E` [Pa], `nu` [-] and `thickness` h [m]; energy per reference area [J/m^2].

    Raises
    ------
    KinematicsError : if there is no such measure of curvature.

    Notes
    -----
    The membrane is linear in the Green-Lagrange strain: free to contract, its width vanishes at
    an axial stretch of sqrt(1 + 1/nu), 2.08 for nu = 0.3, and beyond swings through zero. There
    n = 0, and with ``"n1"`` and ``"n3"`` the forces of bending jump.

    References
    ----------
    W. T. Koiter, On the nonlinear theory of thin elastic shells (1966); K. Dufva,
    A. A. Shabana, Proc. IMechE K 219 (2005) 345-355.

    Examples
    --------
    >>> import symancf as sa
    >>> sheet = sa.Mesh.box((1.0, 1.0), (2, 2))["body"]
    >>> given = {"E": 1e6, "nu": 0.3, "thickness": 0.01}
    >>> sa.Body(sheet, sa.elements.ancf_thin_plate, sa.energies.kirchhoff(), **given)
    Body 'body': 4 ancf_thin_plate with kirchhoff
    """

    def density(E_gl: Matrix, kappa: Matrix, E: Expr, nu: Expr, h: Expr) -> Expr:
        def Q(A: Matrix) -> Expr:
            poisson = 2 * nu * A[0, 0] * A[1, 1] + 2 * (1 - nu) * A[0, 1] ** 2
            return A[0, 0] ** 2 + A[1, 1] ** 2 + poisson

        return E * h / (2 * (1 - nu**2)) * (Q(E_gl) + h**2 / 12 * Q(kappa))

    if not among(curvature, ("n1", "n3", "n0")):
        raise _no_such("kirchhoff", "curvature", curvature, ("n1", "n3", "n0"))
    if curvature == "n1":

        @isotropic(**OWN)
        @domains(**_PLATE)
        @moduli("isotropic", **_PLATE_MODULI)
        def kirchhoff(E_gl: Matrix, kappa: Matrix, *, E: Expr, nu: Expr, thickness: Expr) -> Expr:
            return density(E_gl, kappa, E, nu, thickness)

        return kirchhoff
    if curvature == "n3":

        @isotropic(**OWN)
        @domains(**_PLATE)
        @moduli("isotropic", **_PLATE_MODULI)
        def kirchhoff_n3(
            E_gl: Matrix, kappa_n3: Matrix, *, E: Expr, nu: Expr, thickness: Expr
        ) -> Expr:
            return density(E_gl, kappa_n3, E, nu, thickness)

        return kirchhoff_n3

    @isotropic(**OWN)
    @domains(**_PLATE)
    @moduli("isotropic", **_PLATE_MODULI)
    def kirchhoff_n0(E_gl: Matrix, kappa_n0: Matrix, *, E: Expr, nu: Expr, thickness: Expr) -> Expr:
        return density(E_gl, kappa_n0, E, nu, thickness)

    return kirchhoff_n0


@by_call
def cable(
    *,
    strain: Literal["biot", "green"] = "biot",
    curvature: Literal["reference", "geometric", "plane"] = "reference",
) -> Energy:
    r"""Return the energy of a cable or thin beam without torsion.

    .. math:: W = \tfrac12 EA\,\epsilon^2 + \tfrac12 EI\,\kappa^2.

    Parameters
    ----------
    strain : ``"biot"``: epsilon = |r'| - 1; ``"green"``: epsilon = (|r'|^2 - 1)/2. A prime is a
        derivative by the reference arc length.
    curvature : ``"reference"``: kappa = |r' x r''|/|r'|^2, the turn of the tangent per reference
        length; a tip moment M then rolls a cantilever up to the exact circle kappa = M/EI
        with no axial strain at any EA. ``"geometric"``: kappa = |r' x r''|/|r'|^3, the
        curvature of the current curve; bending then also shortens the axis, epsilon =
        -EI kappa^2/EA to first order, which vanishes in the thin limit. On curved references
        kappa is the change of curvature. ``"plane"``: the signed turn about z per reference
        length, for cables in a plane z = const whose curvature may change sign.

    Returns
    -------
    Function of the quantities of a cable and of the parameters `EA` [N] and `EI` [N m^2];
    energy per reference length [J/m].

    Raises
    ------
    KinematicsError : if there is no such measure.

    References
    ----------
    M. Berzeri, A. A. Shabana, Journal of Sound and Vibration 235 (2000) 539-565; J. Gerstmayr,
    H. Irschik, Journal of Sound and Vibration 318 (2008) 461-487 (the measure per reference
    length).

    Examples
    --------
    >>> import symancf as sa
    >>> line = sa.Mesh.box((1.0,), (4,))["body"]
    >>> sa.Body(line, sa.elements.ancf_cable, sa.energies.cable(), EA=1e3, EI=1.0)
    Body 'body': 4 ancf_cable with cable
    """
    if not among(strain, ("biot", "green")):
        raise _no_such("cable", "strain", strain, ("biot", "green"))
    if not among(curvature, ("reference", "geometric", "plane")):
        raise _no_such("cable", "curvature", curvature, ("reference", "geometric", "plane"))

    @domains(**_CABLE)
    @moduli(**_CABLE_MODULI)
    def cable(epsilon: Expr, kappa: Expr, *, EA: Expr, EI: Expr) -> Expr:
        return EA * epsilon**2 / 2 + EI * kappa**2 / 2

    @domains(**_CABLE)
    @moduli(**_CABLE_MODULI)
    def cable_green(epsilon_green: Expr, kappa: Expr, *, EA: Expr, EI: Expr) -> Expr:
        return EA * epsilon_green**2 / 2 + EI * kappa**2 / 2

    @domains(**_CABLE)
    @moduli(**_CABLE_MODULI)
    def cable_geometric(epsilon: Expr, kappa_geometric: Expr, *, EA: Expr, EI: Expr) -> Expr:
        return EA * epsilon**2 / 2 + EI * kappa_geometric**2 / 2

    @domains(**_CABLE)
    @moduli(**_CABLE_MODULI)
    def cable_green_geometric(
        epsilon_green: Expr, kappa_geometric: Expr, *, EA: Expr, EI: Expr
    ) -> Expr:
        return EA * epsilon_green**2 / 2 + EI * kappa_geometric**2 / 2

    @domains(**_CABLE)
    @moduli(**_CABLE_MODULI)
    def cable_plane(epsilon: Expr, kappa_plane: Expr, *, EA: Expr, EI: Expr) -> Expr:
        return EA * epsilon**2 / 2 + EI * kappa_plane**2 / 2

    @domains(**_CABLE)
    @moduli(**_CABLE_MODULI)
    def cable_green_plane(epsilon_green: Expr, kappa_plane: Expr, *, EA: Expr, EI: Expr) -> Expr:
        return EA * epsilon_green**2 / 2 + EI * kappa_plane**2 / 2

    if curvature == "plane":
        return cable_plane if strain == "biot" else cable_green_plane
    if curvature == "reference":
        return cable if strain == "biot" else cable_green
    return cable_geometric if strain == "biot" else cable_green_geometric


@catalogue
@isotropic(**OWN)
@domains(**_PLATE, k2=positive(), k3=positive())
@moduli(**_BEAM_MODULI)
def split_beam(
    E_beam: Matrix, *, E: Expr, nu: Expr, k2: Expr = 1.0, k3: Expr = 1.0
) -> dict[str, Expr]:
    r"""Return the energy of a beam whose Poisson effect acts on its axis alone.

    .. math::
        W = \tfrac12 E (E_{11}^2 + E_{22}^2 + E_{33}^2)
            + 2 G (k_2 E_{12}^2 + k_3 E_{13}^2 + E_{23}^2) \;+\;
            \tfrac12 E_{ii} (D^\nu)_{ij} E_{jj} \quad\text{on the axis},

    the enhanced continuum mechanics formulation. :math:`D + D^\nu` is St Venant-Kirchhoff's
    matrix with its shear modulus G; on the axis bending is free of the Poisson ratio, which solid
    energies on sections that keep their shape are not.

    Returns
    -------
    The law, a function of

    - E_beam : Green-Lagrange strain in the axes of the section [-].
    - E, nu : Young's modulus [Pa] and Poisson's ratio.
    - k2, k3 : shear factors.

    which returns ``{"stiff", "axis"}``: energy per reference volume [J/m^3].

    References
    ----------
    Gerstmayr, J., Matikainen, M. K., Mikkola, A. M., Multibody System Dynamics 20 (2008) 359-384;
    Nachbagauer, K., Pechstein, A. S., Irschik, H., Gerstmayr, J., Multibody System Dynamics 26
    (2011) 245-263.

    Examples
    --------
    >>> import symancf as sa
    >>> line = sa.Mesh.box((1.0,), (2,), cell="line3")["body"]
    >>> given = dict(E=1e9, nu=0.3, width=0.02, height=0.02)
    >>> sa.Body(line, sa.elements.ancf_3333, sa.energies.split_beam(), **given)
    Body 'body': 2 ancf_3333 with split_beam
    """
    G = E / (2 * (1 + nu))
    normal = [E_beam[i, i] for i in range(3)]
    stiff = E / 2 * sum((e**2 for e in normal), S.Zero)
    stiff += 2 * G * (k2 * E_beam[0, 1] ** 2 + k3 * E_beam[0, 2] ** 2 + E_beam[1, 2] ** 2)
    first = E * (1 - nu) / ((1 + nu) * (1 - 2 * nu)) - E
    other = E * nu / ((1 + nu) * (1 - 2 * nu))
    pairs = sum((normal[i] * normal[i - 1] for i in range(3)), S.Zero)
    return {"stiff": stiff, "axis": first / 2 * sum((e**2 for e in normal), S.Zero) + other * pairs}


def _coupled(*, C: npt.ArrayLike | None = None) -> Energy:
    """Return the law of a rod with a full stiffness matrix; see `rod`."""
    matrix = _stiffness(C)

    def rod(*quantities: Any, rigidity: Expr, **entries: Expr) -> Parts:
        *e, E_section, cell_length = quantities
        strain = Add(
            *(entries[n] * e[i] * e[k] / (1 + (i == k)) for (i, k), n in STIFFNESS.items())
        )
        stiff = (entries[STIFFNESS[i, i]] for i in (0, 4, 5))
        return {
            "strain": strain,
            "section": _section_energy(E_section, cell_length, rigidity, *stiff),
        }

    numbers = {name: float(matrix[place]) for place, name in STIFFNESS.items()}
    taking(rod, (*ROD_STRAINS, "E_section", "cell_length"), {**numbers, "rigidity": 1e3})
    limits = {STIFFNESS[i, i]: positive() for i in range(6)}
    return domains(**limits, rigidity=positive())(rod)


@partial(catalogue, choices=_coupled)
@domains(**_ROD)
@moduli(**_ROD_MODULI)
def rod(
    epsilon: Expr,
    gamma2: Expr,
    gamma3: Expr,
    kappa1: Expr,
    kappa2: Expr,
    kappa3: Expr,
    E_section: Matrix,
    cell_length: Expr,
    *,
    EA: Expr,
    GA2: Expr,
    GA3: Expr,
    GJ: Expr,
    EI2: Expr,
    EI3: Expr,
    rigidity: Expr = 1e3,
    GA23: Expr = 0.0,
    EI23: Expr = 0.0,
    y_shear: Expr = 0.0,
    z_shear: Expr = 0.0,
) -> Parts:
    r"""Return the energy of a rod with shear and torsion, its axis the centroid of its sections.

    With the shears of the shear centre :math:`g_2 = \gamma_2 - z_s \kappa_1`,
    :math:`g_3 = \gamma_3 + y_s \kappa_1`,

    .. math::
        W = \tfrac12\bigl(EA\,\epsilon^2 + GA_2\,g_2^2 + GA_3\,g_3^2 + 2 GA_{23}\,g_2 g_3
            + GJ\,\kappa_1^2 + EI_2 \kappa_2^2 + EI_3 \kappa_3^2 - 2 EI_{23} \kappa_2\kappa_3\bigr)
            + \tfrac12\,\rho\,EA\,|E|^2, \qquad
        \rho = \rho_0 \Bigl(1 + \frac{100\,s}{1 + s}\Bigr), \quad
        s = \frac{50}{EA\,h^2} \frac{EI_2\,EI_3}{EI_2 + EI_3} .

    The last part, at the nodes, keeps the directors orthonormal: E is their strain, rho_0 the
    `rigidity`, h the length of the cell. Strains of the section are of the size of
    (r kappa)^2/rho, with the radius of gyration r: below 1e-6 as long as cells turn by less than
    a radian. A larger one takes more iterations, and digits of slow motions.

    With a stiffness matrix C (6, 6) the energy of the strains is that of any couplings,

    .. math::
        W = \tfrac12\, e \cdot C e + \tfrac12\,\rho\,C_{11}\,|E|^2, \qquad
        e = (\epsilon, \gamma_2, \gamma_3, \kappa_1, \kappa_2, \kappa_3),

    its forces and moments C e: :math:`C_{14}` couples extension and twist, :math:`C_{45}` bending
    and twist, :math:`C_{12}` extension and shear. `symancf.Section.laminate` computes it for
    strips of layers.

    Parameters
    ----------
    C : symmetric and positive definite, in N, N m, N m^2; None: the law of EA, GA2, ....

    Returns
    -------
    The law, a function of

    - epsilon, gamma2, gamma3 : axial strain and shears [-]; see `kinematics.rod`.
    - kappa1, kappa2, kappa3 : twist and changes of bending curvature [1/m].
    - E_section : strain of the directors [-].
    - cell_length : reference length of the cell [m].
    - EA, GA2, GA3 : axial and shear stiffness, with shear factors [N].
    - GJ, EI2, EI3 : torsional and bending stiffness [N m^2]; EI2 that of bending about axis 2.
      `symancf.Section` computes all of these.
    - rigidity : stiffness of the section over EA, of slender cells [-].
    - GA23, EI23 : of axes that are not principal ones [N], [N m^2].
    - y_shear, z_shear : the shear centre [m].

    which returns ``{"strain", "section"}``: energy per reference length [J/m]. With `C` it takes
    C11, C12, ..., C66, the upper triangle, in the place of EA to z_shear; they are those of the
    matrix unless the body is given others, `Parameter` or `Field`.

    Raises
    ------
    ParameterError : C is no such matrix; it names entries that differ, or the eigenvalue.

    References
    ----------
    J. C. Simo, L. Vu-Quoc, Computer Methods in Applied Mechanics and Engineering 58 (1986) 79-116;
    D. H. Hodges, Nonlinear Composite Beam Theory (2006), chapter 4 (couplings).

    Examples
    --------
    >>> import symancf as sa
    >>> line = sa.Mesh.box((1.0,), (2,), cell="line3")["body"]
    >>> given = dict(EA=1e4, EI2=1.0, EI3=1.0, GJ=0.8, GA2=3e3, GA3=3e3)
    >>> sa.Body(line, sa.elements.ancf_rod, sa.energies.rod(), **given)
    Body 'body': 2 ancf_rod with rod

    A rod that twists when it is pulled:

    >>> import numpy as np
    >>> C = np.diag([1e4, 3e3, 3e3, 0.8, 1.0, 1.0])
    >>> C[0, 3] = C[3, 0] = 20.0
    >>> sa.Body(line, sa.elements.ancf_rod, sa.energies.rod(C=C))
    Body 'body': 2 ancf_rod with rod
    """
    g2, g3 = gamma2 - z_shear * kappa1, gamma3 + y_shear * kappa1
    strain = EA * epsilon**2 + GA2 * g2**2 + GA3 * g3**2 + 2 * GA23 * g2 * g3
    strain += GJ * kappa1**2 + EI2 * kappa2**2 + EI3 * kappa3**2 - 2 * EI23 * kappa2 * kappa3
    section = _section_energy(E_section, cell_length, rigidity, EA, EI2, EI3)
    return {"strain": strain / 2, "section": section}


def _section_energy(
    E: Matrix, cell_length: Expr, rigidity: Expr, EA: Expr, EI2: Expr, EI3: Expr
) -> Expr:
    """Return the energy that keeps the directors of a rod orthonormal."""
    squares = sum((E[i, j] ** 2 for i in range(3) for j in range(3)), S.Zero)
    thick = 50 * EI2 * EI3 / ((EI2 + EI3) * EA * cell_length**2)
    rigidity *= 1 + 100 * thick / (1 + thick)
    return rigidity * EA / 2 * squares


def _stiffness(given: Any) -> npt.NDArray[np.float64]:
    """Return a symmetric positive definite matrix (6, 6).

    Raises
    ------
    ParameterError : it is none; it says which entries differ, or the eigenvalue.
    """

    def refuse(why: str) -> ParameterError:
        return ParameterError(f"rod(C=...): {why}", asked="C", given=given)

    C = reals(given)
    strains = ", ".join(ROD_STRAINS)
    if C.shape != (6, 6):
        raise refuse(f"C is {label(given)}: give a matrix (6, 6) of numbers, by {strains}")
    diagonal = np.diag(C)
    for n, x in enumerate(diagonal, 1):
        if not x > 0.0:
            raise refuse(f"C{n}{n}, of {ROD_STRAINS[n - 1]}, is {x:g}: it must be positive")
    scaled = C / np.sqrt(np.outer(diagonal, diagonal))
    wrong = np.argwhere(np.abs(scaled - scaled.T) > ROUND_OFF)
    if len(wrong):
        i, k = wrong[0].tolist()
        raise refuse(
            f"C{i + 1}{k + 1} is {C[i, k]:g}, C{k + 1}{i + 1} is {C[k, i]:g}: it must be symmetric"
        )
    values, vectors = np.linalg.eigh((scaled + scaled.T) / 2.0)
    if not values[0] > ROUND_OFF:
        parts = zip(ROD_STRAINS, np.abs(vectors[:, 0]), strict=True)
        names = ", ".join(name for name, part in parts if part > 0.3)
        raise refuse(
            f"C with its rows and columns over the roots of its diagonal has the eigenvalue "
            f"{values[0]:.3g}, of {names}: it must be positive definite"
        )
    return np.asarray((C + C.T) / 2.0)


def _no_such(name: str, argument: str, given: str, possible: tuple[str, ...]) -> KinematicsError:
    choices = " or ".join(repr(p) for p in possible)
    return KinematicsError(
        f"{name}({argument}={given!r}) is not possible: choose {choices}",
        asked=argument,
        possible=possible,
        given=given,
    )
