# SPDX-License-Identifier: BSD-3-Clause
"""Energies of solids, and of plates with three-dimensional strain."""

from __future__ import annotations

from collections.abc import Callable

from sympy import Expr, Matrix, Rational, S, log

from ..errors import KinematicsError
from ..kinematics.moduli import OWN, YOUNG, isotropic
from ..values.domain import (
    Domain,
    NotZero,
    by_call,
    catalogue,
    combinations,
    domains,
    moduli,
    not_negative,
    positive,
    stressed_at_rest,
)
from ..values.functions import REQUIRED, taking
from ..values.parameter import label

#: Coefficients of the inverse Langevin function in Arruda's and Boyce's series.
_CHAINS = [Rational(*n) for n in ((1, 2), (1, 20), (11, 1050), (19, 7000), (519, 673750))]

Parts = dict[str, Expr]
Energy = Callable[..., Expr]

MAX_TERMS = 20  # terms; those of tables are three


@catalogue
@isotropic(C10=lambda mu: mu / 2, k=lambda k: k)
@domains(C10=positive(), k=positive())
@moduli("isotropic", mu=lambda C10: 2 * C10, k=lambda k: k)
def yeoh(J: Expr, I1: Expr, *, C10: Expr, C20: Expr, C30: Expr, k: Expr) -> Parts:
    r"""Yeoh rubber with split invariants, in a deviatoric and a volumetric part.

    .. math::
        W = C_{10}\,y + C_{20}\,y^2 + C_{30}\,y^3 + \tfrac12 k (J-1)^2, \quad
        y = J^{-2/3} I_1 - 3.

    Returns
    -------
    The law, a function of

    - J, I1 : det F and tr C of a solid element [-].
    - C10, C20, C30 : [Pa]; the shear modulus is 2 C10.
    - k : bulk modulus [Pa].

    which returns ``{"deviatoric", "volumetric"}``: energy per reference volume [J/m^3].
    C10 and k may be given as E and nu, G and nu, or G and k (moduli at small strain).

    Notes
    -----
    ``volumetric="full"`` integrates k/2 (J-1)^2 everywhere and locks when k is large:
    refinement converges slowly. ``"reduced"`` integrates it at the mid-surface or centre only:
    a single layer is about 2.7 times too soft in bending, and refinement in the plane does not
    mend it. ``"split"`` (default on plates) keeps the plane-stress bulk modulus everywhere.

    References
    ----------
    O. H. Yeoh, Rubber Chemistry and Technology 66 (1993) 754-771.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    >>> given = dict(C10=1.0, C20=0.1, C30=0.0, k=100.0)
    >>> sa.Body(mesh["body"], sa.elements.hex8, sa.energies.yeoh(), **given)
    Body 'body': 1 hex8 with yeoh
    """
    y = J ** Rational(-2, 3) * I1 - 3
    return {"deviatoric": C10 * y + C20 * y**2 + C30 * y**3, "volumetric": k / 2 * (J - 1) ** 2}


@catalogue
@stressed_at_rest
@domains(C10=positive(), k=positive())
@moduli("isotropic")
def yeoh_raw(J: Expr, I1: Expr, *, C10: Expr, C20: Expr, C30: Expr, k: Expr) -> Parts:
    r"""Yeoh rubber with the plain first invariant, as some of the ANCF literature prints it.

    .. math::
        W = C_{10}\,y + C_{20}\,y^2 + C_{30}\,y^3 + \tfrac12 k (J-1)^2, \quad y = I_1 - 3.

    It is *not* free of stress at F = I: there P = 2 C10 I, and the free state is an isotropic
    shrink (to stretch 0.998 for k = 1e8 Pa and C10 = 0.27 MPa). Use `yeoh` unless you reproduce
    such a paper.

    Returns
    -------
    The law, a function of

    - J, I1 : det F and tr C of a solid element [-].
    - C10, C20, C30, k : [Pa].

    which returns ``{"deviatoric", "volumetric"}``: energy per reference volume [J/m^3].

    References
    ----------
    Z. Xing et al., Machines 10 (2022) 518.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    >>> given = dict(C10=1.0, C20=0.1, C30=0.0, k=100.0)
    >>> sa.Body(mesh["body"], sa.elements.hex8, sa.energies.yeoh_raw(), **given)
    Body 'body': 1 hex8 with yeoh_raw
    """
    y = I1 - 3
    return {"deviatoric": C10 * y + C20 * y**2 + C30 * y**3, "volumetric": k / 2 * (J - 1) ** 2}


