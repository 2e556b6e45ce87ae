# SPDX-License-Identifier: BSD-3-Clause
"""Laws of the literature, written from their formulas: `sa.check` finds no fault in them.

Each law is isochoric with k/2 (J - 1)^2 where its source is for incompressible material. `LAWS`
has name -> (law, constants, in units of the source). ``python -m
tests.campaign.laws_of_the_literature`` checks all of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from sympy import Matrix, Max, Rational, S, exp, log, sqrt

import symancf as sa

Law = Callable[..., Any]
LAWS: dict[str, tuple[Law, dict[str, float]]] = {}


def _law(**values: float) -> Callable[[Law], Law]:
    """Take a law, with numbers of its constants, into the table."""

    def take(law: Law) -> Law:
        LAWS[law.__name__] = law, values
        return law

    return take


def _first(J: Any, I1: Any) -> Any:
    return J ** Rational(-2, 3) * I1


def _second(J: Any, I2: Any) -> Any:
    return J ** Rational(-4, 3) * I2


def _volume(J: Any, k: Any) -> Any:
    return k / 2 * (J - 1) ** 2


# ---- of I1 ---------------------------------------------------------------------------------------
@_law(mu=0.4, k=20.0)
def treloar_1943(J: Any, I1: Any, *, mu: Any, k: Any) -> Any:
    """Treloar, Trans. Faraday Soc. 39 (1943) 241: the Gaussian network."""
    return mu / 2 * (_first(J, I1) - 3) + _volume(J, k)


@_law(c1=0.17, c2=-0.0002, c3=1e-4, k=20.0)
def yeoh_1990(J: Any, I1: Any, *, c1: Any, c2: Any, c3: Any, k: Any) -> Any:
    """Yeoh, Rubber Chem. Technol. 63 (1990) 792."""
    y = _first(J, I1) - 3
    return c1 * y + c2 * y**2 + c3 * y**3 + _volume(J, k)


@_law(c1=0.2, a=0.1, b=2.0, k=20.0)
def yeoh_1997(J: Any, I1: Any, *, c1: Any, a: Any, b: Any, k: Any) -> Any:
    """Yeoh and Fleming, J. Polym. Sci. B 35 (1997) 1919, with an exponential for small strains."""
    y = _first(J, I1) - 3
    return c1 * y + a / b * (1 - exp(-b * y)) + _volume(J, k)


@_law(a=0.2, b=0.2, c=0.1, d=50.0, k=20.0)
def yeoh_fleming(J: Any, I1: Any, *, a: Any, b: Any, c: Any, d: Any, k: Any) -> Any:
    """Yeoh and Fleming (1997): the whole law, with a limit d of I1 - 3."""
    y = _first(J, I1) - 3
    return a / b * (1 - exp(-b * y)) - c * d * log(1 - y / d) + _volume(J, k)


@_law(mu=0.4, Jm=80.0, k=20.0)
def gent_1996(J: Any, I1: Any, *, mu: Any, Jm: Any, k: Any) -> Any:
    """Gent, Rubber Chem. Technol. 69 (1996) 59."""
    return -mu * Jm / 2 * log(1 - (_first(J, I1) - 3) / Jm) + _volume(J, k)


@_law(mu=0.4, b=0.5, n=0.8, k=20.0)
def knowles(J: Any, I1: Any, *, mu: Any, b: Any, n: Any, k: Any) -> Any:
    """Knowles, Int. J. Fract. 13 (1977) 611: the power law."""
    y = _first(J, I1) - 3
    return mu / (2 * b) * ((1 + b * y / n) ** n - 1) + _volume(J, k)


@_law(mu1=0.3, a1=1.2, mu2=0.05, a2=2.5, k=20.0)
def lopez_pamies(J: Any, I1: Any, *, mu1: Any, a1: Any, mu2: Any, a2: Any, k: Any) -> Any:
    """Lopez-Pamies, C. R. Mecanique 338 (2010) 3, two terms."""
    I = _first(J, I1)
    terms = (3 ** (1 - a) / (2 * a) * mu * (I**a - 3**a) for mu, a in ((mu1, a1), (mu2, a2)))
    return sum(terms, S.Zero) + _volume(J, k)


@_law(c=0.2, a=0.4, k=20.0)
def demiray(J: Any, I1: Any, *, c: Any, a: Any, k: Any) -> Any:
    """Demiray, J. Biomech. 5 (1972) 309: the exponential of soft tissue."""
    return c / (2 * a) * (exp(a * (_first(J, I1) - 3)) - 1) + _volume(J, k)


@_law(mu=0.3, N=26.0, k=20.0)
def eight_chain_rational(J: Any, I1: Any, *, mu: Any, N: Any, k: Any) -> Any:
    """Arruda and Boyce (1993) with Cohen's Pade form, Rheol. Acta 30 (1991) 270."""
    I = _first(J, I1)
    energy = mu / 6 * (I - 3) - mu * N * log((1 - I / (3 * N)) / (1 - 1 / N))
    return energy + _volume(J, k)


