# SPDX-License-Identifier: BSD-3-Clause
"""Elements and laws for the tests of the compiler.

Everything here is written for the tests alone, so that they do not lean on the package's own
elements and energies.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from itertools import product

import numpy as np
import sympy as sp

from symancf_codegen import Parameter, PointLaw, Rule, Space, reference, unknown
from symancf_codegen.legendre import gauss_legendre

xi, eta, zeta = sp.symbols("xi eta zeta")
C10, C20, C30, k, thickness = sp.symbols("C10 C20 C30 k thickness")


# ---- spaces


class FastSpace(Space):
    """Tabulates all functions by one NumPy function, and only once."""

    def tabulate(self, jets, points):
        key = (self.name, jets, np.asarray(points).tobytes())
        if key not in _TABLES:
            expressions = [e for jet in jets for e in self.table_jets[jet]]
            values = sp.lambdify(self.coordinates, expressions, "numpy")(*np.transpose(points))
            table = np.array([np.broadcast_to(v, len(points)) for v in values], dtype=float)
            _TABLES[key] = table.T.reshape(len(points), len(jets), self.size)
        return _TABLES[key].copy()


_TABLES: dict = {}


def _shape(
    monomials: list[sp.Expr], conditions: list[Callable[[sp.Expr], sp.Expr]]
) -> list[sp.Expr]:
    matrix = sp.Matrix([[condition(m) for m in monomials] for condition in conditions])
    inverse = matrix.to_DM(field=True).inv().to_Matrix()
    return [
        sp.expand(sum(inverse[r, c] * m for r, m in enumerate(monomials)))
        for c in range(len(monomials))
    ]


@functools.cache
def hex8_plain() -> Space:
    corners = [(-1, -1, -1), (1, -1, -1), (1, 1, -1), (-1, 1, -1)]
    corners += [(a, b, 1) for a, b, _ in corners]
    n = [(1 + a * xi) * (1 + b * eta) * (1 + c * zeta) / 8 for a, b, c in corners]
    jets = {s.name: tuple(sp.diff(e, s) for e in n) for s in (xi, eta, zeta)}
    return FastSpace("hex8_plain", (xi, eta, zeta), jets, {j: {j: sp.Integer(1)} for j in jets})


@functools.cache
def _quadrilateral() -> list[sp.Expr]:
    monomials = [
        xi**a * eta**b
        for a, b in [
            (0, 0),
            (1, 0),
            (0, 1),
            (2, 0),
            (1, 1),
            (0, 2),
            (3, 0),
            (2, 1),
            (1, 2),
            (0, 3),
            (3, 1),
            (1, 3),
        ]
    ]
    conditions = []
    for a, b in [(0, 0), (1, 0), (1, 1), (0, 1)]:
        for symbol in (None, xi, eta):
            conditions.append(
                lambda m, a=a, b=b, symbol=symbol: (
                    m if symbol is None else sp.diff(m, symbol)
                ).subs({xi: a, eta: b})
            )
    return _shape(monomials, conditions)


@functools.cache
def thin_plate() -> Space:
    n = _quadrilateral()
    jets = {
        "xi": tuple(sp.diff(e, xi) for e in n),
        "eta": tuple(sp.diff(e, eta) for e in n),
        "xixi": tuple(sp.diff(e, xi, 2) for e in n),
        "etaeta": tuple(sp.diff(e, eta, 2) for e in n),
        "xieta": tuple(sp.diff(e, xi, eta) for e in n),
    }
    return FastSpace("thin_plate", (xi, eta), jets, {j: {j: sp.Integer(1)} for j in jets})


@functools.cache
def plate() -> Space:
    """The 48-coordinate plate: r = m(xi, eta) + z d(xi, eta), z = zeta thickness / 2."""
    m12 = _quadrilateral()
    d4 = [(1 - xi) * (1 - eta), xi * (1 - eta), xi * eta, (1 - xi) * eta]
    m: list[sp.Expr] = []
    d: list[sp.Expr] = []
    for vertex in range(4):
        m += [*m12[3 * vertex : 3 * vertex + 3], sp.Integer(0)]
        d += [sp.Integer(0)] * 3 + [d4[vertex]]
    jets = {
        "m_xi": tuple(sp.diff(e, xi) for e in m),
        "m_eta": tuple(sp.diff(e, eta) for e in m),
        "d": tuple(d),
        "d_xi": tuple(sp.diff(e, xi) for e in d),
        "d_eta": tuple(sp.diff(e, eta) for e in d),
        "m": tuple(m),
    }
    z = sp.Symbol("z")
    point = {
        "xi": {"m_xi": sp.Integer(1), "d_xi": z},
        "eta": {"m_eta": sp.Integer(1), "d_eta": z},
        "z": {"d": sp.Integer(1)},
        "r": {"m": sp.Integer(1), "d": z},
    }
    return FastSpace("plate", (xi, eta), jets, point)


@functools.cache
def cable() -> Space:
    n = _shape(
        [xi**a for a in range(4)],
        [lambda m, a=a, d=d: sp.diff(m, xi, d).subs(xi, a) for a in (0, 1) for d in (0, 1)],
    )
    jets = {"xi": tuple(sp.diff(e, xi) for e in n), "xixi": tuple(sp.diff(e, xi, 2) for e in n)}
    return FastSpace("cable", (xi,), jets, {j: {j: sp.Integer(1)} for j in jets})


# ---- rules


def gauss(count: int, dim: int, *, unit: bool) -> tuple[np.ndarray, np.ndarray]:
    x, w = gauss_legendre(count)
    if unit:
        x, w = (x + 1) / 2, w / 2
    points = np.array(list(product(x, repeat=dim)))
    weights = np.array([np.prod(c) for c in product(w, repeat=dim)])
    return points, weights


def hex_rule(count: int) -> Rule:
    return Rule(f"{count}x{count}x{count}", *gauss(count, 3, unit=False))


def plate_rule(count: int, through: int) -> Rule:
    """Through the thickness the measure is dz = thickness/2 dzeta."""
    points, weights = gauss(count, 2, unit=True)
    z, wz = gauss_legendre(through)
    return Rule(f"{count}x{count}x{through}", points, weights, ("zeta",), z[:, None], wz)


# ---- laws


def _matrix(name: str, rows: str = "123") -> sp.Matrix:
    return sp.Matrix(3, 3, lambda i, j: sp.Symbol(f"{name}{i + 1}{j + 1}", real=True))


def _inverse(R: sp.Matrix, A: sp.Matrix, J0: sp.Symbol) -> list[tuple[sp.Symbol, sp.Expr]]:
    """Name the cofactors of R, its determinant J0 and its inverse A."""
    C = _matrix("C")

    def cofactor(i: int, a: int) -> sp.Expr:
        return (
            R[(i + 1) % 3, (a + 1) % 3] * R[(i + 2) % 3, (a + 2) % 3]
            - R[(i + 1) % 3, (a + 2) % 3] * R[(i + 2) % 3, (a + 1) % 3]
        )

    named = [(C[i, a], cofactor(i, a)) for i in range(3) for a in range(3)]
    named.append((J0, sum(R[i, 0] * C[i, 0] for i in range(3))))
    return named + [(A[a, i], C[i, a] / J0) for a in range(3) for i in range(3)]


def solid(
    name: str,
    jets: tuple[str, str, str],
    energy,
    *,
    section: bool = False,
    parameters=(),
    domain=True,
) -> PointLaw:
    """A law in the displacement gradient H, invariants in deviation form."""
    H, A = _matrix("H"), _matrix("A")
    columns = [reference(j) for j in jets]
    R = sp.Matrix(3, 3, lambda i, a: columns[a][i])
    geometry: list[tuple[sp.Symbol, sp.Expr]] = []
    if section:
        geometry.append((sp.Symbol("z"), sp.Symbol("zeta") * thickness / 2))
    J0 = sp.Symbol("J0")
    geometry += _inverse(R, A, J0)
    u = [unknown(j) for j in jets]
    inner = tuple(
        (H[i, x], {u[a][i]: A[a, x] for a in range(3)}) for i in range(3) for x in range(3)
    )
    m2 = sum(H[i, i] * H[j, j] - H[i, j] * H[j, i] for i, j in [(0, 1), (0, 2), (1, 2)])
    m2_, d_, s_, j_, J_ = sp.symbols("m2 detH s j J")
    lets = [
        (m2_, m2),
        (d_, H.det(method="berkowitz")),
        (j_, H.trace() + m2_ + d_),
        (J_, 1 + j_),
        (s_, sum(h**2 for h in H) - 2 * m2_ - 2 * d_),
    ]
    extra, value = energy(j_, J_, s_)
    lets += extra
    return PointLaw(
        name=name,
        unknowns=tuple(s for t in u for s in t),
        jets=jets,
        inner=inner,
        geometry=tuple(geometry),
        lets=tuple(lets),
        energy=value,
        measure=J0 * (thickness / 2 if section else 1),
        domain=(J_,) if domain else (),
        parameters=tuple(Parameter(p) for p in parameters)
        + ((Parameter(thickness),) if section else ()),
        title=str(value),
    )


def deviatoric(j: sp.Symbol, J: sp.Symbol, s: sp.Symbol):
    a, b, y = sp.symbols("a b y")
    lets = [
        (a, J ** sp.Rational(-1, 3)),
        (b, -j * a**3 / (1 + a + a**2)),
        (y, a**2 * s + b**2 * (a + 2) / a),
    ]
    return lets, C10 * y + C20 * y**2 + C30 * y**3


def volumetric(j: sp.Symbol, J: sp.Symbol, s: sp.Symbol):
    return [], k / 2 * j**2


def neo_hooke(j: sp.Symbol, J: sp.Symbol, s: sp.Symbol):
    """As a user would write it; the stage stabilise cancels mu (J - 1) - mu log J."""
    mu, lam, I1 = sp.symbols("mu lam I1")
    lets = [(I1, 3 + 2 * j + s)]
    return lets, mu / 2 * (I1 - 3) - mu * sp.log(J) + lam / 2 * sp.log(J) ** 2


HEX = ("xi", "eta", "zeta")
PLATE = ("xi", "eta", "z")
YEOH = (C10, C20, C30)


def hex_yeoh(points: int = 2, volume: int = 1):
    return [
        (solid("yeoh_deviatoric", HEX, deviatoric, parameters=YEOH), hex_rule(points)),
        (solid("yeoh_volumetric", HEX, volumetric, parameters=(k,)), hex_rule(volume)),
    ]


def plate_yeoh(points: int = 4, through: int = 3, volume: int | None = None):
    reduced = plate_rule(volume or points, 1)
    return [
        (
            solid("yeoh_deviatoric", PLATE, deviatoric, section=True, parameters=YEOH),
            plate_rule(points, through),
        ),
        (solid("yeoh_volumetric", PLATE, volumetric, section=True, parameters=(k,)), reduced),
    ]


def cable_law() -> PointLaw:
    EA, EI = sp.symbols("EA EI")
    R, Rx = sp.Matrix(reference("xi")), sp.Matrix(reference("xixi"))
    u, ux = sp.Matrix(unknown("xi")), sp.Matrix(unknown("xixi"))
    L0, w, a, _c, cc, eps, kap, k0 = sp.symbols("L0 w a c cc epsilon kappa kappa0")
    r, rx = R + u, Rx + ux
    cr0, cr = R.cross(Rx), r.cross(rx)
    return PointLaw(
        name="cable",
        unknowns=(*unknown("xi"), *unknown("xixi")),
        jets=("xi", "xixi"),
        geometry=((L0, sp.sqrt(R.dot(R))), (w, 1 / L0), (k0, sp.sqrt(cr0.dot(cr0)) / L0**3)),
        lets=(
            (a, (2 * u.dot(R) + u.dot(u)) * w**2),
            (eps, a / (1 + sp.sqrt(1 + a))),
            (cc, cr.dot(cr)),
            (kap, sp.sqrt(cc) * w**3 / (1 + a)),
        ),
        energy=EA / 2 * eps**2 + EI / 2 * (kap - k0) ** 2,
        measure=L0,
        domain=(1 + a,),
        parameters=(Parameter(EA), Parameter(EI, "cell")),
        title="EA/2 epsilon**2 + EI/2 (kappa - kappa0)**2",
    )


def kirchhoff() -> PointLaw:
    """St Venant-Kirchhoff shell in convected components, isotropic through the metric."""
    D, B, nu = sp.symbols("D B nu")
    jets = ("xi", "eta", "xixi", "etaeta", "xieta")
    R = [sp.Matrix(reference(j)) for j in jets]
    u = [sp.Matrix(unknown(j)) for j in jets]
    r = [R[i] + u[i] for i in range(5)]
    G = sp.symbols("G11 G22 G12")
    g0 = sp.Symbol("g0")
    I = sp.symbols("M11 M22 M12")
    N0 = sp.symbols("N01 N02 N03")
    n0 = R[0].cross(R[1])
    b0 = sp.symbols("b01 b02 b03")
    geometry = [
        (G[0], R[0].dot(R[0])),
        (G[1], R[1].dot(R[1])),
        (G[2], R[0].dot(R[1])),
        *zip(N0, n0, strict=True),
        (g0, sp.sqrt(sum(x**2 for x in N0))),
        (I[0], G[1] / g0**2),
        (I[1], G[0] / g0**2),
        (I[2], -G[2] / g0**2),
        *[(b0[i], sum(R[2 + i][c] * N0[c] for c in range(3)) / g0) for i in range(3)],
    ]
    E = sp.symbols("E11 E22 E12")
    n = sp.symbols("n1 n2 n3")
    gg = sp.Symbol("gg")
    s = sp.Symbol("s")
    K = sp.symbols("kappa11 kappa22 kappa12")
    nn = r[0].cross(r[1])
    lets = [
        (E[0], (2 * R[0].dot(u[0]) + u[0].dot(u[0])) / 2),
        (E[1], (2 * R[1].dot(u[1]) + u[1].dot(u[1])) / 2),
        (E[2], (R[0].dot(u[1]) + R[1].dot(u[0]) + u[0].dot(u[1])) / 2),
        *zip(n, nn, strict=True),
        (gg, sum(x**2 for x in n)),
        (s, 1 / sp.sqrt(gg)),
        *[(K[i], b0[i] - s * sum(r[2 + i][c] * n[c] for c in range(3))) for i in range(3)],
    ]

    def quadratic(e):
        # contravariant components with the metric, then C = nu tr^2 + (1-nu) e:e
        up = [
            I[0] * e[0] + I[2] * e[2],
            I[0] * e[2] + I[2] * e[1],
            I[2] * e[0] + I[1] * e[2],
            I[2] * e[2] + I[1] * e[1],
        ]
        trace = up[0] + up[3]
        square = up[0] ** 2 + up[3] ** 2 + 2 * up[1] * up[2]
        return nu * trace**2 + (1 - nu) * square

    return PointLaw(
        name="kirchhoff",
        unknowns=tuple(x for j in jets for x in unknown(j)),
        jets=jets,
        geometry=tuple(geometry),
        lets=tuple(lets),
        energy=D / 2 * quadratic(E) + B / 2 * quadratic(K),
        measure=g0,
        parameters=(Parameter(D), Parameter(B), Parameter(nu)),
        title="D/2 (nu tr(E)**2 + (1 - nu) E:E) + B/2 (nu tr(kappa)**2 + (1 - nu) kappa:kappa)",
    )


def pressure() -> PointLaw:
    """A follower pressure on the mid-surface of a plate: force -p r_xi x r_eta on r."""
    p = sp.Symbol("p")
    jets = ("r", "xi", "eta")
    r = [sp.Matrix(reference(j)) + sp.Matrix(unknown(j)) for j in jets]
    n = sp.symbols("n1 n2 n3")
    return PointLaw(
        name="pressure",
        unknowns=tuple(x for j in jets for x in unknown(j)),
        jets=jets,
        geometry=((sp.Symbol("z"), sp.Symbol("zeta") * thickness / 2),),
        lets=tuple(zip(n, r[1].cross(r[2]), strict=True)),
        work={u: -p * n[a] for a, u in enumerate(unknown("r"))},
        parameters=(Parameter(p, "cell"), Parameter(thickness)),
        title="-p r_xi x r_eta",
    )


def weight() -> PointLaw:
    """A dead weight, linear in the unknowns."""
    g = sp.symbols("g1 g2 g3")
    return PointLaw(
        name="weight",
        unknowns=unknown("r"),
        jets=("r",),
        geometry=((sp.Symbol("z"), sp.Symbol("zeta") * thickness / 2),),
        energy=-sum(a * u for a, u in zip(g, unknown("r"), strict=True)),
        parameters=(*(Parameter(x) for x in g), Parameter(thickness)),
        title="-g . u",
    )


# ---- reference configurations


def shape(space: Space) -> np.ndarray:
    """Return coefficients (n, 3) of a simple undeformed cell."""
    if space.name == "hex8_plain":
        bottom = [(-1, -1, -1), (1, -1, -1), (1, 1, -1), (-1, 1, -1)]
        return 0.4 * np.array([*bottom, *((a, b, 1) for a, b, _ in bottom)], dtype=float)
    if space.name == "cable":
        return np.array([(0, 0, 0), (1, 0.1, 0), (1, 0.1, 0.3), (1, 0.2, 0)], dtype=float)
    slopes = [(1.0, 0, 0), (0, 1.0, 0), (0, 0, 1.0)][: 3 if space.name == "plate" else 2]
    corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
    return np.array([x for corner in corners for x in (corner, *slopes)], dtype=float)


def states(space: Space, cells: int, size: float = 0.04, seed: int = 0):
    """Return distorted references and displacements, (cells, n, 3) each."""
    rng = np.random.default_rng(seed)
    x = np.stack([shape(space)] * cells)
    return x + rng.uniform(-0.05, 0.05, x.shape), rng.uniform(-size, size, x.shape)


def tabulated(space: Space, points: np.ndarray) -> np.ndarray:
    """Return all table jets at `points`, (points, jets, n)."""
    return space.tabulate(tuple(space.table_jets), points)