@catalogue
@isotropic(mu=lambda mu: mu, lam=lambda mu, k: k - 2 * mu / 3)
@domains(mu=positive())
@moduli("isotropic", mu=lambda mu: mu, lam=lambda lam: lam)
def neo_hooke(J: Expr, I1: Expr, *, mu: Expr, lam: Expr) -> Parts:
    r"""Compressible neo-Hookean solid.

    .. math:: W = \tfrac12\mu (I_1 - 3) - \mu \ln J + \tfrac12\lambda \ln^2 J.

    Returns
    -------
    The law, a function of

    - J, I1 : det F and tr C of a solid element [-].
    - mu, lam : Lamé parameters [Pa]; mu = E/(2 (1 + nu)), lam = E nu/((1 + nu)(1 - 2 nu)).

    which returns ``{"deviatoric", "volumetric"}``: energy per reference volume [J/m^3].
    mu and lam may be given as E and nu, G and nu, or G and k (moduli at small strain).

    References
    ----------
    J. Bonet, R. D. Wood, Nonlinear Continuum Mechanics for Finite Element Analysis, 2nd ed.
    (2008), eq. (6.27).

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    >>> given = dict(mu=1.0, lam=2.0)
    >>> sa.Body(mesh["body"], sa.elements.hex8, sa.energies.neo_hooke(), **given)
    Body 'body': 1 hex8 with neo_hooke
    """
    return {"deviatoric": mu / 2 * (I1 - 3 - 2 * log(J)), "volumetric": lam / 2 * log(J) ** 2}


@catalogue
@isotropic(**OWN)
@domains(**YOUNG)
@moduli("isotropic", E=lambda E: E, nu=lambda nu: nu)
def saint_venant_kirchhoff(E_gl: Matrix, *, E: Expr, nu: Expr) -> Parts:
    r"""St Venant-Kirchhoff solid: linear in the Green-Lagrange strain, for small strains.

    .. math::
        W = \mu\,(E_{gl}:E_{gl} - \tfrac13 \mathrm{tr}^2 E_{gl})
            + \tfrac12 k\,\mathrm{tr}^2 E_{gl}, \quad
        \mu = \frac{E}{2(1+\nu)}, \quad k = \frac{E}{3(1-2\nu)}.

    Returns
    -------
    The law, a function of

    - E_gl : Green-Lagrange strain of a solid element, 3x3 [-].
    - E : Young's modulus [Pa].
    - nu : Poisson's ratio [-]; at 1/2 the bulk modulus is infinite.

    which returns ``{"deviatoric", "volumetric"}``: energy per reference volume [J/m^3]. On plates
    the default ``volumetric="split"`` gives the bending stiffness of plane stress,
    E h^3/(12 (1 - nu^2)); ``"full"`` gives that of a suppressed thickness change.

    References
    ----------
    P. G. Ciarlet, Mathematical Elasticity I (1988), section 4.4.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    >>> given = dict(E=1.0, nu=0.3)
    >>> sa.Body(mesh["body"], sa.elements.hex8, sa.energies.saint_venant_kirchhoff(), **given)
    Body 'body': 1 hex8 with saint_venant_kirchhoff
    """
    mu, k = E / (2 * (1 + nu)), E / (3 * (1 - 2 * nu))
    trace = E_gl.trace()
    square = sum(x**2 for x in E_gl)
    return {"deviatoric": mu * (square - trace**2 / 3), "volumetric": k / 2 * trace**2}