@_law(mu=0.4, m=60.0, k=20.0)
def horgan_saccomandi(J: Any, I1: Any, I2: Any, *, mu: Any, m: Any, k: Any) -> Any:
    """Horgan and Saccomandi, J. Elast. 77 (2004) 123: a limit m of the principal squares."""
    a, b = _first(J, I1), _second(J, I2)
    inside = (m**3 - m**2 * a + m * b - 1) / (m - 1) ** 3
    return -mu / 2 * m * log(inside) + _volume(J, k)


@_law(mu=0.4, phi=60.0, k=20.0)
def volokh_exponential(J: Any, I1: Any, *, mu: Any, phi: Any, k: Any) -> Any:
    """Volokh (2007): energy that is limited by phi, the energy of bonds."""
    y = mu / 2 * (_first(J, I1) - 3)
    return phi - phi * exp(-y / phi) + _volume(J, k)


# ---- of I1 and I2 --------------------------------------------------------------------------------
@_law(c1=0.15, c2=0.02, k=20.0)
def mooney_1940(J: Any, I1: Any, I2: Any, *, c1: Any, c2: Any, k: Any) -> Any:
    """Mooney, J. Appl. Phys. 11 (1940) 582."""
    return c1 * (_first(J, I1) - 3) + c2 * (_second(J, I2) - 3) + _volume(J, k)


@_law(c10=0.18, c01=0.01, c20=0.005, k=20.0)
def isihara(J: Any, I1: Any, I2: Any, *, c10: Any, c01: Any, c20: Any, k: Any) -> Any:
    """Isihara, Hashitsume and Tatibana (1951)."""
    y, z = _first(J, I1) - 3, _second(J, I2) - 3
    return c10 * y + c01 * z + c20 * y**2 + _volume(J, k)


@_law(c10=0.18, c01=0.01, c11=0.002, c20=0.003, c30=1e-4, k=20.0)
def james_green_simpson(
    J: Any, I1: Any, I2: Any, *, c10: Any, c01: Any, c11: Any, c20: Any, c30: Any, k: Any
) -> Any:
    """James, Green and Simpson, J. Appl. Polym. Sci. 19 (1975) 2033."""
    y, z = _first(J, I1) - 3, _second(J, I2) - 3
    return c10 * y + c01 * z + c11 * y * z + c20 * y**2 + c30 * y**3 + _volume(J, k)


@_law(c10=0.18, c01=0.01, c11=0.002, k=20.0)
def tschoegl(J: Any, I1: Any, I2: Any, *, c10: Any, c01: Any, c11: Any, k: Any) -> Any:
    """Tschoegl, J. Polym. Sci. A1 9 (1971) 1959."""
    y, z = _first(J, I1) - 3, _second(J, I2) - 3
    return c10 * y + c01 * z + c11 * y * z + _volume(J, k)


@_law(c10=0.18, c01=0.01, c20=0.003, c02=0.001, c11=0.002, k=20.0)
def rivlin_saunders(
    J: Any, I1: Any, I2: Any, *, c10: Any, c01: Any, c20: Any, c02: Any, c11: Any, k: Any
) -> Any:
    """Rivlin and Saunders, Phil. Trans. A 243 (1951) 251, all terms of second order."""
    y, z = _first(J, I1) - 3, _second(J, I2) - 3
    return c10 * y + c01 * z + c20 * y**2 + c11 * y * z + c02 * z**2 + _volume(J, k)


@_law(c10=0.18, c01=0.01, c20=-0.001, c30=1e-4, k=20.0)
def biderman(J: Any, I1: Any, I2: Any, *, c10: Any, c01: Any, c20: Any, c30: Any, k: Any) -> Any:
    """Biderman (1958), Rascheti na prochnost 3."""
    y, z = _first(J, I1) - 3, _second(J, I2) - 3
    return c10 * y + c01 * z + c20 * y**2 + c30 * y**3 + _volume(J, k)


@_law(c10=0.18, c01=0.01, c11=0.002, c02=0.001, c20=0.003, c30=1e-4, k=20.0)
def haines_wilson(
    J: Any,
    I1: Any,
    I2: Any,
    *,
    c10: Any,
    c01: Any,
    c11: Any,
    c02: Any,
    c20: Any,
    c30: Any,
    k: Any,
) -> Any:
    """Haines and Wilson, J. Mech. Phys. Solids 27 (1979) 345."""
    y, z = _first(J, I1) - 3, _second(J, I2) - 3
    second = c11 * y * z + c02 * z**2 + c20 * y**2
    return c10 * y + c01 * z + second + c30 * y**3 + _volume(J, k)


@_law(c=0.2, b=0.8, k=20.0)
def veronda_westmann(J: Any, I1: Any, I2: Any, *, c: Any, b: Any, k: Any) -> Any:
    """Veronda and Westmann, J. Biomech. 3 (1970) 111: skin."""
    y, z = _first(J, I1) - 3, _second(J, I2) - 3
    return c * (exp(b * y) - 1) - c * b / 2 * z + _volume(J, k)


@_law(c1=0.15, c2=0.1, k=20.0)
def gent_thomas(J: Any, I1: Any, I2: Any, *, c1: Any, c2: Any, k: Any) -> Any:
    """Gent and Thomas, J. Polym. Sci. 28 (1958) 625: a logarithm of I2."""
    return c1 * (_first(J, I1) - 3) + c2 * log(_second(J, I2) / 3) + _volume(J, k)


@_law(mu=0.4, Jm=80.0, c2=0.1, k=20.0)
def pucci_saccomandi(J: Any, I1: Any, I2: Any, *, mu: Any, Jm: Any, c2: Any, k: Any) -> Any:
    """Pucci and Saccomandi, Rubber Chem. Technol. 75 (2002) 839: Gent with a logarithm of I2."""
    y = _first(J, I1) - 3
    return -mu * Jm / 2 * log(1 - y / Jm) + c2 * log(_second(J, I2) / 3) + _volume(J, k)


@_law(a=0.25, b=1e-4, c=0.06, k=20.0)
def carroll(J: Any, I1: Any, I2: Any, *, a: Any, b: Any, c: Any, k: Any) -> Any:
    """Carroll, J. Elast. 103 (2011) 173."""
    I = _first(J, I1)
    root = sqrt(_second(J, I2)) - sqrt(S(3))
    return a * (I - 3) + b * (I**4 - 81) + c * root + _volume(J, k)


# ---- of principal stretches ----------------------------------------------------------------------
def _stretched(J: Any, stretches: tuple[Any, ...], power: Any) -> Any:
    return J ** (-power / 3) * sum((x**power for x in stretches), S.Zero)