@catalogue
@isotropic(
    C10=lambda mu, ratio: mu / (2 * (1 + ratio)),
    C01=lambda mu, ratio: mu * ratio / (2 * (1 + ratio)),
    k=lambda k: k,
)
@domains(k=positive())
@combinations({"C10 + C01": (lambda C10, C01: C10 + C01, positive("half of the shear modulus"))})
@moduli("isotropic", mu=lambda C10, C01: 2 * (C10 + C01), k=lambda k: k)
def mooney_rivlin(J: Expr, I1: Expr, I2: Expr, *, C10: Expr, C01: Expr, k: Expr) -> Parts:
    r"""Mooney-Rivlin rubber with split invariants.

    .. math::
        W = C_{10}\,(J^{-2/3} I_1 - 3) + C_{01}\,(J^{-4/3} I_2 - 3) + \tfrac12 k (J-1)^2.

    Returns
    -------
    The law, a function of

    - J, I1, I2 : det F, tr C and ((tr C)^2 - tr C^2)/2 of a solid element [-].
    - C10, C01 : [Pa]; the shear modulus is 2 (C10 + C01). The same as `ogden` of two terms with
      mu1 = 2 C10, alpha1 = 2, mu2 = -2 C01, alpha2 = -2.
    - k : bulk modulus [Pa].

    which returns ``{"deviatoric", "volumetric"}``: energy per reference volume [J/m^3].
    C10, C01 and k may be given as E and nu, G and nu, or G and k (moduli at small strain) with
    ratio = C01/C10.

    References
    ----------
    R. S. Rivlin, Phil. Trans. R. Soc. A 241 (1948) 379-397; split as in J. C. Simo, R. L. Taylor,
    Computer Methods in Applied Mechanics and Engineering 85 (1991) 273-310.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    >>> given = dict(C10=1.0, C01=0.1, k=100.0)
    >>> sa.Body(mesh["body"], sa.elements.hex8, sa.energies.mooney_rivlin(), **given)
    Body 'body': 1 hex8 with mooney_rivlin
    """
    first, second = J ** Rational(-2, 3) * I1 - 3, J ** Rational(-4, 3) * I2 - 3
    return {"deviatoric": C10 * first + C01 * second, "volumetric": k / 2 * (J - 1) ** 2}


@catalogue
@isotropic(mu=lambda mu: mu, k=lambda k: k)
@domains(mu=positive(), Jm=positive(), k=positive())
@moduli("isotropic", mu=lambda mu: mu, k=lambda k: k)
def gent(J: Expr, I1: Expr, *, mu: Expr, Jm: Expr, k: Expr) -> Parts:
    r"""Gent rubber, whose chains can be stretched to an end.

    .. math::
        W = -\tfrac12 \mu J_m \ln\Big(1 - \frac{y}{J_m}\Big) + \tfrac12 k (J-1)^2, \quad
        y = J^{-2/3} I_1 - 3.

    Returns
    -------
    The law, a function of

    - J, I1 : det F and tr C of a solid element [-].
    - mu : shear modulus [Pa].
    - Jm : what y cannot reach [-]; a state beyond it counts as one that has left the domain of its
      law, so the step is cut.
    - k : bulk modulus [Pa].

    which returns ``{"deviatoric", "volumetric"}``: energy per reference volume [J/m^3].
    mu and k may be given as E and nu, G and nu, or G and k (moduli at small strain).

    References
    ----------
    A. N. Gent, Rubber Chemistry and Technology 69 (1996) 59-61.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    >>> given = dict(mu=1.0, Jm=50.0, k=100.0)
    >>> sa.Body(mesh["body"], sa.elements.hex8, sa.energies.gent(), **given)
    Body 'body': 1 hex8 with gent
    """
    y = J ** Rational(-2, 3) * I1 - 3
    return {"deviatoric": -mu * Jm / 2 * log(1 - y / Jm), "volumetric": k / 2 * (J - 1) ** 2}


def _stiffening(lambda_m: Expr) -> Expr:
    """Return the shear modulus of Arruda's and Boyce's law over its mu."""
    terms = (2 * (i + 1) * 3**i * c / lambda_m ** (2 * i) for i, c in enumerate(_CHAINS))
    return sum(terms, S.Zero)