@_law(mu1=0.63, a1=1.3, mu2=0.0012, a2=5.0, mu3=-0.01, a3=-2.0, k=40.0)
def ogden_1972(
    J: Any,
    lambda1: Any,
    lambda2: Any,
    lambda3: Any,
    *,
    mu1: Any,
    a1: Any,
    mu2: Any,
    a2: Any,
    mu3: Any,
    a3: Any,
    k: Any,
) -> Any:
    """Ogden, Proc. R. Soc. Lond. A 326 (1972) 565."""
    x = (lambda1, lambda2, lambda3)
    pairs = ((mu1, a1), (mu2, a2), (mu3, a3))
    return sum((m / a * (_stretched(J, x, a) - 3) for m, a in pairs), S.Zero) + _volume(J, k)


@_law(c=0.4, k=20.0)
def varga(J: Any, lambda1: Any, lambda2: Any, lambda3: Any, *, c: Any, k: Any) -> Any:
    """Varga, Stress-Strain Behavior of Elastic Materials (1966)."""
    return c * (_stretched(J, (lambda1, lambda2, lambda3), S.One) - 3) + _volume(J, k)


@_law(mu=0.4, k=20.0)
def hencky_1928(J: Any, lambda1: Any, lambda2: Any, lambda3: Any, *, mu: Any, k: Any) -> Any:
    """Hencky, Z. Tech. Phys. 9 (1928) 215."""
    squares = sum((log(x) ** 2 for x in (lambda1, lambda2, lambda3)), S.Zero)
    return mu * (squares - log(J) ** 2 / 3) + k / 2 * log(J) ** 2


@_law(mu=0.4, k=2.0, a=0.5, b=0.25)
def exponentiated_hencky(
    J: Any, lambda1: Any, lambda2: Any, lambda3: Any, *, mu: Any, k: Any, a: Any, b: Any
) -> Any:
    """Neff, Ghiba and Lankeit, J. Elast. 121 (2015) 143."""
    squares = sum((log(x) ** 2 for x in (lambda1, lambda2, lambda3)), S.Zero)
    deviator = squares - log(J) ** 2 / 3
    return mu / a * (exp(a * deviator) - 1) + k / (2 * b) * (exp(b * log(J) ** 2) - 1)


@_law(mu=0.3, mu_t=0.1, k=20.0)
def tube_model(
    J: Any, I1: Any, lambda1: Any, lambda2: Any, lambda3: Any, *, mu: Any, mu_t: Any, k: Any
) -> Any:
    """Heinrich, Straube and Helmis, Adv. Polym. Sci. 85 (1988) 33, inverse stretches of tubes."""
    tubes = _stretched(J, (lambda1, lambda2, lambda3), S.NegativeOne) - 3
    return mu / 2 * (_first(J, I1) - 3) + 2 * mu_t * tubes + _volume(J, k)


@_law(mu=0.3, g=0.05, n=3.0, k=20.0)
def nonaffine_network(
    J: Any, I1: Any, lambda1: Any, lambda2: Any, lambda3: Any, *, mu: Any, g: Any, n: Any, k: Any
) -> Any:
    """Davidson and Goulbourne, J. Mech. Phys. Solids 61 (2013) 1784, n the largest stretch."""
    I, x = _first(J, I1), (lambda1, lambda2, lambda3)
    network = mu / 6 * (I - 3) - mu * n**2 * log((3 * n**2 - I) / (3 * n**2 - 3))
    entangled = g * (_stretched(J, x, S.One) + _stretched(J, x, S.NegativeOne) - 6)
    return network + entangled + _volume(J, k)


@_law(a1=0.3, a2=0.02, b1=0.05, k=20.0)
def attard_hunt(
    J: Any, lambda1: Any, lambda2: Any, lambda3: Any, *, a1: Any, a2: Any, b1: Any, k: Any
) -> Any:
    """Attard and Hunt, Int. J. Solids Struct. 41 (2004) 5327, of even powers of both signs."""
    x = (lambda1, lambda2, lambda3)
    terms = ((a1, 2), (a2, 4), (b1, -2))
    return sum((c / abs(n) * (_stretched(J, x, S(n)) - 3) for c, n in terms), S.Zero) + _volume(
        J, k
    )