@catalogue
@isotropic(mu=lambda mu, lambda_m: mu / _stiffening(lambda_m), k=lambda k: k)
@domains(mu=positive(), lambda_m=positive(), k=positive())
@moduli("isotropic", mu=lambda mu, lambda_m: mu * _stiffening(lambda_m), k=lambda k: k)
def arruda_boyce(J: Expr, I1: Expr, *, mu: Expr, lambda_m: Expr, k: Expr) -> Parts:
    r"""Arruda-Boyce rubber, eight chains, in five terms of the inverse Langevin function.

    .. math::
        W = \mu \sum_{i=1}^5 \frac{c_i}{\lambda_m^{2i-2}} (\bar I_1^i - 3^i)
            + \tfrac12 k (J-1)^2, \quad \bar I_1 = J^{-2/3} I_1, \quad
        c = \tfrac12, \tfrac1{20}, \tfrac{11}{1050}, \tfrac{19}{7000}, \tfrac{519}{673750}.

    Returns
    -------
    The law, a function of

    - J, I1 : det F and tr C of a solid element [-].
    - mu : [Pa]; the shear modulus is mu (1 + 3/(5 lambda_m^2) + 99/(175 lambda_m^4) + ...).
    - lambda_m : stretch at which the chains are straight [-]. The series has no end there: at
      stretches of the chains, sqrt(I1/3), of 0.5, 0.7, 0.8 and 0.9 lambda_m its stress is 0.07,
      2.4, 10 and 34 % below that of the inverse Langevin function. `gent` has an end.
    - k : bulk modulus [Pa].

    which returns ``{"deviatoric", "volumetric"}``: energy per reference volume [J/m^3].
    mu and k may be given as E and nu, G and nu, or G and k (moduli at small strain).

    References
    ----------
    E. M. Arruda, M. C. Boyce, Journal of the Mechanics and Physics of Solids 41 (1993) 389-412.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    >>> given = dict(mu=1.0, lambda_m=5.0, k=100.0)
    >>> sa.Body(mesh["body"], sa.elements.hex8, sa.energies.arruda_boyce(), **given)
    Body 'body': 1 hex8 with arruda_boyce
    """
    y = J ** Rational(-2, 3) * I1 - 3
    series = sum(
        c / lambda_m ** (2 * i) * ((y + 3) ** (i + 1) - 3 ** (i + 1)) for i, c in enumerate(_CHAINS)
    )
    return {"deviatoric": mu * series, "volumetric": k / 2 * (J - 1) ** 2}


@catalogue
@isotropic(mu=lambda mu: mu, k=lambda k: k)
@domains(mu=positive(), k=positive())
@moduli("isotropic", mu=lambda mu: mu, k=lambda k: k)
def hencky(J: Expr, lambda1: Expr, lambda2: Expr, lambda3: Expr, *, mu: Expr, k: Expr) -> Parts:
    r"""Hencky's solid: quadratic in the logarithmic strain, for moderate strains.

    .. math::
        W = \mu \sum_{a=1}^3 \ln^2 \bar\lambda_a + \tfrac12 k \ln^2 J, \quad
        \bar\lambda_a = J^{-1/3} \lambda_a.

    Returns
    -------
    The law, a function of

    - J, lambda1, lambda2, lambda3 : det F and principal stretches of a solid element [-].
    - mu : shear modulus [Pa].
    - k : bulk modulus [Pa].

    which returns ``{"deviatoric", "volumetric"}``: energy per reference volume [J/m^3].
    mu and k may be given as E and nu, G and nu, or G and k (moduli at small strain).
    Of an incompressible bar the force has its largest value at a stretch of e = 2.718, where it
    loses its stability.

    References
    ----------
    H. Hencky, Zeitschrift für technische Physik 9 (1928) 215-220; L. Anand, Journal of Applied
    Mechanics 46 (1979) 78-82.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    >>> sa.Body(mesh["body"], sa.elements.hex8, sa.energies.hencky(), mu=1.0, k=2.0)
    Body 'body': 1 hex8 with hencky
    """
    squares = log(lambda1) ** 2 + log(lambda2) ** 2 + log(lambda3) ** 2
    return {"deviatoric": mu * (squares - log(J) ** 2 / 3), "volumetric": k / 2 * log(J) ** 2}


@catalogue
@isotropic(
    Gc=lambda mu, delta, ratio: mu / (1 - 2 * delta**2 + ratio),
    Ge=lambda mu, delta, ratio: mu * ratio / (1 - 2 * delta**2 + ratio),
    k=lambda k: k,
)
@domains(
    Gc=positive(),
    Ge=not_negative(),
    beta=Domain(0.0, 1.0, (False, True)),
    delta=Domain(0.0, 1.0, (True, False), why="at 1 the chains cannot be stretched"),
    k=positive(),
)
@moduli("isotropic", mu=lambda Gc, Ge, delta: Gc * (1 - 2 * delta**2) + Ge, k=lambda k: k)
def extended_tube(
    J: Expr,
    I1: Expr,
    lambda1: Expr,
    lambda2: Expr,
    lambda3: Expr,
    *,
    Gc: Expr,
    Ge: Expr,
    beta: Expr,
    delta: Expr,
    k: Expr,
) -> Parts:
    r"""Extended tube model of rubber: crosslinks of finite extensibility, and entanglements.

    .. math::
        W = \tfrac12 G_c \Big( \frac{(1 - \delta^2)\,y}{1 - \delta^2 y}
                + \ln(1 - \delta^2 y) \Big)
            + \frac{2 G_e}{\beta^2} \sum_{a=1}^3 \big(\bar\lambda_a^{-\beta} - 1\big)
            + \tfrac12 k (J-1)^2, \quad y = J^{-2/3} I_1 - 3.

    Returns
    -------
    The law, a function of

    - J, I1, lambda1, lambda2, lambda3 : det F, tr C and principal stretches of a solid [-].
    - Gc, Ge : moduli of crosslinks and of entanglements [Pa]; the shear modulus is
      Gc (1 - 2 delta^2) + Ge.
    - beta : release of the tubes, above 0 to 1 [-].
    - delta : extensibility, 0 to less than 1 [-]. y cannot reach 1/delta^2: a state beyond it
      counts as one that has left the domain of its law, so the step is cut.
    - k : bulk modulus [Pa].

    which returns ``{"deviatoric", "volumetric"}``: energy per reference volume [J/m^3].
    Gc, Ge and k may be given as E and nu, G and nu, or G and k (moduli at small strain) with
    ratio = Ge/Gc.

    References
    ----------
    M. Kaliske, G. Heinrich, Rubber Chemistry and Technology 72 (1999) 602-632.

    Examples
    --------
    >>> import symancf as sa
    >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (1, 1, 1))
    >>> given = dict(Gc=0.2, Ge=0.2, beta=0.3, delta=0.1, k=100.0)
    >>> sa.Body(mesh["body"], sa.elements.hex8, sa.energies.extended_tube(), **given)
    Body 'body': 1 hex8 with extended_tube
    """
    y = J ** Rational(-2, 3) * I1 - 3
    crosslinks = (1 - delta**2) * y / (1 - delta**2 * y) + log(1 - delta**2 * y)
    tubes = J ** (beta / 3) * (lambda1**-beta + lambda2**-beta + lambda3**-beta) - 3
    total = Gc / 2 * crosslinks + 2 * Ge / beta**2 * tubes
    return {"deviatoric": total, "volumetric": k / 2 * (J - 1) ** 2}