@_law(mu=0.2, alpha=8.0, beta=0.5)
def hill_foam(
    J: Any, lambda1: Any, lambda2: Any, lambda3: Any, *, mu: Any, alpha: Any, beta: Any
) -> Any:
    """Hill, Adv. Appl. Mech. 18 (1978) 1; Storakers, J. Mech. Phys. Solids 34 (1986) 125: foam."""
    powers = lambda1**alpha + lambda2**alpha + lambda3**alpha - 3
    return 2 * mu / alpha**2 * (powers + (J ** (-alpha * beta) - 1) / beta)


# ---- compressible --------------------------------------------------------------------------------
@_law(mu=0.3)
def blatz_ko(J: Any, I2: Any, *, mu: Any) -> Any:
    """Blatz and Ko, Trans. Soc. Rheol. 6 (1962) 223: foamed polyurethane."""
    return mu / 2 * (I2 / J**2 + 2 * J - 5)


@_law(mu=0.3, f=0.5, nu=0.25)
def blatz_ko_general(J: Any, I1: Any, I2: Any, *, mu: Any, f: Any, nu: Any) -> Any:
    """Blatz and Ko (1962), the whole family; f = 1 is that of solid rubber."""
    b = nu / (1 - 2 * nu)
    first = I1 - 3 + (J ** (-2 * b) - 1) / b
    second = I2 / J**2 - 3 + (J ** (2 * b) - 1) / b
    return mu * f / 2 * first + mu * (1 - f) / 2 * second


@_law(mu=0.4, lam=0.8)
def simo_pister(J: Any, I1: Any, *, mu: Any, lam: Any) -> Any:
    """Simo and Pister, Comput. Methods Appl. Mech. Eng. 46 (1984) 201."""
    return mu / 2 * (I1 - 3) - mu * log(J) + lam / 2 * log(J) ** 2


@_law(mu=0.4, lam=0.8)
def ciarlet_geymonat(J: Any, I1: Any, *, mu: Any, lam: Any) -> Any:
    """Ciarlet and Geymonat, C. R. Acad. Sci. II 295 (1982) 423."""
    return mu / 2 * (I1 - 3) + lam / 4 * (J**2 - 1) - (lam / 2 + mu) * log(J)


@_law(mu=0.4, k=4.0)
def simo_miehe(J: Any, I1: Any, *, mu: Any, k: Any) -> Any:
    """Simo, Comput. Methods Appl. Mech. Eng. 66 (1988) 199: its volumetric energy."""
    return mu / 2 * (_first(J, I1) - 3) + k / 2 * ((J**2 - 1) / 2 - log(J))


@_law(mu=0.4, lam=0.8)
def stable_neo_hooke(J: Any, I1: Any, *, mu: Any, lam: Any) -> Any:
    """Smith, De Goes and Kim, ACM Trans. Graph. 37 (2018) 12, less its energy at rest."""
    a = 1 + mu / lam - mu / (4 * lam)
    energy = mu / 2 * (I1 - 3) + lam / 2 * (J - a) ** 2 - mu / 2 * log(I1 + 1)
    return energy - lam / 2 * (1 - a) ** 2 + mu / 2 * log(S(4))


@_law(E=1.0, nu=0.3)
def kirchhoff_1852(E_gl: Matrix, *, E: Any, nu: Any) -> Any:
    """St Venant and Kirchhoff; Ciarlet, Mathematical Elasticity I (1988)."""
    mu, lam = E / (2 * (1 + nu)), E * nu / ((1 + nu) * (1 - 2 * nu))
    return lam / 2 * E_gl.trace() ** 2 + mu * sum(x**2 for x in E_gl)


@_law(mu=1.0, lam=1.5, a=-0.2, b=-0.3, c=-0.1)
def murnaghan(E_gl: Matrix, *, mu: Any, lam: Any, a: Any, b: Any, c: Any) -> Any:
    """Murnaghan, Am. J. Math. 59 (1937) 235, constants of third order as Landau's A, B, C."""
    E2 = E_gl * E_gl
    trace, square, cube = E_gl.trace(), E2.trace(), (E2 * E_gl).trace()
    return lam / 2 * trace**2 + mu * square + a / 3 * cube + b * trace * square + c / 3 * trace**3


# ---- fibres --------------------------------------------------------------------------------------
def _along(E_gl: Matrix, J: Any) -> Any:
    """Return the isochoric square of the stretch of fibres along axis 1."""
    return J ** Rational(-2, 3) * (1 + 2 * E_gl[0, 0])


@_law(mu=0.05, k1=0.1, k2=0.8, k=5.0)
def holzapfel_2000(J: Any, I1: Any, E_gl: Matrix, *, mu: Any, k1: Any, k2: Any, k: Any) -> Any:
    """Holzapfel, Gasser and Ogden, J. Elast. 61 (2000) 1, one family."""
    e = Max(0, _along(E_gl, J) - 1)
    return mu / 2 * (_first(J, I1) - 3) + k1 / (2 * k2) * (exp(k2 * e**2) - 1) + _volume(J, k)


@_law(mu=0.3, g=0.4, k=5.0)
def standard_reinforcing(J: Any, I1: Any, E_gl: Matrix, *, mu: Any, g: Any, k: Any) -> Any:
    """The standard reinforcing model; Qiu and Pence, J. Elast. 49 (1997) 1."""
    return mu / 2 * (_first(J, I1) - 3) + g / 2 * (_along(E_gl, J) - 1) ** 2 + _volume(J, k)


@_law(c=0.3, a=0.5, b=2.0, k=5.0)
def humphrey_yin(J: Any, I1: Any, E_gl: Matrix, *, c: Any, a: Any, b: Any, k: Any) -> Any:
    """Humphrey and Yin, Biophys. J. 52 (1987) 563, fibres by (alpha - 1)^2 of their stretch."""
    stretch = sqrt(_along(E_gl, J))
    fibre = a / b * (exp(b * (stretch - 1) ** 2) - 1)
    return c / 2 * (_first(J, I1) - 3) + fibre + _volume(J, k)


@_law(c=0.9, b1=18.0, b2=3.6, b3=1.6, k=50.0)
def guccione(J: Any, E_gl: Matrix, *, c: Any, b1: Any, b2: Any, b3: Any, k: Any) -> Any:
    """Guccione, McCulloch and Waldman, J. Biomech. Eng. 113 (1991) 42: passive myocardium."""
    scale = J ** Rational(-2, 3)
    e = Matrix(3, 3, lambda i, k: scale * E_gl[i, k] + (scale - 1) / 2 * int(i == k))
    across = e[1, 1] ** 2 + e[2, 2] ** 2 + 2 * e[1, 2] ** 2
    shear = 2 * e[0, 1] ** 2 + 2 * e[0, 2] ** 2
    Q = b1 * e[0, 0] ** 2 + b2 * across + b3 * shear
    return c / 2 * (exp(Q) - 1) + _volume(J, k)


@_law(a=0.06, b=8.0, af=0.18, bf=16.0, k=5.0)
def holzapfel_ogden_2009(
    J: Any, I1: Any, E_gl: Matrix, *, a: Any, b: Any, af: Any, bf: Any, k: Any
) -> Any:
    """Holzapfel and Ogden, Phil. Trans. R. Soc. A 367 (2009) 3445: matrix and fibres along 1."""
    matrix = a / (2 * b) * (exp(b * (_first(J, I1) - 3)) - 1)
    fibres = af / (2 * bf) * (exp(bf * Max(0, _along(E_gl, J) - 1) ** 2) - 1)
    return matrix + fibres + _volume(J, k)


def main() -> None:
    """Check each law, print its CPU time and what is found against it; fail where anything is."""
    wrong = 0
    for name, (law, values) in LAWS.items():
        start = time.process_time()
        result = sa.check(law, **values)
        wrong += not result.passed
        found = "no alarm" if result.passed else str(result)
        print(f"{name}: {time.process_time() - start:.2f} s, {found}", flush=True)
    print(f"{len(LAWS)} laws, {wrong} with an alarm")
    raise SystemExit(wrong)


if __name__ == "__main__":
    main()