@by_call
def ogden(*, terms: int = 3) -> Energy:
    r"""Return the energy of Ogden's rubber in principal stretches, split.

    .. math::
        W = \sum_{i=1}^N \frac{\mu_i}{\alpha_i} \big(\bar\lambda_1^{\alpha_i}
            + \bar\lambda_2^{\alpha_i} + \bar\lambda_3^{\alpha_i} - 3\big)
            + \tfrac12 k (J-1)^2, \quad \bar\lambda_a = J^{-1/3} \lambda_a.

    Parameters
    ----------
    terms : N, at least 1.

    Returns
    -------
    Function of J and of the principal stretches of a solid element, with the parameters mu1,
    alpha1, ..., `k`: mu_i [Pa] of any sign, alpha_i [-] not 0, k the bulk modulus [Pa]; the shear
    modulus is half the sum of mu_i alpha_i. It returns ``{"deviatoric", "volumetric"}``: energy
    per reference volume [J/m^3]. Where a table divides by alpha_i^2, 2 mu_i/alpha_i^2, its mu_i
    times 2/alpha_i are those here. All mu_i and k may be given as E and nu, G and nu, or G and
    k (moduli at small strain) with ratio2, ..., ratioN: mu_i alpha_i over mu_1 alpha_1.

    Raises
    ------
    KinematicsError : there are no such terms.

    Examples
    --------
    Treloar's vulcanised rubber as Ogden fitted it, in Pa:

    >>> import symancf as sa
    >>> treloar = dict(mu1=0.63e6, alpha1=1.3, mu2=1.2e3, alpha2=5.0, mu3=-1e4, alpha3=-2.0)
    >>> mesh = sa.Mesh.box((1.0, 1.0, 1.0), (2, 2, 2), cell="hexahedron20")
    >>> block = sa.Body(mesh["body"], sa.elements.hex20, sa.energies.ogden(), k=1e9, **treloar)

    References
    ----------
    R. W. Ogden, Proc. R. Soc. Lond. A 326 (1972) 565-584; the split as in J. C. Simo,
    R. L. Taylor, Computer Methods in Applied Mechanics and Engineering 85 (1991) 273-310.
    """
    if type(terms) is not int or not 1 <= terms <= MAX_TERMS:
        raise KinematicsError(
            f"ogden(terms={label(terms)}) is not possible: give 1, 2, 3 or more, at most "
            f"{MAX_TERMS}",
            asked="terms",
            given=terms,
        )
    numbers = range(1, terms + 1)

    def ogden(J: Expr, lambda1: Expr, lambda2: Expr, lambda3: Expr, **parameters: Expr) -> Parts:
        total: Expr = S.Zero
        for i in numbers:
            mu, alpha = parameters[f"mu{i}"], parameters[f"alpha{i}"]
            powers = lambda1**alpha + lambda2**alpha + lambda3**alpha
            total += mu / alpha * (J ** (-alpha / 3) * powers - 3)
        return {"deviatoric": total, "volumetric": parameters["k"] / 2 * (J - 1) ** 2}

    names = [name for i in numbers for name in (f"mu{i}", f"alpha{i}")]

    def shear(*constants: Expr) -> Expr:
        return sum((m * a for m, a in zip(constants[::2], constants[1::2], strict=True)), 0) / 2

    taking(shear, names)
    law = moduli("isotropic", mu=shear, k=lambda k: k)(ogden)
    half = "half of the sum of mu alpha"
    law = combinations({half: (shear, positive("the shear modulus"))})(law)
    law = domains(k=positive(), **{f"alpha{i}": NotZero() for i in numbers})(law)
    quantities = ("J", "lambda1", "lambda2", "lambda3")
    taking(law, quantities, dict.fromkeys((*names, "k"), REQUIRED))
    return isotropic(**{f"mu{i}": _share(i, terms) for i in numbers}, k=lambda k: k)(law)


def _share(number: int, terms: int) -> Callable[..., Expr]:
    """Return mu_i of Ogden's law as a function of the shear modulus, alpha_i and the ratios."""
    ratios = [f"ratio{i}" for i in range(2, terms + 1)]
    names = ("mu", f"alpha{number}", *ratios)

    def share(mu: Expr, alpha: Expr, *others: Expr) -> Expr:
        shares = (1, *others)
        return 2 * mu * shares[number - 1] / (alpha * sum(shares))

    taking(share, names)
    return share
